// The flat program: a statement's expression type lowered, at compile time, to straight-line code of unique instructions.
//
//   exp(-x * x) * sin(x)   ->   program<7, ld<0>, ins<neg,0>, ld<1>, ins<mul,1,2>, ins<exp,3>, ld<2>, ins<sin,5>, ins<mul,4,6>>
//
// Everything that runs reads this type: the SIMD loop, the kernel, the dual loop, the backward loop, explain. Leaves of the
// operator form keep separate slots; only placeholders (let, fuse) make two uses the same leaf.
#pragma once
#include "apply.hpp"

TTENSOR_BEGIN

template <int Slot> struct ld {};                 // the value of leaf `Slot`
template <class Op, int... I> struct ins {};      // Op applied to the values of instructions I...
template <int Root, class... Ins> struct program {
  static constexpr int root = Root;
  static constexpr int length = static_cast<int>(sizeof...(Ins));
  using list = type_list<Ins...>;
};

template <class In> struct operator_of { using type = void; };  // a load
template <class Op, int... I> struct operator_of<ins<Op, I...>> { using type = Op; };
template <class In> using operator_of_t = typename operator_of<In>::type;

namespace lowering {
template <int D, int... I> struct bound {};  // environment entry: placeholders of depth D are instructions I...

template <class List, int Slots, int Root> struct state {
  using list = List;
  static constexpr int slots = Slots, root = Root;
};

template <class New, class... Ins> constexpr int find_or_end() {
  int i = 0, at = static_cast<int>(sizeof...(Ins));
  ((at = (at == static_cast<int>(sizeof...(Ins)) && std::is_same_v<New, Ins>) ? i : at, ++i), ...);
  return at;
}
template <class New, int Slots, class... Ins> constexpr auto append(type_list<Ins...>) {
  constexpr int i = find_or_end<New, Ins...>();
  if constexpr (i < static_cast<int>(sizeof...(Ins))) return state<type_list<Ins...>, Slots, i>{};
  else return state<type_list<Ins..., New>, Slots, i>{};
}
template <int D, int K, class... Env> constexpr int lookup() {
  int found = -1;
  auto one = [&]<int E, int... I>(bound<E, I...>) {
    if (E == D && found < 0) {  // the innermost
      const int v[] = {I...};
      found = v[K];
    }
  };
  (one(Env{}), ...);
  return found;
}

template <class E> struct lower {  // a leaf: a new slot
  template <class List, int Slots, class... Env> static constexpr auto run() { return append<ld<Slots>, Slots + 1>(List{}); }
};
template <int D, int K, class S, int R> struct lower<let_arg<D, K, S, R>> {
  template <class List, int Slots, class... Env> static constexpr auto run() {
    static_assert(lookup<D, K, Env...>() >= 0,
                  "ttensor: the argument of the function of let or fuse is evaluated inside that function; return an expression, and "
                  "reduce or evaluate outside of it");
    return state<List, Slots, lookup<D, K, Env...>()>{};
  }
};
// operands in order, carrying the instruction list; `Done` are the instruction numbers so far
template <class List, int Slots, class... Env, int... Done> constexpr auto operands(int_list<Done...> d, type_list<>, type_list<Env...>) {
  return bundle<state<List, Slots, 0>, int_list<Done...>>{{{}, {d}}};
}
template <class List, int Slots, class... Env, int... Done, class A, class... R>
constexpr auto operands(int_list<Done...>, type_list<A, R...>, type_list<Env...> env) {
  using S = decltype(lower<A>::template run<List, Slots, Env...>());
  return operands<typename S::list, S::slots>(int_list<Done..., S::root>{}, type_list<R...>{}, env);
}
template <class Op, int Slots, class List, int... I> constexpr auto append_op(int_list<I...>) { return append<ins<Op, I...>, Slots>(List{}); }
template <class Op, class... A> struct lower<node<Op, A...>> {
  template <class List, int Slots, class... Env> static constexpr auto run() {
    using P = decltype(operands<List, Slots>(int_list<>{}, type_list<A...>{}, type_list<Env...>{}));
    using S = at_t<0, typename pair_of<P>::type>;
    using I = at_t<1, typename pair_of<P>::type>;
    return append_op<Op, S::slots, typename S::list>(I{});
  }
  template <class P> struct pair_of;
  template <class X, class Y> struct pair_of<bundle<X, Y>> { using type = type_list<X, Y>; };
};
template <int D, class Body, class... B> struct lower<let_node<D, Body, B...>> {
  template <class P> struct pair_of;
  template <class X, class Y> struct pair_of<bundle<X, Y>> { using first = X; using second = Y; };
  template <class S, class... Env, int... I> static constexpr auto body(int_list<I...>) {
    return lower<Body>::template run<typename S::list, S::slots, bound<D, I...>, Env...>();
  }
  template <class List, int Slots, class... Env> static constexpr auto run() {
    using P = pair_of<decltype(operands<List, Slots>(int_list<>{}, type_list<B...>{}, type_list<Env...>{}))>;
    return body<typename P::first, Env...>(typename P::second{});
  }
};
template <class E> struct lower<owned<E>> : lower<E> {};
template <class S, class List> struct finish;
template <class S, class... Ins> struct finish<S, type_list<Ins...>> { using type = program<S::root, Ins...>; };
template <class E> using lowered = decltype(lower<E>::template run<type_list<>, 0>());
}  // namespace lowering

/// The flat program of an expression type.
template <class E> using program_of = typename lowering::finish<lowering::lowered<E>, typename lowering::lowered<E>::list>::type;

namespace lowering {
template <class... L> constexpr type_list<L...> concat(type_list<L...>) { return {}; }
template <class... A, class... B, class... C> constexpr auto concat(type_list<A...>, type_list<B...>, C... c) {
  return concat(type_list<A..., B...>{}, c...);
}
template <class E> struct leaves_of { using type = type_list<E>; };
template <int D, int K, class S, int R> struct leaves_of<let_arg<D, K, S, R>> { using type = type_list<>; };
template <class Op, class... A> struct leaves_of<node<Op, A...>> { using type = decltype(concat(typename leaves_of<A>::type{}...)); };
template <int D, class Body, class... B> struct leaves_of<let_node<D, Body, B...>> {
  using type = decltype(concat(typename leaves_of<B>::type{}..., typename leaves_of<Body>::type{}));
};
template <class E> struct leaves_of<owned<E>> : leaves_of<E> {};
}  // namespace lowering
/// The leaf types of an expression, in slot order.
template <class E> using leaves_of_t = typename lowering::leaves_of<E>::type;

/// What the backward pass and the planner need to know of a program, as constant tables.
struct ins_facts {
  int operand[4];       // instruction numbers, -1 beyond the arity
  int arity;
  int slot;             // of a load, else -1
  bool active;          // a derivative flows to this instruction from the root
  bool needed;          // its value is read by an active derivative rule
};
template <int M> struct program_facts {
  ins_facts at[M > 0 ? M : 1];
  constexpr bool keeps(int slot) const {  // the backward pass reads this leaf
    for (int i = 0; i < M; ++i)
      if (at[i].slot == slot && at[i].needed) return true;
    return false;
  }
};
namespace lowering {
template <int K> constexpr ins_facts facts_of(ld<K>) { return {{-1, -1, -1, -1}, 0, K, false, false}; }
template <class Op, int... I> constexpr ins_facts facts_of(ins<Op, I...>) {
  static_assert(sizeof...(I) <= 4, "ttensor: an elementwise operator takes at most four operands");
  ins_facts f{{-1, -1, -1, -1}, static_cast<int>(sizeof...(I)), -1, false, false};
  int n = 0;
  ((f.operand[n++] = I), ...);
  return f;
}
/// Of every slot below Slots: how often its load is an operand, or the result; -1 where the program does not load it.
template <int Slots, int Root, class... Ins> constexpr array<int, Slots> readers(program<Root, Ins...>) {
  const ins_facts f[] = {facts_of(Ins{})...};
  array<int, Slots> n{};
  for (int k = 0; k < Slots; ++k) n[k] = -1;
  for (const ins_facts& i : f)
    if (i.slot >= 0) n[i.slot] = f[Root].slot == i.slot;
  for (const ins_facts& i : f)
    for (int j = 0; j < i.arity; ++j)
      if (const int slot = f[i.operand[j]].slot; slot >= 0) ++n[slot];
  return n;
}
template <int K> constexpr bool differentiable(ld<K>) { return true; }
template <class Op, int... I> constexpr bool differentiable(ins<Op, I...>) { return Op::differentiable; }
template <int K> constexpr unsigned reads(ld<K>, int) { return 0; }
template <class Op, int... I> constexpr unsigned reads(ins<Op, I...>, int operand) { return Op::reads(operand); }
}  // namespace lowering

/// Active leaves as bits, by slot.
template <bool... Active> constexpr std::uint64_t slot_bits() {
  static_assert(sizeof...(Active) <= 64, "ttensor: more than 64 arrays and numbers in a statement that is differentiated; evaluate a part with eval() first");
  std::uint64_t bits = 0, bit = 1;
  ((bits |= Active ? bit : 0, bit <<= 1), ...);
  return bits;
}
/// Facts of a program whose active leaves are the bits of `ActiveSlots`.
template <std::uint64_t ActiveSlots, int Root, class... Ins> constexpr auto facts(program<Root, Ins...>) {
  constexpr int M = static_cast<int>(sizeof...(Ins));
  program_facts<M> f{{lowering::facts_of(Ins{})...}};
  const bool diff[] = {lowering::differentiable(Ins{})..., false};
  for (int i = 0; i < M; ++i) {
    if (f.at[i].slot >= 0) f.at[i].active = f.at[i].slot < 64 && (ActiveSlots >> f.at[i].slot & 1u);
    else
      for (int j = 0; j < f.at[i].arity; ++j) f.at[i].active |= diff[i] && f.at[f.at[i].operand[j]].active;
  }
  bool reached[M + 1] = {};  // no cotangent comes to what only masks read
  reached[Root] = true;
  for (int i = M - 1; i >= 0; --i) {
    f.at[i].active = f.at[i].active && reached[i];
    for (int j = 0; j < f.at[i].arity; ++j) reached[f.at[i].operand[j]] |= f.at[i].active;
  }
  for (int j = 0; j < 4; ++j) {  // values that rules of active operands read
    const unsigned r[] = {lowering::reads(Ins{}, j)..., 0u};
    for (int i = 0; i < M; ++i) {
      if (j >= f.at[i].arity || !f.at[i].active || !f.at[f.at[i].operand[j]].active) continue;
      for (int k = 0; k < f.at[i].arity; ++k)
        if (r[i] >> k & 1u) f.at[f.at[i].operand[k]].needed = true;
      if (r[i] >> f.at[i].arity & 1u) f.at[i].needed = true;
    }
  }
  for (int i = M - 1; i >= 0; --i)  // recomputing a value needs its operands
    if (f.at[i].needed)
      for (int j = 0; j < f.at[i].arity; ++j) f.at[f.at[i].operand[j]].needed = true;
  return f;
}
/// Whether the adjoint of operand j of instruction i is the first that reaches it, in reverse order: [4 * i + j].
template <int M> constexpr array<bool, 4 * M> first_adjoints(const program_facts<M>& f, int root) {
  array<bool, 4 * M> first{}, seen{};
  seen[root] = true;  // seeded
  for (int i = M - 1; i >= 0; --i)
    for (int j = 0; j < f.at[i].arity && f.at[i].active; ++j) first[4 * i + j] = !std::exchange(seen[f.at[i].operand[j]], true);
  return first;
}

TTENSOR_END
