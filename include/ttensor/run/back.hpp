// The fused backward loop of a statement: recompute the values, sweep the program in reverse, and add to the adjoint of
// every leaf in the same pass. Nothing but the leaves is read, nothing but adjoints is written.
#pragma once
#include "adjoint_ops.hpp"

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

/// Numbers of adjoint planes.
struct plane_mask {
  static constexpr int most = 128;
  std::uint64_t word[most / 64] = {};
  TTENSOR_INLINE bool has(int k) const { return word[k / 64] >> (k % 64) & 1u; }
  void set(int k) { word[k / 64] |= std::uint64_t(1) << (k % 64); }
  void clear(int k) { word[k / 64] &= ~(std::uint64_t(1) << (k % 64)); }
};
/// Constants of a backward kernel. Planes: cotangents (`outs` of them) and leaves, from `targets` on adjoints, and last the mask.
struct back_facts {
  int planes, outs, targets, lanes;
  bool value;  // the first plane is not a cotangent but where a sum is added
  const int* bytes;
  const adjoint_ops* const* ops;
};
/// Adjoint planes that overlap shifted by little, as those of x(range(1, end)) and x(range(0, -1)) do: a load that spans two young stores waits until both
/// have left the processor, for every pack. All but the first are stored to memory apart, and added to where they belong some packs at a time.
struct apart_planes {
  static constexpr int most = 4, packs = 16;
};
/// What becomes of adjoint planes. Of those that are one place in memory (x * x names x twice) the first is written, with the sum of all: the others are
/// kept until then. `next`: the one after it at its place, or 0.
struct plane_roles {
  enum role : unsigned char { kept, added, stored };
  role of[plane_mask::most];
  unsigned char next[plane_mask::most];
};
/// The bookkeeping of one run, compiled once. `p`, `step`: of the loop. Buffers of the kernel: `sums` and `wide` have 16 bytes a lane for
/// each adjoint plane, `room` a pack for every plane, `apart` and `pending` apart_planes::packs for apart_planes::most planes.
struct back_run {
  const back_facts& f;
  const cursor* c;
  char** p;
  index_t* step;
  char *sums, *wide, *room, *apart, *pending;  // the last two: or null
  plane_roles& roles;
  plane_mask fresh = {};    // adjoint planes that are stored and not added to
  int shifted = 0, shifted_plane[apart_planes::most] = {};
  // Sums over the whole run whose packs are stored one behind the other and added at the next carry, in the same order: to add each to one pack in memory
  // waits for the store before it. Where there is room, which a run of few packs does not have: it would only copy them.
  int pendings = 0, pending_plane[apart_planes::most] = {};
  index_t most = 0;         // packs from one carry to the next, or 0: no carry

  char* pack_of(char* of, int k) const { return of + (k - f.targets) * f.lanes * 16; }
  char* apart_of(int i) const { return apart + i * apart_planes::packs * f.lanes * 16; }  // whatever their element types
  char* pending_of(int i) const { return pending + i * apart_planes::packs * f.lanes * 16; }
  bool is_sum(int k) const { return c[k].step == 0; }  // the whole run adds to one element: summed in a pack first
  void open();
  void carry(index_t done);
  // The last elements, at the end of a full pack: those before them are computed once more. A run of fewer is staged instead, its last element
  // repeated. Adjoints are stored apart here and added to where they belong by close, as many as there are elements, one target
  // after the other: targets may overlap.
  void stage(index_t packs, index_t tail);
  void close(index_t packs, index_t tail) const;
  int before(index_t packs, index_t tail) const { return packs > 0 ? f.lanes - static_cast<int>(tail) : 0; }
};
#if defined(TTENSOR_BODY)
TTENSOR_BODY void back_run::open() {
  const int first = f.targets, end = f.planes - 1;
  for (int k = 0; k < end; ++k) p[k] = c[k].ptr, step[k] = c[k].step;
  std::memcpy(&fresh, c[end].ptr, sizeof fresh);
  for (int k = first; k < end; ++k) {
    const int t = k - first, bytes = f.bytes[k];
    plane_roles::role role = fresh.has(t) ? plane_roles::stored : plane_roles::added;
    if (is_sum(k)) {
      role = plane_roles::added;
      fresh.clear(t);
      p[k] = pack_of(sums, k);
      std::memset(p[k], 0, static_cast<std::size_t>(f.lanes * 16));
      std::memset(pack_of(wide, k), 0, static_cast<std::size_t>(f.lanes * 16));
      if (f.ops[k]->narrow) most = 8;
      else if (most == 0) most = 4 * apart_planes::packs;
      if (pending && f.ops[k]->collect && pendings < apart_planes::most) {
        role = plane_roles::stored;
        p[k] = pending_of(pendings);
        step[k] = f.lanes * bytes;
        pending_plane[pendings++] = k;
        if (most > apart_planes::packs) most = apart_planes::packs;
      }
    } else {
      const index_t by = c[k].step, reach = 8 * by;
      int last = 0;  // of those before it at its place
      bool near = false;
      for (int j = first; j < k; ++j) {
        const index_t shift = c[k].ptr - c[j].ptr;
        if (shift >= reach || -shift >= reach || c[j].step != by || f.bytes[j] != bytes) continue;
        if (shift == 0) last = j;
        else near = true;
      }
      if (last) {
        role = plane_roles::kept;
        roles.next[last - first] = static_cast<unsigned char>(t);
      } else if (near && role == plane_roles::added && apart && shifted < apart_planes::most && by == f.lanes * bytes && bytes > 2) {  // 2 bytes would be rounded twice
        role = plane_roles::stored;
        p[k] = apart_of(shifted);
        shifted_plane[shifted++] = k;
        if (most == 0 || most > apart_planes::packs) most = apart_planes::packs;
      }
    }
    roles.next[t] = 0;
    roles.of[t] = role;
  }
}
TTENSOR_BODY void back_run::carry(index_t done) {
  for (int i = 0; i < pendings; ++i) {
    const int k = pending_plane[i];
    char* const from = pending_of(i);
    f.ops[k]->collect(pack_of(sums, k), from, (p[k] - from) / step[k]);
    p[k] = from;
  }
  for (int k = f.targets; k < f.planes - 1; ++k)
    if (is_sum(k)) f.ops[k]->empty(pack_of(sums, k), pack_of(wide, k));
  for (int i = 0; i < shifted; ++i) {
    const int k = shifted_plane[i];
    char* const from = apart_of(i);
    f.ops[k]->add(c[k].ptr + done * step[k], from, (p[k] - from) / f.bytes[k]);
    p[k] = from;
  }
}
TTENSOR_BODY void back_run::stage(index_t packs, index_t tail) {
  char* to = room;
  const int pack = 16 * f.lanes, again = before(packs, tail);
  for (int k = f.value ? f.outs : 0; k < f.planes - 1; ++k, to += pack) {
    if (k >= f.targets) {
      p[k] = to;
      if (roles.of[k - f.targets] == plane_roles::added) roles.of[k - f.targets] = plane_roles::stored;
    } else if (step[k] != 0 && packs > 0) {
      p[k] -= again * f.bytes[k];
    } else if (step[k] != 0) {
      const plane_facts leaf{f.bytes[k], false, false};
      const cursor from{p[k], step[k]};
      cursor staged;
      prepare_row(&staged, &from, &leaf, 1, f.lanes, tail, to);
      p[k] = to;
    }
  }
}
TTENSOR_BODY void back_run::close(index_t packs, index_t tail) const {
  const int pack = 16 * f.lanes, again = before(packs, tail);
  const char* from = room + (f.targets - (f.value ? f.outs : 0)) * pack;
  for (int k = f.targets; k < f.planes - 1; ++k, from += pack) {
    const int t = k - f.targets;
    const bool sum = is_sum(k);
    if (tail != 0 && roles.of[t] != plane_roles::kept)
      (fresh.has(t) ? f.ops[k]->put : f.ops[k]->add)(sum ? pack_of(sums, k) : c[k].ptr + packs * c[k].step, from + again * f.bytes[k], tail);
    if (sum) f.ops[k]->close(c[k].ptr, pack_of(sums, k), pack_of(wide, k));
  }
}
#endif

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
  static_assert(planes <= max_planes && target_planes <= plane_mask::most,
                "ttensor: too many arrays in one statement; evaluate a part with eval() first");
  using leaves = leaf_set<N, L...>;
  using sweeper = sweep<Prog, typename leaves::list>;
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
  static constexpr array<const adjoint_ops*, planes> all_ops() {
    array<const adjoint_ops*, planes> a{};
    int at = 0;
    auto fill = [&](int n, const adjoint_ops* of_plane) {
      for (int k = 0; k < n; ++k) a[at++] = of_plane;
    };
    fill(table::count, &back_detail::ops<typename core_elem<Out>::type, N>);
    (fill(Target::planes, ops_of<Target>()), ...);
    return a;
  }
  template <class T> static constexpr const adjoint_ops* ops_of() {
    if constexpr (T::planes == 0) return nullptr;
    else return &back_detail::ops<typename T::elem, N>;
  }
  static constexpr auto ops = all_ops();
  static constexpr back_facts facts{planes, out_planes, table::count, N, Value, bytes.v, ops.v};
  static void open(char* const* out, index_t n, int p) { std::memset(out[0], 0, static_cast<std::size_t>(n * bytes[p])); }
  static void merge(char* const* into, char* const* from, index_t n, int p) { ops[p]->add(into[0], from[0], n); }
  static constexpr bool shifts = sizeof...(Target) > 1 && target_planes > 1;
  static constexpr bool narrow = sizeof(real_t<typename core_elem<Out>::type>) <= 4;
  static constexpr accumulation sums{1, 16384, narrow ? 8 : 64, narrow ? 8 : 64, open, merge};

  struct kept_planes {
    alignas(64) char at[target_planes + 1][N * 16];
  };
  static constexpr int leaf_of(int target) {
    int leaf = 0;
    while (target_first(leaf + 1) - table::count <= target) ++leaf;
    return leaf;
  }
  template <int T> static constexpr int part_of = T - (target_first(leaf_of(T)) - table::count);  // among the planes of its leaf
  template <int T, class A> TTENSOR_INLINE static void flush(char* const* p, const A& a, const plane_roles& roles, kept_planes& s) {
    constexpr int var = part_of<T> / var_planes, part = part_of<T> % var_planes;
    auto d = component<(OutVars - 1 - var) * var_planes + part>(at<sweeper::load_of(leaf_of(T))>(a));
    using V = decltype(d);
    using E = typename at_t<leaf_of(T), type_list<Target...>>::elem;
    const plane_roles::role role = roles.of[T];
    if (role == plane_roles::kept) return d.store(reinterpret_cast<lane_t<V>*>(s.at[T]));
    for (int k = roles.next[T]; k != 0; k = roles.next[k]) d = d + V::load(reinterpret_cast<const lane_t<V>*>(s.at[k]));
    E* to = reinterpret_cast<E*>(p[table::count + T]);
    if (role == plane_roles::added) d = load_as<V>(to) + d;
    store_as(d, to);
  }
  /// One pack; returns the value of the statement.
  TTENSOR_INLINE static ct_value body(const typename leaves::uniforms& u, char* const* p, const ct_value& ct,
                                      const plane_roles& roles, kept_planes& kept) {
    typename sweeper::values v;
    leaves::template load<table, Prog>(v, u, p);
    sweeper::forward(v, typename sweeper::order{});
    const auto a = sweeper::template reverse_of<Active, ct_value>(v, ct);
    [&]<int... T>(std::integer_sequence<int, T...>) __attribute__((always_inline)) {
      (flush<target_planes - 1 - T>(p, a, roles, kept), ...);  // those that are kept stand behind the one that is written
    }(std::make_integer_sequence<int, target_planes>{});
    if constexpr (Value) return convert_value<ct_value>(at<Prog::root>(v));
    else return ct;
  }
  TTENSOR_NOINLINE static void launch(const cursor* c, index_t n, bool) {
    char* p[planes];
    index_t step[planes];
    alignas(64) char partial[target_planes * N * 16 + 1], wide[target_planes * N * 16 + 1], room[planes * N * 16];
    alignas(64) char apart[shifts ? apart_planes::most * apart_planes::packs * N * 16 : 1];
    plane_roles roles;
    kept_planes kept;
    alignas(64) char pending[(target_planes < apart_planes::most ? target_planes : apart_planes::most) * apart_planes::packs * N * 16 + 1];
    __asm__("" : "=m"(kept));  // g++ cannot know that only what was kept is read, and warns
    back_run r{facts, c, p, step, partial, wide, room, shifts ? apart : nullptr, n >= 32 * N ? pending : nullptr, roles};
    r.open();
    const auto u = leaves::template load_uniforms<table, Prog>(c);
    const index_t packs = n / N, tail = n % N, most = r.most ? r.most : packs;
    [[maybe_unused]] std::conditional_t<Value, adder, nothing> sum;
    for (index_t left = packs, rest = tail; left > 0 || rest > 0;) {  // one copy of the body serves the packs and what is left over
      const bool staged = left == 0;
      index_t turns = left < most ? left : most;
      const index_t done = packs - left;
      left -= turns;
      if (staged) {
        r.stage(packs, tail);
        rest = 0;
        turns = 1;
      }
      places q = read(p, numbers{});  // addresses that are indexed by constants and never escape stay in registers
      do {
        ct_value v = body(u, q.v, cotangent(q.v), roles, kept);
        if constexpr (Value) {
          if (TTENSOR_UNLIKELY(staged)) v = lanes_from(v, r.before(packs, tail), tail);
          sum.add(v);
        }
        advance(q, step, numbers{});
      } while (--turns > 0);
      write(p, q, numbers{});
      if (r.most && !staged) r.carry(done);
    }
    r.close(packs, tail);
    if constexpr (Value) {
      using T = typename core_elem<Out>::type;
      T* to = reinterpret_cast<T*>(c[0].ptr);
      *to = static_cast<T>(static_cast<collect_t<T>>(static_cast<compute_t<T>>(*to)) +
                           fold(sum.total(), [](auto a, auto b) { return a + b; }));
    }
  }

 private:
  struct places {
    char* v[planes];
  };
  using numbers = std::make_integer_sequence<int, planes - 1>;
  template <int... K> TTENSOR_INLINE static places read(char* const* p, std::integer_sequence<int, K...>) {
    places q;
    ((q.v[K] = p[K]), ...);
    return q;
  }
  template <int... K> TTENSOR_INLINE static void write(char** p, const places& q, std::integer_sequence<int, K...>) {
    ((p[K] = q.v[K]), ...);
  }
  TTENSOR_INLINE static void advance(char*& p, index_t step) {
    p += step;
    __asm__("" : "+r"(p));  // g++ adds addresses as vectors, and then takes each out of its vector for every pack
  }
  template <int... K>
  TTENSOR_INLINE static void advance(places& q, const index_t* step, std::integer_sequence<int, K...>) {
    (advance(q.v[K], step[K]), ...);
  }
  TTENSOR_INLINE static ct_value cotangent(char* const* p) {
    if constexpr (Value) {
      return ct_value(compute_t<typename core_elem<Out>::type>(1));
    } else {
      return core_io<Out, N>::load(p);
    }
  }
  /// Sums packs; every sixteen are added to a sum in double.
  struct adder {
    ct_value chain[4] = {ct_value(0), ct_value(0), ct_value(0), ct_value(0)};
    using wide = relane_t<ct_value, collect_t<lane_t<ct_value>>>;
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
  struct nothing {};
  /// n lanes from `first` on, and zeros behind them.
  static ct_value lanes_from(const ct_value& v, int first, index_t n) {
    using T = lane_t<ct_value>;
    T t[N], to[N] = {};
    v.store(t);
    for (index_t i = 0; i < n; ++i) to[i] = t[first + i];
    return ct_value::load(to);
  }
};

}  // namespace run
TTENSOR_END
