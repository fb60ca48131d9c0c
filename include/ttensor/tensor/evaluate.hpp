// Evaluating a statement: gather the planes of its leaves, decide where the result may be written, run the planner and
// the fused loop. The same code serves every scalar kind, because batch axes are leading axes and duals are planes.
#pragma once
#include "../run/map.hpp"
#include "store.hpp"

TTENSOR_BEGIN

namespace eval_detail {
template <class L> using leaf_core = std::conditional_t<is_scalar_leaf_v<L> && batch_levels_v<typename L::scalar> == 0,
                                                        run::uniform<core_t<typename L::scalar>>, core_t<typename L::scalar>>;
}  // namespace eval_detail
namespace eval_detail {
/// Strides of a plane aligned to the statement: batch axes from the oldest level, array axes from the right.
template <int RT, int Q> TTENSOR_INLINE void align(run::nest_plane& to, const plane<Q>& p, int levels, int statement_levels) {
  for (int d = 0; d < RT; ++d) to.stride[d] = 0;
  for (int d = 0; d < levels; ++d) to.stride[d] = p.extent[d] == 1 ? 0 : p.stride[d];
  const int own = Q - levels;
  for (int d = 0; d < own; ++d) to.stride[RT - own + d] = p.extent[levels + d] == 1 ? 0 : p.stride[levels + d];
  static_cast<void>(statement_levels);
}
[[noreturn]] TTENSOR_NOINLINE inline void batch_mismatch(index_t a, index_t b) {
  raise<shape_error>("[vmap] mapped sizes differ: " + to_message(a) + " and " + to_message(b) + "; mapped axes must have one extent [TT-S05]");
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

/// A statement made ready to run: planes of the output and of every leaf.
template <class S, class E, int R = E::rank> struct statement {
  using out_core = core_t<S>;
  static constexpr int rank = R, levels = batch_levels_v<S>, full_rank = rank + levels;
  static_assert(full_rank <= run::max_rank, "ttensor: at most 12 axes in one statement, vmap axes included");
  template <class List> struct with;
  template <class... L> struct with<type_list<L...>> {
    using kernel = run::map_kernel<program_of<E>, out_core, eval_detail::leaf_core<L>...>;
    using table = run::plane_table<out_core, eval_detail::leaf_core<L>...>;
  };
  using kernel = typename with<leaves_of_t<E>>::kernel;
  using table = typename with<leaves_of_t<E>>::table;
  static constexpr int planes = table::count, outs = planes_v<out_core>;
  static_assert(planes <= run::max_planes, "ttensor: too many arrays in one statement; evaluate a part with eval() first");

  dims<full_rank> extent;
  run::nest_plane plane[planes];
  mem::block* holder[planes];
  bool flat = true;

  statement(const E& e, const dims<levels>& batch, const dims<rank>& shape) {
    for (int d = 0; d < levels; ++d) extent[d] = batch[d];
    for (int d = 0; d < rank; ++d) extent[levels + d] = shape[d];
    int k = outs;
    constexpr auto bytes = table::bytes();
    const dims<full_rank> full = shape::row_major(extent);
    e.leaves([&]<class L>(const L& l) {
      constexpr bool uniform = run::is_uniform_v<eval_detail::leaf_core<L>>;
      l.planes([&]<class T, int Q>(std::type_identity<T>, const ::ttensor::plane<Q>& p) {
        run::nest_plane& n = plane[k];
        n.ptr = const_cast<char*>(static_cast<const char*>(p.ptr));
        n.bytes = bytes[k];
        n.how = uniform ? run::access::uniform : run::access::input;
        eval_detail::align<full_rank>(n, p, batch_levels_v<typename L::scalar>, levels);
        if constexpr (!uniform) {
          bool whole = Q == full_rank;
          for (int d = 0; d < full_rank; ++d) whole = whole && (extent[d] == 1 || n.stride[d] == full[d]);
          flat = flat && whole;
        }
        holder[k++] = p.holder;
      });
    });
  }
  /// Number of leaf planes that hold `b`.
  int leaves_holding(const mem::block* b) const {
    int n = 0;
    for (int k = outs; k < planes; ++k) n += holder[k] == b;
    return n;
  }
  void set_output(int k, void* ptr, const dims<full_rank>& stride) {
    plane[k].ptr = static_cast<char*>(ptr);
    plane[k].bytes = table::bytes()[k];
    plane[k].how = run::access::output;
    for (int d = 0; d < full_rank; ++d) plane[k].stride[d] = extent[d] == 1 ? 0 : stride[d];
  }
  /// Runs into the outputs that were set. `whole`: outputs are contiguous and row-major.
  void run(bool whole, bool = false) {
    if (whole && flat) {  // one run over all elements, no planning
      run::cursor c[planes];
      for (int k = 0; k < planes; ++k) c[k] = {plane[k].ptr, plane[k].how == run::access::uniform ? 0 : index_t(kernel::N) * plane[k].bytes};
      const index_t n = shape::size(extent);
      if (n) kernel::launch(c, n, nullptr, 1);
    } else {
      run::nest s;
      s.rank = full_rank;
      s.planes = planes;
      for (int d = 0; d < full_rank; ++d) s.extent[d] = extent[d];
      s.plane = plane;
      s.lanes = kernel::N;
      run::driver(s, kernel::launch, false).run();
    }
  }
};

/// Row-major strides of a store's buffer whose batch extents are `have` in a statement of batch extents `batch`.
template <class S, class E> void run_fresh(statement<S, E>& st, store<S>& into) {
  int k = 0;
  const auto stride = shape::row_major(st.extent);
  into.planes([&]<class T, int B>(std::type_identity<T>, T* p, const dims<B>&, const dims<B>&, mem::block*) { st.set_output(k++, p, stride); });
  st.run(true, false);
}

struct statement_count {
  std::uint64_t loops = 0;  // fused loops run on this thread
};
inline constinit thread_local statement_count counts{};

/// Evaluates `e` as scalar S into a fresh store.
template <class S, class E> store<S> evaluate(const E& e, const dims<E::rank>& shape) {
  const auto batch = batch_of<S>(e);
  statement<S, E> st(e, batch, shape);
  store<S> out = store<S>::make(shape::size(shape), batch);
  run_fresh(st, out);
  ++counts.loops;
  return out;
}

namespace eval_detail {
/// The common case without planning: all leaves whole, row-major and of the statement's shape, and the memory of `out`
/// free for the result. False: nothing was done.
template <class S, class E> TTENSOR_INLINE bool run_flat(store<S>& out, const E& e, const dims<E::rank>& shape) {
  if constexpr (batch_levels_v<S> > 0) {
    return static_cast<void>(out), static_cast<void>(e), static_cast<void>(shape), false;
  } else {
    using st = statement<S, E>;
    using kernel = typename st::kernel;
    constexpr auto bytes = st::table::bytes();
    const index_t n = shape::size(shape);
    if (!out.valid() || out.size() != n || n == 0) return false;
    run::cursor c[st::planes];
    const mem::block* holder[st::planes];
    bool flat = true;
    int k = st::outs;
    e.leaves([&]<class L>(const L& l) {
      l.planes([&]<class T, int Q>(std::type_identity<T>, const plane<Q>& p) {
        constexpr bool uniform = run::is_uniform_v<leaf_core<L>>;
        if constexpr (uniform) c[k].step = 0;
        else if constexpr (Q == E::rank) flat = flat && p.extent == shape && shape::is_row_major(p.extent, p.stride), c[k].step = index_t(kernel::N) * bytes[k];
        else flat = false;
        c[k].ptr = const_cast<char*>(static_cast<const char*>(p.ptr));
        holder[k++] = p.holder;
      });
    });
    k = 0;
    out.planes([&](auto, auto* to, const auto&, const auto&, const mem::block*) { c[k] = {reinterpret_cast<char*>(to), index_t(kernel::N) * bytes[k]}, ++k; });
    out.cells([&](auto& cell) {
      const mem::block* b = cell.block();
      int held = 0;
      for (int i = st::outs; i < st::planes; ++i)
        if (b && holder[i] == b) ++held, flat = flat && c[i].ptr == static_cast<const char*>(const_cast<mem::block*>(b)->data());
      flat = flat && b && cell.size() == n && cell.unique_except(held);
    });
    if (!flat) return false;
    kernel::launch(c, n, nullptr, 1);
    return true;
  }
}
}  // namespace eval_detail

/// out = e, in the memory `out` has if nobody else needs it: no allocation when the size fits, a temporary when a leaf
/// overlaps with another mapping. A statement that throws leaves `out` unchanged.
template <class S, class E> TTENSOR_NOINLINE void evaluate_planned(store<S>& out, const E& e, const dims<E::rank>& shape);
template <class S, class E> TTENSOR_INLINE void evaluate_into(store<S>& out, const E& e, const dims<E::rank>& shape) {
  if (TTENSOR_LIKELY(eval_detail::run_flat<S>(out, e, shape))) ++counts.loops;
  else evaluate_planned<S>(out, e, shape);
}
template <class S, class E> void evaluate_planned(store<S>& out, const E& e, const dims<E::rank>& shape) {
  const auto batch = batch_of<S>(e);
  statement<S, E> st(e, batch, shape);
  bool reuse = out.valid() && out.size() == shape::size(shape), in_place = false;
  if (reuse && out.batch() == batch) {
    const auto stride = shape::row_major(st.extent);
    index_t total = shape::size(st.extent);
    out.cells([&](auto& cell) {
      reuse = reuse && cell.size() == total;  // planes of a dual may be mapped differently
      const int held = st.leaves_holding(cell.block());
      reuse = reuse && cell.unique_except(held);
      in_place = in_place || held > 0;
      if (held > 0)
        for (int k = st.outs; k < st.planes; ++k)
          if (st.holder[k] == cell.block()) {
            reuse = reuse && st.plane[k].ptr == static_cast<const char*>(cell.block()->data());
            for (int d = 0; d < st.full_rank; ++d) reuse = reuse && (st.extent[d] == 1 || st.plane[k].stride[d] == stride[d]);
          }
    });
  } else {
    reuse = false;
  }
  if (reuse) {
    int k = 0;
    const auto stride = shape::row_major(st.extent);
    out.planes([&]<class T, int B>(std::type_identity<T>, T* p, const dims<B>&, const dims<B>&, mem::block*) { st.set_output(k++, p, stride); });
    st.run(true, in_place);
  } else {
    store<S> fresh = store<S>::make(shape::size(shape), batch);
    run_fresh(st, fresh);
    out.adopt(static_cast<store<S>&&>(fresh));
  }
  ++counts.loops;
}

TTENSOR_END
