// Reads the digits; says file, line, what was found and what to do when the file is not what it should be.
#pragma once
#include <ttensor/all.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string>

namespace digits {
namespace tt = ttensor;
using tt::index_t;

inline constexpr index_t count = 1797, pixels = 64, classes = 10;

struct images {
  tt::tensor<float, 2> pixel;  // (count, 64), 0 white to 1 black
  tt::tensor<int, 1> label;    // (count), 0 to 9
};

[[noreturn]] inline void bad_line(const std::string& path, index_t line, const std::string& found) {
  throw tt::format_error("[digits] " + path + ":" + std::to_string(line) + ": " + found +
                         "; a line is 64 pixels from 0 to 16 and a class from 0 to 9, separated by commas: copy examples/data/digits.csv again [TT-F01]");
}

/// Fills one row from a line of text.
inline void parse(const std::string& path, index_t line, const std::string& text, float* pixel, int& label) {
  const char *at = text.data(), *end = at + text.size();
  if (end != at && end[-1] == '\r') --end;
  for (index_t k = 0; k <= pixels; ++k) {
    int value = 0;
    const auto [rest, status] = std::from_chars(at, end, value);
    if (at == end) bad_line(path, line, "ends after " + std::to_string(k) + " of 65 numbers");
    if (status != std::errc()) bad_line(path, line, "number " + std::to_string(k + 1) + " reads \"" + std::string(at, std::find(at, end, ',')) + "\"");
    const int largest = k < pixels ? 16 : 9;
    if (value < 0 || value > largest)
      bad_line(path, line, "number " + std::to_string(k + 1) + " is " + std::to_string(value) + ", outside 0 to " + std::to_string(largest));
    if (k < pixels) pixel[k] = static_cast<float>(value) / 16;
    else label = value;
    if (k < pixels ? rest != end && *rest != ',' : rest != end) bad_line(path, line, "has \"" + std::string(rest, end) + "\" after number " + std::to_string(k + 1));
    at = rest == end ? end : rest + 1;
  }
}

/// Throws io_error when the file cannot be read, format_error when its contents are wrong.
inline images load(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw tt::io_error("[digits] cannot open " + path + ": " + std::strerror(errno) + "; give the path of digits.csv as the first argument [TT-O01]");
  images all{tt::zeros<float>(count, pixels), tt::zeros<int>(count)};
  float* pixel = all.pixel.data();
  int* label = all.label.data();
  std::string text;
  index_t line = 0;
  while (std::getline(file, text)) {
    if (++line > count) bad_line(path, line, "is one more than the 1797 digits");
    parse(path, line, text, pixel + (line - 1) * pixels, label[line - 1]);
  }
  if (file.bad()) throw tt::io_error("[digits] reading " + path + " stopped at line " + std::to_string(line + 1) + ": " + std::strerror(errno) + "; give the path of digits.csv as the first argument [TT-O02]");
  if (line != count) bad_line(path, line + 1, "the file ends after " + std::to_string(line) + " of 1797 digits");
  return all;
}

}  // namespace digits
