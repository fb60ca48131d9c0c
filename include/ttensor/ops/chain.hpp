// The multiplication of scalar tapes: a cotangent times the partial of an entry, and what marks a partial.
#pragma once
#include "complex.hpp"

TTENSOR_HD_BEGIN

/// ct * p, and the zero itself where ct is 0 or p is -0. -0 is the partial of what was not selected: it takes neither infinities nor NaN from above.
/// A product that is -0 by itself comes out as +0.
struct chain_op : elementwise<2> {
  static constexpr const char* name = "chain";
  static constexpr unsigned reads(int operand) { return operand == 0 ? 2u : 1u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& ct, const B& p) {
    const auto y = ct * p;
    using Y = std::remove_cv_t<decltype(y)>;
    return ops::pick(unselected(p), Y(p), ops::pick(ct == A(0), Y(ct), Y(y + Y(lane_t<Y>(0)))));
  }
  TTENSOR_NO_EXEC_CHECK
  template <class A, class B, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& ct, const B& p, const Y&) {
    return grads{chained{p}, both_absorb{ct}};
  }
  template <class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto unselected(const B& p) {
    using T = lane_t<B>;
    if constexpr (is_complex_value_v<B>) return p == B(0) && unselected(math::real(p));
    else if constexpr (std::is_same_v<B, double>) return __builtin_bit_cast(std::uint64_t, p) == std::uint64_t(1) << 63;
    else if constexpr (std::is_same_v<B, float>) return __builtin_bit_cast(std::uint32_t, p) == std::uint32_t(1) << 31;
    else if constexpr (std::is_floating_point_v<B>) return p == B(0) && __builtin_signbit(p);
    else if constexpr (math::detail::has_kernels<T> || ttensor::detail::is_short_float<T>)
      return (p == B(0)) && (ops::in_float([]<class W>(const W& x) { return math::copysign(W(1), x); }, p) < B(0));
    else return p != p && p == p;  // never: a number of the user's has no sign of zero
  }
};
/// ct * p where that is finite and not 0. There nothing absorbs and nothing is marked, so it is what chain_op gives, for half its price.
struct finite_chain_op : elementwise<2> {
  static constexpr bool absorbs = false;
  static constexpr const char* name = "finite_chain";
  static constexpr unsigned reads(int operand) { return operand == 0 ? 2u : 1u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& ct, const B& p) { return ct * p; }
  template <class A, class B, class Y>
  TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& ct, const B& p, const Y&) {
    return grads{p, ct};
  }
};
/// a, and +0 for -0: a partial as entries have it.
struct unmark_op : elementwise<1> {
  static constexpr const char* name = "unmark";
  static constexpr unsigned reads(int) { return 0; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) { return A(a + A(lane_t<A>(0))); }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A&, const Y&) { return grads{unit{}}; }
};
/// a, and -0 where it is 0: a partial that absorbs from both sides.
struct mark_op : elementwise<1> {
  static constexpr const char* name = "mark";
  static constexpr unsigned reads(int) { return 0; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr A primal(const A& a) {
    return ops::pick(a == A(0), A(lane_t<A>(-0.0f)), a);
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A&, const Y&) { return grads{unit{}}; }
};

TTENSOR_HD_END
