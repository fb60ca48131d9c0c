// Memory on the device: stream-ordered scratch, and a minimal array until tensor<T, R, device> takes its place.
#pragma once
#include <cstdint>
#include "../device_plan.hpp"
#include "probe.hpp"

TTENSOR_BEGIN

namespace gpu {
/// Lets the pool keep what is freed: cudaMallocAsync is then a caching allocator.
inline void keep_pool() {
  static const bool once = [] {
    device::require();
    cudaMemPool_t pool;
    check(cudaDeviceGetDefaultMemPool(&pool, 0), "default memory pool");
    std::uint64_t all = ~std::uint64_t(0);
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "memory pool threshold");
    return true;
  }();
  static_cast<void>(once);
}
/// n elements on a stream: freed in stream order, so the last launch that uses them may still be running.
template <class T> class scratch {
 public:
  scratch() = default;
  scratch(index_t n, cudaStream_t s) : stream_(s) {
    if (n == 0) return;
    keep_pool();
    void* p = nullptr;
    check(cudaMallocAsync(&p, static_cast<std::size_t>(n) * sizeof(T), s), "allocate");
    p_ = static_cast<T*>(p);
  }
  scratch(scratch&& o) noexcept : p_(o.p_), stream_(o.stream_) { o.p_ = nullptr; }
  scratch& operator=(scratch&& o) noexcept {
    T* p = p_;
    const cudaStream_t s = stream_;
    p_ = o.p_, stream_ = o.stream_;
    o.p_ = p, o.stream_ = s;
    return *this;
  }
  ~scratch() {
    if (p_) static_cast<void>(cudaFreeAsync(p_, stream_));
  }
  T* get() const { return p_; }

 private:
  T* p_ = nullptr;
  cudaStream_t stream_ = nullptr;
};
/// What is given to `then` from now on begins when all that `first` was given has ended. Needed where one of the two is cudaStreamNonBlocking.
inline void order(cudaStream_t first, cudaStream_t then) {
  cudaEvent_t e;
  check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "event");
  cudaError_t r = cudaEventRecord(e, first);
  if (r == cudaSuccess) r = cudaStreamWaitEvent(then, e, 0);
  static_cast<void>(cudaEventDestroy(e));
  check(r, "order of two streams");
}
}  // namespace gpu

/// R-dimensional row-major elements on the device. Moves, does not copy; uninitialised until written.
template <class T, int R> class device_array {
 public:
  using ttensor_array = void;
  using scalar = T;
  static constexpr int rank() { return R; }

  device_array() = default;
  device_array(device_array&& o) noexcept : extent_(o.extent_), memory_(static_cast<gpu::scratch<T>&&>(o.memory_)) { o.extent_ = {}; }
  device_array& operator=(device_array&& o) noexcept {  // exchanges the two, as scratch does
    const dims<R> e = extent_;
    extent_ = o.extent_, o.extent_ = e;
    memory_ = static_cast<gpu::scratch<T>&&>(o.memory_);
    return *this;
  }
  explicit device_array(const dims<R>& e) : extent_(e), memory_(shape::elements(e), nullptr) { device::require(); }
  template <class... I> requires(sizeof...(I) == R && R > 0 && (std::is_integral_v<I> && ...))
  explicit device_array(I... n) : device_array(dims<R>{{static_cast<index_t>(n)...}}) {}
  /// From a host array (anything with shape() and data(): a tensor).
  template <class A> requires requires(const A& a) { { a.data() } -> std::convertible_to<const T*>; a.shape(); }
  explicit device_array(const A& a) : device_array(a.shape()) { copy_from(a.data()); }

  const dims<R>& shape() const { return extent_; }
  index_t size() const { return shape::size(extent_); }
  /// Can e be written here? Not where there is no memory, as in an array of rank 0 (whose size is 1) that was made by default or moved from.
  bool holds(const dims<R>& e) const { return extent_ == e && (data() || size() == 0); }
  T* data() { return memory_.get(); }
  const T* data() const { return memory_.get(); }
  auto as_leaf() const { return device_leaf<T, R>{memory_.get(), layout_map<R>::row_major(extent_)}; }

  void copy_from(const T* host) { copy(memory_.get(), host, cudaMemcpyHostToDevice, "copy to the device"); }
  void copy_to(T* host) const { copy(host, memory_.get(), cudaMemcpyDeviceToHost, "copy from the device"); }
  /// A host array of type A, which takes dims and gives data().
  template <class A> A to() const {
    A a(extent_);
    copy_to(a.data());
    return a;
  }

 private:
  void copy(T* to, const T* from, cudaMemcpyKind kind, const char* what) const {
    if (size() == 0) return;
    gpu::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(size()) * sizeof(T), kind, nullptr), what);
    gpu::check(cudaStreamSynchronize(nullptr), what);
  }
  dims<R> extent_{};
  gpu::scratch<T> memory_;
};

TTENSOR_END
