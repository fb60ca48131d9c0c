// An emulator of the CUDA runtime, so far as ttensor uses it: the library's device code, compiled as plain C++, runs on the host.
//
// What it emulates
//   streams    Work is queued and runs when somebody waits for it, as late as the rules allow: what was ordered by luck alone is not. The default
//              stream waits for the blocking streams and they for it (CUDA's "legacy" default stream); non-blocking streams wait for events only.
//   memory     comes and goes in the order of a stream. Before and after, and between a block's end and the next multiple of 256 bytes, it is poisoned
//              (AddressSanitizer stops at any touch); new memory holds 0xA5, also where it was written before its turn.
//   kernels    Blocks run one after another in random order. The threads of a block are fibers: each runs up to its next barrier or shuffle, a warp at a
//              time and its threads in random order, one warp or another left behind as far as barriers allow. A barrier that not all reach ends the program.
//   errors     Any allocation, launch, memset, copy or event can be made to fail (device::fail_at); the last error stays until it is asked for, as CUDA's.
//   machines   no driver, no device, an old driver, no code for the device: the members of `device`; the first of them also by EMULATED_GPU=none.
//
// What it cannot show
//   the order in which memory becomes visible: fibers see every store at once, so a missing __threadfence or an L1 line that is stale goes unnoticed;
//   blocks that run at the same time, and threads of a warp that really run in step; what nvcc makes of the code, its layout of kernel arguments, its
//   mathematical functions, its fused multiply-adds; whether a host function was called from a kernel; how fast anything is.
#pragma once
#define CUDA_EMULATOR 1
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)  // g++
#define CUDA_EMULATOR_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)  // clang
#define CUDA_EMULATOR_SANITIZED 1
#endif
#endif
#if defined(CUDA_EMULATOR_SANITIZED)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInsufficientDriver = 35,
  cudaErrorDevicesUnavailable = 46,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorNotSupported = 801,
  cudaErrorUnknown = 999
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
inline dim3 gridDim, blockDim, blockIdx, threadIdx;

namespace cuda_emulator {

inline constexpr unsigned warp_size = 32, most_threads = 1024;
inline constexpr std::size_t stack_bytes = 1 << 16;

struct stream {
  std::deque<std::function<void()>> work;
  bool blocking = true;
  void run_next() {
    const auto next = std::move(work.front());
    work.pop_front();
    next();
  }
  void run_all() {
    while (!work.empty()) run_next();
  }
};

struct barrier {
  unsigned arrived = 0, passed = 0;
};
/// One thread of the block that runs.
struct fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack{new char[stack_bytes]};
  void* fake_stack = nullptr;  // AddressSanitizer's
  bool ended = false;
  const barrier* waits_for = nullptr;
  unsigned passed_before = 0;  // of that barrier
  unsigned shuffles = 0;
  std::array<std::array<char, 8>, 2> shown{};  // to the others of its warp, in shuffles of even and odd number: nobody is two ahead of another
  bool can_run() const { return !ended && (!waits_for || waits_for->passed != passed_before); }
};

enum call { allocate, launching, zero, copying, event, call_count };

/// The device, its machine, and what a test may choose.
struct device {
  // the machine
  int devices = 1, driver_version = 13000, runtime_version = 13000, processors = 2;
  cudaError_t count_error = cudaSuccess, code_error = cudaSuccess, attribute_error = cudaSuccess, pool_error = cudaSuccess;
  // failures: the fail_at[k]-th call of kind k from when `made` was 0
  std::array<long, call_count> made{}, fail_at{};
  cudaError_t last_error = cudaSuccess;
  // memory, by its address; what is not here was freed, or its freeing is queued
  std::map<void*, std::size_t> memory;
  stream default_stream;
  std::vector<stream*> streams;
  std::mt19937 random{1};  // a test may seed it
  long exchanges = 0;      // calls of __shfl_xor_sync, by threads
  std::vector<std::unique_ptr<fiber>> fibers;

  device() {
    if (const char* wanted = std::getenv("EMULATED_GPU"); wanted && std::string_view(wanted) == "none") remove_driver();
  }
  void remove_driver() { devices = 0, driver_version = 0, count_error = cudaErrorInsufficientDriver; }
  /// The result of a call.
  cudaError_t report(cudaError_t e) {
    if (driver_version == 0) e = cudaErrorInsufficientDriver;
    if (e != cudaSuccess) last_error = e;
    return e;
  }
  bool fails(call kind) { return ++made[kind] == fail_at[kind]; }
  unsigned below(std::size_t n) { return static_cast<unsigned>(random() % n); }
};
inline device& the_device() {
  static device& one = *new device;  // is never destroyed: arrays of static duration may be freed later
  return one;
}
[[noreturn]] inline void stop(const char* why) {
  std::fprintf(stderr, "CUDA emulator: %s\n", why);
  std::abort();
}

inline void hide(void* p, std::size_t bytes) {
#if defined(CUDA_EMULATOR_SANITIZED)
  __asan_poison_memory_region(p, bytes);
#else
  static_cast<void>(p), static_cast<void>(bytes);
#endif
}
inline void show(void* p, std::size_t bytes) {
#if defined(CUDA_EMULATOR_SANITIZED)
  __asan_unpoison_memory_region(p, bytes);
#else
  static_cast<void>(p), static_cast<void>(bytes);
#endif
}

// ---- streams -------------------------------------------------------------------------------------------------------------
inline void run_blocking_streams() {
  for (stream* s : the_device().streams)
    if (s->blocking) s->run_all();
}
inline stream& queue_of(stream* s) { return s ? *s : the_device().default_stream; }
/// Queues work; nullptr is the default stream.
inline void submit(stream* s, std::function<void()> work) {
  if (!s) run_blocking_streams();
  else if (s->blocking) the_device().default_stream.run_all();
  queue_of(s).work.push_back(std::move(work));
}
inline void wait(stream* s) {
  if (!s) run_blocking_streams();
  queue_of(s).run_all();
}
struct event_state {
  stream* recorded_on = nullptr;
  bool happened = true;
  void wait() const {
    while (!happened) queue_of(recorded_on).run_next();
  }
};

// ---- the threads of a block ------------------------------------------------------------------------------------------------
struct block {
  const std::function<void()>& body;
  const unsigned threads;
  std::vector<unsigned> alive_in_warp;
  std::vector<barrier> warp_barrier;
  barrier all;
  unsigned alive, current = 0;
  ucontext_t scheduler{};
  void* scheduler_fake_stack = nullptr;
  const void* scheduler_stack = nullptr;
  std::size_t scheduler_stack_bytes = 0;

  block(const std::function<void()>& f, unsigned n)
      : body(f), threads(n), alive_in_warp((n + warp_size - 1) / warp_size), warp_barrier(alive_in_warp.size()), alive(n) {
    for (unsigned t = 0; t < n; ++t) ++alive_in_warp[t / warp_size];
  }
  fiber& of(unsigned thread) const { return *the_device().fibers[thread]; }
  void open_if_complete(barrier& b, unsigned expected) {
    if (b.arrived != 0 && b.arrived == expected) b.arrived = 0, ++b.passed;
  }
  void pass(barrier& b, unsigned expected) {
    fiber& me = of(current);
    me.waits_for = &b, me.passed_before = b.passed;
    ++b.arrived;
    open_if_complete(b, expected);
    if (!me.can_run()) to_scheduler();
    me.waits_for = nullptr;
  }
  void to_scheduler() {
    fiber& me = of(current);
#if defined(CUDA_EMULATOR_SANITIZED)
    __sanitizer_start_switch_fiber(me.ended ? nullptr : &me.fake_stack, scheduler_stack, scheduler_stack_bytes);
#endif
    swapcontext(&me.context, &scheduler);
#if defined(CUDA_EMULATOR_SANITIZED)
    __sanitizer_finish_switch_fiber(me.fake_stack, &scheduler_stack, &scheduler_stack_bytes);
#endif
  }
  void to_thread(unsigned thread) {
    fiber& next = of(thread);
    current = thread;
    threadIdx = dim3(thread);
#if defined(CUDA_EMULATOR_SANITIZED)
    __sanitizer_start_switch_fiber(&scheduler_fake_stack, next.stack.get(), stack_bytes);
#endif
    swapcontext(&scheduler, &next.context);
#if defined(CUDA_EMULATOR_SANITIZED)
    __sanitizer_finish_switch_fiber(scheduler_fake_stack, nullptr, nullptr);
#endif
  }
  void thread_main() {
#if defined(CUDA_EMULATOR_SANITIZED)
    __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack, &scheduler_stack_bytes);
#endif
    body();
    const unsigned warp = current / warp_size;
    of(current).ended = true;
    --alive, --alive_in_warp[warp];
    open_if_complete(all, alive);  // who has returned is no longer waited for
    open_if_complete(warp_barrier[warp], alive_in_warp[warp]);
    to_scheduler();
  }
  void run();
};
inline block* running = nullptr;
inline void thread_entry() { running->thread_main(); }

inline void block::run() {
  device& d = the_device();
  while (d.fibers.size() < threads) d.fibers.push_back(std::make_unique<fiber>());
  for (unsigned t = 0; t < threads; ++t) {
    fiber& f = of(t);
    f.ended = false, f.fake_stack = nullptr, f.waits_for = nullptr, f.shuffles = 0;
    show(f.stack.get(), stack_bytes);
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.get(), f.context.uc_stack.ss_size = stack_bytes, f.context.uc_link = nullptr;
    makecontext(&f.context, thread_entry, 0);
  }
  running = this;
  const unsigned warps = static_cast<unsigned>(alive_in_warp.size());
  unsigned slow = warps, slow_for = 0;  // a warp that runs only when no other can; `warps`: none
  std::vector<unsigned> ready;
  while (alive > 0) {
    if (slow_for-- == 0) slow_for = d.below(60), slow = d.below(3) == 0 ? warps : d.below(2) ? 0 : d.below(warps);
    ready.clear();
    bool slow_is_ready = false;
    for (unsigned w = 0; w < warps; ++w)
      for (unsigned t = w * warp_size; t < std::min(threads, (w + 1) * warp_size); ++t)
        if (of(t).can_run()) {
          if (w == slow) slow_is_ready = true;
          else ready.push_back(w);
          break;
        }
    if (ready.empty() && slow_is_ready) ready.push_back(slow);
    if (ready.empty()) stop("a barrier that not all threads of the block reach");
    const unsigned warp = ready[d.below(ready.size())], step = 2 * d.below(warp_size / 2) + 1, first = d.below(warp_size);
    unsigned turns = d.below(8) == 0 ? 1 : warp_size;  // a thread on its own now and then
    for (unsigned k = 0; k < warp_size && turns > 0; ++k) {
      const unsigned t = warp * warp_size + (k * step + first) % warp_size;
      if (t < threads && of(t).can_run()) to_thread(t), --turns;
    }
  }
  running = nullptr;
}

inline void sync_threads() { running->pass(running->all, running->alive); }
inline void sync_warp() {
  const unsigned warp = running->current / warp_size;
  running->pass(running->warp_barrier[warp], running->alive_in_warp[warp]);
}
inline unsigned lane() { return running->current % warp_size; }
/// The value of thread `from` of the warp, after all have shown theirs; its own where there is no such thread.
template <class T> T shuffle(T value, unsigned from) {
  static_assert(sizeof(T) <= 8);
  const unsigned me = running->current;
  const unsigned turn = running->of(me).shuffles++ % 2;
  std::memcpy(running->of(me).shown[turn].data(), &value, sizeof value);
  sync_warp();
  if (from < warp_size) std::memcpy(&value, running->of(me - me % warp_size + from).shown[turn].data(), sizeof value);
  return value;
}

// ---- launches: kernel<<<grid, block, shared, stream>>>(arguments...) ---------------------------------------------------------
struct configuration {
  dim3 grid, block;
  std::size_t shared = 0;
  cuda_emulator::stream* stream = nullptr;
};
/// What launches.py writes for it. As there, the result is the last error.
template <class Kernel, class... Arguments> void launch(const configuration& c, Kernel kernel, const Arguments&... arguments) {
  static_assert((std::is_trivially_copyable_v<Arguments> && ...), "arguments of a kernel are copied byte by byte");
  static_assert((sizeof(Arguments) + ... + 0) <= 32764, "arguments of a kernel take at most 32,764 bytes");
  device& d = the_device();
  const dim3 g = c.grid, b = c.block;
  const bool possible = g.x > 0 && g.x <= 2147483647u && g.y == 1 && g.z == 1 && b.x > 0 && b.x <= most_threads && b.y == 1 && b.z == 1;
  if (d.report(d.fails(launching) || !possible ? cudaErrorInvalidConfiguration : cudaSuccess) != cudaSuccess) return;
  submit(c.stream, [g, b, kernel, copies = std::tuple<Arguments...>(arguments...)] {
    std::vector<unsigned> order(g.x);
    for (unsigned k = 0; k < g.x; ++k) order[k] = k;
    std::shuffle(order.begin(), order.end(), the_device().random);
    gridDim = g, blockDim = b;
    const std::function<void()> body = [&] { std::apply(kernel, copies); };
    for (unsigned k : order) {
      blockIdx = dim3(k);
      block(body, b.x).run();
    }
  });
}

}  // namespace cuda_emulator
