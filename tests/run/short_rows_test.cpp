// Rows of a few elements: the next axis becomes the inner one, for sums and for backward loops too. Against plain loops.
#include <doctest/doctest.h>
#include <ttensor/all.hpp>
#include <algorithm>
#include <array>
#include <cmath>

namespace short_rows_test {
namespace tt = ttensor;
using tt::all, tt::index_t, tt::range, tt::tensor;

namespace {
/// sum over rows of sqrt(1 + sum of x x w along the row) + x at its neighbour's place: its value and gradients, one element after the other.
struct by_hand {
  double value = 0;
  tensor<double, 2> x;
  tensor<double, 1> w, squares, columns;
  double largest;
  by_hand(const tensor<double, 2>& a, const tensor<double, 1>& b) : x(a.extent(0), a.extent(1)), w(b.size()), squares(a.extent(0)), columns(b.size()), largest(a(0, 0)) {
    for (index_t i = 0; i < a.extent(0); ++i) {
      double s = 0;
      for (index_t j = 0; j < a.extent(1); ++j) {
        s += a(i, j) * a(i, j) * b(j);
        squares(i) += a(i, j) * a(i, j);
        columns(j) += a(i, j);
        largest = std::fmax(largest, a(i, j));
      }
      const double root = std::sqrt(1 + s);
      value += root;
      for (index_t j = 0; j < a.extent(1); ++j) x(i, j) = a(i, j) * b(j) / root, w(j) += a(i, j) * a(i, j) / (2 * root);
    }
  }
};
template <class T, int R> bool close(const tensor<T, R>& a, const tensor<double, R>& b) {
  bool same = a.size() == b.size();
  for (index_t i = 0; i < b.size() && same; ++i)
    same = std::fabs(double(a.data()[i]) - b.data()[i]) <= (std::is_same_v<T, float> ? 3e-6 : 1e-12) * (1 + std::fabs(b.data()[i]));
  return same;
}
template <class T> void rows(index_t n, index_t m) {
  CAPTURE(n);
  CAPTURE(m);
  const tensor<double, 2> exact = tt::to<double>(tt::to<float>(sin(tt::reshape(tt::arange<double>(static_cast<double>(n * m)), n, m) * 0.37) + 0.1));
  const tensor<double, 1> weight = tt::to<double>(tt::to<float>(1.0 + 0.25 * tt::arange<double>(static_cast<double>(m))));
  const by_hand truth(exact, weight);
  const tensor<T, 2> x = tt::to<T>(exact);
  const tensor<T, 1> w = tt::to<T>(weight);
  CHECK(close(tensor<T, 1>(sum(x * x, 1)), truth.squares));
  CHECK(close(tensor<T, 1>(sum(x, 0)), truth.columns));
  CHECK(max(tensor<T, 1>(max(x, 1))) == T(truth.largest));
  // every second row of a wider array: no two rows follow each other
  tensor<T, 2> wide(2 * n, m + 1);
  const auto part = wide(range(0, 2 * n, 2), range(0, m));
  part = x;
  wide(all, m) = T(1000);
  CHECK(double(sum(part * w)) == doctest::Approx(double(sum(truth.columns * weight))).epsilon(1e-5));

  const auto f = [](const auto& x, const auto& w) { return sum(sqrt(sum(x * x * w, 1) + T(1))); };
  const auto g = tt::grad<0, 1>(f)(x, w);
  CHECK(close(std::get<0>(g), truth.x));
  CHECK(close(std::get<1>(g), truth.w));
  // one array under two names of one place: what both add must meet
  const auto twice = [&](const auto& z) { return sum(sqrt(sum(z(all, range(0, m)) * w * z(all, range(0, m)), 1) + T(1))); };
  CHECK(close(tt::grad(twice)(x), truth.x));
}
}  // namespace

TEST_CASE("sums, largest elements and gradients of rows of all short lengths") {
  for (index_t m = 1; m <= 9; ++m) rows<double>(100, m);
  for (const index_t m : {12, 15, 16, 17, 31, 32, 33}) rows<double>(40, m);
  for (const index_t m : {1, 2, 3, 7, 15, 16, 33, 63, 64, 65}) rows<float>(40, m);
  for (const index_t n : {15, 16, 17, 255, 256, 257, 700}) rows<double>(n, 3);
}
namespace {
/// Sums, largest elements and gradients of products over axis `axis` of three, elements counted one by one.
template <class T, class X> void over_axis(const X& x, index_t axis) {
  CAPTURE(axis);
  const index_t n[] = {x.extent(0), x.extent(1), x.extent(2)}, p = axis == 0 ? 1 : 0, q = axis == 2 ? 1 : 2;
  tensor<T, 2> total(n[p], n[q]), largest = tt::full<T>({n[p], n[q]}, T(-1000)), weight(n[p], n[q]);
  tensor<T, 1> along(n[axis]), by_axis(n[axis]);
  for (index_t i = 0; i < n[axis]; ++i) along(i) = T(i % 3) - T(1);
  index_t i[3];
  for (i[0] = 0; i[0] < n[0]; ++i[0])
    for (i[1] = 0; i[1] < n[1]; ++i[1])
      for (i[2] = 0; i[2] < n[2]; ++i[2]) {
        const T v = x(i[0], i[1], i[2]);
        total(i[p], i[q]) += v;
        largest(i[p], i[q]) = std::max(T(largest(i[p], i[q])), v);
        by_axis(i[axis]) += v;
        weight(i[p], i[q]) += v * T(along(i[axis]));
      }
  const tensor<T, 2> s = sum(x, axis), m = max(x, axis);
  CHECK(tt::max(abs(s - total)) == T(0));  // small integers
  CHECK(tt::max(abs(m - largest)) == T(0));
  tensor<T, 3> room(2, n[p], n[q]);
  room(1) = sum(x, axis);
  CHECK(tt::max(abs(room(1) - total)) == T(0));
  // adjoints that stand still along one axis, contiguous or a column of another array
  tensor<T, 2> columns(n[axis], 2);
  columns(all, 1) = along;
  const auto product = [&](const auto& w) {
    const auto column = w(all, 1);
    if (axis == 0) return sum(x * unsqueeze(unsqueeze(column, 1), 2));
    return axis == 1 ? sum(x * unsqueeze(column, 1)) : sum(x * column);
  };
  const tensor<T, 2> g = tt::grad(product)(columns);
  CHECK(tt::max(abs(g(all, 1) - by_axis)) == T(0));
  CHECK(tt::max(abs(g(all, 0))) == T(0));
  const auto outer = [&](const auto& w) { return sum(x * unsqueeze(w, axis)); };
  const tensor<T, 2> h = tt::grad(outer)(weight);
  CHECK(tt::max(abs(h - total)) == T(0));
}
template <class T> void every_axis(index_t a, index_t b, index_t c) {
  CAPTURE(a);
  CAPTURE(b);
  CAPTURE(c);
  tensor<T, 3> x(a, b, c), wide(a, 2 * b, c + 1);
  for (index_t i = 0; i < x.size(); ++i) x.data()[i] = T(i * 7 % 23 - 11);
  const auto part = wide(all, range(0, 2 * b, 2), range(0, c));
  part = x;
  const tensor<T, 3> turned = transpose(x);  // (c, b, a), then seen as (a, b, c) again: the first axis is contiguous
  for (index_t axis = 0; axis < 3; ++axis) {
    over_axis<T>(x, axis);
    over_axis<T>(part, axis);
    over_axis<T>(transpose(turned), axis);
    over_axis<T>(x(range(tt::end, tt::end, -1), all, range(tt::end, tt::end, -1)), axis);
  }
}
}  // namespace
TEST_CASE("every axis of three, in every layout") {
  for (const auto& [a, b, c] : {std::array<index_t, 3>{20, 5, 3}, {3, 20, 5}, {5, 3, 20}, {40, 2, 7}, {1, 17, 3}, {16, 31, 2}, {2, 2, 2}, {9, 4, 3}, {64, 3, 33}}) {
    every_axis<double>(a, b, c);
    every_axis<float>(a, b, c);
  }
}
TEST_CASE("the sum of a short row does not depend on how many rows there are") {
  const tensor<double, 2> x = exp(sin(tt::reshape(tt::arange<double>(7 * 40), 40, 7) * 1.3));
  const tensor<float, 2> y = tt::to<float>(x);
  const tensor<double, 1> all_of_x = sum(x * x, 1);
  const tensor<float, 1> all_of_y = sum(y * y, 1);
  for (index_t n = 2; n < 40; ++n) {
    const auto a = x(range(0, n)), b = x(range(40 - n, 40));
    const auto c = y(range(0, n));
    CHECK(tt::max(abs(sum(a * a, 1) - all_of_x(range(0, n)))) == 0);
    CHECK(tt::max(abs(sum(b * b, 1) - all_of_x(range(40 - n, 40)))) == 0);
    CHECK(tt::max(abs(sum(c * c, 1) - all_of_y(range(0, n)))) == 0);
  }
}
TEST_CASE("neighbours of one array share elements, not places") {
  const auto f = [](const auto& x) { return sum(x(all, range(0, 2)) * x(all, range(1, 3))); };
  const tensor<double, 2> x = tt::reshape(tt::arange<double>(120), 40, 3), g = tt::grad(f)(x);
  for (index_t i = 0; i < 40; ++i) {
    CHECK(g(i, 0) == x(i, 1));
    CHECK(g(i, 1) == x(i, 0) + x(i, 2));
    CHECK(g(i, 2) == x(i, 1));
  }
}
TEST_CASE("an array forwards and backwards, two orders") {  // both adjoints of a tangent are gathered where the sum is cut
  for (const auto& [n, m] : {std::array<index_t, 2>{16, 17}, {33, 3}, {9, 9}, {33, 33}}) {
    CAPTURE(n);
    tensor<double, 2> x(n, m), d(n, m), slope(n, m), curve(n, m);
    tensor<double, 3> q(n, n, m);
    for (index_t i = 0; i < x.size(); ++i) x.data()[i] = double(i % 5) - 2, d.data()[i] = double(i % 3) - 1;
    for (index_t i = 0; i < q.size(); ++i) q.data()[i] = double(i % 7) - 3;
    const auto f = [&](const auto& z) { return sum(unsqueeze(z, 1) * unsqueeze(z(range(tt::end, tt::end, -1)), 0) * q); };
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j)
        for (index_t k = 0; k < m; ++k) {
          const index_t back = n - 1 - j;
          slope(i, k) += q(i, j, k) * x(back, k), slope(back, k) += q(i, j, k) * x(i, k);
          curve(i, k) += q(i, j, k) * d(back, k), curve(back, k) += q(i, j, k) * d(i, k);
        }
    CHECK(tt::max(abs(tt::grad(f)(x) - slope)) == 0);
    CHECK(tt::max(abs(tt::hvp(f, x, d) - curve)) == 0);
  }
}
namespace {
/// Strided operands that stand still along other axes, of x (n, m, k), counted one by one in small integers.
template <class T> void read_again(index_t n, index_t m, index_t k) {
  CAPTURE(n);
  CAPTURE(m);
  CAPTURE(k);
  const auto counting = []<class A>(A a) {
    for (index_t i = 0; i < a.size(); ++i) a.data()[i] = T(i * 5 % 13 - 6);
    return a;
  };
  const auto x = counting(tensor<T, 3>(n, m, k));
  const auto column = counting(tensor<T, 2>(k, 3));
  const auto turned = counting(tensor<T, 2>(k, m));
  const auto points = counting(tensor<T, 2>(m, k));
  tensor<T, 3> y(n, m, k), by_row(n, m, k), by_plane(n, m, k);
  tensor<T, 2> total(m, k), outer(n, k);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < m; ++j)
      for (index_t l = 0; l < k; ++l) {
        y(i, j, l) = x(i, j, l) * column(k - 1 - l, 1);
        by_row(i, j, l) = x(i, j, l) + turned(l, j) * column(l, 2);
        by_plane(i, j, l) = x(i, j, l) - points(m - 1 - j, k - 1 - l);
        total(j, l) += x(i, j, l) * turned(l, j);
        outer(i, l) += x(i, j, l) * points(j, l);
      }
  CHECK(all(tensor<T, 3>(x * column(range(tt::end, tt::end, -1), 1)) == y));
  CHECK(all(tensor<T, 3>(x + transpose(turned) * column(all, 2)) == by_row));
  CHECK(all(tensor<T, 3>(x - points(range(tt::end, tt::end, -1), range(tt::end, tt::end, -1))) == by_plane));
  CHECK(all(tensor<T, 2>(sum(x * transpose(turned), 0)) == total));
  CHECK(all(tensor<T, 2>(sum(x * points, 1)) == outer));
  // an operand that shares its array with the result
  auto own = counting(tensor<T, 2>(m, m + 2)), expected = own;
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < m; ++j) expected(i, j + 1) = own(i, j + 1) + own(j, 0) * own(j, m + 1);
  own(all, range(1, m + 1)) += own(all, 0) * own(all, m + 1);
  CHECK(all(own == expected));
}
}  // namespace
TEST_CASE("strided operands that are read again and again") {
  for (const auto& [n, m, k] : {std::array<index_t, 3>{5, 3, 40}, {4, 40, 3}, {3, 2, 9}, {7, 1, 33}, {1, 5, 70}, {6, 70, 2}, {4, 2, 700}, {2, 300, 300}}) {
    read_again<double>(n, m, k);
    read_again<float>(n, m, k);
  }
  read_again<std::int64_t>(5, 4, 20);
}
TEST_CASE("all pairs of points: one array under two mappings, each twice") {
  const auto energy = []<class V>(const V& v) {
    const auto d = unsqueeze(v, 1) - unsqueeze(v, 0);
    return sum(1.0 / (sum(d * d, 2) + 0.5));
  };
  for (const index_t n : {2, 15, 16, 17, 40}) {
    CAPTURE(n);
    const tensor<double, 2> x = sin(tt::reshape(tt::arange<double>(static_cast<double>(3 * n)), n, 3) * 1.7), g = tt::grad(energy)(x);
    tensor<double, 3> both(2, n, 3);
    both(0) = x;
    both(1) = 2.0 * x;
    const tensor<double, 3> mapped = tt::vmap(tt::grad(energy))(both), outside = tt::grad([&](const auto& z) { return sum(tt::vmap(energy)(z)); })(both);
    for (int which = 0; which < 2; ++which) {
      tensor<double, 2> truth(n, 3);
      for (index_t i = 0; i < n; ++i)
        for (index_t j = 0; j < n; ++j) {
          double r = 0.5;
          for (int k = 0; k < 3; ++k) r += (both(which, i, k) - both(which, j, k)) * (both(which, i, k) - both(which, j, k));
          for (int k = 0; k < 3; ++k) truth(i, k) -= 4 * (both(which, i, k) - both(which, j, k)) / (r * r);
        }
      if (which == 0) CHECK(close(g, truth));
      CHECK(close(tensor<double, 2>(mapped(which)), truth));
      CHECK(close(tensor<double, 2>(outside(which)), truth));
    }
  }
}
TEST_CASE("matrices of 3 x 3, mapped and with tangents") {
  const tensor<double, 3> a = sin(tt::reshape(tt::arange<double>(50 * 9), 50, 3, 3) * 0.7);
  const auto f = [](const auto& x) { return sum(exp(sum(x * x, -1))); };
  const auto of_rows = [&](const auto& x) { return sum(tt::vmap(f)(x)); };
  const tensor<double, 3> g = tt::grad(of_rows)(a), whole = tt::grad(f)(a), mapped = tt::vmap(tt::grad(f))(a);
  const auto y_dot = tt::jvp(f, a, a).y_dot;
  double slope = 0;
  for (index_t i = 0; i < 50; ++i)
    for (index_t j = 0; j < 3; ++j) {
      const double e = std::exp(a(i, j, 0) * a(i, j, 0) + a(i, j, 1) * a(i, j, 1) + a(i, j, 2) * a(i, j, 2));
      for (index_t k = 0; k < 3; ++k) {
        const double d = 2 * a(i, j, k) * e;
        slope += d * a(i, j, k);
        CHECK(g(i, j, k) == doctest::Approx(d));
        CHECK(whole(i, j, k) == doctest::Approx(d));
        CHECK(mapped(i, j, k) == doctest::Approx(d));
      }
    }
  CHECK(y_dot == doctest::Approx(slope));
}
}  // namespace short_rows_test
