// The bodies of tests/gate/bodies.md that factor and solve.
#pragma once
#include "../gate/op_gate.hpp"

namespace bodies {
using gate::constant;
using gate::h;
namespace tt = ttensor;
inline tt::tensor<double, 2> two_eye(tt::index_t n) { return tt::eye<double>(n) * 2.0; }
#define BODY(name, ...)                                                          \
  struct name##_body {                                                           \
    template <class X> auto operator()(const X& x) const { return __VA_ARGS__; } \
  };
BODY(cholesky, cholesky(matmul(x, transpose(x)) + two_eye(2)))
BODY(cholesky_wide, cholesky(matmul(h(x), transpose(h(x))) + two_eye(2)))
BODY(cholesky_3, cholesky(matmul(x, transpose(x)) + two_eye(3)))
BODY(triangular_solve, triangular_solve(x + two_eye(2), h(x)))
BODY(triangular_solve_upper, triangular_solve(x + two_eye(2), h(x), false))
BODY(triangular_solve_transposed, triangular_solve(x + two_eye(2), h(x), true, true))
BODY(triangular_solve_vector, triangular_solve(x + two_eye(3), sum(h(x), tt::axes{0})))
BODY(triangular_solve_const, triangular_solve(constant("B", 2, 2) + two_eye(2), h(x)))
BODY(cholesky_solve, triangular_solve(cholesky(matmul(x, transpose(x)) + two_eye(2)), h(x)))
#undef BODY
}  // namespace bodies
