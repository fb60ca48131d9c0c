// One captured scalar: perturbation confusion in forward, reverse and mixed modes.
#include "closures.hpp"

CLOSURE(add, 2, D1([](auto x) { return x * D2([&](auto y) { return x + y; })(1.0); })(1.0))
CLOSURE(mul_2, 2, D1([](auto x) { return x * D2([&](auto y) { return x * y; })(2.0); })(3.0))
CLOSURE(mul_1, 2, D1([](auto x) { return x * D2([&](auto y) { return x * y; })(1.0); })(4.0))
CLOSURE(argument_is_outer, 2, D1([](auto x) { return D2([&](auto y) { return x * y * y; })(x); })(3.0))
CLOSURE(argument_is_outer_expression, 2, D1([](auto x) { return D2([&](auto y) { return x * y * y; })(x * x + 1.0); })(2.0))
CLOSURE(level_absent, 2, D1([](auto x) { return x + D2([&](auto y) { static_cast<void>(y); return x * x; })(1.0); })(3.0))
CLOSURE(level_absent_identity, 2, D1([](auto x) { return D2([&](auto) { return x; })(2.0); })(3.0))
CLOSURE(siblings, 3, D1([](auto x) { return D2([&](auto y) { return x * y * y; })(1.0) * D3([&](auto z) { return x * x * z; })(1.0); })(2.0))
CLOSURE(sibling_result_captured, 3, D1([](auto x) { auto g = D2([&](auto y) { return x * y * y; })(1.0); return D3([&](auto z) { return g * z * z; })(3.0); })(2.0))
CLOSURE(captured_by_value, 2, D1([](auto x) { auto r = x * x + 1.0; return D2([r](auto y) { return r * y * y; })(3.0); })(2.0))
CLOSURE(captured_through_another_lambda, 2, D1([](auto x) { auto g = [&](auto t) { return x * t; }; return D2([&](auto y) { return g(y) * y; })(2.0); })(3.0))
CLOSURE(transcendental, 2, D1([](auto x) { return exp(x) * D2([&](auto y) { return sin(x * y); })(2.0); })(0.5))
