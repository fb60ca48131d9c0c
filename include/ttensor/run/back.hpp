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
namespace back_detail {
template <class T> void add(char* into, const char* from, index_t n) {
  T* to = reinterpret_cast<T*>(into);
  for (index_t i = 0; i < n; ++i) to[i] = static_cast<T>(to[i] + reinterpret_cast<const T*>(from)[i]);
}
using adder = void (*)(char*, const char*, index_t);
/// What long sums of E are collected in.
template <class E> using wide = std::conditional_t<is_floating_v<E> && sizeof(E) <= 8, double, E>;
}  // namespace back_detail
template <class E, int Planes> struct adjoint_target {  // of one active leaf: element type and number of adjoint planes
  using elem = E;
  static constexpr int planes = Planes;
};

/// Cursors: cotangent planes, leaf planes, for each active leaf its adjoint planes, and last the address of a mask: bit k says
/// that adjoint plane k is stored and not added to. Kernel signature as run::kernel. Targets: one a leaf, planes 0 where
/// inactive. Adjoints of duals outside the tape are stored in reverse plane order: with ct = y_dot_bar + eps y_bar the
/// reverse sweep in dual arithmetic gives x_dot_bar + eps x_bar, so second-order terms need no code of their own.
/// Value: the statement is summed to one number. The cotangent is 1, and the first plane is where the sum is added.
template <class Prog, std::uint64_t Active, class Out, int OutVars, bool Value, class Targets, class... L> struct back_kernel;
template <class Prog, std::uint64_t Active, class Out, int OutVars, bool Value, class... Target, class... L>
struct back_kernel<Prog, Active, Out, OutVars, Value, type_list<Target...>, L...> {
  static constexpr int N = lanes_of<Out, L...>();
  static constexpr int leaf_count = static_cast<int>(sizeof...(L));
  using table = plane_table<Out, L...>;
  static constexpr auto value_bytes = table::bytes();
  static constexpr int target_planes = (Target::planes + ... + 0);
  static constexpr int planes = table::count + target_planes + 1, cost = planes + 4 * Prog::length;
  static_assert(planes <= max_planes && target_planes <= 64, "ttensor: too many arrays in one statement; evaluate a part with eval() first");
  using sweeper = sweep<Prog, type_list<typename core_io<L, N>::value...>>;
  using ct_value = typename core_io<Out, N>::value;
  static constexpr int out_planes = core_io<Out, N>::planes, var_planes = out_planes / OutVars;  // planes of one taped value

  static constexpr int target_first(int leaf) {
    const int n[] = {Target::planes..., 0};
    int at = table::count;
    for (int i = 0; i < leaf; ++i) at += n[i];
    return at;
  }
  static constexpr array<int, planes> all_bytes() {
    array<int, planes> b{};
    for (int k = 0; k < table::count; ++k) b[k] = value_bytes[k];
    int at = table::count;
    auto add = [&](int n, int size) {
      for (int k = 0; k < n; ++k) b[at++] = size;
    };
    (add(Target::planes, static_cast<int>(sizeof(typename Target::elem))), ...);
    b[at] = 8;
    return b;
  }
  static constexpr auto bytes = all_bytes();
  static constexpr array<back_detail::adder, planes> adders() {
    array<back_detail::adder, planes> a{};
    for (int k = 0; k < table::count; ++k) a[k] = back_detail::add<typename core_elem<Out>::type>;
    int at = table::count;
    auto fill = [&](int n, back_detail::adder f) {
      for (int k = 0; k < n; ++k) a[at++] = f;
    };
    (fill(Target::planes, back_detail::add<typename Target::elem>), ...);
    return a;
  }
  static void open(char* const* out, index_t n, int p) { std::memset(out[0], 0, static_cast<std::size_t>(n * bytes[p])); }
  static void merge(char* const* into, char* const* from, index_t n, int p) {
    static constexpr auto add_of = adders();
    add_of[p](into[0], from[0], n);
  }
  static constexpr bool narrow = sizeof(typename core_elem<Out>::type) <= 4;
  static constexpr accumulation sums{1, 16384, narrow ? 8 : 64, narrow ? 8 : 64, open, merge};

  template <int I, class C, class V> TTENSOR_INLINE static void load(V& v, char* const* p, const index_t* zero) {
    if constexpr (!is_uniform_v<C>) at<I>(v) = core_io<C, N>::template load<table::first(I + 1)>(p, zero);
  }
  template <int I, class C, class V> TTENSOR_INLINE static void load_uniform(V& v, char* const* p) {
    if constexpr (is_uniform_v<C>) at<I>(v) = core_io<C, N>::broadcast(p + table::first(I + 1));
  }
  // Targets that are one place in memory (x * x names x twice) are summed before memory is touched: `lead` of a target is
  // the first one at its place.
  struct summed {
    alignas(64) char at[target_planes + 1][N * 16];
  };
  template <int Leaf, class T, class A> TTENSOR_INLINE static void add(const A& a, const unsigned char* lead, summed& s) {
    if constexpr (T::planes > 0) {
      constexpr int first = target_first(Leaf) - table::count;
      const auto& g = at<sweeper::load_of(Leaf)>(a);
      static_for<T::planes>([&](auto k) __attribute__((always_inline)) {
        constexpr int var = k() / var_planes, part = k() % var_planes;
        const auto& d = component<(OutVars - 1 - var) * var_planes + part>(g);
        using V = std::remove_cvref_t<decltype(d)>;
        using C = lane_t<V>;
        C* to = reinterpret_cast<C*>(s.at[lead[first + k()]]);
        if (lead[first + k()] == first + k()) d.store(to);
        else (V::load(to) + d).store(to);
      });
    }
  }
  template <int Leaf, class T, class A> TTENSOR_INLINE static void flush(const A& a, char* const* p, const unsigned char* lead, std::uint64_t fresh, const summed& s) {
    if constexpr (T::planes > 0) {
      constexpr int first = target_first(Leaf) - table::count;
      const auto& g = at<sweeper::load_of(Leaf)>(a);
      static_for<T::planes>([&](auto k) __attribute__((always_inline)) {
        constexpr int t = first + k(), part = k() % var_planes;
        if (lead[t] != t) return;
        using V = std::remove_cvref_t<decltype(component<part>(g))>;
        using E = typename T::elem;
        const V d = V::load(reinterpret_cast<const lane_t<V>*>(s.at[t]));
        E* to = reinterpret_cast<E*>(p[table::count + t]);
        if (fresh >> t & 1u) store_as(d, to);
        else store_as(load_as<V>(to) + d, to);
      });
    }
  }
  /// One pack; returns the value of the statement.
  TTENSOR_INLINE static ct_value body(typename sweeper::leaf_values v, char* const* p, const ct_value& ct, const unsigned char* lead, std::uint64_t fresh) {
    const index_t zero[planes]{};
    return [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
      (load<I, L>(v, p, zero), ...);
      typename sweeper::values all;
      const auto a = sweeper::template reverse_with<Active, ct_value>(all, v, ct);
      summed s;
      (add<I, Target>(a, lead, s), ...);
      (flush<I, Target>(a, p, lead, fresh, s), ...);
      if constexpr (Value) return convert_value<ct_value>(at<Prog::root>(all));
      else return ct;
    }(std::make_integer_sequence<int, leaf_count>{});
  }
  TTENSOR_NOINLINE static void launch(const cursor* c, index_t n, bool) {
    char* p[planes];
    index_t step[planes];
    for (int k = 0; k < planes; ++k) {
      p[k] = c[k].ptr;
      step[k] = c[k].step;
    }
    std::uint64_t fresh;
    std::memcpy(&fresh, p[planes - 1], sizeof fresh);
    // an adjoint that the whole run adds to one element is summed in a pack first
    alignas(64) char sums[target_planes * N * 16 + 1];
    alignas(64) char wide[target_planes * N * 16 + 1];
    bool carries = false;
    [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) { (open_sum<I, Target>(p, step, sums, wide, carries, fresh), ...); }(std::make_integer_sequence<int, leaf_count>{});
    unsigned char lead[target_planes + 1];
    for (int k = 0; k < target_planes; ++k) {
      int j = 0;
      while (j < k && !(p[table::count + j] == p[table::count + k] && step[table::count + j] == step[table::count + k] && bytes[table::count + j] == bytes[table::count + k])) ++j;
      lead[k] = static_cast<unsigned char>(j);
    }
    typename sweeper::leaf_values uniforms{};
    [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) { (load_uniform<I, L>(uniforms, p), ...); }(std::make_integer_sequence<int, leaf_count>{});
    const index_t packs = n / N, tail = n % N;
    const index_t zero[planes]{};
    [[maybe_unused]] adder sum;
    char room[staged_bytes()];
    for (index_t i = 0, last = tail != 0 ? packs + 1 : packs; i < last; ++i) {
      ct_value ct;
      if (TTENSOR_UNLIKELY(i == packs)) stage(p, step, room, tail);
      if constexpr (!Value) {
        ct = core_io<Out, N>::template load<0>(p, zero);
        body(uniforms, p, ct, lead, fresh);
      } else {
        ct = i == packs ? first_ones(tail) : ct_value(compute_t<typename core_elem<Out>::type>(1));
        const ct_value v = body(uniforms, p, ct, lead, fresh);
        sum.add(TTENSOR_UNLIKELY(i == packs) ? first_lanes(v, tail) : v);
      }
      for (int k = 0; k < planes - 1; ++k) p[k] += step[k];
      if (TTENSOR_UNLIKELY(carries && (i & 7) == 7)) carry(c, sums, wide);
    }
    if (tail != 0) [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) { (unstage<I, Target>(c, step, room, packs, tail, fresh), ...); }(std::make_integer_sequence<int, leaf_count>{});
    [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) { (close_sum<I, Target>(c, sums, wide), ...); }(std::make_integer_sequence<int, leaf_count>{});
    if constexpr (Value) {
      using T = typename core_elem<Out>::type;
      T* to = reinterpret_cast<T*>(c[0].ptr);
      *to = static_cast<T>(static_cast<compute_t<T>>(*to) + fold(sum.total(), [](auto a, auto b) { return a + b; }));
    }
  }

 private:
  /// Sums packs; every sixteen are added to a sum in double.
  struct adder {
    ct_value chain[4] = {ct_value(0), ct_value(0), ct_value(0), ct_value(0)};
    using wide = relane_t<ct_value, back_detail::wide<lane_t<ct_value>>>;
    wide sum = wide(0);
    index_t count = 0;
    TTENSOR_INLINE void add(const ct_value& v) {
      ct_value& a = chain[count & 3];
      a = a + v;
      if (TTENSOR_UNLIKELY((++count & 15) == 0)) carry();
    }
    TTENSOR_INLINE void carry() {
      sum = sum + convert_value<wide>((chain[0] + chain[2]) + (chain[1] + chain[3]));
      for (ct_value& a : chain) a = ct_value(0);
    }
    TTENSOR_INLINE wide total() {
      carry();
      return sum;
    }
  };
  static ct_value first_ones(index_t n) {
    using T = lane_t<ct_value>;
    T t[N];
    for (int i = 0; i < N; ++i) t[i] = T(i < n ? 1 : 0);
    return ct_value::load(t);
  }
  static ct_value first_lanes(const ct_value& v, index_t n) {
    using T = lane_t<ct_value>;
    T t[N];
    v.store(t);
    for (index_t i = n; i < N; ++i) t[i] = T(0);
    return ct_value::load(t);
  }
  static constexpr int staged_at(int k) {
    int at = 0;
    for (int i = 0; i < k; ++i) at += N * bytes[i];
    return at;
  }
  static constexpr int staged_bytes() { return staged_at(planes) + 1; }
  static constexpr int sum_at(int leaf, int k) { return (target_first(leaf) - table::count + k) * N * 16; }
  template <int Leaf, class T> TTENSOR_INLINE static void open_sum(char** p, index_t* step, char* sums, char* wide, bool& carries, std::uint64_t& fresh) {
    for (int k = 0; k < T::planes; ++k) {
      const int dst = target_first(Leaf) + k;
      if (step[dst] != 0) continue;
      std::memset(sums + sum_at(Leaf, k), 0, static_cast<std::size_t>(N) * sizeof(typename T::elem));
      std::memset(wide + sum_at(Leaf, k), 0, N * 16);
      carries = carries || !std::is_same_v<typename T::elem, back_detail::wide<typename T::elem>>;
      p[dst] = sums + sum_at(Leaf, k);
      fresh &= ~(std::uint64_t(1) << (dst - table::count));
    }
  }
  /// Packs of sums narrower than double are emptied into packs of double, so that no sum in float is long.
  template <int Leaf, class T> requires(T::planes == 0) static void carry_one(const cursor*, char*, char*) {}  // a mask
  template <int Leaf, class T> TTENSOR_INLINE static void carry_one(const cursor* c, char* sums, char* wide) {
    for (int k = 0; k < T::planes; ++k) {
      if (c[target_first(Leaf) + k].step != 0) continue;
      using E = typename T::elem;
      E* from = reinterpret_cast<E*>(sums + sum_at(Leaf, k));
      using W = back_detail::wide<E>;
      W* to = reinterpret_cast<W*>(wide + sum_at(Leaf, k));
      (pack<W, N>::load(to) + load_as<pack<W, N>>(from)).store(to);
      std::memset(static_cast<void*>(from), 0, N * sizeof(E));
    }
  }
  TTENSOR_NOINLINE static void carry(const cursor* c, char* sums, char* wide) {
    [&]<int... I>(std::integer_sequence<int, I...>) { (carry_one<I, Target>(c, sums, wide), ...); }(std::make_integer_sequence<int, leaf_count>{});
  }
  template <int Leaf, class T> requires(T::planes == 0) static void close_sum(const cursor*, const char*, const char*) {}  // a mask
  template <int Leaf, class T> TTENSOR_INLINE static void close_sum(const cursor* c, const char* sums, const char* wide) {
    using E = typename T::elem;
    for (int k = 0; k < T::planes; ++k) {
      const int dst = target_first(Leaf) + k;
      if (c[dst].step != 0) continue;
      using W = back_detail::wide<E>;
      using V = pack<W, N>;
      const auto s = fold(V::load(reinterpret_cast<const W*>(wide + sum_at(Leaf, k))) + load_as<V>(reinterpret_cast<const E*>(sums + sum_at(Leaf, k))), [](auto a, auto b) { return a + b; });
      E* to = reinterpret_cast<E*>(c[dst].ptr);
      *to = static_cast<E>(static_cast<compute_t<E>>(*to) + s);
    }
  }
  // The last elements in a full pack: leaves repeat the last element, cotangents are 0 beyond it, so those lanes add 0.
  // Adjoints are added to zeros here and to memory by unstage, one target after the other: targets may overlap.
  TTENSOR_NOINLINE static void stage(char** p, const index_t* step, char* room, index_t tail) {
    for (int k = Value ? out_planes : 0; k < planes - 1; ++k) {
      const bool target = k >= table::count;
      if (step[k] == 0 && (target || k >= out_planes)) continue;
      char* to = room + staged_at(k);
      const int b = bytes[k];
      if (target) std::memset(to, 0, static_cast<std::size_t>(N * b));
      for (int i = 0; i < N && !target; ++i) {
        const char* e = p[k] + (step[k] == 0 ? 0 : (i < tail ? i : tail - 1) * b);
        if (k < out_planes && i >= tail) std::memset(to + i * b, 0, static_cast<std::size_t>(b));
        else std::memcpy(to + i * b, e, static_cast<std::size_t>(b));
      }
      p[k] = to;
    }
  }
  template <int Leaf, class T> TTENSOR_INLINE static void unstage(const cursor* c, const index_t* step, const char* room, index_t packs, index_t tail, std::uint64_t fresh) {
    for (int k = 0; k < T::planes; ++k) {
      const int dst = target_first(Leaf) + k;
      if (step[dst] == 0) continue;
      add_tail<typename T::elem>(c[dst].ptr + packs * step[dst], room + staged_at(dst), tail, fresh >> (dst - table::count) & 1u);
    }
  }
  template <class E> TTENSOR_NOINLINE static void add_tail(char* to, const char* from, index_t n, bool fresh) {
    for (index_t i = 0; i < n; ++i) {
      E a, d;
      std::memcpy(&d, from + i * static_cast<index_t>(sizeof(E)), sizeof(E));
      if (!fresh) {
        std::memcpy(&a, to + i * static_cast<index_t>(sizeof(E)), sizeof(E));
        d = static_cast<E>(a + d);
      }
      std::memcpy(to + i * static_cast<index_t>(sizeof(E)), &d, sizeof(E));
    }
  }
};

}  // namespace run
TTENSOR_END
