// Reference-counted blocks of elements, and what threads owe each other of their counts.
//
// A *block* is bytes with holders. A *value* (leaf of an expression, copy, tape) holds a block; a write to a block that
// somebody else holds goes to a fresh copy. A *cell* names "the elements of this tensor now": the tensor and its views
// share it, and it moves to another block when a write has to detach from values.
//
// Counting is biased (Choi, Shull, Torrellas, "Biased reference counting", PACT 2018): holders made on the thread that
// allocated the block, from another such holder, are counted in `local` with plain loads and stores, all others in `shared`
// atomically, and all local holders together count one in `shared`. Building and dropping an expression over live tensors
// therefore does no atomic read-modify-write. A local holder that dies on another thread is posted to the owner's mailbox.
//
// A copy of a shared holder is shared on every thread. So `local` never rises from 0, when it counts in `shared` no more; and who sees one
// local holder, its own, and then no shared one is alone: in between no holder can have gone from the count read last to the one read first.
#pragma once
#include <type_traits>
#include <utility>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif
#include "atomic.hpp"
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

struct alignas(heap_alignment) block {  // by itself where pointers have 8 bytes
  atomic<std::int64_t> shared;  // holders elsewhere, + 1 while there are local ones, + 1 while the cell below lives
  std::int64_t local;                // holders of the owner thread; only that thread writes it
  std::uint64_t owner;               // thread_id() of the allocating thread
  std::size_t bytes;                 // of the whole allocation
  memory_resource* from;
  block* current;                    // cell part: where the elements are now
  atomic<std::int64_t> cell_holders;  // cell part: the tensor and its views
  std::uint64_t counted_by;                // cell part: the thread that counts the cell's hold of `current` as local, or nobody
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
static_assert(sizeof(block) == heap_alignment, "block headers keep the data 64-byte aligned");

inline atomic<std::uint64_t> last_thread_id{0};
inline constexpr std::uint64_t nobody = ~std::uint64_t(0);  // no thread has this number

/// Local holders that died on other threads, waiting for the owner; after the owner ended they are settled at once.
struct mailboxes {
  struct letter { block* about; letter* next; };
  struct box { std::uint64_t owner; atomic<letter*> posted; box* next; };  // posted to under the lock
  mutex lock;
  box* open = nullptr;
  box** find(std::uint64_t owner) {  // where the list names the box; under the lock
    box** at = &open;
    while (*at && (*at)->owner != owner) at = &(*at)->next;
    return at;
  }
};
inline constinit thread_local mailboxes::box* own_box = nullptr;
/// There before any code runs, and there to the end: threads may outlive static objects. So nothing may destroy the mutex at exit.
inline constinit mailboxes mail;
static_assert(std::is_trivially_destructible_v<mailboxes>, "ttensor: threads that outlive static objects post letters here");
void destroy(block* b) noexcept;
/// Adds to a count that several threads change, and returns what it was.
template <class N> TTENSOR_INLINE N count(atomic<N>& n, N by) noexcept {
  if (!TTENSOR_LIKELY(one_thread())) return n.fetch_add(by, by == N(1) ? order::relaxed : order::acq_rel);
  const N was = n.load(order::relaxed);
  n.store(was + by, order::relaxed);
  return was;
}
inline void release_shared(block* b) noexcept {
  if (count(b->shared, std::int64_t(-1)) == 1) destroy(b);
}
inline void release_local(block* b) noexcept {  // on the owner thread, or with the owner gone
  const std::int64_t n = b->local - 1;
  compiler_fence();  // what this holder read comes before a write by who finds itself alone
  b->set_local(n);
  if (TTENSOR_UNLIKELY(n == 0)) release_shared(b);
}
inline void destroy(block* b) noexcept { give_bytes(b, b->bytes, b->from, b->owner != this_thread); }

void settle_mail(bool closing) noexcept;
void register_thread();
void release_foreign(block* b) noexcept;

#if defined(TTENSOR_BODY)
TTENSOR_BODY void settle_mail(bool closing) noexcept {
  mailboxes& m = mail;
  for (;;) {
    m.lock.lock();
    mailboxes::letter* mine = own_box->posted.exchange(nullptr, order::relaxed);
    const bool done = closing && !mine;  // a box is closed when it is empty: from then on others count for this thread
    if (done) {
      *m.find(this_thread) = own_box->next;
      std::free(std::exchange(own_box, nullptr));
    }
    m.lock.unlock();
    while (mine) {
      mailboxes::letter* next = mine->next;
      release_local(mine->about);
      std::free(mine);
      mine = next;
    }
    if (done || !closing) return;
  }
}
struct thread_registration {
  thread_registration() {
    void* p = std::malloc(sizeof(mailboxes::box));
    if (!p) block_cache::throw_bad_alloc();  // without a box no number
    mailboxes& m = mail;
    m.lock.lock();
    own_box = m.open = new (p) mailboxes::box{last_thread_id.fetch_add(1) + 1, nullptr, m.open};
    m.lock.unlock();
    this_thread = own_box->owner;
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
  if (b->seen_local() == 1 && b->shared.load(order::acquire) == 1) return destroy(b);  // the last of all: the owner may never look
  mailboxes& m = mail;
  void* paper = std::malloc(sizeof(mailboxes::letter));
  m.lock.lock();
  mailboxes::box* to = *m.find(b->owner);
  if (to && paper) {
    to->posted.store(new (paper) mailboxes::letter{b, to->posted.load(order::relaxed)}, order::relaxed);
    m.lock.unlock();
    return;
  }
  bool last = false;
  if (!to) {  // the owner has ended; the lock orders us. Without memory for a letter the block is lost.
    const std::int64_t n = b->local - 1;
    last = n == 0;
    b->set_local(n);  // if holders remain, theirs is the block from here on
  }
  m.lock.unlock();
  std::free(paper);
  if (last) release_shared(b);
}
#endif

}  // namespace mem
TTENSOR_END
