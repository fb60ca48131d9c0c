// Correctness on a device, against double on the host. Compiled and linked everywhere; ctest skips it where there is no GPU.
#include <doctest/doctest.h>
#include <ttensor/run/cuda/launch.hpp>
#include <ttensor/tensor.hpp>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>
#include "../run/device_programs.hpp"

using namespace ttensor;

namespace {
constexpr index_t sizes[] = {0, 1, 3, 4, 5, 31, 1024, 1027, 1000003};
template <class T> struct sample {
  std::vector<T> host;
  device_array<T, 1> dev;
  explicit sample(index_t n, unsigned seed = 1) : host(static_cast<std::size_t>(n)), dev(n) {
    for (T& v : host) {
      seed = seed * 1664525u + 1013904223u;
      v = static_cast<T>(static_cast<double>(seed >> 8) * 0x1p-24 + 0.25);
    }
    dev.copy_from(host.data());
  }
};
template <class T, int R> std::vector<T> fetch(const device_array<T, R>& a) {
  std::vector<T> h(static_cast<std::size_t>(a.size()));
  a.copy_to(h.data());
  return h;
}
bool near(double got, double want, double tol) { return std::fabs(got - want) <= tol * (1 + std::fabs(want)); }
template <class T> constexpr double tolerance = sizeof(T) == 4 ? 3e-6 : 1e-14;
}  // namespace

// Runs where the others cannot: gpu_missing and gpu_switched_off, in CMakeLists.txt.
TEST_CASE("without a device its use is one clear error, and the host goes on" * doctest::skip()) {
  const std::string why = device::why();
  if (std::getenv("TTENSOR_DEVICE")) CHECK(why == "disabled by TTENSOR_DEVICE=cpu");
  else CHECK((why == "no NVIDIA driver on this machine" || why == "no NVIDIA device on this machine" || why.find("the NVIDIA driver supports CUDA") == 0));
  const std::string text = "[device] no usable device: " + why + "; run on the host instead [TT-G01]";
  CHECK_FALSE(device::available());
  const tensor<float, 1> x{1, 2, 3};
  device_array<float, 1> none;
  CHECK_THROWS_WITH_AS(device::require(), text.c_str(), device_error);
  CHECK_THROWS_WITH_AS(device::synchronize(), text.c_str(), device_error);
  CHECK_THROWS_WITH_AS((device_array<float, 1>(3)), text.c_str(), device_error);
  CHECK_THROWS_WITH_AS((device_array<float, 1>(x)), text.c_str(), device_error);
  CHECK_THROWS_WITH_AS(assign(none, none.as_leaf() * 2.0f), text.c_str(), device_error);
  CHECK_THROWS_WITH_AS(sum_on_device(none * none), text.c_str(), device_error);
  const device_leaf<float, 2> matrix{none.data(), layout_map<2>::row_major({{3, 3}})};
  CHECK_THROWS_WITH_AS(sum_into(none, matrix, axes<1>{{1}}), text.c_str(), device_error);
  CHECK_THROWS_WITH_AS(backward(none.as_leaf() * 2.0f, none, wrt(none, none)), text.c_str(), device_error);
  CHECK_THROWS_WITH_AS(gpu::check(cudaErrorMemoryAllocation, "allocate"), "[device] allocate: cudaErrorMemoryAllocation: out of memory [TT-G02]", device_error);
  const tensor<float, 1> y = x * x;
  CHECK(y(2) == 9.0f);
}

TEST_CASE("the device says that it is there") {
  CHECK(device::available());
  CHECK(device::why()[0] == 0);
  device::synchronize();
}

TEST_CASE_TEMPLATE("chain, forward and backward", T, float, double) {
  for (index_t n : sizes) {
    const sample<T> x(n), z(n, 7), ct(n, 3);
    device_array<T, 1> y(n), gx, gz;
    const auto e = test_programs::chain(x.dev.as_leaf(), z.dev.as_leaf());
    assign(y, e);
    backward(e, ct.dev, wrt(x.dev, gx), wrt(z.dev, gz));
    const auto hy = fetch(y), hx = fetch(gx), hz = fetch(gz);
    int wrong = 0;
    for (std::size_t i = 0; i < hy.size(); ++i) {
      const double a = x.host[i], b = z.host[i], c = ct.host[i], p = std::exp(-a * a), r = std::sqrt(a);
      wrong += !near(hy[i], p * r + std::log(b), tolerance<T>);
      wrong += !near(hx[i], c * (p * (0.5 / r) - 2 * a * p * r), tolerance<T>);
      wrong += !near(hz[i], c / b, tolerance<T>);
    }
    CHECK_MESSAGE(wrong == 0, "n ", n);
  }
}

TEST_CASE("the public operators: x used twice adds up in its gradient") {
  const sample<float> x(1027);
  device_array<float, 1> y(1027), g, ones(1027);
  assign(ones, x.dev.as_leaf() * 0.0f + 1.0f);
  const auto e = exp(-x.dev * x.dev) + sin(x.dev) * 3.0f;
  assign(y, e);
  backward(e, ones, wrt(x.dev, g));
  const auto hy = fetch(y), hg = fetch(g);
  int wrong = 0;
  for (std::size_t i = 0; i < hy.size(); ++i) {
    const double a = x.host[i];
    wrong += !near(hy[i], std::exp(-a * a) + 3 * std::sin(a), 3e-6);
    wrong += !near(hg[i], -2 * a * std::exp(-a * a) + 3 * std::cos(a), 3e-6);
  }
  CHECK(wrong == 0);
}

TEST_CASE("an operator from outside the library") {
  sample<double> x(1027);
  for (double& v : x.host) v -= 0.75;
  x.dev.copy_from(x.host.data());
  device_array<double, 1> y(1027), g, ct(1027);
  const auto e = test_programs::leaky(x.dev.as_leaf());
  assign(ct, x.dev.as_leaf() * 0.0 + 2.0);
  assign(y, e);
  backward(e, ct, wrt(x.dev, g));
  const auto hy = fetch(y), hg = fetch(g);
  int wrong = 0;
  for (std::size_t i = 0; i < hy.size(); ++i) {
    wrong += hy[i] != (x.host[i] > 0 ? x.host[i] : 0.125 * x.host[i]);
    wrong += hg[i] != (x.host[i] > 0 ? 2.0 : 0.25);
  }
  CHECK(wrong == 0);
}

TEST_CASE("tensors go there and back; broadcasting, and its gradient") {
  const index_t rows = 37, cols = 64;
  tensor<float, 2> a(rows, cols);
  tensor<float, 1> b(cols);
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < cols; ++j) a(i, j) = 0.01f * float(i) - 0.02f * float(j);
  for (index_t j = 0; j < cols; ++j) b(j) = 0.1f * float(j + 1);
  const device_array<float, 2> da(a);
  const device_array<float, 1> db(b);
  device_array<float, 2> y(rows, cols), ct(rows, cols), ga;
  device_array<float, 1> gb;
  const auto e = (da + 1.0f) * db;
  assign(y, e);
  assign(ct, da * 0.0f + 1.0f);
  backward(e, ct, wrt(da, ga), wrt(db, gb));
  const auto hy = y.to<tensor<float, 2>>();
  const auto hga = ga.to<tensor<float, 2>>();
  const auto hgb = gb.to<tensor<float, 1>>();
  const float *pa = std::as_const(a).data(), *pb = std::as_const(b).data();
  int wrong = 0;
  for (index_t j = 0; j < cols; ++j) {
    double sum = 0;
    for (index_t i = 0; i < rows; ++i) {
      const index_t k = i * cols + j;
      wrong += !near(hy.data()[k], (double(pa[k]) + 1) * double(pb[j]), 1e-6);
      wrong += !near(hga.data()[k], pb[j], 1e-6);
      sum += double(pa[k]) + 1;
    }
    wrong += !near(hgb.data()[j], sum, 1e-5);
  }
  CHECK(wrong == 0);
}

TEST_CASE("an expression that reads what it overwrites") {
  const index_t n = 300;
  const sample<float> x(n * n);
  device_array<float, 2> a(n, n);
  assign(a, device_leaf<float, 2>{x.dev.data(), layout_map<2>::row_major({{n, n}})} * 1.0f);
  const device_leaf<float, 2> turned{a.data(), {0, {{n, n}}, {{1, n}}}};
  assign(a, a + turned);  // through a temporary
  assign(a, a * 2.0f);    // in place
  const auto h = fetch(a);
  int wrong = 0;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j)
      wrong += h[static_cast<std::size_t>(i * n + j)] != 2 * (x.host[static_cast<std::size_t>(i * n + j)] + x.host[static_cast<std::size_t>(j * n + i)]);
  CHECK(wrong == 0);
}

TEST_CASE("sums with barriers: one kernel, the same bits every time") {
  for (index_t n : sizes) {
    const sample<float> x(n);
    double want = 0;
    for (float v : x.host) want += double(v) * v;
    const float got = sum_on_device(x.dev * x.dev), again = sum_on_device(x.dev * x.dev);
    CHECK(near(got, want, 1e-5));
    CHECK(got == again);
  }
  for (index_t rows : {1, 5, 3000}) {
    const index_t cols = 777;
    const sample<float> x(rows * cols);
    device_array<float, 1> y(rows);
    const device_leaf<float, 2> m{x.dev.data(), layout_map<2>::row_major({{rows, cols}})};
    sum_into(y, m * m, axes{1});
    const auto h = fetch(y);
    int wrong = 0;
    for (index_t i = 0; i < rows; ++i) {
      double want = 0;
      for (index_t j = 0; j < cols; ++j) {
        const double v = x.host[static_cast<std::size_t>(i * cols + j)];
        want += v * v;
      }
      wrong += !near(h[static_cast<std::size_t>(i)], want, 1e-5);
    }
    CHECK(wrong == 0);
  }
}
