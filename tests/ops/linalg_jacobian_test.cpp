// Jacobians of cholesky and triangular_solve, and of and under every other transform, against the stored values.
#include "linalg_bodies.hpp"

TEST_CASE("cholesky") { gate::check_op<bodies::cholesky_3_body, 2, gate::jacobians>("cholesky_3"); }
TEST_CASE("triangular_solve") { gate::check_op<bodies::triangular_solve_body, 2, gate::jacobians>("triangular_solve"); }
TEST_CASE("triangular_solve after cholesky") { gate::check_op<bodies::cholesky_solve_body, 2, gate::jacobians>("cholesky_solve"); }
