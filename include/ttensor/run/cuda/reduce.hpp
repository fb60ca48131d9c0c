// The kernel that folds: threads of a block combine by shared memory and warp shuffles, and of the blocks that share a place the one that ends last
// combines their results in a fixed order. One kernel, no second pass; the same bits for the same shape, layout and alignment
// on the same kind of device.
#pragma once
#include "../device_sums.hpp"
#include "probe.hpp"

TTENSOR_BEGIN
namespace gpu {

inline constexpr int log_block = 8, block_threads = 1 << log_block;

/// a of this thread's piece combined with those of the place's other pieces, valid in the thread of piece 0. Every thread of the block calls it.
template <class Red, class V> __device__ V fold_block(V a, V* room, const run::fold_shape& shape) {
  const int thread = static_cast<int>(threadIdx.x), piece = shape.piece(thread), step = shape.log_step();
  int d = shape.pieces() / 2;
  for (; d << step >= 32; d /= 2) {
    if (piece >= d && piece < 2 * d) room[thread] = a;  // each once, so that one barrier does
    __syncthreads();
    if (piece < d) a = Red::combine(a, room[thread + (d << step)]);
  }
  for (; d > 0; d /= 2) {
    V b;
#pragma unroll
    for (int j = 0; j < V::size; ++j) b.v[j] = __shfl_down_sync(0xffffffffu, a.v[j], static_cast<unsigned>(d << step));
    a = Red::combine(a, b);
  }
  return a;
}
/// f: a fold_body. partial: one a split and place; tickets: one for every group of places that a block holds, 0 before. Neither is used where there is one split.
template <class Red, class F> __global__ void __launch_bounds__(block_threads)
    fold(const __grid_constant__ F f, typename F::result* partial, unsigned* tickets) {
  using I = typename F::index;
  using V = typename F::result;
  __shared__ V room[block_threads];
  __shared__ bool last;
  const run::fold_shape& s = f.shape;
  const int thread = static_cast<int>(threadIdx.x), piece = s.piece(thread);
  const unsigned splits = static_cast<unsigned>(s.splits), group = splits == 1 ? blockIdx.x : blockIdx.x / splits, split = blockIdx.x - group * splits;
  const I q = (static_cast<I>(group) << s.log_places) + static_cast<I>(s.place(thread));
  const bool mine = q < f.kept.items;
  V a = Red::template identity<V>();
  if (mine) a = f.fold(q, (static_cast<I>(split) << s.log_pieces) + static_cast<I>(piece));
  a = fold_block<Red>(a, room, s);
  if (splits == 1) {
    if (mine && piece == 0) f.put(q, a);
    return;
  }
  if (mine && piece == 0) {
    partial[static_cast<index_t>(split) * static_cast<index_t>(f.kept.items) + static_cast<index_t>(q)] = a;
    __threadfence();  // visible before the ticket counts it
  }
  __syncthreads();
  if (thread == 0) last = atomicAdd(tickets + group, 1u) == splits - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  a = Red::template identity<V>();
  if (mine)
    for (unsigned k = static_cast<unsigned>(piece); k < splits; k += static_cast<unsigned>(s.pieces())) {
      const V* from = partial + (static_cast<index_t>(k) * static_cast<index_t>(f.kept.items) + static_cast<index_t>(q));
      V b;
#pragma unroll
      for (int j = 0; j < V::size; ++j) b.v[j] = __ldcg(from->v + j);  // past L1, which may be stale
      a = Red::combine(a, b);
    }
  a = fold_block<Red>(a, room, s);
  if (mine && piece == 0) f.put(q, a);
}
/// The sums of short rows. Of the 32 rows of a warp a thread has words of every fourth, from its place among eight threads: with each load the warp reads 128 bytes of four
/// rows that follow each other. Then every thread passes on what it has of the rows that are not its own.
template <class Red, class F> __global__ void __launch_bounds__(block_threads) fold_rows(const __grid_constant__ F f) {
  using I = typename F::index;
  constexpr int rows = run::rows_at_once, groups = 32 / rows;
  const int lane = static_cast<int>(threadIdx.x) % 32, piece = lane % rows, group = lane / rows;
  const I first = static_cast<I>(blockIdx.x * static_cast<unsigned>(block_threads) + threadIdx.x - static_cast<unsigned>(lane));
  using V = typename F::result;
  V acc[rows];
  f.fold_rows(acc, static_cast<I>(first + static_cast<I>(group)), static_cast<I>(groups), static_cast<I>(piece));
#pragma unroll
  for (int d = rows / 2; d > 0; d /= 2)
#pragma unroll
    for (int j = 0; j < d; ++j) {
      const bool upper = (piece & d) != 0;
      const auto low = acc[j].v[0], high = acc[j + d].v[0];
      acc[j] = Red::combine(V(upper ? high : low), V(__shfl_xor_sync(0xffffffffu, upper ? low : high, d)));
    }
  const I q = static_cast<I>(first + static_cast<I>(piece * groups + group));
  if (q < f.kept.items) f.put(q, acc[0]);
}
}  // namespace gpu
TTENSOR_END
