// Reverse over reverse on arrays: second and third order against closed forms, and what it records.
#include <doctest/doctest.h>
#include <cmath>
#include <complex>
#include <ttensor/all.hpp>

namespace tt = ttensor;
using tt::tensor;

namespace {
using vec = tensor<double, 1>;
void check(const vec& got, const std::initializer_list<double>& want) {
  REQUIRE(got.extent(0) == static_cast<tt::index_t>(want.size()));
  tt::index_t i = 0;
  for (const double w : want) CHECK(double(got(i++)) == doctest::Approx(w).epsilon(1e-13));
}
/// sum(w * grad f), differentiated again.
template <class F> auto second(const F& f, const auto& x, const vec& w) {
  return tt::grad([&](const auto& v) { return sum(tt::grad(f)(v) * w); })(x);
}
template <class F> auto third(const F& f, const auto& x, const vec& w) {
  return tt::grad([&](const auto& u) { return sum(tt::grad([&](const auto& v) { return sum(tt::grad(f)(v) * w); })(u) * w); })(x);
}
struct recorded {
  std::uint64_t nodes, backward;
  bool operator==(const recorded&) const = default;
};
template <class F> recorded count(const F& f) {
  const auto nodes = tt::tapes::stats.nodes, backward = tt::tapes::stats.backward_loops;
  f();
  return {tt::tapes::stats.nodes - nodes, tt::tapes::stats.backward_loops - backward};
}
const vec x{0.3, -1.2, 2.0}, w{1, -2, 0.5};
}  // namespace

TEST_CASE("elementwise statements, order two and three") {
  const auto f = [](const auto& v) { return sum(v * v * v * v + exp(v) * v); };  // f'' = 12 v^2 + (v + 2) e^v, f''' = 24 v + (v + 3) e^v
  const auto two = [](double v, double s) { return s * (12 * v * v + (v + 2) * std::exp(v)); };
  const auto three = [](double v, double s) { return s * s * (24 * v + (v + 3) * std::exp(v)); };
  check(second(f, x, w), {two(0.3, 1), two(-1.2, -2), two(2.0, 0.5)});
  check(third(f, x, w), {three(0.3, 1), three(-1.2, -2), three(2.0, 0.5)});
}
TEST_CASE("an operand that is broadcast, with respect to both operands") {
  const tensor<double, 2> m{{1, 2, 3}, {4, 5, 6.5}};
  const auto f = [](const auto& a, const auto& b) { return sum(a * b * b); };
  const auto g = [&](const auto& a, const auto& b) { return sum(tt::grad<1>(f)(a, b) * w); };  // sum_ij 2 a_ij b_j w_j
  const auto [da, db] = tt::grad<0, 1>(g)(m, x);
  check(db, {2 * 5 * 1, 2 * 7 * -2, 2 * 9.5 * 0.5});
  for (int i = 0; i < 2; ++i) check(vec(da(i)), {0.6, 4.8, 2});
}
TEST_CASE("views that overlap: parts of one adjoint") {
  // sum_i x_i^2 x_{i+1}; g_k = 2 x_k x_{k+1} + x_{k-1}^2
  const auto f = [](const auto& v) { return sum(square(v(tt::range(0, 3))) * v(tt::range(1, 4))); };
  const vec p{1.5, -0.5, 2, 3}, q{1, -1, 2, 0.5};
  check(second(f, p, q), {q(0) * 2 * p(1) + q(1) * 2 * p(0), q(1) * 2 * p(2) + q(0) * 2 * p(0) + q(2) * 2 * p(1), q(2) * 2 * p(3) + q(1) * 2 * p(1) + q(3) * 2 * p(2),
                          q(2) * 2 * p(2)});
  check(third(f, p, q), {4 * q(0) * q(1), 2 * q(0) * q(0) + 4 * q(1) * q(2), 2 * q(1) * q(1) + 4 * q(2) * q(3), 2 * q(2) * q(2)});
}
TEST_CASE("a scalar of the tape among arrays") {
  const auto f = [](const auto& a, const auto& v) { return sum(exp(a * v)); };
  const auto g = [&](const auto& a, const auto& v) { return tt::grad(f)(a, v); };  // sum v e^(a v)
  const auto [aa, av] = tt::grad<0, 1>(g)(0.5, x);
  double want = 0, cube = 0;
  for (int i = 0; i < 3; ++i) want += x(i) * x(i) * std::exp(0.5 * x(i)), cube += x(i) * x(i) * x(i) * std::exp(0.5 * x(i));
  CHECK(aa == doctest::Approx(want).epsilon(1e-14));
  const auto mixed = [](double v) { return (1 + 0.5 * v) * std::exp(0.5 * v); };
  check(av, {mixed(0.3), mixed(-1.2), mixed(2)});
  const double aaa = tt::grad([&](const auto& a) { return tt::grad([&](const auto& b) { return tt::grad(f)(b, x); })(a); })(0.5);
  CHECK(aaa == doctest::Approx(cube).epsilon(1e-13));
}
TEST_CASE("levels between and outside the tapes") {
  const auto f = [](const auto& v) { return sum(v * v * v * v); };
  // grad(jvp(grad)): d/dx sum(12 x^2 w) ; grad(grad(jvp)): the same function differentiated twice more
  check(tt::grad([&](const auto& v) { return sum(tt::jvp(tt::grad(f), v, w).y_dot); })(x), {24 * 0.3, 24 * -1.2 * -2, 24 * 2 * 0.5});
  check(second([&](const auto& v) { return tt::jvp(f, v, w).y_dot; }, x, w), {24 * 0.3, 24 * -1.2 * 4, 24 * 2 * 0.25});
  check(tt::jvp([&](const auto& v) { return second(f, v, w); }, x, w).y_dot, {24 * 0.3, 24 * -1.2 * 4, 24 * 2 * 0.25});
}
TEST_CASE("the gradient of mapped Hessian products: tangents, examples and both tapes") {
  const tensor<double, 2> m{{0.5, -1, 2}, {1.5, 0.25, -0.75}};
  const auto product = [&](const auto& u, const auto& row) {  // 6 u row w
    return tt::hvp([&](const auto& t) { return sum(u * reshape(tt::eval(t * t * t), 3)); }, row, w);
  };
  const auto all_of = [&](const auto& u) { return sum(tt::vmap([&](const auto& row) { return product(u, row); })(m)); };
  check(tt::grad(all_of)(x), {6 * 2.0, 6 * -0.75 * -2, 6 * 1.25 * 0.5});
}
TEST_CASE("a condition that is one number") {
  const auto f = [](const auto& s, const auto& v) { return sum(where(s > 0.1, v, 1.0) * v * v * s); };  // s v^3
  const auto mixed = [&](const auto& s) { return sum(tt::grad<1>(f)(s, x) * w); };                       // 3 s sum(v^2 w)
  CHECK(tt::grad(mixed)(0.5) == doctest::Approx(3 * (0.3 * 0.3 - 2 * 1.2 * 1.2 + 0.5 * 4)).epsilon(1e-14));
  check(second([&](const auto& v) { return f(0.5, v); }, x, w), {6 * 0.5 * 0.3, 6 * 0.5 * -1.2 * -2, 6 * 0.5 * 2 * 0.5});
}
TEST_CASE("examples inside the tapes, with weights that all of them share") {
  const tensor<double, 2> m{{1, 2, 3}, {4, 5, 6.5}};
  const auto loss = [&](const auto& b) {
    return sum(tt::vmap([](const auto& row, const auto& c) { return sum(row * c * c * c); }, tt::in_axes<0, tt::none>)(m, b));
  };
  check(second(loss, x, w), {6 * 5 * 0.3, 6 * 7 * -1.2 * -2, 6 * 9.5 * 2 * 0.5});  // 6 b_j w_j sum_i m_ij
  check(third(loss, x, w), {6 * 5, 6 * 7 * 4, 6 * 9.5 * 0.25});
  const auto each = tt::vmap([&](const auto& row) { return second([&](const auto& c) { return sum(row * c * c * c); }, x, w); })(m);
  check(vec(each(1)), {6 * 4 * 0.3, 6 * 5 * -1.2 * -2, 6 * 6.5 * 2 * 0.5});
}
TEST_CASE("examples that differ in the direction, the adjoint or the cotangent only") {
  const tensor<double, 2> u{{1, 2, 3}, {-1, 0.5, 2}};
  const auto f = [](const auto& v) { return sum(v * v * v * v); };
  const auto two = tt::vmap([&](const auto& d) { return tt::grad([&](const auto& v) { return sum(tt::grad(f)(v) * d); }, tt::closing_over(d))(x); })(u);
  const auto vhps = tt::vmap([&](const auto& d) { return tt::vhp(f, x, d); })(u);
  const auto pulled = tt::vmap([&](const auto& c) {
    return tt::grad([&](const auto& v) { return sum(tt::vjp([](const auto& t) { return tt::eval(t * t * t); }, v, tt::closing_over(c)).pull(c) * w); }, tt::closing_over(c))(x);
  })(u);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) {
      CHECK(two(i, j) == doctest::Approx(12 * x(j) * x(j) * u(i, j)));
      CHECK(vhps(i, j) == doctest::Approx(12 * x(j) * x(j) * u(i, j)));
      CHECK(pulled(i, j) == doctest::Approx(6 * x(j) * u(i, j) * w(j)));
    }
}
TEST_CASE("planes of one operand of which only one differs between examples") {
  const tensor<double, 2> u{{1, 2, 3}, {-1, 0.5, 2}};
  const auto loss = [&](const auto& v) {  // sum 3 v^3 u
    return sum(tt::vmap([](const auto& row, const auto& c) { return tt::jvp([](const auto& t) { return sum(t * t * t); }, c, tt::eval(row * c)).y_dot; },
                        tt::in_axes<0, tt::none>)(u, v));
  };
  check(second(loss, x, w), {18 * x(0) * 0 * w(0), 18 * x(1) * 2.5 * w(1), 18 * x(2) * 5 * w(2)});
}
TEST_CASE("order four, and constants by value") {
  const tt::fixed<double, 3> c{1.5, -2, 0.25};
  const auto f = [&](const auto& v) { return sum(v * v * v * v * v * c); };
  const vec g = tt::grad([&](const auto& v) { return sum(third(f, v, w) * w); })(x);  // 120 v c w^3
  check(g, {120 * 0.3 * 1.5, 120 * -1.2 * -2 * -8, 120 * 2 * 0.25 * 0.125});
}
TEST_CASE("a statement that names an array many times, at order three") {
  const auto f = [](const auto& v) {
    return sum(v * (v * v + v * v + v * v + v * v + v * v + v * v + v * v + v * v + v * v + v * v + v * v + v * v + v * v + v * v + v * v + v * v));
  };
  check(third(f, x, w), {96 * 1, 96 * 4, 96 * 0.25});
}
TEST_CASE("complex numbers") {
  using C = std::complex<double>;
  const tensor<C, 1> z{C(1, 2), C(-0.5, 0.25)}, ct{C(2, -1), C(0.5, 3)}, u{C(1, 1), C(-2, 0.5)};
  const auto gradient = [&](const auto& v) { return tt::vjp([](const auto& t) { return tt::eval(t * t * t); }, v).pull(ct); };  // conj(3 z^2) ct
  const tensor<C, 1> g = tt::vjp(gradient, z).pull(u);                                                                          // 6 conj(z) ct conj(u)
  for (int i = 0; i < 2; ++i) CHECK(std::abs(C(g(i)) - 6.0 * std::conj(C(z(i))) * C(ct(i)) * std::conj(C(u(i)))) < 1e-13);
}
TEST_CASE("floats in a statement of doubles") {
  const tensor<float, 1> a{0.5f, -1.25f, 2};
  const auto f = [](const auto& p, const auto& q) { return sum(p * p * q * q); };
  const auto g = tt::grad([&](const auto& p) { return sum(tt::grad<1>(f)(p, x) * w); })(a);  // 4 p q w
  static_assert(std::is_same_v<decltype(g), const tensor<float, 1>>);
  for (int i = 0; i < 3; ++i) CHECK(double(g(i)) == doctest::Approx(4 * double(a(i)) * x(i) * w(i)).epsilon(1e-6));
}
TEST_CASE("the gradients of a statement are one node and one loop, whatever the statement is") {
  const auto few = [](const auto& v) { return sum(v * v); };
  const auto many = [](const auto& v) { return sum(v * v * v + 2.0 * v * (v - 1.0) / (v * v + 3.0) - v * v * v * v); };
  const recorded a = count([&] { second(few, x, w); }), b = count([&] { second(many, x, w); });
  CHECK(a == b);
  CHECK(a.nodes == 4);     // the statement on each tape; its gradients, and the sum over them, on the outer one
  CHECK(a.backward == 3);  // inner sweep; outer sweep: that sum, the gradients; nothing flows back to the statement
}
TEST_CASE("infinite and undefined partials meet zero adjoints") {
  const vec at{0, 4};
  check(second([](const auto& v) { return sum(where(v > 0.0, sqrt(v), 0.0)); }, at, vec{1, 1}), {0, -0.25 / 8});
  check(second([](const auto& v) { return sum(sqrt(v)); }, vec{4, 9}, vec{1, 0}), {-0.25 / 8, 0});
}
