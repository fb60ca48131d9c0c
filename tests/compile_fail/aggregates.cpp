// Wrong use of vmap and Jacobians over trees that the types can see. Format: tools/check_compile_fail.py.
#include <ttensor/all.hpp>
namespace tt = ttensor;
using namespace ttensor;
template <class T> struct line { tensor<T, 1> w; T b; double rate = 1; };
using vector = tensor<double, 1>;
using matrix = tensor<double, 2>;

// case: mapped_plain_aggregate
// expect: take an axis only from the stacked form
vector plain(const line<double>& p, const matrix& x) { return vmap([](const auto& q, const auto& y) { return dot(q.w, y) + q.b; })(p, x); }
// twin:
vector plain(const line<stacked<double, 1>>& p, const matrix& x) { return vmap([](const auto& q, const auto& y) { return dot(q.w, y) + q.b; })(p, x); }

// case: mapped_scalar
// expect: maps over an axis, and this argument has none
matrix scaled(const matrix& x) { return vmap([](const auto& y, const auto& s) { return y * s; })(x, 2.0); }
// twin:
matrix scaled(const matrix& x) { return vmap([](const auto& y, const auto& s) { return y * s; }, in_axes<0, none>)(x, 2.0); }

// case: nothing_mapped
// expect: needs at least one mapped argument
matrix nothing(const matrix& x) { return vmap([](const auto& y) { return y * 2; }, in_axes<none>)(x); }
// twin:
matrix nothing(const matrix& x) { return vmap([](const auto& y) { return y * 2; }, in_axes<-1>)(x); }

// case: nothing_mapped_in_a_tree
// expect: needs at least one mapped argument
auto nothing_deep(const matrix& x) { return vmap([](const auto& t) { return t; }, in_axes_tree(std::tuple{none, none}))(std::tuple{x, x}); }
// twin:
auto nothing_deep(const matrix& x) { return vmap([](const auto& t) { return t; }, in_axes_tree(std::tuple{none, axis<0>}))(std::tuple{x, x}); }

// case: axes_do_not_match_the_arguments
// expect: must match the arguments: one entry for each argument
matrix count(const matrix& x) { return vmap([](const auto& y, const auto& z) { return y * z; }, in_axes<0>)(x, x); }
// twin:
matrix count(const matrix& x) { return vmap([](const auto& y, const auto& z) { return y * z; }, in_axes<0, 0>)(x, x); }

// case: axes_of_parts_that_do_not_exist
// expect: the axes of vmap are a tree where the argument has no parts
matrix parts(const matrix& x) { return vmap([](const auto& y) { return y * 2; }, in_axes_tree(std::tuple{axis<0>, none}))(x); }
// twin:
matrix parts(const matrix& x) { return vmap([](const auto& y) { return y * 2; }, in_axes_tree(axis<0>))(x); }

// case: one_field_of_an_aggregate_unmapped
// expect: the tensors of an aggregate share one scalar
vector field(const line<stacked<double, 1>>& p) { return vmap([](const auto& q) { return sum(q.w) * q.b; }, in_axes_tree(in_axes_tree(axis<0>, none, none)))(p); }
// twin:
vector field(const line<stacked<double, 1>>& p) { return vmap([](const auto& q) { return sum(q.w) * q.b; }, in_axes_tree(in_axes_tree(axis<1>, axis<0>, none)))(p); }

// case: mapped_value_written_outside
// expect: a value of a newer transform level is written into a tensor whose element type lacks that level
void outside(const matrix& x) { vmap([](const auto& y) { vector a(2); a = y * 2; return a; })(x); }
// twin:
void outside(const matrix& x) { vmap([](const auto& y) { tensor<std::remove_cvref_t<decltype(sum(y))>, 1> a(2); a = y * 2; return a; })(x); }

// case: table_of_a_vector_of_layers
// expect: needs their number at compile time
auto table(const std::vector<line<double>>& p) { return hessian([](const auto& q) { return sum(q[0].w * q[0].w) * q[1].b; })(p); }
// twin:
auto table(const std::array<line<double>, 2>& p) { return hessian([](const auto& q) { return sum(q[0].w * q[0].w) * q[1].b; })(p); }
