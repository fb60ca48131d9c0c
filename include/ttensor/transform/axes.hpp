// The axes that vmap maps over: in_axes, out_axes, in_axes_tree, and the entry of each part of an argument.
#pragma once
#include <array>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include "../base/meta.hpp"

TTENSOR_BEGIN

/// Leaves an argument unmapped; as an output axis: the results are the same for every example.
struct none_t {
  constexpr operator int() const { return std::numeric_limits<int>::min(); }
};
inline constexpr none_t none{};
/// An axis to map over, counted in the whole argument; negative axes count from its last one.
template <int A> struct axis_t {
  static constexpr int value = A;
};
template <int A> inline constexpr axis_t<A> axis{};

template <class... A> struct in_axes_tree_t {};
template <int A> struct out_axes_t {};
/// One axis (or none) an argument: in_axes<0, none, 1>.
template <int... A> inline constexpr in_axes_tree_t<std::conditional_t<A == none, none_t, axis_t<A>>...> in_axes{};
/// The same where an argument is a tree whose parts differ: in_axes_tree(axis<0>, std::tuple{axis<1>, none}). An entry may stand
/// for a whole tree; for the fields of an aggregate it is again an in_axes_tree(...).
template <class... A> constexpr in_axes_tree_t<A...> in_axes_tree(A...) { return {}; }
/// The axis of the results that counts the examples.
template <int A> inline constexpr out_axes_t<A> out_axes{};

namespace vmap_detail {
struct first_unmapped {};  // of per_sample_grad: the first argument is shared, the others are mapped over axis 0
template <class Ax> inline constexpr bool is_axis_v = false;
template <int A> inline constexpr bool is_axis_v<axis_t<A>> = true;

/// The entry of part I of N parts.
template <class Ax, int I, int N> struct entry {
  static_assert(!sizeof(Ax), "ttensor: the axes of vmap are axis<n>, none, and tuples or in_axes_tree of them");
};
template <class Ax, int I, int N> using entry_t = typename entry<Ax, I, N>::type;
template <int A, int I, int N> struct entry<axis_t<A>, I, N> { using type = axis_t<A>; };
template <int I, int N> struct entry<none_t, I, N> { using type = none_t; };
template <class O> inline constexpr bool is_axes_v = std::is_same_v<O, first_unmapped>;
template <class... A> inline constexpr bool is_axes_v<in_axes_tree_t<A...>> = true;
template <int A> inline constexpr bool is_axes_v<out_axes_t<A>> = true;
template <int I, int N> struct entry<first_unmapped, I, N> { using type = std::conditional_t<I == 0, none_t, axis_t<0>>; };
template <class... A, int I, int N> struct entry<in_axes_tree_t<A...>, I, N> {
  static_assert(
      sizeof...(A) == N,
      "ttensor: the axes of vmap must match the arguments: one entry for each argument, or for each part of a tree");
  using type = at_t<(sizeof...(A) == N ? I : 0), type_list<A...>>;
};
template <class... A, int I, int N> struct entry<std::tuple<A...>, I, N> : entry<in_axes_tree_t<A...>, I, N> {};
template <class A, class B, int I, int N> struct entry<std::pair<A, B>, I, N> : entry<in_axes_tree_t<A, B>, I, N> {};
template <class A, std::size_t M, int I, int N> struct entry<std::array<A, M>, I, N> {
  static_assert(M == N, "ttensor: the axes of vmap must match the arguments: one entry for each argument, or for each part of a tree");
  using type = A;
};

template <class Ax> inline constexpr bool maps_v = is_axis_v<Ax>;  // does it map anything?
template <> inline constexpr bool maps_v<first_unmapped> = true;
template <class... A> inline constexpr bool maps_v<in_axes_tree_t<A...>> = (maps_v<A> || ...);
template <class... A> inline constexpr bool maps_v<std::tuple<A...>> = (maps_v<A> || ...);
template <class A, class B> inline constexpr bool maps_v<std::pair<A, B>> = maps_v<A> || maps_v<B>;
template <class A, std::size_t M> inline constexpr bool maps_v<std::array<A, M>> = maps_v<A>;

/// Axes of all arguments, and the axis of the results, among the options.
template <class... O> struct in_of { using type = axis_t<0>; };
template <class O, class... R> struct in_of<O, R...> : in_of<R...> {};
template <class... A, class... R> struct in_of<in_axes_tree_t<A...>, R...> { using type = in_axes_tree_t<A...>; };
template <class... R> struct in_of<first_unmapped, R...> { using type = first_unmapped; };
template <class... O> inline constexpr int out_of = 0;
template <class O, class... R> inline constexpr int out_of<O, R...> = out_of<R...>;
template <int A, class... R> inline constexpr int out_of<out_axes_t<A>, R...> = A;
}  // namespace vmap_detail

TTENSOR_END
