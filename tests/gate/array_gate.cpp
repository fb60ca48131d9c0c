// The gate, array body (a contraction and two reductions): every composition of up to three transforms, with GATE_OPTIMISED of up to two of grad, jvp, vmap.
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
}  // namespace

TEST_CASE("compositions of the array body") { gate::check_strings<body>("2"); }
