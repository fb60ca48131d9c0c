// Three levels, one of them skipped by the innermost function.
#include "closures.hpp"

CLOSURE(three_levels, 3, D1([](auto x) { return x * D2([&](auto y) { return y * D3([&](auto z) { return x * y * z; })(1.0); })(2.0); })(3.0))
CLOSURE(three_levels_skip, 3, D1([](auto x) { return x * D2([&](auto y) { return y * D3([&](auto z) { return x * z * z; })(1.0); })(2.0); })(3.0))
CLOSURE(three_levels_cubic, 3, D1([](auto x) { return D2([&](auto y) { return D3([&](auto z) { return x * x * y * y * y * z * z; })(y); })(x); })(2.0))
