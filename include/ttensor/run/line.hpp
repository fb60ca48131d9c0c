// One axis, without a nest: what statements over one axis compile where threads are off. The same results as the drivers'.
#pragma once
#include "nest.hpp"

TTENSOR_BEGIN
namespace run {

/// Runs a kernel that writes its outputs along the one axis of n elements.
void run_line(const nest_plane* plane, int planes, int lanes, rows_kernel k, index_t n);
/// What run_line does.
nest_plan plan_line(nest& s);
/// Runs a kernel that adds to its outputs along the one axis.
void run_line_sum(nest& s, kernel k, const accumulation& a);
void run_line_sum_of_rows(const nest_plane* plane, int planes, int lanes, rows_kernel k, index_t n, const accumulation& a);
/// What run_line_sum_of_rows does.
nest_plan plan_line_sum(nest& s, rows_kernel k, const accumulation& a);

#if defined(TTENSOR_BODY)
/// Calls a kernel along one axis. Planes whose stride is not 0 or 1 pass through a buffer.
class line {
 public:
  line(const nest_plane* plane, int planes, int lanes, rows_kernel k, bool adds)
      : plane_(plane), planes_(planes), lanes_(lanes), rows_(k), adds_(adds) {}
  line(const nest_plane* plane, int planes, int lanes, kernel k)
      : plane_(plane), planes_(planes), lanes_(lanes), kernel_(k), each_(&line::repeated), adds_(true) {}

  TTENSOR_NOINLINE void walk(char* const* ptr, index_t n) const {
    alignas(16) char nowhere[16];
    cursor c[max_planes];
    index_t bytes = 0;  // of a part in the buffer
    for (int p = 0; p < planes_; ++p) {
      const nest_plane& q = plane_[p];
      const bool still = q.stride[0] == 0 && (q.how != access::output || (adds_ && n > 1));  // one element is no sum: it may be stored
      c[p] = {q.how == access::ignored ? nowhere : ptr[p], still ? 0 : index_t(lanes_) * q.bytes};
      if (far(p)) bytes += part * q.bytes;
    }
    if (bytes == 0) return adds_ ? call(c, n) : run_to_and_fro(rows_, c, planes_, lanes_, n);
    const mem::room buffer(static_cast<std::size_t>(bytes));
    for (index_t i = 0; i < n; i += part) {
      const index_t w = n - i < part ? n - i : part;
      move(c, ptr, buffer.ptr, i, w, false);
      call(c, w);
      move(c, ptr, buffer.ptr, i, w, true);
      for (int p = 0; p < planes_; ++p)
        if (!far(p)) c[p].ptr += w / lanes_ * c[p].step;
    }
  }
  static constexpr index_t part = 512;  // elements that pass through the buffer at a time, as in a walker's nest of one axis
  bool any_far() const {
    bool any = false;
    for (int p = 0; p < planes_; ++p) any = any || far(p);
    return any;
  }
  bool reduces() const { return rows_ && adds_; }
  bool far(int p) const { return plane_[p].stride[0] != 0 && plane_[p].stride[0] != 1; }

 private:
  TTENSOR_NOINLINE void call(const cursor* c, index_t n) const { rows_ ? rows_(c, n, nullptr, 1) : (this->*each_)(c, n); }
  /// Inputs into the buffer, outputs too where the kernel adds to them; after the kernel outputs back to where they belong.
  TTENSOR_NOINLINE void move(cursor* c, char* const* ptr, char* at, index_t i, index_t w, bool after) const {
    for (int p = 0; p < planes_; ++p) {
      if (!far(p)) continue;
      const nest_plane& q = plane_[p];
      const index_t b = q.bytes, t = q.stride[0] * b;
      char* there = ptr[p] + i * t;
      c[p].ptr = at;
      if (after ? q.how == access::output : q.how == access::input || adds_)
        copy_elements(q.bytes, after ? there : at, after ? t : b, after ? at : there, after ? b : t, w);
      at += part * b;
    }
  }
  TTENSOR_NOINLINE void repeated(const cursor* c, index_t n) const {
    alignas(64) char pack[max_planes][256];  // 16 lanes of 16 bytes
    cursor k[max_planes];
    for (int p = 0; p < planes_; ++p) {
      k[p] = c[p];
      if (k[p].step != 0 || plane_[p].how != access::input) continue;
      copy_elements(plane_[p].bytes, pack[p], plane_[p].bytes, k[p].ptr, 0, lanes_);
      k[p].ptr = pack[p];
    }
    kernel_(k, n, true);
  }
  const nest_plane* plane_;
  int planes_, lanes_;
  rows_kernel rows_ = nullptr;
  kernel kernel_ = nullptr;
  void (line::*each_)(const cursor*, index_t) const = nullptr;  // so that who has no such kernel does not compile its calls
  bool adds_;
};

/// Runs a kernel that adds to its outputs along one axis of n elements; long sums are the trees that sum_driver forms (sums.hpp).
class line_sum {
 public:
  line_sum(const nest_plane* plane, int planes, const line& l, const accumulation& a) : plane_(plane), planes_(planes), line_(l), sum_(a) {}
  void run(index_t n) const {
    char* ptr[max_planes];
    for (int p = 0; p < planes_; ++p) ptr[p] = plane_[p].ptr;
    const index_t leaf = longest(n);
    index_t bytes = 0;
    for (int p = 0; p < planes_; ++p) bytes += plane_[p].stride[0] == 0 ? 0 : n * plane_[p].bytes;
    // Not backward loops, whose targets may be overlapping views of one adjoint: halves add to it in this order.
    if (n != 0) cut(ptr, n, leaf, leaf < n && line_.reduces() && direction_here.turn(bytes));
  }
  /// The length of a piece, at most.
  index_t longest(index_t n) const {
    if (n <= longest_strided && n <= sum_.run) return n;
    bool summed = false;
    for (int p = 0; p < planes_; ++p) summed = summed || still(p);
    return !summed ? n : line_.any_far() ? longest_strided : sum_.run;
  }
  static index_t half(index_t n, index_t leaf) {
    index_t at = leaf;
    while (2 * at < n) at *= 2;
    return at;
  }
  static index_t pieces(index_t n, index_t leaf) {
    if (n <= leaf) return 1;
    const index_t at = half(n, leaf);
    return pieces(at, leaf) + pieces(n - at, leaf);
  }
  static constexpr index_t longest_strided = 8 * line::part;

 private:
  bool still(int p) const { return plane_[p].how == access::output && plane_[p].stride[0] == 0; }
  void cut(char* const* ptr, index_t n, index_t leaf, bool backwards) const {
    if (n <= leaf) return line_.walk(ptr, n);
    const index_t at = half(n, leaf);
    char* right[max_planes];
    alignas(16) char own[max_planes][16];
    for (int p = 0; p < planes_; ++p) right[p] = still(p) ? own[p] : ptr[p] + at * plane_[p].stride[0] * plane_[p].bytes;
    for (int p = 0; p < planes_; ++p)
      if (still(p)) sum_.open(right + p, 1, p), p += sum_.group - 1;
    if (!backwards) cut(ptr, at, leaf, backwards);
    cut(right, n - at, leaf, backwards);
    if (backwards) cut(ptr, at, leaf, backwards);
    for (int p = 0; p < planes_; ++p)
      if (still(p)) sum_.merge(ptr + p, right + p, 1, p), p += sum_.group - 1;
  }
  const nest_plane* plane_;
  int planes_;
  const line& line_;
  const accumulation& sum_;
};
TTENSOR_BODY void run_line(const nest_plane* plane, int planes, int lanes, rows_kernel k, index_t n) {
  char* ptr[max_planes];
  for (int p = 0; p < planes; ++p) ptr[p] = plane[p].ptr;
  if (n != 0) line(plane, planes, lanes, k, false).walk(ptr, n);
}
TTENSOR_BODY nest_plan plan_line(nest& s) {
  nest_plan m;
  if (s.extent[0] == 0) return m;
  m.kind = classify(s);
  m.tiles = line(s.plane, s.planes, s.lanes, rows_kernel(nullptr), false).any_far();
  m.rank = 1;
  m.extent[0] = s.extent[0];
  return m;
}
TTENSOR_BODY void run_line_sum(nest& s, kernel k, const accumulation& a) {
  line_sum(s.plane, s.planes, line(s.plane, s.planes, s.lanes, k), a).run(s.extent[0]);
}
TTENSOR_BODY void run_line_sum_of_rows(const nest_plane* plane, int planes, int lanes, rows_kernel k, index_t n, const accumulation& a) {
  line_sum(plane, planes, line(plane, planes, lanes, k, true), a).run(n);
}
TTENSOR_BODY nest_plan plan_line_sum(nest& s, rows_kernel k, const accumulation& a) {
  nest_plan m = plan_line(s);
  const index_t n = s.extent[0];
  const line l(s.plane, s.planes, s.lanes, k, true);
  if (n != 0) m.pieces = line_sum::pieces(n, line_sum(s.plane, s.planes, l, a).longest(n));
  return m;
}
#endif

}  // namespace run
TTENSOR_END
