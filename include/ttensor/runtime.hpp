// The part of ttensor that no program changes (allocation, broadcasting, strided operands, sums, tapes, errors), compiled once. Include
// this, before anything else, in one source file of a program whose other files are compiled with TTENSOR_RUNTIME and otherwise the same
// flags; CMake: ttensor::runtime does both. base/config.hpp says how the headers leave that part out.
#pragma once
#if defined(TTENSOR_VERSION_MAJOR)
#error "ttensor: <ttensor/runtime.hpp> must come before every other header of ttensor. If a precompiled header or a unity build brings one: call ttensor_component_runtime() in the CMakeLists.txt that makes the target, or set SKIP_PRECOMPILE_HEADERS and SKIP_UNITY_BUILD_INCLUSION for the file that includes it"
#endif
#define TTENSOR_RUNTIME_SOURCE
#include "all.hpp"
