// Trees that are maps from names to parts.
#include <doctest/doctest.h>

#include <list>
#include <map>
#include <memory_resource>
#include <string>
#include <ttensor/all.hpp>
#include <unordered_map>
#include <vector>

namespace tree_maps_test {
namespace tt = ttensor;
using tt::tensor;

namespace {
using params = std::map<std::string, tensor<double, 1>>;
const params two{{"w", {1, 2, 3}}, {"b", {0.5, -1, 2}}};
const auto loss = [](const auto& p) { return sum(p.at("w") * p.at("w") * p.at("b")); };  // 2 w b, w^2
bool same(const tensor<double, 1>& a, const tensor<double, 1>& b) { return a.shape() == b.shape() && tt::all(abs(a - b) <= 1e-13 * (1.0 + abs(b))); }

template <class T> struct layer {
  std::map<std::string, tensor<T, 1>> parts;
  std::map<std::string, double> rates;  // static
  T scale;
};
struct json {  // a container of itself
  using value_type = json;
  std::vector<json> items;
  auto begin() const { return items.begin(); }
  auto end() const { return items.end(); }
};
template <class T> struct noise { T seed, scale; };  // no random key
}  // namespace

TEST_CASE("what stands beside the differentiated argument may be any container") {
  const tensor<double, 1> x{1, 2, 3};
  const auto by = [](const auto& v, const auto& t) { return sum(v * t.begin()->second); };
  CHECK(same(tt::grad(by)(x, std::unordered_map<std::string, tensor<double, 1>>{{"a", x}}), x));
  CHECK(same(tt::value_and_grad<0>(by)(x, std::list<std::pair<int, tensor<double, 1>>>{{1, x}}).grad, x));
  CHECK(tt::hessian<0>([](const auto& v, const auto& l) { return sum(v * v * l.front()); })(x, std::list{x})(1, 1) == 4);
  CHECK(same(tt::grad([](const auto& p) { return sum(p.first * p.first); })(std::pair{x, json{}}).first, {2, 4, 6}));
  CHECK(tt::jvp([](const auto& p) { return p.seed * p.scale; }, noise<double>{2, 3}, noise<double>{1, 0}).y_dot == 3);
  const auto chosen = tt::vmap([](auto t) {
    using N = noise<decltype(t)>;
    return tt::cond(t > 0.0, [](auto a) { return N{a, a}; }, [](auto a) { return N{-a, a}; }, t).seed;
  })(tensor<double, 1>{1, -2});
  CHECK(same(chosen, {1, 2}));
}
TEST_CASE("the scalar of a container is that of its parts") {
  const auto squares = [](const auto& p) {
    tt::scalar_t<decltype(p)> s = 0;
    for (const auto& [name, v] : p) s += sum(v * v);
    return s;
  };
  CHECK(same(tt::grad(squares)(two).at("b"), {1, -2, 4}));
  CHECK(same(tt::hvp(squares, two, two).at("w"), {2, 4, 6}));
  static_assert(std::is_same_v<tt::scalar_t<std::vector<std::map<int, tensor<float, 2>>>>, float>);
  static_assert(std::is_same_v<tt::scalar_t<tensor<float, 1>, std::optional<std::array<double, 2>>>, double>);
}
TEST_CASE("orders and allocators of one's own") {
  const auto later = [](const std::string& a, const std::string& b) { return a > b; };
  using order = bool (*)(const std::string&, const std::string&);
  using map = std::map<std::string, tensor<double, 1>, order>;
  const map m({{"w", {1, 2, 3}}, {"b", {0.5, -1, 2}}}, later);
  CHECK(same(tt::grad(loss)(m).at("w"), {1, -4, 12}));
  const auto steps = tt::scan([](const auto& s, const auto& t) { auto n = s; n.at("w") += t; return std::pair(n, n); }, m, tensor<double, 1>{1, 2}).second;
  CHECK(same(tt::eval(steps.at("w")(1)), {4, 5, 6}));
  CHECK(steps.begin()->first == "w");
  using elsewhere = std::pmr::map<int, tensor<double, 1>>;
  const elsewhere e{{1, {1, 2, 3}}};
  const elsewhere g = tt::grad([](const auto& p) { return sum(p.at(1) * p.at(1)); })(e);
  CHECK(same(g.at(1), {2, 4, 6}));
}
TEST_CASE("gradients have the names of the argument") {
  const params g = tt::grad(loss)(two);
  CHECK(g.size() == 2);
  CHECK(same(g.at("w"), {1, -4, 12}));
  CHECK(same(g.at("b"), {1, 4, 9}));
  const auto [y, dy] = tt::value_and_grad(loss)(two);
  CHECK(y == doctest::Approx(0.5 - 4 + 18));
  CHECK(same(dy.at("b"), {1, 4, 9}));
  auto [v, pull] = tt::vjp(loss, two);
  CHECK(same(pull(2.0).at("w"), {2, -8, 24}));
}
TEST_CASE("beside other parts, within each other, in aggregates") {
  const std::pair both{tensor<double, 1>{1, 1, 1}, two};
  const auto g = tt::grad([](const auto& p) { return sum(p.first) + loss(p.second); })(both);
  CHECK(same(g.first, {1, 1, 1}));
  CHECK(same(g.second.at("w"), {1, -4, 12}));
  const std::map<int, params> deep{{7, two}, {3, {{"w", {1, 1, 1}}, {"b", {2, 2, 2}}}}};
  const auto gd = tt::grad([](const auto& p) { return loss(p.at(7)) * loss(p.at(3)); })(deep);
  CHECK(same(gd.at(7).at("b"), tt::eval(6.0 * tensor<double, 1>{1, 4, 9})));
  CHECK(same(gd.at(3).at("b"), {14.5, 14.5, 14.5}));
  const layer<double> l{two, {{"rate", 0.25}}, 3};
  const auto gl = tt::grad([](const auto& l) { return l.scale * l.rates.at("rate") * loss(l.parts); })(l);
  CHECK(same(gl.parts.at("w"), tt::eval(0.75 * tensor<double, 1>{1, -4, 12})));
  CHECK(gl.scale == doctest::Approx(0.25 * 14.5));
  const std::map<std::string, double> numbers{{"a", 2}, {"b", 3}};
  const auto gn = tt::grad([](const auto& p) { return p.at("a") * p.at("a") * p.at("b"); })(numbers);
  CHECK(gn.at("a") == 12);
  CHECK(gn.at("b") == 4);
}
TEST_CASE("forward, second derivatives, loops over parts") {
  const params along{{"w", {1, 0, 0}}, {"b", {0, 1, 0}}};
  CHECK(tt::jvp(loss, two, along).y_dot == doctest::Approx(1 + 4));
  const auto h = tt::hvp(loss, two, along);  // of w: 2 b w' + 2 w b'; of b: 2 w w'
  CHECK(same(h.at("w"), {1, 4, 0}));
  CHECK(same(h.at("b"), {2, 0, 0}));
  auto p = two;
  const auto g = tt::grad(loss)(two);
  tt::tree::for_each([](auto& x, const auto& d) { x -= 0.5 * d; }, p, g);
  CHECK(same(p.at("w"), {0.5, 4, -3}));
  const auto lin = tt::linearize(loss, two);
  CHECK(lin.lin(along) == doctest::Approx(5));
}
TEST_CASE("vmap maps every part; results and steps keep their names") {
  const std::map<std::string, tensor<double, 2>> rows{{"w", {{1, 2, 3}, {0, 1, 0}}}, {"b", {{0.5, -1, 2}, {1, 1, 1}}}};
  CHECK(same(tt::vmap(loss)(rows), {14.5, 1}));
  const auto g = tt::vmap(tt::grad(loss))(rows);
  CHECK(same(tt::eval(g.at("w")(0)), {1, -4, 12}));
  CHECK(same(tt::eval(g.at("w")(1)), {0, 2, 0}));
  const auto each = tt::vmap([](const auto& x) { return std::map<std::string, std::remove_cvref_t<decltype(tt::eval(x * 2.0))>>{{"twice", x * 2.0}, {"square", x * x}}; })(rows.at("w"));
  CHECK(same(tt::eval(each.at("square")(0)), {1, 4, 9}));
  const auto per = tt::per_sample_grad([](const auto& p, const auto& x) { return sum(p.at("w") * x) + sum(p.at("b") * x * x); })(two, rows.at("w"));
  CHECK(same(tt::eval(per.at("b")(0)), {1, 4, 9}));
  const auto shared = tt::vmap([](const auto& p, const auto& x) { return sum(p.at("w") * x); }, tt::in_axes<tt::none, 0>)(two, rows.at("w"));
  CHECK(same(shared, {14, 2}));
  const auto [last, all] = tt::scan([](const auto& s, const auto& x) { auto n = s; n.at("w") += x.at("w"); return std::pair(n, n); }, params{{"w", {0, 0, 0}}}, rows);
  CHECK(same(last.at("w"), {1, 3, 3}));
  CHECK(same(tt::eval(all.at("w")(0)), {1, 2, 3}));
}
TEST_CASE("auxiliary results, control flow, rules of one's own") {
  const auto [g, aux] = tt::grad([](const auto& p) { return std::pair(loss(p), p); }, tt::has_aux)(two);
  CHECK(same(aux.at("w"), {1, 2, 3}));
  CHECK(same(g.at("b"), {1, 4, 9}));
  for (const bool yes : {true, false}) {
    const auto c = tt::grad([&](const auto& p) { return loss(tt::cond(yes, [](const auto& q) { return q; }, [](const auto& q) { auto r = q; r.at("w") *= 2.0; return r; }, p)); })(two);
    CHECK(same(c.at("b"), yes ? tensor<double, 1>{1, 4, 9} : tensor<double, 1>{4, 16, 36}));
  }
  const auto grown = tt::for_loop(3, [](int, const auto& p) { auto r = p; r.at("w") *= 2.0; return r; }, two);
  CHECK(same(grown.at("w"), {8, 16, 24}));
  const auto masked = tt::vmap([](auto x, const auto& p) { return loss(tt::cond(x > 0.0, [](const auto& q) { return q; }, [](const auto& q) { auto r = q; r.at("w") *= 2.0; return r; }, p)); }, tt::in_axes<0, tt::none>)(tensor<double, 1>{1, -1}, two);
  CHECK(same(masked, {14.5, 58}));
  const auto again = tt::grad(tt::checkpoint(loss))(two);
  CHECK(same(again.at("w"), {1, -4, 12}));
  const auto rule = tt::custom_vjp([](const auto& p) { return loss(p); }, [](const auto& p) { return std::pair(loss(p), p); },
                                   [](const auto& p, const auto& ct) { auto d = p; for (auto& [name, x] : d) x = x * ct; return d; });
  CHECK(same(tt::grad(rule)(two).at("w"), {1, 2, 3}));
}
TEST_CASE("other names are refused") {
  const params other{{"w", {1, 0, 0}}, {"c", {0, 1, 0}}}, fewer{{"w", {1, 0, 0}}};
  CHECK_THROWS_WITH_AS(tt::jvp(loss, two, other), "[jvp] the tangent has no part of the name b; give one for each part [TT-S10]", tt::shape_error);
  CHECK_THROWS_AS(tt::jvp(loss, two, fewer), tt::shape_error);
  auto p = two;
  CHECK_THROWS_AS(tt::tree::for_each([](auto&, const auto&) {}, p, other), tt::shape_error);
}
}  // namespace tree_maps_test
