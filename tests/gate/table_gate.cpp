// Every elementwise operator under every composition of none, one and two transforms, a part of the table in each program.
#include "gate/table_gate.hpp"

using part = ttensor::at_t<GATE_PART, ttensor::type_list<ttensor::all_unary, ttensor::all_binary, gate::all_other>>;

#ifdef GATE_ARRAYS
TEST_CASE("arrays") { gate::check_table<part>(gate::arrays<part>(gate::GATE_ARRAYS{}), GATE_POINTS); }
#else
TEST_CASE("scalars") { gate::check_table<part>(gate::scalars<part>(gate::all_two{})); }
#endif
