// Reverse over reverse. The backward pass of a statement y = f(x), that is g = c f'(x) for a cotangent c, is recorded on the
// older tapes as one node, and that node needs no rules of its own: for an adjoint u of g
//
//   u g  =  u c f'(x)  =  D_u (c f(x)),   the tangent of c f(x + eps u),
//
// so its backward pass is the fused backward loop of the statement c * f in dual arithmetic, which gives c f''(x) u for x and
// f'(x) u for c (run/back.hpp: in reverse plane order). The same again for the next order. Nobody who never nests reverse
// mode instantiates any of it.
#pragma once
#include "nested_gradients.hpp"

TTENSOR_BEGIN
namespace ad {

template <class S, bool Seeded, class F> struct gradient_node;
/// The gradients of `e` for cotangents (null: zero) of its result. On every tape older than the newest of S they are recorded
/// as one node. Seeded: the cotangents are constants.
template <class S, bool Seeded, class F, int Full>
void differentiate(const F& e, const dims<Full>& extent, slot_base* const* cotangent, const index_t* out_stride,
                   gradient_parts p, loose_slots& loose) {
  using X = taped_t<S>;
  p.ops = gradient_table<F, X>::ops.v;
  if constexpr (!has_var_v<X>) {
    statement_record<S, F> r(e, extent);
    run_apart<has_plain_adjoints_v<X>>(statement_record<S, F>::layout, r.view(), cotangent, out_stride, p, loose);
  } else {
    constexpr int vars = taped<S>::vars;
    slot_base* below[vars];
    for (int k = 0; k < vars; ++k) below[k] = cotangent[k] ? nested_detail::unwrap<X>(loose, *cotangent[k]) : nullptr;
    differentiate<without_older_t<S>, Seeded>(
        same_program<without_older_t<S>>(e, [](const auto& l) { return drop_older_leaf(l); }), extent, below,
        out_stride, p, loose);
    for (int k = 0; k < p.count; ++k)
      if (p.slot[k]) p.slot[k] = p.ops[k]->wrap(loose, *p.slot[k]);
    gradient_node<S, Seeded, F>::record(e, extent, cotangent, out_stride, p);
  }
}
/// The backward pass of a statement: adds the gradients to the slots of tape `t`.
template <class S, bool Seeded, class F, int Full>
void pull(tape& t, const F& e, const dims<Full>& extent, slot_base* const* cotangent, const index_t* out_stride) {
  using X = taped_t<S>;
  if constexpr (!has_var_v<X>) {
    statement_record<S, F> r(e, extent);
    add_gradients<X>(t, statement_record<S, F>::layout, r.view(), cotangent, out_stride);
  } else {
    using table = gradient_table<F, X>;
    part_arrays<table::count, table::full> a;
    slot_base* slot[table::count + 1];
    loose_slots loose;
    const gradient_parts p{table::count, table::full, table::inner, a.part, a.extent, a.stride, slot, table::ops.v};
    differentiate<S, Seeded>(e, extent, cotangent, out_stride, p, loose);
    for (int k = 0; k < p.count; ++k)
      if (slot[k]) p.ops[k]->add(t, *slot[k], p, k), slot[k]->drop();
  }
}

// ---- nodes ------------------------------------------------------------------------------------------------------------------
/// The product with the cotangent, a leaf K of its own.
template <class Prog, int K, bool Conjugate> struct times_cotangent;
template <int Root, class... Ins, int K> struct times_cotangent<program<Root, Ins...>, K, false> {
  static constexpr int M = static_cast<int>(sizeof...(Ins));
  using type = program<M + 1, Ins..., ld<K>, ins<mul_op, Root, M>>;
};
template <int Root, class... Ins, int K> struct times_cotangent<program<Root, Ins...>, K, true> {
  static constexpr int M = static_cast<int>(sizeof...(Ins));
  using type = program<M + 2, Ins..., ld<K>, ins<conj_op, M>, ins<mul_op, Root, M + 1>>;
};
/// The gradients of a statement as a function of its operands and cotangents. S: scalars of the statement, with its own tape outermost
/// but for duals and batches; the node is on the next one.
template <class S, bool Seeded, int R, class Prog, class... L>
struct gradient_node<S, Seeded, flat_statement<S, R, Prog, L...>> final : tape_node {
  using Statement = flat_statement<S, R, Prog, L...>;
  using Inside = taped_t<S>;   // what is inside the statement's tape
  using Under = untaped_t<S>;  // S without that tape: scalars of the operands and of the cotangent here
  using table = gradient_table<Statement, Inside>;
  static constexpr int count = table::count;
  static constexpr int levels = batch_levels_v<S>, full = levels + R, inner = batch_levels_v<Inside>, vars = taped<Inside>::vars;
  static_assert(
      of_one_elem<Inside, true>(type_list<L...>{}),
      "ttensor: a statement mixes a taped scalar with arrays of another element type; convert the scalar first, to<T>(s)");
  template <class Leaf> static auto base(const Leaf& l) {
    if constexpr (can_carry<Leaf>()) return with_kinds_of<Under>(untape_leaf(l));
    else return l;
  }
  bundle<decltype(kept_leaf(std::declval<const L&>()))...> leaves;
  leaf<Under, R> cotangent;  // not if Seeded
  dims<full> extent;
  part_arrays<count, full> parts;
  std::uint32_t out[count * vars + 1] = {};  // slots of the gradients

  gradient_node(const Statement& e, const leaf<Under, R, false>& ct, const dims<full>& x, const gradient_parts& p)
      : leaves(spread([](const L&... l) { return make_bundle(kept_leaf(l)...); }, e.loads)), cotangent(expr::keeping(ct)), extent(x) {
    for (int k = 0; k < count; ++k) parts.part[k] = p.part[k];
    for (int k = 0; k < count * full; ++k) parts.extent[k] = p.extent[k];
  }
  static void record(const Statement& e, const dims<full>& extent, slot_base* const* ct, const index_t* out_stride,
                     const gradient_parts& p) {
    leaf<Under, R, false> c{};
    if constexpr (!Seeded) {
      index_t one[full + 1];
      for (int d = 0; d < full; ++d) one[d] = d >= levels && out_stride[d] == 0 ? 1 : extent[d];
      int q = taped<S>::vars;  // planes of duals outside the tape in reverse order (run/back.hpp)
      auto next = [&] {
        return ct[--q] ? static_cast<adjoint_slot<Inside>*>(ct[q])->adjoint.snap().borrowed()
                       : snapshot<Inside, false>{};
      };
      c.data = of_planes<S, false>(next, [&](int) { return one; }, full);
      for (int d = 0; d < R; ++d) c.map.extent[d] = extent[levels + d], c.map.stride[d] = out_stride[levels + d];
    }
    serial_finder finder;
    e.leaves([&](const auto& l) { finder.leaf(base(l)); });
    if constexpr (!Seeded) finder.leaf(c);
    const std::uint64_t serial = finder.checked();
    if (serial == 0) return;
    tape& t = tape::find(serial);
    unfinished_write steps;
    steps.serial = serial;
    auto& n = t.push<gradient_node>(e, c, extent, p);
    for (int k = 0; k < count; ++k)
      if (p.slot[k]) p.ops[k]->number(t, *p.slot[k], n.out + k * vars);
    steps.serial = 0;
  }
  void backward(tape& t) override {
    using DualUnder = dual<Under, 1>;
    bool any = false;
    for (std::uint32_t id : out) any = any || (id && t.slot(id).live);
    if (!any) return;
    adjoint_slot<taped_t<DualUnder>> one;
    one.size = 1;
    one.set(store<taped_t<DualUnder>>::make(1));
    one.adjoint.set(0, taped_t<DualUnder>(1));
    slot_base* ct[taped<DualUnder>::vars] = {};
    ct[taped<DualUnder>::vars - 1] = &one;  // the tangent of the product: the last plane
    [&]<int... I>(std::integer_sequence<int, I...>) {
      if constexpr (Seeded) {
        run(t, statement<DualUnder, Prog>(lifted<L>(t, at<I>(leaves), first(I))...), ct);
      } else {
        using times = typename times_cotangent<Prog, static_cast<int>(sizeof...(L)), is_complex_v<elem_t<S>>>::type;
        run(t, statement<DualUnder, times>(lifted<L>(t, at<I>(leaves), first(I))..., borrowed_leaf(cotangent)), ct);
      }
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{});
    for (std::uint32_t id : out)
      if (id) t.slot(id).drop();
  }

 private:
  template <class E> void run(tape& t, const E& e, slot_base* const* ct) const {
    dims<full> x = extent;  // examples may differ in an adjoint or a cotangent only
    const auto batch = batch_of<typename E::scalar>(e);
    for (int d = 0; d < levels; ++d) eval_detail::meet_batch(x[d], batch[d]);
    const dims<full> none{};
    pull<typename E::scalar, true>(t, e, x, ct, none.v);
  }
  template <class Scalar, class Program, class... Leaf>
  static flat_statement<Scalar, R, Program, Leaf...> statement(const Leaf&... l) {
    return {make_bundle(l...)};
  }
  static constexpr int first(int leaf) {  // of its gradients
    const int n[] = {taped_vars<L>()...};
    int k = 0;
    for (int i = 0; i < leaf; ++i) k += n[i];
    return k;
  }
  template <class Leaf, class KeptLeaf> TTENSOR_NOINLINE auto lifted(tape& t, const KeptLeaf& l, int from) const {
    const auto v = base(borrowed_leaf(l));
    if constexpr (!can_carry<Leaf>()) {
      return v;
    } else {
      using LeafBelow = untaped_t<typename Leaf::scalar>;
      using LeafInside = taped_t<LeafBelow>;
      constexpr int planes = taped_vars<Leaf>(), rank = Leaf::rank;
      int k = 0;
      const auto extent_of = [&](int n) {  // of the gradients of planes k to k + n: of one that there is
        int d = 0;
        for (int e = k; e < k + n && e / vars < planes; ++e)
          if (e == k || parts.part[from + e / vars].taped) d = e / vars;
        return parts.extent + kept(from + d) * full;
      };
      auto next = [&] {  // adjoints in reverse plane order of the duals inside the statement's tape
        const int d = k / vars, q = vars - 1 - k % vars;
        ++k;
        snapshot<var<LeafInside>, false> s{};
        if (d >= planes) return s;  // the tangent of a lifted leaf
        const std::uint32_t id = out[kept(from + d) * vars + q];
        if (id && t.slot(id).live) s.value = t.at<LeafInside>(id).adjoint.snap().borrowed();
        return s;
      };
      const index_t* x = extent_of(planes * vars);  // all have the axes of the leaf
      leaf<LeafBelow, rank, false> u{of_planes<LeafBelow, true>(next, extent_of, full), {}};
      for (int d = 0; d < rank; ++d) u.map.extent[d] = x[full - rank + d];
      u.map = layout_map<rank>::row_major(u.map.extent);
      const auto w = with_kinds_of<Under>(u);
      return lifted_leaf<std::remove_const_t<decltype(v)>, std::remove_const_t<decltype(w)>, true>{v, w};
    }
  }
  int kept(int k) const { return parts.part[k].same < 0 ? k : parts.part[k].same; }
};

/// A statement over several tapes, on the newest.
template <class S, class F> struct nested_node;
template <class S, int R, class Prog, class... L> struct nested_node<S, flat_statement<S, R, Prog, L...>> final : tape_node {
  static constexpr int vars = taped<S>::vars, full = R + batch_levels_v<S>;
  flat_statement<S, R, Prog, L...> e;
  dims<full> extent, out_stride;
  std::uint32_t out[vars];
  template <class E> nested_node(const E& statement, const dims<full>& x, const dims<full>& os)
      : e(taken(statement, leaves_of_t<E>{}, std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{})),
        extent(x),
        out_stride(os) {}
  void backward(tape& t) override {
    slot_base* ct[vars];
    if (!live_slots(t, out, vars, ct)) return;
    pull<S, false>(t, same_program<S>(e, [](const auto& l) { return borrowed_leaf(l); }), extent, ct, out_stride.v);
    for (std::uint32_t id : out) t.slot(id).drop();
  }

 private:
  template <class E, class... A, int... I>
  static flat_statement<S, R, Prog, L...> taken(const E& statement, type_list<A...>, std::integer_sequence<int, I...>) {
    const void* leaf[sizeof...(A) + 1];
    int k = 0;
    statement.leaves([&](const auto& l) { leaf[k++] = &l; });
    return {make_bundle(kept_leaf(*static_cast<const A*>(leaf[I]))...)};
  }
};
template <class S, class E, class List> struct nested_node_type;
template <class S, class E, class... L> struct nested_node_type<S, E, type_list<L...>> {
  using type =
      nested_node<S, flat_statement<S, E::rank, program_of<E>,
                                    std::remove_cvref_t<decltype(expr::keeping(std::declval<const L&>()))>...>>;
};
template <class S, class E> struct nested_node_of : nested_node_type<S, E, leaves_of_t<E>> {};

}  // namespace ad

TTENSOR_END
