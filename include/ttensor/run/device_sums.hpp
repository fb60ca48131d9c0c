// Sums over axes in device memory: the body that folds, who folds what, and the way from an expression to both. Host code without CUDA; the executor of
// device_plan.hpp also supplies
//   x.log_block()     log2 of the threads of a block
//   x.filling()       threads that keep the whole device busy
//   x.fold<Red>(body) runs a fold_body: pieces combined in pairs, halves first, then the splits in turn the same way; by fold_rows where shape.by_rows
#pragma once
#include "device_plan.hpp"

TTENSOR_BEGIN
namespace run {

/// Who folds what. Every kept place (or word of places) has pieces * splits threads, and each folds every (pieces * splits)-th position of the reduced
/// axes: `pieces` threads of one block, which combine what they have, and `splits` blocks, whose results the last of them combines.
struct fold_shape {
  int log_pieces, log_places;  // a block has places * pieces threads
  int splits;
  int inside;  // neighbouring threads take neighbouring pieces (the innermost axis is reduced), else neighbouring places
  int by_rows; // as fold_rows does it: a block has a place for each of its threads
  TTENSOR_HD TTENSOR_INLINE int pieces() const { return 1 << log_pieces; }
  TTENSOR_HD TTENSOR_INLINE int places() const { return 1 << log_places; }
  TTENSOR_HD TTENSOR_INLINE int piece(int thread) const { return inside ? thread & (pieces() - 1) : thread >> log_places; }
  TTENSOR_HD TTENSOR_INLINE int place(int thread) const { return inside ? thread >> log_pieces : thread & (places() - 1); }
  TTENSOR_HD TTENSOR_INLINE int log_step() const { return inside ? 0 : log_places; }  // between the threads of neighbouring pieces of one place
};
inline constexpr int log_rows_at_once = 3, rows_at_once = 1 << log_rows_at_once;  // and as many pieces, one for each thread of eight
/// What a fold_body folds: the value of the statement, or the adjoint of one leaf from the cotangent of the statement.
struct value_of {
  static constexpr int slot = -1;
  struct empty {};
  template <class Ct, int R, class I> using leaf = empty;
};
template <int Slot> struct adjoint_of {
  static constexpr int slot = Slot;
  template <class Ct, int R, class I> using leaf = typename cotangent<Ct>::template leaf<strided_plane<const typename cotangent<Ct>::elem, R, I>>;
};
/// out(kept place) (+)= fold over the reduced places. Accesses of N elements go along a reduced axis (Inside) or a kept one, which is the
/// last of the leaves' 2 R axes; the other group of axes comes first.
template <class What, class Prog, class Red, class A, int N, bool Inside, int R, class I, class Out, class Ct, class... L> struct fold_body {
  using index = I;
  using result = device_pack<A, Inside ? 1 : N>;
  // Words of eight or sixteen lanes, or of more arrays, want so many registers for eight rows that few threads run: half the speed.
  static constexpr bool has_rows = Inside && N > 1 && N <= 4 && (0 + ... + (std::is_same_v<L, number_leaf<typename L::elem>> ? 0 : 1)) <= 3 && std::is_same_v<I, std::uint32_t>;
  fold_shape shape;
  grid_walk<Inside ? 1 : N, R, I> kept;
  grid_walk<Inside ? N : 1, R, I> reduced;
  I tail;   // elements behind the last word of the one reduced axis
  int add;  // out += result
  Out out;  // over the kept axes
  Ct ct;
  bundle<L...> leaves;

  TTENSOR_HD TTENSOR_INLINE result fold(I q, I piece) const {
    const I pieces = static_cast<I>(shape.splits) << shape.log_pieces;
    place<2 * R, I> p;
    set<Inside ? 0 : R>(p, kept.locate(q));
    auto acc = Red::template identity<device_pack<A, N>>();
    TTENSOR_DEVICE_UNROLL_4 for (I r = piece; r < reduced.items; r += pieces) {
      set<Inside ? R : 0>(p, reduced.locate(r));
      acc = Red::combine(acc, value<N>(load<N>(p)));
    }
    if constexpr (std::is_same_v<decltype(acc), result>) return acc;
    else {
      result all = of_lanes(acc);
      for (I r = piece; r < tail; r += pieces) {
        p.at[2 * R - 1] = static_cast<I>(reduced.items * static_cast<I>(N) + r);
        all = Red::combine(all, value<1>(load<1>(p)));
      }
      return all;
    }
  }
  /// Is this the sum of the rows of a matrix, and does no array that it reads stay in place along them, but the one whose adjoint it is?
  bool over_rows() const { return has_rows && kept.first == R - 1 && reduced.first == R - 1 && all_step(leaves); }
  /// The same of rows_at_once rows, every step-th; no load waits for the use of another. Only where over_rows().
  TTENSOR_HD TTENSOR_INLINE void fold_rows(result (&acc)[rows_at_once], I row, I step, I piece) const {
    TTENSOR_DEVICE_UNROLL for (int j = 0; j < rows_at_once; ++j) acc[j] = Red::template identity<result>();
    place<2 * R, I> p{};
    for (I r = piece; r < reduced.items; r += static_cast<I>(shape.pieces())) {
      p.at[2 * R - 1] = static_cast<I>(r * static_cast<I>(N));
      decltype(load<N, true>(p)) words[rows_at_once];
      TTENSOR_DEVICE_UNROLL for (int j = 0; j < rows_at_once; ++j) {
        const I q = static_cast<I>(row + static_cast<I>(j) * step);
        p.at[R - 1] = q < kept.items ? q : static_cast<I>(kept.items - 1);  // no branch between the loads
        words[j] = load<N, true>(p);
      }
      TTENSOR_DEVICE_UNROLL for (int j = 0; j < rows_at_once; ++j) acc[j] = Red::combine(acc[j], of_lanes(value<N>(words[j])));
    }
  }
  TTENSOR_HD TTENSOR_INLINE void put(I q, const result& a) const {
    auto p = kept.locate(q);
    using E = typename Out::elem;
    TTENSOR_DEVICE_UNROLL for (int j = 0; j < result::size; ++j) {
      E* to = out.where(p);
      const device_pack<A, 1> v(a.v[j]);
      store_as(add ? Red::combine(load_as<device_pack<A, 1>>(static_cast<const E*>(to)), v) : v, to);
      ++p.at[R - 1];
    }
  }

 private:
  template <class... P> static bool all_step(const bundle<P...>& leaves) {  // a cotangent steps along every axis
    const auto steps = [](const auto& leaf) {
      if constexpr (requires { leaf.plane; }) return leaf.plane.steps();
      else return true;
    };
    return [&]<int... J>(std::integer_sequence<int, J...>) { return ((J == What::slot || steps(at<J>(leaves))) && ...); }(std::make_integer_sequence<int, static_cast<int>(sizeof...(P))>{});
  }
  TTENSOR_HD TTENSOR_INLINE static result of_lanes(const device_pack<A, N>& a) {
    result all(a.v[0]);
    TTENSOR_DEVICE_UNROLL for (int j = 1; j < N; ++j) all = Red::combine(all, result(a.v[j]));
    return all;
  }
  template <int First> TTENSOR_HD TTENSOR_INLINE static void set(place<2 * R, I>& p, const place<R, I>& from) {
    TTENSOR_DEVICE_UNROLL for (int d = 0; d < R; ++d) p.at[First + d] = from.at[d];
  }
  template <class Leaves, class C> struct loaded {
    Leaves leaves;
    C ct;
  };
  template <int M, bool Steps = false> TTENSOR_HD TTENSOR_INLINE auto load(const place<2 * R, I>& p) const {
    const auto in = load_leaves<M, Steps, What::slot>(leaves, p);
    using In = std::remove_const_t<decltype(in)>;
    if constexpr (std::is_same_v<What, value_of>) return loaded<In, Ct>{in, ct};
    else return loaded<In, lanes_t<typename Ct::elem, M>>{in, ct.template load<M, Steps>(p)};
  }
  template <int M, class In> TTENSOR_HD TTENSOR_INLINE device_pack<A, M> value(const In& in) const {
    using S = device_sweep<Prog, M, L...>;
    if constexpr (std::is_same_v<What, value_of>) return convert_value<device_pack<A, M>>(S::run(in.leaves));
    else {
      const auto a = S::template reverse<std::uint64_t(1) << What::slot, decltype(in.ct)>(in.leaves, in.ct);
      return convert_value<device_pack<A, M>>(at<device_detail::load_number<S, What::slot>>(a));
    }
  }
};

namespace device_detail {
struct fold_axes {
  int kept;     // how many
  bool inside;  // is the innermost axis reduced?
};
/// Puts the axes of a sum (plane 0 is its output, of stride 0 along reduced axes) in the order of the first of the largest arrays, merges them, and
/// moves the innermost axis's group (kept or reduced) behind the other.
inline fold_axes order_for_fold(nest& s) {
  int lead = 0, most = 0;
  for (int k = 1; k < s.planes; ++k) {
    int axes = 0;
    for (int d = 0; d < s.rank; ++d) axes += s.extent[d] > 1 && s.plane[k].stride[d] != 0;
    if (axes > most) most = axes, lead = k;
  }
  auto weight = [&](int d) {  // an axis that the array lacks goes outside
    const index_t w = lead > 0 ? s.plane[lead].stride[d] : 0;
    return w < 0 ? -w : w > 0 ? w : std::numeric_limits<index_t>::max();
  };
  for (int i = 1; i < s.rank; ++i)
    for (int d = i; d > 0 && weight(d - 1) < weight(d); --d) s.exchange(d - 1, d);
  collapse(s, false);
  fold_axes f{0, s.rank == 0 || s.plane[0].stride[s.rank - 1] == 0};
  auto first = [&](int d) { return (s.plane[0].stride[d] != 0) == f.inside; };
  for (int i = 1; i < s.rank; ++i)
    for (int d = i; d > 0 && first(d) && !first(d - 1); --d) s.exchange(d - 1, d);
  for (int d = 0; d < s.rank; ++d) f.kept += s.plane[0].stride[d] != 0;
  return f;
}
/// `filling`: threads that keep the device busy. Deterministic: nothing but the numbers given decides. A thread that has fewer than four accesses costs more than it
/// reads, and so does a second turn of blocks (measured: docs/design/0002-gpu-seam.md).
inline fold_shape shape_of_fold(index_t kept, index_t reduced, bool inside, bool over_rows, int log_block, index_t filling) {
  constexpr index_t accesses = 4;
  if (over_rows && log_block >= 5 && reduced >= rows_at_once && reduced <= 4 * rows_at_once && kept >= filling) return {log_rows_at_once, log_block - log_rows_at_once, 1, 1, 1};
  int log = 0;
  auto pieces = [&] { return index_t(1) << log; };
  if (inside) {
    while (log < 5 && log < log_block && reduced >= 2 * pieces() * (log < 2 ? 2 : accesses) && reduced > accesses) ++log;  // from 8 on 64 bytes together
    while (log < log_block && (reduced >= 16 * accesses * pieces() || (kept * pieces() < filling && reduced >= 2 * pieces() * accesses))) ++log;
  } else {  // 32 neighbouring words
    while (log < log_block && (log_block - log > 5 || (index_t(1) << (log_block - log)) >= 2 * kept)) ++log;
    while (log > 0 && pieces() > reduced) --log;
  }
  const index_t threads = kept * pieces(), most = reduced / (pieces() * accesses), wanted = filling / (threads > 0 ? threads : 1), splits = wanted < most ? wanted : most;
  return {log, log_block - log, static_cast<int>(splits > 1 ? splits : 1), inside ? 1 : 0, 0};
}
}  // namespace device_detail

/// Folds a statement whose plane 0 is the output, of stride 0 along the reduced axes, and whose plane 1, where it has one, is a cotangent.
/// False, and nothing done: `ByWords` was asked for, and no words fit or 32-bit indices do not. x null: only says whether.
template <class What, bool ByWords, class T, class Ct, class A, class X, class E, int Outs> bool device_fold(const X* x, bool add, device_statement<E, Outs>& st) {
  constexpr int R = device_statement<E, Outs>::R;
  static_assert(2 * R <= max_rank, "ttensor: at most 6 axes in a device reduction");
  const auto axes = device_detail::order_for_fold(st.loops);
  const int rank = st.loops.rank, reduced = rank - axes.kept;
  index_t extent[2 * R];  // the kept axes, then the reduced ones
  for (int d = 0; d < rank; ++d) extent[axes.inside ? d : (d + axes.kept) % rank] = st.loops.extent[d];
  bool done = true;
  st.each_leaf_type([&]<class... K>(type_list<K...>) {
    constexpr int N = device_lanes<typename cotangent<Ct>::elem, typename K::elem...>();
    auto go = [&]<int M, bool Inside, class I>(width<M>, std::bool_constant<Inside>, std::type_identity<I>) {
      if (!x) return;
      auto group = [&](index_t* to, const nest_plane& p, bool of_kept) {  // strides of the kept or the reduced axes, as the last of R
        const int n = of_kept ? axes.kept : reduced, from = of_kept == axes.inside ? 0 : rank - n;
        for (int d = 0; d < R; ++d) to[d] = d < R - n ? 0 : p.stride[from + d - (R - n)];
      };
      auto both = [&](nest_plane p) {
        const nest_plane q = p;
        group(p.stride, q, Inside), group(p.stride + R, q, !Inside);
        return p;
      };
      nest_plane to = st.plane[0];
      group(to.stride, st.plane[0], true);
      using out_plane = strided_plane<T, R, I>;
      using ct_leaf = typename What::template leaf<Ct, 2 * R, I>;
      using body = fold_body<What, program_of<E>, sum_op, A, M, Inside, R, I, out_plane, ct_leaf, typename K::template grid<2 * R, I>...>;
      ct_leaf ct{};
      if constexpr (cotangent<Ct>::read) ct.plane = device_detail::strided<const typename ct_leaf::elem, 2 * R, I>(both(st.plane[1]), 2 * R);
      body f{{}, {}, {}, 0, add ? 1 : 0, device_detail::strided<T, R, I>(to, R), ct, [&]<int... J>(std::integer_sequence<int, J...>) {
               return bundle<typename K::template grid<2 * R, I>...>{{{device_detail::make_leaf<K, typename K::template grid<2 * R, I>>(both(st.plane[Outs + J]), 2 * R)}...}};
             }(std::make_integer_sequence<int, static_cast<int>(sizeof...(K))>{})};
      f.kept = device_detail::make_walk<Inside ? 1 : M, R, I>(extent, axes.kept);
      f.reduced = device_detail::make_walk<Inside ? M : 1, R, I>(extent + axes.kept, reduced);
      if (Inside && rank == 1) f.tail = static_cast<I>(extent[0] % M);
      if (f.kept.items == 0) return;
      f.shape = device_detail::shape_of_fold(static_cast<index_t>(f.kept.items), static_cast<index_t>(f.reduced.items), axes.inside, f.over_rows(), x->log_block(), x->filling());
      x->template fold<sum_op>(f);
    };
    using narrow = std::type_identity<std::uint32_t>;
    const bool words = N > 1 && device_detail::words_fit(st.loops, N, 1, axes.inside && rank == 1), fits = device_detail::fits_32(st.loops);
    if (words && fits) {
      if (axes.inside) go(width<N>{}, std::true_type{}, narrow{});
      else go(width<N>{}, std::false_type{}, narrow{});
    } else if constexpr (ByWords) {
      done = false;
    } else if (fits) {
      go(width<1>{}, std::true_type{}, narrow{});
    } else {
      if (words && axes.inside) go(width<N>{}, std::true_type{}, std::type_identity<index_t>{});
      else go(width<1>{}, std::true_type{}, std::type_identity<index_t>{});
    }
  });
  return done;
}
/// out (+)= sum of e over the axes where out's stride is 0: one kernel, the same bits for the same shape, layout and alignment on the same kind of device.
template <class X, class T, class E> void device_sum_into(const X& x, T* out, const index_t* out_stride, bool add, const E& e) {
  device_statement<E, 1> st(e);
  st.set_output(0, out, out_stride);
  device_fold<value_of, false, T, void, device_sum_t<scalar_t<E>>>(&x, add, st);
}

/// The sum of all elements of e.
template <class X, class T, class E> void device_sum(const X& x, T* out, const E& e) {
  const index_t zero[device_statement<E, 1>::R]{};
  device_sum_into(x, out, zero, false, e);
}

}  // namespace run
TTENSOR_END
