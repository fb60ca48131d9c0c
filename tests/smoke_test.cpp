// The umbrella header compiles and the plainest statement is right; every build (sanitizers, clang, no SIMD) runs it.
#include <doctest/doctest.h>

#include <cmath>
#include <ttensor/all.hpp>

namespace tt = ttensor;

TEST_CASE("a fused statement and a reduction") {
  const tt::tensor<double, 1> a{1, 2, 3};
  const tt::tensor<double, 1> y = exp(-a) * a + 1;
  for (int i = 0; i < 3; ++i) CHECK(y(i) == doctest::Approx(std::exp(-a(i)) * a(i) + 1).epsilon(1e-15));
  CHECK(sum(a * a) == 14);
}
