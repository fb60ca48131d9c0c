// matmul with vectors and leading axes under every composition of one and two transforms.
#include "contraction_bodies.hpp"

TEST_CASE("matrix and vector") { gate::check_op<bodies::matmul_vector_body, 2, gate::one_and_two>("matmul_vector"); }
TEST_CASE("vector and matrix") { gate::check_op<bodies::vector_matmul_body, 2, gate::one_and_two>("vector_matmul"); }
TEST_CASE("stacks of matrices") { gate::check_op<bodies::matmul_batched_body, 3, gate::one_and_two>("matmul_batched"); }
TEST_CASE("a stack and one matrix") { gate::check_op<bodies::matmul_broadcast_body, 3, gate::one_and_two>("matmul_broadcast"); }
