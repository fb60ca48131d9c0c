// The instruction set that a file is compiled for: TTENSOR_ISA, its name, and TTENSOR_SIMD_BYTES, the width of a register.
//
// The compiler may use every set that the file is given, in any inline function. So the name tells all of them: `avx512` has all of x86-64-v4,
// `avx2` all of v3; a small letter stands for a set more, a capital for one of these that is missing (`avx2F`: without fused multiply-add).
#pragma once

// nvcc refuses the compiler's vector types in host/device templates, and the operator rules are such. Host loops in a .cu
// file therefore run on plain packs; they belong in a file of the C++ compiler.
#if defined(__CUDACC__) && !defined(TTENSOR_NO_SIMD)
#define TTENSOR_NO_SIMD
#endif

#define TTENSOR_CAT_(a, b) a##b
#define TTENSOR_CAT(a, b) TTENSOR_CAT_(a, b)
#define TTENSOR_CAT8_(a, b, c, d, e, f, g, h) a##b##c##d##e##f##g##h
#define TTENSOR_CAT8(a, b, c, d, e, f, g, h) TTENSOR_CAT8_(a, b, c, d, e, f, g, h)
// TTENSOR_IF_1(macro, a, b): a where the compiler defines the macro as 1 (or 3), else b.
#define TTENSOR_BEFORE_1 ~,
#define TTENSOR_BEFORE_3 ~,  // __ARM_FEATURE_RCPC of RCPC3
#define TTENSOR_SECOND_(a, b, ...) b
#define TTENSOR_SECOND(...) TTENSOR_SECOND_(__VA_ARGS__)
#define TTENSOR_IF_1(macro, a, b) TTENSOR_SECOND(TTENSOR_CAT(TTENSOR_BEFORE_, macro) a, b, ~)
#define TTENSOR_MORE(macro, small, capital) TTENSOR_IF_1(macro, small, )
#define TTENSOR_LESS(macro, small, capital) TTENSOR_IF_1(macro, , capital)

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
#define TTENSOR_ISA_NAME avx512
#define TTENSOR_ISA_BYTES 64
#define TTENSOR_ISA_LEVEL 4
#define TTENSOR_V4 TTENSOR_LESS
#define TTENSOR_V3 TTENSOR_LESS
#define TTENSOR_V2 TTENSOR_LESS
#elif defined(__AVX2__)
#define TTENSOR_ISA_NAME avx2
#define TTENSOR_ISA_BYTES 32
#define TTENSOR_ISA_LEVEL 3
#define TTENSOR_V4 TTENSOR_MORE
#define TTENSOR_V3 TTENSOR_LESS
#define TTENSOR_V2 TTENSOR_LESS
#elif defined(__AVX__)
#define TTENSOR_ISA_NAME avx
#define TTENSOR_ISA_BYTES 32
#define TTENSOR_ISA_LEVEL 2
#define TTENSOR_V4 TTENSOR_MORE
#define TTENSOR_V3 TTENSOR_MORE
#define TTENSOR_V2 TTENSOR_LESS
#elif defined(__SSE4_2__)
#define TTENSOR_ISA_NAME sse42
#define TTENSOR_ISA_BYTES 16
#define TTENSOR_ISA_LEVEL 2
#define TTENSOR_V4 TTENSOR_MORE
#define TTENSOR_V3 TTENSOR_MORE
#define TTENSOR_V2 TTENSOR_LESS
#else
#if defined(__SSE2__)
#define TTENSOR_ISA_NAME sse2
#elif defined(__aarch64__)  // NEON of 32-bit processors has no doubles
#define TTENSOR_ISA_NAME neon64
#else
#define TTENSOR_ISA_NAME generic
#endif
#define TTENSOR_ISA_BYTES 16
#define TTENSOR_ISA_LEVEL 1
#define TTENSOR_V4 TTENSOR_MORE
#define TTENSOR_V3 TTENSOR_MORE
#define TTENSOR_V2 TTENSOR_MORE
#endif

// Every header opens the namespace and expands its name again, so letters that would say nothing are left out as a group (0.2 billion instructions of the compiler).
#if TTENSOR_ISA_LEVEL >= 2 ? defined(__SSE3__) && defined(__SSSE3__) && defined(__SSE4_1__) && defined(__POPCNT__) \
                           : !(defined(__SSE3__) || defined(__SSSE3__) || defined(__SSE4_1__) || defined(__POPCNT__))
#define TTENSOR_ISA_2 TTENSOR_ISA_NAME
#else
#define TTENSOR_ISA_2 TTENSOR_CAT8(TTENSOR_ISA_NAME, TTENSOR_V2(__SSE3__, s, S), TTENSOR_V2(__SSSE3__, t, T), TTENSOR_V2(__SSE4_1__, u, U), TTENSOR_V2(__POPCNT__, p, P), , , )
#endif
#if TTENSOR_ISA_LEVEL >= 3 ? defined(__F16C__) && defined(__FMA__) && defined(__LZCNT__) && defined(__BMI__) &&   \
                                 defined(__BMI2__) && defined(__MOVBE__)                                          \
                           : !(defined(__F16C__) || defined(__FMA__) || defined(__LZCNT__) || defined(__BMI__) || \
                               defined(__BMI2__) || defined(__MOVBE__))
#define TTENSOR_ISA_3 TTENSOR_ISA_2
#else
#define TTENSOR_ISA_3 TTENSOR_CAT8(TTENSOR_ISA_2, TTENSOR_V3(__F16C__, h, H), TTENSOR_V3(__FMA__, f, F), TTENSOR_V3(__LZCNT__, l, L), TTENSOR_V3(__BMI__, b, B), TTENSOR_V3(__BMI2__, c, C), TTENSOR_V3(__MOVBE__, m, M), )
#endif
#if TTENSOR_ISA_LEVEL >= 4 ? defined(__AVX512VL__) && defined(__AVX512CD__)                              \
                           : !(defined(__AVX512VL__) || defined(__AVX512CD__) || defined(__AVX512F__) || \
                               defined(__AVX512DQ__) || defined(__AVX512BW__))
#define TTENSOR_ISA_4 TTENSOR_ISA_3
#else
#define TTENSOR_ISA_4 TTENSOR_CAT8(TTENSOR_ISA_3, TTENSOR_V4(__AVX512VL__, k, K), TTENSOR_V4(__AVX512CD__, d, D), TTENSOR_V4(__AVX512F__, 5, ), TTENSOR_V4(__AVX512DQ__, 6, ), TTENSOR_V4(__AVX512BW__, 7, ), , )
#endif
#if defined(__AVX512IFMA__) || defined(__AVX512VNNI__) || defined(__AVX512VBMI__) || defined(__AVX512VBMI2__) || defined(__AVX512BITALG__) || defined(__AVX512VPOPCNTDQ__) || defined(__AVX512BF16__)
#define TTENSOR_ISA_5 TTENSOR_CAT8(TTENSOR_ISA_4, TTENSOR_MORE(__AVX512IFMA__, i, ), TTENSOR_MORE(__AVX512VNNI__, n, ), TTENSOR_MORE(__AVX512VBMI__, o, ), TTENSOR_MORE(__AVX512VBMI2__, e, ), TTENSOR_MORE(__AVX512BITALG__, a, ), TTENSOR_MORE(__AVX512VPOPCNTDQ__, q, ), TTENSOR_MORE(__AVX512BF16__, j, ))
#else
#define TTENSOR_ISA_5 TTENSOR_ISA_4
#endif
#if defined(__AVX512FP16__) || defined(__AVXVNNI__) || defined(__GFNI__) || defined(__APX_F__) || defined(__AVXVNNIINT8__) || defined(__AVXNECONVERT__) || defined(__AVXIFMA__)
#define TTENSOR_ISA_6 TTENSOR_CAT8(TTENSOR_ISA_5, TTENSOR_MORE(__AVX512FP16__, r, ), TTENSOR_MORE(__AVXVNNI__, v, ), TTENSOR_MORE(__GFNI__, w, ), TTENSOR_MORE(__APX_F__, z, ), TTENSOR_MORE(__AVXVNNIINT8__, 9, ), TTENSOR_MORE(__AVXNECONVERT__, 0, ), TTENSOR_MORE(__AVXIFMA__, 1, ))
#else
#define TTENSOR_ISA_6 TTENSOR_ISA_5
#endif
#if defined(__XOP__) || defined(__TBM__) || defined(__FMA4__) || defined(__SSE4A__)
#define TTENSOR_ISA_7 TTENSOR_CAT8(TTENSOR_ISA_6, TTENSOR_MORE(__XOP__, x, ), TTENSOR_MORE(__TBM__, y, ), TTENSOR_MORE(__FMA4__, g, ), TTENSOR_MORE(__SSE4A__, 8, ), , , )
#elif defined(__ARM_ARCH)
#define TTENSOR_ISA_ARM TTENSOR_CAT8(TTENSOR_ISA_6, TTENSOR_MORE(__ARM_FEATURE_ATOMICS, a, ), TTENSOR_MORE(__ARM_FEATURE_SVE, v, ), TTENSOR_MORE(__ARM_FEATURE_SVE2, w, ), TTENSOR_MORE(__ARM_FEATURE_DOTPROD, d, ), TTENSOR_MORE(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC, h, ), TTENSOR_MORE(__ARM_FEATURE_BF16, b, ), TTENSOR_MORE(__ARM_FEATURE_CRC32, c, ))
#define TTENSOR_ISA_7 TTENSOR_CAT8(TTENSOR_ISA_ARM, TTENSOR_MORE(__ARM_FEATURE_MATMUL_INT8, i, ), TTENSOR_MORE(__ARM_FEATURE_RCPC, r, ), TTENSOR_MORE(__ARM_FEATURE_MOPS, p, ), TTENSOR_MORE(__ARM_FEATURE_COMPLEX, x, ), , , )
#else
#define TTENSOR_ISA_7 TTENSOR_ISA_6
#endif

// Plain packs hold one double, two floats; the compiler may still use what the file is given.
#if defined(TTENSOR_NO_SIMD)
#define TTENSOR_ISA TTENSOR_CAT(scalar_, TTENSOR_ISA_7)
#define TTENSOR_SIMD_BYTES 8
#elif defined(TTENSOR_USE_XSIMD)
#define TTENSOR_ISA TTENSOR_CAT(xsimd_, TTENSOR_ISA_7)
#define TTENSOR_SIMD_BYTES TTENSOR_ISA_BYTES
#else
#define TTENSOR_ISA TTENSOR_ISA_7
#define TTENSOR_SIMD_BYTES TTENSOR_ISA_BYTES
#endif
