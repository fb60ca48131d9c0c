// triangular_solve of vectors, of constants and after cholesky under every composition of one and two transforms.
#include "linalg_bodies.hpp"

TEST_CASE("vector") { gate::check_op<bodies::triangular_solve_vector_body, 2, gate::one_and_two>("triangular_solve_vector"); }
TEST_CASE("constant matrix") { gate::check_op<bodies::triangular_solve_const_body, 2, gate::one_and_two>("triangular_solve_const"); }
TEST_CASE("after cholesky") { gate::check_op<bodies::cholesky_solve_body, 2, gate::one_and_two>("cholesky_solve"); }
