// A second file of the same program.
#include <ttensor/all.hpp>

namespace tt = ttensor;

double slope(const tt::tensor<double, 1>& x) {
  return sum(tt::grad([](const auto& v) { return sum(v * v); })(x));
}
