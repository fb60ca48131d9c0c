// half and bfloat16: all 65536 values there and back, rounding against exact arithmetic, limits.
#include <doctest/doctest.h>

#include <cmath>

#include "ttensor/num/half.hpp"

namespace tt = ttensor;

namespace {

// The value of a 16-bit pattern from its definition.
double value(std::uint32_t bits, int mantissa_bits, int bias) {
  const std::uint32_t m = bits & ((1u << mantissa_bits) - 1), e = (bits & 0x7fff) >> mantissa_bits;
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (e == (0x7fffu >> mantissa_bits)) return m ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  if (e == 0) return sign * std::ldexp(m, 1 - bias - mantissa_bits);
  return sign * std::ldexp(m + (1u << mantissa_bits), static_cast<int>(e) - bias - mantissa_bits);
}

template <class H>
void check_all(int mantissa_bits, int bias) {
  long bad = 0;
  for (std::uint32_t b = 0; b < 65536; ++b) {
    const H h = H::from_bits(static_cast<std::uint16_t>(b));
    const double v = value(b, mantissa_bits, bias);
    const float f = static_cast<float>(h);
    if (v != v) {
      bad += f == f || static_cast<float>(H(f)) == static_cast<float>(H(f));
      continue;
    }
    bad += static_cast<double>(f) != v || std::signbit(f) != std::signbit(v);
    bad += H(f).bits != b || H(v).bits != b;
    // The midpoint to the next larger magnitude goes to the even one; a hair to either side goes to the nearer one.
    const std::uint32_t up = b + 1;
    if ((b & 0x7fff) == (0x7fffu & ~((1u << mantissa_bits) - 1))) continue;  // infinity has no next
    const double next = std::isinf(value(up, mantissa_bits, bias))
                            ? v + (v - value(b - 1, mantissa_bits, bias))  // beyond the largest: as if the exponent went on
                            : value(up, mantissa_bits, bias);
    const double middle = v + (next - v) / 2;
    bad += H(middle).bits != ((b & 1) ? up : b);
    bad += H(std::nextafter(middle, v)).bits != b;
    bad += H(std::nextafter(middle, next)).bits != up;
    const float mf = static_cast<float>(middle);  // exact in float, except among bfloat16 subnormals' halves
    if (static_cast<double>(mf) == middle) {
      bad += H(mf).bits != ((b & 1) ? up : b);
      bad += H(std::nextafter(mf, static_cast<float>(v))).bits != b;
      if (std::abs(mf) < std::numeric_limits<float>::max()) bad += H(std::nextafter(mf, mf < 0 || std::signbit(mf) ? -INFINITY : INFINITY)).bits != up;
    }
  }
  CHECK(bad == 0);
}

}  // namespace

TEST_CASE("half: 65536 values, midpoints and their neighbours") { check_all<tt::half>(10, 15); }
TEST_CASE("bfloat16: 65536 values, midpoints and their neighbours") { check_all<tt::bfloat16>(7, 127); }

TEST_CASE("arithmetic rounds once from float; comparisons; limits") {
  using tt::half;
  const half a(1.5f), b(0.25f);
  CHECK(a + b == half(1.75f));
  CHECK(a - b == half(1.25f));
  CHECK(a * b == half(0.375f));
  CHECK(a / b == half(6));
  CHECK(-a == half(-1.5));
  CHECK(b < a);
  CHECK(half(0.0f) == -half(0.0f));
  CHECK(half(2049) == half(2048));  // ties to even
  CHECK(half(65536).bits == 0x7c00);
  CHECK(static_cast<float>(std::numeric_limits<half>::max()) == 65504.0f);
  CHECK(static_cast<float>(std::numeric_limits<half>::epsilon()) == 0x1p-10f);
  CHECK(static_cast<float>(std::numeric_limits<half>::min()) == 0x1p-14f);
  CHECK(static_cast<float>(std::numeric_limits<half>::denorm_min()) == 0x1p-24f);
  CHECK(static_cast<float>(std::numeric_limits<tt::bfloat16>::epsilon()) == 0x1p-7f);
  CHECK(static_cast<float>(std::numeric_limits<tt::bfloat16>::min()) == 0x1p-126f);
  CHECK(std::isinf(static_cast<float>(tt::bfloat16(1e39))));
  CHECK(!(std::numeric_limits<half>::quiet_NaN() == std::numeric_limits<half>::quiet_NaN()));
}

TEST_CASE("integers of 64 bits and long doubles are rounded once") {
  using tt::bfloat16;
  const auto of = [](auto x) { return double(float(bfloat16(x))); };
  const long long tie = (1LL << 62) + (1LL << 54);
  CHECK(of(tie) == 0x1p62);
  CHECK(of(tie + 1) == 0x1p62 + 0x1p55);
  CHECK(of(-tie - 1) == -0x1p62 - 0x1p55);
  CHECK(of(~0ull) == 0x1p64);
  CHECK(of(std::numeric_limits<long long>::min()) == -0x1p63);
  CHECK(of(1 + 0x1p-8L + 0x1p-60L) == 1 + 0x1p-7);
  CHECK(float(tt::half(1 + 0x1p-11L + 0x1p-62L)) == 1 + 0x1p-10f);
}
