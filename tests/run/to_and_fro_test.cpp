// Long loops begin at the end every second time: the same bits both ways and as by hand, at lengths around the pieces, in place, with broadcast
// operands, in fresh memory, for sums. Short and very long loops do not turn.
#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <ttensor/transform.hpp>

namespace tt = ttensor;
using tt::index_t;

namespace {

constexpr index_t piece = 8192;
template <class T> tt::tensor<T, 1> counted(index_t n, index_t step) {
  tt::tensor<T, 1> x(n);
  for (index_t i = 0; i < n; ++i) x.data()[i] = static_cast<T>(static_cast<int>(i * step % 10007 % 101 - 50));
  return x;
}
/// run() from a known direction, twice: backwards if `turns`, then forwards. Both give the bits of by_hand(i).
template <class T, class Run, class ByHand> void both_ways(index_t n, bool turns, Run run, ByHand by_hand) {
  CAPTURE(n);
  tt::run::direction_here.backwards = false;
  for (const bool backwards : {turns, false}) {
    const auto y = run();
    CHECK(tt::run::direction_here.backwards == backwards);
    REQUIRE(y.size() == n);
    index_t wrong = 0;
    for (index_t i = 0; i < n; ++i) {
      const T right = by_hand(i);
      wrong += std::memcmp(&right, y.data() + i, sizeof right) != 0;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE_TEMPLATE("statements", T, std::int32_t, float, double, std::complex<double>) {
  for (const index_t n : {index_t(1001), 8 * piece + 1, 9 * piece - 1, index_t(70003)}) {
    const auto a = counted<T>(n, 3), b = counted<T>(n, 5), c = counted<T>(n, 7);
    const bool turns = n > 1001;
    tt::tensor<T, 1> d(n);
    both_ways<T>(n, turns, [&] { return d = a * b + c, d; }, [&](index_t i) { return a.data()[i] * b.data()[i] + c.data()[i]; });
    both_ways<T>(n, turns, [&] { return tt::tensor<T, 1>(a * b + c); }, [&](index_t i) { return a.data()[i] * b.data()[i] + c.data()[i]; });
    const tt::tensor<T, 1> one = {T(3)};  // stands still
    both_ways<T>(n, turns, [&] { return tt::tensor<T, 1>(a * one + b - c); }, [&](index_t i) { return a.data()[i] * T(3) + b.data()[i] - c.data()[i]; });
    tt::run::direction_here.backwards = false;
    tt::tensor<T, 1> x = a;
    x *= b;  // in place, once the copy is its own
    x = x + x * c + a;
    index_t wrong = 0;
    for (index_t i = 0; i < n; ++i) wrong += x.data()[i] != a.data()[i] * b.data()[i] + a.data()[i] * b.data()[i] * c.data()[i] + a.data()[i];
    CHECK(wrong == 0);
  }
}
TEST_CASE("many axes, and more operators than fit the short loop") {
  const tt::tensor<double, 2> a = reshape(counted<double>(300 * 400, 3), 300, 400), b = reshape(counted<double>(300 * 400, 5), 300, 400);
  const double* p = a.data();
  const double* q = b.data();
  tt::tensor<double, 2> y(300, 400);
  auto by_hand = [&](index_t i) {  // small multiples of powers of two: exact
    return (((((p[i] + q[i]) * p[i] - q[i]) * 2.0 + p[i]) * 0.5 - 3.0) * q[i] + p[i] * q[i] - 1.0) * 0.25 + (p[i] - q[i]) * (p[i] + 0.125) - q[i] * 0.5 + (p[i] * 0.75 - 1.5) * q[i];
  };
  auto statement = [&] { return (((((a + b) * a - b) * 2.0 + a) * 0.5 - 3.0) * b + a * b - 1.0) * 0.25 + (a - b) * (a + 0.125) - b * 0.5 + (a * 0.75 - 1.5) * b; };
  both_ways<double>(300 * 400, true, [&] { return y = statement(), y; }, by_hand);
  both_ways<double>(300 * 400, true, [&] { return tt::tensor<double, 2>(statement()); }, by_hand);  // into fresh memory
  both_ways<double>(300 * 400, true, [&] { return y = a * b + a, y; }, [&](index_t i) { return p[i] * q[i] + p[i]; });
  both_ways<double>(300 * 400, true, [&] { return tt::tensor<double, 2>(a * b + a); }, [&](index_t i) { return p[i] * q[i] + p[i]; });
}
TEST_CASE("sums") {
  for (const index_t n : {3 * 65536 + 17, 100003}) {
    const auto x = counted<double>(n, 3), z = counted<double>(n, 5);
    double exact = 0;
    for (index_t i = 0; i < n; ++i) exact += (x.data()[i] - z.data()[i]) * (x.data()[i] - z.data()[i]);
    tt::run::direction_here.backwards = false;
    const double back = sum((x - z) * (x - z));
    CHECK(tt::run::direction_here.backwards);
    CHECK(back == exact);
    const tt::tensor<double, 1> u = x * 0.1, w = z * 0.3;  // rounded
    const bool before = tt::run::direction_here.backwards;
    const double one = sum((u - w) * (u - w));
    CHECK(tt::run::direction_here.backwards != before);
    CHECK(sum((u - w) * (u - w)) == one);
  }
}
TEST_CASE("gradients by overlapping views beside a number's: one order of additions") {
  const index_t n = 40000;
  const tt::tensor<double, 1> x = tt::ones<double>(n), a = tt::full<double>({n - 2}, 1e16), b = tt::ones<double>(n - 2), c = -a;
  const auto f = [&](const auto& s, const auto& t) { return sum(s * (t(tt::range(0, n - 2)) * a + t(tt::range(1, n - 1)) * b + t(tt::range(2, n)) * c)); };
  const tt::tensor<double, 1> first = std::get<1>(tt::grad<0, 1>(f)(1.0, x));
  for (int k = 0; k < 3; ++k) CHECK(tt::all(std::get<1>(tt::grad<0, 1>(f)(1.0, x)) == first));
}
TEST_CASE("what fits a near cache, or none, does not turn") {
  tt::run::direction_here.backwards = false;
  const auto few = tt::ones<float>(1000), many = tt::ones<float>(5 << 20);
  tt::tensor<float, 1> y;
  y = few * 2.0f;
  CHECK(!tt::run::direction_here.backwards);
  y = many * 2.0f;
  CHECK(!tt::run::direction_here.backwards);
  CHECK(sum(y) == float(index_t(10) << 20));
}
}  // namespace
