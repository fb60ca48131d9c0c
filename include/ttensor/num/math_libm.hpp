// The functions that still go to the C library, lane by lane; scalars take the same call, so bits agree.
#pragma once
#include "math_trig.hpp"

TTENSOR_BEGIN
namespace math {

#define TTENSOR_MATH_LIBM_1(name)                                                              \
  TTENSOR_HD TTENSOR_INLINE float name(float x) { return __builtin_##name##f(x); }             \
  TTENSOR_HD TTENSOR_INLINE double name(double x) { return __builtin_##name(x); }              \
  template <class T, int N> TTENSOR_INLINE pack<T, N> name(pack<T, N> x) {                     \
    T lane[N];                                                                                 \
    x.store(lane);                                                                             \
    for (int i = 0; i < N; ++i) lane[i] = math::name(lane[i]);                                 \
    return pack<T, N>::load(lane);                                                             \
  }                                                                                            \
  TTENSOR_MATH_DEVICE_1(name)
#define TTENSOR_MATH_LIBM_2(name)                                                              \
  TTENSOR_HD TTENSOR_INLINE float name(float x, float y) { return __builtin_##name##f(x, y); } \
  TTENSOR_HD TTENSOR_INLINE double name(double x, double y) { return __builtin_##name(x, y); } \
  template <class T, int N> TTENSOR_INLINE pack<T, N> name(pack<T, N> x, pack<T, N> y) {       \
    T a[N], b[N];                                                                              \
    x.store(a);                                                                                \
    y.store(b);                                                                                \
    for (int i = 0; i < N; ++i) a[i] = math::name(a[i], b[i]);                                 \
    return pack<T, N>::load(a);                                                                \
  }                                                                                            \
  TTENSOR_MATH_DEVICE_2(name)
TTENSOR_MATH_LIBM_1(asinh)
TTENSOR_MATH_LIBM_1(acosh)
TTENSOR_MATH_LIBM_1(atanh)
TTENSOR_MATH_LIBM_1(cbrt)
TTENSOR_MATH_LIBM_2(hypot)
TTENSOR_MATH_LIBM_2(fmod)
TTENSOR_MATH_LIBM_2(copysign)
#undef TTENSOR_MATH_LIBM_1
#undef TTENSOR_MATH_LIBM_2

/// 1 / sqrt(x), correctly rounded twice.
TTENSOR_HD TTENSOR_INLINE float rsqrt(float x) { return 1.0f / math::sqrt(x); }
TTENSOR_HD TTENSOR_INLINE double rsqrt(double x) { return 1.0 / math::sqrt(x); }
template <class T, int N> TTENSOR_INLINE pack<T, N> rsqrt(pack<T, N> x) { return pack<T, N>(T(1)) / math::sqrt(x); }
TTENSOR_MATH_DEVICE_1(rsqrt)

}  // namespace math
TTENSOR_END
