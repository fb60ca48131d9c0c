// What the contract of the transforms refuses at compile time, by rule. Format: tools/check_compile_fail.py.
#include <ttensor/all.hpp>
#include <memory>
#include <ttensor/num/complex.hpp>
namespace tt = ttensor;
using namespace ttensor;
using vec = tensor<double, 1>;

// case: rule_4_a_taped_tensor_is_not_a_tensor_of_numbers
// expect: error
double stripped(const vec& v) { return tt::grad([](const auto& x) { vec y = x; return sum(x * y); })(v)(0); }
// twin:
double stripped(const vec& v) { return tt::grad([](const auto& x) { vec y = value_of(x); return sum(x * y); })(v)(0); }

// case: rule_4_a_mapped_value_is_not_a_number
// expect: error
vec mapped(const vec& v) { return vmap([](auto x) { double d = x; return x * d; })(v); }
// twin:
vec mapped(const vec& v) { return vmap([](auto x) { auto d = x; return x * d; })(v); }

// case: rule_4_a_number_does_not_collect_taped_values
// expect: a number has no place for a scalar of a transform \[TT-L01\]
vec collected(const vec& v) { return tt::grad([](const auto& x) { double s = 0; for (int i = 0; i < 3; ++i) s += x(i) * x(i); return s; })(v); }
// twin:
vec collected(const vec& v) { return tt::grad([](const auto& x) { tt::scalar_t<decltype(x)> s = 0; for (int i = 0; i < 3; ++i) s += x(i) * x(i); return s; })(v); }

// case: rule_4_a_number_does_not_collect_elements
// expect: a number has no place for a scalar of a transform \[TT-L01\]
double collected(const vec& v) { return tt::grad([](auto x) { double s = 0; s += x(0); return s; })(v)(0); }
// twin:
double collected(vec v) { double plain = v(0); plain += v(1); return tt::grad([&](auto x) { return x(0) * plain; })(v)(0); }

// case: rule_4_item_and_to_host_of_a_live_level
// expect: ttensor: item of a value of a live transform would drop its derivative or its examples; compute with x.0. or sum.x., or take value_of
// expect: ttensor: to_host of a value of a live transform; take value_of
// errors: 7
double taped_item(double x) { return tt::grad([](const auto& t) { return t * item(t); })(x); }
double taped_item(const vec& v) { return tt::grad([](const auto& x) { return sum(x) * item(x * x); })(v)(0); }
vec taped_host(const vec& v) { return tt::grad([](const auto& x) { return sum(x * to_host(x)); })(v); }
vec mapped_item(const vec& v) { return vmap([](const auto& x) { return x * item(x); })(v); }
tensor<double, 2> mapped_host(const tensor<double, 2>& m) { return vmap([](const auto& x) { return eval(x * to_host(x)); })(m); }
double dual_item(double x) { return tt::jvp([](const auto& t) { return t * item(t * t); }, x, 1.0).y_dot; }
vec dual_host(const vec& v) { return tt::jvp([](const auto& x) { return eval(x * to_host(x * x)); }, v, v).y_dot; }
// twin:
double taped_item(double x) { return tt::grad([](const auto& t) { return t * item(value_of(t)); })(x); }
double taped_item(const vec& v) { return tt::grad([](const auto& x) { return sum(x) * item(value_of(x * x)); })(v)(0); }
vec taped_host(const vec& v) { return tt::grad([](const auto& x) { return sum(x * to_host(value_of(x))); })(v); }
vec mapped_item(const vec& v) { return vmap([](const auto& x) { return x * x; })(v) * item(v); }
tensor<double, 2> mapped_host(const tensor<double, 2>& m) { return vmap([](const auto& x) { return eval(x * x); })(m) * to_host(m); }
double dual_item(double x) { return tt::jvp([](const auto& t) { return t * item(value_of(t * t)); }, x, 1.0).y_dot; }
vec dual_host(const vec& v) { return tt::jvp([](const auto& x) { return eval(x * to_host(value_of(x * x))); }, v, v).y_dot; }

// case: rule_5_grad_wants_a_scalar_result
// expect: scalar result \(rank 0\); take sum\(\.\.\.\) of the result, or use jacobian
auto of_vector(const vec& v) { return tt::grad([](const auto& x) { return eval(x * x); })(v); }
// twin:
auto of_vector(const vec& v) { return tt::grad([](const auto& x) { return sum(x * x); })(v); }

// case: rule_5_a_pair_wants_has_aux
// expect: a function that returns std::pair\{value, auxiliary\} wants has_aux
auto of_pair(const vec& v) { return tt::grad([](const auto& x) { return std::pair{sum(x), x}; })(v); }
// twin:
auto of_pair(const vec& v) { return tt::grad([](const auto& x) { return std::pair{sum(x), x}; }, has_aux)(v); }

// case: rule_5_has_aux_wants_a_pair
// expect: with has_aux the function returns two things
auto without_aux(const vec& v) { return tt::grad([](const auto& x) { return sum(x); }, has_aux)(v); }
// twin:
auto without_aux(const vec& v) { return tt::grad([](const auto& x) { return sum(x); })(v); }

// case: rule_5_grad_wants_a_real_floating_result
// expect: real floating-point result, this one is an integer
auto of_integer(double x) { return tt::grad([](auto t) { return t > 0.0 ? 1 : 2; })(x); }
// twin:
auto of_integer(double x) { return tt::grad([](auto t) { return t > 0.0 ? t : -t; })(x); }

// case: rule_5_integer_arguments_need_allow_int
// expect: without floating-point parts
auto by_integer(int n) { return tt::grad<0, 1>([](auto x, auto k) { return x * k; })(2.0, n); }
// twin:
auto by_integer(int n) { return tt::grad<0, 1>([](auto x, auto k) { return x * k; }, allow_int)(2.0, n); }

// case: rule_5_jvp_of_an_integer
// expect: without floating-point parts
auto along_integer(int n) { return tt::jvp([](auto k) { return k * 2.0; }, n, 1); }
// twin:
auto along_integer(int n) { return tt::jvp([](auto k) { return k * 2.0; }, double(n), 1); }

// case: rule_6_argument_number_out_of_range
// expect: argument number.* is out of range
auto third(double x) { return tt::grad<2>([](auto a, auto b) { return a * b; })(x, x); }
// twin:
auto third(double x) { return tt::grad<1>([](auto a, auto b) { return a * b; })(x, x); }

// case: rule_6_argument_number_of_a_jacobian_given_twice
// expect: an argument number of a Jacobian is given twice
auto twice(const tt::tensor<double, 1>& x) { return tt::jacrev<0, -2>([](const auto& a, const auto& b) { return a * b; })(x, x); }
// twin:
auto twice(const tt::tensor<double, 1>& x) { return tt::jacrev<0, -1>([](const auto& a, const auto& b) { return a * b; })(x, x); }

// case: rule_6_argument_number_given_twice
// expect: an argument number is given twice
auto twice(double x) { return tt::grad<1, -1>([](auto a, auto b) { return a * b; })(x, x); }
// twin:
auto twice(double x) { return tt::grad<1, -2>([](auto a, auto b) { return a * b; })(x, x); }

// case: rule_9_tangent_of_another_structure
// expect: another structure than its argument or result
auto structure(double x) { return tt::jvp([](const auto& t) { return t.first * t.second; }, std::pair{x, x}, std::tuple{x, x, x}); }
// twin:
auto structure(double x) { return tt::jvp([](const auto& t) { return t.first * t.second; }, std::pair{x, x}, std::pair{x, x}); }

// case: rule_9_tangent_of_another_rank
// expect: another (structure|rank) than its argument or result
auto rank(const vec& v, const tensor<double, 2>& m) { return tt::jvp([](const auto& t) { return sum(t); }, v, m); }
// twin:
auto rank(const vec& v, const tensor<double, 2>& m) { return tt::jvp([](const auto& t) { return sum(t); }, v, vec(m(0))); }

// case: rule_9_cotangent_of_another_element_type
// expect: another element type than its argument or result
auto element(const vec& v, const tensor<float, 1>& ct) { return tt::vjp([](const auto& t) { return t * t; }, v).pull(ct); }
// twin:
auto element(const vec& v, const tensor<float, 1>& ct) { return tt::vjp([](const auto& t) { return t * t; }, v).pull(to<double>(ct)); }

// case: rule_12_nothing_is_mapped
// expect: vmap needs at least one mapped argument
auto unmapped(const vec& v) { return vmap([](const auto& x) { return x * x; }, in_axes<none>)(v); }
// twin:
auto unmapped(const vec& v) { return vmap([](const auto& x) { return x * x; }, in_axes<0>)(v); }

// case: rule_12_a_number_has_no_axis
// expect: vmap maps over an axis, and this argument has none; pass in_axes<none>
// errors: 1
vec number(const vec& v) { return vmap([](const auto& x, const auto& y) { return x * y; })(v, 2.0); }
// twin:
vec number(const vec& v) { return vmap([](const auto& x, const auto& y) { return x * y; }, in_axes<0, none>)(v, 2.0); }

// case: a_parameter_of_a_fixed_type
// expect: lacks that level. Make the parameter of the function that the transform was given auto
// errors: 1
auto fixed_type(const vec& v) { return tt::grad([](const vec& x) { return sum(x * x); })(v); }
// twin:
auto fixed_type(const vec& v) { return tt::grad([](const auto& x) { return sum(x * x); })(v); }

// case: rule_15_a_mapped_value_into_a_tensor_without_the_level
// expect: a value of a newer transform level is written into an element of a tensor that lacks that level
auto into(const vec& v) { return vmap([](auto x) { vec a(2); a(0) = x; return sum(a) * x; })(v); }
// twin:
auto into(const vec& v) { return vmap([](auto x) { tensor<decltype(x), 1> a(2); a(0) = x; return sum(a) * x; })(v); }

// case: rule_15_a_newer_value_into_a_tensor_of_an_older_level
// expect: a value of a newer transform level is written .* pass closing_over
auto older(double x) {
  return tt::grad([](auto t) { tensor<decltype(t), 1> a(2); return tt::grad([&](auto y) { a(0) = y * t; return sum(a) * y; })(2.0) * t; })(x);
}
// twin:
auto older(double x) {
  return tt::grad([](auto t) { return tt::grad([&](auto y) { tensor<decltype(y), 1> a(2); a(0) = y * t; return sum(a) * y; }, closing_over(t))(2.0) * t; })(x);
}

// Rule 21, complex numbers: complex.cpp.

// case: rule_16_a_single_key_has_no_axis
// expect: a single key has none; pass split\(key, n\)
auto one_key(const rng& key, const vec& v) { return vmap([](const auto& k, const auto& x) { return x * normal<double>(k, {2}); })(key, v); }
// twin:
auto one_key(const rng& key, const vec& v) { return vmap([](const auto& k, const auto& x) { return x * normal<double>(k, {2}); })(split(key, v.size()), v); }

// case: more_than_64_operands_under_a_gradient
// expect: more than 64 arrays and numbers in a statement that is differentiated
#define EIGHT (v + v + v + v + v + v + v + v)
auto many(const tt::tensor<double, 1>& x) {
  return tt::grad([](const auto& v) { return sum(EIGHT + EIGHT + EIGHT + EIGHT + EIGHT + EIGHT + EIGHT + EIGHT + v); })(x);
}
// twin:
#define EIGHT (v + v + v + v + v + v + v + v)
auto many(const tt::tensor<double, 1>& x) {
  return tt::grad([](const auto& v) { return sum(EIGHT + EIGHT); })(x);
}

// case: more_than_256_arrays_in_a_statement
// only: gcc
// expect_first: too many arrays in one statement; evaluate a part with eval\(\) first
#define EIGHT (x + x + x + x + x + x + x + x)
#define EIGHTY (EIGHT + EIGHT + EIGHT + EIGHT + EIGHT + EIGHT + EIGHT + EIGHT + EIGHT + EIGHT)
vec very_many(const vec& x) { return EIGHTY + EIGHTY + EIGHTY + EIGHT + EIGHT; }
// twin:
#define EIGHT (x + x + x + x + x + x + x + x)
#define EIGHTY (EIGHT + EIGHT + EIGHT + EIGHT + EIGHT + EIGHT + EIGHT + EIGHT + EIGHT + EIGHT)
vec very_many(const vec& x) { return eval(EIGHTY + EIGHTY) + EIGHTY + EIGHT + EIGHT; }

// case: more_than_128_parts_of_operands_in_third_order
// expect: too many arrays in one statement; evaluate a part with eval\(\) first
#define EIGHT (v + v + v + v + v + v + v + v)
double third(const vec& x) {
  const auto f = [](const auto& v) { return sum(EIGHT + EIGHT + EIGHT + EIGHT + EIGHT); };
  const auto slope = [f](const auto& v) { return tt::jvp(f, v, v).y_dot; };
  return tt::grad([slope](const auto& v) { return tt::jvp(slope, v, v).y_dot; })(x)(0);
}
// twin:
#define EIGHT (v + v + v + v + v + v + v + v)
double third(const vec& x) {
  const auto f = [](const auto& v) { return sum(eval(EIGHT + EIGHT + EIGHT) + EIGHT + EIGHT); };
  const auto slope = [f](const auto& v) { return tt::jvp(f, v, v).y_dot; };
  return tt::grad([slope](const auto& v) { return tt::jvp(slope, v, v).y_dot; })(x)(0);
}

// case: names_of_names_beyond_what_a_program_takes
// expect_first: too many arrays in one statement; evaluate a part with eval\(\) first
using pairs = tt::tensor<double, 2>;
auto energies(const pairs& a, const pairs& b, double box) {
  const auto d = a - b;
  const auto m = d - box * round(d / box);
  const auto r2 = m * m + m * m + m * m + 1.0;
  const auto i2 = 1.0 / r2;
  const auto i6 = i2 * i2 * i2;
  return sum((i6 * i6 - i6) * square(1.0 - r2 / 6.25));
}
// twin:
using pairs = tt::tensor<double, 2>;
auto energies(const pairs& a, const pairs& b, double box) {
  const auto d = a - b;
  const auto m = tt::eval(d - box * round(d / box));
  const auto r2 = tt::eval(m * m + m * m + m * m + 1.0);
  const auto i2 = 1.0 / r2;
  const auto i6 = i2 * i2 * i2;
  return sum((i6 * i6 - i6) * square(1.0 - r2 / 6.25));
}

// case: a_function_of_other_parameters
// expect: does not take these arguments
auto two(double x) { return tt::grad([](const auto& a, const auto& b) { return a * b; })(x); }
// twin:
auto two(double x) { return tt::grad([](const auto& a, const auto& b) { return a * b; })(x, x); }

// case: a_function_of_double
// expect: does not take these arguments
auto plain(double x) { return tt::jvp([c = 2.0](double t) { return c * t; }, x, 1.0); }
// twin:
auto plain(double x) { return tt::jvp([c = 2.0](const auto& t) { return c * t; }, x, 1.0); }

// case: a_function_of_an_array_of_doubles
// expect: does not take these arguments
auto product() { return tt::jacfwd([](const std::array<double, 2>& x) { return x[0] * x[1]; })(std::array{1.0, 2.0}); }
// twin:
auto product() { return tt::jacfwd([](const auto& x) { return x[0] * x[1]; })(std::array{1.0, 2.0}); }

// case: a_function_without_return
// expect: returns nothing
auto nothing(double x) { return tt::grad([](const auto& t) { (void)(t * t); })(x); }
// twin:
auto nothing(double x) { return tt::grad([](const auto& t) { return t * t; })(x); }

// case: writing_at_mapped_positions
// expect: x\(i\) at a mapped position i is read only; where\(arange
auto put(const tt::tensor<double, 2>& x, const tt::tensor<int, 1>& i) {
  return vmap([](const auto& row, const auto& at) {
    auto y = row;
    y(at) = 1.0;
    return y;
  })(x, i);
}
// twin:
auto put(const tt::tensor<double, 2>& x, const tt::tensor<int, 1>& i) {
  return vmap([](const auto& row, const auto& at) { return tt::eval(where(tt::arange<int>(3) == at, 1.0, row)); })(x, i);
}

// case: an_auxiliary_part_and_a_third
// expect: this one returns more: put the others into one tuple
auto with_aux(const tt::tensor<double, 1>& x) { return tt::grad([](const auto& t) { return std::tuple{sum(t), t(0), t(1)}; }, has_aux)(x); }
// twin:
auto with_aux(const tt::tensor<double, 1>& x) { return tt::grad([](const auto& t) { return std::tuple{sum(t), std::tuple{t(0), t(1)}}; }, has_aux)(x); }

// case: auxiliary_part_of_a_jacobian
// expect: with has_aux the function returns two things
auto with_aux(const tt::tensor<double, 1>& x) { return tt::jacrev([](const auto& t) { return t * t; }, has_aux)(x); }
// twin:
auto with_aux(const tt::tensor<double, 1>& x) { return tt::jacrev([](const auto& t) { return std::pair{t * t, sum(t)}; }, has_aux)(x); }

// case: gradient_of_a_mask
// expect: this one is an integer or a mask
auto of_mask(double x) { return tt::grad([](const auto& t) { return t > 0.0; })(x); }
// twin:
auto of_mask(double x) { return tt::grad([](const auto& t) { return where(t > 0.0, t, 0.0); })(x); }

// case: curried_jvp
// expect: take the point x and the vector v, shaped as x, in the call that takes f
auto pushed(const tt::tensor<double, 1>& x) { return tt::jvp([](const auto& t) { return t * t; })(x, x); }
// twin:
auto pushed(const tt::tensor<double, 1>& x) { return tt::jvp([](const auto& t) { return t * t; }, x, x); }

// case: product_without_a_vector
// expect: take the point x and the vector v, shaped as x, in the call that takes f
void product(const tt::tensor<double, 1>& x) { tt::hvp([](const auto& t) { return sum(t * t); }, x); }
// twin:
void product(const tt::tensor<double, 1>& x) { tt::hvp([](const auto& t) { return sum(t * t); }, x, x); }

// case: curried_linearize
// expect: linearize needs at least one argument, in the call that takes f
void linear(const tt::tensor<double, 1>& x) { tt::linearize([](const auto& t) { return t * t; })(x); }
// twin:
void linear(const tt::tensor<double, 1>& x) { tt::linearize([](const auto& t) { return t * t; }, x); }

// case: the_body_of_scan_returns_two_things
// expect: the body of scan returns two things, std::pair.carry, y.
auto three(const tt::tensor<double, 1>& xs) { return tt::scan([](const auto& c, const auto& x) { return std::tuple(c + x, c, x); }, 0.0, xs); }
// twin:
auto three(const tt::tensor<double, 1>& xs) { return tt::scan([](const auto& c, const auto& x) { return std::tuple(c + x, std::pair(c, x)); }, 0.0, xs); }

// case: the_function_of_scan_stands_first
// expect: scan.body, carry, xs.: the function stands first
auto sums(const tt::tensor<double, 1>& xs) { return tt::scan(0.0, xs, [](const auto& c, const auto& x) { return std::pair(c + x, c); }); }
// twin:
auto sums(const tt::tensor<double, 1>& xs) { return tt::scan([](const auto& c, const auto& x) { return std::pair(c + x, c); }, 0.0, xs); }

// case: the_functions_of_while_loop_stand_first
// expect: while_loop.continue_if, body, state.: the functions stand first
auto root(double a) { return tt::while_loop(a, [](const auto& x) { return x > 2; }, [](const auto& x) { return sqrt(x); }); }
// twin:
auto root(double a) { return tt::while_loop([](const auto& x) { return x > 2; }, [](const auto& x) { return sqrt(x); }, a); }

// case: pullback_of_a_function_that_moves_only
// expect: keep a copy of the function
struct moves_only { std::unique_ptr<double> p; auto operator()(const auto& x) const { return x * *p; } };
auto of_moved(moves_only f) { return ttensor::vjp(f, 2.0).y; }
// twin:
struct moves_only { std::shared_ptr<double> p; auto operator()(const auto& x) const { return x * *p; } };
auto of_moved(moves_only f) { return ttensor::vjp(f, 2.0).y; }

// case: mutable_body_of_a_loop
// expect: a transform or a loop was given does not take these arguments
auto counting(double x) { return ttensor::for_loop(3, [n = 0](int, const auto& t) mutable { return t + n++; }, x); }
// twin:
auto counting(double x) { return ttensor::for_loop(3, [n = 0](int i, const auto& t) { return t + n + i; }, x); }

// case: checkpoint_of_a_function_that_moves_only
// expect: checkpoint keeps a copy of its function
struct kept_by_one { std::unique_ptr<double> p; auto operator()(const auto& x) const { return x * *p; } };
double checkpointed(double x) { return ttensor::grad(ttensor::checkpoint(kept_by_one{std::make_unique<double>(2.0)}))(x); }
// twin:
struct kept_by_one { std::shared_ptr<double> p; auto operator()(const auto& x) const { return x * *p; } };
double checkpointed(double x) { return ttensor::grad(ttensor::checkpoint(kept_by_one{std::make_shared<double>(2.0)}))(x); }

// case: laplacian_has_no_auxiliary_part
// expect: has_aux is for grad, value_and_grad, jvp, vjp, per_sample_grad, Jacobians and hessian
auto with_aux(const tt::tensor<double, 1>& x) { return tt::laplacian([](const auto& t) { return std::pair{sum(t), t}; }, has_aux)(x); }
// twin:
auto with_aux(const tt::tensor<double, 1>& x) { return tt::laplacian([](const auto& t) { return sum(t); })(x); }

// case: vmap_is_not_strict
// expect: strict asks for derivatives; give it to the transform inside
auto mapped(const tt::tensor<double, 1>& x) { return tt::vmap([](auto t) { return t * t; }, strict)(x); }
// twin:
auto mapped(const tt::tensor<double, 1>& x) { return tt::vmap(tt::grad([](auto t) { return t * t; }, strict))(x); }

// case: a_rule_gives_a_gradient_for_each_argument
// expect: ttensor: a custom rule returns a tuple with one gradient for each argument \(of a key and of integers anything, 0\)
vec scaled(const vec& v) {
  const auto f = tt::custom_vjp([](const auto& x, const auto& n) { return eval(x * n); }, [](const auto& x, const auto& n) { return std::pair(eval(x * n), n); },
                                [](const auto& n, const auto& ct) { return eval(n * ct); });
  return tt::grad([f](const auto& x) { return sum(f(x, 3)); })(v);
}
// twin:
vec scaled(const vec& v) {
  const auto f = tt::custom_vjp([](const auto& x, const auto& n) { return eval(x * n); }, [](const auto& x, const auto& n) { return std::pair(eval(x * n), n); },
                                [](const auto& n, const auto& ct) { return std::tuple(eval(n * ct), 0); });
  return tt::grad([f](const auto& x) { return sum(f(x, 3)); })(v);
}

// case: custom_rule_of_one_result
// expect: the rule of custom_jvp returns two things
double lone(double x) { return tt::grad(tt::custom_jvp([](auto t) { return t * t; }, [](auto t, auto d) { return 2.0 * t * d; }))(x); }
// twin:
double lone(double x) { return tt::grad(tt::custom_jvp([](auto t) { return t * t; }, [](auto t, auto d) { return std::pair(t * t, 2.0 * t * d); }))(x); }

// case: linearize_at_an_integer
// expect: a derivative with respect to an argument without floating-point parts
double tangent(double x) { return tt::linearize([](auto t, auto n) { return t * n; }, x, 2).y; }
// twin:
double tangent(double x) { return tt::linearize([](auto t, auto n) { return t * n; }, x, 2.0).y; }
