// Jacobians and Hessians: every block has shape out.shape + in.shape, no squeezing.
//
// With one array as result, a Jacobian is the tree of the argument with the result's axes in front of every leaf: for an
// aggregate X<T> an X<stacked<T, K>>. With one array as argument it is the tree of the result with the argument's axes
// behind every leaf. With several leaves on both sides it is a tuple over the leaves of the result of tuples over the leaves
// of the argument, in field order: get<j>(get<i>(jacobian)).
#pragma once
#include "jacobian_types.hpp"
#include "one_pass.hpp"
#include "vmap.hpp"

TTENSOR_BEGIN

namespace jacobian_detail {
// ---- values -------------------------------------------------------------------------------------------------------------
template <class T> index_t leaf_size(const T& t) {
  if constexpr (tree::tensor_leaf<T>) return t.size();
  else return 1;
}
template <class T> index_t tree_size(const T& t) {
  index_t n = 0;
  tree::for_each([&](const auto& l) { n += leaf_size(l); }, t);
  return n;
}
template <class O, class I> auto joined_shape(const O& o, const I& i) {
  dims<rank_v<O> + rank_v<I>> e{};
  if constexpr (rank_v<O> > 0) for (int d = 0; d < rank_v<O>; ++d) e[d] = o.extent(d);
  if constexpr (rank_v<I> > 0) for (int d = 0; d < rank_v<I>; ++d) e[rank_v<O> + d] = i.extent(d);
  return e;
}
template <class T> T zero_leaf(const dims<rank_v<T>>& e) {
  if constexpr (rank_v<T> > 0) return T(e);
  else return static_cast<void>(e), T(scalar_t<T>(0));
}
template <class T, class S> void set_element(T& t, index_t k, const S& s) {
  if constexpr (!tree::tensor_leaf<T>) t = T(s);
  else if constexpr (requires { t.elements().set(k, scalar_t<T>(s)); } &&
                     std::is_lvalue_reference_v<decltype(t.elements())>)
    t.elements().set(k, scalar_t<T>(s));
  else t.data()[k] = scalar_t<T>(s);
}
/// Elements of the block at first, first + stride, ...: those of the leaf v.
template <class B, class V> void put(B& block, index_t first, index_t stride, const V& v) {
  using S = scalar_t<B>;
  if constexpr (rank_v<V> == 0) {
    set_element(block, first, reverse_detail::rank0(v));
  } else if constexpr (!std::is_lvalue_reference_v<decltype(block.elements())>) {
    block = v;  // a fixed tensor: the result is a scalar, so this is the whole block
  } else {
    const dims<1> n{{v.size()}};
    statement_rule<S>::assign_region(block.elements(), layout_map<1>{first, n, {{stride}}},
                                     expr::operand<elem_t<S>>(leaf<scalar_t<V>, 1>{v.elements().snap(), layout_map<1>::row_major(n)}));
  }
}
/// The same for the examples of the mapped leaf v: those of example r from first + r * across on.
template <class Level, class B, class V>
void put_examples(B& block, index_t first, index_t rows, index_t across, index_t stride, const V& v) {
  if constexpr (tree::is_at_level_v<scalar_t<V>, Level>) {  // else the level did not reach v: zeros
    using S = scalar_t<B>;
    const auto& s = v.elements();
    const dims<2> n{{rows, s.size()}};
    const layout_map<2> from{0, n, {{s.mapped() ? s.size() : 0, 1}}};  // a gradient may be the same for all
    if constexpr (requires { requires tree::tensor_leaf<B> && std::is_lvalue_reference_v<decltype(block.elements())>; }) {
      statement_rule<S>::assign_region(block.elements(), layout_map<2>{first, n, {{across, stride}}},
                                       expr::operand<elem_t<S>>(leaf<inner_t<scalar_t<V>>, 2>{s.inner().snap(), from}));
    } else {  // a scalar or a fixed tensor
      for (index_t r = 0; r < rows; ++r)
        for (index_t i = 0; i < n[1]; ++i) set_element(block, first + r * across + i * stride, s.inner().get(r * from.stride[0] + i));
    }
  }
}
/// Mapped trees over the chain C: in example r element `first + r` of leaf number `which` is 1 and everything else 0. One row gets
/// one of zeros beside it: a batch of one is not mapped, and its products have other last bits.
template <class C, class T> auto mapped_basis(const T& like, int which, index_t first, index_t rows) {
  int i = 0;
  return tree::map<tree::rebind_t<tree::wrap_in<batched, C>, T>>([&]<class L, class Out>(const L& l, std::type_identity<Out>) -> Out {
    using B = scalar_t<Out>;
    const auto shape = joined_shape(0, l);
    if (i++ != which) return zero_leaf<Out>(shape);
    const index_t n = leaf_size(l);
    const index_t width = rows == 1 ? 2 : rows;
    auto ones = store<inner_t<B>>::make(width * n);
    ones.zero();
    for (index_t r = 0; r < rows; ++r) ones.set(r * n + first + r, inner_t<B>(1));
    store<B> s(std::move(ones), width, n);
    if constexpr (tree::tensor_leaf<Out>) return Out(std::move(s), shape);
    else return Out(std::move(s));
  }, like);
}
/// A copy of the tree in which element `k` of its leaf number `which` is 1 and everything else 0.
template <class T> T basis(const T& like, int which, index_t k) {
  int i = 0;
  return tree::map<T>([&]<class L, class Out>(const L& l, std::type_identity<Out>) -> Out {
    Out z = zero_leaf<Out>(joined_shape(0, l));
    if (i++ == which) set_element(z, k, scalar_t<Out>(1));
    return z;
  }, like);
}
template <class C, class Y, class X> auto zero_rows(const Y& y, const X& x) {
  return meta::unpack(
      [&](const auto&... o) {
        return typename rows<C, X, std::tuple<decltype(o)...>>::type{[&](const auto& leaf) {
          return tree::map<row_t<C, std::remove_cvref_t<decltype(leaf)>, X>>(
              [&]<class Out>(const auto& l, std::type_identity<Out>) { return zero_leaf<Out>(joined_shape(leaf, l)); },
              x);
        }(o)...};
      },
      leaf_refs(y));
}
/// Complex parts want the promise of a holomorphic function, and the promise wants complex parts only.
template <bool Holomorphic, class Y, class X> void check_complex(const Y& y, const X& x) {
  tree::for_each([&]<class O>(const O&) {
    tree::for_each([]<class I>(const I&) {
      constexpr bool in = is_complex_v<elem_t<scalar_t<I>>>, out = is_complex_v<elem_t<scalar_t<O>>>;
      static_assert(in || !out, "ttensor: a Jacobian of real arguments and a complex result y is that of its parts: return std::pair{eval(real(y)), eval(imag(y))} from f");
      static_assert(
          Holomorphic || !in,
          "ttensor: the Jacobian of a complex function is not one complex matrix; pass holomorphic if f is, or take real(...) and imag(...) apart");
      static_assert(!Holomorphic || !in || out, "ttensor: holomorphic promises complex arguments and results, one of them is real");
    }, x);
  }, y);
}
template <class F, std::size_t... I> void each_index(F&& f, std::index_sequence<I...>) {
  (f(std::integral_constant<std::size_t, I>{}), ...);
}

template <class C, class Y, class X, class Rows> result_t<C, Y, X> assemble(const Y& y, Rows& r) {
  using R = result_t<C, Y, X>;
  if constexpr (is_one_leaf_v<Y>) {
    return std::move(std::get<0>(r));
  } else if constexpr (is_one_leaf_v<X>) {
    R j = tree::map<R>([]<class Out>(const auto&, std::type_identity<Out>) { return Out(); }, y);
    auto to = leaf_refs(j);
    each_index([&](auto o) { std::get<o()>(to) = std::move(std::get<o()>(r)); }, std::make_index_sequence<std::tuple_size_v<Rows>>{});
    return j;
  } else {
    return meta::unpack(
        [&](auto&... row) {
          return R{meta::unpack([](auto&... b) { return std::make_tuple(std::move(b)...); }, leaf_refs(row))...};
        },
        r);
  }
}
/// How many tangents or cotangents are carried at once. Chunked: as the examples of one mapped tree, at most `most`.
template <class C, bool Chunked> struct passes {
  index_t most;
  template <class T> static auto directions(const T& like, int which, index_t first, index_t rows) {
    if constexpr (Chunked) return mapped_basis<C>(like, which, first, rows);
    else return static_cast<void>(rows), basis(like, which, first);
  }
  template <class B, class V> static void put(B& block, index_t first, index_t rows, index_t across, index_t stride, const V& v) {
    if constexpr (Chunked) put_examples<batched<C>>(block, first, rows, across, stride, v);
    else jacobian_detail::put(block, first, stride, v);
  }
  index_t rows_of(index_t left) const { return !Chunked ? 1 : left < most ? left : most; }
  /// run(k, rows) until n are done.
  template <class Run> void each(index_t n, Run&& run) const {
    for (index_t k = 0; k < n;) {
      const index_t rows = rows_of(n - k);
      run(k, rows);
      k += rows;
    }
  }
};
/// along(leaf, k, rows): derivatives of the result, shaped as y, in the directions k, k + 1, ... of a leaf of x; asked for leaf by leaf, in order.
template <class C, bool Holomorphic, class P, class X, class Y, class Along> auto columns(const P& p, const X& x, const Y& y, Along&& along) {
  check_complex<Holomorphic>(y, x);
  auto r = zero_rows<C>(y, x);
  meta::unpack([&](auto&... row) {
    int leaf = 0;
    tree::for_each([&](const auto& l, auto&... block) {
      const index_t n = leaf_size(l);
      p.each(n, [&](index_t k, index_t rows) {
        const auto d = along(leaf, k, rows);
        meta::unpack([&](const auto&... v) { (p.put(block, k, rows, 1, n, v), ...); }, leaf_refs(d));
      });
      ++leaf;
    }, x, row...);
  }, r);
  return assemble<C, Y, X>(y, r);
}
/// The first of the two parts that f gives.
template <class F> struct main_of {
  const F& f;
  template <class V> auto operator()(const V& v) const {
    const auto r = f(v);
    return std::remove_cvref_t<decltype(tree::part<0>(r))>(tree::part<0>(r));
  }
};
template <bool Aux, class F> decltype(auto) main_part(const F& f) {
  if constexpr (Aux) return main_of<F>{f};
  else return (f);
}
template <class C, class Forced, bool Holomorphic, bool Aux, bool Chunked, class F, class X>
auto forward(const passes<C, Chunked>& p, const F& f, const X& x) {
  int lead = -1, number = 0;  // the first leaf with elements: its first pass shows the shapes of the result
  index_t lead_columns = 0;
  tree::for_each([&](const auto& l) { if (lead < 0 && leaf_size(l) > 0) lead = number, lead_columns = leaf_size(l); ++number; }, x);
  auto first = forward_detail::of_one<closing_over_t<Forced>, std::conditional_t<Aux, has_aux_t, options::of_jacobian>>(
      f, x, p.directions(x, lead, 0, lead < 0 ? 1 : p.rows_of(lead_columns)));
  const auto& main = main_part<Aux>(f);
  auto j = columns<C, Holomorphic>(p, x, first.y, [&](int leaf, index_t k, index_t rows) {
    if (leaf == lead && k == 0) return std::move(first.y_dot);  // its memory goes at once
    return forward_detail::of_one<closing_over_t<Forced>>(main, x, p.directions(x, leaf, k, rows)).y_dot;
  });
  if constexpr (Aux) return value_and_aux{std::move(j), std::move(first.aux)};
  else return j;
}
/// The same where one_pass::fits.
template <class C, bool Holomorphic, bool Aux, class F, class X> auto forward_together(const passes<C, false>& p, const F& f, const X& x) {
  one_pass::derivatives<C, Aux, F, X> d{f, x};
  auto of_all = [&] { return columns<C, Holomorphic>(p, x, d.y, [&](int, index_t, index_t) { return d.by_next(); }); };
  if constexpr (Aux) {
    auto aux = d.aux();  // before the next pass
    return value_and_aux{of_all(), std::move(aux)};
  } else {
    return of_all();
  }
}
/// strict: f with NaN as the tangent of one leaf of x after the other.
template <class Forced, class F, class X> void require_dependence(const F& f, const X& x) {
  std::size_t leaves = 0;
  tree::for_each([&](const auto&) { ++leaves; }, x);
  forward_detail::require_dependence("jacobian", leaves, [&](std::size_t k) {
    std::size_t i = 0;
    return forward_detail::of_one<closing_over_t<Forced>>(
               f, x,
               tree::map<X>([&]<class Out>(const auto& l, std::type_identity<Out> out)
                                -> Out { return forward_detail::nan_leaf{i++ == k}(l, out); },
                            x))
        .y_dot;
  });
}
template <class C, bool Holomorphic, bool Chunked, class P, class X>
auto backward(const passes<C, Chunked>& p, const P& pulled, const X& x) {
  const auto& y = pulled.y;
  check_complex<Holomorphic>(y, x);
  auto r = zero_rows<C>(y, x);
  const auto ys = leaf_refs(y);
  each_index([&](auto o) {
    p.each(leaf_size(std::get<o()>(ys)), [&](index_t k, index_t rows) {
      const auto g = pulled.pull(p.directions(y, static_cast<int>(o()), k, rows));
      tree::for_each([&](const auto& l, auto& block) { p.put(block, k * leaf_size(l), rows, leaf_size(l), 1, l); }, g, std::get<o()>(r));
    });
  }, std::make_index_sequence<std::tuple_size_v<decltype(ys)>>{});
  auto j = assemble<C, std::remove_cvref_t<decltype(y)>, X>(y, r);
  if constexpr (Holomorphic) return tree::map<decltype(j)>(reverse_detail::conjugate_leaf{}, j);
  else return j;
}
}  // namespace jacobian_detail

enum class jacobian_mode { forward, reverse, fewer_passes };

/// What jacfwd, jacrev and jacobian return for f: the Jacobian with respect to the arguments Numbers at f's arguments.
template <jacobian_mode Mode, class Numbers, class F, class Opts> struct jacobian_function;
template <jacobian_mode Mode, int... N, class F, class... O> struct jacobian_function<Mode, int_list<N...>, F, type_list<O...>> {
  using ttensor_function = F;
  static constexpr bool ttensor_captureless = is_captureless_v<F>;
  static constexpr bool aux = options::has<has_aux_t, O...>;
  F f;
  index_t most = 1;
  template <class... T> auto operator()(const T&... a) const { return run(tree::evaluate_all(a)...); }

 private:
  static constexpr std::size_t normal(int n, std::size_t count) {
    return n < 0 ? static_cast<std::size_t>(n) + count : static_cast<std::size_t>(n);
  }
  static constexpr int place(std::size_t i, std::size_t count) {  // of argument i among the numbers; -1: not there
    int k = 0, at = -1;
    ((at = normal(N, count) == i ? k : at, ++k), ...);
    return at;
  }
  template <std::size_t K, std::size_t Count, class V, class A> static const auto& pick(const V& v, const A& args) {
    constexpr int at = place(K, Count);
    if constexpr (at < 0) return static_cast<void>(v), std::get<K>(args);
    else if constexpr (sizeof...(N) == 1) return static_cast<void>(args), v;
    else return static_cast<void>(args), std::get<static_cast<std::size_t>(at)>(v);
  }
  template <class G, class W> static constexpr bool captures_probe() {  // with arguments of the kind that f will get: a custom_vjp refuses duals
    if constexpr (is_captureless_v<F>) return false;
    else return probe_captured_v<G, W>;
  }
  template <class... A> auto run(const A&... a) const {
    constexpr std::size_t count = sizeof...(A);
    static_assert(((N >= -static_cast<int>(count) && N < static_cast<int>(count)) && ...),
                  "ttensor: an argument number of a Jacobian is out of range");
    static_assert(reverse_detail::distinct<N...>(static_cast<int>(count)), "ttensor: an argument number of a Jacobian is given twice");
    const auto args = std::tie(a...);
    if constexpr (sizeof...(N) == 1) return at(args, std::get<normal(N, count)...>(args), a...);
    else return at(args, std::tuple(std::get<normal(N, count)>(args)...), a...);
  }
  template <class Args, class X, class... A> auto at(const Args& args, const X& x, const A&...) const {
    tree::require_parts<false, X>();
    using Forced = options::forced_chain<O...>;
    if constexpr (probing_v<A..., Forced>) {
      using P = probe_of_t<Forced, tree::chain_t<A>...>;
      using R = level_detail::seen_t<F, on_probe_t<P, A>...>;
      return looked_at<probe_of_t<P, tree::chain_t<R>>, X>(level_detail::fake<R>());
    } else {
      using C = base_chain_t<F, Forced, A...>;
      constexpr bool chunked = options::has<chunk_size, O...>;
      constexpr bool forward_only = Mode == jacobian_mode::forward || (Mode == jacobian_mode::fewer_passes && tree::scalar_leaf_type<X>);
      using Under = std::conditional_t<chunked, batched<C>, C>;
      using W = tree::rebind_t<
          std::conditional_t<forward_only, tree::wrap_in<forward_detail::one_dual, Under>, tree::wrap_in<var, Under>>,
          X>;
      auto g = [&](const auto& v) {
        return [&]<std::size_t... K>(std::index_sequence<K...>) {
          return f(pick<K, sizeof...(A)>(v, args)...);
        }(std::index_sequence_for<A...>{});
      };
      if constexpr (captures_probe<decltype(g), W>()) {
        return looked_at<probe<C>, X>(level_detail::fake<tree::evaluated_t<decltype(g(std::declval<const W&>()))>>());
      } else {
        constexpr bool analytic = options::has<holomorphic_t, O...>, strictly = options::has<strict_t, O...>;
        constexpr bool apart = aux && chunked;  // a pass of a chunk would give an auxiliary part of mapped numbers
        const jacobian_detail::passes<C, chunked> p{most};
        const auto& main = jacobian_detail::main_part<aux>(g);
        const auto forward = [&]<bool Aux, class G>(std::bool_constant<Aux>, const G& h, const auto& to) {  // a template: reverse mode has to compile without it
          if constexpr (!chunked && one_pass::fits<F, C, X, A...>) return jacobian_detail::forward_together<C, analytic, Aux>(p, h, to);
          else return jacobian_detail::forward<C, C, analytic, Aux>(p, h, to);
        };
        const std::false_type alone{};
        if constexpr (forward_only) {
          if constexpr (strictly) jacobian_detail::require_dependence<C>(main, x);
          if constexpr (apart) return with_aux(forward(alone, main, x), g(x));
          else return forward(std::bool_constant<aux>{}, g, x);
        } else {
          using Strict = std::conditional_t<strictly, strict_t, options::of_jacobian>;
          using Aux = std::conditional_t<aux && !apart, has_aux_t, options::of_jacobian>;
          const auto& recorded = jacobian_detail::main_part<apart>(g);
          const auto pulled = vjp(recorded, closing_over_t<Under>{}, options::of_jacobian{}, Strict{}, Aux{}, x);
          auto j = [&] {
            if constexpr (Mode == jacobian_mode::fewer_passes && !tree::scalar_leaf_type<std::remove_cvref_t<decltype(pulled.y)>>)
              if (jacobian_detail::tree_size(x) <= jacobian_detail::tree_size(pulled.y)) return forward(alone, main, x);
            return jacobian_detail::backward<C, analytic>(p, pulled, x);
          };
          if constexpr (apart) return with_aux(j(), g(x));
          else if constexpr (aux) return value_and_aux{j(), pulled.aux};
          else return j();
        }
      }
    }
  }
  template <class J, class R> static auto with_aux(J j, const R& r) { return value_and_aux{std::move(j), tree::evaluate_all(tree::part<1>(r))}; }
  /// The type of a result over the chain C where f gives R, while an outer transform looks at types.
  template <class C, class X, class R> static auto looked_at(const R& r) {
    using Y = std::remove_cvref_t<decltype(reverse_detail::main<aux>(r))>;
    if constexpr (aux) return value_and_aux{level_detail::fake<jacobian_detail::result_t<C, Y, X>>(), level_detail::fake<probed_result_t<C, std::remove_cvref_t<decltype(tree::part<1>(r))>>>()};
    else return level_detail::fake<jacobian_detail::result_t<C, Y, X>>();
  }
};
namespace jacobian_detail {
template <jacobian_mode Mode, int... N, class F, class... O> auto make(F&& f, O... o) {
  options::check<O...>();
  using Numbers = std::conditional_t<sizeof...(N) == 0, int_list<0>, int_list<N...>>;
  return jacobian_function<Mode, Numbers, std::remove_cvref_t<F>, type_list<O...>>{static_cast<F&&>(f), options::at_once(o...)};
}
}  // namespace jacobian_detail

/// Jacobian by forward mode: one pass for each input element; one for six where f captures nothing and all arguments are numbers (alone, in arrays, tuples, aggregates).
/// Shapes    out.shape + in.shape, for trees as the head of this file says. jacfwd<0, 2>(f) is with respect to these arguments,
///           a tuple in that order; -1 counts from the end. With has_aux, of a function that returns {y, auxiliary}, {grad, aux}: the Jacobian of y and what was returned
///           beside it
/// Math      complex arguments and results: df/dz, with holomorphic only
/// Throws    with strict domain_error [TT-D05, TT-D06] for a constant result or an unused leaf of the arguments, which otherwise
///           give zeros; it costs one more evaluation for each leaf (jacrev: one more sweep)
/// Cost      with chunk_size{n} n tangents (jacrev: cotangents) in one pass, as the examples of a vmap: fewer passes over n times
///           the memory. As in vmap, a function that asks for the value of a condition (`if`) then does not compile. All n give the
///           same bits; without chunk_size the last bits may differ where one vector has a loop of its own (matrix products, and
///           in reverse costly sums)
template <int... N, class F, class... O> auto jacfwd(F f, O... o) {
  return jacobian_detail::make<jacobian_mode::forward, N...>(static_cast<F&&>(f), o...);
}
/// Jacobian by reverse mode: one recording, one sweep for each output element.
template <int... N, class F, class... O> auto jacrev(F f, O... o) {
  return jacobian_detail::make<jacobian_mode::reverse, N...>(static_cast<F&&>(f), o...);
}
/// Jacobian by whichever mode needs fewer passes: forward when the input has no more elements than the output. Both modes are
/// compiled, so f must allow both (no custom_vjp, no unbounded while_loop).
template <int... N, class F, class... O> auto jacobian(F f, O... o) {
  return jacobian_detail::make<jacobian_mode::fewer_passes, N...>(static_cast<F&&>(f), o...);
}
/// Second derivatives, forward over reverse: in.shape + in.shape of a scalar function, out.shape + in.shape + in.shape of another. strict is
/// obeyed at both orders: a function with a constant gradient throws.
template <int... N, class F, class... O> auto hessian(F f, O... o) {
  return jacfwd<N...>(grad<N...>(static_cast<F&&>(f), options::of_hessian{}, o...), o...);
}
template <int... N, class F, class... O, class... A> auto options::of_hessian::jacobian(const F& f, type_list<O...>, const A&... a) {
  using Rest = type_list<std::conditional_t<std::is_same_v<O, chunk_size>, of_hessian, O>...>;  // the outer pass is cut into chunks
  return jacobian_function<jacobian_mode::reverse, int_list<N...>, F, Rest>{f}(a...);
}

/// Leaf I, in field order, of an aggregate that a transform stacked: its Jacobians read as tuples do.
template <std::size_t I, class A> requires(tree::aggregate_of<std::remove_const_t<A>>::value) auto& get(A& a) {
  static_assert(tree::aggregate_of<std::remove_const_t<A>>::stack > 0);
  return std::get<I>(jacobian_detail::leaf_refs(a));
}

TTENSOR_END
