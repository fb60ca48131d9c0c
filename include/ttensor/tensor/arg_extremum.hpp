// argmax and argmin: where the largest and the smallest elements stand.
#pragma once
#include <cstdlib>
#include <string>
#include "array_op.hpp"
#include "reduce.hpp"

TTENSOR_BEGIN

namespace reduce_detail {
template <int R> void refuse_empty(const char* name, const dims<R>& shape, const axis_set<R>& set) {
  if (reduced_count(shape, set) == 0 && shape::size(reduced_shape_kept(shape, set)) > 0)
    raise<domain_error>(std::string("[") + name + "] of an empty range has no value: shape " + shape::text(shape) +
                        "; check the size first [TT-D02]");
}
/// Position of the first extremum, row-major over the reduced axes; the first NaN wins. NotBetter: <= for the largest, false for NaN.
template <class Better, class NotBetter, int R> struct arg_extremum {
  axis_set<R> set;
  static constexpr const char* name = std::is_same_v<Better, greater_op> ? "argmax" : "argmin";
  arg_extremum<Better, NotBetter, R + 1> batched() const { return {below_batch(set)}; }
  template <class E> auto primal(const E& a) const {
    const auto l = array_detail::as_array(a);
    const auto kept = reduced_shape_kept(l.map.extent, set);
    refuse_empty(name, l.map.extent, set);
    tensor<std::int64_t, R> y(store<std::int64_t>::make(shape::size(kept)), kept);
    ++counts.loops;
    if (y.size() > 0) search(nest(l.map, set), l.data.base + l.map.offset, y.data());
    return y;
  }

 private:
  struct nest {  // axes that lie side by side as one
    dims<R> extent{}, stride{};
    bool reduced[R > 0 ? R : 1]{};
    int rank = 0, row = -1, run = -1;  // row, run: the innermost axes that are kept and reduced
    nest(const layout_map<R>& m, const axis_set<R>& set) {
      for (int d = 0; d < R; ++d) {
        const int last = rank - 1;
        if (m.extent[d] == 1) continue;
        if (rank > 0 && reduced[last] == set.reduced[d] && stride[last] == m.stride[d] * m.extent[d])
          extent[last] *= m.extent[d], stride[last] = m.stride[d];
        else extent[rank] = m.extent[d], stride[rank] = m.stride[d], reduced[rank++] = set.reduced[d];
      }
      for (int d = 0; d < rank; ++d) (reduced[d] ? run : row) = d;
    }
    index_t extent_of(int d) const { return d < 0 ? 1 : extent[d]; }
    index_t stride_of(int d) const { return d < 0 ? 0 : stride[d]; }
    /// The next place along the reduced, or the kept, axes but the innermost.
    bool step(dims<R>& i, bool of_reduced) const {
      for (int d = rank - 1; d >= 0; --d) {
        if (reduced[d] != of_reduced || d == row || d == run) continue;
        if (++i[d] < extent[d]) return true;
        i[d] = 0;
      }
      return false;
    }
    index_t place(const dims<R>& i) const {
      index_t at = 0;
      for (int d = 0; d < rank; ++d) at += i[d] * stride[d];
      return at;
    }
  };
  template <class T> static void search(const nest& s, const T* base, std::int64_t* to) {
    const index_t rows = s.extent_of(s.row), down = s.stride_of(s.row), n = s.extent_of(s.run), along = s.stride_of(s.run);
    const bool abreast = rows >= 16 && std::abs(down) < std::abs(along);  // all rows at once, where their elements are nearer than those of a run
    store<T> best = store<T>::make(abreast ? rows : 0);
    dims<R> outer{};
    do {
      const T* const first = base + s.place(outer);
      dims<R> inner{};
      if (abreast) {
        for (index_t i = 0; i < rows; ++i) best.writable()[i] = first[i * down], to[i] = 0;
        index_t k = 0;
        do {
          for (index_t j = 0; j < n; ++j, ++k) {
            if (down == 1) renew(first + s.place(inner) + j * along, rows, std::integral_constant<index_t, 1>{}, k, best.writable(), to);
            else renew(first + s.place(inner) + j * along, rows, down, k, best.writable(), to);
          }
        } while (s.step(inner, true));
      } else {
        for (index_t i = 0; i < rows; ++i, inner = {}) {
          T top = first[i * down];
          index_t k = 0, at = 0;
          do k += walk(first + i * down + s.place(inner), n, along, k, top, at);
          while (top == top && s.step(inner, true));
          to[i] = at;
        }
      }
      to += rows;
    } while (s.step(outer, false));
  }
  /// Elements number k of rows: which of them are better than all before.
  template <class T, class Stride> static void renew(const T* x, index_t rows, Stride stride, index_t k, T* best, std::int64_t* to) {
    for (index_t i = 0; i < rows; ++i) {
      const T v = x[i * stride], b = best[i];
      const bool take = (int(Better::primal(v, b)) | (int(v != v) & int(b == b))) != 0;  // without branches
      best[i] = take ? v : b;
      to[i] = take ? k : to[i];
    }
  }
  /// Elements number k ... k + n - 1 of a run; returns n.
  template <class T> static index_t walk(const T* x, index_t n, index_t stride, index_t k, T& top, index_t& at) {
    constexpr index_t block = 64;
    for (index_t j = 0; j < n;) {
      const index_t end = j + block < n ? j + block : n;
      if constexpr (math::detail::has_kernels<T> || (simd::has_register<T> && (sizeof(T) == 4 || TTENSOR_SIMD_BYTES > 16)))
        if (stride == 1 && end - j == block && none_better<block>(x + j, top)) {
          j = end;
          continue;
        }
      for (; j < end; ++j) {
        const T v = x[j * stride];
        if (TTENSOR_LIKELY(!Better::primal(v, top) && v == v)) continue;
        top = v, at = k + j;
        if (v != v) return n;
      }
    }
    return n;
  }
  template <index_t n, class T> static bool none_better(const T* x, const T& top) {
    using P = pack<T, native_width_v<T>>;
    auto none = NotBetter::primal(P::load(x), P(top));
    for (index_t i = P::size; i < n; i += P::size) none = none & NotBetter::primal(P::load(x + i), P(top));
    return all_lanes(none);
  }
};
}  // namespace reduce_detail

TTENSOR_END
