// cast: the same number in another element type. Derivatives pass between differentiable types and stop at the others.
#pragma once
#include "family.hpp"

TTENSOR_HD_BEGIN

template <class T> struct cast_op : elementwise<1> {
  static constexpr const char* name = "cast";
  using target = T;
  static constexpr bool differentiable = is_differentiable_v<T>;
  static constexpr unsigned reads(int) { return 0; }
  template <class S> using result = reelem_t<S, T>;
  template <class... A> using operands = type_list<elem_t<scalar_t<A>>...>;
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) {
    if constexpr (is_complex_v<lane_t<A>> && std::is_same_v<T, bool>) {
      return a != A(lane_t<A>(0));
    } else if constexpr (is_pack_v<A>) {
      auto y = convert<compute_t<T>>(a);
      if constexpr (!std::is_same_v<compute_t<T>, T>) {  // computed in float, rounded to T
        T t[A::size];
        store_as(y, t);
        y = load_as<decltype(y)>(t);
      }
      return y;
    } else {
      return static_cast<T>(a);
    }
  }
  template <class A, class Y> TTENSOR_HD static constexpr auto partials(const A&, const Y&) { return grads{unit{}}; }
};

TTENSOR_HD_END
