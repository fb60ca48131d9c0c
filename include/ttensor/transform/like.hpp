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
struct leaf_names {  // for the message
  const char *name, *what, *id;
};
[[noreturn]] void unlike_shapes(const leaf_names& names, const index_t* a, const index_t* v, int rank);
[[noreturn]] void unlike_parts(const leaf_names& names, std::size_t a, std::size_t v);
[[noreturn]] void unlike_names(const leaf_names& names, const message& missing);
#if defined(TTENSOR_BODY)
TTENSOR_BODY void unlike_shapes(const leaf_names& names, const index_t* a, const index_t* v, int rank) {
  raise<shape_error>(message("[") + names.name + "] shape " + shape_text(a, rank) + " and " + names.what + " shape " + shape_text(v, rank) +
                     " differ; give it the same shape [" + names.id + "]");
}
TTENSOR_BODY void unlike_parts(const leaf_names& names, std::size_t a, std::size_t v) {
  raise<shape_error>(message("[") + names.name + "] a tree with " + to_message(static_cast<index_t>(a)) +
                     " parts has a " + names.what + " with " + to_message(static_cast<index_t>(v)) +
                     "; give one for each part [TT-S10]");
}
TTENSOR_BODY void unlike_names(const leaf_names& names, const message& missing) {
  raise<shape_error>(message("[") + names.name + "] the " + names.what + " has no part of the name " + missing + "; give one for each part [TT-S10]");
}
#endif
/// The name of a part, for messages.
template <class K> message name_text(const K& name) {
  if constexpr (requires { name.c_str(); }) return message(name.c_str());
  else if constexpr (std::is_integral_v<K>) return to_message(static_cast<std::int64_t>(name));
  else return static_cast<void>(name), message("(no text)");
}
template <class Op> inline constexpr leaf_names names_of{Op::name, Op::what, Op::id};
/// Throws shape_error when the leaves of `v` differ from those of `a`; other structures and element types do not compile.
/// Op gives the names for the message: Op::name, Op::what, Op::id.
template <class Op, class A, class V> void require_like(const A& a, const V& v);
template <class Op, class Struct, int I, class A, class V> void require_like_field(const A& a, const V& v) {
  if constexpr (!is_static_field_v<Struct, I>) require_like<Op>(field<I>(a), field<I>(v));
}
template <class Op, class A, class V> void require_like(const A& a, const V& v) {
  if constexpr (tensor_leaf<A> || scalar_leaf_type<A>) {
    if constexpr (is_differentiable_leaf_v<A>) {
      static_assert(tensor_leaf<A> == tensor_leaf<V> && (tensor_leaf<V> || scalar_leaf_type<V>),
                    "ttensor: a tangent or cotangent has another structure than its argument or result");
      static_assert(rank_v<A> == rank_v<V>, "ttensor: a tangent or cotangent has another rank than its argument or result");
      static_assert(
          same_element<A, V>(),
          "ttensor: a tangent or cotangent has another element type than its argument or result; convert it with to<T>(x)");
      if constexpr (tensor_leaf<A> && tensor_leaf<V> && rank_v<A> == rank_v<V>) {
        static_assert(shape::may_be_equal<A::shape_parameter, V::shape_parameter>(),
                      "ttensor: a tangent or cotangent has other extents in its type than its argument or result");
        if (const auto e = a.shape(), d = v.shape(); !(e == d)) unlike_shapes(names_of<Op>, e.v, d.v, rank_v<A>);
      }
    }
  } else if constexpr (tuple_like<A>) {
    constexpr std::size_t n = std::tuple_size_v<A>;
    constexpr bool fits = [] {
      if constexpr (tuple_like<V>) return std::tuple_size_v<V> == n;
      else return false;
    }();
    static_assert(fits, "ttensor: a tangent or cotangent has another structure than its argument or result");
    if constexpr (fits)
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (require_like<Op>(std::get<I>(a), std::get<I>(v)), ...);
      }(std::make_index_sequence<n>{});
  } else if constexpr (is_container_v<A>) {
    static_assert(is_container_v<V> && is_keyed_v<A> == is_keyed_v<V>, "ttensor: a tangent or cotangent has another structure than its argument or result");
    if constexpr (requires { a.has_value(); }) {
      if (a.has_value() != v.has_value()) unlike_parts(names_of<Op>, a.has_value(), v.has_value());
      if (a.has_value()) require_like<Op>(*a, *v);
    } else {
      if (a.size() != v.size()) unlike_parts(names_of<Op>, a.size(), v.size());
      if constexpr (is_keyed_v<A>)
        for (const auto& [name, x] : a)
          if (v.find(name) == v.end()) unlike_names(names_of<Op>, name_text(name));
      each_part([](const auto& x, const auto& d) { require_like<Op>(x, d); }, a, v);
    }
  } else if constexpr (is_aggregate_tree_v<A> || is_record_v<A>) {
    constexpr bool fits = std::is_same_v<rebind_t<lift_to<double>, A>, rebind_t<lift_to<double>, V>>;
    static_assert(fits, "ttensor: a tangent or cotangent has another structure than its argument or result");
    if constexpr (fits)
      [&]<int... I>(std::integer_sequence<int, I...>) {
        (require_like_field<Op, A, I>(a, v), ...);
      }(std::make_integer_sequence<int, field_count<A>()>{});
  }
}

}  // namespace tree
TTENSOR_END
