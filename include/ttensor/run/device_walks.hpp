// What a GPU thread visits, and how it reads there: walks over positions, planes of memory, leaves of a program.
//
// Rules for every type below, because it is a kernel argument: trivially copyable; no [[no_unique_address]] (its layout differs
// between the two compilers), no std::tuple or std::array (empty kernels), no lambda, local or private type; short names.
#pragma once
#include "device_sweep.hpp"

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
  static constexpr bool tiles = false;
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
  static constexpr bool tiles = false;
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
/// Steps: it is known that the plane does.
template <int M, bool Steps = false, class P, class At> TTENSOR_HD TTENSOR_INLINE auto load_plane(const P& p, const At& at) {
  using V = lanes_t<std::remove_const_t<typename P::elem>, M>;
  if constexpr (M > 1 && !Steps)
    if (!p.steps()) return V(simd::lane_cast<typename V::value_type>(*p.where(at)));
  return load_word<V>(static_cast<const typename P::elem*>(p.where(at)));
}
/// Read-only planes as leaves of the program; a number is one value for the whole statement.
template <class P> struct plane_leaf {
  using elem = std::remove_const_t<typename P::elem>;
  P plane;
  template <int M, bool Steps = false, class At> TTENSOR_HD TTENSOR_INLINE lanes_t<elem, M> load(const At& at) const { return load_plane<M, Steps>(plane, at); }
};
template <class E> struct number_leaf {
  using elem = E;
  compute_t<E> value;
  template <int M, bool = false, class At> TTENSOR_HD TTENSOR_INLINE lanes_t<elem, M> load(const At&) const { return lanes_t<E, M>(value); }
};
/// In place of a pointer to a cotangent: that of a sum, known while compiling. What is multiplied by it, or asks whether it is 0, costs nothing.
template <class E> struct ones {
  using elem = E;
  template <int M, bool = false, class At> TTENSOR_HD TTENSOR_INLINE lanes_t<elem, M> load(const At&) const { return lanes_t<elem, M>(compute_t<elem>(1)); }
};
template <class Ct> struct cotangent;
template <class E> struct cotangent<E*> {
  static constexpr bool read = true;
  using elem = std::remove_const_t<E>;
  template <class P> using leaf = plane_leaf<P>;
};
template <> struct cotangent<void> {  // of a value: none
  static constexpr bool read = false;
  using elem = char;
};
template <class E> struct cotangent<ones<E>> {
  static constexpr bool read = false;
  using elem = E;
  template <class P> using leaf = ones<E>;
};

template <class Prog, int M, class... L> using device_sweep = device_detail::sweep_of<Prog, lanes_t<typename L::elem, M>...>;
/// Steps: all planes do, or all but that of leaf Except.
template <int M, bool Steps = false, int Except = -1, class... L, class At> TTENSOR_HD TTENSOR_INLINE auto load_leaves(const bundle<L...>& leaves, const At& p) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return row_of<lanes_t<typename L::elem, M>...>{{{at<I>(leaves).template load<M, Steps && I != Except>(p)}...}};
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{});
}

}  // namespace run
TTENSOR_END
