// Threads for array statements: how many a statement may use, and the two calls that hand work to OpenMP or oneTBB.
// Nothing but this header knows which of them it is. Built with neither, everything runs on the calling thread.
// TTENSOR_USE_STD_THREADS starts a std::thread for every piece: slow, but a thread sanitizer sees all of it.
#pragma once
#include "../base/error.hpp"

#if defined(TTENSOR_USE_TBB)
#include <optional>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>
#elif defined(TTENSOR_USE_STD_THREADS)
#include <thread>
#elif defined(TTENSOR_USE_OPENMP) && !defined(_OPENMP)
#error "ttensor: TTENSOR_USE_OPENMP is defined, but the compiler's OpenMP is off; compile with -fopenmp, or link the CMake target ttensor::threads"
#elif defined(TTENSOR_USE_OPENMP)
#include <omp.h>
#endif

TTENSOR_BEGIN

namespace run {
#if defined(TTENSOR_USE_TBB)
inline constexpr const char* threads_from = "oneTBB";
#elif defined(TTENSOR_USE_OPENMP)
inline constexpr const char* threads_from = "OpenMP";
#elif defined(TTENSOR_USE_STD_THREADS)
inline constexpr const char* threads_from = "std::thread";
#else
inline constexpr const char* threads_from = nullptr;
#endif
inline constexpr bool has_threads = threads_from != nullptr;

inline constinit thread_local int threads_here = 1;  // that a statement of this thread may use
struct thread_statistics {
  std::uint64_t regions = 0, forks = 0;  // statements that used threads; pieces they were cut into, less one each
};
inline constinit thread_local thread_statistics thread_stats{};

/// Sets the number for the time of a block.
class thread_scope {
 public:
  explicit thread_scope(int n) : before_(threads_here) { threads_here = n; }
  thread_scope(const thread_scope&) = delete;
  ~thread_scope() { threads_here = before_; }

 private:
  int before_;
};

/// Work (elements times the cost of one) below which a second thread does not pay: some ten microseconds.
inline constexpr index_t least_work = index_t(1) << 19;
/// Threads for a statement of this much work. 1 inside a piece of another statement.
inline int threads_for(index_t work) {
  if constexpr (!has_threads) return static_cast<void>(work), 1;
#if defined(TTENSOR_USE_OPENMP)
  if (omp_get_active_level() >= omp_get_max_active_levels()) return 1;  // in a region of the program's own: OpenMP would give one
#endif
  const index_t most = work / least_work;
  return most < threads_here ? static_cast<int>(most > 1 ? most : 1) : threads_here;
}

#if defined(TTENSOR_USE_TBB)
inline tbb::task_arena& arena(int n) {  // of this thread; the calling thread takes part
  static thread_local std::optional<tbb::task_arena> mine;
  static thread_local int size = 0;
  if (size != n) {
    mine.emplace(n);
    size = n;
  }
  return *mine;
}
#elif defined(TTENSOR_USE_OPENMP) || defined(TTENSOR_USE_STD_THREADS)
template <class F> void guarded(F& f, std::exception_ptr& failed) {  // nothing may be thrown out of a task
#if defined(__cpp_exceptions)
  try {
    f();
  } catch (...) {
    failed = std::current_exception();
  }
#else
  static_cast<void>(failed);
  f();
#endif
}
inline void rethrow(const std::exception_ptr& failed) {
  if (TTENSOR_UNLIKELY(failed != nullptr)) std::rethrow_exception(failed);
}
#endif

/// Runs f() on this thread; `n` threads in all run the pieces that it forks.
template <class F> void with_team(int n, F&& f) {
  ++thread_stats.regions;
  auto alone = [&] {
    const thread_scope one(1);
    f();
  };
#if defined(TTENSOR_USE_TBB)
  arena(n).execute(alone);
#elif defined(TTENSOR_USE_OPENMP)
  std::exception_ptr failed;
#pragma omp parallel num_threads(n)
#pragma omp masked
  guarded(alone, failed);
  rethrow(failed);
#else
  static_cast<void>(n);
  alone();
#endif
}
/// Runs a() and b(), at the same time if a thread of the team is free. What one throws is thrown here, after both.
template <class A, class B> void fork(A&& a, B&& b) {
  ++thread_stats.forks;
  auto other = [&] {
    const thread_scope one(1);
    b();
  };
#if defined(TTENSOR_USE_TBB)
  tbb::parallel_invoke(a, other);
#elif defined(TTENSOR_USE_OPENMP)
  std::exception_ptr failed, failed_too;
#pragma omp task default(shared)
  guarded(other, failed_too);
  guarded(a, failed);
#pragma omp taskwait
  rethrow(failed);
  rethrow(failed_too);
#elif defined(TTENSOR_USE_STD_THREADS)
  std::exception_ptr failed, failed_too;
  std::thread helper([&] { guarded(other, failed_too); });
  guarded(a, failed);
  helper.join();
  rethrow(failed);
  rethrow(failed_too);
#else
  a();
  other();
#endif
}
/// f(first, last) of parts that cover the range, cut at multiples of `unit` after its begin; at most `tasks` of them.
template <class F> void in_parts(index_t first, index_t last, index_t unit, int tasks, const F& f) {
  const index_t half = (last - first) / 2 / unit * unit;
  if (tasks <= 1 || half == 0) return f(first, last);
  fork([&] { in_parts(first, first + half, unit, tasks / 2, f); },
       [&] { in_parts(first + half, last, unit, tasks - tasks / 2, f); });
}
}  // namespace run

/// How many threads array statements may use, for `with`.
struct threads {
  int count;
};
/// The number of threads that array statements of the calling thread may use; 1 until it is set. Results do not depend on it, to
/// the last bit, and small statements use one thread whatever it is. Needs the CMake component ttensor::threads
/// (TTENSOR_USE_OPENMP or TTENSOR_USE_TBB): without it the number is kept and one thread does the work.
inline int num_threads() { return run::threads_here; }
/// Sets it for the calling thread, and for no other. Throws domain_error [TT-D11] when n < 1.
inline void set_num_threads(int n) {
  if (n < 1) raise<domain_error>("[threads] " + to_message(n) + " threads; a statement needs at least 1 [TT-D11]");
  run::threads_here = n;
}
/// Calls f() with that many threads for the statements inside, and sets the number back, also when f throws.
/// Example   auto y = with(threads{4}, [&] { return eval(exp(x)); });
template <class F> decltype(auto) with(threads n, F&& f) {
  const run::thread_scope back(run::threads_here);
  set_num_threads(n.count);
  return static_cast<F&&>(f)();
}

TTENSOR_END
