// TTENSOR_NO_FUSION: the same results but for last bits, one operator at a time.
#include <doctest/doctest.h>

#include <cmath>
#include <utility>
#include <ttensor/all.hpp>
#include "../examples/leaky_relu/leaky_relu.hpp"

namespace tt = ttensor;

namespace {
const tt::tensor<double, 1> x{0.5, 1, 2}, z{1, 2, 3};
template <class F> std::size_t loops(const F& f) {
  const auto before = tt::counts.loops;
  f();
  return static_cast<std::size_t>(tt::counts.loops - before);
}
}  // namespace

TEST_CASE("unfused: a loop for each operator") {
  tt::tensor<double, 1> y(3);
  CHECK(loops([&] { y = exp(-x * x) * sin(x) + tanh(z); }) == 7);
  for (int i = 0; i < 3; ++i) CHECK(y(i) == doctest::Approx(std::exp(-x(i) * x(i)) * std::sin(x(i)) + std::tanh(z(i))).epsilon(1e-15));
  CHECK(loops([&] { y += mine::leaky_relu(z - 2) * where(x > 0.75, x, z); }) == 6);  // users' operators too
  CHECK(loops([&] { CHECK(sum(x * x + z) == 11.25); }) == 3);
  CHECK(loops([&] { y = tt::to<double>(tt::to<float>(x) * 2); }) == 3);
  CHECK(tt::explain(x * x + z).find("program: 3 instructions") != std::string::npos);  // two loads and a sum
  CHECK(tt::build_info().find("fused statements no") != std::string::npos);
}

TEST_CASE("unfused: shared subexpressions, and fixed tensors, which are no loops") {
  tt::tensor<double, 1> y(3);
  CHECK(loops([&] { y = tt::let(x * x, [](auto t) { return t * t + t * 2; }); }) == 4);
  CHECK(y(2) == 24);
  const tt::fixed<double, 3> v{1, 2, 3};
  const tt::fixed<double, 3> w = v * v + 2 * v;
  CHECK(w(2) == 15);
}

TEST_CASE("unfused: results are written where they were, and mapped integers stay free of levels") {
  tt::tensor<double, 1> a{1, 2, 3};
  const double* const before = std::as_const(a).data();
  a += a * z;
  a = a * z + x;
  CHECK(std::as_const(a).data() == before);
  CHECK(a(1) == 13);
  const tt::tensor<int, 2> counts{{1, 2, 3}, {4, 5, 6}};
  const auto g = tt::grad([&](const auto& v) { return sum(tt::vmap([&](const auto& i) { return sum(v * (tt::to<double>(i) + 0.5)); })(counts)); })(x);
  CHECK(g(0) == 6);
  double twice = 0;
  tt::let(x, [&](auto&& t) { return twice = t(0), t * 2.0; });
  CHECK(twice == 0.5);
}

TEST_CASE("unfused: a node of the tape for each operator, and the derivatives of one loop") {
  const auto f = [](const auto& v) { return sum(exp(-v * v) * sin(v)); };
  const auto nodes = tt::tapes::stats.nodes;
  const auto g = tt::grad(f)(x);
  CHECK(tt::tapes::stats.nodes - nodes >= 5);
  const auto h = tt::hessian(f)(x);
  const auto m = tt::vmap(tt::grad(f))(outer(z, x));
  const auto at = [](double t) { return std::exp(-t * t) * (std::cos(t) - 2 * t * std::sin(t)); };
  const auto second = [](double t) { return std::exp(-t * t) * ((4 * t * t - 3) * std::sin(t) - 4 * t * std::cos(t)); };
  for (int i = 0; i < 3; ++i) {
    CHECK(g(i) == doctest::Approx(at(x(i))).epsilon(1e-14));
    for (int j = 0; j < 3; ++j) {
      CHECK(h(i, j) == doctest::Approx(i == j ? second(x(i)) : 0).epsilon(1e-13));
      CHECK(m(i, j) == doctest::Approx(at(z(i) * x(j))).epsilon(1e-13));
    }
  }
}
