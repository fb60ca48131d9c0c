// The texts of errors: what happened, with values, and what to do. Of contractions, indexing, factorisations; of arrays, files and transforms.
#include <doctest/doctest.h>

#include <any>
#include <fstream>
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
  CHECK(text<tt::index_error>([&] { take(x, ints{0, 3}, 1); }) == "[take] index 3 is out of range for axis 1 of extent 3; indices count from 0, or from the end when negative [TT-I01]");
  CHECK(text<tt::index_error>([&] { take(x, ints{-3}, 0); }) == "[take] index -3 is out of range for axis 0 of extent 2; indices count from 0, or from the end when negative [TT-I01]");
  CHECK(text<tt::axis_error>([&] { take(x, ints{0}, 2); }) == "[take] axis 2 is outside [-2, 2); give an axis of the array [TT-A01]");
  CHECK(text<tt::index_error>([&] { gather(x, 0, tt::tensor<int, 2>{{0, 0, 2}}); }) == "[gather] index 2 is out of range for axis 0 of extent 2; indices count from 0, or from the end when negative [TT-I01]");
  CHECK(text<tt::shape_error>([&] { gather(x, 0, tt::tensor<int, 2>(1, 4)); }) ==
        "[gather] the index (1,4) is longer than the array (2,3) on axis 1, 4 > 3; take a part of the index [TT-S21]");
  CHECK(text<tt::shape_error>([&] { scatter_add(x, 0, tt::tensor<int, 2>(2, 3), tt::zeros<double>(1, 3)); }) ==
        "[scatter_add] the index (2,3) is longer than src (1,3) on axis 0, 2 > 1; take a part of the index [TT-S21]");
}
TEST_CASE("reshape names the shape that was asked for") {
  const auto a = tt::zeros<double>(3, 4);
  CHECK(text<tt::shape_error>([&] { reshape(a, 5, -1); }) == "[reshape] the 12 elements of (3,4) do not fit the shape (5,-1); the extents must multiply to them, one may be -1 [TT-S13]");
  CHECK(text<tt::shape_error>([&] { reshape(a, -1, -1); }) == "[reshape] the 12 elements of (3,4) do not fit the shape (-1,-1); the extents must multiply to them, one may be -1 [TT-S13]");
  CHECK(text<tt::shape_error>([&] { reshape(a, 5, 2); }) == "[reshape] the 12 elements of (3,4) do not fit the shape (5,2); the extents must multiply to them, one may be -1 [TT-S13]");
}
TEST_CASE("an index out of range changes nothing") {
  tt::tensor<double, 1> x{1, 2, 3};
  CHECK(text<tt::index_error>([&] { x = scatter_add(x, 0, ints{0, 5}, tt::tensor<double, 1>{1, 1}); }) ==
        "[scatter_add] index 5 is out of range for axis 0 of extent 3; indices count from 0, or from the end when negative [TT-I01]");
  CHECK(x(0) == 1.0);
  CHECK(text<tt::index_error>([&] {
          tt::vmap([](const auto& a) { return take(a, ints{4}, 0); })(tt::zeros<double>(2, 3));
        }) == "[take] index 4 is out of range for axis 0 of extent 3; indices count from 0, or from the end when negative [TT-I01]");
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

TEST_CASE("axes, steps, bounds") {
  const auto a = tt::zeros<double>(2, 3);
  CHECK(text<tt::axis_error>([&] { sum(a, tt::axes{0, -2}); }) == "[sum] axis -2 is named twice; name every axis once [TT-A02]");
  CHECK(text<tt::axis_error>([&] { permute(a, 1, 1); }) == "[permute] axis 1 is named twice; name every axis once [TT-A02]");
  CHECK(text<tt::index_error>([&] { a(tt::all, tt::range(0, 3, 0)); }) == "[slice] step 0; give a positive or negative step [TT-I02]");
  CHECK(text<tt::domain_error>([] { tt::arange(0.0, 1.0, 0.0); }) == "[arange] step 0; give a positive or negative step [TT-D01]");
  CHECK(text<tt::domain_error>([] { tt::integers<int>(tt::rng(1), {5}, 3, 3); }) == "[integers] empty range [3, 3); give low < high [TT-D03]");
  CHECK(text<tt::domain_error>([] { tt::chunk_size{0}; }) == "[chunk_size] a chunk of 0; give 1 or more [TT-D07]");
  CHECK(text<tt::domain_error>([] { tt::max_trips{-1}; }) == "[max_trips] a bound of -1 trips; give 0 or more [TT-D08]");
  CHECK(text<tt::domain_error>([] { tt::while_loop([](auto) { return true; }, [](auto t) { return t; }, 1.0, tt::max_trips{3}); }) ==
        "[while_loop] still running after max_trips{3}; raise the bound [TT-D04]");
  CHECK(text<tt::domain_error>([] {
          const auto halved = [](auto t) { return tt::while_loop([](auto u) { return u > 1.0; }, [](auto u) { return u * 0.5; }, t, tt::max_trips{3}); };
          tt::vmap(halved)(tt::tensor<double, 1>{1, 9, 7, 100, 8});
        }) == "[while_loop] still running after max_trips{3}: 2 of 5 examples, the first of them number 1; raise the bound [TT-D04]");
}
TEST_CASE("shapes: rows, assignments, views, what is not one element") {
  tt::tensor<double, 2> a(2, 3);
  const auto four = tt::zeros<double>(4);
  CHECK(text<tt::shape_error>([] { tt::tensor<double, 2>{{1, 2, 3}, {4, 5}}; }) ==
        "[tensor] ragged rows: one of 2 elements where 3 were expected; give every row the same length [TT-S04]");
  CHECK(text<tt::shape_error>([&] { a(0) = four; }) == "[assign] shape (4,) does not broadcast to the view (3,); reshape the right side, or write to another part [TT-S06]");
  CHECK(text<tt::shape_error>([&] { a(tt::all, tt::range(0, 1)) = a; }) == "[assign] shape (2,3) does not broadcast to the view (2,1); reshape the right side, or write to another part [TT-S06]");  // nor is the view stretched
  CHECK(text<tt::shape_error>([&] {
          auto row = tt::zeros<double>(1, 3);
          row += a;
        }) == "[assign] a compound assignment cannot change the shape (1,3) to (2,3); write x = x + y for a result of another shape [TT-S07]");
  CHECK(text<tt::shape_error>([&] { broadcast_to(a, {2, 4}); }) == "[broadcast_to] shape (2,3) does not broadcast to (2,4); extents must be equal or 1 [TT-S11]");
  CHECK(text<tt::shape_error>([&] { squeeze(a, -1); }) == "[squeeze] axis -1 has extent 3; only axes of extent 1 are removed [TT-S12]");
  double one[2] = {1, 2};
  auto repeated = tt::view(one, {3, 2}, {0, 1});
  CHECK(sum(repeated) == 9);
  CHECK(text<tt::shape_error>([&] { repeated = tt::ones<double>(3, 2); }) == "[assign] axis 0 of this view has stride 0: its elements are one, which a statement can't write several times; write that one [TT-S33]");
  repeated(1) = 5.0;
  tt::tensor<double, 2> none(3, 0);
  none(tt::all) = 1.0;  // its strides are 0, and it has no elements
  CHECK(sum(repeated) == 30);
  CHECK(text<tt::shape_error>([&] { swap(a(0), a(0, tt::range(0, 2))); }) == "[swap] shapes differ: (3,) and (2,); exchange views of one shape [TT-S19]");
  CHECK(text<tt::shape_error>([&] { item(a); }) == "[item] an array of shape (2,3) has not one element; index it [TT-S32]");
  std::vector<double> five(5);
  CHECK(text<tt::shape_error>([&] { tt::view(five, {2, 3}); }) == "[view] a range of 5 elements under the shape (2,3); give a shape of as many elements [TT-S34]");
  CHECK(item(tt::tensor<double, 2>{{7}}) == 7);
  CHECK(tt::all(a == 0.0));
}
TEST_CASE("what was moved from") {
  tt::tensor<double, 1> x{1, 2};
  auto e = x * 2.0;
  const auto taken = std::move(e);
  CHECK(text<tt::error>([&] { tt::eval(e + 1.0); }) ==
        "[expression] this expression was moved from, or used up by the expression that took it with std::move; copy it instead [TT-E01]");
  CHECK(sum(taken) == 6);
  auto v = x(tt::range(0, 2));
  const auto w = std::move(v);
  CHECK(text<tt::error>([&] { v = 1.0; }) ==
        "[assign] this view was moved from (std::swap does that); exchange elements with swap(a(0), a(1)), found by its arguments [TT-E03]");
  CHECK(x(0) == 1);
}
TEST_CASE("a number that int64 lacks") {
  CHECK(text<tt::domain_error>([] { tt::arange(std::uint64_t(1) << 63, 5); }) ==
        "[arange] a number above 2^63 - 1 among integers of several types, which are int64 together; write arange<std::uint64_t>(...) [TT-D14]");
}
TEST_CASE("files") {
  CHECK(text<tt::io_error>([] { tt::load_npy<double, 1>("/"); }) == "[load_npy] cannot read '/'; is it a directory? [TT-O03]");
  CHECK(text<tt::io_error>([] { tt::load_npy<double, 1>("no/such.npy"); }) == "[load_npy] cannot open 'no/such.npy'; check the path and its permissions [TT-O01]");
  CHECK(text<tt::io_error>([] { tt::save_npy("no/such.npy", tt::zeros<double>(1)); }) == "[save_npy] cannot open 'no/such.npy'; check the path and its permissions [TT-O01]");
  std::ofstream("array_errors_test.npy") << "text, and no array";
  CHECK(text<tt::format_error>([] { tt::load_npy<double, 1>("array_errors_test.npy"); }) == "[load_npy] 'array_errors_test.npy' does not begin as a NumPy array file [TT-F01]");
  std::remove("array_errors_test.npy");
  if (std::ofstream("/dev/full"))  // Linux: always full
    CHECK(text<tt::io_error>([] { tt::save_npy("/dev/full", tt::zeros<double>(3)); }) == "[save_npy] writing '/dev/full' failed; is the disk full? [TT-O02]");
}
TEST_CASE("tangents, cotangents, rules") {
  const tt::tensor<double, 1> x{1, 2, 3}, two{1, 2};
  const auto square = [](const auto& t) { return t * t; };
  const auto first = [](const auto& t) { return t[0] * 2.0; };
  CHECK(text<tt::shape_error>([&] { tt::vjp(square, x).pull(two); }) == "[vjp] shape (3,) and cotangent shape (2,) differ; give it the same shape [TT-S08]");
  CHECK(text<tt::shape_error>([&] { tt::vhp([](const auto& t) { return sum(t * t * t); }, tt::tensor<double, 1>{1, 2, 3}, two); }) == "[vhp] shape (3,) and vector shape (2,) differ; give it the same shape [TT-S08]");
  CHECK(text<tt::shape_error>([&] { tt::linear_transpose(square, tt::tensor<double, 1>{1, 2, 3})(two); }) ==
        "[linear_transpose] shape (3,) and cotangent shape (2,) differ; give it the same shape [TT-S08]");
  CHECK(text<tt::shape_error>([&] { tt::jvp(first, std::vector<double>{1, 2}, std::vector<double>{1}); }) == "[jvp] a tree with 2 parts has a tangent with 1; give one for each part [TT-S10]");
  const auto short_tangent = tt::custom_jvp([](const auto& t) { return tt::eval(t * t); }, [&](const auto& t, const auto&) { return std::pair{tt::eval(t * t), two}; });
  CHECK(text<tt::shape_error>([&] { tt::jvp(short_tangent, x, x); }) == "[custom_jvp] the rule's tangent has shape (2,) and its value (3,); return a tangent of the shape of the value [TT-S15]");
  const auto short_gradient = tt::custom_vjp([](const auto& t) { return sum(t); }, [](const auto& t) { return std::pair{sum(t), 0.0}; }, [&](auto, auto) { return two; });
  CHECK(text<tt::shape_error>([&] { tt::grad(short_gradient)(x); }) == "[custom_vjp] argument shape (3,) and gradient shape (2,) differ; return a gradient of the shape of its argument [TT-S16]");
}
TEST_CASE("control flow") {
  const auto add = [](auto c, auto t) { return std::pair{c + std::get<0>(t), c}; };
  CHECK(text<tt::shape_error>([&] { tt::scan(add, 0.0, std::tuple{tt::zeros<double>(3), tt::zeros<double>(2)}); }) ==
        "[scan] inputs have 3 and 2 slices along their first axes; give one length [TT-S27]");
  CHECK(text<tt::shape_error>([&] { tt::scan([](auto c, auto) { return std::pair{c, c}; }, 0.0, std::tuple{}); }) ==
        "[scan] the inputs hold no tensor, so there is nothing to walk; use for_loop [TT-S14]");
  const auto parts = [](std::size_t n) { return [n](auto t) { return std::vector(n, t); }; };
  CHECK(text<tt::shape_error>([&] { tt::vmap([&](auto t) { return tt::cond(t > 1.0, parts(2), parts(3), t); })(tt::tensor<double, 1>{1, 2}); }) ==
        "[cond, switch_, while_loop] what is chosen from has vectors of different lengths, maps of different names, an optional that only one of them has, or static parts that differ between examples (an int in a struct); give both one structure, and a part that differs the struct's own scalar [TT-S35]");
}
TEST_CASE("chunks of examples that differ, rows of keys that differ") {
  const tt::tensor<double, 1> x{1, 2, 3, 4};
  int runs = 0;
  CHECK(text<tt::shape_error>([&] { tt::vmap([&](auto t) { return tt::eval(t * tt::ones<double>(2 + runs++)); }, tt::chunk_size{2})(x); }) ==
        "[vmap] two chunks of examples give results of different shapes, (4,2) and (2,3); leave chunk_size out [TT-S29]");
  runs = 0;
  CHECK(text<tt::shape_error>([&] { tt::vmap([&](auto t) { return std::vector(static_cast<std::size_t>(1 + runs++), t); }, tt::chunk_size{2})(x); }) ==
        "[vmap] two chunks of examples give trees with different numbers of parts; leave chunk_size out [TT-S31]");
  const std::vector<std::vector<tt::rng>> keys{split(tt::rng(1), 2), split(tt::rng(2), 3)};
  CHECK(text<tt::shape_error>([&] { tt::vmap([](const auto& k, auto t) { return t * tt::normal<double>(k[0]); })(keys, x(tt::range(0, 2))); }) ==
        "[vmap] rows of 2 and 3 keys; give every row one length [TT-S30]");
}
TEST_CASE("levels that meet, values that outlive theirs") {
  std::any leaked;
  const auto read = [&](auto y) { return y * std::any_cast<decltype(y)>(leaked); };
  CHECK(text<tt::level_error>([&] { tt::grad([&](auto x) { leaked = x; return x * tt::grad(read)(2.0); })(3.0); }) ==
        "[var] values of two levels of one type meet: a function captured an outer variable that its transform could not see, or kept a value of one that has ended; "
        "pass closing_over(x...) to the inner transform, return what is kept [TT-L03]");
  CHECK(text<tt::level_error>([&] { std::any_cast<tt::var<double>>(leaked) * 2.0; }) ==
        "[var] a value of a transform that has ended, of another thread, or that was moved from, was used in a recorded operation; return it from the transformed function, or take "
        "stop_gradient of it first [TT-L02]");
}
