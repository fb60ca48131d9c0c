// Every elementwise operator under every composition of none, one and two transforms: of numbers or, with GATE_PART, of arrays, a part of the table in
// each program, two transforms at the first point only; with GATE_OPTIMISED of arrays under grad, at every point
// (and under none where ops/same_bits_test.cpp has no optimised statement).
#include "gate/table_gate.hpp"

#if defined(GATE_PART)
using part = ttensor::at_t<GATE_PART, ttensor::type_list<ttensor::all_unary, ttensor::all_binary, gate::all_other>>;
TEST_CASE("arrays") { gate::check_table<part>(gate::arrays<part>(gate::all_two{}), 1); }
TEST_CASE("arrays, every point") { gate::check_table<part>(gate::arrays<part>(gate::one_letter{})); }
#elif defined(GATE_OPTIMISED)
template <class Part, class... S> void check_arrays() { gate::check_table<Part>(gate::arrays<Part>(gate::string_list<S..., gate::string<'G'>>{})); }
TEST_CASE("arrays, unary") { check_arrays<ttensor::all_unary>(); }
TEST_CASE("arrays, binary") { check_arrays<ttensor::all_binary>(); }
TEST_CASE("arrays, other") { check_arrays<gate::all_other, gate::string<>>(); }
#else
template <class Part> void check_numbers() { gate::check_table<Part>(gate::scalars<Part>(gate::all_two{})); }
TEST_CASE("numbers, unary") { check_numbers<ttensor::all_unary>(); }
TEST_CASE("numbers, binary") { check_numbers<ttensor::all_binary>(); }
TEST_CASE("numbers, other") { check_numbers<gate::all_other>(); }
#endif
