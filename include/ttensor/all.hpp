// Everything.
#pragma once
#if !defined(TTENSOR_OPERATORS_DEFINED)  // a header that came before knows no complex numbers; then this file has none
#include "num/complex.hpp"
#endif
#include "transform.hpp"
#include "tensor/npy.hpp"
#include "tensor/random.hpp"
