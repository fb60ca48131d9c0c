// linearize: one call of the function, a tangent map that is used again and again, inside other transforms.
#include <doctest/doctest.h>

#include <cmath>
#include <ttensor/all.hpp>

namespace linearize_test {
namespace tt = ttensor;
using namespace ttensor;

namespace {
using vec = tensor<double, 1>;
const vec v{1, 2, 3}, w{0.5, -1, 2};
bool equal(const vec& a, const vec& b) { return a.shape() == b.shape() && all(a == b); }
auto near(double x) { return doctest::Approx(x).epsilon(1e-14); }
}  // namespace

TEST_CASE("the function is called once, for any number of tangents") {
  int calls = 0;
  const auto [y, lin] = tt::linearize([&](auto x) { return ++calls, sin(x) * x; }, 0.5);
  const double slope = std::cos(0.5) * 0.5 + std::sin(0.5);
  CHECK(y == near(0.5 * std::sin(0.5)));
  CHECK(lin(1.0) == near(slope));
  CHECK(lin(-3.0) == near(-3 * slope));
  CHECK(lin(0.0) == 0);
  CHECK(calls == 1);
  const auto r = tt::linearize([&](const auto& x) { return ++calls, exp(x) * sum(x); }, v);
  const vec d = r.lin(w), e = r.lin(2.0 * w);
  for (int i = 0; i < 3; ++i) {
    CHECK(d(i) == near(std::exp(v(i)) * (6 * w(i) + 1.5)));
    CHECK(e(i) == near(2 * d(i)));
  }
  CHECK(calls == 2);
}
TEST_CASE("several arguments, trees, element reads and writes, matrix products") {
  const auto two = tt::linearize([](auto a, const auto& b) { return std::pair{b * a, a * a}; }, 2.0, v);
  const auto d = two.lin(1.0, w);
  CHECK(equal(d.first, vec{2, 0, 7}));
  CHECK(d.second == 4);
  const auto elements = tt::linearize([](const auto& x) {
    std::remove_cvref_t<decltype(x)> y(2);
    y(0) = x(0) * x(1);
    y(1) = x(2) * y(0);
    return y;
  }, v);
  CHECK(equal(elements.lin(w), vec{0, 4}));  // d(x0 x1) = 2/2 - 1; d(x0 x1 x2) = 3*0 + 2*2
  const tensor<double, 2> a{{1, 2}, {3, 4}};
  const auto product = tt::linearize([](const auto& m) { return matmul(m, m); }, a);
  const tensor<double, 2> p = product.lin(tensor<double, 2>{{0, 1}, {0, 0}});
  CHECK(all(p == tensor<double, 2>{{3, 5}, {0, 3}}));  // E a + a E
}
TEST_CASE("functions with their own rule, checkpoints, results the argument does not reach") {
  const auto rule = custom_vjp([](auto x) { return x * x; }, [](auto x) { return std::pair{x * x, x}; }, [](auto s, auto ct) { return 10.0 * s * ct; });
  CHECK(tt::linearize(rule, 3.0).lin(2.0) == 60);
  CHECK(tt::linearize(checkpoint([](auto x) { return x * x * x; }), 2.0).lin(0.5) == 6);
  const auto [y, lin] = tt::linearize([](auto x) { return std::pair{x, 4.0}; }, 3.0);
  CHECK(y.second == 4);
  CHECK(lin(2.0).first == 2);
  CHECK(lin(2.0).second == 0);
}
TEST_CASE("inside derivatives and vmap") {
  const auto f = [](auto x) { return tt::linearize([](auto t) { return t * t * t; }, x).lin(x * x); };  // 3 x^4
  CHECK(f(2.0) == 48);
  CHECK(tt::grad(f)(2.0) == 96);
  CHECK(tt::jvp(f, 2.0, 1.0).y_dot == 96);
  CHECK(tt::grad(tt::grad(f))(2.0) == 144);
  CHECK(equal(vmap(f)(v), vec{3, 48, 243}));
  const auto g = [](const auto& x) { return sum(tt::linearize([&](const auto& t) { return x * t * t; }, vec{1, 1, 1}).lin(w)); };  // 2 x w, captured
  CHECK(equal(tt::grad(g)(v), vec{1, -2, 4}));
}
TEST_CASE("tangents of a newer level: the map is differentiable and can be mapped, and the function is not called again") {
  int calls = 0;
  const auto lin = tt::linearize([&](auto x) { return ++calls, x * x * x; }, 2.0).lin;  // 12 t
  CHECK(tt::grad([&](auto t) { return lin(t) * t; })(3.0) == 72);
  CHECK(tt::jvp([&](auto t) { return lin(t) * t; }, 3.0, 1.0).y_dot == 72);
  CHECK(tt::grad(tt::grad([&](auto t) { return lin(t) * t * t; }))(3.0) == 216);
  CHECK(tt::jvp(tt::grad([&](auto t) { return lin(t) * t * t; }), 3.0, 1.0).y_dot == 216);
  CHECK(equal(vmap([&](auto t) { return lin(t); })(v), vec{12, 24, 36}));
  CHECK(equal(vmap(tt::grad([&](auto t) { return lin(t) * t; }))(v), vec{24, 48, 72}));
  CHECK(equal(tt::grad([&](const auto& t) { return sum(vmap([&](auto s) { return lin(s) * s; })(t)); })(v), vec{24, 48, 72}));
  CHECK(calls == 1);
}
TEST_CASE("tangents of a newer level: tensors, several arguments and trees") {
  int calls = 0;
  const auto lin = tt::linearize([&](auto a, const auto& b) { return ++calls, std::pair{b * b * a, sum(b) * a}; }, 2.0, v).lin;
  // (a', b') -> (4 v b' + v v a', 2 sum b' + 6 a')
  const auto loss = [&](auto a, const auto& b) {
    const auto r = lin(a, b);
    return sum(r.first * w) + r.second;
  };
  const auto [ga, gb] = tt::grad<0, 1>(loss)(1.0, w);
  CHECK(ga == 0.5 - 4 + 18 + 6);
  CHECK(equal(gb, vec{4, -6, 26}));
  CHECK(tt::jvp(loss, std::tuple{1.0, w}, std::tuple{1.0, vec{1, 0, 0}}).y_dot == 24.5);
  const auto rows = vmap([&](auto a, const auto& b) { return lin(a, b); }, in_axes<none, 0>)(1.0, eye<double>(3));
  CHECK(equal(vec(rows.first(0)), vec{5, 4, 9}));
  CHECK(equal(vec(rows.first(2)), vec{1, 4, 21}));
  CHECK(equal(rows.second, vec{8, 8, 8}));
  CHECK(calls == 1);
  const auto jacobian = vmap(tt::linearize([](const auto& x) { return x * sum(x); }, v).lin, out_axes<1>)(eye<double>(3));  // the columns of J
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) CHECK(jacobian(i, k) == v(i) + (i == k ? 6 : 0));
}
}  // namespace linearize_test
