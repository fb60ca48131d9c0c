// The contract of vmap, against loops over the slices.
#include <doctest/doctest.h>

#include <ttensor/all.hpp>

namespace vmap_test {
namespace tt = ttensor;
using tt::axis, tt::in_axes, tt::in_axes_tree, tt::index_t, tt::none, tt::out_axes, tt::tensor;
using doctest::Approx;

namespace {
template <int R> double distance(const tensor<double, R>& a, const tensor<double, R>& b) {
  REQUIRE(a.shape() == b.shape());
  return a.size() ? double(tt::max(abs(a - b))) : 0.0;
}
bool same(const auto& a, const auto& b) { return distance(tt::eval(a), tt::eval(b)) == 0; }
template <class T> struct affine { tensor<T, 2> m; tensor<T, 1> c; int power = 1; };
constexpr auto f = [](const auto& m, const auto& x) { return tanh(matmul(m, x)) + x(0); };
const tensor<double, 3> ms = tt::reshape(tt::linspace(-1.0, 1.0, 24), 2, 3, 4);
const tensor<double, 2> xs = tt::reshape(tt::linspace(0.5, 2.0, 8), 2, 4);
const tensor<double, 2> at_1{{1, 2}, {3, 4}, {5, 6}};
}  // namespace

TEST_CASE("equals stacking the slices; axes of arguments and results") {
  tensor<double, 2> want(2, 3);
  for (index_t i = 0; i < 2; ++i) want(i) = f(ms(i), xs(i));
  CHECK(distance<2>(tt::vmap(f)(ms, xs), want) < 1e-15);
  CHECK(distance<2>(tt::vmap(f, in_axes<2, 1>, out_axes<1>)(tensor<double, 3>(moveaxis(ms, 0, 2)), tensor<double, 2>(transpose(xs))), tensor<double, 2>(transpose(want))) < 1e-15);
  CHECK(distance<2>(tt::vmap(f, out_axes<-1>, in_axes<-2, -1>)(tensor<double, 3>(moveaxis(ms, 0, 1)), tensor<double, 2>(transpose(xs))), tensor<double, 2>(transpose(want))) < 1e-15);
  for (index_t i = 0; i < 2; ++i) want(i) = f(ms(1), xs(i));
  CHECK(distance<2>(tt::vmap(f, in_axes<none, 0>)(ms(1), xs), want) < 1e-15);
  const auto both = tt::vmap([](const auto& x) { return std::pair{outer(x, x), sum(x)}; }, out_axes<-1>)(xs);
  CHECK(both.first.shape() == tt::dims<3>{{4, 4, 2}});
  CHECK(both.first(1, 2, 1) == Approx(xs(1, 1) * xs(1, 2)));
  CHECK(both.second(1) == Approx(sum(xs(1))));
}

TEST_CASE("axes of parts of trees") {
  const auto g = [](const auto& t, const auto& y) { return sum(std::get<0>(t)) * std::get<1>(t)(1) + std::get<1>(std::get<2>(t)) * y; };
  const tensor<double, 1> shared{7, 8}, two{10, 20};
  const auto t = std::tuple{at_1, shared, std::pair{1, two}};
  const auto y = tt::vmap(g, in_axes_tree(std::tuple{axis<1>, none, std::pair{none, axis<0>}}, none))(t, 3.0);
  CHECK(distance<1>(y, {9 * 8 + 30, 12 * 8 + 60}) == 0);
  CHECK(distance<1>(tt::vmap(g, in_axes_tree(in_axes_tree(axis<-1>, none, in_axes_tree(none, axis<0>)), axis<0>))(t, two), {72 + 100, 96 + 400}) == 0);
  // the fields of a stacked aggregate on different axes; static fields have an entry too
  const affine<tt::stacked<double, 1>> a{tensor<double, 3>(moveaxis(ms, 0, 2)), tensor<double, 2>(transpose(tt::reshape(tt::arange<double>(6), 2, 3))), 2};
  const auto apply = [](const auto& p, const auto& x) { return (matmul(p.m, x) + p.c) * p.power; };
  const auto z = tt::vmap(apply, in_axes_tree(in_axes_tree(axis<2>, axis<1>, none), axis<0>))(a, xs);
  for (index_t i = 0; i < 2; ++i)
    CHECK(distance<1>(z(i), (matmul(ms(i), xs(i)) + tt::arange<double>(3) + 3.0 * double(i)) * 2.0) < 1e-15);
}

TEST_CASE("sizes that differ, nothing to map, axes that do not exist") {
  CHECK_THROWS_WITH_AS(tt::vmap(f, in_axes<0, 1>)(ms, xs), doctest::Contains("[vmap] mapped sizes differ: 2 and 4"), tt::shape_error);
  CHECK_THROWS_AS(tt::vmap([](const auto& a, const auto& b) { return std::pair{a, b}; })(xs, at_1), tt::shape_error);
  const auto error_of = [](const auto& p, const auto& x, const auto& y) { return sum(p * x) - y; };
  CHECK_THROWS_WITH_AS(tt::per_sample_grad(error_of)(xs(0), xs, tensor<double, 1>{1, 2, 3}), doctest::Contains("[per_sample_grad] mapped sizes differ: 2 and 3"), tt::shape_error);
  CHECK_THROWS_WITH_AS(tt::vmap([](const auto& v) { return sum(v[0]); })(std::vector<tensor<double, 2>>{}), doctest::Contains("[TT-S17]"), tt::shape_error);
  CHECK_THROWS_AS(tt::vmap(f, in_axes<3, 0>)(ms, xs), tt::axis_error);
  CHECK_THROWS_AS(tt::vmap(f, out_axes<2>)(ms, xs), tt::axis_error);
}

TEST_CASE("results that are not mapped are repeated; out_axes<none> leaves them alone") {
  const tensor<double, 1> c{4, 5};
  const auto y = tt::vmap([&](const auto& x) { return std::tuple{c, 2.5, 3, sum(x), tt::fixed<double, 2>{1, 2}}; })(at_1);
  CHECK(distance<2>(std::get<0>(y), {{4, 5}, {4, 5}, {4, 5}}) == 0);
  CHECK(distance<1>(std::get<1>(y), {2.5, 2.5, 2.5}) == 0);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(std::get<2>(y))>, tensor<int, 1>>);
  CHECK(std::get<2>(y)(2) == 3);
  CHECK(std::get<4>(y).shape() == tt::dims<2>{{3, 2}});
  const auto once = tt::vmap([&](const auto& x) { return std::pair{c, decltype(sum(x))(6)}; }, out_axes<none>)(at_1);
  static_assert(std::is_same_v<decltype(once), const std::pair<tensor<double, 1>, double>>);
  CHECK(distance<1>(once.first, c) == 0);
  CHECK(once.second == 6);
  CHECK_THROWS_WITH_AS(tt::vmap([](const auto& x) { return sum(x); }, out_axes<none>)(at_1), doctest::Contains("give it an axis [TT-A03]"), tt::axis_error);
}

TEST_CASE("no examples") {
  const auto y = tt::vmap([](const auto& x, const auto& w) { return std::tuple{matmul(w, x), sum(x), tt::max(x * 2.0), 1.0, w}; }, in_axes<0, none>)(
      tensor<double, 2>(0, 4), ms(0));
  CHECK(std::get<0>(y).shape() == tt::dims<2>{{0, 3}});
  CHECK(std::get<1>(y).size() == 0);
  CHECK(std::get<2>(y).size() == 0);
  CHECK(std::get<3>(y).size() == 0);
  CHECK(std::get<4>(y).shape() == tt::dims<3>{{0, 3, 4}});
  const auto g = tt::grad([](const auto& w) { return sum(tt::vmap([](const auto& x, const auto& v) { return sum(x * v); }, in_axes<0, none>)(tensor<double, 2>(0, 3), w)); })(tensor<double, 1>{1, 2, 3});
  CHECK(distance<1>(g, {0, 0, 0}) == 0);
}

TEST_CASE("an unmapped parameter: one gradient an example under vmap(grad), their sum under grad(vmap)") {
  const auto h = [](const auto& w, const auto& x) { return sum(w * w * x); };  // 2 w x
  const tensor<double, 1> w{3, -1};
  const auto each = tt::vmap(tt::grad(h), in_axes<none, 0>)(w, at_1);
  const auto all = tt::grad([&](const auto& v) { return sum(tt::vmap(h, in_axes<none, 0>)(v, at_1)); })(w);
  for (index_t i = 0; i < 3; ++i)
    for (index_t j = 0; j < 2; ++j) CHECK(each(i, j) == 2 * w(j) * at_1(i, j));
  CHECK(distance<1>(all, {2 * 3 * 9, 2 * -1 * 12}) == 0);
}

TEST_CASE("a tensor made inside starts unmapped and is promoted by its first mapped write; side effects happen once") {
  int calls = 0;
  const auto y = tt::vmap([&](const auto& x) {
    ++calls;
    using T = std::remove_cvref_t<decltype(sum(x))>;
    tensor<T, 2> a(2, 2);
    a(0, 0) = 5.0;
    a(1) = x;          // promotes
    a(0, 1) = x(1) * 2.0;
    tensor<T, 1> untouched{1, 2};
    return std::pair{a, untouched};
  })(at_1);
  CHECK(calls == 1);
  CHECK(distance<3>(y.first, {{{5, 4}, {1, 2}}, {{5, 8}, {3, 4}}, {{5, 12}, {5, 6}}}) == 0);
  CHECK(distance<2>(y.second, {{1, 2}, {1, 2}, {1, 2}}) == 0);
}

TEST_CASE("integers and masks are mapped as well") {
  const tensor<int, 2> k{{1, 2}, {3, 4}};
  const auto y = tt::vmap([](const auto& n) { return std::pair{sum(n), n > 2}; })(k);
  CHECK(y.first(1) == 7);
  CHECK(!y.second(0, 1));
  CHECK(y.second(1, 0));
  CHECK(distance<1>(tt::vmap([](const auto& n, const auto& x) { return sum(where(n > 1, x, 0.0)); })(k, tensor<double, 2>(at_1(tt::range(0, 2)))), {2, 7}) == 0);
}

TEST_CASE("a dual whose tangent alone is mapped, in a costly function of a short array") {
  for (const tt::index_t m : {3, 40})
    for (const tt::index_t n : {1, 3, 9}) {
      const tt::tensor<double, 1> x = sin(tt::to<double>(tt::arange(n)));
      const tt::tensor<double, 2> v = reshape(tt::to<double>(tt::arange(m * n)), m, n);
      const auto f = [&](const auto& z) { return tt::eval(exp(z) * x); };
      const tt::tensor<double, 2> got = tt::vmap([&](const auto& t) { return tt::jvp(f, x, t).y_dot; })(v), want = exp(x) * x * v;
      CHECK(tt::max(abs(got - want)) < 1e-10);
    }
}

// A mask that is stored keeps only the batched kinds of its chain: its level comes from how many it has.
TEST_CASE("stored masks of an inner vmap beside variables of an outer level, and the other way round") {
  const tensor<double, 2> rows{{1, 2}, {3, 4}, {5, 6}};
  const tensor<double, 1> w{10, 20};
  CHECK(same(tt::grad([&](const auto& z) { return sum(tt::vmap([&](const auto& x) {
    const auto m = tt::eval(x > 2.0);
    return where(m, z * z, 0.0);
  })(rows)); })(w), tensor<double, 1>{40, 80}));
  CHECK(tt::grad([&](const auto& s) { return sum(tt::vmap([&](const auto& x) { return where(x(0) > 2.0, s * s, 0.0); })(rows)); })(3.0) == 12);
  CHECK(same(tt::jacfwd([&](const auto& z) { return sum(tt::vmap([&](const auto& x) {
    const auto m = tt::eval(x > 2.0);
    return where(m, z * z, 0.0);
  })(rows)); })(w), tensor<double, 1>{40, 80}));
  const tensor<double, 2> signs{{1, -1}, {-1, 1}}, at{{1, 2}, {3, 4}};
  auto masked = [&](auto inner) {
    return tt::vmap([&](const auto& y) {
      const auto m = tt::eval(y > 0.0);
      return tt::grad([&](const auto& z) { return sum(tt::vmap([&](const auto& x) { return inner(m, x); })(z)); })(at);
    })(signs);
  };
  const tensor<double, 3> want{{{2, 0}, {6, 0}}, {{0, 4}, {0, 8}}};
  CHECK(same(masked([](const auto& m, const auto& x) { return where(m, x * x, 0.0); }), want));
  CHECK(same(masked([](const auto& m, const auto& x) {
    const auto both = tt::eval(m && x > 1.5);
    return where(both, x * x, 0.0);
  }), tensor<double, 3>{{{0, 0}, {6, 0}}, {{0, 4}, {0, 8}}}));
  CHECK(same(tt::vmap([&](const auto& y) {
    return tt::grad([&](const auto& z) { return sum(tt::vmap([&](const auto& x) { return where(x > 2.0, z * y, 0.0); })(rows)); })(w);
  })(signs), 2.0 * signs));
}

TEST_CASE("results that share memory with others are values") {
  tensor<double, 2> xs{{1, 2}, {3, 4}, {5, 6}};
  auto same_rows = tt::vmap([](const auto& x) { return x; })(xs);
  auto [one, two] = tt::vmap([](const auto& x) {
    const auto y = tt::eval(x * 2.0);
    return std::tuple(y, y);
  })(xs);
  same_rows(0, 0) = 9, one(1, 1) = 9;
  CHECK(xs(0, 0) == 1);
  CHECK(two(1, 1) == 8);
  xs(2, 0) = 7;
  CHECK(same_rows(2, 0) == 5);
  // parts of a result, and one that no example differs in
  const auto parts = tt::vmap([](const auto& x) { return tt::eval(x * 3.0)(tt::range(0, 1)); })(xs);
  CHECK(same(parts, tensor<double, 2>{{3}, {9}, {21}}));
  const auto turned = tt::vmap([](const auto& x) { return tt::eval(transpose(tt::outer(x, x)))(0); })(xs);
  CHECK(same(turned, tensor<double, 2>{{1, 2}, {9, 12}, {49, 42}}));
  const auto constant = tt::vmap([](const auto&) { return tensor<double, 1>{1, 2}; })(xs);
  CHECK(same(constant, tensor<double, 2>{{1, 2}, {1, 2}, {1, 2}}));
  const auto single = tt::vmap([](const auto& x) { return tt::eval(x + 1.0); })(tensor<double, 2>{{1, 2}});
  CHECK(same(single, tensor<double, 2>{{2, 3}}));
  // gradients: a product's result is the slot's, and is added to
  const auto a = tensor<double, 2>{{1, 2}, {3, 4}};
  const auto f = [&](const auto& w, const auto& x) { return sum(matmul(w, x)) + sum(matmul(w, x) * matmul(w, x)) + sum(w * w); };
  const auto each = tt::vmap(tt::grad(f), tt::in_axes<tt::none, 0>)(a, xs);
  for (int e = 0; e < 3; ++e)
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) CHECK(each(e, i, j) == xs(e, j) + 2 * (a(i, 0) * xs(e, 0) + a(i, 1) * xs(e, 1)) * xs(e, j) + 2 * a(i, j));
}

TEST_CASE("copies of mapped numbers are values, though they share elements") {
  const tensor<double, 1> x{1, 2, 3};
  const auto [a, b, c, d, e, g] = tt::vmap([](const auto& s) {
    using S = std::remove_cvref_t<decltype(s)>;
    auto one = s * 2.0;
    auto other = one;
    other += 1.0;
    auto third = one;
    one = third * third;
    tensor<S, 1> row(2);
    row(0) = third, row(1) = third;
    const S read = row(0);
    row(0) = other;
    tensor<S, 0> single(third);
    const S kept = single();
    single += 5.0;
    return std::tuple(one, other, third, read, row, kept + 0.0 * single());
  })(x);
  CHECK(same(a, tensor<double, 1>{4, 16, 36}));
  CHECK(same(b, tensor<double, 1>{3, 5, 7}));
  CHECK(same(c, tensor<double, 1>{2, 4, 6}));
  CHECK(same(d, c));
  CHECK(same(e, tensor<double, 2>{{3, 2}, {5, 4}, {7, 6}}));
  CHECK(same(g, c));
}

TEST_CASE("an operator of mapped duals is one loop, and of duals of duals") {
  const tensor<double, 1> x = tt::linspace(0.5, 2.0, 11), y = tt::linspace(1.0, 3.0, 11);
  const auto loops = [&](auto g) {
    const auto before = tt::counts.loops;
    static_cast<void>(g(x, y));
    return tt::counts.loops - before;
  };
  const auto pushed = [](auto h) {
    return tt::vmap([h](const auto& a, const auto& b) { return tt::jvp(h, std::tuple{a, b}, std::tuple{b, a}).y_dot; });
  };
  const auto pushed_twice = [](auto h) {
    return tt::vmap([h](const auto& a, const auto& b) {
      return tt::jvp([h, b](const auto& c) { return tt::jvp([h, b](const auto& d) { return h(d, b); }, c, b).y_dot; }, a, b).y_dot;
    });
  };
  const auto two = [](const auto& a, const auto& b) { return a * b + a; };
  const auto three = [](const auto& a, const auto& b) { return atan(a * b + a); };
  CHECK(loops(pushed(three)) - loops(pushed(two)) == 1);
  CHECK(loops(pushed_twice(three)) - loops(pushed_twice(two)) == 1);
  const auto got = pushed_twice(three)(x, y);
  for (index_t i = 0; i < x.size(); ++i) {  // atan'' = -2 u / (1 + u^2)^2, u = x (y + 1), u' = y (y + 1)
    const double u = x(i) * (y(i) + 1), du = y(i) * (y(i) + 1), w = 1 + u * u;
    CHECK(got(i) == Approx(-2 * u * du * du / (w * w)).epsilon(1e-13));
  }
}

TEST_CASE("a partial that is -0 in any one example") {  // it is a zero like others, not one that takes no infinity
  const auto h = [](const auto& a, const auto& b) { return sqrt(a * b); };
  for (index_t k = 0; k < 19; ++k) {
    const tensor<double, 1> x = tt::ones<double>(19);
    tensor<double, 1> y = tt::ones<double>(19);
    y(k) = -0.0;
    const auto g = tt::vmap(tt::grad(h))(x, y);
    const auto g_dot = tt::vmap([&](const auto& a, const auto& b) { return tt::jvp([&](const auto& c) { return tt::grad(h)(c, b); }, a, b).y; })(x, y);
    for (index_t i = 0; i < 19; ++i) {
      CHECK((i == k ? std::isnan(g(i)) : g(i) == 0.5));
      CHECK((i == k ? std::isnan(g_dot(i)) : g_dot(i) == 0.5));
    }
  }
}

TEST_CASE("a mapped number that was moved from is still one") {
  const auto f = [](auto s) {
    auto y = s * 1.0;
    auto z = std::move(y);
    auto w = z;
    w = std::move(z);
    return w * y + z;
  };
  CHECK(same(tt::vmap(f)(tensor<double, 1>{2, 3}), tensor<double, 1>{6, 12}));
}
}  // namespace vmap_test
