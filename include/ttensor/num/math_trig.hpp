// sin, cos.
//
// |x| = n pi + r, |r| <= pi/2, pi in three parts so that r keeps full relative accuracy; sin(x) = (-1)^n sin(r) with ONE odd
// polynomial on [-pi/2, pi/2] (no second polynomial, no blend by quadrant). cos uses half-integer n: it costs the same, so
// sin and cos together cost about what a shared reduction with two polynomials each would.
// |x| > 1e5 (and inf) leaves for libm, lane by lane; a scalar takes the same road.
/// Domain    all; NaN at +-inf; sin(-0) = -0
/// Accuracy  max ulp, float / double, |x| <= 1e5 (without FMA: float 8192): 1.8 / 2.0 (without FMA 2.4 / 2.2); beyond: 0.6, libm's
///           (float: libm's double function, rounded); measured by tests/ops/accuracy_test.cpp
#pragma once
#include "device_math.hpp"
#include "math_exp.hpp"

TTENSOR_BEGIN
namespace math {
namespace detail {

template <class T> struct trig_constants;
template <> struct trig_constants<double> {
  static constexpr double inv_pi = 0x1.45f306dc9c883p-2, shift = 0x1.8p52, limit = 1e5;
};
template <> struct trig_constants<float> {
#if TTENSOR_HAS_FMA
  static constexpr float inv_pi = 0x1.45f306p-2f, shift = 0x1.8p23f, limit = 1e5f;
#else
  static constexpr float inv_pi = 0x1.45f306p-2f, shift = 0x1.8p23f, limit = 8192.0f;  // n must fit the zero bits of the parts of pi
#endif
};

// a - n pi, for n an integer or half-integer up to 2^15.
template <class V>
TTENSOR_INLINE V minus_pi_times(V a, V n) {
  if constexpr (sizeof(lane_t<V>) == 8) {
#if TTENSOR_HAS_FMA
    a = fma(n, V(-0x1.921fb54442d18p+1), a);
    a = fma(n, V(-0x1.1a62633145c07p-53), a);
    return fma(n, V(0x1.f1976b7ed8fbcp-109), a);
#else
    a = a - n * V(0x1.921fb54440000p+1);
    a = a - n * V(0x1.68c234c4c0000p-38);
    return a - n * V(0x1.98a2e03707345p-76);
#endif
  } else {
#if TTENSOR_HAS_FMA
    a = fma(n, V(-0x1.921fb6p+1f), a);
    a = fma(n, V(0x1.777a5cp-24f), a);
    return fma(n, V(0x1.ee59dap-49f), a);
#else
    a = a - n * V(0x1.92p+1f);
    a = a - n * V(0x1.fbp-11f);
    a = a - n * V(0x1.51p-21f);
    a = a - n * V(0x1.0bp-33f);
    return a - n * V(0x1.184698p-43f);
#endif
  }
}

// sin(r) for |r| <= pi/2.
template <class V>
TTENSOR_INLINE V sin_reduced(V r) {
  const V z = r * r;
  V p;
  if constexpr (sizeof(lane_t<V>) == 8) {
    const V w = z * z;
    const V p01 = fma(V(0x1.11111111110c0p-7), z, V(-0x1.5555555555555p-3));
    const V p23 = fma(V(0x1.71de3a5280357p-19), z, V(-0x1.a01a01a0147a9p-13));
    const V p45 = fma(V(0x1.6123ca3f3213cp-33), z, V(-0x1.ae6454c7c9ec3p-26));
    const V p67 = fma(V(0x1.8822f64789bf5p-49), z, V(-0x1.ae42df72732a8p-41));
    p = fma(fma(fma(p67, w, p45), w, p23), w, p01);
  } else {
#if TTENSOR_HAS_FMA
    p = fma(V(0x1.5db3a2p-19f), z, V(-0x1.9f6f4ep-13f));
    p = fma(p, z, V(0x1.110ed0p-7f));
    p = fma(p, z, V(-0x1.55554cp-3f));
#else  // found by trial: with these each step's rounding leaves sin(pi/2), which is cos(0), at 1
    p = fma(V(0x1.5db1c2p-19f), z, V(-0x1.9f6efep-13f));
    p = fma(p, z, V(0x1.110ee0p-7f));
    p = fma(p, z, V(-0x1.55554ep-3f));
#endif
  }
  return fma(r * p, z, r);  // this order rounds least near pi/2
}

TTENSOR_NOINLINE inline double sin_far(double x) { return __builtin_sin(x); }
TTENSOR_NOINLINE inline double cos_far(double x) { return __builtin_cos(x); }
TTENSOR_NOINLINE inline float sin_far(float x) { return float(__builtin_sin(double(x))); }
TTENSOR_NOINLINE inline float cos_far(float x) { return float(__builtin_cos(double(x))); }
template <class T, int N>
TTENSOR_NOINLINE pack<T, N> sin_far(pack<T, N> x) {
  T lane[N];
  x.store(lane);
  for (int i = 0; i < N; ++i) lane[i] = sin_far(lane[i]);
  return pack<T, N>::load(lane);
}
template <class T, int N>
TTENSOR_NOINLINE pack<T, N> cos_far(pack<T, N> x) {
  T lane[N];
  x.store(lane);
  for (int i = 0; i < N; ++i) lane[i] = cos_far(lane[i]);
  return pack<T, N>::load(lane);
}

template <class V>
TTENSOR_INLINE V sin_kernel(V x) {
  using C = trig_constants<lane_t<V>>;
  const V a = abs_kernel(x);
  const V shifted = fma(a, V(C::inv_pi), V(C::shift));
  const V r = minus_pi_times(a, shifted - V(C::shift));
  const auto odd = shl<8 * sizeof(lane_t<V>) - 1>(to_bits(shifted));
  const V y = from_bits(to_bits(sin_reduced(r)) ^ odd ^ (to_bits(x) & bits_t<V>(sign_mask<V>)));
  const auto far = a > V(C::limit);
  if (TTENSOR_UNLIKELY(any_lane(far))) return select(far, sin_far(x), y);
  return y;
}

template <class V>
TTENSOR_INLINE V cos_kernel(V x) {
  using C = trig_constants<lane_t<V>>;
  const V a = abs_kernel(x);
  const V shifted = fma(a, V(C::inv_pi), V(-0.5f)) + V(C::shift);
  const V r = minus_pi_times(a, (shifted - V(C::shift)) + V(0.5f));
  const auto odd = shl<8 * sizeof(lane_t<V>) - 1>(to_bits(shifted));
  const V y = from_bits(to_bits(sin_reduced(-r)) ^ odd);  // cos((k + 1/2) pi + r) = (-1)^k sin(-r)
  const auto far = a > V(C::limit);
  if (TTENSOR_UNLIKELY(any_lane(far))) return select(far, cos_far(x), y);
  return y;
}

}  // namespace detail

TTENSOR_MATH_UNARY(sin, ::sinf(x), ::sin(x))
TTENSOR_MATH_UNARY(cos, ::cosf(x), ::cos(x))

/// An angle whose sine and cosine are known: rules that ask for either are given it.
template <class T, int N> struct device_angle {
  device_pack<T, N> sine, cosine;
  device_angle() = default;
  TTENSOR_HD TTENSOR_INLINE explicit device_angle(const device_pack<T, N>& x) {
#if TTENSOR_DEVICE_PASS
    detail::sin_and_cos(x, sine, cosine);
#else
    sine = sin(x), cosine = cos(x);
#endif
  }
};
template <class T, int N> TTENSOR_HD TTENSOR_INLINE device_pack<T, N> sin(const device_angle<T, N>& a) { return a.sine; }
template <class T, int N> TTENSOR_HD TTENSOR_INLINE device_pack<T, N> cos(const device_angle<T, N>& a) { return a.cosine; }

}  // namespace math
TTENSOR_END
