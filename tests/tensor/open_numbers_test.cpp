// Element types that number_traits opens: long double, and a number that the library has never seen.
#include <doctest/doctest.h>

#include <complex>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <vector>
#include <ttensor/all.hpp>

namespace tt = ttensor;
using tt::tensor;

namespace mine {
/// A number that counts the bits below double: high + low, as in double-double arithmetic (sums only are exact).
class wide {
  double high_ = 0, low_ = 0;

 public:
  constexpr wide() = default;
  constexpr wide(double high, double low = 0) : high_(high), low_(low) {}
  explicit operator double() const { return high_ + low_; }
  double low() const { return low_; }
  friend wide operator+(wide a, wide b) {
    const double s = a.high_ + b.high_, t = s - a.high_;
    return {s, (a.high_ - (s - t)) + (b.high_ - t) + a.low_ + b.low_};
  }
  friend wide operator-(wide a) { return {-a.high_, -a.low_}; }
  friend wide operator-(wide a, wide b) { return a + -b; }
  friend wide operator*(wide a, wide b) { return {a.high_ * b.high_, a.high_ * b.low_ + a.low_ * b.high_}; }
  friend wide operator/(wide a, wide b) { return {double(a) / double(b)}; }
  friend bool operator==(wide a, wide b) { return double(a - b) == 0; }
  friend bool operator<(wide a, wide b) { return double(a - b) < 0; }
  friend bool operator>(wide a, wide b) { return b < a; }
  friend std::ostream& operator<<(std::ostream& os, wide a) { return os << double(a); }
};
}  // namespace mine
template <> struct ttensor::number_traits<mine::wide> : ttensor::basic_number_traits<ttensor::number_kind::floating, 106> {};

TEST_CASE_TEMPLATE("arithmetic, comparisons, selections, sums, products and gradients", T, long double, mine::wide) {
  const tensor<T, 1> x{T(1), T(-2), T(3), T(4), T(-5)}, y{T(2), T(2), T(2), T(2), T(2)};
  const tensor<T, 1> z = x * x / y - x + T(1);
  CHECK(double(T(z(0))) == 0.5);
  CHECK(double(T(z(4))) == 18.5);
  CHECK(double(sum(x)) == 1);
  CHECK(double(sum(x * y)) == 2);
  CHECK(double(T(tt::eval(where(x > y, x, -y))(1))) == -2);
  CHECK(tt::any(x == T(3)));
  CHECK(double(dot(x, x)) == 55);
  const tensor<T, 2> a{{T(1), T(2)}, {T(3), T(4)}};
  CHECK(double(T(tt::eval(matmul(a, a))(1, 0))) == 15);
  CHECK(double(T(tt::eval(sum(a, 0))(1))) == 6);
  CHECK(double(T(tt::eval(transpose(a) + a)(0, 1))) == 5);
  const auto g = tt::grad([](const auto& v) { return sum(v * v * v / 2); })(x);
  CHECK(double(T(g(3))) == 24);
  CHECK(double(tt::jvp([](const auto& v) { return sum(v * v); }, x, y).y_dot) == 4);
  CHECK(double(tt::grad([](auto v) { return v * v * v; })(T(2))) == 12);
  CHECK(double(T(tt::eval(tt::vmap([](auto v) { return v * v + 1; })(x))(2))) == 10);
  std::ostringstream text;
  text << tensor<T, 1>{T(1), T(2)};
  CHECK(text.str().find('1') < text.str().find('2'));
  CHECK(text.str().find('2') != std::string::npos);
}

TEST_CASE("bits beyond double are kept") {
  const double tiny = 0x1p-60;
  CHECK(static_cast<long double>(tt::eval(tensor<long double, 1>{1.0L} + tensor<long double, 1>{0x1p-60L})(0)) - 1.0L == 0x1p-60L);
  const tensor<mine::wide, 1> x{mine::wide(1), mine::wide(tiny)};
  CHECK(sum(x).low() == tiny);
  CHECK(mine::wide(tt::eval(x * x)(0) + x(1)).low() == tiny);
}

TEST_CASE_TEMPLATE("what comparisons give: maximum, max, abs", T, long double, mine::wide) {
  const tensor<T, 1> x{T(1), T(-2), T(3)}, y{T(2), T(2), T(2)};
  CHECK(double(sum(maximum(x, y))) == 7);
  CHECK(double(sum(minimum(x, y))) == 1);
  CHECK(double(tt::max(x)) == 3);
  CHECK(double(tt::min(x)) == -2);
  CHECK(double(sum(abs(x))) == 6);
  CHECK(double(T(tt::grad([](const auto& v) { return sum(abs(v)); })(x)(1))) == -1);
  const T nan = T(std::numeric_limits<double>::quiet_NaN());
  const tensor<T, 1> p{nan, T(1)}, q{T(1), nan};
  const tensor<T, 1> most = maximum(p, q), least = minimum(p, q);
  for (int i = 0; i < 2; ++i) CHECK(double(T(most(i))) != double(T(most(i))));
  for (int i = 0; i < 2; ++i) CHECK(double(T(least(i))) != double(T(least(i))));
}
namespace mine {
struct refusing {  // sums above 100 throw
  double v = 0;
  refusing() = default;
  refusing(double x) : v(x) {}
  explicit operator double() const { return v; }
  friend refusing operator+(refusing a, refusing b) { return a.v + b.v > 100 ? throw std::overflow_error("too large") : refusing(a.v + b.v); }
  friend refusing operator-(refusing a) { return {-a.v}; }
  friend refusing operator-(refusing a, refusing b) { return {a.v - b.v}; }
  friend refusing operator*(refusing a, refusing b) { return {a.v * b.v}; }
  friend refusing operator/(refusing a, refusing b) { return {a.v / b.v}; }
  friend bool operator==(refusing a, refusing b) { return a.v == b.v; }
  friend bool operator<(refusing a, refusing b) { return a.v < b.v; }
  friend bool operator>(refusing a, refusing b) { return a.v > b.v; }
};
}  // namespace mine
template <> struct ttensor::number_traits<mine::refusing> : ttensor::basic_number_traits<ttensor::number_kind::floating, 53> {};
TEST_CASE("a statement of numbers that throw leaves a tensor that it does not write in place as it was") {
  using T = mine::refusing;
  tensor<T, 1> w(300), one(1);
  for (tt::index_t i = 0; i < 300; ++i) w(i) = T(double(i));
  one(0) = T(1);
  const auto keeps = [&](tensor<T, 1>& y, const auto& statement) {
    const std::vector<T> before(y.data(), y.data() + y.size());
    CHECK_THROWS_AS(statement(y), std::overflow_error);
    REQUIRE(y.size() == static_cast<tt::index_t>(before.size()));
    for (tt::index_t i = 0; i < y.size(); ++i) CHECK(T(y(i)) == before[static_cast<std::size_t>(i)]);
  };
  for (const tt::index_t n : {0, 4, 300}) {
    tensor<T, 1> y(n);
    for (tt::index_t i = 0; i < n; ++i) y(i) = T(double(i % 7));
    const auto other_length = [&](auto& z) { z = w(tt::range(0, 290)) + w(tt::range(10, 300)); };
    keeps(y, other_length);
    if (n != 300) {
      keeps(y, [&](auto& z) { z = w + w; });
      keeps(y, [&](auto& z) { z = w + one * T(99); });
    }
    if (n == 0) continue;
    const tensor<T, 1> holds = y;  // another block
    keeps(y, [&](auto& z) { z = z * T(90) + z * T(90); });
    CHECK(T(holds(n - 1)) == T(double((n - 1) % 7)));
  }
}
TEST_CASE("numbers of more than 16 bytes in statements on parts and wholes") {
  using Z = std::complex<long double>;
  tensor<Z, 1> x(6);
  x = Z(1, 2);
  x(tt::range(0, 3)) = Z(3);
  x(tt::range(3, 6)) = x(tt::range(0, 3)) * Z(0, 1) + x(tt::range(3, 6));
  const tensor<Z, 1> y = x * Z(2) + x;
  CHECK(Z(y(0)) == Z(9));
  CHECK(Z(y(5)) == Z(3, 15));
  CHECK(sum(x(tt::range(0, 3)) * Z(2)) == Z(18));
}

namespace mine {
/// A whole number of three bytes: no power of two.
struct bytes3 {
  unsigned char b[3] = {0, 0, 0};
  constexpr bytes3() = default;
  constexpr bytes3(double d) : b{part(d, 0), part(d, 8), part(d, 16)} {}
  static constexpr unsigned char part(double d, int shift) { return static_cast<unsigned char>(static_cast<unsigned>(static_cast<int>(d)) >> shift); }
  explicit operator double() const { return b[0] + 256 * b[1] + 65536 * (b[2] < 128 ? b[2] : b[2] - 256); }
  friend bytes3 operator+(bytes3 x, bytes3 y) { return {double(x) + double(y)}; }
  friend bytes3 operator-(bytes3 x) { return {-double(x)}; }
  friend bytes3 operator-(bytes3 x, bytes3 y) { return {double(x) - double(y)}; }
  friend bytes3 operator*(bytes3 x, bytes3 y) { return {double(x) * double(y)}; }
  friend bytes3 operator/(bytes3 x, bytes3 y) { return {double(x) / double(y)}; }
  friend bool operator==(bytes3 x, bytes3 y) { return double(x) == double(y); }
  friend bool operator<(bytes3 x, bytes3 y) { return double(x) < double(y); }
  friend bool operator>(bytes3 x, bytes3 y) { return y < x; }
};
}  // namespace mine
template <> struct ttensor::number_traits<mine::bytes3> : ttensor::basic_number_traits<ttensor::number_kind::floating, 23> {};

TEST_CASE("elements of three bytes, broadcast, transposed and summed") {
  using T = mine::bytes3;
  tensor<T, 2> x(3, 5), column(3, 1);
  tensor<T, 1> v(5), one(1);
  for (int i = 0; i < 3; ++i) {
    column(i, 0) = T(70000.0 - 1000 * i);
    for (int j = 0; j < 5; ++j) x(i, j) = T(300.0 * i - 7 * j), v(j) = T(1000.0 * j);
  }
  one(0) = T(-70001.0);
  const tensor<T, 2> y = x + column, z = transpose(transpose(x) + v(tt::range(0, 3)));
  const tensor<T, 1> w = v + one, s = sum(x, 0);
  for (int j = 0; j < 5; ++j) {
    CHECK(double(T(w(j))) == 1000 * j - 70001);
    CHECK(double(T(s(j))) == 900 - 21 * j);
    for (int i = 0; i < 3; ++i) {
      CHECK(double(T(y(i, j))) == 300 * i - 7 * j + 70000 - 1000 * i);
      CHECK(double(T(z(i, j))) == 300 * i - 7 * j + 1000 * i);
    }
  }
}
