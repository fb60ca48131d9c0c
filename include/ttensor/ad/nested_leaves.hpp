// What reverse over reverse does with the operands of a statement: a statement as its flat program, leaves that somebody else
// keeps, leaves with a tangent beside them, and leaves with one tape less or more kinds of scalar around them.
#pragma once
#include "backward.hpp"

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
// ---- leaves whose elements somebody else keeps: they are copied and dropped for nothing ------------------------------------
template <class S, int R> leaf<S, R, false> borrowed_leaf(const leaf<S, R>& l) { return {l.data.borrowed(), l.map}; }
template <class L> const L& borrowed_leaf(const L& l) { return l; }  // elements by value

/// A leaf and its tangent, which lies elsewhere: a leaf of duals. Constant: the tangent is not on the newest tape of V.
template <class V, class U, bool Constant> struct lifted_leaf {
  using ttensor_expression = void;
  using scalar = dual<typename U::scalar, 1>;  // the value may be a scalar without the mapped levels of the tangent
  static constexpr int rank = V::rank, holds = 0;
  V value;
  U tangent;
  auto shape() const { return value.shape(); }
  template <bool IsConstant, class F> auto with(const F& f) const {  // f of both
    auto v = f(value);
    auto u = f(tangent);
    return lifted_leaf<decltype(v), decltype(u), IsConstant>{v, u};
  }
  template <class F> void planes(F&& f) const {
    value.planes([&]<class T, int Q>(std::type_identity<T> t, const plane<Q>& p) {
      constexpr int full = rank + batch_levels_v<scalar>, own = Q - rank;
      plane<full> q{p.ptr, {}, {}, p.holder};
      for (int d = 0; d < full; ++d) q.extent[d] = 1;
      for (int d = 0; d < Q; ++d) q.extent[d < own ? d : full - Q + d] = p.extent[d], q.stride[d < own ? d : full - Q + d] = p.stride[d];
      f(t, q);
    });
    tangent.planes(f);
  }
};
template <class V, class U, bool Constant> auto borrowed_leaf(const lifted_leaf<V, U, Constant>& l) {
  return l.template with<Constant>([](const auto& part) { return borrowed_leaf(part); });
}
template <class L> auto kept_leaf(const L& l) { return expr::keeping(l); }
template <class S, int R, bool O> leaf<S, R> kept_leaf(const leaf<S, R, O>& l) { return lasting(leaf<S, R>(expr::keeping(l))); }
template <class V, class U, bool Constant> auto kept_leaf(const lifted_leaf<V, U, Constant>& l) {
  return l.template with<Constant>([](const auto& part) { return kept_leaf(part); });
}
template <class V, class U, bool Constant> struct taped_planes<lifted_leaf<V, U, Constant>> {
  static constexpr int count = (Constant ? 1 : 2) * taped_planes<V>::count;
};
template <class V, class U, bool Constant, class F> void each_taped(const lifted_leaf<V, U, Constant>& l, F&& f) {
  each_taped(l.value, f);
  if constexpr (!Constant) each_taped(l.tangent, f);
}
template <class V, class U, bool Constant> auto untape_leaf(const lifted_leaf<V, U, Constant>& l) {
  return l.template with<false>([](const auto& part) { return untape_leaf(part); });
}

// ---- the second newest tape off a leaf: the statement as the newest tape alone records it -------------------------------
template <class S> struct without_older { using type = S; };
template <class S> using without_older_t = typename without_older<S>::type;
template <class X> struct without_older<var<X>> { using type = var<untaped_t<X>>; };
template <class T, int N> struct without_older<dual<T, N>> { using type = dual<without_older_t<T>, N>; };
template <class T> struct without_older<batched<T>> { using type = batched<without_older_t<T>>; };
struct value_of_older {
  template <class X, bool O> snapshot<var<untaped_t<X>>, O> operator()(const snapshot<var<X>, O>& s) const {
    return {untape(s.value), s.slot};
  }
  template <class X> var<untaped_t<X>> operator()(const var<X>& v) const { return {untape(v.value()), v.serial(), v.ref()}; }
};
template <class L> const L& drop_older_leaf(const L& l) { return l; }  // of numbers
template <class S, int R> auto drop_older_leaf(const leaf<S, R, false>& l) {
  if constexpr (can_carry<leaf<S, R>>())
    return leaf<without_older_t<S>, R, false>{on_taped<without_older_t<S>>(l.data, value_of_older{}), l.map};
  else return l;
}
template <class S> auto drop_older_leaf(const scalar_leaf<S>& l) {
  if constexpr (can_carry<scalar_leaf<S>>())
    return scalar_leaf<without_older_t<S>>{on_taped<without_older_t<S>>(l.value, value_of_older{})};
  else return l;
}
template <class V, class U, bool Constant> auto drop_older_leaf(const lifted_leaf<V, U, Constant>& l) {
  return l.template with<Constant>([](const auto& part) { return drop_older_leaf(part); });
}
/// The statement of scalar Z with other leaves: f of each.
template <class Z, class S, int R, class Prog, class... L, class Fn>
auto same_program(const flat_statement<S, R, Prog, L...>& e, const Fn& f) {
  return flat_statement<Z, R, Prog, std::remove_cvref_t<decltype(f(std::declval<const L&>()))>...>{
      spread([&](const L&... l) { return make_bundle(f(l)...); }, e.loads)};
}

/// An array of scalars S out of what next() gives for its taped planes, in plane order: arrays of var<X> if Keep, else of X.
/// extent(n): extents of the next n planes over all axes, batch axes first.
template <class S, bool Keep, class Next, class Extent> auto of_planes(Next& next, const Extent& extent, int rank) {
  using Q = std::conditional_t<Keep, S, untaped_t<S>>;
  if constexpr (is_var_v<S>) {
    return snapshot<Q, false>(next());
  } else if constexpr (is_dual_v<S>) {
    snapshot<Q, false> r;
    r.value = of_planes<inner_t<S>, Keep>(next, extent, rank);
    for (int k = 0; k < r.tangent.size(); ++k) r.tangent[k] = of_planes<inner_t<S>, Keep>(next, extent, rank);
    return r;
  } else {
    const index_t* x = extent(taped<S>::vars);
    index_t n = 1;  // newer batch axes lie inside an example
    for (int d = batch_levels_v<S>; d < rank; ++d) n *= x[d];
    return snapshot<Q, false>{of_planes<inner_t<S>, Keep>(next, extent, rank), x[batch_levels_v<S> - 1], n};
  }
}
/// The same array as scalars S of more kinds: tangents are null, that is zero, and no example differs.
template <class S, class A> snapshot<S, false> with_kinds(const snapshot<A, false>& s) {
  if constexpr (std::is_same_v<S, A>) {
    return s;
  } else if constexpr (is_dual_v<S>) {
    snapshot<S, false> r{};
    r.value = with_kinds<inner_t<S>>(s);
    return r;
  } else {
    return {with_kinds<inner_t<S>>(s), 1, 0};
  }
}
template <class P, class S, int R> auto with_kinds_of(const leaf<S, R, false>& l) {
  using Q = reelem_t<P, elem_t<S>>;
  return leaf<Q, R, false>{with_kinds<Q>(l.data), l.map};
}
/// A scalar gets the duals only: to map it is to write it into an array, which its tape would have to record.
template <class P, class S> struct with_duals { using type = S; };
template <class P, class S> using with_duals_t = typename with_duals<P, S>::type;
template <class T, int N, class S> requires(depth_v<T> >= depth_v<S>) struct with_duals<dual<T, N>, S> {
  using type = dual<with_duals_t<T, S>, N>;
};
template <class T, class S> requires(depth_v<T> >= depth_v<S>) struct with_duals<batched<T>, S> : with_duals<T, S> {};
template <class P, class S> auto with_kinds_of(const scalar_leaf<S>& l) {
  using Q = with_duals_t<reelem_t<P, elem_t<S>>, S>;
  return scalar_leaf<Q>{Q(l.value)};
}
template <class P, class V, class U, bool Constant> auto with_kinds_of(const lifted_leaf<V, U, Constant>& l) { return l; }
}  // namespace ad

namespace lowering {
template <class S, int R, class Prog, class... L> struct leaves_of<ad::flat_statement<S, R, Prog, L...>> { using type = type_list<L...>; };
template <class S, int R, class Prog, class... L> struct program_of<ad::flat_statement<S, R, Prog, L...>> { using type = Prog; };
}  // namespace lowering
TTENSOR_END
