// Statements of numbers over whole tensors of numbers, decided from pointers and extents: short ones of up to 8 arrays in registers, others in one
// function for all. Only what does not fit becomes planes.
#pragma once
#include "plane_statement.hpp"

TTENSOR_BEGIN

/// What a statement needs to know of leaves that are numbers and whole tensors of numbers: where their elements are, and their extents.
template <class L> inline constexpr bool fits_whole_v = is_scalar_leaf_v<L> && depth_v<typename L::scalar> == 0 && sizeof(typename L::scalar) <= 16;
template <class T, int R> inline constexpr bool fits_whole_v<whole_leaf<T, R>> = true;
template <class... L> constexpr bool all_fit_whole(type_list<L...>) { return (fits_whole_v<L> && ...); }
template <class E> concept whole_tree = expr::shows_shape_v<E> && all_fit_whole(leaves_of_t<E>{});
/// Such a tree of scalars S as a temporary: it is used up.
template <class S, class E> inline constexpr bool is_last_whole_v = false;
template <class S, whole_tree E> inline constexpr bool is_last_whole_v<S, owned<E>> = std::is_same_v<typename E::scalar, S>;

namespace eval_detail {
/// Whether the memory of `out` may be written when the statement has these holds on it. One a number of arrays, by value.
template <class S, class... H> TTENSOR_NOINLINE bool only_held_by(const store<S>& out, H... h) {
  const auto to = reinterpret_cast<mem::hold>(out.block());
  return out.unique_except((0 + ... + int(h == to)));
}
}  // namespace eval_detail
/// Operands of a statement of whole tensors and numbers, as words that fit registers.
template <int R, class Leaves> struct flat_operands;
template <int R, class... L> struct flat_operands<R, type_list<L...>> {
  static constexpr int planes = 1 + static_cast<int>(sizeof...(L)), arrays = (0 + ... + int(!is_scalar_leaf_v<L>));
  static constexpr bool same_rank = ((is_scalar_leaf_v<L> || L::rank == R) && ...);
  static constexpr bool is_number[planes] = {false, is_scalar_leaf_v<L>...};
  mem::hold word[planes];  // of arrays; 0: of the result
  dims<R> extent{};        // of the first array
  mem::hold differs = 0;   // 0: all arrays have that extent and are held in the common way. One word, so that it is one branch
  // Copies: with an address of its numbers the whole expression would be in memory; for the same reason they are not a part of this.
  struct alignas(16) number_bytes { char bytes[16]; };
  using numbers = number_bytes[planes];

  template <class E> TTENSOR_INLINE flat_operands(const E& e, numbers& copies) {
    static_assert(same_rank);
    mem::hold marks = 0;
    bool any = false;
    int k = 1;
    word[0] = 0;
    e.leaves([&]<class A>(const A& l) __attribute__((always_inline)) {
      if constexpr (is_scalar_leaf_v<A>) {
        static_assert(sizeof(l.value) <= sizeof(number_bytes));
        __builtin_memcpy(copies[k].bytes, &l.value, sizeof(l.value));
      } else {
        word[k] = l.block.word;
        marks |= l.block.word;
        if (any) differs |= difference(l.extent);
        else extent = l.extent;
        any = true;
      }
      ++k;
    });
    differs |= marks & mem::hold_marks;
  }
  TTENSOR_INLINE mem::hold difference(const dims<R>& other) const {
    mem::hold x = 0;
    for (int d = 0; d < R; ++d) x |= static_cast<mem::hold>(other[d] ^ extent[d]);
    return x;
  }
  /// Whether what the second program merges is one array, or one number, each.
  template <class Names> TTENSOR_INLINE bool names_agree(const numbers& copies) const {
    if constexpr (Names::pattern.names) return arrays_agree<Names>(word) && numbers_agree<Names>(copies);
    else return arrays_agree<Names>(word);
  }
  /// Row::run over n elements. The addresses of arrays follow from their words, which have no marks.
  template <class Row> TTENSOR_INLINE auto call(numbers& copies, index_t n) const {
    return [&]<int... K>(std::integer_sequence<int, K...>) __attribute__((always_inline)) {
      char* const at[] = {(is_number[K] ? copies[K].bytes : reinterpret_cast<char*>(word[K] + sizeof(mem::block)))...};
      return Row::run(at, n);
    }(std::make_integer_sequence<int, planes>{});
  }

 private:
  template <class Names> TTENSOR_INLINE static bool arrays_agree(const mem::hold* w) {  // no loop: the words stay in registers
    return [&]<int... K>(std::integer_sequence<int, K...>) __attribute__((always_inline)) {
      return ((Names::same.v[K] == K || is_number[1 + K] || w[1 + K] == w[1 + Names::same.v[K]]) && ...);
    }(std::make_integer_sequence<int, planes - 1>{});
  }
  template <class Names> TTENSOR_INLINE static bool numbers_agree(const numbers& copies) {
    constexpr std::size_t bytes[] = {sizeof(typename L::scalar)...};
    return [&]<int... K>(std::integer_sequence<int, K...>) __attribute__((always_inline)) {
      return ((Names::same.v[K] == K || !is_number[1 + K] || __builtin_memcmp(copies[1 + K].bytes, copies[1 + Names::same.v[K]].bytes, bytes[K]) == 0) && ...);
    }(std::make_integer_sequence<int, planes - 1>{});
  }
};
namespace eval_detail {
/// The statement over axes, for operands whose shapes differ: c[k] and own[k] say where operand k is and what extents it has.
template <class S, int R> void run_broadcast(store<S>& out, dims<R>& extent, const run::statement_type& type, const run::cursor* c, dims<R>* own) {
  run::nest_plane plane[run::max_planes];
  mem::block* holder[run::max_planes];
  run::statement_planes<R> st{type, plane, holder, own};
  for (int k = 1; k < type.planes; ++k) {
    plane[k].ptr = c[k].ptr;
    index_t stride = 1;
    for (int d = R - 1; d >= 0; stride *= own[k][d--]) plane[k].stride[d] = stride;
    holder[k] = type.facts[k].uniform ? nullptr : mem::block_before(c[k].ptr);
  }
  run_into(out, extent, st, false);
}
/// out = a statement of whole operands, which stand in `tree` where type.steps says.
template <class S, int R>
TTENSOR_NOINLINE void run_whole(store<S>& out, dims<R>& extent, const run::statement_type& type, const void* tree) {
  dims<R> own[run::max_planes];  // extents; own[0]: of the result
  run::cursor c[run::max_planes];
  c[0] = {out.memory(), type.lanes * static_cast<index_t>(sizeof(S))};
  bool alike = true, free = true, merges = type.merged != nullptr;  // alike: arrays of one shape
  int held = 0, arrays = 0;
  const expr::shape_step* step = type.steps;
  for (int k = 1; k < type.planes; ++step) {
    if (step->name) continue;
    const char* at = static_cast<const char*>(tree) + step->offset;
    c[k] = {const_cast<char*>(at), 0};
    own[k] = ones<R>();
    if (step->holds) {  // a whole_leaf
      mem::hold word;
      __builtin_memcpy(&word, at, sizeof word);
      __builtin_memcpy(own[k].v + R - step->count, at + sizeof word, static_cast<std::size_t>(step->count) * sizeof(index_t));
      c[k] = {static_cast<char*>(mem::elements_of(word)), index_t(type.lanes) * type.facts[k].bytes};
      if (arrays++ == 0) own[0] = own[k];
      alike = alike && own[k] == own[0];
      held += c[k].ptr == c[0].ptr;
    }
    if (const int first = merges ? type.same[k] : k; first != k)
      merges = step->holds ? c[k].ptr == c[first].ptr && own[k] == own[first] : __builtin_memcmp(at, c[first].ptr, static_cast<std::size_t>(type.facts[k].bytes)) == 0;
    ++k;
  }
  const run::statement_type& chosen = merges ? *type.merged : type;
  if (TTENSOR_UNLIKELY(!alike)) {
    if constexpr (R != 1) {
      return run_broadcast(out, extent, chosen, c, own);
    } else {  // along one axis an array is adjacent, or one element that is repeated: no plan
      own[0] = ones<1>();
      expr::broadcast(own[0].v, 1, type.steps, own[1].v, type.planes - 1);
      for (int k = 1; k < type.planes; ++k) {
        if (own[k] == own[0]) continue;
        if (!merges || type.same[k] == k) free = free && c[k].ptr != c[0].ptr;  // an element that is read again and again; the merged kernel reads only the first
        c[k].step = 0;
      }
    }
  }
  const index_t n = shape::size(own[0]);
  const bool reuse = free && own[0] == extent && out.unique_except(held);
  store<S> fresh;  // adopted behind the loop, which may throw
  if (!reuse) {
    fresh = store<S>::make(n);
    c[0].ptr = fresh.memory();
  }
  if (n) run::launch_flat(chosen, c, n);
  ++counts.loops;
  if (reuse) return;
  out.adopt(static_cast<store<S>&&>(fresh));
  extent = own[0];
}
}  // namespace eval_detail

/// Statements of numbers over whole tensors of numbers.
template <class S, class E> struct whole_statement {
  using types = statement<S, E>;
  using kernel = typename types::kernel;
  using names = merged<E>;
  static constexpr int R = E::rank, planes = types::planes;
  static constexpr auto same = [] {  // by plane
    array<int, planes> s{};
    for (int k = 1; k < planes && names::exists; ++k) s[k] = 1 + names::same[k - 1];
    return s;
  }();
  using merged_loop = typename types::template with<leaves_of_t<E>>::template loop<typename names::program>;
  template <class Loop> static constexpr run::statement_type of(const run::statement_type* merged) {
    return {R == 1 ? Loop::adjacent : Loop::launch, types::plane_facts.v, planes, 1, kernel::N, kernel::cost, expr::steps_to_show<E>(), merged, same.v, R == 1 && Loop::pads};
  }
  static constexpr run::statement_type merged_constants = of<std::conditional_t<names::exists, merged_loop, kernel>>(nullptr),
                                       constants = of<kernel>(names::exists ? &merged_constants : nullptr);
  static_assert(expr::begins_with_hold_v<E>);
  static constexpr bool is_short = [] {
    using operands = flat_operands<R, leaves_of_t<E>>;
    if constexpr (kernel::unroll > 0) return operands::arrays <= 8 && operands::same_rank;
    else return false;
  }();
  static constexpr index_t bytes = [] {  // of an element of all planes
    index_t n = 0;
    for (int k = 0; k < planes; ++k) n += types::plane_facts.v[k].bytes;
    return n;
  }();
  struct in_registers {  // a class: long statements have no such way
    using operands = flat_operands<R, leaves_of_t<E>>;
    /// Short statements of few arrays that all have the shape of the result: one call of the loop, decided in registers. X: the tree, or its root, which is used up.
    template <class X> TTENSOR_INLINE static void assign(store<S>& out, dims<R>& extent, X& e) {
      constexpr bool uses_up = std::is_same_v<X, owned<E>>;
      const E& t = expr::tree(e);
      typename operands::numbers numbers;
      operands o(t, numbers);
      const index_t n = elements(out, extent, o);
      if (TTENSOR_UNLIKELY(n == 0)) {
        planned(out, extent, t);
        if constexpr (uses_up) e.give_up();  // its elements may be those that were written
        return;
      }
      o.word[0] = reinterpret_cast<mem::hold>(out.block());
      ++counts.loops;
      if constexpr (names::exists)
        if (TTENSOR_LIKELY(o.template names_agree<names>(numbers)) && !(steps_singly && TTENSOR_UNLIKELY(n < kernel::N))) {
          o.template call<typename merged_loop::row>(numbers, n);
          clear_behind(out, extent);
          if constexpr (uses_up) {
            drop_merged(o, distinct{});
            e.live = false;
          }
          return;
        }
      if (steps_singly && TTENSOR_UNLIKELY(n < kernel::N)) o.template call<single>(numbers, n);
      else o.template call<typename kernel::row>(numbers, n);
      clear_behind(out, extent);
      if constexpr (uses_up) {
        drop_each(o, array_planes{});
        e.live = false;
      }
    }

   private:
    static constexpr bool steps_singly = !kernel::pads && !kernel::takes_few && kernel::single::cheap;  // fewer elements than a pack
    struct single {
      TTENSOR_INLINE static void run(char* const* at, index_t n) {
        if constexpr (steps_singly) kernel::row::run_few(at, n);
      }
    };
    // What stands behind the elements stays 0: it would wander off to infinity in x = 2 * x + 1.
    TTENSOR_INLINE static void clear_behind(store<S>& out, const dims<R>& extent) {
      if constexpr (kernel::pads && !kernel::takes_few)
        if (const index_t n = shape::size(extent); TTENSOR_UNLIKELY(n < kernel::N)) run::clear_behind(out.memory(), n * index_t(sizeof(S)), kernel::N * index_t(sizeof(S)));
    }
    /// How many that call computes; 0: something does not fit.
    TTENSOR_INLINE static index_t elements(const store<S>& out, const dims<R>& extent, const operands& o) {
      if (TTENSOR_UNLIKELY((o.differs | o.difference(extent)) != 0)) return 0;
      if (TTENSOR_UNLIKELY(!out.alone()) && !may_write(out, o, array_planes{})) return 0;
      index_t n = shape::size(extent);
      if (n < kernel::N) {
        if (!(kernel::pads || kernel::takes_few || steps_singly) || n == 0) return 0;
        if constexpr (kernel::pads && !kernel::takes_few) n = kernel::N;
      }
      return TTENSOR_UNLIKELY(run::takes_pieces(n, bytes, kernel::cost)) ? 0 : n;
    }
    // Its holds are dropped here, where they are known to be of the common kind and which of them are of one block.
    template <bool Distinct> static constexpr selection<planes> chosen = [] {
      selection<planes> s;
      for (int k = 1; k < planes; ++k)
        if (!operands::is_number[k] && !(Distinct && names::exists && same.v[k] != k)) s.add(k);
      return s;
    }();
    using array_planes = list_of<chosen<false>>;
    using distinct = list_of<chosen<true>>;
    static constexpr int named(int plane) {
      int n = 0;
      for (int k = 1; k < planes; ++k) n += same.v[k] == plane;
      return n;
    }
    template <int... K> TTENSOR_INLINE static void drop_merged(const operands& o, int_list<K...>) {
      mem::drop_each(mem::holds{o.word[K], named(K)}...);
    }
    template <int... K> TTENSOR_INLINE static void drop_each(const operands& o, int_list<K...>) {
      mem::drop_each(mem::one_hold{o.word[K]}...);
    }
    template <int... K> TTENSOR_INLINE static bool may_write(const store<S>& out, const operands& o, int_list<K...>) {
      return out.block() && eval_detail::only_held_by(out, o.word[K]...);
    }
  };
  TTENSOR_NOINLINE static void planned(store<S>& out, dims<R>& extent, const E e) {  // a copy: the expression may live in registers
    eval_detail::run_whole<S, R>(out, extent, constants, &e);
  }
  struct in_memory {
    TTENSOR_INLINE static void assign(store<S>& out, dims<R>& extent, const E& e) { eval_detail::run_whole<S, R>(out, extent, constants, __builtin_addressof(e)); }
    TTENSOR_INLINE static void assign(store<S>& out, dims<R>& extent, owned<E>& e) {
      struct guard {
        owned<E>& e;
        ~guard() { e.give_up_in_place(); }
      } const used_up{e};
      assign(out, extent, expr::tree(e));
    }
  };
};
/// The way of such a statement; its assign() takes the tree, or its root, which is used up.
template <class S, class E> using whole_way = std::conditional_t<whole_statement<S, E>::is_short, typename whole_statement<S, E>::in_registers, typename whole_statement<S, E>::in_memory>;

TTENSOR_END
