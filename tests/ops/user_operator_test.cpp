// An operator defined outside the library: one struct and one public function; it then works in every kind of scalar.
#include <doctest/doctest.h>

#include <cmath>
#include <ttensor/all.hpp>

namespace tt = ttensor;
using vec = tt::tensor<double, 1>;

namespace mine {
/// x for x > 0, else x / (1 - x);  slope 1, else 1 / (1 - x)^2
struct softsign_low_op : tt::real_elementwise<1> {
  static constexpr const char* name = "softsign_low";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> static constexpr auto primal(const A& x) { return tt::where_op::primal(x > A(0), x, A(x / (A(1) - x))); }
  template <class A, class Y> static constexpr auto partials(const A& x, const Y&) {
    const auto q = tt::apply<tt::reciprocal_op>(tt::apply<tt::sub_op>(1, x));
    return tt::grads{tt::apply<tt::where_op>(tt::apply<tt::greater_op>(x, 0), 1, tt::apply<tt::mul_op>(q, q))};
  }
};
static_assert(tt::elementwise_operator<softsign_low_op>);
template <class A> auto softsign_low(const A& x) { return tt::apply<softsign_low_op>(x); }
}  // namespace mine

namespace {
double value(double x) { return x > 0 ? x : x / (1 - x); }
double slope(double x) { return x > 0 ? 1 : 1 / ((1 - x) * (1 - x)); }
double curve(double x) { return x > 0 ? 0 : 2 / ((1 - x) * (1 - x) * (1 - x)); }
bool near(double a, double b) { return std::abs(a - b) <= 1e-14; }
}  // namespace

TEST_CASE("plain, dual, var, batched and nested") {
  const vec x{-2, -0.5, 0.5, 3, -1, 1, 2, -3, -4};
  const auto f = [](const auto& v) { return sum(mine::softsign_low(v) * 2.0); };
  const vec y = mine::softsign_low(x) + 0.0, g = tt::grad(f)(x), h = tt::hvp(f, x, tt::ones<double>(9)), r = tt::vhp(f, x, tt::ones<double>(9));
  const vec s = tt::vmap(tt::grad([](auto v) { return mine::softsign_low(v); }))(x);
  const vec m = tt::vmap([](auto v) { return mine::softsign_low(v); })(x);
  for (int i = 0; i < 9; ++i) {
    CHECK(near(y(i), value(x(i))));
    CHECK(near(m(i), value(x(i))));
    CHECK(near(g(i), 2 * slope(x(i))));
    CHECK(near(s(i), slope(x(i))));
    CHECK(near(h(i), 2 * curve(x(i))));
    CHECK(near(r(i), 2 * curve(x(i))));
    CHECK(near(tt::jvp([](auto v) { return mine::softsign_low(v); }, x(i), 1.0).y_dot, slope(x(i))));
  }
  CHECK(tt::program_of<decltype(mine::softsign_low(x) * 2.0)>::length == 4);
}
