// GPU benchmark: what is open in docs/design/0002-gpu-seam.md, answered on a machine that has a device.
//   bench_gpu [log2 of the size, default 28]
// Every row is first checked against double on the host, then timed: median of 15, GB/s = bytes that must move / time.
// Exit 77: no device. Output: a Markdown table for benchmarks/results/.
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_transform.cuh>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <ttensor/ops/trigonometric.hpp>
#include <ttensor/ops/exponential.hpp>
#include <ttensor/ops/power.hpp>
#include <ttensor/run/cuda/launch.hpp>
#include <ttensor/run/thrust/algorithms.hpp>
#include "../../tests/run/device_programs.hpp"

namespace {
using namespace ttensor;

using program_t = program_of<decltype(test_programs::chain(device_leaf<float, 1>{}, device_leaf<float, 1>{}))>;

/// The chain on one element, from the same program: what Thrust and CUB call.
struct one_element {
  TTENSOR_HD float operator()(float x, float z) const {
    using P = device_pack<float, 1>;
    return sweep<program_t, type_list<P, P>>::run(row_of<P, P>{{P(x), P(z)}}).v[0];
  }
};
/// Our map body with loads through the read-only path; only legal where the output overlaps no input.
struct read_only_map {
  float* y;
  const float *x, *z;
  index_t n;
  TTENSOR_HD void operator()(index_t k, run::one_each) const {
#if TTENSOR_DEVICE_PASS
    using P = device_pack<float, 4>;
    if (k < n / 4) {
      const float4 a = __ldg(reinterpret_cast<const float4*>(x) + k), b = __ldg(reinterpret_cast<const float4*>(z) + k);
      P u, v;
      u.v[0] = a.x, u.v[1] = a.y, u.v[2] = a.z, u.v[3] = a.w;
      v.v[0] = b.x, v.v[1] = b.y, v.v[2] = b.z, v.v[3] = b.w;
      store_word(sweep<program_t, type_list<P, P>>::run(row_of<P, P>{{u, v}}), y + k * 4);
    }
    if (const index_t i = n / 4 * 4 + k; i < n) y[i] = one_element{}(__ldg(x + i), __ldg(z + i));
#else
    if (k < n) y[k] = one_element{}(x[k], z[k]);
#endif
  }
};
/// As map_body, without the promise that no thread has a second item.
template <class Body> struct striding {
  Body body;
  TTENSOR_HD void operator()(index_t tid, index_t threads) const { body(tid, threads); }
};
struct plus {
  TTENSOR_HD float operator()(float a, float b) const { return a + b; }
};
struct square_difference {
  const float *x, *z;
  TTENSOR_HD float operator()(index_t i) const { return (x[i] - z[i]) * (x[i] - z[i]); }
};

/// The larger of an error so far and |d|; NaN becomes the largest.
double larger(double worst, double d) { return std::fabs(d) <= worst ? worst : d == d ? std::fabs(d) : 1e30; }
int failures = 0;
template <class F> double median_ms(F&& go) {
  cudaEvent_t start, stop;
  gpu::check(cudaEventCreate(&start), "event");
  gpu::check(cudaEventCreate(&stop), "event");
  for (int i = 0; i < 3; ++i) go();
  std::vector<float> ms(15);
  for (float& t : ms) {
    gpu::check(cudaEventRecord(start), "event");
    go();
    gpu::check(cudaEventRecord(stop), "event");
    gpu::check(cudaEventSynchronize(stop), "event");
    gpu::check(cudaEventElapsedTime(&t, start, stop), "event");
  }
  std::sort(ms.begin(), ms.end());
  return ms[ms.size() / 2];
}
template <class F, class C> void row(const char* name, double bytes, F&& go, C&& error, double tolerance) {
  go();
  device::synchronize();
  const double e = error();
  const bool ok = e <= tolerance;
  failures += !ok;
  const double ms = median_ms(go);
  std::printf("| %-50s | %s %.1e | %8.4f | %6.0f |\n", name, ok ? "ok  " : "FAIL", e, ms, bytes / ms * 1e-6);
  std::fflush(stdout);
}
}  // namespace

int main(int argc, char** argv) {
  if (!device::available()) {
    std::printf("skipped: %s\n", device::why());
    return 77;
  }
  const index_t n = (index_t(1) << (argc > 1 ? std::atoi(argv[1]) : 28)) + 3;  // + 3: every variant has a tail
  cudaDeviceProp p;
  gpu::check(cudaGetDeviceProperties(&p, 0), "properties");
  std::printf("%s, %d SMs, sm_%d%d, n = %lld floats\n\n| variant | check, max error | ms | GB/s |\n|---|---|---|---|\n", p.name, p.multiProcessorCount, p.major, p.minor, (long long)n);

  const auto count = static_cast<std::size_t>(n);
  std::vector<float> hx(count), hz(count), hy(count);
  unsigned seed = 1;
  auto next = [&] { return float((seed = seed * 1664525u + 1013904223u) >> 8) * 0x1p-24f + 0.25f; };
  for (std::size_t i = 0; i < hx.size(); ++i) hx[i] = next(), hz[i] = next();
  device_array<float, 1> x(n), z(n), y(n), gx(n), gz(n), ct(n);
  x.copy_from(hx.data());
  z.copy_from(hz.data());
  ct.copy_from(std::vector<float>(count, 1.0f).data());
  const auto e = test_programs::chain(x.as_leaf(), z.as_leaf());

  auto clear = [&] { gpu::check(cudaMemset(y.data(), 0xff, std::size_t(n) * 4), "clear"); };
  auto map_error = [&] {
    y.copy_to(hy.data());
    double worst = 0;
    for (index_t i = 0; i < n; i = i < n - 200 ? i + 97 : i + 1) {
      const double a = hx[std::size_t(i)], b = hz[std::size_t(i)];
      worst = larger(worst, hy[std::size_t(i)] - (std::exp(-a * a) * std::sqrt(a) + std::log(b)));
    }
    clear();
    return worst;
  };
  const double three = 12.0 * double(n), two = 8.0 * double(n), five = 20.0 * double(n);
  float *py = y.data();
  const float *px = x.data(), *pz = z.data();

  row("copy (cudaMemcpyAsync)", two, [&] { gpu::check(cudaMemcpyAsync(py, px, std::size_t(n) * 4, cudaMemcpyDeviceToDevice), "copy"); }, [] { return 0.0; }, 1);
  clear();
  row("own pack kernel, one thread a pack", three, [&] { assign(y, e); }, map_error, 5e-7);
  run::device_statement<std::remove_const_t<decltype(e)>, 1> st(e);
  st.set_output(0, py);
  st.each_leaf_type([&]<class... K>(type_list<K...> k) {
    using body = run::map_body<program_t, run::linear_walk<4>, run::flat_plane<float>, typename K::linear...>;
    using single = run::map_body<program_t, run::linear_walk<1>, run::flat_plane<float>, typename K::linear...>;
    const striding<body> by_words{{st.linear<4>(), {py}, st.leaves(k, type_list<typename K::linear...>{})}};
    for (int blocks : {4, 8, 16, 32, 64}) {
      char name[64];
      std::snprintf(name, sizeof name, "grid-stride, %d blocks a processor", blocks);
      row(name, three, [&] { gpu::on_stream{}.spread(by_words, index_t(p.multiProcessorCount) * 256 * blocks); }, map_error, 5e-7);
    }
    row("one element an access", three, [&] { gpu::on_stream{}.launch(single{{n, n}, {py}, st.leaves(k, type_list<typename K::linear...>{})}, n); }, map_error, 5e-7);
  });
  row("read-only loads (.nc)", three, [&] { gpu::on_stream{}.launch(read_only_map{py, px, pz, n}, n / 4 + 3); }, map_error, 5e-7);
  row("thrust::transform(x, z)", three, [&] { thrust::transform(thrust::cuda::par_nosync, px, px + n, pz, py, one_element{}); }, map_error, 5e-7);
  row("thrust::tabulate of the program", three, [&] { thrust_backend::map(thrust::cuda::par_nosync, py, e); }, map_error, 5e-7);
  row("cub::DeviceTransform (bulk copies)", three, [&] { gpu::check(cub::DeviceTransform::Transform(::cuda::std::make_tuple(px, pz), py, n, one_element{}), "cub"); }, map_error, 5e-7);

  auto back_error = [&] {
    std::vector<float> h(count, 0.0f);
    double worst = 0;
    gx.copy_to(h.data());
    for (index_t i = 0; i < n; i += 97) {
      const double a = hx[std::size_t(i)], q = std::exp(-a * a), r = std::sqrt(a);
      worst = larger(worst, h[std::size_t(i)] - (q * (0.5 / r) - 2 * a * q * r));
    }
    gz.copy_to(h.data());
    for (index_t i = 0; i < n; i += 97) worst = larger(worst, h[std::size_t(i)] - 1 / double(hz[std::size_t(i)]));
    return worst;
  };
  row("backward, two gradients (x, z, ct -> gx, gz)", five, [&] { backward(e, ct, wrt(x, gx), wrt(z, gz)); }, back_error, 2e-6);

  {  // what it costs that an array stands several times: each time it is a leaf, and is read, of its own
    auto error = [&] {
      std::vector<float> h(count, 0.0f);
      gx.copy_to(h.data());
      double worst = 0;
      for (index_t i = 0; i < n; i += 97) worst = larger(worst, h[std::size_t(i)] - (2 * double(hx[std::size_t(i)]) + std::exp(double(hx[std::size_t(i)]))));
      gpu::check(cudaMemset(gx.data(), 0xff, std::size_t(n) * 4), "clear");
      return worst;
    };
    const auto sum = [](const auto& a) { return apply<add_op>(apply<mul_op>(a, a), apply<exp_op>(a)); };
    const auto several = sum(x.as_leaf());
    const auto body = sum(let_arg<0, 0, float, 1>{x.shape()});
    const let_node<0, std::remove_const_t<decltype(body)>, device_leaf<float, 1>> once{make_bundle(x.as_leaf()), body};
    row("gradient of sum(x*x + exp(x)), x three leaves", two, [&] { backward(several, wrt(x, gx)); }, error, 2e-6);
    row("gradient of sum(x*x + exp(x)), x one leaf", two, [&] { backward(once, wrt(x, gx)); }, error, 2e-6);
  }

  double want = 0;
  for (std::size_t i = 0; i < hx.size(); ++i) want += double(hx[i] - hz[i]) * double(hx[i] - hz[i]);
  const auto d = apply<sub_op>(x.as_leaf(), z.as_leaf());
  const auto square = apply<mul_op>(d, d);
  device_array<float, 0> total(dims<0>{});
  auto sum_error = [&] {
    float v;
    total.copy_to(&v);
    gpu::check(cudaMemset(total.data(), 0xff, sizeof v), "clear");
    return larger(0, (double(v) - want) / want);
  };
  row("sum, one kernel", two, [&] { run::device_sum(gpu::on_stream{}, total.data(), square); }, sum_error, 1e-6);
  row("cub::DeviceReduce::TransformReduce", two, [&] {
    std::size_t bytes = 0;
    thrust::counting_iterator<index_t> first(0);
    gpu::check(cub::DeviceReduce::TransformReduce(nullptr, bytes, first, total.data(), n, plus{}, square_difference{px, pz}, 0.0f), "cub");
    gpu::scratch<char> room(index_t(bytes) + 1, nullptr);
    gpu::check(cub::DeviceReduce::TransformReduce(room.get(), bytes, first, total.data(), n, plus{}, square_difference{px, pz}, 0.0f), "cub");
  }, sum_error, 1e-4);
  for (index_t cols : {32, 1024, 65536}) {
    const index_t rows = n / cols;
    const device_leaf<float, 2> m{px, layout_map<2>::row_major({{rows, cols}})};
    const auto mm = apply<square_op>(m);
    auto error_of = [&](index_t count, auto at) {
      y.copy_to(hy.data());
      double worst = 0;
      const index_t other = rows * cols / count;
      for (index_t r = 0; r < count; r += count / 50 + 1) {
        double s = 0;
        for (index_t j = 0; j < other; ++j) s += double(hx[std::size_t(at(r, j))]) * hx[std::size_t(at(r, j))];
        worst = larger(worst, (hy[std::size_t(r)] - s) / s);
      }
      clear();
      return worst;
    };
    char name[64];
    const index_t by_row[] = {1, 0}, by_column[] = {0, 1};
    std::snprintf(name, sizeof name, "row sums of %lld columns", (long long)cols);
    row(name, 4.0 * double(n), [&] { run::device_sum_into(gpu::on_stream{}, py, by_row, false, mm); }, [&] { return error_of(rows, [&](index_t r, index_t j) { return r * cols + j; }); }, 1e-6);
    std::snprintf(name, sizeof name, "column sums of %lld columns", (long long)cols);
    row(name, 4.0 * double(n), [&] { run::device_sum_into(gpu::on_stream{}, py, by_column, false, mm); }, [&] { return error_of(cols, [&](index_t r, index_t j) { return j * cols + r; }); }, 1e-6);
  }
  for (index_t side : {1 << 12, 1 << 14}) {
    if (side * side > n) continue;
    device_array<float, 2> t(side, side);
    const device_leaf<float, 2> turned{px, {0, {{side, side}}, {{1, side}}}}, straight{pz, layout_map<2>::row_major({{side, side}})};
    const device_leaf<float, 1> line{pz, layout_map<1>::row_major({{side}})};
    const double plane = 4.0 * double(side) * double(side);
    std::vector<float> ht(std::size_t(side) * std::size_t(side));
    auto error_of = [&](auto want) {
      t.copy_to(ht.data());
      double worst = 0;
      for (index_t i = 0; i < side; i += 7)
        for (index_t j = 0; j < side; j += 3) worst = larger(worst, double(ht[std::size_t(i * side + j)]) - double(want(i, j)));
      gpu::check(cudaMemset(t.data(), 0xff, std::size_t(plane)), "clear");
      return worst;
    };
    const std::string of = std::to_string(side) + "^2: ";
    row((of + "copy").c_str(), 2 * plane, [&] { gpu::check(cudaMemcpyAsync(t.data(), px, std::size_t(plane), cudaMemcpyDeviceToDevice), "copy"); }, [] { return 0.0; }, 1);
    row((of + "matrix + row").c_str(), 2 * plane, [&] { assign(t, apply<add_op>(straight, line)); }, [&] { return error_of([&](index_t i, index_t j) { return hz[std::size_t(i * side + j)] + hz[std::size_t(j)]; }); }, 0);
    row((of + "transposed + 1").c_str(), 2 * plane, [&] { assign(t, apply<add_op>(turned, 1.0f)); }, [&] { return error_of([&](index_t i, index_t j) { return hx[std::size_t(j * side + i)] + 1.0f; }); }, 0);
    device_array<float, 2> gw(side, side), gt(side, side);
    const auto product = apply<mul_op>(apply<mul_op>(straight, turned), turned);  // d/dw = x^2, d/dx = 2 w x
    const let_arg<0, 0, float, 2> arg{turned.shape()};
    const auto body = apply<mul_op>(apply<mul_op>(straight, arg), arg);
    const let_node<0, std::remove_const_t<decltype(body)>, device_leaf<float, 2>> once{make_bundle(turned), body};
    auto gradients_of = [&](const auto& e) { run::device_backward(gpu::on_stream{}, e, run::ones<float>{}, run::into_gradient<float>{pz, gw.data(), side * side}, run::into_gradient<float>{px, gt.data(), side * side}); };
    auto gradient_error = [&] {
      double worst = 0;
      for (bool of_x : {true, false}) {
        device_array<float, 2>& g = of_x ? gt : gw;
        g.copy_to(ht.data());
        for (index_t i = 0; i < side; i += 7)
          for (index_t j = 0; j < side; j += 3) {
            const double v = hx[std::size_t(j * side + i)];
            worst = larger(worst, of_x ? ht[std::size_t(j * side + i)] - 2 * hz[std::size_t(i * side + j)] * v : ht[std::size_t(i * side + j)] - v * v);
          }
        gpu::check(cudaMemset(g.data(), 0xff, std::size_t(plane)), "clear");
      }
      return worst;
    };
    row((of + "two gradients of sum(w * transpose(x)^2)").c_str(), 4 * plane, [&] { gradients_of(product); }, gradient_error, 5e-7);
    row((of + "the same, x one leaf").c_str(), 4 * plane, [&] { gradients_of(once); }, gradient_error, 5e-7);
    row((of + "gradient of sum(matrix * row) for row").c_str(), plane, [&] { run::device_backward(gpu::on_stream{}, apply<mul_op>(device_leaf<float, 2>{px, straight.map}, line), run::ones<float>{}, run::into_gradient<float>{pz, gw.data(), side}); },
        [&] {
          std::vector<float> got(std::size_t(side) * std::size_t(side));
          gw.copy_to(got.data());
          double worst = 0;
          for (index_t j = 0; j < side; j += 97) {
            double want = 0;
            for (index_t i = 0; i < side; ++i) want += hx[std::size_t(i * side + j)];
            worst = larger(worst, (got[std::size_t(j)] - want) / want);
          }
          return worst;
        }, 1e-6);
    row((of + "matrix + transposed").c_str(), 3 * plane, [&] { assign(t, apply<add_op>(straight, turned)); }, [&] { return error_of([&](index_t i, index_t j) { return hz[std::size_t(i * side + j)] + hx[std::size_t(j * side + i)]; }); }, 0);
  }
  {  // D2 of benchmarks/README.md
    const index_t m = 100'000'000;
    device_array<double, 1> v(m), gv(m);
    std::vector<double> hv(std::size_t(m), 0.0);
    for (std::size_t i = 0; i < hv.size(); ++i) hv[i] = next() * 2 - 1.5;
    v.copy_from(hv.data());
    const let_arg<0, 0, double, 1> arg{v.shape()};
    const auto body = apply<mul_op>(apply<exp_op>(apply<neg_op>(apply<mul_op>(arg, arg))), apply<sin_op>(arg));
    const let_node<0, std::remove_const_t<decltype(body)>, device_leaf<double, 1>> d2{make_bundle(v.as_leaf()), body};
    auto error = [&] {
      std::vector<double> h(std::size_t(m), 0.0);
      gv.copy_to(h.data());
      double worst = 0;
      for (std::size_t i = 0; i < h.size(); i += 97) {
        const double a = hv[i];
        worst = larger(worst, h[i] - std::exp(-a * a) * (std::cos(a) - 2 * a * std::sin(a)));
      }
      return worst;
    };
    row("D2: gradient of sum(exp(-x*x)*sin(x)), 1e8 double", 16.0 * double(m), [&] { backward(d2, wrt(v, gv)); }, error, 1e-14);
  }
  {
    const let_arg<0, 0, float, 1> arg{x.shape()};
    const auto body = apply<mul_op>(apply<sin_op>(arg), apply<cos_op>(arg));
    const let_node<0, std::remove_const_t<decltype(body)>, device_leaf<float, 1>> wave{make_bundle(x.as_leaf()), body};
    auto error = [&] {
      std::vector<float> h(count, 0.0f);
      gx.copy_to(h.data());
      double worst = 0;
      for (index_t i = 0; i < n; i += 97) worst = larger(worst, h[std::size_t(i)] - std::cos(2 * double(hx[std::size_t(i)])));
      return worst;
    };
    row("gradient of sum(sin(x) * cos(x))", two, [&] { backward(wave, wrt(x, gx)); }, error, 5e-7);
  }
  const device_leaf<float, 1> few{px, layout_map<1>::row_major({{1024}})};
  device_array<float, 1> small(1024);
  auto each = [&](const char* what, auto&& go) {  // launched one after the other, as a simulation would
    constexpr int times = 2000;
    const double ms = median_ms([&] { for (int i = 0; i < times; ++i) go(); });
    std::printf("%s of 1024 elements: %.2f us each\n", what, ms * 1e3 / times);
  };
  std::printf("\n");
  each("empty kernels, for comparison", [&] { gpu::nothing<><<<1, 256>>>(); });
  each("statements", [&] { assign(small, apply<add_op>(apply<mul_op>(few, few), 1.0f)); });
  each("sums", [&] { run::device_sum(gpu::on_stream{}, total.data(), few); });
  std::printf("\n%d failures\n", failures);
  return failures != 0;
}
