// Floor 2: extents, strides, broadcasting, axes, slices.
#pragma once
#include "shape/slice.hpp"
