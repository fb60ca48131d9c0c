// Compiled once per instruction set, and once without exceptions. It should touch every floor that a program touches: statements, reductions,
// errors, and (as they arrive) duals, tapes and batches.
#include <cstddef>
#include <ttensor/all.hpp>

namespace tt = ttensor;

// The sizes of public types must not depend on -march; main.cpp compares them.
extern const std::size_t TTENSOR_CAT(ABI_FUNCTION, _sizes)[4];
const std::size_t TTENSOR_CAT(ABI_FUNCTION, _sizes)[4] = {sizeof(tt::tensor<double, 1>), sizeof(tt::tensor<float, 3>),
                                                          alignof(tt::tensor<double, 1>), sizeof(tt::index_t)};

double ABI_FUNCTION(double* out);  // fills out[0..6]
double ABI_FUNCTION(double* out) {
  const tt::tensor<double, 1> a{1, 2, 3, 4, 5, 6, 7};
  const tt::tensor<double, 1> y = exp(-a) * a + 1;
  for (int i = 0; i < 7; ++i) out[i] = y(i);
  const auto mismatch = [&] {
    const tt::tensor<double, 1> wrong{1, 2};
    const tt::tensor<double, 1> z = a + wrong;
    return z(0);
  };
#if defined(__cpp_exceptions)
  try {
    return mismatch();
  } catch (const tt::shape_error&) {
  }
#else
  if (!out) return mismatch();
#endif
  return sum(a * a);
}
