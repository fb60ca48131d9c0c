// jacfwd and hessian of functions of numbers that capture nothing: up to six tangents in a pass. The truth: closed forms, and jvp along unit
// vectors, one at a time, bit for bit (without optimisation: g++ contracts the two differently).
#include <doctest/doctest.h>

#include <any>
#include <array>
#include <cmath>
#include <complex>
#include <tuple>
#include <ttensor/all.hpp>

namespace one_pass_test {
namespace tt = ttensor;
template <class T> using three = std::array<T, 3>;

namespace {
int calls = 0;

struct lorenz {
  template <class T> three<T> operator()(const std::array<T, 6>& p) const {
    ++calls;
    using std::max, std::exp;
    T x = p[0], y = p[1], z = p[2];
    for (int i = 0; i < 5; ++i) {
      const T dx = p[3] * (y - x), dy = x * (p[4] - z) - y, dz = x * y - p[5] * z;
      x += 0.01 * dx, y += 0.01 * dy, z += 0.01 * dz;
      if (x > 1.2) z = max(z, y) * exp(-0.1 * x);
    }
    return {x, y, z};
  }
};
template <class F, class X> auto along(const F& f, const X& x, std::size_t k) {
  X unit{};
  unit[k] = 1;
  return tt::jvp(f, x, unit).y_dot;
}

template <class T> struct well {
  T depth, width;
  double scale = 2;  // static
  three<T> at;
};
struct energy {
  template <class T> T operator()(const well<T>& w) const { return w.scale * w.depth * exp(-w.width * (w.at[0] * w.at[0] + w.at[1] * w.at[2])); }
};
}  // namespace

TEST_CASE("every derivative is that of jvp along a unit vector, and f runs once") {
  const std::array<double, 6> p{1.1, 1, 0.9, 10, 28, 8.0 / 3};
  calls = 0;
  const auto j = tt::jacfwd(lorenz{})(p);  // a row for each result, of an entry for each argument
  CHECK(calls == 1);
  tt::jacobian_detail::each_index([&](auto k) {
    const auto d = along(lorenz{}, p, k());
    CHECK(get<k()>(get<0>(j)) == d[0]);
    CHECK(get<k()>(get<1>(j)) == d[1]);
    CHECK(get<k()>(get<2>(j)) == d[2]);
  }, std::make_index_sequence<6>{});
  calls = 0;
  const lorenz f;
  const auto captures = [&](const auto& q) { return f(q); };
  const auto other = tt::jacfwd(captures)(p);  // may have arrays: a pass for each
  CHECK(calls == 6);
  calls = 0;
  tt::jacfwd([](const auto& q, const auto& constants) { return ++calls, q[0] * q[1] * constants[16]; })(std::array{1.0, 2.0}, std::array<double, 17>{});
  CHECK(calls == 1);
  CHECK(get<4>(get<1>(other)) == get<4>(get<1>(j)));
}
TEST_CASE("an aggregate with a static field") {
  const well<double> w{3, 0.5, 2, {0.25, -1, 2}};
  const double e = std::exp(-0.5 * (0.0625 - 2));
  const auto g = tt::jacfwd(energy{})(w);
  CHECK(g.depth == doctest::Approx(2 * e));
  CHECK(g.width == doctest::Approx(-6 * e * (0.0625 - 2)));
  CHECK(g.scale == 2);
  CHECK(g.at[0] == doctest::Approx(-6 * e * 0.5 * 0.5));
  CHECK(g.at[1] == doctest::Approx(-6 * e * 0.5 * 2));
  CHECK(g.at[2] == doctest::Approx(6 * e * 0.5));
}
TEST_CASE("several arguments, integers and results that do not depend on them") {
  constexpr auto f = [](const auto& x, int n, const auto& y, double c) { return std::tuple{pow(x, n) * y[0] + c, y[1] * y[1], 7.0}; };
  const auto j = tt::jacfwd<0, 2>(f)(1.5, 3, std::array{2.0, -4.0}, 0.25);
  using std::get;
  const auto& row = get<0>(j);  // by x, y[0] and y[1]
  CHECK(get<0>(row) == doctest::Approx(13.5));
  CHECK(get<1>(row) == doctest::Approx(3.375));
  CHECK(get<2>(row) == 0);
  CHECK(get<2>(get<1>(j)) == -8);
  CHECK(get<0>(get<2>(j)) == 0);
}
TEST_CASE("results that are arrays, and arrays made inside") {
  constexpr auto f = [](const auto& p) {
    using T = std::remove_cvref_t<decltype(p[0])>;
    const tt::tensor<T, 2> a{{p[0], p[1]}, {p[1], p[2]}};
    return tt::eval(tt::matmul(a, tt::tensor<double, 1>{1, 2}) + tt::sum(tt::exp(a), 0));
  };
  const three<double> p{0.5, -1, 0.25};
  const auto j = tt::jacfwd(f)(p);  // [k]: shape (2)
  const double e[] = {std::exp(0.5), std::exp(-1.0), std::exp(0.25)};
  const double want[3][2] = {{1 + e[0], 0}, {2 + e[1], 1 + e[1]}, {0, 2 + e[2]}};
  for (std::size_t k = 0; k < 3; ++k) {
    const auto d = along(f, p, k);
    for (int i = 0; i < 2; ++i) {
      CHECK(j[k](i) == doctest::Approx(want[k][i]).epsilon(1e-14));
      CHECK(j[k](i) == d(i));
    }
  }
  constexpr auto linear = [](const auto& p) {
    tt::tensor<std::remove_cvref_t<decltype(p[0])>, 2> m{{p[0] + 2.0, 0.5}, {0.5, p[1] + 2.0}};
    return tt::eval(tt::sum(tt::cholesky(tt::matmul(m, tt::transpose(m)))));
  };
  const std::array<double, 2> q{0.25, 0.75};
  const auto c = tt::jacfwd(linear)(q);
  for (std::size_t k = 0; k < 2; ++k) CHECK(c[k] == along(linear, q, k));
}
TEST_CASE("higher derivatives") {
  constexpr auto f = [](const auto& p) { return p[0] * p[0] * p[1] + sin(p[2]) * p[1]; };
  const three<double> p{1.5, 2, 0.5};
  const double want[3][3] = {{4, 3, 0}, {3, 0, std::cos(0.5)}, {0, std::cos(0.5), -2 * std::sin(0.5)}};
  auto check = [&](const auto& h) {
    tt::jacobian_detail::each_index([&](auto i) {
      tt::jacobian_detail::each_index([&](auto k) {
        CHECK(get<k()>(get<i()>(h)) == doctest::Approx(want[i()][k()]).epsilon(1e-14));
      }, std::make_index_sequence<3>{});
    }, std::make_index_sequence<3>{});
  };
  check(tt::hessian(f)(p));
  check(tt::jacfwd(tt::jacfwd(f))(p));
  check(tt::jacrev(tt::jacfwd(f))(p));
  check(tt::jacfwd(tt::jacrev(f))(p));
  const auto third = tt::grad([](const auto& q) {  // d/dq of d2f/dp0 dp1 = 2 p0
    constexpr auto g = [](const auto& r) { return r[0] * r[0] * r[1] + sin(r[2]) * r[1]; };
    return get<1>(get<0>(tt::hessian(g)(q)));
  })(p);
  CHECK(third[0] == doctest::Approx(2));
  CHECK(third[1] == 0);
  // under vmap the numbers stand for examples
  const auto mapped = tt::vmap(tt::jacfwd([](const auto& a, const auto& b) { return std::tuple{a * b, a / b}; }))(tt::tensor<double, 1>{1, 2}, tt::tensor<double, 1>{4, 5});
  CHECK(std::get<1>(mapped)(1) == doctest::Approx(0.2));
}
TEST_CASE("arrays made inside, at higher order and inside other transforms: as with one tangent a pass") {
  constexpr auto f = [](const auto& p) {
    using T = std::remove_cvref_t<decltype(p[0])>;
    const tt::tensor<T, 2> a{{p[0] + 2.0, p[1]}, {p[1], p[2] + 3.0}};
    const tt::tensor<T, 1> v{p[0], p[2]};
    const auto y = tt::eval(tt::matmul(a, tt::sin(v) * v) + tt::sum(tt::exp(a), 0));
    return tt::eval(tt::sum(y * y) + tt::sum(tt::cholesky(tt::matmul(a, tt::transpose(a)))) + tt::max(v));
  };
  const int none = 0;
  const auto captures = [&](const auto& p) { return f(p) + none; };
  const three<double> p{0.3, 0.7, -0.2};
  CHECK(tt::hessian(f)(p) == tt::hessian(captures)(p));
  CHECK(tt::jacfwd(tt::jacfwd(f))(p) == tt::jacfwd(tt::jacfwd(captures))(p));
  CHECK(tt::jacrev(tt::jacfwd(f))(p) == tt::jacrev(tt::jacfwd(captures))(p));
  const auto h = tt::hessian(f)(p);
  constexpr double step = 1e-4;
  tt::jacobian_detail::each_index([&](auto k) {
    auto above = p, below = p;
    above[k()] += step, below[k()] -= step;
    const auto up = tt::grad(f)(above), down = tt::grad(f)(below);
    CHECK(get<k()>(get<0>(h)) == doctest::Approx((up[0] - down[0]) / (2 * step)).epsilon(1e-6));
    CHECK(get<k()>(get<2>(h)) == doctest::Approx((up[2] - down[2]) / (2 * step)).epsilon(1e-6));
  }, std::make_index_sequence<3>{});
}
TEST_CASE("rules, loops, checkpoints and zeros that absorb") {
  constexpr auto f = [](const auto& p) {
    constexpr auto cube = [](const auto& x) { return x * x * x; };
    const auto ruled = tt::custom_jvp(cube, [](const auto& x, const auto& d) { return std::pair{x * x * x, 30.0 * x * x * d}; });  // ten times the derivative
    const auto looped = tt::for_loop(3, [](int, const auto& s) { return s * s; }, p[1]);
    const auto kept = tt::checkpoint([](const auto& x) { return exp(x); })(p[2]);
    return ruled(p[0]) + looped + kept + tt::cond(p[1] > 0, [](const auto& x) { return sqrt(x); }, [](const auto& x) { return -x; }, p[3]);
  };
  const std::array<double, 4> p{2, 1.5, 0.5, 0};
  const auto g = tt::jacfwd(f)(p);
  CHECK(g[0] == 120);
  CHECK(g[1] == doctest::Approx(8 * std::pow(1.5, 7)));
  CHECK(g[2] == doctest::Approx(std::exp(0.5)));
  CHECK(std::isinf(g[3]));  // and the infinite partial meets three tangents that are 0
}
TEST_CASE("element types") {
  constexpr auto f = [](const auto& q) { return q[0] * q[0] * q[1]; };
  CHECK(tt::jacfwd(f)(std::array{3.0f, 0.5f}) == std::array{3.0f, 9.0f});
  const auto h = tt::jacfwd(f)(std::array{tt::half(3.0f), tt::half(0.5f)});
  CHECK(static_cast<float>(h[1]) == 9);
  using C = std::complex<double>;
  CHECK(tt::jacfwd(f, tt::holomorphic)(std::array{C(0, 1), C(2, 0)}) == std::array{C(0, 4), C(-1, 0)});
  CHECK_THROWS_AS(tt::jacfwd([](const auto&) { return 2.0; }, tt::strict)(std::array{1.0, 2.0}), tt::domain_error);
}
TEST_CASE("a statement of twelve numbers and arrays of them, twice differentiated") {
  constexpr auto f = [](const auto& x) {
    using T = std::remove_cvref_t<decltype(x[0])>;
    const tt::tensor<T, 1> a{x[0], x[1]}, b{x[2], x[3]}, c{x[4], x[5]}, d{x[6], x[7]}, e{x[8], x[9]}, g{x[10], x[11]};
    return tt::eval(tt::sum(a * b + c * d + e * g + a * c * e + b * d * g + a * d + b * c));
  };
  std::array<double, 12> x{};
  for (std::size_t k = 0; k < 12; ++k) x[k] = 1 + static_cast<double>(k) / 8;
  const auto h = tt::hessian(f)(x);
  CHECK(get<2>(get<0>(h)) == 1);         // d2 / da db of a b
  CHECK(get<4>(get<0>(h)) == x[8]);      // d2 / da dc of a c e
  CHECK(get<11>(get<3>(h)) == x[7]);     // d2 / db dg of b d g
  CHECK(get<1>(get<0>(h)) == 0);
}
TEST_CASE("captured outer levels, and more numbers than a pass takes") {
  const auto outer = tt::grad([](const auto& a) {
    const auto j = tt::jacfwd([&](const auto& p) { return a * p[0] * p[1]; })(std::array{2.0, 3.0});
    return j[0] * j[1];  // 6 a^2
  })(0.5);
  CHECK(outer == doctest::Approx(6));
  const auto inner = tt::jacfwd([](const auto& p) {
    return tt::grad([](const auto& x, const auto& y) { return x * x * y; })(p[0], p[1]);  // 2 p0 p1
  })(std::array{2.0, 3.0});
  CHECK(inner[0] == 6);
  CHECK(inner[1] == 4);
  std::array<double, 17> many{};
  many[16] = 3;
  calls = 0;
  const auto g = tt::jacfwd([](const auto& p) {
    ++calls;
    return p[16] * p[16] + p[0];
  })(many);
  CHECK(calls == 3);
  CHECK(g[16] == 6);
  CHECK(g[0] == 1);
  for (std::size_t k = 1; k < 16; ++k) CHECK(g[k] == 0);
}
#if TTENSOR_CHECK_BOUNDS
TEST_CASE("a value that outlives its pass is refused") {
  static std::any kept;
  constexpr auto keep = [](const auto& p) { return kept = std::remove_cvref_t<decltype(p[0])>(p[0] * p[1]), p[0] * p[1]; };
  tt::jacfwd(keep)(std::array{2.0, 3.0});
  const auto& late = std::any_cast<const tt::dual<double, 2>&>(kept);
  CHECK_THROWS_AS(late * 2.0, tt::level_error);
  constexpr auto use = [](const auto& p) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(p[0])>, tt::dual<double, 2>>) return p[0] * std::any_cast<tt::dual<double, 2>>(kept);
    else return p[0] * p[1];
  };
  CHECK_THROWS_AS(tt::jacfwd(use)(std::array{2.0, 3.0}), tt::level_error);
}
#endif
}  // namespace one_pass_test
