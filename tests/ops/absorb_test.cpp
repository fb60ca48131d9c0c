// Zero absorbs in array operators: a cotangent or a tangent of exactly 0 contributes 0, also where the partial is inf or NaN.
#include <doctest/doctest.h>

#include <limits>
#include <ttensor/num/complex.hpp>
#include <ttensor/all.hpp>
#include <vector>

namespace tt = ttensor;
using tt::index_t;
using vec = tt::tensor<double, 1>;
using mat = tt::tensor<double, 2>;
using L = std::vector<double>;

namespace {
constexpr double inf = std::numeric_limits<double>::infinity(), nan_value = std::numeric_limits<double>::quiet_NaN();
L list(const auto& t) {
  const auto e = tt::eval(tt::to<double>(t));
  return {e.data(), e.data() + e.size()};
}
bool has_nan(const auto& t) {
  for (const double x : list(t))
    if (x != x) return true;
  return false;
}
const mat right{{inf, 1}, {2, 3}}, kept{{0, 1}};  // the columns that `kept` drops meet the inf
const auto square = [](const auto& a) { return sum(where(kept > 0.0, matmul(a, right) * matmul(a, right), 0.0)); };
}  // namespace

TEST_CASE("matmul, first order, both operands and both modes") {
  for (const double bad : {inf, -inf, nan_value}) {
    const mat b{{bad, 1}, {2, 3}}, a{{bad, 1}, {2, 3}};
    const auto left = [&](const auto& x) { return sum(where(kept > 0.0, matmul(x, b), 0.0)); };
    CHECK(list(tt::grad(left)(mat{{1, 1}})) == L{1, 3});
    CHECK(list(tt::jvp([&](const auto& x) { return matmul(x, b); }, mat{{1, 1}}, mat{{0, 1}}).y_dot) == L{2, 3});
    const auto second = [&](const auto& x) { return sum(where(transpose(kept) > 0.0, matmul(a, x), 0.0)); };
    CHECK(list(tt::grad(second)(mat{{1}, {1}})) == L{2, 3});
    CHECK(list(tt::jvp([&](const auto& x) { return matmul(a, x); }, mat{{1}, {1}}, mat{{0}, {1}}).y_dot) == L{1, 3});
  }
  // what is not zero still meets them
  CHECK(list(tt::grad([](const auto& x) { return sum(matmul(x, right)); })(mat{{1, 1}})) == L{inf, 5});
  CHECK(has_nan(tt::jvp([](const auto& x) { return matmul(x, mat{{inf, 1}, {-inf, 3}}); }, mat{{1, 1}}, mat{{1, 1}}).y_dot));
  CHECK(has_nan(matmul(mat{{0, 1}}, right)));  // values do not absorb
}
TEST_CASE("matmul, tangents of both operands: what is infinite counts once, and only where it meets no zero") {
  const auto product = [](const auto& a, const auto& b) { return matmul(a, b); };
  const mat a{{1, inf}, {2, 3}}, b{{4, 5}, {6, 7}}, da{{1, 0}, {0, 1}}, db{{0, 1}, {0, 0}};
  const auto both = tt::jvp(product, std::tuple{a, b}, std::tuple{da, db}).y_dot;  // da b + a db: the inf of a meets zeros of db alone
  CHECK(list(both) == L{4, 6, 6, 9});
  const mat across{{0, 1}, {0, 2}};
  CHECK(list(tt::jvp(product, std::tuple{a, b}, std::tuple{da, across}).y_dot) == L{4, inf, 6, 15});
  CHECK(list(tt::jvp(product, std::tuple{mat{{1e308, 1e308}}, mat{{1}, {1}}}, std::tuple{mat{{1e308, 1e308}}, mat{{0}, {1}}}).y_dot) == L{inf});
}
TEST_CASE("matmul of vectors, dot and outer") {
  const vec bad{inf, 1}, on{0, 1};
  const mat two{{1, 1}, {1, 1}};
  CHECK(list(tt::grad([&](const auto& a) { return sum(where(on > 0.0, matmul(a, bad), 0.0)); })(two)) == L{0, 0, inf, 1});
  CHECK(list(tt::grad([&](const auto& a) { return sum(where(on > 0.0, matmul(bad, a), 0.0)); })(two)) == L{0, inf, 0, 1});
  CHECK(list(tt::jvp([&](const auto& a) { return matmul(a, bad); }, two, mat{{0, 1}, {0, 2}}).y_dot) == L{1, 2});
  CHECK(list(tt::jvp([&](const auto& x) { return matmul(mat{{inf, 1}, {nan_value, 2}}, x); }, on, on).y_dot) == L{1, 2});
  CHECK(tt::jvp([&](const auto& a) { return dot(a, bad); }, on, on).y_dot == 1);
  CHECK(list(tt::grad([&](const auto& a) { return 0.0 * dot(a, bad); })(on)) == L{0, 0});
  CHECK(list(tt::grad([&](const auto& a) { return sum(where(on > 0.0, outer(a, bad), 0.0)); })(vec{1, 1})) == L{1, 1});
  CHECK(list(tt::jvp([&](const auto& a) { return outer(a, bad); }, on, on).y_dot) == L{0, 0, inf, 1});
}
TEST_CASE("matmul, second order, in every mix of modes") {
  const mat a{{1, 1}}, v{{1, 2}};
  const auto total = [](const auto& f) { return [f](const auto& x) { return sum(tt::grad(f)(x)); }; };
  CHECK(list(tt::grad(square)(a)) == L{8, 24});
  CHECK(list(tt::grad(total(square))(a)) == L{8, 24});
  CHECK(list(tt::jvp(tt::grad(square), a, v).y_dot) == L{14, 42});
  CHECK(list(tt::hvp(square, a, v)) == L{14, 42});
  CHECK(list(tt::grad([&](const auto& x) { return tt::jvp(square, x, v).y_dot; })(a)) == L{14, 42});
  // the cotangent 0 of the first level meets the tangent inf of the second
  const auto of_b = [&](const auto& b) { return tt::grad([&](const auto& x) { return sum(where(kept > 0.0, matmul(x, b), 0.0)); }, tt::closing_over(b))(a); };
  CHECK(list(tt::jvp(of_b, right, mat{{inf, 5}, {nan_value, 7}}).y_dot) == L{5, 7});
  CHECK(list(tt::grad([&](const auto& b) { return sum(of_b(b) * mat{{inf, 2}}); })(right)) == L{0, inf, 0, 2});
}
TEST_CASE("matmul: batches, mapped functions, summed axes") {
  const tt::tensor<double, 3> a{{{inf, 1}, {nan_value, 2}}, {{1, 2}, {3, 4}}};  // the first matrix is masked
  const auto mask = tt::tensor<double, 3>(reshape(vec{0, 1}, 2, 1, 1)) > 0.0;
  const mat shared{{1, 2}, {3, 4}};
  CHECK(list(tt::grad([&](const auto& b) { return sum(where(mask, matmul(a, b), 0.0)); })(shared)) == L{4, 4, 6, 6});
  const auto one = [&](const auto& m, const auto& b, auto on) { return sum(where(on > 0.0, matmul(m, b), 0.0)); };
  const auto mapped = tt::vmap(tt::grad<1>(one), tt::in_axes<0, tt::none, 0>)(a, shared, vec{0, 1});
  CHECK(list(mapped) == L{0, 0, 0, 0, 4, 4, 6, 6});
  CHECK(list(tt::grad([&](const auto& b) { return sum(tt::vmap(one, tt::in_axes<0, tt::none, 0>)(a, b, vec{0, 1})); })(shared)) == L{4, 4, 6, 6});
  const auto along = tt::vmap([&](const auto& m, const auto& t) { return tt::jvp([&](const auto& b) { return matmul(m, b); }, shared, t).y_dot; });
  CHECK(list(along(a, tt::tensor<double, 3>{{{0, 0}, {1, 2}}, {{1, 0}, {0, 1}}})) == L{1, 2, 2, 4, 1, 2, 3, 4});
  // axis 0 is summed, axis 1 is not: products that are added up
  tt::tensor<double, 4> x = tt::ones<double>(2, 3, 2, 2);
  x(0, 1, 0, 0) = inf;
  tt::tensor<double, 4> keep = tt::ones<double>(2, 3, 2, 1);
  keep(0, 1, 0, 0) = 0.0;
  const auto g = tt::grad([&](const auto& b) { return sum(where(keep > 0.0, matmul(x, b), 0.0)); })(tt::eval(tt::ones<double>(1, 3, 2, 1)));
  CHECK(list(g) == L{4, 4, 3, 3, 4, 4});
}
TEST_CASE("matmul: large, wide, long and transposed ones; only the NaN are computed again") {
  const index_t extents[][3] = {{3, 5, 4}, {70, 40, 90}, {130, 300, 70}, {1, 300, 40}, {40, 300, 1}, {90, 1, 80}, {17, 2, 33}};
  for (const auto& [m, k, n] : extents) {
    mat a(m, k), b(k, n), t(m, k);
    for (index_t i = 0; i < a.size(); ++i) a.data()[i] = double(i % 7 - 3), t.data()[i] = double(i % 5 - 2);
    for (index_t i = 0; i < b.size(); ++i) b.data()[i] = double(i % 3 - 1);
    const index_t p = k / 2, j = n / 2;
    for (index_t i = 0; i < m; ++i) t.data()[i * k + p] = 0;
    const mat want = matmul(t, b), turned = transpose(t);
    const mat columns = transpose(b);  // read through strides
    mat worse = b, worse_columns = columns;
    worse.data()[p * n + j] = inf;
    worse_columns.data()[j * k + p] = nan_value;
    INFO("m ", m, " k ", k, " n ", n);
    CHECK(list(tt::jvp([&](const auto& x) { return matmul(x, worse); }, a, t).y_dot) == list(want));
    CHECK(list(tt::jvp([&](const auto& x) { return matmul(x, transpose(worse_columns)); }, a, t).y_dot) == list(want));
    CHECK(list(tt::jvp([&](const auto& x) { return matmul(transpose(worse), x); }, mat(transpose(a)), turned).y_dot) == list(transpose(want)));
    CHECK(list(tt::jvp([&](const auto& x) { return matmul(transpose(x), worse); }, mat(transpose(a)), turned).y_dot) == list(want));
  }
}
TEST_CASE("matmul: float, half, complex") {
  const tt::tensor<float, 2> f{{float(inf), 1}, {2, 3}};
  CHECK(list(tt::jvp([&](const auto& x) { return matmul(x, f); }, tt::tensor<float, 2>{{1, 1}}, tt::tensor<float, 2>{{0, 1}}).y_dot) == L{2, 3});
  const auto h = tt::eval(tt::to<tt::half>(f));
  CHECK(list(tt::jvp([&](const auto& x) { return matmul(x, h); }, tt::eval(tt::to<tt::half>(kept)), tt::eval(tt::to<tt::half>(kept))).y_dot) == L{2, 3});
  using C = std::complex<double>;
  const tt::tensor<C, 2> c{{C(0, inf), C(1, 1)}, {C(2, 1), C(3, 0)}};
  const auto y = tt::jvp([&](const auto& x) { return matmul(x, c); }, tt::tensor<C, 2>{{C(1), C(1)}}, tt::tensor<C, 2>{{C(0), C(0, 1)}}).y_dot;
  CHECK(y(0, 0) == C(-1, 2));
  CHECK(y(0, 1) == C(0, 3));
}
TEST_CASE("prod, softmax, log_softmax: rows of a mask, both modes, second order") {
  const vec on{0, 1};
  const auto product = [&](const auto& a) { return sum(where(on > 0.0, prod(a, 1), 0.0)); };
  for (const double bad : {inf, -inf, nan_value}) {
    const mat x{{bad, 1}, {2, 3}};
    CHECK(list(tt::grad(product)(x)) == L{0, 0, 3, 2});
    CHECK(list(tt::jvp([](const auto& a) { return prod(a, 1); }, x, mat{{0, 0}, {1, 1}}).y_dot) == L{0, 5});
    CHECK(list(tt::grad([&](const auto& a) { return sum(tt::grad(product)(a) * mat{{1, 2}, {3, 4}}); })(x)) == L{0, 0, 4, 3});
    CHECK(list(tt::hvp(product, x, mat{{0, 0}, {1, 2}})) == L{0, 0, 2, 1});
    CHECK(list(tt::jvp(tt::grad(product), x, mat{{5, 6}, {1, 2}}).y_dot) == L{0, 0, 2, 1});
  }
  CHECK(list(tt::jvp([](const auto& a) { return prod(a, 1); }, mat{{1, inf}, {0, inf}}, mat{{0, 1}, {0, 2}}).y_dot) == L{1, 0});
  const auto shares = [](const auto& a) { return softmax(a, 1); };
  const auto logs = [](const auto& a) { return log_softmax(a, 1); };
  const auto of_row = [&](const auto& f) { return [&](const auto& a) { return sum(where(reshape(on, 2, 1) > 0.0, f(a) * mat{{1, 1}, {3, 1}}, 0.0)); }; };
  for (const double bad : {inf, nan_value}) {
    const mat x{{bad, 0}, {0, 0}};
    CHECK(list(tt::grad(of_row(shares))(x)) == L{0, 0, 0.5, -0.5});
    CHECK(list(tt::grad(of_row(logs))(x)) == L{0, 0, 1, -1});
    CHECK(list(tt::jvp(shares, x, mat{{0, 0}, {4, 0}}).y_dot) == L{0, 0, 1, -1});
    CHECK(list(tt::jvp(logs, x, mat{{0, 0}, {4, 0}}).y_dot) == L{0, 0, 2, -2});
    CHECK(list(tt::hvp(of_row(logs), x, mat{{0, 0}, {1, 0}})) == L{0, 0, -1, 1});
    CHECK(list(tt::hvp(of_row(shares), x, mat{{0, 0}, {1, 0}})) == L{0, 0, 0, 0});
    CHECK(list(tt::grad([&](const auto& a) { return sum(tt::grad(of_row(logs))(a) * mat{{1, 2}, {1, 0}}); })(x)) == L{0, 0, -1, 1});
  }
}
TEST_CASE("what absorbed before: sums, extrema, variance, norm, logsumexp, take, scatter_add") {
  const vec on{0, 1};
  const auto check = [&](const auto& f, const L& gradient, const L& tangent) {
    for (const double bad : {inf, nan_value}) {
      const mat x{{bad, 1}, {2, 4}};
      CHECK(list(tt::grad([&](const auto& a) { return sum(where(on > 0.0, f(a), 0.0)); })(x)) == gradient);
      CHECK(list(tt::jvp([&](const auto& a) { return tt::eval(f(a)); }, x, mat{{0, 0}, {0, 1}}).y_dot) == tangent);
    }
  };
  check([](const auto& a) { return sum(a, 1); }, L{0, 0, 1, 1}, L{0, 1});
  check([](const auto& a) { return mean(a, 1); }, L{0, 0, 0.5, 0.5}, L{0, 0.5});
  check([](const auto& a) { return max(a, 1); }, L{0, 0, 0, 1}, L{0, 1});
  check([](const auto& a) { return max(a, 1, tt::with_index).values; }, L{0, 0, 0, 1}, L{0, 1});
  check([](const auto& a) { return variance(a, 1); }, L{0, 0, -1, 1}, L{0, 1});
  check([](const auto& a) { return stddev(a, 1); }, L{0, 0, -0.5, 0.5}, L{0, 0.5});
  check([](const auto& a) { return norm(a * mat{{1, 1}, {0, 1}}, 1); }, L{0, 0, 0, 1}, L{0, 1});
  check([](const auto& a) { return 3.0 * logsumexp(a * mat{{1, 1}, {0, 0}}, 1) + a(tt::all, 1); }, L{0, 0, 0, 1}, L{0, 1});
  check([](const auto& a) { return take(a, 1, 1); }, L{0, 0, 0, 1}, L{0, 1});
  check([](const auto& a) { return scatter_add(vec{0, 0}, 0, tt::tensor<std::int64_t, 1>{0, 1}, a(tt::all, 1)); }, L{0, 0, 0, 1}, L{0, 1});
}
TEST_CASE("triangular_solve of a singular matrix, cholesky with an inf on the diagonal") {
  // z = (b0, (b1 - 3 b0) / 0)
  const mat singular{{1, 0}, {3, 0}};
  const vec b{1, 1};
  const auto of_b = [&](const auto& x) { return triangular_solve(singular, x); };
  const auto of_a = [&](const auto& a) { return triangular_solve(a, b); };
  CHECK(list(tt::grad([&](const auto& x) { return of_b(x)(0); })(b)) == L{1, 0});
  CHECK(list(tt::jvp(of_b, b, vec{0, 0}).y_dot) == L{0, 0});
  CHECK(list(tt::jvp(of_b, b, vec{0, 1}).y_dot) == L{0, inf});
  CHECK(list(tt::grad([&](const auto& a) { return of_a(a)(0); })(singular)) == L{-1, 0, 0, 0});
  CHECK(list(tt::jvp(of_a, singular, mat{{0, 0}, {0, 0}}).y_dot) == L{0, 0});
  CHECK(list(tt::jvp(of_a, singular, mat{{0, 0}, {1, 0}}).y_dot) == L{0, -inf});
  CHECK(list(tt::jvp(of_a, mat{{1, 0}, {3, 1}}, mat{{0, inf}, {1, 0}}).y_dot) == L{0, -1});  // the other triangle is not read
  CHECK(list(tt::hvp([&](const auto& a) { return of_a(a)(0); }, singular, mat{{1, 0}, {0, 0}})) == L{2, 0, 0, 0});
  CHECK(list(tt::grad([&](const auto& a) { return sum(tt::grad([&](const auto& c) { return of_a(c)(0); })(a) * mat{{1, 2}, {2, 2}}); })(singular)) == L{2, 0, 0, 0});
  // one of two matrices is singular and masked
  const tt::tensor<double, 3> two{{{0, 0}, {0, 0}}, {{2, 0}, {0, 4}}};
  const auto mask = tt::tensor<double, 3>(reshape(vec{0, 1}, 2, 1, 1)) > 0.0;
  CHECK(list(tt::grad([&](const auto& x) { return sum(where(mask, triangular_solve(two, x), 0.0)); })(mat{{1}, {1}})) == L{0.5, 0.25});
  CHECK(list(tt::grad([&](const auto& a) { return sum(where(mask, triangular_solve(a, mat{{1}, {1}}), 0.0)); })(two)) == L{0, 0, 0, 0, -0.25, 0, -0.125, -0.0625});
  const mat p{{4, 0}, {0, inf}};
  CHECK(list(tt::grad([](const auto& a) { return cholesky(a)(0, 0); })(p)) == L{0.25, 0, 0, 0});
  CHECK(list(tt::jvp([](const auto& a) { return cholesky(a); }, p, mat{{1, 0}, {0, 0}}).y_dot) == L{0.25, 0, 0, 0});
  CHECK(list(tt::jvp([](const auto& a) { return cholesky(a); }, p, mat{{0, 0}, {0, 0}}).y_dot) == L{0, 0, 0, 0});
  CHECK(list(tt::hvp([](const auto& a) { return cholesky(a)(0, 0); }, p, mat{{1, 0}, {0, 0}})) == L{-1.0 / 32, 0, 0, 0});
}

TEST_CASE("what was not selected does not reach the derivative, whatever stands around it") {
  const tt::tensor<double, 1> below{-1.0};
  const auto masked = [&](auto op) { return tt::grad([op](const auto& a) { return sum(where(a > 0.0, op(log(a), a), a)); })(below)(0); };
  CHECK(masked([](const auto& l, const auto&) { return abs(l); }) == 1);
  CHECK(masked([](const auto& l, const auto&) { return softplus(l); }) == 1);
  CHECK(masked([](const auto& l, const auto&) { return logsigmoid(l); }) == 1);
  CHECK(masked([](const auto& l, const auto& a) { return copysign(l, a); }) == 1);
  // scalars: an infinite derivative around a selection
  const auto reverse_and_forward = [](const auto& f, double at) {
    CHECK(tt::grad(f)(at) == 0);
    CHECK(tt::jvp(f, at, 1.0).y_dot == 0);
    CHECK(tt::grad([&](const auto& x) { return f(x(0)); })(tt::tensor<double, 1>{at})(0) == 0);
  };
  reverse_and_forward([](const auto& b) { return sqrt(relu(b)); }, -3);
  reverse_and_forward([](const auto& b) { return cbrt(relu(b)); }, -3);
  reverse_and_forward([](const auto& b) { return sqrt(maximum(b, 0.0)); }, -3);
  reverse_and_forward([](const auto& b) { return sqrt(clamp(b, 0.0, 1.0)); }, -3);
  reverse_and_forward([](const auto& b) { return sqrt(where(b < 5.0, 0.0, b)); }, 3);
  const auto g = tt::grad([](const auto& x) { return sqrt(where(x(0) < 5.0, x(0), x(1))); })(tt::tensor<double, 1>{0, 3});
  CHECK(g(0) == std::numeric_limits<double>::infinity());
  CHECK(g(1) == 0);
  CHECK(tt::grad([](const auto& a) { return a * a; }, tt::strict)(0.0) == 0);  // 0, but not unused
  for (const auto& never : {tt::grad([](const auto& t) { return log(exp(t)); })(-800.0), tt::grad([](const auto& t) { return sqrt(t * t); })(0.0)}) CHECK(never != never);  // no selection: not hidden
}
TEST_CASE("the quotient in fmod and remainder is the one that was taken") {
  CHECK(tt::grad([](const auto& s) { return fmod(1.0, s); })(0.1) == -9);  // 1 / 0.1 rounds to 10, fmod(1, 0.1) is 0.09999999999999995
  CHECK(tt::grad([](const auto& s) { return remainder(1.0, s); })(0.1) == -9);
  CHECK(tt::jvp([](const auto& s) { return fmod(tt::tensor<double, 1>{1, 7.5, -1}, s); }, tt::tensor<double, 1>{0.1, 2, 0.3}, tt::tensor<double, 1>{1, 1, 1}).y_dot(2) == 3);
  CHECK(tt::grad([](const auto& s) { return remainder(7.5, s); })(-2.0) == 4);
  CHECK(tt::grad([](const auto& s) { return remainder(-1.0, s); })(0.3) == 4);
}
