// Statements into parts of a tensor, against plain loops over all elements read first: every pair of parts of one vector (the same,
// apart, overlapping either way), strides of both signs, parts that copies and expressions hold, memory of the caller.
#include <doctest/doctest.h>

#include <ttensor/all.hpp>
#include <vector>

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
