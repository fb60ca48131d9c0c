// The operator table under compositions of transforms, compared with table_values.txt (README.md; tools/gate_table.py says what the
// bodies are). The operator is chosen at run time, so that a composition is compiled once for all operators of a list:
//
//   gate::check_table<tt::all_unary>(gate::scalars<tt::all_unary>(gate::all_two{}));
#pragma once
#include <array>
#include <limits>

#include "body_gate.hpp"
#include "../../examples/leaky_relu/leaky_relu.hpp"

namespace gate {
template <class... A, class... B> tt::type_list<A..., B...> joined(tt::type_list<A...>, tt::type_list<B...>);
using extra = tt::type_list<tt::cast_op<double>, mine::leaky_relu_op>;  // the last from an example: it has the values of the library's
using all_other = decltype(joined(joined(joined(tt::all_ternary{}, tt::all_logical{}), tt::all_bitwise{}), extra{}));

inline constexpr int all_points = std::numeric_limits<int>::max();
/// What the body reads: the position of the operator in its list, and p + q x, r + s x of its operands.
struct choice {
  int op = 0;
  std::array<double, 4> operands{};
};
inline choice chosen;

template <class Op> struct unseeded { using type = Op; };  // see seeded.hpp
template <class Op, class L> inline constexpr bool is_in = false;
template <class Op, class... L> inline constexpr bool is_in<Op, tt::type_list<L...>> = (std::is_same_v<Op, L> || ...);

/// One operator on operands of the kind of x.
template <class Op, class X> auto applied(const X& x, const X& b, const X& c) {
  using O = typename unseeded<Op>::type;
  using tt::apply;
  if constexpr (std::is_same_v<O, tt::where_op>) return apply<Op>(apply<tt::greater_op>(x, 0.25), b, c);
  else if constexpr (std::is_same_v<O, tt::logical_not_op>) return apply<Op>(apply<tt::greater_op>(x, 0));
  else if constexpr (std::is_same_v<O, tt::logical_and_op> || std::is_same_v<O, tt::logical_or_op>) return apply<Op>(apply<tt::greater_op>(x, 0), apply<tt::greater_op>(b, 0));
  else if constexpr (is_in<O, tt::all_bitwise>) {
    const auto whole = [](const X& v) { return apply<tt::cast_op<std::int64_t>>(apply<tt::mul_op>(v, 8.0)); };
    if constexpr (O::arity == 1) return apply<tt::greater_op>(apply<Op>(whole(x)), 3);
    else if constexpr (std::is_same_v<O, tt::shift_left_op> || std::is_same_v<O, tt::shift_right_op>) return apply<tt::greater_op>(apply<Op>(whole(x), 2), 3);
    else return apply<tt::greater_op>(apply<Op>(whole(x), whole(b)), 3);
  } else if constexpr (O::arity == 1) return apply<Op>(x);
  else if constexpr (O::arity == 2) return apply<Op>(x, b);
  else return apply<Op>(x, b, c);
}
template <class Op, class X> X body_of(const X& x, const X& b, const X& c) {
  auto y = applied<Op>(x, b, c);
  if constexpr (std::is_same_v<tt::elem_t<tt::scalar_t<decltype(y)>>, bool>) return X(tt::apply<tt::mul_op>(tt::apply<tt::where_op>(y, x, 2.0), x));
  else return X(tt::apply<tt::mul_op>(y, x));
}
/// x -> f(x, b, c) x for the chosen operator f of a list; x is a scalar of any kind or an array of them.
template <class List> struct table_body;
template <class... Op> struct table_body<tt::type_list<Op...>> {
  template <class X> auto operator()(const X& x) const {
    const auto value = [](const auto& e) {
      if constexpr (tt::array_like<X>) return tt::eval(e);
      else return X(e);
    };
    using Y = decltype(value(x));
    const Y at = value(x), b = value(tt::apply<tt::add_op>(tt::apply<tt::mul_op>(x, chosen.operands[1]), chosen.operands[0])),
            c = value(tt::apply<tt::add_op>(tt::apply<tt::mul_op>(x, chosen.operands[3]), chosen.operands[2]));
    Y y = at;
    int k = 0;
    static_cast<void>((... || (k++ == chosen.op && (y = body_of<Op, Y>(at, b, c), true))));
    return y;
  }
};

/// The compositions of scalar bodies.
template <class List, class Strings> std::vector<compiled> scalars(Strings s) { return compile<table_body<List>, 0>(s); }
/// The same bodies on arrays of two elements: V of the scalar body, so `GV` holds the values of G. Those of two letters are stored for the first
/// point of an operator only; its elements are on both sides of a kink.
template <class List, class Strings> std::vector<compiled> arrays(Strings s) {
  auto programs = compile<table_body<List>, 1>(s);
  for (auto& p : programs) p.want += "V";
  return programs;
}

/// What disagrees with the stored values for one operator, as text; empty: nothing. Every point of the operator is tried, or the first ones.
inline std::string disagreements(int op, const char* name, const std::vector<compiled>& programs, int points = all_points) {
  const auto& t = table_values();
  if (!t.has(std::string(name) + ":0")) return std::string(name) + " has no values: add it to tools/gate_table.py";
  const auto& o = t.sequence(name);
  chosen = {op, {o.at(0), o.at(1), o.at(2), o.at(3)}};
  std::string text;
  for (int k = 0; k < points && t.has(name + (":" + std::to_string(k))); ++k) text += disagreements(t, name + (":" + std::to_string(k)), programs);
  return text;
}
template <class... Op> std::vector<const char*> names(tt::type_list<Op...>) { return {unseeded<Op>::type::name...}; }

/// Every operator of a list under every composition.
template <class List> void check_table(const std::vector<compiled>& programs, int points = all_points) {
  int k = 0;
  for (const char* name : names(List{})) CHECK(disagreements(k++, name, programs, points) == "");
}
}  // namespace gate
