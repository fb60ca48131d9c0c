// The gate, array body (a contraction and two reductions): every composition of up to three transforms that starts with one letter.
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
constexpr char letters[] = "GJVFR";
template <char... T> void run() {
  gate::check<body, T...>(gate::gate_values(), "2");
  if constexpr (sizeof...(T) < 3) run<T..., 'G'>(), run<T..., 'J'>(), run<T..., 'V'>(), run<T..., 'F'>(), run<T..., 'R'>();
}
}  // namespace

TEST_CASE("compositions of the array body") { run<letters[GATE_FIRST]>(); }
