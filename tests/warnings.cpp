// Compiled with a user's flags and all warnings as errors, for the instruction set that every x86-64 processor has: optimised loops warn of
// what headers that compile alone do not show.
#include <iostream>
#include <ttensor/all.hpp>

namespace tt = ttensor;
using matrix = tt::tensor<double, 2>;

double total(const tt::tensor<double, 1>& x) { return sum(x) + sum(x * 2.0 + 1.0); }
auto columns(const matrix& x, double k) { return tt::eval(sum(x, 0) + sum(x * k, 0)); }
auto rows(const tt::tensor<float, 2>& x) { return tt::eval(max(x, 1) + sum(x * 0.5 - 1.0, 1)); }
auto products(const tt::tensor<int, 2>& x) { return tt::eval(prod(x, 0)); }
auto chain(const matrix& x, const matrix& y) { return tt::eval(where(x > y, exp(-x * x) * 0.1, transpose(y))); }
auto gradient(const matrix& x) { return tt::grad([](const auto& y) { return sum(exp(y * 3.0) / (1.0 + y)); })(x); }
auto jacobian(const matrix& x) { return tt::jacfwd([](const auto& y) { return sum(exp(y * 3.0) / (1.0 + y), 0); })(x); }
auto mapped(const matrix& x) { return tt::vmap([](const auto& y) { return sum(y * 3.0 + 1.0); })(x); }
using numbers = tt::tensor<std::complex<float>, 1>;
auto parts(const numbers& z, const tt::tensor<float, 1>& x) { return tt::eval(real(z * z) * x + abs(z)); }
auto parts_gradient(const numbers& z) { return tt::grad([](const auto& w) { return sum(real(w * w * w) + abs(w)); })(z); }
auto curvature(const tt::tensor<double, 1>& x) { return tt::hvp([](const auto& y) { return sum(y + sin(y)); }, x, x); }  // an internal error of g++ 12 once
auto curvatures(const matrix& x) { return tt::vmap(tt::hessian([](const auto& y) { return sum(0.5 * sin(y) + y * cos(y)); }))(x); }
auto powers(const matrix& x, const tt::tensor<float, 2>& y) { return std::pair(tt::eval(pow(x, x)), tt::eval(pow(y, 1.5f))); }  // kernels whose functions g++ -Og must inline
void print(const matrix& x, const tt::tensor<float, 1>& y) { std::cout << x << y(0) << tt::eval(y * 2.0f) << x.shape(); }  // -O3: strings of g++ 12
auto counted(tt::index_t n) { return tt::arange<double>(n) + tt::arange<double>(1, n + 1); }
