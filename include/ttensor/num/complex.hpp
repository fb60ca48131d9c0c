// std::complex<float> and std::complex<double> as numbers. Kept apart because <complex> costs 0.25 s where nothing else includes it.
// Include it before any other header of ttensor but the base: the operators look for these functions where they are defined.
#pragma once
#if defined(TTENSOR_OPERATORS_DEFINED) && !defined(TTENSOR_COMPLEX)
#error "ttensor: include <ttensor/num/complex.hpp> before the other headers of ttensor (or include <ttensor/all.hpp> only)"
#endif
#define TTENSOR_COMPLEX
#include "math.hpp"
#include "pack_complex.hpp"
#include "traits.hpp"

TTENSOR_BEGIN

namespace detail {
template <class T> constexpr int complex_bits() {
  constexpr bool real = requires { number_traits<T>::precision_bits; };
  static_assert(
      real,
      "ttensor: std::complex of a value of a transform: complex numbers have real and imaginary parts in float or double, also inside a transform; "
      "write a * std::complex<double>(1, 0) + b * std::complex<double>(0, 1)");
  if constexpr (real) return number_traits<T>::precision_bits;
  else return 0;
}
}  // namespace detail
template <class T> struct number_traits<std::complex<T>> : basic_number_traits<number_kind::complex, detail::complex_bits<T>()> {};

namespace detail {
template <class T> struct real_part<std::complex<T>> { using type = T; };
template <> struct complex_of<float> { using type = std::complex<float>; };
template <> struct complex_of<double> { using type = std::complex<double>; };
}  // namespace detail

namespace math {

// Host only: the standard library's functions, but for exp of packs where it is far from the ends of its range.
template <class T> inline std::complex<T> exp(const std::complex<T>& z) { return std::exp(z); }
template <class T, int N> inline pack<std::complex<T>, N> exp(const pack<std::complex<T>, N>& z) {
  using P = pack<std::complex<T>, N>;
  const auto one = [](const std::complex<T>& x) { return std::exp(x); };
  if constexpr (simd::plain<T>) {
    using L = std::numeric_limits<T>;
    const auto size = math::exp(z.re);
    const auto usual = (size >= pack<T, N>(L::min())) & (size <= pack<T, N>(L::max())) & (math::abs(z.im) <= pack<T, N>(T(1e5)));
    return P::checked(P(P::times(size, math::cos(z.im)), P::times(size, math::sin(z.im))), usual, one, z);
  } else {
    return P::each(one, z);
  }
}
#define TTENSOR_MATH_COMPLEX(name) \
  template <class T> inline std::complex<T> name(const std::complex<T>& z) { return std::name(z); } \
  template <class T, int N> inline pack<std::complex<T>, N> name(const pack<std::complex<T>, N>& z) { \
    return pack<std::complex<T>, N>::each([](const std::complex<T>& x) { return std::name(x); }, z); \
  }
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
#define TTENSOR_MATH_PART(name, result, parts)                                                  \
  template <class T> inline result name(const std::complex<T>& z) { return std::name(z); } \
  template <class T, int N> TTENSOR_INLINE pack<result, N> name(const pack<std::complex<T>, N>& z) { return parts; }
#define TTENSOR_EACH_LANE(name) pack<std::complex<T>, N>::each([](const std::complex<T>& x) { return std::name(x); }, z)
TTENSOR_MATH_PART(abs, T, z.abs())
TTENSOR_MATH_PART(arg, T, TTENSOR_EACH_LANE(arg))
TTENSOR_MATH_PART(real, T, z.re)
TTENSOR_MATH_PART(imag, T, z.im)
TTENSOR_MATH_PART(norm, T, z.norm())  // re^2 + im^2
TTENSOR_MATH_PART(conj, std::complex<T>, (pack<std::complex<T>, N>(z.re, -z.im)))
#undef TTENSOR_EACH_LANE
#undef TTENSOR_MATH_PART
/// exp(w log z); 1 for w = 0, products for 1, 2 and 3, and 0 for z = 0 where real(w) > 0.
template <class T> inline std::complex<T> pow(const std::complex<T>& z, const std::complex<T>& w) {
  if (w == T(0)) return T(1);
  if (w == T(1)) return z;
  if (w == T(2)) return z * z;
  if (w == T(3)) return z * z * z;
  if (z == T(0) && w.real() > 0) return T(0);
  return std::exp(w * std::log(z));
}
template <class T, int N>
TTENSOR_INLINE pack<std::complex<T>, N> pow(const pack<std::complex<T>, N>& z, const pack<std::complex<T>, N>& w) {
  using P = pack<std::complex<T>, N>;
  const auto two = w == P(T(2)), three = w == P(T(3)), few = two | three | (w == P(T(1)));
  const P square = z * z, product = select(two, square, select(three, square * z, z));
  if (all_lanes(few)) return product;
  return select(few, product, P::each([](const std::complex<T>& x, const std::complex<T>& y) { return math::pow(x, y); }, z, w));
}
template <class T> inline std::complex<T> rsqrt(const std::complex<T>& z) { return T(1) / std::sqrt(z); }
template <class T, int N> inline pack<std::complex<T>, N> rsqrt(const pack<std::complex<T>, N>& z) {
  return pack<std::complex<T>, N>::each([](const std::complex<T>& x) { return math::rsqrt(x); }, z);
}

}  // namespace math

TTENSOR_END
