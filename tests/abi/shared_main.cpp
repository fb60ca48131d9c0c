// Two shared libraries with hidden symbols have one count of threads and of recordings: an array that both copy, each on another thread, is counted
// and freed once; scalars of a transform that pass through both are on one tape.
#include <cstdio>
#include <thread>
#include <ttensor/all.hpp>

using vec = ttensor::tensor<double, 1>;
extern "C" {
const void* a_threads();
const void* b_threads();
unsigned long long a_thread();
unsigned long long b_thread();
unsigned long long a_recording();
unsigned long long b_recording();
void a_copy(const vec&, int);
void b_copy(const vec&, int);
double a_gradient(const vec&);
double b_gradient(const vec&);
}
namespace a {
ttensor::var<double> cube(const ttensor::var<double>& x);
ttensor::var<ttensor::var<double>> cube(const ttensor::var<ttensor::var<double>>& x);
}  // namespace a
namespace b {
ttensor::var<double> cube(const ttensor::var<double>& x);
ttensor::var<ttensor::var<double>> cube(const ttensor::var<ttensor::var<double>>& x);
}  // namespace b

int main() {
  int wrong = 0;
  const auto check = [&](bool right, const char* what) {
    if (!right) std::printf("WRONG: %s\n", what), ++wrong;
  };
  check(a_threads() == b_threads(), "the libraries count threads apart");
  check(a_thread() == b_thread(), "a thread has two numbers");
  check(a_recording() != b_recording(), "two recordings have one number");
  for (int round = 0; round < 20; ++round) {
    const vec x{1, 2, 3};
    unsigned long long there = 0;
    std::thread other([&] {
      there = b_thread();
      b_copy(x, 20000);
    });
    a_copy(x, 20000);
    other.join();
    check(there != a_thread(), "two threads have one number");
    check(x.elements().block()->seen_local() == 1, "a copy was counted by the wrong thread");
    check(a_gradient(x) == 3 && b_gradient(x) == 3, "gradients");
  }
  const auto both = [](auto x) { return a::cube(x) * 2.0 + b::cube(x); };
  check(ttensor::grad(both)(3.0) == 81, "a gradient through both");
  check(ttensor::grad(ttensor::grad(both))(3.0) == 54, "a second derivative through both");
  std::puts(wrong == 0 ? "one state for both libraries" : "failed");
  return wrong != 0;
}
