// where maximum minimum fmax fmin clamp.
#pragma once
#include "../num/math.hpp"
#include "arithmetic.hpp"

TTENSOR_HD_BEGIN

/// where(c, a, b): a where c holds, else b. Both are computed; the gradient of the other branch is selected out, not multiplied.
struct where_op : elementwise<3> {
  static constexpr bool even = true;
  static constexpr const char* name = "where";
  static constexpr unsigned reads(int) { return 1u; }
  template <class C, class A, class B> using result = join_chain_t<elem_t<A>, A, B, C>;
  template <class C, class A, class B> using operands = type_list<bool, expr::operand_elem_t<A, B>, expr::operand_elem_t<A, B>>;
  template <class C, class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const C& c, const A& a, const B& b) {
    if constexpr (is_pack_v<A> && is_pack_v<C>) return select(c, a, A(b));
    else if constexpr (is_pack_v<B> && is_pack_v<C>) return select(c, B(a), b);
    else if constexpr (cpp_number<A> && cpp_number<B>)
      return c ? static_cast<std::common_type_t<A, B>>(a) : static_cast<std::common_type_t<A, B>>(b);
    else if constexpr (cpp_number<A>) return c ? B(a) : b;
    else if constexpr (is_complex_v<A> && is_complex_v<B> && sizeof(A) < sizeof(B)) return c ? B(a) : b;
    else return c ? a : A(b);
  }
  template <class C, class A, class B, class Y>
  TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const C& c, const A&, const B&, const Y&) {
    return grads{no_partial{}, when<C>{c}, unless<C>{c}};
  }
};

/// maximum(a, b): NaN propagates. At a tie each operand gets half of the gradient.
struct maximum_op : of_reals<elementwise<2>> {
  static constexpr bool even = true;
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

/// minimum(a, b): NaN propagates. At a tie each operand gets half of the gradient.
struct minimum_op : of_reals<elementwise<2>> {
  static constexpr bool even = true;
  static constexpr const char* name = "minimum";
  static constexpr unsigned reads(int) { return 3u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    if constexpr (is_pack_v<A>) return math::minimum(a, A(b));
    else if constexpr (is_pack_v<B>) return math::minimum(B(a), b);
    else return math::minimum(a, static_cast<A>(b));
  }
  template <class A, class B, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const B& b, const Y&) {
    const auto equal = apply<equal_op>(a, b);
    return grads{tie{apply<less_op>(a, b), equal}, tie{apply<greater_op>(a, b), equal}};
  }
};
/// fmax, fmin: a NaN operand is ignored. At a tie the first operand gets the whole gradient.
template <class Better> struct ignoring_nan : of_reals<elementwise<2>> {
  static constexpr unsigned reads(int) { return 3u; }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto first(const A& a, const B& b) {
    return apply<logical_or_op>(apply<Better>(a, b), apply<not_equal_op>(b, b));
  }
  template <class A, class B> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const B& b) {
    using V = std::conditional_t<is_pack_v<B>, B, A>;
    const V x(a), y(b);
    if constexpr (is_pack_v<V>) return select(first(x, y), x, y);
    else return first(x, y) ? x : y;
  }
  template <class A, class B, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const B& b, const Y&) {
    return grads{when{first(a, b)}, unless{first(a, b)}};
  }
};
struct fmax_op : ignoring_nan<greater_equal_op> {
  static constexpr const char* name = "fmax";
};
struct fmin_op : ignoring_nan<less_equal_op> {
  static constexpr const char* name = "fmin";
};
/// clamp(x, low, high) = minimum(maximum(x, low), high); on a boundary the gradient goes to x. NaN propagates.
struct clamp_op : of_reals<elementwise<3>> {
  static constexpr bool even = true;
  static constexpr const char* name = "clamp";
  static constexpr unsigned reads(int) { return 7u; }
  template <class A, class L, class H> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a, const L& l, const H& h) {
    return minimum_op::primal(maximum_op::primal(a, l), h);
  }
  template <class A, class L, class H, class Y>
  TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const L& l, const H& h, const Y&) {
    const auto below = apply<less_op>(a, l);
    const auto above = apply<logical_not_op>(apply<less_equal_op>(apply<maximum_op>(a, l), h));
    return grads{unless{apply<logical_or_op>(below, above)}, when{apply<logical_and_op>(below, apply<logical_not_op>(above))}, when{above}};
  }
};

TTENSOR_HD_END
