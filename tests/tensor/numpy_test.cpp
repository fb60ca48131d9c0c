// What differed from NumPy once: faults that a comparison of random programs with NumPy found.
#include <doctest/doctest.h>

#include <climits>
#include <cmath>
#include <complex>
#include <cstdint>
#include <utility>
#include <ttensor/all.hpp>

namespace tt = ttensor;
using tt::half;
using i8 = std::int8_t;
using u8 = std::uint8_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;
using c64 = std::complex<float>;
using c128 = std::complex<double>;
template <class T> using vec = tt::tensor<T, 1>;

TEST_CASE("C++ numbers are weak where they are assigned") {
  const double variable = 0.1;
  vec<float> v(3);
  v = variable;
  CHECK(tt::all(v == 0.1f));
  v(tt::all) = 1;
  v(tt::range(0, 2)) *= 2.5;
  v(2) = 0.5;
  v(2) += 1;
  CHECK(tt::all(v == vec<float>{2.5f, 2.5f, 1.5f}));
  vec<i8> w(3);
  w = 5;
  w += 1;
  w(tt::all) += 2L;
  w(0) = 7L;
  w(1) += 1u;
  CHECK(tt::all(w == vec<i8>{7, 9, 8}));
  vec<c64> z(2);
  z = variable;
  z(tt::all) += 1;
  z(0) = 2;
  z(0) += 0.5;
  CHECK(z(0) == c64(2.5f));
  CHECK(z(1) == c64(1.1f));
  vec<half> h(2);
  h = variable;
  h(1) += 2;
  CHECK(tt::all(h == vec<half>{half(0.1), half(0.1) + half(2)}));
  CHECK(tt::all(tt::full<float>({2}, variable) == 0.1f));
  CHECK(tt::all(tt::full<i8>(w.shape(), 5L) == 5));
  tt::fixed<float, 2> f;
  f = variable;
  f += 1;
  CHECK(f(1) == 0.1f + 1);
  tt::tensor<c64, 0> r;
  r = 2;
  CHECK(c64(r) == c64(2));
  tt::tensor<float, 0> s;
  s = variable;
  CHECK(float(s) == 0.1f);
  const float slope = tt::grad([&](const auto& x) {
    tt::tensor<tt::scalar_t<decltype(x)>, 1> y(3);
    y = variable;
    y += x;
    y(0) = x * x;
    y(1) = 3;
    return sum(y);
  })(2.0f);
  CHECK(slope == 5);
}
TEST_CASE_TEMPLATE("a default-constructed tensor is empty everywhere", T, double, half) {
  vec<T> e, g;
  e = 5;
  e(tt::all) = 1;
  e(tt::range(0, 3)) = e;
  e += 5;
  g = e * e + e;
  for (auto x : e) static_cast<void>(x);
  swap(e(tt::all), g(tt::all));
  CHECK(e.size() == 0);
  CHECK(sum(e) == 0);
  CHECK(sum(e * g) == 0);
  CHECK(tt::all(e == g));
  CHECK_THROWS_AS(tt::max(e), tt::error);
  tt::view_of<T, 1> v = e;
  v = 3;
  v += v;
  tt::tensor<T, 2> m;
  m(tt::all, tt::range(0, 3)) += 2;
  m += transpose(m);
  flip(m, 0) = 1;
  flatten(m) = 2;
  for (auto row : m) row = 1;
  CHECK(sum(m, 0).size() == 0);
  CHECK(matmul(m, m).shape() == tt::dims<2>{{0, 0}});
  vec<T> taken(std::move(e));
  e = 2;  // empty again
  CHECK(e.size() == 0);
  e = vec<T>{1, 2};
  e = taken;
  CHECK(e.size() == 0);
  tt::tensor<T, 0> one;  // one element, which is 0
  one += 1;
  CHECK(T(one) == T(1));
  if constexpr (std::is_same_v<T, double>) {
    const auto f = [](const auto& x) {
      tt::tensor<tt::scalar_t<decltype(x)>, 1> y;
      y = 5;
      y(tt::all) = x;
      y += x;
      return sum(y * y) + x;
    };
    CHECK(tt::grad(f)(2.0) == 1);
    CHECK(tt::all(tt::vmap(f)(vec<double>{1, 2}) == vec<double>{1, 2}));
    CHECK(tt::jvp(f, 2.0, 1.0).y_dot == 1);
  }
}
TEST_CASE_TEMPLATE("&& || ! of numbers are those of x != 0", T, int, u8, double, half) {
  const vec<T> x{T(0), T(1), T(2), T(0), T(3)}, y{T(0), T(0), T(5), T(1), T(2)};
  CHECK(tt::all((x && y) == vec<bool>{false, false, true, false, true}));
  CHECK(tt::all((x || y) == vec<bool>{false, true, true, true, true}));
  const vec<bool> zeros{true, false, false, true, false};
  CHECK(tt::all((!x) == zeros));
  CHECK(tt::all((x && 1) == (x > T(0))));
  if constexpr (std::is_same_v<T, double>) {
    CHECK(tt::all(vec<T>{NAN} && vec<c128>{c128(0, 1)}));
    const auto f = [](const auto& t) { return sum(where(t && (t > 1.0), t * t, 0.0) + where(!t || t > 2.0, t, 1.0)); };
    const vec<T> v{0, 1, 2, 3};
    CHECK(tt::all(tt::grad(f)(v) == vec<T>{1, 0, 4, 7}));
    CHECK(tt::jvp(f, v, v).y_dot == 29);
    CHECK(tt::all(tt::vmap(tt::grad([](const auto& t) { return where(t && t, t * t, 0.0); }))(v) == 2.0 * v));
  }
}
TEST_CASE("arg of real numbers, tests and rsqrt of complex ones") {
  const double pi = std::acos(-1.0), inf = INFINITY;
  CHECK(tt::all(arg(vec<int>{-1, 1, 0}) == vec<double>{pi, 0, 0}));
  for (int n : {1, 9}) {  // lanes and tails
    CHECK(tt::all(isnan(arg(tt::full<double>({n}, -double(NAN))))));
    CHECK(tt::all(arg(tt::full<double>({n}, -0.0)) == pi));
    CHECK(tt::all(arg(tt::full<float>({n}, 0.0)) == 0));
  }
  const vec<c128> z{c128(1, 2), c128(inf, 0), c128(0, -inf), c128(NAN, 0), c128(NAN, inf), c128(1.5e308, 1.5e308)};
  CHECK(tt::all(isinf(z) == vec<bool>{false, true, true, false, true, false}));
  CHECK(tt::all(isnan(z) == vec<bool>{false, false, false, true, true, false}));
  CHECK(tt::all(isfinite(z) == vec<bool>{true, false, false, false, false, true}));
  CHECK(tt::max(abs(rsqrt(vec<c128>{c128(4), c128(0, 2), c128(-1)}) - vec<c128>{c128(0.5), c128(0.5, -0.5), c128(0, -1)})) < 1e-15);
  CHECK(tt::rsqrt(c128(4)) == 0.5);
  const c128 w(1, 2), slope = tt::grad([](const auto& t) { return sum(real(rsqrt(t))); })(vec<c128>{w})(0);
  CHECK(std::abs(slope - std::conj(-0.5 / (w * std::sqrt(w)))) < 1e-15);
}
template <class A, class B> int wrong_comparisons(A x, B y) {
  int wrong = 0;
  for (int n : {1, 19}) {  // tails and lanes
    auto a = tt::full<A>({n}, x);
    const auto b = tt::full<B>({n}, y);
#define CHECK_COMPARISON(sign, function)                                                                                    \
  wrong += tt::any((a sign b) != std::function(x, y)) + tt::any((a sign y) != std::function(x, y)) + tt::any((x sign b) != std::function(x, y)) + ((a(0) sign y) != std::function(x, y));
    CHECK_COMPARISON(==, cmp_equal)
    CHECK_COMPARISON(!=, cmp_not_equal)
    CHECK_COMPARISON(<, cmp_less)
    CHECK_COMPARISON(<=, cmp_less_equal)
    CHECK_COMPARISON(>, cmp_greater)
    CHECK_COMPARISON(>=, cmp_greater_equal)
  }
  return wrong;
}
TEST_CASE("integers of all types are compared exactly") {
  for (const int y : {-1, 0, 44, 255, 300}) CHECK(wrong_comparisons(u8(44), y) == 0);
  for (const unsigned y : {0u, 7u, 3000000000u, UINT_MAX}) CHECK(wrong_comparisons(-1, y) + wrong_comparisons(7, y) == 0);
  for (const u64 y : {u64(0), u64(1) << 53, (u64(1) << 53) + 1, u64(INT64_MAX), UINT64_MAX})
    for (const i64 x : {i64(-1), i64(1) << 53, (i64(1) << 53) + 1, INT64_MAX, INT64_MIN}) CHECK(wrong_comparisons(x, y) + wrong_comparisons(y, x) == 0);
  CHECK(wrong_comparisons(UINT64_MAX, -1) == 0);
  CHECK(tt::all(tt::vmap([](const auto& x) { return x < u64(5); })(vec<i64>{-1, 4})));
}
TEST_CASE_TEMPLATE("a remainder of zero has the sign of the divisor", T, double, float, half) {
  for (int n : {1, 19}) {
    const auto zero = [&](double x, double y) { return tt::eval(copysign(vec<T>(tt::full<T>({n}, 1)), tt::full<T>({n}, x) % tt::full<T>({n}, y))); };
    CHECK(tt::all(zero(-4, 2) == 1));
    CHECK(tt::all(zero(4, -2) == -1));
    CHECK(tt::all(zero(0, -1) == -1));
    CHECK(tt::all(zero(-0.0, 1) == 1));
    CHECK(tt::all(tt::full<T>({n}, -3) % T(2) == 1));
    CHECK(tt::all(remainder(tt::full<T>({n}, 3), T(-2)) == -1));
  }
}
TEST_CASE_TEMPLATE("uniform numbers of 16 bits are below 1", T, half, tt::bfloat16) {
  const auto x = tt::uniform<T>(tt::rng(7), {100000});
  CHECK(float(tt::max(x)) == 1 - std::ldexp(1.0f, -std::numeric_limits<T>::digits));
  CHECK(tt::min(tt::to<float>(x)) >= 0);
  CHECK(tt::all(abs(tt::to<float>(x) - tt::uniform<float>(tt::rng(7), {100000})) < float(std::numeric_limits<T>::epsilon())));
}

TEST_CASE("forms of NumPy: zeros_like, eye(n, m), flip(x), transpose(x, axes), take(x, i), softmax(x)") {
  const tt::tensor<double, 2> a{{1, 2, 3}, {4, 5, 6}};
  const auto z = zeros_like(a);
  static_assert(std::is_same_v<decltype(z), const tt::tensor<double, 2>>);
  CHECK(z.shape() == a.shape());
  CHECK(tt::all(z == 0.0));
  static_assert(std::is_same_v<decltype(tt::ones_like<float>(a > 2)), tt::tensor<float, 2>>);
  static_assert(std::is_same_v<decltype(ones_like(a > 2)), tt::tensor<bool, 2>>);
  CHECK(tt::sum(ones_like(a > 2)) == 6);
  CHECK(tt::all(full_like(a + 1, 7) == 7.0));
  const tt::fixed<double, 2, 3> f{{1, 2, 3}, {4, 5, 6}};
  static_assert(std::is_same_v<decltype(zeros_like(f)), tt::fixed<double, 2, 3>>);
  CHECK(tt::all(zeros_like(f) == 0.0));
  tt::tensor<int, tt::extents<tt::dyn, 3>> mixed(2, 3);
  static_assert(std::is_same_v<decltype(ones_like(mixed)), decltype(mixed)>);
  CHECK(tt::sum(ones_like(mixed)) == 6);
  CHECK(item(zeros_like(tt::tensor<double, 0>(3.0))) == 0.0);
  CHECK(zeros_like(tt::tensor<double, 2>(0, 4)).shape() == tt::dims<2>{{0, 4}});
  // What is filled inside a function takes what the function writes.
  const vec<double> x{1, 2, 3};
  const auto squares = [](const auto& t) {
    auto y = zeros_like(t);
    for (int i = 0; i < 3; ++i) y(i) = t(i) * t(i);
    return sum(y);
  };
  CHECK(tt::all(tt::grad(squares)(x) == 2 * x));
  CHECK(tt::all(tt::vmap(squares)(a) == vec<double>{14, 77}));

  CHECK(tt::all(tt::eye<int>(2, 3) == tt::tensor<int, 2>{{1, 0, 0}, {0, 1, 0}}));
  CHECK(tt::all(tt::eye<double>(3, 2) == transpose(tt::eye<double>(2, 3))));

  CHECK(tt::all(flip(a) == tt::tensor<double, 2>{{6, 5, 4}, {3, 2, 1}}));
  CHECK(tt::all(flip(flip(a + 0, 0), 1) == flip(a + 0)));
  const tt::tensor<int, 3> cube = tt::reshape(tt::arange<int>(24), {2, 3, 4});
  const auto outer_two = flip(cube, tt::axes{-1, 0});
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) CHECK(outer_two(i, j, k) == cube(1 - i, j, 3 - k));
  CHECK_THROWS_WITH_AS(flip(cube, tt::axes{0, -3}), doctest::Contains("[flip] axis -3 is named twice"), tt::axis_error);
  CHECK_THROWS_AS(flip(cube, tt::axes{3}), tt::axis_error);
  tt::tensor<double, 2> b = a;
  flip(b)(0, 0) = 60;
  CHECK(b(1, 2) == 60);
  CHECK(flip(tt::tensor<double, 2>(0, 4)).shape() == tt::dims<2>{{0, 4}});
  CHECK(item(flip(tt::tensor<double, 0>(3.0))) == 3.0);

  const tt::tensor<double, 3> c = reshape(tt::arange<double>(24), 2, 3, 4);
  CHECK(tt::all(transpose(c, 2, 0, 1) == permute(c, 2, 0, 1)));
  CHECK(tt::all(transpose(c, tt::axes{2, 0, 1}) == permute(c, 2, 0, 1)));
  CHECK(tt::all(permute(c, tt::axes{2, 0, 1}) == permute(c, 2, 0, 1)));
  CHECK(tt::all(transpose(c, {1, -1, 0}) == permute(c, 1, 2, 0)));
  CHECK_THROWS_WITH_AS(transpose(a, 1, 1), doctest::Contains("is named twice"), tt::axis_error);

  CHECK(tt::all(take(a, tt::tensor<int, 2>{{5, 0}, {-1, 2}}) == tt::tensor<double, 2>{{6, 1}, {6, 3}}));
  CHECK(take(transpose(a), 1) == 4);
  CHECK_THROWS_AS(take(a, 6), tt::index_error);

  CHECK(tt::all(softmax(a) == softmax(a, 1)));
  CHECK(tt::all(log_softmax(a) == log_softmax(a, -1)));
}

TEST_CASE("an element of a complex array has the members of its number") {  // did not compile
  const std::complex<double> one(1, 2);
  tt::tensor<std::complex<double>, 1> z{one, 3.0 * one};
  CHECK(z(1).real() == 3);
  CHECK(z(1).imag() == 6);
}
