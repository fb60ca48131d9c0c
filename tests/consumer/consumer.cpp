// A user's program: no option of ours, no warning switched off, C++20 only because ttensor::ttensor asks for it.
#include <cmath>
#include <cstdio>
#include <ttensor/all.hpp>

namespace tt = ttensor;

double slope(const tt::tensor<double, 1>& x);  // gradient.cpp

int main() {
  const tt::tensor<double, 1> a{1, 2, 3};
  const tt::tensor<double, 1> y = exp(a) * a;
  const double got = sum(y);
  const double expected = std::exp(1.0) + 2 * std::exp(2.0) + 3 * std::exp(3.0);
  std::printf("%.17g, expected %.17g\n", got, expected);
  return std::abs(got - expected) <= 1e-13 * expected && slope(a) == 12 ? 0 : 1;
}
