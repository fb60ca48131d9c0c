// Half of a program: compiled with -fvisibility=hidden into two shared libraries, of which the names begin with ABI_SIDE, a and b.
#include <ttensor/all.hpp>

namespace tt = ttensor;
using vec = tt::tensor<double, 1>;
#define ABI_JOIN(side, name) side##_##name
#define ABI_JOINED(side, name) ABI_JOIN(side, name)
#define ABI_NAME(name) ABI_JOINED(ABI_SIDE, name)
#define ABI_EXPORT extern "C" __attribute__((visibility("default")))

ABI_EXPORT const void* ABI_NAME(threads)() { return &tt::mem::last_thread_id; }
ABI_EXPORT unsigned long long ABI_NAME(thread)() {
  const vec x{1, 2, 3};
  return tt::mem::this_thread;
}
ABI_EXPORT unsigned long long ABI_NAME(recording)() {
  const tt::tape t;
  return t.serial;
}
ABI_EXPORT void ABI_NAME(copy)(const vec& x, int times) {
  for (int i = 0; i < times; ++i) {
    const vec y(x);
    static_cast<void>(y);
  }
}
namespace ABI_SIDE {  // called inside a transform of the program
using first = tt::var<double>;
using second = tt::var<first>;
__attribute__((visibility("default"))) first cube(const first& x) { return x * x * x; }
__attribute__((visibility("default"))) second cube(const second& x) { return x * x * x; }
}  // namespace ABI_SIDE
ABI_EXPORT double ABI_NAME(gradient)(const vec& x) {
  return tt::grad([](const auto& v) { return sum(v * v * v); })(x)(0);
}
