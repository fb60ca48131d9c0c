// The contract of the transforms, rules 9 to 11: trees, Jacobians, nestings; values are closed forms.
#include <doctest/doctest.h>

#include <optional>
#include <ttensor/all.hpp>

namespace contract_trees_test {
namespace tt = ttensor;
using namespace ttensor;

namespace {
using vec = tensor<double, 1>;
using mat = tensor<double, 2>;
const vec v{1, 2, 3}, w{0.5, -1, 2};
template <class A, class B> bool equal(const A& a, const B& b) { return a.shape() == b.shape() && all(a == b); }
template <class T> struct model {
  tensor<T, 1> weight;
  T bias;
  double rate;  // static
};
constexpr auto cubes = [](const auto& x) { return sum(x * x * x); };
template <class T> struct base_of { tensor<T, 1> w; };
#define TTENSOR_TEST_TEN(F, k) F(k##0) F(k##1) F(k##2) F(k##3) F(k##4) F(k##5) F(k##6) F(k##7) F(k##8) F(k##9)
#define TTENSOR_TEST_THIRTY(F) TTENSOR_TEST_TEN(F, 1) TTENSOR_TEST_TEN(F, 2) TTENSOR_TEST_TEN(F, 3)
#define TTENSOR_TEST_FIELD(k) T f##k = k;
#define TTENSOR_TEST_TERM(k) y = y + p.f##k * p.f##k;
#define TTENSOR_TEST_SLOPE(k) CHECK(g.f##k == 2 * k);
template <class T> struct of_32 {
  double rate = 10;  // static
  TTENSOR_TEST_THIRTY(TTENSOR_TEST_FIELD) tensor<T, 1> w{1, 2, 3};
};
template <class T> struct of_40 {
  TTENSOR_TEST_TEN(TTENSOR_TEST_FIELD, 1) tensor<T, 1> w{1, 2, 3};
  TTENSOR_TEST_TEN(TTENSOR_TEST_FIELD, 2) double rate = 10;
  TTENSOR_TEST_TEN(TTENSOR_TEST_FIELD, 3) T a = 5, b = 6, c = 7, d = 8, e = 9, f = 10, g = 11, h = 12;
};
/// The sum of the squares of all fields but the static one, which is a factor.
template <class P> void check_fields(const P& point) {
  const auto f = [](const auto& p) {
    auto y = sum(p.w * p.w);
    TTENSOR_TEST_THIRTY(TTENSOR_TEST_TERM)
    if constexpr (requires { p.h; }) y = y + p.a * p.a + p.b * p.b + p.c * p.c + p.d * p.d + p.e * p.e + p.f * p.f + p.g * p.g + p.h * p.h;
    return y * p.rate;
  };
  P unit = point;
  unit.rate = 1;
  const auto g = tt::grad(f)(unit);
  TTENSOR_TEST_THIRTY(TTENSOR_TEST_SLOPE)
  CHECK(equal(g.w, vec{2, 4, 6}));
  if constexpr (requires { g.h; }) CHECK(std::array{g.a, g.b, g.c, g.d, g.e, g.f, g.g, g.h} == std::array<double, 8>{10, 12, 14, 16, 18, 20, 22, 24});
  CHECK(tt::grad(f)(point).rate == 10);
  CHECK(tt::jvp(f, point, point).y_dot == 2 * f(point));
  CHECK(equal(vmap([&](const auto& p, auto s) { return tt::grad(f)(p).f39 * s; }, in_axes<none, 0>)(point, v), vec{780, 1560, 2340}));
}
template <class T> struct derived : base_of<T> {};
mat diagonal_of(const vec& d) {
  mat m(d.size(), d.size());
  for (int i = 0; i < d.size(); ++i) m(i, i) = d(i);
  return m;
}
}  // namespace

TEST_CASE("rule 9: the gradient is the argument's tree") {
  const auto f = [](const auto& p) { return sum(p.weight * p.weight) * p.bias * p.rate; };
  const model<double> g = tt::grad(f)(model<double>{v, 2, 10});
  CHECK(equal(g.weight, vec{40, 80, 120}));
  CHECK(g.bias == 140);
  CHECK(g.rate == 10);
  const auto h = tt::grad([](const auto& t) { return std::get<0>(t)[0] * std::get<0>(t)[1] * *std::get<1>(t); })(
      std::tuple{std::vector<double>{2, 3}, std::optional<double>(5)});
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(h)>, std::tuple<std::vector<double>, std::optional<double>>>);
  CHECK(std::get<0>(h) == std::vector<double>{15, 10});
  CHECK(*std::get<1>(h) == 6);
  const auto n = tt::grad([](const auto& t) { return t.first[1] * t.second; })(std::pair{std::array<double, 2>{2, 3}, 4.0});
  CHECK(n.first[0] == 0);
  CHECK(n.first[1] == 4);
  CHECK(n.second == 3);
}
TEST_CASE("rule 9: vjp, jvp and linearize of trees") {
  const auto f = [](const auto& p) { return std::pair{p.weight * p.bias, p.bias * p.bias}; };
  const model<double> p{v, 2, 10}, d{w, 3, 0};
  const auto forward = tt::jvp(f, p, d).y_dot;
  CHECK(equal(forward.first, vec{4, 4, 13}));  // 2 w + 3 v
  CHECK(forward.second == 12);
  const auto linear = tt::linearize(f, p).lin(d);
  CHECK(equal(linear.first, forward.first));
  CHECK(linear.second == 12);
  const auto back = tt::vjp(f, p).pull(std::pair{w, 1.0});
  CHECK(equal(back.weight, vec{1, -2, 4}));
  CHECK(back.bias == 4.5 + 4);
}
TEST_CASE("rule 9: aggregates of 32 and of 40 fields, every one of which counts") {
  check_fields(of_32<double>{});
  check_fields(of_40<double>{});
}
TEST_CASE("rule 9: the only field of an aggregate may be its base's") {
  const auto f = [](const auto& p) { return sum(p.w * p.w * p.w); };
  CHECK(equal(tt::grad(f)(derived<double>{{v}}).w, vec{3, 12, 27}));
  CHECK(tt::jvp(f, derived<double>{{v}}, derived<double>{{w}}).y_dot == 43.5);
}
TEST_CASE("rule 9: Jacobians are output tree by input tree, Hessians output by input by input") {
  const auto f = [](const auto& t) { return std::tuple{std::get<0>(t) * std::get<1>(t), std::get<1>(t) * std::get<1>(t)}; };
  const auto x = std::tuple{v, 2.0};
  const auto check = [](const auto& j) {
    CHECK(equal(std::get<0>(std::get<0>(j)), diagonal_of(vec{2, 2, 2})));
    CHECK(equal(std::get<1>(std::get<0>(j)), v));
    CHECK(equal(std::get<0>(std::get<1>(j)), vec{0, 0, 0}));
    CHECK(std::get<1>(std::get<1>(j)) == 4);
  };
  check(tt::jacfwd(f)(x));
  check(tt::jacrev(f)(x));
  const auto h = tt::hessian([](const auto& t) { return sum(std::get<0>(t) * std::get<0>(t)) * std::get<1>(t); })(x);
  CHECK(equal(std::get<0>(std::get<0>(h)), diagonal_of(vec{4, 4, 4})));
  CHECK(equal(std::get<1>(std::get<0>(h)), vec{2, 4, 6}));
  CHECK(equal(std::get<0>(std::get<1>(h)), vec{2, 4, 6}));
  CHECK(std::get<1>(std::get<1>(h)) == 0);
}
TEST_CASE("rule 9: tangents and cotangents of another shape or with another number of parts are errors") {
  const auto square = [](const auto& x) { return x * x; };
  const vec two{1, 2};
  CHECK_THROWS_WITH_AS(tt::hvp([](const auto& x) { return sum(x * x); }, v, two), "[hvp] shape (3,) and tangent shape (2,) differ; give it the same shape [TT-S09]", shape_error);
  CHECK_THROWS_WITH_AS(tt::jvp(square, v, two), "[jvp] shape (3,) and tangent shape (2,) differ; give it the same shape [TT-S09]", shape_error);
  CHECK_THROWS_AS(tt::vjp(square, v).pull(two), shape_error);
  CHECK_THROWS_AS(tt::linearize(square, v).lin(two), shape_error);
  CHECK_THROWS_AS(tt::vjp([](auto) { return vec{1, 2, 3}; }, 1.0).pull(two), shape_error);  // a constant result too
  const auto first = [](const auto& t) { return t[0] * 2.0; };
  CHECK_THROWS_AS(tt::jvp(first, std::vector<double>{1, 2}, std::vector<double>{1}), shape_error);
  CHECK_THROWS_AS(tt::jvp([](const auto& t) { return *t; }, std::optional<double>(1), std::optional<double>()), shape_error);
  CHECK_THROWS_AS(tt::vjp([](auto x) { return std::vector{x, x}; }, 1.0).pull(std::vector<double>{1}), shape_error);
  CHECK(tt::jvp([](auto x) { return x * x; }, 3.0, 1).y_dot == 6);  // a C++ number is weak
}
TEST_CASE("rule 10: a Jacobian has shape out.shape + in.shape; chunks change no value, and a chunk of 0 is an error") {
  const mat x{{1, 2, 3}, {4, 5, 6}};
  const auto rows = [](const auto& m) { return sum(m * m, 1); };
  const auto j = tt::jacfwd(rows)(x);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(j)>, tensor<double, 3>>);
  CHECK(j.shape() == dims<3>{{2, 2, 3}});
  for (int o = 0; o < 2; ++o)
    for (int r = 0; r < 2; ++r)
      for (int c = 0; c < 3; ++c) CHECK(j(o, r, c) == (o == r ? 2 * x(r, c) : 0));
  CHECK(equal(tt::jacrev(rows)(x), j));
  CHECK(equal(tt::jacobian(rows)(x), j));
  CHECK(equal(tt::jacfwd(rows, chunk_size{2})(x), j));
  CHECK(equal(tt::jacrev(rows, chunk_size{1})(x), j));
  CHECK(equal(tt::hessian(cubes, chunk_size{2})(v), diagonal_of(6.0 * v)));
  CHECK_THROWS_AS(chunk_size{0}, domain_error);
  CHECK(tt::jacfwd([](const auto& m) { return sum(m, 1, keepdims); })(x).shape() == dims<4>{{2, 1, 2, 3}});  // no squeezing
  CHECK(tt::jacrev([](auto k) { return k * vec{1, 2}; })(3.0).shape() == dims<1>{{2}});
}
TEST_CASE("rule 11: four nestings of the Hessian agree") {
  const auto f = [](const auto& x) { return sum(x * x * x) + sum(x) * sum(x); };  // 6 diag(x) + 2
  mat h = diagonal_of(6.0 * v);
  h += 2.0;
  const auto fwd = [](auto g) { return [g](const auto& x) { return tt::jacfwd(g)(x); }; };
  const auto rev = [](auto g) { return [g](const auto& x) { return tt::jacrev(g)(x); }; };
  CHECK(equal(fwd(fwd(f))(v), h));
  CHECK(equal(fwd(rev(f))(v), h));
  CHECK(equal(rev(fwd(f))(v), h));
  CHECK(equal(rev(rev(f))(v), h));
  CHECK(equal(tt::hessian(f)(v), h));
  CHECK(laplacian(f)(v) == 42);
}
TEST_CASE("rule 11: three ways to a Hessian times a vector agree, for 100000 unknowns too") {
  const vec expected = 6.0 * v * w;
  CHECK(equal(tt::hvp(cubes, v, w), expected));                                                                     // forward over reverse
  CHECK(equal(tt::grad([&](const auto& x) { return tt::jvp(cubes, x, w).y_dot; })(v), expected));                    // reverse over forward
  CHECK(equal(tt::grad([&](const auto& x) { return sum(tt::grad(cubes)(x) * w); })(v), expected));                   // reverse over reverse
  CHECK(equal(tt::vhp(cubes, v, w), expected));
  const vec x = ones<double>(100000);  // 80 GB if somebody built the matrix
  CHECK(tt::hvp(cubes, x, x)(99999) == 6);
  CHECK(tt::vhp(cubes, x, x)(99999) == 6);
  CHECK(tt::grad([&](const auto& t) { return tt::jvp(cubes, t, x).y_dot; })(x)(99999) == 6);
}
TEST_CASE("signature: hvp and vhp take several arguments as tuples, as jvp does") {
  const auto f = [](const auto& s, const auto& t) { return sum(s * s * t * t * t); };
  const vec y = v + 1.0, a = w, b = v - 4.0;
  const vec of_s = 2.0 * y * y * y * a + 6.0 * v * y * y * b, of_t = 6.0 * v * y * y * a + 6.0 * v * v * y * b;  // by hand
  const auto [hs, ht] = tt::hvp(f, std::tuple{v, y}, std::tuple{a, b});
  CHECK(equal(hs, of_s));
  CHECK(equal(ht, of_t));
  const auto [vs, vt] = tt::vhp(f, std::tuple{v, y}, std::tuple{a, b});
  CHECK(equal(vs, of_s));
  CHECK(equal(vt, of_t));
  const auto of_tuple = [](const auto& p) { return sum(std::get<0>(p) * std::get<1>(p)); };  // a tuple that is one argument
  CHECK(equal(std::get<0>(tt::hvp(of_tuple, std::tuple{v, y}, std::tuple{a, b})), b));
  CHECK_THROWS_WITH_AS(tt::hvp(f, std::tuple{v, y}, std::tuple{a, vec{1, 2}}), "[hvp] shape (3,) and tangent shape (2,) differ; give it the same shape [TT-S09]", shape_error);
}
TEST_CASE("signature: a tuple is one argument for what wraps a function of one tuple") {
  const auto f = [](const auto& t) { return std::get<0>(t) * std::get<0>(t) * std::get<1>(t); };
  const std::tuple x{2.0, 3.0}, along{1.0, 0.0};
  CHECK(tt::jvp(f, x, along).y_dot == 12);
  CHECK(std::get<1>(tt::jvp(tt::grad(f), x, along).y_dot) == 4);
  CHECK(tt::jvp(tt::checkpoint(f), x, along).y_dot == 12);
  CHECK(std::get<0>(tt::hvp(tt::checkpoint(f), x, along)) == 6);
  const auto first = tt::custom_jvp(f, [f](const auto& t, const auto& d) { return std::pair{f(t), std::get<0>(d)}; });
  CHECK(tt::jvp(first, x, along).y_dot == 1);
}
TEST_CASE("signature: laplacian is the trace of the Hessian") {
  CHECK(laplacian([](auto x) { return x * x * x; })(2.0) == 12);
  CHECK(laplacian(cubes)(v) == 36);
  CHECK(laplacian([](const auto& t) { return std::get<0>(t) * std::get<0>(t) * std::get<0>(t) + sum(std::get<1>(t) * std::get<1>(t)); })(std::tuple{2.0, v}) == 18);
  CHECK(tt::grad([](auto k) { return laplacian([&](const auto& x) { return k * k * sum(x * x * x); })(v); })(2.0) == 144);
  CHECK(equal(tt::grad([](const auto& x) { return laplacian(cubes)(x); })(v), vec{6, 6, 6}));
  CHECK(equal(vmap([](auto x) { return laplacian([](auto t) { return t * t * t; })(x); })(v), vec{6, 12, 18}));
  CHECK(laplacian(cubes)(vec(0)) == 0);
}
TEST_CASE("signature: linear_transpose") {
  const mat a{{1, 2, 3}, {4, 5, 6}};
  const auto f = [&](const auto& x) { return matmul(a, x); };
  CHECK(equal(linear_transpose(f, v)(vec{1, 10}), vec{41, 52, 63}));
  const auto [p, q] = linear_transpose([](auto x, const auto& y) { return x * 2.0 + sum(y) * 3.0; }, 0.0, v)(2.0);
  CHECK(p == 4);
  CHECK(equal(q, vec{6, 6, 6}));
}
}  // namespace contract_trees_test
