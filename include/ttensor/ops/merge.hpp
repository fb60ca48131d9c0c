// Statements that name one array several times. The operator form has a leaf, and so a load, for every name; which names are one
// array is known only at run time. For short statements a second program is compiled in which the names that are most likely one
// array are one leaf and equal instructions are one instruction; it runs when the leaves are indeed the same arrays.
#pragma once
#include "arithmetic.hpp"

TTENSOR_BEGIN

namespace merging {

template <class L> inline constexpr bool is_array = false;
template <class T, int R> inline constexpr bool is_array<whole_leaf<T, R>> = true;
template <class S, int R, bool O> inline constexpr bool is_array<leaf<S, R, O>> = requires(const snapshot<S, O>& s) { s.same(s); };
template <class T, int R> bool equal(const whole_leaf<T, R>& a, const whole_leaf<T, R>& b) {
  return a.base() == b.base() && a.extent == b.extent;
}
template <class S, int R, bool O> bool equal(const leaf<S, R, O>& a, const leaf<S, R, O>& b) {
  return a.data.same(b.data) && a.map.offset == b.map.offset && a.map.extent == b.map.extent && a.map.stride == b.map.stride;
}
template <int N> struct pattern {
  array<int, N> same;  // of every leaf: the first leaf that is taken to be the same array
};
template <int N, int M> struct finder {
  pattern<N> p{};
  program_facts<M> f;
  int op[M];            // lowering::operator_numbers
  int group[N + 1];     // the first leaf of the same type; numbers are groups of their own, beyond N
  bool combines[M];     // sums, differences and quotients: of one array with itself they would be written otherwise
  int addend;           // the array that is a summand of the whole, alone in it; -1 if there is none: it is taken to be another array
  int kind[M]{};        // the first instruction that computes the same if all leaves of a group are the same

  constexpr void classify() {
    for (int i = 0; i < M; ++i) {
      kind[i] = i;
      for (int j = 0; j < i; ++j) {
        if (op[i] != op[j] || kind[j] != j) continue;
        bool equal = op[i] >= 0 || group[f.at[i].slot] == group[f.at[j].slot];
        for (int k = 0; k < f.at[i].arity; ++k) equal = equal && kind[f.at[i].operand[k]] == kind[f.at[j].operand[k]];
        if (equal) kind[i] = j;
      }
    }
  }
  /// The only array leaf of instruction i and what it reads; -1: none, -2: several.
  constexpr int only_array(int i) const {
    if (op[i] < 0) return group[f.at[i].slot] < N ? f.at[i].slot : -1;
    int leaf = -1;
    for (int k = 0; k < f.at[i].arity; ++k)
      if (const int below = only_array(f.at[i].operand[k]); below != -1) leaf = leaf == -1 ? below : -2;
    return leaf;
  }
  /// Whether instruction i reads a combination of arrays, which then probably are several.
  constexpr bool reads_several(int i) const {
    if (op[i] < 0) return false;
    bool yes = combines[i] && only_array(f.at[i].operand[0]) != -1 && only_array(f.at[i].operand[1]) != -1;
    for (int k = 0; k < f.at[i].arity; ++k) yes = yes || reads_several(f.at[i].operand[k]);
    return yes;
  }
  constexpr void unify(int i, int j) {
    if (op[i] < 0) p.same.v[f.at[i].slot] = p.same.v[f.at[j].slot];
    for (int k = 0; k < f.at[i].arity; ++k) unify(f.at[i].operand[k], f.at[j].operand[k]);
  }
  constexpr pattern<N> find() {
    int arrays = 0, operators = 0;
    for (int k = 0; k < N; ++k) p.same.v[k] = k, arrays += group[k] < N;
    for (int i = 0; i < M; ++i) operators += op[i] >= 0;
    classify();
    bool parts = false;  // equal ones of several arrays, such as the factors of (x - z) * (x - z)
    for (int i = 0; i < M; ++i) parts = parts || (kind[i] != i && reads_several(i));
    if (!parts && arrays >= 3 && operators >= arrays) {  // a formula of one array, such as a polynomial
      const int other = arrays > 3 ? addend : -1;
      for (int k = 0; k < N; ++k)
        for (int j = k; j >= 0 && k != other && group[k] < N; --j)
          if (j != other && group[j] == group[k]) p.same.v[k] = j;
      return p;
    }
    for (int i = M - 1; i >= 0; --i)
      if (op[i] >= 0 && kind[i] != i) unify(i, kind[i]);
    return p;
  }
};
template <class Op> inline constexpr bool combines = std::is_same_v<Op, add_op> || std::is_same_v<Op, sub_op> || std::is_same_v<Op, div_op>;
template <int Root, class... Ins, class... L> constexpr auto find(program<Root, Ins...>, type_list<L...>) {
  constexpr int N = static_cast<int>(sizeof...(L)), M = static_cast<int>(sizeof...(Ins));
  finder<N, M> s{{}, {{lowering::facts_of(Ins{})...}},  {lowering::operator_number<Ins, Ins...>()...},
                 {}, {combines<operator_of_t<Ins>>...}, -1};
  int k = 0;
  ((s.group[k] = is_array<L> ? lowering::first_like<L, L...>() : N + k, ++k), ...);
  using last = operator_of_t<at_t<Root, type_list<Ins...>>>;
  if (std::is_same_v<last, add_op> || std::is_same_v<last, sub_op>)
    for (int j = 0; j < 2; ++j)
      if (const int slot = s.only_array(s.f.at[Root].operand[j]); slot >= 0) s.addend = slot;
  return s.find();
}

/// A program with the leaves that are the same array loaded once.
template <auto Same, class Prog> struct merge;
template <auto Same, int Root, class... Ins> struct merge<Same, program<Root, Ins...>> {
  using operators = type_list<operator_of_t<Ins>...>;
  static constexpr int M = static_cast<int>(sizeof...(Ins));
  static constexpr auto steps = [] {
    lowering::draft_step from[] = {{lowering::operator_number<Ins, Ins...>(), lowering::facts_of(Ins{})}...};
    lowering::draft_steps<M> s;
    lowering::draft d{s.at, nullptr};
    int to[M] = {};
    for (int i = 0; i < M; ++i) {
      ins_facts& f = from[i].facts;
      if (f.slot >= 0) f.slot = Same.v[f.slot];
      for (int k = 0; k < f.arity; ++k) f.operand[k] = to[f.operand[k]];
      to[i] = d.add(from[i]);
    }
    s.length = d.length;
    s.root = to[Root];
    return s;
  }();
};
}  // namespace merging

/// The second program of an expression without let and fuse, if it has one.
template <class E, class Prog = program_of<E>> struct merged {
  static constexpr int longest = 32;  // instructions: longer statements are not limited by their loads
  static constexpr auto same = [] {
    if constexpr (Prog::length <= longest && expr::shows_shape_v<E>) return merging::find(Prog{}, leaves_of_t<E>{}).same;
    else return array<int, 0>{};
  }();
  static constexpr bool exists = [] {
    for (int k = 0; k < same.size(); ++k)
      if (same.v[k] != k) return true;
    return false;
  }();
  using program = typename std::conditional_t<exists, lowering::finished<merging::merge<same, Prog>>, std::type_identity<Prog>>::type;

  /// True when the names are the same arrays indeed.
  TTENSOR_INLINE static bool holds(const E& e) {
    const void* at[same.size() + 1];
    bool yes = true;
    int k = 0;
    e.leaves([&]<class L>(const L& l) __attribute__((always_inline)) {
      at[k] = &l;
      if constexpr (merging::is_array<L>) {
        const L& first = *static_cast<const L*>(at[same[k]]);
        yes = yes && merging::equal(l, first);
      }
      ++k;
    });
    return yes;
  }
  /// The same expression with a binding for every array that has several names; alive as long as `e` is.
  static auto bound(const E& e) {
    return [&]<int... B>(std::integer_sequence<int, B...>) {
      auto body = body_of<0>(e);
      const void* at[same.size() + 1];
      int k = 0;
      e.leaves([&](const auto& l) { at[k++] = &l; });
      return let_node<0, decltype(body), at_t<arrays.at[B], leaves_of_t<E>>...>{
          {{{*static_cast<const at_t<arrays.at[B], leaves_of_t<E>>*>(at[arrays.at[B]])}...}}, body};
    }(std::make_integer_sequence<int, arrays.count>{});
  }

 private:
  struct several {  // the first names of arrays that have several
    int at[same.size() + 1]{}, count = 0;
    constexpr several() {
      for (int k = 0; k < same.size(); ++k) {
        bool named_again = false;
        for (int j = k + 1; j < same.size(); ++j) named_again = named_again || same.v[j] == k;
        if (named_again) at[count++] = k;
      }
    }
    constexpr int find(int k) const {
      for (int i = 0; i < count; ++i)
        if (at[i] == same.v[k]) return i;
      return -1;
    }
  };
  static constexpr several arrays{};
  template <int First, class L> static auto body_of(const L& l) {
    if constexpr (arrays.find(First) < 0) return l;
    else return let_arg<0, arrays.find(First), typename L::scalar, L::rank>{l.shape()};
  }
  template <int First, class Op, class... A> static auto body_of(const node<Op, A...>& e) {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return expr::make_bare<Op>(body_of<First + leaves_before<I, A...>>(at<I>(e.args))...);
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>{});
  }
  template <int I, class... A> static constexpr int leaves_before = [] {
    const int n[] = {leaves_of_t<A>::size...};
    int sum = 0;
    for (int i = 0; i < I; ++i) sum += n[i];
    return sum;
  }();
};

TTENSOR_END
