// checkpoint (rule 19): identity for jvp and vmap; reverse mode keeps the arguments only and runs the function again.
#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>
#include <ttensor/all.hpp>

namespace checkpoint_test {
namespace tt = ttensor;
using namespace ttensor;

namespace {
constexpr double eps = 1e-13;
auto near(double x) { return doctest::Approx(x).epsilon(eps); }
constexpr auto cube = [](auto x) { return x * x * x; };
}  // namespace

TEST_CASE("closing_over is taken") {
  CHECK(tt::grad([](auto x) { return tt::grad([&](auto y) { return tt::checkpoint([&](auto z) { return x * z * z; }, tt::closing_over(x))(y); })(x); })(3.0) == 12);
}
TEST_CASE("checkpoint is the function itself on numbers, duals and batches") {
  const auto f = checkpoint(cube);
  CHECK(f(2.0) == 8);
  CHECK(tt::jvp(f, 2.0, 1.0).y_dot == 12);
  const tensor<double, 1> v{1, 2, 3};
  CHECK(vmap(f)(v)(2) == 27);
}
TEST_CASE("reverse mode through checkpoint, scalars and arrays") {
  CHECK(tt::grad(checkpoint(cube))(2.0) == 12);
  const tensor<double, 1> v{0.1, 0.2, 0.3};
  const auto g = tt::grad([](const auto& x) { return sum(checkpoint([](const auto& t) { return sin(t) * t; })(x) * 2.0); })(v);
  for (int i = 0; i < 3; ++i) CHECK(g(i) == near(2 * (std::cos(v(i)) * v(i) + std::sin(v(i)))));
  const auto [a, b] = tt::grad<0, 1>([](auto x, auto y) { return checkpoint([](auto s, auto t) { return exp(s) * t; })(x, y) * x; })(0.5, 2.0);
  CHECK(a == near(2 * std::exp(0.5) * 1.5));
  CHECK(b == near(std::exp(0.5) * 0.5));
}
TEST_CASE("results that are trees, unused results, and results that are arguments") {
  const double g = tt::grad([](auto x) {
    auto [a, b, c] = checkpoint([](auto t) { return std::tuple{t * t, sin(t), t}; })(x);
    static_cast<void>(b);
    return a * c;
  })(2.0);
  CHECK(g == 12);
}
TEST_CASE("captured variables of the same level and of outer ones") {
  CHECK(tt::grad([](auto k) { return checkpoint([&](auto u) { return k * u * k; })(3.0); })(2.0) == 12);
  CHECK(tt::grad([](auto x) { return x * tt::grad(checkpoint([&](auto y) { return x * y * y; }))(2.0); })(3.0) == 24);
}
TEST_CASE("nested checkpoints and every second order") {
  const auto f = [](auto x) { return checkpoint([](auto t) { return checkpoint(cube)(t) * t; })(x); };  // x^4
  CHECK(tt::grad(f)(2.0) == 32);
  CHECK(tt::grad(tt::grad(f))(2.0) == 48);
  CHECK(tt::jvp(tt::grad(f), 2.0, 1.0).y_dot == 48);
  CHECK(tt::grad([&](auto x) { return tt::jvp(f, x, 1.0).y_dot; })(2.0) == 48);
}
TEST_CASE("checkpoint inside and outside vmap") {
  const tensor<double, 1> v{1, 2, 3};
  const auto a = vmap(tt::grad(checkpoint(cube)))(v);
  const auto b = tt::grad([](const auto& x) { return sum(vmap(checkpoint(cube))(x)); })(v);
  const auto c = tt::grad([](const auto& x) { return sum(checkpoint([](const auto& t) { return vmap(cube)(t); })(x)); })(v);
  for (int i = 0; i < 3; ++i) {
    CHECK(a(i) == 3 * v(i) * v(i));
    CHECK(b(i) == 3 * v(i) * v(i));
    CHECK(c(i) == 3 * v(i) * v(i));
  }
}
TEST_CASE("the tape keeps one node a checkpoint: 500 time steps") {
  const index_t n = 16;
  const auto step = [](const auto& u, const auto& k) { 
    const auto a = eval(sin(u) * k), b = eval(a * 0.5 + u), c = eval(b * 0.01);
    return eval(u + c); };
  const auto run = [&](bool with, std::uint64_t& nodes) {
    return [&, with](const auto& k) {
      using S = std::remove_cvref_t<decltype(k)>;
      tensor<S, 1> u(n);
      for (index_t i = 0; i < n; ++i) u(i) = S(0.1 * static_cast<double>(i));
      for (int t = 0; t < 500; ++t) u = with ? checkpoint(step)(u, k) : step(u, k);
      nodes = 0;
      if constexpr (is_var_v<S>) nodes = tapes::current<double>->node_count();
      return sum(u);
    };
  };
  std::uint64_t nodes_with = 0, nodes_without = 0;
  const double a = tt::grad(run(true, nodes_with))(0.7), b = tt::grad(run(false, nodes_without))(0.7);
  CHECK(a == near(b));
  CHECK(3 * nodes_with < nodes_without + 3 * n + 10);  // one of four
}
TEST_CASE("a function that throws in its second run leaves the thread usable") {
  int calls = 0;
  const auto f = [&](auto x) {
    if (++calls == 2) throw std::runtime_error("second run");
    return x * x;
  };
  CHECK_THROWS_AS(tt::grad([&](auto x) { return checkpoint(f)(x) * 2.0; })(3.0), std::runtime_error);
  CHECK(tt::grad(checkpoint(cube))(2.0) == 12);
}
TEST_CASE("references to locals of the transformed function: the value is right, and the function is not run again") {
  int calls = 0;
  const auto f = [&](auto x) {
    const auto k = x * 2.0;
    double c = 3.0;
    return checkpoint([&](auto t) { return ++calls, c * k * t * t; })(x);
  };
  CHECK(tt::grad(f)(2.0) == 72);  // 6 x^3
  CHECK(calls == 1);
  CHECK(tt::grad([](auto x) { return x * tt::jvp(checkpoint([&](auto y) { return x * y * y; }), 2.0, 1.0).y_dot; })(3.0) == 24);
  calls = 0;
  CHECK(tt::grad([&](const auto& x) { return checkpoint([&](auto t) { return ++calls, x * t * t; })(x); })(2.0) == 12);  // the argument lives
  CHECK(calls == 2);
}
TEST_CASE("a pullback can be applied again") {
  const auto [y, pull] = tt::vjp(checkpoint(cube), 2.0);
  CHECK(y == 8);
  CHECK(pull(1.0) == 12);
  CHECK(pull(2.0) == 24);
}
}  // namespace checkpoint_test
