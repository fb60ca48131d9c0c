// An operator from outside the library: one struct and one function. tests/ put this very operator through the table of operators
// (tests/gate) and through a GPU's compiler (tests/gpu).
#pragma once
#include <ttensor/ops/terms.hpp>  // without arrays: a kernel needs no more. A program that includes <ttensor/all.hpp> does so first.

#include <utility>

namespace mine {
namespace tt = ttensor;

/// x for x > 0, else slope x
struct leaky_relu_op : tt::real_elementwise<2> {     // two operands; integers become double
  static constexpr const char* name = "leaky_relu";  // in explain and in messages
  // What the partial with respect to operand 0 or 1 reads: both operands (bits 0 and 1), or x alone; not the result (bit 2).
  static constexpr unsigned reads(int operand) { return operand == 0 ? 3u : 1u; }

  // The value: x and slope are numbers or SIMD packs.
  template <class X, class S> TTENSOR_HD static constexpr auto primal(const X& x, const S& slope) {
    return tt::ops::choose(tt::ops::is_greater(x, 0), x, tt::ops::times(slope, x));
  }
  // The derivatives with respect to x and slope: here they may be duals or expressions too, so second order needs no more code.
  template <class X, class S, class Y> TTENSOR_HD static constexpr auto partials(const X& x, const S& slope, const Y&) {
    const auto positive = tt::ops::is_greater(x, 0);
    return tt::grads{tt::ops::choose(positive, 1, slope), tt::ops::choose(positive, 0, x)};
  }
};
static_assert(tt::elementwise_operator<leaky_relu_op>);

template <class X> auto leaky_relu(X&& x, double slope = 0.01) { return tt::apply<leaky_relu_op>(std::forward<X>(x), slope); }
}  // namespace mine
