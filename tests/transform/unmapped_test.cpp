// A parameter that is not mapped beside data that is: f(p) = sum over n of p^3 n = 4 p^3, in every way that p can come in, at orders one to
// three, with data of numbers and of integers. Reverse over reverse of it once threw [TT-L02], and integers did not compile.
#include <doctest/doctest.h>

#include <ttensor/all.hpp>

namespace unmapped_test {
namespace tt = ttensor;
using tt::tensor;

namespace {
template <class T> struct model { T p; tensor<T, 1> unused; };
const tensor<double, 1> reals{1, 3}, ps{2, -1};
const tensor<int, 1> integers{1, 3};

constexpr auto captured = [](const auto& data) {
  return [=](const auto& p) { return sum(tt::vmap([&](const auto& n) { return p * p * p * n; })(data)); };
};
constexpr auto argument = [](const auto& data) {
  return [=](const auto& p) { return sum(tt::vmap([](const auto& q, const auto& n) { return q * (q * n) * q; }, tt::in_axes<tt::none, 0>)(p, data)); };
};
constexpr auto element = [](const auto& data) {  // of an array that is captured
  return [=](const auto& p) {
    tensor<tt::scalar_t<decltype(p)>, 1> w(2);
    w(0) = p, w(1) = p * p;
    return sum(tt::vmap([&](const auto& n) { return n * w(0) * w(1); })(data));
  };
};
constexpr auto array = [](const auto& data) {
  return [=](const auto& p) {
    const tensor<tt::scalar_t<decltype(p)>, 1> w(tt::ones<double>(2) * p);
    return sum(tt::vmap([&](const auto& n) { return sum(w * w * w * n) * 0.5; })(data));
  };
};
constexpr auto field = [](const auto& data) {
  return [=](const auto& p) {
    const model<tt::scalar_t<decltype(p)>> m{p, {}};
    return sum(tt::vmap([](const auto& m, const auto& n) { return m.p * m.p * m.p * n; }, tt::in_axes<tt::none, 0>)(m, data));
  };
};
const auto grad = [](const auto& f) { return [=](const auto& p) { return tt::grad(f)(p); }; };
const auto tangent = [](const auto& f) { return [=](const auto& p) { return tt::jvp(f, p, 1.0).y_dot; }; };
template <class F> void first_two(const F& f) {
  CHECK(f(2.0) == 32);
  CHECK(grad(f)(2.0) == 48);
  CHECK(tangent(f)(2.0) == 48);
  CHECK(grad(grad(f))(2.0) == 48);
  CHECK(tangent(grad(f))(2.0) == 48);
  CHECK(grad(tangent(f))(2.0) == 48);
}
template <class F> void mapped(const F& f) {  // and p over examples of its own
  const auto one = tt::vmap(tt::grad(f))(ps), two = tt::vmap(grad(grad(f)))(ps), outside = tt::grad([&](const auto& p) { return sum(tt::vmap(grad(f))(p)); })(ps);
  CHECK(one(0) == 48);
  CHECK(one(1) == 12);
  for (const auto& y : {two, outside}) {
    CHECK(y(0) == 48);
    CHECK(y(1) == -24);
  }
}
}  // namespace

TEST_CASE("numbers, captured") {
  first_two(captured(reals));
  mapped(captured(reals));
}
TEST_CASE("numbers, captured, third order") {
  const auto f = captured(reals);
  CHECK(grad(grad(grad(f)))(2.0) == 24);
  CHECK(tangent(grad(grad(f)))(2.0) == 24);
  CHECK(grad(tangent(grad(f)))(2.0) == 24);
  CHECK(grad(grad(tangent(f)))(2.0) == 24);
}
TEST_CASE("numbers, as an unmapped argument") {
  first_two(argument(reals));
  mapped(argument(reals));
}
TEST_CASE("numbers, as elements, an array and a field") {
  first_two(element(reals));
  first_two(array(reals));
  first_two(field(reals));
}
TEST_CASE("integers") {
  first_two(captured(integers));
  mapped(captured(integers));
  first_two(argument(integers));
  first_two(array(integers));
}
TEST_CASE("integers that become numbers in the statement that uses them") {
  const tensor<int, 2> counts{{1, 2}, {3, 4}};
  const tensor<double, 1> w{1, 2};
  const auto powers = [&](const auto& v) { return sum(tt::vmap([&](const auto& i) { return sum(pow(v, i)); })(counts)); };
  const auto weighted = [&](const auto& v) { return sum(tt::vmap([&](const auto& i) { return sum(v * v * (tt::to<double>(i) + 0.5)); })(counts)); };
  const auto inner = [&](const auto& v) { return sum(tt::vmap([&](const auto& i) { return tt::grad([&](const auto& y) { return sum(y * v * i); })(v)(1); })(counts)); };
  CHECK(tt::all(tt::grad(powers)(w) == tensor<double, 1>{4, 36}));
  CHECK(tt::all(tt::grad(weighted)(w) == tensor<double, 1>{10, 28}));
  CHECK(tt::all(tt::grad(inner)(w) == tensor<double, 1>{0, 6}));
  CHECK(tt::all(tt::jvp(tt::grad(weighted), w, tt::ones<double>(2)).y_dot == tensor<double, 1>{10, 14}));
  const auto pulled = [](const auto& x) { return sum(tt::vmap([&](const auto& n) { return tt::vjp([&](const auto& y) { return y * y * n; }, x).pull(1.0); })(integers)); };
  CHECK(tt::grad(pulled)(2.0) == 8);
  CHECK(tt::vmap([](const auto& n) { return tt::grad([&](const auto& x) { return x * x * tt::to<double>(n); })(2.0); })(integers)(1) == 12);
  CHECK(tt::all(tt::grad([&](const auto& v) { return sum(tt::vmap([&](const auto& i) { return dot(i, v); })(counts)); })(w) == tensor<double, 1>{4, 6}));
}
TEST_CASE("Poisson regression: counts are integers") {
  const tensor<double, 2> x{{1, 0.5}, {1, -1}, {1, 2}};
  const tensor<int, 1> counts{2, 0, 7};
  const tensor<double, 1> w{0.1, 0.3};
  const auto one = [](const auto& v, const auto& row, const auto& y) {
    const auto eta = dot(row, v);
    return exp(eta) - y * eta;
  };
  const auto loss = [&](const auto& v) { return mean(tt::vmap(one, tt::in_axes<tt::none, 0, 0>)(v, x, counts)); };
  const tensor<double, 1> rate = exp(matmul(x, w)), want = matmul(transpose(x), rate - counts) / 3.0;
  const tensor<double, 2> curvature = matmul(transpose(x) * rate, x) / 3.0;
  const auto near = [](const auto& a, const auto& b) { return tt::max(abs(a - b)) < 1e-14; };
  CHECK(near(tt::grad(loss)(w), want));
  CHECK(near(mean(tt::per_sample_grad(one)(w, x, counts), 0), want));
  CHECK(near(tt::hessian(loss)(w), curvature));
  CHECK(near(tt::jacrev(tt::grad(loss))(w), curvature));
}
TEST_CASE("eye and to of the argument's own scalar") {
  const auto h = tt::hessian([](const auto& x) {
    using T = tt::scalar_t<decltype(x)>;
    const auto p = matmul(tt::eye<T>(2), x);
    return sum(p * p * tt::to<T>(tensor<double, 1>{2, 3})) + tt::to<T>(1.0) * sum(x);
  })(tensor<double, 1>{1, 2});
  CHECK(tt::all(h == tensor<double, 2>{{4, 0}, {0, 6}}));
}
}  // namespace unmapped_test
