// Copying a transposed block: whole registers are read, transposed among themselves and written.
#pragma once
#include "../num/simd.hpp"
#include "copy_elements.hpp"

#if defined(TTENSOR_BODY)
TTENSOR_BEGIN
namespace run {
namespace transpose_detail {

#if TTENSOR_HAS_REGISTERS
template <class V, int W, int H, int... I> TTENSOR_INLINE void exchange(V& a, V& b, std::integer_sequence<int, I...>) {
  const V low = __builtin_shufflevector(a, b, ((I & H) ? W + I - H : I)...);
  b = __builtin_shufflevector(a, b, ((I & H) ? W + I : I + H)...);
  a = low;
}
// log2(W) rounds; round H exchanges the off-diagonal H x H blocks.
template <class V, int W, int H> TTENSOR_INLINE void rounds(V* q) {
  TTENSOR_UNROLL for (int r = 0; r < W; ++r)
    if (!(r & H)) exchange<V, W, H>(q[r], q[r + H], std::make_integer_sequence<int, W>{});
  if constexpr (2 * H < W) rounds<V, W, 2 * H>(q);
}
#endif
/// Columns of H elements, points of so many coordinates, become rows; `Back`: rows become such columns.
template <class U, int H, bool Back, class Row, class Column>
TTENSOR_INLINE void exchange_few(Row* row, index_t next_row, Column* column, index_t next_column, index_t w) {
  for (; w > 0; --w, row += sizeof(U), column += next_column) {
    U e[H];
    TTENSOR_UNROLL for (int y = 0; y < H; ++y) __builtin_memcpy(e + y, Back ? row + y * next_row : column + y * int(sizeof(U)), sizeof(U));
    TTENSOR_UNROLL for (int y = 0; y < H; ++y) {
      if constexpr (Back) __builtin_memcpy(column + y * int(sizeof(U)), e + y, sizeof(U));
      else __builtin_memcpy(row + y * next_row, e + y, sizeof(U));
    }
  }
}
template <class U, bool Back, class Row, class Column>
TTENSOR_NOINLINE bool exchange_few(Row* row, index_t next_row, Column* column, index_t next_column, index_t h,
                                   index_t w) {
  if (h == 2) exchange_few<U, 2, Back>(row, next_row, column, next_column, w);
  else if (h == 3) exchange_few<U, 3, Back>(row, next_row, column, next_column, w);
  else return false;
  return true;
}
/// to(y, x) = from(x, y): columns of `from` (h elements of Bytes, contiguous) become rows of `to`. Column by column: rows of a power of
/// two bytes meet in the cache, so a line of `from` may not be there when it is read again later.
template <class U> TTENSOR_NOINLINE void copy(char* to, index_t to_row, const char* from, index_t from_column, index_t h, index_t w) {
  constexpr int B = static_cast<int>(sizeof(U));
  [[maybe_unused]] constexpr int W = TTENSOR_SIMD_BYTES / B;
  if (exchange_few<U, false>(to, to_row, from, from_column, h, w)) return;
  index_t x = 0;
#if TTENSOR_HAS_REGISTERS
  if constexpr (W > 1) {
    typedef U V __attribute__((vector_size(TTENSOR_SIMD_BYTES)));
    for (; x + W <= w; x += W) {
      index_t y = 0;
      for (; y + W <= h; y += W) {
        const char* p = from + x * from_column + y * B;
        char* r = to + y * to_row + x * B;
        V q[W];
        TTENSOR_UNROLL for (int k = 0; k < W; ++k, p += from_column) __builtin_memcpy(&q[k], p, sizeof(V));
        rounds<V, W, 1>(q);
        TTENSOR_UNROLL for (int k = 0; k < W; ++k, r += to_row) __builtin_memcpy(r, &q[k], sizeof(V));
      }
      for (; y < h; ++y)
        for (int k = 0; k < W; ++k) __builtin_memcpy(to + y * to_row + (x + k) * B, from + (x + k) * from_column + y * B, B);
    }
  }
#endif
  for (; x < w; ++x)
    for (index_t y = 0; y < h; ++y) __builtin_memcpy(to + y * to_row + x * B, from + x * from_column + y * B, B);
}
}  // namespace transpose_detail

inline void transpose_copy(int bytes, char* to, index_t to_row, const char* from, index_t from_column, index_t h, index_t w) {
  if (bytes == 4) return transpose_detail::copy<std::uint32_t>(to, to_row, from, from_column, h, w);
  if (bytes == 8) return transpose_detail::copy<std::uint64_t>(to, to_row, from, from_column, h, w);
  for (index_t x = 0; x < w; ++x) copy_elements(bytes, to + x * bytes, to_row, from + x * from_column, bytes, h);
}

/// to(x, y) = from(y, x): rows become columns of h elements. False where that is not worth a loop of its own.
inline bool transpose_back(int bytes, char* to, index_t to_column, const char* from, index_t from_row, index_t h, index_t w) {
  if (bytes == 4) return transpose_detail::exchange_few<std::uint32_t, true>(from, from_row, to, to_column, h, w);
  return bytes == 8 && transpose_detail::exchange_few<std::uint64_t, true>(from, from_row, to, to_column, h, w);
}

}  // namespace run
TTENSOR_END
#endif
