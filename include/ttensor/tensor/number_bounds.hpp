// Numbers of C++ as bounds of integers of another type: what they say, or an error; never cut to the type.
#pragma once
#include <limits>
#include <string>
#include <utility>
#include "tensor.hpp"

TTENSOR_BEGIN
namespace bounds {
[[noreturn]] void unfit(const char* op, const std::string& number, const char* why);
#if defined(TTENSOR_BODY)
TTENSOR_BODY void unfit(const char* op, const std::string& number, const char* why) {
  raise<domain_error>(std::string("[") + op + "] " + number + " " + why + " [TT-D16]");
}
#endif

/// The integer v; of a floating-point number, which has to be whole and to have 64 bits at most.
template <class V> auto whole(const char* op, V v) {
  if constexpr (std::is_integral_v<V>) {
    return +v;  // no bool and no character
  } else {
    constexpr V edge = V(9223372036854775808.0);  // 2^63
    const bool fits = v >= -edge && v < edge;
    const std::int64_t i = fits ? static_cast<std::int64_t>(v) : 0;
    if (!fits || static_cast<V>(i) != v) unfit(op, std::to_string(v), "is no integer of 64 bits; round it, or count in doubles");
    return i;
  }
}
/// The number v as a T, which has to reach it.
template <class T, class V> T exactly(const char* op, const V& v) {
  if constexpr (!cpp_number<V> || std::is_same_v<T, V>) {
    return static_cast<T>(v);
  } else {
    const auto i = whole(op, v);
    if (std::cmp_less(i, +std::numeric_limits<T>::min()) || std::cmp_greater(i, +std::numeric_limits<T>::max()))
      unfit(op, std::to_string(i), "is beyond the element type; choose a wider one");
    return static_cast<T>(i);
  }
}
}  // namespace bounds
TTENSOR_END
