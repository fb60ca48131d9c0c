// The reduction family: identity and combine, and the element type of the result. Sums are linear and fuse in every mode.
#pragma once
#include "terms.hpp"

TTENSOR_HD_BEGIN

/// sum: 0 for an empty range.
struct sum_op {
  using ttensor_operator = void;
  static constexpr const char* name = "sum";
  using collects = void;  // added up in collect_t
  template <class T> using result = reduced_t<T>;
  template <class V> TTENSOR_HD TTENSOR_INLINE static V identity() { return V(lane_t<V>(0)); }
  template <class V> TTENSOR_HD TTENSOR_INLINE static V combine(const V& a, const V& b) { return apply<add_op>(a, b); }
};
/// prod: 1 for an empty range.
struct prod_op {
  using ttensor_operator = void;
  static constexpr const char* name = "prod";
  template <class T> using result = reduced_t<T>;
  template <class V> TTENSOR_HD TTENSOR_INLINE static V identity() { return V(lane_t<V>(1)); }
  template <class V> TTENSOR_HD TTENSOR_INLINE static V combine(const V& a, const V& b) { return apply<mul_op>(a, b); }
};
/// max, min: NaN propagates; an empty range has no value.
struct max_op {
  using ttensor_operator = void;
  static constexpr const char* name = "max";
  template <class T> using result = T;
  template <class V> TTENSOR_HD TTENSOR_INLINE static V identity() {
    using L = std::numeric_limits<lane_t<V>>;
    if constexpr (L::has_infinity) return V(static_cast<lane_t<V>>(-L::infinity()));
    else return V(L::lowest());
  }
  template <class V> TTENSOR_HD TTENSOR_INLINE static V combine(const V& a, const V& b) { return maximum_op::primal(a, b); }
};
struct min_op {
  using ttensor_operator = void;
  static constexpr const char* name = "min";
  template <class T> using result = T;
  template <class V> TTENSOR_HD TTENSOR_INLINE static V identity() {
    using L = std::numeric_limits<lane_t<V>>;
    if constexpr (L::has_infinity) return V(L::infinity());
    else return V(L::max());
  }
  template <class V> TTENSOR_HD TTENSOR_INLINE static V combine(const V& a, const V& b) { return minimum_op::primal(a, b); }
};

TTENSOR_HD_END
