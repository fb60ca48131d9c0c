// atan, atan2, asin, acos, tan.
//
// atan(y / x) for y, x >= 0 is b + atan(t) with b = 0, pi/4 or pi/2 and |t| <= tan(pi/8): t = y/x, (y - x)/(y + x) or -x/y;
// atan(t) = t + t^3 P(t^2). asin(x) = s + s^3 Q(s^2) for |x| <= 1/2, else pi/2 - 2 asin(s) with s = sqrt((1 - |x|) / 2).
// tan = sin / cos.
/// Accuracy  max ulp, float / double: atan 1.9 / 1.7, atan2 2.0 / 1.9, asin 2.4 / 2.4, acos 1.2 / 1.2, tan 3.5 / 3.7 (|x| <= 1e5; without FMA
///           4.2 / 3.5); measured by tests/ops/accuracy_test.cpp
#pragma once
#include "math_trig.hpp"

TTENSOR_BEGIN
namespace math {
namespace detail {

template <class T> struct atan_constants;
template <> struct atan_constants<double> {
  static constexpr double half_pi = 0x1.921fb54442d18p+0, half_pi_lo = 0x1.1a62633145c07p-54;
  static constexpr double tan_pi_8 = 0x1.a827999fcef32p-2, tan_3pi_8 = 0x1.3504f333f9de6p+1;
  static constexpr double largest = 1e300, smallest = 1e-290;
  static constexpr double atan[] = {-0x1.555555555553dp-2, 0x1.99999999958dbp-3,  -0x1.24924922b0b97p-3,
                                    0x1.c71c70e7786fdp-4,  -0x1.745cf9063d0bbp-4, 0x1.3b111c0b3dbf9p-4,
                                    -0x1.10ebd989fc7ffp-4, 0x1.df112a8f1f453p-5,  -0x1.9cdb0d9a55b53p-5,
                                    0x1.37ea65968453bp-5,  -0x1.2596e7705adf2p-6};
  static constexpr double asin[] = {0x1.5555555555384p-3, 0x1.333333336fdd1p-4,  0x1.6db6db419bbc4p-5,
                                    0x1.f1c72c7fd6bbep-6, 0x1.6e89edb3ac61dp-6,  0x1.1c6c43093c9d7p-6,
                                    0x1.c6f658932f4d7p-7, 0x1.8ef2face582e8p-7,  0x1.aa35b1e437b60p-8,
                                    0x1.41096aab0713ep-6, -0x1.0b803fde7fd54p-6, 0x1.05fed1c1acdabp-5};
};
template <> struct atan_constants<float> {
  static constexpr float half_pi = 0x1.921fb6p+0f, half_pi_lo = -0x1.777a5cp-25f;
  static constexpr float tan_pi_8 = 0x1.a8279ap-2f, tan_3pi_8 = 0x1.3504f4p+1f;
  static constexpr float largest = 1e37f, smallest = 1e-30f;
  static constexpr float atan[] = {-0x1.55554ap-2f, 0x1.9991acp-3f, -0x1.23b6acp-3f, 0x1.b2014ep-4f, -0x1.f2518ap-5f};
  static constexpr float asin[] = {0x1.5555cap-3f, 0x1.330136p-4f, 0x1.748f02p-5f, 0x1.8b86a2p-6f, 0x1.59f3dcp-5f};
};

// atan(y / x) in [0, pi/2] for y, x >= 0, not both zero or infinite.
template <class V>
TTENSOR_INLINE V atan_ratio(V y, V x) {
  using T = lane_t<V>;
  using C = atan_constants<T>;
  const auto low = y < V(C::tan_pi_8) * x, high = y > V(C::tan_3pi_8) * x;
  const V t = select(low, y, select(high, -x, y - x)) / select(low, x, select(high, y, y + x));
  const V base = select(low, V(0), select(high, V(C::half_pi), V(C::half_pi / 2)));
  const V base_lo = select(low, V(0), select(high, V(C::half_pi_lo), V(C::half_pi_lo / 2)));
  const V z = t * t;
  return base + (t + fma(t * polynomial(z, C::atan), z, base_lo));
}

template <class V>
TTENSOR_INLINE V atan_kernel(V x) {
  const V r = atan_ratio(abs_kernel(x), V(1));
  return from_bits(to_bits(r) | (to_bits(x) & bits_t<V>(sign_mask<V>)));
}

TTENSOR_INLINE float atan2_libm(float y, float x) { return __builtin_atan2f(y, x); }
TTENSOR_INLINE double atan2_libm(double y, double x) { return __builtin_atan2(y, x); }
template <class T, int N>
TTENSOR_NOINLINE pack<T, N> atan2_libm(pack<T, N> y, pack<T, N> x) {
  T a[N], b[N];
  y.store(a);
  x.store(b);
  for (int i = 0; i < N; ++i) a[i] = atan2_libm(a[i], b[i]);
  return pack<T, N>::load(a);
}

template <class V>
TTENSOR_INLINE V atan2_kernel(V y, V x) {
  using C = atan_constants<lane_t<V>>;
  const V ay = abs_kernel(y), ax = abs_kernel(x);
  const V r = atan_ratio(ay, ax);
  const V turned = V(2 * C::half_pi) - (r - V(2 * C::half_pi_lo));
  const V angle = from_bits(to_bits(select(x < V(0), turned, r)) | (to_bits(y) & bits_t<V>(sign_mask<V>)));
  const V top = max_raw(ay, ax);
  const auto usual = (top < V(C::largest)) & (top > V(C::smallest)) & (y == y) & (ax > V(0));
  if (TTENSOR_UNLIKELY(!all_lanes(usual))) return select(usual, angle, atan2_libm(y, x));  // zeros, ends of the range, NaN
  return angle;
}

// s + s^3 Q(s^2): asin(|x|) itself up to 1/2, half of pi/2 - asin(|x|) beyond.
template <class V>
TTENSOR_INLINE V asin_part(V a) {
  using C = atan_constants<lane_t<V>>;
  const auto far = a > V(0.5f);
  const V z = select(far, fma(V(-0.5f), a, V(0.5f)), a * a);
  const V s = select(far, math::sqrt(z), a);
  return fma(s * polynomial(z, C::asin), z, s);
}

template <class V>
TTENSOR_INLINE V asin_kernel(V x) {
  using C = atan_constants<lane_t<V>>;
  const V a = abs_kernel(x);
  const V p = asin_part(a);
  const V far = V(C::half_pi) - (fma(V(2), p, V(-C::half_pi_lo)));
  return from_bits(to_bits(select(a > V(0.5f), far, p)) | (to_bits(x) & bits_t<V>(sign_mask<V>)));
}

template <class V>
TTENSOR_INLINE V acos_kernel(V x) {
  using C = atan_constants<lane_t<V>>;
  const V a = abs_kernel(x);
  const V p = asin_part(a);
  const V signed_p = from_bits(to_bits(p) | (to_bits(x) & bits_t<V>(sign_mask<V>)));
  const V near = V(C::half_pi) - (signed_p - V(C::half_pi_lo));
  const V far = select(x < V(0), V(2 * C::half_pi) - fma(V(2), p, V(-2 * C::half_pi_lo)), rounded(p + p));
  return select(a > V(0.5f), far, near);
}

template <class V> TTENSOR_INLINE V tan_kernel(V x) { return sin_kernel(x) / cos_kernel(x); }

}  // namespace detail

TTENSOR_MATH_UNARY(tan, ::tanf(x), ::tan(x))
TTENSOR_MATH_UNARY(atan, ::atanf(x), ::atan(x))
TTENSOR_MATH_UNARY(asin, ::asinf(x), ::asin(x))
TTENSOR_MATH_UNARY(acos, ::acosf(x), ::acos(x))

#if TTENSOR_DEVICE_PASS
TTENSOR_HD TTENSOR_INLINE float atan2(float y, float x) { return ::atan2f(y, x); }
TTENSOR_HD TTENSOR_INLINE double atan2(double y, double x) { return ::atan2(y, x); }
#else
TTENSOR_HD TTENSOR_INLINE float atan2(float y, float x) { return detail::atan2_kernel(y, x); }
TTENSOR_HD TTENSOR_INLINE double atan2(double y, double x) { return detail::atan2_kernel(y, x); }
#endif
/// The angle of the point (x, y), in (-pi, pi].
template <class T, int N> TTENSOR_INLINE pack<T, N> atan2(pack<T, N> y, pack<T, N> x) {
  TTENSOR_UNROLL for (int i = 0; i < pack<T, N>::count; ++i)
      detail::set_part(y, i, detail::atan2_kernel(detail::part(y, i), detail::part(x, i)));
  return y;
}
TTENSOR_MATH_DEVICE_2(atan2)

}  // namespace math
TTENSOR_END
