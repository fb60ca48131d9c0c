// What `where` did not select reaches no derivative of any order, also where its value and its partials are infinite or NaN and
// it is a named variable with an entry of its own on the tape of scalars.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <ttensor/all.hpp>

namespace selection_test {
namespace tt = ttensor;
using vec = tt::tensor<double, 1>;

namespace {
/// The first three derivatives of f at x, from every mix of modes; and of f of the first element of an array, and mapped.
void derivatives(const auto& f, double x, double first, double second, double third) {
  const double tiny = 4e-16 * (1 + std::abs(first) + std::abs(second) + std::abs(third));
  const auto is = [&](double got, double want) { CHECK_MESSAGE(std::abs(got - want) <= tiny, got, " for ", want, " at ", x); };
  is(tt::grad(f)(x), first);
  is(tt::grad(tt::grad(f))(x), second);
  is(tt::jacfwd(tt::grad(f))(x), second);
  is(tt::grad(tt::jacfwd(f))(x), second);
  is(tt::grad(tt::grad(tt::grad(f)))(x), third);
  is(tt::grad(tt::jacfwd(tt::grad(f)))(x), third);
  is(tt::linearize(f, x).lin(1.0), first);
  const vec v{x, 2};
  const auto of_first = [&](const auto& a) { return f(a(0)); };
  is(tt::grad(of_first)(v)(0), first);
  is(tt::jacrev(tt::grad(of_first))(v)(0, 0), second);
  is(tt::vmap(tt::grad(f))(v)(0), first);
  is(tt::vmap(tt::grad(tt::grad(f)))(v)(0), second);
  is(tt::grad([&](const auto& a) { return sum(tt::vmap(tt::grad(f))(a)); })(v)(0), second);
}
}  // namespace

TEST_CASE("a root below 0, a logarithm and a quotient at 0, in the branch that is not taken") {
  const auto root = [](const auto& x) {
    const auto s = sqrt(x);
    return x * where(x > 0.0, s, 1.0);
  };
  derivatives(root, -1, 1, 0, 0);
  derivatives(root, 0, 1, 0, 0);
  derivatives(root, 4, 3, 0.375, -0.046875);
  derivatives([](const auto& x) {
    const auto s = log(x);
    return x * x * x * where(x > 0.0, s, 1.0);
  }, -1, 3, -6, 6);
  derivatives([](const auto& x) {
    const auto s = sin(x) / x;
    return where(x != 0.0, s, 1.0 - x * x / 6.0);
  }, 0, 0, -1.0 / 3, 0);
}
TEST_CASE("a temporary in the branch, a function around the selection, an extremum") {
  derivatives([](const auto& x) { return exp(x * where(x > 0.0, sqrt(x), 2.0)); }, -1, 2 * std::exp(-2), 4 * std::exp(-2), 8 * std::exp(-2));
  derivatives([](const auto& x) {
    const auto m = maximum(x, 0.0);
    const auto s = sqrt(m);
    return x * x * where(x > 0.0, s, 1.0);
  }, -1, -2, 2, 0);
}
TEST_CASE("powers at 0, whose rules select powers of 1 / x away") {
  derivatives([](const auto& x) { return pow(x, 3); }, 0, 0, 0, 6);
  derivatives([](const auto& x) { return pow(x, 2); }, 0, 0, 2, 0);
  const auto cube = [](const auto& x) { return pow(x, 3); };
  CHECK(tt::linearize(tt::grad(tt::grad(cube)), 0.0).lin(1.0) == 6);
  CHECK(tt::vmap(tt::grad(tt::grad(tt::grad(cube))))(vec{0, 1})(0) == 6);
}
TEST_CASE("control flow over examples: cond runs both branches, while_loop goes on for the others") {
  derivatives([](const auto& x) {
    return tt::cond(x > 1.0, [](const auto& y) {
      const auto s = sqrt(y - 1.0);
      return s * y;
    }, [](const auto& y) { return y * y * y; }, x);
  }, 0.5, 0.75, 3, 6);
  const auto roots = [](const auto& x) { return tt::while_loop([](const auto& y) { return y > 1.0; }, [](const auto& y) { return sqrt(y - 1.0); }, x, tt::max_trips{9}); };
  const auto second = tt::vmap(tt::grad(tt::grad(roots)))(vec{0.5, 3.2});
  CHECK(second(0) == 0);
  CHECK(second(1) == doctest::Approx(tt::jacfwd(tt::grad(roots))(3.2)));
}
TEST_CASE("functions around a selection: linearize, forward over reverse") {
  derivatives([](const auto& x) { return sqrt(where(x > 0.0, x, 0.0)); }, -1, 0, 0, 0);
  derivatives([](const auto& x) { return cbrt(relu(x)) * x; }, -1, 0, 0, 0);
  derivatives([](const auto& x) { return log(relu(x)) * relu(x); }, -1, 0, 0, 0);
}
TEST_CASE("other numbers") {
  const auto root = [](const auto& x) {
    const auto s = sqrt(x);
    return x * where(x > 0, s, 1);
  };
  CHECK(tt::grad(tt::grad(root))(-1.0f) == 0);
  CHECK(float(tt::grad(root)(tt::half(-1.0f))) == 1);
  using C = std::complex<double>;
  const auto of_complex = [](const auto& z) {
    const auto l = log(z);
    return real(where(real(z) > 0.0, l, z * z));
  };
  CHECK(tt::grad(of_complex)(C(0, 0)) == C(0, 0));
  CHECK(tt::grad(of_complex)(C(-1, 2)) == C(-2, -4));
  CHECK(tt::grad([](const auto& z) { return real(sqrt(tt::where(real(z) > 1.0, z, C(0, 0)))) + real(z); })(C(0.5, 0)) == C(1, 0));
}
TEST_CASE("a zero that was rounded, or has another sign, is no selection: its NaN is not hidden") {
  const auto hidden = [](const auto& f, double x) {
    const double y = tt::grad(f)(x);
    return y == y;
  };
  CHECK_FALSE(hidden([](const auto& x) { return log(exp(x)); }, -800));
  CHECK_FALSE(hidden([](const auto& x) { return log(-exp(x)); }, -800));
  CHECK_FALSE(hidden([](const auto& x) { return log(-(x * x)); }, 0));
  CHECK_FALSE(hidden([](const auto& x) { return sqrt(1.0 - cos(x)); }, 0));
  CHECK_FALSE(hidden([](const auto& x) {
    const auto c = cos(x), y = 1.0 - c;
    return sqrt(y);
  }, 0));
}
TEST_CASE("nor in other numbers, mapped, or behind another transform") {
  const auto far = [](const auto& x) { return log(1.0 - erf(x)); };
  const auto square = [](const auto& x) { return log(-(x * x)); };
  const auto is_nan = [](const auto& y) { return !(y == y); };
  CHECK(is_nan(float(tt::grad(far)(tt::half(30.0f)))));
  CHECK(is_nan(float(tt::grad(far)(tt::bfloat16(30.0f)))));
  CHECK(is_nan(float(tt::grad(square)(tt::half(0.0f)))));
  CHECK(is_nan(tt::vmap(tt::grad(far))(vec{30})(0)));
  CHECK(is_nan(tt::vmap(tt::grad(square))(vec{0})(0)));
  CHECK(is_nan(tt::value_and_grad(tt::grad(far))(30.0).value));
  CHECK(is_nan(tt::grad([&](const auto& x) {
    const auto g = tt::grad(far)(x);
    return g * g;
  })(30.0)));
  CHECK(is_nan(tt::jacfwd(tt::grad([](const auto& x) { return sqrt(x * x) * x; }))(-0.0)));
  CHECK(is_nan(tt::grad([](const auto& z) { return real(sqrt(1.0 - cos(z))); })(std::complex<double>(0)).real()));
}
TEST_CASE("complex intermediates of real functions, second order") {
  const auto f = [](const auto& x) {
    const auto z = sqrt(x) * std::complex<double>(0, 1);
    return x * x * where(x > 0.0, real(z * z), 1.0);
  };
  CHECK(tt::grad(tt::grad(f))(-1.0) == 2);
  CHECK(tt::vmap(tt::grad(tt::grad(f)))(vec{-1, 2})(0) == 2);
}
TEST_CASE("strict: what was not selected is used, mapped and nested too") {
  const auto f = [](const auto& x) { return x * where(x > 0.0, x, 1.0); };
  const auto alone = [](const auto& x) { return where(x > 0.0, x, 1.0); };
  CHECK(tt::grad(alone, tt::strict)(-1.0) == 0);
  CHECK(tt::vmap(tt::grad(alone, tt::strict))(vec{-1, 2})(0) == 0);
  CHECK(tt::grad(tt::grad(f, tt::strict), tt::strict)(-1.0) == 0);
  CHECK_THROWS_AS(tt::grad<0>([](const auto&, const auto& y) { return tt::where(y > 0.0, y, 1.0); }, tt::strict)(-1.0, -1.0), tt::domain_error);
}
}  // namespace selection_test
