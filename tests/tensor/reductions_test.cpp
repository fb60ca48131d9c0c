// Reductions: every call form, element types, long rows against a plain sum, NaN and empty ranges, mapped arrays.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <ttensor/all.hpp>
#include <vector>

namespace tt = ttensor;
using vec = tt::tensor<double, 1>;
using mat = tt::tensor<double, 2>;

namespace {
std::vector<double> list(const auto& t) {
  const auto e = tt::eval(tt::to<double>(t));
  return {e.data(), e.data() + e.size()};
}
using L = std::vector<double>;
}  // namespace

TEST_CASE("call forms") {
  const mat x{{1, 2, 3}, {6, 5, 4}};
  CHECK(sum(x) == 21);
  CHECK(list(sum(x, 0)) == L{7, 7, 7});
  CHECK(list(sum(x, -1)) == L{6, 15});
  CHECK(sum(x, 1, tt::keepdims).shape() == tt::dims<2>{{2, 1}});
  CHECK(sum(x, tt::axes{0, 1}) == 21);
  CHECK(sum(x, tt::keepdims).shape() == tt::dims<2>{{1, 1}});
  CHECK(max(x) == 6);
  CHECK(list(max(x, 0)) == L{6, 5, 4});
  CHECK(list(max(x + x, tt::axes{1}, tt::keepdims)) == L{6, 12});
  CHECK(sum(x, {0, -1}) == sum(x));  // axes in braces
  CHECK(list(max(x, {1})) == L{3, 6});
  CHECK(mean(x, {1, 0}, tt::keepdims).shape() == tt::dims<2>{{1, 1}});
  CHECK(tt::all(x, {0, 1}));
  CHECK_THROWS_AS((void)sum(x, {0, 0}), tt::axis_error);
  CHECK(list(min(x, 1)) == L{1, 4});
  CHECK(mean(x) == 3.5);
  CHECK(list(mean(x, 1)) == L{2, 5});
  CHECK(prod(x) == 720);
  CHECK(list(prod(x, 0)) == L{6, 10, 12});
  CHECK(variance(x) == doctest::Approx(35.0 / 12).epsilon(1e-15));
  CHECK(list(stddev(x, 0)) == L{2.5, 1.5, 0.5});
  CHECK(norm(vec{3, 4}) == 5);
  CHECK(any(x > 5.0));
  CHECK(!tt::all(x > 1.0));
  CHECK(list(tt::all(x > 1.0, 1)) == L{0, 1});
  CHECK(list(count_nonzero(x > 2.0, 0)) == L{1, 1, 2});
  CHECK(argmax(x) == 3);
  CHECK(list(argmin(x, 1)) == L{0, 2});
  CHECK(list(argmax(transpose(x), 1)) == L{1, 1, 1});
  const tt::tensor<double, 3> t = reshape(tt::arange<double>(24), 2, 3, 4) + 0.0;
  CHECK(list(sum(t, tt::axes{0, 2})) == L{60, 92, 124});
  CHECK(list(max(t, tt::axes{0, 2})) == L{15, 19, 23});
  CHECK_THROWS_AS(sum(x, 2), tt::axis_error);
  CHECK_THROWS_AS(sum(x, tt::axes{0, -2}), tt::axis_error);
}

TEST_CASE("element types") {
  const tt::tensor<int, 1> i{1, 2, 4};
  static_assert(std::is_same_v<decltype(sum(i)), std::int64_t>);
  static_assert(std::is_same_v<decltype(prod(i)), std::int64_t>);
  static_assert(std::is_same_v<decltype(mean(i)), double>);
  static_assert(std::is_same_v<decltype(max(i)), int>);
  static_assert(std::is_same_v<decltype(max(i > 1)), bool>);
  static_assert(std::is_same_v<decltype(mean(tt::tensor<float, 1>{1})), float>);
  CHECK(mean(i) == 7.0 / 3);
  CHECK(prod(i) == 8);
  CHECK(max(i) == 4);
  CHECK(sum(i > 1) == 2);
}

TEST_CASE("long and odd lengths agree with a plain loop") {
  for (tt::index_t n : {1, 7, 8, 9, 63, 65, 1000, 40000}) {
    vec x(n);
    double s = 0, m = -1e300, q = 0;
    for (tt::index_t i = 0; i < n; ++i) {
      const double v = std::sin(double(i) * 1.7) * 3;
      x(i) = v;
      s += v;
      m = v > m ? v : m;
      q += std::exp(v);
    }
    CHECK(sum(x) == doctest::Approx(s).epsilon(1e-12));
    CHECK(max(x) == m);
    CHECK(logsumexp(x) == doctest::Approx(std::log(q)).epsilon(1e-13));
    const mat two = broadcast_to(x, {2, n}) + 0.0;
    CHECK(max(two, 1)(1) == m);
    CHECK(max(two, 0)(n - 1) == x(n - 1));
    CHECK(sum(softmax(two, 1), 1)(0) == doctest::Approx(1).epsilon(1e-13));
    vec nan = x;
    nan(n / 2) = std::numeric_limits<double>::quiet_NaN();
    CHECK(std::isnan(max(nan)));
    CHECK(std::isnan(min(nan)));
    CHECK(argmax(nan) == n / 2);
  }
}

TEST_CASE("empty ranges") {
  const mat none = tt::zeros<double>(0, 3);
  CHECK(sum(none) == 0);
  CHECK(prod(none) == 1);
  CHECK(list(sum(none, 0)) == L{0, 0, 0});
  CHECK(std::isnan(mean(none)));
  CHECK(logsumexp(none) == -std::numeric_limits<double>::infinity());
  CHECK(tt::all(none > 0.0));
  CHECK(!any(none > 0.0));
  CHECK_THROWS_WITH_AS(max(none), "[max] of an empty range has no value: shape (0,3); check the size first [TT-D02]", tt::domain_error);
  CHECK_THROWS_AS(min(none, 0), tt::domain_error);
  CHECK(max(none, 1).size() == 0);
}

TEST_CASE("mapped over examples, one-element examples too") {
  const mat x{{1}, {2}, {3}}, y{{1, 4}, {2, 2}, {3, 0}};
  CHECK(list(tt::vmap([](const auto& v) { return sum(v); })(x)) == L{1, 2, 3});
  CHECK(list(tt::vmap([](const auto& v) { return max(v); })(y)) == L{4, 2, 3});
  CHECK(list(tt::vmap([](const auto& v) { return argmax(v); })(y)) == L{1, 0, 0});
  CHECK(list(tt::vmap(tt::grad([](const auto& v) { return max(v); }))(y)) == L{0, 1, 0.5, 0.5, 1, 0});
  CHECK(list(tt::vmap(tt::grad([](const auto& v) { return prod(v); }))(y)) == L{4, 1, 2, 2, 0, 3});
}
TEST_CASE("argmax along any axes is the first extremum or NaN in row-major order") {
  auto x = tt::eval(floor(5 * tt::uniform<double>(tt::rng(4), {3, 4, 5})));
  x(1, 2, 3) = std::numeric_limits<double>::quiet_NaN();
  const auto first = [](auto at, std::int64_t n) {  // at(k): the k-th element
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < n; ++k)
      if (at(best) == at(best) && !(at(k) <= at(best))) best = k;
    return best;
  };
  const auto all = argmax(x, 1), turned = argmax(transpose(x), 1);
  const auto some = argmax(x, tt::axes{0, 2});
  CHECK(argmax(x) == first([&](std::int64_t k) -> double { return x(k / 20, k / 5 % 4, k % 5); }, 60));
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 5; ++k) {
      CHECK(all(i, k) == first([&](std::int64_t j) -> double { return x(i, j, k); }, 4));
      CHECK(turned(k, i) == all(i, k));
    }
  for (int j = 0; j < 4; ++j) CHECK(some(j) == first([&](std::int64_t k) -> double { return x(k / 5, j, k % 5); }, 15));
}

TEST_CASE_TEMPLATE("softmax, log_softmax and logsumexp of rows of every length agree with sums in long double", T, float, double) {
  const T eps = std::numeric_limits<T>::epsilon(), inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  for (const tt::index_t n : {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100, 1023, 1024, 1025, 4099}) {
    auto x = tt::eval(tt::normal<T>(tt::rng(static_cast<std::uint64_t>(n)), {3, n}) * 5.0);
    x(1) = x(1) + 800;  // exp(x) alone overflows
    x(2) = x(2) - 800;
    const tt::tensor<T, 2> turned = transpose(x), y = softmax(x, 1), z = log_softmax(x, -1);
    const tt::tensor<T, 1> s = logsumexp(x, 1);
    CHECK(tt::all(softmax(transpose(turned), 1) == y));  // the same kernel, over a copy
    CHECK(tt::all(abs(transpose(softmax(turned, 0)) - y) <= 8 * eps * y));  // down columns
    for (tt::index_t r = 0; r < 3; ++r) {
      long double top = -INFINITY, sum = 0;
      for (tt::index_t i = 0; i < n; ++i) top = std::max<long double>(top, x(r, i));
      for (tt::index_t i = 0; i < n; ++i) sum += std::exp(x(r, i) - top);
      CHECK(std::abs(s(r) - (std::log(sum) + top)) <= 2 * eps * (1 + std::log(sum) + std::abs(top)));
      for (tt::index_t i = 0; i < n; ++i) {
        const long double exact = std::exp(x(r, i) - top) / sum;
        CHECK(std::abs(y(r, i) - exact) <= (6 + (top - x(r, i))) * eps * exact + std::numeric_limits<T>::denorm_min());  // x - top is rounded
        CHECK(std::abs(z(r, i) - (x(r, i) - top - std::log(sum))) <= 3 * eps * (1 + std::log(sum) + std::abs(top) + std::abs(x(r, i))));
      }
    }
    // special values, one to a row, at the first and the last place
    for (const tt::index_t at : {tt::index_t(0), n - 1}) {
      tt::tensor<T, 2> q(4, n);
      q(0, at) = inf, q(1, at) = nan, q(2, at) = -inf, q(3) = -inf;
      const tt::tensor<T, 2> p = softmax(q, 1), l = log_softmax(q, 1);
      const tt::tensor<T, 1> e = logsumexp(q, 1);
      CHECK(std::isnan(p(0, at)));
      CHECK(std::isnan(p(1, 0)));
      CHECK(tt::all(isnan(p(1))));
      CHECK(p(2, at) == 0);
      CHECK(l(2, at) == -inf);
      CHECK(tt::all(p(3) == 0));
      CHECK(tt::all(l(3) == -inf));
      CHECK(e(0) == inf);
      CHECK(std::isnan(e(1)));
      CHECK(e(3) == -inf);
      for (tt::index_t i = 0; i < n; ++i)
        if (i != at) {
          CHECK(p(0, i) == 0);
          CHECK(std::abs(p(2, i) * static_cast<T>(n - 1) - 1) <= 4 * eps);
        }
    }
  }
  CHECK(softmax(tt::tensor<T, 2>(3, 0), 1).shape() == tt::dims<2>{{3, 0}});
  CHECK(tt::all(logsumexp(tt::tensor<T, 2>(3, 0), 1) == -inf));
  CHECK(logsumexp(tt::tensor<T, 2>(0, 3), 1).size() == 0);
  CHECK(logsumexp(tt::tensor<T, 2>{{0, 0}, {0, 0}}) == doctest::Approx(std::log(4.0)));
}

TEST_CASE_TEMPLATE("argmax and argmin: ties, NaN, long runs, many columns, strides, several axes, against a plain search", T, float, double, std::int64_t, tt::half) {
  std::uint64_t s = 88172645463325252u;
  const auto draw = [&](int n) {
    s ^= s << 13, s ^= s >> 7, s ^= s << 17;
    return static_cast<int>((s >> 33) % static_cast<std::uint64_t>(n));
  };
  const tt::index_t shapes[][3] = {{1, 1, 1}, {2, 3, 4}, {3, 1, 70}, {1, 200, 3}, {5, 40, 17}, {64, 2, 64}, {129, 1, 1}, {2, 16, 150}};
  for (const auto& e : shapes)
    for (int round = 0; round < 6; ++round) {
      tt::tensor<T, 3> x(e[0], e[1], e[2]);
      for (tt::index_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<T>(static_cast<float>(round < 3 ? draw(7) : static_cast<int>(i % 100) - draw(2)));
      if constexpr (std::numeric_limits<T>::has_quiet_NaN)
        if (round % 2) x.data()[draw(static_cast<int>(x.size()))] = x.data()[draw(static_cast<int>(x.size()))] = std::numeric_limits<T>::quiet_NaN();
      const tt::tensor<T, 3> turned = tt::permute(x, 2, 1, 0);
      const auto y = tt::permute(turned, 2, 1, 0);  // the same array, other strides
      const auto place = [&](const auto& at, tt::index_t n, bool largest) {
        tt::index_t best = 0;
        for (tt::index_t k = 1; k < n; ++k) {
          const auto v = static_cast<double>(T(at(k))), b = static_cast<double>(T(at(best)));
          if (b == b && (v != v || (largest ? v > b : v < b))) best = k;
        }
        return best;
      };
      for (const bool largest : {true, false}) {
        int wrong = 0;
        const auto of = [&](const auto& a, const auto&... axes) { return largest ? tt::argmax(a, axes...) : tt::argmin(a, axes...); };
        const auto all = [&](tt::index_t k) { return x.data()[k]; };
        wrong += of(x) != place(all, x.size(), largest);
        wrong += of(y) != place(all, x.size(), largest);
        const auto first = of(x, 0), middle = of(x, 1), last = of(x, 2), first_y = of(y, 0), middle_y = of(y, 1), last_y = of(y, 2);
        const auto outer = of(x, tt::axes{0, 2}), inner = of(x, tt::axes{1, 2}), inner_y = of(y, tt::axes{1, 2});
        for (tt::index_t i = 0; i < e[0]; ++i) {
          const auto rest = [&](tt::index_t k) { return x(i, k / e[2], k % e[2]); };
          wrong += inner(i) != place(rest, e[1] * e[2], largest);
          wrong += inner_y(i) != place(rest, e[1] * e[2], largest);
          for (tt::index_t j = 0; j < e[1]; ++j) {
            const auto row = [&](tt::index_t k) { return x(i, j, k); };
            wrong += last(i, j) != place(row, e[2], largest);
            wrong += last_y(i, j) != place(row, e[2], largest);
          }
          for (tt::index_t k = 0; k < e[2]; ++k) {
            const auto row = [&](tt::index_t j) { return x(i, j, k); };
            wrong += middle(i, k) != place(row, e[1], largest);
            wrong += middle_y(i, k) != place(row, e[1], largest);
          }
        }
        for (tt::index_t j = 0; j < e[1]; ++j) {
          wrong += outer(j) != place([&](tt::index_t k) { return x(k / e[2], j, k % e[2]); }, e[0] * e[2], largest);
          for (tt::index_t k = 0; k < e[2]; ++k) {
            const auto row = [&](tt::index_t i) { return x(i, j, k); };
            wrong += first(j, k) != place(row, e[0], largest);
            wrong += first_y(j, k) != place(row, e[0], largest);
          }
        }
        CHECK(wrong == 0);
      }
    }
}

TEST_CASE_TEMPLATE("short rows: the bits of a row do not depend on how many rows there are", T, float, double) {
  for (const tt::index_t n : {1, 2, 5, 8, 15, 16, 31, 32}) {
    const auto x = tt::eval(tt::normal<T>(tt::rng(7), {37, n}) * 3.0);
    const auto y = softmax(x, 1), z = log_softmax(x, 1);
    const auto s = logsumexp(x, 1);
    for (const tt::index_t rows : {1, 2, 7, 8, 9, 16, 20, 36})
      for (const tt::index_t first : {tt::index_t(0), 37 - rows}) {
        const auto part = tt::eval(x(tt::range(first, first + rows)));
        CHECK(tt::all(softmax(part, 1) == y(tt::range(first, first + rows))));
        CHECK(tt::all(log_softmax(part, 1) == z(tt::range(first, first + rows))));
        CHECK(tt::all(logsumexp(part, 1) == s(tt::range(first, first + rows))));
      }
  }
}

TEST_CASE_TEMPLATE("across rows that fill no pack: every number of rows and columns, operands of every shape", T, float, double) {
  const auto whole = [](tt::index_t i) { return static_cast<T>((i * 37) % 19 - 9); };
  for (const tt::index_t n : {1, 3, 7, 8, 16, 31, 64, 65, 200, 1100})
    for (const tt::index_t c : {1, 2, 3, 5, 7, 9, 15}) {
      tt::tensor<T, 2> x(n, c), w(n, 1);
      tt::tensor<T, 1> row(c);
      for (tt::index_t i = 0; i < n; ++i)
        for (tt::index_t j = 0; j < c; ++j) x(i, j) = whole(i * c + j), w(i, 0) = whole(i + 5), row(j) = whole(j + 3);
      const auto s = sum(x, 0), m = sum(w * x - row, 0), top = tt::max(x, 0), turned = sum(transpose(x), 1);
      const auto batch = tt::vmap([&](const auto& k) { return sum(k * x, 0); })(tt::tensor<T, 1>{1, 2, 3});
      for (tt::index_t j = 0; j < c; ++j) {
        T sums = 0, weighted = 0, largest = x(0, j);
        for (tt::index_t i = 0; i < n; ++i) sums += x(i, j), weighted += w(i, 0) * x(i, j) - row(j), largest = std::max<T>(largest, x(i, j));
        CHECK(s(j) == sums);  // integers: exact in any order
        CHECK(m(j) == weighted);
        CHECK(top(j) == largest);
        CHECK(turned(j) == sums);
        CHECK(batch(2, j) == 3 * sums);
      }
    }
}

TEST_CASE_TEMPLATE("log_softmax keeps its digits where elements are large", T, float, double) {
  const tt::tensor<T, 2> x{{0, 1, 3}, {2, 2, 2}};
  const tt::tensor<T, 2> near = log_softmax(x, 1);
  for (const T large : {T(300), T(1e6), std::is_same_v<T, float> ? T(1 << 20) : T(1e15), T(-4096)}) {  // x + large is exact
    const tt::tensor<T, 2> y = x + large;
    CHECK(tt::all(log_softmax(y, 1) == near));
    CHECK(tt::all(abs(transpose(log_softmax(transpose(y), 0)) - near) <= 4 * std::numeric_limits<T>::epsilon() * (1 + abs(near))));
    for (const tt::index_t axis : {0, 1}) {
      const auto loss = [=](const auto& v) { return sum(log_softmax(v, axis)(0)); };
      CHECK(tt::all(abs(tt::grad(loss)(y) - tt::grad(loss)(x)) <= 16 * std::numeric_limits<T>::epsilon()));
    }
  }
}
