// Transforms of functions: grad and its relatives.
#pragma once
#include "tensor.hpp"
#include "transform/checkpoint.hpp"
#include "transform/control.hpp"
#include "transform/custom.hpp"
#include "transform/jacobian.hpp"
#include "transform/laplacian.hpp"
#include "transform/linearize.hpp"
#include "transform/stop_gradient.hpp"
#include "transform/known.hpp"
