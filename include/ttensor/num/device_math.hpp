// Kernels that a device has in place of CUDA's functions: exp of doubles, sine and cosine together. They convert no integers and compare nothing in double, which few
// units of a processor do, and all lanes of a word take one branch, so that each constant is loaded once for them. Measured: docs/design/0002-gpu-seam.md.
//
// The part for ordinary arguments is plain C++ and tested on the host (tests/run/device_bodies_test.cpp); all other arguments go to CUDA's functions.
/// Accuracy  max ulp, float / double: sine and cosine 1.6 / 1.5; exp - / 1.0
#pragma once
#include "device_pack.hpp"

TTENSOR_BEGIN
namespace math {
namespace detail {

TTENSOR_HD TTENSOR_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
TTENSOR_HD TTENSOR_INLINE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
template <class T> using unsigned_bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
/// The first 32 bits of |x|, which rise with |x|; those of infinities and NaN are the highest.
template <class T> TTENSOR_HD TTENSOR_INLINE int magnitude(T x) { return static_cast<int>(__builtin_bit_cast(unsigned_bits<T>, x) >> (8 * sizeof(T) - 32) & 0x7fffffffu); }
/// -x where the lowest bit of `odd` is set.
template <class T> TTENSOR_HD TTENSOR_INLINE T negated_where(unsigned odd, T x) {
  return __builtin_bit_cast(T, __builtin_bit_cast(unsigned_bits<T>, x) ^ (static_cast<unsigned_bits<T>>(odd) << (8 * sizeof(T) - 1)));
}

template <class T> TTENSOR_HD TTENSOR_INLINE bool is_ordinary_angle(T x) { return magnitude(x) < (sizeof(T) == 8 ? 0x40f86a00 : 0x47c35000); }  // |x| < 1e5
/// x = n pi / 2 + r, |r| <= pi / 4, pi / 2 in three parts of one sign (-0 stays), and two minimax polynomials (relative
/// errors of sine and cosine 2^-57.9 and 2^-63.9; of floats 2^-28.0 and 2^-33.0).
template <class T> TTENSOR_HD TTENSOR_INLINE void sin_and_cos_ordinary(T x, T& s, T& c) {
  T shifted, r, p, q;
  if constexpr (sizeof(T) == 8) {
    shifted = fused(x, 0x1.45f306dc9c883p-1, 0x1.8p52);
    const T k = shifted - 0x1.8p52;
    r = fused(k, -0x1.c1cd129024e09p-107, fused(k, -0x1.1a62633145c06p-54, fused(k, -0x1.921fb54442d18p+0, x)));
    const T z = r * r;
    p = fused(fused(fused(fused(fused(0x1.5d8dfd51bf238p-33, z, -0x1.ae5e546f259a9p-26), z, 0x1.71de35603ab5dp-19), z, -0x1.a01a019bf577ap-13), z, 0x1.111111110f78fp-7), z, -0x1.5555555555548p-3);
    q = fused(fused(fused(fused(fused(-0x1.8fa29312d4c2ep-37, z, 0x1.1ee9d3e08cd45p-29), z, -0x1.27e4f7e543c29p-22), z, 0x1.a01a019c7ce07p-16), z, -0x1.6c16c16c14f47p-10), z, 0x1.555555555554bp-5);
  } else {
    shifted = fused(x, 0x1.45f306p-1f, 0x1.8p23f);
    const T k = shifted - 0x1.8p23f;
    r = fused(k, -0x1.84698ap-48f, fused(k, -0x1.4442dp-24f, fused(k, -0x1.921fb4p+0f, x)));
    const T z = r * r;
    p = fused(fused(-0x1.99406p-13f, z, 0x1.11073p-7f), z, -0x1.555546p-3f);
    q = fused(fused(0x1.99e86cp-16f, z, -0x1.6c0c28p-10f), z, 0x1.55554ap-5f);
  }
  const unsigned n = static_cast<unsigned>(__builtin_bit_cast(unsigned_bits<T>, shifted));
  const T z = r * r, sine = fused(fused(p, z, T(0)), r, r), cosine = fused(fused(q, z, T(-0.5)), z, T(1));  // + 0: or sin(-0) were 0
  s = negated_where(n >> 1, n & 1 ? cosine : sine);
  c = negated_where((n + 1) >> 1, n & 1 ? sine : cosine);
}

TTENSOR_HD TTENSOR_INLINE bool is_ordinary_exponent(double x) { return magnitude(x) < 0x40862000; }  // |x| < 708: no subnormal result
/// ln 2 in two parts, and the coefficients of P in exp(r) = 1 + r + r^2 P(r), |r| <= ln(2)/2, by tests/num/fit_math.py.
struct exp_of_double {
  static constexpr double log2e = 0x1.71547652b82fep+0, ln2_hi = 0x1.62e42fefa39efp-1, ln2_lo = 0x1.abc9e3b39803fp-56;
  static constexpr double p0 = 0x1.000000000000ap-1, p1 = 0x1.55555555554f9p-3, p2 = 0x1.55555555507f1p-5, p3 = 0x1.1111111127e8ap-7, p4 = 0x1.6c16c1844aff9p-10,
                          p5 = 0x1.a01a0129b26b4p-13, p6 = 0x1.a01999adcf23cp-16, p7 = 0x1.71df263029b28p-19, p8 = 0x1.28adce707e882p-22, p9 = 0x1.ad7efd17a0ddap-26;
};
/// x = n ln 2 + r.
TTENSOR_HD TTENSOR_INLINE double exp_ordinary(double x) {
  using C = exp_of_double;
  const double shifted = fused(x, C::log2e, 0x1.8p52), n = shifted - 0x1.8p52;
  const double r = fused(n, -C::ln2_lo, fused(n, -C::ln2_hi, x));
  double p = fused(C::p9, r, C::p8);
  p = fused(fused(p, r, C::p7), r, C::p6);
  p = fused(fused(p, r, C::p5), r, C::p4);
  p = fused(fused(p, r, C::p3), r, C::p2);
  p = fused(fused(p, r, C::p1), r, C::p0);
  p = fused(fused(p, r, 1.0), r, 1.0);
  return __builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, p) + (__builtin_bit_cast(std::uint64_t, shifted) << 52));
}

#if TTENSOR_DEVICE_PASS
template <class T> struct sine_and_cosine { T s, c; };
template <class T> TTENSOR_HD __noinline__ sine_and_cosine<T> sin_and_cos_of_others(T x) {
  sine_and_cosine<T> r;
  if constexpr (sizeof(T) == 8) ::sincos(x, &r.s, &r.c);
  else ::sincosf(x, &r.s, &r.c);
  return r;
}

template <class T, int N> TTENSOR_HD TTENSOR_INLINE void sin_and_cos(const device_pack<T, N>& x, device_pack<T, N>& s, device_pack<T, N>& c) {
  bool all = true;
  TTENSOR_LANES(j) sin_and_cos_ordinary(x.v[j], s.v[j], c.v[j]), all = all && is_ordinary_angle(x.v[j]);
  if (!all) TTENSOR_LANES(j) if (!is_ordinary_angle(x.v[j])) {
    const auto both = sin_and_cos_of_others(x.v[j]);
    s.v[j] = both.s, c.v[j] = both.c;
  }
}
template <int N> TTENSOR_HD TTENSOR_INLINE device_pack<double, N> exp_of_device(const device_pack<double, N>& x) {
  device_pack<double, N> y;
  bool all = true;
  TTENSOR_LANES(j) y.v[j] = exp_ordinary(x.v[j]), all = all && is_ordinary_exponent(x.v[j]);
  if (!all) TTENSOR_LANES(j) if (!is_ordinary_exponent(x.v[j])) y.v[j] = ::exp(x.v[j]);
  return y;
}
#endif

}  // namespace detail
}  // namespace math
TTENSOR_END
