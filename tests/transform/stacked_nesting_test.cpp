// Stacked aggregates between other transforms: closed forms, and stacking of what each example gives alone.
#include <doctest/doctest.h>

#include <ttensor/all.hpp>

namespace stacked_nesting_test {
namespace tt = ttensor;
using tt::in_axes, tt::none, tt::stacked, tt::tensor;
using doctest::Approx;

namespace {
template <class T> struct line { tensor<T, 1> w; T b; double rate = 1; };
constexpr auto f = [](const auto& p, const auto& x) { return sum(tanh(p.w * x)) * p.b * p.rate + p.b * p.b; };
const line<double> p{{0.5, -1}, 2};
const tensor<double, 2> xs{{1, 2}, {3, -1}, {0.5, 1}};
template <int R> double distance(const tensor<double, R>& a, const tensor<double, R>& b) {
  REQUIRE(a.shape() == b.shape());
  return double(tt::max(abs(a - b)));
}
}  // namespace

TEST_CASE("captured variables: the stack holds the outer level") {
  const double d = tt::grad([&](auto a) {  // sum over x of a^3 (x0 + x1)^2
    const auto s = tt::vmap([&](const auto& x) { return line<std::remove_cvref_t<decltype(a * sum(x))>>{x * a, a * sum(x)}; })(xs);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(s)>, line<stacked<decltype(a), 1>>>);
    const auto t = tt::vmap([&](const auto& q) { return sum(q.w) * q.b * a; })(s);
    return sum(t);
  })(2.0);
  CHECK(d == Approx(3 * 4 * (9 + 4 + 2.25)));
}

TEST_CASE("jvp and vjp of a map from aggregates to aggregates") {
  const auto g = tt::per_sample_grad(f)(p, xs);
  const auto cubic = [](const auto& q) {
    return tt::vmap([](const auto& r) { return line<std::remove_cvref_t<decltype(r.b * 1.0)>>{r.w * r.b, r.b * r.b, r.rate}; })(q);
  };
  const auto forward = tt::jvp(cubic, g, g);  // homogeneous of degree 2
  CHECK(distance<2>(forward.y_dot.w, 2.0 * forward.y.w) < 1e-15);
  CHECK(distance<1>(forward.y_dot.b, 2.0 * forward.y.b) < 1e-15);
  const auto reverse = tt::vjp(cubic, g);
  const auto back = reverse.pull(reverse.y);
  CHECK(distance<2>(back.w, reverse.y.w * unsqueeze(g.b, 1)) < 1e-15);
  CHECK(distance<1>(back.b, sum(reverse.y.w * g.w, 1) + reverse.y.b * 2.0 * g.b) < 1e-15);
}

TEST_CASE("second derivatives of every example") {
  const auto h = tt::vmap(tt::hessian(f), in_axes<none, 0>)(p, xs);
  const auto hv = tt::vmap([](const auto& q, const auto& x) { return tt::hvp([&](const auto& r) { return f(r, x); }, q, q); }, in_axes<none, 0>)(p, xs);
  static_assert(std::is_same_v<decltype(hv), const line<stacked<double, 1>>>);
  for (int i = 0; i < 3; ++i) {
    const double t0 = std::tanh(0.5 * xs(i, 0)), t1 = std::tanh(-xs(i, 1)), s0 = 1 - t0 * t0, s1 = 1 - t1 * t1;
    CHECK(get<0>(get<0>(h))(i, 0, 0) == Approx(2 * -2 * t0 * s0 * xs(i, 0) * xs(i, 0)));
    CHECK(get<0>(get<0>(h))(i, 0, 1) == 0);
    CHECK(get<1>(get<0>(h))(i, 1) == Approx(s1 * xs(i, 1)));
    CHECK(get<1>(get<1>(h))(i) == 2);
    CHECK(hv.b(i) == Approx(0.5 * s0 * xs(i, 0) - s1 * xs(i, 1) + 4));
  }
}

TEST_CASE("control flow and constants over stacked aggregates") {
  const auto g = tt::per_sample_grad(f)(p, xs);
  const auto c = tt::grad([](const auto& q) {
    const auto fixed = tt::stop_gradient(q);
    return sum(tt::cond(true, [](const auto& r) { return r; }, [](const auto& r) { return r; }, q).w * fixed.w);
  })(g);
  CHECK(distance<2>(c.w, g.w) == 0);
  const auto turned = tt::vmap([](const auto& q) {
    return tt::cond(q.b > 4.0, [](const auto& r) { return r; }, [](const auto& r) { return line<std::remove_cvref_t<decltype(r.b * 1.0)>>{r.w * 0.0, -r.b, r.rate}; }, q);
  })(g);
  for (int i = 0; i < 3; ++i) CHECK(turned.b(i) == (g.b(i) > 4 ? g.b(i) : -g.b(i)));
  CHECK(turned.w(1, 0) == (g.b(1) > 4 ? g.w(1, 0) : 0));
}

TEST_CASE("an array of the stack by itself is an ordinary tensor") {
  const auto g = tt::per_sample_grad(f)(p, xs);
  const auto d = tt::grad([](const auto& w) { return sum(w * w); })(g.w);
  static_assert(std::is_same_v<decltype(d), const tensor<double, 2>>);
  CHECK(distance<2>(d, 2.0 * g.w) == 0);
  const auto y = tt::vmap([](const auto& w, const auto& b) { return sum(w) * b; })(g.w, g.b);
  CHECK(y(2) == Approx(sum(g.w(2)) * g.b(2)));
  CHECK(tt::jacfwd([](const auto& w) { return sum(w, 1); })(g.w).shape() == tt::dims<3>{{3, 3, 2}});
}
}  // namespace stacked_nesting_test
