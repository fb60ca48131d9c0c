// Everything.
#pragma once
#include "transform.hpp"
#include "tensor/npy.hpp"
#include "tensor/random.hpp"
