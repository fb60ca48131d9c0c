// + - * / and negation, and the two multiplications in which an exact zero absorbs infinities and NaN.
#pragma once
#include "../num/math.hpp"
#include "comparison.hpp"

TTENSOR_HD_BEGIN

namespace ops {
// Integers wrap, those of a pack in its lanes and single ones here: op in the unsigned type, which is never narrower than int.
template <class A, class B> inline constexpr bool are_integers = std::is_integral_v<A> && std::is_integral_v<B>;
template <class A, class B> using joint_t = decltype(A() + B());
template <class A, class B, class C> TTENSOR_HD TTENSOR_INLINE constexpr auto bits(const C& c) {
  return static_cast<std::make_unsigned_t<joint_t<A, B>>>(c);
}
}  // namespace ops
struct add_op : arithmetic<2> {
  static constexpr bool even = true;
  static constexpr const char* name = "add";
  static constexpr unsigned reads(int) { return 0; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    if constexpr (ops::are_integers<A, B>) return static_cast<ops::joint_t<A, B>>(ops::bits<A, B>(a) + ops::bits<A, B>(b));
    else return a + b;
  }
  template <class A, class B, class Y>
  TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A&, const B&, const Y&) {
    return grads{unit{}, unit{}};
  }
};
struct sub_op : arithmetic<2> {
  static constexpr bool even = true;
  static constexpr const char* name = "sub";
  static constexpr unsigned reads(int) { return 0; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    if constexpr (ops::are_integers<A, B>) return static_cast<ops::joint_t<A, B>>(ops::bits<A, B>(a) - ops::bits<A, B>(b));
    else return a - b;
  }
  template <class A, class B, class Y>
  TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A&, const B&, const Y&) {
    return grads{unit{}, minus_unit{}};
  }
};
struct neg_op : arithmetic<1> {
  static constexpr bool even = true;
  static constexpr const char* name = "neg";
  static constexpr unsigned reads(int) { return 0; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) {
    if constexpr (std::is_integral_v<A>) return sub_op::primal(A(0), a);
    else return -a;
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A&, const Y&) { return grads{minus_unit{}}; }
};
namespace ops {
/// a * b rounded by itself: the compiler may not contract it into a multiply-add, which it would do in some copies of a loop and
/// not in others, so that an element's bits would depend on where it stands.
template <class A, class B> TTENSOR_HD TTENSOR_INLINE constexpr auto product(const A& a, const B& b) {
  const auto y = a * b;
  using Y = std::remove_cvref_t<decltype(y)>;
#if !TTENSOR_DEVICE_PASS
  if constexpr (is_pack_v<Y>) {
    if constexpr (is_floating_v<lane_t<Y>> && requires { math::detail::rounded(y); }) return math::detail::rounded(y);
    else return y;
  } else if constexpr (std::is_same_v<Y, double> || std::is_same_v<Y, float>) {
    if (std::is_constant_evaluated()) return y;
    return simd::rounded(y);
  } else {
    return y;
  }
#else
  return y;
#endif
}
}  // namespace ops
struct mul_op : arithmetic<2> {
  static constexpr bool even = true;
  static constexpr const char* name = "mul";
  static constexpr unsigned reads(int operand) { return operand == 0 ? 2u : 1u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    if constexpr (ops::are_integers<A, B>) return static_cast<ops::joint_t<A, B>>(ops::bits<A, B>(a) * ops::bits<A, B>(b));
    else return ops::product(a, b);
  }
  TTENSOR_NO_EXEC_CHECK
  template <class A, class B, class Y>
  TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const B& b, const Y&) {
    return grads<B, A>{b, a};
  }
};
/// Division. Integer division by zero gives 0.
struct div_op : arithmetic<2> {
  static constexpr bool even = false;  // 0 / 0 behind the last element would raise an exception
  static constexpr const char* name = "div";
  static constexpr unsigned reads(int operand) { return operand == 0 ? 2u : 6u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    if constexpr (ops::are_integers<A, B>) {
      using V = ops::joint_t<A, B>;
      const V x = static_cast<V>(a), y = static_cast<V>(b);
      return y == 0 ? V(0) : std::is_signed_v<V> && y == static_cast<V>(-1) ? sub_op::primal(V(0), x) : static_cast<V>(x / y);  // lowest / -1 wraps
    } else {
      return a / b;
    }
  }
  // y = a / b:  dy/da = 1 / b,  dy/db = -y / b
  template <class A, class B, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A&, const B& b, const Y& y) {
    const auto r = apply<div_op>(1, b);
    return grads{r, apply<neg_op>(apply<mul_op>(y, r))};
  }
};

namespace ops {
/// y, and exactly 0 where a is 0.
template <class A, class Y> TTENSOR_HD TTENSOR_INLINE constexpr Y absorbed(const A& a, const Y& y) {
  if constexpr (simd::is_device_pack<A>) return select(is_zero(a), Y(0), y);
  else if constexpr (is_pack_v<Y>) return select(a == A(0), Y(0), y);
  else return a == A(0) ? Y(0) : y;
}
}  // namespace ops
/// ct * p, and exactly 0 where ct is 0. Not public: it multiplies cotangents (and tangents) with local partials.
struct absorb_op : elementwise<2> {
  static constexpr const char* name = "absorb";
  static constexpr unsigned reads(int operand) { return operand == 0 ? 2u : 1u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& ct, const B& p) {
    return ops::absorbed(ct, ct * p);
  }
  TTENSOR_NO_EXEC_CHECK
  template <class A, class B, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& ct, const B& p, const Y&) {
    return grads{p, both_absorb{ct}};
  }
};
/// a * b, and exactly 0 where either is 0.
struct absorb2_op : elementwise<2> {
  static constexpr const char* name = "absorb2";
  static constexpr unsigned reads(int operand) { return operand == 0 ? 2u : 1u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    return ops::absorbed(a, ops::absorbed(b, a * b));
  }
  TTENSOR_NO_EXEC_CHECK
  template <class A, class B, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const B& b, const Y&) {
    return grads{both_absorb{b}, both_absorb{a}};
  }
};

/// Divisions and functions: worth skipping where their operands do not change along a row.
template <class Op> inline constexpr bool is_costly_v = is_function_v<Op> || std::is_same_v<Op, div_op>;

TTENSOR_HD_END
