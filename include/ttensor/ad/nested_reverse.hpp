// Reverse over reverse: the backward pass of a statement must itself be recorded, so here the same rules run operator by
// operator on materialised arrays (expressions only inside one rule). The closure of types stays finite: a rule applied to
// arrays, whatever statement it came from; and nobody who never nests reverse mode instantiates any of it.
#pragma once
#include "array_rule.hpp"

TTENSOR_BEGIN
namespace ad {

template <class S, class E> struct nested_statement_node final : tape_node {
  using X = taped_t<S>;
  using P = untaped_t<S>;
  static constexpr int R = E::rank, levels = batch_levels_v<S>, inner_levels = batch_levels_v<X>, full = levels + R, vars = taped<S>::vars;
  using leaf_list = leaves_of_t<E>;
  using prog = program_of<E>;
  static_assert(of_one_field<X>(leaf_list{}), "ttensor: reverse mode over reverse mode does not go between real and complex; take forward over reverse, jvp(grad(f), z, v)");
  static constexpr std::uint64_t active = active_slots(leaf_list{});
  static constexpr auto table = facts<active>(prog{});
  static constexpr auto first = first_adjoints(table, prog::root);  // every active instruction is reached: the others are not active
  template <class List> struct with;
  template <class... L> struct with<type_list<L...>> {
    using leaves = bundle<decltype(untape_leaf(expr::keeping(std::declval<const L&>())))...>;
    using taped_leaves = bundle<std::remove_cvref_t<decltype(expr::keeping(std::declval<const L&>()))>...>;
  };
  typename with<leaf_list>::leaves leaves;
  typename with<leaf_list>::taped_leaves taped_leaves;  // for their slots
  dims<full> extent, out_stride;
  std::uint32_t out[vars];

  nested_statement_node(const E& e, const dims<full>& x, const dims<full>& os) : nested_statement_node(collect(e, leaf_list{}), x, os, 0) {}
  void backward(tape& t) override {
    bool any = false;
    for (std::uint32_t id : out) any = any || t.at<X>(id).live;
    if (!any) return;
    run(t, prog{});
    for (std::uint32_t id : out) {
      t.at<X>(id).live = false;
      t.at<X>(id).adjoint = {};
    }
  }

 private:
  nested_statement_node(typename with<leaf_list>::taped_leaves l, const dims<full>& x, const dims<full>& os, int)
      : leaves(untape_all(l)), taped_leaves(l), extent(x), out_stride(os) {}
  template <class... L> static auto collect(const E& e, type_list<L...>) {
    const void* at_leaf[sizeof...(L) + 1];
    int k = 0;
    e.leaves([&](const auto& l) { at_leaf[k++] = &l; });
    return [&]<int... I>(std::integer_sequence<int, I...>) { return make_bundle(expr::keeping(*static_cast<const L*>(at_leaf[I]))...); }(
        std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{});
  }
  template <class... L> static auto untape_all(const bundle<L...>& l) {
    return [&]<int... I>(std::integer_sequence<int, I...>) { return make_bundle(untape_leaf(at<I>(l))...); }(std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{});
  }
  dims<R> shape() const {
    dims<R> s{};
    for (int d = 0; d < R; ++d) s[d] = extent[levels + d];
    return s;
  }
  // ---- values: one array an instruction -------------------------------------------------------------------------------
  template <int I, class In> struct value;
  template <int I, int K> struct value<I, ld<K>> { using type = std::remove_cvref_t<decltype(at<K>(std::declval<const typename with<leaf_list>::leaves&>()))>; };
  template <class A> struct solid { using type = leaf<storage_scalar_t<typename A::scalar>, A::rank>; };
  template <int I, class Op, int... J> struct value<I, ins<Op, J...>> {
    using type = typename solid<node<Op, typename value<J, at_t<J, typename prog::list>>::type...>>::type;
  };
  template <int I> using value_t = typename value<I, at_t<I, typename prog::list>>::type;
  template <class Seq> struct all_values;
  template <int... I> struct all_values<std::integer_sequence<int, I...>> { using type = bundle<value_t<I>...>; };
  static constexpr int M = prog::length;
  using values = typename all_values<std::make_integer_sequence<int, M>>::type;
  template <class A> static auto make_solid(const A& e) {
    using Q = storage_scalar_t<typename A::scalar>;
    const auto s = e.shape();
    return leaf<Q, A::rank>{statement_rule<Q>::evaluate(e, s).snap(), layout_map<A::rank>::row_major(s)};
  }
  template <int I, int K> void forward(values& v, ld<K>) const { at<I>(v) = at<K>(leaves); }
  template <int I, class Op, int... J> void forward(values& v, ins<Op, J...>) const {
    if constexpr (table.at[I].needed) at<I>(v) = make_solid(expr::make_node<Op>(std::remove_cvref_t<decltype(at<J>(v))>(at<J>(v))...));
  }
  // ---- adjoints: all of the statement's shape ---------------------------------------------------------------------------
  template <int I> using adjoint_t = leaf<reelem_t<P, elem_t<typename value_t<I>::scalar>>, R>;
  template <class Seq> struct all_adjoints;
  template <int... I> struct all_adjoints<std::integer_sequence<int, I...>> { using type = bundle<adjoint_t<I>...>; };
  using adjoints = typename all_adjoints<std::make_integer_sequence<int, M>>::type;

  template <int Root, class... Ins> void run(tape& t, program<Root, Ins...>) {
    [&]<int... I>(std::integer_sequence<int, I...>) {
      values v;
      (forward<I>(v, Ins{}), ...);
      adjoints a;
      at<Root>(a) = as_adjoint<Root>(cotangent(t));
      (back<M - 1 - I>(t, v, a, at_t<M - 1 - I, type_list<Ins...>>{}), ...);
    }(std::make_integer_sequence<int, M>{});
  }
  template <int I, class G> adjoint_t<I> as_adjoint(const G& g) const {
    using Q = typename adjoint_t<I>::scalar;
    const auto e = expr::operand<elem_t<Q>>(g);
    return {statement_rule<Q>::evaluate(e, shape()).snap(), layout_map<R>::row_major(shape())};
  }
  template <int I, int K> void back(tape& t, const values&, adjoints& a, ld<K>) {
    if constexpr (table.at[I].active) give(t, at<K>(taped_leaves), at<I>(a));
  }
  // One rule is one statement over placeholders, so that a value the rule reads several times is one leaf.
  static constexpr int rule_depth = 1 << 20;
  template <int K, class L> static auto placeholder(const L& l) { return let_arg<rule_depth, K, typename L::scalar, L::rank>{l.shape()}; }
  template <int I, class Op, int... J> void back(tape&, const values& v, adjoints& a, ins<Op, J...>) {
    if constexpr (table.at[I].active) {
      [&]<int... K>(std::integer_sequence<int, K...>) {
        const auto g = Op::partials(placeholder<K + 2>(at<J>(v))..., placeholder<1>(at<I>(v)));
        (push<I, K, Op>(a, at<K>(g), operand<I>(v), operand<J>(v)...), ...);
      }(std::make_integer_sequence<int, static_cast<int>(sizeof...(J))>{});
    }
  }
  template <int I> static auto operand(const values& v) {  // values that no rule reads were not computed
    if constexpr (table.at[I].needed) return at<I>(v);
    else return scalar_leaf<double>{0};
  }
  template <int I, int J, class Op, class G, class... V> void push(adjoints& a, const G& g, const V&... operand) {
    constexpr int c = table.at[I].operand[J];
    if constexpr (table.at[c].active) {
      auto body = sweeping::reverse_term<Op>(placeholder<0>(at<I>(a)), g);
      using Body = decltype(body);
      const let_node<rule_depth, Body, adjoint_t<I>, V...> d{make_bundle(at<I>(a), operand...), body};
      if constexpr (first[4 * I + J]) at<c>(a) = as_adjoint<c>(d);
      else at<c>(a) = as_adjoint<c>(expr::make_node<add_op>(adjoint_t<c>(at<c>(a)), expr::operand<elem_t<typename adjoint_t<c>::scalar>>(d)));
    }
  }
  // ---- between planes of adjoints and arrays ----------------------------------------------------------------------------
  /// The cotangent as an array of P; planes of duals outside the tape in reverse order (see run/back.hpp).
  leaf<P, R> cotangent(tape& t) {
    int q = vars - 1;
    leaf<P, R> ct{gather<S>(t, q), {0, shape(), {}}};
    for (int d = 0; d < R; ++d) ct.map.stride[d] = out_stride[levels + d];
    return ct;
  }
  template <class Q> snapshot<untaped_t<Q>> gather(tape& t, int& q) {
    if constexpr (is_var_v<Q>) return t.at<X>(out[q--]).open().snap();
    else if constexpr (is_dual_v<Q>) {
      snapshot<untaped_t<Q>> r;
      r.value = gather<inner_t<Q>>(t, q);
      r.tangent[0] = gather<inner_t<Q>>(t, q);
      return r;
    } else {
      index_t n = 1;  // elements of one example of the result
      for (int d = 0; d < R; ++d)
        if (out_stride[levels + d] != 0) n *= extent[levels + d];
      for (int d = batch_levels_v<Q>; d < levels; ++d) n *= extent[d];  // newer batch axes lie inside an example
      return {gather<inner_t<Q>>(t, q), extent[batch_levels_v<Q> - 1], n};
    }
  }
  template <int Own> struct giver {  // Own: axes of the leaf itself
    nested_statement_node& node;
    tape& t;
    const leaf<P, R>& g;
    int& k;
    void scalar(const auto& s) const {
      const auto part = plane_of<P>(g, vars - 1 - k++);
      if (!s.active()) return;
      constexpr int D = decltype(part.map.extent)::size();
      axis_set<D> every;
      for (bool& r : every.reduced) r = true;
      const X total = sum_rule<X>::template evaluate<false>(part, part.map.extent, every).scalar();
      add_adjoint<X>(t, s.ref(), total);
    }
    template <int Q> void array(token_ptr slot, const layout_map<Q>& m) const {
      const auto part = plane_of<P>(g, vars - 1 - k++);
      if (!slot) return;
      constexpr int D = decltype(part.map.extent)::size(), outer = Q - Own;  // batch axes outside the tape lead both
      layout_map<D> w{m.offset, part.map.extent, {}};
      for (int d = 0; d < outer; ++d) {
        w.stride[d] = m.extent[d] == 1 ? 0 : m.stride[d];
        if (m.extent[d] > w.extent[d]) w.extent[d] = m.extent[d];  // a gradient that is the same for every example
      }
      for (int d = 0; d < Own; ++d) w.stride[D - Own + d] = m.extent[outer + d] == 1 ? 0 : m.stride[outer + d];
      accumulate<X, D>(t, slot->id, w, part);
    }
  };
  template <class L> void give(tape& t, const L& l, const leaf<P, R>& g) {
    int k = 0;
    each_taped(l, giver<L::rank>{*this, t, g, k});
  }
  /// Plane k (in plane order of the duals outside the tape) as an array of X; batch axes outside the tape become axes.
  template <class Q, int D> static auto plane_of(const leaf<Q, D>& g, int k) {
    if constexpr (is_same_chain<Q, X>()) {
      static_cast<void>(k);
      return leaf<X, D>{g.data, g.map};
    } else if constexpr (is_dual_v<Q>) {
      constexpr int inner = duals_outside<inner_t<Q>>();
      return plane_of(leaf<inner_t<Q>, D>{k < inner ? g.data.value : g.data.tangent[0], g.map}, k % inner);
    } else {
      return plane_of(value_leaf(g), k);
    }
  }
  template <class Q, class Z> static constexpr bool is_same_chain() { return depth_v<Q> == depth_v<Z>; }
  template <class Q> static constexpr int duals_outside() {
    if constexpr (depth_v<Q> == depth_v<X>) return 1;
    else if constexpr (is_dual_v<Q>) return 2 * duals_outside<inner_t<Q>>();
    else return duals_outside<inner_t<Q>>();
  }
};

}  // namespace ad
TTENSOR_END
