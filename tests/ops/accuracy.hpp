// The largest error of every function in ulp, over numbers of every size: what docs/accuracy.md says. Errors of floats are measured in
// double, those of doubles in long double (64 bits of significand). Statements over arrays; scalars give the same bits (num/math_test.cpp).
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <ttensor/tensor.hpp>
#include <vector>
#include "ulp.hpp"

namespace accuracy {
namespace tt = ttensor;

template <class T> using array = tt::tensor<T, 1>;
template <class T> using wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

/// Numbers: of every exponent; of sizes between 2^-20 and 2^20; evenly between -limit and limit for limits 1, 10, 100 and 1000.
class numbers {
 public:
  explicit numbers(std::uint64_t seed) : s_(seed) {}
  template <class T> T next() {
    using bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
    const std::uint64_t k = draw(), kind = draw() % 6;
    const double u = static_cast<double>(k >> 11) * 0x1p-53;  // [0, 1)
    if (kind == 0) {
      const T x = std::bit_cast<T>(static_cast<bits>(draw() >> (64 - 8 * sizeof(bits))));
      return std::isfinite(x) ? x : T(0.5);
    }
    if (kind == 1) return static_cast<T>((draw() & 1 ? 1 : -1) * std::exp2(40 * u - 20));
    return static_cast<T>((2 * u - 1) * std::pow(10.0, static_cast<double>(kind - 2)));
  }

 private:
  std::uint64_t draw() { return s_ ^= s_ << 13, s_ ^= s_ >> 7, s_ ^= s_ << 17; }
  std::uint64_t s_;
};

struct error {
  double ulp = 0, x = 0, y = 0;
};
/// One function, of one or two arguments (the second is there and not used); `inside` are the arguments that count.
template <class T> struct subject {
  std::string name;
  int arity;
  std::function<array<T>(const array<T>&, const array<T>&)> computed;
  wide<T> (*exact)(wide<T>, wide<T>);
  bool (*inside)(T, T);
};

template <class T> error largest(const subject<T>& f, long count, std::uint64_t seed) {
  error worst;
  numbers draw(seed);
  const tt::index_t n = 4096;
  array<T> x(n), y(n);
  for (long done = 0; done < count; done += n) {
    for (tt::index_t i = 0; i < n; ++i) {
      do {
        x.data()[i] = draw.next<T>(), y.data()[i] = f.arity > 1 ? draw.next<T>() : T(0);
      } while (!f.inside(x.data()[i], y.data()[i]));
    }
    const array<T> got = f.computed(x, y);
    for (tt::index_t i = 0; i < n; ++i) {
      const double e = ulp<T>(got.data()[i], f.exact(x.data()[i], y.data()[i]));
      if (!(e <= worst.ulp)) worst = {e, static_cast<double>(x.data()[i]), static_cast<double>(y.data()[i])};
    }
  }
  return worst;
}

#define ACCURACY_OF(name, arity, inside, ...)                                                                                         \
  subject<T> {                                                                                                                        \
    #name, arity, [](const array<T>& x, [[maybe_unused]] const array<T>& y) -> array<T> { return ACCURACY_CALL_##arity(name); },      \
        []([[maybe_unused]] W x, [[maybe_unused]] W y) -> W { return __VA_ARGS__; }, []([[maybe_unused]] T x, [[maybe_unused]] T y) -> bool { return inside; } \
  }
#define ACCURACY_CALL_1(name) tt::name(x)
#define ACCURACY_CALL_2(name) tt::name(x, y)

/// Every function whose result is rounded more than once, or by a kernel of ours. The others (arithmetic, sqrt, fma, rounding, comparisons) are exact.
template <class T> std::vector<subject<T>> subjects() {
  using W = wide<T>;
  using std::fabs;
  return {
      ACCURACY_OF(exp, 1, true, std::exp(x)),
      ACCURACY_OF(exp2, 1, true, std::exp2(x)),
      ACCURACY_OF(expm1, 1, true, std::expm1(x)),
      ACCURACY_OF(log, 1, true, std::log(x)),
      ACCURACY_OF(log2, 1, true, std::log2(x)),
      ACCURACY_OF(log10, 1, true, std::log10(x)),
      ACCURACY_OF(log1p, 1, true, std::log1p(x)),
      ACCURACY_OF(sin, 1, fabs(x) <= T(1e5), std::sin(x)),
      ACCURACY_OF(cos, 1, fabs(x) <= T(1e5), std::cos(x)),
      ACCURACY_OF(tan, 1, fabs(x) <= T(1e5), std::tan(x)),
      ACCURACY_OF(asin, 1, fabs(x) <= 1, std::asin(x)),
      ACCURACY_OF(acos, 1, fabs(x) <= 1, std::acos(x)),
      ACCURACY_OF(atan, 1, true, std::atan(x)),
      ACCURACY_OF(sinh, 1, true, std::sinh(x)),
      ACCURACY_OF(cosh, 1, true, std::cosh(x)),
      ACCURACY_OF(tanh, 1, true, std::tanh(x)),
      ACCURACY_OF(asinh, 1, true, std::asinh(x)),
      ACCURACY_OF(acosh, 1, x >= 1, std::acosh(x)),
      ACCURACY_OF(atanh, 1, fabs(x) <= 1, std::atanh(x)),
      ACCURACY_OF(erf, 1, true, std::erf(x)),
      ACCURACY_OF(erfc, 1, true, std::erfc(x)),
      ACCURACY_OF(cbrt, 1, true, std::cbrt(x)),
      ACCURACY_OF(rsqrt, 1, x > 0, 1 / std::sqrt(x)),
      ACCURACY_OF(sigmoid, 1, true, 1 / (1 + std::exp(-x))),
      ACCURACY_OF(logsigmoid, 1, true, x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x))),
      ACCURACY_OF(softplus, 1, true, x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x))),
      ACCURACY_OF(silu, 1, x > (sizeof(T) == 4 ? T(-80) : T(-700)), x / (1 + std::exp(-x))),
      ACCURACY_OF(gelu, 1, x >= -1, x / 2 * std::erfc(-x * W(0.70710678118654752440084436210484903928L))),
      ACCURACY_OF(pow, 2, x >= 0, std::pow(x, y)),
      ACCURACY_OF(atan2, 2, true, std::atan2(x, y)),
      ACCURACY_OF(hypot, 2, true, std::hypot(x, y)),
      ACCURACY_OF(xlogy, 2, y > 0, x == 0 ? W(0) : x * std::log(y)),
      ACCURACY_OF(logaddexp, 2, x > 1 || y > 1 || (x < T(-1.4) && y < T(-1.4)), (x > y ? x : y) + std::log1p(std::exp(-std::fabs(x - y)))),
  };
}
#undef ACCURACY_OF
#undef ACCURACY_CALL_1
#undef ACCURACY_CALL_2
}  // namespace accuracy
