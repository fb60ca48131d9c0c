// docs/accuracy.md is true: no function errs by more than the page says, and every function is there.
//   accuracy_test <numbers per function> prints what it finds over that many, in the form of the page.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "accuracy.hpp"

namespace {
struct limits {
  double of_float, of_double;
};
/// The lines `| name | float | double | ... |` of the page.
std::map<std::string, limits> page() {
  std::map<std::string, limits> found;
  std::ifstream in(ACCURACY_PAGE);
  for (std::string line; std::getline(in, line);) {
    char name[32];
    limits l{};
    if (std::sscanf(line.c_str(), "| `%31[a-z0-9]` | %lf | %lf |", name, &l.of_float, &l.of_double) == 3) found[name] = l;
  }
  return found;
}
constexpr std::uint64_t seed = 88172645463325252u;
template <class T> void check(double limits::*limit) {
  const auto documented = page();
  const auto all = accuracy::subjects<T>();
  CHECK(documented.size() == all.size());
  for (const auto& f : all) {
    INFO(f.name);
    REQUIRE(documented.count(f.name) == 1);
    const auto e = accuracy::largest<T>(f, 20000, seed);
    CHECK_MESSAGE(e.ulp <= documented.at(f.name).*limit, e.ulp, " ulp at ", e.x, ", ", e.y);
  }
}
}  // namespace

TEST_CASE("errors in ulp of floats") { check<float>(&limits::of_float); }
TEST_CASE("errors in ulp of doubles") { check<double>(&limits::of_double); }
TEST_CASE("the measure sees an error") {
  CHECK(ulp(1.0f, 1.0 + 0x1p-23) == 1);
  CHECK(ulp(1.0, 1.0L + 0x1p-53L) == 0.5);
  CHECK(ulp(0.0f, 0x1p-148) == 2);
  CHECK(ulp(std::numeric_limits<float>::infinity(), 1e300) == 0);
  CHECK(ulp(1.0f, std::numeric_limits<double>::infinity()) > 1e8);
  CHECK(ulp(std::numeric_limits<double>::quiet_NaN(), 1.0L) > 1e8);
}

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::atol(argv[1]) : 0;
  if (count == 0) return doctest::Context(argc, argv).run();
  const auto floats = accuracy::subjects<float>();
  const auto doubles = accuracy::subjects<double>();
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const auto f = accuracy::largest(floats[i], count, seed), d = accuracy::largest(doubles[i], count, seed);
    std::printf("| `%s` | %.2f | %.2f | float at %.9g %.9g, double at %.17g %.17g |\n", floats[i].name.c_str(), f.ulp, d.ulp, f.x, f.y, d.x, d.y);
  }
}
