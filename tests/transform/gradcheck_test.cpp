// gradcheck: true for right derivatives, false for wrong ones, whatever the arguments are.
#include <doctest/doctest.h>

#include <ttensor/testing.hpp>

#include <limits>
#include <sstream>

#include "../../examples/leaky_relu/leaky_relu.hpp"

namespace gradcheck_test {
namespace tt = ttensor;
using tt::tensor;

namespace {
template <class T> struct line {
  tensor<T, 1> slope;
  T offset;
  double scale;
};
/// sin with a derivative that is wrong by the factor `by`, in both modes.
template <class X> auto bent_sine(const X& x, double by) {
  return tt::custom_jvp([](const auto& v) { return sin(v); }, [by](const auto& v, const auto& d) { return std::pair{sin(v), by * cos(v) * d}; })(x);
}
}  // namespace

TEST_CASE("right derivatives: scalars, arrays, several arguments, trees, operators from outside") {
  const tensor<double, 2> a{{0.3, -1.2, 2.0}, {0.7, 0.1, -0.4}};
  const tensor<double, 1> b{0.5, 1.5, -2.5};
  CHECK(tt::gradcheck([](auto x) { return exp(x) * sin(x); }, 0.7));
  const auto r = tt::gradcheck([](const auto& x, const auto& y) { return matmul(x, y) / (1.0 + sum(y * y)); }, a, b);
  CHECK(r);
  CHECK(r.outputs == 2);
  CHECK(r.inputs == 9);
  CHECK(r.worst < 1e-12);
  CHECK(r.entries.size() == 10);
  CHECK(tt::gradcheck([](const auto& x) { return mine::leaky_relu(x, 0.2) * x; }, a));
  CHECK(tt::gradcheck([](const auto& p, const auto& x) { return std::pair{sum(p.slope * x) * p.scale + p.offset, tanh(x)}; }, line<double>{b, 0.25, 3}, 2.0 * b));
  CHECK(tt::gradcheck([](const auto& x) { return sum(x * x, 0); }, tt::to<float>(a)));
  CHECK(tt::gradcheck([](const auto& x) { return log(x); }, 0.003));
  CHECK(tt::gradcheck([](const auto& x) { return sum(x * x); }, tt::fixed<double, 2>{3, -4}));
}

TEST_CASE("large and small arguments and values raise no alarm") {
  const auto sine = [](const auto& x) { return sin(x); };
  const auto power = [](const auto& x) { return exp(x); };
  for (const double x : {1e6, 200.0, 1e-5, 0.0}) CHECK(tt::gradcheck(sine, x));
  for (const double x : {300.0, 150.0, -40.0}) CHECK(tt::gradcheck(power, x));
  for (const float x : {40.f, 0.3f}) {
    CHECK(tt::gradcheck(sine, x));
    CHECK(tt::gradcheck(power, x));
  }
  CHECK(tt::gradcheck([](const auto& x) { return sqrt(x); }, 1e-5));
  CHECK(tt::gradcheck([](const auto& v) { return sum(v * v) + 1e8; }, tensor<double, 1>{0.1, 0.2, 0.3}));
}

TEST_CASE("small derivatives that are wrong, and values that are no numbers, are noticed") {
  std::ostringstream text;
  std::streambuf* const before = std::clog.rdbuf(text.rdbuf());
  const tensor<double, 1> x{0.1, 0.2, 0.3};
  const auto small = tt::gradcheck([](const auto& v) { return 1e-7 * bent_sine(v, 2.0); }, x);
  const auto many = tt::gradcheck([](const auto& v) { return mean(bent_sine(v, 2.0)); }, tt::to<float>(tt::linspace(0.0, 1.0, 200)));
  const auto root = tt::gradcheck([](const auto& v) { return sqrt(v); }, -1.0);
  const auto nan = tt::gradcheck([](const auto& v) { return sum(v * v); }, tensor<double, 1>{std::nan(""), 1});
  std::clog.rdbuf(before);
  CHECK(small.worst > 0.4);
  CHECK(many.worst > 0.4);
  CHECK(!root);
  CHECK(!nan);
}

TEST_CASE("wrong derivatives at large arguments are noticed; what no difference resolves is said") {
  std::ostringstream text;
  std::streambuf* const before = std::clog.rdbuf(text.rdbuf());
  const auto squares = [](double by) {
    return tt::custom_jvp([](const auto& t) { return t * t; }, [by](const auto& t, const auto& d) { return std::pair{t * t, by * t * d}; });
  };
  for (const double x : {1e4, 1e8, 1e10, 1e12, -1e12}) {
    CAPTURE(x);
    CHECK(tt::gradcheck(squares(2), x).unresolved == 0);
    CHECK(tt::gradcheck(squares(2), x));
    CHECK_FALSE(tt::gradcheck(squares(2.002), x));
    CHECK_FALSE(tt::gradcheck(squares(2.00001), x));
  }
  std::clog.rdbuf(before);
  const auto hidden = tt::gradcheck([](const auto& t) { return t * t + 1e6; }, 1e-4);
  CHECK(hidden.unresolved == 1);
  CHECK_FALSE(hidden.entries[0].resolved);
  std::ostringstream said;
  said << hidden;
  CHECK(said.str().find("no difference resolves 1 of them") != std::string::npos);
}

TEST_CASE("steps at large arguments are no multiples of a period, and no smaller than the argument's last places; arguments that are no numbers end") {
  CHECK(tt::gradcheck([](auto t) { return cos(6.2831853f * t) + 300.0f; }, 1000.25f));
  CHECK(tt::gradcheck([](auto t) { return sin(6.283185307179586 * t) + 2e6; }, 1000.3));
  CHECK(tt::gradcheck([](auto x) { return x - 2e6f; }, 2e6f));
  CHECK(tt::gradcheck([](auto x) { return (x - 2e6f) * (x - 2e6f); }, 2000000.5f));
  CHECK(tt::gradcheck([](auto x) { return x - 1e13; }, 1e13));
  std::ostringstream text;
  std::streambuf* const before = std::clog.rdbuf(text.rdbuf());
  CHECK_FALSE(tt::gradcheck([](auto x) { return 1.0 * x; }, std::numeric_limits<double>::infinity()));
  static_cast<void>(tt::gradcheck([](auto x) { return 2.0 * x; }, 5e-324));
  std::clog.rdbuf(before);
}

TEST_CASE("functions with custom_vjp are checked without forward mode") {
  std::ostringstream text;
  std::streambuf* const before = std::clog.rdbuf(text.rdbuf());
  const auto cube = [](double by) {
    return tt::custom_vjp([](auto t) { return t * t * t; }, [](auto t) { return std::pair{t * t * t, t}; }, [by](auto t, auto ct) { return by * t * t * ct; });
  };
  CHECK(tt::gradcheck(cube(3), tt::reverse_only, 1.5));
  CHECK_FALSE(tt::gradcheck(cube(3.01), tt::reverse_only, 1.5));
  const auto of_array = [&](const auto& x, const auto& y) { return sum(cube(3)(x) * y); };
  const auto r = tt::gradcheck(of_array, tt::reverse_only, tensor<double, 1>{1, -2}, tensor<double, 1>{0.5, 3});
  CHECK(r);
  CHECK(r.inputs == 4);
  CHECK(std::isnan(r.entries[0].forward));
  std::clog.rdbuf(before);
}

TEST_CASE("functions that bend within the step excuse no wrong derivative") {
  std::ostringstream text;
  std::streambuf* const before = std::clog.rdbuf(text.rdbuf());
  for (const double w : {30.0, 600.0, 1000.0, 3000.0, 2e4}) {
    CAPTURE(w);
    CHECK(tt::gradcheck([w](auto x) { return sin(w * x); }, 0.7));
    CHECK(tt::gradcheck([w](const auto& x) { return sum(tanh(w * x)); }, tensor<double, 1>{1e-3, 0.7, -1e-4}));
    CHECK_FALSE(tt::gradcheck([w](auto x) { return bent_sine(w * x, 2.0); }, 0.7));
    CHECK_FALSE(tt::gradcheck([w](const auto& x) { return sum(bent_sine(w * x, 0.9)); }, tensor<double, 1>{0.1, 0.7}));
  }
  std::clog.rdbuf(before);
}

TEST_CASE("wrong derivatives, and derivatives that are no numbers") {
  std::ostringstream text;
  std::streambuf* const before = std::clog.rdbuf(text.rdbuf());
  const tensor<double, 1> x{0.1, 0.2, 0.3};
  const auto r = tt::gradcheck([](const auto& v) { return bent_sine(v, 1.001); }, x);
  const auto nan = tt::gradcheck([](const auto& v) { return tt::custom_jvp([](const auto& u) { return u * u; }, [](const auto& u, const auto& d) { return std::pair{u * u, d / 0.0 * 0.0}; })(v); }, 1.0);
  std::clog.rdbuf(before);
  CHECK(!r);
  CHECK(r.worst > 0.9e-3);
  CHECK(r.worst < 1.1e-3);
  CHECK(r.entries[0].input == r.entries[0].output);
  CHECK(!nan);
  CHECK(nan.worst != nan.worst);
  CHECK(text.str().find("3 x 3 derivatives DIFFER") != std::string::npos);
  CHECK(tt::gradcheck([](const auto& v) { return bent_sine(v, 1.0); }, x));
}

namespace {
/// x / (1 + exp(-b x)), in the functions and operators of any generic code.
struct swish_op : tt::real_elementwise<2> {
  static constexpr const char* name = "swish";
  static constexpr unsigned reads(int) { return 7u; }
  template <class X, class B> static constexpr auto primal(const X& x, const B& b) {
    using std::exp;
    return x / (1 + exp(-b * x));
  }
  template <class X, class B, class Y> static constexpr auto partials(const X& x, const B& b, const Y& y) {
    using std::exp;
    const auto s = 1.0 / (1.0 + exp(-b * x));
    return tt::grads{s + b * y * (1.0 - s), x * y * (1.0 - s)};
  }
};
template <class X, class B> auto swish(const X& x, const B& b) { return tt::apply<swish_op>(x, b); }
}  // namespace
TEST_CASE("an operator whose rule is written as any code is") {
  const tt::tensor<double, 1> x{-1.5, 0, 0.25, 2, 3}, b{0.5, 1, 1.5, 2, -1};
  const tt::tensor<double, 1> y = swish(x, b);
  for (int i = 0; i < 5; ++i) CHECK(y(i) == doctest::Approx(x(i) / (1 + std::exp(-b(i) * x(i)))).epsilon(1e-14));
  const bool agree = tt::gradcheck([](const auto& x, const auto& b) { return swish(x, b); }, x, b);
  CHECK(agree);
  const auto slope = [](double v) {  // of b = 1, and its own slope
    const double s = 1 / (1 + std::exp(-v));
    return std::pair{s * (1 + v * (1 - s)), s * (1 - s) * (2 + v * (1 - 2 * s))};
  };
  const auto h = tt::hessian([](const auto& x) { return sum(swish(x, 1.0)); })(x);
  for (int i = 0; i < 5; ++i) CHECK(h(i, i) == doctest::Approx(slope(x(i)).second).epsilon(1e-13));
  CHECK(tt::grad([](auto v) { return swish(v, 1.0); })(0.7) == doctest::Approx(slope(0.7).first).epsilon(1e-14));
}
}  // namespace gradcheck_test
