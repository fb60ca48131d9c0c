// Matrix products of complex numbers: four products of their parts, in the registers and blocks of real ones.
//
// Where rows of B are contiguous they are rows of twice as many real numbers: two real products. Else the parts of A and B are copied into
// matrices of their own, so a product costs four real ones and a pass over each array. An element is (re re' + (-im) im', re im' + im re'):
// two chains over k each, added, whatever the size, so that its bits do not depend on how many rows there are; but one row has a loop of its
// own, as for real numbers. Where both parts are NaN an infinity may stand behind them: that element is the sum of the standard library's products.
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
/// A few multiply-adds, or a row whose strides no loop over registers takes.
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
/// Contiguous rows of B, as rows of twice as many real numbers: the product with the real parts of A, that with its imaginary parts, and the two added.
template <class Z> void complex_rows(const product& s, const Z* a, const Z* b, Z* c) {
  using T = real_t<Z>;
  constexpr index_t few = 1024 / static_cast<index_t>(sizeof(T));
  const index_t n = 2 * s.n, size = s.m * n;
  T near[few];
  scratch<T> far;
  T *const u = 2 * size <= few ? near : far.of(2 * size), *const v = u + size;
  const product one{s.m, n, s.k, 2 * s.a_row, 2 * s.a_col, 2 * s.b_row, 1, n, false};
  multiply(one, parts(a), parts(b), u);
  multiply(one, parts(a) + 1, parts(b), v);
  for (index_t i = 0; i < s.m; ++i)
    for (index_t j = 0; j < s.n; ++j) {
      const index_t k = i * n + 2 * j;
      put_complex(s, a, b, c, i, j, u[k] - v[k + 1], u[k + 1] + v[k]);
    }
}
/// One row, and columns of B that are contiguous: (re, -im) and (im, re) times (re', im').
template <class Z> void complex_row(const product& s, const Z* a, const Z* b, Z* c) {
  using T = real_t<Z>;
  const index_t k = s.k, n = s.n;
  scratch<T> all(4 * k + 2 * n);
  T *const p = all.data(), *const q = p + 2 * k, *const u = q + 2 * k, *const v = u + n;
  for (index_t i = 0; i < k; ++i) {
    const T re = parts(a + i * s.a_col)[0], im = parts(a + i * s.a_col)[1];
    p[2 * i] = re, p[2 * i + 1] = -im, q[2 * i] = im, q[2 * i + 1] = re;
  }
  const product one{1, n, 2 * k, 2 * k, 1, 1, 2 * s.b_col, n, false};
  multiply(one, p, parts(b), u);
  multiply(one, q, parts(b), v);
  for (index_t j = 0; j < n; ++j) put_complex(s, a, b, c, 0, j, u[j], v[j]);
}
template <class Z> void complex_parts(const product& s, const Z* a, const Z* b, Z* c) {
  using T = real_t<Z>;
  const index_t left = s.m * s.k, right = s.k * s.n, out = s.m * s.n;
  scratch<T> all(3 * left + 2 * right + 2 * out);
  T *const re = all.data(), *const im = re + left, *const minus_im = im + left, *const x = minus_im + left,
           *const y = x + right, *const u = y + right, *const v = u + out;
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
  using namespace matmul_detail;
  const bool one_row = s.m == 1, tiny = s.m * s.n * s.k <= 2 * tiny_up_to;
  // Rows of pairs pay for tiny products where they fill registers. In large ones they lie too far apart for the first cache: 128 x 128 takes longer than by parts.
  const bool pairs_pay = one_row || (tiny ? s.n % 4 == 0 : s.k * s.n <= 64 * 64);
  if (s.b_col == 1 && pairs_pay) complex_rows(s, a, b, c);
  else if (one_row && s.b_row == 1) complex_row(s, a, b, c);
  else if (one_row || tiny) complex_tiny(s, a, b, c);
  else complex_parts(s, a, b, c);
}

}  // namespace run
TTENSOR_END
