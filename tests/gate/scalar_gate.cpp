// The gate, scalar body: every composition of up to three of grad, jvp, vmap, jacfwd, jacrev, with GATE_OPTIMISED of up to two of the first three.
// Stored values: tests/gate/gate_values.txt (mpmath, nested central differences at 180 digits).
#include "gate/nestings.hpp"

namespace {
struct body {
  static constexpr int rank = 0;
  template <class X> auto operator()(const X& x) const { return exp(-x * x) * sin(x) + x * sqrt(x + 2) / (1 + x * x); }
};
}  // namespace

TEST_CASE("compositions of the scalar body") { gate::check_strings<body>("1"); }
