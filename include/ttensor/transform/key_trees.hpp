// Random keys as parts of a tree: which types they have on other levels and with an axis more or less.
#pragma once
#include <array>
#include <tuple>
#include <vector>
#include "../tensor/random.hpp"

TTENSOR_BEGIN
namespace tree {
/// A random key, or an array of keys: a vector or std::array of them, its length the first axis.
template <class T> inline constexpr bool is_keys_v = false;
template <class L> inline constexpr bool is_keys_v<basic_rng<L>> = true;
template <class T> inline constexpr bool is_keys_v<std::vector<T>> = is_keys_v<T>;
template <class T, std::size_t N> inline constexpr bool is_keys_v<std::array<T, N>> = is_keys_v<T>;
/// Arrays of keys: an axis in front (+1) is a vector around them, a slice (-1) one element.
template <class M, class T> struct keys_on;
template <class M, class L> struct keys_on<M, basic_rng<L>> { using type = basic_rng<typename M::template map<L>>; };
template <class M, class T> struct keys_on<M, std::vector<T>> { using type = std::vector<typename keys_on<M, T>::type>; };
template <class M, class T, std::size_t N> struct keys_on<M, std::array<T, N>> {
  using type = std::array<typename keys_on<M, T>::type, N>;
};
template <class M, class T> struct rebind_keys : keys_on<M, T> {};
template <class M, class T> requires(M::rank_change == 1) struct rebind_keys<M, T> {
  using type = std::vector<typename keys_on<M, T>::type>;
};
template <class M, class T> requires(M::rank_change == -1) struct rebind_keys<M, T> {
  static_assert(
      requires { typename T::value_type; },
      "ttensor: vmap maps over an axis, and a single key has none; pass split(key, n) for a key an example, or in_axes<none>");
  using type = typename keys_on<M, typename T::value_type>::type;
};
/// A key, or keys, of other levels.
template <class Out, class K> Out keys_as(const K& keys) {
  if constexpr (std::is_same_v<Out, K>) {
    return keys;
  } else if constexpr (requires { keys.seed; }) {
    return Out(typename Out::word(keys.seed));
  } else if constexpr (tuple_like<K>) {
    return meta::unpack([](const auto&... k) { return Out{keys_as<typename Out::value_type>(k)...}; }, keys);
  } else {
    Out out;
    for (const auto& k : keys) out.push_back(keys_as<typename Out::value_type>(k));
    return out;
  }
}
}  // namespace tree
TTENSOR_END
