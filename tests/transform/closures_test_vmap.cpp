// vmap between, inside and around derivatives.
#include "closures.hpp"

CLOSURE(vmap_inside, 1, D1([&](auto x) { return sum(vmap([&](auto y) { return x * y * y; })(v)); })(3.0))
CLOSURE(vmap_between, 2, D1([&](auto x) { return sum(vmap([&](auto y) { return D2([&](auto z) { return x * y * z * z; })(y); })(v)); })(3.0))
CLOSURE(vmap_between_plain_argument, 2, D1([&](auto x) { return sum(vmap([&](auto y) { return D2([&](auto z) { return x * x * y * z * z; })(2.0); })(v)); })(3.0))
CLOSURE(vmap_outside, 1, vmap([](auto x) { return D1([&](auto y) { return x * y * y; })(2.0); })(v))
CLOSURE(vmap_outside_two, 2, vmap([](auto x) { return D1([&](auto y) { return y * D2([&](auto z) { return x * y * z * z; })(1.5); })(2.0); })(v))
CLOSURE(vmap_of_vmap, 1, D1([&](auto t) { return sum(vmap([&](auto x) { return vmap([&](auto y) { return t * t * x * y; })(u); })(v)); })(2.0))
CLOSURE(vmap_ignores_argument, 1, D1([&](auto x) { return sum(vmap([&](auto) { return x * x; })(v)); })(3.0))
CLOSURE(vmap_captured_unmapped_gradient, 1, vmap([](auto x) { return D1([&](auto w1) { return w1 * w1 * x; })(3.0); })(v))
