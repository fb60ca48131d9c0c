// Taking the outermost tape level off scalars, snapshots, leaves and expressions, and putting it back on results.
#pragma once
#include "../tensor/reduce.hpp"
#include "batched.hpp"
#include "var.hpp"

TTENSOR_BEGIN
namespace ad {

/// S without its outermost var: dual<var<X>> -> dual<X>.
template <class S> struct untaped { using type = S; };
template <class S> using untaped_t = typename untaped<S>::type;
template <class X> struct untaped<var<X>> { using type = X; };
template <class T, int N> struct untaped<dual<T, N>> { using type = dual<untaped_t<T>, N>; };
template <class T> struct untaped<batched<T>> { using type = batched<untaped_t<T>>; };

template <class T, bool O> snapshot<batched<untaped_t<T>>, O> untape(const snapshot<batched<T>, O>& s);  // duals of batches come first
template <class T> batched<untaped_t<T>> untape_scalar(const batched<T>& s);
template <class X, bool O> snapshot<X, O> untape(const snapshot<var<X>, O>& s) { return s.value; }
template <class T, int N, bool O> auto untape(const snapshot<dual<T, N>, O>& s) {
  snapshot<dual<untaped_t<T>, N>, O> r;
  r.value = untape(s.value);
  for (int k = 0; k < N; ++k) r.tangent[k] = untape(s.tangent[k]);
  return r;
}
template <class T, bool O> snapshot<batched<untaped_t<T>>, O> untape(const snapshot<batched<T>, O>& s) { return {untape(s.inner), s.batch, s.size}; }
template <class X> X untape_scalar(const var<X>& s) { return s.value(); }
template <class T, int N> dual<untaped_t<T>, N> untape_scalar(const dual<T, N>& s) {
  dual<untaped_t<T>, N> r;
  r.value = untape_scalar(s.value);
  for (int k = 0; k < N; ++k) r.tangent_at(k) = untape_scalar(s.tangent_at(k));
  return r;
}

template <class T> batched<untaped_t<T>> untape_scalar(const batched<T>& s) {
  using S = batched<untaped_t<T>>;
  return S(store<S>::over(untape(s.elements().snap()), s.elements().size()));
}

/// Leaves of the statement below the tape.
template <class L> requires(depth_v<typename L::scalar> == 0) const L& untape_leaf(const L& l) { return l; }
template <class S, int R, bool O> auto untape_leaf(const leaf<S, R, O>& l) {
  if constexpr (has_var_v<S> && is_differentiable_v<elem_t<S>>) return leaf<untaped_t<S>, R, O>{untape(l.data), l.map};
  else return l;
}
template <class T, int R> auto untape_leaf(const whole_leaf<T, R>& l) { return l; }
template <class S> auto untape_leaf(const scalar_leaf<S>& l) {
  if constexpr (has_var_v<S>) return scalar_leaf<untaped_t<S>>{untape_scalar(l.value)};
  else return l;
}

/// The same expression below the tape; alive as long as `e` is.
template <class E> auto untape_expression(const owned<E>& e);
template <class Op, class... A> auto untape_expression(const node<Op, A...>& e);
template <int D, int K, class S, int R> auto untape_expression(const let_arg<D, K, S, R>& a);
template <int D, class Body, class... B> auto untape_expression(const let_node<D, Body, B...>& e);
template <class L> auto untape_expression(const L& l) { return untape_leaf(l); }
template <class Op, class... A> auto untape_expression(const node<Op, A...>& e) {
  return [&]<int... I>(std::integer_sequence<int, I...>) { return expr::make_bare<Op>(untape_expression(at<I>(e.args))...); }(
      std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>{});
}
template <int D, int K, class S, int R> auto untape_expression(const let_arg<D, K, S, R>& a) { return let_arg<D, K, untaped_t<S>, R>{a.extent}; }
template <int D, class Body, class... B> auto untape_expression(const let_node<D, Body, B...>& e) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    auto body = untape_expression(e.body);
    auto bound = make_bundle(untape_expression(at<I>(e.bound))...);
    return let_node<D, decltype(body), std::remove_cvref_t<decltype(at<I>(bound))>...>{bound, body};
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(B))>{});
}
template <class E> auto untape_expression(const owned<E>& e) { return untape_expression(expr::tree(e)); }
/// A result computed below the tape as scalars S, without slots yet.
template <class S> store<S> retape(store<untaped_t<S>> v) {
  if constexpr (is_var_v<S>) {
    return store<S>(static_cast<store<untaped_t<S>>&&>(v), {});
  } else if constexpr (is_dual_v<S>) {
    store<S> s;
    s.value_ = retape<inner_t<S>>(v.value_);
    for (int k = 0; k < planes_v<S> / planes_v<inner_t<S>> - 1; ++k) s.tangent_[k] = retape<inner_t<S>>(v.tangent_[k]);
    return s;
  } else {
    return store<S>(retape<inner_t<S>>(v.inner()), v.examples(), v.size());
  }
}

}  // namespace ad
TTENSOR_END
