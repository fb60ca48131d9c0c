// Tangents and cotangents have the structure, the shapes and the element types of what they belong to.
#pragma once
#include "level.hpp"

TTENSOR_BEGIN
namespace tree {

template <class A, class V> constexpr bool same_element() {
  using T = std::remove_cvref_t<V>;
  if constexpr (cpp_number<T>) return true;  // weak: adopts the type
  else return std::is_same_v<elem_t<scalar_t<A>>, elem_t<scalar_t<T>>>;
}
/// Throws shape_error when the leaves of `v` differ from those of `a`; other structures and element types do not compile.
/// Op gives the names for the message: Op::name, Op::what, Op::id.
template <class Op, class A, class V> void require_like(const A& a, const V& v);
template <class Op, class Struct, int I, class A, class V> void require_like_field(const A& a, const V& v) {
  if constexpr (!is_static_field_v<Struct, I>) require_like<Op>(field<I>(a), field<I>(v));
}
template <class Op> [[noreturn]] TTENSOR_NOINLINE void unlike_parts(std::size_t a, std::size_t v) {
  raise<shape_error>(std::string("[") + Op::name + "] a tree with " + std::to_string(a) + " parts has a " + Op::what + " with " + std::to_string(v) +
                     "; give one for each part [TT-S10]");
}
template <class Op, class A, class V> void require_like(const A& a, const V& v) {
  if constexpr (tensor_leaf<A> || scalar_leaf_type<A>) {
    if constexpr (is_differentiable_leaf_v<A>) {
      static_assert(tensor_leaf<A> == tensor_leaf<V> && (tensor_leaf<V> || scalar_leaf_type<V>),
                    "ttensor: a tangent or cotangent has another structure than its argument or result");
      static_assert(rank_v<A> == rank_v<V>, "ttensor: a tangent or cotangent has another rank than its argument or result");
      static_assert(same_element<A, V>(), "ttensor: a tangent or cotangent has another element type than its argument or result; convert it with to<T>(x)");
      if constexpr (tensor_leaf<A> && tensor_leaf<V>)
        if (!(a.shape() == v.shape()))
          raise<shape_error>(std::string("[") + Op::name + "] shape " + shape::text(a.shape()) + " and " + Op::what + " shape " + shape::text(v.shape()) +
                             " differ; give it the same shape [" + Op::id + "]");
    }
  } else if constexpr (requires { std::tuple_size<A>::value; }) {
    constexpr std::size_t n = std::tuple_size_v<A>;
    constexpr bool fits = [] {
      if constexpr (requires { std::tuple_size<V>::value; }) return std::tuple_size_v<V> == n;
      else return false;
    }();
    static_assert(fits, "ttensor: a tangent or cotangent has another structure than its argument or result");
    if constexpr (fits) [&]<std::size_t... I>(std::index_sequence<I...>) { (require_like<Op>(std::get<I>(a), std::get<I>(v)), ...); }(std::make_index_sequence<n>{});
  } else if constexpr (is_container_v<A>) {
    static_assert(is_container_v<V>, "ttensor: a tangent or cotangent has another structure than its argument or result");
    if constexpr (requires { a.has_value(); }) {
      if (a.has_value() != v.has_value()) unlike_parts<Op>(a.has_value(), v.has_value());
      if (a.has_value()) require_like<Op>(*a, *v);
    } else {
      if (a.size() != v.size()) unlike_parts<Op>(a.size(), v.size());
      for (std::size_t i = 0; i < a.size(); ++i) require_like<Op>(a[i], v[i]);
    }
  } else if constexpr (is_aggregate_tree_v<A>) {
    constexpr bool fits = std::is_same_v<rebind_t<lift_to<double>, A>, rebind_t<lift_to<double>, V>>;
    static_assert(fits, "ttensor: a tangent or cotangent has another structure than its argument or result");
    if constexpr (fits) [&]<int... I>(std::integer_sequence<int, I...>) { (require_like_field<Op, A, I>(a, v), ...); }(std::make_integer_sequence<int, field_count<A>()>{});
  }
}

}  // namespace tree
TTENSOR_END
