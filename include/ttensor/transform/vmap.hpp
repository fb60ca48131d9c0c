// vmap: f over slices. Mapped arguments become batched scalars, whose examples are the leading axis of one store; every
// statement inside is one fused loop over examples and elements together.
#pragma once
#include "../tensor/shape_ops.hpp"
#include "vjp.hpp"

TTENSOR_BEGIN

/// An axis to map over, counted in the argument; `none` leaves the argument as it is.
inline constexpr int none = std::numeric_limits<int>::min();
template <int... A> struct in_axes_t {};
template <int A> struct out_axes_t {};
template <int... A> inline constexpr in_axes_t<A...> in_axes{};
template <int A> inline constexpr out_axes_t<A> out_axes{};

namespace vmap_detail {
template <class O> struct in_of { static constexpr bool given = false; };
template <int... A> struct in_of<in_axes_t<A...>> {
  static constexpr bool given = true;
  static constexpr int count = static_cast<int>(sizeof...(A));
  static constexpr int at(int i) {
    const int v[] = {A..., 0};
    return v[i];
  }
};
template <class O> struct out_of {
  static constexpr bool given = false;
};
template <int A> struct out_of<out_axes_t<A>> {
  static constexpr bool given = true;
  static constexpr int axis = A;
};
template <class... O> constexpr int in_axis([[maybe_unused]] int i) {
  int axis = 0;
  ([&] {
    if constexpr (in_of<O>::given) axis = i < in_of<O>::count ? in_of<O>::at(i) : none;
  }(), ...);
  return axis;
}
template <class... O> constexpr int out_axis() {
  int axis = 0;
  ([&] {
    if constexpr (out_of<O>::given) axis = out_of<O>::axis;
  }(), ...);
  return axis;
}
/// Type of an argument inside: batched scalars, one axis less.
template <class C, class T> struct inner_type { using type = T; };
template <class C, class T> using inner_type_t = typename inner_type<C, T>::type;
template <class C, class S, auto Sh> struct inner_type<C, tensor<S, Sh>> {
  static constexpr int R = shape::rank_of<Sh>();
  static_assert(R > 0, "ttensor: vmap maps over an axis, and this argument has none; use in_axes<none>");
  using B = storage_scalar_t<batched<reelem_t<C, elem_t<S>>>>;  // integers too keep the outer batches: they tell the levels apart
  using type = typename decltype([] {
    if constexpr (R == 1) return std::type_identity<B>{};
    else return std::type_identity<tensor<B, R - 1>>{};
  }())::type;
};
template <class C, class... T> struct inner_type<C, std::tuple<T...>> { using type = std::tuple<inner_type_t<C, T>...>; };
template <class C, class A, class B> struct inner_type<C, std::pair<A, B>> { using type = std::pair<inner_type_t<C, A>, inner_type_t<C, B>>; };
template <class C, class T, std::size_t N> struct inner_type<C, std::array<T, N>> { using type = std::array<inner_type_t<C, T>, N>; };
template <class C, class T> struct inner_type<C, std::vector<T>> { using type = std::vector<inner_type_t<C, T>>; };

[[noreturn]] inline void sizes_differ(index_t a, index_t b) { eval_detail::batch_mismatch(a, b); }

struct split {
  index_t& examples;  // -1 until known
  int axis;
  template <class Out, class S, auto Sh> Out leaf_in(const tensor<S, Sh>& x) const {
    constexpr int R = shape::rank_of<Sh>();
    const int a = shape::normalize_axis(axis, R, "vmap");
    const index_t n = x.extent(a);
    if (examples >= 0 && examples != n) sizes_differ(examples, n);
    examples = n;
    using B = scalar_t<Out>;
    using X = inner_t<B>;
    store<X> inner;
    dims<R - 1> e{};
    for (int d = 0, k = 0; d < R; ++d)
      if (d != a) e[k++] = x.extent(d);
    if (a == 0) {
      inner = reverse_detail::lifted<X>(x.elements());
    } else {
      const auto moved = moveaxis(x, a, 0).as_leaf();
      inner = statement_rule<X>::evaluate(moved, moved.shape());
    }
    store<B> s(static_cast<store<X>&&>(inner), n, shape::size(e));
    if constexpr (R == 1) return Out(static_cast<store<B>&&>(s));
    else return Out(static_cast<store<B>&&>(s), e);
  }
  template <class Out, class T> Out operator()(const T& t) const {
    if constexpr (tree::tensor_leaf<T>) return leaf_in<Out>(t);
    else if constexpr (requires { std::tuple_size<T>::value; })
      return [&]<std::size_t... I>(std::index_sequence<I...>) { return Out{this->template operator()<std::tuple_element_t<I, Out>>(std::get<I>(t))...}; }(
          std::make_index_sequence<std::tuple_size_v<T>>{});
    else if constexpr (tree::is_container_v<T>) {
      Out o;
      for (const auto& x : t) o.push_back(this->template operator()<typename Out::value_type>(x));
      return o;
    } else {
      static_assert(tree::tensor_leaf<T>, "ttensor: this kind of argument cannot be mapped; map over tensors, or use in_axes<none>");
    }
  }
};

/// Type of one slice of an argument.
template <class A> struct sliced { using type = A; };
template <class A> using sliced_t = typename sliced<A>::type;
template <class S, auto Sh> struct sliced<tensor<S, Sh>> {
  using type = typename decltype([] {
    if constexpr (shape::rank_of<Sh>() == 1) return std::type_identity<S>{};
    else return std::type_identity<tensor<S, shape::rank_of<Sh>() - 1>>{};
  }())::type;
};
template <class... T> struct sliced<std::tuple<T...>> { using type = std::tuple<sliced_t<T>...>; };
template <class A, class B> struct sliced<std::pair<A, B>> { using type = std::pair<sliced_t<A>, sliced_t<B>>; };
template <class T, std::size_t N> struct sliced<std::array<T, N>> { using type = std::array<sliced_t<T>, N>; };
template <class T> struct sliced<std::vector<T>> { using type = std::vector<sliced_t<T>>; };

/// Type of a result outside: leaves gain an axis.
template <class Level, class T> struct outer_type { using type = T; };
template <class Level, class T> using outer_type_t = typename outer_type<Level, T>::type;
template <class Level, class S> constexpr bool at_level() {
  if constexpr (std::is_void_v<Level>) return false;
  else return std::is_same_v<reelem_t<S, double>, Level> || (!is_differentiable_v<elem_t<S>> && batch_levels_v<S> == batch_levels_v<Level> && is_batched_v<S>);
}
template <class Level, class S> struct outer_scalar { using type = typename decltype([] {
  if constexpr (at_level<Level, S>()) return std::type_identity<inner_t<S>>{};
  else return std::type_identity<S>{};
}())::type; };
template <class Level, class S, auto Sh> struct outer_type<Level, tensor<S, Sh>> {
  using type = tensor<typename outer_scalar<Level, S>::type, shape::rank_of<Sh>() + 1>;
};
template <class Level, class S> requires tree::scalar_leaf_type<S> struct outer_type<Level, S> { using type = tensor<typename outer_scalar<Level, S>::type, 1>; };
template <class Level, class... T> struct outer_type<Level, std::tuple<T...>> { using type = std::tuple<outer_type_t<Level, T>...>; };
template <class Level, class A, class B> struct outer_type<Level, std::pair<A, B>> { using type = std::pair<outer_type_t<Level, A>, outer_type_t<Level, B>>; };
template <class Level, class T, std::size_t N> struct outer_type<Level, std::array<T, N>> { using type = std::array<outer_type_t<Level, T>, N>; };
template <class Level, class T> struct outer_type<Level, std::vector<T>> { using type = std::vector<outer_type_t<Level, T>>; };

template <class Level, class Out, class S, int R> Out stack(index_t examples, const leaf<S, R>& l) {
  using O = typename Out::scalar;
  leaf<O, R + 1> w{{}, {l.map.offset, {}, {}}};
  if constexpr (at_level<Level, S>()) {
    w = ad::value_leaf(l);
  } else {
    w.data = l.data;
    for (int d = 0; d < R; ++d) w.map.extent[d + 1] = l.map.extent[d], w.map.stride[d + 1] = l.map.stride[d];
    w.map.extent[0] = 1;
    w.map.stride[0] = 0;
  }
  if (w.map.extent[0] != examples) w.map.extent[0] = examples, w.map.stride[0] = 0;
  return Out(w);
}
template <class Level, class Out, class T> Out join(index_t examples, int axis, const T& y) {
  if constexpr (tree::tensor_leaf<T> || tree::scalar_leaf_type<T>) {
    auto one = [&] {
      if constexpr (tree::tensor_leaf<T> || is_batched_v<T>) return stack<Level, Out>(examples, y.as_leaf());
      else return stack<Level, Out>(examples, tensor<T, 0>(y).as_leaf());
    };
    constexpr int R = Out::rank;
    const int a = shape::normalize_axis(axis, R, "vmap");
    if (a == 0) return one();
    return Out(moveaxis(one(), 0, a));
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return Out{join<Level, std::tuple_element_t<I, Out>>(examples, axis, std::get<I>(y))...}; }(
        std::make_index_sequence<std::tuple_size_v<T>>{});
  } else {
    Out o;
    for (const auto& x : y) o.push_back(join<Level, typename Out::value_type>(examples, axis, x));
    return o;
  }
}
}  // namespace vmap_detail

/// What vmap returns for f.
template <class F, class Opts> struct vmap_function;
template <class F, class... O> struct vmap_function<F, type_list<O...>> {
  static constexpr bool ttensor_captureless = is_captureless_v<F>;
  F f;
  template <class... T> auto operator()(const T&... a) const { return run(std::make_integer_sequence<int, static_cast<int>(sizeof...(T))>{}, tree::evaluate_all(a)...); }

 private:
  static constexpr int out = vmap_detail::out_axis<O...>();
  template <int... I, class... A> auto run(std::integer_sequence<int, I...>, const A&... a) const {
    static_assert(((vmap_detail::in_axis<O...>(I) != none) || ...), "ttensor: vmap needs at least one mapped argument; in_axes are all none");
    using Forced = options::forced_chain<O...>;
    if constexpr (probing_v<A..., Forced>) {
      using P = probe_of_t<Forced, tree::chain_t<A>...>;
      using R = tree::evaluated_t<decltype(f(std::declval<const probed_arg_t<P, vmap_detail::in_axis<O...>(I), A>&>()...))>;
      return level_detail::fake<vmap_detail::outer_type_t<void, on_probe_t<P, R>>>();
    } else {
      using C = join_chain_t<double, double, Forced, tree::chain_t<A>..., typename decltype(captured<A...>(std::integer_sequence<int, I...>{}))::type>;
      using Level = batched<C>;
      if constexpr (probe_captured_v<F, arg_t<C, vmap_detail::in_axis<O...>(I), A>...>) {
        using R = tree::evaluated_t<decltype(f(std::declval<const arg_t<C, vmap_detail::in_axis<O...>(I), A>&>()...))>;
        return level_detail::fake<vmap_detail::outer_type_t<void, probed_result_t<C, R>>>();
      } else {
      index_t examples = -1;
      auto w = std::tuple<arg_t<C, vmap_detail::in_axis<O...>(I), A>...>{wrap<C, vmap_detail::in_axis<O...>(I)>(examples, a)...};
      const auto y = tree::evaluate_all(std::apply([&](const auto&... x) { return f(x...); }, w));
      using R = std::remove_cvref_t<decltype(y)>;
      return vmap_detail::join<Level, vmap_detail::outer_type_t<Level, R>>(examples, out, y);
      }
    }
  }
  template <int Axis, class A> struct probe_arg { using type = typename decltype([] {
    if constexpr (Axis == none) return std::type_identity<A>{};
    else return std::type_identity<vmap_detail::sliced_t<A>>{};
  }())::type; };
  template <int Axis, class A> using probe_arg_t = typename probe_arg<Axis, A>::type;
  template <class P, int Axis, class A> using probed_arg_t = std::conditional_t<Axis == none, A, on_probe_t<P, probe_arg_t<Axis, A>>>;
  template <class... A, int... I> static constexpr auto captured(std::integer_sequence<int, I...>) {
    return level_detail::captured_chain<F, options::forced_chain<O...>, probe_arg_t<vmap_detail::in_axis<O...>(I), A>...>();
  }
  template <class C, int Axis, class A> struct arg { using type = typename decltype([] {
    if constexpr (Axis == none) return std::type_identity<A>{};
    else return std::type_identity<vmap_detail::inner_type_t<C, A>>{};
  }())::type; };
  template <class C, int Axis, class A> using arg_t = typename arg<C, Axis, A>::type;
  template <class C, int Axis, class A> static arg_t<C, Axis, A> wrap(index_t& examples, const A& a) {
    if constexpr (Axis == none) return a;
    else return vmap_detail::split{examples, Axis}.template operator()<arg_t<C, Axis, A>>(a);
  }
};

/// f over slices of its arguments: vmap(f)(xs...), vmap(f, in_axes<0, none, 1>, out_axes<0>)(x...).
template <class F, class... O> auto vmap(F f, O...) { return vmap_function<F, type_list<O...>>{static_cast<F&&>(f)}; }
/// Gradient for every example: vmap(grad(loss), in_axes<none, 0, 0>).
template <class F, class... O> auto per_sample_grad(F f, O... o) { return vmap(grad(static_cast<F&&>(f), o...), in_axes<none, 0, 0>); }

TTENSOR_END
