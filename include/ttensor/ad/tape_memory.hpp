// Memory of a tape, from the cache of blocks: a repeated gradient takes the same blocks again.
#pragma once
#include <cstring>
#include <type_traits>
#include "../mem/pool.hpp"

TTENSOR_BEGIN

/// Gives the memory of a tape back.
void give_memory(void* p, std::size_t bytes, mem::memory_resource* from) noexcept;

/// Room for a sequence, of bytes: one code for all element types. Whatever a tape keeps may be moved as bytes.
class growing_room {
 public:
  growing_room() = default;
  growing_room(const growing_room&) = delete;
  growing_room& operator=(const growing_room&) = delete;

 protected:
  ~growing_room() { release(); }
  void grow(std::size_t n, std::size_t element);  // to n elements of so many bytes
  void release() {
    if (data_) give_memory(data_, bytes_, from_);
  }
  void* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;

 private:
  std::size_t bytes_ = 0;
  mem::memory_resource* from_ = nullptr;
};
/// A sequence that grows at its end.
template <class T> class growing : public growing_room {
 public:
  ~growing() { resize(0); }
  std::size_t size() const { return size_; }
  TTENSOR_INLINE T* data() { return static_cast<T*>(data_); }
  TTENSOR_INLINE T& operator[](std::size_t i) { return data()[i]; }
  TTENSOR_INLINE const T& operator[](std::size_t i) const { return static_cast<const T*>(data_)[i]; }
  TTENSOR_INLINE T& back() { return data()[size_ - 1]; }
  template <class... A> TTENSOR_INLINE void push(A&&... a) {  // in place: a copy of a fresh pair would wait for its stores
    static_cast<void>(room(1));
    append(static_cast<A&&>(a)...);
  }
  /// The same where there is room.
  template <class... A> TTENSOR_INLINE void append(A&&... a) {
    new (static_cast<void*>(data() + size_)) T{static_cast<A&&>(a)...};
    ++size_;
  }
  TTENSOR_INLINE bool has_room(std::size_t n) const { return capacity_ - size_ >= n; }
  /// Room for n more.
  TTENSOR_INLINE T* room(std::size_t n) {
    if (TTENSOR_UNLIKELY(capacity_ - size_ < n)) grow(size_ + n, sizeof(T));
    return data() + size_;
  }
  TTENSOR_INLINE void resize(std::size_t n) {
    if constexpr (!std::is_trivially_destructible_v<T>)
      while (size_ > n) data()[--size_].~T();
    if (size_ > n) size_ = n;
  }
};

/// Objects of any type that are dropped together, or back to a mark. Whoever makes one destroys it.
class arena {
 public:
  struct mark {
    void* last = nullptr;
    char* free = nullptr;
  };

  arena() = default;
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;
  ~arena() { rewind({}); }
  /// n bytes, aligned for any number.
  char* bytes(std::size_t n) { return static_cast<char*>(take(n, 16)); }
  template <class T, class... A> T* make(A&&... a) { return new (take(sizeof(T), alignof(T))) T(static_cast<A&&>(a)...); }
  mark position() const { return {last_, free_}; }
  void rewind(const mark& m);

 private:
  struct chunk {
    chunk* earlier;
    std::size_t bytes;
  };
  void* take(std::size_t bytes, std::size_t align);
  void grow(std::size_t bytes);
  chunk* last_ = nullptr;
  char *free_ = nullptr, *end_ = nullptr;  // of the last chunk
};

#if defined(TTENSOR_BODY)
TTENSOR_BODY void give_memory(void* p, std::size_t bytes, mem::memory_resource* from) noexcept { mem::give_bytes(p, bytes, from); }
TTENSOR_BODY void growing_room::grow(std::size_t n, std::size_t element) {
  std::size_t bytes = (n > 2 * capacity_ ? n : 2 * capacity_) * element;
  if (bytes < 1024) bytes = 1024;
  mem::memory_resource* from = nullptr;
  void* p = mem::take_bytes(bytes, from);
  if (size_) std::memcpy(p, data_, size_ * element);
  release();
  data_ = p;
  bytes_ = bytes;
  capacity_ = bytes / element;
  from_ = from;
}
TTENSOR_BODY void arena::rewind(const mark& m) {
  while (last_ != m.last) {
    chunk* e = last_->earlier;
    give_memory(last_, last_->bytes, nullptr);
    last_ = e;
  }
  free_ = m.free;
  end_ = last_ ? reinterpret_cast<char*>(last_) + last_->bytes : nullptr;
}
TTENSOR_BODY void* arena::take(std::size_t bytes, std::size_t align) {
  const auto gap = [&] { return -reinterpret_cast<std::uintptr_t>(free_) & (align - 1); };
  if (TTENSOR_UNLIKELY(static_cast<std::size_t>(end_ - free_) < gap() + bytes)) grow(bytes + align);
  char* p = free_ + gap();
  free_ = p + bytes;
  return p;
}
TTENSOR_BODY void arena::grow(std::size_t bytes) {
  constexpr std::size_t first = 2048, most = std::size_t(1) << 16;
  std::size_t size = last_ ? (2 * last_->bytes < most ? 2 * last_->bytes : most) : first;
  if (size < bytes + sizeof(chunk)) size = bytes + sizeof(chunk);
  char* p = static_cast<char*>(mem::cache.take(size));
  last_ = new (static_cast<void*>(p)) chunk{last_, size};
  free_ = p + sizeof(chunk);
  end_ = p + size;
}
#endif

TTENSOR_END
