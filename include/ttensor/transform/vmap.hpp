// vmap: f over slices. Mapped arguments become batched scalars, whose examples are the leading axis of one store; every
// statement inside is one fused loop over examples and elements together.
#pragma once
#include "../tensor/shape_ops.hpp"
#include "axes.hpp"
#include "keys.hpp"
#include "parts.hpp"
#include "vjp.hpp"

TTENSOR_BEGIN

namespace vmap_detail {
// ---- types --------------------------------------------------------------------------------------------------------------
/// An argument inside: batched scalars.
template <class C> struct inside : tree::more_axes<-1> {
  using entering = C;
  template <class S> using map = storage_scalar_t<batched<reelem_t<C, elem_t<S>>>>;
  template <class S> using scalar_of_struct = map<S>;
};
using sliced = tree::more_axes<-1>;
/// Rebinding M on the mapped parts of an argument.
template <class M, class Ax, class T> constexpr auto mapped_type();
template <class M, class Ax, class T> using mapped_t = typename decltype(mapped_type<M, Ax, T>())::type;
template <class M, class Ax, template <class...> class L, class... P, int... I>
constexpr auto mapped_parts(std::type_identity<L<P...>>, std::integer_sequence<int, I...>) {
  return std::type_identity<L<mapped_t<M, entry_t<Ax, I, static_cast<int>(sizeof...(P))>, P>...>>{};
}
template <class M, class Ax, class T> constexpr auto mapped_type() {
  if constexpr (std::is_same_v<Ax, none_t>) return std::type_identity<T>{};
  else if constexpr (is_axis_v<Ax> || tree::is_aggregate_tree_v<T> || !tuple_like<T>)
    return std::type_identity<tree::rebind_t<M, T>>{};
  else if constexpr (requires { typename T::value_type; }) return std::type_identity<tree::rebind_t<M, T>>{};  // std::array
  else return mapped_parts<M, Ax>(std::type_identity<T>{}, std::make_integer_sequence<int, static_cast<int>(std::tuple_size_v<T>)>{});
}

/// An argument that is to be mapped and has no axis. (Parts of trees: tree::leaf_of_rank.)
template <class Ax, class A> constexpr bool lacks_axis() {
  if constexpr (is_axis_v<Ax> && tree::tensor_leaf<A>) return rank_v<A> == 0;
  else return is_axis_v<Ax> && tree::scalar_leaf_type<A>;
}
template <class Ax, class A> using axis_if_any_t = std::conditional_t<lacks_axis<Ax, A>(), none_t, Ax>;

template <class Level, class S> constexpr bool at_level() {
  if constexpr (std::is_void_v<Level>) return false;
  else
    return std::is_same_v<reelem_t<S, double>, Level> ||
           (!is_differentiable_v<elem_t<S>> && batch_levels_v<S> == batch_levels_v<Level> && is_batched_v<S>);
}
/// A result outside: one axis more (as it is with out_axes<none>), without the level.
template <class Level, int Axis> struct outside {
  static constexpr int rank_change = Axis == none ? 0 : 1;
  static constexpr bool every_leaf = true;
  template <class S> static constexpr auto get() {
    if constexpr (at_level<Level, S>()) return std::type_identity<inner_t<S>>{};
    else return std::type_identity<S>{};
  }
  template <class S> using map = typename decltype(get<S>())::type;
  template <class S> using scalar_of_struct = map<S>;
};

// ---- values -------------------------------------------------------------------------------------------------------------
/// The examples that run at once. One example of several, alone in its chunk, runs beside a copy of itself: a batch of one would
/// be taken for an unmapped value, and products of a matrix with one vector have a loop, so last bits, of their own.
struct chunk {
  index_t most;             // at once
  bool never_one = false;   // also an example that has no others runs beside a copy
  const char* op = "vmap";  // what the user called, for messages
  index_t examples = -1;    // all; -1 until known
  index_t first = 0;
  index_t count() const { return examples - first < most ? examples - first : most; }
  index_t width() const { return count() == 1 && (never_one || examples > 1) ? 2 : count(); }
  bool whole() const { return count() == examples && width() == examples; }  // one of two examples runs beside a copy: as wide as all
  bool next() {
    first += count();
    return first < examples;
  }
  void meet(index_t n) {
    if (examples >= 0 && examples != n) eval_detail::batch_mismatch(examples, n, op);
    examples = n;
  }
};
template <int Axis> struct split_leaf {
  static constexpr bool every_leaf = true;
  chunk& part;
  template <class X> X operator()(const X& x, std::type_identity<X>) const { return x; }  // integers and keys of an aggregate's own type: static
  template <class K, class Out> requires(tree::is_keys_v<K> && !std::is_same_v<K, Out>) Out operator()(const K& keys, std::type_identity<Out>) const {
    static_assert(Axis == 0, "ttensor: keys are mapped over their first axis, in_axes<0>");
    part.meet(static_cast<index_t>(keys.size()));
    std::vector<const typename K::value_type*> each;
    for (index_t i = 0; i < part.width(); ++i) each.push_back(&keys[static_cast<std::size_t>(part.first + (i < part.count() ? i : 0))]);
    return random_detail::map_examples<Out>(each);
  }
  template <class S, auto Sh, class Out> requires(!std::is_same_v<tensor<S, Sh>, Out>) Out operator()(const tensor<S, Sh>& x, std::type_identity<Out>) const {
    constexpr int R = shape::rank_of<Sh>();
    const int a = shape::normalize_axis(Axis, R, part.op);
    part.meet(x.extent(a));
    using B = scalar_t<Out>;
    using X = inner_t<B>;
    store<X> inner;
    dims<R - 1> e{};
    for (int d = 0, k = 0; d < R; ++d)
      if (d != a) e[k++] = x.extent(d);
    if (a == 0 && part.whole()) {
      inner = lifted<X>(x.elements());
    } else {
      auto moved = moveaxis(x, a, 0).as_leaf();
      moved.map.offset += part.first * moved.map.stride[0];
      moved.map.extent[0] = part.width();
      if (part.width() != part.count()) moved.map.stride[0] = 0;
      inner = statement_rule<X>::evaluate(moved, moved.shape());
    }
    store<B> s(static_cast<store<X>&&>(inner), part.width(), shape::size(e));
    if constexpr (!tree::tensor_leaf<Out>) return Out(static_cast<store<B>&&>(s));
    else return Out(static_cast<store<B>&&>(s), e);
  }
};
template <class Ax, class Out, class T> Out split(chunk& part, const T& x);
template <class Ax, class Struct, int I, class Out> Out split_field(chunk& part, const Struct& x) {
  using Entry = entry_t<Ax, I, tree::field_count<Struct>()>;
  if constexpr (tree::is_static_field_v<Struct, I>) {
    return tree::field<I>(x);
  } else {
    static_assert(
        !std::is_same_v<Entry, none_t>,
        "ttensor: the tensors of an aggregate share one scalar, so vmap maps all of them or none; give an axis for each");
    return split<Entry, Out>(part, tree::field<I>(x));
  }
}
template <class Ax, class Out, class T> Out split(chunk& part, const T& x) {
  if constexpr (std::is_same_v<Ax, none_t>) {
    return x;
  } else if constexpr (is_axis_v<Ax>) {
    return tree::map<Out>(split_leaf<Ax::value>{part}, x);
  } else if constexpr (tree::is_aggregate_tree_v<T>) {
    return [&]<int... I>(std::integer_sequence<int, I...>) { return Out{split_field<Ax, T, I, tree::field_t<Out, I>>(part, x)...}; }(
        std::make_integer_sequence<int, tree::field_count<T>()>{});
  } else {
    static_assert(
        tuple_like<T>,
        "ttensor: the axes of vmap are a tree where the argument has no parts; give axis<n> or none for it");
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Out{split<entry_t<Ax, static_cast<int>(I), static_cast<int>(sizeof...(I))>, std::tuple_element_t<I, Out>>(
          part, std::get<I>(x))...};
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  }
}

template <class Level, class Out, class S, int R> Out stack(index_t examples, const leaf<S, R>& l) {
  using O = typename Out::scalar;
  leaf<O, R + 1> w = [&] {
    if constexpr (at_level<Level, S>()) return ad::value_leaf(l);
    else return leaf<O, R + 1>{l.data, l.map.led_by(1, 0)};
  }();
  if (w.map.extent[0] != examples) w.map.extent[0] = examples, w.map.stride[0] = 0;
  return Out(store_of(w), w.map.extent);
}
template <class Level, int Axis> struct join_leaf {
  static constexpr bool every_leaf = true;
  index_t examples;
  template <class K, class Out> requires(tree::is_keys_v<K> && !std::is_same_v<K, Out>) Out operator()(const K& keys, std::type_identity<Out>) const {
    static_assert(Axis == 0, "ttensor: vmap stacks the keys that f returns along a first axis, out_axes<0>");
    Out out;
    for (index_t i = 0; i < examples; ++i) out.push_back(random_detail::one_example<typename Out::value_type>(keys, i));
    return out;
  }
  template <class Y, class Out> Out operator()(const Y& y, std::type_identity<Out>) const {
    using S = scalar_t<Y>;
    if constexpr (std::is_same_v<Out, Y> && (Axis != none || !array_like<Y>)) {
      return y;  // a number of an aggregate's own type has no place for an axis: static
    } else if constexpr (Axis != none) {
      auto one = [&] {
        if constexpr (tree::tensor_leaf<Y>) return stack<Level, Out>(examples, leaf<S, rank_v<Y>>{y.elements().snap(), y.map()});
        else if constexpr (is_batched_v<S>) return stack<Level, Out>(examples, y.as_leaf());
        else return stack<Level, Out>(examples, tensor<S, 0>(y).as_leaf());
      };
      const int a = shape::normalize_axis(Axis, rank_v<Out>, "vmap");
      if (a == 0) return one();
      return Out(moveaxis(one(), 0, a));
    } else if constexpr (!at_level<Level, S>()) {
      return y;
    } else {
      if (y.elements().mapped())
        raise<axis_error>(
            "[vmap] out_axes<none> wants results that are the same for every example, and one is mapped over " +
            to_message(examples) + " examples; give it an axis [TT-A03]");
      if constexpr (tree::tensor_leaf<Y>) return Out(y.elements().inner().value(), y.shape());
      else return y.elements().inner().get(0);
    }
  }
};

// ---- results of chunks ----------------------------------------------------------------------------------------------------
/// Room for all examples, given the result of the first ones.
template <int Axis> struct make_room {
  static constexpr bool every_leaf = true;
  index_t examples;
  template <class Y> Y operator()(const Y& y, std::type_identity<Y>) const {
    if constexpr (tree::is_keys_v<Y>) {
      if constexpr (requires { y.seed; }) return y;
      else return Y{};
    } else if constexpr (!array_like<Y>) {
      return y;
    } else {
      auto e = y.shape();
      e[shape::normalize_axis(Axis, rank_v<Y>, "vmap")] = examples;
      return Y(e);
    }
  }
};
struct find_leaves {
  static constexpr bool every_leaf = true;
  std::vector<void*>& at;
  template <class Y> Y operator()(const Y& y, std::type_identity<Y>) const {
    at.push_back(const_cast<Y*>(&y));
    return y;
  }
};
template <int Axis> struct fill_room {
  static constexpr bool every_leaf = true;
  const chunk& part;
  const std::vector<void*>& at;
  std::size_t& k;
  template <class Y> Y operator()(const Y& y, std::type_identity<Y>) const {
    if (k == at.size())
      raise<shape_error>(
          "[vmap] two chunks of examples give trees with different numbers of parts; leave chunk_size out [TT-S31]");
    Y& all = *static_cast<Y*>(at[k++]);
    if constexpr (!array_like<Y> && !requires { y.begin(); }) {  // static
    } else if constexpr (tree::is_keys_v<Y>) {
      all.insert(all.end(), y.begin(), y.begin() + part.count());
    } else {
      const int a = shape::normalize_axis(Axis, rank_v<Y>, "vmap");
      auto to = layout_map<rank_v<Y>>::row_major(all.shape());
      to.offset = part.first * to.stride[a];
      to.extent = y.shape();
      to.extent[a] = part.count();
      for (int d = 0; d < rank_v<Y>; ++d)
        if (d != a && to.extent[d] != all.shape()[d])
          raise<shape_error>("[vmap] two chunks of examples give results of different shapes, " +
                             shape::text(all.shape()) + " and " + shape::text(y.shape()) +
                             "; leave chunk_size out [TT-S29]");
      auto from = y.as_leaf();
      from.map.extent[a] = part.count();
      statement_rule<scalar_t<Y>>::assign_region(all.elements(), to, expr::operand<elem_t<scalar_t<Y>>>(from));
    }
    return y;
  }
};
/// The results of all examples; some() runs the next ones, and `first` is what it gave for the first.
template <int Axis, class Y, class Some> Y run_chunks(chunk& part, Y first, Some&& some) {
  if constexpr (Axis == none) {  // every chunk gives the same
    while (part.next()) first = some();
    return first;
  } else {
    Y total = tree::map<Y>(make_room<Axis>{part.examples}, first);
    std::vector<void*> at;
    tree::map<Y>(find_leaves{at}, total);
    auto write = [&](const Y& y) {
      std::size_t k = 0;
      tree::map<Y>(fill_room<Axis>{part, at, k}, y);
    };
    write(first);
    while (part.next()) write(some());
    return total;
  }
}
}  // namespace vmap_detail

/// What vmap returns for f.
template <class F, class Opts> struct vmap_function;
template <class F, class... O> struct vmap_function<F, type_list<O...>> {
  static constexpr bool ttensor_captureless = is_captureless_v<F>;
  F f;
  index_t most = std::numeric_limits<index_t>::max();  // examples at once
  template <class... T> auto operator()(const T&... a) const {
    return run(std::make_integer_sequence<int, static_cast<int>(sizeof...(T))>{}, tree::evaluate_all(a)...);
  }

 private:
  using in = typename vmap_detail::in_of<O...>::type;
  static constexpr int out = vmap_detail::out_of<O...>;
  template <int... I, class... A> auto run(std::integer_sequence<int, I...>, const A&... a) const {
    constexpr int count = static_cast<int>(sizeof...(A));
    static_assert((vmap_detail::maps_v<vmap_detail::entry_t<in, I, count>> || ...),
                  "ttensor: vmap needs at least one mapped argument; in_axes are all none");
    constexpr bool fits = !(vmap_detail::lacks_axis<vmap_detail::entry_t<in, I, count>, A>() || ...);
    static_assert(
        fits,
        "ttensor: vmap maps over an axis, and this argument has none; pass in_axes<none> or in_axes_tree(none) for it, a container of numbers as view(v) or tensor(v)");
    using Forced = options::forced_chain<O...>;
    if constexpr (!fits) {  // as if it had been none, so that nothing follows the sentence
      return vmap_function<
          F, type_list<in_axes_tree_t<vmap_detail::axis_if_any_t<vmap_detail::entry_t<in, I, count>, A>...>,
                       out_axes_t<out>>>{f}(a...);
    } else if constexpr (probing_v<A..., Forced>) {
      using P = probe_of_t<Forced, tree::chain_t<A>...>;
      using R = level_detail::seen_t<F, probed_arg_t<P, vmap_detail::entry_t<in, I, count>, A>...>;
      return level_detail::fake<tree::rebind_t<vmap_detail::outside<void, out>, on_probe_t<probe_of_t<P, tree::chain_t<R>>, R>>>();
    } else {
      using C = met_chain_t<
          captured_chain_t<F, Forced,
                           vmap_detail::mapped_t<vmap_detail::sliced, vmap_detail::entry_t<in, I, count>, A>...>,
          Forced, A...>;
      using W = std::tuple<vmap_detail::mapped_t<vmap_detail::inside<C>, vmap_detail::entry_t<in, I, count>, A>...>;
      // Under a captured dual the level that f will really see may be a tape, and a custom_vjp in f refuses mapped duals: then plain slices look for probes.
      constexpr bool plain = is_dual_v<parts::newest_t<C>>;
      using Slices = std::tuple<vmap_detail::mapped_t<vmap_detail::sliced, vmap_detail::entry_t<in, I, count>, A>...>;
      using Probes = std::tuple<probed_arg_t<probe<C>, vmap_detail::entry_t<in, I, count>, A>...>;
      if constexpr (probe_captured_by_v<F, std::conditional_t<plain, tree::rebind_t<level_detail::above<Forced>, Slices>, W>>) {
        using R = tree::evaluated_t<decltype(meta::unpack(f, std::declval<const std::conditional_t<plain, Probes, W>&>()))>;
        return level_detail::fake<tree::rebind_t<vmap_detail::outside<batched<C>, out>, probed_result_t<C, R>>>();  // numbers are probes; integers leave their level here too
      } else {
        vmap_detail::chunk part{most, out == none, options::has<vmap_detail::first_unmapped, O...> ? "per_sample_grad" : "vmap"};
        const level_calls::running call;
        auto some = [&] {
          W w{vmap_detail::split<vmap_detail::entry_t<in, I, count>, std::tuple_element_t<I, W>>(part, a)...};
          if (part.examples < 0)
            raise<shape_error>(
                message("[") + part.op +
                "] the mapped arguments hold no tensor, so the number of examples is not known; map a tensor [TT-S17]");
          meta::unpack([&](auto&... x) { (tree::for_each(level_detail::entering{call, level_calls::name<batched<C>>}, x), ...); }, w);
          const auto y = tree::evaluate_all(meta::unpack([&](const auto&... x) { return f(x...); }, w));
          tree::for_each(level_detail::returned{call, level_calls::name<batched<C>>}, y);
          using M = vmap_detail::outside<batched<C>, out>;
          return tree::map<tree::rebind_t<M, std::remove_cvref_t<decltype(y)>>>(
              vmap_detail::join_leaf<batched<C>, out>{out == none ? part.examples : part.width()}, y);
        };
        auto y = some();
        if constexpr (options::has<chunk_size, O...>)
          if (!part.whole()) return vmap_detail::run_chunks<out>(part, std::move(y), some);
        return y;
      }
    }
  }
  template <class P, class Ax, class A> using probed_arg_t =
      std::conditional_t<vmap_detail::maps_v<Ax>, on_probe_t<P, vmap_detail::mapped_t<vmap_detail::sliced, Ax, A>>, A>;
};

/// f over slices of its arguments: what stacking f(slice) would give, in loops over examples and elements together.
/// Shapes    an argument mapped over axis a is seen without it; every result gains the axis out_axes (0 unless given).
///           vmap(f)(x...) maps axis 0 of all arguments; vmap(f, in_axes<0, none, 1>, out_axes<-1>)(x...);
///           vmap(f, in_axes_tree(axis<0>, std::tuple{axis<1>, none}))(x, pair)
///           Random keys: split(key, n), or nested vectors and arrays of keys, are seen as one key an example; an unmapped key gives
///           all examples the same numbers; fold_in(key, i) with a mapped i gives each its own. Keys in results become vectors
///           A result S<T> becomes S<stacked<T, 1>>, and such an argument is seen as S<T>; static fields stay as they are
/// Cost      with chunk_size{n} at most n examples at once: f runs for one chunk after the other, over memory for n examples,
///           and the values are the same
/// Throws    shape_error [TT-S05, TT-S17]: mapped sizes differ, nothing to map; axis_error [TT-A01, TT-A03]: out_axes<none> on a mapped result
/// Source    JAX, jax.vmap
template <class F, class... O> auto vmap(F f, O... o) {
  static_assert(((options::is_option_v<O> || vmap_detail::is_axes_v<O>) && ...),
                "ttensor: what follows the function here must be in_axes<...>, "
                "in_axes_tree(...), out_axes<n> or an option; arguments go into the second call");
  static_assert(!options::has<has_aux_t, O...>, "ttensor: vmap maps everything that f returns, an auxiliary part too; leave has_aux out");
  static_assert(!options::has<strict_t, O...>,
                "ttensor: strict asks for derivatives; give it to the transform inside: vmap(grad(f, strict))");
  options::refuse_holomorphic<O...>();
  return vmap_function<F, type_list<O...>>{static_cast<F&&>(f), options::at_once(o...)};
}
/// Gradient with respect to the first argument for every example: vmap(grad(f), in_axes<none, 0, ...>).
/// Shapes    params as f takes them, the others with the examples as axis 0 -> the gradient's tree, every leaf with the
///           examples as axis 0: for an aggregate P<T> a P<stacked<T, 1>>
template <class F, class... O> auto per_sample_grad(F f, O... o) {
  using G = decltype(grad(static_cast<F&&>(f), o...));
  return vmap_function<G, type_list<vmap_detail::first_unmapped, O...>>{grad(static_cast<F&&>(f), o...), options::at_once(o...)};
}

TTENSOR_END
