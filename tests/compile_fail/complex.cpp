// Derivatives of complex functions that are not defined without a promise. Format: tools/check_compile_fail.py.
#include <ttensor/all.hpp>
namespace tt = ttensor;
using C = std::complex<double>;

// case: rule_21_complex_result_without_promise
// expect: pass holomorphic
auto g = tt::grad([](const auto& z) { return z * z; })(C(3, 4));
// twin:
auto g = tt::grad([](const auto& z) { return z * z; }, tt::holomorphic)(C(3, 4));

// case: rule_21_promise_with_a_real_result
// expect: holomorphic promises a complex result
auto g = tt::grad([](const auto& z) { return tt::abs(z); }, tt::holomorphic)(C(3, 4));
// twin:
auto g = tt::grad([](const auto& z) { return tt::abs(z); })(C(3, 4));

// case: rule_21_jacobian_without_promise
// expect: pass holomorphic
auto j = tt::jacfwd([](const auto& z) { return z * z; })(C(3, 4));
// twin:
auto j = tt::jacfwd([](const auto& z) { return z * z; }, tt::holomorphic)(C(3, 4));

// case: rule_21_promise_with_a_real_argument
// expect: holomorphic promises complex arguments; an argument of grad is real
auto g = tt::grad([](const auto& x) { return x * C(1, 2); }, tt::holomorphic)(3.0);
// twin:
auto g = tt::grad([](const auto& x) { return tt::real(x * C(1, 2)); })(3.0);

// case: rule_21_reverse_jacobian_of_a_real_function
// expect: holomorphic promises complex arguments and results
auto j = tt::jacrev([](const auto& z) { return tt::abs(z); }, tt::holomorphic)(C(3, 4));
// twin:
auto j = tt::jacrev([](const auto& z) { return z * z; }, tt::holomorphic)(C(3, 4));

// case: rule_21_complex_result_of_real_arguments
// expect: a Jacobian of real arguments and a complex result y is that of its parts
auto j = tt::jacfwd([](const auto& x) { return x * C(1, 2); })(3.0);
// twin:
auto j = tt::jacfwd([](const auto& x) { const auto y = x * C(1, 2); return std::pair{real(y), imag(y)}; })(3.0);

// case: rule_21_laplacian
// expect: laplacian wants real arguments
auto t = tt::laplacian([](const auto& z) { return z * z; })(C(3, 4));
// twin:
auto t = tt::laplacian([](const auto& x) { return x * x; })(3.0);

// case: function_of_real_numbers
// expect: no form for complex numbers .*give it real\(z\), imag\(z\) or abs\(z\)
// errors: 1
auto later(const tt::tensor<C, 1>& z) { return tt::eval(log1p(z)); }
// twin:
auto later(const tt::tensor<C, 1>& z) { return tt::eval(log1p(abs(z))); }

// case: order_of_complex_numbers
// expect: no form for complex numbers \(they have no order\)
// errors: 1
auto positive(const tt::tensor<C, 1>& z) { return tt::eval(z > 0); }
// twin:
auto positive(const tt::tensor<C, 1>& z) { return tt::eval(real(z) > 0); }

// case: largest_of_complex_numbers
// expect: no form for complex numbers \(they have no order\)
// errors: 1
auto largest(const tt::tensor<C, 1>& z) { return tt::max(z); }
// twin:
auto largest(const tt::tensor<C, 1>& z) { return tt::max(abs(z)); }

// case: place_of_the_smallest_of_complex_numbers
// expect: no form for complex numbers \(they have no order\)
// errors: 1
auto where_smallest(const tt::tensor<C, 2>& z) { return tt::argmin(z, 0); }
// twin:
auto where_smallest(const tt::tensor<C, 2>& z) { return tt::argmin(real(z), 0); }

// case: softmax_of_complex_numbers
// expect: no form for complex numbers
// errors: 1
auto weights(const tt::tensor<C, 1>& z) { return tt::softmax(z, 0); }
// twin:
auto weights(const tt::tensor<C, 1>& z) { return tt::softmax(abs(z), 0); }

// case: logsumexp_of_complex_numbers
// expect: no form for complex numbers
// errors: 1
auto total(const tt::tensor<C, 1>& z) { return tt::logsumexp(z); }
// twin:
auto total(const tt::tensor<C, 1>& z) { return tt::logsumexp(real(z)); }

// case: function_of_real_numbers_inside_grad
// expect: no form for complex numbers
// errors: 1
auto slope(const tt::tensor<C, 1>& z) { return tt::grad([](const auto& t) { return sum(maximum(t, 0.0)); })(z); }
// twin:
auto slope(const tt::tensor<C, 1>& z) { return tt::grad([](const auto& t) { return sum(maximum(real(t), 0.0)); })(z); }

// case: std_complex_of_transformed_parts
// expect_first: ttensor: std::complex of a value of a transform
double turned() { return tt::grad([](const auto& t) { const std::complex<std::remove_cvref_t<decltype(t)>> z{t, t}; return real(exp(z)); })(2.0); }
// twin:
double turned() { return tt::grad([](const auto& t) { return real(exp(t * C(1, 0) + t * C(0, 1))); })(2.0); }

// case: complex_numbers_become_real
// expect: complex numbers do not become real ones
auto x = tt::eval(tt::to<double>(tt::tensor<C, 1>{C(1, 2)}));
// twin:
auto x = tt::eval(tt::to<C>(tt::tensor<double, 1>{1}));

// case: complex_numbers_counted
// expect: arange<T> counts in integers or real numbers
auto x = tt::arange<C>(3);
// twin:
auto x = tt::to<C>(tt::arange<double>(3));
