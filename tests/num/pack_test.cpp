// pack.hpp: every operation on packs equals the operation on each lane; masks cross element widths; loads and stores convert.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <initializer_list>

#include "ttensor/num/math_core.hpp"
#include "ttensor/num/pack.hpp"

namespace tt = ttensor;
using tt::pack;

namespace {

template <class T, int N>
struct lanes {
  T a[N], b[N];
  lanes() {
    for (int i = 0; i < N; ++i) {
      a[i] = static_cast<T>((i * 7) % 11 - (std::numeric_limits<T>::is_signed ? 5 : 0));
      b[i] = static_cast<T>((i * 5) % 7);
    }
  }
};

template <class T, int N>
void check_arithmetic() {
  using P = pack<T, N>;
  CAPTURE(N);
  CAPTURE(sizeof(T));
  const lanes<T, N> v;
  const P a = P::load(v.a), b = P::load(v.b);
  P c = a;
  c += b;
  const P sum = a + b, difference = a - b, product = a * b, negative = -a, quotient = a / b, scaled = T(2) * a - T(1), fused = fma(a, b, T(3));
  const auto less = a < b, equal = a == b, either = less || equal, neither = !less && !equal;
  const P chosen = select(less, a, b), constant = select(equal, T(7), a);
  for (int i = 0; i < N; ++i) {
    const T x = v.a[i], y = v.b[i];
    CHECK(sum[i] == static_cast<T>(x + y));
    CHECK(c[i] == static_cast<T>(x + y));
    CHECK(difference[i] == static_cast<T>(x - y));
    CHECK(product[i] == static_cast<T>(x * y));
    CHECK(negative[i] == static_cast<T>(-x));
    if (y != T(0)) CHECK(quotient[i] == static_cast<T>(x / y));
    else if (std::numeric_limits<T>::is_integer) CHECK(quotient[i] == T(0));
    CHECK(scaled[i] == static_cast<T>(T(2) * x - T(1)));
    CHECK(fused[i] == static_cast<T>(x * y + T(3)));
    CHECK(less[i] == (x < y));
    CHECK((a <= b)[i] == (x <= y));
    CHECK((a > b)[i] == (x > y));
    CHECK((a >= b)[i] == (x >= y));
    CHECK((a != b)[i] == (x != y));
    CHECK(either[i] == (x <= y));
    CHECK(neither[i] == (x > y));
    CHECK(chosen[i] == (x < y ? x : y));
    CHECK(constant[i] == (x == y ? T(7) : x));
  }
  int below = 0;
  for (int i = 0; i < N; ++i) below += v.a[i] < v.b[i];
  CHECK(any_lane(less) == (below > 0));
  CHECK(all_lanes(less) == (below == N));
  CHECK(all_lanes(less | !less));
  CHECK(!any_lane(less & !less));
  bool bytes[N];
  less.store(bytes);
  CHECK(all_lanes(pack<bool, N>::load(bytes) == less));
}

template <class T, int N>
void check_bits() {
  const lanes<T, N> v;
  const auto a = pack<T, N>::load(v.a), b = pack<T, N>::load(v.b);
  for (int i = 0; i < N; ++i) {
    const T x = v.a[i], y = v.b[i];
    CHECK((a & b)[i] == static_cast<T>(x & y));
    CHECK((a | b)[i] == static_cast<T>(x | y));
    CHECK((a ^ b)[i] == static_cast<T>(x ^ y));
    CHECK((~a)[i] == static_cast<T>(~x));
    CHECK((a << 3)[i] == static_cast<T>(x << 3));
    CHECK((a >> 1)[i] == static_cast<T>(x >> 1));
    CHECK((a % b)[i] == (y == T(0) ? T(0) : static_cast<T>(x % y)));
  }
  constexpr T lowest = std::numeric_limits<T>::min();
  CHECK((pack<T, N>(lowest) / pack<T, N>(T(-1)))[0] == (std::numeric_limits<T>::is_signed ? lowest : T(0)));
  CHECK((pack<T, N>(lowest) - pack<T, N>(T(1)))[0] == std::numeric_limits<T>::max());  // wraps
}

// A mask made by comparing T selects packs of U.
template <class T, class U, int N>
void check_mask_across() {
  const lanes<T, N> v;
  const lanes<U, N> w;
  const auto m = pack<T, N>::load(v.a) > pack<T, N>::load(v.b);
  const auto r = select(m, pack<U, N>::load(w.a), pack<U, N>::load(w.b));
  const auto both = m & (pack<U, N>::load(w.a) > U(1));
  for (int i = 0; i < N; ++i) {
    CHECK(r[i] == (v.a[i] > v.b[i] ? w.a[i] : w.b[i]));
    CHECK(both[i] == (v.a[i] > v.b[i] && w.a[i] > U(1)));
    CHECK(convert<U>(m)[i] == static_cast<U>(v.a[i] > v.b[i]));
  }
}

template <class T, class U, int N>
void check_conversion() {
  T in[N];
  U out[N];
  for (int i = 0; i < N; ++i) in[i] = tt::simd::cast<T>(std::numeric_limits<U>::is_signed ? i - N / 2 : i);
  store_as(pack<T, N>::load(in), out);
  const auto loaded = tt::load_as<pack<U, N>>(in);
  const auto converted = convert<U>(pack<T, N>::load(in));
  for (int i = 0; i < N; ++i) {
    const U want = tt::simd::cast<U>(in[i]);
    CHECK(std::memcmp(&out[i], &want, sizeof(U)) == 0);
    CHECK(bool(loaded[i] == want));
    CHECK(bool(converted[i] == want));
  }
}

constexpr int W = tt::native_width_v<float>;  // lanes of float; twice those of double

}  // namespace

TEST_CASE_TEMPLATE("arithmetic, comparison, select equal those of each lane", T, float, double, std::int32_t, std::int64_t, std::int8_t, std::uint16_t) {
  check_arithmetic<T, W>();
}
TEST_CASE("several registers, odd sizes, one lane") {
  check_arithmetic<float, 4 * W>();
  check_arithmetic<double, W / 2>();
  check_arithmetic<float, 5>();
  check_arithmetic<double, 3>();
}
TEST_CASE_TEMPLATE("integer bits, division by zero, wrapping", T, std::int32_t, std::int64_t, std::int16_t, std::uint8_t, std::uint64_t) {
  check_bits<T, W>();
}
TEST_CASE("masks convert between element widths") {
  check_mask_across<float, double, W>();
  check_mask_across<double, float, W>();
  check_mask_across<double, std::int32_t, W>();
  check_mask_across<std::int64_t, float, 2 * W>();
  check_mask_across<std::int8_t, double, W>();
  check_mask_across<double, double, W / 2>();
  check_mask_across<float, std::int8_t, 5>();
}
TEST_CASE("converting loads, stores, packs") {
  check_conversion<float, double, W>();
  check_conversion<double, float, W>();
  check_conversion<float, std::int32_t, W>();
  check_conversion<std::int32_t, double, W>();
  check_conversion<std::int64_t, float, W>();
  check_conversion<double, std::int64_t, W>();
  check_conversion<std::int8_t, float, W>();
  check_conversion<float, std::uint8_t, W>();
  check_conversion<std::int16_t, std::int64_t, W>();
  check_conversion<tt::half, float, W>();
  check_conversion<float, tt::half, W>();
  check_conversion<tt::bfloat16, double, W>();
  check_conversion<double, tt::bfloat16, W>();
  bool bytes[W];
  for (int i = 0; i < W; ++i) bytes[i] = i % 3 == 0;
  const auto f = tt::load_as<pack<float, W>>(bytes);
  const auto m = tt::load_as<pack<bool, W>>(bytes);
  for (int i = 0; i < W; ++i) {
    CHECK(f[i] == (i % 3 == 0 ? 1.0f : 0.0f));
    CHECK(m[i] == bytes[i]);
  }
}
TEST_CASE_TEMPLATE("every half and bfloat16, and floats around every rounding boundary, convert as the scalar does", H, tt::half, tt::bfloat16) {
  long bad = 0;
  for (std::uint32_t b = 0; b < 65536; b += W) {
    H in[W], back[W];
    float wide[W];
    for (int i = 0; i < W; ++i) in[i] = H::from_bits(static_cast<std::uint16_t>(b + static_cast<std::uint32_t>(i)));
    tt::load_as<pack<float, W>>(in).store(wide);
    for (int i = 0; i < W; ++i) {
      const float want = static_cast<float>(in[i]);
      bad += std::memcmp(&wide[i], &want, 4) != 0;
    }
    for (std::uint32_t low : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      for (int i = 0; i < W; ++i) wide[i] = __builtin_bit_cast(float, ((b + static_cast<std::uint32_t>(i)) << 16) | low);
      store_as(pack<float, W>::load(wide), back);
      for (int i = 0; i < W; ++i) bad += back[i].bits != H(wide[i]).bits;
    }
  }
  CHECK(bad == 0);
}
TEST_CASE("fold combines lane i with lane i + n/2, in one fixed tree") {
  double x[8];
  for (int i = 0; i < 8; ++i) x[i] = i * 0.1 + 1e16 * (i == 2) - 1e16 * (i == 7);
  const auto add = [](double a, double b) { return a + b; };
  const double want = ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
  CHECK(fold(pack<double, 8>::load(x), add) == want);
}
TEST_CASE("broadcast keeps -0 and NaN; stream writes what store writes") {
  CHECK(std::signbit(pack<float, W>(-0.0f)[W - 1]));
  CHECK(pack<double, W>(std::numeric_limits<double>::quiet_NaN())[0] != 0);
  alignas(64) float out[4 * W] = {};
  float in[4 * W];
  for (int i = 0; i < 4 * W; ++i) in[i] = static_cast<float>(i);
  stream(pack<float, 4 * W>::load(in), out);
  tt::stream_fence();
  CHECK(std::memcmp(in, out, sizeof(in)) == 0);
}
TEST_CASE("NaN compares unequal to itself") {
  const pack<float, W> n(std::numeric_limits<float>::quiet_NaN());
  CHECK(!any_lane(n == n));
  CHECK(all_lanes(n != n));
  CHECK(!any_lane(n < n));
  CHECK(!any_lane(n >= n));
}
