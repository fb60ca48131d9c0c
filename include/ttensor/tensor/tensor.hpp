// tensor: the owning array with value semantics. docs/functions.md lists what users see.
#pragma once
#include "view.hpp"

TTENSOR_BEGIN

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
  template <class E> static constexpr bool is_whole() {  // a tensor of the same scalars that owns its elements, whatever extents its type shows
    if constexpr (requires { typename E::ttensor_whole; }) return std::is_same_v<scalar_t<E>, S> && rank_v<E> == R;
    else return false;
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
    if constexpr (is_whole<E>()) share(e);
    else take(tensor_detail::as_elem<S>(e));
  }
  template <class E> requires(!std::is_lvalue_reference_v<E> && !std::is_same_v<E, tensor> && !std::is_const_v<E> && (expression<E> || is_whole<E>()))
  tensor(E&& e) : extent_{} {
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
    } else if constexpr (is_whole<std::remove_cvref_t<E>>()) {
      share(static_cast<E&&>(e));
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
  /// The elements, given away as in a move: this tensor has none then, views keep them.
  store<S> release() && {
    there();
    extent_ = {};
    return static_cast<store<S>&&>(store_);
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
  template <class E> void share(E&& e) {  // copied when one of the two is written
    const dims<R> e2 = e.shape();
    check_static(e2);
    if constexpr (requires(store<S> s) { s = static_cast<E&&>(e).release(); }) store_.adopt(static_cast<E&&>(e).release());
    else store_.adopt(e.elements().value());
    extent_ = e2;
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
