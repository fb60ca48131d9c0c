// stop_gradient and checkpoint inside derivatives.
#include "closures.hpp"

CLOSURE(stop_gradient_captured, 2, D1([](auto x) { return D2([&](auto y) { return stop_gradient(x) * y * y + x * y; })(2.0); })(3.0))
CLOSURE(stop_gradient_both, 2, D1([](auto x) { return x * D2([&](auto y) { return stop_gradient(x * y) * y; })(2.0); })(3.0))
CLOSURE(checkpoint_captured, 2, D1([](auto x) { return x * D2(checkpoint([&](auto y) { return x * y * y; }))(2.0); })(3.0))

TEST_CASE("stop_gradient blocks every live level and is the identity under vmap") {
  const tensor<double, 1> v{1, 2, 3};
  CHECK(tt::grad([](auto x) { return stop_gradient(x) * x; })(3.0) == 3);
  CHECK(tt::jvp([](auto x) { return stop_gradient(x) * x; }, 3.0, 1.0).y_dot == 3);
  CHECK(tt::grad([](const auto& x) { return sum(stop_gradient(x * x) * x); })(v)(2) == 9);
  CHECK(tt::jvp([](const auto& x) { return sum(stop_gradient(x * x) * x); }, v, v).y_dot == 36);
  CHECK(vmap([](auto x) { return stop_gradient(x) * x; })(v)(2) == 9);
  CHECK(vmap(tt::grad([](auto x) { return stop_gradient(x) * x; }))(v)(2) == 3);
  CHECK(tt::grad([](const auto& x) { return sum(vmap([](auto t) { return stop_gradient(t) * t; })(x)); })(v)(1) == 2);
  const auto [a, b] = tt::grad([](const auto& p) { const auto q = stop_gradient(p); return std::get<0>(q) * std::get<1>(p); })(std::tuple{2.0, 5.0});
  CHECK(a == 0);
  CHECK(b == 2);
}
TEST_CASE("value_of removes every kind") {
  const tensor<double, 1> v{1, 2, 3};
  double seen = 0;
  tt::grad([&](auto x) { return tt::jvp([&](auto y) { seen = value_of(x * y); return y * y; }, x, 1.0).y_dot; })(3.0);
  CHECK(seen == 9);
  static tensor<double, 1> examples;
  vmap([](auto x) { examples = value_of(x * x); return x; })(v);
  CHECK(examples(2) == 9);
  tensor<double, 1> array;
  tt::grad([&](const auto& x) { array = value_of(x * 2.0); return sum(x); })(v);
  CHECK(array(1) == 4);
}
TEST_CASE("no_grad is obeyed inside a transform and ignored outside (rule 20)") {
  const auto f = [](auto x) { return x * x; };
  {
    const no_grad guard;
    CHECK(tt::grad(f)(3.0) == 6);
  }
  const auto g = [](auto x) {
    auto c = x;
    {
      const no_grad guard;
      c = x * x;
    }
    return c * x;
  };
  CHECK(tt::grad(g)(3.0) == 9);
  const auto inner = [&](auto x) {
    const no_grad guard;
    return tt::grad(f)(x);  // opened later: records; its result is a constant of the outer level
  };
  CHECK(tt::grad([&](auto x) { return inner(x) * x; })(3.0) == 6);
  const tensor<double, 1> v{1, 2, 3};
  const auto h = tt::grad([](const auto& x) {
    auto c = x;
    {
      const no_grad guard;
      c = x * x;
    }
    return sum(c * x) + x(0);
  })(v);
  CHECK(h(0) == 2);
  CHECK(h(2) == 9);
}
