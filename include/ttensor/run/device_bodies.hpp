// Kernel bodies: what a GPU thread does, as host/device function objects of (tid, thread_count) over a flat program. One
// generic __global__ (cuda/launch.hpp) runs them on a device; tests run the very same objects on the CPU.
//
// Rules for every type below, because it is a kernel argument: trivially copyable; no [[no_unique_address]] (its layout differs
// between the two compilers), no std::tuple or std::array (empty kernels), no lambda, local or private type; short names.
//
// A body = a walk (which positions a thread visits, and how many elements at once) x a program x leaves x targets.
#pragma once
#include "../expr/sweep.hpp"
#include "../num/device_pack.hpp"

TTENSOR_BEGIN
namespace run {

template <int M> struct width {  // elements handled at once
  static constexpr int value = M;
};

/// Elements of one access: 16 bytes of the widest element.
template <class... E> constexpr int device_lanes() {
  std::size_t widest = 1;
  ((widest = sizeof(E) > widest ? sizeof(E) : widest), ...);
  return widest >= 16 ? 1 : static_cast<int>(16 / widest);
}

/// In place of a number of threads: one for every item, so that no thread has to look for more (and keep places for that: a third of the registers).
struct one_each {};
/// f(item) for the items of thread tid.
template <class Threads, class F> TTENSOR_HD TTENSOR_INLINE void each_item(index_t tid, Threads threads, index_t items, F&& f) {
  if constexpr (std::is_same_v<Threads, one_each>) {
    if (tid < items) f(tid);
  } else {
    for (index_t k = tid; k < items; k += threads) f(k);
  }
}

// ---- walks -----------------------------------------------------------------------------------------------------------
/// All planes contiguous: a position is an index. `words` accesses of N elements, the rest one by one; words = 0 when a
/// pointer is not aligned to its access.
template <int N> struct linear_walk {
  static constexpr int lanes = N;
  using position = index_t;
  index_t words, size;
  index_t items() const { return words > size - words * N ? words : size - words * N; }
  template <class Threads, class F> TTENSOR_HD TTENSOR_INLINE void each(index_t tid, Threads threads, F&& f) const {
    each_item(tid, threads, words, [&](index_t k) { f(width<N>{}, k * N); });
    each_item(tid, threads, size - words * N, [&](index_t i) { f(width<1>{}, words * N + i); });
  }
};
/// Coordinates in collapsed axes, inner axis last, for leaves with strides of their own.
template <int R, class I> struct place {
  I at[R];
};
/// Any strides: the inner axis advances N elements at once (N > 1 needs inner strides 0 or 1, whole words and aligned rows).
/// I: std::uint32_t when every count and offset fits, index_t otherwise. Axes before `first` have extent 1.
template <int N, int R, class I> struct grid_walk {
  static_assert(R > 0);
  static constexpr int lanes = N;
  using position = place<R, I>;
  I extent[R];  // the inner one in words
  I items;
  int first;
  TTENSOR_HD TTENSOR_INLINE position locate(I k) const {
    position p;
    TTENSOR_DEVICE_UNROLL for (int d = R - 1; d >= 0; --d) {
      if (d > first) {
        const I q = k / extent[d];
        p.at[d] = static_cast<I>(k - q * extent[d]);
        k = q;
      } else {
        p.at[d] = k;
        k = 0;
      }
    }
    p.at[R - 1] = static_cast<I>(p.at[R - 1] * static_cast<I>(N));
    return p;
  }
  template <class Threads, class F> TTENSOR_HD TTENSOR_INLINE void each(index_t tid, Threads threads, F&& f) const {
    each_item(tid, threads, static_cast<index_t>(items), [&](index_t k) { f(width<N>{}, locate(static_cast<I>(k))); });
  }
};
/// Squares of N x N elements of the last two axes. A leaf that is contiguous along the last but one is read by words along that axis, and turned in registers;
/// the threads are dealt so that reading and writing both fill whole sectors of memory: 4 x 8 a warp, `side` x `side` in 256 of them.
template <int N, int R, class I> struct tile_walk {
  static_assert(R > 1);
  static constexpr int lanes = N, rank = R, side = 16;
  using position = place<R, I>;
  grid_walk<1, R, I> squares;  // of side * N elements
  I rows, columns;             // extents of the last two axes
  std::uint64_t turned, words;  // bit per leaf: contiguous along the last axis but one; along the last, or without it
  int out_words;
  index_t items() const { return static_cast<index_t>(squares.items) * side * side; }
  template <class Threads, class F> TTENSOR_HD TTENSOR_INLINE void each(index_t tid, Threads threads, F&& f) const {
    each_item(tid, threads, static_cast<index_t>(squares.items) * side * side, [&](index_t k) {
      const unsigned t = static_cast<unsigned>(k % (side * side)), lane = t % 32, warp = t / 32;
      position p = squares.locate(static_cast<I>(k / (side * side)));
      I &i = p.at[R - 2], &j = p.at[R - 1];
      i = static_cast<I>((i * static_cast<I>(side) + static_cast<I>(warp / 4 * 8 + lane / 4)) * static_cast<I>(N));
      j = static_cast<I>((j * static_cast<I>(side) + static_cast<I>(warp % 4 * 4 + lane % 4)) * static_cast<I>(N));
      if (i + static_cast<I>(N) <= rows && j + static_cast<I>(N) <= columns) return f(width<N>{}, p);
      const I first_i = i, first_j = j;
      for (i = first_i; i < rows && i < first_i + static_cast<I>(N); ++i)
        for (j = first_j; j < columns && j < first_j + static_cast<I>(N); ++j) f(width<1>{}, p);
    });
  }
};

// ---- planes ------------------------------------------------------------------------------------------------------------
template <class E, int M> using lanes_t = device_pack<compute_t<E>, M>;

/// Contiguous elements, for linear_walk.
template <class E> struct flat_plane {
  using elem = E;
  E* ptr;
  TTENSOR_HD TTENSOR_INLINE E* where(index_t i) const { return ptr + i; }
  TTENSOR_HD TTENSOR_INLINE bool steps() const { return true; }
};
/// Elements at strides, for grid_walk. I is unsigned when 32 bits wide: offsets wrap, so negative strides work too.
template <class E, int R, class I> struct strided_plane {
  using elem = E;
  E* ptr;
  I stride[R];
  TTENSOR_HD TTENSOR_INLINE E* where(const place<R, I>& p) const {
    I o = 0;
    TTENSOR_DEVICE_UNROLL for (int d = 0; d < R; ++d) o = static_cast<I>(o + p.at[d] * stride[d]);
    return ptr + static_cast<std::make_signed_t<I>>(o);
  }
  TTENSOR_HD TTENSOR_INLINE bool steps() const { return stride[R - 1] != 0; }
};
template <int M, class P, class At> TTENSOR_HD TTENSOR_INLINE auto load_plane(const P& p, const At& at) {
  using V = lanes_t<std::remove_const_t<typename P::elem>, M>;
  if constexpr (M > 1)
    if (!p.steps()) return V(simd::lane_cast<typename V::value_type>(*p.where(at)));
  return load_word<V>(static_cast<const typename P::elem*>(p.where(at)));
}
/// Read-only planes as leaves of the program; a number is one value for the whole statement.
template <class P> struct plane_leaf {
  using elem = std::remove_const_t<typename P::elem>;
  P plane;
  template <int M, class At> TTENSOR_HD TTENSOR_INLINE lanes_t<elem, M> load(const At& at) const { return load_plane<M>(plane, at); }
};
template <class E> struct number_leaf {
  using elem = E;
  compute_t<E> value;
  template <int M, class At> TTENSOR_HD TTENSOR_INLINE lanes_t<elem, M> load(const At&) const { return lanes_t<E, M>(value); }
};
/// A cotangent; null: ones.
template <class P> struct cotangent_leaf {
  using elem = std::remove_const_t<typename P::elem>;
  P plane;
  template <int M, class At> TTENSOR_HD TTENSOR_INLINE lanes_t<elem, M> load(const At& at) const {
    return plane.ptr ? load_plane<M>(plane, at) : lanes_t<elem, M>(compute_t<elem>(1));
  }
};

template <class Prog, int M, class... L> using device_sweep = sweep<Prog, type_list<lanes_t<typename L::elem, M>...>>;
template <int M, class... L, class At> TTENSOR_HD TTENSOR_INLINE auto load_leaves(const bundle<L...>& leaves, const At& p) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return row_of<lanes_t<typename L::elem, M>...>{{{at<I>(leaves).template load<M>(p)}...}};
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{});
}

// ---- map: out = Prog(leaves) ----------------------------------------------------------------------------------------------
template <class Prog, class Walk, class Out, class... L> struct map_body {
  Walk walk;
  Out out;
  bundle<L...> leaves;
  template <class Threads> TTENSOR_HD void operator()(index_t tid, Threads threads) const {
    walk.each(tid, threads, [&]<int M>(width<M>, const typename Walk::position& p) {
      const auto y = device_sweep<Prog, M, L...>::run(load_leaves<M>(leaves, p));
      store_word(convert_value<lanes_t<typename Out::elem, M>>(y), out.where(p));
    });
  }
};

/// N rows of N neighbouring elements.
template <class V> struct tile {
  V row[V::size];
};
template <int N, class E, class At> TTENSOR_HD TTENSOR_INLINE auto load_tile(const number_leaf<E>& l, const At& p, bool, bool) {
  tile<lanes_t<E, N>> t;
  TTENSOR_LANES(i) t.row[i] = l.template load<N>(p);
  return t;
}
template <int N, class P, int R, class I> TTENSOR_HD TTENSOR_INLINE auto load_tile(const plane_leaf<P>& l, place<R, I> p, bool turned, bool words) {
  using V = lanes_t<typename plane_leaf<P>::elem, N>;
  tile<V> t;
  if (turned) {
    TTENSOR_LANES(j) {
      const V down = load_word<V>(l.plane.where(p));
      TTENSOR_DEVICE_UNROLL for (int i = 0; i < N; ++i) t.row[i].v[j] = down.v[i];
      ++p.at[R - 1];
    }
  } else {
    TTENSOR_LANES(i) {
      if (words) t.row[i] = load_plane<N>(l.plane, p);
      else {
        auto q = p;
        TTENSOR_DEVICE_UNROLL for (int j = 0; j < N; ++j) t.row[i].v[j] = load_plane<1>(l.plane, q).v[0], ++q.at[R - 1];
      }
      ++p.at[R - 2];
    }
  }
  return t;
}
/// map_body by tiles.
template <class Prog, class Walk, class Out, class... L> struct tile_body {
  Walk walk;
  Out out;
  bundle<L...> leaves;
  template <class Threads> TTENSOR_HD void operator()(index_t tid, Threads threads) const {
    walk.each(tid, threads, [&]<int M>(width<M>, typename Walk::position p) {
      if constexpr (M == 1) store(device_sweep<Prog, 1, L...>::run(load_leaves<1>(leaves, p)), p);
      else {
        const auto tiles = [&]<int... I>(std::integer_sequence<int, I...>) {
          return bundle<tile<lanes_t<typename L::elem, M>>...>{{{load_tile<M>(at<I>(leaves), p, walk.turned >> I & 1u, walk.words >> I & 1u)}...}};
        }(std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{});
        TTENSOR_DEVICE_UNROLL for (int i = 0; i < M; ++i) {
          store(device_sweep<Prog, M, L...>::run([&]<int... I>(std::integer_sequence<int, I...>) {
                  return row_of<lanes_t<typename L::elem, M>...>{{at<I>(tiles).row[i]...}};
                }(std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{})), p);
          ++p.at[Walk::rank - 2];
        }
      }
    });
  }

 private:
  template <class V, class At> TTENSOR_HD TTENSOR_INLINE void store(const V& value, At p) const {
    constexpr int N = V::size;
    const auto y = convert_value<lanes_t<typename Out::elem, N>>(value);
    if constexpr (N == 1) store_word(y, out.where(p));
    else if (walk.out_words) store_word(y, out.where(p));
    else
      TTENSOR_LANES(j) {
        *out.where(p) = simd::lane_cast<typename Out::elem>(y.v[j]);
        ++p.at[Walk::rank - 1];
      }
  }
};

// ---- backward: adjoints of leaves from the cotangent of the output, in one pass ----------------------------------------------
struct no_target {};  // of a leaf that is not active
/// Where the adjoint of a leaf goes; one thread writes each place, in the order of the slots. Null: not wanted.
template <class P> struct plane_target {
  P plane;
  int add;  // 0: the first to write here
};
/// A leaf that is one element for the whole statement: every thread leaves the sum of what it saw in partial[tid].
template <class A> struct sum_target {
  A* partial;
};
namespace device_detail {
template <class S, int Slot> inline constexpr int load_number = S::load_of(Slot);  // device code may not call a constexpr host function, even here
template <class T> inline constexpr bool is_sum = false;
template <class A> inline constexpr bool is_sum<sum_target<A>> = true;
template <class T> struct running {};  // what a target keeps from position to position
template <class A> struct running<sum_target<A>> { A sum; };

template <class P, class V, class At>
TTENSOR_HD TTENSOR_INLINE void deliver(const plane_target<P>& t, running<plane_target<P>>&, const V& d, const At& at) {
  if (!t.plane.ptr) return;
  using E = typename P::elem;
  using A = device_pack<compute_t<E>, V::size>;
  const A g = convert_value<A>(d);
  E* to = t.plane.where(at);
  store_word(t.add ? load_word<A>(static_cast<const E*>(to)) + g : g, to);
}
template <class A, class V, class At>
TTENSOR_HD TTENSOR_INLINE void deliver(const sum_target<A>&, running<sum_target<A>>& r, const V& d, const At&) {
  constexpr int N = V::size;
  TTENSOR_LANES(j) r.sum += static_cast<A>(d.v[j]);
}
template <class T> TTENSOR_HD TTENSOR_INLINE void open(running<T>&) {}
template <class A> TTENSOR_HD TTENSOR_INLINE void open(running<sum_target<A>>& r) { r.sum = A(0); }
template <class T> TTENSOR_HD TTENSOR_INLINE void close(const T&, const running<T>&, index_t) {}
template <class A> TTENSOR_HD TTENSOR_INLINE void close(const sum_target<A>& t, const running<sum_target<A>>& r, index_t tid) {
  if (t.partial) t.partial[tid] = r.sum;
}
}  // namespace device_detail

/// Active: bit per slot, as in sweep::reverse. Targets: one a leaf.
template <class Prog, std::uint64_t Active, class Walk, class Ct, class Targets, class... L> struct back_body;
template <class Prog, std::uint64_t Active, class Walk, class Ct, class... T, class... L>
struct back_body<Prog, Active, Walk, Ct, type_list<T...>, L...> {
  static constexpr bool sums = (device_detail::is_sum<T> || ...);
  Walk walk;
  Ct ct;
  bundle<T...> targets;
  bundle<L...> leaves;

  template <class Threads> TTENSOR_HD void operator()(index_t tid, Threads threads) const {
    bundle<device_detail::running<T>...> kept;
    each_target([&]<int I>(width<I>) { device_detail::open(at<I>(kept)); });
    walk.each(tid, threads, [&]<int M>(width<M>, const typename Walk::position& p) {
      using S = device_sweep<Prog, M, L...>;
      using C = lanes_t<typename Ct::elem, M>;
      const auto a = S::template reverse<Active, C>(load_leaves<M>(leaves, p), ct.template load<M>(p));
      each_target([&]<int I>(width<I>) {
        if constexpr ((Active >> I & 1u) && !std::is_same_v<at_t<I, type_list<T...>>, no_target>)
          device_detail::deliver(at<I>(targets), at<I>(kept), at<device_detail::load_number<S, I>>(a), p);
      });
    });
    each_target([&]<int I>(width<I>) { device_detail::close(at<I>(targets), at<I>(kept), tid); });
  }

 private:
  template <class F> TTENSOR_HD TTENSOR_INLINE static void each_target(F&& f) {
    [&]<int... I>(std::integer_sequence<int, I...>) {
      (f(width<I>{}), ...);
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(T))>{});
  }
};

}  // namespace run
TTENSOR_END
