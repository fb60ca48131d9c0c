// batched<T>: one value per example. A tensor<batched<T>, R> is a store of T with the examples as its leading axis, so a
// statement inside vmap is the same fused loop with one more axis. A value that no example differs in has batch extent 1.
#pragma once
#include "../tensor/reduce.hpp"

TTENSOR_BEGIN

template <class T, class W, bool Owns> struct snapshot<basic_batched<T, W>, Owns> {
  snapshot<T, Owns> inner;
  index_t batch = 1, size = 0;  // examples; elements of one example
  level_call call{};
  static constexpr int holds = snapshot<T>::holds;
  bool same(const snapshot& o) const requires has_same<snapshot<T, Owns>> {
    return inner.same(o.inner) && batch == o.batch && size == o.size && call == o.call;
  }
  template <class F> TTENSOR_INLINE void each_hold(F&& f) { inner.each_hold(f); }
  snapshot<basic_batched<T, W>, false> release() { return {inner.release(), batch, size, call}; }
  snapshot<basic_batched<T, W>> owning() const { return {inner.owning(), batch, size, call}; }
  snapshot<basic_batched<T, W>, false> borrowed() const { return {inner.borrowed(), batch, size, call}; }
  template <class F> TTENSOR_INLINE void planes(F&& f) const {
    inner.planes([&]<class U, int B>(std::type_identity<U> t, const U* base, const dims<B>& be, const dims<B>& bs, mem::block* holder) {
      dims<B + 1> e{}, s{};
      for (int d = 0; d < B; ++d) e[d] = be[d], s[d] = bs[d];
      e[B] = batch;
      s[B] = batch == 1 ? 0 : size;
      f(t, base, e, s, holder);
    });
  }
  template <class Self, class F> static void each_call(Self& s, F&& f) {
    f(level_calls::name<basic_batched<T, W>>, s.call);
    level_calls::each(s.inner, f);
  }
};

template <class T, class W> class store<basic_batched<T, W>> {
  struct cell {
    store<T> inner;
    index_t batch, size;
    mem::atomic<int> holders = 1;
    level_call call{};
    static void* operator new(std::size_t) { return mem::cache.take_object<sizeof(cell)>(); }  // one for each number of a mapped function
    static void operator delete(void* p) noexcept { mem::cache.give_object<sizeof(cell)>(p); }
  };

 public:
  using S = basic_batched<T, W>;
  static constexpr int levels = batch_levels_v<S>;
  store() = default;
  store(store<T> inner, index_t batch, index_t size, const level_call& call = {})
      : cell_(new cell{static_cast<store<T>&&>(inner), batch, size, 1, call}) {}
  static store make(index_t n, const dims<levels>& b = ones<levels>()) {
    dims<levels - 1> older{};
    for (int d = 0; d < levels - 1; ++d) older[d] = b[d];
    return store(store<T>::make(n * b[levels - 1], older), b[levels - 1], n);
  }
  static store over(const snapshot<S>& v, index_t n) { return store(store<T>::over(v.inner, n * v.batch), v.batch, n, v.call); }
  bool valid() const { return static_cast<bool>(cell_); }
  bool is_borrowed() const { return false; }
  index_t size() const { return cell_ ? cell_->size : 0; }
  index_t examples() const { return cell_->batch; }
  bool mapped() const { return cell_->batch != 1; }
  store<T>& inner() { return cell_->inner; }
  const store<T>& inner() const { return cell_->inner; }

  S get(index_t i) const;
  void set(index_t i, const S& v);
  S scalar() const&;
  S scalar() &&;
  void zero() { cell_->inner.zero(); }
  snapshot<S, false> bare() const {
    if (!cell_) return {};
    return {cell_->inner.bare(), cell_->batch, cell_->size, cell_->call};
  }
  snapshot<S> snap() const {
    if (!cell_) return {};
    return {cell_->inner.snap(), cell_->batch, cell_->size, cell_->call};
  }
  bool shared() const { return cell_ && cell_.shared(); }
  bool is_copy_of(const store& o) const { return cell_.operator->() == o.cell_.operator->(); }
  store alias() const { return *this; }
  store value() const { return cell_ ? store(cell_->inner.value(), cell_->batch, cell_->size, cell_->call) : store(); }
  template <class F> void cells(F&& f) { cell_->inner.cells(f); }
  template <class F> void planes(F&& f) {
    const index_t batch = cell_->batch, size = cell_->size;
    cell_->inner.planes([&]<class U, int B>(std::type_identity<U> t, U* base, const dims<B>& be, const dims<B>& bs, mem::block* holder) {
      dims<B + 1> e{}, s{};
      for (int d = 0; d < B; ++d) e[d] = be[d], s[d] = bs[d];
      e[B] = batch;
      s[B] = batch == 1 ? 0 : size;
      f(t, base, e, s, holder);
    });
  }
  void adopt(store&& o) {
    if (cell_ && cell_.shared() && o.cell_ && o.size() == size()) {  // views see the new elements
      cell_->inner = static_cast<store<T>&&>(o.cell_->inner);
      cell_->batch = o.cell_->batch;
      cell_->call = o.cell_->call;
    } else {
      *this = static_cast<store&&>(o);
    }
  }
  dims<levels> batch() const {
    dims<levels> b{};
    const auto older = cell_->inner.batch();
    for (int d = 0; d < levels - 1; ++d) b[d] = older[d];
    b[levels - 1] = cell_->batch;
    return b;
  }
  /// Grows to the batch extents `b` (1: any): an unmapped value is repeated for every example at its first mapped write.
  void require_batch(const dims<levels>& b) {
    const index_t n = b[levels - 1];
    if (n != 1 && cell_->batch != n) {
      if (cell_->batch != 1) eval_detail::batch_mismatch(cell_->batch, n);
      using L = leaf<T, 2>;
      const dims<2> e{{n, cell_->size}};
      auto repeated = expr::make_node<cast_op<elem_t<T>>>(L{cell_->inner.snap(), layout_map<2>{0, e, {{0, 1}}}});
      cell_->inner = statement_rule<T>::evaluate(repeated, e);
      cell_->batch = n;
    }
    dims<levels - 1> older{};
    for (int d = 0; d < levels - 1; ++d) older[d] = b[d];
    cell_->inner.require_batch(older);
  }
  template <class Self, class F> static void each_call(Self& s, F&& f) {
    if (!s.cell_) return;
    f(level_calls::name<S>, std::conditional_t<std::is_const_v<Self>, const level_call&, level_call&>(s.cell_->call));
    level_calls::each(s.cell_->inner, f);
  }

 private:
  mem::shared_cell<cell> cell_;
};

/// The elements of integers or masks with another note of their levels (kinds::noted).
template <class To, class S, bool O> snapshot<To, O> with_note(const snapshot<S, O>& s) {
  if constexpr (std::is_same_v<To, S>) return s;
  else return {with_note<inner_t<To>>(s.inner), s.batch, s.size, s.call};
}
template <class To, class S> store<To> with_note(const store<S>& s) {
  if constexpr (std::is_same_v<To, S>) return s.value();
  else if (!s.valid()) return {};
  else return store<To>(with_note<inner_t<To>>(s.inner()), s.examples(), s.size(), s.snap().call);
}
template <class T, class W> struct basic_batched {
  basic_batched() : basic_batched(T(0)) {}
  /// The same for every example.
  template <class U>
  requires(any_scalar<U> && std::is_convertible_v<U, T> && !std::is_same_v<std::remove_cvref_t<U>, basic_batched>)
  basic_batched(const U& c) : elements_(store<T>::make(1), 1, 1) {
    elements_.inner().set(0, T(c));
  }
  /// An integer or mask that says its levels otherwise.
  template <class U, class V>
  requires(std::is_same_v<kinds::unnoted_t<basic_batched<U, V>>, kinds::unnoted_t<basic_batched>> &&
           !std::is_same_v<basic_batched<U, V>, basic_batched>)
  basic_batched(const basic_batched<U, V>& o) : elements_(with_note<basic_batched>(o.elements())) {}
  explicit basic_batched(store<basic_batched> s) : elements_(static_cast<store<basic_batched>&&>(s)) {}
  basic_batched(const basic_batched&) = default;  // copies share the elements until one is written
  basic_batched(basic_batched&& o) noexcept : elements_(o.elements_) {}  // what was moved from is still a number
  basic_batched& operator=(const basic_batched&) = default;
  template <class U> void operator=(const probe<U>& p) & { static_cast<void>(probe<basic_batched>(p)); }  // refuses what has no place here
  template <class V> void operator=(const V&) const&& {
    static_assert(
        sizeof(V) == 0,
        "ttensor: x(i) at a mapped position i is read only; where(arange<int>(n) == i, value, x) is x with another element there");
  }
  template <class B> requires std::is_same_v<B, bool> operator B() const {
    static_assert(
        !std::is_same_v<B, bool>,
        "ttensor: a condition on a batched value has one answer per example; use where(condition, a, b) or cond(condition, f, g, x...)");
    return false;
  }
  const store<basic_batched>& elements() const { return elements_; }
  bool same(const basic_batched& o) const requires has_same<snapshot<T>> { return elements_.snap().same(o.elements_.snap()); }
  store<basic_batched>& elements() {
    if (elements_.shared()) elements_ = elements_.value();
    return elements_;
  }
  bool is_copy_of(const basic_batched& o) const { return elements_.is_copy_of(o.elements_); }
  /// This number, which has no elements then: for a temporary that nobody uses again.
  basic_batched taken() noexcept { return basic_batched(static_cast<store<basic_batched>&&>(elements_)); }
  template <class Self, class F> static void each_call(Self& x, F&& f) { level_calls::each(x.elements(), f); }
  leaf<basic_batched, 0> as_leaf() const { return {elements_.snap(), {0, {}, {}}}; }
  template <class F> void planes(F&& f) const {
    constexpr int levels = batch_levels_v<basic_batched>;
    elements_.snap().planes([&]<class U, int B>(std::type_identity<U> t, const U* base, const dims<B>& be,
                                                const dims<B>& bs, mem::block* holder) {
      static_assert(B == levels);
      f(t, plane<B>{base, be, bs, holder});
    });
  }

 private:
  store<basic_batched> elements_;
};
/// In an expression a batched scalar is a leaf of rank 0.
template <class T, class W> TTENSOR_INLINE leaf<basic_batched<T, W>, 0> as_expression(const basic_batched<T, W>& s) { return s.as_leaf(); }

template <class T, class W> basic_batched<T, W> store<basic_batched<T, W>>::get(index_t i) const {
  const level_calls::unchecked copy;  // an element that is written is read first
  using L = leaf<T, 1>;
  const dims<1> n{{cell_->batch}};
  auto column = expr::make_node<cast_op<elem_t<T>>>(L{cell_->inner.snap(), layout_map<1>{i, n, {{cell_->batch == 1 ? 0 : cell_->size}}}});
  return S(store(statement_rule<T>::evaluate(column, n), cell_->batch, 1, cell_->call));
}
template <class T, class W> basic_batched<T, W> store<basic_batched<T, W>>::scalar() const& { return S(value()); }
template <class T, class W> basic_batched<T, W> store<basic_batched<T, W>>::scalar() && { return S(static_cast<store&&>(*this)); }
template <class T, class W> void store<basic_batched<T, W>>::set(index_t i, const S& v) {
  level_calls::write(cell_->call, v.elements().cell_->call);
  require_batch(v.elements().batch());
  const dims<1> n{{cell_->batch}};
  leaf<T, 1> from{v.elements().inner().snap(), layout_map<1>{0, n, {{v.elements().mapped() ? 1 : 0}}}};
  statement_rule<T>::assign_region(cell_->inner, layout_map<1>{i, n, {{cell_->size}}}, from);
}

template <class T, class W> struct kind_rule<basic_batched<T, W>> {
  /// Scalars, duals of mapped ones too, become expressions of rank 0; the result is evaluated, one loop over the examples.
  template <class Op, class... A> static auto apply(A&&... a) {
    return evaluated_number(expr::build<Op>(static_cast<A&&>(a)...));
  }
};

TTENSOR_END
