// From an expression over device memory to kernel bodies: host code without a line of CUDA, so that the CPU tests drive
// exactly what a device runs. An executor x supplies (device_map wants the first two only)
//   x.launch(body, items) body(tid, one_each{}) for every tid below some number that is not below items; nothing when items is 0
//   x.threads(items)      how many threads to launch over `items` positions where each leaves a result of its own
//   x.spread(body, n)     body(tid, n) for every tid below n, which x.threads gave
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
  static constexpr int rank = R, holds = 0;
  const T* base;
  layout_map<R> map;
  dims<R> shape() const { return map.extent; }
  const T* data() const { return base + map.offset; }
  template <class F> void shapes(F&& f) const { f(map.extent); }
  template <class F> void leaves(F&& f) const { f(*this); }
  template <class F> void each_hold(F&&) {}
};

namespace run {
template <class L> inline constexpr bool is_device_leaf_v = false;
template <class T, int R> inline constexpr bool is_device_leaf_v<device_leaf<T, R>> = true;

namespace device_detail {
template <class L> inline constexpr bool number_v = false;
template <number T> inline constexpr bool number_v<scalar_leaf<T>> = true;
template <class... L> constexpr bool all_on_device(type_list<L...>) { return ((is_device_leaf_v<L> || number_v<L>) && ...); }
template <class... L> constexpr bool has_device_form(type_list<L...>) {
  return ((!is_complex_v<typename L::scalar> && !std::is_same_v<typename L::scalar, long double>) && ...);
}
template <class... L> constexpr std::uint64_t active_slots(type_list<L...>) {
  return slot_bits<(is_device_leaf_v<L> && is_differentiable_v<typename L::scalar>)...>();
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
/// Can a plane be walked by words along the axis: contiguous or, if it is read, without it?
inline bool words_along(const nest& s, const nest_plane& p, int axis, int lanes) {
  if (p.how == access::uniform || (p.stride[axis] == 0 && p.how == access::input)) return true;
  bool fit = p.stride[axis] == 1 && word_aligned(p, lanes);
  for (int d = 0; d < s.rank; ++d) fit = fit && (d == axis || p.stride[d] % lanes == 0);
  return fit;
}
/// Whole words along the inner axis of a collapsed nest, for the planes from `first` on? tail: the last word may be a part of one.
inline bool words_fit(const nest& s, int lanes, int first = 0, bool tail = false) {
  if (s.rank == 0 || (!tail && s.extent[s.rank - 1] % lanes != 0)) return false;
  for (int k = first; k < s.planes; ++k)
    if (!words_along(s, s.plane[k], s.rank - 1, lanes)) return false;
  return true;
}
/// An axis along which a plane is contiguous that is strided along the innermost one, moved next to that one; false: there is none, or too few elements for tiles.
inline bool turn_for_tiles(nest& s) {
  constexpr index_t enough = 16;
  const int in = s.rank - 1;
  for (int k = 0; k < s.planes && in > 0 && s.extent[in] >= enough; ++k) {
    const nest_plane& p = s.plane[k];
    if (p.how == access::uniform || p.stride[in] == 0 || p.stride[in] == 1) continue;
    for (int d = 0; d < in; ++d)
      if (p.stride[d] == 1 && s.extent[d] >= enough) {
        for (; d < in - 1; ++d) s.exchange(d, d + 1);
        return true;
      }
  }
  return false;
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
  static constexpr int slot_count = list::size, planes = Outs + slot_count, R = E::rank > 0 ? E::rank : 1;
  static_assert(device_detail::all_on_device(list{}),
                "ttensor: a statement on the device takes device arrays and numbers only; copy the others to the device first");
  static_assert(device_detail::has_device_form(list{}),
                "ttensor: complex numbers and long double have no form on the device: device code may not call std::complex, and has no long double");
  static_assert(R <= max_rank && planes <= max_planes);
  index_t size = 1;
  bool flat = true;
  nest_plane plane[planes > 0 ? planes : 1];
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
    f(kernel_leaves());
  }
  static auto kernel_leaves() {
    return []<class... L>(type_list<L...>) { return type_list<device_detail::kernel_leaf<L>...>{}; }(list{});
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
    }(std::make_integer_sequence<int, slot_count>{});
  }
  /// f(walk) by tiles, if some plane is contiguous along another axis than the others. Afterwards the axes are collapsed.
  template <int N, class F> bool on_tiles(F&& f) {
    collapse(loops, true);
    if constexpr (constexpr int M = N < 4 ? N : 4; R > 1 && M > 1 && planes <= 64) {  // 4 x 4 elements of each array stay in registers
      if (!device_detail::fits_32(loops) || !device_detail::turn_for_tiles(loops)) return false;
      using walk_t = tile_walk<M, R, std::uint32_t>;
      constexpr index_t side = walk_t::side * M;
      const int in = loops.rank - 1;
      index_t squares[R];
      for (int d = 0; d <= in; ++d) squares[d] = d < in - 1 ? loops.extent[d] : (loops.extent[d] + side - 1) / side;
      walk_t w{device_detail::make_walk<1, R, std::uint32_t>(squares, loops.rank), static_cast<std::uint32_t>(loops.extent[in - 1]), static_cast<std::uint32_t>(loops.extent[in]), 0, 0};
      for (int k = 0; k < planes; ++k) {
        const nest_plane& p = plane[k];
        if (device_detail::words_along(loops, p, in, M)) w.words |= std::uint64_t(1) << k;
        else if (p.stride[in - 1] == 1 && device_detail::words_along(loops, p, in - 1, M)) w.turned |= std::uint64_t(1) << k;
      }
      f(w);
      return true;
    }
    return false;
  }
  /// Collapses the axes, then f(walk, type_identity<I>): words of N elements where they fit, 32-bit indices where they fit.
  template <int N, class F> void on_grid(F&& f) {
    collapse(loops, true);
    const index_t* e = loops.extent;
    if (!device_detail::fits_32(loops)) return f(device_detail::make_walk<1, R, index_t>(e, loops.rank), std::type_identity<index_t>{});
    if constexpr (N > 1)
      if (device_detail::words_fit(loops, N))
        return f(device_detail::make_walk<N, R, std::uint32_t>(e, loops.rank), std::type_identity<std::uint32_t>{});
    f(device_detail::make_walk<1, R, std::uint32_t>(e, loops.rank), std::type_identity<std::uint32_t>{});
  }
};

/// out = e where everything is contiguous (st.flat): one kernel for every size and alignment.
template <class X, class T, class E> void device_map_flat(const X& x, T* out, const device_statement<E, 1>& st) {
  st.each_leaf_type([&]<class... K>(type_list<K...> k) {
    constexpr int N = device_lanes<T, typename K::elem...>();
    using body = map_body<program_of<E>, linear_walk<N>, flat_plane<T>, typename K::linear...>;
    const auto walk = st.template linear<N>();
    x.launch(body{walk, {out}, st.leaves(k, type_list<typename K::linear...>{})}, walk.items());
  });
}
/// Would writing e, row-major, over the n elements at `out` change what e still has to read? A leaf in the very place and order of
/// the result does not: one thread reads its elements before it writes them.
template <class E> bool device_overlaps(const void* out, std::size_t bytes, const E& e, bool in_place = true) {
  device_statement<E, 0> st(e);
  const auto first = reinterpret_cast<std::uintptr_t>(out), last = first + bytes;
  for (const nest_plane& p : st.plane) {
    if (p.how == access::uniform) continue;
    auto low = reinterpret_cast<std::uintptr_t>(p.ptr), high = low + static_cast<std::uintptr_t>(p.bytes);
    for (int d = 0; d < st.loops.rank; ++d) {
      const index_t reach = p.stride[d] * (st.loops.extent[d] - 1) * p.bytes;
      if (reach < 0) low -= static_cast<std::uintptr_t>(-reach);
      else high += static_cast<std::uintptr_t>(reach);
    }
    if (high <= first || last <= low) continue;
    if (!in_place || low != first || high != last || !st.dense(p)) return true;
  }
  return false;
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
    const bool done = st.template on_tiles<N>([&]<class Walk>(const Walk& walk) {
      using I = std::uint32_t;
      using body = map_body<program_of<E>, Walk, strided_plane<T, R, I>, typename K::template grid<R, I>...>;
      x.launch(body{walk, device_detail::strided<T, R, I>(st.plane[0], st.loops.rank), st.leaves(k, type_list<typename K::template grid<R, I>...>{})}, walk.items());
    });
    if (done) return;
    st.template on_grid<N>([&]<int M, class I>(const grid_walk<M, R, I>& walk, std::type_identity<I>) {
      using body = map_body<program_of<E>, grid_walk<M, R, I>, strided_plane<T, R, I>, typename K::template grid<R, I>...>;
      x.launch(body{walk, device_detail::strided<T, R, I>(st.plane[0], st.loops.rank),
                    st.leaves(k, type_list<typename K::template grid<R, I>...>{})},
               static_cast<index_t>(walk.items));
    });
  });
}

}  // namespace run
TTENSOR_END
