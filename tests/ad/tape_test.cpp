// What recording costs, counted: nodes, entries, loops, blocks; and what the tape promises: no recursion, one sweep a node,
// levels that end, threads that do not meet.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <ttensor/all.hpp>

namespace tt = ttensor;
using tt::dot;
using tt::sum;

namespace {
struct cost {
  std::uint64_t nodes, backward, loops;
};
template <class F> cost cost_of(F f) {
  const auto nodes = tt::tapes::stats.nodes, backward = tt::tapes::stats.backward_loops, loops = tt::counts.loops;
  f();
  return {tt::tapes::stats.nodes - nodes, tt::tapes::stats.backward_loops - backward, tt::counts.loops - loops};
}
tt::tensor<double, 1> ramp(std::ptrdiff_t n, double from, double step) {
  tt::tensor<double, 1> x(n);
  for (std::ptrdiff_t i = 0; i < n; ++i) x.data()[i] = from + step * static_cast<double>(i);
  return x;
}
constexpr double inf = std::numeric_limits<double>::infinity();
}  // namespace

TEST_CASE("a statement is one node, one loop forward and one backward") {
  const auto x = ramp(37, -1, 0.05);
  tt::tensor<double, 1> g;
  const auto one = cost_of([&] { g = tt::grad([](const auto& v) {
    const auto y = tt::eval(exp(v) * sin(v) + v / (1.0 + v * v));
    return sum(y * v);
  })(x); });
  CHECK(one.nodes == 2);     // the statement and the sum
  CHECK(one.backward == 2);
  CHECK(one.loops == 2);
  for (std::ptrdiff_t i = 0; i < 37; ++i) {
    const double a = x(i), y = std::exp(a) * std::sin(a) + a / (1 + a * a);
    const double dy = std::exp(a) * (std::sin(a) + std::cos(a)) + (1 - a * a) / ((1 + a * a) * (1 + a * a));
    CHECK(g(i) == doctest::Approx(dy * a + y));
  }
}
TEST_CASE("a costly sum gives its gradient in the forward loop") {
  const auto x = ramp(1001, -3, 0.006);
  const auto c = cost_of([&] { tt::grad([](const auto& v) { return sum(exp(-v * v) * sin(v)); })(x); });
  CHECK(c.nodes == 1);
  CHECK(c.loops == 1);
  CHECK(c.backward == 0);
}
TEST_CASE("sums of parts, rows and repeats, with cotangents that are not one") {
  tt::tensor<double, 2> x(5, 7);
  for (int i = 0; i < 35; ++i) x.data()[i] = 0.1 * i - 1;
  const auto w = ramp(7, 0.5, 0.25);
  const auto g = tt::grad([&](const auto& v) {
    auto s = 3.0 * sum(exp(v * w)) + sum(sin(v(1, tt::all))) * 2.0 + 0.5 * sum(exp(v(tt::all, tt::range(2, 4))));
    return s + sum(v(0, tt::all) * sin(v(4, tt::all)));
  })(x);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 7; ++j) {
      const double a = x(i, j);
      double want = 3 * w(j) * std::exp(a * w(j));
      if (i == 1) want += 2 * std::cos(a);
      if (j == 2 || j == 3) want += 0.5 * std::exp(a);
      if (i == 0) want += std::sin(x(4, j));
      if (i == 4) want += x(0, j) * std::cos(a);
      CHECK(g(i, j) == doctest::Approx(want));
    }
  const auto gw = tt::grad<1>([](const auto& v, const auto& u) { return 2.0 * sum(exp(v * u)); })(x, w);
  for (int j = 0; j < 7; ++j) {
    double want = 0;
    for (int i = 0; i < 5; ++i) want += 2 * x(i, j) * std::exp(x(i, j) * w(j));
    CHECK(gw(j) == doctest::Approx(want));
  }
  const auto both = tt::grad<0, 1>([](auto s, const auto& u) { return sum(exp(s * u)) * sum(sin(u * s)); })(0.3, w);
  double e = 0, s = 0, de = 0, ds = 0;
  for (int j = 0; j < 7; ++j) e += std::exp(0.3 * w(j)), s += std::sin(0.3 * w(j)), de += w(j) * std::exp(0.3 * w(j)), ds += w(j) * std::cos(0.3 * w(j));
  CHECK(std::get<0>(both) == doctest::Approx(de * s + e * ds));
  CHECK(std::get<1>(both)(3) == doctest::Approx(0.3 * (std::exp(0.3 * w(3)) * s + e * std::cos(0.3 * w(3)))));
}
TEST_CASE("overlapping slices add up at every length") {
  for (std::ptrdiff_t n : {2, 3, 7, 8, 9, 10, 15, 16, 17, 33, 100}) {
    const auto x = ramp(n, -1, 0.03);
    const auto want = [&](std::ptrdiff_t i, bool costly) {
      double g = 0;
      if (i + 1 < n) g += costly ? std::exp(x(i)) * x(i + 1) : x(i + 1);
      if (i > 0) g += costly ? std::exp(x(i - 1)) : x(i - 1);
      return g;
    };
    const auto cheap = tt::grad([](const auto& v) { return sum(v(tt::range(1, tt::end)) * v(tt::range(0, -1))); })(x);
    const auto costly = tt::grad([](const auto& v) { return sum(v(tt::range(1, tt::end)) * exp(v(tt::range(0, -1)))); })(x);
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      CHECK(cheap(i) == doctest::Approx(want(i, false)));
      CHECK(costly(i) == doctest::Approx(want(i, true)));
    }
  }
}
TEST_CASE("a scalar statement is one entry") {
  tt::grad([](auto x) {
    auto& t = tt::tapes::of<double>(x.serial());
    auto& pool = t.template pool<tt::scalar_pool<double>>();
    const auto items = pool.items.size();
    const auto y = x * x + sin(x) * 2.0 - exp(x) / x;
    CHECK(pool.begin_of(pool.items.size() - 1) == items);
    CHECK(pool.items.size() <= items + 4 + 3);  // pairs, and ends: its own and those of two parts that joined it
    return y;
  })(0.7);
}
TEST_CASE("element loops are linear in entries, and reading leaves none") {
  static std::size_t items[2];  // functions that capture are looked at by types first, so these do not
  static int k = 0;
  for (std::ptrdiff_t n : {1000, 10000}) {
    const auto c = cost_of([&] {
      tt::grad([](const auto& v) {
        using S = typename std::remove_cvref_t<decltype(v)>::scalar;
        S s(0.0);
        for (std::ptrdiff_t i = 0; i + 1 < v.extent(0); ++i) {
          const S a = v(i + 1) - v(i) * v(i);
          s += a * a;
        }
        auto& pool = tt::tapes::of<double>(s.serial()).template pool<tt::scalar_pool<double>>();
        items[k] = pool.items.size();
        return s;
      })(ramp(n, -1, 1e-4));
    });
    CHECK(c.nodes == 1);
    CHECK(items[k] + 1 == 6 * static_cast<std::size_t>(n - 1));  // an element: four pairs, two ends, of which one has joined the next sum (the first joins none)
    ++k;
  }
}
TEST_CASE("elements that are read, written and read again") {
  const auto x = ramp(4, 1, 1);  // 1 2 3 4
  const auto g = tt::grad([](const auto& v) {
    auto h = v;               // shares until written
    const auto old = h(1);    // x1
    h(1) = h(0) * v(2);       // x0 x2
    h(2) += h(1);             // x2 + x0 x2
    return old * h(1) + h(2) * h(3) + v(1);
  })(x);
  // x0 x1 x2 + (x2 + x0 x2) x3 + x1
  CHECK(g(0) == doctest::Approx(2 * 3 + 3 * 4));
  CHECK(g(1) == doctest::Approx(3 + 1));
  CHECK(g(2) == doctest::Approx(2 + 4 + 4));
  CHECK(g(3) == doctest::Approx(3 + 3));
  const auto f = tt::grad([](const auto& v) {  // a recurrence through elements of an array that is filled
    using S = typename std::remove_cvref_t<decltype(v)>::scalar;
    tt::tensor<S, 1> h(4);
    h(0) = v(0);
    for (int i = 1; i < 4; ++i) h(i) = h(i - 1) * v(i);
    return sum(h);
  })(x);
  CHECK(f(0) == doctest::Approx(1 + 2 + 6 + 24));
  CHECK(f(3) == doctest::Approx(6));
}
TEST_CASE("a million recorded statements are swept and dropped without recursion") {
  double d = 0;
  std::thread([&] {  // whatever the stack is, a million frames do not fit
    d = tt::grad([](const auto& v) {
      auto y = tt::eval(v * 1.0);
      for (int i = 0; i < 1000000; ++i) y = y + 1e-6;
      return sum(y);
    })(tt::tensor<double, 1>{1.0, 2.0})(0);
  }).join();
  CHECK(d == 1);
}
TEST_CASE("linear statements keep no arrays") {
  const std::ptrdiff_t n = 4096;
  struct counting final : tt::mem::memory_resource {
    std::ptrdiff_t live = 0, most = 0;
    void* allocate(std::size_t bytes) override {
      live += static_cast<std::ptrdiff_t>(bytes);
      most = std::max(most, live);
      return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    }
    void deallocate(void* p, std::size_t bytes) noexcept override {
      live -= static_cast<std::ptrdiff_t>(bytes);
      std::free(p);
    }
  } resource;
  tt::mem::default_resource = &resource;
  {
    const auto g = tt::grad([](const auto& v) {
      auto y = tt::eval(v * 1.0);
      for (int i = 0; i < 10000; ++i) y = 0.9999 * y + 1.0;
      return sum(y);
    })(ramp(n, 0, 1));
    CHECK(g(5) == doctest::Approx(std::pow(0.9999, 10000)));
  }
  tt::mem::default_resource = nullptr;
  CHECK(resource.most < 16 * n * 8);
  CHECK(resource.live == 0);
}
TEST_CASE("a repeated gradient takes no memory from the system") {
  const auto x = ramp(3000, -1, 1e-3);
  const auto f = tt::grad([](const auto& v) {
    const auto y = tt::eval(exp(v) * v);
    return sum(sin(y) * v) + y(3) * v(4);
  });
  auto g = f(x);
  g = f(x);
  const auto before = tt::mem::stats.system;
  for (int i = 0; i < 10; ++i) g = f(x);
  if (TTENSOR_KEEPS_BLOCKS) CHECK(tt::mem::stats.system == before);
}
TEST_CASE("threads differentiate at once") {
  const auto x = ramp(2000, -1, 1e-3);
  const auto w = ramp(2000, 0.5, 1e-4);
  auto work = [&](double& out) {
    for (int k = 0; k < 50; ++k) {
      const auto g = tt::grad([&](const auto& v) { return sum(exp(v * w) * sin(v)) + v(7) * v(8); })(x);
      out = g(7);
    }
  };
  double a = 0, b = 1;
  std::thread other([&] { work(a); });
  work(b);
  other.join();
  CHECK(a == b);
}
TEST_CASE("values of levels that ended, or of other threads") {
  static tt::var<double> kept;
  static tt::tensor<tt::var<double>, 1> array;
  tt::grad([](const auto& v) {
    array = v;
    kept = v(0) * 2.0;
    return kept;
  })(ramp(3, 1, 1));
  CHECK_THROWS_AS(kept * 2.0, tt::level_error);
  CHECK_THROWS_AS(tt::eval(array * 2.0), tt::level_error);
  CHECK_THROWS_AS(static_cast<void>(array(0) * 2.0), tt::level_error);
  CHECK(kept.value() == 2);
  static bool thrown = false;
  tt::grad([](const auto& v) {
    std::thread([&v] {
      try {
        static_cast<void>(v(0) * 2.0);
      } catch (const tt::level_error&) {
        thrown = true;
      }
    }).join();
    return v(0) * 1.0;
  })(ramp(3, 1, 1));
  CHECK(thrown);
}
TEST_CASE("a zero cotangent absorbs infinite partials") {
  const tt::tensor<double, 1> x{0.0, 4.0};
  for (double side : {0.0, 1.0}) {
    const auto g = tt::grad([&](const auto& v) { return sum(where(v > side, sqrt(v), 2.0 * v)); })(x);
    CHECK(g(0) == 2);
    CHECK(g(1) == 0.25);
  }
  const auto cheap = tt::grad([](const auto& v) { return sum(tt::eval(sqrt(v)) * 0.0); })(x);
  CHECK(cheap(0) == 0);
  const auto scaled = tt::grad([](const auto& v) { return 0.0 * sum(sqrt(v)); })(x);
  CHECK(scaled(0) == 0);
  CHECK(tt::grad([](auto s) { return where(s > 0.0, sqrt(s), 3.0 * s); })(0.0) == 3);
  CHECK(tt::grad([](auto s) { return sqrt(s); })(0.0) == inf);
}
TEST_CASE("kinks: ties of maximum share, where takes one side") {
  const tt::tensor<double, 1> a{1, 2, 3}, b{3, 2, 1};
  const auto g = tt::grad<0, 1>([](const auto& x, const auto& y) { return sum(maximum(x, y)); })(a, b);
  const double left[] = {0, 0.5, 1}, right[] = {1, 0.5, 0};
  for (int i = 0; i < 3; ++i) {
    CHECK(std::get<0>(g)(i) == left[i]);
    CHECK(std::get<1>(g)(i) == right[i]);
  }
  CHECK(tt::grad([](auto x) { return maximum(x, 2.0); })(2.0) == 0.5);
  CHECK(tt::grad([](auto x) { return where(x > 1.0, x * x, 2.0 * x); })(1.0) == 2);
}
TEST_CASE("statements of many arrays") {
  const auto x = ramp(19, 0.1, 0.05);
  const auto g = tt::grad([](const auto& v) {
    return sum(v * v + v * v + v * v + v * v + v * v + v * v + v * v + v * v + v * v + v * v + v * v + v * v);
  })(x);
  for (std::ptrdiff_t i = 0; i < 19; ++i) CHECK(g(i) == doctest::Approx(24 * x(i)));
}
