// Floor 4: where elements live: blocks, counts, cells that values and views share.
#pragma once
#include "mem/cell.hpp"
