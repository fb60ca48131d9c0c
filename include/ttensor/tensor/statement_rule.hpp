// How an array statement of scalar S runs. The primary rule evaluates; floors above specialise it to record on a tape.
#pragma once
#include "evaluate.hpp"

TTENSOR_BEGIN

namespace eval_detail {
template <class S> mem::block* st_block(store<S>& s, int plane_number) {
  mem::block* b = nullptr;
  int k = 0;
  s.cells([&](auto& cell) {
    if (k++ == plane_number) b = cell.block();
  });
  return b;
}
template <class S, int R, class E> void run_region_values(store<S>& out, const layout_map<R>& m, const E& e, bool writable = false);
/// Runs a statement into the region `m` of `out`; through a temporary when a leaf overlaps the region with another mapping. `writable`:
/// whoever else holds the elements does not read them again.
template <class S, int R> TTENSOR_NOINLINE void run_region(store<S>& out, const layout_map<R>& m,
                                                           run::statement_planes<R + batch_levels_v<S>>& st,
                                                           bool writable) {
  constexpr int levels = batch_levels_v<S>, F = R + levels;
  const int outs = st.type.outs, planes = st.type.planes;
  if constexpr (F == 1 && depth_v<S> == 0)
    if (m.stride[0] == 1 && run_adjacent(out, m.offset, m.extent[0], st, writable)) return;
  out.require_batch(batch_of<levels>(st));
  set_extent(st, out.batch(), m.extent);
  st.align();
  bool detach = false, overlap = false;
  for (int k = outs; k < planes; ++k) overlap |= st.is_loose(k);  // may be anybody's memory, this too
  out.cells([&](auto& cell) {
    const int held = st.leaves_holding(cell.block());
    if (cell.is_borrowed()) {
      overlap = true;
    } else if (!writable && !cell.unique_except(held)) {
      detach = true;
    } else {
      overlap |= held > 0;
    }
  });
  if (detach) own_memory(out);  // leaves keep the old block
  int k = 0;
  out.planes([&]<class T, int B>(std::type_identity<T>, T* p, const dims<B>&, const dims<B>& bs, mem::block*) {
    dims<F> stride{};
    for (int d = 0; d < levels; ++d) stride[d] = bs[d];
    for (int d = 0; d < R; ++d) stride[levels + d] = m.stride[d];
    st.set_output(k++, p + m.offset, stride);
  });
  bool same = true;  // every overlapping leaf walks exactly the region
  for (int l = outs; l < planes && overlap && !detach; ++l) {
    if (st.plane[l].how == run::access::uniform) continue;
    for (int o = 0; o < outs; ++o) {
      const bool shares = out.is_borrowed() || st.holder[l] == nullptr || st.holder[l] == st_block(out, o);
      if (!shares || st.apart(l, o)) continue;
      same = same && st.plane[l].ptr == st.plane[o].ptr && st.plane[l].bytes == st.plane[o].bytes;
      for (int d = 0; d < F; ++d) same = same && (st.extent[d] == 1 || st.plane[l].stride[d] == st.plane[o].stride[d]);
    }
  }
  if (!same) {
    const store<S> fresh = run_fresh<S>(st);
    return run_region_values<S>(out, m, leaf<S, R>{fresh.snap(), layout_map<R>::row_major(m.extent)}, true);  // only leaves of `st` hold them
  }
  st.run_planned();
  ++counts.loops;
}
template <class S, int R, class E> void run_region_values(store<S>& out, const layout_map<R>& m, const E& e, bool writable) {
  if constexpr (runs_adjacent<S, R, E>())
    if (adjacent_statement<S, R, E>::run(out, m, e, writable)) return;
  statement<S, E, R> st(e);
  run_region<S, R>(out, m, st, writable);
  if constexpr (level_calls::tracked<S, typename E::scalar>) st.calls.give_part(out);
}
}  // namespace eval_detail

template <class S> struct statement_rule {
  template <class E> static store<S> evaluate(const E& e, const dims<E::rank>& shape) { return ttensor::evaluate<S>(e, shape); }
  template <class E> TTENSOR_INLINE static void evaluate_into(store<S>& out, const E& e, const dims<E::rank>& shape) {
    ttensor::evaluate_into<S>(out, e, shape);
  }
  template <int R, class E> static void assign_region(store<S>& out, const layout_map<R>& m, const E& e) {
    eval_detail::run_region_values<S>(out, m, e);
  }
};

/// The number that an expression of rank 0 is.
template <class E> auto evaluated_number(const E& e) {
  using S = storage_scalar_t<typename E::scalar>;
  return statement_rule<S>::evaluate(e, dims<0>{}).scalar();
}

/// Do the elements of a leaf stand at the beginning of its blocks, in order, for every example too?
template <class S, int R> bool begins_its_blocks(const leaf<S, R>& l) {
  const index_t n = shape::size(l.map.extent);
  bool fills = l.map.offset == 0 && shape::is_row_major(l.map.extent, l.map.stride);
  l.data.planes([&]<class T, int B>(std::type_identity<T>, const T* base, const dims<B>& e, const dims<B>& s, mem::block* holder) {
    fills = fills && holder != nullptr && static_cast<const void*>(base) == holder->data();
    index_t step = n;
    for (int d = B - 1; d >= 0; step *= e[d--]) fills = fills && (e[d] == 1 || s[d] == step);
  });
  return fills;
}
/// The elements of a leaf as a value of their own: shared (copy on write) where they begin their blocks, else copied.
template <class S, int R> store<S> store_of(const leaf<S, R>& l) {
  if constexpr (!has_var_v<S>)
    if (begins_its_blocks(l)) return store<S>::over(l.data, shape::size(l.map.extent));
  return statement_rule<S>::evaluate(l, l.map.extent);
}

/// A leaf for a tape to keep: elements that nobody holds (memory of the caller) are copied, since they may change or be gone when it is swept.
template <class S, int R> leaf<S, R> lasting(const leaf<S, R>& l) {
  if constexpr (!has_var_v<S>) {
    bool held = true;
    l.data.planes([&](auto, const auto*, const auto&, const auto&, mem::block* holder) { held = held && holder; });
    if (!held) {
      auto once = l;  // what is broadcast is copied once
      for (int d = 0; d < R; ++d)
        if (l.map.stride[d] == 0 && l.map.extent[d] > 1) once.map.extent[d] = 1;
      const store<S> copy = statement_rule<S>::evaluate(once, once.map.extent);
      leaf<S, R> kept{copy.snap(), layout_map<R>::row_major(once.map.extent)};
      for (int d = 0; d < R; ++d)
        if (once.map.extent[d] != l.map.extent[d]) kept.map.extent[d] = l.map.extent[d], kept.map.stride[d] = 0;
      return kept;
    }
  }
  return l;
}
/// Elements as scalars X of at least the same levels.
template <class X, class S> store<X> lifted(const store<S>& s) {
  if constexpr (std::is_same_v<S, X>) return s.value();
  else {
    const dims<1> n{{s.size()}};
    return statement_rule<X>::evaluate(leaf<S, 1>{s.snap(), layout_map<1>::row_major(n)}, n);
  }
}

TTENSOR_END
