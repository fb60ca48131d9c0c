#include <ttensor/all.hpp>
#include <iostream>
namespace tt = ttensor;

int main() {
  const tt::tensor<double, 2> x{{0, 1}, {1, 1}, {2, 1}, {3, 1}};
  const tt::tensor<double, 1> y{1, 3, 5, 7};
  tt::tensor<double, 1> w{0, 0};
  const auto loss = [&](const auto& w) { return mean(square(matmul(x, w) - y)); };
  for (int step = 0; step < 500; ++step) w -= 0.1 * tt::grad(loss)(w);
  std::cout << "w = " << w << "\nHessian =\n" << tt::hessian(loss)(w) << "\n";
}
