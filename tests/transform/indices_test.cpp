// Masks and integers that are mapped while nothing else is: labels, indices of tables, selections. What is differentiated, or mapped again,
// is then inside their level, although its own type does not show it. Expected values in closed form.
#include <doctest/doctest.h>

#include <ttensor/all.hpp>
#include <vector>

namespace indices_test {
namespace tt = ttensor;

namespace {
const tt::tensor<double, 1> table{1, 2, 3};
const tt::tensor<int, 2> picks{{0, 1}, {2, 2}};
const tt::tensor<int, 1> one_each{2, 0};
const tt::tensor<bool, 2> mask{{true, false, true}, {false, false, true}};
template <class A> void check(const A& a, std::vector<double> want) {
  const auto y = tt::eval(reshape(a, a.size()));
  REQUIRE(static_cast<std::size_t>(y.size()) == want.size());
  for (tt::index_t i = 0; i < y.size(); ++i) CHECK(static_cast<double>(y(i)) == want[static_cast<std::size_t>(i)]);
}
const auto cubes = [](const auto& x, const auto& i) {
  const auto e = take(x, i, 0);
  return sum(e * e * e);
};
const auto square_at = [](const auto& x, const auto& j) { return take(x, j, 0) * take(x, j, 0); };
template <class F> auto over_second(const F& f) { return tt::vmap(f, tt::in_axes<tt::none, 0>); }
}  // namespace

TEST_CASE("derivatives in a table by a mapped index") {
  check(tt::per_sample_grad(cubes)(table, picks), {3, 12, 0, 0, 0, 54});
  check(tt::per_sample_grad(cubes, tt::chunk_size{1})(table, picks), {3, 12, 0, 0, 0, 54});
  check(over_second(tt::value_and_grad(cubes))(table, picks).value, {9, 54});
  check(over_second(tt::hessian(cubes))(table, picks), {6, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 36});
  check(over_second(tt::jacrev([](const auto& x, const auto& i) { return take(x, i, 0); }))(table, picks), {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1});
  check(over_second(tt::jacfwd([](const auto& x, const auto& i) { return take(x, i, 0); }))(table, picks), {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1});
  check(over_second([](const auto& x, const auto& i) { return tt::jvp([&](const auto& a) { return cubes(a, i); }, x, x).y_dot; })(table, picks), {27, 162});
  check(over_second([](const auto& x, const auto& i) {
          const auto [y, pull] = tt::vjp([&](const auto& a) { return take(a, i, 0); }, x);
          return pull(y);
        })(table, picks), {1, 2, 0, 0, 0, 6});
  check(over_second([](const auto& x, const auto& i) { return tt::linearize([&](const auto& a) { return take(a, i, 0); }, x).lin(x); })(table, picks), {1, 2, 3, 3});
  check(over_second([](const auto& x, const auto& i) { return tt::hvp([&](const auto& a) { return cubes(a, i); }, x, x); })(table, picks), {6, 24, 0, 0, 0, 108});
  check(tt::per_sample_grad([](const auto& x, const auto& i) { return sum(square(gather(x, 0, i))); })(table, picks), {2, 4, 0, 0, 0, 12});
  check(tt::per_sample_grad([](const auto& x, const auto& i) { return sum(square(scatter_add(x, 0, i, tt::ones<double>(2)))); })(table, picks), {4, 6, 6, 2, 4, 10});
  const tt::tensor<double, 2> rows{{1, 2}, {3, 4}, {5, 6}};
  check(tt::per_sample_grad([](const auto& x, const auto& i) { return sum(square(take(x, i, 0))); })(rows, one_each), {0, 0, 0, 0, 10, 12, 2, 4, 0, 0, 0, 0});
}
TEST_CASE("masks, labels, pairs of both, loops and branches") {
  check(tt::per_sample_grad([](const auto& x, const auto& m) { return sum(where(m, x * x, 0.0)); })(table, mask), {2, 0, 6, 0, 0, 6});
  check(tt::per_sample_grad([](const auto& x, const auto& j) { return sum(x * x) * j; })(table, tt::tensor<int, 1>{2, 5}), {4, 8, 12, 10, 20, 30});
  check(over_second(tt::grad([](const auto& x, const auto& q) { return sum(where(q.second, x * x, 0.0)) + sum(take(x, q.first, 0)); }))(table, std::pair{picks, mask}),
        {3, 1, 6, 0, 0, 8});
  check(over_second(tt::grad([](const auto& x, const auto& i) {
          return tt::scan([&](auto c, auto k) { auto n = c * 0.5 + square_at(x, k); return std::pair{n, n}; }, 0.0 * x(0), i).first;
        }))(table, picks), {1, 4, 0, 0, 0, 9});
  check(over_second(tt::grad([](const auto& x, const auto& i) { return tt::checkpoint(cubes)(x, i); }))(table, picks), {3, 12, 0, 0, 0, 54});
  check(over_second(tt::grad([](const auto& x, const auto& m) {
          return tt::cond(m, [](const auto& a) { return sum(a * a); }, [](const auto& a) { return sum(a); }, x);
        }))(table, tt::tensor<bool, 1>{true, false}), {2, 4, 6, 1, 1, 1});
}
TEST_CASE("several levels that only an index passes through") {
  check(over_second(over_second(square_at))(table, picks), {1, 4, 9, 9});
  check(over_second(over_second(tt::grad(square_at)))(table, picks), {2, 0, 0, 0, 4, 0, 0, 0, 6, 0, 0, 6});
  check(tt::grad([](const auto& x) { return sum(over_second(over_second(square_at))(x, picks)); })(table), {2, 4, 12});
  check(over_second(tt::grad([](const auto& x, const auto& i) { return sum(over_second(square_at)(x, i)); }))(table, picks), {2, 4, 0, 0, 0, 12});
  check(over_second(tt::grad([](const auto& x, const auto& i) { return sum(over_second(tt::grad(square_at))(x, i)); }))(table, picks), {2, 2, 0, 0, 0, 4});
  check(tt::grad([](const auto& x) { return sum(over_second(tt::grad(cubes))(x, picks)); })(table), {6, 12, 36});
  check(tt::jvp([](const auto& x) { return over_second(tt::grad(cubes))(x, picks); }, table, tt::ones<double>(3)).y_dot, {6, 12, 0, 0, 0, 36});
  check(over_second(tt::grad([](const auto& x, const auto& i) { return sum(tt::grad(cubes)(x, i)); }))(table, picks), {6, 12, 0, 0, 0, 36});
  check(tt::vmap(tt::vmap(tt::grad([](const auto& a, const auto& m) { return where(m, a * a, 0.0); })), tt::in_axes<tt::none, 0>)(table, mask), {2, 0, 6, 0, 0, 6});
  check(tt::vmap(tt::vmap([](const auto& k, const auto& j) { return j * 10 + k; }), tt::in_axes<0, tt::none>)(picks, one_each), {20, 1, 22, 2});
}
TEST_CASE("comparisons with a captured number of an outer vmap") {
  const tt::tensor<double, 1> xs{1, 2}, ts{1, 2}, three{1, 2, 3};
  const auto over = [](const auto& f, const auto& x, const auto& t) {
    return tt::vmap([&](const auto& u) { return tt::vmap([&](const auto& v) { return f(v, u); })(x); })(t);
  };
  check(over([](const auto& x, const auto& t) { return where(x > t, x, 0.0); }, xs, ts), {0, 2, 0, 0});
  check(over([](const auto& x, const auto& t) { return where(x > t, x, 0.0); }, three, ts), {0, 2, 3, 0, 0, 3});
  check(over([](const auto& x, const auto& t) { return x > t; }, xs, ts), {0, 1, 0, 0});
  check(over([](const auto& x, const auto& t) { return where(x > t, x, 0.0); }, xs, one_each), {0, 0, 1, 2});
  check(over([](const auto& x, const auto& t) { return tt::cond(x > t, [](const auto& a) { return a * 1.0; }, [](const auto& a) { return a * 0.0; }, x); }, xs, ts), {0, 2, 0, 0});
  check(over([](const auto& x, const auto& t) {
          return tt::while_loop([&](const auto& s) { return s < t; }, [](const auto& s) { return s + 1.0; }, x);
        }, xs, tt::tensor<double, 1>{3.5, 1}), {4, 4, 1, 2});
  check(tt::vmap([](const auto& t) { return tt::grad([&](const auto& x) { return where(x > t, x * x, 0.0); })(2.0); })(ts), {4, 0});
  check(tt::grad([&](const auto& x) { return sum(tt::vmap([&](const auto& t) { return tt::vmap([&](const auto& v) { return where(v > t, v * v, 0.0); })(x); })(ts)); })(xs), {0, 4});
  check(tt::vmap([](const auto& x) { return tt::grad([](const auto& y) { return take(table, tt::to<int>(y), 0) * y; })(x); })(xs), {2, 3});
}
TEST_CASE("captured integers and masks of an outer vmap") {
  check(tt::vmap([](const auto& i) {
          const auto first = tt::eval(i(0) * 10);
          return tt::vmap([&](const auto& k) { return first + k; })(i);
        })(picks), {0, 1, 22, 22});
  check(tt::vmap([](const auto& i) {
          const auto first = i(0);
          return tt::vmap([&](const auto& k) { return take(table, first, 0) * take(table, k, 0); })(i);
        })(picks), {1, 2, 9, 9});
  check(tt::vmap([](const auto& m) {
          const auto first = m(0);
          return tt::vmap([&](const auto& q) { return q || first; })(m);
        })(mask), {1, 1, 1, 0, 0, 1});
  check(tt::vmap([](const auto& i) {
          return tt::grad([&](const auto& x) { return cubes(x, i); }, tt::closing_over(i))(table);
        })(picks), {3, 12, 0, 0, 0, 54});
}
TEST_CASE("functions with derivatives of their own and a mapped index") {  // the rules are ten times too large, so that a test sees that they ran
  const auto at = tt::custom_vjp(square_at, [](const auto& w, const auto& i) { return std::pair{square_at(w, i), std::tuple{w, i}}; },
                                 [](const auto& saved, const auto& ct) {
                                   const auto& [w, i] = saved;
                                   return std::tuple{where(tt::arange<int>(3) == i, 20.0 * ct * w, 0.0), 0};
                                 });
  check(tt::per_sample_grad(at)(table, one_each), {0, 0, 60, 20, 0, 0});
  check(tt::grad([&](const auto& w) { return sum(over_second(at)(w, one_each)); })(table), {20, 0, 60});
  check(tt::jacrev([&](const auto& w) { return over_second(at)(w, one_each); })(table), {0, 0, 60, 20, 0, 0});
  check(over_second(over_second(at))(table, picks), {1, 4, 9, 9});
  const auto times = tt::custom_jvp([](const auto& w, const auto& n) { return w * w * n; }, [](const auto& x, const auto& d) {
    return std::pair{get<0>(x) * get<0>(x) * get<1>(x), 20.0 * get<0>(x) * get<1>(x) * get<0>(d) + 1000.0 * get<1>(d)};
  });
  CHECK(tt::jvp([&](const auto& x) { return times(x, 3); }, 2.0, 1.0).y_dot == 120);  // the tangent of an integer is 0
  CHECK(tt::grad(times)(2.0, 3) == 120);
  check(tt::vmap([&](const auto& n) { return tt::grad(times)(2.0, n); })(one_each), {80, 0});
  const auto total = [&](const auto& x) { return sum(tt::vmap([&](const auto& n) { return times(x, n); })(one_each)); };
  CHECK(tt::grad(total)(2.0) == 80);
  CHECK(tt::jvp(total, 2.0, 1.0).y_dot == 80);
  check(tt::vmap([&](const auto& n) { return tt::jvp([&](const auto& x) { return times(x, n); }, 2.0, 1.0).y_dot; })(one_each), {80, 0});
}
TEST_CASE("elements at positions that differ between examples") {
  const tt::tensor<double, 2> xs{{3, 1, 2}, {0, 5, -4}};
  const tt::tensor<int, 1> label{0, 2}, row{0, 1};
  check(tt::vmap([](const auto& x) { return x(argmin(x)); })(xs), {1, -4});
  check(tt::vmap([](const auto& x, const auto& i) { return x(-i); })(xs, label), {3, 5});
  check(tt::vmap([&](const auto& i) { return xs(i, 1) + xs(0, i) + xs(i)(2); })(row), {6, 2});
  check(tt::vmap([&](const auto& i) { return xs(i); })(row), {3, 1, 2, 0, 5, -4});
  const auto loss = [](const auto& w, const auto& x, const auto& y) { return tt::eval(w * w * x)(y); };
  check(tt::per_sample_grad(loss)(2.0, xs, label), {12, -16});
  CHECK(tt::grad([&](const auto& w) { return sum(tt::vmap(loss, tt::in_axes<tt::none, 0, 0>)(w, xs, label)); })(2.0) == -4);
  check(tt::vmap(tt::hessian([](const auto& x) { return x(argmax(x)) * x(argmax(x)); }))(xs), {2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0});
  CHECK_THROWS_AS(tt::vmap([](const auto& x, const auto& i) { return x(i * 2); })(xs, label), tt::index_error);
  const auto both = [&](const auto& a, const auto& b) { return xs(a, b); };
  check(tt::vmap(both)(row, label), {3, -4});
  check(tt::vmap(both)(row - 1, label - 1), {-4, 1});
  check(tt::vmap([&](const auto& i) { return transpose(xs)(i, 1) + tt::tensor<double, 3>(unsqueeze(xs, 0))(0, 1, i); })(label), {0, -8});
  check(tt::grad([&](const auto& w) { return sum(tt::vmap([&](const auto& a, const auto& b) { return w(a, b) * w(a, b); })(row, label)); })(xs), {6, 0, 0, 0, 0, -8});
  CHECK_THROWS_AS(tt::vmap(both)(row * 2, label), tt::index_error);
  const tt::fixed<double, 3> local{5, 6, 7};
  check(tt::vmap([&](const auto& i) { return local(i); })(label), {5, 7});
  check(tt::vmap([](const auto& x, const auto& pair) { auto p = pair; return x(p(1)) + take(x, p(0), 0); })(xs, picks), {4, -8});
}

TEST_CASE("a mapped integer among the results leaves its level while an outer transform looks at types") {  // else the outer one opened one too deep
  const tt::tensor<int, 1> steps{2, 0, 1};
  const tt::tensor<double, 1> ts{0.5, 2};
  const tt::tensor<double, 2> twice{{1, 1, 1}, {4, 4, 4}};
  const tt::tensor<int, 2> kept{{2, 0, 1}, {2, 0, 1}};
  const auto [values, numbers] = tt::vmap([&](auto t) { return tt::vmap([&](auto k) { return std::tuple{t * 2.0, k}; })(steps); })(ts);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(values)>, tt::tensor<double, 2>> && std::is_same_v<std::remove_cvref_t<decltype(numbers)>, tt::tensor<int, 2>>);
  CHECK(tt::all(values == twice));
  CHECK(tt::all(numbers == kept));
  const auto [by, positive] = tt::vmap([&](auto t) { return tt::vmap([&](auto k) { return std::pair{t * k, k > 0}; })(steps); })(ts);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(by)>, tt::tensor<double, 2>> && std::is_same_v<std::remove_cvref_t<decltype(positive)>, tt::tensor<bool, 2>>);
  CHECK(tt::all(by == tt::tensor<double, 2>{{1, 0, 0.5}, {4, 0, 2}}));
  CHECK(tt::all(positive == (kept > 0)));
  const auto [looped, left] = tt::vmap([&](auto t) {
    return tt::vmap([&](auto k) {
      return tt::while_loop([](const auto& s) { return std::get<1>(s) > 0; }, [](const auto& s) { return std::tuple{std::get<0>(s) * 2.0, std::get<1>(s) - 1}; }, std::tuple{t, k});
    })(steps);
  })(ts);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(looped)>, tt::tensor<double, 2>> && std::is_same_v<std::remove_cvref_t<decltype(left)>, tt::tensor<int, 2>>);
  CHECK(tt::all(looped == tt::tensor<double, 2>{{2, 0.5, 1}, {8, 2, 4}}));
  CHECK(tt::all(left == 0));
  const auto slope = tt::grad([&](auto t) { return sum(std::get<0>(tt::vmap([&](auto k) { return std::tuple{t * t * k, k}; })(steps))); })(3.0);
  CHECK(slope == 18);
}

TEST_CASE("a mask of an array that leaves a vmap inside two gradients") {
  const tt::tensor<int, 1> counts{1, 2, 5};
  const tt::tensor<double, 1> w{1, 2, 4};
  const auto f = [&](const auto& s) {
    auto m = tt::vmap([&](const auto& n) { return w * s > n; })(counts);  // 5 of 9 hold at 1.17
    return sum(where(m, s * s, s));
  };
  CHECK(tt::grad(f)(1.17) == doctest::Approx(5 * 2 * 1.17 + 4));
  const double second = tt::grad([&](const auto& t) { return tt::grad(f)(t); })(1.17);
  CHECK(second == 10);
  CHECK(tt::hessian(f)(1.17) == 10);
}

// An index of an inner vmap is of a newer level than a table of the vmap around it, however many derivatives stand outside of both.
TEST_CASE("a mapped index picks from a table that an outer vmap maps, inside a derivative") {
  const tt::tensor<double, 2> rows{{1, 2}, {3, 4}, {5, 6}};
  const tt::tensor<int, 1> picks_of_two{1, 0};
  const auto picked = [&](const auto& pick) {
    return [&](const auto& a) { return tt::vmap([&](const auto& x) { return tt::vmap([&](const auto& i) { return pick(x, i); })(picks_of_two); })(a); };
  };
  const auto check_form = [&](const auto& pick) {
    const auto f = picked(pick);
    const auto loss = [&](const auto& a) { return sum(tt::square(f(a))); };
    check(tt::grad(loss)(rows), {2, 4, 6, 8, 10, 12});
    CHECK(tt::value_and_grad(loss)(rows).value == 91);
    check(tt::jvp(f, rows, rows).y_dot, {2, 1, 4, 3, 6, 5});
    check(tt::vjp(f, rows).pull(f(rows)), {1, 2, 3, 4, 5, 6});
    check(tt::hvp(loss, rows, rows), {2, 4, 6, 8, 10, 12});
  };
  check_form([](const auto& x, const auto& i) { return x(i); });
  check_form([](const auto& x, const auto& i) { return take(x, i, 0); });
  const auto written = [&](const auto& a) {
    return sum(tt::vmap([&](const auto& x) { return sum(tt::vmap([&](const auto& i) { tt::tensor<tt::scalar_t<decltype(x), decltype(i)>, 1> z = x; z(0) = x(i); return sum(z * z); })(picks_of_two)); })(a));
  };
  check(tt::grad(written)(rows), {2, 12, 6, 24, 10, 36});
  const auto two = [&](const auto& a) {
    return sum(tt::vmap([&](const auto& x) { return sum(tt::vmap([&](const auto& i) { return sum(tt::vmap([&](const auto& j) { return take(x, i, 0) * take(x, j, 0); })(picks_of_two)); })(picks_of_two)); })(a));
  };
  check(tt::grad(two)(rows), {6, 6, 14, 14, 22, 22});  // (x0 + x1)^2
  const auto three = [&](const auto& a) {
    return sum(tt::vmap([&](const auto& x) { return sum(tt::vmap([&](const auto& q) { return sum(tt::vmap([&](const auto& i) { return x(i) * x(i) * q; })(picks_of_two)); })(x)); })(a));
  };
  check(tt::hvp(three, rows, rows), {22, 34, 134, 162, 342, 386});
}
}  // namespace indices_test
