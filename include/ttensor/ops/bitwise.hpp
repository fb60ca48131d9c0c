// & | ^ ~ << >> on integers and masks.
#pragma once
#include "terms.hpp"

TTENSOR_HD_BEGIN

struct bit_and_op : elementwise<2> {
  static constexpr const char* name = "bit_and";
  static constexpr bool differentiable = false;
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = ops::wider_t<A, B>;
    return V(V(a) & V(b));
  }
  template <class... X> static constexpr auto partials(const X&...) { return grads<no_partial, no_partial>{{}, {}}; }
};
struct bit_or_op : elementwise<2> {
  static constexpr const char* name = "bit_or";
  static constexpr bool differentiable = false;
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = ops::wider_t<A, B>;
    return V(V(a) | V(b));
  }
  template <class... X> static constexpr auto partials(const X&...) { return grads<no_partial, no_partial>{{}, {}}; }
};
struct bit_xor_op : elementwise<2> {
  static constexpr const char* name = "bit_xor";
  static constexpr bool differentiable = false;
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = ops::wider_t<A, B>;
    return V(V(a) ^ V(b));
  }
  template <class... X> static constexpr auto partials(const X&...) { return grads<no_partial, no_partial>{{}, {}}; }
};
namespace ops {
/// Where a shift count lies in [0, bits).
template <class A, class B> TTENSOR_HD TTENSOR_INLINE constexpr auto shifts_by_less(const B& count) {
  constexpr int bits = 8 * static_cast<int>(sizeof(lane_t<A>));
  if constexpr (!is_pack_v<B>) return static_cast<std::uint64_t>(count) < bits;
  else if constexpr (has_sign<lane_t<B>>) return (count >= B(lane_t<B>(0))) && (count < B(static_cast<lane_t<B>>(bits)));
  else return count < B(static_cast<lane_t<B>>(bits));
}
}  // namespace ops
/// Every bit leaves with a count outside of [0, bits): 0.
struct shift_left_op : elementwise<2> {
  static constexpr const char* name = "shift_left";
  static constexpr bool differentiable = false;
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = ops::wider_t<A, B>;
    const auto less = ops::shifts_by_less<V>(b);
    if constexpr (is_pack_v<V>) return select(less, V(a) << (V(b) & V(static_cast<lane_t<V>>(8 * sizeof(lane_t<V>) - 1))), V(lane_t<V>(0)));
    else return less ? static_cast<V>(a << b) : V(0);
  }
  template <class... X> static constexpr auto partials(const X&...) { return grads<no_partial, no_partial>{{}, {}}; }
};
/// Every bit leaves with a count outside of [0, bits): 0, and -1 for negative numbers.
struct shift_right_op : elementwise<2> {
  static constexpr const char* name = "shift_right";
  static constexpr bool differentiable = false;
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = ops::wider_t<A, B>;
    const auto less = ops::shifts_by_less<V>(b);
    constexpr auto most = static_cast<lane_t<V>>(8 * sizeof(lane_t<V>) - 1);
    if constexpr (is_pack_v<V> && ops::has_sign<lane_t<V>>) return V(a) >> select(less, V(b), V(most));
    else if constexpr (is_pack_v<V>) return select(less, V(a) >> (V(b) & V(most)), V(lane_t<V>(0)));
    else return less ? static_cast<V>(a >> b) : static_cast<V>(ops::has_sign<V> ? a >> most : 0);
  }
  template <class... X> static constexpr auto partials(const X&...) { return grads<no_partial, no_partial>{{}, {}}; }
};
struct bit_not_op : elementwise<1> {
  static constexpr const char* name = "bit_not";
  static constexpr bool differentiable = false;
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    if constexpr (std::is_same_v<A, bool>) return !a;
    else return static_cast<A>(~a);
  }
  template <class A, class Y> static constexpr auto partials(const A&, const Y&) { return grads{no_partial{}}; }
};

TTENSOR_HD_END
