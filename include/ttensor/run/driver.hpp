// The driver of a nest: plans it, cuts it into pieces, and walks every piece.
//
// A piece is cut off for two reasons. *Threads*: an axis along which every output moves is cut into as many pieces as there are
// threads. *Sums*: an axis along which an output stands still is cut in halves down to a length that depends on the extents and
// on nothing else; both halves have a sum of their own and the two are added. So a sum is a tree of fixed shape, its error
// grows with the logarithm of its length, and its bits do not depend on how many threads worked on it.
#pragma once
#include "nest.hpp"
#include "threads.hpp"

TTENSOR_BEGIN
namespace run {

class driver {
 public:
  /// A kernel that writes its outputs. `reorder`: the order of the axes is free.
  driver(nest& s, rows_kernel k, bool reorder = true) : s_(s), rows_kernel_(k), reorder_(reorder) {}
  /// A kernel that adds to its outputs.
  driver(nest& s, rows_kernel k, const accumulation& a) : s_(s), rows_kernel_(k), sum_(&a) {}
  driver(nest& s, kernel k, const accumulation& a) : s_(s), kernel_(k), sum_(&a) {}

  void run() {
    for (int d = 0; d < s_.rank; ++d)
      if (s_.extent[d] == 0) return;
    plan();
    gathered_sums far;
    if (sum_) far.open(*this);
    piece all;
    for (int d = 0; d < s_.rank; ++d) all.extent[d] = s_.extent[d];
    for (int p = 0; p < s_.planes; ++p) all.ptr[p] = s_.plane[p].ptr;
    const int team = threads_for(s_.size() * s_.cost);
    if (team == 1 || !separable()) cut(all, 1);
    else with_team(team, [&] { cut(all, team * 4); });
    far.close(*this);
  }

 private:
  struct piece {
    index_t extent[max_rank];
    char* ptr[max_planes];
    index_t size(int rank) const {
      index_t n = 1;
      for (int d = 0; d < rank; ++d) n *= extent[d];
      return n;
    }
  };

  // ---- the plan: what a run needs to know once -----------------------------------------------------------------------------
  void plan() {
    collapse(s_, reorder_);
    if (s_.rank == 0) {
      s_.rank = 1;
      s_.extent[0] = 1;
      for (int p = 0; p < s_.planes; ++p) s_.plane[p].stride[0] = s_.plane[p].how == access::output ? 1 : 0;
    }
    const int in = s_.rank - 1;
    for (int p = 0; p < s_.planes; ++p) strided_ = strided_ || (s_.plane[p].stride[in] != 0 && s_.plane[p].stride[in] != 1);
    if (strided_ && reorder_ && in > 0) pair_axes();
    across_ = in == 0 || s_.extent[in - 1] == 1 ? walker::tile * 8 : walker::tile;
    plan_sums();
  }
  // The axis along which a strided plane is contiguous becomes the other axis of the tiles.
  void pair_axes() {
    const int in = s_.rank - 1;
    for (int p = 0; p < s_.planes; ++p) {
      if (s_.plane[p].stride[in] == 0 || s_.plane[p].stride[in] == 1) continue;
      for (int d = in - 1; d >= 0; --d) {
        if (s_.plane[p].stride[d] != 1) continue;
        std::swap(s_.extent[d], s_.extent[in - 1]);
        for (int q = 0; q < s_.planes; ++q) std::swap(s_.plane[q].stride[d], s_.plane[q].stride[in - 1]);
        return;
      }
    }
  }
  bool stands_still(int p, int d) const { return s_.plane[p].how == access::output && s_.plane[p].stride[d] == 0; }
  void plan_sums() {
    const int in = s_.rank - 1;
    index_t rows = 0;  // still to be given to the axes outside
    for (int d = in; d >= 0; --d) {
      summed_[d] = false;
      for (int p = 0; p < s_.planes && sum_; ++p) summed_[d] = summed_[d] || (s_.extent[d] > 1 && stands_still(p, d));
      leaf_[d] = s_.extent[d];
      if (d == in && sum_) {
        rows = summed_[d] ? sum_->runs : sum_->rows;
        if (strided_ && rows > walker::tile) rows = walker::tile;
      }
      if (!summed_[d]) continue;
      const index_t most = d < in ? rows : strided_ ? 8 * across_ : sum_->run;
      if (leaf_[d] > most) leaf_[d] = most;
      if (d < in) rows = rows / s_.extent[d] > 1 ? rows / s_.extent[d] : 1;
    }
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
  /// The axis to cut and where; -1: walk the piece. `tasks`: pieces wanted for threads.
  int next_cut(const piece& b, int tasks, index_t& at) const {
    const int in = s_.rank - 1;
    if (tasks > 1)
      for (int d = 0; d < s_.rank; ++d) {
        const index_t unit = d == in ? walker::tile : 1;  // whole packs and whole cache lines
        if (summed_[d] || b.extent[d] < 2 * unit) continue;
        at = b.extent[d] / 2 / unit * unit;
        return d;
      }
    for (int d = 0; d < s_.rank; ++d) {
      if (b.extent[d] <= leaf_[d]) continue;
      at = leaf_[d];
      while (2 * at < b.extent[d]) at *= 2;
      return d;
    }
    return -1;
  }
  void cut(piece& b, int tasks) {
    if (tasks > 1 && b.size(s_.rank) * s_.cost < 2 * least_work) tasks = 1;
    index_t at = 0;
    const int d = next_cut(b, tasks, at);
    if (d < 0) return walk(b);
    piece right;
    for (int e = 0; e < s_.rank; ++e) right.extent[e] = b.extent[e];
    for (int p = 0; p < s_.planes; ++p) right.ptr[p] = b.ptr[p] + at * s_.plane[p].stride[d] * s_.plane[p].bytes;
    right.extent[d] -= at;
    b.extent[d] = at;
    own_sums other;
    if (summed_[d]) other.open(*this, right, d);
    if (tasks > 1) fork([&] { cut(b, tasks / 2); }, [&] { cut(right, tasks / 2); });
    else cut(b, tasks), cut(right, tasks);
    if (summed_[d]) other.merge(*this, b.ptr, right.ptr);
  }
  TTENSOR_NOINLINE void walk(const piece& b) {
    if (rows_kernel_) walker(s_, rows_kernel_, sum_ != nullptr).run(b.extent, b.ptr, strided_, across_);
    else walker(s_, kernel_, sum_ != nullptr).run(b.extent, b.ptr, strided_, across_);
  }

  // ---- sums of a piece of its own ------------------------------------------------------------------------------------------
  /// f(addresses of a group in a, addresses of it in b, elements) for every run of its elements. sa, sb: strides, in elements.
  template <class F>
  void each_run(int p, const index_t* extent, const index_t* sa, char* const* a, const index_t* sb, char* const* b, F&& f) const {
    const int in = s_.rank - 1, group = sum_->group;
    const bool whole = sa[in] == 1 && sb[in] == 1;
    char *to[max_planes], *from[max_planes];
    for (int k = 0; k < group; ++k) to[k] = a[p + k], from[k] = b[p + k];
    index_t i[max_rank]{};
    for (;;) {
      f(to, from, whole ? extent[in] : 1);
      int d = whole ? in - 1 : in;
      for (; d >= 0; --d) {
        if (sa[d] == 0) continue;
        auto move = [&](index_t steps) {
          for (int k = 0; k < group; ++k) to[k] += steps * sa[d] * s_.plane[p].bytes, from[k] += steps * sb[d] * s_.plane[p].bytes;
        };
        move(1);
        if (++i[d] < extent[d]) break;
        move(-extent[d]);
        i[d] = 0;
      }
      if (d < 0) return;
    }
  }
  /// Elements from the first to the last of a plane with strides of at least 0.
  index_t reach(int p, const index_t* extent) const {
    index_t n = 1;
    for (int d = 0; d < s_.rank; ++d) n += (extent[d] - 1) * s_.plane[p].stride[d];
    return n;
  }
  struct room {
    std::size_t bytes = 0;
    mem::memory_resource* from = nullptr;
    char* ptr = nullptr;
    room() = default;
    room(const room&) = delete;
    ~room() {
      if (ptr) mem::give_bytes(ptr, bytes, from);
    }
    void take(index_t n) {
      bytes = static_cast<std::size_t>(n);
      ptr = static_cast<char*>(mem::take_bytes(bytes, from));
    }
  };
  /// Sets ptr[p] to fresh sums for every group that `wanted` names.
  template <class W> void open_sums(room& r, const index_t* extent, char** ptr, W&& wanted) const {
    auto bytes_of = [&](int p) { return (reach(p, extent) * s_.plane[p].bytes + 63) / 64 * 64; };
    index_t need = 0;
    for (int p = 0; p < s_.planes; ++p)
      if (wanted(p)) need += bytes_of(p);
    r.take(need);
    char* next = r.ptr;
    for (int p = 0; p < s_.planes; ++p)
      if (wanted(p)) ptr[p] = next, next += bytes_of(p);
    for (int p = 0; p < s_.planes; ++p)
      if (wanted(p)) {
        const index_t* t = s_.plane[p].stride;
        each_run(p, extent, t, ptr, t, ptr, [&](char* const* to, char* const*, index_t n) { sum_->open(to, n, p); });
        p += sum_->group - 1;
      }
  }
  /// Sums of one half of a cut.
  struct own_sums {
    room memory;
    index_t extent[max_rank];
    int axis;
    void open(const driver& d, piece& b, int along) {
      axis = along;
      for (int e = 0; e < d.s_.rank; ++e) extent[e] = b.extent[e];
      d.open_sums(memory, extent, b.ptr, [&](int p) { return d.stands_still(p, axis); });
    }
    void merge(const driver& d, char* const* into, char* const* from) const {
      for (int p = 0; p < d.s_.planes; ++p)
        if (d.stands_still(p, axis)) {
          const index_t* t = d.s_.plane[p].stride;
          d.each_run(p, extent, t, into, t, from, [&](char* const* to, char* const* more, index_t n) { d.sum_->merge(to, more, n, p); });
          p += d.sum_->group - 1;
        }
    }
  };
  /// Sums whose elements lie far apart, or backwards, are formed in memory of their own, because every cut copies their layout.
  struct gathered_sums {
    room memory, kept;
    nest_plane* before = nullptr;
    bool is_gathered[max_planes]{};
    void open(driver& d) {
      nest& s = d.s_;
      bool any = false;
      for (int p = 0; p < s.planes; ++p) {
        bool sums = false, differs = false;
        index_t next = 1;
        for (int e = s.rank - 1; e >= 0; --e) {
          const index_t t = s.plane[p].stride[e];
          sums = sums || (d.summed_[e] && d.stands_still(p, e) && s.extent[e] > d.leaf_[e]);
          if (t == 0 || s.extent[e] == 1) continue;
          differs = differs || t != next;
          next *= s.extent[e];
        }
        any = any || (is_gathered[p] = sums && differs);
      }
      if (!any) return;
      kept.take(static_cast<index_t>(sizeof(nest_plane)) * s.planes);
      before = reinterpret_cast<nest_plane*>(kept.ptr);
      for (int p = 0; p < s.planes; ++p) {
        new (before + p) nest_plane(s.plane[p]);
        index_t next = 1;
        for (int e = s.rank - 1; e >= 0 && is_gathered[p]; --e)
          if (s.plane[p].stride[e] != 0 && s.extent[e] != 1) {
            s.plane[p].stride[e] = next;
            next *= s.extent[e];
          }
      }
      char* ptr[max_planes];
      d.open_sums(memory, s.extent, ptr, [&](int p) { return is_gathered[p]; });
      for (int p = 0; p < s.planes; ++p)
        if (is_gathered[p]) s.plane[p].ptr = ptr[p];
    }
    void close(driver& d) {
      for (int p = 0; before && p < d.s_.planes; ++p) {
        if (!is_gathered[p]) continue;
        char *to[max_planes], *from[max_planes];
        for (int k = 0; k < d.sum_->group; ++k) to[p + k] = before[p + k].ptr, from[p + k] = d.s_.plane[p + k].ptr;
        d.each_run(p, d.s_.extent, before[p].stride, to, d.s_.plane[p].stride, from,
                   [&](char* const* into, char* const* more, index_t n) { d.sum_->merge(into, more, n, p); });
        p += d.sum_->group - 1;
      }
    }
  };

  nest& s_;
  rows_kernel rows_kernel_ = nullptr;
  kernel kernel_ = nullptr;
  const accumulation* sum_ = nullptr;
  bool reorder_ = false, strided_ = false;
  index_t across_ = walker::tile;
  bool summed_[max_rank];
  index_t leaf_[max_rank];
};

/// Runs a kernel that writes its outputs over n contiguous elements.
inline void launch_flat(rows_kernel k, const cursor* c, int planes, int lanes, index_t n, int cost) {
  const int team = threads_for(n * cost);
  if (TTENSOR_LIKELY(team == 1)) return k(c, n, nullptr, 1);
  struct cutter {
    rows_kernel k;
    const cursor* c;
    int planes, lanes;
    void run(index_t first, index_t last, int tasks) const {
      if (tasks > 1) {
        const index_t half = (first + last) / 2 / walker::tile * walker::tile;
        return fork([&] { run(first, half, tasks / 2); }, [&] { run(half, last, tasks - tasks / 2); });
      }
      cursor own[max_planes];
      for (int p = 0; p < planes; ++p) own[p] = {c[p].ptr + first / lanes * c[p].step, c[p].step};
      k(own, last - first, nullptr, 1);
    }
  };
  with_team(team, [&] { cutter{k, c, planes, lanes}.run(0, n, team); });
}

}  // namespace run
TTENSOR_END
