// var<T>: reverse mode for scalar code, and the stores of taped arrays.
//
// Scalar operations are preaccumulated a statement at a time: the result of an operation that is consumed as a temporary
// gives its tape entry to its consumer, so `y = a * b + sin(c)` leaves one entry with the partials of a, b and c. Only the
// newest entry can be given away, and copying a var keeps its entry, so nothing that is still used is ever rewritten.
#pragma once
#include "../ops/complex.hpp"
#include "../tensor/statement_rule.hpp"
#include "dual.hpp"
#include "tape.hpp"

TTENSOR_BEGIN

/// Where an adjoint lives: element `offset` of slot `id`; id 0 are the scalars of the tape.
struct adjoint_ref {
  std::uint64_t bits = none;
  static constexpr std::uint64_t none = ~std::uint64_t(0), source_bit = std::uint64_t(1) << 63;
  static constexpr int offset_bits = 36;
  static adjoint_ref to(std::uint32_t id, std::uint64_t offset) { return {(std::uint64_t(id) << offset_bits) | offset}; }
  std::uint32_t id() const { return static_cast<std::uint32_t>((bits & ~source_bit) >> offset_bits); }
  std::uint64_t offset() const { return bits & ((std::uint64_t(1) << offset_bits) - 1); }
  bool valid() const { return bits != none; }
};

template <class X> struct scalar_pool;

template <class T> struct var {
  var() : value_{} {}
  /// A constant: numbers and values of older levels.
  template <class U> requires(any_scalar<U> && std::is_convertible_v<U, T> && !std::is_same_v<std::remove_cvref_t<U>, var>) var(const U& c) : value_(T(c)) {}
  var(const T& v, std::uint64_t serial, adjoint_ref r, bool temporary) : value_(v), serial_(serial), ref_(r), temporary_(temporary) {}
  var(const var& o) : value_(o.value_), serial_(o.serial_), ref_(o.ref_) { o.temporary_ = false; }
  var(var&& o) noexcept : value_(static_cast<T&&>(o.value_)), serial_(o.serial_), ref_(o.ref_), temporary_(o.temporary_) { o.temporary_ = false; }
  var& operator=(const var& o) {
    value_ = o.value_;
    serial_ = o.serial_;
    ref_ = o.ref_;
    temporary_ = o.temporary_ = false;
    return *this;
  }
  var& operator=(var&& o) noexcept {
    value_ = static_cast<T&&>(o.value_);
    serial_ = o.serial_;
    ref_ = o.ref_;
    temporary_ = o.temporary_;
    o.temporary_ = false;
    return *this;
  }
  const T& value() const { return value_; }
  bool active() const { return ref_.valid(); }
  std::uint64_t serial() const { return serial_; }
  adjoint_ref ref() const { return ref_; }
  bool temporary() const { return temporary_; }
  /// The entry now belongs to the consumer; using this var again is an error, not a wrong number.
  void give_away() {
    serial_ = ~std::uint64_t(0);
    temporary_ = false;
  }
  template <class F> void planes(F&& f) const {
    if constexpr (depth_v<T> == 0) f(std::type_identity<T>{}, plane<0>{&value_, {}, {}, nullptr});
    else value_.planes(f);
  }

 private:
  T value_;
  std::uint64_t serial_ = 0;
  adjoint_ref ref_;
  mutable bool temporary_ = false;
};

// ---- scalar entries ----------------------------------------------------------------------------------------------------
/// Entries of scalars var<X> on one tape: entry i says adjoint[ref] += partial * adjoint[i] for its pairs. An entry whose
/// last pair carries `source_bit` moves the adjoint of an array element instead (an element write).
template <class X> struct scalar_pool : tape::pool_base {
  struct pair {
    X partial;
    std::uint64_t ref;
  };
  growing<pair> pairs;
  growing<std::size_t> ends;  // of entry i in pairs
  growing<X> adjoint;
  struct segment final : tape_node {  // a run of entries between two array nodes
    std::size_t first, last;
    scalar_pool* pool;
    segment(std::size_t f, scalar_pool* p) : first(f), last(f), pool(p) {}
    void backward(tape& t) override { pool->sweep(t, first, last); }
  };
  segment* running = nullptr;

  std::size_t mark() override {
    running = nullptr;
    return ends.size();
  }
  void rewind(std::size_t entries) override {
    running = nullptr;
    pairs.resize(begin_of(entries));
    ends.resize(entries);
    if (adjoint.size() > entries) adjoint.resize(entries);
  }

  void clear_adjoints() override { adjoint.resize(0); }

  TTENSOR_INLINE std::size_t begin_of(std::size_t i) const { return i ? ends[i - 1] : 0; }
  TTENSOR_INLINE void enter(tape& t) {
    if (TTENSOR_UNLIKELY(running == nullptr || t.last() != running)) running = &t.push<segment>(ends.size(), this);
  }
  TTENSOR_INLINE adjoint_ref close() {
    ends.push(pairs.size());
    running->last = ends.size();
    return adjoint_ref::to(0, ends.size() - 1);
  }
  /// True when `v` is a temporary whose entry is the newest but `given` ones.
  TTENSOR_INLINE bool can_take(const tape& t, const var<X>& v, std::size_t given) const {
    const std::size_t n = ends.size() - given;
    return v.temporary() && v.serial() == t.serial && v.ref().id() == 0 && n > running->first && v.ref().offset() == n - 1;
  }
  TTENSOR_INLINE void take(const X& scale, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) pairs[i].partial = X(apply<absorb_op>(scale, pairs[i].partial));
  }
  void ready() {  // adjoints of all entries exist
    if (TTENSOR_UNLIKELY(adjoint.size() < ends.size())) adjoint.resize(ends.size(), X(0));
  }
  /// Adjoints while scalars are swept: the array that was last touched is remembered.
  class cursor {
   public:
    cursor(tape& t, scalar_pool& p) : t_(t), p_(p) {}
    TTENSOR_INLINE void add(std::uint64_t ref, const X& x) {
      const adjoint_ref r{ref};
      if (r.id() == 0) {
        X& a = p_.adjoint[r.offset()];
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
    scalar_pool& p_;
    std::uint32_t id_ = 0;
    X* base_ = nullptr;
  };
  static void add(tape& t, scalar_pool& p, std::uint64_t ref, const X& x) {
    p.ready();
    cursor(t, p).add(ref, x);
  }
  void sweep(tape& t, std::size_t first, std::size_t last) {
    ready();
    cursor c(t, *this);
    for (std::size_t e = last; e-- > first;) {
      std::size_t b = begin_of(e), n = ends[e];
      if (b == n) continue;  // an input keeps its adjoint
      X a;
      if (pairs[n - 1].ref & adjoint_ref::source_bit) {
        const adjoint_ref from{pairs[--n].ref};
        if (!t.slot(from.id()).live) continue;
        a = c.move(from.id(), static_cast<index_t>(from.offset()));
      } else {
        a = adjoint[e];
        adjoint[e] = X(0);
      }
      if constexpr (depth_v<X> == 0)
        if (a == X(0)) continue;
      for (std::size_t i = b; i < n; ++i) c.add(pairs[i].ref, X(apply<absorb_op>(a, pairs[i].partial)));
    }
  }
};

/// Moves the adjoint of a scalar to the scalar of another element type that it was converted from.
template <class X, class Y> struct element_change final : tape_node {
  adjoint_ref from, to;
  element_change(adjoint_ref f, adjoint_ref g) : from(f), to(g) {}
  void backward(tape& t) override {
    auto& pool = t.pool<scalar_pool<Y>>();
    pool.ready();
    Y& a = pool.adjoint[to.offset()];
    scalar_pool<X>::add(t, t.pool<scalar_pool<X>>(), from.bits, X(ttensor::apply<cast_op<elem_t<X>>>(a)));
    a = Y(0);
  }
};

namespace tapes {
/// The tape a set of operands records on: all active operands must belong to one.
template <class X> TTENSOR_INLINE tape& of(std::uint64_t serial) {
  using key = reelem_t<X, double>;
  tape* t = current<key>;
  if (TTENSOR_LIKELY(t != nullptr && t->serial == serial && t->recording)) return *t;
  return tape::find(serial);
}
}  // namespace tapes

template <class T> struct kind_rule<var<T>> {
  static constexpr int depth = depth_v<var<T>>;
  template <class A> static constexpr bool is_ours = depth_v<std::remove_cvref_t<A>> == depth;
  template <class A> TTENSOR_INLINE static constexpr decltype(auto) value(const A& a) {
    if constexpr (is_ours<A>) return a.value();
    else if constexpr (cpp_number<A> && !std::is_same_v<A, bool>) return static_cast<weak_t<elem_t<T>, A>>(a);
    else return (a);
  }
  template <class Op, class... A> TTENSOR_INLINE static auto apply(A&&... a) {
    const auto y = ttensor::apply<Op>(value(a)...);
    if constexpr (!Op::differentiable) {
      return y;
    } else {
      using Y = std::remove_cv_t<decltype(y)>;
      std::uint64_t serial = 0;
      bool mixed = false;
      auto look = [&](const auto& v) {
        if constexpr (is_ours<decltype(v)>)
          if (v.active()) {
            mixed = mixed || (serial != 0 && v.serial() != serial);
            serial = v.serial();
          }
      };
      (look(a), ...);
      if (serial <= tapes::silent) return var<Y>(y);
      if (TTENSOR_UNLIKELY(mixed)) tapes::mixed_levels();
      tape& t = tapes::of<Y>(serial);
      if constexpr ((is_foreign<A, Y> || ...)) {
        return apply<Op>(of_element<Y>(t, static_cast<A&&>(a))...);
      } else {
        auto& pool = t.pool<scalar_pool<Y>>();
        pool.enter(t);
        const auto p = Op::partials(value(a)..., y);
        record<Y>(t, pool, p, static_cast<A&&>(a)...);
        const adjoint_ref entry = pool.close();
        [&]<int... I>(std::integer_sequence<int, I...>) { (cross<Op, Y>(t, entry, at<I>(p), a), ...); }(std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>{});
        return var<Y>(y, serial, entry, true);
      }
    }
  }

 private:
  /// A taped operand of another element type than the result's, both real or both complex.
  template <class A, class Y> static constexpr bool is_foreign = is_ours<A> && !std::is_same_v<std::remove_cvref_t<A>, var<Y>> &&
      is_complex_v<elem_t<std::remove_cvref_t<A>>> == is_complex_v<elem_t<Y>>;
  template <class Y, class A> static decltype(auto) of_element(tape& t, A&& a) {
    if constexpr (!is_foreign<A, Y>) {
      return static_cast<A&&>(a);
    } else {
      using X = std::remove_cvref_t<decltype(a.value())>;
      const Y v(ttensor::apply<cast_op<elem_t<Y>>>(a.value()));
      if (!a.active()) return var<Y>(v);
      auto& pool = t.pool<scalar_pool<Y>>();
      pool.enter(t);
      const adjoint_ref r = pool.close();
      t.push<element_change<X, Y>>(a.ref(), r);
      return var<Y>(v, t.serial, r, false);
    }
  }
  template <class A> TTENSOR_INLINE static bool is_temporary(A&& a) {
    if constexpr (is_ours<A> && !std::is_lvalue_reference_v<A>) return a.temporary();
    else return static_cast<void>(a), false;
  }
  /// Adjoints pass an entry as a multiple only within one element type; between real and complex a node carries them.
  template <class Y, class A, class P> static constexpr bool crosses = is_ours<A> && !std::is_same_v<P, no_partial> &&
      (std::is_same_v<P, conjugated> || (is_complex_v<elem_t<Y>> != is_complex_v<elem_t<std::remove_cvref_t<A>>>));
  template <class Y, class Z, class Op, class P> struct cross_node final : tape_node {
    adjoint_ref from, to;
    P p;
    cross_node(adjoint_ref f, adjoint_ref g, const P& q) : from(f), to(g), p(q) {}
    void backward(tape& t) override {
      auto& pool = t.pool<scalar_pool<Y>>();
      pool.ready();
      Y& a = pool.adjoint[from.offset()];
      const Y ct = a;
      if (pool.begin_of(from.offset()) == pool.ends[from.offset()]) a = Y(0);  // nobody else takes it
      scalar_pool<Z>::add(t, t.pool<scalar_pool<Z>>(), to.bits, adjoint(sweeping::reverse_term<Op>(ct, p)));
    }
    template <class D> static Z adjoint(const D& d) {
      if constexpr (depth_v<Z> == 0) return convert_value<Z>(d);
      else if constexpr (is_complex_v<elem_t<D>> && !is_complex_v<elem_t<Z>>) return adjoint(ttensor::apply<real_op>(d));
      else return Z(ttensor::apply<cast_op<elem_t<Z>>>(d));
    }
  };
  template <class Op, class Y, class P, class A> static void cross(tape& t, adjoint_ref from, const P& p, const A& a) {
    if constexpr (crosses<Y, A, P>) {
      static_assert(!has_var_v<Y>, "ttensor: reverse mode over reverse mode does not go between real and complex; take forward over reverse, jvp(grad(f), z, v)");
      if (a.active()) t.push<cross_node<Y, std::remove_cvref_t<decltype(a.value())>, Op, P>>(from, a.ref(), p);
    }
  }
  /// The partial as a number of type Y, for storing.
  template <class Y, class P> TTENSOR_INLINE static Y number(const P& partial) {
    const auto p = sweeping::reverse_partial(partial);
    if constexpr (std::is_same_v<P, unit>) return Y(1);
    else if constexpr (std::is_same_v<P, minus_unit>) return Y(-1);
    else if constexpr (sweeping::is_both<P>) return Y(p.p);
    else if constexpr (sweeping::is_when<P> || sweeping::is_unless<P> || sweeping::is_tie<P>) return Y(sweeping::scale<mul_op>(Y(1), p));
    else return Y(p);
  }
  template <class Y, class Pool, class P, class... A> TTENSOR_INLINE static void record(tape& t, Pool& pool, const P& p, A&&... a) {
    // Entries of temporaries, newest first (C++ evaluates operands in any order): their pairs stay where they are and are scaled.
    constexpr int n = static_cast<int>(sizeof...(A));
    bool taken[n] = {};
    auto args = bundle<A&&...>{{{static_cast<A&&>(a)}...}};
    std::size_t end = pool.pairs.size(), entry = pool.ends.size();
    for (bool again = (is_temporary(static_cast<A&&>(a)) || ...); again;) {
      again = false;
      static_for<n>([&](auto i) {
        using V = at_t<i(), type_list<A&&...>>;
        if constexpr (std::is_same_v<V, var<Y>&&> && !crosses<Y, V, std::remove_cvref_t<decltype(at<i()>(p))>>) {
          if (taken[i()] || !pool.can_take(t, at<i()>(args), pool.ends.size() - entry)) return;
          at<i()>(args).give_away();
          taken[i()] = again = true;
          const std::size_t first = pool.begin_of(--entry);
          using P1 = std::remove_cvref_t<decltype(at<i()>(p))>;
          if constexpr (!std::is_same_v<P1, unit>) pool.take(number<Y>(at<i()>(p)), first, end);
          end = first;
        }
      });
    }
    pool.ends.resize(entry);
    const std::size_t own = pool.pairs.size();
    static_for<n>([&](auto i) {
      using D = std::remove_cvref_t<decltype(at<i()>(args))>;
      using P1 = std::remove_cvref_t<decltype(at<i()>(p))>;
      if constexpr (is_ours<D> && !std::is_same_v<P1, no_partial> && !crosses<Y, D, P1>) {
        const auto& v = at<i()>(args);
        if (taken[i()] || !v.active()) return;
        if (i() > 0 && pool.pairs.size() > own && pool.pairs.back().ref == v.ref().bits)  // a * a
          pool.pairs.back().partial = Y(ttensor::apply<add_op>(pool.pairs.back().partial, number<Y>(at<i()>(p))));
        else
          pool.pairs.push(number<Y>(at<i()>(p)), v.ref().bits);
      }
    });
  }
};

// ---- arrays: a store of values and a slot ------------------------------------------------------------------------------
template <class T, bool Owns> struct snapshot<var<T>, Owns> {
  snapshot<T, Owns> value;
  std::conditional_t<Owns, token_ref, token_ptr> slot;
  static constexpr int holds = 1 + snapshot<T>::holds;
  bool same(const snapshot& o) const requires requires { value.same(o.value); } { return value.same(o.value) && slot.operator->() == o.slot.operator->(); }
  template <class F> TTENSOR_INLINE void each_hold(F&& f) {
    value.each_hold(f);
    mem::hold h = slot.word();
    f(h);
  }
  TTENSOR_INLINE snapshot<var<T>, false> release() { return {value.release(), slot.release()}; }
  snapshot<var<T>> owning() const { return {value.owning(), token_ref(slot)}; }
  template <class F> TTENSOR_INLINE void planes(F&& f) const { value.planes(f); }
};
template <class T> class store<var<T>> {
  struct cell {
    store<T> value;
    token_ref slot;
    int holders = 1;
  };

 public:
  using S = var<T>;
  store() = default;
  store(store<T> v, token_ref slot) : cell_(new cell{static_cast<store<T>&&>(v), static_cast<token_ref&&>(slot)}) {}
  static store make(index_t n, const dims<batch_levels_v<S>>& b = ones<batch_levels_v<S>>()) { return store(store<T>::make(n, b), {}); }
  static store over(const snapshot<S>& v, index_t n) { return store(store<T>::over(v.value, n), v.slot); }
  bool valid() const { return static_cast<bool>(cell_); }
  bool is_borrowed() const { return false; }
  index_t size() const { return cell_ ? cell_->value.size() : 0; }
  store<T>& values() { return cell_->value; }
  const store<T>& values() const { return cell_->value; }
  const token_ref& slot() const { return cell_->slot; }
  void set_slot(token_ref t) { cell_->slot = static_cast<token_ref&&>(t); }
  template <class F> void vars(F&& f) { f(*this); }

  /// Reads one element. Of an array that is never written element by element the scalar is the element's adjoint and leaves
  /// no trace; else it is one scalar entry, given away if the value is consumed at once.
  TTENSOR_INLINE S get(index_t i) const {
    if (!cell_->slot || cell_->slot->tape_serial <= tapes::silent) return S(cell_->value.get(i));
    const slot_token& k = *cell_->slot.operator->();
    if (!k.written) {
      k.read = true;
      return S(cell_->value.get(i), k.tape_serial, adjoint_ref::to(k.id, static_cast<std::uint64_t>(i)), false);
    }
    return get_entry(i);
  }
  TTENSOR_NOINLINE S get_entry(index_t i) const {
    const slot_token& k = *cell_->slot.operator->();
    tape& t = tapes::of<T>(k.tape_serial);
    auto& pool = t.pool<scalar_pool<T>>();
    pool.enter(t);
    pool.pairs.push(T(1), adjoint_ref::to(k.id, static_cast<std::uint64_t>(i)).bits);
    return S(cell_->value.get(i), k.tape_serial, pool.close(), true);
  }
  S scalar() const {  // the store is a temporary: nobody can write it, so the scalar is its slot
    if (!cell_->slot) return S(cell_->value.get(0));
    return S(cell_->value.scalar(), cell_->slot->tape_serial, adjoint_ref::to(cell_->slot->id, 0), false);
  }
  /// Takes back the entry of a read that nobody used.
  static void discard(S& v) {
    if (!v.active() || !tape::alive(v.serial())) return;
    tape& t = tapes::of<T>(v.serial());
    auto& pool = t.pool<scalar_pool<T>>();
    if (pool.running && t.last() == pool.running && pool.can_take(t, v, 0)) {
      pool.ends.resize(pool.ends.size() - 1);
      pool.pairs.resize(pool.begin_of(pool.ends.size()));
      pool.running->last = pool.ends.size();
    }
  }
  void set(index_t i, const S& v) { write(i, S(v)); }
  void set(index_t i, S&& v) { write(i, static_cast<S&&>(v)); }
  void zero() { cell_->value.zero(); }
  snapshot<S, false> bare() const {
    if (!cell_) return {};
    return {cell_->value.bare(), token_ref(cell_->slot).release()};
  }
  snapshot<S> snap() const {
    if (!cell_) return {};
    return {cell_->value.snap(), cell_->slot};
  }
  store alias() const { return *this; }
  store value() const { return cell_ ? store(cell_->value.value(), cell_->slot) : store(); }
  template <class F> void cells(F&& f) { cell_->value.cells(f); }
  template <class F> void planes(F&& f) { cell_->value.planes(f); }
  void adopt(store&& o) {
    if (cell_ && cell_.shared() && o.cell_ && o.size() == size()) {
      cell_->value.adopt(static_cast<store<T>&&>(o.cell_->value));
      cell_->slot = o.cell_->slot;
    } else {
      *this = static_cast<store&&>(o);
    }
  }
  dims<batch_levels_v<S>> batch() const { return cell_->value.batch(); }
  void require_batch(const dims<batch_levels_v<S>>& b) { cell_->value.require_batch(b); }

  /// A slot of its own, so that writing into it in place cannot reach values that share the old one.
  void own_slot(std::uint64_t serial) {
    tape& t = tapes::of<T>(serial);
    if (!cell_->slot) {
      cell_->slot = token_ref(serial, t.new_slot<T>(size()));
    } else if (cell_->slot->tape_serial != serial) {
      tapes::mixed_levels();
    } else if (cell_->slot.shared() || cell_->slot->read) {  // elements that were read name the old slot
      const std::uint32_t from = cell_->slot->id, to = t.new_slot<T>(size());
      t.push<copy_node>(from, to);
      cell_->slot = token_ref(serial, to);
    }
    cell_->slot->written = true;
  }

 private:
  struct copy_node final : tape_node {  // the new slot starts as a copy of the old one
    std::uint32_t from, to;
    copy_node(std::uint32_t f, std::uint32_t g) : from(f), to(g) {}
    void backward(tape& t) override;
  };
  void write(index_t i, S&& v) {
    const bool active = v.active() && v.serial() > tapes::silent;
    if (active || cell_->slot) {
      const std::uint64_t serial = active ? v.serial() : cell_->slot->tape_serial;
      own_slot(serial);
      tape& t = tapes::of<T>(serial);
      auto& pool = t.pool<scalar_pool<T>>();
      pool.enter(t);
      if (active) {
        if (pool.can_take(t, v, 0)) pool.ends.resize(pool.ends.size() - 1);
        else pool.pairs.push(T(1), v.ref().bits);
      }
      pool.pairs.push(T(0), adjoint_ref::to(cell_->slot->id, static_cast<std::uint64_t>(i)).bits | adjoint_ref::source_bit);
      pool.close();
    }
    cell_->value.set(i, v.value());
  }
  mem::shared_cell<cell> cell_;
};

/// a += b for whole stores of equal size (adjoints).
template <class X> void add_store(store<X>& a, const store<X>& b) {
  using L = leaf<X, 1>;
  const dims<1> n{{b.size()}};
  const auto m = layout_map<1>::row_major(n);
  a.require_batch(b.batch());
  auto e = expr::make_node<add_op>(L{a.snap(), m}, L{b.snap(), m});
  statement_rule<X>::evaluate_into(a, e, n);
}
template <class T> void store<var<T>>::copy_node::backward(tape& t) {
  adjoint_slot<T>& g = t.at<T>(to);
  if (!g.live) return;
  add_store(t.at<T>(from).open(g.adjoint.batch()), g.adjoint);
  g.live = false;
  g.adjoint = {};
}

TTENSOR_END
