// Memory that runs out anywhere in a transform, from a resource or from the free store: std::bad_alloc, nothing is kept, and the next call is right.
#include <doctest/doctest.h>
#include <cstdlib>
#include <map>
#include <new>
#include <string>
#include <ttensor/all.hpp>

namespace tt = ttensor;

namespace {
struct budget {  // of allocations
  long left = 0;
  bool counts = false, refused = false;
  void take() {
    if (!counts) return;
    if (left == 0) {
      refused = true;
      throw std::bad_alloc();
    }
    --left;
  }
} heap;
struct : tt::mem::memory_resource {
  budget of;
  long alive = 0;
  void* allocate(std::size_t bytes) override {
    of.take();
    ++alive;
    return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  }
  void deallocate(void* p, std::size_t) noexcept override {
    --alive;
    std::free(p);
  }
} resource;
void* from_heap(std::size_t bytes, std::size_t alignment) {
  heap.take();
  void* p = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (!p) throw std::bad_alloc();
  return p;
}
}  // namespace
void* operator new(std::size_t n) { return from_heap(n, 16); }
void* operator new(std::size_t n, std::align_val_t a) { return from_heap(n, static_cast<std::size_t>(a)); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace {
using vec = tt::tensor<double, 1>;
using mat = tt::tensor<double, 2>;

/// The number that f gives, with every allocation failing in turn, those of one budget at a time.
template <class F> void survives(const F& f) {
  const double right = f();
  for (budget* b : {&heap, &resource.of}) {
    long failures = 0;
    for (bool thrown = true; thrown; failures += thrown) {
      CAPTURE(failures);
      double result = right;
      thrown = false;
      const long before = resource.alive;
      tt::mem::default_resource = &resource;
      *b = {failures, true, false};
      try {
        result = f();
      } catch (const std::bad_alloc&) {
        thrown = true;
      }
      b->counts = false;
      REQUIRE(thrown == b->refused);
      REQUIRE(resource.alive == before);
      tt::mem::default_resource = nullptr;
      REQUIRE(result == right);
      REQUIRE(f() == right);
      REQUIRE_NOTHROW(tt::no_grad());  // is refused inside forward mode: all levels have ended
    }
    if (b == &resource.of || !TTENSOR_KEEPS_BLOCKS) CHECK(failures > 2);  // where blocks are kept, cells of mapped numbers are taken from among them
  }
}
vec x7() { return tt::linspace(0.3, 0.9, 7); }
mat near_identity() { return 4.0 * tt::eye<double>(5) + 0.01 * tt::reshape(tt::linspace(1.0, 25.0, 25), 5, 5); }
template <class A> double weighed(const A& a) { return double(tt::sum(tt::eval(a * tt::cos(a)))); }
constexpr auto f = [](const auto& x) { return tt::sum(tt::exp(-x * x) * tt::sin(x) + tt::sqrt(x + 1)); };
}  // namespace

TEST_CASE("derivatives") {
  survives([] { return weighed(tt::grad(f)(x7())); });
  survives([] { return weighed(tt::hessian(f)(x7())); });
  survives([] { return weighed(tt::grad([](const auto& x) { return tt::sum(tt::square(tt::grad(f)(x))); })(x7())); });
  survives([] {
    const auto [y, l] = tt::linearize(f, x7());
    return y + l(x7());
  });
  survives([] {
    const std::map<std::string, vec> p{{"a", x7()}, {"b", x7()}};
    return weighed(tt::grad([](const auto& q) { return tt::sum(q.at("a") * q.at("b") * q.at("b")); })(p).at("b"));
  });
}
TEST_CASE("examples") {
  survives([] { return weighed(tt::vmap(tt::grad(f))(near_identity())); });
  survives([] {
    return weighed(tt::vmap([](const auto& x) {
      auto y = tt::eval(x * 2);
      y(0) = y(1) * x(2);
      y(tt::range(1, 3)) *= 3.0;
      return y;
    })(near_identity()));
  });
  survives([] { return weighed(tt::vmap([](const auto& k, const auto& x) { return tt::eval(tt::normal<double>(k, {5}) * x); })(tt::split(tt::rng(3), 5), near_identity())); });
}
TEST_CASE("products, factors, elements, parts") {
  survives([] { return weighed(tt::grad([](const auto& a) { return tt::sum(tt::square(tt::cholesky(tt::matmul(a, tt::transpose(a))))); })(near_identity())); });
  survives([] {
    return weighed(tt::grad([](const auto& x) {
      auto y = tt::eval(x * 2);
      for (tt::index_t i = 1; i < x.extent(0); ++i) y(i) = y(i - 1) * y(i);
      y(tt::range(1, 5)) = y(tt::range(0, 4)) * tt::take(x, tt::tensor<tt::index_t, 1>{0, 2, 2, 6});
      return tt::sum(y);
    })(x7()));
  });
}
TEST_CASE("loops, branches, checkpoints, rules") {
  survives([] {
    return weighed(tt::grad([](const auto& x) {
      const auto [last, all] = tt::scan([](const auto& c, const auto& e) {
        const auto n = tt::eval(c * 0.9 + tt::sin(e));
        return std::pair(n, n);
      }, tt::eval(x(0)), x);
      return tt::sum(all * all) + last;
    })(x7()));
  });
  survives([] {
    const auto one = [](const auto& c) { return tt::eval(c * 2); };
    const auto other = [](const auto& c) { return tt::exp(c); };
    return weighed(tt::vmap([=](const auto& x) { return tt::cond(tt::sum(x) > 4.6, one, other, x); })(near_identity()));
  });
  survives([] {
    const auto part = tt::checkpoint([](const auto& x) { return tt::eval(tt::tanh(x) * x); });
    return weighed(tt::grad([=](const auto& x) { return tt::sum(tt::for_loop(3, [=](int, const auto& c) { return part(c); }, x)); })(x7()));
  });
  survives([] {
    const auto g = tt::custom_vjp([](const auto& x) { return tt::eval(tt::exp(x)); },
                                  [](const auto& x) { return std::pair(tt::eval(tt::exp(x)), tt::eval(tt::exp(x))); },
                                  [](const auto& y, const auto& ct) { return tt::eval(y * ct); });
    return weighed(tt::grad([=](const auto& x) { return tt::sum(g(x) * x); })(x7()));
  });
}
