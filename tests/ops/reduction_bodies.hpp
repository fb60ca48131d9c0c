// The bodies of tests/gate/bodies.md that reduce, by what they return.
#pragma once
#include "../gate/body_gate.hpp"

namespace bodies {
using gate::constant;
using gate::h;
namespace tt = ttensor;
#define BODY(body, ...)                                                               \
  struct body##_body {                                                                \
    static constexpr const char* name = #body;                                        \
    template <class X> auto operator()(const X& x) const { using std::sin; return __VA_ARGS__; } \
  };
BODY(sum_axis0, sin(sum(h(x), 0)))
BODY(sum_axis1, sin(sum(h(x), 1)))
BODY(mean_axis0, sin(mean(h(x), 0)))
BODY(mean_axis1, sin(mean(h(x), 1)))
BODY(max_axis0, sin(max(h(x), 0)))
BODY(max_axis1, sin(max(h(x), 1)))
BODY(max_leaf, max(x, 1) * max(x, 1))
BODY(logsumexp_axis0, logsumexp(h(x), 0))
BODY(logsumexp_axis1, sin(logsumexp(h(x), 1)))
BODY(prod_axis0, prod(h(x) + 1.5, 0))
BODY(prod_axis1, prod(h(x) + 1.5, 1))
BODY(min_axis0, min(h(x), 0))
BODY(min_axis1, min(h(x), 1))
BODY(variance_axis0, variance(h(x), 0))
BODY(variance_axis1, variance(h(x), 1))
BODY(stddev_axis0, stddev(h(x), 0))
BODY(stddev_axis1, stddev(h(x), 1))
BODY(norm_axis0, norm(h(x), 0))
BODY(norm_axis1, norm(h(x), 1))
BODY(argmax, where(argmax(h(x), 0) == 0, sum(h(x), 0), 2.0))
BODY(argmin, where(argmin(h(x), 0) == 0, sum(h(x), 0), 2.0))
BODY(any, where(any(x > 0.25, 0), sum(h(x), 0), 2.0))
BODY(all, where(tt::all(x < 0.5, 0), sum(h(x), 0), 2.0))
BODY(count_nonzero, where(count_nonzero(x > 0.1, 0) == 1, sum(h(x), 0), 2.0))

BODY(softmax_axis0, softmax(h(x), 0))
BODY(softmax_axis1, softmax(h(x), 1))
BODY(log_softmax_axis0, log_softmax(h(x), 0))
BODY(log_softmax_axis1, log_softmax(h(x), 1))

// Axes are chosen at run time: another axis is the same program.
using to_vector = gate::bodies<sum_axis0_body, sum_axis1_body, mean_axis0_body, mean_axis1_body, variance_axis0_body, variance_axis1_body, stddev_axis0_body,
                               stddev_axis1_body, norm_axis0_body, norm_axis1_body, max_axis0_body, max_axis1_body, max_leaf_body, min_axis0_body, min_axis1_body,
                               prod_axis0_body, prod_axis1_body, logsumexp_axis0_body, logsumexp_axis1_body, argmax_body, argmin_body, any_body, all_body,
                               count_nonzero_body>;
using to_matrix = gate::bodies<softmax_axis0_body, softmax_axis1_body, log_softmax_axis0_body, log_softmax_axis1_body>;
#undef BODY
}  // namespace bodies
