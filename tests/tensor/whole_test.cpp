// Statements of whole arrays along one axis against loops: every length around packs and pieces, operands of one element anywhere, the result among the operands,
// short and long programs, all element types. A kernel of theirs knows adjacent elements only (run/flat.hpp).
#include <doctest/doctest.h>
#include <cfenv>
#include <complex>
#include <cstdint>
#include <vector>
#include <ttensor/tensor.hpp>

namespace tt = ttensor;
using tt::index_t;

namespace {
template <class T> T value(index_t i, int seed) { return static_cast<T>(static_cast<float>((i * 7 + seed * 5) % 23 - 11)); }
template <class T> tt::tensor<T, 1> made(index_t n, int seed) {
  tt::tensor<T, 1> x(n);
  for (index_t i = 0; i < n; ++i) x.data()[i] = value<T>(i, seed);
  return x;
}
template <class T> T at(const tt::tensor<T, 1>& x, index_t i) { return x.data()[x.size() == 1 ? 0 : i]; }

// More than 24 instructions: such programs have one copy of their loop.
struct long_form {
  template <class A, class B, class C> auto operator()(const A& a, const B& b, const C& c) const {
    return (a * b + c) * (a - b) + (c * c - a) * (b + c) - (a + b) * (c - a) + (b * b - c * a) * (a + c) - (c - b) * (a * c + b);
  }
};
struct short_form {
  template <class A, class B, class C> auto operator()(const A& a, const B& b, const C& c) const { return a * b + c; }
};
const index_t lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 511, 512, 513, 519, 527, 575, 576, 577, 1024, 1033, 1087, 1600, 8200, 65537};

template <class T, class F> void check(F f) {
  for (const index_t n : lengths)
    for (int ones = 0; ones < 8; ++ones)
      for (int form = 0; form < 3; ++form) {  // into a new array, into one of the same length, into an operand
        if (n > 10000 && (ones % 3 != 0 || form == 1)) continue;  // four fifths of all elements otherwise
        CAPTURE(n);
        CAPTURE(ones);
        CAPTURE(form);
        tt::tensor<T, 1> a = made<T>(ones & 1 ? 1 : n, 1), y = form == 1 ? made<T>(n, 9) : tt::tensor<T, 1>();
        const tt::tensor<T, 1> b = made<T>(ones & 2 ? 1 : n, 2), c = made<T>(ones & 4 ? 1 : n, 3);
        const index_t result = ones == 7 ? 1 : n;
        std::vector<T> want(static_cast<std::size_t>(result));
        for (index_t i = 0; i < result; ++i) want[static_cast<std::size_t>(i)] = static_cast<T>(f(at(a, i), at(b, i), at(c, i)));
        tt::tensor<T, 1>& to = form == 2 ? a : y;
        to = f(a, b, c);
        REQUIRE(to.size() == result);
        index_t wrong = 0;
        for (index_t i = 0; i < result; ++i) wrong += !(to.data()[i] == want[static_cast<std::size_t>(i)]);
        REQUIRE(wrong == 0);
      }
}
}  // namespace

TEST_CASE_TEMPLATE("whole arrays and arrays of one element", T, float, double, std::int32_t, std::complex<double>) {
  check<T>(short_form{});
  check<T>(long_form{});
}

TEST_CASE("masks and narrow types beside wide ones") {
  for (const index_t n : lengths)
    for (int ones = 0; ones < 4; ++ones) {
      CAPTURE(n);
      CAPTURE(ones);
      const auto a = made<float>(ones & 1 ? 1 : n, 1);
      const auto b = made<double>(ones & 2 ? 1 : n, 2);
      const index_t result = ones == 3 ? 1 : n;
      const tt::tensor<bool, 1> above = a > b;
      const tt::tensor<double, 1> chosen = where(above, a, b * 2.0), counted = where(a > 0.0f, b, -1.0);
      REQUIRE(chosen.size() == result);
      index_t wrong = 0;
      for (index_t i = 0; i < result; ++i) {
        const double x = static_cast<double>(at(a, i)), z = at(b, i);
        wrong += above.data()[i] != (x > z) || chosen.data()[i] != (x > z ? x : z * 2) || counted.data()[i] != (x > 0 ? z : -1);
      }
      REQUIRE(wrong == 0);
    }
}

TEST_CASE("operands that share their elements: a view of one element of the result, the result twice, a copy that stays") {
  for (const index_t n : lengths) {
    CAPTURE(n);
    auto y = made<double>(n, 4);
    const tt::tensor<double, 1> before = y, last = y(tt::range(n - 1, n));
    const auto x = made<double>(n, 5);
    y = y * last + x;
    y = y * y - last;
    index_t wrong = 0;
    for (index_t i = 0; i < n; ++i) {
      const double b = value<double>(i, 4), l = value<double>(n - 1, 4), z = b * l + value<double>(i, 5);
      wrong += y.data()[i] != z * z - l || before.data()[i] != b;
    }
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("what stands behind few elements does not wander off to infinity") {
  for (index_t n = 1; n <= 17; ++n) {
    CAPTURE(n);
    tt::tensor<double, 1> x(n), y(n);
    for (index_t i = 0; i < n; ++i) x.data()[i] = -1, y.data()[i] = -1;
    const tt::tensor<double, 1> two = {2.0};
    std::feclearexcept(FE_ALL_EXCEPT);
    for (int i = 0; i < 1100; ++i) {
      x = x * 2.0 + 1.0;
      y = tt::tensor<double, 1>(y * two + y * x);
      y = x * x * y;
    }
    CHECK(std::fetestexcept(FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO) == 0);
    CHECK(sum(x) == -static_cast<double>(n));
    CHECK(sum(y) == -static_cast<double>(n));
  }
}
