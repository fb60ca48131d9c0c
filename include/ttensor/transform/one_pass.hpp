// Forward mode with all tangents at once, where the arguments are numbers, as many as the type says: f runs once, on dual<T, N>.
#pragma once
#include "forward.hpp"

TTENSOR_BEGIN

namespace one_pass {
inline constexpr int most = 16;  // tangents; above, passes with one each

/// Numbers that are differentiated in a tree of numbers, std::arrays, tuples and aggregates of them; more than `most` in any other.
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
    return most + 1;
  }
}
/// Whether the Jacobian of F by X takes one pass, over the chain C and beside arguments A. Not where f may have arrays: it captures nothing, no argument is one. The
/// loops of array statements hold one tangent in registers, and four only in memory (1.6 times as long). Nor inside another transform: a tape takes one tangent
/// above it (ad/taped.hpp), and numbers that stand for examples are arrays.
template <class F, class C, class X, class... A>
inline constexpr bool fits = is_captureless_v<F> && depth_v<C> == 0 && inputs<X>() > 1 && inputs<X>() <= most && ((inputs<A>() <= most) && ...);

template <int N> struct tangents {
  template <class X> using scalar = dual<X, N>;
};
/// Arguments whose elements, in the order of the leaves, have the unit vectors as tangents.
template <int N> struct seed {
  int& next;
  template <class A, class Out> Out operator()(const A& a, std::type_identity<Out>) const {
    if constexpr (!tree::is_differentiable_leaf_v<A>) {
      return Out(a);
    } else {
      Out x(inner_t<Out>{a});
      x.tangent_at(next++) = inner_t<Out>(1);
      return x;
    }
  }
};

/// What f gave at x: its value, and its derivatives by element k of x.
template <class Level, class R> struct result {
  using Y = tree::rebind_t<tree::result_without<Level>, R>;
  R wrapped;
  Y y = tree::map<Y>(forward_detail::value_part{}, wrapped);
  Y along(int k) const { return tree::map<Y>(forward_detail::tangent_part<Level>{k}, wrapped); }
};
/// f over the chain C.
template <class C, class F, class X> auto run(const F& f, const X& x) {
  constexpr int n = inputs<X>();
  using W = tree::rebind_t<tree::wrap_in<tangents<n>::template scalar, C>, X>;
  int next = 0;
  std::tuple<W> wrapped(tree::map<W>(seed<n>{next}, x));
  auto y = forward_detail::evaluated<dual<C, n>>(f, wrapped);
  return result<dual<C, n>, decltype(y)>{std::move(y)};
}
}  // namespace one_pass

TTENSOR_END
