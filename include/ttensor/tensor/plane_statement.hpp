// A statement as planes: gather those of its leaves, decide where the result may be written, run the planner and the fused loop.
// The same code serves every scalar kind, because batch axes are leading axes and duals are planes.
#pragma once
#include "../expr/level_call.hpp"
#include "../ops/merge.hpp"
#include "../run/map.hpp"
#include "../run/statement.hpp"
#include "store.hpp"

TTENSOR_BEGIN

namespace eval_detail {
template <class L> using leaf_core = std::conditional_t<is_scalar_leaf_v<L> && batch_levels_v<typename L::scalar> == 0,
                                                        run::uniform<core_t<typename L::scalar>>, core_t<typename L::scalar>>;
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
    for (int d = 0; d < B; ++d) meet_batch(b[d], st.own[k][d]);
  return b;
}
}  // namespace eval_detail

/// Batch extents of a statement of scalar S: what its leaves have in common, level by level.
template <class S, class E> dims<batch_levels_v<S>> batch_of(const E& e) {
  dims<batch_levels_v<S>> b{};
  for (index_t& x : b) x = 1;
  if constexpr (batch_levels_v<S> > 0)
    e.leaves([&]<class L>(const L& l) {
      constexpr int levels = batch_levels_v<typename L::scalar>;
      if constexpr (levels > 0)
        l.planes([&](auto, const auto& p) {
          for (int d = 0; d < levels; ++d) eval_detail::meet_batch(b[d], p.extent[d]);
        });
    });
  return b;
}

/// The planes of a statement of scalar S and expression E, with kernel `Kernel` (void: the elementwise loop), or `Merged` where names of expressions are merged.
template <class S, class E, int R = E::rank, class Kernel = void, class Merged = Kernel> struct statement : run::statement_planes<R + batch_levels_v<S>> {
  using out_core = core_t<S>;
  static constexpr int rank = R, levels = batch_levels_v<S>, full_rank = rank + levels;
  static_assert(full_rank <= run::max_rank, "ttensor: at most 12 axes in one statement, vmap axes included");
  static_assert(
      expr::extents_agree(leaves_of_t<E>{}),
      "ttensor: the extents of fixed tensors in this statement do not broadcast; they must be equal or 1, aligned from the right");
  template <class List> struct with;
  template <class... L> struct with<type_list<L...>> {
    using kernel =
        typename std::conditional_t<std::is_void_v<Kernel>,
                                    std::type_identity<run::map_kernel<(full_rank > 1), depth_v<S> == 0, program_of<E>,
                                                                       out_core, eval_detail::leaf_core<L>...>>,
                                    std::type_identity<Kernel>>::type;
    using table = run::plane_table<out_core, eval_detail::leaf_core<L>...>;
    template <class Prog> using loop = run::map_kernel<(full_rank > 1), depth_v<S> == 0, Prog, out_core, eval_detail::leaf_core<L>...>;
  };
  using kernel = typename with<leaves_of_t<E>>::kernel;
  using table = typename with<leaves_of_t<E>>::table;
  static constexpr int planes = table::count, outs = planes_v<out_core>;
  static_assert(planes <= run::max_planes, "ttensor: too many arrays in one statement; evaluate a part with eval() first");
  static constexpr auto plane_facts = table::facts();
  static constexpr run::statement_type constants{
      kernel::launch, plane_facts.v, planes, outs, kernel::N, kernel::cost, expr::steps_to_show<E>(), nullptr, nullptr};
  using names = merged<std::remove_cvref_t<decltype(expr::tree(std::declval<const E&>()))>>;
  using merged_kernel = typename std::conditional_t<std::is_void_v<Kernel>, typename with<leaves_of_t<E>>::template loop<typename names::program>, Merged>;
  static constexpr run::statement_type merged_constants{
      merged_kernel::launch, plane_facts.v, planes, outs, kernel::N, merged_kernel::cost, constants.steps, nullptr, nullptr};
  using base = run::statement_planes<full_rank>;
  [[no_unique_address]] level_calls::met<S, typename E::scalar> calls{};

  statement(const statement&) = delete;
  TTENSOR_INLINE explicit statement(const E& e) : statement(e, chosen(e)) {}
  TTENSOR_INLINE statement(const E& e, const run::statement_type& how) : base{how, plane_, holder_, own_} {
    int k = outs;
    e.leaves([&]<class L>(const L& l) __attribute__((always_inline)) {
      if constexpr (level_calls::tracked<S, typename E::scalar>) calls.look(l);
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
  static TTENSOR_INLINE const run::statement_type& chosen([[maybe_unused]] const E& e) {
    if constexpr (names::pattern.names)
      if (names::holds(expr::tree(e))) return merged_constants;
    return constants;
  }
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
  to.planes([&]<class T, int B>(std::type_identity<T>, T* p, const dims<B>&, const dims<B>&, mem::block*) {
    st.set_output(k++, p, stride);
  });
}
/// Runs `st` into a fresh store of its extent.
template <class S, int F> TTENSOR_NOINLINE store<S> run_fresh(run::statement_planes<F>& st) {
  constexpr int B = batch_levels_v<S>;
  if (TTENSOR_UNLIKELY(!shape::countable(st.extent.v, F))) shape::too_many_elements(st.extent.v, F);
  dims<B> batch{};
  for (int d = 0; d < B; ++d) batch[d] = st.extent[d];
  store<S> out = store<S>::make(size_of<B>(st.extent), batch);
  connect_whole(out, st);
  st.run_planned();
  ++counts.loops;
  return out;
}
/// True when the memory of `out` may take the result: nobody but leaves that walk it as the result does holds it, or reads it through a pointer.
template <class S, int F> bool may_reuse(store<S>& out, const run::statement_planes<F>& st) {
  const index_t total = shape::size(st.extent);
  bool reuse = true;
  out.cells([&](auto& cell) {
    const mem::block* b = cell.block();
    int held = 0;
    if (!b) return static_cast<void>(reuse = false);
    const char* const at = static_cast<const char*>(const_cast<mem::block*>(b)->data());
    for (int k = st.type.outs; k < st.type.planes; ++k) {
      if (st.holder[k] != b && !(st.is_loose(k) && st.reaches(k, at, reinterpret_cast<const char*>(b) + b->bytes))) continue;
      held += st.holder[k] == b;
      reuse = reuse && st.plane[k].ptr == at && st.is_whole(k);
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
  if (!st.adjacent(c, out.memory() + offset * index_t(sizeof(S)), n, out.block(), held) ||
      !(writable || out.unique_except(held)))
    return false;
  st.type.kernel(c, n, nullptr, 1);
  ++counts.loops;
  return true;
}
/// Runs `st`, in the memory of `out` where that is free, else in fresh memory. `shaped`: the extents of an example are set.
template <class S, int F> TTENSOR_NOINLINE void run_into(store<S>& out, dims<F - batch_levels_v<S>>& extent,
                                                         run::statement_planes<F>& st, bool shaped) {
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

TTENSOR_END
