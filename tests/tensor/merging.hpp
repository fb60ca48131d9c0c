// What the tests of merged programs share: statements that name arrays and expressions several times.
#pragma once
#include <ttensor/all.hpp>
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>

namespace merge_test {
namespace tt = ttensor;
using tt::index_t;
using vec = tt::tensor<double, 1>;

template <class T> tt::tensor<T, 1> wave(index_t n, double phase) {
  tt::tensor<T, 1> x(n);
  for (index_t i = 0; i < n; ++i) x.data()[i] = static_cast<T>(std::sin(0.37 * static_cast<double>(i) + phase) + 0.2);
  return x;
}
template <class T> bool same_bits(const tt::tensor<T, 1>& a, const tt::tensor<T, 1>& b) {
  return a.size() == b.size() && (a.size() == 0 || std::memcmp(a.data(), b.data(), sizeof(T) * static_cast<std::size_t>(a.size())) == 0);
}
inline constexpr index_t sizes[] = {0, 1, 3, 7, 8, 16, 17, 64, 1000, 70001};  // the last: sums of several blocks

inline constexpr auto two_waves = [](const auto& a, const auto& b, const auto& c, const auto& d) { return exp(-a * b) * sin(c) + tanh(d); };
// 1 / u six times over: a is each time another name.
template <class A, class B> auto lennard_jones(double c, double d, const A& a, const B& b) {
  const auto i2 = c / a;
  const auto j2 = d / b;
  const auto i6 = i2 * j2 * i2;
  return 4.0 * (i6 * i6 - i6);
}
template <class A> auto lennard_jones(const A& a) {
  const auto i2 = 1.0 / a;
  const auto i6 = i2 * i2 * i2;
  return 4.0 * (i6 * i6 - i6);
}
template <class A> auto sigmoid_slope(const A& a) {
  const auto s = 1.0 / (1.0 + exp(-a));
  return s * (1.0 - s);
}
template <class A, class B, class C> auto distances(const A& a, const B& b, const C& c) {
  const auto i2 = 1.0 / ((a - 0.5) * (a - 0.5) + (b + 0.25) * (b + 0.25) + (c - 0.5) * (c - 0.5));
  const auto i6 = i2 * i2 * i2;
  return 4.0 * (i6 * i6 - i6);
}
inline constexpr auto with_let = [](const auto& a) {
  return let(1.0 / a, [](auto i2) { return let(i2 * i2 * i2, [](auto i6) { return 4.0 * (i6 * i6 - i6); }); });
};
}  // namespace merge_test
