// sin cos. Arguments in radians.
#pragma once
#include "../num/math.hpp"
#include "arithmetic.hpp"

TTENSOR_BEGIN

struct cos_op;
/// sin(a + h) ~= sin(a) + h cos(a)
struct sin_op : real_elementwise<1> {
  static constexpr const char* name = "sin";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) { return math::sin(a); }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) { return grads{apply<cos_op>(a)}; }
};
/// cos(a + h) ~= cos(a) - h sin(a)
struct cos_op : real_elementwise<1> {
  static constexpr const char* name = "cos";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) { return math::cos(a); }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) { return grads{apply<neg_op>(apply<sin_op>(a))}; }
};

TTENSOR_END
