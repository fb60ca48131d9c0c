// let(e, f) and fuse(f, leaves...): shared subexpressions. f is called once with placeholders; what it returns is the body of
// a let_node, whose bindings are computed once however often the body names them.
//
//   let(exp(x), [](auto t) { return t * t + t; })        one exp an element
//   fuse([](auto x, auto y) { return x * x + x * y; }, a, b)   one load of a and of b
//
// Placeholders carry the depth D of their let. Functions may nest and capture outer placeholders; D has to differ from that
// of every placeholder in the body. So f is first looked at, unevaluated, with placeholders of a reserved depth, and D is one
// more than the deepest other one in the type it returns.
#pragma once
#include "apply.hpp"

TTENSOR_BEGIN
namespace let_detail {
inline constexpr int reserved = 1 << 20;  // placeholders of a look: types only

template <class E> struct deepest { static constexpr int value = -1; };
template <int D, int K, class S, int R> struct deepest<let_arg<D, K, S, R>> { static constexpr int value = D == reserved ? -1 : D; };
template <class... A> constexpr int deepest_of() {
  int d = -1;
  ((d = deepest<A>::value > d ? deepest<A>::value : d), ...);
  return d;
}
template <class Op, class... A> struct deepest<node<Op, A...>> { static constexpr int value = deepest_of<A...>(); };
template <int D, class Body, class... B> struct deepest<let_node<D, Body, B...>> {
  static constexpr int inner = deepest_of<Body, B...>(), value = D > inner ? D : inner;
};

template <class E> struct deepest<owned<E>> : deepest<E> {};

template <class A> using bound_t = std::remove_cvref_t<decltype(as_expression(std::declval<A>()))>;
template <int D, int K, class E> using placeholder = let_arg<D, K, typename E::scalar, E::rank>;
template <int D, int K, class E> placeholder<D, K, E> stand_in(const E& e) { return {e.shape()}; }

template <class F, int... K, class... E> constexpr int depth_for(std::integer_sequence<int, K...>, type_list<E...>) {
  using body = decltype(std::declval<F&>()(std::declval<placeholder<reserved, K, E>>()...));
  static_assert(expression<body>, "ttensor: the function of let or fuse must return an expression; reduce or evaluate outside of it");
  return 1 + deepest<std::remove_cvref_t<body>>::value;
}
}  // namespace let_detail

/// f over placeholders for the arrays: an expression in which every use of an argument is the same subexpression.
template <class F, class... A> requires(sizeof...(A) > 0 && (array_like<A> && ...)) auto fuse(F&& f, A&&... a) {
  if constexpr (!TTENSOR_FUSES)
    return [&](const auto&... e) {
      static_assert(array_like<decltype(f(e...))>,
                    "ttensor: the function of let or fuse must return an expression; reduce or evaluate outside of it");
      return as_expression(f(e...));
    }(expr::apart(static_cast<A&&>(a))...);
  else return [&]<int... K, class... E>(std::integer_sequence<int, K...> k, type_list<E...> list) {
    constexpr int D = let_detail::depth_for<F>(k, list);
    bundle<E...> bound{{{as_expression(static_cast<A&&>(a))}...}};
    auto body = as_expression(f(let_detail::stand_in<D, K>(at<K>(bound))...));
    return let_node<D, decltype(body), E...>{static_cast<bundle<E...>&&>(bound), static_cast<decltype(body)&&>(body)};
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>{}, type_list<let_detail::bound_t<A>...>{});
}
/// f(e) with e computed once. A scalar is a value already.
template <class E, class F> auto let(E&& e, F&& f) {
  if constexpr (array_like<E>) return fuse(static_cast<F&&>(f), static_cast<E&&>(e));
  else return f(static_cast<E&&>(e));
}

TTENSOR_END
