// Values of an outer level written into arrays of the inner one, in forward and reverse mode: they are constants inside and variables outside.
// With w = x, d/dy sum(w w y) along 1 is sum(x x), and d/dx of that along 1 is 2 sum(x).
#include <doctest/doctest.h>

#include <ttensor/all.hpp>

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

TEST_CASE("what is a plain number for a variable may be cast to an integer, in a function that captures too") {
  const double k = 10;
  CHECK(tt::grad([](auto t) { return t * int(floor(t * 10.0)); })(0.55) == 5);
  CHECK(tt::grad([k](auto t) { return t * int(floor(t * k)); })(0.55) == 5);
  CHECK(tt::jvp([&](auto t) { return t * static_cast<std::size_t>(floor(t * k)); }, 0.55, 1.0).y_dot == 5);
  const tensor<double, 1> table{1, 2, 4, 8};
  const auto interpolate = [&](auto t) {
    const int i = int(floor(t * k));
    const auto w = t * k - i;
    return table(i) * (1 - w) + table(i + 1) * w;
  };
  CHECK(tt::grad(interpolate)(0.25) == 40);
  CHECK(tt::grad([&](auto x) { return tt::grad([&](auto t) { return t * t * x * int(floor(t * x)); })(x); })(2.5) == 60);  // 2 x^2 floor(x^2), of which floor is constant
  // a temporary element is its scalar: no warning of a choice between two conversions
  CHECK(tt::grad([&](const auto& x) {
    using T = scalar_t<decltype(x)>;
    tensor<T, 1> h = x * x;
    return T(h(0)) * h(1) * k;
  })(tensor<double, 1>{1, 2})(0) == 80);
}
