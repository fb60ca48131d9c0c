// Errors: one base, one class per kind, each text `[op] what happened, with values; what to do [TT-Xnn]`.
// They live outside the instruction-set namespace, so a library built with other flags can catch them.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include "config.hpp"

namespace ttensor {

class error : public std::exception {
 public:
  explicit error(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};
struct shape_error : error { using error::error; };    // TT-S: extents that do not fit
struct axis_error : error { using error::error; };     // TT-A: an axis out of range or repeated
struct index_error : error { using error::error; };    // TT-I: an element or slice out of range
struct type_error : error { using error::error; };     // TT-T: element types that only run time can see
struct level_error : error { using error::error; };    // TT-L: a value outside the transform it belongs to
struct domain_error : error { using error::error; };   // TT-D: a value outside an operator's domain
struct device_error : error { using error::error; };   // TT-G: no device, or a device call failed
struct io_error : error { using error::error; };       // TT-O: a file that cannot be read or written
struct format_error : error { using error::error; };   // TT-F: a file whose contents are wrong

#if !defined(__cpp_exceptions)
[[noreturn]] inline void terminate_with(const error& e) {
  std::fputs(e.what(), stderr);
  std::fputc('\n', stderr);
  std::abort();
}
#endif

}  // namespace ttensor

TTENSOR_BEGIN
// Text builders: out of line, so that a check costs one compare and one cold call.
template <class A> std::string shape_text(const A* extents, int rank) {
  std::string s = "(";
  for (int d = 0; d < rank; ++d) {
    if (d) s += ',';
    s += std::to_string(extents[d]);
  }
  return s + (rank == 1 ? ",)" : ")");
}
template <class Error> [[noreturn]] TTENSOR_NOINLINE void raise(std::string text) { TTENSOR_THROW(Error(std::move(text))); }
TTENSOR_END
