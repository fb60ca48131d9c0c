// Bytes for arrays: 64-byte aligned, from a per-thread cache of freed blocks so that repeated statements allocate nothing.
#pragma once
#include <cstdlib>
#include <new>
#include "../base/config.hpp"

TTENSOR_BEGIN
namespace mem {

/// Where blocks come from. Derive to supply pinned, shared or counted memory; blocks remember the resource they came from.
struct memory_resource {
  virtual void* allocate(std::size_t bytes) = 0;  // 64-byte aligned; throws std::bad_alloc
  virtual void deallocate(void* p, std::size_t bytes) noexcept = 0;
  virtual ~memory_resource() = default;
};

struct statistics {
  std::uint64_t blocks = 0;  // blocks handed out on this thread
  std::uint64_t system = 0;  // of these, taken from the system and not from the cache
};
inline constinit thread_local statistics stats{};
inline constinit thread_local memory_resource* default_resource = nullptr;  // null: the cache below
// Threads are numbered when they make their first block (block.hpp); 0 before and after. A number is never used again, so a block
// can name an owner that has ended.
inline constinit thread_local std::uint64_t this_thread = 0;

void give_bytes(void* p, std::size_t bytes, memory_resource* from, bool foreign = false) noexcept;

/// Freed blocks by size class (four classes an octave, so at most a fifth is wasted), at most `limit` bytes in all; of those that other threads made
/// only while it holds no more than `foreign_limit`: a thread that drops what others send it may take none again.
class block_cache {
 public:
  [[noreturn]] static void throw_bad_alloc();
  static constexpr int classes = 4 * (sizeof(std::size_t) == 8 ? 40 : 24);
  static constexpr std::size_t limit = std::size_t(192) << 20, foreign_limit = std::size_t(16) << 20, page = 4096;

  static constexpr int class_of(std::size_t bytes) {  // smallest class that holds `bytes`
    if (bytes <= 256) return static_cast<int>((bytes + 63) / 64);
    const int log = 63 - __builtin_clzll(static_cast<unsigned long long>(bytes - 1));
    return 4 * (log - 7) + static_cast<int>((bytes - 1) >> (log - 2) & 3) + 1;
  }
  static constexpr std::size_t bytes_of(int c) {
    if (c <= 4) return static_cast<std::size_t>(c) * 64;
    const int log = 7 + (c - 1) / 4;
    return (std::size_t(1) << log) + static_cast<std::size_t>((c - 1) % 4 + 1) * (std::size_t(1) << (log - 2));
  }
  static const std::size_t largest;  // that there is a class for: less than memory has
  // A load waits for an earlier store whose address differs by a multiple of a page: arrays that a statement walks in step must not lie
  // a few lines apart modulo a page, so those of one or two pages begin at the same place in theirs. Larger ones do not: transposes of
  // rows of a page would meet in the cache more often, and the wait is a smaller part of their time.
  static void* from_system(std::size_t bytes);
  void* take(std::size_t& bytes);
  /// For an object of so many bytes, which is no array and is not counted as a block. It goes back by give_object.
  template <std::size_t Bytes> void* take_object() {
    if constexpr (!TTENSOR_KEEPS_BLOCKS) return ::operator new(Bytes);
    constexpr int c = class_of(Bytes);
    link* const p = free_[c];
    if (TTENSOR_UNLIKELY(!p)) return from_system(bytes_of(c));
    free_[c] = p->next;
    held_ -= bytes_of(c);
    return p;
  }
  template <std::size_t Bytes> void give_object(void* p) noexcept {
    if constexpr (!TTENSOR_KEEPS_BLOCKS) ::operator delete(p);
    else give_bytes(p, bytes_of(class_of(Bytes)), nullptr);
  }
  inline void give(void* p, std::size_t bytes, std::size_t most = limit) noexcept;
  void trim() noexcept;

 private:
  struct link { link* next; };
  link* free_[classes]{};
  std::size_t held_ = 0;
};
inline constexpr std::size_t block_cache::largest = bytes_of(classes - 1);
inline constinit thread_local block_cache cache;

/// Bytes from the default resource of this thread; `bytes` is rounded up to what was really taken, which is whole lines of 64: a
/// register may be read and written at the start of any block that is not empty, and over its last elements.
void* take_bytes(std::size_t& bytes, memory_resource*& from);  // and back by give_bytes

#if defined(TTENSOR_BODY)
TTENSOR_BODY void block_cache::throw_bad_alloc() { TTENSOR_THROW_BAD_ALLOC(); }
TTENSOR_BODY void* block_cache::from_system(std::size_t bytes) {
  void* p = nullptr;
  if (::posix_memalign(&p, bytes < page || bytes > 2 * page + 1024 ? heap_alignment : page, bytes) != 0) throw_bad_alloc();  // aligned_alloc would want whole pages
  return p;
}
TTENSOR_BODY void* block_cache::take(std::size_t& bytes) {
  if (TTENSOR_UNLIKELY(bytes > largest)) throw_bad_alloc();
  const int c = class_of(bytes);
  bytes = bytes_of(c);
  ++stats.blocks;
  if (free_[c]) {
    link* p = free_[c];
    free_[c] = p->next;
    held_ -= bytes;
    return p;
  }
  ++stats.system;
  if (held_ + bytes > limit && bytes <= limit) trim();  // or sizes that nobody asks for any more would be held for ever, and this one never
  return from_system(bytes);
}
inline void block_cache::give(void* p, std::size_t bytes, std::size_t most) noexcept {
  if (!TTENSOR_KEEPS_BLOCKS || held_ + bytes > most || this_thread == 0) return std::free(p);  // who is not numbered would not trim at its end
  const int c = class_of(bytes);
  held_ += bytes;
  free_[c] = new (p) link{free_[c]};
}
TTENSOR_BODY void block_cache::trim() noexcept {
  for (link*& head : free_)
    while (head) {
      link* next = head->next;
      std::free(head);
      head = next;
    }
  held_ = 0;
}
TTENSOR_BODY void* take_bytes(std::size_t& bytes, memory_resource*& from) {
  from = default_resource;
  if (!from) return cache.take(bytes);
  bytes = (bytes + 63) / 64 * 64;
  ++stats.blocks;
  ++stats.system;
  return from->allocate(bytes);
}
TTENSOR_BODY void give_bytes(void* p, std::size_t bytes, memory_resource* from, bool foreign) noexcept {
  from ? from->deallocate(p, bytes) : cache.give(p, bytes, foreign ? block_cache::foreign_limit : block_cache::limit);
}
#endif

/// Bytes for the time of a block.
struct room {
  char* ptr = nullptr;
  std::size_t bytes = 0;
  memory_resource* from = nullptr;
  room() = default;
  explicit room(std::size_t n) { take(n); }
  room(const room&) = delete;
  ~room() { drop(); }
  void take(std::size_t n) {
    drop();
    bytes = n;
    ptr = static_cast<char*>(take_bytes(bytes, from));
  }

 private:
  void drop() {
    if (ptr) give_bytes(ptr, bytes, from);
    ptr = nullptr;
  }
};

}  // namespace mem
TTENSOR_END
