// Integers that vmap maps inside derivatives: what is made of them (numbers, rows of tables, random keys) knows the levels below its vmap.
// Expected values: closed forms, summed by hand.
#include <doctest/doctest.h>
#include <cmath>
#include <ttensor/all.hpp>

namespace mapped_integers_test {
namespace tt = ttensor;
using vec = tt::tensor<double, 1>;
using mat = tt::tensor<double, 2>;
using ints = tt::tensor<int, 1>;

namespace {
const mat table{{1, 2, 3}, {4, 5, 6}, {7, 8, 10}};
const vec targets{0.5, -1, 2};
const ints rows{2, 0, 2, 1}, counts{1, 2, 5};
bool near(const auto& a, const auto& b, double tolerance = 1e-12) { return tt::max(abs(tt::eval(a - b))) <= tolerance; }
}  // namespace

TEST_CASE("rows of a table at mapped integers, beside a variable") {
  const vec w{0.3, -0.7, 1.1}, v{1, 0.5, -2};
  const auto loss = [](const auto& w) { return sum(tt::vmap([&](const auto& j) { return tt::square(dot(w, table(j)) - targets(j)); })(rows)); };
  vec gradient(3), twice(3);
  mat hessian(3, 3);
  double value = 0;
  for (const int j : {2, 0, 2, 1}) {
    const vec x = table(j);
    const double e = dot(w, x) - targets(j);
    value += e * e;
    gradient += 2 * e * x;
    hessian += 2 * outer(x, x);
    twice += 2 * dot(x, v) * x;
  }
  CHECK(std::abs(loss(w) - value) < 1e-12);
  CHECK(near(tt::grad(loss)(w), gradient, 1e-11));
  CHECK(std::abs(tt::jvp(loss, w, v).y_dot - dot(gradient, v)) < 1e-11);
  CHECK(near(tt::hessian(loss)(w), hessian, 1e-11));
  CHECK(near(tt::hvp(loss, w, v), twice, 1e-11));
  CHECK(near(tt::jacfwd(tt::grad(loss))(w), hessian, 1e-11));
  CHECK(near(tt::jacrev(tt::grad(loss))(w), hessian, 1e-11));
  const auto all_rows = [](const auto& w) { return tt::vmap([&](const auto& j) { return w * take(table, j, 1); }, tt::chunk_size{2})(rows); };
  CHECK(near(tt::jvp(all_rows, w, v).y_dot, tt::vmap([&](const auto& j) { return v * take(table, j, 1); })(rows)));
  const mat ws{{0.3, -0.7, 1.1}, {1, 2, 3}};
  const mat each = tt::vmap(tt::grad(loss))(ws);
  CHECK(near(tt::eval(each(0)), gradient, 1e-11));
  CHECK(near(tt::eval(each(1)), tt::grad(loss)(tt::eval(ws(1))), 1e-11));
}

TEST_CASE("numbers that are made of mapped integers, beside a variable") {
  const auto scalar = [](const auto& s) { return sum(tt::vmap([&](const auto& n) { return s * s * (n + 0.5); })(counts)); };
  CHECK(std::abs(tt::grad(scalar)(2.0) - 4 * 9.5) < 1e-12);
  CHECK(std::abs(tt::jvp(scalar, 2.0, 3.0).y_dot - 3 * 4 * 9.5) < 1e-12);
  CHECK(std::abs(tt::grad(tt::grad(scalar))(2.0) - 2 * 9.5) < 1e-12);
  CHECK(std::abs(tt::hessian(scalar)(2.0) - 2 * 9.5) < 1e-12);
  const auto modes = [](const auto& x) {  // a Fourier sum, whose coefficients are taped too
    return tt::grad([&](const auto& a) { return sum(tt::vmap([&](const auto& k) { return a(k - 1) * sin(0.3 * k * x); })(tt::arange<int>(1, 4))); })(vec{1, -2, 0.5});
  };
  const auto slopes = tt::jvp(modes, 0.7, 1.0);
  for (int k = 1; k < 4; ++k) {
    CHECK(std::abs(slopes.y(k - 1) - std::sin(0.3 * k * 0.7)) < 1e-13);
    CHECK(std::abs(slopes.y_dot(k - 1) - 0.3 * k * std::cos(0.3 * k * 0.7)) < 1e-13);
  }
  const vec w{1, 2};
  const tt::tensor<int, 2> n{{1, 2}, {3, 4}, {5, 7}};
  const auto arrays = [&](const auto& w) {
    return sum(tt::vmap([&](const auto& row) {
      const auto half = tt::eval(0.5 * row + 1.0);  // stored
      const auto less = tt::eval(row - 1);          // integers, stored
      return sum(w * w * half) + sum(w * sqrt(less + 1.0)) + mean(row) * sum(w) + sum(w) * tt::max(row);
    })(n));
  };
  for (int i = 0; i < 2; ++i) {
    double d = 0;
    for (int k = 0; k < 3; ++k) d += 2 * w(i) * (0.5 * n(k, i) + 1) + std::sqrt(n(k, i)) + 0.5 * (n(k, 0) + n(k, 1)) + n(k, 1);
    CHECK(std::abs(tt::grad(arrays)(w)(i) - d) < 1e-12);
    CHECK(std::abs(tt::jacfwd(arrays)(w)(i) - d) < 1e-12);
  }
}

TEST_CASE("mapped integers of two vmaps, with a variable outside, between and inside") {
  const vec x{0.5, 2};
  const auto pairs = [](const auto& s) {
    return sum(tt::vmap([&](const auto& i) { return sum(tt::vmap([&](const auto& j) { return s * s * (i + 2 * j + 0.5) * (i * 0.25); })(counts)); })(rows));
  };
  double d = 0;
  for (const int i : {2, 0, 2, 1})
    for (const int j : {1, 2, 5}) d += 2 * 3.0 * (i + 2 * j + 0.5) * (i * 0.25);
  CHECK(std::abs(tt::grad(pairs)(3.0) - d) < 1e-11);
  CHECK(std::abs(tt::jvp(pairs, 3.0, 1.0).y_dot - d) < 1e-11);
  // A number of an outer vmap with an integer of an inner one, beside an unmapped variable between them, and the other way round.
  const vec between = tt::vmap([](const auto& x) { return tt::grad([&](const auto& w) { return sum(tt::vmap([&](const auto& n) { return w * w * (x - n); })(counts)); })(1.5); })(x);
  for (int k = 0; k < 2; ++k) CHECK(std::abs(between(k) - 3.0 * (3 * x(k) - 8)) < 1e-12);
  const auto outside = [&](const auto& w) { return sum(tt::vmap([&](const auto& x) { return sum(tt::vmap([&](const auto& n) { return w * w * (x - n); })(counts)); })(x)); };
  CHECK(std::abs(tt::grad(outside)(1.5) - 3.0 * (3 * 2.5 - 16)) < 1e-12);
  const vec inside = tt::vmap([](const auto& n) { return tt::grad([&](const auto& w) { return w * w * (n + 0.5); })(2.0); })(counts);
  CHECK(near(inside, vec{6, 10, 22}));
  const vec both = tt::vmap([&](const auto& n) { return tt::grad([&](const auto& w) { return sum(tt::vmap([&](const auto& k) { return w * w * (n + 0.5) * (k - 0.5 * n); })(counts)); })(2.0); })(counts);
  for (int k = 0; k < 3; ++k) CHECK(std::abs(both(k) - 4 * (counts(k) + 0.5) * (8 - 1.5 * counts(k))) < 1e-11);
}

TEST_CASE("an unmapped key folded with a mapped integer, inside derivatives") {
  const tt::rng key(7);
  const auto noisy = [&](const auto& s) { return sum(tt::vmap([&](const auto& i) { return sum(s * s * tt::normal<double>(fold_in(key, i), {3})); })(tt::arange<int>(4))); };
  double total = 0;
  for (int i = 0; i < 4; ++i) total += sum(tt::normal<double>(fold_in(key, i), {3}));
  CHECK(std::abs(noisy(1.5) - 2.25 * total) < 1e-12);
  CHECK(std::abs(tt::grad(noisy)(1.5) - 3 * total) < 1e-12);
  CHECK(std::abs(tt::jvp(noisy, 1.5, 2.0).y_dot - 6 * total) < 1e-12);
  CHECK(std::abs(tt::grad(tt::grad(noisy))(1.5) - 2 * total) < 1e-12);
  const auto step = [&](const auto& s) {  // an integer that is computed
    return sum(tt::vmap([&](const auto& i) { return s * tt::uniform<double>(fold_in(key, 2 * i + 1)); })(tt::arange<int>(3)));
  };
  CHECK(std::abs(tt::grad(step)(1.0) - (tt::uniform<double>(fold_in(key, 1)) + tt::uniform<double>(fold_in(key, 3)) + tt::uniform<double>(fold_in(key, 5)))) < 1e-14);
}

TEST_CASE("mapped integers through control flow, rules and checkpoints, beside a variable") {
  const auto of = [](const auto& body) { return tt::grad([&](const auto& s) { return sum(tt::vmap([&](const auto& n) { return body(s, n); })(counts)); })(2.0); };
  CHECK(std::abs(of([](const auto& s, const auto& n) { return s * tt::where(n > 1, n + 0.5, 0.25); }) - 8.25) < 1e-13);
  CHECK(std::abs(of([](const auto& s, const auto& n) { return tt::cond(n > 1, [&](const auto& m) { return s * (m + 0.5); }, [&](const auto& m) { return s * s * (m * 0.5); }, n); }) - (2 + 2.5 + 5.5)) < 1e-13);
  CHECK(std::abs(of([](const auto& s, const auto& n) { return s * (tt::for_loop(3, [](int i, auto m) { return m + i; }, n) + 0.5); }) - (8 + 9 + 1.5)) < 1e-13);
  CHECK(std::abs(of([](const auto& s, const auto& n) { return s * (tt::while_loop([](const auto& m) { return m < 4; }, [](const auto& m) { return m + 2; }, n) + 0.5); }) - (5.5 + 4.5 + 5.5)) < 1e-13);
  CHECK(std::abs(of([](const auto& s, const auto& n) { return tt::scan([&](const auto& c, const auto& t) { return std::pair{c + s * (n + 0.5) * t, c}; }, 0.0 * s, vec{1, 2}).first; }) - 3 * 9.5) < 1e-13);
  CHECK(std::abs(of([](const auto& s, const auto& n) { return tt::checkpoint([](const auto& s, const auto& n) { return s * s * (n + 0.5); })(s, n); }) - 4 * 9.5) < 1e-12);
  CHECK(std::abs(of([](const auto& s, const auto& n) { return s * tt::stop_gradient(s * (n + 0.5)); }) - 2 * 9.5) < 1e-13);
  const auto rule = tt::custom_jvp([](auto t, auto n) { return t * (n + 0.5); }, [](auto x, auto d) { return std::pair{std::get<0>(x) * (std::get<1>(x) + 0.5), 3.0 * (std::get<1>(x) + 0.5) * std::get<0>(d)}; });
  CHECK(std::abs(of([&](const auto& s, const auto& n) { return rule(s, n); }) - 3 * 9.5) < 1e-12);
  CHECK(std::abs(tt::jvp([&](const auto& s) { return sum(tt::vmap([&](const auto& n) { return rule(s, n); })(counts)); }, 2.0, 1.0).y_dot - 3 * 9.5) < 1e-12);
  const auto back = tt::custom_vjp([](auto t, auto n) { return t * (n + 0.5); }, [](auto t, auto n) { return std::pair{t * (n + 0.5), n + 0.5}; }, [](auto saved, auto ct) { return std::tuple{5.0 * saved * ct, 0}; });
  CHECK(std::abs(of([&](const auto& s, const auto& n) { return back(s, n); }) - 5 * 9.5) < 1e-12);
  CHECK(std::abs(of([](const auto& s, const auto& n) {  // a local of the integer's own scalar
    tt::tensor<tt::scalar_t<decltype(n)>, 1> two(2);
    two(0) = n;
    two(1) = 2 * n;
    return sum(s * (two + 0.5));
  }) - (24 + 3)) < 1e-13);
}

template <class T> struct pair_of { T a; tt::tensor<T, 1> b; };
TEST_CASE("what is made of mapped integers alone is of the levels around: control flow, indices, reductions, inner transforms") {
  const auto of = [](const auto& body, double slope) {
    const auto f = [&](const auto& s) { return sum(tt::vmap([&](const auto& n) { return body(s, n); })(counts)); };
    CHECK(std::abs(tt::grad(f)(2.0) - slope) < 1e-11);
    CHECK(std::abs(tt::jvp(f, 2.0, 1.0).y_dot - slope) < 1e-11);
  };
  of([](const auto& s, const auto& n) { return s * tt::cond(n > 1, [](const auto&) { return 0.5; }, [](const auto&) { return 2.0; }, n); }, 3);  // cond plain
  of([](const auto& s, const auto& n) { return s * tt::cond(n > 1, [](const auto& x) { return x * 0.5; }, [](const auto& x) { return x + 0.0; }, 4.0); }, 8);  // cond plain arg
  of([](const auto& s, const auto& n) { return s * (tt::cond(n > 1, [](const auto& x) { return x * 2; }, [](const auto& x) { return x + 0; }, 4) + 0.5); }, 21.5);  // cond ints
  of([](const auto& s, const auto& n) { return sum(s * tt::cond(n > 1, [](const auto& x) { return tt::eval(x * 0.5); }, [](const auto& x) { return tt::eval(x + 0.0); }, tt::tensor<double,1>{4.0,2.0})); }, 12);  // cond tensor
  of([](const auto& s, const auto& n) { auto [a, b] = tt::cond(n > 1, [](const auto& x) { return std::pair{x * 0.5, 1}; }, [](const auto& x) { return std::pair{x + 0.0, 2}; }, 4.0); return s * (a * b + 0.5); }, 2+2+8+1.5);  // cond pair
  of([](const auto& s, const auto& n) { auto r = tt::cond(n > 1, [](const auto& x) { return pair_of<double>{0.5, x}; }, [](const auto& x) { return pair_of<double>{2.0, tt::eval(2 * x)}; }, tt::tensor<double,1>{1,3}); return s * (r.a * sum(r.b)); }, 2 + 2 + 16);  // cond struct
  of([](const auto& s, const auto& n) { auto r = tt::while_loop([&](const auto& p) { return p.second < n; }, [](const auto& p) { return std::pair{p.first * 2.0, p.second + 1}; }, std::pair{0.5, 0}, tt::max_trips{6}); return s * r.first; }, 1 + 2 + 16);  // while plain
  of([](const auto& s, const auto& n) { auto r = tt::while_loop([&](const auto& p) { return p < n; }, [](const auto& p) { return p + 2; }, 0); return s * (r + 0.5); }, 2+2+6+1.5);  // while ints
  of([](const auto& s, const auto& n) { auto r = tt::for_loop(2, [&](int, const auto& p) { return p * (n + 0.5); }, 1.0); return s * r; }, 2.25+6.25+30.25);  // for
  of([](const auto& s, const auto& n) { auto r = tt::for_loop(2, [&](int, const auto& p) { return p + n; }, 1); return s * (r * 0.5); }, (3+5+11)*0.5);  // for ints
  of([](const auto& s, const auto& n) { return s * tt::switch_(n - 1, std::tuple{[](const auto& x) { return x * 2.0; }, [](const auto& x) { return x * 3.0; }}, 1.5); }, 3+4.5+4.5);  // switch
  of([](const auto& s, const auto& n) { auto r = tt::scan([&](const auto& c, const auto& x) { return std::pair{c + x * n, c * 0.5}; }, 0.0, tt::tensor<double,1>{1,2}); return s * (r.first + sum(r.second)); }, 3*8 + 0.5*8);  // scan xs
  of([](const auto& s, const auto& n) { const auto m = n > 1; return s * tt::to<double>(m); }, 2);  // mask number
  of([](const auto& s, const auto& n) { auto i = tt::tensor<int,1>{0, 1} + n; return sum(s * take(tt::tensor<double,1>{1,2,3,4,5,6,7}, i, 0)); }, 2+3+3+4+6+7);  // gather
  of([](const auto& s, const auto& n) { auto t = scatter_add(tt::zeros<double>(3), 0, tt::tensor<int,1>{0, 1}, tt::tensor<double,1>{1, 2} * n); return sum(s * t); }, 24);  // scatter
  of([](const auto& s, const auto& n) { tt::tensor<tt::scalar_t<decltype(n)>,1> i(1); i(0) = n; auto t = scatter_add(tt::tensor<double,1>{1,2,3,4,5,6}, 0, i, tt::tensor<double,1>{10.}); return sum(s * t * tt::arange<double>(6)); }, 3*(2+6+12+20+30)+80);  // scatter idx
  of([](const auto& s, const auto& n) { auto t = tt::tensor<double,1>{1,7,3} * n; return s * (tt::to<double>(argmax(t)) + 0.5); }, 4.5);  // argmax
  of([](const auto& s, const auto& n) { auto t = tt::eval(tt::tensor<int,1>{1,7,3} * n); return s * (tt::to<double>(sum(t)) * 0.5 + mean(t) + tt::max(t) + tt::to<double>(prod(t)) * 0.1 + logsumexp(t*0.0)); }, 8*5.5+8*11.0 / 3+56+2.1*(1+8+125)+3*std::log(3.0));  // sum ints
  of([](const auto& s, const auto& n) { auto t = matmul(tt::tensor<double,2>{{1,7},{2,1}}, tt::tensor<double,1>{1,2} * n); return s * sum(t); }, 19*8);  // matmul
  of([](const auto& s, const auto& n) { return pow(s, n); }, 1+4+80);  // pow
  of([](const auto& s, const auto& n) { return s * sqrt(n) + s * exp(-n); }, 1+std::sqrt(2.)+std::sqrt(5.)+std::exp(-1)+std::exp(-2)+std::exp(-5));  // sqrt
  of([](const auto& s, const auto& n) { return tt::grad([&](const auto& t) { return t * t * t * (n + 0.5) * s; })(s); }, 9 * 4 * 9.5);  // grad inside
  of([](const auto& s, const auto& n) { return sum(tt::vmap([&](const auto& x) { return x * (n + 0.5) * s; })(tt::tensor<double,1>{1, 2})); }, 3 * 9.5);  // vmap inside
  of([](const auto& s, const auto& n) { return sum(tt::jacfwd([&](const auto& t) { return t * t * (n + 0.5) * s; })(tt::tensor<double,1>{1, 2})); }, 6 * 9.5);  // jacfwd inside
  of([](const auto& s, const auto& n) { return sum(tt::hessian([&](const auto& t) { return sum(t * t) * (n + 0.5) * s; })(tt::tensor<double,1>{1, 2})); }, 4 * 9.5);  // hessian inside
  of([](const auto& s, const auto& n) { return s / (n + 0.5) + s / n + n / s * 0.0; }, 2/3. + 2/5. + 2/11. + 1.7);  // div
}

TEST_CASE("results and auxiliary results that are mapped integers leave their levels") {
  const vec w{1, 2, 3};
  const auto r = tt::grad([&](const auto& w) {
    auto out = tt::vmap([&](const auto& n) { return std::pair{sum(w) * (n + 0.5), std::tuple{n + 1, n > 1, take(ints{10, 20, 30}, n - 1, 0)}}; }, tt::chunk_size{2})(ints{1, 2, 3});
    return std::pair{sum(out.first), out.second};
  }, tt::has_aux)(w);
  CHECK(near(r.grad, vec{7.5, 7.5, 7.5}));
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(std::get<0>(r.aux))>, tt::tensor<int, 1>> && std::is_same_v<std::remove_cvref_t<decltype(std::get<1>(r.aux))>, tt::tensor<bool, 1>>);
  CHECK(tt::all(std::get<0>(r.aux) == ints{2, 3, 4}));
  CHECK(tt::all(std::get<1>(r.aux) == tt::tensor<bool, 1>{false, true, true}));
  CHECK(tt::all(std::get<2>(r.aux) == ints{10, 20, 30}));
  const auto nested = tt::grad([&](const auto& s) {
    auto table = tt::vmap([&](const auto& i) { return tt::vmap([&](const auto& j) { return i * 10 + j; })(ints{1, 2}); })(ints{3, 4});
    return s * sum(table + 0.5);
  })(1.0);
  CHECK(std::abs(nested - (31 + 32 + 41 + 42 + 2)) < 1e-13);
  const auto kept = tt::grad([&](const auto& s) {  // an integer of the outer vmap returned from the inner one
    return sum(tt::vmap([&](const auto& i) { return sum(tt::vmap([&](const auto& j) { return std::get<0>(std::tuple{i + 0 * j}); })(ints{1, 2}) * (s * 0.5)); })(ints{3, 4}));
  })(1.0);
  CHECK(std::abs(kept - 7) < 1e-13);
}
}  // namespace mapped_integers_test
