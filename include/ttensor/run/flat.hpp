// Statements over n elements that are adjacent in every operand, or one that is repeated. Their kernels know rows of at least a pack of
// adjacent elements and nothing else, so what differs is made like that here, once for all statements.
#pragma once
#include "core_io.hpp"

TTENSOR_BEGIN
namespace run {

/// Constants of a statement's type.
struct statement_type {
  rows_kernel kernel;
  const plane_facts* facts;
  int planes, outs, lanes, cost;
  const expr::shape_step* steps;  // for the text of an error; null when the leaves do not show the shape
  const statement_type* merged;   // of a whole statement: with the kernel for the case that operand k is operand same[k] for all k; or null
  const int* same;
  bool pads = false;              // fewer elements than a pack may be computed as one: the operands end with their blocks
};

/// Whether launch_flat does more than call the kernel, for n elements of so many bytes in all planes.
inline bool takes_pieces(index_t n, index_t bytes, int cost) { return n * bytes >= to_and_fro::least || threads_for(n * cost) > 1; }
/// n > 0 elements; operands with step 0 are one element each. The kernel is given rows of at least `lanes` adjacent elements, one at a time, and the number of
/// those that are as long as this one; it ignores `down`.
void launch_flat(const statement_type& type, const cursor* c, index_t n);
/// Zeros from byte n on, up to byte `end`.
void clear_behind(char* p, index_t n, index_t end);
/// Fewer adjacent elements than a pack, by a kernel that knows rows of any length. `sums`: the first plane is where it adds what it sums.
void run_few(const statement_type& type, char* const* at, index_t n, bool sums);

#if defined(TTENSOR_BODY)
/// One thread's part, when an operand is repeated or there are fewer elements than a pack: in pieces of which what is repeated stays in the nearest cache.
TTENSOR_NOINLINE inline void run_staged(const statement_type& t, const cursor* c, index_t n) {
  index_t width = 0, moved = 0;  // width: of an element of the planes that are copied
  for (int k = 0; k < t.planes; ++k) {
    moved += n / t.lanes * c[k].step;
    if (!t.facts[k].uniform && (n < t.lanes || c[k].step == 0)) width += t.facts[k].bytes;
  }
  const index_t piece = width < 128 ? 8192 / width & ~index_t(63) : 64;
  const index_t length = n < t.lanes ? t.lanes : n < piece + t.lanes ? n : piece + t.lanes, bytes = length * width + 64 * (t.planes + 1);
  alignas(64) char near[10240];
  mem::room room;
  if (bytes > index_t(sizeof near)) room.take(static_cast<std::size_t>(bytes));
  cursor own[max_planes];
  prepare_row(own, c, t.facts, t.planes, static_cast<int>(length), n, room.ptr ? room.ptr : near);
  const bool backwards = direction_here.turn(moved);
  for (index_t left = n, at = 0; left > 0;) {
    const index_t m = left <= length ? left : piece, first = backwards ? left - m : n - left;
    for (int k = 0; k < t.planes; ++k)
      if (own[k].step != 0) own[k].ptr += (first - at) * t.facts[k].bytes;
    t.kernel(own, m < t.lanes ? t.lanes : m, nullptr, n < t.lanes ? 1 : n / piece);
    at = first;
    left -= m;
  }
  if (n < t.lanes) finish_row(own, c, t.facts, t.planes, n);
}
TTENSOR_BODY void clear_behind(char* p, index_t n, index_t end) { __builtin_memset(p + n, 0, static_cast<std::size_t>(end - n)); }
TTENSOR_NOINLINE inline void run_part(const statement_type& t, const cursor* c, index_t n) {
  bool staged = n < t.lanes && !t.pads;
  for (int k = 0; k < t.planes; ++k) staged = staged || (c[k].step == 0 && !t.facts[k].uniform);
  if (TTENSOR_UNLIKELY(staged)) run_staged(t, c, n);
  else run_to_and_fro(t.kernel, c, t.planes, t.lanes, n < t.lanes ? t.lanes : n);
  for (int k = 0; !staged && n < t.lanes && k < t.outs; ++k) clear_behind(c[k].ptr, n * t.facts[k].bytes, t.lanes * t.facts[k].bytes);
}
TTENSOR_BODY void launch_flat(const statement_type& t, const cursor* c, index_t n) {
  const int team = threads_for(n * t.cost);
  if (TTENSOR_LIKELY(team == 1)) return run_part(t, c, n);
  with_team(team, [&] {
    in_parts(0, n, walker::tile, team, [&](index_t first, index_t last) {
      cursor own[max_planes];
      for (int k = 0; k < t.planes; ++k) own[k] = {c[k].ptr + first / t.lanes * c[k].step, c[k].step};
      run_part(t, own, last - first);
    });
  });
}
TTENSOR_BODY void run_few(const statement_type& t, char* const* at, index_t n, bool sums) {
  cursor c[max_planes];
  for (int k = 0; k < t.planes; ++k) c[k] = {at[k], t.facts[k].uniform || (sums && k == 0) ? 0 : index_t(t.lanes) * t.facts[k].bytes};
  t.kernel(c, n, nullptr, 1);
}
#endif

}  // namespace run
TTENSOR_END
