// SIMD packs: the type with its operators, and conversions between element types, packs and memory.
#pragma once
#include "pack_convert.hpp"
#include "pack_type.hpp"
