// Correctness on a device, against double on the host. Compiled and linked everywhere; ctest skips it where there is no GPU.
#include <doctest/doctest.h>
#include <ttensor/run/cuda/launch.hpp>
#include <ttensor/tensor.hpp>
#include <cmath>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>
#include "../run/device_programs.hpp"
#include "on_device.hpp"

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

TEST_CASE("sums: one kernel, the same bits every time") {
  for (index_t n : sizes) {
    const sample<float> x(n);
    double want = 0;
    for (float v : x.host) want += double(v) * v;
    const float got = sum_on_device(x.dev * x.dev), again = sum_on_device(x.dev * x.dev);
    CHECK(near(got, want, 1e-6));
    CHECK(got == again);
  }
  for (index_t rows : {1, 5, 3000})
    for (index_t cols : {1, 3, 8, 20, 777, 4096}) {
      const sample<float> x(rows * cols);
      device_array<float, 1> by_row, by_column;
      const device_leaf<float, 2> m{x.dev.data(), layout_map<2>::row_major({{rows, cols}})};
      sum_into(by_row, m * m, axes{1});
      sum_into(by_column, m * m, axes{-2});
      const auto r = fetch(by_row), c = fetch(by_column);
      std::vector<double> want_c(static_cast<std::size_t>(cols), 0.0);
      int wrong = 0;
      for (index_t i = 0; i < rows; ++i) {
        double want = 0;
        for (index_t j = 0; j < cols; ++j) {
          const double v = x.host[static_cast<std::size_t>(i * cols + j)];
          want += v * v;
          want_c[static_cast<std::size_t>(j)] += v * v;
        }
        wrong += !near(r[static_cast<std::size_t>(i)], want, 1e-6);
      }
      for (index_t j = 0; j < cols; ++j) wrong += !near(c[static_cast<std::size_t>(j)], want_c[static_cast<std::size_t>(j)], 1e-6);
      CHECK_MESSAGE(wrong == 0, rows, " x ", cols);
    }
}

TEST_CASE("many short rows, of which a thread has words of several") {
  for (index_t cols : {32, 36, 128})
    for (index_t more : {0, 37}) {
      const index_t rows = gpu::on_stream::filling() + more;
      std::vector<float> h(static_cast<std::size_t>(rows * cols));
      for (std::size_t i = 0; i < h.size(); ++i) h[i] = static_cast<float>(i * 2654435761u % 64);
      const device_array<float, 1> x = on_device(h);
      device_array<float, 1> s, g(rows);
      const device_leaf<float, 2> m{x.data(), layout_map<2>::row_major({{rows, cols}})}, turned{x.data(), {0, {{cols, rows}}, {{1, cols}}}};
      const device_array<float, 1> w = on_device(std::vector<float>(static_cast<std::size_t>(rows), 3.0f));
      sum_into(s, m * m, axes{1});
      backward(turned * w, wrt(w, g));  // for each row its sum
      const auto squares = fetch(s), sums = fetch(g);
      int wrong = 0;
      for (index_t i = 0; i < rows; ++i) {
        float square = 0, sum = 0;
        for (index_t j = 0; j < cols; ++j) {
          const float v = h[static_cast<std::size_t>(i * cols + j)];
          square += v * v, sum += v;
        }
        wrong += squares[static_cast<std::size_t>(i)] != square || sums[static_cast<std::size_t>(i)] != sum;
      }
      CHECK_MESSAGE(wrong == 0, rows, " x ", cols);
    }
}

TEST_CASE_TEMPLATE("sine and cosine together, of angles near and far", T, float, double) {
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<T> angles;
  for (double a : {0.0, 0.5, 0.785, 1.6, 3.14159265358979, 99999.0, 99999.99, 1e5, 100001.0, 1.5e9, 3e22, 1e300, inf, double(std::nan(""))})
    for (double sign : {1.0, -1.0}) angles.push_back(static_cast<T>(sign * a));
  const device_array<T, 1> x = on_device(angles);
  device_array<T, 1> gx(x.size());
  const let_arg<0, 0, T, 1> a{x.shape()};
  const auto body = sin(a) + cos(a) * 2.0f;
  const let_node<0, std::remove_const_t<decltype(body)>, device_leaf<T, 1>> e{make_bundle(x.as_leaf()), body};
  backward(e, wrt(x, gx));
  const auto got = fetch(gx);
  for (std::size_t i = 0; i < angles.size(); ++i) {
    const double v = static_cast<double>(angles[i]), want = std::cos(v) - 2 * std::sin(v);
    CHECK_MESSAGE(((std::isnan(want) && std::isnan(got[i])) || near(got[i], want, tolerance<T>)), v);
  }
}

// Whole numbers, so that sums are exact in any order.
TEST_CASE("three axes in any order: values, gradients and sums") {
  const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const dims<3>& e : {dims<3>{{3, 36, 52}}, dims<3>{{33, 17, 70}}, dims<3>{{64, 1, 128}}, dims<3>{{2, 3, 4}}}) {
    const index_t n = shape::size(e);
    std::vector<float> ha(static_cast<std::size_t>(n)), hp(ha.size()), hc(ha.size());
    for (std::size_t i = 0; i < ha.size(); ++i) ha[i] = float(i * 7 % 11), hp[i] = float(i * 5 % 13), hc[i] = float(i % 3);
    device_array<float, 3> a(e), ct(e), p(e), y, ga, gp;
    a.copy_from(ha.data()), p.copy_from(hp.data()), ct.copy_from(hc.data());
    for (const auto& order : orders) {
      index_t stride[3], next = 1;  // p's axes in this order, the last one contiguous
      for (int d = 2; d >= 0; --d) stride[order[d]] = next, next *= e[order[d]];
      const device_leaf<float, 3> turned{p.data(), {0, e, {{stride[0], stride[1], stride[2]}}}};
      const auto at = [&](index_t i, index_t j, index_t k) { return static_cast<std::size_t>(i * stride[0] + j * stride[1] + k * stride[2]); };
      assign(y, a * 2.0f + turned);
      backward(a * turned, ct, wrt(a, ga), wrt(p, gp));
      const auto hy = fetch(y), hga = fetch(ga), hgp = fetch(gp);
      int wrong = 0;
      std::vector<double> sums[8];  // by the set of axes that are summed
      for (unsigned set = 1; set < 8; ++set) sums[set].assign(static_cast<std::size_t>((set & 1 ? 1 : e[0]) * (set & 2 ? 1 : e[1]) * (set & 4 ? 1 : e[2])), 0.0);
      for (index_t i = 0; i < e[0]; ++i)
        for (index_t j = 0; j < e[1]; ++j)
          for (index_t k = 0; k < e[2]; ++k) {
            const std::size_t r = static_cast<std::size_t>((i * e[1] + j) * e[2] + k), t = at(i, j, k);
            wrong += hy[r] != 2 * ha[r] + hp[t];
            wrong += hga[r] != hc[r] * hp[t];
            wrong += hgp[t] != hc[r] * ha[r];
            for (unsigned set = 1; set < 8; ++set) {
              index_t place = 0;
              if (!(set & 1)) place = i;
              if (!(set & 2)) place = place * e[1] + j;
              if (!(set & 4)) place = place * e[2] + k;
              sums[set][static_cast<std::size_t>(place)] += double(ha[r]) * hp[t];
            }
          }
      auto same = [&](const auto& got, unsigned set) {
        const auto h = fetch(got);
        if (h.size() != sums[set].size()) ++wrong;
        for (std::size_t i = 0; i < h.size() && i < sums[set].size(); ++i) wrong += double(h[i]) != sums[set][i];
      };
      const auto product = a * turned;
      device_array<float, 2> two;
      device_array<float, 1> one;
      sum_into(two, product, axes{0}), same(two, 1);
      sum_into(two, product, axes{1}), same(two, 2);
      sum_into(two, product, axes{2}), same(two, 4);
      sum_into(one, product, axes{0, 1}), same(one, 3);
      sum_into(one, product, axes{0, 2}), same(one, 5);
      sum_into(one, product, axes{1, 2}), same(one, 6);
      wrong += double(sum_on_device(product)) != sums[7][0];
      CHECK_MESSAGE(wrong == 0, "order ", order[0], order[1], order[2], " of ", e[0], " x ", e[1], " x ", e[2]);
    }
  }
}
TEST_CASE("an output that the sum reads gets its values through a temporary; axes are checked") {
  const index_t n = 5000;
  const sample<float> x(n);
  device_array<float, 1> a(n);
  a.copy_from(x.host.data());
  const device_leaf<float, 2> twice_backwards{a.data(), {n - 1, {{2, n}}, {{0, -1}}}};
  sum_into(a, twice_backwards, axes{0});
  const auto h = fetch(a);
  int wrong = 0;
  for (std::size_t i = 0; i < h.size(); ++i) wrong += h[i] != 2 * x.host[h.size() - 1 - i];
  CHECK(wrong == 0);
  CHECK_THROWS_AS(sum_into(a, twice_backwards, axes{2}), axis_error);
}
TEST_CASE("an array whole and by its first row: one gradient") {
  const index_t rows = 4, cols = 8;
  std::vector<float> h(static_cast<std::size_t>(rows * cols));
  for (std::size_t i = 0; i < h.size(); ++i) h[i] = float(i % 7 + 1);
  device_array<float, 2> a(rows, cols), g;
  a.copy_from(h.data());
  const device_leaf<float, 1> row{a.data(), layout_map<1>::row_major({{cols}})};
  backward(a * row, wrt(a, g));
  const auto got = fetch(g);
  CHECK(std::vector<float>(got.begin(), got.begin() + 8) == std::vector<float>{11, 16, 21, 26, 24, 22, 20, 11});
}
TEST_CASE("the gradient of a sum needs no cotangent") {
  const sample<double> x(1003);
  device_array<double, 1> g;
  backward(x.dev * x.dev * x.dev, wrt(x.dev, g));
  const auto h = fetch(g);
  int wrong = 0;
  for (std::size_t i = 0; i < h.size(); ++i) wrong += !near(h[i], 3 * x.host[i] * x.host[i], 1e-14);
  CHECK(wrong == 0);
}
TEST_CASE("half, bfloat16 and integers: the bits of the host") {
  const index_t n = 4099;
  std::vector<half> h(n);
  std::vector<bfloat16> b(n);
  std::vector<std::int8_t> k(n);
  for (index_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    h[at] = half(float(i) * 0.01f - 20), b[at] = bfloat16(float(i) * 0.3f - 600), k[at] = static_cast<std::int8_t>(i * 7);
  }
  device_array<half, 1> dh(n), yh;
  device_array<bfloat16, 1> db(n), yb;
  device_array<std::int8_t, 1> dk(n), yk;
  device_array<float, 1> yf;
  dh.copy_from(h.data()), db.copy_from(b.data()), dk.copy_from(k.data());
  assign(yh, dh * dh - dh);
  assign(yb, db * 3 + db);
  assign(yk, dk * dk + std::int8_t(5));  // wraps
  assign(yf, apply<cast_op<float>>(dh) * 0.5f + apply<cast_op<float>>(dk));
  const auto hh = fetch(yh);
  const auto hb = fetch(yb);
  const auto hk = fetch(yk);
  const auto hf = fetch(yf);
  int wrong = 0;
  for (std::size_t i = 0; i < h.size(); ++i) {
    const float x = float(h[i]), z = float(b[i]);
    wrong += float(hh[i]) != float(half(x * x - x));
    wrong += float(hb[i]) != float(bfloat16(z * 3 + z));
    wrong += hk[i] != static_cast<std::int8_t>(k[i] * k[i] + 5);
    wrong += hf[i] != x * 0.5f + float(k[i]);
  }
  CHECK(wrong == 0);
  double want = 0;
  std::int64_t whole = 0;
  for (std::size_t i = 0; i < h.size(); ++i) want += double(float(h[i])), whole += k[i];
  CHECK(near(double(float(sum_on_device(dh))), want, 1e-3));
  CHECK(sum_on_device(dk) == whole);
}
TEST_CASE("statements on streams of their own, from two threads") {
#if defined(CUDA_EMULATOR)
  constexpr index_t n = 3000;
#else
  constexpr index_t n = 1 << 20;
#endif
  std::vector<float> h(n);
  for (index_t i = 0; i < n; ++i) h[static_cast<std::size_t>(i)] = static_cast<float>(i % 1000);
  int wrong[2] = {};
  auto work = [&](int id) {
    gpu::on_stream own;
    if (id) gpu::check(cudaStreamCreateWithFlags(&own.stream, cudaStreamNonBlocking), "stream");
    for (int turn = 0; turn < 5; ++turn) {
      device_array<float, 1> a(n), b;
      a.copy_from(h.data());
      const device_leaf<float, 1> backwards{a.data(), {n - 1, {{n}}, {{-1}}}};
      assign(a, a + 2.0f * backwards, own);  // through a temporary
      const device_leaf<float, 2> once{a.data(), layout_map<2>::row_major({{1, n}})};
      sum_into(b, once, axes{0}, own);
      assign(b, b * 2.0f);
      if (own.stream) gpu::check(cudaStreamSynchronize(own.stream), "stream");
      const auto got = fetch(b);
      for (std::size_t i = 0; i < h.size(); ++i) wrong[id] += got[i] != 2 * (h[i] + 2 * h[h.size() - 1 - i]);
    }
    if (own.stream) gpu::check(cudaStreamDestroy(own.stream), "stream");
  };
#if defined(CUDA_EMULATOR)
  work(0), work(1);
#else
  std::thread other(work, 1);
  work(0);
  other.join();
#endif
  CHECK(wrong[0] == 0);
  CHECK(wrong[1] == 0);
}
TEST_CASE("more than 2^31 elements" * doctest::skip()) {  // 7 GB; --no-skip
  const index_t n = (index_t(1) << 31) + (index_t(1) << 20) + 6;
  device_array<std::int8_t, 1> x(n), y;
  gpu::on_stream{}.zero(x.data(), static_cast<std::size_t>(n));
  assign(x, x + std::int8_t(1));
  CHECK(sum_on_device(x) == n);
  assign(y, x + x);
  CHECK(sum_on_device(y) == 2 * n);
  const device_leaf<std::int8_t, 2> m{x.data(), layout_map<2>::row_major({{2, n / 2}})}, turned{y.data(), {0, {{n / 2, 2}}, {{1, n / 2}}}};
  const device_leaf<std::int8_t, 1> row{y.data(), layout_map<1>::row_major({{n / 2}})};
  device_array<std::int8_t, 2> z;
  assign(z, m + row);  // 64-bit indices
  CHECK(sum_on_device(z) == 3 * n);
  device_array<std::int64_t, 1> s;
  sum_into(s, turned, axes{0});
  CHECK(fetch(s) == std::vector<std::int64_t>{n, n});
  sum_into(s, m, axes{1});
  CHECK(fetch(s) == std::vector<std::int64_t>{n / 2, n / 2});
}
