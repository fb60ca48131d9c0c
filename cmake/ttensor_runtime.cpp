// Added to every target that links ttensor::runtime.
#include <ttensor/runtime.hpp>
