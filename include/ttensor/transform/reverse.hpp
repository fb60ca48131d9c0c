// Reverse mode: grad, value_and_grad, vjp. Each call opens a level (a tape), runs f on taped arguments, sweeps, extracts.
#pragma once
#include <string>
#include "options.hpp"

TTENSOR_BEGIN

namespace reverse_detail {
/// While it is open, the tape of a call records scalars over the chain C.
template <class C> class level {
 public:
  explicit level(tape& t) : tape_(&t), outer_(std::exchange(tapes::current<C>, &t)) {}
  level(const level&) = delete;
  ~level() { close(); }
  void close() {  // no more recording
    if (!tape_) return;
    std::exchange(tape_, nullptr)->record(false);
    tapes::current<C> = outer_;
  }

 private:
  tape *tape_, *outer_;
};

/// Elements as an input of the tape.
template <class X, class S> TTENSOR_NOINLINE store<var<X>> input(tape& t, const store<S>& s) {
  return store<var<X>>(lifted<X>(s), token_ref(t.serial, t.new_slot<X>(s.size())));
}
/// The gradient of an input, taken out of the tape.
template <class X> TTENSOR_NOINLINE store<X> gradient(tape& t, const store<var<X>>& x) {
  return t.at<X>(x.slot()->id).take();
}
/// A leaf of the arguments as an input of the tape.
struct wrap_leaf {
  tape& t;
  template <class S, auto Sh, class Out> Out operator()(const tensor<S, Sh>& x, std::type_identity<Out>) const {
    return Out(input<inner_t<typename Out::scalar>>(t, x.elements()), x.shape());
  }
  template <class S, class Out> requires(!tree::tensor_leaf<S>) Out operator()(const S& x, std::type_identity<Out>) const {
    using X = inner_t<Out>;
    auto& pool = t.pool<scalar_pool<X>>();
    pool.enter(t);
    return Out(X(x), t.serial, pool.input());
  }
};
/// Gradient of an input, taken out of the tape.
struct take_gradient {
  tape& t;
  template <class X, auto Sh, class Out> Out operator()(const tensor<var<X>, Sh>& x, std::type_identity<Out>) const {
    return Out(gradient(t, x.elements()), x.shape());
  }
  template <class X, class Out> Out operator()(const var<X>& x, std::type_identity<Out>) const {
    return Out(t.pool<scalar_pool<X>>().take_adjoint(x.ref().offset()));
  }
};
/// Adds a cotangent to an output. Not to one of an older level, whose type may have fewer levels than the cotangent.
struct seed_leaf {
  tape& t;
  template <class X, class Ct> requires(depth_v<scalar_t<Ct>> <= depth_v<X>) void operator()(const var<X>& y, const Ct& ct) const {
    if (!y.active() || y.serial() != t.serial) return;  // a constant, or a value of an older level
    add_adjoint<X>(t, y.ref(), X(ct));
  }
  template <class X, auto Sh, class Ct> requires(depth_v<scalar_t<Ct>> <= depth_v<X>)
  void operator()(const tensor<var<X>, Sh>& y, const Ct& ct) const {
    if (!y.elements().slot() || y.elements().slot()->tape_serial != t.serial) return;
    const std::uint32_t id = y.elements().slot()->id;
    if constexpr (tree::tensor_leaf<Ct>) {
      if (ct.elements().valid()) ad::add_whole<X>(t, id, lifted<X>(ct.elements()));  // else it was default-constructed or moved from: empty
    } else {
      store<X>& a = t.at<X>(id).open();
      for (index_t i = 0; i < a.size(); ++i) a.set(i, X(apply<add_op>(a.get(i), X(ct))));
    }
  }
  template <class Y, class Ct> void operator()(const Y&, const Ct&) const {}  // an output this level does not reach
};
/// Throws when an output of this level's type belongs to another tape: a value that reached f past the probe.
template <class C> struct check_leaf {
  const tape& t;
  template <class X> void operator()(const var<X>& y) const {
    if constexpr (std::is_same_v<reelem_t<X, double>, C>)
      if (y.active() && y.serial() != t.serial) y.has_left() ? tapes::not_live() : tapes::mixed_levels();
  }
  template <class X, auto Sh> void operator()(const tensor<var<X>, Sh>& y) const {
    if constexpr (std::is_same_v<reelem_t<X, double>, C>)
      if (y.elements().slot() && y.elements().slot()->tape_serial != t.serial) tapes::mixed_levels();
  }
  template <class Y> void operator()(const Y&) const {}
};
/// Removes the tape's level from an output leaf.
struct strip_leaf {
  template <class X, auto Sh, class Out> Out operator()(const tensor<var<X>, Sh>& y, std::type_identity<Out>) const {
    if constexpr (std::is_same_v<typename Out::scalar, X>) return Out(y.elements().values().value(), y.shape());
    else return Out(y);
  }
  template <class X, class Out> Out operator()(const var<X>& y, std::type_identity<Out>) const {
    if constexpr (std::is_same_v<Out, X>) return y.value();
    else return Out(y);
  }
  template <class Y, class Out> Out operator()(const Y& y, std::type_identity<Out>) const { return Out(y); }
};

// ---- strict: unused arguments and constant results are errors --------------------------------------------------------------
template <class X> bool is_touched(const X& adjoint) {
  if constexpr (depth_v<X> == 0) return adjoint != X(0);
  else if constexpr (is_dual_v<X>) return is_touched(adjoint.value);
  else if constexpr (is_var_v<X>) return is_touched(adjoint.value());
  else {
    const auto& s = adjoint.elements().inner();
    for (index_t i = 0; i < s.size(); ++i)
      if (is_touched(s.get(i))) return true;
    return false;
  }
}
/// Clears the adjoint of an input and notes whether anything was added to it.
struct reached_leaf {
  tape& t;
  bool& all;
  template <class X, auto Sh> void operator()(const tensor<var<X>, Sh>& x) const {
    auto& s = t.at<X>(x.elements().slot()->id);
    all = all && (s.live || x.size() == 0);
    s.drop();
  }
  template <class X> void operator()(const var<X>& x) const {
    all = is_touched(t.pool<scalar_pool<X>>().take_adjoint(x.ref().offset())) && all;
  }
};
/// Seeds an output with NaN, which reaches everything the output depends on; notes outputs that depend on nothing.
struct poison_leaf {
  tape& t;
  bool& constant;
  template <class Y> void operator()(const Y& y) const {
    using S = scalar_t<Y>;
    bool on_tape = false;
    if constexpr (is_var_v<Y>) on_tape = y.active() && y.serial() == t.serial;
    else if constexpr (tree::tensor_leaf<Y> && is_var_v<S>) on_tape = y.elements().slot() && y.elements().slot()->tape_serial == t.serial;
    constant = constant || !on_tape;
    if (on_tape) seed_leaf{t}(y, elem_t<S>(std::numeric_limits<double>::quiet_NaN()));
  }
};
[[noreturn]] inline void strict_constant(const char* op) {
  raise<domain_error>(
      std::string("[") + op +
      "] strict: a result does not depend on any differentiated argument; mend the function, or drop strict to get zeros [TT-D05]");
}
[[noreturn]] inline void strict_unused(const char* op) {
  raise<domain_error>(
      std::string("[") + op +
      "] strict: no result depends on a differentiated argument; leave the argument out, or drop strict to get zeros [TT-D06]");
}
template <class Y, class... X> void require_dependence(const char* op, tape& t, const Y& y, const X&... x) {
  bool constant = false, all = true;
  tree::for_each(poison_leaf{t, constant}, y);
  t.tracing = true;
  t.sweep();
  t.tracing = false;
  (tree::for_each(reached_leaf{t, all}, x), ...);
  t.clear_adjoints();
  if (constant) strict_constant(op);
  if (!all) strict_unused(op);
}

template <int... N> constexpr bool distinct(int count) {
  const int v[] = {(N < 0 ? N + count : N)..., 0};
  for (int i = 0; i < static_cast<int>(sizeof...(N)); ++i)
    for (int j = 0; j < i; ++j)
      if (v[i] == v[j]) return false;
  return true;
}
template <int... N> constexpr bool selected(int i, int count) { return ((i == (N < 0 ? N + count : N)) || ...); }

/// Types of one call.
template <class C, class ArgList, int... N> struct call;
template <class C, class... A, int... N> struct call<C, type_list<A...>, N...> {
  static constexpr int count = static_cast<int>(sizeof...(A));
  static_assert(((N >= -count && N < count) && ...), "ttensor: an argument number is out of range");
  static_assert(distinct<N...>(count), "ttensor: an argument number is given twice");
  using level_scalar = var<C>;
  template <int I, class T> using wrapped_t = typename std::conditional_t<selected<N...>(I, count), tree::rebind<tree::wrap_in<var, C>, T>, std::type_identity<T>>::type;  // arguments are snapshots
  template <int I> using arg = at_t<I, type_list<A...>>;
  template <class S> struct all;
  template <int... I> struct all<std::integer_sequence<int, I...>> { using type = bundle<wrapped_t<I, A>...>; };
  using wrapped = typename all<std::make_integer_sequence<int, count>>::type;
  template <class T> static constexpr bool fits = tree::leaf_count<T>::value > 0;
  template <int I> using differentiated = arg<(I < 0 ? I + count : I)>;
  template <int I> using gradient =
      std::conditional_t<fits<differentiated<I>>, tree::rebind_t<tree::lift_to<C>, differentiated<I>>, no_tangent>;

  static wrapped wrap(tape& t, const A&... a) {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return wrapped{{{one<I>(t, a)}...}};
    }(std::make_integer_sequence<int, count>{});
  }
  template <int I, class T> static wrapped_t<I, T> one(tape& t, const T& a) {
    if constexpr (selected<N...>(I, count)) return tree::map<wrapped_t<I, T>>(wrap_leaf{t}, a);
    else return a;
  }
  static auto gradients(tape& t, const wrapped& w) {
    auto get = [&]<int I>(std::integral_constant<int, I>) {
      constexpr int i = I < 0 ? I + count : I;
      if constexpr (fits<arg<i>>) return tree::map<gradient<I>>(take_gradient{t}, at<i>(w));
      else return no_tangent{};
    };
    if constexpr (sizeof...(N) == 1) return (get(std::integral_constant<int, N>{}), ...);
    else return std::tuple<gradient<N>...>(get(std::integral_constant<int, N>{})...);
  }
};
/// The call that differentiates all of its arguments, and what F returns in it.
template <class C, class S, class... A> struct whole_call;
template <class C, int... I, class... A> struct whole_call<C, std::integer_sequence<int, I...>, A...> { using type = call<C, type_list<A...>, I...>; };
template <class C, class... A> using whole_call_t = typename whole_call<C, std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>, A...>::type;
template <class Call, class F> using result_of_t = tree::evaluated_t<decltype(ttensor::spread(std::declval<const F&>(), std::declval<const typename Call::wrapped&>()))>;

/// Conjugates every leaf: a holomorphic function's adjoint of 1 is conj(f'(z)).
struct conjugate_leaf {
  template <class Y, class Out> Out operator()(const Y& y, std::type_identity<Out>) const {
    if constexpr (!tree::is_differentiable_leaf_v<Y>) return y;
    else return Out(apply<conj_op>(y));
  }
};
template <class T> struct all_complex { static constexpr bool value = is_complex_v<elem_t<scalar_t<T>>>; };
template <class... T> struct all_complex<std::tuple<T...>> { static constexpr bool value = (all_complex<T>::value && ...); };
template <class Y, bool Holomorphic> constexpr bool check_scalar() {
  constexpr bool scalar = rank_v<Y> == 0 && (tree::scalar_leaf_type<Y> || array_like<Y>);
  static_assert(
      scalar,
      "ttensor: grad wants a function with a scalar result (rank 0); take sum(...) of the result, or use jacobian, or vjp with a cotangent; "
      "a function that returns std::pair{value, auxiliary} wants has_aux");
  static_assert(!scalar || is_differentiable_v<elem_t<scalar_t<Y>>>,
                "ttensor: grad wants a real floating-point result, this one is an integer or a mask");
  static_assert(Holomorphic || !is_complex_v<elem_t<scalar_t<Y>>>,
                "ttensor: grad wants a real result; take real(...) or abs of a complex one, or pass holomorphic for the derivative f'(z)");
  static_assert(!Holomorphic || is_complex_v<elem_t<scalar_t<Y>>>, "ttensor: holomorphic promises a complex result, this one is real");
  return true;
}
/// The differentiated part of a result.
template <bool Aux, class Y> decltype(auto) main(const Y& y) {
  if constexpr (Aux) return (tree::part<0>(y));
  else return (y);
}
template <class Y> auto rank0(const Y& y) {  // as a scalar
  if constexpr (tree::tensor_leaf<Y>) return y.elements().get(0);
  else return y;
}
}  // namespace reverse_detail

/// What grad and value_and_grad return for f: call it with f's arguments.
template <bool Value, class F, class Opts, int... N> struct grad_function;
template <bool Value, class F, class... O, int... N> struct grad_function<Value, F, type_list<O...>, N...> {
  using ttensor_function = F;
  static constexpr bool ttensor_captureless = is_captureless_v<F>;
  static constexpr bool aux = options::has<has_aux_t, O...>, complex_derivative = options::has<holomorphic_t, O...>;
  F f;

  template <class... T> auto operator()(const T&... a) const { return run(tree::as_evaluated(a)...); }

 private:
  template <class... A> auto run(const A&... a) const {
    static_assert(sizeof...(A) > 0, "ttensor: grad needs at least one argument");
    static_assert((check_argument<A...>(std::integral_constant<int, N>{}) && ...));
    using Forced = options::forced_chain<O...>;
    if constexpr (!gives_scalar<A...>()) {
      return options::of_hessian::jacobian<N...>(f, type_list<O...>{}, a...);
    } else if constexpr (probing_v<A..., Forced>) {
      using R = typename decltype(probed<A...>())::type;
      return looked_at<join_chain_t<double, probe_of_t<Forced, tree::chain_t<A>...>, tree::chain_t<R>>, R, A...>();
    } else {
      using C = base_chain_t<F, Forced, A...>;
      using K = reverse_detail::call<C, type_list<A...>, N...>;
      if constexpr (probe_captured_by_v<F, typename K::wrapped>) {
        return looked_at<C,
                         tree::evaluated_t<decltype(ttensor::spread(std::declval<const F&>(),
                                                                    std::declval<const typename K::wrapped&>()))>,
                         A...>();
      } else {
        tape t;
        reverse_detail::level<C> l(t);
        const auto w = K::wrap(t, a...);
        const auto y = record_on(t, [&] { return tree::evaluate_all(ttensor::spread(f, w)); });
        tree::for_each(reverse_detail::check_leaf<C>{t}, y);
        static_assert(reverse_detail::check_scalar<std::remove_cvref_t<decltype(reverse_detail::main<aux>(y))>, complex_derivative>());  // at once, before what follows fails
        const auto value = reverse_detail::rank0(reverse_detail::main<aux>(y));
        l.close();
        if constexpr (options::has<strict_t, O...>)
          reverse_detail::require_dependence("grad", t, value, at<(N < 0 ? N + static_cast<int>(sizeof...(A)) : N)>(w)...);
        reverse_detail::seed_leaf{t}(value, elem_t<scalar_t<decltype(value)>>(1));
        t.sweep();
        auto g = K::gradients(t, w);
        if constexpr (complex_derivative) {
          static_assert(reverse_detail::all_complex<decltype(g)>::value,
                        "ttensor: holomorphic promises complex arguments; an argument of grad is real");
          g = tree::map<decltype(g)>(reverse_detail::conjugate_leaf{}, g);
        }
        return answer<K>(std::move(g), [&] { return y; });
      }
    }
  }
  /// What f gives while an outer transform looks at types.
  template <class... A> static constexpr auto probed() {
    using P = probe_of_t<options::forced_chain<O...>, tree::chain_t<A>...>;
    return []<int... I>(std::integer_sequence<int, I...>) {
      return level_detail::seen<F, std::conditional_t<reverse_detail::selected<N...>(I, static_cast<int>(sizeof...(A))),
                                                      on_probe_t<P, A>, A>...>();
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>{});
  }
  /// Asked by hessian only: whether there is a gradient, not a Jacobian.
  template <class... A> static constexpr bool gives_scalar() {
    if constexpr (!options::has<options::of_hessian, O...>) {
      return true;
    } else {
      auto scalar = []<class R>(std::type_identity<R>) {
        using Y = std::remove_cvref_t<decltype(reverse_detail::main<aux>(std::declval<const R&>()))>;
        return rank_v<Y> == 0 && (tree::scalar_leaf_type<Y> || array_like<Y>);
      };
      using Forced = options::forced_chain<O...>;
      if constexpr (probing_v<A..., Forced>) return scalar(probed<A...>());
      else
        return scalar(
            std::type_identity<tree::evaluated_t<decltype(ttensor::spread(
                std::declval<const F&>(), std::declval<const typename reverse_detail::call<
                                              base_chain_t<F, Forced, A...>, type_list<A...>, N...>::wrapped&>()))>>{});
    }
  }
  /// The types of an answer over the chain C when f gives R, while an outer transform looks at types.
  template <class C, class R, class... A> static auto looked_at() {
    using K = reverse_detail::call<probe<typename kinds::unprobe<C>::type>, type_list<A...>, N...>;
    auto result = [] { return level_detail::fake<probed_result_t<C, R>>(); };
    if constexpr (sizeof...(N) == 1) return answer<K>(level_detail::fake<typename K::template gradient<N>>()..., result);
    else return answer<K>(level_detail::fake<std::tuple<typename K::template gradient<N>...>>(), result);
  }
  template <class... A, int I> static constexpr bool check_argument(std::integral_constant<int, I>) {
    constexpr int i = I < 0 ? I + static_cast<int>(sizeof...(A)) : I;
    static_assert(i >= 0 && i < static_cast<int>(sizeof...(A)), "ttensor: an argument number of grad is out of range");
    if constexpr (i >= 0 && i < static_cast<int>(sizeof...(A)))
      tree::require_parts<options::has<allow_int_t, O...>, at_t<i, type_list<A...>>>();
    return true;
  }
  template <class K, class Y> static auto strip(const Y& y) {
    using Out = tree::rebind_t<tree::without<typename K::level_scalar>, Y>;
    return tree::map<Out>(reverse_detail::strip_leaf{}, y);
  }
  template <class K, class G, class Y> static auto answer(G g, Y&& get) {
    if constexpr (!Value && !aux) {
      return g;
    } else {
      const auto y = get();
      if constexpr (!aux) {
        auto v = strip<K>(reverse_detail::rank0(y));
        return value_grad<decltype(v), G>{v, static_cast<G&&>(g)};
      } else {
        auto x = strip<K>(std::remove_cvref_t<decltype(tree::part<1>(y))>(tree::part<1>(y)));
        if constexpr (!Value) {
          return value_and_aux<G, decltype(x)>{static_cast<G&&>(g), x};
        } else {
          auto v = strip<K>(reverse_detail::rank0(tree::part<0>(y)));
          return value_grad_aux<decltype(v), G, decltype(x)>{v, static_cast<G&&>(g), x};
        }
      }
    }
  }
};

/// Gradient of a scalar function.
/// Math      complex arguments: df/dx + i df/dy, so 6+8i for |z|^2 at 3+4i; with `holomorphic` f'(z) of a complex f of complex arguments
/// Shapes    grad(f)(x...) has the type of the first argument (with the outer scalar); grad<0, 2>(f) gives a tuple
/// Throws    level_error [TT-L02, TT-L03]; with strict domain_error [TT-D05, TT-D06] for a constant result or an unused
///           argument, which otherwise give zeros; compile errors for results that are not scalars
/// Source    reverse accumulation: Linnainmaa 1970; one fused backward loop a statement
template <int... N, class F, class... O> auto grad(F f, O...) {
  options::check<O...>();
  if constexpr (sizeof...(N) == 0) return grad_function<false, F, type_list<O...>, 0>{static_cast<F&&>(f)};
  else return grad_function<false, F, type_list<O...>, N...>{static_cast<F&&>(f)};
}
/// The value beside the gradient: {value, grad}, or {value, grad, aux} with has_aux.
template <int... N, class F, class... O> auto value_and_grad(F f, O...) {
  options::check<O...>();
  if constexpr (sizeof...(N) == 0) return grad_function<true, F, type_list<O...>, 0>{static_cast<F&&>(f)};
  else return grad_function<true, F, type_list<O...>, N...>{static_cast<F&&>(f)};
}

TTENSOR_END
