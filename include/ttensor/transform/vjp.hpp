// vjp: value and a pullback that can be applied again and again. hvp and vhp are compositions.
#pragma once
#include "forward.hpp"
#include "turns.hpp"

TTENSOR_BEGIN

template <class Y, class P> struct vjp_result {
  Y y;
  P pull;
};
template <class Y, class P, class X> struct vjp_result_aux {
  Y y;
  P pull;
  X aux;
};
namespace vjp_detail {
template <class... O> struct names {
  static constexpr const char *name = options::has<options::of_vhp, O...>         ? "vhp"
                                      : options::has<options::of_transpose, O...> ? "linear_transpose"
                                      : options::has<options::of_jacobian, O...>  ? "jacobian"
                                                                                  : "vjp",
                              *what = options::has<options::of_vhp, O...> ? "vector" : "cotangent", *id = "TT-S08";
};
template <class F> constexpr bool copies() {
  static_assert(
      std::is_copy_constructible_v<F>,
      "ttensor: vjp, hvp and vhp keep a copy of the function, and this one can only be moved; pass [&f](const auto&... x) { return f(x...); } while f lives");
  return true;
}
template <class P, class... A> auto looked_at_gradient() {
  if constexpr (sizeof...(A) == 1) return level_detail::fake<on_probe_t<P, at_t<0, type_list<A...>>>>();
  else return level_detail::fake<std::tuple<on_probe_t<P, A>...>>();
}
}  // namespace vjp_detail

/// Maps a cotangent, shaped as the result, to the gradient (a tuple when there are several arguments). Reusable. A
/// cotangent of a newer level than the tape runs the function again at that level, so the pullback is differentiable.
template <class C, class F, class Opts, class... A> class pullback;
template <class C, class F, class... O, class... A> class pullback<C, F, type_list<O...>, A...> {
  using K = reverse_detail::whole_call_t<C, A...>;
  using R = reverse_detail::result_of_t<K, F>;
  static constexpr bool has_auxiliary = options::has<has_aux_t, O...>;

 public:
  static constexpr bool ttensor_captureless = false;
  pullback(const F& f, const A&... a) : a_(a...), tape_(new shared_tape(f)) {
    reverse_detail::level<C> l(*tape_);
    tape_->w.emplace(K::wrap(*tape_, a...));
    y_.emplace(record_on(*tape_, [&] { return tree::evaluate_all(ttensor::spread(tape_->f, *tape_->w)); }));
    tree::for_each(reverse_detail::check_leaf<C>{*tape_}, *y_);
    l.close();
    if constexpr (options::has<strict_t, O...>)
      ttensor::spread(
          [&](const auto&... x) {
            reverse_detail::require_dependence(vjp_detail::names<O...>::name, *tape_, result(), x...);
          },
          *tape_->w);
  }
  auto value() const {
    static_assert(tree::nothing_left_behind_v<var<C>, std::remove_cvref_t<decltype(result())>>);
    return stripped(result());
  }
  auto aux() const { return stripped(tree::part<1>(*y_)); }

  template <class Ct> auto operator()(const Ct& cotangent) const {
    auto ct = tree::evaluate_all(cotangent);
    using T = tree::chain_t<decltype(ct)>;
    if constexpr (probing_v<T>) {
      return vjp_detail::looked_at_gradient<probe_of_t<C, T>, A...>();
    } else if constexpr (depth_v<T> > depth_v<C>) {
      return meta::unpack(
          [&](const auto&... a) {
            return pullback<join_chain_t<double, C, T>, F, type_list<O...>, A...>(tape_->f, a...)(ct);
          },
          a_);
    } else {
      static_assert(std::is_same_v<reelem_t<join_chain_t<double, C, T>, double>, reelem_t<C, double>>);  // T may be of another transform: refused there
      tree::require_like<vjp_detail::names<O...>>(result(), ct);
      const transform_detail::turns::turn mine(tape_->sweeping);
      tape_->clear_adjoints();
      tree::for_each(reverse_detail::seed_leaf{*tape_}, result(), ct);
      tape_->sweep();
      return K::gradients(*tape_, *tape_->w);
    }
  }

 private:
  decltype(auto) result() const { return reverse_detail::main<has_auxiliary>(*y_); }
  template <class Y> static auto stripped(const Y& y) {
    return tree::map<tree::rebind_t<tree::without<var<C>>, Y>>(reverse_detail::strip_leaf{}, y);
  }
  std::tuple<A...> a_;
  struct shared_tape : tape {  // by copies of the pullback
    F f;  // here, since what f checkpoints may refer to what it captures and to its arguments: they stay where they were recorded
    std::optional<typename K::wrapped> w;
    transform_detail::turns sweeping;
    mem::atomic<int> holders = 1;
    explicit shared_tape(const F& function) : f(function) {}
  };
  mem::shared_cell<shared_tape> tape_;
  std::optional<R> y_;
};
template <class G> struct probe_pullback {  // while an outer transform looks at types
  static constexpr bool ttensor_captureless = false;
  template <class Ct> G operator()(const Ct&) const { return level_detail::fake<G>(); }
};

namespace vjp_detail {
template <bool Aux, class Y, class P> auto answer(const Y& y, P&& pull) {  // y: what f gives, without the level
  if constexpr (Aux) {
    using V = std::remove_cvref_t<decltype(tree::part<0>(y))>;
    using X = std::remove_cvref_t<decltype(tree::part<1>(y))>;
    return vjp_result_aux<V, P, X>{tree::part<0>(y), static_cast<P&&>(pull), tree::part<1>(y)};
  } else {
    return vjp_result<Y, P>{y, static_cast<P&&>(pull)};
  }
}
template <bool Aux, class C, class R, class... A> auto looked_at() {  // the types of an answer, while an outer transform looks at types
  using P = probe<typename kinds::unprobe<C>::type>;
  using G = decltype(looked_at_gradient<P, A...>());
  return answer<Aux>(level_detail::fake<on_probe_t<P, R>>(), probe_pullback<G>{});
}
template <class... O, class F, class... A> auto run(const F& f, const A&... a) {
  static_assert(copies<F>());
  static_assert(sizeof...(A) > 0, "ttensor: vjp needs at least one argument, in the call that takes f: vjp(f, x...)");
  tree::require_parts<options::has<allow_int_t, O...>, A...>();
  using Forced = options::forced_chain<O...>;
  constexpr bool aux = options::has<has_aux_t, O...>;
  if constexpr (probing_v<A..., Forced>) {
    using P = probe_of_t<Forced, tree::chain_t<A>...>;
    using R = level_detail::seen_t<F, on_probe_t<P, A>...>;
    return looked_at<aux, join_chain_t<double, P, tree::chain_t<R>>, R, A...>();
  } else {
    using C = base_chain_t<F, Forced, A...>;
    if constexpr (probe_captured_v<F, tree::rebind_t<tree::wrap_in<var, C>, A>...>) {
      return looked_at<aux, C, tree::evaluated_t<decltype(f(std::declval<const tree::rebind_t<tree::wrap_in<var, C>, A>&>()...))>, A...>();
    } else {
      using P = pullback<C, F, type_list<O...>, A...>;
      P pull(f, a...);
      auto y = pull.value();
      if constexpr (aux) {
        auto x = pull.aux();
        return vjp_result_aux<decltype(y), P, decltype(x)>{y, static_cast<P&&>(pull), x};
      } else {
        return vjp_result<decltype(y), P>{y, static_cast<P&&>(pull)};
      }
    }
  }
}
}  // namespace vjp_detail

/// {y, pull}: the value and the pullback of f at x...; {y, pull, aux} with has_aux. Options stand behind f.
/// Math      complex numbers: pull(ct) is conj(f'(z)) ct for holomorphic f
/// Throws    pull: shape_error [TT-S08, TT-S10] when the cotangent's shape differs from the result's
template <class F, class... X> auto vjp(const F& f, const X&... options_x) {
  return options::apart([&]<class... O>(type_list<O...>, const auto&... x) {
    options::refuse_holomorphic<O...>();
    return vjp_detail::run<O...>(f, tree::evaluate_all(x)...);
  }, options_x...);
}

namespace vjp_detail {
/// f's gradient with respect to all that x has, and whether x is a list of arguments, as in jvp.
template <class F, class X> inline constexpr bool takes_list = false;
template <class F, class... T> inline constexpr bool takes_list<F, std::tuple<T...>> =
    sizeof...(T) > 1 && forward_detail::is_list_of_arguments<F, std::tuple<T...>>;
template <class... O, class F, class... T> auto gradients(const F& f, const std::tuple<T...>&) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return grad<I...>(f, O{}...);
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(T))>{});
}
}  // namespace vjp_detail

/// Hessian times vector, forward over reverse: no matrix is built. Several arguments as tuples, as in jvp.
template <class F, class... X> auto hvp(const F& f, const X&... x_v_options) {
  return options::point_and_direction([&]<class... O>(type_list<O...>, const auto& x, const auto& v) {
    static_assert(vjp_detail::copies<F>());
    options::refuse_aux<O...>();
    const auto a = tree::evaluate_all(x);
    const auto t = tree::evaluate_all(v);
    if constexpr (vjp_detail::takes_list<F, std::remove_cvref_t<decltype(a)>>)
      return forward_detail::checked<options::of_hvp, O...>(vjp_detail::gradients<O...>(f, a), a, t).y_dot;
    else return forward_detail::of_one<options::of_hvp, O...>(grad(f, O{}...), a, t).y_dot;
  }, x_v_options...);
}
/// Vector times Hessian, reverse over reverse. Several arguments as tuples, as in jvp.
template <class F, class... X> auto vhp(const F& f, const X&... x_v_options) {
  return options::point_and_direction([&]<class... O>(type_list<O...>, const auto& x, const auto& v) {
    static_assert(vjp_detail::copies<F>());
    options::refuse_aux<O...>();
    if constexpr (vjp_detail::takes_list<F, std::remove_cvref_t<decltype(x)>>)
      return meta::unpack(
          [&](const auto&... a) {
            return vjp(vjp_detail::gradients<O...>(f, x), options::of_vhp{}, O{}..., a...).pull(v);
          },
          x);
    else
      return vjp(grad(f, O{}...), options::of_vhp{}, O{}..., x).pull(v);
  }, x_v_options...);
}

TTENSOR_END
