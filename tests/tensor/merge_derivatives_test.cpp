// Derivatives of statements that name one array or one expression several times.
#include "tensor/merging.hpp"
#include <algorithm>
#include <complex>

namespace merge_test {
TEST_CASE("names of expressions in derivatives against the closed form, and under vmap") {
  const auto f = [](const auto& v) { return sum(lennard_jones(v)); };
  for (const index_t n : {1, 5, 16, 1000}) {
    const vec x = 1.5 + wave<double>(n, 0.3), w = wave<double>(n, 2.1);
    const vec g = tt::grad(f)(x), h = tt::hvp(f, x, w), gv = tt::grad([](const auto& v) {
      const auto y = eval(lennard_jones(v));
      return sum(y * y);
    })(x);
    const auto [y, y_dot] = tt::jvp([](const auto& v) { return eval(lennard_jones(v)); }, x, w);
    const vec mixed = tt::grad([&](const auto& v) { return sum(lennard_jones(1.0, 1.0, v, x)); })(x);  // the second names a constant of the same elements
    double worst = 0;
    for (index_t i = 0; i < n; ++i) {
      const double a = x(i), s = std::pow(a, -3), e = 4 * (s * s - s), d = 4 * (-6 * std::pow(a, -7) + 3 * std::pow(a, -4)), dd = 4 * (42 * std::pow(a, -8) - 12 * std::pow(a, -5));
      for (const auto& [got, want] : {std::pair{g(i), d}, {h(i), dd * w(i)}, {gv(i), 2 * e * d}, {y(i), e}, {y_dot(i), d * w(i)}, {mixed(i), d * 2 / 3}})
        worst = std::max(worst, std::abs(got - want) / (std::abs(want) + 1));
    }
    CHECK(worst < 1e-13);
  }
  const tt::tensor<double, 2> m = 1.5 + reshape(wave<double>(35, 0.2), {5, 7});
  const auto rows = tt::vmap([](const auto& v) { return eval(lennard_jones(v)); })(m), slopes = tt::vmap(tt::grad(f))(m);
  CHECK(tt::all(rows == with_let(m)));
  for (index_t i = 0; i < 5; ++i) CHECK(tt::all(slopes(i) == tt::grad(f)(vec(m(i)))));
}
TEST_CASE("names of expressions beside another array, and with mapped numbers") {
  const vec x = wave<double>(40, 0.1), w = wave<double>(40, 1.3);
  const auto slope_let = [](const auto& g, const auto& a) { return g * let(1.0 / (1.0 + exp(-a)), [](auto s) { return s * (1.0 - s); }); };
  CHECK(same_bits<double>(w * sigmoid_slope(x), slope_let(w, x)));
  CHECK(same_bits<double>(x * sigmoid_slope(x), slope_let(x, x)));
  vec y = w, want = w;
  y += sigmoid_slope(x);
  want += slope_let(1.0, x);
  CHECK(same_bits<double>(y, want));
  const tt::tensor<double, 2> m = 1.5 + reshape(wave<double>(35, 0.2), {5, 7});
  const vec c{1, 2, 3, 4, 5};
  const auto named = tt::vmap([](const auto& v, const auto& k) {
    const auto t = k / (v * v);
    const auto u = t * t * t;
    return eval(u * u - u);
  })(m, c);
  const auto bound = tt::vmap([](const auto& v, const auto& k) { return eval(let(k / (v * v), [](auto t) { return let(t * t * t, [](auto u) { return u * u - u; }); })); })(m, c);
  CHECK(tt::all(named == bound));
  const auto pairs = tt::vmap([](const auto& v, const auto& k, const auto& l) { return eval((k / v) * (l / v)); })(m, c, 2.0 * c);  // two mapped numbers
  CHECK(tt::all(abs(pairs - 2.0 * unsqueeze(c * c, 1) / (m * m)) < 1e-13));
}
TEST_CASE("names of expressions with differentiated numbers") {
  const vec x = 1.5 + wave<double>(50, 0.3);
  const auto energy = [&](const auto& eps, const auto& sigma) {
    const auto s2 = sigma * sigma / (x * x);
    const auto s6 = s2 * s2 * s2;
    return sum(4.0 * eps * (s6 * s6 - s6));
  };
  const auto [ge, gs] = tt::grad<0, 1>(energy)(0.3, 1.1);
  const auto along = tt::jvp([&](const auto& s) { return energy(0.3, s); }, 1.1, 1.0);
  const double second = tt::grad(tt::grad([&](const auto& s) { return energy(0.3, s); }))(1.1);
  double e = 0, s = 0, ss = 0, squares = 0;
  for (index_t i = 0; i < 50; ++i) {
    const double q = std::pow(1.1 / x(i), 6);
    e += 4 * (q * q - q), s += 0.3 * 4 * (12 * q * q - 6 * q) / 1.1, ss += 0.3 * 4 * (132 * q * q - 30 * q) / 1.21, squares += 1 / (x(i) * x(i));
  }
  CHECK(ge == doctest::Approx(e).epsilon(1e-13));
  CHECK(gs == doctest::Approx(s).epsilon(1e-13));
  CHECK(along.y_dot == doctest::Approx(s).epsilon(1e-13));
  CHECK(second == doctest::Approx(ss).epsilon(1e-13));
  // two variables that are equal are not one variable
  const auto product = [&](const auto& a, const auto& b) { return sum((a / x) * (b / x)); };
  const auto [ga, gb] = tt::grad<0, 1>(product)(2.0, 2.0);
  CHECK(ga == doctest::Approx(2 * squares).epsilon(1e-13));
  CHECK(gb == doctest::Approx(2 * squares).epsilon(1e-13));
  const auto ja = tt::jvp([&](const auto& a) { return product(a, 2.0); }, 2.0, 1.0), jab = tt::jvp(product, std::tuple{2.0, 2.0}, std::tuple{1.0, -3.0});
  CHECK(ja.y_dot == doctest::Approx(2 * squares).epsilon(1e-13));
  CHECK(jab.y_dot == doctest::Approx(-4 * squares).epsilon(1e-13));
}
TEST_CASE("names of expressions with more arrays as written than a gradient takes") {
  const vec a = wave<double>(20, 0.3), b = wave<double>(20, 0.9), c = wave<double>(20, 2.1);
  const auto [ga, gc] = tt::grad<0, 2>([](const auto& x, const auto& y, const auto& z) { return sum(distances(x, y, z)); })(a, b, c);
  double worst = 0;
  for (index_t i = 0; i < 20; ++i) {
    const double u = 1 / ((a(i) - 0.5) * (a(i) - 0.5) + (b(i) + 0.25) * (b(i) + 0.25) + (c(i) - 0.5) * (c(i) - 0.5));
    const double d = 4 * (6 * std::pow(u, 5) - 3 * u * u) * -u * u * 2;
    worst = std::max({worst, std::abs(ga(i) - d * (a(i) - 0.5)) / (1 + std::abs(d)), std::abs(gc(i) - d * (c(i) - 0.5)) / (1 + std::abs(d))});
  }
  CHECK(worst < 1e-13);
  const auto other = [&](const auto& x) {  // another array: as written it is too long
    const auto i2 = 1.0 / ((x - 0.5) * (x - 0.5) + (b + 0.25) * (b + 0.25) + (c - 0.5) * (c - 0.5)), j2 = 1.0 / ((x - 0.5) * (x - 0.5) + (b + 0.25) * (b + 0.25) + (a - 0.5) * (a - 0.5));
    const auto i6 = i2 * j2 * i2;
    return sum(i6 * i6 - i6);
  };
  CHECK_THROWS_WITH_AS(tt::grad(other)(a), doctest::Contains("TT-T10"), tt::type_error);
  CHECK(std::isfinite(other(a)));
}
TEST_CASE("gradients through names of one array against the closed form") {
  for (const index_t n : sizes) {
    const auto x = wave<double>(n, 0.3), w = wave<double>(n, 2.1);
    const vec g = tt::grad([](auto v) { return sum(exp(-v * v) * sin(v)); })(x);
    const auto [hx, hw] = tt::grad<0, 1>([](auto u, auto v) { return sum(two_waves(u, u, u, v)); })(x, w);
    const auto [gu, gv] = tt::grad<0, 1>([](auto u, auto v) { return sum((exp(u) - v) * (exp(u) - v)); })(x, w);
    double worst = 0;
    for (index_t i = 0; i < n; ++i) {
      const double a = x(i), e = std::exp(-a * a), d = std::exp(a) - w(i);
      worst = std::max(worst, std::abs(g(i) - e * (std::cos(a) - 2 * a * std::sin(a))));
      worst = std::max(worst, std::abs(hx(i) - e * (std::cos(a) - 2 * a * std::sin(a))));
      worst = std::max(worst, std::abs(hw(i) - 1 / (std::cosh(w(i)) * std::cosh(w(i)))));
      worst = std::max(worst, std::abs(gu(i) - 2 * d * std::exp(a)) / (1 + std::abs(gu(i))));
      worst = std::max(worst, std::abs(gv(i) + 2 * d) / (1 + std::abs(gv(i))));
    }
    CHECK(worst < 1e-14);
  }
}
TEST_CASE("gradients of reductions of names of one array: what the reduction's gradient at the evaluated operand says") {
  const vec x{0.3, -0.7, 1.1, 0.4}, y{0.9, 0.4, -0.5, 1.3};
  int checked = 0;
  const auto check = [&](const char* name, const auto& reduced) {
    CAPTURE(name);
    const auto law = [&](const auto& inner, const auto& slope) {  // of an elementwise function
      const vec u = inner(x), outer = tt::grad(reduced)(u), got = tt::grad([&](const auto& v) { return reduced(inner(v)); })(x), slopes = slope(x);
      for (index_t i = 0; i < 4; ++i) {
        CHECK(got(i) == doctest::Approx(outer(i) * slopes(i)).epsilon(1e-13));
        vec above = x, below = x;
        above(i) += 1e-5, below(i) -= 1e-5;
        CHECK(got(i) == doctest::Approx((reduced(inner(above)) - reduced(inner(below))) / 2e-5).epsilon(1e-7).scale(1));  // differences of values
      }
      ++checked;
    };
    law([&](const auto& v) { return v * v + y; }, [](const auto& v) { return 2.0 * v; });
    law([&](const auto& v) { return (v - y) * (v - y); }, [&](const auto& v) { return 2.0 * (v - y); });
    law([](const auto& v) { return v / (v * v + 1.5); }, [](const auto& v) { return (1.5 - v * v) / square(v * v + 1.5); });
    law([&](const auto& v) { return let(v * y, [&](auto t) { return t * t * v; }) + 0.1 * v; }, [&](const auto& v) { return 3.0 * v * v * y * y + 0.1; });
  };
  check("sum", [](const auto& a) { return sum(a * 1.5); });
  check("mean", [](const auto& a) { return mean(a); });
  check("norm", [](const auto& a) { return norm(a); });
  check("stddev", [](const auto& a) { return stddev(a); });
  check("variance", [](const auto& a) { return variance(a); });
  check("logsumexp", [](const auto& a) { return logsumexp(a); });
  check("max", [](const auto& a) { return tt::max(a); });
  check("prod", [](const auto& a) { return prod(a); });
  check("norm of a row", [](const auto& a) { return sum(norm(unsqueeze(a, 0), 1) * 2.0); });
  check("norm times a number", [](const auto& a) { return tt::square(norm(a) * 2.0); });
  CHECK(checked == 40);
}
TEST_CASE("adjoints in complex<double> beside floats: sixteen lanes of sixteen bytes") {
  using C = std::complex<double>;
  const tt::tensor<C, 1> z{C(1, 2)}, c{C(3, -1)};
  tt::tensor<float, 1> w(40);
  for (index_t i = 0; i < 40; ++i) w(i) = static_cast<float>(i % 7);
  const auto g = tt::grad([&](const auto& v) {
    auto s = sum(v * (c * w) * v * c * w);
    return real(s * conj(s));
  })(z);
  // s = k z^2 with k = c^2 sum(w^2), |s|^2 = |k|^2 |z|^4, gradient 4 |k|^2 |z|^2 z
  double ww = 0;
  for (int i = 0; i < 40; ++i) ww += (i % 7) * (i % 7);
  const double k = 100 * ww * ww * 4 * 5;
  CHECK(g(0).real() == doctest::Approx(k).epsilon(1e-12));
  CHECK(g(0).imag() == doctest::Approx(2 * k).epsilon(1e-12));
}
TEST_CASE("shapes that differ in a mask of duals") {
  tt::tensor<tt::dual<double>, 1> x(2), y(3);
  tt::tensor<bool, 1> m;
  CHECK_THROWS_WITH_AS(m = x > y, doctest::Contains("TT-S01"), tt::shape_error);
}
TEST_CASE("a gradient through two arrays where the pattern expects one") {
  const auto x = wave<double>(50, 0.3), w = wave<double>(50, 2.1);
  const auto [gx, gw] = tt::grad<0, 1>([](auto u, auto v) { return sum(exp(-u * v) * sin(u)); })(x, w);
  double worst = 0;
  for (index_t i = 0; i < 50; ++i) {
    const double a = x(i), b = w(i), e = std::exp(-a * b);
    worst = std::max(worst, std::abs(gx(i) - e * (std::cos(a) - b * std::sin(a))));
    worst = std::max(worst, std::abs(gw(i) + a * e * std::sin(a)));
  }
  CHECK(worst < 1e-14);
}
}  // namespace merge_test
