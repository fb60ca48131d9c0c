// Packs in and out of planes: how a loop loads and stores one core scalar (a number, or nested duals of numbers).
#pragma once
#include "../expr/sweep.hpp"
#include "../num/pack.hpp"
#include "driver.hpp"

TTENSOR_BEGIN
namespace run {

/// A leaf that is one scalar for the whole statement: loaded once, before the loop.
template <class C> struct uniform {};

/// C: a core scalar; N: lanes. `planes` buffers, each with its element size.
template <class C, int N> struct core_io {
  using value = pack<compute_t<C>, N>;
  static constexpr int planes = 1;
  static constexpr void sizes(int*& out) { *out++ = static_cast<int>(sizeof(C)); }
  /// From and to the addresses p of its planes, `at` bytes further.
  TTENSOR_INLINE static value load(char* const* p, index_t at = 0) { return load_as<value>(reinterpret_cast<const C*>(*p + at)); }
  TTENSOR_INLINE static void store(const value& v, char* const* p, index_t at = 0) { store_as(v, reinterpret_cast<C*>(*p + at)); }
  TTENSOR_INLINE static value broadcast(char* const* p) { return value(static_cast<compute_t<C>>(*reinterpret_cast<const C*>(p[0]))); }
};
template <class T, int K, int N> struct core_io<dual<T, K>, N> {
  using inner = core_io<T, N>;
  using value = dual<typename inner::value, K>;
  static constexpr int planes = (1 + K) * inner::planes;
  static constexpr void sizes(int*& out) {
    for (int k = 0; k < 1 + K; ++k) inner::sizes(out);
  }
  TTENSOR_INLINE static value load(char* const* p, index_t at = 0) {
    value v;
    v.value = inner::load(p, at);
    static_for<K>([&](auto k) { v.tangent_at(k) = inner::load(p + (1 + k()) * inner::planes, at); });
    return v;
  }
  TTENSOR_INLINE static void store(const value& v, char* const* p, index_t at = 0) {
    inner::store(v.value, p, at);
    static_for<K>([&](auto k) { inner::store(v.tangent_at(k), p + (1 + k()) * inner::planes, at); });
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

/// Lanes of a statement: the register width of its narrowest 4- or 8-byte element; of complex ones the parts count.
template <class... C> constexpr int lanes_of() {
  std::size_t narrow = 8;
  auto one = [&](std::size_t bytes, bool is_bool) {
    if (is_bool) return;
    if (bytes <= 4) narrow = 4;
  };
  (one(sizeof(compute_t<real_t<typename core_elem<C>::type>>), std::is_same_v<typename core_elem<C>::type, bool>), ...);
  return narrow == 4 ? native_width_v<float> : native_width_v<double>;
}

/// What a kernel that runs rows needs to know of a plane at run time.
struct plane_facts {
  int bytes;
  bool uniform, output, leads = false;  // leads: the first plane of its array, the values
};
/// Cursor bookkeeping of a kernel over a list of core scalars.
template <class... C> struct plane_table {
  static constexpr int count = (core_io<C, 1>::planes + ... + 0);
  static constexpr array<int, count> bytes() {
    array<int, count> b{};
    int* out = b.v;
    (core_io<C, 1>::sizes(out), ...);
    return b;
  }
  static constexpr array<plane_facts, count> facts() {  // the first entry is the output
    array<plane_facts, count> f{};
    const auto width = bytes();
    int at = 0, entry = 0;
    auto add = [&](int planes, bool uniform) {
      for (int k = 0; k < planes; ++k, ++at) f[at] = {width[at], uniform, entry == 0, k == 0};
      ++entry;
    };
    (add(core_io<C, 1>::planes, is_uniform_v<C>), ...);
    return f;
  }
  /// First plane of entry i.
  static constexpr int first(int i) {
    const int n[] = {core_io<C, 1>::planes..., 0};
    int at = 0;
    for (int k = 0; k < i; ++k) at += n[k];
    return at;
  }
};

TTENSOR_INLINE char* address(const cursor& c) { return c.ptr; }
TTENSOR_INLINE char* address(char* p) { return p; }
/// The planes of the leaves that a program loads and of all uniform ones, after those of the results if Results; Table: the plane_table of the
/// output and the leaves.
template <class Prog, class Table, int Leaves, bool Results> struct planes_read {
  static constexpr auto uses = lowering::slot_uses<Leaves>(Prog{});
  static constexpr auto chosen = [] {
    selection<Table::count> s;
    const auto facts = Table::facts();
    int k = Table::first(1);
    for (int result = 0; result < k && Results; ++result) s.add(result);
    for (int i = 0; i < Leaves; ++i)
      for (const int next = Table::first(i + 2); k < next; ++k)
        if (uses.v[i].load >= 0 || facts[k].uniform) s.add(k);
    return s;
  }();
  using type = list_of<chosen>;
};
template <int Plane> using plane_address = char*;

/// Operators that take any value at the same cost, so that lanes nobody wants may be computed too.
template <class In> inline constexpr bool is_even = true;
template <class Op, int... I> inline constexpr bool is_even<ins<Op, I...>> = requires { requires Op::even; };
template <int Root, class... Ins> constexpr bool all_even(program<Root, Ins...>) { return (is_even<Ins> && ...); }
/// Whether fewer elements than a pack may be computed as one, with whatever stands behind them in their blocks. Not masks: bytes that
/// are neither 0 nor 1 would spoil the lanes beside them. First: the first plane that is read or written so.
template <class Prog, class Table, int First, int N, class... L> constexpr bool fills_pack() {
  bool fits = all_even(Prog{}) && !(std::is_same_v<typename core_elem<L>::type, bool> || ...);
  const auto width = Table::bytes();
  for (int k = First; k < Table::count; ++k) fits = fits && width[k] * N <= 64;
  return fits;
}
/// Programs of several duals: where packs do not simply follow each other (tails, strided, staged and short rows) a function is called for each, so that
/// the program is compiled there once.
template <class Prog, class Value> inline constexpr bool stands_apart = !is_pack_v<Value> && Prog::length > 4;
/// The leaf values of a statement: uniform ones were loaded before the loop, the others are loaded from p.
template <int N, class... L> struct leaf_set {
  static constexpr int count = static_cast<int>(sizeof...(L));
  using list = type_list<typename core_io<L, N>::value...>;
  struct none {};
  using uniforms = std::conditional_t<(is_uniform_v<L> || ...), row_of<typename core_io<L, N>::value...>, none>;  // by leaf; those of other leaves are never touched

  /// Table: the plane_table of the output and these leaves. Place: a cursor or an address.
  template <class Table, class Prog, class Place> TTENSOR_INLINE static uniforms load_uniforms(const Place* c) {
    uniforms u;
    if constexpr (!TTENSOR_HAS_REGISTERS || N == 1) u = {};  // GCC 12 warns of entries that nobody reads
    uniforms_of<Table>(u, c, list_of<chosen<Prog, true>>{});
    return u;
  }
  /// The values of the instructions of Prog that are loads.
  template <class Table, class Prog, class Values> TTENSOR_INLINE static void load(Values& v, const uniforms& u, char* const* p) {
    load_moving<Table, Prog>(v, p, list_of<chosen<Prog, false>>{});
    copy_uniforms<Prog>(v, u, list_of<chosen<Prog, true>>{});
  }

 private:
  template <int I> using io = core_io<at_t<I, type_list<L...>>, N>;
  template <class Prog> static constexpr auto uses = lowering::slot_uses<count>(Prog{});
  template <class Prog, bool Uniform> static constexpr selection<count> chosen = [] {  // leaves that Prog loads
    constexpr bool uniform[] = {is_uniform_v<L>..., false};
    selection<count> s;
    for (int k = 0; k < count; ++k)
      if (uniform[k] == Uniform && uses<Prog>.v[k].load >= 0) s.add(k);
    return s;
  }();

  template <class Io, class Place> TTENSOR_INLINE static auto broadcast(const Place* c) {
    char* p[Io::planes];
    for (int k = 0; k < Io::planes; ++k) p[k] = address(c[k]);
    return Io::broadcast(p);
  }
  template <class Table, class Place, int... I> TTENSOR_INLINE static void uniforms_of([[maybe_unused]] uniforms& u, [[maybe_unused]] const Place* c, int_list<I...>) {
    ((at<I>(u) = broadcast<io<I>>(c + Table::first(I + 1))), ...);
  }
  template <class Table, class Prog, class Values, int... I>
  TTENSOR_INLINE static void load_moving([[maybe_unused]] Values& v, [[maybe_unused]] char* const* p, int_list<I...>) {
    ((at<uses<Prog>.v[I].load>(v) = loaded<(uses<Prog>.v[I].readers > 1)>(io<I>::load(p + Table::first(I + 1)))), ...);
  }
  // Loaded once: tuned for some processors, GCC 12 would rather load it again for every operator that reads it.
  template <bool Several, class V> TTENSOR_INLINE static V loaded(V x) {
#if TTENSOR_HAS_REGISTERS
    if constexpr (Several && is_pack_v<V>)
      if constexpr (requires { requires V::registers; }) TTENSOR_UNROLL for (int i = 0; i < V::count; ++i) x.r[i] = simd::opaque(x.r[i]);
#endif
    return x;
  }
  template <class Prog, class Values, int... I> TTENSOR_INLINE static void copy_uniforms([[maybe_unused]] Values& v, [[maybe_unused]] const uniforms& u, int_list<I...>) {
    ((at<uses<Prog>.v[I].load>(v) = at<I>(u)), ...);
  }
};

/// Before a row whose planes are not all contiguous or that is shorter than a pack of N: inputs with step 0 are repeated
/// over a pack; with n < N every other plane is staged in a pack whose further lanes repeat its last element. `room` has
/// 64 bytes and a pack for each plane. Compiled once, not once a statement.
void prepare_row(cursor* to, const cursor* from, const plane_facts* facts, int planes, int lanes, index_t n, char* room);
/// After a row of n < N elements: the staged outputs go where they belong.
void finish_row(const cursor* staged, const cursor* to, const plane_facts* facts, int planes, index_t n);
#if defined(TTENSOR_BODY)
namespace io_detail {
template <class U> TTENSOR_INLINE U read(const char* p) {
  U x;
  __builtin_memcpy(&x, p, sizeof x);
  return x;
}
/// n copies of an element of any size; writes whole registers, so `to` has room for up to 64 bytes more.
TTENSOR_NOINLINE inline void repeat(char* to, const char* from, int bytes, int n) {
  if (bytes > 8 || (bytes & (bytes - 1)) != 0) {
    for (int i = 0; i < n; ++i) __builtin_memcpy(to + i * bytes, from, static_cast<std::size_t>(bytes));
    return;
  }
  std::uint64_t x = bytes == 8 ? read<std::uint64_t>(from) : bytes == 4 ? read<std::uint32_t>(from) : bytes == 2 ? read<std::uint16_t>(from) : read<std::uint8_t>(from);
  for (int b = bytes; b < 8; b += b) x |= x << (8 * b);
  typedef std::uint64_t vector __attribute__((vector_size(TTENSOR_SIMD_BYTES)));
  const vector v = x - vector{};
  for (int i = 0; i < n * bytes; i += TTENSOR_SIMD_BYTES) __builtin_memcpy(to + i, &v, sizeof v);
}
TTENSOR_NOINLINE inline void copy_few(char* to, const char* from, index_t bytes) {
  index_t i = 0;
  for (; i + 8 <= bytes; i += 8) __builtin_memcpy(to + i, from + i, 8);
  if (bytes >= 8) __builtin_memcpy(to + bytes - 8, from + bytes - 8, 8);
  else
    for (; i < bytes; ++i) to[i] = from[i];
}
}  // namespace io_detail
TTENSOR_BODY void prepare_row(cursor* to, const cursor* from, const plane_facts* facts, int planes, int lanes, index_t n, char* room) {
  for (int k = 0; k < planes; ++k) {
    const plane_facts f = facts[k];
    to[k] = from[k];
    if (f.uniform) continue;
    const bool repeated = from[k].step == 0;
    if (repeated ? f.output : n >= lanes) continue;  // an output with step 0 is one accumulator
    to[k].ptr = room;
    room += (lanes * f.bytes + 63) / 64 * 64;
    if (repeated) {
      io_detail::repeat(to[k].ptr, from[k].ptr, f.bytes, lanes);
    } else {
      io_detail::repeat(to[k].ptr, from[k].ptr + (n - 1) * f.bytes, f.bytes, lanes);
      io_detail::copy_few(to[k].ptr, from[k].ptr, n * f.bytes);
    }
  }
}
TTENSOR_BODY void finish_row(const cursor* staged, const cursor* to, const plane_facts* facts, int planes, index_t n) {
  for (int k = 0; k < planes; ++k)
    if (facts[k].output) io_detail::copy_few(to[k].ptr, staged[k].ptr, n * facts[k].bytes);
}
#endif

/// Rows of N-lane packs over the planes of `Table`: `compute(p)` gives a value for the addresses p, `store(value, p)`
/// writes it. Leftover elements are computed by the same pack code: the last N elements of the row as one pack, before
/// any of them is written, because a plane may be read and written; rows shorter than a pack in a staging buffer. Addresses
/// in `places` are only indexed by constants and never escape, so that they stay in registers.
template <class Table, int N> struct strip {
  static constexpr int P = Table::count;
  static constexpr auto facts = Table::facts();
  static constexpr int room_bytes() {
    int n = 64;
    for (int k = 0; k < P; ++k) n += (N * facts[k].bytes + 63) / 64 * 64;
    return n;
  }
  struct places {
    char* v[P];
    TTENSOR_INLINE operator char* const*() const { return v; }
  };
  // Numbers of the planes that have addresses in the loop. Folding over them costs one function; a call a plane would cost hundreds.
  static constexpr auto moving_planes = [] {
    array<int, P> at{};
    int n = 0;
    for (int k = 0; k < P; ++k)
      if (!facts[k].uniform) at[n++] = k;
    return at;
  }();
  static constexpr int moving_count = [] {
    int n = 0;
    for (int k = 0; k < P; ++k) n += !facts[k].uniform;
    return n;
  }();
  template <class S> struct moving_of;
  template <int... I> struct moving_of<std::integer_sequence<int, I...>> { using type = int_list<moving_planes[I]...>; };
  using moving = typename moving_of<std::make_integer_sequence<int, moving_count>>::type;
  template <class F> TTENSOR_INLINE static void each(F&& f) {  // planes that have addresses in the loop
    static_for<P>([&](auto k) {
      if constexpr (!facts[k()].uniform) f(k);
    });
  }
  TTENSOR_INLINE static places start(const cursor* c) { return start(c, moving{}); }
  /// Addresses of the planes K; planes that no program reads get one that is never read.
  template <int... K> TTENSOR_INLINE static places at_addresses(int_list<K...>, plane_address<K>... at) {
    char* const any[] = {at...};
    places p = filled(any[0], std::make_integer_sequence<int, P>{});
    ((p.v[K] = at), ...);
    return p;
  }
  TTENSOR_INLINE static void down(places& p, const index_t* bytes) { down(p, bytes, moving{}); }
  TTENSOR_INLINE static places plus(const places& p, index_t elements) { return plus(p, elements, moving{}); }
  TTENSOR_INLINE static bool contiguous(const cursor* c) { return contiguous(c, moving{}); }
  /// All planes contiguous, n >= N: addresses are one index away from their planes. The pack that overlaps with the last one is computed
  /// and stored before that one is stored; before the loop it would read where the statement before has just written, modulo a page.
  template <int Unroll, class Compute, class Store> TTENSOR_INLINE static void flat(const places& p, index_t n, Compute&& compute, Store&& store) {
    flat<Unroll>(p, n, compute, compute, store);
  }
  template <int Unroll, class Compute, class Last, class Store> TTENSOR_INLINE static void flat(const places& p, index_t n, Compute&& compute, Last&& compute_last, Store&& store) {
    const index_t last = n - N;
    index_t i = 0;
    if constexpr (Unroll > 1)
      for (const index_t end = n % N == 0 ? n : last; i + Unroll * N <= end; i += Unroll * N)
        TTENSOR_UNROLL for (int j = 0; j < Unroll; ++j) {
          const places q = plus(p, i + j * N);
          store(compute(q), q);
        }
    for (; i <= last; i += N) {
      const places q = plus(p, i);
      const auto v = compute(q);
      if (TTENSOR_UNLIKELY(i > last - N && i != last)) store(compute_last(plus(p, last)), plus(p, last));
      store(v, q);
    }
  }
  /// The same for long programs: one copy of the body. The pack that overlaps is computed first, and kept until the end.
  template <class Compute, class Store> TTENSOR_INLINE static void adjacent(const places& p, index_t n, Compute&& compute, Store&& store) {
    const index_t last = n - N;
    bool ahead = n % N != 0;
    decltype(compute(p)) held{};
    for (index_t i = ahead ? last : 0;; i += N) {
      const auto v = compute(plus(p, i));
      if (TTENSOR_UNLIKELY(ahead)) {
        held = v;
        ahead = false;
        i = -N;
        continue;
      }
      store(v, plus(p, i));
      if (i + N > last) break;
    }
    if (n % N != 0) store(held, plus(p, last));
  }
  /// Any steps and lengths. One copy of the body serves all turns.
  template <class Compute, class Store> TTENSOR_INLINE static void stepped(const cursor* from, index_t n, Compute&& compute, Store&& store) {
    alignas(64) char room[room_bytes()];
    cursor c[P];
    prepare_row(c, from, facts.v, P, N, n, room);
    index_t todo = n < N ? 1 : n / N;
    const index_t last = n > N && n % N != 0 ? n - N : 0;
    bool ahead = last != 0;  // the first turn computes the last pack and keeps it
    cursor last_pack[P];
    for (int k = 0; k < P; ++k) last_pack[k].ptr = c[k].ptr + (c[k].step != 0 ? last * facts.v[k].bytes : 0);
    places p = start(c);
    const steps step = steps_of(c, moving{});
    using V = decltype(compute(p));
    V held{};
    if (ahead) p = start(last_pack);
    for (;;) {
      const V v = compute(p);
      if (TTENSOR_UNLIKELY(ahead)) {
        held = v;
        ahead = false;
        p = start(c);
        continue;
      }
      store(v, p);
      if (--todo == 0) break;
      advance(p, step, moving{});
    }
    if (last != 0) store(held, start(last_pack));
    if (n < N) finish_row(c, from, facts.v, P, n);
  }

 private:
  struct steps {
    index_t v[P];
  };
  template <int... I> TTENSOR_INLINE static places filled(char* any, std::integer_sequence<int, I...>) { return {{(static_cast<void>(I), any)...}}; }
#if defined(__SANITIZE_ADDRESS__)  // GCC 12 warns of places that nobody reads
  static constexpr places nowhere{};
#define TTENSOR_NOWHERE = nowhere
#else
#define TTENSOR_NOWHERE
#endif
  template <int... K> TTENSOR_INLINE static places start(const cursor* c, int_list<K...>) {
    places p TTENSOR_NOWHERE;
    ((p.v[K] = c[K].ptr), ...);
    return p;
  }
  template <int... K> TTENSOR_INLINE static void down(places& p, const index_t* bytes, int_list<K...>) { ((p.v[K] += bytes[K]), ...); }
  template <int... K> TTENSOR_INLINE static places plus(const places& p, index_t elements, int_list<K...>) {
    places q TTENSOR_NOWHERE;
    ((q.v[K] = p.v[K] + elements * facts.v[K].bytes), ...);
    return q;
  }
#undef TTENSOR_NOWHERE
  template <int... K> TTENSOR_INLINE static bool contiguous(const cursor* c, int_list<K...>) { return ((c[K].step != 0) && ...); }
  template <int... K> TTENSOR_INLINE static steps steps_of(const cursor* c, int_list<K...>) {
    steps s;
    ((s.v[K] = c[K].step), ...);
    return s;
  }
  template <int... K> TTENSOR_INLINE static void advance(places& p, const steps& s, int_list<K...>) { ((p.v[K] += s.v[K]), ...); }
};

}  // namespace run
TTENSOR_END
