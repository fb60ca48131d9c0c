// Packs and memory of another element type: load_as, store_as, convert; non-temporal stores.
#pragma once
#include "pack.hpp"

TTENSOR_BEGIN

namespace simd {
// Element types the compiler can put in a vector and convert by itself.
template <class T> inline constexpr bool plain = std::numeric_limits<T>::is_specialized && sizeof(T) <= 8;
template <> inline constexpr bool plain<bool> = false;
template <> inline constexpr bool plain<half> = false;
template <> inline constexpr bool plain<bfloat16> = false;

template <class To, class From>
TTENSOR_HD constexpr To cast(From x) {
  if constexpr (sizeof(From) == 2 && !plain<From>) return To(float(x));
  else if constexpr (sizeof(To) == 2 && !plain<To> && std::numeric_limits<From>::is_integer) return To(double(x));
  else return To(x);
}
template <>
TTENSOR_HD constexpr half cast<half, half>(half x) { return x; }
template <>
TTENSOR_HD constexpr bfloat16 cast<bfloat16, bfloat16>(bfloat16 x) { return x; }
template <class P> struct pack_parts;
template <class T, int N> struct pack_parts<pack<T, N>> { using type = T; static constexpr int size = N; };
}  // namespace simd

/// The N elements at p, each converted to the pack's element type as static_cast would (half and bfloat16 through float).
template <class P, class U>
TTENSOR_INLINE P load_as(const U* p) {
  using T = typename simd::pack_parts<P>::type;
  constexpr int n = P::size, w = P::width;
  if constexpr (__is_same(T, U)) {
    return P::load(p);
  } else if constexpr (__is_same(T, bool)) {
    bool lane[n];
    for (int i = 0; i < n; ++i) lane[i] = p[i] != U(0);
    return P::load(lane);
  } else if constexpr (simd::in_registers<T, n> && simd::plain<U>) {
    P a;
    using source = simd::vec<U, int(w * sizeof(U))>;
    TTENSOR_UNROLL for (int i = 0; i < P::count; ++i) {
      source s;
      __builtin_memcpy(&s, p + i * w, sizeof(s));
      a.r[i] = __builtin_convertvector(s, simd::vec<T>);
    }
    return a;
  } else {
    T lane[n];
    for (int i = 0; i < n; ++i) lane[i] = simd::cast<T>(p[i]);
    return P::load(lane);
  }
}

/// Writes the N lanes to p, converted to U as static_cast would.
template <class T, int N, class U>
TTENSOR_INLINE void store_as(pack<T, N> a, U* p) {
  if constexpr (__is_same(T, U)) {
    a.store(p);
  } else if constexpr (simd::in_registers<T, N> && simd::plain<U>) {
    constexpr int w = native_width_v<T>;
    using target = simd::vec<U, int(w * sizeof(U))>;
    TTENSOR_UNROLL for (int i = 0; i < pack<T, N>::count; ++i) {
      const target t = __builtin_convertvector(a.r[i], target);
      __builtin_memcpy(p + i * w, &t, sizeof(t));
    }
  } else {
    for (int i = 0; i < N; ++i) p[i] = simd::cast<U>(a[i]);
  }
}

/// Every lane as a U; from bool 1 or 0, to bool x != 0.
template <class U, class T, int N>
TTENSOR_INLINE pack<U, N> convert(pack<T, N> a) {
  if constexpr (__is_same(T, U)) {
    return a;
  } else if constexpr (__is_same(T, bool)) {
    return select(a, pack<U, N>(simd::cast<U>(1)), pack<U, N>(simd::cast<U>(0)));
  } else if constexpr (__is_same(U, bool)) {
    return a != pack<T, N>(simd::cast<T>(0));
  } else {
    T lane[N];
    a.store(lane);
    return load_as<pack<U, N>>(lane);
  }
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
