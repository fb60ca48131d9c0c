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

/// Calls f.one(flat offset, deep offset) for every position, or f once a run of `count` positions whose flat and deep strides are
/// given, where the innermost axis has one index. Negative indices count from the end.
template <class F> void each_gathered(const gather_plan& s, const std::int64_t* index, F&& f) {
  index_t at[gather_plan::max_axes] = {}, i = 0, x = 0, y = 0;
  const int last = s.rank - 1;
  for (int d = 0; d < s.rank; ++d)
    if (s.extent[d] == 0) return;
  const index_t n = s.extent[last], bound = s.bound, step = s.step;  // locals: what f writes may be anything
  const index_t next_index = s.index[last], next_flat = s.flat[last], next_deep = s.deep[last];
  const bool runs = next_index == 0;
  for (;;) {
    if (runs) {
      const index_t j = shape::normalize_index(index[i], bound, s.user_axis, s.op);
      f(x, y + j * step, n, next_flat, next_deep);
    } else {
      const auto inside = [&](index_t j) __attribute__((always_inline)) {
        return TTENSOR_LIKELY(static_cast<std::uint64_t>(j) < static_cast<std::uint64_t>(bound)) ? j : shape::normalize_index(j, bound, s.user_axis, s.op);
      };
      const std::int64_t* k = index + i;
      index_t to = x, from = y;
      if (next_index == 1 && next_flat == 1 && next_deep == 0 && step == 1)
        for (index_t q = 0; q < n; ++q) f.one(to + q, from + inside(k[q]));
      else
        for (index_t q = 0; q < n; ++q, k += next_index, to += next_flat, from += next_deep) f.one(to, from + inside(*k) * step);
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
template <class T> struct gather_each {
  const T* deep;
  T* flat;
  TTENSOR_INLINE void one(index_t x, index_t y) const { flat[x] = deep[y]; }
  TTENSOR_INLINE void operator()(index_t x, index_t y, index_t n, index_t fs, index_t ds) const {
    if (std::is_trivially_copyable_v<T> && fs == 1 && ds == 1 && n * index_t(sizeof(T)) >= 64)
      return void(__builtin_memcpy(static_cast<void*>(flat + x), deep + y, static_cast<std::size_t>(n) * sizeof(T)));
    for (index_t q = 0; q < n; ++q) one(x + q * fs, y + q * ds);
  }
};
template <class T> struct gather_add_each {
  T* deep;
  const T* flat;
  TTENSOR_INLINE void one(index_t x, index_t y) const { deep[y] = static_cast<T>(add_op::primal(deep[y], flat[x])); }
  TTENSOR_INLINE void operator()(index_t x, index_t y, index_t n, index_t fs, index_t ds) const {
    for (index_t q = 0; q < n; ++q) one(x + q * fs, y + q * ds);
  }
};
/// flat = deep at the index.
template <class T> void gather(const gather_plan& s, const std::int64_t* index, const T* deep, T* flat) {
  each_gathered(s, index, gather_each<T>{deep, flat});
}
/// deep += flat at the index; positions that occur twice add, in row-major order.
template <class T> void gather_add(const gather_plan& s, const std::int64_t* index, T* deep, const T* flat) {
  each_gathered(s, index, gather_add_each<T>{deep, flat});
}

}  // namespace run
TTENSOR_END
