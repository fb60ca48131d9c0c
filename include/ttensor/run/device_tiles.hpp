// Walks by squares of elements, for statements whose planes are contiguous along different axes (a + transpose(b)): such a plane is read and written by
// words along its own axis, and turned in registers. No memory is shared, no thread waits for another.
#pragma once
#include "device_walks.hpp"

TTENSOR_BEGIN
namespace run {

/// Squares of N x N elements (4 x 4 floats, 2 x 2 doubles) of the last two axes. A leaf that is contiguous along the last but one is read by words along that axis, and turned in registers;
/// the threads are dealt so that reading and writing both fill whole sectors of memory: 4 x 8 a warp, `side` x `side` in 256 of them.
template <int N, int R, class I> struct tile_walk {
  static_assert(R > 1);
  static constexpr int lanes = N, side = 16;
  static constexpr bool tiles = true;
  using position = place<R, I>;
  grid_walk<1, R, I> squares;   // of side * N elements
  I rows, columns;              // extents of the last two axes
  std::uint64_t turned, words;  // bit per plane, outputs first: words lie along the last axis but one; along the last (or it has none)
  index_t items() const { return static_cast<index_t>(squares.items) * side * side; }
  template <class Threads, class F> TTENSOR_HD TTENSOR_INLINE void each(index_t tid, Threads threads, F&& f) const {
    each_item(tid, threads, static_cast<index_t>(squares.items) * side * side, [&](index_t k) {
      const unsigned t = static_cast<unsigned>(k % (side * side)), lane = t % 32, warp = t / 32;
      position p = squares.locate(static_cast<I>(k / (side * side)));
      I &i = p.at[R - 2], &j = p.at[R - 1];
      i = static_cast<I>((i * static_cast<I>(side) + static_cast<I>(warp / 4 * 8 + lane / 4)) * static_cast<I>(N));
      j = static_cast<I>((j * static_cast<I>(side) + static_cast<I>(warp % 4 * 4 + lane % 4)) * static_cast<I>(N));
      if (i + static_cast<I>(N) <= rows && j + static_cast<I>(N) <= columns) return f(width<N>{}, p);
      const I first_i = i, first_j = j;
      for (i = first_i; i < rows && i < first_i + static_cast<I>(N); ++i)
        for (j = first_j; j < columns && j < first_j + static_cast<I>(N); ++j) f(width<1>{}, p);
    });
  }
};

/// N rows of N neighbouring elements.
template <class V> struct tile {
  V row[V::size];
};
/// How a plane is walked by tiles; neither: one element at a time.
struct tile_access {
  bool turned, words;
  template <class Walk> TTENSOR_HD TTENSOR_INLINE tile_access(const Walk& w, int plane) : turned(w.turned >> plane & 1u), words(w.words >> plane & 1u) {}
};
/// Row i of a tile as it came from memory: of words along its rows, or along its columns where it is turned.
template <class V> TTENSOR_HD TTENSOR_INLINE V row_of_words(const tile<V>& t, int i, tile_access how) {
  constexpr int N = V::size;
  V r;
  TTENSOR_LANES(j) r.v[j] = how.turned ? t.row[j].v[i] : t.row[i].v[j];
  return r;
}
/// Nothing here waits for what it reads, so that the words of all tiles are on their way together; they are turned where they are used.
template <int N, class P, int R, class I> TTENSOR_HD TTENSOR_INLINE auto load_tile(const P& plane, place<R, I> p, tile_access how) {
  using E = typename P::elem;
  using V = lanes_t<std::remove_const_t<E>, N>;
  using T = typename V::value_type;
  tile<V> t;
  if (how.turned || (how.words && plane.steps())) {
    const E* from = plane.where(p);
    const auto step = static_cast<std::make_signed_t<I>>(plane.stride[how.turned ? R - 1 : R - 2]);
    TTENSOR_LANES(i) t.row[i] = load_word<V>(from + i * step);
  } else {
    TTENSOR_LANES(i) {
      if (how.words) t.row[i] = V(simd::lane_cast<T>(*plane.where(p)));
      else {
        auto q = p;
        TTENSOR_DEVICE_UNROLL for (int j = 0; j < N; ++j) t.row[i].v[j] = load_plane<1>(plane, q).v[0], ++q.at[R - 1];
      }
      ++p.at[R - 2];
    }
  }
  return t;
}
/// Writes a tile, or adds it to what is there.
template <class V, class P, int R, class I> TTENSOR_HD TTENSOR_INLINE void store_tile(const tile<V>& t, const P& plane, place<R, I> p, tile_access how, bool add) {
  constexpr int N = V::size;
  using E = typename P::elem;
  auto put = [&](const auto& v, E* to) {
    using W = std::remove_cvref_t<decltype(v)>;
    store_word(add ? load_word<W>(static_cast<const E*>(to)) + v : v, to);
  };
  if (how.turned) {
    TTENSOR_LANES(j) {
      V down;
      TTENSOR_DEVICE_UNROLL for (int i = 0; i < N; ++i) down.v[i] = t.row[i].v[j];
      put(down, plane.where(p));
      ++p.at[R - 1];
    }
  } else {
    TTENSOR_LANES(i) {
      if (how.words) put(t.row[i], plane.where(p));
      else {
        auto q = p;
        TTENSOR_DEVICE_UNROLL for (int j = 0; j < N; ++j) put(device_pack<typename V::value_type, 1>(t.row[i].v[j]), plane.where(q)), ++q.at[R - 1];
      }
      ++p.at[R - 2];
    }
  }
}
template <int N, class L, class At> TTENSOR_HD TTENSOR_INLINE auto leaf_tile(const L& leaf, const At& p, tile_access how) {
  if constexpr (requires { leaf.plane; }) return load_tile<N>(leaf.plane, p, how);
  else {
    tile<lanes_t<typename L::elem, N>> t;
    TTENSOR_LANES(i) t.row[i] = leaf.template load<N>(p);
    return t;
  }
}
/// The tiles of all leaves; their first plane is number First of the walk's.
template <int N, int First, class Walk, class... L, class At> TTENSOR_HD TTENSOR_INLINE auto load_tiles(const Walk& walk, const bundle<L...>& leaves, const At& p) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return bundle<tile<lanes_t<typename L::elem, N>>...>{{{leaf_tile<N>(at<I>(leaves), p, tile_access(walk, First + I))}...}};
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{});
}
template <int First, class Walk, class... V> TTENSOR_HD TTENSOR_INLINE auto row_of_tiles(const Walk& walk, const bundle<tile<V>...>& tiles, int i) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return row_of<V...>{{row_of_words(at<I>(tiles), i, tile_access(walk, First + I))...}};
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(V))>{});
}

}  // namespace run
TTENSOR_END
