// Gradients of costly sums, which are kept with the value, where the leaves have another element type than the sum: half and bfloat16 are summed
// in float, a real sum may have complex leaves, a double one float leaves. Two sums add to one adjoint. Expected values in closed form.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <ttensor/all.hpp>

namespace mixed_sums_test {
namespace tt = ttensor;
using tt::tensor;
using cd = std::complex<double>;

namespace {
const double points[] = {0.75, -1.25, 0.5};
template <class T> tensor<T, 1> at() { return tt::to<T>(tensor<double, 1>{points[0], points[1], points[2]}); }
template <class G, class F> void check(const G& g, const F& derivative, double tolerance) {
  REQUIRE(g.size() == 3);
  for (int i = 0; i < 3; ++i) CHECK(static_cast<double>(g(i)) == doctest::Approx(derivative(points[i])).epsilon(tolerance));
}
template <class T> void real_of(double tolerance) {
  const auto x = at<T>();
  const auto mean_and_sum = [](double v) { return std::exp(v) / 3 + 1; };
  check(tt::grad([](const auto& t) { return mean(exp(t)) + sum(t); })(x), mean_and_sum, tolerance);
  check(tt::grad([](const auto& t) { return sum(t) + mean(exp(t)); })(x), mean_and_sum, tolerance);
  check(tt::grad([](const auto& t) { return mean(exp(t)) * 2.0; })(x), [](double v) { return 2 * std::exp(v) / 3; }, tolerance);
  check(tt::grad([](const auto& t) { return sum(exp(t)) + sum(sin(t)) + sum(t * t); })(x), [](double v) { return std::exp(v) + std::cos(v) + 2 * v; }, tolerance);
  check(tt::vmap(tt::grad([](const auto& t) { return mean(exp(t)) + sum(t); }))(unsqueeze(x, 0))(0), mean_and_sum, tolerance);
}
}  // namespace

TEST_CASE("one element type") {
  real_of<double>(1e-14);
  real_of<float>(1e-6);
}
TEST_CASE("half and bfloat16") {
  real_of<tt::half>(2e-3);
  real_of<tt::bfloat16>(2e-2);
}
TEST_CASE("float beside double") {
  const tensor<float, 1> a{0.75f, -1.25f, 0.5f};
  const tensor<double, 1> b{0.5, 1, 2};
  const auto [da, db] = tt::grad<0, 1>([](const auto& s, const auto& t) { return sum(exp(s) * t) + sum(s * t); })(a, b);
  for (int i = 0; i < 3; ++i) {
    CHECK(static_cast<double>(da(i)) == doctest::Approx((std::exp(points[i]) + 1) * b(i)).epsilon(1e-6));
    CHECK(db(i) == doctest::Approx(std::exp(points[i]) + points[i]).epsilon(1e-6));
  }
  check(tt::grad([](const auto& s) { return sum(tt::to<double>(exp(s))) + sum(s); })(a), [](double v) { return std::exp(v) + 1; }, 1e-6);
}
TEST_CASE("scalars of another element type than the statement") {
  const tensor<double, 1> b{0.5, 1, 2};
  CHECK(tt::grad([&](const auto& s) { return sum(s * s * b) + s; })(1.5f) == 11.5f);
  CHECK(tt::grad(tt::grad([&](const auto& s) { return sum(s * s * b) + s; }))(1.5f) == 7.0f);
  CHECK(tt::jvp(tt::grad([&](const auto& s) { return sum(exp(s * b)); }), 0.0f, 1.0f).y_dot == 5.25f);
  const tensor<cd, 1> z{cd(1, 2), cd(-0.5, 0.3)};
  const auto [dz, ds] = tt::grad<0, 1>([](const auto& t, const auto& s) { return sum(real(t * s)); })(z, cd(1, 2));
  CHECK(cd(ds) == cd(0.5, -2.3));
  CHECK(tt::all(dz == cd(1, -2)));
  const auto g = tt::grad([](const auto& t) { return sum(abs(t * t(0))); })(z);
  CHECK(std::abs(cd(g(0)) - (2.0 * cd(z(0)) + std::abs(cd(z(1))) * cd(z(0)) / std::abs(cd(z(0))))) < 1e-15);
}
TEST_CASE("products of elements of different types") {
  const tensor<cd, 1> z{cd(1, 2), cd(-0.5, 0.25)};
  const tensor<double, 1> b{1, 2};
  const auto f = [](const auto& t, const auto& s) {
    tensor<tt::scalar_t<decltype(t), decltype(s)>, 1> y(2);
    for (int i = 0; i < 2; ++i) y(i) = t(i) * s(1 - i) * t(0);
    return sum(real(y));
  };
  const auto [dz, db] = tt::grad<0, 1>(f)(z, b);
  CHECK(tt::all(dz == conj(tensor<cd, 1>{4.0 * cd(z(0)) + cd(z(1)), cd(z(0))})));
  CHECK(tt::all(db == tensor<double, 1>{-1, -3}));  // real parts of z1 z0 and z0 z0
  const auto [da, dc] = tt::grad<0, 1>(f)(tensor<float, 1>{1, 2}, b);
  CHECK(tt::all(da == tensor<float, 1>{6, 1}));
  CHECK(tt::all(dc == tensor<double, 1>{2, 1}));
}
TEST_CASE("second derivatives of real functions of complex arrays with constants") {
  const tensor<cd, 1> z{cd(1, 2), cd(-0.5, 0.3)}, w{cd(0, 1), cd(2, 0)}, v{cd(1, 0), cd(0, 1)};
  CHECK(tt::all(tt::hvp([&](const auto& t) { return sum(real(t * t * w)); }, z, v) == conj(2.0 * v * w)));
  CHECK(tt::all(tt::hvp([](const auto& t) { return sum(real(pow(t, 2.0))); }, z, v) == conj(2.0 * v)));
  CHECK(tt::all(tt::hvp([](const auto& t) { return sum(real(where(real(t) > 0.5, t * t, t))); }, z, v) == tensor<cd, 1>{2, 0}));
  CHECK(tt::all(tt::hessian([&](const auto& t) { return sum(real(t * t * z)); })(tensor<double, 1>{0.7, -1.3}) == tensor<double, 2>{{2, 0}, {0, -1}}));
  const auto along = [&](const auto& t) { return tt::jvp([](const auto& u) { return real(dot(u, u)); }, t, v).y_dot; };
  CHECK(tt::all(tt::grad(along)(z) == conj(2.0 * v)));
}
TEST_CASE("real sums of complex numbers") {  // df/dx + i df/dy: conj(f') for the real part of a holomorphic f
  const tensor<cd, 1> z{cd(1, 2), cd(-0.5, 0.3), cd(0.7, -1.1)};
  const auto near = [&](const auto& g, auto want) {
    REQUIRE(g.size() == 3);
    for (int i = 0; i < 3; ++i) CHECK(std::abs(cd(g(i)) - want(cd(z(i)))) < 1e-14);
  };
  near(tt::grad([](const auto& t) { return sum(real(exp(t))) + sum(real(t)); })(z), [](cd v) { return std::conj(std::exp(v)) + 1.0; });
  near(tt::grad([](const auto& t) { return sum(real(t)) + sum(real(exp(t))); })(z), [](cd v) { return std::conj(std::exp(v)) + 1.0; });
  near(tt::grad([](const auto& t) { return 2.0 * sum(real(exp(t))); })(z), [](cd v) { return 2.0 * std::conj(std::exp(v)); });
  near(tt::grad([](const auto& t) { return sum(real(exp(t))) + sum(imag(exp(t))); })(z), [](cd v) { return std::conj(std::exp(v)) * cd(1, 1); });
}
}  // namespace mixed_sums_test
