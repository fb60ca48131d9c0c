// The planner and the loop driver. Neither knows an element type: they see planes (pointer, strides, bytes) and call a
// kernel, a plain function, on runs of elements along one axis. So this code is compiled once, not once a statement.
#pragma once
#include <cstring>
#include "../mem/pool.hpp"
#include "../shape/extents.hpp"

TTENSOR_BEGIN
namespace run {

inline constexpr int max_rank = 12;       // batch axes included
inline constexpr int max_planes = 96;     // of one statement
inline constexpr int broadcast_packs = 4; // a broadcast element is repeated over this many packs

/// Where a kernel reads or writes: step is the bytes from one pack to the next, 0 for a repeated element.
struct cursor {
  char* ptr;
  index_t step;
};
/// Runs `n` elements; cursors: outputs first, then inputs. `in_place`: an output is also an input.
using kernel = void (*)(const cursor* c, index_t n, bool in_place);

enum class access : unsigned char { input, output, uniform };
struct nest_plane {
  char* ptr;
  int bytes;       // of an element
  access how;
  index_t stride[max_rank];  // elements
};
enum class plan_kind { flat, inner, tiled, general };
/// The loops of one statement: axes outermost first.
struct nest {
  int rank = 0, planes = 0;
  index_t extent[max_rank];
  nest_plane* plane;
  int lanes;       // elements of a pack
  index_t size() const {
    index_t n = 1;
    for (int d = 0; d < rank; ++d) n *= extent[d];
    return n;
  }
};

/// Drops axes of extent 1, orders axes by the first plane's stride (largest outside), merges axes that every plane walks as one.
inline void collapse(nest& s, bool reorder) {
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
    for (int d = i; d > 0 && weight(d - 1) < weight(d) && weight(d - 1) != 0; --d) {
      std::swap(s.extent[d - 1], s.extent[d]);
      for (int p = 0; p < s.planes; ++p) std::swap(s.plane[p].stride[d - 1], s.plane[p].stride[d]);
    }
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

/// What the driver will do with a collapsed nest.
inline plan_kind classify(const nest& s) {
  if (s.rank == 0) return plan_kind::flat;
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
    for (int p = 0; p < s.planes; ++p) all_one = all_one && (s.plane[p].stride[in] == 1 || s.plane[p].how == access::uniform);
    return all_one ? plan_kind::flat : plan_kind::inner;
  }
  return transposed ? plan_kind::tiled : plan_kind::general;
}

namespace nest_detail {
template <int B> inline void copy_strided(char* to, index_t to_step, const char* from, index_t from_step, index_t n) {
  for (index_t i = 0; i < n; ++i) std::memcpy(to + i * to_step, from + i * from_step, B);
}
inline void copy_elements(int bytes, char* to, index_t to_step, const char* from, index_t from_step, index_t n) {
  switch (bytes) {
    case 1: return copy_strided<1>(to, to_step, from, from_step, n);
    case 2: return copy_strided<2>(to, to_step, from, from_step, n);
    case 4: return copy_strided<4>(to, to_step, from, from_step, n);
    case 8: return copy_strided<8>(to, to_step, from, from_step, n);
    case 16: return copy_strided<16>(to, to_step, from, from_step, n);
    default:
      for (index_t i = 0; i < n; ++i) std::memcpy(to + i * to_step, from + i * from_step, static_cast<std::size_t>(bytes));
  }
}
inline void repeat_element(char* to, const char* from, int bytes, int lanes) {
  const index_t n = index_t(lanes) * broadcast_packs;
  copy_elements(bytes, to, bytes, from, 0, n);
}
}  // namespace nest_detail

/// Calls the kernel over the whole nest. Planes whose inner stride is not 0 or 1 pass through tiles; with two axes a
/// transposed plane is gathered in blocks that read whole cache lines.
class driver {
 public:
  driver(nest& s, kernel k, bool in_place, bool reorder = true) : s_(s), kernel_(k), in_place_(in_place), reorder_(reorder) {}

  void run() {
    for (int d = 0; d < s_.rank; ++d)
      if (s_.extent[d] == 0) return;
    collapse(s_, reorder_);
    if (s_.rank == 0) {
      s_.rank = 1;
      s_.extent[0] = 1;
      for (int p = 0; p < s_.planes; ++p) s_.plane[p].stride[0] = s_.plane[p].how == access::output ? 1 : 0;
    }
    const int in = s_.rank - 1;
    bool strided = false;
    for (int p = 0; p < s_.planes; ++p) strided |= s_.plane[p].stride[in] != 0 && s_.plane[p].stride[in] != 1;
    for (int p = 0; p < s_.planes; ++p) c_[p] = {s_.plane[p].ptr, step(p)};
    index_t index[max_rank]{};
    const bool blocks = strided && s_.rank > 1;
    const int outer = blocks ? s_.rank - 2 : s_.rank - 1;
    for (;;) {
      blocks ? tile_rows() : strided ? tile_row() : row();
      int d = outer - 1;
      for (; d >= 0; --d) {
        for (int p = 0; p < s_.planes; ++p) c_[p].ptr += s_.plane[p].stride[d] * s_.plane[p].bytes;
        if (++index[d] < s_.extent[d]) break;
        index[d] = 0;
        for (int p = 0; p < s_.planes; ++p) c_[p].ptr -= s_.plane[p].stride[d] * s_.extent[d] * s_.plane[p].bytes;
      }
      if (d < 0) return;
    }
  }

 private:
  static constexpr index_t tile = 256, tile_height = 16;
  index_t step(int p) const { return s_.plane[p].stride[s_.rank - 1] == 0 ? 0 : index_t(s_.lanes) * s_.plane[p].bytes; }
  index_t buffer_bytes(int p) const { return index_t(s_.lanes) * broadcast_packs * s_.plane[p].bytes; }

  void call(cursor* c, index_t n) {  // broadcast inputs read a repeated element
    char repeated[max_planes * 512];
    char* room = repeated;
    cursor k[max_planes];
    std::size_t used = 0;
    for (int p = 0; p < s_.planes; ++p) {
      k[p] = c[p];
      if (c[p].step != 0 || s_.plane[p].how != access::input) continue;
      used += static_cast<std::size_t>(buffer_bytes(p));
      if (used > sizeof repeated) raise<type_error>("[run] too many broadcast operands in one statement; split it [TT-T09]");
      nest_detail::repeat_element(room, c[p].ptr, s_.plane[p].bytes, s_.lanes);
      k[p].ptr = room;
      room += buffer_bytes(p);
    }
    kernel_(k, n, in_place_);
  }
  void row() { call(c_, s_.extent[s_.rank - 1]); }

  // One row through tiles: strided inputs are gathered, strided outputs gathered (they may be inputs too) and scattered.
  void tile_row() {
    const int in = s_.rank - 1;
    rows(c_, 1, s_.extent[in], 0);
  }
  void tile_rows() {
    const int in = s_.rank - 1;
    for (index_t i = 0; i < s_.extent[in - 1]; i += tile_height) {
      cursor c[max_planes];
      for (int p = 0; p < s_.planes; ++p) c[p] = {c_[p].ptr + i * s_.plane[p].stride[in - 1] * s_.plane[p].bytes, c_[p].step};
      const index_t h = s_.extent[in - 1] - i < tile_height ? s_.extent[in - 1] - i : tile_height;
      rows(c, h, s_.extent[in], in - 1);
    }
  }
  void rows(const cursor* c, index_t height, index_t width, int outer) {
    const int in = s_.rank - 1;
    std::size_t need = 0;
    for (int p = 0; p < s_.planes; ++p)
      if (through_tile(p)) need += static_cast<std::size_t>(height * tile * s_.plane[p].bytes);
    if (need > room_bytes_) {
      std::size_t bytes = need + 64;
      room_.reset(bytes);
      room_bytes_ = need;
    }
    for (index_t j = 0; j < width; j += tile) {
      const index_t w = width - j < tile ? width - j : tile;
      char* buf = room_.ptr;
      cursor k[max_planes];
      index_t down[max_planes];  // bytes from one row to the next
      for (int p = 0; p < s_.planes; ++p) {
        const nest_plane& q = s_.plane[p];
        const index_t b = q.bytes, across = q.stride[in] * b, below = height > 1 ? q.stride[outer] * b : 0;
        if (!through_tile(p)) {
          k[p] = {c[p].ptr + j * across, c[p].step};
          down[p] = below;
          continue;
        }
        const char* from = c[p].ptr + j * across;
        if (below == b) {  // transposed: walk down the contiguous direction
          for (index_t x = 0; x < w; ++x) nest_detail::copy_elements(q.bytes, buf + x * b, w * b, from + x * across, b, height);
        } else {
          for (index_t y = 0; y < height; ++y) nest_detail::copy_elements(q.bytes, buf + y * w * b, b, from + y * below, across, w);
        }
        k[p] = {buf, index_t(s_.lanes) * b};
        down[p] = w * b;
        buf += height * w * b;
      }
      for (index_t y = 0; y < height; ++y) {
        call(k, w);
        for (int p = 0; p < s_.planes; ++p) k[p].ptr += down[p];
      }
      for (int p = 0; p < s_.planes; ++p) {
        const nest_plane& q = s_.plane[p];
        if (q.how != access::output || !through_tile(p)) continue;
        const index_t b = q.bytes, across = q.stride[in] * b, below = height > 1 ? q.stride[outer] * b : 0;
        const char* from = k[p].ptr - height * w * b;
        for (index_t y = 0; y < height; ++y) nest_detail::copy_elements(q.bytes, c[p].ptr + j * across + y * below, across, from + y * w * b, b, w);
      }
    }
  }
  bool through_tile(int p) const {
    const index_t t = s_.plane[p].stride[s_.rank - 1];
    return t != 0 && t != 1;
  }
  struct scratch {
    char* ptr = nullptr;
    std::size_t bytes = 0;
    mem::memory_resource* from = nullptr;
    void reset(std::size_t n) {
      if (ptr) mem::give_bytes(ptr, bytes, from);
      bytes = n;
      ptr = static_cast<char*>(mem::take_bytes(bytes, from));
    }
    ~scratch() {
      if (ptr) mem::give_bytes(ptr, bytes, from);
    }
  };
  nest& s_;
  kernel kernel_;
  bool in_place_, reorder_;
  cursor c_[max_planes];
  scratch room_;
  std::size_t room_bytes_ = 0;
};

}  // namespace run
TTENSOR_END
