// Arrays without derivatives: tensors, views, expressions, reductions.
#pragma once
#if (defined(_GLIBCXX_COMPLEX) || defined(_LIBCPP_COMPLEX)) && !defined(TTENSOR_OPERATORS_DEFINED)  // programs that use <complex> have it as an element type
#include "num/complex.hpp"
#endif
#include "tensor/operators.hpp"
#include "tensor/factories.hpp"
#include "tensor/reductions.hpp"
#include "tensor/fixed.hpp"
#include "tensor/reduce.hpp"
#include "tensor/contraction.hpp"
#include "tensor/extremum.hpp"
#include "tensor/indexing.hpp"
#include "tensor/linalg.hpp"
#include "tensor/explain.hpp"
#include "tensor/known.hpp"
