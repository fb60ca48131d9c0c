// A tool, not a test: the largest error in ulp over every stride-th float, and over random doubles. The headers quote it.
//   g++ -std=c++20 -O2 -march=native -Iinclude tests/num/ulp_scan.cpp -o ulp_scan && ./ulp_scan [stride] [doubles]
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "ttensor/num/math.hpp"

namespace fn = ttensor::math;

template <class T, class Wide>
double ulp(T got, Wide want) {
  const T rounded = static_cast<T>(want);
  if (!std::isfinite(rounded) || !std::isfinite(got)) return (got != got) == (rounded != rounded) && (got != got || got == rounded) ? 0 : 1e9;
  int e;
  std::frexp(rounded, &e);
  const int lowest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits, unit = e - std::numeric_limits<T>::digits;
  return static_cast<double>(std::fabs((static_cast<Wide>(got) - want) / std::ldexp(Wide(1), unit < lowest ? lowest : unit)));
}

template <class F, class G, class H>
void scan(const char* name, std::uint64_t stride, long doubles, float limit, double lo, double hi, F f, G exact, H exact_wide) {
  float x[16], y[16], at = 0;
  double worst = 0;
  for (std::uint64_t b = 0; b + 16 * stride <= 0x100000000u; b += 16 * stride) {
    for (unsigned i = 0; i < 16; ++i) x[i] = __builtin_bit_cast(float, static_cast<std::uint32_t>(b + i * stride));
    f(ttensor::pack<float, 16>::load(x)).store(y);
    for (int i = 0; i < 16; ++i) {
      if (!(std::fabs(x[i]) <= limit)) continue;
      const double e = ulp(y[i], exact(static_cast<double>(x[i])));
      if (e > worst) worst = e, at = x[i];
    }
  }
  double dx[16], dy[16], dworst = 0, dat = 0;
  std::uint64_t s = 88172645463325252u;
  for (long k = 0; k < doubles; k += 16) {
    for (double& v : dx) {
      s ^= s << 13, s ^= s >> 7, s ^= s << 17;
      v = lo + (hi - lo) * static_cast<double>(s >> 11) * 0x1p-53;
      if ((k & 16) && lo < 0) v *= 0x1p-5;
    }
    f(ttensor::pack<double, 16>::load(dx)).store(dy);
    for (int i = 0; i < 16; ++i) {
      const double e = ulp(dy[i], exact_wide(static_cast<long double>(dx[i])));
      if (e > dworst) dworst = e, dat = dx[i];
    }
  }
  std::printf("%-8s float %.3f at %-16a double %.3f at %a\n", name, worst, static_cast<double>(at), dworst, dat);
}

#define SCAN(name, limit, lo, hi, ...)                                                                    \
  scan(#name, stride, doubles, limit, lo, hi, [](auto v) { return fn::name(v); },                         \
       [](double x) { return static_cast<double>(__VA_ARGS__); }, [](long double x) { return __VA_ARGS__; })

int main(int argc, char** argv) {
  const std::uint64_t stride = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 61;
  const long doubles = argc > 2 ? std::atol(argv[2]) : 4000000;
  const float all = std::numeric_limits<float>::infinity();
  SCAN(exp, all, -20, 20, std::exp(x));
  SCAN(log, all, 0.1, 8, std::log(x));
  SCAN(sin, 1e5f, -100, 100, std::sin(x));
  SCAN(cos, 1e5f, -100, 100, std::cos(x));
  SCAN(tanh, all, -10, 10, std::tanh(x));
  SCAN(sigmoid, all, -30, 30, 1 / (1 + std::exp(-x)));
  SCAN(expm1, all, -10, 10, std::expm1(x));
  SCAN(exp2, all, -30, 30, std::exp2(x));
  SCAN(sinh, all, -10, 10, std::sinh(x));
  SCAN(cosh, all, -10, 10, std::cosh(x));
  SCAN(log1p, all, -0.9, 8, std::log1p(x));
  SCAN(log2, all, 0.1, 8, std::log2(x));
  SCAN(log10, all, 0.1, 8, std::log10(x));
  SCAN(tan, 1e5f, -100, 100, std::tan(x));
  SCAN(atan, all, -10, 10, std::atan(x));
  SCAN(asin, all, -1, 1, std::asin(x));
  SCAN(acos, all, -1, 1, std::acos(x));
  SCAN(erf, all, -6, 6, std::erf(x));
  SCAN(erfc, all, -6, 10, std::erfc(x));
}
