// Floor 5: nodes, leaves, the flat program of an expression, kinds of scalars.
#pragma once
#include "expr/let.hpp"
#include "expr/level_call.hpp"
#include "expr/on_leaves.hpp"
#include "expr/sweep.hpp"
