// What several threads do at once with values of one transform: read what is mapped, be refused by a tape, apply one pullback.
#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <ttensor/transform.hpp>
#include <vector>

namespace tt = ttensor;
using vec = tt::tensor<double, 1>;
using mat = tt::tensor<double, 2>;

namespace {
template <class F> void at_once(int threads, const F& f) {
  std::vector<std::thread> all;
  for (int k = 0; k < threads; ++k) all.emplace_back(f);
  for (std::thread& t : all) t.join();
}
}  // namespace

TEST_CASE("threads that may not record are refused, all at once, and the tape is as it was") {
  const vec x{1, 2, 3, 4};
  constexpr int rounds = 3000;
  std::atomic<int> refused{0};
  const auto refuses = [&](const auto& f) {
    try {
      static_cast<void>(f());
    } catch (const tt::level_error&) {
      ++refused;
    }
  };
  const vec g = tt::grad([&](const auto& v) {
    const auto w = tt::eval(v * 2.0);
    at_once(3, [&] {
      for (int i = 0; i < rounds; ++i) {
        refuses([&] { return tt::eval(w * v); });
        refuses([&] { return v(1) * w(2); });
        refuses([&] {
          const auto copy = w;
          return sum(copy);
        });
      }
    });
    return sum(w * v);
  })(x);
  CHECK(refused == 3 * 3 * rounds);
  CHECK(tt::all(g == 4 * x));
}

TEST_CASE("threads read what is mapped") {
  const mat m{{1, 2, 3}, {4, 5, 6}};
  std::atomic<int> wrong{0};
  const mat r = tt::vmap([&](const auto& v) {
    at_once(3, [&] {
      for (int i = 0; i < 1000; ++i) {
        const auto copy = v;
        const auto part = copy(tt::range(0, 2));
        const auto y = tt::eval(part * 2.0);
        wrong += y.size() != 2;
      }
    });
    return tt::eval(v * 2.0);
  })(m);
  CHECK(wrong == 0);
  CHECK(tt::all(r == 2 * m));
}

TEST_CASE("threads apply copies of one pullback and of one tangent map at once") {
  const vec x{1, 2, 3, 4}, one{1, 1, 1, 1};
  const auto f = [](const auto& v) { return exp(v) * v; };
  const auto [y, pull] = tt::vjp(f, x);
  const auto [z, lin] = tt::linearize(f, x);
  const vec down = pull(one), up = lin(one);
  std::atomic<int> wrong{0};
  at_once(3, [&, p = pull, l = lin] {
    for (int i = 0; i < 2000; ++i) {
      const auto own = p;
      const double s = 1 + i % 3;
      wrong += !tt::all(own(one * s) == down * s);
      wrong += !tt::all(l(one * s) == up * s);
    }
  });
  CHECK(wrong == 0);
}
TEST_CASE("a pullback inside its own backward pass is refused") {
  std::function<vec(const vec&)> again;
  const auto f = tt::custom_vjp([](const auto& x) { return tt::eval(x * x); }, [](const auto& x) { return std::pair{tt::eval(x * x), x}; },
                                [&](const auto& x, const auto& ct) {
                                  if (again) static_cast<void>(again(vec{1, 1}));
                                  return tt::eval(2.0 * x * ct);
                                });
  const auto [y, pull] = tt::vjp([&](const auto& v) { return f(v); }, vec{1, 2});
  again = [p = pull](const vec& ct) -> vec { return p(ct); };
  CHECK_THROWS_WITH_AS(pull(vec{1, 1}), "[vjp] a pullback or linear map is applied inside its own backward pass, which has one recording; make another one there [TT-L05]", tt::level_error);
  again = nullptr;
  CHECK(tt::all(pull(vec{1, 1}) == vec{2, 4}));
}
