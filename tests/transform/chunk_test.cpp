// chunk_size{n}: at most n examples, tangents or cotangents at once, and never another bit. Seen by counting calls.
#include <doctest/doctest.h>
#include <ttensor/all.hpp>

namespace chunk_test {
namespace tt = ttensor;
using namespace ttensor;

namespace {
using vec = tensor<double, 1>;
using mat = tensor<double, 2>;
template <class A, class B> bool same(const A& a, const B& b) {  // shapes and elements, bit for bit
  return a.shape() == b.shape() && all(a == b);
}
int calls = 0;
/// How often f was called, and what g() gives.
template <class G> auto counted(int want, G&& g) {
  calls = 0;
  auto y = g();
  CHECK(calls == want);
  return y;
}
const mat x7 = normal<double>(rng(1), {7, 5});
const index_t sizes[] = {1, 2, 3, 4, 7, 8, 100};
int chunks(index_t n, index_t most) { return n == 0 ? 1 : static_cast<int>((n + most - 1) / most); }

const auto row = [](const auto& v) {
  ++calls;
  return eval(exp(v) * sum(v * v) / (1.0 + abs(v)));
};
template <class T> struct layer {
  tensor<T, 2> w;
  tensor<T, 1> b;
  int tag;
};
}  // namespace

TEST_CASE("vmap: at most n examples at once, the same bits") {
  const mat y = vmap(row)(x7);
  const mat turned = vmap(row, in_axes<1>, out_axes<-1>)(mat(transpose(x7)));
  const auto both = [](const auto& v, const auto& k) {
    ++calls;
    return std::tuple{eval(v * k), std::pair{sum(v), argmax(v)}, std::array{v(0) * k, v(1) * k}, k};
  };
  const auto t = vmap(both, in_axes<0, none>)(x7, 2.5);
  for (const index_t n : sizes) {
    CAPTURE(n);
    CHECK(same(counted(chunks(7, n), [&] { return vmap(row, chunk_size{n})(x7); }), y));
    CHECK(same(counted(chunks(7, n), [&] { return vmap(row, chunk_size{n}, in_axes<1>, out_axes<-1>)(mat(transpose(x7))); }), turned));
    const auto c = counted(chunks(7, n), [&] { return vmap(both, in_axes<0, none>, chunk_size{n})(x7, 2.5); });
    CHECK(same(std::get<0>(c), std::get<0>(t)));
    CHECK(same(std::get<1>(c).first, std::get<1>(t).first));
    CHECK(same(std::get<1>(c).second, std::get<1>(t).second));
    for (std::size_t k = 0; k < 2; ++k) CHECK(same(std::get<2>(c)[k], std::get<2>(t)[k]));
    CHECK(same(std::get<3>(c), full<double>({7}, 2.5)));
  }
}
TEST_CASE("vmap in chunks: an example alone has the bits it has among others") {
  const mat w = normal<double>(rng(6), {20, 30}), x = normal<double>(rng(8), {9, 30});
  const auto f = [&](const auto& v) { return eval(matmul(w, v)); };  // a loop of its own for one vector
  for (const index_t n : {1, 2, 8}) CHECK(same(vmap(f, chunk_size{n})(x), vmap(f)(x)));
  CHECK_THROWS_AS(vmap([](const auto& v) { return sum(v); }, out_axes<none>)(mat{{1, 2}}), axis_error);  // mapped, if only over one example
  CHECK(vmap([](const auto&) { return 3.0; }, out_axes<none>)(mat{{1, 2}}) == 3);
}
TEST_CASE("vmap in chunks: every small number of examples, whatever axis they are on") {  // two examples, one at once, were the first one twice
  const auto total = [](const auto& v) { return sum(v * v); };
  const auto pair = [](const auto& v, const auto& k) { return sum(v) + 10.0 * k; };
  for (index_t n = 1; n <= 4; ++n)
    for (index_t most = 1; most <= 5; ++most) {
      CAPTURE(n);
      CAPTURE(most);
      mat m(3, n);
      vec squares(n), sums(n), k(n);
      for (index_t j = 0; j < n; ++j) {
        for (index_t i = 0; i < 3; ++i) m(i, j) = static_cast<double>(10 * i + j * j + 1);
        const double a = m(0, j), b = m(1, j), c = m(2, j);
        squares(j) = a * a + b * b + c * c;
        k(j) = static_cast<double>(j);
        sums(j) = a + b + c + 10.0 * k(j);
      }
      CHECK(same(vmap(total, in_axes<1>, chunk_size{most})(m), squares));
      CHECK(same(vmap(total, chunk_size{most})(transpose(m)), squares));
      CHECK(same(vmap(pair, in_axes<1, 0>, chunk_size{most})(m, k), sums));
      CHECK(same(vmap(tt::grad(total), in_axes<1>, out_axes<1>, chunk_size{most})(m), mat(2.0 * m)));
      const auto keys = split(rng(3), n);
      const vec drawn = vmap([](const auto& key) { return uniform<double>(key); }, chunk_size{most})(keys);
      for (index_t j = 0; j < n; ++j) CHECK(drawn(j) == uniform<double>(keys[static_cast<std::size_t>(j)]));
    }
}
TEST_CASE("vmap in chunks: empty batches, fixed arguments, keys, results that are the same for all, trees") {
  CHECK(counted(1, [&] { return vmap(row, chunk_size{2})(mat(0, 5)); }).shape() == dims<2>{{0, 5}});
  const fixed<double, 3, 2> f{{1, 2}, {3, 4}, {5, 6}};
  CHECK(same(counted(2, [&] { return vmap(row, chunk_size{2})(f); }), vmap(row)(f)));
  const auto noise = [](const auto& k, const auto& v) { return std::pair{eval(v * normal<double>(k, {5})), fold_in(k, 1)}; };
  const auto keys = split(rng(3), 7);
  const auto all_at_once = vmap(noise)(keys, x7), by_three = vmap(noise, chunk_size{3})(keys, x7);
  CHECK(same(by_three.first, all_at_once.first));
  CHECK(by_three.second == all_at_once.second);
  CHECK(counted(4, [&] { return vmap([](const auto&) { return ++calls, 2.0; }, chunk_size{2}, out_axes<none>)(x7); }) == 2.0);
  CHECK_THROWS_AS(vmap([](const auto& v) { return sum(v); }, chunk_size{2}, out_axes<none>)(x7), axis_error);

  const layer<double> p{normal<double>(rng(5), {5, 5}), vec{1, 2, 3, 4, 5}, 7};
  const auto loss = [](const auto& q, const auto& v) {
    ++calls;
    return sum(tanh(matmul(q.w, v) + q.b));
  };
  const auto g = per_sample_grad(loss)(p, x7);
  const auto h = counted(4, [&] { return per_sample_grad(loss, chunk_size{2})(p, x7); });
  CHECK(same(h.w, g.w));
  CHECK(same(h.b, g.b));
  CHECK(h.tag == 7);
}
TEST_CASE("vmap in chunks under other transforms") {
  const auto f = [](const auto& m) { return sum(vmap(row)(m)); };
  const auto c = [](const auto& m) { return sum(vmap(row, chunk_size{3})(m)); };
  // d/dv_i of sum_j e_j s / (1 + |v_j|), with s = v.v
  mat want(7, 5);
  for (int k = 0; k < 7; ++k) {
    double s = 0, q = 0;
    for (int j = 0; j < 5; ++j) s += x7(k, j) * x7(k, j), q += std::exp(x7(k, j)) / (1 + std::abs(x7(k, j)));
    for (int i = 0; i < 5; ++i) {
      const double a = std::abs(x7(k, i)), sign = x7(k, i) < 0 ? -1 : 1;
      want(k, i) = 2 * x7(k, i) * q + s * std::exp(x7(k, i)) * (1 / (1 + a) - sign / ((1 + a) * (1 + a)));
    }
  }
  CHECK(max(abs(tt::grad(c)(x7) - want)) < 1e-12);
  CHECK(max(abs(tt::grad(f)(x7) - want)) < 1e-12);
  CHECK(jvp(c, x7, x7).y_dot == doctest::Approx(sum(want * x7)).epsilon(1e-13));
  const tensor<double, 3> cube = normal<double>(rng(9), {4, 7, 5});
  CHECK(same(vmap(vmap(row, chunk_size{3}), chunk_size{2})(cube), vmap(vmap(row))(cube)));
}
TEST_CASE("Jacobians: at most n columns or rows at once, the same bits") {
  const mat a = normal<double>(rng(2), {4, 5});
  const vec x = normal<double>(rng(4), {5});
  const auto f = [&](const auto& v) {
    ++calls;
    return eval(matmul(a, sin(v)) * sum(v * v) + v(1) / (1.0 + exp(v(0))));
  };
  mat want(4, 5);  // s = v.v, e = exp(v0): d_i = a_i cos(v_i) s + 2 v_i (a sin v) + ...
  const double s = sum(x * x), e = std::exp(x(0));
  const vec as = matmul(a, sin(x));
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < 5; ++i)
      want(k, i) = a(k, i) * std::cos(x(i)) * s + 2 * x(i) * as(k) + (i == 1 ? 1 / (1 + e) : 0) - (i == 0 ? x(1) * e / ((1 + e) * (1 + e)) : 0);
  const mat columns = counted(5, [&] { return tt::jacfwd(f)(x); }), rows = counted(1, [&] { return tt::jacrev(f)(x); });
  CHECK(max(abs(columns - want)) < 1e-14);
  CHECK(max(abs(rows - want)) < 1e-14);
  for (const index_t n : sizes) {
    CAPTURE(n);
    CHECK(same(counted(chunks(5, n), [&] { return tt::jacfwd(f, chunk_size{n})(x); }), columns));
    CHECK(same(counted(1, [&] { return tt::jacrev(f, chunk_size{n})(x); }), rows));
    CHECK(same(tt::jacobian(f, chunk_size{n})(x), rows));
  }
  auto loops = [&](index_t n) {
    const auto before = counts.loops;
    tt::jacrev(f, chunk_size{n})(x);
    return counts.loops - before;
  };
  CHECK(loops(4) < loops(2));
  CHECK(loops(2) < loops(1));
  CHECK(loops(100) == loops(4));
  const mat large = normal<double>(rng(6), {20, 30});  // products of a matrix with one vector have a loop of their own
  const vec y = normal<double>(rng(8), {30});
  const auto g = [&](const auto& v) { return eval(matmul(large, v * v) * sum(exp(v))); };
  const mat by_seven = tt::jacfwd(g, chunk_size{7})(y), rows_by_seven = tt::jacrev(g, chunk_size{7})(y);
  for (const index_t n : {1, 2, 29, 64}) {
    CHECK(same(tt::jacfwd(g, chunk_size{n})(y), by_seven));
    CHECK(same(tt::jacrev(g, chunk_size{n})(y), rows_by_seven));
  }
  const mat exact = 2.0 * large * y * sum(exp(y)) + outer(matmul(large, y * y), exp(y));
  CHECK(max(abs(by_seven - exact)) < 1e-12);
  CHECK(max(abs(rows_by_seven - exact)) < 1e-12);
}
TEST_CASE("Jacobians in chunks: Hessians, scalars, fixed arguments, trees, empty arrays, complex numbers") {
  const vec x{0.3, -1, 2};
  const auto quartic = [](const auto& v) { return sum(v * v) * sum(v * v); };  // H = 8 x x' + 4 (x.x) I
  const mat h = tt::hessian(quartic)(x);
  CHECK(max(abs(h - (8.0 * outer(x, x) + 4.0 * sum(x * x) * eye<double>(3)))) < 1e-13);
  for (const index_t n : {1, 2, 5}) {
    const chunk_size c{n};
    CHECK(same(tt::hessian(quartic, c)(x), h));
    CHECK(tt::jacfwd([](auto t) { return t * t; }, c)(3.0) == 6);
    CHECK(tt::jacrev([](auto t) { return t * t; }, c)(3.0) == 6);
    CHECK(same(tt::jacfwd([](auto t) { return t * vec{1, 2}; }, c)(3.0), vec{1, 2}));
    CHECK(same(tt::jacrev([](const auto& v) { return sum(v * v); }, c)(x), vec(2.0 * x)));
    const fixed<double, 3> f{0.3, -1, 2};
    const fixed<double, 3> gf = tt::jacfwd([](const auto& v) { return sum(v * v); }, c)(f), gr = tt::jacrev([](const auto& v) { return sum(v * v); }, c)(f);
    CHECK(all(gf == 2.0 * f));
    CHECK(all(gr == 2.0 * f));
    CHECK(tt::jacfwd([](const auto& v) { return eval(v * v); }, c)(vec(0)).shape() == dims<2>{{0, 0}});
    CHECK(tt::jacrev([](const auto& v) { return eval(v * v); }, c)(vec(0)).shape() == dims<2>{{0, 0}});
    CHECK(same(tt::jacfwd([](const auto&) { return vec{1, 2}; }, c)(x), mat(2, 3)));  // a constant
    CHECK(same(tt::jacrev([](const auto&) { return vec{1, 2}; }, c)(x), mat(2, 3)));

    const auto two = [](const auto& v, const auto& t) { return std::tuple{eval(v * t), sum(v) * t * t}; };  // [t I, v], [t^2, 2 t sum v]
    const auto j = tt::jacfwd<0, 1>(two, c)(x, 2.0), k = tt::jacrev<0, 1>(two, c)(x, 2.0);
    for (const auto& b : {j, k}) {
      CHECK(same(std::get<0>(std::get<0>(b)), mat(2.0 * eye<double>(3))));
      CHECK(same(std::get<1>(std::get<0>(b)), x));
      CHECK(same(std::get<0>(std::get<1>(b)), vec{4, 4, 4}));
      CHECK(std::get<1>(std::get<1>(b)) == 4 * sum(x));
    }
    const layer<double> p{mat{{1, 2}, {3, 4}}, vec{5, 6}, 7};
    const auto g = tt::jacrev([](const auto& q) { return eval(matmul(q.w, q.b)); }, c)(p);  // d_i/dw_ij = b_j, d_i/db_j = w_ij
    CHECK(same(g.b, p.w));
    CHECK(same(g.w, tensor<double, 3>{{{5, 6}, {0, 0}}, {{0, 0}, {5, 6}}}));
    const tensor<std::complex<double>, 1> z{{1, 2}, {0, -1}};
    const auto dz = tt::jacfwd([](const auto& a) { return eval(a * a); }, holomorphic, c)(z), rz = tt::jacrev([](const auto& a) { return eval(a * a); }, holomorphic, c)(z);
    for (int i = 0; i < 2; ++i)
      for (int l = 0; l < 2; ++l) {
        CHECK(dz(i, l) == (i == l ? 2.0 * z(i) : 0.0));
        CHECK(rz(i, l) == (i == l ? 2.0 * z(i) : 0.0));
      }
    // inside another transform: d/dx sum(J(x)) with J = diag(3 x^2)
    const auto cube = [](const auto& v) { return eval(v * v * v); };
    CHECK(same(tt::grad([&](const auto& v) { return sum(tt::jacfwd(cube, c)(v)); })(x), vec(6.0 * x)));
    CHECK(same(tt::grad([&](const auto& v) { return sum(tt::jacrev(cube, c)(v)); })(x), vec(6.0 * x)));
    CHECK(same(tt::jvp([&](const auto& v) { return tt::jacobian(cube, c)(v); }, x, vec{1, 1, 1}).y_dot, mat(6.0 * x * eye<double>(3))));
    CHECK(same(vmap([&](const auto& v) { return tt::jacobian(cube, c)(v); })(mat{{1, 2}, {3, 4}}), tensor<double, 3>{{{3, 0}, {0, 12}}, {{27, 0}, {0, 48}}}));
  }
}
}  // namespace chunk_test
