// Rows P1 and P2: products of complex matrices and of a complex matrix and a vector, beside loops over real and imaginary parts by hand (the floor) and
// Eigen; P3: the norm of a difference of fixed vectors; P4 and P5: X'y and X'X of a matrix with few columns, beside loops over its rows and Eigen; P6: small matrices; P8, P9: factors and substitution; P10: a Gaussian process; P7: 100 products of small
// matrices one after the other, and their derivatives, beside loops (derivatives by hand, too). Run with table.py, which interleaves the contenders, takes medians and prints ratios.
#include <complex>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <ttensor/all.hpp>
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
/// c = A B, or A B' where B lies transposed; or added to c.
template <bool Transposed = false, bool Add = false> void square_by_hand(const double* a, const double* b, double* __restrict c, long n) {
  for (long i = 0; i < n; ++i) {
    if (!Add)
      for (long j = 0; j < n; ++j) c[i * n + j] = 0;
    for (long p = 0; p < n; ++p)
      for (long j = 0; j < n; ++j) c[i * n + j] += a[i * n + p] * (Transposed ? b[j * n + p] : b[p * n + j]);
  }
}
bool close(const double* got, const double* want, tt::index_t n) {
  bool yes = true;
  for (tt::index_t i = 0; i < n; ++i) yes = yes && std::abs(got[i] - want[i]) <= 1e-11 * (1 + std::abs(want[i]));
  return yes;
}
void need(const std::string& row, bool right) {
  if (right) return;
  std::fprintf(stderr, "%s: wrong\n", row.c_str());
  std::exit(1);
}
void small_products(tt::index_t n) {
  const auto a = tt::eval(tt::normal<double>(tt::rng(1), {n, n})), b = tt::eval(tt::normal<double>(tt::rng(2), {n, n}));
  const std::string side = "/double/" + std::to_string(n), row = "P6 matmul(a, b)" + side, turned = "P6 matmul(a, transpose(b))" + side;
  std::vector<double> c(static_cast<std::size_t>(n * n));
  tt::tensor<double, 2> y = matmul(a, b), z = matmul(a, transpose(b));
  square_by_hand(a.data(), b.data(), c.data(), n);
  need(row, close(y.data(), c.data(), n * n));
  square_by_hand<true>(a.data(), b.data(), c.data(), n);
  need(turned, close(z.data(), c.data(), n * n));
  add(row, "ttensor", [=]() mutable { y = matmul(a, b); fresh(y); });
  add(row, "hand", [=]() mutable { square_by_hand(a.data(), b.data(), c.data(), n); fresh(c); });
  add(turned, "ttensor", [=]() mutable { z = matmul(a, transpose(b)); fresh(z); });
  add(turned, "hand", [=]() mutable { square_by_hand<true>(a.data(), b.data(), c.data(), n); fresh(c); });
#if defined(TTENSOR_BENCH_EIGEN)
  using M = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const M ea = Eigen::Map<const M>(a.data(), n, n), eb = Eigen::Map<const M>(b.data(), n, n);
  M ec(n, n);
  add(row, "eigen", [=]() mutable { ec.noalias() = ea * eb; fresh(ec); });
  add(turned, "eigen", [=]() mutable { ec.noalias() = ea * eb.transpose(); fresh(ec); });
#endif
}
/// sum(a^100 x): x = a x, a hundred times.
constexpr long links = 100;
double chain_by_hand(const double* a, const double* x, double* steps, long n) {
  for (long i = 0; i < n * n; ++i) steps[i] = x[i];
  for (long k = 0; k < links; ++k) square_by_hand(a, steps + k * n * n, steps + (k + 1) * n * n, n);
  double total = 0;
  for (long i = 0; i < n * n; ++i) total += steps[links * n * n + i];
  return total;
}
void chain(tt::index_t n) {
  const auto a = tt::eval(tt::uniform<double>(tt::rng(1), {n, n}) / static_cast<double>(n)), x = tt::eval(tt::uniform<double>(tt::rng(2), {n, n}));
  const auto f = [x]<class T>(const tt::tensor<T, 2>& m) {
    tt::tensor<T, 2> y = x;
    for (long k = 0; k < links; ++k) y = matmul(m, y);
    return sum(y);
  };
  const auto size = static_cast<std::size_t>(n * n);
  const std::vector<double> all((links + 1) * size), one(size);
  auto tangent = [=, steps = all, d = one, e = one]() mutable {
    chain_by_hand(a.data(), x.data(), steps.data(), n);
    std::fill(d.begin(), d.end(), 0.0);
    for (std::size_t k = 0; k < links; ++k) {  // d = a d + a x
      square_by_hand(a.data(), d.data(), e.data(), n);
      square_by_hand<false, true>(a.data(), steps.data() + k * size, e.data(), n);
      d.swap(e);
    }
    double total = 0;
    for (const double v : d) total += v;
    return total;
  };
  auto gradient = [=, steps = all, d = one, e = one, t = one](double* g) mutable {
    chain_by_hand(a.data(), x.data(), steps.data(), n);
    for (long i = 0; i < n; ++i)
      for (long j = 0; j < n; ++j) t[static_cast<std::size_t>(i * n + j)] = a.data()[j * n + i];
    std::fill(d.begin(), d.end(), 1.0);
    std::fill(g, g + size, 0.0);
    for (std::size_t k = links; k-- > 0; d.swap(e)) {  // g += d x', d = a' d
      square_by_hand<true, true>(d.data(), steps.data() + k * size, g, n);
      square_by_hand(t.data(), d.data(), e.data(), n);
    }
  };
  std::vector<double> g(size);
  const std::string row = "P7 100 products", shape = "/double/" + std::to_string(n);
  gradient(g.data());
  tt::tensor<double, 2> ours = tt::grad(f)(a);
  need(row, close(ours.data(), g.data(), n * n));
  const double want = tangent(), got = tt::jvp(f, std::tuple{a}, std::tuple{a}).y_dot;
  need(row, close(&got, &want, 1));
  add(row + shape, "ttensor", [=]() mutable { double y = f(a); fresh(y); });
  add(row + shape, "hand", [=, steps = all]() mutable { double y = chain_by_hand(a.data(), x.data(), steps.data(), n); fresh(y); });
  add(row + ", jvp" + shape, "ttensor", [=]() mutable { double y = tt::jvp(f, std::tuple{a}, std::tuple{a}).y_dot; fresh(y); });
  add(row + ", jvp" + shape, "hand", [=]() mutable { double y = tangent(); fresh(y); });
  add(row + ", gradient" + shape, "ttensor", [=]() mutable { ours = tt::grad(f)(a); fresh(ours); });
  add(row + ", gradient" + shape, "hand", [=]() mutable { gradient(g.data()); fresh(g); });
}
/// P8, P9: loops that write one element after the other (the floor), Eigen.
void factors(tt::index_t n) {
  const tt::tensor<double, 2> g = tt::normal<double>(tt::rng(1), {n, n}), a = matmul(g, transpose(g)) + static_cast<double>(n) * tt::eye<double>(n);
  const std::string shape = "/double/" + std::to_string(n), row = "P8 cholesky" + shape, solve = "P9 triangular_solve(l, b)" + shape, gradient = "P8 cholesky, gradient of its sum" + shape;
  tt::tensor<double, 2> l = cholesky(a), z = triangular_solve(l, g), d = tt::grad([](const auto& x) { return sum(cholesky(x)); })(a);
  std::vector<double> c(static_cast<std::size_t>(n * n)), x(c);
  const auto factor = [=](double* to) {
    for (long i = 0; i < n; ++i)
      for (long j = 0; j < n; ++j) {
        double v = j > i ? 0.0 : a.data()[i * n + j];
        for (long k = 0; k < j && j <= i; ++k) v -= to[i * n + k] * to[j * n + k];
        to[i * n + j] = i == j ? std::sqrt(v) : j > i ? 0.0 : v / to[j * n + j];
      }
  };
  const auto substitute = [=, from = l](double* to) {
    for (long i = 0; i < n; ++i) {
      for (long j = 0; j < n; ++j) to[i * n + j] = g.data()[i * n + j];
      for (long k = 0; k < i; ++k)
        for (long j = 0; j < n; ++j) to[i * n + j] -= from.data()[i * n + k] * to[k * n + j];
      for (long j = 0; j < n; ++j) to[i * n + j] /= from.data()[i * n + i];
    }
  };
  factor(c.data());
  need(row, close(l.data(), c.data(), n * n));
  substitute(x.data());
  need(solve, close(z.data(), x.data(), n * n));
  add(row, "ttensor", [=]() mutable { l = cholesky(a); fresh(l); });
  add(row, "hand", [=]() mutable { factor(c.data()); fresh(c); });
  add(solve, "ttensor", [=]() mutable { z = triangular_solve(l, g); fresh(z); });
  add(solve, "hand", [=]() mutable { substitute(x.data()); fresh(x); });
  add(gradient, "ttensor", [=]() mutable { d = tt::grad([](const auto& t) { return sum(cholesky(t)); })(a); fresh(d); });
  add(gradient, "hand", [=]() mutable { factor(c.data()); fresh(c); });  // the factor alone
#if defined(TTENSOR_BENCH_EIGEN)
  using M = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const M ea = Eigen::Map<const M>(a.data(), n, n), eg = Eigen::Map<const M>(g.data(), n, n), el = Eigen::Map<const M>(l.data(), n, n);
  M ec(n, n), ez(n, n);
  add(row, "eigen", [=]() mutable { ec = ea.llt().matrixL(); fresh(ec); });
  add(solve, "eigen", [=]() mutable { ez = el.triangularView<Eigen::Lower>().solve(eg); fresh(ez); });
#endif
}
/// P10: the negative logarithmic marginal likelihood of a Gaussian process (squared exponentials, a length for each of three axes, amplitude, noise; all as logarithms), and
/// its gradient by the trace of K^-1 - w w' with the derivatives of K, w = K^-1 y, in loops (the floor).
void gaussian_process(tt::index_t n) {
  constexpr long axes = 3;
  const tt::tensor<double, 2> points = tt::uniform<double>(tt::rng(1), {n, axes});
  const tt::tensor<double, 1> y = tt::normal<double>(tt::rng(2), {n}), p{-0.5, -0.2, 0.1, 0.0, -1.0};
  const auto f = [=](const auto& q) {
    const auto x = tt::eval(points * exp(-q(tt::range(0, axes))));
    const auto squares = sum(x * x, 1);
    const auto k = exp(2.0 * q(3) - 0.5 * maximum(unsqueeze(squares, 1) + squares - 2.0 * matmul(x, transpose(x)), 0.0)) + exp(2.0 * q(4)) * tt::eye<double>(n);
    const auto l = cholesky(k);
    const auto z = triangular_solve(l, y);
    return 0.5 * dot(z, z) + sum(log(sum(l * tt::eye<double>(n), 1)));
  };
  const auto at = [n](long i, long j) { return static_cast<std::size_t>(i * n + j); };
  const auto size = static_cast<std::size_t>(n);
  const std::vector<double> zeros(size * size);
  auto by_hand = [=, k = zeros, l = zeros, inverse = zeros, w = zeros](double* g) mutable {
    double scale[axes];
    for (long d = 0; d < axes; ++d) scale[d] = std::exp(-2 * p(d));
    const double noise = std::exp(2 * p(4));
    for (long i = 0; i < n; ++i)
      for (long j = 0; j <= i; ++j) {
        double r = 0;
        for (long d = 0; d < axes; ++d) r += (points(i, d) - points(j, d)) * (points(i, d) - points(j, d)) * scale[d];
        k[at(i, j)] = std::exp(2 * p(3) - 0.5 * r);
        double v = k[at(i, j)] + (i == j ? noise : 0.0);
        for (long q = 0; q < j; ++q) v -= l[at(i, q)] * l[at(j, q)];
        l[at(i, j)] = i == j ? std::sqrt(v) : v / l[at(j, j)];
      }
    for (long c = 0; c < n; ++c) {  // row c of the inverse of l, transposed, then l'^-1 of it
      double* const v = &inverse[at(c, 0)];
      for (long i = 0; i < n; ++i) {
        double s = i == c ? 1.0 : 0.0;
        for (long q = c; q < i; ++q) s -= l[at(i, q)] * v[q];
        v[i] = i < c ? 0.0 : s / l[at(i, i)];
      }
      for (long i = n - 1; i >= 0; --i) {
        v[i] /= l[at(i, i)];
        for (long q = 0; q < i; ++q) v[q] -= l[at(i, q)] * v[i];
      }
    }
    double value = 0;
    for (long i = 0; i < n; ++i) {
      double s = 0;
      for (long j = 0; j < n; ++j) s += inverse[at(i, j)] * y(j);
      w[static_cast<std::size_t>(i)] = s;
      value += 0.5 * s * y(i) + std::log(l[at(i, i)]);
    }
    for (long d = 0; d < 5; ++d) g[d] = 0;
    for (long i = 0; i < n; ++i)
      for (long j = 0; j <= i; ++j) {
        const double a = (inverse[at(i, j)] - w[static_cast<std::size_t>(i)] * w[static_cast<std::size_t>(j)]) * (i == j ? 0.5 : 1.0), b = a * k[at(i, j)];
        for (long d = 0; d < axes; ++d) g[d] += b * (points(i, d) - points(j, d)) * (points(i, d) - points(j, d)) * scale[d];
        g[3] += 2 * b;
        g[4] += i == j ? 2 * a * noise : 0.0;
      }
    return value;
  };
  const std::string row = "P10 Gaussian process, value and gradient/double/" + std::to_string(n);
  double g[5];
  const double value = by_hand(g);
  auto ours = tt::value_and_grad(f)(p);
  need(row, std::abs(ours.value - value) < 1e-9 * std::abs(value));
  for (int d = 0; d < 5; ++d) need(row, std::abs(ours.grad(d) - g[d]) < 1e-8 * (1 + std::abs(g[d])));
  add(row, "ttensor", [=]() mutable { ours = tt::value_and_grad(f)(p); fresh(ours.grad); });
  add(row, "hand", [=]() mutable { double out[5]; by_hand(out); fresh(out); });
}
}  // namespace

int main(int argc, char** argv) {
  for (const tt::index_t n : {3, 4, 5, 6, 8, 10, 12, 16, 24}) small_products(n);
  for (const tt::index_t n : {4, 6}) chain(n);
  for (const tt::index_t n : {4, 6, 8, 16, 32, 128, 256}) products<double>("double", n, false);
  for (const tt::index_t n : {32, 256}) products<float>("float", n, false);
  for (const tt::index_t n : {8, 32, 256}) products<double>("double", n, true);
  small();
  for (const tt::index_t n : {8, 16, 60, 128, 200, 1000}) factors(n);
  for (const tt::index_t n : {60, 200}) gaussian_process(n);
  for (const tt::index_t k : {2, 3, 4, 6, 8}) tall(10000, k);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
