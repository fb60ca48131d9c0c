// Integers: what wraps, what does not, and divisions, shifts and bounds that C++ leaves undefined. The truth is NumPy's.
#include <doctest/doctest.h>

#include <climits>
#include <complex>
#include <cstdint>
#include <utility>
#include <vector>
#include <ttensor/all.hpp>

namespace integers_test {
namespace tt = ttensor;
using i8 = std::int8_t;
using u8 = std::uint8_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;
using c128 = std::complex<double>;
template <class T> using vec = tt::tensor<T, 1>;

TEST_CASE("compound assignment to elements does what the operator does") {
  vec<int> a{1, 2, -7, INT_MAX, INT_MIN, -6};
  a(0) /= 0;
  a(1) %= 0;
  a(2) %= 2;
  a(3) += 1;
  a(4) /= -1;
  a(5) /= 2u;
  CHECK(tt::all(a == vec<int>{0, 0, 1, INT_MIN, INT_MIN, -3}));
  a(3)--;
  a(0) -= 5u;
  auto named = a(3);
  named += 5;
  CHECK(a(3) == INT_MAX);
  CHECK(a(0) == -5);
  CHECK(named == INT_MIN + 4);
  vec<c128> y(2);
  y(1) += 1;
  y(1) *= 2.5;
  y(0) -= c128(0, 1);
  CHECK(y(0) == c128(0, -1));
  CHECK(y(1) == 2.5);
}
TEST_CASE("compound assignment to arrays: remainders, bits and shifts") {
  vec<int> a{7, -7, 12};
  a %= 5;
  CHECK(tt::all(a == vec<int>{2, 3, 2}));
  a <<= 2;
  CHECK(tt::all(a == vec<int>{8, 12, 8}));
  a(tt::range(0, 2)) |= vec<int>{1, 2};
  CHECK(tt::all(a == vec<int>{9, 14, 8}));
  a(tt::range(0, tt::end, 2)) >>= 1;
  CHECK(tt::all(a == vec<int>{4, 14, 4}));
  a ^= a;
  CHECK(tt::all(a == 0));
  tt::fixed<int, 2> f{6, 9};
  f &= 3;
  f <<= 1;
  CHECK(f(0) == 4);
  CHECK(f(1) == 2);
  vec<bool> m{true, false};
  m |= vec<bool>{false, true};
  m &= vec<bool>{true, false};
  m ^= true;
  CHECK(tt::all(m == vec<bool>{false, true}));
  vec<double> d{5.5, -5.5};
  d %= 2.0;
  CHECK(tt::all(d == vec<double>{1.5, 0.5}));
}
TEST_CASE("integers wrap, in reductions too") {
  const vec<i64> x{INT64_MAX, 3, 5};
  CHECK(prod(x) == i64(u64(INT64_MAX) * 15));
  CHECK(sum(x) == INT64_MIN + 7);
  CHECK(tt::eval(square(x))(0) == 1);
  const vec<i8> c{100, -128, 5};
  CHECK(tt::all((c + c) / 2 == vec<i8>{-28, 0, 5}));
  CHECK(tt::all(-c / -1 == vec<i8>{100, -128, 5}));
}
TEST_CASE("ranges of integers are computed in integers") {
  const tt::index_t n = 3;
  CHECK(tt::all(tt::arange<double>(n) == tt::tensor<double, 1>{0, 1, 2}));
  CHECK(tt::all(tt::arange<double>(0.5, n, std::size_t(1)) == tt::tensor<double, 1>{0.5, 1.5, 2.5}));
  CHECK(tt::all(tt::arange<float>(-1, n) == tt::tensor<float, 1>{-1, 0, 1, 2}));
  CHECK(tt::arange<float>(tt::index_t(16777215), tt::index_t(16777217)).size() == 2);
  const i64 far = i64(1) << 60;
  CHECK(tt::all(tt::arange<i64>(far, far + 3) == vec<i64>{far, far + 1, far + 2}));
  CHECK(tt::all(tt::arange<i64>(INT64_MAX - 1, INT64_MIN, INT64_MIN + 1) == vec<i64>{INT64_MAX - 1, -1}));
  CHECK(tt::all(tt::arange<u64>(UINT64_MAX - 1, UINT64_MAX) == UINT64_MAX - 1));
  CHECK(tt::all(tt::arange(7, 0, -3) == vec<int>{7, 4, 1}));
  CHECK(tt::all(tt::arange(-2, std::size_t(1)) == vec<i64>{-2, -1, 0}));
  CHECK_THROWS_AS(tt::arange(0, UINT64_MAX), tt::domain_error);
  CHECK_THROWS_AS(tt::arange(UINT64_MAX - 5, UINT64_MAX, 1), tt::domain_error);
  CHECK(tt::all(tt::arange<i8>(-128, 127, 100) == vec<i8>{-128, -28, 72}));
  CHECK(tt::arange(5, 5).size() + tt::arange(5, 4).size() + tt::arange(4, 5, -1).size() == 0);
  CHECK_THROWS_AS(tt::arange<u64>(0, UINT64_MAX), tt::shape_error);
  tt::tensor<int, 2> a(3, 4);
  for (int k = 0; k < 3; ++k) a(k) = tt::arange(4) + 4 * k;
  CHECK(tt::all(a(tt::range(1, 3, INT64_MAX), 0) == 4));
  CHECK(a(tt::range(0, 3, INT64_MAX)).shape() == tt::dims<2>{{1, 4}});
  CHECK(tt::all(a(0, tt::range(tt::end, tt::end, INT64_MIN)) == 3));
  CHECK(tt::all(a(0, tt::range(tt::end, 0, -2)) == vec<int>{3, 1}));
  CHECK(tt::all(a(0, tt::range(0, 4, 3)) == vec<int>{0, 3}));
  CHECK(tt::zeros<double>(tt::zeros<int>().shape())() == 0);
  CHECK(tt::full<double>(tt::dims<0>{}, 2)() == 2);
}
TEST_CASE_TEMPLATE("shifts by any count", T, i8, u8, int, u64) {
  constexpr int bits = 8 * sizeof(T);
  int wrong = 0;
  for (int n : {1, 71})
    for (const T x : {T(1), T(-1), T(100), std::numeric_limits<T>::min(), std::numeric_limits<T>::max()})
      for (const T c : {T(0), T(1), T(bits - 1), T(bits), T(bits + 1), T(-1), T(-bits), std::numeric_limits<T>::min(), std::numeric_limits<T>::max()}) {
        const bool out = c < T(0) || c >= T(bits);
        const T left = out ? T(0) : static_cast<T>(static_cast<u64>(x) << c), right = out ? static_cast<T>(x < T(0) ? -1 : 0) : static_cast<T>(x >> c);
        auto a = tt::full<T>({n}, x), b = tt::full<T>({n}, c);
        wrong += !tt::all((a << b) == left) + !tt::all((a >> b) == right) + !tt::all((a << c) == left) + !tt::all((a >> c) == right);
        wrong += (a(0) << c) != left || (a(0) >> b(0)) != right;
        a(0) >>= c;
        wrong += a(0) != right;
      }
  CHECK(wrong == 0);
}
TEST_CASE("bounds of clamp that the integers do not reach") {
  const tt::tensor<std::uint8_t, 1> u{200, 100, 3};
  const tt::tensor<std::int8_t, 1> s{-128, 100, 127};
  CHECK(tt::all(clamp(u, -5, 300) == u));
  CHECK(tt::all(clamp(s, -5, 300) == tt::tensor<int, 1>{-5, 100, 127}));
  CHECK(tt::all(clamp(u, 50, 150) == tt::tensor<int, 1>{150, 100, 50}));
  CHECK(tt::all(clamp(u, '2', 'z') == tt::tensor<int, 1>{122, 100, 50}));
  const tt::tensor<std::uint8_t, 1> bound{150, 150, 150};  // beside a bound that is an array too
  CHECK(tt::all(clamp(u, -5, bound) == tt::tensor<int, 1>{150, 100, 3}));
  CHECK(tt::all(clamp(u, bound, 300) == tt::tensor<int, 1>{200, 150, 150}));
  CHECK(tt::all(clamp(300, tt::tensor<std::int8_t, 1>{1, 2}, tt::tensor<std::int8_t, 1>{3, 127}) == tt::tensor<int, 1>{3, 127}));
  CHECK(tt::all(clamp(-300, tt::tensor<std::int8_t, 1>{1, -128}, std::int8_t{3}) == tt::tensor<int, 1>{1, -128}));
  CHECK(tt::all(clamp(u, 300, tt::tensor<int, 1>{1000, 1000, 1000}) == 300));
  const tt::tensor<char, 1> letters{'a', 'z'}, third{'c', 'c'};
  CHECK(tt::all(clamp(letters, 98, third) == tt::tensor<char, 1>{'b', 'c'}));
  CHECK(tt::all(clamp(letters, 'b', 1000) == tt::tensor<char, 1>{'b', 'z'}));
}
TEST_CASE("counts that the integers do not hold shift every bit out") {
  tt::tensor<std::uint8_t, 1> u{200, 3};
  const tt::tensor<std::int8_t, 1> s{-100, 100};
  CHECK(tt::all(u << 256 == 0));
  CHECK(tt::all(u >> 256 == 0));
  CHECK(tt::all(s << 257 == 0));
  CHECK(tt::all(s >> 256 == tt::tensor<int, 1>{-1, 0}));
  CHECK(tt::all(tt::tensor<int, 1>{5} << (1ll << 32) == 0));
  CHECK(tt::all(tt::tensor<int, 1>{5} >> 4294967297ll == 0));
  CHECK(tt::all(tt::vmap([](const auto& x) { return x << 256; })(u) == 0));
  u <<= 256;
  CHECK(tt::all(u == 0));
}
TEST_CASE("unsigned indices that no int64 reaches are out of range") {
  const tt::tensor<double, 1> x{1, 2, 3};
  const std::size_t before = std::size_t(0) - 1;
  CHECK_THROWS_AS(take(x, tt::tensor<std::uint64_t, 1>{before}, 0), tt::index_error);
  CHECK_THROWS_AS(take(x, before, 0), tt::index_error);
  CHECK_THROWS_AS((tt::tensor<double, 2>(2, 2)(before)), tt::index_error);
  if constexpr (TTENSOR_CHECK_BOUNDS) CHECK_THROWS_AS(x(before), tt::index_error);
  CHECK(tt::all(take(x, tt::tensor<std::uint64_t, 1>{2, 0}, 0) == tt::tensor<double, 1>{3, 1}));
  CHECK(x(std::size_t(1)) == 2);
}
TEST_CASE("two truth values selected are a mask") {
  const auto m = tt::eval(where(tt::tensor<int, 1>{1, 2} > 1, true, false));
  static_assert(std::is_same_v<decltype(m), const tt::tensor<bool, 1>>);
  CHECK(!m(0));
  CHECK(m(1));
}

TEST_CASE("a number shifted by an array") {
  const tt::tensor<int, 1> n{1, 2, 3};
  CHECK(tt::all(1 << n == tt::tensor<int, 1>{2, 4, 8}));
  CHECK(tt::all(64 >> n == tt::tensor<int, 1>{32, 16, 8}));
  CHECK(tt::all(tt::vmap([](const auto& k) { return 1 << k; })(n) == tt::tensor<int, 1>{2, 4, 8}));
}

TEST_CASE_TEMPLATE("long long and char are integers of their width: they wrap, and shift by any count", T, long long, char, unsigned long long) {
  using limits = std::numeric_limits<T>;
  const tt::tensor<T, 1> x{T(1), limits::max(), limits::min()}, count{static_cast<T>(-1), T(1), T(8 * sizeof(T) - 1)};
  const tt::tensor<T, 1> shifted = x << count, next = x + T(1), less = x - T(1);
  CHECK(shifted(0) == 0);
  CHECK(next(1) == limits::min());
  CHECK(less(2) == limits::max());
  if (limits::is_signed) {
    const tt::tensor<T, 1> negated = -x, size = abs(x);
    CHECK(negated(2) == limits::min());
    CHECK(size(2) == limits::min());
  }
}

TEST_CASE("sums of scatter_add and matmul wrap") {
  const int most = std::numeric_limits<int>::max();
  const tt::tensor<int, 1> x{most, 1}, two{2};
  CHECK(scatter_add(x, 0, tt::tensor<int, 1>{0}, two)(0) == std::numeric_limits<int>::min() + 1);
  const tt::tensor<int, 2> a{{most, 1}, {1, 1}}, b{{1, most}, {1, most}};
  CHECK(matmul(a, b)(0, 0) == std::numeric_limits<int>::min());
}

TEST_CASE("integers of 64 bits between two ends") {
  using i64 = std::int64_t;
  const i64 most = std::numeric_limits<i64>::max(), least = std::numeric_limits<i64>::min(), odd = (i64(1) << 53) + 1;
  CHECK(tt::all(tt::linspace<i64>(most, most, 3) == most));
  CHECK(tt::all(tt::linspace<i64>(odd, odd, 3) == odd));
  CHECK(tt::all(tt::linspace<i64>(least, most, 3) == tt::tensor<i64, 1>{least, -1, most}));
  CHECK(tt::all(tt::linspace<int>(0, -5, 4) == tt::tensor<int, 1>{0, -2, -4, -5}));
  CHECK(tt::all(tt::linspace<std::uint8_t>(std::uint8_t(200), std::uint8_t(0), 3) == tt::tensor<std::uint8_t, 1>{200, 100, 0}));
  CHECK(tt::all(tt::linspace<int>(0.9, 3.9, 3) == tt::tensor<int, 1>{0, 2, 3}));  // as NumPy: of the numbers themselves
  for (int n = 2; n < 60; ++n) CHECK(tt::all(tt::linspace<int>(0.0, n - 1.0, n) == tt::arange<int>(n)));  // whole steps are exact
  CHECK(tt::all(tt::linspace(0, 49, 50) == tt::arange<double>(50)));
  CHECK_THROWS_WITH_AS(tt::arange(0.0, std::numeric_limits<double>::quiet_NaN()), doctest::Contains("TT-D15"), tt::domain_error);
}

TEST_CASE_TEMPLATE("remainders of elements of every width", T, i8, u8, std::int16_t, std::uint16_t, int, i64) {
  tt::tensor<T, 1> x{7, 12};
  x(0) %= 4;
  x(1) = x(1) % 5;
  CHECK(tt::all(x == tt::tensor<T, 1>{3, 2}));
  CHECK(x(0) % x(1) == 1);
}
TEST_CASE_TEMPLATE("quotients and remainders of arrays, beside every multiple", T, i8, u8, std::int16_t, std::uint16_t, int, unsigned, i64) {
  using L = std::numeric_limits<T>;
  using U = std::make_unsigned_t<T>;
  std::vector<T> divisors{0, 1, 2, 3, 5, 7, 10, 100, T(-1), T(-2), T(-3), T(-100), L::max(), T(L::max() - 1), T(L::max() / 2), L::min(), T(L::min() + 1)};
  std::vector<T> a, b;
  for (T y : divisors)
    for (int k = 0; k < 60; ++k)
      for (int beside = -1; beside <= 1; ++beside) {
        const T quotient = k < 20 ? T(k) : k < 40 ? T(L::max() / (y == 0 ? 1 : y == T(-1) ? 1 : y) - T(k - 20)) : T(L::max() - T(k - 40));
        a.push_back(T(std::uint64_t(U(quotient)) * std::uint64_t(U(y)) + std::uint64_t(beside)));
        b.push_back(y);
      }
  const tt::index_t n = static_cast<tt::index_t>(a.size());
  tt::tensor<T, 1> x(n), y(n);
  for (tt::index_t i = 0; i < n; ++i) x(i) = a[static_cast<std::size_t>(i)], y(i) = b[static_cast<std::size_t>(i)];
  const tt::tensor<T, 1> quotient = x / y, rest = tt::fmod(x, y), floored = x % y;
  int wrong = 0;
  for (tt::index_t i = 0; i < n; ++i) {
    const T p = x(i), q = y(i);
    const bool minus_one = L::is_signed && q == T(-1);
    const T want = q == 0 ? T(0) : minus_one ? T(U(0) - U(p)) : T(p / q), left = q == 0 || minus_one ? T(0) : T(p % q);
    wrong += quotient(i) != want || rest(i) != left || floored(i) != (left != 0 && (left < T(0)) != (q < T(0)) ? T(left + q) : left);
  }
  CHECK(wrong == 0);
}
TEST_CASE("bounds of another type than the integers between them are not cut") {
  using u8 = std::uint8_t;
  const auto says = [](const char* text, auto&& f) { CHECK_THROWS_WITH_AS(f(), doctest::Contains(text), tt::domain_error); };
  long all = 256, more = 300;
  double half_way = 2.5;
  CHECK(tt::all(tt::arange<u8>(all) == tt::arange<int>(256)));
  CHECK(tt::all(tt::arange<std::int8_t>(-128, all / 2) == tt::arange<int>(-128, 128)));
  CHECK(tt::all(tt::arange<std::int16_t>(0, 40000, 10000) == tt::tensor<int, 1>{0, 10000, 20000, 30000}));
  CHECK(tt::all(tt::arange<unsigned>(3, -1, -1) == tt::tensor<int, 1>{3, 2, 1, 0}));
  CHECK(tt::arange<unsigned>(3, -1).size() == 0);
  CHECK(tt::arange<int>(half_way).size() == 3);  // 0, 1, 2 are below it
  CHECK(tt::arange<int>(0, -half_way, -1.0).size() == 3);
  CHECK(tt::arange<std::int64_t>(INT64_MIN, INT64_MAX, std::int64_t{1} << 62).size() == 4);
  says("[arange] stop 300 is beyond the element type; choose a wider one [TT-D16]", [&] { tt::arange<u8>(more); });
  says("stop 257 is beyond", [] { tt::arange<u8>(0, 257, 1); });
  says("[arange] -1 is beyond", [] { tt::arange<u8>(-1, 3); });
  says("stop -2 is beyond", [] { tt::arange<unsigned>(3, -2, -1); });
  says("is beyond", [] { tt::arange<std::int64_t>(-1, UINT64_MAX); });
  says("2.5", [&] { tt::arange<int>(half_way, 7); });
  says("1e-09 is no integer", [] { tt::arange<int>(1e-9, 3); });
  const tt::tensor<int, 1> wide{256, 300};
  CHECK(tt::arange<u8>(wide(0)).size() == 256);
  CHECK(tt::arange<int>(tt::half(2.5f)).size() == 3);
  says("300 is beyond", [&] { tt::arange<u8>(wide(1)); });
  says("299 is beyond", [&] { tt::integers<u8>(tt::rng(1), {4}, 0, wide(1)); });
  says("300 is beyond", [&] { tt::linspace<u8>(wide(0) - 256, wide(1), 4); });
  says("300 is beyond", [] { tt::linspace<u8>(0.0, 300.0, 4); });
  says("nan is no integer", [] { tt::linspace<int>(0.0, std::abs(std::numeric_limits<double>::quiet_NaN()), 3); });
  CHECK(tt::all(tt::linspace<int>(0.0, 5.5, 3) == tt::tensor<int, 1>{0, 2, 5}));
  CHECK(tt::arange<std::uint64_t>(UINT64_MAX, -1, -(INT64_C(1) << 62)).size() == 4);
  says("is beyond", [] { tt::arange<std::uint64_t>((UINT64_C(1) << 63) + 5, INT64_MIN, -1); });
  CHECK(tt::arange<std::int64_t>(-1, UINT64_C(1) << 63, INT64_C(1) << 62).size() == 3);
  CHECK(tt::arange<std::int8_t>(-100, 200, 100).size() == 3);  // -100, 0, 100
  says("stop 201 is beyond", [] { tt::arange<std::int8_t>(-100, 201, 100); });
  says("inf is no integer of 64 bits", [] { tt::arange<int>(0, std::numeric_limits<double>::infinity()); });
  says("is no integer of 64 bits", [] { tt::arange<int>(0, std::numeric_limits<double>::quiet_NaN()); });
  says("[linspace] 300 is beyond", [&] { tt::linspace<u8>(0, more, 4); });
  const tt::rng key(1);
  const auto bytes = tt::integers<u8>(key, {5000}, 0, all);
  CHECK(int(tt::max(bytes)) == 255);
  CHECK(int(tt::min(bytes)) == 0);
  CHECK(tt::all(bytes == tt::integers<int>(key, {5000}, 0, 256)));  // the same numbers as in a wider type
  const auto words = tt::integers<std::int64_t>(key, {100}, INT64_MIN, std::uint64_t{1} << 63);
  CHECK(tt::count_nonzero(words < 0) > 30);
  CHECK(tt::count_nonzero(words > 0) > 30);
  says("[integers] 299 is beyond", [&] { tt::integers<u8>(key, {9}, 0, more); });
  says("[integers] -1 is beyond", [&] { tt::integers<u8>(key, {9}, -1, 5); });
  says("[integers] empty range [3, 3)", [&] { tt::integers<int>(key, {9}, 3, 3u); });
}
}  // namespace integers_test
