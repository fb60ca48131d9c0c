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

// case: rule_21_laplacian
// expect: laplacian wants real arguments
auto t = tt::laplacian([](const auto& z) { return z * z; })(C(3, 4));
// twin:
auto t = tt::laplacian([](const auto& x) { return x * x; })(3.0);
