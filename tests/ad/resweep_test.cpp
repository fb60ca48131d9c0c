// A tape that is swept more than once: what an earlier sweep left behind must not be seen again. Element writes leave
// adjoints of the array's first elements, which nothing consumes. Values are closed forms.
#include <doctest/doctest.h>
#include <stdexcept>
#include <ttensor/all.hpp>

namespace tt = ttensor;
using tt::tensor;

namespace {
const auto squares_by_elements = [](const auto& x) {  // z_i = x_i^2, written twice
  using S = tt::scalar_t<decltype(x)>;
  tensor<S, 1> z(x.extent(0));
  for (tt::index_t i = 0; i < x.extent(0); ++i) z(i) += x(i) * x(i);
  return z;
};
const tensor<double, 1> x{1.1, 0.7, 1.3};
void check(const tensor<double, 1>& got, const std::initializer_list<double>& want) {
  tt::index_t i = 0;
  for (const double w : want) CHECK(got(i++) == doctest::Approx(w).epsilon(1e-14));
}
}  // namespace

TEST_CASE("a pullback gives the same every time") {
  const auto r = tt::vjp(squares_by_elements, x);
  for (int k = 0; k < 3; ++k) check(r.pull(tensor<double, 1>{1, 1, 1}), {2.2, 1.4, 2.6});
  check(r.pull(tensor<double, 1>{0, 2, 0}), {0, 2.8, 0});
}
TEST_CASE("a linearized function gives the same every time") {
  const auto r = tt::linearize(squares_by_elements, x);
  for (int k = 0; k < 3; ++k) check(r.lin(tensor<double, 1>{1, 0, 2}), {2.2, 0, 5.2});
}
TEST_CASE("rows of a Jacobian do not add up") {
  const auto j = tt::jacrev(squares_by_elements)(x);
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) CHECK(j(i, k) == doctest::Approx(i == k ? 2 * x(i) : 0).epsilon(1e-14));
}
TEST_CASE("the Jacobian of a gradient by element reads") {
  const auto f = [](const auto& v) { return v(0) * v(0) * v(1) * v(2); };
  const auto h = tt::jacrev(tt::grad(f))(x);
  const double a = x(0), b = x(1), c = x(2);
  const double want[3][3] = {{2 * b * c, 2 * a * c, 2 * a * b}, {2 * a * c, 0, a * a}, {2 * a * b, a * a, 0}};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) CHECK(h(i, k) == doctest::Approx(want[i][k]).epsilon(1e-13));
}
TEST_CASE("a sweep that threw leaves nothing for the next") {
  static bool fail = true;
  const auto f = [](const auto& v) {
    auto s = tt::custom_vjp([](const auto& t) { return t * t; }, [](const auto& t) { return std::pair{tt::eval(t * t), t}; },
                            [](const auto& t, const auto& ct) {
                              if (fail) throw std::runtime_error("once");
                              return tt::eval(2 * t * ct);
                            })(tt::eval(v * 1.0));
    auto u = v * v;
    return tt::eval(s + u);
  };
  const auto r = tt::vjp(f, tensor<double, 1>{1, 2, 3});
  const tensor<double, 1> one{1, 1, 1};
  CHECK_THROWS_AS(r.pull(one), std::runtime_error);
  fail = false;
  check(r.pull(one), {4, 8, 12});
}
