// relu leaky_relu elu gelu silu.
#pragma once
#include "special.hpp"

TTENSOR_HD_BEGIN

/// max(x, 0); derivative 0 at 0. NaN propagates.
struct relu_op : of_reals<elementwise<1>> {
  static constexpr bool even = true;
  static constexpr const char* name = "relu";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) { return maximum_op::primal(a, A(lane_t<A>(0))); }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{when{ops::is_greater(a, 0)}};
  }
};
/// x for x > 0, else slope x
struct leaky_relu_op : of_reals<real_elementwise<2>> {
  static constexpr const char* name = "leaky_relu";
  static constexpr unsigned reads(int operand) { return operand == 0 ? 3u : 1u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& slope) {
    using V = ops::wider_t<A, B>;
    return ops::pick(V(a) > V(lane_t<V>(0)), V(a), V(V(a) * V(slope)));
  }
  template <class A, class B, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const B& slope, const Y&) {
    const auto positive = ops::is_greater(a, 0);
    return grads{ops::choose(positive, 1, slope), ops::choose(positive, 0, a)};
  }
};
/// x for x > 0, else alpha expm1(x)
struct elu_op : of_reals<real_elementwise<2>> {
  static constexpr const char* name = "elu";
  static constexpr unsigned reads(int operand) { return operand == 0 ? 3u : 1u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& alpha) {
    using V = ops::wider_t<A, B>;
    return ops::in_float([]<class W>(const W& x, const W& s) { return W(ops::pick(x > W(0), x, W(s * math::expm1(x)))); }, V(a), V(alpha));
  }
  template <class A, class B, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const B& alpha, const Y&) {
    const auto positive = ops::is_greater(a, 0);
    return grads{ops::choose(positive, 1, ops::times(alpha, apply<exp_op>(a))), ops::choose(positive, 0, apply<expm1_op>(a))};
  }
};
/// x Phi(x), Phi the normal distribution function (the form with erf); derivative Phi(x) + x phi(x)
struct gelu_op : of_reals<real_elementwise<1>> {
  static constexpr const char* name = "gelu";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float(
        []<class W>(const W& x) {
          return W(ops::product(W(lane_t<W>(0.5f)) * x, math::erfc(W(lane_t<W>(-0.70710678118654752)) * x)));
        },
        a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    const auto upper = ops::times(0.5, apply<erfc_op>(ops::times(-0.70710678118654752, a)));
    return grads{ops::plus(upper, ops::times(a, ops::times(0.39894228040143268, apply<exp_op>(ops::times(-0.5, ops::times(a, a))))))};
  }
};
/// x sigmoid(x)
struct silu_op : of_reals<real_elementwise<1>> {
  static constexpr const char* name = "silu";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return ops::product(x, math::sigmoid(x)); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{ops::plus(apply<sigmoid_op>(a), ops::times(a, ops::logistic_slope(a)))};
  }
};

TTENSOR_HD_END
