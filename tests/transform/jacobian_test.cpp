// Jacobians and Hessians of functions of trees, against closed forms.
#include <doctest/doctest.h>

#include <ttensor/all.hpp>

namespace jacobian_test {
namespace tt = ttensor;
using tt::index_t, tt::stacked, tt::tensor;
using doctest::Approx;

namespace {
template <class T> struct affine {
  tensor<T, 2> m;
  tensor<T, 1> c;
  T scale;
  double rate = 0.5;
};
template <class T> struct stacked_layers {
  std::vector<affine<T>> layers;
  std::tuple<T, tensor<T, 1>> ends;
};
template <int R> double distance(const tensor<double, R>& a, const tensor<double, R>& b) {
  REQUIRE(a.shape() == b.shape());
  return a.size() ? double(tt::max(abs(a - b))) : 0.0;
}
constexpr auto apply = [](const auto& p, const auto& x) { return p.rate * p.scale * (matmul(p.m, x) + p.c); };
const affine<double> p{{{1, 2, 3}, {-1, 0.5, 4}}, {2, -3}, 1.5};
const tensor<double, 1> x{0.5, -1, 2};
const tensor<double, 1> y{4.5 + 2, 7 - 3};  // m x + c
/// The Jacobian of apply with respect to p: 0.75 [o = i] x_j, 0.75 [o = i], y / 2.
template <class J> void check_apply(const J& j) {
  static_assert(std::is_same_v<J, affine<stacked<double, 1>>>);
  CHECK(j.rate == 0.5);
  for (index_t o = 0; o < 2; ++o) {
    for (index_t i = 0; i < 2; ++i) {
      for (index_t k = 0; k < 3; ++k) CHECK(j.m(o, i, k) == Approx(o == i ? 0.75 * x(k) : 0));
      CHECK(j.c(o, i) == Approx(o == i ? 0.75 : 0));
    }
    CHECK(j.scale(o) == Approx(0.5 * y(o)));
  }
}
}  // namespace

TEST_CASE("an array by an aggregate: the aggregate with the result's axes in front") {
  check_apply(tt::jacfwd(apply)(p, x));
  check_apply(tt::jacrev(apply)(p, x));
  check_apply(tt::jacobian(apply)(p, x));
  const auto j = tt::jacobian(apply)(p, x);
  CHECK(distance<2>(get<1>(j), j.c) == 0);  // reads as a tuple too
  CHECK(distance<2>(tt::jacobian<1>(apply)(p, x), 0.75 * p.m) < 1e-15);
  CHECK(distance<2>(tt::jacfwd<-1>(apply)(p, x), 0.75 * p.m) < 1e-15);
  // a scalar adds no axes: the gradient
  const auto g = tt::jacobian([](const auto& q) { return q.scale * sum(q.m * q.m); })(p);
  static_assert(std::is_same_v<decltype(g), const affine<double>>);
  CHECK(distance<2>(g.m, 3.0 * p.m) < 1e-15);
  CHECK(distance<1>(g.c, {0, 0}) == 0);
  CHECK(g.scale == Approx(1 + 4 + 9 + 1 + 0.25 + 16));
}

TEST_CASE("an aggregate by an array: the aggregate with the argument's axes behind") {
  const auto f = [](const auto& v) {
    using T = std::remove_cvref_t<decltype(sum(v))>;
    return affine<T>{outer(v, v), v * v * v, sum(v), 7.0};
  };
  const auto check = [](const auto& j) {
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(j)>, affine<stacked<double, 1>>>);
    CHECK(j.rate == 7);
    for (index_t a = 0; a < 3; ++a)
      for (index_t b = 0; b < 3; ++b) {
        for (index_t k = 0; k < 3; ++k) CHECK(j.m(a, b, k) == Approx((a == k ? x(b) : 0) + (b == k ? x(a) : 0)));
        CHECK(j.c(a, b) == Approx(a == b ? 3 * x(a) * x(a) : 0));
      }
    CHECK(distance<1>(j.scale, {1, 1, 1}) == 0);
  };
  check(tt::jacfwd(f)(x));
  check(tt::jacrev(f)(x));
  check(tt::jacobian(f)(x));
}

TEST_CASE("aggregates on both sides: tuples of tuples in field order") {
  // f = scale^2 sum(m m c_i) + exp(c).c
  const auto f = [](const auto& q) { return q.scale * q.scale * sum(q.m * q.m * unsqueeze(q.c, 1)) + sum(exp(q.c) * q.c); };
  const auto check = [](const auto& h) {
    const double s = p.scale;
    for (index_t i = 0; i < 2; ++i) {
      double row = 0;
      for (index_t j = 0; j < 3; ++j) {
        row += p.m(i, j) * p.m(i, j);
        for (index_t k = 0; k < 2; ++k) {
          for (index_t l = 0; l < 3; ++l) CHECK(std::get<0>(std::get<0>(h))(i, j, k, l) == Approx(i == k && j == l ? 2 * s * s * p.c(i) : 0));
          CHECK(get<1>(get<0>(h))(i, j, k) == Approx(i == k ? 2 * s * s * p.m(i, j) : 0));
          CHECK(get<0>(get<1>(h))(k, i, j) == Approx(i == k ? 2 * s * s * p.m(i, j) : 0));
        }
        CHECK(get<2>(get<0>(h))(i, j) == Approx(4 * s * p.m(i, j) * p.c(i)));
        CHECK(get<0>(get<2>(h))(i, j) == Approx(4 * s * p.m(i, j) * p.c(i)));
      }
      for (index_t k = 0; k < 2; ++k) CHECK(get<1>(get<1>(h))(i, k) == Approx(i == k ? std::exp(p.c(i)) * (p.c(i) + 2) : 0));
      CHECK(get<2>(get<1>(h))(i) == Approx(2 * s * row));
    }
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(get<2>(get<2>(h)))>, double>);
    CHECK(get<2>(get<2>(h)) == Approx(2 * (14 * 2 + 17.25 * -3)));
  };
  check(tt::hessian(f)(p));
  check(tt::jacrev(tt::grad(f))(p));
  check(tt::jacfwd(tt::jacrev(f))(p));
}

TEST_CASE("tuples, arrays, vectors, nested aggregates and fixed tensors") {
  const auto f = [](const auto& t) { return std::get<0>(t) * std::get<1>(t).scale * std::get<2>(t)[1]; };
  const auto j = tt::jacobian(f)(std::tuple{x, p, std::array{2.0, 3.0}});
  static_assert(std::is_same_v<decltype(j), const std::tuple<tensor<double, 2>, affine<stacked<double, 1>>, std::array<tensor<double, 1>, 2>>>);
  CHECK(distance<2>(std::get<0>(j), 4.5 * tt::eye<double>(3)) < 1e-15);
  CHECK(distance<1>(std::get<1>(j).scale, 3.0 * x) < 1e-15);
  CHECK(std::get<1>(j).m.shape() == tt::dims<3>{{3, 2, 3}});
  CHECK(distance<1>(std::get<2>(j)[1], 1.5 * x) < 1e-15);
  CHECK(distance<1>(std::get<2>(j)[0], {0, 0, 0}) == 0);

  const stacked_layers<double> deep{{p, p}, {2, {1, -2}}};
  const auto g = [](const auto& q) { return (q.layers[1].scale * std::get<0>(q.ends)) * std::get<1>(q.ends) * q.layers[0].c; };
  const auto forward = tt::jacfwd(g)(deep), reverse = tt::jacrev(g)(deep);
  static_assert(std::is_same_v<decltype(forward), const stacked_layers<stacked<double, 1>>>);
  for (const auto* k : {&forward, &reverse}) {
    CHECK(distance<2>(k->layers[0].c, {{3, 0}, {0, -6}}) < 1e-15);
    CHECK(distance<2>(k->layers[1].c, {{0, 0}, {0, 0}}) == 0);
    CHECK(distance<1>(k->layers[1].scale, {4, 12}) < 1e-15);
    CHECK(distance<1>(std::get<0>(k->ends), {3, 9}) < 1e-15);
    CHECK(distance<2>(std::get<1>(k->ends), {{6, 0}, {0, -9}}) < 1e-15);
  }
  const tt::fixed<double, 2> fixed{3, 4};
  const auto square = [](const auto& v) { return v * v; };
  CHECK(distance<2>(tt::jacfwd(square)(fixed), {{6, 0}, {0, 8}}) == 0);
  CHECK(distance<2>(tt::jacrev(square)(fixed), {{6, 0}, {0, 8}}) == 0);
  CHECK(distance<2>(tt::hessian([](const auto& v) { return sum(v * v * v); })(fixed), {{18, 0}, {0, 24}}) == 0);
  const tensor<double, 1> slope = tt::jacfwd([](const auto& v) { return sum(v * v); })(fixed);
  CHECK(distance<1>(slope, {6, 8}) == 0);
}

TEST_CASE("jacobian takes the mode with fewer passes") {
  int calls = 0;
  const auto wide = [&](const auto& v) { ++calls; return outer(v, v); };         // 3 -> 9: forward, one call for each element
  const auto narrow = [&](const auto& v) { ++calls; return v(tt::range(0, 1)) * sum(v); };  // 3 -> 1: one recording
  const auto a = tt::jacobian(wide)(x);
  const int forward_calls = std::exchange(calls, 0);
  const auto b = tt::jacobian(narrow)(x);
  CHECK(forward_calls > 3);
  CHECK(calls == 1);
  CHECK(a(0, 1, 1) == 0.5);
  CHECK(distance<2>(b, {{1.5 + 0.5, 0.5, 0.5}}) < 1e-15);
}

TEST_CASE("inside vmap and inside a derivative") {
  const tensor<double, 2> xs{{0.5, -1, 2}, {1, 2, 3}};
  const auto j = tt::vmap(tt::jacfwd(apply), tt::in_axes<tt::none, 0>)(p, xs);
  const auto r = tt::vmap(tt::jacrev(apply), tt::in_axes<tt::none, 0>)(p, xs);
  static_assert(std::is_same_v<decltype(j), const affine<stacked<double, 2>>>);
  CHECK(distance<4>(j.m, r.m) == 0);
  for (index_t e = 0; e < 2; ++e) {
    const affine<stacked<double, 1>> one = tt::jacfwd(apply)(p, xs(e));
    CHECK(distance<3>(j.m(e), one.m) == 0);
    CHECK(distance<1>(j.scale(e), one.scale) < 1e-15);
  }
  // sum of squares of the Jacobian by m: 2 outputs, (rate scale)^2 |x|^2 each; its derivative by scale
  const double d = tt::grad([](auto s) {
    const affine<decltype(s)> q{p.m + 0.0 * s, p.c + 0.0 * s, s};
    const auto k = tt::jacobian(apply)(q, x);
    return sum(k.m * k.m);
  })(1.5);
  CHECK(d == Approx(2 * 2 * 1.5 * 0.25 * 5.25));
}

TEST_CASE("with respect to several arguments") {
  const auto f = [](const auto& a, const auto& b, const auto& c) { return a * a * sum(b) * c; };
  const auto check = [](const auto& j) {  // by c and a, at a = x, b = (1, 2), c = 2
    CHECK(distance<1>(std::get<0>(j), 3.0 * x * x) < 1e-15);
    CHECK(distance<2>(std::get<1>(j), tensor<double, 2>{{6, 0, 0}, {0, -12, 0}, {0, 0, 24}}) < 1e-14);
  };
  const tensor<double, 1> b{1, 2};
  check(tt::jacfwd<2, 0>(f)(x, b, 2.0));
  check(tt::jacrev<-1, -3>(f)(x, b, 2.0));
  check(tt::jacobian<-1, 0>(f)(x, b, 2.0));
  const auto h = tt::hessian<1, 2>([](const auto& a, const auto& u, const auto& c) { return sum(a) * sum(u * u) * c * c; })(x, b, 3.0);
  CHECK(distance<2>(get<0>(get<0>(h)), {{27, 0}, {0, 27}}) < 1e-14);
  CHECK(distance<1>(get<1>(get<0>(h)), {18, 36}) < 1e-14);
  CHECK(distance<1>(get<0>(get<1>(h)), {18, 36}) < 1e-14);
  CHECK(get<1>(get<1>(h)) == Approx(1.5 * 5 * 2));
}
TEST_CASE("strict: a constant result or an unused leaf is an error in every mode, a derivative of zero is not") {
  const tt::tensor<double, 1> v{1, 2, 3};
  const auto constant = [](const auto&) { return tt::tensor<double, 1>{1, 2}; };
  const auto half_constant = [](const auto& x) { return std::pair{tt::eval(x * 2.0), 1.0}; };
  const auto first = [](const auto& x, const auto&) { return tt::eval(x * x); };
  const auto first_of_tuple = [](const auto& t) { return tt::eval(std::get<0>(t) * 2.0); };
  const auto flat = [](const auto& x) { return tt::eval(x * 0.0); };
  auto check = [&](const auto& jac, const auto& jac_of_two) {
    CHECK_THROWS_WITH_AS(jac(constant)(v), doctest::Contains("[jacobian] strict: "), tt::domain_error);
    CHECK_THROWS_WITH_AS(jac(half_constant)(v), doctest::Contains("[TT-D05]"), tt::domain_error);
    CHECK_THROWS_WITH_AS(jac_of_two(first)(v, v), doctest::Contains("[TT-D06]"), tt::domain_error);
    CHECK_THROWS_WITH_AS(jac(first_of_tuple)(std::tuple{v, 2.0}), doctest::Contains("[TT-D06]"), tt::domain_error);
    CHECK(tt::all(jac(first)(v, v) == 2.0 * v * tt::eye<double>(3)));
    CHECK(tt::all(jac(flat)(v) == 0.0));
  };
  check([](const auto& f) { return tt::jacfwd(f, tt::strict); }, [](const auto& f) { return tt::jacfwd<0, 1>(f, tt::strict); });
  check([](const auto& f) { return tt::jacrev(f, tt::strict); }, [](const auto& f) { return tt::jacrev<0, 1>(f, tt::strict); });
  check([](const auto& f) { return tt::jacobian(f, tt::strict); }, [](const auto& f) { return tt::jacobian<0, 1>(f, tt::strict); });
  check([](const auto& f) { return tt::jacrev(f, tt::chunk_size{2}, tt::strict); }, [](const auto& f) { return tt::jacrev<0, 1>(f, tt::strict, tt::chunk_size{2}); });
  CHECK(tt::jacobian([](auto t) { return t * t; }, tt::strict)(3.0) == 6);
  CHECK_THROWS_AS(tt::jacobian([](auto) { return 2.0; }, tt::strict)(3.0), tt::domain_error);
  CHECK_THROWS_AS(tt::hessian([](const auto&) { return 1.0; }, tt::strict)(v), tt::domain_error);
  CHECK_THROWS_AS(tt::hessian([](const auto& x) { return tt::sum(x * 2.0); }, tt::strict)(v), tt::domain_error);  // the gradient is constant
  CHECK(tt::all(tt::hessian([](const auto& x) { return tt::sum(x * x); }, tt::strict)(v) == 2.0 * tt::eye<double>(3)));
}
namespace {
template <class T> struct vector_and_factor { tensor<T, 1> w; T b; };
}
TEST_CASE("Hessian of a function that is no scalar: out.shape + in.shape + in.shape") {
  const tensor<double, 1> x{1, 2};
  const auto cubes = [](const auto& t) { return t * t * t; };
  const tensor<double, 3> want{{{6, 0}, {0, 0}}, {{0, 0}, {0, 12}}};
  CHECK(tt::all(tt::hessian(cubes)(x) == want));
  CHECK(tt::all(tt::hessian(cubes, tt::chunk_size{2})(x) == want));
  CHECK(tt::all(tt::jacfwd(tt::jacrev(cubes))(x) == want));
  CHECK(tt::all(tt::hessian([](const auto& t) { return tensor<double, 1>{1, 2} * t * t * t; })(2.0) == tensor<double, 1>{12, 24}));
  CHECK(tt::all(tt::vmap(tt::hessian(cubes))(unsqueeze(x, 0))(0) == want));
  CHECK(tt::grad([&](const auto& s) { return sum(tt::hessian([&](const auto& t) { return t * t * t * s; })(x)); })(2.0) == 18);
  CHECK(tt::jvp([&](const auto& s) { return sum(tt::hessian([&](const auto& t) { return t * t * t * s; })(x)); }, 2.0, 1.0).y_dot == 18);
  const auto h = tt::hessian([](const auto& p) { return p.w * p.w * p.b; })(vector_and_factor<double>{x, 3.0});
  CHECK(tt::all(get<0>(get<0>(h)) == tensor<double, 3>{{{6, 0}, {0, 0}}, {{0, 0}, {0, 6}}}));
  CHECK(tt::all(get<1>(get<0>(h)) == tensor<double, 2>{{2, 0}, {0, 4}}));
  CHECK(tt::all(get<0>(get<1>(h)) == tensor<double, 2>{{2, 0}, {0, 4}}));
  CHECK(tt::all(get<1>(get<1>(h)) == 0.0));
  const auto two = tt::hessian<0, 1>([](const auto& a, const auto& b) { return a * b; })(x, x);
  CHECK(tt::all(get<1>(get<0>(two)) == tensor<double, 3>{{{1, 0}, {0, 0}}, {{0, 0}, {0, 1}}}));
  const auto parts = tt::hessian([](const auto& t) { return std::pair{t * t, sum(t * t * t)}; })(x);
  CHECK(tt::all(parts.second == tensor<double, 2>{{6, 0}, {0, 12}}));
  CHECK(tt::all(parts.first == tensor<double, 3>{{{2, 0}, {0, 0}}, {{0, 0}, {0, 2}}}));
}
TEST_CASE("a function inside whose result is of an outer level only") {
  const tensor<double, 1> x{1, 2, 3};
  CHECK(tt::grad([](const auto& s) { return tt::jacrev([&](const auto&) { return s * s; })(3.0) + s * s; })(2.0) == 4);
  CHECK(tt::grad([](const auto& s) { return tt::jacrev([&](const auto&) { return s * s; })(s) + s * s; })(2.0) == 4);
  const auto g = tt::grad([](const auto& v) { return sum(tt::jacrev([&](const auto&) { return tt::eval(v * v); })(v)) + sum(v * v); })(x);
  CHECK(tt::all(g == 2.0 * x));
  CHECK(tt::grad([](const auto& s) { return tt::vjp([&](const auto&) { return s * s; }, s).pull(s) + s * s; })(2.0) == 4);
  CHECK(tt::grad([](const auto& s) { return tt::jacfwd([&](const auto&) { return s * s; })(s) + s * s; })(2.0) == 4);
  CHECK(tt::grad([](const auto& s) { return tt::grad([&](const auto&) { return s * s; })(s) + s * s; })(2.0) == 4);
  CHECK(tt::grad([](const auto& s) { return tt::hessian([&](const auto&) { return s * s; })(s) + s * s; })(2.0) == 4);
  CHECK(tt::grad([](const auto& s) { return tt::vhp([&](const auto&) { return s * s; }, s, s) + s * s; })(2.0) == 4);
  CHECK(tt::grad([](const auto& s) { return tt::linearize([&](const auto&) { return s * s; }, s).lin(s) + s * s; })(2.0) == 4);
  CHECK(tt::jvp([](const auto& s) { return tt::jacrev([&](const auto&) { return s * s; })(s) + s * s; }, 2.0, 1.0).y_dot == 4);
  CHECK(tt::all(tt::vmap([](const auto& s) { return tt::jacrev([&](const auto&) { return s * s; })(s) + s * s; })(x) == x * x));
}
TEST_CASE("by a fixed tensor without axes") {
  const tt::fixed<double> s = 2.5;
  const auto square = [](const auto& t) { return t * t; };
  const double forward = tt::jacfwd(square)(s), reverse = tt::jacrev(square)(s), either = tt::jacobian(square)(s), second = tt::hessian([](const auto& t) { return t * t * t; })(s);
  CHECK(forward == 5);
  CHECK(reverse == 5);
  CHECK(either == 5);
  CHECK(second == 15);
  const auto [by_vector, by_number] = tt::jacrev([](const auto& t) { return sum(t.first) * t.second; })(std::pair{tt::fixed<double, 2>{1, 2}, s});
  CHECK(tt::all(by_vector == 2.5));
  CHECK(by_number() == 3);
}
TEST_CASE("forward mode calls f once a pass: the first one shows the shapes too") {
  int calls = 0;
  const auto square = [&](const auto& x) { return ++calls, tt::eval(x * x); };
  const auto after = [&](auto&& run) { return calls = 0, static_cast<void>(run()), calls; };
  const tt::tensor<double, 1> x{1, 2, 3};
  CHECK(after([&] { return tt::jacfwd(square)(x); }) == 3);
  CHECK(after([&] { return tt::jacfwd(square, tt::chunk_size{2})(x); }) == 2);
  CHECK(after([&] { return tt::jacfwd(square)(tt::tensor<double, 1>(0)); }) == 1);
  CHECK(after([&] { return tt::jacfwd([&](auto t) { return ++calls, t * t; })(2.0); }) == 1);
  const auto both = [&](const auto& a, const auto& b) { return ++calls, tt::eval((1.0 + sum(a)) * b); };
  CHECK(after([&] { return tt::jacfwd<0, 1>(both)(tt::tensor<double, 1>(0), x); }) == 3);
  CHECK(std::get<1>(tt::jacfwd<0, 1>(both)(tt::tensor<double, 1>(0), x))(2, 2) == 1);
  CHECK(after([&] { return tt::hessian([&](const auto& v) { return ++calls, sum(v * v); })(x); }) == 3);
}
}  // namespace jacobian_test
