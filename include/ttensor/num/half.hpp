// half (IEEE binary16) and bfloat16: 16-bit storage types whose arithmetic is done in float and rounded back.
// Conversions round to nearest, ties to even; subnormals, infinities and NaN are right; integer code, so CPU and GPU agree.
// C++ numbers are weak beside them, as beside arrays of them: half * 2.5 is half(float(half) * float(half(2.5))).
#pragma once
#include <cstdint>
#include <limits>  // numeric_limits is specialised below
#include <type_traits>

#include "../base/config.hpp"

TTENSOR_BEGIN

struct half;
struct bfloat16;
namespace detail {

TTENSOR_HD constexpr std::uint32_t float_bits(float x) { return __builtin_bit_cast(std::uint32_t, x); }
TTENSOR_HD constexpr float bits_float(std::uint32_t b) { return __builtin_bit_cast(float, b); }

// The 13 mantissa bits that half lacks are rounded by integer addition; a carry into the exponent is the right answer.
TTENSOR_HD constexpr std::uint16_t half_from_float(float x) {
  const std::uint32_t b = float_bits(x);
  const std::uint32_t sign = (b >> 16) & 0x8000u;
  const std::uint32_t a = b & 0x7fffffffu;
  if (a > 0x7f800000u) return std::uint16_t(sign | 0x7e00u | ((a >> 13) & 0x1ffu));  // NaN stays NaN, quiet, payload kept
  if (a >= 0x47800000u) return std::uint16_t(sign | 0x7c00u);                        // >= 65536 (65520.. carries below)
  if (a >= 0x38800000u) {                                                            // normal: >= 2^-14
    const std::uint32_t rounded = a + 0xfffu + ((a >> 13) & 1u);
    return std::uint16_t(sign | ((rounded - 0x38000000u) >> 13));
  }
  if (a <= 0x33000000u) return std::uint16_t(sign);  // <= 2^-25: zero (the tie goes to even)
  const std::uint32_t m = (a & 0x7fffffu) | 0x800000u;
  const std::uint32_t shift = 126u - (a >> 23);  // 14 .. 24
  const std::uint32_t q = m >> shift, rest = m & ((1u << shift) - 1u), half_way = 1u << (shift - 1u);
  return std::uint16_t(sign | (q + (rest > half_way || (rest == half_way && (q & 1u)) ? 1u : 0u)));
}

TTENSOR_HD constexpr float float_from_half(std::uint16_t h) {
  const std::uint32_t sign = std::uint32_t(h & 0x8000u) << 16, e = (h >> 10) & 0x1fu, m = h & 0x3ffu;
  if (e == 0x1fu) return bits_float(sign | 0x7f800000u | (m << 13) | (m ? 0x400000u : 0u));
  if (e != 0) return bits_float(sign | ((e + 112u) << 23) | (m << 13));
  const float magnitude = float(m) * 0x1p-24f;  // exact
  return bits_float(sign | float_bits(magnitude));
}

TTENSOR_HD constexpr std::uint16_t bfloat16_from_float(float x) {
  const std::uint32_t b = float_bits(x);
  if ((b & 0x7fffffffu) > 0x7f800000u) return std::uint16_t((b >> 16) | 0x40u);
  return std::uint16_t((b + 0x7fffu + ((b >> 16) & 1u)) >> 16);
}

// U (double, long double) -> float rounding to odd: rounding the result once more to 16 bits is then the same as rounding once.
template <class U> TTENSOR_HD constexpr float round_to_odd(U x) {
  const float f = float(x);
  if (f != f || U(f) == x) return f;
  const std::uint32_t b = float_bits(f);
  if (b & 1u) return f;
  const U away = x < 0 ? -x : x, got = f < 0 ? -U(f) : U(f);
  return bits_float(got > away ? b - 1u : b + 1u);
}
// Of an integer (-std=gnu++20 has one of 128 bits) the 53 bits that a double holds, the last of them 1 if any below is: as above.
template <class U> TTENSOR_HD constexpr double odd_double(U x) {
  if constexpr (sizeof(U) < 8) {
    return double(x);
  } else {
    using W = std::make_unsigned_t<U>;
    W size = x < U(0) ? W(0) - W(x) : W(x);
    double unit = x < U(0) ? -1 : 1;
    for (; (size >> 53) != 0; unit *= 2) size = (size >> 1) | (size & 1);
    return double(static_cast<std::uint64_t>(size)) * unit;
  }
}
template <class U> TTENSOR_HD constexpr float odd_float(U x) {
  if constexpr (std::is_same_v<U, float>) return x;
  else if constexpr (std::is_integral_v<U>) return round_to_odd(odd_double(x));
  else return round_to_odd(x);
}
/// What is no number of C++ but converts to float: an enumerator, _Float16, an element of an array. Not an element of an array of H, which
/// converts to H as well: two ways would be ambiguous.
template <class U, class H> concept is_like_float = !std::is_arithmetic_v<U> && !__is_same(U, half) &&
                                                    !__is_same(U, bfloat16) && std::is_convertible_v<const U&, float> &&
                                                    !requires { requires __is_same(typename U::scalar, H); };

}  // namespace detail

/// IEEE binary16: 11 significant bits, largest 65504, smallest subnormal 2^-24.
struct half {
  std::uint16_t bits;
  half() = default;
  template <class U> requires std::is_arithmetic_v<U>
  TTENSOR_HD constexpr half(U x) : bits(detail::half_from_float(detail::odd_float(x))) {}
  template <class U> requires detail::is_like_float<U, half>
  TTENSOR_HD explicit(std::is_class_v<U>) constexpr half(const U& x) : half(static_cast<float>(x)) {}
  TTENSOR_HD explicit constexpr half(bfloat16 x);
  TTENSOR_HD constexpr operator float() const { return detail::float_from_half(bits); }
  TTENSOR_HD static constexpr half from_bits(std::uint16_t b) { half h{}; h.bits = b; return h; }
};

/// bfloat16: the upper half of a float, 8 significant bits.
struct bfloat16 {
  std::uint16_t bits;
  bfloat16() = default;
  template <class U> requires std::is_arithmetic_v<U>
  TTENSOR_HD constexpr bfloat16(U x) : bits(detail::bfloat16_from_float(detail::odd_float(x))) {}
  template <class U> requires detail::is_like_float<U, bfloat16>
  TTENSOR_HD explicit(std::is_class_v<U>) constexpr bfloat16(const U& x) : bfloat16(static_cast<float>(x)) {}
  TTENSOR_HD explicit constexpr bfloat16(half x);
  TTENSOR_HD constexpr operator float() const { return detail::bits_float(std::uint32_t(bits) << 16); }
  TTENSOR_HD static constexpr bfloat16 from_bits(std::uint16_t b) { bfloat16 h{}; h.bits = b; return h; }
};

TTENSOR_HD constexpr half::half(bfloat16 x) : half(float(x)) {}
TTENSOR_HD constexpr bfloat16::bfloat16(half x) : bfloat16(float(x)) {}

#define TTENSOR_HALF_OPERATORS(H)                                                                          \
  TTENSOR_HD constexpr H operator+(H a, H b) { return H(float(a) + float(b)); }                            \
  TTENSOR_HD constexpr H operator-(H a, H b) { return H(float(a) - float(b)); }                            \
  TTENSOR_HD constexpr H operator*(H a, H b) { return H(float(a) * float(b)); }                            \
  TTENSOR_HD constexpr H operator/(H a, H b) { return H(float(a) / float(b)); }                            \
  TTENSOR_HD constexpr H operator-(H a) { return H::from_bits(std::uint16_t(a.bits ^ 0x8000u)); }          \
  TTENSOR_HD constexpr H operator+(H a) { return a; }                                                      \
  TTENSOR_HD constexpr H& operator+=(H& a, H b) { return a = a + b; }                                      \
  TTENSOR_HD constexpr H& operator-=(H& a, H b) { return a = a - b; }                                      \
  TTENSOR_HD constexpr H& operator*=(H& a, H b) { return a = a * b; }                                      \
  TTENSOR_HD constexpr H& operator/=(H& a, H b) { return a = a / b; }                                      \
  TTENSOR_HD constexpr bool operator==(H a, H b) { return float(a) == float(b); }                          \
  TTENSOR_HD constexpr bool operator!=(H a, H b) { return float(a) != float(b); }                          \
  TTENSOR_HD constexpr bool operator<(H a, H b) { return float(a) < float(b); }                            \
  TTENSOR_HD constexpr bool operator<=(H a, H b) { return float(a) <= float(b); }                          \
  TTENSOR_HD constexpr bool operator>(H a, H b) { return float(a) > float(b); }                            \
  TTENSOR_HD constexpr bool operator>=(H a, H b) { return float(a) >= float(b); }
#define TTENSOR_HALF_BESIDE_NUMBER(H, R, sign)                                                                       \
  template <class U> requires std::is_arithmetic_v<U> TTENSOR_HD constexpr R operator sign(H a, U b) { return a sign H(b); } \
  template <class U> requires std::is_arithmetic_v<U> TTENSOR_HD constexpr R operator sign(U a, H b) { return H(a) sign b; }
#define TTENSOR_HALF_BESIDE_NUMBERS(H)  \
  TTENSOR_HALF_BESIDE_NUMBER(H, H, +)   \
  TTENSOR_HALF_BESIDE_NUMBER(H, H, -)   \
  TTENSOR_HALF_BESIDE_NUMBER(H, H, *)   \
  TTENSOR_HALF_BESIDE_NUMBER(H, H, /)   \
  TTENSOR_HALF_BESIDE_NUMBER(H, bool, ==) \
  TTENSOR_HALF_BESIDE_NUMBER(H, bool, !=) \
  TTENSOR_HALF_BESIDE_NUMBER(H, bool, <)  \
  TTENSOR_HALF_BESIDE_NUMBER(H, bool, <=) \
  TTENSOR_HALF_BESIDE_NUMBER(H, bool, >)  \
  TTENSOR_HALF_BESIDE_NUMBER(H, bool, >=)
TTENSOR_HALF_OPERATORS(half)
TTENSOR_HALF_OPERATORS(bfloat16)
TTENSOR_HALF_BESIDE_NUMBERS(half)
TTENSOR_HALF_BESIDE_NUMBERS(bfloat16)
#undef TTENSOR_HALF_OPERATORS
#undef TTENSOR_HALF_BESIDE_NUMBER
#undef TTENSOR_HALF_BESIDE_NUMBERS

static_assert(sizeof(half) == 2 && sizeof(bfloat16) == 2);
static_assert(float(half(65504.0f)) == 65504.0f && half(65520.0f).bits == 0x7c00 && half(65519.0f).bits == 0x7bff);
static_assert(half(0x1p-24f).bits == 1 && half(0x1p-25f).bits == 0 && half(0x1.8p-25f).bits == 1);
static_assert(bfloat16(1.0f).bits == 0x3f80 && bfloat16(0x1.01p0f).bits == 0x3f80 && bfloat16(0x1.03p0f).bits == 0x3f82);

TTENSOR_END

namespace std {
template <>
struct numeric_limits<ttensor::half> : numeric_limits<float> {
  using H = ttensor::half;
  static constexpr int digits = 11, digits10 = 3, max_digits10 = 5;
  static constexpr int min_exponent = -13, max_exponent = 16, min_exponent10 = -4, max_exponent10 = 4;
  static constexpr H min() noexcept { return H::from_bits(0x0400); }
  static constexpr H max() noexcept { return H::from_bits(0x7bff); }
  static constexpr H lowest() noexcept { return H::from_bits(0xfbff); }
  static constexpr H epsilon() noexcept { return H::from_bits(0x1400); }
  static constexpr H round_error() noexcept { return H::from_bits(0x3800); }
  static constexpr H infinity() noexcept { return H::from_bits(0x7c00); }
  static constexpr H quiet_NaN() noexcept { return H::from_bits(0x7e00); }
  static constexpr H signaling_NaN() noexcept { return H::from_bits(0x7d00); }
  static constexpr H denorm_min() noexcept { return H::from_bits(0x0001); }
};
template <>
struct numeric_limits<ttensor::bfloat16> : numeric_limits<float> {
  using H = ttensor::bfloat16;
  static constexpr int digits = 8, digits10 = 2, max_digits10 = 4;
  static constexpr H min() noexcept { return H::from_bits(0x0080); }
  static constexpr H max() noexcept { return H::from_bits(0x7f7f); }
  static constexpr H lowest() noexcept { return H::from_bits(0xff7f); }
  static constexpr H epsilon() noexcept { return H::from_bits(0x3c00); }
  static constexpr H round_error() noexcept { return H::from_bits(0x3f00); }
  static constexpr H infinity() noexcept { return H::from_bits(0x7f80); }
  static constexpr H quiet_NaN() noexcept { return H::from_bits(0x7fc0); }
  static constexpr H signaling_NaN() noexcept { return H::from_bits(0x7fa0); }
  static constexpr H denorm_min() noexcept { return H::from_bits(0x0001); }
};
}  // namespace std
