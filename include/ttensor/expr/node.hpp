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
/// for every buffer; holds, their number; give(to), which moves the holds to a list; bare() and owning(), the other form.
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

/// A whole tensor of numbers inside a tree, in as few words as say it all: the elements follow the header of their block.
template <class T, int R> struct whole_leaf {
  using ttensor_expression = void;
  using scalar = T;
  static constexpr int rank = R;
  const T* base;
  dims<R> extent;
  dims<R> shape() const { return extent; }
  template <class F> TTENSOR_INLINE void shapes(F&& f) const { f(extent); }
  template <class F> TTENSOR_INLINE void leaves(F&& f) const { f(*this); }
  template <class F> TTENSOR_INLINE void planes(F&& f) const { f(std::type_identity<T>{}, plane<R>{base, extent, shape::row_major(extent), mem::block_of(base)}); }
  leaf<T, R, false> general() const { return {{{mem::block_of(base)}, base}, layout_map<R>::row_major(extent)}; }
};

/// A scalar of any kind standing in an expression; held by value. Numbers are run-time arguments of the program.
template <class S> struct scalar_leaf {
  using ttensor_expression = void;
  using scalar = S;
  static constexpr int rank = 0;
  S value;
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
/// An expression in prefix order, for the error text: {name, n, 0} is an operator of n operands, {nullptr, n, p} an operand of n axes and
/// p planes.
struct shape_step {
  const char* name;
  int count, planes;
};
struct operand_shape {
  index_t extent[16];
  int rank;
};
/// Shape of the expression that starts at `step`; throws at the first operator whose operands do not broadcast. `own`: extents of
/// the operands' planes, `axes` of each, aligned from the right.
TTENSOR_NOINLINE inline operand_shape fold_shape(const shape_step*& step, const index_t*& own, int axes) {
  const shape_step op = *step++;
  operand_shape s{{}, 0};
  if (!op.name) {
    s.rank = op.count;
    for (int d = 0; d < s.rank; ++d) s.extent[d] = own[axes - s.rank + d];
    own += op.planes * axes;
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
  static constexpr void write(shape_step*& to) { *to++ = {nullptr, E::rank, planes_v<core_t<typename E::scalar>>}; }
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
/// The shapes in `e` do not broadcast: throws, naming the operator. Takes no address of `e`, which may live in registers.
template <class E> [[noreturn]] TTENSOR_INLINE void shapes_differ(const E& e) {
  constexpr int axes = 16;
  constexpr auto& table = step_table<E>;
  constexpr int planes = [] {
    int n = 0;
    for (const shape_step& s : table.v) n += s.planes;
    return n;
  }();
  index_t own[planes * axes], *at = own;
  int step = 0;
  e.shapes([&]<int Q>(const dims<Q>& x) {
    static_assert(Q <= axes, "ttensor: at most 16 axes");
    while (table.v[step].name) ++step;
    for (int d = 0; d < Q; ++d) at[axes - Q + d] = x[d];
    at += axes * table.v[step++].planes;
  });
  shapes_differ(table.v, own, axes);
}
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
  bundle<A...> args;

  dims<rank> shape() const {
    if constexpr (sizeof...(A) == 1) {
      return at<0>(args).shape();
    } else {
      dims<rank> s = ones<rank>();
      bool ok = true;
      shapes([&](const auto& x) { ok = shape::broadcast_into(s, x) && ok; });
      if (TTENSOR_UNLIKELY(!ok)) expr::shapes_differ(*this);
      return s;
    }
  }
  /// f(extents) of every operand at the ends of the tree.
  template <class F> TTENSOR_INLINE void shapes(F&& f) const {
    [&]<int... I>(std::integer_sequence<int, I...>) { (at<I>(args).shapes(f), ...); }(std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>{});
  }
  template <class F> TTENSOR_INLINE void leaves(F&& f) const {
    [&]<int... I>(std::integer_sequence<int, I...>) { (at<I>(args).leaves(f), ...); }(std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>{});
  }
};
template <class E> inline constexpr bool is_node_v = false;
template <class Op, class... A> inline constexpr bool is_node_v<node<Op, A...>> = true;
template <class Op, class... A> inline constexpr int expr::steps_v<node<Op, A...>> = (1 + ... + expr::steps_v<A>);
template <class Op, class... A> struct expr::steps_of<node<Op, A...>> {
  static constexpr void write(shape_step*& to) {
    *to++ = {Op::name, static_cast<int>(sizeof...(A)), 0};
    (steps_of<A>::write(to), ...);
  }
};

/// An expression and what its leaves stand on. The leaves inside a tree of nodes own nothing; the root holds for all of them,
/// so that building a tree moves words and drops nothing on the way.
template <class E, int Holds> struct owned : E {
  mem::hold held[Holds];
  using each = std::make_integer_sequence<int, Holds>;

  /// From the operands of its node, in place.
  template <class... A> TTENSOR_INLINE explicit owned(std::in_place_t, A&&... a) : E{{{{static_cast<A&&>(a)}...}}} {}
  TTENSOR_INLINE owned(owned&& o) noexcept : E(static_cast<E&&>(o)) { take<0>(o, each{}); }
  owned(const owned& o) : E(o) {
    if (o.held[0]) mem::copy_holds(held, o.held, Holds);
    else held[0] = 0;
  }
  /// Moves the holds of an operand to places from First on; constant indices keep them in registers.
  template <int First, class O, int... I> TTENSOR_INLINE void take(O& o, std::integer_sequence<int, I...>) {
    const bool has = o.held[0] != 0;  // else it was given up before, and the rest of its list is stale
    ((held[First + I] = has ? o.held[I] : mem::no_hold), ...);
    o.held[0] = 0;
  }
  owned& operator=(owned o) noexcept {
    static_cast<E&>(*this) = static_cast<E&&>(o);
    for (int i = 0; i < Holds; ++i) std::swap(held[i], o.held[i]);
    return *this;
  }
  TTENSOR_INLINE ~owned() {
    if (held[0]) drop(each{});
  }

 private:
  template <int... I> TTENSOR_INLINE void drop(std::integer_sequence<int, I...>) {
    if constexpr (Holds <= 4) (mem::drop_hold(held[I]), ...);
    else {
      const mem::hold all[] = {held[I]...};  // a copy: the expression may live in registers
      mem::drop_holds(all, Holds);
    }
  }
};
template <int D, class Body, class... B> struct let_node;
namespace expr {
/// What an operand becomes inside a tree, and the holds that it passes to the root.
template <class E> struct in_tree {
  using type = E;
  static constexpr int holds = 0;
  TTENSOR_INLINE static E&& strip(E& e) { return static_cast<E&&>(e); }
  template <int First, class O> TTENSOR_INLINE static void give(E&, O&) {}
};
template <class E, int Holds> struct in_tree<owned<E, Holds>> {
  using type = E;
  static constexpr int holds = Holds;
  TTENSOR_INLINE static E&& strip(owned<E, Holds>& e) { return static_cast<E&&>(e); }
  template <int First, class O> TTENSOR_INLINE static void give(owned<E, Holds>& e, O& to) { to.template take<First>(e, typename owned<E, Holds>::each{}); }
};
template <class S, int R> struct in_tree<leaf<S, R>> {
  using type = leaf<S, R, false>;
  static constexpr int holds = snapshot<S>::holds;
  TTENSOR_INLINE static type strip(const leaf<S, R>& l) { return {l.data.bare(), l.map}; }
  template <int First, class O> TTENSOR_INLINE static void give(leaf<S, R>& l, O& to) { l.data.template give<First>(to.held); }
};
template <class A> inline constexpr bool is_whole_v = depth_v<scalar_t<A>> == 0 && requires { typename A::ttensor_whole; };
template <array_object A> struct in_tree<A> {  // without a leaf that would hold and give up at once
  using leaf = decltype(std::declval<const A&>().as_leaf());
  using type = typename std::conditional_t<is_whole_v<A>, std::type_identity<whole_leaf<scalar_t<A>, A::rank>>, in_tree<leaf>>::type;
  static constexpr int holds = in_tree<leaf>::holds;
  TTENSOR_INLINE static type strip(const A& a) {
    if constexpr (is_whole_v<A>) return {a.elements().bare().base, a.shape()};
    else if constexpr (std::is_same_v<leaf, type>) return a.as_leaf();
    else return {a.elements().bare(), a.map()};
  }
  template <int First, class O> TTENSOR_INLINE static void give(const A& a, O& to) {
    if constexpr (holds > 0) a.elements().template hold<First>(to.held);
  }
};
template <class E, int Holds> inline constexpr int steps_v<owned<E, Holds>> = steps_v<E>;
template <class E, int Holds> struct steps_of<owned<E, Holds>> : steps_of<E> {};
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
template <class E, int Holds> const E& tree(const owned<E, Holds>& e) { return e; }
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
  dims<R> shape() const { return extent; }
  template <class F> void shapes(F&& f) const { f(extent); }
  template <class F> void leaves(F&&) const {}
};
/// Body over placeholders, with what they stand for: each binding is computed once.
template <int D, class Body, class... B> struct let_node {
  using ttensor_expression = void;
  using scalar = typename Body::scalar;
  static constexpr int rank = Body::rank;
  bundle<B...> bound;
  Body body;
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

template <int I, class... E> inline constexpr int holds_before = [] {
  const int holds[] = {in_tree<E>::holds...};
  int n = 0;
  for (int i = 0; i < I; ++i) n += holds[i];
  return n;
}();
template <class Op, int... I, class... E> TTENSOR_INLINE auto make_node(std::integer_sequence<int, I...>, E&... e) {
  using tree = node<Op, typename in_tree<std::remove_const_t<E>>::type...>;
  constexpr int holds = holds_before<sizeof...(E), std::remove_const_t<E>...>;
  if constexpr (holds == 0) {
    return tree{{{{in_tree<std::remove_const_t<E>>::strip(e)}...}}};
  } else {
    owned<tree, holds> n(std::in_place, in_tree<std::remove_const_t<E>>::strip(e)...);
    (in_tree<std::remove_const_t<E>>::template give<holds_before<I, std::remove_const_t<E>...>>(e, n), ...);
    return n;
  }
}
/// Op over arrays and over expressions that are given up.
template <class Op, class... E> TTENSOR_INLINE auto make_node(E&&... e) { return make_node<Op>(std::make_integer_sequence<int, static_cast<int>(sizeof...(E))>{}, e...); }
/// `a` as make_node wants it, with element type T: arrays and expressions that are given up are passed on, all else becomes an
/// expression.
template <class T, class A> TTENSOR_INLINE decltype(auto) pass(A&& a) {
  using D = std::remove_cvref_t<A>;
  if constexpr (cpp_number<D>) return scalar_leaf<T>{static_cast<T>(a)};
  else if constexpr (!std::is_same_v<elem_t<scalar_t<D>>, T>) return make_node<cast_op<T>>(as_expression(static_cast<A&&>(a)));
  else if constexpr (array_object<D>) return static_cast<const D&>(a);
  else if constexpr (expression<D> && !std::is_lvalue_reference_v<A>) return static_cast<D&&>(a);
  else return as_expression(static_cast<A&&>(a));
}
template <class Op, class... T, class... A> TTENSOR_INLINE auto build_as(type_list<T...>, A&&... a) { return make_node<Op>(pass<T>(static_cast<A&&>(a))...); }
/// `a` as an expression of element type T; one that is given up is passed on.
template <class T, class A> TTENSOR_INLINE decltype(auto) operand(A&& a) {
  if constexpr (array_object<A> && std::is_same_v<elem_t<scalar_t<A>>, T>) return a.as_leaf();
  else return pass<T>(static_cast<A&&>(a));
}
template <class Op, class... A> TTENSOR_INLINE auto build(A&&... a) {
  return build_as<Op>(typename Op::template operands<std::remove_cvref_t<A>...>{}, static_cast<A&&>(a)...);
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
    return expr::build<Op>(static_cast<A&&>(a)...);
  } else {
    using S = typename decltype(expr::deepest_of<std::remove_cvref_t<A>...>())::type;
    if constexpr (depth_v<S> == 0) return Op::primal(expr::adopt<typename expr::weak_target<std::remove_cvref_t<A>...>::type>(a)...);
    else return kind_rule<S>::template apply<Op>(static_cast<A&&>(a)...);
  }
}

TTENSOR_END
