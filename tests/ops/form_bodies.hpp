// Bodies of tests/gate/bodies.md as they stand there: operators fused with others, broadcast operands, arguments and results of other ranks.
// Every form of every operator, and all compositions: nested_forms.hpp.
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
    template <class X> auto operator()(const X& x) const { using std::sin; return __VA_ARGS__; } \
  };
BODY(add_outer, unsqueeze(h(x), 1) + x * x * x)
BODY(broadcast_to, sin(broadcast_to(h(x), {2, 3}) * constant("C", 2, 3)))
BODY(unsqueeze, sin(unsqueeze(h(x), 0)))
using of_1_to_2 = gate::bodies<add_outer_body, unsqueeze_body>;

BODY(slice_element, h(x)(0, 1) * x(1, 2))
using of_2_to_0 = gate::bodies<slice_element_body>;

BODY(reshape_flat, reshape(h(x), 6) * reshape(x, 6))
BODY(slice_row, sin(h(x)(1)))
BODY(squeeze, sin(squeeze(h(x), 1)))
using of_2_to_1 = gate::bodies<reshape_flat_body>;

BODY(add_row, x * h(x) + sum(h(x), 0))
BODY(mul_column, x * sum(h(x), 1, tt::keepdims))
BODY(mul_reduced, x * sum(h(x)))
BODY(div_row, x / (2.0 + sum(x * x, 0)))
BODY(maximum_row, tt::maximum(h(x), mean(x, 0) + 0.125) * x)
BODY(where_row, where(x > 0.25, sum(h(x), 0), x * x))
BODY(cast_bool, tt::to<double>(x > 0.25) * h(x))
BODY(reshape, sin(reshape(h(x), 3, 2)))
BODY(transpose, sin(transpose(h(x))))
BODY(broadcast_to_column, sin(broadcast_to(h(x), {2, 3}) * constant("C", 2, 3)))
BODY(slice_step, sin(h(x)(all, range(0, 3, 2))))
BODY(slice_overlap, h(x)(all, range(1, 3)) * x(all, range(0, 2)))
using of_2_to_2 = gate::bodies<add_row_body, mul_column_body, mul_reduced_body, div_row_body, maximum_row_body, where_row_body, cast_bool_body,
                               slice_overlap_body, broadcast_to_column_body>;

BODY(unsqueeze_last, unsqueeze(h(x), 2) * unsqueeze(x, 2))
using of_2_to_3 = gate::bodies<unsqueeze_last_body>;

BODY(transpose_rank3, sin(transpose(h(x))))
using of_3_to_3 = gate::bodies<transpose_rank3_body>;
#undef BODY
}  // namespace bodies
