// Every elementwise operator under every composition of none, one and two transforms: of numbers or, with GATE_ARRAYS (a list of strings),
// of arrays, at GATE_POINTS points, a part of the table in each program.
#include "gate/table_gate.hpp"

#ifdef GATE_ARRAYS
using part = ttensor::at_t<GATE_PART, ttensor::type_list<ttensor::all_unary, ttensor::all_binary, gate::all_other>>;
TEST_CASE("arrays") { gate::check_table<part>(gate::arrays<part>(gate::GATE_ARRAYS{}), GATE_POINTS); }
#else
template <class Part> void check_numbers() { gate::check_table<Part>(gate::scalars<Part>(gate::all_two{})); }
TEST_CASE("numbers, unary") { check_numbers<ttensor::all_unary>(); }
TEST_CASE("numbers, binary") { check_numbers<ttensor::all_binary>(); }
TEST_CASE("numbers, other") { check_numbers<gate::all_other>(); }
#endif
