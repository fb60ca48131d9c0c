// The gate, scalar body: every composition of up to three of grad, jvp, vmap, jacfwd, jacrev, with GATE_FIRST those that start with one letter.
// Stored values: tests/gate/gate_values.txt (mpmath, nested central differences at 180 digits).
#include "gate/nestings.hpp"

namespace {
struct body {
  static constexpr int rank = 0;
  template <class X> auto operator()(const X& x) const { return exp(-x * x) * sin(x) + x * sqrt(x + 2) / (1 + x * x); }
};
template <char... T> void run() {
  gate::check<body, T...>(gate::gate_values(), "1");
  if constexpr (sizeof...(T) < 3) run<T..., 'G'>(), run<T..., 'J'>(), run<T..., 'V'>(), run<T..., 'F'>(), run<T..., 'R'>();
}
}  // namespace

#ifdef GATE_FIRST
constexpr char letters[] = "GJVFR";
TEST_CASE("31 compositions of the scalar body") { run<letters[GATE_FIRST]>(); }
#else  // in one program, which compiles what they share once: half of what five take
TEST_CASE("31 compositions of the scalar body, G first") { run<'G'>(); }
TEST_CASE("31 compositions of the scalar body, J first") { run<'J'>(); }
TEST_CASE("31 compositions of the scalar body, V first") { run<'V'>(); }
TEST_CASE("31 compositions of the scalar body, F first") { run<'F'>(); }
TEST_CASE("31 compositions of the scalar body, R first") { run<'R'>(); }
#endif
