// Evaluating a statement: gather the planes of its leaves, decide where the result may be written, run the planner and
// the fused loop. The same code serves every scalar kind, because batch axes are leading axes and duals are planes.
#pragma once
#include "../expr/merge.hpp"
#include "../run/map.hpp"
#include "../run/statement.hpp"
#include "store.hpp"

TTENSOR_BEGIN

namespace eval_detail {
template <class L> using leaf_core = std::conditional_t<is_scalar_leaf_v<L> && batch_levels_v<typename L::scalar> == 0,
                                                        run::uniform<core_t<typename L::scalar>>, core_t<typename L::scalar>>;
/// Strides of a plane aligned to the statement: batch axes from the oldest level, array axes from the right.
template <int RT, int Q> TTENSOR_INLINE void align(run::nest_plane& to, const plane<Q>& p, int levels) {
  for (int d = 0; d < RT; ++d) to.stride[d] = 0;
  for (int d = 0; d < levels; ++d) to.stride[d] = p.extent[d] == 1 ? 0 : p.stride[d];
  const int own = Q - levels;
  for (int d = 0; d < own; ++d) to.stride[RT - own + d] = p.extent[levels + d] == 1 ? 0 : p.stride[levels + d];
}
[[noreturn]] void batch_mismatch(index_t a, index_t b, const char* op = "vmap");
#if defined(TTENSOR_BODY)
TTENSOR_BODY void batch_mismatch(index_t a, index_t b, const char* op) {
  raise<shape_error>(message("[") + op + "] mapped sizes differ: " + to_message(a) + " and " + to_message(b) + "; mapped axes must have one extent [TT-S05]");
}
#endif
template <int F, int B> TTENSOR_INLINE void set_extent(run::statement_planes<F>& st, const dims<B>& batch, const dims<F - B>& shape) {
  for (int d = 0; d < B; ++d) st.extent[d] = batch[d];
  for (int d = B; d < F; ++d) st.extent[d] = shape[d - B];
}
template <int B, int F> index_t size_of(const dims<F>& extent) {  // of one example
  index_t n = 1;
  for (int d = B; d < F; ++d) n *= extent[d];
  return n;
}
/// Batch extents of the leaves of a statement whose first B axes are batch axes.
template <int B, int F> dims<B> batch_of(const run::statement_planes<F>& st) {
  dims<B> b = ones<B>();
  for (int k = st.type.outs; k < st.type.planes; ++k)
    for (int d = 0; d < B; ++d) {
      const index_t n = st.own[k][d];
      if (n == 1 || n == b[d]) continue;
      if (b[d] != 1) batch_mismatch(b[d], n);
      b[d] = n;
    }
  return b;
}
}  // namespace eval_detail

/// Batch extents of a statement of scalar S: the largest over its leaves, level by level.
template <class S, class E> dims<batch_levels_v<S>> batch_of(const E& e) {
  dims<batch_levels_v<S>> b{};
  for (index_t& x : b) x = 1;
  if constexpr (batch_levels_v<S> > 0)
    e.leaves([&]<class L>(const L& l) {
      constexpr int levels = batch_levels_v<typename L::scalar>;
      if constexpr (levels > 0)
        l.planes([&](auto, const auto& p) {
          for (int d = 0; d < levels; ++d) {
            if (p.extent[d] == 1 || p.extent[d] == b[d]) continue;
            if (b[d] != 1) eval_detail::batch_mismatch(b[d], p.extent[d]);
            b[d] = p.extent[d];
          }
        });
    });
  return b;
}

/// The planes of a statement of scalar S and expression E, with kernel `Kernel` (null: the elementwise loop).
template <class S, class E, int R = E::rank, class Kernel = void> struct statement : run::statement_planes<R + batch_levels_v<S>> {
  using out_core = core_t<S>;
  static constexpr int rank = R, levels = batch_levels_v<S>, full_rank = rank + levels;
  static_assert(full_rank <= run::max_rank, "ttensor: at most 12 axes in one statement, vmap axes included");
  static_assert(expr::extents_agree(leaves_of_t<E>{}), "ttensor: the extents of fixed tensors in this statement do not broadcast; they must be equal or 1, aligned from the right");
  template <class List> struct with;
  template <class... L> struct with<type_list<L...>> {
    using kernel = typename std::conditional_t<std::is_void_v<Kernel>, std::type_identity<run::map_kernel<(full_rank > 1), depth_v<S> == 0, program_of<E>, out_core, eval_detail::leaf_core<L>...>>,
                                               std::type_identity<Kernel>>::type;
    using table = run::plane_table<out_core, eval_detail::leaf_core<L>...>;
    template <class Prog> using loop = run::map_kernel<(full_rank > 1), depth_v<S> == 0, Prog, out_core, eval_detail::leaf_core<L>...>;
  };
  using kernel = typename with<leaves_of_t<E>>::kernel;
  using table = typename with<leaves_of_t<E>>::table;
  static constexpr int planes = table::count, outs = planes_v<out_core>;
  static_assert(planes <= run::max_planes, "ttensor: too many arrays in one statement; evaluate a part with eval() first");
  static constexpr auto plane_facts = table::facts();
  static constexpr run::statement_type constants{kernel::launch, plane_facts.v, planes, outs, kernel::N, kernel::cost, expr::steps_to_show<E>(), nullptr, nullptr};
  using base = run::statement_planes<full_rank>;

  statement(const statement&) = delete;
  TTENSOR_INLINE explicit statement(const E& e, const run::statement_type& chosen = constants) : base{chosen, plane_, holder_, own_} {
    int k = outs;
    e.leaves([&]<class L>(const L& l) __attribute__((always_inline)) {
      l.planes([&]<class T, int Q>(std::type_identity<T>, const ::ttensor::plane<Q>& p) __attribute__((always_inline)) {
        put<batch_levels_v<typename L::scalar>>(k++, p);
      });
    });
  }
  TTENSOR_INLINE statement(const E& e, const dims<levels>& batch, const dims<rank>& shape) : statement(e) {
    eval_detail::set_extent(static_cast<base&>(*this), batch, shape);
    this->align();
  }

 private:
  template <int Levels, int Q> TTENSOR_INLINE void put(int k, const ::ttensor::plane<Q>& p) {
    plane_[k].ptr = const_cast<char*>(static_cast<const char*>(p.ptr));
    holder_[k] = p.holder;
    for (int d = 0; d < full_rank; ++d) {
      const int i = d < Levels ? d : d >= full_rank - (Q - Levels) ? Q - (full_rank - d) : -1;
      own_[k][d] = i < 0 ? 1 : p.extent[i];
      plane_[k].stride[d] = i < 0 ? 0 : p.stride[i];
    }
  }
  run::nest_plane plane_[planes];
  mem::block* holder_[planes];
  dims<full_rank> own_[planes];
};

struct statement_count {
  std::uint64_t loops = 0;  // fused loops run on this thread
};
inline constinit thread_local statement_count counts{};

namespace eval_detail {
/// Makes the whole of `to` the outputs.
template <class S, int F> void connect_whole(store<S>& to, run::statement_planes<F>& st) {
  int k = 0;
  const auto stride = shape::row_major(st.extent);
  to.planes([&]<class T, int B>(std::type_identity<T>, T* p, const dims<B>&, const dims<B>&, mem::block*) { st.set_output(k++, p, stride); });
}
/// Runs `st` into a fresh store of its extent.
template <class S, int F> TTENSOR_NOINLINE store<S> run_fresh(run::statement_planes<F>& st) {
  constexpr int B = batch_levels_v<S>;
  dims<B> batch{};
  for (int d = 0; d < B; ++d) batch[d] = st.extent[d];
  store<S> out = store<S>::make(size_of<B>(st.extent), batch);
  connect_whole(out, st);
  st.run_planned();
  ++counts.loops;
  return out;
}
/// True when the memory of `out` may take the result: nobody but leaves that walk it as the result does holds it.
template <class S, int F> bool may_reuse(store<S>& out, const run::statement_planes<F>& st) {
  const index_t total = shape::size(st.extent);
  const auto stride = shape::row_major(st.extent);
  bool reuse = true;
  out.cells([&](auto& cell) {
    const mem::block* b = cell.block();
    int held = 0;
    if (!b) return static_cast<void>(reuse = false);
    for (int k = st.type.outs; k < st.type.planes; ++k) {
      if (st.holder[k] != b) continue;
      ++held;
      reuse = reuse && st.plane[k].ptr == static_cast<const char*>(const_cast<mem::block*>(b)->data());
      for (int d = 0; d < F; ++d) reuse = reuse && (st.extent[d] == 1 || (st.own[k][d] == st.extent[d] && st.plane[k].stride[d] == stride[d]));
    }
    reuse = reuse && cell.size() == total && cell.unique_except(held);  // planes of a dual may be mapped differently
  });
  return reuse;
}
/// Runs `st` into n adjacent elements of `out` if all its leaves are like that and nobody else holds them; else nothing is done.
template <class S> bool run_adjacent(store<S>& out, index_t offset, index_t n, const run::statement_planes<1>& st, bool writable) {
  if (n == 0 || out.is_borrowed() || run::threads_for(n * st.type.cost) > 1) return false;
  run::cursor c[run::max_planes];
  int held;
  if (!st.adjacent(c, out.memory() + offset * index_t(sizeof(S)), n, out.block(), held) || !(writable || out.unique_except(held))) return false;
  st.type.kernel(c, n, nullptr, 1);
  ++counts.loops;
  return true;
}
/// Runs `st`, in the memory of `out` where that is free, else in fresh memory. `shaped`: the extents of an example are set.
template <class S, int F> TTENSOR_NOINLINE void run_into(store<S>& out, dims<F - batch_levels_v<S>>& extent, run::statement_planes<F>& st, bool shaped) {
  constexpr int B = batch_levels_v<S>;
  if (!shaped) st.broadcast();
  const auto batch = batch_of<B>(st);
  for (int d = 0; d < B; ++d) st.extent[d] = batch[d];
  const bool reuse = out.valid() && index_t(out.size()) == size_of<B>(st.extent) && out.batch() == batch && may_reuse(out, st);
  st.align();
  if (reuse) {
    connect_whole(out, st);
    st.run_planned();
    ++counts.loops;
  } else {
    out.adopt(run_fresh<S>(st));
  }
  for (int d = B; d < F; ++d) extent[d - B] = st.extent[d];
}
}  // namespace eval_detail

/// What a statement needs to know of leaves that are numbers and whole tensors of numbers: where their elements are, and their extents.
template <class L> inline constexpr bool fits_whole_v = is_scalar_leaf_v<L> && depth_v<typename L::scalar> == 0;
template <class T, int R> inline constexpr bool fits_whole_v<whole_leaf<T, R>> = true;
template <class... L> constexpr bool all_fit_whole(type_list<L...>) { return (fits_whole_v<L> && ...); }
template <class E> concept whole_tree = expr::shows_shape_v<E> && all_fit_whole(leaves_of_t<E>{});

namespace eval_detail {
/// Whether the names that the second program merges are one array each; word[0] is the result.
template <class Names> TTENSOR_INLINE bool names_agree(const mem::hold* word) {  // no loop: the words stay in registers
  return [&]<int... K>(std::integer_sequence<int, K...>) __attribute__((always_inline)) {
    return ((Names::same.v[K] == K || word[1 + K] == word[1 + Names::same.v[K]]) && ...);
  }(std::make_integer_sequence<int, Names::same.size()>{});
}
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
  /// Row::run over n elements. The addresses of arrays follow from their words, which have no marks.
  template <class Row> TTENSOR_INLINE auto call(numbers& copies, index_t n) const {
    return [&]<int... K>(std::integer_sequence<int, K...>) __attribute__((always_inline)) {
      char* const at[] = {(is_number[K] ? copies[K].bytes : reinterpret_cast<char*>(word[K] + sizeof(mem::block)))...};
      return Row::run(at, n);
    }(std::make_integer_sequence<int, planes>{});
  }
};
namespace eval_detail {
/// out = a statement of whole operands, which stand in `tree` where type.steps says.
template <class S, int R> TTENSOR_NOINLINE void run_whole(store<S>& out, dims<R>& extent, const run::statement_type& type, const void* tree) {
  char* ptr[run::max_planes];
  dims<R> own[run::max_planes];
  const expr::shape_step* step = type.steps;
  for (int k = 1; k < type.planes; ++step) {
    if (step->name) continue;
    const char* at = static_cast<const char*>(tree) + step->offset;
    ptr[k] = const_cast<char*>(at);
    own[k] = ones<R>();
    if (step->holds) {  // a whole_leaf
      mem::hold word;
      __builtin_memcpy(&word, at, sizeof word);
      ptr[k] = static_cast<char*>(mem::elements_of(word));
      __builtin_memcpy(own[k].v + R - step->count, at + sizeof word, static_cast<std::size_t>(step->count) * sizeof(index_t));
    }
    ++k;
  }
  run::cursor c[run::max_planes];
  c[0] = {out.memory(), type.lanes * static_cast<index_t>(sizeof(S))};
  bool same = true;
  int held = 0;
  for (int k = 1; k < type.planes; ++k) {
    c[k] = {ptr[k], type.facts[k].uniform ? 0 : index_t(type.lanes) * type.facts[k].bytes};
    if (type.facts[k].uniform) continue;
    same = same && own[k] == extent;
    held += ptr[k] == c[0].ptr;
  }
  bool merges = type.merged != nullptr;
  for (int k = 1; k < type.planes && merges; ++k) merges = ptr[k] == ptr[type.same[k]];
  if (TTENSOR_LIKELY(same && out.unique_except(held))) {
    run::launch_flat(merges ? type.merged : type.kernel, c, type.planes, type.lanes, shape::size(extent), type.cost);
    ++counts.loops;
    return;
  }
  run::statement_type chosen = type;
  for (int k = 1; k < type.planes && merges; ++k) merges = own[k] == own[type.same[k]];
  if (merges) chosen.kernel = type.merged;
  run::nest_plane plane[run::max_planes];
  mem::block* holder[run::max_planes];
  run::statement_planes<R> st{chosen, plane, holder, own};
  for (int k = 1; k < type.planes; ++k) {
    const auto stride = shape::row_major(own[k]);
    plane[k].ptr = ptr[k];
    for (int d = 0; d < R; ++d) plane[k].stride[d] = stride[d];
    holder[k] = type.facts[k].uniform ? nullptr : mem::block_before(ptr[k]);
  }
  run_into(out, extent, st, false);
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
  static constexpr run::rows_kernel merged_kernel() {
    if constexpr (names::exists) return merged_loop::launch;
    else return nullptr;
  }
  static constexpr run::statement_type constants{kernel::launch, types::plane_facts.v, planes, 1, kernel::N, kernel::cost, expr::steps_to_show<E>(), merged_kernel(), same.v};
  static_assert(expr::begins_with_hold_v<E>);
  static constexpr bool is_short = [] {
    using operands = flat_operands<R, leaves_of_t<E>>;
    if constexpr (kernel::unroll > 0) return operands::arrays <= 8 && operands::same_rank;
    else return false;
  }();
  struct in_registers {  // a class: long statements have no such way
    using operands = flat_operands<R, leaves_of_t<E>>;
    /// Short statements of few arrays that all have the shape of the result: one call of the loop, decided in registers.
    template <bool UseUp> TTENSOR_INLINE static bool run(store<S>& out, const dims<R>& extent, const E& e) {
      typename operands::numbers numbers;
      operands o(e, numbers);
      if (TTENSOR_UNLIKELY((o.differs | o.difference(extent)) != 0)) return false;
      if (TTENSOR_UNLIKELY(!out.alone()) && !may_write(out, o, array_planes{})) return false;
      o.word[0] = reinterpret_cast<mem::hold>(out.block());
      index_t n = shape::size(extent);
      if (n < kernel::N) {
        if (!kernel::pads || n == 0) return false;
        n = kernel::N;
      }
      if (run::threads_for(n * kernel::cost) > 1) return false;
      ++counts.loops;
      if constexpr (names::exists)
        if (TTENSOR_LIKELY(eval_detail::names_agree<names>(o.word))) {
          o.template call<typename merged_loop::row>(numbers, n);
          if constexpr (UseUp) drop_merged(o, distinct{});
          return true;
        }
      o.template call<typename kernel::row>(numbers, n);
      if constexpr (UseUp) drop_each(o, array_planes{});
      return true;
    }

   private:
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
    template <int... K> TTENSOR_INLINE static void drop_merged(const operands& o, int_list<K...>) { mem::drop_each(mem::holds{o.word[K], named(K)}...); }
    template <int... K> TTENSOR_INLINE static void drop_each(const operands& o, int_list<K...>) { mem::drop_each(mem::one_hold{o.word[K]}...); }
    template <int... K> TTENSOR_INLINE static bool may_write(const store<S>& out, const operands& o, int_list<K...>) { return out.block() && eval_detail::only_held_by(out, o.word[K]...); }
  };
  TTENSOR_NOINLINE static void planned(store<S>& out, dims<R>& extent, const E e) {  // a copy: the expression may live in registers
    eval_detail::run_whole<S, R>(out, extent, constants, &e);
  }
  TTENSOR_INLINE static void assign(store<S>& out, dims<R>& extent, const E& e) {
    if constexpr (is_short) {
      if (TTENSOR_UNLIKELY(!in_registers::template run<false>(out, extent, e))) planned(out, extent, e);
    } else {
      eval_detail::run_whole<S, R>(out, extent, constants, __builtin_addressof(e));
    }
  }
  /// The same of an expression that is not used again.
  TTENSOR_INLINE static void assign_last(store<S>& out, dims<R>& extent, owned<E>& e) {
    const E& t = expr::tree(e);
    if constexpr (is_short) {
      if (TTENSOR_LIKELY(in_registers::template run<true>(out, extent, t))) {
        e.live = false;
        return;
      }
      planned(out, extent, t);
      e.give_up();  // its elements may be those that were written
    } else {
      struct guard {
        owned<E>& e;
        ~guard() { e.give_up_in_place(); }
      } const used_up{e};
      assign(out, extent, t);
    }
  }
};

/// Whether the planes of a statement show its shape: one plane a leaf, and no axes but the array's.
template <class... L> constexpr bool all_numbers(type_list<L...>) { return ((depth_v<typename L::scalar> == 0) && ...); }
template <class E> inline constexpr bool planes_show_shape_v = expr::shows_shape_v<E> && all_numbers(leaves_of_t<E>{});

/// out = e: takes the shape of e into `extent`, and the memory that `out` has if nobody else needs it: no allocation when the size
/// fits, a temporary when a leaf overlaps with another mapping. A statement that throws leaves both unchanged.
template <class S, class E> TTENSOR_INLINE void assign(store<S>& out, dims<E::rank>& extent, const E& e) {
  if constexpr (depth_v<S> == 0 && whole_tree<E>) {
    whole_statement<S, E>::assign(out, extent, e);
  } else {
    statement<S, E> st(e);
    if constexpr (st.full_rank == 1 && depth_v<S> == 0 && planes_show_shape_v<E>)
      if (out.valid() && eval_detail::run_adjacent(out, 0, out.size(), st, false)) {
        extent[0] = out.size();
        return;
      }
    if constexpr (!planes_show_shape_v<E>) eval_detail::set_extent<st.full_rank>(st, ones<st.levels>(), e.shape());
    eval_detail::run_into<S, st.full_rank>(out, extent, st, !planes_show_shape_v<E>);
  }
}
/// The same of an expression that is used up.
template <class S, class E> TTENSOR_INLINE void assign_last(store<S>& out, dims<E::rank>& extent, owned<E>& e) {
  if constexpr (depth_v<S> == 0 && whole_tree<E>) {
    whole_statement<S, E>::assign_last(out, extent, e);
  } else {
    assign<S>(out, extent, expr::tree(e));
    e.give_up();
  }
}
/// The same of a shape that is known.
template <class S, class E> void evaluate_into(store<S>& out, const E& e, dims<E::rank> shape) {
  statement<S, E> st(e);
  eval_detail::set_extent<st.full_rank>(st, ones<st.levels>(), shape);
  eval_detail::run_into<S, st.full_rank>(out, shape, st, true);
}

/// Evaluates `e` as scalar S into a fresh store.
template <class S, class E> store<S> evaluate(const E& e, const dims<E::rank>& shape) {
  statement<S, E> st(e);
  eval_detail::set_extent<st.full_rank>(st, eval_detail::batch_of<st.levels>(st), shape);
  st.align();
  return eval_detail::run_fresh<S, st.full_rank>(st);
}

TTENSOR_END
