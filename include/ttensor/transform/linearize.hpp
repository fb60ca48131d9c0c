// linearize: the value and the tangent map of a function at one point, from one call of the function.
//
// A reverse sweep is linear in its cotangent, so its transpose is the tangent map:  ct -> J^T ct  transposed is  v -> J v.
// f is recorded once on a tape over var<C>, the type of a second tape on which nothing of f is active. One sweep of the first
// tape with a variable cotangent records J^T on the second, and every sweep of that one gives J v.
#pragma once
#include "linear.hpp"
#include "turns.hpp"

TTENSOR_BEGIN

template <class Y, class L> struct linearize_result {
  Y y;
  L lin;
};

namespace linearize_detail {
struct names {
  static constexpr const char *name = "linearize", *what = "tangent", *id = "TT-S09";
};
/// Variables of the second tape with value 0, in the shape of the results; a result that f's level does not reach has none.
template <class C> struct cotangent_leaf {
  tape& t;
  template <class Y, class Out> Out operator()(const Y& y, std::type_identity<Out>) const {
    using X = inner_t<scalar_t<Out>>;
    if constexpr (tree::tensor_leaf<Y>) {
      store<X> zero = store<X>::make(y.size());
      zero.zero();
      return Out(store<var<X>>(static_cast<store<X>&&>(zero), token_ref(t.serial, t.template new_slot<X>(y.size()))), y.shape());
    } else {
      auto& pool = t.template pool<scalar_pool<X>>();
      pool.enter(t);
      return Out(X(0), t.serial, pool.input());
    }
  }
};
}  // namespace linearize_detail

/// The tangent map of f at a point: lin(v...) with one tangent for each argument. Reusable; f is not called again.
template <class C, class F, class... A> class tangent_map {
  using B = var<C>;
  using K = reverse_detail::whole_call_t<B, A...>;
  using R = reverse_detail::result_of_t<K, F>;
  using G = std::tuple<tree::rebind_t<tree::lift_to<B>, A>...>;   // of the sweep: linear in the cotangent
  using Ct = tree::rebind_t<tree::lift_to<B>, R>;
  using Y = tree::rebind_t<tree::lift_to<C>, R>;
  using X = std::tuple<tree::rebind_t<tree::lift_to<C>, A>...>;

  /// Both tapes, shared by the map and its transpose.
  struct recording {
    std::tuple<A...> a;
    tape second, first;  // the older one first
    std::optional<typename K::wrapped> w;
    std::optional<R> r;
    std::optional<Y> y;
    std::optional<Ct> ct;
    std::optional<G> g;
    transform_detail::turns sweeping;
    mem::atomic<int> holders = 1;
    explicit recording(const A&... x) : a(x...) {}
  };
  struct transposed_map {  // ct -> J^T ct
    mem::shared_cell<recording> m;
    const auto& like() const {
      if constexpr (sizeof...(A) == 1) return std::get<0>(m->a);
      else return m->a;
    }
    tangent_map transpose() const { return tangent_map(m); }
    template <class V> auto apply(const V& ct) const {
      const transform_detail::turns::turn mine(m->sweeping);
      m->first.clear_adjoints();
      tree::for_each(reverse_detail::seed_leaf{m->first}, *m->r, ct);
      m->first.sweep();
      const G g(gradients(*m));
      X x = tree::map<X>(reverse_detail::strip_leaf{}, g);
      if constexpr (sizeof...(A) == 1) return std::get<0>(x);
      else return x;
    }
  };

 public:
  static constexpr bool ttensor_captureless = false;
  template <bool Strict> tangent_map(std::bool_constant<Strict>, const F& f, const A&... a) : m_(new recording(a...)) {
    static_assert(tree::nothing_left_behind_v<var<B>, R>);
    reverse_detail::level<C> second(m_->second);
    reverse_detail::level<B> first(m_->first);
    m_->w.emplace(K::wrap(m_->first, a...));
    m_->r.emplace(record_on(m_->first, [&] { return tree::evaluate_all(ttensor::spread(f, *m_->w)); }));
    tree::for_each(reverse_detail::check_leaf<B>{m_->first}, *m_->r);
    first.close();
    if constexpr (Strict)
      ttensor::spread(
          [&](const auto&... x) { reverse_detail::require_dependence("linearize", m_->first, *m_->r, x...); }, *m_->w);
    m_->y.emplace(tree::map<Y>(reverse_detail::strip_leaf{}, tree::map<Ct>(reverse_detail::strip_leaf{}, *m_->r)));
    m_->ct.emplace(tree::map<Ct>(linearize_detail::cotangent_leaf<C>{m_->second}, *m_->y));
    tree::for_each(reverse_detail::seed_leaf{m_->first}, *m_->r, *m_->ct);
    m_->first.sweep();
    m_->g.emplace(gradients(*m_));
  }
  const Y& value() const { return *m_->y; }
  template <class... V> auto operator()(const V&... tangents) const {
    static_assert(sizeof...(V) == sizeof...(A), "ttensor: a linearized function wants one tangent for each argument");
    return linear_detail::apply_to<C>(*this, tree::evaluate_all(tangents)...);
  }

  // as a linear map: linear.hpp
  explicit tangent_map(const mem::shared_cell<recording>& m) : m_(m) {}
  const Y& like() const { return *m_->y; }
  transposed_map transpose() const { return {m_}; }
  template <class... V> Y apply(const V&... v) const {
    const transform_detail::turns::turn mine(m_->sweeping);
    m_->second.clear_adjoints();
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (tree::require_like<linearize_detail::names>(std::get<I>(m_->a), v), ...);
      (tree::for_each(reverse_detail::seed_leaf{m_->second}, std::get<I>(*m_->g), v), ...);
    }(std::index_sequence_for<A...>{});
    m_->second.sweep();
    return tree::map<Y>(reverse_detail::take_gradient{m_->second}, *m_->ct);
  }

 private:
  static auto gradients(recording& m) { return K::gradients(m.first, *m.w); }
  mem::shared_cell<recording> m_;
};
template <class Y> struct probe_tangent_map {  // while an outer transform looks at types
  static constexpr bool ttensor_captureless = false;
  template <class... V> auto operator()(const V&...) const {
    return level_detail::fake<on_probe_t<probe_of_t<tree::chain_t<Y>, tree::chain_t<tree::evaluated_t<V>>...>, Y>>();
  }
};

namespace linearize_detail {
template <class C, class R> auto looked_at() {
  using Y = probed_result_t<C, R>;
  return linearize_result<Y, probe_tangent_map<Y>>{level_detail::fake<Y>(), {}};
}
template <class Forced, bool Strict, class F, class... A> auto run(const F& f, const A&... a) {
  static_assert(sizeof...(A) > 0, "ttensor: linearize needs at least one argument, in the call that takes f: linearize(f, x...)");
  tree::require_parts<false, A...>();
  if constexpr (probing_v<A..., Forced>) {
    using P = probe_of_t<Forced, tree::chain_t<A>...>;
    using R = level_detail::seen_t<F, on_probe_t<P, A>...>;
    return looked_at<join_chain_t<double, P, tree::chain_t<R>>, R>();
  } else {
    using C = base_chain_t<F, Forced, A...>;
    if constexpr (probe_captured_v<F, tree::rebind_t<tree::wrap_in<var, C>, A>...>) {
      return looked_at<C, tree::evaluated_t<decltype(f(std::declval<const tree::rebind_t<tree::wrap_in<var, C>, A>&>()...))>>();
    } else {
      using L = tangent_map<C, F, A...>;
      L lin(std::bool_constant<Strict>{}, f, a...);
      auto y = lin.value();
      return linearize_result<decltype(y), L>{y, static_cast<L&&>(lin)};
    }
  }
}
}  // namespace linearize_detail

/// {y, lin}: the value of f at x... and its tangent map, lin(v...) = J v; f is called once.
/// Cost      two recordings of f's operators, one by one; each lin(v) one sweep. jvp is cheaper for a single tangent.
/// Throws    with strict, domain_error [TT-D05, TT-D06]
template <class F, class... X> auto linearize(const F& f, const X&... options_x) {
  return options::apart([&]<class... O>(type_list<O...>, const auto&... x) {
    options::refuse_aux<O...>();
    options::refuse_holomorphic<O...>();
    return linearize_detail::run<options::forced_chain<O...>, options::has<strict_t, O...>>(f, tree::evaluate_all(x)...);
  }, options_x...);
}

/// The transpose of a linear function: linear_transpose(f, x...)(ct) = A^T ct where f(x) = A x; a tuple when there are several
/// arguments. x... give the shapes; that f is linear is not checked (else: the transpose of its derivative at x). Of complex numbers: the conjugate transpose.
template <class F, class... X> auto linear_transpose(const F& f, const X&... options_x) {
  return vjp(f, options::of_transpose{}, options_x...).pull;
}

TTENSOR_END
