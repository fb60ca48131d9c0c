// Products in which one extent is small: a row, one link, few columns, few elements in all. They read A and B where they lie.
#pragma once
#include "../base/meta.hpp"
#include "../mem/pool.hpp"
#include "../num/pack.hpp"
#include "../ops/arithmetic.hpp"

TTENSOR_BEGIN
namespace run {

/// Extents of a product and where its elements lie (strides in elements). `add`: C += A B, else C = A B.
struct product {
  index_t m, n, k;
  index_t a_row, a_col, b_row, b_col, c_row;
  bool add;
  /// c = A b as c' = b' A', one row; true: the operands have changed places.
  bool turn_column() {
    if (n != 1 || m == 1) return false;
    *this = {1, m, k, b_col, b_row, a_col, a_row, m, add};
    return true;
  }
};

/// Memory of n elements for the time of one call.
template <class T> struct scratch : mem::room {
  scratch() = default;
  explicit scratch(index_t n) : room(static_cast<std::size_t>(n) * sizeof(T)) {}
  T* of(index_t n) { return take(static_cast<std::size_t>(n) * sizeof(T)), data(); }
  T* data() { return reinterpret_cast<T*>(ptr); }
};

namespace matmul_detail {
/// The register tile: accumulators fill the register file but for one row of B and one broadcast of A.
template <class T> struct tile_of {
  static constexpr int lanes = native_width_v<T>;
  static constexpr int rows = TTENSOR_SIMD_BYTES == 64 ? 8 : TTENSOR_SIMD_BYTES == 32 ? 6 : 4;
  static constexpr int vectors = TTENSOR_SIMD_BYTES == 64 ? 3 : 2;
};
inline constexpr index_t tiny_up_to = 64;  // multiply-adds
#if TTENSOR_HAS_REGISTERS
/// Registers of rows of Length lanes each: neighbours become one register in which every row is half as long, the sum of its halves (the tree of
/// pack::fold), until each lane is the sum of a row. Of an odd one the second half is the first again.
template <int Length, class T, int N, int Count> TTENSOR_INLINE void fold_rows(pack<T, N> (&v)[Count]) {
  if constexpr (Length > 1) {
    constexpr int next = (Count + 1) / 2;
    pack<T, N> half[next];
    static_for<next>([&](auto i) {
      const auto x = v[2 * i()].r[0], y = v[2 * i() + 1 < Count ? 2 * i() + 1 : 2 * i()].r[0];
      [&]<int... L>(std::integer_sequence<int, L...>) {
        constexpr int h = Length / 2;  // lane L of the result: lane L % h of row L / h
        half[i()].r[0] = __builtin_shufflevector(x, y, (L / h * Length + L % h)...) + __builtin_shufflevector(x, y, (L / h * Length + L % h + h)...);
      }(std::make_integer_sequence<int, N>{});
    });
    fold_rows<Length / 2>(half);
    TTENSOR_UNROLL for (int i = 0; i < next; ++i) v[i] = half[i];
  }
}
#endif
/// to[q] = the sum of the lanes of v[q], plus to[q] if `add`.
template <class T, int N, int Q> TTENSOR_INLINE void put_sums(pack<T, N> (&v)[Q], T* to, bool add) {
#if TTENSOR_HAS_REGISTERS
  if constexpr (pack<T, N>::registers && pack<T, N>::count == 1 && Q > 1) {
    fold_rows<N>(v);
    T sums[Q * N];
    TTENSOR_UNROLL for (int i = 0; i * N < Q; ++i) v[i].store(sums + i * N);
    for (int q = 0; q < Q; ++q) to[q] = add ? T(add_op::primal(to[q], sums[q])) : sums[q];
    return;
  }
#endif
  for (int q = 0; q < Q; ++q) {
    const T sum = fold(v[q], [](auto x, auto y) { return static_cast<T>(add_op::primal(x, y)); });
    to[q] = add ? T(add_op::primal(to[q], sum)) : sum;
  }
}
/// One row: c(n) = a(k) B. Columns of B that are contiguous along k are inner products, eight at a time.
template <class T> void row(const product& s, const T* a, const T* b, T* c) {
  constexpr index_t N = tile_of<T>::lanes;
  using V = pack<T, tile_of<T>::lanes>;
  const index_t whole = s.k / N * N, left = s.k - whole;
  auto from = [&](const T* x) {
    T last[N];  // the last elements of x: with k >= N the last N elements, those before `whole` taken as 0
    const bool overlap = left > 0 && whole > 0;
    for (index_t i = 0; i < N; ++i) last[i] = overlap && i >= N - left ? x[s.k - N + i] : T(0);
    T counted[N];
    for (index_t i = 0; i < N; ++i) counted[i] = i >= N - left ? T(1) : T(0);
    const V tail = V::load(last);
    const auto inside = V::load(counted) > V(T(0));
    auto dots = [&]<int Q>(std::integral_constant<int, Q>, index_t j) {
      const T* col = b + j * s.b_col;
      V acc[Q];
      TTENSOR_UNROLL for (int q = 0; q < Q; ++q) acc[q] = V(T(0));
      for (index_t p = 0; p < whole; p += N) {
        const V v = V::load(x + p);
        TTENSOR_UNROLL for (int q = 0; q < Q; ++q) acc[q] = fma(v, V::load(col + q * s.b_col + p), acc[q]);
      }
      if (overlap) {
        TTENSOR_UNROLL for (int q = 0; q < Q; ++q) acc[q] = fma(tail, select(inside, V::load(col + q * s.b_col + s.k - N), V(T(0))), acc[q]);
      }
      if (overlap || whole == s.k) return put_sums(acc, c + j, s.add);
      T total[Q]{};  // fewer elements than a register
      for (index_t p = 0; p < s.k; ++p)
        for (int q = 0; q < Q; ++q) total[q] = fma(pack<T, 1>(x[p]), pack<T, 1>(col[q * s.b_col + p]), pack<T, 1>(total[q]))[0];
      for (int q = 0; q < Q; ++q) c[j + q] = s.add ? T(add_op::primal(c[j + q], total[q])) : total[q];
    };
    index_t j = 0;
    for (; j + 8 <= s.n; j += 8) dots(std::integral_constant<int, 8>{}, j);
    for (; j < s.n; ++j) dots(std::integral_constant<int, 1>{}, j);
  };
  if (s.a_col == 1) return from(a);
  scratch<T> x(s.k);
  for (index_t p = 0; p < s.k; ++p) x.data()[p] = a[p * s.a_col];
  from(x.data());
}
/// One row: c(n) = a(k) B with contiguous rows of B, at least one register wide: eight rows of B at a time are added to c.
/// From the last row to the first, because the transposed product before it (a gradient comes after its value) went the
/// other way, and the rows it read last are still in the caches.
template <class T> void row_update(const product& s, const T* a, const T* b, T* c) {
  constexpr index_t N = tile_of<T>::lanes, width = 8192 / static_cast<index_t>(sizeof(T));  // columns at a time: c stays in the first cache
  using V = pack<T, tile_of<T>::lanes>;
  if (!s.add)
    for (index_t j = 0; j < s.n; ++j) c[j] = T(0);
  for (index_t first = 0; first < s.n;) {
    index_t cols = s.n - first < width + N ? s.n - first : width;
    const index_t whole = cols / N * N, left = cols - whole;
    const T* from = b + first;
    T* to = c + first;
    V tail = V(T(0));  // of the last columns: the sums of the last N columns
    index_t p = s.k;
    auto add = [&]<int Q>(std::integral_constant<int, Q>) {
      for (; p >= Q;) {
        p -= Q;
        V x[Q];
        const T* rows = from + p * s.b_row;
        TTENSOR_UNROLL for (int q = 0; q < Q; ++q) x[q] = V(a[(p + q) * s.a_col]);
        auto column = [&](index_t j) {
          V sum = x[0] * V::load(rows + j);
          TTENSOR_UNROLL for (int q = 1; q < Q; ++q) sum = fma(x[q], V::load(rows + q * s.b_row + j), sum);
          return sum;
        };
        for (index_t j = 0; j < whole; j += N) (V::load(to + j) + column(j)).store(to + j);
        if (left > 0) tail = tail + column(cols - N);
      }
    };
    add(std::integral_constant<int, 8>{});
    add(std::integral_constant<int, 1>{});
    T last[N];
    tail.store(last);
    for (index_t j = whole; j < cols; ++j) to[j] = T(add_op::primal(to[j], last[N - cols + j]));
    first += cols;
  }
}

/// k = 1: rows of C are the one row of B times an element of A, written one after the other. The chain of a tile, of one link.
template <class T> void outer(const product& s, const T* a, const T* b, T* c) {
  constexpr index_t N = tile_of<T>::lanes;
  const auto put = [&]<int W>(std::integral_constant<int, W>, T x, index_t j, T* to) {
    using V = pack<T, W>;
    const V y = fma(V(x), V::load(b + j), V(T(0)));
    (s.add ? V::load(to + j) + y : y).store(to + j);
  };
  for (index_t i = 0; i < s.m; ++i) {
    const T x = a[i * s.a_row];
    T* const to = c + i * s.c_row;
    index_t j = 0;
    for (; j + N <= s.n; j += N) put(std::integral_constant<int, N>{}, x, j, to);
    for (; j < s.n; ++j) put(std::integral_constant<int, 1>{}, x, j, to);
  }
}

/// Whether a product is too small for tiles: a few elements, or columns for one register and a part of another. One register exactly, and more rows, are
/// what tiles are as fast at (8 x 8 doubles with AVX-512: 48 ns, a few rows at a time 50; 16 x 16 160 and 270).
template <class T> bool is_tiny(const product& s) {
  const index_t steps = s.m * s.n * s.k;
  return steps <= tiny_up_to || (steps <= 1024 && s.b_col == 1 && s.n < 2 * tile_of<T>::lanes && s.n != tile_of<T>::lanes);
}
/// Whether few_columns is the faster: a tile would compute lanes that are dropped. Where it passes over B eight times a tile is as fast.
template <class T> bool has_few_columns(const product& s) {
  return s.k >= 16 && s.n < tile_of<T>::lanes && s.m * ((s.n + 3) / 4) <= 8;
}
/// I rows and J columns of C at a time, the last again where fewer are left. Each element is the chain of a tile, so that its bits do not depend on
/// how many rows and columns there are.
template <int I, int J, class T> void few_at_a_time(const product& s, const T* a, const T* b, T* c) {
  using V = pack<T, 1>;
  for (index_t j = 0; j < s.n; j += J)
    for (index_t i = 0; i < s.m; i += I) {
      const T *y[I], *x[J];
      V sum[I][J];
      TTENSOR_UNROLL for (index_t r = 0; r < I; ++r) y[r] = a + (i + r < s.m ? i + r : s.m - 1) * s.a_row;
      TTENSOR_UNROLL for (index_t q = 0; q < J; ++q) {
        x[q] = b + (j + q < s.n ? j + q : s.n - 1) * s.b_col;
        TTENSOR_UNROLL for (index_t r = 0; r < I; ++r) sum[r][q] = V(T(0));
      }
      for (index_t p = 0, at = 0, to = 0; p < s.k; ++p, at += s.a_col, to += s.b_row) {
        V u[I];
        TTENSOR_UNROLL for (index_t r = 0; r < I; ++r) u[r] = V(y[r][at]);
        TTENSOR_UNROLL for (index_t q = 0; q < J; ++q) {
          const V z(x[q][to]);
          TTENSOR_UNROLL for (index_t r = 0; r < I; ++r) sum[r][q] = fma(u[r], z, sum[r][q]);
        }
      }
      for (index_t r = 0; r < I && i + r < s.m; ++r)
        for (index_t q = 0; q < J && j + q < s.n; ++q) {
          T& to = c[(i + r) * s.c_row + j + q];
          to = (s.add ? V(to) + sum[r][q] : sum[r][q])[0];
        }
    }
}
template <class T> void few_columns(const product& s, const T* a, const T* b, T* c) {
  if (s.m == 1 && s.n <= 4) few_at_a_time<1, 4>(s, a, b, c);
  else if (s.m == 1) few_at_a_time<1, 8>(s, a, b, c);
  else few_at_a_time<2, 4>(s, a, b, c);
}
/// The same chains for contiguous rows of B of W or more elements: W columns and four rows at a time, the last columns together with some before them.
template <int W, class T> void few_rows(const product& s, const T* a, const T* b, T* c) {
  using V = pack<T, W>;
  for (index_t j = 0; j < s.n; j += W) {
    const index_t from = s.n - j < W ? s.n - W : j;
    for (index_t i = 0; i < s.m; i += 4) {
      const T* y[4];
      V sum[4];
      TTENSOR_UNROLL for (index_t r = 0; r < 4; ++r) y[r] = a + (i + r < s.m ? i + r : s.m - 1) * s.a_row, sum[r] = V(T(0));
      const T* x = b + from;
      for (index_t p = 0, at = 0; p < s.k; ++p, at += s.a_col, x += s.b_row) {
        const V z = V::load(x);
        TTENSOR_UNROLL for (index_t r = 0; r < 4; ++r) sum[r] = fma(V(y[r][at]), z, sum[r]);
      }
      TTENSOR_UNROLL for (index_t r = 0; r < 4; ++r) {
        if (i + r == s.m) break;
        T* const to = c + (i + r) * s.c_row + from;
        if (s.add && from < j) {
          T all[W];
          sum[r].store(all);
          for (index_t q = j - from; q < W; ++q) to[q] = T(add_op::primal(to[q], all[q]));
        } else {
          (s.add ? V::load(to) + sum[r] : sum[r]).store(to);
        }
      }
    }
  }
}
/// As many columns at a time as a register has or fewer.
template <class T, int W = tile_of<T>::lanes> void few_elements(const product& s, const T* a, const T* b, T* c) {
  if constexpr (W == 1) {
    few_columns(s, a, b, c);
  } else {
    if (s.b_col == 1 && s.n >= W) few_rows<W>(s, a, b, c);
    else few_elements<T, W / 2>(s, a, b, c);
  }
}
}  // namespace matmul_detail

}  // namespace run
TTENSOR_END
