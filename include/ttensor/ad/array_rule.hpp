// Array operators in every kind of scalar: duals add jvp terms, tapes push one node that calls vjp, batches call batched().
#pragma once
#include "../ops/complex.hpp"
#include "../tensor/array_op.hpp"
#include "add_region.hpp"
#include "batched.hpp"
#include "record.hpp"

TTENSOR_BEGIN

namespace ad {
// ---- one kind off a leaf ---------------------------------------------------------------------------------------------
template <class X, int R> leaf<X, R> value_leaf(const leaf<var<X>, R>& l) { return {l.data.value, l.map}; }
template <class X, int N, int R> leaf<X, R> value_leaf(const leaf<dual<X, N>, R>& l) { return {l.data.value, l.map}; }
template <class X, class W, int R> leaf<X, R + 1> value_leaf(const leaf<basic_batched<X, W>, R>& l) {
  return {l.data.inner, l.map.led_by(l.data.batch, l.data.size)};
}
/// The operand as the rule below the kind K sees it: its value if it has the kind, itself if it is older.
template <class K, class S, int R> auto below(const leaf<S, R>& l) {
  if constexpr (depth_v<S> == depth_v<K> && is_differentiable_v<elem_t<S>>) return value_leaf(l);
  else return l;
}
template <class K, class L> inline constexpr bool has_kind_v =
    depth_v<typename L::scalar> == depth_v<K> && is_differentiable_v<elem_t<typename L::scalar>>;

/// The elements of what a rule gives.
template <class X, class G> store<X> elements_of(const G& g) {
  const auto e = as_expression(g);
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(e)>, leaf<X, rank_v<G>>>) return store_of(e);
  else return statement_rule<X>::evaluate(expr::operand<elem_t<X>>(e), e.shape());
}
/// Adds an array to the whole of a slot that something was added to before.
template <class X, int R> TTENSOR_NOINLINE void add_whole(adjoint_slot<X>& s, const leaf<X, R>& e) {
  if constexpr (depth_v<X> == 0)
    if (shape::is_row_major(e.map.extent, e.map.stride)) {
      own_memory(s.adjoint);
      return run::back_detail::add<X>(reinterpret_cast<char*>(s.adjoint.memory()), reinterpret_cast<const char*>(e.data.base + e.map.offset), s.size);
    }
  add_to<X>(s.adjoint, region::line(s.size), store_of(e), region::line(s.size));
}
/// slot += g, where g has the shape of a leaf that lies in the slot by `map`; broadcast axes are summed.
template <class X, int R, class G> void accumulate(tape& t, std::uint32_t id, const layout_map<R>& map, const G& g) {
  adjoint_slot<X>& s = t.at<X>(id);
  axis_set<R> broadcast;
  bool any = false;
  layout_map<R> m = map;
  for (int d = 0; d < R; ++d)
    if (map.stride[d] == 0 && map.extent[d] != 1) broadcast.reduced[d] = any = true, m.extent[d] = 1;
  if (any) {
    const auto e = as_expression(g);
    store<X> summed = sum_rule<X>::template evaluate<true>(e, map.extent, broadcast);
    return accumulate<X, R>(t, id, m, leaf<X, R>{summed.snap(), layout_map<R>::row_major(m.extent)});
  }
  const auto e = as_expression(g);
  const bool whole = m.offset == 0 && shape::is_row_major(m.extent, m.stride) && shape::size(m.extent) == s.size;
  if (!s.live && whole) return s.set(elements_of<X>(e));
  if constexpr (!has_var_v<X> && std::is_same_v<std::remove_cvref_t<decltype(e)>, leaf<X, R>>)
    if (whole) return add_whole<X>(s, e);
  s.open(batch_of<X>(e));
  auto total = expr::make_node<add_op>(leaf<X, R>{s.adjoint.snap(), m}, expr::operand<elem_t<X>>(e));
  statement_rule<X>::assign_region(s.adjoint, m, total);
}

/// The operands of a vjp rule. The rules are those of real numbers; of f with f(conj z) = conj f(z), which all of ours are, they give
/// the adjoint of f'(z) when the operands are conjugated.
template <class L> decltype(auto) conjugate(const L& l) {
  if constexpr (is_complex_v<elem_t<typename L::scalar>>) {
    using S = typename L::scalar;
    return leaf<S, L::rank>{statement_rule<S>::evaluate(apply<conj_op>(l), l.shape()).snap(), layout_map<L::rank>::row_major(l.shape())};
  } else {
    return (l);
  }
}
template <class X, class Op, class Y, class... L> struct array_node final : tape_node {
  Op op;
  Y y;
  bundle<decltype(below<var<X>>(std::declval<const L&>()))...> args;
  std::uint32_t target[sizeof...(L)] = {};  // slots of the operands, or 0
  std::uint32_t out = 0;
  array_node(const Op& o, const Y& value, const L&... a) : op(o), y(value), args(make_bundle(lasting(below<var<X>>(a))...)) {
    int k = 0;
    auto one = [&](const auto& l) {
      if constexpr (has_kind_v<var<X>, std::remove_cvref_t<decltype(l)>>)
        if (l.data.slot) target[k] = l.data.slot->id;
      ++k;
    };
    (one(a), ...);
  }
  void backward(tape& t) override {
    adjoint_slot<X>& s = t.at<X>(out);
    if (!s.live) return;
    const leaf<X, rank_v<Y>> ct{s.adjoint.snap(), layout_map<rank_v<Y>>::row_major(y.map.extent)};
    [&]<int... I>(std::integer_sequence<int, I...>) {
      (one<I>(t, ct), ...);
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{});
    s.drop();
  }
  template <int I, class Ct> void one(tape& t, const Ct& ct) {
    if constexpr (has_kind_v<var<X>, at_t<I, type_list<L...>>>) {
      if (target[I] == 0) return;
      [&]<int... J>(std::integer_sequence<int, J...>) {
        accumulate<X>(t, target[I], at<I>(args).map, op.template vjp<I>(ct, conjugate(y), conjugate(at<J>(args))...));
      }(std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{});
    }
  }
};
}  // namespace ad

template <class X> struct array_rule<var<X>> {
  using K = var<X>;
  template <class Op, class... L> static auto apply(const Op& op, const L&... a) {
    auto y = apply_array(op, ad::below<K>(a)...);
    using Y = decltype(y);
    constexpr int R = rank_v<Y>;
    if constexpr (!is_differentiable_v<elem_t<typename Y::scalar>>) {
      return y;
    } else {
      store<var<X>> s(y.elements().alias(), {});
      ad::serial_finder finder;
      auto look = [&](const auto& l) {
        if constexpr (ad::has_kind_v<K, std::remove_cvref_t<decltype(l)>>) finder.array(l.data.slot, l.map);
      };
      (look(a), ...);
      if (const std::uint64_t serial = finder.checked()) {
        tape& t = tapes::of<X>(serial);
        std::uint32_t out;  // first, as memory may fail
        ad::give_slots(t, s, &out);
        t.push<ad::array_node<X, Op, leaf<X, R>, L...>>(op, y.as_leaf(), a...).out = out;
      }
      return tensor<var<X>, R>(static_cast<store<var<X>>&&>(s), y.shape());
    }
  }
};

template <class X, int N> struct array_rule<dual<X, N>> {
  using K = dual<X, N>;
  template <class Op, class... L> static auto apply(const Op& op, const L&... a) {
    if constexpr ((ad::has_kind_v<K, L> && ...) && requires { op.jvp_of_all(dx(0, a)..., ad::value_leaf(a)...); })
      return in_one(op, a...);
    else return one_by_one(op, a...);
  }

 private:
  template <int R> static leaf<X, R> dx(int k, const leaf<K, R>& l) { return {l.data.tangent[k], l.map}; }
  /// An operator that gives the sum of all terms in one array.
  template <class Op, class... L> static auto in_one(const Op& op, const L&... a) {
    return [&](const auto&... v) {
      auto y = op.primal(v...);
      const auto shape = y.shape();
      store<K> s;
      for (int k = 0; k < N; ++k) s.tangent_[k] = op.jvp_of_all(dx(k, a)..., v...).release();
      s.value_ = std::move(y).release();
      TTENSOR_DUAL_CALL(level_calls::met<K, K> calls; (calls.look(a), ...); calls.give(s);)
      return tensor<K, shape.size()>(static_cast<store<K>&&>(s), shape);
    }(ad::value_leaf(a)...);
  }
  template <class Op, class... L> static auto one_by_one(const Op& op, const L&... a) {
    auto y = apply_array(op, ad::below<K>(a)...);
    using Y = decltype(y);
    constexpr int R = rank_v<Y>;
    if constexpr (!is_differentiable_v<elem_t<typename Y::scalar>>) {
      return y;
    } else {
      store<dual<X, N>> s;
      const auto yl = y.as_leaf();
      for (int k = 0; k < N; ++k)
        s.tangent_[k] = tangent(op, k, yl, std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{}, a...);
      s.value_ = y.elements().alias();
      TTENSOR_DUAL_CALL(level_calls::met<K, K> calls; (calls.look(a), ...); calls.give(s);)
      return tensor<dual<X, N>, R>(static_cast<store<dual<X, N>>&&>(s), y.shape());
    }
  }
  template <class Op, class Y, int... I, class... L>
  static store<X> tangent(const Op& op, int k, const Y& y, std::integer_sequence<int, I...>, const L&... a) {
    store<X> total;
    auto one = [&]<int J>(std::integral_constant<int, J>, const auto& l) {
      if constexpr (ad::has_kind_v<K, std::remove_cvref_t<decltype(l)>>) {
        store<X> term = ad::elements_of<X>(op.template jvp<J>(dx(k, l), y, ad::below<K>(a)...));
        if (!total.valid()) total = static_cast<store<X>&&>(term);
        else ad::add_to<X>(total, ad::region::line(total.size()), term, ad::region::line(total.size()));
      }
    };
    (one(std::integral_constant<int, I>{}, a), ...);
    return total;
  }
};

template <class X, class W> struct array_rule<basic_batched<X, W>> {
  template <class Op, class... L> static auto apply(const Op& op, const L&... a) {
    auto y = apply_array(op.batched(), inner(a)...);
    using Y = decltype(y);
    using B = typename decltype(result<typename Y::scalar>())::type;
    constexpr int R = rank_v<Y> - 1;
    dims<R> e{};
    for (int d = 0; d < R; ++d) e[d] = y.shape()[d + 1];
    store<B> s(elements<inner_t<B>>(y.elements()), y.extent(0), shape::size(e));
    level_calls::met<batched<X>, B> calls;
    (calls.look(a), ...);
    calls.give(s);
    return tensor<B, R>(static_cast<store<B>&&>(s), e);
  }

 private:
  /// What elements Q are with the examples in front: at the level of a mapped integer they get what that notes.
  template <class Q> static constexpr auto result() {
    using Whole = reelem_t<basic_batched<X, W>, double>;
    if constexpr (!is_differentiable_v<elem_t<Q>>) return std::type_identity<storage_scalar_t<reelem_t<Whole, elem_t<Q>>>>{};
    else if constexpr (noted_v<basic_batched<X, W>> && kinds::is_suffix<inner_t<Whole>, Q>())
      return std::type_identity<reelem_t<Whole, elem_t<Q>>>{};
    else return std::type_identity<batched<Q>>{};
  }
  template <class To, class Q> static store<To> elements(store<Q>& s) {
    if constexpr (std::is_same_v<To, Q>) return s.alias();
    else if constexpr (std::is_same_v<ad::untaped_t<To>, Q>) return ad::retape<To>(s.alias());
    else return lifted<To>(s);
  }
  template <class S, int R> static auto inner(const leaf<S, R>& l) {
    // The level of a mapped integer is as deep as what it notes, not as what it stores: a table of an outer vmap inside a derivative is no deeper than that.
    if constexpr (is_batched_v<S> && is_differentiable_v<elem_t<S>> && depth_v<S> == depth_v<kinds::whole_t<basic_batched<X, W>>>) {
      return ad::value_leaf(l);
    } else if constexpr (is_batched_v<S> && !is_differentiable_v<elem_t<S>> && batch_levels_v<S> == batch_levels_v<batched<X>>) {
      return ad::value_leaf(l);
    } else {  // the same for every example
      return leaf<S, R + 1>{l.data, l.map.led_by(1, 0)};
    }
  }
};

TTENSOR_END
