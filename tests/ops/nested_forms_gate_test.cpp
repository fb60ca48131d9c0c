// Views, elementwise operators on arrays and the other forms of reductions under every composition of none, one and two transforms.
#include "nested_forms.hpp"

TEST_CASE("forms") { gate::check_forms<bodies::nested_forms, gate::all_two>(); }
