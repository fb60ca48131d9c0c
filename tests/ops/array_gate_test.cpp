// Contractions, indexing and linear algebra against the stored values: every composition of one and two transforms without Jacobians, and
// those with Jacobians for one body of each operator or two. One program, which compiles what they share once.
#include "contraction_bodies.hpp"
#include "indexing_bodies.hpp"
#include "linalg_bodies.hpp"

TEST_CASE("matmul of two functions of x") { gate::check_op<bodies::matmul_body, 2, gate::one_and_two>("matmul"); }
TEST_CASE("matmul of x with itself") { gate::check_op<bodies::matmul_self_body, 2, gate::one_and_two>("matmul_self"); }
TEST_CASE("matmul with a constant on the right") { gate::check_op<bodies::matmul_right_const_body, 2, gate::one_and_two>("matmul_right_const"); }
TEST_CASE("matmul with a constant on the left") { gate::check_op<bodies::matmul_left_const_body, 2, gate::one_and_two>("matmul_left_const"); }
TEST_CASE("matmul with a transposed operand") { gate::check_op<bodies::matmul_transposed_body, 2, gate::one_and_two>("matmul_transposed"); }
TEST_CASE("matmul of matrix and vector") { gate::check_op<bodies::matmul_vector_body, 2, gate::one_and_two>("matmul_vector"); }
TEST_CASE("matmul of vector and matrix") { gate::check_op<bodies::vector_matmul_body, 2, gate::one_and_two>("vector_matmul"); }
TEST_CASE("matmul of stacks of matrices") { gate::check_op<bodies::matmul_batched_body, 3, gate::one_and_two>("matmul_batched"); }
TEST_CASE("matmul of a stack and one matrix") { gate::check_op<bodies::matmul_broadcast_body, 3, gate::one_and_two>("matmul_broadcast"); }
TEST_CASE("dot of two functions of x") { gate::check_op<bodies::dot_body, 1, gate::one_and_two>("dot"); }
TEST_CASE("dot with a constant") { gate::check_op<bodies::dot_const_body, 1, gate::one_and_two>("dot_const"); }
TEST_CASE("dot of x with itself") { gate::check_op<bodies::dot_self_body, 1, gate::one_and_two>("dot_self"); }
TEST_CASE("Jacobians: matmul") { gate::check_op<bodies::matmul_body, 2, gate::jacobians>("matmul"); }
TEST_CASE("Jacobians: matmul of matrix and vector") { gate::check_op<bodies::matmul_vector_body, 2, gate::jacobians>("matmul_vector"); }
TEST_CASE("Jacobians: matmul of a stack and one matrix") { gate::check_op<bodies::matmul_broadcast_body, 3, gate::jacobians>("matmul_broadcast"); }

TEST_CASE("take") { gate::check_op<bodies::take_body, 2, gate::one_and_two>("take"); }
TEST_CASE("take of rows") { gate::check_op<bodies::take_rows_body, 2, gate::one_and_two>("take_rows"); }
TEST_CASE("take of a vector") { gate::check_op<bodies::take_vector_body, 1, gate::one_and_two>("take_vector"); }
TEST_CASE("scatter_add") { gate::check_op<bodies::scatter_add_body, 1, gate::one_and_two>("scatter_add"); }
TEST_CASE("scatter_add into a constant") { gate::check_op<bodies::scatter_add_const_body, 1, gate::one_and_two>("scatter_add_const"); }
TEST_CASE("scatter_add of rank 2") { gate::check_op<bodies::scatter_add_rank2_body, 2, gate::one_and_two>("scatter_add_rank2"); }
TEST_CASE("Jacobians: dot") { gate::check_op<bodies::dot_body, 1, gate::jacobians>("dot"); }
TEST_CASE("Jacobians: take") { gate::check_op<bodies::take_body, 2, gate::jacobians>("take"); }
TEST_CASE("Jacobians: scatter_add") { gate::check_op<bodies::scatter_add_rank2_body, 2, gate::jacobians>("scatter_add_rank2"); }

TEST_CASE("cholesky") { gate::check_op<bodies::cholesky_body, 2, gate::one_and_two>("cholesky"); }
TEST_CASE("cholesky of a wide product") { gate::check_op<bodies::cholesky_wide_body, 2, gate::one_and_two>("cholesky_wide"); }
TEST_CASE("cholesky of a 3 by 3 matrix") { gate::check_op<bodies::cholesky_3_body, 2, gate::one_and_two>("cholesky_3"); }
TEST_CASE("triangular_solve, lower") { gate::check_op<bodies::triangular_solve_body, 2, gate::one_and_two>("triangular_solve"); }
TEST_CASE("triangular_solve, upper") { gate::check_op<bodies::triangular_solve_upper_body, 2, gate::one_and_two>("triangular_solve_upper"); }
TEST_CASE("triangular_solve, transposed") { gate::check_op<bodies::triangular_solve_transposed_body, 2, gate::one_and_two>("triangular_solve_transposed"); }
TEST_CASE("triangular_solve, vector") { gate::check_op<bodies::triangular_solve_vector_body, 2, gate::one_and_two>("triangular_solve_vector"); }
TEST_CASE("triangular_solve, constant matrix") { gate::check_op<bodies::triangular_solve_const_body, 2, gate::one_and_two>("triangular_solve_const"); }
TEST_CASE("triangular_solve, after cholesky") { gate::check_op<bodies::cholesky_solve_body, 2, gate::one_and_two>("cholesky_solve"); }
TEST_CASE("Jacobians: cholesky") { gate::check_op<bodies::cholesky_3_body, 2, gate::jacobians>("cholesky_3"); }
TEST_CASE("Jacobians: triangular_solve") { gate::check_op<bodies::triangular_solve_body, 2, gate::jacobians>("triangular_solve"); }
TEST_CASE("Jacobians: triangular_solve after cholesky") { gate::check_op<bodies::cholesky_solve_body, 2, gate::jacobians>("cholesky_solve"); }
