// Taking the outermost tape level off scalars, snapshots, leaves and expressions, and putting it back on results.
#pragma once
#include "../expr/on_leaves.hpp"
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
template <class T, class W> struct untaped<basic_batched<T, W>> { using type = kinds::unnoted_t<basic_batched<T, W>>; };

/// A snapshot or scalar S as one of scalars To: rule(part) for every part var<X> inside the duals and batches that are outside the tape.
template <class To, class S, bool O, class Rule> snapshot<To, O> on_taped(const snapshot<S, O>& s, const Rule& rule) {
  if constexpr (is_var_v<S>) {
    return rule(s);
  } else if constexpr (is_dual_v<S>) {
    snapshot<To, O> r{on_taped<inner_t<To>>(s.value, rule), {}};
    for (int k = 0; k < s.tangent.size(); ++k) r.tangent[k] = on_taped<inner_t<To>>(s.tangent[k], rule);
    return r;
  } else {
    return {on_taped<inner_t<To>>(s.inner, rule), s.batch, s.size};
  }
}
template <class To, scalar_kind S, class Rule> To on_taped(const S& s, const Rule& rule) {
  if constexpr (is_var_v<S>) {
    return rule(s);
  } else if constexpr (is_dual_v<S>) {
    To r;
    r.value = on_taped<inner_t<To>>(s.value, rule);
    for (int k = 0; k < planes_v<S> / planes_v<inner_t<S>> - 1; ++k) r.tangent_at(k) = on_taped<inner_t<To>>(s.tangent_at(k), rule);
    return r;
  } else {
    return To(store<To>::over(on_taped<To>(s.elements().snap(), rule), s.elements().size()));
  }
}
struct value_of_var {
  template <class X, bool O> snapshot<X, O> operator()(const snapshot<var<X>, O>& s) const { return s.value; }
  template <class X> X operator()(const var<X>& v) const { return v.value(); }
};
template <class S, bool O> auto untape(const snapshot<S, O>& s) { return on_taped<untaped_t<S>>(s, value_of_var{}); }
template <class S> auto untape(const S& s) { return on_taped<untaped_t<S>>(s, value_of_var{}); }

/// Leaves of the statement below the tape.
template <class L> requires(depth_v<typename L::scalar> == 0) const L& untape_leaf(const L& l) { return l; }
template <class S, int R, bool O> auto untape_leaf(const leaf<S, R, O>& l) {
  if constexpr (has_var_v<S> && is_differentiable_v<elem_t<S>>) return leaf<untaped_t<S>, R, O>{untape(l.data), l.map};
  else return leaf<kinds::unnoted_t<S>, R, O>{with_note<kinds::unnoted_t<S>>(l.data), l.map};
}
template <class T, int R> auto untape_leaf(const whole_leaf<T, R>& l) { return l; }
template <class S> auto untape_leaf(const scalar_leaf<S>& l) {
  if constexpr (has_var_v<S>) return scalar_leaf<untaped_t<S>>{untape(l.value)};
  else return l;
}

template <int D, int K, class S, int R> auto untape_leaf(const let_arg<D, K, S, R>& a) { return let_arg<D, K, untaped_t<S>, R>{a.shape()}; }

struct without_tape {
  static auto of(const auto& l) { return untape_leaf(l); }
};
/// The same expression below the tape.
template <class E> auto untape_expression(const E& e) { return expr::on_leaves<without_tape>::of(e); }
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
