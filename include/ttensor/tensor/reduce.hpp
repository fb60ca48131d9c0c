// Evaluating reductions: fused with the expression they reduce, in every scalar kind.
#pragma once
#include "../ops/reduction.hpp"
#include "../run/reduce.hpp"
#include "tensor.hpp"

TTENSOR_BEGIN

/// Scalar of a reduced array: integers widen to 64 bits.
template <class S> using reduced_scalar_t = reelem_t<S, reduced_t<elem_t<S>>>;

namespace reduce_detail {
template <class Red, bool Columns, class S, class E> struct types {
  template <class List> struct with;
  template <class... L> struct with<type_list<L...>> {
    using kernel = run::reduce_kernel<program_of<E>, Red, Columns, core_t<reduced_scalar_t<S>>, eval_detail::leaf_core<L>...>;
  };
  using kernel = typename with<leaves_of_t<E>>::kernel;
};

/// Strides of the output over the statement's axes: 0 on reduced axes, row-major over the others.
template <int Full, int R> dims<Full> output_strides(const dims<Full>& extent, const axis_set<R>& set) {
  dims<Full> s{};
  index_t n = 1;
  for (int d = Full - 1; d >= 0; --d) {
    const bool reduced = d >= Full - R && set.reduced[d - (Full - R)];
    s[d] = reduced || extent[d] == 1 ? 0 : n;
    if (!reduced) n *= extent[d];
  }
  return s;
}
template <class V> void fill_identity(V* p, index_t n, const V& v) {
  for (index_t i = 0; i < n; ++i) p[i] = v;
}
}  // namespace reduce_detail

/// Reduces `e` (scalar S) over the axes in `set` into a fresh store of `n` elements.
template <class Red, bool Columns, class S, class E>
store<reduced_scalar_t<S>> evaluate_reduction(const E& e, const dims<E::rank>& shape, const axis_set<E::rank>& set) {
  using Q = reduced_scalar_t<S>;
  using kernel = typename reduce_detail::types<Red, Columns, S, E>::kernel;
  const auto batch = batch_of<S>(e);
  if constexpr (!Columns && batch_levels_v<S> > 0) {  // nothing to reduce but examples to keep: the row kernel would sum those
    index_t reduced = 1;
    for (int d = 0; d < E::rank; ++d) reduced *= set.reduced[d] ? shape[d] : 1;
    if (reduced == 1) return ttensor::evaluate<Q>(expr::operand<elem_t<Q>>(e), shape);
  }
  statement<Q, E> st(e, batch, shape);
  index_t n = 1;
  for (int d = 0; d < E::rank; ++d) n *= set.reduced[d] ? 1 : shape[d];
  store<Q> out = store<Q>::make(n, batch);
  const auto stride = reduce_detail::output_strides(st.extent, set);
  int k = 0;
  out.planes([&]<class T, int B>(std::type_identity<T>, T* p, const dims<B>&, const dims<B>&, mem::block*) {
    index_t total = n;
    for (int d = 0; d < B; ++d) total *= batch[d];
    const T start = k == 0 ? T(Red::template identity<T>()) : T(0);
    for (index_t i = 0; i < total; ++i) p[i] = start;
    st.set_output(k++, p, stride);
  });
  ++counts.loops;
  if (shape::size(st.extent) == 0) return out;
  bool one = st.flat;
  for (int d = 0; d < st.full_rank; ++d) one = one && (stride[d] == 0);
  if (one) {
    run::cursor c[st.planes];
    for (int p = 0; p < st.planes; ++p) c[p] = {st.plane[p].ptr, p < st.outs || st.plane[p].how == run::access::uniform ? 0 : index_t(kernel::N) * st.plane[p].bytes};
    kernel::launch(c, shape::size(st.extent), false);
    return out;
  }
  run::nest s;
  s.rank = st.full_rank;
  s.planes = st.planes;
  for (int d = 0; d < st.full_rank; ++d) s.extent[d] = st.extent[d];
  s.plane = st.plane;
  s.lanes = kernel::N;
  run::driver(s, kernel::launch, true, false).run();
  return out;
}

/// How a linear reduction runs for scalar S; floors above specialise it to record.
template <class S> struct sum_rule {
  template <bool Columns, class E>
  static store<reduced_scalar_t<S>> evaluate(const E& e, const dims<E::rank>& shape, const axis_set<E::rank>& set) {
    return evaluate_reduction<sum_op, Columns, S>(e, shape, set);
  }
};

namespace reduce_detail {
template <int R> dims<R> reduced_shape_kept(const dims<R>& s, const axis_set<R>& set) {
  dims<R> e = s;
  for (int d = 0; d < R; ++d)
    if (set.reduced[d]) e[d] = 1;
  return e;
}
template <int Q, int R> dims<Q> reduced_shape(const dims<R>& s, const axis_set<R>& set) {
  dims<Q> e{};
  int k = 0;
  for (int d = 0; d < R; ++d)
    if (!set.reduced[d]) e[k++] = s[d];
  return e;
}
}  // namespace reduce_detail

template <array_like A> auto sum(const A& a) {
  auto e = as_expression(a);
  using E = decltype(e);
  axis_set<E::rank> all_axes;
  for (bool& r : all_axes.reduced) r = true;
  return sum_rule<scalar_t<A>>::template evaluate<false>(e, e.shape(), all_axes).scalar();
}
template <array_like A, int N> auto sum(const A& a, const axes<N>& which) {
  auto e = as_expression(a);
  using E = decltype(e);
  const auto shape = e.shape();
  const auto set = shape::select_axes<E::rank>(which, "sum");
  return tensor<reduced_scalar_t<scalar_t<A>>, E::rank - N>(sum_rule<scalar_t<A>>::template evaluate<true>(e, shape, set),
                                                            reduce_detail::reduced_shape<E::rank - N>(shape, set));
}
template <array_like A, int N> auto sum(const A& a, const axes<N>& which, keepdims_t) {
  auto e = as_expression(a);
  using E = decltype(e);
  const auto shape = e.shape();
  const auto set = shape::select_axes<E::rank>(which, "sum");
  return tensor<reduced_scalar_t<scalar_t<A>>, E::rank>(sum_rule<scalar_t<A>>::template evaluate<true>(e, shape, set),
                                                        reduce_detail::reduced_shape_kept(shape, set));
}

TTENSOR_END
