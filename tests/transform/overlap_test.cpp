// Gradients of statements whose leaves are shifted views of one array: their adjoints share memory without being one place.
#include <doctest/doctest.h>
#include <ttensor/all.hpp>

namespace tt = ttensor;
using tt::end, tt::range, tt::tensor;

TEST_CASE("differences of neighbours, every length of the last pack") {
  const auto f = [](const auto& u) { return sum(square(u(range(1, end)) - u(range(0, -1)))); };
  for (int n = 2; n < 40; ++n) {
    const tensor<double, 1> u = sin(3.0 * tt::arange<double>(n));
    const tensor<double, 1> g = tt::grad(f)(u);
    for (int i = 0; i < n; ++i) {
      const double left = i > 0 ? 2 * (u(i) - u(i - 1)) : 0, right = i + 1 < n ? 2 * (u(i) - u(i + 1)) : 0;
      CHECK(g(i) == doctest::Approx(left + right));
    }
  }
}
TEST_CASE("three shifted views and the whole, in float") {
  const auto f = [](const auto& u) { return sum(u(range(2, end)) * u(range(1, -1)) * u(range(0, -2))) + sum(u); };
  const tensor<float, 1> u{1, 2, 3, 4, 5};
  const tensor<float, 1> g = tt::grad(f)(u), expected{7, 16, 27, 24, 13};
  for (int i = 0; i < 5; ++i) CHECK(g(i) == expected(i));
}
TEST_CASE("steps of a stencil that writes through views") {
  const auto f = []<class T>(const tensor<T, 1>& k) {
    tensor<T, 1> u{1, 3, 2, 5};
    for (int s = 0; s < 3; ++s) {
      const tensor<T, 1> flow = 0.1 * k * (u(range(1, end)) - u(range(0, -1)));
      u(range(0, -1)) += flow;
      u(range(1, end)) -= flow;
    }
    return sum(u * u);
  };
  const tensor<double, 1> k{1, 2, 3}, g = tt::grad(f)(k);
  for (int i = 0; i < 3; ++i) {
    tensor<double, 1> left = k, right = k;
    left(i) -= 1e-6;
    right(i) += 1e-6;
    CHECK(g(i) == doctest::Approx((f(right) - f(left)) / 2e-6).epsilon(1e-7));
  }
}
