// abs sign and rounding: floor ceil round trunc; isnan isinf isfinite; copysign fmod remainder.
#pragma once
#include "cast.hpp"
#include "complex.hpp"

TTENSOR_HD_BEGIN

/// -1, 0 or 1; NaN for NaN. Derivative 0 everywhere.
struct sign_op : of_reals<piecewise_constant<1>> {
  static constexpr bool even = true;
  static constexpr const char* name = "sign";
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    const A zero(lane_t<A>(0));
    return ops::pick(a > zero, A(lane_t<A>(1)), ops::pick(a < zero, A(static_cast<lane_t<A>>(-1)), a));
  }
};
/// |a + h| ~= |a| + sign(a) h; complex: |a| + real(conj(a) h) / |a|; 0 at 0
struct abs_op : arithmetic<1> {
  static constexpr bool even = true;
  static constexpr const char* name = "abs";
  static constexpr unsigned reads(int) { return 1u; }
  template <class S> using result = reelem_t<S, real_t<elem_t<S>>>;
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) { return math::abs(a); }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    if constexpr (is_complex_value_v<A>) {
      const auto zero = ops::is_equal(a, 0);
      const auto b = ops::choose(zero, 1, a);
      return grads{ops::choose(zero, 0, ops::over(apply<conj_op>(b), apply<cast_op<complex_elem_t<A>>>(apply<abs_op>(b))))};
    } else {
      return grads{apply<sign_op>(a)};
    }
  }
};

/// Rounding: integers stay as they are; the derivative is 0.
struct rounding : of_reals<piecewise_constant<1>> {};
#define TTENSOR_ROUNDING(fn, function)                                                     \
  struct fn##_op : rounding {                                                              \
    static constexpr const char* name = #fn;                                               \
    template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {   \
      if constexpr (ops::is_whole_v<A>) return a;                                          \
      else return ops::in_float([](const auto& x) { return math::function(x); }, a);       \
    }                                                                                      \
  };
TTENSOR_ROUNDING(floor, floor)
TTENSOR_ROUNDING(ceil, ceil)
TTENSOR_ROUNDING(trunc, trunc)
TTENSOR_ROUNDING(round, nearbyint)  // halves to even, as NumPy
#undef TTENSOR_ROUNDING

/// Tests of one number: a mask.
struct predicate : piecewise_constant<1> {
  template <class S> using result = join_chain_t<bool, S>;
};
struct isnan_op : predicate {
  static constexpr const char* name = "isnan";
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) { return a != a; }
};
struct isinf_op : predicate {
  static constexpr const char* name = "isinf";
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) {
    if constexpr (is_complex_value_v<A>) return primal(apply<real_op>(a)) || primal(apply<imag_op>(a));
    else if constexpr (ops::is_whole_v<A>) return a != a;
    else return math::abs(a) == A(std::numeric_limits<lane_t<A>>::infinity());
  }
};
struct isfinite_op : predicate {
  static constexpr const char* name = "isfinite";
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) {
    if constexpr (is_complex_value_v<A>) return primal(apply<real_op>(a)) && primal(apply<imag_op>(a));
    else if constexpr (ops::is_whole_v<A>) return a == a;
    else return math::abs(a) < A(std::numeric_limits<lane_t<A>>::infinity());
  }
};

/// |a| with the sign of b: d/da = sign(a) sign(b), d/db = 0
struct copysign_op : of_reals<real_elementwise<2>> {
  static constexpr const char* name = "copysign";
  static constexpr unsigned reads(int operand) { return operand == 0 ? 3u : 0u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = ops::wider_t<A, B>;
    return ops::in_float([](const auto& x, const auto& y) { return math::copysign(x, y); }, V(a), V(b));
  }
  template <class A, class B, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const B& b, const Y&) {
    return grads{ops::times(apply<sign_op>(a), apply<copysign_op>(1.0, b)), no_partial{}};
  }
};
/// x - trunc(x / y) y, the sign of x (C's fmod): d/dx = 1, d/dy = -trunc(x / y)
struct fmod_op : of_reals<arithmetic<2>> {
  /// The multiple of b that was taken from a. Not trunc(a / b), which is 10 for 1 and 0.1: fmod(1, 0.1) is 1 - 9 * 0.1.
  template <class A, class B, class Y>
  TTENSOR_HD TTENSOR_INLINE static constexpr auto whole_quotient(const A& a, const B& b, const Y& y) {
    return apply<round_op>(ops::over(ops::minus(a, y), b));
  }
  static constexpr const char* name = "fmod";
  static constexpr unsigned reads(int operand) { return operand == 0 ? 0u : 7u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = ops::wider_t<A, B>;
    if constexpr (is_pack_v<V> && ops::is_whole_v<V>) return V(a) % V(b);
    else if constexpr (ops::is_whole_v<V>) return b == B(0) || (std::is_signed_v<V> && b == B(-1)) ? V(0) : V(V(a) % V(b));
    else return ops::in_float([](const auto& x, const auto& y) { return math::fmod(x, y); }, V(a), V(b));
  }
  template <class A, class B, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const B& b, const Y& y) {
    return grads{unit{}, ops::minus(whole_quotient(a, b, y))};
  }
};
/// x - floor(x / y) y, the sign of y (NumPy's %): d/dx = 1, d/dy = -floor(x / y). Integer remainder by zero gives 0.
struct remainder_op : of_reals<arithmetic<2>> {
  static constexpr const char* name = "remainder";
  static constexpr unsigned reads(int operand) { return operand == 0 ? 0u : 7u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = ops::wider_t<A, B>;
    const V r = fmod_op::primal(V(a), V(b)), zero(lane_t<V>(0)), y(static_cast<V>(b));
    if constexpr (requires { floored_remainder(r, y); }) return floored_remainder(r, y);
    else {
      const V whole = ops::pick((r != zero) && ((r < zero) != (y < zero)), V(ops::plus(r, y)), r);
      if constexpr (ops::is_whole_v<V>) return whole;
      else return ops::pick(r == zero, V(copysign_op::primal(zero, y)), whole);  // zeros have the sign of y too
    }
  }
  template <class A, class B, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const B& b, const Y& y) {
    return grads{unit{}, ops::minus(fmod_op::whole_quotient(a, b, y))};
  }
};

TTENSOR_HD_END
