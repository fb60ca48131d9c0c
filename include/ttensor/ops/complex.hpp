// real imag conj arg: parts of complex numbers. For real ones: x, 0, x, and 0 or pi.
//
// Derivatives of complex functions. With L real, the cotangent of z = x + iy is dL/dx + i dL/dy. An operator's partial p stands for the
// tangent rule w_dot = p z_dot, of which a real w keeps the real part; then z_bar = conj(p) w_bar. sweeping::forward_term and
// sweeping::reverse_term (expr/sweep.hpp) are the only places that know this.
#pragma once
#include "terms.hpp"

TTENSOR_HD_BEGIN

/// Functions from complex to real.
struct complex_part : elementwise<1> {
  template <class S> using result = reelem_t<S, real_t<elem_t<S>>>;
};
namespace ops {
/// (re, im) as a constant beside values like a.
template <class A> TTENSOR_HD TTENSOR_INLINE constexpr auto constant_like(const A&, double re, double im) {
  using T = complex_elem_t<A>;
  return T(static_cast<real_t<T>>(re), static_cast<real_t<T>>(im));
}
}  // namespace ops
struct real_op : complex_part {
  static constexpr const char* name = "real";
  static constexpr bool absorbs = false;
  static constexpr unsigned reads(int) { return 0; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) {
    if constexpr (is_complex_value_v<A>) return math::real(a);
    else return a;
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A&, const Y&) { return grads{unit{}}; }
};
struct conj_op : elementwise<1> {
  static constexpr const char* name = "conj";
  static constexpr bool absorbs = false;
  static constexpr unsigned reads(int) { return 0; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) {
    if constexpr (is_complex_value_v<A>) return math::conj(a);
    else return a;
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A&, const Y&) {
    if constexpr (is_complex_value_v<A>) return grads{conjugated{}};
    else return grads{unit{}};
  }
};
/// |a + h|^2 ~= |a|^2 + real(2 conj(a) h), without the root of abs. Not public: what norm and variance add up.
struct abs_square_op : complex_part {
  static constexpr const char* name = "abs_square";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) {
    if constexpr (is_complex_value_v<A>) return math::norm(a);
    else return ops::product(a, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{ops::times(2, apply<conj_op>(a))};
  }
};
/// imag(z) = real(-i z)
struct imag_op : complex_part {
  static constexpr const char* name = "imag";
  static constexpr bool absorbs = false;
  static constexpr unsigned reads(int) { return 0; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) {
    if constexpr (is_complex_value_v<A>) return math::imag(a);
    else return A(lane_t<A>(0));
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    if constexpr (is_complex_value_v<A>) return grads{ops::constant_like(a, 0, -1)};
    else return static_cast<void>(a), grads{no_partial{}};
  }
};
/// arg(z + h) ~= arg(z) + real(-i h / z); 0 at 0. Of a real number: 0, pi where its sign is set, NaN for NaN.
struct arg_op : real_elementwise<1> {
  template <class S> using result = reelem_t<S, real_t<elem_t<S>>>;
  static constexpr const char* name = "arg";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) {
    if constexpr (is_complex_value_v<A>) return math::arg(a);
    else return ops::in_float([](const auto& x) {
      using X = std::remove_cvref_t<decltype(x)>;
      const X zero(lane_t<X>(0)), side = math::copysign(X(lane_t<X>(1)), x);
      return ops::pick(x == x, ops::pick(side < zero, X(static_cast<lane_t<X>>(3.14159265358979323846)), zero), x);
    }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    if constexpr (is_complex_value_v<A>) {
      const auto zero = ops::is_equal(a, 0);
      return grads{ops::choose(zero, 0, ops::over(ops::constant_like(a, 0, -1), ops::choose(zero, 1, a)))};
    } else {
      return static_cast<void>(a), grads{no_partial{}};
    }
  }
};

TTENSOR_HD_END
