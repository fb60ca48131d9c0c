// linearize inside a derivative.
#include "closures.hpp"

CLOSURE(linearize, 1, D1([](auto x) { auto [y, lin] = tt::linearize([&](auto t) { return x * t * t; }, 2.0); return lin(x) + y; })(3.0))
