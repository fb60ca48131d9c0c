// Wrong partials on purpose: seeded<Op> is Op with the partial of one operand, chosen at run time, 0.1 % too large. The checks of the
// table must notice it (README.md, "Seeding").
#pragma once
#include "table_gate.hpp"

namespace gate {
inline int wrong_operand = -1;  // -1: every partial is right
inline double seed(int operand) { return operand == wrong_operand ? 1.001 : 1.0; }

template <class Op> struct seeded : Op {
  template <class... X> static auto partials(const X&... x) {
    return scaled(Op::partials(x...), std::make_integer_sequence<int, Op::arity>{}, x...);
  }

 private:
  template <class G, int... I, class... X> static auto scaled(const G& g, std::integer_sequence<int, I...>, const X&... x) {
    return tt::grads{one(tt::at<I>(g), I, tt::at<sizeof...(X) - 1>(tt::bundle<const X&...>{{{x}...}}))...};
  }
  template <class P, class Y> static auto one(const P& p, int operand, const Y&) {  // Y: the result, a pack where it is one
    if constexpr (std::is_same_v<P, tt::no_partial>) return p;
    else if constexpr (tt::sweeping::is_tag<P> && !std::is_same_v<P, tt::unit> && tt::is_pack_v<Y>) return tt::sweeping::scale<Op>(Y(tt::lane_t<Y>(seed(operand))), p);
    else return tt::sweeping::scale<Op>(seed(operand), p);
  }
};
template <class Op> struct unseeded<seeded<Op>> { using type = Op; };
template <class... Op> tt::type_list<seeded<Op>...> all_seeded(tt::type_list<Op...>);

/// Which operands of Op have a partial.
template <class Op, int... I> std::vector<bool> with_partials(std::integer_sequence<int, I...>) {
  if constexpr (!Op::differentiable) {
    return {};
  } else {
    using G = decltype(Op::partials((static_cast<void>(I), 0.5)..., 0.5));
    return {!std::is_same_v<std::remove_cvref_t<decltype(tt::at<I>(std::declval<const G&>()))>, tt::no_partial>...};
  }
}
template <class... Op> std::vector<std::vector<bool>> with_partials(tt::type_list<Op...>) {
  return {with_partials<Op>(std::make_integer_sequence<int, Op::arity>{})...};
}
}  // namespace gate
