// Is there a device this program can use? Asked once, answered with a text; never throws unless somebody insists on a device.
#pragma once
#ifndef __CUDACC__
#error "ttensor: run/cuda/ is for nvcc; host code includes run/device_plan.hpp, or gets its device functions from a .cu file"
#endif
#include <cuda_runtime_api.h>
#include <cstdlib>
#include <cstring>
#include "../../base/error.hpp"

TTENSOR_BEGIN

namespace gpu {  // not `cuda`: with `using namespace ttensor` that would hide or clash with CCCL's ::cuda
/// Throws device_error for a failed call of the runtime.
[[noreturn]] TTENSOR_NOINLINE inline void fail(cudaError_t e, const char* what) {
  static_cast<void>(cudaGetLastError());  // told here and now; the next launch, which may go well, asks for the last error too
  raise<device_error>(message("[device] ") + what + ": " + cudaGetErrorName(e) + ": " + cudaGetErrorString(e) + " [TT-G02]");
}
inline void check(cudaError_t e, const char* what) {
  if (TTENSOR_UNLIKELY(e != cudaSuccess)) fail(e, what);
}
template <int = 0> __global__ void nothing() {}  // a template: one definition in any number of translation units

struct status {
  int devices = 0;
  bool usable = false;
  int processors = 0;       // of device 0
  const char* why = "";     // one line; empty when usable
  char text[256] = {};
};
inline status probe_now() noexcept {
  status s;
  auto because = [&](const char* why) { return s.why = why, s; };
  if (const char* v = std::getenv("TTENSOR_DEVICE"); v && std::strcmp(v, "cpu") == 0) return because("disabled by TTENSOR_DEVICE=cpu");
  const cudaError_t e = cudaGetDeviceCount(&s.devices);
  if (e != cudaSuccess || s.devices == 0) {
    // Without a driver every later call fails too, even asking for the last error: nothing else of CUDA may run on the CPU path.
    s.devices = 0;
    int driver = 0, built = 0;
    static_cast<void>(cudaDriverGetVersion(&driver));
    static_cast<void>(cudaRuntimeGetVersion(&built));
    if (driver == 0) return because("no NVIDIA driver on this machine");
    if (e == cudaErrorInsufficientDriver)
      std::snprintf(s.text, sizeof s.text, "the NVIDIA driver supports CUDA %d.%d, this program was built with %d.%d",
                    driver / 1000, driver % 1000 / 10, built / 1000, built % 1000 / 10);
    else if (e == cudaSuccess || e == cudaErrorNoDevice) return because("no NVIDIA device on this machine");
    else std::snprintf(s.text, sizeof s.text, "%s: %s", cudaGetErrorName(e), cudaGetErrorString(e));
    return s;
  }
  cudaFuncAttributes a;  // a driver is there; was anything compiled for this chip?
  cudaError_t ready = cudaFuncGetAttributes(&a, nothing<>);
  if (ready == cudaErrorNoKernelImageForDevice || ready == cudaErrorInvalidDeviceFunction) {
    static_cast<void>(cudaGetLastError());
    return because("this program has no code for the device's architecture; compile for it (-arch, CMAKE_CUDA_ARCHITECTURES)");
  }
  if (ready == cudaSuccess) ready = cudaDeviceGetAttribute(&s.processors, cudaDevAttrMultiProcessorCount, 0);
  if (ready != cudaSuccess) {  // the device is another's, its driver too old for this program's code, its memory full...
    static_cast<void>(cudaGetLastError());
    std::snprintf(s.text, sizeof s.text, "%s: %s", cudaGetErrorName(ready), cudaGetErrorString(ready));
    return s;
  }
  s.usable = true;
  return s;
}
inline const status& probe() {  // the answer does not change while a process runs
  static const status s = probe_now();
  return s;
}
inline const char* reason(const status& s) { return s.text[0] ? s.text : s.why; }
}  // namespace gpu

/// The space of device memory: tag of tensors that live there, and what a program can ask about it.
struct device {
  static bool available() { return gpu::probe().usable; }
  /// Why not available; empty otherwise.
  static const char* why() { return gpu::reason(gpu::probe()); }
  /// device_error with the reason when there is none: for code that asks for the device explicitly.
  static void require() {
    if (TTENSOR_UNLIKELY(!available()))
      raise<device_error>(message("[device] no usable device: ") + why() + "; run on the host instead [TT-G01]");
  }
  /// Waits for everything launched so far; device_error when any of it failed.
  static void synchronize() {
    require();
    gpu::check(cudaDeviceSynchronize(), "synchronize");
  }
};

TTENSOR_END
