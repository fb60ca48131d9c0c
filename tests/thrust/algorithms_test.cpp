// The Thrust backend on Thrust's CPU systems: the same header that nvcc compiles for CUDA, run here by a C++ compiler.
#include <doctest/doctest.h>
#include <ttensor/run/thrust/algorithms.hpp>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>
#include "../run/device_programs.hpp"

using namespace ttensor;
namespace tb = ttensor::thrust_backend;

namespace {
constexpr index_t sizes[] = {0, 1, 5, 1027};
std::vector<double> numbers(index_t n, unsigned seed = 1) {
  std::vector<double> v(static_cast<std::size_t>(n));
  for (double& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = double(seed >> 8) * 0x1p-24 + 0.25;
  }
  return v;
}
template <class T> auto leaf_of(const std::vector<T>& v) { return device_leaf<T, 1>{v.data(), layout_map<1>::row_major({{static_cast<index_t>(v.size())}})}; }
template <class T> auto matrix_of(const std::vector<T>& v, index_t r, index_t c) { return device_leaf<T, 2>{v.data(), layout_map<2>::row_major({{r, c}})}; }
}  // namespace

TEST_CASE("map of a program, contiguous and broadcast") {
  for (index_t n : sizes) {
    const auto x = numbers(n), z = numbers(n, 7);
    std::vector<double> y(x.size());
    tb::map(thrust::device, y.data(), test_programs::chain(leaf_of(x), leaf_of(z)));
    int wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) wrong += std::fabs(y[i] - (std::exp(-x[i] * x[i]) * std::sqrt(x[i]) + std::log(z[i]))) > 1e-14;
    CHECK(wrong == 0);
  }
  const auto a = numbers(12), row = numbers(4, 3);
  std::vector<double> y(12);
  const device_leaf<double, 2> at{a.data(), {0, {{3, 4}}, {{1, 3}}}};  // transposed
  tb::map(thrust::device, y.data(), apply<add_op>(at, leaf_of(row)));
  for (std::size_t i = 0; i < 12; ++i) CHECK(y[i] == a[i / 4 + i % 4 * 3] + row[i % 4]);
}
TEST_CASE("reduce and reduce rows") {
  for (index_t n : sizes) {
    const auto x = numbers(n);
    const double want = std::accumulate(x.begin(), x.end(), 0.0, [](double s, double v) { return s + v * v; });
    CHECK(std::fabs(tb::reduce<sum_op>(thrust::device, apply<mul_op>(leaf_of(x), leaf_of(x))) - want) <= 1e-12 * (1 + want));
  }
  for (index_t rows : {1, 3, 40})
    for (index_t cols : {0, 1, 7, 130}) {
      const auto m = numbers(rows * cols), by = numbers(cols, 5);
      std::vector<double> out(static_cast<std::size_t>(rows), -1.0);
      tb::reduce_rows<sum_op>(thrust::device, out.data(), apply<mul_op>(matrix_of(m, rows, cols), leaf_of(by)));
      for (index_t i = 0; i < rows; ++i) {
        double want = 0;
        for (index_t j = 0; j < cols; ++j) want += m[static_cast<std::size_t>(i * cols + j)] * by[static_cast<std::size_t>(j)];
        CHECK(std::fabs(out[static_cast<std::size_t>(i)] - want) <= 1e-12 * (1 + want));
      }
    }
}
TEST_CASE("inclusive scan") {
  for (index_t n : sizes) {
    const auto x = numbers(n);
    std::vector<double> out(x.size());
    tb::inclusive_scan<sum_op>(thrust::device, out.data(), apply<mul_op>(leaf_of(x), 2.0));
    double s = 0;
    int wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      s += 2 * x[i];
      wrong += std::fabs(out[i] - s) > 1e-12 * (1 + s);
    }
    CHECK(wrong == 0);
  }
}
TEST_CASE("argmax takes the first of equals") {
  std::vector<double> x = numbers(1027);
  x[300] = x[700] = 9;
  CHECK(tb::argmax(thrust::device, leaf_of(x)) == 300);
  CHECK(tb::argmax(thrust::device, apply<neg_op>(leaf_of(x))) == std::min_element(x.begin(), x.end()) - x.begin());
  CHECK(tb::argmax(thrust::device, leaf_of(std::vector<double>{})) == -1);
  x[500] = x[900] = NAN;
  CHECK(tb::argmax(thrust::device, leaf_of(x)) == 500);
}
TEST_CASE("sort and argsort") {
  for (index_t n : sizes) {
    auto x = numbers(n);
    for (double& v : x) v = std::floor(v * 50);  // many equal keys
    auto keys = x, sorted = x;
    std::vector<index_t> at(x.size()), want(x.size());
    std::iota(want.begin(), want.end(), index_t(0));
    std::stable_sort(want.begin(), want.end(), [&](index_t a, index_t b) { return x[static_cast<std::size_t>(a)] < x[static_cast<std::size_t>(b)]; });
    tb::argsort(thrust::device, keys.data(), at.data(), n);
    tb::sort(thrust::device, sorted.data(), n);
    CHECK(at == want);
    CHECK(std::is_sorted(sorted.begin(), sorted.end()));
    CHECK(keys == sorted);
  }
}
TEST_CASE("kernel bodies on a Thrust policy") {
  const auto x = numbers(1027), z = numbers(1027, 7);
  std::vector<double> y(x.size()), again(x.size());
  const auto e = test_programs::chain(leaf_of(x), leaf_of(z));
  const auto policy = thrust::device;
  run::device_map(tb::on_policy<std::remove_const_t<decltype(policy)>>{policy}, y.data(), e);
  tb::map(thrust::device, again.data(), e);
  CHECK(y == again);
}
