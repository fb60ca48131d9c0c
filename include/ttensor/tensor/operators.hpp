// The public elementwise functions and operators, stamped once for tensors, expressions and every kind of scalar.
#pragma once
#include "../ops/cast.hpp"
#include "../ops/exponential.hpp"
#include "../ops/trigonometric.hpp"
#include "tensor.hpp"

TTENSOR_BEGIN

/// What our operators take: an array, an expression, a scalar of a transform, an element proxy.
template <class A> concept operand = array_like<A> || scalar_kind<A> || element_proxy<A>;
template <class A> concept operand_or_number = operand<A> || number<std::remove_cvref_t<A>>;

#define TTENSOR_UNARY(fn, op) \
  template <operand A> TTENSOR_INLINE auto fn(A&& a) { return apply<op>(static_cast<A&&>(a)); }
#define TTENSOR_BINARY(fn, op)                                                                          \
  template <operand_or_number A, operand_or_number B> requires(operand<A> || operand<B>)                \
  TTENSOR_INLINE auto fn(A&& a, B&& b) { return apply<op>(static_cast<A&&>(a), static_cast<B&&>(b)); }

TTENSOR_BINARY(operator+, add_op)
TTENSOR_BINARY(operator-, sub_op)
TTENSOR_BINARY(operator*, mul_op)
TTENSOR_BINARY(operator/, div_op)
TTENSOR_BINARY(operator==, equal_op)
TTENSOR_BINARY(operator!=, not_equal_op)
TTENSOR_BINARY(operator<, less_op)
TTENSOR_BINARY(operator<=, less_equal_op)
TTENSOR_BINARY(operator>, greater_op)
TTENSOR_BINARY(operator>=, greater_equal_op)
TTENSOR_BINARY(operator&&, logical_and_op)
TTENSOR_BINARY(operator||, logical_or_op)
TTENSOR_BINARY(maximum, maximum_op)
TTENSOR_UNARY(operator-, neg_op)
TTENSOR_UNARY(operator!, logical_not_op)
TTENSOR_UNARY(exp, exp_op)
TTENSOR_UNARY(log, log_op)
TTENSOR_UNARY(sqrt, sqrt_op)
TTENSOR_UNARY(tanh, tanh_op)
TTENSOR_UNARY(sigmoid, sigmoid_op)
TTENSOR_UNARY(sin, sin_op)
TTENSOR_UNARY(cos, cos_op)
#undef TTENSOR_UNARY
#undef TTENSOR_BINARY
template <operand A> TTENSOR_INLINE decltype(auto) operator+(A&& a) { return static_cast<A&&>(a); }

// Compound assignment of scalars: the result must fit the scalar's own level.
#define TTENSOR_COMPOUND(op, binary) \
  template <scalar_kind A, operand_or_number B> requires(rank_v<B> == 0) TTENSOR_INLINE A& op(A& a, const B& b) { return a = apply<binary>(a, b); }
TTENSOR_COMPOUND(operator+=, add_op)
TTENSOR_COMPOUND(operator-=, sub_op)
TTENSOR_COMPOUND(operator*=, mul_op)
TTENSOR_COMPOUND(operator/=, div_op)
#undef TTENSOR_COMPOUND

template <class C, class A, class B> requires(operand<C> || operand<A> || operand<B>) TTENSOR_INLINE auto where(C&& c, A&& a, B&& b) {
  return apply<where_op>(static_cast<C&&>(c), static_cast<A&&>(a), static_cast<B&&>(b));
}
/// to<float>(x): the same array with another element type; never implicit when it narrows.
template <class T, operand A> TTENSOR_INLINE auto to(A&& a) { return apply<cast_op<T>>(static_cast<A&&>(a)); }

/// Evaluates an expression into a tensor; a tensor gives a copy of itself (O(1) until written).
template <array_like E> auto eval(const E& e) {
  using S = storage_scalar_t<scalar_t<E>>;
  return tensor<S, rank_v<E>>(e);
}

TTENSOR_END
