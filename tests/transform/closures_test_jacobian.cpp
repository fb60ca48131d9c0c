// Jacobians and Hessians inside a derivative.
#include "closures.hpp"

CLOSURE(jacobian_inside, 1, D1([&](auto x) { return sum(jacobian([&](auto y) { return y * y * x; })(v)); })(2.0))
CLOSURE(hessian_inside, 1, D1([&](auto x) { return sum(hessian([&](auto y) { return sum(x * y * y * y); })(v)); })(2.0))

TEST_CASE("jacfwd and jacrev inside a derivative") {
  const tensor<double, 1> v{1, 2, 3};
  CHECK(tt::grad([&](auto x) { return sum(jacfwd([&](auto y) { return y * y * x; })(v)); })(2.0) == doctest::Approx(12));
  CHECK(tt::grad([&](auto x) { return sum(jacrev([&](auto y) { return y * y * x; })(v)); })(2.0) == doctest::Approx(12));
  CHECK(tt::jvp([&](auto x) { return sum(jacfwd([&](auto y) { return y * y * x; })(v)); }, 2.0, 1.0).y_dot == doctest::Approx(12));
  CHECK(tt::jvp([&](auto x) { return sum(jacrev([&](auto y) { return y * y * x; })(v)); }, 2.0, 1.0).y_dot == doctest::Approx(12));
}
