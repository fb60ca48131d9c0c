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
#include <vector>
#include <ttensor/ops/trigonometric.hpp>
#include <ttensor/ops/exponential.hpp>
#include <ttensor/run/cuda/reduce.hpp>
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
template <int N> struct read_only_map {
  float* y;
  const float *x, *z;
  index_t n;
  TTENSOR_HD void operator()(index_t tid, index_t threads) const {
#if TTENSOR_DEVICE_PASS
    using P = device_pack<float, N>;
    for (index_t k = tid; k < n / N; k += threads) {
      const float4 a = __ldg(reinterpret_cast<const float4*>(x) + k), b = __ldg(reinterpret_cast<const float4*>(z) + k);
      P u, v;
      u.v[0] = a.x, u.v[1] = a.y, u.v[2] = a.z, u.v[3] = a.w;
      v.v[0] = b.x, v.v[1] = b.y, v.v[2] = b.z, v.v[3] = b.w;
      store_word(sweep<program_t, type_list<P, P>>::run(row_of<P, P>{{u, v}}), y + k * N);
    }
    for (index_t i = n / N * N + tid; i < n; i += threads) y[i] = one_element{}(__ldg(x + i), __ldg(z + i));
#else
    for (index_t i = tid; i < n; i += threads) y[i] = one_element{}(x[i], z[i]);
#endif
  }
};
struct plus {
  TTENSOR_HD float operator()(float a, float b) const { return a + b; }
};
struct square_difference {
  const float *x, *z;
  TTENSOR_HD float operator()(index_t i) const { return (x[i] - z[i]) * (x[i] - z[i]); }
};

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
  std::printf("| %-44s | %s %.1e | %8.4f | %6.0f |\n", name, ok ? "ok  " : "FAIL", e, ms, bytes / ms * 1e-6);
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
      const double a = hx[std::size_t(i)], b = hz[std::size_t(i)], d = std::fabs(hy[std::size_t(i)] - (std::exp(-a * a) * std::sqrt(a) + std::log(b)));
      worst = d <= worst ? worst : d;  // NaN becomes the worst
      if (d != d) worst = 1e30;
    }
    clear();
    return worst;
  };
  const double three = 12.0 * double(n), two = 8.0 * double(n), five = 20.0 * double(n);
  float *py = y.data();
  const float *px = x.data(), *pz = z.data();

  row("copy (cudaMemcpyAsync)", two, [&] { gpu::check(cudaMemcpyAsync(py, px, std::size_t(n) * 4, cudaMemcpyDeviceToDevice), "copy"); }, [] { return 0.0; }, 1);
  clear();
  for (int blocks : {0, 4, 8, 16, 32, 64}) {
    char name[64];
    if (blocks) std::snprintf(name, sizeof name, "own pack kernel, %d blocks a processor", blocks);
    else std::snprintf(name, sizeof name, "own pack kernel, one thread a pack");
    row(name, three, [&] { assign(y, e, gpu::on_stream{nullptr, blocks}); }, map_error, 5e-7);
  }
  for (int blocks : {0, 16}) {
    const index_t words = n / 4 + 3;
    row(blocks ? "the same, read-only loads, 16 blocks" : "the same, read-only loads, one thread a pack", three,
        [&] { gpu::on_stream{nullptr, blocks}.launch(read_only_map<4>{py, px, pz, n}, words); }, map_error, 5e-7);
    row(blocks ? "one element an access, 16 blocks" : "one element an access, one thread each", three, [&] {
      run::device_statement<std::remove_const_t<decltype(e)>, 1> st(e);
      st.set_output(0, py);
      st.each_leaf_type([&]<class... K>(type_list<K...> k) {
        using body = run::map_body<program_t, run::linear_walk<4>, run::flat_plane<float>, typename K::linear...>;
        gpu::on_stream{nullptr, blocks}.launch(body{{0, n}, {py}, st.leaves(k, type_list<typename K::linear...>{})}, n);
      });
    }, map_error, 5e-7);
  }
  row("thrust::transform(x, z)", three, [&] { thrust::transform(thrust::cuda::par_nosync, px, px + n, pz, py, one_element{}); }, map_error, 5e-7);
  row("thrust::tabulate of the program", three, [&] { thrust_backend::map(thrust::cuda::par_nosync, py, e); }, map_error, 5e-7);
  row("cub::DeviceTransform (bulk copies)", three, [&] { gpu::check(cub::DeviceTransform::Transform(::cuda::std::make_tuple(px, pz), py, n, one_element{}), "cub"); }, map_error, 5e-7);

  auto back_error = [&] {
    std::vector<float> h(count, 0.0f);
    double worst = 0;
    gx.copy_to(h.data());
    for (index_t i = 0; i < n; i += 97) {
      const double a = hx[std::size_t(i)], q = std::exp(-a * a), r = std::sqrt(a);
      worst = std::fmax(worst, std::fabs(h[std::size_t(i)] - (q * (0.5 / r) - 2 * a * q * r)));
    }
    gz.copy_to(h.data());
    for (index_t i = 0; i < n; i += 97) worst = std::fmax(worst, std::fabs(h[std::size_t(i)] - 1 / double(hz[std::size_t(i)])));
    return worst;
  };
  row("backward, two gradients (x, z, ct -> gx, gz)", five, [&] { backward(e, ct, wrt(x, gx), wrt(z, gz)); }, back_error, 2e-6);

  double want = 0;
  for (std::size_t i = 0; i < hx.size(); ++i) want += double(hx[i] - hz[i]) * double(hx[i] - hz[i]);
  const auto d = apply<sub_op>(x.as_leaf(), z.as_leaf());
  const auto square = apply<mul_op>(d, d);
  device_array<float, 0> total(dims<0>{});
  auto sum_error = [&] {
    float v;
    total.copy_to(&v);
    return std::fabs(double(v) - want) / want;
  };
  for (int blocks : {4, 8, 16})
    row(blocks == 4 ? "sum with barriers, one kernel, 4 blocks" : blocks == 8 ? "sum with barriers, one kernel, 8 blocks" : "sum with barriers, one kernel, 16 blocks", two,
        [&] { gpu::sum_once(total.data(), square, gpu::on_stream{nullptr, blocks}); }, sum_error, 1e-4);
  row("sum without barriers, two kernels", two, [&] { run::device_sum(gpu::on_stream{}, total.data(), square); }, sum_error, 1e-4);
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
    const auto mm = apply<mul_op>(m, m);
    auto rows_error = [&] {
      y.copy_to(hy.data());
      double worst = 0;
      for (index_t r = 0; r < rows; r += rows / 50 + 1) {
        double s = 0;
        for (index_t j = 0; j < cols; ++j) s += double(hx[std::size_t(r * cols + j)]) * hx[std::size_t(r * cols + j)];
        worst = std::fmax(worst, std::fabs(hy[std::size_t(r)] - s) / s);
      }
      clear();
      return worst;
    };
    char name[64];
    std::snprintf(name, sizeof name, "row sums of %lld columns, a block a row", (long long)cols);
    row(name, 4.0 * double(n), [&] { gpu::sum_rows(py, mm); }, rows_error, 1e-5);
    std::snprintf(name, sizeof name, "row sums of %lld columns, without barriers", (long long)cols);
    const index_t stride[] = {1, 0};
    row(name, 4.0 * double(n), [&] { run::device_sum_into(gpu::on_stream{}, py, stride, false, mm); }, rows_error, 1e-4);
  }
  const index_t side = 1 << 12;
  device_array<float, 2> t(side, side), u(side, side);
  const device_leaf<float, 2> turned{px, {0, {{side, side}}, {{1, side}}}};
  const device_leaf<float, 1> line{pz, layout_map<1>::row_major({{side}})};
  const device_leaf<float, 2> straight{px, layout_map<2>::row_major({{side, side}})};
  const double plane_bytes = 8.0 * double(side) * double(side);
  if (side * side <= n) {
    row("4096 x 4096: matrix + row (grid walk, words)", plane_bytes, [&] { assign(t, apply<add_op>(straight, line)); }, [] { return 0.0; }, 1);
    row("4096 x 4096: transposed + 1 (grid walk)", plane_bytes, [&] { assign(u, apply<add_op>(turned, 1.0f)); }, [] { return 0.0; }, 1);
  }
  std::printf("\n%d failures\n", failures);
  return failures != 0;
}
