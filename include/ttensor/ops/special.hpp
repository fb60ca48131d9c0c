// erf erfc xlogy logaddexp.
#pragma once
#include "exponential.hpp"

TTENSOR_HD_BEGIN

/// erf(a + h) ~= erf(a) + 2 / sqrt(pi) exp(-a^2) h
struct erf_op : of_reals<real_elementwise<1>> {
  static constexpr const char* name = "erf";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return math::erf(x); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{ops::times(1.1283791670955126, apply<exp_op>(ops::minus(ops::times(a, a))))};
  }
};
/// erfc(a + h) ~= erfc(a) - 2 / sqrt(pi) exp(-a^2) h
struct erfc_op : of_reals<real_elementwise<1>> {
  static constexpr const char* name = "erfc";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return math::erfc(x); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{ops::times(-1.1283791670955126, apply<exp_op>(ops::minus(ops::times(a, a))))};
  }
};
/// x log y, 0 where x is 0 and y is a number. d/dx = log y, d/dy = x / y, 0 where both are 0
struct xlogy_op : real_elementwise<2> {
  static constexpr const char* name = "xlogy";
  static constexpr unsigned reads(int operand) { return operand == 0 ? 2u : 3u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = ops::wider_t<A, B>;
    return ops::in_float(
        []<class W>(const W& x, const W& y) {
          return W(ops::pick((x == W(0)) && (y == y), W(0), W(x * math::log(y))));
        },
        V(a), V(b));
  }
  template <class A, class B, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& x, const B& y, const Y&) {
    const auto ratio = ops::over(x, y);
    return grads{apply<log_op>(y), ops::choose(ops::is_equal(x, 0), ops::choose(ops::is_equal(y, 0), 0, ratio), ratio)};  // at x = 0 no constant: d2/dxdy = 1 / y
  }
};
/// log(exp(a) + exp(b)). d/da = sigmoid(a - b), 0 where both are -inf
struct logaddexp_op : of_reals<real_elementwise<2>> {
  static constexpr const char* name = "logaddexp";
  static constexpr unsigned reads(int) { return 7u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = ops::wider_t<A, B>;
    return ops::in_float(
        []<class W>(const W& x, const W& y) {
          const W apart = math::log1p(math::exp(-math::abs(x - y))) + math::maximum(x, y);
          return W(ops::pick(x == y, W(x + W(lane_t<W>(0.69314718055994531))), apart));
        },
        V(a), V(b));
  }
  template <class A, class B, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const B& b, const Y& y) {
    const auto none = ops::is_equal(y, -std::numeric_limits<double>::infinity());
    const auto d = ops::minus(a, b);
    return grads{ops::choose(none, 0, apply<sigmoid_op>(d)), ops::choose(none, 0, apply<sigmoid_op>(ops::minus(d)))};
  }
};

TTENSOR_HD_END
