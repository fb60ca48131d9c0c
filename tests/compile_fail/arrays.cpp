// Wrong use of arrays that the types can see. Format: tools/check_compile_fail.py.
#include <ttensor/all.hpp>
namespace tt = ttensor;

// case: narrowing_assignment_is_explicit
// expect: error
void narrow(const tt::tensor<double, 1>& x) { tt::tensor<float, 1> y = x; (void)y; }
// twin:
void narrow(const tt::tensor<double, 1>& x) { tt::tensor<float, 1> y = tt::to<float>(x); (void)y; }

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
