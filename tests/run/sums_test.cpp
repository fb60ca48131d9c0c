// How accurate long sums are, in float: one rounding for sums over any axes, a few for the adjoint of a broadcast leaf, which is
// a sum too. Constants are the hard case: every addition of the same number errs to the same side.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
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
TEST_CASE("long sums of doubles: no lane adds thousands of terms one after the other") {  // 259 ulp with two lanes, 64 with eight; gradients four times that
  for (const index_t many : {16'384, 100'000, 1'000'000}) {
    const tt::tensor<double, 1> x = tt::full<double>({many}, 0.1);
    const long double want = static_cast<long double>(0.1) * static_cast<long double>(many);
    const auto wrong = [&](double s) { return static_cast<double>(std::abs(static_cast<long double>(s) - want) / want); };
    CHECK(wrong(tt::sum(x)) < 4e-15);
    CHECK(wrong(tt::sum(x * x) * 10) < 4e-15);
    CHECK(wrong(tt::jvp([&](auto a) { return tt::sum(a * x); }, 1.0, 1.0).y_dot) < 4e-15);
    CHECK(wrong(tt::grad([&](auto a) { return tt::sum(a * x); })(1.0)) < 2.4e-14);
    CHECK(tt::stddev(x) < 1e-15);
  }
}
TEST_CASE("sums of complex numbers of float are as good") {
  using C = std::complex<float>;
  constexpr index_t few = 100'000;
  constexpr double one_rounding = 6e-8, few_roundings = 3e-7;
  const tt::tensor<C, 1> z = tt::full<C>({few}, C(0.1f, -0.3f));
  const std::complex<double> total = static_cast<double>(few) * std::complex<double>(C(0.1f, -0.3f)), column = total / 4.0;
  const auto off = [](C a, std::complex<double> b) { return std::abs(std::complex<double>(a) - b) / std::abs(b); };
  const auto tall = tt::eval(tt::reshape(z, few / 4, 4)), wide = tt::eval(tt::reshape(z, 4, few / 4));
  const tt::tensor<C, 1> zeros(4);
  CHECK(off(tt::sum(z), total) < one_rounding);
  CHECK(off(tt::mean(z), C(0.1f, -0.3f)) < 2 * one_rounding);
  CHECK(off(tt::sum(z(tt::range(0, few, 2))), total / 2.0) < one_rounding);
  CHECK(off(tt::sum(tall + zeros), total) < one_rounding);
  CHECK(off(tt::eval(tt::sum(tall, 0))(0), column) < one_rounding);
  CHECK(off(tt::eval(tt::sum(wide, 1))(0), column) < one_rounding);
  CHECK(off(tt::eval(tt::sum(tt::transpose(tall), 1))(0), column) < one_rounding);
  CHECK(off(tt::grad([&](auto w) { return tt::sum(real(w * z)); })(C(1)), std::conj(total)) < few_roundings);
  CHECK(off(tt::grad([&](auto w) { return tt::sum(w * z); }, tt::holomorphic)(C(1)), total) < few_roundings);
  CHECK(off(tt::grad([&](const auto& b) { return tt::sum(real(b * tall)); })(zeros)(0), std::conj(column)) < few_roundings);
  CHECK(off(tt::jvp([&](auto w) { return tt::sum(w * z); }, C(1), C(1)).y_dot, total) < one_rounding);
}
TEST_CASE("sums of half are rounded once") {
  tt::tensor<tt::half, 1> x(5000);
  for (index_t i = 0; i < 5000; ++i) x.data()[i] = tt::half(0.1f);
  CHECK(static_cast<float>(tt::sum(x)) == static_cast<float>(tt::half(static_cast<float>(5000 * static_cast<double>(static_cast<float>(tt::half(0.1f)))))));
}

namespace {
template <class T> void short_statements(const char* type) {
  for (index_t n = 0; n <= 40; ++n) {
    CAPTURE(type);
    CAPTURE(n);
    { const tt::tensor<double, 1> before = tt::full<double>({64}, std::nan("")); }  // the next blocks of this size
    { const tt::tensor<double, 1> one = tt::full<double>({64}, std::nan("")), two = tt::full<double>({64}, std::nan("")); }
    tt::tensor<T, 1> x(n), z(n), y(n);
    double total = 0, squares = 0, product = 0, largest = -1e300;
    for (index_t i = 0; i < n; ++i) {
      x(i) = static_cast<T>(i % 5 - 1);
      z(i) = static_cast<T>(i % 3);
      const double d = static_cast<double>(i % 5 - 1) - static_cast<double>(i % 3);
      total += static_cast<double>(i % 5 - 1);
      squares += d * d;
      product += d * static_cast<double>(i % 5 - 1);
      largest = std::max(largest, d);
    }
    CHECK(static_cast<double>(tt::sum(x * T(1))) == total);
    CHECK(static_cast<double>(tt::sum((x - z) * (x - z))) == squares);
    CHECK(static_cast<double>(tt::sum((x - z) * (x - y))) == product);
    if (n > 0) CHECK(static_cast<double>(tt::max(x - z)) == largest);
    y = (x * x + T(2)) * x - z;
    for (index_t i = 0; i < n; ++i) CHECK(y(i) == (x(i) * x(i) + T(2)) * x(i) - z(i));
  }
}
}  // namespace
TEST_CASE("statements and sums of fewer elements than a register read nothing of what stands behind") {
  short_statements<float>("float");
  short_statements<double>("double");
  short_statements<std::int32_t>("int32");
  short_statements<std::int64_t>("int64");
  for (index_t n = 1; n < 20; ++n) {
    tt::tensor<bool, 1> m(n);
    for (index_t i = 0; i < n; ++i) m(i) = i % 2 == 0;
    CHECK(tt::sum(tt::where(m, 1.0, 0.0)) == static_cast<double>((n + 1) / 2));
  }
}

namespace {
/// Extents and plan of a reduction as its driver finds them.
template <class X, class... Axis> std::string planned(const X& x, const Axis&... axis) {
  const std::string text = tt::explain_sum(x, axis...);
  const std::size_t at = text.find("plan: ");
  return text.substr(at, text.find('\n', at) - at);
}
}  // namespace
TEST_CASE("permuted arrays are summed in the order in which they lie in memory") {  // reversed axes of 128 x 128 x 128: 55 times as fast
  const tt::tensor<double, 3> c = tt::normal<double>(tt::rng(5), {9, 70, 13});
  index_t order[] = {0, 1, 2};
  do {
    CAPTURE(order[0]);
    CAPTURE(order[1]);
    const auto view = tt::permute(c, {order[0], order[1], order[2]});
    const tt::tensor<double, 3> copy = view * 1.0;
    CHECK(tt::sum(view) == tt::sum(c));  // the very loop
    CHECK(planned(view) == planned(c));
    for (index_t d = 0; d < 3; ++d) {
      if (order[d == 0] < order[d == 2 ? 1 : 2]) CHECK(planned(view, d) == planned(c, order[d]));  // the result lies as that of c
      const tt::tensor<double, 2> y = tt::sum(view, d), largest = tt::max(view, d), squares = tt::sum(view * copy, d);
      for (index_t i = 0; i < y.shape()[0]; ++i)
        for (index_t j = 0; j < y.shape()[1]; ++j) {
          double s = 0, m = -1e300, q = 0;
          for (index_t k = 0; k < copy.shape()[static_cast<int>(d)]; ++k) {
            const double v = d == 0 ? copy(k, i, j) : d == 1 ? copy(i, k, j) : copy(i, j, k);
            s += v, q += v * v, m = std::max(m, v);
          }
          CHECK(std::abs(y(i, j) - s) < 1e-13);
          CHECK(std::abs(squares(i, j) - q) < 1e-12);
          CHECK(largest(i, j) == m);
        }
    }
  } while (std::next_permutation(order, order + 3));
}
TEST_CASE("the order of a sum's additions is the same in a batch") {
  const tt::tensor<double, 3> c = tt::normal<double>(tt::rng(6), {11, 21, 33});
  const auto f = [](const auto& x) { return tt::sum(tt::exp(x), 0); };
  const auto turned = tt::permute(c, {2, 0, 1});
  const auto mapped = tt::vmap(f)(turned);
  for (index_t i = 0; i < 33; ++i) CHECK(tt::all(f(turned(i)) == mapped(i)));
}
TEST_CASE_TEMPLATE("sums over an axis that is neither first nor last: the bits of the sums of each matrix alone", T, float, double) {
  for (index_t n : {2, 15, 16, 700})
    for (index_t m : {2, 3, 8, 17, 32, 33, 70})
      for (index_t k : {2, 3, 5, 7, 8}) {  // of one column: a vector, whose sum may differ in the last bit (run/reduce.hpp)
        CAPTURE(n); CAPTURE(m); CAPTURE(k);
        const tt::tensor<T, 3> x = tt::normal<T>(tt::rng(8), {n, m, k});
        const tt::tensor<T, 2> total = tt::sum(x, 1), largest = tt::max(x, 1);
        bool same = true;
        double off = 0;
        for (index_t i = 0; i < n; i += n > 100 ? 37 : 1) {
          same = same && tt::item(tt::all(total(i) == tt::sum(x(i), 0)));
          for (index_t c = 0; c < k; ++c) {
            double by_hand = 0, most = -1e9;
            for (index_t b = 0; b < m; ++b) {
              const double v = static_cast<double>(x.data()[(i * m + b) * k + c]);
              by_hand += v, most = std::max(most, v);
            }
            off = std::max(off, std::abs(by_hand - static_cast<double>(total.data()[i * k + c])));
            same = same && most == static_cast<double>(largest.data()[i * k + c]);
          }
        }
        CHECK(same);
        CHECK(off < (sizeof(T) == 4 ? 2e-5 : 2e-14));
      }
}
