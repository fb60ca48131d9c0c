// Captured elements, trees, and scalars in transforms of arrays.
#include "closures.hpp"

CLOSURE(element_captured, 1, tt::grad([](auto x) { return x(0) * D1([&](auto y) { return x(1) * y * y + x(2) * y; })(2.0); })(v))
CLOSURE(tensor_argument_scalar_captured, 1, D1([&](auto x) { return sum(tt::grad([&](auto y) { return sum(x * x * y * y); })(v)); })(2.0))
CLOSURE(hvp_captured, 1, D1([&](auto a) { return sum(hvp([&](auto y) { return sum(a * a * y * y * y); }, v, w)); })(2.0))
CLOSURE(tree_captured, 1, tt::grad([](auto p) { return p.a * D1([&](auto y) { return p.b * y * y; })(2.0); })(pair_of<double>{3, 5}))
