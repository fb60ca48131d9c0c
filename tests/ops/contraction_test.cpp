// Values of matmul, dot and outer against plain loops: shapes, strides, element types, edges of the register tiles.
#include <doctest/doctest.h>

#include <cmath>
#include <ttensor/num/complex.hpp>
#include <ttensor/all.hpp>
#include <vector>

namespace contraction_test {
namespace tt = ttensor;
using tt::index_t;

namespace {
/// Small integers, so that every type and every order of summation gives exact results.
template <class T, int R> tt::tensor<T, R> filled(const tt::dims<R>& e, int seed) {
  tt::tensor<T, R> t(tt::store<T>::make(tt::shape::size(e)), e);
  for (index_t i = 0; i < t.size(); ++i) t.data()[i] = static_cast<T>(static_cast<float>((i * 7 + seed) % 5 - (std::is_same_v<T, bool> ? 0 : 2)));
  return t;
}
template <class T, class A, class B> void check_product(const A& a, const B& b) {
  const index_t m = a.shape()[0], k = a.shape()[1], n = b.shape()[1];
  const auto y = matmul(a, b);
  static_assert(std::is_same_v<tt::scalar_t<decltype(y)>, T>);
  REQUIRE(y.shape() == tt::dims<2>{{m, n}});
  std::vector<T> rows, columns;  // plain arrays: an element of a view costs a hundred times as much where nothing is inlined
  for (index_t i = 0; i < m; ++i)
    for (index_t p = 0; p < k; ++p) rows.push_back(static_cast<T>(a(i, p)));
  for (index_t j = 0; j < n; ++j)
    for (index_t p = 0; p < k; ++p) columns.push_back(static_cast<T>(b(p, j)));
  bool same = true;
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) {
      const T *u = rows.data() + i * k, *v = columns.data() + j * k;
      T want = T(0);
      for (index_t p = 0; p < k; ++p) want = static_cast<T>(want + u[p] * v[p]);
      same = same && y(i, j) == want;
    }
  CHECK(same);
}
template <class T> void check_type() {
  for (index_t m : {1, 2, 3, 7, 9, 17})
    for (index_t n : {1, 2, 5, 8, 24, 25, 49})
      for (index_t k : {0, 1, 3, 10, 19}) {
        const auto a = filled<T, 2>({{m, k}}, 1), b = filled<T, 2>({{k, n}}, 3), at = filled<T, 2>({{k, m}}, 4), bt = filled<T, 2>({{n, k}}, 2);
        INFO("m ", m, " n ", n, " k ", k);
        check_product<T>(a, b);
        check_product<T>(transpose(at), b);
        check_product<T>(a, transpose(bt));
        check_product<T>(transpose(at), transpose(bt));
      }
}
}  // namespace

TEST_CASE("products of every shape and transposition: double") { check_type<double>(); }
TEST_CASE("products of every shape and transposition: float") { check_type<float>(); }
TEST_CASE("products of every shape and transposition: integers") {
  check_type<std::int32_t>();
  check_type<std::int64_t>();
}
TEST_CASE("integers wrap in their own type") {
  const tt::tensor<std::int8_t, 2> a{{100, 100}}, b{{2}, {3}};
  const auto y = matmul(a, b);
  static_assert(std::is_same_v<tt::scalar_t<decltype(y)>, std::int8_t>);
  CHECK(y(0, 0) == static_cast<std::int8_t>(500));
  const tt::tensor<std::uint64_t, 2> big{{~std::uint64_t(0), 2}}, c{{1}, {3}};
  CHECK(matmul(big, c)(0, 0) == 5u);
}
TEST_CASE("bool: any(a and b)") {
  const tt::tensor<bool, 2> a{{true, false}, {false, false}}, b{{true, true}, {true, false}};
  const auto y = matmul(a, b);
  static_assert(std::is_same_v<tt::scalar_t<decltype(y)>, bool>);
  CHECK(y(0, 0));
  CHECK(y(0, 1));
  CHECK(!y(1, 0));
  const tt::tensor<bool, 1> u{true, false, true}, v{false, true, true}, w{false, true, false};
  CHECK(dot(u, v));
  CHECK(!dot(u, w));
  CHECK(!matmul(u, w));
  const tt::tensor<double, 2> x{{1, -1, -1}, {-1, -1, 1}};
  CHECK(tt::all(tt::vmap([&](const auto& row) { return dot(row > 0, v); })(x) == tt::tensor<bool, 1>{false, true}));
  CHECK(dot(x(0) > 0, tt::tensor<int, 1>{5, 1, 1}) == 5);
}
TEST_CASE("half is computed in float") {
  tt::tensor<tt::half, 2> a(1, 2048), b(2048, 1);
  for (int i = 0; i < 2048; ++i) a.data()[i] = tt::half(1.0f), b.data()[i] = tt::half(1.5f);
  const auto y = matmul(a, b);
  static_assert(std::is_same_v<tt::scalar_t<decltype(y)>, tt::half>);
  CHECK(static_cast<float>(y(0, 0)) == 3072.0f);
}
TEST_CASE("complex numbers and mixed types") {
  using C = std::complex<double>;
  const tt::tensor<C, 2> a{{C(1, 2), C(0, 1)}};
  const tt::tensor<C, 2> b{{C(3, -1)}, {C(2, 0)}};
  CHECK(matmul(a, b)(0, 0) == C(1, 2) * C(3, -1) + C(0, 1) * C(2, 0));
  const tt::tensor<int, 2> i{{1, 2}};
  const tt::tensor<double, 2> d{{0.5}, {0.25}};
  CHECK(matmul(i, d)(0, 0) == 1.0);
}
TEST_CASE_TEMPLATE("the bits of an element do not depend on how many rows and columns there are", T, float, double) {
  for (index_t k : {3, 7, 40}) {
    tt::tensor<T, 2> a = tt::normal<T>(tt::rng(1), {9, k}), b = tt::normal<T>(tt::rng(2), {k, 40}), bt = transpose(b);
    const auto whole = tt::eval(matmul(a, b));
    for (index_t m : {2, 3, 5, 9})
      for (index_t n : {2, 3, 4, 5, 7, 9, 13, 15, 20, 37}) {
        const auto same = [&](const auto& part) { return tt::item(tt::all(part == whole(tt::range(0, m), tt::range(0, n)))); };
        CHECK(same(matmul(a(tt::range(0, m)), b(tt::all, tt::range(0, n)))));
        CHECK(same(matmul(a(tt::range(0, m)), transpose(bt)(tt::all, tt::range(0, n)))));
      }
  }
}
TEST_CASE_TEMPLATE("small products, stored and added, write their rows and nothing else", T, float, double, std::int32_t) {
  const T untouched = T(77);
  for (index_t m : {1, 2, 4, 5})
    for (index_t n = 1; n <= 35; n += n < 20 ? 1 : 5)
      for (index_t k : {1, 4, 7, 17}) {
        const auto a = filled<T, 2>({{m, k}}, 1), b = filled<T, 2>({{k, n}}, 3);
        const tt::tensor<T, 2> at = transpose(a), bt = transpose(b);
        for (int form = 0; form < 8; ++form) {
          const bool add = form & 1, turned_a = form & 2, turned_b = form & 4;
          const index_t row = n + 3;
          std::vector<T> c(static_cast<std::size_t>(m * row), untouched);
          tt::run::multiply<T>({m, n, k, turned_a ? 1 : k, turned_a ? m : 1, turned_b ? 1 : n, turned_b ? k : 1, row, add},
                               turned_a ? at.data() : a.data(), turned_b ? bt.data() : b.data(), c.data());
          bool right = true;
          for (index_t i = 0; i < m; ++i)
            for (index_t j = 0; j < row; ++j) {
              T want = add || j >= n ? untouched : T(0);
              for (index_t p = 0; p < k && j < n; ++p) want = static_cast<T>(want + a.data()[i * k + p] * b.data()[p * n + j]);
              right = right && c[static_cast<std::size_t>(i * row + j)] == want;
            }
          INFO("m ", m, " n ", n, " k ", k, " form ", form);
          CHECK(right);
        }
      }
}
TEST_CASE("large products go through packed panels") {
  for (index_t n : {70, 300, 530}) {
    const auto a = filled<double, 2>({{n, n + 3}}, 1), b = filled<double, 2>({{n + 3, n - 5}}, 3), bt = filled<double, 2>({{n - 5, n + 3}}, 3);
    check_product<double>(a, b);
    check_product<double>(a, transpose(bt));
  }
  check_product<double>(filled<double, 2>({{130, 600}}, 1), filled<double, 2>({{600, 260}}, 2));
  check_product<float>(filled<float, 2>({{130, 1100}}, 1), filled<float, 2>({{1100, 260}}, 2));
}
TEST_CASE("views with any strides, also negative ones") {
  const auto a = filled<double, 2>({{9, 12}}, 1), b = filled<double, 2>({{12, 20}}, 3);
  check_product<double>(a(tt::range(0, 9, 2), tt::range(1, 12, 3)), b(tt::range(2, 6), tt::range(tt::end, tt::end, -1)));
  check_product<double>(flip(a, 1), b(tt::all, tt::range(0, 20, 3)));
}
TEST_CASE("vectors follow numpy.matmul") {
  const tt::tensor<double, 2> a{{1, 2, 3}, {4, 5, 6}};
  const tt::tensor<double, 1> v{1, 2, 3}, w{1, -1};
  const auto av = matmul(a, v), wa = matmul(w, a);
  CHECK(av.shape() == tt::dims<1>{{2}});
  CHECK(av(0) == 14);
  CHECK(av(1) == 32);
  CHECK(wa.shape() == tt::dims<1>{{3}});
  CHECK(wa(2) == -3);
  CHECK(matmul(v, v) == 14);
  CHECK(dot(v, v * 2.0) == 28);
  CHECK(matmul(a * 2.0, v + 1.0)(0) == 2 * (2 + 6 + 12));
  const tt::tensor<double, 2> o = outer(v, w);
  CHECK(o.shape() == tt::dims<2>{{3, 2}});
  CHECK(o(2, 1) == -3);
  const tt::tensor<int, 1> i{1, 2};
  static_assert(std::is_same_v<decltype(dot(i, i)), int>);
  CHECK(dot(i, i) == 5);
  CHECK(dot(tt::tensor<double, 1>(0), tt::tensor<double, 1>(0)) == 0);
}
TEST_CASE("leading axes broadcast") {
  const auto a = filled<double, 4>({{2, 1, 3, 4}}, 1);
  const auto b = filled<double, 3>({{5, 4, 2}}, 2);
  const auto y = matmul(a, b);
  REQUIRE(y.shape() == tt::dims<4>{{2, 5, 3, 2}});
  const auto one = filled<double, 2>({{4, 2}}, 3);
  const auto z = matmul(a, one);
  REQUIRE(z.shape() == tt::dims<4>{{2, 1, 3, 2}});
  const auto left = matmul(filled<double, 2>({{6, 4}}, 5), b);
  REQUIRE(left.shape() == tt::dims<3>{{5, 6, 2}});
  const auto v = matmul(b, tt::tensor<double, 1>{1, 2});
  REQUIRE(v.shape() == tt::dims<2>{{5, 4}});
  for (index_t s = 0; s < 2; ++s)
    for (index_t t = 0; t < 5; ++t) {
      const tt::tensor<double, 2> p = a(s, 0), q = b(t);
      const auto want = matmul(p, q);
      for (index_t i = 0; i < 3; ++i)
        for (index_t j = 0; j < 2; ++j) CHECK(y(s, t, i, j) == want(i, j));
      const auto want_one = matmul(p, one);
      for (index_t i = 0; i < 3; ++i) CHECK(z(s, 0, i, 1) == want_one(i, 1));
    }
  for (index_t t = 0; t < 5; ++t) {
    const tt::tensor<double, 2> q = b(t);
    CHECK(left(t, 5, 1) == matmul(filled<double, 2>({{6, 4}}, 5), q)(5, 1));
    CHECK(v(t, 3) == q(3, 0) + 2 * q(3, 1));
  }
  CHECK(matmul(tt::zeros<double>(0, 3, 4), one).shape() == tt::dims<3>{{0, 3, 2}});
}
TEST_CASE("a vmapped product is one call") {
  const auto w = filled<double, 2>({{3, 4}}, 1);
  const auto xs = filled<double, 2>({{10, 4}}, 2);
  const auto before = tt::counts.loops;
  const auto y = tt::vmap([](const auto& x, const auto& w_) { return matmul(w_, x); }, tt::in_axes<0, tt::none>)(xs, w);
  CHECK(tt::counts.loops - before <= 1);  // the result leaves the level without a copy
  const auto want = matmul(xs, transpose(w));
  for (index_t i = 0; i < y.size(); ++i) CHECK(y.data()[i] == want.data()[i]);
}
TEST_CASE("the gradient of a matrix shared by mapped vectors is one product") {
  const auto w = filled<double, 2>({{3, 4}}, 1);
  const auto xs = filled<double, 2>({{10, 4}}, 2);
  const auto loss = [](const auto& w_, const auto& x_) {
    return sum(tt::vmap([](const auto& x, const auto& m) { const auto y = matmul(m, x); return sum(y * y); }, tt::in_axes<0, tt::none>)(x_, w_));
  };
  const auto g = tt::grad(loss)(w, xs);
  const auto want = matmul(transpose(matmul(xs, transpose(w))) * 2.0, xs);
  REQUIRE(g.shape() == w.shape());
  for (index_t i = 0; i < g.size(); ++i) CHECK(g.data()[i] == want.data()[i]);
}
TEST_CASE_TEMPLATE("products over one element: rows and their ends, zeros, sums of several", T, float, double, int) {
  for (const index_t m : {2, 3, 9})
    for (const index_t n : {8, 15, 16, 17, 40, 131}) {
      const auto a = filled<T, 2>({{m, 1}}, 3), b = filled<T, 2>({{1, n}}, 1);
      const auto y = matmul(a, b), z = matmul(transpose(filled<T, 2>({{1, m}}, 3)), b);
      const auto wide = filled<T, 2>({{m, 5}}, 3);
      const auto w = matmul(wide(tt::all, tt::range(2, 3)), b);
      for (index_t i = 0; i < m; ++i)
        for (index_t j = 0; j < n; ++j) {
          CHECK(y(i, j) == T(a(i, 0) * b(0, j)));
          CHECK(z(i, j) == y(i, j));
          CHECK(w(i, j) == T(wide(i, 2) * b(0, j)));
          if constexpr (!std::is_same_v<T, int>) CHECK(!(y(i, j) == 0 && std::signbit(y(i, j))));  // 0 + x y, as in longer sums
        }
    }
  if constexpr (!std::is_same_v<T, int>) {  // gradients of a shared matrix: products added to one another
    const auto x = filled<T, 3>({{4, 3, 1}}, 2), c = filled<T, 3>({{4, 1, 17}}, 4);
    const auto g = tt::grad([&](const auto& w, const auto& v) { return sum(matmul(v, w) * matmul(v, w)); })(tt::eval(c(0)), x);
    for (index_t j = 0; j < 17; ++j) {
      T want = 0;
      for (index_t q = 0; q < 4; ++q)
        for (index_t i = 0; i < 3; ++i) want += 2 * x(q, i, 0) * x(q, i, 0) * c(0, 0, j);
      CHECK(g(0, j) == want);
    }
  }
}
TEST_CASE_TEMPLATE("one product has the bits of a product in a stack, and of its transposes", T, float, double) {
  const auto near = [](index_t r, index_t c, int step) { return tt::tensor<T, 2>(filled<T, 2>({{r, c}}, step) * T(0.37) + T(0.1)); };
  for (const index_t m : {1, 2, 5, 8, 11})
    for (const index_t n : {1, 2, 3, 8, 9})
      for (const index_t k : {1, 2, 3, 7, 8, 17}) {
        const auto a = near(m, k, 3), b = near(k, n, 5);
        const auto y = matmul(a, b);
        const auto stacked = matmul(unsqueeze(a, 0), unsqueeze(b, 0));
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(k);
        REQUIRE(y.shape() == tt::dims<2>{{m, n}});
        CHECK(tt::all(stacked(0) == y));
        const tt::tensor<T, 2> at = transpose(a), bt = transpose(b);
        CHECK(tt::all(matmul(transpose(at), transpose(bt)) == matmul(unsqueeze(transpose(at), 0), unsqueeze(transpose(bt), 0))(0)));
        const auto column = matmul(a, b(tt::all, 0));
        const auto row = matmul(a(0), b);
        REQUIRE(column.shape() == tt::dims<1>{{m}});
        REQUIRE(row.shape() == tt::dims<1>{{n}});
        for (index_t i = 0; i < m; ++i)
          for (index_t j = 0; j < n; ++j) {
            long double want = 0, size = 0;
            for (index_t p = 0; p < k; ++p) {
              const auto term = static_cast<long double>(a(i, p)) * static_cast<long double>(b(p, j));
              want += term, size += std::abs(term);
            }
            const double bound = static_cast<double>(k) * std::numeric_limits<T>::epsilon() * static_cast<double>(size);
            CHECK(std::abs(static_cast<double>(y(i, j)) - static_cast<double>(want)) <= bound);
            if (j == 0) CHECK(std::abs(static_cast<double>(column(i)) - static_cast<double>(want)) <= bound);
            if (i == 0) CHECK(std::abs(static_cast<double>(row(j)) - static_cast<double>(want)) <= bound);
          }
      }
  CHECK(matmul(tt::tensor<T, 2>(3, 0), tt::tensor<T, 1>(0)).shape() == tt::dims<1>{{3}});
  CHECK(matmul(tt::tensor<T, 2>(3, 0), tt::tensor<T, 1>(0))(1) == 0);
  CHECK(matmul(tt::tensor<T, 2>(0, 3), tt::tensor<T, 2>(3, 2)).shape() == tt::dims<2>{{0, 2}});
}
}  // namespace contraction_test
