// The bodies of tests/gate/bodies.md with the forms of elementwise operators (leaves, scalars, broadcast operands) and shape operations.
#pragma once
#include "../gate/body_gate.hpp"

namespace bodies {
using gate::constant;
using gate::h;
namespace tt = ttensor;
using tt::all, tt::range;
#define BODY(body, ...)                                                               \
  struct body##_body {                                                                \
    static constexpr const char* name = #body;                                        \
    template <class X> auto operator()(const X& x) const { using std::sin, std::cos; return __VA_ARGS__; } \
  };
BODY(add_outer, unsqueeze(h(x), 1) + x * x * x)
BODY(sub_outer, x * x * x - unsqueeze(h(x), 1))
BODY(mul_outer, unsqueeze(h(x), 1) * x)
BODY(div_outer, unsqueeze(h(x), 1) / (x * x + 2.0))
BODY(broadcast_to, sin(broadcast_to(h(x), {2, 3}) * constant("C", 2, 3)))
BODY(unsqueeze, sin(unsqueeze(h(x), 0)))
using of_1_to_2 = gate::bodies<add_outer_body, sub_outer_body, mul_outer_body, div_outer_body, broadcast_to_body, unsqueeze_body>;

BODY(slice_element, h(x)(0, 1) * x(1, 2))
using of_2_to_0 = gate::bodies<slice_element_body>;

BODY(reshape_flat, reshape(h(x), 6) * reshape(x, 6))
BODY(slice_row, sin(h(x)(1)))
BODY(squeeze, sin(squeeze(h(x), 1)))
using of_2_to_1 = gate::bodies<reshape_flat_body, slice_row_body, squeeze_body>;

BODY(add, h(x) + x * h(x))
BODY(add_leaf, (x + x) * x)
BODY(add_scalar, (x + 2.5) * (1.5 + h(x)))
BODY(add_row, x * h(x) + sum(h(x), 0))
BODY(sub, x * h(x) - h(x))
BODY(sub_scalar, (x - 2.5) * (1.5 - h(x)))
BODY(sub_row, x * h(x) - sum(h(x), 0))
BODY(mul, h(x) * (x + constant("C", 2, 2)))
BODY(mul_leaf, x * x)
BODY(mul_scalar, (2.5 * x) * (h(x) * 1.5))
BODY(mul_const, x * (x + constant("C", 2, 2)))
BODY(mul_row, x * sum(h(x), 0))
BODY(mul_column, x * sum(h(x), 1, tt::keepdims))
BODY(mul_reduced, x * sum(h(x)))
BODY(div, (x + constant("C", 2, 2)) / (x * x + 2.0))
BODY(div_leaf, h(x) / (x + 2.0))
BODY(div_scalar, (h(x) / 2.5) * (1.5 / (x + 2.0)))
BODY(div_row, x / (2.0 + sum(x * x, 0)))
BODY(neg, -(x * h(x)))
BODY(neg_leaf, (-x) * h(x))
BODY(maximum, tt::maximum(h(x), x * x * x))
BODY(maximum_scalar, tt::maximum(x, 0.25) * h(x))
BODY(maximum_row, tt::maximum(h(x), mean(x, 0) + 0.125) * x)
BODY(where, where(x > 0.25, x * x, sin(x)))
BODY(where_scalar, where(x > 0.25, h(x), 0.5) * x)
BODY(where_row, where(x > 0.25, sum(h(x), 0), x * x))
BODY(where_const, where(constant("C", 2, 2) > 0.0, x * x, sin(x)))
BODY(greater_both, where(h(x) > x * x * x, h(x) * x, cos(x)))
BODY(cast, tt::to<double>(h(x)) * x)
BODY(cast_bool, tt::to<double>(x > 0.25) * h(x))
BODY(reshape, sin(reshape(h(x), 3, 2)))
BODY(transpose, sin(transpose(h(x))))
BODY(transpose_both, transpose(h(x)) * x)
BODY(broadcast_to_column, sin(broadcast_to(h(x), {2, 3}) * constant("C", 2, 3)))
BODY(slice_step, sin(h(x)(all, range(0, 3, 2))))
BODY(slice_negative, h(x)(all, range(tt::end, tt::end, -1)) * x)
BODY(slice_overlap, h(x)(all, range(1, 3)) * x(all, range(0, 2)))
using of_2_to_2 = gate::bodies<add_body, add_leaf_body, add_scalar_body, add_row_body, sub_body, sub_scalar_body, sub_row_body, mul_body,
                               mul_leaf_body, mul_scalar_body, mul_const_body, mul_row_body, mul_column_body, mul_reduced_body, div_body,
                               div_leaf_body, div_scalar_body, div_row_body, neg_body, neg_leaf_body, maximum_body, maximum_scalar_body,
                               maximum_row_body, where_body, where_scalar_body, where_row_body, where_const_body, greater_both_body, cast_body,
                               cast_bool_body, reshape_body, transpose_body, transpose_both_body, broadcast_to_column_body, slice_step_body,
                               slice_negative_body, slice_overlap_body>;

BODY(unsqueeze_last, unsqueeze(h(x), 2) * unsqueeze(x, 2))
using of_2_to_3 = gate::bodies<unsqueeze_last_body>;

BODY(transpose_rank3, sin(transpose(h(x))))
using of_3_to_3 = gate::bodies<transpose_rank3_body>;
#undef BODY
}  // namespace bodies
