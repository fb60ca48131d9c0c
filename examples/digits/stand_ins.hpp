// Stand-ins for operators that are on their way into the library.
#pragma once
#include <ttensor/all.hpp>
#include <ttensor/num/philox.hpp>
namespace digits {
namespace tt = ttensor;
template <class Z> auto logsumexp(const Z& z) { return log(sum(exp(z))); }
inline tt::tensor<int, 1> permutation(std::uint64_t seed, std::uint64_t stream, int n) {
  auto p = tt::arange<int>(n);
  int* q = p.data();
  for (int i = n - 1; i > 0; --i) std::swap(q[i], q[tt::philox_bits(seed, stream, static_cast<std::uint64_t>(i)).x[0] % static_cast<unsigned>(i + 1)]);
  return p;
}
template <class T> tt::tensor<T, 2> take(const tt::tensor<T, 2>& x, const tt::tensor<int, 1>& index, int) {
  tt::tensor<T, 2> y(index.extent(0), x.extent(1));
  for (tt::index_t i = 0; i < index.extent(0); ++i) y(i) = x(index(i));
  return y;
}
template <class T> tt::tensor<T, 1> take(const tt::tensor<T, 1>& x, const tt::tensor<int, 1>& index, int) {
  tt::tensor<T, 1> y(index.extent(0));
  for (tt::index_t i = 0; i < index.extent(0); ++i) y(i) = x(index(i));
  return y;
}
}
