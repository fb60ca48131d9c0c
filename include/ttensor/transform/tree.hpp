// Trees: arguments and results of transforms are scalars, tensors, tuples, pairs, arrays, vectors, maps, optionals and plain
// aggregates templated on their scalar. Fields are found by reflection (structured bindings), so users write no macro.
#pragma once
#include <array>
#include <optional>
#include <tuple>
#include <vector>
#include "../tensor/extremum.hpp"
#include "../tensor/factories.hpp"
#include "../tensor/stacked.hpp"
#include "fields.hpp"
#include "key_trees.hpp"
#include "keyed.hpp"

TTENSOR_BEGIN
namespace tree {

template <class T> inline constexpr bool is_tensor_v = false;
template <class S, auto Sh, class Sp, class L> inline constexpr bool is_tensor_v<tensor<S, Sh, Sp, L>> = true;
template <class S, int K> inline constexpr bool is_tensor_v<stacked<S, K>> = true;
template <class T> concept tensor_leaf = is_tensor_v<std::remove_cvref_t<T>>;
template <class T> concept scalar_leaf_type = number<std::remove_cvref_t<T>> || scalar_kind<T>;
/// A leaf that can carry derivatives.
template <class T> inline constexpr bool is_differentiable_leaf_v = [] {
  using D = std::remove_cvref_t<T>;
  if constexpr (tensor_leaf<D>) return is_differentiable_v<elem_t<typename D::scalar>>;
  else if constexpr (scalar_leaf_type<D>) return is_differentiable_v<elem_t<D>>;
  else return false;
}();

// ---- rebinding: the same tree on another scalar -------------------------------------------------------------------------
template <class S, class U> concept has_member_rebind = requires { typename S::template rebind<U>; };
template <class S> struct unstacked_scalar {
  using type = S;
  static constexpr int stack = 0;
};
template <class S, int K> struct unstacked_scalar<stacked<S, K>> {
  using type = S;
  static constexpr int stack = K;
};
/// Aggregates templated on their scalar: A<S>, or with more parameters behind it and a member template `rebind`.
template <class T> struct aggregate_of { static constexpr bool value = false; };
template <class T, class S> struct aggregate_on {
  using scalar = typename unstacked_scalar<S>::type;
  static constexpr int stack = unstacked_scalar<S>::stack;  // axes that its arrays have besides their own
  static constexpr bool value = scalar_leaf_type<scalar> && std::is_aggregate_v<T>;
};
template <template <class> class A, class S> struct aggregate_of<A<S>> : aggregate_on<A<S>, S> {
  template <class U> using on = A<U>;
};
template <template <class, auto...> class A, class S, auto... N>
requires(sizeof...(N) > 0 && has_member_rebind<A<S, N...>, S>)
struct aggregate_of<A<S, N...>> : aggregate_on<A<S, N...>, S> {};
template <template <class...> class A, class S, class... P>
requires(sizeof...(P) > 0 && has_member_rebind<A<S, P...>, S>)
struct aggregate_of<A<S, P...>> : aggregate_on<A<S, P...>, S> {};
template <class T> inline constexpr bool is_aggregate_tree_v = aggregate_of<std::remove_cvref_t<T>>::value;
/// Results of transforms with several parts, each of its own type: a tree like a tuple.
template <class T> inline constexpr bool is_record_v = false;
template <class V, class I> inline constexpr bool is_record_v<values_indices<V, I>> = true;

/// What rebindings M and visitors M treat as a leaf: what carries derivatives; with a member `every_leaf` integers and keys too, with `noted_leaf` integers that
/// note levels, and mapped keys.
template <class M, class T> inline constexpr bool takes_v = [] {
  if constexpr (requires { std::remove_cvref_t<M>::every_leaf; }) return tensor_leaf<T> || scalar_leaf_type<T> || is_keys_v<T>;
  else if constexpr (requires { std::remove_cvref_t<M>::noted_leaf; } && is_keys_v<T>) return true;
  else if constexpr (requires { std::remove_cvref_t<M>::noted_leaf; } && (tensor_leaf<T> || scalar_leaf_type<T>))
    return is_differentiable_leaf_v<T> || noted_v<scalar_t<T>>;
  else return is_differentiable_leaf_v<T>;
}();
/// A leaf of R axes: a tensor, or the scalar itself.
template <class S, int R> struct leaf_of_rank {
  static_assert(
      R >= 0,
      "ttensor: vmap maps over an axis, and this argument has none; pass in_axes<none> or in_axes_tree(none) for it, a container of numbers as view(v) or tensor(v)");
  using type = tensor<S, (R < 0 ? 0 : R)>;  // a tensor of rank -1 has errors of its own
};
template <class S> struct leaf_of_rank<S, 0> { using type = S; };

/// Whether the template arguments of T, which is no tree, have arrays or scalars of Level among them.
template <class Level, class T> inline constexpr bool hides_v = false;
template <class Level, class T> constexpr bool is_or_hides() {
  if constexpr (scalar_kind<T> || array_like<T> || element_proxy<T>) return depth_v<scalar_t<T>> >= depth_v<Level>;
  else return hides_v<Level, T>;
}
template <class Level, template <class...> class X, class... P> requires(!is_keys_v<X<P...>>)
inline constexpr bool hides_v<Level, X<P...>> = (is_or_hides<Level, std::remove_cvref_t<P>>() || ...);
template <class Level, template <class, auto...> class X, class S, auto... N> requires(sizeof...(N) > 0)
inline constexpr bool hides_v<Level, X<S, N...>> = is_or_hides<Level, S>();
template <class M, class T> constexpr bool leaves_nothing_behind() {
  if constexpr (requires { typename M::leaving; } && !scalar_kind<T> && !array_like<T>)
    static_assert(
        !hides_v<typename M::leaving, T>,
        "ttensor: a transformed function returns something that holds its numbers or arrays and is no tree, so that their derivatives "
        "would be lost: return scalars, tensors, tuple, pair, array, vector, std::map or optional of them, or an aggregate whose only template parameter is its scalar. (What was captured from an outer transform only: name it in closing_over)");
  return true;
}
/// Whether T, which is no tree, is a container of arrays that M treats as leaves: a list, a set, an unordered map.
template <class M, class T, class... Within> constexpr bool contains_arrays() {
  if constexpr ((std::is_same_v<T, Within> || ...)) return false;  // of itself, as JSON is
  else if constexpr (tensor_leaf<T>) return takes_v<M, T>;
  else if constexpr (is_aggregate_tree_v<T>) return takes_v<M, typename aggregate_of<T>::scalar>;
  else if constexpr (tuple_like<T>)
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (contains_arrays<M, std::tuple_element_t<I, T>, T, Within...>() || ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  else if constexpr (requires(const T& t) { typename T::value_type; t.begin(); } || requires(const T& t) { typename T::value_type; t.has_value(); })
    return contains_arrays<M, typename T::value_type, T, Within...>();
  else return false;
}
/// M::map<S>: the new scalar of a leaf; M::rank_change: axes added to it (arrays of aggregates: to the stack). M::leaving, where there is one:
/// the level whose results they are; M::entering: of arguments.
template <class M, class T> struct rebind {  // static: anything that is no leaf and no container
  static_assert(leaves_nothing_behind<M, T>());
  static_assert(
      !requires { typename M::entering; } || !contains_arrays<M, T>(),
      "ttensor: an argument of a transform has a container of arrays that is no tree, so that they would be constants: use tuple, pair, array, "
      "vector, std::map or optional, or pass the container as an argument of its own that is not differentiated or mapped");
  using type = T;
};
template <class M, class T> using rebind_t = typename rebind<M, T>::type;
template <class M, class T> requires(scalar_leaf_type<T> && takes_v<M, T>) struct rebind<M, T> {
  using type = typename leaf_of_rank<typename M::template map<T>, M::rank_change>::type;
};
template <class M, class S, auto Sh> requires takes_v<M, tensor<S, Sh>> struct rebind<M, tensor<S, Sh>> {
  using type = typename decltype([] {
    if constexpr (M::rank_change == 0) return std::type_identity<tensor<typename M::template map<S>, Sh>>{};
    else return leaf_of_rank<typename M::template map<S>, shape::rank_of<Sh>() + M::rank_change>{};
  }())::type;
};
template <class M, class S, int K, auto Sh> requires takes_v<M, tensor<stacked<S, K>, Sh>> struct rebind<M, tensor<stacked<S, K>, Sh>> {
  using type = typename decltype([] {
    if constexpr (M::rank_change == 0) return std::type_identity<tensor<stacked<typename M::template map<S>, K>, Sh>>{};
    else return rebind<M, unstacked_t<tensor<stacked<S, K>, Sh>>>{};
  }())::type;
};
template <class M, class S, int K> requires takes_v<M, stacked<S, K>> struct rebind<M, stacked<S, K>> {
  using type = typename decltype([] {
    if constexpr (M::rank_change == 0) return std::type_identity<stacked<typename M::template map<S>, K>>{};
    else return rebind<M, tensor<S, K>>{};
  }())::type;
};
template <class M, class... T> struct rebind<M, std::tuple<T...>> { using type = std::tuple<rebind_t<M, T>...>; };
template <class M, class A, class B> struct rebind<M, std::pair<A, B>> { using type = std::pair<rebind_t<M, A>, rebind_t<M, B>>; };
template <class M, class T, std::size_t N> struct rebind<M, std::array<T, N>> { using type = std::array<rebind_t<M, T>, N>; };
template <class M, class T> struct rebind<M, std::vector<T>> { using type = std::vector<rebind_t<M, T>>; };
template <class M, class T> struct rebind<M, std::optional<T>> { using type = std::optional<rebind_t<M, T>>; };
template <class M, class T> requires is_keyed_v<T> struct rebind<M, T> { using type = with_parts_t<T, rebind_t<M, part_t<T>>>; };
template <class M, class L> requires takes_v<M, basic_rng<L>> struct rebind<M, basic_rng<L>> : rebind_keys<M, basic_rng<L>> {};
template <class M, class T> requires takes_v<M, std::vector<T>> struct rebind<M, std::vector<T>> : rebind_keys<M, std::vector<T>> {};
template <class M, class T, std::size_t N> requires takes_v<M, std::array<T, N>>
struct rebind<M, std::array<T, N>> : rebind_keys<M, std::array<T, N>> {};
template <class M, template <class...> class R, class... P> requires is_record_v<R<P...>> struct rebind<M, R<P...>> {
  using type = R<rebind_t<M, P>...>;
};
template <class M, class T> requires is_aggregate_tree_v<T> struct rebind<M, T> {
  using S = typename aggregate_of<T>::scalar;
  static constexpr bool taken = M::rank_change == 0 || takes_v<M, S>;  // aggregates of integers have no derivatives
  static constexpr int axes = aggregate_of<T>::stack + (taken ? M::rank_change : 0);
  static_assert(
      axes >= 0,
      "ttensor: the tensors of an aggregate have the ranks that its type says, so vmap can take an axis only from the stacked form, "
      "S<stacked<T, 1>> (what vmap and per_sample_grad return); pass in_axes<none> for this argument, or pass the stacked form");
  template <class U> static constexpr auto on() {
    if constexpr (has_member_rebind<T, U>) return std::type_identity<typename T::template rebind<U>>{};
    else return std::type_identity<typename aggregate_of<T>::template on<U>>{};
  }
  using type = typename decltype(on<stack_t<std::conditional_t<taken, typename M::template scalar_of_struct<S>, S>, (axes > 0 ? axes : 0)>>())::type;
};

template <class T> inline constexpr bool is_container_v = is_keyed_v<T>;
template <class... T> inline constexpr bool is_container_v<std::tuple<T...>> = true;
template <class A, class B> inline constexpr bool is_container_v<std::pair<A, B>> = true;
template <class T, std::size_t N> inline constexpr bool is_container_v<std::array<T, N>> = true;
template <class T> inline constexpr bool is_container_v<std::vector<T>> = true;
template <class T> inline constexpr bool is_container_v<std::optional<T>> = true;

// ---- walking ------------------------------------------------------------------------------------------------------------
struct marked_scalar {  // any rebinding that changes every leaf
  static constexpr int rank_change = 0;
  template <class S> using map = probe<S>;
  template <class S> using scalar_of_struct = probe<S>;
};
template <class T, int I> using field_t = std::remove_cvref_t<decltype(field<I>(std::declval<T&>()))>;
/// A field of an aggregate is static when its type does not change with the aggregate's scalar (`double rate`).
template <class T, int I> inline constexpr bool is_static_field_v =
    is_aggregate_tree_v<T> && std::is_same_v<field_t<T, I>, field_t<rebind_t<marked_scalar, T>, I>>;

template <class T> concept takes_no_value = requires { T{}; };  // not where a field is a reference
template <class Struct, class Out, int I, class F, class A> Out map_field(F& f, const A& a);
template <std::size_t I, class F, class... T> void for_each_element(F& f, T&... t);
template <class Struct, int I, class F, class... T> void for_each_field(F& f, T&... t);

/// A leaf as another one of newer levels or a wider element type: a constant of the levels that it lacks.
template <class Out, class X> Out leaf_as(const X& x) {
  if constexpr (scalar_kind<X> && !std::is_same_v<elem_t<X>, elem_t<scalar_t<Out>>>) return Out(apply<cast_op<elem_t<scalar_t<Out>>>>(x));
  else return Out(x);
}
/// A tree of type Out whose leaves are f(leaf of in, type_identity<leaf type of Out>); static parts are copied.
template <class Out, class F, class In> Out map(F&& f, const In& in) {
  if constexpr (is_keys_v<In>) {
    if constexpr (takes_v<F, In>) return f(in, std::type_identity<Out>{});
    else return keys_as<Out>(in);
  } else if constexpr (stacked_leaf<In> || stacked_leaf<Out>) {
    return Out(map<unstacked_t<Out>>(f, unstacked(in)));
  } else if constexpr (expression<In> || tensor_leaf<In> || scalar_leaf_type<In>) {
    if constexpr (expression<In> || takes_v<F, In>) return f(in, std::type_identity<Out>{});
    else return leaf_as<Out>(in);
  } else if constexpr (tuple_like<Out>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Out{map<std::tuple_element_t<I, Out>>(f, std::get<I>(in))...};
    }(std::make_index_sequence<std::tuple_size_v<Out>>{});
  } else if constexpr (is_container_v<In>) {
    if constexpr (requires { in.has_value(); }) {
      if (!in.has_value()) return Out{};
      return Out(map<part_t<Out>>(f, *in));
    } else {
      return map_parts<Out>([&](const auto& x) { return map<part_t<Out>>(f, x); }, in);
    }
  } else if constexpr (is_aggregate_tree_v<In> || is_record_v<In>) {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      static_assert(
          !(std::is_default_constructible_v<field_t<In, I>> && ...) || takes_no_value<In>,
          "ttensor: an aggregate in a tree has a field that is a reference or has no implicit default constructor; make it a value that has one");
      return Out{map_field<In, field_t<Out, I>, I>(f, field<I>(in))...};
    }(std::make_integer_sequence<int, field_count<In>()>{});
  } else {
    constexpr bool converts = std::is_enum_v<Out> || std::is_constructible_v<Out, const In&>;  // no cast of what points
    static_assert(
        converts,
        "ttensor: a field of an aggregate changes with its scalar and is no tree: a pointer or a function of T, a smart pointer, a span. "
        "Make it a tensor, a number, a tuple, pair, array, vector, std::map or optional of such");
    if constexpr (converts) return static_cast<Out>(in);
  }
}
template <class Struct, class Out, int I, class F, class A> Out map_field(F& f, const A& a) {
  if constexpr (is_static_field_v<Struct, I>) return a;
  else return map<Out>(f, a);
}

/// f(leaf...) for corresponding differentiable leaves (with `every_leaf` integers, masks and single keys too) of trees of one structure; the first tree decides what a leaf is.
template <class F, class T, class... U> void for_each(F&& f, T&& t, U&&... u) {
  using D = std::remove_cvref_t<T>;
  if constexpr (tensor_leaf<D> || scalar_leaf_type<D>) {
    if constexpr (takes_v<F, D>) f(unstacked(t), unstacked(u)...);
  } else if constexpr (is_keys_v<D> && (!takes_v<F, D> || requires { t.seed; })) {
    if constexpr (takes_v<F, D>) f(t, u...);
  } else if constexpr (tuple_like<D>) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (for_each_element<I>(f, t, u...), ...);
    }(std::make_index_sequence<std::tuple_size_v<D>>{});
  } else if constexpr (is_container_v<D>) {
    if constexpr (requires { t.has_value(); }) {
      if (!((u.has_value() == t.has_value()) && ...)) parts_differ();
      if (t.has_value()) for_each(f, *t, *u...);
    } else if constexpr (!std::is_same_v<D, std::vector<bool>>) {
      each_part([&](auto&... x) { for_each(f, x...); }, t, u...);
    }
  } else if constexpr (is_aggregate_tree_v<D> || is_record_v<D>) {
    [&]<int... I>(std::integer_sequence<int, I...>) {
      (for_each_field<D, I>(f, t, u...), ...);
    }(std::make_integer_sequence<int, field_count<D>()>{});
  }
}
template <std::size_t I, class F, class... T> void for_each_element(F& f, T&... t) { for_each(f, std::get<I>(t)...); }
template <class Struct, int I, class F, class... T> void for_each_field(F& f, T&... t) {
  if constexpr (!is_static_field_v<Struct, I>) for_each(f, field<I>(t)...);
}

// ---- chains: the newest level among the leaves of a tree ----------------------------------------------------------------
/// Joins Of::leaf<S> of the leaves' scalars S; Of::none where there are none.
template <class Of, class T> struct levels { using type = typename Of::none; };
template <class Of, class T> using levels_t = typename levels<Of, std::remove_cvref_t<T>>::type;
template <class Of, class T> requires(scalar_leaf_type<T> || array_like<T> || element_proxy<T>) struct levels<Of, T> {
  using type = typename decltype(Of::template leaf<scalar_t<T>>())::type;
};
template <class Of, class L> struct levels<Of, basic_rng<L>> { using type = typename Of::template key<L>; };
template <class Of, class... T> struct levels<Of, std::tuple<T...>> {
  using type = join_chain_t<typename Of::none, typename Of::none, levels_t<Of, T>...>;
};
template <class Of, class A, class B> struct levels<Of, std::pair<A, B>> {
  using type = join_chain_t<typename Of::none, levels_t<Of, A>, levels_t<Of, B>>;
};
template <class Of, class T, std::size_t N> struct levels<Of, std::array<T, N>> : levels<Of, T> {};
template <class Of, class T> struct levels<Of, std::vector<T>> : levels<Of, T> {};
template <class Of, class T> struct levels<Of, std::optional<T>> : levels<Of, T> {};
template <class Of, class T> requires is_keyed_v<T> struct levels<Of, T> : levels<Of, part_t<T>> {};
template <class Of, template <class...> class R, class... P> requires is_record_v<R<P...>>
struct levels<Of, R<P...>> { using type = join_chain_t<typename Of::none, typename Of::none, levels_t<Of, P>...>; };
template <class Of, class T> requires is_aggregate_tree_v<T> struct levels<Of, T> {
  using type = typename Of::template aggregate<typename aggregate_of<T>::scalar>;
};

/// Of what carries derivatives, and of keys: as a scalar on double.
struct real_levels {
  using none = double;
  template <class S> static constexpr auto leaf() {
    if constexpr (is_differentiable_v<elem_t<S>>) return std::type_identity<reelem_t<S, double>>{};
    else return std::type_identity<double>{};
  }
  template <class L> using key = L;
  template <class S> using aggregate = reelem_t<S, double>;
};
/// The batch levels of masks and integers, on int. A level that wraps what is differentiated is newer than those: with a mapped index
/// alone, what it reads in a table is mapped too. (The scalar of an aggregate is its real leaves'.)
struct index_levels {
  using none = int;
  template <class S> static constexpr auto leaf() {
    if constexpr (is_differentiable_v<elem_t<S>>) return std::type_identity<int>{};
    else return std::type_identity<reelem_t<storage_scalar_t<S>, int>>{};
  }
  template <class L> using key = int;
  template <class S> using aggregate = int;
};
template <class T> using chain_t = levels_t<real_levels, T>;
template <class T> using index_chain_t = levels_t<index_levels, T>;

/// Replaces every leaf's scalar by K<chain C on the leaf's element>.
template <template <class> class K, class C> struct wrap_in {
  using entering = C;
  static constexpr int rank_change = 0;
  template <class S> using map = K<reelem_t<C, elem_t<S>>>;
  template <class S> using scalar_of_struct = typename std::conditional_t<is_differentiable_v<elem_t<S>>, std::type_identity<map<S>>, std::type_identity<S>>::type;
};
template <class C> struct lift_to {  // the chain C, nothing around it
  static constexpr int rank_change = 0;
  template <class S> using map = reelem_t<C, elem_t<S>>;
  template <class S> using scalar_of_struct = map<S>;
};

/// Removes the level K<C> from the leaves that have it; others stay.
template <class Level> struct without {
  static constexpr int rank_change = 0;
  template <class S> using map = std::conditional_t<std::is_same_v<reelem_t<S, double>, Level>, inner_t<S>, S>;
  template <class S> using scalar_of_struct = map<S>;
};
/// The same of what is differentiated, whatever its type. (Auxiliary output may be of any.)
template <class Level> struct result_without : without<Level> { using leaving = Level; };
/// True, or an error that says what of T, a result, would keep Level.
template <class Level, class T> inline constexpr bool nothing_left_behind_v =
    sizeof(std::type_identity<rebind_t<result_without<Level>, T>>) != 0;

/// Adds N axes in front of every leaf, integers too; with N = -1 a slice along the first axis.
template <int N> struct more_axes {
  static constexpr int rank_change = N;
  static constexpr bool every_leaf = true;
  template <class S> using map = S;
  template <class S> using scalar_of_struct = S;
};

/// Expressions inside a result become tensors, proxies of elements numbers; everything else stays.
template <class T> struct evaluated { using type = T; };
template <class T> using evaluated_t = typename evaluated<std::remove_cvref_t<T>>::type;
template <class T> requires(array_like<T> && !tensor_leaf<T>) struct evaluated<T> {
  using type = tensor<storage_scalar_t<scalar_t<T>>, rank_v<T>>;
};
template <class T> requires tensor_leaf<T> struct evaluated<T> { using type = unstacked_t<T>; };
template <class T> requires element_proxy<T> struct evaluated<T> { using type = scalar_t<T>; };
template <class... T> struct evaluated<std::tuple<T...>> { using type = std::tuple<evaluated_t<T>...>; };
template <class A, class B> struct evaluated<std::pair<A, B>> { using type = std::pair<evaluated_t<A>, evaluated_t<B>>; };
template <class T, std::size_t N> struct evaluated<std::array<T, N>> { using type = std::array<evaluated_t<T>, N>; };
template <class T> struct evaluated<std::vector<T>> { using type = std::vector<evaluated_t<T>>; };
template <class T> struct evaluated<std::optional<T>> { using type = std::optional<evaluated_t<T>>; };
template <class T> requires is_keyed_v<T> struct evaluated<T> { using type = with_parts_t<T, evaluated_t<part_t<T>>>; };
/// S{x(0), x(1)} of a template aggregate is a struct of proxies, S{x * 2.0, x * 3.0} one of expressions.
template <template <class> class A, class S>
requires(std::is_aggregate_v<A<S>> && !array_like<A<S>> && (element_proxy<S> || (array_like<S> && !tensor_leaf<S>)))
struct evaluated<A<S>> {
  using type = A<evaluated_t<S>>;
};
template <class T> evaluated_t<T> evaluate_all(T&& t) {
  using D = std::remove_cvref_t<T>;
  using Out = evaluated_t<T>;
  if constexpr (std::is_same_v<Out, D>) return static_cast<T&&>(t);
  else if constexpr (element_proxy<D>) return t.get();
  else if constexpr (array_like<D>) return Out(unstacked(t));
  else if constexpr (tuple_like<D>)
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Out{evaluate_all(std::get<I>(static_cast<T&&>(t)))...};
    }(std::make_index_sequence<std::tuple_size_v<D>>{});
  else if constexpr (requires { t.has_value(); }) return t.has_value() ? Out(evaluate_all(*t)) : Out();
  else if constexpr (is_container_v<D>) return map_parts<Out>([](const auto& x) { return evaluate_all(x); }, t);
  else
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return Out{evaluate_all(field<I, const D, static_cast<int>(sizeof...(I))>(t))...};
    }(std::make_integer_sequence<
               int, field_count<Out>()>{});  // expressions cannot be made from nothing, so theirs cannot be counted
}
/// The same of an argument, which is not copied when it is evaluated already.
template <class T> decltype(auto) as_evaluated(const T& t) {
  if constexpr (std::is_same_v<evaluated_t<T>, T>) return (t);
  else return evaluate_all(t);
}

}  // namespace tree
TTENSOR_END
