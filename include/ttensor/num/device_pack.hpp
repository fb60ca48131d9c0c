// device_pack<T, N>: N lanes of T as plain elements, the register value of a kernel body. Every member runs on the host and
// on the device, so a body is one function object that a GPU thread and a CPU test call alike.
//
// It differs from pack<T, N> on purpose: pack is made of the compiler's vector registers, which device code does not have,
// and its layout depends on the instruction set; kernel arguments must have one layout on both sides.
#pragma once
#include "pack_convert.hpp"

// Lane loops have constant bounds and must disappear, otherwise the lanes live in local memory.
#if TTENSOR_DEVICE_PASS
#define TTENSOR_DEVICE_UNROLL _Pragma("unroll")
#define TTENSOR_DEVICE_UNROLL_4 _Pragma("unroll 4")  // a loop of many turns, so that several loads are on their way
#else
#define TTENSOR_DEVICE_UNROLL
#define TTENSOR_DEVICE_UNROLL_4
#endif
#define TTENSOR_LANES(j) TTENSOR_DEVICE_UNROLL for (int j = 0; j < N; ++j)

TTENSOR_BEGIN

namespace simd {
template <class T> TTENSOR_HD TTENSOR_INLINE bool lane_is_zero(T a) { return a == T(0); }
#if TTENSOR_DEVICE_PASS
TTENSOR_HD TTENSOR_INLINE bool lane_is_zero(double a) { return __builtin_bit_cast(std::uint64_t, a) << 1 == 0; }
TTENSOR_HD TTENSOR_INLINE float lane_fma(float a, float b, float c) { return ::fmaf(a, b, c); }
TTENSOR_HD TTENSOR_INLINE double lane_fma(double a, double b, double c) { return ::fma(a, b, c); }
#else
TTENSOR_HD TTENSOR_INLINE float lane_fma(float a, float b, float c) { return fma(a, b, c); }
TTENSOR_HD TTENSOR_INLINE double lane_fma(double a, double b, double c) { return fma(a, b, c); }
#endif
}  // namespace simd

template <class T, int N> struct device_pack;

/// The mask of N lanes.
template <int N> struct device_pack<bool, N> {
  static constexpr int size = N;
  using value_type = bool;
  bool v[N];
  device_pack() = default;
  TTENSOR_HD TTENSOR_INLINE device_pack(bool b) { TTENSOR_LANES(j) v[j] = b; }
  TTENSOR_HD TTENSOR_INLINE bool operator[](int j) const { return v[j]; }

#define TTENSOR_MASK(op, value)                                                                        \
  friend TTENSOR_HD TTENSOR_INLINE device_pack operator op(const device_pack& a, const device_pack& b) { \
    device_pack r;                                                                                     \
    TTENSOR_LANES(j) r.v[j] = value;                                                                   \
    return r;                                                                                          \
  }
  TTENSOR_MASK(&, a.v[j] && b.v[j])
  TTENSOR_MASK(|, a.v[j] || b.v[j])
  TTENSOR_MASK(&&, a.v[j] && b.v[j])
  TTENSOR_MASK(||, a.v[j] || b.v[j])
  TTENSOR_MASK(^, a.v[j] != b.v[j])
  TTENSOR_MASK(==, a.v[j] == b.v[j])
  TTENSOR_MASK(!=, a.v[j] != b.v[j])
  TTENSOR_MASK(<, !a.v[j] && b.v[j])  // false < true
  TTENSOR_MASK(>, a.v[j] && !b.v[j])
  TTENSOR_MASK(<=, !a.v[j] || b.v[j])
  TTENSOR_MASK(>=, a.v[j] || !b.v[j])
#undef TTENSOR_MASK
  friend TTENSOR_HD TTENSOR_INLINE device_pack operator!(const device_pack& a) {
    device_pack r;
    TTENSOR_LANES(j) r.v[j] = !a.v[j];
    return r;
  }
  friend TTENSOR_HD TTENSOR_INLINE device_pack operator~(const device_pack& a) { return !a; }
  friend TTENSOR_HD TTENSOR_INLINE device_pack select(const device_pack& m, const device_pack& a, const device_pack& b) {
    device_pack r;
    TTENSOR_LANES(j) r.v[j] = m.v[j] ? a.v[j] : b.v[j];
    return r;
  }
};

template <class T, int N> struct device_pack {
  static constexpr int size = N;
  using value_type = T;
  using mask = device_pack<bool, N>;
  using wrapping = typename simd::unsigned_of<T>::type;  // integers wrap, as in pack
  T v[N];
  device_pack() = default;
  TTENSOR_HD TTENSOR_INLINE device_pack(T x) { TTENSOR_LANES(j) v[j] = x; }
  template <class U> requires(std::numeric_limits<U>::is_specialized && !__is_same(U, T))  // literals in rules: apply<div_op>(1, a)
  TTENSOR_HD TTENSOR_INLINE device_pack(U x) : device_pack(static_cast<T>(x)) {}
  TTENSOR_HD TTENSOR_INLINE T operator[](int j) const { return v[j]; }
  TTENSOR_HD TTENSOR_INLINE static device_pack load(const T* p) {
    device_pack r;
    TTENSOR_LANES(j) r.v[j] = p[j];
    return r;
  }
  TTENSOR_HD TTENSOR_INLINE void store(T* p) const { TTENSOR_LANES(j) p[j] = v[j]; }

#define TTENSOR_EACH_LANE(op, result, value)                                                      \
  friend TTENSOR_HD TTENSOR_INLINE result operator op(const device_pack& a, const device_pack& b) { \
    result r;                                                                                     \
    TTENSOR_LANES(j) r.v[j] = value;                                                              \
    return r;                                                                                     \
  }
  TTENSOR_EACH_LANE(+, device_pack, T(wrapping(a.v[j]) + wrapping(b.v[j])))
  TTENSOR_EACH_LANE(-, device_pack, T(wrapping(a.v[j]) - wrapping(b.v[j])))
  TTENSOR_EACH_LANE(*, device_pack, T(wrapping(a.v[j]) * wrapping(b.v[j])))
  TTENSOR_EACH_LANE(/, device_pack, simd::div<T>(a.v[j], b.v[j]))
  TTENSOR_EACH_LANE(%, device_pack, simd::mod<T>(a.v[j], b.v[j]))
  TTENSOR_EACH_LANE(==, mask, a.v[j] == b.v[j])
  TTENSOR_EACH_LANE(!=, mask, a.v[j] != b.v[j])
  TTENSOR_EACH_LANE(<, mask, a.v[j] < b.v[j])
  TTENSOR_EACH_LANE(<=, mask, a.v[j] <= b.v[j])
  TTENSOR_EACH_LANE(>, mask, a.v[j] > b.v[j])
  TTENSOR_EACH_LANE(>=, mask, a.v[j] >= b.v[j])
  TTENSOR_EACH_LANE(&, device_pack, T(a.v[j] & b.v[j]))
  TTENSOR_EACH_LANE(|, device_pack, T(a.v[j] | b.v[j]))
  TTENSOR_EACH_LANE(^, device_pack, T(a.v[j] ^ b.v[j]))
  TTENSOR_EACH_LANE(<<, device_pack, (simd::shift_left<T>(a.v[j], b.v[j])))
  TTENSOR_EACH_LANE(>>, device_pack, (simd::shift_right<T>(a.v[j], b.v[j])))
#undef TTENSOR_EACH_LANE
  friend TTENSOR_HD TTENSOR_INLINE device_pack operator+(const device_pack& a) { return a; }
  friend TTENSOR_HD TTENSOR_INLINE device_pack operator-(const device_pack& a) {
    device_pack r;
    if constexpr (std::numeric_limits<T>::is_integer) { TTENSOR_LANES(j) r.v[j] = T(wrapping(0) - wrapping(a.v[j])); }
    else { TTENSOR_LANES(j) r.v[j] = -a.v[j]; }
    return r;
  }
  friend TTENSOR_HD TTENSOR_INLINE device_pack operator~(const device_pack& a) {
    device_pack r;
    TTENSOR_LANES(j) r.v[j] = T(~a.v[j]);
    return r;
  }
  /// a * b + c; one rounding on a device.
  friend TTENSOR_HD TTENSOR_INLINE device_pack fma(const device_pack& a, const device_pack& b, const device_pack& c) {
    if constexpr (__is_same(T, float) || __is_same(T, double)) {
      device_pack r;
      TTENSOR_LANES(j) r.v[j] = simd::lane_fma(a.v[j], b.v[j], c.v[j]);
      return r;
    } else {
      return a * b + c;
    }
  }
  /// Lane by lane m ? a : b.
  friend TTENSOR_HD TTENSOR_INLINE device_pack select(const mask& m, const device_pack& a, const device_pack& b) {
    device_pack r;
    TTENSOR_LANES(j) r.v[j] = m.v[j] ? a.v[j] : b.v[j];
    return r;
  }
  /// Which lanes are 0 or -0. Doubles are asked by their bits on a device, where a comparison keeps the unit busy that multiplies them.
  friend TTENSOR_HD TTENSOR_INLINE mask is_zero(const device_pack& a) {
    mask r;
    TTENSOR_LANES(j) r.v[j] = simd::lane_is_zero(a.v[j]);
    return r;
  }
};

namespace simd {
/// N elements of E in memory, moved by one access of N * sizeof(E) <= 16 bytes.
template <class E, int N> struct alignas(sizeof(E) * N) memory_word {
  static_assert(sizeof(E) * N <= 16, "ttensor: a kernel moves at most 16 bytes at once");
  E v[N];
};
template <class To, class From> TTENSOR_HD TTENSOR_INLINE constexpr To lane_cast(From x) {  // cast, with the rules of masks
  if constexpr (__is_same(To, From)) return x;
  else if constexpr (__is_same(To, bool)) return x != From(0);
  else if constexpr (__is_same(From, bool)) return x ? cast<To>(1) : cast<To>(0);
  else return cast<To>(x);
}
template <class P> inline constexpr bool is_device_pack = false;
template <class T, int N> inline constexpr bool is_device_pack<device_pack<T, N>> = true;
}  // namespace simd

/// As load_as, store_as and convert of pack: elements are converted as static_cast would (half and bfloat16 through float).
template <class P, class U> requires simd::is_device_pack<P> TTENSOR_HD TTENSOR_INLINE P load_as(const U* p) {
  constexpr int N = P::size;
  P r;
  TTENSOR_LANES(j) r.v[j] = simd::lane_cast<typename P::value_type>(p[j]);
  return r;
}
template <class T, int N, class U> TTENSOR_HD TTENSOR_INLINE void store_as(const device_pack<T, N>& a, U* p) {
  TTENSOR_LANES(j) p[j] = simd::lane_cast<U>(a.v[j]);
}
/// The same in one access: p is aligned to P::size elements.
template <class P, class U> TTENSOR_HD TTENSOR_INLINE P load_word(const U* p) {
  const auto w = *reinterpret_cast<const simd::memory_word<U, P::size>*>(p);
  return load_as<P>(w.v);
}
template <class T, int N, class U> TTENSOR_HD TTENSOR_INLINE void store_word(const device_pack<T, N>& a, U* p) {
  simd::memory_word<U, N> w;
  store_as(a, w.v);
  *reinterpret_cast<simd::memory_word<U, N>*>(p) = w;
}
template <class U, class T, int N> TTENSOR_HD TTENSOR_INLINE device_pack<U, N> convert(const device_pack<T, N>& a) {
  device_pack<U, N> r;
  TTENSOR_LANES(j) r.v[j] = simd::lane_cast<U>(a.v[j]);
  return r;
}

// Stamped beside the pack overload of every function of math::, lane by lane through the scalar one.
#define TTENSOR_MATH_DEVICE_1(name)                                                                                   \
  template <class T, int N> TTENSOR_HD TTENSOR_INLINE device_pack<T, N> name(const device_pack<T, N>& x) {            \
    device_pack<T, N> y;                                                                                              \
    TTENSOR_LANES(j) y.v[j] = math::name(x.v[j]);                                                                     \
    return y;                                                                                                         \
  }
#define TTENSOR_MATH_DEVICE_2(name)                                                                                   \
  template <class T, int N> TTENSOR_HD TTENSOR_INLINE device_pack<T, N> name(const device_pack<T, N>& a, const device_pack<T, N>& b) { \
    device_pack<T, N> y;                                                                                              \
    TTENSOR_LANES(j) y.v[j] = math::name(a.v[j], b.v[j]);                                                             \
    return y;                                                                                                         \
  }

TTENSOR_END
