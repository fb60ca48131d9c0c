// Operators on whole arrays: contractions, indexing, nonlinear reductions, factorisations, and users' own.
//
// An array operator is an object (its members are static arguments: axes, flags) with
//   name                                   for messages
//   primal(a...)                           a: leaf<T, R> of numbers, any strides      -> tensor<T', Q>
//   jvp<I>(dx, y, a...)                    tangent of the result for tangent dx of operand I (linear in dx)
//   vjp<I>(ct, y, a...)                    gradient of operand I, of its shape (linear in ct)
//   jvp_of_all(dx..., a...)                optional: the sum of all jvp's for leaves of numbers -> tensor
//   batched()                              the same operator on arrays with one more leading axis (extent 1: shared)
// An exact zero of dx or ct contributes 0, also where the partial is inf or NaN: absorb_op for elements, matmul_op::linear_in for products.
// jvp and vjp are written once with ordinary array operations; a... are leaves of any scalar kind, so every order of
// differentiation and batching comes from the same lines. y is the result, ct and dx have the shapes of y and a.
#pragma once
#include "operators.hpp"
#include "reduce.hpp"

TTENSOR_BEGIN

/// How an array operator runs on scalars S; one specialisation a kind (ad/array_rule.hpp).
template <class S> struct array_rule {
  template <class Op, class... L> static auto apply(const Op& op, const L&... a) { return op.primal(a...); }
};

namespace array_detail {
/// A leaf for any array argument; expressions are evaluated once.
template <class A> auto as_array(const A& a) {
  if constexpr (array_object<A>) {
    return a.as_leaf();
  } else {
    using S = storage_scalar_t<scalar_t<A>>;
    const auto shape = a.shape();
    store<S> s = statement_rule<S>::evaluate(a, shape);
    return leaf<S, rank_v<A>>{s.snap(), layout_map<rank_v<A>>::row_major(shape)};
  }
}
template <class S, int R> const leaf<S, R>& as_array(const leaf<S, R>& l) { return l; }
/// The scalar whose outermost kind is the newest level. Indices and masks keep only the batched kinds of their chain, so a mapped
/// index under more batches than the values is newer than they are, although its chain may be shorter.
template <class D, class S> using newer_t =
    std::conditional_t<(!is_differentiable_v<elem_t<S>> && !has_probe_v<D> && batch_levels_v<S> > batch_levels_v<D>), S,
                       D>;
template <class D, class... S> struct newest_of { using type = D; };
template <class D, class S, class... R> struct newest_of<D, S, R...> : newest_of<newer_t<D, S>, R...> {};
template <class... L> using newest_t =
    typename newest_of<typename decltype(expr::deepest_of<typename L::scalar...>())::type, typename L::scalar...>::type;
}  // namespace array_detail

/// The door for array operators: evaluates now, in the kind of the newest level among the operands.
template <class Op, class... A> auto apply_array(const Op& op, const A&... a) {
  return [&](const auto&... l) {
    using S = array_detail::newest_t<std::remove_cvref_t<decltype(l)>...>;
    return array_rule<S>::apply(op, l...);
  }(array_detail::as_array(a)...);
}

TTENSOR_END
