// tensor: the owning array with value semantics, and view_of: an alias of (a part of) one. docs/functions.md lists what users see.
#pragma once
#include "element.hpp"

TTENSOR_BEGIN

/// What every array has; Self supplies map() and elements() (its store).
template <class Self, class S, int R> struct array_interface {
  using ttensor_array = void;
  using scalar = std::remove_const_t<S>;
  using value_type = scalar;
  static constexpr int array_rank = R;

  dims<R> shape() const { return self().map().extent; }
  dims<R> strides() const { return self().map().stride; }
  index_t extent(int d) const { return self().map().extent[d >= 0 && d < R ? d : shape::normalize_axis(d, R, "extent")]; }
  index_t size() const { return shape::size(self().map().extent); }

  TTENSOR_INLINE auto as_leaf() const {
    if constexpr (requires { self().elements().reads_by_copy(); })
      if (TTENSOR_UNLIKELY(self().elements().reads_by_copy())) return self().elements().copied(self().map());
    return leaf<scalar, R>{self().elements().snap(), self().map()};
  }

  template <class... I> requires(sizeof...(I) == R && (shape::is_index_v<I> && ...)) TTENSOR_INLINE auto operator()(I... i) const {
    return self().elements().get(tensor_detail::flat_index<R>(self().map(), {tensor_detail::element_index(i)...}));
  }
  template <class... A>
  requires((sizeof...(A) != R || !(shape::is_index_v<A> && ...)) && (shape::is_slice_v<std::remove_cvref_t<A>> && ...))
  auto operator()(const A&... a) const {
    auto m = shape::slice(self().map(), a...);
    return view_of<const scalar, decltype(m.extent)::size()>(self().elements().alias(), m);
  }
  /// At positions of which some differ between examples: a value, as take gives it.
  template <class... I> requires((tensor_detail::is_mapped_index_v<I> || ...) &&
                                 ((tensor_detail::is_mapped_index_v<I> || shape::is_index_v<I>) && ...))
  decltype(auto) operator()(const I&... i) const {
    static_assert(sizeof...(I) <= R, "ttensor: more indices than axes");
    return tensor_detail::read_only(take_first(self(), i...));
  }
  template <class... A> requires((tensor_detail::is_mapped_index_v<A> || ...) && (shape::is_slice_v<A> || ...) && !(array_like<A> || ...) &&
                                 !((tensor_detail::is_mapped_index_v<A> || shape::is_index_v<A>) && ...))
  double& operator()(const A&...) const {
    static_assert(
        sizeof...(A) < 0,
        "ttensor: an integer that differs between examples does not mix with slices: take(x, index, axis) picks along an axis");
    __builtin_unreachable();
  }
  template <class... A> requires(array_like<A> || ...) double& operator()(const A&...) const {
    static_assert(sizeof...(A) < 0, "ttensor: arrays are not indices: take(x, index, axis) picks, where(mask, a, x) chooses");
    __builtin_unreachable();
  }
  template <class... A> requires((std::is_convertible_v<A, const char*> || std::is_floating_point_v<A>) || ...)
  double& operator()(const A&...) const {
    static_assert(
        sizeof...(A) < 0,
        "ttensor: an index is an integer, all (a whole axis, \":\" elsewhere), range(first, last, step), newaxis or ellipsis");
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
  template <class A> requires(requires { typename A::ttensor_whole; } && A::rank() == R &&
                              std::is_same_v<typename A::scalar, T> && (std::is_const_v<S> || !std::is_const_v<A>))
  view_of(A& a) : store_(a.elements().alias()), map_(a.map()) {}

  const layout_map<R>& map() const { return map_; }
  const store<T>& elements() const { return store_; }
  store<T>& elements() { return store_; }
  using base::operator();
  template <class... I> requires(sizeof...(I) == R && (shape::is_index_v<I> && ...) && !std::is_const_v<S>)
  TTENSOR_INLINE auto operator()(I... i) {
    return element<T>(store_, tensor_detail::flat_index<R>(map_, {tensor_detail::element_index(i)...}));
  }
  template <class... A>
  requires((sizeof...(A) != R || !(shape::is_index_v<A> && ...)) && (shape::is_slice_v<std::remove_cvref_t<A>> && ...))
  auto operator()(const A&... a) {
    auto m = shape::slice(map_, a...);
    return view_of<S, decltype(m.extent)::size()>(store_.alias(), m);
  }
  auto data() requires(depth_v<T> == 0) {
    using P = std::conditional_t<std::is_const_v<S>, const T*, T*>;
    if (!store_.valid()) return P(nullptr);  // of a tensor that never had elements
    if constexpr (std::is_const_v<S>) return P(store_.data() + map_.offset);
    else return P(store_.writable() + map_.offset);
  }

  /// Writes through: the right side must broadcast to this view.
  template <class E> requires((array_like<E> || any_scalar<E>) && !std::is_same_v<std::remove_cvref_t<E>, view_of>)
  const view_of& operator=(E&& e) const {
    static_assert(!std::is_const_v<S>, "ttensor: this is a view of a const tensor, which is read only");
    assign(static_cast<E&&>(e));
    return *this;
  }
  template <class E> requires((array_like<E> || any_scalar<E>) && !std::is_same_v<std::remove_cvref_t<E>, view_of>)
  view_of& operator=(E&& e) {
    static_cast<const view_of&>(*this) = static_cast<E&&>(e);
    return *this;
  }
  const view_of& operator=(const view_of& v) const {
    static_assert(!std::is_const_v<S>, "ttensor: this is a view of a const tensor, which is read only");
    assign(v);
    return *this;
  }
  /// Elements in braces: a(0) = {1, 2, 3}.
  const view_of& operator=(const tensor_detail::nested_t<T, R>& l) const requires(R > 0) { return *this = tensor<T, R>(l); }
  view_of& operator=(const tensor_detail::nested_t<T, R>& l) requires(R > 0) { return *this = tensor<T, R>(l); }
  template <bool Flat = true> void operator=(std::initializer_list<tensor_detail::bare_element>) const requires(R > 1) {
    tensor_detail::flat_braces<Flat>();
  }
  view_of& operator=(const view_of& v) {
    static_cast<const view_of&>(*this) = v;
    return *this;
  }
  template <class E> const view_of& operator+=(E&& e) const { return *this = *this + static_cast<E&&>(e); }
  template <class E> const view_of& operator-=(E&& e) const { return *this = *this - static_cast<E&&>(e); }
  template <class E> const view_of& operator*=(E&& e) const { return *this = *this * static_cast<E&&>(e); }
  template <class E> const view_of& operator/=(E&& e) const { return *this = *this / static_cast<E&&>(e); }
  template <class E> const view_of& operator%=(E&& e) const { return *this = *this % static_cast<E&&>(e); }
  template <class E> const view_of& operator&=(E&& e) const { return *this = *this & static_cast<E&&>(e); }
  template <class E> const view_of& operator|=(E&& e) const { return *this = *this | static_cast<E&&>(e); }
  template <class E> const view_of& operator^=(E&& e) const { return *this = *this ^ static_cast<E&&>(e); }
  template <class E> const view_of& operator<<=(E&& e) const { return *this = *this << static_cast<E&&>(e); }
  template <class E> const view_of& operator>>=(E&& e) const { return *this = *this >> static_cast<E&&>(e); }
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
      raise<shape_error>("[assign] shape " + shape::text(x.shape()) + " does not broadcast to the view " +
                         shape::text(map_.extent) + "; reshape the right side, or write to another part [TT-S06]");
    if (!store_.valid()) return;  // of a tensor that never had elements
    for (int d = 0; d < R; ++d)
      if (TTENSOR_UNLIKELY(map_.stride[d] == 0 && map_.extent[d] > 1) && shape::size(map_.extent) > 0) tensor_detail::repeated_view(d);
    if constexpr (requires { statement_rule<T>::assign_region_last(store_, map_, x); })
      statement_rule<T>::assign_region_last(store_, map_, x);
    else statement_rule<T>::assign_region(store_, map_, expr::tree(x));
    if constexpr (!std::is_lvalue_reference_v<E> && requires { e.give_up(); }) e.give_up();  // its elements may be those that were written
  }
  static constexpr index_t gone = std::numeric_limits<index_t>::min();  // the offset of a view that was moved from
  mutable store<T> store_;  // a const view is written through too
  layout_map<R> map_;
};

template <class S, auto Shape, class Space, class Layout>
class tensor : public array_interface<tensor<S, Shape, Space, Layout>, S, shape::rank_of<Shape>()> {
  static_assert(
      any_scalar<S>,
      "ttensor: this element type is no number. For std::complex include <ttensor/num/complex.hpp>, <ttensor/all.hpp> or <complex> before all other headers of "
      "ttensor; other types become numbers by a specialisation of number_traits");
  static constexpr int R = shape::rank_of<Shape>();
  static_assert(R >= 0, "ttensor: the rank of a tensor is the number of its axes, 0 or more");
  using base = array_interface<tensor, S, R>;
  template <class E> static constexpr bool may_be() {  // as far as the types of both show their extents
    if constexpr (shape::all_dynamic<Shape>() || rank_v<E> != R) return true;
    else if constexpr (requires { E::shape_parameter; }) return shape::may_be_equal<Shape, E::shape_parameter>();
    else return true;
  }

 public:
  using ttensor_tensor = void;
  using ttensor_whole = void;  // owns all of its elements, row-major
  static constexpr auto shape_parameter = Shape;
  static constexpr int rank() { return R; }

  tensor() : extent_(shape::static_dims<Shape>()) {
    if (shape::size(extent_) > 0) allocate_zero();
  }
  /// Extents in parentheses: zero-filled.
  template <class... I> requires(sizeof...(I) == R && R > 0 && (shape::is_index_v<I> && ...))
  explicit tensor(I... n) : extent_{{static_cast<index_t>(n)...}} {
    check_static();
    allocate_zero();
  }
  template <class... I> requires(sizeof...(I) > (R < 2 ? 1 : 0) && (any_scalar<I> && ...) && !(sizeof...(I) == R && (shape::is_index_v<I> && ...)))
  explicit tensor(I... as_many_extents_as_axes) = delete;  // integers; full({n, m}, value) fills, braces {1.0, 2.0} are elements
  explicit tensor(const dims<R>& e) requires(R > 0) : extent_(e) {
    check_static();
    allocate_zero();
  }
  /// Braces are elements.
  tensor(const tensor_detail::nested_t<S, R>& l) requires(R > 0) : extent_{} {
    fill(l);
  }
  // Flat braces would reach the constructor from extents. For scalars that numbers convert to, a second level of braces must not fit here.
  template <bool Flat = true> tensor(std::initializer_list<tensor_detail::bare_element>)
      requires(R > 1 && std::is_arithmetic_v<S>) {
    tensor_detail::flat_braces<Flat>();
  }
  template <class U> requires(any_scalar<U> && R > 1 && !std::is_arithmetic_v<S>) tensor(std::initializer_list<U>) {
    tensor_detail::flat_braces<any_scalar<U>>();
  }
  template <class U> requires(depth_v<U> > depth_v<S>) tensor(std::initializer_list<U>) requires(R == 1) {
    tensor_detail::newer_braces<any_scalar<U>>();
  }
  template <class U> requires(depth_v<U> > depth_v<S>)
  tensor(std::initializer_list<std::initializer_list<U>>) requires(R == 2) {
    tensor_detail::newer_braces<any_scalar<U>>();
  }
  /// A copy of a std::vector, std::array or std::span; view(v) borrows it.
  template <class V> requires(R == 1 && tensor_detail::contiguous<const V>)
  explicit tensor(const V& v) : extent_{{static_cast<index_t>(v.size())}} {
    using U = std::remove_const_t<tensor_detail::range_element<const V>>;
    check_static();
    if constexpr (depth_v<U> == 0) {
      take(tensor_detail::as_elem<S>(view_of<const U, 1>(store<U>::borrowed(const_cast<U*>(v.data()), extent_[0]), map())));
    } else {
      tensor_detail::check_assignable<S, tensor<U, R>>();
      store_ = store<S>::make(extent_[0]);
      if constexpr (depth_v<U> <= depth_v<S>)  // else the sentence alone
        for (index_t i = 0; i < extent_[0]; ++i) store_.set(i, v.data()[i]);
    }
  }
  /// A copy of other containers, of C arrays, and of containers in containers, std::vector<std::vector<double>>, one axis each; shape_error for rows of unequal length.
  template <class V> requires(R > 0 && tensor_detail::range_traits<V>::rank == R && !tensor_detail::contiguous<const V>)
  explicit tensor(const V& rows) : extent_{} {
    tensor_detail::check_assignable<S, tensor<typename tensor_detail::range_traits<V>::scalar, R>>();
    fill(rows);
  }
  template <class V> requires(R > 0 && tensor_detail::range_traits<V>::rank > 0 && tensor_detail::range_traits<V>::rank != R)
  explicit tensor(const V& other_number_of_axes) = delete;  // view(v, {n, m}) gives a flat container a shape
  template <tensor_detail::holds_arrays V> explicit tensor(const V&) {
    static_assert(
        !tensor_detail::holds_arrays<V>,
        "ttensor: tensor x(v) copies numbers, not arrays, and there is no stack yet: make the result with its extents and copy row by row, "
        "tensor<double, 2> y(n, m); y(i) = v[i] for each i");
  }
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
    static_assert(may_be<E>(), "ttensor: the extents in the types of two tensors differ, so one cannot become the other");
    take(tensor_detail::as_elem<S>(e));
  }
  template <class E> requires(expression<E> && !std::is_lvalue_reference_v<E>) tensor(E&& e) : extent_{} {
    static_assert(rank_v<E> == R, "ttensor: a tensor is made from an expression of the same rank");
    *this = static_cast<E&&>(e);
  }
  /// Evaluates into this tensor, which takes the shape of the right side.
  template <class E> requires((expression<E> || array_object<E>) && !std::is_same_v<std::remove_cvref_t<E>, tensor>)
  TTENSOR_INLINE tensor& operator=(E&& e) {
    static_assert(rank_v<E> == R, "ttensor: a tensor is assigned from an expression of the same rank");
    static_assert(may_be<std::remove_cvref_t<E>>(), "ttensor: the extents in the types of two tensors differ, so one cannot become the other");
    if constexpr (shape::all_dynamic<Shape>() && rank_v<E> == R && is_last_whole_v<S, E>) {  // no function between: each is the statement once more for the compiler
      whole_way<S, typename E::tree_type>::assign(store_, extent_, e);
    } else {
      take(tensor_detail::as_elem<S>(static_cast<E&&>(e)));
      if constexpr (!std::is_lvalue_reference_v<E> && requires { e.give_up(); }) e.give_up();  // its elements may be those that were written
    }
    return *this;
  }
  template <class E> requires(any_scalar<E> && R > 0) tensor& operator=(const E& v) {  // fills, keeping the shape
    (*this)(ellipsis) = v;
    return *this;
  }
  template <class E> requires(cpp_number<E> && R == 0 && !std::is_same_v<E, S>) tensor& operator=(const E& v) {
    return *this = tensor(tensor_detail::weak_scalar<S>(v));
  }
  template <class E> tensor& operator+=(E&& e) { return accumulate(*this + static_cast<E&&>(e)); }
  template <class E> tensor& operator-=(E&& e) { return accumulate(*this - static_cast<E&&>(e)); }
  template <class E> tensor& operator*=(E&& e) { return accumulate(*this * static_cast<E&&>(e)); }
  template <class E> tensor& operator/=(E&& e) { return accumulate(*this / static_cast<E&&>(e)); }
  template <class E> tensor& operator%=(E&& e) { return accumulate(*this % static_cast<E&&>(e)); }
  template <class E> tensor& operator&=(E&& e) { return accumulate(*this & static_cast<E&&>(e)); }
  template <class E> tensor& operator|=(E&& e) { return accumulate(*this | static_cast<E&&>(e)); }
  template <class E> tensor& operator^=(E&& e) { return accumulate(*this ^ static_cast<E&&>(e)); }
  template <class E> tensor& operator<<=(E&& e) { return accumulate(*this << static_cast<E&&>(e)); }
  template <class E> tensor& operator>>=(E&& e) { return accumulate(*this >> static_cast<E&&>(e)); }

  layout_map<R> map() const { return layout_map<R>::row_major(extent_); }
  const store<S>& elements() const {
    there();
    return store_;
  }
  store<S>& elements() {
    there();
    return store_;
  }

  using base::operator();
  template <class... I> requires(sizeof...(I) == R && (shape::is_index_v<I> && ...)) TTENSOR_INLINE auto operator()(I... i) & {
    return element<S>(elements(), tensor_detail::flat_index<R>(map(), {tensor_detail::element_index(i)...}));
  }
  template <class... A>
  requires((sizeof...(A) != R || !(shape::is_index_v<A> && ...)) && (shape::is_slice_v<std::remove_cvref_t<A>> && ...))
  auto operator()(const A&... a) & {
    auto m = shape::slice(map(), a...);
    return view_of<S, decltype(m.extent)::size()>(elements().alias(), m);
  }

  /// Row-major elements. The mutable pointer detaches once and is good until the next copy or expression is taken.
  const S* data() const requires(depth_v<S> == 0) { return there(), store_.valid() ? store_.data() : nullptr; }
  S* data() requires(depth_v<S> == 0) { return there(), store_.valid() ? store_.writable() : nullptr; }
  operator S() const requires(R == 0) { return elements().get(0); }

 private:
  /// A number that was moved from is none; arrays of other ranks have no elements then.
  TTENSOR_INLINE void there() const {
    if constexpr (R == 0 && depth_v<S> == 0)
      if (TTENSOR_UNLIKELY(!store_.valid())) expr::moved_from();
  }
  template <class E> TTENSOR_INLINE void take(E&& e) {
    if constexpr (depth_v<S> == 0 && shape::all_dynamic<Shape>()) {
      ttensor::assign<S>(store_, extent_, expr::tree(e));
    } else {
      const dims<R> e2 = e.shape();
      check_static(e2);
      statement_rule<S>::evaluate_into(store_, expr::tree(e), e2);
      extent_ = e2;
    }
  }
  template <class L> void fill(const L& rows) {
    tensor_detail::nested_shape<R>(rows, extent_, 0);
    check_static();
    store_ = store<S>::make(shape::size(extent_));
    index_t at = 0;
    tensor_detail::nested_fill<S, R>(rows, store_, extent_, at, 0);
  }
  void check_static() const { check_static(extent_); }
  void check_static(const dims<R>& e) const {
    for (int d = 0; d < R; ++d)
      if (shape::extent_of<Shape>(d) != dyn && e[d] != shape::extent_of<Shape>(d))
        tensor_detail::fixed_extent(e[d], shape::extent_of<Shape>(d), d);
  }
  void allocate_zero() {
    store_ = store<S>::make(shape::elements(extent_));
    store_.zero();
  }
  template <class E> tensor& accumulate(E&& e) {
    static_assert(rank_v<E> <= R, "ttensor: the right side of a compound assignment has more axes than the left");
    if (!(e.shape() == extent_))
      raise<shape_error>("[assign] a compound assignment cannot change the shape " + shape::text(extent_) + " to " +
                         shape::text(e.shape()) + "; write x = x + y for a result of another shape [TT-S07]");
    return *this = static_cast<E&&>(e);
  }
  store<S> store_;
  dims<R> extent_;
};

/// tensor t = a + b; tensor t{{1.0, 2.0}, {3.0, 4.0}}; tensor t(vector): element type and rank of what stands there.
template <class E> requires(expression<E> || array_object<E>) tensor(const E&) -> tensor<scalar_t<E>, rank_v<E>>;
template <class V> requires(tensor_detail::range_traits<V>::rank > 0)
tensor(const V&) -> tensor<typename tensor_detail::range_traits<V>::scalar, tensor_detail::range_traits<V>::rank>;
template <tensor_detail::holds_arrays V> tensor(const V&) -> tensor<double, 1>;  // its constructor says what to do
template <any_scalar T> tensor(std::initializer_list<T>) -> tensor<scalar_t<T>, 1>;
template <any_scalar T> tensor(std::initializer_list<std::initializer_list<T>>) -> tensor<scalar_t<T>, 2>;
template <any_scalar T> tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>>) -> tensor<scalar_t<T>, 3>;

TTENSOR_END
