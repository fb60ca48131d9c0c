// Operators of operands that differ in kind: one mapped or differentiated, the others plain. Law: vmap(grad(f)) and vmap of a jvp are
// grad(f) of every element. (The tables of the gate have all operands of one kind.)
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <ttensor/all.hpp>

namespace mixed_operands_test {
namespace tt = ttensor;

namespace {
const tt::tensor<double, 1> points{0.6, 0.75, 1.3};
int checked = 0;
template <class F> void check_law(const std::string& name, const F& f) {
  CAPTURE(name);
  const auto gradients = tt::vmap(tt::grad(f))(points);
  const auto tangents = tt::vmap([&](const auto& t) { return tt::jvp(f, t, 1.0).y_dot; })(points);
  const auto outside = tt::grad([&](const auto& x) { return sum(tt::vmap(f)(x)); })(points);
  for (tt::index_t i = 0; i < 3; ++i) {
    const double want = tt::grad(f)(double(points(i)));
    CHECK(gradients(i) == doctest::Approx(want).epsilon(1e-14));
    CHECK(tangents(i) == doctest::Approx(want).epsilon(1e-14));
    CHECK(outside(i) == doctest::Approx(want).epsilon(1e-14));
  }
  ++checked;
}
template <class F> void check_second(const std::string& name, const F& f) {
  CAPTURE(name);
  const auto slope = tt::grad(f);
  for (tt::index_t i = 0; i < 3; ++i) {
    const double t = points(i), h = 1e-5, want = (slope(t + h) - slope(t - h)) / (2 * h);
    CHECK(tt::grad(slope)(t) == doctest::Approx(want).epsilon(1e-7).scale(1));
    CHECK(tt::jvp(slope, t, 1.0).y_dot == doctest::Approx(want).epsilon(1e-7).scale(1));
  }
}
template <class Op> void check_binary() {
  if constexpr (Op::differentiable) {
    check_law(Op::name + std::string(" first"), [](const auto& t) { return tt::apply<Op>(t, 0.7); });
    check_law(Op::name + std::string(" second"), [](const auto& t) { return tt::apply<Op>(0.7, t); });
    check_second(Op::name + std::string(" first, twice"), [](const auto& t) { return tt::apply<Op>(t, 0.7); });
    check_second(Op::name + std::string(" second, twice"), [](const auto& t) { return tt::apply<Op>(0.7, t); });
  }
}
template <class Op> void check_ternary() {
  if constexpr (Op::differentiable && !std::is_same_v<Op, tt::where_op>) {
    check_law(Op::name + std::string(" first"), [](const auto& t) { return tt::apply<Op>(t, 0.65, 0.9); });
    check_law(Op::name + std::string(" second"), [](const auto& t) { return tt::apply<Op>(0.7, t, 0.9); });
    check_law(Op::name + std::string(" third"), [](const auto& t) { return tt::apply<Op>(0.7, 0.65, t); });
    check_law(Op::name + std::string(" two"), [](const auto& t) { return tt::apply<Op>(t, 0.65, t * 1.5); });
  }
}
template <class... Op> void check_binaries(tt::type_list<Op...>) { (check_binary<Op>(), ...); }
template <class... Op> void check_ternaries(tt::type_list<Op...>) { (check_ternary<Op>(), ...); }
template <class T> struct maybe {
  T a;
  std::optional<T> b;
};
void scale(tt::view_of<double, 2> v) { v *= 2.0; }
double total(tt::view_of<const double, 2> v) { return sum(v); }
template <class T> concept scalable = requires(T&& t) { scale(static_cast<T&&>(t)); };
}  // namespace

TEST_CASE("vmap and derivatives with plain operands: two") {
  check_binaries(tt::all_binary{});
  CHECK(checked >= 16);
}
TEST_CASE("vmap and derivatives with plain operands: three") {
  check_ternaries(tt::all_ternary{});
  check_law("where", [](const auto& t) { return where(t > 0.7, t * t, 0.25); });
  CHECK(tt::vmap(tt::grad([](const auto& t) { return pow(t, 3); }))(points)(0) == doctest::Approx(3 * 0.36));
}
TEST_CASE("masks are ordered") {
  const tt::tensor<bool, 1> p{true, false, true, false, true}, q{true, true, false, false, false};
  const auto less = tt::eval(p < q), most = tt::eval(p >= q), larger = tt::eval(maximum(p, q)), smaller = tt::eval(minimum(p, q));
  for (tt::index_t i = 0; i < 5; ++i) {
    const bool a = p(i), b = q(i);
    CHECK(less(i) == (a < b));
    CHECK(most(i) == (a >= b));
    CHECK(larger(i) == (a || b));
    CHECK(smaller(i) == (a && b));
  }
}
TEST_CASE("elements count, and integers shift and mask, as their type does") {
  tt::tensor<double, 1> x{4, 2};
  CHECK(x(0)++ == 4);
  CHECK(++x(0) == 6);
  CHECK(x(1)-- == 2);
  CHECK(--x(1) == 0);
  CHECK((x(0) == 6 && x(1) == 0));
  tt::tensor<int, 1> i{7, 4, 12};
  i(0) %= 4;
  i(0) |= 8;
  i(1) <<= 1;
  i(1) >>= 2;
  i(2) &= 6;
  i(2) ^= 5;
  CHECK((i(0) == 11 && i(1) == 2 && i(2) == 1));
  tt::tensor<bool, 1> b{true, false};
  b(0) &= false;
  b(1) |= true;
  b(1) ^= true;
  CHECK((!b(0) && !b(1)));
}
TEST_CASE("functions that no transform can enter, with rules of their own") {
  const std::function<double(double)> cube = [](double x) { return x * x * x; };
  const auto forward = tt::custom_jvp(cube, [cube](auto x, auto v) { return std::pair{cube(tt::value_of(x)), 3.0 * x * x * v}; });
  const auto reverse = tt::custom_vjp(cube, [cube](auto x) { return std::pair{cube(tt::value_of(x)), x}; }, [](auto x, auto ct) { return 3.0 * x * x * ct; });
  CHECK(forward(2.0) == 8);
  CHECK(reverse(2.0) == 8);
  CHECK(tt::grad(forward)(2.0) == 12);
  CHECK(tt::grad(reverse)(2.0) == 12);
  CHECK(tt::jvp(forward, 2.0, 1.0).y_dot == 12);
  const auto solve = [](auto th) {  // z = cos(th z), by a loop without a bound
    return tt::while_loop([th](auto z) { using std::cos; using std::fabs; return fabs(z - cos(th * z)) > 1e-14; }, [th](auto z) { using std::cos; return cos(th * z); }, th);
  };
  const auto implicit = tt::custom_vjp(solve, [solve](auto th) { const auto z = solve(th); return std::pair{z, std::pair{th, z}}; },
                                       [](auto saved, auto ct) { using std::sin; const auto [th, z] = saved; return ct * (-sin(th * z) * z) / (1.0 + sin(th * z) * th); });
  const double h = 1e-6;
  CHECK(tt::grad(implicit)(0.8) == doctest::Approx((solve(0.8 + h) - solve(0.8 - h)) / (2 * h)).epsilon(1e-8));
}
TEST_CASE("the scalar of a key is that of its levels") {
  static_assert(std::is_same_v<tt::scalar_t<tt::rng>, double>);
  static_assert(std::is_same_v<tt::scalar_t<tt::rng, tt::tensor<float, 1>>, float>);
  static_assert(std::is_same_v<tt::scalar_t<tt::basic_rng<tt::batched<double>>, float>, tt::batched<float>>);
  const auto f = [](const auto& key, const auto& x) {
    tt::scalar_t<decltype(key), decltype(x)> s = tt::normal<double>(key);
    s += sum(x);
    return s;
  };
  const auto keys = tt::split(tt::rng(1), 3);
  const auto y = tt::vmap(f, tt::in_axes<0, tt::none>)(keys, points);
  for (tt::index_t i = 0; i < 3; ++i) CHECK(y(i) == f(keys[static_cast<std::size_t>(i)], points));
}
TEST_CASE("a whole tensor is a view of itself; numbers meet complex floats; an optional is a field") {
  static_assert(scalable<tt::tensor<double, 2>&> && !scalable<const tt::tensor<double, 2>&> && !scalable<tt::tensor<double, 2>> && !scalable<tt::tensor<double, 1>&>);
  tt::tensor<double, 2> y{{1, 2}, {3, 4}};
  const tt::tensor<double, 2> copy = y;
  scale(y);
  CHECK((y(1, 1) == 8 && copy(1, 1) == 4 && total(copy) == 10 && total(y) == 20));
  tt::view_of<double, 2> whole = y;
  whole = copy;
  tt::tensor<double, 1> row{5, 6};
  y(0) = row;
  y(tt::all, 1) = std::move(row);
  CHECK((y(0, 0) == 5 && y(1, 1) == 6 && y(1, 0) == 3));
  const tt::tensor<std::complex<float>, 1> z = tt::tensor<std::complex<float>, 1>{1, 2} * 2.0;
  CHECK(z(1) == std::complex<float>(4, 0));
  const auto g = tt::grad([](const auto& m) { return m.a * *m.b; })(maybe<double>{2, 3.0});
  CHECK((g.a == 3 && *g.b == 2));
}

namespace both {  // what `using namespace` of both makes of a call
using namespace std;
using namespace ttensor;
static_assert(is_same_v<decltype(exp(1.0)), double> && is_same_v<decltype(exp(1.0f)), float> && is_same_v<decltype(exp(1)), double>);
static_assert(is_same_v<decltype(pow(2.0, 3)), double> && is_same_v<decltype(abs(-3)), int> && is_same_v<decltype(real(2.0)), double>);
static_assert(is_same_v<decltype(fmax(1, 2.5)), double> && is_same_v<decltype(isnan(1.0)), bool> && is_same_v<decltype(atan2(1.0f, 2.0f)), float>);
}  // namespace both

TEST_CASE("functions of plain numbers, by ttensor's names: those of arrays, to the bit") {
  const auto f = [](const auto& x) { return tt::exp(x) * tt::pow(x, 2) + tt::sin(x) * tt::maximum(x, 0.0) + tt::where(x > 0.0, tt::sqrt(x), x) + tt::square(x) + tt::hypot(x, x) + tt::abs(x); };
  for (const double x : {0.25, 1.7, 3.0}) {
    CHECK(f(x) == tt::eval(f(tt::tensor<double, 1>{x}))(0));
    CHECK(std::abs(f(x) - (std::exp(x) * x * x + std::sin(x) * x + std::sqrt(x) + x * x + std::hypot(x, x) + x)) <= 1e-14 * f(x));
    CHECK(tt::jvp(f, x, 1.0).y == f(x));
  }
  static_assert(std::is_same_v<decltype(tt::exp(1.0f)), float> && std::is_same_v<decltype(tt::pow(2.0f, 2)), double>);
  CHECK(tt::pow(2.0, 10) == 1024);
  CHECK(tt::pow(2, 0.5) == tt::pow(2.0, 0.5));
  const auto least = [](auto x) { return tt::minimum(x, 2.0) * tt::hypot(x, 1.0); };  // of a float x two types
  static_assert(std::is_same_v<decltype(least(1.0f)), double>);
  CHECK(least(3.0f) == doctest::Approx(2 * std::sqrt(10.0)).epsilon(1e-15));
  CHECK(tt::grad(least)(3.0f) == doctest::Approx(2 * 3 / std::sqrt(10.0)).epsilon(1e-6));
  CHECK(tt::isnan(std::nan("")));
  CHECK(!tt::isfinite(1.0f / std::numeric_limits<float>::denorm_min()));
}
}  // namespace mixed_operands_test
