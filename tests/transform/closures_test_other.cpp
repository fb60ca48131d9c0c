// Outer variables in tangents, cotangents and other transforms.
#include "closures.hpp"

CLOSURE(tangent_is_outer, 1, D1([](auto x) { return jvp([](auto y) { return y * y * y; }, 2.0, x).y_dot; })(5.0))
CLOSURE(primal_and_tangent_are_outer, 1, D1([](auto x) { return jvp([&](auto y) { return x * y * y; }, x, x * x).y_dot; })(2.0))
CLOSURE(jvp_value_is_outer, 1, D1([](auto x) { auto r = jvp([&](auto y) { return x * y * y; }, 3.0, 1.0); return r.y * r.y_dot; })(2.0))
CLOSURE(cotangent_is_outer, 1, D1([](auto x) { auto [y, pull] = vjp([&](auto t) { return x * t * t; }, 3.0); return pull(x); })(2.0))
CLOSURE(pull_twice, 1, D1([](auto x) { auto [y, pull] = vjp([&](auto t) { return x * t * t; }, 3.0); return pull(y) + pull(x * x); })(2.0))
CLOSURE(second_argument, 1, D1([](auto x) { return grad<1>([&](auto a, auto b) { return x * a * b * b; })(x, 3.0); })(2.0))
CLOSURE(aux_carries_outer, 1, D1([](auto x) {
  auto [g, aux] = grad([&](auto y) { return std::pair{x * y * y, x * x * y}; }, has_aux)(2.0);
  return g + aux;
})(3.0))
