// The rows of derivatives: inputs, one way to register a contender, and the rows that two programs share.
#pragma once
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <ttensor/all.hpp>
#include <xsimd/xsimd.hpp>
#if defined(TTENSOR_BENCH_EIGEN)
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Dense>
#endif

namespace tt = ttensor;

namespace gradients {

template <class T> using vec = std::vector<T, xsimd::aligned_allocator<T>>;
using B = xsimd::batch<double>;
constexpr int W = static_cast<int>(B::size);

/// 64-bit linear congruential generator, values in [low, high).
struct generator {
  std::uint64_t s;
  explicit generator(std::uint64_t seed) : s(seed * 2862933555777941757u + 3037000493u) {}
  double next() {
    s = s * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(s >> 40) * 0x1p-24;
  }
};
inline vec<double> random(int n, std::uint64_t seed, double low, double high) {
  vec<double> v(static_cast<std::size_t>(n));
  generator g(seed);
  for (double& x : v) x = low + (high - low) * g.next();
  return v;
}
template <class T = double> tt::tensor<T, 1> vector(const vec<double>& v) {
  tt::tensor<T, 1> t(static_cast<std::ptrdiff_t>(v.size()));
  std::copy(v.begin(), v.end(), t.data());
  return t;
}
template <class T = double> tt::tensor<T, 2> matrix(const double* v, int rows, int columns) {
  tt::tensor<T, 2> t(rows, columns);
  std::copy(v, v + std::ptrdiff_t(rows) * columns, t.data());
  return t;
}
inline double total(B v) {
  alignas(64) double t[W];
  v.store_aligned(t);
  double s = 0;
  for (double x : t) s += x;
  return s;
}

// ---- contenders --------------------------------------------------------------------------------------------------------
/// A contender writes its gradient somewhere and hands every piece of it to `see`.
using seen = std::vector<double>;
inline std::map<std::string, seen>& first_gradients() {
  static std::map<std::string, seen> all;
  return all;
}
/// body() computes the gradient; read() gives it as numbers. The contender that is registered first is what the others must agree with.
template <class Body, class Read> void add(const std::string& row, const char* type, int n, const std::string& who, double tolerance, Body body, Read read) {
  const std::string key = row + "/" + type + "/" + std::to_string(n);
  if (!first_gradients().contains(key)) {
    body();
    first_gradients()[key] = read();
  }
  benchmark::RegisterBenchmark((key + "/" + who).c_str(), [=, checked = false](benchmark::State& state) mutable {
    if (!checked) {
      checked = true;
      body();
      const seen got = read(), &want = first_gradients().at(key);
      double scale = 0, error = 0;
      for (double x : want) scale = std::max(scale, std::abs(x));
      for (std::size_t i = 0; i < want.size(); ++i) {
        const double e = i < got.size() ? std::abs(got[i] - want[i]) / scale : 1;
        if (!(e <= error)) error = e;
      }
      std::fprintf(stderr, "%s/%s: largest error %.1e\n", key.c_str(), who.c_str(), error);
      if (!(error <= tolerance)) return state.SkipWithError(("wrong gradient, error " + std::to_string(error)).c_str());
    }
    for (auto _ : state) {
      body();
      benchmark::ClobberMemory();
    }
  });
}
#if defined(TTENSOR_BENCH_EIGEN)
template <class T> using eigen_matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T> eigen_matrix<T> eigen(const double* v, int rows, int columns) { return Eigen::Map<const eigen_matrix<double>>(v, rows, columns).template cast<T>(); }
inline Eigen::ArrayXd eigen(const vec<double>& v) { return Eigen::Map<const Eigen::ArrayXd>(v.data(), static_cast<Eigen::Index>(v.size())); }
#endif
template <class T> seen numbers(const T* p, std::ptrdiff_t n) { return seen(p, p + n); }

struct logistic_data {
  int n, d;
  vec<double> X, y, w;
  logistic_data(int rows, int columns) : n(rows), d(columns), X(random(rows * columns, 11, -1, 1)), y(random(rows, 12, -1, 1)), w(random(columns, 13, -0.5, 0.5)) {
    for (double& e : y) e = e < 0 ? -1 : 1;
  }
};

/// D1, D2, D3, D3s: hand-written and ours.
void rows_of_sums();

}  // namespace gradients
