// Jacobians of matmul, and of and under every other transform, against the stored values.
#include "contraction_bodies.hpp"

TEST_CASE("matmul") { gate::check_op<bodies::matmul_body, 2, gate::jacobians>("matmul"); }
TEST_CASE("matrix and vector") { gate::check_op<bodies::matmul_vector_body, 2, gate::jacobians>("matmul_vector"); }
TEST_CASE("a stack and one matrix") { gate::check_op<bodies::matmul_broadcast_body, 3, gate::jacobians>("matmul_broadcast"); }
