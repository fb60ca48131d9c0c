// Launching: the one __global__ of barrier-free work, the executor of device_plan.hpp, and the functions users call.
#pragma once
#include "../device_back.hpp"
#include "memory.hpp"

TTENSOR_BEGIN
namespace gpu {

inline constexpr int block_threads = 256;

/// Every kernel body runs through this one; the body is the argument, at most 32,764 bytes of it on sm_70 and later.
template <class F> __global__ void __launch_bounds__(block_threads) run(const __grid_constant__ F f) {
  f(static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x, static_cast<index_t>(gridDim.x) * blockDim.x);
}

/// Executor on a stream.
struct on_stream {
  cudaStream_t stream = nullptr;
  int blocks_per_processor = 16;  // grid-stride from there on; 0: one thread an item

  index_t blocks(index_t items) const {
    const index_t all = (items + block_threads - 1) / block_threads, cap = static_cast<index_t>(probe().processors) * blocks_per_processor;
    return blocks_per_processor == 0 || all < cap ? all : cap;
  }
  index_t threads(index_t items) const { return blocks(items) * block_threads; }
  template <class F> void launch(const F& f, index_t items) const {
    static_assert(std::is_trivially_copyable_v<F>, "ttensor: a kernel body is copied to the device byte by byte");
    static_assert(sizeof(F) <= 32764, "ttensor: too many arrays in one statement; evaluate a part of it first");
    if (items <= 0) return;  // an empty grid is an error in CUDA
    run<<<static_cast<unsigned>(blocks(items)), block_threads, 0, stream>>>(f);
    check(cudaGetLastError(), "launch");
  }
  template <class T> gpu::scratch<T> scratch(index_t n) const { return {n, stream}; }
  void zero(void* p, std::size_t bytes) const {
    if (bytes) check(cudaMemsetAsync(p, 0, bytes, stream), "zero");
  }
};
}  // namespace gpu

/// out = e, one kernel; out takes the shape of e. A temporary where e reads out in another order.
template <class T, int R, class E> void assign(device_array<T, R>& out, const E& e, const gpu::on_stream& x = {}) {
  device::require();
  const auto expr = as_expression(e);
  static_assert(decltype(expr)::rank == R, "ttensor: the expression and the array have different ranks");
  if (out.holds(expr.shape()) && !run::device_overlaps(out.data(), static_cast<std::size_t>(out.size()) * sizeof(T), expr)) {
    run::device_map(x, out.data(), expr);
  } else {  // the expression may read what out holds now
    device_array<T, R> fresh(expr.shape());
    if (x.stream) gpu::order(nullptr, x.stream);  // memory of arrays comes and goes in the order of the default stream
    run::device_map(x, fresh.data(), expr);
    if (x.stream) gpu::order(x.stream, nullptr);
    out = static_cast<device_array<T, R>&&>(fresh);
  }
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

TTENSOR_END
