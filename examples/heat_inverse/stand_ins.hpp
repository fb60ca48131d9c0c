// Stand-ins for random numbers, which are on their way into the library: key, split, uniform, normal, permutation.
#pragma once
#include <ttensor/all.hpp>
#include <ttensor/num/philox.hpp>
#include <numeric>
namespace {
namespace tt = ttensor;
struct rng { std::uint64_t seed; };
[[maybe_unused]] inline rng fold_in(rng key, std::uint64_t i) {
  const auto b = tt::philox_bits(key.seed, 77, i);
  return {(std::uint64_t(b.x[0]) << 32) | b.x[1]};
}
template <class T> tt::tensor<T, 2> uniform(rng key, const tt::dims<2>& shape) {
  auto t = tt::zeros<T>(shape);
  T* p = t.data();
  for (tt::index_t i = 0; i < t.size(); ++i) p[i] = T(tt::uniform_double(tt::philox_bits(key.seed, 0, std::uint64_t(i)).x[0], 0));
  return t;
}
template <class T> tt::tensor<T, 2> normal(rng key, const tt::dims<2>& shape) {
  auto t = tt::zeros<T>(shape);
  T* p = t.data();
  for (tt::index_t i = 0; i < t.size(); ++i) {
    const auto b = tt::philox_bits(key.seed, 0, std::uint64_t(i));
    p[i] = T(tt::normal_float(b.x[0], b.x[1]).first);
  }
  return t;
}
[[maybe_unused]] inline tt::tensor<int, 1> permutation(rng key, int n) {
  auto p = tt::arange<int>(n);
  int* q = p.data();
  for (int i = n - 1; i > 0; --i) std::swap(q[i], q[tt::philox_bits(key.seed, 1, static_cast<std::uint64_t>(i)).x[0] % static_cast<unsigned>(i + 1)]);
  return p;
}
}
