// Forward mode with several tangents at once, where the arguments are numbers, as many as the type says: f runs on dual<T, N>.
#pragma once
#include "forward.hpp"

TTENSOR_BEGIN

namespace one_pass {
// Tangents of a pass. An array in a statement of f is N + 1 planes of the 256 that a statement has, twice that in a Hessian: 36 and 18 such arrays and numbers, the result among them.
inline constexpr int most = 6;
inline constexpr int unknown = 1 << 20;

/// Numbers that are differentiated in a tree of numbers, std::arrays, tuples and aggregates of them; `unknown` or more in any other.
template <class X> constexpr int inputs() {
  if constexpr (tree::scalar_leaf_type<X>) {
    return tree::is_differentiable_leaf_v<X> ? 1 : 0;
  } else if constexpr (tuple_like<X>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (inputs<std::tuple_element_t<I, X>>() + ... + 0);
    }(std::make_index_sequence<std::tuple_size_v<X>>{});
  } else if constexpr (tree::is_aggregate_tree_v<X>) {
    return []<int... I>(std::integer_sequence<int, I...>) {
      return (inputs<std::conditional_t<tree::is_static_field_v<X, I>, int, tree::field_t<X, I>>>() + ... + 0);
    }(std::make_integer_sequence<int, tree::field_count<X>()>{});
  } else {
    return unknown;
  }
}
/// Tangents of a pass: of as few passes as there may be, evenly.
template <class X> constexpr int tangents_of() {
  constexpr int n = inputs<X>(), passes = (n + most - 1) / most;
  return (n + passes - 1) / passes;
}
/// Whether the Jacobian of F by X takes such passes, over the chain C and beside arguments A: where F is likely to be code in scalars, since it captures nothing and
/// is given no arrays. The loops of array statements hold one tangent in registers, and four only in memory (1.6 to 1.9 times as long, six as long as six passes). Not inside another transform:
/// a tape takes one tangent above it (ad/taped.hpp), and numbers that stand for examples are arrays.
template <class F, class C, class X, class... A>
inline constexpr bool fits = is_captureless_v<F> && depth_v<C> == 0 && inputs<X>() > 1 && inputs<X>() < unknown && ((inputs<A>() < unknown) && ...);

template <int N> struct tangents {
  template <class X> using scalar = dual<X, N>;
};
/// Arguments whose numbers, in the order of the leaves, have unit vectors as tangents: number `first` the first, and so on.
template <int N> struct seed {
  int first;
  int& at;
  template <class A, class Out> Out operator()(const A& a, std::type_identity<Out>) const {
    if constexpr (!tree::is_differentiable_leaf_v<A>) {
      return Out(a);
    } else {
      Out x(inner_t<Out>{a});
      const int k = at++ - first;
      if (k >= 0 && k < N) x.tangent_at(k) = inner_t<Out>(1);
      return x;
    }
  }
};

/// What f gives at x over the chain C: the value, and the derivatives by its numbers one after another; with Aux of the first of two parts.
template <class C, bool Aux, class F, class X> struct derivatives {
  static constexpr int n = tangents_of<X>();
  using Level = dual<C, n>;
  using W = tree::rebind_t<tree::wrap_in<tangents<n>::template scalar, C>, X>;
  static_assert(!probe_captured_v<F, W>);
  static auto pass(const F& f, const X& x, int first) {
    int at = 0;
    std::tuple<W> wrapped(tree::map<W>(seed<n>{first, at}, x));
    return forward_detail::evaluated<Level>(f, wrapped);
  }
  using R = decltype(pass(std::declval<const F&>(), std::declval<const X&>(), 0));
  using Y = tree::rebind_t<tree::result_without<Level>, std::remove_cvref_t<decltype(reverse_detail::main<Aux>(std::declval<const R&>()))>>;

  const F& f;
  const X& x;
  int next = 0;
  R duals = pass(f, x, 0);
  const Y y = tree::map<Y>(forward_detail::value_part{}, reverse_detail::main<Aux>(duals));
  Y by_next() {
    if (next > 0 && next % n == 0) duals = pass(f, x, next);
    return tree::map<Y>(forward_detail::tangent_part<Level>{next++ % n}, reverse_detail::main<Aux>(duals));
  }
  auto aux() const { return tree::map<tree::rebind_t<tree::result_without<Level>, std::remove_cvref_t<decltype(tree::part<1>(duals))>>>(forward_detail::value_part{}, tree::part<1>(duals)); }
};
}  // namespace one_pass

TTENSOR_END
