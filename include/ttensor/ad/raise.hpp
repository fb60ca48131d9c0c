// Leaves of older tapes in a statement of a newer one: each becomes a constant of the newer tape that is still a variable of
// its own, so that taking the newest tape off the statement leaves every operand as it was.
#pragma once
#include "untape.hpp"

TTENSOR_BEGIN
namespace ad {

/// A taped scalar type whose newest tape is older than the level var<X>.
template <class S, class X> inline constexpr bool is_older_v = has_var_v<S> && is_differentiable_v<elem_t<S>> && (depth_v<S> <= depth_v<X>);
template <class S, class X> using raised_t = var<reelem_t<X, elem_t<S>>>;

/// Leaves and placeholders on the level var<X>.
template <class X> struct raising {
  template <class S, int R, bool O> static auto of(const leaf<S, R, O>& l) {
    if constexpr (!is_older_v<S, X>) {
      return l;
    } else {
      using Y = reelem_t<X, elem_t<S>>;
      if constexpr (depth_v<S> == depth_v<X>) return leaf<var<Y>, R, O>{{l.data, {}}, l.map};
      else return leaf<var<Y>, R>{{statement_rule<Y>::evaluate(l, l.shape()).snap(), {}}, layout_map<R>::row_major(l.shape())};
    }
  }
  template <class T, int R> static auto of(const whole_leaf<T, R>& l) { return l; }
  template <class S> static auto of(const scalar_leaf<S>& l) {
    if constexpr (!is_older_v<S, X>) return l;
    else return scalar_leaf<raised_t<S, X>>{raised_t<S, X>(reelem_t<X, elem_t<S>>(l.value))};
  }
  template <int D, int K, class S, int R> static auto of(const let_arg<D, K, S, R>& a) {
    if constexpr (!is_older_v<S, X>) return a;
    else return let_arg<D, K, raised_t<S, X>, R>{a.shape()};
  }
};
template <class X, class E> auto raised(const E& e) { return expr::on_leaves<raising<X>>::of(e); }
template <class X, class... L> constexpr bool any_older(type_list<L...>) { return (is_older_v<typename L::scalar, X> || ...); }
/// True when the statement `E` of the tape level var<X> holds a leaf of an older tape.
template <class E, class X> inline constexpr bool needs_raising_v = has_var_v<X> && any_older<X>(leaves_of_t<E>{});

}  // namespace ad
TTENSOR_END
