// The fused backward loop of a statement: recompute the values, sweep the program in reverse, and add to the adjoint of
// every leaf in the same pass. Nothing but the leaves is read, nothing but adjoints is written.
#pragma once
#include "core_io.hpp"

TTENSOR_BEGIN
namespace run {

/// Component I (in plane order) of a core value.
template <int I, class V> TTENSOR_INLINE const auto& component(const V& v) {
  if constexpr (is_dual_v<V>) {
    using X = std::remove_cvref_t<decltype(v.value)>;
    constexpr int inner = scalar_traits<X>::planes;
    if constexpr (I < inner) return component<I>(v.value);
    else return component<I % inner>(v.tangent_at(I / inner - 1));
  } else {
    return static_cast<void>(I), v;
  }
}
template <class E, int Planes> struct adjoint_target {  // of one active leaf: element type and number of adjoint planes
  using elem = E;
  static constexpr int planes = Planes;
};

/// Cursors: cotangent planes, leaf planes, then for each active leaf its adjoint planes and the planes to add to (equal,
/// or a zero when the adjoint is fresh). Kernel signature as run::kernel. Targets: one a leaf, planes 0 where inactive.
/// Adjoints of duals outside the tape are stored in reverse plane order: with ct = y_dot_bar + eps y_bar the reverse sweep
/// in dual arithmetic gives x_dot_bar + eps x_bar, so second-order terms need no code of their own.
template <class Prog, std::uint64_t Active, class Out, int OutVars, class Targets, class... L> struct back_kernel;
template <class Prog, std::uint64_t Active, class Out, int OutVars, class... Target, class... L>
struct back_kernel<Prog, Active, Out, OutVars, type_list<Target...>, L...> {
  static constexpr int N = lanes_of<Out, L...>();
  static constexpr int leaf_count = static_cast<int>(sizeof...(L));
  using table = plane_table<Out, L...>;
  static constexpr auto value_bytes = table::bytes();
  static constexpr int target_planes = (Target::planes + ... + 0);
  static constexpr int planes = table::count + 2 * target_planes;
  using sweeper = sweep<Prog, type_list<typename core_io<L, N>::value...>>;
  using ct_value = typename core_io<Out, N>::value;
  static constexpr int out_planes = core_io<Out, N>::planes, var_planes = out_planes / OutVars;  // planes of one taped value

  static constexpr int target_first(int leaf) {
    const int n[] = {Target::planes..., 0};
    int at = table::count;
    for (int i = 0; i < leaf; ++i) at += 2 * n[i];
    return at;
  }
  static constexpr array<int, planes> all_bytes() {
    array<int, planes> b{};
    for (int k = 0; k < table::count; ++k) b[k] = value_bytes[k];
    int at = table::count;
    auto add = [&](int n, int size) {
      for (int k = 0; k < 2 * n; ++k) b[at++] = size;
    };
    (add(Target::planes, static_cast<int>(sizeof(typename Target::elem))), ...);
    return b;
  }
  static constexpr auto bytes = all_bytes();

  template <int I, class C, class V> TTENSOR_INLINE static void load(V& v, char* const* p, const index_t* zero) {
    if constexpr (!is_uniform_v<C>) at<I>(v) = core_io<C, N>::template load<table::first(I + 1)>(p, zero);
  }
  template <int I, class C, class V> TTENSOR_INLINE static void load_uniform(V& v, char* const* p) {
    if constexpr (is_uniform_v<C>) at<I>(v) = core_io<C, N>::broadcast(p + table::first(I + 1));
  }
  template <int Leaf, class T, class A> TTENSOR_INLINE static void add(const A& a, char* const* p) {
    if constexpr (T::planes > 0) {
      constexpr int first = target_first(Leaf);
      const auto& g = at<sweeper::load_of(Leaf)>(a);
      static_for<T::planes>([&](auto k) {
        constexpr int var = k() / var_planes, part = k() % var_planes;
        using E = typename T::elem;
        const auto& d = component<(OutVars - 1 - var) * var_planes + part>(g);
        using V = std::remove_cvref_t<decltype(d)>;
        const auto sum = load_as<V>(reinterpret_cast<const E*>(p[first + T::planes + k()])) + d;
        store_as(sum, reinterpret_cast<E*>(p[first + k()]));
      });
    }
  }
  TTENSOR_INLINE static void body(typename sweeper::leaf_values v, char* const* p) {
    const index_t zero[planes]{};
    const auto ct = core_io<Out, N>::template load<0>(p, zero);
    [&]<int... I>(std::integer_sequence<int, I...>) {
      (load<I, L>(v, p, zero), ...);
      const auto a = sweeper::template reverse<Active, ct_value>(v, ct);
      (add<I, Target>(a, p), ...);
    }(std::make_integer_sequence<int, leaf_count>{});
  }
  TTENSOR_NOINLINE static void launch(const cursor* c, index_t n, bool) {
    char* p[planes];
    index_t step[planes];
    for (int k = 0; k < planes; ++k) {
      p[k] = c[k].ptr;
      step[k] = c[k].step;
    }
    // an adjoint that the whole run adds to one element is summed in a pack first
    alignas(64) char sums[target_planes * N * 16 + 1];
    [&]<int... I>(std::integer_sequence<int, I...>) { (open_sum<I, Target>(p, step, sums), ...); }(std::make_integer_sequence<int, leaf_count>{});
    typename sweeper::leaf_values uniforms;
    [&]<int... I>(std::integer_sequence<int, I...>) { (load_uniform<I, L>(uniforms, p), ...); }(std::make_integer_sequence<int, leaf_count>{});
    index_t rest = n % N, chunk = 0;  // elements after the full packs, and how many of them go into one staged pack
    char room[staged_bytes()];
    char* home[planes]{};
    for (index_t todo = n / N;; todo = 1) {
      for (; todo > 0; --todo) {
        body(uniforms, p);
        for (int k = 0; k < planes; ++k) p[k] += step[k];
      }
      if (chunk != 0) {
        [&]<int... I>(std::integer_sequence<int, I...>) { (unstage<I, Target>(home, step, room, chunk), ...); }(std::make_integer_sequence<int, leaf_count>{});
        rest -= chunk;
        for (int k = 0; k < planes; ++k) p[k] = home[k] + (step[k] == 0 ? 0 : chunk * bytes[k]);
      }
      if (rest == 0) break;
      if (chunk == 0) chunk = overlapping(p, step, rest) ? 1 : rest;
      for (int k = 0; k < planes; ++k) home[k] = p[k];
      stage(p, step, room, chunk);
    }
    [&]<int... I>(std::integer_sequence<int, I...>) { (close_sum<I, Target>(c, sums), ...); }(std::make_integer_sequence<int, leaf_count>{});
  }

 private:
  static constexpr int staged_at(int k) {
    int at = 0;
    for (int i = 0; i < k; ++i) at += N * bytes[i];
    return at;
  }
  static constexpr int staged_bytes() { return staged_at(planes) + 1; }
  static constexpr int sum_at(int leaf, int k) { return ((target_first(leaf) - table::count) / 2 + k) * N * 16; }
  template <int Leaf, class T> TTENSOR_INLINE static void open_sum(char** p, index_t* step, char* sums) {
    for (int k = 0; k < T::planes; ++k) {
      const int dst = target_first(Leaf) + k, src = dst + T::planes;
      if (step[dst] != 0) continue;
      std::memset(sums + sum_at(Leaf, k), 0, static_cast<std::size_t>(N) * sizeof(typename T::elem));
      p[dst] = p[src] = sums + sum_at(Leaf, k);
      step[src] = 0;
    }
  }
  template <int Leaf, class T> requires(T::planes == 0) static void close_sum(const cursor*, const char*) {}
  template <int Leaf, class T> TTENSOR_INLINE static void close_sum(const cursor* c, const char* sums) {
    using E = typename T::elem;
    for (int k = 0; k < T::planes; ++k) {
      const int dst = target_first(Leaf) + k;
      if (c[dst].step != 0) continue;
      using V = pack<compute_t<E>, N>;
      const auto s = fold(load_as<V>(reinterpret_cast<const E*>(sums + sum_at(Leaf, k))), [](auto a, auto b) { return a + b; });
      E* to = reinterpret_cast<E*>(c[dst].ptr);
      *to = static_cast<E>(static_cast<compute_t<E>>(*to) + s);
    }
  }
  // The last elements in a full pack: leaves repeat the last element, cotangents are 0 beyond it, so those lanes add 0.
  // Targets that are one place in memory (x * x names x twice) stay one place.
  TTENSOR_NOINLINE static void stage(char** p, const index_t* step, char* room, index_t tail) {
    char* from[planes];
    for (int k = 0; k < planes; ++k) from[k] = p[k];
    for (int k = 0; k < planes; ++k) {
      const bool target = k >= table::count;
      if (step[k] == 0 && (target || k >= out_planes)) continue;
      bool seen = false;
      for (int j = table::count; target && j < k && !seen; ++j)
        if (from[j] == from[k]) p[k] = p[j], seen = true;
      if (seen) continue;
      char* to = room + staged_at(k);
      const int b = bytes[k];
      for (int i = 0; i < N; ++i) {
        const char* e = from[k] + (step[k] == 0 ? 0 : (i < tail ? i : tail - 1) * b);
        if (k < out_planes && i >= tail) std::memset(to + i * b, 0, static_cast<std::size_t>(b));
        else std::memcpy(to + i * b, e, static_cast<std::size_t>(b));
      }
      p[k] = to;
    }
  }
  /// Targets that share memory without being one place, as those of x(range(1, end)) - x(range(0, -1)): staged together they
  /// would overwrite each other.
  static bool overlapping(char* const* p, const index_t* step, index_t tail) {
    for (int k = table::count; k < planes; ++k)
      for (int j = table::count; j < k; ++j)
        if (step[k] != 0 && step[j] != 0 && p[k] != p[j] && p[k] < p[j] + tail * bytes[j] && p[j] < p[k] + tail * bytes[k]) return true;
    return false;
  }
  template <int Leaf, class T> TTENSOR_INLINE static void unstage(char* const* home, const index_t* step, const char* room, index_t tail) {
    for (int k = 0; k < T::planes; ++k) {
      const int dst = target_first(Leaf) + k;
      if (step[dst] == 0) continue;
      int first = dst;  // the buffer of the first target at this place
      for (int j = table::count; j < first; ++j)
        if (home[j] == home[dst] && step[j] != 0) first = j;
      std::memcpy(home[dst], room + staged_at(first), static_cast<std::size_t>(tail * bytes[dst]));
    }
  }
};

}  // namespace run
TTENSOR_END
