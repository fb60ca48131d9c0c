// Holds of blocks: how leaves, trees and tapes keep elements alive, and drop many at once.
#pragma once
#include "block.hpp"

TTENSOR_BEGIN
namespace mem {

/// What can be held beside blocks: anything with a count of its own.
struct counted {
  atomic<std::int32_t> holders = 1;
  void (*destroy)(counted*) noexcept;
};
/// One hold as a word, so that moving it is copying a word and dropping many is one call: the pointer to a block for a hold that its
/// owner counts, with a mark for all others.
using hold = std::uintptr_t;
inline constexpr hold shared_hold = 1, counted_hold = 2, no_hold = 4, hold_marks = 7;
TTENSOR_INLINE block* block_of(hold h) { return reinterpret_cast<block*>(h & ~hold_marks); }
/// Where its elements are. In integers: a tensor that never had elements has no block.
TTENSOR_INLINE void* elements_of(hold h) { return reinterpret_cast<void*>((h & ~hold_marks) + sizeof(block)); }
TTENSOR_INLINE block* block_before(const void* elements) {
  return reinterpret_cast<block*>(reinterpret_cast<std::uintptr_t>(elements) - sizeof(block));
}

/// One more hold that all threads count.
hold hold_shared(block* b) noexcept;
/// One more of the elements of the cell in `home`, or no_hold for null.
hold hold_rarely(const block* home) noexcept;
/// One holder of a block. Copies and moves freely; may be dropped on any thread.
class block_ref {
 public:
  block_ref() = default;
  /// Acquires, beside a holder that `counted_by` counts.
  block_ref(block* b, std::uint64_t counted_by) : b_(b), local_(b && counted_by == this_thread) {
    if (TTENSOR_LIKELY(local_)) b->set_local(b->local + 1);
    else if (b) hold_shared(b);
  }
  explicit block_ref(hold h) : block_ref(block_of(h), counter(block_of(h), (h & shared_hold) == 0)) {}
  block_ref(const block_ref& o) : block_ref(o.b_, counter(o.b_, o.local_)) {}
  block_ref(block_ref&& o) noexcept : b_(o.b_), local_(o.local_) { o.b_ = nullptr; }
  block_ref& operator=(block_ref o) noexcept {
    block* b = b_;
    const bool l = local_;
    b_ = o.b_;
    local_ = o.local_;
    o.b_ = b;
    o.local_ = l;
    return *this;
  }
  TTENSOR_INLINE ~block_ref() {
    if (b_) drop(b_, local_);
  }
  block* get() const { return b_; }
  /// Its hold, which it keeps.
  TTENSOR_INLINE hold word() const noexcept { return b_ ? reinterpret_cast<hold>(b_) | (local_ ? 0 : shared_hold) : no_hold; }
  /// Gives its hold away.
  TTENSOR_INLINE hold release() noexcept {
    const hold h = word();
    b_ = nullptr;
    return h;
  }
  bool is_local() const { return local_; }

  static void drop(block* b, bool local) noexcept;

 private:
  static std::uint64_t counter(const block* b, bool local) { return b && local ? b->owner : nobody; }
  block* b_ = nullptr;
  bool local_ = false;
};

/// One more that this thread, their owner, counts.
TTENSOR_INLINE hold hold_counted(block* b) noexcept {
  b->set_local(b->local + 1);
  return reinterpret_cast<hold>(b);
}
/// One more, beside a holder that `counted_by` counts.
TTENSOR_INLINE hold hold_block(block* b, std::uint64_t counted_by) noexcept {
  return TTENSOR_UNLIKELY(counted_by != this_thread) ? hold_shared(b) : hold_counted(b);
}
/// The hold of a leaf inside a tree, which the root of the tree counts and drops. Its copy is written out so that expressions are
/// copied member by member: as blocks of bytes they would be read in pieces wider than they were just written in, and every such
/// read waits for the stores.
struct bare_hold {
  hold word = no_hold;
  bare_hold() = default;
  TTENSOR_INLINE bare_hold(hold h) : word(h) {}
  TTENSOR_INLINE bare_hold(const bare_hold& o) : word(o.word) {}
  TTENSOR_INLINE bare_hold& operator=(const bare_hold& o) {
    word = o.word;
    return *this;
  }
  TTENSOR_INLINE block* get() const { return block_of(word); }
};
void drop_other_hold(hold h) noexcept;
TTENSOR_INLINE void drop_unmarked(hold h) noexcept {
  block* b = reinterpret_cast<block*>(h);
  if (TTENSOR_LIKELY(b->owner == this_thread)) {
    const std::int64_t n = b->local - 1;
    if (TTENSOR_LIKELY(n != 0)) return b->set_local(n);
  }
  drop_other_hold(h);
}
TTENSOR_INLINE void drop_hold(hold h) noexcept {
  if (TTENSOR_LIKELY((h & hold_marks) == 0)) drop_unmarked(h);
  else drop_other_hold(h);
}
/// Several holds of one block. Count: a number, or a constant, which takes no room.
template <class Count> struct holds_of {
  hold word;
  [[no_unique_address]] Count count{};
  TTENSOR_INLINE bool is_plain() const { return reinterpret_cast<block*>(word)->owner == this_thread; }  // of a word without marks
  TTENSOR_INLINE std::int64_t count_down() const {  // below 0: they were the last
    block* b = reinterpret_cast<block*>(word);
    const std::int64_t n = b->local - count;
    b->set_local(n);
    return n - 1;
  }
};
using holds = holds_of<std::int64_t>;
using one_hold = holds_of<std::integral_constant<std::int64_t, 1>>;
/// last: a bit for every hold that was the last, the newest hold's being 1, when all are counted down; else below 0. What was counted down
/// stays so: a thread that found itself alone with a block since then may have freed it.
void drop_each_slowly(const holds* h, int n, std::int64_t last) noexcept;
/// Few holds, by value: a tree that passes them keeps no memory. All that is not common leaves by one
/// exit, so that the rest saves no registers.
template <class... H> TTENSOR_NOINLINE void drop_each(H... h) noexcept {
  compiler_fence();
  std::int64_t last = -1;
  if (TTENSOR_LIKELY(((h.word | ...) & hold_marks) == 0) && (TTENSOR_LIKELY(h.is_plain()) && ...)) {
    last = 0;
    ((last = 2 * last + static_cast<std::int64_t>(static_cast<std::uint64_t>(h.count_down()) >> 63)), ...);
    if (TTENSOR_LIKELY(last == 0)) return;
  }
  const holds all[] = {{h.word, h.count}...};
  drop_each_slowly(all, sizeof...(H), last);
}
template <int... I> TTENSOR_INLINE void drop_array(const hold* h, std::integer_sequence<int, I...>) noexcept {
  drop_each(one_hold{h[I]}...);
}
void drop_holds(const hold* h, int n) noexcept;
/// Takes the same thing once more.
hold hold_again(hold h) noexcept;

#if defined(TTENSOR_BODY)
TTENSOR_BODY void block_ref::drop(block* b, bool local) noexcept {
  if (!b) return;
  if (!local) release_shared(b);
  else if (TTENSOR_LIKELY(b->owner == this_thread)) release_local(b);
  else release_foreign(b);
}
TTENSOR_BODY hold hold_shared(block* b) noexcept {
  count(b->shared, std::int64_t(1));
  return reinterpret_cast<hold>(b) | mem::shared_hold;
}
TTENSOR_BODY hold hold_rarely(const block* home) noexcept { return home ? hold_shared(home->current) : no_hold; }
TTENSOR_BODY void drop_other_hold(hold h) noexcept {
  void* p = reinterpret_cast<void*>(h & ~hold_marks);
  if (h & counted_hold) {
    counted* c = static_cast<counted*>(p);
    if (count(c->holders, -1) == 1) c->destroy(c);
  } else if (p) {
    block_ref::drop(static_cast<block*>(p), (h & shared_hold) == 0);
  }
}
TTENSOR_BODY void drop_each_slowly(const holds* h, int n, std::int64_t last) noexcept {
  if (last >= 0) {
    for (int i = n; last; last >>= 1, --i)
      if (last & 1) release_shared(block_of(h[i - 1].word));
    return;
  }
  for (int i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < h[i].count; ++k) drop_other_hold(h[i].word);
}
TTENSOR_BODY void drop_holds(const hold* h, int n) noexcept {
  compiler_fence();
  for (int i = 0, m = 1; i < n; i += m) {
    for (m = 1; i + m < n && h[i + m] == h[i];) ++m;  // an array that a statement names several times
    block* b = block_of(h[i]);
    if (m > 1 && (h[i] & hold_marks) == 0 && b->owner == this_thread)
      b->set_local(b->local - (m - 1));
    else
      for (int k = 1; k < m; ++k) drop_hold(h[i]);
    drop_hold(h[i]);
  }
}
TTENSOR_BODY hold hold_again(hold h) noexcept {
  if (h & counted_hold) return count(reinterpret_cast<counted*>(h & ~hold_marks)->holders, 1), h;
  block* b = block_of(h);
  return b ? hold_block(b, h & shared_hold ? nobody : b->owner) : h;
}
#endif

}  // namespace mem
TTENSOR_END
