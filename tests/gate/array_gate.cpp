// The gate, array body (a contraction and two reductions): every composition of up to three transforms, with GATE_FIRST those that start with one letter.
#include "gate/nestings.hpp"

namespace {
struct body {
  static constexpr int rank = 2;
  template <class X> auto operator()(const X& x) const {
    static const auto a = gate::sequence_like("A", ttensor::dims<2>{{3, 2}});
    const auto y = matmul(tanh(x), a);
    return sum(y * y, ttensor::axes{0}) * (sum(exp(0.3 * x)) / static_cast<double>(6));
  }
};
template <char... T> void run() {
  gate::check<body, T...>(gate::gate_values(), "2");
  if constexpr (sizeof...(T) < 3) run<T..., 'G'>(), run<T..., 'J'>(), run<T..., 'V'>(), run<T..., 'F'>(), run<T..., 'R'>();
}
}  // namespace

#ifdef GATE_FIRST
constexpr char letters[] = "GJVFR";
TEST_CASE("31 compositions of the array body") { run<letters[GATE_FIRST]>(); }
#else  // in one program, which compiles what they share once: half of what five take
TEST_CASE("31 compositions of the array body, G first") { run<'G'>(); }
TEST_CASE("31 compositions of the array body, J first") { run<'J'>(); }
TEST_CASE("31 compositions of the array body, V first") { run<'V'>(); }
TEST_CASE("31 compositions of the array body, F first") { run<'F'>(); }
TEST_CASE("31 compositions of the array body, R first") { run<'R'>(); }
#endif
