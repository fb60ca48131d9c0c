// Everything.
#pragma once
#include "num.hpp"
#include "transform.hpp"
#include "tensor/npy.hpp"
#include "tensor/random.hpp"
