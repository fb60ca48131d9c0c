// checkpoint(f): reverse mode keeps f's arguments only and runs f again in the backward pass. Forward mode and vmap see f.
//
// Forward: f is recorded, its records are dropped, and one node stands for them. Backward: f is recorded again at the end of
// the same tape, swept, and dropped. Captured variables therefore get their adjoints like any others, and checkpoints nest.
// With several tapes live, the newest is the one that is thinned. A function that refers to locals which are gone when the
// tape is swept (`[&]` inside the transformed function) cannot run again: its records are kept.
#pragma once
#include "level.hpp"

TTENSOR_BEGIN

namespace checkpoint_detail {
/// One taped plane of a result. id 0 and no offset: a constant.
struct output {
  std::uint32_t id = 0;
  adjoint_ref scalar;
  bool (*live)(tape&, const output&) = nullptr;
};
template <class X> output scalar_output(adjoint_ref r) {
  return {0, r, [](tape& t, const output& o) {
            if constexpr (depth_v<X> == 0) return t.pool<scalar_pool<X>>().adjoint(o.scalar.offset()) != X(0);
            else return true;
          }};
}
template <class X> output array_output(std::uint32_t id) {
  return {id, {}, [](tape& t, const output& o) { return t.at<X>(o.id).live; }};
}
/// Has one of them a cotangent?
inline bool any_live(tape& t, const std::vector<output>& out) {
  for (const output& o : out)
    if (o.live && o.live(t, o)) return true;
  return false;
}
/// The adjoint of a scalar output, taken out.
template <class X> X take_scalar(tape& t, const output& o) {
  return t.pool<scalar_pool<X>>().take_adjoint(o.scalar.offset());
}

/// A result with the records of one tape behind it replaced by fresh outputs of that tape.
template <class Key> struct renew {
  tape& t;
  std::vector<output>& out;
  template <class S> static constexpr bool ours = [] {
    if constexpr (has_var_v<S> && is_differentiable_v<elem_t<S>>) return std::is_same_v<reelem_t<ad::taped_t<S>, double>, Key>;
    else return false;
  }();
  template <class X> var<X> scalar(const var<X>& v) const {
    if (!v.active() || v.serial() != t.serial) return out.push_back({}), v;
    auto& pool = t.pool<scalar_pool<X>>();
    pool.enter(t);
    const adjoint_ref r = pool.input();
    out.push_back(scalar_output<X>(r));
    return var<X>(v.value(), t.serial, r);
  }
  template <class T, int N> dual<T, N> scalar(const dual<T, N>& v) const {
    dual<T, N> r;
    r.value = scalar(v.value);
    for (int k = 0; k < N; ++k) r.tangent_at(k) = scalar(v.tangent_at(k));
    return r;
  }
  template <class T> batched<T> scalar(const batched<T>& v) const { return batched<T>(array(v.elements())); }
  template <class X> store<var<X>> array(const store<var<X>>& s) const {
    if (!s.slot() || s.slot()->tape_serial != t.serial) return out.push_back({}), s.value();
    const std::uint32_t id = t.new_slot<X>(s.size());
    out.push_back(array_output<X>(id));
    return store<var<X>>(s.values().value(), token_ref(t.serial, id));
  }
  template <class T, int N> store<dual<T, N>> array(const store<dual<T, N>>& s) const {
    store<dual<T, N>> r;
    r.value_ = array(s.value_);
    for (int k = 0; k < N; ++k) r.tangent_[k] = array(s.tangent_[k]);
    return r;
  }
  template <class T> store<batched<T>> array(const store<batched<T>>& s) const {
    return store<batched<T>>(array(s.inner()), s.examples(), s.size());
  }
  template <class Y, class Out> Out operator()(const Y& y, std::type_identity<Out>) const {
    if constexpr (!ours<scalar_t<Y>>) return y;
    else if constexpr (tree::tensor_leaf<Y>) return Out(array(y.elements()), y.shape());
    else return scalar(y);
  }
};
/// Moves the adjoints of the outputs to a second run of the same function.
template <class Key> struct hand_over {
  tape& t;
  const std::vector<output>& out;
  std::size_t& k;
  template <class X> void scalar(const var<X>& v) const {
    const output& o = out[k++];
    if (!o.live || !o.live(t, o)) return;
    const X ct = take_scalar<X>(t, o);
    if (v.active() && v.serial() == t.serial) add_adjoint<X>(t, v.ref(), ct);
  }
  template <class T, int N> void scalar(const dual<T, N>& v) const {
    scalar(v.value);
    for (int i = 0; i < N; ++i) scalar(v.tangent_at(i));
  }
  template <class T> void scalar(const batched<T>& v) const { array(v.elements()); }
  template <class X> void array(const store<var<X>>& s) const {
    const output& o = out[k++];
    if (!o.live || !o.live(t, o)) return;
    adjoint_slot<X>& from = t.at<X>(o.id);
    if (s.slot() && s.slot()->tape_serial == t.serial) ad::add_whole<X>(t, s.slot()->id, from.adjoint);
    from.drop();
  }
  template <class T, int N> void array(const store<dual<T, N>>& s) const {
    array(s.value_);
    for (int i = 0; i < N; ++i) array(s.tangent_[i]);
  }
  template <class T> void array(const store<batched<T>>& s) const { array(s.inner()); }
  template <class Y> void operator()(const Y& y) const {
    if constexpr (!renew<Key>::template ours<scalar_t<Y>>) return;
    else if constexpr (tree::tensor_leaf<Y>) array(y.elements());
    else scalar(y);
  }
};
/// Recording again during a sweep; everything recorded is dropped at the end, also when f throws.
template <class Key> class second_run {
 public:
  explicit second_run(tape& t) : t_(t), at_(t.mark()), was_(t.recording()), outer_(tapes::current<Key>) {
    t.record(true);
    tapes::current<Key> = &t;
  }
  second_run(const second_run&) = delete;
  ~second_run() {
    t_.rewind(at_);
    t_.record(was_);
    tapes::current<Key> = outer_;
  }
  void sweep() { t_.sweep_since(at_); }

 private:
  tape& t_;
  tape::position at_;
  bool was_;
  tape* outer_;
  level_calls::unchecked kept_;
};
template <class Key, class F, class... A> struct node final : tape_node {
  F f;
  std::tuple<A...> args;
  std::vector<output> out;
  node(const F& f_, const std::tuple<A...>& a, std::vector<output>&& o) : f(f_), args(a), out(static_cast<std::vector<output>&&>(o)) {}
  void backward(tape& t) override {
    if (!any_live(t, out)) return;
    second_run<Key> again(t);
    const auto y = record_on(t, [&] { return tree::evaluate_all(meta::unpack([&](const auto&... a) { return f(a...); }, args)); });
    std::size_t k = 0;
    tree::for_each(hand_over<Key>{t, out, k}, y);
    again.sweep();
  }
};
struct trial {  // of f: what it records is rewound
  tape& t;
  explicit trial(tape& on) : t(on) { ++t.trials; }
  trial(const trial&) = delete;
  trial& operator=(const trial&) = delete;
  ~trial() { --t.trials; }
};
}  // namespace checkpoint_detail

/// What checkpoint returns for f.
template <class F> struct checkpoint_function {
  using ttensor_function = F;
  static constexpr bool ttensor_captureless = is_captureless_v<F>;
  F f;
  template <class... T> auto operator()(const T&... x) const { return run(tree::evaluate_all(x)...); }

 private:
  template <class... A> auto run(const A&... a) const {
    using R = tree::evaluated_t<decltype(f(a...))>;
    using C = join_chain_t<double, double, tree::chain_t<R>, tree::chain_t<A>...>;
    if constexpr (!has_var_v<C>) {
      return R(tree::evaluate_all(f(a...)));
    } else {
      static_assert(
          std::is_copy_constructible_v<F>,
          "ttensor: checkpoint keeps a copy of its function, and this one can only be moved; let it hold a shared_ptr");
      using Key = reelem_t<ad::taped_t<C>, double>;
      static_assert(tree::nothing_left_behind_v<Key, R>);
      tape* t = tapes::current<Key>;
      if (t == nullptr || !t->recording() || t->serial <= tapes::silent || holds_younger_address(*t, &f, sizeof(F)))
        return R(tree::evaluate_all(f(a...)));
      std::vector<checkpoint_detail::output> out;
      const auto before = t->mark();
      std::optional<R> y;
      {
        const checkpoint_detail::trial run(*t);
        y.emplace(tree::evaluate_all(f(a...)));
      }
      t->rewind(before);
      R z = tree::map<R>(checkpoint_detail::renew<Key>{*t, out}, *y);
      y.reset();
      t->push<checkpoint_detail::node<Key, F, A...>>(f, std::tuple<A...>(a...), static_cast<std::vector<checkpoint_detail::output>&&>(out));
      return z;
    }
  }
};
/// f, whose reverse mode keeps its arguments only and runs f again. Identity for jvp and vmap. Capture by value, or refer to
/// what outlives the transform: with references to locals of the transformed function the value is right, but no memory is saved.
/// closing_over(x...) may follow f, as in every transform; it has no level of its own, so nothing depends on it.
template <class F, class... C> auto checkpoint(F f, closing_over_t<C>...) { return checkpoint_function<F>{static_cast<F&&>(f)}; }

TTENSOR_END
