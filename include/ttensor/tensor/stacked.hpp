// stacked<T, K>: the scalar of an aggregate whose arrays carry K more axes. Per-sample gradients and Jacobians with respect
// to an aggregate S<T> are an S<stacked<T, K>>: its fields tensor<T, R> become arrays of rank R + K, its scalar fields T
// become arrays of rank K. These are ordinary tensors, derived from tensor<T, R + K>; only their names differ.
#pragma once
#include "fixed.hpp"

TTENSOR_BEGIN

template <class T, int K> struct stacked;

/// A tensor<T, R> under the name that an aggregate gives it; converts to tensor<T, R> and from it, and behaves as one.
template <class T, int R> class stacked_array : public tensor<T, R> {
 public:
  using ttensor_unstacked = tensor<T, R>;
  using tensor<T, R>::tensor;
  using tensor<T, R>::operator=;
  stacked_array() = default;
  stacked_array(const tensor<T, R>& x) : tensor<T, R>(x) {}
  stacked_array(tensor<T, R>&& x) noexcept : tensor<T, R>(static_cast<tensor<T, R>&&>(x)) {}
};
template <class T, int K> struct stacked : stacked_array<T, K> {
  using stacked_array<T, K>::stacked_array;
  using stacked_array<T, K>::operator=;
  stacked() = default;
  /// For the default of a field, `T bias = 0`, which nothing that is stacked keeps. On one axis an integer is an extent, as stacked(3) of any tensor is.
  template <cpp_number V> stacked(V n) {
    if constexpr (K == 1 && std::is_integral_v<V>) *this = tensor<T, K>(static_cast<index_t>(n));
  }
};
template <class T, int K, auto Shape> class tensor<stacked<T, K>, Shape, host, row_major>
    : public stacked_array<T, shape::rank_of<Shape>() + K> {
  using base = stacked_array<T, shape::rank_of<Shape>() + K>;

 public:
  using base::base;
  using base::operator=;
};

template <class A> concept stacked_leaf = requires { typename std::remove_cvref_t<A>::ttensor_unstacked; };
template <class A> struct unstacked_type { using type = A; };
template <stacked_leaf A> struct unstacked_type<A> { using type = typename A::ttensor_unstacked; };
template <class A> using unstacked_t = typename unstacked_type<A>::type;
/// The array of an aggregate as the tensor<T, R + K> that it is; anything else as it is.
template <class A> TTENSOR_INLINE A& unstacked(A& a) { return a; }
template <stacked_leaf A> TTENSOR_INLINE auto& unstacked(A& a) {
  using To = std::conditional_t<std::is_const_v<A>, const unstacked_t<std::remove_const_t<A>>, unstacked_t<A>>;
  return static_cast<To&>(a);
}
/// T on K more axes; T itself when K is 0.
template <class T, int K> struct stack_type { using type = stacked<T, K>; };
template <class T> struct stack_type<T, 0> { using type = T; };
template <class T, int K> using stack_t = typename stack_type<T, K>::type;

TTENSOR_END
