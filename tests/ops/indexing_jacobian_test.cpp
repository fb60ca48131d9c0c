// Jacobians of dot, take and scatter_add, and of and under every other transform, against the stored values.
#include "contraction_bodies.hpp"
#include "indexing_bodies.hpp"

TEST_CASE("dot") { gate::check_op<bodies::dot_body, 1, gate::jacobians>("dot"); }
TEST_CASE("take") { gate::check_op<bodies::take_body, 2, gate::jacobians>("take"); }
TEST_CASE("scatter_add") { gate::check_op<bodies::scatter_add_rank2_body, 2, gate::jacobians>("scatter_add_rank2"); }
