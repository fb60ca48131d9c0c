// philox.hpp: the published known answers are static_asserts in the header; here: distribution and range.
#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>

#include "ttensor/num/philox.hpp"

namespace tt = ttensor;

TEST_CASE("uniforms lie in [0, 1) and hit both ends") {
  CHECK(tt::uniform_float(0) == 0.0f);
  CHECK(tt::uniform_float(0xffffffffu) == 1.0f - 0x1p-24f);
  CHECK(tt::uniform_double(0, 0) == 0.0);
  CHECK(tt::uniform_double(0xffffffffu, 0xffffffffu) == 1.0 - 0x1p-53);
}

TEST_CASE("moments of uniforms and normals; streams and seeds differ") {
  constexpr int n = 100000;
  double u = 0, s1 = 0, s2 = 0, s4 = 0, cross = 0, f1 = 0, f2 = 0;
  for (int i = 0; i < n; ++i) {
    const auto b = tt::philox_bits(42, 7, static_cast<std::uint64_t>(i));
    u += tt::uniform_double(b.x[0], b.x[1]);
    const auto z = tt::normal_double(b.x[0], b.x[1], b.x[2], b.x[3]);
    s1 += z.first + z.second;
    s2 += z.first * z.first + z.second * z.second;
    s4 += z.first * z.first * z.first * z.first;
    cross += z.first * z.second;
    const auto f = tt::normal_float(b.x[0], b.x[1]);
    f1 += double(f.first);
    f2 += double(f.second) * double(f.second);
  }
  CHECK(u / n == doctest::Approx(0.5).epsilon(0.01));
  CHECK(std::abs(s1 / (2 * n)) < 0.01);
  CHECK(s2 / (2 * n) == doctest::Approx(1).epsilon(0.02));
  CHECK(s4 / n == doctest::Approx(3).epsilon(0.05));
  CHECK(std::abs(cross / n) < 0.01);
  CHECK(std::abs(f1 / n) < 0.01);
  CHECK(f2 / n == doctest::Approx(1).epsilon(0.02));
  CHECK(tt::philox_bits(1, 0, 0).x[0] != tt::philox_bits(2, 0, 0).x[0]);
  CHECK(tt::philox_bits(1, 0, 0).x[0] != tt::philox_bits(1, 1, 0).x[0]);
  CHECK(tt::philox_bits(1, 0, 0).x[0] != tt::philox_bits(1, 0, 1).x[0]);
}

TEST_CASE("the extreme bits give finite normals") {
  for (std::uint32_t a : {0u, 1u, 0xffffffffu})
    for (std::uint32_t b : {0u, 0x80000000u, 0xffffffffu}) {
      CHECK(std::isfinite(tt::normal_float(a, b).first));
      CHECK(std::isfinite(tt::normal_double(a, b, b, a).second));
    }
}
