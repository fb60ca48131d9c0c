// Floor 1: configuration, errors, lists of types.
#pragma once
#include "base/error.hpp"
#include "base/meta.hpp"
