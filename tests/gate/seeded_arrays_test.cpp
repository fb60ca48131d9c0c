// Array operators: for each operand of each, the checks of its body fail when that derivative is 0.1 % wrong.
//
// The overload of apply_array below is more constrained than the library's, so that argument-dependent lookup finds it in place of
// that one wherever an array operator is applied in this program.
#include "../ops/contraction_bodies.hpp"
#include "../ops/indexing_bodies.hpp"
#include "../ops/linalg_bodies.hpp"
#include "../ops/reduction_bodies.hpp"
#include "seeded.hpp"

namespace gate {
inline std::string wrong_operator;

template <class Op> struct seeded_array {
  Op op;
  static constexpr const char* name = Op::name;
  auto batched() const { return seeded_array<decltype(op.batched())>{op.batched()}; }
  template <class... A> auto primal(const A&... a) const { return op.primal(a...); }
  template <int I, class... A> auto jvp(const A&... a) const { return tt::eval(tt::apply<tt::mul_op>(factor(I), op.template jvp<I>(a...))); }
  template <int I, class... A> auto vjp(const A&... a) const { return tt::eval(tt::apply<tt::mul_op>(factor(I), op.template vjp<I>(a...))); }
  static double factor(int operand) { return wrong_operator == name ? seed(operand) : 1.0; }
};
template <class Op> inline constexpr bool is_seeded = false;
template <class Op> inline constexpr bool is_seeded<seeded_array<Op>> = true;
}  // namespace gate
namespace ttensor {
template <class Op, class... A> requires(!gate::is_seeded<Op>) auto apply_array(const Op& op, const A&... a) {
  return apply_array(gate::seeded_array<Op>{op}, a...);
}
}  // namespace ttensor

namespace {
using forward_and_reverse = gate::string_list<gate::string<'J'>, gate::string<'G'>>;

template <class Body, int Q> void check(const char* body, const char* op, int operands) {
  CAPTURE(body);
  const auto programs = gate::compile<Body, Q>(forward_and_reverse{});
  gate::wrong_operator = op;
  gate::wrong_operand = -1;
  CHECK(gate::disagreements(gate::op_values(), body, programs) == "");
  for (int i = 0; i < operands; ++i) {
    CAPTURE(i);
    gate::wrong_operand = i;
    for (const auto& one : programs) CHECK(gate::disagreements(gate::op_values(), body, {one}) != "");
  }
  gate::wrong_operand = -1;
}

/// x -> x
struct pass_op : ttensor::elementwise<1> {
  static constexpr const char* name = "pass";
  static constexpr unsigned reads(int) { return 0; }
  template <class A> static constexpr A primal(const A& a) { return a; }
  template <class A, class Y> static constexpr auto partials(const A&, const Y&) { return ttensor::grads{ttensor::unit{}}; }
};
/// The body after a wrong identity: an operator that is linear, or is made of others, has no rule of its own to spoil.
template <class Body> struct after_pass {
  template <class X> auto operator()(const X& x) const { return Body{}(ttensor::eval(ttensor::apply<gate::seeded<pass_op>>(x))); }
};
template <class Body, int Q> void check_whole(const char* body) { check<after_pass<Body>, Q>(body, "pass", 1); }
}  // namespace

TEST_CASE("contractions") {
  check<bodies::matmul_body, 2>("matmul", "matmul", 2);
  check_whole<bodies::dot_body, 1>("dot");
}
TEST_CASE("indexing") {
  check<bodies::take_body, 2>("take", "gather", 1);
  check<bodies::scatter_add_const_body, 1>("scatter_add_const", "scatter_add", 1);
}
TEST_CASE("linear algebra") {
  check<bodies::cholesky_body, 2>("cholesky", "cholesky", 1);
  check<bodies::triangular_solve_body, 2>("triangular_solve", "triangular_solve", 2);
}
TEST_CASE("reductions with a rule") {
  check<bodies::max_axis1_body, 2>("max_axis1", "max", 1);
  check<bodies::min_axis0_body, 2>("min_axis0", "min", 1);
  check<bodies::prod_axis1_body, 2>("prod_axis1", "prod", 1);
  check<bodies::logsumexp_axis0_body, 2>("logsumexp_axis0", "logsumexp", 1);
  check<bodies::softmax_axis1_body, 2>("softmax_axis1", "softmax", 1);
  check<bodies::log_softmax_axis0_body, 2>("log_softmax_axis0", "log_softmax", 1);
}
TEST_CASE("reductions without one") {
  check_whole<bodies::sum_axis0_body, 2>("sum_axis0");
  check_whole<bodies::mean_axis1_body, 2>("mean_axis1");
  check_whole<bodies::variance_axis0_body, 2>("variance_axis0");
  check_whole<bodies::stddev_axis1_body, 2>("stddev_axis1");
  check_whole<bodies::norm_axis0_body, 2>("norm_axis0");
}
