// Floor 7: the planner and the loops of the processor; kernel bodies for devices.
#pragma once
#include "num.hpp"
#include "run/map.hpp"
#include "run/reduce.hpp"
#include "run/sums.hpp"
#include "run/softmax.hpp"
#include "run/gather.hpp"
#include "run/linalg.hpp"
#include "run/back.hpp"
#include "run/device_back.hpp"
