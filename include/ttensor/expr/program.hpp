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

/// What the backward pass and the planner need to know of a program, as constant tables.
struct ins_facts {
  int operand[4];       // instruction numbers, -1 beyond the arity
  int arity;
  int slot;             // of a load, else -1
  bool active;          // a derivative flows to this instruction from the root
  bool needed;          // its value is read by an active derivative rule
};

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

// A program is made as numbers and becomes a type at the end: lists of types that grow by one would be a list for every instruction.
// No addresses of operators: UBSan's compiler does not take comparing them for constant.
struct draft_step {
  int op;  // number of the operator in a list of them, of the first of its kind there; -1: a load
  ins_facts facts;
};
template <class X, class... T> constexpr int first_like() {
  int i = 0;
  static_cast<void>(((__is_same(X, T) || (++i, false)) || ...));
  return i;
}
/// For each operator the number of the first that is the same.
template <class... Op> constexpr array<int, static_cast<int>(sizeof...(Op)) + 1> first_same(type_list<Op...>) {
  return {{first_like<Op, Op...>()..., 0}};
}
/// The number of the first instruction of In's operator; -1 of a load.
template <class In, class... Ins> constexpr int operator_number() {
  return __is_same(operator_of_t<In>, void) ? -1 : first_like<operator_of_t<In>, operator_of_t<Ins>...>();
}
template <int Most> struct draft_steps {
  draft_step at[Most + 1]{};
  int length = 0, root = -1;
};
struct draft {
  draft_step* at;
  const int* first;  // first_same of the operators
  int length = 0, slot_count = 0, operators = 0;
  /// The number of the instruction that computes the same as `s`.
  constexpr int add(draft_step s) {
    for (int i = 0; i < length; ++i) {
      bool same = at[i].op == s.op && at[i].facts.slot == s.facts.slot;
      for (int k = 0; k < 4; ++k) same = same && at[i].facts.operand[k] == s.facts.operand[k];
      if (same) return i;
    }
    at[length] = s;
    return length++;
  }
};
struct scope {  // placeholders of this depth are instructions at[0], at[1], ...
  int depth;
  const int* at;
  const scope* outer;
};
/// Adds the instructions of E; returns the number of the one that computes it. `operators`: those of E, in that order.
template <class E> struct lower {  // a leaf: a new slot
  using operators = type_list<>;
  static constexpr int run(draft& d, const scope*) { return d.add({-1, {{-1, -1, -1, -1}, 0, d.slot_count++, false, false}}); }
};
template <int D, int K, class S, int R> struct lower<let_arg<D, K, S, R>> {
  using operators = type_list<>;
  static constexpr int run(draft&, const scope* s) {
    while (s && s->depth != D) s = s->outer;  // the innermost
    return s ? s->at[K] : -1;
  }
};
template <class Op, class... A> struct lower<node<Op, A...>> {
  using operators = decltype(concat(typename lower<A>::operators{}..., type_list<Op>{}));
  static constexpr int run(draft& d, const scope* s) {
    ins_facts f{{-1, -1, -1, -1}, 0, -1, false, false};
    ((f.operand[f.arity++] = lower<A>::run(d, s)), ...);
    return d.add({d.first[d.operators++], f});
  }
};
template <int D, class Body, class... B> struct lower<let_node<D, Body, B...>> {
  using operators = decltype(concat(typename lower<B>::operators{}..., typename lower<Body>::operators{}));
  static constexpr int run(draft& d, const scope* s) {
    const int at[] = {lower<B>::run(d, s)...};
    const scope inner{D, at, s};
    return lower<Body>::run(d, &inner);
  }
};
template <class E> struct lower<owned<E>> : lower<E> {};

/// The type of the program that From::steps are, with the operators From::operators.
template <class From> struct finished {
  static constexpr const auto& steps = From::steps;
  template <int I, class S = std::make_integer_sequence<int, steps.at[I].facts.arity>> struct instruction;
  template <int I, int... K> struct instruction<I, std::integer_sequence<int, K...>> {
    using type = ins<at_t<steps.at[I].op, typename From::operators>, steps.at[I].facts.operand[K]...>;
  };
  template <int I> struct instruction<I, std::integer_sequence<int>> { using type = ld<steps.at[I].facts.slot>; };
  template <class S> struct all;
  template <int... I> struct all<std::integer_sequence<int, I...>> { using type = program<steps.root, typename instruction<I>::type...>; };
  using type = typename all<std::make_integer_sequence<int, steps.length>>::type;
};
template <class E> struct program_of {
  using operators = typename lower<E>::operators;
  static constexpr int leaves = leaves_of<E>::type::size;
  static constexpr bool fits = leaves <= 256;  // asked before the work, which is quadratic; a statement takes fewer
  static_assert(fits, "ttensor: too many arrays in one statement; evaluate a part with eval() first");
  static constexpr auto steps = [] {
    draft_steps<fits ? leaves + operators::size : 1> s;
    if constexpr (!fits) return s.length = 1, s.root = 0, s;
    const auto first = first_same(operators{});
    draft d{s.at, first.v};
    s.root = lower<E>::run(d, nullptr);
    s.length = d.length;
    return s;
  }();
  static constexpr bool bound = [] {
    bool yes = steps.root >= 0;
    for (const draft_step& s : steps.at)
      for (int k = 0; k < s.facts.arity; ++k) yes = yes && s.facts.operand[k] >= 0;
    return yes;
  }();
  static_assert(bound, "ttensor: the argument of the function of let or fuse is evaluated inside that function; return an expression, and "
                       "reduce or evaluate outside of it");
  using type = typename finished<program_of>::type;
};
}  // namespace lowering

/// The flat program of an expression type.
template <class E> using program_of = typename lowering::program_of<E>::type;
/// The leaf types of an expression, in slot order.
template <class E> using leaves_of_t = typename lowering::leaves_of<E>::type;

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
struct slot_use {
  int load = -1;    // the instruction that loads it; -1 where there is none
  int readers = 0;  // how often that is an operand, or the result
};
template <int Slots, int Root, class... Ins> constexpr array<slot_use, Slots> slot_uses(program<Root, Ins...>) {
  const ins_facts f[] = {facts_of(Ins{})...};
  array<slot_use, Slots> s{};
  for (int i = 0; i < static_cast<int>(sizeof...(Ins)); ++i) {
    if (f[i].slot >= 0) s[f[i].slot] = {i, s[f[i].slot].readers + (i == Root)};
    for (int j = 0; j < f[i].arity; ++j)
      if (const int slot = f[f[i].operand[j]].slot; slot >= 0) ++s[slot].readers;
  }
  return s;
}
template <int K> constexpr bool differentiable(ld<K>) { return true; }
template <class Op, int... I> constexpr bool differentiable(ins<Op, I...>) { return Op::differentiable; }
template <int K> constexpr unsigned reads(ld<K>, int) { return 0; }
template <class Op, int... I> constexpr unsigned reads(ins<Op, I...>, int operand) { return Op::reads(operand); }
}  // namespace lowering

/// Active leaves as bits, by slot.
template <bool... Active> constexpr std::uint64_t slot_bits() {
  static_assert(
      sizeof...(Active) <= 64,
      "ttensor: more than 64 arrays and numbers in a statement that is differentiated; evaluate a part with eval() first");
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
/// Operands of an instruction, as bits: those that are given a part of its adjoint, and of them those that have none yet, in reverse order.
struct ins_pushes {
  unsigned active = 0, first = 0;
};
template <int M> constexpr array<ins_pushes, M> adjoint_pushes(const program_facts<M>& f, int root) {
  array<ins_pushes, M> p{};
  array<bool, M> seen{};
  seen[root] = true;  // seeded
  for (int i = M - 1; i >= 0; --i)
    for (int j = 0; j < f.at[i].arity && f.at[i].active; ++j) {
      const int to = f.at[i].operand[j];
      if (!f.at[to].active) continue;
      p[i].active |= 1u << j;
      if (!std::exchange(seen[to], true)) p[i].first |= 1u << j;
    }
  return p;
}

TTENSOR_END
