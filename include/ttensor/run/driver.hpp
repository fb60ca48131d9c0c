// The driver of a nest: makes it ready, cuts it into pieces for threads, and walks every piece. Sums add pieces of another kind (sums.hpp).
#pragma once
#include "nest.hpp"
#include "threads.hpp"

TTENSOR_BEGIN
namespace run {

/// Runs a kernel that writes its outputs.
void run_map(nest& s, rows_kernel k);
/// What run_map does with the nest.
nest_plan plan_map(nest& s, rows_kernel k);

#if defined(TTENSOR_BODY)
class driver {
 protected:
  struct piece {
    index_t extent[max_rank];
    char* ptr[max_planes];
    index_t size(int rank) const {
      index_t n = 1;
      for (int d = 0; d < rank; ++d) n *= extent[d];
      return n;
    }
  };
  driver(nest& s, const walker& w) : s_(s), walker_(w) {}
  // ---- the plan: what a run needs to know once -----------------------------------------------------------------------------
  void plan(bool reorder) {
    collapse(s_, reorder);
    const bool turned = walker_.turn(s_);
    if (s_.rank == 0) {
      s_.rank = 1;
      s_.extent[0] = 1;
      for (int p = 0; p < s_.planes; ++p) s_.plane[p].stride[0] = s_.plane[p].how == access::output ? 1 : 0;
    }
    const int in = s_.rank - 1;
    for (int p = 0; p < s_.planes; ++p) strided_ = strided_ || (s_.plane[p].stride[in] != 0 && s_.plane[p].stride[in] != 1);
    if (strided_ && reorder && in > 0) pair_axes();
    if (strided_) gather_repeated();
    across_ = in == 0 || s_.extent[in - 1] == 1 ? walker::tile * 8 : turned ? walker::tile * 4 : walker_.across();
  }
  // The axis along which a strided plane is contiguous becomes the other axis of the tiles.
  void pair_axes() {
    const int in = s_.rank - 1;
    for (int p = 0; p < s_.planes; ++p) {
      if (s_.plane[p].stride[in] == 0 || s_.plane[p].stride[in] == 1) continue;
      for (int d = in - 1; d >= 0; --d) {
        if (s_.plane[p].stride[d] != 1) continue;
        return s_.exchange(d, in - 1);
      }
    }
  }
  // A strided input that is read again and again, because it stands still along other axes, is gathered once and not with every tile.
  TTENSOR_NOINLINE void gather_repeated() {
    constexpr index_t least = 4, most = index_t(1) << 17;  // times that it is read; bytes
    index_t bytes[max_planes], need = 0;
    for (int p = 0; p < s_.planes; ++p) {
      const nest_plane& q = s_.plane[p];
      index_t times = 1, n = q.bytes;
      for (int d = 0; d < s_.rank; ++d) (q.stride[d] == 0 ? times : n) *= s_.extent[d];
      bytes[p] = q.how == access::input && walker_.through_tile(p) && times >= least && n <= most && !is_written(p) ? n : 0;
      need += (bytes[p] + 63) / 64 * 64;
      planes_gathered_ += bytes[p] != 0;
    }
    if (need == 0) return;
    gathered_.take(static_cast<std::size_t>(need));
    char* to = gathered_.ptr;
    for (int p = 0; p < s_.planes; ++p) {
      if (bytes[p] == 0) continue;
      nest_plane& q = s_.plane[p];
      index_t own[max_rank], next = 1;
      for (int d = 0; d < s_.rank; ++d) own[d] = q.stride[d] == 0 ? 1 : s_.extent[d];
      nest_detail::copy_array(q.bytes, to, q.ptr, own, q.stride, s_.rank);
      q.ptr = to;
      for (int d = s_.rank - 1; d >= 0; next *= own[d--])
        if (q.stride[d] != 0) q.stride[d] = next;
      to += (bytes[p] + 63) / 64 * 64;
    }
  }
  /// Whether an output may share elements with plane p.
  bool is_written(int p) const {
    const char *first[2], *last[2];
    auto reach = [&](int i, const nest_plane& q) {
      first[i] = q.ptr, last[i] = q.ptr + q.bytes;
      for (int d = 0; d < s_.rank; ++d) (q.stride[d] < 0 ? first : last)[i] += (s_.extent[d] - 1) * q.stride[d] * q.bytes;
    };
    reach(0, s_.plane[p]);
    for (int q = 0; q < s_.planes; ++q) {
      if (s_.plane[q].how != access::output) continue;
      reach(1, s_.plane[q]);
      if (first[0] < last[1] && first[1] < last[0]) return true;
    }
    return false;
  }
  bool is_empty() const { return s_.size() == 0; }
  int team() const {
    const int n = threads_for(s_.size() * s_.cost);
    return n == 1 || separable() ? n : 1;
  }
  /// What a run will do, after plan().
  nest_plan planned() const {
    nest_plan m;
    m.kind = classify(s_);
    m.threads = team();
    m.gathered = planes_gathered_;
    m.tiles = strided_ && walker_.tile_bytes(1, 1) != 0;
    m.rank = s_.rank;
    for (int d = 0; d < s_.rank; ++d) m.extent[d] = s_.extent[d];
    return m;
  }
  bool separable() const {
    bool yes = !s_.overlapping;
    for (int p = 0; p < s_.planes && yes; ++p)
      if (s_.plane[p].how == access::output) yes = injective(s_.plane[p]);
    return yes;
  }
  /// Different indices are different elements, but for the axes along which the plane stands still.
  bool injective(const nest_plane& p) const {
    for (int d = 0; d < s_.rank; ++d) {
      const index_t own = p.stride[d] < 0 ? -p.stride[d] : p.stride[d];
      if (own == 0 || s_.extent[d] == 1) continue;
      index_t inside = 0;  // how far the axes with smaller strides reach
      for (int e = 0; e < s_.rank; ++e) {
        const index_t t = p.stride[e] < 0 ? -p.stride[e] : p.stride[e];
        if (e != d && (t < own || (t == own && e > d))) inside += t * (s_.extent[e] - 1);
      }
      if (inside >= own) return false;
    }
    return true;
  }

  // ---- pieces --------------------------------------------------------------------------------------------------------------
  piece whole() const {
    piece all;
    for (int d = 0; d < s_.rank; ++d) all.extent[d] = s_.extent[d];
    for (int p = 0; p < s_.planes; ++p) all.ptr[p] = s_.plane[p].ptr;
    return all;
  }
  /// Leaves the first `at` indices of axis d in b; gives the others.
  piece split(piece& b, int d, index_t at) const {
    piece right;
    for (int e = 0; e < s_.rank; ++e) right.extent[e] = b.extent[e];
    for (int p = 0; p < s_.planes; ++p) right.ptr[p] = b.ptr[p] + at * s_.plane[p].stride[d] * s_.plane[p].bytes;
    right.extent[d] -= at;
    b.extent[d] = at;
    return right;
  }
  /// Where threads may cut axis d; 0: it is too short.
  index_t half(const piece& b, int d) const {
    const index_t unit = d == s_.rank - 1 ? walker::tile : 1;  // whole packs and whole cache lines
    return b.extent[d] < 2 * unit ? 0 : b.extent[d] / 2 / unit * unit;
  }
  /// Pieces wanted of one that is to be cut into `tasks`.
  int worth(const piece& b, int tasks) const { return tasks > 1 && b.size(s_.rank) * s_.cost < 2 * least_work ? 1 : tasks; }
  void walk(const piece& b) const { walker(walker_).run(b.extent, b.ptr, strided_, across_); }

  nest& s_;
  walker walker_;
  mem::room gathered_;
  int planes_gathered_ = 0;
  bool strided_ = false;
  index_t across_ = walker::tile;
};

/// A nest in rows for one kernel, which writes its outputs.
class map_driver : driver {
 public:
  map_driver(nest& s, rows_kernel k) : driver(s, walker(s, k, false)) {}

  void run() {
    if (is_empty()) return;
    plan(true);
    piece all = whole();
    const int team = this->team();
    if (team == 1) walk(all);
    else with_team(team, [&] { cut(all, team * 4); });
  }
  /// What run() would do. Makes everything ready for it.
  nest_plan planned() {
    if (is_empty()) return {};
    plan(true);
    return driver::planned();
  }

 private:
  void cut(piece& b, int tasks) const {
    tasks = worth(b, tasks);
    for (int d = 0; d < s_.rank && tasks > 1; ++d)
      if (const index_t at = half(b, d)) {
        piece right = split(b, d, at);
        return fork([&] { cut(b, tasks / 2); }, [&] { cut(right, tasks / 2); });
      }
    walk(b);
  }
};
/// The elements of all axes as one row, for one thread: how many there are, and where their planes begin. Outputs are adjacent, inputs too or, where they
/// may, stand still; 0: a plane does something else, or there is more than one thread's work.
TTENSOR_NOINLINE inline index_t one_row(const nest& s, cursor* c, bool inputs_may_stand_still) {
  for (int p = 0; p < s.planes; ++p) {
    const nest_plane& q = s.plane[p];
    index_t next = 1;
    bool still = true, adjacent = true;
    for (int d = s.rank - 1; d >= 0; --d) {
      if (s.extent[d] == 1) continue;
      still = still && q.stride[d] == 0;
      adjacent = adjacent && q.stride[d] == next;
      next *= s.extent[d];
    }
    const bool may_stand = q.how == access::uniform || (q.how == access::input && inputs_may_stand_still);
    if (next < 2 || q.how == access::ignored || !(adjacent || (still && may_stand))) return 0;
    c[p] = {q.ptr, adjacent ? index_t(s.lanes) * q.bytes : 0};
  }
  const index_t n = s.size();
  return s.overlapping || threads_for(n * s.cost) > 1 ? 0 : n;
}
/// Whether the plan of two axes of adjacent elements is to take them as they are, on one thread; then that is done: one call of the kernel.
TTENSOR_NOINLINE inline bool runs_as_it_is(const nest& s, rows_kernel k) {
  const index_t n = s.extent[1], rows = s.extent[0];
  if (rows < 2 || longer_axis(s.extent, 1, s.lanes, walker::enough(s)) >= 0 || threads_for(n * rows * s.cost) > 1) return false;
  cursor c[max_planes];
  index_t down[max_planes];
  for (int p = 0; p < s.planes; ++p) {
    const nest_plane& q = s.plane[p];
    if ((q.stride[1] != 1 && (q.stride[1] != 0 || q.how == access::output)) || q.how == access::ignored) return false;
    c[p] = {q.ptr, q.stride[1] == 0 ? 0 : index_t(s.lanes) * q.bytes};
    down[p] = q.stride[0] * q.bytes;
  }
  k(c, n, down, rows);
  return true;
}
TTENSOR_BODY void run_map(nest& s, rows_kernel k) {
  cursor c[max_planes];
  if (const index_t n = one_row(s, c, true)) return run_to_and_fro(k, c, s.planes, s.lanes, n);
  if (s.rank == 2 && !s.overlapping && runs_as_it_is(s, k)) return;
  map_driver(s, k).run();
}
TTENSOR_BODY nest_plan plan_map(nest& s, rows_kernel k) { return map_driver(s, k).planned(); }
#endif

}  // namespace run
TTENSOR_END
