// matmul under every composition of one and two transforms, against the stored values.
#include "contraction_bodies.hpp"

TEST_CASE("matmul of two functions of x") { gate::check_op<bodies::matmul_body, 2, gate::one_and_two>("matmul"); }
TEST_CASE("matmul of x with itself") { gate::check_op<bodies::matmul_self_body, 2, gate::one_and_two>("matmul_self"); }
TEST_CASE("matmul with a constant on the right") { gate::check_op<bodies::matmul_right_const_body, 2, gate::one_and_two>("matmul_right_const"); }
TEST_CASE("matmul with a constant on the left") { gate::check_op<bodies::matmul_left_const_body, 2, gate::one_and_two>("matmul_left_const"); }
TEST_CASE("matmul with a transposed operand") { gate::check_op<bodies::matmul_transposed_body, 2, gate::one_and_two>("matmul_transposed"); }
