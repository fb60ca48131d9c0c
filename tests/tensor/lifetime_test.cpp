// An expression is a value: nothing dangles, values are snapshots, views alias, statements allocate nothing they need not.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <memory>
#include <thread>
#include <ttensor/all.hpp>
#include <vector>

namespace tt = ttensor;
using vec = tt::tensor<double, 1>;
using mat = tt::tensor<double, 2>;

namespace {
auto from_function() {
  const vec a{1, 2, 3};
  vec b{10, 20, 30};
  return a * b + 1;
}
std::vector<double> values(const auto& x) {
  const auto t = tt::eval(x);
  std::vector<double> v;
  for (tt::index_t i = 0; i < t.size(); ++i) v.push_back(t.data()[i]);
  return v;
}
using list = std::vector<double>;
}  // namespace

TEST_CASE("an expression returned from a function owns its leaves") {
  const auto e = from_function();
  CHECK(values(e) == list{11, 41, 91});
  CHECK(values(e + e) == list{22, 82, 182});
}

TEST_CASE("a lambda returning an expression of its locals, and a scalar local captured by value") {
  const auto make = [](double s) {
    const vec local{1, 2};
    const double scale = 2 * s;
    return local * scale - s;
  };
  const auto e = make(3);
  const auto f = make(1);
  CHECK(values(e) == list{3, 9});
  CHECK(values(e * f) == list{3, 27});
}

TEST_CASE("auto r = -x - 2 * log(y) holds its parts") {
  auto x = std::make_unique<vec>(vec{1, 2});
  auto y = std::make_unique<vec>(vec{1, 1});
  const auto r = -*x - 2 * log(*y);
  x.reset();
  y.reset();
  CHECK(values(r) == list{-1, -2});
}

TEST_CASE("an expression sees the elements as they were when it was built") {
  vec a{1, 2, 3};
  const auto e = a + 0.5;
  a(0) = 100;
  CHECK(values(e) == list{1.5, 2.5, 3.5});
  a = vec{7, 8, 9};
  CHECK(values(e) == list{1.5, 2.5, 3.5});
  const auto f = a * 2.0;
  auto view = a(tt::range(0, 2));
  view = 0;  // a view written while an expression over its tensor is alive
  CHECK(values(f) == list{14, 16, 18});
  CHECK(values(a) == list{0, 0, 9});
  a += 1;
  CHECK(values(f) == list{14, 16, 18});
  CHECK(values(view) == list{1, 1});
}

TEST_CASE("views alias the tensor both ways, views of views too") {
  mat m{{1, 2, 3}, {4, 5, 6}};
  auto column = m(tt::all, 1);
  auto row = m(0);
  column = vec{20, 50};
  CHECK(row(1) == 20);
  m(1, 1) = 55;
  CHECK(column(1) == 55);
  auto part = row(tt::range(1, 3));
  part += 1;
  CHECK(values(m) == list{1, 21, 4, 4, 55, 6});
  auto t = transpose(m);
  t(2, 0) = -1;
  CHECK(m(0, 2) == -1);
  m = mat{{0, 0, 0}, {9, 9, 9}};  // same shape: the views stay views
  CHECK(values(row) == list{0, 0, 0});
  CHECK(values(column) == list{0, 9});
}

TEST_CASE("a view of a temporary owns it") {
  const auto v = vec{1, 2, 3, 4}(tt::range(1, 3));
  CHECK(values(v) == list{2, 3});
  const auto t = transpose(mat{{1, 2}, {3, 4}});
  CHECK(values(t) == list{1, 3, 2, 4});
  const auto moved = [] {
    vec a{5, 6, 7};
    return a(tt::range(tt::end, tt::end, -1));
  }();
  CHECK(values(moved) == list{7, 6, 5});
}

TEST_CASE("views of const tensors are read only") {
  const vec a{1, 2};
  auto v = a(tt::range(0, 1));
  static_assert(std::is_same_v<decltype(v), tt::view_of<const double, 1>>);
  static_assert(std::is_same_v<decltype(a(0)), double>);
  static_assert(!std::is_assignable_v<decltype(a(0)), double>);
  CHECK(v(0) == 1);
}

TEST_CASE("copies are O(1) until written, and then independent") {
  const tt::index_t n = 100000;
  vec a = tt::ones<double>(n);
  const auto before = tt::mem::stats.system;
  vec b = a;
  const vec c = b;
  CHECK(std::as_const(a).data() == std::as_const(b).data());
  b(5) = 7;
  CHECK(a(5) == 1);
  CHECK(b(5) == 7);
  CHECK(c(5) == 1);
  CHECK(std::as_const(a).data() == c.data());
  if (TTENSOR_KEEPS_BLOCKS) CHECK(tt::mem::stats.system - before <= 4);
  a = b;
  b(6) = 8;
  CHECK(a(5) == 7);
  CHECK(a(6) == 1);
  vec moved = std::move(a);
  CHECK(moved(5) == 7);
  a = moved;  // a moved-from tensor can be assigned
  CHECK(a(5) == 7);
  vec& self = a;
  a = self;
  CHECK(a(5) == 7);
}

TEST_CASE("a view of a copy detaches from the original, and a copy of a viewed tensor from the view") {
  vec a{1, 2, 3};
  vec b = a;
  auto vb = b(tt::range(0, 2));
  vb = 0;
  CHECK(values(a) == list{1, 2, 3});
  CHECK(values(b) == list{0, 0, 3});
  vec c = b;
  vb = 5;
  CHECK(values(c) == list{0, 0, 3});
  CHECK(values(b) == list{5, 5, 3});
}

TEST_CASE("self-assignment through views") {
  vec a{1, 2, 3, 4, 5};
  a(tt::range(1, 5)) = a(tt::range(0, 4));  // overlap with another mapping
  CHECK(values(a) == list{1, 1, 2, 3, 4});
  a = a(tt::range(tt::end, tt::end, -1));
  CHECK(values(a) == list{4, 3, 2, 1, 1});
  a(tt::range(0, 4)) += a(tt::range(1, 5));
  CHECK(values(a) == list{7, 5, 3, 2, 1});
  a(tt::ellipsis) = a(tt::ellipsis);
  CHECK(values(a) == list{7, 5, 3, 2, 1});
  mat m{{1, 2}, {3, 4}};
  m = transpose(m) + m;
  CHECK(values(m) == list{2, 5, 5, 8});
  m(tt::all, 0) = m(0);
  CHECK(values(m) == list{2, 5, 5, 8});
  m(0) = m(tt::all, 1) * 10.0;
  CHECK(values(m) == list{50, 80, 5, 8});
  vec big = tt::linspace<double>(0, 999, 1000);
  big(tt::range(1, 1000)) = big(tt::range(0, 999)) + 0.0;
  CHECK(big(999) == 998);
  CHECK(big(1) == 0);
}

TEST_CASE("x*x + z*z with distinct objects and with the same one") {
  const vec x{1, 2, 3}, z{4, 5, 6};
  const auto f = [](const vec& a, const vec& b) { return a * a + b * b; };
  const auto same = f(x, x);
  const auto distinct = f(x, z);
  CHECK(values(same) == list{2, 8, 18});
  CHECK(values(distinct) == list{17, 29, 45});
}

TEST_CASE("statements into existing tensors allocate nothing") {
  const tt::index_t n = 5000;
  vec a = tt::ones<double>(n), b = tt::full<double>({n}, 2.0), c = tt::full<double>({n}, 3.0);
  const double* p = a.data();
  const auto before = tt::mem::stats.blocks;
  a += b * c;
  a += a * b;
  a = a * b + c;
  a(tt::range(0, 100)) += b(tt::range(100, 200));
  a = 1;
  a(tt::all) = b(0);
  CHECK(a.data() == p);
  CHECK(tt::mem::stats.blocks == before);
  CHECK(a(7) == 2);
  const auto system = tt::mem::stats.system;
  for (int i = 0; i < 3; ++i) a(tt::range(0, n, 2)) = b(tt::range(0, n, 2)) * 2.0;  // strided: one scratch tile, from the cache
  if (TTENSOR_KEEPS_BLOCKS) CHECK(tt::mem::stats.system <= system + 1);
  CHECK(std::as_const(a).data() == p);
}

TEST_CASE("a statement drops every hold that it counted, whichever loop it ran and whoever owned last") {
  const auto rational = [](const auto& x, const auto& z, const auto& u, const auto& a) { return (((x * 0.5 + 1) * z - 0.75) * u + 2.0) / (x * x + 1.5) + a; };
  for (const tt::index_t n : {1, 5, 8, 13, 16, 1000, 1003}) {
    vec x(n), z(n), u(n), a(n), y(n);
    for (tt::index_t i = 0; i < n; ++i) x(i) = double(i % 7) - 3, z(i) = x(i), u(i) = x(i), a(i) = double(i);
    const auto expected = [&](tt::index_t i) { return (((x(i) * 0.5 + 1) * z(i) - 0.75) * u(i) + 2.0) / (x(i) * x(i) + 1.5) + a(i); };
    const auto writes_in_place = [&](vec& t) {
      const double* before = static_cast<const vec&>(t).data();
      t(0) = t(0) + 0.0;
      return static_cast<const vec&>(t).data() == before;
    };
    const auto check = [&] {
      bool right = true;
      for (tt::index_t i = 0; i < n; ++i) right = right && std::abs(y(i) - expected(i)) < 1e-12;
      CHECK(right);
      CHECK(writes_in_place(x));
      CHECK(writes_in_place(z));
      CHECK(writes_in_place(u));
      CHECK(writes_in_place(a));
      CHECK(writes_in_place(y));
    };
    y = rational(x, x, x, a);  // the names are merged
    check();
    y = rational(x, z, u, a);  // they are not
    check();
    y = rational(x, z, z, a);
    check();
    y = rational(vec(x), vec(z), vec(u), vec(a));  // copies share the blocks
    check();
    y = rational(vec(x + 0.0), vec(z + 0.0), vec(u + 0.0), vec(a + 0.0));  // the statement is the last owner
    check();
    const vec none(n);
    y = rational(vec(none + x), z, u, vec(none + a));
    check();
    auto e = rational(vec(none + x), z, z, a);  // of a thread that builds, evaluated on another
    std::thread([&] { y = std::move(e); }).join();
    vec mail(n);  // settles what the other thread posted
    check();
    vec w = y;
    y = y + 0.0 * x;  // in place, but for the copy
    CHECK(writes_in_place(w));
    check();
    y = y * 1.0 + y * 0.0 + x * 0.0 + y * 0.0;
    check();
  }
}

TEST_CASE("an expression that has a name is not written in place") {
  vec a{1, 2, 3};
  const auto e = a * 2.0;
  a = e;
  CHECK(values(a) == list{2, 4, 6});
  CHECK(values(e) == list{2, 4, 6});
  a = e + a;
  CHECK(values(a) == list{4, 8, 12});
  CHECK(values(e) == list{2, 4, 6});
  auto view = a(tt::range(0, 2));
  const auto f = view + 1;
  view = f;
  CHECK(values(f) == list{5, 9});
  CHECK(values(a) == list{5, 9, 12});
}

TEST_CASE("a statement that throws leaves its output unchanged") {
  vec a{1, 2, 3};
  const vec b{1, 2};
  CHECK_THROWS_AS(a = a + b, tt::shape_error);
  CHECK_THROWS_AS(a += b, tt::shape_error);
  CHECK_THROWS_AS(a(tt::range(0, 2)) = a, tt::shape_error);
  CHECK(values(a) == list{1, 2, 3});
}

TEST_CASE("borrowed memory is the caller's") {
  double raw[4] = {1, 2, 3, 4};
  auto v = tt::view(raw, {2, 2});
  v += 1;
  CHECK(raw[3] == 5);
  const vec copy = v(0);
  raw[0] = 50;
  CHECK(v(0, 0) == 50);
  CHECK(copy(0) == 2);
  v = transpose(v) + 0.0;
  CHECK(raw[1] == 4);
}

TEST_CASE("a view of a tensor's own memory by pointer overlaps it") {
  for (const tt::index_t n : {5, 100, 1000}) {
    const vec start = tt::arange<double>(static_cast<double>(n)), back = flip(start, 0);
    const auto over = [&](auto&& change) {
      vec a = start + 0.0;
      change(a, tt::view(a.data(), {n}));
      return a;
    };
    CHECK(tt::all(over([](vec& a, auto w) { a = flip(w, 0); }) == back));
    CHECK(tt::all(over([](vec& a, auto w) { w = flip(a, 0); }) == back));
    CHECK(tt::all(over([](vec& a, auto w) { a = w * 2.0 + flip(w, 0); }) == start * 2.0 + back));
    CHECK(tt::all(over([n](vec& a, auto w) { a(tt::range(1, n)) = w(tt::range(0, n - 1)); })(tt::range(1, n)) == start(tt::range(0, n - 1))));
    CHECK(tt::all(over([n](vec& a, auto w) { w(tt::range(1, n)) += a(tt::range(0, n - 1)); })(tt::range(1, n)) == start(tt::range(1, n)) + start(tt::range(0, n - 1))));
  }
  tt::tensor<double, 2> m = reshape(tt::arange<double>(400), 20, 20);
  const tt::tensor<double, 2> before = m + 0.0;
  const auto w = tt::view(m.data(), {20, 20});
  m(tt::range(0, 10)) = transpose(w)(tt::range(0, 10));
  CHECK(tt::all(m(tt::range(0, 10)) == transpose(before)(tt::range(0, 10))));
}

TEST_CASE("views see what their tensor is assigned where that has as many elements, else they keep the old ones") {
  tt::tensor<double, 2> a{{1, 2, 3}, {4, 5, 6}};
  const auto row = a(0);
  a = tt::tensor<double, 2>{{10, 20}, {30, 40}, {50, 60}};
  CHECK(row(2) == 30);
  a = tt::tensor<double, 2>{{7, 8}};
  CHECK(row(0) == 10);
}

TEST_CASE("a tensor that has views takes one that has no elements") {
  vec a(0), none;
  const auto view = a(tt::all);
  a = vec{};
  CHECK(a.size() == 0);
  a = none;
  CHECK(a.size() == 0);
  vec b{1, 2, 3}, c{4, 5, 6};
  const vec taken = std::move(b);
  const auto of_c = c(tt::all);
  c = std::move(b);  // moved from already
  CHECK(c.size() == 0);
  CHECK(of_c.size() == 3);
  c = taken;
  CHECK(c(2) == 3);
}

TEST_CASE("blocks are freed from other threads") {
  std::vector<vec> made;
  std::thread maker([&] {
    for (int i = 0; i < 50; ++i) made.push_back(tt::full<double>({100}, double(i)));
  });
  maker.join();  // the owner of these blocks has ended
  for (int i = 0; i < 50; ++i) {
    vec copy = made[static_cast<std::size_t>(i)];
    copy(0) = -1;
    CHECK(made[static_cast<std::size_t>(i)](0) == i);
  }
  made.clear();
  vec mine = tt::ones<double>(1000);
  auto expression = mine * 2.0;
  std::thread user([e = std::move(expression)] { CHECK(tt::eval(e)(7) == 2); });  // dies over there
  user.join();
  mine(0) = 5;
  CHECK(mine(0) == 5);
  CHECK(mine(1) == 1);
  std::vector<std::thread> many;
  for (int t = 0; t < 4; ++t)
    many.emplace_back([copy = mine, t] {
      vec local = copy + double(t);
      for (int i = 0; i < 20; ++i) local += copy;
    });
  for (std::thread& t : many) t.join();
  const vec after = mine + 1;
  CHECK(after(1) == 2);
}
TEST_CASE("an expression that was moved from holds nothing: copying, moving and assigning it are harmless, building on it and evaluating it are errors") {
  vec a{1, 2}, b{3, 4};
  auto e = a + b;
  {
    auto taken = std::move(e);
    CHECK(tt::eval(taken)(1) == 6);
  }
  a = vec{5, 6};  // the old elements are gone now
  auto copy = e;
  auto again = std::move(e);
  CHECK_THROWS_AS(std::move(copy) * std::move(again), tt::error);
  vec y(2);
  CHECK_THROWS_AS(y = copy, tt::error);
  CHECK_THROWS_AS(tt::eval(copy), tt::error);
  CHECK_THROWS_AS(tt::sum(copy), tt::error);
  CHECK(y(1) == 0);
  e = a + b;
  CHECK(tt::eval(e)(0) == 8);
}
TEST_CASE("an array of rank 0 that was moved from is no number") {
  tt::tensor<double, 0> a(1.5);
  const auto b = std::move(a);
  CHECK(double(b) == 1.5);
  CHECK_THROWS_WITH_AS(static_cast<void>(double(a)), doctest::Contains("TT-E01"), tt::error);
  CHECK_THROWS_WITH_AS(static_cast<void>(sum(a)), doctest::Contains("TT-E01"), tt::error);
  CHECK_THROWS_WITH_AS(a() = 7.0, doctest::Contains("TT-E01"), tt::error);
  CHECK_THROWS_WITH_AS(static_cast<void>(tt::to_string(a)), doctest::Contains("TT-E01"), tt::error);
  vec x{1, 2, 3};
  const double* const place = x.data();
  CHECK_THROWS_WITH_AS(static_cast<void>(tt::eval(x + a)), doctest::Contains("TT-E01"), tt::error);
  x(0) = 2;
  CHECK(std::as_const(x).data() == place);  // nobody else holds it
  a = 2.0;
  CHECK(double(a) == 2);
}

TEST_CASE("an operator that throws holds nothing: its other operands are written in place again") {
  vec a{1, 2}, b{3, 4};
  auto dead = a + b;
  const vec taken = std::move(dead);
  CHECK_THROWS_AS(std::move(dead) + b, tt::error);
  CHECK_THROWS_AS(b + std::move(dead), tt::error);
  CHECK_THROWS_AS(dead * 2.0 + b, tt::error);  // a name of it is as dead
  CHECK_THROWS_AS(tt::eval(b + vec(3)), tt::shape_error);
  vec z{1, 2, 3, 4};
  auto used = z(tt::range(0, 3)) * 10.0;
  z(tt::range(1, 4)) = std::move(used);
  CHECK(values(z) == list{1, 10, 20, 30});
  CHECK_THROWS_AS(tt::eval(used), tt::error);  // its elements are those that were written
  const std::uint64_t before = tt::mem::stats.blocks;
  b = b * 2.0;
  CHECK(tt::mem::stats.blocks == before);
  CHECK(b(1) == 8);
}
TEST_CASE("an expression that a tensor was assigned from by move is used up") {
  vec a{1, 2};
  auto e = a + 1.0;
  a = std::move(e);  // in place: what e would show now is not its snapshot
  CHECK(a(0) == 2);
  CHECK_THROWS_AS(e + 1.0, tt::error);
  auto f = a + 1.0;
  const vec c = std::move(f);
  CHECK(c(0) == 3);
  CHECK_THROWS_AS(f + 1.0, tt::error);
}
TEST_CASE("a tensor that went to another thread does not write under an expression that lives here") {
  for (int round = 0; round < 20; ++round) {
    vec a = tt::full<double>({500}, 1.0);
    auto e = std::make_unique<decltype(a + 1.0)>(a + 1.0);
    vec written;
    std::thread other([&written, m = std::move(a)]() mutable {
      m *= 3.0;
      written = std::move(m);
    });
    const vec read = *e;
    e.reset();
    other.join();
    CHECK(read(499) == 2);
    CHECK(written(499) == 3);
  }
}

TEST_CASE("a view that was moved from is written no more; swap exchanges elements") {
  tt::tensor<double, 2> m{{1, 2}, {3, 4}};
  {
    auto a = m(0), b = m(1);
    CHECK_THROWS_AS(std::swap(a, b), tt::error);
  }
  CHECK(m(0, 0) == 1);
  swap(m(0), m(1));
  CHECK(m(0, 1) == 4);
  using std::swap;
  auto a = m(0), b = m(1);
  swap(a, b);
  CHECK(m(0, 1) == 2);
  swap(m(0, 0), m(1, 1));
  CHECK(m(0, 0) == 4);
  CHECK(m(1, 1) == 1);
  CHECK_THROWS_AS(swap(m(0), m(0)(tt::range(0, 1))), tt::shape_error);
  vec x{1, 2}, y{3, 4, 5};
  std::swap(x, y);
  swap(x, y);
  swap(x, y);
  CHECK(x.size() == 3);  // three times
  CHECK(y(1) == 2);
}
TEST_CASE("a reference to an element is a value that lives as long") {
  vec x{5, 2}, y{7, 8};
  const double& r = x(0);
  x = y * 2.0;
  CHECK(r == 5);
}
TEST_CASE("the first axis in a loop and in brackets") {
  vec x{1, 2, 3};
  double s = 0;
  for (const double v : x) s += v;
  for (const double v : tt::eval(x + 1.0)) s += v;
  CHECK(s == 15);
  x *= 2.0;
  x[1] = x[2];
  CHECK(values(x) == list{2, 6, 6});
  tt::tensor<double, 2> m{{1, 3}, {2, 2}};
  for (auto row : m) row /= sum(row);
  m[1][0] = 7;
  CHECK(m(0, 1) == 0.75);
  CHECK(m(1, 0) == 7);
  tt::fixed<double, 2> f{1, 2};
  f[1] = 3;
  CHECK(std::accumulate(f.begin(), f.end(), 0.0) == 4);
  const auto squares = [](const auto& t) {
    auto total = t[0] * 0.0;
    for (auto v : t) total += v * v;
    return total;
  };
  CHECK(values(tt::grad(squares)(x)) == list{4, 12, 12});
}
TEST_CASE("item and to_host") {
  const tt::tensor<double, 2> one{{3}};
  CHECK(tt::item(one) == 3);
  CHECK(item(one * 2.0) == 6);
  CHECK(tt::item(tt::tensor<double, 0>(4.0)) == 4);
  CHECK(tt::item(2.5) == 2.5);
  const tt::tensor<double, 1> two{1, 2};
  CHECK(tt::item(two(1)) == 2);
  CHECK_THROWS_AS(tt::item(two), tt::shape_error);
  CHECK(tt::all(to_host(two + 1.0) == tt::tensor<double, 1>{2, 3}));
}
