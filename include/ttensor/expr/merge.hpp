// Statements that name one array several times. The operator form has a leaf, and so a load, for every name; which names are one
// array is known only at run time. For short statements a second program is compiled in which the names that are most likely one
// array are one leaf and equal instructions are one instruction; it runs when the leaves are indeed the same arrays.
#pragma once
#include "program.hpp"

TTENSOR_BEGIN

namespace merging {
template <class Op> inline constexpr char op_tag = 0;
template <int K> constexpr const char* tag_of(ld<K>) { return nullptr; }
template <class Op, int... I> constexpr const char* tag_of(ins<Op, I...>) { return &op_tag<Op>; }

template <class L> inline constexpr bool is_array = false;
template <class T, int R> inline constexpr bool is_array<whole_leaf<T, R>> = true;
template <int N> struct pattern {
  array<int, N> same;  // of every leaf: the first leaf that is taken to be the same array
  constexpr bool merges() const {
    for (int k = 0; k < N; ++k)
      if (same.v[k] != k) return true;
    return false;
  }
};
template <int N, int M> struct finder {
  pattern<N> p{};
  program_facts<M> f;
  const char* tag[M];
  int group[N + 1];     // leaves of one type; numbers are groups of their own
  int kind[M]{};        // the first instruction that computes the same if all leaves of a group are the same

  constexpr void classify() {
    for (int i = 0; i < M; ++i) {
      kind[i] = i;
      for (int j = 0; j < i; ++j) {
        if (tag[i] != tag[j] || kind[j] != j) continue;
        bool equal = tag[i] != nullptr || group[f.at[i].slot] == group[f.at[j].slot];
        for (int k = 0; k < f.at[i].arity; ++k) equal = equal && kind[f.at[i].operand[k]] == kind[f.at[j].operand[k]];
        if (equal) kind[i] = j;
      }
    }
  }
  constexpr void unify(int i, int j) {
    if (tag[i] == nullptr) p.same.v[f.at[i].slot] = p.same.v[f.at[j].slot];
    for (int k = 0; k < f.at[i].arity; ++k) unify(f.at[i].operand[k], f.at[j].operand[k]);
  }
  constexpr pattern<N> find() {
    int arrays = 0, operators = 0;
    for (int k = 0; k < N; ++k) p.same.v[k] = k, arrays += group[k] < N;
    for (int i = 0; i < M; ++i) operators += tag[i] != nullptr;
    if (arrays >= 3 && operators >= arrays) {  // a formula of one array, such as a polynomial
      for (int k = 0; k < N; ++k) p.same.v[k] = group[k] < N ? group[k] : k;
      return p;
    }
    classify();  // else equal parts, such as the factors of (x - z) * (x - z)
    for (int i = M - 1; i >= 0; --i)
      if (tag[i] != nullptr && kind[i] != i) unify(i, kind[i]);
    return p;
  }
};
template <class... L> constexpr int group_of(int k) {  // the first leaf of the same type; beyond all leaves for numbers
  const bool arrays[] = {is_array<L>..., false};
  const void* types[] = {&op_tag<L>..., nullptr};
  if (!arrays[k]) return static_cast<int>(sizeof...(L)) + k;
  for (int j = 0; j < k; ++j)
    if (types[j] == types[k]) return j;
  return k;
}
template <int Root, class... Ins, class... L> constexpr auto find(program<Root, Ins...>, type_list<L...>) {
  constexpr int N = static_cast<int>(sizeof...(L)), M = static_cast<int>(sizeof...(Ins));
  finder<N, M> s{{}, {{lowering::facts_of(Ins{})...}}, {tag_of(Ins{})...}, {}};
  for (int k = 0; k < N; ++k) s.group[k] = group_of<L...>(k);
  return s.find();
}

template <int I, int... Map> constexpr int nth() {
  const int m[] = {Map..., 0};
  return m[I];
}
template <auto Same, int... Map, int K> constexpr ld<Same.v[K]> renamed(ld<K>) { return {}; }
template <auto Same, int... Map, class Op, int... I> constexpr ins<Op, nth<I, Map...>()...> renamed(ins<Op, I...>) { return {}; }
template <auto Same, int Root, class List, int... Map> constexpr auto merge(type_list<>) { return typename lowering::finish<lowering::state<List, 0, nth<Root, Map...>()>, List>::type{}; }
template <auto Same, int Root, class List, int... Map, class In, class... Rest> constexpr auto merge(type_list<In, Rest...>) {
  using S = decltype(lowering::append<decltype(renamed<Same, Map...>(In{})), 0>(List{}));
  return merge<Same, Root, typename S::list, Map..., S::root>(type_list<Rest...>{});
}
}  // namespace merging

/// The second program of an expression of whole leaves, if it has one.
template <class E, class Prog = program_of<E>> struct merged {
  static constexpr int longest = 32;  // instructions: longer statements are not limited by their loads
  static constexpr auto same = [] {
    if constexpr (Prog::length <= longest) return merging::find(Prog{}, leaves_of_t<E>{}).same;
    else return array<int, 0>{};
  }();
  static constexpr bool exists = [] {
    for (int k = 0; k < same.size(); ++k)
      if (same.v[k] != k) return true;
    return false;
  }();
  template <bool> struct chosen { using type = Prog; };
  template <class P> struct of;
  template <int Root, class... Ins> struct of<program<Root, Ins...>> { using type = decltype(merging::merge<same, Root, type_list<>>(type_list<Ins...>{})); };
  using program = typename std::conditional_t<exists, of<Prog>, chosen<false>>::type;
};

TTENSOR_END
