// Wrong use of arrays that the types can see. Format: tools/check_compile_fail.py.
#include <ttensor/all.hpp>
namespace tt = ttensor;

// case: narrowing_assignment_is_explicit
// expect: error
void narrow(const tt::tensor<double, 1>& x) { tt::tensor<float, 1> y = x; (void)y; }
// twin:
void narrow(const tt::tensor<double, 1>& x) { tt::tensor<float, 1> y = tt::to<float>(x); (void)y; }
