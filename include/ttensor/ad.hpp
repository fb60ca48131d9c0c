// Floor 9: dual numbers, tapes and mapped numbers, of scalars and arrays. Public functions of them: transform.hpp.
#pragma once
#include "num.hpp"
#include "ad/nested_reverse.hpp"
