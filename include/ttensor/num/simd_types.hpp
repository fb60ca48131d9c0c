// The types under simd.hpp: a register of T as a vector type of the compiler, the masks that go with it, and what needs no
// instruction of its own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../base/config.hpp"

#if !defined(TTENSOR_NO_SIMD) && (defined(__SSE2__) || defined(__aarch64__))
#define TTENSOR_HAS_REGISTERS 1
#else
#define TTENSOR_HAS_REGISTERS 0
#endif

// 1 where a fused multiply-add is one instruction: every kernel then uses it explicitly, so nothing is left to contract.
#if defined(__FMA__) || defined(__aarch64__)  // g++'s -mavx512f alone is without
#define TTENSOR_HAS_FMA 1
#else
#define TTENSOR_HAS_FMA 0
#endif

TTENSOR_BEGIN

/// Lanes of T in one register. TTENSOR_NO_SIMD: one double, two floats: 8 bytes, a general-purpose register.
template <class T>
inline constexpr int native_width_v = TTENSOR_SIMD_BYTES / sizeof(T) > 0 ? int(TTENSOR_SIMD_BYTES / sizeof(T)) : 1;

namespace simd {

template <class T>
inline constexpr bool has_register = false;
#if TTENSOR_HAS_REGISTERS
template <> inline constexpr bool has_register<float> = true;
template <> inline constexpr bool has_register<double> = true;
template <> inline constexpr bool has_register<std::int32_t> = true;
template <> inline constexpr bool has_register<std::int64_t> = true;
#endif

template <class T, int Bytes>
struct vector_of {
  typedef T type __attribute__((vector_size(Bytes)));
};
template <class T, int Bytes = TTENSOR_SIMD_BYTES>
using vec = typename vector_of<T, Bytes>::type;

#if TTENSOR_HAS_REGISTERS

// Masks. AVX-512: bits. Elsewhere: lanes of all ones or zeros, as wide as the elements compared.
#if TTENSOR_SIMD_BYTES == 64
template <int LaneBytes> struct mask_of { using type = std::uint16_t; };
template <> struct mask_of<8> { using type = std::uint8_t; };
#else
template <int LaneBytes> struct mask_of { using type = vec<std::int32_t>; };
template <> struct mask_of<8> { using type = vec<std::int64_t>; };
#endif
template <int LaneBytes>
using mask = typename mask_of<LaneBytes>::type;

// Two masks of 64-bit lanes <-> one of 32-bit lanes; one lane; all lanes from a bool or from bools.
#if TTENSOR_SIMD_BYTES == 64
TTENSOR_INLINE std::uint16_t join(std::uint8_t lo, std::uint8_t hi) { return std::uint16_t(lo | (hi << 8)); }
TTENSOR_INLINE std::uint8_t low_half(std::uint16_t m) { return std::uint8_t(m); }
TTENSOR_INLINE std::uint8_t high_half(std::uint16_t m) { return std::uint8_t(m >> 8); }
template <class M> TTENSOR_INLINE bool mask_lane(M m, int i) { return (m >> i) & 1; }
template <class M> TTENSOR_INLINE M mask_splat(bool b) { return b ? M(-1) : M(0); }
template <class M> TTENSOR_INLINE M mask_from_bools(const bool* b) {
  // Eight 0/1 bytes to eight bits: the product moves byte i's bit to bit 56 + i.
  M m = 0;
  for (int i = 0; i < int(sizeof(M)); ++i) {
    std::uint64_t bytes;
    __builtin_memcpy(&bytes, b + 8 * i, 8);
    m = M(m | ((bytes * 0x0102040810204080u >> 56) << (8 * i)));
  }
  return m;
}
#else
#if TTENSOR_SIMD_BYTES == 32
TTENSOR_INLINE mask<4> join(mask<8> lo, mask<8> hi) { return __builtin_shufflevector((mask<4>)lo, (mask<4>)hi, 0, 2, 4, 6, 8, 10, 12, 14); }
TTENSOR_INLINE mask<8> low_half(mask<4> m) { return __builtin_convertvector(__builtin_shufflevector(m, m, 0, 1, 2, 3), mask<8>); }
TTENSOR_INLINE mask<8> high_half(mask<4> m) { return __builtin_convertvector(__builtin_shufflevector(m, m, 4, 5, 6, 7), mask<8>); }
#else
TTENSOR_INLINE mask<4> join(mask<8> lo, mask<8> hi) { return __builtin_shufflevector((mask<4>)lo, (mask<4>)hi, 0, 2, 4, 6); }
TTENSOR_INLINE mask<8> low_half(mask<4> m) { return (mask<8>)__builtin_shufflevector(m, m, 0, 0, 1, 1); }
TTENSOR_INLINE mask<8> high_half(mask<4> m) { return (mask<8>)__builtin_shufflevector(m, m, 2, 2, 3, 3); }
#endif
template <class M> TTENSOR_INLINE bool mask_lane(M m, int i) { return m[i] != 0; }
template <class M> TTENSOR_INLINE M mask_splat(bool b) { return M{} - (b ? 1 : 0); }
template <class M> TTENSOR_INLINE M mask_from_bools(const bool* b) {
  constexpr int n = sizeof(M) / sizeof(M{}[0]);
#if TTENSOR_SIMD_BYTES == 16 && defined(__SSE2__)
  static_assert(n == 2 || n == 4);
  std::conditional_t<n == 4, std::uint32_t, std::uint16_t> word;  // every byte twice, four times and with two lanes eight times
  __builtin_memcpy(&word, b, sizeof(word));
  vec<std::int8_t> x = (vec<std::int8_t>)vec<std::int32_t>{static_cast<std::int32_t>(word), 0, 0, 0};
  x = __builtin_shufflevector(x, x, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  x = (vec<std::int8_t>)__builtin_shufflevector((vec<std::int16_t>)x, (vec<std::int16_t>)x, 0, 8, 1, 9, 2, 10, 3, 11);
  if constexpr (n == 2) x = (vec<std::int8_t>)__builtin_shufflevector((vec<std::int32_t>)x, (vec<std::int32_t>)x, 0, 4, 1, 5);
  return (M)(x > vec<std::int8_t>{});
#else
  vec<std::int8_t, n> bytes;
  __builtin_memcpy(&bytes, b, sizeof(bytes));
  return M{} - __builtin_convertvector(bytes, M);
#endif
}
#endif

#endif  // TTENSOR_HAS_REGISTERS

// The names of the backends on one plain element: a pack without registers is an array of these.
TTENSOR_INLINE float fma(float a, float b, float c) {
#if TTENSOR_HAS_FMA
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
TTENSOR_INLINE double fma(double a, double b, double c) {
#if TTENSOR_HAS_FMA
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

// x, but never contracted with what comes next: the last product of a kernel must not fuse with the caller's sum. Only g++
// contracts across source expressions, wherever the processor can (with AVX-512 or FMA4 and without -mfma too). Its
// __builtin_assoc_barrier takes a vector apart into elements and is lost where a loop over numbers is made one over vectors, so all
// pass through an empty asm instead.
#if (TTENSOR_HAS_FMA || defined(__FP_FAST_FMA)) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#if defined(__aarch64__)
#define TTENSOR_ROUNDED(T) TTENSOR_INLINE T rounded(T x) { __asm__("" : "+w"(x)); return x; }
#elif defined(__SSE2__)
#define TTENSOR_ROUNDED(T) TTENSOR_INLINE T rounded(T x) { __asm__("" : "+v"(x)); return x; }
#else
#define TTENSOR_ROUNDED(T) TTENSOR_INLINE T rounded(T x) { return __builtin_assoc_barrier(x); }
#endif
TTENSOR_ROUNDED(float)
TTENSOR_ROUNDED(double)
#if TTENSOR_HAS_REGISTERS
TTENSOR_ROUNDED(vec<float>)
TTENSOR_ROUNDED(vec<double>)
#endif
#undef TTENSOR_ROUNDED
#else
TTENSOR_INLINE float rounded(float x) { return x; }
TTENSOR_INLINE double rounded(double x) { return x; }
#if TTENSOR_HAS_REGISTERS
TTENSOR_INLINE vec<float> rounded(vec<float> x) { return x; }
TTENSOR_INLINE vec<double> rounded(vec<double> x) { return x; }
#endif
#endif

}  // namespace simd

TTENSOR_END
