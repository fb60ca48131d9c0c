// The operator of leaky_relu.hpp, defined outside the library, fuses into loops with other operators and works in grad, hvp and
// vmap, with whatever scalar the transforms pass.
#include <ttensor/all.hpp>

#include <cstdio>
#include <iostream>

#include "leaky_relu.hpp"

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
