// The reduction family: identity and combine; sums are linear and fuse in every mode.
#pragma once
#include "arithmetic.hpp"

TTENSOR_BEGIN

/// sum: 0 for an empty range.
struct sum_op {
  using ttensor_operator = void;
  static constexpr const char* name = "sum";
  template <class V> TTENSOR_HD TTENSOR_INLINE static V identity() { return V(lane_t<V>(0)); }
  TTENSOR_NO_EXEC_CHECK
  template <class V> TTENSOR_HD TTENSOR_INLINE static V combine(const V& a, const V& b) { return apply<add_op>(a, b); }
};

TTENSOR_END
