// Extents and strides: run-time dims<R>, and the static or mixed extents that can stand in a tensor's type.
#pragma once
#include <limits>

#include "../base/error.hpp"
#include "../base/meta.hpp"

TTENSOR_BEGIN

/// R run-time extents (or strides, in elements).
template <int R> using dims = array<index_t, R>;
template <int R> constexpr dims<R> ones() {
  dims<R> d{};
  for (index_t& x : d) x = 1;
  return d;
}

template <index_t... E> struct extents_t {
  static_assert(((E >= 0 || E == dyn) && ...), "ttensor: an extent is 0 or more, or dyn");
  static constexpr int rank = static_cast<int>(sizeof...(E));
  static constexpr index_t at(int d) {
    index_t v[sizeof...(E) + 1] = {E..., 0};
    return v[d];
  }
  static constexpr bool all_static = ((E != dyn) && ...);
  static constexpr index_t static_size = all_static ? (index_t(1) * ... * E) : dyn;
};
/// extents<dyn, 3>: a value, so that it can be a template argument of tensor.
template <index_t... E> inline constexpr extents_t<E...> extents{};

namespace shape {
/// The type of a shape parameter; nvcc hands decltype(Shape) to its host compiler as a reference.
template <auto Shape> using type_of = std::remove_cvref_t<decltype(Shape)>;
template <auto Shape> constexpr int rank_of() {
  if constexpr (std::is_integral_v<decltype(Shape)>) return static_cast<int>(Shape);
  else return type_of<Shape>::rank;
}
template <auto Shape> constexpr index_t extent_of(int d) {  // dyn unless the type fixes it
  if constexpr (std::is_integral_v<decltype(Shape)>) return static_cast<void>(d), dyn;
  else return type_of<Shape>::at(d);
}
template <auto Shape> constexpr bool all_static() {
  if constexpr (std::is_integral_v<decltype(Shape)>) return false;
  else return type_of<Shape>::all_static;
}
template <auto Shape> constexpr bool all_dynamic() {
  for (int d = 0; d < rank_of<Shape>(); ++d)
    if (extent_of<Shape>(d) != dyn) return false;
  return true;
}
/// The extent of axis d of an array type, from the last one on: dyn unless its type shows it.
template <class A> constexpr index_t shown_extent(int d) {
  if constexpr (requires { A::shape_parameter; }) return extent_of<A::shape_parameter>(rank_of<A::shape_parameter>() - 1 - d);
  else return static_cast<void>(d), dyn;
}
/// Whether the types allow two arrays to have one shape.
template <auto A, auto B> constexpr bool may_be_equal() {
  bool yes = rank_of<A>() == rank_of<B>();
  for (int d = 0; d < rank_of<A>() && yes; ++d)
    yes = extent_of<A>(d) == extent_of<B>(d) || extent_of<A>(d) == dyn || extent_of<B>(d) == dyn;
  return yes;
}
template <auto Shape> constexpr dims<rank_of<Shape>()> static_dims() {  // dynamic extents as 0
  dims<rank_of<Shape>()> e{};
  for (int d = 0; d < rank_of<Shape>(); ++d) e[d] = extent_of<Shape>(d) == dyn ? 0 : extent_of<Shape>(d);
  return e;
}

/// The product of extents; of an empty array's it may wrap on the way to 0.
TTENSOR_HD constexpr index_t product(const index_t* extent, int rank) {
  std::size_t n = 1;
  for (int d = 0; d < rank; ++d) n *= static_cast<std::size_t>(extent[d]);
  return static_cast<index_t>(n);
}
template <int R> TTENSOR_HD constexpr index_t size(const dims<R>& e) { return product(e.v, R); }
/// Whether that many elements can be counted: more than memory has bytes cannot.
TTENSOR_INLINE bool countable(const index_t* extent, int rank) {
  index_t n = 1;
  bool none = false, too_many = false;
  for (int d = 0; d < rank; ++d) {
    none = none || extent[d] == 0;
    too_many = __builtin_mul_overflow(n, extent[d], &n) || too_many ||
               n > std::numeric_limits<index_t>::max() /
                       (sizeof(index_t) == 8 ? 128 : 16);  // 16 bytes have the largest elements
  }
  return none || !too_many;
}
[[noreturn]] void too_many_elements(const index_t* extent, int rank);
/// How many elements an array of these extents has; they come from the caller, and may be negative or too many to count.
index_t elements(const index_t* extent, int rank);
#if defined(TTENSOR_BODY)
TTENSOR_BODY void too_many_elements(const index_t* extent, int rank) {
  raise<shape_error>("[tensor] shape " + shape_text(extent, rank) +
                     " has more elements than memory has bytes; make its extents smaller [TT-S25]");
}
TTENSOR_BODY index_t elements(const index_t* extent, int rank) {
  for (int d = 0; d < rank; ++d)
    if (extent[d] < 0)
      raise<shape_error>("[tensor] negative extent " + to_message(extent[d]) + " on axis " + to_message(d) +
                         "; extents are 0 or more [TT-S24]");
  if (!countable(extent, rank)) too_many_elements(extent, rank);
  return product(extent, rank);
}
#endif
template <int R> index_t elements(const dims<R>& e) { return elements(e.v, R); }
template <int R> TTENSOR_HD constexpr dims<R> row_major(const dims<R>& e) {
  dims<R> s{};
  index_t n = 1;
  for (int d = R - 1; d >= 0; --d) {
    s[d] = n;
    n *= e[d];
  }
  return s;
}
template <int R> TTENSOR_HD constexpr bool is_row_major(const dims<R>& e, const dims<R>& s) {
  index_t n = 1;
  for (int d = R - 1; d >= 0; --d) {
    if (e[d] != 1 && s[d] != n) return false;
    n *= e[d];
  }
  return true;
}
template <int R> message text(const dims<R>& e) { return shape_text(e.v, R); }

/// NumPy broadcasting of `b` into the running shape `a` (right aligned). False when an extent differs and neither is 1.
template <int R, int Q> constexpr bool broadcast_into(dims<R>& a, const dims<Q>& b) {
  static_assert(Q <= R);
  bool ok = true;
  for (int d = 0; d < Q; ++d) {
    index_t& x = a[R - Q + d];
    if (x == b[d]) continue;
    if (x == 1) x = b[d];
    else if (b[d] != 1) ok = false;
  }
  return ok;
}

/// The axis in [0, rank) that a possibly negative axis names; axis_error otherwise.
int normalize_axis(index_t axis, int rank, const char* op);
#if defined(TTENSOR_BODY)
TTENSOR_BODY int normalize_axis(index_t axis, int rank, const char* op) {
  if (TTENSOR_UNLIKELY(axis < -rank || axis >= rank))
    raise<axis_error>(message("[") + op + "] axis " + to_message(axis) + " is outside [-" + to_message(rank) + ", " +
                             to_message(rank) + "); give an axis of the array [TT-A01]");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}
#endif
/// Of extents in braces.
template <std::size_t R> constexpr dims<static_cast<int>(R)> listed(const index_t (&n)[R]) {
  dims<static_cast<int>(R)> e{};
  for (int d = 0; d < static_cast<int>(R); ++d) e[d] = n[d];
  return e;
}
}  // namespace shape

/// axes{0, 2}: the axes a reduction works on; negative ones count from the end.
template <int N> struct axes {
  index_t v[N > 0 ? N : 1];
};
template <std::integral... I> axes(I...) -> axes<static_cast<int>(sizeof...(I))>;

/// Which of R axes are named.
template <int R> struct axis_set {
  bool reduced[R > 0 ? R : 1]{};
};
namespace shape {
template <int R, int N> axis_set<R> select_axes(const axes<N>& a, const char* op) {
  axis_set<R> s;
  for (int i = 0; i < N; ++i) {
    bool& r = s.reduced[normalize_axis(a.v[i], R, op)];
    if (r) raise<axis_error>(message("[") + op + "] axis " + to_message(a.v[i]) + " is named twice; name every axis once [TT-A02]");
    r = true;
  }
  return s;
}
template <int R> axis_set<R> every_axis() {
  axis_set<R> s;
  for (bool& r : s.reduced) r = true;
  return s;
}
}  // namespace shape

/// keepdims: reductions leave an extent of 1 where they reduced.
struct keepdims_t {};
inline constexpr keepdims_t keepdims{};

TTENSOR_END
