// The loop over elements where there are fewer of them than a pack has.
#pragma once
#include "../ops/family.hpp"
#include "core_io.hpp"

TTENSOR_BEGIN
namespace run {

/// A statement on one element at a time, with the bits of a pack's lanes. `wanted` for fewer complex numbers than a pack: behind them stands less in their
/// blocks than a pack would read. `cheap` where a part of an array has fewer elements.
template <class Prog, class Out, class... L> struct one_by_one {
  using table = plane_table<Out, L...>;
  using leaves = leaf_set<1, L...>;
  using sweeper = sweep<Prog, typename leaves::list>;
  static constexpr bool wanted = (is_complex_v<typename core_elem<Out>::type> || ... || is_complex_v<typename core_elem<L>::type>);
  static constexpr bool cheap = wanted || !any_function(Prog{});  // arithmetic, which costs less than to make a pack of few elements
  /// f(i, value, its addresses) for each of n elements of contiguous planes, in `rows` rows.
  template <class To, class Strip, class F>
  TTENSOR_NOINLINE static void each(typename Strip::places p, index_t n, const index_t* down, index_t rows, F f) {
    const auto u = leaves::template load_uniforms<table, Prog>(p.v);
    for (;;) {
      for (index_t i = 0; i < n; ++i) {
        const auto q = Strip::plus(p, i);
        typename sweeper::values v;
        leaves::template load<table, Prog>(v, u, q);
        sweeper::forward(v, typename sweeper::order{});
        f(i, convert_value<To>(at<Prog::root>(v)), q);
      }
      if (--rows <= 0) return;
      Strip::down(p, down);
    }
  }
};

}  // namespace run
TTENSOR_END
