// Floor 3: element types, packs, mathematical functions of scalars and packs, random bits.
#pragma once
#if !defined(TTENSOR_OPERATORS_DEFINED)  // a header that came before knows no complex numbers; then this file has none
#include "num/complex.hpp"
#endif
#include "num/philox.hpp"
