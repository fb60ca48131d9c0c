// Operators fused with others, with broadcast operands and of other ranks, under single transforms.
#include "form_bodies.hpp"

TEST_CASE("matrices") { gate::check_bodies<bodies::of_2_to_2, 2, gate::one_letter>(); }
TEST_CASE("other ranks") {
  gate::check_bodies<bodies::of_1_to_2, 1, gate::one_letter>();
  gate::check_bodies<bodies::of_2_to_0, 2, gate::one_letter>();
  gate::check_bodies<bodies::of_2_to_1, 2, gate::one_letter>();
  gate::check_bodies<bodies::of_2_to_3, 2, gate::one_letter>();
  gate::check_bodies<bodies::of_3_to_3, 3, gate::one_letter>();
}
