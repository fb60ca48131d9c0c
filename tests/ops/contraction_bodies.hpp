// The bodies of tests/gate/bodies.md that contract.
#pragma once
#include <cmath>
#include "../gate/op_gate.hpp"

namespace bodies {
using gate::constant;
using gate::h;
namespace tt = ttensor;
#define BODY(name, ...)                                                               \
  struct name##_body {                                                                \
    template <class X> auto operator()(const X& x) const { using std::sin; return __VA_ARGS__; } \
  };
BODY(matmul, matmul(x, h(x)))
BODY(matmul_self, matmul(x, x))
BODY(matmul_right_const, matmul(h(x), constant("B", 3, 2)))
BODY(matmul_left_const, matmul(constant("B", 2, 2), h(x)))
BODY(matmul_transposed, matmul(x, transpose(h(x))))
BODY(matmul_vector, matmul(h(x), sum(x, tt::axes{0}) * 0.5))
BODY(vector_matmul, matmul(sum(x, tt::axes{1}) * (1.0 / 3.0), h(x)))
BODY(matmul_batched, matmul(x, h(x)))
BODY(matmul_broadcast, matmul(h(x), sum(x, tt::axes{0})))
BODY(dot, dot(x, h(x)))
BODY(dot_const, sin(dot(h(x), constant("B", 3))))
BODY(dot_self, dot(x, x))
#undef BODY
}  // namespace bodies
