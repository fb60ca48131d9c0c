// Packs and memory of another element type: load_as, store_as, convert; non-temporal stores.
#pragma once
#include "pack_type.hpp"

TTENSOR_BEGIN

namespace simd {
// Element types the compiler can put in a vector and convert by itself.
template <class T> inline constexpr bool plain = std::numeric_limits<T>::is_specialized && sizeof(T) <= 8;
template <> inline constexpr bool plain<bool> = false;
template <> inline constexpr bool plain<half> = false;
template <> inline constexpr bool plain<bfloat16> = false;

TTENSOR_NO_EXEC_CHECK
template <class To, class From>
TTENSOR_HD constexpr To cast(From x) {
  if constexpr (sizeof(From) == 2 && !plain<From>) return To(float(x));
  else if constexpr (sizeof(To) == 2 && !plain<To> && std::numeric_limits<From>::is_integer) return To(double(x));
  else if constexpr (requires { typename To::value_type; } && std::numeric_limits<From>::is_specialized)
    return To(static_cast<typename To::value_type>(x));  // complex
  else return To(x);
}
template <>
TTENSOR_HD constexpr half cast<half, half>(half x) { return x; }
template <>
TTENSOR_HD constexpr bfloat16 cast<bfloat16, bfloat16>(bfloat16 x) { return x; }
#if TTENSOR_HAS_REGISTERS
// bfloat16 <-> float on the bits: the patterns of a register's lanes, widened or rounded to nearest even (NaN quieted).
TTENSOR_INLINE vec<float> load_bfloat16(const void* p) {
  vec<std::uint16_t, TTENSOR_SIMD_BYTES / 2> s;
  __builtin_memcpy(&s, p, sizeof(s));
  return (vec<float>)(__builtin_convertvector(s, vec<std::uint32_t>) << 16);
}
TTENSOR_INLINE void store_bfloat16(vec<float> x, void* p) {
  const auto b = (vec<std::uint32_t>)x;
  const auto rounded = (vec<std::int32_t>)((b + 0x7fffu + ((b >> 16) & 1u)) >> 16), quiet = (vec<std::int32_t>)((b >> 16) | 0x40u);
  const auto t = __builtin_convertvector(select(ne(x, x), quiet, rounded), vec<std::uint16_t, TTENSOR_SIMD_BYTES / 2>);
  __builtin_memcpy(p, &t, sizeof(t));
}
#if !TTENSOR_HAS_HALF_REGISTERS
TTENSOR_INLINE vec<float> load_half(const void* p) {
  std::uint16_t h[TTENSOR_SIMD_BYTES / 4];
  __builtin_memcpy(h, p, sizeof(h));
  vec<float> x;
  for (int i = 0; i < TTENSOR_SIMD_BYTES / 4; ++i) x[i] = detail::float_from_half(h[i]);
  return x;
}
TTENSOR_INLINE void store_half(vec<float> x, void* p) {
  std::uint16_t h[TTENSOR_SIMD_BYTES / 4];
  for (int i = 0; i < TTENSOR_SIMD_BYTES / 4; ++i) h[i] = detail::half_from_float(x[i]);
  __builtin_memcpy(p, h, sizeof(h));
}
#endif
// One register of T from and to as many U in memory. Small integers meet floating point as int32. (Vectors wider than a
// register stay inside these functions: passing one would depend on the ABI.)
template <class U, class T> inline constexpr bool via_int32 = sizeof(U) < 4 && (__is_same(T, float) || __is_same(T, double));
template <class T, class U>
TTENSOR_INLINE vec<T> load_lanes(const U* p) {
  constexpr int n = native_width_v<T>;
  vec<U, int(n * sizeof(U))> x;
  __builtin_memcpy(&x, p, sizeof(x));
  if constexpr (sizeof(U) < 4 && sizeof(x) >= 8) x = opaque(x);
  if constexpr (__is_same(T, double) && (__is_same(U, float) || __is_same(U, std::int32_t))) return widen(x);
  else if constexpr (via_int32<U, T> && __is_same(T, double)) return widen(__builtin_convertvector(x, vec<std::int32_t, n * 4>));
  else if constexpr (via_int32<U, T>) return __builtin_convertvector(opaque(__builtin_convertvector(x, vec<std::int32_t>)), vec<T>);
  else return __builtin_convertvector(x, vec<T>);
}
template <class T, class U>
TTENSOR_INLINE void store_lanes(vec<T> x, U* p) {
  constexpr int n = native_width_v<T>;
  using target = vec<U, int(n * sizeof(U))>;
  target t;
  if constexpr (via_int32<U, T> && __is_same(T, float))
    t = __builtin_convertvector(opaque(__builtin_convertvector(x, vec<std::int32_t>)), target);
  else if constexpr (via_int32<U, T>) t = __builtin_convertvector(__builtin_convertvector(x, vec<std::int32_t, n * 4>), target);
  else t = __builtin_convertvector(x, target);
  __builtin_memcpy(p, &t, sizeof(t));
}
// Half a register of 32-bit lanes as a register of 64-bit ones.
template <class U, class T>
TTENSOR_INLINE vec<U> widen_lanes(vec<T, TTENSOR_SIMD_BYTES / 2> x) {
  if constexpr (__is_same(U, double)) return widen(x);
  else return __builtin_convertvector(x, vec<U>);
}
// Halves of a register of 32-bit lanes.
template <class T>
TTENSOR_INLINE vec<T, TTENSOR_SIMD_BYTES / 2> low_lanes(vec<T> x) {
#if TTENSOR_SIMD_BYTES == 64
  return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7);
#elif TTENSOR_SIMD_BYTES == 32
  return __builtin_shufflevector(x, x, 0, 1, 2, 3);
#else
  return __builtin_shufflevector(x, x, 0, 1);
#endif
}
template <class T>
TTENSOR_INLINE vec<T, TTENSOR_SIMD_BYTES / 2> high_lanes(vec<T> x) {
#if TTENSOR_SIMD_BYTES == 64
  return __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
#elif TTENSOR_SIMD_BYTES == 32
  return __builtin_shufflevector(x, x, 4, 5, 6, 7);
#else
  return __builtin_shufflevector(x, x, 2, 3);
#endif
}
template <class U> inline constexpr bool short_float = __is_same(U, half) || __is_same(U, bfloat16);
#endif

template <class P> struct pack_parts;
template <class T, int N> struct pack_parts<pack<T, N>> { using type = T; static constexpr int size = N; };
}  // namespace simd

template <class U, class T, int N>
TTENSOR_INLINE pack<U, N> convert(pack<T, N> a);

/// The N elements at p, each converted to the pack's element type as static_cast would (half and bfloat16 through float).
template <class P, class U>
TTENSOR_INLINE P load_as(const U* p) {
  using T = typename simd::pack_parts<P>::type;
  [[maybe_unused]] constexpr int n = P::size, w = P::width;
  if constexpr (__is_same(T, U)) {
    return P::load(p);
  } else if constexpr (__is_same(T, bool)) {
    bool lane[n];
    for (int i = 0; i < n; ++i) lane[i] = p[i] != U(0);
    return P::load(lane);
#if TTENSOR_HAS_REGISTERS
  } else if constexpr (simd::in_registers<T, n> && simd::plain<U>) {
    P a;
    TTENSOR_UNROLL for (int i = 0; i < P::count; ++i) {
      a.r[i] = simd::load_lanes<T>(p + i * w);
    }
    return a;
#endif
  } else {
#if TTENSOR_HAS_REGISTERS
    constexpr bool through_float = simd::in_registers<float, n> && simd::short_float<U>;
    if constexpr (through_float && __is_same(T, float)) {
      P a;
      TTENSOR_UNROLL for (int i = 0; i < P::count; ++i) {
        if constexpr (__is_same(U, bfloat16)) a.r[i] = simd::load_bfloat16(p + i * w);
        else a.r[i] = simd::load_half(p + i * w);
      }
      return a;
    } else if constexpr (through_float && __is_same(T, double)) {
      return convert<double>(load_as<pack<float, n>>(p));
    } else
#endif
    if constexpr (requires { P::of(pack<U, n>::load(p)); }) {  // complex numbers
      return P::of(pack<U, n>::load(p));
    } else {
      T lane[n];
      for (int i = 0; i < n; ++i) lane[i] = simd::cast<T>(p[i]);
      return P::load(lane);
    }
  }
}

/// Writes the N lanes to p, converted to U as static_cast would.
template <class T, int N, class U>
TTENSOR_INLINE void store_as(pack<T, N> a, U* p) {
  if constexpr (__is_same(T, U)) {
    a.store(p);
#if TTENSOR_HAS_REGISTERS
  } else if constexpr (simd::in_registers<T, N> && simd::plain<U>) {
    TTENSOR_UNROLL for (int i = 0; i < pack<T, N>::count; ++i) {
      simd::store_lanes<T>(a.r[i], p + i * native_width_v<T>);
    }
#endif
  } else {
#if TTENSOR_HAS_REGISTERS
    if constexpr (simd::in_registers<T, N> && __is_same(T, float) && simd::short_float<U>) {
      TTENSOR_UNROLL for (int i = 0; i < pack<T, N>::count; ++i) {
        if constexpr (__is_same(U, bfloat16)) simd::store_bfloat16(a.r[i], p + i * native_width_v<T>);
        else simd::store_half(a.r[i], p + i * native_width_v<T>);
      }
    } else
#endif
    {
      for (int i = 0; i < N; ++i) p[i] = simd::cast<U>(a[i]);
    }
  }
}

/// Every lane as a U; from bool 1 or 0, to bool x != 0.
template <class U, class T, int N>
inline pack<U, N> convert(pack<T, N> a) {
  if constexpr (__is_same(T, U)) {
    return a;
  } else if constexpr (__is_same(T, bool)) {
    return select(a, pack<U, N>(simd::cast<U>(1)), pack<U, N>(simd::cast<U>(0)));
  } else if constexpr (__is_same(U, bool)) {
    return a != pack<T, N>(simd::cast<T>(0));
#if TTENSOR_HAS_REGISTERS
  } else if constexpr (pack<T, N>::registers && pack<U, N>::registers && sizeof(T) == 4 && sizeof(U) == 8) {
    pack<U, N> out;
    TTENSOR_UNROLL for (int i = 0; i < pack<T, N>::count; ++i) {
      out.r[2 * i] = simd::widen_lanes<U, T>(simd::low_lanes<T>(a.r[i]));
      out.r[2 * i + 1] = simd::widen_lanes<U, T>(simd::high_lanes<T>(a.r[i]));
    }
    return out;
#endif
  } else if constexpr (requires { pack<U, N>::of(a); }) {
    return pack<U, N>::of(a);
  } else {
    T lane[N];
    a.store(lane);
    return load_as<pack<U, N>>(lane);
  }
}

/// a / b of integers, truncated; x / 0 = 0, lowest / -1 wraps.
template <class T, int N> inline pack<T, N> whole_quotient(pack<T, N> a, pack<T, N> b) {
  using P = pack<T, N>;
  if constexpr (sizeof(T) < 4) {
    const P divisor = P::vectors([](auto x, auto y) {  // 1 in place of 0 and -1
      using V = decltype(x);
      if constexpr (std::is_signed_v<T>) return (x & (V)(x + 1 > 1)) | ((V)(x + 1 <= 1) & 1);
      else return x - (V)(y == 0);
    }, b, b);
    return P::vectors([](auto q, auto x) {
      using V = decltype(q);
      const V minus = std::is_signed_v<T> ? (V)(x + 1 == 0) : V{};
      return ((q ^ minus) - minus) & (V)(x != 0);
    }, convert<T>(convert<float>(a) / convert<float>(divisor)), b);
  } else {
    const P zero(T(0));
    const auto none = b == zero, minus = b == P(T(-1));
    const P q = convert<T>(convert<double>(a) / convert<double>(select(none || minus, P(T(1)), b)));
    return select(none, zero, select(minus, -a, q));
  }
}
/// The remainder that has the sign of b from r, which has the sign of a; of small integers, whose masks are slow.
template <class T, int N> requires(divides_in_floats<T, N> && sizeof(T) < 4) TTENSOR_INLINE pack<T, N> floored_remainder(pack<T, N> r, pack<T, N> b) {
  if constexpr (std::is_unsigned_v<T>) return r;
  else return pack<T, N>::vectors([](auto x, auto y) {
    using V = decltype(x);
    return x + (y & (V)((x ^ y) > static_cast<std::make_unsigned_t<T>>(std::numeric_limits<T>::max())) & (V)(x != 0));
  }, r, b);
}

/// Writes past the caches; p must be aligned to the register (64 bytes always suffice). Call stream_fence() after the last one.
template <class T, int N>
TTENSOR_INLINE void stream(pack<T, N> a, T* p) {
#if TTENSOR_HAS_REGISTERS
  if constexpr (pack<T, N>::registers) {
    TTENSOR_UNROLL for (int i = 0; i < pack<T, N>::count; ++i) simd::stream(a.r[i], p + i * native_width_v<T>);
    return;
  }
#endif
  a.store(p);
}

TTENSOR_INLINE void stream_fence() {
#if TTENSOR_HAS_REGISTERS
  simd::stream_fence();
#endif
}

TTENSOR_END
