// No examples at all: every transform under vmap, and over it, makes results of the right shape, touches no element and adds nothing.
#include <doctest/doctest.h>

#include <ttensor/all.hpp>

namespace empty_batch_test {
using ttensor::dims, ttensor::eval, ttensor::grad, ttensor::in_axes, ttensor::index_t, ttensor::jvp, ttensor::none, ttensor::tensor, ttensor::vmap;
using vec = tensor<double, 1>;
using mat = tensor<double, 2>;

namespace {
constexpr index_t n = 40;
const auto f = [](const auto& x) {  // views that overlap, a product, a reduction that is no sum, scalars
  const auto bend = x(ttensor::range(0, n - 2)) - 2.0 * x(ttensor::range(1, n - 1)) + x(ttensor::range(2, n));
  return sum(square(bend)) + logsumexp(matmul(ttensor::ones<double>(3, n), x)) + x(0) * exp(x(1));
};
}  // namespace

TEST_CASE("no examples: statements, views that overlap, products, reductions and scalars") {
  const mat xs(0, n);
  const vec w = vec(n) + 0.5;
  CHECK(vmap(f)(xs).shape() == dims<1>{{0}});
  CHECK(vmap(grad(f))(xs).shape() == dims<2>{{0, n}});
  CHECK(vmap(ttensor::hessian(f))(xs).shape() == dims<3>{{0, n, n}});
  CHECK(jvp(vmap(grad(f)), xs, xs).y_dot.shape() == dims<2>{{0, n}});
  CHECK(grad([&](const auto& x) { return sum(vmap(f)(x)); })(xs).shape() == dims<2>{{0, n}});
  CHECK(vmap(vmap(grad(f)))(tensor<double, 3>(2, 0, n)).shape() == dims<3>{{2, 0, n}});
  CHECK(vmap(vmap(grad(f)))(tensor<double, 3>(0, 2, n)).shape() == dims<3>{{0, 2, n}});
  const auto weighed = [&](const auto& v, const auto& x) { return sum(square(v)) + f(eval(v * x)) + sum(exp(v)); };  // parts that see no example, too
  CHECK(ttensor::per_sample_grad(weighed)(w, xs).shape() == dims<2>{{0, n}});
  CHECK(vmap(grad([&](const auto& v, const auto& x) { return sum(grad(weighed)(v, x) * v); }), in_axes<none, 0>)(w, xs).shape() == dims<2>{{0, n}});
  const auto outside = [&](const auto& v) { return sum(v * v) + sum(vmap([&](const auto& x) { return weighed(v, x); })(xs)); };
  CHECK(ttensor::all(grad(outside)(w) == 2.0 * w));
}
}  // namespace empty_batch_test
