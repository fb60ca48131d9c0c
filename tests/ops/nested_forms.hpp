// Views, elementwise operators on arrays, and reductions that keep axes or take all or several: the bodies of tests/gate/bodies.md taken
// apart (form_gate.hpp), for all compositions of two transforms.
#pragma once
#include "../gate/form_gate.hpp"

namespace bodies {
namespace tt = ttensor;
using tt::all, tt::axes, tt::end, tt::keepdims, tt::range;

/// The statements of the forms on arrays of a kind of scalar K. Operands are leaves, over a whole array or over a view.
template <class K> struct on {
  using leaf = tt::leaf<K, 2>;
  using array = tt::tensor<K, 2>;
  template <class A> static leaf at(const A& a) { return tt::array_detail::as_array(a); }

#define OPERATOR(name, expression)                                                       \
  static array name##_of(const leaf& a, const leaf& b) { return expression; }            \
  template <class A, class B> static array name(const A& a, const B& b) { return name##_of(at(a), at(b)); }
#define FUNCTION(name, expression)                               \
  static array name##_of(const leaf& a) { return expression; }   \
  template <class A> static array name(const A& a) { return name##_of(at(a)); }
#define WITH_NUMBER(name, expression)                                     \
  static array name##_of(const leaf& a, double n) { return expression; }  \
  template <class A> static array name(const A& a, double n) { return name##_of(at(a), n); }
  OPERATOR(add, a + b)
  OPERATOR(sub, a - b)
  OPERATOR(mul, a * b)
  OPERATOR(div, a / b)
  OPERATOR(maximum, tt::maximum(a, b))
  WITH_NUMBER(add_number, a + n)
  WITH_NUMBER(number_add, n + a)
  WITH_NUMBER(sub_number, a - n)
  WITH_NUMBER(number_sub, n - a)
  WITH_NUMBER(mul_number, a * n)
  WITH_NUMBER(number_mul, n * a)
  WITH_NUMBER(div_number, a / n)
  WITH_NUMBER(number_div, n / a)
  WITH_NUMBER(maximum_number, tt::maximum(a, n))
  FUNCTION(neg, -a)
  FUNCTION(exp, tt::exp(a))
  FUNCTION(log, tt::log(a))
  FUNCTION(sin, tt::sin(a))
  FUNCTION(cos, tt::cos(a))
  FUNCTION(tanh, tt::tanh(a))
  FUNCTION(sqrt, tt::sqrt(a))
  FUNCTION(sigmoid, tt::sigmoid(a))
  FUNCTION(leaky_relu, tt::leaky_relu(a))
  FUNCTION(cast, tt::to<double>(a))
#undef OPERATOR
#undef FUNCTION
#undef WITH_NUMBER

  // operands of other kinds and ranks
  static array add_constant(const leaf& a, const tt::tensor<double, 2>& c) { return a + c; }
  static array mul_constant(const leaf& a, const tt::tensor<double, 2>& c) { return a * c; }
  static array add_vector(const leaf& a, const tt::leaf<K, 1>& v) { return a + v; }
  static array mul_scalar(const leaf& a, const K& s) { return a * s; }
  static array full(const K& s) { return tt::tensor<double, 2>{{1.0}} * s; }
  template <class A> static auto row(const A& a) { return unsqueeze(a, 0); }

  // comparisons and what they choose; a mask is of the mapped kinds of K only
#define COMPARISON(name, sign) \
  static auto name(const leaf& a, double n) { return tt::eval(a sign n); }
  COMPARISON(less, <)
  COMPARISON(less_equal, <=)
  COMPARISON(greater, >)
  COMPARISON(greater_equal, >=)
  COMPARISON(equal, ==)
  COMPARISON(not_equal, !=)
#undef COMPARISON
  static auto greater_both(const leaf& a, const leaf& b) { return tt::eval(a > b); }
  template <class M> static array select_of(const M& m, const leaf& a, const leaf& b) { return where(m, a, b); }
  template <class M, class A, class B> static array select(const M& m, const A& a, const B& b) { return select_of(m, at(a), at(b)); }
  template <class M> static array select_number(const M& m, const leaf& a, double n) { return where(m, a, n); }
  static array mul_mask(const leaf& a, const leaf& b) { return tt::to<double>(a > 0.25) * b; }
};

// F(body, form): h and x are arrays, c is C(x.shape), o is on<K>.
#define VIEW_FORMS(F)                                                                              \
  F(reshape, o::sin(reshape(h, 3, 2)))                                                             \
  F(transpose, o::sin(reshape(transpose(h), 3, -1)))                                               \
  F(reshape_flat, o::mul(o::row(reshape(h, 6)), o::row(flatten(x))))                               \
  F(transpose, o::sin(transpose(h)))                                                               \
  F(transpose, o::sin(transpose(x * x + c * x)))                                                   \
  F(transpose, o::sin(permute(h, 1, 0)))                                                           \
  F(transpose, o::sin(moveaxis(h, 0, 1)))                                                          \
  F(transpose, o::sin(swapaxes(h, 0, 1)))                                                          \
  F(transpose_both, o::mul(transpose(h), x))                                                       \
  F(transpose_rank3, o::sin(squeeze(transpose(reshape(h, 1, 2, 3)), 2)))                           \
  F(broadcast_to, o::sin(o::mul_constant(o::at(broadcast_to(squeeze(h, 0), {2, 3})), c23)))        \
  F(broadcast_to_column, o::sin(o::mul_constant(o::at(broadcast_to(h, {2, 3})), c23)))             \
  F(slice_row, o::sin(o::row(h(1))))                                                               \
  F(slice_step, o::sin(h(all, range(0, 3, 2))))                                                    \
  F(slice_negative, o::mul(h(all, range(end, end, -1)), x))                                        \
  F(slice_negative, o::mul(flip(h, 1), x))                                                         \
  F(slice_overlap, o::mul(h(all, range(1, 3)), x(all, range(0, 2))))                               \
  F(slice_element, o::mul_scalar(o::at(h(range(0, 1), range(1, 2))), K(x(1, 2))))                  \
  F(squeeze, o::sin(o::row(squeeze(h, 1))))                                                        \
  F(unsqueeze, o::sin(unsqueeze(squeeze(h, 0), 0)))                                                \
  F(unsqueeze_last, o::mul(squeeze(unsqueeze(h, 2), 2), squeeze(unsqueeze(x, -1), -1)))
#define CAST_FORMS(F)                                                                              \
  F(cast, o::mul(o::cast(h), x))                                                                   \
  F(cast_bool, o::mul_mask(o::at(x), o::at(h)))
#define ELEMENTWISE_FORMS(F)                                                                       \
  F(add, o::add(h, o::mul(x, h)))                                                                  \
  F(add_leaf, o::mul(o::add(x, x), x))                                                             \
  F(add_scalar, o::mul(o::add_number(x, 2.5), o::number_add(h, 1.5)))                              \
  F(add_row, o::add(o::mul(x, h), o::row(sum(h, 0))))                                              \
  F(add_row, o::add_vector(o::at(o::mul(x, h)), tt::eval(sum(h, 0)).as_leaf()))                    \
  F(add_outer, o::add(transpose(h), cube()))                                                       \
  F(sub, o::sub(o::mul(x, h), h))                                                                  \
  F(sub_scalar, o::mul(o::sub_number(x, 2.5), o::number_sub(h, 1.5)))                              \
  F(sub_row, o::sub(o::mul(x, h), o::row(sum(h, 0))))                                              \
  F(sub_outer, o::sub(cube(), transpose(h)))                                                       \
  F(mul, o::mul(h, o::add_constant(o::at(x), c)))                                                  \
  F(mul_leaf, o::mul(x, x))                                                                        \
  F(mul_scalar, o::mul(o::number_mul(x, 2.5), o::mul_number(h, 1.5)))                              \
  F(mul_const, o::mul(x, o::add_constant(o::at(x), c)))                                            \
  F(mul_row, o::mul(x, o::row(sum(h, 0))))                                                         \
  F(mul_column, o::mul(x, sum(h, 1, keepdims)))                                                    \
  F(mul_outer, o::mul(transpose(h), x))                                                            \
  F(mul_reduced, o::mul_scalar(o::at(x), K(sum(h))))                                               \
  F(div, o::div(o::add_constant(o::at(x), c), o::add_number(o::mul(x, x), 2.0)))                   \
  F(div_leaf, o::div(h, o::add_number(x, 2.0)))                                                    \
  F(div_scalar, o::mul(o::div_number(h, 2.5), o::number_div(o::add_number(x, 2.0), 1.5)))          \
  F(div_row, o::div(x, o::add_number(o::row(sum(o::mul(x, x), 0)), 2.0)))                          \
  F(div_outer, o::div(transpose(h), o::add_number(o::mul(x, x), 2.0)))                             \
  F(neg, o::neg(o::mul(x, h)))                                                                     \
  F(neg_leaf, o::mul(o::neg(x), h))                                                                \
  F(exp, o::exp(x))                                                                                \
  F(exp_of, o::exp(h))                                                                             \
  F(log, o::log(o::add_number(x, 1.0)))                                                            \
  F(log_of, o::log(o::add_number(h, 1.0)))                                                         \
  F(sin, o::sin(x))                                                                                \
  F(sin_of, o::sin(h))                                                                             \
  F(cos, o::cos(x))                                                                                \
  F(cos_of, o::cos(h))                                                                             \
  F(tanh, o::tanh(x))                                                                              \
  F(tanh_of, o::tanh(h))                                                                           \
  F(sqrt, o::sqrt(o::add_number(x, 1.0)))                                                          \
  F(sqrt_of, o::sqrt(o::add_number(h, 1.0)))                                                       \
  F(sigmoid, o::sigmoid(x))                                                                        \
  F(sigmoid_of, o::sigmoid(h))                                                                     \
  F(leaky_relu, o::mul(o::leaky_relu(x), x))                                                       \
  F(leaky_relu_of, o::sin(o::leaky_relu(h)))                                                       \
  F(maximum, o::maximum(h, cube()))                                                                \
  F(maximum_scalar, o::mul(o::maximum_number(x, 0.25), h))                                         \
  F(maximum_row, o::mul(o::maximum(h, o::add_number(o::row(mean(x, 0)), 0.125)), x))               \
  F(where, o::select(o::greater(o::at(x), 0.25), o::mul(x, x), o::sin(x)))                         \
  F(where_scalar, o::mul(o::select_number(o::greater(o::at(x), 0.25), o::at(h), 0.5), x))          \
  F(where_row, o::select(o::greater(o::at(x), 0.25), o::row(sum(h, 0)), o::mul(x, x)))             \
  F(where_const, o::select(tt::eval(c > 0.0), o::mul(x, x), o::sin(x)))                            \
  F(less, o::select(o::less(o::at(x), 0.25), o::mul(x, x), o::sin(x)))                             \
  F(less_equal, o::select(o::less_equal(o::at(x), 0.25), o::mul(x, x), o::sin(x)))                 \
  F(greater_equal, o::select(o::greater_equal(o::at(x), 0.25), o::mul(x, x), o::sin(x)))           \
  F(equal, o::select(o::equal(o::at(x), 0.25), o::mul(x, x), o::sin(x)))                           \
  F(not_equal, o::select(o::not_equal(o::at(x), 0.25), o::mul(x, x), o::sin(x)))                   \
  F(greater_both, o::select(o::greater_both(o::at(h), o::at(cube())), o::mul(h, x), o::cos(x)))
#define REDUCTION_FORMS(F)                                                                         \
  F(sum_keepdims, o::mul(h, o::sin(sum(h, 1, keepdims))))                                          \
  F(mean_keepdims, o::mul(h, o::sin(mean(h, 0, keepdims))))                                        \
  F(max_keepdims, o::mul(h, o::sin(max(h, 1, keepdims))))                                          \
  F(logsumexp_keepdims, o::sub(h, logsumexp(h, 1, keepdims)))                                      \
  F(sum_all, o::sin(o::full(K(sum(h)))))                                                           \
  F(sum_leaf, o::mul(o::full(K(sum(x))), o::full(K(sum(x)))))                                      \
  F(mean_all, o::sin(o::full(K(mean(h)))))                                                         \
  F(max_all, o::sin(o::full(K(max(h)))))                                                           \
  F(min_all, o::full(K(min(h))))                                                                   \
  F(prod_all, o::full(K(prod(o::add_number(h, 1.5)))))                                             \
  F(logsumexp_all, o::full(K(logsumexp(x))))                                                       \
  F(variance_all, o::full(K(variance(h))))                                                         \
  F(stddev_all, o::full(K(stddev(h))))                                                             \
  F(norm_all, o::full(K(norm(h))))                                                                 \
  F(sum_axes02, o::sin(o::row(sum(reshape(h, 2, 2, 2), axes{0, 2}))))                              \
  F(mean_axes02, o::sin(o::row(mean(reshape(h, 2, 2, 2), axes{0, 2}))))
#if !defined(NESTED_FORMS)
#define NESTED_FORMS(F) VIEW_FORMS(F) CAST_FORMS(F) ELEMENTWISE_FORMS(F) REDUCTION_FORMS(F)
#endif

struct nested_forms {
#define ENTRY(body, ...) {#body, #__VA_ARGS__},
  static std::vector<gate::form> list() { return {NESTED_FORMS(ENTRY)}; }
#undef ENTRY
  template <class X> auto operator()(const X& x) const {
    using K = typename X::scalar;
    using o = on<K>;
    const auto c = gate::constant("C", x.shape()), c23 = gate::constant("C", 2, 3);
    const auto h = gate::h(x);
    [[maybe_unused]] const auto cube = [&] { return o::mul(o::mul(x, x), x); };
    int k = 0;
#define ENTRY(body, ...) if (k++ == gate::chosen_body) return __VA_ARGS__;
    NESTED_FORMS(ENTRY)
#undef ENTRY
    return h;
  }
};
}  // namespace bodies
