// Wrong use of vmap and Jacobians over trees that the types can see. Format: tools/check_compile_fail.py.
#include <list>
#include <map>
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
// expect: needs the number of leaves of the result at compile time
auto table(const std::vector<line<double>>& p) { return hessian([](const auto& q) { return sum(q[0].w * q[0].w) * q[1].b; })(p); }
// twin:
auto table(const std::array<line<double>, 2>& p) { return hessian([](const auto& q) { return sum(q[0].w * q[0].w) * q[1].b; })(p); }

// A field that structured bindings do not see would be skipped: arrays of C, bases, more than 40 fields.

// case: array_of_c_in_an_aggregate
// expect: an aggregate in a tree can't have an array of C
template <class T> struct with_array { T w[2]; T b; };
auto of_array(const with_array<double>& p) { return grad([](const auto& q) { return q.w[0] * q.w[1] * q.b; })(p); }
// twin:
template <class T> struct with_array { std::array<T, 2> w; T b; };
auto of_array(const with_array<double>& p) { return grad([](const auto& q) { return q.w[0] * q.w[1] * q.b; })(p); }

// case: array_of_c_of_one_element
// expect: an aggregate in a tree can't have an array of C
template <class T> struct with_one { T w[1]; T b; };
auto of_one(const with_one<double>& p) { return grad([](const auto& q) { return q.w[0] * q.b; })(p); }
// twin:
template <class T> struct with_one { std::array<T, 1> w; T b; };
auto of_one(const with_one<double>& p) { return grad([](const auto& q) { return q.w[0] * q.b; })(p); }

// case: base_beside_a_field
// expect: an aggregate in a tree can't have a base class
template <class T> struct sloped : line<T> { T c = 0; };
auto of_base(const sloped<double>& p) { return grad([](const auto& q) { return sum(q.w) * q.b * q.c; })(p); }
// twin:
template <class T> struct sloped { line<T> of; T c = 0; };
auto of_base(const sloped<double>& p) { return grad([](const auto& q) { return sum(q.of.w) * q.of.b * q.c; })(p); }

// case: base_of_several_fields
// expect: an aggregate in a tree can't have a base class
template <class T> struct named : line<T> {};
auto of_named(const named<double>& p) { return grad([](const auto& q) { return sum(q.w) * q.b; })(p); }
// twin:
template <class T> struct named { line<T> of; };
auto of_named(const named<double>& p) { return grad([](const auto& q) { return sum(q.of.w) * q.of.b; })(p); }

// case: empty_base
// expect: an aggregate in a tree can't have a base class
struct tag {};
template <class T> struct tagged : tag { T a, b; };
auto of_tagged(const tagged<double>& p) { return grad([](const auto& q) { return q.a * q.b; })(p); }
// twin:
template <class T> struct tagged { T a, b; };
auto of_tagged(const tagged<double>& p) { return grad([](const auto& q) { return q.a * q.b; })(p); }

// case: more_than_40_fields
// expect: an aggregate in a tree must have 1 to 40 fields
#define TEN(k) T k##0, k##1, k##2, k##3, k##4, k##5, k##6, k##7, k##8, k##9;
template <class T> struct of_41 { TEN(a) TEN(b) TEN(c) TEN(d) T e; };
auto of_many(const of_41<double>& p) { return grad([](const auto& q) { return q.a0 * q.e; })(p); }
// twin:
#undef TEN
#define TEN(k) T k##0, k##1, k##2, k##3, k##4, k##5, k##6, k##7, k##8, k##9;
template <class T> struct of_40 { TEN(a) TEN(b) TEN(c) TEN(d) };
auto of_many(const of_40<double>& p) { return grad([](const auto& q) { return q.a0 * q.d9; })(p); }

// case: field_that_is_a_pointer
// expect: a field of an aggregate changes with its scalar and is no tree
template <class T> struct pointing { T* p; T x; };
double pointed(pointing<double>& w) { return grad([](const auto& q) { return q.x * *q.p; })(w).x; }
// twin:
template <class T> struct pointing { double* p; T x; };
double pointed(pointing<double>& w) { return grad([](const auto& q) { return q.x * *q.p; })(w).x; }

// case: field_that_is_a_reference
// expect: has a field that is a reference or
template <class T> struct referring { const tensor<T, 1>& r; T x; };
double referred(const vector& v) { return grad([](const auto& q) { return sum(q.r) * q.x; })(referring<double>{v, 2.0}).x; }
// twin:
template <class T> struct referring { const tensor<T, 1> r; T x; };
double referred(const vector& v) { return grad([](const auto& q) { return sum(q.r) * q.x; })(referring<double>{v, 2.0}).x; }

// case: result_that_is_no_tree
// expect: holds its numbers or arrays and is no tree
template <class T> struct with_constructor { T a, b; with_constructor(T x, T y) : a(x), b(y) {} };
auto no_tree(const vector& v) { return jacrev([](const auto& t) { return with_constructor{t(0) * 2.0, t(1) * 3.0}; })(v); }
// twin:
template <class T> struct with_constructor { T a, b; };
auto no_tree(const vector& v) { return jacrev([](const auto& t) { return with_constructor{t(0) * 2.0, t(1) * 3.0}; })(v); }

// case: tangent_map_of_what_is_no_tree
// expect: holds its numbers or arrays and is no tree
template <class T> struct boxed { T v; explicit boxed(T t) : v(t) {} };
auto no_tangent(const vector& v) { return linearize([](const auto& t) { return boxed{sum(t)}; }, v).y; }
// twin:
template <class T> struct boxed { T v; };
auto no_tangent(const vector& v) { return linearize([](const auto& t) { return boxed{sum(t)}; }, v).y; }

// case: result_of_a_class_with_a_length
// expect: holds its numbers or arrays and is no tree
template <class T, int N> struct with_length { T v[N]; };
auto of_length(const vector& v) { return vjp([](const auto& t) { return with_length<scalar_t<decltype(t)>, 2>{{t(0), t(1)}}; }, v).y; }
// twin:
auto of_length(const vector& v) { return vjp([](const auto& t) { return std::array<scalar_t<decltype(t)>, 2>{t(0), t(1)}; }, v).y; }

// case: result_of_a_checkpoint_that_is_no_tree
// expect: holds its numbers or arrays and is no tree
template <class T> struct kept_pair { T a, b; kept_pair(T x, T y) : a(x), b(y) {} };
auto no_tree_kept(const vector& v) { return grad([](const auto& t) { return checkpoint([](const auto& u) { return kept_pair{u(0) * 2.0, u(1) * 3.0}; })(t).a; })(v); }
// twin:
template <class T> struct kept_pair { T a, b; };
auto no_tree_kept(const vector& v) { return grad([](const auto& t) { return checkpoint([](const auto& u) { return kept_pair{u(0) * 2.0, u(1) * 3.0}; })(t).a; })(v); }

// case: struct_templated_on_an_array
// expect: holds its numbers or arrays and is no tree
template <class T> struct of_arrays { T a, b; };
auto no_scalar(const vector& v) { return vjp([](const auto& t) { return of_arrays{t * 2.0, t * 3.0}; }, v).y; }
// twin:
template <class T> struct of_arrays { tensor<T, 1> a, b; };
auto no_scalar(const vector& v) { return vjp([](const auto& t) { return of_arrays<scalar_t<decltype(t)>>{t * 2.0, t * 3.0}; }, v).y; }

// case: list_of_arrays
// expect: a container of arrays that is no tree
vector listed(const std::pair<vector, std::list<vector>>& p) { return grad([](const auto& q) { return sum(q.first * q.second.front()); })(p).first; }
// twin:
vector listed(const std::pair<vector, std::map<int, vector>>& p) { return grad([](const auto& q) { return sum(q.first * q.second.at(0)); })(p).first; }

// case: list_of_pairs_with_arrays
// expect: a container of arrays that is no tree
vector paired(const std::pair<vector, std::list<std::pair<int, std::optional<vector>>>>& p) { return grad([](const auto& q) { return sum(q.first); })(p).first; }
// twin:
vector paired(const std::pair<vector, std::list<std::pair<int, std::optional<double>>>>& p) { return grad([](const auto& q) { return sum(q.first); })(p).first; }
