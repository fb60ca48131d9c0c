// Statements of numbers over adjacent elements (rows, slices, whole tensors), decided from addresses. Only what does not fit becomes planes.
#pragma once
#include "plane_statement.hpp"

TTENSOR_BEGIN

/// Leaves that may be adjacent in a statement of R axes: arrays of numbers, and numbers.
template <int R, class L> inline constexpr bool fits_adjacent_v = is_scalar_leaf_v<L> && depth_v<typename L::scalar> == 0 && sizeof(typename L::scalar) <= 16;
template <int R, class T> inline constexpr bool fits_adjacent_v<R, whole_leaf<T, R>> = true;
template <int R, class T, bool Owns> inline constexpr bool fits_adjacent_v<R, leaf<T, R, Owns>> = depth_v<T> == 0;
template <int R, class... L> constexpr bool all_fit_adjacent(type_list<L...>) { return sizeof...(L) <= 8 && (fits_adjacent_v<R, L> && ...); }

/// Where the operands of such a statement are.
template <int R, class Leaves> struct adjacent_operands;
template <int R, class... L> struct adjacent_operands<R, type_list<L...>> {
  static constexpr int planes = 1 + static_cast<int>(sizeof...(L));
  char* at[planes];                      // of the result first, which the caller sets; a sum has none
  alignas(16) char numbers[planes][16];  // copies: with an address of its numbers the whole expression would be in memory
  dims<R> extent;
  const mem::block* block;
  bool known;                  // the extents; else the first array says them
  int k = 1, held = 0;         // leaves that hold the block
  std::uintptr_t misfits = 0;  // 0: every array has these extents, row-major and without gaps. One word, so that it is one branch

  template <class E> TTENSOR_INLINE adjacent_operands(const E& e, const dims<R>& x, const mem::block* b) : extent(x), block(b), known(true) { e.leaves(*this); }
  template <class E> TTENSOR_INLINE adjacent_operands(const E& e, const mem::block* b) : extent{}, block(b), known(false) { e.leaves(*this); }
  template <class A> TTENSOR_INLINE void operator()(const A& l) {
    if constexpr (is_scalar_leaf_v<A>) {
      __builtin_memcpy(numbers[k], &l.value, sizeof(l.value));
      at[k] = numbers[k];
      ++k;
    } else if constexpr (requires { l.map; }) {
      index_t step = 1;
      for (int d = R - 1; d >= 0; step *= l.map.extent[d--]) misfits |= static_cast<std::uintptr_t>(l.map.stride[d] ^ step);
      array(l.data.base + l.map.offset, l.map.extent, l.data.block.get());
    } else {
      array(l.base(), l.extent, l.block.get());
    }
  }
  TTENSOR_INLINE index_t size() const { return shape::size(extent); }
  /// Whether no array shares bytes with the n elements of T at the result, but one of that type that begins where it does.
  template <class T> TTENSOR_INLINE bool result_is_apart(index_t n) const {
    bool yes = true;
    int j = 0;
    ((++j, yes = yes && (is_scalar_leaf_v<L> || goes_with<T, typename L::scalar>(at[j], static_cast<std::uintptr_t>(n)))), ...);
    return yes;
  }

 private:
  template <class T> TTENSOR_INLINE void array(const T* base, const dims<R>& e, const mem::block* holder) {
    at[k++] = const_cast<char*>(reinterpret_cast<const char*>(base));
    if (!known) extent = e;
    known = true;
    for (int d = 0; d < R; ++d) misfits |= static_cast<std::uintptr_t>(e[d] ^ extent[d]);
    held += holder == block;
  }
  template <class T, class U> TTENSOR_INLINE bool goes_with(const char* p, std::uintptr_t n) const {
    const auto behind = reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(at[0]), rest = n * sizeof(U) - 1;  // modulo 2^64
    return behind + rest >= n * sizeof(T) + rest || (std::is_same_v<T, U> && behind == 0);
  }
};

/// Such a statement in one call of the loop, where it fits; else nothing.
template <class S, int R, class E> struct adjacent_statement {
  using operands = adjacent_operands<R, leaves_of_t<E>>;
  using types = statement<S, E, R>;
  using kernel = typename types::kernel;
  /// Into the region `m` of `out`. `writable`: whoever else holds its elements does not read them again.
  TTENSOR_INLINE static bool run(store<S>& out, const layout_map<R>& m, const E& e, bool writable) {
    operands o(e, m.extent, out.block());
    index_t n = 1;
    for (int d = R - 1; d >= 0; n *= m.extent[d--]) o.misfits |= static_cast<std::uintptr_t>(m.stride[d] ^ n);
    o.at[0] = out.memory() + m.offset * static_cast<index_t>(sizeof(S));
    if (!fits(o, n) || TTENSOR_UNLIKELY(!o.template result_is_apart<S>(n)) || !(writable || out.unique_except(o.held))) return false;
    launch(o, n, e);
    return true;
  }
  /// As the elements of `out`, in its memory or in fresh one.
  TTENSOR_INLINE static bool assign(store<S>& out, dims<R>& extent, const E& e) {
    operands o(e, out.block());
    const index_t n = o.size();
    if (!fits(o, n)) return false;
    o.at[0] = out.memory();
    if (TTENSOR_LIKELY(o.extent == extent) && TTENSOR_LIKELY(o.template result_is_apart<S>(n)) && TTENSOR_LIKELY(out.unique_except(o.held))) {
      launch(o, n, e);
      return true;
    }
    store<S> fresh = store<S>::make(n);
    o.at[0] = fresh.memory();
    launch(o, n, e);
    out.adopt(static_cast<store<S>&&>(fresh));
    extent = o.extent;
    return true;
  }

 private:
  static constexpr index_t bytes = [] {  // of an element of all planes
    index_t n = 0;
    for (const run::plane_facts& f : types::plane_facts.v) n += f.bytes;
    return n;
  }();
  TTENSOR_INLINE static bool fits(const operands& o, index_t n) {
    return TTENSOR_LIKELY(o.misfits == 0) && TTENSOR_LIKELY(n > 0) && TTENSOR_LIKELY(!run::takes_pieces(n, bytes, kernel::cost));
  }
  TTENSOR_INLINE static void launch(const operands& o, index_t n, [[maybe_unused]] const E& e) {
    ++counts.loops;
    if constexpr (has_names_v<E>)
      if (merged<E>::holds(e)) return launch_as<typename types::merged_kernel>(o, n, types::merged_constants);
    launch_as<kernel>(o, n, types::constants);
  }
  template <class K> TTENSOR_INLINE static void launch_as(const operands& o, index_t n, const run::statement_type& type) {
    if (TTENSOR_LIKELY(K::takes_few || n >= K::N)) K::row::run(o.at, n);
    else if constexpr (K::single::cheap) K::row::run_few(o.at, n);
    else run::run_few(type, o.at, n, false);
  }
};
template <class S, int R, class E> constexpr bool runs_adjacent() {
  if constexpr (depth_v<S> == 0 && R > 0) return all_fit_adjacent<R>(leaves_of_t<E>{}) && adjacent_statement<S, R, E>::kernel::unroll > 0;
  else return false;
}

TTENSOR_END
