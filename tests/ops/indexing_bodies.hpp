// The bodies of tests/gate/bodies.md that index.
#pragma once
#include <cmath>
#include "../gate/op_gate.hpp"

namespace bodies {
using gate::constant;
using gate::h;
namespace tt = ttensor;
using index = tt::tensor<std::int64_t, 1>;
#define BODY(name, ...)                                                          \
  struct name##_body {                                                           \
    template <class X> auto operator()(const X& x) const { using std::sin; return __VA_ARGS__; } \
  };
BODY(take, sin(take(h(x), index{2, 0, 2}, 1)))
BODY(take_rows, take(h(x), index{1, 1, 0}, 0) * take(x, index{0, 1, 0}, 0))
BODY(take_vector, sin(take(h(x), index{0, 2, 2, 1}, 0)))
BODY(scatter_add, sin(scatter_add(h(x), 0, index{2, 0, 2}, x * x * x)))
BODY(scatter_add_const, sin(scatter_add(constant("B", 4), 0, index{3, 1, 3}, h(x))))
BODY(scatter_add_rank2, sin(scatter_add(h(x), 1, tt::tensor<std::int64_t, 2>{{0, 2, 2}, {1, 1, 0}}, x * x * x)))
#undef BODY
}  // namespace bodies
