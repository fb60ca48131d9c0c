// Reductions of a fused expression: producer and reduction are one pass. Along a contiguous axis values are summed in
// several packs, in blocks of fixed length that are combined pairwise, so neither the number of threads nor the position
// of the data changes a bit; across rows the output row is the accumulator, four rows at a time.
#pragma once
#include "core_io.hpp"

TTENSOR_BEGIN
namespace run {

/// out = Red::combine(out, Prog(leaves)) over the run. An output step of 0 reduces the run to one element.
/// Red: identity<V>() and combine(V, V) on packs of the accumulation type. Columns: also instantiate the row accumulator.
/// `launch` is a run::rows_kernel.
template <class Prog, class Red, bool Columns, class Out, class... L> struct reduce_kernel {
  static constexpr int N = lanes_of<Out, L...>();
  static constexpr int leaf_count = static_cast<int>(sizeof...(L));
  using table = plane_table<Out, L...>;
  static constexpr int outs = core_io<Out, N>::planes, planes = table::count;
  static constexpr auto bytes = table::bytes();
  using sweeper = sweep<Prog, type_list<typename core_io<L, N>::value...>>;
  using leaf_values = typename sweeper::leaf_values;
  using acc = typename core_io<Out, N>::value;
  static constexpr index_t block = 16384;  // elements; part of the definition of the result
  static constexpr int chains = Prog::length <= 12 ? 4 : 2;
  using loop = strip<table, outs, N, 1>;
  using places = typename loop::places;
  using strides = typename loop::strides;
  using repeats = repeated<table, loop, N * chains, Out, L...>;

  template <int I, class C> TTENSOR_INLINE static void load(leaf_values& v, char* const* p) {
    constexpr index_t zero[planes]{};
    if constexpr (!is_uniform_v<C>) at<I>(v) = core_io<C, N>::template load<table::first(I + 1)>(p, zero);
  }
  template <int I, class C> TTENSOR_INLINE static void load_uniform(leaf_values& v, char* const* p) {
    if constexpr (is_uniform_v<C>) at<I>(v) = core_io<C, N>::broadcast(p + table::first(I + 1));
  }
  TTENSOR_INLINE static acc value(leaf_values v, char* const* p) {
    [&]<int... I>(std::integer_sequence<int, I...>) { (load<I, L>(v, p), ...); }(std::make_integer_sequence<int, leaf_count>{});
    return convert_value<acc>(sweeper::run(v));
  }
  TTENSOR_NOINLINE static void launch(const cursor* c, index_t n, const index_t* down, index_t rows) {
    if (n == 0) return;
    places p;
    strides step;
    static_for<planes>([&](auto k) {
      p.v[k()] = c[k()].ptr;
      step.v[k()] = c[k()].step;
    });
    leaf_values uniforms;
    [&]<int... I>(std::integer_sequence<int, I...>) { (load_uniform<I, L>(uniforms, p), ...); }(std::make_integer_sequence<int, leaf_count>{});
    if constexpr (Columns)
      if (step.v[0] != 0) return columns(uniforms, p, step, n, down, rows);
    alignas(64) char room[repeats::room(planes)];
    for (;;) {
      const acc total = along(uniforms, repeats::fill(p, step, room), step, n);
      put<0>(folded(total), p);
      if (--rows <= 0) return;
      static_for<planes>([&](auto k) { p.v[k()] += down[k()]; });
    }
  }

 private:
  // ---- along the row ---------------------------------------------------------------------------------------------------
  TTENSOR_INLINE static acc along(const leaf_values& u, places p, const strides& step, index_t n) {
    if (TTENSOR_LIKELY(n <= block)) return one_block(u, p, step, n);
    return blocks(u, p, step, n);
  }
  TTENSOR_NOINLINE static acc blocks(const leaf_values& u, places p, const strides& step, index_t n) {
    acc partial[48];
    int depth = 0;
    index_t done = 0;
    for (index_t b = 0; done < n; ++b) {
      const index_t m = n - done < block ? n - done : block;
      acc top = one_block(u, p, step, m);
      loop::move(p, step, block / N);
      done += m;
      // binary counter: block b is combined with its left neighbour for every trailing 1 of b
      for (index_t i = b; i & 1; i >>= 1) top = Red::combine(partial[--depth], top);
      partial[depth++] = top;
    }
    acc total = partial[--depth];
    while (depth > 0) total = Red::combine(partial[--depth], total);
    return total;
  }
  TTENSOR_INLINE static acc one_block(const leaf_values& u, places p, const strides& step, index_t m) {
    acc a[chains];
    static_for<chains>([&](auto j) { a[j()] = Red::template identity<acc>(); });
    const index_t tail = m % N;
    if (tail != 0) {  // the last elements as one more pack whose other lanes are the identity
      if (m >= N) a[chains - 1] = last_lanes(value(u, loop::plus(p, m - N, step)), static_cast<int>(tail));
      else a[chains - 1] = first_lanes(staged(u, p, step, tail), static_cast<int>(tail));
    }
    index_t todo = m / N;
    for (; todo >= chains; todo -= chains) {
      static_for<chains>([&](auto j) {
        places q;
        static_for<planes>([&](auto k) { q.v[k()] = p.v[k()] + j() * N * bytes[k()]; });
        a[j()] = Red::combine(a[j()], value(u, q));
      });
      loop::move(p, step, chains);
    }
    for (; todo > 0; --todo) {
      a[0] = Red::combine(a[0], value(u, p));
      loop::move(p, step, 1);
    }
    static_for<chains / 2>([&](auto j) { a[j()] = Red::combine(a[j()], a[j() + chains / 2]); });
    if constexpr (chains == 4) a[0] = Red::combine(a[0], a[1]);
    return a[0];
  }
  TTENSOR_NOINLINE static acc staged(const leaf_values& u, places p, const strides& step, index_t n) {
    acc v = Red::template identity<acc>();
    loop::run(p, step, n, [&](const places& q) { return value(u, q); }, [&](const acc& a, const places&) { v = a; });
    return v;
  }

  // ---- across rows -------------------------------------------------------------------------------------------------------
  static constexpr int group = planes <= 4 ? 4 : 2;
  struct group_table {  // the output, then the inputs of each row of a group
    static constexpr int count = outs + group * (planes - outs);
    static constexpr array<int, count> bytes() {
      array<int, count> b{};
      for (int k = 0; k < count; ++k) b[k] = reduce_kernel::bytes[k < outs ? k : outs + (k - outs) % (planes - outs)];
      return b;
    }
  };
  template <int Rows> struct row_table {
    static constexpr int count = Rows == 1 ? planes : group_table::count;
    static constexpr auto bytes() {
      if constexpr (Rows == 1) return table::bytes();
      else return group_table::bytes();
    }
  };
  template <int Rows> TTENSOR_INLINE static acc tree(const leaf_values& u, char* const* p, int first = 0) {
    if constexpr (Rows == 1) {
      char* q[planes];
      static_for<planes>([&](auto k) { q[k()] = k() < outs ? p[k()] : p[k() + first * (planes - outs)]; });
      return value(u, q);
    } else {
      return Red::combine(tree<Rows / 2>(u, p, first), tree<Rows / 2>(u, p, first + Rows / 2));
    }
  }
  // Adds `Rows` rows to the output row; the rows of a group are combined in a tree first.
  template <int Rows> TTENSOR_NOINLINE static void add_rows(const leaf_values& u, const char* const* from, const index_t* steps, const index_t* down, index_t n) {
    using rows_loop = strip<row_table<Rows>, outs, N, 1>;
    typename rows_loop::places p;
    typename rows_loop::strides s;
    alignas(64) char room[repeats::room(planes) * Rows + 64];
    static_for<row_table<Rows>::count>([&](auto k) {
      constexpr int own = k() < outs ? k() : outs + (k() - outs) % (planes - outs), row = k() < outs ? 0 : (k() - outs) / (planes - outs);
      p.v[k()] = const_cast<char*>(from[own]) + row * down[own];
      s.v[k()] = steps[own];
      if constexpr (repeats::inputs[own])
        if (steps[own] == 0) {
          char* to = room + row * repeats::room(planes) / 64 * 64 + repeats::room(own);
          splat<bytes[own], N>(to, p.v[k()]);
          p.v[k()] = to;
        }
    });
    constexpr index_t zero[outs]{};
    rows_loop::run(p, s, n, [&](const auto& q) { return Red::combine(core_io<Out, N>::template load<0>(q, zero), tree<Rows>(u, q)); },
                   [&](const acc& v, const auto& q) { core_io<Out, N>::template store<0>(v, q, zero); });
  }
  TTENSOR_NOINLINE static void columns(const leaf_values& u, const places& from, const strides& step, index_t n, const index_t* down, index_t rows) {
    char* p[planes];
    for (int k = 0; k < planes; ++k) p[k] = from.v[k];
    const bool grouped = rows > 1 && down[0] == 0;
    while (rows > 0) {
      const index_t r = grouped && rows >= group ? group : 1;
      if (r > 1) add_rows<group>(u, p, step.v, down, n);
      else add_rows<1>(u, p, step.v, down, n);
      rows -= r;
      for (int k = 0; k < planes && rows > 0; ++k) p[k] += r * down[k];
    }
  }

  // ---- lanes -------------------------------------------------------------------------------------------------------------
  /// 2 N flags: N false, then N true.
  struct lane_flags {
    bool v[2 * N];
    constexpr lane_flags() : v{} {
      for (int i = 0; i < N; ++i) v[N + i] = true;
    }
  };
  static constexpr lane_flags flags{};
  template <class V> TTENSOR_INLINE static V kept(const V& v, const pack<bool, N>& keep, bool tangent = false) {  // other lanes: the identity
    if constexpr (is_dual_v<V>) {
      V r = v;
      r.value = kept(v.value, keep, tangent);
      // beyond the tail a tangent is 0 for every reduction
      for (int k = 0; k < scalar_traits<V>::planes / scalar_traits<decltype(v.value)>::planes - 1; ++k) r.tangent_at(k) = kept(v.tangent_at(k), keep, true);
      return r;
    } else {
      return select(keep, v, tangent ? V(lane_t<V>(0)) : Red::template identity<V>());
    }
  }
  template <class V> TTENSOR_INLINE static V last_lanes(const V& v, int n) { return kept(v, pack<bool, N>::load(flags.v + n)); }
  template <class V> TTENSOR_INLINE static V first_lanes(const V& v, int n) { return kept(v, !pack<bool, N>::load(flags.v + N - n)); }

  template <class V> static auto folded(const V& v) {
    if constexpr (is_dual_v<V>) {
      using X = decltype(folded(v.value));
      dual<X, scalar_traits<V>::planes / scalar_traits<decltype(v.value)>::planes - 1> r;
      r.value = folded(v.value);
      for (int k = 0; k < scalar_traits<V>::planes / scalar_traits<decltype(v.value)>::planes - 1; ++k) r.tangent_at(k) = folded(v.tangent_at(k));
      return r;
    } else {
      return fold(v, [](auto a, auto b) { return Red::combine(a, b); });
    }
  }
  template <int P, class S> TTENSOR_INLINE static void put(const S& s, char* const* p) {
    if constexpr (is_dual_v<S>) {
      constexpr int inner = scalar_traits<decltype(s.value)>::planes, n = scalar_traits<S>::planes / inner - 1;
      put<P>(s.value, p);
      static_for<n>([&](auto k) { put<P + (1 + k()) * inner>(s.tangent_at(k), p); });
    } else {
      using T = typename core_elem<Out>::type;
      T* to = reinterpret_cast<T*>(p[P]);
      *to = static_cast<T>(Red::combine(static_cast<compute_t<T>>(*to), s));
    }
  }
};

}  // namespace run
TTENSOR_END
