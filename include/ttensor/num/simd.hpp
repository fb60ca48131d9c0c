// One SIMD register of element type T, and the masks that go with it.
// Arithmetic needs no library: a register is a vector type of the compiler (GCC and clang spell it alike), whose operators
// cost no template instantiation. What the language lacks (fma, sqrt, rounding, compare, select) comes from simd_x86.hpp,
// or through xsimd everywhere else: those two are the only files that name an intrinsic or xsimd.
//
// Why not xsimd on x86: including it costs 0.8 CPU seconds per translation unit against 0.25 for the intrinsics, and
// xsimd 8.1 has no fma for AVX-512 (it multiplies, then adds), which the argument reductions of math.hpp cannot live with.
// TTENSOR_USE_XSIMD selects it anyway.
#pragma once
#include "simd_types.hpp"

#if TTENSOR_HAS_REGISTERS
#if defined(__SSE2__) && !defined(TTENSOR_USE_XSIMD)
#include "simd_x86.hpp"
#else
#include "simd_xsimd.hpp"
#endif
#endif
