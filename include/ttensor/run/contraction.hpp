// Many matrix products in one call: leading axes of A, B and C, some of them summed. Axes are folded into the product where
// the strides allow it, so that a batch of rows times one matrix, and the gradient of that matrix, are one large product.
#pragma once
#include <utility>
#include "matmul_complex.hpp"

TTENSOR_BEGIN
namespace run {

/// Axes over products; a stride of 0 in c: the products along the axis are added.
struct product_nest {
  static constexpr int max_axes = 12;
  struct axis {
    index_t extent, a, b, c;
  };
  product inner;
  int rank = 0;
  bool turned = false;  // the operands have changed places
  axis over[max_axes];

  void add_axis(const axis& x) { over[rank++] = x; }
  /// Drops axes of extent 1, turns columns into rows, and folds axes into m, n and k.
  void simplify() {
    int kept = 0;
    for (int d = 0; d < rank; ++d) {
      if (over[d].extent == 0 && over[d].c == 0) inner.k = 0;  // a sum over nothing
      else if (over[d].extent != 1) over[kept++] = over[d];
    }
    rank = kept;
    turned = inner.turn_column();
    if (turned)
      for (int d = 0; d < rank; ++d) std::swap(over[d].a, over[d].b);
    for (bool again = true; again;) {
      again = false;
      for (int d = rank - 1; d >= 0 && !again; --d)
        if (fold(over[d])) {
          for (int e = d; e + 1 < rank; ++e) over[e] = over[e + 1];
          --rank;
          again = true;
        }
    }
  }

 private:
  bool fold(const axis& x) {
    product& s = inner;
    auto join = [&](index_t& extent, index_t& stride, index_t outer) {  // the axis continues the inner one
      if (extent == 1) stride = outer;
      else if (outer != extent * stride) return false;
      return true;
    };
    if (x.c == 0) {
      product t = s;
      if (!join(t.k, t.a_col, x.a) || !join(t.k, t.b_row, x.b)) return false;
      s = t;
      s.k *= x.extent;
      return true;
    }
    if (x.b == 0) {
      product t = s;
      if (join(t.m, t.a_row, x.a) && join(t.m, t.c_row, x.c)) {
        s = t;
        s.m *= x.extent;
        return true;
      }
    }
    if (x.a == 0 && s.m == 1 && x.c == s.n) {
      product t = s;
      if (join(t.n, t.b_col, x.b)) {
        s = t;
        s.n *= x.extent;
        return true;
      }
    }
    return false;
  }
};

/// Runs the products of a simplified nest. C is contiguous and need not be initialised.
template <class F> void each_product(const product_nest& s, F&& multiply_one) {
  index_t at[product_nest::max_axes] = {}, a = 0, b = 0, c = 0;
  for (;;) {
    product p = s.inner;
    for (int d = 0; d < s.rank; ++d) p.add = p.add || (s.over[d].c == 0 && at[d] > 0);
    multiply_one(p, a, b, c);
    int d = s.rank - 1;
    for (; d >= 0; --d) {
      a += s.over[d].a, b += s.over[d].b, c += s.over[d].c;
      if (++at[d] < s.over[d].extent) break;
      a -= at[d] * s.over[d].a, b -= at[d] * s.over[d].b, c -= at[d] * s.over[d].c;
      at[d] = 0;
    }
    if (d < 0) return;
  }
}

/// Numbers without registers (long double, a user's own): plain loops.
template <class T> void multiply_plain(const product& s, const T* a, const T* b, T* c) {
  for (index_t i = 0; i < s.m; ++i) {
    T* row = c + i * s.c_row;
    if (!s.add)
      for (index_t j = 0; j < s.n; ++j) row[j] = T(0);
    for (index_t p = 0; p < s.k; ++p) {
      const T x = a[i * s.a_row + p * s.a_col];
      for (index_t j = 0; j < s.n; ++j) row[j] = T(row[j] + x * b[p * s.b_row + j * s.b_col]);
    }
  }
}

/// The same, where an exact zero of a (zeros & 1) or of b (zeros & 2) gives 0 with inf and NaN too; of the elements only that are NaN in `found`.
template <class T> void multiply_absorbing(const product& s, unsigned zeros, const T* a, const T* b, const T* found, T* c) {
  for (index_t i = 0; i < s.m; ++i)
    for (index_t j = 0; j < s.n; ++j) {
      if (found[i * s.c_row + j] == found[i * s.c_row + j]) continue;
      T total = s.add ? c[i * s.c_row + j] : T(0);
      for (index_t p = 0; p < s.k; ++p) {
        const T x = a[i * s.a_row + p * s.a_col], y = b[p * s.b_row + j * s.b_col];
        if (!((zeros & 1 && x == T(0)) || (zeros & 2 && y == T(0)))) total = T(total + x * y);
      }
      c[i * s.c_row + j] = total;
    }
}

/// Whether there is an inf or a NaN in a matrix of numbers: zero times any other is zero.
template <class T> bool any_infinite(const T* x, index_t rows, index_t cols, index_t row, index_t col) {
  if (cols == 1 || (col != 1 && row == 1)) std::swap(rows, cols), std::swap(row, col);
  for (index_t i = 0; i < rows; ++i, x += row) {
    index_t j = 0;
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      constexpr index_t N = matmul_detail::tile_of<T>::lanes;
      using V = pack<T, matmul_detail::tile_of<T>::lanes>;
      const V zero = V(T(0));
      V sum[4] = {zero, zero, zero, zero};
      if (col == 1) {
        for (; j + 4 * N <= cols; j += 4 * N)
          TTENSOR_UNROLL for (int q = 0; q < 4; ++q) sum[q] = fma(V::load(x + j + q * N), zero, sum[q]);
        for (; j + N <= cols; j += N) sum[0] = fma(V::load(x + j), zero, sum[0]);
      }
      const V total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
      if (any_lane(total != total)) return true;
    }
    for (; j < cols; ++j)
      if (const T d = T(x[j * col] - x[j * col]); d != d) return true;
  }
  return false;
}
template <class T> bool any_zero(const T* x, index_t rows, index_t cols, index_t row, index_t col) {
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < cols; ++j)
      if (x[i * row + j * col] == T(0)) return true;
  return false;
}
namespace matmul_detail {
/// Computes those results again, one by one, that are NaN, if there is a zero that may absorb one.
template <class T> TTENSOR_NOINLINE void absorb_again(const product_nest& s, unsigned zeros, const T* a, const T* b, T* c, index_t size) {
  index_t first = 0;
  while (first < size && c[first] == c[first]) ++first;
  if (first == size) return;
  bool absorbs = false;
  each_product(s, [&](const product& p, index_t i, index_t j, index_t) {
    absorbs = absorbs || (zeros & 1 && any_zero(a + i, p.m, p.k, p.a_row, p.a_col)) ||
              (zeros & 2 && any_zero(b + j, p.k, p.n, p.b_row, p.b_col));
  });
  if (!absorbs) return;
  scratch<T> again(size);
  each_product(s, [&](const product& one, index_t i, index_t j, index_t k) {
    multiply_absorbing(one, zeros, a + i, b + j, c + k, again.data() + k);
  });
  for (index_t i = first; i < size; ++i)
    if (c[i] != c[i]) c[i] = again.data()[i];
}
}  // namespace matmul_detail

/// Whether what may absorb is looked for in the other operand, because that is smaller than the results; and whether there is an inf or a NaN.
inline bool reads_operands(const product& p, unsigned zeros) { return (zeros & 1 ? p.k * p.n : 0) + (zeros & 2 ? p.m * p.k : 0) < p.m * p.n; }
template <class T> bool any_to_absorb(const product& p, unsigned zeros, const T* a, const T* b) {
  return (zeros & 1 && any_infinite(b, p.k, p.n, p.b_row, p.b_col)) || (zeros & 2 && any_infinite(a, p.m, p.k, p.a_row, p.a_col));
}
/// c holds the results of a product, of which an operand is a tangent or cotangent (bits of `zeros`): its exact zeros absorb. Zero times inf or NaN
/// is NaN, so it takes a NaN among the results and an inf or a NaN in the other operand; one pass over the results, or over that operand where it is smaller, finds it.
template <class T> TTENSOR_NOINLINE void absorb_zeros(const product& p, unsigned zeros, const T* a, const T* b, T* c) {
  const index_t size = p.m * p.n;
  if (!(reads_operands(p, zeros) ? any_to_absorb(p, zeros, a, b) : any_infinite(c, 1, size, size, 1))) return;
  product_nest s;
  s.inner = p;
  matmul_detail::absorb_again(s, zeros, a, b, c, size);
}
/// The same of all `size` results of a nest.
template <class T> TTENSOR_NOINLINE void absorb_zeros(const product_nest& s, unsigned zeros, const T* a, const T* b, T* c, index_t size) {
  bool found = false;
  if (reads_operands(s.inner, zeros))
    each_product(s, [&](const product& p, index_t i, index_t j, index_t) { found = found || any_to_absorb(p, zeros, a + i, b + j); });
  else found = any_infinite(c, 1, size, size, 1);
  if (found) matmul_detail::absorb_again(s, zeros, a, b, c, size);
}

}  // namespace run
TTENSOR_END
