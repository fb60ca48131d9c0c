// Layout of kernel arguments as the device compiler sees it, left in the PTX as constants that kernels store.
#include "layout_types.hpp"

#define TTENSOR_X(number, ...) \
  extern "C" __global__ void layout_##number(unsigned long long* out, const __VA_ARGS__* p) { *out = layout_types::layout(p); }
TTENSOR_LAYOUT_TYPES(TTENSOR_X)
TTENSOR_X(99, layout_types::disagreed)
