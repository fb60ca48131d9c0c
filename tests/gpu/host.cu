// The host's side of the library in a file of nvcc: what it refused or warned of once stands here, and every transform. No device code.
#include <doctest/doctest.h>
#include <ttensor/all.hpp>
#include <cmath>
#include <complex>

namespace tt = ttensor;

namespace {
using vec = tt::tensor<double, 1>;
using mat = tt::tensor<double, 2>;
const vec x{0.5, -1, 2}, v{1, 0.5, -2};
const mat m{{2, 1, 0}, {1, 3, 1}, {0, 1, 4}};
bool near(double got, double want) { return std::abs(got - want) <= 1e-13 * (1 + std::abs(want)); }
template <class A, class B> bool near(const A& got, const B& want) { return tt::all(abs(got - want) <= 1e-13 * (1 + abs(want))); }
constexpr auto wave = [](const auto& t) { return sum(exp(-t * t) * sin(t)); };
const vec slope = tt::eval(exp(-x * x) * (cos(x) - 2.0 * x * sin(x)));
template <class T> struct line { tt::tensor<T, 1> w; T b; };
// code of any scalar: a loop, branches, a comparison
template <class T> T price(T s) {
  T y = 1;
  for (int i = 0; i < 3; ++i) y = y * s + exp(-s);
  return tt::where(y > 2.0, y, log(y));
}
}  // namespace

TEST_CASE("gradients of statements, sums, products, selections") {
  CHECK(near(tt::grad(wave)(x), slope));
  CHECK(near(tt::value_and_grad(wave)(x).value, wave(x)));
  CHECK(near(tt::jvp(wave, x, v).y_dot, sum(slope * v)));
  CHECK(near(tt::grad([](const auto& t) { return dot(matmul(m, t), t); })(x), 2.0 * matmul(m, x)));
  CHECK(near(tt::grad([](const auto& t) { return sum(where(t > 0, t * t, 3.0 * t)); })(x), vec{1, 3, 4}));
  CHECK(near(tt::grad([](const auto& t) { return sum(take(t, tt::tensor<int, 1>{2, 0, 2}, 0) * x); })(x), vec{-1, 0, 2.5}));
  CHECK(near(tt::grad([](const auto& t) { return logsumexp(t); })(x), softmax(x, 0)));
  CHECK(near(tt::grad([](const auto& t) { return mean(maximum(t, 0.0)) + tt::max(t); })(x), vec{1.0 / 3, 0, 4.0 / 3}));
  CHECK(near(tt::grad([](const auto& t) { return norm(t) + stddev(t); })(x), x / norm(x) + (x - mean(x)) / (3.0 * stddev(x))));
}
TEST_CASE("floats, whose sums are collected in double") {
  const tt::tensor<float, 1> f{1, 2, 4};
  CHECK(sum(f * f) == 21.0f);
  CHECK(tt::all(tt::grad([](const auto& t) { return sum(t * t) + mean(t); })(f) == 2.0f * f + 1.0f / 3.0f));
}
TEST_CASE("complex numbers") {
  using complex = std::complex<double>;
  const tt::tensor<complex, 1> z{{1, 2}, {0, -3}};
  const auto g = tt::grad([](const auto& t) { return sum(real(t * conj(t) / 2.0 + t * t)); })(z);  // |z|^2 / 2 + Re z^2: z + 2 conj(z)
  CHECK(near(real(g), 3.0 * real(z)));
  CHECK(near(imag(g), -imag(z)));
}
TEST_CASE("every transform, and all over one another") {
  const auto squares = [](const auto& t) { return t * t; };
  const auto cubes = [](const auto& t) { return sum(t * t * t); };
  const mat diagonal{{1, 0, 0}, {0, -2, 0}, {0, 0, 4}};
  CHECK(near(tt::jacfwd(squares)(x), diagonal));
  CHECK(near(tt::jacrev(squares)(x), diagonal));
  CHECK(near(tt::hessian(cubes)(x), 3.0 * diagonal));
  CHECK(near(tt::hvp(cubes, x, v), 6.0 * x * v));
  CHECK(near(tt::vjp(squares, x).pull(v), 2.0 * x * v));
  CHECK(near(tt::linearize(squares, x).lin(v), 2.0 * x * v));
  CHECK(near(tt::vmap(tt::grad(cubes))(m), 3.0 * m * m));
  CHECK(near(tt::grad([](const auto& t) { return sum(tt::grad([](const auto& s) { return sum(s * s * s); })(t)); })(x), 6.0 * x));
  CHECK(near(tt::grad(tt::checkpoint(cubes))(x), 3.0 * x * x));
  CHECK(near(tt::grad([](const auto& p) { return sum(p.w * p.w) * p.b; })(line<double>{x, 2.0}).w, 4.0 * x));
  CHECK(near(tt::fixed<double, 2>{1, 2} + 1.0, tt::fixed<double, 2>{2, 3}));
}
template <class T> T all_rules(T t) {
  const T a = exp(t) + log(t) + sin(t) * cos(t) / tan(t) - tanh(t) + sqrt(t) + sigmoid(t);
  const T b = pow(t, t) + hypot(t, a) + atan2(t, a) + maximum(t, a) + minimum(t, a * 2.0) + where(t > 0.5, t, a);
  const T c = tt::square(t) + tt::clamp(t, a, b) + tt::lerp(t, a, b) + tt::fma(t, a, b) + expm1(t) + log1p(t) + erf(t) + asinh(t) + cbrt(t) + rsqrt(t) + abs(t) + tt::gelu(t) + tt::silu(t) + tt::relu(t);
  const T d = 2.0 / t + t / 3.0 + (-t) * 2 - t / a + exp2(t) + log2(t) + log10(t) + sinh(t) + cosh(t) + atan(t) + asin(t * 0.1) + acos(t * 0.1);
  return a * b + c / d;
}
TEST_CASE("rules of scalars over themselves, which nvcc compiles as templates for host and device") {
  const auto f = [](auto t) { return all_rules(t); };
  const auto g = tt::grad(f);
  const double second = tt::grad(g)(0.7);
  CHECK(std::abs(second - (g(0.7 + 1e-6) - g(0.7 - 1e-6)) / 2e-6) < 1e-5 * std::abs(second));
  CHECK(std::abs(second - tt::hvp(f, 0.7, 1.0)) < 1e-12 * std::abs(second));
}
TEST_CASE("scalars: loops, branches, scans") {
  const double h = 1e-6;
  for (double s : {0.2, 1.5}) {
    const double d = tt::grad([](auto t) { return price(t); })(s);
    CHECK(std::abs(d - (price(s + h) - price(s - h)) / (2 * h)) < 1e-8);
    CHECK(near(tt::jvp([](auto t) { return price(t); }, s, 1.0).y_dot, d));
    CHECK(near(tt::vmap([](auto t) { return tt::cond(t > 1.0, [](auto u) { return u * u; }, [](auto u) { return -u; }, t); })(vec{s})(0), s > 1 ? s * s : -s));
  }
  CHECK(near(tt::grad(tt::grad(tt::grad([](auto t) { return exp(2.0 * t) * sqrt(square(t)); })))(1.0), 20 * std::exp(2.0)));
  CHECK(near(tt::grad([](auto t) { return tt::for_loop(3, [&](int, auto c) { return c * t; }, t); })(2.0), 32));
  CHECK(near(tt::grad([](auto t) { return tt::scan([](auto c, auto e) { return std::pair{c * e, c}; }, t, x).first; })(2.0), -1));
}
