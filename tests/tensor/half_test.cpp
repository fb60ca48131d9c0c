// half and bfloat16 as element types: braces, factories, printing, functions of scalars, reductions, gradients.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "ttensor/all.hpp"

namespace half_test {
namespace tt = ttensor;
using tt::bfloat16;
using tt::half;

namespace {
template <class A> std::string printed(const A& a) {
  std::ostringstream o;
  o << a;
  return o.str();
}
template <class H, class A> void check_values(const A& a, const std::vector<float>& want) {
  static_assert(std::is_same_v<tt::scalar_t<A>, H>);
  REQUIRE(a.size() == static_cast<tt::index_t>(want.size()));
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(a(static_cast<tt::index_t>(i)) == want[i]);
}
}  // namespace

TEST_CASE_TEMPLATE("braces, factories, printing", H, half, bfloat16) {
  check_values<H>(tt::tensor<H, 1>{1.5f, 2.0f}, {1.5f, 2});
  check_values<H>(tt::tensor<H, 1>{1, 2.5, 3u}, {1, 2.5f, 3});
  const tt::tensor<H, 2> m{{1, 2}, {3, 4.5}};
  CHECK(m(1, 1) == 4.5);
  const tt::fixed<H, 2> f{1, 2};
  CHECK(f(1) == 2);
  check_values<H>(tt::full<H>({3}, 2.0), {2, 2, 2});
  check_values<H>(tt::ones<H>(2), {1, 1});
  check_values<H>(tt::linspace<H>(0, 1, 5), {0, 0.25f, 0.5f, 0.75f, 1});
  check_values<H>(tt::arange<H>(3), {0, 1, 2});
  check_values<H>(tt::arange<H>(1, 2, 0.25), {1, 1.25f, 1.5f, 1.75f});
  const auto identity = tt::eye<H>(2);
  CHECK(identity(0, 0) == 1);
  CHECK(identity(0, 1) == 0);
  CHECK(tt::arange<half>(0, 0.5, 0.1)(3) == half(3 * static_cast<float>(half(0.1))));  // rounded once
  CHECK(printed(m) == "[[ 1.,  2.],\n [ 3., 4.5]]");
  CHECK(printed(H(1.5)) == "1.5");
  tt::tensor<H, 1> x{0.5, 3};
  CHECK(printed(x(1)) == "3");
}

TEST_CASE_TEMPLATE("numbers: conversions, weak C++ numbers, functions", H, half, bfloat16) {
  const H h = 1.5;
  const float f = h;
  const double d = h;
  CHECK(f == 1.5f);
  CHECK(d == 1.5);
  static_assert(std::is_same_v<decltype(h * 2), H> && std::is_same_v<decltype(2.0 * h), H> && std::is_same_v<decltype(h - 1.0f), H>);
  CHECK(h * 2 == 3);
  CHECK(2.0 * h == 3);
  CHECK(1 / H(4) == 0.25);
  CHECK(h < 2);
  CHECK(1u < h);
  CHECK(H(0.1) == 0.1);  // the number is rounded, as beside an array
  H s = h;
  s += 1;
  s *= 2.0f;
  CHECK(s == 5);
  CHECK(static_cast<float>(half(bfloat16(3))) == 3);
  CHECK(static_cast<float>(bfloat16(half(3))) == 3);
  static_assert(std::is_same_v<decltype(exp(h)), H> && std::is_same_v<decltype(pow(h, 2)), H> && std::is_same_v<decltype(fabs(h)), H>);
  CHECK(exp(H(1)) == H(std::exp(1.0f)));
  CHECK(log1p(h) == H(std::log1p(1.5f)));
  CHECK(pow(h, 2) == 2.25);
  CHECK(tt::maximum(h, H(2)) == 2);
  CHECK(tt::sigmoid(H(0)) == 0.5);
  CHECK(fabs(-h) == h);
  CHECK(tt::isnan(std::numeric_limits<H>::quiet_NaN()));
  using std::max;
  CHECK(max(h, H(2)) == 2);
  CHECK(tt::where(h > 1, h, H(0)) == h);
  const tt::tensor<H, 1> x{1, 2};
  check_values<H>(tt::tensor<H, 1>(x * h + 1), {2.5f, 4});
  CHECK((x(1) * 2 + h) == 5.5);
}

TEST_CASE_TEMPLATE("reductions", H, half, bfloat16) {
  const tt::tensor<H, 2> m{{1, 2, 3}, {4, 5, 9}};
  static_assert(std::is_same_v<decltype(mean(m)), H> && std::is_same_v<decltype(norm(m)), H> && std::is_same_v<decltype(variance(m)), H>);
  CHECK(sum(m) == 24);
  CHECK(prod(m) == 1080);
  CHECK(mean(m) == 4);
  CHECK(max(m) == 9);
  CHECK(min(m) == 1);
  CHECK(norm(m) == H(std::sqrt(136.0f)));
  CHECK(variance(m) == H(40.0f / 6));
  CHECK(stddev(m) == H(std::sqrt(40.0f / 6)));
  CHECK(logsumexp(m) == H(static_cast<float>(std::log(std::exp(1.0) + std::exp(2.0) + std::exp(3.0) + std::exp(4.0) + std::exp(5.0) + std::exp(9.0)))));
  check_values<H>(mean(m, 1), {2, 6});
  check_values<H>(max(m, 0), {4, 5, 9});
  check_values<H>(sum(m, 0), {5, 7, 12});
  CHECK(mean(m, 0, tt::keepdims)(0, 2) == 6);
  CHECK(argmax(m) == 5);
  CHECK(sum(softmax(m, 1), 1)(0) == doctest::Approx(1).epsilon(0.01));
  CHECK(dot(tt::tensor<H, 1>{1, 2}, tt::tensor<H, 1>{3, 4}) == 11);
  check_values<H>(matmul(m, tt::tensor<H, 1>{1, 1, 2}), {9, 27});
  CHECK(mean(tt::full<H>({100}, 60000.0)) == H(60000.0));  // the sum has no half
  CHECK(norm(tt::full<H>({4}, 1000.0)) == 2000);
}

TEST_CASE_TEMPLATE("derivatives", H, half, bfloat16) {
  const tt::tensor<H, 1> x{3, 4};
  check_values<H>(tt::grad([](const auto& t) { return norm(t); })(x), {static_cast<float>(H(0.6)), static_cast<float>(H(0.8))});
  const auto g = tt::grad([](const auto& t) { return logsumexp(t) + mean(t); })(tt::tensor<H, 1>{0, 0});
  check_values<H>(g, {1, 1});
  check_values<H>(tt::grad([](const auto& t) { return sum(t * t / 2) + variance(t); })(x), {2.5f, 4.5f});
  CHECK(tt::grad([](const auto& t) { return t * t * t + 1 / t; })(H(2)) == 11.75);
  CHECK(tt::jvp([](const auto& t) { return norm(t); }, x, tt::tensor<H, 1>{1, 0}).y_dot == H(0.6));
  check_values<H>(tt::vmap([](const auto& t) { return 2 * exp(t) + 1; })(tt::tensor<H, 1>{0, 0}), {3, 3});
}

TEST_CASE("the derivative of atan where the square of a half overflows") {
  const auto f = [](const auto& t) { return atan(t); };
  for (const float v : {100.0f, 128.0f, 129.0f, 300.0f, -700.0f, 2000.0f}) {
    const half h(v);
    const double truth = 1 / (1 + double(v) * v), unit = std::max(truth / 500, 0x1p-24);  // a unit in the last place, subnormal ones too
    CHECK(std::abs(double(tt::grad(f)(h)) - truth) <= unit);
    CHECK(std::abs(double(tt::jvp(f, h, half(1)).y_dot) - truth) <= unit);
    CHECK(tt::grad([&](const auto& t) { return sum(f(t)); })(tt::tensor<half, 1>{h})(0) == tt::grad(f)(h));
    CHECK(tt::vmap(tt::grad(f))(tt::tensor<half, 1>{h, h})(1) == tt::grad(f)(h));
    CHECK(std::isfinite(float(tt::grad(tt::grad(f))(h))));
  }
}

TEST_CASE_TEMPLATE("functions of a short float and a C++ number are of the short float, on both sides", T, tt::half, tt::bfloat16) {
  const T h(2.5f);
  const auto both = [&](const auto& f, double a, double b) {
    static_assert(std::is_same_v<decltype(f(2, h)), T> && std::is_same_v<decltype(f(2.0, h)), T> && std::is_same_v<decltype(f(h, 2)), T> && std::is_same_v<decltype(f(h, 2.0)), T>);
    CHECK(float(f(2, h)) == doctest::Approx(a).epsilon(0.01));
    CHECK(float(f(2.0, h)) == float(f(2, h)));
    CHECK(float(f(h, 2)) == doctest::Approx(b).epsilon(0.01));
    CHECK(float(f(h, 2.0)) == float(f(h, 2)));
  };
  both([](const auto& x, const auto& y) { return tt::pow(x, y); }, 5.657, 6.25);
  both([](const auto& x, const auto& y) { return maximum(x, y); }, 2.5, 2.5);
  both([](const auto& x, const auto& y) { return minimum(x, y); }, 2, 2);
  both([](const auto& x, const auto& y) { return fmod(x, y); }, 2, 0.5);
}

TEST_CASE_TEMPLATE("elements are converted as the numbers themselves", H, half, bfloat16) {
  tt::tensor<H, 1> t{1.5, 2.5};
  const double d = t(0);
  const float f = t(1);
  CHECK(d == 1.5);
  CHECK(f == 2.5f);
  CHECK(int(t(1)) == 2);
  CHECK(double(t(0)) + float(t(1)) == 4);
  const H direct(t(0)), copied = t(1), braces{t(0)};
  CHECK(direct == 1.5);
  CHECK(copied == 2.5);
  CHECK(braces == 1.5);
  std::vector<H> several{t(0), t(1)};
  several.push_back(t(0));
  CHECK(several[2] == 1.5);
  t(0) = t(1);
  t(1) += t(0);
  CHECK(t(1) * 2.0 == 10);
  tt::tensor<double, 1> wide{1, 2};
  wide(0) = t(0);
  wide(1) += t(0);
  CHECK(wide(0) == 2.5);
  CHECK(wide(1) == 4.5);
}
TEST_CASE_TEMPLATE("lerp and fma of numbers are of their type", H, half, bfloat16) {
  using std::fma, std::lerp;
  const H a(0.1f), b(0.3f), t(0.7f);
  const tt::tensor<H, 1> x{0.1f}, y{0.3f}, w{0.7f};
  const auto l = lerp(a, b, t), mixed = lerp(a, b, 0.5);
  const auto f = fma(a, b, t);
  static_assert(std::is_same_v<decltype(l), const H> && std::is_same_v<decltype(mixed), const H> && std::is_same_v<decltype(f), const H>);
  const auto near = [](const H& p, const tt::tensor<H, 1>& q) {  // a number is rounded at each step, an array where it is stored
    return std::abs(float(p) - float(q(0))) <= 2 * float(std::numeric_limits<H>::epsilon()) * std::abs(float(p));
  };
  CHECK(near(l, lerp(x, y, w)));
  CHECK(near(mixed, lerp(x, y, 0.5)));
  CHECK(near(f, fma(x, y, w)));
}
TEST_CASE("lerp and fma of plain numbers, fabs of elements of every kind") {
  CHECK(tt::lerp(1.0, 3.0, 0.25) == 1.5);
  CHECK(tt::fma(2.0f, 3.0f, 1.0f) == 7.0f);
  using std::fabs;
  const tt::tensor<double, 1> v{-2, 3};
  CHECK(tt::all(tt::grad([](const auto& t) {
    tt::tensor<tt::scalar_t<decltype(t)>, 1> z(2);
    z = t * 2.0;
    return fabs(z(0)) + fabs(t(1));
  })(v) == tt::tensor<double, 1>{-2, 1}));
  tt::tensor<double, 1> m = v;
  CHECK(fabs(m(0)) == 2);
  using namespace std;
  CHECK(lerp(1.0, 3.0, 0.5) == 2);
}
}  // namespace half_test
