// The contract of the transforms, signatures and rules 1 to 8; values are closed forms. contract_trees_test.cpp has rules 9 to
// 11, contract_rules_test.cpp rules 12 to 22, tests/compile_fail/contract.cpp what must not compile.
#include <doctest/doctest.h>
#include <vector>

#include <cmath>
#include <stdexcept>
#include <thread>
#include <ttensor/all.hpp>

namespace contract_test {
namespace tt = ttensor;
using namespace ttensor;

namespace {
using vec = tensor<double, 1>;
const vec v{1, 2, 3}, w{0.5, -1, 2};
bool equal(const vec& a, const vec& b) { return a.shape() == b.shape() && all(a == b); }
template <class T> struct line { T a, b; };
constexpr auto cube = [](auto x) { return x * x * x; };
constexpr auto cubes = [](const auto& x) { return sum(x * x * x); };
}  // namespace

// ---- signatures ----------------------------------------------------------------------------------------------------------
TEST_CASE("signature: grad gives the type of its argument, a tuple in the order of the argument numbers") {
  const auto f = [](auto a, auto b, auto c) { return a * b * b * c * c * c; };
  static_assert(std::is_same_v<decltype(tt::grad(f)(1.0, 2.0, 3.0)), double>);
  static_assert(std::is_same_v<decltype(tt::grad(cube)(1.0f)), float>);
  static_assert(std::is_same_v<decltype(tt::grad(cubes)(v)), vec>);
  const auto [c, a] = tt::grad<2, 0>(f)(1.0, 2.0, 3.0);
  CHECK(c == 108);
  CHECK(a == 108);
  const line<double> g = tt::grad([](const auto& p) { return p.a * p.a * p.b; })(line<double>{3, 5});
  CHECK(g.a == 30);
  CHECK(g.b == 9);
}
TEST_CASE("signature: value_and_grad and auxiliary results") {
  const auto f = [](auto x) { return std::pair{x * x, x + 1.0}; };
  const auto r = tt::value_and_grad(cube)(2.0);
  CHECK(r.value == 8);
  CHECK(r.grad == 12);
  const auto [value, grad, aux] = tt::value_and_grad(f, has_aux)(3.0);
  CHECK(value == 9);
  CHECK(grad == 6);
  CHECK(aux == 4);
  const auto s = tt::grad(f, has_aux)(3.0);
  CHECK(s.grad == 6);
  CHECK(s.aux == 4);
}
TEST_CASE("signature: vjp is reusable, differentiable in the cotangent and can be mapped") {
  const auto [y, pull] = tt::vjp(cube, 2.0);
  CHECK(y == 8);
  CHECK(pull(1.0) == 12);
  CHECK(pull(2.0) == 24);
  CHECK(tt::grad([&](auto ct) { return pull(ct) * ct; })(3.0) == 72);          // 12 ct^2
  CHECK(tt::jvp([&](auto ct) { return pull(ct) * ct; }, 3.0, 1.0).y_dot == 72);
  CHECK(equal(vmap([&](auto ct) { return pull(ct); })(v), vec{12, 24, 36}));
  const auto two = tt::vjp([](auto a, const auto& b) { return a * b; }, 2.0, v);
  const auto [ga, gb] = two.pull(w);
  CHECK(ga == 4.5);
  CHECK(equal(gb, vec{1, -2, 4}));
  const auto with = tt::vjp([](auto x) { return std::pair{x * x, x * 5.0}; }, has_aux, 3.0);
  CHECK(with.y == 9);
  CHECK(with.pull(1.0) == 6);
  CHECK(with.aux == 15);
}
TEST_CASE("signature: jvp") {
  const auto [y, y_dot] = tt::jvp(cube, 2.0, 0.5);
  CHECK(y == 8);
  CHECK(y_dot == 6);
  CHECK(tt::jvp([](auto a, const auto& b) { return sum(a * b); }, std::tuple{2.0, v}, std::tuple{1.0, w}).y_dot == 9);
  {  // functions that arguments find, and no number has: the function never sees plain numbers
    const auto f = [](auto a, auto b) { return maximum(a, b) * sigmoid(a - a); };
    CHECK(tt::jvp(f, std::tuple{1.0, 2.0}, std::tuple{0.0, 4.0}).y_dot == 2);
    CHECK(std::get<1>(tt::hvp([](auto a, auto b) { return maximum(a, b) * a; }, std::tuple{1.0, 2.0}, std::tuple{1.0, 0.0})) == 1);
    CHECK(std::get<0>(tt::vhp([](auto a, auto b) { return sigmoid(a) * b; }, std::tuple{0.0, 1.0}, std::tuple{0.0, 1.0})) == 0.25);
    CHECK(tt::jvp([](const auto& t) { return std::get<0>(t) * std::get<1>(t); }, std::tuple{2.0, 3.0}, std::tuple{1.0, 1.0}).y_dot == 5);
    CHECK(tt::jvp([](auto a, auto b) -> decltype(a * b) { return a * b; }, std::tuple{2.0, 3.0}, std::tuple{1.0, 1.0}).y_dot == 5);
  }
}
TEST_CASE("signature: options follow the callable or stand last") {
  const double k = 2;
  CHECK(tt::jvp(cube, closing_over(k), 2.0, 1.0).y_dot == 12);
  CHECK(tt::jvp(cube, 2.0, 1.0, closing_over(k)).y_dot == 12);
  CHECK(tt::vjp(cube, closing_over(k), 2.0).pull(1.0) == 12);
  CHECK(tt::linearize(cube, closing_over(k), 2.0).lin(1.0) == 12);
  CHECK(equal(tt::hvp(cubes, closing_over(k), v, w), vec{3, -12, 36}));
  CHECK(equal(tt::vhp(cubes, closing_over(k), v, w), vec{3, -12, 36}));
  CHECK(tt::grad([](auto x) { return std::pair{x * x, x}; }, strict, has_aux, closing_over(k))(3.0).grad == 6);
}

TEST_CASE("signature: arguments of different element types") {
  const auto f = [](auto a, auto b) { return a * b * a + b; };
  const auto [a, b] = tt::grad<0, 1>(f)(2.0f, 3.0);
  static_assert(std::is_same_v<decltype(a), const float> && std::is_same_v<decltype(b), const double>);
  CHECK(a == 12);
  CHECK(b == 5);
  const auto g = [](auto x) { return to<double>(x * x) * x; };
  CHECK(tt::grad(g)(3.0f) == 27);
  CHECK(tt::grad(tt::grad(g))(3.0f) == 18);
  CHECK(tt::jvp(tt::grad(g), 3.0f, 1.0f).y_dot == 18);
  CHECK(tt::grad([&](auto x) { return tt::jvp(g, x, 1.0f).y_dot; })(3.0f) == 18);
}

// ---- rules ---------------------------------------------------------------------------------------------------------------
TEST_CASE("rule 1: captured values are constants of the new level and variables of outer levels") {
  const double k = 5;
  CHECK(tt::grad([&](auto x) { return k * x; })(2.0) == 5);
  CHECK(tt::grad([](auto x) { return x * tt::grad([&](auto y) { return x * y; })(2.0); })(3.0) == 6);
  CHECK(tt::jvp([](auto x) { return x * tt::grad([&](auto y) { return x * y; })(2.0); }, 3.0, 1.0).y_dot == 6);
}
TEST_CASE("eval of a scalar is the scalar, plain and in every transform") {
  const vec x{1, 2, 3};
  vec writable = x;
  CHECK(tt::eval(2.5) == 2.5);
  CHECK(tt::eval(sum(x)) == 6);
  CHECK(std::is_same_v<decltype(tt::eval(writable(1))), double>);
  CHECK(tt::eval(writable(1)) == 2);
  const auto f = [](const auto& t) {
    const auto s = tt::eval(sum(t * t));
    return tt::eval(s * tt::eval(t)(0));
  };
  CHECK(f(x) == 14);
  CHECK(equal(tt::grad(f)(x), vec{16, 4, 6}));
  CHECK(tt::jvp(f, x, vec{1, 0, 0}).y_dot == 16);
  CHECK(equal(tt::vmap(f)(tt::eval(unsqueeze(x, 0))), vec{14}));
  CHECK(tt::hessian([](auto t) { return tt::eval(t * t * t); })(2.0) == 12);
}
TEST_CASE("rule 2: one operation runs at the newest level among its operands; a level that is absent gives zero") {
  CHECK(tt::grad([](auto x) { return x + tt::grad([&](auto y) { return y * 0.0 + x * x; })(1.0); })(3.0) == 1);
  CHECK(tt::grad([](auto x) { return tt::grad([&](auto) { return x; })(2.0) + x; })(3.0) == 1);
  CHECK(tt::jvp([](auto x) { return tt::jvp([&](auto) { return x; }, 2.0, 1.0).y_dot + x; }, 3.0, 1.0).y_dot == 1);
}
TEST_CASE("rule 2: levels are released when the function throws") {
  const auto f = [](auto x) {
    if (value_of(x) > 1.0) throw std::runtime_error("no");
    return x * x;
  };
  CHECK_THROWS_AS(tt::grad(f)(2.0), std::runtime_error);
  CHECK_THROWS_AS(tt::grad([&](auto x) { return x * tt::grad(f)(x); })(2.0), std::runtime_error);
  CHECK_THROWS_AS(tt::linearize(f, 2.0), std::runtime_error);
  CHECK(tapes::newest == nullptr);
  CHECK(tapes::current<double> == nullptr);
  CHECK(tt::grad(f)(0.5) == 1);
  CHECK(tt::grad(tt::grad(f))(0.5) == 2);
}
TEST_CASE("rule 2: two threads differentiate at once") {
  double a = 0, b = 0;
  std::thread one([&] { for (int i = 0; i < 50; ++i) a += tt::grad(cube)(2.0); }), two([&] { for (int i = 0; i < 50; ++i) b += tt::grad(tt::grad(cube))(2.0); });
  one.join();
  two.join();
  CHECK(a == 600);
  CHECK(b == 600);
}
TEST_CASE("rule 3: recording on another thread throws level_error; arrays too") {
  const auto f = [](const auto& x) {
    auto y = x;
    bool refused = false;
    std::thread([&] {
      try {
        y = x * x;
      } catch (const level_error&) {
        refused = true;
      }
    }).join();
    if (refused) throw level_error("on the other thread");
    return sum(y);
  };
  CHECK_THROWS_AS(tt::grad(f)(v), level_error);
}
TEST_CASE("rule 3: another thread may read the numbers of a taped value, and the error says what may not be") {
  std::string said;
  double read = 0;
  const vec g = tt::grad([&](const auto& x) {
    const auto y = eval(x * x);
    std::thread([&] {
      read = sum(value_of(y)) + item(value_of(y(2)));
      try {
        static_cast<void>(sum(y));
      } catch (const level_error& e) {
        said = e.what();
      }
    }).join();
    return sum(y);
  })(v);
  CHECK(read == 23);
  CHECK(said == "[var] a value of a transform that has ended, of another thread, or that was moved from, was used in a recorded operation; return it from the transformed function, or take "
                "stop_gradient of it first [TT-L02]");
  CHECK(equal(g, vec{2, 4, 6}));
}
TEST_CASE("rule 4: no scalar of a level converts to a number") {
  const auto refuses = []<class S>(std::type_identity<S>) { return !std::is_convertible_v<S, double> && !std::is_constructible_v<double, S> && !std::is_convertible_v<S, float>; };
  CHECK(refuses(std::type_identity<var<double>>{}));
  CHECK(refuses(std::type_identity<dual<double>>{}));
  CHECK(refuses(std::type_identity<batched<double>>{}));
  CHECK(refuses(std::type_identity<var<dual<batched<double>>>>{}));
}
TEST_CASE("rule 4: a value that outlives its level is an error") {
  static var<double> kept;
  static tensor<var<double>, 1> array;
  tt::grad([](auto x) { return kept = x * x, x * x; })(2.0);
  tt::grad([](const auto& x) { return array = x, sum(x); })(v);
  CHECK_THROWS_AS(kept + 1.0, level_error);
  CHECK_THROWS_AS(sum(array), level_error);
  CHECK_THROWS_AS(tt::grad([](auto x) { return x * kept; })(2.0), level_error);  // not the derivative of another tape
}
TEST_CASE("rule 5: grad wants rank 0; integer arguments only with allow_int, and their gradient is a unit type") {
  const auto f = [](auto x, auto n) { return x * x * n; };
  const auto [g, none_of_it] = tt::grad<0, 1>(f, allow_int)(3.0, 2);
  CHECK(g == 12);
  CHECK(none_of_it == no_tangent{});
  CHECK(tt::grad(f)(3.0, 2) == 12);
  CHECK(tt::grad([](const auto& x) { return tensor<std::remove_cvref_t<decltype(sum(x))>, 0>(sum(x * x)); })(v)(2) == 6);  // a tensor of rank 0
  CHECK(std::get<0>(tt::vjp(f, allow_int, 3.0, 2).pull(1.0)) == 12);
}
TEST_CASE("rule 6: argument numbers count from the end when negative") {
  const auto f = [](auto a, auto b) { return a * b * b; };
  CHECK(tt::grad<-1>(f)(2.0, 3.0) == 12);
  CHECK(tt::grad<-2>(f)(2.0, 3.0) == 9);
  const auto [b, a] = tt::grad<-1, 0>(f)(2.0, 3.0);
  CHECK(b == 12);
  CHECK(a == 9);
  CHECK(equal(tt::jacfwd<-1>([](auto k, const auto& x) { return sum(k * x * x); })(2.0, v), vec{4, 8, 12}));
  CHECK(equal(tt::jacrev<-1>([](auto k, const auto& x) { return sum(k * x * x); })(2.0, v), vec{4, 8, 12}));
}
TEST_CASE("rule 6: an empty list of argument numbers cannot be told from none, and names the first argument") {
  const auto f = [](auto a, auto b) { return a * b * b; };
  CHECK(tt::grad<>(f)(2.0, 3.0) == 9);
  CHECK(tt::value_and_grad<>(f)(2.0, 3.0).grad == 9);
  CHECK(tt::jacfwd<>(f)(2.0, 3.0) == 9);
  CHECK(tt::jacrev<>(f)(2.0, 3.0) == 9);
  CHECK(tt::jacobian<>(f)(2.0, 3.0) == 9);
  CHECK(tt::hessian<>([](auto a, auto b) { return a * a * b; })(2.0, 3.0) == 6);
}
TEST_CASE("rule 6: an argument that is not differentiated is a snapshot too") {
  vec q{1, 1, 1};
  const vec g = tt::grad([&](const auto& p, const auto& w) {
    q = q * 10.0;
    return sum(p * w);
  })(v, q);
  CHECK(equal(g, vec{1, 1, 1}));
  std::vector<vec> data{vec{2, 2, 2}};
  CHECK(equal(tt::grad([&](const auto& p, const auto& w) {
                data.clear();
                data.shrink_to_fit();
                return sum(p * w);
              })(v, data[0]),
              vec{2, 2, 2}));
}
TEST_CASE("rule 7: an unused argument gets zeros of its type, a constant result a zero derivative") {
  const auto [a, b] = tt::grad<0, 1>([](auto x, const auto&) { return x * 2.0; })(1.0, v);
  CHECK(a == 2);
  CHECK(equal(b, vec{0, 0, 0}));
  CHECK(tt::grad([](auto) { return 3.0; })(2.0) == 0);
  CHECK(tt::jvp([](auto) { return 3.0; }, 2.0, 1.0).y_dot == 0);
  CHECK(tt::jvp([](auto x) { return decltype(x)(3.0); }, 2.0, 1.0).y_dot == 0);
  CHECK(tt::vjp([](auto) { return 3.0; }, 2.0).pull(1.0) == 0);
  CHECK(tt::linearize([](auto) { return 3.0; }, 2.0).lin(1.0) == 0);
}
TEST_CASE("rule 7: with strict both are errors, and dependence with derivative zero is none") {
  const auto first = [](auto x, const auto&) { return x * 2.0; };
  const auto constant = [](auto x) { return decltype(x)(3.0); };
  const auto flat = [](auto x, auto y) { return x * y; };
  CHECK_THROWS_AS((tt::grad<0, 1>(first, strict)(1.0, v)), domain_error);
  CHECK_THROWS_AS((tt::grad<0, 1>(first, strict)(1.0, 2.0)), domain_error);
  CHECK_THROWS_AS(tt::grad(constant, strict)(2.0), domain_error);
  CHECK_THROWS_AS(tt::grad([](auto) { return 3.0; }, strict)(2.0), domain_error);
  CHECK(tt::grad(first, strict)(1.0, v) == 2);
  CHECK(std::get<1>(tt::grad<0, 1>(flat, strict)(0.0, 2.0)) == 0);
  CHECK(equal(tt::grad([](const auto& x) { return sum(x * 0.0); }, strict)(v), vec{0, 0, 0}));
  CHECK_THROWS_AS(tt::vjp(first, strict, 1.0, v), domain_error);
  CHECK_THROWS_AS(tt::vjp([](auto x) { return std::pair{x, decltype(x)(1.0)}; }, strict, 1.0), domain_error);
  CHECK(tt::vjp(cube, strict, 2.0).pull(1.0) == 12);
  CHECK_THROWS_AS(tt::jvp(first, std::tuple{1.0, v}, std::tuple{1.0, v}, strict), domain_error);
  CHECK_THROWS_AS(tt::jvp(constant, 1.0, 1.0, strict), domain_error);
  CHECK(tt::jvp(cube, 2.0, 1.0, strict).y_dot == 12);
  CHECK(tt::jvp(flat, std::tuple{0.0, 2.0}, std::tuple{0.0, 1.0}, strict).y_dot == 0);
  CHECK_THROWS_WITH_AS(tt::linearize([](auto) { return 3.0; }, strict, 2.0), doctest::Contains("[linearize] strict"), domain_error);
  CHECK_THROWS_AS(tt::linearize(first, strict, 1.0, v), domain_error);
  CHECK(tt::linearize(flat, strict, 0.0, 2.0).lin(0.0, 1.0) == 0);
  CHECK(tt::linearize(cube, 2.0, strict).lin(1.0) == 12);
  CHECK(equal(tt::linearize([](const auto& x) { return x * 0.0; }, strict, v).lin(v), vec{0, 0, 0}));
  CHECK(tt::grad([](auto x) { return tt::linearize([&](auto y) { return x * y * y; }, strict, x).lin(1.0); })(3.0) == 12);
}
TEST_CASE("rule 8: aux is stripped of its own level only") {
  const auto outer = [](auto x) {
    const auto [g, aux] = tt::grad([&](auto y) { return std::pair{x * y, x * x * y}; }, has_aux)(2.0);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(aux)>, decltype(x)>);
    return g + aux;  // x + 2 x^2
  };
  CHECK(tt::grad(outer)(3.0) == 13);
  CHECK(tt::jvp(outer, 3.0, 1.0).y_dot == 13);
}
}  // namespace contract_test
