// log.
//
// x = 2^e m, 3/4 <= m < 3/2, f = m - 1. float: log(1+f) = f - f^2/2 + f^3 P(f).
// double: with s = f / (2 + f), log(1+f) = 2s + s^3 R(s^2) = f - (f^2/2 - s (f^2/2 + s^2 R(s^2))).
#pragma once
#include "math_exp.hpp"

TTENSOR_BEGIN
namespace math {
namespace detail {

template <class T> struct log_constants;
template <> struct log_constants<double> {
  static constexpr std::int64_t three_quarters = 0x3fe8000000000000, one = 0x3ff0000000000000, mantissa_mask = 0xfffffffffffff;
  static constexpr int mantissa = 52;
  static constexpr double bias = 1023, smallest = 0x1p-1022, rescale = 0x1p54, rescale_log2 = 54;
  static constexpr double ln2_hi = 0x1.62e42fefa3800p-1, ln2_lo = 0x1.ef35793c76730p-45;  // hi has 42 bits: e * hi is exact
};
template <> struct log_constants<float> {
  static constexpr std::int32_t three_quarters = 0x3f400000, one = 0x3f800000, mantissa_mask = 0x7fffff;
  static constexpr int mantissa = 23;
  static constexpr float bias = 127, smallest = 0x1p-126f, rescale = 0x1p25f, rescale_log2 = 25;
  static constexpr float ln2_hi = 0x1.62e4p-1f, ln2_lo = 0x1.7f7d1cp-20f;
};

// Non-negative small integer to floating point: or it into the mantissa of 2^mantissa, subtract that.
TTENSOR_INLINE float count_to_float(std::int32_t k) { return from_bits(std::int32_t(k | 0x4b000000)) - 0x1p23f; }
TTENSOR_INLINE double count_to_float(std::int64_t k) { return from_bits(std::int64_t(k | 0x4330000000000000)) - 0x1p52; }
template <int N> TTENSOR_INLINE pack<float, N> count_to_float(pack<std::int32_t, N> k) { return from_bits(k | pack<std::int32_t, N>(0x4b000000)) - pack<float, N>(0x1p23f); }
template <int N> TTENSOR_INLINE pack<double, N> count_to_float(pack<std::int64_t, N> k) { return from_bits(k | pack<std::int64_t, N>(0x4330000000000000)) - pack<double, N>(0x1p52); }

// e ln 2 + log(1 + f).
template <class V>
TTENSOR_INLINE V log_sum(V e, V f) {
  using C = log_constants<lane_t<V>>;
  const V half_f = V(0.5f) * f;
  V low;
  if constexpr (sizeof(lane_t<V>) == 8) {
    const V s = f / (V(2) + f);
    const V z = s * s, w = z * z;
    const V odd = fma(fma(V(0x1.38529afe71594p-3), w, V(0x1.c71c015097eb8p-3)), w, V(0x1.99999998f0937p-2));
    const V even = fma(fma(fma(V(0x1.3abff020a73e7p-3), w, V(0x1.7474e5ce8c7dcp-3)), w, V(0x1.249249b242414p-2)), w, V(0x1.5555555555777p-1));
    const V rest = fma(z, fma(odd, z, even), half_f * f);
    low = fma(half_f, f, -fma(s, rest, e * V(C::ln2_lo)));
  } else {
    const V f2 = f * f, f4 = f2 * f2;
    const V p01 = fma(V(-0x1.000082p-2f), f, V(0x1.5555a2p-2f));
    const V p23 = fma(V(-0x1.54dd26p-3f), f, V(0x1.996ae4p-3f));
    const V p45 = fma(V(-0x1.0e1146p-3f), f, V(0x1.284c70p-3f));
    const V p67 = fma(V(-0x1.7a3416p-5f), f, V(0x1.b17862p-4f));
    const V p = fma(fma(p67, f2, p45), f4, fma(p23, f2, p01));
    low = fma(half_f, f, -fma(f * f2, p, e * V(C::ln2_lo)));
  }
  return fma(e, V(C::ln2_hi), f - low);
}

// A normal x: the bits above those of 3/4 split into exponent and mantissa.
template <class V>
TTENSOR_INLINE V log_normal(V x, V bias) {
  using I = bits_t<V>;
  using C = log_constants<lane_t<V>>;
  const I shifted = add_bits(to_bits(x), I(C::one - C::three_quarters));
  const V e = count_to_float(shr<C::mantissa>(shifted)) - bias;
  return log_sum(e, from_bits((shifted & I(C::mantissa_mask)) + I(C::three_quarters)) - V(1));
}

// Some lane is zero, negative, subnormal, infinite or NaN.
template <class V>
TTENSOR_NOINLINE V log_rare(V x) {
  using T = lane_t<V>;
  using C = log_constants<T>;
  const auto tiny = x < V(C::smallest);
  const V result = log_normal(select(tiny, x * V(C::rescale), x), select(tiny, V(C::bias + C::rescale_log2), V(C::bias)));
  const V inf = V(std::numeric_limits<T>::infinity());
  const V positive = select(x < inf, result, x);  // +inf and NaN stay
  return select(x <= V(0), select(x < V(0), V(std::numeric_limits<T>::quiet_NaN()), -inf), positive);
}

template <class V>
TTENSOR_INLINE V log_kernel(V x) {
  using T = lane_t<V>;
#if TTENSOR_HAS_REGISTERS && TTENSOR_SIMD_BYTES == 64
  if constexpr (sizeof(V) == 64) {
    const V y = x + V(0);  // -0 becomes +0
    V m, e;
    m.r[0] = simd::mantissa(y.r[0]);
    e.r[0] = simd::exponent(y.r[0]) - simd::exponent(m.r[0]);
    return log_sum(e, m - V(1));
  } else
#endif
  {
    const auto normal = (x >= V(log_constants<T>::smallest)) & (x < V(std::numeric_limits<T>::infinity()));
    if (TTENSOR_UNLIKELY(!all_lanes(normal))) return log_rare(x);
    return log_normal(x, V(log_constants<T>::bias));
  }
}

}  // namespace detail

TTENSOR_MATH_UNARY(log, ::logf(x), ::log(x))

}  // namespace math
TTENSOR_END
