// A program whose common code is compiled once, in cmake/ttensor_runtime.cpp: what is left in this file, and what only this file knows.
#include <complex>
#include <string>
#include <thread>
#include <ttensor/all.hpp>
#include "doctest/doctest.h"

#if defined(TTENSOR_BODY)
#error "ttensor::runtime must leave the common code out of this file"
#endif

namespace tt = ttensor;

namespace {
template <class A> bool same(const A& a, const A& b) { return a.shape() == b.shape() && tt::all(a == b); }
}  // namespace

TEST_CASE("runtime: ranks and element types that it knows, and others") {
  const tt::tensor<double, 2> a{{1, 2, 3}, {4, 5, 6}};
  const tt::tensor<double, 1> row{10, 20, 30};
  CHECK(same(tt::eval(a + row), tt::tensor<double, 2>{{11, 22, 33}, {14, 25, 36}}));  // broadcast
  CHECK(same(tt::eval(transpose(a) * 2.0), tt::tensor<double, 2>{{2, 8}, {4, 10}, {6, 12}}));
  CHECK(same(sum(a, tt::axes{0}), tt::tensor<double, 1>{5, 7, 9}));
  CHECK(same(matmul(a, transpose(a)), tt::tensor<double, 2>{{14, 32}, {32, 77}}));
  const tt::tensor<int, 1> i{1, 2, 3};
  CHECK(same(tt::eval(i * i - 1), tt::tensor<int, 1>{0, 3, 8}));
  const tt::tensor<std::complex<double>, 1> z{{0, 1}, {2, 0}};
  CHECK(same(tt::eval(z * z), tt::tensor<std::complex<double>, 1>{{-1, 0}, {4, 0}}));
  const tt::tensor<float, 5> five = tt::full<float>({2, 1, 3, 1, 2}, 1.5F), other = tt::full<float>({1, 2, 1, 2, 1}, 2.0F);
  CHECK(sum(five * other) == 2 * 2 * 3 * 2 * 2 * 3.0F);
}
TEST_CASE("runtime: derivatives") {
  const auto f = [](const auto& x) { return sum(exp(-x * x) * sin(x)); };
  const tt::tensor<double, 1> x{0.25, -1.5, 2};
  const auto g = tt::grad(f)(x);
  for (int k = 0; k < 3; ++k) CHECK(g(k) == doctest::Approx(std::exp(-x(k) * x(k)) * (std::cos(x(k)) - 2 * x(k) * std::sin(x(k)))));
  const auto h = tt::hessian(f)(x);
  CHECK(h(0, 1) == 0);
  CHECK(h(2, 2) == doctest::Approx(std::exp(-4.0) * ((4 * 4 - 3) * std::sin(2.0) - 8 * std::cos(2.0))));
}
TEST_CASE("runtime: mapped numbers and their derivatives") {
  const tt::tensor<double, 1> x{0.25, -1.5, 2}, y{1, 2, 3};
  const auto f = [](const auto& a, const auto& b) { return a * a * b; };
  CHECK(same(tt::vmap(tt::grad(f))(x, y), tt::tensor<double, 1>{0.5, -6, 12}));
  CHECK(same(tt::vmap([&](const auto& a, const auto& b) { return tt::jvp([&](const auto& c) { return tt::grad(f)(c, b); }, a, 1.0).y_dot; })(x, y), tt::tensor<double, 1>{2, 4, 6}));
}
TEST_CASE("runtime: errors, and memory that another thread gives back") {
  const tt::tensor<double, 1> x{1, 2, 3}, y{1, 2};
  CHECK_THROWS_WITH_AS(tt::eval(x * y), doctest::Contains("[TT-S01]"), tt::shape_error);
  CHECK_THROWS_AS(tt::eval(x(tt::newaxis, 5)), tt::index_error);
  auto made = tt::eval(x * 2.0);
  std::thread([e = std::move(made)]() mutable {
    const tt::tensor<double, 1> last = e + 1.0;
    e = tt::tensor<double, 1>(1);
    CHECK(last(2) == 7);
  }).join();
}
