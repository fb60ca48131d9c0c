// dot under every composition of one and two transforms.
#include "contraction_bodies.hpp"

TEST_CASE("dot of two functions of x") { gate::check_op<bodies::dot_body, 1, gate::one_and_two>("dot"); }
TEST_CASE("dot with a constant") { gate::check_op<bodies::dot_const_body, 1, gate::one_and_two>("dot_const"); }
TEST_CASE("dot of x with itself") { gate::check_op<bodies::dot_self_body, 1, gate::one_and_two>("dot_self"); }
