// Reductions of a fused expression: producer and reduction are one pass. Along a contiguous axis values are summed in
// several packs, in blocks of fixed length that are combined pairwise, so neither the number of threads nor the position
// of the data changes a bit; across rows the output row is the accumulator.
#pragma once
#include "core_io.hpp"

TTENSOR_BEGIN
namespace run {

/// out = Red::combine(out, Prog(leaves)) over the run. An output step of 0 reduces the run to one element.
/// Red: identity<V>() and combine(V, V) on packs of the accumulation type. Columns: also instantiate the row accumulator.
template <class Prog, class Red, bool Columns, class Out, class... L> struct reduce_kernel {
  static constexpr int N = lanes_of<Out, L...>();
  using table = plane_table<Out, L...>;
  static constexpr int outs = core_io<Out, N>::planes, planes = table::count;
  static constexpr auto bytes = table::bytes();
  using sweeper = sweep<Prog, type_list<typename core_io<L, N>::value...>>;
  using acc = typename core_io<Out, N>::value;
  static constexpr index_t block = 16384;  // elements; part of the definition of the result
  static constexpr int chains = Prog::length <= 12 ? 4 : 2;

  template <int I, class C, class V> TTENSOR_INLINE static void load(V& v, char* const* p, const index_t* offset) {
    if constexpr (!is_uniform_v<C>) at<I>(v) = core_io<C, N>::template load<table::first(I + 1)>(p, offset);
  }
  template <int I, class C, class V> TTENSOR_INLINE static void load_uniform(V& v, char* const* p) {
    if constexpr (is_uniform_v<C>) at<I>(v) = core_io<C, N>::broadcast(p + table::first(I + 1));
  }
  TTENSOR_INLINE static acc value(typename sweeper::leaf_values v, char* const* p, const index_t* offset) {
    [&]<int... I>(std::integer_sequence<int, I...>) { (load<I, L>(v, p, offset), ...); }(std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{});
    return convert_value<acc>(sweeper::run(v));
  }
  TTENSOR_NOINLINE static void launch(const cursor* c, index_t n, bool) {
    char* p[planes];
    index_t step[planes];
    for (int k = 0; k < planes; ++k) {
      p[k] = c[k].ptr;
      step[k] = c[k].step;
    }
    typename sweeper::leaf_values uniforms;
    [&]<int... I>(std::integer_sequence<int, I...>) { (load_uniform<I, L>(uniforms, p), ...); }(std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{});
    if constexpr (Columns)
      if (step[0] != 0) return columns(uniforms, p, step, n);
    along(uniforms, p, step, n);
  }

 private:
  static constexpr auto make_offsets() {
    array<array<index_t, planes>, chains> o{};
    for (int j = 0; j < chains; ++j)
      for (int k = 0; k < planes; ++k) o[j][k] = index_t(j) * N * bytes[k];
    return o;
  }
  TTENSOR_INLINE static void along(const typename sweeper::leaf_values& u, char** p, const index_t* step, index_t n) {
    static constexpr auto offsets = make_offsets();
    acc partial[48];
    int depth = 0;
    index_t done = 0;
    do {
      const index_t m = n - done < block ? n - done : block;
      acc a[chains];
      for (int j = 0; j < chains; ++j) a[j] = Red::template identity<acc>();
      index_t todo = m / N;
      for (; todo >= chains; todo -= chains) {
        static_for<chains>([&](auto j) { a[j] = Red::combine(a[j], value(u, p, offsets[j].v)); });
        for (int k = 0; k < planes; ++k) p[k] += step[k] * chains;
      }
      const index_t tail = m % N;
      char room[room_bytes()];
      if (tail != 0) {  // the last elements as one more pack whose other lanes are the identity
        char* q[planes];
        for (int k = 0; k < planes; ++k) q[k] = p[k] + step[k] * todo;
        stage(q, step, room, tail);
        const acc v = value(u, q, offsets[0].v);
        a[chains - 1] = Red::combine(a[chains - 1], first_lanes(v, static_cast<int>(tail)));
      }
      for (; todo > 0; --todo) {
        a[0] = Red::combine(a[0], value(u, p, offsets[0].v));
        for (int k = 0; k < planes; ++k) p[k] += step[k];
      }
      for (int h = chains / 2; h > 0; h /= 2)
        for (int j = 0; j < h; ++j) a[j] = Red::combine(a[j], a[j + h]);
      done += m;
      // binary counter: block b is combined with its left neighbour for every trailing 1 of b
      acc top = a[0];
      for (index_t b = (done + block - 1) / block - 1; b & 1; b >>= 1) top = Red::combine(partial[--depth], top);
      partial[depth++] = top;
    } while (done < n);
    acc total = partial[--depth];
    while (depth > 0) total = Red::combine(partial[--depth], total);
    finish(total, p);
  }
  TTENSOR_INLINE static void columns(const typename sweeper::leaf_values& u, char** p, const index_t* step, index_t n) {
    const index_t here[planes]{};
    index_t todo = n / N;
    const index_t tail = n % N;
    char room[room_bytes()];
    char* home[planes]{};
    bool last = false;
    for (;;) {
      for (; todo > 0; --todo) {
        const acc a = core_io<Out, N>::template load<0>(p, here);
        core_io<Out, N>::template store<0>(Red::combine(a, value(u, p, here)), p, here);
        for (int k = 0; k < planes; ++k) p[k] += step[k];
      }
      if (last || tail == 0) break;
      last = true;
      todo = 1;
      for (int k = 0; k < planes; ++k) home[k] = p[k];
      stage(p, step, room, tail);
    }
    if (last)
      for (int k = 0; k < outs; ++k) std::memcpy(home[k], room + room_of(k), static_cast<std::size_t>(tail * bytes[k]));
  }
  template <class V> static V first_lanes(const V& v, int n) {
    if constexpr (is_dual_v<V>) {
      V r = v;
      r.value = first_lanes(v.value, n);
      for (int k = 0; k < scalar_traits<V>::planes / scalar_traits<decltype(v.value)>::planes - 1; ++k) r.tangent_at(k) = tangent_lanes(v.tangent_at(k), n);
      return r;
    } else {
      using T = lane_t<V>;
      T t[N], id[N];
      v.store(t);
      Red::template identity<V>().store(id);
      for (int i = n; i < N; ++i) t[i] = id[i];
      return V::load(t);
    }
  }
  template <class V> static V tangent_lanes(const V& v, int n) {  // beyond the tail a tangent is 0 for every reduction
    if constexpr (is_dual_v<V>) {
      V r = v;
      r.value = tangent_lanes(v.value, n);
      for (int k = 0; k < scalar_traits<V>::planes / scalar_traits<decltype(v.value)>::planes - 1; ++k) r.tangent_at(k) = tangent_lanes(v.tangent_at(k), n);
      return r;
    } else {
      using T = lane_t<V>;
      T t[N];
      v.store(t);
      for (int i = n; i < N; ++i) t[i] = T(0);
      return V::load(t);
    }
  }
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
  template <int P, class S> static void put(const S& s, char** p) {
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
  static void finish(const acc& total, char** p) { put<0>(folded(total), p); }
  static constexpr int room_of(int k) {
    int at = 0;
    for (int i = 0; i < k; ++i) at += N * bytes[i];
    return at;
  }
  static constexpr int room_bytes() { return room_of(planes); }
  TTENSOR_NOINLINE static void stage(char** p, const index_t* step, char* room, index_t tail) {
    for (int k = 0; k < planes; ++k) {
      if (step[k] == 0) continue;
      char* to = room + room_of(k);
      for (int i = 0; i < N; ++i) std::memcpy(to + i * bytes[k], p[k] + (i < tail ? i : tail - 1) * bytes[k], static_cast<std::size_t>(bytes[k]));
      p[k] = to;
    }
  }
};

}  // namespace run
TTENSOR_END
