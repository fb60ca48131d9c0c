// Numbers of C++ as bounds of integers of another type: what they say, or an error; never cut to the type.
#pragma once
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include "tensor.hpp"

TTENSOR_BEGIN
namespace bounds {
[[noreturn]] void unreached(const char* op, const std::string& number);  // the element type does not reach it
[[noreturn]] void broken(const char* op, double number);
#if defined(TTENSOR_BODY)
TTENSOR_BODY void unreached(const char* op, const std::string& number) {
  raise<domain_error>(std::string("[") + op + "] " + number + " is beyond the element type; choose a wider one [TT-D16]");
}
TTENSOR_BODY void broken(const char* op, double number) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%g", number);
  raise<domain_error>(std::string("[") + op + "] " + digits + " is no integer of 64 bits; round it, or count in doubles [TT-D16]");
}
#endif
/// A single number that is no value of a live transform: of C++, half or bfloat16, or an element of such.
template <class V> concept bound = cpp_number<V> || detail::is_short_float<V> || element_proxy<V>;
template <class V> auto number_of(const V& v) {
  if constexpr (element_proxy<V>) return number_of(v.get());
  else if constexpr (detail::is_short_float<V>) return static_cast<float>(v);
  else return v;
}
/// The integer v; of a floating-point number, which has to be whole and to have 64 bits at most.
template <class V> auto whole(const char* op, const V& bound) {
  const auto v = number_of(bound);
  if constexpr (std::is_integral_v<decltype(+v)>) {
    return +v;  // no bool and no character
  } else {
    constexpr auto edge = decltype(+v)(9223372036854775808.0);  // 2^63
    const bool fits = v >= -edge && v < edge;
    const std::int64_t i = fits ? static_cast<std::int64_t>(v) : 0;
    if (!fits || static_cast<decltype(+v)>(i) != v) broken(op, static_cast<double>(v));
    return i;
  }
}
/// The number v as a T, which has to reach it.
template <class T, class V> T exactly(const char* op, const V& v) {
  if constexpr (std::is_same_v<T, V> || !bound<V>) {
    return static_cast<T>(v);
  } else {
    const auto i = whole(op, v);
    if (std::cmp_less(i, +std::numeric_limits<T>::min()) || std::cmp_greater(i, +std::numeric_limits<T>::max()))
      unreached(op, std::to_string(i));
    return static_cast<T>(i);
  }
}
}  // namespace bounds
TTENSOR_END
