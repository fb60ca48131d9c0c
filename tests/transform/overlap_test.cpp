// Gradients of statements whose leaves are shifted views of one array: their adjoints share memory without being one place.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <ttensor/all.hpp>
#include <vector>

namespace overlap_test {
namespace tt = ttensor;
using tt::end, tt::range, tt::tensor;

TEST_CASE("differences of neighbours, every length of the last pack") {
  const auto f = [](const auto& u) { return sum(square(u(range(1, end)) - u(range(0, -1)))); };
  for (int n = 2; n < 40; ++n) {
    const tensor<double, 1> u = sin(3.0 * tt::arange<double>(n));
    const tensor<double, 1> g = tt::grad(f)(u);
    for (int i = 0; i < n; ++i) {
      const double left = i > 0 ? 2 * (u(i) - u(i - 1)) : 0, right = i + 1 < n ? 2 * (u(i) - u(i + 1)) : 0;
      CHECK(g(i) == doctest::Approx(left + right));
    }
  }
}
namespace {
/// The gradient of the sum over i of the product of x(i + s) for the shifts s, plus the sum of squares, beside loops over numbers.
template <class T, int... Shift> void products_of_shifted(int n) {
  constexpr int shifts[] = {Shift...};
  const int count = n - std::max({Shift...});
  const tensor<T, 1> x = T(1) + T(0.3) * sin(T(2) * tt::arange<T>(T(n)));
  const tensor<T, 1> g = tt::grad([&](const auto& u) { return sum((... * u(range(Shift, Shift + count)))) + sum(u * u); })(x);
  std::vector<double> want(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) want[static_cast<std::size_t>(i)] = 2.0 * static_cast<double>(x(i));
  for (int i = 0; i < count; ++i)
    for (const int s : shifts) {
      double others = 1;
      for (const int o : shifts) others *= o == s ? 1.0 : static_cast<double>(x(i + o));
      want[static_cast<std::size_t>(i + s)] += others;
    }
  double worst = 0;
  for (int i = 0; i < n; ++i) worst = std::max(worst, std::abs(static_cast<double>(g(i)) - want[static_cast<std::size_t>(i)]));
  CHECK_MESSAGE(worst < (sizeof(T) == 8 ? 1e-13 : 2e-5), n, " elements");
}
}  // namespace
TEST_CASE("shifts shorter and longer than packs and than what is added at once, more of them than are formed apart") {
  for (const int n : {70, 127, 128, 129, 130, 137, 145, 200, 255, 256, 257, 258, 263, 300, 520, 1000}) {
    products_of_shifted<double, 0, 1>(n);
    products_of_shifted<double, 3, 0, 2, 1, 17, 4>(n);
    products_of_shifted<double, 64, 0, 63>(n);
    products_of_shifted<float, 0, 1, 2>(n);
    products_of_shifted<float, 9, 0, 5, 6, 1, 33>(n);
  }
}
namespace {
/// Neighbours of two arrays in one statement: each gradient of x(i) x(i + 1) is x(i - 1) + x(i + 1).
template <class T, class U> void neighbours_of_two(int n) {
  const auto f = [](const auto& x, const auto& y) {
    const auto p = x(range(1, end)) * x(range(0, -1));
    const auto q = y(range(1, end)) * y(range(0, -1));
    return sum(real(p) + real(q));
  };
  const auto counting = [n]<class A>(std::type_identity<A>) {
    tensor<A, 1> a(n);
    for (int i = 0; i < n; ++i) a(i) = A(static_cast<float>(i * 7 % 11 - 5));
    return a;
  };
  const auto x = counting(std::type_identity<T>{});
  const auto y = counting(std::type_identity<U>{});
  const auto [gx, gy] = tt::grad<0, 1>(f)(x, y);
  int wrong = 0;
  const auto check = [&](const auto& g, const auto& of) {
    for (int i = 0; i < n; ++i) {
      using A = std::remove_cvref_t<decltype(of(0))>;
      const A left = i > 0 ? of(i - 1) : A(0), right = i + 1 < n ? of(i + 1) : A(0);
      wrong += A(g(i)) != left + right;
    }
  };
  check(gx, x);
  check(gy, y);
  CHECK_MESSAGE(wrong == 0, n, " elements");
}
}  // namespace
TEST_CASE("shifted views of arrays of two element types") {
  for (const int n : {50, 129, 400, 1000}) {
    neighbours_of_two<double, float>(n);
    neighbours_of_two<float, double>(n);
    neighbours_of_two<std::complex<double>, double>(n);
    neighbours_of_two<double, std::complex<float>>(n);
  }
}
TEST_CASE("parts of a gradient in bfloat16 are rounded once more, not twice") {
  const int n = 400;
  const auto f = [](const auto& x) { return sum(square(x(range(1, end)) - 3.0 * x(range(0, -1)))); };
  const tensor<tt::bfloat16, 1> x = tt::to<tt::bfloat16>(sin(tt::arange<double>(n)));
  const auto g = tt::grad(f)(x);
  int other = 0;
  for (int i = 0; i < n; ++i) {
    const auto rounded = [](float v) { return static_cast<float>(tt::bfloat16(v)); };
    const auto at = [&](int k) { return static_cast<float>(x(k)); };
    const auto part = [&](int k) { return 2 * (at(k + 1) - 3 * at(k)); };
    const float before = i > 0 ? part(i - 1) : 0, after = i + 1 < n ? -3 * part(i) : 0, got = static_cast<float>(tt::bfloat16(g(i)));
    other += got != rounded(before + rounded(after)) && got != rounded(after + rounded(before));
  }
  CHECK(other == 0);
}
TEST_CASE("a chained quadratic, whose parts are named twice") {
  for (const int n : {2, 3, 9, 10, 100, 129, 130, 1000}) {
    const tensor<double, 1> x = 1.0 + 0.3 * sin(2.0 * tt::arange<double>(n));
    const tensor<double, 1> g = tt::grad([](const auto& v) {
      const auto a = v(range(1, end)), b = v(range(0, -1));
      const auto c = a - b * b;
      const auto d = 1.0 - b;
      return sum(100.0 * (c * c) + d * d);
    })(x);
    double worst = 0, before = 0;
    for (int i = 0; i < n; ++i) {
      const double c = i + 1 < n ? x(i + 1) - x(i) * x(i) : 0.0, d = i + 1 < n ? 1 - x(i) : 0.0;
      worst = std::max(worst, std::abs(g(i) - (before - 400 * c * x(i) - 2 * d)));
      before = 200 * c;
    }
    CHECK(worst < 1e-12);
  }
}
TEST_CASE("three shifted views and the whole, in float") {
  const auto f = [](const auto& u) { return sum(u(range(2, end)) * u(range(1, -1)) * u(range(0, -2))) + sum(u); };
  const tensor<float, 1> u{1, 2, 3, 4, 5};
  const tensor<float, 1> g = tt::grad(f)(u), expected{7, 16, 31, 22, 13};
  for (int i = 0; i < 5; ++i) CHECK(g(i) == expected(i));
}
TEST_CASE("steps of a stencil that writes through views") {
  const auto f = []<class T>(const tensor<T, 1>& k) {
    tensor<T, 1> u{1, 3, 2, 5};
    for (int s = 0; s < 3; ++s) {
      const tensor<T, 1> flow = 0.1 * k * (u(range(1, end)) - u(range(0, -1)));
      u(range(0, -1)) += flow;
      u(range(1, end)) -= flow;
    }
    return sum(u * u);
  };
  const tensor<double, 1> k{1, 2, 3}, g = tt::grad(f)(k);
  for (int i = 0; i < 3; ++i) {
    tensor<double, 1> left = k, right = k;
    left(i) -= 1e-6;
    right(i) += 1e-6;
    CHECK(g(i) == doctest::Approx((f(right) - f(left)) / 2e-6).epsilon(1e-7));
  }
}
namespace {
constexpr int part = 40, parts = 12;
int moved;  // how often the array that is written was copied
template <class T> const void* place(const tensor<T, 1>& z) {
  if constexpr (std::is_same_v<T, double>) return z.elements().data();
  else if constexpr (std::is_same_v<T, tt::var<double>>) return z.elements().values().data();
  else return nullptr;
}
const auto by_parts = []<class T>(const tensor<T, 1>& x) {
  tensor<T, 1> z = x * 1.0;
  for (int k = part; k < parts * part; k += part) {
    const range here(k, k + part), before(k - part, k);
    const void* const at = place(z);
    z(here) += z(before) * x(range(0, part));
    z(here) = tanh(z(here) - z(before));
    z(before) = z(here);
    z(here) *= 2.0;
    moved += k > part && at != place(z);
  }
  return sum(z * z);
};
const auto by_elements = []<class T>(const tensor<T, 1>& x) {
  tensor<T, 1> z = x * 1.0;
  for (int i = part; i < parts * part; ++i) {
    z(i) += z(i - part) * x(i % part);
    z(i) = tanh(z(i) - z(i - part));
    z(i - part) = z(i);
    z(i) *= 2.0;
  }
  return sum(z * z);
};
}  // namespace
TEST_CASE("parts of an array written from its other parts: nothing but the parts is copied") {
  const tensor<double, 1> x = sin(tt::arange<double>(part * parts)), v = cos(tt::arange<double>(part * parts));
  const tensor<double, 1> g = tt::grad(by_parts)(x), expected = tt::grad(by_elements)(x);
  CHECK(by_parts(x) == doctest::Approx(by_elements(x)));
  CHECK(moved == 0);
  CHECK(tt::max(abs(g - expected)) < 1e-13);
  const tensor<double, 1> second = tt::hvp(by_elements, x, v);
  CHECK(tt::max(abs(tt::hvp(by_parts, x, v) - second)) < 1e-12);
  CHECK(tt::max(abs(tt::vhp(by_parts, x, v) - second)) < 1e-12);
}
TEST_CASE("a part of one element that a statement names twice, under vmap") {
  const tensor<double, 2> xs{{0.3, 0.7, -0.4}, {0.1, -0.2, 0.9}};
  const auto f = [](const auto& x) { return sum(x(range(1, 2)) * x(range(1, 2)) * x(range(1, 2))); };
  const tensor<double, 2> g = tt::vmap(tt::grad(f))(xs), want{{0, 3 * 0.7 * 0.7, 0}, {0, 3 * 0.2 * 0.2, 0}};
  CHECK(tt::max(abs(g - want)) < 1e-15);
}
TEST_CASE("element code under vmap keeps nothing") {
  const tensor<double, 1> x = tt::arange<double>(1000);
  const auto f = [](auto s) {
    for (int i = 0; i < 20; ++i) s = s * 0.5 + sin(s);
    return s;
  };
  tt::vmap(f)(x), tt::vmap(f)(x);
  const auto before = tt::mem::stats.system;
  CHECK(tt::vmap(f)(x)(3) != 0);
  if (TTENSOR_KEEPS_BLOCKS) CHECK(tt::mem::stats.system == before);  // else a sanitizer sees it
}
TEST_CASE("many parts read between two writes: those that are copied and those that are held") {
  const tensor<double, 1> x = tt::arange<double>(1000);
  const auto f = []<class T>(const tensor<T, 1>& a) {
    tensor<T, 1> u = a * 1.0;
    T s = 0;
    for (int k = 0; k < 2; ++k) {
      u(range(0, 2)) = 1.0 * k;
      for (int i = 0; i < 200; ++i) s += sum(square(u(range(i, i + 300))));
    }
    return s;
  };
  const tensor<double, 1> g = tt::grad(f)(x);
  CHECK(g(250) == 2 * 250.0 * 400);
  CHECK(g(3) == 2 * 3.0 * 8);
  CHECK(g(1) == 0);
}
}  // namespace overlap_test
