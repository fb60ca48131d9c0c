// What a Jacobian consists of: the differentiable leaves of the result by those of the argument, a block for each two.
#pragma once
#include "options.hpp"

TTENSOR_BEGIN

namespace jacobian_detail {
template <class T> inline constexpr bool is_one_leaf_v = tree::is_differentiable_leaf_v<T>;

/// The differentiable leaves of a tree as a tuple of references, in field order.
template <class T> auto leaf_refs(T& t);
template <class T, int I> auto field_refs(T& t) {
  if constexpr (tree::is_static_field_v<std::remove_const_t<T>, I>) return std::tuple<>();
  else return leaf_refs(tree::field<I>(t));
}
template <class T> auto leaf_refs(T& t) {
  using D = std::remove_const_t<T>;
  if constexpr (is_one_leaf_v<D>) return std::tie(unstacked(t));
  else if constexpr (tuple_like<D>)
    return meta::unpack([](auto&... x) { return std::tuple_cat(leaf_refs(x)...); }, t);
  else if constexpr (tree::is_aggregate_tree_v<D> || tree::is_record_v<D>)
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return std::tuple_cat(field_refs<T, I>(t)...);
    }(std::make_integer_sequence<int, tree::field_count<D>()>{});
  else {
    static_assert(
        !tree::is_container_v<D> || tree::leaf_count<D>::value == 0,
        "ttensor: a Jacobian needs the number of leaves of the result at compile time, and a Hessian that of the argument, whose gradient is its result; "
        "use a tensor, std::array or std::tuple instead of a vector, map or optional");
    return std::tuple<>();
  }
}
template <class T> using leaf_refs_t = decltype(leaf_refs(std::declval<T&>()));

// ---- types --------------------------------------------------------------------------------------------------------------
/// Adds the axes of the leaf O and joins its element type, over the chain C.
template <class C, class O> struct with_axes_of {
  static constexpr int rank_change = rank_v<O>;
  template <class S> using map = reelem_t<C, promote_t<elem_t<scalar_t<O>>, elem_t<S>>>;
  template <class S> using scalar_of_struct = map<S>;
};
/// One leaf O of the result by the argument X: a row of blocks.
template <class C, class O, class X> using row_t = tree::rebind_t<with_axes_of<C, O>, X>;
template <class C, class X, class Ys> struct rows;
template <class C, class X, class... O> struct rows<C, X, std::tuple<O&...>> {
  using type = std::tuple<row_t<C, std::remove_const_t<O>, X>...>;
};
template <class Refs> struct values_of;
template <class... L> struct values_of<std::tuple<L&...>> { using type = std::tuple<std::remove_const_t<L>...>; };
template <class Rows> struct table;
template <class... R> struct table<std::tuple<R...>> { using type = std::tuple<typename values_of<leaf_refs_t<R>>::type...>; };
template <class C, class Y, class X> constexpr auto result_type() {
  if constexpr (is_one_leaf_v<Y>) return std::type_identity<row_t<C, Y, X>>{};
  else if constexpr (is_one_leaf_v<X>) return std::type_identity<tree::rebind_t<with_axes_of<C, X>, Y>>{};
  else return table<typename rows<C, X, leaf_refs_t<Y>>::type>{};
}
template <class C, class Y, class X> using result_t = typename decltype(result_type<C, Y, X>())::type;

}  // namespace jacobian_detail

TTENSOR_END
