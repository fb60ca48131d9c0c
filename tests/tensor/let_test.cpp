// let and fuse: what is named twice is computed once, nesting and capturing included, in every kind of scalar.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <ttensor/all.hpp>

namespace let_test {
namespace tt = ttensor;
using vec = tt::tensor<double, 1>;

namespace {
template <class E> constexpr int length_of(const E&) { return tt::program_of<E>::length; }
bool near(double a, double b) { return std::abs(a - b) <= 1e-14 * std::max(1.0, std::abs(b)); }
}  // namespace

TEST_CASE("a shared subexpression is one instruction") {
  const vec x{0.5, -1, 2};
  const auto e = let(exp(x), [](auto t) { return t * t + t; });
  CHECK(length_of(e) == 4);  // load exp mul add
  CHECK(length_of(exp(x) * exp(x) + exp(x)) == 8);
  const vec y = e;
  for (int i = 0; i < 3; ++i) CHECK(near(y(i), std::exp(x(i)) * std::exp(x(i)) + std::exp(x(i))));
}

TEST_CASE("leaves: fuse names them, operators do not") {
  const vec a{1, 2, 3}, b{4, 5, 6};
  const auto f = [](auto x, auto y) { return x * x + x * y; };
  const auto e = tt::fuse(f, a, b);
  CHECK(length_of(e) == 5);
  CHECK(length_of(f(a, b)) == 7);
  CHECK(tt::leaves_of_t<std::remove_cvref_t<decltype(e)>>::size == 2);
  const vec y = e;
  CHECK(y(2) == 27);
}

TEST_CASE("nested lets that capture outer placeholders") {
  const vec x{1, 2, 3};
  const auto e = let(x + 1, [&](auto t) {
    return let(t * t, [&](auto u) {  // captures t
      return let(u - t, [&](auto v) { return u * v + t * x; });  // captures t and u
    });
  });
  CHECK(length_of(e) == 9);  // x 1 + * - * x * +
  const vec y = e;
  for (int i = 0; i < 3; ++i) {
    const double t = x(i) + 1, u = t * t, v = u - t;
    CHECK(y(i) == u * v + t * x(i));
  }
}

TEST_CASE("an inner let that captures nothing, and an inner let over the outer placeholder") {
  const vec x{1, 2, 3}, z{5, 7, 9};
  const vec y = let(x * 2.0, [&](auto t) { return t + let(z, [](auto u) { return u * u; }) * t; });
  CHECK(y(1) == 4 + 49 * 4);
  const vec w = let(x, [](auto t) { return let(t, [](auto u) { return u * u; }) + t; });
  CHECK(w(2) == 12);
  const vec two = let(let(x, [](auto t) { return t * t; }), [](auto t) { return t + t; });
  CHECK(two(2) == 18);
  // the same placeholder outside and inside, at two depths
  const vec both = let(x, [&](auto t) { return let(z, [&](auto u) { return let(u, [&](auto v) { return v * t; }) + u * t; }) + t; });
  CHECK(both(0) == 5 + 5 + 1);
}

TEST_CASE("what is no array says its size and extents as an array does") {
  const tt::tensor<double, 2> a = tt::ones<double>({2, 3});
  const auto flat = flatten(a + 1.0);
  CHECK(flat.size() == 6);
  CHECK(flat.extent(-1) == 6);
  const tt::tensor<double, 2> means = let(a + 1.0, [](auto t) { return t / static_cast<double>(t.size()) + static_cast<double>(t.extent(-1)); });
  CHECK(means(1, 2) == 2.0 / 6.0 + 3.0);
}
TEST_CASE("broadcasting through a let") {
  const vec x{1, 2, 3};
  const tt::tensor<double, 2> m{{1, 1, 1}, {2, 2, 2}};
  const tt::tensor<double, 2> y = let(x, [&](auto t) { return m * t + t; });
  CHECK(y(1, 2) == 9);
}

TEST_CASE("gradients of a let, forward, reverse and twice") {
  const auto f = [](const auto& x) { return sum(let(exp(x), [](auto t) { return let(t * t, [&](auto u) { return u * t + u; }); })); };
  const auto plain = [](const auto& x) { return sum(exp(3.0 * x) + exp(2.0 * x)); };
  const vec x{0.1, -0.3, 0.2, 0.7, -1.0}, v{1, 0.5, -1, 2, 0.25};
  const vec g = tt::grad(f)(x), g1 = tt::grad(plain)(x), h = tt::hvp(f, x, v), h1 = tt::hvp(plain, x, v), hr = tt::vhp(f, x, v);
  CHECK(near(tt::jvp(f, x, v).y_dot, tt::jvp(plain, x, v).y_dot));
  for (int i = 0; i < 5; ++i) {
    CHECK(near(g(i), g1(i)));
    CHECK(near(h(i), h1(i)));
    CHECK(near(hr(i), h1(i)));
  }
  const tt::tensor<double, 2> rows{{0.1, 0.2}, {0.3, -0.4}};
  const vec per = tt::vmap(f)(rows);
  CHECK(near(per(1), f(vec{0.3, -0.4})));
}
}  // namespace let_test
