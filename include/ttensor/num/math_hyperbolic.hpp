// expm1, sinh, cosh, exp2.
//
// With exp(x) = 2^n exp(r) and q = exp(r) - 1 (math_exp.hpp): a quarter of expm1(x) is 2^(n-2) q + (2^(n-2) - 1/4), which
// neither cancels near 0 nor overflows before the result does. E = expm1(|x|): sinh = (E + E / (E + 1)) / 2.
// exp2(x) = 2^n exp((x - n) ln 2), n = round(x).
/// Accuracy  max ulp, float / double: expm1 1.6 / 2.2, sinh 2.4 / 2.5, cosh 1.5 / 1.5, exp2 1.2 / 1.2; measured by tests/ops/accuracy_test.cpp
#pragma once
#include "math_exp.hpp"

TTENSOR_BEGIN
namespace math {
namespace detail {

template <class V>
struct quarter_exp {
  V q, power;  // exp(x) / 4 = power + power q
};

template <class V>
TTENSOR_INLINE quarter_exp<V> exp_quarter(V limited) {
  using C = exp_constants<lane_t<V>>;
  const V shifted = fma(limited, V(C::log2e), V(C::shift_one - 2));
  const V n = shifted - V(C::shift_one - 2);
  const V r = fma(n, V(-C::ln2_lo), fma(n, V(-C::ln2_hi), limited));
  return {expm1_reduced(r), from_bits(shl<C::mantissa>(to_bits(shifted)))};
}

template <class V>
TTENSOR_INLINE V expm1_kernel(V x) {
  using T = lane_t<V>;
  constexpr T lowest = sizeof(T) == 8 ? T(-40) : T(-20), highest = sizeof(T) == 8 ? T(710.6) : T(89.6),
              tiny = sizeof(T) == 8 ? T(1e-18) : T(1e-9);
  const auto e = exp_quarter(min_raw(V(highest), max_raw(V(lowest), x)));
  const V y = rounded(V(4) * fma(e.q, e.power, e.power - V(0.25f)));
  return select(abs_kernel(x) < V(tiny), x, y);  // a quarter of a subnormal would lose bits
}

template <class V>
TTENSOR_INLINE V sinh_kernel(V x) {
  using T = lane_t<V>;
  constexpr T highest = sizeof(T) == 8 ? T(710.6) : T(89.6), tiny = sizeof(T) == 8 ? T(1e-10) : T(1e-5);
  const V a = abs_kernel(x);
  const auto e = exp_quarter(min_raw(V(highest), a));
  const V quarter = fma(e.q, e.power, e.power - V(0.25f));
  const V y = V(2) * (quarter + quarter / fma(V(4), quarter, V(1)));
  return select(a < V(tiny), x, from_bits(to_bits(y) | (to_bits(x) & bits_t<V>(sign_mask<V>))));
}

template <class V>
TTENSOR_INLINE V cosh_kernel(V x) {
  constexpr lane_t<V> highest = sizeof(lane_t<V>) == 8 ? lane_t<V>(710.6) : lane_t<V>(89.6);
  const auto e = exp_quarter(min_raw(V(highest), abs_kernel(x)));
  const V quarter = fma(e.q, e.power, e.power);
  return rounded(V(2) * (quarter + V(0.0625f) / quarter));
}

template <class V>
TTENSOR_INLINE V exp2_kernel(V x) {
  using T = lane_t<V>;
  using C = exp_constants<T>;
  constexpr T lowest = sizeof(T) == 8 ? T(-1076) : T(-151), highest = sizeof(T) == 8 ? T(1025) : T(129);
  const V limited = min_raw(V(highest), max_raw(V(lowest), x));
  const V shifted = limited + V(C::shift);
  const V n = shifted - V(C::shift);
  const V f = limited - n;
  const V r = fma(f, V(C::ln2_hi), f * V(C::ln2_lo));
  return scale_by_power(V(1) + expm1_reduced(r), shifted, n);
}

}  // namespace detail

TTENSOR_MATH_UNARY(expm1, ::expm1f(x), ::expm1(x))
TTENSOR_MATH_UNARY(sinh, ::sinhf(x), ::sinh(x))
TTENSOR_MATH_UNARY(cosh, ::coshf(x), ::cosh(x))
TTENSOR_MATH_UNARY(exp2, ::exp2f(x), ::exp2(x))

}  // namespace math
TTENSOR_END
