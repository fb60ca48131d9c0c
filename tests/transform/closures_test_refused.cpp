// Programs that must be refused at run time, in release builds too; those refused by the compiler are in
// tests/compile_fail/closures.cpp.
#include "closures.hpp"

#include <any>
#include <exception>
#include <functional>
#include <thread>

namespace {
std::any leaked;
struct tower {
  int n;
  template <class T> T operator()(T x) const {
    if (n == 0) return x * x * x;
    return x * x * tt::grad(tower{n - 1})(2.0);
  }
};
}  // namespace

TEST_CASE("an outer variable leaked through a global") {
  const auto read = [](auto y) { return y * std::any_cast<decltype(y)>(leaked); };
  CHECK_THROWS_AS(tt::grad([&](auto x) { leaked = x; return x * tt::grad(read)(2.0); })(3.0), level_error);
  const auto only = [](auto y) { return std::any_cast<decltype(y)>(leaked); };
  CHECK_THROWS_AS(tt::grad([&](auto x) { leaked = x; return x * tt::grad(only)(2.0); })(3.0), level_error);
  leaked.reset();
}
TEST_CASE("a value outlives its level") {
  static var<double> kept;
  tt::grad([&](auto x) { kept = x; return x * x; })(2.0);
  CHECK_THROWS_AS(kept * kept, level_error);
  static tensor<var<double>, 1> array;
  tt::grad([&](auto x) { array = x; return sum(x * x); })(tensor<double, 1>{1, 2});
  CHECK_THROWS_AS((tensor<var<double>, 1>(array * 2.0)), level_error);
}
TEST_CASE("a pullback outlives the outer level") {
  static std::function<var<double>(double)> stored;
  tt::grad([&](auto x) {
    auto r = tt::vjp([x](auto t) { return x * t * t; }, 3.0);
    if constexpr (is_var_v<decltype(x)>) stored = [pull = r.pull](double ct) { return pull(ct); };
    return r.y;
  })(2.0);
  CHECK_THROWS_AS(stored(1.0), level_error);
}
TEST_CASE("recording on another thread") {
  const auto f = [](auto x) {
    auto y = x;
    std::exception_ptr failed;
    std::thread([&] {
      try {
        y = x * x;
      } catch (...) {
        failed = std::current_exception();
      }
    }).join();
    if (failed) std::rethrow_exception(failed);
    return y;
  };
  CHECK_THROWS_AS(tt::grad(f)(2.0), level_error);
}
TEST_CASE("an outer variable that meets the inner one in what becomes a plain number only") {
  const auto count = [](const auto& a) { return [&](const auto& x) { return x * x * static_cast<int>(floor(x * a)); }; };
  CHECK(tt::grad([&](const auto& a) { return a * tt::grad(count(a), tt::closing_over(a))(1.5); })(1.7) == 6);
  CHECK_THROWS_AS(tt::grad([&](const auto& a) { return a * tt::grad(count(a))(1.5); })(1.7), level_error);
}
