// Reference-counted blocks of elements, and cells: the identity that a tensor shares with its views.
//
// A *block* is bytes with holders. A *value* (leaf of an expression, copy, tape) holds a block; a write to a block that
// somebody else holds goes to a fresh copy. A *cell* names "the elements of this tensor now": the tensor and its views
// share it, and it moves to another block when a write has to detach from values.
//
// Counting is biased (Choi, Shull, Torrellas, "Biased reference counting", PACT 2018): holders made on the thread that
// allocated the block are counted in `local` with plain loads and stores, all others in `shared` atomically, and all
// local holders together count one in `shared`. Building and dropping an expression over live tensors therefore does no
// atomic read-modify-write. A local holder that dies on another thread is posted to the owner's mailbox.
#pragma once
#include <atomic>
#include <mutex>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif
#include "pool.hpp"

TTENSOR_BEGIN
namespace mem {

/// True only while the process has one thread, as far as the C library says so (glibc 2.32 and later): counts need no locked instruction then.
TTENSOR_INLINE bool one_thread() {
#if __has_include(<sys/single_threaded.h>)
  return __libc_single_threaded != 0;
#else
  return false;
#endif
}

struct block {
  std::atomic<std::int64_t> shared;  // holders elsewhere, + 1 while there are local ones, + 1 while the cell below lives
  std::int64_t local;                // holders of the owner thread; only that thread writes it
  std::uint64_t owner;               // thread_id() of the allocating thread
  std::size_t bytes;                 // of the whole allocation
  memory_resource* from;
  block* current;                    // cell part: where the elements are now
  std::atomic<std::int64_t> cell_holders;  // cell part: the tensor and its views
  std::uint64_t current_is_local;          // cell part: how the cell holds `current`
  void* data() { return this + 1; }

  std::int64_t seen_local() const { return __atomic_load_n(&local, __ATOMIC_ACQUIRE); }  // from any thread
  // The owner reads its count plainly, since nobody else writes it. It writes it plainly too where such a store is one store and ordered
  // after what was read before: an atomic one is a barrier, and the compiler would load again whatever a statement knows of its arrays.
  TTENSOR_INLINE void set_local(std::int64_t n) {
#if TTENSOR_PLAIN_COUNTS
    *const_cast<volatile std::int64_t*>(&local) = n;  // one store, never two and never none
#else
    __atomic_store_n(&local, n, __ATOMIC_RELEASE);
#endif
  }
};
static_assert(sizeof(block) == 64, "block headers keep the data 64-byte aligned");

inline std::atomic<std::uint64_t> last_thread_id{0};

/// Local holders that died on other threads, waiting for the owner; after the owner ended they are settled at once.
struct mailboxes {
  struct letter { block* about; letter* next; };
  struct box { std::uint64_t owner; letter* posted; box* next; };
  std::mutex lock;
  box* open = nullptr;
  std::atomic<std::uint64_t> pending{0};  // cheap hint that some box is not empty
  box** find(std::uint64_t owner) {  // where the list names the box; under the lock
    box** at = &open;
    while (*at && (*at)->owner != owner) at = &(*at)->next;
    return at;
  }
};
/// There before any code runs, and there to the end: threads may outlive static objects. So nothing may destroy the mutex at exit.
inline constinit mailboxes mail;
static_assert(std::is_trivially_destructible_v<mailboxes>, "ttensor: on this system a mutex ends with the static objects, and threads may outlive it; such systems are not supported yet");
void destroy(block* b) noexcept;
inline void release_shared(block* b) noexcept {
  if (b->shared.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(b);
}
inline void release_local(block* b) noexcept {  // on the owner thread, or with the owner gone
  const std::int64_t n = b->local - 1;
  std::atomic_signal_fence(std::memory_order_acq_rel);  // what this holder read comes before a write by who finds itself alone
  b->set_local(n);
  if (TTENSOR_UNLIKELY(n == 0)) release_shared(b);
}
inline void destroy(block* b) noexcept { give_bytes(b, b->bytes, b->from); }

void settle_mail(bool closing) noexcept;
void register_thread();
void release_foreign(block* b) noexcept;

/// What can be held beside blocks: anything with a count of its own, on one thread.
struct counted {
  std::uint32_t holders = 1;
  void (*destroy)(counted*) noexcept;
};
/// One hold as a word, so that moving it is copying a word and dropping many is one call: the pointer to a block for a hold that its
/// owner counts, with a mark for all others.
using hold = std::uintptr_t;
inline constexpr hold shared_hold = 1, counted_hold = 2, no_hold = 4, hold_marks = 7;
TTENSOR_INLINE block* block_of(hold h) { return reinterpret_cast<block*>(h & ~hold_marks); }
/// Where its elements are. In integers: a tensor that never had elements has no block.
TTENSOR_INLINE void* elements_of(hold h) { return reinterpret_cast<void*>((h & ~hold_marks) + sizeof(block)); }
TTENSOR_INLINE block* block_before(const void* elements) { return reinterpret_cast<block*>(reinterpret_cast<std::uintptr_t>(elements) - sizeof(block)); }

/// One holder of a block. Copies and moves freely; may be dropped on any thread.
class block_ref {
 public:
  block_ref() = default;
  explicit block_ref(block* b) : b_(b) {  // acquires
    if (!b) return;
    if (TTENSOR_LIKELY(b->owner == this_thread)) {
      b->set_local(b->local + 1);
      local_ = true;
    } else {
      b->shared.fetch_add(1, std::memory_order_relaxed);
    }
  }
  block_ref(const block_ref& o) : block_ref(o.b_) {}
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
  /// Gives its hold away.
  TTENSOR_INLINE hold release() noexcept {
    const hold h = b_ ? reinterpret_cast<hold>(b_) | (local_ ? 0 : shared_hold) : no_hold;
    b_ = nullptr;
    return h;
  }

  static void drop(block* b, bool local) noexcept;

 private:
  block* b_ = nullptr;
  bool local_ = false;
};

TTENSOR_INLINE hold hold_block(block* b) noexcept {
  if (TTENSOR_LIKELY(b->owner == this_thread)) {
    b->set_local(b->local + 1);
    return reinterpret_cast<hold>(b);
  }
  b->shared.fetch_add(1, std::memory_order_relaxed);
  return reinterpret_cast<hold>(b) | shared_hold;
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
    b->set_local(b->local - count);
    return b->local - 1;
  }
  TTENSOR_INLINE void count_up() const {
    block* b = reinterpret_cast<block*>(word);
    b->set_local(b->local + count);
  }
};
using holds = holds_of<std::int64_t>;
using one_hold = holds_of<std::integral_constant<std::int64_t, 1>>;
void drop_each_slowly(const holds* h, int n) noexcept;
/// Few holds, by value: a tree that passes them keeps no memory. All that is not common leaves by one
/// exit, so that the rest saves no registers.
template <class... H> TTENSOR_NOINLINE void drop_each(H... h) noexcept {
  std::atomic_signal_fence(std::memory_order_acq_rel);
  if (TTENSOR_LIKELY(((h.word | ...) & hold_marks) == 0) && (TTENSOR_LIKELY(h.is_plain()) && ...)) {
    if (TTENSOR_LIKELY((h.count_down() | ...) >= 0)) return;
    (h.count_up(), ...);
  }
  const holds all[] = {{h.word, h.count}...};
  drop_each_slowly(all, sizeof...(H));
}
template <int... I> TTENSOR_INLINE void drop_array(const hold* h, std::integer_sequence<int, I...>) noexcept { drop_each(one_hold{h[I]}...); }
void drop_holds(const hold* h, int n) noexcept;
/// Takes the same thing once more.
hold hold_again(hold h) noexcept;

/// Counted on one thread: a C with a count `holders` that starts at 1, such as what a tensor of a scalar kind shares with its views.
template <class C> class shared_cell {
 public:
  shared_cell() = default;
  explicit shared_cell(C* fresh) : c_(fresh) {}
  shared_cell(const shared_cell& o) : c_(o.c_) {
    if (c_) ++c_->holders;
  }
  shared_cell(shared_cell&& o) noexcept : c_(o.c_) { o.c_ = nullptr; }
  shared_cell& operator=(shared_cell o) noexcept {
    std::swap(c_, o.c_);
    return *this;
  }
  ~shared_cell() {
    if (c_) drop(c_);
  }
  explicit operator bool() const { return c_ != nullptr; }
  C* operator->() const { return c_; }
  bool shared() const { return c_->holders > 1; }

 protected:
  C* c_ = nullptr;

 private:
  TTENSOR_NOINLINE static void drop(C* c) noexcept {
    if (--c->holders == 0) delete c;
  }
};

/// The shared identity of a tensor and its views. The cell lives in the header of the tensor's first block.
class cell_ref {
 public:
  cell_ref() = default;
  explicit cell_ref(std::size_t data_bytes) : home_(new_block(data_bytes)) {
    home_->shared.store(2, std::memory_order_relaxed);
    home_->current = home_;
    home_->current_is_local = 1;
    home_->cell_holders.store(1, std::memory_order_relaxed);
  }
  cell_ref(const cell_ref& o) : home_(o.home_) {
    if (home_) count(1);
  }
  cell_ref(cell_ref&& o) noexcept : home_(o.home_) { o.home_ = nullptr; }
  cell_ref& operator=(cell_ref o) noexcept {
    block* h = home_;
    home_ = o.home_;
    o.home_ = h;
    return *this;
  }
  ~cell_ref() { reset(); }
  void reset() noexcept {
    if (!home_) return;
    if (home_->cell_holders.load(std::memory_order_acquire) == 1 || count(-1) == 1) {
      block* cur = home_->current;
      if (TTENSOR_LIKELY(cur == home_ && unique())) return destroy_home();
      block_ref::drop(cur, home_->current_is_local != 0);
      release_shared(home_);
    }
    home_ = nullptr;
  }
  explicit operator bool() const { return home_ != nullptr; }
  block* current() const { return home_->current; }
  void* data() const { return home_->current->data(); }
  bool same(const cell_ref& o) const { return home_ == o.home_; }
  bool has_views() const { return home_->cell_holders.load(std::memory_order_relaxed) > 1; }
  /// True when no value holds the elements, so that they may be written.
  bool unique() const { return unique_except(0); }
  TTENSOR_INLINE bool alone() const {
    return TTENSOR_LIKELY(home_->current == home_) && TTENSOR_LIKELY(home_->seen_local() == 1) && TTENSOR_LIKELY(home_->shared.load(std::memory_order_acquire) == 2);
  }
  /// The same, not counting `leaves` holders made by this thread.
  bool unique_except(std::int64_t leaves) const {
    const block* c = home_->current;
    const std::int64_t alone = c == home_ ? 2 : 1;
    if (TTENSOR_LIKELY(c->owner == this_thread || leaves == 0))
      return c->seen_local() == 1 + leaves && c->shared.load(std::memory_order_acquire) == alone;
    return c->seen_local() == 1 && c->shared.load(std::memory_order_acquire) == alone + leaves;
  }
  block_ref value() const { return block_ref(home_->current); }
  /// Moves the cell to a fresh block of the same size (contents NOT copied: the caller copies from `old`).
  block_ref detach(std::size_t data_bytes) {
    block_ref old(home_->current);
    if (!has_views()) {
      *this = cell_ref(data_bytes);
    } else {
      block* fresh = new_block(data_bytes);
      block_ref::drop(home_->current, home_->current_is_local != 0);
      home_->current = fresh;
      home_->current_is_local = 1;
    }
    return old;
  }
  /// Points the cell at the elements of another, which gives up its hold.
  void adopt(cell_ref& fresh) {
    block_ref v = fresh.value();
    fresh.reset();
    block_ref::drop(home_->current, home_->current_is_local != 0);
    home_->current = block_ref_release(static_cast<block_ref&&>(v), home_->current_is_local);
  }
  /// A cell over a block that values hold already: the O(1) copy of a tensor.
  static cell_ref sharing(const block_ref& b) {
    cell_ref c(std::size_t(0));
    c.home_->current = block_ref_release(block_ref(b), c.home_->current_is_local);
    release_local(c.home_);  // the fresh header's own element block is not used
    return c;
  }

 private:
  static block* block_ref_release(block_ref b, std::uint64_t& local) {
    block* p = b.get();
    local = p->owner == this_thread ? 1 : 0;
    new (&b) block_ref();  // hand over the count
    return p;
  }
  static block* new_block(std::size_t data_bytes);
  /// Adds to the number of holders of the cell, and returns what it was.
  TTENSOR_INLINE std::int64_t count(std::int64_t by) const noexcept {
    std::atomic<std::int64_t>& n = home_->cell_holders;
    if (!TTENSOR_LIKELY(one_thread())) return n.fetch_add(by, by > 0 ? std::memory_order_relaxed : std::memory_order_acq_rel);
    const std::int64_t was = n.load(std::memory_order_relaxed);
    n.store(was + by, std::memory_order_relaxed);
    return was;
  }
  void destroy_home() noexcept {
    destroy(home_);
    home_ = nullptr;
  }
  block* home_ = nullptr;
};

#if defined(TTENSOR_BODY)
TTENSOR_BODY void settle_mail(bool closing) noexcept {
  mailboxes& m = mail;
  m.lock.lock();
  mailboxes::box** at = m.find(this_thread);
  mailboxes::letter* mine = nullptr;
  if (mailboxes::box* own = *at) {
    std::swap(mine, own->posted);
    if (closing) {
      *at = own->next;
      std::free(own);
    }
  }
  for (mailboxes::letter* l = mine; l; l = l->next) m.pending.fetch_sub(1, std::memory_order_relaxed);
  m.lock.unlock();
  while (mine) {
    mailboxes::letter* next = mine->next;
    release_local(mine->about);
    std::free(mine);
    mine = next;
  }
}
struct thread_registration {
  thread_registration() {
    this_thread = last_thread_id.fetch_add(1) + 1;
    void* p = std::malloc(sizeof(mailboxes::box));
    if (!p) block_cache::throw_bad_alloc();
    mailboxes& m = mail;
    m.lock.lock();
    m.open = new (p) mailboxes::box{this_thread, nullptr, m.open};
    m.lock.unlock();
  }
  ~thread_registration() {
    settle_mail(true);
    cache.trim();
    this_thread = 0;
  }
};
TTENSOR_BODY void register_thread() {
  static thread_local thread_registration r;
  static_cast<void>(r);
}
TTENSOR_BODY void release_foreign(block* b) noexcept {
  mailboxes& m = mail;
  void* paper = std::malloc(sizeof(mailboxes::letter));
  m.lock.lock();
  mailboxes::box* to = *m.find(b->owner);
  if (to && paper) {
    to->posted = new (paper) mailboxes::letter{b, to->posted};
    m.pending.fetch_add(1, std::memory_order_relaxed);
    m.lock.unlock();
    return;
  }
  bool last = false;
  if (!to) {  // the owner has ended; the lock orders us. Without memory for a letter the block is lost.
    b->set_local(b->local - 1);
    last = b->local == 0;
  }
  m.lock.unlock();
  std::free(paper);
  if (last) release_shared(b);
}
TTENSOR_BODY void block_ref::drop(block* b, bool local) noexcept {
  if (!b) return;
  if (!local) release_shared(b);
  else if (TTENSOR_LIKELY(b->owner == this_thread)) release_local(b);
  else release_foreign(b);
}
TTENSOR_BODY void drop_other_hold(hold h) noexcept {
  void* p = reinterpret_cast<void*>(h & ~hold_marks);
  if (h & counted_hold) {
    counted* c = static_cast<counted*>(p);
    if (--c->holders == 0) c->destroy(c);
  } else if (p) {
    block_ref::drop(static_cast<block*>(p), (h & shared_hold) == 0);
  }
}
TTENSOR_BODY void drop_each_slowly(const holds* h, int n) noexcept {
  for (int i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < h[i].count; ++k) drop_other_hold(h[i].word);
}
TTENSOR_BODY void drop_holds(const hold* h, int n) noexcept {
  std::atomic_signal_fence(std::memory_order_acq_rel);
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
  if (h & counted_hold) return ++reinterpret_cast<counted*>(h & ~hold_marks)->holders, h;
  return block_of(h) ? hold_block(block_of(h)) : h;
}
TTENSOR_BODY block* cell_ref::new_block(std::size_t data_bytes) {
  if (TTENSOR_UNLIKELY(this_thread == 0)) register_thread();
  if (TTENSOR_UNLIKELY(mail.pending.load(std::memory_order_relaxed) != 0)) settle_mail(false);
  std::size_t bytes = sizeof(block) + data_bytes;
  memory_resource* from = nullptr;
  void* p = take_bytes(bytes, from);
  block* b = new (p) block;
  b->shared.store(1, std::memory_order_relaxed);
  b->local = 1;
  b->owner = this_thread;
  b->bytes = bytes;
  b->from = from;
  b->current = nullptr;
  b->cell_holders.store(0, std::memory_order_relaxed);
  b->current_is_local = 0;
  if (data_bytes % 64 != 0) __builtin_memset(static_cast<char*>(b->data()) + data_bytes / 64 * 64, 0, 64);  // short statements compute whole packs: nothing left there by others
  return b;
}
#endif

}  // namespace mem
TTENSOR_END
