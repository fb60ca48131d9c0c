// The backward pass of a recorded statement: what a node remembers of it, and the one driver that runs its fused loop. None of
// the bookkeeping depends on the statement's type, so it is compiled once.
#pragma once
#include <cstring>
#include "../run/back.hpp"
#include "../run/sums.hpp"
#include "add_strided.hpp"
#include "taped.hpp"

TTENSOR_BEGIN
namespace ad {

template <class... L> constexpr std::uint64_t active_slots(type_list<L...>) { return slot_bits<can_carry<L>()...>(); }
/// Taped planes of a leaf that can be on a tape.
template <class L> struct taped_planes { static constexpr int count = taped<typename L::scalar>::vars; };
template <class L> constexpr int taped_vars() {
  if constexpr (can_carry<L>()) return taped_planes<L>::count;
  else return 0;
}
template <class L, class X> struct target_of { using type = run::adjoint_target<elem_t<typename L::scalar>, 0>; };
template <class L, class X> requires(can_carry<L>()) struct target_of<L, X> {
  using type = run::adjoint_target<elem_t<typename L::scalar>, taped_vars<L>() * planes_v<X>>;
};

/// Whether every taped leaf (Scalars: every taped scalar) has the element type of the result.
template <class X, bool Scalars = false, class... L> constexpr bool of_one_elem(type_list<L...>) {
  return (... && (!can_carry<L>() || (Scalars && !is_scalar_leaf_v<L>) || std::is_same_v<elem_t<typename L::scalar>, elem_t<X>>));
}
/// Taped scalars of another element type than the result's become arrays of one element: adjoints of scalars are of one type in a statement.
template <class X> struct of_other_element {
  template <class L> static auto of(const L& l) {
    if constexpr (is_scalar_leaf_v<L> && !of_one_elem<X>(type_list<L>{})) {
      using S = typename L::scalar;
      auto s = store<S>::make(1);
      s.set(0, l.value);
      return leaf<S, 0>{s.snap(), {0, {}, {}}};
    } else {
      return l;
    }
  }
};

// ---- what a node remembers of a statement, and its backward loop: one code for all statements ---------------------------
/// One adjoint that a statement's backward pass adds to. Its strides over the statement's axes: 0 where the leaf was broadcast.
struct back_target {
  std::uint32_t id = 0;  // slot, or 0
  adjoint_ref scalar;    // a scalar of the tape, when id is 0
  index_t offset = 0;
};
struct saved_value {
  const void* ptr;  // null: no rule reads it
  bool uniform;
  alignas(16) char bytes[16];
};
struct back_record;
/// Constants of a statement type.
struct back_layout {
  run::kernel kernel;
  int rank, inner_levels, levels;  // all axes; batch axes of the tape's own scalars, which come first, and all batch axes
  int planes, lanes, vars, px;     // of the kernel; taped values of a result; planes of one taped value
  int values, targets;
  const int *bytes, *target_plane;  // of every plane; first plane of a target
  void (*const* add)(char*, const index_t*, const char*, const index_t*, const index_t*, int);  // add_strided or add_line of every target
  const run::accumulation* sums;
  void (*drive)(run::nest&, run::kernel, const run::accumulation&);
  int cost;
  bool value;                      // the forward loop of a sum: plane 0 is its value
  void (*turn)(const back_layout&, back_record&, const index_t*&, slot_base* const*, arena&);  // of several axes; or null
};
/// What was recorded: extents, then for every leaf plane and target their strides. keep: of every value; null when the record
/// ends before the expression does.
struct back_record {
  index_t* extent;
  saved_value* value;
  mem::block_ref* keep;
  index_t* value_stride;
  back_target* target;
  index_t* target_stride;
};

/// Row-major strides over `extent`, 0 where the extent is 1 and on the first `skip` axes; returns the number of elements.
index_t row_major(index_t* stride, const index_t* extent, int rank, int skip);
/// Runs the backward loop of a statement. cotangent: one slot a taped value of the result, null where nothing flowed back;
/// `to`: the slots that the targets are added to, null for a leaf that is on no tape. `sum`: where a value kernel adds. Plain: for tapes of numbers,
/// a fifth less code, so that files which differentiate nothing else compile no more.
template <bool Plain> TTENSOR_NOINLINE void run_back(const back_layout& l, const back_record& r,
                                                     slot_base* const* cotangent, const index_t* out_stride,
                                                     slot_base* const* to, void* sum);
template <class X> inline constexpr bool has_plain_adjoints_v = planes_v<X> == 1 && batch_levels_v<X> == 0;

struct leaf_axes {
  const index_t *extent, *stride;
  int count, batch;  // batch axes come first
};
/// Notes one leaf after the other in a back_record. Of a leaf's type it is told numbers, so it is compiled once.
struct leaf_noter {
  back_record r;
  int rank, inner_levels;
  std::uint64_t kept;  // bit per leaf: a rule reads its value
  void (leaf_noter::*save)(saved_value&, index_t*, mem::block*, int, const leaf_axes&) const;  // null: without keep
  int leaf = 0, values = 0, targets = 0;
  const slot_token* written = nullptr;  // of the leaf, where its array is written part by part
  serial_finder serial{};

  template <class L> TTENSOR_NOINLINE void note(const L& l) {
    if constexpr (can_carry<L>()) each_taped(l, own<L::rank>{*this});
    l.planes([&]<class T, int Q>(std::type_identity<T>, const plane<Q>& p) {
      constexpr int bytes = static_cast<int>(sizeof(T)), levels = batch_levels_v<typename L::scalar>;
      value(p.ptr, p.holder, bytes, run::is_uniform_v<eval_detail::leaf_core<L>>, leaf_axes{p.extent.v, p.stride.v, Q, levels});
    });
    ++leaf;
    written = nullptr;
  }

  /// Makes a value last. Elements of a fixed tensor or of borrowed memory have no holder: the tape takes a copy, row-major; also of
  /// small parts of an array that is written part by part, so that the next part can be written where it is; between two writes of no more than its size.
  void hold(saved_value& s, index_t* to, mem::block* holder, int bytes, const leaf_axes& a) const;

 private:
  template <int R> struct own {  // axes of the leaf itself
    leaf_noter& n;
    void scalar(const auto& v) const {
      n.target(v.active() ? v.serial() : 0, {0, v.active() ? v.ref() : adjoint_ref{}, 0}, {nullptr, nullptr, 0, 0});
    }
    template <int Q> void array(token_ptr slot, const layout_map<Q>& m) const {  // batch axes outside the tape lead the map
      if (slot)
        n.target(slot->tape_serial, {slot->id, {}, m.offset}, leaf_axes{m.extent.v, m.stride.v, Q, Q - R}),
            n.written = slot->written ? slot.t : n.written;
      else n.target(0, {}, {nullptr, nullptr, 0, 0});
    }
  };
  /// Strides over the statement's axes; the leaf's batch axes begin at `first`.
  void align(index_t* to, const leaf_axes& a, int first) const {
    for (int d = 0; d < rank; ++d) to[d] = 0;
    for (int d = 0; d < a.count; ++d) to[d < a.batch ? first + d : rank - a.count + d] = a.extent[d] == 1 ? 0 : a.stride[d];
  }
  void target(std::uint64_t on, const back_target& t, const leaf_axes& a);
  void value(const void* ptr, mem::block* holder, int bytes, bool uniform, const leaf_axes& a);
};

#if defined(TTENSOR_BODY)
TTENSOR_BODY index_t row_major(index_t* stride, const index_t* extent, int rank, int skip) {
  index_t n = 1;
  for (int d = rank - 1; d >= skip; --d) {
    stride[d] = extent[d] == 1 ? 0 : n;
    n *= extent[d];
  }
  for (int d = 0; d < skip; ++d) stride[d] = 0;
  return n;
}
namespace back_detail {
/// An adjoint as a plane of the loop over `x`: its batch axes lead, `stride` says how the others lie in it.
TTENSOR_NOINLINE inline void connect(run::nest_plane& n, const adjoint_plane& a, index_t offset, const index_t* stride,
                                     const index_t* x, int levels, int rank) {
  n.ptr = a.ptr + offset * n.bytes;
  for (int d = 0; d < levels; ++d) n.stride[d] = a.extent[d] == 1 ? 0 : a.stride[d];
  for (int d = levels; d < rank; ++d) n.stride[d] = x[d] == 1 ? 0 : stride[d];
}
TTENSOR_INLINE bool equal(const index_t* a, const index_t* b, int from, int to) {
  while (from < to && a[from] == b[from]) ++from;
  return from == to;
}
/// Planes of an adjoint of inner_size elements over the batch axes of `x`, in memory of its own: from `first` on, or in new memory. Returns where it begins.
TTENSOR_NOINLINE inline char* own_planes(adjoint_plane* part, int count, arena& memory, const index_t* x, int levels,
                                         index_t inner_size, int bytes, bool zeros, char* first) {
  const index_t size = row_major(part->stride, x, levels, 0) * inner_size * bytes;
  if (!first) {
    first = memory.bytes(static_cast<std::size_t>(size * count));
    if (zeros) std::memset(first, 0, static_cast<std::size_t>(size * count));
  }
  for (int d = 0; d < levels; ++d) part->extent[d] = x[d], part->stride[d] *= inner_size;
  for (int i = 0; i < count; ++i) {
    if (i > 0) part[i] = part[0];
    part[i].ptr = first + i * size;
  }
  return first;
}
/// Extents of the memory in which a target is formed: 1 along the axes that it does not walk.
inline void walked(index_t* extent, const index_t* walk, const index_t* x, int rank, int levels) {
  for (int d = 0; d < rank; ++d) extent[d] = d < levels || walk[d] != 0 ? x[d] : 1;
}
/// Whether an adjoint already differs between examples that the loop over `x` does not tell apart: what it forms is for all of them.
TTENSOR_NOINLINE inline bool is_mapped_beyond(slot_base& to, adjoint_plane* part, int planes, const index_t* x, int levels) {
  if (!to.live) return false;
  to.planes(part);
  bool beyond = false;
  for (int i = 0; i < planes; ++i)
    for (int d = 0; d < levels; ++d) beyond = beyond || (x[d] == 1 && part[i].extent[d] != 1);
  return beyond;
}
/// Whether rows along axis `inner` are so short that overlapping targets are better formed apart, so that another axis takes their place (below 16: a
/// Laplacian of 14 x 14 takes the same either way, of 28 x 28 1.8 times as long apart); not where every plane walks them as one with the axis before.
TTENSOR_NOINLINE inline bool forms_apart(const back_layout& l, const back_record& r, const index_t* out_stride,
                                         const index_t* x, int inner) {
  if (run::longer_axis(x, inner, l.lanes, 16) < 0) return false;
  int outer = inner - 1;
  while (outer > 0 && x[outer] == 1) --outer;
  auto one = [&](const index_t* stride) { return stride[outer] == stride[inner] * x[inner]; };
  bool all = l.value || one(out_stride);
  for (int v = 0; v < l.values; ++v) all = all && (r.value[v].uniform || !r.value[v].ptr || one(r.value_stride + v * l.rank));
  for (int g = 0; g < l.targets; ++g) all = all && one(r.target_stride + g * l.rank);
  return !all;
}
}  // namespace back_detail
template <bool Plain> void run_back(const back_layout& l, const back_record& given, slot_base* const* cotangent,
                                    const index_t* out_stride, slot_base* const* to, void* sum) {
  // One function and not a class with a method for each part below: that took the compiler 0.24 billion instructions more, and 736 bytes.
  alignas(64) static constexpr char zeros[256]{};
  arena memory;
  back_record r = given;
  if (l.turn) l.turn(l, r, out_stride, to, memory);
  run::nest_plane plane[run::max_planes];
  adjoint_plane part[run::max_planes];
  run::nest s;
  index_t* const x = s.extent;  // the first are the batch extents of the adjoints
  index_t whole[run::max_rank];
  const int rank = l.rank, levels = Plain ? 0 : l.inner_levels, px = Plain ? 1 : l.px, cotangents = l.value ? 0 : l.vars;
  const std::size_t row = static_cast<std::size_t>(rank) * sizeof(index_t);

  // Extents: the record's, and the batch axes of the cotangents.
  for (int d = 0; d < rank; ++d) x[d] = r.extent[d];
  for (int q = 0; q < cotangents && levels > 0; ++q)
    if (cotangent[q]) {
      cotangent[q]->planes(part);
      for (int k = 0; k < px; ++k)
        for (int d = 0; d < levels; ++d) eval_detail::meet_batch(x[d], part[k].extent[d]);
    }
  const index_t inner_size = row_major(whole, x, rank, levels);

  // Planes, in this order: the value of a sum, cotangents, values, targets, the mask of fresh planes.
  for (int k = 0; k < l.planes; ++k) {
    plane[k].ptr = const_cast<char*>(zeros);
    plane[k].bytes = l.bytes[k];
    plane[k].how = run::access::uniform;
    std::memset(plane[k].stride, 0, sizeof plane[k].stride);
  }
  int k = 0;
  if (l.value) {
    plane[k].ptr = static_cast<char*>(sum);
    plane[k++].how = run::access::output;
  }
  for (int q = cotangents - 1; q >= 0; --q) {  // in reverse plane order of the duals outside the tape
    if (cotangent[q]) cotangent[q]->planes(part);
    for (int i = 0; i < px; ++i, ++k) {
      plane[k].how = run::access::input;
      if (cotangent[q]) back_detail::connect(plane[k], part[i], 0, out_stride, x, levels, rank);
    }
  }
  for (int v = 0; v < l.values; ++v, ++k) {
    const saved_value& value = r.value[v];
    if (value.uniform) {
      plane[k].ptr = const_cast<char*>(value.bytes);
    } else if (value.ptr) {
      plane[k].ptr = const_cast<char*>(static_cast<const char*>(value.ptr));
      plane[k].how = run::access::input;
      std::memcpy(plane[k].stride, r.value_stride + v * rank, row);
    }
  }

  // Targets: where they belong, or formed apart.
  run::plane_mask fresh_planes;
  char* formed[run::max_planes];  // of targets whose adjoints are formed in memory of their own, row-major over the axes they walk, and added at the end
  int inner = rank - 1;
  while (inner > levels && x[inner] == 1) --inner;
  const bool apart = back_detail::forms_apart(l, r, out_stride, x, inner);
  for (int g = 0; g < l.targets; ++g) {
    const int first = l.target_plane[g];
    formed[g] = nullptr;
    for (int i = 0; i < px; ++i) plane[first + i].how = to[g] ? run::access::output : run::access::ignored;
    if (!to[g]) continue;
    const index_t* walk = r.target_stride + g * rank;
    index_t offset = r.target[g].offset, own[run::max_rank];
    bool fresh =
             !to[g]->live && to[g]->size == inner_size && offset == 0 && back_detail::equal(walk, whole, levels, rank),
         overlaps = false;
    int twin = -1;  // a target before this one at the same place
    for (int o = 0; o < l.targets; ++o)
      if (o != g && to[o] == to[g]) {
        const bool same = r.target[o].offset == offset && back_detail::equal(r.target_stride + o * rank, walk, levels, rank);
        overlaps = overlaps || !same;
        if (same && o < g && twin < 0) twin = o;
      }
    // one element an example: the loop runs over examples, whose places must differ by one too. Short rows that overlap may not be turned where they are.
    const bool direct =
        (rank == levels || (x[inner] == 1 ? levels == 0 || to[g]->size == 1 : walk[inner] == 0 || walk[inner] == 1)) &&
        !(overlaps && apart) && !(levels > 0 && back_detail::is_mapped_beyond(*to[g], part, px, x, levels));
    if (direct) {
      s.overlapping = s.overlapping || overlaps;
      fresh = fresh && !overlaps;
      fresh ? to[g]->make_fresh(x) : to[g]->make_open(x);
      to[g]->planes(part);
    } else {
      index_t reach[run::max_rank];
      back_detail::walked(reach, walk, x, rank, levels);
      const index_t size = row_major(own, reach, rank, levels);
      fresh = size == inner_size && twin < 0;
      formed[g] = back_detail::own_planes(part, px, memory, x, levels, size, l.bytes[first], size != inner_size,
                                          twin < 0 ? nullptr : formed[twin]);
      offset = 0;
      walk = own;
    }
    for (int i = 0; i < px; ++i) {
      back_detail::connect(plane[first + i], part[i], offset, walk, x, levels, rank);
      if (fresh) fresh_planes.set(first + i - k);
    }
  }
  plane[l.planes - 1].ptr = reinterpret_cast<char*>(&fresh_planes);

  index_t extent[run::max_rank];  // the planner changes its own
  std::memcpy(extent, x, row);
  s.rank = rank;
  s.planes = l.planes;
  s.plane = plane;
  s.lanes = l.lanes;
  s.cost = l.cost;
  s.batch = l.levels;
  l.drive(s, l.kernel, *l.sums);

  // What was formed apart, to where it belongs: once for all targets at its place.
  for (int g = 0; g < l.targets; ++g) {
    int first = 0;
    while (formed[first] != formed[g]) ++first;
    if (!formed[g] || first < g) continue;
    to[g]->make_open(extent);
    to[g]->planes(part);
    const int bytes = l.bytes[l.target_plane[g]];
    const index_t* walk = r.target_stride + g * rank;
    index_t step[run::max_rank], stride[run::max_rank], reach[run::max_rank];
    back_detail::walked(reach, walk, extent, rank, levels);
    const index_t size = row_major(step, reach, rank, 0) * bytes;
    for (int q = 0; q < px; ++q) {
      std::memcpy(stride, walk, row);
      for (int d = 0; d < levels; ++d) reach[d] = part[q].extent[d], stride[d] = reach[d] == 1 ? 0 : part[q].stride[d];
      l.add[g](part[q].ptr + r.target[g].offset * bytes, stride, formed[g] + q * size, step, reach, rank);
    }
  }
}
TTENSOR_BODY void leaf_noter::hold(saved_value& s, index_t* to, mem::block* holder, int bytes, const leaf_axes& a) const {
  mem::block_ref& keep = r.keep[&s - r.value];
  index_t n = 1, stride[run::max_rank];
  for (int d = a.count - 1; d >= 0; --d) {
    stride[d] = n;
    n *= a.extent[d];
  }
  const auto size = static_cast<std::size_t>(n * bytes);
  if (holder) {
    if (!written || holder->bytes <= 2 * size + 256 || written->copied + size > holder->bytes) {
      keep = mem::block_ref(holder, mem::nobody);  // who counts the leaf's hold is not known here
      return;
    }
    written->copied += size;
  }
  const mem::cell_ref copy(size);
  if (n) run::nest_detail::copy_array(bytes, static_cast<char*>(copy.data()), static_cast<const char*>(s.ptr), a.extent, a.stride, a.count);
  s.ptr = copy.data();
  keep = copy.value();
  align(to, {a.extent, stride, a.count, a.batch}, 0);
}
TTENSOR_BODY void leaf_noter::target(std::uint64_t on, const back_target& t, const leaf_axes& a) {
  if (on != 0) serial.see(on);
  r.target[targets] = t;
  align(r.target_stride + targets++ * rank, a, inner_levels);
}
TTENSOR_BODY void leaf_noter::value(const void* ptr, mem::block* holder, int bytes, bool uniform, const leaf_axes& a) {
  saved_value& s = r.value[values];
  index_t* stride = r.value_stride + values++ * rank;
  align(stride, a, 0);
  s.uniform = uniform;
  s.ptr = nullptr;
  if (uniform) std::memcpy(s.bytes, ptr, static_cast<std::size_t>(bytes));
  else if (kept >> leaf & 1u) s.ptr = ptr;
  if (s.ptr && save) (this->*save)(s, stride, holder, bytes, a);
}
#endif

}  // namespace ad
TTENSOR_END
