// max and min along an axis with the place where they stand: max(x, axis, with_index).
#pragma once
#include "indexing.hpp"
#include "reductions.hpp"

TTENSOR_BEGIN

/// Asks max and min for the index beside the value.
struct with_index_t {};
inline constexpr with_index_t with_index{};

template <class V, class I> struct values_indices {
  V values;
  I indices;
};

namespace reduce_detail {
template <class... O> inline constexpr bool asks_index =
    ((std::is_same_v<O, with_index_t> || is_keep<O>) && ...) && (std::is_same_v<O, with_index_t> || ...);
template <bool Keep, class T> auto without_axis(T&& t, int at) {
  using S = scalar_t<T>;
  constexpr int R = rank_v<T>;
  if constexpr (Keep) return std::remove_cvref_t<T>(static_cast<T&&>(t));
  else if constexpr (R == 1) return static_cast<store<S>&&>(t.elements()).scalar();
  else {
    axis_set<R> set;
    set.reduced[at] = true;
    return tensor<S, R - 1>(static_cast<store<S>&&>(t.elements()), reduced_shape<R - 1>(t.shape(), set));
  }
}
/// The elements that `arg` finds. What is read at an index has its derivative there and nowhere else.
template <bool Keep, class A, class Arg> auto found(const A& a, index_t axis, const char* name, const Arg& arg) {
  const auto x = array_detail::as_array(as_expression(a));
  const int at = shape::normalize_axis(axis, rank_v<A>, name);
  axis_set<rank_v<A>> set;
  set.reduced[at] = true;
  refuse_empty(name, x.map.extent, set);
  auto i = arg(x, at);
  auto v = without_axis<Keep>(gather(x, at, i), at);
  auto k = without_axis<Keep>(std::move(i), at);
  return values_indices<decltype(v), decltype(k)>{std::move(v), std::move(k)};
}
}  // namespace reduce_detail

/// The largest elements along an axis and where they stand: the first of equal ones, the first NaN if there is one.
/// Shapes    x: (a..., n, b...)   ->   {values, indices} of (a..., b...), with keepdims of (a..., 1, b...); scalars for a vector
/// Derivs    jvp: values_dot = x_dot at the indices    vjp: x_bar += values_bar at the indices. Of equal elements only the one found has a
///           derivative (max(x, axis) alone shares it evenly)    saves: indices
/// Throws    domain_error [TT-D02] for an empty axis, as argmax; axis_error [TT-A01]
/// Source    torch.max(input, dim)
template <array_like A, class... O> requires reduce_detail::asks_index<O...> auto max(const A& x, index_t axis, O...) {
  return reduce_detail::found<(reduce_detail::is_keep<O> || ...)>(
      x, axis, "max", [](const auto& l, int at) { return argmax(l, at, keepdims); });
}
/// The smallest elements along an axis and where they stand, as max with with_index.
template <array_like A, class... O> requires reduce_detail::asks_index<O...> auto min(const A& x, index_t axis, O...) {
  return reduce_detail::found<(reduce_detail::is_keep<O> || ...)>(
      x, axis, "min", [](const auto& l, int at) { return argmin(l, at, keepdims); });
}

TTENSOR_END
