// Elements of arrays: what a(i, j) returns, braces, positions, and what may be assigned to what.
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
  "variables, pass closing_over(x...); a function that returns its argument's type returns auto and eval(...) instead"

/// What `a(i, j)` of a non-const array returns: behaves as the scalar it read; assigning to it while it is a temporary
/// writes the element, assigning to a named one changes only its own value.
template <class S> class element {
 public:
  using ttensor_proxy = void;
  using scalar = S;
  TTENSOR_INLINE element(store<S>& s, index_t at) : value_(s.get(at)), store_(&s), at_(at) {}
  TTENSOR_INLINE operator S() const& { return value_; }  // by value: const double& r = x(0) lives as long as r
  TTENSOR_INLINE operator S() && { return static_cast<S&&>(value_); }
  operator float() const& requires(detail::is_short_float<S>) { return static_cast<float>(value_); }  // double d = x(0) of halves, which are two steps from it
  /// Exchanges two elements: swap(x(0), x(1)).
  friend void swap(element&& a, element&& b) {
    const S x(a.value_);
    a.store_->set(a.at_, b.value_);
    b.store_->set(b.at_, x);
  }
  // Members of its scalar. Those of a dual are data: eval(x(0)).tangent.
  template <class X = S> requires requires(const X& s) { s.value(); } auto value() const { return value_.value(); }
  template <class X = S> requires is_complex_v<X> auto real() const { return value_.real(); }
  template <class X = S> requires is_complex_v<X> auto imag() const { return value_.imag(); }
  TTENSOR_INLINE const S& get() const& { return value_; }
  TTENSOR_INLINE S&& get() && { return static_cast<S&&>(value_); }
  template <class V> TTENSOR_INLINE element& operator=(const V& v) & { value_ = static_cast<S>(v); return *this; }
  struct place {  // an element of a level is read only where it is wanted
    using ttensor_proxy = void;
    using scalar = S;
    store<S>* elements;
    index_t at;
    S get() const { return elements->get(at); }
    operator S() const { return get(); }
  };
  using written = std::conditional_t<depth_v<S> == 0, S, place>;  // x(0) = x(1) = 7
  template <class V> TTENSOR_INLINE written operator=(V&& v) && { return write(static_cast<V&&>(v)); }
  written operator=(const S& v) && { return write(S(v)); }  // of braces: z(0) = {re, im}
  TTENSOR_INLINE written operator=(const element& o) && { return write(S(o.value_)); }
  TTENSOR_INLINE written operator=(element&& o) && { return write(static_cast<S&&>(o.value_)); }
  element& operator=(const element& o) & { value_ = o.value_; return *this; }
  element(const element&) = default;
  element(element&&) = default;
  template <class V> TTENSOR_INLINE written operator+=(const V& v) && { return write(with<add_op>(v)); }
  template <class V> TTENSOR_INLINE written operator-=(const V& v) && { return write(with<sub_op>(v)); }
  template <class V> TTENSOR_INLINE written operator*=(const V& v) && { return write(with<mul_op>(v)); }
  template <class V> TTENSOR_INLINE written operator/=(const V& v) && { return write(with<div_op>(v)); }
  template <class X = S> requires(!std::is_same_v<X, bool>) S operator++() && { return stepped(1), static_cast<S&&>(value_); }
  template <class X = S> requires(!std::is_same_v<X, bool>) S operator--() && { return stepped(-1), static_cast<S&&>(value_); }
  template <class X = S> requires(!std::is_same_v<X, bool>) S operator++(int) && {
    const S was(value_);
    return stepped(1), was;
  }
  template <class X = S> requires(!std::is_same_v<X, bool>) S operator--(int) && {
    const S was(value_);
    return stepped(-1), was;
  }
  template <class V> requires(!std::is_same_v<S, bool> && !is_complex_v<elem_t<S>>) written operator%=(const V& v) && {
    return write(with<remainder_op>(v));
  }
  template <class V> requires(is_integer_v<S> || std::is_same_v<S, bool>) written operator&=(const V& v) && { return write(value_ & v); }
  template <class V> requires(is_integer_v<S> || std::is_same_v<S, bool>) written operator|=(const V& v) && { return write(value_ | v); }
  template <class V> requires(is_integer_v<S> || std::is_same_v<S, bool>) written operator^=(const V& v) && { return write(value_ ^ v); }
  template <class V> requires is_integer_v<S> written operator<<=(const V& v) && { return write(with<shift_left_op>(v)); }
  template <class V> requires is_integer_v<S> written operator>>=(const V& v) && { return write(with<shift_right_op>(v)); }
  template <class V> element& operator+=(const V& v) & { value_ = fitted(with<add_op>(v)); return *this; }
  template <class V> element& operator-=(const V& v) & { value_ = fitted(with<sub_op>(v)); return *this; }
  template <class V> element& operator*=(const V& v) & { value_ = fitted(with<mul_op>(v)); return *this; }
  template <class V> element& operator/=(const V& v) & { value_ = fitted(with<div_op>(v)); return *this; }

 private:
  void stepped(int by) { value_ = fitted(with<add_op>(by)), store_->set(at_, value_); }
  /// Op of the value and v, as of arrays: integers wrap and take the type of the element, x / 0 is 0.
  template <class Op, class V> TTENSOR_INLINE auto with(const V& v) {
    if constexpr (element_proxy<V>) return with<Op>(v.get());
    else if constexpr (std::is_signed_v<S> && std::is_unsigned_v<V>)
      return apply<Op>(value_, static_cast<std::conditional_t<(sizeof(V) > sizeof(S)), std::int64_t, S>>(v));
    else if constexpr (complex_number<S> && complex_number<V>) return apply<Op>(value_, S(v));
    else return apply<Op>(static_cast<S&&>(value_), v);
  }
  template <class V> TTENSOR_INLINE written write(V&& v) {
    if constexpr (requires { store<S>::discard(value_); }) store<S>::discard(value_);  // a read nobody used leaves no trace
    if constexpr (element_proxy<V>) return put(fitted(v.get()));
    else return put(fitted(static_cast<V&&>(v)));
  }
  TTENSOR_INLINE written put(S&& v) {
    if constexpr (depth_v<S> == 0) return store_->set(at_, v), v;
    else return store_->set(at_, static_cast<S&&>(v)), place{store_, at_};
  }
  template <class V> TTENSOR_INLINE static S fitted(V&& v) {
    using W = std::remove_cvref_t<V>;
    constexpr bool fits = std::is_constructible_v<S, V>, number = any_scalar<W> || array_like<W>,
                   shorter = is_complex_v<elem_t<scalar_t<W>>> && !is_complex_v<elem_t<S>>;
    static_assert(fits || number, "ttensor: what is written into an element is no number");
    static_assert(!shorter, "ttensor: a complex number is written into a real element; take real(z) or abs(z)");
    static_assert(
        fits || !number || shorter || depth_v<scalar_t<W>> > 0,
        "ttensor: an array is written into an element; write a number: sum(x), x(0), or item(x) of an array of one element");
    static_assert(
        fits || !number || shorter || depth_v<scalar_t<W>> == 0,
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
template <class S, int R> requires(R <= 0) struct nested<S, R> { using type = S; };
template <class S, int R> using nested_t = typename nested<S, R>::type;
template <class L> index_t length(const L& l) { return static_cast<index_t>(l.size()); }
template <class T, std::size_t N> index_t length(const T (&)[N]) { return static_cast<index_t>(N); }
/// Rows in braces, containers or C arrays, L of depth R.
template <int R, class L, int Q> void nested_shape(const L& l, dims<Q>& e, int d) {
  e[d] = length(l);
  if constexpr (R > 1)
    for (const auto& first : l) return nested_shape<R - 1>(first, e, d + 1);
}
template <class S, int R, class L, int Q> void nested_fill(const L& l, store<S>& to, const dims<Q>& e, index_t& at, int d) {
  if (length(l) != e[d])
    raise<shape_error>("[tensor] ragged rows: one of " + to_message(length(l)) + " elements where " + to_message(e[d]) +
                              " were expected; give every row the same length [TT-S04]");
  for (const auto& x : l) {
    if constexpr (R > 1) nested_fill<S, R - 1>(x, to, e, at, d + 1);
    else to.set(at++, S(x));
  }
}
/// One element of braces that lack a level: any number, but not {number}.
struct bare_element {
  template <class U> requires any_scalar<U> bare_element(const U&) {}
};
template <bool Flat = true> void flat_braces() {
  static_assert(
      !Flat,
      "ttensor: flat braces for a tensor of two or more axes. Braces are elements, one level for each axis: {{1, 2}, {3, 4}}; extents stand in "
      "parentheses: tensor<double, 2>(2, 3)");
}
/// Scalars in a row that are no array of ours: a std::vector, std::array or std::span.
template <class V> using range_element = std::remove_pointer_t<decltype(std::declval<V&>().data())>;
template <class V> concept contiguous = !array_like<V> && requires(V& v) {
  v.data() + v.size();
  v.begin();
} && any_scalar<std::remove_const_t<range_element<V>>> && !element_proxy<range_element<V>>;
/// Containers and C arrays of scalars, of such containers and so on: their axes and their scalar. Arrays of ours, and containers of them, have -2 axes, anything else -1.
template <class V> struct inside { using type = std::remove_cvref_t<decltype(*std::declval<const V&>().begin())>; };
template <class V> requires std::is_same_v<typename V::value_type, bool> struct inside<V> { using type = bool; };  // libc++'s vector<bool> reads proxies
template <class V> using inside_of = typename inside<V>::type;
template <class V> struct range_traits {
  static constexpr int rank = -1;
};
template <any_scalar V> struct range_traits<V> {
  static constexpr int rank = 0;
  using scalar = scalar_t<V>;
};
template <array_like V> requires(!any_scalar<V>) struct range_traits<V> {
  static constexpr int rank = -2;
};
template <class V> struct range_of : range_traits<V> {
  static constexpr int below = range_traits<V>::rank, rank = below < 0 ? below : below + 1;
};
template <class V> requires(!any_scalar<V> && !array_like<V> && requires(const V& v) {
  v.size();
  *v.begin();
} && !std::is_same_v<inside_of<V>, V>) struct range_traits<V> : range_of<inside_of<V>> {};
template <class T, std::size_t N> requires(!std::is_same_v<T, char>) struct range_traits<T[N]> : range_of<std::remove_const_t<T>> {};  // "text" is no array of numbers
template <class V> concept holds_arrays = !array_like<V> && range_traits<V>::rank == -2;
template <bool Newer = true> void newer_braces() {
  static_assert(
      !Newer,
      "ttensor: values of a newer transform level in the braces of a tensor whose element type lacks that level: declare the tensor with the scalar type of "
      "the values, tensor<scalar_t<decltype(x)>, R>");
}
template <class E, class S> inline constexpr bool assignable = [] {
  using F = scalar_t<E>;
  return depth_v<F> <= depth_v<S> || !is_differentiable_v<elem_t<F>>;
}();
template <class S, class E> void check_assignable() {
  static_assert(
      assignable<E, S>,
      "ttensor: a value of a newer transform level is written into a tensor whose element type lacks that level. " TTENSOR_LEVEL_REMEDY);
  using P = typename decltype(expr::assigned<elem_t<S>, E>())::type;
  static_assert(std::is_same_v<P, elem_t<S>>, "ttensor: narrowing is never implicit: write to<T>(expression)");
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
  if constexpr (expression<D> && !std::is_lvalue_reference_v<E> && std::is_same_v<elem_t<scalar_t<D>>, elem_t<S>>)
    return static_cast<E&&>(e);
  else return expr::operand<elem_t<S>>(expr::plain(static_cast<E&&>(e)));
}
[[noreturn]] void fixed_extent(index_t got, index_t want, int d);
[[noreturn]] void gone_view();
[[noreturn]] void repeated_view(int d);
[[noreturn]] void unlike_views(const message& a, const message& b);
#if defined(TTENSOR_BODY)
TTENSOR_BODY void gone_view() {
  raise<error>(
      "[assign] this view was moved from (std::swap does that); exchange elements with swap(a(0), a(1)), found by its arguments [TT-E03]");
}
TTENSOR_BODY void repeated_view(int d) {
  raise<shape_error>(
      "[assign] axis " + to_message(d) +
      " of this view has stride 0: its elements are one, which a statement can't write several times; write that one [TT-S33]");
}
TTENSOR_BODY void unlike_views(const message& a, const message& b) {
  raise<shape_error>("[swap] shapes differ: " + a + " and " + b + "; exchange views of one shape [TT-S19]");
}
TTENSOR_BODY void fixed_extent(index_t got, index_t want, int d) {
  raise<shape_error>("[tensor] extent " + to_message(got) + " on axis " + to_message(d) + ", whose type fixes it to " + to_message(want) +
                            "; give it that extent, or declare the axis dyn [TT-S03]");
}
#endif
template <class I> TTENSOR_INLINE constexpr index_t element_index(I i) {
  if constexpr (TTENSOR_CHECK_BOUNDS) return shape::position(i);
  else return static_cast<index_t>(i);
}
template <int R> index_t flat_index(const layout_map<R>& m, const index_t (&i)[R > 0 ? R : 1]) {
  index_t at = m.offset;
  for (int d = 0; d < R; ++d)
    at += (TTENSOR_CHECK_BOUNDS ? shape::normalize_index(i[d], m.extent[d], d)
           : i[d] < 0           ? i[d] + m.extent[d]
                                : i[d]) *
          m.stride[d];
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

#undef TTENSOR_LEVEL_REMEDY

TTENSOR_END
