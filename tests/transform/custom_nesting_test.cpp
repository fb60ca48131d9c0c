// custom_vjp under vmap inside forward over reverse: jacfwd(jacrev(f)) differentiates the rule. Values are closed forms.
#include <doctest/doctest.h>
#include <ttensor/all.hpp>

namespace custom_nesting_test {
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

// A rule that is mapped inside reverse mode is called for all examples at once: cotangents of results that do not depend on the mapped argument
// were sums over the examples, which what the rule combined them with then counted once an example.
TEST_CASE("results and gradients that the mapped argument does not reach") {
  const vec bs{1, 10, 100, 1000};
  const auto by_vjp = custom_vjp([](auto a, auto b) { return std::pair{a * b, 3.0 * a}; },
                                 [](auto a, auto b) { return std::pair{std::pair{a * b, 3.0 * a}, std::pair{a, b}}; },
                                 [](auto s, auto ct) { return std::pair{s.second * ct.first + 3.0 * ct.second, s.first * ct.first}; });
  const auto by_jvp = custom_jvp([](auto a, auto b) { return std::pair{a * b, 3.0 * a}; }, [](auto p, auto d) {
    const auto [a, b] = p;
    const auto [da, db] = d;
    return std::pair{std::pair{a * b, 3.0 * a}, std::pair{a * db + b * da, 3.0 * da}};
  });
  const auto check = [&](const auto& f) {
    const auto loss = [&](auto a) { return sum(tt::vmap([&](auto b) { const auto [p, q] = f(a, b); return p + q; })(bs)); };
    CHECK(tt::grad(loss)(2.0) == 1123);  // sum of b + 3
    CHECK(equal(tt::vmap(tt::grad(loss))(vec{2, 5}), vec{1123, 1123}));
    CHECK(equal(tt::vmap(tt::grad([&](auto a, auto b) { const auto [p, q] = f(a, b); return p + q; }), tt::in_axes<tt::none, 0>)(2.0, bs), vec{4, 13, 103, 1003}));
    CHECK(equal(tt::jacrev([&](auto a) { return tt::vmap([&](auto b) { const auto [p, q] = f(a, b); return p + q; })(bs); })(2.0), vec{4, 13, 103, 1003}));
    // two maps: the sum over both of c (a b + 3 a)
    const auto twice = [&](auto a) {
      return sum(tt::vmap([&](auto c) { return sum(tt::vmap([&](auto b) { const auto [p, q] = f(a, b); return c * (p + q); })(bs)); })(vec{1, 2}));
    };
    CHECK(tt::grad(twice)(2.0) == 3 * 1123);
    const auto inside = [&](auto a) { return sum(tt::vmap([&](auto c) { return sum(tt::vmap([&](auto b) { const auto [p, q] = f(a * c, b); return p * q; })(bs)); })(vec{1, 2})); };
    CHECK(tt::grad(inside)(2.0) == 6 * 2 * 5 * 1111);  // 3 a^2 c^2 b
    CHECK(tt::grad(tt::grad(loss))(2.0) == 0);
  };
  check(by_vjp);
  check(by_jvp);
  check([](auto a, auto b) { return std::pair{a * b, 3.0 * a}; });
  // a constant whose derivative is its argument
  const auto constant = custom_vjp([](auto) { return 1.0; }, [](auto t) { return std::pair{1.0, t}; }, [](auto t, auto ct) { return t * ct; });
  CHECK(equal(tt::grad([&](const auto& v) { return sum(bs * tt::vmap(constant)(v)); })(bs), bs * bs));
  const auto by_tangent = custom_jvp([](auto) { return 1.0; }, [](auto t, auto d) { return std::pair{1.0, t * d}; });
  CHECK(equal(tt::grad([&](const auto& v) { return sum(bs * tt::vmap(by_tangent)(v)); })(bs), bs * bs));
  // an array beside a mapped index, and a gradient that is the same for every example
  const auto picked = custom_vjp([](const auto& v, auto i) { return std::pair{take(v, i, 0), sum(v)}; },
                                 [](const auto& v, auto i) { return std::pair{std::pair{take(v, i, 0), sum(v)}, std::pair{eval(v * 1.0), i}}; },
                                 [](const auto& s, const auto& ct) { return std::pair{eval(s.first * ct.first * tt::to<double>(s.second + 1) + ct.second), 0.0}; });
  const tensor<int, 1> indices{0, 2, 2};
  CHECK(equal(tt::grad([&](const auto& v) { return sum(tt::vmap([&](auto i) { const auto [p, q] = picked(v, i); return p + q; })(indices)); })(x), vec{7 + 3, 14 + 3, 21 + 3}));
  const auto same = custom_vjp([](auto a, auto b) { return a * b; }, [](auto a, auto b) { return std::pair{a * b, a}; }, [](auto a, auto ct) { return std::pair{5.0, a * ct}; });
  CHECK(tt::grad([&](auto a) { return sum(tt::vmap([&](auto b) { return same(a, b); })(bs)); })(2.0) == 20);
}
}  // namespace custom_nesting_test
