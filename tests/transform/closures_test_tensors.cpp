// Captured tensors at the same and at another point.
#include "closures.hpp"

CLOSURE(tensor_captured, 0, tt::grad([&](auto x) { return sum(x * tt::grad([&](auto y) { return dot(x, y * y); })(w)); })(v))
CLOSURE(tensor_captured_same_point, 0, tt::grad([&](auto x) { return dot(w, tt::grad([&](auto y) { return sum(x * y * y * y); })(x)); })(v))
