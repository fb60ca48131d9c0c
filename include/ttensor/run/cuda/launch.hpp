// Launching: the one __global__ of barrier-free work, the executor of device_plan.hpp, and the functions users call.
#pragma once
#include "../device_back.hpp"
#include "memory.hpp"
#include "reduce.hpp"

TTENSOR_BEGIN
namespace gpu {

/// Every kernel body runs through this one; the body is the argument, at most 32,764 bytes of it on sm_70 and later.
template <class F, class Threads> __global__ void __launch_bounds__(block_threads) run(const __grid_constant__ F f, Threads threads) {
  f(static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x, threads);
}

/// Executor on a stream.
struct on_stream {
  cudaStream_t stream = nullptr;

  static int log_block() { return gpu::log_block; }
  static index_t filling() { return static_cast<index_t>(probe().processors) * block_threads * 8; }
  index_t threads(index_t items) const {
    const index_t all = blocks(items) * block_threads;
    return all < filling() ? all : filling();
  }
  template <class F> void launch(const F& f, index_t items) const { go(f, ttensor::run::one_each{}, items); }
  template <class F> void spread(const F& f, index_t n) const { go(f, n, n); }
  template <class Red, class F> void fold(const F& f) const {
    const index_t items = static_cast<index_t>(f.kept.items), groups = (items + f.shape.places() - 1) >> f.shape.log_places, splits = f.shape.splits;
    if constexpr (F::has_rows)
      if (f.shape.by_rows) {
        gpu::fold_rows<Red><<<static_cast<unsigned>(blocks(items)), block_threads, 0, stream>>>(f);
        return check(cudaGetLastError(), "launch of sums of rows");
      }
    const auto partial = scratch<typename F::result>(splits > 1 ? splits * items : 0);
    const auto tickets = scratch<unsigned>(splits > 1 ? groups : 0);
    if (splits > 1) zero(tickets.get(), static_cast<std::size_t>(groups) * sizeof(unsigned));
    gpu::fold<Red><<<static_cast<unsigned>(groups * splits), block_threads, 0, stream>>>(f, partial.get(), tickets.get());
    check(cudaGetLastError(), "launch of a sum");
  }
  template <class T> gpu::scratch<T> scratch(index_t n) const { return {n, stream}; }
  void zero(void* p, std::size_t bytes) const {
    if (bytes) check(cudaMemsetAsync(p, 0, bytes, stream), "zero");
  }

 private:
  static index_t blocks(index_t items) { return (items + block_threads - 1) / block_threads; }
  template <class F, class Threads> void go(const F& f, Threads threads, index_t items) const {
    static_assert(std::is_trivially_copyable_v<F>, "ttensor: a kernel body is copied to the device byte by byte");
    static_assert(sizeof(F) + sizeof(Threads) <= 32764, "ttensor: too many arrays in one statement; evaluate a part of it first");
    if (items <= 0) return;  // an empty grid is an error in CUDA
    gpu::run<<<static_cast<unsigned>(blocks(items)), block_threads, 0, stream>>>(f, threads);
    check(cudaGetLastError(), "launch");
  }
};

/// write(p) to an array of this shape: to out itself, or to a new one that takes its place.
template <class T, int R, class F> void write_to(device_array<T, R>& out, const dims<R>& shape, bool in_place, const on_stream& x, F&& write) {
  if (in_place && out.holds(shape)) return write(out.data());
  device_array<T, R> fresh(shape);
  if (x.stream) order(nullptr, x.stream);  // memory of arrays comes and goes in the order of the default stream
  write(fresh.data());
  if (x.stream) order(x.stream, nullptr);
  out = static_cast<device_array<T, R>&&>(fresh);
}
}  // namespace gpu

/// out = e, one kernel; out takes the shape of e. A temporary where e reads out in another order.
template <class T, int R, class E> void assign(device_array<T, R>& out, const E& e, const gpu::on_stream& x = {}) {
  device::require();
  const auto expr = as_expression(e);
  static_assert(decltype(expr)::rank == R, "ttensor: the expression and the array have different ranks");
  const bool in_place = !run::device_overlaps(out.data(), static_cast<std::size_t>(out.size()) * sizeof(T), expr);
  gpu::write_to(out, expr.shape(), in_place, x, [&](T* to) { run::device_map(x, to, expr); });
}
/// An array with what was asked for: wrt(x, gx) sends the derivative with respect to x to gx.
template <class T, int R> run::into_gradient<T> wrt(const device_array<T, R>& x, device_array<T, R>& gradient) {
  if (!gradient.holds(x.shape())) gradient = device_array<T, R>(x.shape());
  return {x.data(), gradient.data(), x.size()};
}
/// Gradients of e's arrays from the cotangent of e, in one kernel when nothing is broadcast.
template <class E, class C, int R, class... T> void backward(const E& e, const device_array<C, R>& ct, const run::into_gradient<T>&... g) {
  device::require();
  const auto expr = as_expression(e);
  if (!(ct.shape() == expr.shape()))
    raise<shape_error>("[backward] the cotangent has shape " + shape::text(ct.shape()) + ", the expression " +
                       shape::text(expr.shape()) + "; give it the shape of the expression [TT-S28]");
  run::device_backward(gpu::on_stream{}, expr, ct.data(), g...);
}
/// Gradients of the sum of e's elements.
template <class E, class... T> void backward(const E& e, const run::into_gradient<T>&... g) {
  device::require();
  const auto expr = as_expression(e);
  run::device_backward(gpu::on_stream{}, expr, run::ones<elem_t<scalar_t<decltype(expr)>>>{}, g...);
}

/// Sum of all elements, in one kernel.
template <class E> auto sum_on_device(const E& e) {
  device::require();
  const auto expr = as_expression(e);
  using T = reduced_t<scalar_t<decltype(expr)>>;
  device_array<T, 0> out(dims<0>{});
  run::device_sum(gpu::on_stream{}, out.data(), expr);
  T host;
  out.copy_to(&host);
  return host;
}
/// out = sum of e over some axes, in one kernel; out takes the shape that is left. sum_into(rows, x * y, axes{1})
template <class T, int K, class E, int N> void sum_into(device_array<T, K>& out, const E& e, const axes<N>& along, const gpu::on_stream& x = {}) {
  device::require();
  const auto expr = as_expression(e);
  constexpr int R = decltype(expr)::rank;
  static_assert(K + N == R, "ttensor: the sum's rank is that of the expression less the number of axes");
  static_assert(std::is_same_v<T, reduced_t<scalar_t<decltype(expr)>>>, "ttensor: integers add up in 64 bits, all others in their own type");
  const auto which = shape::select_axes<R>(along, "sum_into");
  const auto shape = expr.shape();
  dims<K> left{};
  index_t stride[R]{};
  for (int d = 0, k = 0; d < R; ++d)
    if (!which.reduced[d]) left[k++] = shape[d];
  index_t n = 1;
  for (int d = R - 1; d >= 0; --d)
    if (!which.reduced[d]) stride[d] = n, n *= shape[d];
  const bool in_place = !run::device_overlaps(out.data(), static_cast<std::size_t>(out.size()) * sizeof(T), expr, false);
  gpu::write_to(out, left, in_place, x, [&](T* to) { run::device_sum_into(x, to, stride, false, expr); });
}

TTENSOR_END
