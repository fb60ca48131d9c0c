// What scan takes apart and puts together: slices of its inputs along their first axes, stacks of its outputs.
#pragma once
#include <string>
#include "../tensor/shape_ops.hpp"
#include "common.hpp"

TTENSOR_BEGIN
namespace control {
[[noreturn]] inline void shapes_differ(const char* op, const message& a, const message& b) {
  raise<shape_error>(message("[") + op +
                     "] the two results between which examples choose, or two steps, have different shapes, " + a +
                     " and " + b + "; give them one shape [TT-S26]");
}
template <class T> struct slice_of { using type = T; };
template <class T> using slice_of_t = typename slice_of<T>::type;
template <class S, auto Sh> struct slice_of<tensor<S, Sh>> {
  static_assert(shape::rank_of<Sh>() > 0, "ttensor: scan walks the first axis of its inputs, and this one has none");
  using type = typename decltype([] {
    if constexpr (shape::rank_of<Sh>() == 1) return std::type_identity<S>{};
    else return std::type_identity<tensor<S, shape::rank_of<Sh>() - 1>>{};
  }())::type;
};
template <class... T> struct slice_of<std::tuple<T...>> { using type = std::tuple<slice_of_t<T>...>; };
template <class A, class B> struct slice_of<std::pair<A, B>> { using type = std::pair<slice_of_t<A>, slice_of_t<B>>; };
template <class T, std::size_t N> struct slice_of<std::array<T, N>> { using type = std::array<slice_of_t<T>, N>; };
template <class T> requires tree::is_keys_v<T> struct slice_of<std::vector<T>> { using type = T; };  // of random keys
/// Vectors of what has tensors are sliced; those of numbers or of aggregates, which are no stacks, are passed whole. Maps are sliced part by part.
template <class T> inline constexpr bool is_sliced_v = tree::is_keyed_v<T>;
template <class T> inline constexpr bool is_sliced_v<std::vector<T>> = [] {
  if constexpr (tree::is_keys_v<T>) return false;
  else if constexpr (tree::is_aggregate_tree_v<T>) return tree::aggregate_of<T>::stack > 0;
  else return !std::is_same_v<slice_of_t<T>, T>;
}();
template <class T> requires is_sliced_v<std::vector<T>> struct slice_of<std::vector<T>> {
  using type = std::vector<slice_of_t<T>>;
};
template <class T> requires tree::is_keyed_v<T> struct slice_of<T> { using type = tree::with_parts_t<T, slice_of_t<tree::part_t<T>>>; };
template <class T> requires tree::is_aggregate_tree_v<T> struct slice_of<T> { using type = tree::rebind_t<tree::more_axes<-1>, T>; };
inline void same_length(index_t& n, index_t k) {
  if (k >= 0 && n >= 0 && k != n)
    raise<shape_error>("[scan] inputs have " + std::to_string(n) + " and " + std::to_string(k) +
                       " slices along their first axes; give one length [TT-S27]");
  if (k >= 0) n = k;
}
template <class T> struct slice_of<std::optional<T>> { using type = std::optional<slice_of_t<T>>; };
template <template <class...> class R, class... P> requires tree::is_record_v<R<P...>> struct slice_of<R<P...>> { using type = R<slice_of_t<P>...>; };
/// What f gives of each field.
template <class Out, class T, class F> Out record_of(const T& xs, const F& f) {
  return [&]<int... I>(std::integer_sequence<int, I...>) { return Out{f(tree::field<I>(xs))...}; }(std::make_integer_sequence<int, tree::field_count<T>()>{});
}
template <class T> index_t length(const T& xs) {  // -1: no tensor inside
  index_t n = -1;
  if constexpr (tree::tensor_leaf<T>) n = xs.extent(0);
  else if constexpr (tree::is_keys_v<T> && !std::is_same_v<slice_of_t<T>, T>) n = static_cast<index_t>(xs.size());
  else if constexpr (is_sliced_v<T>) tree::each_part([&](const auto& x) { same_length(n, length(x)); }, xs);
  else if constexpr (tuple_like<T>) meta::unpack([&](const auto&... x) { (same_length(n, length(x)), ...); }, xs);
  else if constexpr (tree::is_aggregate_tree_v<T>) tree::for_each([&](const auto& x) { if constexpr (tree::tensor_leaf<std::remove_cvref_t<decltype(x)>>) same_length(n, x.extent(0)); }, xs);
  else if constexpr (requires { xs.has_value(); }) n = xs ? length(*xs) : -1;
  else if constexpr (tree::is_record_v<T>)
    [&]<int... I>(std::integer_sequence<int, I...>) { (same_length(n, length(tree::field<I>(xs))), ...); }(std::make_integer_sequence<int, tree::field_count<T>()>{});
  return n;
}
/// Zeros shaped as a slice: what scan shows its body when there is none.
template <class T> slice_of_t<T> zero_slice(const T& xs) {
  using Slice = slice_of_t<T>;
  if constexpr (tree::tensor_leaf<T>) {
    if constexpr (rank_v<T> == 1) {
      return Slice(elem_t<Slice>(0));
    } else {
      dims<rank_v<T> - 1> e;
      for (int d = 1; d < rank_v<T>; ++d) e[d - 1] = xs.extent(d);
      return Slice(e);
    }
  } else if constexpr (tree::is_keys_v<T> && !std::is_same_v<Slice, T>) {
    return Slice();
  } else if constexpr (is_sliced_v<T>) {
    return tree::map_parts<Slice>([](const auto& x) { return zero_slice(x); }, xs);
  } else if constexpr (tuple_like<T>) {
    return meta::unpack([&](const auto&... x) { return Slice{zero_slice(x)...}; }, xs);
  } else if constexpr (tree::is_aggregate_tree_v<T>) {
    return tree::map<Slice>([&]<class X, class Out>(const X& x, std::type_identity<Out>) { return Out(zero_slice(x)); }, xs);
  } else if constexpr (requires { xs.has_value(); }) {
    return xs ? Slice(zero_slice(*xs)) : Slice();
  } else if constexpr (tree::is_record_v<T>) {
    return record_of<Slice>(xs, [](const auto& x) { return zero_slice(x); });
  } else {
    return xs;
  }
}
struct slice_leaf {
  static constexpr bool every_leaf = true;
  index_t i;
  template <class X> X operator()(const X& x, std::type_identity<X>) const { return x; }  // static
  template <class X, class Out> requires(!std::is_same_v<X, Out>) Out operator()(const X& x, std::type_identity<Out>) const { return Out(x(i)); }
};
template <class T> slice_of_t<T> slice_at(const T& xs, index_t i) {
  if constexpr (tree::tensor_leaf<T>) return slice_of_t<T>(xs(i));
  else if constexpr (tree::is_keys_v<T> && !std::is_same_v<slice_of_t<T>, T>) return xs[static_cast<std::size_t>(i)];
  else if constexpr (is_sliced_v<T>) return tree::map_parts<slice_of_t<T>>([i](const auto& x) { return slice_at(x, i); }, xs);
  else if constexpr (tuple_like<T>)
    return meta::unpack([&](const auto&... x) { return slice_of_t<T>{slice_at(x, i)...}; }, xs);
  else if constexpr (tree::is_aggregate_tree_v<T>)
    return tree::map<slice_of_t<T>>(slice_leaf{i}, xs);
  else if constexpr (requires { xs.has_value(); }) return xs ? slice_of_t<T>(slice_at(*xs, i)) : slice_of_t<T>();
  else if constexpr (tree::is_record_v<T>) return record_of<slice_of_t<T>>(xs, [i](const auto& x) { return slice_at(x, i); });
  else return xs;
}
template <class T> struct stack_of { using type = std::vector<T>; };  // static parts, vectors and optionals: one a step
template <class T> using stack_of_t = typename stack_of<T>::type;
template <class S> requires tree::scalar_leaf_type<S> struct stack_of<S> { using type = tensor<S, 1>; };
template <class S, auto Sh> struct stack_of<tensor<S, Sh>> { using type = tensor<S, shape::rank_of<Sh>() + 1>; };
template <class... T> struct stack_of<std::tuple<T...>> { using type = std::tuple<stack_of_t<T>...>; };
template <class A, class B> struct stack_of<std::pair<A, B>> { using type = std::pair<stack_of_t<A>, stack_of_t<B>>; };
template <class T, std::size_t N> struct stack_of<std::array<T, N>> { using type = std::array<stack_of_t<T>, N>; };
template <class T> requires tree::is_keyed_v<T> struct stack_of<T> { using type = tree::with_parts_t<T, stack_of_t<tree::part_t<T>>>; };
template <class T> requires tree::is_aggregate_tree_v<T> struct stack_of<T> { using type = tree::rebind_t<tree::more_axes<1>, T>; };
template <class T> void store_at(stack_of_t<T>& ys, const T& y, index_t i, index_t n);
struct stack_leaf {
  static constexpr bool every_leaf = true;
  index_t n;
  template <class Y> Y operator()(const Y& y, std::type_identity<Y>) const { return y; }  // static
  template <class Y, class Out> requires(!std::is_same_v<Y, Out>) Out operator()(const Y& y, std::type_identity<Out>) const {
    Out stack;
    store_at<unstacked_t<Y>>(stack, y, 0, n);
    return stack;
  }
};
struct store_leaf {
  static constexpr bool every_leaf = true;
  index_t i, n;
  template <class Stack, class Y> void operator()(Stack& stack, const Y& y) const {
    if constexpr (!std::is_same_v<std::remove_const_t<Stack>, Y>) store_at<Y>(stack, y, i, n);
  }
};
/// Puts y at place i of n; the first one makes the stack, also of no places.
template <class T> void store_at(stack_of_t<T>& ys, const T& y, index_t i, index_t n) {
  if constexpr (tree::tensor_leaf<T>) {
    constexpr int R = rank_v<T>;
    if (i == 0) {
      dims<R + 1> e{};
      e[0] = n;
      for (int d = 0; d < R; ++d) e[d + 1] = y.extent(d);
      ys = stack_of_t<T>(e);
    }
    if constexpr (R == 0) {
      if (i < n) ys(i) = y.elements().get(0);
    } else if (i < n) {
      auto place = ys(i);
      if (!(place.shape() == y.shape())) shapes_differ("scan", shape::text(place.shape()), shape::text(y.shape()));
      place = y;
    }
  } else if constexpr (tree::scalar_leaf_type<T>) {
    if (i == 0) ys = stack_of_t<T>(n);
    if (i < n) ys(i) = y;
  } else if constexpr (tuple_like<T>) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (store_at<std::tuple_element_t<I, T>>(std::get<I>(ys), std::get<I>(y), i, n), ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (tree::is_keyed_v<T>) {
    if (i == 0) {
      ys = stack_of_t<T>(y.key_comp());
      for (const auto& [name, x] : y) ys[name];
    }
    tree::each_part([&](auto& stack, const auto& x) { store_at<tree::part_t<T>>(stack, x, i, n); }, ys, y);
  } else if constexpr (tree::is_aggregate_tree_v<T>) {
    if (i == 0) ys = tree::map<stack_of_t<T>>(stack_leaf{n}, y);
    else tree::for_each(store_leaf{i, n}, ys, y);
  } else if (i < n) {
    ys.push_back(y);
  }
}
/// Has the stack of these results more axes than the one that scan walks?
template <class T> constexpr bool has_axes() {
  if constexpr (tree::is_keyed_v<T>) return has_axes<tree::part_t<T>>();
  else return tree::tensor_leaf<T> || tree::is_aggregate_tree_v<T>;
}
template <class T> inline constexpr bool has_axes_v = has_axes<T>();
template <class... T> inline constexpr bool has_axes_v<std::tuple<T...>> = (has_axes_v<T> || ...);
template <class A, class B> inline constexpr bool has_axes_v<std::pair<A, B>> = has_axes_v<A> || has_axes_v<B>;
template <class T, std::size_t N> inline constexpr bool has_axes_v<std::array<T, N>> = has_axes_v<T>;
/// A pair or tuple of two, or the sentence that says so.
template <class P> struct carry_and_output {
  static_assert(
      sizeof(P) == 0,
      "ttensor: the body of scan returns two things, std::pair(carry, y): the next carry, and y for the stack");
};
template <class P> requires(std::tuple_size<P>::value == 2) struct carry_and_output<P> { using type = P; };
template <class B, class X> struct scan_step {
  template <class T> using both = typename carry_and_output<std::remove_cvref_t<decltype(std::declval<const B&>()(
      std::declval<const T&>(), std::declval<const X&>()))>>::type;
  template <class T> using result = tree::evaluated_t<std::tuple_element_t<0, both<T>>>;
  template <class T> using output = tree::evaluated_t<std::tuple_element_t<1, both<T>>>;
};
}  // namespace control
TTENSOR_END
