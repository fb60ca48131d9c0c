// Aggregates under vmap and per_sample_grad: S<stacked<T, K>> as argument and result. Truth: closed forms and loops over examples.
#include <doctest/doctest.h>

#include <string>
#include <ttensor/all.hpp>

namespace stacked_test {
namespace tt = ttensor;
using tt::batched, tt::index_t, tt::stacked, tt::tensor;
using doctest::Approx;

namespace {
template <class T> struct line {  // y = w.x + b, loss s r^2 / 2
  tensor<T, 1> w;
  T b, s;
  double rate = 0.25;
  std::string name = "line";
};
template <class T> struct net {  // every kind of part
  std::vector<line<T>> layers;
  std::tuple<T, tensor<T, 1>> ends;
  std::array<T, 2> two;
  line<T> last;
  int steps = 3;
};
template <class T> struct with_defaults {
  T a = 1, b = -2.5;
  tensor<T, 1> w;
};
template <class T> struct mixed {  // a static number inside a tuple
  tensor<T, 1> w;
  std::tuple<T, int> t;
};
template <class T, int N> struct polynomial {  // more parameters: rebinding by a member
  template <class U> using rebind = polynomial<U, N>;
  std::array<T, N> c;
  double at = 0;
};
template <class T, class Activation> struct neuron {
  template <class U> using rebind = neuron<U, Activation>;
  tensor<T, 1> w;
  Activation activation;
};
constexpr auto loss = [](const auto& p, const auto& x, const auto& y) {
  const auto r = dot(p.w, x) + p.b - y;
  return 0.5 * p.s * r * r;
};
const tensor<double, 2> xs{{1, 2, 3}, {-1, 0.5, 2}, {0.25, -4, 1}, {2, 2, -2}};
const tensor<double, 1> ys{1, -2, 3, 0.5};
const line<double> start{{0.5, -1, 2}, 0.75, 3};
double residual(index_t i) { return 0.5 * xs(i, 0) - xs(i, 1) + 2 * xs(i, 2) + 0.75 - ys(i); }
template <int R> double distance(const tensor<double, R>& a, const tensor<double, R>& b) {
  REQUIRE(a.shape() == b.shape());
  return a.size() ? double(tt::max(abs(a - b))) : 0.0;
}
template <class T, int R> tensor<T, R> twice(const tensor<T, R>& x) { return x * 2; }
double total(const tensor<double, 2>& x) { return sum(x); }
}  // namespace

TEST_CASE("the arrays of a stacked aggregate are tensors of rank R + K") {
  using S = line<stacked<double, 1>>;
  static_assert(std::is_base_of_v<tensor<double, 2>, decltype(S::w)> && std::is_convertible_v<tensor<double, 2>, decltype(S::w)>);
  static_assert(std::is_base_of_v<tensor<double, 1>, decltype(S::b)> && std::is_convertible_v<tensor<double, 1>, decltype(S::b)>);
  static_assert(std::is_base_of_v<tensor<double, 3>, tensor<stacked<double, 2>, tt::extents<4>>>);
  S s{{{1, 2}, {3, 4}}, {5, 6}, tensor<double, 1>{7, 8}};
  CHECK(s.w.shape() == tt::dims<2>{{2, 2}});
  CHECK(total(s.w) == 10);
  CHECK(twice(s.w)(1, 1) == 8);
  const tensor<double, 2> copy = s.w;
  s.w(0, 1) = 20;
  s.w += 1.0;
  s.b = s.b * s.s;
  CHECK(distance<2>(copy, {{1, 2}, {3, 4}}) == 0);
  CHECK(distance<2>(s.w, {{2, 21}, {4, 5}}) == 0);
  CHECK(distance<1>(s.b, {35, 48}) == 0);
  s.w = copy;
  S other = s;
  other.w = std::move(s.w);
  other.w(0) = 9.0;
  CHECK(distance<2>(copy, {{1, 2}, {3, 4}}) == 0);
  CHECK(distance<2>(other.w, {{9, 9}, {3, 4}}) == 0);
  CHECK(distance<2>(matmul(other.w, copy), {{36, 54}, {15, 22}}) == 0);
}

TEST_CASE("per_sample_grad of an aggregate is the gradient of each example") {
  const auto g = tt::per_sample_grad(loss)(start, xs, ys);
  static_assert(std::is_same_v<decltype(g), const line<stacked<double, 1>>>);
  CHECK(g.rate == 0.25);
  CHECK(g.name == "line");
  CHECK(g.w.shape() == tt::dims<2>{{4, 3}});
  for (index_t i = 0; i < 4; ++i) {
    const double r = residual(i);
    for (index_t j = 0; j < 3; ++j) CHECK(g.w(i, j) == Approx(3 * r * xs(i, j)));
    CHECK(g.b(i) == Approx(3 * r));
    CHECK(g.s(i) == Approx(0.5 * r * r));
    const line<double> one = tt::grad(loss)(start, xs(i), ys(i));
    CHECK(distance<1>(g.w(i), one.w) < 1e-14);
  }
  // any number of arguments, trees among them
  const auto unweighted = [](const auto& p, const auto& x) { return loss(p, x, 0.5); };
  CHECK(tt::per_sample_grad(unweighted)(start, xs).b(2) == Approx(3 * (residual(2) + ys(2) - 0.5)));
  const auto weighted = [](const auto& p, const auto& xy, const auto& a, const auto& b) { return a * b * loss(p, xy.first, xy.second); };
  CHECK(tt::per_sample_grad(weighted)(start, std::pair{xs, ys}, ys, ys + 1.0).b(1) == Approx(3 * residual(1) * ys(1) * (ys(1) + 1)));
  // no examples
  const auto none = tt::per_sample_grad(loss)(start, tensor<double, 2>(0, 3), tensor<double, 1>(0));
  CHECK(none.w.shape() == tt::dims<2>{{0, 3}});
  CHECK(none.b.size() == 0);
}

TEST_CASE("value and gradient of every example; auxiliary results") {
  const auto r = tt::vmap(tt::value_and_grad(loss), tt::in_axes<tt::none, 0, 0>)(start, xs, ys);
  const auto aux = tt::vmap(tt::grad([](const auto& p, const auto& x, const auto& y) { return std::pair{loss(p, x, y), x * p.b}; }, tt::has_aux),
                            tt::in_axes<tt::none, 0, 0>)(start, xs, ys);
  for (index_t i = 0; i < 4; ++i) {
    CHECK(r.value(i) == Approx(1.5 * residual(i) * residual(i)));
    CHECK(r.grad.b(i) == Approx(3 * residual(i)));
    CHECK(aux.grad.s(i) == Approx(0.5 * residual(i) * residual(i)));
    CHECK(aux.aux(i, 2) == Approx(xs(i, 2) * 0.75));
  }
}

TEST_CASE("every kind of part gains and loses the axis") {
  const auto make = [](const auto& x) {  // x: scalar
    using T = std::remove_cvref_t<decltype(x * 1.0)>;
    const tensor<double, 1> c{1, 2};
    const auto l = [&](double k) { return line<T>{x * c * k, x * k, T(k), k, std::to_string(k)}; };
    return net<T>{{l(1), l(2), l(3)}, {x * x, x + c}, {x, -x}, l(4), 7};
  };
  const tensor<double, 1> v{1, -2, 3};
  const auto n = tt::vmap(make)(v);
  static_assert(std::is_same_v<decltype(n), const net<stacked<double, 1>>>);
  CHECK(n.steps == 7);
  REQUIRE(n.layers.size() == 3);
  CHECK(n.layers[2].rate == 3);
  CHECK(n.layers[2].name == std::to_string(3.0));
  CHECK(distance<2>(n.layers[1].w, {{2, 4}, {-4, -8}, {6, 12}}) == 0);
  CHECK(distance<1>(n.layers[1].s, {2, 2, 2}) == 0);  // the same for every example: repeated
  CHECK(distance<1>(std::get<0>(n.ends), {1, 4, 9}) == 0);
  CHECK(distance<2>(std::get<1>(n.ends), {{2, 3}, {-1, 0}, {4, 5}}) == 0);
  CHECK(distance<1>(n.two[1], {-1, 2, -3}) == 0);
  const auto back = tt::vmap([](const auto& m) {  // m: net<batched<double>>
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(m)>, net<batched<double>>>);
    return m.steps * (sum(m.layers[2].w) + m.layers[0].b * m.two[1]) + sum(std::get<1>(m.ends)) + m.last.rate * m.last.b;
  })(n);
  for (index_t i = 0; i < 3; ++i) {
    const double x = v(i);
    CHECK(back(i) == Approx(7 * (9 * x - x * x) + 2 * x + 3 + 16 * x));
  }
}

TEST_CASE("nested vmap adds axes up") {
  const tensor<double, 1> u{1, 2}, v{3, 4, 5};
  const auto table = tt::vmap([&](const auto& a) {
    return tt::vmap([&](const auto& b) {
      using T = std::remove_cvref_t<decltype(a * b)>;
      return line<T>{a * b * tensor<double, 1>{1, 10}, a + b, a * 1.0 + T(0)};
    })(v);
  })(u);
  static_assert(std::is_same_v<decltype(table), const line<stacked<double, 2>>>);
  CHECK(table.w.shape() == tt::dims<3>{{2, 3, 2}});
  const auto f = [](const auto& p) { return sum(p.w) + p.b * p.s; };
  const auto y = tt::vmap(tt::vmap(f))(table);
  const auto turned = tt::vmap(tt::vmap(f), tt::in_axes<1>)(table);  // axis 1 outside, axis 0 inside
  for (index_t i = 0; i < 2; ++i)
    for (index_t j = 0; j < 3; ++j) {
      CHECK(table.b(i, j) == u(i) + v(j));
      CHECK(table.s(i, j) == u(i));
      CHECK(y(i, j) == Approx(11 * u(i) * v(j) + (u(i) + v(j)) * u(i)));
      CHECK(turned(j, i) == y(i, j));
    }
}

TEST_CASE("aggregates inside tuples, pairs, arrays and vectors") {
  const auto g = tt::per_sample_grad(loss)(start, xs, ys);
  const auto out = tt::vmap([](const auto& p, const auto& x) {
    return std::tuple{p, std::pair{x, p}, std::array{p, p}, std::vector{p}, sum(x)};
  })(g, xs);
  CHECK(distance<2>(std::get<0>(out).w, g.w) == 0);
  CHECK(distance<1>(std::get<1>(out).second.b, g.b) == 0);
  CHECK(distance<2>(std::get<1>(out).first, xs) == 0);
  CHECK(distance<1>(std::get<2>(out)[1].s, g.s) == 0);
  CHECK(std::get<3>(out)[0].name == "line");
  const auto again = tt::vmap([](const auto& t, const auto& a, const auto& v) { return sum(std::get<0>(t).w) * a[1].s + v[0].b * std::get<1>(t).second.b; })(
      std::tuple{g, std::get<1>(out)}, std::get<2>(out), std::get<3>(out));
  for (index_t i = 0; i < 4; ++i) CHECK(again(i) == Approx(sum(g.w(i)) * g.s(i) + g.b(i) * g.b(i)));
}

TEST_CASE("derivatives with respect to stacked parameters, and through per-sample gradients") {
  const line<stacked<double, 1>> ensemble{{{1, 2, 3}, {0.5, -1, 2}}, {0.25, 0.75}, {2, 3}};
  const auto mean_loss = [](const auto& p) { return sum(tt::vmap(loss, tt::in_axes<0, tt::none, tt::none>)(p, xs(1), ys(1))); };
  const auto g = tt::grad(mean_loss)(ensemble);
  static_assert(std::is_same_v<decltype(g), const line<stacked<double, 1>>>);
  const double r0 = -1 + 1 + 6 + 0.25 + 2;
  CHECK(g.b(0) == Approx(2 * r0));
  CHECK(g.w(0, 2) == Approx(2 * r0 * 2));
  CHECK(g.b(1) == Approx(3 * residual(1)));
  CHECK(g.s(1) == Approx(0.5 * residual(1) * residual(1)));
  auto direction = ensemble;
  tt::tree::for_each([](auto& l) { l = l * 0.0; }, direction);
  direction.w(1, 0) = 1;
  CHECK(tt::jvp(mean_loss, ensemble, direction).y_dot == Approx(3 * residual(1) * xs(1, 0)));
  // d/da sum_i b-gradient(a w)_i^2 at a = 1: 2 s^2 sum_i r_i (w.x_i)
  const double d = tt::grad([&](auto a) {
    const line<decltype(a)> p{a * start.w, decltype(a)(start.b), decltype(a)(start.s)};
    const auto each = tt::per_sample_grad(loss)(p, xs, ys);
    return sum(each.b * each.b);
  })(1.0);
  double want = 0;
  for (index_t i = 0; i < 4; ++i) want += 18 * residual(i) * (residual(i) - 0.75 + ys(i));
  CHECK(d == Approx(want));
}

TEST_CASE("aggregates with more parameters") {
  const auto horner = [](const auto& p, const auto& x) { return p.c[0] + x * (p.c[1] + x * p.c[2]) + p.at; };
  const polynomial<double, 3> p{{1, 2, 3}, 0.5};
  const auto g = tt::per_sample_grad(horner)(p, ys);
  static_assert(std::is_same_v<decltype(g), const polynomial<stacked<double, 1>, 3>>);
  CHECK(distance<1>(g.c[0], {1, 1, 1, 1}) == 0);
  CHECK(distance<1>(g.c[2], ys * ys) == 0);
  CHECK(g.at == 0.5);
  CHECK(distance<1>(tt::vmap([](const auto& q) { return q.c[1] + q.at; })(g), ys + 0.5) == 0);
  const auto square = [](const auto& a) { return a * a; };
  const neuron<double, decltype(square)> n{{1, 2, 3}, square};
  const auto gn = tt::per_sample_grad([](const auto& m, const auto& x) { return m.activation(dot(m.w, x)); })(n, xs);
  for (index_t i = 0; i < 4; ++i) CHECK(gn.w(i, 1) == Approx(2 * (xs(i, 0) + 2 * xs(i, 1) + 3 * xs(i, 2)) * xs(i, 1)));
}

TEST_CASE("scan slices stacked aggregates and stacks the aggregates that its body returns") {
  const line<stacked<double, 1>> each{{{1, 2}, {3, 4}, {5, 6}}, {1, 10, 100}, {2, 3, 4}};
  const auto body = [](const auto& c, const auto& p) {
    using T = std::remove_cvref_t<decltype(c * p.b)>;
    return std::pair{c + p.b, line<T>{p.w * c, p.s * c, p.s * T(1)}};
  };
  const auto [last, ys_] = tt::scan(body, 1.0, each);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(ys_)>, line<stacked<double, 1>>>);
  CHECK(last == 112);
  CHECK(distance<2>(ys_.w, {{1, 2}, {6, 8}, {60, 72}}) == 0);
  CHECK(distance<1>(ys_.b, {2, 6, 48}) == 0);
  CHECK(ys_.name == "line");
  const auto g = tt::grad([&](const auto& q) { return sum(tt::scan(body, 1.0, q).second.w); })(each);  // 3 c0 + 7 (c0 + b0) + 11 (c0 + b0 + b1)
  CHECK(distance<1>(g.b, {18, 11, 0}) == 0);
  CHECK(distance<2>(g.w, {{1, 1}, {2, 2}, {12, 12}}) == 0);
}

TEST_CASE("a static number in a tuple of an aggregate stays as it is") {
  const auto f = [](const auto& p, const auto& x) { return sum(p.w * p.w) * x * std::get<0>(p.t); };
  const auto g = tt::per_sample_grad(f)(mixed<double>{{1, 2}, {3.0, 4}}, tensor<double, 1>{1, 10});
  CHECK(distance<2>(g.w, {{6, 12}, {60, 120}}) == 0);
  CHECK(distance<1>(std::get<0>(g.t), {5, 50}) == 0);
  CHECK(std::get<1>(g.t) == 4);
}

TEST_CASE("fields with defaults, T b = 1") {
  const auto f = [](const auto& p, const auto& x) { return p.a * p.b * x + sum(p.w) * x; };
  const auto g = tt::per_sample_grad(f)(with_defaults<double>{1, 2, {3, 4}}, tensor<double, 1>{1, 2, 3});
  CHECK(distance<1>(g.a, {2, 4, 6}) == 0);
  CHECK(distance<2>(g.w, {{1, 1}, {2, 2}, {3, 3}}) == 0);
  const auto made = tt::vmap([](auto t) { return with_defaults<decltype(t)>{t, t * 2.0, tensor<decltype(t), 1>{t}}; })(tensor<double, 1>{1, 2});
  CHECK(distance<1>(made.b, {2, 4}) == 0);
  CHECK(distance<1>(tt::vmap([](const auto& p) { return p.a * p.b; })(made), {2, 8}) == 0);
  CHECK(tt::stacked<double, 1>(3).size() == 3);
  CHECK_THROWS_AS((tt::stacked<double, 1>(-3)), tt::shape_error);
  CHECK(tt::stacked<double, 1>{1.0, 2.0}(1) == 2);
}
}  // namespace stacked_test
