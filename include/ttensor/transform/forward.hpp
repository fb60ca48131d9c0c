// Forward mode: jvp. Arguments become duals; every statement computes values and tangents in one loop.
#pragma once
#include "reverse.hpp"
#include "tree_pairs.hpp"

TTENSOR_BEGIN

template <class Y, class D> struct jvp_result {
  Y y;
  D y_dot;
};
template <class Y, class D, class X> struct jvp_result_aux {
  Y y;
  D y_dot;
  X aux;
};
template <class Y, class D> inline constexpr bool tree::is_record_v<jvp_result<Y, D>> = true;
template <class Y, class D, class X> inline constexpr bool tree::is_record_v<jvp_result_aux<Y, D, X>> = true;

namespace forward_detail {
template <class X> using one_dual = dual<X, 1>;

/// Joins an argument with its tangent.
struct join {
  template <class Out, class A, class V> static Out leaf(const A& a, const V& v) {
    if constexpr (tree::is_keys_v<A>) {
      return tree::keys_as<Out>(a);
    } else if constexpr (!tree::is_differentiable_leaf_v<A>) {
      return a;
    } else if constexpr (tree::tensor_leaf<A>) {
      using S = typename Out::scalar;
      using X = inner_t<S>;
      array<store<X>, 1> t;
      t[0] = lifted<X>(v.elements());
      return Out(store<S>(lifted<X>(a.elements()), static_cast<array<store<X>, 1>&&>(t)), a.shape());
    } else {
      using X = inner_t<Out>;
      return Out(X(a), X(v));
    }
  }
  template <class Out, bool, class A, class V> static Out constant(const A& a, const V&) { return a; }
  [[noreturn]] static void differ() { tree::parts_differ(); }
};
struct value_part {
  template <class X, int N, auto Sh, class Out> Out operator()(const tensor<dual<X, N>, Sh>& y, std::type_identity<Out>) const {
    if constexpr (std::is_same_v<typename Out::scalar, X>) return Out(y.elements().value_.value(), y.shape());
    else return Out(y);
  }
  template <class X, int N, class Out> Out operator()(const dual<X, N>& y, std::type_identity<Out>) const {
    if constexpr (std::is_same_v<Out, X>) return y.value;
    else return Out(y);
  }
  template <class Y, class Out> Out operator()(const Y& y, std::type_identity<Out>) const { return Out(y); }
};
template <class Level> struct tangent_part {
  int k = 0;
  template <class Y, class Out> Out operator()(const Y& y, std::type_identity<Out>) const {
    using S = std::remove_cvref_t<scalar_t<Y>>;
    if constexpr (tree::is_at_level_v<S, Level>) {
      if constexpr (tree::tensor_leaf<Y>) return Out(y.elements().tangent_[k].value(), y.shape());
      else return y.tangent_at(k);
    } else if constexpr (tree::tensor_leaf<Y>) {
      return Out(y.shape());  // this level does not reach the output
    } else {
      return Out(0);
    }
  }
};
/// What f is asked with whether it takes the elements of a tuple as its arguments. Not the elements themselves: a generic body may need
/// scalars whose functions are found by their arguments, maximum(p, q), and numbers are none. Probes where f is looked at with them, else duals.
template <class F, class... T> struct asked_with {
  template <class A> using type = typename level_detail::probed_argument<double, A>::type;
};
template <class F, class... T> requires(is_captureless_v<F> && !probing_v<T...>) struct asked_with<F, T...> {
  template <class A> using type = tree::rebind_t<tree::wrap_in<one_dual, met_chain_t<double, double, T...>>, A>;
};
template <class F, class T> inline constexpr bool is_list_of_arguments = false;
/// Of what takes any arguments, as the object that a transform returns does: what its function takes.
template <class F, class... T> inline constexpr bool is_list_of_arguments<F, std::tuple<T...>> = [] {
  if constexpr (requires { typename F::ttensor_function; })
    return is_list_of_arguments<typename F::ttensor_function, std::tuple<T...>>;
  else
    return std::disjunction_v<std::is_invocable<const F&, const typename asked_with<F, T...>::template type<T>&...>,
                              std::is_invocable<const F&, const T&...>>;
}();
template <bool Hvp> struct names {
  static constexpr const char *name = Hvp ? "hvp" : "jvp", *what = "tangent", *id = "TT-S09";
};
/// strict: runs f with NaN as the tangent of one argument after the other and looks where it arrives.
struct nan_leaf {
  bool yes;
  template <class X, class Out> Out operator()(const X& x, std::type_identity<Out>) const {
    const elem_t<scalar_t<Out>> v(yes ? std::numeric_limits<double>::quiet_NaN() : 0.0);
    if constexpr (tree::tensor_leaf<X>) {
      Out r(x.shape());
      r = scalar_t<Out>(v);
      return r;
    } else {
      return Out(v);
    }
  }
};
struct arrived_leaf {
  std::vector<bool>& at;
  std::size_t& k;
  template <class Y> void operator()(const Y& y) const {
    if (k == at.size()) at.push_back(false);
    auto see = [&](const auto& s) { at[k] = at[k] || reverse_detail::is_touched(s); };
    if constexpr (tree::tensor_leaf<Y>) {
      for (index_t i = 0; i < y.size(); ++i) see(y.elements().get(i));
      at[k] = at[k] || y.size() == 0;
    } else {
      see(y);
    }
    ++k;
  }
};
/// along(k): the tangents of the results for NaN in input k of n.
template <class Along> void require_dependence(const char* op, std::size_t n, Along&& along) {
  std::vector<bool> results;
  for (std::size_t input = 0; input < n; ++input) {
    std::vector<bool> here;
    std::size_t k = 0;
    const auto y_dot = along(input);
    tree::for_each(arrived_leaf{here, k}, y_dot);
    bool any = false;
    for (std::size_t i = 0; i < here.size(); ++i) any = any || here[i];
    if (!any) reverse_detail::strict_unused(op);
    results.resize(here.size());
    for (std::size_t i = 0; i < here.size(); ++i) results[i] = results[i] || here[i];
  }
  for (const bool r : results)
    if (!r) reverse_detail::strict_constant(op);
}
/// f at arguments that Level has wrapped.
template <class Level, class F, class... W> auto evaluated(const F& f, std::tuple<W...>& wrapped) {
  TTENSOR_DUAL_CALL(const level_calls::running call;)
  TTENSOR_DUAL_CALL(meta::unpack([&](auto&... x) { (tree::for_each(level_detail::entering{call, level_calls::name<Level>}, x), ...); }, wrapped);)
  auto y = [&] {
    const level_detail::forward_level open;
    return tree::evaluate_all(meta::unpack([&](const auto&... x) { return f(x...); }, wrapped));
  }();
  TTENSOR_DUAL_CALL(tree::for_each(level_detail::returned{call, level_calls::name<Level>}, std::as_const(y));)
  return y;
}
/// {y, y_dot} of what f gives, or {y, y_dot, aux}: all without Level.
template <bool Aux, class Level, class R> auto answer(const R& r) {
  const auto& main = reverse_detail::main<Aux>(r);
  using Y = tree::rebind_t<tree::result_without<Level>, std::remove_cvref_t<decltype(main)>>;
  if constexpr (Aux) {
    using X = tree::rebind_t<tree::result_without<Level>, std::remove_cvref_t<decltype(tree::part<1>(r))>>;
    return jvp_result_aux<Y, Y, X>{tree::map<Y>(value_part{}, main), tree::map<Y>(tangent_part<Level>{}, main), tree::map<X>(value_part{}, tree::part<1>(r))};
  } else {
    return jvp_result<Y, Y>{tree::map<Y>(value_part{}, main), tree::map<Y>(tangent_part<Level>{}, main)};
  }
}
template <bool Aux, class Y> auto looked_at() {  // the types of an answer, while an outer transform looks at types
  const auto y = level_detail::fake<Y>();
  using M = std::remove_cvref_t<decltype(reverse_detail::main<Aux>(y))>;
  if constexpr (Aux) return jvp_result_aux<M, M, std::remove_cvref_t<decltype(tree::part<1>(y))>>{reverse_detail::main<Aux>(y), reverse_detail::main<Aux>(y), tree::part<1>(y)};
  else return jvp_result<M, M>{y, y};
}
template <class Forced, class Names, bool Aux, class F, class... A, class... V>
auto run(const F& f, const std::tuple<A...>& a, const std::tuple<V...>& v) {
  static_assert(sizeof...(A) == sizeof...(V), "ttensor: jvp wants one tangent for each argument");
  if constexpr (probing_v<A..., V..., Forced>) {
    using P = probe_of_t<Forced, tree::chain_t<A>..., tree::chain_t<V>...>;
    using R = level_detail::seen_t<F, on_probe_t<P, A>...>;
    return looked_at<Aux, probed_result_t<join_chain_t<double, P, tree::chain_t<R>>, R>>();
  } else {
    using C = join_chain_t<double, base_chain_t<F, Forced, A...>, tree::chain_t<V>...>;
    if constexpr (probe_captured_v<F, tree::rebind_t<tree::wrap_in<one_dual, C>, A>...>) {
      return looked_at<Aux, probed_result_t<C, tree::evaluated_t<decltype(f(std::declval<const tree::rebind_t<tree::wrap_in<one_dual, C>, A>&>()...))>>>();
    } else {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (tree::require_like<Names>(std::get<I>(a), std::get<I>(v)), ...);
      }(std::index_sequence_for<A...>{});
      const join joining;
      auto wrapped = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::tuple<tree::rebind_t<tree::wrap_in<one_dual, C>, A>...>(
            tree::map_pair<tree::rebind_t<tree::wrap_in<one_dual, C>, A>>(joining, std::get<I>(a), std::get<I>(v))...);
      }(std::index_sequence_for<A...>{});
      return answer<Aux, dual<C>>(evaluated<dual<C>>(f, wrapped));
    }
  }
}
template <class... O, class F, class... A, class... V> auto checked(const F& f, const std::tuple<A...>& a, const std::tuple<V...>& v) {
  using Forced = options::forced_chain<O...>;
  using Names = names<options::has<options::of_hvp, O...>>;
  constexpr bool aux = options::has<has_aux_t, O...>;
  tree::require_parts<options::has<allow_int_t, O...>, A...>();
  if constexpr (options::has<strict_t, O...> && !probing_v<A..., V..., Forced>)
    require_dependence(Names::name, sizeof...(A), [&](std::size_t k) {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return run<Forced, Names, aux>(f, a, std::tuple<A...>(tree::map<A>(nan_leaf{I == k}, std::get<I>(a))...)).y_dot;
      }(std::index_sequence_for<A...>{});
    });
  return run<Forced, Names, aux>(f, a, v);
}
/// jvp of a function of one argument, a tuple or not.
template <class... O, class F, class X, class V> auto of_one(const F& f, const X& x, const V& v) {
  return checked<O...>(f, std::tuple<X>(x), std::tuple<V>(v));
}
}  // namespace forward_detail

/// Value and directional derivative: jvp(f, x, v) with v shaped as x; several arguments as tuples. A tuple is one argument
/// for a function that cannot be called with its elements. {y, y_dot, aux} with has_aux.
/// Throws    shape_error [TT-S09, TT-S10] when a tangent's shape differs; with strict, at the cost of one more evaluation for
///           each argument, domain_error [TT-D05, TT-D06]
template <class F, class... X> auto jvp(const F& f, const X&... x_v_options) {
  return options::point_and_direction([&]<class... O, class A, class V>(type_list<O...>, const A& x, const V& v) {
    options::refuse_holomorphic<O...>();
    const auto a = tree::evaluate_all(x);
    const auto t = tree::evaluate_all(v);
    if constexpr (forward_detail::is_list_of_arguments<F, std::remove_cvref_t<decltype(a)>>) return forward_detail::checked<O...>(f, a, t);
    else
      return forward_detail::checked<O...>(f, std::tuple<std::remove_cvref_t<decltype(a)>>(a),
                                           std::tuple<std::remove_cvref_t<decltype(t)>>(t));
  }, x_v_options...);
}

TTENSOR_END
