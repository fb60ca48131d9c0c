// erf, erfc.
//
// |x| < 1/2: erf(x) = x + x P(x^2). Else erfc(a) = exp(-a^2) G(u) / (a + 2), u = (a - 2) / (a + 2), a = |x|, with a^2 in two
// parts so that the exponential keeps its relative accuracy; erf = 1 - erfc, erfc(-a) = 2 - erfc(a).
/// Accuracy  max ulp, float / double: erf 3.2 / 3.2, erfc 5.6 / 5.3; measured by tests/ops/accuracy_test.cpp
#pragma once
#include "math_exp.hpp"

TTENSOR_BEGIN
namespace math {
namespace detail {

template <class T> struct erf_constants;
template <> struct erf_constants<double> {
  static constexpr double zero = 27.4;  // erfc is 0 from here on
  static constexpr std::int64_t upper_half = ~std::int64_t(0x7ffffff);
  static constexpr double small[] = {0x1.06eba8214db68p-3,  -0x1.812746b0379b3p-2,  0x1.ce2f21a03d652p-4,
                                     -0x1.b82ce30f1cf7cp-6, 0x1.565bcbf55bb2ep-8,   -0x1.c02d4e7bc9de7p-11,
                                     0x1.f98d8f1efcf47p-14, -0x1.f2220fd6a59cfp-17, 0x1.8b34a4d6fdf3fp-20};
  static constexpr double large[] = {
      0x1.058671b52c776p+0,   -0x1.5fd386754efecp-1,  0x1.1e2deea6b1173p-2,   -0x1.2a88e61084f76p-5,
      -0x1.606e415520df8p-6,  0x1.a89eb0033e3b2p-8,   0x1.9517bb5d1aa48p-9,   -0x1.b6fc008e017e2p-11,
      -0x1.5ba4304235a23p-11, 0x1.2058df36ed1f8p-15,  0x1.2ef878abb7dd1p-13,  0x1.1e57c0e0d07b7p-15,
      -0x1.6b99b1f0edc09p-16, -0x1.0d95fe846401fp-16, -0x1.4b881e2fb30dap-20, 0x1.db5c681d9a6fcp-19,
      0x1.346db5cdea7efp-19,  0x1.0f6637e8af48ep-24,  -0x1.10a70a7c081f0p-20, -0x1.d7d4697e8483cp-23,
      0x1.48a9976ee6831p-22,  -0x1.43b66cc60cc73p-25};
};
template <> struct erf_constants<float> {
  static constexpr float zero = 10.2f;
  static constexpr std::int32_t upper_half = ~std::int32_t(0xfff);
  static constexpr float small[] = {0x1.06eba8p-3f, -0x1.812732p-2f, 0x1.ce24f6p-4f, -0x1.b6636ap-6f, 0x1.352f86p-8f};
  static constexpr float large[] = {0x1.058672p+0f, -0x1.5fd386p-1f, 0x1.1e2db2p-2f, -0x1.2a876ep-5f, -0x1.6030p-6f,
                                    0x1.a80b82p-8f, 0x1.8a3750p-9f, -0x1.a4991cp-11f, -0x1.f5bd80p-12f};
};

template <class V>
TTENSOR_INLINE V erf_small(V x) {
  return fma(x, polynomial(x * x, erf_constants<lane_t<V>>::small), x);
}

// erfc(a) for a >= 1/2.
template <class V>
TTENSOR_INLINE V erfc_large(V x) {
  using T = lane_t<V>;
  using C = erf_constants<T>;
  using E = exp_constants<T>;
  const V a = min_raw(V(C::zero), x);
  const V square = a * a;
#if TTENSOR_HAS_FMA
  const V square_low = fma(a, a, -square);
#else
  const V high = from_bits(to_bits(a) & bits_t<V>(C::upper_half)), low = a - high;  // both squares and the product are exact
  const V square_low = ((high * high - square) + (high + high) * low) + low * low;
#endif
  const V shifted = fma(square, V(-E::log2e), V(E::shift));
  const V n = shifted - V(E::shift);
  const V r = fma(n, V(-E::ln2_lo), fma(n, V(-E::ln2_hi), -square)) - square_low;
  const V inverse = V(1) / (a + V(2));
  const V g = polynomial(fma(V(-4), inverse, V(1)), C::large) * inverse;  // u = 1 - 4 / (a + 2)
  return scale_by_power(fma(g, expm1_reduced(r), g), shifted, n);
}

template <class V>
TTENSOR_INLINE V erf_kernel(V x) {
  const V a = abs_kernel(x);
  const V large = from_bits(to_bits(V(1) - erfc_large(a)) | (to_bits(x) & bits_t<V>(sign_mask<V>)));
  return select(a < V(0.5f), erf_small(x), large);
}

template <class V>
TTENSOR_INLINE V erfc_kernel(V x) {
  const V a = abs_kernel(x);
  const V c = erfc_large(a);
  return select(a < V(0.5f), V(1) - erf_small(x), select(x < V(0), V(2) - c, c));
}

}  // namespace detail

TTENSOR_MATH_UNARY(erf, ::erff(x), ::erf(x))
TTENSOR_MATH_UNARY(erfc, ::erfcf(x), ::erfc(x))

}  // namespace math
TTENSOR_END
