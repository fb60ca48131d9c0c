// vjp: value and a pullback that can be applied again and again. hvp and vhp are compositions.
#pragma once
#include "forward.hpp"

TTENSOR_BEGIN

template <class Y, class P> struct vjp_result {
  Y y;
  P pull;
};

/// Maps a cotangent, shaped as the result, to the gradient (a tuple when there are several arguments). Reusable. A
/// cotangent of a newer level than the tape runs the function again at that level, so the pullback is differentiable.
template <class C, class F, class Forced, class... A> class pullback {
  using K0 = type_list<A...>;
  template <class S> struct call_of;
  template <int... I> struct call_of<std::integer_sequence<int, I...>> { using type = reverse_detail::call<C, K0, I...>; };
  using K = typename call_of<std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>>::type;
  using R = tree::evaluated_t<decltype(std::apply(std::declval<const F&>(), std::declval<const typename K::wrapped&>()))>;

 public:
  static constexpr bool ttensor_captureless = false;
  pullback(const F& f, const A&... a) : f_(f), a_(a...) {
    reverse_detail::level<C> l;
    tape_ = l.share();
    w_.emplace(K::wrap(l.get(), a...));
    y_.emplace(record_on(*tape_, [&] { return tree::evaluate_all(std::apply([&](const auto&... x) { return f_(x...); }, *w_)); }));
    tree::for_each(reverse_detail::check_leaf<C>{*tape_}, *y_);
  }
  auto value() const { return tree::map<tree::rebind_t<tree::without<var<C>>, R>>(reverse_detail::strip_leaf{}, *y_); }

  template <class Ct> auto operator()(const Ct& cotangent) const {
    auto ct = tree::evaluate_all(cotangent);
    using T = tree::chain_t<decltype(ct)>;
    if constexpr (depth_v<T> > depth_v<C>) {
      return std::apply([&](const auto&... a) { return pullback<join_chain_t<double, C, T>, F, Forced, A...>(f_, a...)(ct); }, a_);
    } else {
      tree::for_each(reverse_detail::seed_leaf{*tape_}, *y_, ct);
      tape_->sweep();
      return K::gradients(*tape_, *w_);
    }
  }

 private:
  F f_;
  std::tuple<A...> a_;
  std::shared_ptr<tape> tape_;
  std::optional<typename K::wrapped> w_;
  std::optional<R> y_;
};
template <class G> struct probe_pullback {  // while an outer transform looks at types
  template <class Ct> G operator()(const Ct&) const { return level_detail::fake<G>(); }
};

namespace vjp_detail {
template <class C, class R, class... A> auto looked_at() {  // the types of an answer, while an outer transform looks at types
  using P = probe<typename level_detail::strip_probe<C>::type>;
  using G = std::conditional_t<sizeof...(A) == 1, on_probe_t<P, at_t<0, type_list<A...>>>, std::tuple<on_probe_t<P, A>...>>;
  using Y = on_probe_t<P, R>;
  return vjp_result<Y, probe_pullback<G>>{level_detail::fake<Y>(), {}};
}
template <class Forced, class F, class... A> auto run(const F& f, const A&... a) {
  if constexpr (probing_v<A..., Forced>) {
    using P = probe_of_t<Forced, tree::chain_t<A>...>;
    using R = tree::evaluated_t<decltype(f(std::declval<const on_probe_t<P, A>&>()...))>;
    return looked_at<join_chain_t<double, P, tree::chain_t<R>>, R, A...>();
  } else {
    using C = base_chain_t<F, Forced, A...>;
    if constexpr (probe_captured_v<F, tree::rebind_t<tree::wrap_in<var, C>, A>...>) {
      return looked_at<C, tree::evaluated_t<decltype(f(std::declval<const tree::rebind_t<tree::wrap_in<var, C>, A>&>()...))>, A...>();
    } else {
      using P = pullback<C, F, Forced, A...>;
      P pull(f, a...);
      auto y = pull.value();
      return vjp_result<decltype(y), P>{y, static_cast<P&&>(pull)};
    }
  }
}
}  // namespace vjp_detail

/// {y, pull}: the value and the pullback of f at x...
template <class F, class... X> auto vjp(const F& f, const X&... x) { return vjp_detail::run<double>(f, tree::evaluate_all(x)...); }
/// The same with outer variables named: vjp(f, closing_over(y...), x...).
template <class F, class C, class... X> auto vjp(const F& f, closing_over_t<C>, const X&... x) { return vjp_detail::run<C>(f, tree::evaluate_all(x)...); }

/// Hessian times vector, forward over reverse: no matrix is built.
template <class F, class X, class V, class... O> auto hvp(const F& f, const X& x, const V& v, O... o) { return jvp(grad(f, o...), x, v, o...).y_dot; }
/// Vector times Hessian, reverse over reverse.
template <class F, class X, class V, class... O> auto vhp(const F& f, const X& x, const V& v, O... o) { return vjp(grad(f, o...), x).pull(v); }

TTENSOR_END
