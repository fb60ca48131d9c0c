// cholesky and triangular_solve: values, triangles, batches, and third derivatives against the same functions written out.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ttensor/all.hpp>

namespace linalg_test {
namespace tt = ttensor;
using tt::index_t;

namespace {
template <int R> tt::tensor<double, R> noise(const tt::dims<R>& e, int seed) {
  tt::tensor<double, R> t(tt::store<double>::make(tt::shape::size(e)), e);
  for (index_t i = 0; i < t.size(); ++i) t.data()[i] = std::sin(static_cast<double>(i * i + seed));
  return t;
}
template <class A, class B> double largest_difference(const A& a, const B& b) {
  const auto x = tt::eval(a), y = tt::eval(b);
  REQUIRE(x.shape() == y.shape());
  double d = 0;
  for (index_t i = 0; i < x.size(); ++i) d = std::max(d, std::fabs(x.data()[i] - y.data()[i]));
  return d;
}
tt::tensor<double, 2> positive(index_t n) {
  const auto b = noise<2>({{n, n}}, 3);
  return matmul(b, transpose(b)) + tt::eye<double>(n);
}
}  // namespace

TEST_CASE("L L' gives the matrix back, L is lower triangular") {
  for (index_t n : {0, 1, 2, 5, 12, 13, 16, 17, 40, 64, 65, 72, 128, 150}) {
    const auto a = positive(n);
    const auto l = cholesky(a);
    CHECK(largest_difference(matmul(l, transpose(l)), a) <= 1e-13 * static_cast<double>(n * n + 1));
    for (index_t i = 0; i < n; ++i)
      for (index_t j = i + 1; j < n; ++j) CHECK(l(i, j) == 0.0);
  }
}
TEST_CASE("a stands for its symmetric part") {
  const tt::tensor<double, 2> a{{4, 1}, {3, 3}};
  CHECK(largest_difference(cholesky(a), cholesky(tt::tensor<double, 2>{{4, 2}, {2, 3}})) == 0);
}
TEST_CASE("triangular solves: both triangles, transposed, vectors; the other triangle is not read") {
  for (index_t n : {1, 3, 64, 100, 150}) {
    tt::tensor<double, 2> a = noise<2>({{n, n}}, 1) * 0.05 + tt::eye<double>(n) * 2.0;
    tt::tensor<double, 2> low = a, up = a;
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j) (j > i ? low : up)(i, j) = i == j ? a(i, j).get() : 0.0;
    const auto b = noise<2>({{n, 4}}, 2);
    const double close = 1e-13 * static_cast<double>(n + 10);
    CHECK(largest_difference(matmul(low, triangular_solve(a, b)), b) <= close);
    CHECK(largest_difference(matmul(up, triangular_solve(a, b, false)), b) <= close);
    CHECK(largest_difference(matmul(transpose(low), triangular_solve(a, b, true, true)), b) <= close);
    CHECK(largest_difference(matmul(transpose(up), triangular_solve(a, b, false, true)), b) <= close);
    const tt::tensor<double, 1> v = b(tt::all, 1);
    CHECK(largest_difference(matmul(low, triangular_solve(a, v)), v) <= close);
  }
}
TEST_CASE("every right-hand side is solved as if it were alone, to the bit") {
  auto check = [&]<class T>(T) {
    for (index_t n : {1, 2, 3, 8, 17, 33, 64})
      for (index_t m : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 40, 65, 70}) {
        const tt::tensor<T, 2> a = tt::to<T>(noise<2>({{n, n}}, 5) * 0.3 + 2.0 * tt::eye<double>(n)), b = tt::to<T>(noise<2>({{n, m}}, 7));
        for (const bool lower : {true, false})
          for (const bool transposed : {true, false}) {
            const auto all = triangular_solve(a, b, lower, transposed);
            bool same = true;
            for (index_t j = 0; j < m; ++j) same = same && tt::all(all(tt::all, j) == triangular_solve(a, tt::eval(b(tt::all, j)), lower, transposed));
            CHECK_MESSAGE(same, n << " x " << m << (lower ? " lower" : " upper") << (transposed ? " transposed" : ""));
          }
      }
  };
  check(1.0);
  check(1.0f);
}
TEST_CASE("the pivot that is not positive, whatever block it stands in") {
  for (index_t n : {5, 20, 64, 65, 150})
    for (const index_t k : {index_t(0), n / 3, n - 1}) {
      auto a = positive(n);
      a(k, k) = -1;
      CHECK_THROWS_WITH_AS(cholesky(a), doctest::Contains(("pivot " + std::to_string(k) + " is -").c_str()), tt::domain_error);
    }
}
TEST_CASE("derivatives of large factors: L_t L' + L L_t' is the direction, and the pullback is the transpose of that") {
  for (index_t n : {13, 40, 70, 130}) {
    const auto a = positive(n);
    const auto u = noise<2>({{n, n}}, 11), ct = noise<2>({{n, n}}, 23);
    const tt::tensor<double, 2> direction = u + transpose(u);
    const auto factor = [](const auto& x) { return cholesky(x); };
    const auto [l, l_dot] = tt::jvp(factor, a, direction);
    CHECK(largest_difference(matmul(l_dot, transpose(l)) + matmul(l, transpose(l_dot)), direction) < 1e-9);
    const double one = sum(l_dot * ct), other = sum(direction * tt::vjp(factor, a).pull(ct));
    CHECK(std::fabs(one - other) < 1e-9 * (1 + std::fabs(one)));
  }
}
TEST_CASE("leading axes") {
  const auto one = positive(3);
  auto many = tt::zeros<double>(2, 3, 3);
  many(0) = one;
  many(1) = one * 4.0;
  const auto l = cholesky(many);
  CHECK(largest_difference(l(0), cholesky(one)) == 0);
  CHECK(largest_difference(l(1), cholesky(one) * 2.0) <= 1e-15);
  const auto b = noise<3>({{2, 3, 2}}, 1);
  const auto z = triangular_solve(cholesky(one), b);
  const tt::tensor<double, 2> b1 = b(1);
  CHECK(largest_difference(z(1), triangular_solve(cholesky(one), b1)) == 0);
  CHECK(triangular_solve(l, noise<2>({{3, 4}}, 1)).shape() == tt::dims<3>{{2, 3, 4}});
  CHECK(triangular_solve(l, tt::tensor<double, 1>{1, 2, 3}).shape() == tt::dims<2>{{2, 3}});
}
TEST_CASE("integers go to double, half is computed in float") {
  const tt::tensor<int, 2> a{{4, 2}, {2, 5}};
  const auto l = cholesky(a);
  static_assert(std::is_same_v<tt::scalar_t<decltype(l)>, double>);
  CHECK(l(1, 0) == 1.0);
  const tt::tensor<tt::half, 2> h = tt::to<tt::half>(a);
  static_assert(std::is_same_v<tt::scalar_t<decltype(cholesky(h))>, tt::half>);
  CHECK(static_cast<float>(cholesky(h)(1, 1)) == 2.0f);
}
TEST_CASE("the gradient of a broadcast matrix adds over the batch") {
  const auto l = cholesky(positive(3));
  const auto b = noise<3>({{4, 3, 2}}, 1);
  const auto g = tt::grad([&](const auto& m) { return sum(triangular_solve(m, b)); })(l);
  tt::tensor<double, 2> want(3, 3);
  for (index_t i = 0; i < 4; ++i) {
    const tt::tensor<double, 2> one = b(i);
    want += tt::grad([&](const auto& m) { return sum(triangular_solve(m, one)); })(l);
  }
  CHECK(largest_difference(g, want) <= 1e-13);
}

// Third derivatives of t -> w . L(A(t)), where A(t) = A0 + t A1 + t t A2, against L written out element by element.
namespace {
const tt::tensor<double, 2> A0{{2.0, 0.3}, {0.3, 1.5}}, A1{{0.5, -0.2}, {-0.2, 0.7}}, A2{{0.1, 0.4}, {0.4, -0.3}};
struct factored {
  template <class T> auto operator()(const T& t) const {
    const auto l = cholesky(A0 + t * A1 + (t * t) * A2);
    return sum(l * tt::tensor<double, 2>{{1.0, 9.0}, {-2.0, 3.0}});
  }
};
struct factored_by_hand {
  template <class T> auto operator()(const T& t) const {
    using std::sqrt;
    const T a = 2.0 + 0.5 * t + 0.1 * t * t, b = 0.3 - 0.2 * t + 0.4 * t * t, c = 1.5 + 0.7 * t - 0.3 * t * t;
    const T l = sqrt(a), m = b / l;
    const T n = sqrt(c - m * m);
    return T(l - 2.0 * m + 3.0 * n);
  }
};
struct solved {
  template <class T> auto operator()(const T& t) const {
    const auto z = triangular_solve(A0 + t * A1, A1 + (t * t) * A2);
    return sum(z * tt::tensor<double, 2>{{1.0, 0.5}, {-2.0, 3.0}});
  }
};
struct solved_by_hand {
  template <class T> auto operator()(const T& t) const {
    const T a = 2.0 + 0.5 * t, b = 0.3 - 0.2 * t, c = 1.5 + 0.7 * t;
    const T p = 0.5 + 0.1 * t * t, q = -0.2 + 0.4 * t * t, r = -0.2 + 0.4 * t * t, s = 0.7 - 0.3 * t * t;
    const T x = p / a, y = q / a;
    const T u = (r - b * x) / c, v = (s - b * y) / c;
    return T(x + 0.5 * y - 2.0 * u + 3.0 * v);
  }
};
template <class F> struct forward {
  template <class T> auto operator()(const T& t) const { return tt::jvp(F{}, t, 1.0).y_dot; }
};
template <class F> struct reverse {
  template <class T> auto operator()(const T& t) const { return tt::grad(F{})(t); }
};
template <class F, class H> void check_third() {
  const double t = 0.4, want = forward<forward<forward<H>>>{}(t), scale = std::max(1.0, std::fabs(want));
  CHECK(std::fabs(forward<forward<forward<F>>>{}(t) - want) <= 1e-12 * scale);
  CHECK(std::fabs(reverse<forward<forward<F>>>{}(t) - want) <= 1e-12 * scale);
  CHECK(std::fabs(forward<reverse<forward<F>>>{}(t) - want) <= 1e-12 * scale);
  CHECK(std::fabs(forward<forward<reverse<F>>>{}(t) - want) <= 1e-12 * scale);
  CHECK(std::fabs(reverse<reverse<forward<F>>>{}(t) - want) <= 1e-12 * scale);
  CHECK(std::fabs(reverse<reverse<reverse<F>>>{}(t) - want) <= 1e-12 * scale);
}
}  // namespace
TEST_CASE("cholesky to third order, in every mix of modes") { check_third<factored, factored_by_hand>(); }
TEST_CASE("triangular_solve to third order, in every mix of modes") { check_third<solved, solved_by_hand>(); }
TEST_CASE("cholesky at the ends of the range of numbers") {  // the mean with the transpose overflowed
  const auto root = [](double v) { return tt::eval(tt::cholesky(tt::tensor<double, 2>{{v}}))(0, 0); };
  for (const double v : {1e308, std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min()}) CHECK(root(v) == std::sqrt(v));
  const tt::tensor<double, 2> l = tt::cholesky(tt::tensor<double, 2>{{1e308, 1.5e308}, {0.5e308, 1.6e308}});
  CHECK(std::fabs(l(1, 0) / 1e154 - 1) < 1e-15);
}
}  // namespace linalg_test
