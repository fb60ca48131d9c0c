// Control flow inside derivatives.
#include "closures.hpp"

CLOSURE(cond_taken, 2, D1([](auto x) { return x * D2([&](auto y) {
  return cond(y > 0.0, [&](auto t) { return x * t; }, [](auto t) { return t * t; }, y); })(2.0); })(3.0))
CLOSURE(cond_not_taken, 2, D1([](auto x) { return x * D2([&](auto y) {
  return cond(y > 0.0, [&](auto t) { return x * t; }, [](auto t) { return t * t; }, y); })(-2.0); })(3.0))
CLOSURE(cond_predicate_captured, 2, D1([](auto x) { return D2([&](auto y) {
  return cond(x > 0.0, [&](auto t) { return x * x * t; }, [](auto t) { return t; }, y * y); })(2.0); })(3.0))
CLOSURE(where_captured, 2, D1([](auto x) { return x * D2([&](auto y) { return where(y > 0.0, x * y, y * y); })(2.0); })(3.0))
CLOSURE(for_loop_captured, 2, D1([](auto x) { return D2([&](auto y) { return for_loop(3, [&](int, auto s) { return s * x; }, y); })(2.0); })(3.0))
CLOSURE(scan_captured, 2, D1([&](auto x) { return D2([&](auto y) {
  return scan([&](auto c, auto t) { return std::pair{c * x + t * y, c}; }, y, v).first; })(2.0); })(3.0))
CLOSURE(while_loop_captured, 0, D1([](auto x) { return D2([&](auto y) {
  return while_loop([](auto s) { return s < 100.0; }, [&](auto s) { return s * x; }, y); })(2.0); })(3.0))

TEST_CASE("while_loop in reverse mode with a bound") {
  const double g = tt::grad([](auto x) { return tt::grad([&](auto y) {
    return while_loop([](auto s) { return s < 100.0; }, [&](auto s) { return s * x; }, y, max_trips{10}); })(2.0); })(3.0);
  CHECK(g == doctest::Approx(108));
}
