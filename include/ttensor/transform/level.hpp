// Levels: how a transform finds out how deep it is.
//
// The level of a value is the nesting depth of its scalar type. An inner transform must wrap its arguments outside every
// level that its function touches, also through captured variables, which the argument types do not show. So a callable
// with captures is first looked at, unevaluated, with a *probe* scalar in place of the arguments: the captured levels show
// up in the type of its result. The arguments are then wrapped one level above the deepest. Where the probe cannot see
// (a captured value stored into a local of the argument's own scalar type), the assignment does not compile and its
// message names closing_over(x...), which forces the depth by hand.
#pragma once
#include "../ad/batched.hpp"
#include "../ad/nested_reverse.hpp"
#include "tree.hpp"

TTENSOR_BEGIN

template <class U> inline constexpr bool is_probe_element_v = false;
template <element_proxy U> inline constexpr bool is_probe_element_v<U> = is_probe_v<typename U::scalar>;
/// A scalar of which only the type matters: T is the deepest level met so far. Never evaluated.
template <class T> struct probe {
  probe() = default;
  template <class U> requires(!is_probe_v<std::remove_cvref_t<U>> && !is_probe_element_v<U> && any_scalar<U>) probe(const U&) {
    using V = std::remove_cvref_t<U>;
    if constexpr (scalar_kind<V>) check<V>();
    else if constexpr (element_proxy<V>) check<typename V::scalar>();
  }
  template <class U> requires(!std::is_same_v<U, T>) probe(const probe<U>&) { check<U>(); }
  template <class F> void planes(F&&) const {}

 private:
  template <class U> static void check() {
    static_assert(
        depth_v<U> <= depth_v<T>,
        "ttensor: a captured outer variable is stored into a local variable of the inner function's own scalar type, so the inner "
        "transform cannot see it; pass closing_over(x...), naming the captured variables, to the inner transform [TT-L01]");
  }
};
/// The same of a result without derivatives, floor(x) and its like: where no level is mapped it will be a number, and converts as one.
template <class T> struct plain_probe : probe<T> {
  plain_probe() = default;
  template <class U> plain_probe& operator=(const U& u) {
    static_cast<probe<T>&>(*this) = probe<T>(u);
    return *this;
  }
  operator elem_t<T>() const { __builtin_unreachable(); }
};
template <class P> inline constexpr bool is_plain_probe_v = false;
template <class T> inline constexpr bool is_plain_probe_v<plain_probe<T>> = true;
template <class T> struct kind_rule<probe<T>> {
  template <class Op, class... A> static auto apply(const A&...) {
    constexpr bool from_result = !Op::differentiable || sizeof...(A) == 1;  // real(z) of a complex z is a real number; 1 - x is none of the first operand's
    using E = typename std::conditional_t<from_result, scalar_traits<typename Op::template result<A...>>, scalar_traits<T>>::elem;
    using X = typename kinds::unprobe<join_chain_t<E, probe<T>, A...>>::type;
    if constexpr (Op::differentiable) {
      constexpr bool plain = ((is_plain_probe_v<A> || depth_v<A> == 0) && ...);
      return std::conditional_t<plain, plain_probe<X>, probe<X>>{};
    } else if constexpr (is_differentiable_v<E>) {
      return std::conditional_t<batch_levels_v<X> == 0, plain_probe<X>, probe<X>>{};
    } else {  // masks and integers keep the batch levels of what is compared, such as a captured one
      return storage_scalar_t<X>{};
    }
  }
};
template <class T> struct kind_rule<plain_probe<T>> : kind_rule<probe<T>> {};
template <class P, bool Owns> requires is_probe_v<P> struct snapshot<P, Owns> {
  static constexpr int holds = 0;
  template <class F> void each_hold(F&&) {}
  snapshot<P, false> release() { return {}; }
  snapshot<P> owning() const { return {}; }
  template <class F> void planes(F&&) const {}
};
template <class P> requires is_probe_v<P> class store<P> {  // a size; no elements
 public:
  using S = P;
  static store make(index_t n, const dims<batch_levels_v<S>>& = {}) {
    store s;
    s.size_ = n;
    return s;
  }
  static store over(const snapshot<S>&, index_t n) { return make(n); }
  bool valid() const { return true; }
  index_t size() const { return size_; }
  S get(index_t) const { return {}; }
  S scalar() const { return {}; }
  void set(index_t, const S&) {}
  void zero() {}
  snapshot<S> snap() const { return {}; }
  snapshot<S, false> bare() const { return {}; }
  store alias() const { return *this; }
  store value() const { return *this; }
  void adopt(store&& o) { size_ = o.size_; }

 private:
  index_t size_ = 0;
};
template <class S> requires has_probe_v<S> struct statement_rule<S> {
  template <class E> static store<S> evaluate(const E&, const auto&) { return {}; }
  template <class E> static void evaluate_into(store<S>&, const E&, const auto&) {}
  template <int R, class E> static void assign_region(store<S>&, const layout_map<R>&, const E&) {}
};
template <class S> requires has_probe_v<S> struct sum_rule<S> {
  template <bool Columns, class E> static store<reduced_scalar_t<S>> evaluate(const E&, const auto&, const auto&) { return {}; }
};
template <class P> requires is_probe_v<P> struct array_rule<P> {  // only the rank and the element type of the result matter
  template <class Op, class... L> static auto apply(const Op&, const L&...) {
    using Y = decltype(std::declval<const Op&>().primal(std::declval<const leaf<elem_t<typename L::scalar>, L::rank>&>()...));
    return tensor<storage_scalar_t<join_chain_t<elem_t<typename Y::scalar>, typename L::scalar...>>, rank_v<Y>>();
  }
};

/// Names outer variables that a function captures, so that its transform wraps above their levels: grad(f, closing_over(x)).
template <class C> struct closing_over_t {
  using chain = C;
};
template <class... X> auto closing_over(const X&...) {
  return closing_over_t<join_chain_t<double, double, tree::chain_t<X>..., tree::index_chain_t<X>...>>{};
}

/// True for a callable that captures nothing, so that its argument types show every level. Transform objects ask their function.
template <class F> inline constexpr bool is_captureless_v = [] {
  if constexpr (requires { F::ttensor_captureless; }) return F::ttensor_captureless;
  else return std::is_empty_v<F>;
}();

namespace level_detail {
/// Forward levels that are open on this thread. no_grad asks: duals do not look at it.
inline constinit thread_local int forward_levels = 0;
struct forward_level {
  forward_level() { ++forward_levels; }
  forward_level(const forward_level&) = delete;
  forward_level& operator=(const forward_level&) = delete;
  ~forward_level() { --forward_levels; }
};
template <class T> T fake() { __builtin_unreachable(); }
struct entering {  // to the leaves of arguments that were just made
  const level_calls::running& call;
  int level;
  template <class X> void operator()(X& x) const {
    if constexpr (tree::tensor_leaf<X>) {
      auto&& elements = x.elements();  // of a fixed tensor by value
      call.give(elements, level);
    } else call.give(x, level);
  }
};
struct returned {  // of the leaves of a result
  const level_calls::running& call;
  int level;
  template <class Y> void operator()(const Y& y) const {
    if constexpr (tree::tensor_leaf<Y>) call.check(y.elements(), level);
    else call.check(y, level);
  }
};
template <class Forced> struct probed_above {  // probes that stand above the levels named by closing_over
  static constexpr int rank_change = 0;
  template <class S> using map = probe<typename kinds::unprobe<join_chain_t<elem_t<S>, Forced, S>>::type>;
  template <class S> using scalar_of_struct = map<S>;
};
/// An argument with probes, random keys too: what is drawn from a mapped key is mapped.
template <class Forced, class T> struct probed_argument { using type = tree::rebind_t<probed_above<Forced>, T>; };
template <class Forced, class L> struct probed_argument<Forced, basic_rng<L>> {
  using type = basic_rng<typename probed_above<Forced>::template map<L>>;
};
template <class Forced, class T> requires tree::is_keys_v<T> struct probed_argument<Forced, std::vector<T>> {
  using type = std::vector<typename probed_argument<Forced, T>::type>;
};
template <class Forced, class T, std::size_t N> requires tree::is_keys_v<T>
struct probed_argument<Forced, std::array<T, N>> {
  using type = std::array<typename probed_argument<Forced, T>::type, N>;
};
template <class Forced, class... T> struct probed_argument<Forced, std::tuple<T...>> {
  using type = std::tuple<typename probed_argument<Forced, T>::type...>;
};
template <class Forced, class A, class B> struct probed_argument<Forced, std::pair<A, B>> {
  using type = std::pair<typename probed_argument<Forced, A>::type, typename probed_argument<Forced, B>::type>;
};
template <class Forced> struct above {  // scalars that hold the levels named by closing_over too
  static constexpr int rank_change = 0;
  template <class S> using map = join_chain_t<elem_t<S>, Forced, S>;
  template <class S> using scalar_of_struct = map<S>;
};
/// The sentence for a function that does not take what a transform passes.
template <class F, class... W> constexpr bool check_call() {
  constexpr bool callable = requires { std::declval<const F&>()(std::declval<const W&>()...); };
  static_assert(
      callable,
      "ttensor: the function that a transform or a loop was given does not take these arguments: one parameter for each, const auto& "
      "(inside a transform the scalar is not double, and the key not rng), and not a mutable lambda; or its body has an error, said beside this one");
  if constexpr (callable) {
    static_assert(!std::is_void_v<decltype(std::declval<const F&>()(std::declval<const W&>()...))>,
                  "ttensor: the function that a transform or a loop was given returns nothing");
    // Never called. A body whose type is declared (`-> T`) is compiled for this only, and what it captures must fit into that type.
    if (false) static_cast<void>(fake<const F&>()(fake<const W&>()...));
  }
  return callable;
}
template <class F, class... W> constexpr auto seen() {
  if constexpr (check_call<F, W...>())
    return std::type_identity<tree::evaluated_t<decltype(std::declval<const F&>()(std::declval<const W&>()...))>>{};
}
/// What f gives on these arguments, looked at.
template <class F, class... W> using seen_t = typename decltype(seen<F, W...>())::type;
template <class F, class Forced, class... A> constexpr auto captured_chain() {
  if constexpr (is_captureless_v<std::remove_cvref_t<F>>) {
    return std::type_identity<double>{};
  } else if constexpr (check_call<F, typename probed_argument<Forced, A>::type...>()) {
    using R = std::remove_cvref_t<decltype(std::declval<const F&>()(std::declval<const typename probed_argument<Forced, A>::type&>()...))>;
    return std::type_identity<join_chain_t<double, double, typename kinds::unprobe<tree::chain_t<R>>::type,
                                           typename kinds::unprobe<tree::index_chain_t<R>>::type>>{};
  } else {
    return std::type_identity<double>{};
  }
}
template <class O> struct options_chain { using type = double; };
template <class C> struct options_chain<closing_over_t<C>> { using type = C; };
}  // namespace level_detail

/// The chain of what a call meets: its arguments, mapped integers and masks among them, levels that are forced, and those that f captured.
template <class Captured, class Forced, class... A> using met_chain_t =
    join_chain_t<double, double, typename kinds::unprobe<Forced>::type, tree::chain_t<A>..., Captured,
                 typename kinds::unprobe<tree::index_chain_t<A>>::type...>;
template <class F, class Forced, class... A> using captured_chain_t =
    typename decltype(level_detail::captured_chain<F, Forced, A...>())::type;
/// The chain above which a transform of f over these arguments must wrap.
template <class F, class Forced, class... A> using base_chain_t = met_chain_t<captured_chain_t<F, Forced, A...>, Forced, A...>;
/// True while an outer transform only looks at types: a probe among the arguments (or named by closing_over), or, when f is
/// called on its real arguments, in the type of its result.
template <class... A> inline constexpr bool probing_v = (has_probe_v<tree::chain_t<A>> || ...);
template <class F, class... W> inline constexpr bool probe_captured_v = [] {
  if constexpr (is_captureless_v<std::remove_cvref_t<F>>) return level_detail::check_call<F, W...>() && false;
  else if constexpr (!level_detail::check_call<F, W...>()) return false;
  else return probing_v<decltype(std::declval<const F&>()(std::declval<const W&>()...))>;
}();
template <class F, class Tuple> inline constexpr bool probe_captured_by_v = false;
template <class F, class... W> inline constexpr bool probe_captured_by_v<F, std::tuple<W...>> = probe_captured_v<F, W...>;
template <class F, class... W> inline constexpr bool probe_captured_by_v<F, bundle<W...>> = probe_captured_v<F, std::remove_cvref_t<W>...>;
/// The probe that stands for the newest level among chains, and an argument on it.
template <class... C> using probe_of_t = probe<typename kinds::unprobe<join_chain_t<double, double, C...>>::type>;
template <class P, class A> using on_probe_t = tree::rebind_t<tree::lift_to<P>, A>;
/// What a transform over the chain C answers while an outer one looks at types: T on probes that have met C.
template <class C, class T> using probed_result_t = tree::rebind_t<tree::lift_to<probe<typename kinds::unprobe<C>::type>>, T>;

namespace level_detail {
/// A leaf as scalar type To, where the chain of To is at least as deep: a constant of the added levels.
template <class To, class X> To lift(const X& x) {
  if constexpr (std::is_same_v<To, X>) return x;
  else return To(x);
}
}  // namespace level_detail

TTENSOR_END
