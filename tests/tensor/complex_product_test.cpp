// Products of complex matrices, which run on their parts: against the definition in long double, for sizes on both sides of every limit, strides, leading
// axes; infinities as the standard library has them; the bits of an element do not depend on how many rows there are.
#include <doctest/doctest.h>
#include <cmath>
#include <complex>
#include <limits>
#include <ttensor/all.hpp>

namespace tt = ttensor;

namespace {
template <class R> tt::tensor<std::complex<R>, 2> random(int seed, tt::index_t n, tt::index_t m) {
  const tt::rng key(static_cast<std::uint64_t>(seed));
  const auto re = tt::normal<R>(fold_in(key, 1), {n, m}), im = tt::normal<R>(fold_in(key, 2), {n, m});
  tt::tensor<std::complex<R>, 2> z(n, m);
  for (tt::index_t i = 0; i < n; ++i)
    for (tt::index_t j = 0; j < m; ++j) z(i, j) = std::complex<R>(re(i, j), im(i, j));
  return z;
}
/// The largest error in units of the sum of magnitudes.
template <class R> double error(const auto& y, const tt::tensor<std::complex<R>, 2>& a, const tt::tensor<std::complex<R>, 2>& b) {
  double worst = 0;
  for (tt::index_t i = 0; i < a.extent(0); ++i)
    for (tt::index_t j = 0; j < b.extent(1); ++j) {
      std::complex<long double> sum = 0;
      long double size = 0;
      for (tt::index_t p = 0; p < a.extent(1); ++p) {
        const std::complex<long double> u = std::complex<R>(a(i, p)), v = std::complex<R>(b(p, j));
        sum += u * v;
        size += std::abs(u) * std::abs(v);
      }
      const std::complex<long double> got = std::complex<R>(y(i, j));
      worst = std::max(worst, static_cast<double>(std::abs(got - sum) / size));
    }
  return worst;
}
template <class R> void sizes() {
  for (const tt::index_t m : {1, 2, 3, 5, 17, 40})
    for (const tt::index_t n : {1, 2, 5, 16, 33})
      for (const tt::index_t k : {1, 3, 8, 70, 600}) {
        const auto a = random<R>(1, m, k), b = random<R>(2, k, n);
        const tt::tensor<std::complex<R>, 2> at = transpose(a), bt = transpose(b);
        const double most = 8 * std::numeric_limits<R>::epsilon();
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(k);
        CHECK(error<R>(matmul(a, b), a, b) < most);
        CHECK(error<R>(matmul(transpose(at), b), a, b) < most);
        CHECK(error<R>(matmul(a, transpose(bt)), a, b) < most);
        CHECK(error<R>(matmul(transpose(at), transpose(bt)), a, b) < most);
      }
}
}  // namespace

TEST_CASE("complex products of doubles and of floats") {
  sizes<double>();
  sizes<float>();
}

TEST_CASE("stacks of complex matrices, vectors, gradients") {
  using C = std::complex<double>;
  tt::tensor<C, 3> a(3, 6, 7), b(3, 7, 9);
  for (int s = 0; s < 3; ++s) a(s) = random<double>(s, 6, 7), b(s) = random<double>(s + 10, 7, 9);
  const tt::tensor<C, 3> y = matmul(a, b);
  for (int s = 0; s < 3; ++s) CHECK(error<double>(tt::eval(y(s)), tt::eval(a(s)), tt::eval(b(s))) < 1e-15);
  const auto m = random<double>(4, 30, 20);
  const tt::tensor<C, 1> v = tt::eval(random<double>(5, 20, 1)(tt::all, 0));
  const tt::tensor<C, 2> column = reshape(v, 20, 1), product = matmul(m, column);
  CHECK(tt::max(abs(matmul(m, v) - product(tt::all, 0))) < 1e-13);
  // d/dA of sum(real(A b)) is conj(b) summed over columns, in every row (df/dx + i df/dy).
  const auto c = random<double>(6, 20, 8);
  const tt::tensor<C, 2> g = tt::grad([&](const auto& a) { return sum(real(matmul(a, c))); })(m);
  const tt::tensor<C, 1> row = sum(conj(c), 1);
  CHECK(tt::max(abs(g - row)) < 1e-13);
}

TEST_CASE("the bits of an element do not depend on how many rows and columns there are") {
  for (const tt::index_t k : {3, 40, 300}) {
    const auto a = random<double>(1, 50, k), b = random<double>(2, k, 30);
    const auto whole = matmul(a, b);
    for (const tt::index_t rows : {2, 3, 9}) {
      const auto part = matmul(tt::eval(a(tt::range(0, rows))), tt::eval(b(tt::all, tt::range(0, 4))));
      CHECK(tt::all(part == whole(tt::range(0, rows), tt::range(0, 4))));
    }
  }
}

TEST_CASE("infinities in complex products are the standard library's") {
  using C = std::complex<double>;
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const tt::index_t n : {1, 2, 12}) {
    tt::tensor<C, 2> a(n, n), b(n, n);
    for (tt::index_t i = 0; i < n; ++i) a(i, i) = C(inf, nan), b(i, i) = C(1, 1);
    const C y = matmul(a, b)(n - 1, n - 1), want = C(inf, nan) * C(1, 1);  // by parts (NaN, NaN)
    CHECK(std::isinf(want.real()));
    CHECK(y.real() == want.real());
    CHECK(y.imag() == want.imag());
  }
}
