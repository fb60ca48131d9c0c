// Adding one strided array to another, as the adjoint of a view is added to that of its array.
#pragma once
#include "../run/adjoint_ops.hpp"
#include "../run/nest.hpp"

TTENSOR_BEGIN
namespace ad {

/// The axes of an addition in the order of the elements that are added to. Turned: along the last but one axis what is added is contiguous.
struct addition {
  int rank;
  bool turned;
  index_t extent[run::max_rank], stride[run::max_rank], step[run::max_rank];
};
addition ordered(const index_t* stride, const index_t* step, const index_t* extent, int rank);
/// to(y, x) = from(x, y): h rows of w elements from contiguous columns; bytes from one to the next.
void copy_turned(int bytes, char* to, index_t to_row, const char* from, index_t from_column, index_t h, index_t w);
#if defined(TTENSOR_BODY)
TTENSOR_BODY addition ordered(const index_t* stride, const index_t* step, const index_t* extent, int rank) {
  run::nest_plane plane[2];
  run::nest s;
  s.rank = rank;
  s.planes = 2;
  s.plane = plane;
  for (int d = 0; d < rank; ++d) s.extent[d] = extent[d], plane[0].stride[d] = stride[d], plane[1].stride[d] = step[d];
  run::collapse(s, true);
  addition a{s.rank, false, {}, {}, {}};
  const int in = s.rank - 1;
  for (int d = 0; d < in && !a.turned && plane[0].stride[in] == 1 && plane[1].stride[in] != 1; ++d)
    if (plane[1].stride[d] == 1 && plane[0].stride[d] != 0 && s.extent[d] > 8) s.exchange(d, in - 1), a.turned = true;
  for (int d = 0; d <= in; ++d) a.extent[d] = s.extent[d], a.stride[d] = plane[0].stride[d], a.step[d] = plane[1].stride[d];
  return a;
}
TTENSOR_BODY void copy_turned(int bytes, char* to, index_t to_row, const char* from, index_t from_column, index_t h, index_t w) {
  run::transpose_copy(bytes, to, to_row, from, from_column, h, w);
}
#endif
/// The last two axes of an addition that is turned, one cache line of `to` wide at a time: longer rows would read so many columns of `from` that they fall into one set of the cache.
template <class T> void add_turned(T* to, const T* from, const addition& a) {
  constexpr int line = 64 / sizeof(T), most = 64;
  T block[most * line];
  const int y = a.rank - 2, x = y + 1;
  for (index_t j = 0; j < a.extent[x]; j += line)
    for (index_t i = 0; i < a.extent[y]; i += most) {
      const index_t w = a.extent[x] - j < line ? a.extent[x] - j : line, h = a.extent[y] - i < most ? a.extent[y] - i : most;
      copy_turned(sizeof(T), reinterpret_cast<char*>(block), 64, reinterpret_cast<const char*>(from + i + j * a.step[x]), a.step[x] * index_t(sizeof(T)), h, w);
      T* row = to + i * a.stride[y] + j;
      for (index_t r = 0; r < h; ++r, row += a.stride[y])
        for (index_t k = 0; k < w; ++k) row[k] += block[r * line + k];
    }
}
/// to[stride i] += from[step i]: what arrays of one axis need. Signature as add_strided.
template <class T> TTENSOR_NOINLINE void add_line(char* bytes, const index_t* stride, const char* values, const index_t* step, const index_t* extent, int rank) {
  T* to = reinterpret_cast<T*>(bytes);
  const T* from = reinterpret_cast<const T*>(values);
  const index_t n = rank > 0 ? extent[0] : 1, s = rank > 0 ? stride[0] : 0, f = rank > 0 ? step[0] : 0;
  if (s == 1 && f == 1) return run::back_detail::add<T>(bytes, values, n);
  for (index_t i = 0; i < n; ++i) to[i * s] = static_cast<T>(to[i * s] + from[i * f]);
}
template <class T> TTENSOR_NOINLINE void add_along(T* to, const T* from, const addition& a, int d) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    if (a.turned && d == a.rank - 2) return add_turned(to, from, a);
  if (d >= a.rank - 1)
    return add_line<T>(reinterpret_cast<char*>(to), a.stride + d, reinterpret_cast<const char*>(from), a.step + d, a.extent + d, a.rank - d);
  for (index_t i = 0; i < a.extent[d]; ++i) add_along<T>(to + i * a.stride[d], from + i * a.step[d], a, d + 1);
}
/// to[stride . i] += from[step . i] over all i.
template <class T> TTENSOR_NOINLINE void add_strided(char* to, const index_t* stride, const char* from, const index_t* step, const index_t* extent, int rank) {
  if (rank == 1 && *stride == 1 && *step == 1) return run::back_detail::add<T>(to, from, *extent);
  add_along<T>(reinterpret_cast<T*>(to), reinterpret_cast<const T*>(from), ordered(stride, step, extent, rank), 0);
}

}  // namespace ad
TTENSOR_END
