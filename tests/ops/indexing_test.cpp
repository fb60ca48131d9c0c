// Values of take, gather and scatter_add, their errors, and mapped indices.
#include <doctest/doctest.h>

#include <ttensor/all.hpp>

namespace indexing_test {
namespace tt = ttensor;
using tt::index_t;

namespace {
template <class T, int R> std::vector<T> list(const tt::tensor<T, R>& t) { return std::vector<T>(t.data(), t.data() + t.size()); }
using ints = tt::tensor<int, 1>;
}  // namespace

TEST_CASE("take follows numpy.take") {
  const tt::tensor<double, 2> x{{1, 2, 3}, {4, 5, 6}};
  const auto y = take(x, ints{2, 0, -1, 0}, 1);
  CHECK(y.shape() == tt::dims<2>{{2, 4}});
  CHECK(list(y) == std::vector<double>{3, 1, 3, 1, 6, 4, 6, 4});
  CHECK(list(take(x, ints{1, 1}, 0)) == std::vector<double>{4, 5, 6, 4, 5, 6});
  CHECK(list(take(x, ints{1}, -2)) == std::vector<double>{4, 5, 6});
  const tt::tensor<std::int64_t, 2> grid{{0, 1}, {2, 2}};
  const auto z = take(x, grid, 1);
  CHECK(z.shape() == tt::dims<3>{{2, 2, 2}});
  CHECK(list(z) == std::vector<double>{1, 2, 3, 3, 4, 5, 6, 6});
  CHECK(list(take(transpose(x), ints{2}, 0)) == std::vector<double>{3, 6});
  CHECK(take(x, tt::tensor<int, 0>(1), 0).shape() == tt::dims<1>{{3}});
  CHECK(take(x, ints(0), 1).shape() == tt::dims<2>{{2, 0}});
  CHECK(list(take(tt::tensor<bool, 1>{true, false}, ints{1, 0}, 0)) == std::vector<bool>{false, true});
}
TEST_CASE("one integer removes the axis") {
  const tt::tensor<double, 2> x{{1, 2, 3}, {4, 5, 6}};
  CHECK(list(take(x, 1, 0)) == std::vector<double>{4, 5, 6});
  CHECK(take(tt::tensor<double, 1>{7, 8}, -1, 0) == 8.0);
}
TEST_CASE("gather follows torch.gather") {
  const tt::tensor<double, 2> x{{1, 2}, {3, 4}};
  CHECK(list(gather(x, 1, tt::tensor<int, 2>{{0, 0}, {1, 0}})) == std::vector<double>{1, 1, 4, 3});
  CHECK(list(gather(x, 0, tt::tensor<int, 2>{{1, 0}})) == std::vector<double>{3, 2});
}
TEST_CASE("scatter_add follows torch.scatter_add and leaves x alone") {
  const tt::tensor<double, 2> x{{1, 1, 1}, {2, 2, 2}}, src{{10, 20, 30}, {40, 50, 60}};
  CHECK(list(scatter_add(x, 1, tt::tensor<int, 2>{{0, 0, 2}, {1, 1, 1}}, src)) == std::vector<double>{31, 1, 31, 2, 152, 2});
  CHECK(list(scatter_add(x, 0, tt::tensor<int, 2>{{1, 0, 1}}, src)) == std::vector<double>{1, 21, 1, 12, 2, 32});
  CHECK(list(x) == std::vector<double>{1, 1, 1, 2, 2, 2});
  CHECK(list(scatter_add(tt::tensor<int, 1>{1, 2}, 0, ints{-1, -1}, tt::tensor<int, 1>{5, 6})) == std::vector<int>{1, 13});
}
TEST_CASE("gradients: repeated positions add, positions nobody reads get zero") {
  const tt::tensor<double, 1> x{1, 2, 3};
  const auto g = tt::grad([](const auto& a) { return sum(take(a, ints{0, 2, 2}, 0) * tt::tensor<double, 1>{1, 10, 100}); })(x);
  CHECK(list(g) == std::vector<double>{1, 0, 110});
  // src longer than the index: what no position names gets zero
  const auto s = tt::grad([](const auto& a) { return sum(scatter_add(tt::zeros<double>(2), 0, ints{1, 1}, a) * tt::tensor<double, 1>{3, 5}); })(x);
  CHECK(list(s) == std::vector<double>{5, 5, 0});
  const auto q = tt::grad([](const auto& a) { return sum(gather(a, 0, ints{2, 2}) * tt::tensor<double, 1>{3, 5}); })(x);
  CHECK(list(q) == std::vector<double>{0, 0, 8});
}
TEST_CASE("mapped values with a shared index, shared values with a mapped index, both mapped") {
  const tt::tensor<double, 2> x{{1, 2, 3}, {4, 5, 6}};
  const tt::tensor<int, 2> at{{0, 2}, {1, 1}};
  const auto pick = [](const auto& a, const auto& i) { return take(a, i, 0); };
  CHECK(list(tt::vmap(pick, tt::in_axes<0, tt::none>)(x, ints{2, 1})) == std::vector<double>{3, 2, 6, 5});
  CHECK(list(tt::vmap(pick, tt::in_axes<tt::none, 0>)(tt::tensor<double, 1>{7, 8, 9}, at)) == std::vector<double>{7, 9, 8, 8});
  CHECK(list(tt::vmap(pick)(x, at)) == std::vector<double>{1, 3, 5, 5});
}
TEST_CASE("rows of a shared table: the gradient adds over the examples") {
  const tt::tensor<double, 2> table{{1, 2}, {3, 4}, {5, 6}};
  const tt::tensor<int, 2> words{{0, 2}, {2, 2}};
  const auto loss = [&](const auto& t) {
    return sum(tt::vmap([](const auto& i, const auto& m) { return sum(take(m, i, 0)); }, tt::in_axes<0, tt::none>)(words, t));
  };
  CHECK(list(tt::grad(loss)(table)) == std::vector<double>{1, 1, 0, 0, 3, 3});
}
TEST_CASE("an inner level over indices does not meet an outer level over values") {
  const tt::tensor<double, 2> x{{1, 2}, {3, 4}};
  const ints at{1, 0};
  const auto y = tt::vmap([&](const auto& row) { return tt::vmap([&](const auto& i) { return take(row, i, 0); })(at); })(x);
  REQUIRE(y.size() == 4);
  CHECK(std::vector<double>(y.data(), y.data() + 4) == std::vector<double>{2, 1, 4, 3});
}
TEST_CASE("elements of integer tensors are indices") {
  tt::tensor<double, 2> x{{1, 2}, {3, 4}};
  ints i{1, 0};
  CHECK(x(i(0), 0) == 3);
  x(i(1), i(0)) = 9;
  CHECK(x(0, 1) == 9);
  CHECK(tt::max(tt::tensor<double, 1>(x(i(0)))) == 4);
  CHECK(tt::zeros<double>(i(0), 2).size() == 2);
  CHECK_THROWS_AS(x(tt::range(0, i(0)), i(0) + 2), tt::index_error);
}

TEST_CASE_TEMPLATE("short floats are added in float where an index repeats, and rounded once", T, tt::half, tt::bfloat16) {
  const tt::tensor<T, 1> x{T(1.0f), T(2.0f), T(3.0f)};
  const auto first = tt::zeros<int>(5000);
  const auto g = tt::grad([&](const auto& t) { return sum(take(t, first, 0)); })(x);
  CHECK(float(T(g(0))) == float(T(5000.0f)));
  CHECK(float(T(g(1))) == 0);
  CHECK(float(T(tt::eval(tt::scatter_add(x, 0, first, tt::ones<T>(5000)))(0))) == float(T(float(T(5000.0f)) + 1.0f)));
}

TEST_CASE("scatter_add of whole rows and columns: the transpose of take") {
  const tt::tensor<double, 2> x(4, 3), s{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  const tt::tensor<int, 1> i{1, -1, 1};
  CHECK(tt::all(scatter_add(x, 0, i, s) == tt::tensor<double, 2>{{0, 0, 0}, {8, 10, 12}, {0, 0, 0}, {4, 5, 6}}));
  CHECK(tt::all(scatter_add(transpose(x), 1, i, transpose(s)) == transpose(scatter_add(x, 0, i, s))));
  const auto squares = [&](const auto& t) {
    const auto y = scatter_add(x, 0, i, t);
    return sum(y * y);
  };
  CHECK(tt::all(tt::grad(squares)(s) == 2 * take(scatter_add(x, 0, i, s), i, 0)));
  const auto mapped = tt::vmap([&](const auto& k) { return scatter_add(x, 0, k, s); })(tt::tensor<int, 2>{{0, 1, 1}, {3, 3, 3}});
  CHECK(tt::all(mapped(0) == scatter_add(x, 0, tt::tensor<int, 1>{0, 1, 1}, s)));
  CHECK(tt::all(mapped(1) == scatter_add(x, 0, tt::tensor<int, 1>{3, 3, 3}, s)));
  CHECK_THROWS_AS(scatter_add(x, 0, tt::tensor<int, 1>{4, 0, 0}, s), tt::index_error);
  CHECK_THROWS_WITH_AS(scatter_add(x, 0, tt::tensor<int, 1>{0, 0, 0, 0}, s), doctest::Contains("TT-S21"), tt::shape_error);
}
}  // namespace indexing_test
