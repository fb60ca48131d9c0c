// The elementwise operators, each named once. TTENSOR_UNARY_OPERATORS(X) calls X(name) for every operator of one operand whose
// public function is called like it; tensor/operators.hpp stamps the functions from these lists, the tests loop over the types.
#pragma once
#include "activation.hpp"
#include "bitwise.hpp"
#include "cast.hpp"
#include "complex.hpp"
#include "power.hpp"
#include "rounding.hpp"
#include "trigonometric.hpp"

TTENSOR_BEGIN

// functions that the C++ library has for numbers too; for these four it has templates, beside which there is no room for ours
#define TTENSOR_COMPLEX_PARTS(X) X(real) X(imag) X(conj) X(arg)
#define TTENSOR_UNARY_OPERATORS(X)                                                                                          \
  X(abs) X(floor) X(ceil) X(round) X(trunc) X(sqrt) X(cbrt) X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) \
  X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(erf) X(erfc) X(isnan) X(isinf) X(isfinite)
#define TTENSOR_BINARY_OPERATORS(X) X(pow) X(atan2) X(hypot) X(fmod) X(remainder) X(fmax) X(fmin) X(copysign)
// functions that it has not: these take plain numbers too
#define TTENSOR_UNARY_OPERATORS_OWN(X) X(sign) X(rsqrt) X(square) X(reciprocal) X(sigmoid) X(logsigmoid) X(softplus) X(relu) X(gelu) X(silu)
#define TTENSOR_BINARY_OPERATORS_OWN(X) X(maximum) X(minimum) X(xlogy) X(logaddexp)

namespace ops {
template <class... T> type_list<T...> drop_first(type_list<void, T...>);
}
#define TTENSOR_OP_TYPE(name) , name##_op
using all_unary =
    decltype(ops::drop_first(type_list<void TTENSOR_UNARY_OPERATORS(TTENSOR_OP_TYPE) TTENSOR_COMPLEX_PARTS(
                                           TTENSOR_OP_TYPE) TTENSOR_UNARY_OPERATORS_OWN(TTENSOR_OP_TYPE),
                                       neg_op>{}));
using all_binary = decltype(ops::drop_first(
    type_list<void TTENSOR_BINARY_OPERATORS(TTENSOR_OP_TYPE) TTENSOR_BINARY_OPERATORS_OWN(TTENSOR_OP_TYPE), add_op,
              sub_op, mul_op, div_op, leaky_relu_op, elu_op>{}));
using all_ternary = type_list<where_op, clamp_op, lerp_op, fma_op>;
using all_logical = type_list<equal_op, not_equal_op, less_op, less_equal_op, greater_op, greater_equal_op,
                              logical_and_op, logical_or_op, logical_not_op>;
using all_bitwise = type_list<bit_and_op, bit_or_op, bit_xor_op, shift_left_op, shift_right_op, bit_not_op>;
#undef TTENSOR_OP_TYPE

TTENSOR_END
