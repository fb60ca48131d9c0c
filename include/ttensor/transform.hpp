// Transforms of functions: grad and its relatives.
#pragma once
#include "tensor.hpp"
#include "transform/jacobian.hpp"
