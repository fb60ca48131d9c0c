// Transforms of functions: grad and its relatives.
#pragma once
#include "tensor.hpp"
#include "transform/control.hpp"
#include "transform/jacobian.hpp"
