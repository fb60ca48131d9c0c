// Views, elementwise operators on arrays and the other forms of reductions under every composition of none, one and two transforms.
#include "nested_forms.hpp"

using parts = ttensor::type_list<gate::mapped_strings, gate::taped_strings, gate::dual_strings>;

TEST_CASE("forms") { gate::check_forms<bodies::nested_forms, ttensor::at_t<GATE_PART, parts>>(); }
