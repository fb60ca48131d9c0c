// Errors in units of the last place, in whose terms docs/accuracy.md speaks.
#pragma once
#include <cmath>
#include <limits>

/// Of `got` for `want`, in units of the last place of want rounded to T (below the normal numbers: of the smallest one).
template <class T, class W> double ulp(T got, W want) {
  const T rounded = static_cast<T>(want);
  if (!std::isfinite(rounded) || !std::isfinite(got)) {
    if (got == rounded) return 0;
    if (std::isinf(rounded) && std::isfinite(got) && std::fabs(want) < std::ldexp(W(1), std::numeric_limits<T>::max_exponent) * W(1.0000001)) return 0.5;  // rounds to the largest
    if (std::isinf(got) && std::fabs(want) > W(std::numeric_limits<T>::max()) * W(0.9999995)) return 1;  // or just beyond it
    return (got != got) == (rounded != rounded) && (got != got || got == rounded) ? 0 : 1e9;
  }
  int e;
  std::frexp(rounded, &e);
  const int lowest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits, unit = e - std::numeric_limits<T>::digits;
  return static_cast<double>(std::fabs((static_cast<W>(got) - want) / std::ldexp(W(1), unit < lowest ? lowest : unit)));
}
