// The state of a mapped while_loop: what is chosen example by example meets the levels of the rest, constants and counters too.
#include <doctest/doctest.h>

#include <ttensor/all.hpp>

namespace while_test {
namespace tt = ttensor;
using tt::tensor;

namespace {
template <class T> struct particle { T x, count; int unused; };
const tensor<double, 1> starts{1.5, 7, 20};  // doubled until 10: three times, once, never
const auto small = [](const auto& s) { return get<0>(s) < 10.0; };
const auto doubled = [](const auto& s) { return std::tuple{get<0>(s) * 2.0, get<1>(s) + 1.0, get<2>(s) + 1}; };
/// (2^k x)^2 (k + 1) + k: a state of x, a constant and an integer.
const auto f = [](const auto& x) {
  const auto s = while_loop(small, doubled, std::tuple{x, 1.0, 0}, tt::max_trips{5});
  return get<0>(s) * get<0>(s) * get<1>(s) + get<2>(s);
};
const auto g = [](const auto& x) {  // the same with the state in an aggregate
  const auto s = while_loop([](const auto& p) { return p.x < 10.0; }, [](const auto& p) {
    auto q = p;
    q.x = p.x * 2.0, q.count = p.count + 1.0;
    return q;
  }, particle<tt::scalar_t<decltype(x)>>{x, 1.0, 0}, tt::max_trips{5});
  return s.x * s.x * s.count + (s.count - 1.0);
};
constexpr double value[] = {144 * 4 + 3, 196 * 2 + 1, 400}, slope[] = {2 * 12 * 8 * 4, 2 * 14 * 2 * 2, 40}, bend[] = {2 * 64 * 4, 2 * 4 * 2, 2};
void check(const tensor<double, 1>& y, const double (&want)[3]) {
  REQUIRE(y.size() == 3);
  for (int i = 0; i < 3; ++i) CHECK(y(i) == want[i]);
}
template <class F> void every_order(const F& h) {
  const auto ones = tt::ones<double>(3);
  const auto total = [&](const auto& x) { return sum(tt::vmap(h)(x)); };
  check(tt::vmap(h)(starts), value);
  check(tt::vmap(tt::grad(h))(starts), slope);
  check(tt::grad(total)(starts), slope);
  check(tt::jvp(tt::vmap(h), starts, ones).y_dot, slope);
  check(tt::vmap([&](const auto& x) { return tt::jvp(h, x, 1.0).y_dot; })(starts), slope);
  check(tt::jvp(tt::grad(total), starts, ones).y_dot, bend);
  check(tt::vmap(tt::grad(tt::grad(h)))(starts), bend);
  check(tt::grad([&](const auto& x) { return sum(tt::vmap(tt::grad(h))(x)); })(starts), bend);
}
}  // namespace

TEST_CASE("constants and integers beside a mapped number") { every_order(f); }
TEST_CASE("an aggregate") { every_order(g); }
TEST_CASE("a captured bound that is mapped over a number that is not") {
  const auto to = [](const auto& x, const auto& bound) {  // 2^k x k
    const auto s = while_loop([&](const auto& p) { return p.first < bound; }, [](const auto& p) { return std::pair{p.first * 2.0, p.second + 1.0}; }, std::pair{x, 0.0}, tt::max_trips{5});
    return s.first * s.second;
  };
  const tensor<double, 1> bounds{3, 10, 1};
  const auto all_of = [&](const auto& x) { return tt::vmap([&](const auto& b) { return to(x, b); })(bounds); };
  check(all_of(1.5), {3, 36, 0});
  check(tt::jvp(all_of, 1.5, 1.0).y_dot, {2, 24, 0});
  CHECK(tt::grad([&](const auto& x) { return sum(all_of(x)); })(1.5) == 26);
  check(tt::vmap([&](const auto& b) { return tt::grad([&](const auto& x) { return to(x, b); })(1.5); })(bounds), {2, 24, 0});
}
}  // namespace while_test
