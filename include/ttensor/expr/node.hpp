// Expressions are values: node<Op, Args...> over leaves. Building one computes nothing; its type is the operator graph.
#pragma once
#include "shapes.hpp"

TTENSOR_BEGIN

/// The operands of a node. Not a bundle: its slots are two more functions for every type of a tree.
template <class... A> struct node_operands;
template <class A> struct node_operands<A> { A a; };
template <class A, class B> struct node_operands<A, B> { A a; B b; };
template <class A, class B, class C> struct node_operands<A, B, C> { A a; B b; C c; };
template <class A, class B, class C, class D> struct node_operands<A, B, C, D> { A a; B b; C c; D d; };
template <int I, class... A> TTENSOR_INLINE const auto& at(const node_operands<A...>& o) {
  if constexpr (I == 0) return o.a;
  else if constexpr (I == 1) return o.b;
  else if constexpr (I == 2) return o.c;
  else return o.d;
}

template <class Op, class... A> struct node;
template <class T> struct cast_op;
namespace expr {
template <class... N> constexpr int largest(N... n) {  // a lambda would be a class for every node
  int r = 0;
  ((r = n > r ? n : r), ...);
  return r;
}
/// Numbers made of mapped integers and masks alone that note no levels. Their chain shows the batch levels and not what else is inside those, so
/// beside a number they keep the freedom that integers have (kinds::join).
template <class E> inline constexpr bool of_indices_v = false;
template <class T, class A> inline constexpr bool of_indices_v<node<cast_op<T>, A>> =
    of_indices_v<A> ||
    (is_kind_v<typename A::scalar> && !is_differentiable_v<elem_t<typename A::scalar>> && !noted_v<typename A::scalar>);
template <class Op, class... A> inline constexpr bool of_indices_v<node<Op, A...>> =
    (of_indices_v<A> || ...) && ((of_indices_v<A> || depth_v<typename A::scalar> == 0) && ...);
template <bool OfIndices> struct scalar_of_node {
  template <class Op, class... A> using type = typename Op::template result<typename A::scalar...>;
};
template <> struct scalar_of_node<true> {  // first the chain that all operands join to, then that for those of integers
  template <class A> using levels = reelem_t<typename A::scalar, std::conditional_t<of_indices_v<A>, int, elem_t<typename A::scalar>>>;
  template <class C, class A> using on = std::conditional_t<of_indices_v<A>, reelem_t<C, elem_t<typename A::scalar>>, typename A::scalar>;
  template <class Op, class... A> using type = typename Op::template result<on<join_chain_t<double, double, levels<A>...>, A>...>;
};
}  // namespace expr
template <class Op, class... A> struct node {
  using ttensor_expression = void;
  using op = Op;
  using scalar = typename expr::scalar_of_node<(expr::of_indices_v<A> || ...)>::template type<Op, A...>;
  static constexpr int rank = expr::largest(A::rank...);
  static constexpr int holds = (A::holds + ... + 0), arity = static_cast<int>(sizeof...(A));
  static_assert(arity > 0 && arity <= 4, "ttensor: an elementwise operator takes one to four operands");
  node_operands<A...> args;

  dims<rank> shape() const {
    if constexpr (arity == 1) {
      return args.a.shape();
    } else {
      const expr::operand_extents<node> operands(*this);
      dims<rank> s = ones<rank>();
      expr::broadcast(s.v, rank, expr::step_table<node>.v, operands.own, operands.count);
      return s;
    }
  }
  index_t size() const { return shape::size(shape()); }
  index_t extent(index_t axis) const { return shape()[shape::normalize_axis(axis, rank, "extent")]; }
  /// f(extents) of every operand at the ends of the tree.
  // One function an operator of a statement: folds over an index sequence would be two, and their compile time is felt.
  template <class F> TTENSOR_INLINE void shapes(F&& f) const {
    args.a.shapes(f);
    if constexpr (arity > 1) args.b.shapes(f);
    if constexpr (arity > 2) args.c.shapes(f);
    if constexpr (arity > 3) args.d.shapes(f);
  }
  template <class F> TTENSOR_INLINE void leaves(F&& f) const {
    args.a.leaves(f);
    if constexpr (arity > 1) args.b.leaves(f);
    if constexpr (arity > 2) args.c.leaves(f);
    if constexpr (arity > 3) args.d.leaves(f);
  }
  template <class F> TTENSOR_INLINE void each_hold(F&& f) {
    args.a.each_hold(f);
    if constexpr (arity > 1) args.b.each_hold(f);
    if constexpr (arity > 2) args.c.each_hold(f);
    if constexpr (arity > 3) args.d.each_hold(f);
  }
};
template <class E> inline constexpr bool is_node_v = false;
template <class Op, class... A> inline constexpr bool is_node_v<node<Op, A...>> = true;
template <class Op, class... A> inline constexpr int expr::steps_v<node<Op, A...>> = (1 + ... + expr::steps_v<A>);
template <class Op, class... A> struct expr::steps_of<node<Op, A...>> {
  static constexpr int offset(int k) {
    using operands = node_operands<A...>;
TTENSOR_OFFSETS_BEGIN
    if constexpr (sizeof...(A) > 1)
      if (k == 1) return __builtin_offsetof(operands, b);
    if constexpr (sizeof...(A) > 2)
      if (k == 2) return __builtin_offsetof(operands, c);
    if constexpr (sizeof...(A) > 3)
      if (k == 3) return __builtin_offsetof(operands, d);
TTENSOR_OFFSETS_END
    return 0;
  }
  static constexpr void write(shape_step*& to, int at) {
    *to++ = {Op::name, static_cast<short>(sizeof...(A)), false, 0};
    int k = 0;
    (steps_of<A>::write(to, at + offset(k++)), ...);
  }
};

namespace expr {
/// What a loop over the elements of an expression meets. No iterator, so that concepts of ranges are quietly false.
struct no_loop {
  template <int N = 1> bool operator!=(const no_loop&) const { return no_elements<N>() != 0; }
  double operator*() const;
  no_loop& operator++();
};
struct root {
  bool live;  // else it was moved from
  template <class... I> auto& operator()(const I&...) const { return no_elements<sizeof...(I)>(); }
  template <class I> auto& operator[](const I&) const { return no_elements<sizeof(I)>(); }
};
template <class T, class A> struct argument;  // apply.hpp
TTENSOR_INLINE int is_live(const void*) { return 1; }
TTENSOR_INLINE int is_live(const root* r) { return r->live; }
template <array_object A> requires(A::rank() == 0 && requires { typename A::ttensor_whole; })
TTENSOR_INLINE int is_live(const A* a) {
  return a->elements().valid();
}                   // throws: before any operand is taken
struct hold_list {  // a copy of the words: the expression may live in registers
  mem::hold* to;
  TTENSOR_INLINE void operator()(mem::hold h) { *to++ = h; }
};
struct hold_again {
  TTENSOR_INLINE void operator()(mem::hold& h) const { h = mem::hold_again(h); }
};
/// Whether every operand that holds something begins with its one hold.
template <class E> inline constexpr bool begins_with_hold_v = E::holds == 0;
template <class T, int R> inline constexpr bool begins_with_hold_v<whole_leaf<T, R>> = true;
template <class Op, class... A> inline constexpr bool begins_with_hold_v<node<Op, A...>> = (begins_with_hold_v<A> && ...);
/// Drops what the operands of such a tree hold.
void drop_tree(const void* tree, const shape_step* step, int holds) noexcept;
[[noreturn]] void moved_from();
#if defined(TTENSOR_BODY)
TTENSOR_BODY void drop_tree(const void* tree, const shape_step* step, int holds) noexcept {
  mem::hold words[64];
  for (int n = 0; n < holds;) {
    int m = 0;
    for (; n + m < holds && m < 64; ++step)
      if (step->holds) __builtin_memcpy(words + m++, static_cast<const char*>(tree) + step->offset, sizeof(mem::hold));
    mem::drop_holds(words, m);
    n += m;
  }
}
TTENSOR_BODY void moved_from() {
  raise<error>(
      "[expression] this expression was moved from, or used up by the expression that took it with std::move; copy it instead [TT-E01]");
}
#endif
}  // namespace expr
/// The root of a tree. The leaves of a tree say what they hold and count nothing; the root counts and drops for all of them, so that
/// building a tree moves words and drops nothing on the way.
template <class E> struct owned : expr::root, E {
  using tree_type = E;
  /// From the operands of its node, in place.
  template <class... A> TTENSOR_INLINE explicit owned(std::in_place_t, A&&... a) : expr::root{true}, E{{static_cast<A&&>(a)...}} {}
  /// From the arguments of its operator, of element types T. Expressions that were moved from throw before any is taken, so that nothing is held then.
  template <class... T, class... A> TTENSOR_INLINE owned(type_list<T...>, A&&... a)
      : expr::root{TTENSOR_LIKELY((expr::is_live(__builtin_addressof(a)) & ...)) || (expr::moved_from(), false)},
        E{{expr::argument<T, A>::take(a)...}} {}
  TTENSOR_INLINE owned(owned&& o) noexcept : expr::root{o.live}, E(static_cast<E&&>(o)) { o.live = false; }
  owned(const owned& o) : expr::root{o.live}, E(o) {
    if (live) this->each_hold(expr::hold_again{});
  }
  owned& operator=(owned o) noexcept {
    const owned before(static_cast<owned&&>(*this));
    static_cast<E&>(*this) = static_cast<E&&>(o);
    live = std::exchange(o.live, false);
    return *this;
  }
  template <class V> requires(!std::is_convertible_v<V, owned>) void operator=(V&&) {
    static_assert(
        sizeof(V) == 0,
        "ttensor: an auto variable that was given an expression has that expression's type and takes no other; begin with auto d = eval(...), or tensor<T, R> d = ...");
  }
  expr::no_loop begin() const { return {}; }
  expr::no_loop end() const { return {}; }
  template <int N = 1> explicit operator bool() const requires(E::rank > 0) { return no_condition<N>(); }
  /// Drops what it holds: it was used up.
  TTENSOR_INLINE void give_up() { const owned gone(static_cast<owned&&>(*this)); }
  /// The same of a tree in memory.
  TTENSOR_INLINE void give_up_in_place() {
    if constexpr (expr::begins_with_hold_v<E>) {
      if (live) expr::drop_tree(static_cast<const E*>(this), expr::step_table<E>.v, E::holds);
      live = false;
    } else {
      give_up();
    }
  }
  // The words are copied: a tree whose address is never taken lives in registers, and one that is used up by a larger one is known to be, so
  // that dropping it is not compiled.
  TTENSOR_INLINE ~owned() {
    if (!live) return;
    mem::hold words[E::holds];
    expr::hold_list list{words};
    this->each_hold(list);
    if constexpr (E::holds <= 4) mem::drop_array(words, std::make_integer_sequence<int, E::holds>{});
    else mem::drop_holds(words, E::holds);
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
  using type = std::conditional_t<is_whole_v<A>, whole_leaf<scalar_t<A>, A::rank()>, typename in_tree<leaf_type>::type>;
  TTENSOR_INLINE static type take(const A& a) {
    if constexpr (is_whole_v<A>) return {a.elements().hold(), a.shape()};
    else if constexpr (std::is_same_v<type, leaf_type>) return a.as_leaf();
    else {
      if constexpr (requires { a.elements().reads_by_copy(); })
        if (TTENSOR_UNLIKELY(a.elements().reads_by_copy())) {  // a slice of a fixed tensor
          auto l = a.elements().copied(a.map());
          return {l.data.release(), l.map};
        }
      return {a.elements().bare(), a.map()};
    }
  }
};
template <class E> inline constexpr int steps_v<owned<E>> = steps_v<E>;
template <class E> struct steps_of<owned<E>> : steps_of<E> {};
/// True of a tree whose leaves show its whole shape: nothing is bound outside of its operators.
template <class E> inline constexpr bool shows_shape_v = true;
template <class Op, class... A> inline constexpr bool shows_shape_v<node<Op, A...>> = (shows_shape_v<A> && ...);
template <int D, class Body, class... B> inline constexpr bool shows_shape_v<let_node<D, Body, B...>> = false;
template <class E> inline constexpr bool shows_shape_v<owned<E>> = shows_shape_v<E>;
/// The steps of such a tree, else null.
template <class E> constexpr const shape_step* steps_to_show() {
  if constexpr (shows_shape_v<E>) return step_table<E>.v;
  else return nullptr;
}
/// The tree of an expression, without its holds.
template <class E> TTENSOR_INLINE const E& tree(const E& e) { return e; }
template <class E> TTENSOR_INLINE const E& tree(const owned<E>& e) {
  if (TTENSOR_UNLIKELY(!e.live)) moved_from();
  return e;
}
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
  dims<R> extents;
  static constexpr int holds = 0;
  dims<R> shape() const { return extents; }
  index_t size() const { return shape::size(extents); }
  index_t extent(index_t axis) const { return extents[shape::normalize_axis(axis, rank, "extent")]; }
  template <class F> void shapes(F&& f) const { f(extents); }
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
  index_t size() const { return shape::size(shape()); }
  index_t extent(index_t axis) const { return shape()[shape::normalize_axis(axis, rank, "extent")]; }
  template <class F> void shapes(F&& f) const { f(shape()); }
  template <class F> TTENSOR_INLINE void leaves(F&& f) const {
    [&]<int... I>(std::integer_sequence<int, I...>) {
      (at<I>(bound).leaves(f), ...);
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(B))>{});
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

/// Op over arrays and over expressions that are given up.
template <class Op, class... E> TTENSOR_INLINE auto make_node(E&&... e) {
  using tree = node<Op, typename in_tree<std::remove_cvref_t<E>>::type...>;
  if (TTENSOR_UNLIKELY(!(expr::is_live(__builtin_addressof(e)) & ...))) moved_from();
  if constexpr (tree::holds == 0) return tree{{in_tree<std::remove_cvref_t<E>>::take(e)...}};
  else return owned<tree>(std::in_place, in_tree<std::remove_cvref_t<E>>::take(e)...);
}
/// A tree of trees whose roots stay, for as long as they do.
template <class Op, class... E> auto make_bare(E&&... e) { return node<Op, std::remove_cvref_t<E>...>{{static_cast<E&&>(e)...}}; }
template <int D, class... B, class Body> auto make_let(bundle<B...> bound, Body body) {
  return let_node<D, Body, B...>{static_cast<bundle<B...>&&>(bound), static_cast<Body&&>(body)};
}
}  // namespace expr

TTENSOR_END
