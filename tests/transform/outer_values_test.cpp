// Values of an outer level written into arrays of the inner one, in forward and reverse mode: they are constants inside and variables outside.
// With w = x, d/dy sum(w w y) along 1 is sum(x x), and d/dx of that along 1 is 2 sum(x).
#include <doctest/doctest.h>

#include <ttensor/all.hpp>
#include <vector>

namespace outer_values_test {
namespace tt = ttensor;
using namespace ttensor;

namespace {
const tensor<double, 1> v{1, 2, 3}, along{1, 1, 1};
struct forward {
  template <class F> static auto of(const F& f) { return tt::jvp(f, v, along).y_dot; }
};
struct reverse {
  template <class F> static auto of(const F& f) { return sum(tt::grad(f)(v)); }
};
/// use(x, y) of an outer x and an inner y, differentiated along 1 inside and then outside.
template <class Use> void check(double want, const Use& use) {
  const auto both = [&]<class Outer, class Inner>(Outer, Inner) {
    return Outer::of([&](const auto& x) { return Inner::of([&, x](const auto& y) { return use(x, y); }); });
  };
  CHECK(both(forward{}, forward{}) == want);
  CHECK(both(forward{}, reverse{}) == want);
  CHECK(both(reverse{}, forward{}) == want);
  CHECK(both(reverse{}, reverse{}) == want);
}
}  // namespace

TEST_CASE("whole arrays") {
  check(12, [](const auto& x, const auto& y) { tensor<scalar_t<decltype(x), decltype(y)>, 1> w = x; return sum(w * w * y); });
  check(12, [](const auto& x, const auto& y) { tensor<scalar_t<decltype(x), decltype(y)>, 1> w(3); w = x * 1.0; return sum(w * w * y); });
  check(12, [](const auto& x, const auto& y) { tensor<scalar_t<decltype(x), decltype(y)>, 1> w(3); w += x; return sum(w * w * y); });
  check(12, [](const auto& x, const auto& y) { fixed<scalar_t<decltype(x), decltype(y)>, 3> w; w = x; return sum(w * w * y); });
}
TEST_CASE("parts, elements, numbers that fill") {
  check(12, [](const auto& x, const auto& y) { tensor<scalar_t<decltype(x), decltype(y)>, 1> w(3); w(range(0, 3)) = x; return sum(w * w * y); });
  check(12, [](const auto& x, const auto& y) { tensor<scalar_t<decltype(x), decltype(y)>, 2> w(2, 3); w(0) = x; w(1) = y; return sum(w(0) * w(0) * w(1)); });
  check(12, [](const auto& x, const auto& y) { tensor<scalar_t<decltype(x), decltype(y)>, 1> w(3); for (int k = 0; k < 3; ++k) w(k) = x(k); return sum(w * w * y); });
  check(6, [](const auto& x, const auto& y) { tensor<scalar_t<decltype(x), decltype(y)>, 1> w(3); w = x(0); return sum(w * w * y); });  // 3 x0^2
}
TEST_CASE("branches of which one returns an outer value") {
  check(12, [](const auto& x, const auto& y) {
    return sum(tt::cond(true, [&](const auto&) { return eval(x * x); }, [&](const auto& q) { return eval(q * y); }, y) * y);
  });
}
TEST_CASE("three levels: d3 of sum(w u y) along 1, w and u of the outer two") {
  CHECK(tt::jvp([](const auto& x) {
    return tt::jvp([x](const auto& z) {
      return tt::jvp([x, z](const auto& y) {
        tensor<scalar_t<decltype(x), decltype(z), decltype(y)>, 1> w = x, u = z;
        return sum(w * w * u * y);
      }, v, along).y_dot;  // sum(x x z)
    }, v, along).y_dot;    // sum(x x)
  }, v, along).y_dot == 12);
  CHECK(tt::jvp([](const auto& x) { return sum(tt::vmap([x](const auto& s) {
    return tt::jvp([&](const auto& y) { tensor<scalar_t<decltype(x), decltype(s), decltype(y)>, 1> w = x, u = x * s; return sum(w * u * y); }, v, along).y_dot;  // s sum(x x)
  })(v)); }, v, along).y_dot == 72);  // 6 * 2 sum(x)
}

TEST_CASE("a temporary element is its scalar: no warning of a choice between two conversions") {
  const double k = 10;
  CHECK(tt::grad([&](const auto& x) {
    using T = scalar_t<decltype(x)>;
    tensor<T, 1> h = x * x;
    return T(h(0)) * h(1) * k;
  })(tensor<double, 1>{1, 2})(0) == 80);
}

TEST_CASE("what asks whether its scalar is a number sees in a probe what a variable is") {
  const auto outer = [](auto x) {
    const double k = 2;
    return tt::jvp([&](auto y) {
      if constexpr (std::is_constructible_v<double, decltype(y)>) return y * k;
      else return y * y * x * k;
    }, 3.0, 1.0).y_dot;
  };
  CHECK(tt::jvp(outer, 5.0, 1.0).y_dot == 12);
  CHECK(tt::grad(outer)(5.0) == 12);
}

TEST_CASE("floor(x) becomes the index of a table that the function captures") {
  const std::vector<double> table{0, 1, 4, 9, 16, 25};
  const double step = 0.5;
  const auto between = [&](const auto& x) {
    const auto i = static_cast<std::size_t>(floor(x / step));
    return table[i] + (x / step - static_cast<double>(floor(x / step))) * (table[i + 1] - table[i]);
  };
  CHECK(tt::grad(between)(1.25) == 10);                // (9 - 4) / step
  CHECK(tt::jvp(between, 1.25, 1.0).y_dot == 10);
  CHECK(tt::grad(tt::grad([&](const auto& x) { return x * between(x); }))(1.25) == 20);
  CHECK(tt::grad([&](const auto& a) { return tt::grad([&](const auto& x) { return x * between(x * a); })(1.0); })(1.25) == 20);  // a d/dx (x b(x a)) = b + 10 a
  const auto hessian = tt::hessian([&](const auto& w) { return square(w(0)) * static_cast<int>(trunc(w(1) * step)); })(v);
  CHECK(hessian(0, 0) == 2);
  CHECK(hessian(1, 1) == 0);
  CHECK(tt::grad([&](const auto& x) { double whole = round(x * step); return whole * x; })(5.2) == 3);
  const tensor<double, 1> elements{0, 1, 4, 9, 16, 25};
  CHECK(tt::vmap(tt::grad([&](const auto& x) { const auto i = tt::to<int>(floor(x / step)); return x * take(elements, i, 0); }))(tensor<double, 1>{0.25, 1.25})(1) == 4);
}
TEST_CASE("numbers without derivatives of a function that captures are used as numbers are") {
  const double k = 2;
  const bool first = true;
  const tensor<double, 1> b{1, 2};
  CHECK(all(tt::vmap([&](const auto& x) { return floor(x * k); })(b) == tensor<double, 1>{2, 4}));
  CHECK(tt::grad([&](const auto& x) { return floor(x * k); })(1.5) == 0);
  CHECK(tt::jacrev([&](const auto& x) { return std::pair{floor(x * k), x}; })(1.5).second == 1);
  CHECK(tt::grad([&](const auto& x) { return x * tt::grad([](auto y) { return y * y; })(floor(x * k)); })(1.5) == 6);
  CHECK(tt::grad([&](const auto& x) { return x * tt::checkpoint([](auto y, auto n) { return y * n; })(x, round(x * k)); })(1.5) == 9);
  CHECK(tt::grad([&](const auto& x) { return x * tt::scan([&](auto s, auto y) { return std::pair{s + y, floor(s * k)}; }, x, b).first; })(1.5) == 6);
  CHECK(all(tt::vmap([&](auto c) { return tt::grad([&](auto x) { return x * (first ? floor(c * x) : 1.0); })(2.5); })(b) == tensor<double, 1>{2, 5}));
  CHECK(tt::grad([&](auto x) { double n = 0.5 * round(x * k); return n * x; })(1.2) == 1);
  CHECK(tt::grad([&](auto x) { const int i = static_cast<int>(floor(x * k) + 1); return i * x; })(1.2) == 3);
  CHECK(tt::grad([&](auto x) {
    auto n = floor(x * k);
    if (n > 2) n = 2.0;
    for (auto m = n; m > 0; m = m - 1) n = n + 1;
    return x * n;
  })(1.7) == 4);
  CHECK(tt::grad([&](auto x) { const tensor t{floor(x * k), floor(x)}; return x * (t(0) + t(1)) + sum(t * x); })(1.7) == 8);
  CHECK(tt::grad([&](auto a) { return a * tt::grad([&](auto x) { return x * x * a * (floor(x) * 2 + a); })(1.5); })(2.0) == 60);  // 3 a^2 (2 + a)
}
}  // namespace outer_values_test
