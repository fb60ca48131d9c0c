// triangular_solve under every composition of one and two transforms, against the stored values.
#include "linalg_bodies.hpp"

TEST_CASE("lower") { gate::check_op<bodies::triangular_solve_body, 2, gate::one_and_two>("triangular_solve"); }
TEST_CASE("upper") { gate::check_op<bodies::triangular_solve_upper_body, 2, gate::one_and_two>("triangular_solve_upper"); }
TEST_CASE("transposed") { gate::check_op<bodies::triangular_solve_transposed_body, 2, gate::one_and_two>("triangular_solve_transposed"); }
