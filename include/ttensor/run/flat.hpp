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
/// Fewer adjacent elements than a pack, by a kernel that knows rows of any length. `sums`: the first plane is where it adds what it sums.
void run_few(const statement_type& type, char* const* at, index_t n, bool sums);

#if defined(TTENSOR_BODY)
/// `length` elements: n from `from` on, the last of them again and again.
TTENSOR_NOINLINE inline void spread(char* to, const char* from, int bytes, index_t n, index_t length) {
  const index_t few = n > 1 || length < 16 ? length : 16;
  const char* const last = from + (n - 1) * bytes;
  if (bytes == 8) {
    std::uint64_t x;
    __builtin_memcpy(&x, last, 8);
    for (index_t i = n - 1; i < few; ++i) __builtin_memcpy(to + i * 8, &x, 8);
    for (index_t i = 0; i < n; ++i) __builtin_memcpy(to + i * 8, from + i * 8, 8);
  } else {
    for (index_t i = 0; i < few; ++i) __builtin_memcpy(to + i * bytes, i < n ? from + i * bytes : last, static_cast<std::size_t>(bytes));
  }
  const index_t size = length * bytes;
  for (index_t done = few * bytes; done < size; done *= 2) __builtin_memcpy(to + done, to, static_cast<std::size_t>(done < size - done ? done : size - done));
}
/// One thread's part, when an operand is repeated or there are fewer elements than a pack: such operands are copied, as often as the kernel reads them.
TTENSOR_NOINLINE inline void run_staged(const statement_type& t, const cursor* c, index_t n) {
  const index_t piece = n < (index_t(1) << 20) ? 256 : 4096;  // longer where the result is written past the caches
  const bool few = n < t.lanes;
  const index_t length = few ? t.lanes : n < piece + t.lanes ? n : piece + t.lanes;
  index_t bytes = 0, moved = 0;
  for (int k = 0; k < t.planes; ++k) bytes += length * t.facts[k].bytes + 63, moved += n / t.lanes * c[k].step;
  alignas(64) char near[1024];
  mem::room room;
  if (bytes > index_t(sizeof near)) room.take(static_cast<std::size_t>(bytes));
  char* to = room.ptr ? room.ptr : near;
  cursor own[max_planes];
  for (int k = 0; k < t.planes; ++k) {
    own[k] = c[k];
    if (t.facts[k].uniform || (c[k].step != 0 && !few)) continue;
    own[k].ptr = to;
    spread(to, c[k].ptr, t.facts[k].bytes, c[k].step != 0 ? n : 1, length);
    to += (length * t.facts[k].bytes + 63) & ~index_t(63);
  }
  const bool backwards = direction_here.turn(moved);
  for (index_t left = n, from = 0; left > 0;) {
    const index_t m = left <= length ? left : piece, first = backwards ? left - m : n - left;
    for (int k = 0; k < t.planes; ++k)
      if (own[k].step != 0) own[k].ptr += (first - from) * t.facts[k].bytes;
    t.kernel(own, few ? t.lanes : m, nullptr, n / piece);
    from = first;
    left -= m;
  }
  for (int k = 0; few && k < t.outs; ++k) __builtin_memcpy(c[k].ptr, own[k].ptr, static_cast<std::size_t>(n * t.facts[k].bytes));
}
TTENSOR_NOINLINE inline void run_part(const statement_type& t, const cursor* c, index_t n) {
  bool staged = n < t.lanes && !t.pads;
  for (int k = 0; k < t.planes; ++k) staged = staged || (c[k].step == 0 && !t.facts[k].uniform);
  if (TTENSOR_UNLIKELY(staged)) run_staged(t, c, n);
  else run_to_and_fro(t.kernel, c, t.planes, t.lanes, n < t.lanes ? t.lanes : n);
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
