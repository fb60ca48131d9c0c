// Packs of complex numbers: two packs of real ones, so that arithmetic stays in registers. Real and imaginary parts are shuffled apart where a pack
// is loaded and together where it is stored. A lane gives the same bits whatever N is and wherever it stands, as in other packs.
#pragma once
#include <complex>

#include "math_core.hpp"
#include "pack.hpp"

TTENSOR_BEGIN

namespace simd {
// Complex numbers in memory, part after part, as two registers of real and of imaginary parts, and back.
template <class T, int N> TTENSOR_INLINE void take_apart(const T* p, pack<T, N>& re, pack<T, N>& im) {
  using V = pack<T, N>;
#if TTENSOR_HAS_REGISTERS
  if constexpr (V::registers) {
    [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
      TTENSOR_UNROLL for (int i = 0; i < V::count; ++i) {
        vec<T> low, high;
        __builtin_memcpy(&low, p + 2 * i * V::width, sizeof low);
        __builtin_memcpy(&high, p + (2 * i + 1) * V::width, sizeof high);
        re.r[i] = __builtin_shufflevector(low, high, (2 * I)...);
        im.r[i] = __builtin_shufflevector(low, high, (2 * I + 1)...);
      }
    }(std::make_integer_sequence<int, V::width>{});
    return;
  }
#endif
  if constexpr (!V::registers) {
    TTENSOR_UNROLL for (int i = 0; i < N; ++i) re.r[i] = p[2 * i], im.r[i] = p[2 * i + 1];
  }
}
template <class T, int N> TTENSOR_INLINE void put_together(const pack<T, N>& re, const pack<T, N>& im, T* p) {
  using V = pack<T, N>;
#if TTENSOR_HAS_REGISTERS
  if constexpr (V::registers) {
    [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
      TTENSOR_UNROLL for (int i = 0; i < V::count; ++i) {
        const vec<T> low = __builtin_shufflevector(re.r[i], im.r[i], (I / 2 + I % 2 * V::width)...);
        const vec<T> high = __builtin_shufflevector(re.r[i], im.r[i], ((V::width + I) / 2 + I % 2 * V::width)...);
        __builtin_memcpy(p + 2 * i * V::width, &low, sizeof low);
        __builtin_memcpy(p + (2 * i + 1) * V::width, &high, sizeof high);
      }
    }(std::make_integer_sequence<int, V::width>{});
    return;
  }
#endif
  if constexpr (!V::registers) {
    TTENSOR_UNROLL for (int i = 0; i < N; ++i) p[2 * i] = re.r[i], p[2 * i + 1] = im.r[i];
  }
}
}  // namespace simd

/// Complex numbers as two packs of real ones, so that arithmetic stays in registers.
template <class T, int N> struct pack<std::complex<T>, N> {
  static constexpr bool registers = false;  // there is no register of complex numbers
  static constexpr int width = 1, count = N, size = N;
  using value_type = std::complex<T>;
  using part = pack<T, N>;
  using mask = pack<bool, N>;
  part re, im;

  pack() = default;
  TTENSOR_HD TTENSOR_INLINE pack(part r, part i) : re(r), im(i) {}
  TTENSOR_NO_EXEC_CHECK
  TTENSOR_HD TTENSOR_INLINE pack(value_type z) : re(z.real()), im(z.imag()) {}
  /// Real numbers, and complex ones of another type.
  template <class U> TTENSOR_INLINE static pack of(const pack<U, N>& x) { return {convert<T>(x), part(T(0))}; }
  template <class U> TTENSOR_INLINE static pack of(const pack<std::complex<U>, N>& z) { return {convert<T>(z.re), convert<T>(z.im)}; }
  TTENSOR_INLINE static pack load(const value_type* p) {
    pack z;
    simd::take_apart(reinterpret_cast<const T*>(p), z.re, z.im);
    return z;
  }
  TTENSOR_INLINE void store(value_type* p) const { simd::put_together(re, im, reinterpret_cast<T*>(p)); }
  TTENSOR_INLINE value_type operator[](int i) const { return {re[i], im[i]}; }
  /// f of every lane, and of the same lanes of w.
  template <class F, class... W> TTENSOR_NOINLINE static auto each(F f, W... w) {
    using U = decltype(f(w[0]...));
    value_type lane[sizeof...(W)][N];
    int k = 0;
    (w.store(lane[k++]), ...);
    __asm__("" : "+m"(lane));  // g++ keeps registers of several numbers from call to call otherwise, and takes every number out of one
    U y[N];
    [&]<int... I>(std::integer_sequence<int, I...>) {
      for (int i = 0; i < N; ++i) y[i] = f(lane[I][i]...);
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(W))>{});
    return pack<U, N>::load(y);
  }

  /// y, and f of the lanes that are not usual.
  template <class Y, class F, class... W> TTENSOR_INLINE static Y checked(const Y& y, const mask& usual, F f, const W&... w) {
    if (TTENSOR_LIKELY(all_lanes(usual))) return y;
    return select(usual, y, each(f, w...));
  }
  /// Rounded by itself; ops::product says why.
  TTENSOR_INLINE static part times(const part& a, const part& b) {
    if constexpr (simd::plain<T>) return math::detail::rounded(a * b);
    else return a * b;
  }
  /// re^2 + im^2
  TTENSOR_INLINE part norm() const { return times(re, re) + times(im, im); }
  /// The root of norm. Where that leaves the range of T, the standard library's.
  TTENSOR_INLINE part abs() const {
    const auto one = [](value_type u) { return std::abs(u); };
    if constexpr (simd::plain<T>) {
      using L = std::numeric_limits<T>;
      const part square = norm();
      const mask usual = ((square >= part(L::min() / L::epsilon())) & (square <= part(L::max()))) | (*this == pack(T(0)));
      return checked(math::sqrt(square), usual, one, *this);
    } else {
      return each(one, *this);
    }
  }

  friend TTENSOR_INLINE pack operator+(const pack& a, const pack& b) { return {a.re + b.re, a.im + b.im}; }
  friend TTENSOR_INLINE pack operator-(const pack& a, const pack& b) { return {a.re - b.re, a.im - b.im}; }
  friend TTENSOR_INLINE pack operator-(const pack& a) { return {-a.re, -a.im}; }
  /// Where both parts are NaN, the standard library's: an infinity may stand behind them.
  friend TTENSOR_INLINE pack operator*(const pack& a, const pack& b) {
    const pack y(times(a.re, b.re) - times(a.im, b.im), times(a.re, b.im) + times(a.im, b.re));
    return checked(y, (y.re == y.re) | (y.im == y.im), [](value_type u, value_type w) { return u * w; }, a, b);
  }
  /// Floats in double, by the definition. Doubles by Smith: both parts of b over the larger one; where a step of that leaves the normal numbers, and where
  /// both parts are NaN, the standard library's.
  friend TTENSOR_INLINE pack operator/(const pack& a, const pack& b) {
    const auto one = [](value_type u, value_type w) { return u / w; };
    if constexpr (simd::plain<T> && sizeof(T) < sizeof(double)) {
      using wide = pack<std::complex<double>, N>;
      const wide u = wide::of(a), w = wide::of(b);
      const auto n = w.norm();
      const pack q = of(wide((wide::times(u.re, w.re) + wide::times(u.im, w.im)) / n,
                             (wide::times(u.im, w.re) - wide::times(u.re, w.im)) / n));
      return checked(q, (q.re == q.re) | (q.im == q.im), one, a, b);
    } else {
      using L = std::numeric_limits<T>;
      const mask upright = magnitude(b.re) < magnitude(b.im);
      const part large = select(upright, b.im, b.re), small = select(upright, b.re, b.im), ratio = small / large, most = magnitude(large);
      const part below = large + times(ratio, small), x = times(a.re, ratio), y = times(a.im, ratio);
      const pack q(select(upright, x + a.im, a.re + y) / below, select(upright, y - a.re, a.im - x) / below);
      const mask no_ratio = small == part(T(0)), by_ratio = no_ratio | (magnitude(ratio) >= part(L::min()));
      const mask by_x = no_ratio | (a.re == part(T(0))) | (magnitude(x) >= part(L::min())),
                 by_y = no_ratio | (a.im == part(T(0))) | (magnitude(y) >= part(L::min()));
      const mask in_range = (most >= part(L::min() * 4)) & (most <= part(L::max() / 4)) &
                            (magnitude(q.re) <= part(L::max())) & (magnitude(q.im) <= part(L::max()));
      return checked(q, in_range & by_ratio & by_x & by_y, one, a, b);
    }
  }
  friend TTENSOR_INLINE mask operator==(const pack& a, const pack& b) { return (a.re == b.re) & (a.im == b.im); }
  friend TTENSOR_INLINE mask operator!=(const pack& a, const pack& b) { return (a.re != b.re) | (a.im != b.im); }
  friend TTENSOR_INLINE pack select(mask m, const pack& a, const pack& b) { return {select(m, a.re, b.re), select(m, a.im, b.im)}; }
  friend TTENSOR_INLINE pack fma(const pack& a, const pack& b, const pack& c) { return a * b + c; }
  template <class F> friend TTENSOR_INLINE value_type fold(const pack& a, F f) {  // as that of the other packs
    value_type lane[N];
    a.store(lane);
    for (int h = N / 2; h > 0; h /= 2)
      for (int i = 0; i < h; ++i) lane[i] = f(lane[i], lane[i + h]);
    return lane[0];
  }

 private:
  TTENSOR_INLINE static part magnitude(const part& x) { return select(x < part(T(0)), -x, x); }
};

TTENSOR_END
