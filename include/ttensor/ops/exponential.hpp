// exp log sqrt tanh sigmoid.
#pragma once
#include "selection.hpp"

TTENSOR_BEGIN

/// exp(a + h) ~= exp(a) + exp(a) h
struct exp_op : real_elementwise<1> {
  static constexpr const char* name = "exp";
  static constexpr unsigned reads(int) { return 2u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) { return math::exp(a); }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A&, const Y& y) { return grads{y}; }
};
/// log(a + h) ~= log(a) + h / a;  log(0) = -inf, log of a negative number is NaN
struct log_op : real_elementwise<1> {
  static constexpr const char* name = "log";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) { return math::log(a); }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) { return grads{apply<div_op>(1, a)}; }
};
/// sqrt(a + h) ~= y + h / (2 y);  +inf at 0 (an exact-zero cotangent absorbs)
struct sqrt_op : real_elementwise<1> {
  static constexpr const char* name = "sqrt";
  static constexpr unsigned reads(int) { return 2u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) { return math::sqrt(a); }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A&, const Y& y) { return grads{apply<div_op>(0.5, y)}; }
};

namespace ops {
// e / (1 + e)^2 with e = exp(-|x|): the derivative of the logistic function without cancellation. -|x| is taken by
// selection, so that higher derivatives at 0 follow the smooth branch.
template <class X> TTENSOR_HD TTENSOR_INLINE constexpr auto logistic_slope(const X& x) {
  const auto e = apply<exp_op>(apply<where_op>(apply<greater_op>(x, 0), apply<neg_op>(x), x));
  const auto q = apply<add_op>(1, e);
  return apply<div_op>(e, apply<mul_op>(q, q));
}
}  // namespace ops
/// tanh(a + h) ~= tanh(a) + h sech(a)^2, with sech^2 = 4 e / (1 + e)^2, e = exp(-2|a|): exact where 1 - y^2 cancels
struct tanh_op : real_elementwise<1> {
  static constexpr const char* name = "tanh";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) { return math::tanh(a); }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{apply<mul_op>(4, ops::logistic_slope(apply<mul_op>(2, a)))};
  }
};
/// sigmoid(x) = 1 / (1 + exp(-x))
struct sigmoid_op : real_elementwise<1> {
  static constexpr const char* name = "sigmoid";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) { return math::sigmoid(a); }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) { return grads{ops::logistic_slope(a)}; }
};

TTENSOR_END
