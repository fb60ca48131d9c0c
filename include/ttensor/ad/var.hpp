// var<T>: reverse mode for scalar code, and the stores of taped arrays.
//
// Scalar operations are preaccumulated a statement at a time: the result of an operation that is consumed as a temporary
// gives its tape entry to its consumer, so `y = a * b + sin(c)` leaves one entry with the partials of a, b and c. Only the
// newest entry can be given away, and copying a var keeps its entry, so nothing that is still used is ever rewritten.
#pragma once
#include "../ops/complex.hpp"
#include "../tensor/statement_rule.hpp"
#include "dual.hpp"
#include "scalar_tape.hpp"

TTENSOR_HD_BEGIN

/// The tape that a scalar is on, by its serial number (0: a constant), and its bits there.
struct place_on_tape {
  std::uint64_t serial = 0, bits = adjoint_ref::none;
};
template <class T> struct var {
  var() : value_{} {}
  /// A constant: numbers and values of older levels.
  template <class U>
  requires(any_scalar<U> && std::is_convertible_v<U, T> && !std::is_same_v<std::remove_cvref_t<U>, var>)
  var(const U& c) : value_(T(c)) {}
  var(const T& v, std::uint64_t serial, adjoint_ref r) : serial_(serial), value_(v), bits_(r.bits) {}
  var(const T& v, const place_on_tape& p) : serial_(p.serial), value_(v), bits_(p.bits) {}
  // Copied in the operators' rules, which are templates for host and device: of some of them nvcc says that they may not, and not where.
  TTENSOR_NO_EXEC_CHECK
  TTENSOR_HD var(const var& o) : serial_(o.serial_), value_(o.value_), bits_(o.kept()) {}
  TTENSOR_NO_EXEC_CHECK
  TTENSOR_HD var(var&& o) noexcept : serial_(o.serial_), value_(static_cast<T&&>(o.value_)), bits_(o.bits_) { o.leave(); }
  var& operator=(const var& o) {
    value_ = o.value_;
    serial_ = o.serial_;
    bits_ = o.kept();
    return *this;
  }
  var& operator=(var&& o) noexcept {
    value_ = static_cast<T&&>(o.value_);
    serial_ = o.serial_;
    bits_ = o.bits_;
    if (this != &o) o.leave();
    return *this;
  }
  template <class U> void operator=(const probe<U>& p) & { static_cast<void>(probe<var>(p)); }  // refuses what has no place here
  const T& value() const { return value_; }
  bool active() const { return serial_ != 0; }
  std::uint64_t serial() const { return serial_; }
  /// The entry, which from now on nobody may have: what was recorded with it refers to it.
  adjoint_ref ref() const { return {kept()}; }
  /// The entry is `r`, and whoever consumes this var may have it.
  TTENSOR_INLINE bool is_temporary(adjoint_ref r) const { return bits_ == r.as_temporary(); }
  bool has_left() const { return serial_ == ~std::uint64_t(0); }
  /// The entry now belongs to the consumer; using this var again is an error, not a wrong number.
  TTENSOR_HD void give_away() {
    serial_ = ~std::uint64_t(0);
    bits_ = adjoint_ref::none;
  }
  std::uint64_t bits() const { return bits_; }
  bool same(const var& o) const requires(depth_v<T> == 0 || has_same<T>) {
    return serial_ == o.serial_ && kept() == o.kept() && expr::same_number(value_, o.value_);
  }
  /// A temporary has one owner, from now on another.
  TTENSOR_HD TTENSOR_INLINE void leave() {
    if (bits_ & adjoint_ref::temporary_bit) give_away();
  }
  template <class F> void planes(F&& f) const {
    if constexpr (depth_v<T> == 0) f(std::type_identity<T>{}, plane<0>{&value_, {}, {}, nullptr});
    else value_.planes(f);
  }

 private:
  TTENSOR_HD std::uint64_t kept() const {
    if (bits_ & adjoint_ref::temporary_bit) bits_ &= ~adjoint_ref::temporary_bit;  // threads may share what is no temporary
    return bits_;
  }
  std::uint64_t serial_ = 0;  // not beside the bits: GCC would store both through a vector
  T value_;
  mutable std::uint64_t bits_ = adjoint_ref::none;
};

TTENSOR_HD_END
TTENSOR_BEGIN

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
      const auto& hot = tapes::hot<Y>;
      if (TTENSOR_LIKELY((is_of(hot.serial, a) && ...)))
        if constexpr (!(is_foreign<A, Y> || ...)) return var<Y>(y, record<Op, false>(*hot.pool, hot.serial, y, static_cast<A&&>(a)...));
      if ((serial_of(a) | ...) == 0) return var<Y>(y);
      (keep<Y>(static_cast<A&&>(a)), ...);  // before any is moved
      return var<Y>(y, record_cold<Op, Y, A...>(y, static_cast<A&&>(a)...));
    }
  }

 private:
  template <class A> static bool has_left(const A& a) {
    if constexpr (is_ours<A>) return a.has_left();
    else return false;
  }
  template <class A> TTENSOR_INLINE static std::uint64_t serial_of(const A& a) {
    if constexpr (is_ours<A>) return a.serial();
    else return 0;
  }
  template <class A> TTENSOR_INLINE static bool is_of(std::uint64_t serial, const A& a) {
    if constexpr (is_ours<A>) return a.serial() == serial;
    else return true;
  }
  /// How an operand goes to a function that is not inlined: whose address is taken lives in memory.
  template <class A> using passed_t = std::conditional_t<ordinary::is_numbers<std::remove_cvref_t<T>>, std::remove_cvref_t<A>, A&&>;
  /// Where not every operand is of the tape that was recorded on last.
  template <class Op, class Y, class... A> TTENSOR_NOINLINE static place_on_tape record_cold(passed_t<const Y&> y, passed_t<A>... a) {
    std::uint64_t serial = 0;
    bool mixed = false;
    auto look = [&](std::uint64_t s) {
      if (s == 0) return;
      mixed = mixed || (serial != 0 && s != serial);
      if (s > serial) serial = s;
    };
    (look(serial_of(a)), ...);
    if (serial <= tapes::silent) return {};
    if (mixed) (has_left(a) || ...) ? tapes::not_live() : tapes::mixed_levels();
    if constexpr ((is_foreign<A, Y> || ...)) return record_converted<Op>(serial, y, of_element<Y>(tapes::of<Y>(serial), static_cast<A&&>(a))...);
    else return record<Op, true>(tapes::recording_pool<Y>(serial), serial, y, static_cast<A&&>(a)...);
  }
  template <class Op, class Y, class... A> static place_on_tape record_converted(std::uint64_t serial, const Y& y, A&&... a) {  // conversions are nodes: first
    return record<Op, true>(tapes::recording_pool<Y>(serial), serial, y, static_cast<A&&>(a)...);
  }
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
      const adjoint_ref r = pool.input();
      t.push<element_change<X, Y>>(a.ref(), r);
      return var<Y>(v, t.serial, r);
    }
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
      const Y ct = pool.adjoint(from.offset());  // that of an entry without pairs stands until the adjoints of the next sweep are cleared
      add_adjoint<Z>(t, to, adjoint(sweeping::reverse_term<Op>(ct, p)));
    }
    template <class D> static Z adjoint(const D& d) {
      if constexpr (depth_v<Z> == 0) return convert_value<Z>(d);
      else if constexpr (is_complex_v<elem_t<D>> && !is_complex_v<elem_t<Z>>) return adjoint(ttensor::apply<real_op>(d));
      else return Z(ttensor::apply<cast_op<elem_t<Z>>>(d));
    }
  };
  template <class Op, class Y, class P, class A> static void cross(std::uint64_t serial, adjoint_ref from, const P& p, const A& a) {
    if constexpr (crosses<Y, A, P>) {
      if (a.active()) tapes::of<Y>(serial).template push<cross_node<Y, std::remove_cvref_t<decltype(a.value())>, Op, P>>(from, a.ref(), p);
    }
  }
  /// The partial as a number of type Y, for storing. What was not selected, and a zero that absorbs from both sides, is -0, and nothing else (chain_op).
  template <class Y, class P> TTENSOR_INLINE static Y number(const P& partial) {
    const auto p = sweeping::reverse_partial(partial);
    if constexpr (std::is_same_v<P, minus_unit>) return Y(-1);
    else if constexpr (sweeping::is_when<P>) return selected<Y>(p.c, 1.0, -0.0);
    else if constexpr (sweeping::is_unless<P>) return selected<Y>(p.c, -0.0, 1.0);
    else if constexpr (sweeping::is_tie<P>) return selected<Y>(p.take, 1.0, selected<Y>(p.half, 0.5, -0.0));
    else if constexpr (sweeping::is_both<P>) return ordinary::at_zero<mark_op>(Y(p.p));
    else if constexpr (sweeping::is_chained<P>) return Y(p.p);
    else if constexpr (is_kind_v<P> && !std::is_same_v<elem_t<P>, elem_t<Y>>) return Y(ttensor::apply<mul_op>(Y(1), p));  // a mapped integer
    else return ordinary::at_zero<unmark_op>(Y(p));
  }
  template <class Y, class C, class A, class B> TTENSOR_INLINE static Y selected(const C& c, const A& a, const B& b) {
    return Y(ttensor::apply<where_op>(c, Y(a), Y(b)));
  }
  /// Records y = Op(a...), where an operand is on the pool's tape and none on another. Constants: some may be on no tape.
  template <class Op, bool Constants, class Y, class... A> TTENSOR_INLINE static place_on_tape record(scalar_pool<Y>& pool, std::uint64_t serial, const Y& y, A&&... a) {
    return record<Op, Constants>(std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>{}, pool, serial, Op::partials(value(a)..., y), static_cast<A&&>(a)...);
  }
  template <class Op, bool Constants, int... I, class Y, class P, class... A>
  TTENSOR_INLINE static place_on_tape record(std::integer_sequence<int, I...>, scalar_pool<Y>& pool, std::uint64_t serial, const P& p, A&&... a) {
    (keep<Y>(static_cast<A&&>(a)), ...);  // before any is handed over: std::move(a) * a
    auto items = make_bundle(item_of<Y>(pool, at<I>(p), a)...);
    (hand_over<Y, std::remove_cvref_t<decltype(at<I>(p))>>(static_cast<A&&>(a)), ...);
    const adjoint_ref entry = record_items<Constants, sizeof...(A)>(pool, at<I>(static_cast<decltype(items)&&>(items))...);
    (cross<Op, Y>(serial, entry, at<I>(p), a), ...);
    return {serial, entry.as_temporary()};
  }
  /// Whether an operand has a pair in the entry of the result.
  template <class Y, class P, class A> static constexpr bool has_item = is_ours<A> && !std::is_same_v<P, no_partial> && !crosses<Y, A, P>;
  template <class Y, class A> TTENSOR_INLINE static void keep(A&& a) {
    if constexpr (is_ours<A> && !std::is_same_v<A&&, var<Y>&&>) static_cast<void>(a.ref());
  }
  template <class Y, class P, class A> TTENSOR_INLINE static void hand_over(A&& a) {
    if constexpr (has_item<Y, P, A> && std::is_same_v<A&&, var<Y>&&>) a.leave();
  }
  struct no_item {};
  template <class Y, class P, class A> TTENSOR_INLINE static auto item_of([[maybe_unused]] const scalar_pool<Y>& pool, const P& partial, const A& a) {
    if constexpr (!has_item<Y, P, A>) return no_item{};
    else if constexpr (std::is_same_v<P, unit>) return typename scalar_pool<Y>::unit_item{{pool.one(), a.bits()}};
    else return typename scalar_pool<Y>::item{number<Y>(partial), a.bits()};
  }
  /// The items among what the operands are: each goes to the end in turn.
  template <bool Constants, int Left, class Y, class... Item> TTENSOR_INLINE static adjoint_ref record_items(scalar_pool<Y>& pool, Item&&... item) {
    if constexpr (Left > 0) return rotate_items<Constants, Left>(pool, static_cast<Item&&>(item)...);
    else if constexpr (sizeof...(Item) == 0) return pool.input();
    else if constexpr (sizeof...(Item) == 2 && Constants) return record_active(pool, static_cast<Item&&>(item)...);
    else return pool.record(static_cast<Item&&>(item)...);
  }
  template <bool Constants, int Left, class Y, class First, class... Rest> TTENSOR_INLINE static adjoint_ref rotate_items(scalar_pool<Y>& pool, First&& first, Rest&&... rest) {
    if constexpr (std::is_same_v<First, no_item>) return record_items<Constants, Left - 1>(pool, static_cast<Rest&&>(rest)...);
    else return record_items<Constants, Left - 1>(pool, static_cast<Rest&&>(rest)..., static_cast<First&&>(first));
  }
  template <class Y, class A, class B> TTENSOR_INLINE static adjoint_ref record_active(scalar_pool<Y>& pool, A&& a, B&& b) {
    if (a.ref == adjoint_ref::none) return pool.record(static_cast<B&&>(b));
    if (b.ref == adjoint_ref::none) return pool.record(static_cast<A&&>(a));
    return pool.record(static_cast<A&&>(a), static_cast<B&&>(b));
  }
};

// ---- arrays: a store of values and a slot ------------------------------------------------------------------------------
template <class T, bool Owns> struct snapshot<var<T>, Owns> {
  snapshot<T, Owns> value;
  std::conditional_t<Owns, token_ref, token_ptr> slot;
  static constexpr int holds = 1 + snapshot<T>::holds;
  bool same(const snapshot& o) const requires has_same<snapshot<T, Owns>> {
    return value.same(o.value) && slot.operator->() == o.slot.operator->();
  }
  template <class F> TTENSOR_INLINE void each_hold(F&& f) {
    value.each_hold(f);
    mem::hold h = slot.word();
    f(h);
  }
  TTENSOR_INLINE snapshot<var<T>, false> release() { return {value.release(), slot.release()}; }
  snapshot<var<T>> owning() const { return {value.owning(), token_ref(slot)}; }
  snapshot<var<T>, false> borrowed() const { return {value.borrowed(), slot}; }
  template <class F> TTENSOR_INLINE void planes(F&& f) const { value.planes(f); }
};
template <class T> class store<var<T>> {
  struct cell {
    store<T> value;
    token_ref slot;
    mem::atomic<int> holders = 1;
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

  /// Reads one element. Of an array that is never written element by element the scalar is the element's adjoint and leaves
  /// no trace; else it is one scalar entry, given away if the value is consumed at once.
  TTENSOR_INLINE S get(index_t i) const {
    const slot_token* const k = cell_->slot.operator->();
    place_on_tape p;
    if (k && k->tape_serial > tapes::silent) {
      p.serial = k->tape_serial;
      if (k->written) return S(cell_->value.get(i), {p.serial, read_entry(*k, i)});
      __atomic_store_n(&k->read, true, __ATOMIC_RELAXED);  // threads that may not record come here too, and are refused when they use it
      p.bits = adjoint_ref::to(k->id, static_cast<std::uint64_t>(i)).bits;
    }
    return S(cell_->value.get(i), p);
  }
  TTENSOR_NOINLINE static std::uint64_t read_entry(const slot_token& k, index_t i) {
    auto& pool = tapes::recording_pool<T>(k.tape_serial);
    T one = pool.one(), adjoint = pool.zero();
    pool.room(2);
    const std::size_t begin = pool.items.size();
    pool.pair(static_cast<T&&>(one), adjoint_ref::to(k.id, static_cast<std::uint64_t>(i)).bits);
    return pool.close(begin, static_cast<T&&>(adjoint)).as_temporary();
  }
  S scalar() const {  // the store is a temporary: nobody can write it, so the scalar is its slot
    if (!cell_->slot) return S(cell_->value.get(0));
    return S(cell_->value.scalar(), cell_->slot->tape_serial, adjoint_ref::to(cell_->slot->id, 0));
  }
  /// Takes back the entry of a read that nobody used.
  static void discard(S& v) {
    tape* t = v.active() ? tape::recording_as(v.serial()) : nullptr;
    if (t) t->pool<scalar_pool<T>>().discard(*t, v);
  }
  void set(index_t i, const S& v) { write(i, S(v)); }
  void set(index_t i, S&& v) { write(i, static_cast<S&&>(v)); }
  void zero() { cell_->value.zero(); }
  TTENSOR_NOINLINE snapshot<S, false> bare() const noexcept(depth_v<T> == 0) {  // of many leaves in one tree
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
    cell_->slot->copied = 0;
  }

 private:
  struct copy_node final : tape_node {  // the new slot starts as a copy of the old one
    std::uint32_t from, to;
    copy_node(std::uint32_t f, std::uint32_t g) : from(f), to(g) {}
    void backward(tape& t) override;  // add_region.hpp
  };
  void write(index_t i, S&& v) {
    const bool active = v.active() && v.serial() > tapes::silent;
    own_memory(cell_->value);  // first, as memory may fail
    unfinished_write steps;
    if (active || cell_->slot) {
      const std::uint64_t serial = active ? v.serial() : cell_->slot->tape_serial;
      own_slot(serial);
      steps.serial = serial;
      auto& pool = tapes::recording_pool<T>(serial);
      T one = pool.one(), zero = pool.zero(), adjoint = pool.zero();
      pool.room(3);
      std::size_t begin = pool.items.size();
      if (active) {
        if (v.is_temporary(pool.newest())) begin = pool.begin_of(begin - 1), pool.drop_end(), v.give_away();
        else pool.pair(static_cast<T&&>(one), v.ref().bits);
      }
      pool.pair(static_cast<T&&>(zero), adjoint_ref::to(cell_->slot->id, static_cast<std::uint64_t>(i)).bits);
      pool.close(begin, static_cast<T&&>(adjoint), adjoint_ref::source_bit);
    }
    cell_->value.set(i, v.value());
    steps.serial = 0;
  }
  mem::shared_cell<cell> cell_;
};

TTENSOR_END
