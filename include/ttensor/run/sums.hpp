// The driver of sums. An axis along which an output stands still is cut in halves down to a length that depends on the extents and
// on nothing else; both halves have a sum of their own and the two are added. So a sum is a tree of fixed shape, its error
// grows with the logarithm of its length, and its bits do not depend on how many threads worked on it. Other axes are cut only for threads.
#pragma once
#include "statement.hpp"

TTENSOR_BEGIN
namespace run {

/// Runs a kernel that adds to its outputs.
void run_nest_sum(nest& s, kernel k, const accumulation& a);
void run_nest_sum_of_rows(nest& s, rows_kernel k, const accumulation& a);
/// What run_nest_sum_of_rows does with the nest.
nest_plan plan_nest_sum(nest& s, rows_kernel k, const accumulation& a);

/// Whether the plan of a sum over one of two axes of adjacent elements is clear without planning: few enough for one thread and not to be cut. Then that is done: one
/// call of the kernel, or short rows in tiles.
bool runs_sum_as_it_is(nest& s, rows_kernel k, const accumulation& a);
/// Puts the axes of a reduction, but for batch axes, in the order in which its inputs lie in memory, outermost first, where they agree. Only strides of the
/// values count, and only against each other: the order of the axes is the same beside tangents and in a batch of any size (which axes become one, and how many rows are added
/// at once, depends on all planes: with tangents the last bit of a value may differ).
void follow_inputs(nest& s, const plane_facts* facts);
/// An input whose elements do not lie along the innermost axis passes through tiles: the axis along which they do becomes the other axis of these.
/// Without facts every input counts.
void pair_inputs(nest& s, const plane_facts* facts);

#if defined(TTENSOR_BODY)
class sum_driver : driver {
 public:
  sum_driver(nest& s, rows_kernel k, const accumulation& a) : driver(s, walker(s, k, true)), sum_(&a) {}
  sum_driver(nest& s, kernel k, const accumulation& a) : driver(s, walker(s, k, true)), sum_(&a) {}

  void run() {
    if (is_empty()) return;
    plan(false);
    plan_sums();
    gathered_sums far;
    far.open(*this);
    piece all = whole();
    const int team = this->team();
    if (team == 1) cut(all, 1);
    else with_team(team, [&] { cut(all, team * 4); });
    far.close(*this);
  }
  /// What run() would do. Makes everything ready for it.
  nest_plan planned() {
    if (is_empty()) return {};
    plan(false);
    plan_sums();
    nest_plan m = driver::planned();
    gathered_sums far;
    far.open(*this);
    if (far.before) m.sums = 2;
    count_pieces(m, whole(), m.threads == 1 ? 1 : m.threads * 4);
    return m;
  }

 private:
  bool stands_still(int p, int d) const { return s_.plane[p].how == access::output && s_.plane[p].stride[d] == 0; }
  void plan_sums() {
    const int in = s_.rank - 1;
    index_t rows = 0;  // still to be given to the axes outside
    for (int d = in; d >= 0; --d) {
      summed_[d] = false;
      for (int p = 0; p < s_.planes; ++p) summed_[d] = summed_[d] || (s_.extent[d] > 1 && stands_still(p, d));
      leaf_[d] = s_.extent[d];
      if (d == in) {
        rows = summed_[d] ? sum_->runs : sum_->rows;
        if (strided_ && rows > walker::tile) rows = walker::tile;
      }
      if (d == in && !summed_[d] && strided_ && in > 1 && leaf_[d] > 512) leaf_[d] = 512;  // stays in a cache for the axes outside of the tiles
      if (!summed_[d]) continue;
      const index_t most = d < in ? rows : strided_ ? 8 * across_ : sum_->run;
      if (leaf_[d] > most) leaf_[d] = most;
      if (d < in) rows = rows / s_.extent[d] > 1 ? rows / s_.extent[d] : 1;
    }
  }

  // ---- pieces --------------------------------------------------------------------------------------------------------------
  /// The axis to cut and where; -1: walk the piece. `tasks`: pieces wanted for threads.
  int next_cut(const piece& b, int tasks, index_t& at) const {
    for (int d = 0; d < s_.rank && tasks > 1; ++d)
      if (!summed_[d] && (at = half(b, d)) != 0) return d;
    for (int d = 0; d < s_.rank; ++d) {
      if (b.extent[d] <= leaf_[d]) continue;
      at = leaf_[d];
      while (2 * at < b.extent[d]) at *= 2;
      return d;
    }
    return -1;
  }
  /// What cut(b, tasks) cuts.
  void count_pieces(nest_plan& m, piece b, int tasks) const {
    tasks = worth(b, tasks);
    index_t at = 0;
    const int d = next_cut(b, tasks, at);
    if (d < 0) return;
    const piece right = split(b, d, at);
    ++m.pieces;
    m.sums += summed_[d];
    if (tasks > 1) tasks /= 2;
    count_pieces(m, b, tasks);
    count_pieces(m, right, tasks);
  }
  void cut(piece& b, int tasks) const {
    tasks = worth(b, tasks);
    index_t at = 0;
    const int d = next_cut(b, tasks, at);
    if (d < 0) return walk(b);
    piece right = split(b, d, at);
    own_sums other;
    if (summed_[d]) other.open(*this, right, d);
    if (tasks > 1) fork([&] { cut(b, tasks / 2); }, [&] { cut(right, tasks / 2); });
    else cut(b, tasks), cut(right, tasks);
    if (summed_[d]) other.merge(*this, b.ptr, right.ptr);
  }

  // ---- sums of a piece of its own ------------------------------------------------------------------------------------------
  /// For every run of elements of the group of planes from p on: opens those at a, or adds those at b to them. sa, sb: strides, in elements.
  TTENSOR_NOINLINE void each_run(int p, const index_t* extent, const index_t* sa, char* const* a, const index_t* sb, char* const* b) const {
    const int in = s_.rank - 1, group = sum_->group;
    const bool whole = sa[in] == 1 && sb[in] == 1;
    char *to[max_planes], *from[max_planes];
    for (int k = 0; k < group; ++k) to[k] = a[p + k], from[k] = b ? b[p + k] : to[k];
    index_t i[max_rank]{};
    for (;;) {
      const index_t n = whole ? extent[in] : 1;
      b ? sum_->merge(to, from, n, p) : sum_->open(to, n, p);
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
  /// Sets ptr[p] to fresh sums for every plane that is wanted; planes of a group are wanted together.
  TTENSOR_NOINLINE void open_sums(mem::room& r, const index_t* extent, char** ptr, const bool* wanted) const {
    index_t bytes[max_planes], need = 0;
    for (int p = 0; p < s_.planes; ++p) {
      bytes[p] = wanted[p] ? (reach(p, extent) * s_.plane[p].bytes + 63) / 64 * 64 : 0;
      need += bytes[p];
    }
    r.take(static_cast<std::size_t>(need));
    char* next = r.ptr;
    for (int p = 0; p < s_.planes; ++p)
      if (wanted[p]) ptr[p] = next, next += bytes[p];
    for (int p = 0; p < s_.planes; ++p)
      if (wanted[p]) {
        const index_t* t = s_.plane[p].stride;
        each_run(p, extent, t, ptr, t, nullptr);
        p += sum_->group - 1;
      }
  }
  /// Sums of one half of a cut.
  struct own_sums {
    mem::room memory;
    index_t extent[max_rank];
    int axis;
    void open(const sum_driver& d, piece& b, int along) {
      axis = along;
      for (int e = 0; e < d.s_.rank; ++e) extent[e] = b.extent[e];
      bool wanted[max_planes];
      for (int p = 0; p < d.s_.planes; ++p) wanted[p] = d.stands_still(p, axis);
      d.open_sums(memory, extent, b.ptr, wanted);
    }
    void merge(const sum_driver& d, char* const* into, char* const* from) const {
      for (int p = 0; p < d.s_.planes; ++p)
        if (d.stands_still(p, axis)) {
          const index_t* t = d.s_.plane[p].stride;
          d.each_run(p, extent, t, into, t, from);
          p += d.sum_->group - 1;
        }
    }
  };
  /// Sums whose elements lie far apart, or backwards, are formed in memory of their own, because every cut copies their layout.
  struct gathered_sums {
    mem::room memory, kept;
    nest_plane* before = nullptr;
    bool is_gathered[max_planes]{};
    void open(sum_driver& d) {
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
        is_gathered[p] = sums && differs;
        any = any || is_gathered[p];
      }
      if (!any) return;
      kept.take(sizeof(nest_plane) * static_cast<std::size_t>(s.planes));
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
      d.open_sums(memory, s.extent, ptr, is_gathered);
      for (int p = 0; p < s.planes; ++p)
        if (is_gathered[p]) s.plane[p].ptr = ptr[p];
    }
    void close(sum_driver& d) {
      for (int p = 0; before && p < d.s_.planes; ++p) {
        if (!is_gathered[p]) continue;
        char *to[max_planes], *from[max_planes];
        for (int k = 0; k < d.sum_->group; ++k) to[p + k] = before[p + k].ptr, from[p + k] = d.s_.plane[p + k].ptr;
        d.each_run(p, d.s_.extent, before[p].stride, to, d.s_.plane[p].stride, from);
        p += d.sum_->group - 1;
      }
    }
  };

  const accumulation* sum_;
  bool summed_[max_rank];
  index_t leaf_[max_rank];
};

TTENSOR_BODY void follow_inputs(nest& s, const plane_facts* facts) {
  auto inside = [&](int d) {  // whether axis d - 1 lies inside axis d
    bool yes = false, no = false;
    for (int p = 0; p < s.planes && d == s.rank - 1 && s.extent[d - 1] < 8 && s.extent[d - 1] < s.extent[d]; ++p)
      if (s.plane[p].how == access::output && s.plane[p].stride[d - 1] != 0) return false;  // short rows of a result whose elements lie apart
    for (int p = 0; p < s.planes; ++p) {
      const index_t a = std::abs(s.plane[p].stride[d - 1]), b = std::abs(s.plane[p].stride[d]);
      if (s.plane[p].how != access::input || !facts[p].leads || a == 0 || b == 0) continue;
      yes = yes || a < b;
      no = no || a > b;
    }
    return yes && !no;
  };
  for (int i = s.batch + 1; i < s.rank; ++i)
    for (int d = i; d > s.batch && inside(d); --d) s.exchange(d - 1, d);
  pair_inputs(s, facts);
}
TTENSOR_BODY void pair_inputs(nest& s, const plane_facts* facts) {
  int inner[2] = {-1, -1};  // the two innermost axes
  for (int d = s.rank - 1; d >= s.batch && inner[1] < 0; --d)
    if (s.extent[d] != 1) inner[inner[0] >= 0] = d;
  for (int p = 0; p < s.planes && inner[1] >= 0; ++p) {
    if (s.plane[p].how != access::input || (facts && !facts[p].leads)) continue;
    const index_t* const t = s.plane[p].stride;
    int least = inner[0];
    for (int d = inner[0]; d >= s.batch; --d)
      if (t[d] != 0 && (t[least] == 0 || std::abs(t[d]) < std::abs(t[least]))) least = d;
    if (least == inner[0] || least == inner[1] || t[inner[0]] == 0) continue;
    for (int q = 0; q < s.planes; ++q)  // many rows into one of a result are not worth as many results of short rows
      if (s.plane[q].how == access::output && s.plane[q].stride[inner[1]] == 0 && s.plane[q].stride[least] != 0 && s.extent[inner[0]] < 8) return;
    return s.exchange(least, inner[1]);
  }
}
TTENSOR_BODY bool runs_sum_as_it_is(nest& s, rows_kernel k, const accumulation& a) {
  const index_t n = s.extent[1], rows = s.extent[0];
  if (rows < 2 || n < 2 || n > a.run || rows > a.rows || s.overlapping || threads_for(n * rows * s.cost) > 1) return false;
  const bool columns = s.plane[0].stride[0] == 0;  // an output: those of a sum come first, and go one way
  bool tiles = true;                               // may short rows pass through tiles
  cursor c[max_planes];
  index_t down[max_planes];
  char* ptr[max_planes];
  for (int p = 0; p < s.planes; ++p) {
    const nest_plane& q = s.plane[p];
    const bool out = q.how == access::output, along = q.stride[1] == 0;
    if (q.how == access::ignored || (!along && q.stride[1] != 1) || (out && (columns ? q.stride[0] != 0 || along : !along || q.stride[0] == 0))) return false;
    tiles = tiles && (out ? columns || q.stride[0] == 1 : !along || q.stride[0] == 0);
    c[p] = {ptr[p] = q.ptr, along ? 0 : index_t(s.lanes) * q.bytes};
    down[p] = q.stride[0] * q.bytes;
  }
  if (!turn_short_sums(s)) return k(c, n, down, rows), true;
  if (tiles) walker(s, k, true).run(s.extent, ptr, true, walker::tile * 4);
  else s.exchange(0, 1);
  return tiles;
}
TTENSOR_BODY void run_nest_sum(nest& s, kernel k, const accumulation& a) {
  cursor c[max_planes];
  if (const index_t n = one_row(s, c, false)) return k(c, n, true);
  pair_inputs(s, nullptr);
  sum_driver(s, k, a).run();
}
TTENSOR_BODY void run_nest_sum_of_rows(nest& s, rows_kernel k, const accumulation& a) { sum_driver(s, k, a).run(); }
TTENSOR_BODY nest_plan plan_nest_sum(nest& s, rows_kernel k, const accumulation& a) { return sum_driver(s, k, a).planned(); }
#endif

/// A reduction made ready to run: through the planner, into the outputs that were set; after align().
template <int F> TTENSOR_NOINLINE void sum_planned(statement_planes<F>& st, const accumulation& a, int batch) {
  if constexpr (F == 1 && !has_threads) {
    run_line_sum_of_rows(st.plane, st.type.planes, st.type.lanes, st.type.kernel, st.extent[0], a);
  } else {
    nest s = st.loops();
    s.batch = batch;
    if constexpr (F == 2)
      if (runs_sum_as_it_is(s, st.type.kernel, a)) return;
    follow_inputs(s, st.type.facts);
    run_nest_sum_of_rows(s, st.type.kernel, a);
  }
}
/// What sum_planned does.
template <int F> nest_plan plan_sum(statement_planes<F>& st, const accumulation& a) {
  nest s = st.loops();
  follow_inputs(s, st.type.facts);
  if constexpr (F == 1 && !has_threads) return plan_line_sum(s, st.type.kernel, a);
  else return plan_nest_sum(s, st.type.kernel, a);
}
/// Whether it is of all elements of planes that are all whole, to one element, and not too long for one call of the kernel.
template <int F> bool is_one_call(const statement_planes<F>& st, const accumulation& a) {
  for (int d = 0; d < F; ++d)
    if (st.plane[0].stride[d] != 0) return false;
  return shape::size(st.extent) <= a.run && st.flat();
}
template <int F> TTENSOR_NOINLINE void sum_flat(statement_planes<F>& st) {
  const index_t n = shape::size(st.extent);
  cursor c[max_planes];
  for (int k = 0; k < st.type.planes; ++k) {
    const bool still = st.type.facts[k].uniform || k < st.type.outs;
    c[k] = {st.plane[k].ptr, still ? 0 : index_t(st.type.lanes) * st.type.facts[k].bytes};
  }
  st.type.kernel(c, n, nullptr, 1);
}

}  // namespace run
TTENSOR_END
