// What a recording keeps until it is swept: borrowed memory, what functions and rules refer to, cotangents without elements, parts of one shape.
// Expected values in closed form.
#include <doctest/doctest.h>
#include <ttensor/all.hpp>
#include <string>
#include <vector>

namespace kept_test {
namespace tt = ttensor;
using vec = tt::tensor<double, 1>;
using mat = tt::tensor<double, 2>;

namespace {
bool same(const auto& a, const auto& b) { return tt::all(a == b); }
template <class Error, class F> std::string refusal(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing";
}
template <class T> struct layer { tt::tensor<T, 2> w; tt::tensor<T, 1> b; };
struct net {
  double c;
  template <class T> auto act(const T& t) const {
    return tt::custom_vjp([](const auto& t) { return tt::eval(t * t); }, [](const auto& t) { return std::pair{tt::eval(t * t), t}; },
                          [this](const auto& s, const auto& ct) { return tt::eval(2.0 * ct * s * c); })(t);
  }
};
const vec x{1, 2, 3};
}  // namespace

TEST_CASE("memory of the caller that is gone or written over when the tape is swept") {
  const vec t{1, 2}, e{1, 1};
  const auto product = [](const auto& t) {
    std::vector<double> q{1, 2, 3, 4};
    return sum(tt::square(tt::eval(matmul(tt::view(q, {2, 2}), t))));
  };
  CHECK(same(tt::grad(product)(t), vec{76, 108}));
  CHECK(same(tt::hessian(product)(t), mat{{20, 28}, {28, 40}}));
  CHECK(same(tt::vhp(product, t, t), vec{76, 108}));
  const auto solved = [](const auto& t) {
    std::vector<double> q{2, 0, 1, 4};
    return sum(tt::square(triangular_solve(tt::view(q, {2, 2}), t)));
  };
  CHECK(same(tt::grad(solved)(t), vec{0.40625, 0.1875}));
  const auto cubes = [](const auto& t) {
    std::vector<double> q{1, 2};
    const auto y = tt::eval(t * t * t * tt::view(q));
    q = {100, 200};
    return sum(y);
  };
  CHECK(same(tt::grad(cubes)(t), vec{3, 24}));
  CHECK(same(tt::hvp(cubes, t, e), vec{6, 24}));
  CHECK(same(tt::vhp(cubes, t, e), vec{6, 24}));
  const auto squares = [](const auto& t) {
    std::vector<double> q{1, 2};
    return tt::eval(t * t * tt::view(q));
  };
  CHECK(same(tt::linearize(squares, t).lin(e), vec{2, 8}));
  const auto inner = [](const auto& t) {
    std::vector<double> q{1, 2};
    return dot(tt::view(q), t * t);
  };
  CHECK(same(tt::linearize(inner, t).lin(e), 10.0));
  const auto repeated = [](const auto& t) {  // a row of a borrowed matrix, broadcast
    std::vector<double> q{1, 2, 3, 4};
    return sum(tt::square(tt::eval(matmul(broadcast_to(tt::view(q)(tt::range(1, 3)), {3, 2}), t))));
  };
  CHECK(same(tt::grad(repeated)(t), vec{96, 144}));  // 3 (2 t0 + 3 t1)^2
}

TEST_CASE("checkpoint of a function that refers to an argument or a capture of the transformed one, under vjp") {
  const auto f = [](const auto& x) { return tt::checkpoint([&](const auto& y) { return tt::eval(y * y * x); })(x); };
  CHECK(same(tt::jacrev(f)(x), mat{{3, 0, 0}, {0, 12, 0}, {0, 0, 27}}));
  CHECK(same(tt::vjp(f, x).pull(vec{1, 1, 1}), vec{3, 12, 27}));
  CHECK(same(tt::vmap(tt::jacrev(f))(mat{{1, 2, 3}}), tt::tensor<double, 3>{{{3, 0, 0}, {0, 12, 0}, {0, 0, 27}}}));
  const auto copies = [&] {
    auto r = tt::vjp(f, x);
    return std::vector{r.pull, r.pull};
  }();
  CHECK(same(copies[1](vec{1, 0, 1}), vec{3, 0, 27}));
  const double s = 3;
  const auto capturing = [s](const auto& x) { return tt::checkpoint([&](const auto& y) { return tt::eval(y * y * s); })(x); };
  CHECK(same(tt::vjp(capturing, x).pull(vec{1, 1, 1}), vec{6, 12, 18}));
  const auto number = [](const auto& s) { return tt::checkpoint([&](const auto& y) { return y * y * s; })(s); };
  CHECK(tt::vjp(number, 2.0).pull(1.0) == 12);
}

TEST_CASE("rules that refer to a local of the transformed function are refused: it is gone when they run") {
  const auto by_reference = [](const auto& t) {
    const double c = 5;
    return sum(tt::custom_vjp([&](const auto& t) { return tt::eval(t * t); }, [&](const auto& t) { return std::pair{tt::eval(t * t), t}; },
                              [&](const auto& s, const auto& ct) { return tt::eval(2.0 * ct * s * c); })(t));
  };
  CHECK(refusal<tt::level_error>([&] { tt::grad(by_reference)(x); }).find("[TT-L08]") != std::string::npos);
  const auto by_value = [](const auto& t) {
    const double c = 5;
    return sum(tt::custom_vjp([&](const auto& t) { return tt::eval(t * t); }, [&](const auto& t) { return std::pair{tt::eval(t * t), t}; },
                              [=](const auto& s, const auto& ct) { return tt::eval(2.0 * ct * s * c); })(t));
  };
  CHECK(same(tt::grad(by_value)(x), vec{10, 20, 30}));
  const double outside = 5;
  const auto older = [&](const auto& t) {
    return sum(tt::custom_jvp([](const auto& t) { return tt::eval(t * t); }, [&](const auto& t, const auto& d) { return std::pair{tt::eval(t * t), tt::eval(2.0 * t * d * outside)}; })(t));
  };
  CHECK(same(tt::grad(older)(x), vec{10, 20, 30}));
  const auto forward = [](const auto& t) {
    const double c = 5;
    return sum(tt::custom_jvp([](const auto& t) { return tt::eval(t * t); }, [&](const auto& t, const auto& d) { return std::pair{tt::eval(t * t), tt::eval(2.0 * t * d * c)}; })(t));
  };
  CHECK(tt::jvp(forward, x, vec{1, 1, 1}).y_dot == 60);  // runs at once
  CHECK(refusal<tt::level_error>([&] { tt::grad(forward)(x); }).find("[TT-L08]") != std::string::npos);
}

TEST_CASE("rules that hold objects, and those in a checkpoint, which runs its function again") {
  const auto square = [](const auto& t) { return tt::eval(t * t); };
  const auto forward = [](const auto& t) { return std::pair{tt::eval(t * t), t}; };
  CHECK(same(tt::grad([&](const auto& t) {
               const std::string s = "five";  // short: its address is inside the rule
               return sum(tt::custom_vjp(square, forward, [s](const auto& v, const auto& ct) { return tt::eval(2.0 * ct * v * static_cast<double>(s.size() + 1)); })(t));
             })(x), vec{10, 20, 30}));
  const net m{5};
  CHECK(same(tt::grad([m](const auto& t) { return sum(tt::checkpoint([m](const auto& u) { return m.act(u); })(t)); })(x), vec{10, 20, 30}));
  CHECK(same(tt::grad([](const auto& t) {
               const std::string s = "five";
               return sum(tt::checkpoint([s](const auto& u) { return tt::eval(u * u * static_cast<double>(s.size())); })(t));
             })(x), vec{8, 16, 24}));
}

TEST_CASE("a tangent map given to vmap inside another transform") {
  const mat directions{{1, 0, 0}, {0, 1, 2}};
  const auto f = [](const auto& x) { return tt::eval(x * x * sum(x)); };  // J d = 2 x d s + x^2 sum(d)
  const auto g = [&](const auto& x) {
    auto l = tt::linearize(f, x);
    return sum(tt::vmap(l.lin)(directions));
  };
  // sum over both: s (2 x . (1, 1, 2)) + 4 sum(x^2): derivative (2 x . d) + 2 s d + 8 x
  const vec d{1, 1, 2};
  const vec truth = 2 * dot(x, d) + 2 * 6.0 * d + 8 * x;
  CHECK(tt::max(abs(tt::grad(g)(x) - truth)) < 1e-12);
  CHECK(tt::max(abs(tt::jacfwd(g)(x) - truth)) < 1e-12);
}

TEST_CASE("cotangents that never had elements") {
  layer<double> p{mat{{1, 2}}, {}};
  const auto r = tt::vjp([](const auto& p) { return layer<tt::scalar_t<decltype(p.w)>>{p.w * p.w, p.b * p.b}; }, p);
  CHECK(same(r.pull(p).w, mat{{2, 8}}));
  vec none, cotangent;
  CHECK(tt::vjp([](const auto& t) { return t * t; }, none).pull(cotangent).size() == 0);
  CHECK(tt::linear_transpose([](const auto& t) { return t * 2.0; }, none)(cotangent).size() == 0);
  mat empty;
  CHECK(empty(tt::ellipsis).data() == nullptr);
  CHECK(std::as_const(empty)(tt::ellipsis).data() == nullptr);
}

TEST_CASE("examples choose between results of one shape") {
  const auto of_shapes = [](const auto& a) {
    const auto result = [](tt::index_t n) { return [n](const auto& a) { return tt::tensor<tt::scalar_t<decltype(a)>, 1>(n) + a; }; };
    return sum(tt::cond(a > 0.0, result(1), result(3), a));
  };
  CHECK(of_shapes(2.0) == 2);
  CHECK(refusal<tt::shape_error>([&] { tt::vmap(of_shapes)(vec{2, -1}); }).find("[TT-S26]") != std::string::npos);
  CHECK(refusal<tt::shape_error>([] {
          tt::scan([](const auto& c, const auto& t) { return std::pair{c + t, vec(c > 1.5 ? 1 : 3)}; }, 1.0, x);
        }).find("[TT-S26]") != std::string::npos);
}

TEST_CASE("fixed tensors that vmap does not map, and their numbers") {
  const tt::fixed<double, 3> f{1, 2, 3};
  const mat m{{1, 2, 3}, {4, 5, 6}};
  CHECK(same(tt::vmap([](const auto& r, const auto& f) { return r * f; }, tt::in_axes<0, tt::none>)(m, f), mat{{1, 4, 9}, {4, 10, 18}}));
  CHECK(same(tt::vmap([](const auto& r, const auto& p) { return r * p.first * p.second; }, tt::in_axes<0, tt::none>, tt::chunk_size{1})(m, std::pair{f, 2.0}), mat{{2, 8, 18}, {8, 20, 36}}));
  CHECK(same(tt::per_sample_grad([](const auto& f, const auto& r) { return sum(r * f * f); })(f, m), mat{{2, 8, 18}, {8, 20, 36}}));
  CHECK(same(tt::value_of(f), vec{1, 2, 3}));
  CHECK(same(std::get<0>(tt::value_of(std::pair{f, 2.0})), vec{1, 2, 3}));
}
}  // namespace kept_test
