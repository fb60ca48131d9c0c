// Reverse over reverse. The backward pass of a statement y = f(x), that is g = c f'(x) for a cotangent c, is recorded on the
// older tapes as one node, and that node needs no rules of its own: for an adjoint u of g
//
//   u g  =  u c f'(x)  =  D_u (c f(x)),   the tangent of c f(x + eps u),
//
// so its backward pass is the fused backward loop of the statement c * f in dual arithmetic, which gives c f''(x) u for x and
// f'(x) u for c (run/back.hpp: in reverse plane order). The same again for the next order. Nobody who never nests reverse
// mode instantiates any of it.
#pragma once
#include "array_rule.hpp"

TTENSOR_BEGIN
namespace ad {

/// A statement of scalar S as its flat program and the leaves it loads, in slot order.
template <class S, int R, class Prog, class... L> struct flat_statement {
  using scalar = S;
  static constexpr int rank = R;
  bundle<L...> loads;
  template <class F> void leaves(F&& f) const {
    static_for<static_cast<int>(sizeof...(L))>([&](auto i) { f(at<i()>(loads)); });
  }
};
/// A leaf and its tangent, which lies elsewhere: a leaf of duals. Constant: the tangent is not on the newest tape of V.
template <class V, class U, bool Constant> struct lifted_leaf {
  using ttensor_expression = void;
  using scalar = dual<typename V::scalar, 1>;
  static constexpr int rank = V::rank, holds = 0;
  V value;
  U tangent;
  auto shape() const { return value.shape(); }
  template <class F> void planes(F&& f) const {
    value.planes(f);
    tangent.planes(f);
  }
};
template <class V, class U, bool Constant> struct taped_planes<lifted_leaf<V, U, Constant>> {
  static constexpr int count = (Constant ? 1 : 2) * taped_planes<V>::count;
};
template <class V, class U, bool Constant, class F> void each_taped(const lifted_leaf<V, U, Constant>& l, F&& f) {
  each_taped(l.value, f);
  if constexpr (!Constant) each_taped(l.tangent, f);
}
template <class V, class U, bool Constant> auto untape_leaf(const lifted_leaf<V, U, Constant>& l) {
  auto v = untape_leaf(l.value);
  auto u = untape_leaf(l.tangent);
  return lifted_leaf<decltype(v), decltype(u), false>{v, u};
}

// ---- the second newest tape off a leaf: the statement as the newest tape alone records it -------------------------------
template <class S> struct without_older { using type = S; };
template <class S> using without_older_t = typename without_older<S>::type;
template <class X> struct without_older<var<X>> { using type = var<untaped_t<X>>; };
template <class T, int N> struct without_older<dual<T, N>> { using type = dual<without_older_t<T>, N>; };
template <class T> struct without_older<batched<T>> { using type = batched<without_older_t<T>>; };
template <class X> snapshot<var<untaped_t<X>>> drop_older(const snapshot<var<X>>& s) { return {untape(s.value), s.slot}; }
template <class T, int N> auto drop_older(const snapshot<dual<T, N>>& s) {
  snapshot<dual<without_older_t<T>, N>> r;
  r.value = drop_older(s.value);
  for (int k = 0; k < N; ++k) r.tangent[k] = drop_older(s.tangent[k]);
  return r;
}
template <class T> snapshot<batched<without_older_t<T>>> drop_older(const snapshot<batched<T>>& s) { return {drop_older(s.inner), s.batch, s.size}; }
template <class X> var<untaped_t<X>> drop_older(const var<X>& v) { return {untape_scalar(v.value()), v.serial(), v.ref(), false}; }
template <class T, int N> auto drop_older(const dual<T, N>& s) {
  dual<without_older_t<T>, N> r;
  r.value = drop_older(s.value);
  for (int k = 0; k < N; ++k) r.tangent_at(k) = drop_older(s.tangent_at(k));
  return r;
}
template <class T> batched<without_older_t<T>> drop_older(const batched<T>& s) {
  using S = batched<without_older_t<T>>;
  return S(store<S>::over(drop_older(s.elements().snap()), s.elements().size()));
}
template <class S, int R> auto drop_older_leaf(const leaf<S, R>& l) {
  if constexpr (can_carry<leaf<S, R>>()) return leaf<without_older_t<S>, R>{drop_older(l.data), l.map};
  else return l;
}
template <class S> auto drop_older_leaf(const scalar_leaf<S>& l) {
  if constexpr (can_carry<scalar_leaf<S>>()) return scalar_leaf<without_older_t<S>>{drop_older(l.value)};
  else return l;
}
template <class V, class U, bool Constant> auto drop_older_leaf(const lifted_leaf<V, U, Constant>& l) {
  auto v = drop_older_leaf(l.value);
  auto u = drop_older_leaf(l.tangent);
  return lifted_leaf<decltype(v), decltype(u), Constant>{v, u};
}
/// The statement of scalar Z with other leaves: f of each.
template <class Z, class S, int R, class Prog, class... L, class Fn> auto same_program(const flat_statement<S, R, Prog, L...>& e, const Fn& f) {
  return flat_statement<Z, R, Prog, decltype(f(std::declval<const L&>()))...>{spread([&](const L&... l) { return make_bundle(f(l)...); }, e.loads)};
}

// ---- gradients as arrays of their own -------------------------------------------------------------------------------------
/// The gradient of one taped plane of a leaf: elements shaped like the leaf, 1 along the axes on which it is broadcast.
template <int Full> struct gradient_part {
  bool taped = false;
  int same = -1;              // an earlier part at the same place in memory, which holds the sum of both
  back_target target;         // where the newest tape wants it
  dims<Full> extent, stride;  // over all axes; stride: of the target
};
/// Of one leaf: the stores of its gradients.
template <class L, class X> struct leaf_gradients {
  using scalar = reelem_t<X, elem_t<typename L::scalar>>;
  array<store<scalar>, taped_vars<L>()> of;
};
template <class F, class X> struct gradients;
template <class S, int R, class Prog, class... L, class X> struct gradients<flat_statement<S, R, Prog, L...>, X> {
  static constexpr int count = (taped_vars<L>() + ... + 0), full = R + batch_levels_v<S>, inner = batch_levels_v<X>;
  array<gradient_part<full>, count> part;
  bundle<leaf_gradients<L, X>...> leaf;
  /// f(store, part number) for every gradient there is.
  template <class Fn> void each(const Fn& f) {
    int k = 0;
    static_for<static_cast<int>(sizeof...(L))>([&](auto i) {
      for (auto& g : at<i()>(leaf).of) {
        if (part[k].taped && part[k].same < 0) f(g, k);
        ++k;
      }
    });
  }
};
/// Where the gradients of a record go on its tape; then the record is changed to add to arrays of their own.
template <int Full> TTENSOR_NOINLINE void describe(gradient_part<Full>* part, int count, const back_record& r, int inner) {
  for (int k = 0; k < count; ++k) {
    gradient_part<Full>& p = part[k];
    index_t* const stride = r.target_stride + k * Full;
    p.target = r.target[k];
    p.taped = p.target.id != 0 || p.target.scalar.valid();
    for (int d = 0; d < Full; ++d) p.stride[d] = stride[d], p.extent[d] = d >= inner && stride[d] != 0 ? r.extent[d] : 1;
    row_major(stride, p.extent.v, Full, inner);
    r.target[k].offset = 0;
    for (int o = 0; o < k && p.same < 0 && p.taped; ++o)
      if (part[o].taped && part[o].same < 0 && part[o].target.id == p.target.id && part[o].target.scalar.bits == p.target.scalar.bits &&
          part[o].target.offset == p.target.offset && part[o].stride == p.stride && part[o].extent == p.extent)
        p.same = o;
  }
}
template <class S, bool Seeded, class F> struct gradient_node;
/// Runs the backward loop of `e` for cotangents (null: zero) of its result, into arrays of their own. On every tape older than
/// the newest of S the gradients are recorded as one node. Seeded: the cotangents are constants.
template <class S, bool Seeded, class F, int Full>
void differentiate(const F& e, const dims<Full>& extent, const store<taped_t<S>>* const* cotangent, const index_t* out_stride, gradients<F, taped_t<S>>& to) {
  using X = taped_t<S>;
  constexpr int vars = taped<S>::vars;
  if constexpr (!has_var_v<X>) {
    using G = gradients<F, X>;
    statement_record<S, F> r(e, extent);
    describe(to.part.v, G::count, r.view(), G::inner);
    constexpr auto slots_of = []<class... A>(type_list<bundle<A...>>) { return std::type_identity<bundle<array<adjoint_slot<typename A::scalar>, decltype(A::of)::size()>...>>{}; };
    typename decltype(slots_of(type_list<decltype(to.leaf)>{}))::type slots;
    slot_base *ct[vars], *target[G::count + 1];
    adjoint_slot<X> seed[vars];
    for (int k = 0; k < vars; ++k) {
      ct[k] = cotangent[k] ? &seed[k] : nullptr;
      if (!cotangent[k]) continue;
      seed[k].adjoint = *cotangent[k];
      seed[k].size = cotangent[k]->size();
      seed[k].live = true;
    }
    int k = 0;
    static_for<decltype(slots)::size>([&](auto i) {
      for (auto& s : at<i()>(slots)) {
        s.size = shape::size(to.part[k].extent);
        target[k] = !to.part[k].taped ? nullptr : to.part[k].same < 0 ? &s : target[to.part[k].same];
        ++k;
      }
    });
    run_back(statement_record<S, F>::layout, r.view(), ct, out_stride, target, nullptr);
    ++tapes::stats.backward_loops;
    k = 0;
    static_for<decltype(slots)::size>([&](auto i) {
      index_t n = 0;
      for (auto& s : at<i()>(slots)) {
        if (target[k] == &s) {
          const auto batch = s.adjoint.batch();
          for (int d = 0; d < G::inner; ++d) to.part[k].extent[d] = batch[d];
          at<i()>(to.leaf).of[n] = static_cast<decltype(s.adjoint)&&>(s.adjoint);
        }
        ++n, ++k;
      }
    });
  } else {
    using Z = without_older_t<S>;
    using W = taped_t<Z>;
    const auto older = same_program<Z>(e, [](const auto& l) { return drop_older_leaf(l); });
    gradients<std::remove_cvref_t<decltype(older)>, W> values;
    store<W> ct[vars];
    const store<W>* at_ct[vars];
    for (int k = 0; k < vars; ++k) {
      if (cotangent[k]) ct[k] = store<W>::over(untape(cotangent[k]->snap()), cotangent[k]->size());
      at_ct[k] = cotangent[k] ? &ct[k] : nullptr;
    }
    differentiate<Z, Seeded>(older, extent, at_ct, out_stride, values);
    to.part = values.part;
    static_for<decltype(to.leaf)::size>([&](auto i) {
      auto* from = at<i()>(values.leaf).of.begin();
      for (auto& g : at<i()>(to.leaf).of) {
        if (from->valid()) g = retape<typename std::remove_cvref_t<decltype(g)>::S>(static_cast<std::remove_cvref_t<decltype(*from)>&&>(*from));
        ++from;
      }
    });
    gradient_node<S, Seeded, F>::record(e, extent, cotangent, out_stride, to);
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
    constexpr int vars = taped<S>::vars;
    const store<X>* ct[vars];
    for (int k = 0; k < vars; ++k) ct[k] = cotangent[k] ? &static_cast<adjoint_slot<X>*>(cotangent[k])->adjoint : nullptr;
    gradients<F, X> g;
    differentiate<S, Seeded>(e, extent, ct, out_stride, g);
    g.each([&]<class G>(store<G>& from, int k) { add_part(t, from, g.part[k]); });
  }
}
template <class X, int Full> void add_part(tape& t, store<X>& g, const gradient_part<Full>& p) {
  constexpr int inner = batch_levels_v<X>, D = Full - inner;
  if (p.target.id == 0) return add_adjoint<X>(t, p.target.scalar, g.scalar());
  layout_map<D> m{p.target.offset, {}, {}};
  for (int d = 0; d < D; ++d) m.extent[d] = p.extent[inner + d], m.stride[d] = p.stride[inner + d];
  adjoint_slot<X>& s = t.at<X>(p.target.id);
  if (!s.live && m.offset == 0 && g.size() == s.size && shape::is_row_major(m.extent, m.stride)) {
    s.adjoint = static_cast<store<X>&&>(g);
    s.live = true;
  } else {
    accumulate<X, D>(t, p.target.id, m, leaf<X, D>{g.snap(), layout_map<D>::row_major(m.extent)});
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
/// An array of scalars S out of what next() gives for its taped planes, in plane order: arrays of var<X> if Keep, else of X.
/// extent: of all axes, batch axes first.
template <class S, bool Keep, class Next> auto of_planes(const index_t* extent, int rank, Next& next) {
  using Q = std::conditional_t<Keep, S, untaped_t<S>>;
  if constexpr (is_var_v<S>) {
    return snapshot<Q>(next());
  } else if constexpr (is_dual_v<S>) {
    snapshot<Q> r;
    r.value = of_planes<inner_t<S>, Keep>(extent, rank, next);
    r.tangent[0] = of_planes<inner_t<S>, Keep>(extent, rank, next);
    return r;
  } else {
    index_t n = 1;  // newer batch axes lie inside an example
    for (int d = batch_levels_v<S>; d < rank; ++d) n *= extent[d];
    return snapshot<Q>{of_planes<inner_t<S>, Keep>(extent, rank, next), extent[batch_levels_v<S> - 1], n};
  }
}
/// The same array as scalars S of more kinds: tangents are null, that is zero, and no example differs.
template <class S, class A> snapshot<S> with_kinds(const snapshot<A>& s) {
  if constexpr (std::is_same_v<S, A>) {
    return s;
  } else if constexpr (is_dual_v<S>) {
    snapshot<S> r{};
    r.value = with_kinds<inner_t<S>>(s);
    return r;
  } else {
    return {with_kinds<inner_t<S>>(s), 1, 0};
  }
}
template <class P, class S, int R> auto with_kinds_of(const leaf<S, R>& l) {
  using Q = reelem_t<P, elem_t<S>>;
  return leaf<Q, R>{with_kinds<Q>(l.data), l.map};
}
template <class P, class S> auto with_kinds_of(const scalar_leaf<S>& l) {
  using Q = reelem_t<P, elem_t<S>>;
  return scalar_leaf<Q>{Q(l.value)};
}
template <class P, class V, class U, bool Constant> auto with_kinds_of(const lifted_leaf<V, U, Constant>& l) { return l; }

/// The gradients of a statement as a function of its operands and cotangents, on the newest tape inside X.
template <class S, bool Seeded, int R, class Prog, class... L> struct gradient_node<S, Seeded, flat_statement<S, R, Prog, L...>> final : tape_node {
  using F = flat_statement<S, R, Prog, L...>;
  using X = taped_t<S>;
  using P = untaped_t<S>;
  using G = gradients<F, X>;
  static constexpr int levels = batch_levels_v<S>, full = levels + R, inner = batch_levels_v<X>, vars = taped<X>::vars;
  static_assert(of_one_elem<X, true>(type_list<L...>{}), "ttensor: a statement mixes a taped scalar with arrays of another element type; convert the scalar first, to<T>(s)");
  static_assert(of_one_field<X>(type_list<L...>{}), "ttensor: reverse mode over reverse mode does not go between real and complex; take forward over reverse, jvp(grad(f), z, v)");
  template <class A> static auto base(const A& l) {
    if constexpr (can_carry<A>()) return with_kinds_of<P>(untape_leaf(l));
    else return l;
  }
  using base_leaves = decltype(make_bundle(base(std::declval<const L&>())...));
  base_leaves leaves;
  leaf<P, R> cotangent;  // not if Seeded
  dims<full> extent;
  array<gradient_part<full>, G::count> part;
  std::uint32_t out[G::count * vars + 1] = {};  // slots of the gradients

  gradient_node(const base_leaves& l, const leaf<P, R>& ct, const dims<full>& x, const G& g) : leaves(l), cotangent(ct), extent(x), part(g.part) {}
  static void record(const F& e, const dims<full>& extent, const store<X>* const* ct, const index_t* out_stride, G& g) {
    const base_leaves l = spread([](const L&... a) { return make_bundle(base(a)...); }, e.loads);
    leaf<P, R> c{};
    if constexpr (!Seeded) {
      index_t one[full + 1];
      for (int d = 0; d < full; ++d) one[d] = d >= levels && out_stride[d] == 0 ? 1 : extent[d];
      int q = taped<S>::vars;  // planes of duals outside the tape in reverse order (run/back.hpp)
      auto next = [&] { return ct[--q] ? ct[q]->snap() : snapshot<X>{}; };
      c.data = of_planes<S, false>(one, full, next);
      for (int d = 0; d < R; ++d) c.map.extent[d] = extent[levels + d], c.map.stride[d] = out_stride[levels + d];
    }
    std::uint64_t serial = 0;
    bool mixed = false;
    auto look = [&]<class A>(const A& a) {
      if constexpr (can_carry<A>()) each_taped(a, serial_finder{serial, mixed});
    };
    static_for<static_cast<int>(sizeof...(L))>([&](auto i) { look(at<i()>(l)); });
    if constexpr (!Seeded) look(c);
    serial = checked_serial(serial, mixed);
    if (serial == 0) return;
    tape& t = tape::find(serial);
    auto& n = t.push<gradient_node>(l, c, extent, g);
    g.each([&](auto& from, int k) {
      std::uint32_t* id = n.out + k * vars;
      each_var(from, [&]<class Y>(store<var<Y>>& v) {
        *id = t.new_slot<Y>(v.size());
        v.set_slot(token_ref(serial, *id++));
      });
    });
    n.part = g.part;
  }
  void backward(tape& t) override {
    using P2 = dual<P, 1>;
    bool any = false;
    for (std::uint32_t id : out) any = any || (id && t.slot(id).live);
    if (!any) return;
    adjoint_slot<taped_t<P2>> one;
    one.size = 1;
    one.adjoint = store<taped_t<P2>>::make(1);
    one.adjoint.set(0, taped_t<P2>(1));
    one.live = true;
    slot_base* ct[taped<P2>::vars] = {};
    ct[taped<P2>::vars - 1] = &one;  // the tangent of the product: the last plane
    const dims<full> none{};
    [&]<int... I>(std::integer_sequence<int, I...>) {
      if constexpr (Seeded) {
        pull<P2, true>(t, statement<P2, Prog>(lifted<I>(t)...), extent, ct, none.v);
      } else {
        using times = typename times_cotangent<Prog, static_cast<int>(sizeof...(L)), is_complex_v<elem_t<S>>>::type;
        pull<P2, true>(t, statement<P2, times>(lifted<I>(t)..., cotangent), extent, ct, none.v);
      }
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{});
    for (std::uint32_t id : out)
      if (id) t.slot(id).drop();
  }

 private:
  template <class Z, class Program, class... A> static flat_statement<Z, R, Program, A...> statement(const A&... a) { return {make_bundle(a...)}; }
  template <int I> auto lifted(tape& t) const {
    using A = at_t<I, type_list<L...>>;
    const auto& v = at<I>(leaves);
    if constexpr (!can_carry<A>()) {
      return v;
    } else {
      using Q = untaped_t<typename A::scalar>;
      using Y = taped_t<Q>;
      constexpr int planes = taped_vars<A>(), rank = A::rank;
      constexpr int first = [] {
        const int n[] = {taped_vars<L>()...};
        int k = 0;
        for (int i = 0; i < I; ++i) k += n[i];
        return k;
      }();
      const dims<full>* x = &part[first].extent;
      for (int d = 0; d < planes; ++d)
        if (part[first + d].taped) x = &part[kept(first + d)].extent;
      int k = 0;
      auto next = [&] {  // adjoints in reverse plane order of the duals inside X
        const int d = k / vars, q = vars - 1 - k % vars;
        ++k;
        snapshot<var<Y>> s{};
        if (d >= planes) return s;  // the tangent of a lifted leaf
        const std::uint32_t id = out[kept(first + d) * vars + q];
        if (id && t.slot(id).live) s.value = t.at<Y>(id).adjoint.snap();
        return s;
      };
      leaf<Q, rank> u{of_planes<Q, true>(x->v, full, next), {}};
      for (int d = 0; d < rank; ++d) u.map.extent[d] = (*x)[full - rank + d];
      u.map = layout_map<rank>::row_major(u.map.extent);
      auto w = with_kinds_of<P>(u);
      return lifted_leaf<std::remove_cvref_t<decltype(v)>, decltype(w), true>{v, w};
    }
  }
  int kept(int k) const { return part[k].same < 0 ? k : part[k].same; }
};

/// A statement over several tapes, on the newest.
template <class S, class F> struct nested_node;
template <class S, int R, class Prog, class... L> struct nested_node<S, flat_statement<S, R, Prog, L...>> final : tape_node {
  static constexpr int vars = taped<S>::vars, full = R + batch_levels_v<S>;
  flat_statement<S, R, Prog, L...> e;
  dims<full> extent, out_stride;
  std::uint32_t out[vars];
  template <class E> nested_node(const E& statement, const dims<full>& x, const dims<full>& os)
      : nested_node(statement, leaves_of_t<E>{}, std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{}, x, os) {}
  void backward(tape& t) override {
    slot_base* ct[vars];
    if (!live_slots(t, out, vars, ct)) return;
    pull<S, false>(t, e, extent, ct, out_stride.v);
    for (std::uint32_t id : out) t.slot(id).drop();
  }

 private:
  template <class E, class... A, int... I>
  nested_node(const E& statement, type_list<A...>, std::integer_sequence<int, I...>, const dims<full>& x, const dims<full>& os) : e(taken<A...>(statement, std::integer_sequence<int, I...>{})), extent(x), out_stride(os) {}
  template <class... A, class E, int... I> static flat_statement<S, R, Prog, L...> taken(const E& statement, std::integer_sequence<int, I...>) {
    const void* leaf[sizeof...(A) + 1];
    int k = 0;
    statement.leaves([&](const auto& l) { leaf[k++] = &l; });
    return {make_bundle(expr::keeping(*static_cast<const A*>(leaf[I]))...)};
  }
};
template <class S, class E, class List = leaves_of_t<E>> struct nested_node_type;
template <class S, class E, class... L> struct nested_node_type<S, E, type_list<L...>> {
  using type = nested_node<S, flat_statement<S, E::rank, program_of<E>, std::remove_cvref_t<decltype(expr::keeping(std::declval<const L&>()))>...>>;
};
template <class S, class E> struct nested_node_of : nested_node_type<S, E> {};

}  // namespace ad

namespace lowering {
template <class S, int R, class Prog, class... L> struct leaves_of<ad::flat_statement<S, R, Prog, L...>> { using type = type_list<L...>; };
template <class S, int R, int Root, class... Ins, class... L> struct lower<ad::flat_statement<S, R, program<Root, Ins...>, L...>> {
  template <class List, int Slots> static constexpr auto run() { return state<type_list<Ins...>, static_cast<int>(sizeof...(L)), Root>{}; }
};
}  // namespace lowering
TTENSOR_END
