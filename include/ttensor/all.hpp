// Everything.
#pragma once
#include "tensor.hpp"
#include "ad/record.hpp"
