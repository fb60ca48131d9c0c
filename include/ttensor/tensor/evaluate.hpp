// Evaluating a statement: as one of whole tensors where it is one, else as planes.
#pragma once
#include "adjacent_statement.hpp"
#include "whole_statement.hpp"

TTENSOR_BEGIN

template <class... L> constexpr bool all_numbers(type_list<L...>) { return ((depth_v<typename L::scalar> == 0) && ...); }
/// Whether the planes of a statement show its shape: one plane a leaf, and no axes but the array's.
template <class E> inline constexpr bool planes_show_shape_v = expr::shows_shape_v<E> && all_numbers(leaves_of_t<E>{});

/// out = e: takes the shape of e into `extent`, and the memory that `out` has if nobody else needs it: no allocation when the size
/// fits, a temporary when a leaf overlaps with another mapping. A statement that throws leaves both unchanged.
template <class S, class E> TTENSOR_INLINE void assign(store<S>& out, dims<E::rank>& extent, const E& e) {
  if constexpr (depth_v<S> == 0 && whole_tree<E>) {
    whole_way<S, E>::assign(out, extent, e);
  } else {
    if constexpr (runs_adjacent<S, E::rank, E>())
      if (adjacent_statement<S, E::rank, E>::assign(out, extent, e)) return;
    statement<S, E> st(e);
    if constexpr (st.full_rank == 1 && depth_v<S> == 0 && planes_show_shape_v<E>)
      if (out.valid() && eval_detail::run_adjacent(out, 0, out.size(), st, false)) {
        extent[0] = out.size();
        return;
      }
    if constexpr (!planes_show_shape_v<E>) eval_detail::set_extent<st.full_rank>(st, ones<st.levels>(), e.shape());
    eval_detail::run_into<S, st.full_rank>(out, extent, st, !planes_show_shape_v<E>);
    if constexpr (level_calls::tracked<S, typename E::scalar>) st.calls.give(out);
  }
}
/// The same of a shape that is known.
template <class S, class E> void evaluate_into(store<S>& out, const E& e, dims<E::rank> shape) {
  statement<S, E> st(e);
  eval_detail::set_extent<st.full_rank>(st, ones<st.levels>(), shape);
  eval_detail::run_into<S, st.full_rank>(out, shape, st, true);
  if constexpr (level_calls::tracked<S, typename E::scalar>) st.calls.give(out);
}

/// Evaluates `e` as scalar S into a fresh store.
template <class S, class E> store<S> evaluate(const E& e, const dims<E::rank>& shape) {
  if constexpr (runs_adjacent<S, E::rank, E>()) {
    store<S> fresh;
    dims<E::rank> extent{};
    if (adjacent_statement<S, E::rank, E>::assign(fresh, extent, e)) return fresh;
  }
  statement<S, E> st(e);
  eval_detail::set_extent<st.full_rank>(st, eval_detail::batch_of<st.levels>(st), shape);
  st.align();
  store<S> out = eval_detail::run_fresh<S, st.full_rank>(st);
  if constexpr (level_calls::tracked<S, typename E::scalar>) st.calls.give(out);
  return out;
}

TTENSOR_END
