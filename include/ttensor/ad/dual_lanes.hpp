// The tangents of a dual of numbers in registers: what a rule does to each of them (sweeping::forward_term), several at a time and without
// a branch for the zeros that absorb. Bit for bit what it does to one; sweeping::scale and kind_rule<dual>::total cannot serve both, since
// operators know no vectors of the compiler, and packs have one width.
#pragma once
#include "../expr/sweep.hpp"

TTENSOR_BEGIN

namespace dual_lanes {
/// Lanes of the widest register that Left of N tangents fill; 0 where T has no registers. Of few (under 256 bytes), 32 bytes: compilers copy
/// structs in such pieces, and a load of 64 waits for the two stores that it spans (AVX-512: 10 tangents 0.8 of the time with 32 bytes, 50
/// with 64 bytes 0.75).
template <class T, int N, int Left = N> constexpr int width() {
  if constexpr (std::is_floating_point_v<T> && simd::has_register<T>) {
    constexpr int bytes = static_cast<int>(sizeof(T));
    int w = native_width_v<T>;
    while (w > Left || (w * bytes > 32 && N * bytes < 256)) w /= 2;
    return w;
  } else {
    return 0;
  }
}
/// Partials that all lanes share: T itself, and tags whose conditions are single ones.
template <class P, class T> inline constexpr bool is_shared = std::is_same_v<P, T>;
template <class T> inline constexpr bool is_shared<unit, T> = true;
template <class T> inline constexpr bool is_shared<minus_unit, T> = true;
template <class T> inline constexpr bool is_shared<when<bool>, T> = true;
template <class T> inline constexpr bool is_shared<unless<bool>, T> = true;
template <class T> inline constexpr bool is_shared<tie<bool, bool>, T> = true;

/// sweeping::scale for lanes.
template <class Op, class V, class P> TTENSOR_INLINE V term(const V& t, const P& p) {
  if constexpr (std::is_same_v<P, unit>) return t;
  else if constexpr (std::is_same_v<P, minus_unit>) return -t;
  else if constexpr (sweeping::is_when<P>) return p.c ? t : V{};
  else if constexpr (sweeping::is_unless<P>) return p.c ? V{} : t;
  else if constexpr (sweeping::is_tie<P>) return p.take ? t : p.half ? t * 0.5f : V{};
  else if constexpr (!Op::absorbs) return t * p;
  else return (V)((decltype(t != t))(t * p) & (t != V{}));
}
template <class Op, class V, class P, class As, int First, int... Rest>
TTENSOR_INLINE V total(int from, const P& p, const As& a, int_list<First, Rest...>) {
  if constexpr (First >= 0) {
    V t;
    __builtin_memcpy(&t, &at<First>(a).tangent_at(from), sizeof(V));
    t = term<Op>(t, at<First>(p));
    if constexpr (((Rest < 0) && ...)) return t;
    else return t + total<Op, V>(from, p, a, int_list<Rest...>{});
  } else if constexpr (sizeof...(Rest) > 0) {
    return total<Op, V>(from, p, a, int_list<Rest...>{});
  } else {
    return V{};
  }
}
/// to = the sum over operands I >= 0 of the list, of partial times tangents, from tangent From on: whole registers, then ever smaller ones. (A last
/// register that overlaps the one before is read back in two pieces, for which a load waits: 2.4 times as long.)
template <class Op, int From = 0, class T, int N, class P, class As, class Active>
TTENSOR_INLINE void combine(array<T, N>& to, const P& p, const As& a, Active active) {
  constexpr int w = width<T, N, N - From>();
  using V = simd::vec<T, w * static_cast<int>(sizeof(T))>;
  const V sum = total<Op, V>(From, p, a, active);
  __builtin_memcpy(&to[From], &sum, sizeof(V));
  if constexpr (From + w < N) combine<Op, From + w>(to, p, a, active);
}
}  // namespace dual_lanes

TTENSOR_END
