// Mapped values outside the call of the transform that made them are found as taped ones are (closures_test_refused.cpp), in checked builds duals too.
// What is right must stay right: here, and in all the other tests, which pass in checked builds.
#include <doctest/doctest.h>

#include <ttensor/all.hpp>

#include <any>
#include <string>

namespace tt = ttensor;
using namespace ttensor;

namespace {
std::any leaked;
template <class F> bool refuses(const F& call, const char* id) {
  try {
    call();
  } catch (const level_error& e) {
    CAPTURE(std::string(e.what()));
    CHECK(std::string(e.what()).find(id) != std::string::npos);
    leaked.reset();
    return true;
  }
  leaked.reset();
  return false;
}
const auto times_leaked = [](auto y) { return y * std::any_cast<decltype(y)>(leaked); };
const auto only_leaked = [](auto y) { return std::any_cast<decltype(y)>(leaked); };
const tensor<double, 1> numbers{1, 2, 3}, along{1, 1, 1};
}  // namespace

#if TTENSOR_CHECK_LEVELS
TEST_CASE("a dual of an outer call that a global brought") {
  CHECK(refuses([] { return tt::jvp([](auto x) { leaked = x; return x * tt::jvp(times_leaked, 2.0, 1.0).y_dot; }, 3.0, 1.0).y_dot; }, "[TT-L07]"));
  CHECK(refuses([] { return tt::jvp([](auto x) { leaked = x; return x * tt::jvp(only_leaked, 2.0, 1.0).y_dot; }, 3.0, 1.0).y_dot; }, "[TT-L07]"));
  CHECK(refuses([] { return tt::jvp([](auto x) { leaked = x; return x * tt::jvp(times_leaked, numbers, along).y_dot; }, numbers, along).y_dot; }, "[TT-L07]"));
  CHECK(refuses([] { return tt::jacfwd([](auto x) { leaked = x; return x * tt::jvp(only_leaked, numbers, along).y_dot; })(numbers); }, "[TT-L07]"));
}
TEST_CASE("a dual brought into a comparison, a sum, a product of matrices, an element, a part") {
  const auto brought = [](auto use) {
    return refuses([&] {
      return tt::jvp([&](auto x) {
        leaked = x;
        tt::jvp([&](auto y) { return use(y, std::any_cast<decltype(y)>(leaked)); }, numbers, along);
        return sum(x);
      }, numbers, along).y;
    }, "[TT-L07]");
  };
  CHECK(brought([](auto y, auto k) { return where(y < k, y, 2.0 * y); }));
  CHECK(brought([](auto y, auto k) { return y * sum(k); }));
  CHECK(brought([](auto y, auto k) { return sum(y * k); }));
  CHECK(brought([](auto y, auto k) { return dot(y, k); }));
  CHECK(brought([](auto y, auto k) { return y(0) * k(1); }));
  CHECK(brought([](auto y, auto k) { y(tt::range(0, 2)) = k(tt::range(0, 2)); return y; }));
  CHECK(brought([](auto y, auto k) { y(0) = k(1); return y; }));
  CHECK(brought([](auto y, auto k) { return y + k(1); }));
}
TEST_CASE("a dual that outlives its call") {
  tt::dual<double> kept;
  tt::jvp([&](auto x) { kept = x; return x * x; }, 2.0, 1.0);
  CHECK(refuses([&] { return kept * kept; }, "[TT-L06]"));
  CHECK(refuses([&] { return kept < 1.0; }, "[TT-L06]"));
  CHECK(refuses([&] { return tt::jvp([&](auto x) { leaked = kept; return times_leaked(x); }, 2.0, 1.0).y; }, "[TT-L06]"));
  tensor<tt::dual<double>, 1> array;
  tt::jvp([&](auto x) { array = 2.0 * x; return x; }, numbers, along);
  CHECK(refuses([&] { return tensor<tt::dual<double>, 1>(array * 2.0); }, "[TT-L06]"));
  CHECK(refuses([&] { return array(1) * 2.0; }, "[TT-L06]"));
}
#endif
TEST_CASE("a dual of mapped numbers, in all builds") {
  using mapped_dual = tt::dual<tt::batched<double>>;
  const auto keep = [](auto make) {
    tt::vmap([&](const auto& a) { return tt::jvp([&](const auto& b) { leaked = make(b); return b * b; }, a, a).y_dot; })(numbers);
  };
  keep([](const auto& b) { return b * b; });
  CHECK(refuses([] { const auto k = std::any_cast<mapped_dual>(leaked); return k * k; }, "[TT-L06]"));
  keep([](const auto& b) { return tt::eval(b * numbers); });
  CHECK(refuses([] { const auto k = std::any_cast<tensor<mapped_dual, 1>>(leaked); return tt::eval(k * k); }, "[TT-L06]"));
  CHECK(refuses([] {  // of as many examples as the vmap that it is brought into
    return tt::vmap([](const auto& a) {
      return tt::jvp([&](const auto& b) {
        leaked = b * b;
        return sum(tt::vmap([](auto c) { return tt::jvp(times_leaked, c, c).y; })(numbers)) + b;
      }, a, a).y;
    })(numbers);
  }, "[TT-L07]"));
}
namespace {
tensor<tt::batched<double>, 1> mapped(2);  // not captured, so that no transform sees its levels
}
TEST_CASE("memory that an earlier call wrote may be written again") {
  tensor<tt::dual<double>, 1> work(3);
  tensor<tt::dual<double>, 2> rows(2, 3);
  const auto f = [&](auto x) {
    if constexpr (std::is_same_v<decltype(x), tensor<tt::dual<double>, 1>>) {
      work(0) = x(0) * x(1);
      work(tt::range(1, 3)) = 2.0 * x(tt::range(0, 2));
      work = work * x;
      rows(0) = x;
      rows(1) = 2.0 * x;
      const tt::dual<double> part = sum(rows * rows);  // 5 sum(x x)
      rows = 0.0;
      rows(0) += work;
      return eval(sum(rows) + part);
    } else {
      return sum(x);
    }
  };
  for (int k = 0; k < 3; ++k) CHECK(tt::jvp(f, numbers, along).y_dot == 21.0 + 60.0);  // d (x0^2 x1 + 2 x0 x1 + 2 x1 x2), 10 sum(x)
  for (int k = 0; k < 3; ++k) {
    CHECK(sum(vmap([&](auto x) { mapped = 0.0; mapped += x; return sum(mapped); })(numbers)) == 12.0);
    CHECK(sum(vmap([&](auto x) { mapped(tt::all) = 0.0; mapped(0) += x; return sum(mapped); })(numbers)) == 6.0);
    CHECK(sum(vmap([&](auto x) { mapped(0) = x; mapped(1) = x * x; return sum(mapped * mapped); })(numbers)) == 112.0);  // x^2 + x^4
  }
}
namespace {
template <class S> S in_scratch(const S& y) {
  static thread_local tensor<S, 1> s(2);
  s(0) = y;
  s(1) = y * y;
  return S(s(0) + s(1));
}
}  // namespace
TEST_CASE("scratch memory of a function that is called in several vmaps, one inside the other") {
  for (int k = 0; k < 3; ++k) {
    const auto t = vmap([&](auto x) { return vmap([&, x](auto y) { return in_scratch(x * y); })(numbers); })(numbers);
    CHECK(t(2, 1) == 42.0);
    CHECK(sum(vmap([&](auto x) { return in_scratch(x) + vmap([](auto y) { return in_scratch(y); }, tt::out_axes<0>)(numbers)(0); })(numbers)) == 26.0);
    CHECK(tt::jvp([&](auto x) { return in_scratch(x) * tt::jvp([](auto y) { return in_scratch(y); }, 2.0, 1.0).y_dot; }, 3.0, 1.0).y_dot == 35.0);  // (2 x + 1) 5
  }
}
TEST_CASE("mapped values") {
  CHECK(refuses([] { return vmap([](auto x) { leaked = x; return vmap(times_leaked)(numbers) * x; })(numbers); }, "[TT-L07]"));
  CHECK(refuses([] { return vmap([](auto x) { leaked = x; return vmap(only_leaked)(numbers) * x; })(numbers); }, "[TT-L07]"));
  tt::batched<double> kept;
  vmap([&](auto x) { kept = x; return x; })(numbers);
  CHECK(refuses([&] { return kept * 2.0; }, "[TT-L06]"));
  CHECK(refuses([&] { return vmap([&](auto x) { return x * kept; })(numbers); }, "[TT-L06]"));
  const tensor<double, 3> matrices{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
  const auto product = [](auto y) { return matmul(y, std::any_cast<decltype(y)>(leaked)); };
  CHECK(refuses([&] { return vmap([&](auto x) { leaked = x; return vmap(product)(matrices); })(matrices); }, "[TT-L07]"));
  tensor<tt::batched<double>, 2> result;
  vmap([&](auto x) { result = matmul(x, x); return x; })(matrices);
  CHECK(refuses([&] { return eval(result * 2.0); }, "[TT-L06]"));
}
TEST_CASE("nothing is refused that is right") {
  const auto twice = tt::jvp([](auto x) { return x * tt::jvp([x](auto y) { return x * y * y; }, 2.0, 1.0).y_dot; }, 3.0, 1.0);
  CHECK(twice.y_dot == 24.0);  // d/dx x * (4 x)
  CHECK(tt::jvp([](auto x) { return tt::jvp([](auto y) { return y * y * y; }, x, x).y_dot; }, 2.0, 1.0).y_dot == 36.0);  // d/dx 3 x^3
  const auto h = tt::jacfwd(tt::jacfwd([](auto x) { return sum(x * x * x); }))(numbers);
  CHECK(h(2, 2) == 18.0);
  const auto m = vmap([](auto x) { return vmap([x](auto y) { return x * y; })(numbers); })(numbers);
  CHECK(m(2, 1) == 6.0);
  const auto cube = [](const auto& x) { return eval(x * x * x); };
  const tensor<double, 2> two{{1, 2, 3}, {4, 5, 6}};
  CHECK(vmap(tt::jacfwd(cube, tt::chunk_size{2}))(two)(1, 2, 2) == 108.0);
  CHECK(vmap(tt::jacrev(cube, tt::chunk_size{2}))(two)(1, 2, 2) == 108.0);
  CHECK(vmap(tt::laplacian([](const auto& x) { return sum(x * x * x); }))(two)(0) == 36.0);
  const auto w = vmap([](auto x) { return vmap([x](auto y) { tensor<scalar_t<decltype(x), decltype(y)>, 1> u = x; return sum(u * u * y); })(x); })(two);
  CHECK(w(0, 2) == 42.0);
  const auto g = vmap(tt::grad([](auto x) { return tt::jvp([x](auto y) { return x * y * y; }, x, 1.0).y_dot; }))(numbers);
  CHECK(g(2) == 12.0);  // d/dx 2 x^2
}
