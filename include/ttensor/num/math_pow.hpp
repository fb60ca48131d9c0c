// pow.
//
// |x|^y = exp(y log|x|), the sign and NaN from the parity of y. float goes through double: one log, one exp. double needs the
// logarithm to about 2^-64: log m = s (2 + t), s = f / (2 + f), t = s^2 (2/3 + s^2 R(s^2)), with s, t and the sum carried as
// unevaluated pairs (hi + lo); fma gives the error of a product. Without FMA double pow is libm, lane by lane.
/// Domain    x < 0 needs an integer y, else NaN; pow(x, 0) = pow(1, y) = 1 even for NaN; zeros, infinities and subnormals as
///           in C (double: those lanes, and |y| >= 2^40, leave for libm)
/// Accuracy  max ulp, float / double: 0.5 / 1.2 (2.5 seen for bases next to 3/4 and exponents above 2000), x^3 0.5 / 1.5; docs/accuracy.md
/// Cost      x^1, x^2 and x^3 are products: float a tenth, double a twentieth of the others
#pragma once
#include "math_log.hpp"

TTENSOR_BEGIN
namespace math {
namespace detail {

inline constexpr double pow_tail[] = {0x1.9999999999999p-2, 0x1.2492492492efep-2, 0x1.c71c71c4c9bd0p-3, 0x1.745d18dcfa34ap-3,
                                      0x1.3b1326e24be1ep-3, 0x1.112ad8a49adf4p-3, 0x1.dc877f1d608a8p-4, 0x1.f8dea80136d28p-4};

template <class V>
struct pair {
  V hi, lo;
};
// a + b for |a| >= |b| or a = 0, and a b, exactly.
template <class V> TTENSOR_INLINE pair<V> exact_sum(V a, V b) { const V s = a + b; return {s, b - (s - a)}; }
template <class V> TTENSOR_INLINE pair<V> exact_product(V a, V b) { const V p = rounded(a * b); return {p, fma(a, b, -p)}; }

// log(x) for a normal x > 0; V of double.
template <class V>
TTENSOR_INLINE pair<V> log_pair(V x) {
  using I = bits_t<V>;
  using C = log_constants<double>;
  const I shifted = add_bits(to_bits(x), I(C::one - C::three_quarters));
  const V e = count_to_float(shr<C::mantissa>(shifted)) - V(C::bias);
  const V m = from_bits((shifted & I(C::mantissa_mask)) + I(C::three_quarters));
  const V f = m - V(1);
  const V d = V(1) + m, d_lo = m - (d - V(1));
  const V inverse = V(1) / d;
  const V s = rounded(f * inverse);
  const V s_lo = rounded(fma(-s, d_lo, fma(-s, d, f)) * inverse);
  const auto z = exact_product(s, s);
  const V z_lo = fma(s + s, s_lo, z.lo);
  const auto c = exact_sum(V(0x1.5555555555555p-1), rounded(z.hi * polynomial(z.hi, pow_tail)));
  const V c_lo = c.lo + V(0x1.5555555555555p-55);
  const auto t = exact_product(z.hi, c.hi);
  const V t_lo = fma(z.hi, c_lo, fma(z_lo, c.hi, t.lo));
  const auto w = exact_product(s, t.hi);
  const V w_lo = fma(s, t_lo, fma(s_lo, t.hi, w.lo));
  const auto a = exact_sum(rounded(e * V(C::ln2_hi)), s + s);
  const auto b = exact_sum(a.hi, w.hi);
  const V lo = fma(e, V(C::ln2_lo), fma(V(2), s_lo, w_lo)) + (a.lo + b.lo);
  return {b.hi, lo};
}

// |x|^y with the sign of x restored for odd y; NaN for x < 0 and y not an integer. `power` is |x|^y.
template <class V>
TTENSOR_INLINE V pow_sign(V x, V y, V power) {
  using T = lane_t<V>;
  const V half_y = rounded(y * V(0.5f));
  const auto whole = trunc(y) == y;
  const auto odd = whole & (trunc(half_y) != half_y);
  const V with_sign = select(odd, from_bits(to_bits(power) | (to_bits(x) & bits_t<V>(sign_mask<V>))), power);
  const auto finite_negative = (x < V(0)) & (x > V(-std::numeric_limits<T>::infinity()));
  return select(finite_negative & !whole, V(std::numeric_limits<T>::quiet_NaN()), with_sign);
}

TTENSOR_INLINE double pow_libm(double x, double y) { return __builtin_pow(x, y); }
template <int N>
TTENSOR_NOINLINE pack<double, N> pow_libm(pack<double, N> x, pack<double, N> y) {
  double a[N], b[N];
  x.store(a);
  y.store(b);
  for (int i = 0; i < N; ++i) a[i] = pow_libm(a[i], b[i]);
  return pack<double, N>::load(a);
}

template <class V>
TTENSOR_INLINE V pow_double(V x, V y) {
#if TTENSOR_HAS_FMA
  using C = exp_constants<double>;
  const V a = abs_kernel(x), ay = abs_kernel(y);
  const auto l = log_pair(a);
  const auto p = exact_product(y, l.hi);
  const V p_lo = fma(y, l.lo, p.lo);
  const V limited = min_raw(V(C::highest), max_raw(V(C::lowest), p.hi));
  const V shifted = fma(limited, V(C::log2e), V(C::shift));
  const V n = shifted - V(C::shift);
  const V r = fma(n, V(-C::ln2_lo), fma(n, V(-C::ln2_hi), limited)) + p_lo;
  const V result = pow_sign(x, y, scale_by_power(V(1) + expm1_reduced(r), shifted, n));
  // |p.hi| < 2^50 then, so that |p_lo| < 0.2: less than the room between the limits of p.hi and those of exp.
  const auto usual = (a >= V(0x1p-1022)) & (a < V(std::numeric_limits<double>::infinity())) & (ay < V(0x1p40));
  if (TTENSOR_UNLIKELY(!all_lanes(usual))) return select(usual, result, pow_libm(x, y));
  return result;
#else
  return pow_libm(x, y);
#endif
}

// float, on double: zeros and infinities come out of log and exp by themselves.
template <class V>
TTENSOR_INLINE V pow_of_float(V x, V y) {
  const V a = abs_kernel(x);
  const V p = exp_kernel(rounded(y * log_kernel(a)));
  return select((y == V(0)) | (x == V(1)), V(1), pow_sign(x, y, select(a == V(1), V(1), p)));
}

// x^1, x^2 and x^3 as products, whatever the exponents of neighbouring lanes are; V of double.
template <bool OfFloat, class V> TTENSOR_INLINE V product_or(V x, V y) {
  const auto two = y == V(2), three = y == V(3);
  const auto few = two | three | (y == V(1));
  const V xx = rounded(x * x), product = select(two, xx, select(three, rounded(xx * x), x));
  if (all_lanes(few)) return product;
  V p;  // by name: g++ -Og cannot inline what a pointer calls
  if constexpr (OfFloat) p = pow_of_float(x, y);
  else p = pow_double(x, y);
  return TTENSOR_LIKELY(all_lanes(!few)) ? p : select(few, product, p);
}
template <class V> TTENSOR_INLINE V power_of_double(V x, V y) { return product_or<false>(x, y); }
template <class V> TTENSOR_INLINE V power_of_float(V x, V y) { return product_or<true>(x, y); }

}  // namespace detail

#if TTENSOR_DEVICE_PASS
TTENSOR_HD TTENSOR_INLINE float pow(float x, float y) { return ::powf(x, y); }
TTENSOR_HD TTENSOR_INLINE double pow(double x, double y) { return ::pow(x, y); }
#else
TTENSOR_HD TTENSOR_INLINE float pow(float x, float y) { return float(detail::power_of_float(double(x), double(y))); }
TTENSOR_HD TTENSOR_INLINE double pow(double x, double y) { return detail::power_of_double(x, y); }
#endif
template <class T, int N> TTENSOR_INLINE pack<T, N> pow(pack<T, N> x, pack<T, N> y) {
  if constexpr (__is_same(T, float)) {
    auto a = convert<double>(x);
    const auto b = convert<double>(y);
    TTENSOR_UNROLL for (int i = 0; i < pack<double, N>::count; ++i)
        detail::set_part(a, i, detail::power_of_float(detail::part(a, i), detail::part(b, i)));
    return convert<float>(a);
  } else {
    TTENSOR_UNROLL for (int i = 0; i < pack<T, N>::count; ++i)
        detail::set_part(x, i, detail::power_of_double(detail::part(x, i), detail::part(y, i)));
    return x;
  }
}
TTENSOR_MATH_DEVICE_2(pow)

}  // namespace math
TTENSOR_END
