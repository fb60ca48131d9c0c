// Everything.
#pragma once
#include "num/complex.hpp"
#include "transform.hpp"
#include "tensor/npy.hpp"
#include "tensor/random.hpp"
