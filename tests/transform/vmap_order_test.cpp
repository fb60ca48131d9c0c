// Gradients inside vmap of sums of parts that see the mapped argument and parts that do not, in every order: what the parts add to
// one adjoint may be one value for all examples or one for each, whichever comes first. Against a loop over the examples.
#include <doctest/doctest.h>

#include <algorithm>
#include <ttensor/all.hpp>

namespace vmap_order_test {
namespace tt = ttensor;
using tt::dims, tt::in_axes, tt::none, tt::range, tt::tensor;

namespace {
constexpr int parts = 8;  // the first four do not see x
struct sum_of_parts {
  int order[3];
  auto operator()(const auto& w, const auto& x) const {
    auto total = 0.0 * w(0) * x(0);
    for (const int part : order) switch (part) {
        case 0: total = total + tt::sum(w * w); break;
        case 1: total = total + w(1) * w(2); break;
        case 2: total = total + tt::sum(exp(w(range{1, 3}))); break;
        case 3: { const auto m = eval(tt::reshape(w, 2, 2)); total = total + tt::sum(matmul(m, m)); break; }
        case 4: total = total + logsumexp(w * x); break;
        case 5: total = total + w(1) * x(2); break;
        case 6: total = total + tt::sum(w(range{1, 3}) * x(range{0, 2})); break;
        case 7: { const auto m = eval(tt::reshape(w, 2, 2)); total = total + tt::sum(matmul(m, tt::reshape(x, 2, 2)) * m); break; }
        default: break;
      }
    return total;
  }
};
void each_order(const auto& body) {
  for (int a = 0; a < parts; ++a)
    for (int b = 0; b < parts; ++b)
      for (int c = -1; c < parts; ++c) body(sum_of_parts{{a, b, c}});
}
double distance(const auto& a, const auto& b) { return double(max(abs(a - b))); }
const tensor<double, 1> w{1, .2, -.3, .4};
const tensor<double, 2> ws{{1, .2, -.3, .4}, {.7, .8, .1, -.2}};
const tensor<double, 2> xs{{.1, .2, .3, .4}, {.5, -.6, .7, .8}, {-.9, 1., 1.1, 1.2}};
}  // namespace

TEST_CASE("gradients inside vmap do not depend on the order in which parts that differ between examples and parts that do not are recorded") {
  double worst = 0;
  each_order([&](const sum_of_parts& f) {
    const tensor<double, 2> all = tt::vmap(tt::grad(f), in_axes<none, 0>)(w, xs);
    for (int i = 0; i < 3; ++i) worst = std::max(worst, distance(all(i), tt::grad([&](const auto& v) { return f(v, xs(i)); })(w)));
  });
  CHECK(worst < 1e-13);
}

TEST_CASE("nor inside two vmaps, where a part may see either, both or none of the mapped arguments") {
  double worst = 0;
  each_order([&](const sum_of_parts& f) {
    const auto of_both = [&](const auto& q, const auto& x, const auto& v) { return f(q, v) + f(q, x) + f(q, tt::eval(v * x)); };
    const auto over_v = [&](const auto& q, const auto& x, const auto& vs) { return tt::vmap(tt::grad(of_both), in_axes<none, none, 0>)(q, x, vs); };
    const tensor<double, 3> all = tt::vmap(over_v, in_axes<none, 0, none>)(w, xs, ws);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 2; ++j) worst = std::max(worst, distance(all(i, j), tt::grad(of_both)(w, tt::eval(xs(i)), tt::eval(ws(j)))));
  });
  CHECK(worst < 1e-13);
}
}  // namespace vmap_order_test
