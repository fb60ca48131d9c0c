// The umbrella header compiles and the plainest statement is right; every build (sanitizers, clang, no SIMD) runs it.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
// What X11, Qt and sys/sysmacros.h define: the headers use none of these names.
#define Above 0
#define Always 2
#define Below 1
#define Bool int
#define Complex 0
#define Convex 2
#define False 0
#define None 0L
#define Status int
#define Success 0
#define True 1
#define Unsorted 0
#define emit
#define foreach(a, b) for (a : b)
#define forever for (;;)
#define major(x) x
#define minor(x) x
#define makedev(x, y) x
#define signals public
#define slots
#include <ttensor/all.hpp>

namespace tt = ttensor;

TEST_CASE("a fused statement and a reduction") {
  const tt::tensor<double, 1> a{1, 2, 3};
  const tt::tensor<double, 1> y = exp(-a) * a + 1;
  for (int i = 0; i < 3; ++i) CHECK(y(i) == doctest::Approx(std::exp(-a(i)) * a(i) + 1).epsilon(1e-15));
  CHECK(sum(a * a) == 14);
}

// More names than registers hold: operands are found by where they stand in the tree, numbers between arrays of other ranks and types.
TEST_CASE_TEMPLATE("a long statement", T, float, double) {
  const tt::tensor<T, 2> m{{1, 2, 3}, {4, 5, 6}};
  const tt::tensor<T, 1> row{1, 10, 100};
  const tt::tensor<T, 0> three(T(3));
  const tt::tensor<bool, 1> some{true, false, true};
  const auto f = [](auto a, auto b, auto c, auto w) {
    const auto where = []<class W>(const W& which, const auto& x, const auto& y) {
      if constexpr (std::is_same_v<W, bool>) return which ? x : y;
      else return tt::where(which, x, y);
    };
    return (a * b + a - b * T(2) + a * a - a / (b + T(1))) * (a - b) + where(w, b * a * T(0.5) - a, c * a) * (b + a) - a * b * T(2) + b - a * T(0.25) + where(w, a, b) * c - b * b + T(3) * a * c;
  };
  tt::tensor<T, 2> y = f(m, row, three, some);
  const auto right = [&](const tt::tensor<T, 2>& got) {
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j) {
        const T want = f(m(i, j), row(j), T(3), some(j));
        CHECK(got(i, j) == doctest::Approx(want).epsilon(1e-5));
      }
  };
  right(y);
  const auto kept = f(m, row, three, some), copy = kept;
  y = m;
  right(kept);
  y = f(y, row, three, some);  // in place
  right(y);
  y = copy;
  right(y);
  right(kept);
}

TEST_CASE("error texts grow in place, also by themselves") {
  const std::string name = "op";
  tt::message a = tt::message("[") + name + ']';
  const tt::message b = a + " got " + tt::to_message(5), c = "-> " + b;
  static_assert(std::is_same_v<decltype(tt::message("a") + "b"), tt::message>);  // a reference to the sum keeps it
  const tt::message& kept = tt::message("[") + name + ']';
  CHECK(std::string(kept.c_str()) == a.c_str());
  a += a;
  CHECK(std::string(a.c_str()) == "[op][op]");
  CHECK(std::string(b.c_str()) == "[op] got 5");
  CHECK(std::string(c.c_str()) == "-> [op] got 5");
}
