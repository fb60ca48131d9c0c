// stop_gradient, value_of, no_grad: values without their derivatives.
#pragma once
#include "level.hpp"

TTENSOR_BEGIN

namespace stop_detail {
template <class S> store<S> stopped(const store<S>& s) {
  if (!s.valid()) return {};
  if constexpr (depth_v<S> == 0 || has_probe_v<S>) {
    return s.value();
  } else if constexpr (is_var_v<S>) {
    return store<S>(stopped(s.values()), {});
  } else if constexpr (is_dual_v<S>) {
    store<S> r;
    r.value_ = stopped(s.value_);
    for (auto& t : r.tangent_) {
      t = store<inner_t<S>>::make(s.size());
      t.zero();
    }
    return r;
  } else {
    return store<S>(stopped(s.inner()), s.examples(), s.size());
  }
}
template <class S> S stopped_scalar(const S& x) {
  if constexpr (depth_v<S> == 0 || has_probe_v<S>) return x;
  else if constexpr (is_var_v<S>) return S(stopped_scalar(x.value()));
  else if constexpr (is_dual_v<S>) return S(stopped_scalar(x.value));
  else return S(stopped(x.elements()));
}
struct stop_leaf {
  template <class X, class Out> Out operator()(const X& x, std::type_identity<Out>) const {
    if constexpr (tree::tensor_leaf<X>) return Out(stopped(x.elements()), x.shape());
    else return stopped_scalar(x);
  }
};
/// The numbers of a leaf: batch axes lead, oldest level first.
template <class S, int R> auto numbers(const leaf<S, R>& l) {
  if constexpr (depth_v<S> == 0) return l;
  else if constexpr (has_probe_v<S>) return level_detail::fake<leaf<elem_t<S>, R + batch_levels_v<inner_t<S>>>>();  // a level that is not mapped
  else return numbers(ad::value_leaf(l));
}
template <class S> auto scalar_number(const S& x) {
  if constexpr (depth_v<S> == 0) return x;
  else if constexpr (is_probe_v<S>) return scalar_number(level_detail::fake<inner_t<S>>());
  else if constexpr (is_var_v<S>) return scalar_number(x.value());
  else if constexpr (is_dual_v<S>) return scalar_number(x.value);
  else {
    const auto l = numbers(x.as_leaf());
    return tensor<elem_t<S>, decltype(l.map.extent)::size()>(l);
  }
}
struct number_leaf {
  template <class X, class Out> Out operator()(const X& x, std::type_identity<Out>) const {
    if constexpr (tree::tensor_leaf<X> && depth_v<scalar_t<X>> == 0) return Out(x);
    else if constexpr (tree::tensor_leaf<X>) return Out(numbers(x.as_leaf()));
    else return scalar_number(x);
  }
};
}  // namespace stop_detail

/// The same value, a constant for every live level, forward and reverse; identity under vmap. Scalars, arrays, trees.
template <class X> auto stop_gradient(const X& x) {
  using T = tree::evaluated_t<X>;
  return tree::map<T>(stop_detail::stop_leaf{}, T(tree::evaluate_all(x)));
}
/// The numbers inside: every kind removed. A mapped value gives its examples as leading axes (oldest vmap first).
template <class X> auto value_of(const X& x) {
  using T = tree::evaluated_t<X>;
  const T t = tree::evaluate_all(x);
  if constexpr (tree::tensor_leaf<T> && depth_v<scalar_t<T>> == 0) {
    return t;
  } else if constexpr (tree::tensor_leaf<T>) {
    const auto l = stop_detail::numbers(t.as_leaf());
    return tensor<elem_t<typename T::scalar>, decltype(l.map.extent)::size()>(l);
  } else if constexpr (tree::scalar_leaf_type<T>) {
    return stop_detail::scalar_number(t);
  } else {
    static_assert(batch_levels_v<tree::chain_t<T>> == 0, "ttensor: value_of a tree of mapped values; take value_of of its parts");
    return tree::map<tree::rebind_t<tree::lift_to<double>, T>>(stop_detail::number_leaf{}, t);
  }
}

/// While it lives, the tapes that were open when it was made record nothing on this thread: results are constants of their
/// levels. Transforms opened later record as ever, so a guard outside a transform is ignored. Duals do not look at it, so
/// inside forward mode it cannot be made.
/// Throws    level_error [TT-L04] inside jvp, jacfwd, hvp, hessian, laplacian, or a function that they call
class no_grad {
 public:
  no_grad() : before_(tapes::silent) {
    if (TTENSOR_UNLIKELY(level_detail::forward_levels != 0))
      raise<level_error>(
          "[no_grad] made inside forward mode (jvp, hvp, jacfwd, hessian, laplacian), which would differentiate on; take stop_gradient(x) of "
          "the values instead, which works in every mode, or compute them before the transform [TT-L04]");
    tapes::silence(tapes::last_serial.load());
  }
  no_grad(const no_grad&) = delete;
  no_grad& operator=(const no_grad&) = delete;
  ~no_grad() { tapes::silence(before_); }

 private:
  std::uint64_t before_;
};

TTENSOR_END
