// The tape of scalars: entries of partials, one an operation or, where results are consumed as temporaries, one a statement.
#pragma once
#include "ordinary.hpp"
#include "tape.hpp"

TTENSOR_BEGIN

/// Where an adjoint lives: element `offset` of slot `id`; id 0 are the scalars of the tape.
struct adjoint_ref {
  static constexpr std::uint64_t temporary_bit = std::uint64_t(1) << 63, source_bit = std::uint64_t(1) << 62;
  static constexpr std::uint64_t none = ~temporary_bit;
  std::uint64_t bits = none;
  static constexpr int offset_bits = 35;
  static_assert(tapes::most_slots >> (62 - offset_bits) == 0);
  static adjoint_ref to(std::uint32_t id, std::uint64_t offset) { return {(std::uint64_t(id) << offset_bits) | offset}; }
  std::uint32_t id() const { return static_cast<std::uint32_t>(bits >> offset_bits); }
  std::uint64_t offset() const { return bits & ((std::uint64_t(1) << offset_bits) - 1); }
  bool valid() const { return bits != none; }
  std::uint64_t as_temporary() const { return bits | temporary_bit; }
};

/// Of entries: a partial and where it goes, or the adjoint of an entry and where that begins.
template <class X> struct tape_item {
  X number;
  std::uint64_t ref;
};
template <class X> requires ordinary::is_examples<X> struct tape_item<X> {  // handed on, not copied
  X number;
  std::uint64_t ref;
  tape_item(const X& n, std::uint64_t r) : number(n), ref(r) {}
  tape_item(X&& n, std::uint64_t r) noexcept : number(n.taken()), ref(r) {}
  tape_item(tape_item&& o) noexcept : number(o.number.taken()), ref(o.ref) {}
};
/// Entries of scalars var<X> on one tape, one after another: the pairs of an entry, each says adjoint[ref] += number * adjoint of the entry, and then its
/// end, which has that adjoint and says where the entry begins. An entry is named by the place of its end. If an end carries `source_bit`, the last pair names
/// the array element whose adjoint the entry moves (an element write). An entry without pairs is an input.
template <class X> struct scalar_pool final : tape::pool_base {
  using item = tape_item<X>;
  struct unit_item : item {};  // of which the number is 1
  growing<item> items;
  struct segment final : tape_node {  // a run of entries between two array nodes
    std::size_t first, last = 0;  // last: when the run has ended
    scalar_pool* pool;
    segment(std::size_t f, scalar_pool* p) : first(f), pool(p) {}
    void backward(tape& t) override { pool->sweep(t, first, pool->running == this ? pool->items.size() : last); }
  };
  segment* running = nullptr;

  scalar_pool() { static_cast<void>(items.room(std::exchange(ended, 0))); }  // as large as the last that ended, within reason; one that ended serves one that starts
  ~scalar_pool() { ended = items.size() < most_reserved ? items.size() : most_reserved; }
  void destroy() override { delete this; }
  std::size_t mark() override {
    stop();
    return items.size();
  }
  void rewind(std::size_t size) override {
    running = nullptr;
    items.resize(size);
  }
  void clear_adjoints() override {
    for (std::size_t e = items.size(); e; e = begin_of(e - 1)) items[e - 1].number = zero_;
  }
  void add(std::size_t entry, const void* x) override {
    X& a = adjoint(entry);
    a = X(apply<add_op>(a, *static_cast<const X*>(x)));
  }
  X& adjoint(std::size_t entry) { return items[entry].number; }
  /// The adjoint of an entry, leaving 0.
  X take_adjoint(std::size_t entry) { return std::exchange(adjoint(entry), zero_); }

  TTENSOR_INLINE std::size_t begin_of(std::size_t entry) const { return items[entry].ref & ~adjoint_ref::source_bit; }
  /// Before an entry: the run of scalars goes on if it is the last that the tape recorded.
  TTENSOR_INLINE void enter(tape& t) {
    if (TTENSOR_UNLIKELY(running == nullptr || t.last() != running)) start(t);
  }
  /// The entry of an input: nothing stands behind it.
  adjoint_ref input() {
    items.push(zero_, static_cast<std::uint64_t>(items.size()));
    return newest();
  }
  TTENSOR_INLINE adjoint_ref newest() const { return adjoint_ref::to(0, items.size() - 1); }
  /// Room for n more items, so that pair() and close() cannot fail: walks go from end to end, so nothing may throw between the two.
  TTENSOR_INLINE void room(std::size_t n) { static_cast<void>(items.room(n)); }
  TTENSOR_INLINE void pair(X&& number, std::uint64_t ref) { items.append(static_cast<X&&>(number), ref); }
  /// What stands there since `begin` is an entry, with the adjoint 0.
  TTENSOR_INLINE adjoint_ref close(std::size_t begin, X&& none_yet, std::uint64_t source = 0) {
    items.append(static_cast<X&&>(none_yet), static_cast<std::uint64_t>(begin) | source);
    return newest();
  }
  TTENSOR_INLINE X zero() const {  // of examples: no elements of its own
    if constexpr (ordinary::is_numbers<X>) return X(0);
    else return zero_;
  }
  TTENSOR_INLINE X one() const {
    if constexpr (ordinary::is_examples<X>) return one_;
    else return X(1);
  }
  /// Whether a number is known to be what one() gives: a product with it is the other factor.
  TTENSOR_INLINE bool is_one([[maybe_unused]] const X& x) const {
    if constexpr (ordinary::is_examples<X>) return x.is_copy_of(one_);
    else return false;
  }
  /// The entry of an operation, with a pair for each operand: its partial and its var's bits. Entries of temporaries become a part of it: their pairs stay
  /// where they are and are scaled. Whatever is rare is a call at the end, so that no register is saved.
  template <class A> TTENSOR_NOINLINE adjoint_ref record(A a) {
    if (TTENSOR_UNLIKELY(!items.has_room(2))) return record_in_new_room(static_cast<A&&>(a));
    const std::size_t size = items.size();
    if (is_temporary(a, size - 1)) return scale(a, items[size - 1].ref, size - 1), newest();
    X adjoint = zero();
    pair(a);
    return close(size, static_cast<X&&>(adjoint));
  }
  template <class A, class B> TTENSOR_NOINLINE adjoint_ref record(A a, B b) {
    if (TTENSOR_UNLIKELY(!items.has_room(3))) return record_in_new_room(static_cast<A&&>(a), static_cast<B&&>(b));
    if (TTENSOR_UNLIKELY(a.ref == b.ref)) return record(item{X(apply<add_op>(a.number, b.number)), a.ref & ~adjoint_ref::temporary_bit});  // a * a
    const std::size_t size = items.size();
    if (is_temporary(b, size - 1)) return take(b, a);  // C++ evaluates operands in any order
    if (is_temporary(a, size - 1)) return take(a, b);
    X adjoint = zero();
    pair(a);
    pair(b);
    return close(size, static_cast<X&&>(adjoint));
  }
  template <class... I> requires(sizeof...(I) > 2) TTENSOR_NOINLINE adjoint_ref record(I... operand) {
    room(sizeof...(I) + 1);
    const std::size_t size = items.size();
    std::size_t begin = size;
    auto take_over = [&](auto& a) {
      if (!is_temporary(a, begin - 1)) return;
      const std::size_t place = begin - 1;
      begin = items[place].ref;
      scale(a, begin, place);
      a.ref = adjoint_ref::none;
    };
    auto keep_shared = [&](auto& a) {  // one that is handed over twice
      if (((&operand != static_cast<item*>(&a) && ((operand.ref ^ a.ref) & ~adjoint_ref::temporary_bit) == 0) || ...)) a.ref &= ~adjoint_ref::temporary_bit;
    };
    (keep_shared(operand), ...);
    for (std::size_t k = 0; k < sizeof...(I); ++k) (take_over(operand), ...);
    X adjoint = zero();
    if (begin != size) {
      for (std::size_t e = items[size - 1].ref; e != begin;) e = std::exchange(items[e - 1].ref, adjoint_ref::none);
      drop_end();
    }
    auto add = [&](item& a) {
      if (a.ref != adjoint_ref::none) pair(a);
    };
    (add(operand), ...);
    return close(begin, static_cast<X&&>(adjoint));
  }
  /// Takes the end of the newest entry off, so that more pairs can follow.
  TTENSOR_INLINE void drop_end() { items.resize(items.size() - 1); }
  /// Drops the entry of `v` if it is the newest of the tape and nobody has it.
  void discard(const tape& t, var<X>& v) {
    if (running == nullptr || t.last() != running || !v.is_temporary(newest())) return;
    v.give_away();
    items.resize(begin_of(items.size() - 1));
  }
  void sweep(tape& t, std::size_t first, std::size_t last) {
    cursor c(t, *this);  // nothing is recorded here while this runs, so they stand still
    for (std::size_t rest = last; rest != first;) {
      item& closing = c.items[rest - 1];
      std::size_t stop = rest - 1;
      const std::size_t begin = rest = begin_of(stop);
      if (begin == stop) continue;  // an input keeps its adjoint
      X a = zero();
      if (TTENSOR_UNLIKELY(closing.ref & adjoint_ref::source_bit)) {
        const adjoint_ref from{c.items[--stop].ref};
        if (!t.slot(from.id()).live) continue;
        a = c.move(from);
      } else {
        a = std::exchange(closing.number, zero());
      }
      if constexpr (depth_v<X> == 0)
        if (a == X(0)) continue;
      if (TTENSOR_UNLIKELY(t.tracing)) c.template add<true>(begin, stop, a);
      else c.template add<false>(begin, stop, a);
    }
  }

 private:
  template <class... I> TTENSOR_NOINLINE adjoint_ref record_in_new_room(I... operand) {
    room(sizeof...(I) + 1);
    return record(static_cast<I&&>(operand)...);
  }
  TTENSOR_INLINE static bool is_temporary(const item& a, std::size_t entry) { return a.ref == adjoint_ref::to(0, entry).as_temporary(); }
  TTENSOR_INLINE void pair(item& a) { pair(static_cast<X&&>(a.number), a.ref & ~adjoint_ref::temporary_bit); }
  template <class A> TTENSOR_INLINE void scale(const A& by, std::size_t begin, std::size_t stop) {
    if constexpr (!std::is_same_v<A, unit_item>)
      for (item *i = items.data() + begin, *const last = items.data() + stop; i != last; ++i) {
        i->number = is_one(i->number) ? by.number : ordinary::chain(by.number, i->number);
        __asm__("" : "+r"(i));  // two or three: no vectors
      }
  }
  /// The newest entry is that of temporary a; b may be the one before. (Ends of temporaries carry no source_bit.)
  template <class A, class B> TTENSOR_INLINE adjoint_ref take(A& a, B& b) {
    const std::size_t place = items.size() - 1, begin = items[place].ref;
    scale(a, begin, place);
    if (is_temporary(b, begin - 1)) {
      const std::size_t first = items[begin - 1].ref;
      scale(b, first, begin - 1);
      items[begin - 1].ref = adjoint_ref::none;  // an end no more, and no pair
      items[place].ref = first;
      return newest();
    }
    X adjoint = zero();
    drop_end();
    pair(b);
    return close(begin, static_cast<X&&>(adjoint));
  }
  static constexpr std::size_t most_reserved = std::size_t(1) << 17;
  static inline constinit thread_local std::size_t ended = 0;
  const X zero_ = X(0), one_ = ordinary::is_examples<X> ? X(1) : zero_;
  /// Adjoints while entries are swept: the array that was last touched is remembered.
  struct cursor {
    tape& t;
    const scalar_pool& pool;
    item* const items;
    std::uint32_t id = 0;
    std::uintptr_t base = 0;  // where element 0 of slot 0 would be, if all arrays were one
    cursor(tape& owner, scalar_pool& p) : t(owner), pool(p), items(p.items.data()) {}
    TTENSOR_INLINE X& element(adjoint_ref r) const { return *reinterpret_cast<X*>(base + r.bits * sizeof(X)); }
    /// The pairs from begin to stop, of an entry whose adjoint is a.
    template <bool Tracing> TTENSOR_INLINE void add(std::size_t begin, std::size_t stop, const X& a) {
      for (std::size_t i = begin; i != stop; ++i) {
        const adjoint_ref r{items[i].ref};
        const auto added_to = [&](const X& to) __attribute__((always_inline)) {
          return Tracing || pool.is_one(items[i].number) ? X(apply<add_op>(to, a)) : ordinary::plus_chain(to, a, items[i].number);
        };
        if (r.bits >> adjoint_ref::offset_bits == 0) {
          X& to = items[r.bits].number;
          to = added_to(to);
        } else if constexpr (depth_v<X> == 0) {
          if (TTENSOR_UNLIKELY(r.id() != id)) {
            if (!r.valid()) continue;
            turn(r.id());
          }
          X& to = element(r);
          to = added_to(to);
        } else if (r.valid()) {
          store<X>& s = t.at<X>(r.id()).open();
          const index_t k = static_cast<index_t>(r.offset());
          if constexpr (ordinary::is_examples<X>) {
            if (Tracing || pool.is_one(items[i].number)) ordinary::add_to_element(s, k, a);
            else ordinary::add_to_element(s, k, expr::build<chain_op>(a, items[i].number));
          } else {
            s.set(k, added_to(s.get(k)));
          }
        }
      }
    }
    X move(adjoint_ref from) {  // takes the adjoint of an element, leaving 0
      if constexpr (depth_v<X> == 0) {
        if (from.id() != id) turn(from.id());
        return std::exchange(element(from), X(0));
      } else {
        store<X>& s = t.at<X>(from.id()).adjoint;
        const index_t k = static_cast<index_t>(from.offset());
        X x = s.get(k);
        s.set(k, X(0));
        return x;
      }
    }
    TTENSOR_NOINLINE void turn(std::uint32_t to) {
      base = reinterpret_cast<std::uintptr_t>(t.at<X>(to).open().writable()) - adjoint_ref::to(to, 0).bits * sizeof(X);
      id = to;
    }
  };
  void stop() {
    if (running) running->last = items.size();
    running = nullptr;
  }
  TTENSOR_NOINLINE void start(tape& t) {
    stop();
    if (items.size()) input();  // temporaries of older runs are never the newest
    running = &t.push<segment>(items.size(), this);
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
    const Y a = t.pool<scalar_pool<Y>>().take_adjoint(to.offset());
    add_adjoint<X>(t, from, X(ttensor::apply<cast_op<elem_t<X>>>(a)));
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
/// Where scalars X were recorded last.
template <class X> struct hot_pool : hot_place {
  scalar_pool<X>* pool;
  /// Becomes the pool of tape `s`, ready for an entry; level_error if the tape does not record on this thread.
  TTENSOR_NOINLINE void enter(std::uint64_t s) {
    tape& t = of<X>(s);
    auto& p = t.pool<scalar_pool<X>>();
    p.enter(t);
    pool = &p;
    if (s > silent) warm(s);
    else cool();  // element writes are recorded under no_grad too
  }
};
template <class X> inline constinit thread_local hot_pool<X> hot{};
/// The pool of the tape `serial`, ready for an entry.
template <class X> TTENSOR_INLINE scalar_pool<X>& recording_pool(std::uint64_t serial) {
  hot_pool<X>& h = hot<X>;
  if (TTENSOR_UNLIKELY(h.serial != serial)) h.enter(serial);
  return *h.pool;
}
}  // namespace tapes

TTENSOR_END
