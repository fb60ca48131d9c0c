// What every array has, and view_of: an alias of (a part of) a tensor, or of borrowed memory.
#pragma once
#include "element.hpp"

TTENSOR_BEGIN

/// What every array has; Self supplies map() and elements() (its store).
template <class Self, class S, int R> struct array_interface {
  using ttensor_array = void;
  using scalar = std::remove_const_t<S>;
  using value_type = scalar;
  static constexpr int array_rank = R;

  constexpr dims<R> shape() const { return self().map().extent; }
  constexpr dims<R> strides() const { return self().map().stride; }
  constexpr index_t extent(int d) const { return self().map().extent[d >= 0 && d < R ? d : d < 0 && d >= -R ? d + R : shape::normalize_axis(d, R, "extent")]; }
  constexpr index_t size() const { return shape::size(self().map().extent); }

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
  constexpr const Self& self() const { return static_cast<const Self&>(*this); }
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

TTENSOR_END
