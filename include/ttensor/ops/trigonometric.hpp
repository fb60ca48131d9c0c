// sin cos tan, asin acos atan, sinh cosh, asinh acosh atanh. Angles in radians.
#pragma once
#include "exponential.hpp"
#include "rounding.hpp"

TTENSOR_HD_BEGIN

struct cos_op;
/// sin(a + h) ~= sin(a) + h cos(a)
struct sin_op : real_elementwise<1> {
  static constexpr const char* name = "sin";
  template <class T, int N> using device_operand = math::device_angle<T, N>;
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) { return math::sin(a); }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{apply<cos_op>(a)};
  }
};
/// cos(a + h) ~= cos(a) - h sin(a)
struct cos_op : real_elementwise<1> {
  static constexpr const char* name = "cos";
  template <class T, int N> using device_operand = math::device_angle<T, N>;
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) { return math::cos(a); }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{apply<neg_op>(apply<sin_op>(a))};
  }
};

/// tan(a + h) ~= tan(a) + (1 + tan(a)^2) h
struct tan_op : real_elementwise<1> {
  static constexpr const char* name = "tan";
  static constexpr unsigned reads(int) { return 2u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return math::tan(x); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A&, const Y& y) {
    return grads{ops::plus(1, ops::times(y, y))};
  }
};
namespace ops {
/// 2^N, a constant of a rule that meets values of A.
template <class A, int N> TTENSOR_HD TTENSOR_INLINE constexpr complex_elem_t<A> power_of_two() {
  constexpr double value = [] {  // no builtin: clang does not evaluate it
    double p = 1;
    for (int i = 0; i < (N < 0 ? -N : N); ++i) p *= N < 0 ? 0.5 : 2.0;
    return p;
  }();
  return complex_elem_t<A>(value);
}
}  // namespace ops
/// 1 - a^2 as (1 - a)(1 + a), exact near |a| = 1 where that cancels. One operator: backwards, the factor 0 would meet an infinite cotangent.
/// Complex factors are differences to a: 1 + a would lose an imaginary part of -0, which says on which side of a cut a is.
struct one_minus_square_op : elementwise<1> {
  static constexpr const char* name = "one_minus_square";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    if constexpr (is_complex_value_v<A>) return -(a - A(lane_t<A>(1))) * (a - A(lane_t<A>(-1)));
    else return (A(lane_t<A>(1)) - a) * (A(lane_t<A>(1)) + a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{ops::times(-2, a)};
  }
};
/// 1 + a^2 of complex a as (a - i)(a + i), exact near a = i and -i where that cancels.
struct one_plus_square_op : elementwise<1> {
  static constexpr const char* name = "one_plus_square";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    using T = lane_t<A>;
    return (a - A(T(0, 1))) * (a - A(T(0, -1)));
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{ops::times(2, a)};
  }
};
/// asin(a + h) ~= asin(a) + h / sqrt(1 - a^2); +inf at -1 and 1
struct asin_op : real_elementwise<1> {
  static constexpr const char* name = "asin";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return math::asin(x); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{ops::over(1, apply<sqrt_op>(apply<one_minus_square_op>(a)))};
  }
};
/// acos(a + h) ~= acos(a) - h / sqrt(1 - a^2)
struct acos_op : real_elementwise<1> {
  static constexpr const char* name = "acos";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return math::acos(x); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{ops::over(-1, apply<sqrt_op>(apply<one_minus_square_op>(a)))};
  }
};
/// atan(a + h) ~= atan(a) + h / (1 + a^2)
struct atan_op : real_elementwise<1> {
  static constexpr const char* name = "atan";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return math::atan(x); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    if constexpr (std::is_same_v<complex_elem_t<A>, half>) {  // a^2 overflows at 256, where 1 / a^2 is a number
      const auto far = ops::is_less(ops::power_of_two<A, 7>(), apply<abs_op>(a));
      const auto inverse = ops::over(1, ops::choose(far, a, 1)), near = ops::choose(far, 1, a);
      return grads{ops::choose(far, ops::times(inverse, inverse), ops::over(1, ops::plus(1, ops::times(near, near))))};
    } else if constexpr (is_complex_value_v<A>) {
      return grads{ops::over(1, apply<one_plus_square_op>(a))};
    } else {
      return grads{ops::over(1, ops::plus(1, ops::times(a, a)))};
    }
  }
};
struct cosh_op;
/// sinh(a + h) ~= sinh(a) + h cosh(a)
struct sinh_op : real_elementwise<1> {
  static constexpr const char* name = "sinh";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return math::sinh(x); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{apply<cosh_op>(a)};
  }
};
/// cosh(a + h) ~= cosh(a) + h sinh(a)
struct cosh_op : real_elementwise<1> {
  static constexpr const char* name = "cosh";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return math::cosh(x); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{apply<sinh_op>(a)};
  }
};
/// asinh(a + h) ~= asinh(a) + h / sqrt(1 + a^2), 1 / |a| where the square is so large that the 1 is lost
struct asinh_op : real_elementwise<1> {
  static constexpr const char* name = "asinh";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return math::asinh(x); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    if constexpr (is_complex_value_v<A>) {
      return grads{ops::over(1, apply<sqrt_op>(apply<one_plus_square_op>(a)))};  // 1 + a^2 would lose the -0, as above
    } else {
      const auto size = apply<abs_op>(a);
      const auto far = ops::is_less(ops::power_of_two<A, std::numeric_limits<complex_elem_t<A>>::digits / 2 + 2>(), size);
      const auto near = ops::choose(far, 1, a);
      return grads{ops::over(1, ops::choose(far, size, apply<sqrt_op>(ops::plus(1, ops::times(near, near)))))};
    }
  }
};
/// acosh(a + h) ~= acosh(a) + h / sqrt(a^2 - 1); +inf at 1. The root of each factor: their product overflows, and that of complex numbers has the other sign left of 0.
struct acosh_op : real_elementwise<1> {
  static constexpr const char* name = "acosh";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return math::acosh(x); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{ops::over(ops::over(1, apply<sqrt_op>(ops::minus(a, 1))), apply<sqrt_op>(ops::minus(a, -1)))};
  }
};
/// atanh(a + h) ~= atanh(a) + h / (1 - a^2)
struct atanh_op : real_elementwise<1> {
  static constexpr const char* name = "atanh";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::in_float([](const auto& x) { return math::atanh(x); }, a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{ops::over(1, apply<one_minus_square_op>(a))};
  }
};
/// atan2(y, x): the angle of the point (x, y). d/dy = x / r^2, d/dx = -y / r^2; 0 at the origin. Points whose r^2 over- or underflows are moved by a power of two.
struct atan2_op : of_reals<real_elementwise<2>> {
  static constexpr const char* name = "atan2";
  static constexpr unsigned reads(int) { return 3u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = ops::wider_t<A, B>;
    return ops::in_float([](const auto& y, const auto& x) { return math::atan2(y, x); }, V(a), V(b));
  }
  template <class A, class B, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& y, const B& x, const Y&) {
    using number = std::numeric_limits<complex_elem_t<B>>;
    constexpr int high = number::max_exponent / 2 - 1, low = (number::digits - number::max_exponent) / 2 + 2;
    constexpr int far = number::max_exponent * 5 / 8, room = high - low - 1, up = far < room ? far : room, down = -far;  // no further: second derivatives multiply by it twice
    const auto size = ops::plus(apply<abs_op>(x), apply<abs_op>(y));
    const auto large = ops::is_less(ops::power_of_two<B, high>(), size);
    const auto small = ops::both(ops::is_less(size, ops::power_of_two<B, low>()), ops::is_less(0, size));
    const auto moved = [&](const auto& a) {
      return ops::choose(large, ops::times(ops::power_of_two<B, down>(), a),
                         ops::choose(small, ops::times(ops::power_of_two<B, up>(), a), a));
    };
    const auto u = moved(x);
    const auto v = moved(y);  // of another type where one operand is plain
    const auto square = ops::plus(ops::times(u, u), ops::times(v, v));
    const auto safe = ops::choose(ops::is_equal(square, 0), std::numeric_limits<double>::infinity(), square);  // all derivatives are 0 there
    return grads{moved(ops::over(u, safe)), moved(ops::over(ops::minus(v), safe))};
  }
};

TTENSOR_HD_END
