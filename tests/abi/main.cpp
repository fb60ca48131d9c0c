// Calls the same code built for three instruction sets, each only where the processor has it.
#include <cmath>
#include <cstddef>
#include <cstdio>

double abi_baseline(double* out);
double abi_avx2(double* out);
double abi_avx512(double* out);
extern const std::size_t abi_baseline_sizes[4], abi_avx2_sizes[4], abi_avx512_sizes[4];

namespace {
int wrong = 0;

void check(const char* name, double (*function)(double*), const std::size_t (&sizes)[4]) {
  double y[7] = {};
  const double total = function(y);
  bool ok = total == 140;
  for (int i = 0; i < 7; ++i) {
    const double expected = std::exp(-(i + 1.0)) * (i + 1.0) + 1;
    ok = ok && std::abs(y[i] - expected) <= 1e-14;
  }
  for (int i = 0; i < 4; ++i) ok = ok && sizes[i] == abi_baseline_sizes[i];
  std::printf("%-9s sum %g %s\n", name, total, ok ? "right" : "WRONG");
  if (!ok) ++wrong;
}
}  // namespace

int main() {
  check("baseline", abi_baseline, abi_baseline_sizes);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) check("avx2", abi_avx2, abi_avx2_sizes);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd")) {
    check("avx512", abi_avx512, abi_avx512_sizes);
  }
  return wrong;
}
