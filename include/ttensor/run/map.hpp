// The fused elementwise loop: one flat program, packs in, packs out; tails run the same pack code.
#pragma once
#include "../ops/arithmetic.hpp"
#include "one_by_one.hpp"

TTENSOR_BEGIN
namespace run {

/// y[i] = Prog(leaves[i]). Out and L... are core scalars (L possibly uniform). `launch` is a run::rows_kernel. Rows: the statement has
/// several axes, so that leaves may be constant along a row. Streams: long results are written past the caches.
template <bool Rows, bool Streams, class Prog, class Out, class... L> struct map_kernel {
  static constexpr int N = lanes_of<Out, L...>();
  using table = plane_table<Out, L...>;
  using leaves = leaf_set<N, L...>;
  using sweeper = sweep<Prog, typename leaves::list>;
  using out_value = typename core_io<Out, N>::value;
  using loop = strip<table, N>;
  using places = typename loop::places;
  static constexpr int outs = core_io<Out, N>::planes, planes = table::count, cost = planes + 2 * Prog::length;
  static constexpr bool apart = stands_apart<Prog, out_value>;
  // Short programs over contiguous planes are limited by loop overhead, so they have a loop of their own.
  static constexpr int unroll = Prog::length > 24 ? 0 : apart ? 1 : Prog::length <= 8 ? 4 : 2;

  using single = one_by_one<Prog, Out, L...>;
  static constexpr bool pads = fills_pack<Prog, table, 0, N, L...>(), takes_few = single::wanted;

  static constexpr bool copies = std::is_same_v<Prog, program<0, ld<0>>> && (std::is_same_v<Out, L> && ...) && sizeof(Out) < 4;

  // Results much larger than the caches are written past them: nothing is read that is then overwritten whole.
  static constexpr bool can_stream = Streams && unroll > 0 && Prog::length <= 12 &&
                                     std::is_same_v<out_value, pack<Out, N>>&& simd::in_registers<Out, N>;
  static constexpr index_t stream_from = (index_t(24) << 20) / static_cast<index_t>(sizeof(Out));

  // What the loops call. No lambdas around functions: each function around the whole statement is the statement once more for the compiler.
  struct computed {
    const typename leaves::uniforms& u;
    TTENSOR_INLINE out_value operator()(const places& p) const { return value(u, p); }
  };
  struct computed_apart {
    const typename leaves::uniforms& u;
    TTENSOR_INLINE out_value operator()(const places& p) const {
      if constexpr (apart) return value_apart(u, p);
      else return value(u, p);
    }
  };
  TTENSOR_INLINE static out_value value(const typename leaves::uniforms& u, char* const* p) {
    typename sweeper::values v;
    leaves::template load<table, Prog>(v, u, p);
    sweeper::forward(v, typename sweeper::order{});
    return convert_value<out_value>(at<Prog::root>(v));
  }
  TTENSOR_NOINLINE static out_value value_apart(const typename leaves::uniforms& u, char* const* p) { return value(u, p); }
  struct stored {
    TTENSOR_INLINE void operator()(const out_value& v, const places& p) const { core_io<Out, N>::store(v, p); }
  };
  template <class Planes> struct contiguous_row;
  /// One row of contiguous planes, n >= N; any n where the loop takes_few. The addresses are arguments: a statement that knows them passes them in registers.
  template <int... K> struct contiguous_row<int_list<K...>> {
    TTENSOR_NOINLINE static void run(plane_address<K>... at, index_t n) {
      if constexpr (copies) {  // elements as they are
        char* const p[] = {at...};
        return void(__builtin_memmove(p[0], p[1], static_cast<std::size_t>(n) * sizeof(Out)));
      }
      if constexpr (can_stream)
        if (TTENSOR_UNLIKELY(n >= stream_from && streams(at...))) return streamed(at..., n);
      const places p = loop::at_addresses(int_list<K...>{}, at...);
      if constexpr (takes_few)
        if (TTENSOR_UNLIKELY(n < N)) return few(p, n, nullptr, 1);
      const auto u = leaves::template load_uniforms<table, Prog>(p.v);
      loop::template flat<unroll>(p, n, computed{u}, computed_apart{u}, stored{});
    }
    TTENSOR_INLINE static void run(char* const* at, index_t n) { run(at[K]..., n); }
    /// The same of fewer than N elements of which nothing may be read behind the last: one by one.
    TTENSOR_INLINE static void run_few(char* const* at, index_t n) { few_at(at[K]..., n); }
    TTENSOR_NOINLINE static void few_at(plane_address<K>... at, index_t n) { few(loop::at_addresses(int_list<K...>{}, at...), n, nullptr, 1); }
    static void one_of(const cursor* c, index_t n, [[maybe_unused]] index_t rows) {
      if constexpr (can_stream)
        if (TTENSOR_UNLIKELY(n >= 256 && n * rows >= stream_from) && streams(c[K].ptr...)) return streamed(c[K].ptr..., n);
      run(c[K].ptr..., n);
    }
    static void rows(const cursor* c, index_t n, const index_t* down, index_t rows) {
      places p = loop::start(c);
      ((p.v[K] = c[K].ptr), ...);
      if constexpr (takes_few)
        if (n < N) return few(p, n, down, rows);
      for (;;) {
        run(p.v, n);
        if (--rows <= 0) return;
        loop::down(p, down);
      }
    }

   private:
    static void few(const places& p, index_t n, const index_t* down, index_t rows) {
      single::template each<typename core_io<Out, 1>::value, loop>(p, n, down, rows, [](index_t, const auto& v, const places& q) { core_io<Out, 1>::store(v, q); });
    }
    static bool streams(plane_address<K>... at) {  // the output is aligned and not an input
      const std::uintptr_t out = (0 + ... + (K == 0 ? reinterpret_cast<std::uintptr_t>(at) : 0));
      return out % 64 == 0 && ((K == 0 || reinterpret_cast<std::uintptr_t>(at) != out) && ...);
    }
    TTENSOR_NOINLINE static void streamed(plane_address<K>... at, index_t n) {
      const places p = loop::at_addresses(int_list<K...>{}, at...);
      const auto u = leaves::template load_uniforms<table, Prog>(p.v);
      const computed compute{u};
      loop::template flat<1>(p, n - n % N, compute, [](const out_value& v, const places& q) { stream(v, reinterpret_cast<Out*>(q.v[0])); });
      stream_fence();
      if (n % N != 0) stored{}(compute(loop::plus(p, n - N)), loop::plus(p, n - N));
    }
  };
  struct row : contiguous_row<typename planes_read<Prog, table, leaves::count, true>::type> {};  // a class: long programs have no such loop
  TTENSOR_NOINLINE static void launch(const cursor* c, index_t n, const index_t* down, index_t rows) {
    if constexpr (unroll > 0)
      if (TTENSOR_LIKELY((takes_few || n >= N) && loop::contiguous(c))) return row::rows(c, n, down, rows);
    if constexpr (unroll == 0 && !any_function(Prog{}))  // long, of arithmetic: half of its time is addresses
      if (TTENSOR_LIKELY(n >= N && loop::contiguous(c))) return adjacent_rows(c, n, down, rows);
    general(c, n, down, rows);
  }
  /// One of `rows` rows of n >= N adjacent elements.
  TTENSOR_NOINLINE static void adjacent(const cursor* c, index_t n, const index_t*, index_t rows) {
    if constexpr (unroll > 0) {
      row::one_of(c, n, rows);
    } else {
      const auto u = leaves::template load_uniforms<table, Prog>(c);
      loop::adjacent(loop::start(c), n, computed{u}, stored{});
    }
  }

 private:
  static void adjacent_rows(const cursor* from, index_t n, const index_t* down, index_t rows) {
    cursor c[planes];
    for (int k = 0; k < planes; ++k) c[k] = from[k];
    for (;;) {
      adjacent(c, n, nullptr, 1);
      if (--rows <= 0) return;
      for (int k = 0; k < planes; ++k) c[k].ptr += down[k];
    }
  }
  TTENSOR_NOINLINE static void general(const cursor* from, index_t n, const index_t* down, index_t rows) {
    if (n == 0) return;
    const auto u = leaves::template load_uniforms<table, Prog>(from);
    cursor c[planes];
    for (int k = 0; k < planes; ++k) c[k] = from[k];
    auto compute = [&] {
      if constexpr (!has_invariants()) return computed_apart{u};
      else return typename invariants::computed_row{u, invariants::constant_along(from)};
    }();
    for (;;) {
      if constexpr (has_invariants()) compute.known = 0;
      loop::stepped(c, n, compute, stored{});
      if (--rows <= 0) return;
      for (int k = 0; k < planes; ++k) c[k].ptr += down[k];
    }
  }

  // Costly instructions whose leaves may all be constant along a row, while others are not: computed once a row then.
  template <class P> struct row_invariants;
  template <int Root, class... Ins> struct row_invariants<program<Root, Ins...>> {
    static constexpr int M = static_cast<int>(sizeof...(Ins));
    struct table_of {
      std::uint64_t reads[M]{};   // leaves that an instruction depends on, uniform ones left out
      int number[M];              // among the candidates, or -1
      int count = 0;
      constexpr table_of() {
        const ins_facts f[] = {lowering::facts_of(Ins{})...};
        const bool costly[] = {is_costly_v<operator_of_t<Ins>>...};
        const bool uniform[] = {is_uniform_v<L>..., false};
        for (int i = 0; i < M; ++i) {
          if (f[i].slot >= 0 && f[i].slot < 64 && !uniform[f[i].slot]) reads[i] = std::uint64_t(1) << f[i].slot;
          for (int j = 0; j < f[i].arity; ++j) reads[i] |= reads[f[i].operand[j]];
          number[i] = -1;
        }
        for (int i = 0; i < M; ++i)
          if (costly[i] && reads[i] != 0 && reads[i] != reads[Root] && count < 32 && sizeof...(L) <= 64) number[i] = count++;
      }
    };
    static constexpr table_of facts{};
    struct nothing {};
    template <class S> struct pick;
    template <int... I> struct pick<std::integer_sequence<int, I...>> {
      using type = bundle<std::conditional_t<(facts.number[I] >= 0), typename sweeper::template value_t<I>, nothing>...>;
    };
    using values = typename pick<std::make_integer_sequence<int, M>>::type;

    static unsigned constant_along(const cursor* c) {
      std::uint64_t still = 0;  // leaves with one value along a row
      for (int l = 0; l < static_cast<int>(sizeof...(L)); ++l) {
        bool one = true;  // of every plane: a dual's value may stand still where its tangent does not
        for (int k = table::first(l + 1); k < table::first(l + 2); ++k) one = one && c[k].step == 0;
        if (one) still |= std::uint64_t(1) << l;
      }
      unsigned r = 0;
      for (int i = 0; i < M; ++i)
        if (facts.number[i] >= 0 && (facts.reads[i] & ~still) == 0) r |= 1u << facts.number[i];
      return r;
    }
    struct once {  // a row
      template <int I, class In> TTENSOR_INLINE static void step(typename sweeper::values& v, In in, values& held, unsigned known) {
        if (!(known >> facts.number[I] & 1u)) {
          sweeper::template step<I>(v, in);
          at<I>(held) = at<I>(v);
        }
        at<I>(v) = at<I>(held);
      }
    };
    template <int I> using stepper = std::conditional_t<(facts.number[I] < 0), sweeper, once>;
    TTENSOR_INLINE static void forward(typename sweeper::values& v, values& held, unsigned known) {
      [&]<int... I>(std::integer_sequence<int, I...>) {
        (stepper<I>::template step<I>(v, Ins{}, held, known), ...);
      }(std::make_integer_sequence<int, M>{});
    }
    struct computed_row {  // the first pack of a row computes everything
      const typename leaves::uniforms& u;
      unsigned still, known = 0;
      values held{};
      TTENSOR_INLINE out_value operator()(const places& p) {
        typename sweeper::values v;
        leaves::template load<table, Prog>(v, u, p);
        forward(v, held, known);
        known = still;
        return convert_value<out_value>(at<Root>(v));
      }
    };
  };
  using invariants = row_invariants<Prog>;
  static constexpr bool has_invariants() {
    if constexpr (Rows) return invariants::facts.count > 0;
    else return false;
  }
};

}  // namespace run
TTENSOR_END
