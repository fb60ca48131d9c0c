// Matrix products of numbers: C = A B or C += A B, any strides of A and B, C row-major. On threads by panels of C.
//
// A register tile of C (rows x vectors along n) is kept in registers while it walks k: per step one load of B a vector, one
// broadcast of A a row. Small products read A and B where they lie; larger ones copy blocks of them into contiguous panels
// that stay in the caches (Goto and van de Geijn 2008). Every element is one chain of fused multiply-adds over k within a
// block of k, so its bits do not depend on where it stands in a tile. Products with a small extent: matmul_thin.hpp.
#pragma once
#include "matmul_thin.hpp"
#include "threads.hpp"

#if defined(TTENSOR_USE_BLAS)
extern "C" {
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*, const float*, const int*, const float*,
            float*, const int*);
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*, const double*, const int*, const double*,
            double*, const int*);
}
#endif

TTENSOR_BEGIN
namespace run {
namespace matmul_detail {
/// Block sizes in elements: a panel of B (k x tile columns) stays in the first cache, a block of A (m x k) in the second.
template <class T> struct block_of {
  static constexpr index_t k = 2048 / static_cast<index_t>(sizeof(T)), m = tile_of<T>::rows * (sizeof(T) == 4 ? 24 : 16), n = 3072;
  static constexpr index_t direct = 640 * 1024 / static_cast<index_t>(sizeof(T));  // k * n up to which B is read where it lies
};

/// One tile: Rows x (Vectors * lanes) of C, of which the last `cols` columns are written, from c on.
template <class T, int Rows, int Vectors>
TTENSOR_NOINLINE void tile(index_t k, const T* a, index_t a_row, index_t a_col, const T* b, index_t b_row, T* c, index_t c_row, index_t cols, bool add) {
  constexpr int L = tile_of<T>::lanes, N = Vectors * L;
  using V = pack<T, L>;
  V acc[Rows * Vectors];  // indexed by constants alone: in a loop over them GCC 12 stores some in every turn, which halved the speed
  static_for<Rows * Vectors>([&](auto q) { acc[q()] = V(T(0)); });
  for (index_t p = 0; p < k; ++p) {
    V row[Vectors];
    static_for<Vectors>([&](auto v) { row[v()] = V::load(b + v() * L); });
    static_for<Rows>([&](auto i) {
      const V x(a[i() * a_row]);
      static_for<Vectors>([&](auto v) { acc[i() * Vectors + v()] = fma(x, row[v()], acc[i() * Vectors + v()]); });
    });
    a += a_col;
    b += b_row;
  }
  if (TTENSOR_LIKELY(cols == N)) {
    static_for<Rows * Vectors>([&](auto q) {
      T* const to = c + q() / Vectors * c_row + q() % Vectors * L;
      (add ? V::load(to) + acc[q()] : acc[q()]).store(to);
    });
  } else {
    T out[Rows * N];
    static_for<Rows * Vectors>([&](auto q) { acc[q()].store(out + q() * L); });
    for (int i = 0; i < Rows; ++i)
      for (index_t j = 0; j < cols; ++j) {
        T &to = c[i * c_row + j], y = out[(i + 1) * N - cols + j];
        to = add ? T(add_op::primal(to, y)) : y;
      }
  }
}
/// One panel of columns: tiles down the rows, the last rows in tiles of 4, 2 and 1. Packed rows of A: tiles of r rows lie one
/// after the other, each k x r.
template <class T, int Vectors>
void panel(const product& s, bool packed, const T* a, const T* b, index_t b_row, T* c, index_t cols) {
  index_t i = 0;
  auto rows = [&]<int R>(std::integral_constant<int, R>) {
    for (; s.m - i >= R; i += R)
      tile<T, R, Vectors>(s.k, packed ? a + i * s.k : a + i * s.a_row, packed ? 1 : s.a_row, packed ? R : s.a_col, b, b_row, c + i * s.c_row, s.c_row, cols, s.add);
  };
  rows(std::integral_constant<int, tile_of<T>::rows>{});
  if constexpr (tile_of<T>::rows > 4) rows(std::integral_constant<int, 4>{});
  rows(std::integral_constant<int, 2>{});
  rows(std::integral_constant<int, 1>{});
}
/// Calls f(j, columns, vectors of the panel) for every panel of n columns; `fits`: no panel has more vectors than n has.
template <class T, class F> void each_panel(index_t n, bool fits, F&& f) {
  constexpr index_t L = tile_of<T>::lanes, V = tile_of<T>::vectors;
  for (index_t j = 0; j < n;) {
    const index_t left = n - j, all = (left + L - 1) / L;
    index_t vectors = all == V + 1 && V > 2 ? V - 1 : all < V ? all : V;  // two and two, not three and a slow one
    if (fits && vectors * L > n) vectors = n / L;
    const index_t cols = left < vectors * L ? left : vectors * L;
    f(j, cols, vectors);
    j += cols;
  }
}
template <class T> void run_panel(index_t vectors, const product& s, bool packed, const T* a, const T* b, index_t b_row, T* c, index_t cols) {
  if (vectors == 1) panel<T, 1>(s, packed, a, b, b_row, c, cols);
  else if (vectors == 2) panel<T, 2>(s, packed, a, b, b_row, c, cols);
  else panel<T, tile_of<T>::vectors>(s, packed, a, b, b_row, c, cols);
}
/// Columns [0, cols) of B as rows of `width` contiguous elements, zeros before the first column.
template <class T> void pack_columns(T* to, const product& s, const T* b, index_t cols, index_t width) {
  if (s.b_col == 1) {
    for (index_t p = 0; p < s.k; ++p, b += s.b_row) {
      for (index_t j = cols; j < width; ++j) *to++ = T(0);
      for (index_t j = 0; j < cols; ++j) *to++ = b[j];
    }
  } else {
    constexpr index_t chunk = 8;  // a few rows of the panel at a time stay in the first cache
    for (index_t p = 0; p < s.k; p += chunk) {
      const index_t last = s.k - p < chunk ? s.k : p + chunk;
      for (index_t j = 0; j < cols; ++j)
        for (index_t q = p; q < last; ++q) to[(q + 1) * width - cols + j] = b[j * s.b_col + q * s.b_row];
      for (index_t q = p; q < last; ++q)
        for (index_t j = 0; j < width - cols; ++j) to[q * width + j] = T(0);
    }
  }
}
/// Rows of A in the order the tiles of panel() read them.
template <class T> void pack_rows(T* to, const product& s, const T* a) {
  for (index_t i = 0; i < s.m;) {
    const index_t left = s.m - i, r = left >= tile_of<T>::rows ? tile_of<T>::rows : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    const T* from = a + i * s.a_row;
    if (s.a_row == 1) {
      for (index_t p = 0; p < s.k; ++p, from += s.a_col)
        for (index_t q = 0; q < r; ++q) to[p * r + q] = from[q];
    } else {
      constexpr index_t chunk = 16;
      for (index_t p = 0; p < s.k; p += chunk) {
        const index_t last = s.k - p < chunk ? s.k : p + chunk;
        for (index_t q = 0; q < r; ++q)
          for (index_t u = p; u < last; ++u) to[u * r + q] = from[q * s.a_row + u * s.a_col];
      }
    }
    to += r * s.k;
    i += r;
  }
}

template <class T> void direct(const product& s, const T* a, const T* b, T* c) {
  constexpr index_t L = tile_of<T>::lanes;
  const bool in_place = s.b_col == 1 && s.n >= L;  // the last columns together with some before them, which are dropped
  each_panel<T>(s.n, in_place, [&](index_t j, index_t cols, index_t vectors) {
    const index_t width = vectors * L;
    if (in_place) return run_panel<T>(vectors, s, false, a, b + j - (width - cols), s.b_row, c + j, cols);
    T near[2048 / sizeof(T)];
    scratch<T> far;
    T* const columns = s.k * width <= index_t(2048 / sizeof(T)) ? near : far.of(s.k * width);
    pack_columns(columns, s, b + j * s.b_col, cols, width);
    run_panel<T>(vectors, s, false, a, columns, width, c + j, cols);
  });
}
template <class T> void blocked(const product& s, const T* a, const T* b, T* c) {
  using B = block_of<T>;
  constexpr index_t L = tile_of<T>::lanes, W = tile_of<T>::vectors * L;
  auto least = [](index_t x, index_t y) { return x < y ? x : y; };
  scratch<T> panels(least(s.k, B::k) * (least(s.n, B::n) + W)), rows(least(s.m, B::m) * least(s.k, B::k));
  for (index_t j = 0; j < s.n; j += B::n)
    for (index_t p = 0; p < s.k; p += B::k) {
      product t = s;
      t.n = least(s.n - j, B::n);
      t.k = least(s.k - p, B::k);
      t.add = s.add || p > 0;
      each_panel<T>(t.n, false, [&](index_t q, index_t cols, index_t vectors) {
        pack_columns(panels.data() + q * t.k, t, b + p * s.b_row + (j + q) * s.b_col, cols, vectors * L);
      });
      for (index_t i = 0; i < s.m; i += B::m) {
        t.m = least(s.m - i, B::m);
        pack_rows(rows.data(), t, a + i * s.a_row + p * s.a_col);
        each_panel<T>(t.n, false, [&](index_t q, index_t cols, index_t vectors) {
          run_panel<T>(vectors, t, true, rows.data(), panels.data() + q * t.k, vectors * L, c + i * s.c_row + j + q, cols);
        });
      }
    }
}

/// Calls f(part of the product, its A, B and C) for rows or columns of C. The bits of an element do not depend on the part it is in.
template <class T, class F> void on_threads(const product& s, const T* a, const T* b, T* c, const F& f) {
  const int team = threads_for(s.m * s.n * s.k / 2);
  if (TTENSOR_LIKELY(team == 1)) return f(s, a, b, c);
  const bool by_rows = s.m >= s.n;
  const index_t unit = by_rows ? tile_of<T>::rows : tile_of<T>::vectors * tile_of<T>::lanes;
  with_team(team, [&] {
    in_parts(0, by_rows ? s.m : s.n, unit, team, [&](index_t first, index_t last) {
      product part = s;
      (by_rows ? part.m : part.n) = last - first;
      if (by_rows) f(part, a + first * s.a_row, b, c + first * s.c_row);
      else f(part, a, b + first * s.b_col, c + first);
    });
  });
}

#if defined(TTENSOR_USE_BLAS)
inline constexpr index_t blas_from = 96 * 96 * 96;  // multiply-adds; below, the call costs more than it gains
inline void blas_gemm(const char* ta, const char* tb, const int* m, const int* n, const int* k, const float* one, const float* a, const int* la, const float* b,
                      const int* lb, const float* beta, float* c, const int* lc) {
  sgemm_(ta, tb, m, n, k, one, a, la, b, lb, beta, c, lc);
}
inline void blas_gemm(const char* ta, const char* tb, const int* m, const int* n, const int* k, const double* one, const double* a, const int* la,
                      const double* b, const int* lb, const double* beta, double* c, const int* lc) {
  dgemm_(ta, tb, m, n, k, one, a, la, b, lb, beta, c, lc);
}
/// C row-major is C' column-major, C' = B' A'. False when a stride is not one BLAS knows.
template <class T> bool blas(const product& s, const T* a, const T* b, T* c) {
  auto fits = [](index_t x) { return x > 0 && x <= 0x7fffffff; };
  auto form = [&](index_t rows, index_t cols, index_t row, index_t col, char& t, int& ld) {
    if (col == 1 && row >= cols && fits(row)) return t = 'N', ld = static_cast<int>(row), true;
    if (row == 1 && col >= rows && fits(col)) return t = 'T', ld = static_cast<int>(col), true;
    return false;
  };
  char ta = 'N', tb = 'N';
  int la = 0, lb = 0;
  if (!fits(s.m) || !fits(s.n) || !fits(s.k) || !fits(s.c_row) || s.c_row < s.n) return false;
  if (!form(s.m, s.k, s.a_row, s.a_col, ta, la) || !form(s.k, s.n, s.b_row, s.b_col, tb, lb)) return false;
  const int m = static_cast<int>(s.m), n = static_cast<int>(s.n), k = static_cast<int>(s.k), lc = static_cast<int>(s.c_row);
  const T one = 1, beta = s.add ? T(1) : T(0);
  blas_gemm(&tb, &ta, &n, &m, &k, &one, b, &lb, a, &la, &beta, c, &lc);
  return true;
}
#endif
}  // namespace matmul_detail

/// The product of numbers that have registers: float, double, 32-bit and 64-bit integers (which wrap).
template <class T> void multiply(const product& s, const T* a, const T* b, T* c) {
  using namespace matmul_detail;
  if (s.m == 0 || s.n == 0) return;
  if (s.k == 0) {
    if (!s.add)
      for (index_t i = 0; i < s.m; ++i)
        for (index_t j = 0; j < s.n; ++j) c[i * s.c_row + j] = T(0);
    return;
  }
  if (is_tiny<T>(s)) return few_elements(s, a, b, c);
  if (s.m == 1 && s.b_col != 1 && (s.b_row == 1 || s.k == 1)) return on_threads(s, a, b, c, row<T>);
  if (s.m == 1 && s.b_col == 1 && s.n >= tile_of<T>::lanes) return on_threads(s, a, b, c, row_update<T>);
  if (has_few_columns<T>(s)) return on_threads(s, a, b, c, few_columns<T>);
  if (s.k == 1 && s.b_col == 1 && s.n >= tile_of<T>::lanes) return on_threads(s, a, b, c, outer<T>);
#if defined(TTENSOR_USE_BLAS)
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    if (s.m > 1 && s.m * s.n * s.k >= blas_from && blas(s, a, b, c)) return;
#endif
  const bool few_rows = s.m <= tile_of<T>::rows;  // B is read once: copying it would not pay
  if ((s.b_col == 1 && few_rows) || s.k * s.n <= block_of<T>::direct) on_threads(s, a, b, c, direct<T>);
  else on_threads(s, a, b, c, blocked<T>);
}

}  // namespace run
TTENSOR_END
