// The ends of an expression: leaves over stores of any kind of scalar, whole tensors, numbers.
//
// Every expression type has: `scalar` (nominal, with its chain of kinds), `rank`, shape(), and leaves(f), which visits the
// leaves in the order of their slots in the flat program (program.hpp).
#pragma once
#include "../mem/hold.hpp"
#include "../shape/slice.hpp"
#include "kinds.hpp"

TTENSOR_BEGIN

template <class E> concept expression = requires { typename std::remove_cvref_t<E>::ttensor_expression; };
/// Tensors, fixed tensors and views: things with elements that turn into a leaf when used in an expression.
template <class E> concept array_object = requires { typename std::remove_cvref_t<E>::ttensor_array; };
template <class E> concept array_like = expression<E> || array_object<E>;
/// What `a(i, j)` of a non-const tensor returns; it behaves as its scalar.
template <class E> concept element_proxy = requires { typename std::remove_cvref_t<E>::ttensor_proxy; };
/// Scalars of a transform: dual, var, batched, probe.
template <class S> concept scalar_kind = is_kind_v<std::remove_cvref_t<S>>;
template <class S> concept cpp_number = std::is_arithmetic_v<std::remove_cvref_t<S>>;
template <class S> concept any_scalar = number<std::remove_cvref_t<S>> || scalar_kind<S> || element_proxy<S>;

/// Random keys: of some levels, but of no element type.
template <class E> concept has_levels_only = requires { typename E::ttensor_levels; };
template <class E> struct scalar_of { using type = E; };
template <has_levels_only E> struct scalar_of<E> { using type = typename E::ttensor_levels; };
template <class E> requires array_like<E> || element_proxy<E> struct scalar_of<E> { using type = typename std::remove_cvref_t<E>::scalar; };
/// Of an aggregate templated on its scalar: that.
template <template <class...> class P, class S, class... R>
requires(any_scalar<S> && !array_like<P<S, R...>> && !any_scalar<P<S, R...>> && std::is_aggregate_v<P<S, R...>>)
struct scalar_of<P<S, R...>> {
  using type = S;
};
template <class... E> struct common_scalar;
template <class E> struct common_scalar<E> : scalar_of<E> {};
template <class T, class... E> struct promoted_elem { using type = T; };
template <class T, class A, class... R> struct promoted_elem<T, A, R...>
    : promoted_elem<promote_t<T, elem_t<typename scalar_of<A>::type>>, R...> {};
template <class T, has_levels_only A, class... R> struct promoted_elem<T, A, R...> : promoted_elem<T, R...> {};
template <class A, class B, class... R> struct common_scalar<A, B, R...> {
  static constexpr bool levels_only = has_levels_only<A> && has_levels_only<B> && (has_levels_only<R> && ...);
  using first = std::conditional_t<has_levels_only<A> && !levels_only, bool, elem_t<typename scalar_of<A>::type>>;  // bool promotes to any
  using elem = typename promoted_elem<first, B, R...>::type;
  using type = join_chain_t<elem, typename scalar_of<A>::type, typename scalar_of<B>::type, typename scalar_of<R>::type...>;
};
/// The scalar of an argument (scalar, tensor, expression, aggregate); of several, the scalar that holds what is computed from all of them.
template <class... E> using scalar_t = typename common_scalar<std::remove_cvref_t<E>...>::type;
template <class E> inline constexpr int rank_v = [] {
  if constexpr (array_object<E>) return std::remove_cvref_t<E>::rank();
  else if constexpr (expression<E>) return std::remove_cvref_t<E>::rank;
  else return 0;
}();

/// One buffer of a leaf as the planner sees it. Axes: batch axes (oldest level first), then the array's own.
template <int R> struct plane {
  const void* ptr;
  dims<R> extent, stride;  // stride in elements, 0 where the leaf is broadcast
  mem::block* holder;      // keeps ptr alive; null when the expression itself does
};

/// The elements of a store of scalars S as they were at one moment. One specialisation a kind. Owns: holds the blocks; else
/// somebody else does, and copying and dropping cost nothing.
/// Members: planes(f), where f gets (type_identity<T>, const T* base, dims<B> batch_extent, dims<B> batch_stride, block* holder)
/// for every buffer; holds, the number of its holds; release() and owning(), the other form;
/// borrowed(), one for which this one holds; each_hold(f), f(mem::hold&) for every hold that somebody else counts.
template <class S, bool Owns = true> struct snapshot;

/// What reading an element of an expression says.
template <int N> auto& no_elements() {  // auto: so that the sentence comes before what follows from it
  static_assert(N < 0, "ttensor: an expression has no elements before it is evaluated: write eval(e)(i), or name a tensor for it");
  return *static_cast<double*>(nullptr);
}
/// What `if` says of arrays.
template <int N> bool no_condition() {
  static_assert(
      N < 0,
      "ttensor: an array is no condition: write if (tt::all(x == y)) or if (tt::any(x > 0)), where(mask, a, b) for every element, maximum(x, y) instead of std::max");
  return false;
}
/// Leaf of an expression: sees the elements as they were when the expression was built.
template <class S, int R, bool Owns = true> struct leaf {
  using ttensor_expression = void;
  using scalar = S;
  static constexpr int rank = R;
  snapshot<S, Owns> data;
  layout_map<R> map;
  dims<R> shape() const { return map.extent; }
  index_t size() const { return shape::size(shape()); }
  index_t extent(index_t axis) const { return shape()[shape::normalize_axis(axis, rank, "extent")]; }
  template <class... I> auto& operator()(const I&...) const { return no_elements<sizeof...(I)>(); }
  template <class F> TTENSOR_INLINE void shapes(F&& f) const { f(map.extent); }
  template <class F> TTENSOR_INLINE void leaves(F&& f) const { f(*this); }
  static constexpr int holds = Owns ? 0 : snapshot<S>::holds;
  template <class F> TTENSOR_INLINE void each_hold(F&& f) {
    if constexpr (!Owns) data.each_hold(f);
  }
  /// f(type_identity<T>, plane) for every buffer, in the order of the core scalar's planes; batch axes lead.
  template <class F> TTENSOR_INLINE void planes(F&& f) const {
    data.planes([&]<class T, int B>(std::type_identity<T> t, const T* base, const dims<B>& be, const dims<B>& bs, mem::block* holder) {
      plane<B + R> p;
      p.ptr = base + map.offset;
      p.holder = holder;
      for (int d = 0; d < B; ++d) p.extent[d] = be[d], p.stride[d] = bs[d];
      for (int d = 0; d < R; ++d) p.extent[B + d] = map.extent[d], p.stride[B + d] = map.stride[d];
      f(t, p);
    });
  }
};

/// A whole tensor of numbers inside a tree, in as few words as say it all: the elements follow the header of the block it holds.
template <class T, int R> struct whole_leaf {
  using ttensor_expression = void;
  using scalar = T;
  static constexpr int rank = R, holds = 1;
  mem::bare_hold block;  // first, the extents next: run_whole and drop_tree find them there
  dims<R> extent;
  TTENSOR_INLINE const T* base() const { return static_cast<const T*>(mem::elements_of(block.word)); }
  dims<R> shape() const { return extent; }
  template <class F> TTENSOR_INLINE void shapes(F&& f) const { f(extent); }
  template <class F> TTENSOR_INLINE void leaves(F&& f) const { f(*this); }
  template <class F> TTENSOR_INLINE void each_hold(F&& f) { f(block.word); }
  template <class F> TTENSOR_INLINE void planes(F&& f) const {
    f(std::type_identity<T>{}, plane<R>{base(), extent, shape::row_major(extent), block.get()});
  }
  leaf<T, R, false> general() const { return {{block, base()}, layout_map<R>::row_major(extent)}; }
};

/// A scalar of any kind standing in an expression; held by value. Numbers are run-time arguments of the program.
template <class S> struct scalar_leaf {
  using ttensor_expression = void;
  using scalar = S;
  static constexpr int rank = 0;
  S value;
  static constexpr int holds = 0;
  template <class F> TTENSOR_INLINE void each_hold(F&&) {}
  dims<0> shape() const { return {}; }
  template <class F> TTENSOR_INLINE void shapes(F&& f) const { f(dims<0>{}); }
  template <class F> TTENSOR_INLINE void leaves(F&& f) const { f(*this); }
  template <class F> TTENSOR_INLINE void planes(F&& f) const {
    if constexpr (depth_v<S> == 0) f(std::type_identity<S>{}, plane<0>{&value, {}, {}, nullptr});
    else value.planes(f);
  }
};
template <class T> concept has_same = requires(const T& x) { x.same(x); };
namespace expr {
/// Whether a and b are one number: of numbers their bits, as -0 is not 0; else they say it, with what is recorded of them.
template <class S> TTENSOR_INLINE bool same_number(const S& a, const S& b) {
  if constexpr (depth_v<S> == 0) return __builtin_memcmp(&a, &b, sizeof(S)) == 0;
  else return a.same(b);
}
}  // namespace expr
template <class E> inline constexpr bool is_scalar_leaf_v = false;
template <class S> inline constexpr bool is_scalar_leaf_v<scalar_leaf<S>> = true;

TTENSOR_END
