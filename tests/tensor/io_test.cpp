// Random keys, printing, explain, npy files.
#include <doctest/doctest.h>

#include <clocale>
#include <cmath>
#include <complex>
#include <cstdio>
#include <fstream>
#include <iomanip>
#include <ranges>
#include <set>
#include <list>
#include <span>
#include <sstream>
#include <string_view>
#include <ttensor/all.hpp>
#include <ttensor/tensor/explain.hpp>
#include <ttensor/tensor/npy.hpp>
#include <ttensor/tensor/print.hpp>
#include <ttensor/tensor/random.hpp>

namespace tt = ttensor;
using vec = tt::tensor<double, 1>;
using mat = tt::tensor<double, 2>;

TEST_CASE("numbers are a function of key and position") {
  const tt::rng key(42);
  const mat a = tt::normal<double>(key, {3, 5}), b = tt::normal<double>(key, {3, 5});
  const vec longer = tt::normal<double>(key, {100});
  for (int i = 0; i < 15; ++i) {
    CHECK(a.data()[i] == b.data()[i]);
    CHECK(a.data()[i] == longer(i));
  }
  const auto [p, q] = tt::split<2>(key);
  CHECK(!(p == q));
  CHECK(tt::split(key, 3)[1] == q);
  CHECK(!(tt::fold_in(key, 0) == p));
  const vec u = tt::uniform<double>(p, {20001}), n = tt::normal<double>(q, {20001});
  CHECK(mean(u) == doctest::Approx(0.5).epsilon(0.02));
  CHECK(variance(u) == doctest::Approx(1.0 / 12).epsilon(0.05));
  CHECK(std::abs(mean(n)) < 0.03);
  CHECK(variance(n) == doctest::Approx(1).epsilon(0.05));
  CHECK(min(u) >= 0);
  CHECK(max(u) < 1);
  const auto f = tt::uniform<float>(p, {1001});
  CHECK(max(f) < 1);
  const auto k = tt::integers<int>(key, {5000}, -3, 4);
  CHECK(min(k) == -3);
  CHECK(max(k) == 3);
  CHECK_THROWS_AS(tt::integers<int>(key, {5}, 3, 3), tt::domain_error);
  const auto o = tt::permutation(key, 1000);
  CHECK(std::set<std::int64_t>(o.data(), o.data() + 1000).size() == 1000);
  CHECK(o(0) + o(1) * 1000 + o(2) * 1000000 != 2001000);
  CHECK(tt::permutation(key, 0).size() == 0);
  CHECK(tt::split(key, 0).empty());
  CHECK_THROWS_WITH_AS(tt::permutation(key, -1), "[permutation] of -1 elements; give 0 or more [TT-D12]", tt::domain_error);
  CHECK_THROWS_WITH_AS(tt::split(key, -1), "[split] -1 keys; give 0 or more [TT-D13]", tt::domain_error);
}

TEST_CASE("printing") {
  std::ostringstream o;
  o << mat{{1, 2.5, -3}, {4, 5, 6}} << '\n' << tt::arange<int>(3) + 1 << '\n' << (vec{1, 2} > 1.0) << '\n' << tt::dual<double>(1.5, 2);
  CHECK(o.str() == "[[ 1., 2.5, -3.],\n [ 4.,  5.,  6.]]\n[1, 2, 3]\n[false,  true]\ndual(1.5, 2.)");
  CHECK(to_string(tt::arange<int>(2000)) == "[   0,    1,    2, ..., 1997, 1998, 1999]");
  vec x{7, 8};
  std::ostringstream e;
  e << x(1);
  CHECK(e.str() == "8");
  CHECK(to_string(tt::eval(sqrt(vec{-1, 4}))) == "[nan,  2.]");
  CHECK(to_string(tt::fixed<double, 2, 2>{{1, 2}, {3, 4}}) == "[[1., 2.],\n [3., 4.]]");
  std::string taped;
  tt::grad([&](const auto& t) { return taped = to_string(t) + to_string(t(tt::newaxis)), sum(t); })(x);
  CHECK(taped == "var([7., 8.])var(\n[[7., 8.]])");
}
TEST_CASE("integers between two ends are rounded down, as NumPy rounds them") {
  CHECK(to_string(tt::linspace<int>(0, 10, 4)) == "[ 0,  3,  6, 10]");
  CHECK(to_string(tt::linspace<int>(-5, 5, 4)) == "[-5, -2,  1,  5]");
  static_assert(std::is_same_v<decltype(tt::linspace(0, 1, 5)), tt::tensor<double, 1>> && std::is_same_v<decltype(tt::linspace(0.0f, 1.0f, 5)), tt::tensor<float, 1>>);
  CHECK(tt::linspace(0, 1, 5)(1) == 0.25);
}
TEST_CASE("numbers print as NumPy prints them") {  // the shortest digits that give them back, at most 8 after the point
  CHECK(to_string(vec{123456789, 3.14159265358979}) == "[1.23456789e+08,     3.14159265]");
  CHECK(to_string(vec{0.1, 1.0 / 3, -0.0}) == "[       0.1, 0.33333333,        -0.]");
  CHECK(to_string(vec{99999999, 0.0001}) == "[99999999.,    0.0001]");
  CHECK(to_string(vec{1e8, 1e-5}) == "[1.e+08, 1.e-05]");
  CHECK(to_string(vec{0.000123456789, 1e22}) == "[0.00012346,     1.e+22]");
  CHECK(to_string(vec{0.999999999, 100000000000.5}) == "[    1., 1.e+11]");
  CHECK(to_string(vec{INFINITY, -INFINITY, -double(NAN)}) == "[ inf, -inf,  nan]");
  CHECK(to_string(tt::tensor<float, 1>{16777216, 0.1f}) == "[16777216.,       0.1]");
  CHECK(to_string(tt::tensor<float, 1>{1.0f / 3, 1e10f}) == "[0.33333334,     1.e+10]");
  CHECK(to_string(tt::tensor<tt::half, 1>{tt::half(0.1), tt::half(65504)}) == "[   0.1, 65500.]");
  CHECK(to_string(tt::tensor<tt::bfloat16, 1>{tt::bfloat16(0.1), tt::bfloat16(300)}) == "[ 0.1, 300.]");
  using complex = std::complex<double>;
  CHECK(to_string(tt::tensor<complex, 1>{complex(1, -0.0), complex(-0.0, 2.5)}) == "[  1.-0.i, -0.+2.5i]");
  CHECK(to_string(tt::tensor<complex, 1>{complex(1, -double(NAN)), complex(0, -INFINITY)}) == "[1.+nani, 0.-infi]");
}

TEST_CASE("a stream's precision and format are the numbers' of an array, too") {
  const vec x{1.0 / 3, -2000, 1e-9, HUGE_VAL};
  auto printed = [&](auto&&... with) {
    std::ostringstream o;
    (o << ... << with) << x;
    return o.str();
  };
  CHECK(printed(std::setprecision(3)) == "[ 0.333, -2e+03,  1e-09,    inf]");
  CHECK(printed(std::fixed, std::setprecision(2)) == "[    0.33, -2000.00,     0.00,      inf]");
  CHECK(printed(std::scientific) == "[ 3.333333e-01, -2.000000e+03,  1.000000e-09,           inf]");
  CHECK(printed(std::hexfloat).find(" -0x1.f4p+10, ") != std::string::npos);
  CHECK(printed() == printed(std::setprecision(6)));
  std::ostringstream o;
  o << std::setprecision(2) << tt::tensor<std::complex<float>, 1>{{1.0F / 3, -2.0F / 3}} << x(0) << tt::dual<double>(1.0 / 3, 2) << tt::arange<int>(2) << tt::tensor<float, 0>(2.0F / 3);
  CHECK(o.str() == "[0.33-0.67i]0.33dual(0.33, 2)[0, 1]0.67");
}

TEST_CASE("explain prints the program and the plan") {
  const mat a{{1, 2}, {3, 4}};
  const std::string s = explain(exp(-a * a) * 2.0);
  CHECK(s.find("%4 = exp %3") != std::string::npos);
  CHECK(s.find("plan: flat") != std::string::npos);
  CHECK(s.find("x2: double scalar 2., in a register") != std::string::npos);
  CHECK(s.find("64 read, 32 written") != std::string::npos);
  const std::string merged = explain((a - 1.0) * (a - 2.0) + a * a);  // one array with several names
  CHECK(merged.find("names of one array merged") != std::string::npos);
  CHECK(merged.find("x0: double") != std::string::npos);
  CHECK(merged.find("x2: double (") == std::string::npos);
  const mat b = a * 1.0;
  CHECK(explain((a - 1.0) * (b - 2.0) + a * b).find("merged") == std::string::npos);
  CHECK(explain(transpose(a) + a).find("plan: tiled") != std::string::npos);
  CHECK(explain(a + vec{1, 2}).find("plan: inner") != std::string::npos);
  CHECK(tt::build_info().find("ttensor 0.1.0") == 0);
}

TEST_CASE("npy files") {
  const std::string path = "ttensor_io_test.npy";
  const mat a{{1, 2, 3}, {4, 5, 6}};
  save_npy(path, a + 0.5);
  const mat b = tt::load_npy<double, 2>(path);
  CHECK(b(1, 2) == 6.5);
  CHECK(b.shape() == a.shape());
  CHECK_THROWS_AS((tt::load_npy<float, 2>(path)), tt::format_error);
  CHECK_THROWS_AS((tt::load_npy<double, 1>(path)), tt::format_error);
  CHECK_THROWS_AS((tt::load_npy<double, 1>("no/such/file.npy")), tt::io_error);
  CHECK_THROWS_AS(save_npy("no/such/file.npy", a), tt::io_error);
  std::string bytes;
  {
    std::ifstream f(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(f), {});
  }
  for (std::size_t n : {std::size_t(0), std::size_t(5), std::size_t(9), std::size_t(60), bytes.size() - 1}) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(n));
    CAPTURE(n);
    CHECK_THROWS_AS((tt::load_npy<double, 2>(path)), tt::format_error);
  }
  std::string fortran = bytes;
  fortran.replace(fortran.find("False"), 5, "True ");
  std::ofstream(path, std::ios::binary).write(fortran.data(), static_cast<std::streamsize>(fortran.size()));
  const mat c = tt::load_npy<double, 2>(path);
  CHECK(c(0, 1) == 3.5);
  fortran.replace(fortran.find("True "), 5, "true ");  // neither
  std::ofstream(path, std::ios::binary).write(fortran.data(), static_cast<std::streamsize>(fortran.size()));
  CHECK_THROWS_AS((tt::load_npy<double, 2>(path)), tt::format_error);
  for (const char* const shape : {"(-2, 2)", "(2, 2 ", "2, 2)", "(2, x)", "[2, 2]", "(4611686018427387904, 8)"}) {
    std::string header = std::string("{'descr': '<f8', 'fortran_order': False, 'shape': ") + shape + ", }";
    header.resize(117, ' ');
    std::ofstream(path, std::ios::binary) << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header << "\n" << std::string(32, '\0');
    CHECK_THROWS_AS((tt::load_npy<double, 2>(path)), tt::format_error);
  }
  save_npy(path, tt::tensor<int, 1>{1, -2});
  CHECK(tt::load_npy<int, 1>(path)(1) == -2);
  save_npy(path, tt::tensor<double, 0>(3.0));
  CHECK(double(tt::load_npy<double, 0>(path)) == 3);
  save_npy(path, tt::tensor<bool, 1>{true, false, true});
  CHECK(tt::all(tt::load_npy<bool, 1>(path) == tt::tensor<bool, 1>{true, false, true}));
  {
    std::fstream f(path, std::ios::binary | std::ios::in | std::ios::out);
    f.seekp(-2, std::ios::end).put('\x02');
  }
  CHECK_THROWS_WITH_AS((tt::load_npy<bool, 1>(path)), doctest::Contains("element 1 of a mask is 2"), tt::format_error);
  std::remove(path.c_str());
}

TEST_CASE("npy files of either byte order") {
  const std::string path = "ttensor_io_order_test.npy";
  const auto file = [&](const char* descr, const char* shape, std::string_view elements, bool fortran = false) {
    std::string header = std::string("{'descr': '") + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
    header.resize(117, ' ');
    std::ofstream(path, std::ios::binary) << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header << "\n" << elements;
  };
  using namespace std::string_view_literals;
  file(">f8", "(2,)", "\x3f\xf8\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0"sv);
  CHECK(tt::all(tt::load_npy<double, 1>(path) == vec{1.5, -2}));
  file("<f8", "(2,)", "\0\0\0\0\0\0\xf8\x3f\0\0\0\0\0\0\0\xc0"sv);
  CHECK(tt::all(tt::load_npy<double, 1>(path) == vec{1.5, -2}));
  file(">c8", "(1,)", "\x3f\x80\0\0\xc0\0\0\0"sv);  // each part by itself
  CHECK((tt::load_npy<std::complex<float>, 1>(path)(0) == std::complex<float>(1, -2)));
  file(">f2", "(2,)", "\x3e\0\xc0\0"sv);
  CHECK(float(tt::load_npy<tt::half, 1>(path)(0)) == 1.5f);
  file(">i4", "(2, 2)", "\0\0\0\1\0\0\0\2\0\0\1\0\xff\xff\xff\xff"sv, true);
  CHECK(tt::all(tt::load_npy<int, 2>(path) == tt::tensor<int, 2>{{1, 256}, {2, -1}}));
  file(">u8", "()", "\0\0\0\0\0\0\1\2"sv);
  CHECK(std::uint64_t(tt::load_npy<std::uint64_t, 0>(path)) == 258);
  CHECK_THROWS_AS((tt::load_npy<std::int64_t, 0>(path)), tt::format_error);
  for (const char* const descr : {"|f8", "=f8", "x"}) {
    file(descr, "(1,)", "\0\0\0\0\0\0\0\0"sv);
    CHECK_THROWS_AS((tt::load_npy<double, 1>(path)), tt::format_error);
  }
  std::remove(path.c_str());
}

TEST_CASE("containers of elements: borrowed by view, copied by tensor") {
  std::vector<double> v{1, 2, 3, 4};
  const auto& constant = v;
  tt::view(v)(0) = 7;
  CHECK(v[0] == 7);
  tt::view(v, {2, 2})(1) = 5;
  CHECK(v == std::vector<double>{7, 2, 5, 5});
  static_assert(std::is_same_v<decltype(tt::view(constant)), tt::view_of<const double, 1>>);
  double plain[] = {1, 2, 3};
  tt::view(plain)(0) = 4;
  CHECK((tt::sum(tt::view(plain)) == 9 && plain[0] == 4));
  CHECK(tt::sum(tt::view(std::span<const double>(v).first(2))) == 9);
  CHECK_THROWS_AS((void)tt::view(v, {2, 3}), tt::shape_error);
  CHECK_THROWS_AS((void)tt::view(v, {-2, -2}), tt::shape_error);
  const tt::tensor<double, 1> copy(v), promoted(std::array<int, 2>{1, 2});
  v[0] = 0;
  CHECK(copy(0) == 7);
  CHECK(promoted(1) == 2);
  CHECK(tt::tensor<float, 1>(std::vector<float>{}).size() == 0);
  // taped elements
  const auto f = [](const auto& x) {
    std::vector<tt::scalar_t<decltype(x)>> parts{x(1), x(0) * x(0)};
    return sum(tt::tensor(parts) * x);
  };
  CHECK(tt::all(tt::grad(f)(tt::tensor<double, 1>{3, 5}) == tt::tensor<double, 1>{35, 12}));  // x1 x0 + x0^2 x1
}

TEST_CASE("a tensor of containers in containers") {
  const std::vector<std::vector<double>> rows{{1, 2, 3}, {4, 5, 6}};
  const tt::tensor x(rows);
  static_assert(std::is_same_v<decltype(x), const tt::tensor<double, 2>>);
  CHECK(tt::all(x == tt::tensor<double, 2>{{1, 2, 3}, {4, 5, 6}}));
  const tt::tensor cube(std::array<std::vector<std::array<int, 2>>, 2>{{{{1, 2}}, {{3, 4}}}});
  static_assert(std::is_same_v<decltype(cube), const tt::tensor<int, 3>>);
  CHECK(tt::all(cube == tt::tensor<int, 3>{{{1, 2}}, {{3, 4}}}));
  CHECK(tt::tensor<double, 2>(std::vector<std::vector<float>>{{0.5f}})(0, 0) == 0.5);
  CHECK((tt::tensor<double, 2>(std::vector<std::vector<double>>{}).shape() == tt::dims<2>{{0, 0}}));
  CHECK((tt::tensor<double, 2>(std::vector<std::vector<double>>(2)).shape() == tt::dims<2>{{2, 0}}));
  CHECK_THROWS_AS((tt::tensor<double, 2>(std::vector<std::vector<double>>{{1, 2}, {3}})), tt::shape_error);
  static_assert(!std::is_constructible_v<tt::tensor<double, 1>, decltype(rows)> && !std::is_convertible_v<decltype(rows), tt::tensor<double, 2>>);
  tt::tensor<double, 1> v{1, 2, 3};
  const tt::tensor elements{v(0), v(2)}, held(std::vector{v(1), v(2)});
  const tt::tensor square{{v(0), v(1)}, {v(2), v(0)}};
  const tt::tensor listed(std::list<float>{1, 2});
  const tt::tensor mask(std::vector<bool>{true, false});
  static_assert(std::is_same_v<decltype(elements), const tt::tensor<double, 1>> && std::is_same_v<decltype(square), const tt::tensor<double, 2>>);
  static_assert(std::is_same_v<decltype(held), decltype(elements)> && std::is_same_v<decltype(listed), const tt::tensor<float, 1>> && std::is_same_v<decltype(mask), const tt::tensor<bool, 1>>);
  const double plain[] = {1, 2, 3};
  int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
  const tt::tensor copied(plain);
  const tt::tensor integers(grid);
  static_assert(std::is_same_v<decltype(copied), const tt::tensor<double, 1>> && std::is_same_v<decltype(integers), const tt::tensor<int, 2>>);
  CHECK((tt::all(copied == v) && tt::all(integers == tt::tensor<int, 2>{{1, 2, 3}, {4, 5, 6}}) && tt::tensor<double, 2>(grid)(1, 2) == 6));
  const std::array<float, 2> pairs[] = {{1, 2}, {3, 4}};
  CHECK(tt::tensor(pairs)(1, 0) == 3);
  static_assert(!std::is_constructible_v<tt::tensor<double, 2>, double[3]> && !std::is_convertible_v<double (&)[3], tt::tensor<double, 1>> && !std::is_constructible_v<tt::tensor<char, 1>, const char (&)[4]>);
  v(0) = 7;
  CHECK((elements(0) == 1 && elements(1) == 3 && square(1, 0) == 3 && held(0) == 2 && listed(1) == 2 && mask(0) && !mask(1)));
  // taped elements
  const auto few = [](const auto& v) {
    const tt::scalar_t<decltype(v)> parts[] = {v(1), v(0) * v(0)};
    return sum(tt::tensor(parts) * v);
  };
  CHECK(tt::all(tt::grad(few)(tt::tensor<double, 1>{3, 5}) == tt::tensor<double, 1>{35, 12}));
  const auto f = [](const auto& v) {
    const std::vector<std::vector<tt::scalar_t<decltype(v)>>> parts{{v(1), v(0) * v(0)}};
    return sum(tt::tensor(parts)(0) * v);
  };
  CHECK(tt::all(tt::grad(f)(tt::tensor<double, 1>{3, 5}) == tt::tensor<double, 1>{35, 12}));
}

TEST_CASE("braces written through views, shapes printed, sizes of expressions") {
  tt::tensor<double, 2> m(3, 4);
  m(0) = {1, 2, 3, 4};
  m(tt::range(1, 3), tt::range(0, 2)) = {{5, 6}, {7, 8}};
  CHECK(tt::all(m == tt::tensor<double, 2>{{1, 2, 3, 4}, {5, 6, 0, 0}, {7, 8, 0, 0}}));
  auto column = m(tt::all, 3);
  column = {-1, -2, -3};
  CHECK((m(0, 3) == -1 && m(2, 3) == -3));
  CHECK_THROWS_AS((m(0) = {1, 2, 3}), tt::shape_error);
  CHECK(m(0, 0) == 1);
  std::ostringstream text;
  CHECK(tt::all(tt::full(m.shape(), 1.5) == tt::full({3, 4}, 1.5)));
  tt::tensor<std::complex<double>, 1> z(2);
  z(0) = {3, 4};  // of one element: its constructor's
  z(1) = {0, 1};
  column(0) = {2.5};
  z(0) += z(1) = z(1);
  z(0) -= z(1);
  m(2, 2) = m(2, 1) *= m(1, 0) = 3;
  CHECK((m(1, 0) == 3 && m(2, 1) == 24 && m(2, 2) == 24));
  CHECK((z(0) == std::complex<double>(3, 4) && z(1) == std::complex<double>(0, 1) && m(0, 3) == 2.5));
  text << m.shape() << column.shape() << tt::dims<0>{};
  CHECK(text.str() == "(3,4)(3,)()");
  const auto e = m + m;
  CHECK((e.size() == 12 && e.extent(-1) == 4));
  CHECK_THROWS_AS((void)e.extent(2), tt::axis_error);
  static_assert(!std::is_convertible_v<decltype(m + 1), std::span<const double>> && !std::ranges::range<decltype(m + 1)> && !std::is_convertible_v<decltype(m == 1), bool>);
  static_assert(std::is_same_v<decltype(tt::arange<float>(0, 5)), tt::tensor<float, 1>> && std::is_same_v<decltype(tt::arange<int>(0, m.size())), tt::tensor<int, 1>>);
  static_assert(std::is_same_v<decltype(tt::arange(0, m.size())), tt::tensor<std::int64_t, 1>> && std::is_same_v<decltype(tt::arange(0, 2, 0.5f)), tt::tensor<float, 1>>);
  CHECK(tt::all(tt::arange(0, 1, 0.25) == tt::tensor<double, 1>{0, 0.25, 0.5, 0.75}));
  CHECK(tt::all(tt::full({2}, 1.5) == tt::tensor<double, 1>{1.5, 1.5}));
  CHECK(tt::all(tt::normal<double>(tt::rng(3), 2, 2) == tt::normal<double>(tt::rng(3), {2, 2})));
  CHECK(tt::all(tt::uniform<float>(tt::rng(3), 4) == tt::uniform<float>(tt::rng(3), {4})));
  CHECK(permute(tt::tensor<double, 0>(2.0))() == 2);
}

TEST_CASE("element type and rank of a tensor deduced") {
  const tt::tensor a{{1.0, 2.0}, {3.0, 4.0}};
  const tt::tensor copy = a, twice = a * 2;
  const tt::tensor row = a(1);
  const tt::tensor flat{1, 2, 3};
  const tt::tensor cube{{{1.0f}}};
  const tt::tensor mask = a > 2;
  static_assert(std::is_same_v<decltype(a), const tt::tensor<double, 2>> && std::is_same_v<decltype(copy), decltype(a)> && std::is_same_v<decltype(twice), decltype(a)>);
  static_assert(std::is_same_v<decltype(row), const tt::tensor<double, 1>> && std::is_same_v<decltype(flat), const tt::tensor<int, 1>>);
  static_assert(std::is_same_v<decltype(cube), const tt::tensor<float, 3>> && std::is_same_v<decltype(mask), const tt::tensor<bool, 2>>);
  CHECK(twice(1, 1) == 8);
  CHECK(row(0) == 3);
  const tt::tensor single{a};
  static_assert(std::is_same_v<decltype(single), decltype(a)>);
}
TEST_CASE("what printing leaves as it is: long double, a decimal point, arrays without elements") {
  CHECK(tt::to_string(tt::tensor<long double, 1>{1.5L, -0.25L}) == "[  1.5, -0.25]");
  if (std::numeric_limits<long double>::max_exponent10 > 1000) CHECK(tt::to_string(tt::tensor<long double, 1>{1e400L}) == "[1.e+400]");
  CHECK(tt::to_string(tt::tensor<double, 2>(3000000, 0)) == "[]");
  CHECK(tt::to_string(tt::tensor<double, 3>(2, 0, 3)) == "[]");
  CHECK(tt::print_detail::with_point("1,5e-7", ",") == "1.5e-7");  // most machines have no such locale
  CHECK(tt::print_detail::with_point("15", ",") == "15");
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  for (const char* comma : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"})
    if (std::setlocale(LC_NUMERIC, comma)) CHECK(tt::to_string(tt::tensor<double, 1>{1.5, -0.25}) == "[  1.5, -0.25]");
  std::setlocale(LC_NUMERIC, before.c_str());
}
TEST_CASE("load_npy of what is no file of numbers") {
  CHECK_THROWS_WITH_AS((tt::load_npy<double, 1>("/")), doctest::Contains("directory"), tt::io_error);
  CHECK_THROWS_AS(tt::save_npy(std::string("a\0b", 3), tt::tensor<double, 1>{1.0}), tt::io_error);
  const std::string path = "texts.npy";
  std::string header = "{'descr': '<U2', 'fortran_order': False, 'shape': (1,), }";
  header.resize(117, ' ');
  header += '\n';
  std::FILE* const f = std::fopen(path.c_str(), "wb");
  REQUIRE(f);
  std::fputs("\x93NUMPY\x01", f), std::fputc(0, f), std::fputc(static_cast<int>(header.size()), f), std::fputc(0, f), std::fputs(header.c_str(), f), std::fputs("ab      ", f);
  std::fclose(f);
  CHECK_THROWS_WITH_AS((tt::load_npy<double, 1>(path)), doctest::Contains("no numbers"), tt::format_error);
  std::remove(path.c_str());
}
