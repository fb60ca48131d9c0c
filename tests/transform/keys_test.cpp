// Random keys under vmap: a mapped key is one key for each example (rule 16 of the transforms). The truth is a loop over the keys
// (random_gate_test.cpp has numbers of another program).
#include <doctest/doctest.h>
#include <ttensor/all.hpp>

namespace keys_test {
namespace tt = ttensor;
using namespace ttensor;
using vec = tensor<double, 1>;
using mat = tensor<double, 2>;

namespace {
template <class A, class B> bool same(const A& a, const B& b) {  // shapes and elements, bit for bit
  return a.shape() == b.shape() && all(a == b);
}
/// f over the keys (and rows of x), stacked by hand.
template <class F> mat looped(const F& f, const std::vector<rng>& keys, const mat& x) {
  mat y(x.extent(0), x.extent(1));
  for (index_t i = 0; i < x.extent(0); ++i) y(i) = vec(f(keys[static_cast<std::size_t>(i)], vec(x(i))));
  return y;
}
const auto close = [](const auto& a, const auto& b) { return a.shape() == b.shape() && max(abs(a - b)) <= 1e-14; };
const rng key(42);
const mat x5 = normal<double>(rng(7), {5, 3});
}  // namespace

TEST_CASE("vmap over keys: every draw is that of the example's own key, bit for bit") {
  const auto keys = split(key, 5);
  auto check = [&](const auto& f) { CHECK(same(vmap(f)(keys, x5), looped(f, keys, x5))); };
  check([](const auto& k, const auto& v) { return v * normal<double>(k, {3}); });
  check([](const auto& k, const auto& v) { return v + uniform<double>(k, {3}); });
  check([](const auto& k, const auto& v) { return v + sum(uniform<double>(fold_in(k, 3), {4, 2})); });
  check([](const auto& k, const auto& v) {
    const auto [a, b] = split<2>(k);
    const auto more = split(a, 3);
    return normal<double>(b, {3}) * v + normal<double>(more[2], {3});
  });
  const auto whole = vmap([](const auto& k) { return integers<int>(k, {6}, -3, 9); })(keys);
  const auto order = vmap([](const auto& k) { return permutation(k, 7); })(keys);
  const auto small = vmap([](const auto& k) { return uniform<float>(k, {5}); })(keys);
  static_assert(std::is_same_v<decltype(whole), const tensor<int, 2>> && std::is_same_v<decltype(small), const tensor<float, 2>>);
  for (int i = 0; i < 5; ++i) {
    const rng& k = keys[static_cast<std::size_t>(i)];
    CHECK(all(whole(i) == integers<int>(k, {6}, -3, 9)));
    CHECK(all(order(i) == permutation(k, 7)));
    CHECK(all(small(i) == uniform<float>(k, {5})));
  }
}
TEST_CASE("vmap over keys: arrays of keys, several axes, keys as results, unmapped keys, sizes") {
  const auto keys = split(key, 5);
  const auto draw = [](const auto& k) { return normal<double>(k, {2}); };
  CHECK(same(vmap(draw)(split<5>(key)), vmap(draw)(keys)));  // std::array
  std::vector<std::array<rng, 3>> rows;
  for (const rng& k : keys) rows.push_back(split<3>(k));
  const auto deep = vmap(vmap(draw))(rows);
  REQUIRE(deep.shape() == dims<3>{{5, 3, 2}});
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 3; ++j) CHECK(all(deep(i, j) == draw(rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)])));
  const auto inner = vmap([&](const auto& k) { return vmap(draw)(split(k, 3)); })(keys);  // keys made inside are mapped twice
  CHECK(same(inner, deep(all, range(0, 0), all)) == false);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 3; ++j) CHECK(all(inner(i, j) == draw(split(keys[static_cast<std::size_t>(i)], 3)[static_cast<std::size_t>(j)])));

  const auto folded = vmap([](const auto& k) { return std::pair{fold_in(k, 1), split<3>(k)}; })(keys);
  static_assert(std::is_same_v<decltype(folded.first), std::vector<rng>>);
  REQUIRE(folded.first.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(folded.first[i] == fold_in(keys[i], 1));
    CHECK(folded.second[i] == split<3>(keys[i]));
  }
  const mat one_key = vmap([](const auto& k, const auto& v) { return v * normal<double>(k, {3}); }, in_axes<none, 0>)(key, x5);
  CHECK(same(one_key, mat(x5 * normal<double>(key, {3}))));  // an unmapped key: the same numbers for every example
  CHECK_THROWS_WITH_AS(vmap([](const auto&, const auto& v) { return v; })(split(key, 4), x5), doctest::Contains("[TT-S05]"), shape_error);
  CHECK_THROWS_WITH_AS(vmap(vmap(draw))(std::vector{split(key, 2), split(key, 3)}), doctest::Contains("rows of 2 and 3 keys"), shape_error);
  CHECK(vmap(draw)(std::vector<rng>{}).shape() == dims<2>{{0, 2}});
}
TEST_CASE("vmap over indices: fold_in makes one key an example") {
  const auto noise = [](const auto& i) { return normal<double>(fold_in(key, i), {3}); };
  const mat y = vmap(noise)(arange<int>(5));
  for (int i = 0; i < 5; ++i) CHECK(all(y(i) == normal<double>(fold_in(key, static_cast<std::uint64_t>(i)), {3})));
  const auto keys = split(key, 5);
  const mat z = vmap([](const auto& k, const auto& i) { return uniform<double>(fold_in(k, i), {2}); })(keys, arange<std::int64_t>(5));
  for (int i = 0; i < 5; ++i) CHECK(all(z(i) == uniform<double>(fold_in(keys[static_cast<std::size_t>(i)], static_cast<std::uint64_t>(i)), {2})));
  // two levels: keys mapped outside, steps inside, and the other way round
  const auto a = vmap([](const auto& k) { return vmap([&](const auto& i) { return uniform<double>(fold_in(k, i), {2}); })(arange<int>(4)); })(keys);
  const auto b = vmap([&](const auto& i) { return vmap([&](const auto& k) { return uniform<double>(fold_in(k, i), {2}); })(keys); })(arange<int>(4));
  REQUIRE(a.shape() == dims<3>{{5, 4, 2}});
  REQUIRE(b.shape() == dims<3>{{4, 5, 2}});
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 4; ++j) {
      const vec truth = uniform<double>(fold_in(keys[static_cast<std::size_t>(i)], static_cast<std::uint64_t>(j)), {2});
      CHECK(all(a(i, j) == truth));
      CHECK(all(b(j, i) == truth));
    }
}
TEST_CASE("mapped keys and derivatives: keys are constants of every level") {
  const auto keys = split(key, 5);
  const vec w{0.5, -1, 2};
  const auto loss = [](const auto& p, const auto& k, const auto& v) { return sum(p * p * v * normal<double>(k, {3})); };  // d/dp = 2 p v n
  mat noise(5, 3);
  for (int i = 0; i < 5; ++i) noise(i) = normal<double>(keys[static_cast<std::size_t>(i)], {3});
  const mat each = 2.0 * w * x5 * noise;
  CHECK(close(per_sample_grad(loss)(w, keys, x5), each));
  CHECK(close(vmap(grad(loss), in_axes<none, 0, 0>)(w, keys, x5), each));
  const auto total = [&](const auto& p) { return sum(vmap(loss, in_axes<none, 0, 0>)(p, keys, x5)); };
  CHECK(close(grad(total)(w), vec(sum(each, 0))));
  CHECK(jvp(total, w, w).y_dot == doctest::Approx(sum(each * w)).epsilon(1e-14));
  CHECK(close(vmap([&](const auto& k) { return jacfwd([&](const auto& p) { return p * p * normal<double>(k, {3}); })(w); })(keys)(all, 1, 1), vec(2.0 * w(1) * noise(all, 1))));
  CHECK(close(grad([&](const auto& p) { return sum(vmap([&](const auto& k) { return checkpoint([=](const auto& q) { return sum(q * normal<double>(k, {3})); })(p * p); })(keys)); })(w),
              vec(2.0 * w * sum(noise, 0))));
}
TEST_CASE("scan walks a vector of keys") {
  const auto keys = split(key, 4);
  const auto walk = scan([](const auto& c, const auto& k) { auto next = eval(c + normal<double>(k, {2})); return std::pair{next, next}; }, vec(2), keys);
  vec c(2);
  for (int i = 0; i < 4; ++i) {
    c += normal<double>(keys[static_cast<std::size_t>(i)], {2});
    CHECK(all(walk.second(i) == c));
  }
}
TEST_CASE("what is drawn from a mapped key is written with mapped values, by a function that captures") {
  const auto keys = split(key, 4);
  const tensor<double, 2> q{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {0, 1, 0}};
  const double c = 2;
  const auto step = [&](const auto& k, const auto& x) {
    const auto [a, b] = split<2>(k);
    auto p = normal<double>(a, {3});
    p += c * x;
    auto u = uniform<double>(b);
    u *= c;
    return p * u;
  };
  const auto y = vmap(step)(keys, q);
  for (int i = 0; i < 4; ++i) CHECK(all(y(i) == step(keys[static_cast<std::size_t>(i)], vec(q(i)))));
  const auto slope = grad([&](const auto& s) {  // below a tape, with the key in a tuple
    return sum(vmap([&](const auto& t) {
      auto p = normal<double>(std::get<0>(t), {3});
      return p * s + std::get<1>(t);
    })(std::tuple{keys, q}));
  })(1.5);
  double drawn = 0;
  for (const auto& k : keys) drawn += sum(normal<double>(k, {3}));
  CHECK(slope == doctest::Approx(drawn));
}
TEST_CASE("mapped keys in the state of a mapped loop: rejection sampling") {
  const auto keys = split(key, 6);
  const auto sample = [](const auto& k) {
    return while_loop([](const auto& s) { return std::get<1>(s) < 0.8; },
                      [](const auto& s) {
                        const auto next = fold_in(std::get<0>(s), 1);
                        return std::tuple{next, uniform<double>(next, {1})(0) * 1.0};
                      },
                      std::tuple{k, uniform<double>(k, {1})(0) * 1.0});
  };
  const auto [last, x] = vmap(sample)(keys);
  for (int i = 0; i < 6; ++i) {
    const auto [k, u] = sample(keys[static_cast<std::size_t>(i)]);
    CHECK(x(i) == u);
    CHECK(last[static_cast<std::size_t>(i)] == k);
    CHECK(u >= 0.8);
  }
  const auto either = vmap([](const auto& k, auto t) { return normal<double>(cond(t > 0.0, [](const auto& q) { return fold_in(q, 1); }, [](const auto& q) { return fold_in(q, 2); }, k), {2}); })(keys, vec{1, -1, 1, -1, 1, 1});
  for (int i = 0; i < 6; ++i) CHECK(all(either(i) == normal<double>(fold_in(keys[static_cast<std::size_t>(i)], i == 1 || i == 3 ? 2 : 1), {2})));
}
TEST_CASE("mapped keys beside variables in functions with a rule of their own") {
  const auto keys = split(key, 5);
  const auto draw = [](const auto& x, const auto& k) { return eval(uniform<double>(k, {3}) * x); };
  const auto reverse = custom_vjp(
      draw,
      [](const auto& x, const auto& k) {
        const auto u = uniform<double>(k, {3});
        return std::pair(eval(u * x), u);
      },
      [](const auto& u, const auto& ct) { return std::tuple(eval(u * ct), 0); });
  const auto forward = custom_jvp(draw, [](const auto& v, const auto& d) {
    const auto u = uniform<double>(std::get<1>(v), {3});
    return std::pair(eval(u * std::get<0>(v)), eval(u * std::get<0>(d)));
  });
  const auto pairs = custom_jvp([](const auto& x, const auto& k) { return eval(uniform<double>(k[1], {3}) * x); }, [](const auto& v, const auto& d) {
    const auto u = uniform<double>(std::get<1>(v)[1], {3});
    return std::pair(eval(u * std::get<0>(v)), eval(u * std::get<0>(d)));
  });
  mat u(5, 3), second(5, 3);
  for (int i = 0; i < 5; ++i) u(i) = uniform<double>(keys[static_cast<std::size_t>(i)], {3});
  for (int i = 0; i < 5; ++i) second(i) = uniform<double>(split<2>(keys[static_cast<std::size_t>(i)])[1], {3});
  const auto check = [&](const auto& f, const auto& k, const mat& truth) {
    CHECK(close(grad([&](const auto& x) { return sum(vmap(f)(x, k)); })(x5), truth));
    CHECK(close(vmap(grad([&](const auto& x, const auto& one) { return sum(f(x, one)); }))(x5, k), truth));
    CHECK(close(hvp([&](const auto& x) { return sum(vmap(f)(eval(x * x), k)); }, x5, x5), mat(2 * truth * x5)));
  };
  std::vector<std::array<rng, 2>> both;
  for (const rng& k : keys) both.push_back(split<2>(k));
  check(forward, keys, u);
  check(pairs, both, second);
  CHECK(close(jvp([&](const auto& x) { return vmap(forward)(x, keys); }, x5, x5).y_dot, mat(u * x5)));
  CHECK(close(grad([&](const auto& x) { return sum(vmap(reverse)(x, keys)); })(x5), u));
  CHECK(close(grad([&](const auto& x) { return sum(vmap(grad([&](const auto& y, const auto& k) { return sum(reverse(eval(y * y), k)); }))(x, keys)); })(x5), mat(2 * u)));
  // a result that does not depend on the key, which is all that is mapped: the rule has the cotangent of each example
  const auto noisy = custom_vjp([](const auto& x, const auto&) { return eval(2 * x); }, [](const auto& x, const auto& k) { return std::pair(eval(2 * x), uniform<double>(k, {3})); },
                                [](const auto& saved, const auto& ct) { return std::tuple(eval(saved * ct), 0); });
  const vec w{1, 2, 3};
  const mat weight = x5 + 1.0;
  CHECK(close(grad([&](const auto& x) { return sum(vmap([&](const auto& k) { return noisy(x, k); })(keys) * weight); })(w), vec(sum(u * weight, 0))));
}
}  // namespace keys_test
