// take under every composition of one and two transforms, against the stored values.
#include "indexing_bodies.hpp"

TEST_CASE("take") { gate::check_op<bodies::take_body, 2, gate::one_and_two>("take"); }
TEST_CASE("take of rows") { gate::check_op<bodies::take_rows_body, 2, gate::one_and_two>("take_rows"); }
TEST_CASE("take of a vector") { gate::check_op<bodies::take_vector_body, 1, gate::one_and_two>("take_vector"); }
