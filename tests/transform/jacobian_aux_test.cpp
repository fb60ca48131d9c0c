// has_aux of jvp, of Jacobians and of hessian: the auxiliary part is what f computed, without the transform's own level, and the derivatives are those of the first part alone.
#include <doctest/doctest.h>
#include <ttensor/all.hpp>

#include <string>

namespace jacobian_aux_test {
namespace tt = ttensor;
using tt::has_aux;
using vec = tt::tensor<double, 1>;
using mat = tt::tensor<double, 2>;

namespace {
const vec times{0.0, 0.5, 1.0, 2.0, 4.0};
/// Decays a exp(-k t) of parameters (a, k), and beside them their sum, which has a derivative of its own.
const auto decay = [](const auto& p) {
  const auto y = p(0) * exp(-p(1) * times);
  return std::pair{y, sum(y)};
};
mat decay_jacobian(const vec& p) {
  mat j(times.size(), 2);
  for (int i = 0; i < times.size(); ++i) {
    const double e = std::exp(-p(1) * times(i));
    j(i, 0) = e;
    j(i, 1) = -p(0) * times(i) * e;
  }
  return j;
}
template <class A, class B> bool close(const A& a, const B& b) { return a.shape() == b.shape() && tt::all(abs(a - b) <= 1e-14 * (1 + abs(b))); }

template <class T> struct line { T slope, offset; };
}  // namespace

TEST_CASE("jacobians with an auxiliary part: all modes, in chunks or not") {
  const vec p{2.0, 0.7};
  const double total = sum(2.0 * exp(-0.7 * times));
  auto check = [&](const auto& r) {
    CHECK(close(r.grad, decay_jacobian(p)));
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(r.aux)>, double>);
    CHECK(r.aux == doctest::Approx(total).epsilon(1e-14));
  };
  check(tt::jacfwd(decay, has_aux)(p));
  check(tt::jacrev(decay, has_aux)(p));
  check(tt::jacobian(decay, has_aux)(p));
  check(tt::jacfwd(decay, has_aux, tt::chunk_size{2})(p));
  check(tt::jacrev(decay, tt::chunk_size{3}, has_aux)(p));
  check(tt::jacobian(decay, has_aux, tt::chunk_size{1})(p));
  check(tt::jacfwd(decay, has_aux, tt::strict)(p));
  const auto [j, aux] = tt::jacobian(decay, has_aux)(p);
  CHECK(close(j, decay_jacobian(p)));
  CHECK(aux == doctest::Approx(total).epsilon(1e-14));
}

TEST_CASE("jvp with an auxiliary part") {
  const vec p{2.0, 0.7}, v{-1.0, 0.5};
  const auto [y, y_dot, aux] = tt::jvp(decay, p, v, has_aux);
  CHECK(close(y, tt::eval(2.0 * exp(-0.7 * times))));
  CHECK(close(y_dot, matmul(decay_jacobian(p), v)));
  CHECK(aux == doctest::Approx(sum(y)).epsilon(1e-14));
}

TEST_CASE("the auxiliary part may be any tree, with parts that are no numbers") {
  const vec p{2.0, 0.7};
  const auto f = [](const auto& q) {
    const auto y = tt::eval(q * q);
    return std::pair{y, std::tuple{y, 7, std::string("seven"), std::vector{q(0), q(1)}, line<std::remove_cvref_t<decltype(tt::eval(q(0)))>>{q(0), q(1)}}};
  };
  auto check = [&](const auto& r) {
    CHECK(close(r.grad, mat{{4, 0}, {0, 1.4}}));
    const auto& [y, seven, text, parts, both] = r.aux;
    CHECK(close(y, vec{4, 0.49}));
    CHECK(seven == 7);
    CHECK(text == "seven");
    CHECK(parts == std::vector{2.0, 0.7});
    CHECK(both.offset == 0.7);
  };
  check(tt::jacfwd(f, has_aux)(p));
  check(tt::jacrev(f, has_aux)(p));
  check(tt::jacobian(f, has_aux)(p));
  check(tt::jacfwd(f, has_aux, tt::chunk_size{2})(p));
  CHECK(std::get<2>(tt::jvp(f, p, p, has_aux).aux) == "seven");
}

TEST_CASE("numbers, several arguments, aggregates") {
  const auto of_two = [](auto a, auto b) { return std::pair{std::array{a * b, a * b * b}, a + b}; };
  const auto by_both = tt::jacfwd<0, 1>(of_two, has_aux)(3.0, 5.0);  // one pass for both
  const auto by_last = tt::jacrev<-1>(of_two, has_aux)(3.0, 5.0);
  CHECK(std::get<0>(std::get<0>(by_both.grad)) == 5);
  CHECK(std::get<1>(std::get<0>(by_both.grad)) == 3);
  CHECK(std::get<0>(std::get<1>(by_both.grad)) == 25);
  CHECK(std::get<1>(std::get<1>(by_both.grad)) == 30);
  CHECK(by_both.aux == 8);
  CHECK(by_last.grad == std::array{3.0, 30.0});
  CHECK(by_last.aux == 8);
  const auto seven = tt::jacfwd([](const auto& x) { return std::pair{x[0] * x[6], x[3]}; }, has_aux)(std::array{1., 2., 3., 4., 5., 6., 7.});  // two passes
  CHECK(seven.grad == std::array{7., 0., 0., 0., 0., 0., 1.});
  CHECK(seven.aux == 4);
  const auto of_line = tt::jacobian([](const auto& l) { return std::pair{l.slope * times + l.offset, l}; }, has_aux)(line<double>{2.0, 1.0});
  CHECK(close(of_line.grad.slope, times));
  CHECK(close(of_line.grad.offset, tt::ones_like(times)));
  CHECK(of_line.aux.slope == 2);
}

TEST_CASE("the auxiliary part costs no further call, with chunk_size one") {
  int calls = 0;
  const auto f = [&](const auto& t) { return ++calls, std::pair{tt::eval(t * t), sum(t)}; };
  const auto after = [&](auto&& run) { return calls = 0, static_cast<void>(run()), calls; };
  const vec x{1, 2, 3};
  CHECK(after([&] { return tt::jacfwd(f, has_aux)(x); }) == 3);
  CHECK(after([&] { return tt::jacfwd(f, has_aux, tt::chunk_size{2})(x); }) == 3);
  CHECK(after([&] { return tt::jacrev(f, has_aux)(x); }) == 1);
  CHECK(after([&] { return tt::jacrev(f, has_aux, tt::chunk_size{2})(x); }) == 2);
}

TEST_CASE("hessian with an auxiliary part") {
  const vec x{1.0, 2.0, -0.5};
  const auto f = [](const auto& t) { return std::pair{sum(t * t * t), tt::eval(2.0 * t)}; };
  const auto h = tt::hessian(f, has_aux)(x);
  CHECK(close(h.grad, tt::eval(6.0 * x * tt::eye<double>(3))));
  CHECK(close(h.aux, tt::eval(2.0 * x)));
  const auto rows = tt::hessian([](const auto& t) { return std::pair{tt::eval(t * t * t), t(1)}; }, has_aux)(x);  // of a result that is no scalar
  CHECK(rows.grad(2, 2, 2) == -3);
  CHECK(sum(abs(rows.grad)) == 21);
  CHECK(rows.aux == 2);
}

TEST_CASE("inside other transforms the auxiliary part carries their levels") {
  const vec p{2.0, 0.7};
  // d/dp of the sum of the squares of y, through the auxiliary part alone: 2 J' y
  const auto through = [](const auto& mode) {
    return [mode](const auto& q) { return sum(square(mode([](const auto& r) { return std::pair{sum(r), decay(r).first}; })(q).aux)); };
  };
  const vec truth = matmul(transpose(decay_jacobian(p)), 4.0 * exp(-0.7 * times));
  CHECK(close(tt::grad(through([](auto f) { return tt::jacfwd(f, has_aux); }))(p), truth));
  CHECK(close(tt::grad(through([](auto f) { return tt::jacrev(f, has_aux); }))(p), truth));
  CHECK(close(tt::jacfwd(through([](auto f) { return tt::jacobian(f, has_aux); }))(p), truth));
  CHECK(close(tt::grad(through([](auto f) { return tt::jacfwd(f, has_aux, tt::chunk_size{2}); }))(p), truth));
  const mat many{{2.0, 0.7}, {1.0, 0.1}, {-1.0, 0.4}};
  const auto mapped = tt::vmap(tt::jacfwd(decay, has_aux))(many), reversed = tt::vmap(tt::jacrev(decay, has_aux))(many);
  for (int i = 0; i < 3; ++i) {
    CHECK(close(tt::eval(mapped.grad(i)), decay_jacobian(many(i))));
    CHECK(close(tt::eval(reversed.grad(i)), decay_jacobian(many(i))));
    CHECK(mapped.aux(i) == doctest::Approx(sum(many(i, 0) * exp(-many(i, 1) * times))).epsilon(1e-14));
    CHECK(reversed.aux(i) == doctest::Approx(mapped.aux(i)).epsilon(1e-14));
  }
  // a closure over the outer variable: value 2 s * 1.5 and so on of p = (1, 2), by hand
  const vec ones{1, 2};
  const auto closure = [&](const auto& mode) {
    return [&, mode](const auto& s) { return sum(mode([&](const auto& t) { return std::pair{tt::eval(t * s), tt::eval(t * s * s)}; })(ones).aux); };
  };
  const auto check = [&](const auto& f) {  // f(s) = 3 s^2
    CHECK(f(1.25) == 4.6875);
    const double by_grad = tt::grad(f)(1.25), by_jacfwd = tt::jacfwd(f)(1.25), second = tt::grad(tt::grad(f))(1.25);
    CHECK(by_grad == 7.5);
    CHECK(by_jacfwd == 7.5);
    CHECK(second == 6);
    const auto mapped_over = tt::vmap(f)(vec{1.25, 2});
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(mapped_over)>, vec>);
    CHECK(tt::all(mapped_over == vec{4.6875, 12}));
    CHECK(tt::all(tt::grad([&](const auto& v) { return sum(tt::vmap(f)(v)); })(vec{1.25, 2}) == vec{7.5, 12}));
  };
  check(closure([](auto f) { return tt::jacfwd(f, has_aux); }));
  check(closure([](auto f) { return tt::jacrev(f, has_aux); }));
  check(closure([](auto f) { return tt::jacobian(f, has_aux); }));
  check(closure([](auto f) { return tt::jacfwd(f, has_aux, tt::chunk_size{2}); }));
  check(closure([](auto f) { return tt::jacrev(f, has_aux, tt::chunk_size{2}); }));
  check(closure([](auto f) { return [f](const auto& x) { return tt::jvp(f, x, x, has_aux); }; }));
  const auto of_hessian = [&](const auto& s) { return sum(tt::hessian([&](const auto& t) { return std::pair{sum(t * t * s), tt::eval(t * s * s)}; }, has_aux)(ones).aux); };
  check(of_hessian);
  // captured outer variables, without closing_over: the probe looks at the types
  const double outer = tt::grad([](auto k) { return tt::jacobian([&](const auto& r) { return std::pair{k * r, k * k * sum(r)}; }, has_aux)(vec{1.0, 2.0}).aux; })(3.0);
  CHECK(outer == 18);
}
}  // namespace jacobian_aux_test
