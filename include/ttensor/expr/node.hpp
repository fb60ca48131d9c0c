// Expressions are values: node<Op, Args...> over leaves. Building one computes nothing; its type is the operator graph.
//
// Every expression type has: `scalar` (nominal, with its chain of kinds), `rank`, shape(), and leaves(f), which visits the
// leaves in the order of their slots in the flat program (program.hpp).
#pragma once
#include "../mem/block.hpp"
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

template <class E> struct scalar_of { using type = E; };
template <class E> requires array_like<E> || element_proxy<E> struct scalar_of<E> { using type = typename std::remove_cvref_t<E>::scalar; };
template <class E> using scalar_t = typename scalar_of<std::remove_cvref_t<E>>::type;
template <class E> inline constexpr int rank_v = [] {
  if constexpr (array_like<E>) return std::remove_cvref_t<E>::rank;
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
/// for every buffer; holds, the number of its holds; release() and owning(), the other form; each_hold(f), f(mem::hold&) for every hold
/// that somebody else counts.
template <class S, bool Owns = true> struct snapshot;

/// Leaf of an expression: sees the elements as they were when the expression was built.
template <class S, int R, bool Owns = true> struct leaf {
  using ttensor_expression = void;
  using scalar = S;
  static constexpr int rank = R;
  snapshot<S, Owns> data;
  layout_map<R> map;
  dims<R> shape() const { return map.extent; }
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
  mem::bare_hold block;
  dims<R> extent;
  TTENSOR_INLINE const T* base() const { return reinterpret_cast<const T*>(block.get() + 1); }
  dims<R> shape() const { return extent; }
  template <class F> TTENSOR_INLINE void shapes(F&& f) const { f(extent); }
  template <class F> TTENSOR_INLINE void leaves(F&& f) const { f(*this); }
  template <class F> TTENSOR_INLINE void each_hold(F&& f) { f(block.word); }
  template <class F> TTENSOR_INLINE void planes(F&& f) const { f(std::type_identity<T>{}, plane<R>{base(), extent, shape::row_major(extent), block.get()}); }
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
template <class E> inline constexpr bool is_scalar_leaf_v = false;
template <class S> inline constexpr bool is_scalar_leaf_v<scalar_leaf<S>> = true;

namespace expr {
/// An expression in prefix order, for the error text: {name, n} is an operator of n operands, {nullptr, n} an operand of n axes.
struct shape_step {
  const char* name;
  int count;
};
struct operand_shape {
  index_t extent[16];
  int rank;
};
/// Shape of the expression that starts at `step`; throws at the first operator whose operands do not broadcast. `own`: extents of
/// the operands, `axes` of each, aligned from the right.
TTENSOR_NOINLINE inline operand_shape fold_shape(const shape_step*& step, const index_t*& own, int axes) {
  const shape_step op = *step++;
  operand_shape s{{}, 0};
  if (!op.name) {
    s.rank = op.count;
    for (int d = 0; d < s.rank; ++d) s.extent[d] = own[axes - s.rank + d];
    own += axes;
    return s;
  }
  message text;
  bool ok = true;
  for (int i = 0; i < op.count; ++i) {
    const operand_shape x = fold_shape(step, own, axes);
    text += (i ? message(" and ") : message()) + shape_text(x.extent, x.rank);
    for (; s.rank < x.rank; ++s.rank) {
      for (int d = s.rank; d > 0; --d) s.extent[d] = s.extent[d - 1];
      s.extent[0] = 1;
    }
    for (int d = 0; d < x.rank; ++d) {
      index_t& e = s.extent[s.rank - x.rank + d];
      if (e == 1) e = x.extent[d];
      else if (x.extent[d] != 1 && x.extent[d] != e) ok = false;
    }
  }
  if (!ok)
    raise<shape_error>(message("[") + op.name + "] shapes do not broadcast: " + text + "; extents must be equal or 1, aligned from the right [TT-S01]");
  return s;
}
template <class E> inline constexpr int steps_v = 1;
template <class E> struct steps_of {
  static constexpr void write(shape_step*& to) { *to++ = {nullptr, E::rank}; }
};
template <class E> inline constexpr auto step_table = [] {
  array<shape_step, steps_v<E>> table{};
  shape_step* to = table.v;
  steps_of<E>::write(to);
  return table;
}();
[[noreturn]] TTENSOR_NOINLINE inline void shapes_differ(const shape_step* step, const index_t* own, int axes) {
  fold_shape(step, own, axes);
  __builtin_unreachable();
}
/// shape: ones, which become the shape that `count` lists of `axes` extents broadcast to. Throws where they do not.
TTENSOR_INLINE void broadcast(index_t* shape, int axes, const shape_step* steps, const index_t* own, int count) {
  bool ok = true;
  for (int k = 0; k < count; ++k)
    for (int d = 0; d < axes; ++d) {
      const index_t n = own[k * axes + d];
      if (n == 1) continue;
      ok = ok && (shape[d] == 1 || shape[d] == n);
      shape[d] = n;
    }
  if (TTENSOR_UNLIKELY(!ok)) shapes_differ(steps, own, axes);
}
/// The extents of all operands of E, over its axes.
template <class E> struct operand_extents {
  static constexpr int axes = E::rank, count = [] {
    int n = 0;
    for (const shape_step& s : step_table<E>.v) n += !s.name;
    return n;
  }();
  index_t own[count * axes + 1];
  TTENSOR_INLINE explicit operand_extents(const E& e) {
    index_t* at = own;
    e.shapes([&]<int Q>(const dims<Q>& x) __attribute__((always_inline)) {
      for (int d = 0; d < axes - Q; ++d) *at++ = 1;
      for (int d = 0; d < Q; ++d) *at++ = x[d];
    });
  }
};
}  // namespace expr

template <class Op, class... A> struct node {
  using ttensor_expression = void;
  using op = Op;
  using scalar = typename Op::template result<typename A::scalar...>;
  static constexpr int rank = [] {
    int r = 0;
    ((r = A::rank > r ? A::rank : r), ...);
    return r;
  }();
  static constexpr int holds = (A::holds + ... + 0), arity = static_cast<int>(sizeof...(A));
  static_assert(arity > 0 && arity <= 4, "ttensor: an elementwise operator takes one to four operands");
  bundle<A...> args;

  dims<rank> shape() const {
    if constexpr (arity == 1) {
      return at<0>(args).shape();
    } else {
      const expr::operand_extents<node> operands(*this);
      dims<rank> s = ones<rank>();
      expr::broadcast(s.v, rank, expr::step_table<node>.v, operands.own, operands.count);
      return s;
    }
  }
  /// f(extents) of every operand at the ends of the tree.
  // One function an operator of a statement: folds over an index sequence would be two, and their compile time is felt.
  template <class F> TTENSOR_INLINE void shapes(F&& f) const {
    at<0>(args).shapes(f);
    if constexpr (arity > 1) at<1>(args).shapes(f);
    if constexpr (arity > 2) at<2>(args).shapes(f);
    if constexpr (arity > 3) at<3>(args).shapes(f);
  }
  template <class F> TTENSOR_INLINE void leaves(F&& f) const {
    at<0>(args).leaves(f);
    if constexpr (arity > 1) at<1>(args).leaves(f);
    if constexpr (arity > 2) at<2>(args).leaves(f);
    if constexpr (arity > 3) at<3>(args).leaves(f);
  }
  template <class F> TTENSOR_INLINE void each_hold(F&& f) {
    at<0>(args).each_hold(f);
    if constexpr (arity > 1) at<1>(args).each_hold(f);
    if constexpr (arity > 2) at<2>(args).each_hold(f);
    if constexpr (arity > 3) at<3>(args).each_hold(f);
  }
};
template <class E> inline constexpr bool is_node_v = false;
template <class Op, class... A> inline constexpr bool is_node_v<node<Op, A...>> = true;
template <class Op, class... A> inline constexpr int expr::steps_v<node<Op, A...>> = (1 + ... + expr::steps_v<A>);
template <class Op, class... A> struct expr::steps_of<node<Op, A...>> {
  static constexpr void write(shape_step*& to) {
    *to++ = {Op::name, static_cast<int>(sizeof...(A))};
    (steps_of<A>::write(to), ...);
  }
};

namespace expr {
struct hold_list {  // a copy of the words: the expression may live in registers
  mem::hold* to;
  TTENSOR_INLINE void operator()(mem::hold h) { *to++ = h; }
};
struct hold_again {
  TTENSOR_INLINE void operator()(mem::hold& h) const { h = mem::hold_again(h); }
};
[[noreturn]] TTENSOR_NOINLINE inline void moved_from() {
  raise<error>("[expression] this expression was moved from, or used up by the expression that took it with std::move; copy it instead [TT-E01]");
}
}  // namespace expr
/// The root of a tree. The leaves of a tree say what they hold and count nothing; the root counts and drops for all of them, so that
/// building a tree moves words and drops nothing on the way.
template <class E> struct owned : E {
  bool live;  // else it was moved from

  /// From the operands of its node, in place.
  template <class... A> TTENSOR_INLINE explicit owned(std::in_place_t, A&&... a) : E{{{{static_cast<A&&>(a)}...}}}, live(true) {}
  TTENSOR_INLINE owned(owned&& o) noexcept : E(static_cast<E&&>(o)), live(o.live) { o.live = false; }
  owned(const owned& o) : E(o), live(o.live) {
    if (live) this->each_hold(expr::hold_again{});
  }
  owned& operator=(owned o) noexcept {
    const owned before(static_cast<owned&&>(*this));
    static_cast<E&>(*this) = static_cast<E&&>(o);
    live = std::exchange(o.live, false);
    return *this;
  }
  TTENSOR_INLINE ~owned() {
    if (!live) return;
    if constexpr (E::holds <= 4) {
      mem::hold all[E::holds];
      this->each_hold(expr::hold_list{all});
      TTENSOR_UNROLL for (int i = 0; i < E::holds; ++i) mem::drop_hold(all[i]);
    } else {
      drop();
    }
  }

 private:
  TTENSOR_NOINLINE void drop() {  // most trees are used up by larger ones: only the roots' is ever emitted
    mem::hold all[E::holds];
    this->each_hold(expr::hold_list{all});
    mem::drop_holds(all, E::holds);
  }
};
template <int D, class Body, class... B> struct let_node;
namespace expr {
/// What an operand becomes inside a tree: take(a) holds what it stands on, for the root to drop.
template <class E> struct in_tree {
  using type = E;
  TTENSOR_INLINE static E take(E& e) {
    if constexpr (E::holds == 0) {
      return static_cast<E&&>(e);
    } else {  // a tree whose root stays
      E held(e);
      held.each_hold(hold_again{});
      return held;
    }
  }
};
template <class E> struct in_tree<owned<E>> {
  using type = E;
  TTENSOR_INLINE static E&& take(owned<E>& e) {
    if (TTENSOR_UNLIKELY(!e.live)) moved_from();
    e.live = false;
    return static_cast<E&&>(e);
  }
};
template <class S, int R> struct in_tree<leaf<S, R>> {
  using type = leaf<S, R, false>;
  TTENSOR_INLINE static type take(leaf<S, R>& l) { return {l.data.release(), l.map}; }
};
template <class A> inline constexpr bool is_whole_v = depth_v<scalar_t<A>> == 0 && requires { typename A::ttensor_whole; };
template <array_object A> struct in_tree<A> {  // without a leaf that would hold and give up at once
  using leaf_type = decltype(std::declval<const A&>().as_leaf());
  using type = std::conditional_t<is_whole_v<A>, whole_leaf<scalar_t<A>, A::rank>, typename in_tree<leaf_type>::type>;
  TTENSOR_INLINE static type take(const A& a) {
    if constexpr (is_whole_v<A>) return {a.elements().hold(), a.shape()};
    else if constexpr (std::is_same_v<type, leaf_type>) return a.as_leaf();
    else return {a.elements().bare(), a.map()};
  }
};
template <class E> inline constexpr int steps_v<owned<E>> = steps_v<E>;
template <class E> struct steps_of<owned<E>> : steps_of<E> {};
/// True of a tree whose leaves show its whole shape: nothing is bound outside of its operators.
template <class E> inline constexpr bool shows_shape_v = true;
template <class Op, class... A> inline constexpr bool shows_shape_v<node<Op, A...>> = (shows_shape_v<A> && ...);
template <int D, class Body, class... B> inline constexpr bool shows_shape_v<let_node<D, Body, B...>> = false;
/// The steps of such a tree, else null.
template <class E> constexpr const shape_step* steps_to_show() {
  if constexpr (shows_shape_v<E>) return step_table<E>.v;
  else return nullptr;
}
/// The tree of an expression, without its holds.
template <class E> const E& tree(const E& e) { return e; }
template <class E> const E& tree(const owned<E>& e) { return e; }
/// A leaf that keeps its elements by itself.
template <class L> const L& keeping(const L& l) { return l; }
template <class S, int R> leaf<S, R> keeping(const leaf<S, R, false>& l) { return {l.data.owning(), l.map}; }
template <class T, int R> leaf<T, R> keeping(const whole_leaf<T, R>& l) { return keeping(l.general()); }
}  // namespace expr

/// Placeholder K of the `let` at nesting depth D: the only leaves whose identity the type shows.
template <int D, int K, class S, int R> struct let_arg {
  using ttensor_expression = void;
  using scalar = S;
  static constexpr int rank = R;
  dims<R> extent;
  static constexpr int holds = 0;
  dims<R> shape() const { return extent; }
  template <class F> void shapes(F&& f) const { f(extent); }
  template <class F> void leaves(F&&) const {}
  template <class F> void each_hold(F&&) {}
};
/// Body over placeholders, with what they stand for: each binding is computed once.
template <int D, class Body, class... B> struct let_node {
  using ttensor_expression = void;
  using scalar = typename Body::scalar;
  static constexpr int rank = Body::rank;
  static constexpr int holds = 0;  // its parts hold for themselves
  bundle<B...> bound;
  Body body;
  template <class F> void each_hold(F&&) {}
  dims<rank> shape() const { return body.shape(); }
  template <class F> void shapes(F&& f) const { f(shape()); }
  template <class F> TTENSOR_INLINE void leaves(F&& f) const {
    [&]<int... I>(std::integer_sequence<int, I...>) { (at<I>(bound).leaves(f), ...); }(std::make_integer_sequence<int, static_cast<int>(sizeof...(B))>{});
    body.leaves(f);
  }
};

// ---- as_expression: what an operand becomes inside a node ------------------------------------------------------------
template <expression E> TTENSOR_INLINE std::remove_cvref_t<E> as_expression(E&& e) { return static_cast<E&&>(e); }
template <array_object A> TTENSOR_INLINE auto as_expression(const A& a) { return a.as_leaf(); }
template <class S> requires(number<S> || scalar_kind<S>) TTENSOR_INLINE scalar_leaf<S> as_expression(const S& s) { return {s}; }

namespace expr {
/// An operand to be evaluated at once: expressions without a copy, anything else as a leaf.
template <expression E> TTENSOR_INLINE const auto& read(const E& e) { return tree(e); }
template <class A> requires(!expression<A>) TTENSOR_INLINE auto read(const A& a) { return as_expression(a); }
}  // namespace expr

// ---- the door: the one place that decides what applying an operator means -------------------------------------------
struct promote_common;   // all operands to one element type
struct promote_to_real;  // the same, integers to double
template <class T> struct cast_op;
template <class S> struct kind_rule;  // kind_rule<dual<T>>::apply<Op>(args...): specialised by each kind

namespace expr {
template <class A> TTENSOR_INLINE decltype(auto) plain(A&& a) {  // a proxy's value; anything else as it is
  if constexpr (element_proxy<A>) return a.get();
  else return static_cast<A&&>(a);
}
/// Element type for a mix of operands: strong ones (tensors, compound scalars) promote; C++ numbers are weak.
template <class T, class A> constexpr auto strong_step() {
  using S = elem_t<scalar_t<A>>;
  if constexpr (cpp_number<A>) return std::type_identity<T>{};
  else if constexpr (std::is_void_v<T>) return std::type_identity<S>{};
  else return std::type_identity<promote_t<T, S>>{};
}
template <class T, class A> constexpr auto weak_step() {
  if constexpr (cpp_number<A>) return std::type_identity<weak_t<T, std::remove_cvref_t<A>>>{};
  else return std::type_identity<T>{};
}
template <class T, class... A> struct common_elem { using type = T; };
template <class T, class A, class... R> struct common_elem<T, A, R...> : common_elem<typename decltype(strong_step<T, A>())::type, R...> {};
template <class T, class... A> struct weaken { using type = T; };
template <class T, class A, class... R> struct weaken<T, A, R...> : weaken<typename decltype(weak_step<T, A>())::type, R...> {};
template <class... A> using operand_elem_t = typename weaken<typename common_elem<void, A...>::type, A...>::type;

/// Op over arrays and over expressions that are given up.
template <class Op, class... E> TTENSOR_INLINE auto make_node(E&&... e) {
  using tree = node<Op, typename in_tree<std::remove_cvref_t<E>>::type...>;
  if constexpr (tree::holds == 0) return tree{{{{in_tree<std::remove_cvref_t<E>>::take(e)}...}}};
  else return owned<tree>(std::in_place, in_tree<std::remove_cvref_t<E>>::take(e)...);
}
/// A tree of trees whose roots stay, for as long as they do.
template <class Op, class... E> auto make_bare(E&&... e) { return node<Op, std::remove_cvref_t<E>...>{{{{static_cast<E&&>(e)}...}}}; }

/// What an argument becomes inside a tree of element type T: arrays and expressions that are given up as they are, numbers and
/// scalars as leaves, other expressions as copies. A: the argument's type as a forwarding reference deduces it.
template <class T, class A> struct argument {
  using D = std::remove_cvref_t<A>;
  static constexpr bool as_is = std::is_same_v<elem_t<scalar_t<D>>, T> && (array_object<D> || (expression<D> && !std::is_lvalue_reference_v<A>));
  TTENSOR_INLINE static auto made(A&& a) {
    if constexpr (std::is_same_v<elem_t<scalar_t<D>>, T>) return as_expression(static_cast<A&&>(a));
    else return make_node<cast_op<T>>(as_expression(static_cast<A&&>(a)));
  }
  template <class X> struct form { using type = typename in_tree<decltype(made(std::declval<A>()))>::type; };
  template <class X> requires as_is struct form<X> { using type = typename in_tree<X>::type; };
  using type = typename form<D>::type;
  TTENSOR_INLINE static decltype(auto) take(A&& a) {
    if constexpr (as_is) {
      return in_tree<D>::take(a);
    } else {
      auto x = made(static_cast<A&&>(a));
      return static_cast<type>(in_tree<decltype(x)>::take(x));
    }
  }
};
template <class T, cpp_number A> struct argument<T, A> {
  using type = scalar_leaf<T>;
  TTENSOR_INLINE static type take(const std::remove_cvref_t<A>& a) { return {static_cast<T>(a)}; }
};
template <class Op, class Elements> struct builder;
template <class Op, class... T> struct builder<Op, type_list<T...>> {
  template <class... A> TTENSOR_INLINE static auto build(A&&... a) {
    using tree = node<Op, typename argument<T, A>::type...>;
    if constexpr (tree::holds == 0) return tree{{{{argument<T, A>::take(static_cast<A&&>(a))}...}}};
    else return owned<tree>(std::in_place, argument<T, A>::take(static_cast<A&&>(a))...);
  }
};
template <class Op, class... A> TTENSOR_INLINE auto build(A&&... a) {
  return builder<Op, typename Op::template operands<std::remove_cvref_t<A>...>>::build(static_cast<A&&>(a)...);
}
/// `a` as an expression of element type T; one that is given up is passed on.
template <class T, class A> TTENSOR_INLINE decltype(auto) operand(A&& a) {
  using D = std::remove_cvref_t<A>;
  if constexpr (cpp_number<D>) return scalar_leaf<T>{static_cast<T>(a)};
  else if constexpr (!std::is_same_v<elem_t<scalar_t<D>>, T>) return make_node<cast_op<T>>(as_expression(static_cast<A&&>(a)));
  else if constexpr (expression<D> && !std::is_lvalue_reference_v<A>) return static_cast<D&&>(a);
  else return as_expression(static_cast<A&&>(a));
}
/// T for each of A.
template <class T, class... A> using for_each_operand = type_list<std::conditional_t<true, T, A>...>;
template <class A, class... R> constexpr auto deepest_of() {
  if constexpr (sizeof...(R) == 0) return std::type_identity<A>{};
  else {
    using rest = typename decltype(deepest_of<R...>())::type;
    if constexpr ((depth_v<rest> > depth_v<A> && !has_probe_v<A>) || has_probe_v<rest>) return std::type_identity<rest>{};
    else return std::type_identity<A>{};
  }
}
/// What C++ numbers adopt among numbers and packs, so that the literals of a rule are weak there too: the element type of a
/// pack, else (integers only) the floating type beside them; void: nothing.
template <class A> struct pack_element { using type = void; };
template <class T, int N> struct pack_element<pack<T, N>> { using type = T; };
template <class T, int N> struct pack_element<device_pack<T, N>> { using type = T; };
template <class... A> struct weak_target { using type = void; };
template <class A, class... R> struct weak_target<A, R...> { using type = typename decltype([] {
  using rest = typename weak_target<R...>::type;
  if constexpr (is_pack_v<A> && !std::is_same_v<typename pack_element<A>::type, bool>) return std::type_identity<A>{};
  else if constexpr (is_complex_v<A>) return std::type_identity<A>{};
  else if constexpr (!std::is_void_v<rest> || !std::is_floating_point_v<A>) return std::type_identity<rest>{};
  else return std::type_identity<A>{};
}())::type; };
template <class Target, class A> TTENSOR_HD TTENSOR_INLINE constexpr decltype(auto) adopt(const A& a) {
  if constexpr (!cpp_number<A> || is_complex_v<A> || std::is_void_v<Target> || std::is_same_v<A, bool>) return (a);
  else if constexpr (is_pack_v<Target>) return static_cast<typename pack_element<Target>::type>(a);
  else if constexpr (std::is_integral_v<A> || is_complex_v<Target>) return static_cast<Target>(static_cast<real_t<Target>>(a));
  else return (a);
}
}  // namespace expr

/// Applies an elementwise operator to anything: numbers and packs compute, scalar kinds follow their rule, arrays build a node.
TTENSOR_NO_EXEC_CHECK
template <class Op, class... A> TTENSOR_HD TTENSOR_INLINE constexpr auto apply(A&&... a) {
  if constexpr ((element_proxy<A> || ...)) {
    return apply<Op>(expr::plain(static_cast<A&&>(a))...);
  } else if constexpr ((array_like<A> || ...)) {
    return expr::builder<Op, typename Op::template operands<std::remove_cvref_t<A>...>>::build(static_cast<A&&>(a)...);
  } else {
    using S = typename decltype(expr::deepest_of<std::remove_cvref_t<A>...>())::type;
    if constexpr (depth_v<S> == 0) return Op::primal(expr::adopt<typename expr::weak_target<std::remove_cvref_t<A>...>::type>(a)...);
    else return kind_rule<S>::template apply<Op>(static_cast<A&&>(a)...);
  }
}

TTENSOR_END
