// where and maximum.
#pragma once
#include "../num/math.hpp"
#include "arithmetic.hpp"

TTENSOR_BEGIN

/// where(c, a, b): a where c holds, else b. Both are computed; the gradient of the other branch is selected out, not multiplied.
struct where_op : elementwise<3> {
  static constexpr const char* name = "where";
  static constexpr unsigned reads(int) { return 1u; }
  template <class C, class A, class B> using result = join_chain_t<elem_t<A>, A, B, C>;
  template <class C, class A, class B, class F> TTENSOR_INLINE static auto operands(F&& f) {
    using T = expr::operand_elem_t<A, B>;
    return f(std::type_identity<bool>{}, std::type_identity<T>{}, std::type_identity<T>{});
  }
  template <class C, class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const C& c, const A& a, const B& b) {
    if constexpr (is_pack_v<A> && is_pack_v<C>) return select(c, a, A(b));
    else if constexpr (is_pack_v<B> && is_pack_v<C>) return select(c, B(a), b);
    else if constexpr (cpp_number<A>) return c ? B(a) : b;
    else return c ? a : A(b);
  }
  template <class C, class A, class B, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const C& c, const A&, const B&, const Y&) {
    return grads{no_partial{}, when<C>{c}, unless<C>{c}};
  }
};

/// maximum(a, b): NaN propagates. At a tie each operand gets half of the gradient.
struct maximum_op : elementwise<2> {
  static constexpr const char* name = "maximum";
  static constexpr unsigned reads(int) { return 3u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    if constexpr (is_pack_v<A>) return math::maximum(a, A(b));
    else if constexpr (is_pack_v<B>) return math::maximum(B(a), b);
    else return math::maximum(a, static_cast<A>(b));
  }
  template <class A, class B, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const B& b, const Y&) {
    const auto equal = apply<equal_op>(a, b);
    return grads{tie{apply<greater_op>(a, b), equal}, tie{apply<less_op>(a, b), equal}};
  }
};

TTENSOR_END
