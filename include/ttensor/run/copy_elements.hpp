// Copies of elements that lie apart.
#pragma once
#include <cstring>
#include "../base/meta.hpp"

#if defined(TTENSOR_BODY)
TTENSOR_BEGIN
namespace run {

namespace copy_detail {
template <int B> inline void strided(char* to, index_t to_step, const char* from, index_t from_step, index_t n) {
  for (; n > 0; --n, to += to_step, from += from_step) __builtin_memcpy(to, from, B);
}
}  // namespace copy_detail
/// n elements, a step of bytes from one to the next. They do not overlap.
TTENSOR_NOINLINE inline void copy_elements(int bytes, char* to, index_t to_step, const char* from, index_t from_step, index_t n) {
  if (to_step == bytes && from_step == bytes) return void(std::memcpy(to, from, static_cast<std::size_t>(n * bytes)));
  switch (bytes) {
    case 1: return copy_detail::strided<1>(to, to_step, from, from_step, n);
    case 2: return copy_detail::strided<2>(to, to_step, from, from_step, n);
    case 4: return copy_detail::strided<4>(to, to_step, from, from_step, n);
    case 8: return copy_detail::strided<8>(to, to_step, from, from_step, n);
    case 16: return copy_detail::strided<16>(to, to_step, from, from_step, n);
    default:
      for (index_t i = 0; i < n; ++i) std::memcpy(to + i * to_step, from + i * from_step, static_cast<std::size_t>(bytes));
  }
}

}  // namespace run
TTENSOR_END
#endif
