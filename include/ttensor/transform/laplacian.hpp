// laplacian: the trace of the Hessian without the Hessian. One pass in second-order forward mode for each input element, each
// with a direction in which both tangents point; memory is that of f, not of N^2 numbers.
#pragma once
#include "jacobian.hpp"

TTENSOR_BEGIN

/// What laplacian returns for f.
template <class F, class... O> struct laplacian_function {
  static constexpr bool ttensor_captureless = is_captureless_v<F>;
  F f;
  template <class X> auto operator()(const X& x) const { return run(tree::evaluate_all(x)); }

 private:
  template <class X> auto second(const X& x, const X& v) const {  // v^T H v
    return forward_detail::of_one<O...>([&](const auto& t) { return forward_detail::of_one<O...>(f, t, v).y_dot; }, x, v).y_dot;
  }
  template <class X> auto run(const X& x) const {
    tree::require_parts<false, X>();
    tree::for_each(
        []<class L>(const L&) {
          static_assert(!is_complex_v<elem_t<scalar_t<L>>>,
                        "ttensor: laplacian wants real arguments; give the real and the imaginary part");
        },
        x);
    using Y = decltype(second(x, x));
    if constexpr (probing_v<Y>) {
      return level_detail::fake<Y>();
    } else {
      std::optional<Y> total;
      int leaf = 0;
      tree::for_each([&](const auto& l) {
        for (index_t k = 0; k < jacobian_detail::leaf_size(l); ++k) {
          auto d = second(x, jacobian_detail::basis(x, leaf, k));
          if (total) total = Y(*total + d);
          else total = d;
        }
        ++leaf;
      }, x);
      if (!total) total = second(x, jacobian_detail::basis(x, -1, 0));  // no elements: zero
      return *total;
    }
  }
};
/// Sum of the second derivatives of f along its argument's elements: a scalar, a tensor or a tree.
/// Shapes    the shape of f's result (a vector-valued f gives one Laplacian for each element)
/// Cost      one evaluation in second-order forward mode for each element of the argument
template <class F, class... O> auto laplacian(F f, O...) {
  options::check<O...>();
  options::refuse_aux<O...>();
  options::refuse_holomorphic<O...>();
  return laplacian_function<F, O...>{static_cast<F&&>(f)};
}

TTENSOR_END
