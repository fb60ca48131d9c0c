// The contract of the transforms, rules 12 to 22; values are closed forms. Rule 21 stands in complex_test.cpp and tests/compile_fail/complex.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ttensor/all.hpp>

namespace contract_rules_test {
namespace tt = ttensor;
using namespace ttensor;

namespace {
using vec = tensor<double, 1>;
using mat = tensor<double, 2>;
const vec v{1, 2, 3}, w{0.5, -1, 2};
const mat m{{1, 2, 3}, {4, 5, 6}};
template <class A, class B> bool equal(const A& a, const B& b) { return a.shape() == b.shape() && all(a == b); }
constexpr auto cube = [](auto x) { return x * x * x; };
struct again {  // x^2 with the rule f' = 5 f, which calls f itself
  template <class T> T operator()(T x) const {
    return custom_jvp([](auto t) { return t * t; }, [](auto t, auto d) { return std::pair{again{}(t), 5.0 * again{}(t) * d}; })(x);
  }
};
/// The derivative at x by both modes, which must be the same number, inf and NaN included.
template <class F> double slope(const F& f, double x) {
  const double r = tt::grad(f)(x), d = tt::jvp(f, x, 1.0).y_dot;
  CHECK((r == d || (std::isnan(r) && std::isnan(d))));
  const double a = tt::grad([&](const auto& t) { return sum(f(t)); })(vec{x})(0);  // the same in an array
  CHECK((r == a || (std::isnan(r) && std::isnan(a))));
  return r;
}
}  // namespace

TEST_CASE("rule 12: vmap equals stacking the function over slices") {
  const auto f = [](const auto& row, const auto& k) { return row * sum(row) * k; };
  const mat rows = vmap(f, in_axes<0, none>)(m, 2.0);
  for (int i = 0; i < 2; ++i) CHECK(equal(vec(rows(i)), vec(f(vec(m(i)), 2.0))));
  const mat columns = vmap([](const auto& c) { return c * sum(c); }, in_axes<-1>)(m);
  for (int j = 0; j < 3; ++j) CHECK(equal(vec(columns(j)), vec(m(all, j) * sum(m(all, j)))));
  CHECK(equal(vmap([](const auto& row) { return row * 2.0; }, out_axes<1>)(m), mat(transpose(m) * 2.0)));
  CHECK(equal(vmap([](const auto& row) { return row * 2.0; }, out_axes<-1>)(m), mat(transpose(m) * 2.0)));
  CHECK(equal(vmap([](const auto& row) { return sum(row, -1); })(m), vec{6, 15}));  // axes inside are those of one example
  CHECK(equal(vmap([](auto) { return 7.0; })(v), vec{7, 7, 7}));
  const auto [a, b] = vmap([](auto x, const auto& t) { return std::pair{x * std::get<0>(t), std::get<1>(t) * 2.0}; })(v, std::tuple{w, mat(transpose(m))});
  CHECK(equal(a, vec(v * w)));
  CHECK(equal(b, mat(transpose(m) * 2.0)));
}
TEST_CASE("rule 12: sizes must agree; an empty batch works") {
  CHECK_THROWS_AS(vmap([](auto a, auto b) { return a * b; })(v, vec{1, 2}), shape_error);
  CHECK(vmap([](auto x) { return x * x; })(vec(0)).shape() == dims<1>{{0}});
  CHECK(vmap([](const auto& r) { return r * 2.0; })(mat(0, 3)).shape() == dims<2>{{0, 3}});
  CHECK(equal(vmap([](auto x) { return x * x; }, chunk_size{2})(v), vec{1, 4, 9}));
}
TEST_CASE("rule 13: an unmapped parameter has a gradient per example inside, a summed one outside") {
  const auto loss = [](auto k, auto x) { return k * k * x; };
  CHECK(equal(vmap(tt::grad(loss), in_axes<none, 0>)(3.0, v), vec{6, 12, 18}));
  CHECK(tt::grad([&](auto k) { return sum(vmap(loss, in_axes<none, 0>)(k, v)); })(3.0) == 36);
  const auto dense = [](const auto& k, const auto& row) { return sum(k * row); };
  CHECK(equal(vmap(tt::grad(dense), in_axes<none, 0>)(v, m), m));
  CHECK(equal(tt::grad([&](const auto& k) { return sum(vmap(dense, in_axes<none, 0>)(k, m)); })(v), vec{5, 7, 9}));
  CHECK(equal(per_sample_grad([](auto k, auto x, auto y) { return k * x * y; })(2.0, v, w), vec(v * w)));
}
TEST_CASE("rule 14: where selects gradients, cond under vmap becomes a select, loops freeze lanes that have stopped") {
  const auto safe = [](auto x) { return where(x > 0.0, sqrt(where(x > 0.0, x, 1.0)), 0.0); };
  CHECK(slope(safe, 4.0) == 0.25);
  CHECK(slope(safe, -1.0) == 0);
  CHECK(slope([](auto x) { return where(x > 0.0, x, log(x)); }, 2.0) == 1);
  CHECK(slope([](auto x) { return where(x < 1.0, x * x, x / (x - x)); }, 0.5) == 1);  // the other branch is not finite
  const auto branch = [](auto x) { return cond(x > 1.5, [](auto t) { return t * t; }, [](auto t) { return t * 10.0; }, x); };
  CHECK(equal(vmap(branch)(v), vec{10, 4, 9}));
  CHECK(equal(vmap(tt::grad(branch))(v), vec{10, 4, 6}));
  const auto doubling = [](auto x) { return while_loop([](auto s) { return s < 10.0; }, [](auto s) { return s * 2.0; }, x); };
  CHECK(equal(vmap(doubling)(v), vec{16, 16, 12}));
  CHECK(tt::jvp(doubling, 3.0, 1.0).y_dot == 4);
  CHECK(tt::grad([](auto x) { return while_loop([](auto s) { return s < 10.0; }, [](auto s) { return s * 2.0; }, x, max_trips{5}); })(3.0) == 4);
  CHECK_THROWS_AS(while_loop([](auto s) { return s < 10.0; }, [](auto s) { return s * 2.0; }, 1.0, max_trips{3}), domain_error);
  CHECK(tt::grad([](auto x) { return for_loop(3, [&](auto, auto s) { return s * x; }, x); })(2.0) == 32);  // x^4
  const auto running = [](const auto& x) { return scan([](auto c, auto t) { return std::pair{c * t, c + t}; }, decltype(x(0) + x(0))(1.0), x); };
  CHECK(equal(tt::grad([&](const auto& x) { return running(x).first; })(v), vec{6, 3, 2}));
}
TEST_CASE("rule 15: side effects happen once a call; a tensor made inside starts unmapped and is promoted") {
  int calls = 0;
  vmap([&](auto x) { return ++calls, x * x; })(v);
  CHECK(calls == 1);
  tt::grad([&](const auto& x) { return sum(vmap([&](auto t) { return ++calls, t * t; })(x)); })(v);
  CHECK(calls == 2);
  const mat y = vmap([](auto x) {
    tensor<decltype(x), 1> a(2);
    a(1) = x * x;
    return a;
  })(v);
  CHECK(equal(y, mat{{0, 1}, {0, 4}, {0, 9}}));
}
TEST_CASE("rule 16: an unmapped key gives every example the same numbers; checkpoint replays them") {
  const rng key(42);
  const mat same = vmap([&](auto x) { return normal<double>(key, {4}) * x; })(vec{1, 1, 1});
  const vec one = normal<double>(key, {4});
  for (int i = 0; i < 3; ++i) CHECK(equal(vec(same(i)), one));
  const auto noisy = [key](const auto& x) { return sum(x * x * normal<double>(key, {3})); };
  CHECK(equal(tt::grad(checkpoint(noisy))(v), tt::grad(noisy)(v)));
  CHECK(equal(tt::grad(noisy)(v), vec(2.0 * v * normal<double>(key, {3}))));
}
TEST_CASE("rule 17: stop_gradient blocks all live levels, forward and reverse, and is the identity under vmap") {
  const auto f = [](auto x) { return stop_gradient(x * x) * x; };
  CHECK(slope([](auto x) { return stop_gradient(x * x) * x; }, 3.0) == 9);
  CHECK(tt::grad(tt::grad(f))(3.0) == 0);
  CHECK(equal(vmap(f)(v), vec{1, 8, 27}));
}
TEST_CASE("rule 18: a custom_jvp serves both modes; a rule that calls the function itself stays active at higher orders") {
  // derivative 10 x instead of 2 x, so that the rule is seen to run
  const auto f = custom_jvp([](auto x) { return x * x; }, [](auto x, auto d) { return std::pair{x * x, 10.0 * x * d}; });
  CHECK(tt::jvp(f, 3.0, 2.0).y_dot == 60);
  CHECK(tt::grad(f)(3.0) == 30);
  CHECK(tt::grad(tt::grad(f))(3.0) == 10);
  CHECK(equal(vmap(tt::grad(f))(v), vec{10, 20, 30}));
  CHECK(equal(tt::grad([&](const auto& x) { return sum(vmap(f)(x)); })(v), vec{10, 20, 30}));
  CHECK(tt::grad(again{})(2.0) == 20);
  CHECK(tt::jvp(tt::grad(again{}), 2.0, 1.0).y_dot == 100);  // 25 f, not 5 * 2 x
  const auto g = custom_vjp([](auto x) { return x * x; }, [](auto x) { return std::pair{x * x, x}; }, [](auto s, auto ct) { return 10.0 * s * ct; });
  CHECK(tt::grad(g)(3.0) == 30);
  CHECK(tt::jacfwd(tt::jacrev(g))(3.0) == 10);  // forward mode itself does not compile
  int runs = 0;
  const auto counted = custom_vjp([](auto x) { return x * x; }, [&](auto x) { return ++runs, std::pair{x * x, x}; }, [](auto s, auto ct) { return s * ct; });
  CHECK(counted(3.0) == 9);
  CHECK(runs == 0);  // rules run only when differentiated
  CHECK(tt::grad(counted)(3.0) == 3);
  CHECK(runs == 1);
}
TEST_CASE("rule 19: checkpoint is the identity for jvp and vmap; reverse mode runs the function again") {
  int calls = 0;
  const auto f = checkpoint([&](auto x) { return ++calls, x * x * x; });
  CHECK(tt::jvp(f, 2.0, 1.0).y_dot == 12);
  CHECK(equal(vmap(f)(v), vec{1, 8, 27}));
  CHECK(calls == 2);
  CHECK(tt::grad(f)(2.0) == 12);
  CHECK(calls == 4);
}
TEST_CASE("rule 20: no_grad outside a transform is ignored, inside it is obeyed") {
  const no_grad outside;
  CHECK(tt::grad(cube)(2.0) == 12);
  CHECK(tt::grad([](auto x) {
    auto c = x;
    {
      const no_grad inside;
      c = x * x;
    }
    return c * x;
  })(2.0) == 4);
}
TEST_CASE("rule 20: forward mode cannot obey no_grad, so a guard inside it is an error") {
  const auto f = [](const auto& x) {
    auto c = x;
    {
      const no_grad inside;
      c = x * x;
    }
    return sum(c * x);
  };
  const auto text = [](const auto& call) {
    try {
      call();
    } catch (const level_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const auto refused = [&](const auto& call) { return text(call).find("[TT-L04]") != std::string::npos; };
  CHECK(refused([&] { return tt::jvp(f, v, v); }));
  CHECK(refused([&] { return tt::hvp(f, v, v); }));
  CHECK(refused([&] { return tt::jacfwd(f)(v); }));
  CHECK(refused([&] { return tt::hessian(f)(v); }));
  CHECK(refused([&] { return tt::laplacian(f)(v); }));
  CHECK(refused([&] { return tt::grad([&](const auto& x) { return tt::jvp(f, x, v).y_dot; })(v); }));
  CHECK(refused([&] { return tt::vmap([&](auto s) { return tt::jvp(f, v * s, v).y_dot; })(v); }));
  CHECK(text([&] { return tt::jvp(f, v, v); }).find("stop_gradient") != std::string::npos);
  // the level is gone after the exception: reverse mode obeys, also inside vmap, and so does its linearization
  CHECK(equal(tt::grad(f)(v), vec{1, 4, 9}));
  CHECK(tt::linearize(f, v).lin(v) == 36);
  CHECK(equal(tt::vmap([&](auto s) { return sum(tt::grad(f)(tt::eval(v * s))); })(v), vec{14, 56, 126}));
  CHECK(equal(tt::vmap([](auto s) { const no_grad inside; return s * s; })(v), vec{1, 4, 9}));
  CHECK(tt::grad([](auto x) {
    auto c = x;
    {
      const no_grad inside;  // older than the jvp
      c = tt::jvp(cube, x, 1.0).y_dot;
    }
    return c * x;
  })(2.0) == 12);
  const no_grad outside;
  CHECK(tt::jvp(cube, 2.0, 1.0).y_dot == 12);
  CHECK(tt::jacfwd(cube)(2.0) == 12);
}
TEST_CASE("rule 22: kinks, the same in forward and reverse, scalars and arrays") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  CHECK(slope([](auto x) { return abs(x); }, 0.0) == 0);
  CHECK(slope([](auto x) { return relu(x); }, 0.0) == 0);
  CHECK(slope([](auto x) { return sign(x); }, 0.0) == 0);
  CHECK(slope([](auto x) { return sqrt(x); }, 0.0) == inf);
  CHECK(slope([](auto x) { return clamp(x, 1.0, 2.0); }, 1.0) == 1);
  CHECK(slope([](auto x) { return clamp(x, 1.0, 2.0); }, 2.0) == 1);
  CHECK(slope([](auto x) { return clamp(x, 1.0, 2.0); }, 2.5) == 0);
  CHECK(slope([](auto x) { return maximum(x, 1.0); }, 1.0) == 0.5);
  CHECK(slope([](auto x) { return minimum(x, 1.0); }, 1.0) == 0.5);
  CHECK(slope([](auto x) { return pow(x, 0.0); }, 0.0) == 0);
  CHECK(slope([](auto x) { return pow(x, 3.0); }, -2.0) == 12);
  CHECK(slope([](auto y) { return pow(0.0, y); }, 2.0) == 0);
  CHECK(slope([](auto y) { return pow(0.0, y); }, 0.0) == 0);
  const auto both = [](const auto& f, const vec& x, const vec& expected) {
    CHECK(equal(tt::grad(f)(x), expected));
    CHECK(equal(tt::jacfwd(f)(x), expected));
  };
  both([](const auto& x) { return norm(x); }, vec{0, 0}, vec{0, 0});
  both([](const auto& x) { return max(x); }, vec{3, 1, 3}, vec{0.5, 0, 0.5});
  both([](const auto& x) { return min(x); }, vec{1, 1, 1, 1}, vec{0.25, 0.25, 0.25, 0.25});
  both([](const auto& x) { return prod(x); }, vec{2, 0, 3}, vec{0, 6, 0});
  both([](const auto& x) { return prod(x); }, vec{0, 0, 3}, vec{0, 0, 0});
}

TEST_CASE_TEMPLATE("numeric_limits of scalars of a transform are those of the element type", S, tt::dual<double>, tt::dual<double, 3>, tt::var<double>, tt::batched<double>,
                   tt::var<tt::dual<double>>, tt::batched<tt::var<double>>, tt::dual<float>) {
  using L = std::numeric_limits<S>;
  using T = tt::elem_t<S>;
  using E = std::numeric_limits<T>;
  static_assert(L::is_specialized && L::is_signed && !L::is_integer && L::has_infinity && L::is_iec559 && L::digits == E::digits);
  static_assert(std::is_same_v<decltype(L::infinity()), S>);
  const auto is = [](const S& a, T b) { return to_string(a) == to_string(S(b)); };
  CHECK(is(L::infinity(), E::infinity()));
  CHECK(is(L::max(), E::max()));
  CHECK(is(L::min(), E::min()));
  CHECK(is(L::lowest(), E::lowest()));
  CHECK(is(L::epsilon(), E::epsilon()));
  CHECK(is(L::round_error(), T(0.5)));
  CHECK(is(L::quiet_NaN(), E::quiet_NaN()));
  CHECK(is(L::denorm_min(), E::denorm_min()));
}
template <class T> void exchange(T& a, T& b) { swap(a, b); }  // by argument-dependent lookup alone
TEST_CASE("swap in code of any scalar") {
  const auto second = [](const auto& x) {
    auto a = x * 1.0, b = x * 3.0;
    exchange(a, b);
    using std::swap;
    swap(a, b);
    std::swap(a, b);
    return a;
  };
  CHECK(tt::grad(second)(2.0) == 3);
  CHECK(tt::jvp(second, 2.0, 1.0).y_dot == 3);
  CHECK(tt::vmap(second)(tt::tensor<double, 1>{1, 2})(1) == 6);
  CHECK(tt::grad(tt::grad(second))(2.0) == 0);
}
TEST_CASE("numeric_limits in code of any scalar") {
  const auto smallest = [](const auto& x) {  // a search that starts from infinity
    using S = std::remove_cvref_t<decltype(x)>;
    using std::min;
    S best = std::numeric_limits<S>::infinity();
    for (int k = 0; k < 3; ++k) best = min(best, S((x - k) * (x - k)));
    return best;
  };
  CHECK(smallest(1.25) == 0.0625);
  CHECK(tt::grad(smallest)(1.25) == 0.5);
  CHECK(tt::jvp(smallest, 1.25, 1.0).y_dot == 0.5);
  CHECK(tt::vmap(smallest)(tt::tensor<double, 1>{1.25, 5})(1) == 9);
  static_assert(!std::numeric_limits<tt::tensor<double, 1>>::is_specialized);
}

TEST_CASE("the conditional operator takes a captured variable beside a local of the inner scalar") {
  const tt::tensor<double, 1> v{1, 2, 3};
  const bool yes = v(0) > 0;
  CHECK(tt::grad([&](auto x) { return tt::grad([&](auto y) { auto z = yes ? x : y; return z * x * y; }, tt::closing_over(x))(2.0); })(3.0) == 6);
  CHECK(tt::grad([&](auto x) { return sum(tt::vmap([&](auto t) { auto z = yes ? x : t; return z * t; }, tt::closing_over(x))(v)); })(3.0) == 6);
  CHECK(tt::jvp([&](auto x) { return tt::jvp([&](auto y) { return (yes ? y * y : x * 1.0) * x; }, 2.0, 1.0, tt::closing_over(x)).y_dot; }, 3.0, 1.0).y_dot == 4);
}
}  // namespace contract_rules_test
