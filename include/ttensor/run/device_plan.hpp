// From an expression over device memory to kernel bodies: host code without a line of CUDA, so that the CPU tests drive
// exactly what a device runs. An executor x supplies
//   x.threads(items)      how many threads a launch over `items` positions has
//   x.launch(body, items) body(tid, x.threads(items)) for every tid below that; nothing when items is 0
//   x.scratch<T>(n)       memory for n elements, .get(), alive as long as the object (and the launches that use it)
//   x.zero(p, bytes)
// User code never spells an expression's type: these functions deduce it (cudafe++ prints every type that non-template code names).
#pragma once
#include "../ops/reduction.hpp"
#include "device_bodies.hpp"
#include "nest.hpp"

TTENSOR_BEGIN

/// Leaf of an expression: elements in device memory, which the caller keeps alive until the statement has run.
template <class T, int R> struct device_leaf {
  using ttensor_expression = void;
  using scalar = T;
  static constexpr int rank = R;
  const T* base;
  layout_map<R> map;
  dims<R> shape() const { return map.extent; }
  const T* data() const { return base + map.offset; }
  template <class F> void leaves(F&& f) const { f(*this); }
};

namespace run {
template <class L> inline constexpr bool is_device_leaf_v = false;
template <class T, int R> inline constexpr bool is_device_leaf_v<device_leaf<T, R>> = true;

namespace device_detail {
template <class L> inline constexpr bool number_v = false;
template <number T> inline constexpr bool number_v<scalar_leaf<T>> = true;
template <class... L> constexpr bool all_on_device(type_list<L...>) { return ((is_device_leaf_v<L> || number_v<L>) && ...); }
template <class... L> constexpr std::uint64_t active_slots(type_list<L...>) {
  std::uint64_t bits = 0;
  int k = 0;
  ((bits |= std::uint64_t(is_device_leaf_v<L> && is_differentiable_v<typename L::scalar>) << k, ++k), ...);
  return bits;
}

// The kernel's leaf of an expression's leaf, under each walk.
template <class L> struct kernel_leaf;
template <class T, int Q> struct kernel_leaf<device_leaf<T, Q>> {
  using elem = T;
  static constexpr int rank = Q;
  using linear = plane_leaf<flat_plane<const T>>;
  template <int R, class I> using grid = plane_leaf<strided_plane<const T, R, I>>;
  template <int R> static void describe(const device_leaf<T, Q>& l, nest_plane& p) {
    p.ptr = reinterpret_cast<char*>(const_cast<T*>(l.data()));
    p.bytes = static_cast<int>(sizeof(T));
    p.how = access::input;
    for (int d = 0; d < R; ++d) p.stride[d] = d < R - Q || l.map.extent[d - (R - Q)] == 1 ? 0 : l.map.stride[d - (R - Q)];
  }
};
template <class T> struct kernel_leaf<scalar_leaf<T>> {
  using elem = T;
  static constexpr int rank = -1;
  using linear = number_leaf<T>;
  template <int, class> using grid = number_leaf<T>;
  template <int R> static void describe(const scalar_leaf<T>& l, nest_plane& p) {
    p.ptr = reinterpret_cast<char*>(const_cast<T*>(&l.value));
    p.bytes = static_cast<int>(sizeof(T));
    p.how = access::uniform;
    for (int d = 0; d < R; ++d) p.stride[d] = 0;
  }
};
template <class E, int R, class I> strided_plane<E, R, I> strided(const nest_plane& p, int rank) {
  strided_plane<E, R, I> s{reinterpret_cast<E*>(p.ptr), {}};
  for (int d = 0; d < R; ++d) s.stride[d] = d < R - rank ? I(0) : static_cast<I>(p.stride[d - (R - rank)]);
  return s;
}
// of one leaf, from its plane
template <class K, class To> To make_leaf(const nest_plane& p, int rank) {
  using E = typename K::elem;
  if constexpr (std::is_same_v<To, number_leaf<E>>) return To{static_cast<compute_t<E>>(*reinterpret_cast<const E*>(p.ptr))};
  else if constexpr (std::is_same_v<To, plane_leaf<flat_plane<const E>>>) return To{{reinterpret_cast<const E*>(p.ptr)}};
  else return [&]<int R, class I>(std::type_identity<plane_leaf<strided_plane<const E, R, I>>>) {
    return To{strided<const E, R, I>(p, rank)};
  }(std::type_identity<To>{});
}
template <int N, int R, class I> grid_walk<N, R, I> make_walk(const index_t* extent, int rank) {
  grid_walk<N, R, I> w{{}, 1, R - (rank > 0 ? rank : 1)};
  for (int d = 0; d < R; ++d) {
    w.extent[d] = d < R - rank ? I(1) : static_cast<I>(d == R - 1 ? extent[rank - 1] / N : extent[d - (R - rank)]);
    w.items = static_cast<I>(w.items * w.extent[d]);
  }
  return w;
}
inline bool word_aligned(const nest_plane& p, int lanes) {
  return p.how == access::uniform || reinterpret_cast<std::uintptr_t>(p.ptr) % static_cast<std::uintptr_t>(lanes * p.bytes) == 0;
}
/// Whole words along the inner axis of a collapsed nest?
inline bool words_fit(const nest& s, int lanes) {
  if (s.rank == 0 || s.extent[s.rank - 1] % lanes != 0) return false;
  for (int k = 0; k < s.planes; ++k) {
    const nest_plane& p = s.plane[k];
    const index_t inner = p.stride[s.rank - 1];
    if (p.how == access::uniform || (inner == 0 && p.how == access::input)) continue;
    if (inner != 1 || !word_aligned(p, lanes)) return false;
    for (int d = 0; d < s.rank - 1; ++d)
      if (p.stride[d] % lanes != 0) return false;
  }
  return true;
}
/// Counts and offsets below 2^31, so that 32-bit index arithmetic is exact.
inline bool fits_32(const nest& s) {
  constexpr index_t limit = index_t(1) << 31;
  index_t items = 1;
  for (int d = 0; d < s.rank; ++d)
    if ((items *= s.extent[d]) >= limit) return false;
  for (int k = 0; k < s.planes; ++k) {
    index_t reach = 0;
    for (int d = 0; d < s.rank; ++d) {
      const index_t t = s.plane[k].stride[d];
      if ((reach += (t < 0 ? -t : t) * (s.extent[d] - 1)) >= limit) return false;
    }
  }
  return true;
}
}  // namespace device_detail

/// The planes of a statement: `Outs` that are written, then the leaves in slot order.
template <class E, int Outs> struct device_statement {
  using prog = program_of<E>;
  using list = leaves_of_t<E>;
  static constexpr int slots = list::size, planes = Outs + slots, R = E::rank > 0 ? E::rank : 1;
  static_assert(device_detail::all_on_device(list{}),
                "ttensor: a statement on the device takes device arrays and numbers only; copy the others to the device first");
  static_assert(R <= max_rank && planes <= max_planes);
  index_t size = 1;
  bool flat = true;
  nest_plane plane[planes];
  nest loops;

  explicit device_statement(const E& e) {
    const auto shape = e.shape();
    loops.rank = E::rank;
    loops.planes = planes;
    loops.plane = plane;
    for (int d = 0; d < E::rank; ++d) size *= loops.extent[d] = shape[d];
    int k = Outs;
    e.leaves([&]<class L>(const L& l) {
      device_detail::kernel_leaf<L>::template describe<E::rank>(l, plane[k]);
      flat = flat && (plane[k].how == access::uniform || dense(plane[k]));
      ++k;
    });
  }
  device_statement(const device_statement&) = delete;
  /// Is the plane walked in row-major order without gaps?
  bool dense(const nest_plane& p) const {
    index_t n = 1;
    for (int d = E::rank - 1; d >= 0; --d) {
      if (loops.extent[d] != 1 && p.stride[d] != n) return false;
      n *= loops.extent[d];
    }
    return true;
  }
  /// A plane that is written; strides null: row-major over the statement's shape.
  template <class T> void set_output(int k, T* p, const index_t* stride = nullptr) {
    plane[k].ptr = reinterpret_cast<char*>(p);
    plane[k].bytes = static_cast<int>(sizeof(T));
    plane[k].how = access::output;
    index_t n = 1;
    for (int d = E::rank - 1; d >= 0; --d) {
      plane[k].stride[d] = stride ? stride[d] : n;
      n *= loops.extent[d];
    }
    flat = flat && dense(plane[k]);
  }
  template <class F> void each_leaf_type(F&& f) const {
    [&]<class... L>(type_list<L...>) { f(type_list<device_detail::kernel_leaf<L>...>{}); }(list{});
  }
  template <int N> linear_walk<N> linear() const {
    bool words = true;
    for (int k = 0; k < planes; ++k) words = words && (!plane[k].ptr || device_detail::word_aligned(plane[k], N));
    return {words ? size / N : 0, size};
  }
  /// Leaves for a walk; To: the kernel leaf of each slot.
  template <class... K, class... To> bundle<To...> leaves(type_list<K...>, type_list<To...>) const {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return bundle<To...>{{{device_detail::make_leaf<K, To>(plane[Outs + I], loops.rank)}...}};
    }(std::make_integer_sequence<int, slots>{});
  }
  /// Collapses the axes, then f(walk, type_identity<I>): words of N elements where they fit, 32-bit indices where they fit.
  template <int N, class F> void on_grid(F&& f) {
    collapse(loops, true);
    const index_t* e = loops.extent;
    if (!device_detail::fits_32(loops)) return f(device_detail::make_walk<1, R, index_t>(e, loops.rank), std::type_identity<index_t>{});
    if constexpr (N > 1)
      if (device_detail::words_fit(loops, N)) return f(device_detail::make_walk<N, R, std::uint32_t>(e, loops.rank), std::type_identity<std::uint32_t>{});
    f(device_detail::make_walk<1, R, std::uint32_t>(e, loops.rank), std::type_identity<std::uint32_t>{});
  }
};

/// out = e where everything is contiguous (st.flat): one kernel for every size and alignment.
template <class X, class T, class E> void device_map_flat(const X& x, T* out, const device_statement<E, 1>& st) {
  st.each_leaf_type([&]<class... K>(type_list<K...> k) {
    constexpr int N = device_lanes<T, typename K::elem...>();
    using body = map_body<program_of<E>, linear_walk<N>, flat_plane<T>, typename K::linear...>;
    x.launch(body{st.template linear<N>(), {out}, st.leaves(k, type_list<typename K::linear...>{})}, (st.size + N - 1) / N);
  });
}
/// out = e, row-major in e.shape().
template <class X, class T, class E> void device_map(const X& x, T* out, const E& e) {
  device_statement<E, 1> st(e);
  if (st.size == 0) return;
  st.set_output(0, out);
  if (st.flat) return device_map_flat(x, out, st);
  st.each_leaf_type([&]<class... K>(type_list<K...> k) {
    constexpr int N = device_lanes<T, typename K::elem...>();
    constexpr int R = device_statement<E, 1>::R;
    st.template on_grid<N>([&]<int M, class I>(const grid_walk<M, R, I>& walk, std::type_identity<I>) {
      using body = map_body<program_of<E>, grid_walk<M, R, I>, strided_plane<T, R, I>, typename K::template grid<R, I>...>;
      x.launch(body{walk, device_detail::strided<T, R, I>(st.plane[0], st.loops.rank), st.leaves(k, type_list<typename K::template grid<R, I>...>{})},
               static_cast<index_t>(walk.items));
    });
  });
}

/// out (+)= sum of e over the axes where out's stride is 0; one thread a place and piece, pieces folded in a second pass.
template <class X, class T, class E> void device_sum_into(const X& x, T* out, const index_t* out_stride, bool add, const E& e) {
  using A = accumulate_t<scalar_t<E>>;
  using I = index_t;
  constexpr int R = device_statement<E, 1>::R;
  device_statement<E, 1> st(e);
  st.set_output(0, out, out_stride);
  for (int d = 0; d < E::rank; ++d)
    if (st.loops.extent[d] == 1) st.plane[0].stride[d] = 0;
  // kept axes, then reduced ones; each group padded to R axes
  int order[2 * R], kept = 0, reduced = 0;
  index_t kept_extent[R], reduced_extent[R];
  for (int d = 0; d < 2 * R; ++d) order[d] = -1;
  for (int d = 0; d < E::rank; ++d) kept += st.plane[0].stride[d] != 0;
  reduced = E::rank - kept;
  for (int d = 0, i = 0, j = 0; d < E::rank; ++d) {
    if (st.plane[0].stride[d] != 0) kept_extent[i] = st.loops.extent[d], order[R - kept + i++] = d;
    else reduced_extent[j] = st.loops.extent[d], order[2 * R - reduced + j++] = d;
  }
  const auto kw = device_detail::make_walk<1, R, I>(kept_extent, kept);
  auto rw = device_detail::make_walk<1, R, I>(reduced_extent, reduced);
  if (kw.items == 0) return;
  const index_t want = x.threads(st.size), room = want / kw.items;
  const index_t parts = room < 2 || rw.items < 64 ? 1 : room < rw.items / 16 ? room : rw.items / 16;
  st.each_leaf_type([&]<class... K>(type_list<K...>) {
    auto ordered = [&](const nest_plane& p) {
      nest_plane q = p;
      for (int d = 0; d < 2 * R; ++d) q.stride[d] = order[d] < 0 ? 0 : p.stride[order[d]];
      return q;
    };
    static_assert(2 * R <= max_rank, "ttensor: at most 6 axes in a device reduction");
    using leaf_bundle = bundle<typename K::template grid<2 * R, I>...>;
    const leaf_bundle leaves = [&]<int... J>(std::integer_sequence<int, J...>) {
      return leaf_bundle{{{device_detail::make_leaf<K, typename K::template grid<2 * R, I>>(ordered(st.plane[1 + J]), 2 * R)}...}};
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(K))>{});
    const bool across = reduced > 0 && [&] {  // some leaf is contiguous along the innermost reduced axis
      for (int k = 1; k < st.planes; ++k)
        if (st.plane[k].how == access::input && st.plane[k].stride[order[2 * R - 1]] == 1) return true;
      return false;
    }();
    auto go = [&]<class Out>(Out* to, const index_t* strides, index_t pieces, bool plus) {
      using plane = strided_plane<Out, R + 1, I>;
      using body = reduce_axes_body<program_of<E>, sum_op, A, R, R, I, plane, typename K::template grid<2 * R, I>...>;
      plane o{to, {}};
      for (int d = 0; d <= R; ++d) o.stride[d] = strides[d];
      x.launch(body{kw, rw, pieces, across ? 1 : 0, plus ? 1 : 0, o, leaves}, kw.items * pieces);
    };
    index_t direct[R + 1]{}, folded[R + 1]{};
    for (int d = 0, i = 0; d < E::rank; ++d)
      if (st.plane[0].stride[d] != 0) direct[R - kept + i++] = st.plane[0].stride[d];
    if (parts == 1) return go(out, direct, 1, add);
    auto partial = x.template scratch<A>(kw.items * parts);
    index_t n = parts;
    folded[R] = 1;
    for (int d = R - 1; d >= 0; --d) folded[d] = n, n *= kw.extent[d];
    go(partial.get(), folded, parts, false);
    // second pass: one thread a kept place folds its pieces
    using leaf1 = plane_leaf<strided_plane<const A, R + 1, I>>;
    using last = reduce_axes_body<program<0, ld<0>>, sum_op, A, R, 1, I, strided_plane<T, R + 1, I>, leaf1>;
    strided_plane<T, R + 1, I> o{out, {}};
    strided_plane<const A, R + 1, I> in{partial.get(), {}};
    for (int d = 0; d <= R; ++d) o.stride[d] = direct[d], in.stride[d] = folded[d];
    grid_walk<1, 1, I> pieces{{parts}, parts, 0};
    x.launch(last{kw, pieces, 1, 0, add ? 1 : 0, o, bundle<leaf1>{{{leaf1{in}}}}}, kw.items);
  });
}

/// Where the derivative with respect to an array goes: `grad` has the layout of `x`, and is overwritten.
template <class T> struct into_gradient {
  const T* x;
  T* grad;
  index_t size;
};

namespace device_detail {
struct slot_plan {
  char* grad = nullptr;  // place of the leaf's first element in the gradient; null: a constant
  bool direct = false;   // the sweep writes it; else it goes through a temporary and a sum
  bool add = false;
};
// The target of a slot under each walk. An array of rank 0 is summed by the sweep itself.
template <class K> inline constexpr bool has_target = K::rank >= 0 && is_differentiable_v<typename K::elem>;
template <class K, class P> using target_t =
    std::conditional_t<!has_target<K>, no_target, std::conditional_t<K::rank == 0, sum_target<accumulate_t<typename K::elem>>, plane_target<P>>>;
template <class T> T make_target(const nest_plane& p, int rank, bool add) {
  if constexpr (std::is_same_v<T, no_target>) return {};
  else return [&]<class U>(std::type_identity<U>) {
    if constexpr (requires(U t) { t.partial; }) return U{reinterpret_cast<decltype(U::partial)>(p.ptr)};
    else return [&]<class P>(std::type_identity<plane_target<P>>) {
      using S = typename P::elem;
      if constexpr (std::is_same_v<P, flat_plane<S>>) return U{{reinterpret_cast<S*>(p.ptr)}, add ? 1 : 0};
      else return [&]<int R, class I>(std::type_identity<strided_plane<S, R, I>>) {
        return U{strided<S, R, I>(p, rank), add ? 1 : 0};
      }(std::type_identity<P>{});
    }(std::type_identity<U>{});
  }(std::type_identity<T>{});
}
template <class E, int Outs, class... T> bundle<T...> make_targets(const device_statement<E, Outs>& st, const slot_plan* plan, type_list<T...>) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return bundle<T...>{{{make_target<T>(st.plane[I], st.loops.rank, plan[I].add)}...}};
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(T))>{});
}
}  // namespace device_detail

/// The sweep alone, where everything is contiguous (st.flat): outputs of st are the adjoint planes of the slots and the
/// cotangent, prepared by device_backward.
template <class C, class X, class E, int Outs> void device_back_flat(const X& x, const device_statement<E, Outs>& st, const device_detail::slot_plan* plan) {
  st.each_leaf_type([&]<class... K>(type_list<K...> k) {
    constexpr int N = device_lanes<C, typename K::elem...>();
    using targets = type_list<device_detail::target_t<K, flat_plane<typename K::elem>>...>;
    using ct = cotangent_leaf<flat_plane<const C>>;
    using body = back_body<program_of<E>, device_detail::active_slots(leaves_of_t<E>{}), linear_walk<N>, ct, targets, typename K::linear...>;
    x.launch(body{st.template linear<N>(), ct{{reinterpret_cast<const C*>(st.plane[Outs - 1].ptr)}}, device_detail::make_targets(st, plan, targets{}),
                  st.leaves(k, type_list<typename K::linear...>{})},
             (st.size + N - 1) / N);
  });
}

/// Adjoints of e's arrays from the cotangent of e (null: ones), row-major in e.shape(). One pass; arrays that e broadcasts
/// or reads in several layouts get theirs from a sum over a temporary. Arrays that no `into` names are constants.
template <class X, class C, class E, class... T> void device_backward(const X& x, const E& e, const C* ct, const into_gradient<T>&... into) {
  using list = leaves_of_t<E>;
  constexpr int slots = list::size, outs = slots + 1, R = device_statement<E, 1>::R;
  constexpr std::uint64_t active = device_detail::active_slots(list{});
  static_assert(slots <= 63 && active != 0, "ttensor: no differentiable device array in this expression");
  static_assert(std::is_same_v<C, elem_t<scalar_t<E>>>, "ttensor: the cotangent has the element type of the expression");
  device_statement<E, outs> st(e);
  device_detail::slot_plan plan[slots];
  index_t stride[slots][R];
  for (int k = 0; k < slots; ++k)
    for (int d = 0; d < E::rank; ++d) stride[k][d] = st.plane[outs + k].stride[d];

  auto ask = [&]<class U>(const into_gradient<U>& g) {
    int k = 0, walked = -1;
    bool fresh = true;  // nothing has been written to g yet
    e.leaves([&]<class L>(const L& l) {
      if constexpr (is_device_leaf_v<L>)
        if constexpr (std::is_same_v<typename L::scalar, U>)
          if (l.data() >= g.x && l.data() < g.x + (g.size > 0 ? g.size : 1)) {
            bool direct = L::rank > 0;  // every place of the statement is an element of its own, walked as by the first slot
            for (int d = 0; d < E::rank; ++d)
              direct = direct && (st.loops.extent[d] == 1 || stride[k][d] != 0) && (walked < 0 || stride[walked][d] == stride[k][d]);
            direct = direct && (walked < 0 || plan[walked].grad == reinterpret_cast<char*>(g.grad + (l.data() - g.x)));
            if (fresh && !(direct && st.size == g.size)) x.zero(g.grad, static_cast<std::size_t>(g.size) * sizeof(U)), fresh = false;
            plan[k] = {reinterpret_cast<char*>(g.grad + (l.data() - g.x)), direct, !fresh};
            fresh = false;
            if (direct && walked < 0) walked = k;
          }
      ++k;
    });
    if (fresh) x.zero(g.grad, static_cast<std::size_t>(g.size) * sizeof(U));
  };
  (ask(into), ...);
  if (st.size == 0) return;

  st.each_leaf_type([&]<class... K>(type_list<K...> k) {
    constexpr int N = device_lanes<C, typename K::elem...>();
    const index_t threads = x.threads(st.size);  // no launch below has more
    auto temporary = make_bundle(x.template scratch<accumulate_t<typename K::elem>>(0)...);
    auto prepare = [&]<int I, class Ki>(width<I>, std::type_identity<Ki>) {
      using S = typename Ki::elem;
      st.plane[I] = nest_plane{nullptr, 1, access::uniform, {}};
      if constexpr (device_detail::has_target<Ki>) {
        if (!plan[I].grad) return;
        if (plan[I].direct) return st.set_output(I, reinterpret_cast<S*>(plan[I].grad), stride[I]);
        at<I>(temporary) = x.template scratch<accumulate_t<S>>(Ki::rank == 0 ? threads : st.size);
        plan[I].add = false;
        if constexpr (Ki::rank == 0) st.plane[I].ptr = reinterpret_cast<char*>(at<I>(temporary).get());
        else st.set_output(I, reinterpret_cast<S*>(at<I>(temporary).get()));
      }
    };
    [&]<int... I>(std::integer_sequence<int, I...>) { (prepare(width<I>{}, std::type_identity<K>{}), ...); }(std::make_integer_sequence<int, slots>{});
    if (ct) {
      st.set_output(slots, const_cast<C*>(ct));
      st.plane[slots].how = access::input;
    } else {
      st.plane[slots] = nest_plane{nullptr, 1, access::uniform, {}};
    }
    index_t used = 0;  // threads of the sweep
    if (st.flat) {
      used = x.threads((st.size + N - 1) / N);
      device_back_flat<C>(x, st, plan);
    } else {
      st.template on_grid<N>([&]<int M, int Q, class I>(const grid_walk<M, Q, I>& walk, std::type_identity<I>) {
        using targets = type_list<device_detail::target_t<K, strided_plane<typename K::elem, Q, I>>...>;
        using ct_leaf = cotangent_leaf<strided_plane<const C, Q, I>>;
        using body = back_body<program_of<E>, active, grid_walk<M, Q, I>, ct_leaf, targets, typename K::template grid<Q, I>...>;
        used = x.threads(static_cast<index_t>(walk.items));
        x.launch(body{walk, ct_leaf{device_detail::strided<const C, Q, I>(st.plane[slots], st.loops.rank)}, device_detail::make_targets(st, plan, targets{}),
                      st.leaves(k, type_list<typename K::template grid<Q, I>...>{})},
                 static_cast<index_t>(walk.items));
      });
    }
    auto finish = [&]<int I, class Ki>(width<I>, std::type_identity<Ki>) {
      using S = typename Ki::elem;
      if constexpr (device_detail::has_target<Ki>) {
        if (!plan[I].grad || plan[I].direct) return;
        S* to = reinterpret_cast<S*>(plan[I].grad);
        if constexpr (Ki::rank == 0) {
          const index_t zero[1]{};
          device_sum_into(x, to, zero, true, device_leaf<accumulate_t<S>, 1>{at<I>(temporary).get(), layout_map<1>::row_major({{used}})});
        } else {
          device_sum_into(x, to, stride[I], true, device_leaf<S, E::rank>{reinterpret_cast<const S*>(at<I>(temporary).get()), layout_map<E::rank>::row_major(e.shape())});
        }
      }
    };
    [&]<int... I>(std::integer_sequence<int, I...>) { (finish(width<I>{}, std::type_identity<K>{}), ...); }(std::make_integer_sequence<int, slots>{});
  });
}

/// The sum of all elements of e, in three deterministic steps: threads, pieces, one. (A device with barriers does it in one kernel.)
template <class X, class T, class E> void device_sum(const X& x, T* out, const E& e) {
  const index_t zero[device_statement<E, 1>::R]{};
  device_sum_into(x, out, zero, false, e);
}

}  // namespace run
TTENSOR_END
