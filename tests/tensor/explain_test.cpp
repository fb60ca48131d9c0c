// explain: its numbers are those of what runs. Built with and without fusion, and with threads.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <ttensor/tensor.hpp>
#include <type_traits>
#include <utility>

namespace tt = ttensor;
using tt::index_t;
using vec = tt::tensor<double, 1>;
using mat = tt::tensor<double, 2>;

namespace {
std::atomic<unsigned> lanes_seen{0};  // a bit for each number of lanes
template <class X> struct lanes_in { static constexpr unsigned value = 1; };
template <class T, int N> struct lanes_in<tt::pack<T, N>> { static constexpr unsigned value = N; };

/// x, and a note of how many it is.
struct noted_op : tt::real_elementwise<1> {
  static constexpr const char* name = "noted";
  static constexpr unsigned reads(int) { return 0; }
  template <class X> static X primal(const X& x) {
    lanes_seen |= lanes_in<X>::value;
    return x;
  }
  template <class X, class Y> static auto partials(const X&, const Y&) { return tt::grads{1}; }
};
template <class X> auto noted(X&& x) { return tt::apply<noted_op>(std::forward<X>(x)); }

/// The number behind `what`, or -1.
long number(const std::string& text, const std::string& what) {
  const auto at = text.find(what + ": ");
  return at == std::string::npos ? -1 : std::atol(text.c_str() + at + what.size() + 2);
}
struct work {
  long loops, blocks, regions;
  static work done() {
    return {long(tt::counts.loops), long(tt::mem::stats.blocks), long(tt::run::thread_stats.regions)};
  }
  work since(const work& o) const { return {loops - o.loops, blocks - o.blocks, regions - o.regions}; }
};
template <class F> work of(const F& f) {
  lanes_seen = 0;
  const work before = work::done();
  f();
  return work::done().since(before);
}
/// What runs where make() and a fresh tensor of it are evaluated, and where the tensor alone is.
template <class F> std::string check(const F& make) {
  const std::string text = tt::explain(make);
  CAPTURE(text);
  const work all = of([&] { static_cast<void>(tt::eval(make())); });
  CHECK(number(text, "loops") == all.loops);
  CHECK(number(text, "passes") == all.loops);
  const long buffers = number(text, "buffers") > 0 ? number(text, "buffers") : 0;
  if (all.regions == 0) CHECK(number(text, "temporaries") + buffers + 1 == all.blocks);  // else threads have buffers of their own

  const auto e = make();
  const std::string alone = tt::explain(e);
  CAPTURE(alone);
  const work loop = of([&] { static_cast<void>(tt::eval(e)); });
  CHECK(number(alone, "loops") == loop.loops);
  CHECK(number(alone, "temporaries") == 0);
  if (loop.regions == 0) CHECK(1 + buffers == loop.blocks);
  CHECK((number(alone, "threads") > 1) == (loop.regions > 0));
  if (lanes_seen != 0) CHECK(number(alone, "lanes") == lanes_seen);
  return text;
}
bool has(const std::string& text, const char* what) { return text.find(what) != std::string::npos; }
const vec x = tt::linspace(0.0, 1.0, 100), z = tt::linspace(1.0, 2.0, 100);
const mat a = tt::reshape<2>(tt::linspace(0.0, 1.0, 20 * 30), {20, 30}), b = tt::reshape<2>(tt::linspace(0.0, 1.0, 30 * 30), {30, 30});
const vec row = tt::linspace(0.0, 1.0, 30);
}  // namespace

TEST_CASE("explain: elementwise statements") {
  const std::string text = check([] { return noted(exp(-x * x) * sin(x) + tanh(z)); });
  CHECK(number(text, "loops") == (TTENSOR_FUSES ? 1 : 8));
  CHECK(number(text, "temporaries") == (TTENSOR_FUSES ? 0 : 7));
  CHECK(has(text, "before this loop") == !TTENSOR_FUSES);
  CHECK(has(tt::explain(x * z - x), "before this loop") == !TTENSOR_FUSES);
  for (const index_t n : {0, 1, 3, 8, 9, 17}) {
    const vec v(n);
    check([&] { return noted(v * 2.0); });
    check([&] { return noted(tt::to<float>(v)); });
  }
  check([] { return noted(tt::let(x * z, [](auto t) { return t * t + t; })); });
  check([] { return noted(tt::tensor<double, 3>(1, 1, 1) + 1.0); });
}
#if defined(README)
TEST_CASE("explain: what README.md quotes") {
  std::ifstream file(README);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const vec u{1, 2, 3, 4}, v{4, 3, 2, 1};
  std::string text = tt::explain(exp(-u * u) * sin(u) + tanh(v));
  const auto at = text.find("lanes: ");
  text.replace(at, text.find('\n', at) - at, "lanes: 8");  // of AVX-512
  CAPTURE(text);
  CHECK(has(page, ("\n```\n" + text + "```\n").c_str()));
}
#endif
TEST_CASE("explain: a tensor is no loop") {
  const std::string text = tt::explain(x);
  CHECK(number(text, "loops") == of([] { const vec y = x; }).loops);
  CHECK(number(text, "loops") == 0);
}
TEST_CASE("explain: operands that are results of array operators") {
  CHECK(number(check([] { return noted(tanh(matmul(a, b) + row)); }), "loops") == (TTENSOR_FUSES ? 2 : 4));
  const mat small{{1, 2}, {3, 4}};
  const std::string text = check([&] { return noted(matmul(small * 2.0, small)); });
  CHECK(number(text, "loops") == 3);
  CHECK(number(text, "temporaries") == 2);
  CHECK(has(text, "before this loop: 2 loops, 2 temporaries"));
  CHECK(number(check([] { return noted(tt::softmax(a, 1)); }), "loops") == 2);
  CHECK(number(check([] { return noted(tt::argmax(a, 1)); }), "loops") == 2);
  CHECK(number(check([&] { return noted(tt::cholesky(mat{{4, 1}, {1, 3}})); }), "loops") == 2);
  check([] { return noted(tt::take(row, tt::tensor<int, 1>{1, 2}, 0)); });
}
TEST_CASE("explain: sums") {
  CHECK(number(check([] { return noted(x - sum(x)); }), "loops") == (TTENSOR_FUSES ? 2 : 3));
  CHECK(number(check([] { return noted(a - sum(a, 1, tt::keepdims)); }), "temporaries") == (TTENSOR_FUSES ? 1 : 2));
  check([] { return noted(sum(tt::to<float>(a), 0)); });
  const auto total = [] { return sum(x * z + x); };
  CHECK(number(tt::explain(total), "loops") == of(total).loops);
  CHECK(number(tt::explain(total), "temporaries") == of(total).blocks);
  const auto columns = [] { return sum(a, 0); };
  CHECK(number(tt::explain(columns), "loops") == 1);
  CHECK(number(tt::explain(columns), "temporaries") + 1 == of(columns).blocks);
}
TEST_CASE("explain_sum: what sum does") {
  const auto same = [](const std::string& text, const auto& total, long result) {
    CAPTURE(text);
    const work w = of(total);
    CHECK(number(text, "loops") == w.loops);
    const long buffers = number(text, "buffers") > 0 ? number(text, "buffers") : 0;
    if (w.regions == 0) CHECK(number(text, "temporaries") + buffers + result == w.blocks);
    CHECK((number(text, "threads") > 1) == (w.regions > 0));
    CHECK(number(text, "lanes") == lanes_seen);
  };
  const auto check_sum = [&](const auto& make) {
    const auto e = make();
    same(tt::explain_sum(e), [&] { static_cast<void>(sum(e)); }, 0);
    for (int axis = 0; axis < tt::rank_v<decltype(e)>; ++axis) {
      same(tt::explain_sum(e, axis), [&] { static_cast<void>(sum(e, axis)); }, 1);
      same(tt::explain_sum(e, axis, tt::keepdims), [&] { static_cast<void>(sum(e, axis, tt::keepdims)); }, 1);
    }
  };
  check_sum([] { return noted(x); });
  check_sum([] { return noted(a); });
  check_sum([] { return noted(transpose(b)); });
  check_sum([] { return noted(tt::to<float>(a)); });
  check_sum([] { return noted(x(tt::range(0, 100, 2))); });
  const vec three{1, 2, 3};
  check_sum([&] { return noted(three); });
  check_sum([] { return noted(tt::fixed<double, 3>{1, 2, 3}); });
  CHECK(number(tt::explain_sum(x * z), "loops") == of([] { static_cast<void>(sum(x * z)); }).loops);
  CHECK(has(tt::explain_sum(tt::to<float>(a), 0), "float (30,), a sum of (20,30) in double\n"));
  const vec u(1 << 20);
  check_sum([&] { return noted(u(tt::range(0, 1 << 20, 3))); });
  check_sum([&] { return noted(tt::reshape<3>(u, {64, 1 << 14, 1})); });
  check_sum([&] { return noted(tt::permute(tt::reshape<3>(u, {64, 4, 1 << 12}), {2, 1, 0})); });
  tt::with(tt::threads{3}, [&] {
    check_sum([&] { return noted(u); });
    check_sum([&] { return noted(tt::reshape<2>(u, {1024, 1024})); });
    CHECK(number(tt::explain_sum(u), "threads") == (tt::run::has_threads ? 3 : 1));
    check_sum([] { return noted(x); });
    const mat m(300, 200);  // one call, without threads
    const auto e = noted(exp(sin(cos(m * m + 1.0) * m + 2.0) * m + 3.0) * m + 4.0);
    same(tt::explain_sum(e, {0, 1}, tt::keepdims), [&] { static_cast<void>(sum(e, {0, 1}, tt::keepdims)); }, 1);
  });
  CHECK(tt::explain_sum(a, 1).find("double (20,), a sum of (20,30)\n") == 0);  // the shape is that of the result
  CHECK(tt::explain_sum(a, 1, tt::keepdims).find("double (20,1), a sum of (20,30)\n") == 0);
  CHECK(tt::explain_sum(a, {0, 1}, tt::keepdims).find("double (1,1), a sum of (20,30)\n") == 0);
  for (const std::string& number : {tt::explain_sum(a), tt::explain_sum(a, {0, 1})}) CHECK(number.find("double, a sum of (20,30)\n") == 0);
  CHECK(tt::explain_sum(x, 0).find("double, a sum of (100,)\n") == 0);
  CHECK(has(tt::explain_sum(a, 1), "bytes: 4800 read, 160 written"));
}
TEST_CASE("explain: broadcast, transposed and strided operands") {
  check([] { return noted(a + row); });
  CHECK(has(check([] { return a + row; }), "plan: inner"));
  check([] { return noted(a + tt::reshape<2>(tt::linspace(0.0, 1.0, 20), {20, 1})); });
  const std::string text = check([] { return noted(transpose(b)); });
  CHECK(has(text, "plan: tiled"));
  CHECK(has(text, "buffers: 1 (tiles)"));
  check([] { return noted(b + transpose(b)); });
  check([] { return noted(x(tt::range(0, 100, 2))); });
  check([] { return noted(x(tt::range(99, 0, -1)) + 1.0); });
  check([] { return noted(b(tt::all, tt::range(0, 30, 3))); });
  check([] { return noted(b(tt::range(3, 9), tt::range(3, 9))); });
  check([] { return noted(a(tt::range(0, 3)) + row); });  // short columns
  const tt::tensor<double, 3> cube(20, 24, 30);
  CHECK(has(check([&] { return noted(tt::permute(cube, {2, 1, 0})); }), "plan: tiled"));
  check([&] { return noted(tt::permute(cube, {2, 0, 1})); });
  check([&] { return noted(cube(tt::all, tt::all, tt::range(0, 30, 2))); });
  const vec wide = tt::linspace(0.0, 1.0, 60);
  check([&] { return noted(b + wide(tt::range(0, 60, 2))); });
  CHECK(has(check([&] { return b + wide(tt::range(0, 60, 2)); }), "buffers: 1 (1 operand that is gathered once)"));
  CHECK(has(check([&] { return transpose(b) + wide(tt::range(0, 60, 2)); }), "buffers: 2 (1 operand that is gathered once; tiles)"));
}
TEST_CASE("explain: fixed tensors") {
  const auto check_fixed = []<index_t N>(std::integral_constant<index_t, N>) {
    const tt::fixed<double, N> v(tt::linspace(0.0, 1.0, N)), w = v;
    const std::string text = tt::explain(noted(v) * w);
    CAPTURE(text);
    tt::fixed<double, N> y;
    const work loop = of([&] { y = noted(v) * w; });
    CHECK(number(text, "loops") == loop.loops);
    CHECK(number(text, "temporaries") == 0);
    CHECK(loop.blocks == 0);
    const unsigned tail = text.find(", 1 for the last") != std::string::npos ? 1 : 0;
    CHECK((static_cast<unsigned>(number(text, "lanes")) | tail) == lanes_seen);
  };
  check_fixed(std::integral_constant<index_t, 1>{});
  check_fixed(std::integral_constant<index_t, 3>{});
  check_fixed(std::integral_constant<index_t, 8>{});
  check_fixed(std::integral_constant<index_t, 9>{});
  check_fixed(std::integral_constant<index_t, 100>{});
  check_fixed(std::integral_constant<index_t, 5000>{});
  const tt::fixed<double, 3> v{1, 2, 3};
  CHECK(number(tt::explain(v * v), "lanes") == (tt::native_width_v<double> > 3 ? 1 : tt::native_width_v<double>));
}
TEST_CASE("explain: threads") {
  const vec u(1 << 20);
  const mat m(1024, 1024);
  tt::with(tt::threads{3}, [&] {
    check([] { return noted(x * 2.0); });
    CHECK(number(check([&] { return noted(u * 2.0); }), "threads") == (tt::run::has_threads ? 3 : 1));
    check([&] { return noted(transpose(m)); });
    CHECK(has(check([&] { return noted(u - sum(u * u)); }), "on several threads") == tt::run::has_threads);
  });
  CHECK(has(check([&] { return noted(transpose(m)); }), "threads: 1 of 1"));
}
