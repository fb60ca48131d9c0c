// scatter_add under every composition of one and two transforms, against the stored values.
#include "indexing_bodies.hpp"

TEST_CASE("scatter_add") { gate::check_op<bodies::scatter_add_body, 1, gate::one_and_two>("scatter_add"); }
TEST_CASE("scatter_add into a constant") { gate::check_op<bodies::scatter_add_const_body, 1, gate::one_and_two>("scatter_add_const"); }
TEST_CASE("scatter_add of rank 2") { gate::check_op<bodies::scatter_add_rank2_body, 2, gate::one_and_two>("scatter_add_rank2"); }
