// Running a flat program on values: forward, and the reverse sweep of the same program. The values are whatever the
// executor loads: numbers, SIMD packs, or duals of them. All intermediates live in registers.
#pragma once
#include "../num/math.hpp"
#include "program.hpp"

TTENSOR_HD_BEGIN

// ---- the algebra of local partials: what an operator's `partials` may return besides a value --------------------------
struct unit {};                           // 1: the cotangent passes
struct minus_unit {};                     // -1
struct no_partial {};                     // not differentiable in this operand
template <class C> struct when { C c; };    // the cotangent where c holds, else exactly 0 (selected, not multiplied)
template <class C> struct unless { C c; };  // the cotangent where c does not hold
template <class C, class D> struct tie { C take; D half; };  // all where `take` holds, one half where `half` does, else 0
struct conjugated {};                     // the conjugate of the tangent and of the cotangent
template <class P> struct both_absorb { P p; };  // like a value, and a zero on either side gives 0
template <class P> struct chained { P p; };      // like a value, and -0 is what was not selected (chain_op)
template <class... P> struct grads : bundle<P...> {
  TTENSOR_HD constexpr grads(P... p) : bundle<P...>{{{p}...}} {}
};
template <class... P> grads(P...) -> grads<P...>;
template <class C> when(C) -> when<C>;
template <class C> unless(C) -> unless<C>;
template <class P> both_absorb(P) -> both_absorb<P>;
template <class P> chained(P) -> chained<P>;
template <class C, class D> tie(C, D) -> tie<C, D>;

struct add_op;
struct mul_op;
struct neg_op;
struct where_op;
struct absorb_op;
struct absorb2_op;
struct chain_op;
struct conj_op;
template <class T> struct cast_op;

namespace sweeping {
template <class P> inline constexpr bool is_when = false;
template <class C> inline constexpr bool is_when<when<C>> = true;
template <class P> inline constexpr bool is_unless = false;
template <class C> inline constexpr bool is_unless<unless<C>> = true;
template <class P> inline constexpr bool is_tie = false;
template <class C, class D> inline constexpr bool is_tie<tie<C, D>> = true;
template <class P> inline constexpr bool is_both = false;
template <class C> inline constexpr bool is_both<both_absorb<C>> = true;
template <class P> inline constexpr bool is_chained = false;
template <class C> inline constexpr bool is_chained<chained<C>> = true;

/// ct (or a tangent) times the local partial p of Op. With Op::absorbs an exact 0 stays 0 whatever p is.
template <class Op, class C, class P> TTENSOR_HD TTENSOR_INLINE constexpr auto scale(const C& ct, const P& p) {
  if constexpr (std::is_same_v<P, unit>) return ct;
  else if constexpr (std::is_same_v<P, no_partial>) return apply<where_op>(false, ct, 0);
  else if constexpr (std::is_same_v<P, minus_unit>) return apply<neg_op>(ct);
  else if constexpr (std::is_same_v<P, conjugated>) return apply<conj_op>(ct);
  else if constexpr (is_when<P>) return apply<where_op>(p.c, ct, 0);
  else if constexpr (is_unless<P>) return apply<where_op>(p.c, 0, ct);
  else if constexpr (is_tie<P>) return apply<where_op>(p.take, ct, apply<where_op>(p.half, apply<mul_op>(ct, 0.5), 0));
  else if constexpr (is_both<P>) return apply<absorb2_op>(ct, p.p);
  else if constexpr (is_chained<P>) return apply<chain_op>(ct, p.p);
  else if constexpr (Op::absorbs) return apply<absorb_op>(ct, p);
  else return apply<mul_op>(ct, p);
}
}  // namespace sweeping

/// Lane type of a value a loop computes with: pack<T, N> -> T, dual<V> -> that of V.
template <class V> struct lane { using type = V; };
template <class T, int N> struct lane<pack<T, N>> { using type = T; };
template <class T, int N> struct lane<device_pack<T, N>> { using type = T; };
template <class V, int N> struct lane<dual<V, N>> : lane<V> {};
template <class V> using lane_t = typename lane<V>::type;
/// The same value with another lane type.
template <class V, class T> struct relane { using type = T; };
template <class U, int N, class T> struct relane<pack<U, N>, T> { using type = pack<T, N>; };
template <class U, int N, class T> struct relane<device_pack<U, N>, T> { using type = device_pack<T, N>; };
template <class V, int N, class T> struct relane<dual<V, N>, T> { using type = dual<typename relane<V, T>::type, N>; };
template <class V, class T> using relane_t = typename relane<V, T>::type;

/// Element type inside any value that a rule sees: of packs, duals of packs, scalars of a kind, expressions.
template <class V> struct deep_elem { using type = lane_t<elem_t<scalar_t<V>>>; };
template <class T, int N> struct deep_elem<pack<T, N>> { using type = T; };
template <class T, int N> struct deep_elem<device_pack<T, N>> { using type = T; };
template <class V> using complex_elem_t = typename deep_elem<std::remove_cvref_t<V>>::type;
template <class V> inline constexpr bool is_complex_value_v = is_complex_v<complex_elem_t<V>>;

/// The same number in another type; of a complex one that becomes real, the real part.
template <class To, class From> TTENSOR_HD TTENSOR_INLINE constexpr To convert_value(const From& x) {
  if constexpr (std::is_same_v<To, From>) return x;
  else if constexpr (is_dual_v<To> && is_dual_v<From> && depth_v<To> == depth_v<From>) return To::convert(x);  // fewer levels: a constant of those it lacks
  else if constexpr (is_complex_v<lane_t<From>> && !is_complex_v<lane_t<To>> && depth_v<To> == 0) return convert_value<To>(math::real(x));
  else if constexpr (is_pack_v<To> && is_pack_v<From>) return convert<lane_t<To>>(x);
  else if constexpr (is_kind_v<To> && depth_v<To> == depth_v<From>) return apply<expr::conversion<elem_t<To>, From>>(x);  // records
  else return To(x);
}

namespace sweeping {
template <class P> inline constexpr bool is_tag = std::is_same_v<P, unit> || std::is_same_v<P, minus_unit> ||
                                                  std::is_same_v<P, no_partial> || std::is_same_v<P, conjugated> ||
                                                  is_when<P> || is_unless<P> || is_tie<P>;
template <class P> TTENSOR_HD constexpr bool complex_partial() {
  if constexpr (is_tag<P>) return false;
  else if constexpr (is_both<P> || is_chained<P>) return is_complex_value_v<decltype(P::p)>;
  else return is_complex_value_v<P>;
}
/// The partial as the reverse sweep uses it: conjugated.
template <class P> TTENSOR_HD TTENSOR_INLINE constexpr decltype(auto) reverse_partial(const P& p) {
  if constexpr (!complex_partial<P>()) return (p);
  else if constexpr (is_both<P>) return both_absorb{apply<conj_op>(p.p)};
  else if constexpr (is_chained<P>) return chained{apply<conj_op>(p.p)};
  else return apply<conj_op>(p);
}
/// A real tangent or cotangent that meets a complex partial.
template <class P, class C> TTENSOR_HD TTENSOR_INLINE constexpr decltype(auto) beside(const C& ct) {
  if constexpr (complex_partial<P>() && !is_complex_value_v<C>) return apply<cast_op<complex_elem_t<P>>>(ct);
  else return (ct);
}
/// What a tangent adds to the tangent of the result, before it is taken to the result's type.
template <class Op, class C, class P>
TTENSOR_HD TTENSOR_INLINE constexpr auto forward_term(const C& tangent, const P& p) {
  return scale<Op>(beside<P>(tangent), p);
}
/// What a cotangent adds to the cotangent of the operand, before it is taken to the operand's type.
template <class Op, class C, class P> TTENSOR_HD TTENSOR_INLINE constexpr auto reverse_term(const C& ct, const P& p) {
  return scale<Op>(beside<P>(ct), reverse_partial(p));
}

/// One instruction of a program whose values are all of one type. Its numbers are arguments, so that this is one function an operator and
/// not one an instruction. Op is void where nothing is to be done.
template <class Op, class V> TTENSOR_HD TTENSOR_INLINE constexpr void step(V* v, int to, int a, int b, int c, int d) {
  if constexpr (std::is_void_v<Op>) return;
  else if constexpr (Op::arity == 1) v[to] = apply<Op>(v[a]);
  else if constexpr (Op::arity == 2) v[to] = apply<Op>(v[a], v[b]);
  else if constexpr (Op::arity == 3) v[to] = apply<Op>(v[a], v[b], v[c]);
  else v[to] = apply<Op>(v[a], v[b], v[c], v[d]);
}
template <class Op, class V> TTENSOR_HD TTENSOR_INLINE constexpr auto partials(const V* v, int of, int a, int b, int c, int d) {
  if constexpr (Op::arity == 1) return TTENSOR_CALL_RULE(partials, v[a], v[of]);
  else if constexpr (Op::arity == 2) return TTENSOR_CALL_RULE(partials, v[a], v[b], v[of]);
  else if constexpr (Op::arity == 3) return TTENSOR_CALL_RULE(partials, v[a], v[b], v[c], v[of]);
  else return TTENSOR_CALL_RULE(partials, v[a], v[b], v[c], v[d], v[of]);
}
template <class Op, class A, class C, class P>
TTENSOR_HD TTENSOR_INLINE constexpr void push(A& to, const C& ct, const P& partial, bool first) {
  const A d = convert_value<A>(reverse_term<Op>(ct, partial));
  if (first) to = d;
  else to = apply<add_op>(to, d);
}
/// The same backwards: adds to the adjoints of the operands of bits Active; those of bits `first` have none yet.
template <class Op, unsigned Active, class V, class A>
TTENSOR_HD TTENSOR_INLINE constexpr void back(const V* v, A* adjoint, unsigned first, int of, int a, int b, int c,
                                              int d) {
  const auto g = partials<Op>(v, of, a, b, c, d);
  if constexpr (Active & 1) push<Op>(adjoint[a], adjoint[of], at<0>(g), first & 1);
  if constexpr (Active & 2) push<Op>(adjoint[b], adjoint[of], at<1>(g), first & 2);
  if constexpr (Active & 4) push<Op>(adjoint[c], adjoint[of], at<2>(g), first & 4);
  if constexpr (Active & 8) push<Op>(adjoint[d], adjoint[of], at<3>(g), first & 8);
}
template <int, class T> using each = T;
/// Whether Op of operands of type V is of type V: by their elements, and, where that holds for a whole program, by what its rule returns.
template <class Op, class V, class S = void> struct keeps : keeps<Op, V, std::make_integer_sequence<int, Op::arity>> {};
template <class V> struct keeps<void, V> { static constexpr bool element = true, value = true; };
template <class Op, class V, int... I> struct keeps<Op, V, std::integer_sequence<int, I...>> {
  static constexpr bool element = std::is_same_v<typename Op::template result<each<I, lane_t<V>>...>, lane_t<V>>;
  static constexpr bool value = std::is_same_v<decltype(apply<Op>(std::declval<each<I, const V&>>()...)), V>;
};
template <class V, class... Op> constexpr bool all_keep() {
  if constexpr ((keeps<Op, V>::element && ...)) return (keeps<Op, V>::value && ...);
  else return false;
}
}  // namespace sweeping

template <class Prog, class Leaves> struct sweep;
template <int Root, class... Ins, class... L> struct sweep<program<Root, Ins...>, type_list<L...>> {
  static constexpr int M = static_cast<int>(sizeof...(Ins));
  using prog = program<Root, Ins...>;
  using instructions = type_list<Ins...>;
  using leaf_list = type_list<L...>;
  using leaf_values = row_of<L...>;
  using numbers = std::make_integer_sequence<int, M>;

  static constexpr bool has_one_type = [] {  // all values of the program
    if constexpr (is_array_v<leaf_values>) return sweeping::all_keep<at_t<0, leaf_list>, operator_of_t<Ins>...>();
    else return false;
  }();
  template <int I, class In = at_t<I, instructions>> struct value;
  template <int I, int K> struct value<I, ld<K>> { using type = at_t<K, leaf_list>; };
  template <int I, class Op, int... J> struct value<I, ins<Op, J...>> {
    using type = decltype(apply<Op>(std::declval<const typename value<J>::type&>()...));
  };
  template <bool OneType, class S> struct types;
  template <int... I> struct types<false, std::integer_sequence<int, I...>> {
    template <int K> using value = typename sweep::template value<K>::type;
    using all = bundle<value<I>...>;
    template <class CT> using adjoints = row_of<relane_t<CT, lane_t<value<I>>>...>;
  };
  template <int... I> struct types<true, std::integer_sequence<int, I...>> {
    template <int> using value = at_t<0, leaf_list>;
    using all = array<value<0>, M>;
    template <class CT> using adjoints = array<relane_t<CT, lane_t<value<0>>>, M>;
  };
  template <int I> using value_t = typename types<has_one_type, numbers>::template value<I>;
  using values = typename types<has_one_type, numbers>::all;
  using result = value_t<Root>;

  template <int I, int K, class... Unused> TTENSOR_HD TTENSOR_INLINE static constexpr void step(values&, ld<K>, const Unused&...) {}
  template <int I, class Op, int... J, class... Unused>
  TTENSOR_HD TTENSOR_INLINE static constexpr void step(values& v, ins<Op, J...>, const Unused&...) {
    at<I>(v) = apply<Op>(at<J>(v)...);
  }
  static constexpr array<ins_facts, M> facts_of{{lowering::facts_of(Ins{})...}};
  static constexpr selection<M> choose(bool load) {
    selection<M> s;
    for (int i = 0; i < M; ++i)
      if ((facts_of[i].slot >= 0) == load) s.add(i);
    return s;
  }
  static constexpr selection<M> chosen_loads = choose(true), chosen_operators = choose(false);
  using loads = list_of<chosen_loads>;

  /// forward(v, order{}): values of all operators from those of the loads.
  using order = typename std::conditional_t<has_one_type, std::type_identity<numbers>, meta::listed<chosen_operators>>::type;
  template <int... I> TTENSOR_HD TTENSOR_INLINE static constexpr void forward(values& v, std::integer_sequence<int, I...>) {
    constexpr auto f = facts_of;  // device code has no other
    (sweeping::step<operator_of_t<Ins>>(v.v, I, f.v[I].operand[0], f.v[I].operand[1], f.v[I].operand[2], f.v[I].operand[3]), ...);
  }
  template <int... I> TTENSOR_HD TTENSOR_INLINE static constexpr void forward(values& v, int_list<I...>) {
    (step<I>(v, at_t<I, instructions>{}), ...);
  }
  /// The same from those of the leaves.
  template <int... Load> TTENSOR_HD TTENSOR_INLINE static constexpr void forward(values& v, const leaf_values& l, int_list<Load...>) {
    ((at<Load>(v) = at<facts_of[Load].slot>(l)), ...);
    forward(v, order{});
  }
  TTENSOR_HD TTENSOR_INLINE static constexpr result run(const leaf_values& l) {
    values v;
    forward(v, l, loads{});
    return at<Root>(v);
  }

  // ---- reverse: adjoints of all active instructions; the adjoint of an instruction has its lane type --------------------
  template <class CT, int I> using adjoint_t = relane_t<CT, lane_t<value_t<I>>>;
  template <class CT> using adjoints = typename types<has_one_type, numbers>::template adjoints<CT>;

  template <std::uint64_t Active> static constexpr auto known = facts<Active>(prog{});
  template <std::uint64_t Active> static constexpr auto pushes = adjoint_pushes(known<Active>, Root);
  template <std::uint64_t Active, int I, int J, class Op, class CT, class G>
  TTENSOR_HD TTENSOR_INLINE static constexpr void push(adjoints<CT>& a, const G& g) {
    constexpr auto p = pushes<Active>[I];
    if constexpr (p.active >> J & 1) sweeping::push<Op>(at<facts_of[I].operand[J]>(a), at<I>(a), at<J>(g), p.first >> J & 1);
  }
  template <std::uint64_t Active, class CT, int I, class Op, int... J>
  TTENSOR_HD TTENSOR_INLINE static constexpr void back(const values& v, adjoints<CT>& a, ins<Op, J...>) {
    constexpr int arity = static_cast<int>(sizeof...(J));
    const auto g = TTENSOR_CALL_RULE(partials, at<J>(v)..., at<I>(v));
    push<Active, I, 0, Op, CT>(a, g);
    if constexpr (arity > 1) push<Active, I, 1, Op, CT>(a, g);
    if constexpr (arity > 2) push<Active, I, 2, Op, CT>(a, g);
    if constexpr (arity > 3) push<Active, I, 3, Op, CT>(a, g);
  }
  template <std::uint64_t Active> static constexpr selection<M> choose_by(bool load, bool active) {  // newest first
    selection<M> s;
    for (int i = M - 1; i >= 0; --i)
      if ((facts_of[i].slot >= 0) == load && known<Active>.at[i].active == active) s.add(i);
    return s;
  }
  template <std::uint64_t Active> static constexpr selection<M> constants = choose_by<Active>(true, false);
  template <std::uint64_t Active> static constexpr selection<M> swept = choose_by<Active>(false, true);
  template <std::uint64_t Active, class CT, int... Constant, int... I>
  TTENSOR_HD TTENSOR_INLINE static constexpr void back_all(const values& v, adjoints<CT>& a, int_list<Constant...>, int_list<I...>) {
    ((at<Constant>(a) = adjoint_t<CT, Constant>(elem_t<adjoint_t<CT, Constant>>(0))), ...);  // only masks read it
    if constexpr (has_one_type) {
      constexpr auto f = facts_of;  // device code has no other
      constexpr auto p = pushes<Active>;
      (sweeping::back<operator_of_t<at_t<I, instructions>>, pushes<Active>[I].active>(
           v.v, a.v, p.v[I].first, I, f.v[I].operand[0], f.v[I].operand[1], f.v[I].operand[2], f.v[I].operand[3]),
       ...);
    } else {
      (back<Active, CT, I>(v, a, at_t<I, instructions>{}), ...);
    }
  }
  /// Forward sweep, then adjoints of every active leaf for the cotangent `ct` of the root. Active: bit per slot.
  template <std::uint64_t Active, class CT>
  TTENSOR_HD TTENSOR_INLINE static constexpr adjoints<CT> reverse(const leaf_values& l, const CT& ct) {
    values v;
    forward(v, l, loads{});
    return reverse_of<Active, CT>(v, ct);
  }
  /// The same from the values of all instructions.
  template <std::uint64_t Active, class CT>
  TTENSOR_HD TTENSOR_INLINE static constexpr adjoints<CT> reverse_of(const values& v, const CT& ct) {
    adjoints<CT> a;
    at<Root>(a) = convert_value<adjoint_t<CT, Root>>(ct);
    back_all<Active, CT>(v, a, list_of<constants<Active>>{}, list_of<swept<Active>>{});
    return a;
  }
  /// Instruction number of the load of a slot.
  static constexpr int load_of(int slot) {
    for (int i = 0; i < M; ++i)
      if (facts_of[i].slot == slot) return i;
    return -1;
  }
};

TTENSOR_HD_END
