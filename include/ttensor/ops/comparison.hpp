// == != < <= > >= and the logical operators. The result is a mask; masks carry no derivative.
#pragma once
#include "cast.hpp"

TTENSOR_HD_BEGIN

namespace ops {
template <class T> inline constexpr bool has_sign = number_traits<T>::kind == number_kind::signed_integer;
template <class A, class B> inline constexpr bool of_two_signs =
    is_integer_v<lane_t<A>> && is_integer_v<lane_t<B>> && has_sign<lane_t<A>> != has_sign<lane_t<B>>;
/// Op of a signed and an unsigned integer. A negative number is less than any other; one that is not is compared as unsigned.
template <class Op, class A, class B> TTENSOR_HD TTENSOR_INLINE constexpr auto compared_exactly(const A& a, const B& b) {
  using U = cast_op<std::uint64_t>;
  if constexpr (has_sign<lane_t<A>>) {
    const auto rest = Op::primal(U::primal(a), U::primal(b)), negative = a < A(lane_t<A>(0));
    if constexpr (Op::primal(0, 1)) return negative || rest;
    else return !negative && rest;
  } else {
    const auto rest = Op::primal(U::primal(a), U::primal(b)), negative = b < B(lane_t<B>(0));
    if constexpr (Op::primal(1, 0)) return negative || rest;
    else return !negative && rest;
  }
}
}  // namespace ops
struct equal_op : comparison {
  static constexpr const char* name = "equal";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    if constexpr (ops::of_two_signs<A, B>) return ops::compared_exactly<equal_op>(a, b);
    else return a == b;
  }
};
struct not_equal_op : comparison {
  static constexpr const char* name = "not_equal";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    if constexpr (ops::of_two_signs<A, B>) return ops::compared_exactly<not_equal_op>(a, b);
    else return a != b;
  }
};
struct less_op : of_reals<comparison> {
  static constexpr const char* name = "less";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    if constexpr (ops::of_two_signs<A, B>) return ops::compared_exactly<less_op>(a, b);
    else return a < b;
  }
};
struct less_equal_op : of_reals<comparison> {
  static constexpr const char* name = "less_equal";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    if constexpr (ops::of_two_signs<A, B>) return ops::compared_exactly<less_equal_op>(a, b);
    else return a <= b;
  }
};
struct greater_op : of_reals<comparison> {
  static constexpr const char* name = "greater";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    if constexpr (ops::of_two_signs<A, B>) return ops::compared_exactly<greater_op>(a, b);
    else return a > b;
  }
};
struct greater_equal_op : of_reals<comparison> {
  static constexpr const char* name = "greater_equal";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    if constexpr (ops::of_two_signs<A, B>) return ops::compared_exactly<greater_equal_op>(a, b);
    else return a >= b;
  }
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
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    return ops::truth(a) && ops::truth(b);
  }
};
struct logical_or_op : logic {
  static constexpr const char* name = "logical_or";
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    return ops::truth(a) || ops::truth(b);
  }
};
struct logical_not_op : piecewise_constant<1> {
  static constexpr const char* name = "logical_not";
  template <class S> using result = join_chain_t<bool, S>;
  template <class... A> using operands = expr::for_each_operand<bool, A...>;
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) { return !ops::truth(a); }
};

TTENSOR_HD_END
