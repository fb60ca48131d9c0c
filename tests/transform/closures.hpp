// Runs the programs of tests/gate/closures.md with every assignment of forward and reverse mode to their D's.
#pragma once
#include <doctest/doctest.h>

#include <ttensor/all.hpp>
#include <vector>

#include "gate/gate_reader.hpp"

namespace tt = ttensor;
using namespace ttensor;

namespace closures {
struct rev {
  template <class F> constexpr auto operator()(F f) const {
    return [f](auto x) { return tt::grad(f)(x); };
  }
  template <class F, class... X> constexpr auto operator()(F f, closing_over_t<X...> o) const {
    return [f, o](auto x) { return tt::grad(f, o)(x); };
  }
};
struct fwd {
  template <class F> constexpr auto operator()(F f) const {
    return [f](auto x) { return tt::jvp(f, x, decltype(x)(1)).y_dot; };
  }
  template <class F, class... X> constexpr auto operator()(F f, closing_over_t<X...> o) const {
    return [f, o](auto x) { return tt::jvp(f, x, decltype(x)(1), o).y_dot; };
  }
};
template <class T> struct pair_of { T a, b; };

inline std::vector<double> flat(double x) { return {x}; }
inline std::vector<double> flat(const pair_of<double>& p) { return {p.a, p.b}; }
inline std::vector<double> flat(const tensor<double, 1>& t) {
  std::vector<double> r;
  for (tt::index_t i = 0; i < t.size(); ++i) r.push_back(t(i));
  return r;
}
template <class Y> void compare(const char* name, const char* d, const Y& y) {
  INFO(name, " ", d);
  CHECK(gate::distance(flat(y), gate::closure_values().value(name).values) < 1e-13);
}
template <int N, template <class, class, class> class P> void check_all(const char* name) {
  compare(name, "forward", P<fwd, fwd, fwd>::run());
  if constexpr (N >= 1) compare(name, "reverse", P<rev, rev, rev>::run());
  if constexpr (N >= 2) compare(name, "reverse, forward", P<rev, fwd, fwd>::run());
  if constexpr (N >= 2) compare(name, "forward, reverse", P<fwd, rev, rev>::run());
  if constexpr (N >= 3) {
    compare(name, "f f r", P<fwd, fwd, rev>::run());
    compare(name, "f r f", P<fwd, rev, fwd>::run());
    compare(name, "r f r", P<rev, fwd, rev>::run());
    compare(name, "r r f", P<rev, rev, fwd>::run());
  }
}
}  // namespace closures

/// CLOSURE(name, how many D's, program): D1, D2, D3 stand for a derivative operator each.
#define CLOSURE(name, n, ...) CLOSURE_WITH(name, n, static_cast<void>(0), __VA_ARGS__)
#define CLOSURE_WITH(name, n, setup, ...)                                                                     \
  namespace closures {                                                                                        \
  template <class A, class B, class C> struct name##_program {                                                \
    static constexpr A D1{};                                                                                  \
    static constexpr B D2{};                                                                                  \
    static constexpr C D3{};                                                                                  \
    static auto run() {                                                                                       \
      [[maybe_unused]] const tensor<double, 1> v{1, 2, 3}, u{0.5, -1}, w{0.5, -1, 2};                         \
      setup;                                                                                                  \
      return __VA_ARGS__;                                                                                     \
    }                                                                                                         \
  };                                                                                                          \
  }                                                                                                           \
  TEST_CASE("closure " #name) { closures::check_all<n, closures::name##_program>(#name); }
