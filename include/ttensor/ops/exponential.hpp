// exp exp2 expm1, log log2 log10 log1p, sqrt, tanh sigmoid softplus logsigmoid.
#pragma once
#include "terms.hpp"

TTENSOR_HD_BEGIN

/// exp(a + h) ~= exp(a) + exp(a) h
struct exp_op : real_elementwise<1> {
  static constexpr const char* name = "exp";
  static constexpr unsigned reads(int) { return 2u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) { return math::exp(a); }
  TTENSOR_NO_EXEC_CHECK
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A&, const Y& y) { return grads{y}; }
};
/// log(a + h) ~= log(a) + h / a;  log(0) = -inf, log of a negative number is NaN
struct log_op : real_elementwise<1> {
  static constexpr const char* name = "log";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) { return math::log(a); }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{apply<div_op>(1, a)};
  }
};
/// sqrt(a + h) ~= y + h / (2 y);  +inf at 0 (an exact-zero cotangent absorbs)
struct sqrt_op : real_elementwise<1> {
  static constexpr const char* name = "sqrt";
  static constexpr unsigned reads(int) { return 2u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) { return math::sqrt(a); }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A&, const Y& y) {
    return grads{apply<div_op>(0.5, y)};
  }
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
    if constexpr (is_complex_value_v<A>) {
      const auto y = apply<tanh_op>(a);
      return grads{ops::times(ops::minus(1, y), ops::plus(1, y))};
    } else {
      return grads{apply<mul_op>(4, ops::logistic_slope(apply<mul_op>(2, a)))};
    }
  }
};
/// sigmoid(x) = 1 / (1 + exp(-x))
struct sigmoid_op : of_reals<real_elementwise<1>> {
  static constexpr const char* name = "sigmoid";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) { return math::sigmoid(a); }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{ops::logistic_slope(a)};
  }
};

/// exp2(a + h) ~= 2^a (1 + h log 2)
struct exp2_op : of_reals<real_elementwise<1>> {
  static constexpr const char* name = "exp2";
  static constexpr unsigned reads(int) { return 2u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return math::exp2(x); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A&, const Y& y) {
    return grads{ops::times(0.69314718055994531, y)};
  }
};
/// expm1(a + h) ~= expm1(a) + exp(a) h; exp(a) and not y + 1, which cancels far below 0
struct expm1_op : of_reals<real_elementwise<1>> {
  static constexpr const char* name = "expm1";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return math::expm1(x); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{apply<exp_op>(a)};
  }
};
/// log2(a + h) ~= log2(a) + h / (a log 2)
struct log2_op : of_reals<real_elementwise<1>> {
  static constexpr const char* name = "log2";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return math::log2(x); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{ops::over(1.4426950408889634, a)};
  }
};
/// log10(a + h) ~= log10(a) + h / (a ln 10); -inf at 0
struct log10_op : real_elementwise<1> {
  static constexpr const char* name = "log10";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return math::log10(x); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{ops::over(0.43429448190325183, a)};
  }
};
/// log1p(a + h) ~= log1p(a) + h / (1 + a); +inf at -1
struct log1p_op : of_reals<real_elementwise<1>> {
  static constexpr const char* name = "log1p";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return math::log1p(x); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{ops::over(1, ops::plus(1, a))};
  }
};
/// softplus(x) = log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)); derivative sigmoid(x)
struct softplus_op : of_reals<real_elementwise<1>> {
  static constexpr const char* name = "softplus";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float(
        [](const auto& x) {
          return math::maximum(x, std::remove_cvref_t<decltype(x)>(0)) + math::log1p(math::exp(-math::abs(x)));
        },
        a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{apply<sigmoid_op>(a)};
  }
};
/// logsigmoid(x) = -softplus(-x); derivative sigmoid(-x)
struct logsigmoid_op : of_reals<real_elementwise<1>> {
  static constexpr const char* name = "logsigmoid";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) { return -softplus_op::primal(A(-a)); }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{apply<sigmoid_op>(ops::minus(a))};
  }
};

TTENSOR_HD_END
