// namespace ttensor::math: one overload set for float, double, packs of them, and device code. The commonest also take half and bfloat16; the others get floats, by ops::in_float.
#pragma once
#include "math_atan.hpp"
#include "math_exp.hpp"
#include "math_hyperbolic.hpp"
#include "math_libm.hpp"
#include "math_log.hpp"
#include "math_pow.hpp"
#include "math_special.hpp"
#include "math_trig.hpp"

TTENSOR_BEGIN
namespace math {
// half and bfloat16: computed in float, rounded once more.
#define TTENSOR_MATH_HALF(name)                                                                  \
  TTENSOR_HD TTENSOR_INLINE half name(half x) { return half(name(float(x))); }                   \
  TTENSOR_HD TTENSOR_INLINE bfloat16 name(bfloat16 x) { return bfloat16(name(float(x))); }
TTENSOR_MATH_HALF(abs)
TTENSOR_MATH_HALF(sqrt)
TTENSOR_MATH_HALF(exp)
TTENSOR_MATH_HALF(log)
TTENSOR_MATH_HALF(sin)
TTENSOR_MATH_HALF(cos)
TTENSOR_MATH_HALF(tanh)
TTENSOR_MATH_HALF(sigmoid)
#undef TTENSOR_MATH_HALF
#define TTENSOR_MATH_HALF(name)                                                                               \
  TTENSOR_HD TTENSOR_INLINE half name(half x, half y) { return half(name(float(x), float(y))); }              \
  TTENSOR_HD TTENSOR_INLINE bfloat16 name(bfloat16 x, bfloat16 y) { return bfloat16(name(float(x), float(y))); }
TTENSOR_MATH_HALF(maximum)
TTENSOR_MATH_HALF(minimum)
#undef TTENSOR_MATH_HALF
// num/complex.hpp defines these for complex numbers and packs of them.
struct complex_only;
void real(const complex_only&);
void imag(const complex_only&);
void conj(const complex_only&);
void arg(const complex_only&);
void norm(const complex_only&);
}  // namespace math
TTENSOR_END

#undef TTENSOR_MATH_UNARY
#undef TTENSOR_MATH_DEVICE_1
#undef TTENSOR_MATH_DEVICE_2
#undef TTENSOR_MATH_SCALAR
