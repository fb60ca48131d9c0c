// Expressions made of expressions: something else stands in place of the leaves.
#pragma once
#include "program.hpp"

TTENSOR_BEGIN
namespace expr {

/// An expression with Rule::of(leaf) in place of its leaves and placeholders, or with Rule::of<Slot>(leaf) where Rule::knows_slots is there; alive as long as the
/// expression is.
template <class Rule> struct on_leaves {
  template <int Slot = 0, class L> static auto of(const L& l) {
    if constexpr (counts) return Rule::template of<Slot>(l);
    else return Rule::of(l);
  }
  template <int Slot = 0, class E> static auto of(const owned<E>& e) { return of<Slot>(tree(e)); }
  template <int Slot = 0, class Op, class... A> static auto of(const node<Op, A...>& e) {
    return [&]<int... I>(std::integer_sequence<int, I...>) { return make_bare<Op>(of<Slot + before<I, A...>>(at<I>(e.args))...); }(
        std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>{});
  }
  template <int Slot = 0, int D, class Body, class... B> static auto of(const let_node<D, Body, B...>& e) {
    constexpr int n = static_cast<int>(sizeof...(B));
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return make_let<D>(make_bundle(of<Slot + before<I, B...>>(at<I>(e.bound))...), of<Slot + before<n, B...>>(e.body));
    }(std::make_integer_sequence<int, n>{});
  }

 private:
  static constexpr bool counts = requires { Rule::knows_slots; };
  template <int I, class... A> static constexpr int before = [] {  // leaves of the first I of A; 0 where nobody asks: fewer functions
    int sum = 0;
    if constexpr (counts) {
      const int n[] = {leaves_of_t<A>::size...};
      for (int i = 0; i < I; ++i) sum += n[i];
    }
    return sum;
  }();
};

}  // namespace expr
TTENSOR_END
