// The common type of two trees: leaf by leaf the newest level and the wider element of both. Branches of cond and the states
// of a loop meet in it, so a captured variable of an outer level may enter on either side.
#pragma once
#include "level.hpp"

TTENSOR_BEGIN
namespace tree {

template <class A, class B> struct common {
  static_assert(
      std::is_same_v<A, B>,
      "ttensor: two results that must have one structure (the branches of cond, a loop's state before and after its body) differ");
  using type = A;
};
template <class A, class B> struct common_of : common<A, B> {};
template <class A> struct common_of<A, A> { using type = A; };
template <class A, class B> using common_t = typename common_of<A, B>::type;

template <class A, class B> requires(scalar_leaf_type<A> && scalar_leaf_type<B>) struct common<A, B> {
  using type = join_chain_t<promote_t<elem_t<A>, elem_t<B>>, A, B>;
};
template <class A, auto Sh, class B> struct common<tensor<A, Sh>, tensor<B, Sh>> { using type = tensor<common_t<A, B>, Sh>; };
template <class A, auto ShA, class B, auto ShB> struct common<tensor<A, ShA>, tensor<B, ShB>> {
  static_assert(shape::rank_of<ShA>() == shape::rank_of<ShB>(),
                "ttensor: two results that must have one structure have tensors of different ranks");
  using type = tensor<common_t<A, B>, shape::rank_of<ShA>()>;
};
template <class... A, class... B> requires(sizeof...(A) == sizeof...(B))
struct common<std::tuple<A...>, std::tuple<B...>> {
  using type = std::tuple<common_t<A, B>...>;
};
template <class A1, class A2, class B1, class B2> struct common<std::pair<A1, A2>, std::pair<B1, B2>> {
  using type = std::pair<common_t<A1, B1>, common_t<A2, B2>>;
};
template <class A, class B, std::size_t N> struct common<std::array<A, N>, std::array<B, N>> {
  using type = std::array<common_t<A, B>, N>;
};
template <class A, class B> struct common<std::vector<A>, std::vector<B>> { using type = std::vector<common_t<A, B>>; };
template <class A, class B> struct common<std::optional<A>, std::optional<B>> { using type = std::optional<common_t<A, B>>; };
template <class A, class B> requires(is_keyed_v<A> && is_keyed_v<B>) struct common<A, B> {
  using type = with_parts_t<A, common_t<part_t<A>, part_t<B>>>;
  static_assert(std::is_same_v<type, with_parts_t<B, part_t<type>>>, "ttensor: two results that must have one structure are different maps");
};
template <class A, class B> requires(is_aggregate_tree_v<A> && is_aggregate_tree_v<B>) struct common<A, B> {
  using C = join_chain_t<double, typename aggregate_of<A>::scalar, typename aggregate_of<B>::scalar>;
  using type = rebind_t<lift_to<C>, A>;
  static_assert(std::is_same_v<type, rebind_t<lift_to<C>, B>>,
                "ttensor: two results that must have one structure are different aggregates");
};

struct lift_leaf {
  template <class X, class Out> Out operator()(const X& x, std::type_identity<Out>) const {
    if constexpr (std::is_same_v<X, Out>) return x;
    else return leaf_as<Out>(x);
  }
};
/// The same tree with deeper scalars: constants of the added levels.
template <class Out, class In> Out lift(const In& in) {
  if constexpr (std::is_same_v<Out, In>) return in;
  else return map<Out>(lift_leaf{}, in);
}

}  // namespace tree
TTENSOR_END
