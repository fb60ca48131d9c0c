// Derivatives of complex functions that are not defined without a promise. Format: tools/check_compile_fail.py.
#include <ttensor/all.hpp>
namespace tt = ttensor;
using C = std::complex<double>;

// case: complex_result_without_promise
// expect: pass holomorphic
auto g = tt::grad([](const auto& z) { return z * z; })(C(3, 4));
// twin:
auto g = tt::grad([](const auto& z) { return z * z; }, tt::holomorphic)(C(3, 4));

// case: promise_with_a_real_result
// expect: holomorphic promises a complex result
auto g = tt::grad([](const auto& z) { return tt::abs(z); }, tt::holomorphic)(C(3, 4));
// twin:
auto g = tt::grad([](const auto& z) { return tt::abs(z); })(C(3, 4));

// case: jacobian_without_promise
// expect: pass holomorphic
auto j = tt::jacfwd([](const auto& z) { return z * z; })(C(3, 4));
// twin:
auto j = tt::jacfwd([](const auto& z) { return z * z; }, tt::holomorphic)(C(3, 4));
