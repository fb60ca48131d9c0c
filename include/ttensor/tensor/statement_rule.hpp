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
/// Runs `e` into the region `m` of `out`; through a temporary when a leaf overlaps the region with another mapping.
template <class S, int R, class E> void run_region_values(store<S>& out, const layout_map<R>& m, const E& e) {
  const auto batch = batch_of<S>(e);
  out.require_batch(batch);
  statement<S, E, R> st(e, out.batch(), m.extent);
  constexpr int levels = st.levels, full_rank = st.full_rank;
  bool detach = false, overlap = false, in_place = false;
  out.cells([&](auto& cell) {
    const int held = st.leaves_holding(cell.block());
    if (cell.is_borrowed()) {
      for (int k = st.outs; k < st.planes; ++k) overlap |= st.holder[k] == nullptr && st.plane[k].how == run::access::input;
    } else if (!cell.unique_except(held)) {
      detach = true;
    } else {
      overlap |= held > 0;
    }
  });
  int k = 0;
  auto connect = [&](store<S>& to) {
    k = 0;
    to.planes([&]<class T, int B>(std::type_identity<T>, T* p, const dims<B>&, const dims<B>& bs, mem::block*) {
      dims<full_rank> stride{};
      for (int d = 0; d < levels; ++d) stride[d] = bs[d];
      for (int d = 0; d < R; ++d) stride[levels + d] = m.stride[d];
      st.set_output(k++, p + m.offset, stride);
    });
  };
  if (detach) out.cells([](auto& cell) { static_cast<void>(cell.writable()); });  // leaves keep the old block
  connect(out);
  if (overlap && !detach) {
    bool same = true;  // every overlapping leaf walks exactly the region
    for (int l = st.outs; l < st.planes; ++l) {
      if (st.plane[l].how == run::access::uniform) continue;
      for (int o = 0; o < st.outs; ++o) {
        const bool shares = out.is_borrowed() ? st.holder[l] == nullptr : st.holder[l] == st_block(out, o);
        if (!shares) continue;
        in_place = true;
        same = same && st.plane[l].ptr == st.plane[o].ptr && st.plane[l].bytes == st.plane[o].bytes;
        for (int d = 0; d < full_rank; ++d) same = same && (st.extent[d] == 1 || st.plane[l].stride[d] == st.plane[o].stride[d]);
      }
    }
    if (!same) {
      store<S> fresh = store<S>::make(shape::size(m.extent), out.batch());
      statement<S, E, R> again(e, out.batch(), m.extent);
      int q = 0;
      const auto stride = shape::row_major(again.extent);
      fresh.planes([&]<class T, int B>(std::type_identity<T>, T* p, const dims<B>&, const dims<B>&, mem::block*) { again.set_output(q++, p, stride); });
      again.run(true, false);
      leaf<S, R> copy{fresh.snap(), layout_map<R>::row_major(m.extent)};
      return run_region_values<S>(out, m, copy);
    }
  }
  st.run(false, in_place);
  ++counts.loops;
}
}  // namespace eval_detail

template <class S> struct statement_rule {
  template <class E> static store<S> evaluate(const E& e, const dims<E::rank>& shape) { return ttensor::evaluate<S>(e, shape); }
  template <class E> static void evaluate_into(store<S>& out, const E& e, const dims<E::rank>& shape) { ttensor::evaluate_into<S>(out, e, shape); }
  template <int R, class E> static void assign_region(store<S>& out, const layout_map<R>& m, const E& e) { eval_detail::run_region_values<S>(out, m, e); }
};

TTENSOR_END
