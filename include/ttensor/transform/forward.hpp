// Forward mode: jvp. Arguments become duals; every statement computes values and tangents in one loop.
#pragma once
#include "reverse.hpp"

TTENSOR_BEGIN

template <class Y, class D> struct jvp_result {
  Y y;
  D y_dot;
};
template <class Y, class D> inline constexpr bool tree::is_record_v<jvp_result<Y, D>> = true;

namespace forward_detail {
template <class X> using one_dual = dual<X, 1>;
template <class X, class T, class V> X tangent_as(const V& v) { return X(v); }

/// Pairs an argument leaf with its tangent leaf.
struct join_leaf {
  template <class Out, class A, class V> static Out make(const A& a, const V& v) {
    if constexpr (tree::tensor_leaf<A>) {
      using S = typename Out::scalar;
      using X = inner_t<S>;
      if (!(a.shape() == v.shape()))
        raise<shape_error>("[jvp] argument shape " + shape::text(a.shape()) + " and tangent shape " + shape::text(v.shape()) + " differ [TT-S09]");
      array<store<X>, 1> t;
      t[0] = reverse_detail::lifted<X>(v.elements());
      return Out(store<S>(reverse_detail::lifted<X>(a.elements()), static_cast<array<store<X>, 1>&&>(t)), a.shape());
    } else {
      using X = inner_t<Out>;
      return Out(X(a), X(v));
    }
  }
};
template <class Struct, class Out, int I, class A, class V> Out join_field(const A& a, const V& v);
/// A tree whose leaves join those of two trees of one structure.
template <class Out, class A, class V> Out join(const A& a, const V& v) {
  if constexpr (tree::tensor_leaf<A> || tree::scalar_leaf_type<A>) {
    if constexpr (tree::is_differentiable_leaf_v<A>) return join_leaf::make<Out>(a, v);
    else return a;
  } else if constexpr (requires { std::tuple_size<A>::value; }) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return Out{join<std::tuple_element_t<I, Out>>(std::get<I>(a), std::get<I>(v))...}; }(
        std::make_index_sequence<std::tuple_size_v<A>>{});
  } else if constexpr (tree::is_container_v<A>) {
    if constexpr (requires { a.has_value(); }) {
      return a.has_value() ? Out(join<typename Out::value_type>(*a, *v)) : Out{};
    } else {
      if (a.size() != v.size()) raise<shape_error>("[jvp] argument and tangent have different numbers of parts [TT-S10]");
      Out out;
      for (std::size_t i = 0; i < a.size(); ++i) out.push_back(join<typename Out::value_type>(a[i], v[i]));
      return out;
    }
  } else {
    return [&]<int... I>(std::integer_sequence<int, I...>) { return Out{join_field<A, tree::field_t<Out, I>, I>(tree::field<I>(a), tree::field<I>(v))...}; }(
        std::make_integer_sequence<int, tree::field_count<A>()>{});
  }
}
template <class Struct, class Out, int I, class A, class V> Out join_field(const A& a, const V& v) {
  if constexpr (tree::is_static_field_v<Struct, I>) return a;
  else return join<Out>(a, v);
}
struct value_part {
  template <class X, auto Sh, class Out> Out operator()(const tensor<dual<X>, Sh>& y, std::type_identity<Out>) const {
    if constexpr (std::is_same_v<typename Out::scalar, X>) return Out(y.elements().value_.value(), y.shape());
    else return Out(y);
  }
  template <class X, class Out> Out operator()(const dual<X>& y, std::type_identity<Out>) const {
    if constexpr (std::is_same_v<Out, X>) return y.value;
    else return Out(y);
  }
  template <class Y, class Out> Out operator()(const Y& y, std::type_identity<Out>) const { return Out(y); }
};
template <class Level> struct tangent_part {
  template <class Y, class Out> Out operator()(const Y& y, std::type_identity<Out>) const {
    using S = std::remove_cvref_t<scalar_t<Y>>;
    if constexpr (tree::is_at_level_v<S, Level>) {
      if constexpr (tree::tensor_leaf<Y>) return Out(y.elements().tangent_[0].value(), y.shape());
      else return y.tangent;
    } else if constexpr (tree::tensor_leaf<Y>) {
      return Out(y.shape());  // this level does not reach the output
    } else {
      return Out(0);
    }
  }
};
template <class T> struct as_tuple {
  static std::tuple<T> of(const T& t) { return std::tuple<T>(t); }
};
template <class... T> struct as_tuple<std::tuple<T...>> {
  static const std::tuple<T...>& of(const std::tuple<T...>& t) { return t; }
};
}  // namespace forward_detail

namespace forward_detail {
template <class Forced, class F, class... A, class... V>
auto run(const F& f, const std::tuple<A...>& a, const std::tuple<V...>& v) {
  static_assert(sizeof...(A) == sizeof...(V), "ttensor: jvp wants one tangent for each argument");
  if constexpr (probing_v<A..., V..., Forced>) {
    using P = probe_of_t<Forced, tree::chain_t<A>..., tree::chain_t<V>...>;
    using R = tree::evaluated_t<decltype(f(std::declval<const on_probe_t<P, A>&>()...))>;
    using Y = probed_result_t<join_chain_t<double, P, tree::chain_t<R>>, R>;
    return jvp_result<Y, Y>{level_detail::fake<Y>(), level_detail::fake<Y>()};
  } else {
    using C = join_chain_t<double, base_chain_t<F, Forced, A...>, tree::chain_t<V>...>;
    if constexpr (probe_captured_v<F, tree::rebind_t<tree::wrap_in<one_dual, C>, A>...>) {
      using Y = probed_result_t<C, tree::evaluated_t<decltype(f(std::declval<const tree::rebind_t<tree::wrap_in<one_dual, C>, A>&>()...))>>;
      return jvp_result<Y, Y>{level_detail::fake<Y>(), level_detail::fake<Y>()};
    } else {
    auto wrapped = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<tree::rebind_t<tree::wrap_in<one_dual, C>, A>...>(
          join<tree::rebind_t<tree::wrap_in<one_dual, C>, A>>(std::get<I>(a), std::get<I>(v))...);
    }(std::index_sequence_for<A...>{});
    const auto y = tree::evaluate_all(std::apply([&](const auto&... x) { return f(x...); }, wrapped));
    using R = std::remove_cvref_t<decltype(y)>;
    using Level = dual<C>;
    using Y = tree::rebind_t<tree::without<Level>, R>;
    return jvp_result<Y, Y>{tree::map<Y>(value_part{}, y), tree::map<Y>(tangent_part<Level>{}, y)};
    }
  }
}
}  // namespace forward_detail

/// Value and directional derivative: jvp(f, x, v) with v shaped as x; several arguments as tuples.
template <class F, class X, class V, class... O> auto jvp(const F& f, const X& x, const V& v, O...) {
  auto a = tree::evaluate_all(x);
  auto t = tree::evaluate_all(v);
  return forward_detail::run<options::forced_chain<O...>>(f, forward_detail::as_tuple<decltype(a)>::of(a), forward_detail::as_tuple<decltype(t)>::of(t));
}

TTENSOR_END
