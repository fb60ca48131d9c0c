// Leaves over fixed tensors, and statements of nothing but fixed tensors of one shape and numbers: a known number of packs, without what a loop
// over packs begins with (100 ns).
#pragma once
#include "evaluate.hpp"

TTENSOR_BEGIN

/// Leaf over a fixed tensor: carries the elements by value, so an expression of locals can be returned.
template <class T, auto Shape> struct fixed_leaf {
  using ttensor_expression = void;
  using scalar = T;
  static constexpr int rank = shape::rank_of<Shape>(), holds = 0;
  static constexpr auto extent_parameter = Shape;
  static constexpr index_t size = shape::type_of<Shape>::static_size;
  array<T, static_cast<int>(size)> elements;
  /// In the parts that a statement reads, so that the compiler keeps them in registers.
  TTENSOR_INLINE void copy(const array<T, static_cast<int>(size)>& from) {
    constexpr int W = native_width_v<T>;
    if constexpr (size > 64 || !simd::in_registers<T, W>) {
      elements = from;
    } else {
      constexpr int whole = static_cast<int>(size) / W * W;
      static_for<whole / W>([&](auto k) __attribute__((always_inline)) { pack<T, W>::load(from.v + k() * W).store(elements.v + k() * W); });
      static_for<static_cast<int>(size) - whole>(
          [&](auto k) __attribute__((always_inline)) { elements.v[whole + k()] = from.v[whole + k()]; });
    }
  }
  dims<rank> shape() const { return shape::static_dims<Shape>(); }
  template <class F> TTENSOR_INLINE void shapes(F&& f) const { f(shape()); }
  template <class F> TTENSOR_INLINE void leaves(F&& f) const { f(*this); }
  template <class F> TTENSOR_INLINE void each_hold(F&&) {}
  template <class F> TTENSOR_INLINE void planes(F&& f) const {
    const dims<rank> e = shape();
    f(std::type_identity<T>{}, plane<rank>{elements.v, e, shape::row_major(e), nullptr});
  }
};

/// The elements of an expression E for a result of T, where `exists`; the same bits as a statement of tensors gives. Sums of `few` add them in order, which
/// a loop over packs does not.
template <class T, class E, class Leaves = leaves_of_t<E>> struct fixed_elements { static constexpr bool exists = false, few = false; };
template <class L> inline constexpr bool is_fixed_leaf = false;
template <class T, auto Shape> inline constexpr bool is_fixed_leaf<fixed_leaf<T, Shape>> = true;
template <class T, class E, class... L> requires(((is_scalar_leaf_v<L> && depth_v<typename L::scalar> == 0) || is_fixed_leaf<L>) && ...)
struct fixed_elements<T, E, type_list<L...>> {
  static constexpr int rank = E::rank;
  static constexpr auto extent = [] {  // of the last fixed leaf
    dims<rank> e{};
    ([&] {
      if constexpr (is_fixed_leaf<L>)
        if constexpr (L::rank == rank) e = shape::static_dims<L::extent_parameter>();
    }(), ...);
    return e;
  }();
  template <class A> static constexpr bool fits() {
    if constexpr (!is_fixed_leaf<A>) return true;
    else if constexpr (A::rank != rank) return false;
    else return shape::static_dims<A::extent_parameter>() == extent;
  }
  static constexpr index_t size = shape::size(extent);
  static constexpr bool one_shape = rank > 0 && (fits<L>() && ...);
  static constexpr index_t most_in_order = 64, most = 4096;  // of more elements a statement is planned and runs on several threads, as any other
  static constexpr bool exists = one_shape && size > 0 && size <= most, few = exists && size <= most_in_order;
  using program = program_of<E>;
  using table = run::plane_table<T, eval_detail::leaf_core<L>...>;
  static constexpr int widest = run::lanes_of<T, eval_detail::leaf_core<L>...>(), lanes = size < widest ? 1 : widest;
  /// Few packs without functions are written out, all computed before one is stored, and none overlaps another: so GCC sees that the leaves' copies are not needed.
  static constexpr bool unrolled =
      size <= most_in_order && (size / widest + size % widest) * program::length <= 160 && !any_function(program{});
  static constexpr index_t singles = unrolled ? size % lanes : 0;  // at the end, computed one at a time; else the last pack overlaps the one before

  /// f(i, value) for every element in row-major order.
  template <class F> TTENSOR_INLINE static void each(const E& e, F&& f) {
    const packs<1> p(e);
    if constexpr (size * program::length <= 32)
      static_for<static_cast<int>(size)>([&](auto i) __attribute__((always_inline)) { f(i(), p.value(i())); });
    else
      for (index_t i = 0; i < size; ++i) f(i, p.value(i));
  }
  /// The elements go to `to`, which may be where a leaf was copied from.
  TTENSOR_INLINE static void store(const E& e, char* to) {
    if constexpr (unrolled) {
      const run_of<lanes, 0, size / lanes> packed(e);
      const run_of<1, size - singles, singles> left(e);
      packed.store(to);
      left.store(to);
    } else {
      const packs<lanes> p(e);
      for (index_t i = 0; i + lanes <= size; i += lanes) p.store(p.value(i), to, i);
      if constexpr (size % lanes != 0) p.store(p.value(size - lanes), to, size - lanes);
    }
  }

 private:
  template <int W> struct packs {
    using strip = run::strip<table, W>;
    using leaves = run::leaf_set<W, eval_detail::leaf_core<L>...>;
    using sweeper = sweep<program, typename leaves::list>;
    using io = run::core_io<T, W>;
    typename strip::places p;
    typename leaves::uniforms u;
    TTENSOR_INLINE explicit packs(const E& e) {
      int k = 1;
      e.leaves([&](const auto& l) __attribute__((always_inline)) {
        l.planes([&](auto, const auto& q) __attribute__((always_inline)) {
          p.v[k++] = const_cast<char*>(reinterpret_cast<const char*>(q.ptr));
        });
      });
      p.v[0] = p.v[1];
      u = leaves::template load_uniforms<table, program>(p.v);
    }
    TTENSOR_INLINE typename io::value value(index_t i) const {
      typename sweeper::values v;
      leaves::template load<table, program>(v, u, strip::plus(p, i).v);
      sweeper::forward(v, typename sweeper::order{});
      return convert_value<typename io::value>(at<program::root>(v));
    }
    TTENSOR_INLINE static void store(const typename io::value& v, char* to, index_t i) {
      char* const at = to + i * static_cast<index_t>(sizeof(T));
      io::store(v, &at);
    }
  };
  /// Count packs of W, from the element From on.
  template <int W, index_t From, index_t Count> struct run_of {
    array<typename run::core_io<T, W>::value, static_cast<int>(Count)> v;
    TTENSOR_INLINE explicit run_of(const E& e) {
      const packs<W> p(e);
      static_for<static_cast<int>(Count)>([&](auto k) __attribute__((always_inline)) { v[k()] = p.value(From + k() * W); });
    }
    TTENSOR_INLINE void store(char* to) const {
      static_for<static_cast<int>(Count)>([&](auto k) __attribute__((always_inline)) { packs<W>::store(v[k()], to, From + k() * W); });
    }
  };
};

TTENSOR_END
