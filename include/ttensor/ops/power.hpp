// square reciprocal rsqrt cbrt pow hypot lerp fma.
#pragma once
#include "exponential.hpp"

TTENSOR_HD_BEGIN

/// (a + h)^2 ~= a^2 + 2 a h
struct square_op : arithmetic<1> {
  static constexpr bool even = true;
  static constexpr const char* name = "square";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    if constexpr (std::is_integral_v<A>) return static_cast<A>(mul_op::primal(a, a));
    else return static_cast<A>(ops::product(a, a));
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{ops::times(2, a)};
  }
};
/// 1 / (a + h) ~= y - y^2 h
struct reciprocal_op : real_elementwise<1> {
  static constexpr const char* name = "reciprocal";
  static constexpr unsigned reads(int) { return 2u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) { return A(lane_t<A>(1)) / a; }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A&, const Y& y) {
    return grads{ops::minus(ops::times(y, y))};
  }
};
/// 1 / sqrt(a + h) ~= y - y^3 h / 2
struct rsqrt_op : real_elementwise<1> {
  static constexpr const char* name = "rsqrt";
  static constexpr unsigned reads(int) { return 2u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return math::rsqrt(x); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A&, const Y& y) {
    return grads{ops::times(-0.5, ops::times(y, ops::times(y, y)))};
  }
};
/// cbrt(a + h) ~= y + h / (3 y^2); +inf at 0
struct cbrt_op : of_reals<real_elementwise<1>> {
  static constexpr const char* name = "cbrt";
  static constexpr unsigned reads(int) { return 2u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return math::cbrt(x); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A&, const Y& y) {
    return grads{ops::over(1, ops::times(3, ops::times(y, y)))};
  }
};
namespace ops {
/// a^n by squaring; a negative exponent gives the truncated quotient 1 / a^-n (0 for a = 0).
template <class T> TTENSOR_HD constexpr T integer_power(T a, T n) {
  if constexpr (std::is_signed_v<T>)
    if (n < 0) return a == T(1) ? T(1) : a == T(-1) ? (n % 2 == 0 ? T(1) : T(-1)) : T(0);
  using U = std::conditional_t<(sizeof(T) < 8), std::uint32_t, std::uint64_t>;  // wraps
  U y = 1, x = static_cast<U>(a);
  for (U k = static_cast<U>(n); k; k >>= 1) {
    if (k & 1) y *= x;
    x *= x;
  }
  return static_cast<T>(y);
}
}  // namespace ops
/// x^y. d/dx = y x^(y - 1), 0 for y = 0; d/dy = x^y log x, 0 at x = 0 for y >= 0, NaN for x < 0. Integers stay integers.
struct pow_op : elementwise<2> {
  static constexpr bool is_function = true;
  static constexpr const char* name = "pow";
  static constexpr unsigned reads(int operand) { return operand == 0 ? 3u : 7u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = ops::wider_t<A, B>;
    if constexpr (ops::is_whole_v<V> && is_pack_v<V>) {
      lane_t<V> x[V::size], n[V::size];
      V(a).store(x);
      V(b).store(n);
      for (int i = 0; i < V::size; ++i) x[i] = ops::integer_power(x[i], n[i]);
      return V::load(x);
    } else if constexpr (ops::is_whole_v<V>) {
      return ops::integer_power(V(a), V(b));
    } else {
      return ops::in_float([](const auto& x, const auto& y) { return math::pow(x, y); }, V(a), V(b));
    }
  }
  /// At y = 0 the rule y x^(y - 1) is 0, but no constant: d2/dxdy = 1 / x. A constant where its own derivatives are not finite: x 0, tiny, infinite or negative.
  template <class A, class R> TTENSOR_HD TTENSOR_INLINE static constexpr auto where_x_is_ordinary(const A& x, const R& rule) {
    const auto inverse = ops::over(1, x), square = ops::times(inverse, inverse), fourth = ops::times(square, square);
    if constexpr (is_complex_value_v<A> || is_complex_value_v<R>) return ops::choose(ops::is_equal(ops::times(fourth, 0), 0), rule, 0);
    else
      return ops::choose(ops::is_less(0, inverse),
                         ops::choose(ops::is_less(fourth, std::numeric_limits<double>::infinity()), rule, 0), 0);
  }
  template <class A, class B, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& x, const B& y, const Y& z) {
    const auto flat = ops::is_equal(y, 0);
    const auto at_zero = ops::is_equal(x, 0);  // another type where only one operand is mapped
    const auto rule = ops::times(y, apply<pow_op>(x, ops::minus(y, 1)));
    const auto dx = ops::choose(flat, where_x_is_ordinary(x, rule), rule);
    const auto slope = ops::times(z, apply<log_op>(ops::choose(at_zero, 1, x)));
    if constexpr (is_complex_value_v<A> || is_complex_value_v<B>) return grads{dx, ops::choose(at_zero, 0, slope)};
    else return grads{dx, ops::choose(at_zero, ops::choose(ops::is_less(y, 0), ops::minus(z), 0), slope)};
  }
};
/// sqrt(a^2 + b^2) without overflow. d/da = a / y, d/db = b / y; 0 at the origin
struct hypot_op : of_reals<real_elementwise<2>> {
  static constexpr const char* name = "hypot";
  static constexpr unsigned reads(int operand) { return operand == 0 ? 5u : 6u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = ops::wider_t<A, B>;
    return ops::in_float([](const auto& x, const auto& y) { return math::hypot(x, y); }, V(a), V(b));
  }
  template <class A, class B, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const B& b, const Y& y) {
    const auto safe = ops::choose(ops::is_equal(y, 0), std::numeric_limits<double>::infinity(), y);  // all derivatives are 0 there
    return grads{ops::over(a, safe), ops::over(b, safe)};
  }
};
/// a + t (b - a), exactly a at t = 0 and b at t = 1 where b - a is finite.
struct lerp_op : of_reals<real_elementwise<3>> {
  static constexpr const char* name = "lerp";
  static constexpr unsigned reads(int operand) { return operand == 2 ? 3u : 4u; }
  template <class A, class B, class T> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b, const T& t) {
    using V = ops::wider_t<ops::wider_t<A, B>, T>;
    const V x(a), y(b), w(t);
    const V d(y - x);
    return ops::pick(w < V(lane_t<V>(0.5f)), V(x + ops::product(w, d)), V(y - ops::product(V(V(lane_t<V>(1)) - w), d)));
  }
  template <class A, class B, class T, class Y>
  TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const B& b, const T& t, const Y&) {
    return grads{ops::minus(1, t), T(t), ops::minus(b, a)};
  }
};
/// a b + c
struct fma_op : elementwise<3> {
  static constexpr bool even = true;
  static constexpr const char* name = "fma";
  static constexpr unsigned reads(int operand) { return operand == 0 ? 2u : operand == 1 ? 1u : 0u; }
  template <class A, class B, class C> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b, const C& c) {
    using V = ops::wider_t<ops::wider_t<A, B>, C>;
    if constexpr (is_pack_v<V>) return fma(V(a), V(b), V(c));
    else if constexpr (std::is_same_v<V, float> || std::is_same_v<V, double>) return simd::fma(V(a), V(b), V(c));
    else return V(a * b + c);
  }
  template <class A, class B, class C, class Y>
  TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const B& b, const C&, const Y&) {
    return grads<B, A, unit>{b, a, unit{}};
  }
};

TTENSOR_HD_END
