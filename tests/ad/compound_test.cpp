// Statements of scalars that read what they write: `q -= q * 0.25`. The right side refers to the entry of q, which must not be given
// away with it. Random programs of such statements against the complex step; everyday forms against closed forms.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>
#include <ttensor/all.hpp>

namespace tt = ttensor;
using tt::tensor, tt::grad;

namespace {
struct draws {
  std::uint64_t s;
  int operator()(int n) {
    s ^= s << 13, s ^= s >> 7, s ^= s << 17;
    return static_cast<int>((s >> 33) % static_cast<std::uint64_t>(n));
  }
};
/// A program: instructions on three registers, written in compound assignments, copies, moves and references.
struct program {
  std::uint64_t seed;
  int length;
  template <class T> T operator()(const T& x) const {
    using std::sin, std::exp;
    draws next{seed};
    std::array<T, 3> r{x * 0.5, x + 0.25, T(0.75)};
    for (int i = 0; i < length; ++i) {
      T &a = r[static_cast<std::size_t>(next(3))], &b = r[static_cast<std::size_t>(next(3))];
      const int form = next(10);
      auto right = [&]() -> T {
        switch (form) {
          case 0: return a * 0.25;
          case 1: return sin(a) * b;
          case 2: return a * b - x;
          case 3: return 1.0 / (a * a + 1.5);
          case 4: return T(b);
          case 5: { T c = a; return std::move(c) * 0.5 + a; }
          case 6: return exp(-a * a) + b * 0.125;
          case 7: return -a;
          case 8: return b;
          default: return 0.5 - sin(a * b);
        }
      };
      switch (next(9)) {
        case 0: a += right(); break;
        case 1: a -= right(); break;
        case 2: a *= right(); break;
        case 3: a /= right() * 0.25 + 2.5; break;
        case 4: a = right() - a * b; break;
        case 5: a = a * right(); break;
        case 6: { T c = right(); a -= c; a += std::move(c) * b; break; }
        case 7: { T c = std::move(a) * 0.5; a = c - c * c * 0.125; break; }
        default: { T c = a + right(); c -= c * 0.5; c *= c; a = std::move(c); break; }
      }
      a = sin(a);  // stays in reach
    }
    return r[0] * r[1] + r[2];
  }
};
double step(const program& p, double x) { return p(std::complex<double>(x, 1e-100)).imag() / 1e-100; }
}  // namespace

TEST_CASE("random programs, first and second derivatives") {
  for (std::uint64_t k = 1; k <= 400; ++k) {
    const program p{k * 0x9e3779b97f4a7c15u, 1 + static_cast<int>(k % 9)};
    const double x = 0.3 + 0.001 * static_cast<double>(k), want = step(p, x);
    CAPTURE(k);
    CHECK(grad(p)(x) == doctest::Approx(want).epsilon(1e-10));
    CHECK(tt::vmap(grad(p))(tensor<double, 1>{x, 0.5})(0) == doctest::Approx(want).epsilon(1e-10));
    const double h = 1e-4, bend = (8 * (step(p, x + h) - step(p, x - h)) - (step(p, x + 2 * h) - step(p, x - 2 * h))) / (12 * h);
    CHECK(tt::jacfwd(grad(p))(x) == doctest::Approx(bend).epsilon(1e-6));
    CHECK(grad(grad(p))(x) == doctest::Approx(bend).epsilon(1e-6));
  }
}

TEST_CASE("iterations as they are written") {
  const auto newton = [](const auto& a) {
    auto x = a * 0.5;
    for (int i = 0; i < 30; ++i) x -= (x * x - a) / (2.0 * x);
    return x;
  };
  CHECK(grad(newton)(2.0) == doctest::Approx(0.5 / std::sqrt(2.0)).epsilon(1e-14));
  CHECK(grad(grad(newton))(2.0) == doctest::Approx(-0.25 / std::pow(2.0, 1.5)).epsilon(1e-13));
  CHECK(tt::jacfwd(grad(newton))(2.0) == doctest::Approx(-0.25 / std::pow(2.0, 1.5)).epsilon(1e-13));
  CHECK(tt::vmap(grad(newton))(tensor<double, 1>{2, 4})(1) == doctest::Approx(0.25).epsilon(1e-14));
  const auto decay = [](const auto& y0) {
    auto y = y0 * 1.0;
    for (int i = 0; i < 10; ++i) y += 0.1 * (-y);
    return y;
  };
  CHECK(grad(decay)(1.0) == doctest::Approx(std::pow(0.9, 10)).epsilon(1e-14));
  CHECK(float(grad(decay)(1.0f)) == doctest::Approx(std::pow(0.9, 10)).epsilon(1e-6));
  CHECK(tt::hvp(decay, 1.0, 1.0) == 0);
  CHECK(tt::vjp(decay, 1.0).pull(1.0) == doctest::Approx(std::pow(0.9, 10)).epsilon(1e-14));
  CHECK(tt::linearize(decay, 1.0).lin(1.0) == doctest::Approx(std::pow(0.9, 10)).epsilon(1e-14));
}

TEST_CASE("what is read and written: elements, members, copies, references, moved and forwarded values") {
  const auto check = [](auto f, double want) { CHECK(grad(f)(1.0) == doctest::Approx(want).epsilon(1e-14)); };
  check([](auto x) { auto q = x * 1.0; q -= q * 0.25; return q; }, 0.75);
  check([](auto x) { auto y = x * 2.0; y *= exp(-y); return y; }, -2 * std::exp(-2.0));
  check([](auto x) { auto y = x * 2.0; y -= 1.0 / y; return y; }, 2.5);
  check([](auto x) { auto y = x * 2.0; const auto& r = y; y += r * r; return y; }, 10);
  check([](auto x) { auto y = x * 2.0; auto z = y * 3.0; y += std::move(z); return y; }, 8);
  check([](auto x) { auto y = x * 2.0; return std::move(y) - y * 0.25; }, 1.5);
  check([](auto x) { const auto f = [](auto&& a) { return std::forward<decltype(a)>(a) + a * a; }; return f(x * 2.0); }, 10);
  check([](auto x) { std::array<decltype(x), 2> a{x * 2.0, x * 3.0}; a[1] -= a[1] * a[0]; return a[1]; }, -9);
  check([](auto x) { std::vector<decltype(x)> a(1); a[0] = x * 2.0; a[0] -= a[0] * 0.25; return a[0]; }, 1.5);
  check([](auto x) { struct { decltype(x * 1.0) v; } o{x * 1.0}; o.v -= o.v * 0.25; return o.v; }, 0.75);
  check([](auto x) { auto y = x * 2.0; y += tt::where(y > 1.0, y * 3.0, y); return y; }, 8);
  check([](auto x) { auto y = x * 2.0; y += tt::stop_gradient(y) * y; return y; }, 6);
  check([](auto x) { return tt::checkpoint([](auto t) { auto y = t * 2.0; y -= y * 0.25; return y; })(x); }, 1.5);
  check([](auto x) { auto y = x * 2.0; y *= copysign(y, -(x * x)); return y; }, -8);  // a temporary that is not differentiable
  const auto elements = grad([](const auto& v) { auto s = v(0) * v(1); s /= s + 1.0; return s; })(tensor<double, 1>{1, 2});
  CHECK(elements(0) == doctest::Approx(2.0 / 9).epsilon(1e-14));
  CHECK(elements(1) == doctest::Approx(1.0 / 9).epsilon(1e-14));
  const auto turned = grad([](const auto& z) { auto s = z * 2.0; s -= s * 0.25; return real(s * conj(s)); })(std::complex<double>(1, 2));
  CHECK(turned.real() == doctest::Approx(4.5).epsilon(1e-14));
  CHECK(turned.imag() == doctest::Approx(9).epsilon(1e-14));
  const auto mixed = grad([](const auto& z) { auto s = z * 2.0; auto m = real(s); s -= s * m; return real(s * conj(s)); })(std::complex<double>(1, 0));
  CHECK(mixed.real() == doctest::Approx(2 * (2 - 4) * (2 - 8)).epsilon(1e-14));  // (2 z - 4 z^2)^2 of real z
}

TEST_CASE("a value that was moved from is refused, not read as what took its entry") {
  CHECK_THROWS_AS(grad([](auto x) { auto a = x * 2.0; auto b = std::move(a); b -= a * 0.25; return b; })(1.0), tt::level_error);
  try {
    static_cast<void>(grad([](auto x) { auto a = x * 2.0; auto b = std::move(a); static_cast<void>(b); return a; })(1.0));
    FAIL("returned");
  } catch (const tt::level_error& e) {
    CHECK(std::string(e.what()).find("moved from") != std::string::npos);
  }
  CHECK(grad([](auto x) { auto a = x * 2.0, b = x * 3.0; std::swap(a, b); a -= a * b; return a; })(1.0) == -9);
  CHECK(grad([](auto x) { auto a = x * 2.0; auto& same = a; a = std::move(same); a -= a * 0.25; return a; })(1.0) == 1.5);
}

TEST_CASE("++ and --, as of numbers") {
  const auto f = [](auto x) {
    auto y = x * x;
    ++y, y--;
    const auto z = y++;
    --y;
    return z * y;
  };
  CHECK(grad(f)(2.0) == 32);
  CHECK(tt::jvp(f, 2.0, 1.0).y_dot == 32);
  CHECK(tt::vmap(f)(tensor<double, 1>{2, 3})(1) == 81);
}

TEST_CASE("unary plus of a temporary is a value; clamp of three scalars beside std's") {
  const auto f = [](auto x) {
    const auto& r = +(x * 3.0);
    const auto other = x * 5.0 + 1.0, product = other * other;
    return r * r + product * 0.0;
  };
  CHECK(grad(f)(1.0) == 18);
  CHECK(tt::jvp(f, 1.0, 1.0).y_dot == 18);
  CHECK(tt::vmap(grad(f))(tensor<double, 1>{1, 2})(1) == 36);
  const auto g = [](auto x) {
    using std::clamp;
    const auto y = x * 2.0, low = x * 0.5, high = x * 1.5;
    return clamp(y, low, high);
  };
  CHECK(tt::vmap(g)(tensor<double, 1>{2, 4})(1) == 6);
  CHECK(grad(g)(2.0) == 1.5);
}
TEST_CASE("an assignment of an element is an element") {
  const auto f = [](auto t) {
    tt::tensor<decltype(t), 1> z(3);
    z(0) = z(1) = t * t;
    z(2) = z(1) += z(0);
    return sum(z * z);  // 9 t^4
  };
  CHECK(f(2.0) == 144);
  CHECK(tt::grad(f)(2.0) == 288);
  CHECK(tt::jvp(f, 2.0, 1.0).y_dot == 288);
  CHECK(tt::grad(tt::grad(f))(2.0) == 432);
  CHECK(tt::all(tt::vmap(tt::grad(f))(tt::tensor<double, 1>{1, 2}) == tt::tensor<double, 1>{36, 288}));
  const auto operand = [](auto t) {
    tt::tensor<decltype(t), 1> z{t, t};
    z(0) += z(1) = t * t;
    const auto before = tt::eval(sum(z));
    return before + tt::square(z(1) = 3.0 * t);  // t + 11 t^2
  };
  CHECK(operand(2.0) == 46);
  CHECK(tt::grad(operand)(2.0) == 45);
  CHECK(tt::jvp(operand, 2.0, 1.0).y_dot == 45);
  CHECK(tt::grad(tt::grad(operand))(2.0) == 22);
  CHECK(tt::vmap(tt::grad(operand))(tt::tensor<double, 1>{1, 2})(1) == 45);
  const auto symmetric = [](const auto& x) {
    auto m = tt::eval(x * 1.0);
    m(0, 1) = m(1, 0) = x(0, 0) * x(1, 1);
    m(0, 0) = m(0, 0) = m(1, 1);
    return sum(m * m);  // 2 (a d)^2 + 2 d^2
  };
  CHECK(tt::all(tt::grad(symmetric)(tt::tensor<double, 2>{{1, 2}, {3, 4}}) == tt::tensor<double, 2>{{64, 0}, {0, 32}}));
}
