// Counts what a PTX file holds, so that a test without a GPU can see fusion and vector loads.
#pragma once
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <string>

class ptx {
 public:
  explicit ptx(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    text_.assign(std::istreambuf_iterator<char>(file), {});
  }
  long count(const std::string& pattern) const {
    const std::regex r(pattern);
    return static_cast<long>(std::distance(std::sregex_iterator(text_.begin(), text_.end(), r), std::sregex_iterator()));
  }
  long entries() const { return count(R"(\.entry\s)"); }
  long vector_loads() const { return count(R"(ld\.global(\.nc)?\.(v4\.[fbu]32|v2\.[fbu]64))"); }   // 16 bytes each
  long vector_stores() const { return count(R"(st\.global\.(v4\.[fbu]32|v2\.[fbu]64))"); }
  long local_memory() const { return count(R"(\.local|__local_depot)"); }
  long calls() const { return count(R"(\bcall(\.uni)?\s)"); }

 private:
  std::string text_;
};
