// Captured tensors.
#include "closures.hpp"

CLOSURE(tensor_captured, 0, tt::grad([&](auto x) { return sum(x * tt::grad([&](auto y) { return dot(x, y * y); })(w)); })(v))
CLOSURE(tensor_captured_same_point, 0, tt::grad([&](auto x) { return dot(w, tt::grad([&](auto y) { return sum(x * y * y * y); })(x)); })(v))
CLOSURE(element_captured, 1, tt::grad([](auto x) { return x(0) * D1([&](auto y) { return x(1) * y * y + x(2) * y; })(2.0); })(v))
CLOSURE(tensor_argument_scalar_captured, 1, D1([&](auto x) { return sum(tt::grad([&](auto y) { return sum(x * x * y * y); })(v)); })(2.0))
CLOSURE(hvp_captured, 1, D1([&](auto a) { return sum(hvp([&](auto y) { return sum(a * a * y * y * y); }, v, w)); })(2.0))
CLOSURE(tree_captured, 1, tt::grad([](auto p) { return p.a * D1([&](auto y) { return p.b * y * y; })(2.0); })(pair_of<double>{3, 5}))
