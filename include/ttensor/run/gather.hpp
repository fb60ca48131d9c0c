// Reading and adding elements at positions that an index array gives, along one axis. All arrays of a call are walked together.
#pragma once
#include "../ops/arithmetic.hpp"
#include "../shape/slice.hpp"

TTENSOR_BEGIN
namespace run {

/// A walk over the positions of the index: `flat` is the array that has the index's extents, `deep` the one it points into.
struct gather_plan {
  static constexpr int max_axes = 12;
  int rank = 0, axis = 0;                   // axis: of the walk, along which the index points
  index_t bound = 0, step = 0;              // extent and stride of `deep` on that axis
  index_t extent[max_axes], index[max_axes], flat[max_axes], deep[max_axes];  // strides; deep[axis] is 0
  const char* op = "";
  int user_axis = 0;  // for messages
};

/// Calls f(flat offset, deep offset) for every position, or once a run of `count` positions whose flat and deep strides are
/// given, where the innermost axis has one index. Negative indices count from the end.
template <class F> void each_gathered(const gather_plan& s, const std::int64_t* index, F&& f) {
  index_t at[gather_plan::max_axes] = {}, i = 0, x = 0, y = 0;
  const int last = s.rank - 1;
  for (int d = 0; d < s.rank; ++d)
    if (s.extent[d] == 0) return;
  const index_t n = s.extent[last];
  const bool runs = s.index[last] == 0;
  for (;;) {
    if (runs) {
      const index_t j = shape::normalize_index(index[i], s.bound, s.user_axis, s.op);
      f(x, y + j * s.step, n, s.flat[last], s.deep[last]);
    } else {
      for (index_t q = 0; q < n; ++q) {
        const index_t j = shape::normalize_index(index[i + q * s.index[last]], s.bound, s.user_axis, s.op);
        f(x + q * s.flat[last], y + q * s.deep[last] + j * s.step, 1, 1, 1);
      }
    }
    int d = last - 1;
    for (; d >= 0; --d) {
      i += s.index[d], x += s.flat[d], y += s.deep[d];
      if (++at[d] < s.extent[d]) break;
      i -= at[d] * s.index[d], x -= at[d] * s.flat[d], y -= at[d] * s.deep[d];
      at[d] = 0;
    }
    if (d < 0) return;
  }
}
/// flat = deep at the index.
template <class T> void gather(const gather_plan& s, const std::int64_t* index, const T* deep, T* flat) {
  each_gathered(s, index, [&](index_t x, index_t y, index_t n, index_t fs, index_t ds) {
    for (index_t q = 0; q < n; ++q) flat[x + q * fs] = deep[y + q * ds];
  });
}
/// deep += flat at the index; positions that occur twice add, in row-major order.
template <class T> void gather_add(const gather_plan& s, const std::int64_t* index, T* deep, const T* flat) {
  each_gathered(s, index, [&](index_t x, index_t y, index_t n, index_t fs, index_t ds) {
    for (index_t q = 0; q < n; ++q) deep[y + q * ds] = static_cast<T>(add_op::primal(deep[y + q * ds], flat[x + q * fs]));
  });
}

}  // namespace run
TTENSOR_END
