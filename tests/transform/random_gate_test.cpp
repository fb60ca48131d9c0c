// Random numbers, alone and under transforms, against tests/gate/random_values.txt: made by a program of its own, not by a loop of ttensor's.
#include <doctest/doctest.h>
#include <ttensor/all.hpp>

#include "gate/gate_reader.hpp"

namespace tt = ttensor;
using namespace ttensor;
using vec = tensor<double, 1>;

namespace {
template <class Y> double distance(const char* name, const Y& y) {
  const gate::array& want = gate::random_values().value(name);
  std::vector<double> got;
  if constexpr (array_like<Y>) {
    const auto flat = eval(to<double>(reshape(y, {y.size()})));
    for (index_t i = 0; i < flat.size(); ++i) got.push_back(flat(i));
    for (int d = 0; d < rank_v<Y>; ++d)
      if (want.shape.size() != std::size_t(rank_v<Y>) || index_t(want.shape[std::size_t(d)]) != y.extent(d)) return 1e300;
  } else {
    got.push_back(y);
  }
  return gate::distance(got, want.values);
}
vec stored(const char* name) { return tensor(gate::random_values().value(name).values); }

const auto f = [](const auto& w, const auto& k) {
  const auto [a, b] = split<2>(k);
  return sum(sin(w * normal<double>(a, {3})) * uniform<double>(fold_in(b, 5), {3}));
};
const rng key(42);
}  // namespace

TEST_CASE("keys and numbers of keys, of their children and under vmap over them") {
  const std::uint64_t seeds[] = {0, 42, 0xfedcba9876543210};
  for (int s = 0; s < 3; ++s) {
    const rng k(seeds[s]);
    std::vector<rng> keys = split(k, 3);
    keys.insert(keys.begin(), k);
    for (const std::uint64_t i : {std::uint64_t(0), std::uint64_t(5), (std::uint64_t(1) << 40) + 1}) keys.push_back(fold_in(k, i));
    const auto check = [&](const char* what, double tolerance, const auto& draw) {
      const std::string name = std::string(what) + "_" + std::to_string(s);
      const auto mapped = vmap(draw)(keys);
      auto each = eval(0 * mapped);
      for (index_t i = 0; i < 7; ++i) each(i) = draw(keys[std::size_t(i)]);
      CAPTURE(name);
      CHECK(distance(name.c_str(), each) <= tolerance);
      CHECK(distance(name.c_str(), mapped) <= tolerance);
    };
    tensor<double, 2> words(7, 2);
    for (index_t i = 0; i < 7; ++i) {
      const std::uint64_t w = keys[std::size_t(i)].seed;
      words(i, 0) = double(w >> 32), words(i, 1) = double(w & 0xffffffffu);
    }
    CHECK(distance(("keys_" + std::to_string(s)).c_str(), words) == 0);
    check("uniform_double", 0, [](const auto& q) { return uniform<double>(q, {5}); });
    check("uniform_float", 0, [](const auto& q) { return uniform<float>(q, {7}); });
    check("normal_double", 4e-15, [](const auto& q) { return normal<double>(q, {5}); });
    check("normal_float", 2e-6, [](const auto& q) { return normal<float>(q, {7}); });
  }
}
TEST_CASE("functions that draw: values and derivatives under one and two transforms") {
  const vec w = stored("w"), v = stored("v"), c = stored("c");
  const auto keys = split(key, 4);
  const auto at = [](const auto& k) { return [k](const auto& p) { return f(p, k); }; };
  const auto mapped = [&](const auto& p) { return vmap(f, in_axes<none, 0>)(p, keys); };
  constexpr double tolerance = 1e-14;
  CHECK(distance("f", f(w, key)) <= tolerance);
  CHECK(distance("grad", grad(at(key))(w)) <= tolerance);
  CHECK(distance("jvp", jvp(at(key), w, v).y_dot) <= tolerance);
  CHECK(distance("grad_jvp", grad([&](const auto& p) { return jvp(at(key), p, v).y_dot; })(w)) <= tolerance);
  CHECK(distance("vmap", mapped(w)) <= tolerance);
  CHECK(distance("vmap_grad", vmap(grad(f), in_axes<none, 0>)(w, keys)) <= tolerance);
  CHECK(distance("grad_vmap", grad([&](const auto& p) { return sum(c * mapped(p)); })(w)) <= tolerance);
  CHECK(distance("jvp_vmap", jvp(mapped, w, v).y_dot) <= tolerance);
  CHECK(distance("vmap_grad_vmap", vmap([&](const auto& k) {
          return grad([&](const auto& p) { return sum(vmap(f, in_axes<none, 0>)(p, split(k, 2))); })(w);
        })(keys)) <= tolerance);
  const auto single = [](const auto& p) {
    const auto [a, b] = split<2>(key);
    return sum(sin(p * normal<float>(a, {3})) * uniform<float>(fold_in(b, 5), {3}));
  };
  CHECK(distance("grad_float", grad(single)(to<float>(w))) <= 2e-6);
}
