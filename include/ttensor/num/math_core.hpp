// The vocabulary of the math kernels: the few operations that a generic kernel over V = float, double or a one-register
// pack needs beyond operators; and the exact functions abs, sqrt, floor, ceil, trunc, nearbyint, maximum, minimum.
//
// A kernel writes every multiply-add as fma(a, b, c) and never lets a product meet a sum otherwise: the compiler then has
// nothing to contract, so scalar, lane and tail agree to the bit.
#pragma once
#include "device_pack.hpp"
#include "traits.hpp"
#include "pack.hpp"

TTENSOR_BEGIN

/// The bits of every lane as lanes of another type of the same size.
template <class U, class T, int N>
TTENSOR_INLINE pack<U, N> bitcast(pack<T, N> a) {
  static_assert(sizeof(U) == sizeof(T));
  if constexpr (__is_same(T, U)) {
    return a;
  } else {
    pack<U, N> out;
    static_assert(sizeof(out) == sizeof(a));
    TTENSOR_UNROLL for (int i = 0; i < pack<T, N>::count; ++i) {
      if constexpr (pack<T, N>::registers) out.r[i] = (typename pack<U, N>::reg)a.r[i];
      else out.r[i] = __builtin_bit_cast(U, a.r[i]);
    }
    return out;
  }
}

namespace math {
namespace detail {

using simd::fma;
using simd::rounded;
template <class T, int N> requires requires(pack<T, N> x) { simd::rounded(x.r[0]); }
TTENSOR_INLINE pack<T, N> rounded(pack<T, N> x) {
  TTENSOR_UNROLL for (int i = 0; i < pack<T, N>::count; ++i) x.r[i] = simd::rounded(x.r[i]);
  return x;
}

template <class T> inline constexpr bool has_kernels = __is_same(T, float) || __is_same(T, double);
/// Numbers without kernels here: long double and users'. abs, maximum and minimum follow from their comparisons, other functions are refused.
template <class T> concept open_number = floating_number<T> && !has_kernels<T> && !ttensor::detail::is_short_float<T>;
template <class V> struct lane { using type = V; };
template <class T, int N> struct lane<pack<T, N>> { using type = T; };
template <class V> using lane_t = typename lane<V>::type;

template <class V> struct bits { };
template <> struct bits<float> { using type = std::int32_t; };
template <> struct bits<double> { using type = std::int64_t; };
template <int N> struct bits<pack<float, N>> { using type = pack<std::int32_t, N>; };
template <int N> struct bits<pack<double, N>> { using type = pack<std::int64_t, N>; };
template <class V> using bits_t = typename bits<V>::type;

TTENSOR_INLINE std::int32_t to_bits(float x) { return __builtin_bit_cast(std::int32_t, x); }
TTENSOR_INLINE std::int64_t to_bits(double x) { return __builtin_bit_cast(std::int64_t, x); }
TTENSOR_INLINE float from_bits(std::int32_t x) { return __builtin_bit_cast(float, x); }
TTENSOR_INLINE double from_bits(std::int64_t x) { return __builtin_bit_cast(double, x); }
template <class T, int N> TTENSOR_INLINE bits_t<pack<T, N>> to_bits(pack<T, N> x) { return bitcast<bits_t<T>>(x); }
template <int N> TTENSOR_INLINE pack<float, N> from_bits(pack<std::int32_t, N> x) { return bitcast<float>(x); }
template <int N> TTENSOR_INLINE pack<double, N> from_bits(pack<std::int64_t, N> x) { return bitcast<double>(x); }

// Left shift that drops bits, and right shift that fills with zeros.
template <int S> TTENSOR_INLINE std::int32_t shl(std::int32_t x) { return std::int32_t(std::uint32_t(x) << S); }
template <int S> TTENSOR_INLINE std::int64_t shl(std::int64_t x) { return std::int64_t(std::uint64_t(x) << S); }
template <int S> TTENSOR_INLINE std::int32_t shr(std::int32_t x) { return std::int32_t(std::uint32_t(x) >> S); }
template <int S> TTENSOR_INLINE std::int64_t shr(std::int64_t x) { return std::int64_t(std::uint64_t(x) >> S); }
// Sums that wrap.
TTENSOR_INLINE std::int32_t add_bits(std::int32_t x, std::int32_t y) { return std::int32_t(std::uint32_t(x) + std::uint32_t(y)); }
TTENSOR_INLINE std::int64_t add_bits(std::int64_t x, std::int64_t y) { return std::int64_t(std::uint64_t(x) + std::uint64_t(y)); }
TTENSOR_INLINE std::int32_t sub_bits(std::int32_t x, std::int32_t y) { return std::int32_t(std::uint32_t(x) - std::uint32_t(y)); }
TTENSOR_INLINE std::int64_t sub_bits(std::int64_t x, std::int64_t y) { return std::int64_t(std::uint64_t(x) - std::uint64_t(y)); }
template <class T, int N> TTENSOR_INLINE pack<T, N> add_bits(pack<T, N> x, pack<T, N> y) { return x + y; }
template <class T, int N> TTENSOR_INLINE pack<T, N> sub_bits(pack<T, N> x, pack<T, N> y) { return x - y; }
template <int S, class T, int N> TTENSOR_INLINE pack<T, N> shl(pack<T, N> x) { return x << S; }
template <int S, class T, int N> TTENSOR_INLINE pack<T, N> shr(pack<T, N> x) {
  using P = pack<T, N>;
  TTENSOR_UNROLL for (int i = 0; i < P::count; ++i) x.r[i] = (typename P::reg)((typename P::wrapping)x.r[i] >> S);
  return x;
}

TTENSOR_INLINE float select(bool m, float a, float b) { return m ? a : b; }
TTENSOR_INLINE double select(bool m, double a, double b) { return m ? a : b; }
TTENSOR_INLINE std::int32_t select(bool m, std::int32_t a, std::int32_t b) { return m ? a : b; }
TTENSOR_INLINE std::int64_t select(bool m, std::int64_t a, std::int64_t b) { return m ? a : b; }
TTENSOR_INLINE bool any_lane(bool m) { return m; }
TTENSOR_INLINE bool all_lanes(bool m) { return m; }

// a < b ? a : b (so b where either is NaN), and the same with >.
TTENSOR_INLINE float min_raw(float a, float b) { return a < b ? a : b; }
TTENSOR_INLINE double min_raw(double a, double b) { return a < b ? a : b; }
TTENSOR_INLINE float max_raw(float a, float b) { return a > b ? a : b; }
TTENSOR_INLINE double max_raw(double a, double b) { return a > b ? a : b; }
template <class T, int N> TTENSOR_INLINE pack<T, N> min_raw(pack<T, N> a, pack<T, N> b) {
#if TTENSOR_HAS_REGISTERS
  if constexpr (pack<T, N>::registers) { a.r[0] = simd::min_raw(a.r[0], b.r[0]); return a; }
#endif
  return select(a < b, a, b);
}
template <class T, int N> TTENSOR_INLINE pack<T, N> max_raw(pack<T, N> a, pack<T, N> b) {
#if TTENSOR_HAS_REGISTERS
  if constexpr (pack<T, N>::registers) { a.r[0] = simd::max_raw(a.r[0], b.r[0]); return a; }
#endif
  return select(a > b, a, b);
}

// c[0] + c[1] z + c[2] z^2 + ..., even and odd powers in two chains.
template <class V, class T, int N>
TTENSOR_INLINE V polynomial(V z, const T (&c)[N]) {
  static_assert(N >= 4);
  constexpr int even_top = (N - 1) / 2 * 2, odd_top = (N - 2) / 2 * 2 + 1;
  const V w = z * z;
  V even = V(c[even_top]), odd = V(c[odd_top]);
  TTENSOR_UNROLL for (int i = even_top - 2; i >= 0; i -= 2) even = fma(even, w, V(c[i]));
  TTENSOR_UNROLL for (int i = odd_top - 2; i >= 1; i -= 2) odd = fma(odd, w, V(c[i]));
  return fma(odd, z, even);
}

template <class V> inline constexpr bits_t<lane_t<V>> sign_mask = bits_t<lane_t<V>>(bits_t<lane_t<V>>(1) << (8 * sizeof(lane_t<V>) - 1));
template <class V> TTENSOR_INLINE V abs_kernel(V x) { return from_bits(to_bits(x) & bits_t<V>(~sign_mask<V>)); }

// Kernels only ever see a scalar or exactly one register: part i of a pack, and back.
template <class T, int N> TTENSOR_INLINE auto part(const pack<T, N>& x, int i) {
  if constexpr (pack<T, N>::registers) {
    pack<T, native_width_v<T>> one;
    one.r[0] = x.r[i];
    return one;
  } else {
    return x.r[i];
  }
}
template <class T, int N> TTENSOR_INLINE void set_part(pack<T, N>& x, int i, pack<T, native_width_v<T>> one) {
  if constexpr (pack<T, N>::registers) x.r[i] = one.r[0];
}
template <class T, int N> TTENSOR_INLINE void set_part(pack<T, N>& x, int i, T one) {
  if constexpr (!pack<T, N>::registers) x.r[i] = one;
}

}  // namespace detail

TTENSOR_HD TTENSOR_INLINE float abs(float x) { return __builtin_fabsf(x); }
TTENSOR_HD TTENSOR_INLINE double abs(double x) { return __builtin_fabs(x); }
TTENSOR_HD TTENSOR_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }
TTENSOR_HD TTENSOR_INLINE double sqrt(double x) { return __builtin_sqrt(x); }
TTENSOR_HD TTENSOR_INLINE float floor(float x) { return __builtin_floorf(x); }
TTENSOR_HD TTENSOR_INLINE double floor(double x) { return __builtin_floor(x); }
TTENSOR_HD TTENSOR_INLINE float ceil(float x) { return __builtin_ceilf(x); }
TTENSOR_HD TTENSOR_INLINE double ceil(double x) { return __builtin_ceil(x); }
TTENSOR_HD TTENSOR_INLINE float trunc(float x) { return __builtin_truncf(x); }
TTENSOR_HD TTENSOR_INLINE double trunc(double x) { return __builtin_trunc(x); }
TTENSOR_HD TTENSOR_INLINE float nearbyint(float x) { return __builtin_nearbyintf(x); }  // halves to even
TTENSOR_HD TTENSOR_INLINE double nearbyint(double x) { return __builtin_nearbyint(x); }

/// |x|; integers wrap at the lowest value.
template <class T> requires(std::numeric_limits<T>::is_integer) TTENSOR_HD TTENSOR_INLINE T abs(T x) {
  if constexpr (!std::numeric_limits<T>::is_signed) return x;
  else return x < T(0) ? T(typename simd::unsigned_of<T>::type(0) - typename simd::unsigned_of<T>::type(x)) : x;
}
template <class T, int N> TTENSOR_INLINE pack<T, N> abs(pack<T, N> x) {
  const pack<T, N> zero(T(0));
  if constexpr (std::numeric_limits<T>::is_integer) return select(x < zero, -x, x);
  else if constexpr (detail::open_number<T>) return select(x < zero, -x, select(x == zero, zero, x));  // of -0 too
  else return detail::abs_kernel(x);
}
template <detail::open_number T> TTENSOR_INLINE T abs(const T& x) { return x < T(0) ? -x : x == T(0) ? T(0) : x; }
#define TTENSOR_MATH_CLOSED(name)                                                                                                            \
  template <detail::open_number T> T name(const T& x) {                                                                                      \
    static_assert(detail::has_kernels<T>, "ttensor: this function has a form for float, double, half, bfloat16 and complex numbers");       \
    return x;                                                                                                                                \
  }
TTENSOR_MATH_CLOSED(sqrt)
TTENSOR_MATH_CLOSED(floor)
TTENSOR_MATH_CLOSED(ceil)
TTENSOR_MATH_CLOSED(trunc)
TTENSOR_MATH_CLOSED(nearbyint)
#undef TTENSOR_MATH_CLOSED
#if TTENSOR_HAS_REGISTERS
#define TTENSOR_MATH_EXACT(name)                                                                     \
  template <class T, int N> TTENSOR_INLINE pack<T, N> name(pack<T, N> x) {                           \
    TTENSOR_UNROLL for (int i = 0; i < pack<T, N>::count; ++i) {                                     \
      if constexpr (pack<T, N>::registers) x.r[i] = simd::name(x.r[i]);                           \
      else x.r[i] = math::name(x.r[i]);                                                              \
    }                                                                                                \
    return x;                                                                                        \
  }
#else
#define TTENSOR_MATH_EXACT(name)                                                                     \
  template <class T, int N> TTENSOR_INLINE pack<T, N> name(pack<T, N> x) {                           \
    for (int i = 0; i < N; ++i) x.r[i] = math::name(x.r[i]);                                         \
    return x;                                                                                        \
  }
#endif
TTENSOR_MATH_EXACT(sqrt)
TTENSOR_MATH_EXACT(floor)
TTENSOR_MATH_EXACT(ceil)
TTENSOR_MATH_EXACT(trunc)
TTENSOR_MATH_EXACT(nearbyint)
TTENSOR_MATH_DEVICE_1(abs)
TTENSOR_MATH_DEVICE_1(sqrt)
TTENSOR_MATH_DEVICE_1(floor)
TTENSOR_MATH_DEVICE_1(ceil)
TTENSOR_MATH_DEVICE_1(trunc)
TTENSOR_MATH_DEVICE_1(nearbyint)
#undef TTENSOR_MATH_EXACT

/// The larger one. NaN if either is NaN; maximum(-0, +0) = +0 and minimum(-0, +0) = -0, in either order.
template <class T> requires(std::numeric_limits<T>::is_integer)
TTENSOR_HD TTENSOR_INLINE T maximum(T a, T b) { return a < b ? b : a; }
template <class T> requires(std::numeric_limits<T>::is_integer)
TTENSOR_HD TTENSOR_INLINE T minimum(T a, T b) { return b < a ? b : a; }
#define TTENSOR_MATH_EXTREMUM(name, op, zeros, F, I)                                          \
  TTENSOR_HD TTENSOR_INLINE F name(F a, F b) {                                                \
    if (a == b) return __builtin_bit_cast(F, __builtin_bit_cast(I, a) zeros __builtin_bit_cast(I, b)); \
    return a op b || a != a ? a : b;                                                          \
  }
TTENSOR_MATH_EXTREMUM(maximum, >, &, float, std::int32_t)
TTENSOR_MATH_EXTREMUM(maximum, >, &, double, std::int64_t)
TTENSOR_MATH_EXTREMUM(minimum, <, |, float, std::int32_t)
TTENSOR_MATH_EXTREMUM(minimum, <, |, double, std::int64_t)
#undef TTENSOR_MATH_EXTREMUM
/// Integers in an array, whose lanes a plain loop compares best. (Masks are packs of another kind.)
template <class T, int N> constexpr bool integers_in_array() {
  if constexpr (std::numeric_limits<T>::is_integer && !__is_same(T, bool)) return !pack<T, N>::registers;
  else return false;
}
#define TTENSOR_MATH_EXTREMUM(name, op, zeros)                                                \
  template <detail::open_number T> TTENSOR_INLINE T name(const T& a, const T& b) { return a op b || a != a ? a : b; } \
  template <class T, int N> TTENSOR_INLINE pack<T, N> name(pack<T, N> a, pack<T, N> b) {      \
    if constexpr (__is_same(T, float) || __is_same(T, double)) {                              \
      const pack<T, N> same = detail::from_bits(detail::to_bits(a) zeros detail::to_bits(b)); \
      return select(a == b, same, select((a op b) | (a != a), a, b));                         \
    } else if constexpr (integers_in_array<T, N>()) {                                         \
      TTENSOR_UNROLL for (int i = 0; i < N; ++i) a.r[i] = a.r[i] op b.r[i] ? a.r[i] : b.r[i]; \
      return a;                                                                               \
    } else {                                                                                  \
      return select((a op b) | (a != a), a, b);                                               \
    }                                                                                         \
  }
TTENSOR_MATH_EXTREMUM(maximum, >, &)
TTENSOR_MATH_EXTREMUM(minimum, <, |)
TTENSOR_MATH_DEVICE_2(maximum)
TTENSOR_MATH_DEVICE_2(minimum)
#undef TTENSOR_MATH_EXTREMUM

}  // namespace math

TTENSOR_END
