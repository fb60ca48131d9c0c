// Statements that name one array, or one expression, several times. The operator form has a leaf, and so a load, for every name; which
// names are one array is known only at run time. A second program is compiled in which the names that are most likely one array, and the
// numbers of parts that are most likely one expression, are one leaf and equal instructions are one instruction; it runs when they are indeed.
#pragma once
#include "../expr/let.hpp"
#include "../expr/on_leaves.hpp"
#include "arithmetic.hpp"

TTENSOR_BEGIN

namespace merging {

template <class L> inline constexpr bool is_array = false;
template <class T, int R> inline constexpr bool is_array<whole_leaf<T, R>> = true;
template <class S, int R, bool O> inline constexpr bool is_array<leaf<S, R, O>> = has_same<snapshot<S, O>>;
/// Of one plane, whose loads are worth merging; the others merge where a whole expression is computed once.
template <class L> inline constexpr bool is_one_plane = batch_levels_v<typename L::scalar> == 0 && planes_v<core_t<typename L::scalar>> == 1;
template <class L> inline constexpr bool is_number = false;
template <class S> inline constexpr bool is_number<scalar_leaf<S>> = depth_v<S> == 0 || has_same<S>;
template <class T, int R> bool equal(const whole_leaf<T, R>& a, const whole_leaf<T, R>& b) {
  return a.base() == b.base() && a.extent == b.extent;
}
template <class S, int R, bool O> bool equal(const leaf<S, R, O>& a, const leaf<S, R, O>& b) {
  return a.data.same(b.data) && a.map.offset == b.map.offset && a.map.extent == b.map.extent && a.map.stride == b.map.stride;
}
template <class S> TTENSOR_INLINE bool equal(const scalar_leaf<S>& a, const scalar_leaf<S>& b) { return expr::same_number(a.value, b.value); }
template <int N> struct pattern {
  array<int, N> same;  // of every leaf: the first leaf that is taken to be the same array, or the same number
  bool names = false;  // of expressions, which are computed once
  constexpr int first(int k) const {
    while (same.v[k] != k) k = same.v[k];
    return k;
  }
  constexpr void join(int a, int b) {
    a = first(a), b = first(b);
    same.v[a > b ? a : b] = a > b ? b : a;
  }
};
enum class form : char { other, sum, product, quotient, negation };  // sum: or difference
template <class In> constexpr form form_of() {
  using Op = operator_of_t<In>;
  if constexpr (__is_same(Op, add_op) || __is_same(Op, sub_op)) return form::sum;
  else if constexpr (__is_same(Op, mul_op)) return form::product;
  else if constexpr (__is_same(Op, div_op)) return form::quotient;
  else return __is_same(Op, neg_op) ? form::negation : form::other;
}
template <int N, int M> struct finder {
  pattern<N> p{};
  program_facts<M> f;
  int op[M];            // lowering::operator_numbers
  form is[M];
  bool costly[M];       // a division or a function
  int group[N + 1];     // of arrays and then of numbers: the first leaf of the same type; anything else is alone
  int addend;           // the array that is a summand of the whole, alone in it; -1 if there is none: it is taken to be another array
  int array_of[M]{};    // the only array leaf of an instruction and what it reads; -1: none, -2: several
  bool combines[M]{};   // it reads a combination of arrays, which then probably are several: of one array with itself it would be written otherwise
  int kind[M]{};        // the first instruction that computes the same if all leaves of a group are the same, see classify
  bool apart[M]{};      // of kinds: alike summands have it, as in dx * dx + dy * dy or a * exp(-b * x) + c * exp(-d * x); a name would be in one
  int summand[M]{};     // the innermost alike summand that reads an instruction, counted from 1; 0: none
  int joined[M]{};      // the earlier instruction that one was unified with, counted from 1; 0: none

  constexpr bool is_array_at(int slot) const { return group[slot] < N; }
  constexpr bool is_number_at(int slot) const { return group[slot] >= N && group[slot] < 2 * N; }
  /// numbers: those of one type are taken to be equal; else each is a group of its own.
  constexpr void classify(bool numbers) {
    for (int i = 0; i < M; ++i) {
      kind[i] = i, apart[i] = false, summand[i] = 0;
      for (int j = 0; j < i; ++j) {
        if (op[i] != op[j] || kind[j] != j) continue;
        bool equal = op[i] >= 0 || (group[f.at[i].slot] == group[f.at[j].slot] && (numbers || group[f.at[i].slot] < N));  // no calls: each costs the compiler
        for (int k = 0; k < f.at[i].arity; ++k) equal = equal && kind[f.at[i].operand[k]] == kind[f.at[j].operand[k]];
        if (equal) kind[i] = j;
      }
    }
    for (int i = 0; i < M; ++i)
      if (is[i] == form::sum) find_alike(i);
  }
  /// The instruction that i is taken to be if there is a name: the first of its kind, of an apart kind the first in its summand.
  constexpr int likely(int i) const {
    if (!apart[kind[i]]) return kind[i];
    for (int j = kind[i]; j < i && summand[i] != 0; ++j)
      if (kind[j] == kind[i] && summand[j] == summand[i]) return j;
    return i;
  }
  /// array_of and combines, operands first: with let an instruction has many readers, and too many paths to it to be walked.
  constexpr void find_readers() {
    for (int i = 0; i < M; ++i) {
      int leaf = -1;
      bool yes = false;
      for (int k = 0; k < f.at[i].arity; ++k) {
        const int below = array_of[f.at[i].operand[k]];
        if (below != -1) leaf = leaf == -1 ? below : -2;
        yes = yes || combines[f.at[i].operand[k]];
      }
      array_of[i] = op[i] >= 0 ? leaf : is_array_at(f.at[i].slot) ? f.at[i].slot : -1;
      combines[i] = yes || ((is[i] == form::sum || is[i] == form::quotient) && array_of[f.at[i].operand[0]] != -1 && array_of[f.at[i].operand[1]] != -1);
    }
  }
  constexpr void unify(int i, int j) {
    while (joined[i] != 0) i = joined[i] - 1;
    while (joined[j] != 0) j = joined[j] - 1;
    if (i == j) return;
    joined[i > j ? i : j] = (i > j ? j : i) + 1;
    if (op[i] < 0) p.join(f.at[i].slot, f.at[j].slot);
    for (int k = 0; k < f.at[i].arity; ++k) unify(f.at[i].operand[k], f.at[j].operand[k]);
  }
  constexpr void find_arrays(int root) {
    if (is[root] == form::sum)
      for (int j = 0; j < 2; ++j)
        if (const int slot = array_of[f.at[root].operand[j]]; slot >= 0) addend = slot;
    int arrays = 0, operators = 0;
    for (int k = 0; k < N; ++k) arrays += group[k] < N;
    for (int i = 0; i < M; ++i) operators += op[i] >= 0;
    classify(false);
    bool parts = false;  // equal ones of several arrays, such as the factors of (x - z) * (x - z)
    for (int i = 0; i < M; ++i) parts = parts || (likely(i) != i && combines[i]);
    if (!parts && arrays >= 3 && operators >= arrays) {  // a formula of one array, such as a polynomial
      const int other = arrays > 3 ? addend : -1;
      for (int k = 0; k < N; ++k)
        for (int j = k; j >= 0 && k != other && group[k] < N; --j)
          if (j != other && group[j] == group[k]) p.same.v[k] = j;
      return;
    }
    for (int i = M - 1; i >= 0; --i)
      if (op[i] >= 0) unify(i, likely(i));
  }
  /// Instruction i without the number that it multiplies or divides by, and without its sign.
  constexpr int without_factor(int i) const {
    const auto number = [&](int k) { return op[k] < 0 && is_number_at(f.at[k].slot); };
    for (;;) {
      const int a = f.at[i].operand[0], b = f.at[i].operand[1];
      if (is[i] == form::product && number(a)) i = b;
      else if ((is[i] == form::product || is[i] == form::quotient) && number(b)) i = a;
      else if (is[i] == form::negation) i = a;
      else return i;
    }
  }
  constexpr void set_apart(int i) {
    apart[kind[i]] = true;
    for (int k = 0; k < f.at[i].arity; ++k)
      if (const int j = f.at[i].operand[k]; !apart[kind[j]]) set_apart(j);
  }
  constexpr void set_summand(int to, int i) {
    if (summand[i] != 0) return;
    summand[i] = to + 1;
    for (int k = 0; k < f.at[i].arity; ++k) set_summand(to, f.at[i].operand[k]);
  }
  /// The summands of i, `to` from its element n on; their number, at most M.
  constexpr int summands(int i, int* to, int n) const {
    if (n == M) return n;
    if (is[i] != form::sum) return to[n] = i, n + 1;
    return summands(f.at[i].operand[1], to, summands(f.at[i].operand[0], to, n));
  }
  /// Finds the summands of sum i that are alike, on its two sides.
  constexpr void find_alike(int i) {
    int left[M]{}, right[M]{};
    const int a = summands(f.at[i].operand[0], left, 0), b = summands(f.at[i].operand[1], right, 0);
    for (int j = 0; j < a; ++j)
      for (int k = 0; k < b; ++k) {
        const int x = left[j], y = right[k];
        if (op[x] < 0 || kind[without_factor(x)] != kind[without_factor(y)]) continue;
        set_apart(x), set_apart(y);
        set_summand(x, x), set_summand(y, y);
      }
  }
  /// Whether two costly instructions may be of one kind with numbers taken to be equal: by a hash, for what most statements cost the compiler.
  constexpr bool could_name() const {
    std::uint64_t hash[M]{};
    for (int i = 0; i < M; ++i) {
      std::uint64_t h = op[i] >= 0 ? 3u + static_cast<unsigned>(op[i]) : static_cast<std::uint64_t>(group[f.at[i].slot]) << 32 | 1u;
      for (int k = 0; k < f.at[i].arity; ++k) h = (h ^ hash[f.at[i].operand[k]]) * 0x9E3779B97F4A7C15u;
      hash[i] = h;
      if (!costly[i]) continue;
      for (int j = 0; j < i; ++j)
        if (costly[j] && hash[j] == h) return true;
    }
    return false;
  }
  /// Names of costly expressions, such as i2 of i2 * i2 * i2 with i2 = 1 / u: parts that are alike, whose numbers are equal then, too. True if there are any.
  constexpr bool find_names() {
    classify(true);
    bool named[M]{}, any = false;
    bool function[M]{}, long_one[M]{};  // with a costly operator in it; of two operators at least
    for (int i = 0; i < M; ++i) {
      function[i] = costly[i];
      for (int k = 0; k < f.at[i].arity; ++k) {
        const int j = f.at[i].operand[k];
        function[i] = function[i] || function[j], long_one[i] = long_one[i] || op[j] >= 0;
      }
      if (function[i] && long_one[i] && likely(i) != i) named[likely(i)] = true;
      if (is[i] != form::product) continue;
      if (const int a = f.at[i].operand[0], b = f.at[i].operand[1]; a != b && likely(a) == likely(b) && function[a]) named[likely(a)] = true;  // times itself
    }
    for (int i = M - 1; i >= 0; --i) {
      if (named[i]) join_parts(i);
      if (!named[likely(i)] || likely(i) == i) continue;
      unify(i, likely(i));
      any = true;
    }
    return any;
  }
  constexpr bool are_factors(int i, int j) const {  // of one product, which may be no square
    for (int k = j + 1; k < M; ++k)
      if (is[k] == form::product && f.at[k].operand[0] == i && f.at[k].operand[1] == j) return true;
    return false;
  }
  /// The parts of a name that are alike and read several arrays, such as d of d - box * round(d / box), d = x - y.
  constexpr void join_parts(int name) {
    bool inside[M]{};
    int found[M]{};  // the first of its kind and summand, from 1
    inside[name] = true;
    for (int i = name; i >= 0; --i)
      for (int k = 0; k < f.at[i].arity && inside[i]; ++k) inside[f.at[i].operand[k]] = true;
    for (int i = 0; i < name; ++i) {
      if (!inside[i] || !combines[i]) continue;
      int& to = found[likely(i)];
      if (to == 0) to = i + 1;
      else if (summand[i] != 0 || !are_factors(to - 1, i)) unify(i, to - 1);
    }
  }
};
inline constexpr int longest = 32;         // instructions: longer statements are not limited by their loads
inline constexpr int longest_names = 256;  // names of expressions multiply what is computed
/// Marks the leaves that let and fuse have bound: what is one of those shows in the program.
template <class E> struct bound_leaves {
  static constexpr void mark(bool*, int& slot) { ++slot; }
};
template <int D, int K, class S, int R> struct bound_leaves<let_arg<D, K, S, R>> {
  static constexpr void mark(bool*, int&) {}
};
template <class E> struct bound_leaves<owned<E>> : bound_leaves<E> {};
template <class Op, class... A> struct bound_leaves<node<Op, A...>> {
  static constexpr void mark(bool* bound, int& slot) { (bound_leaves<A>::mark(bound, slot), ...); }
};
template <int D, class Body, class... B> struct bound_leaves<let_node<D, Body, B...>> {
  static constexpr void mark(bool* bound, int& slot) {
    ((bound[slot] = is_array<B>, bound_leaves<B>::mark(bound, slot)), ...);
    bound_leaves<Body>::mark(bound, slot);
  }
};
template <class Prog, class Leaves, class Let> struct search;  // Let: the expression; void: without let and fuse
template <int Root, class... Ins, class... L, class Let> struct search<program<Root, Ins...>, type_list<L...>, Let> {
  static constexpr int N = static_cast<int>(sizeof...(L)), M = static_cast<int>(sizeof...(Ins));
  static constexpr finder<N, M> start() {
    finder<N, M> s{{}, {{lowering::facts_of(Ins{})...}}, {lowering::operator_number<Ins, Ins...>()...},
                   {form_of<Ins>()...}, {is_costly_v<operator_of_t<Ins>>...}, {}, -1};
    int k = 0;
    ((s.group[k] = is_array<L> ? lowering::first_like<L, L...>() : is_number<L> ? N + lowering::first_like<L, L...>() : 2 * N + k, ++k), ...);
    for (k = 0; k < N; ++k) s.p.same.v[k] = k;
    if constexpr (!__is_same(Let, void)) {
      bool bound[N + 1]{};
      bound_leaves<Let>::mark(bound, k = 0);
      for (k = 0; k < N; ++k)
        if (bound[k]) s.group[k] = 2 * N + k;
    }
    return s;
  }
  static constexpr bool arrays = __is_same(Let, void) && M <= longest && (is_one_plane<L> && ...);
  static constexpr bool names = M <= longest_names && start().could_name();
  static constexpr pattern<N> result = [] {
    finder<N, M> s = start();
    if constexpr (names || arrays) s.find_readers();
    if constexpr (names) s.p.names = s.find_names();
    if constexpr (arrays)
      if (!s.p.names) s.find_arrays(Root);
    for (int k = 0; k < N; ++k) s.p.same.v[k] = s.p.first(k);
    return s.p;
  }();
};

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

/// The second program of an expression, if it has one.
template <class E, class Prog = program_of<E>> struct merged {
  static constexpr auto pattern = [] {
    if constexpr (Prog::length <= merging::longest_names) return merging::search<Prog, leaves_of_t<E>, std::conditional_t<expr::shows_shape_v<E>, void, E>>::result;
    else return merging::pattern<0>{};
  }();
  static constexpr const auto& same = pattern.same;
  static_assert([] {
    bool yes = true;
    for (int k = 0; k < same.size(); ++k) yes = yes && same.v[same.v[k]] == same.v[k];
    return yes;
  }(), "a first name has no other first name: holds are counted by it");
  static constexpr bool exists = [] {
    for (int k = 0; k < same.size(); ++k)
      if (same.v[k] != k) return true;
    return false;
  }();
  using program = typename std::conditional_t<exists, lowering::finished<merging::merge<same, Prog>>, std::type_identity<Prog>>::type;

  /// True when the names are the same arrays, and the numbers the same, indeed.
  TTENSOR_INLINE static bool holds(const E& e) {
    const void* at[same.size() + 1];
    bool yes = true;
    int k = 0;
    e.leaves([&]<class L>(const L& l) __attribute__((always_inline)) {
      at[k] = &l;
      if constexpr (merging::is_array<L> || merging::is_number<L>) {
        const L& first = *static_cast<const L*>(at[same[k]]);
        yes = yes && merging::equal(l, first);
      }
      ++k;
    });
    return yes;
  }
  /// The same expression with a binding for every array and number that has several names; alive as long as `e` is.
  static auto bound(const E& e) {
    return [&]<int... B>(std::integer_sequence<int, B...>) {
      const void* at[same.size() + 1];
      int k = 0;
      e.leaves([&](const auto& l) { at[k++] = &l; });
      return expr::make_let<depth>(make_bundle(*static_cast<const at_t<arrays.at[B], leaves_of_t<E>>*>(at[arrays.at[B]])...), expr::on_leaves<binding>::of(e));
    }(std::make_integer_sequence<int, arrays.count>{});
  }

 private:
  struct several {  // the first names of what has several
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
  static constexpr int depth = let_detail::deepest<E>::value + 1;
  struct binding {  // placeholders for leaves that have several names
    static constexpr bool knows_slots = true;
    template <int Slot, class L> static auto of(const L& l) {
      if constexpr (arrays.find(Slot) < 0) return l;
      else return let_arg<depth, arrays.find(Slot), typename L::scalar, L::rank>{l.shape()};
    }
    template <int, int D, int K, class S, int R> static auto of(const let_arg<D, K, S, R>& a) { return a; }
  };
};

/// Whether the second program computes whole expressions once: worth it however the statement runs, also where loads are not merged.
template <class E> inline constexpr bool has_names_v = merged<E>::pattern.names;

TTENSOR_END
