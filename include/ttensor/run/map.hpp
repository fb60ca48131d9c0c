// The fused elementwise loop: one flat program, packs in, packs out; tails run the same pack code.
#pragma once
#include "core_io.hpp"

TTENSOR_BEGIN
namespace run {

/// y[i] = Prog(leaves[i]). Out and L... are core scalars (L possibly uniform). `launch` is a run::kernel.
template <class Prog, class Out, class... L> struct map_kernel {
  static constexpr int N = lanes_of<Out, L...>();
  using table = plane_table<Out, L...>;
  static constexpr int outs = core_io<Out, N>::planes, planes = table::count;
  static constexpr auto bytes = table::bytes();
  using sweeper = sweep<Prog, type_list<typename core_io<L, N>::value...>>;
  using out_value = typename core_io<Out, N>::value;
  // Short programs are limited by loop overhead, so they run four packs a turn.
  static constexpr int unroll = Prog::length <= 8 && planes <= 4 ? broadcast_packs : 1;

  template <int I, class C, class V> TTENSOR_INLINE static void load(V& v, char* const* p, const index_t* at_byte) {
    if constexpr (!is_uniform_v<C>) at<I>(v) = core_io<C, N>::template load<table::first(I + 1)>(p, at_byte);
  }
  template <int I, class C, class V> TTENSOR_INLINE static void load_uniform(V& v, char* const* p) {
    if constexpr (is_uniform_v<C>) at<I>(v) = core_io<C, N>::broadcast(p + table::first(I + 1));
  }
  TTENSOR_INLINE static void body(typename sweeper::leaf_values v, char* const* p, const index_t* offset) {
    [&]<int... I>(std::integer_sequence<int, I...>) { (load<I, L>(v, p, offset), ...); }(std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{});
    core_io<Out, N>::template store<0>(convert_value<out_value>(sweeper::run(v)), p, offset);
  }
  TTENSOR_NOINLINE static void launch(const cursor* c, index_t n, bool in_place) {
    char* p[planes];
    index_t step[planes];
    for (int k = 0; k < planes; ++k) {
      p[k] = c[k].ptr;
      step[k] = c[k].step;
    }
    typename sweeper::leaf_values uniforms;
    [&]<int... I>(std::integer_sequence<int, I...>) { (load_uniform<I, L>(uniforms, p), ...); }(std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{});
    index_t todo = n / N;
    if constexpr (unroll > 1) {
      index_t off[unroll][planes];
      for (int j = 0; j < unroll; ++j)
        for (int k = 0; k < planes; ++k) off[j][k] = index_t(j) * N * bytes[k];  // a repeated element fills all of these packs
      for (; todo >= unroll; todo -= unroll) {
        static_for<unroll>([&](auto j) { body(uniforms, p, off[j]); });
        for (int k = 0; k < planes; ++k) p[k] += step[k] * unroll;
      }
    }
    const index_t here[planes]{};
    const index_t tail = n % N;
    char room[table_bytes()];
    for (bool last = false;;) {
      for (; todo > 0; --todo) {
        body(uniforms, p, here);
        for (int k = 0; k < planes; ++k) p[k] += step[k];
      }
      if (last || tail == 0) break;
      last = true;
      todo = 1;
      if (n >= N && !in_place) {  // run the last full pack again: same lanes, same bits
        for (int k = 0; k < planes; ++k)
          if (step[k] != 0) p[k] -= (N - tail) * bytes[k];
      } else {
        stage(p, step, room, tail);
      }
    }
    if (tail != 0 && !(n >= N && !in_place))
      for (int k = 0; k < outs; ++k) std::memcpy(c[k].ptr + (n - tail) * bytes[k], room + room_of(k), static_cast<std::size_t>(tail * bytes[k]));
  }

 private:
  static constexpr int room_of(int k) {
    int at = 0;
    for (int i = 0; i < k; ++i) at += N * bytes[i];
    return at;
  }
  static constexpr int table_bytes() { return room_of(planes); }
  // Fewer elements than a pack: the tail is staged in a full pack whose other lanes repeat the last element.
  TTENSOR_NOINLINE static void stage(char** p, const index_t* step, char* room, index_t tail) {
    for (int k = 0; k < planes; ++k) {
      char* to = room + room_of(k);
      if (k >= outs && step[k] != 0)
        for (int i = 0; i < N; ++i) std::memcpy(to + i * bytes[k], p[k] + (i < tail ? i : tail - 1) * bytes[k], static_cast<std::size_t>(bytes[k]));
      if (k < outs || step[k] != 0) p[k] = to;
    }
  }
};

}  // namespace run
TTENSOR_END
