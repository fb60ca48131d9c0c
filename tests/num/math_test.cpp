// math.hpp: every lane, every tail position and the scalar give the same bits; errors in ulp against long double; special
// values. Built for each instruction set and with TTENSOR_NO_SIMD. The table it prints is the one the headers quote.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <cstring>

#include "ttensor/num/math.hpp"

namespace tt = ttensor;
namespace fn = ttensor::math;

namespace {

struct random_state {
  std::uint64_t s = 88172645463325252u;
  double operator()() {  // uniform in [0, 1)
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return double(s >> 11) * 0x1p-53;
  }
};

template <class T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0 || (a != a && b != b);
}

// Distance in units of the last place of the exact result rounded to T (subnormals: of the smallest one).
template <class T>
double ulp(T got, long double want) {
  const T rounded = static_cast<T>(want);
  if (std::isinf(got) || std::isinf(rounded) || got != got || rounded != rounded) return same(got, rounded) ? 0 : 1e9;
  int e;
  std::frexp(rounded, &e);
  const int lowest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  const int unit = e - std::numeric_limits<T>::digits;
  return double(std::fabs((static_cast<long double>(got) - want) / std::ldexp(1.0L, unit < lowest ? lowest : unit)));
}

enum class grid { linear, logarithmic };

// Largest error over [lo, hi], and the number of lanes or tail positions whose bits differ from the scalar's.
template <class T, int N, class F, class G>
void measure(const char* name, double lo, double hi, grid g, double limit, F f, G exact) {
  using pack = tt::pack<T, N>;
  random_state next;
  double worst = 0;
  T worst_at = 0;
  long different = 0;
  constexpr int rounds = 60000 / N;
  for (int k = 0; k < rounds; ++k) {
    T in[N], out[N];
    for (int i = 0; i < N; ++i) {
      const double u = next();
      in[i] = static_cast<T>(g == grid::linear ? lo + (hi - lo) * u : lo * std::exp(std::log(hi / lo) * u));
    }
    f(pack::load(in)).store(out);
    for (int i = 0; i < N; ++i) {
      different += !same(out[i], f(in[i]));
      const double e = ulp(out[i], exact(static_cast<long double>(in[i])));
      if (e > worst) worst = e, worst_at = in[i];
    }
  }
  std::printf("%-8s %-6s [%10g, %10g]  max ulp %.3f at %a\n", name, sizeof(T) == 4 ? "float" : "double", lo, hi, worst, double(worst_at));
  CAPTURE(name);
  CAPTURE(lo);
  CAPTURE(hi);
  CHECK(different == 0);
  CHECK(worst <= limit);
}

template <class F, class G>
void measure_both(const char* name, double lo, double hi, grid g, double limit, F f, G exact) {
  measure<float, tt::native_width_v<float>>(name, lo, hi, g, limit, f, exact);
  measure<double, 2 * tt::native_width_v<double>>(name, lo, hi, g, limit, f, exact);  // two registers
}

#define MEASURE(name, lo, hi, grid_kind, limit) \
  measure_both(#name, lo, hi, grid::grid_kind, limit, [](auto x) { return fn::name(x); }, [](long double x) { return std::name(x); })

constexpr double no_fma = TTENSOR_HAS_FMA ? 0 : 0.2;  // without FMA some products round once more
const double inf = std::numeric_limits<double>::infinity();
const double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("errors in ulp, and scalar = lane") {
  MEASURE(exp, -87, 88, linear, 1.1);
  MEASURE(exp, -1, 1, linear, 1.1);
  MEASURE(exp, 1e-30, 1, logarithmic, 1.1);
  MEASURE(log, 1e-37, 1e37, logarithmic, 1.0);
  MEASURE(log, 0.5, 2, linear, 1.0);
  MEASURE(log, 0.99, 1.01, linear, 1.0);
  MEASURE(sin, -4, 4, linear, 2.0 + no_fma);
  MEASURE(sin, -1e5, 1e5, linear, 2.0 + no_fma);
  MEASURE(sin, 1e-30, 1, logarithmic, 2.0 + no_fma);
  MEASURE(sin, 1e5, 1e10, logarithmic, 1.0);
  MEASURE(cos, -4, 4, linear, 2.0 + no_fma);
  MEASURE(cos, -1e5, 1e5, linear, 2.0 + no_fma);
  MEASURE(tanh, -20, 20, linear, 3.0);
  MEASURE(tanh, -1, 1, linear, 3.0);
  MEASURE(tanh, 1e-30, 1, logarithmic, 3.0);
  MEASURE(sqrt, 1e-37, 1e37, logarithmic, 0.51);
  const auto sigmoid = [](long double x) { return 1 / (1 + std::exp(-x)); };
  measure_both("sigmoid", -87, 87, grid::linear, 4.0, [](auto x) { return fn::sigmoid(x); }, sigmoid);
  measure_both("sigmoid", -2, 2, grid::linear, 4.0, [](auto x) { return fn::sigmoid(x); }, sigmoid);
}

TEST_CASE("double only: the far ends") {
  constexpr int n = tt::native_width_v<double>;
  const auto f = [](auto x) { return fn::exp(x); };
  const auto g = [](long double x) { return std::exp(x); };
  measure<double, n>("exp", -708, 709.7, grid::linear, 1.1, f, g);
  measure<double, n>("exp", -745, -708, grid::linear, 1.1, f, g);  // subnormal results
  measure<double, n>("log", 1e-323, 1e-300, grid::logarithmic, 1.0, [](auto x) { return fn::log(x); }, [](long double x) { return std::log(x); });
  measure<double, n>("sigmoid", -745, -700, grid::linear, 4.0, [](auto x) { return fn::sigmoid(x); }, [](long double x) { return 1 / (1 + std::exp(-x)); });
}

TEST_CASE("float: near multiples of pi, and every exponent") {
  constexpr int n = tt::native_width_v<float>;
  double worst_sin = 0, worst_cos = 0;
  for (int k = 1; k < 31830; k += n) {
    float x[n], s[n], c[n];
    for (int i = 0; i < n; ++i) x[i] = static_cast<float>((k + i) * 1.57079632679489661923L);
    fn::sin(tt::pack<float, n>::load(x)).store(s);
    fn::cos(tt::pack<float, n>::load(x)).store(c);
    for (int i = 0; i < n; ++i) {
      worst_sin = std::fmax(worst_sin, ulp(s[i], std::sin(static_cast<long double>(x[i]))));
      worst_cos = std::fmax(worst_cos, ulp(c[i], std::cos(static_cast<long double>(x[i]))));
      CHECK(same(s[i], fn::sin(x[i])));
      CHECK(same(c[i], fn::cos(x[i])));
    }
  }
  std::printf("sin, cos float at multiples of pi/2 up to 5e4: max ulp %.3f, %.3f\n", worst_sin, worst_cos);
  CHECK(worst_sin <= 2.0 + no_fma);
  CHECK(worst_cos <= 2.0 + no_fma);
}

TEST_CASE("special values, scalar and lane") {
  const double tiny = std::numeric_limits<double>::denorm_min(), huge = std::numeric_limits<double>::max();
  const double values[] = {0.0, -0.0, inf, -inf, not_a_number, tiny, -tiny, huge, -huge, 0x1p-1022, 1.0, -1.0, 709.8, -745.2, 746, -746, 1e5, 1.0000001e5, 1e22};
  for (double v : values) {
    CAPTURE(v);
    // One special value among ordinary ones must not disturb them, whatever lane it is in.
    constexpr int n = tt::native_width_v<double>;
    for (int at = 0; at < n; ++at) {
      double x[n], y[n];
      for (int i = 0; i < n; ++i) x[i] = i == at ? v : 0.5 + i;
#define SAME_AS_SCALAR(name)                      \
  fn::name(tt::pack<double, n>::load(x)).store(y); \
  for (int i = 0; i < n; ++i) CHECK(same(y[i], fn::name(x[i])));
      SAME_AS_SCALAR(exp)
      SAME_AS_SCALAR(log)
      SAME_AS_SCALAR(sin)
      SAME_AS_SCALAR(cos)
      SAME_AS_SCALAR(tanh)
      SAME_AS_SCALAR(sigmoid)
      SAME_AS_SCALAR(abs)
      SAME_AS_SCALAR(floor)
    }
  }
  CHECK(fn::exp(0.0) == 1);
  CHECK(same(fn::exp(-inf), 0.0));
  CHECK(fn::exp(inf) == inf);
  CHECK(fn::exp(710.0) == inf);
  CHECK(same(fn::exp(-746.0), 0.0));
  CHECK(std::isnan(fn::exp(not_a_number)));
  CHECK(fn::exp(-745.0) == tiny);  // gradual underflow
  CHECK(fn::log(0.0) == -inf);
  CHECK(fn::log(-0.0) == -inf);
  CHECK(std::isnan(fn::log(-1.0)));
  CHECK(std::isnan(fn::log(-inf)));
  CHECK(fn::log(inf) == inf);
  CHECK(same(fn::log(1.0), 0.0));
  CHECK(ulp(fn::log(tiny), std::log(static_cast<long double>(tiny))) <= 1);
  CHECK(same(fn::sin(-0.0), -0.0));
  CHECK(std::isnan(fn::sin(inf)));
  CHECK(fn::sin(tiny) == tiny);
  CHECK(fn::cos(0.0) == 1);
  CHECK(std::isnan(fn::cos(-inf)));
  CHECK(same(fn::tanh(-0.0), -0.0));
  CHECK(fn::tanh(inf) == 1);
  CHECK(fn::tanh(-inf) == -1);
  CHECK(fn::tanh(40.0) == 1);
  CHECK(std::isnan(fn::tanh(not_a_number)));
  CHECK(fn::tanh(tiny) == tiny);
  CHECK(fn::sigmoid(0.0) == 0.5);
  CHECK(fn::sigmoid(inf) == 1);
  CHECK(same(fn::sigmoid(-inf), 0.0));
  CHECK(fn::sigmoid(-745.0) == tiny);
  CHECK(std::isnan(fn::sigmoid(not_a_number)));
  CHECK(fn::exp(-104.0f) == 0.0f);
  CHECK(fn::exp(-103.0f) == std::numeric_limits<float>::denorm_min());
  CHECK(std::isinf(fn::exp(89.0f)));
  CHECK(fn::tanh(20.0f) == 1.0f);
}

TEST_CASE("maximum and minimum: NaN propagates, +0 is above -0") {
  const double v[] = {0.0, -0.0, 1.0, -1.0, inf, -inf, not_a_number};
  constexpr int n = tt::native_width_v<double>;
  for (double a : v)
    for (double b : v) {
      CAPTURE(a);
      CAPTURE(b);
      const double high = a != a || b != b ? not_a_number : a == 0 && b == 0 ? (std::signbit(a) && std::signbit(b) ? -0.0 : 0.0) : a < b ? b : a;
      const double low = a != a || b != b ? not_a_number : a == 0 && b == 0 ? (std::signbit(a) || std::signbit(b) ? -0.0 : 0.0) : b < a ? b : a;
      CHECK(same(fn::maximum(a, b), high));
      CHECK(same(fn::minimum(a, b), low));
      CHECK(same(fn::maximum(tt::pack<double, n>(a), tt::pack<double, n>(b))[0], high));
      CHECK(same(fn::minimum(tt::pack<double, n>(a), tt::pack<double, n>(b))[0], low));
      CHECK(same(fn::maximum(float(a), float(b)), float(high)));
    }
  CHECK(fn::maximum(std::int32_t(-3), std::int32_t(2)) == 2);
}

TEST_CASE("a product inside a kernel never fuses with the caller's sum") {
  constexpr int n = tt::native_width_v<double>;
  random_state next;
  for (int k = 0; k < 200; ++k) {
    double x[n], y[n];
    for (int i = 0; i < n; ++i) x[i] = 4 * next() - 2;
    const auto p = tt::pack<double, n>::load(x);
    (fn::exp(p) + fn::sin(p) - fn::log(p) + fn::tanh(p)).store(y);
    for (int i = 0; i < n; ++i) CHECK(same(y[i], fn::exp(x[i]) + fn::sin(x[i]) - fn::log(x[i]) + fn::tanh(x[i])));
  }
}
