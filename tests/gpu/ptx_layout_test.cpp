// Host and device agree on every type that is copied into a kernel's parameters: a difference would be a wrong answer
// without any message. The device's numbers are read from PTX.
#include <doctest/doctest.h>
#include "layout_types.hpp"
#include "ptx.hpp"

namespace {
unsigned long long on_device(const ptx& file, const std::string& name) {
  const std::string text = file.kernels({name.c_str()}).text();
  std::smatch m;
  const std::regex store(R"((?:mov\.u64|mov\.b64)\s+%rd\d+,\s*(\d+);)");
  return std::regex_search(text, m, store) ? std::stoull(m[1]) : 0;
}
template <class T> unsigned long long on_host() {
  alignas(T) static unsigned char room[sizeof(T)];
  return layout_types::layout(reinterpret_cast<const T*>(room));
}
}  // namespace

TEST_CASE("sizes, offsets and alignments are the same on both sides") {
  const ptx file(PTX_FILE);
#define TTENSOR_X(number, ...) CHECK(on_device(file, "layout_" #number) == on_host<__VA_ARGS__>());
  TTENSOR_LAYOUT_TYPES(TTENSOR_X)
#undef TTENSOR_X
}
TEST_CASE("negative control: [[no_unique_address]] differs, which is why no kernel argument has it") {
  const unsigned long long device = on_device(ptx(PTX_FILE), "layout_99");
  CHECK(device != 0);
  CHECK(device != on_host<layout_types::disagreed>());
}
