// take, gather, scatter_add: elements at positions that integers give. Two operators, each the transpose of the other:
//   gather   y[.., i, ..] = x[.., index[.., i, ..], ..]        spread   x[.., index[.., i, ..], ..] += y[.., i, ..], from zeros
// take is gather with an index repeated (stride 0) along the other axes; scatter_add is x + spread.
#pragma once
#include <string>
#include "../run/gather.hpp"
#include "factories.hpp"
#include "shape_ops.hpp"

TTENSOR_BEGIN

namespace indexing_detail {
template <int R> run::gather_plan plan(const char* op, int axis, int lead, const dims<R>& extent,
                                       const layout_map<R>& index, const dims<R>& flat, const layout_map<R>& deep) {
  static_assert(R <= run::gather_plan::max_axes, "ttensor: too many axes to index");
  run::gather_plan s;
  s.op = op;
  s.rank = R;
  s.axis = axis;
  s.user_axis = axis - lead;
  s.bound = deep.extent[axis];
  s.step = deep.stride[axis];
  for (int d = 0; d < R; ++d) {
    s.extent[d] = extent[d];
    s.index[d] = index.extent[d] == 1 ? 0 : index.stride[d];
    s.flat[d] = flat[d];
    s.deep[d] = d == axis || deep.extent[d] == 1 ? 0 : deep.stride[d];
  }
  return s;
}
/// Extents of the walk: the index's; leading (mapped) axes broadcast with the other operand's.
template <int R> dims<R> walked(int lead, dims<R> index, const dims<R>& other) {
  for (int d = 0; d < lead; ++d)
    if (index[d] == 1) index[d] = other[d];
  return index;
}
}  // namespace indexing_detail

template <int R> struct spread_op;

/// (x, index), of one rank; the first `lead` axes are mapped and broadcast, the others but `axis` are as long as the index's.
template <int R> struct gather_op {
  static constexpr const char* name = "gather";
  int axis, lead = 0;
  const char* caller = "gather";

  gather_op<R + 1> batched() const { return {axis + 1, lead + 1, caller}; }

  template <class T> tensor<T, R> primal(const leaf<T, R>& x, const leaf<std::int64_t, R>& index) const {
    const dims<R> e = indexing_detail::walked(lead, index.map.extent, x.map.extent);
    tensor<T, R> y(store<T>::make(shape::elements(e)), e);
    const auto s = indexing_detail::plan(caller, axis, lead, e, index.map, shape::row_major(e), x.map);
    ++counts.loops;
    run::gather(s, index.data.base + index.map.offset, x.data.base + x.map.offset, y.elements().writable());
    return y;
  }
  template <int I, class D, class Y, class X, class N> auto jvp(const D& dx, const Y&, const X&, const N& index) const {
    return apply_array(*this, dx, index);
  }
  template <int I, class Ct, class Y, class X, class N> auto vjp(const Ct& ct, const Y&, const X& x, const N& index) const {
    return apply_array(spread_op<R>{axis, x.map.extent, lead, caller}, ct, index);
  }
};
/// (src, index) into zeros of extents `to`; leading axes of extent 1 in `to` are summed. src may be longer than the index.
template <int R> struct spread_op {
  static constexpr const char* name = "scatter_add";
  int axis;
  dims<R> to;
  int lead = 0;
  const char* caller = "scatter_add";
  unsigned repeated = 0;  // leading axes that are as long as the operands' (mapped by a transform after the operator was made)

  spread_op<R + 1> batched() const {
    spread_op<R + 1> op{axis + 1, {}, lead + 1, caller, repeated << 1 | 1u};
    op.to[0] = 1;
    for (int d = 0; d < R; ++d) op.to[d + 1] = to[d];
    return op;
  }
  template <class T> tensor<T, R> primal(const leaf<T, R>& src, const leaf<std::int64_t, R>& index) const {
    if constexpr (ttensor::detail::is_short_float<T>)
      return tensor<T, R>(
          apply<cast_op<T>>(added(tensor<float, R>(apply<cast_op<float>>(src)).as_leaf(), index)));  // as sums are
    else return added(src, index);
  }
  template <class T> tensor<T, R> added(const leaf<T, R>& src, const leaf<std::int64_t, R>& index) const {
    const dims<R> e = indexing_detail::walked(lead, index.map.extent, src.map.extent);
    dims<R> out = to;
    for (int d = 0; d < lead; ++d)
      if (repeated >> d & 1) out[d] = e[d];
    tensor<T, R> y(store<T>::make(shape::elements(out)), out);
    y.elements().zero();
    dims<R> flat = src.map.stride;
    for (int d = 0; d < R; ++d)
      if (src.map.extent[d] == 1) flat[d] = 0;
    const auto s = indexing_detail::plan(caller, axis, lead, e, index.map, flat, layout_map<R>::row_major(out));
    ++counts.loops;
    run::gather_add(s, index.data.base + index.map.offset, y.elements().writable(), src.data.base + src.map.offset);
    return y;
  }
  template <int I, class D, class Y, class X, class N> auto jvp(const D& dx, const Y&, const X&, const N& index) const {
    return apply_array(*this, dx, index);
  }
  template <int I, class Ct, class Y, class X, class N> auto vjp(const Ct& ct, const Y&, const X& src, const N& index) const {
    const auto y = apply_array(gather_op<R>{axis, lead, caller}, ct, index);
    dims<R> e = src.map.extent;
    bool longer = false;
    for (int d = lead; d < R; ++d) longer = longer || e[d] != y.shape()[d];
    if (!longer) return array_detail::fitted(y, e);
    dims<R> within = y.shape();  // elements of src that no index names get zeros
    for (int d = 0; d < lead; ++d) within[d] = e[d];
    tensor<typename std::remove_cvref_t<decltype(y)>::scalar, R> padded(e);
    auto region = padded.map();
    region.extent = within;
    view_of<typename std::remove_cvref_t<decltype(y)>::scalar, R>(padded.elements().alias(), region) = array_detail::fitted(y, within);
    return broadcast_to(padded.as_leaf(), e);
  }
};

namespace indexing_detail {
template <class N> auto as_index(const N& index) {
  using E = elem_t<scalar_t<N>>;
  static_assert(is_integer_v<E>, "ttensor: an index must be a tensor of integers; for masks use where");
  const auto whole = [](const auto& i) { return array_detail::as_array(expr::operand<std::int64_t>(i)); };
  if constexpr (std::is_unsigned_v<E> && sizeof(E) == 8)  // one that no int64 reaches is out of range, not one from the end
    return whole(apply<minimum_op>(expr::plain(index), E(std::numeric_limits<std::int64_t>::max())));
  else return whole(expr::plain(index));
}
template <class X> auto as_source(const X& x) {
  if constexpr (requires { array_detail::as_array(x).map; }) return array_detail::as_array(x);
  else return tensor<scalar_t<X>, rank_v<X>>(x).as_leaf();  // a fixed tensor
}
template <int R, class I>
void check_index(const char* op, int axis, const dims<R>& x, const I& index, const dims<R>& limit, const char* what) {
  for (int d = 0; d < R; ++d)
    if (d != axis && index[d] > limit[d])
      raise<shape_error>(std::string("[") + op + "] the index " + shape::text(index) + " is longer than " + what + " " +
                         shape::text(x) + " on axis " + std::to_string(d) + ", " + std::to_string(index[d]) + " > " +
                         std::to_string(limit[d]) + "; take a part of the index [TT-S21]");
}
/// An index of one axis, repeated along the others of an array with these extents; one of the array's rank as it is.
template <int R, class I, int Q> leaf<I, R> along(const leaf<I, Q>& index, int axis, const dims<R>& extent) {
  if constexpr (Q == R) {
    return index;
  } else {
    leaf<I, R> wide{index.data, {index.map.offset, extent, {}}};
    wide.map.extent[axis] = index.map.extent[0];
    wide.map.stride[axis] = index.map.stride[0];
    return wide;
  }
}
}  // namespace indexing_detail

/// Elements of x at the positions along `axis` that the index gives, as numpy.take.
/// Shapes    x: (a..., n, b...)   index: (i...) or one integer   ->   (a..., i..., b...); a scalar when no axis is left and
///           the index is no array
/// Domain    index in [-n, n): negative ones count from the end
/// Derivs    jvp: take of x_dot    vjp: x_bar += y_bar at the positions (repeated ones add)    saves: index
/// Cost      one pass over the result
/// Throws    index_error [TT-I01]: [take] index 7 is out of range for axis 0 of extent 3; axis_error [TT-A01]
template <array_like X, class N> requires(array_like<N> || any_scalar<N>) auto take(const X& x, const N& index, index_t axis) {
  constexpr int R = rank_v<X>, Q = rank_v<N>;
  static_assert(R > 0, "ttensor: take from a rank-0 array");
  const int at = shape::normalize_axis(axis, R, "take");
  const auto xl = indexing_detail::as_source(x);
  auto il = indexing_detail::as_index(index);
  using I = typename decltype(il)::scalar;
  const auto flat = reshape(il, -1);  // one axis
  const leaf<I, R> wide = indexing_detail::along<R>(flat, at, xl.map.extent);
  auto y = apply_array(gather_op<R>{at, 0, "take"}, xl, wide);
  dims<R - 1 + Q> e{};
  for (int d = 0, k = 0; d < R; ++d) {
    if (d != at) e[k++] = xl.map.extent[d];
    else
      for (int q = 0; q < Q; ++q) e[k++] = il.map.extent[q];
  }
  using S = typename decltype(y)::scalar;
  if constexpr (R + Q == 1 && !array_like<N>) return static_cast<store<S>&&>(y.elements()).scalar();
  else return tensor<S, R - 1 + Q>(static_cast<store<S>&&>(y.elements()), e);
}
/// Without an axis: of the elements in row-major order.
template <array_like X, class N> requires(array_like<N> || any_scalar<N>) auto take(const X& x, const N& index) {
  return take(reshape(x, -1), index, 0);
}
namespace indexing_detail {
template <int R, class P> auto position(const dims<R>&, const P& p) { return p; }
/// Of an element in memory order, row-major: p of the axes before those of i.
template <int R, class P, class I, class... More> auto position(const dims<R>& e, const P& p, const I& i, const More&... more) {
  const index_t n = e[R - 1 - static_cast<int>(sizeof...(More))];
  return position(e, p * n + take(arange<std::int64_t>(n), i, 0), more...);
}
}  // namespace indexing_detail
/// x(i...) where the integers may differ between examples: one pass over these if every axis has one, else axis after axis.
template <array_like X, class I, class... More> auto take_first(const X& x, const I& i, const More&... more) {
  if constexpr (sizeof...(More) == 0) return take(x, i, 0);
  else if constexpr (sizeof...(More) + 1 < rank_v<X>) return take_first(take(x, i, 0), more...);
  else return take(reshape(x, -1), indexing_detail::position(x.shape(), take(arange<std::int64_t>(x.extent(0)), i, 0), more...), 0);
}
/// Elements of x at index positions along `axis`, as torch.gather.
/// Math      y_ijk = x_(index_ijk)jk   (axis 0 of rank 3)
/// Shapes    index: the rank of x, at most its extents but on the axis   ->   the extents of the index
/// Derivs    jvp: gather of x_dot    vjp: x_bar += y_bar at the positions    saves: index
/// Throws    index_error [TT-I01]; axis_error [TT-A01]; shape_error [TT-S21]
template <array_like X, array_like N> auto gather(const X& x, index_t axis, const N& index) {
  constexpr int R = rank_v<X>;
  static_assert(R > 0 && rank_v<N> == R, "ttensor: the index of gather has the rank of x; take accepts other ranks");
  const int at = shape::normalize_axis(axis, R, "gather");
  const auto xl = indexing_detail::as_source(x);
  const auto il = indexing_detail::as_index(index);
  indexing_detail::check_index("gather", at, xl.map.extent, il.map.extent, xl.map.extent, "the array");
  return apply_array(gather_op<R>{at, 0, "gather"}, xl, il);
}
/// x with the elements of src added at index positions along `axis`, as torch.scatter_add; x itself is not changed.
/// Math      y = x;  y_(index_ijk)jk += src_ijk   (axis 0 of rank 3); repeated positions add
/// Shapes    index: the rank of x, at most the extents of src, and of x but on the axis   ->   the extents of x
///           index of rank 1: the positions of whole parts of src, as take(x, index, axis) takes them
/// Derivs    jvp: scatter_add of x_dot and src_dot    vjp: x_bar += y_bar,  src_bar += gather(y_bar)    saves: index
/// Throws    index_error [TT-I01]; axis_error [TT-A01]; shape_error [TT-S21]
template <array_like X, array_like N, array_like S> auto scatter_add(const X& x, index_t axis, const N& index, const S& src) {
  constexpr int R = rank_v<X>;
  static_assert(R > 0 && (rank_v<N> == R || rank_v<N> == 1) && rank_v<S> == R,
                "ttensor: x and src of scatter_add have one rank, and the index has it too, or one axis");
  using T = expr::operand_elem_t<X, S>;
  const int at = shape::normalize_axis(axis, R, "scatter_add");
  const auto xl = expr::operand<T>(x);
  const auto sl = array_detail::as_array(expr::operand<T>(src));
  const auto il = indexing_detail::along<R>(indexing_detail::as_index(index), at, sl.map.extent);
  const auto shape = xl.shape();
  indexing_detail::check_index("scatter_add", at, shape, il.map.extent, shape, "the array");
  indexing_detail::check_index("scatter_add", -1, sl.map.extent, il.map.extent, sl.map.extent, "src");
  return eval(apply<add_op>(xl, apply_array(spread_op<R>{at, shape, 0, "scatter_add"}, sl, il)));
}

TTENSOR_END
