// Floor 6: the operators: a value and partial derivatives each, and the list of their names. No arrays.
#pragma once
#include "num.hpp"
#include "ops/list.hpp"
#include "ops/chain.hpp"
#include "ops/merge.hpp"
#include "ops/reduction.hpp"
