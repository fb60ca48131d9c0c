// Matrix products of complex numbers: four products of their parts, in the registers and blocks of real ones.
//
// The parts of A and B are copied into matrices of their own, so a product costs four real ones and a pass over each array. An element is
// (re re' + (-im) im', re im' + im re'): two chains over k each, added, whatever the size, so that its bits do not depend on how many rows
// there are; but one row has a loop of its own, as for real numbers. Where both parts are NaN an infinity may stand behind them: that element is
// the sum of the standard library's products.
#pragma once
#include "matmul.hpp"

TTENSOR_BEGIN
namespace run {
namespace matmul_detail {
/// A complex number as the pair that it is stored as.
template <class Z> const real_t<Z>* parts(const Z* z) { return reinterpret_cast<const real_t<Z>*>(z); }

/// c(i, j) = (re, im), or += if s.add.
template <class Z> void put_complex(const product& s, const Z* a, const Z* b, Z* c, index_t i, index_t j, real_t<Z> re, real_t<Z> im) {
  Z y(re, im);
  if (re != re && im != im) {
    y = Z(0);
    for (index_t p = 0; p < s.k; ++p) y += a[i * s.a_row + p * s.a_col] * b[p * s.b_row + j * s.b_col];
  }
  Z& to = c[i * s.c_row + j];
  to = s.add ? to + y : y;
}
/// One part (0: real, 1: imaginary) of a matrix of complex numbers, as rows; negated where `sign` is -1.
template <class T> void copy_part(T* to, const T* from, index_t rows, index_t cols, index_t row, index_t col, int part, T sign) {
  from += part;
  if (col <= row) {
    for (index_t i = 0; i < rows; ++i)
      for (index_t j = 0; j < cols; ++j) to[i * cols + j] = sign * from[2 * (i * row + j * col)];
  } else {
    for (index_t j = 0; j < cols; ++j)
      for (index_t i = 0; i < rows; ++i) to[i * cols + j] = sign * from[2 * (i * row + j * col)];
  }
}
/// One row: no copy pays.
template <class Z> void complex_row(const product& s, const Z* a, const Z* b, Z* c) {
  using T = real_t<Z>;
  scratch<T> sums(2 * s.n);
  T* const sum = sums.data();
  for (index_t j = 0; j < 2 * s.n; ++j) sum[j] = T(0);
  const bool inner = s.b_row == 1 && s.b_col != 1;  // columns of B are contiguous
  for (index_t q = 0; q < (inner ? s.n : s.k); ++q) {
    const T* from = parts(b + q * (inner ? s.b_col : s.b_row));
    if (inner) {
      for (index_t p = 0; p < s.k; ++p) {
        const T re = parts(a + p * s.a_col)[0], im = parts(a + p * s.a_col)[1], x = from[2 * p], y = from[2 * p + 1];
        sum[2 * q] += re * x - im * y;
        sum[2 * q + 1] += re * y + im * x;
      }
    } else {
      const T re = parts(a + q * s.a_col)[0], im = parts(a + q * s.a_col)[1];
      for (index_t j = 0; j < s.n; ++j) {
        const T x = from[2 * j * s.b_col], y = from[2 * j * s.b_col + 1];
        sum[2 * j] += re * x - im * y;
        sum[2 * j + 1] += re * y + im * x;
      }
    }
  }
  for (index_t j = 0; j < s.n; ++j) put_complex(s, a, b, c, 0, j, sum[2 * j], sum[2 * j + 1]);
}
/// A few multiply-adds.
template <class Z> void complex_tiny(const product& s, const Z* a, const Z* b, Z* c) {
  using V = pack<real_t<Z>, 1>;
  for (index_t i = 0; i < s.m; ++i)
    for (index_t j = 0; j < s.n; ++j) {
      V sum[4] = {V(0), V(0), V(0), V(0)};
      for (index_t p = 0; p < s.k; ++p) {
        const auto *x = parts(a + i * s.a_row + p * s.a_col), *y = parts(b + p * s.b_row + j * s.b_col);
        sum[0] = fma(V(x[0]), V(y[0]), sum[0]);
        sum[1] = fma(V(-x[1]), V(y[1]), sum[1]);
        sum[2] = fma(V(x[0]), V(y[1]), sum[2]);
        sum[3] = fma(V(x[1]), V(y[0]), sum[3]);
      }
      put_complex(s, a, b, c, i, j, (sum[0] + sum[1])[0], (sum[2] + sum[3])[0]);
    }
}
template <class Z> void complex_parts(const product& s, const Z* a, const Z* b, Z* c) {
  using T = real_t<Z>;
  const index_t left = s.m * s.k, right = s.k * s.n, out = s.m * s.n;
  scratch<T> all(3 * left + 2 * right + 2 * out);
  T *const re = all.data(), *const im = re + left, *const minus_im = im + left, *const x = minus_im + left, *const y = x + right, *const u = y + right, *const v = u + out;
  copy_part(re, parts(a), s.m, s.k, s.a_row, s.a_col, 0, T(1));
  copy_part(im, parts(a), s.m, s.k, s.a_row, s.a_col, 1, T(1));
  copy_part(minus_im, parts(a), s.m, s.k, s.a_row, s.a_col, 1, T(-1));
  copy_part(x, parts(b), s.k, s.n, s.b_row, s.b_col, 0, T(1));
  copy_part(y, parts(b), s.k, s.n, s.b_row, s.b_col, 1, T(1));
  product one{s.m, s.n, s.k, s.k, 1, s.n, 1, s.n, false};
  multiply(one, re, x, u);
  multiply(one, re, y, v);
  one.add = true;
  multiply(one, minus_im, y, u);
  multiply(one, im, x, v);
  for (index_t i = 0; i < s.m; ++i)
    for (index_t j = 0; j < s.n; ++j) put_complex(s, a, b, c, i, j, u[i * s.n + j], v[i * s.n + j]);
}
}  // namespace matmul_detail

/// The product of complex numbers.
template <class Z> void multiply_complex(const product& s, const Z* a, const Z* b, Z* c) {
  if (s.m == 1) matmul_detail::complex_row(s, a, b, c);
  else if (s.m * s.n * s.k <= 2 * matmul_detail::tiny_up_to) matmul_detail::complex_tiny(s, a, b, c);
  else matmul_detail::complex_parts(s, a, b, c);
}

}  // namespace run
TTENSOR_END
