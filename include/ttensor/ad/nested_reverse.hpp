#pragma once
#include "var.hpp"
