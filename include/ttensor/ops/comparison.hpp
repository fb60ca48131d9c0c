// == != < <= > >= and the logical operators. The result is a mask; masks carry no derivative.
#pragma once
#include "family.hpp"

TTENSOR_HD_BEGIN

struct equal_op : comparison {
  static constexpr const char* name = "equal";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) { return a == b; }
};
struct not_equal_op : comparison {
  static constexpr const char* name = "not_equal";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) { return a != b; }
};
struct less_op : of_reals<comparison> {
  static constexpr const char* name = "less";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) { return a < b; }
};
struct less_equal_op : of_reals<comparison> {
  static constexpr const char* name = "less_equal";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) { return a <= b; }
};
struct greater_op : of_reals<comparison> {
  static constexpr const char* name = "greater";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) { return a > b; }
};
struct greater_equal_op : of_reals<comparison> {
  static constexpr const char* name = "greater_equal";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) { return a >= b; }
};
namespace ops {
template <class A> TTENSOR_HD TTENSOR_INLINE constexpr auto truth(const A& a) {
  if constexpr (is_pack_v<A>) return a;  // a mask
  else if constexpr (is_complex_v<A>) return a != A(0);
  else return static_cast<bool>(a);
}
}  // namespace ops
struct logical_and_op : logic {
  static constexpr const char* name = "logical_and";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) { return ops::truth(a) && ops::truth(b); }
};
struct logical_or_op : logic {
  static constexpr const char* name = "logical_or";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) { return ops::truth(a) || ops::truth(b); }
};
struct logical_not_op : elementwise<1> {
  static constexpr const char* name = "logical_not";
  static constexpr bool differentiable = false;
  template <class S> using result = join_chain_t<bool, S>;
  template <class... A> using operands = expr::for_each_operand<bool, A...>;
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) { return !ops::truth(a); }
  template <class A, class Y> static constexpr auto partials(const A&, const Y&) { return grads<no_partial>{{}}; }
};

TTENSOR_HD_END
