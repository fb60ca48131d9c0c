// What functions return: containers and structs of expressions, views and element proxies are evaluated like tuples of them, in results, auxiliary
// output, arguments, checkpoints and loops. Second derivatives where a first one is 0 by a rule. Expected values in closed form.
#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <new>
#include <optional>
#include <ttensor/all.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace tt = ttensor;
using vec = tt::tensor<double, 1>;
using mat = tt::tensor<double, 2>;

namespace {
bool same(const auto& a, const auto& b) { return a.shape() == b.shape() && tt::all(a == b); }
template <class T> struct two { T x, y; };
template <class T> struct box {  // no tree
  T v;
  explicit box(T t) : v(t) {}
};
template <class T> struct layer {
  enum class kind { relu, tanh };
  tt::tensor<T, 1> w;
  kind k = kind::tanh;
};
const vec x{1, 2};
const mat m{{1, 2}, {3, 4}, {5, 6}};

constexpr auto squares = [](const auto& t) {
  auto y = tt::eval(t * t);
  return std::array{y(0), y(1)};  // proxies of elements of a local
};
constexpr auto multiples = [](const auto& t) { return std::array{t * 2.0, t * 3.0}; };
constexpr auto parts = [](const auto& t) { return std::vector{t(tt::range(0, 1)), t(tt::range(1, 2))}; };
constexpr auto maybe = [](const auto& t) { return std::optional{t * 2.0}; };
constexpr auto pairs = [](const auto& t) { return std::array{std::pair{t * t, 1.0}}; };
constexpr auto structs = [](const auto& t) { return two{t(0), t(1)}; };  // of proxies
}  // namespace

TEST_CASE("pullbacks") {
  CHECK(same(tt::vjp(squares, x).pull(std::array{1.0, 1.0}), vec{2, 4}));
  CHECK(same(tt::vjp(multiples, x).pull(std::array{x, x}), vec{5, 10}));
  CHECK(same(tt::vjp(parts, x).pull(std::vector{vec{3}, vec{4}}), vec{3, 4}));
  CHECK(same(tt::vjp(maybe, x).pull(std::optional{x}), vec{2, 4}));
  CHECK(same(tt::vjp(pairs, x).pull(std::array{std::pair{x, 1.0}}), vec{2, 8}));
  CHECK(same(tt::vjp(structs, x).pull(two<double>{5.0, 7.0}), vec{5, 7}));
  CHECK(same(tt::linear_transpose(structs, x)(two<double>{5.0, 7.0}), vec{5, 7}));
  CHECK(tt::linearize(squares, x).lin(vec{1, 1})[1] == 4);
}
TEST_CASE("tangents and Jacobians") {
  const auto r = tt::jvp(squares, x, x);
  static_assert(std::is_same_v<decltype(r.y_dot), std::array<double, 2>>);
  CHECK(r.y_dot[1] == 8);
  const auto s = tt::jvp(structs, x, vec{3, 4});
  static_assert(std::is_same_v<decltype(s.y_dot), two<double>>);
  CHECK(s.y_dot.y == 4);
  CHECK(same(tt::jvp(parts, x, vec{3, 4}).y_dot[1], vec{4}));
  CHECK(same(*tt::jvp(maybe, x, vec{3, 4}).y_dot, vec{6, 8}));
  CHECK(same(tt::jacrev(squares)(x)[1], vec{0, 4}));
  CHECK(same(tt::jacfwd(squares)(x)[1], vec{0, 4}));
  CHECK(same(tt::jacrev(multiples)(x)[1], mat{{3, 0}, {0, 3}}));
}
TEST_CASE("mapped") {
  CHECK(same(tt::vmap(squares)(m)[1], vec{4, 16, 36}));
  CHECK(same(tt::vmap(parts)(m)[1], mat{{2}, {4}, {6}}));
  const auto s = tt::vmap(structs)(m);
  static_assert(std::is_same_v<decltype(s), const two<tt::stacked<double, 1>>>);
  CHECK(same(tt::vmap([](const auto& p) { return p.x * p.y; })(s), vec{2, 12, 30}));
  CHECK(same(tt::vmap([](const auto& a) { return a[0] * a[1]; })(std::array{m(tt::all, 0), m(tt::all, 1)}), vec{2, 12, 30}));
}
TEST_CASE("auxiliary output, arguments, checkpoints, loops") {
  const auto r = tt::grad([](const auto& t) { return std::pair{sum(t * t), std::pair{multiples(t), std::array{t(0), t(1)}}}; }, tt::has_aux)(x);
  CHECK(same(r.aux.first[1], vec{3, 6}));
  static_assert(std::is_same_v<decltype(r.aux.second), std::array<double, 2>>);
  CHECK(tt::grad([](const auto& a) { return a[0] * a[1]; })(std::array{m(0, 0), m(1, 0)})[0] == 3);
  CHECK(same(tt::grad([](const auto& a) { return sum(a[0] * a[1]); })(std::vector{x * 1.0, x * 2.0})[0], vec{2, 4}));
  CHECK(tt::grad([](const auto& p) { return p.x * p.y; })(two{m(0, 0), m(1, 0)}).y == 1);
  CHECK(same(tt::grad([](const auto& t) {
    const auto q = tt::checkpoint(squares)(t);
    return q[0] * q[1];
  })(x), vec{8, 4}));
  const auto constant = tt::vmap([&](const auto& t) { return std::pair{t, two{x * 2.0, x * 3.0}}; })(m);  // a struct of expressions of what is not mapped
  CHECK(same(constant.second.y, vec{3, 6}));
  CHECK(same(tt::grad([](const auto& t) { return std::pair{sum(t), two{x(tt::range(0, 1)), x(tt::range(1, 2))}}; }, tt::has_aux)(x).aux.y, vec{2}));
  const auto ys = std::get<1>(tt::scan([](const auto& c, const auto& v) { return std::pair{c + v(0), std::array{v(0), v(1)}}; }, 0.0, m));
  CHECK(same(ys[1], vec{2, 4, 6}));
  CHECK(tt::for_loop(3, [](int, const auto& s) { return std::array{s[1] * 1.0, s[0] * 2.0}; }, std::array{m(0, 0), m(0, 1)})[0] == 4);
}
TEST_CASE("auxiliary output of an outer level in a class that is no tree, and fields whose type changes with the scalar but not their value") {
  CHECK(tt::grad([](const auto& s) {
    const auto in = tt::grad([&](const auto& t) { return std::pair{sum(t * t), box(s * 2.0)}; }, tt::has_aux)(x);
    return in.aux.v * sum(in.grad);  // 2 s (2 + 4)
  })(1.5) == 12);
  CHECK(tt::grad([](const auto& s) {
    const auto in = tt::grad([&](const auto& t) { return std::pair{sum(t * t), std::make_shared<std::remove_cvref_t<decltype(s)>>(s)}; }, tt::has_aux)(x);
    return *in.aux * *in.aux;
  })(1.5) == 3);
  const layer<double> l{{1, 2}};
  const auto g = tt::grad([](const auto& q) { return q.k == std::remove_cvref_t<decltype(q)>::kind::tanh ? sum(q.w * q.w) : sum(q.w); })(l);
  CHECK(same(g.w, vec{2, 4}));
  CHECK(g.k == layer<double>::kind::tanh);
}
TEST_CASE("mixed second derivatives where a first derivative is 0 by its rule") {
  const auto everywhere = [](const auto& f, const vec& at, const mat& expected) {
    CHECK(same(tt::hessian(f)(at), expected));
    CHECK(same(tt::jacrev(tt::grad(f))(at), expected));
    CHECK(same(tt::jacfwd(tt::jacfwd(f))(at), expected));
    CHECK(same(tt::jacrev(tt::jacfwd(f))(at), expected));
    CHECK(same(tt::vmap(tt::hessian(f))(reshape(at, 1, 2)), tt::unsqueeze(expected, 0)));
  };
  const auto entropy = [](const auto& t) { return xlogy(t(0), t(1)); };
  everywhere(entropy, vec{0, 2}, mat{{0, 0.5}, {0.5, 0}});
  everywhere(entropy, vec{0, -4}, mat{{0, -0.25}, {-0.25, 0}});
  CHECK(tt::grad(tt::grad([](const auto& t) { return xlogy(t, t + 2.0); }))(0.0) == 1);
  CHECK(same(tt::grad(entropy)(vec{0, 4}), vec{std::log(4.0), 0}));
  const auto power = [](const auto& t) { return pow(t(0), t(1)); };
  const double l = std::log(4.0);
  everywhere(power, vec{4, 0}, mat{{0, 0.25}, {0.25, l * l}});
  CHECK(tt::grad(tt::grad([](const auto& t) { return pow(4.0 + t, t); }))(0.0) == doctest::Approx(0.5 + l * l).epsilon(1e-15));
  for (const double at : {0.0, 1e-310, -3.0, 2.0}) {  // x^0 is flat in x
    CHECK(tt::grad([](const auto& t) { return pow(t, 0.0); })(at) == 0);
    CHECK(tt::grad(tt::grad([](const auto& t) { return pow(t, 0.0); }))(at) == 0);
    CHECK(tt::grad(power)(vec{at, 0.0})(0) == 0);
  }
  const vec exponents{0, 1, 2, 3};
  const auto polynomial = [&](const auto& t) { return sum(pow(t, exponents)); };
  for (const double at : {1e-200, 1e-160, 1e-110, 1e-70}) {
    CHECK(tt::grad(tt::grad(polynomial))(at) == 2);
    CHECK(tt::grad(tt::grad(tt::grad(polynomial)))(at) == 6);
    CHECK(tt::jacfwd(tt::jacfwd(polynomial))(at) == 2);
  }
  const auto third = tt::jacrev(tt::hessian(power))(vec{2, 0});
  CHECK(third(0, 0, 1) == -0.25);  // -1 / x^2
}

namespace {
struct failing : tt::mem::memory_resource {
  int left = -1, plan = -1;
  void* allocate(std::size_t n) override {
    if (left == 0) throw std::bad_alloc();
    --left;
    return ::operator new(n, std::align_val_t(64));
  }
  void deallocate(void* p, std::size_t) noexcept override {
    ::operator delete(p, std::align_val_t(64));
  }
};
}  // namespace
TEST_CASE("a write that memory fails leaves value and derivative as they are") {
  failing memory;
  tt::mem::default_resource = &memory;
  const auto check = [&](const auto& write) {  // of zeros to some elements, so that a sum is the sum of its own derivatives
    int failed = 0;
    for (int k = 0; k < 4; ++k) {
      const auto f = [&](const auto& t) {
        auto z = tt::eval(t * 1.0);
        const auto before = z;  // a second owner, so that the write takes memory
        memory.left = k;
        try {
          write(z, t);
        } catch (const std::bad_alloc&) {
          ++failed;
        }
        memory.left = -1;
        return sum(z) + 0.0 * sum(before);
      };
      const vec v{1, 2};
      const auto reverse = tt::value_and_grad(f)(v);
      CHECK(reverse.value == sum(reverse.grad * v));
      const auto forward = tt::jvp(f, v, v);
      CHECK(forward.y == forward.y_dot);
    }
    CHECK(failed > 2);
    CHECK(failed < 8);
  };
  check([](auto& z, const auto& t) { z(1) = t(0) * 0.0; });
  check([](auto& z, const auto&) { z(tt::range(0, 1)) = 0.0; });
  check([](auto& z, const auto& t) { z(tt::range(0, 1)) = t(tt::range(1, 2)) * 0.0; });
  tt::mem::default_resource = nullptr;
}
TEST_CASE("a statement that memory fails while it is recorded, caught and done again: the right derivative, or an error") {
  failing memory;
  tt::mem::default_resource = &memory;
  int right = 0, refused = 0, failed = 0;
  const auto check = [&](const auto& d, const auto& want) {  // d(k): the derivative where allocation k of the statement fails
    for (int k = 0; k < 12; ++k) {
      memory.plan = k;
      try {
        const auto got = d();
        ++right;
        CHECK(tt::all(got == want));
      } catch (const tt::level_error& e) {
        ++refused;
        CHECK(std::string(e.what()).find("[TT-L09]") != std::string::npos);
      }
      memory.left = memory.plan = -1;
      CHECK(tt::all(tt::grad([](const auto& t) { return sum(t * t); })(vec{1, 2}) == vec{2, 4}));  // the next transform is as ever
    }
  };
  const auto again = [&](const auto& statement) {
    memory.left = memory.plan;
    try {
      statement();
    } catch (const std::bad_alloc&) {
      ++failed;
      memory.left = -1;
      statement();
    }
    memory.left = -1;
  };
  tt::tensor<double, 2> m(3, 20);
  m(0) = 1.0, m(1) = 2.0, m(2) = 3.0;
  const auto column = [&](const auto& t) {
    auto z = tt::eval(t * 2.0);
    again([&] { z(tt::all, 1) = sum(z, 1) * t(tt::all, 0); });
    return sum(z * z);
  };
  check([&] { return tt::grad(column)(m); }, tt::grad(column)(m));
  const vec v{1, 2, 3};
  const auto elements = [&](const auto& t) {
    auto z = tt::eval(t * 2.0);
    again([&] { z(1) = z(0) * t(2); });
    return sum(z * z);
  };
  check([&] { return tt::grad(elements)(v); }, vec{8 + 8 * 9, 0, 24 + 8 * 3});
  check([&] { return tt::hvp(elements, v, v); }, tt::hvp(elements, v, v));
  const tt::tensor<double, 2> rows{{1, 2, 3}, {3, 2, 1}};
  check([&] { return tt::vmap(tt::grad(elements))(rows); }, tt::vmap(tt::grad(elements))(rows));
  const auto whole = [&](const auto& t) {
    auto z = tt::eval(t * 2.0);
    again([&] { z = z * t; });
    return sum(z * z);
  };
  check([&] { return tt::grad(whole)(v); }, tt::grad(whole)(v));
  check([&] { return tt::hvp(whole, v, v); }, tt::hvp(whole, v, v));
  static tt::tensor<tt::var<double>, 1> cache;  // of an earlier transform: refused before anything is written
  tt::grad([](const auto& t) {
    if constexpr (tt::depth_v<tt::scalar_t<decltype(t)>> == 1) cache = t * 3.0;
    return sum(t * t);
  })(v);
  CHECK(tt::all(tt::grad([](const auto& t) {
    CHECK_THROWS_AS(cache(0) = t(1) * 2.0, tt::level_error);
    CHECK_THROWS_AS(cache(tt::range(0, 2)) = t(tt::range(1, 3)), tt::level_error);
    return sum(t * t);
  })(v) == vec{2, 4, 6}));
  cache = {};
  CHECK(right > 30);
  CHECK(failed > 10);
  CHECK(refused > 0);
  tt::mem::default_resource = nullptr;
}
TEST_CASE("extents are taken apart by name, and stay one value in trees") {
  const tt::tensor<double, 2> m(3, 4);
  const auto [rows, columns] = m.shape();
  CHECK(rows == 3);
  CHECK(columns == 4);
  const auto mean_of_squares = [](const auto& t) {
    const auto [n, k] = t.shape();
    return sum(t * t) / double(n * k);
  };
  CHECK(tt::all(tt::grad(mean_of_squares)(tt::ones_like(m)) == 1 / 6.0));
  const auto mapped = tt::vmap([](const auto& row) { return std::pair(row.shape(), sum(row)); })(m);
  static_assert(std::is_same_v<decltype(mapped.first), tt::dims<1>>);
  CHECK(mapped.first[0] == 4);
}
