// Leaves over fixed tensors, and statements of nothing but fixed tensors of one shape and numbers: their elements are computed one after the
// other, their number known. What a loop over packs begins with takes 100 ns.
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
  dims<rank> shape() const { return shape::static_dims<Shape>(); }
  template <class F> TTENSOR_INLINE void shapes(F&& f) const { f(shape()); }
  template <class F> TTENSOR_INLINE void leaves(F&& f) const { f(*this); }
  template <class F> TTENSOR_INLINE void each_hold(F&&) {}
  template <class F> TTENSOR_INLINE void planes(F&& f) const {
    const dims<rank> e = shape();
    f(std::type_identity<T>{}, plane<rank>{elements.v, e, shape::row_major(e), nullptr});
  }
};

/// The elements of an expression E for a result of T, where `exists`; the same bits as a loop over packs gives. Sums add them in order, which a loop over
/// packs does not.
template <class T, class E, class Leaves = leaves_of_t<E>> struct fixed_elements { static constexpr bool exists = false; };
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
  static constexpr bool exists = one_shape && size > 0 && size <= 64;
  using program = program_of<E>;
  using table = run::plane_table<T, eval_detail::leaf_core<L>...>;
  using strip = run::strip<table, 1>;
  using leaves = run::leaf_set<1, eval_detail::leaf_core<L>...>;
  using sweeper = sweep<program, typename leaves::list>;

  /// f(i, value) for every element in row-major order.
  template <class F> TTENSOR_INLINE static void each(const E& e, F&& f) {
    typename strip::places p;
    int k = 1;
    e.leaves([&](const auto& l) __attribute__((always_inline)) {
      l.planes([&](auto, const auto& q) __attribute__((always_inline)) { p.v[k++] = const_cast<char*>(reinterpret_cast<const char*>(q.ptr)); });
    });
    p.v[0] = p.v[1];
    const auto u = leaves::template load_uniforms<table, program>(p.v);
    auto one = [&](index_t i) __attribute__((always_inline)) {
      typename sweeper::values v;
      leaves::template load<table, program>(v, u, strip::plus(p, i).v);
      sweeper::forward(v, typename sweeper::order{});
      f(i, at<program::root>(v));
    };
    if constexpr (size * program::length <= 32) static_for<static_cast<int>(size)>([&](auto i) __attribute__((always_inline)) { one(i()); });
    else
      for (index_t i = 0; i < size; ++i) one(i);
  }
};

TTENSOR_END
