// Reverse mode of a function with a rule of its own: one node on the tape, which calls a pullback.
#pragma once
#include "checkpoint.hpp"
#include "parts.hpp"

TTENSOR_BEGIN
namespace custom_detail {
using checkpoint_detail::output;

/// Numbers of examples along the axes that were mapped inside the tape of a call over the chain C, the newest last. A rule is called for all of them at once,
/// with cotangents that may be combined with what is mapped: what it is given and what it gives back has them all, also where an argument has none.
template <class C> struct mapped_axes {
  static constexpr bool every_leaf = true;  // what only masks, indices or keys are mapped by is mapped too
  using X = inner_t<parts::newest_t<C>>;
  static constexpr int older = batch_levels_v<X>, count = batch_levels_v<C> - older;
  index_t at[count + 1];
  template <class... A> static mapped_axes of(const A&... a) {
    mapped_axes m;
    for (index_t& n : m.at) n = 1;
    if constexpr (count > 0) (tree::for_each(m, a), ...);
    return m;
  }
  template <class Q> void operator()(const Q& q) {
    if constexpr (requires { q.seed; }) {
      (*this)(q.seed);
    } else if constexpr (requires { q.elements().batch(); }) {
      const auto b = q.elements().batch();
      for (int d = older; d < b.size(); ++d) eval_detail::meet_batch(at[d - older], b[d]);
    }
  }
};
/// An output for every example.
template <class C> struct for_every_example {
  const mapped_axes<C>& m;
  template <class Y> Y operator()(const Y& y, std::type_identity<Y>) const {
    if constexpr (mapped_axes<C>::count > 0 && requires { y.elements().batch(); }) {
      auto s = y.elements().value();
      auto b = ones<batch_levels_v<scalar_t<Y>>>();
      for (int d = mapped_axes<C>::older; d < b.size(); ++d) b[d] = m.at[d - mapped_axes<C>::older];
      s.require_batch(b);
      if constexpr (tree::tensor_leaf<Y>) return Y(std::move(s), y.shape());
      else return Y(std::move(s));
    } else {
      return y;
    }
  }
};
/// Values as outputs of the tape t; of none: as constants.
struct tape_leaf {
  tape* t;
  std::vector<output>& out;
  template <class S> store<S> array(const store<parts::below_t<S>>& v) const {
    if constexpr (is_var_v<S>) {
      using X = inner_t<S>;
      if (!t) return store<S>(v.value(), {});
      const std::uint32_t id = t->new_slot<X>(v.size());
      out.push_back(checkpoint_detail::array_output<X>(id));
      return store<S>(v.value(), token_ref(t->serial, id));
    } else {
      return store<S>(array<inner_t<S>>(v.inner()), v.examples(), v.size());
    }
  }
  template <class Y, class Out> Out operator()(const Y& y, std::type_identity<Out>) const {
    using S = scalar_t<Out>;
    if constexpr (tree::tensor_leaf<Y>) {
      return Out(array<S>(y.elements()), y.shape());
    } else if constexpr (is_batched_v<S>) {
      return Out(array<S>(y.elements()));
    } else {
      if (!t) return Out(y);
      auto& pool = t->pool<scalar_pool<Y>>();
      pool.enter(*t);
      const adjoint_ref r = pool.input();
      out.push_back(checkpoint_detail::scalar_output<Y>(r));
      return Out(y, t->serial, r);
    }
  }
};
/// The cotangent of an output, taken out of the tape, in the shape of its value y.
template <class C> struct take_cotangent {
  tape& t;
  const std::vector<output>& out;
  std::size_t& k;
  template <class S> store<parts::below_t<S>> array(const store<parts::below_t<S>>& y) const {
    if constexpr (is_var_v<S>) {
      using X = inner_t<S>;
      static_cast<void>(y);
      return t.at<X>(out[k++].id).take();
    } else {
      return store<parts::below_t<S>>(array<inner_t<S>>(y.inner()), y.examples(), y.size());
    }
  }
  template <class Y, class Out> Out operator()(const Y& y, std::type_identity<Out>) const {
    using S = reelem_t<C, elem_t<scalar_t<Y>>>;
    if constexpr (tree::tensor_leaf<Y>) return Out(array<S>(y.elements()), y.shape());
    else if constexpr (is_batched_v<S>) return Out(array<S>(y.elements()));
    else return checkpoint_detail::take_scalar<Y>(t, out[k++]);
  }
};
/// Adds a gradient to an argument. C: the chain of the call; mapped axes that the argument lacks are summed.
template <class C> struct give_gradient {
  tape& t;
  const mapped_axes<C>& examples;
  using L = parts::newest_t<C>;
  template <class X, int Q> void add(const store<var<X>>& s, layout_map<Q> m, const leaf<X, Q>& g) const {
    if (!s.slot() || s.slot()->tape_serial != t.serial) return;
    ad::accumulate<X, Q>(t, s.slot()->id, m, g);
  }
  template <class X, class T, int Q> void add_mapped(const store<T>& s, layout_map<Q> m, const leaf<X, Q>& g, int axis) const {
    if constexpr (is_batched_v<T>) {
      m.stride[axis] = s.examples() == 1 ? 0 : s.size();
      if (s.examples() != 1) m.extent[axis] = s.examples();
      add_mapped<X>(s.inner(), m, g, axis - 1);
    } else {
      leaf<X, Q> w = g;
      for (int d = 0; d < Q; ++d)
        if (w.map.extent[d] != m.extent[d]) w.map.extent[d] = m.extent[d], w.map.stride[d] = 0;
      add<X, Q>(s, m, w);
    }
  }
  template <class S, int R> static auto unmapped(const leaf<S, R>& l) {  // mapped axes outside the tape as leading axes
    if constexpr (batch_levels_v<S> == batch_levels_v<inner_t<L>>) return l;
    else return unmapped(ad::value_leaf(l));
  }
  template <class A, class G> void operator()(const A& a, const G& gradient) const {
    using S = scalar_t<A>;
    if constexpr (parts::has_level_v<S, L>) {
      using Under = reelem_t<parts::below_t<C>, elem_t<S>>;
      using X = reelem_t<inner_t<L>, elem_t<S>>;
      constexpr int R = rank_v<A>;
      const tensor<Under, R> g = [&] {
        if constexpr (tree::tensor_leaf<G>) {
          static_assert(rank_v<G> == R, "ttensor: a custom rule returns a gradient of another rank than its argument");
          return tree::lift<tensor<Under, R>>(gradient);
        } else {
          static_assert(R == 0, "ttensor: a custom rule returns a scalar gradient for a tensor argument");
          return tensor<Under, 0>(Under(gradient));
        }
      }();
      if constexpr (R > 0)
        if (!(g.shape() == a.shape()))
          raise<shape_error>("[custom_vjp] argument shape " + shape::text(a.shape()) + " and gradient shape " +
                             shape::text(g.shape()) + " differ; return a gradient of the shape of its argument [TT-S16]");
      auto l = unmapped(g.as_leaf());
      constexpr int Q = rank_v<decltype(l)>, levels = Q - R;
      for (int d = 0; d < levels; ++d)
        if (l.map.extent[d] == 1) l.map.extent[d] = examples.at[d], l.map.stride[d] = 0;
      if constexpr (is_var_v<A>) {
        if (!a.active() || a.serial() != t.serial) return;
        if constexpr (Q == 0) {
          add_adjoint<X>(t, a.ref(), g.elements().get(0));
        } else {
          axis_set<Q> every;
          for (bool& r : every.reduced) r = true;
          add_adjoint<X>(t, a.ref(), sum_rule<X>::template evaluate<false>(l, l.shape(), every).scalar());
        }
      } else {
        layout_map<Q> m{0, l.map.extent, {}};
        if constexpr (R > 0) {
          const auto own = layout_map<R>::row_major(a.shape());
          for (int d = 0; d < R; ++d) m.stride[levels + d] = own.stride[d];
        }
        constexpr int axis = batch_levels_v<S> - batch_levels_v<inner_t<L>> - 1;  // of the newest mapped axis the argument has
        add_mapped<X>(a.elements(), m, l, axis);
      }
    }
  }
};
template <class C, class Pull, class Y, class... A> struct node final : tape_node {
  Pull pull;
  Y y;
  std::tuple<A...> args;
  std::vector<output> out;
  mapped_axes<C> examples;
  node(const Pull& p, const Y& y_, std::vector<output>&& o, const mapped_axes<C>& m, const A&... a)
      : pull(p), y(y_), args(a...), out(static_cast<std::vector<output>&&>(o)), examples(m) {}
  void backward(tape& t) override {
    if (!checkpoint_detail::any_live(t, out)) return;
    const level_calls::unchecked kept;
    std::size_t k = 0;
    const Y ct = tree::map<Y>(take_cotangent<C>{t, out, k}, y);
    const auto g = tree::evaluate_all(pull(ct));
    if constexpr (sizeof...(A) == 1) {
      tree::for_each(give_gradient<C>{t, examples}, std::get<0>(args), g);
    } else {
      using Gradients = std::remove_cvref_t<decltype(g)>;
      constexpr bool fits = [] {
        if constexpr (tuple_like<Gradients>) return std::tuple_size_v<Gradients> == sizeof...(A);
        else return false;
      }();
      static_assert(fits, "ttensor: a custom rule returns a tuple with one gradient for each argument (of a key and of integers anything, 0)");
      if constexpr (fits)
        [&]<std::size_t... I>(std::index_sequence<I...>) {
          (tree::for_each(give_gradient<C>{t, examples}, std::get<I>(args), std::get<I>(g)), ...);
        }(std::make_index_sequence<sizeof...(A)>{});
    }
  }
};
/// The value y as a result of the tape of the arguments, whose node calls `pull`.
template <class C, class Y, class Pull, class... A> auto recorded(const Y& result, const Pull& pull, const A&... a) {
  using L = parts::newest_t<C>;
  using Z = tree::rebind_t<tree::lift_to<C>, Y>;
  ad::serial_finder finder;
  auto look = [&]<class Q>(const Q& q) {
    if constexpr (parts::has_level_v<scalar_t<Q>, L>) ad::each_taped(as_expression(q), finder);
  };
  (tree::for_each(look, a), ...);
  const std::uint64_t serial = finder.checked();
  tape* t = serial ? &tapes::of<inner_t<L>>(serial) : nullptr;
  std::vector<output> out;
  const auto examples = mapped_axes<C>::of(a...);
  const Y y = t ? tree::map<Y>(for_every_example<C>{examples}, result) : result;
  Z z = tree::map<Z>(tape_leaf{t, out}, y);
  if constexpr (requires { pull.refers_to_locals(*t); })
    if (t && t->trials == 0 && pull.refers_to_locals(*t))
      raise<level_error>(
          "[custom_vjp, custom_jvp] the rule refers to a local of the transformed function, which is gone when the rule runs; capture it by value, [=] or [c], or pass it as an argument [TT-L08]");
  if (t) t->push<node<C, Pull, Y, A...>>(pull, y, static_cast<std::vector<output>&&>(out), examples, a...);
  return z;
}
}  // namespace custom_detail
TTENSOR_END
