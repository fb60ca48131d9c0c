// Gradients through permuted arrays, whose loops turn their axes and whose adjoints are added in tiles: closed forms, for every order of the axes and extents on both sides of a tile.
#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <ttensor/all.hpp>

namespace permuted_test {
namespace tt = ttensor;
using tt::index_t;

namespace {
template <class T> tt::tensor<T, 3> numbers(std::uint64_t seed, index_t a, index_t b, index_t c) {  // small integers: every sum of them is exact
  return tt::to<T>(tt::integers<int>(tt::rng(seed), {a, b, c}, -4, 5));
}
template <class F> void each_order(const F& f) {
  index_t order[] = {0, 1, 2};
  do {
    CAPTURE(order[0]);
    CAPTURE(order[1]);
    index_t back[3];
    for (index_t d = 0; d < 3; ++d) back[order[d]] = d;
    f([&](const auto& x) { return tt::permute(x, {order[0], order[1], order[2]}); }, [&](const auto& x) { return tt::permute(x, {back[0], back[1], back[2]}); });
  } while (std::next_permutation(order, order + 3));
}
template <class X, class Y> bool same(const X& x, const Y& y) { return x.shape() == y.shape() && tt::all(x == y); }
const index_t extents[][3] = {{9, 70, 13}, {67, 3, 20}, {2, 130, 8}, {8, 8, 8}, {1, 9, 65}, {16, 1, 16}};
}  // namespace

TEST_CASE_TEMPLATE("gradients of permuted arrays", T, double, float, std::complex<double>) {
  for (const auto& n : extents) {
    CAPTURE(n[0]);
    CAPTURE(n[1]);
    const tt::tensor<T, 3> t = numbers<T>(1, n[0], n[1], n[2]), other = numbers<T>(2, n[0], n[1], n[2]);
    const auto total = [](const auto& x) { return tt::real(tt::sum(x)); };
    each_order([&](const auto& turned, const auto& back) {
      const tt::tensor<T, 3> w = turned(other);
      CHECK(same(tt::grad([&](const auto& x) { return total(w * turned(x)); })(t), back(tt::conj(w))));
      CHECK(same(tt::grad([&](const auto& x) { return total(turned(x) * turned(x)); })(t), tt::eval(tt::conj(2 * t))));
      CHECK(same(tt::grad([&](const auto& x) { return total(w + turned(x)) + total(x * x); })(t), tt::eval(tt::conj(1 + 2 * t))));
      CHECK(same(tt::grad([&](const auto& x) { return total(tt::square(tt::eval(turned(x) * w))); })(t), tt::eval(tt::conj(2 * t * back(w) * back(w)))));
      for (index_t d = 0; d < 3; ++d) {  // a sum along an axis of the view: its adjoint is the same along that axis
        const tt::tensor<T, 3> rows = 2 * tt::sum(turned(t), d, tt::keepdims) + 0 * w;
        CHECK(same(tt::grad([&](const auto& x) { return total(tt::square(tt::sum(turned(x), d))); })(t), back(tt::conj(rows))));
        const tt::tensor<T, 3> few = tt::sum(w, d, tt::keepdims);  // broadcast against the view: a sum over the axes it lacks
        const tt::tensor<T, 3> want = tt::conj(tt::sum(turned(t), d, tt::keepdims));
        CHECK(same(tt::grad([&](const auto& b) { return total(b * turned(t)); })(few), want));
        CHECK(same(tt::grad<1>([&](const auto& b, const auto& x) { return total(b * turned(x)); })(few, t), back(tt::conj(few + 0 * w))));
      }
    });
  }
}
TEST_CASE("an array beside itself turned") {
  for (const index_t n : {3, 8, 17, 70}) {
    const tt::tensor<double, 3> t = numbers<double>(3, n, n, n);
    each_order([&](const auto& turned, const auto& back) {
      const tt::tensor<double, 3> want = 2 * (t + turned(t)) + back(2 * (t + turned(t)));
      CHECK(same(tt::grad([&](const auto& x) { return tt::sum(tt::square(x + turned(x))); })(t), want));
      CHECK(same(tt::grad([&](const auto& x) { return tt::sum(x * turned(x)); })(t), tt::eval(turned(t) + back(t))));
    });
  }
}
TEST_CASE("the same mapped, and twice") {
  const tt::tensor<double, 4> batch = tt::to<double>(tt::integers<int>(tt::rng(4), {4, 5, 66, 9}, -4, 5));
  each_order([&](const auto& turned, const auto& back) {
    const tt::tensor<double, 3> w = turned(numbers<double>(5, 5, 66, 9));
    const auto f = [&](const auto& x) { return tt::sum(w * turned(x) * turned(x) * turned(x)); };
    const tt::tensor<double, 4> mapped = tt::vmap(tt::grad(f))(batch);
    const tt::tensor<double, 4> last = tt::vmap(tt::grad(f), tt::in_axes<3>, tt::out_axes<3>)(tt::tensor<double, 4>(tt::permute(batch, {1, 2, 3, 0})));
    for (index_t i = 0; i < 4; ++i) {
      const tt::tensor<double, 3> t = batch(i), want = 3 * back(w) * t * t;
      CHECK(same(tt::tensor<double, 3>(mapped(i)), want));
      CHECK(same(tt::tensor<double, 3>(last(tt::all, tt::all, tt::all, i)), want));
      CHECK(same(tt::hvp(f, t, t), tt::eval(6 * back(w) * t * t)));
      CHECK(same(tt::grad([&](const auto& x) { return tt::sum(tt::grad(f)(x)); })(t), tt::eval(6 * back(w) * t)));
    }
  });
}
TEST_CASE("products of stacks whose matrices lie between each other") {  // 128 matrices of 128 x 128: 21 to 6.5 ms
  const tt::tensor<double, 3> stack = numbers<double>(6, 18, 17, 20), other = numbers<double>(7, 18, 17, 20);
  each_order([&](const auto& turned, const auto&) {
    const auto view = turned(stack);
    const tt::tensor<double, 3> copy = view * 1.0, right = tt::swapaxes(turned(other), 1, 2), product = matmul(copy, right);
    CHECK(same(matmul(view, right), product));
    CHECK(same(matmul(view, tt::swapaxes(turned(other), 1, 2)), product));
    CHECK(same(matmul(copy, tt::swapaxes(turned(other), 1, 2)), product));
    const auto total = [&](const auto& x) { return tt::sum(matmul(turned(x), right) * matmul(turned(x), right)); };
    const tt::tensor<double, 3> ct = 2 * product, want = matmul(ct, tt::swapaxes(right, 1, 2));
    CHECK(same(tt::tensor<double, 3>(turned(tt::grad(total)(stack))), want));
  });
}
}  // namespace permuted_test
