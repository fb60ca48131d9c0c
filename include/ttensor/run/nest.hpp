// The planner, and the loops over a nest. Neither knows an element type: they see planes (pointer, strides, bytes) and call a
// kernel, a plain function, on runs of elements along one axis. So this code is compiled once, not once a statement.
#pragma once
#include "../mem/pool.hpp"
#include "../shape/extents.hpp"
#include "row.hpp"
#include "transpose.hpp"

TTENSOR_BEGIN
namespace run {

inline constexpr int max_rank = 12;  // batch axes included

enum class access : unsigned char { input, output, uniform, ignored };  // ignored: an output that nobody wants
struct nest_plane {
  char* ptr;
  int bytes;       // of an element
  access how;
  index_t stride[max_rank];  // elements
};
/// How a kernel that adds to its outputs is kept accurate: at most `run` elements of the innermost axis, and `rows` rows (of such
/// runs: `runs`), are added one after the other; longer sums are cut in halves whose results are added.
struct accumulation {
  int group;  // output planes that belong together
  index_t run, rows, runs;
  // for the group of planes from p on: n elements := the identity; n elements of `into` += those of `from`
  void (*open)(char* const* out, index_t n, int p);
  void (*merge)(char* const* into, char* const* from, index_t n, int p);
};
enum class plan_kind { flat, inner, tiled, general };
/// The loops of one statement: axes outermost first.
struct nest {
  int rank = 0, planes = 0;
  index_t extent[max_rank];
  nest_plane* plane;
  int lanes;       // elements of a pack
  int cost = 8;    // of an element: planes and instructions
  int batch = 0;   // leading axes that keep their places in a sum
  bool overlapping = false;  // outputs share elements under different mappings: pieces must run in order
  index_t size() const {
    index_t n = 1;
    for (int d = 0; d < rank; ++d) n *= extent[d];
    return n;
  }
  void exchange(int a, int b) {  // axes
    std::swap(extent[a], extent[b]);
    for (int p = 0; p < planes; ++p) std::swap(plane[p].stride[a], plane[p].stride[b]);
  }
};

/// Drops axes of extent 1, orders axes by the first plane's stride (largest outside), merges axes that every plane walks as one.
void collapse(nest& s, bool reorder);

/// A row of a few elements takes longer to begin than to compute: below `enough` elements a longer axis takes its place, and planes that are
/// strided then pass through tiles. False: the rows are long enough, or there is no such axis.
bool turn_short_rows(nest& s, index_t enough);
/// The axis that takes the place of axis `in`, or -1: the next one of 16 or more that is more than twice as long or replaces rows that fill no pack,
/// else the longest one if that is more than twice as long.
inline int longer_axis(const index_t* extent, int in, index_t lanes, index_t enough) {
  if (in < 1 || extent[in] >= enough) return -1;
  int longest = in;
  for (int d = in - 1; d >= 0; --d) {
    if (extent[d] >= 16 && (extent[in] < lanes || extent[d] > 2 * extent[in])) return d;
    if (extent[d] > extent[longest]) longest = d;
  }
  return extent[longest] > 2 * extent[in] ? longest : -1;
}

/// The same for a sum along a short row: an axis that the sum keeps moves inside, whatever its extent, so that the order of an element's additions does
/// not depend on how many elements there are (chunks of vmap give the same bits); where no axis is kept, one of 16 or more. Short rows that are kept change places with a sum across them that fills packs, else, where that is short
/// too, with a longer axis that is kept: the additions of an element and their order are the same.
bool turn_short_sums(nest& s);

/// How a planned nest is walked.
plan_kind classify(const nest& s);
/// What the driver of a nest found out before it runs: explain prints it.
struct nest_plan {
  plan_kind kind = plan_kind::flat;
  int threads = 1, gathered = 0;  // gathered: strided inputs that are copied first, into one buffer
  bool tiles = false;             // strided planes pass through a buffer, one for every piece
  index_t pieces = 1, sums = 0;   // of a sum: pieces, and buffers for sums of their own
  int rank = 0;
  index_t extent[max_rank];       // of the axes that are left
};

#if defined(TTENSOR_BODY)
TTENSOR_BODY void collapse(nest& s, bool reorder) {
  int r = 0;
  for (int d = 0; d < s.rank; ++d) {
    if (s.extent[d] == 1) continue;
    s.extent[r] = s.extent[d];
    for (int p = 0; p < s.planes; ++p) s.plane[p].stride[r] = s.plane[p].stride[d];
    ++r;
  }
  s.rank = r;
  auto weight = [&](int d) {
    const index_t w = s.plane[0].stride[d];
    return w < 0 ? -w : w;
  };
  for (int i = 1; i < s.rank && reorder; ++i)  // insertion sort; usually in order already
    for (int d = i; d > 0 && weight(d - 1) < weight(d) && weight(d - 1) != 0; --d) s.exchange(d - 1, d);
  r = 0;
  for (int d = 1; d < s.rank; ++d) {
    bool one = true;
    for (int p = 0; p < s.planes && one; ++p) one = s.plane[p].stride[r] == s.plane[p].stride[d] * s.extent[d];
    if (one) s.extent[r] *= s.extent[d];
    else s.extent[++r] = s.extent[d];
    for (int p = 0; p < s.planes; ++p) s.plane[p].stride[r] = s.plane[p].stride[d];
  }
  if (s.rank > 0) s.rank = r + 1;
}
TTENSOR_BODY bool turn_short_rows(nest& s, index_t enough) {
  const int in = s.rank - 1, longer = longer_axis(s.extent, in, s.lanes, enough);
  if (longer < 0 || s.overlapping) return false;
  s.exchange(longer, in);
  return true;
}
TTENSOR_BODY bool turn_short_sums(nest& s) {
  const int in = s.rank - 1;
  const int enough = s.lanes < 8 ? 8 : s.lanes;  // a row costs more to begin than a few elements
  if (in < 1 || s.extent[in] >= enough || s.overlapping) return false;
  auto kept = [&](int d) {
    bool yes = false;
    for (int p = 0; p < s.planes; ++p) yes = yes || (s.plane[p].how == access::output && s.plane[p].stride[d] != 0);
    return yes;
  };
  int to = in - 1;
  if (kept(in)) {
    if (kept(to)) return false;
    const bool fills_packs = s.extent[in] < s.lanes && s.extent[to] >= s.lanes && s.extent[to] >= 2 * s.extent[in];
    if (!fills_packs) {  // nothing but what is kept moves, so the order of additions stays and the extents may decide
      int longest = -1;
      for (int d = to - 1; d >= 0; --d)
        if (s.extent[d] >= 16 && (longest < 0 || s.extent[d] > s.extent[longest]) && kept(d)) longest = d;
      if (longest < 0 || s.extent[to] * s.extent[in] > 40) return false;  // a kernel for each matrix costs what 40 elements do in tiles
      s.exchange(longest, in);
      return true;
    }
  } else {
    to = -1;
    for (int d = in - 1; d >= 0; --d)
      if (kept(d) && (to < 0 || (s.extent[to] < 16 && s.extent[d] > s.extent[to]))) to = d;
    bool all = to < 0;
    for (int d = in - 1; d >= 0 && all; --d)
      if (s.extent[d] >= 16) to = d, all = false;
    if (to < 0) return false;
  }
  for (int d = to; d < in; ++d) s.exchange(d, d + 1);
  return true;
}
TTENSOR_BODY plan_kind classify(const nest& s) {
  if (s.rank == 0 || (s.rank == 1 && s.extent[0] == 1)) return plan_kind::flat;
  const int in = s.rank - 1;
  bool unit = true, transposed = s.rank > 1;
  for (int p = 0; p < s.planes; ++p) {
    const index_t t = s.plane[p].stride[in];
    if (t == 0 || t == 1) continue;
    unit = false;
    if (s.rank > 1 && s.plane[p].stride[in - 1] != 1 && s.plane[p].stride[in - 1] != 0) transposed = false;
  }
  if (unit) {
    bool all_one = s.rank == 1;
    for (int p = 0; p < s.planes; ++p) all_one = all_one && (s.plane[p].stride[in] == 1 || s.plane[p].how != access::input);  // an output that stands still is a sum
    return all_one ? plan_kind::flat : plan_kind::inner;
  }
  return transposed ? plan_kind::tiled : plan_kind::general;
}

namespace nest_detail {
/// A copy of an array that is not empty, row-major. Strides in elements.
TTENSOR_NOINLINE inline void copy_array(int bytes, char* to, const char* from, const index_t* extent, const index_t* stride, int rank) {
  index_t i[max_rank]{};
  const int in = rank - 1;
  const index_t n = rank > 0 ? extent[in] : 1, step = rank > 0 ? stride[in] * bytes : 0;
  for (int d = 0; d >= 0; to += n * bytes) {  // row by row; d: the axis that moves on
    copy_elements(bytes, to, bytes, from, step, n);
    for (d = in - 1; d >= 0; i[d--] = 0) {
      from += stride[d] * bytes;
      if (++i[d] < extent[d]) break;
      from -= i[d] * stride[d] * bytes;
    }
  }
}
}  // namespace nest_detail

/// Calls the kernel over a part of a nest. Planes whose inner stride is not 0 or 1 pass through tiles; a transposed plane is
/// gathered in blocks that read and write whole registers.
class walker {
 public:
  walker(const nest& s, rows_kernel k, bool accumulates) : s_(s), rows_kernel_(k), accumulates_(accumulates) {}
  walker(const nest& s, kernel k, bool accumulates) : s_(s), kernel_(k), each_(&walker::call_each), accumulates_(accumulates) {}
  walker(const walker& o) : s_(o.s_), rows_kernel_(o.rows_kernel_), kernel_(o.kernel_), each_(o.each_), accumulates_(o.accumulates_) {}

  /// Gives short rows another axis. A row is worth beginning that fills a pack, or several for a kernel of single rows, which begins every row anew.
  bool turn(nest& s) const {
    if (!rows_kernel_) return turn_short_rows(s, 32);
    if (accumulates_) return turn_short_sums(s);
    return turn_short_rows(s, enough(s));
  }
  static index_t enough(const nest& s) { return repeats(s) && s.lanes < 12 ? 12 : s.lanes; }
  /// Whether an input is repeated along the rows: every row then begins in a buffer, which costs what 12 elements do.
  static bool repeats(const nest& s) {
    const int in = s.rank - 1;
    bool yes = false;
    for (int p = 0; p < s.planes && in > 0; ++p)
      yes = yes || (s.plane[p].how == access::input && s.plane[p].stride[in] == 0 && s.extent[in] > 1);
    return yes;
  }
  bool through_tile(int p) const {
    const index_t t = s_.plane[p].stride[s_.rank - 1];
    return t != 0 && t != 1;
  }
  /// `across`: elements of a tile along the innermost axis.
  void run(const index_t* extent, char* const* ptr, bool strided, index_t across) {
    const int in = s_.rank - 1;
    single_ = strided && !accumulates_ && in > 0 && extent[in] >= 64;
    for (int p = 0; p < s_.planes && single_; ++p) single_ = !(through_tile(p) && s_.plane[p].stride[in - 1] == 1);
    for (int p = 0; p < s_.planes; ++p) {
      c_[p] = {s_.plane[p].how == access::ignored ? nowhere_ : ptr[p], step(p)};
      down_[p] = in > 0 ? s_.plane[p].stride[in - 1] * s_.plane[p].bytes : 0;
      same_[p] = strided ? first_at(p) : p;
    }
    const index_t width = extent[in], height = in > 0 ? extent[in - 1] : 1;
    if (in == 0 && !strided && !accumulates_ && !s_.overlapping && rows_kernel_)
      return run_to_and_fro(rows_kernel_, c_, s_.planes, s_.lanes, width);
    index_t index[max_rank]{};
    for (;;) {
      strided ? tiles(width, height, across) : call(c_, width, down_, height);
      int d = in - 2;
      for (; d >= 0; --d) {
        for (int p = 0; p < s_.planes; ++p) c_[p].ptr += s_.plane[p].stride[d] * s_.plane[p].bytes;
        if (++index[d] < extent[d]) break;
        index[d] = 0;
        for (int p = 0; p < s_.planes; ++p) c_[p].ptr -= s_.plane[p].stride[d] * extent[d] * s_.plane[p].bytes;
      }
      if (d < 0) return;
    }
  }
  /// Bytes of tiles of so many rows.
  std::size_t tile_bytes(index_t rows, index_t across) const {
    std::size_t need = 0;
    for (int p = 0; p < s_.planes; ++p)
      if (through_tile(p)) need += static_cast<std::size_t>(rows * across * s_.plane[p].bytes + 64);
    return need;
  }
  static constexpr index_t tile = 64;  // elements of a sum's tile each way: it decides the order of additions
  // Other tiles hold as many in long rows, which the processor fetches ahead (transposes of 1000 rows take a third to a half), and no
  // more rows than a cache line holds floats, so that a line of a transposed plane is read at once.
  index_t rows() const { return accumulates_ ? tile : tile / 4; }
  index_t across() const { return accumulates_ ? tile : tile * 4; }

 private:
  /// The first plane of its kind that is where plane p is. One tile serves both: it is gathered once, and what is added to two outputs must meet.
  int first_at(int p) const {
    const nest_plane& a = s_.plane[p];
    for (int q = 0; q < p && through_tile(p); ++q) {
      const nest_plane& b = s_.plane[q];
      if (b.how == a.how && c_[q].ptr == c_[p].ptr && a.bytes == b.bytes &&
          std::memcmp(a.stride, b.stride, sizeof(index_t) * static_cast<std::size_t>(s_.rank)) == 0)
        return q;
    }
    return p;
  }
  index_t step(int p) const { return s_.plane[p].stride[s_.rank - 1] == 0 ? 0 : index_t(s_.lanes) * s_.plane[p].bytes; }

  void call(const cursor* c, index_t n, const index_t* down, index_t rows) {
    if (rows_kernel_) rows_kernel_(c, n, down, rows);
    else (this->*each_)(c, n, down, rows);
  }
  TTENSOR_NOINLINE void call_each(const cursor* c, index_t n, const index_t* down, index_t rows) {
    alignas(64) char repeated[max_planes * 128];
    cursor k[max_planes];
    char* room = repeated;
    auto stands = [&](int p) { return c[p].step == 0 && s_.plane[p].how == access::input; };
    for (int p = 0; p < s_.planes; ++p) {
      k[p] = c[p];
      if (!stands(p)) continue;
      k[p].ptr = room;
      room += s_.plane[p].bytes * s_.lanes;
      if (room > repeated + sizeof repeated)
        raise<type_error>("[run] too many broadcast operands in one statement; split it [TT-T09]");
    }
    for (index_t r = 0; r < rows; ++r) {
      for (int p = 0; p < s_.planes; ++p) {
        if (r > 0 && down[p] == 0) continue;
        char* const at = c[p].ptr + r * down[p];
        if (stands(p)) copy_elements(s_.plane[p].bytes, k[p].ptr, s_.plane[p].bytes, at, 0, s_.lanes);
        else k[p].ptr = at;
      }
      kernel_(k, n, accumulates_);
    }
  }

  // The two inner axes in tiles: strided inputs are gathered (outputs too where the kernel reads them), strided outputs
  // scattered. Heights of tiles are multiples of every row group that a kernel may form, or 1 (single_).
  void tiles(index_t width, index_t height, index_t across) {
    const index_t rows = single_ ? 1 : height < this->rows() ? height : this->rows();
    const std::size_t need = tile_bytes(rows, across);
    if (need > room_.bytes) room_.take(need);
    for (index_t i = 0; i < height; i += rows)
      for (index_t j = 0; j < width; j += across)
        one_tile(i, j, height - i < rows ? height - i : rows, width - j < across ? width - j : across);
  }
  void one_tile(index_t i, index_t j, index_t h, index_t w) {
    const int in = s_.rank - 1;
    char* buf = room_.ptr;
    cursor k[max_planes];
    index_t down[max_planes];  // bytes from one row to the next
    for (int p = 0; p < s_.planes; ++p) {
      const nest_plane& q = s_.plane[p];
      const index_t b = q.bytes, right = q.stride[in] * b;
      k[p] = {c_[p].ptr + i * down_[p] + j * right, c_[p].step};
      down[p] = down_[p];
      if (!through_tile(p)) continue;
      const index_t own = own_rows(p, h);
      down[p] = own == 1 ? 0 : w * b;
      if (same_[p] != p) {
        k[p] = k[same_[p]];
        continue;
      }
      if (q.how == access::input || accumulates_) {
        if (down_[p] == b) {
          transpose_copy(q.bytes, buf, w * b, k[p].ptr, right, h, w);
        } else {
          for (index_t y = 0; y < own; ++y) copy_elements(q.bytes, buf + y * w * b, b, k[p].ptr + y * down_[p], right, w);
        }
      }
      k[p].ptr = buf;
      buf += (own * w * b + 63) / 64 * 64;
    }
    call(k, w, down, h);
    for (int p = 0; p < s_.planes; ++p) {
      const nest_plane& q = s_.plane[p];
      if (q.how != access::output || !through_tile(p) || same_[p] != p) continue;
      const index_t b = q.bytes, right = q.stride[in] * b;
      char* to = c_[p].ptr + i * down_[p] + j * right;
      const index_t own = own_rows(p, h);
      if (down_[p] == b && transpose_back(q.bytes, to, right, k[p].ptr, w * b, own, w)) continue;
      for (index_t y = 0; y < own; ++y) copy_elements(q.bytes, to + y * down_[p], right, k[p].ptr + y * w * b, b, w);
    }
  }
  /// Rows of plane p in a tile of h rows: one where it stands still from row to row. Copies of a sum would each lose what the others add.
  index_t own_rows(int p, index_t h) const { return down_[p] == 0 ? 1 : h; }
  const nest& s_;
  rows_kernel rows_kernel_ = nullptr;
  kernel kernel_ = nullptr;
  void (walker::*each_)(const cursor*, index_t, const index_t*, index_t) = nullptr;  // so that who has no such kernel does not compile its calls
  bool accumulates_;
  bool single_ = false;  // tiles of one long row, which stay in the first cache: no plane is transposed, nothing is summed
  cursor c_[max_planes];
  index_t down_[max_planes];
  int same_[max_planes];
  mem::room room_;
  alignas(16) char nowhere_[16]{};
};
#endif

}  // namespace run
TTENSOR_END
