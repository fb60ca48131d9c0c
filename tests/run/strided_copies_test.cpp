// Copies between any two regions, of elements of 1 to 16 bytes: steps forwards and backwards, transposed, long and short. The truth is a loop over elements.
#include <doctest/doctest.h>

#include <complex>
#include <ttensor/all.hpp>

namespace strided_copies_test {
namespace tt = ttensor;
using tt::index_t;

namespace {
template <class T> T numbered(index_t i) {
  if constexpr (std::is_same_v<T, bool>) return i * 7 % 5 < 2;
  else if constexpr (tt::is_complex_v<T>) return T(static_cast<typename T::value_type>(i % 101), static_cast<typename T::value_type>(i % 13));
  else return T(static_cast<float>(i * 7 % 101));
}
template <class T> tt::tensor<T, 2> numbers(index_t n, index_t m) {
  tt::tensor<T, 2> x(n, m);
  for (index_t i = 0; i < n * m; ++i) x.data()[i] = numbered<T>(i);
  return x;
}
/// Position i of a slice of n elements from the end or the beginning.
index_t place(index_t i, index_t step, index_t n) { return step > 0 ? i * step : n - 1 + i * step; }
tt::range by(index_t step) { return step > 0 ? tt::range(0, tt::end, step) : tt::range(tt::end, tt::end, step); }
}  // namespace

TEST_CASE_TEMPLATE("copies of regions", T, bool, std::uint8_t, std::int16_t, tt::half, float, double, std::complex<float>, std::complex<double>) {
  for (const index_t n : {1, 3, 8, 17, 70})
    for (const index_t m : {1, 7, 16, 33, 130})
      for (const index_t step : {1, -1, 2, -3}) {
        CAPTURE(n);
        CAPTURE(m);
        CAPTURE(step);
        const auto x = numbers<T>(n, m);
        const tt::tensor<T, 2> along = x(tt::all, by(step)), down = x(by(step), tt::all), across = transpose(x(tt::all, by(step)));
        bool same = true;
        for (index_t i = 0; i < n; ++i)
          for (index_t j = 0; j < along.extent(1); ++j)
            same = same && along(i, j) == x(i, place(j, step, m)) && across(j, i) == along(i, j);
        for (index_t i = 0; i < down.extent(0); ++i)
          for (index_t j = 0; j < m; ++j) same = same && down(i, j) == x(place(i, step, n), j);
        tt::tensor<T, 2> into(n, m), turned(m, n);
        into(tt::all, by(step)) = along;
        turned(by(step), tt::all) = transpose(along);
        for (index_t i = 0; i < n; ++i)
          for (index_t j = 0; j < along.extent(1); ++j) same = same && into(i, place(j, step, m)) == along(i, j) && turned(place(j, step, m), i) == along(i, j);
        CHECK(same);
        CHECK(tt::count_nonzero(into != T(0)) == tt::count_nonzero(along != T(0)));  // nothing else was written
      }
}
TEST_CASE("sums of a backward loop over one element") {  // of a number and of a column; whole numbers, so that every order is exact
  for (const index_t n : {1, 15, 64, 200, 257, 1000, 5003}) {
    CAPTURE(n);
    const auto x = numbers<double>(3, n);
    const auto by_number = tt::grad([&](const auto& s) { return sum(x * s); })(2.0);
    const auto by_column = tt::grad([&](const auto& c) { return sum(x * unsqueeze(c, 1)); })(tt::tensor<double, 1>{1, 2, 3});
    const auto by_two = tt::grad<0, 1>([&](const auto& a, const auto& b) { return sum(x * a + x * x * b); })(1.0, 2.0);
    const auto narrow = tt::grad([&](const auto& s) { return sum(tt::to<float>(x) * s); })(2.0f);
    double total = 0, squares = 0, row[3] = {};
    for (index_t i = 0; i < 3; ++i)
      for (index_t j = 0; j < n; ++j) total += x(i, j), squares += x(i, j) * x(i, j), row[i] += x(i, j);
    CHECK(by_number == total);
    CHECK(std::get<0>(by_two) == total);
    CHECK(std::get<1>(by_two) == squares);
    CHECK(narrow == static_cast<float>(total));
    for (index_t i = 0; i < 3; ++i) CHECK(by_column(i) == row[i]);
  }
}
TEST_CASE_TEMPLATE("extremes of integers, counts of masks, elements taken", T, std::uint8_t, std::int8_t, std::int16_t, std::uint32_t, std::int64_t) {
  for (const index_t n : {1, 31, 64, 1000}) {
    const auto x = numbers<T>(2, n);
    T high = x(0, 0), low = high;
    index_t five = 0;
    for (index_t i = 0; i < 2 * n; ++i) {
      const T v = x.data()[i];
      high = v > high ? v : high, low = v < low ? v : low, five += v == T(5);
    }
    CHECK(max(x) == high);
    CHECK(min(x) == low);
    CHECK(tt::count_nonzero(x == 5) == five);
    CHECK(tt::any(x == 5) == (five > 0));
    CHECK(tt::all(x == 5) == (five == 2 * n));
    CHECK(x(argmax(reshape(x, -1)) / n, argmax(reshape(x, -1)) % n) == high);
    const tt::tensor<std::int64_t, 1> at{1, -1, 0};  // rows, then elements
    CHECK(tt::all(take(x, at, 0)(1) == x(-1)) == (n > 0));
    CHECK(take(reshape(x, -1), at, 0)(1) == x(1, n - 1));
  }
}
}  // namespace strided_copies_test
