// Tapes: what reverse mode records. One tape a level; slots are values that have adjoints, nodes push adjoints backward.
//
// The sweep is a loop over nodes in reverse order of recording: no recursion, each node once, after all its consumers.
// Recording is per thread. A value whose tape does not record on this thread cannot be recorded: level_error.
#pragma once
#include <vector>
#include "../tensor/store.hpp"
#include "tape_memory.hpp"
#if defined(TTENSOR_FAKE_STACK)
#include TTENSOR_FAKE_STACK
#endif

TTENSOR_BEGIN

class tape;
struct tape_node {
  tape_node* earlier = nullptr;
  void (*destroy)(tape_node*) = nullptr;  // null: nothing to do. Not a virtual destructor, which compiles every node's twice
  virtual void backward(tape& t) = 0;

 protected:
  ~tape_node() = default;
};
/// One buffer of an adjoint: its batch axes, oldest first.
struct adjoint_plane {
  char* ptr;
  index_t extent[8], stride[8];
};
/// A value with an adjoint. The adjoint appears when the sweep first adds to it, and is dropped when it has been used. What
/// the sweep of statements needs is virtual, so that it is compiled once and not once a statement. A slot that was dropped owns nothing.
struct slot_base {
  index_t size = 0;  // elements of the value
  bool live = false;
  virtual void make_fresh(const index_t* batch) = 0;  // live, elements not initialised
  virtual void make_open(const index_t* batch) = 0;   // live, ready to be added to in place
  virtual void drop() = 0;
  virtual int planes(adjoint_plane* to) = 0;

 protected:
  ~slot_base() = default;
};
template <class X> struct adjoint_slot final : slot_base {
  store<X> adjoint;
  /// Ready to be added to: zeros where nothing was added yet. Batch extents grow to at least `b`.
  TTENSOR_NOINLINE store<X>& open(const dims<batch_levels_v<X>>& b = ones<batch_levels_v<X>>()) {
    if (!live) {
      adjoint = store<X>::make(size, b);
      adjoint.zero();
      live = true;
    } else {
      adjoint.require_batch(b);
    }
    return adjoint;
  }
  void set(store<X> s) {
    adjoint = static_cast<store<X>&&>(s);
    live = true;
  }
  /// The adjoint, zeros if nothing was added; the slot is empty again.
  store<X> take() {
    store<X> s = static_cast<store<X>&&>(open());
    drop();
    return s;
  }
  TTENSOR_NOINLINE void make_fresh(const index_t* batch) override { set(store<X>::make(size, extents(batch))); }
  TTENSOR_NOINLINE void make_open(const index_t* batch) override {
    own_memory(open(extents(batch)));
  }
  TTENSOR_NOINLINE void drop() override {
    live = false;
    adjoint = {};
  }
  TTENSOR_NOINLINE int planes(adjoint_plane* to) override {
    int k = 0;
    adjoint.planes([&]<class T, int B>(std::type_identity<T>, T* p, const dims<B>& be, const dims<B>& bs, mem::block*) {
      static_assert(B <= 8, "ttensor: at most eight nested vmaps inside reverse mode");
      to[k].ptr = reinterpret_cast<char*>(p);
      for (int d = 0; d < B; ++d) to[k].extent[d] = be[d], to[k].stride[d] = bs[d];
      ++k;
    });
    return k;
  }

 private:
  static dims<batch_levels_v<X>> extents(const index_t* batch) {
    dims<batch_levels_v<X>> b{};
    for (int d = 0; d < batch_levels_v<X>; ++d) b[d] = batch[d];
    return b;
  }
};

namespace tapes {
inline mem::atomic<std::uint64_t> last_serial{0};
inline constinit thread_local std::uint64_t silent = 0;  // tapes with serials up to this one record nothing (no_grad)
inline constinit thread_local tape* newest = nullptr;  // list of the tapes that record on this thread
/// Where scalars of one type were recorded last: the tape `serial` records on this thread, and its last node is a run of them. Cold as soon as any tape
/// of this thread starts or stops recording, gets a node or loses some.
struct hot_place {
  static constexpr std::uint64_t cold = ~std::uint64_t(1);  // of no tape, no constant, no value that was moved from
  std::uint64_t serial = cold;
  hot_place* next = nullptr;
  void warm(std::uint64_t s);
};
inline constinit thread_local hot_place* hottest = nullptr;  // list of those that are not cold
void cool_all();
TTENSOR_INLINE void cool() {
  if (TTENSOR_UNLIKELY(hottest != nullptr)) cool_all();
}
inline void silence(std::uint64_t upto) {
  silent = upto;
  cool();
}
/// The recording tape for var<X>, by the chain of X.
template <class X> inline constinit thread_local tape* current = nullptr;
struct statistics {
  std::uint64_t nodes = 0, backward_loops = 0;
};
inline constinit thread_local statistics stats{};
[[noreturn]] void not_live();
[[noreturn]] void mixed_levels();
[[noreturn]] void full();
[[noreturn]] void many_operands();
[[noreturn]] void torn();
inline constexpr std::size_t most_slots = (std::size_t(1) << 27) - 1;  // a reference to an adjoint has 27 bits for its slot (scalar_tape.hpp)
}  // namespace tapes

class tape {
 public:
  /// Typed storage of scalar entries (scalar_tape.hpp). Virtual, so that what records arrays only compiles none.
  struct pool_base {
    const char* key = nullptr;
    pool_base* next = nullptr;
    virtual std::size_t mark() = 0;  // entries so far; later ones start a run of their own
    virtual void rewind(std::size_t entries) = 0;
    virtual void clear_adjoints() = 0;
    virtual void add(std::size_t entry, const void* x) = 0;  // to the adjoint of an entry
    virtual void destroy() = 0;

   protected:
    ~pool_base() = default;
  };
  const std::uint64_t serial = tapes::last_serial.fetch_add(1) + 1;
  int trials = 0;               // runs of checkpoint that are recorded, rewound and run again
  const void* frame = nullptr;  // of the call that records: locals of younger frames die before the sweep
  bool torn = false;            // an exception left a statement half recorded: nothing can be swept
  bool tracing = false;         // strict: scalar entries pass the NaN that seeds them on as it is, selected or not

  tape();
  tape(const tape&) = delete;
  ~tape();
  bool recording() const { return recording_; }
  /// Starts or stops recording, on this thread. A tape that does not record may be swept and dropped by another thread.
  void record(bool on);
  /// The tape with this serial number if it records on this thread, or null.
  static tape* recording_as(std::uint64_t serial) {
    tape* t = tapes::newest;
    while (t && t->serial != serial) t = t->older_;
    return t;
  }
  /// The same; level_error if there is none.
  static tape& find(std::uint64_t serial);
  template <class X> TTENSOR_NOINLINE std::uint32_t new_slot(index_t size) {
    slot_base* s = memory_.make<adjoint_slot<X>>();
    s->size = size;
    slots_.push(s);
    if (TTENSOR_UNLIKELY(slots_.size() > tapes::most_slots)) tapes::full();
    return static_cast<std::uint32_t>(slots_.size());  // 0 is the scalars
  }
  slot_base& slot(std::uint32_t id) { return *slots_[id - 1]; }
  template <class X> adjoint_slot<X>& at(std::uint32_t id) { return static_cast<adjoint_slot<X>&>(*slots_[id - 1]); }
  template <class Node, class... A> Node& push(A&&... a) {
    Node* n = memory_.make<Node>(static_cast<A&&>(a)...);
    if constexpr (!std::is_trivially_destructible_v<Node>) n->destroy = [](tape_node* p) { static_cast<Node*>(p)->~Node(); };
    n->earlier = last_;
    last_ = n;
    tapes::cool();
    ++tapes::stats.nodes;
    return *n;
  }
  arena& memory() { return memory_; }  // for what a node keeps; nodes destroy it
  tape_node* last() const { return last_; }
  std::size_t node_count() const {
    std::size_t n = 0;
    for (tape_node* p = last_; p; p = p->earlier) ++n;
    return n;
  }
  /// Forgets all adjoints: before the seeds of a sweep of a tape that was swept before, which left some where nothing consumes
  /// them (the first elements of an array that is written element by element), or was interrupted by an exception.
  void clear_adjoints() {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i]->live) slots_[i]->drop();
    for (pool_base* p = pools_; p; p = p->next) p->clear_adjoints();
  }
  /// Runs every node once, newest first. Adjoints must have been seeded.
  void sweep() { sweep_since({}); }
  template <class Pool> Pool& pool() {
    if (TTENSOR_LIKELY(last_key_ == &pool_key<Pool>)) return *static_cast<Pool*>(last_pool_);
    return *static_cast<Pool*>(other_pool<Pool>());
  }
  /// The pool if there is one, or null.
  template <class Pool> pool_base* known_pool() { return find_pool(&pool_key<Pool>); }
  /// A moment of recording, to which the tape can go back.
  struct position {
    tape_node* last = nullptr;
    std::size_t slot_count = 0;
    arena::mark memory;
    std::vector<std::size_t> entries;
  };
  position mark() {
    tapes::cool();
    position p{last_, slots_.size(), memory_.position(), {}};
    for (pool_base* e = pools_; e; e = e->next) p.entries.push_back(e->mark());
    return p;
  }
  /// Drops what was recorded since; values that still name it must be gone.
  void rewind(const position& p) {
    tapes::cool();
    drop_until(p.last);
    drop_slots(p.slot_count);
    memory_.rewind(p.memory);
    std::size_t i = 0;
    for (pool_base* e = pools_; e; e = e->next, ++i) e->rewind(i < p.entries.size() ? p.entries[i] : 0);
  }
  /// Runs the nodes recorded since, newest first.
  void sweep_since(const position& p);

 private:
  void drop_until(tape_node* n) {
    while (last_ != n) {
      tape_node* e = last_->earlier;
      if (last_->destroy) last_->destroy(last_);
      last_ = e;
    }
  }
  void drop_slots(std::size_t from) {
    for (std::size_t i = from; i < slots_.size(); ++i) slots_[i]->drop();
    slots_.resize(from);
  }
  template <class Pool> static constexpr char pool_key = 0;
  pool_base* find_pool(const char* key);
  template <class Pool> TTENSOR_NOINLINE pool_base* other_pool() {
    if (pool_base* p = known_pool<Pool>()) return p;
    pool_base** last = &pools_;
    while (*last) last = &(*last)->next;
    *last = new Pool;
    (*last)->key = &pool_key<Pool>;
    return known_pool<Pool>();
  }
  bool recording_ = false;
  tape* older_ = nullptr;
  tape_node* last_ = nullptr;
  arena memory_;  // of nodes and slots
  growing<slot_base*> slots_;
  pool_base* pools_ = nullptr;  // oldest first
  const char* last_key_ = nullptr;  // of the pool that was asked for last
  pool_base* last_pool_ = nullptr;
};

/// While a write is recorded in several steps: an exception between them leaves the tape with this serial number torn. 0: none.
struct unfinished_write {
  std::uint64_t serial = 0;
  unfinished_write() = default;
  unfinished_write(const unfinished_write&) = delete;
  ~unfinished_write() {
    if (TTENSOR_UNLIKELY(serial != 0)) tear(serial);
  }
  static void tear(std::uint64_t serial) noexcept;
};

/// Calls `body`, which records on `t`, in a stack frame of its own.
template <class Body> TTENSOR_NOINLINE auto record_on(tape& t, const Body& body) {
  struct restore {
    tape& t;
    const void* was;
    ~restore() { t.frame = was; }
  } const guard{t, t.frame};
  t.frame = __builtin_frame_address(0);
  return body();
}
/// True when the object holds an address on the stack that is younger than the recording, not one inside itself (a short std::string): a reference to a
/// local that is gone when the tape is swept.
TTENSOR_NOINLINE inline bool holds_younger_address(const tape& t, const void* object, std::size_t bytes) {
  const auto low = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)), high = reinterpret_cast<std::uintptr_t>(t.frame);
  for (std::size_t i = 0; i + sizeof(std::uintptr_t) <= bytes; i += sizeof(std::uintptr_t)) {
    std::uintptr_t p;
    std::memcpy(&p, static_cast<const char*>(object) + i, sizeof p);
    if (p - reinterpret_cast<std::uintptr_t>(object) < bytes) continue;
#if defined(TTENSOR_FAKE_STACK)
    if (void* const place = __asan_addr_is_in_fake_stack(__asan_get_current_fake_stack(), reinterpret_cast<void*>(p), nullptr, nullptr))
      if (reinterpret_cast<std::uintptr_t>(place) < high) return true;
#endif
    if (p >= low && p < high) return true;
  }
  return false;
}

#if defined(TTENSOR_BODY)
namespace tapes {
TTENSOR_BODY void not_live() {
  raise<level_error>(
      "[var] a value of a transform that has ended, of another thread, or that was moved from, was used in a recorded operation; return it from the "
      "transformed function, or take stop_gradient of it first [TT-L02]");
}
TTENSOR_BODY void mixed_levels() {
  raise<level_error>(
      "[var] values of two levels of one type meet: a function captured an outer variable that its transform could not see, or kept a value of one that has ended; "
      "pass closing_over(x...) to the inner transform, return what is kept [TT-L03]");
}
TTENSOR_BODY void torn() {
  raise<level_error>(
      "[var] a statement failed while it was recorded (memory, or an operation of its numbers), and the function caught the exception and went on: what "
      "it wrote to may not fit its derivative; let the exception leave the function [TT-L09]");
}
TTENSOR_BODY void hot_place::warm(std::uint64_t s) {
  if (serial == cold) next = std::exchange(hottest, this);
  serial = s;
}
TTENSOR_BODY void cool_all() {
  for (; hottest; hottest = hottest->next) hottest->serial = hot_place::cold;
}
TTENSOR_BODY void many_operands() {
  raise<type_error>(
      "[var] more than 64 arrays and numbers in a statement that is differentiated, whose equal parts do not read the same arrays and numbers; evaluate a part with "
      "eval() first, or name what is one with let() [TT-T10]");
}
TTENSOR_BODY void full() {
  raise<error>(
      "[var] more than 134 million statements of arrays in one recording; wrap parts of the function in checkpoint [TT-E02]");
}
}  // namespace tapes
TTENSOR_BODY void unfinished_write::tear(std::uint64_t serial) noexcept {
  if (tape* t = tape::recording_as(serial)) t->torn = true;
}
TTENSOR_BODY tape::tape() { record(true); }
TTENSOR_BODY tape::~tape() {
  record(false);
  drop_until(nullptr);
  drop_slots(0);
  while (pool_base* p = pools_) pools_ = p->next, p->destroy();
}
TTENSOR_BODY void tape::record(bool on) {
  if (on == recording_) return;
  tapes::cool();
  recording_ = on;
  if (on) {
    older_ = std::exchange(tapes::newest, this);
  } else {
    tape** p = &tapes::newest;
    while (*p != this) p = &(*p)->older_;
    *p = older_;
  }
}
TTENSOR_BODY tape& tape::find(std::uint64_t serial) {
  if (tape* t = recording_as(serial)) return *t;
  tapes::not_live();
}
TTENSOR_BODY void tape::sweep_since(const position& p) {
  if (TTENSOR_UNLIKELY(torn)) tapes::torn();
  struct silence {
    tape& t;
    bool was = t.recording_;
    explicit silence(tape& quiet) : t(quiet) { t.record(false); }
    ~silence() { t.record(was); }
  } quiet(*this);
  for (tape_node* n = last_; n != p.last; n = n->earlier) n->backward(*this);
}
TTENSOR_BODY tape::pool_base* tape::find_pool(const char* key) {
  pool_base* p = pools_;
  while (p && p->key != key) p = p->next;
  if (p) last_key_ = key, last_pool_ = p;
  return p;
}
#endif

/// Names a slot of a tape that may have ended; shared by the tensors, views and leaves that stand for one taped value.
struct slot_token : mem::counted {
  std::uint64_t tape_serial;
  std::uint32_t id;
  mutable bool read = false;     // scalars name elements of the slot: it may not be written
  mutable bool written = false;  // elements are written in place: reads leave entries
  mutable std::size_t copied = 0;  // bytes of its array that records have copied since it was written last
  slot_token(std::uint64_t serial, std::uint32_t i)
      : counted{1, [](counted* c) noexcept { delete static_cast<slot_token*>(c); }}, tape_serial(serial), id(i) {}
};
/// A token that somebody else holds, or none.
struct token_ptr {
  slot_token* t = nullptr;
  explicit operator bool() const { return t != nullptr; }
  const slot_token* operator->() const { return t; }
  TTENSOR_INLINE mem::hold word() const {
    return t ? reinterpret_cast<mem::hold>(static_cast<mem::counted*>(t)) | mem::counted_hold : mem::no_hold;
  }
};
class token_ref : public mem::shared_cell<slot_token> {
 public:
  token_ref() = default;
  token_ref(std::uint64_t serial, std::uint32_t id) : shared_cell(new slot_token(serial, id)) {}
  explicit token_ref(token_ptr p) : shared_cell(p.t) {
    if (c_) mem::count(c_->holders, 1);
  }
  operator token_ptr() const { return {c_}; }
  /// Gives its hold away.
  TTENSOR_INLINE token_ptr release() noexcept { return {std::exchange(c_, nullptr)}; }
};

TTENSOR_END
