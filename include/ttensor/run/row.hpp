// A row: what kernels are called with, and where long rows begin. Operands that together fit into the last cache but into none before it are
// walked to and fro: every second loop of a thread begins at the end, where the one before it stopped and what it used is still near. Pieces
// change their order and nothing else, so no result depends on it.
#pragma once
#include "../base/meta.hpp"

TTENSOR_BEGIN
namespace run {

inline constexpr int max_planes = 256;  // of one statement

/// Where a kernel reads or writes: step is the bytes from one pack to the next, 0 for a repeated element.
struct cursor {
  char* ptr;
  index_t step;
};
/// Runs `rows` rows of `n` elements, each `down` bytes after the one before (one per cursor, unused for a single row);
/// cursors: outputs first, then inputs. The kernel repeats broadcast elements itself.
using rows_kernel = void (*)(const cursor* c, index_t n, const index_t* down, index_t rows);
/// Runs `n` elements; broadcast inputs point at a pack of repeated elements. `in_place`: an output is also an input.
using kernel = void (*)(const cursor* c, index_t n, bool in_place);

struct to_and_fro {
  static constexpr index_t least = index_t(1) << 19, most = index_t(1) << 24;  // bytes of all operands
  bool backwards = false;
  /// Turns, if a loop over so many bytes does, and says whether it begins at the end.
  bool turn(index_t bytes) {
    if (bytes < least || bytes > most) return false;
    backwards = !backwards;
    return backwards;
  }
};
inline constinit thread_local to_and_fro direction_here{};
/// One row of n elements whose planes are contiguous or stand still, in pieces of at least `lanes` elements.
void run_to_and_fro(rows_kernel k, const cursor* c, int planes, int lanes, index_t n);

#if defined(TTENSOR_BODY)
TTENSOR_BODY void run_to_and_fro(rows_kernel k, const cursor* c, int planes, int lanes, index_t n) {
  index_t bytes = 0;
  for (int p = 0; p < planes; ++p) bytes += n / lanes * c[p].step;
  if (!direction_here.turn(bytes)) return k(c, n, nullptr, 1);
  constexpr index_t piece = 8192;  // whole packs
  for (index_t end = n; end > 0;) {
    const index_t first = (end - lanes) / piece * piece;
    cursor own[max_planes];
    for (int p = 0; p < planes; ++p) own[p] = {c[p].ptr + first / lanes * c[p].step, c[p].step};
    k(own, end - first, nullptr, 1);
    end = first;
  }
}
#endif

}  // namespace run
TTENSOR_END
