// Every reduction along either axis under every composition of none, one and two transforms. Those that keep axes or take all or several:
// nested_forms.hpp.
#include "reduction_bodies.hpp"

TEST_CASE("along an axis") { gate::check_bodies<bodies::to_vector, 2, gate::all_two>(); }
TEST_CASE("softmax and log_softmax") { gate::check_bodies<bodies::to_matrix, 2, gate::all_two>(); }
