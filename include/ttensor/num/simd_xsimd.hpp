// What the compiler's vector types lack, through xsimd 8.1 to 14: every instruction set that simd_x86.hpp does not know.
#pragma once
#include "simd_types.hpp"

#if TTENSOR_HAS_REGISTERS && (!defined(__SSE2__) || defined(TTENSOR_USE_XSIMD))  // included alone on x86: nothing

#if !__has_include(<xsimd/xsimd.hpp>)
#error "ttensor: xsimd is missing: install it (Debian: libxsimd-dev; conda, vcpkg: xsimd), or define TTENSOR_NO_SIMD for a plain scalar build"
#endif
#include <xsimd/xsimd.hpp>

TTENSOR_BEGIN
namespace simd {

template <class T>
using batch = xsimd::make_sized_batch_t<T, TTENSOR_SIMD_BYTES / sizeof(T)>;
template <class T>
using batch_mask = typename batch<T>::batch_bool_type;
template <class T> TTENSOR_INLINE batch<T> as_batch(vec<T> x) { return batch<T>((typename batch<T>::register_type)x); }
template <class T> TTENSOR_INLINE vec<T> from_batch(batch<T> x) { return (vec<T>)(typename batch<T>::register_type)x; }
template <class T> TTENSOR_INLINE batch_mask<T> as_batch_mask(mask<sizeof(T)> m) {
  return batch_mask<T>((typename batch_mask<T>::register_type)m);
}
template <class T> TTENSOR_INLINE mask<sizeof(T)> from_batch_mask(batch_mask<T> m) {
  return (mask<sizeof(T)>)(typename batch_mask<T>::register_type)m;
}

#define TTENSOR_COMPARE(function, op, T) \
  TTENSOR_INLINE mask<sizeof(T)> function(vec<T> a, vec<T> b) { return from_batch_mask<T>(as_batch<T>(a) op as_batch<T>(b)); }
#define TTENSOR_FOR_ELEMENT(T)                                                                    \
  TTENSOR_COMPARE(eq, ==, T)                                                                      \
  TTENSOR_INLINE mask<sizeof(T)> ne(vec<T> a, vec<T> b) { return (mask<sizeof(T)>)~eq(a, b); } /* xsimd 8.1, AVX-512: NaN != NaN is false */ \
  TTENSOR_COMPARE(lt, <, T)                                                                       \
  TTENSOR_COMPARE(le, <=, T)                                                                      \
  TTENSOR_INLINE vec<T> select(mask<sizeof(T)> m, vec<T> a, vec<T> b) {                           \
    return from_batch<T>(xsimd::select(as_batch_mask<T>(m), as_batch<T>(a), as_batch<T>(b)));     \
  }
#define TTENSOR_FOR_FLOATING(T)                                                                   \
  TTENSOR_FOR_ELEMENT(T)                                                                          \
  TTENSOR_INLINE vec<T> min_raw(vec<T> a, vec<T> b) { return select(lt(a, b), a, b); }            \
  TTENSOR_INLINE vec<T> max_raw(vec<T> a, vec<T> b) { return select(lt(b, a), a, b); }
TTENSOR_FOR_FLOATING(float)
TTENSOR_FOR_FLOATING(double)
TTENSOR_FOR_ELEMENT(std::int32_t)
TTENSOR_FOR_ELEMENT(std::int64_t)
#undef TTENSOR_FOR_FLOATING
#undef TTENSOR_FOR_ELEMENT
#undef TTENSOR_COMPARE

#if defined(__aarch64__)  // not xsimd's: its square root of floats is an estimate (1.6 ulp, NaN at inf), its floor(-0) is +0
#define TTENSOR_BOTH(function, name)                                                                          \
  TTENSOR_INLINE vec<float> function(vec<float> a) { return (vec<float>)v##name##q_f32((float32x4_t)a); }     \
  TTENSOR_INLINE vec<double> function(vec<double> a) { return (vec<double>)v##name##q_f64((float64x2_t)a); }
TTENSOR_BOTH(sqrt, sqrt)
TTENSOR_BOTH(floor, rndm)
TTENSOR_BOTH(ceil, rndp)
TTENSOR_BOTH(trunc, rnd)
TTENSOR_BOTH(nearbyint, rndn)
#else
TTENSOR_INLINE vec<float> sqrt(vec<float> a) { return from_batch<float>(xsimd::sqrt(as_batch<float>(a))); }
TTENSOR_INLINE vec<double> sqrt(vec<double> a) { return from_batch<double>(xsimd::sqrt(as_batch<double>(a))); }
#define TTENSOR_SIGNED(function, T)                                                                             \
  TTENSOR_INLINE vec<T> function(vec<T> a) { return from_batch<T>(xsimd::copysign(xsimd::function(as_batch<T>(a)), as_batch<T>(a))); }  // SSE2: +0 of -0
TTENSOR_SIGNED(floor, float)
TTENSOR_SIGNED(floor, double)
TTENSOR_SIGNED(ceil, float)
TTENSOR_SIGNED(ceil, double)
TTENSOR_SIGNED(trunc, float)
TTENSOR_SIGNED(trunc, double)
TTENSOR_SIGNED(nearbyint, float)
TTENSOR_SIGNED(nearbyint, double)
#endif
#undef TTENSOR_SIGNED
#undef TTENSOR_BOTH

#if TTENSOR_HAS_FMA && TTENSOR_SIMD_BYTES == 64  // not xsimd::fma: xsimd 8.1 multiplies and adds here
TTENSOR_INLINE vec<float> fma(vec<float> a, vec<float> b, vec<float> c) { return (vec<float>)_mm512_fmadd_ps(a, b, c); }
TTENSOR_INLINE vec<double> fma(vec<double> a, vec<double> b, vec<double> c) { return (vec<double>)_mm512_fmadd_pd(a, b, c); }
#elif TTENSOR_HAS_FMA
TTENSOR_INLINE vec<float> fma(vec<float> a, vec<float> b, vec<float> c) {
  return from_batch<float>(xsimd::fma(as_batch<float>(a), as_batch<float>(b), as_batch<float>(c)));
}
TTENSOR_INLINE vec<double> fma(vec<double> a, vec<double> b, vec<double> c) {
  return from_batch<double>(xsimd::fma(as_batch<double>(a), as_batch<double>(b), as_batch<double>(c)));
}
#else
TTENSOR_INLINE vec<float> fma(vec<float> a, vec<float> b, vec<float> c) { return a * b + c; }
TTENSOR_INLINE vec<double> fma(vec<double> a, vec<double> b, vec<double> c) { return a * b + c; }
#endif

#if TTENSOR_SIMD_BYTES == 64
TTENSOR_INLINE bool all(mask<4> m) { return m == 0xffff; }
TTENSOR_INLINE bool all(mask<8> m) { return m == 0xff; }
TTENSOR_INLINE bool any(mask<4> m) { return m != 0; }
TTENSOR_INLINE bool any(mask<8> m) { return m != 0; }
TTENSOR_INLINE vec<float> scale(vec<float> p, vec<float> n) { return (vec<float>)_mm512_maskz_scalef_ps(__mmask16(-1), p, n); }
TTENSOR_INLINE vec<double> scale(vec<double> p, vec<double> n) { return (vec<double>)_mm512_maskz_scalef_pd(__mmask8(-1), p, n); }
TTENSOR_INLINE vec<float> mantissa(vec<float> x) {
  return (vec<float>)_mm512_maskz_getmant_ps(__mmask16(-1), x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
}
TTENSOR_INLINE vec<double> mantissa(vec<double> x) {
  return (vec<double>)_mm512_maskz_getmant_pd(__mmask8(-1), x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
}
TTENSOR_INLINE vec<float> exponent(vec<float> x) { return (vec<float>)_mm512_maskz_getexp_ps(__mmask16(-1), x); }
TTENSOR_INLINE vec<double> exponent(vec<double> x) { return (vec<double>)_mm512_maskz_getexp_pd(__mmask8(-1), x); }
#else
TTENSOR_INLINE bool all(mask<4> m) { return xsimd::all(as_batch_mask<float>(m)); }
TTENSOR_INLINE bool all(mask<8> m) { return xsimd::all(as_batch_mask<double>(m)); }
TTENSOR_INLINE bool any(mask<4> m) { return xsimd::any(as_batch_mask<float>(m)); }
TTENSOR_INLINE bool any(mask<8> m) { return xsimd::any(as_batch_mask<double>(m)); }
#endif

template <class V> TTENSOR_INLINE V opaque(V x) { return x; }
template <class V> TTENSOR_INLINE vec<double> widen(V x) { return __builtin_convertvector(x, vec<double>); }
template <class M> TTENSOR_INLINE void store_mask(M m, bool* p) {
  for (int i = 0; i < TTENSOR_SIMD_BYTES / (__is_same(M, mask<4>) ? 4 : 8); ++i) p[i] = mask_lane(m, i);
}
#define TTENSOR_HAS_HALF_REGISTERS 0

template <class V> TTENSOR_INLINE void stream(V x, void* p) { __builtin_memcpy(p, &x, sizeof(x)); }
TTENSOR_INLINE void stream_fence() {}

}  // namespace simd
TTENSOR_END

#endif
