// custom_vjp under vmap inside forward over reverse: jacfwd(jacrev(f)) differentiates the rule. Values are closed forms.
#include <doctest/doctest.h>
#include <ttensor/all.hpp>

namespace tt = ttensor;
using namespace ttensor;

namespace {
using vec = tensor<double, 1>;
using mat = tensor<double, 2>;
template <class A, class B> bool equal(const A& a, const B& b) { return a.shape() == b.shape() && all(a == b); }
// x^3 whose rule says 5 x^2, so that its second derivative is 10 x and each use of the rule shows
constexpr auto cube = [](const auto& x) { return x * x * x; };
const auto rule = custom_vjp([](auto x) { return cube(x); }, [](auto x) { return std::pair{cube(x), x}; }, [](auto x, auto ct) { return 5.0 * x * x * ct; });
const auto rule_of_arrays = custom_vjp([](const auto& x) { return eval(cube(x)); }, [](const auto& x) { return std::pair{eval(cube(x)), eval(1.0 * x)}; },
                                   [](const auto& x, const auto& ct) { return eval(5.0 * x * x * ct); });
const vec x{1, 2, 3}, k{2, -1, 4};
const mat m{{1, 2}, {3, 4}};
mat diagonal_of(const vec& d) { return eye<double>(3) * d; }
}  // namespace

TEST_CASE("jacfwd(jacrev) through vmap of a custom_vjp: captured numbers, constants and outer variables") {
  const double c = 2;
  CHECK(equal(tt::jacfwd(tt::jacrev([](const auto& v) { return sum(vmap(rule)(v)); }))(x), diagonal_of(10.0 * x)));
  CHECK(equal(tt::jacfwd(tt::jacrev([&](const auto& v) { return sum(vmap([&](auto t) { return rule(t) * c; })(v)); }))(x), diagonal_of(20.0 * x)));
  CHECK(equal(tt::jacfwd(tt::jacrev([&](const auto& v) { return sum(vmap([&](auto t, auto s) { return rule(t * s); })(v, k)); }))(x), diagonal_of(10.0 * k * k * k * x)));
  CHECK(equal(tt::hessian([&](const auto& v) { return sum(vmap([&](auto t) { return rule(t) * c; })(v)); })(x), diagonal_of(20.0 * x)));
  // the inner function captures the outer variable: d/dv of 5 u^2 v at u = v is 10 u v + 5 u^2, the second one not through u
  const auto h = tt::jacfwd([](const auto& v) { return tt::jacrev([&](const auto& u) { return sum(vmap(rule)(u) * v); })(v); })(x);
  CHECK(equal(h, diagonal_of(15.0 * x * x)));
  const auto g = tt::jacfwd([](const auto& v) { return tt::jacrev([&](const auto& u) { return sum(vmap([&](auto t) { return rule(t) * v(0); })(u)); })(v); })(x);
  CHECK(equal(g, mat{{10 + 5, 0, 0}, {20, 20, 0}, {45, 0, 30}}));  // diag(10 x v_0) and 5 x^2 in column 0
  // the rule sees data only; the variable enters behind it: the derivative is the data's cube, the second one 0
  const auto data = [&](const auto& w) { return sum(vmap([&](const auto& row) { return sum(rule_of_arrays(row) * w); })(m)); };
  CHECK(equal(tt::jacrev(data)(vec{1, 2}), vec{28, 72}));
  CHECK(equal(tt::jacfwd(tt::jacrev(data))(vec{1, 2}), mat(2, 2)));
  CHECK(equal(tt::jacfwd(tt::jacrev([&](const auto& w) { return data(w * w); }))(vec{1, 2}), mat{{56, 0}, {0, 144}}));
  // rows of a mapped array by a captured variable: s_i = sum_j (m_ij w_j)^3, rule 5
  const auto rows = [&](const auto& w) { return vmap([&](const auto& row) { return sum(rule_of_arrays(row * w)); })(m); };
  CHECK(equal(tt::jacrev(rows)(vec{1, 2}), mat{{5, 5 * 8 * 4}, {5 * 27, 5 * 64 * 4}}));
  CHECK(equal(tt::jacfwd(tt::jacrev(rows))(vec{1, 2}), tensor<double, 3>{{{10, 0}, {0, 10 * 8 * 2}}, {{10 * 27, 0}, {0, 10 * 64 * 2}}}));
}
TEST_CASE("other orders: reverse over reverse, vmap outside, chunks") {
  const double c = 2;
  const auto f = [&](const auto& v) { return sum(vmap([&](auto t) { return rule(t) * c; })(v)); };
  CHECK(equal(tt::jacrev(tt::jacrev(f))(x), diagonal_of(20.0 * x)));
  CHECK(equal(tt::jacfwd(tt::jacrev(f, chunk_size{2}), chunk_size{2})(x), diagonal_of(20.0 * x)));
  CHECK(equal(tt::jacfwd(tt::grad(f))(x), diagonal_of(20.0 * x)));
  CHECK(equal(tt::jvp(tt::jacrev(f), x, k).y_dot, vec(20.0 * x * k)));
  const auto each = vmap([&](const auto& v) { return tt::jacfwd(tt::jacrev(f))(v); })(mat{{1, 2}, {3, 4}});
  CHECK(equal(each, tensor<double, 3>{{{20, 0}, {0, 40}}, {{60, 0}, {0, 80}}}));
  CHECK(equal(tt::jacfwd([&](const auto& v) { return vmap(tt::grad([&](auto t) { return rule(t) * c; }))(v); })(x), diagonal_of(20.0 * x)));
}
