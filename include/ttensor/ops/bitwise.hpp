// & | ^ ~ << >> on integers and masks.
#pragma once
#include "terms.hpp"

TTENSOR_HD_BEGIN

struct bit_and_op : piecewise_constant<2> {
  static constexpr const char* name = "bit_and";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = ops::wider_t<A, B>;
    return V(V(a) & V(b));
  }
};
struct bit_or_op : piecewise_constant<2> {
  static constexpr const char* name = "bit_or";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = ops::wider_t<A, B>;
    return V(V(a) | V(b));
  }
};
struct bit_xor_op : piecewise_constant<2> {
  static constexpr const char* name = "bit_xor";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = ops::wider_t<A, B>;
    return V(V(a) ^ V(b));
  }
};
/// Every bit leaves with a count outside of [0, bits): 0.
struct shift_left_op : piecewise_constant<2> {
  static constexpr const char* name = "shift_left";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = ops::wider_t<A, B>;
    if constexpr (is_pack_v<V>) return V(a) << V(b);
    else return static_cast<std::uint64_t>(b) < 8 * sizeof(V) ? static_cast<V>(a << b) : V(0);
  }
};
/// Every bit leaves with a count outside of [0, bits): 0, and -1 for negative numbers.
struct shift_right_op : piecewise_constant<2> {
  static constexpr const char* name = "shift_right";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = ops::wider_t<A, B>;
    if constexpr (is_pack_v<V>) return V(a) >> V(b);
    else return static_cast<V>(static_cast<std::uint64_t>(b) < 8 * sizeof(V) ? a >> b : std::is_signed_v<V> ? a >> (8 * sizeof(V) - 1) : 0);
  }
};
struct bit_not_op : piecewise_constant<1> {
  static constexpr const char* name = "bit_not";
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    if constexpr (std::is_same_v<A, bool>) return !a;
    else return static_cast<A>(~a);
  }
};

TTENSOR_HD_END
