// Slices: all, range, newaxis, ellipsis and integers, applied to a layout map.
#pragma once
#include <limits>
#include "extents.hpp"

TTENSOR_BEGIN

/// `all` keeps an axis whole in a slice; called, all(x) is the reduction (floor 8 gives it its body).
struct all_t {
  template <class A, class... O> auto operator()(const A& a, const O&... o) const;
  template <class A, std::size_t N, class... O> auto operator()(const A& a, const index_t (&several)[N], const O&... o) const;
};
struct newaxis_t {};
struct ellipsis_t {};
inline constexpr all_t all{};
inline constexpr newaxis_t newaxis{};
inline constexpr ellipsis_t ellipsis{};

/// range(stop), range(start, stop), range(start, stop, step) as a Python slice: negative positions count from the end,
/// positions beyond the ends are clamped, a negative step walks backwards (range(end, end, -1) reverses).
struct range {
  static constexpr index_t open = std::numeric_limits<index_t>::min();
  index_t start = open, stop = open, step = 1;
  constexpr explicit range(index_t stop_) : stop(stop_) {}
  constexpr range(index_t start_, index_t stop_, index_t step_ = 1) : start(start_), stop(stop_), step(step_) {}
};
/// An open end of a range: range(2, end), range(end, end, -1).
inline constexpr index_t end = range::open;

/// Where the elements of an array lie in a store: axis d of element i adds i * stride[d] to `offset` (in elements).
template <int R> struct layout_map {
  index_t offset;
  dims<R> extent, stride;
  static constexpr layout_map row_major(const dims<R>& e) { return {0, e, shape::row_major(e)}; }
  /// With one more axis, the first: n times the array, `step` apart.
  layout_map<R + 1> led_by(index_t n, index_t step) const {
    layout_map<R + 1> m{offset, {}, {}};
    m.extent[0] = n;
    m.stride[0] = n == 1 ? 0 : step;
    for (int d = 0; d < R; ++d) m.extent[d + 1] = extent[d], m.stride[d + 1] = stride[d];
    return m;
  }
};

namespace shape {
template <class A> struct index_type { using type = A; };
template <class A> requires requires { typename A::ttensor_proxy; } struct index_type<A> { using type = typename A::scalar; };  // x(i(0)) with elements of integer tensors
template <class A, class I = typename index_type<std::remove_cvref_t<A>>::type> inline constexpr bool is_index_v =
    std::is_integral_v<I> && !std::is_same_v<I, bool>;
template <class A> inline constexpr bool is_slice_v = std::is_same_v<A, all_t> || std::is_same_v<A, newaxis_t> ||
                                                      std::is_same_v<A, ellipsis_t> || std::is_same_v<A, range> ||
                                                      is_index_v<A>;
template <class... A> constexpr int consumed() {
  return ((std::is_same_v<A, newaxis_t> || std::is_same_v<A, ellipsis_t> ? 0 : 1) + ... + 0);
}
template <int R, class... A> constexpr int sliced_rank() {
  return R + ((std::is_same_v<A, newaxis_t> ? 1 : is_index_v<A> ? -1 : 0) + ... + 0);
}

[[noreturn]] void index_failure(const char* op, index_t i, index_t n, int axis);
#if defined(TTENSOR_BODY)
TTENSOR_BODY void index_failure(const char* op, index_t i, index_t n, int axis) {
  raise<index_error>(message("[") + op + "] index " + to_message(i) + " is out of range for axis " + to_message(axis) +
                                       " of extent " + to_message(n) + "; indices count from 0, or from the end when negative [TT-I01]");
}
#endif
/// An unsigned index that no index_t reaches is out of range, not one from the end.
template <class I> TTENSOR_INLINE constexpr index_t position(I i) {
  constexpr index_t last = std::numeric_limits<index_t>::max();
  if constexpr (std::is_unsigned_v<I> && sizeof(I) >= sizeof(index_t)) return i > static_cast<I>(last) ? last : static_cast<index_t>(i);
  else return static_cast<index_t>(i);
}
constexpr index_t normalize_index(index_t i, index_t n, int axis, const char* op = "index") {
  if (TTENSOR_UNLIKELY(i < -n || i >= n)) index_failure(op, i, n, axis);
  return i < 0 ? i + n : i;
}
/// Axis To of a slice is what the range takes of axis From.
template <int From, int To, int R, int Q> TTENSOR_INLINE void slice_range(const layout_map<R>& m, layout_map<Q>& r, const range& s) {
  if (s.step == 0) raise<index_error>("[slice] step 0; give a positive or negative step [TT-I02]");
  const index_t n = m.extent[From];
  auto place = [&](index_t p, index_t fallback, index_t low, index_t high) {
    if (p == range::open) return fallback;
    if (p < 0) p += n;
    return p < low ? low : p > high ? high : p;
  };
  const bool up = s.step > 0;
  const index_t a = place(s.start, up ? 0 : n - 1, up ? 0 : -1, up ? n : n - 1);
  const index_t b = place(s.stop, up ? n : -1, up ? 0 : -1, up ? n : n - 1);
  const index_t count = up ? (b > a ? (b - a - 1) / s.step + 1 : 0) : (a > b ? 1 - (a - b - 1) / s.step : 0);  // of any step without overflow
  if (count > 0) r.offset += a * m.stride[From];
  r.extent[To] = count;
  r.stride[To] = count > 1 ? s.step * m.stride[From] : m.stride[From];
}
// Places are constants: a map that is indexed by anything else is kept in memory, and copied in pieces that wait for the stores before them.
template <int From, int To, int Count, int R, int Q> TTENSOR_INLINE void slice_whole(const layout_map<R>& m, layout_map<Q>& r) {
  if constexpr (Count > 0) {
    r.extent[To] = m.extent[From];
    r.stride[To] = m.stride[From];
    slice_whole<From + 1, To + 1, Count - 1>(m, r);
  }
}
template <int From, int To, int R, int Q> TTENSOR_INLINE void slice_axes(const layout_map<R>& m, layout_map<Q>& r) {
  slice_whole<From, To, R - From>(m, r);
}
template <int From, int To, int R, int Q, class A, class... B>
TTENSOR_INLINE void slice_axes(const layout_map<R>& m, layout_map<Q>& r, const A& a, const B&... b) {
  if constexpr (std::is_same_v<A, all_t>) {
    slice_whole<From, To, 1>(m, r);
    slice_axes<From + 1, To + 1>(m, r, b...);
  } else if constexpr (std::is_same_v<A, newaxis_t>) {
    r.extent[To] = 1;
    r.stride[To] = 0;
    slice_axes<From, To + 1>(m, r, b...);
  } else if constexpr (std::is_same_v<A, ellipsis_t>) {
    constexpr int count = R - From - consumed<B...>();
    slice_whole<From, To, count>(m, r);
    slice_axes<From + count, To + count>(m, r, b...);
  } else if constexpr (std::is_same_v<A, range>) {
    slice_range<From, To>(m, r, a);
    slice_axes<From + 1, To + 1>(m, r, b...);
  } else {
    r.offset += normalize_index(position(a), m.extent[From], From, "slice") * m.stride[From];
    slice_axes<From + 1, To>(m, r, b...);
  }
}
/// The map of the sliced array. Axes that no argument names are kept whole.
template <int R, class... A> TTENSOR_INLINE auto slice(const layout_map<R>& m, const A&... a) {
  static_assert(consumed<A...>() <= R, "ttensor: more indices than the array has axes");
  static_assert((std::is_same_v<A, ellipsis_t> + ... + 0) <= 1, "ttensor: at most one ellipsis in an index");
  layout_map<sliced_rank<R, A...>()> r{m.offset, {}, {}};
  slice_axes<0, 0>(m, r, a...);
  return r;
}
}  // namespace shape

TTENSOR_END
