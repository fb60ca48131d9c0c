// Rows P1 and P2: products of complex matrices and of a complex matrix and a vector, beside loops over real and imaginary parts by hand (the floor) and
// Eigen; P3: the norm of a difference of fixed vectors; P4 and P5: X'y and X'X of a matrix with few columns, beside loops over its rows and Eigen. Run with table.py, which interleaves the contenders, takes medians and prints ratios.
#include <complex>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <ttensor/num/complex.hpp>
#include <ttensor/tensor.hpp>
#include <ttensor/tensor/random.hpp>
#include <vector>
#include "rows.hpp"

namespace tt = ttensor;
using rows::add, rows::fresh;

namespace {
template <class T> tt::tensor<std::complex<T>, 2> numbers(int seed, tt::index_t n, tt::index_t m) {
  const tt::rng key(static_cast<std::uint64_t>(seed));
  const auto re = tt::normal<T>(fold_in(key, 1), {n, m}), im = tt::normal<T>(fold_in(key, 2), {n, m});
  return tt::eval(re + im * std::complex<T>(0, 1));
}
/// C = A B by hand, row by row of B.
template <class T> void by_hand(const std::complex<T>* a, const std::complex<T>* b, std::complex<T>* c, std::size_t m, std::size_t n, std::size_t k) {
  const T *pa = reinterpret_cast<const T*>(a), *pb = reinterpret_cast<const T*>(b);
  T* __restrict pc = reinterpret_cast<T*>(c);
  for (std::size_t i = 0; i < 2 * m * n; ++i) pc[i] = 0;
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t p = 0; p < k; ++p) {
      const T u = pa[2 * (i * k + p)], v = pa[2 * (i * k + p) + 1];
      for (std::size_t j = 0; j < n; ++j) {
        const T x = pb[2 * (p * n + j)], y = pb[2 * (p * n + j) + 1];
        pc[2 * (i * n + j)] += u * x - v * y;
        pc[2 * (i * n + j) + 1] += u * y + v * x;
      }
    }
}
/// Every row is checked before it is timed.
template <class T> void check(const std::string& row, const std::complex<T>* got, const std::complex<T>* want, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    if (!(std::abs(got[i] - want[i]) <= T(sizeof(T) == 4 ? 1e-3 : 1e-11) * (1 + std::abs(want[i])))) {
      std::fprintf(stderr, "%s: element %zu is wrong\n", row.c_str(), i);
      std::exit(1);
    }
}
template <class T> void products(const char* kind, tt::index_t n, bool vector) {
  using Z = std::complex<T>;
  const std::string row = std::string(vector ? "P2 complex matrix times vector/" : "P1 complex matmul/") + kind + "/" + std::to_string(n);
  const tt::index_t columns = vector ? 1 : n;
  const auto a = numbers<T>(1, n, n), b = numbers<T>(2, n, columns);
  const auto size = static_cast<std::size_t>(n), wide = static_cast<std::size_t>(columns);
  std::vector<Z> pa(a.data(), a.data() + a.size()), pb(b.data(), b.data() + b.size()), pc(size * wide);
  by_hand(pa.data(), pb.data(), pc.data(), size, wide, size);
  const tt::tensor<Z, 2> y = matmul(a, b);
  check(row, y.data(), pc.data(), pc.size());
  if (vector) {
    const tt::tensor<Z, 1> x = tt::eval(b(tt::all, 0));
    tt::tensor<Z, 1> z(n);
    add(row, "ttensor", [=]() mutable { z = matmul(a, x); fresh(z); });
  } else {
    add(row, "ttensor", [=, c = y]() mutable { c = matmul(a, b); fresh(c); });
  }
  add(row, "hand", [=]() mutable { by_hand(pa.data(), pb.data(), pc.data(), size, wide, size); fresh(pc); });
#if defined(TTENSOR_BENCH_EIGEN)
  using M = Eigen::Matrix<Z, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using V = Eigen::Matrix<Z, Eigen::Dynamic, 1>;
  const M ea = Eigen::Map<const M>(pa.data(), n, n);
  if (vector) {
    const V eb = Eigen::Map<const V>(pb.data(), n);
    V ec(n);
    add(row, "eigen", [=]() mutable { ec.noalias() = ea * eb; fresh(ec); });
  } else {
    const M eb = Eigen::Map<const M>(pb.data(), n, n);
    M ec(n, n);
    add(row, "eigen", [=]() mutable { ec.noalias() = ea * eb; fresh(ec); });
  }
#endif
}
void small() {
  tt::fixed<double, 3> a{1, 2, 3}, b{0.5, 1, 2};
  double pa[3] = {1, 2, 3}, pb[3] = {0.5, 1, 2};
  add("P3 d = a - b; norm(d)/double/3", "ttensor", [=]() mutable { fresh(a, b); const tt::fixed<double, 3> d = a - b; double r = norm(d); fresh(r); });
  add("P3 d = a - b; norm(d)/double/3", "hand", [=]() mutable {
    fresh(pa, pb);
    double s = 0;
    for (int i = 0; i < 3; ++i) s += (pa[i] - pb[i]) * (pa[i] - pb[i]);
    double r = std::sqrt(s);
    fresh(r);
  });
}
/// c = X' Y of n rows each, row by row.
void rows_by_hand(const double* x, const double* y, double* __restrict c, long n, long k, long m) {
  for (long i = 0; i < k * m; ++i) c[i] = 0;
  for (long p = 0; p < n; ++p)
    for (long i = 0; i < k; ++i)
      for (long j = 0; j < m; ++j) c[i * m + j] += x[p * k + i] * y[p * m + j];
}
void tall(tt::index_t n, tt::index_t k) {
  const tt::tensor<double, 2> x = tt::normal<double>(tt::rng(1), {n, k});
  const tt::tensor<double, 1> y = tt::normal<double>(tt::rng(2), {n});
  tt::tensor<double, 1> g = matmul(transpose(x), y);
  tt::tensor<double, 2> h = matmul(transpose(x), x);
  const std::string shape = " of " + std::to_string(n) + " rows/double/" + std::to_string(k), of_vector = "P4 X'y" + shape, of_itself = "P5 X'X" + shape;
  std::vector<double> c(static_cast<std::size_t>(k * k));
  const auto same = [&](const std::string& row, const double* got, tt::index_t size) {
    for (tt::index_t i = 0; i < size; ++i)
      if (const double want = c[static_cast<std::size_t>(i)]; !(std::abs(got[i] - want) <= 1e-11 * static_cast<double>(n))) {
        std::fprintf(stderr, "%s: element %ld is wrong\n", row.c_str(), static_cast<long>(i));
        std::exit(1);
      }
  };
  rows_by_hand(x.data(), y.data(), c.data(), n, k, 1);
  same(of_vector, g.data(), k);
  rows_by_hand(x.data(), x.data(), c.data(), n, k, k);
  same(of_itself, h.data(), k * k);
  add(of_vector, "ttensor", [=]() mutable { g = matmul(transpose(x), y); fresh(g); });
  add(of_vector, "hand", [=]() mutable { rows_by_hand(x.data(), y.data(), c.data(), n, k, 1); fresh(c); });
  add(of_itself, "ttensor", [=]() mutable { h = matmul(transpose(x), x); fresh(h); });
  add(of_itself, "hand", [=]() mutable { rows_by_hand(x.data(), x.data(), c.data(), n, k, k); fresh(c); });
#if defined(TTENSOR_BENCH_EIGEN)
  using M = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const M ex = Eigen::Map<const M>(x.data(), n, k);
  const Eigen::VectorXd ey = Eigen::Map<const Eigen::VectorXd>(y.data(), n);
  Eigen::VectorXd eg(k);
  M eh(k, k);
  add(of_vector, "eigen", [=]() mutable { eg.noalias() = ex.transpose() * ey; fresh(eg); });
  add(of_itself, "eigen", [=]() mutable { eh.noalias() = ex.transpose() * ex; fresh(eh); });
#endif
}
}  // namespace

int main(int argc, char** argv) {
  for (const tt::index_t n : {4, 8, 32, 128, 256}) products<double>("double", n, false);
  for (const tt::index_t n : {32, 256}) products<float>("float", n, false);
  for (const tt::index_t n : {8, 32, 256}) products<double>("double", n, true);
  small();
  for (const tt::index_t k : {2, 3, 4, 6, 8}) tall(10000, k);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
