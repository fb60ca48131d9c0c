// Counts what a PTX file holds, so that a test without a GPU can see fusion and vector loads.
#pragma once
#include <fstream>
#include <initializer_list>
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
  /// The text of the kernels whose mangled name contains all of these, one after the other.
  ptx kernels(std::initializer_list<const char*> parts) const {
    ptx out;
    for (std::size_t at = text_.find(".entry"); at != std::string::npos;) {
      const std::size_t next = text_.find(".entry", at + 1), name_end = text_.find('(', at);
      const std::string name = text_.substr(at, name_end - at);
      bool all = true;
      for (const char* p : parts) all = all && name.find(p) != std::string::npos;
      if (all) out.text_ += text_.substr(at, next - at);
      at = next;
    }
    return out;
  }
  const std::string& text() const { return text_; }
  long entries() const { return count(R"(\.entry\s)"); }
  long vector_loads() const { return count(R"(ld\.global(\.nc)?\.(v4\.[fbu]32|v2\.[fbu]64))"); }   // 16 bytes each
  long vector_stores() const { return count(R"(st\.global\.(v4\.[fbu]32|v2\.[fbu]64))"); }
  long local_memory() const { return count(R"(\.local|__local_depot)"); }
  long calls() const { return count(R"(\bcall(\.uni)?\s)"); }

 private:
  ptx() = default;
  std::string text_;
};
