// What a backward loop does with adjoints of one element type outside of its packs.
#pragma once
#include "core_io.hpp"

TTENSOR_BEGIN
namespace run {

/// What the bookkeeping around a backward loop does with elements of one type.
struct adjoint_ops {
  bool narrow;  // E is narrower than its collect_t: sums are emptied every 8 packs, others every 64 at most
  void (*add)(char* to, const char* from, index_t n);
  void (*put)(char* to, const char* from, index_t n);
  void (*empty)(char* sums, char* wide);  // a pack each
  void (*close)(char* to, const char* sums, const char* wide);  // adds both packs to one element
  void (*collect)(char* sums, const char* from, index_t packs);  // adds packs that lie one behind the other, in that order; or null
};
namespace back_detail {
template <class E> TTENSOR_NOINLINE void add(char* to, const char* from, index_t n) {
  E a, d;
  index_t i = 0;
  if constexpr (std::is_same_v<E, float> || std::is_same_v<E, double>) {
    using V = pack<E, native_width_v<E>>;
    for (; i + V::size <= n; i += V::size, to += sizeof(V), from += sizeof(V))
      (V::load(reinterpret_cast<const E*>(to)) + V::load(reinterpret_cast<const E*>(from))).store(reinterpret_cast<E*>(to));
  }
  for (; i < n; ++i, to += sizeof(E), from += sizeof(E)) {
    __builtin_memcpy(&a, to, sizeof(E));
    __builtin_memcpy(&d, from, sizeof(E));
    a = static_cast<E>(a + d);
    __builtin_memcpy(to, &a, sizeof(E));
  }
}
template <class E> void put(char* to, const char* from, index_t n) { std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(E)); }
template <class E, int N> void empty(char* sums, char* wide) {
  using W = collect_t<E>;
  (pack<W, N>::load(reinterpret_cast<const W*>(wide)) + load_as<pack<W, N>>(reinterpret_cast<const E*>(sums)))
      .store(reinterpret_cast<W*>(wide));
  std::memset(sums, 0, N * sizeof(E));
}
template <class E, int N> TTENSOR_NOINLINE void close(char* to, const char* sums, const char* wide) {
  using V = pack<collect_t<E>, N>;
  const auto s =
      fold(V::load(reinterpret_cast<const collect_t<E>*>(wide)) + load_as<V>(reinterpret_cast<const E*>(sums)),
           [](auto a, auto b) { return a + b; });
  E* e = reinterpret_cast<E*>(to);
  *e = static_cast<E>(static_cast<collect_t<E>>(static_cast<compute_t<E>>(*e)) + s);
}
template <class E, int N> TTENSOR_NOINLINE void collect(char* sums, const char* from, index_t packs) {
  using V = pack<E, N>;
  V s = V::load(reinterpret_cast<const E*>(sums));
  for (index_t i = 0; i < packs; ++i, from += N * sizeof(E)) s = s + V::load(reinterpret_cast<const E*>(from));
  s.store(reinterpret_cast<E*>(sums));
}
template <class E, int N> constexpr auto collector() -> void (*)(char*, const char*, index_t) {
  if constexpr (std::is_same_v<E, float> || std::is_same_v<E, double>) return collect<E, N>;
  else return nullptr;
}
template <class E, int N> inline constexpr adjoint_ops ops{
    !std::is_same_v<E, collect_t<E>>, add<E>, put<E>, empty<E, N>, close<E, N>, collector<E, N>()};
}  // namespace back_detail

}  // namespace run
TTENSOR_END
