// Array operators: for each operand of each, the checks of its body fail when that derivative is 0.1 % wrong.
//
// The overload of apply_array below is more constrained than the library's, so that argument-dependent lookup finds it in place of
// that one wherever an array operator is applied in this program.
//
// Sums and views have no rule that could be wrapped so. A sum's node is told by its cotangent, which stands still along the axes that
// were summed; a view's by the shape of the leaf. More constrained overloads of `run_node`, `evaluate_reduction` and `each_taped`
// spoil these.
#include <algorithm>

#include "../ops/contraction_bodies.hpp"
#include "../ops/form_bodies.hpp"
#include "../ops/indexing_bodies.hpp"
#include "../ops/linalg_bodies.hpp"
#include "../ops/reduction_bodies.hpp"
#include "seeded.hpp"

namespace gate {
using tt::index_t;
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

enum class sums { right, some_axes, all_axes } wrong_sums = sums::right;
/// Which sum a node is. `step`: of its cotangent over the statement's axes.
inline sums kind_of_sum(const index_t* extent, const index_t* step, int rank) {
  bool summed = false, kept = false;
  for (int d = 0; d < rank; ++d)
    if (extent[d] != 1) (step[d] == 0 ? summed : kept) = true;
  return !summed ? sums::right : kept ? sums::some_axes : sums::all_axes;
}
/// Shape of the view whose adjoint is walked backwards, and how often that happened; only the first leaf of that shape is taken.
inline std::vector<index_t> wrong_view;
inline int views_spoiled = 0;
template <int R> tt::layout_map<R> spoiled(tt::layout_map<R> m) {
  if (static_cast<int>(wrong_view.size()) != R || views_spoiled > 0 || !std::equal(wrong_view.begin(), wrong_view.end(), m.extent.v)) return m;
  ++views_spoiled;
  for (int d = 0; d < R; ++d) m.offset += (m.extent[d] - 1) * m.stride[d], m.stride[d] = -m.stride[d];
  return m;
}
}  // namespace gate
namespace ttensor {
template <class Op, class... A> requires(!gate::is_seeded<Op>) auto apply_array(const Op& op, const A&... a) {
  return apply_array(gate::seeded_array<Op>{op}, a...);
}
/// Backward pass of a statement: of a sum with a cotangent that is 0.1 % too large.
template <class X> requires(std::is_same_v<X, double>)
void run_node(tape& t, const ad::back_layout& l, const ad::back_record& r, const std::uint32_t* out, const index_t* step) {
  slot_base* cotangent[run::max_planes];
  if (!ad::live_slots(t, out, l.vars, cotangent)) return;
  if (gate::wrong_sums != gate::sums::right && gate::kind_of_sum(r.extent, step, l.rank) == gate::wrong_sums) {
    store<X>& y_bar = t.at<X>(out[0]).adjoint;
    for (index_t i = 0; i < y_bar.size(); ++i) y_bar.set(i, 1.001 * y_bar.data()[i]);
  }
  ad::add_gradients<X>(t, l, r, cotangent, step);
  for (int k = 0; k < l.vars; ++k) t.slot(out[k]).drop();
}
/// A sum of duals with a tangent that is 0.1 % too large.
template <class Red, bool Columns, class S, class E> requires(std::is_same_v<S, dual<double, 1>> && std::is_same_v<Red, sum_op>)
store<reduction_scalar_t<Red, S>> evaluate_reduction(const E& e, const dims<E::rank>& shape, const axis_set<E::rank>& set) {
  auto y = reduce_detail::collect<Red, Columns, S>(e, shape, set);
  if (gate::wrong_sums != gate::sums::right)
    for (index_t i = 0; i < y.size(); ++i) y.tangent_[0].set(i, 1.001 * y.tangent_[0].data()[i]);
  return y;
}
/// What a leaf of a statement has on the tape, as it is recorded.
template <class X, bool O, int R, class F> requires(requires(F& f) { f.n.targets; })
void each_taped(const snapshot<var<X>, O>& s, const layout_map<R>& m, F&& f) { f.array(s.slot, gate::spoiled(m)); }
}  // namespace ttensor

namespace {
using forward_and_reverse = gate::string_list<gate::string<'J'>, gate::string<'G'>>;

template <class Body, int Q> void check(const std::string& body, const char* op, int operands) {
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

/// The sum inside a body is wrong. `which`: not the one of the gradient's own body, sum(w * g(x)).
template <class Body, int Q> void check_sums(const std::string& body, gate::sums which) {
  CAPTURE(body);
  const auto programs = gate::compile<Body, Q>(forward_and_reverse{});
  for (const auto wrong : {gate::sums::right, which}) {
    gate::wrong_sums = wrong;
    for (const auto& one : programs) CHECK((gate::disagreements(gate::op_values(), body, {one}) != "") == (wrong == which));
  }
  gate::wrong_sums = gate::sums::right;
}
/// Views: the tangent of a view lies by the map of its value, so only the reverse pass can differ.
template <class Bodies, int Q> void check_views(const std::vector<std::vector<gate::index_t>>& shapes) {
  const auto programs = gate::compile<Bodies, Q>(gate::string_list<gate::string<'G'>>{});
  gate::chosen_body = 0;
  for (const std::string body : Bodies::names()) {
    CAPTURE(body);
    CHECK(gate::disagreements(gate::op_values(), body, programs) == "");
    gate::wrong_view = shapes.at(static_cast<std::size_t>(gate::chosen_body));
    gate::views_spoiled = 0;
    CHECK(gate::disagreements(gate::op_values(), body, programs) != "");
    CHECK(gate::views_spoiled == 1);
    gate::wrong_view.clear();
    ++gate::chosen_body;
  }
}
struct permute_body {  // has the values of transpose
  static constexpr const char* name = "transpose";
  template <class X> auto operator()(const X& x) const { return sin(permute(gate::h(x), 1, 0)); }
};
}  // namespace

TEST_CASE("contractions") {
  check<bodies::matmul_body, 2>("matmul", "matmul", 2);
  check_sums<bodies::dot_body, 1>("dot", gate::sums::all_axes);
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
  check_sums<bodies::sum_axis0_body, 2>("sum_axis0", gate::sums::some_axes);
  check_sums<bodies::mean_axis1_body, 2>("mean_axis1", gate::sums::some_axes);
  check_sums<bodies::variance_axis0_body, 2>("variance_axis0", gate::sums::some_axes);
  check_sums<bodies::stddev_axis1_body, 2>("stddev_axis1", gate::sums::some_axes);
  check_sums<bodies::norm_axis0_body, 2>("norm_axis0", gate::sums::some_axes);
}
TEST_CASE("views") {
  using matrices = gate::bodies<bodies::transpose_body, permute_body, bodies::reshape_body, bodies::broadcast_to_column_body, bodies::slice_step_body>;
  check_views<matrices, 2>({{3, 2}, {3, 2}, {3, 2}, {2, 3}, {2, 2}});
  check_views<gate::bodies<bodies::squeeze_body, bodies::slice_row_body>, 2>({{2}, {3}});
  check_views<gate::bodies<bodies::broadcast_to_body, bodies::unsqueeze_body>, 1>({{2, 3}, {1, 3}});
}
