// Which types are numbers, and which type comes out when they meet: compute, reduction, accumulation, promotion.
// Tensor with tensor follows NumPy 2; a C++ scalar is weak, it keeps the tensor's type within bool < int < float < complex.
// A user type becomes a number by specialising number_traits; std::complex is one after including num/complex.hpp.
#pragma once
#include <cstdint>

#include "half.hpp"

TTENSOR_BEGIN

enum class number_kind : unsigned char { none, boolean, unsigned_integer, signed_integer, floating, complex };

/// Specialise to open the element types: kind, precision_bits (bits of the significand; of an integer: of the whole type). Such numbers, and long double, have
/// arithmetic, comparisons, selections, sums, products and derivatives of these, element by element; functions such as exp have forms for the library's own types.
template <class T>
struct number_traits {
  static constexpr number_kind kind = number_kind::none;
};
template <number_kind Kind, int Bits>
struct basic_number_traits {
  static constexpr number_kind kind = Kind;
  static constexpr int precision_bits = Bits;
};
template <> struct number_traits<bool> : basic_number_traits<number_kind::boolean, 1> {};
template <> struct number_traits<half> : basic_number_traits<number_kind::floating, 11> {};
template <> struct number_traits<bfloat16> : basic_number_traits<number_kind::floating, 8> {};
template <> struct number_traits<float> : basic_number_traits<number_kind::floating, 24> {};
template <> struct number_traits<double> : basic_number_traits<number_kind::floating, 53> {};
template <> struct number_traits<long double> : basic_number_traits<number_kind::floating, std::numeric_limits<long double>::digits> {};
// By C++ type, not by std::int64_t: `long` and `long long` are both 64-bit integers.
#define TTENSOR_INTEGER(T)                                                                            \
  template <> struct number_traits<T>                                                                 \
      : basic_number_traits<(static_cast<T>(-1) < static_cast<T>(0)) ? number_kind::signed_integer    \
                                                                     : number_kind::unsigned_integer, \
                            int(8 * sizeof(T))> {};
TTENSOR_INTEGER(char)
TTENSOR_INTEGER(signed char)
TTENSOR_INTEGER(unsigned char)
TTENSOR_INTEGER(short)
TTENSOR_INTEGER(unsigned short)
TTENSOR_INTEGER(int)
TTENSOR_INTEGER(unsigned)
TTENSOR_INTEGER(long)
TTENSOR_INTEGER(unsigned long)
TTENSOR_INTEGER(long long)
TTENSOR_INTEGER(unsigned long long)
#undef TTENSOR_INTEGER

template <class T> inline constexpr number_kind kind_v = number_traits<T>::kind;
// As ints: comparing the enumeration itself would ask our own constrained operators, which ask these concepts.
template <class T> inline constexpr int kind_number_v = static_cast<int>(kind_v<T>);
template <class T> concept number = kind_number_v<T> != static_cast<int>(number_kind::none);
template <class T> inline constexpr bool is_integer_v =
    kind_number_v<T> == static_cast<int>(number_kind::signed_integer) ||
    kind_number_v<T> == static_cast<int>(number_kind::unsigned_integer);
template <class T> inline constexpr bool is_floating_v = kind_number_v<T> == static_cast<int>(number_kind::floating);
template <class T> inline constexpr bool is_complex_v = kind_number_v<T> == static_cast<int>(number_kind::complex);
template <class T> concept floating_number = number<T> && is_floating_v<T>;
template <class T> concept complex_number = number<T> && is_complex_v<T>;

namespace detail {

template <class T> struct same { using type = T; };
template <bool C, class A, class B> struct choose { using type = A; };
template <class A, class B> struct choose<false, A, B> { using type = B; };
template <bool C, class A, class B> using choose_t = typename choose<C, A, B>::type;

template <class T> struct real_part { using type = T; };    // complex.hpp specialises both
template <class T> struct complex_of { using type = void; };

template <bool Signed, int Bits> struct integer_of { using type = void; };
template <> struct integer_of<true, 8> { using type = std::int8_t; };
template <> struct integer_of<true, 16> { using type = std::int16_t; };
template <> struct integer_of<true, 32> { using type = std::int32_t; };
template <> struct integer_of<true, 64> { using type = std::int64_t; };
template <> struct integer_of<false, 8> { using type = std::uint8_t; };
template <> struct integer_of<false, 16> { using type = std::uint16_t; };
template <> struct integer_of<false, 32> { using type = std::uint32_t; };
template <> struct integer_of<false, 64> { using type = std::uint64_t; };

constexpr int larger(int a, int b) { return a < b ? b : a; }

// Two integers: the wider of equal signedness; mixed, a signed type that holds both; uint64 with any signed: double.
template <class A, class B>
consteval auto promote_integers() {
  constexpr bool sa = kind_v<A> == number_kind::signed_integer, sb = kind_v<B> == number_kind::signed_integer;
  constexpr int ba = number_traits<A>::precision_bits, bb = number_traits<B>::precision_bits;
  if constexpr (sa == sb) return same<choose_t<(ba >= bb), A, B>>{};
  else {
    constexpr int bits = larger(sa ? ba : 2 * ba, sb ? bb : 2 * bb);
    if constexpr (bits > 64) return same<double>{};
    else return same<typename integer_of<true, bits>::type>{};
  }
}

// Floating F with integer I: the smallest of half, float, double, at least F, whose significand holds I (8 bits: half,
// 16: float, more: double). bfloat16 holds 8-bit integers as half does not: bfloat16 + int8 is bfloat16.
template <class F, class I>
consteval auto promote_floating_integer() {
  constexpr int bits = number_traits<I>::precision_bits;
  if constexpr (bits <= 8) return same<F>{};
  else if constexpr (bits <= 16) return same<choose_t<(number_traits<F>::precision_bits < 24), float, F>>{};
  else return same<choose_t<(number_traits<F>::precision_bits < 53), double, F>>{};
}

template <class A, class B>
consteval auto promote() {
  if constexpr (__is_same(A, B)) return same<A>{};
  else if constexpr (kind_v<A> == number_kind::boolean) return same<B>{};
  else if constexpr (kind_v<B> == number_kind::boolean) return same<A>{};
  else if constexpr (is_complex_v<A> || is_complex_v<B>) {
    using R = typename decltype(promote<typename real_part<A>::type, typename real_part<B>::type>())::type;
    if constexpr (is_integer_v<R>) return same<typename complex_of<choose_t<true, double, A>>::type>{};
    else return same<typename complex_of<choose_t<(number_traits<R>::precision_bits < 24), float, R>>::type>{};
  }
  else if constexpr (is_integer_v<A> && is_integer_v<B>) return promote_integers<A, B>();
  else if constexpr (is_integer_v<B>) return promote_floating_integer<A, B>();
  else if constexpr (is_integer_v<A>) return promote_floating_integer<B, A>();
  else if constexpr (number_traits<A>::precision_bits < 24 && number_traits<B>::precision_bits < 24) return same<float>{};  // half, bfloat16
  else return same<choose_t<(number_traits<A>::precision_bits >= number_traits<B>::precision_bits), A, B>>{};
}

template <class A, class S>
consteval auto weak() {
  constexpr number_kind a = kind_v<A>, s = kind_v<S>;
  constexpr bool integers = is_integer_v<A> && (s == number_kind::boolean || is_integer_v<S>);
  if constexpr (std::is_void_v<A> && s == number_kind::boolean) return same<S>{};  // among C++ numbers alone
  else if constexpr (s == number_kind::boolean || integers || a == number_kind::complex ||
                (a == number_kind::floating && s != number_kind::complex))
    return same<A>{};
  else if constexpr (s == number_kind::complex) {
    if constexpr (a == number_kind::floating)
      return same<typename complex_of<choose_t<(number_traits<A>::precision_bits < 24), float, A>>::type>{};
    else return same<typename complex_of<choose_t<true, double, A>>::type>{};
  }
  else if constexpr (s == number_kind::floating) return same<double>{};
  else return same<std::int64_t>{};
}

template <class T>
consteval auto reduced() {
  if constexpr (kind_number_v<T> == static_cast<int>(number_kind::boolean) ||
                kind_number_v<T> == static_cast<int>(number_kind::signed_integer))
    return same<std::int64_t>{};
  else if constexpr (kind_number_v<T> == static_cast<int>(number_kind::unsigned_integer)) return same<std::uint64_t>{};
  else return same<T>{};
}

template <class T>
consteval auto collect() {
  if constexpr (is_floating_v<T> && sizeof(T) <= sizeof(double)) return same<double>{};
  else if constexpr (is_complex_v<T> && __is_same(typename complex_of<typename real_part<T>::type>::type, T))
    return same<typename complex_of<choose_t<true, double, T>>::type>{};
  else return same<T>{};
}

template <class T> inline constexpr bool is_short_float = __is_same(T, half) || __is_same(T, bfloat16);

}  // namespace detail

/// The type arithmetic is done in: float for half and bfloat16, T for all others.
template <class T> using compute_t = detail::choose_t<detail::is_short_float<T>, float, T>;
/// What a full reduction returns: integers and bool widen to 64 bits of their signedness.
template <class T> using reduced_t = typename decltype(detail::reduced<T>())::type;
/// What a reduction adds up in: float for half and bfloat16, reduced_t otherwise.
template <class T> using accumulate_t = detail::choose_t<detail::is_short_float<T>, float, reduced_t<T>>;
/// What long sums of T are collected in: double for float and shorter, complex numbers of double for those of float.
template <class T> using collect_t = typename decltype(detail::collect<T>())::type;
/// The same of what a device adds up: double for floats, 64 bits for integers.
template <class T> using device_sum_t = collect_t<accumulate_t<T>>;
/// Element type of an operation between tensors of A and B.
template <class A, class B> using promote_t = typename decltype(detail::promote<A, B>())::type;
/// Element type of an operation between a tensor of A and a C++ scalar of type S.
template <class A, class S> using weak_t = typename decltype(detail::weak<A, S>())::type;
/// The real type of a complex one; T itself otherwise.
template <class T> using real_t = typename detail::real_part<T>::type;

TTENSOR_END
