// Statements, sums and products of fixed tensors have loops of their own: statements and products the same bits as of tensors.
#include <doctest/doctest.h>
#include <ttensor/all.hpp>
#include <complex>
#include <cstring>

namespace fixed_test {
namespace tt = ttensor;
using tt::fixed, tt::index_t, tt::tensor;

namespace {
template <class F, class D> bool same(const F& a, const D& b) {
  bool yes = a.size() == b.size();
  for (index_t i = 0; i < b.size() && yes; ++i) yes = std::memcmp(a.data() + i, b.data() + i, sizeof(*b.data())) == 0;
  return yes;
}
template <class T, index_t... E> void statements() {
  CAPTURE(sizeof...(E));
  fixed<T, E...> a, b;
  tensor<T, static_cast<int>(sizeof...(E))> x(E...), y(E...);
  for (index_t i = 0; i < x.size(); ++i) a.data()[i] = x.data()[i] = T(i % 5 + 1), b.data()[i] = y.data()[i] = T(7 - i % 6);
  fixed<T, E...> r = a * b + a;
  tensor<T, static_cast<int>(sizeof...(E))> want = x * y + x;
  CHECK(same(r, want));
  r = r - b * T(2);  // names the result
  want = want - y * T(2);
  CHECK(same(r, want));
  r += a;
  want += x;
  CHECK(same(r, want));
  CHECK(sum(a * b) == sum(x * y));
  if constexpr (sizeof...(E) == 1) CHECK(dot(a, a) == dot(x, x));
  if constexpr (tt::is_floating_v<T> && !tt::is_complex_v<T>) {
    r = exp(a) * sin(b) + where(a > b, tanh(a), sqrt(b));
    want = exp(x) * sin(y) + where(x > y, tanh(x), sqrt(y));
    CHECK(same(r, want));
    CHECK(double(mean(exp(-a))) == doctest::Approx(double(mean(exp(-x)))).epsilon(1e-3));
  }
}
template <class T, index_t m, index_t k, index_t n> void products() {
  fixed<T, m, k> a;
  fixed<T, k, n> b;
  for (index_t i = 0; i < m * k; ++i) a.data()[i] = T(1) / T(3 + i % 7);
  for (index_t i = 0; i < k * n; ++i) b.data()[i] = T(5 - i % 11) / T(7);
  const tensor<T, 2> x = a, y = b;
  const fixed<T, m, n> ab = matmul(a, b);
  CHECK(same(ab, tensor<T, 2>(matmul(x, y))));
  CHECK(same(fixed<T, n, m>(transpose(ab)), tensor<T, 2>(transpose(matmul(x, y)))));
}
constexpr tt::fixed<double> half(0.5);  // without axes: a number
static_assert(half() == 0.5 && double(half) == 0.5 && half.size() == 1);
constexpr tt::fixed<int, 2, 3> known{{1, 2, 3}, {4, 5, 6}};
static_assert(known.size() == 6 && known.extent(1) == 3 && known.extent(-2) == 2 && known.shape()[0] == 2 && known.strides()[0] == 3 && known.rank() == 2 && known(1, -1) == 6);
template <class T> double norm_of(const T& v) { return std::sqrt(double(sum(v * v))); }
}  // namespace

TEST_CASE("one element, less and more than a register, more than the loop takes") {
  statements<double, 1>();
  statements<double, 3>();
  statements<double, 3, 3>();
  statements<double, 6, 6>();
  statements<double, 8, 8>();
  statements<double, 16, 17>();
  statements<double, 65, 64>();
  statements<double, 5, 13>();
  statements<float, 3>();
  statements<float, 2, 3, 4>();
  statements<float, 5, 5>();
  statements<int, 3>();
  statements<std::int64_t, 17>();
  statements<tt::half, 3>();
  statements<tt::bfloat16, 4>();
}
TEST_CASE("element types meet, masks, complex numbers") {
  const fixed<float, 3> f{1.5f, 2, 3};
  const fixed<double, 3> d{1, 2, 4};
  const fixed<int, 3> i{3, 2, 1};
  fixed<double, 3> r = f * d + i;
  CHECK(r(0) == 4.5);
  CHECK(r(2) == 13);
  CHECK(sum(i * i) == 14);
  const fixed<bool, 3> m = d > f;
  CHECK(!m(0));
  CHECK(m(2));
  CHECK(sum(m) == 1);
  CHECK(tt::any(m));
  CHECK(!tt::all(m));
  const fixed<std::complex<double>, 2> z{std::complex<double>(1, 2), std::complex<double>(0, -1)};
  fixed<std::complex<double>, 2> w = z * z + 1.0;
  CHECK(w(0) == std::complex<double>(-2, 4));
  CHECK(sum(z) == std::complex<double>(1, 1));
}
TEST_CASE("other shapes and other leaves take the loops over packs") {
  const fixed<double, 3, 1> column{{1}, {2}, {3}};
  const fixed<double, 1, 3> row{{1, 10, 100}};
  const fixed<double, 3, 3> outer = column * row;
  CHECK(outer(2, 1) == 30);
  CHECK(sum(column * row) == 666);
  const tensor<double, 1> t{1, 2, 3};
  const fixed<double, 3> v{1, 1, 2}, s = v * t + 1.0;
  CHECK(s(2) == 7);
  CHECK(norm_of(s) == doctest::Approx(std::sqrt(4.0 + 9 + 49)));
  fixed<double, 3> u = v;
  u = 2.0 * u + u;
  CHECK(u(2) == 6);
  CHECK(sum(fixed<double, 3>(column(tt::all, 0)) * v) == 9);
}
TEST_CASE("expressions of fixed tensors have sizes") {
  const tt::fixed<double, 2, 3> f{{1, 2, 3}, {4, 5, 6}};
  CHECK(((f + f).size() == 6 && (f + f).extent(1) == 3 && exp(f).extent(-2) == 2));
  CHECK(let(f, [](const auto& x) { return x * x; }).size() == 6);
}

TEST_CASE("a fixed tensor is filled from views and tensors, itself among them") {
  tensor<double, 3> t(2, 4, 5);
  for (index_t i = 0; i < t.size(); ++i) t.data()[i] = static_cast<double>(i);
  const fixed<double, 2, 3> block = t(1, tt::range(1, 3), tt::range(4, 1, -1));
  CHECK(tt::all(block == tensor<double, 2>(t(1, tt::range(1, 3), tt::range(4, 1, -1)))));
  CHECK(block(1, 2) == 32);
  const fixed<double, 2> column = t(tt::all, 3, 2);
  CHECK(column(1) == 37);
  const tensor<double, 1> whole{1, 2, 3};
  fixed<double, 3> w = whole, v;
  CHECK(w(2) == 3);
  w = flip(w, 0);  // a view of itself
  CHECK(w(0) == 3);
  CHECK(w(2) == 1);
  fixed<double, 3, 3> f{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  f = transpose(f);
  CHECK(tt::all(f == fixed<double, 3, 3>{{1, 4, 7}, {2, 5, 8}, {3, 6, 9}}));
  const fixed<float, 3> narrow{1, 2, 3};
  v = tt::reshape(narrow, 3);  // another element type
  CHECK(v(1) == 2);
  CHECK_THROWS_WITH_AS(w = t(0, tt::range(0, 2), 0), "[tensor] extent 2 on axis 0, whose type fixes it to 3; give it that extent, or declare the axis dyn [TT-S03]", tt::shape_error);
  CHECK(w(0) == 3);
}
TEST_CASE("a transposed fixed matrix is fixed where nobody can write through it") {
  const fixed<double, 2, 3> a{{1, 2, 3}, {4, 5, 6}};
  static_assert(std::is_same_v<decltype(transpose(a)), fixed<double, 3, 2>>);
  static_assert(std::is_same_v<decltype(matmul(a, transpose(a))), fixed<double, 2, 2>>);
  CHECK(tt::all(matmul(a, transpose(a)) == fixed<double, 2, 2>{{14, 32}, {32, 77}}));
  CHECK(tt::all(transpose(transpose(a) * 1.0) == a));
  CHECK(transpose(matmul(a, transpose(a)))(0, 1) == 32);
}
TEST_CASE("products of small fixed matrices are fixed; of larger ones tensors") {
  products<double, 2, 2, 2>();
  products<double, 3, 3, 3>();
  products<double, 6, 6, 6>();
  products<double, 8, 8, 8>();
  products<float, 5, 7, 3>();
  products<float, 2, 3, 19>();
  products<double, 3, 21, 1>();
  const fixed<double, 2, 3> a{{1, 2, 3}, {4, 5, 6}};
  const fixed<double, 3, 4> b{{1, 0, 2, 0}, {0, 1, 0, 3}, {1, 1, 1, 1}};
  const fixed<double, 3> v{1, -1, 2};
  const tensor<double, 2> x = a, y = b;
  const tensor<double, 1> w = v;
  const fixed<double, 2, 4> ab = matmul(a, b);
  const fixed<double, 2> av = matmul(a, v);
  const fixed<double, 4> vb = matmul(v, b);
  CHECK(same(ab, tensor<double, 2>(matmul(x, y))));
  CHECK(same(av, tensor<double, 1>(matmul(x, w))));
  CHECK(same(vb, tensor<double, 1>(matmul(w, y))));
  CHECK(same(ab, tensor<double, 2>(matmul(a, y))));  // one of each
  CHECK(matmul(v, v) == 6);
  static_assert(std::is_same_v<decltype(matmul(a, b)), fixed<double, 2, 4>>);
  const tensor<double, 2> kept = matmul(a, b) + 1.0;
  CHECK(kept(0, 0) == 5);
  const fixed<std::int32_t, 2, 2> i{{1, 2}, {3, 4}}, ii = matmul(i, i);  // integers wrap: through tensors
  CHECK(ii(1, 0) == 15);
  const fixed<float, 3, 3> f = sin(fixed<float, 3, 3>{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}), ff = matmul(f, f);
  const tensor<float, 2> of_f = f, of_ff = matmul(of_f, of_f);
  CHECK(same(ff, of_ff));
  fixed<double, 9, 9> big;
  big = 1.0;
  const fixed<double, 9, 9> square_of = matmul(big, big);
  CHECK(square_of(8, 8) == 9);
  const auto g = tt::grad([&](const auto& z) { return sum(matmul(matmul(a, b), z)); })(tensor<double, 1>{1, 1, 1, 1});
  CHECK(g(0) == ab(0, 0) + ab(1, 0));
}
TEST_CASE("gradients through fixed tensors, and one loop a statement") {
  const auto f = [](const auto& x) {
    const fixed<double, 3> w{1, 2, 3};
    return sum(square(x - w));
  };
  const tensor<double, 1> x{0, 0, 0}, g = tt::grad(f)(x);
  CHECK(g(2) == -6);
  const auto before = tt::counts.loops;
  const fixed<double, 3> a{1, 2, 3}, b = a * 2.0 + a;
  CHECK(tt::counts.loops == before + 1);
  CHECK(b(0) == 3);
}
TEST_CASE("shape operations of a fixed tensor that has a name alias it") {
  tt::fixed<double, 2, 2> f{{1, 2}, {3, 4}};
  transpose(f)(0, 1) = 50;
  CHECK(f(1, 0) == 50);
  reshape(f, 4)(0) = 7;
  CHECK(f(0, 0) == 7);
  flip(f, 0)(0, 0) = 8;
  CHECK(f(1, 0) == 8);
  transpose(f) = transpose(f) + f;
  CHECK(tt::all(f == tt::fixed<double, 2, 2>{{14, 10}, {10, 8}}));
  flatten(f) += 1;
  CHECK(sum(f) == 46);
  const auto late = [] {  // an expression may outlive what it names
    tt::fixed<double, 2, 2> g{{1, 2}, {3, 4}};
    auto e = transpose(g) * 2.0;
    g = 0;
    return e;
  }();
  CHECK(tt::all(late == tt::fixed<double, 2, 2>{{2, 6}, {4, 8}}));
  const auto slope = tt::grad([](const auto& x) {  // so may a tape
    tt::fixed<double, 2, 2> r{{1, 2}, {3, 4}};
    const auto y = tt::eval(transpose(r) * x);
    transpose(r) = 0;
    return sum(y);
  })(tt::tensor<double, 2>(2, 2));
  CHECK(tt::all(slope == tt::fixed<double, 2, 2>{{1, 3}, {2, 4}}));
  const auto c = f;
  CHECK(transpose(c)(0, 1) == 11);
}

// ---- extents of which some are in the type -----------------------------------------------------------------------------------
namespace {
using points = tensor<double, tt::extents<tt::dyn, 3>>;  // any number of rows of three
template <class T> using rows_of = tensor<T, tt::extents<tt::dyn, 3>>;
template <class T> struct cloud { rows_of<T> at; T scale; };
const char* const four_columns = "[tensor] extent 4 on axis 1, whose type fixes it to 3; give it that extent, or declare the axis dyn [TT-S03]";
}  // namespace
TEST_CASE("mixed extents: made as tensors are, and an extent that the type fixes is checked at run time") {
  const points p{{1, 2, 3}, {4, 5, 6}}, z(4, 3), none;
  CHECK(p.shape() == tt::dims<2>{{2, 3}});
  CHECK(sum(z) == 0);
  CHECK(z.shape() == tt::dims<2>{{4, 3}});
  CHECK(none.shape() == tt::dims<2>{{0, 3}});
  const tensor<double, 2> four(2, 4);
  CHECK_THROWS_WITH_AS(points(2, 4), four_columns, tt::shape_error);
  CHECK_THROWS_WITH_AS((points{{1, 2, 3, 4}}), four_columns, tt::shape_error);
  CHECK_THROWS_WITH_AS(points{four}, four_columns, tt::shape_error);
  CHECK_THROWS_WITH_AS(points{four * 2.0}, four_columns, tt::shape_error);
  points q = p;
  CHECK_THROWS_WITH_AS(q = four, four_columns, tt::shape_error);
  CHECK_THROWS_WITH_AS(q = four + 1.0, four_columns, tt::shape_error);
  CHECK_THROWS_AS(q += z, tt::shape_error);
  CHECK_THROWS_AS((points{{1, 2, 3}, {4, 5}}), tt::shape_error);
  CHECK(tt::all(q == p));  // nothing has changed it
  q = z;                   // the other extent is free
  CHECK(q.extent(0) == 4);
}
TEST_CASE("a tensor of the same scalars whose type shows other extents is shared, not computed again, and copied when one of the two is written") {
  using rows = tt::tensor<double, tt::extents<2, tt::dyn>>;
  tt::tensor<double, 2> a{{1, 2, 3}, {4, 5, 6}};
  const auto before = tt::counts.loops;
  rows r = a;
  CHECK(r.data() != nullptr);
  CHECK(tt::counts.loops == before);
  a(0, 0) = 9;
  CHECK(r(0, 0) == 1);
  r = a;
  r(1, 2) = 7;
  CHECK(a(1, 2) == 6);
  auto v = r(0, tt::all);  // who looks at r sees what it is assigned
  r = a;
  CHECK(v(0) == 9);
  const double* const there = a.elements().data();
  rows moved = std::move(a);
  CHECK(moved.elements().data() == there);
  CHECK(a.size() == 0);
  tt::tensor<double, 2> wrong{{1.0}, {2.0}, {3.0}};
  CHECK_THROWS_AS(r = std::move(wrong), tt::shape_error);
  CHECK(wrong.size() == 3);
  CHECK(r(0, 0) == 9);
}
TEST_CASE("small matrices whose type shows their extents cost a derivative what tensors cost it: one node a product, none for a change of type") {
  const auto chain = []<class T>(const tt::tensor<T, 2>& x) {
    tt::fixed<T, 2, 2> y = x;
    for (int i = 0; i < 3; ++i) y = tt::fixed<T, 2, 2>(tt::matmul(x, y));
    tt::fixed<T, 2, 2> kept = y;
    y(0, 0) = y(0, 0) * 2.0;  // a copy: what it was made from keeps its value and its derivative
    return sum(y) + sum(kept);
  };
  const tt::tensor<double, 2> x{{1, 2}, {3, 4}};
  const auto by_hand = [&](double a) {  // 2 sum(x^4) + (x^4)(0, 0)
    tt::tensor<double, 2> z{{a, 2}, {3, 4}};
    const tt::tensor<double, 2> s = tt::matmul(z, z), q = tt::matmul(s, s);
    return 2 * tt::item(sum(q)) + q(0, 0);
  };
  const double h = 1e-4, slope = (by_hand(1 + h) - by_hand(1 - h)) / (2 * h);
  CHECK(std::abs(tt::grad(chain)(x)(0, 0) / slope - 1) < 1e-7);
  CHECK(std::abs(tt::jvp(chain, std::tuple{x}, std::tuple{tt::tensor<double, 2>{{1, 0}, {0, 0}}}).y_dot / slope - 1) < 1e-7);
  tt::tapes::stats = {};
  static_cast<void>(tt::grad([]<class T>(const tt::tensor<T, 2>& t) { return sum(tt::fixed<T, 2, 2>(tt::matmul(t, t))); })(x));
  CHECK(tt::tapes::stats.nodes == 2);
}
TEST_CASE("mixed extents: statements, broadcasting, reductions and slices give what tensors give") {
  points p{{1, 2, 3}, {4, 5, 6}};
  const tensor<double, 2> t = p;
  const points r = p * p + exp(-p);
  CHECK(same(r, tensor<double, 2>(t * t + exp(-t))));
  const points b = p + fixed<double, 3>{10, 20, 30} * tensor<double, 2>{{1}, {2}};
  CHECK(tt::all(b == tensor<double, 2>{{11, 22, 33}, {24, 45, 66}}));
  CHECK(sum(p) == 21);
  CHECK(tt::all(sum(p, 0) == tensor<double, 1>{5, 7, 9}));
  CHECK(tt::all(tt::max(p, 1) == tensor<double, 1>{3, 6}));
  CHECK(tt::all(matmul(p, transpose(p)) == tensor<double, 2>{{14, 32}, {32, 77}}));
  CHECK(tt::all(p(tt::all, tt::range(2, 0, -1)) == tensor<double, 2>{{3, 2}, {6, 5}}));
  p(1) = 7.0;
  p(tt::all, 0) += tensor<double, 1>{1, 2};
  transpose(p)(2, 0) = -1;
  CHECK(tt::all(p == tensor<double, 2>{{2, 2, -1}, {9, 7, 7}}));
  p = p * 2.0 + p;  // names the result
  p += 1.0;
  CHECK(tt::all(p == tensor<double, 2>{{7, 7, -2}, {28, 22, 22}}));
  CHECK(t(1, 0) == 4);
  tensor<float, tt::extents<2, tt::dyn>> two = tt::to<float>(transpose(points{{1, 2, 3}, {4, 5, 6}})(tt::range(1, 3)));
  CHECK(tt::all(two == tensor<float, 2>{{2, 5}, {3, 6}}));
}
TEST_CASE("mixed extents: a gradient has the type of its argument, under vmap and in trees too") {
  const points p{{1, 2, 3}, {4, 5, 6}};
  const auto f = [](const auto& x) { return sum(x * x * x); };
  static_assert(std::is_same_v<decltype(tt::grad(f)(p)), points>);
  CHECK(tt::all(tt::grad(f)(p) == 3.0 * p * p));
  CHECK(tt::jvp(f, p, p).y_dot == 3 * f(p));
  CHECK(tt::all(tt::hvp(f, p, p) == 6.0 * p * p));
  const auto through = [](const auto& x) {  // a local of mixed extents
    const rows_of<tt::scalar_t<decltype(x)>> y = unsqueeze(x, 0) * tensor<double, 2>{{1}, {2}};
    return sum(y * y);
  };
  CHECK(tt::all(tt::grad(through)(tensor<double, 1>{1, 2, 3}) == tensor<double, 1>{10, 20, 30}));
  CHECK_THROWS_WITH_AS(tt::grad(through)(tensor<double, 1>(4)), four_columns, tt::shape_error);
  const auto m = tt::vmap([](const auto& row, auto s) { return row * s; })(p, tensor<double, 1>{10, 100});
  CHECK(tt::all(m == tensor<double, 2>{{10, 20, 30}, {400, 500, 600}}));
  CHECK(tt::all(tt::vmap(tt::grad([](const auto& row) { return sum(row * row); }))(p) == 2.0 * p));
  CHECK(tt::all(tt::vmap([&](auto s) { return tt::grad(f)(p) * s; })(tensor<double, 1>{1, 2})(1) == 6.0 * p * p));
  const cloud<double> g = tt::grad([](const auto& c) { return sum(c.at * c.at) * c.scale; })(cloud<double>{p, 2});
  CHECK(tt::all(g.at == 4.0 * p));
  CHECK(g.scale == 91);
}

TEST_CASE("means and norms of fixed tensors; eval is a tensor, so that views of a local one may be returned") {
  const tt::fixed<double, 3> a{1, 2, 3}, b{1, 0, -1};
  CHECK(mean(a) == 2);
  CHECK(mean(a * b) == -2.0 / 3);
  CHECK(mean(tt::fixed<int, 2>{1, 2}) == 1.5);
  CHECK(norm(a - a - b) == std::sqrt(2.0));
  CHECK(norm(tt::fixed<float, 2, 1>{{3}, {4}}) == 5);
  const auto tail = [](const auto& x) {
    auto y = tt::eval(x * 2.0);
    return y(tt::range(1, 3));
  };
  CHECK(tt::all(tail(a) == tensor<double, 1>{4, 6}));
}

TEST_CASE("an expression over a slice of a fixed tensor is a value, and the slice writes through") {
  const auto local = [] {
    tt::fixed<double, 2, 2> f{{1, 2}, {3, 4}};
    return f(0) + 1.0;
  };
  auto e = local();
  CHECK(tt::all(tt::eval(e) == tt::tensor<double, 1>{2, 3}));
  tt::fixed<double, 2, 2> f{{1, 2}, {3, 4}};
  auto later = f(0) * f(tt::all, 1);
  f(0, 0) = 100;
  f(1) = f(0) + 1.0;
  CHECK(f(1, 0) == 101);
  CHECK(tt::all(tt::eval(later) == tt::tensor<double, 1>{2, 8}));
  f(0) += f(1);
  CHECK(f(0, 1) == 5);
  // every map of a region, and its elements alone are copied: one block
  tt::fixed<double, 2, 3, 4> g;
  for (int i = 0; i < 24; ++i) g.data()[i] = i;
  const tt::tensor<double, 3> t = g;
  const auto same = [&](auto region) { return tt::all(tt::eval(region(g) + 0.0) == region(t)); };
  CHECK(same([](auto& x) { return x(1, tt::all, tt::range(tt::end, tt::end, -2)); }));
  CHECK(same([](auto& x) { return x(tt::range(tt::end, tt::end, -1), 1); }));
  CHECK(same([](auto& x) { return transpose(x(tt::all, tt::range(1, 3), tt::range(0, 4, 3))); }));
  CHECK(same([](auto& x) { return x(tt::newaxis, 0, tt::range(3, 3)); }));
  CHECK(same([](auto& x) { return x(tt::all, 2, 3); }));
  const auto before = tt::mem::stats.blocks;
  g(0) = g(1) * 2.0;
  CHECK(tt::mem::stats.blocks == before + 1);
  CHECK(tt::sum(g(0)) == 420);
}
}  // namespace fixed_test
