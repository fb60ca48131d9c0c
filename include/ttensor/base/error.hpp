// Errors: one base, one class per kind, each text `[op] what happened, with values; what to do [TT-Xnn]`.
// They live outside the instruction-set namespace, so a library built with other flags can catch them.
#pragma once
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <cstring>
#include <utility>
#include "config.hpp"

namespace ttensor TTENSOR_VISIBLE {

/// The text of an error, put together with +. Not std::string: that header alone costs half a second in every file nvcc compiles.
class message {
 public:
  message(const char* s = "") { append(s); }
  template <class S> requires requires(const S& s) { { s.c_str() } -> std::same_as<const char*>; }  // a std::string will do
  message(const S& s) : message(s.c_str()) {}
  message(const message& o) noexcept;
  message(message&& o) noexcept : text_(std::exchange(o.text_, nullptr)) {}
  message& operator=(message o) noexcept {
    std::swap(text_, o.text_);
    return *this;
  }
  ~message() { std::free(text_); }
  const char* c_str() const noexcept { return text_ ? text_ : ""; }
  message& operator+=(const message& m) { return append(m.c_str()), *this; }
  message& operator+=(const char* s) { return append(s), *this; }
  message& operator+=(char c);
  // By value: a reference would not outlive its statement.
  friend message operator+(message&& a, const message& b) { return static_cast<message&&>(a += b); }
  friend message operator+(message&& a, const char* b) { return static_cast<message&&>(a += b); }
  friend message operator+(message&& a, char b) { return static_cast<message&&>(a += b); }
  friend message operator+(const message& a, const message& b) { return message(a) + b; }
  friend message operator+(const message& a, char b) { return message(a) + b; }

 private:
  void append(const char* s) noexcept;  // without memory the text stays short
  char* text_ = nullptr;  // alone: clang clears two words with a vector register, and these functions are shared by all instruction sets
};
message to_message(std::int64_t number);
#if defined(TTENSOR_BODY)
TTENSOR_BODY message::message(const message& o) noexcept { append(o.c_str()); }
TTENSOR_BODY message& message::operator+=(char c) {
  const char s[] = {c, 0};
  return append(s), *this;
}
TTENSOR_BODY void message::append(const char* s) noexcept {
  const std::size_t more = std::strlen(s);
  if (more == 0) return;
  const std::size_t size = std::strlen(c_str());
  char* p = static_cast<char*>(std::malloc(size + more + 1));
  if (!p) return;
  if (size) std::memcpy(p, text_, size);
  std::memcpy(p + size, s, more + 1);  // s may be this text
  std::free(std::exchange(text_, p));
}
TTENSOR_BODY message to_message(std::int64_t number) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%lld", static_cast<long long>(number));
  return digits;
}
#endif

class error : public std::exception {
 public:
  explicit error(message text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  message text_;
};
// TT-E, of error itself: an expression or view that was moved from, a full recording
struct shape_error : error { using error::error; };    // TT-S: extents that do not fit
struct axis_error : error { using error::error; };     // TT-A: an axis out of range or repeated
struct index_error : error { using error::error; };    // TT-I: an element or slice out of range
struct type_error : error { using error::error; };     // TT-T: what only run time can see of element types and operands
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
message shape_text(const index_t* extents, int rank);
#if defined(TTENSOR_BODY)
TTENSOR_BODY message shape_text(const index_t* extents, int rank) {
  char text[24 * 16], *at = text;
  *at++ = '(';
  for (int d = 0; d < rank && d < 15; ++d) at += std::snprintf(at, 24, d ? ",%lld" : "%lld", static_cast<long long>(extents[d]));
  std::snprintf(at, 4, rank == 1 ? ",)" : ")");
  return text;
}
#endif
template <class Error> [[noreturn]] TTENSOR_NOINLINE void raise(message text) { TTENSOR_THROW(Error(std::move(text))); }
#if defined(TTENSOR_KNOWN)
TTENSOR_KNOWN void raise<error>(message);
TTENSOR_KNOWN void raise<shape_error>(message);
TTENSOR_KNOWN void raise<axis_error>(message);
TTENSOR_KNOWN void raise<index_error>(message);
TTENSOR_KNOWN void raise<type_error>(message);
TTENSOR_KNOWN void raise<level_error>(message);
TTENSOR_KNOWN void raise<domain_error>(message);
#endif
TTENSOR_END
