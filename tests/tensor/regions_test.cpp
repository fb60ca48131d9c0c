// Statements into parts of a tensor, against plain loops over all elements read first: every pair of parts of one vector (the same,
// apart, overlapping either way), strides of both signs, parts that copies and expressions hold, memory of the caller.
#include <doctest/doctest.h>

#include <ttensor/all.hpp>
#include <complex>
#include <cstdint>
#include <vector>

namespace regions_test {
namespace tt = ttensor;
using tt::index_t;
using vec = tt::tensor<double, 1>;
using mat = tt::tensor<double, 2>;

namespace {
std::vector<double> list(const vec& x) { return {x.data(), x.data() + x.size()}; }
vec numbered(index_t n) { return tt::arange<double>(static_cast<double>(n)) * 0.75 - 3.0; }
/// `part` of a vector of `total` elements: n from `at` on, `step` apart.
struct part {
  index_t at, n, step;
  index_t operator[](index_t i) const { return at + i * step; }
  auto slice() const {
    const index_t stop = at + n * step;
    return step > 0 ? tt::range(at, stop, step) : tt::range(at, stop < 0 ? tt::end : stop, step);
  }
};
}  // namespace

TEST_CASE("a part of a vector from other parts of it") {
  int checked = 0;
  for (const index_t n : {1, 2, 3, 7, 8, 9, 16, 17, 33})
    for (const index_t step : {1, 2, -1, -3})
      for (const index_t from_step : {1, 3, -2})
        for (index_t shift = -n - 1; shift <= n + 1; shift += n > 8 ? 5 : 1) {
          const part to{200, n, step}, from{200 + shift, n, from_step};
          vec x = numbered(400);
          const vec w = numbered(n);
          auto want = list(x);
          for (index_t i = 0; i < n; ++i) want[static_cast<std::size_t>(to[i])] = 2 * x(from[i]) + w(i);
          x(to.slice()) = 2.0 * x(from.slice()) + w;
          CAPTURE(n);
          CAPTURE(step);
          CAPTURE(from_step);
          CAPTURE(shift);
          CHECK(list(x) == want);
          ++checked;
        }
  CHECK(checked > 1000);
}
TEST_CASE("rows and columns from the ones before: one loop each, and no memory for rows") {
  for (const index_t m : {1, 3, 8, 17, 64}) {
    mat z(20, m), column(m, 20);
    const vec w = numbered(m);
    z(0) = w;
    column(tt::all, 0) = w;
    std::vector<double> want = list(w);
    const auto blocks = tt::mem::stats.blocks;
    const auto loops = tt::counts.loops;
    for (index_t i = 0; i + 1 < 20; ++i) z(i + 1) = 0.5 * z(i) + w;
    CHECK(tt::mem::stats.blocks == blocks);
    for (index_t i = 0; i + 1 < 20; ++i) column(tt::all, i + 1) = 0.5 * column(tt::all, i) + w;
    CHECK(tt::counts.loops == loops + 38);
    for (index_t i = 0; i + 1 < 20; ++i)
      for (index_t j = 0; j < m; ++j) want[static_cast<std::size_t>(j)] = 0.5 * want[static_cast<std::size_t>(j)] + w(j);
    CHECK(list(vec(z(19))) == want);
    CHECK(list(vec(column(tt::all, 19))) == want);
  }
}
TEST_CASE("who holds the elements keeps them") {
  for (const index_t n : {1, 5, 8, 20}) {
    vec x = numbered(3 * n);
    const auto before = list(x);
    const vec copy = x;
    const auto named = 2.0 * x(tt::range(0, n));
    x(tt::range(n, 2 * n)) = x(tt::range(0, n)) * 10.0;
    x(tt::range(0, n)) = named;
    x(tt::range(0, n)) = named + x(tt::range(n, 2 * n));
    CHECK(list(copy) == before);
    const vec again = named;
    for (index_t i = 0; i < n; ++i) {
      const double b = before[static_cast<std::size_t>(i)];
      CHECK(again(i) == 2 * b);
      CHECK(x(n + i) == 10 * b);
      CHECK(x(i) == 12 * b);
    }
    const auto part = x(tt::range(0, n));  // a view sees what the tensor holds, after it moved to other memory too
    const vec other = x;
    part = 1.0;
    CHECK(x(n - 1) == 1.0);
    CHECK(other(0) != 1.0);
    x(tt::range(0, n)) = 3.0 * part;
    CHECK(vec(part)(0) == 3.0);
  }
}
TEST_CASE("a vector takes a part of itself, of another length too") {
  for (const index_t n : {2, 9, 40}) {
    vec x = numbered(n);
    const vec kept = x;
    x = x(tt::range(1, n)) * 2.0;
    CHECK(x.size() == n - 1);
    CHECK(x(n - 2) == 2 * kept(n - 1));
    x = kept(tt::range(tt::end, tt::end, -1)) + 0.0;
    CHECK(x(0) == kept(n - 1));
    x = x(tt::range(tt::end, tt::end, -1)) + x;
    CHECK(x(0) == kept(0) + kept(n - 1));
    x = kept(tt::range(0, n));
    x(0) = 100;
    CHECK(kept(0) == -3.0);
  }
}
TEST_CASE("other element types, and memory of the caller") {
  for (const index_t n : {3, 8, 19}) {
    tt::tensor<float, 1> f = tt::to<float>(tt::arange<index_t>(2 * n));
    const tt::tensor<int, 1> k = tt::to<int>(tt::arange<index_t>(2 * n));
    vec x(2 * n);
    x(tt::range(0, n)) = f(tt::range(n, 2 * n)) * 2.0f;
    x(tt::range(n, 2 * n)) = k(tt::range(0, n)) + x(tt::range(0, n));
    CHECK(x(n - 1) == 2.0 * double(2 * n - 1));
    CHECK(x(2 * n - 1) == double(n - 1) + 2.0 * double(2 * n - 1));
    std::vector<double> memory(static_cast<std::size_t>(3 * n));
    for (index_t i = 0; i < 3 * n; ++i) memory[static_cast<std::size_t>(i)] = double(i);
    auto want = memory;
    for (index_t shift : {index_t(0), index_t(1), n - 1, n}) {
      auto to = tt::view(memory.data() + n, {n}), from = tt::view(memory.data() + n - shift, {n});
      const auto read = want;
      for (index_t i = 0; i < n; ++i) want[static_cast<std::size_t>(n + i)] = read[static_cast<std::size_t>(n + i - shift)] + 1;
      to = from + 1.0;
      CHECK(memory == want);
      CHECK(sum(tt::view(memory.data(), tt::dims<1>{{n}}, tt::dims<1>{{2}})) == sum(tt::view(memory.data(), {n}, {2})));  // extents as a shape, too
    }
  }
}
TEST_CASE("reductions of parts have the bits of a copy, and allocate nothing where the elements are adjacent") {
  for (index_t n = 1; n <= 40; n += n < 20 ? 1 : 7) {
    const vec x = sin(numbered(3 * n) * 1.7);
    for (const part at : {part{0, n, 1}, part{n / 2, n, 1}, part{1, n, 2}, part{2 * n - 1, n, -1}}) {
      const vec y = x(at.slice()), w = cos(numbered(n));
      CAPTURE(n);
      CAPTURE(at.step);
      const auto blocks = tt::mem::stats.blocks;
      const auto loops = tt::counts.loops;
      const double s = sum(x(at.slice())), p = sum(x(at.slice()) * w), m = mean(x(at.slice())), most = max(x(at.slice())), least = min(w - x(at.slice()));
      const bool a = any(x(at.slice()) > 0.9), e = tt::all(x(at.slice()) == y);
      if (at.step == 1) CHECK(tt::mem::stats.blocks == blocks);
      CHECK(tt::counts.loops == loops + 7);
      CHECK(s == sum(y));
      CHECK(p == sum(y * w));
      CHECK(m == mean(y));
      double largest = y(0), smallest = w(0) - y(0);
      bool found = false;
      for (index_t i = 0; i < n; ++i) {
        largest = std::max(largest, double(y(i)));
        smallest = std::min(smallest, w(i) - y(i));
        found = found || y(i) > 0.9;
      }
      CHECK(most == largest);
      CHECK(least == smallest);
      CHECK(a == found);
      CHECK(e);
      if (n > 1) CHECK_THROWS_AS(static_cast<void>(sum(x(at.slice()) * x(tt::range(0, n - (n > 2)))) + sum(x(tt::range(0, n)) * x(tt::range(0, n + 2)))), tt::shape_error);
    }
    vec z = x(tt::range(0, n));
    z(n / 2) = std::nan("");
    CHECK(std::isnan(max(z(tt::range(0, n)))));
    CHECK_THROWS_AS(static_cast<void>(max(z(tt::range(0, 0)))), tt::domain_error);
    z = -std::numeric_limits<double>::infinity() * (numbered(n) * 0.0 + 1.0);
    CHECK(max(z) == -std::numeric_limits<double>::infinity());
  }
  CHECK_THROWS_AS(static_cast<void>(max(vec(0))), tt::domain_error);
  CHECK_THROWS_AS(static_cast<void>(min(mat(3, 0))), tt::domain_error);
  CHECK(max(tt::tensor<int, 1>{std::numeric_limits<int>::lowest()}) == std::numeric_limits<int>::lowest());
  CHECK(max(tt::tensor<bool, 1>{false, true}));
  CHECK_FALSE(max(tt::tensor<bool, 1>{false, false}));
}
TEST_CASE("matrices of a stack from each other, whole and in part, and new tensors from them") {
  for (const index_t n : {1, 2, 3, 4, 8, 9}) {
    tt::tensor<double, 3> b = reshape(numbered(4 * n * n), {4, n, n});
    const tt::tensor<double, 3> before = b;
    const mat c = reshape(cos(numbered(n * n)), {n, n});
    b(1) = 2.0 * b(2) + c;
    b(2) = b(2) * b(2);
    b(tt::range(0, 1)) = b(tt::range(3, 4));
    const mat fresh = b(1) - c;
    mat reused = c;
    const mat holds = reused;
    reused = b(3) + c;
    const index_t h = n / 2;
    b(3)(tt::range(0, h), tt::range(0, h)) = 3.0 * b(3)(tt::range(n - h, n), tt::range(n - h, n)) + c(tt::range(0, h), tt::range(0, h));
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j) {
        CAPTURE(n);
        CHECK(b(0, i, j) == before(3, i, j));
        CHECK(b(1, i, j) == 2 * before(2, i, j) + c(i, j));
        CHECK(b(2, i, j) == before(2, i, j) * before(2, i, j));
        CHECK(b(3, i, j) == (i < h && j < h ? 3 * before(3, n - h + i, n - h + j) + c(i, j) : double(before(3, i, j))));
        CHECK(fresh(i, j) == b(1, i, j) - c(i, j));
        CHECK(reused(i, j) == before(3, i, j) + c(i, j));
        CHECK(holds(i, j) == c(i, j));
      }
    CHECK(sum(b(1)) == sum(mat(b(1))));
  }
}
TEST_CASE("a new tensor takes one block and one loop") {
  const mat m = reshape(numbered(63), {7, 9});
  const vec x = numbered(9), w = x * 2.0;
  const auto blocks = tt::mem::stats.blocks;
  const auto loops = tt::counts.loops;
  vec a = x * 0.5 + w;
  const vec b = 0.5 * m(2) + m(3);
  vec c = m(1)(tt::range(0, 8));
  CHECK(tt::mem::stats.blocks == blocks + 3);
  CHECK(tt::counts.loops == loops + 3);
  const vec kept = a;
  a = a * 2.0 + w;  // held by `kept`: another block
  c = x + w;        // another length
  CHECK(tt::mem::stats.blocks == blocks + 6);  // the copy has a header of its own
  CHECK(c.size() == 9);
  CHECK(kept(3) == x(3) * 0.5 + w(3));
  CHECK(a(3) == kept(3) * 2 + w(3));
  CHECK_THROWS_AS(a = x + numbered(4), tt::shape_error);
  CHECK(a(3) == kept(3) * 2 + w(3));
}
TEST_CASE_TEMPLATE("fewer elements than a pack, of exactly so much memory", T, std::int8_t, int, tt::half, float, double, std::complex<double>) {
  for (index_t n = 1; n <= 17; ++n) {
    CAPTURE(n);
    std::vector<T> p(static_cast<std::size_t>(n)), q(static_cast<std::size_t>(n)), r(static_cast<std::size_t>(n), T(1));
    for (index_t i = 0; i < n; ++i) p[static_cast<std::size_t>(i)] = T(static_cast<float>(i + 1)), q[static_cast<std::size_t>(i)] = T(static_cast<float>(2 + i % 3));
    const auto a = tt::view(p.data(), {n}), b = tt::view(q.data(), {n});
    auto to = tt::view(r.data(), {n});
    const tt::tensor<T, 1> x = a, y = b;  // whole tensors, which have room behind them
    const auto same = [&](const tt::tensor<T, 1>& want) {
      index_t wrong = 0;
      for (index_t i = 0; i < n; ++i) wrong += !(r[static_cast<std::size_t>(i)] == want.data()[i]);
      CHECK(wrong == 0);
    };
    const auto by_hand = [&](auto f) {
      tt::tensor<T, 1> want(n);
      for (index_t i = 0; i < n; ++i) want.data()[i] = static_cast<T>(f(p[static_cast<std::size_t>(i)], q[static_cast<std::size_t>(i)]));
      return want;
    };
    to = a + b;
    same(by_hand([](T u, T v) { return u + v; }));
    to = to * b - a;
    same(by_hand([](T u, T v) { return (u + v) * v - u; }));
    to = a / b;
    if constexpr (tt::is_complex_v<T>) same(x / y);
    else same(by_hand([](T u, T v) { return u / v; }));
    to = where(a == b, b, a * b);
    same(where(x == y, y, x * y));
    tt::tensor<T, 1> z = x;
    z = z / y + x;
    to = a / b + a;
    same(z);
    CHECK(sum(a * b) == sum(x * y));
    CHECK(sum(a / b) == sum(x / y));
    if constexpr (!tt::is_complex_v<T>) {
      CHECK(max(a - b) == max(x - y));
      CHECK(tt::all(a / b == x / y));
    }
    if constexpr (tt::is_floating_v<T>) {
      to = exp(b) * a;
      same(exp(y) * x);
      CHECK(sum(sin(a)) == sum(sin(x)));
    }
    double total = 0;
    for (index_t i = 0; i < n; ++i) total += double(2 + i % 3);
    if constexpr (!tt::is_complex_v<T>) CHECK(static_cast<double>(static_cast<float>(sum(b))) == total);
  }
}
}  // namespace regions_test
