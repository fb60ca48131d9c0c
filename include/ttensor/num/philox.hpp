// Philox4x32-10: random bits as a pure function of (counter, key). No state, so any lane, thread or device can produce
// element i by itself, in any order, with the same bits.
//
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 4 and table 2.
// One round: (c0, c1, c2, c3) -> (hi(m1 c2) ^ c1 ^ k0, lo(m1 c2), hi(m0 c0) ^ c3 ^ k1, lo(m0 c0)); between rounds the key
// advances by two Weyl constants. Ten rounds.
#pragma once
#include <cstdint>

#include "math.hpp"

TTENSOR_BEGIN

/// Four 32-bit words: a Philox counter or its output. A plain aggregate: std::array's members are host only.
struct philox_block {
  std::uint32_t x[4];
};
struct philox_key {
  std::uint32_t x[2];
};

/// The ten-round Philox4x32 bijection of `counter` under `key`.
TTENSOR_HD constexpr philox_block philox4x32(philox_block counter, philox_key key) {
  std::uint32_t c0 = counter.x[0], c1 = counter.x[1], c2 = counter.x[2], c3 = counter.x[3], k0 = key.x[0], k1 = key.x[1];
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t(0xD2511F53u) * c0, p1 = std::uint64_t(0xCD9E8D57u) * c2;
    c0 = std::uint32_t(p1 >> 32) ^ c1 ^ k0;
    c1 = std::uint32_t(p1);
    c2 = std::uint32_t(p0 >> 32) ^ c3 ^ k1;
    c3 = std::uint32_t(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

/// Block number `index` of stream `stream` under a 64-bit seed.
TTENSOR_HD constexpr philox_block philox_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return philox4x32({{std::uint32_t(index), std::uint32_t(index >> 32), std::uint32_t(stream), std::uint32_t(stream >> 32)}},
                    {{std::uint32_t(seed), std::uint32_t(seed >> 32)}});
}

/// Uniform in [0, 1) from the upper 24 bits: every value k / 2^24, equally likely.
TTENSOR_HD constexpr float uniform_float(std::uint32_t bits) { return float(bits >> 8) * 0x1p-24f; }
/// Uniform in [0, 1) from 53 bits: every value k / 2^53, equally likely.
TTENSOR_HD constexpr double uniform_double(std::uint32_t high, std::uint32_t low) {
  return double((std::uint64_t(high) << 21) ^ (low >> 11)) * 0x1p-53;
}
/// The same in a 16-bit type, rounded down: rounded to nearest it could be 1.
template <class T> TTENSOR_HD constexpr T uniform_short(std::uint32_t bits) {
  const std::uint32_t dropped = (1u << (24 - std::numeric_limits<T>::digits)) - 1;
  return T(detail::bits_float(detail::float_bits(uniform_float(bits)) & ~dropped));
}

template <class T>
struct normal_pair {
  T first, second;
};

/// Two independent standard normals (Box and Muller 1958): radius sqrt(-2 log(1 - u)), angle 2 pi v. 1 - u is never 0.
/// Largest magnitude: 5.77 in float, 8.57 in double.
TTENSOR_HD inline normal_pair<float> normal_float(std::uint32_t a, std::uint32_t b) {
  const float radius = math::sqrt(-2.0f * math::log(1.0f - uniform_float(a)));
  const float angle = 0x1.921fb6p+2f * uniform_float(b);
  return {radius * math::cos(angle), radius * math::sin(angle)};
}
TTENSOR_HD inline normal_pair<double> normal_double(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  const double radius = math::sqrt(-2.0 * math::log(1.0 - uniform_double(a, b)));
  const double angle = 0x1.921fb54442d18p+2 * uniform_double(c, d);
  return {radius * math::cos(angle), radius * math::sin(angle)};
}

// Known answers published with the paper (Random123, kat_vectors).
static_assert([] {
  constexpr philox_block zero = philox4x32({{0, 0, 0, 0}}, {{0, 0}});
  return zero.x[0] == 0x6627e8d5 && zero.x[1] == 0xe169c58d && zero.x[2] == 0xbc57ac4c && zero.x[3] == 0x9b00dbd8;
}());
static_assert([] {
  constexpr std::uint32_t f = 0xffffffff;
  constexpr philox_block ones = philox4x32({{f, f, f, f}}, {{f, f}});
  return ones.x[0] == 0x408f276d && ones.x[1] == 0x41c83b0e && ones.x[2] == 0xa20bc7c6 && ones.x[3] == 0x6d5451fd;
}());
static_assert([] {
  constexpr philox_block pi = philox4x32({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, {{0xa4093822, 0x299f31d0}});
  return pi.x[0] == 0xd16cfe09 && pi.x[1] == 0x94fdcceb && pi.x[2] == 0x5001e420 && pi.x[3] == 0x24126ea1;
}());

TTENSOR_END
