// Shape operations are views: they change how elements are walked, not where they lie, so they cost nothing in any kind of
// scalar (on a tape too: the adjoint is walked the same way). Of a live tensor they give an alias, of an expression a value.
#pragma once
#include "array_op.hpp"

TTENSOR_BEGIN

namespace view_detail {
template <class D> inline constexpr bool is_read_only = false;
template <class S, int R> inline constexpr bool is_read_only<view_of<const S, R>> = true;
/// Applies `f`, a function of layout maps, to an array: an alias for lvalue tensors and views, else a value.
template <class A, class F> auto remap(A&& a, F&& f) {
  using D = std::remove_cvref_t<A>;
  if constexpr (array_object<D>) {
    auto m = f(a.map());
    constexpr int Q = decltype(m.extent)::size();
    using S = typename D::scalar;
    if constexpr (std::is_const_v<std::remove_reference_t<A>> || is_read_only<D>) return view_of<const S, Q>(a.elements().alias(), m);
    else if constexpr (std::is_lvalue_reference_v<A> && requires { a.place(); }) return view_of<S, Q>(a.place(), m);
    else return view_of<S, Q>(a.elements().alias(), m);
  } else {
    auto l = array_detail::as_array(a);
    auto m = f(l.map);
    return leaf<typename decltype(l)::scalar, decltype(m.extent)::size()>{l.data, m};
  }
}
template <int R> layout_map<R> permuted(const layout_map<R>& m, const index_t* order, const char* op) {
  layout_map<R> r{m.offset, {}, {}};
  bool seen[R > 0 ? R : 1] = {};
  for (int d = 0; d < R; ++d) {
    const int s = shape::normalize_axis(order[d], R, op);
    if (seen[s]) raise<axis_error>(message("[") + op + "] axis " + to_message(order[d]) + " is named twice; name every axis once [TT-A02]");
    seen[s] = true;
    r.extent[d] = m.extent[s];
    r.stride[d] = m.stride[s];
  }
  return r;
}
}  // namespace view_detail

/// Axes in reverse order: (m, n) -> (n, m). Of a small fixed matrix that is const or a temporary: a fixed matrix.
template <array_like A> auto transpose(A&& a) {
  if constexpr (requires { a.transposed(); } &&
                (!std::is_lvalue_reference_v<A> || std::is_const_v<std::remove_reference_t<A>>))
    return a.transposed();
  else return view_detail::remap(static_cast<A&&>(a), [](const auto& m) {
    auto r = m;
    constexpr int R = decltype(r.extent)::size();
    for (int d = 0; d < R; ++d) r.extent[d] = m.extent[R - 1 - d], r.stride[d] = m.stride[R - 1 - d];
    return r;
  });
}
/// permute(x, 2, 0, 1), permute(x, {2, 0, 1}), permute(x, axes{2, 0, 1}): axis d of the result is the d-th named axis of x.
template <array_like A, std::integral... I> auto permute(A&& a, I... order) {
  constexpr int R = rank_v<A>;
  static_assert(sizeof...(I) == R, "ttensor: permute names every axis once");
  const index_t v[] = {static_cast<index_t>(order)..., 0};  // rank 0 has no axis
  return view_detail::remap(static_cast<A&&>(a), [&](const layout_map<R>& m) { return view_detail::permuted(m, v, "permute"); });
}
template <array_like A, std::size_t Q> auto permute(A&& a, const index_t (&order)[Q]) {
  return [&]<std::size_t... D>(std::index_sequence<D...>) {
    return permute(static_cast<A&&>(a), order[D]...);
  }(std::make_index_sequence<Q>{});
}
template <array_like A, int Q> auto permute(A&& a, const axes<Q>& order) { return permute(static_cast<A&&>(a), order.v); }
/// transpose(x, 2, 0, 1): permute, as NumPy calls it.
template <array_like A, std::integral... I> requires(sizeof...(I) > 0) auto transpose(A&& a, I... order) {
  return permute(static_cast<A&&>(a), order...);
}
template <array_like A, std::size_t Q> auto transpose(A&& a, const index_t (&order)[Q]) { return permute(static_cast<A&&>(a), order); }
template <array_like A, int Q> auto transpose(A&& a, const axes<Q>& order) { return permute(static_cast<A&&>(a), order.v); }
/// The axis `from` comes to stand at `to`, the others keep their order.
template <array_like A> auto moveaxis(A&& a, index_t from, index_t to) {
  constexpr int R = rank_v<A>;
  const int f = shape::normalize_axis(from, R, "moveaxis"), t = shape::normalize_axis(to, R, "moveaxis");
  index_t order[R > 0 ? R : 1];
  for (int d = 0, s = 0; d < R; ++d) {
    if (d == t) order[d] = f;
    else {
      if (s == f) ++s;
      order[d] = s++;
    }
  }
  return view_detail::remap(static_cast<A&&>(a), [&](const layout_map<R>& m) { return view_detail::permuted(m, order, "moveaxis"); });
}
/// Axes x and y exchanged.
template <array_like A> auto swapaxes(A&& a, index_t x, index_t y) {
  constexpr int R = rank_v<A>;
  const int p = shape::normalize_axis(x, R, "swapaxes"), q = shape::normalize_axis(y, R, "swapaxes");
  return view_detail::remap(static_cast<A&&>(a), [&](layout_map<R> m) {
    std::swap(m.extent[p], m.extent[q]);
    std::swap(m.stride[p], m.stride[q]);
    return m;
  });
}
/// Repeats axes of extent 1 and missing leading axes, as NumPy; shape_error when an extent does not fit.
template <int Q, array_like A> auto broadcast_to(A&& a, const dims<Q>& to) {
  constexpr int R = rank_v<A>;
  static_assert(Q >= R, "ttensor: broadcast_to cannot remove axes");
  shape::elements(to);  // may be asked for more than there can be
  return view_detail::remap(static_cast<A&&>(a), [&](const layout_map<R>& m) {
    layout_map<Q> r{m.offset, to, {}};
    for (int d = 0; d < R; ++d) {
      if (m.extent[d] != 1 && m.extent[d] != to[Q - R + d])
        raise<shape_error>("[broadcast_to] shape " + shape::text(m.extent) + " does not broadcast to " +
                           shape::text(to) + "; extents must be equal or 1 [TT-S11]");
      r.stride[Q - R + d] = m.extent[d] == 1 ? 0 : m.stride[d];
    }
    return r;
  });
}
template <array_like A, std::size_t Q> auto broadcast_to(A&& a, const index_t (&to)[Q]) {
  return broadcast_to<static_cast<int>(Q)>(static_cast<A&&>(a), shape::listed(to));
}
template <array_like A, std::integral... I> auto broadcast_to(A&& a, I... n) {
  return broadcast_to<static_cast<int>(sizeof...(I))>(
      static_cast<A&&>(a), dims<static_cast<int>(sizeof...(I))>{{static_cast<index_t>(n)...}});
}
/// Removes an axis of extent 1; an axis that is not 1 throws.
template <array_like A> auto squeeze(A&& a, index_t axis) {
  constexpr int R = rank_v<A>;
  static_assert(R > 0, "ttensor: squeeze of a rank-0 array");
  const int x = shape::normalize_axis(axis, R, "squeeze");
  return view_detail::remap(static_cast<A&&>(a), [&](const layout_map<R>& m) {
    if (m.extent[x] != 1)
      raise<shape_error>("[squeeze] axis " + to_message(axis) + " has extent " + to_message(m.extent[x]) +
                         "; only axes of extent 1 are removed [TT-S12]");
    layout_map<R - 1> r{m.offset, {}, {}};
    for (int d = 0, k = 0; d < R; ++d)
      if (d != x) r.extent[k] = m.extent[d], r.stride[k++] = m.stride[d];
    return r;
  });
}
/// A new axis of extent 1 before position `axis` of the result, in [-rank-1, rank].
template <array_like A> auto unsqueeze(A&& a, index_t axis) {
  constexpr int R = rank_v<A>;
  const int x = shape::normalize_axis(axis, R + 1, "unsqueeze");
  return view_detail::remap(static_cast<A&&>(a), [&](const layout_map<R>& m) {
    layout_map<R + 1> r{m.offset, {}, {}};
    for (int d = 0, k = 0; d <= R; ++d) {
      if (d == x) r.extent[d] = 1, r.stride[d] = 0;
      else r.extent[d] = m.extent[k], r.stride[d] = m.stride[k++];
    }
    return r;
  });
}
namespace view_detail {
template <array_like A, int R> auto backwards(A&& a, const axis_set<R>& along) {
  return remap(static_cast<A&&>(a), [&](layout_map<R> m) {
    for (int d = 0; d < R; ++d) {
      if (!along.reduced[d]) continue;
      if (m.extent[d] > 0) m.offset += (m.extent[d] - 1) * m.stride[d];
      m.stride[d] = -m.stride[d];
    }
    return m;
  });
}
}  // namespace view_detail
/// The axes walked backwards: one, several, or all of them.
template <array_like A, int N> auto flip(A&& a, const axes<N>& along) {
  return view_detail::backwards(static_cast<A&&>(a), shape::select_axes<rank_v<A>>(along, "flip"));
}
template <array_like A> auto flip(A&& a, index_t axis) { return flip(static_cast<A&&>(a), axes<1>{{axis}}); }
template <array_like A> auto flip(A&& a) { return view_detail::backwards(static_cast<A&&>(a), shape::every_axis<rank_v<A>>()); }
/// The same elements in row-major order with other extents; one extent may be -1. A view where the elements lie in row-major
/// order, a copy otherwise.
template <int Q, array_like A> auto reshape(A&& a, dims<Q> to) {
  using D = std::remove_cvref_t<A>;
  const dims<Q> asked = to;
  index_t known = 1, open_axis = -1;
  const index_t n = [&] {
    if constexpr (array_object<D>) return shape::size(a.map().extent);
    else return shape::size(a.shape());
  }();
  for (int d = 0; d < Q; ++d) {
    if (to[d] == -1 && open_axis < 0) open_axis = d;
    else known = static_cast<index_t>(static_cast<std::uint64_t>(known) * static_cast<std::uint64_t>(to[d]));  // may wrap: shape::elements finds that
  }
  if (open_axis >= 0 && known != 0) to[open_axis] = n / known;
  bool fits = true;
  for (int d = 0; d < Q; ++d) fits = fits && to[d] >= 0;
  fits = fits && shape::elements(to) == n;
  if (!fits)
    raise<shape_error>("[reshape] the " + to_message(n) + " elements of " + shape::text(a.shape()) + " do not fit the shape " + shape::text(asked) +
                       "; the extents must multiply to them, one may be -1 [TT-S13]");
  auto on = [&](const auto& m) {
    auto r = layout_map<Q>::row_major(to);
    r.offset = m.offset;
    return r;
  };
  if constexpr (is_tensor_object_v<D>) {
    return view_detail::remap(static_cast<A&&>(a), on);
  } else {
    auto l = array_detail::as_array(a);
    if (!shape::is_row_major(l.map.extent, l.map.stride)) {
      using S = typename decltype(l)::scalar;
      const auto e = l.map.extent;
      l = {statement_rule<S>::evaluate(l, e).snap(), layout_map<rank_v<D>>::row_major(e)};
    }
    return view_detail::remap(l, on);
  }
}
template <array_like A, std::integral... I> auto reshape(A&& a, I... n) {
  return reshape<static_cast<int>(sizeof...(I))>(static_cast<A&&>(a), dims<static_cast<int>(sizeof...(I))>{{static_cast<index_t>(n)...}});
}
template <array_like A, std::size_t Q> auto reshape(A&& a, const index_t (&to)[Q]) {
  return reshape<static_cast<int>(Q)>(static_cast<A&&>(a), shape::listed(to));
}
/// One axis, in row-major order.
template <array_like A> auto flatten(A&& a) { return reshape(static_cast<A&&>(a), -1); }

namespace array_detail {
/// t summed over the axes on which e has extent 1, repeated on those it lacks.
template <class S, int R> auto fitted(const tensor<S, R>& t, const dims<R>& e) {
  axis_set<R> set;
  bool any = false;
  for (int d = 0; d < R; ++d) any = (set.reduced[d] = e[d] == 1 && t.shape()[d] != 1) || any;
  if (!any) return broadcast_to(t.as_leaf(), e);
  const auto kept = reduce_detail::reduced_shape_kept(t.shape(), set);
  return broadcast_to(leaf<S, R>{sum_rule<S>::template evaluate<true>(t.as_leaf(), t.shape(), set).snap(),
                                 layout_map<R>::row_major(kept)},
                      e);
}
}  // namespace array_detail

TTENSOR_END
