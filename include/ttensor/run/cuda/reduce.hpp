// Reductions with barriers: the threads of a block combine by warp shuffles, and the block that finishes last folds the
// blocks' results in a fixed order. One kernel, no second pass; the same bits for the same size and grid.
#pragma once
#include "launch.hpp"

TTENSOR_BEGIN
namespace gpu {

/// The fold of a over the block, valid in thread 0. Every thread of the block calls it; `room` holds one value a warp.
template <class Red, class A> __device__ A block_fold(A a, A* room) {
  using V = device_pack<A, 1>;
  auto combine = [](A x, A y) { return Red::combine(V(x), V(y)).v[0]; };
#pragma unroll
  for (unsigned d = 16; d > 0; d /= 2) a = combine(a, __shfl_down_sync(0xffffffffu, a, d));
  if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = a;
  __syncthreads();
  if (threadIdx.x == 0)
#pragma unroll
    for (int w = 1; w < block_threads / 32; ++w) a = combine(a, room[w]);
  __syncthreads();  // room may be used again
  return a;
}
/// out = fold of all threads of f (a reduce_body). partial: one a block; ticket: 0 before, 0 after.
template <class Red, class F, class T> __global__ void __launch_bounds__(block_threads)
    reduce_once(const __grid_constant__ F f, T* out, typename F::result* partial, unsigned* ticket) {
  using A = typename F::result;
  __shared__ A room[block_threads / 32];
  __shared__ bool last;
  const A a = block_fold<Red>(f.fold(static_cast<index_t>(blockIdx.x) * block_threads + threadIdx.x,
                                     static_cast<index_t>(gridDim.x) * block_threads),
                              room);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = a;
    __threadfence();  // the partial is visible before the ticket counts it
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  using V = device_pack<A, 1>;
  V all = Red::template identity<V>();
  for (unsigned k = threadIdx.x; k < gridDim.x; k += block_threads) all = Red::combine(all, V(__ldcg(partial + k)));  // past L1, which may be stale
  const A total = block_fold<Red>(all.v[0], room);
  if (threadIdx.x == 0) {
    *out = simd::lane_cast<T>(total);
    *ticket = 0;
  }
}
/// out(kept place) (+)= fold over the reduced axes of f (a reduce_axes_body with parts = block_threads): one block a place.
template <class Red, class F> __global__ void __launch_bounds__(block_threads) reduce_rows(const __grid_constant__ F f) {
  using A = typename F::result;
  __shared__ A room[block_threads / 32];
  for (index_t row = blockIdx.x; row < static_cast<index_t>(f.kept.items); row += gridDim.x) {
    const A a = block_fold<Red>(f.fold(static_cast<decltype(f.parts)>(row), static_cast<decltype(f.parts)>(threadIdx.x)), room);
    if (threadIdx.x == 0) f.put(static_cast<decltype(f.parts)>(row), 0, a);
  }
}

/// *out = sum of e, a contiguous statement; e is evaluated in the same kernel. False: e is strided, use run::device_sum.
template <class T, class E> bool sum_once(T* out, const E& e, const on_stream& x = {}) {
  using A = device_sum_t<scalar_t<E>>;
  run::device_statement<E, 0> st(e);
  if (!st.flat || st.size == 0) return false;
  st.each_leaf_type([&]<class... K>(type_list<K...> k) {
    constexpr int N = run::device_lanes<T, typename K::elem...>();
    using body = run::reduce_body<program_of<E>, sum_op, A, run::linear_walk<N>, typename K::linear...>;
    const index_t items = (st.size + N - 1) / N, blocks = x.blocks(items);
    auto partial = x.scratch<A>(blocks);
    auto ticket = x.scratch<unsigned>(1);
    x.zero(ticket.get(), sizeof(unsigned));
    const body f{st.template linear<N>(), nullptr, st.leaves(k, type_list<typename K::linear...>{})};
    reduce_once<sum_op><<<static_cast<unsigned>(blocks), block_threads, 0, x.stream>>>(f, out, partial.get(), ticket.get());
    check(cudaGetLastError(), "launch of a reduction");
  });
  return true;
}
/// out[r] = sum of row r of a matrix expression, a block a row; for long rows. (Many short rows: run::device_sum_into.)
template <class T, class E> void sum_rows(T* out, const E& e, const on_stream& x = {}) {
  static_assert(E::rank == 2);
  device::require();
  using A = device_sum_t<scalar_t<E>>;
  using I = index_t;
  run::device_statement<E, 0> st(e);
  const index_t rows = st.loops.extent[0], cols = st.loops.extent[1];
  if (rows == 0) return;
  st.each_leaf_type([&]<class... K>(type_list<K...> k) {
    using plane = run::strided_plane<T, 2, I>;
    using body = run::reduce_axes_body<program_of<E>, sum_op, A, 1, 1, I, plane, typename K::template grid<2, I>...>;
    const body f{{{rows}, rows, 0},
                 {{cols}, cols, 0},
                 block_threads,
                 1,
                 0,
                 {out, {1, 0}},
                 st.leaves(k, type_list<typename K::template grid<2, I>...>{})};
    const index_t most = static_cast<index_t>(probe().processors) * 16;
    reduce_rows<sum_op><<<static_cast<unsigned>(rows < most ? rows : most), block_threads, 0, x.stream>>>(f);
    check(cudaGetLastError(), "launch of a reduction");
  });
}
}  // namespace gpu

/// Sum of all elements, in one kernel where e is contiguous.
template <class E> auto sum_on_device(const E& e) {
  device::require();
  const auto expr = as_expression(e);
  using T = reduced_t<scalar_t<decltype(expr)>>;
  device_array<T, 0> out(dims<0>{});
  if (!gpu::sum_once(out.data(), expr)) run::device_sum(gpu::on_stream{}, out.data(), expr);
  T host;
  out.copy_to(&host);
  return host;
}

TTENSOR_END
