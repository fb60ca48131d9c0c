// Everything.
#pragma once
#include "transform.hpp"
