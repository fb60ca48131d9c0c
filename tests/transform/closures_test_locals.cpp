// Loops that accumulate, and arrays made inside. Where a local of the inner function's own scalar type takes a captured
// variable, the compiler asks for closing_over(x) (tests/compile_fail/closures.cpp); it is the only change.
#include "closures.hpp"

CLOSURE(loop_sum, 2, D1([](auto x) { return x * D2([&](auto y) { decltype(y) s = 0.0; for (int i = 0; i < 3; ++i) s = s + x * y; return s; }, closing_over(x))(2.0); })(3.0))
CLOSURE(loop_compound_assignment, 2, D1([](auto x) { return D2([&](auto y) { auto p = y; for (int i = 0; i < 2; ++i) { p *= x; p += y; } return p * y; }, closing_over(x))(2.0); })(0.5))
CLOSURE(loop_product, 2, D1([](auto x) { return D2([&](auto y) { decltype(y) p = 1.0; for (int i = 0; i < 3; ++i) p = p * x * y; return p; }, closing_over(x))(2.0); })(0.5))
CLOSURE(c_array, 2, D1([](auto x) { return D2([&](auto y) {
  decltype(y) a[3]; a[0] = x * y; a[1] = a[0] * y; a[2] = a[1] + x; return a[0] * a[2]; }, closing_over(x))(2.0); })(3.0))
CLOSURE(std_array, 2, D1([](auto x) { return D2([&](auto y) { std::array<decltype(y), 2> a{y, y}; a[1] = x * a[0]; return a[0] * a[1]; }, closing_over(x))(2.0); })(3.0))
CLOSURE(tensor_inside, 2, D1([](auto x) { return D2([&](auto y) {
  tensor<decltype(y), 1> a(3); for (int i = 0; i < 3; ++i) a(i) = x * y * (i + 1.0); return sum(a * a); }, closing_over(x))(2.0); })(3.0))
