// Twelve residual layers written with `auto`: every name holds an expression, and no product runs again where a name is used twice.
#include <doctest/doctest.h>

#include <ttensor/all.hpp>

namespace {
int products = 0;
}
namespace ttensor {
/// Found before the library's own for the products of numbers under a transform: every one that runs, forward or backward, is counted.
template <class A, class B> requires(std::is_same_v<scalar_t<A>, double> && std::is_same_v<scalar_t<B>, double>)
auto apply_array(const matmul_op& op, const A& a, const B& b) {
  ++products;
  return op.primal(array_detail::as_array(a), array_detail::as_array(b));
}
}  // namespace ttensor

namespace tt = ttensor;
using matrix = tt::tensor<double, 2>;

namespace {
template <class W> auto network(const matrix& x, const W& w) {
  auto h1 = x + relu(matmul(x, w));
  auto h2 = h1 + relu(matmul(h1, w));
  auto h3 = h2 + relu(matmul(h2, w));
  auto h4 = h3 + relu(matmul(h3, w));
  auto h5 = h4 + relu(matmul(h4, w));
  auto h6 = h5 + relu(matmul(h5, w));
  auto h7 = h6 + relu(matmul(h6, w));
  auto h8 = h7 + relu(matmul(h7, w));
  auto h9 = h8 + relu(matmul(h8, w));
  auto h10 = h9 + relu(matmul(h9, w));
  auto h11 = h10 + relu(matmul(h10, w));
  auto h12 = h11 + relu(matmul(h11, w));
  return sum(h12);
}
}  // namespace

TEST_CASE("auto holds an expression whose products have run: twelve layers, twelve products") {
  matrix x(3, 6), w(6, 6), d(6, 6);
  for (int i = 0; i < 18; ++i) x.data()[i] = 0.1 * i - 1;
  for (int i = 0; i < 36; ++i) w.data()[i] = 0.01 * i - 0.2, d.data()[i] = 1e-5 * (i % 5 - 2);

  const auto loops = tt::counts.loops;
  const double y = network(x, w);
  CHECK(tt::counts.loops - loops == 12 + 11 + 1);  // the products, h1 to h11 as operands of the next one, and the sum
  matrix h = x;
  for (int i = 0; i < 12; ++i) h = h + relu(matmul(h, w));
  CHECK(y == doctest::Approx(sum(h)).epsilon(1e-12));

  products = 0;
  const auto backward = tt::tapes::stats.backward_loops, nodes = tt::tapes::stats.nodes;
  const matrix g = tt::grad([&](const auto& u) { return network(x, u); })(w);
  CHECK(products == 12 + 12 + 11);  // backward: for each w, and for h1 to h11
  CHECK(tt::tapes::stats.nodes - nodes == 12 + 11 + 1);
  CHECK(tt::tapes::stats.backward_loops - backward == 11 + 1);
  CHECK(sum(g * d) == doctest::Approx((network(x, matrix(w + d)) - network(x, matrix(w - d))) / 2).epsilon(1e-6));
}
