// Cholesky factor and triangular substitution of one matrix of numbers. Large ones go block by block through the matrix product.
#pragma once
#include <cmath>  // sqrt
#include "contraction.hpp"

TTENSOR_BEGIN
namespace run {

namespace linalg_detail {
inline constexpr index_t block = 64;
template <class T> inline constexpr bool has_product_v = std::is_same_v<T, float> || std::is_same_v<T, double>;
/// c -= a b, by a product with the smaller operand negated; both are read through their strides.
template <class T> void subtract_product(index_t m, index_t n, index_t k, const T* a, index_t a_row, index_t a_col,
                                         const T* b, index_t b_row, index_t b_col, T* c, index_t c_row) {
  if (m == 0 || n == 0 || k == 0) return;
  const bool left = m < n;
  scratch<T> minus((left ? m : n) * k);
  auto negate = [&](index_t rows, index_t columns, const T* x, index_t row, index_t column) {
    for (index_t i = 0; i < rows; ++i)
      for (index_t p = 0; p < columns; ++p) minus.data()[i * columns + p] = -x[i * row + p * column];
  };
  if (left) {
    negate(m, k, a, a_row, a_col);
    multiply<T>({m, n, k, k, 1, b_row, b_col, c_row, true}, minus.data(), b, c);
  } else {
    negate(k, n, b, b_row, b_col);
    multiply<T>({m, n, k, a_row, a_col, n, 1, c_row, true}, a, minus.data(), c);
  }
}
/// v - f x, rounded once where the processor has that, as in the products and in every lane of a pack.
template <class T> TTENSOR_INLINE T less_product(T v, T f, T x) {
  if constexpr (TTENSOR_HAS_FMA && has_product_v<T>) return simd::fma(T(-f), x, v);
  else return T(v - f * x);
}
/// One vector: along the rows of a, or by its columns where these are what lies together. The terms of an element have the order in
/// which they are solved.
template <class T> void substitute_vector(bool lower, index_t n, const T* a, index_t a_row, index_t a_col, T* x, index_t x_row) {
  const index_t step = lower ? 1 : -1, first = lower ? 0 : n - 1;
  const bool by_rows = (a_row < 0 ? -a_row : a_row) >= (a_col < 0 ? -a_col : a_col);
  for (index_t q = 0; q < n; ++q) {
    const index_t i = first + q * step;
    T v = x[i * x_row];
    if (by_rows)
      for (index_t r = 0; r < q; ++r) v = less_product(v, a[i * a_row + (first + r * step) * a_col], x[(first + r * step) * x_row]);
    v = v / a[i * (a_row + a_col)];
    x[i * x_row] = v;
    if (!by_rows) {
      const index_t from = lower ? i + 1 : 0, to = lower ? n : i;
      const T* column = a + i * a_col;
      for (index_t j = from; j < to; ++j) x[j * x_row] = less_product(x[j * x_row], column[j * a_row], v);
    }
  }
}
/// Vectors * lanes columns of x, in registers row by row: the same terms in the same order as those of one vector.
template <class T, int Vectors> TTENSOR_NOINLINE void substitute_columns(bool lower, index_t n, const T* a, index_t a_row, index_t a_col, T* x, index_t x_row) {
  constexpr int L = matmul_detail::tile_of<T>::lanes;
  using V = pack<T, L>;
  const index_t step = lower ? 1 : -1, first = lower ? 0 : n - 1;
  a += first * (a_row + a_col), x += first * x_row;
  for (index_t q = 0; q < n; ++q) {
    T* const row = x + q * step * x_row;
    const T* factor = a + q * step * a_row;
    V v[Vectors];
    static_for<Vectors>([&](auto k) { v[k()] = V::load(row + k() * L); });
    for (const T* other = x; other != row; other += step * x_row, factor += step * a_col) {
      const V f(-*factor);
      static_for<Vectors>([&](auto k) { v[k()] = fma(f, V::load(other + k() * L), v[k()]); });
    }
    const V pivot(*factor);
    static_for<Vectors>([&](auto k) { (v[k()] / pivot).store(row + k() * L); });
  }
}
/// Several vectors; n is at most `block`. The last columns stand in a buffer, the last one repeated.
template <class T> void substitute_packs(bool lower, index_t n, index_t m, const T* a, index_t a_row, index_t a_col, T* x, index_t x_row) {
  constexpr index_t L = matmul_detail::tile_of<T>::lanes;
  index_t c = 0;
  for (; c + 4 * L <= m; c += 4 * L) substitute_columns<T, 4>(lower, n, a, a_row, a_col, x + c, x_row);
  const index_t whole = (m - c) / L;
  if (whole == 3) substitute_columns<T, 3>(lower, n, a, a_row, a_col, x + c, x_row);
  if (whole == 2) substitute_columns<T, 2>(lower, n, a, a_row, a_col, x + c, x_row);
  if (whole == 1) substitute_columns<T, 1>(lower, n, a, a_row, a_col, x + c, x_row);
  c += whole * L;
  if (c == m) return;
  T last[block * L];
  for (index_t i = 0; i < n; ++i)
    for (index_t k = 0; k < L; ++k) last[i * L + k] = x[i * x_row + (c + k < m ? c + k : m - 1)];
  substitute_columns<T, 1>(lower, n, a, a_row, a_col, last, L);
  for (index_t i = 0; i < n; ++i)
    for (index_t k = c; k < m; ++k) x[i * x_row + k] = last[i * L + k - c];
}
}  // namespace linalg_detail

/// Overwrites x (n, m), rows `x_row` apart, with the solution of a z = x; reads the lower or the upper triangle of a only.
template <class T> void substitute(bool lower, index_t n, index_t m, const T* a, index_t a_row, index_t a_col, T* x, index_t x_row) {
  if constexpr (linalg_detail::has_product_v<T>) {
    constexpr index_t block = linalg_detail::block;
    if (n > block) {
      const index_t blocks = (n + block - 1) / block;
      for (index_t q = 0; q < blocks; ++q) {
        const index_t i = (lower ? q : blocks - 1 - q) * block, rows = n - i < block ? n - i : block, solved = lower ? 0 : i + rows;
        linalg_detail::subtract_product<T>(rows, m, lower ? i : n - solved, a + i * a_row + solved * a_col, a_row,
                                           a_col, x + solved * x_row, x_row, 1, x + i * x_row, x_row);
        substitute<T>(lower, rows, m, a + i * (a_row + a_col), a_row, a_col, x + i * x_row, x_row);
      }
      return;
    }
    if (m > 3) return linalg_detail::substitute_packs(lower, n, m, a, a_row, a_col, x, x_row);
  }
  if (m == 1) return linalg_detail::substitute_vector(lower, n, a, a_row, a_col, x, x_row);
  for (index_t q = 0; q < n; ++q) {
    const index_t i = lower ? q : n - 1 - q;
    T* row = x + i * x_row;
    for (index_t r = 0; r < q; ++r) {
      const index_t j = lower ? r : n - 1 - r;
      const T f = a[i * a_row + j * a_col];
      const T* other = x + j * x_row;
      for (index_t c = 0; c < m; ++c) row[c] = linalg_detail::less_product(row[c], f, other[c]);
    }
    const T pivot = a[i * (a_row + a_col)];
    for (index_t c = 0; c < m; ++c) row[c] = row[c] / pivot;
  }
}

/// The same where x is a tangent or cotangent: its exact zeros, and those that it turns into on the way, absorb inf and NaN.
template <class T> void substitute_absorbing(bool lower, index_t n, index_t m, const T* a, index_t a_row, index_t a_col,
                                             T* x, index_t x_row) {
  for (index_t q = 0; q < n; ++q) {
    const index_t i = lower ? q : n - 1 - q, from = lower ? 0 : i + 1, to = lower ? i : n;
    for (index_t c = 0; c < m; ++c) {
      T v = x[i * x_row + c];
      for (index_t j = from; j < to; ++j)
        if (const T z = x[j * x_row + c]; z != T(0)) v = T(v - a[i * a_row + j * a_col] * z);
      x[i * x_row + c] = v == T(0) ? T(0) : T(v / a[i * (a_row + a_col)]);
    }
  }
}

/// The lower triangle of (a + a') / 2 of a (n, n), into rows of n.
template <class T> void symmetric_part(index_t n, const T* a, index_t a_row, index_t a_col, T* y) {
  constexpr index_t tile = 8;  // by tiles: columns of 128 rows share few cache lines
  for (index_t top = 0; top < n; top += tile) {
    const index_t bottom = n - top < tile ? n : top + tile;
    for (index_t left = 0; left <= top; left += tile)
      for (index_t i = top; i < bottom; ++i)
        for (index_t j = left, right = left < top ? left + tile : i + 1; j < right; ++j) {
          const T x = a[i * a_row + j * a_col], z = a[j * a_row + i * a_col];
          y[i * n + j] = x == z ? x : T(x * T(0.5) + z * T(0.5));  // the sum of the two may be too large for a T
        }
  }
}
namespace linalg_detail {
inline constexpr index_t few = 12;  // rows of a matrix that is factored element by element
template <class T> void clear_above(index_t n, T* l, index_t row) {
  for (index_t i = 0; i < n; ++i)
    for (index_t j = i + 1; j < n; ++j) l[i * row + j] = T(0);
}
/// The lower triangle of factor_cholesky; of more than `few` rows numbers above are overwritten too.
template <class T> index_t factor_lower(index_t n, T* l, index_t row) {
  if constexpr (has_product_v<T>)
    if (n > few) {
      const index_t step = n > block ? block : 8;
      for (index_t start = 0, stop = step; start < n; start = stop, stop = n - start > step ? start + step : n) {
        T* const corner = l + start * (row + 1);
        const index_t rows = stop - start, below = n - stop;
        if (const index_t bad = factor_lower(rows, corner, row); bad >= 0) return start + bad;
        if (below == 0) break;
        T* const panel = corner + rows * row;
        scratch<T> turned(rows * below);  // panel' of x corner' = panel
        for (index_t i = 0; i < below; ++i)
          for (index_t j = 0; j < rows; ++j) turned.data()[j * below + i] = panel[i * row + j];
        substitute<T>(true, rows, below, corner, row, 1, turned.data(), below);
        for (index_t i = 0; i < below; ++i)
          for (index_t j = 0; j < rows; ++j) panel[i * row + j] = turned.data()[j * below + i];
        for (index_t top = 0, bottom = 0; top < below; top = bottom) {  // little of what stands above
          bottom = below - top > 4 * block ? top + 2 * block : below;
          subtract_product<T>(bottom - top, bottom, rows, panel + top * row, row, 1, turned.data(), below, 1, panel + rows + top * row, row);
        }
      }
      return -1;
    }
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j <= i; ++j) {
      T v = l[i * row + j];
      for (index_t p = 0; p < j; ++p) v = less_product(v, l[i * row + p], l[j * row + p]);
      if (i == j) {
        if (!(v > T(0))) {
          l[i * row + i] = v;
          return i;
        }
        using std::sqrt;
        v = sqrt(v);
      } else {
        v = v / l[j * row + j];
      }
      l[i * row + j] = v;
    }
  return -1;
}
}  // namespace linalg_detail
/// Overwrites the symmetric matrix in l (n, n) with its lower Cholesky factor, zeros above. Returns the row whose pivot (which
/// it then holds on the diagonal) is not positive, or -1. Reads the lower triangle.
template <class T> index_t factor_cholesky(index_t n, T* l, index_t row) {
  if (n > linalg_detail::few) linalg_detail::clear_above(n, l, row);  // so that products have numbers there
  const index_t bad = linalg_detail::factor_lower(n, l, row);
  linalg_detail::clear_above(n, l, row);
  return bad;
}

}  // namespace run
TTENSOR_END
