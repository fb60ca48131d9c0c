// math.hpp: every lane, every tail position and the scalar give the same bits; errors in ulp against long double; special
// values. Built for each instruction set and with TTENSOR_NO_SIMD. The table it prints is the one the headers quote.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "ttensor/num/math.hpp"
#include "ulp.hpp"

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

enum class grid { linear, logarithmic };

// One function, as a scalar, on n lanes, and exactly. Plain pointers: the loop below is compiled once per element type.
template <class T>
struct subject {
  const char* name;
  T (*scalar)(T);
  void (*lanes)(const T*, T*);
  int n;
  long double (*exact)(long double);
};

#define SUBJECT(T, registers, name, ...)                                                                             \
  subject<T> {                                                                                                       \
    #name, [](T x) { return fn::name(x); },                                                                          \
        [](const T* x, T* y) { fn::name(tt::pack<T, registers * tt::native_width_v<T>>::load(x)).store(y); },        \
        registers * tt::native_width_v<T>, [](long double x) -> long double { return __VA_ARGS__; }                  \
  }

// Largest error over [lo, hi], and the number of lanes or tail positions whose bits differ from the scalar's.
template <class T>
void measure(const subject<T>& f, double lo, double hi, grid g, double limit) {
  random_state next;
  double worst = 0;
  T worst_at = 0;
  long different = 0;
  for (int k = 0; k < 60000 / f.n; ++k) {
    T in[32], out[32];
    for (int i = 0; i < f.n; ++i) {
      const double u = next();
      in[i] = static_cast<T>(g == grid::linear ? lo + (hi - lo) * u : lo * std::exp(std::log(hi / lo) * u));
    }
    f.lanes(in, out);
    for (int i = 0; i < f.n; ++i) {
      different += !same(out[i], f.scalar(in[i]));
      const double e = ulp(out[i], f.exact(static_cast<long double>(in[i])));
      if (e > worst) worst = e, worst_at = in[i];
    }
  }
  std::printf("%-8s %-6s [%10g, %10g]  max ulp %.3f at %a\n", f.name, sizeof(T) == 4 ? "float" : "double", lo, hi, worst, double(worst_at));
  const std::string function = f.name;
  CAPTURE(function);
  CAPTURE(lo);
  CAPTURE(hi);
  CHECK(different == 0);
  CHECK(worst <= limit);
}

struct interval {
  double lo, hi;
  grid kind;
};
// Double uses two registers, float one.
template <int N>
void measure_both(const subject<float>& f, const subject<double>& d, double limit, const interval (&where)[N]) {
  for (const interval& i : where) {
    measure(f, i.lo, i.hi, i.kind, limit);
    measure(d, i.lo, i.hi, i.kind, limit);
  }
}
template <class V>
V trunc_of(V x) {
  return fn::trunc(x);
}
#define MEASURE(name, limit, ...)                                                                                          \
  {                                                                                                                        \
    const interval where[] = {__VA_ARGS__};                                                                                \
    measure_both(SUBJECT(float, 1, name, std::name(x)), SUBJECT(double, 2, name, std::name(x)), limit, where);             \
  }
constexpr grid linear = grid::linear, logarithmic = grid::logarithmic;

constexpr double no_fma = TTENSOR_HAS_FMA ? 0 : 0.2;  // without FMA some products round once more
const double inf = std::numeric_limits<double>::infinity();
const double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("errors in ulp, and scalar = lane") {
  MEASURE(exp, 1.1, {-87, 88, linear}, {-1, 1, linear}, {1e-30, 1, logarithmic})
  MEASURE(log, 1.0, {1e-37, 1e37, logarithmic}, {0.5, 2, linear}, {0.99, 1.01, linear})
  MEASURE(sin, 2.0 + no_fma, {-4, 4, linear}, {-1e5, 1e5, linear}, {1e-30, 1, logarithmic}, {1e5, 1e10, logarithmic})
  MEASURE(cos, 2.0 + no_fma, {-4, 4, linear}, {-1e5, 1e5, linear})
  MEASURE(tanh, 3.0, {-20, 20, linear}, {-1, 1, linear}, {1e-30, 1, logarithmic})
  MEASURE(sqrt, 0.51, {1e-37, 1e37, logarithmic})
  const interval where[] = {{-87, 87, linear}, {-2, 2, linear}};
  measure_both(SUBJECT(float, 1, sigmoid, 1 / (1 + std::exp(-x))), SUBJECT(double, 2, sigmoid, 1 / (1 + std::exp(-x))), 3.0, where);
}

TEST_CASE("errors in ulp: the rest of the exponential and logarithmic family") {
  MEASURE(expm1, 2.3, {-37, 88, linear}, {-1, 1, linear}, {1e-37, 1, logarithmic})
  MEASURE(exp2, 1.2, {-125, 127, linear})
  MEASURE(sinh, 2.7, {-88, 88, linear}, {-2, 2, linear}, {1e-37, 1, logarithmic})
  MEASURE(cosh, 2.0, {-88, 88, linear}, {-2, 2, linear})
  MEASURE(log2, 2.1 + 2 * no_fma, {1e-37, 1e37, logarithmic}, {0.5, 2, linear})
  MEASURE(log10, 2.0, {1e-37, 1e37, logarithmic}, {0.5, 2, linear})
  MEASURE(log1p, 1.5, {-0.999, 4, linear}, {1e-37, 1e37, logarithmic}, {0.2, 0.7, linear})
}

TEST_CASE("errors in ulp: erf, inverse trigonometry, tan") {
  MEASURE(erf, 3.0, {-6, 6, linear}, {-0.6, 0.6, linear}, {1e-37, 1, logarithmic})
  MEASURE(erfc, 5.0 + 10 * no_fma, {-6, 9, linear}, {-0.6, 0.6, linear}, {0.4, 4, linear})
  MEASURE(tan, 4.5, {-4, 4, linear}, {-1e5, 1e5, linear}, {1e-37, 1, logarithmic})
  MEASURE(atan, 2.0, {-10, 10, linear}, {-1, 1, linear}, {1e-37, 1e37, logarithmic})
  MEASURE(asin, 3.0, {-1, 1, linear}, {0.49, 0.52, linear}, {1e-37, 1, logarithmic})
  MEASURE(acos, 3.0, {-1, 1, linear}, {0.49, 0.52, linear}, {0.999, 1, linear})
#define ATAN2_SLICE(T, name, expression, ...)                                                                         \
  subject<T> {                                                                                                        \
    name, [](T x) { return expression; },                                                                             \
        [](const T* in, T* y) { const auto x = tt::pack<T, tt::native_width_v<T>>::load(in); (expression).store(y); },\
        tt::native_width_v<T>, [](long double x) -> long double { return __VA_ARGS__; }                               \
  }
  measure(ATAN2_SLICE(double, "atan2+", fn::atan2(x, x * 0 + 3.0), std::atan2(x, 3.0L)), -20, 20, linear, 2.0);
  measure(ATAN2_SLICE(double, "atan2-", fn::atan2(x, x * 0 - 3.0), std::atan2(x, -3.0L)), -20, 20, linear, 2.0);
  measure(ATAN2_SLICE(float, "atan2-", fn::atan2(x, x * 0 - 3.0f), std::atan2(x, -3.0L)), -20, 20, linear, 2.0);
}

TEST_CASE("pow: errors in ulp along x^y for fixed y and for fixed x; special values like C") {
  measure(ATAN2_SLICE(float, "pow(,2.5)", fn::pow(x, x * 0 + 2.5f), std::pow(x, 2.5L)), 1e-12, 1e12, logarithmic, 0.7);
  measure(ATAN2_SLICE(float, "pow(1.7,)", fn::pow(x * 0 + 1.7f, x), std::pow(static_cast<long double>(1.7f), x)), -160, 160, linear, 0.7);
  measure(ATAN2_SLICE(double, "pow(,2.5)", fn::pow(x, x * 0 + 2.5), std::pow(x, 2.5L)), 1e-100, 1e100, logarithmic, 1.3);
  measure(ATAN2_SLICE(double, "pow(,-.3)", fn::pow(x, x * 0 - 0.3), std::pow(x, static_cast<long double>(-0.3))), 0.5, 2, linear, 1.3);
  measure(ATAN2_SLICE(double, "pow(,1e3)", fn::pow(x, x * 0 + 1000), std::pow(x, 1000.0L)), 0.5, 2, linear, 1.3);
  measure(ATAN2_SLICE(double, "pow(1.7,)", fn::pow(x * 0 + 1.7, x), std::pow(static_cast<long double>(1.7), x)), -1300, 1300, linear, 1.3);
  measure(ATAN2_SLICE(double, "pow(-3,)", fn::pow(x * 0 - 3.0, trunc_of(x)), std::pow(-3.0L, std::trunc(x))), -600, 600, linear, 1.3);
  const double v[] = {0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 0.5, -0.5, inf, -inf, not_a_number, 1e-310, -1e-310, 1e300, 5e18, -3.0};
  for (double x : v)
    for (double y : v) {
      CAPTURE(x);
      CAPTURE(y);
      CHECK(ulp(fn::pow(x, y), std::pow(static_cast<long double>(x), static_cast<long double>(y))) <= 1);
      CHECK(same(fn::pow(tt::pack<double, tt::native_width_v<double>>(x), tt::pack<double, tt::native_width_v<double>>(y))[0], fn::pow(x, y)));
      const float fx = float(x), fy = float(y), want = std::pow(fx, fy), got = fn::pow(fx, fy);
      CHECK((same(got, want) || std::fabs(got - want) <= 1e-6f * std::fabs(want)));
      CHECK(same(fn::pow(tt::pack<float, tt::native_width_v<float>>(fx), tt::pack<float, tt::native_width_v<float>>(fy))[0], got));
    }
}

TEST_CASE_TEMPLATE("pow: whole exponents up to 3 are products, beside any others", T, float, double) {
  constexpr int n = tt::native_width_v<T>;
  const T inf = std::numeric_limits<T>::infinity(), tiny = std::numeric_limits<T>::denorm_min();
  const T bases[] = {T(1.1), T(-0.3), T(0), T(-0.0), inf, -inf, T(1e30), T(-1e-30), tiny, T(7) / 3, T(-12345.678)};
  const T exponents[] = {1, 2, 3, T(2.5), 4, -1, 0, T(0.5), T(-2)};
  for (const T b : bases)
    for (int first = 0; first < 9; ++first) {
      T x[n], y[n], z[n];
      for (int i = 0; i < n; ++i) x[i] = b, y[i] = exponents[(first + i) % 9];
      fn::pow(tt::pack<T, n>::load(x), tt::pack<T, n>::load(y)).store(z);
      for (int i = 0; i < n; ++i) CHECK(same(z[i], fn::pow(x[i], y[i])));
      const T all = fn::pow(tt::pack<T, n>(b), tt::pack<T, n>(exponents[first]))[n - 1];
      CHECK(same(all, fn::pow(b, exponents[first])));
    }
  for (T x = T(-2); x < 2; x += T(0.00713)) {
    CHECK(fn::pow(x, T(1)) == x);
    CHECK(fn::pow(x, T(2)) == x * x);
    CHECK(ulp(fn::pow(x, T(3)), static_cast<long double>(x) * x * x) <= 1.5);
  }
}
template <class T> void pow_of_far_exponents(double largest) {
  constexpr int n = tt::native_width_v<T>;
  random_state next;
  double worst = 0, worst_x = 0, worst_y = 0;
  long different = 0;
  for (int k = 0; k < 60000 / n; ++k) {
    T x[n], y[n], z[n];
    for (int i = 0; i < n; ++i) {
      const double u = next(), away = std::exp2(-1 - 51 * next());
      const double base[] = {std::exp(1400 * next() - 700), 2 * next(), 1 + away, 1 - away};
      x[i] = static_cast<T>((u < 0.2 ? -1 : 1) * base[static_cast<int>(4 * next())]);
      y[i] = static_cast<T>((next() < 0.5 ? -1 : 1) * 1e10 * std::exp(std::log(largest / 1e10) * next()));
    }
    fn::pow(tt::pack<T, n>::load(x), tt::pack<T, n>::load(y)).store(z);
    for (int i = 0; i < n; ++i) {
      different += !same(z[i], fn::pow(x[i], y[i]));
      const double e = ulp(z[i], std::pow(static_cast<long double>(x[i]), static_cast<long double>(y[i])));
      if (e > worst) worst = e, worst_x = double(x[i]), worst_y = double(y[i]);
    }
  }
  CAPTURE(worst_x);
  CAPTURE(worst_y);
  CHECK(different == 0);
  CHECK(worst <= 1.3);
}
TEST_CASE("pow: exponents far beyond every finite result") {
  CHECK(fn::pow(0.71810708836016912, 18458787599853492.0) == 0);
  CHECK(fn::pow(1.29330447, 3.06e16) == inf);
  pow_of_far_exponents<double>(1e300);
  pow_of_far_exponents<double>(1e20);  // where the rounding of y log x is of the size of its limits
  pow_of_far_exponents<float>(1e38);
}

TEST_CASE("double only: the far ends") {
  const auto e = SUBJECT(double, 1, exp, std::exp(x));
  measure(e, -708, 709.7, linear, 1.1);
  measure(e, -745, -708, linear, 1.1);  // subnormal results
  measure(SUBJECT(double, 1, erfc, std::erfc(x)), 1, 26.5, linear, 5.5 + 10 * no_fma);
  measure(SUBJECT(double, 1, log, std::log(x)), 1e-323, 1e-300, logarithmic, 1.0);
  measure(SUBJECT(double, 1, sigmoid, 1 / (1 + std::exp(-x))), -745, -700, linear, 3.0);
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

TEST_CASE("cos(0) is 1 and tan(x) is x near 0, with and without fused multiply-add") {
  for (const float x : {0.0f, -0.0f, 1e-8f, -1e-8f, 1e-30f}) CHECK(fn::cos(x) == 1);
  for (const double x : {0.0, -0.0, 1e-300}) CHECK(fn::cos(x) == 1);
  for (const float x : {1e-8f, -1e-30f}) CHECK(fn::tan(x) == x);
}
TEST_CASE_TEMPLATE("to whole numbers: what the C library gives, scalar = lane", T, float, double) {
  std::vector<T> values{T(0.0), T(-0.0), T(inf), T(-inf), T(not_a_number), std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest()};
  for (int e = -3; e < std::numeric_limits<T>::digits + 3; ++e)  // quarters and halves up to where there are none, and what lies beside them
    for (T x : {T(1), T(1.25), T(1.5), T(1.75)})
      for (T y : {std::ldexp(x, e), std::nextafter(std::ldexp(x, e), T(0)), std::nextafter(std::ldexp(x, e), T(1e30))}) values.push_back(y), values.push_back(-y);
  while (values.size() % tt::native_width_v<T>) values.push_back(T(2.5));
  constexpr int n = tt::native_width_v<T>;
  int wrong = 0;
  for (std::size_t at = 0; at < values.size(); at += n) {
    const T* x = &values[at];
    T y[n];
    const auto check = [&](auto lanes, auto one, auto library) {
      lanes(tt::pack<T, n>::load(x)).store(y);
      for (int i = 0; i < n; ++i) wrong += !same(double(y[i]), double(library(x[i]))) + !same(double(one(x[i])), double(library(x[i])));
    };
#define TO_WHOLE(name) check([](auto v) { return fn::name(v); }, [](T v) { return fn::name(v); }, [](T v) { return std::name(v); })
    TO_WHOLE(floor), TO_WHOLE(ceil), TO_WHOLE(trunc), TO_WHOLE(nearbyint);
  }
  CHECK(wrong == 0);
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
      SAME_AS_SCALAR(sqrt)
      SAME_AS_SCALAR(floor)
      SAME_AS_SCALAR(ceil)
      SAME_AS_SCALAR(trunc)
      SAME_AS_SCALAR(expm1)
      SAME_AS_SCALAR(sinh)
      SAME_AS_SCALAR(cosh)
      SAME_AS_SCALAR(exp2)
      SAME_AS_SCALAR(log2)
      SAME_AS_SCALAR(log10)
      SAME_AS_SCALAR(log1p)
      SAME_AS_SCALAR(erf)
      SAME_AS_SCALAR(erfc)
      SAME_AS_SCALAR(tan)
      SAME_AS_SCALAR(atan)
      SAME_AS_SCALAR(asin)
      SAME_AS_SCALAR(acos)
    }
  }
  for (float v : {0.0f, -0.0f, 0.3f, -0.3f, float(inf), float(-inf), 1e-40f, 1e30f}) {
    CAPTURE(v);
    const tt::pack<float, tt::native_width_v<float>> x(v);
    CHECK(same(fn::sqrt(x)[0], fn::sqrt(v)));
    CHECK(same(fn::floor(x)[0], fn::floor(v)));
    CHECK(same(fn::ceil(x)[0], fn::ceil(v)));
    CHECK(same(fn::trunc(x)[0], fn::trunc(v)));
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
  for (double v : values) {  // the same class of result as libm, and equal where libm is exact
    CAPTURE(v);
#define LIKE_LIBM(name) CHECK(ulp(fn::name(v), std::name(static_cast<long double>(v))) <= 3);
    LIKE_LIBM(expm1)
    LIKE_LIBM(sinh)
    LIKE_LIBM(cosh)
    LIKE_LIBM(exp2)
    LIKE_LIBM(log2)
    LIKE_LIBM(log10)
    LIKE_LIBM(log1p)
    LIKE_LIBM(erf)
    LIKE_LIBM(erfc)
    LIKE_LIBM(tan)
    LIKE_LIBM(atan)
    LIKE_LIBM(asin)
    LIKE_LIBM(acos)
    CHECK((v != v || std::signbit(fn::erf(v)) == std::signbit(v)));
    CHECK((v != v || std::signbit(fn::atan(v)) == std::signbit(v)));
    for (double w : values) {
      CAPTURE(w);
      CHECK(ulp(fn::atan2(v, w), std::atan2(static_cast<long double>(v), static_cast<long double>(w))) <= 2);
      if (v == v && w == w) CHECK(std::signbit(fn::atan2(v, w)) == std::signbit(v));
    }
    CHECK(std::signbit(fn::expm1(v)) == std::signbit(std::expm1(v)));
    CHECK((v != v || std::signbit(fn::sinh(v)) == std::signbit(v)));
    if (v >= -1) CHECK(std::signbit(fn::log1p(v)) == std::signbit(std::log1p(v)));
  }
  for (int k = -300; k <= 300; ++k) {
    CAPTURE(k);
    CHECK(fn::exp2(double(k)) == std::ldexp(1.0, k));
    CHECK(fn::log2(std::ldexp(1.0, k)) == k);
  }
  for (int k = 0; k <= 22; ++k) CHECK(fn::log10(std::pow(10.0, k)) == k);
  CHECK(fn::cosh(710.4) == doctest::Approx(std::cosh(710.4)).epsilon(1e-12));
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
