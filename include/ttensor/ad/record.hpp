// Recording array statements: one fused loop forward, ONE node on the tape, one fused loop backward.
//
// A statement of scalar S = D<var<X>> (D: duals and batch levels outside the tape) has one slot for every plane of D. The
// node keeps nothing per element but the leaves that some derivative rule reads; values are recomputed in the loop.
#pragma once
#include "../ops/merge.hpp"
#include "add_region.hpp"
#include "sum_gradient.hpp"
#include "turned_axes.hpp"

TTENSOR_BEGIN

namespace ad {
template <class S, class E, bool Value = false> struct statement_record {
  using X = taped_t<S>;
  using leaf_list = leaves_of_t<E>;
  static constexpr int inner_levels = batch_levels_v<X>, levels = batch_levels_v<S>, full = levels + E::rank, vars = taped<S>::vars;
  static constexpr std::uint64_t active = active_slots(leaf_list{});
  using prog = program_of<E>;
  template <class List> struct with;
  template <class... L> struct with<type_list<L...>> {
    using kernel = run::back_kernel<prog, active, core_t<S>, vars, Value, type_list<typename target_of<L, X>::type...>,
                                    eval_detail::leaf_core<L>...>;
    using table = run::plane_table<eval_detail::leaf_core<L>...>;
    static constexpr int target_count = (taped_vars<L>() + ... + 0);
    static constexpr auto first_planes() {
      array<int, target_count + 1> a{};
      int g = 0, leaf = 0;
      auto one = [&](int n) {
        for (int j = 0; j < n; ++j) a[g++] = kernel::target_first(leaf) + j * planes_v<X>;
        ++leaf;
      };
      (one(taped_vars<L>()), ...);
      return a;
    }
    using adder = void (*)(char*, const index_t*, const char*, const index_t*, const index_t*, int);
    static constexpr auto adders() {
      array<adder, target_count + 1> a{};
      int g = 0;
      auto one = [&](int n, adder f) {
        for (int j = 0; j < n; ++j) a[g++] = f;
      };
      (one(taped_vars<L>(), full > 1 ? add_strided<elem_t<typename L::scalar>> : add_line<elem_t<typename L::scalar>>), ...);
      return a;
    }
    static constexpr std::uint64_t kept() {
      constexpr auto f = facts<active>(prog{});
      std::uint64_t k = 0;
      for (int i = 0; i < static_cast<int>(sizeof...(L)); ++i) k |= std::uint64_t(Value || f.keeps(i) ? 1 : 0) << i;
      return k;
    }
  };
  using info = with<leaf_list>;
  using kernel = typename info::kernel;
  static constexpr int value_planes = info::table::count, target_count = info::target_count;
  static constexpr auto target_plane = info::first_planes();
  static constexpr auto adders = info::adders();
  static constexpr back_layout layout{
      kernel::launch, full, inner_levels, levels, kernel::planes, kernel::N, vars, planes_v<X>, value_planes, target_count,
      kernel::bytes.v, target_plane.v, adders.v, &kernel::sums,
      full == 1 && !run::has_threads ? run::run_line_sum : run::run_nest_sum, kernel::cost, Value, E::rank > 1 ? back_detail::turn : nullptr};
  index_t extent[full + 1], value_stride[value_planes * full + 1], target_stride[target_count * full + 1];
  saved_value value[value_planes + 1];
  struct nothing {
    static constexpr mem::block_ref* v = nullptr;
  };
  std::conditional_t<Value, nothing, array<mem::block_ref, value_planes>> keep;
  back_target target[target_count + 1];
  std::uint64_t serial;  // of the tape of its active leaves

  statement_record(const E& e, const dims<full>& x) {
    for (int d = 0; d < full; ++d) extent[d] = x[d];
    leaf_noter n{view(), full, inner_levels, info::kept(), nullptr};
    if constexpr (!Value) n.save = &leaf_noter::hold;
    e.leaves([&](const auto& l) { n.note(l); });
    serial = n.serial.checked();
  }
  back_record view() { return {extent, value, keep.v, value_stride, target, target_stride}; }
};

/// Slots that something flowed back to, null for the others; false if there is none.
bool live_slots(tape& t, const std::uint32_t* out, int n, slot_base** to);
#if defined(TTENSOR_BODY)
TTENSOR_BODY bool live_slots(tape& t, const std::uint32_t* out, int n, slot_base** to) {
  bool any = false;
  for (int k = 0; k < n; ++k) {
    slot_base& s = t.slot(out[k]);
    any = any || s.live;
    to[k] = s.live ? &s : nullptr;
  }
  return any;
}
#endif
/// The scalar targets of a statement are added to slots of one element first.
template <class X> TTENSOR_NOINLINE void add_gradients(tape& t, const back_layout& l, const back_record& r,
                                                       slot_base* const* cotangent, const index_t* out_stride) {
  slot_base* to[run::max_planes];
  to[0] = nullptr;  // for the compiler: a statement has targets
  growing<adjoint_slot<X>> scalars;
  for (int g = 0; g < l.targets; ++g) {
    to[g] = r.target[g].id ? &t.slot(r.target[g].id) : nullptr;
    if (to[g] || !r.target[g].scalar.valid()) continue;
    if (scalars.size() == 0) static_cast<void>(scalars.room(static_cast<std::size_t>(l.targets)));
    scalars.push();
    to[g] = &scalars.back();
    to[g]->size = 1;
  }
  run_back<has_plain_adjoints_v<X>>(l, r, cotangent, out_stride, to, nullptr);
  ++tapes::stats.backward_loops;
  std::size_t k = 0;
  for (int g = 0; k < scalars.size(); ++g)
    if (to[g] && r.target[g].id == 0) add_adjoint<X>(t, r.target[g].scalar, scalars[k++].adjoint.get(0));
}
template <class X> TTENSOR_NOINLINE void run_node(tape& t, const back_layout& l, const back_record& r,
                                                  const std::uint32_t* out, const index_t* out_stride) {
  slot_base* cotangent[run::max_planes];
  if (!live_slots(t, out, l.vars, cotangent)) return;
  add_gradients<X>(t, l, r, cotangent, out_stride);
  for (int k = 0; k < l.vars; ++k) t.slot(out[k]).drop();
}
template <class S, class E> struct statement_node final : tape_node {
  using record = statement_record<S, E>;
  using X = typename record::X;
  static constexpr int full = record::full, vars = record::vars;
  record r;
  index_t out_stride[full + 1];  // of the result over the statement's axes: 0 where a sum reduced
  std::uint32_t out[vars];

  statement_node(const E& e, const dims<full>& x, const dims<full>& os) : r(e, x) {
    for (int d = 0; d < full; ++d) out_stride[d] = os[d];
  }
  void backward(tape& t) override { run_node<X>(t, record::layout, r.view(), out, out_stride); }
};

template <class S, class E> struct nested_node_of;  // reverse over reverse: nested_reverse.hpp

/// The tape of the active leaves of an expression: 0 when none is active.
template <class E> std::uint64_t serial_of(const E& e) {
  serial_finder serial;
  e.leaves([&](const auto& l) { serial.leaf(l); });
  return serial.checked();
}

/// Moves the adjoint of a region of one slot to the slot of the value that was written there.
template <class X, int R> struct region_node final : tape_node {
  std::uint32_t into, from;  // from: 0 when a constant was written
  layout_map<R> map;
  region_node(std::uint32_t i, std::uint32_t f, const layout_map<R>& m) : into(i), from(f), map(m) {}
  void backward(tape& t) override {
    adjoint_slot<X>& s = t.at<X>(into);
    if (!s.live) return;
    if (from) add_region<X>(t, from, layout_map<R>::row_major(map.extent), s.adjoint, map);
    statement_rule<X>::assign_region(s.adjoint, map, scalar_leaf<X>{X(0)});
  }
};

template <class S, class E> auto iteration_extent(const E& e, const dims<E::rank>& shape) {
  constexpr int levels = batch_levels_v<S>;
  dims<levels + E::rank> extent{};
  const auto batch = batch_of<S>(e);
  for (int d = 0; d < levels; ++d) extent[d] = batch[d];
  for (int d = 0; d < E::rank; ++d) extent[levels + d] = shape[d];
  return extent;
}
/// Too long to be differentiated as written, but not where its names of expressions are computed once: what only run time knows.
template <class E> inline constexpr bool has_long_names_v = has_names_v<E> && leaves_of_t<E>::size > 64;
/// Gives the planes of `y` slots and pushes the node of the statement `e`, if any of its leaves is on a tape.
template <class S, class E, int F> void record(store<S>& y, const E& e, const dims<F>& extent, const dims<F>& out_stride) {
  using X = taped_t<S>;
  if constexpr ((depth_v<X> == 0 && merged<E>::exists) || has_names_v<E>)
    if (merged<E>::holds(e)) return record(y, merged<E>::bound(e), extent, out_stride);
  const std::uint64_t serial = serial_of(e);
  if (serial == 0) return;
  if constexpr (has_long_names_v<E>) {
    tapes::many_operands();
  } else {
    tape& t = tape::find(serial);
    using node_type = typename std::conditional_t<has_var_v<X>, nested_node_of<S, E>, std::type_identity<statement_node<S, E>>>::type;
    std::uint32_t out[node_type::vars];  // first, as memory may fail
    give_slots(t, y, out);
    auto& n = t.push<node_type>(e, extent, out_stride);
    for (int k = 0; k < node_type::vars; ++k) n.out[k] = out[k];
  }
}
/// Drops what a right side holds.
template <class E> void give_up(owned<E>& e) { e.give_up(); }
template <class S, int R> void give_up(leaf<S, R>& l) { l.data = {}; }
}  // namespace ad

template <class S> requires has_var_v<S> struct statement_rule<S> {
  using X = ad::taped_t<S>;
  template <class E> static store<S> evaluate(const E& e, const dims<E::rank>& shape) {
    if constexpr (ad::needs_raising_v<E, X>) {
      return evaluate(ad::raised<X>(e), shape);
    } else if constexpr (!ad::of_one_elem<X, true>(leaves_of_t<E>{})) {
      return evaluate(expr::on_leaves<ad::of_other_element<X>>::of(e), shape);
    } else {
      store<S> y = values(e, shape);
      record(y, e, shape);
      return y;
    }
  }
  template <class E> static void evaluate_into(store<S>& out, const E& e, const dims<E::rank>& shape) { out.adopt(evaluate(e, shape)); }
  template <int R, class E> static void assign_region(store<S>& out, const layout_map<R>& m, const E& e) { write(out, m, of_region(m, e)); }
  /// The same of an expression that is used up: where it reads `out`, that can then be written without a copy of its other elements.
  template <int R, class E> static void assign_region_last(store<S>& out, const layout_map<R>& m, E& e)
      requires requires { ad::give_up(e); } {
    store<S> y = of_region(m, expr::tree(e));
    ad::give_up(e);
    write(out, m, static_cast<store<S>&&>(y));
  }

 private:
  /// The right side as a value of its own in the shape of the region; writing it moves adjoints only.
  template <int R, class E> static store<S> of_region(const layout_map<R>& m, const E& e) {
    const auto shape = e.shape();
    store<S> y = evaluate(e, shape);
    if constexpr (E::rank == R) {
      if (shape == m.extent) return y;
    }
    layout_map<R> broadcast{0, m.extent, {}};
    const auto stride = shape::row_major(shape);
    for (int d = 0; d < E::rank; ++d) broadcast.stride[R - E::rank + d] = shape[d] == 1 ? 0 : stride[d];
    return evaluate(expr::make_node<cast_op<elem_t<S>>>(leaf<S, R>{y.snap(), broadcast}), m.extent);
  }
  template <int R> static void write(store<S>& out, const layout_map<R>& m, store<S> y) {
    out.require_batch(y.batch());
    y.require_batch(out.batch());
    own_memory(out);  // memory that fails here leaves value and derivative as they are
    const auto whole = layout_map<R>::row_major(m.extent);
    unfinished_write steps;
    ad::each_pair(
        out, m, y, whole,
        [&]<int Q>(store<var<X>>& to, const layout_map<Q>& at, const store<var<X>>& from, const layout_map<Q>& part) {
          move_adjoints(steps, to, at, from.slot());
          if constexpr (has_var_v<X>)
            statement_rule<X>::assign_region(to.values(), at,
                                             leaf<X, Q>{from.values().snap(), part});  // recorded on older tapes
        });
    if constexpr (!has_var_v<X>) eval_detail::run_region_values<S>(out, m, leaf<S, R>{y.snap(), whole});
    steps.serial = 0;
  }
  template <int Q> static void move_adjoints(unfinished_write& steps, store<var<X>>& to, const layout_map<Q>& at, const token_ref& from) {
    if (!from && !to.slot()) return;
    const std::uint64_t serial = from ? from->tape_serial : to.slot()->tape_serial;
    to.own_slot(serial);
    tapes::of<X>(serial).template push<ad::region_node<X, Q>>(to.slot()->id, from ? from->id : 0u, at);
    steps.serial = serial;
  }
  template <class E> static store<S> values(const E& e, const dims<E::rank>& shape) {
    if constexpr (has_var_v<X>) return ad::retape<S>(statement_rule<ad::untaped_t<S>>::evaluate(ad::untape_expression(e), shape));  // recorded on older tapes
    else return ttensor::evaluate<S>(e, shape);
  }
  template <class E> static void record(store<S>& y, const E& e, const dims<E::rank>& shape) {
    dims<batch_levels_v<S> + E::rank> extent = ad::iteration_extent<S>(e, shape);
    dims<batch_levels_v<S> + E::rank> inner = extent;  // strides of the tape's own axes: batch axes inside the tape do not count
    for (int d = 0; d < batch_levels_v<X>; ++d) inner[d] = 1;
    ad::record(y, e, extent, shape::row_major(inner));
  }
};

/// Sums over a tape: the same node as an elementwise statement, with a result that is broadcast over the summed axes.
template <class S> requires has_var_v<S> struct sum_rule<S> {
  using Q = reduced_scalar_t<S>;
  template <bool Columns, class E> static store<Q> evaluate(const E& e, const dims<E::rank>& shape, const axis_set<E::rank>& set) {
    using X = ad::taped_t<S>;
    if constexpr (ad::needs_raising_v<E, X>) return evaluate<Columns>(ad::raised<X>(e), shape, set);
    else if constexpr (!ad::of_one_elem<X, true>(leaves_of_t<E>{}))
      return evaluate<Columns>(expr::on_leaves<ad::of_other_element<X>>::of(e), shape, set);
    else return recorded<Columns>(e, shape, set);
  }

 private:
  template <bool Columns, class E> static store<Q> recorded(const E& e, const dims<E::rank>& shape, const axis_set<E::rank>& set) {
    using X = ad::taped_t<S>;
    constexpr bool together = [] {
      constexpr bool plain = std::is_same_v<X, double> || std::is_same_v<X, float>;
      // of one element type: what is kept is added to the adjoints of the leaves as it is
      if constexpr (plain && !Columns && std::is_same_v<S, var<X>> && std::is_same_v<S, Q> &&
                    ad::of_one_elem<X>(leaves_of_t<E>{}))
        return any_function(program_of<E>{});
      else return false;
    }();
    if constexpr (together && !ad::has_long_names_v<E>) {
      return value_and_gradient<X>(e, shape);
    } else {
      if constexpr (together)
        if (merged<E>::holds(e)) return value_and_gradient<X>(merged<E>::bound(e), shape);
      store<Q> y;
      if constexpr (has_var_v<X>)
        y = ad::retape<Q>(sum_rule<ad::untaped_t<S>>::template evaluate<Columns>(ad::untape_expression(e), shape, set));
      else y = evaluate_reduction<sum_op, Columns, S>(e, shape, set);
      if constexpr (is_differentiable_v<elem_t<S>>) {
        const auto extent = ad::iteration_extent<S>(e, shape);
        auto inner = extent;
        for (int d = 0; d < batch_levels_v<X>; ++d) inner[d] = 1;
        ad::record(y, e, extent, reduce_detail::output_strides(inner, set));
      }
      return y;
    }
  }

  template <class X, class E> static store<S> value_and_gradient(const E& e, const dims<E::rank>& shape) {
    if constexpr (merged<E>::exists)
      if (merged<E>::holds(e)) return value_and_gradient<X>(merged<E>::bound(e), shape);
    using record = ad::statement_record<S, E, true>;
    record r(e, shape);
    ++counts.loops;
    return ad::run_sum<X>(r.serial, record::layout, r.view());
  }
};

TTENSOR_END
