// Memory of a tape, from the cache of blocks: a repeated gradient takes the same blocks again.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include "../mem/pool.hpp"

TTENSOR_BEGIN

/// A sequence that grows at its end.
template <class T> class growing {
 public:
  growing() = default;
  growing(const growing&) = delete;
  growing& operator=(const growing&) = delete;
  ~growing() {
    resize(0);
    release();
  }
  std::size_t size() const { return size_; }
  TTENSOR_INLINE T& operator[](std::size_t i) { return data_[i]; }
  TTENSOR_INLINE const T& operator[](std::size_t i) const { return data_[i]; }
  TTENSOR_INLINE T& back() { return data_[size_ - 1]; }
  template <class... A> TTENSOR_INLINE void push(A&&... a) {  // in place: a copy of a fresh pair would wait for its stores
    if (TTENSOR_UNLIKELY(size_ == capacity_)) grow(size_ + 1);
    new (static_cast<void*>(data_ + size_)) T{static_cast<A&&>(a)...};
    ++size_;
  }
  TTENSOR_INLINE T* data() { return data_; }
  /// Room for n more; what is constructed there counts after added(n), or end_with.
  TTENSOR_INLINE T* room(std::size_t n) {
    if (TTENSOR_UNLIKELY(capacity_ - size_ < n)) grow(size_ + n);
    return data_ + size_;
  }
  TTENSOR_INLINE void added(std::size_t n) { size_ += n; }
  /// Element i, for which there is room, becomes v and the last one.
  TTENSOR_INLINE void end_with(std::size_t i, const T& v) requires std::is_trivially_copyable_v<T> {
    data_[i] = v;
    size_ = i + 1;
  }
  TTENSOR_INLINE void resize(std::size_t n) {
    if constexpr (!std::is_trivially_destructible_v<T>)
      while (size_ > n) data_[--size_].~T();
    if (size_ > n) size_ = n;
  }
  void resize(std::size_t n, const T& v) {
    if (n > capacity_) grow(n);
    resize(n);
    std::uninitialized_fill(data_ + size_, data_ + n, v);
    size_ = n;
  }

 private:
  TTENSOR_NOINLINE void grow(std::size_t n) {
    std::size_t bytes = (n > 2 * capacity_ ? n : 2 * capacity_) * sizeof(T);
    if (bytes < 1024) bytes = 1024;
    mem::memory_resource* from = nullptr;
    T* p = static_cast<T*>(mem::take_bytes(bytes, from));
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (size_) std::memcpy(static_cast<void*>(p), data_, size_ * sizeof(T));
    } else {
      for (std::size_t i = 0; i < size_; ++i) {
        new (static_cast<void*>(p + i)) T(static_cast<T&&>(data_[i]));
        data_[i].~T();
      }
    }
    release();
    data_ = p;
    bytes_ = bytes;
    capacity_ = bytes / sizeof(T);
    from_ = from;
  }
  void release() {
    if (data_) mem::give_bytes(data_, bytes_, from_);
  }
  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0, bytes_ = 0;
  mem::memory_resource* from_ = nullptr;
};

/// Objects of any type that are dropped together, or back to a mark. Whoever makes one destroys it.
class arena {
 public:
  struct destroy {
    template <class T> void operator()(T* p) const { p->~T(); }
  };
  template <class T> using ptr = std::unique_ptr<T, destroy>;
  using mark = std::pair<void*, char*>;

  arena() = default;
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;
  ~arena() { rewind({}); }
  template <class T, class... A> ptr<T> make(A&&... a) { return ptr<T>(new (take(sizeof(T), alignof(T))) T(static_cast<A&&>(a)...)); }
  mark position() const { return {last_, free_}; }
  void rewind(const mark& m) {
    while (last_ != m.first) {
      chunk* e = last_->earlier;
      mem::cache.give(last_, last_->bytes);
      last_ = e;
    }
    free_ = m.second;
    end_ = last_ ? reinterpret_cast<char*>(last_) + last_->bytes : nullptr;
  }

 private:
  struct chunk {
    chunk* earlier;
    std::size_t bytes;
  };
  void* take(std::size_t bytes, std::size_t align) {
    const auto gap = [&] { return -reinterpret_cast<std::uintptr_t>(free_) & (align - 1); };
    if (TTENSOR_UNLIKELY(static_cast<std::size_t>(end_ - free_) < gap() + bytes)) grow(bytes + align);
    char* p = free_ + gap();
    free_ = p + bytes;
    return p;
  }
  TTENSOR_NOINLINE void grow(std::size_t bytes) {
    constexpr std::size_t first = 2048, most = std::size_t(1) << 16;
    std::size_t size = last_ ? std::min(2 * last_->bytes, most) : first;
    if (size < bytes + sizeof(chunk)) size = bytes + sizeof(chunk);
    char* p = static_cast<char*>(mem::cache.take(size));
    last_ = new (static_cast<void*>(p)) chunk{last_, size};
    free_ = p + sizeof(chunk);
    end_ = p + size;
  }
  chunk* last_ = nullptr;
  char *free_ = nullptr, *end_ = nullptr;  // of the last chunk
};

TTENSOR_END
