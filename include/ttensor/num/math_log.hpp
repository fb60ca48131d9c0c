// log, log2, log10, log1p.
//
// x = 2^e m, 3/4 <= m < 3/2, f = m - 1. float: log(1+f) = f - f^2/2 + f^3 P(f).
// double: with s = f / (2 + f), log(1+f) = 2s + s^3 R(s^2) = f - (f^2/2 - s (f^2/2 + s^2 R(s^2))).
/// Domain    x > 0 (log1p: x > -1), subnormals included; -inf at the end point, NaN beyond it, inf at inf
/// Accuracy  max ulp, float / double: log 0.9 / 1.0, log2 2.3 / 2.4, log10 2.1 / 2.7, log1p 1.0 / 1.0; measured by tests/ops/accuracy_test.cpp.
///           log2 of a power of two and log10 of 1, 10, ... 1e22 (double) are exact
#pragma once
#include "math_exp.hpp"

TTENSOR_BEGIN
namespace math {
namespace detail {

template <class T> struct log_constants;
template <> struct log_constants<double> {
  static constexpr std::int64_t three_quarters = 0x3fe8000000000000, one = 0x3ff0000000000000, mantissa_mask = 0xfffffffffffff;
  static constexpr int mantissa = 52;
  static constexpr double bias = 1023, smallest = 0x1p-1022, rescale = 0x1p54, rescale_log2 = 54;
  static constexpr double ln2_hi = 0x1.62e42fefa3800p-1, ln2_lo = 0x1.ef35793c76730p-45;  // hi has 42 bits: e * hi is exact
  static constexpr double log10_2_hi = 0x1.34413509f7800p-2, log10_2_lo = 0x1.fef311f12b358p-46;
  static constexpr double inv_ln2 = 0x1.71547652b82fep+0, inv_ln2_lo = 0x1.777d0ffda0d24p-56;
  static constexpr double inv_ln10 = 0x1.bcb7b1526e50ep-2, inv_ln10_lo = 0x1.95355baaafad3p-57;
};
template <> struct log_constants<float> {
  static constexpr std::int32_t three_quarters = 0x3f400000, one = 0x3f800000, mantissa_mask = 0x7fffff;
  static constexpr int mantissa = 23;
  static constexpr float bias = 127, smallest = 0x1p-126f, rescale = 0x1p25f, rescale_log2 = 25;
  static constexpr float ln2_hi = 0x1.62e4p-1f, ln2_lo = 0x1.7f7d1cp-20f;
  static constexpr float log10_2_hi = 0x1.344p-2f, log10_2_lo = 0x1.3509f8p-18f;
  static constexpr float inv_ln2 = 0x1.715476p+0f, inv_ln2_lo = 0x1.4ae0cp-26f;
  static constexpr float inv_ln10 = 0x1.bcb7b2p-2f, inv_ln10_lo = -0x1.5b235ep-27f;
};

// Non-negative small integer to floating point: or it into the mantissa of 2^mantissa, subtract that.
TTENSOR_INLINE float count_to_float(std::int32_t k) { return from_bits(std::int32_t(k | 0x4b000000)) - 0x1p23f; }
TTENSOR_INLINE double count_to_float(std::int64_t k) { return from_bits(std::int64_t(k | 0x4330000000000000)) - 0x1p52; }
template <int N> TTENSOR_INLINE pack<float, N> count_to_float(pack<std::int32_t, N> k) {
  return from_bits(k | pack<std::int32_t, N>(0x4b000000)) - pack<float, N>(0x1p23f);
}
template <int N> TTENSOR_INLINE pack<double, N> count_to_float(pack<std::int64_t, N> k) {
  return from_bits(k | pack<std::int64_t, N>(0x4330000000000000)) - pack<double, N>(0x1p52);
}

// log(1 + f) = f - low, given what to subtract from low.
template <class V>
TTENSOR_INLINE V log1p_low(V f, V less) {
  const V half_f = V(0.5f) * f;
  if constexpr (sizeof(lane_t<V>) == 8) {
    const V s = f / (V(2) + f);
    const V z = s * s, w = z * z;
    const V odd = fma(fma(V(0x1.38529afe71594p-3), w, V(0x1.c71c015097eb8p-3)), w, V(0x1.99999998f0937p-2));
    const V even = fma(fma(fma(V(0x1.3abff020a73e7p-3), w, V(0x1.7474e5ce8c7dcp-3)), w, V(0x1.249249b242414p-2)), w,
                       V(0x1.5555555555777p-1));
    const V rest = fma(z, fma(odd, z, even), half_f * f);
    return fma(half_f, f, -fma(s, rest, less));
  } else {
    const V f2 = f * f, f4 = f2 * f2;
    const V p01 = fma(V(-0x1.000082p-2f), f, V(0x1.5555a2p-2f));
    const V p23 = fma(V(-0x1.54dd26p-3f), f, V(0x1.996ae4p-3f));
    const V p45 = fma(V(-0x1.0e1146p-3f), f, V(0x1.284c70p-3f));
    const V p67 = fma(V(-0x1.7a3416p-5f), f, V(0x1.b17862p-4f));
    const V p = fma(fma(p67, f2, p45), f4, fma(p23, f2, p01));
    return fma(half_f, f, -fma(f * f2, p, less));
  }
}

// What is made of e and f: the logarithm to base e, 2 or 10.
struct natural {
  template <class V>
  static TTENSOR_INLINE V finish(V e, V f) {
    using C = log_constants<lane_t<V>>;
    return fma(e, V(C::ln2_hi), f - log1p_low(f, e * V(C::ln2_lo)));
  }
};
struct binary {
  template <class V>
  static TTENSOR_INLINE V finish(V e, V f) {
    using C = log_constants<lane_t<V>>;
    const V l = f - log1p_low(f, V(0));
    return e + rounded(fma(l, V(C::inv_ln2), l * V(C::inv_ln2_lo)));
  }
};
struct decimal {
  template <class V>
  static TTENSOR_INLINE V finish(V e, V f) {
    using C = log_constants<lane_t<V>>;
    const V l = f - log1p_low(f, V(0));
    return fma(e, V(C::log10_2_hi), fma(l, V(C::inv_ln10), fma(l, V(C::inv_ln10_lo), e * V(C::log10_2_lo))));
  }
};

// A normal x: the bits above those of 3/4 split into exponent and mantissa.
template <class Base, class V>
TTENSOR_INLINE V log_normal(V x, V bias) {
  using I = bits_t<V>;
  using C = log_constants<lane_t<V>>;
  const I shifted = add_bits(to_bits(x), I(C::one - C::three_quarters));
  const V e = count_to_float(shr<C::mantissa>(shifted)) - bias;
  return Base::finish(e, from_bits((shifted & I(C::mantissa_mask)) + I(C::three_quarters)) - V(1));
}

// Some lane is zero, negative, subnormal, infinite or NaN.
template <class Base, class V>
TTENSOR_NOINLINE V log_rare(V x) {
  using T = lane_t<V>;
  using C = log_constants<T>;
  const auto tiny = x < V(C::smallest);
  const V result = log_normal<Base>(select(tiny, x * V(C::rescale), x), select(tiny, V(C::bias + C::rescale_log2), V(C::bias)));
  const V inf = V(std::numeric_limits<T>::infinity());
  const V positive = select(x < inf, result, x);  // +inf and NaN stay
  return select(x <= V(0), select(x < V(0), V(std::numeric_limits<T>::quiet_NaN()), -inf), positive);
}

template <class Base, class V>
TTENSOR_INLINE V log_base(V x) {
  using T = lane_t<V>;
#if TTENSOR_HAS_REGISTERS && TTENSOR_SIMD_BYTES == 64
  if constexpr (sizeof(V) == 64) {
    const V y = x + V(0);  // -0 becomes +0
    V m, e;
    m.r[0] = simd::mantissa(y.r[0]);
    e.r[0] = simd::exponent(y.r[0]) - simd::exponent(m.r[0]);
    return Base::finish(e, m - V(1));
  } else
#endif
  {
    const auto normal = (x >= V(log_constants<T>::smallest)) & (x < V(std::numeric_limits<T>::infinity()));
    if (TTENSOR_UNLIKELY(!all_lanes(normal))) return log_rare<Base>(x);
    return log_normal<Base>(x, V(log_constants<T>::bias));
  }
}

template <class V> TTENSOR_INLINE V log_kernel(V x) { return log_base<natural>(x); }
template <class V> TTENSOR_INLINE V log2_kernel(V x) { return log_base<binary>(x); }
template <class V> TTENSOR_INLINE V log10_kernel(V x) { return log_base<decimal>(x); }

// x <= -1, inf or NaN in some lane.
template <class V>
TTENSOR_NOINLINE V log1p_rare(V x, V y) {
  using T = lane_t<V>;
  const V inf = V(std::numeric_limits<T>::infinity());
  const V low = select(x < V(-1), V(std::numeric_limits<T>::quiet_NaN()), select(x > V(-1), x, -inf));
  return select((x > V(-1)) & (x < inf), y, select(x == x, low, x));
}

// u = 1 + x = 2^e m rounds; what it lost, `lost`, adds lost / u to the logarithm. Where e = 0, f = x itself and nothing is lost.
template <class V>
TTENSOR_INLINE V log1p_kernel(V x) {
  using T = lane_t<V>;
  using I = bits_t<V>;
  using C = log_constants<T>;
  const V u = V(1) + x;
  const V big = max_raw(x, V(1)), small = min_raw(x, V(1));  // u - big is exact
  const V lost = small - (u - big);
  const I shifted = add_bits(to_bits(u), I(C::one - C::three_quarters));
  const I exponent = shr<C::mantissa>(shifted);
  const V e = count_to_float(exponent) - V(C::bias);
  const auto near = e == V(0);
  const V f = select(near, x, from_bits((shifted & I(C::mantissa_mask)) + I(C::three_quarters)) - V(1));
  const V correction = select(near, V(0), lost / u);
  const V rest = f - log1p_low(f, fma(e, V(C::ln2_lo), correction));
  const V y = select(near, rest, fma(e, V(C::ln2_hi), rest));  // keeps -0
  const auto normal = (x > V(-1)) & (x < V(std::numeric_limits<T>::infinity()));
  if (TTENSOR_UNLIKELY(!all_lanes(normal))) return log1p_rare(x, y);
  return y;
}

}  // namespace detail

TTENSOR_MATH_UNARY(log, ::logf(x), ::log(x))
TTENSOR_MATH_UNARY(log2, ::log2f(x), ::log2(x))
TTENSOR_MATH_UNARY(log10, ::log10f(x), ::log10(x))
TTENSOR_MATH_UNARY(log1p, ::log1pf(x), ::log1p(x))

}  // namespace math
TTENSOR_END
