// A statement made ready to run: the planes of its result and of its leaves over common axes. Nothing here knows the
// statement's expression, so it is compiled once for a number of axes and not once a statement.
#pragma once
#include "flat.hpp"
#include "line.hpp"

TTENSOR_BEGIN
namespace mem { struct block; }
namespace run {

/// Planes of a statement over F axes, batch axes first; the outputs come first. A leaf's strides are as the leaf has them
/// until align().
template <int F> struct statement_planes {
  const statement_type& type;
  nest_plane* plane;
  mem::block** holder;  // of a leaf plane; null when the expression itself keeps the elements
  dims<F>* own;         // extents of a leaf plane, 1 where it has no axis
  dims<F> extent{};     // of the statement

  /// Sets the extents from those of the leaves, one plane each; throws where they do not broadcast.
  TTENSOR_NOINLINE void broadcast() {
    for (index_t& e : extent) e = 1;
    expr::broadcast(extent.v, F, type.steps, own[type.outs].v, type.planes - type.outs);
  }
  /// Gives every leaf plane its element size, and stride 0 on axes along which it is repeated.
  TTENSOR_NOINLINE void align() {
    for (int k = type.outs; k < type.planes; ++k) {
      plane[k].bytes = type.facts[k].bytes;
      plane[k].how = type.facts[k].uniform ? access::uniform : access::input;
      for (int d = 0; d < F; ++d)
        if (own[k][d] == 1) plane[k].stride[d] = 0;
    }
  }
  /// True when every leaf that is an array is whole, row-major and of the statement's shape.
  bool flat() const {
    bool yes = true;
    for (int k = type.outs; k < type.planes; ++k) yes = yes && (type.facts[k].uniform || is_whole(k));
    return yes;
  }
  TTENSOR_INLINE bool is_whole(int k) const {
    bool yes = true;
    index_t n = 1;
    for (int d = F - 1; d >= 0; --d) {
      yes = yes && own[k][d] == extent[d] && (extent[d] == 1 || plane[k].stride[d] == n);
      n *= extent[d];
    }
    return yes;
  }
  /// True only when planes a and b have no byte in common: one ends before the other begins, or their elements lie between each other, as two
  /// columns do (all addresses of a plane are equal modulo the greatest common divisor of all strides). After align() and set_output().
  bool apart(int a, int b) const {
    const char *first[2], *last[2];
    for (int i = 0; i < 2; ++i) {
      const nest_plane& p = plane[i ? b : a];
      first[i] = p.ptr, last[i] = p.ptr + p.bytes;
      for (int d = 0; d < F; ++d) {
        const index_t step = p.stride[d] * p.bytes;
        (step < 0 ? first : last)[i] += (extent[d] - 1) * step;
      }
    }
    if (last[0] <= first[1] || last[1] <= first[0]) return true;
    index_t divisor = 0;
    for (int i = 0; i < 2; ++i)
      for (int d = 0; d < F; ++d) {
        const nest_plane& p = plane[i ? b : a];
        for (index_t x = extent[d] > 1 ? p.stride[d] * p.bytes : 0; x != 0;) {  // Euclid
          const index_t rest = divisor % x;
          divisor = x;
          x = rest;
        }
      }
    if (divisor == 0) return false;
    divisor = divisor < 0 ? -divisor : divisor;
    index_t between = (plane[b].ptr - plane[a].ptr) % divisor;
    if (between < 0) between += divisor;
    return between >= plane[a].bytes && between + plane[b].bytes <= divisor;
  }
  /// Whether leaf plane k, which nobody holds (borrowed memory), has bytes in [from, to). By its own extents, so before align() has zeroed strides too.
  TTENSOR_NOINLINE bool reaches(int k, const char* from, const char* to) const {
    const char *first = plane[k].ptr, *last = first + type.facts[k].bytes;
    for (int d = 0; d < F; ++d) {
      if (own[k][d] == 0) return false;
      const index_t step = own[k][d] == 1 ? 0 : plane[k].stride[d] * type.facts[k].bytes;
      (step < 0 ? first : last) += (own[k][d] - 1) * step;
    }
    return first < to && from < last;
  }
  /// Whether leaf plane k is of memory that nobody holds, which may be that of the output.
  bool is_loose(int k) const { return holder[k] == nullptr && !type.facts[k].uniform; }
  /// Of one axis: whether every leaf is a number or n adjacent elements, and those of the block `b`, or of nobody, are the n at `to` or apart from them.
  /// Sets where the kernel begins, and `held` to the number of leaves that hold b.
  bool adjacent(cursor* c, char* to, index_t n, const mem::block* b, int& held) const requires(F == 1) {
    const index_t size = n * type.facts[0].bytes;
    bool yes = true;
    held = 0;
    c[0] = {to, type.lanes * type.facts[0].bytes};
    for (int k = 1; k < type.planes; ++k) {
      char* const at = plane[k].ptr;
      const index_t bytes = type.facts[k].bytes;
      c[k] = {at, type.facts[k].uniform ? 0 : type.lanes * bytes};
      if (type.facts[k].uniform) continue;
      yes = yes && own[k][0] == n && (plane[k].stride[0] == 1 || n == 1);
      if (holder[k] != b && holder[k] != nullptr) continue;
      held += holder[k] == b;
      yes = yes && ((at == to && n * bytes == size) || at + n * bytes <= to || to + size <= at);
    }
    return yes;
  }
  /// Number of leaf planes that hold `b`.
  int leaves_holding(const mem::block* b) const {
    int n = 0;
    for (int k = type.outs; k < type.planes; ++k) n += holder[k] == b;
    return n;
  }
  void set_output(int k, void* ptr, const dims<F>& stride) {
    plane[k].ptr = static_cast<char*>(ptr);
    plane[k].bytes = type.facts[k].bytes;
    plane[k].how = access::output;
    for (int d = 0; d < F; ++d) plane[k].stride[d] = extent[d] == 1 ? 0 : stride[d];
  }
  /// One run over all elements, for planes that are all whole.
  TTENSOR_NOINLINE void run_flat() {
    const index_t n = shape::size(extent);
    cursor c[max_planes];
    for (int k = 0; k < type.planes; ++k) c[k] = {plane[k].ptr, type.facts[k].uniform ? 0 : index_t(type.lanes) * type.facts[k].bytes};
    if (n) launch_flat(type, c, n);
  }
  nest loops() {
    nest s;
    s.rank = F;
    s.planes = type.planes;
    for (int d = 0; d < F; ++d) s.extent[d] = extent[d];
    s.plane = plane;
    s.lanes = type.lanes;
    s.cost = type.cost;
    return s;
  }
  /// Through the planner, into the outputs that were set; after align().
  TTENSOR_NOINLINE void run_planned() {
    if constexpr (F == 1 && !has_threads) {
      run_line(plane, type.planes, type.lanes, type.kernel, extent[0]);
    } else {
      nest s = loops();
      run_map(s, type.kernel);
    }
  }
  /// What run_planned() does.
  nest_plan planned() {
    nest s = loops();
    if constexpr (F == 1 && !has_threads) return plan_line(s);
    else return plan_map(s, type.kernel);
  }
};

}  // namespace run
TTENSOR_END
