// The tape of scalars: entries of partials, one an operation or, where results are consumed as temporaries, one a statement.
#pragma once
#include "ordinary.hpp"
#include "tape.hpp"

TTENSOR_BEGIN

/// Where an adjoint lives: element `offset` of slot `id`; id 0 are the scalars of the tape.
struct adjoint_ref {
  static constexpr std::uint64_t source_bit = std::uint64_t(1) << 63, temporary_bit = std::uint64_t(1) << 62, none = ~temporary_bit;
  std::uint64_t bits = none;
  static constexpr int offset_bits = 35;
  static_assert(tapes::most_slots >> (62 - offset_bits) == 0);
  static adjoint_ref to(std::uint32_t id, std::uint64_t offset) { return {(std::uint64_t(id) << offset_bits) | offset}; }
  std::uint32_t id() const { return static_cast<std::uint32_t>((bits & ~source_bit) >> offset_bits); }
  std::uint64_t offset() const { return bits & ((std::uint64_t(1) << offset_bits) - 1); }
  bool valid() const { return bits != none; }
  std::uint64_t as_temporary() const { return bits | temporary_bit; }
};

/// Entries of scalars var<X> on one tape: entry i says adjoint[ref] += partial * adjoint[i] for its pairs. An entry whose
/// last pair carries `source_bit` moves the adjoint of an array element instead (an element write).
template <class X> struct scalar_pool final : tape::pool_base {
  struct pair {
    X partial;
    std::uint64_t ref;
  };
  growing<pair> pairs;
  growing<std::size_t> ends;  // of entry i in pairs
  growing<X> adjoint;
  struct segment final : tape_node {  // a run of entries between two array nodes
    std::size_t first, last = 0;  // last: when the run has ended
    scalar_pool* pool;
    segment(std::size_t f, scalar_pool* p) : first(f), pool(p) {}
    void backward(tape& t) override { pool->sweep(t, first, pool->running == this ? pool->ends.size() : last); }
  };
  segment* running = nullptr;

  scalar_pool() {  // as large as the last that ended, within reason; one that ended serves one that starts
    static_cast<void>(pairs.room(std::exchange(ended_pairs, 0)));
    static_cast<void>(ends.room(std::exchange(ended_entries, 0)));
  }
  ~scalar_pool() {
    ended_pairs = pairs.size() < most_reserved ? pairs.size() : most_reserved;
    ended_entries = ends.size() < most_reserved ? ends.size() : most_reserved;
  }
  void destroy() override { delete this; }
  std::size_t mark() override {
    stop();
    return ends.size();
  }
  void rewind(std::size_t entries) override {
    running = nullptr;
    pairs.resize(begin_of(entries));
    ends.resize(entries);
    if (adjoint.size() > entries) adjoint.resize(entries);
  }

  void clear_adjoints() override { adjoint.resize(0); }
  void add(std::size_t entry, const void* x) override {
    ready();
    adjoint[entry] = X(apply<add_op>(adjoint[entry], *static_cast<const X*>(x)));
  }

  TTENSOR_INLINE std::size_t begin_of(std::size_t i) const { return i ? ends[i - 1] : 0; }
  /// Before an entry: the run of scalars goes on if it is the last that the tape recorded.
  TTENSOR_INLINE void enter(tape& t) {
    if (TTENSOR_UNLIKELY(running == nullptr || t.last() != running)) start(t);
  }
  TTENSOR_INLINE adjoint_ref close() {
    ends.push(pairs.size());
    return newest();
  }
  TTENSOR_INLINE adjoint_ref newest() const { return adjoint_ref::to(0, ends.size() - 1); }
  /// Room for one entry with n more pairs, so that close(entry, n) cannot fail.
  TTENSOR_INLINE pair* room(std::size_t n) {
    static_cast<void>(ends.room(1));
    return pairs.room(n);
  }
  /// Entry `entry` ends after the n pairs that were constructed in the room; entries from there on are a part of it.
  TTENSOR_INLINE adjoint_ref close(std::size_t entry, std::size_t n) {
    pairs.added(n);
    ends.end_with(entry, pairs.size());
    return adjoint_ref::to(0, entry);
  }
  TTENSOR_INLINE void scale(const X& by, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) pairs[i].partial = ordinary::chain(by, pairs[i].partial);
  }
  /// Drops the entry of `v` if it is the newest of the tape and nobody has it.
  void discard(const tape& t, const var<X>& v) {
    if (running == nullptr || t.last() != running || !v.is_temporary(newest())) return;
    ends.resize(ends.size() - 1);
    pairs.resize(begin_of(ends.size()));
  }
  void ready() {  // adjoints of all entries exist
    if (TTENSOR_UNLIKELY(adjoint.size() < ends.size())) adjoint.resize(ends.size(), X(0));
  }
  /// Adjoints while scalars are swept: the array that was last touched is remembered.
  class cursor {
   public:
    explicit cursor(tape& t) : t_(t) {}
    TTENSOR_INLINE void add(X* scalars, std::uint64_t ref, const X& x) {
      const adjoint_ref r{ref};
      if (ref >> adjoint_ref::offset_bits == 0) {
        X& a = scalars[ref];
        a = X(apply<add_op>(a, x));
      } else {
        const index_t i = static_cast<index_t>(r.offset());
        if constexpr (depth_v<X> == 0) {
          X& a = base(r.id())[i];
          a = X(apply<add_op>(a, x));
        } else {
          store<X>& a = t_.at<X>(r.id()).open();
          a.set(i, X(apply<add_op>(a.get(i), x)));
        }
      }
    }
    TTENSOR_INLINE X move(std::uint32_t id, index_t i) {  // takes the adjoint of an element, leaving 0
      X x{};
      if constexpr (depth_v<X> == 0) {
        X& a = base(id)[i];
        x = a;
        a = X(0);
      } else {
        store<X>& a = t_.at<X>(id).adjoint;
        x = a.get(i);
        a.set(i, X(0));
      }
      return x;
    }

   private:
    TTENSOR_INLINE X* base(std::uint32_t id) {
      if (TTENSOR_UNLIKELY(id != id_)) {
        base_ = t_.at<X>(id).open().writable();
        id_ = id;
      }
      return base_;
    }
    tape& t_;
    std::uint32_t id_ = 0;
    X* base_ = nullptr;
  };
  void sweep(tape& t, std::size_t first, std::size_t last) {
    ready();
    cursor c(t);
    X* const scalars = adjoint.data();  // nothing is recorded here while this runs, so all three stand still
    pair* const entries = pairs.data();
    const std::size_t* const stops = ends.data();
    std::size_t b = begin_of(last);
    const bool tracing = t.tracing;
    for (std::size_t e = last; e-- > first;) {
      std::size_t n = b;
      b = e ? stops[e - 1] : 0;
      if (b == n) continue;  // an input keeps its adjoint
      X a;
      if (TTENSOR_UNLIKELY(entries[n - 1].ref & adjoint_ref::source_bit)) {
        const adjoint_ref from{entries[--n].ref};
        if (!t.slot(from.id()).live) continue;
        a = c.move(from.id(), static_cast<index_t>(from.offset()));
      } else {
        a = scalars[e];
        scalars[e] = X(0);
      }
      if constexpr (depth_v<X> == 0)
        if (a == X(0)) continue;
      for (std::size_t i = b; i < n; ++i) c.add(scalars, entries[i].ref, tracing ? a : ordinary::chain(a, entries[i].partial));
    }
  }

 private:
  static constexpr std::size_t most_reserved = std::size_t(1) << 16;
  static inline constinit thread_local std::size_t ended_pairs = 0, ended_entries = 0;
  void stop() {
    if (running) running->last = ends.size();
    running = nullptr;
  }
  TTENSOR_NOINLINE void start(tape& t) {
    stop();
    if (ends.size()) ends.push(pairs.size());  // an empty entry: temporaries of older runs are never the newest
    running = &t.push<segment>(ends.size(), this);
  }
};

/// Adds x to the adjoint that `ref` names. Who made a ref to a scalar entry made its pool.
template <class X> void add_adjoint(tape& t, adjoint_ref ref, const X& x) {
  if (ref.id() == 0) return t.known_pool<scalar_pool<X>>()->add(static_cast<std::size_t>(ref.offset()), &x);
  store<X>& a = t.at<X>(ref.id()).open();
  const index_t i = static_cast<index_t>(ref.offset());
  a.set(i, X(apply<add_op>(a.get(i), x)));
}

/// Moves the adjoint of a scalar to the scalar of another element type that it was converted from.
template <class X, class Y> struct element_change final : tape_node {
  adjoint_ref from, to;
  element_change(adjoint_ref f, adjoint_ref g) : from(f), to(g) {}
  void backward(tape& t) override {
    auto& pool = t.pool<scalar_pool<Y>>();
    pool.ready();
    Y& a = pool.adjoint[to.offset()];
    add_adjoint<X>(t, from, X(ttensor::apply<cast_op<elem_t<X>>>(a)));
    a = Y(0);
  }
};

namespace tapes {
/// The tape a set of operands records on: all active operands must belong to one.
template <class X> TTENSOR_INLINE tape& of(std::uint64_t serial) {
  using key = reelem_t<X, double>;
  tape* t = current<key>;
  if (TTENSOR_LIKELY(t != nullptr && t->serial == serial && t->recording())) return *t;
  return tape::find(serial);
}
/// Where scalars X were recorded last: while the moment stands, the tape `serial` records on this thread and its last node
/// is the pool's running segment.
template <class X> struct hot_pool {
  std::uint64_t serial, when;
  scalar_pool<X>* pool;
  TTENSOR_INLINE bool is_of(std::uint64_t s) const { return serial == s && when == moment; }
  /// Becomes the pool of tape `s`, ready for an entry; level_error if the tape does not record on this thread.
  TTENSOR_NOINLINE void enter(std::uint64_t s) {
    tape& t = of<X>(s);
    auto& p = t.pool<scalar_pool<X>>();
    p.enter(t);
    *this = {s, s > silent ? moment : 0, &p};  // element writes are recorded under no_grad too; they make nothing hot
  }
};
template <class X> inline constinit thread_local hot_pool<X> hot{};
/// The pool of the tape `serial`, ready for an entry.
template <class X> TTENSOR_INLINE scalar_pool<X>& recording_pool(std::uint64_t serial) {
  hot_pool<X>& h = hot<X>;
  if (TTENSOR_UNLIKELY(!h.is_of(serial))) h.enter(serial);
  return *h.pool;
}
}  // namespace tapes

TTENSOR_END
