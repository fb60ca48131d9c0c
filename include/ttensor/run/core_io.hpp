// Packs in and out of planes: how a loop loads and stores one core scalar (a number, or nested duals of numbers).
#pragma once
#include "../expr/sweep.hpp"
#include "../num/pack.hpp"
#include "nest.hpp"

TTENSOR_BEGIN
namespace run {

/// A leaf that is one scalar for the whole statement: loaded once, before the loop.
template <class C> struct uniform {};

/// C: a core scalar; N: lanes. `planes` buffers, each with its element size.
template <class C, int N> struct core_io {
  using value = pack<compute_t<C>, N>;
  static constexpr int planes = 1;
  static constexpr void sizes(int*& out) { *out++ = static_cast<int>(sizeof(C)); }
  template <int P> TTENSOR_INLINE static value load(char* const* p, const index_t* at) {
    return load_as<value>(reinterpret_cast<const C*>(p[P] + at[P]));
  }
  template <int P> TTENSOR_INLINE static void store(const value& v, char* const* p, const index_t* at) {
    store_as(v, reinterpret_cast<C*>(p[P] + at[P]));
  }
  TTENSOR_INLINE static value broadcast(char* const* p) { return value(static_cast<compute_t<C>>(*reinterpret_cast<const C*>(p[0]))); }
};
template <class T, int K, int N> struct core_io<dual<T, K>, N> {
  using inner = core_io<T, N>;
  using value = dual<typename inner::value, K>;
  static constexpr int planes = (1 + K) * inner::planes;
  static constexpr void sizes(int*& out) {
    for (int k = 0; k < 1 + K; ++k) inner::sizes(out);
  }
  template <int P> TTENSOR_INLINE static value load(char* const* p, const index_t* at) {
    value v;
    v.value = inner::template load<P>(p, at);
    static_for<K>([&](auto k) { v.tangent_at(k) = inner::template load<P + (1 + k()) * inner::planes>(p, at); });
    return v;
  }
  template <int P> TTENSOR_INLINE static void store(const value& v, char* const* p, const index_t* at) {
    inner::template store<P>(v.value, p, at);
    static_for<K>([&](auto k) { inner::template store<P + (1 + k()) * inner::planes>(v.tangent_at(k), p, at); });
  }
  TTENSOR_INLINE static value broadcast(char* const* p) {
    value v;
    v.value = inner::broadcast(p);
    static_for<K>([&](auto k) { v.tangent_at(k) = inner::broadcast(p + (1 + k()) * inner::planes); });
    return v;
  }
};
template <class C, int N> struct core_io<uniform<C>, N> : core_io<C, N> {};
template <class C> inline constexpr bool is_uniform_v = false;
template <class C> inline constexpr bool is_uniform_v<uniform<C>> = true;

template <class C> struct core_elem { using type = C; };
template <class T, int K> struct core_elem<dual<T, K>> : core_elem<T> {};
template <class C> struct core_elem<uniform<C>> : core_elem<C> {};

/// Lanes of a statement: the register width of its narrowest 4- or 8-byte element.
template <class... C> constexpr int lanes_of() {
  std::size_t narrow = 8;
  auto one = [&](std::size_t bytes, bool is_bool) {
    if (is_bool) return;
    if (bytes <= 4) narrow = 4;
  };
  (one(sizeof(compute_t<typename core_elem<C>::type>), std::is_same_v<typename core_elem<C>::type, bool>), ...);
  return narrow == 4 ? native_width_v<float> : native_width_v<double>;
}

/// Cursor bookkeeping of a kernel over a list of core scalars.
template <class... C> struct plane_table {
  static constexpr int count = (core_io<C, 1>::planes + ... + 0);
  static constexpr array<int, count> bytes() {
    array<int, count> b{};
    int* out = b.v;
    (core_io<C, 1>::sizes(out), ...);
    return b;
  }
  /// First plane of entry i.
  static constexpr int first(int i) {
    const int n[] = {core_io<C, 1>::planes..., 0};
    int at = 0;
    for (int k = 0; k < i; ++k) at += n[k];
    return at;
  }
};

}  // namespace run
TTENSOR_END
