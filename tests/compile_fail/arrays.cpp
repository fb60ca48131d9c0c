// Wrong use of arrays that the types can see. Format: tools/check_compile_fail.py.
#include <ttensor/all.hpp>
namespace tt = ttensor;

// case: a_rank_below_0
// expect: the rank of a tensor is the number of its axes, 0 or more
// errors: 1
auto nothing() { return tt::tensor<double, -1>{}; }
// twin:
auto nothing() { return tt::tensor<double, 0>{}; }

// case: an_extent_below_0
// expect: an extent is 0 or more, or dyn
auto nothing() { return tt::fixed<double, -2>{}; }
// twin:
auto nothing() { return tt::fixed<double, 0>{}; }

// case: abs_of_a_mask
// expect: masks are combined with && || !
// errors: 1
auto size(const tt::tensor<double, 1>& x) { return tt::eval(abs(x > 0)); }
// twin:
auto size(const tt::tensor<double, 1>& x) { return tt::eval(abs(tt::to<int>(x > 0))); }

// case: narrowing_assignment_is_explicit
// expect: error
void narrow(const tt::tensor<double, 1>& x) { tt::tensor<float, 1> y = x; (void)y; }
// twin:
void narrow(const tt::tensor<double, 1>& x) { tt::tensor<float, 1> y = tt::to<float>(x); (void)y; }

// case: a_number_of_a_higher_kind
// expect: narrowing is never implicit
// errors: 1
void fill(tt::tensor<int, 1>& x) { x = 0.5; }
// twin:
void fill(tt::tensor<float, 1>& x, double a) { x = a; }

// case: an_array_of_floats_into_halves
// expect: narrowing is never implicit
void narrow(tt::tensor<tt::half, 1>& h, const tt::tensor<float, 1>& f) { h = f; }
// twin:
void narrow(tt::tensor<tt::half, 1>& h, const tt::tensor<float, 1>& f) { h = tt::to<tt::half>(f) * 2.0; }

// case: a_number_of_a_higher_kind_in_full
// expect: narrowing is never implicit
// errors: 1
auto filled() { return tt::full<int>({2}, 0.5); }
// twin:
auto filled() { return tt::full<float>({2}, 1); }

// case: a_function_of_numbers_without_a_form
// expect: this function has a form for float, double, half, bfloat16 and complex numbers
// errors: 1
auto grown(const tt::tensor<long double, 1>& x) { return eval(exp(x)); }
// twin:
auto grown(const tt::tensor<long double, 1>& x) { return eval(x * x); }

// case: flat_braces_are_not_extents
// expect: Braces are elements, one level for each axis
auto two_by_three() { return tt::tensor<double, 2>{2, 3}; }
// twin:
auto two_by_three() { return tt::tensor<double, 2>(2, 3); }

// case: flat_braces_of_taped_elements
// expect: Braces are elements, one level for each axis
auto column(const tt::var<double>& x) { return tt::tensor<tt::var<double>, 2>{x, x}; }
// twin:
auto column(const tt::var<double>& x) { return tt::tensor<tt::var<double>, 2>{{x}, {1.0}}; }

// case: powers_are_not_written_with_a_caret
// expect: write square\(x\) or pow\(x, n\)
// errors: 1
void power(const tt::tensor<double, 1>& x) { tt::tensor<double, 1> y = x ^ 2; (void)y; }
// twin:
void power(const tt::tensor<double, 1>& x) { tt::tensor<double, 1> y = pow(x, 2); (void)y; }

// case: powers_inside_a_transform
// expect: write square\(x\) or pow\(x, n\)
// errors: 1
auto slope(const tt::tensor<double, 1>& x) { return tt::grad([](const auto& t) { return sum(t ^ 2); })(x); }
// twin:
auto slope(const tt::tensor<double, 1>& x) { return tt::grad([](const auto& t) { return sum(square(t)); })(x); }

// case: masks_of_real_numbers
// expect: & \| \^ ~ are for integers and masks
// errors: 1
auto both(const tt::tensor<double, 1>& x, const tt::tensor<double, 1>& y) { return tt::eval(x & y); }
// twin:
auto both(const tt::tensor<double, 1>& x, const tt::tensor<double, 1>& y) { return tt::eval((x > 0) & (y > 0)); }

// case: complement_of_a_real_number
// expect: & \| \^ ~ are for integers and masks
// errors: 1
auto complement(const tt::tensor<float, 1>& x) { return tt::eval(~x); }
// twin:
auto complement(const tt::tensor<int, 1>& x) { return tt::eval(~x); }

// case: several_axes_of_a_reduction
// expect: several axes of a reduction are one argument
auto total(const tt::tensor<double, 2>& x) { return sum(x, 0, 1); }
// twin:
auto total(const tt::tensor<double, 2>& x) { return sum(x, tt::axes{0, 1}); }

// case: an_element_of_an_expression
// expect: an expression has no elements before it is evaluated
auto first(const tt::tensor<double, 1>& x) { return (x + 1.0)(0); }
// twin:
auto first(const tt::tensor<double, 1>& x) { return tt::eval(x + 1.0)(0); }

// case: an_element_in_brackets_of_an_expression
// expect: an expression has no elements before it is evaluated
auto first_in_brackets(const tt::tensor<double, 1>& x) { return (x + 1.0)[0]; }
// twin:
auto first_in_brackets(const tt::tensor<double, 1>& x) { return tt::eval(x + 1.0)[0]; }

// case: a_mask_as_an_index
// expect: arrays are not indices
void positive(tt::tensor<double, 1>& x) { x(x < 0) = 0; }
// twin:
void positive(tt::tensor<double, 1>& x) { x = where(x < 0, 0, x); }

// case: elements_are_not_written_in_a_loop_over_them
// expect: read-only|non-const|const
void twice(tt::tensor<double, 1>& x) { for (auto&& v : x) v *= 2.0; }
// twin:
void twice(tt::tensor<double, 1>& x) { for (tt::index_t i = 0; i < x.size(); ++i) x(i) *= 2.0; }

// case: sums_of_masks
// expect: masks are combined with && \|\| !; to calculate with them write to<int>\(mask\)
// errors: 1
auto votes(const tt::tensor<double, 1>& x) { return tt::eval((x > 1) + (x > 2)); }
// twin:
auto votes(const tt::tensor<double, 1>& x) { return tt::eval(tt::to<int>(x > 1) + tt::to<int>(x > 2) + (x > 3)); }

// case: negated_mask
// expect: masks are combined with && \|\| !
// errors: 1
auto negated(const tt::tensor<double, 1>& x) { return tt::eval(-(x > 1)); }
// twin:
auto negated(const tt::tensor<double, 1>& x) { return tt::eval(!(x > 1)); }

// case: fixed_extents_that_do_not_broadcast
// expect: extents of fixed tensors in this statement do not broadcast
double total(const tt::fixed<double, 2, 2>& a, const tt::fixed<double, 3>& b) { return sum(a + b); }
// twin:
double total(const tt::fixed<double, 2, 3>& a, const tt::fixed<double, 3>& b) { return sum(a + b); }

// case: fixed_extents_of_an_assignment
// expect: extents of a fixed tensor differ from those of the expression
// errors: 1
void twice(tt::fixed<double, 3>& y, const tt::fixed<double, 2>& x) { y = 2 * x; }
// twin:
void twice(tt::fixed<double, 3>& y, const tt::fixed<double, 3>& x) { y = 2 * x; }

// case: inner_extents_in_the_types
// expect: matmul of arrays whose types have different inner extents
// errors: 1
auto product(const tt::fixed<double, 2, 3>& a, const tt::tensor<double, tt::extents<4, tt::dyn>>& b) { return matmul(a, b); }
// twin:
auto product(const tt::fixed<double, 2, 3>& a, const tt::tensor<double, tt::extents<3, tt::dyn>>& b) { return matmul(a, b); }

// case: view_of_a_read_only_view
// expect: this is a view of a const tensor, which is read only
// errors: 1
void f(const tt::tensor<double, 2>& c) { transpose(transpose(c)) = 0.0; }
// twin:
void f(tt::tensor<double, 2>& c) { transpose(transpose(c)) = 0.0; }

// case: fixed_extents_of_none_and_three
// expect: extents of fixed tensors in this statement do not broadcast
double total(const tt::fixed<double, 0>& z, const tt::fixed<double, 3>& t) { return sum(z + t); }
// twin:
double total(const tt::fixed<double, 1>& z, const tt::fixed<double, 3>& t) { return sum(z + t); }

// case: fixed_extents_of_an_assignment_to_one
// expect: extents of a fixed tensor differ from those of the expression
// errors: 1
void twice(tt::fixed<double, 3, 1>& y, const tt::fixed<double, 3, 4>& x) { y = 2 * x; }
// twin:
void twice(tt::fixed<double, 3, 1>& y, const tt::fixed<double, 3, 1>& x) { y = 2 * x; }

// case: max_with_a_number
// expect: element by element it is maximum\(x, y\)
tt::tensor<double, 1> ramp(const tt::tensor<double, 1>& x) { return max(x, 0.0); }
// twin:
tt::tensor<double, 1> ramp(const tt::tensor<double, 1>& x) { return maximum(x, 0.0); }

// case: an_expression_variable_is_not_assigned
// expect: an auto variable that was given an expression has that expression's type and takes no other; begin with auto d = eval
tt::tensor<double, 1> wrapped(const tt::tensor<double, 1>& x) {
  auto d = x - 1.0;
  d = d - round(d);
  return d;
}
// twin:
tt::tensor<double, 1> wrapped(const tt::tensor<double, 1>& x) {
  auto d = eval(x - 1.0);
  d = d - round(d);
  return d;
}

// case: an_expression_variable_is_not_changed
// expect: an auto variable that was given an expression has no elements to change
tt::tensor<double, 1> doubled(const tt::tensor<double, 1>& x) {
  auto d = x - 1.0;
  d *= 2.0;
  return d;
}
// twin:
tt::tensor<double, 1> doubled(const tt::tensor<double, 1>& x) {
  auto d = eval(x - 1.0);
  d *= 2.0;
  return d;
}

// case: an_index_is_no_string
// expect: an index is an integer, all .a whole axis
// errors: 1
void column(const tt::tensor<double, 2>& x) { (void)x(":", 0); }
// twin:
void column(const tt::tensor<double, 2>& x) { (void)x(tt::all, 0); }

// case: an_index_is_no_real_number
// expect: an index is an integer, all .a whole axis
// errors: 1
void middle(const tt::tensor<double, 1>& x) { (void)x(0.5 * 3); }
// twin:
void middle(const tt::tensor<double, 1>& x) { (void)x(3 / 2); }

// case: a_view_of_a_temporary_container
// expect: a view of a temporary, whose memory is gone
// errors: 1
auto borrowed() { return tt::view(std::vector<double>{1, 2}); }
// twin:
auto borrowed(std::vector<double>& v) { return tt::view(v); }

// case: a_container_of_another_type
// expect: narrowing is never implicit
// errors: 1
auto copied(const std::vector<double>& v) { return tt::tensor<float, 1>(v); }
// twin:
auto copied(const std::vector<float>& v) { return tt::tensor<double, 1>(v); }

// case: braces_of_values_of_a_newer_level
// expect: values of a newer transform level in the braces of a tensor
// errors: 1
auto turned(const tt::dual<double>& t) { return tt::tensor<double, 2>{{cos(t), -sin(t)}, {sin(t), cos(t)}}; }
// twin:
auto turned(const tt::dual<double>& t) { return tt::tensor{{cos(t), -sin(t)}, {sin(t), cos(t)}}; }

// case: an_element_of_a_transposed_expression
// expect: an expression has no elements before it is evaluated
// errors: 1
double corner(const tt::tensor<double, 2>& x) { return transpose(x + 1.0)(0, 1); }
// twin:
double corner(const tt::tensor<double, 2>& x) { return transpose(x)(0, 1) + tt::eval(transpose(x + 1.0))(0, 1); }

// case: taped_numbers_of_a_vector
// expect: a value of a newer transform level is written into a tensor whose element type lacks that level
double slope() {
  return tt::grad([](const auto& x) {
    const std::vector<tt::scalar_t<decltype(x)>> parts{x, x * x};
    return sum(tt::tensor<double, 1>(parts));
  })(2.0);
}
// twin:
double slope() {
  return tt::grad([](const auto& x) {
    const std::vector<tt::scalar_t<decltype(x)>> parts{x, x * x};
    return sum(tt::tensor(parts));
  })(2.0);
}

// case: a_vector_has_one_axis
// expect: deleted function
tt::tensor<double, 2> matrix(const std::vector<double>& v) { return tt::tensor<double, 2>(v); }
// twin:
tt::tensor<double, 2> matrix(const std::vector<double>& v) { return tt::view(v, {2, 3}); }

// case: a_list_narrows
// expect: narrowing is never implicit
#include <list>
tt::tensor<float, 1> narrowed(const std::list<double>& v) { return tt::tensor<float, 1>(v); }
// twin:
#include <list>
tt::tensor<float, 1> narrowed(const std::list<double>& v) { return tt::to<float>(tt::tensor<double, 1>(v)); }

// case: rows_of_integers_narrow
// expect: narrowing is never implicit
tt::tensor<int, 2> narrowed(const std::vector<std::vector<std::int64_t>>& v) { return tt::tensor<int, 2>(v); }
// twin:
tt::tensor<std::int64_t, 2> narrowed(const std::vector<std::vector<int>>& v) { return tt::tensor<std::int64_t, 2>(v); }

// case: a_vector_of_arrays
// expect_first: ttensor: .* copies numbers, not arrays.*y\(i\) = v\[i\]
// errors: 1
tt::tensor<double, 2> stacked(const std::vector<tt::tensor<double, 1>>& v) {
  tt::tensor x(v);
  return tt::tensor<double, 2>(2, 3);
}
// twin:
tt::tensor<double, 2> stacked(const std::vector<tt::tensor<double, 1>>& v) {
  tt::tensor<double, 2> y(static_cast<tt::index_t>(v.size()), v[0].extent(0));
  for (std::size_t i = 0; i < v.size(); ++i) y(static_cast<tt::index_t>(i)) = v[i];
  return y;
}

// case: an_array_of_arrays
// expect_first: ttensor: .* copies numbers, not arrays
// errors: 1
tt::tensor<double, 2> stacked(const tt::fixed<double, 3>& a, const tt::fixed<double, 3>& b) {
  const tt::fixed<double, 3> rows[] = {a, b};
  return tt::tensor<double, 2>(rows);
}
// twin:
tt::tensor<double, 2> stacked(const double (&a)[3], const double (&b)[3]) {
  const double rows[2][3] = {{a[0], a[1], a[2]}, {b[0], b[1], b[2]}};
  return tt::tensor<double, 2>(rows);
}

// case: a_mask_is_no_condition
// expect: an array is no condition
bool same(const tt::tensor<double, 1>& x, const tt::tensor<double, 1>& y) {
  if (x == y) return true;
  return false;
}
// twin:
bool same(const tt::tensor<double, 1>& x, const tt::tensor<double, 1>& y) {
  if (tt::all(x == y)) return true;
  return false;
}

// case: elements_of_an_expression_in_a_loop
// expect: an expression has no elements before it is evaluated
double total(const tt::tensor<double, 1>& x) {
  double s = 0;
  for (double v : x + x) s += v;
  return s;
}
// twin:
double total(const tt::tensor<double, 1>& x) {
  double s = 0;
  const auto twice = tt::eval(x + x);
  for (double v : twice) s += v;
  return s;
}

// case: elements_that_are_no_numbers
// expect: this element type is no number
struct money { double value; };
tt::tensor<money, 1> account() { return {}; }
// twin:
tt::tensor<double, 1> account() { return {}; }

// case: more_indices_than_axes_of_a_view
// expect: more indices than
// errors: 1
void corner(tt::tensor<double, 2>& m) { static_cast<void>(m(0, 1, 0)); }
// twin:
void corner(tt::tensor<double, 2>& m) { static_cast<void>(m(0, 1)); }

// case: flat_braces_for_a_view_of_two_axes
// expect: flat braces for a tensor of two or more axes
void fill(tt::tensor<double, 2>& m) { m(tt::range(0, 1), tt::range(0, 2)) = {1, 2}; }
// twin:
void fill(tt::tensor<double, 2>& m) { m(tt::range(0, 1), tt::range(0, 2)) = {{1, 2}}; }

// case: text_in_an_element
// expect: what is written into an element is no number
void label(tt::tensor<double, 1>& x) { x(0) = "a"; }
// twin:
void label(tt::tensor<double, 1>& x) { x(0) = 'a'; }

// case: a_complex_number_in_a_real_element
// expect: a complex number is written into a real element; take real\(z\) or abs\(z\)
void store(tt::tensor<double, 1>& x, std::complex<double> z) { x(0) = z; }
// twin:
void store(tt::tensor<double, 1>& x, std::complex<double> z) { x(0) = real(z); }

// case: an_array_in_an_element
// expect: an array is written into an element; write a number
void first(tt::tensor<double, 1>& x, const tt::tensor<double, 1>& y) { x(0) = y; }
// twin:
void first(tt::tensor<double, 1>& x, const tt::tensor<double, 1>& y) { x(0) = y(0); }

// case: fixed_of_other_extents
// expect: the extents of a fixed tensor differ from those of the array that it is assigned from
void other_extents(tt::fixed<double, 2>& a, const tt::fixed<double, 3>& b) { a = b; }
// twin:
void other_extents(tt::fixed<double, 2>& a, const tt::fixed<double, 2>& b) { a = b; }

// case: mixed_of_other_extents_to_fixed
// expect: the extents of a fixed tensor differ from those of the array that it is assigned from
void mixed_extents(tt::fixed<double, 2, 2>& a, const tt::tensor<double, tt::extents<tt::dyn, 3>>& b) { a = b; }
// twin:
void mixed_extents(tt::fixed<double, 2, 2>& a, const tt::tensor<double, tt::extents<tt::dyn, 2>>& b) { a = b; }

// case: extent_and_value
// expect: use of deleted function|call to deleted constructor
auto extent_and_value() { return tt::tensor<double, 1>(1000, 1.0); }
// twin:
auto extent_and_value() { return tt::tensor<double, 1>(tt::full({1000}, 1.0)); }

// case: more_extents_than_axes
// expect: use of deleted function|call to deleted constructor
auto more_extents() { return tt::tensor<double, 1>(2, 3); }
// twin:
auto more_extents() { return tt::tensor<double, 2>(2, 3); }

// case: fewer_extents_than_axes
// expect: use of deleted function|uses deleted function
// errors: 1
auto fewer_extents() { return tt::tensor<double, 2>(2); }
// twin:
auto fewer_extents() { return tt::tensor<double, 2>(2, 1); }

// case: zeros_without_a_type
// expect: zeros wants the element type: zeros<double>
auto z() { return tt::zeros({2, 3}); }
// twin:
auto z() { return tt::zeros<double>({2, 3}); }

// case: full_without_braces
// expect: full takes the extents in braces, or a shape, and then the value
auto f() { return tt::full<double>(2, 3); }
// twin:
auto f() { return tt::full<double>({2}, 3); }

// case: load_npy_without_a_rank
// expect: load_npy wants the element type and the rank
auto z() { return tt::load_npy<double>("a.npy"); }
// twin:
auto z() { return tt::load_npy<double, 1>("a.npy"); }

// case: max_of_two_arrays
// expect: element by element it is maximum\(x, y\)
auto m(const tt::tensor<double, 1>& x, const tt::tensor<double, 1>& y) { return tt::eval(max(x, y + 1)); }
// twin:
auto m(const tt::tensor<double, 1>& x, const tt::tensor<double, 1>& y) { return tt::eval(maximum(x, y + 1)); }

// case: cond_without_its_operand
// expect: does not take these arguments
auto c() { return tt::cond(true, [](auto v) { return v; }, [](auto v) { return -v; }); }
// twin:
auto c() { return tt::cond(true, [](auto v) { return v; }, [](auto v) { return -v; }, 1.0); }

// case: shift_by_a_real_number
// expect: << and >> shift integers by integers
// errors: 1
auto shifted(const tt::tensor<int, 1>& i) { return tt::eval(i << 2.5); }
// twin:
auto shifted(const tt::tensor<int, 1>& i) { return tt::eval(i << 2); }

// case: mixed_extents_that_do_not_broadcast
// expect: extents in the types of two tensors do not broadcast
auto summed(const tt::tensor<double, tt::extents<tt::dyn, 3>>& a, const tt::tensor<double, tt::extents<tt::dyn, 4>>& b) { return a + b; }
// twin:
auto summed(const tt::tensor<double, tt::extents<tt::dyn, 3>>& a, const tt::tensor<double, tt::extents<tt::dyn, 1>>& b) { return a + b; }

// case: mixed_extents_of_an_assignment
// expect: extents in the types of two tensors differ
void copied(tt::tensor<double, tt::extents<tt::dyn, 3>>& a, const tt::fixed<double, 2, 4>& b) { a = b; }
// twin:
void copied(tt::tensor<double, tt::extents<tt::dyn, 3>>& a, const tt::fixed<double, 2, 3>& b) { a = b; }
