// The CUDA runtime's names, of the emulator: emulator.hpp says what that is. Found in place of the toolkit's header by the tests of this directory.
#pragma once
#include "emulator.hpp"

#define __host__
#define __device__
#define __global__
#define __shared__ static
#define __launch_bounds__(...)
#define __grid_constant__

// ---- in kernels ------------------------------------------------------------------------------------------------------------
template <class T> concept cuda_shuffled = std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);
template <cuda_shuffled T> T __shfl_down_sync(unsigned, T value, unsigned delta) { return cuda_emulator::shuffle(value, cuda_emulator::lane() + delta); }
template <cuda_shuffled T> T __shfl_xor_sync(unsigned, T value, int mask) { return ++cuda_emulator::the_device().exchanges, cuda_emulator::shuffle(value, cuda_emulator::lane() ^ static_cast<unsigned>(mask)); }
template <cuda_shuffled T> T __ldcg(const T* p) { return *p; }
inline void __syncthreads() { cuda_emulator::sync_threads(); }
inline void __threadfence() {}
inline unsigned atomicAdd(unsigned* p, unsigned v) {
  const unsigned before = *p;
  *p += v;
  return before;
}

// ---- errors ----------------------------------------------------------------------------------------------------------------
struct cuda_error_text {
  cudaError_t error;
  const char *name, *text;
};
inline constexpr cuda_error_text cuda_error_texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};
inline const cuda_error_text& cuda_text_of(cudaError_t e) {
  for (const cuda_error_text& t : cuda_error_texts)
    if (t.error == e) return t;
  cuda_emulator::stop("an error without a text");
}
inline const char* cudaGetErrorName(cudaError_t e) { return cuda_text_of(e).name; }
inline const char* cudaGetErrorString(cudaError_t e) { return cuda_text_of(e).text; }
/// Without a driver this fails as all calls do.
inline cudaError_t cudaGetLastError() {
  auto& d = cuda_emulator::the_device();
  return d.driver_version == 0 ? cudaErrorInsufficientDriver : std::exchange(d.last_error, cudaSuccess);
}

// ---- the machine -------------------------------------------------------------------------------------------------------------
struct cudaFuncAttributes {};
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount = 16 };
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold = 4 };
using cudaMemPool_t = void*;

inline cudaError_t cudaGetDeviceCount(int* n) {
  auto& d = cuda_emulator::the_device();
  if (d.count_error == cudaSuccess) *n = d.devices;
  return d.report(d.count_error != cudaSuccess ? d.count_error : d.devices == 0 ? cudaErrorNoDevice : cudaSuccess);
}
inline cudaError_t cudaDriverGetVersion(int* v) { return *v = cuda_emulator::the_device().driver_version, cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int* v) { return *v = cuda_emulator::the_device().runtime_version, cudaSuccess; }
template <class Kernel> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, Kernel*) {
  auto& d = cuda_emulator::the_device();
  return d.report(d.code_error);
}
inline cudaError_t cudaDeviceGetAttribute(int* v, cudaDeviceAttr, int) {
  auto& d = cuda_emulator::the_device();
  if (d.attribute_error == cudaSuccess) *v = d.processors;
  return d.report(d.attribute_error);
}
inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  auto& d = cuda_emulator::the_device();
  return *pool = nullptr, d.report(d.pool_error);
}
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cuda_emulator::the_device().report(cudaSuccess); }

// ---- streams and events --------------------------------------------------------------------------------------------------------
using cudaStream_t = cuda_emulator::stream*;
using cudaEvent_t = std::shared_ptr<cuda_emulator::event_state>*;  // shared with the work that waits: an event may be destroyed before it happens
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned flags) {
  auto& d = cuda_emulator::the_device();
  *s = new cuda_emulator::stream;
  (*s)->blocking = !(flags & cudaStreamNonBlocking);
  d.streams.push_back(*s);
  return d.report(cudaSuccess);
}
inline cudaError_t cudaStreamDestroy(cudaStream_t s) {
  auto& d = cuda_emulator::the_device();
  s->run_all();
  std::erase(d.streams, s);
  delete s;
  return d.report(cudaSuccess);
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t s) { return cuda_emulator::wait(s), cuda_emulator::the_device().report(cudaSuccess); }
inline cudaError_t cudaDeviceSynchronize() {
  auto& d = cuda_emulator::the_device();
  for (cudaStream_t s : d.streams) s->run_all();
  d.default_stream.run_all();
  return d.report(cudaSuccess);
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) {
  auto& d = cuda_emulator::the_device();
  if (d.fails(cuda_emulator::event)) return d.report(cudaErrorUnknown);
  *e = new std::shared_ptr<cuda_emulator::event_state>(new cuda_emulator::event_state);
  return d.report(cudaSuccess);
}
inline cudaError_t cudaEventDestroy(cudaEvent_t e) { return delete e, cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  auto& d = cuda_emulator::the_device();
  if (d.fails(cuda_emulator::event)) return d.report(cudaErrorUnknown);
  const auto state = *e;
  state->recorded_on = s, state->happened = false;
  cuda_emulator::submit(s, [state] { state->happened = true; });
  return d.report(cudaSuccess);
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
  auto& d = cuda_emulator::the_device();
  if (d.fails(cuda_emulator::event)) return d.report(cudaErrorUnknown);
  cuda_emulator::submit(s, [state = *e] { state->wait(); });
  return d.report(cudaSuccess);
}

// ---- memory, in the order of a stream --------------------------------------------------------------------------------------------
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };

inline cudaError_t cudaMallocAsync(void** p, std::size_t bytes, cudaStream_t s) {
  auto& d = cuda_emulator::the_device();
  if (d.fails(cuda_emulator::allocate) || bytes > std::size_t(1) << 40) return d.report(cudaErrorMemoryAllocation);
  if (bytes == 0) return *p = nullptr, d.report(cudaSuccess);
  const std::size_t rounded = (bytes + 255) / 256 * 256;
  void* memory = std::aligned_alloc(256, rounded);
  if (!memory) return d.report(cudaErrorMemoryAllocation);
  cuda_emulator::hide(memory, rounded);
  d.memory[memory] = bytes;
  cuda_emulator::submit(s, [=] {
    cuda_emulator::show(memory, bytes);
    std::memset(memory, 0xA5, bytes);
  });
  return *p = memory, d.report(cudaSuccess);
}
inline cudaError_t cudaFreeAsync(void* p, cudaStream_t s) {
  auto& d = cuda_emulator::the_device();
  const auto found = d.memory.find(p);
  if (found == d.memory.end()) cuda_emulator::stop("memory is freed twice, or was never given");
  const std::size_t rounded = (found->second + 255) / 256 * 256;
  d.memory.erase(found);
  cuda_emulator::submit(s, [=] {
    cuda_emulator::show(p, rounded);
    std::memset(p, 0x5A, rounded);
    std::free(p);
  });
  return d.report(cudaSuccess);
}
inline cudaError_t cudaMemsetAsync(void* p, int value, std::size_t bytes, cudaStream_t s) {
  auto& d = cuda_emulator::the_device();
  if (d.fails(cuda_emulator::zero)) return d.report(cudaErrorUnknown);
  if (!p) return d.report(cudaErrorInvalidValue);
  cuda_emulator::submit(s, [=] { std::memset(p, value, bytes); });
  return d.report(cudaSuccess);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t s) {
  auto& d = cuda_emulator::the_device();
  if (d.fails(cuda_emulator::copying)) return d.report(cudaErrorUnknown);
  if (!to || !from) return d.report(cudaErrorInvalidValue);
  if (kind == cudaMemcpyHostToDevice) {  // pageable memory is read before the call returns
    const auto* bytes_of = static_cast<const char*>(from);
    cuda_emulator::submit(s, [to, read = std::vector<char>(bytes_of, bytes_of + bytes)] { std::memcpy(to, read.data(), read.size()); });
  } else {
    cuda_emulator::submit(s, [=] { std::memcpy(to, from, bytes); });
  }
  return d.report(cudaSuccess);
}
