// Reductions of a fused expression: producer and reduction are one pass. Along a contiguous axis values are summed in
// several packs, in blocks of fixed length that are combined pairwise, so neither the number of threads nor the position
// of the data changes a bit; across rows the output row is the accumulator, four rows at a time. Rows of a matrix that fill no
// pack are summed across rows too (nest.hpp, turn_short_sums): a vector of as many elements may differ in the last bit.
#pragma once
#include "one_by_one.hpp"

TTENSOR_BEGIN
namespace run {

namespace reduce_detail {
/// Parts of a reduction: started and combined.
template <class Red, class Out> struct parts {
  static constexpr int outs = core_io<Out, 1>::planes, bytes = static_cast<int>(sizeof(typename core_elem<Out>::type));
  static void open(char* const* out, index_t n, int) {
    using T = typename core_elem<Out>::type;
    for (int k = 0; k < outs; ++k) {
      const T start = k == 0 ? T(Red::template identity<T>()) : T(0);
      for (index_t i = 0; i < n; ++i) reinterpret_cast<T*>(out[k])[i] = start;
    }
  }
  template <int N> TTENSOR_INLINE static index_t merge_packs(char* const* into, char* const* from, index_t i, index_t n) {
    using io = core_io<Out, N>;
    for (; i + N <= n; i += N) io::store(Red::combine(io::load(into, i * bytes), io::load(from, i * bytes)), into, i * bytes);
    return i;
  }
  static void merge(char* const* into, char* const* from, index_t n, int) {
    merge_packs<1>(into, from, merge_packs<lanes_of<Out>()>(into, from, 0, n), n);
  }
};
}  // namespace reduce_detail

/// Packs that a long run is summed in; part of the definition of the result.
template <class Prog> inline constexpr int chains_of = Prog::length <= 12 ? 4 : 2;
/// out = Red::combine(out, Prog(leaves)) over the run. An output step of 0 reduces the run to one element.
/// Red: identity<V>() and combine(V, V) on packs of the accumulation type. Columns: also instantiate the row accumulator.
/// Chains: chains_of the statement as written, also where Prog has its names merged.
/// `launch` is a run::rows_kernel.
template <class Prog, int Chains, class Red, bool Columns, class Out, class... L> struct reduce_kernel {
  static constexpr int N = lanes_of<Out, L...>();
  using table = plane_table<Out, L...>;
  using leaves = leaf_set<N, L...>;
  using uniforms = typename leaves::uniforms;
  using sweeper = sweep<Prog, typename leaves::list>;
  using total = typename core_io<Out, N>::value;
  // sums of float and of complex numbers of float: four steps and four rows at a time in these, then in the output's double
  using term = lane_t<typename sweeper::result>;
  static constexpr bool widens = !std::is_same_v<term, lane_t<total>> && std::is_same_v<collect_t<term>, lane_t<total>>;
  using acc = std::conditional_t<widens, relane_t<total, term>, total>;
  static constexpr bool rounds = !widens && requires { typename Red::collects; } && !std::numeric_limits<lane_t<total>>::is_integer;
  using loop = strip<table, N>;
  using places = typename loop::places;
  static constexpr int outs = core_io<Out, N>::planes, planes = table::count, cost = planes + 2 * Prog::length;
  static constexpr index_t block = 16384;  // elements; part of the definition of the result, as are the lengths here:
  static constexpr accumulation sums{outs,
                                     4 * block,
                                     sizeof(lane_t<total>) < 8 ? 32 : 256,
                                     1024,
                                     reduce_detail::parts<Red, Out>::open,
                                     reduce_detail::parts<Red, Out>::merge};
  static constexpr int chains = Chains;

  static constexpr bool apart = stands_apart<Prog, acc>;
  TTENSOR_INLINE static acc value(const uniforms& u, char* const* p) {
    typename sweeper::values v;
    leaves::template load<table, Prog>(v, u, p);
    sweeper::forward(v, typename sweeper::order{});
    return convert_value<acc>(at<Prog::root>(v));
  }
  TTENSOR_NOINLINE static acc value_apart(const uniforms& u, char* const* p) { return value(u, p); }
  template <bool Often> TTENSOR_INLINE static acc value(const uniforms& u, char* const* p) {
    if constexpr (apart && !Often) return value_apart(u, p);
    else return value(u, p);
  }
  using single = one_by_one<Prog, Out, L...>;
  static constexpr bool one_pack = std::is_same_v<acc, pack<lane_t<acc>, N>>, singly = single::wanted && one_pack,
                        pads = singly || (fills_pack<Prog, table, outs, N, L...>() && one_pack);
  TTENSOR_NOINLINE static total of_few(const places& p, index_t n) {
    lane_t<acc> lane[N];
    acc(Red::template identity<acc>()).store(lane);
    single::template each<pack<lane_t<acc>, 1>, loop>(p, n, nullptr, 1, [&](index_t i, const auto& v, const places&) { v.store(lane + i); });
    return convert_value<total>(acc::load(lane));
  }
  template <class Planes> struct contiguous_run;
  /// A contiguous run of N to `block` elements; with `pads` also of fewer, if a pack can be read. The addresses are arguments: a statement that knows them passes them in registers.
  template <int... K> struct contiguous_run<int_list<K...>> {
    TTENSOR_NOINLINE static total run(plane_address<K>... at, index_t n) {
      const places p = loop::at_addresses(int_list<K...>{}, at...);
      if constexpr (singly)
        if (TTENSOR_UNLIKELY(n < N)) return of_few(p, n);
      const auto u = leaves::template load_uniforms<table, Prog>(p.v);
      if constexpr (pads && !singly)
        if (TTENSOR_UNLIKELY(n < N)) return convert_value<total>(first_lanes(value<false>(u, p), static_cast<int>(n)));
      return one_block<true>(u, p, nullptr, n, false);
    }
    template <class Place> TTENSOR_INLINE static total run(const Place* at, index_t n) { return run(address(at[K])..., n); }
    TTENSOR_INLINE static total run_few(char* const* at, index_t n) { return few_at(at[K]..., n); }
    TTENSOR_NOINLINE static total few_at(plane_address<K>... at, index_t n) { return of_few(loop::at_addresses(int_list<K...>{}, at...), n); }
  };
  struct row : contiguous_run<typename planes_read<Prog, table, leaves::count, false>::type> {};
  /// The reduction of one run as a number.
  TTENSOR_INLINE static Out reduced(const total& t) {
    return static_cast<Out>(Red::combine(Red::template identity<compute_t<Out>>(), folded(t)));
  }
  TTENSOR_NOINLINE static void launch(const cursor* from, index_t n, const index_t* down, index_t rows) {
    if (n == 0) return;
    const uniforms u = leaves::template load_uniforms<table, Prog>(from);
    if constexpr (Columns)
      if (from[0].step != 0) return columns(u, from, n, down, rows);
    cursor c[planes];
    for (int k = 0; k < planes; ++k) c[k] = from[k];
    for (auto sum = folded(along(u, c, n));;) {
      if (--rows <= 0 || down[0] != 0) put<0>(sum, c);
      if (rows <= 0) return;
      for (int k = 0; k < planes; ++k) c[k].ptr += down[k];
      const auto next = folded(along(u, c, n));
      sum = down[0] != 0 ? next : Red::combine(sum, next);
    }
  }

 private:
  // ---- along the row ---------------------------------------------------------------------------------------------------
  TTENSOR_INLINE static total along(const uniforms& u, const cursor* c, index_t n) {
    if (TTENSOR_LIKELY((singly || n >= N) && n <= block && inputs_contiguous(c))) return row::run(c, n);
    return blocks(u, c, n);
  }
  TTENSOR_INLINE static bool inputs_contiguous(const cursor* c) {
    bool yes = true;
    loop::each([&](auto k) {
      if constexpr (k() >= outs) yes = yes && c[k()].step != 0;
    });
    return yes;
  }
  TTENSOR_NOINLINE static total blocks(const uniforms& u, const cursor* from, index_t n) {
    alignas(64) char room[loop::room_bytes()];
    cursor c[planes];
    prepare_row(c, from, loop::facts.v, planes, N, n, room);
    total partial[48];
    int depth = 0;
    index_t done = 0;
    for (index_t b = 0; done < n; ++b) {
      const index_t m = n - done < block ? n - done : block;
      total top = n >= N && inputs_contiguous(from) ? row::run(c, m) : one_block<false>(u, loop::start(c), c, m, n < N);
      for (int k = 0; k < planes; ++k) c[k].ptr += c[k].step * (block / N);
      done += m;
      // binary counter: block b is combined with its left neighbour for every trailing 1 of b
      for (index_t i = b; i & 1; i >>= 1) top = Red::combine(partial[--depth], top);
      partial[depth++] = top;
    }
    total all = partial[--depth];
    while (depth > 0) all = Red::combine(partial[--depth], all);
    return all;
  }
  // At most `block` elements in a fixed pattern of packs. `staged`: the whole run is shorter than a pack and stands in one. Contiguous: it is not, and
  // c is not read.
  template <bool Contiguous> TTENSOR_INLINE static total one_block(const uniforms& u, const places& from,
                                                                   const cursor* c, index_t m, bool staged) {
    acc a[chains];
    static_for<chains>([&](auto j) { a[j()] = Red::template identity<acc>(); });
    places p = from;
    auto jump = [&](index_t i) {
      if constexpr (Contiguous) return loop::plus(p, i);
      places q;
      loop::each([&](auto k) { q.v[k()] = p.v[k()] + (k() >= outs && c[k()].step != 0 ? i * loop::facts[k()].bytes : 0); });
      return q;
    };
    const index_t tail = m % N;
    auto fold_chains = [&] {
      static_for<chains / 2>([&](auto j) { a[j()] = Red::combine(a[j()], a[j() + chains / 2]); });
      if constexpr (chains == 4) a[0] = Red::combine(a[0], a[1]);
      return convert_value<total>(a[0]);
    };
    if (tail != 0) {  // the last elements as one more pack whose other lanes are the identity
      if (!Contiguous && TTENSOR_UNLIKELY(staged)) return convert_value<total>(first_lanes(value<false>(u, p), static_cast<int>(tail)));
      a[chains - 1] = last_lanes(value<false>(u, jump(m - N)), static_cast<int>(tail));  // m < N: begins in the block before
    }
    index_t i = 0;
    if constexpr (widens) {  // four steps at a time in acc
      total sum = convert_value<total>(a[chains - 1]);
      constexpr index_t steps = 4;
      for (; i + steps * chains * N <= m; i += steps * chains * N) {
        static_for<chains>([&](auto j) { a[j()] = value<Contiguous>(u, jump(i + j() * N)); });
        for (index_t s = 1; s < steps; ++s)
          static_for<chains>(
              [&](auto j) { a[j()] = Red::combine(a[j()], value<Contiguous>(u, jump(i + (s * chains + j()) * N))); });
        sum = Red::combine(sum, fold_chains());
      }
      for (; i + N <= m; i += N) sum = Red::combine(sum, convert_value<total>(value<false>(u, jump(i))));
      return sum;
    } else {  // nvcc warns of loops behind a return
      acc sum[chains];
      static_for<chains>([&](auto j) { sum[j()] = Red::template identity<acc>(); });
      constexpr index_t span = rounds ? 32 * chains * N : block;  // or a lane of a block would be the sum of thousands of terms one after the other
      for (bool first = true;; first = false) {
        const index_t limit = m - i > span ? i + span : m;
        for (; i + chains * N <= limit; i += chains * N)
          static_for<chains>([&](auto j) { a[j()] = Red::combine(a[j()], value<Contiguous>(u, jump(i + j() * N))); });
        const bool last = !rounds || i + chains * N > m;
        if (last && first) break;
        static_for<chains>([&](auto j) { sum[j()] = Red::combine(sum[j()], a[j()]); });
        static_for<chains>([&](auto j) { a[j()] = last ? sum[j()] : Red::template identity<acc>(); });
        if (last) break;
      }
      for (; i + N <= m; i += N) a[0] = Red::combine(a[0], value<false>(u, jump(i)));
      return fold_chains();
    }
  }

  // ---- across rows -------------------------------------------------------------------------------------------------------
  static constexpr int group = widens && planes <= 3 ? 8 : planes <= 4 ? 4 : 2;
  template <int Rows> struct row_table {  // the output, then the inputs of each row of a group
    static constexpr int count = outs + Rows * (planes - outs);
    static constexpr int own(int k) { return k < outs ? k : outs + (k - outs) % (planes - outs); }
    static constexpr int row(int k) { return k < outs ? 0 : (k - outs) / (planes - outs); }
    static constexpr array<plane_facts, count> facts() {
      array<plane_facts, count> f{};
      for (int k = 0; k < count; ++k) f[k] = loop::facts[own(k)];
      return f;
    }
  };
  template <int Rows, bool Often> TTENSOR_INLINE static acc tree(const uniforms& u, char* const* p) {
    if constexpr (Rows == 1) return value<Often>(u, p);
    else return Red::combine(tree<Rows / 2, Often>(u, p), tree<Rows / 2, Often>(u, p + Rows / 2 * (planes - outs)));
  }
  // Adds `groups` times `Rows` rows to the output row; the rows of a group are combined in a tree first.
  template <int Rows> TTENSOR_NOINLINE static void add_rows(const uniforms& u, const cursor* from, const index_t* down,
                                                            index_t n, index_t groups) {
    using table_of = row_table<Rows>;
    using rows_loop = strip<table_of, N>;
    cursor c[table_of::count];
    index_t next[table_of::count];
    for (int k = 0; k < table_of::count; ++k) {
      const int own = table_of::own(k);
      c[k] = from[own];
      next[k] = 0;
      if (down == nullptr) continue;
      c[k].ptr += table_of::row(k) * down[own];
      next[k] = Rows * down[own];
    }
    auto compute = [&](const typename rows_loop::places& q) {
      return Red::combine(core_io<Out, N>::load(q), convert_value<total>(tree<Rows, true>(u, q)));
    };
    auto compute_apart = [&](const typename rows_loop::places& q) {
      return Red::combine(core_io<Out, N>::load(q), convert_value<total>(tree<Rows, false>(u, q)));
    };
    auto store = [&](const total& v, const typename rows_loop::places& q) { core_io<Out, N>::store(v, q); };
    if constexpr (Rows > 1)
      if (n >= N && rows_loop::contiguous(c)) {
        for (auto p = rows_loop::start(c); groups > 0; --groups, rows_loop::down(p, next))
          rows_loop::template flat<apart ? 1 : 2>(p, n, compute, compute_apart, store);
        return;
      }
    for (; groups > 0; --groups) {
      rows_loop::stepped(c, n, compute_apart, store);
      for (int k = 0; k < table_of::count; ++k) c[k].ptr += next[k];
    }
  }
  TTENSOR_NOINLINE static void columns(const uniforms& u, const cursor* from, index_t n, const index_t* down, index_t rows) {
    cursor c[planes];
    for (int k = 0; k < planes; ++k) c[k] = from[k];
    const index_t groups = rows > 1 && down[0] == 0 ? rows / group : 0;
    if (groups > 0) {
      add_rows<group>(u, c, down, n, groups);
      for (int k = 0; k < planes; ++k) c[k].ptr += groups * group * down[k];
    }
    if (rows > groups * group) add_rows<1>(u, c, rows > 1 ? down : nullptr, n, rows - groups * group);
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
      for (int k = 0; k < scalar_traits<V>::planes / scalar_traits<decltype(v.value)>::planes - 1; ++k)
        r.tangent_at(k) = kept(v.tangent_at(k), keep, true);
      return r;
    } else {
      return select(keep, v, tangent ? V(lane_t<V>(0)) : Red::template identity<V>());
    }
  }
  template <class V> TTENSOR_INLINE static V last_lanes(const V& v, int n) { return kept(v, pack<bool, N>::load(flags.v + n)); }
  template <class V> TTENSOR_INLINE static V first_lanes(const V& v, int n) { return kept(v, !pack<bool, N>::load(flags.v + N - n)); }

  // The tree of pack::fold (lane i with lane i + n/2, then the first half again) without leaving the registers.
  template <int Half, class V> TTENSOR_INLINE static V fold_lanes(V v) {
    V other = v;
#if TTENSOR_HAS_REGISTERS
    [&]<int... I>(std::integer_sequence<int, I...>) {
      other.r[0] = __builtin_shufflevector(v.r[0], v.r[0], (I ^ Half)...);
    }(std::make_integer_sequence<int, V::width>{});
#endif
    v = Red::combine(v, other);
    if constexpr (Half > 1) return fold_lanes<Half / 2>(v);
    else return v;
  }
  template <class T, int M> TTENSOR_INLINE static T in_register(const pack<T, M>& v) {
    using V = pack<T, M>;
    if constexpr (!V::registers || V::width == 1) {
      return fold(v, [](auto a, auto b) { return Red::combine(a, b); });
    } else if constexpr (V::count > 1) {
      pack<T, M / 2> low, high;
      static_for<V::count / 2>([&](auto i) { low.r[i()] = v.r[i()], high.r[i()] = v.r[i() + V::count / 2]; });
      return in_register(Red::combine(low, high));
    } else {
      return fold_lanes<V::width / 2>(v)[0];
    }
  }
  template <class V> static auto folded(const V& v) {
    if constexpr (is_dual_v<V>) {
      using X = decltype(folded(v.value));
      dual<X, scalar_traits<V>::planes / scalar_traits<decltype(v.value)>::planes - 1> r;
      r.value = folded(v.value);
      for (int k = 0; k < scalar_traits<V>::planes / scalar_traits<decltype(v.value)>::planes - 1; ++k)
        r.tangent_at(k) = folded(v.tangent_at(k));
      return r;
    } else {
      return in_register(v);
    }
  }
  template <int P, class S> TTENSOR_INLINE static void put(const S& s, const cursor* c) {
    if constexpr (is_dual_v<S>) {
      constexpr int inner = scalar_traits<decltype(s.value)>::planes, n = scalar_traits<S>::planes / inner - 1;
      put<P>(s.value, c);
      static_for<n>([&](auto k) { put<P + (1 + k()) * inner>(s.tangent_at(k), c); });
    } else {
      using T = typename core_elem<Out>::type;
      T* to = reinterpret_cast<T*>(c[P].ptr);
      *to = static_cast<T>(Red::combine(static_cast<compute_t<T>>(*to), s));
    }
  }
};

}  // namespace run
TTENSOR_END
