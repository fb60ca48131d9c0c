// Jacobians and Hessians: shape out.shape + in.shape, no squeezing. Over several leaves: tuples, outputs outside, in leaf order.
#pragma once
#include "vmap.hpp"

TTENSOR_BEGIN

namespace jacobian_detail {
/// The differentiable leaf types of a tree, in order.
template <class T> struct leaves { using type = type_list<>; };
template <class T> using leaves_t = typename leaves<std::remove_cvref_t<T>>::type;
template <class... L> constexpr auto cat(type_list<L...> a) { return a; }
template <class... A, class... B, class... C> constexpr auto cat(type_list<A...>, type_list<B...>, C... c) { return cat(type_list<A..., B...>{}, c...); }
template <class T> requires tree::is_differentiable_leaf_v<T> struct leaves<T> { using type = type_list<T>; };
template <class... T> struct leaves<std::tuple<T...>> { using type = decltype(cat(type_list<>{}, leaves_t<T>{}...)); };
template <class A, class B> struct leaves<std::pair<A, B>> { using type = decltype(cat(leaves_t<A>{}, leaves_t<B>{})); };
template <class T, std::size_t N> struct leaves<std::array<T, N>> {
  template <std::size_t... I> static auto all(std::index_sequence<I...>) { return cat(type_list<>{}, leaves_t<std::enable_if_t<(I < N), T>>{}...); }
  using type = decltype(all(std::make_index_sequence<N>{}));
};
template <class T> requires tree::is_aggregate_tree_v<T> struct leaves<T> {
  template <int I> static auto of_field() {
    if constexpr (tree::is_static_field_v<T, I>) return type_list<>{};
    else return leaves_t<tree::field_t<T, I>>{};
  }
  template <int... I> static auto all(std::integer_sequence<int, I...>) { return cat(type_list<>{}, of_field<I>()...); }
  using type = decltype(all(std::make_integer_sequence<int, tree::field_count<T>()>{}));
};
template <class T> inline constexpr bool is_one_leaf_v = tree::is_differentiable_leaf_v<T>;

/// Block of one output leaf by one input leaf, on scalar X.
template <class X, int R> struct block_type { using type = tensor<X, R>; };
template <class X> struct block_type<X, 0> { using type = X; };
template <class C, class Out, class In>
using block_t = typename block_type<reelem_t<C, promote_t<elem_t<scalar_t<Out>>, elem_t<scalar_t<In>>>>, rank_v<Out> + rank_v<In>>::type;
template <class C, class Out, class List> struct row;
template <class C, class Out, class... In> struct row<C, Out, type_list<In...>> { using type = std::tuple<block_t<C, Out, In>...>; };

/// Result type: a block, a tuple of blocks, or a tuple of tuples.
template <class C, class Y, class X> struct result {
  template <class O> static auto of_row() {
    if constexpr (is_one_leaf_v<X>) return std::type_identity<block_t<C, O, X>>{};
    else return std::type_identity<typename row<C, O, leaves_t<X>>::type>{};
  }
  template <class... O> static auto all(type_list<O...>) { return std::type_identity<std::tuple<typename decltype(of_row<O>())::type...>>{}; }
  static auto get() {
    if constexpr (is_one_leaf_v<Y>) return of_row<Y>();
    else return all(leaves_t<Y>{});
  }
  using type = typename decltype(get())::type;
};

template <class T> index_t leaf_size(const T& t) {
  if constexpr (tree::tensor_leaf<T>) return t.size();
  else return 1;
}
template <class T> auto leaf_shape(const T& t) {
  if constexpr (tree::tensor_leaf<T>) return t.shape();
  else return dims<0>{};
}
/// Blocks under construction, one a pair of leaves, each with rows (outputs) by columns (inputs).
template <class S> void put_column(store<S>& block, index_t rows, index_t columns, index_t column, const auto& y_dot) {
  const dims<1> n{{rows}};
  if constexpr (tree::tensor_leaf<std::remove_cvref_t<decltype(y_dot)>>)
    statement_rule<S>::assign_region(block, layout_map<1>{column, n, {{columns}}}, expr::operand<elem_t<S>>(leaf<scalar_t<decltype(y_dot)>, 1>{y_dot.elements().snap(), layout_map<1>::row_major(n)}));
  else
    block.set(column, S(y_dot));
}
template <class S> void put_row(store<S>& block, index_t columns, index_t r, const auto& g) {
  const dims<1> n{{columns}};
  if constexpr (tree::tensor_leaf<std::remove_cvref_t<decltype(g)>>)
    statement_rule<S>::assign_region(block, layout_map<1>{r * columns, n, {{1}}}, expr::operand<elem_t<S>>(leaf<scalar_t<decltype(g)>, 1>{g.elements().snap(), layout_map<1>::row_major(n)}));
  else
    block.set(r, S(g));
}
template <class B> using block_scalar = scalar_t<B>;
template <class B, int R> B make_block(store<scalar_t<B>>&& s, const dims<R>& e) {
  if constexpr (tree::tensor_leaf<B>) return B(static_cast<store<scalar_t<B>>&&>(s), e);
  else return s.get(0);
}
template <class O, class I> auto joined_shape(const O& o, const I& i) {
  const auto a = leaf_shape(o);
  const auto b = leaf_shape(i);
  dims<decltype(a)::size() + decltype(b)::size()> e{};
  for (int d = 0; d < a.size(); ++d) e[d] = a[d];
  for (int d = 0; d < b.size(); ++d) e[a.size() + d] = b[d];
  return e;
}

/// A copy of the tree in which element `k` of its leaf number `which` is 1 and everything else 0.
template <class T> T basis(const T& like, int which, index_t k) {
  int i = 0;
  return tree::map<T>([&]<class L, class Out>(const L& l, std::type_identity<Out>) -> Out {
    const bool here = i++ == which;
    if constexpr (tree::tensor_leaf<L>) {
      Out z(l.shape());
      if (here) z.elements().set(k, scalar_t<Out>(1));
      return z;
    } else {
      return Out(here ? 1 : 0);
    }
  }, like);
}
/// Leaves of a tree as a tuple of references to const.
template <class T, int I> auto field_refs(const T& t);
template <class T> auto leaf_refs(const T& t) {
  if constexpr (is_one_leaf_v<T>) return std::tuple<const T&>(t);
  else if constexpr (requires { std::tuple_size<T>::value; })
    return std::apply([](const auto&... x) { return std::tuple_cat(leaf_refs(x)...); }, t);
  else if constexpr (tree::is_aggregate_tree_v<T>)
    return [&]<int... I>(std::integer_sequence<int, I...>) { return std::tuple_cat(field_refs<T, I>(t)...); }(std::make_integer_sequence<int, tree::field_count<T>()>{});
  else return std::tuple<>();
}
template <class T, int I> auto field_refs(const T& t) {
  if constexpr (tree::is_static_field_v<T, I>) return std::tuple<>();
  else return leaf_refs(tree::field<I>(t));
}
template <class R, class Y, class X, class Stores> R assemble(const Y& y, const X& x, Stores& s) {
  const auto ys = leaf_refs(y);
  const auto xs = leaf_refs(x);
  constexpr std::size_t nx = std::tuple_size_v<decltype(xs)>;
  auto one_row = [&]<class Row, std::size_t O>(std::type_identity<Row>, std::integral_constant<std::size_t, O>) -> Row {
    if constexpr (is_one_leaf_v<X>) {
      return make_block<Row>(std::move(std::get<O>(s)), joined_shape(std::get<O>(ys), x));
    } else {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return Row{make_block<std::tuple_element_t<I, Row>>(std::move(std::get<O * nx + I>(s)), joined_shape(std::get<O>(ys), std::get<I>(xs)))...};
      }(std::make_index_sequence<nx>{});
    }
  };
  if constexpr (is_one_leaf_v<Y>) return one_row(std::type_identity<R>{}, std::integral_constant<std::size_t, 0>{});
  else
    return [&]<std::size_t... O>(std::index_sequence<O...>) { return R{one_row(std::type_identity<std::tuple_element_t<O, R>>{}, std::integral_constant<std::size_t, O>{})...}; }(
        std::make_index_sequence<std::tuple_size_v<R>>{});
}
template <class C, class Ys, class Xs> struct block_stores;
template <class C, class... O, class... I> struct block_stores<C, std::tuple<O...>, std::tuple<I...>> {
  template <class A> static auto row_of() { return std::type_identity<std::tuple<store<scalar_t<block_t<C, std::remove_cvref_t<A>, std::remove_cvref_t<I>>>>...>>{}; }
  using type = decltype(std::tuple_cat(std::declval<typename decltype(row_of<O>())::type>()...));
  template <class Y, class Xs> static auto row_for(const Y& y, const Xs& xs) {
    return std::apply([&](const auto&... x) { return std::make_tuple(zeroed<store<scalar_t<block_t<C, Y, std::remove_cvref_t<decltype(x)>>>>>(leaf_size(y) * leaf_size(x))...); }, xs);
  }
  static type make(const std::tuple<O...>& ys, const std::tuple<I...>& xs) {
    return std::apply([&](const auto&... y) { return std::tuple_cat(row_for(y, xs)...); }, ys);
  }
  template <class S> static S zeroed(index_t n) {
    S s = S::make(n);
    s.zero();
    return s;
  }
};
template <class F, std::size_t... I> void each_index(F&& f, std::index_sequence<I...>) { (f(std::integral_constant<std::size_t, I>{}), ...); }

template <class C, class Forced, class F, class X> auto forward(const F& f, const X& x) {
  const auto xs = leaf_refs(x);
  constexpr std::size_t nx = std::tuple_size_v<decltype(xs)>;
  auto first = forward_detail::of_one<closing_over_t<Forced>>(f, x, basis(x, -1, 0));  // shape of the result; columns follow
  using Y = decltype(first.y);
  using R = typename result<C, Y, X>::type;
  const auto ys = leaf_refs(first.y);
  using B = block_stores<C, std::remove_const_t<decltype(ys)>, std::remove_const_t<decltype(xs)>>;
  auto s = B::make(ys, xs);
  constexpr std::size_t ny = std::tuple_size_v<decltype(ys)>;
  each_index([&](auto i) {
    const index_t n = leaf_size(std::get<i()>(xs));
    for (index_t k = 0; k < n; ++k) {
      const auto d = forward_detail::of_one<closing_over_t<Forced>>(f, x, basis(x, static_cast<int>(i()), k));
      const auto ds = leaf_refs(d.y_dot);
      each_index([&](auto o) { put_column(std::get<o() * nx + i()>(s), leaf_size(std::get<o()>(ys)), n, k, std::get<o()>(ds)); }, std::make_index_sequence<ny>{});
    }
  }, std::make_index_sequence<nx>{});
  return assemble<R>(first.y, x, s);
}
template <class C, class Forced, class F, class X> auto backward(const F& f, const X& x) {
  const auto r = vjp(f, closing_over_t<Forced>{}, x);
  using Y = std::remove_cvref_t<decltype(r.y)>;
  using R = typename result<C, Y, X>::type;
  const auto ys = leaf_refs(r.y);
  const auto xs = leaf_refs(x);
  constexpr std::size_t nx = std::tuple_size_v<decltype(xs)>, ny = std::tuple_size_v<decltype(ys)>;
  using B = block_stores<C, std::remove_const_t<decltype(ys)>, std::remove_const_t<decltype(xs)>>;
  auto s = B::make(ys, xs);
  each_index([&](auto o) {
    const index_t n = leaf_size(std::get<o()>(ys));
    for (index_t k = 0; k < n; ++k) {
      const auto g = r.pull(basis(r.y, static_cast<int>(o()), k));
      const auto gs = leaf_refs(g);
      each_index([&](auto i) { put_row(std::get<o() * nx + i()>(s), leaf_size(std::get<i()>(xs)), k, std::get<i()>(gs)); }, std::make_index_sequence<nx>{});
    }
  }, std::make_index_sequence<ny>{});
  return assemble<R>(r.y, x, s);
}
}  // namespace jacobian_detail

enum class jacobian_mode { forward, reverse };

/// What jacfwd and jacrev return for f: the Jacobian with respect to argument N at f's arguments.
template <jacobian_mode Mode, int N, class F, class Opts> struct jacobian_function;
template <jacobian_mode Mode, int N, class F, class... O> struct jacobian_function<Mode, N, F, type_list<O...>> {
  static constexpr bool ttensor_captureless = is_captureless_v<F>;
  F f;
  template <class... T> auto operator()(const T&... a) const { return run(tree::evaluate_all(a)...); }

 private:
  template <class... A> auto run(const A&... a) const {
    constexpr int i = N < 0 ? N + static_cast<int>(sizeof...(A)) : N;
    static_assert(i >= 0 && i < static_cast<int>(sizeof...(A)), "ttensor: an argument number of a Jacobian is out of range");
    const auto args = std::tie(a...);
    const auto& x = std::get<i>(args);
    using X = std::remove_cvref_t<decltype(x)>;
    static_assert(tree::leaf_count<X>::value > 0, "ttensor: Jacobian with respect to an argument without floating-point parts");
    using Forced = options::forced_chain<O...>;
    if constexpr (probing_v<A..., Forced>) {
      using P = probe_of_t<Forced, tree::chain_t<A>...>;
      using R = tree::evaluated_t<decltype(f(std::declval<const on_probe_t<P, A>&>()...))>;
      return level_detail::fake<typename jacobian_detail::result<probe_of_t<P, tree::chain_t<R>>, R, X>::type>();
    } else if constexpr (probe_captured_v<F, on_probe_t<reelem_t<base_chain_t<F, Forced, A...>, double>, A>...>) {
      using C = base_chain_t<F, Forced, A...>;
      using R = tree::evaluated_t<decltype(f(a...))>;
      return level_detail::fake<typename jacobian_detail::result<probe<C>, R, X>::type>();
    } else {
      using C = base_chain_t<F, Forced, A...>;
      auto g = [&](const auto& v) {
        return [&]<std::size_t... K>(std::index_sequence<K...>) { return f(pick<K, i>(v, std::get<K>(args))...); }(std::index_sequence_for<A...>{});
      };
      if constexpr (Mode == jacobian_mode::forward) return jacobian_detail::forward<C, C>(g, x);
      else return jacobian_detail::backward<C, C>(g, x);
    }
  }
  template <std::size_t K, int I, class V, class A> static const auto& pick(const V& v, const A& a) {
    if constexpr (K == I) return static_cast<void>(a), v;
    else return static_cast<void>(v), a;
  }
};

/// Jacobian by forward mode: one pass for each input element.
template <int N = 0, class F, class... O> auto jacfwd(F f, O...) { return jacobian_function<jacobian_mode::forward, N, F, type_list<O...>>{static_cast<F&&>(f)}; }
/// Jacobian by reverse mode: one recording, one sweep for each output element.
template <int N = 0, class F, class... O> auto jacrev(F f, O...) { return jacobian_function<jacobian_mode::reverse, N, F, type_list<O...>>{static_cast<F&&>(f)}; }

/// Jacobian by whichever mode needs fewer passes for these shapes.
template <class F, class... O> struct jacobian_of {
  static constexpr bool ttensor_captureless = is_captureless_v<F>;
  F f;
  template <class... T> auto operator()(const T&... x) const { return jacfwd(f, O{}...)(x...); }
};
template <class F, class... O> auto jacobian(F f, O...) { return jacobian_of<F, O...>{static_cast<F&&>(f)}; }
/// Second derivatives of a scalar function: in.shape + in.shape, forward over reverse.
template <class F, class... O> auto hessian(F f, O... o) { return jacfwd(grad(static_cast<F&&>(f), o...), o...); }

TTENSOR_END
