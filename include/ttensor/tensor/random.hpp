// Random arrays: pure functions of a key and the element's position (Philox4x32-10, num/philox.hpp). The same key gives the
// same numbers every time, whatever the threads or the order; split and fold_in make independent keys.
//
// Inside vmap a mapped key is one key for each example: every function here gives each example what its own key gives alone.
#pragma once
#include <array>
#include <string>
#include <vector>
#include "../num/philox.hpp"
#include "number_bounds.hpp"

TTENSOR_BEGIN

/// A key: a pure value. Levels is a number for one key (rng), and a mapped scalar on double inside a vmap over keys.
/// Streams: 0 numbers, 1 splitting, 2 folding, 3 the order of permutations; so that the children of a key and its numbers never meet.
template <class Levels> struct basic_rng {
  using ttensor_levels = Levels;
  using word = storage_scalar_t<reelem_t<Levels, std::uint64_t>>;
  word seed = word(0);
  basic_rng() = default;
  explicit constexpr basic_rng(const word& s) : seed(s) {}
  friend constexpr bool operator==(const basic_rng& a, const basic_rng& b) { return a.seed == b.seed; }
};
using rng = basic_rng<double>;

namespace random_detail {
inline constexpr std::uint64_t numbers = 0, splits = 1, folds = 2, order = 3;
constexpr std::uint64_t child(std::uint64_t seed, std::uint64_t stream, std::uint64_t i) {
  const philox_block b = philox_bits(seed, stream, i);
  return (std::uint64_t(b.x[0]) << 32) | b.x[1];
}
/// What a key does: one key here, one for each example in transform/keys.hpp.
template <class Levels> struct draw {
  /// The array that fill(seed, T* to, elements) writes.
  template <class T, int R, class F> static tensor<T, R> array(const rng& key, const dims<R>& e, F&& fill) {
    const index_t n = shape::elements(e);
    tensor<T, R> t(store<T>::make(n), e);
    if (n > 0) fill(key.seed, t.data(), n);
    return t;
  }
  template <class F> static constexpr rng key(const rng& k, F&& f) { return rng(f(k.seed)); }
};
/// n elements from blocks of four words: Per elements a block, made by f(block, T* to).
template <int Per, class T, class F> void fill(std::uint64_t seed, T* p, index_t n, F&& f) {
  const index_t blocks = n / Per;
  for (index_t b = 0; b < blocks; ++b) f(philox_bits(seed, numbers, static_cast<std::uint64_t>(b)), p + b * Per);
  if (const index_t rest = n - blocks * Per; rest > 0) {
    T last[Per];
    f(philox_bits(seed, numbers, static_cast<std::uint64_t>(blocks)), last);
    for (index_t i = 0; i < rest; ++i) p[blocks * Per + i] = last[i];
  }
}
/// An array from blocks, Per elements each.
template <int Per, class T, int R, class L, class F> auto from_blocks(const basic_rng<L>& key, const dims<R>& e, F&& f) {
  return draw<L>::template array<T>(key, e, [&](std::uint64_t seed, T* p, index_t n) { fill<Per>(seed, p, n, f); });
}
template <class L> basic_rng<L> child_key(const basic_rng<L>& key, std::uint64_t stream, std::uint64_t i) {
  return draw<L>::key(key, [&](std::uint64_t seed) { return child(seed, stream, i); });
}
/// A word in [0, n) for n < 2^64, by the high half of the product: bias below n / 2^64.
inline std::uint64_t below(std::uint64_t word, std::uint64_t n) {
  const std::uint64_t a = word >> 32, b = word & 0xffffffffu, c = n >> 32, d = n & 0xffffffffu;
  const std::uint64_t mid = a * d + ((b * d) >> 32), low = b * c + (mid & 0xffffffffu);
  return a * c + (mid >> 32) + (low >> 32);
}
}  // namespace random_detail

/// N independent keys: auto [a, b] = split<2>(key).
template <int N, class L> std::array<basic_rng<L>, static_cast<std::size_t>(N)> split(const basic_rng<L>& key) {
  std::array<basic_rng<L>, static_cast<std::size_t>(N)> k;
  for (int i = 0; i < N; ++i)
    k[static_cast<std::size_t>(i)] =
        random_detail::child_key(key, random_detail::splits, static_cast<std::uint64_t>(i));
  return k;
}
/// n independent keys; vmap maps over them: vmap(f)(split(key, n), x).
template <class L> std::vector<basic_rng<L>> split(const basic_rng<L>& key, index_t n) {
  if (n < 0) raise<domain_error>("[split] " + to_message(n) + " keys; give 0 or more [TT-D13]");
  std::vector<basic_rng<L>> k;
  for (index_t i = 0; i < n; ++i) k.push_back(random_detail::child_key(key, random_detail::splits, static_cast<std::uint64_t>(i)));
  return k;
}
/// The key of step i.
template <class L, class I> requires std::is_integral_v<I> basic_rng<L> fold_in(const basic_rng<L>& key, I i) {
  return random_detail::child_key(key, random_detail::folds, static_cast<std::uint64_t>(i));
}

/// Uniform in [0, 1): every multiple of 2^-53 (float: 2^-24; half and bfloat16: that rounded down), equally likely.
template <class T, int R, class L> auto uniform(const basic_rng<L>& key, const dims<R>& e) {
  static_assert(is_floating_v<T>, "ttensor: uniform<T> needs a floating T; use integers<T>(key, shape, low, high)");
  if constexpr (sizeof(T) >= 8)
    return random_detail::from_blocks<2, T>(key, e, [](const philox_block& b, T* p) {
      p[0] = uniform_double(b.x[0], b.x[1]), p[1] = uniform_double(b.x[2], b.x[3]);
    });
  else
    return random_detail::from_blocks<4, T>(key, e, [](const philox_block& b, T* p) {
      for (int i = 0; i < 4; ++i) {
        if constexpr (sizeof(T) == 2) p[i] = uniform_short<T>(b.x[i]);
        else p[i] = uniform_float(b.x[i]);
      }
    });
}
template <class T, std::size_t R, class L> auto uniform(const basic_rng<L>& key, const index_t (&n)[R]) {
  return uniform<T>(key, shape::listed(n));
}
template <class T, class L, class... I> requires(sizeof...(I) > 0 && (shape::is_index_v<I> && ...))
auto uniform(const basic_rng<L>& key, I... n) {
  return uniform<T>(key, {static_cast<index_t>(n)...});
}
/// One number.
template <class T, class L> auto uniform(const basic_rng<L>& key) {
  const auto one = uniform<T>(key, dims<1>{{1}});
  return one(0);
}
/// Standard normal (Box and Muller).
template <class T, int R, class L> auto normal(const basic_rng<L>& key, const dims<R>& e) {
  static_assert(is_floating_v<T>, "ttensor: normal<T> needs a floating T");
  if constexpr (sizeof(T) >= 8)
    return random_detail::from_blocks<2, T>(key, e, [](const philox_block& b, T* p) {
      const auto x = normal_double(b.x[0], b.x[1], b.x[2], b.x[3]);
      p[0] = x.first, p[1] = x.second;
    });
  else
    return random_detail::from_blocks<4, T>(key, e, [](const philox_block& b, T* p) {
      const auto x = normal_float(b.x[0], b.x[1]), y = normal_float(b.x[2], b.x[3]);
      p[0] = static_cast<T>(x.first), p[1] = static_cast<T>(x.second), p[2] = static_cast<T>(y.first), p[3] = static_cast<T>(y.second);
    });
}
template <class T, std::size_t R, class L> auto normal(const basic_rng<L>& key, const index_t (&n)[R]) {
  return normal<T>(key, shape::listed(n));
}
template <class T, class L, class... I> requires(sizeof...(I) > 0 && (shape::is_index_v<I> && ...))
auto normal(const basic_rng<L>& key, I... n) {
  return normal<T>(key, {static_cast<index_t>(n)...});
}
/// One number.
template <class T, class L> auto normal(const basic_rng<L>& key) {
  const auto one = normal<T>(key, dims<1>{{1}});
  return one(0);
}
/// Uniform integers in [low, high), bounds are whole numbers of any type: integers<std::uint8_t>(key, {n}, 0, 256) are all of them.
/// Throws    domain_error [TT-D03, TT-D16]: an empty range, bounds that T does not reach
template <class T, int R, class L, class A, bounds::bound B> auto integers(const basic_rng<L>& key, const dims<R>& e, const A& low, const B& high) {
  static_assert(is_integer_v<T>, "ttensor: integers<T> needs an integer T");
  const T first = bounds::exactly<T>("integers", low);
  const auto beyond = bounds::whole("integers", high);
  if (!std::cmp_less(+first, beyond))
    raise<domain_error>("[integers] empty range [" + std::to_string(first) + ", " + std::to_string(beyond) +
                        "); give low < high [TT-D03]");
  const T last = bounds::exactly<T>("integers", beyond - 1);
  const std::uint64_t n = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) + 1;  // 0: all 64 bits
  return random_detail::from_blocks<2, T>(key, e, [&](const philox_block& b, T* p) {
    for (int i = 0; i < 2; ++i) {
      const std::uint64_t word = (std::uint64_t(b.x[2 * i]) << 32) | b.x[2 * i + 1];
      p[i] = static_cast<T>(static_cast<std::uint64_t>(first) + (n == 0 ? word : random_detail::below(word, n)));
    }
  });
}
template <class T, std::size_t R, class L, class A, bounds::bound B>
auto integers(const basic_rng<L>& key, const index_t (&n)[R], const A& low, const B& high) {
  return integers<T>(key, shape::listed(n), low, high);
}
/// 0, ..., n - 1 in random order (Fisher and Yates).
template <class L> auto permutation(const basic_rng<L>& key, index_t n) {
  if (n < 0) raise<domain_error>("[permutation] of " + to_message(n) + " elements; give 0 or more [TT-D12]");
  return random_detail::draw<L>::template array<std::int64_t>(key, dims<1>{{n}}, [](std::uint64_t seed, std::int64_t* p, index_t count) {
    for (index_t i = 0; i < count; ++i) p[i] = i;
    for (index_t i = count - 1; i > 0; --i) {
      const philox_block b = philox_bits(seed, random_detail::order, static_cast<std::uint64_t>(i));
      std::swap(p[i], p[random_detail::below((std::uint64_t(b.x[0]) << 32) | b.x[1], static_cast<std::uint64_t>(i) + 1)]);
    }
  });
}

TTENSOR_END
