// Adds an operator from outside the library: one struct and one function. It then fuses into loops with other operators and
// works in grad, hvp and vmap, with whatever scalar the transforms pass.
#include <ttensor/all.hpp>

#include <cstdio>
#include <iostream>

namespace mine {
namespace tt = ttensor;

/// x for x > 0, else slope x
struct leaky_relu_op : tt::real_elementwise<2> {      // two operands; integers become double
  static constexpr const char* name = "leaky_relu";   // in explain and in messages
  static constexpr unsigned reads(int) { return 3u; } // partials read both operands (bits 0 and 1), not the result (bit 2)

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

template <tt::operand X> auto leaky_relu(X&& x, double slope = 0.01) { return tt::apply<leaky_relu_op>(std::forward<X>(x), slope); }
}  // namespace mine

int main() {
  namespace tt = ttensor;
  const tt::tensor<double, 1> x{-2, -1, 1, 2}, ones{1, 1, 1, 1};
  const auto f = [](const auto& x) { return sum(mine::leaky_relu(x * x - 2) * x); };

  const auto y = eval(mine::leaky_relu(2 * x));                                       // one loop: 2 x, then the operator
  const auto g = tt::grad(f)(x);                                                      // x > 0: 3x^2 - 2, times 0.01 where x^2 < 2
  const auto h = tt::hvp(f, x, ones);                                                 // 6 x, times 0.01 where x^2 < 2
  const auto v = tt::vmap([](auto s) { return mine::leaky_relu(s, 0.5); })(x);        // written for a scalar
  const auto p = tt::vmap(tt::grad([](auto s) { return mine::leaky_relu(s) * s; }))(x);
  std::cout << "leaky_relu(2 x)   " << y << "\ngrad              " << g << "\nhvp               " << h << "\nvmap              " << v
            << "\nvmap of grad      " << p << '\n';

  const auto wrong = [](const tt::tensor<double, 1>& a, const tt::tensor<double, 1>& b) { return max(abs(a - b)) > 1e-14; };
  if (wrong(y, {-0.04, -0.02, 2, 4}) || wrong(g, {10, 0.01, 0.01, 10}) || wrong(h, {-12, -0.06, 0.06, 12}) || wrong(v, {-1, -0.5, 1, 2}) ||
      wrong(p, {-0.04, -0.02, 2, 4})) {
    std::puts("leaky_relu: a number is not what it should be");
    return 1;
  }
  return 0;
}
