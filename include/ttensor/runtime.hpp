// The part of ttensor that no program changes (allocation, broadcasting, strided operands, sums, tapes, errors), compiled once. Include
// this, before anything else, in one source file of a program whose other files are compiled with TTENSOR_RUNTIME and otherwise the same
// flags; CMake: ttensor::runtime does both. base/config.hpp says how the headers leave that part out.
#pragma once
#if defined(TTENSOR_ONCE)
#error "ttensor: <ttensor/runtime.hpp> must come before every other header of ttensor"
#endif
#define TTENSOR_RUNTIME_SOURCE
#include "all.hpp"
