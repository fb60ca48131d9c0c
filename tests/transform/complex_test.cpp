// Derivatives of functions of complex numbers against closed forms. For a real result L the gradient is dL/dx + i dL/dy; so for
// L = real(f(z)) with f holomorphic it is conj(f'(z)), and for L = imag(f(z)) it is i conj(f'(z)).
#include <doctest/doctest.h>

#include <ttensor/all.hpp>

namespace complex_test {
namespace tt = ttensor;
using C = std::complex<double>;

namespace {
const C i(0, 1);
bool near(C a, C b, double tolerance = 1e-13) { return std::abs(a - b) <= tolerance * (1 + std::abs(b)); }
const C points[] = {C(3, 4), C(1, -2), C(0.5, 0.25), C(-0.7, 0.3)};
tt::tensor<C, 1> array() { return {{points[0], points[1], points[2], points[3]}}; }

/// f in all forms, as a scalar function and as a fused statement: f'(z) given by `slope`.
template <class F, class S> void holomorphic_case(const char* name, F f, S slope) {
  INFO(std::string(name));
  const auto z = array();
  const auto g = tt::grad([&](const auto& a) { return tt::sum(tt::real(f(a))); })(z);
  const auto h = tt::grad([&](const auto& a) { return tt::sum(tt::imag(f(a))); })(z);
  const auto w = tt::jvp(f, z, tt::tensor<C, 1>{{i, i, i, i}});
  const auto c = tt::grad([&](const auto& a) { return tt::sum(f(a)); }, tt::holomorphic)(z);
  const auto both = tt::grad([&](const auto& a) { return tt::sum(tt::abs(f(a)) * tt::abs(f(a))); })(z);  // 2 f conj(f')
  for (int k = 0; k < 4; ++k) {
    const C p = points[k], d = slope(p), y = f(p);
    CHECK(near(g(k), std::conj(d)));
    CHECK(near(h(k), i * std::conj(d)));
    CHECK(near(w.y(k), y));
    CHECK(near(w.y_dot(k), i * d));
    CHECK(near(c(k), d));
    CHECK(near(both(k), 2.0 * y * std::conj(d)));
    CHECK(near(tt::grad([&](const auto& a) { using std::real; return real(f(a)); })(p), std::conj(d)));
    CHECK(near(tt::grad([&](const auto& a) { using std::imag; return imag(f(a)); })(p), i * std::conj(d)));
    CHECK(near(tt::grad(f, tt::holomorphic)(p), d));
    CHECK(near(tt::jvp(f, p, C(1)).y_dot, d));
  }
}
}  // namespace

#define CASE(name, value, slope) \
  holomorphic_case(name, [](const auto& z) { using namespace std; return value; }, []([[maybe_unused]] C z) { return C(slope); })
TEST_CASE("holomorphic functions") {
  CASE("add", z + C(1, 2), 1.0);
  CASE("sub", C(1, 2) - z, -1.0);
  CASE("mul", z * z * C(1, 2), 2.0 * z * C(1, 2));
  CASE("div", C(1, 2) / z, -C(1, 2) / (z * z));
  CASE("exp", exp(z), std::exp(z));
  CASE("log", log(z), 1.0 / z);
  CASE("sin", sin(z), std::cos(z));
  CASE("cos", cos(z), -std::sin(z));
  CASE("tanh", tanh(z), 1.0 - std::tanh(z) * std::tanh(z));
  CASE("sqrt", sqrt(z), 0.5 / std::sqrt(z));
  CASE("acosh", acosh(z), 1.0 / (std::sqrt(z - 1.0) * std::sqrt(z + 1.0)));  // left of 0 too
  CASE("composed", exp(z * z * 0.1) * sin(z) / (z + 3.0), (std::exp(0.1 * z * z) * (0.2 * z * std::sin(z) + std::cos(z)) * (z + 3.0) - std::exp(0.1 * z * z) * std::sin(z)) / ((z + 3.0) * (z + 3.0)));
#undef CASE
}

// On a cut the sign of a zero says which side the value is continuous to: the truth is a difference of the C library's values along the cut.
TEST_CASE("derivatives on both sides of a cut") {
  auto both = [](const char* name, auto f, auto slope) {
    INFO(std::string(name));
    for (const C z : {C(2, 0.0), C(2, -0.0), C(-2, 0.0), C(-2, -0.0), C(0.0, 2), C(-0.0, 2), C(0.0, -2), C(-0.0, -2)}) {
      CAPTURE(z.real());
      CAPTURE(z.imag());
      auto moved = [&](double s) { return z.real() == 0 ? C(z.real(), z.imag() + s) : C(z.real() + s, z.imag()); };
      const C step = z.real() == 0 ? C(0, 2e-5) : C(2e-5, 0);
      const C truth = (f(moved(1e-5)) - f(moved(-1e-5))) / step;
      CHECK(near(tt::grad(f, tt::holomorphic)(z), truth, 1e-9));
      CHECK(near(tt::jvp(f, z, C(1)).y_dot, truth, 1e-9));
      const auto array = tt::grad([&](const auto& a) { return tt::sum(f(a)); }, tt::holomorphic)(tt::tensor<C, 1>{{z, z, z, z, z}});
      for (int k = 0; k < 5; ++k) CHECK(near(array(k), truth, 1e-9));
      const C second = (slope(moved(1e-5)) - slope(moved(-1e-5))) / step;
      CHECK(near(tt::jvp(tt::grad(f, tt::holomorphic), z, C(1)).y_dot, second, 1e-9));
      CHECK(near(tt::grad(tt::grad(f, tt::holomorphic), tt::holomorphic)(z), second, 1e-9));
    }
  };
  // Slopes of factors whose imaginary part keeps its sign: a complex number beside a real one.
#define CUT(name, slope) both(#name, [](const auto& z) { using std::name; return name(z); }, [](C z) { return slope; })
  CUT(asin, 1.0 / (std::sqrt(1.0 - z) * std::sqrt(1.0 + z)));
  CUT(acos, -1.0 / (std::sqrt(1.0 - z) * std::sqrt(1.0 + z)));
  CUT(acosh, 1.0 / (std::sqrt(z - 1.0) * std::sqrt(z + 1.0)));
  CUT(asinh, 1.0 / std::sqrt(1.0 + z * z));
  CUT(atan, 1.0 / (1.0 + z * z));
  CUT(atanh, 1.0 / ((1.0 - z) * (1.0 + z)));
  CUT(sqrt, 0.5 / std::sqrt(z));
  CUT(log, 1.0 / z);
#undef CUT
}

TEST_CASE("functions to real numbers, and conj") {
  const auto z = array();
  auto each = [&](auto f, auto expected) {
    const auto g = tt::grad([&](const auto& a) { return tt::sum(f(a)); })(z);
    const auto d = tt::jvp(f, z, tt::tensor<C, 1>{{C(1, 2), C(1, 2), C(1, 2), C(1, 2)}}).y_dot;
    for (int k = 0; k < 4; ++k) {
      const C want = expected(points[k]);
      CHECK(near(g(k), want));
      CHECK(near(tt::grad(f)(points[k]), want));
      CHECK(near(d(k), want.real() * 1 + want.imag() * 2));  // dL/dx and dL/dy along 1 + 2i
    }
  };
  each([](const auto& a) { return tt::real(a * tt::conj(a)); }, [](C p) { return 2.0 * p; });
  each([](const auto& a) { return tt::abs(a); }, [](C p) { return p / std::abs(p); });
  each([](const auto& a) { return tt::real(a); }, [](C) { return C(1); });
  each([](const auto& a) { return tt::imag(a); }, [](C) { return i; });
  each([](const auto& a) { return tt::arg(a); }, [](C p) { return i * p / std::norm(p); });
  each([](const auto& a) { return tt::imag(tt::conj(a) * a * a); }, [](C p) { return C(2 * p.real() * p.imag(), std::norm(p) + 2 * p.imag() * p.imag()); });
  CHECK(tt::grad([](const auto& a) { return tt::abs(a) * tt::abs(a); })(C(3, 4)) == C(6, 8));
  CHECK(tt::grad([](const auto& a) { return tt::sum(tt::abs(a)); })(tt::tensor<C, 1>{{C(0, 0), C(0, 2)}})(0) == C(0));
  CHECK(tt::grad([](const auto& a) { return tt::abs(a); })(C(0, 0)) == C(0));
  CHECK(near(tt::grad([](const auto& a) { return tt::abs(tt::mean(a)); })(z)(2), (points[0] + points[1] + points[2] + points[3]) / std::abs(points[0] + points[1] + points[2] + points[3]) / 4.0));
}

TEST_CASE("pow") {
  const tt::tensor<C, 1> z{{C(1, 2), C(-3, 1), C(0.5, -4)}}, w{{C(2, 0), C(0.5, 1), C(-1, 0.25)}};
  const tt::tensor<C, 1> y = pow(z, w), cube = pow(z, 3), root = pow(z, 0.5);
  const auto dz = tt::grad([&](const auto& a) { return sum(real(pow(a, w))); })(z);
  const auto dw = tt::grad([&](const auto& a) { return sum(real(pow(z, a))); })(w);
  const auto t = tt::jvp([](const auto& a) { return pow(a, 3); }, z, z).y_dot;
  for (int k = 0; k < 3; ++k) {
    const C want = std::exp(w(k) * std::log(z(k)));
    CHECK(near(y(k), want));
    CHECK(near(cube(k), z(k) * z(k) * z(k), 1e-12));
    CHECK(near(root(k), std::sqrt(z(k))));
    CHECK(near(dz(k), std::conj(w(k) * want / z(k)), 1e-12));
    CHECK(near(dw(k), std::conj(want * std::log(z(k))), 1e-12));
    CHECK(near(t(k), 3.0 * cube(k), 1e-12));
  }
  const tt::tensor<C, 1> u{{i, C(1, 2), C(0), C(-3, 1)}}, first = pow(u, 1), second = pow(u, 2), third = pow(u, 3);
  const auto slope = tt::grad([](const auto& a) { return tt::sum(real(pow(a, 2))); })(u);
  for (int k = 0; k < 4; ++k) {  // products, as of real numbers
    CHECK(first(k) == u(k));
    CHECK(second(k) == u(k) * u(k));
    CHECK(third(k) == u(k) * u(k) * u(k));
    CHECK(slope(k) == 2.0 * std::conj(u(k)));
  }
  const tt::tensor<C, 1> edge = pow(tt::tensor<C, 1>{{C(0), C(0), C(2)}}, tt::tensor<C, 1>{{C(0), C(2), C(0)}});
  CHECK(edge(0) == C(1));
  CHECK(edge(1) == C(0));
  CHECK(edge(2) == C(1));
  CHECK(tt::square(C(1, 2)) == C(-3, 4));
  CHECK(tt::reciprocal(C(0, 2)) == C(0, -0.5));
}

TEST_CASE("norm, variance and stddev of complex numbers are real") {
  const tt::tensor<C, 1> c{{C(0, 1), C(0, -1)}}, z{{C(1, 2), C(-3, 1), C(0.5, -4)}};
  static_assert(std::is_same_v<decltype(norm(c)), double> && std::is_same_v<decltype(variance(c)), double> && std::is_same_v<decltype(stddev(c)), double>);
  CHECK(norm(c) == std::sqrt(2.0));
  CHECK(variance(c) == 1);
  CHECK(stddev(c) == 1);
  CHECK(norm(tt::tensor<C, 2>{{C(3, 4), 0}, {0, C(0, 2)}}, 1)(1) == 2);
  const double length = norm(z), spread = stddev(z);
  CHECK(length == doctest::Approx(std::sqrt(5 + 10 + 16.25)));
  const C centre = mean(z);
  const auto n = tt::grad([](const auto& a) { return norm(a); })(z);
  const auto v = tt::grad([](const auto& a) { return variance(a); })(z);
  const auto s = tt::grad([](const auto& a) { return stddev(a); })(z);
  const auto t = tt::jvp([](const auto& a) { return norm(a); }, z, tt::tensor<C, 1>{{C(1, 1), 0, 0}});
  for (int k = 0; k < 3; ++k) {
    CHECK(near(n(k), z(k) / length));
    CHECK(near(v(k), 2.0 * (z(k) - centre) / 3.0));
    CHECK(near(s(k), (z(k) - centre) / (3.0 * spread)));
  }
  CHECK(t.y_dot == doctest::Approx(3 / length));
  CHECK(norm(tt::tensor<C, 1>{{C(0, 0)}}) == 0);
  CHECK(tt::grad([](const auto& a) { return norm(a); })(tt::tensor<C, 1>{{C(0, 0)}})(0) == C(0, 0));
}

TEST_CASE("real arguments inside complex functions") {
  const auto z = array();
  const tt::tensor<double, 1> r{{1, 2, 3, 4}};
  const auto g = tt::grad([&](const auto& a) { return tt::sum(tt::real(tt::exp(a * z))); })(r);
  for (int k = 0; k < 4; ++k) CHECK(std::abs(g(k) - (points[k] * std::exp(r(k) * points[k])).real()) < 1e-12 * std::abs(std::exp(r(k) * points[k])) + 1e-13);
  const auto [gz, gr] = tt::grad<0, 1>([](const auto& a, const auto& b) { return tt::sum(tt::imag(a * b)); })(z, r);
  for (int k = 0; k < 4; ++k) {
    CHECK(near(gz(k), i * r(k)));
    CHECK(gr(k) == points[k].imag());
  }
}

TEST_CASE("products") {
  const tt::tensor<C, 2> a{{C(1, 2), C(0, 1)}, {C(2, -1), C(1, 1)}}, b{{C(1, 0), C(3, 1)}, {C(-1, 2), C(2, 2)}};
  const auto [ga, gb] = tt::grad<0, 1>([](const auto& x, const auto& y) { return tt::sum(tt::real(tt::matmul(x, y))); })(a, b);
  for (int p = 0; p < 2; ++p)
    for (int q = 0; q < 2; ++q) {
      CHECK(near(ga(p, q), std::conj(b(q, 0) + b(q, 1))));
      CHECK(near(gb(p, q), std::conj(a(0, p) + a(1, p))));
    }
  const auto z = array();
  const auto g = tt::grad([&](const auto& x) { return tt::imag(tt::dot(x, z)); })(z);
  for (int k = 0; k < 4; ++k) CHECK(near(g(k), i * std::conj(points[k])));
}

TEST_CASE("pullbacks and Jacobians") {
  const auto z = array();
  const auto r = tt::vjp([](const auto& a) { return tt::exp(a); }, z);
  const auto g = r.pull(tt::tensor<C, 1>{{C(1, 2), C(1, 2), C(1, 2), C(1, 2)}});
  for (int k = 0; k < 4; ++k) CHECK(near(g(k), std::conj(std::exp(points[k])) * C(1, 2)));
  auto f = [](const auto& a) { return tt::exp(a) * a; };
  const auto forward = tt::jacfwd(f, tt::holomorphic)(z), reverse = tt::jacrev(f, tt::holomorphic)(z);
  for (int p = 0; p < 4; ++p)
    for (int q = 0; q < 4; ++q) {
      const C want = p == q ? std::exp(points[p]) * (1.0 + points[p]) : C(0);
      CHECK(near(forward(p, q), want));
      CHECK(near(reverse(p, q), want));
    }
}

TEST_CASE("complex<float>") {
  using F = std::complex<float>;
  const tt::tensor<F, 1> z{{F(3, 4), F(1, -2)}};
  CHECK(tt::grad([](const auto& a) { return tt::sum(tt::real(a * tt::conj(a))); })(z)(0) == F(6, 8));
  CHECK(tt::grad([](const auto& a) { return tt::real(a * tt::conj(a)); })(F(3, 4)) == F(6, 8));
}

namespace {
/// Exactly, but for NaN, which is one.
template <class T> bool same(T a, T b) { return a == b || (a != a && b != b); }
template <class T> bool same(std::complex<T> a, std::complex<T> b) { return same(a.real(), b.real()) && same(a.imag(), b.imag()); }
template <class T> bool close(std::complex<T> a, std::complex<T> b) {
  return same(a, b) || std::abs(a / b - T(1)) <= 4 * std::numeric_limits<T>::epsilon() || std::abs(a - b) <= 4 * std::numeric_limits<T>::denorm_min();
}
/// Every number of elements around those of a register, contiguous and in steps, against the same number by number.
template <class T> void packs() {
  using F = std::complex<T>;
  const T large = std::numeric_limits<T>::max() / 2, small = std::numeric_limits<T>::min(), inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const T parts[] = {1, -2, T(0.3), 0, 7, T(-0.1), 3, 4, large, small, -T(0), inf, nan, large / 3};
  for (tt::index_t n = 0; n <= 40; ++n)
    for (int special = 0; special < 2; ++special) {
      CAPTURE(n);
      CAPTURE(special);
      const int kinds = special ? 14 : 8;
      tt::tensor<F, 1> a(n), b(n), y(n);
      tt::tensor<F, 2> pairs(n, 2);
      tt::tensor<T, 1> x(n), r(n);
      for (tt::index_t k = 0; k < n; ++k) {
        a(k) = F(parts[k % kinds], parts[3 * k / 2 % kinds]);
        b(k) = F(parts[(5 * k + 2) % kinds], parts[(3 * k + 1) % kinds]);
        x(k) = parts[(k + 1) % kinds];
        pairs(k, 0) = a(k);
        pairs(k, 1) = b(k);
      }
      const auto each = [&](const auto& found, auto want, bool exact) {
        for (tt::index_t k = 0; k < n; ++k) CHECK((exact ? same(F(found(k)), F(want(F(a(k)), F(b(k)), T(x(k))))) : close(F(found(k)), F(want(F(a(k)), F(b(k)), T(x(k)))))));
      };
      y = a + b;
      each(y, [](F u, F w, T) { return u + w; }, true);
      y = -a - conj(b);
      each(y, [](F u, F w, T) { return -u - std::conj(w); }, true);
      y = a / b;
      each(y, [](F u, F w, T) { return u / w; }, false);
      r = real(a) * x + imag(b);
      for (tt::index_t k = 0; k < n; ++k) CHECK(same(T(r(k)), F(a(k)).real() * x(k) + F(b(k)).imag()));
      r = abs(a);
      each(r, [](F u, F, T) { return std::abs(u); }, false);
      const tt::tensor<bool, 1> equal = a == b, other = a != b;
      y = where(equal, a, b);
      each(y, [](F, F w, T) { return w; }, true);
      for (tt::index_t k = 0; k < n; ++k) CHECK((equal(k) == (F(a(k)) == F(b(k))) && other(k) == !equal(k)));
      y = a * b;
      if (special) {
        for (tt::index_t k = 0; k < n; ++k) CHECK(std::isinf(F(y(k)).real()) == std::isinf((F(a(k)) * F(b(k))).real()));
      } else {
        each(y, [](F u, F w, T) { return u * w; }, false);
        const F total = tt::sum(a * b), strided = tt::sum(pairs(tt::all, 0) * pairs(tt::all, 1));
        CHECK(total == strided);
        C sum = 0;
        double sizes = 0;
        for (tt::index_t k = 0; k < n; ++k) sum += C(F(a(k))) * C(F(b(k))), sizes += std::abs(C(F(a(k))) * C(F(b(k))));
        CHECK(std::abs(C(total) - sum) <= 4 * static_cast<double>(std::numeric_limits<T>::epsilon()) * sizes);
      }
      const tt::tensor<F, 1> columns = pairs(tt::all, 0) * pairs(tt::all, 1);  // the bits of a number do not depend on where it stands
      for (tt::index_t k = 0; k < n; ++k) CHECK(same(F(columns(k)), F(y(k))));
    }
}
}  // namespace
TEST_CASE("statements of complex numbers, number by number") {
  packs<double>();
  packs<float>();
}

TEST_CASE("element types meet") {
  const std::complex<float> a(1, 2); const C b(3, -1); const float f = 2.5f; const double d = 0.5;
  auto [ga, gb, gf, gd] = tt::grad<0, 1, 2, 3>([](auto x, auto y, auto r, auto s) { return tt::real(tt::to<C>(x) * y * (r * s) * y); })(a, b, f, d);
  static_assert(std::is_same_v<decltype(ga), std::complex<float>> && std::is_same_v<decltype(gf), float> && std::is_same_v<decltype(gd), double>);
  CHECK(near(C(ga), std::conj(b * b * 1.25), 1e-6));
  CHECK(near(gb, std::conj(2.0 * C(a) * b * 1.25)));
  CHECK(near(double(gf), (C(a) * b * b * 0.5).real(), 1e-6));
  CHECK(near(gd, (C(a) * b * b * 2.5).real()));
  auto gz = tt::grad([](auto x) { return tt::abs(x) * tt::real(x) + tt::imag(x * x); })(b);
  CHECK(near(gz, b / std::abs(b) * 3.0 + std::abs(b) + C(0, 1) * std::conj(2.0 * b)));
}
TEST_CASE("options and nestings, scalars") {
  const C z(0.5, 0.25);
  auto f = [](const auto& a) { using std::exp; return exp(a) * a; };
  const C d1 = std::exp(z) * (1.0 + z), d2 = std::exp(z) * (2.0 + z);
  CHECK(near(tt::vjp(f, z).pull(C(1, 2)), std::conj(d1) * C(1, 2)));
  CHECK(near(tt::grad(f, tt::holomorphic, tt::strict)(z), d1));
  CHECK(near(tt::grad([](auto a) { return tt::imag(a); }, tt::strict)(z), i));
  CHECK_THROWS_AS(tt::grad<0>([](auto, auto b) { return b.imag(); }, tt::strict)(z, z), tt::domain_error);
  CHECK(near(tt::jacfwd(f, tt::holomorphic)(z), d1));
  CHECK(near(tt::jacrev(f, tt::holomorphic)(z), d1));
  CHECK(near(tt::jacobian(f, tt::holomorphic)(z), d1));
  CHECK(near(tt::hessian(f, tt::holomorphic)(z), d2));
  CHECK(near(tt::grad(tt::grad(f, tt::holomorphic), tt::holomorphic)(z), d2));
  CHECK(near(tt::hvp(f, z, C(1, 2), tt::holomorphic), d2 * C(1, 2)));
  CHECK(near(tt::jvp(tt::grad([](const auto& a) { return tt::abs(a) * tt::abs(a); }), z, C(1, 2)).y_dot, 2.0 * C(1, 2)));
  const auto l = tt::linearize(f, z);
  CHECK(near(l.lin(C(1, 2)), d1 * C(1, 2)));
  auto [v, g] = tt::value_and_grad(f, tt::holomorphic)(z);
  CHECK(near(v, f(z))); CHECK(near(g, d1));
  const tt::tensor<C, 1> zs{{z, C(1, 2)}};
  const auto m = tt::vmap(tt::grad([](const auto& a) { return tt::abs(a) * tt::abs(a); }))(zs);
  CHECK(near(m(1), C(2, 4)));
  const auto h = tt::jacobian(f, tt::holomorphic)(zs);
  CHECK(near(h(0, 0), d1)); CHECK(near(h(0, 1), 0));
  CHECK_THROWS_AS(tt::grad<0>([](const auto&, const auto& b) { return tt::sum(tt::imag(b)); }, tt::strict)(zs, zs), tt::domain_error);
  const tt::tensor<std::complex<float>, 1> fs{{std::complex<float>(1, 2)}};
  CHECK(near(C(tt::jacrev(f, tt::holomorphic)(fs)(0, 0)), std::exp(C(1, 2)) * C(2, 2), 1e-6));
  CHECK(near(C(tt::grad([](const auto& a) { return tt::sum(tt::real(a)); }, tt::strict)(fs)(0)), 1, 1e-6));
  CHECK(near(C(tt::grad([](const auto& a) { return tt::real(a); }, tt::strict)(std::complex<float>(1, 2))), 1, 1e-6));
}

// L = sum real(c z^2 x^2) for complex z and real x: by z it is conj(2 c z x^2), by x real(2 c z^2 x).
TEST_CASE("reverse over reverse goes between real and complex") {
  const C c(1, 2), w(0.3, -0.8);
  const double u = 0.7;
  const auto check = [&](const auto& z, const auto& x, const auto& total, const auto& at) {
    const auto f = [&](const auto& a, const auto& b) { return total(real(c * a * b * (a * b))); };
    const auto by_z = [&](const auto& a, const auto& b) { return tt::grad([&](const auto& v) { return f(v, b); })(a); };
    const auto by_x = [&](const auto& a, const auto& b) { return tt::grad([&](const auto& v) { return f(a, v); })(b); };
    const auto zz = tt::grad([&](const auto& a) { return total(real(w * by_z(a, x))); })(z);
    const auto zx = tt::grad([&](const auto& b) { return total(real(w * by_z(z, b))); })(x);
    const auto xz = tt::grad([&](const auto& a) { return total(u * by_x(a, x)); })(z);
    const auto xx = tt::grad([&](const auto& b) { return total(u * by_x(z, b)); })(x);
    for (int k = 0; k < 4; ++k) {
      const C p = at(z, k), W = std::conj(w);
      const double q = at(x, k);
      CHECK(near(at(zz, k), std::conj(2.0 * W * c * q * q)));
      CHECK(near(at(zx, k), std::real(4.0 * W * c * p * q)));
      CHECK(near(at(xz, k), std::conj(4.0 * u * c * p * q)));
      CHECK(near(at(xx, k), std::real(2.0 * u * c * p * p)));
    }
  };
  const tt::tensor<double, 1> x{0.7, 1.2, -0.4, 2};
  check(array(), x, [](const auto& v) { return tt::sum(v); }, [](const auto& v, int k) { return v.data()[k]; });
  check(C(0.4, 0.9), 0.7, [](const auto& v) { return v; }, [](const auto& v, int) { return v; });
  // and once more, of numbers: by x, z and x
  CHECK(near(tt::grad([&](const auto& b) { return real(w * tt::grad([&](const auto& a) { return tt::grad([&](const auto& v) { return real(c * a * v * (a * v)); })(b); })(C(0.4, 0.9))); })(0.7),
             std::real(4.0 * std::conj(w) * c * C(0.4, 0.9))));
  // y = c exp(x) is of complex numbers and stands in a statement of its own: the derivatives of sum |y|^2 are 2^n |c|^2 exp(2 x)
  const auto square = [&](const auto& v) {
    const auto y = tt::eval(c * exp(v));
    return tt::sum(real(y * conj(y)));
  };
  const auto d2 = tt::grad([&](const auto& v) { return tt::sum(tt::grad(square)(v)); });
  const auto d3 = tt::grad([&](const auto& v) { return tt::sum(d2(v)); })(x);
  const auto second = d2(x);
  for (int k = 0; k < 4; ++k) {
    CHECK(near(second(k), 20 * std::exp(2 * x(k))));
    CHECK(near(d3(k), 40 * std::exp(2 * x(k))));
  }
}

TEST_CASE("the real functions of a complex argument are real where an outer variable meets them") {
  // what a closure is looked at with: results of one operand have the operator's element type, a C++ number changes none
  static_assert(std::is_same_v<tt::elem_t<decltype(tt::real(std::declval<const tt::probe<C>&>()))>, double>);
  static_assert(std::is_same_v<tt::elem_t<decltype(1 - std::declval<const tt::probe<double>&>())>, double>);
  static_assert(std::is_same_v<tt::elem_t<decltype(2 * std::declval<const tt::probe<C>&>())>, C>);
  // L(z) = sum of Re(z) x^2 where x < Re(z), of Im(z) x elsewhere: its gradient is the sum of the former x^2 + i (the sum of the other x)
  const tt::tensor<double, 1> x{0.25, 3.5, -1.0, 4.0, 2.0};
  const C z(3, 4);
  const auto slope = [&](auto part) {
    return tt::grad([&](const auto& outer) {
      const auto g = tt::grad([&](const auto& inner) { return tt::sum(tt::where(part(inner) > outer, tt::real(inner) * outer * outer, tt::imag(inner) * outer)); })(z);
      return 2.0 * tt::real(g) + tt::imag(g);
    })(x);
  };
  const auto by_real = slope([](const auto& a) { return tt::real(a); });
  const auto by_imag = slope([](const auto& a) { return tt::imag(a) - 1.0; });  // 3, too
  const auto by_abs = slope([](const auto& a) { return tt::abs(a) - 2.0; });    // and 3 once more
  for (int k = 0; k < 5; ++k) {
    const double want = x(k) < 3.0 ? 4.0 * x(k) : 1.0;
    CHECK(by_real(k) == want);
    CHECK(by_imag(k) == want);
    CHECK(by_abs(k) == want);
  }
}

// Each part of floats, which are divided in double, is the nearest number but for a rounding of a rounding; parts of doubles are near by the size of
// the quotient, also where steps of the division leave the normal numbers.
TEST_CASE("quotients of complex numbers of every size") {
  const auto every = [](auto zero, int most, auto check) {
    using T = decltype(zero);
    using Z = std::complex<T>;
    std::vector<Z> a, b;
    std::uint64_t state = 1;
    const auto next = [&] { return state = state * 6364136223846793005u + 1442695040888963407u, static_cast<double>(state >> 11) / 9007199254740992.0; };
    const auto part = [&] { return static_cast<T>((next() - 0.5) * std::pow(10.0, (next() * 2 - 1) * most)); };
    for (int k = 0; k < 4000; ++k) a.emplace_back(part(), part()), b.emplace_back(part(), part());
    using L = std::numeric_limits<T>;
    for (T tiny : {L::denorm_min(), 1000 * L::denorm_min(), L::min()})
      for (T size : {L::min(), 8 * L::min(), T(1)}) a.emplace_back(tiny, tiny), b.emplace_back(size, size / 2), a.emplace_back(tiny, 2 * tiny), b.emplace_back(size / 4, -size);
    const tt::tensor<Z, 1> q = tt::tensor<Z, 1>(a) / tt::tensor<Z, 1>(b);
    for (std::size_t k = 0; k < a.size(); ++k) check(q.data()[k], a[k], b[k]);
  };
  using Long = std::complex<long double>;
  const auto parts_nearest = [](std::complex<float> q, std::complex<float> a, std::complex<float> b) {
    const Long exact = Long(a) / Long(b);
    const auto nearest = [](float x, long double y) { return std::abs(static_cast<long double>(x) - y) <= 6.2e-8L * std::abs(y) + 1e-45L; };
    CHECK(nearest(q.real(), exact.real()));
    CHECK(nearest(q.imag(), exact.imag()));
  };
  every(0.0F, 1, parts_nearest);
  every(0.0F, 10, parts_nearest);
  const auto parts_near = [](C q, C a, C b) {
    const Long exact = Long(a) / Long(b);
    const auto close = [](double x, long double y, long double size) { return std::abs(static_cast<long double>(x) - y) <= 1e-15L * size + 4.9e-324L; };
    CHECK(close(q.real(), exact.real(), std::abs(exact)));
    CHECK(close(q.imag(), exact.imag(), std::abs(exact)));
  };
  every(0.0, 1, parts_near);
  every(0.0, 150, parts_near);
}
TEST_CASE("derivatives of atan and asinh near i: 1 + z^2 cancels, (z - i)(z + i) does not") {
  using C = std::complex<double>;
  constexpr double d = 0x1p-30;
  const auto slope = [](const auto& f, C z) { return tt::jvp(f, z, C(1, 0)).y_dot; };
  const auto near = [](C got, C want) { return std::abs(got - want) <= 4e-16 * std::abs(want); };
  const auto inverse = [](const auto& z) { return atan(z); };
  CHECK(near(slope(inverse, C(0, 1 - d)), C(1 / (d * (2 - d)))));
  CHECK(near(slope(inverse, C(d, 1)), C(1) / C(d * d, 2 * d)));
  CHECK(near(slope([](const auto& z) { return asinh(z); }, C(0, 1 - d)), C(1 / std::sqrt(d * (2 - d)))));
  CHECK(near(std::conj(tt::grad([&](const auto& z) { return real(inverse(z)); })(C(0, 1 - d))), C(1 / (d * (2 - d)))));
}
}  // namespace complex_test
