// custom_jvp and custom_vjp: functions that bring their own derivative.
//
// A rule sees values one level below the derivative it serves, so older levels differentiate the rule itself, and newer ones
// call it with values that carry the older. Rules run only when differentiated, may not capture live variables, and are
// mapped with everything else under vmap.
#pragma once
#include "custom_node.hpp"
#include "vjp.hpp"

TTENSOR_BEGIN

namespace custom_detail {
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
  static_assert(std::is_invocable_v<const R&, const X&, const D&>, "ttensor: the rule of custom_jvp takes two arguments, the point and its tangent");
  return rule(std::get<0>(x), std::get<0>(d));
}
template <class R, class... X, class... D> requires(sizeof...(X) > 1)
auto call_rule(const R& rule, const std::tuple<X...>& x, const std::tuple<D...>& d) {
  static_assert(
      std::is_invocable_v<const R&, const std::tuple<X...>&, const std::tuple<D...>&>,
      "ttensor: the rule of custom_jvp of a function of several arguments takes two, the tuple of them and the tuple of their tangents");
  return rule(x, d);
}
template <int I, class P> struct part_of_rule {
  static_assert(
      sizeof(P) == 0,
      "ttensor: the rule of custom_jvp returns two things, std::pair(value, tangent), and so does fwd of custom_vjp, std::pair(value, what bwd needs)");
};
template <int I, class P> requires(std::tuple_size<P>::value == 2) struct part_of_rule<I, P> { using type = tree::evaluated_t<std::tuple_element_t<I, P>>; };
template <class P> using first_t = typename part_of_rule<0, P>::type;
template <class P> using second_t = typename part_of_rule<1, P>::type;

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

struct zero_leaf {
  static constexpr bool every_leaf = true;
  template <class Y, class Out> Out operator()(const Y& y, std::type_identity<Out>) const {
    if constexpr (tree::is_keys_v<Y>) return tree::keys_as<Out>(y);
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
    return meta::unpack([&](const auto&... v) {
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
  for (const auto& t : tangents) tree::for_each([](const auto&, const auto&) {}, *y, *t);  // of one structure, or an error
  return tree::map<tree::rebind_t<tree::lift_to<C>, Y>>(parts::join_leaf<N>{leaves, k}, *y);
}
/// What f returns for probes; what it returns for numbers where it takes nothing else, as a std::function<double(double)>.
template <class F, class... A> auto looked_at() {
  if constexpr (std::is_invocable_v<const F&, const A&...>) return std::type_identity<tree::evaluated_t<std::invoke_result_t<const F&, const A&...>>>();
  else return std::type_identity<tree::evaluated_t<std::invoke_result_t<const F&, const plain_t<A>&...>>>();
}
template <class F, class... A> using looked_at_t = typename decltype(looked_at<F, A...>())::type;
template <class L> inline constexpr int tangents_of = planes_v<core_t<L>> / planes_v<core_t<inner_t<L>>> - 1;
}  // namespace custom_detail

/// What custom_jvp returns.
template <class F, class Rule> struct custom_jvp_function {
  using ttensor_function = F;
  static constexpr bool ttensor_captureless = true;
  F f;
  Rule rule;
  template <class... T> auto operator()(const T&... a) const { return run(tree::evaluate_all(a)...); }

 private:
  template <class... A> auto run(const A&... a) const {
    using Plain = std::tuple<custom_detail::plain_t<A>...>;
    custom_detail::check_captures<tree::evaluated_t<decltype(meta::unpack(f, std::declval<const Plain&>()))>>();
    using PlainPair = std::remove_cvref_t<decltype(custom_detail::call_rule(rule, std::declval<const Plain&>(),
                                                                            std::declval<const Plain&>()))>;
    custom_detail::check_captures<custom_detail::first_t<PlainPair>>();
    custom_detail::check_captures<custom_detail::second_t<PlainPair>>();
    using C = met_chain_t<double, double, A...>;
    using L = parts::newest_t<C>;
    if constexpr (probing_v<A...>) {
      return level_detail::fake<on_probe_t<probe_of_t<C>, custom_detail::looked_at_t<F, A...>>>();
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
/// orders the rule itself is differentiated. The tangent of an integer is 0. Under a vmap inside reverse mode every result is kept for every
/// example, also one that does not depend on what is mapped: compute large such results outside.
template <class F, class Rule> auto custom_jvp(F f, Rule rule) {
  return custom_jvp_function<F, Rule>{static_cast<F&&>(f), static_cast<Rule&&>(rule)};
}

/// What custom_vjp returns.
template <class F, class Fwd, class Bwd> struct custom_vjp_function {
  using ttensor_function = F;
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
      return level_detail::fake<on_probe_t<probe_of_t<C>, custom_detail::looked_at_t<F, A...>>>();
    } else if constexpr (std::is_void_v<L>) {
      return tree::evaluated_t<decltype(f(a...))>(tree::evaluate_all(f(a...)));
    } else if constexpr (is_dual_v<L>) {
      static_assert(!is_dual_v<L>,
                    "ttensor: forward mode of a function with custom_vjp, which brings a reverse rule only; use reverse mode inside "
                    "(jacfwd(jacrev(f))), or give the function a custom_jvp");
    } else {
      using B = parts::below_t<C>;
      const auto p = meta::unpack([&](const auto&... q) { return fwd(q...); }, custom_detail::values<L>(a...));
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
/// arguments (of keys, of a number or an array of integers anything, of containers of integers as many numbers). Forward mode of it does not compile; forward mode over its reverse mode differentiates fwd and bwd. Results under a vmap: as of custom_jvp.
template <class F, class Fwd, class Bwd> auto custom_vjp(F f, Fwd fwd, Bwd bwd) {
  return custom_vjp_function<F, Fwd, Bwd>{static_cast<F&&>(f), static_cast<Fwd&&>(fwd), static_cast<Bwd&&>(bwd)};
}

TTENSOR_END
