// Every reduction under every composition of none, one and two transforms: one body each; the other forms under single transforms.
#include "reduction_bodies.hpp"

#if GATE_PART == 0
TEST_CASE("along an axis") { gate::check_bodies<bodies::to_vector, 2, gate::all_two>(); }
#elif GATE_PART == 1
TEST_CASE("softmax and log_softmax") { gate::check_bodies<bodies::to_matrix, 2, gate::all_two>(); }
#else
TEST_CASE("along an axis, kept axes, all axes, two of three axes") {
  gate::check_bodies<bodies::more_to_vector, 2, gate::one_letter>();
  gate::check_bodies<bodies::more_to_matrix, 2, gate::one_letter>();
  gate::check_bodies<bodies::to_scalar, 2, gate::one_letter>();
  gate::check_bodies<bodies::of_rank_3, 3, gate::one_letter>();
}
#endif
