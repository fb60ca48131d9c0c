// std::complex<float> and std::complex<double> as numbers. Kept apart because <complex> costs 0.25 s where nothing else includes it.
// Include it before any other header of ttensor but the base: the operators look for these functions where they are defined.
#pragma once
#if defined(TTENSOR_OPERATORS_DEFINED) && !defined(TTENSOR_COMPLEX)
#error "ttensor: include <ttensor/num/complex.hpp> before the other headers of ttensor (or include <ttensor/all.hpp> only)"
#endif
#define TTENSOR_COMPLEX
#include <complex>

#include "math.hpp"
#include "traits.hpp"

TTENSOR_BEGIN

template <class T> struct number_traits<std::complex<T>> : basic_number_traits<number_kind::complex, number_traits<T>::precision_bits> {};

namespace detail {
template <class T> struct real_part<std::complex<T>> { using type = T; };
template <> struct complex_of<float> { using type = std::complex<float>; };
template <> struct complex_of<double> { using type = std::complex<double>; };
}  // namespace detail

namespace math {

namespace detail {
template <class U, class T, int N, class F> pack<U, N> each_lane(const pack<T, N>& z, F&& f) {
  U y[N];
  for (int i = 0; i < N; ++i) y[i] = f(z[i]);
  return pack<U, N>::load(y);
}
}  // namespace detail

// Host only: the standard library's functions.
#define TTENSOR_MATH_COMPLEX(name) \
  template <class T> inline std::complex<T> name(const std::complex<T>& z) { return std::name(z); } \
  template <class T, int N> inline pack<std::complex<T>, N> name(const pack<std::complex<T>, N>& z) { \
    return detail::each_lane<std::complex<T>>(z, [](const std::complex<T>& x) { return std::name(x); }); \
  }
TTENSOR_MATH_COMPLEX(exp)
TTENSOR_MATH_COMPLEX(log)
TTENSOR_MATH_COMPLEX(log10)
TTENSOR_MATH_COMPLEX(sqrt)
TTENSOR_MATH_COMPLEX(sin)
TTENSOR_MATH_COMPLEX(cos)
TTENSOR_MATH_COMPLEX(tan)
TTENSOR_MATH_COMPLEX(asin)
TTENSOR_MATH_COMPLEX(acos)
TTENSOR_MATH_COMPLEX(atan)
TTENSOR_MATH_COMPLEX(sinh)
TTENSOR_MATH_COMPLEX(cosh)
TTENSOR_MATH_COMPLEX(tanh)
TTENSOR_MATH_COMPLEX(asinh)
TTENSOR_MATH_COMPLEX(acosh)
TTENSOR_MATH_COMPLEX(atanh)
#undef TTENSOR_MATH_COMPLEX
#define TTENSOR_MATH_PART(name, result)                                                  \
  template <class T> inline result name(const std::complex<T>& z) { return std::name(z); } \
  template <class T, int N> inline pack<result, N> name(const pack<std::complex<T>, N>& z) { \
    return detail::each_lane<result>(z, [](const std::complex<T>& x) { return std::name(x); }); \
  }
TTENSOR_MATH_PART(abs, T)
TTENSOR_MATH_PART(real, T)
TTENSOR_MATH_PART(imag, T)
TTENSOR_MATH_PART(arg, T)
TTENSOR_MATH_PART(norm, T)  // re^2 + im^2
TTENSOR_MATH_PART(conj, std::complex<T>)
#undef TTENSOR_MATH_PART
/// exp(w log z); 1 for w = 0, and 0 for z = 0 where real(w) > 0.
template <class T> inline std::complex<T> pow(const std::complex<T>& z, const std::complex<T>& w) {
  if (w == T(0)) return T(1);
  if (z == T(0) && w.real() > 0) return T(0);
  return std::exp(w * std::log(z));
}
template <class T, int N> inline pack<std::complex<T>, N> pow(const pack<std::complex<T>, N>& z, const pack<std::complex<T>, N>& w) {
  std::complex<T> y[N];
  for (int i = 0; i < N; ++i) y[i] = math::pow(z[i], w[i]);
  return pack<std::complex<T>, N>::load(y);
}
template <class T> inline std::complex<T> rsqrt(const std::complex<T>& z) { return T(1) / std::sqrt(z); }
template <class T, int N> inline pack<std::complex<T>, N> rsqrt(const pack<std::complex<T>, N>& z) {
  return detail::each_lane<std::complex<T>>(z, [](const std::complex<T>& x) { return math::rsqrt(x); });
}
template <class T> inline std::complex<T> sigmoid(const std::complex<T>& z) { return T(1) / (T(1) + std::exp(-z)); }

}  // namespace math

TTENSOR_END
