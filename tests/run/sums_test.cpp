// How accurate long sums are, in float: one rounding for sums over any axes, a few for the adjoint of a broadcast leaf, which is
// a sum too. Constants are the hard case: every addition of the same number errs to the same side.
#include <doctest/doctest.h>

#include <cmath>
#include <ttensor/transform.hpp>

namespace tt = ttensor;
using tt::index_t;

namespace {
constexpr index_t n = 4'000'000;
double off(double a, double b) { return std::abs(a - b) / std::abs(b); }
}  // namespace

TEST_CASE("relative errors of sums of millions of floats") {
  constexpr double one_rounding = 6e-8, few_roundings = 3e-7;
  for (int kind = 0; kind < 3; ++kind) {
    CAPTURE(kind);
    tt::tensor<float, 1> x(n);
    double total = 0, column = 0, first = 0, even = 0;
    for (index_t i = 0; i < n; ++i) {
      const float v = kind == 0 ? 0.1f : kind == 1 ? 1.0f / 3 : static_cast<float>(0.5 + 0.5 * std::sin(0.7 * static_cast<double>(i)));
      x.data()[i] = v;
      total += v;
      if (i % 4 == 0) column += v;
      if (i % 2 == 0) even += v;
      if (i < n / 4) first += v;
    }
    const auto tall = tt::eval(tt::reshape(x, n / 4, 4)), wide = tt::eval(tt::reshape(x, 4, n / 4));
    const tt::tensor<float, 1> zeros(4);
    CHECK(off(tt::sum(x), total) < one_rounding);
    CHECK(off(tt::mean(x), total / n) < 2 * one_rounding);
    CHECK(off(tt::sum(x(tt::range(0, n, 2))), even) < one_rounding);
    CHECK(off(tt::sum(tall + zeros), total) < one_rounding);
    CHECK(off(tt::eval(tt::sum(tall, 0))(0), column) < one_rounding);
    CHECK(off(tt::eval(tt::sum(wide, 1))(0), first) < one_rounding);
    CHECK(off(tt::eval(tt::sum(tt::transpose(tall), 1))(0), column) < one_rounding);
    CHECK(off(tt::grad([&](auto a) { return tt::sum(a * x); })(1.0f), total) < few_roundings);
    CHECK(off(tt::grad([&](auto a) { return tt::sum(tt::tanh(a * x)); })(0.0f), total) < few_roundings);
    CHECK(off(tt::grad([&](auto b) { return tt::sum(b * tall); })(zeros)(0), column) < few_roundings);
    CHECK(off(tt::jvp([&](auto a) { return tt::sum(a * x); }, 1.0f, 1.0f).y_dot, total) < one_rounding);
  }
}
TEST_CASE("sums of half are rounded once") {
  tt::tensor<tt::half, 1> x(5000);
  for (index_t i = 0; i < 5000; ++i) x.data()[i] = tt::half(0.1f);
  CHECK(static_cast<float>(tt::sum(x)) == static_cast<float>(tt::half(static_cast<float>(5000 * static_cast<double>(static_cast<float>(tt::half(0.1f)))))));
}
