// cholesky under every composition of one and two transforms, against the stored values.
#include "linalg_bodies.hpp"

TEST_CASE("cholesky") { gate::check_op<bodies::cholesky_body, 2, gate::one_and_two>("cholesky"); }
TEST_CASE("cholesky of a wide product") { gate::check_op<bodies::cholesky_wide_body, 2, gate::one_and_two>("cholesky_wide"); }
TEST_CASE("cholesky of a 3 by 3 matrix") { gate::check_op<bodies::cholesky_3_body, 2, gate::one_and_two>("cholesky_3"); }
