// The texts of the errors of contractions, indexing and factorisations: what happened, with values, and what to do.
#include <doctest/doctest.h>

#include <ttensor/all.hpp>

namespace tt = ttensor;

namespace {
template <class Error, class F> std::string text(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}
using ints = tt::tensor<int, 1>;
}  // namespace

TEST_CASE("matmul, dot") {
  const auto a = tt::zeros<double>(4, 3), b = tt::zeros<double>(5, 2);
  const auto v = tt::zeros<double>(3), w = tt::zeros<double>(4);
  CHECK(text<tt::shape_error>([&] { matmul(a, b); }) == "[matmul] inner extents differ: (4,3) x (5,2), 3 != 5 [TT-S02]");
  CHECK(text<tt::shape_error>([&] { matmul(a, w); }) == "[matmul] inner extents differ: (4,3) x (4,), 3 != 4 [TT-S02]");
  CHECK(text<tt::shape_error>([&] { matmul(v, w); }) == "[matmul] inner extents differ: (3,) x (4,), 3 != 4 [TT-S02]");
  CHECK(text<tt::shape_error>([&] { dot(v, w); }) == "[dot] inner extents differ: (3,) x (4,), 3 != 4 [TT-S02]");
  CHECK(text<tt::shape_error>([&] { dot(v, tt::zeros<double>(1)); }) == "[dot] inner extents differ: (3,) x (1,), 3 != 1 [TT-S02]");
  CHECK(text<tt::shape_error>([&] { matmul(tt::zeros<double>(2, 4, 3), tt::zeros<double>(5, 3, 1)); }) ==
        "[matmul] leading extents do not broadcast: (2,4,3) x (5,3,1), 2 and 5; they must be equal or 1 [TT-S20]");
}
TEST_CASE("the same text inside a transform") {
  const auto a = tt::zeros<double>(4, 3);
  CHECK(text<tt::shape_error>([&] { tt::grad([](const auto& x) { return sum(matmul(x, x)); })(a); }) ==
        "[matmul] inner extents differ: (4,3) x (4,3), 3 != 4 [TT-S02]");
}
TEST_CASE("take, gather, scatter_add") {
  tt::tensor<double, 2> x(2, 3);
  CHECK(text<tt::index_error>([&] { take(x, ints{0, 3}, 1); }) == "[take] index 3 is out of range for axis 1 of extent 3 [TT-I01]");
  CHECK(text<tt::index_error>([&] { take(x, ints{-3}, 0); }) == "[take] index -3 is out of range for axis 0 of extent 2 [TT-I01]");
  CHECK(text<tt::axis_error>([&] { take(x, ints{0}, 2); }) == "[take] axis 2 is outside [-2, 2); give an axis of the array [TT-A01]");
  CHECK(text<tt::index_error>([&] { gather(x, 0, tt::tensor<int, 2>{{0, 0, 2}}); }) == "[gather] index 2 is out of range for axis 0 of extent 2 [TT-I01]");
  CHECK(text<tt::shape_error>([&] { gather(x, 0, tt::tensor<int, 2>(1, 4)); }) ==
        "[gather] the index (1,4) is longer than the array (2,3) on axis 1, 4 > 3 [TT-S21]");
  CHECK(text<tt::shape_error>([&] { scatter_add(x, 0, tt::tensor<int, 2>(2, 3), tt::zeros<double>(1, 3)); }) ==
        "[scatter_add] the index (2,3) is longer than src (1,3) on axis 0, 2 > 1 [TT-S21]");
}
TEST_CASE("reshape names the shape that was asked for") {
  const auto a = tt::zeros<double>(3, 4);
  CHECK(text<tt::shape_error>([&] { reshape(a, 5, -1); }) == "[reshape] 12 elements do not fit the shape (5,-1); the extents must multiply to them, one may be -1 [TT-S13]");
  CHECK(text<tt::shape_error>([&] { reshape(a, -1, -1); }) == "[reshape] 12 elements do not fit the shape (-1,-1); the extents must multiply to them, one may be -1 [TT-S13]");
  CHECK(text<tt::shape_error>([&] { reshape(a, 5, 2); }) == "[reshape] 12 elements do not fit the shape (5,2); the extents must multiply to them, one may be -1 [TT-S13]");
}
TEST_CASE("an index out of range changes nothing") {
  tt::tensor<double, 1> x{1, 2, 3};
  CHECK(text<tt::index_error>([&] { x = scatter_add(x, 0, ints{0, 5}, tt::tensor<double, 1>{1, 1}); }) ==
        "[scatter_add] index 5 is out of range for axis 0 of extent 3 [TT-I01]");
  CHECK(x(0) == 1.0);
  CHECK(text<tt::index_error>([&] {
          tt::vmap([](const auto& a) { return take(a, ints{4}, 0); })(tt::zeros<double>(2, 3));
        }) == "[take] index 4 is out of range for axis 0 of extent 3 [TT-I01]");
}
TEST_CASE("cholesky, triangular_solve") {
  const tt::tensor<double, 2> a{{1, 2}, {2, 1}};
  CHECK(text<tt::domain_error>([&] { cholesky(a); }) ==
        "[cholesky] not positive definite: pivot 1 is -3.000000; check the matrix or add a multiple of the identity [TT-D10]");
  auto many = tt::zeros<double>(2, 2, 2);
  many(0) = tt::eye<double>(2);
  CHECK(text<tt::domain_error>([&] { cholesky(many); }) ==
        "[cholesky] not positive definite: pivot 0 of matrix 1 is 0.000000; check the matrix or add a multiple of the identity [TT-D10]");
  CHECK(text<tt::shape_error>([&] { cholesky(tt::zeros<double>(2, 3)); }) ==
        "[cholesky] the matrix is not square: (2,3); its last two extents must be equal [TT-S22]");
  CHECK(text<tt::shape_error>([&] { triangular_solve(a, tt::zeros<double>(3)); }) ==
        "[triangular_solve] inner extents differ: (2,2) x (3,), 2 != 3 [TT-S02]");
}

TEST_CASE("extents that cannot be") {
  CHECK(text<tt::shape_error>([] { tt::tensor<double, 2>(3, -1); }) == "[tensor] negative extent -1 on axis 1; extents are 0 or more [TT-S24]");
  CHECK(text<tt::shape_error>([] { tt::linspace(0.0, 1.0, -2); }) == "[tensor] negative extent -2 on axis 0; extents are 0 or more [TT-S24]");
  const tt::index_t many = tt::index_t(1) << 32;
  CHECK(text<tt::shape_error>([&] { tt::ones<double>(many, many); }) == "[tensor] shape (4294967296,4294967296) has more elements than memory has bytes; make its extents smaller [TT-S25]");
  CHECK_THROWS_AS(tt::uninitialized<char>(many, many / 2), tt::shape_error);
  CHECK_THROWS_AS((tt::tensor<double, 1>(many << 29)), tt::shape_error);
  CHECK(tt::tensor<double, 3>(many, many, 0).size() == 0);
  double one = 1;
  CHECK_THROWS_AS(tt::view(&one, {2, -2}), tt::shape_error);
  CHECK_THROWS_AS(tt::normal<double>(tt::rng(1), {3, -1}), tt::shape_error);
  CHECK_THROWS_AS(tt::arange(0.0, 1e300, 1.0), tt::shape_error);
  CHECK_THROWS_AS(broadcast_to(tt::ones<double>(1), {many, many}), tt::shape_error);
  CHECK_THROWS_AS(reshape(tt::zeros<double>(0), many, many), tt::shape_error);
  const auto tall = broadcast_to(tt::ones<double>(1), {many});  // extents that operands have, and their product has not
  CHECK(text<tt::shape_error>([&] { tt::eval(unsqueeze(tall, 0) + unsqueeze(tall, 1)); }) ==
        "[tensor] shape (4294967296,4294967296) has more elements than memory has bytes; make its extents smaller [TT-S25]");
  CHECK_THROWS_AS(matmul(tt::zeros<double>(many / 2, 0), tt::zeros<double>(0, many / 2)), tt::shape_error);
  CHECK_THROWS_AS(sum(tt::zeros<double>(many, many, 0), 2), tt::shape_error);
  { const tt::tensor<double, 1> freed(1000); }
  CHECK_THROWS_AS((tt::tensor<double, 1>((tt::index_t(1) << 44) - 100)), std::bad_alloc);  // more than the largest class of the cache of blocks
  CHECK_THROWS_AS((tt::tensor<double, 1>(tt::index_t(1) << 50)), std::bad_alloc);
}
