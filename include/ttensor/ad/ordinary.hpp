// Ordinary numbers on scalar tapes: where nothing absorbs and nothing is marked, the product of a cotangent and a partial is a product.
#pragma once
#include "../ops/chain.hpp"
#include "../tensor/statement_rule.hpp"
#include "dual.hpp"

TTENSOR_BEGIN

template <class T> struct var;

namespace ordinary {
using math::detail::has_kernels;  // float and double
/// Numbers, duals of them, duals of those, ...
template <class X> inline constexpr bool is_numbers = has_kernels<X>;
template <class V, int N> inline constexpr bool is_numbers<dual<V, N>> = is_numbers<V>;

/// Whether no innermost value is 0; false where that is not known.
template <class X> TTENSOR_INLINE bool has_no_zero(const X& x) {
  if constexpr (has_kernels<X>) return x != 0;
  else return false;
}
template <class V, int N> TTENSOR_INLINE bool has_no_zero(const dual<V, N>& x) { return has_no_zero(x.value); }
template <class T> TTENSOR_INLINE bool has_no_zero(const var<T>& x) { return has_no_zero(x.value()); }
template <class T> TTENSOR_NOINLINE bool has_no_zero(const T* p, index_t n) {
  using vector = simd::vec<T>;
  constexpr index_t lanes = TTENSOR_SIMD_BYTES / sizeof(T);
  decltype(vector{} == vector{}) zero{};
  index_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    vector v;
    __builtin_memcpy(&v, p + i, sizeof v);
    zero |= v == vector{};
  }
  bool none = true;
  for (index_t k = 0; k < lanes; ++k) none = none && zero[k] == 0;
  for (; i < n; ++i) none = none && p[i] != 0;
  return none;
}
template <class T, class W> TTENSOR_INLINE bool has_no_zero(const basic_batched<T, W>& x) {
  if constexpr (has_kernels<T>) {
    const store<T>& s = x.elements().inner();
    return has_no_zero(s.data(), s.size());
  } else {
    return false;
  }
}
/// x - x of all numbers in x, added: 0 if every one is finite, else NaN.
template <class T> TTENSOR_INLINE T difference(const T& x) { return x - x; }
template <class V, int N> TTENSOR_INLINE auto difference(const dual<V, N>& x) {
  auto all = difference(x.value);
  for (int k = 0; k < N; ++k) all += difference(x.tangent_at(k));
  return all;
}

/// Op of a partial, which Op changes only where it is 0: what would be recorded or be an array is not.
template <class Op, class Y> TTENSOR_INLINE Y at_zero(const Y& p) {
  if constexpr (is_dual_v<Y> && batch_levels_v<Y> > 0) {  // its tangents are those of p
    Y y = p;
    y.value = at_zero<Op>(p.value);
    return y;
  } else {
    if constexpr (is_var_v<Y> || is_batched_v<Y>)
      if (TTENSOR_LIKELY(has_no_zero(p))) return p;
    return Y(apply<Op>(p));
  }
}

template <class X> TTENSOR_NOINLINE X chain_any(const X& ct, const X& p) { return X(apply<chain_op>(ct, p)); }
/// chain_op of the adjoint of an entry and its partial.
template <class X> TTENSOR_INLINE X chain(const X& ct, const X& p) {
  if constexpr (is_dual_v<X> && is_numbers<X>) {
    const X y(apply<finite_chain_op>(ct, p));
    return TTENSOR_LIKELY(has_no_zero(y) && difference(y) == 0) ? y : chain_any(ct, p);
  } else if constexpr (is_var_v<X> && has_kernels<inner_t<X>>) {
    const auto y = ct.value() * p.value();
    return TTENSOR_LIKELY(y != 0 && difference(y) == 0) ? X(apply<finite_chain_op>(ct, p)) : chain_any(ct, p);
  } else {
    return X(apply<chain_op>(ct, p));
  }
}
/// Numbers that are one for each example: what is computed of them is a loop.
template <class X> inline constexpr bool is_examples = batch_levels_v<X> > 0 && !has_var_v<X>;
/// to + chain(ct, p); of examples in one loop.
template <class X> TTENSOR_INLINE X plus_chain(const X& to, const X& ct, const X& p) {
  if constexpr (is_examples<X>) return evaluated_number(expr::build<add_op>(to, expr::build<chain_op>(ct, p)));
  else return X(apply<add_op>(to, chain(ct, p)));
}
/// Adds to element k.
template <class X, class E> void add_to_element(store<X>& s, index_t k, E&& x) {
  const layout_map<0> element{k, {}, {}};
  statement_rule<X>::assign_region(s, element, expr::build<add_op>(leaf<X, 0>{s.snap(), element}, static_cast<E&&>(x)));
}
}  // namespace ordinary

TTENSOR_END
