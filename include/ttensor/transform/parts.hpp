// One derivative level of a tree taken apart and put together. With C = batched^k<L<X>>, where L (dual or var) is the newest
// derivative kind, a leaf of depth at least that of L<X> splits into its value batched^j<X> and, for a dual, its tangents.
#pragma once
#include "common.hpp"

TTENSOR_BEGIN
namespace parts {

/// The newest kind of a chain that carries derivatives; void when there is none.
template <class C> struct newest { using type = void; };
template <class T, int N> struct newest<dual<T, N>> { using type = dual<T, N>; };
template <class T> struct newest<var<T>> { using type = var<T>; };
template <class T> struct newest<batched<T>> : newest<T> {};
template <class C> using newest_t = typename newest<C>::type;

/// S without its newest derivative kind.
template <class S> struct below { using type = S; };
template <class S> using below_t = typename below<S>::type;
template <class T, int N> struct below<dual<T, N>> { using type = T; };
template <class T> struct below<var<T>> { using type = T; };
template <class T> struct below<batched<T>> { using type = batched<below_t<T>>; };

template <class S, class L> inline constexpr bool has_level_v = is_differentiable_v<elem_t<S>> && depth_v<S> >= depth_v<L>;
template <class L> struct below_level {
  static constexpr int rank_change = 0;
  static constexpr bool noted_leaf = true;
  template <class S> static constexpr auto get() {
    if constexpr (noted_v<S>)
      return std::type_identity<
          storage_scalar_t<reelem_t<typename decltype(get<reelem_t<S, double>>())::type, elem_t<S>>>>{};
    else if constexpr (has_level_v<S, L>) return std::type_identity<below_t<S>>{};
    else return std::type_identity<S>{};
  }
  template <class S> using map = typename decltype(get<S>())::type;
  template <class S> using scalar_of_struct = map<S>;
};
template <class L, class T> using below_tree_t = tree::rebind_t<below_level<L>, T>;

// ---- apart ---------------------------------------------------------------------------------------------------------------
template <class X> const store<X>& value(const store<var<X>>& s) { return s.values(); }
template <class T, int N> const store<T>& value(const store<dual<T, N>>& s) { return s.value_; }
template <class T> store<batched<below_t<T>>> value(const store<batched<T>>& s) {
  return {value(s.inner()).value(), s.examples(), s.size()};
}
template <class T, int N> const store<T>& tangent(const store<dual<T, N>>& s, int k) { return s.tangent_[k]; }
template <class T> store<batched<below_t<T>>> tangent(const store<batched<T>>& s, int k) {
  return {tangent(s.inner(), k).value(), s.examples(), s.size()};
}
template <class X> X scalar_value(const var<X>& x) { return x.value(); }
template <class T, int N> T scalar_value(const dual<T, N>& x) { return x.value; }
template <class T> batched<below_t<T>> scalar_value(const batched<T>& x) { return batched<below_t<T>>(value(x.elements())); }
template <class T, int N> T scalar_tangent(const dual<T, N>& x, int k) { return x.tangent_at(k); }
template <class T> batched<below_t<T>> scalar_tangent(const batched<T>& x, int k) { return batched<below_t<T>>(tangent(x.elements(), k)); }

template <class L> struct value_of_level {
  template <class Y, class Out> Out operator()(const Y& y, std::type_identity<Out>) const {
    if constexpr (!has_level_v<scalar_t<Y>, L>) return y;
    else if constexpr (tree::tensor_leaf<Y>) return Out(value(y.elements()).value(), y.shape());
    else return scalar_value(y);
  }
};
template <class L> struct tangent_of_level {
  static constexpr bool every_leaf = true;  // of integers and masks: zeros
  int k;
  template <class Y, class Out> Out operator()(const Y& y, std::type_identity<Out>) const {
    if constexpr (tree::is_keys_v<Y>) {
      return tree::keys_as<Out>(y);
    } else if constexpr (!has_level_v<scalar_t<Y>, L>) {
      if constexpr (tree::tensor_leaf<Y>) return Out(y.shape());
      else return Out(0);
    } else if constexpr (tree::tensor_leaf<Y>) return Out(tangent(y.elements(), k).value(), y.shape());
    else return scalar_tangent(y, k);
  }
};

// ---- together: duals -----------------------------------------------------------------------------------------------------
template <class S, int N> store<S> join(const store<below_t<S>>& v, array<store<below_t<S>>, N> t) {
  if constexpr (is_dual_v<S>) {
    return store<S>(v.value(), static_cast<array<store<below_t<S>>, N>&&>(t));
  } else {
    auto value = v.value();
    value.require_batch(v.batch());
    auto b = v.batch();
    for (int k = 0; k < N; ++k) {
      const auto c = t[k].batch();
      for (int d = 0; d < c.size(); ++d) eval_detail::meet_batch(b[d], c[d]);
    }
    value.require_batch(b);
    array<store<below_t<inner_t<S>>>, N> inner;
    for (int k = 0; k < N; ++k) {
      t[k].require_batch(b);
      inner[k] = t[k].inner().value();
    }
    const index_t examples = value.examples(), size = value.size();
    return store<S>(join<inner_t<S>, N>(value.inner(), static_cast<decltype(inner)&&>(inner)), examples, size);
  }
}
/// Leaves of y joined with the leaves of N tangent trees of the same type, given as addresses in leaf order.
template <int N> struct join_leaf {
  const std::vector<const void*>* tangents;
  std::size_t& k;
  template <class Y, class Out> Out operator()(const Y& y, std::type_identity<Out>) const {
    const std::size_t at = k++;
    using S = scalar_t<Out>;
    if constexpr (tree::tensor_leaf<Y> || is_batched_v<S>) {
      array<store<below_t<S>>, N> t;
      for (int i = 0; i < N; ++i) {
        const Y& v = *static_cast<const Y*>(tangents[i][at]);
        if constexpr (tree::tensor_leaf<Y>)
          if (!(v.shape() == y.shape()))
            raise<shape_error>("[custom_jvp] the rule's tangent has shape " + shape::text(v.shape()) +
                               " and its value " + shape::text(y.shape()) + "; return a tangent of the shape of the value [TT-S15]");
        t[i] = v.elements().value();
      }
      if constexpr (tree::tensor_leaf<Y>) return Out(join<S, N>(y.elements(), static_cast<decltype(t)&&>(t)), y.shape());
      else return Out(join<S, N>(y.elements(), static_cast<decltype(t)&&>(t)));
    } else {
      Out r;
      r.value = y;
      for (int i = 0; i < N; ++i) r.tangent_at(i) = *static_cast<const Y*>(tangents[i][at]);
      return r;
    }
  }
};

}  // namespace parts
TTENSOR_END
