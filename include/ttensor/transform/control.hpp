// Control flow that every transform understands: cond, switch_, for_loop, scan, while_loop.
//
// On numbers, duals and taped values the predicate is a bool and one branch runs. On mapped values it has one answer per
// example: both branches run and each example selects; a loop runs until the last example stops and leaves the others as
// they are. Branches and states may meet at different levels (a captured variable in one of them): the result has the newest.
#pragma once
#include <string>
#include "slices.hpp"
#include "tree_pairs.hpp"

TTENSOR_BEGIN

/// A bound on the trips of while_loop, which reverse mode needs: the loop is recorded trip by trip.
struct max_trips {
  index_t n;
  explicit max_trips(index_t n_) : n(n_) {
    if (n < 0) raise<domain_error>("[max_trips] a bound of " + std::to_string(n) + " trips; give 0 or more [TT-D08]");
  }
};

namespace control {
template <class P> inline constexpr bool is_mapped_v = is_batched_v<std::remove_cvref_t<scalar_t<P>>>;
/// The chain C with as many mapped levels as the mask M has,
template <class M, class C> struct widened { using type = batched<typename widened<inner_t<M>, C>::type>; };
template <class M, class C> requires(batch_levels_v<C> >= batch_levels_v<M>) struct widened<M, C> { using type = C; };
template <class M, class C> requires(batch_levels_v<C> < batch_levels_v<M> && noted_v<M> && !has_probe_v<C>)
struct widened<M, C> : join_chain<double, C, M> {};
/// and the shortest one inside it that has them.
template <class M, class C> struct shortest { using type = C; };
template <class M, class C> requires(batch_levels_v<inner_t<C>> >= batch_levels_v<M>) struct shortest<M, C> : shortest<M, inner_t<C>> {};
/// Type of a tree over the chain C after selecting by a mask M, one answer per example: leaves without the mask's newest level get it, with
/// the levels inside it that other leaves have.
template <class M, class C, class T> struct masked_leaf { using type = T; };
template <class M, class C, class T> using masked_leaf_t = typename masked_leaf<M, C, T>::type;
template <class M, class T> using masked_t = masked_leaf_t<M, tree::chain_t<T>, T>;
template <class M, class C, class T> requires tree::scalar_leaf_type<T> struct masked_leaf<M, C, T> {
  static constexpr auto get() {
    if constexpr (is_probe_v<T>) return std::type_identity<join_chain_t<elem_t<T>, T, M>>{};
    else if constexpr (batch_levels_v<T> >= batch_levels_v<M>) return std::type_identity<T>{};
    else if constexpr (has_probe_v<C>) return std::type_identity<batched<masked_leaf_t<inner_t<M>, C, T>>>{};
    else return std::type_identity<storage_scalar_t<reelem_t<typename shortest<M, typename widened<M, C>::type>::type, elem_t<T>>>>{};
  }
  using type = typename decltype(get())::type;
};
template <class M, class C, class S, auto Sh> struct masked_leaf<M, C, tensor<S, Sh>> { using type = tensor<masked_leaf_t<M, C, S>, Sh>; };
template <class M, class C, class... T> struct masked_leaf<M, C, std::tuple<T...>> { using type = std::tuple<masked_leaf_t<M, C, T>...>; };
template <class M, class C, class A, class B> struct masked_leaf<M, C, std::pair<A, B>> {
  using type = std::pair<masked_leaf_t<M, C, A>, masked_leaf_t<M, C, B>>;
};
template <class M, class C, class T, std::size_t N> struct masked_leaf<M, C, std::array<T, N>> {
  using type = std::array<masked_leaf_t<M, C, T>, N>;
};
template <class M, class C, class T> struct masked_leaf<M, C, std::vector<T>> { using type = std::vector<masked_leaf_t<M, C, T>>; };
template <class M, class C, class T> struct masked_leaf<M, C, std::optional<T>> { using type = std::optional<masked_leaf_t<M, C, T>>; };
template <class M, class C, template <class...> class R, class... P> requires tree::is_record_v<R<P...>> struct masked_leaf<M, C, R<P...>> { using type = R<masked_leaf_t<M, C, P>...>; };
template <class M, class C, class T> requires tree::is_keyed_v<T> struct masked_leaf<M, C, T> { using type = tree::with_parts_t<T, masked_leaf_t<M, C, tree::part_t<T>>>; };
template <class M, class C, class T> requires tree::is_aggregate_tree_v<T> struct masked_leaf<M, C, T> {
  using type = tree::rebind_t<tree::lift_to<masked_leaf_t<M, C, reelem_t<typename tree::aggregate_of<T>::scalar, double>>>, T>;
};
template <class M, class C, class L> struct masked_leaf<M, C, basic_rng<L>> {
  static_assert(
      has_probe_v<L> || is_probe_v<M> || batch_levels_v<L> >= batch_levels_v<M>,
      "ttensor: a random key that is the same for all examples cannot be chosen by a mapped condition; map over keys, split(key, n)");
  using type = basic_rng<L>;
};
/// Of two trees the first where the mask holds, else the second.
template <class M> struct select {
  const M& m;
  template <class T> T leaf(const T& a, const T& b) const {
    if constexpr (tree::is_keys_v<T>) {
      return T(where(m, a.seed, b.seed));
    } else {
      if constexpr (tree::tensor_leaf<T>)
        if (!(a.shape() == b.shape())) shapes_differ("cond, switch_, while_loop", shape::text(a.shape()), shape::text(b.shape()));
      return T(where(m, a, b));
    }
  }
  template <class T, bool Field> T constant(const T& a, const T& b) const {
    static_assert(
        Field, "ttensor: a result of this type cannot be selected example by example; return scalars, tensors, or trees of them");
    if constexpr (requires { static_cast<bool>(a == b); })
      if (!(a == b)) differ();
    return a;
  }
  [[noreturn]] static void differ() {
    raise<shape_error>(
        "[cond, switch_, while_loop] what is chosen from has vectors of different lengths, maps of different names, an optional that only one of them has, or static parts that differ between examples (an int in a struct); give both one structure, and a part that differs the struct's own scalar [TT-S35]");
  }
};
template <class T, class M> T selected(const M& m, const T& a, const T& b) {
  const select<M> by{m};
  return tree::map_pair<T>(by, a, b);
}
template <class S> bool any_element(const store<S>& s) {
  if constexpr (is_batched_v<S>) return any_element(s.inner());
  else {
    for (index_t i = 0; i < s.size(); ++i)
      if (s.get(i)) return true;
    return false;
  }
}
template <class P> decltype(auto) predicate(const P& p) {  // an answer: bool, or a mapped bool
  if constexpr (element_proxy<P>) return p.get();
  else if constexpr (array_like<P>) {
    static_assert(rank_v<P> == 0, "ttensor: a condition has one answer; take any(...) or all(...), or use where for one answer an element");
    return tensor<storage_scalar_t<scalar_t<P>>, 0>(p).elements().get(0);
  } else return (p);
}
template <class P> using predicate_t = std::remove_cvref_t<decltype(predicate(std::declval<const P&>()))>;

/// A function, or at least nothing that a loop has as its state.
template <class F> inline constexpr bool may_be_called_v =
    (std::is_class_v<F> && !any_scalar<F> && !array_like<F>) || std::is_function_v<std::remove_pointer_t<F>>;
/// The type in which a state stays under Step: result<T> is the type after one step from T.
template <class Step, class T> struct fixed_point {
  using next = tree::common_t<T, typename Step::template result<T>>;
  template <class Next> struct after : fixed_point<Step, Next> {};
  template <class Next> requires std::is_same_v<Next, T> struct after<Next> { using type = T; };
  using type = typename after<next>::type;
};
template <class N, class B> struct for_step {
  template <class T> using result = tree::evaluated_t<decltype(std::declval<const B&>()(std::declval<N&>(), std::declval<const T&>()))>;
};
template <class C, class B> struct while_step {
  template <class T> using test = predicate_t<decltype(std::declval<const C&>()(std::declval<const T&>()))>;
  template <class T> using body = tree::evaluated_t<decltype(std::declval<const B&>()(std::declval<const T&>()))>;
  template <class T> struct after { using type = body<T>; };
  template <class T> requires is_mapped_v<test<T>> struct after<T> { using type = masked_t<test<T>, tree::common_t<T, body<T>>>; };
  template <class T> using result = typename after<T>::type;
};
}  // namespace control

/// f(x...) where p holds, else g(x...). With a mapped p both run and every example selects. The branches may differ in level.
template <class P, class F, class G, class... X> auto cond(const P& p, const F& f, const G& g, const X&... x) {
  return [&]<class... A>(const A&... a) {
    [[maybe_unused]] constexpr bool callable = level_detail::check_call<F, A...>() && level_detail::check_call<G, A...>();
    using Y1 = tree::evaluated_t<decltype(f(a...))>;
    using Y2 = tree::evaluated_t<decltype(g(a...))>;
    using Y = tree::common_t<Y1, Y2>;
    using M = control::predicate_t<P>;
    if constexpr (control::is_mapped_v<M>) {
      using Z = control::masked_t<M, Y>;
      return control::selected<Z>(control::predicate(p), tree::lift<Z>(Y1(tree::evaluate_all(f(a...)))), tree::lift<Z>(Y2(tree::evaluate_all(g(a...)))));
    } else {
      if (control::predicate(p)) return tree::lift<Y>(Y1(tree::evaluate_all(f(a...))));
      return tree::lift<Y>(Y2(tree::evaluate_all(g(a...))));
    }
  }(tree::evaluate_all(x)...);
}

namespace control {
template <std::size_t K, class I, class B, class... X> auto choose(const I& i, const B& branches, const X&... x) {
  const auto& f = std::get<K>(branches);
  if constexpr (K + 1 == std::tuple_size_v<B>) return f(x...);
  else return cond(i <= static_cast<int>(K), f, [&](const auto&... a) { return choose<K + 1>(i, branches, a...); }, x...);
}
}  // namespace control
/// branches[i](x...), the first one for an i below 0, the last one beyond it: switch_(i, std::tuple{f, g, h}, x...). As with cond, all run for a
/// mapped i and every example selects.
/// Source    JAX, jax.lax.switch
template <class I, class... F, class... X> auto switch_(const I& i, const std::tuple<F...>& branches, const X&... x) {
  static_assert(sizeof...(F) > 0, "ttensor: switch_ has no branches; give it a tuple of functions");
  static_assert(std::is_integral_v<elem_t<scalar_t<I>>> && !std::is_same_v<elem_t<scalar_t<I>>, bool>,
                "ttensor: switch_ wants an integer; use cond for a condition");
  return tree::evaluate_all(control::choose<0>(i, branches, x...));
}

/// state = body(i, state) for i = 0 ... n - 1.
template <class N, class B, class S> auto for_loop(N n, const B& body, const S& state) {
  static_assert(control::may_be_called_v<B>, "ttensor: for_loop(n, body, state): the function stands second, body(i, state)");
  static_assert(
      std::is_integral_v<N>,
      "ttensor: the number of trips of for_loop is an integer; use while_loop for a number that depends on values");
  [[maybe_unused]] constexpr bool callable = level_detail::check_call<B, N&, tree::evaluated_t<S>>();
  using T = typename control::fixed_point<control::for_step<N, B>, tree::evaluated_t<S>>::type;
  T s = tree::lift<T>(tree::evaluated_t<S>(tree::evaluate_all(state)));
  for (N i = 0; i < n; ++i) {
    using R = typename control::for_step<N, B>::template result<T>;
    s = tree::lift<T>(R(tree::evaluate_all(body(i, std::as_const(s)))));
  }
  return s;
}

/// {carry, ys}: (carry, y) = body(carry, x) for the slices x of xs along their first axis; the ys are stacked along theirs. Without
/// slices body runs once on zeros, for the shapes of the ys: (0, ...); if it throws an error there, they have extents 0.
template <class B, class S, class X> auto scan(const B& body, const S& carry, const X& inputs) {
  static_assert(control::may_be_called_v<B>, "ttensor: scan(body, carry, xs): the function stands first, body(carry, x)");
  const tree::evaluated_t<X> xs = tree::evaluate_all(inputs);
  using Slice = control::slice_of_t<tree::evaluated_t<X>>;
  [[maybe_unused]] constexpr bool callable = level_detail::check_call<B, tree::evaluated_t<S>, Slice>();
  using Step = control::scan_step<B, Slice>;
  using T = typename control::fixed_point<Step, tree::evaluated_t<S>>::type;
  using Y = typename Step::template output<T>;
  T s = tree::lift<T>(tree::evaluated_t<S>(tree::evaluate_all(carry)));
  control::stack_of_t<Y> ys{};
  const index_t n = control::length(xs);
  if (n < 0) raise<shape_error>("[scan] the inputs hold no tensor, so there is nothing to walk; use for_loop [TT-S14]");
  for (index_t i = 0; i < n; ++i) {
    auto step = body(std::as_const(s), control::slice_at(xs, i));
    using R = typename Step::template result<T>;
    R next(tree::evaluate_all(std::get<0>(step)));
    control::store_at<Y>(ys, Y(tree::evaluate_all(std::get<1>(step))), i, n);
    s = tree::lift<T>(next);
  }
  if constexpr (control::has_axes_v<Y>)
    if (n == 0) {
#if defined(__cpp_exceptions)
      try
#endif
      {
        control::store_at<Y>(ys, Y(tree::evaluate_all(std::get<1>(body(std::as_const(s), control::zero_slice(xs))))), 0, 0);
      }
#if defined(__cpp_exceptions)
      catch (const error&) {  // zeros are not for this body: its shapes stay unknown
      }
#endif
    }
  return std::pair<T, control::stack_of_t<Y>>{s, ys};
}

namespace control {
[[noreturn]] inline void too_many_trips(index_t n, const std::string& who = {}) {
  raise<domain_error>("[while_loop] still running after max_trips{" + std::to_string(n) + "}" + who + "; raise the bound [TT-D04]");
}
/// Which examples a mask holds, for that message.
template <class S> std::string examples_of(const store<S>& mask) {
  if constexpr (is_batched_v<S>) {
    return examples_of(mask.inner());
  } else {
    index_t count = 0, first = 0;
    for (index_t i = mask.size(); i-- > 0;)
      if (mask.get(i)) ++count, first = i;
    return ": " + std::to_string(count) + " of " + std::to_string(mask.size()) + " examples, the first of them number " + std::to_string(first);
  }
}
template <bool Bounded, class C, class B, class S> auto while_run(const C& continue_if, const B& body, const S& state, index_t bound) {
  static_assert(
      may_be_called_v<C> && may_be_called_v<B>,
      "ttensor: while_loop(continue_if, body, state): the functions stand first, continue_if(state) and body(state)");
  [[maybe_unused]] constexpr bool callable =
      level_detail::check_call<C, tree::evaluated_t<S>>() && level_detail::check_call<B, tree::evaluated_t<S>>();
  using Step = while_step<C, B>;
  using T = typename fixed_point<Step, tree::evaluated_t<S>>::type;
  static_assert(
      Bounded || !has_var_v<tree::chain_t<T>>,
      "ttensor: reverse mode through a while_loop without a bound; pass max_trips{n} as its last argument, use for_loop, or give the loop a custom_vjp");
  using R = typename Step::template body<T>;
  T s = tree::lift<T>(tree::evaluated_t<S>(tree::evaluate_all(state)));
  for (index_t i = 0;; ++i) {
    const auto go_on = continue_if(std::as_const(s));
    if constexpr (is_mapped_v<predicate_t<decltype(go_on)>>) {
      const auto mask = predicate(go_on);
      if (!any_element(mask.elements())) return s;
      if (Bounded && i >= bound) too_many_trips(bound, examples_of(mask.elements()));
      s = selected<T>(mask, tree::lift<T>(R(tree::evaluate_all(body(std::as_const(s))))), s);
    } else {
      if (!predicate(go_on)) return s;
      if (Bounded && i >= bound) too_many_trips(bound);
      s = tree::lift<T>(R(tree::evaluate_all(body(std::as_const(s)))));
    }
  }
}
}  // namespace control

/// state = body(state) while continue_if(state). Mapped: until the last example stops; the others stay as they are.
/// Reverse mode needs a bound: while_loop(c, b, s, max_trips{n}), which throws domain_error when the loop wants more.
template <class C, class B, class S> auto while_loop(const C& continue_if, const B& body, const S& state) {
  return control::while_run<false>(continue_if, body, state, 0);
}
template <class C, class B, class S> auto while_loop(const C& continue_if, const B& body, const S& state, max_trips bound) {
  return control::while_run<true>(continue_if, body, state, bound.n);
}

TTENSOR_END
