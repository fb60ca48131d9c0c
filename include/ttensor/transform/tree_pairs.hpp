// A tree made of two trees of one structure, leaf by leaf.
#pragma once
#include "tree.hpp"

TTENSOR_BEGIN
namespace tree {

template <class Struct, class Out, int I, class F, class A, class B> Out map_pair_field(F& f, const A& a, const B& b);
/// A tree of type Out. F has leaf<Out>(x, y) for leaves (tensors, scalars, single keys), constant<Out, Field>(x, y) for static parts (Field: of an aggregate), and
/// differ(), which throws, for parts that one of the two has not.
template <class Out, class F, class A, class B> Out map_pair(F& f, const A& a, const B& b) {
  if constexpr (tensor_leaf<A> || scalar_leaf_type<A> || (is_keys_v<A> && requires { a.seed; })) {
    return f.template leaf<Out>(a, b);
  } else if constexpr (tuple_like<A>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Out{map_pair<std::tuple_element_t<I, Out>>(f, std::get<I>(a), std::get<I>(b))...};
    }(std::make_index_sequence<std::tuple_size_v<A>>{});
  } else if constexpr (is_container_v<A>) {
    if constexpr (requires { a.has_value(); }) {
      if (a.has_value() != b.has_value()) f.differ();
      return a.has_value() ? Out(map_pair<part_t<Out>>(f, *a, *b)) : Out();
    } else {
      if (!same_parts(a, b)) f.differ();
      return map_parts<Out>([&](const auto& x, const auto& y) { return map_pair<part_t<Out>>(f, x, y); }, a, b);
    }
  } else if constexpr (is_aggregate_tree_v<A> || is_record_v<A>) {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return Out{map_pair_field<A, field_t<Out, I>, I>(f, field<I>(a), field<I>(b))...};
    }(std::make_integer_sequence<int, field_count<A>()>{});
  } else {
    return f.template constant<Out, false>(a, b);
  }
}
template <class Struct, class Out, int I, class F, class A, class B> Out map_pair_field(F& f, const A& a, const B& b) {
  if constexpr (is_static_field_v<Struct, I>) return f.template constant<Out, true>(a, b);
  else return map_pair<Out>(f, a, b);
}

}  // namespace tree
TTENSOR_END
