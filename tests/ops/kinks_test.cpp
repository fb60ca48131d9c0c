// Kinks and tails: the exact derivatives of the public table, in forward and in reverse mode, of numbers and of arrays.
#include <doctest/doctest.h>

#include <cmath>
#include <gate/gate_reader.hpp>
#include <limits>
#include <ttensor/all.hpp>

namespace kinks_test {
namespace tt = ttensor;
using vec = tt::tensor<double, 1>;
constexpr double inf = std::numeric_limits<double>::infinity();

namespace {
void expect(const char* name, const std::vector<double>& got) {
  const auto& want = gate::special_values().value(name).values;
  const auto& tolerance = gate::special_values().value(name, "tolerance").values[0];
  CAPTURE(name);
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CAPTURE(got[i]);
    CAPTURE(want[i]);
    CHECK((got[i] == want[i] || std::abs(got[i] - want[i]) <= tolerance * std::abs(want[i])));
  }
}
std::vector<double> list(const auto& t) {
  const auto e = tt::eval(t);
  return {e.data(), e.data() + e.size()};
}
/// Derivatives of f at the points, in both modes, of numbers and of arrays.
template <class F> void slopes(const char* name, F f, std::initializer_list<double> at) {
  std::vector<double> forward, reverse, array_forward, array_reverse;
  for (double x : at) {
    forward.push_back(tt::jvp(f, x, 1.0).y_dot);
    reverse.push_back(tt::grad(f)(x));
    array_forward.push_back(list(tt::jvp(f, vec{x, x, x}, vec{1, 1, 1}).y_dot)[1]);
    array_reverse.push_back(tt::grad([&](const auto& v) { return sum(f(v)); })(vec{x, x, x})(1));
  }
  expect(name, forward);
  expect(name, reverse);
  expect(name, array_forward);
  expect(name, array_reverse);
}
template <class F> void slopes2(const char* name, F f, double x, double y) {
  const auto [a, b] = tt::grad<0, 1>(f)(x, y);
  expect(name, {a, b});
  expect(name, {tt::jvp([&](auto s) { return f(s, y); }, x, 1.0).y_dot, tt::jvp([&](auto s) { return f(x, s); }, y, 1.0).y_dot});
  const vec u{x, x, x}, v{y, y, y}, one{1, 1, 1};
  const auto [c, d] = tt::grad<0, 1>([&](const auto& s, const auto& t) { return sum(f(s, t)); })(u, v);
  expect(name, {c(1), d(1)});
  expect(name, {list(tt::jvp([&](const auto& s) { return f(s, v); }, u, one).y_dot)[1], list(tt::jvp([&](const auto& s) { return f(u, s); }, v, one).y_dot)[1]});
}
/// The gradient of a function of an array, in reverse mode and element by element in forward mode.
template <class F> void gradient(const char* name, F f, const auto& x) {
  expect(name, list(tt::grad(f)(x)));
  std::vector<double> forward;
  for (tt::index_t i = 0; i < x.size(); ++i) {
    auto v = tt::eval(where(x == x, 0.0, 1.0));
    v.data()[i] = 1;
    forward.push_back(tt::jvp(f, x, v).y_dot);
  }
  expect(name, forward);
}
}  // namespace

TEST_CASE("one argument") {
  slopes("abs_at_0", [](const auto& x) { return abs(x); }, {0.0});
  slopes("relu_at_0", [](const auto& x) { return tt::relu(x); }, {0.0});
  slopes("sqrt_at_0", [](const auto& x) { return sqrt(x); }, {0.0});
  slopes("clamp_on_boundary", [](const auto& x) { return tt::clamp(x, -1, 1); }, {-1, 1});
  slopes("clamp_outside_and_inside", [](const auto& x) { return tt::clamp(x, -1, 1); }, {-2, 0.5, 2});
  slopes("log1p_at_minus_1", [](const auto& x) { return log1p(x); }, {-1});
  slopes("expm1_at_minus_50", [](const auto& x) { return expm1(x); }, {-50});
  slopes("tanh_at_20", [](const auto& x) { return tanh(x); }, {20, -20});
  slopes("tanh_at_400", [](const auto& x) { return tanh(x); }, {400});
  slopes("softplus_tails", [](const auto& x) { return tt::softplus(x); }, {0, 1000, -1000});
  slopes("softplus_at_minus_40", [](const auto& x) { return tt::softplus(x); }, {-40});
  slopes("sigmoid_slope_tails", [](const auto& x) { return tt::sigmoid(x); }, {-40, 40, -800, 800});
  slopes("logsigmoid_tails", [](const auto& x) { return tt::logsigmoid(x); }, {-1000, 0, 1000});
  slopes("pow_zero_exponent", [](const auto& x) { return pow(x, 0.0); }, {0, 2, -3});
  slopes("pow_zero_base_wrt_exponent", [](const auto& y) { return pow(0.0, y); }, {0, 1, 2.5});
  slopes("pow_negative_base", [](const auto& x) { return pow(x, 3.0); }, {-2});
  slopes("sign_at_0", [](const auto& x) { return tt::sign(x) * 1.0 + x * 0.0; }, {0.0});
  slopes("asinh_far", [](const auto& x) { return 1e160 * asinh(x); }, {1e160, -1e160, 1e9});
  slopes("acosh_far", [](const auto& x) { return 1e160 * acosh(x); }, {1e160, 1e9});
  expect("expm1_tiny", {double(tt::eval(expm1(vec{1e-18}))(0)), tt::grad([](auto x) { return expm1(x); })(1e-18)});
  expect("log1p_tiny", {double(tt::eval(log1p(vec{1e-18}))(0)), tt::grad([](auto x) { return log1p(x); })(1e-18)});
  expect("sigmoid_tails", list(tt::sigmoid(vec{-800, 800})));
  expect("pow_negative_base_second", {tt::grad(tt::grad([](auto x) { return pow(x, 3.0); }))(-2.0)});
}

/// f'' at x in every order of two modes, of numbers and of arrays.
template <class F> void bends(const char* name, F f, double x, double want) {
  CAPTURE(name);
  CAPTURE(x);
  CHECK(tt::jacfwd(tt::jacfwd(f))(x) == want);
  CHECK(tt::jacfwd(tt::grad(f))(x) == want);
  CHECK(tt::grad(tt::jacfwd(f))(x) == want);
  CHECK(tt::grad(tt::grad(f))(x) == want);
  const auto g = [&](const auto& v) { return sum(f(v)); };
  CHECK(tt::hvp(g, vec{0.25, x}, vec{0, 1})(1) == want);
  CHECK(tt::grad([&](const auto& v) { return sum(tt::grad(g)(v)); })(vec{0.25, x})(1) == want);
}
TEST_CASE("second derivatives that are infinite are so in every mode") {
  bends("asin", [](const auto& x) { return asin(x); }, 1, inf);
  bends("asin", [](const auto& x) { return asin(x); }, -1, -inf);
  bends("acos", [](const auto& x) { return acos(x); }, 1, -inf);
  bends("acos", [](const auto& x) { return acos(x); }, -1, inf);
  bends("atanh", [](const auto& x) { return atanh(x); }, 1, inf);
  bends("atanh", [](const auto& x) { return atanh(x); }, -1, -inf);
  bends("sqrt", [](const auto& x) { return sqrt(x); }, 0, -inf);
  bends("log", [](const auto& x) { return log(x); }, 0, -inf);
  bends("acosh", [](const auto& x) { return acosh(2.5 * x - 1.5); }, 1, -inf);  // 0.25 is outside
}

TEST_CASE("second derivatives of hypot and atan2 at the origin are 0, and symmetric near it") {
  const auto both = [](auto f, const tt::tensor<double, 1>& x, double first, double mixed, double second) {
    const auto same = [&](const tt::tensor<double, 2>& h) { return tt::max(abs(h - tt::tensor<double, 2>{{first, mixed}, {mixed, second}})) < 1e-15; };
    CHECK(same(tt::hessian(f)(x)));
    CHECK(same(tt::jacrev(tt::grad(f))(x)));
    CHECK(same(tt::jacfwd(tt::jacfwd(f))(x)));
    const auto array = [&](const auto& y) { return f(reshape(y, 2, 1)); };
    CHECK(same(tt::hessian([&](const auto& y) { return sum(array(y)); })(x)));
  };
  const auto angle = [](const auto& x) { return atan2(x(0), x(1)); };
  const auto size = [](const auto& x) { return hypot(x(0), x(1)); };
  const tt::tensor<double, 1> origin{0, 0}, point{3, 4};
  both(angle, origin, 0, 0, 0);
  both(size, origin, 0, 0, 0);
  both(angle, point, -0.0384, -0.0112, 0.0384);
  both(size, point, 0.128, -0.096, 0.072);
}

TEST_CASE("two arguments") {
  slopes2("hypot_at_0", [](const auto& x, const auto& y) { return hypot(x, y); }, 0.0, 0.0);
  slopes2("maximum_tie", [](const auto& x, const auto& y) { return tt::maximum(x, y); }, 3.0, 3.0);
  slopes2("minimum_tie", [](const auto& x, const auto& y) { return tt::minimum(x, y); }, 3.0, 3.0);
  slopes2("fmax_tie", [](const auto& x, const auto& y) { return fmax(x, y); }, 3.0, 3.0);
  const auto angle = [](const auto& y, const auto& x) { return atan2(y, x); };
  const auto scaled = [](const auto& y, const auto& x) { return 1e200 * atan2(y, x); };
  slopes2("atan2_far", scaled, 3e200, 4e200);
  slopes2("atan2_near", angle, -3e-200, 4e-200);
  slopes2("atan2_uneven", scaled, 3.0, -4e200);
  slopes2("fmin_tie", [](const auto& x, const auto& y) { return fmin(x, y); }, 3.0, 3.0);
}

TEST_CASE_TEMPLATE("angles and areas where squares over- or underflow, of narrower numbers", T, float, tt::half, tt::bfloat16) {
  using limits = std::numeric_limits<T>;
  const double tolerance = 8 * double(limits::epsilon());
  const auto angle = [](const auto& y, const auto& x) { return atan2(y, x); };
  for (int power : {limits::max_exponent - 4, limits::max_exponent / 2, 0, limits::min_exponent / 2, limits::min_exponent + 4}) {
    const double scale = std::ldexp(1.0, power);
    CAPTURE(scale);
    const auto of = [](double x) { return static_cast<T>(static_cast<float>(x)); };
    const auto [dy, dx] = tt::grad<0, 1>(angle)(of(3 * scale), of(4 * scale));
    CHECK(double(dy) == doctest::Approx(0.16 / scale).scale(0).epsilon(tolerance));
    CHECK(double(dx) == doctest::Approx(-0.12 / scale).scale(0).epsilon(tolerance));
    const auto [ay, ax] = tt::grad<0, 1>([&](const auto& y, const auto& x) { return sum(angle(y, x)); })(tt::tensor<T, 1>{of(3 * scale)}, tt::tensor<T, 1>{of(4 * scale)});
    CHECK(double(T(ay(0))) == doctest::Approx(0.16 / scale).scale(0).epsilon(tolerance));
    CHECK(double(T(ax(0))) == doctest::Approx(-0.12 / scale).scale(0).epsilon(tolerance));
    if (power <= 0) continue;
    const T x = of(scale);
    CHECK(double(tt::grad([](auto a) { return asinh(a); })(x)) == doctest::Approx(1 / scale).scale(0).epsilon(tolerance));
    CHECK(double(tt::grad([](auto a) { return acosh(a); })(x)) == doctest::Approx(1 / scale).scale(0).epsilon(tolerance));
  }
}

TEST_CASE("zero absorbs, where selects") {
  slopes("where_double", [](const auto& x) { return where(x > 0, sqrt(where(x > 0, x, 1.0)), 0.0); }, {0, 4});
  const double a = tt::grad([](auto x) { return 0 * sqrt(x); })(0.0), b = tt::grad([](auto x) { return where(x > 0, sqrt(x), 0.0); })(0.0);
  expect("sqrt_at_0_zero_cotangent", {a, b});
  const auto f = [](const auto& v) { return sum(0.0 * sqrt(v)); };
  const auto g = [](const auto& v) { return sum(where(v > 0, sqrt(v), 0.0)); };
  expect("sqrt_at_0_zero_cotangent", {tt::grad(f)(vec{0.0})(0), tt::grad(g)(vec{0.0})(0)});
  const auto p = [](const auto& x) { return where(x > 0, x * x, sqrt(-x)); };
  const auto q = [](const auto& x) { return where(x > 0, x * x, log(-x)); };
  expect("where_nan_branch", {tt::grad(p)(3.0), tt::grad(q)(3.0)});
  expect("where_nan_branch", {tt::jvp(p, 3.0, 1.0).y_dot, tt::jvp(q, 3.0, 1.0).y_dot});
  expect("where_nan_branch", {list(tt::jvp(p, vec{3.0}, vec{1.0}).y_dot)[0], list(tt::jvp(q, vec{3.0}, vec{1.0}).y_dot)[0]});
  CHECK(tt::jvp([](auto x) { return sqrt(x); }, 0.0, 0.0).y_dot == 0);
  CHECK(list(tt::jvp([](const auto& x) { return sqrt(x); }, vec{0.0, 4.0}, vec{0.0, 1.0}).y_dot) == std::vector<double>{0, 0.25});
  expect("where_nan_branch", {tt::grad([&](const auto& v) { return sum(p(v)); })(vec{3.0})(0), tt::grad([&](const auto& v) { return sum(q(v)); })(vec{3.0})(0)});
}

TEST_CASE("where is the branch that it takes, of scalars of every kind, whatever the other is") {
  const auto check = [](auto f) {
    CHECK(f(-2.0) == -8);
    CHECK(f(-2.0f) == -8);
    CHECK(tt::grad(f)(-2.0) == 12);
    CHECK(tt::jvp(f, -2.0, 1.0).y_dot == 12);
    CHECK(tt::grad(tt::grad(f))(-2.0) == -12);
    CHECK(tt::jvp(tt::grad(f), -2.0, 1.0).y_dot == -12);
    CHECK(tt::vmap(f)(vec{-2, -2})(1) == -8);
    CHECK(tt::vmap(tt::grad(f))(vec{-2, -2})(1) == 12);
  };
  const auto against = [&](auto other) {
    check([=](const auto& x) { return tt::where(x < 0, x * x * x, other(x)); });
    check([=](const auto& x) { return tt::where(x >= 0, other(x), x * x * x); });
  };
  against([](const auto& x) { return x; });
  against([](const auto&) { return 0; });
  against([](const auto& x) { using std::log; return log(x); });           // NaN; its slope is a number
  against([](const auto& x) { using std::sqrt; return sqrt(x); });         // NaN, and so is its slope
  against([](const auto& x) { return 1 / (x + 2); });                      // infinite
  against([](const auto& x) { using std::sqrt; return sqrt(x + 2); });     // its slope is infinite
  static_assert(std::is_same_v<decltype(tt::where(true, 1.0f, 0)), float> && std::is_same_v<decltype(tt::where(true, 1, 2)), int>);
  static_assert(std::is_same_v<decltype(tt::where(true, tt::half(1.0f), 0.0)), tt::half>);
  static_assert(std::is_same_v<decltype(tt::where(true, std::complex<float>(), std::complex<double>())), std::complex<double>>);
  static_assert(std::is_same_v<decltype(tt::where(true, std::complex<double>(), std::complex<float>())), std::complex<double>>);
}

TEST_CASE("reductions") {
  const auto largest = [](const auto& x) { return max(x); };
  gradient("max_all_tie_2", largest, vec{2, 1, 2});
  gradient("max_all_tie_3", largest, vec{2, 2, 2});
  gradient("min_all_tie_2", [](const auto& x) { return min(x); }, vec{2, 3, 2});
  gradient("max_axis_tie", [](const auto& x) { return sum(max(x, 1)); }, tt::tensor<double, 2>{{2, 1, 2}, {5, 5, 4}});
  CHECK(tt::jvp(largest, vec{2, 1, 2}, vec{1, 5, 0}).y_dot == 0.5);
  gradient("max_all_tie_2", [](const auto& x) { return max(x, 0, tt::keepdims)(0); }, vec{2, 1, 2});
  gradient("norm_at_0", [](const auto& x) { return norm(x); }, vec{0, 0, 0});
  const auto product = [](const auto& x) { return prod(x); };
  gradient("prod_one_zero", product, vec{2, 0, 3});
  gradient("prod_two_zeros", product, vec{0, 0, 3});
  std::vector<double> hessian, reverse;
  for (int i = 0; i < 3; ++i) {
    vec v{0, 0, 0};
    v(i) = 1;
    for (double h : list(tt::hvp(product, vec{0, 0, 3}, v))) hessian.push_back(h);
    for (double h : list(tt::vhp(product, vec{0, 0, 3}, v))) reverse.push_back(h);
  }
  expect("prod_two_zeros_hessian", hessian);
  expect("prod_two_zeros_hessian", reverse);
  const auto lse = [](const auto& x) { return logsumexp(x); };
  gradient("logsumexp_all_minus_inf", lse, vec{-inf, -inf});
  gradient("logsumexp_one_minus_inf", lse, vec{-inf, 1});
  gradient("logsumexp_large", lse, vec{1000, 1001});
  expect("logsumexp_large_value", {logsumexp(vec{1000, 1001})});
  CHECK(tt::jvp(lse, vec{-inf, -inf}, vec{1, 1}).y_dot == 0);
  expect("softmax_all_minus_inf", list(softmax(vec{-inf, -inf}, 0)));
  std::vector<double> jacobian;
  for (int i = 0; i < 2; ++i) {
    vec v{0, 0};
    v(i) = 1;
    for (double j : list(tt::jvp([](const auto& x) { return softmax(x, 0); }, vec{-inf, -inf}, v).y_dot)) jacobian.push_back(j);
  }
  expect("softmax_all_minus_inf_jacobian", jacobian);
  expect("softmax_all_minus_inf_jacobian", list(tt::jacrev([](const auto& x) { return softmax(x, 0); })(vec{-inf, -inf})));
}

TEST_CASE("repeated indices add") {
  const tt::tensor<std::int64_t, 1> index{2, 0, 2};
  gradient("gather_repeated", [&](const auto& x) { return sum(gather(x, 0, index)); }, vec{1, 2, 3});
  gradient("gather_repeated", [&](const auto& x) { return sum(take(x, index, 0)); }, vec{1, 2, 3});
  gradient("scatter_add_repeated", [&](const auto& src) { return dot(vec{1, 2, 3}, scatter_add(tt::zeros<double>(3), 0, index, src)); }, vec{4, 5, 6});
}
}  // namespace kinks_test
