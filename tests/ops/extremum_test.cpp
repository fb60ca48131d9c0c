// max(x, axis, with_index): value and place; the derivative goes to that place only. Values are closed forms.
#include <doctest/doctest.h>

#include <limits>
#include <ttensor/all.hpp>

namespace extremum_test {
namespace tt = ttensor;
using namespace ttensor;

namespace {
using vec = tensor<double, 1>;
using mat = tensor<double, 2>;
using index_vec = tensor<std::int64_t, 1>;
template <class A, class B> bool equal(const A& a, const B& b) { return a.shape() == b.shape() && all(a == b); }
const mat m{{1, 5, 5}, {7, -2, 7}};  // ties in both rows
const double not_a_number = std::numeric_limits<double>::quiet_NaN();
}  // namespace

TEST_CASE("max and min with index: values, places, axes, keepdims") {
  const auto [values, indices] = max(m, 1, with_index);
  CHECK(equal(values, vec{5, 7}));
  CHECK(equal(indices, index_vec{1, 0}));
  const auto columns = max(m, -2, with_index);
  CHECK(equal(columns.values, vec{7, 5, 7}));
  CHECK(equal(columns.indices, index_vec{1, 0, 1}));
  const auto low = min(m * -1.0, 1, keepdims, with_index);  // an expression
  CHECK(equal(low.values, mat{{-5}, {-7}}));
  CHECK(equal(low.indices, tensor<std::int64_t, 2>{{1}, {0}}));
  const auto one = min(tensor<int, 1>{3, 1, 2}, 0, with_index);
  static_assert(std::is_same_v<decltype(one.values), int>);
  CHECK(one.values == 1);
  CHECK(one.indices == 1);
  const auto bad = max(vec{1, not_a_number, 9}, 0, with_index);
  CHECK(std::isnan(bad.values));
  CHECK(bad.indices == 1);
  CHECK(max(transpose(m), 0, with_index).values.shape() == dims<1>{{2}});
  CHECK(max(mat(0, 3), 1, with_index).values.shape() == dims<1>{{0}});
  CHECK_THROWS_AS(max(mat(2, 0), 1, with_index), tt::domain_error);
  CHECK_THROWS_AS(max(m, 2, with_index), axis_error);
}
TEST_CASE("max and min with index: the derivative goes to the index, ties included") {
  const auto f = [](const auto& x) { return sum(max(x, 1, with_index).values * vec{2, 3}); };
  const mat at{{0, 2, 0}, {3, 0, 0}};  // the first of equal elements
  CHECK(equal(tt::grad(f)(m), at));
  CHECK(equal(tt::grad([](const auto& x) { return sum(max(x, 1) * vec{2, 3}); })(m), mat{{0, 1, 1}, {1.5, 0, 1.5}}));  // shared evenly without
  const mat v{{1, 10, 100}, {2, 20, 200}};
  CHECK(tt::jvp(f, m, v).y_dot == 2 * 10 + 3 * 2);
  CHECK(equal(tt::jacfwd([](const auto& x) { return min(x, 0, with_index).values; })(m), tt::jacrev([](const auto& x) { return min(x, 0, with_index).values; })(m)));
  CHECK(equal(tt::jacrev([](const auto& x) { return min(x, 0, with_index).values; })(m)(all, 1, all), mat{{0, 0, 0}, {0, 1, 0}, {0, 0, 0}}));
  // second order: the square of the largest
  const auto square = [](const auto& x) { auto y = max(x, 0, with_index).values; return y * y; };
  const vec x{1, 4, 4};
  CHECK(equal(tt::grad(square)(x), vec{0, 8, 0}));
  for (const mat& h : {tt::hessian(square)(x), mat(tt::jacrev(tt::grad(square))(x))}) CHECK(equal(h, mat{{0, 0, 0}, {0, 2, 0}, {0, 0, 0}}));
  CHECK(tt::grad([](const auto& t) { return sum(t * max(t, 0, with_index).indices); })(x)(0) == 1);  // an index has no derivative
}
TEST_CASE("max with index: mapped") {
  const auto rows = vmap([](const auto& r) { return max(r, 0, with_index); })(m);
  CHECK(equal(rows.values, vec{5, 7}));
  CHECK(equal(rows.indices, index_vec{1, 0}));
  CHECK(equal(vmap(tt::grad([](const auto& r) { return max(r, 0, with_index).values; }))(m), mat{{0, 1, 0}, {1, 0, 0}}));
  CHECK(equal(tt::grad([](const auto& x) { return sum(vmap([](const auto& r) { return max(r, 0, with_index).values; })(x)); })(m), mat{{0, 1, 0}, {1, 0, 0}}));
  const auto kept = tt::vjp([](const auto& x) { return max(x, 1, with_index).values; }, m);
  CHECK(equal(kept.pull(vec{2, 3}), mat{{0, 2, 0}, {3, 0, 0}}));
}
}  // namespace extremum_test
