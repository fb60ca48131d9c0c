// cond, for_loop, scan, while_loop (rule 14) on numbers, duals, taped and mapped values.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <ttensor/all.hpp>

namespace control_test {
namespace tt = ttensor;
using namespace ttensor;

namespace {
auto near(double x) { return doctest::Approx(x).epsilon(1e-13); }
const tensor<double, 1> v{1, -2, 3};
constexpr auto twice = [](const auto& t) { return t * 2.0; };
constexpr auto cube = [](const auto& t) { return t * t * t; };
constexpr auto pick = [](auto x) { return cond(x > 0.0, twice, cube, x); };
template <class T> struct particle { T x, speed; int steps; };
}  // namespace

TEST_CASE("the index of for_loop may be taken by reference") {
  CHECK(tt::for_loop(3, [](int& i, const auto& t) { return t + i; }, 1.0) == 4);
}
TEST_CASE("cond runs one branch for a bool and lets each example select") {
  int left = 0, right = 0;
  CHECK(cond(true, [&](double t) { return ++left, t; }, [&](double t) { return ++right, -t; }, 2.0) == 2);
  CHECK(left == 1);
  CHECK(right == 0);
  CHECK(pick(-2.0) == -8);
  const auto y = vmap(pick)(v);
  CHECK(y(0) == 2);
  CHECK(y(1) == -8);
  CHECK(y(2) == 6);
}
TEST_CASE("derivatives of cond") {
  CHECK(tt::grad(pick)(-2.0) == 12);
  CHECK(tt::jvp(pick, 3.0, 1.0).y_dot == 2);
  CHECK(tt::grad(tt::grad(pick))(-2.0) == -12);
  const auto a = vmap(tt::grad(pick))(v);
  const auto b = tt::grad([](const auto& x) { return sum(vmap(pick)(x)); })(v);
  const auto c = vmap([](auto x) { return tt::jvp(pick, x, 1.0).y_dot; })(v);
  const double want[] = {2, 12, 2};
  for (int i = 0; i < 3; ++i) {
    CHECK(a(i) == want[i]);
    CHECK(b(i) == want[i]);
    CHECK(c(i) == want[i]);
  }
}
TEST_CASE("the unselected branch's gradient is selected out, not multiplied") {
  const auto f = [](auto x) { return cond(x > 0.0, [](auto t) { return sqrt(t); }, [](auto t) { return t * 0.0; }, x); };
  const auto g = vmap(tt::grad(f))(tensor<double, 1>{4, 0, -1});
  CHECK(g(0) == 0.25);
  CHECK(g(1) == 0);
  CHECK(g(2) == 0);
}
TEST_CASE("branches of different levels, trees and arrays") {
  CHECK(tt::grad([](auto x) { return cond(true, [](auto) { return 1.0; }, [&](auto t) { return t * x; }, 2.0) + x; })(3.0) == 1);
  CHECK(tt::grad([](auto x) { return cond(false, [](auto) { return 1.0; }, [&](auto t) { return t * x; }, 2.0) + x; })(3.0) == 3);
  const auto r = vmap([](auto x) { return cond(x > 0.0, [](auto t) { return std::pair{t, 1.0}; }, [](auto t) { return std::pair{-t, t}; }, x); })(v);
  CHECK(r.first(1) == 2);
  CHECK(r.second(0) == 1);
  CHECK(r.second(1) == -2);
  const tensor<double, 2> m{{1, 2}, {-3, 4}};
  const auto rows = vmap([](const auto& row) { return cond(sum(row) > 2.0, twice, [](const auto& t) { return t - 1.0; }, row); })(m);
  CHECK(rows(0, 1) == 4);
  CHECK(rows(1, 0) == -4);
}
TEST_CASE("a captured variable under a mapped predicate") {  // the mask has a level that the branches lack
  const auto g = tt::grad([](auto x) { return sum(vmap([&](auto y) { return cond(y > 0.0, [&](auto) { return x * x; }, [&](auto) { return x; }, y); })(v)); })(5.0);
  CHECK(g == 21);  // two examples take x^2
}
TEST_CASE("for_loop") {
  CHECK(for_loop(4, [](int i, auto s) { return s + i; }, 1.0) == 7);
  CHECK(for_loop(0, [](int, auto s) { return s * 2.0; }, 3.0) == 3);
  const auto power = [](auto x) { return for_loop(5, [&](int, auto s) { return s * x; }, 1.0); };  // the state starts as a number
  CHECK(tt::grad(power)(2.0) == 80);
  CHECK(tt::jvp(power, 2.0, 1.0).y_dot == 80);
  CHECK(tt::grad(tt::grad(power))(2.0) == 160);
  CHECK(vmap(tt::grad(power))(v)(1) == 80);
  const auto euler = [](auto k) {
    const auto p = for_loop(100, [&](int, const auto& q) { return particle<decltype(q.x * k)>{q.x + 0.01 * q.speed, q.speed - 0.01 * k * q.x, q.steps + 1}; },
                            particle<double>{1.0, 0.0, 0});
    return p.x;
  };
  const double h = 1e-6;
  CHECK(tt::grad(euler)(2.0) == doctest::Approx((euler(2.0 + h) - euler(2.0 - h)) / (2 * h)).epsilon(1e-7));
  CHECK(tt::grad(euler)(2.0) == near(tt::jvp(euler, 2.0, 1.0).y_dot));
}
TEST_CASE("scan") {
  const auto [last, all] = scan([](auto c, auto x) { return std::pair{c + x, c * x}; }, 1.0, v);
  CHECK(last == 3);
  CHECK(all(0) == 1);
  CHECK(all(1) == -4);
  CHECK(all(2) == 0);
  const auto f = [](const auto& xs) {
    const auto r = scan([](auto c, auto x) { return std::pair{c * x, c + x}; }, 2.0, xs);
    return r.first + sum(r.second * r.second);
  };
  const auto g = tt::grad(f)(v);
  const auto t = tt::jvp(f, v, tensor<double, 1>{0, 1, 0}).y_dot;
  // carries 2, 2x0, 2x0x1, 2x0x1x2; d/dx1 = 2x0x2 + 2(c1 + x1) + 2(c2 + x2) 2x0 = 6 + 0 + 2(-4 + 3) 2
  CHECK(t == 2);
  CHECK(g(1) == 2);
  const tensor<double, 2> m{{1, 2}, {3, 4}, {5, 6}};
  const auto rows = scan([](const auto& c, const auto& x) { return std::pair{c + x, c * 1.0}; }, tensor<double, 1>{0, 0}, m);
  CHECK(rows.first(1) == 12);
  CHECK(rows.second(2, 0) == 4);
  const auto gm = tt::grad([](const auto& xs) { return sum(scan([](const auto& c, const auto& x) { return std::pair{c * x, c + x}; }, tensor<double, 1>{1, 1}, xs).first); })(m);
  CHECK(gm(0, 0) == 15);
  CHECK(gm(2, 1) == 8);
  CHECK_THROWS_AS(scan([](auto c, auto x) { return std::pair{c + std::get<0>(x), c}; }, 0.0, std::tuple{v, tensor<double, 1>{1, 2}}), shape_error);
  const auto per = vmap([](const auto& row) { return scan([](auto c, auto x) { return std::pair{c + x, c}; }, 0.0, row).first; })(m);
  CHECK(per(2) == 11);
}
TEST_CASE("switch_ runs the branch of its number, the ends beyond them") {
  const auto f = [](const auto& i, const auto& x) { return switch_(i, std::tuple{twice, cube, [](const auto& t) { return t + 1.0; }}, x); };
  CHECK(f(-1, 3.0) == 6);
  CHECK(f(0, 3.0) == 6);
  CHECK(f(1, 3.0) == 27);
  CHECK(f(2, 3.0) == 4);
  CHECK(f(9, 3.0) == 4);
  CHECK(tt::grad<1>(f)(1, 3.0) == 27);
  CHECK(tt::jvp([&](auto x) { return f(1, x); }, 3.0, 1.0).y_dot == 27);
  CHECK(f(tensor<int, 1>{2, 1}(1), 3.0) == 27);
  const tensor<int, 1> which{0, 1, 2, 1, 7};
  const auto over = [&](const auto& x) { return vmap(f, in_axes<0, none>)(which, x); };
  CHECK(all(over(3.0) == tensor<double, 1>{6, 27, 4, 27, 4}));
  CHECK(tt::grad([&](const auto& x) { return sum(over(x)); })(3.0) == 2 + 27 + 1 + 27 + 1);
  CHECK(all(vmap(tt::grad<1>(f), in_axes<0, none>)(which, 3.0) == tensor<double, 1>{2, 27, 1, 27, 1}));
  CHECK(all(vmap([&](const auto& i, const auto& x) { return switch_(i, std::tuple{twice, cube}, x); })(tensor<int, 1>{1, 0}, tensor<double, 2>{{1, 2}, {3, 4}}) == tensor<double, 2>{{1, 8}, {6, 8}}));
}
TEST_CASE("while_loop stops by value; mapped, every example stops for itself") {
  const auto f = [](auto x) { return while_loop([](auto s) { return s < 100.0; }, [](auto s) { return s * 3.0; }, x); };
  CHECK(f(2.0) == 162);
  CHECK(tt::jvp(f, 2.0, 1.0).y_dot == 81);
  const tensor<double, 1> u{2, 50, 200};
  const auto y = vmap(f)(u);
  CHECK(y(0) == 162);
  CHECK(y(1) == 150);
  CHECK(y(2) == 200);  // never ran
  const auto d = vmap([&](auto x) { return tt::jvp(f, x, 1.0).y_dot; })(u);
  CHECK(d(0) == 81);
  CHECK(d(1) == 3);
  CHECK(d(2) == 1);
  const auto counted = vmap([](auto x) {
    return while_loop([](const auto& s) { return s.first < 100.0; }, [](const auto& s) { return std::pair{s.first * 3.0, s.second + 1}; }, std::pair{x, 0});
  })(u);
  CHECK(counted.second(0) == 4);
  CHECK(counted.second(1) == 1);
  CHECK(counted.second(2) == 0);
}
TEST_CASE("frozen examples stay as they are, also where the body would be infinite") {
  const auto y = vmap([](auto x) { return while_loop([](auto s) { return s > 1.0; }, [](auto s) { return log(s - 1.0) + 0.5; }, x); })(tensor<double, 1>{0.25, 3.0, 1.0});
  CHECK(y(0) == 0.25);
  CHECK(y(2) == 1.0);
}
TEST_CASE("reverse mode through while_loop needs a bound, which is checked") {
  const auto f = [](auto x) { return while_loop([](auto s) { return s < 100.0; }, [](auto s) { return s * 3.0; }, x, max_trips{6}); };
  CHECK(tt::grad(f)(2.0) == 81);
  const auto g = vmap(tt::grad(f))(tensor<double, 1>{2, 50, 200});
  CHECK(g(0) == 81);
  CHECK(g(1) == 3);
  CHECK(g(2) == 1);
  CHECK_THROWS_AS(f(0.01), domain_error);
  CHECK_THROWS_AS(max_trips{-1}, domain_error);
}
TEST_CASE("scan slices the tensors of a vector") {
  const std::vector<tensor<double, 1>> xs{v, v * 2.0};
  const auto body = [](auto c, const auto& x) { return std::pair{c + x[0] * x[1], c}; };
  CHECK(scan(body, 0.0, xs).first == 2 * sum(v * v));
  const auto g = tt::grad([&](const auto& y) { return scan(body, 0.0, y).first; })(xs);
  CHECK(all(g[0] == 2.0 * v));
  CHECK(all(g[1] == v));
  const auto beside = [](auto c, const auto& x) { return std::pair{c + std::get<0>(x) * std::get<1>(x)[1], c}; };
  CHECK(scan(beside, 0.0, std::tuple{v, xs}).first == 2 * sum(v * v));
  CHECK_THROWS_AS(scan(body, 0.0, std::vector<tensor<double, 1>>{v, {1, 2}}), shape_error);
  const auto none = scan(body, 1.0, std::vector<tensor<double, 1>>{tensor<double, 1>(0), tensor<double, 1>(0)});
  CHECK(none.first == 1);
}
TEST_CASE("branches of cond with different element types, under transforms") {
  const auto f = [](auto x) { return tt::cond(x > 0.0f, [](auto t) { return t * t; }, [](auto) { return 1.0; }, x); };
  const tensor<float, 1> xs{2, -1, 3};
  CHECK(tt::jvp(f, 2.0f, 1.0f).y_dot == 4);
  CHECK(tt::grad(f)(2.0f) == 4);
  CHECK(tt::grad(f)(-2.0f) == 0);
  CHECK(all(tt::vmap(f)(xs) == tensor<double, 1>{4, 1, 9}));
  CHECK(all(tt::vmap(tt::grad(f))(xs) == tensor<float, 1>{4, 0, 6}));
  CHECK(all(tt::vmap(tt::grad(tt::grad(f)))(xs) == tensor<float, 1>{2, 0, 2}));
  const auto of_integer = [](const auto& x) { return tt::cond(x > 0, [](auto t) { return t; }, [](auto) { return 1.5; }, x); };
  CHECK(all(tt::vmap(of_integer)(tensor<int, 1>{3, -1}) == tensor<double, 1>{3, 1.5}));
}
TEST_CASE("scan of no slices: the ys have their inner shapes, the carry is unchanged") {
  const tensor<double, 2> none_of_three(0, 3), product{{1, 2}, {3, 4}, {5, 6}};
  const tensor<double, 1> start{1, 2};
  const auto body = [&](const auto& c, const auto& x) { return std::pair{c * 2.0, std::tuple{matmul(x, product), outer(x, c), sum(x)}}; };
  const auto r = scan(body, start, none_of_three);
  CHECK(all(r.first == start));
  CHECK(std::get<0>(r.second).shape() == dims<2>{{0, 2}});
  CHECK(std::get<1>(r.second).shape() == dims<3>{{0, 3, 2}});
  CHECK(std::get<2>(r.second).shape() == dims<1>{{0}});
  const auto g = tt::grad([&](const auto& c) { return sum(scan(body, c, none_of_three).first * c); })(start);
  CHECK(all(g == 2.0 * start));
  const auto per = vmap([&](const auto& c) { return std::get<1>(scan(body, c, none_of_three).second); })(tensor<double, 2>{{1, 2}, {3, 4}, {5, 6}, {7, 8}});
  CHECK(per.shape() == dims<4>{{4, 0, 3, 2}});
  const auto mixed = scan([](const auto& c, const auto& x) { return std::pair{c, std::get<1>(x) * std::get<0>(x)}; }, 1.0, std::tuple{tensor<int, 1>(0), none_of_three});
  CHECK(mixed.second.shape() == dims<2>{{0, 3}});
  int calls = 0;  // numbers have no inner shape to look for
  CHECK(scan([&](auto c, auto x) { return ++calls, std::pair{c + x, std::tuple{c, x}}; }, 1.0, tensor<double, 1>(0)).first == 1.0);
  CHECK(calls == 0);
  const auto picky = [](const auto& c, const auto& x) { return (sum(x) == 0.0 ? throw domain_error("[x] zeros") : std::pair{c, eval(x * 2.0)}); };
  CHECK(scan(picky, 1.0, none_of_three).second.extent(0) == 0);
}
}  // namespace control_test
