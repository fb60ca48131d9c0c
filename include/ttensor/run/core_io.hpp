// Packs in and out of planes: how a loop loads and stores one core scalar (a number, or nested duals of numbers).
#pragma once
#include "../expr/sweep.hpp"
#include "../num/pack.hpp"
#include "nest.hpp"

TTENSOR_BEGIN
namespace run {

/// A leaf that is one scalar for the whole statement: loaded once, before the loop.
template <class C> struct uniform {};

/// C: a core scalar; N: lanes. `planes` buffers, each with its element size.
template <class C, int N> struct core_io {
  using value = pack<compute_t<C>, N>;
  static constexpr int planes = 1;
  static constexpr void sizes(int*& out) { *out++ = static_cast<int>(sizeof(C)); }
  template <int P> TTENSOR_INLINE static value load(char* const* p, const index_t* at) {
    return load_as<value>(reinterpret_cast<const C*>(p[P] + at[P]));
  }
  template <int P> TTENSOR_INLINE static void store(const value& v, char* const* p, const index_t* at) {
    store_as(v, reinterpret_cast<C*>(p[P] + at[P]));
  }
  TTENSOR_INLINE static value broadcast(char* const* p) { return value(static_cast<compute_t<C>>(*reinterpret_cast<const C*>(p[0]))); }
};
template <class T, int K, int N> struct core_io<dual<T, K>, N> {
  using inner = core_io<T, N>;
  using value = dual<typename inner::value, K>;
  static constexpr int planes = (1 + K) * inner::planes;
  static constexpr void sizes(int*& out) {
    for (int k = 0; k < 1 + K; ++k) inner::sizes(out);
  }
  template <int P> TTENSOR_INLINE static value load(char* const* p, const index_t* at) {
    value v;
    v.value = inner::template load<P>(p, at);
    static_for<K>([&](auto k) { v.tangent_at(k) = inner::template load<P + (1 + k()) * inner::planes>(p, at); });
    return v;
  }
  template <int P> TTENSOR_INLINE static void store(const value& v, char* const* p, const index_t* at) {
    inner::template store<P>(v.value, p, at);
    static_for<K>([&](auto k) { inner::template store<P + (1 + k()) * inner::planes>(v.tangent_at(k), p, at); });
  }
  TTENSOR_INLINE static value broadcast(char* const* p) {
    value v;
    v.value = inner::broadcast(p);
    static_for<K>([&](auto k) { v.tangent_at(k) = inner::broadcast(p + (1 + k()) * inner::planes); });
    return v;
  }
};
template <class C, int N> struct core_io<uniform<C>, N> : core_io<C, N> {};
template <class C> inline constexpr bool is_uniform_v = false;
template <class C> inline constexpr bool is_uniform_v<uniform<C>> = true;

template <class C> struct core_elem { using type = C; };
template <class T, int K> struct core_elem<dual<T, K>> : core_elem<T> {};
template <class C> struct core_elem<uniform<C>> : core_elem<C> {};

/// Lanes of a statement: the register width of its narrowest 4- or 8-byte element.
template <class... C> constexpr int lanes_of() {
  std::size_t narrow = 8;
  auto one = [&](std::size_t bytes, bool is_bool) {
    if (is_bool) return;
    if (bytes <= 4) narrow = 4;
  };
  (one(sizeof(compute_t<typename core_elem<C>::type>), std::is_same_v<typename core_elem<C>::type, bool>), ...);
  return narrow == 4 ? native_width_v<float> : native_width_v<double>;
}

/// Cursor bookkeeping of a kernel over a list of core scalars.
template <class... C> struct plane_table {
  static constexpr int count = (core_io<C, 1>::planes + ... + 0);
  static constexpr array<int, count> bytes() {
    array<int, count> b{};
    int* out = b.v;
    (core_io<C, 1>::sizes(out), ...);
    return b;
  }
  /// First plane of entry i.
  static constexpr int first(int i) {
    const int n[] = {core_io<C, 1>::planes..., 0};
    int at = 0;
    for (int k = 0; k < i; ++k) at += n[k];
    return at;
  }
};

/// One element of `Bytes` bytes, written `Count` times.
template <int Bytes, int Count> TTENSOR_INLINE void splat(char* to, const char* from) {
  if constexpr (Bytes == 1 || Bytes == 2 || Bytes == 4 || Bytes == 8) {
    using U = std::conditional_t<Bytes == 8, std::uint64_t, std::conditional_t<Bytes == 4, std::uint32_t, std::conditional_t<Bytes == 2, std::uint16_t, std::uint8_t>>>;
    constexpr int most = TTENSOR_SIMD_BYTES / Bytes, lanes = Count < most ? Count : most;
    typedef U vector __attribute__((vector_size(lanes * Bytes)));
    U x;
    __builtin_memcpy(&x, from, sizeof x);
    const vector v = x - vector{};
    static_for<Count / lanes>([&](auto i) { __builtin_memcpy(to + i() * lanes * Bytes, &v, sizeof v); });
  } else {
    for (int i = 0; i < Count; ++i) __builtin_memcpy(to + i * Bytes, from, Bytes);
  }
}
/// The first n < lanes elements of a run of `lanes` elements of `Bytes` bytes; moves overlap instead of looping.
template <int Bytes> TTENSOR_INLINE void copy_few(char* to, const char* from, index_t n) {
  auto move = [&]<int B>(std::integral_constant<int, B>) {  // between B and 2 B bytes
    char head[B], rest[B];
    const index_t at = n * Bytes - B;
    __builtin_memcpy(head, from, B);
    __builtin_memcpy(rest, from + at, B);
    __builtin_memcpy(to, head, B);
    __builtin_memcpy(to + at, rest, B);
  };
  if (n * Bytes >= 64) __builtin_memcpy(to, from, static_cast<std::size_t>(n * Bytes));
  else if (n * Bytes >= 32) move(std::integral_constant<int, 32>{});
  else if (n * Bytes >= 16) move(std::integral_constant<int, 16>{});
  else if (n * Bytes >= 8) move(std::integral_constant<int, 8>{});
  else if (n * Bytes >= 4) move(std::integral_constant<int, 4>{});
  else if (n * Bytes >= 2) move(std::integral_constant<int, 2>{});
  else *to = *from;
}

/// One row of N-lane packs over the planes of `Table` (the first Outs are written): `compute(p)` gives a value for the
/// addresses p, `store(value, p)` writes it. Broadcast planes have step 0 and at least N elements at p. Leftover elements
/// are computed by the same pack code: the last N elements of the row as one pack, before anything is written, because a
/// plane may be read and written; rows shorter than a pack in a staging buffer. All addresses stay in registers: they are
/// only indexed by constants and never escape.
template <class Table, int Outs, int N, int Unroll> struct strip {
  static constexpr int P = Table::count;
  static constexpr auto bytes = Table::bytes();
  struct places {
    char* v[P];
    TTENSOR_INLINE operator char* const*() const { return v; }
  };
  struct strides {
    index_t v[P];
  };
  TTENSOR_INLINE static void move(places& p, const strides& s, index_t packs) {
    static_for<P>([&](auto k) { p.v[k()] += s.v[k()] * packs; });
  }
  TTENSOR_INLINE static places plus(const places& p, index_t elements, const strides& s) {  // a broadcast plane stays
    places q;
    static_for<P>([&](auto k) { q.v[k()] = p.v[k()] + (s.v[k()] == 0 ? 0 : elements * bytes[k()]); });
    return q;
  }
  template <class Compute, class Store> TTENSOR_INLINE static void run(const places& from, const strides& s, index_t n, Compute&& compute, Store&& store) {
    if (TTENSOR_UNLIKELY(n < N)) return few(from, s, n, compute, store);
    index_t todo = n / N;
    const index_t last = n % N == 0 ? 0 : n - N;
    places p = from;
    if constexpr (Unroll > 1) {
      using V = decltype(compute(p));
      V held;
      const places end = plus(from, last, s);
      if (last != 0) held = compute(end);
      for (; todo >= Unroll; todo -= Unroll) {
        static_for<Unroll>([&](auto j) {
          places q;
          static_for<P>([&](auto k) { q.v[k()] = p.v[k()] + j() * N * bytes[k()]; });  // a repeated element fills all of these packs
          store(compute(q), q);
        });
        move(p, s, Unroll);
      }
      for (; todo > 0; --todo) {
        store(compute(p), p);
        move(p, s, 1);
      }
      if (last != 0) store(held, end);
    } else {  // one copy of the body: its first turn computes the last pack and keeps it
      using V = decltype(compute(p));
      V held;
      bool ahead = last != 0;
      if (ahead) p = plus(from, last, s);
      for (;;) {
        const V v = compute(p);
        if (TTENSOR_UNLIKELY(ahead)) {
          held = v;
          ahead = false;
          p = from;
          continue;
        }
        store(v, p);
        move(p, s, 1);
        if (--todo == 0) break;
      }
      if (last != 0) store(held, plus(from, last, s));
    }
  }

 private:
  static constexpr int room_of(int k) {
    int at = 0;
    for (int i = 0; i < k; ++i) at += (N * bytes[i] + 63) / 64 * 64;
    return at;
  }
  template <class Compute, class Store> TTENSOR_INLINE static void few(const places& from, const strides& s, index_t n, Compute&& compute, Store&& store) {
    if (n == 0) return;
    alignas(64) char room[room_of(P)];
    places q;
    static_for<P>([&](auto k) {
      constexpr int b = bytes[k()];
      q.v[k()] = from.v[k()];
      if (s.v[k()] == 0) return;
      q.v[k()] = room + room_of(k());
      splat<b, N>(q.v[k()], from.v[k()] + (n - 1) * b);  // other lanes repeat the last element
      copy_few<b>(q.v[k()], from.v[k()], n);
    });
    store(compute(q), q);
    static_for<Outs>([&](auto k) { copy_few<bytes[k()]>(from.v[k()], q.v[k()], n); });
  }
};

/// Inputs that are one element along the row: a buffer repeats it, so that the loop need not know.
template <class Table, class Loop, int Count, class Out, class... L> struct repeated {
  static constexpr int P = Table::count;
  static constexpr auto bytes = Table::bytes();
  static constexpr array<bool, P> make_inputs() {  // planes that are inputs and not uniform
    array<bool, P> a{};
    int at = core_io<Out, 1>::planes;
    auto leaf = [&](int planes, bool uniform) {
      for (int i = 0; i < planes; ++i) a[at++] = !uniform;
    };
    (leaf(core_io<L, 1>::planes, is_uniform_v<L>), ...);
    return a;
  }
  static constexpr auto inputs = make_inputs();
  static constexpr int room(int k) {
    int at = 0;
    for (int i = 0; i < k; ++i) at += inputs[i] ? (Count * bytes[i] + 63) / 64 * 64 : 0;
    return at + (k == P);
  }
  TTENSOR_INLINE static typename Loop::places fill(typename Loop::places p, const typename Loop::strides& s, char* to) {
    static_for<P>([&](auto k) {
      if constexpr (inputs[k()])
        if (s.v[k()] == 0) {
          splat<bytes[k()], Count>(to + room(k()), p.v[k()]);
          p.v[k()] = to + room(k());
        }
    });
    return p;
  }
};

}  // namespace run
TTENSOR_END
