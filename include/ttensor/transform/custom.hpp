// custom_jvp and custom_vjp: functions that bring their own derivative.
//
// A rule sees values one level below the derivative it serves, so older levels differentiate the rule itself, and newer ones
// call it with values that carry the older. Rules run only when differentiated, may not capture live variables, and are
// mapped with everything else under vmap.
#pragma once
#include "checkpoint.hpp"
#include "parts.hpp"
#include "vjp.hpp"

TTENSOR_BEGIN

namespace custom_detail {
using checkpoint_detail::output;

struct plain : tree::lift_to<double> {  // integers, masks and keys too
  static constexpr bool every_leaf = true;
};
template <class T> using plain_t = tree::rebind_t<plain, T>;
template <class R> constexpr void check_captures() {
  static_assert(
      depth_v<tree::chain_t<R>> == 0,
      "ttensor: a function with its own derivative (custom_jvp, custom_vjp), or one of its rules, captures a variable of a live transform; "
      "its derivative would be lost, so pass the variable as an argument");
}
template <class R, class X, class D> auto call_rule(const R& rule, const std::tuple<X>& x, const std::tuple<D>& d) {
  return rule(std::get<0>(x), std::get<0>(d));
}
template <class R, class... X, class... D> requires(sizeof...(X) > 1)
auto call_rule(const R& rule, const std::tuple<X...>& x, const std::tuple<D...>& d) {
  return rule(x, d);
}
template <class P> using first_t = tree::evaluated_t<std::tuple_element_t<0, P>>;
template <class P> using second_t = tree::evaluated_t<std::tuple_element_t<1, P>>;

/// Whether the bytes of a rule hold the address of a local that is gone when the tape is swept. Not of rules with bytes that nobody wrote, which may hold
/// any address: the unused part of a string, and padding where the compiler does not clear it (clang).
template <class Rule> bool refers_to_locals(const tape& t, const Rule& rule) {
  if constexpr (!std::is_trivially_copyable_v<Rule>) {
    return false;
  } else {
#if TTENSOR_HAS_CLEAR_PADDING
    Rule bytes = rule;
    __builtin_clear_padding(&bytes);
    return holds_younger_address(t, &bytes, sizeof(Rule));
#else
    return std::has_unique_object_representations_v<Rule> && holds_younger_address(t, &rule, sizeof(Rule));
#endif
  }
}

// ---- reverse mode: one node that calls a pullback -------------------------------------------------------------------------
/// Numbers of examples along the axes that were mapped inside the tape of a call over the chain C, the newest last. A rule is called for all of them at once,
/// with cotangents that may be combined with what is mapped: what it is given and what it gives back has them all, also where an argument has none.
template <class C> struct mapped_axes {
  static constexpr bool every_leaf = true;  // what only masks, indices or keys are mapped by is mapped too
  using X = inner_t<parts::newest_t<C>>;
  static constexpr int older = batch_levels_v<X>, count = batch_levels_v<C> - older;
  index_t at[count + 1];
  template <class... A> static mapped_axes of(const A&... a) {
    mapped_axes m;
    for (index_t& n : m.at) n = 1;
    if constexpr (count > 0) (tree::for_each(m, a), ...);
    return m;
  }
  template <class Q> void operator()(const Q& q) {
    if constexpr (requires { q.seed; }) {
      (*this)(q.seed);
    } else if constexpr (requires { q.elements().batch(); }) {
      const auto b = q.elements().batch();
      for (int d = older; d < b.size(); ++d) eval_detail::meet_batch(at[d - older], b[d]);
    }
  }
};
/// An output for every example.
template <class C> struct for_every_example {
  const mapped_axes<C>& m;
  template <class Y> Y operator()(const Y& y, std::type_identity<Y>) const {
    if constexpr (mapped_axes<C>::count > 0 && requires { y.elements().batch(); }) {
      auto s = y.elements().value();
      auto b = ones<batch_levels_v<scalar_t<Y>>>();
      for (int d = mapped_axes<C>::older; d < b.size(); ++d) b[d] = m.at[d - mapped_axes<C>::older];
      s.require_batch(b);
      if constexpr (tree::tensor_leaf<Y>) return Y(std::move(s), y.shape());
      else return Y(std::move(s));
    } else {
      return y;
    }
  }
};
/// Values as outputs of the tape; serial 0: as constants.
struct tape_leaf {
  tape* t;
  std::vector<output>& out;
  template <class S> store<S> array(const store<parts::below_t<S>>& v) const {
    if constexpr (is_var_v<S>) {
      using X = inner_t<S>;
      if (!t) return store<S>(v.value(), {});
      const std::uint32_t id = t->new_slot<X>(v.size());
      out.push_back(checkpoint_detail::array_output<X>(id));
      return store<S>(v.value(), token_ref(t->serial, id));
    } else {
      return store<S>(array<inner_t<S>>(v.inner()), v.examples(), v.size());
    }
  }
  template <class Y, class Out> Out operator()(const Y& y, std::type_identity<Out>) const {
    using S = scalar_t<Out>;
    if constexpr (tree::tensor_leaf<Y>) {
      return Out(array<S>(y.elements()), y.shape());
    } else if constexpr (is_batched_v<S>) {
      return Out(array<S>(y.elements()));
    } else {
      if (!t) return Out(y);
      auto& pool = t->pool<scalar_pool<Y>>();
      pool.enter(*t);
      const adjoint_ref r = pool.close();
      out.push_back(checkpoint_detail::scalar_output<Y>(r));
      return Out(y, t->serial, r, false);
    }
  }
};
/// The cotangent of an output, taken out of the tape, in the shape of its value y.
template <class C> struct take_cotangent {
  tape& t;
  const std::vector<output>& out;
  std::size_t& k;
  template <class S> store<parts::below_t<S>> array(const store<parts::below_t<S>>& y) const {
    if constexpr (is_var_v<S>) {
      using X = inner_t<S>;
      static_cast<void>(y);
      return t.at<X>(out[k++].id).take();
    } else {
      return store<parts::below_t<S>>(array<inner_t<S>>(y.inner()), y.examples(), y.size());
    }
  }
  template <class Y, class Out> Out operator()(const Y& y, std::type_identity<Out>) const {
    using S = reelem_t<C, elem_t<scalar_t<Y>>>;
    if constexpr (tree::tensor_leaf<Y>) return Out(array<S>(y.elements()), y.shape());
    else if constexpr (is_batched_v<S>) return Out(array<S>(y.elements()));
    else return checkpoint_detail::take_scalar<Y>(t, out[k++]);
  }
};
/// Adds a gradient to an argument. C: the chain of the call; mapped axes that the argument lacks are summed.
template <class C> struct give_gradient {
  tape& t;
  const mapped_axes<C>& examples;
  using L = parts::newest_t<C>;
  template <class X, int Q> void add(const store<var<X>>& s, layout_map<Q> m, const leaf<X, Q>& g) const {
    if (!s.slot() || s.slot()->tape_serial != t.serial) return;
    ad::accumulate<X, Q>(t, s.slot()->id, m, g);
  }
  template <class X, class T, int Q> void add_mapped(const store<T>& s, layout_map<Q> m, const leaf<X, Q>& g, int axis) const {
    if constexpr (is_batched_v<T>) {
      m.stride[axis] = s.examples() == 1 ? 0 : s.size();
      if (s.examples() != 1) m.extent[axis] = s.examples();
      add_mapped<X>(s.inner(), m, g, axis - 1);
    } else {
      leaf<X, Q> w = g;
      for (int d = 0; d < Q; ++d)
        if (w.map.extent[d] != m.extent[d]) w.map.extent[d] = m.extent[d], w.map.stride[d] = 0;
      add<X, Q>(s, m, w);
    }
  }
  template <class S, int R> static auto unmapped(const leaf<S, R>& l) {  // mapped axes outside the tape as leading axes
    if constexpr (batch_levels_v<S> == batch_levels_v<inner_t<L>>) return l;
    else return unmapped(ad::value_leaf(l));
  }
  template <class A, class G> void operator()(const A& a, const G& gradient) const {
    using S = scalar_t<A>;
    if constexpr (parts::has_level_v<S, L>) {
      using Under = reelem_t<parts::below_t<C>, elem_t<S>>;
      using X = reelem_t<inner_t<L>, elem_t<S>>;
      constexpr int R = rank_v<A>;
      const tensor<Under, R> g = [&] {
        if constexpr (tree::tensor_leaf<G>) {
          static_assert(rank_v<G> == R, "ttensor: a custom rule returns a gradient of another rank than its argument");
          return tree::lift<tensor<Under, R>>(gradient);
        } else {
          static_assert(R == 0, "ttensor: a custom rule returns a scalar gradient for a tensor argument");
          return tensor<Under, 0>(Under(gradient));
        }
      }();
      if constexpr (R > 0)
        if (!(g.shape() == a.shape()))
          raise<shape_error>("[custom_vjp] argument shape " + shape::text(a.shape()) + " and gradient shape " +
                             shape::text(g.shape()) + " differ [TT-S16]");
      auto l = unmapped(g.as_leaf());
      constexpr int Q = rank_v<decltype(l)>, levels = Q - R;
      for (int d = 0; d < levels; ++d)
        if (l.map.extent[d] == 1) l.map.extent[d] = examples.at[d], l.map.stride[d] = 0;
      if constexpr (is_var_v<A>) {
        if (!a.active() || a.serial() != t.serial) return;
        if constexpr (Q == 0) {
          add_adjoint<X>(t, a.ref(), g.elements().get(0));
        } else {
          axis_set<Q> every;
          for (bool& r : every.reduced) r = true;
          add_adjoint<X>(t, a.ref(), sum_rule<X>::template evaluate<false>(l, l.shape(), every).scalar());
        }
      } else {
        layout_map<Q> m{0, l.map.extent, {}};
        if constexpr (R > 0) {
          const auto own = layout_map<R>::row_major(a.shape());
          for (int d = 0; d < R; ++d) m.stride[levels + d] = own.stride[d];
        }
        constexpr int axis = batch_levels_v<S> - batch_levels_v<inner_t<L>> - 1;  // of the newest mapped axis the argument has
        add_mapped<X>(a.elements(), m, l, axis);
      }
    }
  }
};
template <class C, class Pull, class Y, class... A> struct node final : tape_node {
  Pull pull;
  Y y;
  std::tuple<A...> args;
  std::vector<output> out;
  mapped_axes<C> examples;
  node(const Pull& p, const Y& y_, std::vector<output>&& o, const mapped_axes<C>& m, const A&... a)
      : pull(p), y(y_), args(a...), out(static_cast<std::vector<output>&&>(o)), examples(m) {}
  void backward(tape& t) override {
    if (!checkpoint_detail::any_live(t, out)) return;
    const level_calls::unchecked kept;
    std::size_t k = 0;
    const Y ct = tree::map<Y>(take_cotangent<C>{t, out, k}, y);
    const auto g = tree::evaluate_all(pull(ct));
    if constexpr (sizeof...(A) == 1) {
      tree::for_each(give_gradient<C>{t, examples}, std::get<0>(args), g);
    } else {
      static_assert(std::tuple_size_v<std::remove_cvref_t<decltype(g)>> == sizeof...(A),
                    "ttensor: a custom rule returns a tuple with one gradient for each argument");
      [&]<std::size_t... I>(std::index_sequence<I...>) { (tree::for_each(give_gradient<C>{t, examples}, std::get<I>(args), std::get<I>(g)), ...); }(
          std::make_index_sequence<sizeof...(A)>{});
    }
  }
};
/// The value y as a result of the tape of the arguments, whose node calls `pull`.
template <class C, class Y, class Pull, class... A> auto recorded(const Y& result, const Pull& pull, const A&... a) {
  using L = parts::newest_t<C>;
  using Z = tree::rebind_t<tree::lift_to<C>, Y>;
  ad::serial_finder finder;
  auto look = [&]<class Q>(const Q& q) {
    if constexpr (parts::has_level_v<scalar_t<Q>, L>) ad::each_taped(as_expression(q), finder);
  };
  (tree::for_each(look, a), ...);
  const std::uint64_t serial = finder.checked();
  tape* t = serial ? &tapes::of<inner_t<L>>(serial) : nullptr;
  std::vector<output> out;
  const auto examples = mapped_axes<C>::of(a...);
  const Y y = t ? tree::map<Y>(for_every_example<C>{examples}, result) : result;
  Z z = tree::map<Z>(tape_leaf{t, out}, y);
  if constexpr (requires { pull.refers_to_locals(*t); })
    if (t && t->trials == 0 && pull.refers_to_locals(*t))
      raise<level_error>(
          "[custom_vjp, custom_jvp] the rule refers to a local of the transformed function, which is gone when the rule runs; capture it by value, [=] or [c], or pass it as an argument [TT-L08]");
  if (t) t->push<node<C, Pull, Y, A...>>(pull, y, static_cast<std::vector<output>&&>(out), examples, a...);
  return z;
}

struct zero_leaf {
  static constexpr bool every_leaf = true;
  template <class Y, class Out> Out operator()(const Y& y, std::type_identity<Out>) const {
    if constexpr (tree::is_keys_v<Y>) return y;
    else if constexpr (tree::tensor_leaf<Y>) return Out(y.shape());
    else return Out(0);
  }
};
/// The transpose of a rule that is linear in its tangents, over the chain B.
template <class B, class Rule, class... V> struct transposed_rule {
  Rule rule;
  std::tuple<V...> x;
  bool refers_to_locals(const tape& t) const { return custom_detail::refers_to_locals(t, rule); }
  template <class Ct> auto operator()(const Ct& ct) const {
    auto linear = [this](const auto&... d) {
      auto r = call_rule(rule, x, std::tuple<std::remove_cvref_t<decltype(d)>...>(d...));
      return second_t<decltype(r)>(tree::evaluate_all(std::get<1>(r)));
    };
    return std::apply([&](const auto&... v) {
      return pullback<B, decltype(linear), type_list<>, tree::rebind_t<tree::lift_to<B>, V>...>(
          linear, tree::map<tree::rebind_t<tree::lift_to<B>, V>>(zero_leaf{}, v)...)(ct);
    }, x);
  }
};
template <class Bwd, class Saved> struct stored_rule {
  Bwd bwd;
  Saved saved;
  bool refers_to_locals(const tape& t) const { return custom_detail::refers_to_locals(t, bwd); }
  template <class Ct> auto operator()(const Ct& ct) const { return tree::evaluate_all(bwd(saved, ct)); }
};
template <class L, class... A> auto values(const A&... a) {
  return std::tuple<parts::below_tree_t<L, A>...>(tree::map<parts::below_tree_t<L, A>>(parts::value_of_level<L>{}, a)...);
}
/// The tree over the chain C whose values and N tangents, over the chain below, one(k) gives as pairs.
template <class C, int N, class Y, class One> auto joined(const One& one) {
  std::optional<Y> y;
  std::array<std::optional<Y>, N> tangents;
  std::vector<const void*> leaves[N];
  for (int k = 0; k < N; ++k) {
    auto p = one(k);
    if (k == 0) y.emplace(static_cast<Y&&>(p.first));
    auto& t = tangents[static_cast<std::size_t>(k)];
    t.emplace(static_cast<Y&&>(p.second));
    tree::for_each([&](const auto& l) { leaves[k].push_back(&l); }, *t);
  }
  std::size_t k = 0;
  return tree::map<tree::rebind_t<tree::lift_to<C>, Y>>(parts::join_leaf<N>{leaves, k}, *y);
}
template <class L> inline constexpr int tangents_of = planes_v<core_t<L>> / planes_v<core_t<inner_t<L>>> - 1;
}  // namespace custom_detail

/// What custom_jvp returns.
template <class F, class Rule> struct custom_jvp_function {
  static constexpr bool ttensor_captureless = true;
  F f;
  Rule rule;
  template <class... T> auto operator()(const T&... a) const { return run(tree::evaluate_all(a)...); }

 private:
  template <class... A> auto run(const A&... a) const {
    using Plain = std::tuple<custom_detail::plain_t<A>...>;
    custom_detail::check_captures<tree::evaluated_t<decltype(std::apply(f, std::declval<const Plain&>()))>>();
    using PlainPair = std::remove_cvref_t<decltype(custom_detail::call_rule(rule, std::declval<const Plain&>(),
                                                                            std::declval<const Plain&>()))>;
    custom_detail::check_captures<custom_detail::first_t<PlainPair>>();
    custom_detail::check_captures<custom_detail::second_t<PlainPair>>();
    using C = met_chain_t<double, double, A...>;
    using L = parts::newest_t<C>;
    if constexpr (probing_v<A...>) {
      return level_detail::fake<on_probe_t<probe_of_t<C>, tree::evaluated_t<decltype(f(a...))>>>();
    } else if constexpr (std::is_void_v<L>) {
      return tree::evaluated_t<decltype(f(a...))>(tree::evaluate_all(f(a...)));
    } else if constexpr (is_dual_v<L>) {
      return forward<C>(a...);
    } else {
      using B = parts::below_t<C>;
      const auto x = custom_detail::values<L>(a...);
      const auto p = custom_detail::call_rule(rule, x, x);  // its value: older levels differentiate the rule, as in forward mode
      using V = custom_detail::first_t<std::remove_cvref_t<decltype(p)>>;
      using Y = tree::rebind_t<tree::lift_to<B>, V>;
      using Pull = custom_detail::transposed_rule<B, Rule, parts::below_tree_t<L, A>...>;
      return custom_detail::recorded<C, Y, Pull>(tree::lift<Y>(V(tree::evaluate_all(std::get<0>(p)))), Pull{rule, x}, a...);
    }
  }
  template <class C, class... A> auto forward(const A&... a) const {
    using L = parts::newest_t<C>;
    using B = parts::below_t<C>;
    constexpr int N = custom_detail::tangents_of<L>;
    const auto x = custom_detail::values<L>(a...);
    auto one = [&](int k) {
      return custom_detail::call_rule(rule, x,
                                      std::tuple<parts::below_tree_t<L, A>...>(
                                          tree::map<parts::below_tree_t<L, A>>(parts::tangent_of_level<L>{k}, a)...));
    };
    using Pair = std::remove_cvref_t<decltype(one(0))>;
    using R = custom_detail::first_t<Pair>;
    using D = custom_detail::second_t<Pair>;
    using Y = tree::rebind_t<tree::lift_to<B>, R>;
    return custom_detail::joined<C, N, Y>([&](int k) {
      const auto p = one(k);
      return std::pair<Y, Y>{tree::lift<Y>(R(tree::evaluate_all(std::get<0>(p)))), tree::lift<Y>(D(tree::evaluate_all(std::get<1>(p))))};
    });
  }
};
/// f with its own forward derivative: rule(x, x_dot) -> pair{y, y_dot}, linear in x_dot; several arguments: rule(tuple x,
/// tuple x_dot). Reverse mode transposes the rule, which it calls twice: with any tangent for the value, and to transpose it. At higher
/// orders the rule itself is differentiated. The tangent of an integer is 0.
template <class F, class Rule> auto custom_jvp(F f, Rule rule) {
  return custom_jvp_function<F, Rule>{static_cast<F&&>(f), static_cast<Rule&&>(rule)};
}

/// What custom_vjp returns.
template <class F, class Fwd, class Bwd> struct custom_vjp_function {
  static constexpr bool ttensor_captureless = true;
  F f;
  Fwd fwd;
  Bwd bwd;
  template <class... T> auto operator()(const T&... a) const { return run(tree::evaluate_all(a)...); }

 private:
  template <class... A> auto run(const A&... a) const {
    custom_detail::check_captures<level_detail::seen_t<F, custom_detail::plain_t<A>...>>();
    using PlainPair = level_detail::seen_t<Fwd, custom_detail::plain_t<A>...>;
    custom_detail::check_captures<custom_detail::first_t<PlainPair>>();
    custom_detail::check_captures<custom_detail::second_t<PlainPair>>();
    custom_detail::check_captures<level_detail::seen_t<Bwd, custom_detail::second_t<PlainPair>, custom_detail::first_t<PlainPair>>>();
    using C = met_chain_t<double, double, A...>;
    using L = parts::newest_t<C>;
    if constexpr (probing_v<A...>) {  // here f is called; in reverse mode, which may not exist for it, it never is
      return level_detail::fake<on_probe_t<probe_of_t<C>, tree::evaluated_t<decltype(f(a...))>>>();
    } else if constexpr (std::is_void_v<L>) {
      return tree::evaluated_t<decltype(f(a...))>(tree::evaluate_all(f(a...)));
    } else if constexpr (is_dual_v<L>) {
      static_assert(!is_dual_v<L>,
                    "ttensor: forward mode of a function with custom_vjp, which brings a reverse rule only; use reverse mode inside "
                    "(jacfwd(jacrev(f))), or give the function a custom_jvp");
    } else {
      using B = parts::below_t<C>;
      const auto p = std::apply([&](const auto&... q) { return fwd(q...); }, custom_detail::values<L>(a...));
      using V = custom_detail::first_t<std::remove_cvref_t<decltype(p)>>;
      using Saved = custom_detail::second_t<std::remove_cvref_t<decltype(p)>>;
      using Y = tree::rebind_t<tree::lift_to<B>, V>;
      using Pull = custom_detail::stored_rule<Bwd, Saved>;
      return custom_detail::recorded<C, Y, Pull>(tree::lift<Y>(V(tree::evaluate_all(std::get<0>(p)))),
                                                 Pull{bwd, Saved(tree::evaluate_all(std::get<1>(p)))}, a...);
    }
  }
};
/// f with its own reverse derivative: fwd(x...) -> pair{y, saved}; bwd(saved, ct) -> gradient, a tuple when there are several
/// arguments. Forward mode of it does not compile; forward mode over its reverse mode differentiates fwd and bwd.
template <class F, class Fwd, class Bwd> auto custom_vjp(F f, Fwd fwd, Bwd bwd) {
  return custom_vjp_function<F, Fwd, Bwd>{static_cast<F&&>(f), static_cast<Fwd&&>(fwd), static_cast<Bwd&&>(bwd)};
}

TTENSOR_END
