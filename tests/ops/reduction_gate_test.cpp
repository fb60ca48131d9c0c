// Every reduction along either axis under every composition of none, one and two transforms. Those that keep axes or take all or several:
// nested_forms.hpp.
#include "reduction_bodies.hpp"

#if GATE_PART == 0
TEST_CASE("along an axis, mapped") { gate::check_bodies<bodies::to_vector, 2, gate::mapped_strings>(); }
#elif GATE_PART == 1
TEST_CASE("along an axis") { gate::check_bodies<bodies::to_vector, 2, gate::unmapped_strings>(); }
#else
TEST_CASE("softmax and log_softmax") { gate::check_bodies<bodies::to_matrix, 2, gate::all_two>(); }
#endif
