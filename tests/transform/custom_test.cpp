// custom_jvp and custom_vjp (rule 18). The rules are ten times too large, so that a test sees whether they ran.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <ttensor/all.hpp>

namespace custom_test {
namespace tt = ttensor;
using namespace ttensor;

namespace {
auto near(double x) { return doctest::Approx(x).epsilon(1e-13); }
const auto square_j = custom_jvp([](const auto& x) { return x * x; }, [](const auto& x, const auto& d) { return std::pair{x * x, 20.0 * x * d}; });
const auto square_v = custom_vjp([](const auto& x) { return x * x; }, [](const auto& x) { return std::pair{x * x, x}; },
                                 [](const auto& x, const auto& ct) { return 20.0 * x * ct; });
const auto product_j = custom_jvp([](const auto& a, const auto& b) { return a * b; }, [](const auto& x, const auto& d) {
  const auto& [a, b] = x;
  const auto& [da, db] = d;
  return std::pair{a * b, 10.0 * (a * db + b * da)};
});
const auto product_v = custom_vjp([](const auto& a, const auto& b) { return a * b; }, [](const auto& a, const auto& b) { return std::pair{a * b, std::pair{a, b}}; },
                                  [](const auto& s, const auto& ct) { return std::tuple{10.0 * s.second * ct, 10.0 * s.first * ct}; });
}  // namespace

TEST_CASE("custom_jvp: value, forward, and reverse by transposition") {
  CHECK(square_j(3.0) == 9);
  CHECK(tt::jvp(square_j, 3.0, 1.0).y == 9);
  CHECK(tt::jvp(square_j, 3.0, 1.0).y_dot == 60);
  CHECK(tt::grad(square_j)(3.0) == 60);
  const auto [a, b] = tt::grad<0, 1>(product_j)(2.0, 5.0);
  CHECK(a == 50);
  CHECK(b == 20);
  CHECK(tt::jvp(product_j, std::tuple{2.0, 5.0}, std::tuple{1.0, 0.0}).y_dot == 50);
  CHECK(tt::grad([](auto x) { return product_j(x, 5.0) + product_j(2.0, x); })(3.0) == 70);
}
TEST_CASE("custom_jvp on arrays") {
  const tensor<double, 1> v{1, 2, 3};
  CHECK(tensor<double, 1>(square_j(v))(2) == 9);
  CHECK(tt::jvp([](const auto& x) { return sum(square_j(x)); }, v, v).y_dot == 20 * 14);
  CHECK(tt::grad([](const auto& x) { return sum(square_j(x) * x); })(v)(1) == 4 + 80);
  CHECK(tt::grad([&](const auto& x) { return sum(square_j(x)); })(v)(2) == 60);
}
TEST_CASE("custom_jvp at higher orders: the rule is differentiated") {
  // rule: 20 x; its derivative: 20
  CHECK(tt::jvp([](auto x) { return tt::jvp(square_j, x, 1.0).y_dot; }, 3.0, 1.0).y_dot == 20);
  CHECK(tt::grad(tt::grad(square_j))(3.0) == 20);
  CHECK(tt::jvp(tt::grad(square_j), 3.0, 1.0).y_dot == 20);
  CHECK(tt::grad([](auto x) { return tt::jvp(square_j, x, 1.0).y_dot; })(3.0) == 20);
}
TEST_CASE("custom_jvp at higher orders: a rule that is not the derivative of its value, the same in every order of modes") {
  const auto through = custom_jvp([](const auto& x) { return round(x); }, [](const auto& x, const auto& d) { return std::pair{round(x), d * 1.0}; });
  const auto f = [&](const auto& x) { return sum(through(x) * through(x)); };  // 2 round(x), whose derivative is 0: the rule does not call itself
  const tensor<double, 1> x{1.2, 2.7};
  CHECK(all(tt::grad(f)(x) == tensor<double, 1>{2, 6}));
  CHECK(all(tt::jacfwd(tt::jacfwd(f))(x) == 0.0));
  CHECK(all(tt::jacfwd(tt::jacrev(f))(x) == 0.0));
  CHECK(all(tt::jacrev(tt::jacfwd(f))(x) == 0.0));
  CHECK(all(tt::jacrev(tt::jacrev(f))(x) == 0.0));
}
TEST_CASE("custom_jvp under vmap") {
  const tensor<double, 1> v{1, 2, 3};
  CHECK(vmap(square_j)(v)(2) == 9);
  CHECK(vmap(tt::grad(square_j))(v)(2) == 60);
  CHECK(tt::grad([](const auto& x) { return sum(vmap(square_j)(x)); })(v)(2) == 60);
  CHECK(tt::jvp([](const auto& x) { return sum(vmap(square_j)(x)); }, v, v).y_dot == 280);
  CHECK(tt::grad([&](auto w) { return sum(vmap([&](auto x) { return product_j(w, x); })(v)); })(2.0) == 60);
  CHECK(vmap([](auto x) { return tt::jvp(square_j, x, 1.0).y_dot; })(v)(1) == 40);
}
TEST_CASE("custom_vjp: value, reverse, several arguments, arrays") {
  CHECK(square_v(3.0) == 9);
  CHECK(tt::grad(square_v)(3.0) == 60);
  const auto [a, b] = tt::grad<0, 1>(product_v)(2.0, 5.0);
  CHECK(a == 50);
  CHECK(b == 20);
  const tensor<double, 1> v{1, 2, 3};
  CHECK(tt::grad([](const auto& x) { return sum(square_v(x) * x); })(v)(1) == 4 + 80);
  CHECK(tt::grad([&](const auto& x) { return sum(product_v(x, v)); })(v)(2) == 30);
}
TEST_CASE("custom_vjp: forward over reverse and reverse over reverse differentiate the rules") {
  CHECK(tt::jvp(tt::grad(square_v), 3.0, 1.0).y_dot == 20);
  CHECK(tt::grad(tt::grad(square_v))(3.0) == 20);
  const tensor<double, 1> v{1, 2};
  const auto h = jacfwd(jacrev([](const auto& x) { return sum(square_v(x)); }))(v);
  CHECK(h(0, 0) == 20);
  CHECK(h(0, 1) == 0);
}
TEST_CASE("custom_vjp under vmap; an unmapped argument's gradient is summed (rule 13)") {
  const tensor<double, 1> v{1, 2, 3};
  CHECK(vmap(square_v)(v)(2) == 9);
  CHECK(vmap(tt::grad(square_v))(v)(2) == 60);
  CHECK(tt::grad([](const auto& x) { return sum(vmap(square_v)(x)); })(v)(2) == 60);
  CHECK(tt::grad([&](auto w) { return sum(vmap([&](auto x) { return product_v(w, x); })(v)); })(2.0) == 60);
  const auto per = vmap(tt::grad([](auto w, auto x) { return product_v(w, x); }), in_axes<none, 0>)(2.0, v);
  CHECK(per(2) == 30);
}
TEST_CASE("rules run only when they are differentiated, once a sweep") {
  static int fwd_runs, bwd_runs;
  fwd_runs = bwd_runs = 0;
  const auto f = custom_vjp([](auto x) { return x; }, [](auto x) { return ++fwd_runs, std::pair{x, 0}; }, [](int, auto ct) { return ++bwd_runs, ct; });
  CHECK(f(2.0) == 2);
  CHECK(fwd_runs == 0);
  CHECK(tt::grad([&](auto x) { return f(x) * f(x); })(3.0) == 6);
  CHECK(fwd_runs == 2);
  CHECK(bwd_runs == 2);
  CHECK(tt::grad([&](auto x) { static_cast<void>(f(x)); return x; })(3.0) == 1);
  CHECK(bwd_runs == 2);
}
TEST_CASE("a rule may call a derivative of its own and may use captured constants") {
  const double scale = 3.0;
  const auto f = custom_jvp([=](auto x) { return scale * sin(x); }, [=](auto x, auto d) { return std::pair{scale * sin(x), scale * cos(x) * d}; });
  CHECK(tt::grad(f)(0.5) == near(3 * std::cos(0.5)));
  CHECK(tt::grad(tt::grad(f))(0.5) == near(-3 * std::sin(0.5)));
}
TEST_CASE("functions of double alone, opaque to transforms, below a function that captures") {  // did not compile
  const std::function<double(double)> square = [](double x) { return x * x; };
  const auto j = custom_jvp(square, [](auto x, auto d) { return std::pair{x * x, 2.0 * x * d}; });
  const auto v = custom_vjp(square, [](auto x) { return std::pair{x * x, x}; }, [](auto x, auto ct) { return 2.0 * x * ct; });
  const double a = 2;
  CHECK(tt::grad([&](auto x) { return a * j(x) * x; })(3.0) == 54);
  CHECK(tt::grad([&](auto x) { return a * v(x) * x; })(3.0) == 54);
  CHECK(tt::hessian([&](auto x) { return a * j(x) * x; })(3.0) == 36);
  CHECK(vmap(tt::grad([&](auto x) { return a * j(x) * x; }))(tensor<double, 1>{1, 2})(1) == 24);
}
}  // namespace custom_test
