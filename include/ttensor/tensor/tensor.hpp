// tensor: the owning array with value semantics, and tensor_view: an alias of (a part of) one. API.md lists what users see.
#pragma once
#include <initializer_list>
#include "evaluate.hpp"
#include "statement_rule.hpp"

TTENSOR_BEGIN

template <class S, int R> class view_of;
struct remainder_op;
struct shift_left_op;
struct shift_right_op;

#define TTENSOR_LEVEL_REMEDY /* the commonest cause first */                                                                  \
  "Make the parameter of the function that the transform was given auto: [](const auto& x) { ... }. Else declare the tensor " \
  "with the scalar type of the value, scalar_t<decltype(x)>, or, inside a transform whose function captures outer "           \
  "variables, pass closing_over(x...)"

/// What `a(i, j)` of a non-const array returns: behaves as the scalar it read; assigning to it while it is a temporary
/// writes the element, assigning to a named one changes only its own value.
template <class S> class element {
 public:
  using ttensor_proxy = void;
  using scalar = S;
  TTENSOR_INLINE element(store<S>* s, index_t at) : value_(s->get(at)), store_(s), at_(at) {}
  TTENSOR_INLINE operator S() const& { return value_; }  // by value: const double& r = x(0) lives as long as r
  TTENSOR_INLINE operator S() && { return static_cast<S&&>(value_); }
  /// Exchanges two elements: swap(x(0), x(1)).
  friend void swap(element&& a, element&& b) {
    const S x(a.value_);
    a.store_->set(a.at_, b.value_);
    b.store_->set(b.at_, x);
  }
  TTENSOR_INLINE const S& get() const& { return value_; }
  TTENSOR_INLINE S&& get() && { return static_cast<S&&>(value_); }
  template <class V> TTENSOR_INLINE element& operator=(const V& v) & { value_ = static_cast<S>(v); return *this; }
  template <class V> TTENSOR_INLINE void operator=(V&& v) && { write(static_cast<V&&>(v)); }
  TTENSOR_INLINE void operator=(const element& o) && { write(S(o.value_)); }
  TTENSOR_INLINE void operator=(element&& o) && { write(static_cast<S&&>(o.value_)); }
  element& operator=(const element& o) & { value_ = o.value_; return *this; }
  element(const element&) = default;
  element(element&&) = default;
  template <class V> TTENSOR_INLINE void operator+=(const V& v) && { write(with<add_op>(v)); }
  template <class V> TTENSOR_INLINE void operator-=(const V& v) && { write(with<sub_op>(v)); }
  template <class V> TTENSOR_INLINE void operator*=(const V& v) && { write(with<mul_op>(v)); }
  template <class V> TTENSOR_INLINE void operator/=(const V& v) && { write(with<div_op>(v)); }
  S operator++() && requires(!std::is_same_v<S, bool>) { return stepped(1), static_cast<S&&>(value_); }
  S operator--() && requires(!std::is_same_v<S, bool>) { return stepped(-1), static_cast<S&&>(value_); }
  S operator++(int) && requires(!std::is_same_v<S, bool>) { const S was(value_); return stepped(1), was; }
  S operator--(int) && requires(!std::is_same_v<S, bool>) { const S was(value_); return stepped(-1), was; }
  template <class V> requires is_integer_v<S> void operator%=(const V& v) && { write(with<remainder_op>(v)); }
  template <class V> requires(is_integer_v<S> || std::is_same_v<S, bool>) void operator&=(const V& v) && { write(value_ & v); }
  template <class V> requires(is_integer_v<S> || std::is_same_v<S, bool>) void operator|=(const V& v) && { write(value_ | v); }
  template <class V> requires(is_integer_v<S> || std::is_same_v<S, bool>) void operator^=(const V& v) && { write(value_ ^ v); }
  template <class V> requires is_integer_v<S> void operator<<=(const V& v) && { write(with<shift_left_op>(v)); }
  template <class V> requires is_integer_v<S> void operator>>=(const V& v) && { write(with<shift_right_op>(v)); }
  template <class V> element& operator+=(const V& v) & { value_ = fitted(with<add_op>(v)); return *this; }
  template <class V> element& operator-=(const V& v) & { value_ = fitted(with<sub_op>(v)); return *this; }
  template <class V> element& operator*=(const V& v) & { value_ = fitted(with<mul_op>(v)); return *this; }
  template <class V> element& operator/=(const V& v) & { value_ = fitted(with<div_op>(v)); return *this; }

 private:
  void stepped(int by) { value_ = fitted(with<add_op>(by)), store_->set(at_, value_); }
  /// Op of the value and v, as of arrays: integers wrap and take the type of the element, x / 0 is 0.
  template <class Op, class V> TTENSOR_INLINE auto with(const V& v) {
    if constexpr (element_proxy<V>) return with<Op>(v.get());
    else if constexpr (std::is_signed_v<S> && std::is_unsigned_v<V>) return apply<Op>(value_, static_cast<std::conditional_t<(sizeof(V) > sizeof(S)), std::int64_t, S>>(v));
    else if constexpr (complex_number<S> && complex_number<V>) return apply<Op>(value_, S(v));
    else return apply<Op>(static_cast<S&&>(value_), v);
  }
  template <class V> TTENSOR_INLINE void write(V&& v) {
    if constexpr (requires { store<S>::discard(value_); }) store<S>::discard(value_);  // a read nobody used leaves no trace
    if constexpr (element_proxy<V>) store_->set(at_, fitted(v.get()));
    else store_->set(at_, fitted(static_cast<V&&>(v)));
  }
  template <class V> TTENSOR_INLINE static S fitted(V&& v) {
    static_assert(std::is_constructible_v<S, V>,
                  "ttensor: a value of a newer transform level is written into an element of a tensor that lacks that level. " TTENSOR_LEVEL_REMEDY);
    if constexpr (cpp_number<V>) return expr::weak_number<S>(v);
    else return S(static_cast<V&&>(v));
  }
  S value_;
  store<S>* store_;
  index_t at_;
};

namespace tensor_detail {
template <class S, int R> struct nested { using type = std::initializer_list<typename nested<S, R - 1>::type>; };
template <class S> struct nested<S, 0> { using type = S; };
template <class S, int R> using nested_t = typename nested<S, R>::type;
template <class S, int R, int Q> void nested_shape(const nested_t<S, R>& l, dims<Q>& e, int d) {
  e[d] = static_cast<index_t>(l.size());
  if constexpr (R > 1)
    if (l.size()) nested_shape<S, R - 1>(*l.begin(), e, d + 1);
}
template <class S, int R, int Q> void nested_fill(const nested_t<S, R>& l, store<S>& to, const dims<Q>& e, index_t& at, int d) {
  if (static_cast<index_t>(l.size()) != e[d])
    raise<shape_error>("[tensor] ragged braces: a row of " + to_message(static_cast<std::int64_t>(l.size())) + " elements where " + to_message(e[d]) +
                              " were expected; give every row the same length [TT-S04]");
  for (const auto& x : l) {
    if constexpr (R > 1) nested_fill<S, R - 1>(x, to, e, at, d + 1);
    else to.set(at++, x);
  }
}
/// One element of braces that lack a level: any number, but not {number}.
struct bare_element {
  template <class U> requires any_scalar<U> bare_element(const U&) {}
};
template <bool Flat = true> void flat_braces() {
  static_assert(!Flat, "ttensor: flat braces for a tensor of two or more axes. Braces are elements, one level for each axis: {{1, 2}, {3, 4}}; extents stand in "
                       "parentheses: tensor<double, 2>(2, 3)");
}
template <class E, class S> inline constexpr bool assignable = [] {
  using F = scalar_t<E>;
  return depth_v<F> <= depth_v<S> || !is_differentiable_v<elem_t<F>>;
}();
template <class S, class E> void check_assignable() {
  static_assert(assignable<E, S>,
                "ttensor: a value of a newer transform level is written into a tensor whose element type lacks that level. " TTENSOR_LEVEL_REMEDY);
  using P = typename decltype(expr::assigned<elem_t<S>, E>())::type;
  static_assert(std::is_same_v<P, elem_t<S>> || (std::is_same_v<elem_t<S>, half> || std::is_same_v<elem_t<S>, bfloat16>),
                "ttensor: narrowing is never implicit: write to<T>(expression)");
}
/// A number that fills a tensor of S.
template <class S, class V> S weak_scalar(const V& v) {
  check_assignable<S, V>();
  if constexpr (cpp_number<V>) return S(expr::weak_number<elem_t<S>>(v));
  else return S(expr::plain(v));
}
/// The right side of a statement. A temporary is used in place, so that its leaves are the statement's only holders and the
/// result may be written in place; an expression that has a name is copied and so keeps its snapshot.
template <class S, class E> TTENSOR_INLINE decltype(auto) as_elem(E&& e) {
  using D = std::remove_cvref_t<E>;
  check_assignable<S, D>();
  if constexpr (expression<D> && !std::is_lvalue_reference_v<E> && std::is_same_v<elem_t<scalar_t<D>>, elem_t<S>>) return static_cast<E&&>(e);
  else return expr::operand<elem_t<S>>(expr::plain(static_cast<E&&>(e)));
}
[[noreturn]] void fixed_extent(index_t got, index_t want, int d);
[[noreturn]] void gone_view();
[[noreturn]] void unlike_views(const message& a, const message& b);
#if defined(TTENSOR_BODY)
TTENSOR_BODY void gone_view() { raise<error>("[assign] this view was moved from (std::swap does that); exchange elements with swap(a(0), a(1)), found by its arguments [TT-E03]"); }
TTENSOR_BODY void unlike_views(const message& a, const message& b) { raise<shape_error>("[swap] shapes differ: " + a + " and " + b + "; exchange views of one shape [TT-S19]"); }
TTENSOR_BODY void fixed_extent(index_t got, index_t want, int d) {
  raise<shape_error>("[tensor] extent " + to_message(got) + " on axis " + to_message(d) + ", whose type fixes it to " + to_message(want) +
                            " [TT-S03]");
}
#endif
template <int R> index_t flat_index(const layout_map<R>& m, const index_t (&i)[R > 0 ? R : 1]) {
  index_t at = m.offset;
  for (int d = 0; d < R; ++d) at += (TTENSOR_CHECK_BOUNDS ? shape::normalize_index(i[d], m.extent[d], d) : i[d] < 0 ? i[d] + m.extent[d] : i[d]) * m.stride[d];
  return at;
}
}  // namespace tensor_detail

template <class T> inline constexpr bool is_tensor_object_v = requires { typename T::ttensor_tensor; };

namespace tensor_detail {
/// Walks the first axis as NumPy does: views, which can be written, or the elements of an array of one axis, which can only be read: a
/// name of an element is a value, so that writing it would be lost.
template <class A> struct first_axis {
  static constexpr bool elements = A::array_rank == 1;
  using value_type = std::remove_cvref_t<decltype(std::declval<std::conditional_t<elements, const A&, A&>>()(index_t(0)))>;
  using difference_type = index_t;
  A* array;
  index_t at;
  decltype(auto) operator*() const {
    if constexpr (!elements) return (*array)(at);
    else if constexpr (depth_v<value_type> > 0) return static_cast<const A&>(*array)(at);
    else return element();
  }
  first_axis& operator++() { return ++at, *this; }
  first_axis operator++(int) { return {array, at++}; }
  bool operator==(const first_axis& o) const { return at == o.at; }

 private:
  const value_type& element() const {
    const A& a = *array;
    if constexpr (requires { a.data(); }) return a.data()[at];
    else return a.elements().data()[a.map().offset + at * a.map().stride[0]];
  }
};

/// One position for each example of a vmap.
template <class I> inline constexpr bool is_mapped_index_v = [] {
  if constexpr (element_proxy<I>) return is_mapped_index_v<typename I::scalar>;
  else if constexpr (scalar_kind<I>) return std::is_integral_v<elem_t<I>> && !std::is_same_v<elem_t<I>, bool>;
  else return false;
}();
template <class T> std::add_const_t<T> read_only(T value) { return value; }  // not assigned to by mistake
}  // namespace tensor_detail

/// What every array has; Self supplies map() and elements() (its store).
template <class Self, class S, int R> struct array_interface {
  using ttensor_array = void;
  using scalar = std::remove_const_t<S>;
  using value_type = scalar;
  static constexpr int array_rank = R;

  dims<R> shape() const { return self().map().extent; }
  dims<R> strides() const { return self().map().stride; }
  index_t extent(int d) const { return self().map().extent[shape::normalize_axis(d, R, "extent")]; }
  index_t size() const { return shape::size(self().map().extent); }

  TTENSOR_INLINE auto as_leaf() const { return leaf<scalar, R>{self().elements().snap(), self().map()}; }

  template <class... I> requires(sizeof...(I) == R && (shape::is_index_v<I> && ...)) TTENSOR_INLINE auto operator()(I... i) const {
    return self().elements().get(tensor_detail::flat_index<R>(self().map(), {static_cast<index_t>(i)...}));
  }
  template <class... A> requires((sizeof...(A) != R || !(shape::is_index_v<A> && ...)) && (shape::is_slice_v<std::remove_cvref_t<A>> && ...))
  auto operator()(const A&... a) const {
    auto m = shape::slice(self().map(), a...);
    return view_of<const scalar, decltype(m.extent)::size()>(self().elements().alias(), m);
  }
  /// At positions of which some differ between examples: a value, as take gives it.
  template <class... I> requires((tensor_detail::is_mapped_index_v<I> || ...) && ((tensor_detail::is_mapped_index_v<I> || shape::is_index_v<I>) && ...))
  decltype(auto) operator()(const I&... i) const {
    static_assert(sizeof...(I) <= R, "ttensor: more indices than axes");
    return tensor_detail::read_only(take_first(self(), i...));
  }
  template <class... A> requires((tensor_detail::is_mapped_index_v<A> || ...) && (shape::is_slice_v<A> || ...) && !(array_like<A> || ...) &&
                                 !((tensor_detail::is_mapped_index_v<A> || shape::is_index_v<A>) && ...))
  double& operator()(const A&...) const {
    static_assert(sizeof...(A) < 0, "ttensor: an integer that differs between examples does not mix with slices: take(x, index, axis) picks along an axis");
    __builtin_unreachable();
  }
  template <class... A> requires(array_like<A> || ...) double& operator()(const A&...) const {
    static_assert(sizeof...(A) < 0, "ttensor: arrays are not indices: take(x, index, axis) picks, where(mask, a, x) chooses");
    __builtin_unreachable();
  }
  /// x[i] is x(i): an element of an array of one axis, else a view.
  template <class I> auto operator[](const I& i) const { return self()(i); }
  template <class I> decltype(auto) operator[](const I& i) { return self()(i); }
  auto begin() const requires(R > 0) { return tensor_detail::first_axis<const Self>{&self(), 0}; }
  auto end() const requires(R > 0) { return tensor_detail::first_axis<const Self>{&self(), extent(0)}; }
  auto begin() requires(R > 0) { return tensor_detail::first_axis<Self>{&self(), 0}; }
  auto end() requires(R > 0) { return tensor_detail::first_axis<Self>{&self(), extent(0)}; }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
  Self& self() { return static_cast<Self&>(*this); }
};

/// An alias of elements that a tensor owns (or of borrowed memory): reading and writing go to the same elements. A view of
/// a temporary keeps its elements; `view_of<const S, R>` is read only. Copying a view copies the alias.
template <class S, int R> class view_of : public array_interface<view_of<S, R>, S, R> {
  using base = array_interface<view_of<S, R>, S, R>;
  using T = std::remove_const_t<S>;

 public:
  static constexpr int rank() { return R; }
  view_of(store<T> s, const layout_map<R>& m) : store_(static_cast<store<T>&&>(s)), map_(m) {}
  view_of(const view_of&) = default;
  view_of(view_of&& v) noexcept : store_(static_cast<store<T>&&>(v.store_)), map_(v.map_) { v.map_ = {gone, {}, {}}; }
  view_of(view_of&& v) noexcept requires(R == 0) : store_(v.store_.alias()), map_(v.map_) {}  // has no extent that could say so
  template <class U> requires std::is_same_v<const U, S> view_of(const view_of<U, R>& v) : store_(v.elements().alias()), map_(v.map()) {}
  /// Of a whole tensor that has a name, as a(ellipsis) is; of a const one read only.
  template <class A> requires(requires { typename A::ttensor_whole; } && A::rank() == R && std::is_same_v<typename A::scalar, T> && (std::is_const_v<S> || !std::is_const_v<A>))
  view_of(A& a) : store_(a.elements().alias()), map_(a.map()) {}

  const layout_map<R>& map() const { return map_; }
  const store<T>& elements() const { return store_; }
  store<T>& elements() { return store_; }
  using base::operator();
  template <class... I> requires(sizeof...(I) == R && (shape::is_index_v<I> && ...) && !std::is_const_v<S>) TTENSOR_INLINE auto operator()(I... i) {
    return element<T>(&store_, tensor_detail::flat_index<R>(map_, {static_cast<index_t>(i)...}));
  }
  template <class... A> requires((sizeof...(A) != R || !(shape::is_index_v<A> && ...)) && (shape::is_slice_v<std::remove_cvref_t<A>> && ...))
  auto operator()(const A&... a) {
    auto m = shape::slice(map_, a...);
    return view_of<S, decltype(m.extent)::size()>(store_.alias(), m);
  }
  auto data() requires(depth_v<T> == 0) {
    if constexpr (std::is_const_v<S>) return store_.data() + map_.offset;
    else return store_.writable() + map_.offset;
  }

  /// Writes through: the right side must broadcast to this view.
  template <class E> requires((array_like<E> || any_scalar<E>) && !std::is_same_v<std::remove_cvref_t<E>, view_of>) const view_of& operator=(E&& e) const {
    static_assert(!std::is_const_v<S>, "ttensor: this is a view of a const tensor, which is read only");
    assign(static_cast<E&&>(e));
    return *this;
  }
  template <class E> requires((array_like<E> || any_scalar<E>) && !std::is_same_v<std::remove_cvref_t<E>, view_of>) view_of& operator=(E&& e) {
    static_cast<const view_of&>(*this) = static_cast<E&&>(e);
    return *this;
  }
  const view_of& operator=(const view_of& v) const {
    static_assert(!std::is_const_v<S>, "ttensor: this is a view of a const tensor, which is read only");
    assign(v);
    return *this;
  }
  view_of& operator=(const view_of& v) {
    static_cast<const view_of&>(*this) = v;
    return *this;
  }
  template <class E> const view_of& operator+=(E&& e) const { return *this = *this + static_cast<E&&>(e); }
  template <class E> const view_of& operator-=(E&& e) const { return *this = *this - static_cast<E&&>(e); }
  template <class E> const view_of& operator*=(E&& e) const { return *this = *this * static_cast<E&&>(e); }
  template <class E> const view_of& operator/=(E&& e) const { return *this = *this / static_cast<E&&>(e); }
  /// Exchanges the elements: swap(a(0), a(1)).
  friend void swap(view_of a, view_of b) {
    if (!(a.shape() == b.shape())) tensor_detail::unlike_views(shape::text(a.shape()), shape::text(b.shape()));
    tensor<T, R> x(a), y(b);
    a = y;
    b = x;
  }

 private:
  template <class E> void assign(E&& e) const {
    if (map_.offset == gone) tensor_detail::gone_view();
    auto&& x = tensor_detail::as_elem<T>(static_cast<E&&>(e));
    auto shape = map_.extent;
    static_assert(rank_v<decltype(x)> <= R, "ttensor: the right side has more axes than the view it is assigned to");
    if (!shape::broadcast_into(shape, x.shape()) || !(shape == map_.extent))
      raise<shape_error>("[assign] shape " + shape::text(x.shape()) + " does not broadcast to the view " + shape::text(map_.extent) + " [TT-S06]");
    if (!store_.valid()) return;  // of a tensor that never had elements
    if constexpr (requires { statement_rule<T>::assign_region_last(store_, map_, x); }) statement_rule<T>::assign_region_last(store_, map_, x);
    else statement_rule<T>::assign_region(store_, map_, expr::tree(x));
    if constexpr (!std::is_lvalue_reference_v<E> && requires { e.give_up(); }) e.give_up();  // its elements may be those that were written
  }
  static constexpr index_t gone = std::numeric_limits<index_t>::min();  // the offset of a view that was moved from
  mutable store<T> store_;  // a const view is written through too
  layout_map<R> map_;
};

template <class S, auto Shape, class Space, class Layout>
class tensor : public array_interface<tensor<S, Shape, Space, Layout>, S, shape::rank_of<Shape>()> {
  static constexpr int R = shape::rank_of<Shape>();
  using base = array_interface<tensor, S, R>;

 public:
  using ttensor_tensor = void;
  using ttensor_whole = void;  // owns all of its elements, row-major
  static constexpr auto shape_parameter = Shape;
  static constexpr int rank() { return R; }

  tensor() : extent_(shape::static_dims<Shape>()) {
    if (shape::size(extent_) > 0) allocate_zero();
  }
  /// Extents in parentheses: zero-filled.
  template <class... I> requires(sizeof...(I) == R && R > 0 && (shape::is_index_v<I> && ...)) explicit tensor(I... n) : extent_{{static_cast<index_t>(n)...}} {
    check_static();
    allocate_zero();
  }
  explicit tensor(const dims<R>& e) requires(R > 0) : extent_(e) {
    check_static();
    allocate_zero();
  }
  /// Braces are elements.
  tensor(const tensor_detail::nested_t<S, R>& l) requires(R > 0) : extent_{} {
    tensor_detail::nested_shape<S, R>(l, extent_, 0);
    check_static();
    store_ = store<S>::make(shape::size(extent_));
    index_t at = 0;
    tensor_detail::nested_fill<S, R>(l, store_, extent_, at, 0);
  }
  // Flat braces would reach the constructor from extents. For scalars that numbers convert to, a second level of braces must not fit here.
  template <bool Flat = true> tensor(std::initializer_list<tensor_detail::bare_element>) requires(R > 1 && std::is_arithmetic_v<S>) { tensor_detail::flat_braces<Flat>(); }
  template <class U> requires(any_scalar<U> && R > 1 && !std::is_arithmetic_v<S>) tensor(std::initializer_list<U>) { tensor_detail::flat_braces<any_scalar<U>>(); }
  tensor(const S& v) requires(R == 0) : store_(store<S>::make(1)) { store_.set(0, v); }
  tensor(store<S> s, const dims<R>& e) : store_(static_cast<store<S>&&>(s)), extent_(e) {}

  tensor(const tensor& o) : store_(o.store_.value()), extent_(o.extent_) {}
  tensor(tensor&& o) noexcept : store_(static_cast<store<S>&&>(o.store_)), extent_(o.extent_) { o.extent_ = {}; }
  tensor& operator=(const tensor& o) {
    if (this != &o) *this = tensor(o);
    return *this;
  }
  tensor& operator=(tensor&& o) {
    if (this == &o) return *this;
    store_.adopt(static_cast<store<S>&&>(o.store_));
    extent_ = o.extent_;
    o.extent_ = {};
    return *this;
  }
  template <class E> requires(expression<E> || array_object<E>) tensor(const E& e) : extent_{} {
    static_assert(rank_v<E> == R, "ttensor: a tensor is made from an expression of the same rank");
    take(tensor_detail::as_elem<S>(e));
  }
  template <class E> requires(expression<E> && !std::is_lvalue_reference_v<E>) tensor(E&& e) : extent_{} {
    static_assert(rank_v<E> == R, "ttensor: a tensor is made from an expression of the same rank");
    take(tensor_detail::as_elem<S>(static_cast<E&&>(e)));
    if constexpr (requires { e.give_up(); }) e.give_up();
  }
  /// Evaluates into this tensor, which takes the shape of the right side.
  template <class E> requires((expression<E> || array_object<E>) && !std::is_same_v<std::remove_cvref_t<E>, tensor>) TTENSOR_INLINE tensor& operator=(E&& e) {
    static_assert(rank_v<E> == R, "ttensor: a tensor is assigned from an expression of the same rank");
    take(tensor_detail::as_elem<S>(static_cast<E&&>(e)));
    if constexpr (!std::is_lvalue_reference_v<E> && requires { e.give_up(); }) e.give_up();  // its elements may be those that were written
    return *this;
  }
  template <class E> requires(any_scalar<E> && R > 0) tensor& operator=(const E& v) {  // fills, keeping the shape
    (*this)(ellipsis) = v;
    return *this;
  }
  template <class E> requires(cpp_number<E> && R == 0 && !std::is_same_v<E, S>) tensor& operator=(const E& v) { return *this = tensor(tensor_detail::weak_scalar<S>(v)); }
  template <class E> tensor& operator+=(E&& e) { return accumulate(*this + static_cast<E&&>(e)); }
  template <class E> tensor& operator-=(E&& e) { return accumulate(*this - static_cast<E&&>(e)); }
  template <class E> tensor& operator*=(E&& e) { return accumulate(*this * static_cast<E&&>(e)); }
  template <class E> tensor& operator/=(E&& e) { return accumulate(*this / static_cast<E&&>(e)); }

  layout_map<R> map() const { return layout_map<R>::row_major(extent_); }
  const store<S>& elements() const { return store_; }
  store<S>& elements() { return store_; }

  using base::operator();
  template <class... I> requires(sizeof...(I) == R && (shape::is_index_v<I> && ...)) TTENSOR_INLINE auto operator()(I... i) & {
    return element<S>(&store_, tensor_detail::flat_index<R>(map(), {static_cast<index_t>(i)...}));
  }
  template <class... A> requires((sizeof...(A) != R || !(shape::is_index_v<A> && ...)) && (shape::is_slice_v<std::remove_cvref_t<A>> && ...))
  auto operator()(const A&... a) & {
    auto m = shape::slice(map(), a...);
    return view_of<S, decltype(m.extent)::size()>(store_.alias(), m);
  }

  /// Row-major elements. The mutable pointer detaches once and is good until the next copy or expression is taken.
  const S* data() const requires(depth_v<S> == 0) { return store_.valid() ? store_.data() : nullptr; }
  S* data() requires(depth_v<S> == 0) { return store_.valid() ? store_.writable() : nullptr; }
  operator S() const requires(R == 0) { return store_.get(0); }

 private:
  template <class E> TTENSOR_INLINE void take(E&& e) {
    if constexpr (depth_v<S> == 0 && shape::all_dynamic<Shape>()) {
      if constexpr (requires { ttensor::assign_last<S>(store_, extent_, e); }) ttensor::assign_last<S>(store_, extent_, e);
      else ttensor::assign<S>(store_, extent_, expr::tree(e));
    } else {
      const dims<R> e2 = e.shape();
      check_static(e2);
      statement_rule<S>::evaluate_into(store_, expr::tree(e), e2);
      extent_ = e2;
    }
  }
  void check_static() const { check_static(extent_); }
  void check_static(const dims<R>& e) const {
    for (int d = 0; d < R; ++d)
      if (shape::extent_of<Shape>(d) != dyn && e[d] != shape::extent_of<Shape>(d)) tensor_detail::fixed_extent(e[d], shape::extent_of<Shape>(d), d);
  }
  void allocate_zero() {
    store_ = store<S>::make(shape::elements(extent_));
    store_.zero();
  }
  template <class E> tensor& accumulate(E&& e) {
    static_assert(rank_v<E> <= R, "ttensor: the right side of a compound assignment has more axes than the left");
    if (!(e.shape() == extent_))
      raise<shape_error>("[assign] a compound assignment cannot change the shape " + shape::text(extent_) + " to " + shape::text(e.shape()) + "; write x = x + y for a result of another shape [TT-S07]");
    return *this = static_cast<E&&>(e);
  }
  store<S> store_;
  dims<R> extent_;
};

#undef TTENSOR_LEVEL_REMEDY

TTENSOR_END
