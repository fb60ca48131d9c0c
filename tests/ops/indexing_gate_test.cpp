// take and scatter_add under every composition of one and two transforms, against the stored values.
#include "../gate/op_gate.hpp"

namespace bodies {
namespace {
namespace tt = ttensor;
using gate::constant;
using gate::h;
using index = tt::tensor<std::int64_t, 1>;
#define BODY(name, ...)                                                          \
  struct name##_body {                                                           \
    template <class X> auto operator()(const X& x) const { return __VA_ARGS__; } \
  };
BODY(take, sin(take(h(x), index{2, 0, 2}, 1)))
BODY(take_rows, take(h(x), index{1, 1, 0}, 0) * take(x, index{0, 1, 0}, 0))
BODY(take_vector, sin(take(h(x), index{0, 2, 2, 1}, 0)))
BODY(scatter_add, sin(scatter_add(h(x), 0, index{2, 0, 2}, x * x * x)))
BODY(scatter_add_const, sin(scatter_add(constant("B", 4), 0, index{3, 1, 3}, h(x))))
BODY(scatter_add_rank2, sin(scatter_add(h(x), 1, tt::tensor<std::int64_t, 2>{{0, 2, 2}, {1, 1, 0}}, x * x * x)))
#undef BODY
}  // namespace
}  // namespace bodies

TEST_CASE("take") { gate::check_op<bodies::take_body, 2, gate::one_and_two>("take"); }
TEST_CASE("take of rows") { gate::check_op<bodies::take_rows_body, 2, gate::one_and_two>("take_rows"); }
TEST_CASE("take of a vector") { gate::check_op<bodies::take_vector_body, 1, gate::one_and_two>("take_vector"); }
TEST_CASE("scatter_add") { gate::check_op<bodies::scatter_add_body, 1, gate::one_and_two>("scatter_add"); }
TEST_CASE("scatter_add into a constant") { gate::check_op<bodies::scatter_add_const_body, 1, gate::one_and_two>("scatter_add_const"); }
TEST_CASE("scatter_add of rank 2") { gate::check_op<bodies::scatter_add_rank2_body, 2, gate::one_and_two>("scatter_add_rank2"); }
