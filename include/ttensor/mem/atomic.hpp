// Words that threads share, and a mutex: of the compiler and of POSIX. <atomic> and <mutex> read the headers of clocks, strings and system errors
// with them, a tenth of a second of every file that includes arrays (g++ 12).
#pragma once
#include <pthread.h>

#include "../base/config.hpp"

TTENSOR_BEGIN
namespace mem {

enum class order : int { relaxed = __ATOMIC_RELAXED, acquire = __ATOMIC_ACQUIRE, acq_rel = __ATOMIC_ACQ_REL, seq_cst = __ATOMIC_SEQ_CST };

/// std::atomic of an integer or a pointer, as far as ttensor needs it.
template <class T> class atomic {
 public:
  constexpr atomic() noexcept : value_() {}
  constexpr atomic(T v) noexcept : value_(v) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  TTENSOR_INLINE T load(order o = order::seq_cst) const noexcept { return __atomic_load_n(&value_, static_cast<int>(o)); }
  TTENSOR_INLINE void store(T v, order o = order::seq_cst) noexcept { __atomic_store_n(&value_, v, static_cast<int>(o)); }
  TTENSOR_INLINE T exchange(T v, order o = order::seq_cst) noexcept { return __atomic_exchange_n(&value_, v, static_cast<int>(o)); }
  /// Becomes v where it is `was`; whether it did.
  TTENSOR_INLINE bool replace(T was, T v) noexcept {
    return __atomic_compare_exchange_n(&value_, &was, v, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
  }
  TTENSOR_INLINE T fetch_add(T by, order o = order::seq_cst) noexcept { return __atomic_fetch_add(&value_, by, static_cast<int>(o)); }

 private:
  alignas(sizeof(T)) T value_;
};
/// The compiler moves no access across it.
TTENSOR_INLINE void compiler_fence() noexcept { __atomic_signal_fence(__ATOMIC_ACQ_REL); }

/// std::mutex without a destructor: one that is static is there for threads that outlive static objects. Others are given back with end().
class mutex {
 public:
  constexpr mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  void lock() noexcept { static_cast<void>(pthread_mutex_lock(&m_)); }
  void unlock() noexcept { static_cast<void>(pthread_mutex_unlock(&m_)); }
  void end() noexcept { static_cast<void>(pthread_mutex_destroy(&m_)); }

 private:
  pthread_mutex_t m_ = PTHREAD_MUTEX_INITIALIZER;
};

}  // namespace mem
TTENSOR_END
