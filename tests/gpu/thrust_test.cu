// The Thrust backend for the CUDA system, on device memory. tests/thrust runs the same header with Thrust's CPU systems.
#include <doctest/doctest.h>
#include <ttensor/run/cuda/launch.hpp>
#include <ttensor/run/thrust/algorithms.hpp>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>
#include "../run/device_programs.hpp"
#include "on_device.hpp"

using namespace ttensor;
namespace tb = ttensor::thrust_backend;

namespace {
const auto policy = thrust::cuda::par_nosync.on(cudaStream_t(nullptr));
std::vector<double> numbers(index_t n, unsigned seed = 1) {
  std::vector<double> v(static_cast<std::size_t>(n));
  for (double& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<double>(seed >> 8) * 0x1p-24 + 0.25;
  }
  return v;
}
bool near(double got, double want) { return std::fabs(got - want) <= 1e-12 * (1 + std::fabs(want)); }
constexpr index_t sizes[] = {0, 1, 5, 1027, 1000003};
}  // namespace

TEST_CASE("map, reduce, scan, argmax and sort, against the host") {
  for (index_t n : sizes) {
    const auto h = numbers(n), g = numbers(n, 7);
    const auto x = on_device(h), z = on_device(g);
    device_array<double, 1> y(n);
    const auto e = test_programs::chain(x.as_leaf(), z.as_leaf());
    int wrong = 0;
    tb::map(policy, y.data(), e);
    const auto mapped = fetch(y);
    gpu::on_stream{}.zero(y.data(), h.size() * sizeof(double));
    run::device_map(tb::on_policy<std::remove_const_t<decltype(policy)>>{policy}, y.data(), e);
    const auto by_bodies = fetch(y);
    for (std::size_t i = 0; i < h.size(); ++i) wrong += !near(mapped[i], std::exp(-h[i] * h[i]) * std::sqrt(h[i]) + std::log(g[i])) || mapped[i] != by_bodies[i];
    CHECK_MESSAGE(wrong == 0, n);
    const auto squares = apply<mul_op>(x.as_leaf(), x.as_leaf());
    CHECK(near(tb::reduce<sum_op>(policy, squares), std::inner_product(h.begin(), h.end(), h.begin(), 0.0)));
    CHECK((n == 0 || tb::reduce<max_op>(policy, x.as_leaf()) == *std::max_element(h.begin(), h.end())));
    tb::inclusive_scan<sum_op>(policy, y.data(), squares);
    const auto scanned = fetch(y);
    double sum = 0;
    for (std::size_t i = 0; i < h.size(); ++i) wrong += !near(scanned[i], sum += h[i] * h[i]);
    CHECK_MESSAGE(wrong == 0, n);
    auto coarse = h;
    for (double& v : coarse) v = std::floor(v * 50);  // many equal keys
    auto keys = on_device(coarse);
    device_array<index_t, 1> at(n);
    std::vector<index_t> order(h.size());
    std::iota(order.begin(), order.end(), index_t(0));
    std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) { return coarse[static_cast<std::size_t>(a)] < coarse[static_cast<std::size_t>(b)]; });
    CHECK(tb::argmax(policy, keys.as_leaf()) == (n ? std::max_element(coarse.begin(), coarse.end()) - coarse.begin() : -1));
    tb::argsort(policy, keys.data(), at.data(), n);
    CHECK(fetch(at) == order);
    auto values = on_device(h);
    auto sorted = h;
    std::sort(sorted.begin(), sorted.end());
    tb::sort(policy, values.data(), n);
    CHECK(fetch(values) == sorted);
  }
}
TEST_CASE("reduce rows of a transposed matrix") {
  const index_t rows = 300, cols = 77;
  const auto h = numbers(rows * cols);
  const auto x = on_device(h);
  const device_leaf<double, 2> turned{x.data(), {0, {{cols, rows}}, {{1, cols}}}};
  device_array<double, 1> out(cols);
  tb::reduce_rows<sum_op>(policy, out.data(), apply<mul_op>(turned, 2.0));
  const auto got = fetch(out);
  int wrong = 0;
  for (index_t j = 0; j < cols; ++j) {
    double want = 0;
    for (index_t i = 0; i < rows; ++i) want += 2 * h[static_cast<std::size_t>(i * cols + j)];
    wrong += !near(got[static_cast<std::size_t>(j)], want);
  }
  CHECK(wrong == 0);
}
