// What the compiler's vector types lack, from x86 intrinsics: SSE2 up to AVX-512.
#pragma once
#include "simd_types.hpp"

#if TTENSOR_HAS_REGISTERS && defined(__SSE2__)

#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE4_1__)
#include <smmintrin.h>
#else
#include <emmintrin.h>
#endif

TTENSOR_BEGIN
namespace simd {

#if TTENSOR_SIMD_BYTES == 64
#define TTENSOR_X86(name) _mm512_##name
#elif TTENSOR_SIMD_BYTES == 32
#define TTENSOR_X86(name) _mm256_##name
#else
#define TTENSOR_X86(name) _mm_##name
#endif
#if TTENSOR_SIMD_BYTES == 64  // zero-masked with a full mask: the same instruction, but GCC 12 warns of its own undefined operand in the plain form
#define TTENSOR_X86_PS(name, ...) _mm512_maskz_##name##_ps(__mmask16(-1), __VA_ARGS__)
#define TTENSOR_X86_PD(name, ...) _mm512_maskz_##name##_pd(__mmask8(-1), __VA_ARGS__)
#else
#define TTENSOR_X86_PS(name, ...) TTENSOR_X86(name##_ps)(__VA_ARGS__)
#define TTENSOR_X86_PD(name, ...) TTENSOR_X86(name##_pd)(__VA_ARGS__)
#endif
#define TTENSOR_BOTH_1(function, name)                                                                \
  TTENSOR_INLINE vec<float> function(vec<float> a) { return (vec<float>)TTENSOR_X86_PS(name, a); }    \
  TTENSOR_INLINE vec<double> function(vec<double> a) { return (vec<double>)TTENSOR_X86_PD(name, a); }
#define TTENSOR_BOTH_2(function, name)                                                                                  \
  TTENSOR_INLINE vec<float> function(vec<float> a, vec<float> b) { return (vec<float>)TTENSOR_X86_PS(name, a, b); }     \
  TTENSOR_INLINE vec<double> function(vec<double> a, vec<double> b) { return (vec<double>)TTENSOR_X86_PD(name, a, b); }

TTENSOR_BOTH_1(sqrt, sqrt)
// a < b ? a : b and a > b ? a : b to the letter: b where either is NaN.
TTENSOR_BOTH_2(min_raw, min)
TTENSOR_BOTH_2(max_raw, max)

#if TTENSOR_HAS_FMA
TTENSOR_INLINE vec<float> fma(vec<float> a, vec<float> b, vec<float> c) { return (vec<float>)TTENSOR_X86(fmadd_ps)(a, b, c); }
TTENSOR_INLINE vec<double> fma(vec<double> a, vec<double> b, vec<double> c) { return (vec<double>)TTENSOR_X86(fmadd_pd)(a, b, c); }
#else
TTENSOR_INLINE vec<float> fma(vec<float> a, vec<float> b, vec<float> c) { return a * b + c; }
TTENSOR_INLINE vec<double> fma(vec<double> a, vec<double> b, vec<double> c) { return a * b + c; }
#endif

#if defined(__SSE4_1__)
#define TTENSOR_BOTH_ROUND(function, op, mode)                                                                                 \
  TTENSOR_INLINE vec<float> function(vec<float> a) { return (vec<float>)TTENSOR_X86_PS(op, a, mode | _MM_FROUND_NO_EXC); }     \
  TTENSOR_INLINE vec<double> function(vec<double> a) { return (vec<double>)TTENSOR_X86_PD(op, a, mode | _MM_FROUND_NO_EXC); }
#if TTENSOR_SIMD_BYTES == 64
TTENSOR_BOTH_ROUND(floor, roundscale, _MM_FROUND_TO_NEG_INF)
TTENSOR_BOTH_ROUND(ceil, roundscale, _MM_FROUND_TO_POS_INF)
TTENSOR_BOTH_ROUND(trunc, roundscale, _MM_FROUND_TO_ZERO)
TTENSOR_BOTH_ROUND(nearbyint, roundscale, _MM_FROUND_TO_NEAREST_INT)
#else
TTENSOR_BOTH_ROUND(floor, round, _MM_FROUND_TO_NEG_INF)
TTENSOR_BOTH_ROUND(ceil, round, _MM_FROUND_TO_POS_INF)
TTENSOR_BOTH_ROUND(trunc, round, _MM_FROUND_TO_ZERO)
TTENSOR_BOTH_ROUND(nearbyint, round, _MM_FROUND_TO_NEAREST_INT)
#endif
#undef TTENSOR_BOTH_ROUND
#else
// Numbers below `big` have no fraction left where `big` is added, and halves have gone to even. The sign is that of a, of -0 and of what becomes -0 too.
#define TTENSOR_ROUND_BY_ADDING(T, I, big, top)                                                        \
  TTENSOR_INLINE vec<T> nearest(vec<T> magnitude) {                                                    \
    const vec<I> whole = (vec<I>)(magnitude < vec<T>{} + T(big));                                      \
    return (vec<T>)(((vec<I>)(magnitude + T(big) - T(big)) & whole) | ((vec<I>)magnitude & ~whole));   \
  }                                                                                                    \
  TTENSOR_INLINE vec<T> one_where(vec<I> m) { return (vec<T>)(m & (vec<I>)(vec<T>{} + T(1))); }        \
  TTENSOR_INLINE vec<T> nearbyint(vec<T> a) {                                                          \
    const vec<I> sign = (vec<I>)a & (vec<I>{} + I(top));                                               \
    return (vec<T>)((vec<I>)nearest((vec<T>)((vec<I>)a ^ sign)) | sign);                               \
  }                                                                                                    \
  TTENSOR_INLINE vec<T> trunc(vec<T> a) {                                                              \
    const vec<I> sign = (vec<I>)a & (vec<I>{} + I(top));                                               \
    const vec<T> m = (vec<T>)((vec<I>)a ^ sign), n = nearest(m);                                       \
    return (vec<T>)((vec<I>)(n - one_where((vec<I>)(n > m))) | sign);                                  \
  }                                                                                                    \
  TTENSOR_INLINE vec<T> floor(vec<T> a) {                                                              \
    const vec<T> n = nearbyint(a);                                                                     \
    return (vec<T>)((vec<I>)(n - one_where((vec<I>)(n > a))) | ((vec<I>)a & (vec<I>{} + I(top))));     \
  }                                                                                                    \
  TTENSOR_INLINE vec<T> ceil(vec<T> a) {                                                               \
    const vec<T> n = nearbyint(a);                                                                     \
    return (vec<T>)((vec<I>)(n + one_where((vec<I>)(n < a))) | ((vec<I>)a & (vec<I>{} + I(top))));     \
  }
TTENSOR_ROUND_BY_ADDING(float, std::int32_t, 0x1p23f, 0x80000000)
TTENSOR_ROUND_BY_ADDING(double, std::int64_t, 0x1p52, 0x8000000000000000)
#undef TTENSOR_ROUND_BY_ADDING
#endif

#if TTENSOR_SIMD_BYTES == 64

// Ordered and quiet, except not-equal, which is true of NaN.
#define TTENSOR_COMPARE(function, predicate, integer)                                                           \
  TTENSOR_INLINE mask<4> function(vec<float> a, vec<float> b) { return _mm512_cmp_ps_mask(a, b, predicate); }   \
  TTENSOR_INLINE mask<8> function(vec<double> a, vec<double> b) { return _mm512_cmp_pd_mask(a, b, predicate); } \
  TTENSOR_INLINE mask<4> function(vec<std::int32_t> a, vec<std::int32_t> b) {                                   \
    return _mm512_cmp_epi32_mask((__m512i)a, (__m512i)b, integer);                                              \
  }                                                                                                             \
  TTENSOR_INLINE mask<8> function(vec<std::int64_t> a, vec<std::int64_t> b) {                                   \
    return _mm512_cmp_epi64_mask((__m512i)a, (__m512i)b, integer);                                              \
  }
TTENSOR_COMPARE(eq, _CMP_EQ_OQ, _MM_CMPINT_EQ)
TTENSOR_COMPARE(ne, _CMP_NEQ_UQ, _MM_CMPINT_NE)
TTENSOR_COMPARE(lt, _CMP_LT_OQ, _MM_CMPINT_LT)
TTENSOR_COMPARE(le, _CMP_LE_OQ, _MM_CMPINT_LE)
#undef TTENSOR_COMPARE
TTENSOR_INLINE vec<float> select(mask<4> m, vec<float> a, vec<float> b) { return (vec<float>)_mm512_mask_blend_ps(m, b, a); }
TTENSOR_INLINE vec<double> select(mask<8> m, vec<double> a, vec<double> b) { return (vec<double>)_mm512_mask_blend_pd(m, b, a); }
TTENSOR_INLINE vec<std::int32_t> select(mask<4> m, vec<std::int32_t> a, vec<std::int32_t> b) {
  return (vec<std::int32_t>)_mm512_mask_blend_epi32(m, (__m512i)b, (__m512i)a);
}
TTENSOR_INLINE vec<std::int64_t> select(mask<8> m, vec<std::int64_t> a, vec<std::int64_t> b) {
  return (vec<std::int64_t>)_mm512_mask_blend_epi64(m, (__m512i)b, (__m512i)a);
}
TTENSOR_INLINE bool all(mask<4> m) { return m == 0xffff; }
TTENSOR_INLINE bool all(mask<8> m) { return m == 0xff; }
TTENSOR_INLINE bool any(mask<4> m) { return m != 0; }
TTENSOR_INLINE bool any(mask<8> m) { return m != 0; }

// p * 2^n with one rounding; and x = m 2^e with 3/4 <= m < 3/2 (m is NaN for x < 0; e is -inf and inf for x = +0 and inf).
TTENSOR_BOTH_2(scale, scalef)
TTENSOR_BOTH_1(exponent, getexp)
TTENSOR_INLINE vec<float> mantissa(vec<float> x) {
  return (vec<float>)TTENSOR_X86_PS(getmant, x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
}
TTENSOR_INLINE vec<double> mantissa(vec<double> x) {
  return (vec<double>)TTENSOR_X86_PD(getmant, x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
}

#else

template <class V> TTENSOR_INLINE auto eq(V a, V b) { return a == b; }
template <class V> TTENSOR_INLINE auto ne(V a, V b) { return a != b; }
template <class V> TTENSOR_INLINE auto lt(V a, V b) { return a < b; }
template <class V> TTENSOR_INLINE auto le(V a, V b) { return a <= b; }
#if !defined(__SSE4_1__)
// Instructions, not comparisons of the language: of these g++ 12 makes conditional expressions of 64-bit lanes, which SSE2 has not, and
// takes them apart.
#define TTENSOR_COMPARE(function, name)                                                                                          \
  TTENSOR_INLINE mask<4> function(vec<float> a, vec<float> b) { return (mask<4>)_mm_##name##_ps((__m128)a, (__m128)b); }          \
  TTENSOR_INLINE mask<8> function(vec<double> a, vec<double> b) { return (mask<8>)_mm_##name##_pd((__m128d)a, (__m128d)b); }
TTENSOR_COMPARE(eq, cmpeq)
TTENSOR_COMPARE(ne, cmpneq)
TTENSOR_COMPARE(lt, cmplt)
TTENSOR_COMPARE(le, cmple)
#undef TTENSOR_COMPARE
#endif
#if defined(__SSE4_1__)
TTENSOR_INLINE vec<float> select(mask<4> m, vec<float> a, vec<float> b) { return (vec<float>)TTENSOR_X86(blendv_ps)(b, a, (vec<float>)m); }
TTENSOR_INLINE vec<double> select(mask<8> m, vec<double> a, vec<double> b) {
  return (vec<double>)TTENSOR_X86(blendv_pd)(b, a, (vec<double>)m);
}
TTENSOR_INLINE vec<std::int32_t> select(mask<4> m, vec<std::int32_t> a, vec<std::int32_t> b) {
  return (vec<std::int32_t>)select(m, (vec<float>)a, (vec<float>)b);
}
TTENSOR_INLINE vec<std::int64_t> select(mask<8> m, vec<std::int64_t> a, vec<std::int64_t> b) {
  return (vec<std::int64_t>)select(m, (vec<double>)a, (vec<double>)b);
}
#else
// An intrinsic for one half: GCC 12 makes a conditional expression of the whole otherwise, and has no instructions for one whose comparison is in another block
// (internal compiler error in gimple_expand_vec_cond_expr).
template <class M, class V> TTENSOR_INLINE V select(M m, V a, V b) { return (V)((m & (M)a) | (M)_mm_andnot_pd((__m128d)m, (__m128d)b)); }
#endif
TTENSOR_INLINE bool all(mask<4> m) { return TTENSOR_X86(movemask_ps)((vec<float>)m) == (1 << (TTENSOR_SIMD_BYTES / 4)) - 1; }
TTENSOR_INLINE bool all(mask<8> m) { return TTENSOR_X86(movemask_pd)((vec<double>)m) == (1 << (TTENSOR_SIMD_BYTES / 8)) - 1; }
TTENSOR_INLINE bool any(mask<4> m) { return TTENSOR_X86(movemask_ps)((vec<float>)m) != 0; }
TTENSOR_INLINE bool any(mask<8> m) { return TTENSOR_X86(movemask_pd)((vec<double>)m) != 0; }

#endif

// Half a register of 32-bit lanes to doubles: GCC 12 splits the language's own conversion in two.
#if TTENSOR_SIMD_BYTES == 64
TTENSOR_INLINE vec<double> widen(vec<float, 32> x) { return (vec<double>)_mm512_maskz_cvtps_pd(__mmask8(-1), x); }
TTENSOR_INLINE vec<double> widen(vec<std::int32_t, 32> x) { return (vec<double>)_mm512_maskz_cvtepi32_pd(__mmask8(-1), (__m256i)x); }
#elif TTENSOR_SIMD_BYTES == 32
TTENSOR_INLINE vec<double> widen(vec<float, 16> x) { return (vec<double>)_mm256_cvtps_pd(x); }
TTENSOR_INLINE vec<double> widen(vec<std::int32_t, 16> x) { return (vec<double>)_mm256_cvtepi32_pd((__m128i)x); }
#else
template <class V> TTENSOR_INLINE vec<double> widen(V x) { return __builtin_convertvector(x, vec<double>); }
#endif

// x, unseen by the optimiser: GCC 12 turns load, int8 -> int32, -> float into one conversion that it then does lane by lane.
template <class V> TTENSOR_INLINE V opaque(V x) {
#if !defined(__clang__)
  __asm__("" : "+v"(x));
#endif
  return x;
}

// A mask as bytes 0 and 1.
#if TTENSOR_SIMD_BYTES == 64
TTENSOR_INLINE void store_mask(mask<4> m, bool* p) {
  const auto bytes = (vec<std::int8_t>)_mm512_maskz_set1_epi8(m, 1);
  __builtin_memcpy(p, &bytes, 16);
}
TTENSOR_INLINE void store_mask(mask<8> m, bool* p) {
  const auto bytes = (vec<std::int8_t>)_mm512_maskz_set1_epi8(m, 1);
  __builtin_memcpy(p, &bytes, 8);
}
#else
TTENSOR_INLINE void store_mask(mask<4> m, bool* p) {
  __m128i part[TTENSOR_SIMD_BYTES / 16];
  __builtin_memcpy(part, &m, sizeof(part));
  const __m128i lanes = _mm_packs_epi32(part[0], part[TTENSOR_SIMD_BYTES / 16 - 1]);
  const __m128i bytes = _mm_and_si128(_mm_packs_epi16(lanes, lanes), _mm_set1_epi8(1));
  __builtin_memcpy(p, &bytes, TTENSOR_SIMD_BYTES / 4);
}
TTENSOR_INLINE void store_mask(mask<8> m, bool* p) {
  for (int i = 0; i < TTENSOR_SIMD_BYTES / 8; ++i) p[i] = m[i] != 0;
}
#endif

// 16-bit patterns of half <-> float: to nearest even, NaN quieted, as half.hpp does it.
#if TTENSOR_SIMD_BYTES == 64
#define TTENSOR_HAS_HALF_REGISTERS 1
TTENSOR_INLINE vec<float> load_half(const void* p) {
  return (vec<float>)_mm512_maskz_cvtph_ps(__mmask16(-1), _mm256_loadu_si256((const __m256i*)p));
}
TTENSOR_INLINE void store_half(vec<float> x, void* p) {
  _mm256_storeu_si256((__m256i*)p,
                      _mm512_maskz_cvtps_ph(__mmask16(-1), x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif TTENSOR_SIMD_BYTES == 32 && defined(__F16C__)
#define TTENSOR_HAS_HALF_REGISTERS 1
TTENSOR_INLINE vec<float> load_half(const void* p) { return (vec<float>)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p)); }
TTENSOR_INLINE void store_half(vec<float> x, void* p) { _mm_storeu_si128((__m128i*)p, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT)); }
#else
#define TTENSOR_HAS_HALF_REGISTERS 0
#endif

// Past the caches; p aligned to the register.
template <class V>
TTENSOR_INLINE void stream(V x, void* p) {
#if TTENSOR_SIMD_BYTES == 64
  _mm512_stream_si512((__m512i*)p, (__m512i)x);
#elif TTENSOR_SIMD_BYTES == 32
  _mm256_stream_si256((__m256i*)p, (__m256i)x);
#else
  _mm_stream_si128((__m128i*)p, (__m128i)x);
#endif
}
TTENSOR_INLINE void stream_fence() { _mm_sfence(); }

#undef TTENSOR_BOTH_1
#undef TTENSOR_BOTH_2
#undef TTENSOR_X86_PS
#undef TTENSOR_X86_PD
#undef TTENSOR_X86

}  // namespace simd
TTENSOR_END

#endif
