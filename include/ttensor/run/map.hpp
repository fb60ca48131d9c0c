// The fused elementwise loop: one flat program, packs in, packs out; tails run the same pack code.
#pragma once
#include "core_io.hpp"

TTENSOR_BEGIN
namespace run {

/// y[i] = Prog(leaves[i]). Out and L... are core scalars (L possibly uniform). `launch` is a run::rows_kernel.
template <class Prog, class Out, class... L> struct map_kernel {
  static constexpr int N = lanes_of<Out, L...>();
  static constexpr int leaf_count = static_cast<int>(sizeof...(L));
  using table = plane_table<Out, L...>;
  static constexpr int outs = core_io<Out, N>::planes, planes = table::count;
  static constexpr auto bytes = table::bytes();
  using sweeper = sweep<Prog, type_list<typename core_io<L, N>::value...>>;
  using out_value = typename core_io<Out, N>::value;
  using leaf_values = typename sweeper::leaf_values;
  // Short programs are limited by loop overhead, so they run several packs a turn.
  static constexpr int unroll = planes > 6 || Prog::length > 12 ? 1 : 4;
  using loop = strip<table, outs, N, unroll>;
  using places = typename loop::places;
  using strides = typename loop::strides;
  using repeats = repeated<table, loop, N * unroll, Out, L...>;

  template <int I, class C> TTENSOR_INLINE static void load(leaf_values& v, char* const* p) {
    constexpr index_t zero[planes]{};
    if constexpr (!is_uniform_v<C>) at<I>(v) = core_io<C, N>::template load<table::first(I + 1)>(p, zero);
  }
  template <int I, class C> TTENSOR_INLINE static void load_uniform(leaf_values& v, char* const* p) {
    if constexpr (is_uniform_v<C>) at<I>(v) = core_io<C, N>::broadcast(p + table::first(I + 1));
  }
  TTENSOR_INLINE static out_value value(leaf_values v, char* const* p) {
    [&]<int... I>(std::integer_sequence<int, I...>) { (load<I, L>(v, p), ...); }(std::make_integer_sequence<int, leaf_count>{});
    return convert_value<out_value>(sweeper::run(v));
  }
  TTENSOR_INLINE static void row(const leaf_values& uniforms, const places& p, const strides& s, index_t n) {
    constexpr index_t zero[planes]{};
    loop::run(p, s, n, [&](const places& q) { return value(uniforms, q); },
              [&](const out_value& v, const places& q) { core_io<Out, N>::template store<0>(v, q, zero); });
  }
  TTENSOR_NOINLINE static void launch(const cursor* c, index_t n, const index_t* down, index_t rows) {
    places p;
    strides step;
    static_for<planes>([&](auto k) {
      p.v[k()] = c[k()].ptr;
      step.v[k()] = c[k()].step;
    });
    leaf_values uniforms;
    [&]<int... I>(std::integer_sequence<int, I...>) { (load_uniform<I, L>(uniforms, p), ...); }(std::make_integer_sequence<int, leaf_count>{});
    alignas(64) char room[repeats::room(planes)];
    for (;;) {
      row(uniforms, repeats::fill(p, step, room), step, n);
      if (--rows <= 0) return;
      static_for<planes>([&](auto k) { p.v[k()] += down[k()]; });
    }
  }
};

}  // namespace run
TTENSOR_END
