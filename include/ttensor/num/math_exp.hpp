// exp, tanh, sigmoid.
//
// exp(x) = 2^n exp(r) with n = round(x / ln 2), |r| <= ln(2)/2, and exp(r) = 1 + r + r^2 P(r), P by tests/num/fit_math.py (of doubles in device_math.hpp).
// tanh(x) = E / (E + 2) with E = expm1(2|x|) = 2^n (exp(r) - 1) + (2^n - 1), which keeps full relative accuracy near 0.
/// Domain    all; exp overflows to inf above 709.78 (float 88.72) and underflows gradually to 0 below -745.13 (-103.97); NaN stays NaN
/// Accuracy  max ulp, float / double: exp 1.1 / 1.1, tanh 2.6 / 2.7, sigmoid 2.4 / 2.3, on every instruction set; measured by tests/ops/accuracy_test.cpp
#pragma once
#include "device_math.hpp"
#include "math_core.hpp"

TTENSOR_BEGIN
namespace math {
namespace detail {

template <class T> struct exp_constants;
template <> struct exp_constants<double> {
  static constexpr double log2e = exp_of_double::log2e;
#if TTENSOR_HAS_FMA
  static constexpr double ln2_hi = exp_of_double::ln2_hi, ln2_lo = exp_of_double::ln2_lo;
#else
  static constexpr double ln2_hi = 0x1.62e42fefa3000p-1, ln2_lo = 0x1.3de6af278ece6p-42;
#endif
  static constexpr double lowest = -746.0, highest = 710.0;  // exp is 0 below and inf above
  // Adding `shift` rounds to an integer and leaves integer + twice the exponent bias in the low bits.
  static constexpr double shift = 0x1.8p52 + 2046.0, shift_one = 0x1.8p52 + 1023.0;
  static constexpr int mantissa = 52;
  static constexpr std::int64_t exponent_mask = 0x7ff0000000000000;
  static constexpr double tanh_one = 20.0;  // tanh rounds to 1 from here on
};
template <> struct exp_constants<float> {
  static constexpr float log2e = 0x1.715476p+0f;
#if TTENSOR_HAS_FMA
  static constexpr float ln2_hi = 0x1.62e43p-1f, ln2_lo = -0x1.05c610p-29f;
#else
  static constexpr float ln2_hi = 0x1.62e4p-1f, ln2_lo = 0x1.7f7d1cp-20f;
#endif
  static constexpr float lowest = -104.5f, highest = 89.0f;
  static constexpr float shift = 0x1.8p23f + 254.0f, shift_one = 0x1.8p23f + 127.0f;
  static constexpr int mantissa = 23;
  static constexpr std::int32_t exponent_mask = 0x7f800000;
  static constexpr float tanh_one = 9.25f;
};

// exp(r) - 1 for |r| <= ln(2)/2. Pairs of terms (Estrin) halve the chain of dependent operations.
template <class V>
TTENSOR_INLINE V expm1_reduced(V r) {
  const V r2 = r * r;
  if constexpr (sizeof(lane_t<V>) == 8) {
    const V r4 = r2 * r2;
    using C = exp_of_double;
    const V p01 = fma(V(C::p1), r, V(C::p0)), p23 = fma(V(C::p3), r, V(C::p2)), p45 = fma(V(C::p5), r, V(C::p4));
    const V p67 = fma(V(C::p7), r, V(C::p6)), p89 = fma(V(C::p9), r, V(C::p8));
    const V low = fma(p23, r2, p01);
    const V high = fma(p89, r4, fma(p67, r2, p45));
    return fma(fma(high, r4, low), r2, r);
  } else {
    const V p01 = fma(V(0x1.555490p-3f), r, V(0x1.fffffcp-2f));
    const V p23 = fma(V(0x1.123a6cp-7f), r, V(0x1.5558f4p-5f));
    return fma(fma(fma(V(0x1.6a237ep-10f), r2, p23), r2, p01), r2, r);
  }
}

// p * 2^n for the integer n = shifted - shift; one rounding, also into the subnormal range.
template <class V>
TTENSOR_INLINE V scale_by_power(V p, V shifted, V n) {
  using C = exp_constants<lane_t<V>>;
#if TTENSOR_HAS_REGISTERS && TTENSOR_SIMD_BYTES == 64
  if constexpr (sizeof(V) == 64) { p.r[0] = simd::scale(p.r[0], n.r[0]); return p; }
  else
#endif
  {
    (void)n;  // n = a + b, both far from the ends of the exponent range: p * 2^a is exact, the second product rounds
    const auto twice = to_bits(shifted);
    const auto a = shl<C::mantissa - 1>(twice) & bits_t<V>(C::exponent_mask);
    const auto b = sub_bits(shl<C::mantissa>(twice), a);
    return rounded(p * from_bits(a) * from_bits(b));
  }
}

template <class V>
TTENSOR_INLINE V exp_kernel(V x) {
  using C = exp_constants<lane_t<V>>;
  const V limited = min_raw(V(C::highest), max_raw(V(C::lowest), x));  // NaN passes
  const V shifted = fma(limited, V(C::log2e), V(C::shift));
  const V n = shifted - V(C::shift);
  const V r = fma(n, V(-C::ln2_lo), fma(n, V(-C::ln2_hi), limited));
  return scale_by_power(V(1) + expm1_reduced(r), shifted, n);
}

template <class V>
TTENSOR_INLINE V tanh_kernel(V x) {
  using C = exp_constants<lane_t<V>>;
  const auto sign = to_bits(x) & bits_t<V>(sign_mask<V>);
  const V a = min_raw(V(C::tanh_one), abs_kernel(x));
  const V y = a + a;
  const V shifted = fma(y, V(C::log2e), V(C::shift_one));
  const V n = shifted - V(C::shift_one);
  const V r = fma(n, V(-C::ln2_lo), fma(n, V(-C::ln2_hi), y));
  const V power = from_bits(shl<C::mantissa>(to_bits(shifted)));
  const V e = fma(expm1_reduced(r), power, power - V(1));
  return from_bits(to_bits(e / (e + V(2))) | sign);
}

// 1 / (1 + exp(-x)), from exp(-|x|) so that neither side overflows or loses the small tail.
template <class V>
TTENSOR_INLINE V sigmoid_kernel(V x) {
  const V e = exp_kernel(from_bits(to_bits(x) | bits_t<V>(sign_mask<V>)));
  return select(x < V(0), e, V(1)) / (V(1) + e);
}

}  // namespace detail

#if TTENSOR_DEVICE_PASS
#define TTENSOR_MATH_SCALAR(name, device_float, device_double)                                              \
  TTENSOR_HD TTENSOR_INLINE float name(float x) { return device_float; }                                    \
  TTENSOR_HD TTENSOR_INLINE double name(double x) { return device_double; }
#else
#define TTENSOR_MATH_SCALAR(name, device_float, device_double)                                              \
  TTENSOR_HD TTENSOR_INLINE float name(float x) { return detail::name##_kernel(x); }                        \
  TTENSOR_HD TTENSOR_INLINE double name(double x) { return detail::name##_kernel(x); }
#endif
#define TTENSOR_MATH_UNARY(name, device_float, device_double)                                               \
  TTENSOR_MATH_SCALAR(name, device_float, device_double)                                                    \
  template <class T, int N> TTENSOR_INLINE pack<T, N> name(pack<T, N> x) {                                  \
    static_assert(detail::has_kernels<T>, "ttensor: this function has a form for float, double, half, bfloat16 and complex numbers"); \
    if constexpr (detail::has_kernels<T>) {                                                                 \
      TTENSOR_UNROLL for (int i = 0; i < pack<T, N>::count; ++i)                                            \
        detail::set_part(x, i, detail::name##_kernel(detail::part(x, i)));                                  \
    }                                                                                                       \
    return x;                                                                                               \
  }                                                                                                         \
  TTENSOR_MATH_DEVICE_1(name)

TTENSOR_MATH_UNARY(exp, ::expf(x), ::exp(x))
#if TTENSOR_DEVICE_PASS
template <int N> TTENSOR_HD TTENSOR_INLINE device_pack<double, N> exp(const device_pack<double, N>& x) { return detail::exp_of_device(x); }
#endif
TTENSOR_MATH_UNARY(tanh, ::tanhf(x), ::tanh(x))
TTENSOR_MATH_UNARY(sigmoid, (x < 0 ? ::expf(-::fabsf(x)) : 1.0f) / (1.0f + ::expf(-::fabsf(x))), (x < 0 ? ::exp(-::fabs(x)) : 1.0) / (1.0 + ::exp(-::fabs(x))))

}  // namespace math
TTENSOR_END
