// Short names for the arithmetic inside derivative rules, so that a rule reads as its formula. They work on everything a
// rule sees: numbers, packs, duals, taped scalars, expressions.
#pragma once
#include "selection.hpp"

TTENSOR_HD_BEGIN
namespace ops {

#define TTENSOR_TERM_1(name, op) \
  template <class A> TTENSOR_HD TTENSOR_INLINE constexpr auto name(const A& a) { return apply<op>(a); }
#define TTENSOR_TERM_2(name, op) \
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE constexpr auto name(const A& a, const B& b) { return apply<op>(a, b); }
TTENSOR_TERM_1(minus, neg_op)
TTENSOR_TERM_2(plus, add_op)
TTENSOR_TERM_2(minus, sub_op)
TTENSOR_TERM_2(times, mul_op)
TTENSOR_TERM_2(over, div_op)
TTENSOR_TERM_2(is_equal, equal_op)
TTENSOR_TERM_2(is_less, less_op)
TTENSOR_TERM_2(is_greater, greater_op)
TTENSOR_TERM_2(both, logical_and_op)
#undef TTENSOR_TERM_1
#undef TTENSOR_TERM_2
template <class C, class A, class B>
TTENSOR_HD TTENSOR_INLINE constexpr auto choose(const C& c, const A& a, const B& b) {
  return apply<where_op>(c, a, b);
}

/// m ? a : b for numbers and packs, inside a primal.
template <class M, class A> TTENSOR_HD TTENSOR_INLINE constexpr A pick(const M& m, const A& a, const A& b) {
  if constexpr (is_pack_v<A>) return select(m, a, b);
  else return m ? a : b;
}
/// f(a...) for scalars and packs; half and bfloat16 are computed in float and rounded once.
template <class A, class F, class... B> TTENSOR_HD TTENSOR_INLINE constexpr A in_float(F&& f, const A& a, const B&... b) {
  if constexpr (detail::is_short_float<A>) return A(f(static_cast<float>(a), static_cast<float>(b)...));
  else return f(a, A(b)...);
}
/// The pack type of two operands of which one may be a number.
template <class A, class B> using wider_t = std::conditional_t<is_pack_v<B>, B, A>;
template <class A> inline constexpr bool is_whole_v = std::numeric_limits<lane_t<A>>::is_integer;  // integers and bool, packs of them

}  // namespace ops
TTENSOR_HD_END
