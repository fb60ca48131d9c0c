// The operator table under compositions of transforms, compared with table_values.txt (README.md; tools/gate_table.py says what the
// bodies are). The operator is chosen at run time, so that a composition is compiled once for all operators of a list:
//
//   gate::check_table<gate::scalars, tt::all_unary, gate::all_two>();
#pragma once
#include <array>

#include "op_gate.hpp"

namespace gate {
template <class... A, class... B> tt::type_list<A..., B...> joined(tt::type_list<A...>, tt::type_list<B...>);
template <class... A, class... B> string_list<A..., B...> joined(string_list<A...>, string_list<B...>);
using all_two = decltype(joined(one_and_two{}, jacobians{}));  // 31 strings of none to two letters
using one_letter = string_list<string<>, string<'G'>, string<'J'>, string<'V'>, string<'F'>, string<'R'>>;
using all_other = decltype(joined(joined(joined(tt::all_ternary{}, tt::all_logical{}), tt::all_bitwise{}), tt::type_list<tt::cast_op<double>>{}));

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

/// A composition compiled for one list: what it is called, the values it is compared with, and the function.
struct compiled {
  std::string text, want;
  array (*run)(const array&);
};
/// The compositions of scalar bodies.
struct scalars {
  template <class Body, char... L> static compiled of(string<L...> s) {
    return {s.text(), s.text(), [](const array& x) {
              constexpr int mapped = ((L == 'V' ? 1 : 0) + ... + 0);
              typename composed<Body, string<L...>>::type f;
              if constexpr (mapped == 0) return from_result(f(x.values[0]));
              else return from_result(f(to_tensor<mapped>(x)));
            }};
  }
};
/// The same body on an array of two elements: V of the scalar body, so `GV` holds the values of G.
struct arrays {
  template <class Body, char... L> static compiled of(string<L...> s) {
    return {s.text() + " of arrays", s.text() + "V", [](const array& x) {
              constexpr int mapped = ((L == 'V' ? 1 : 0) + ... + 0);
              return from_result(typename composed<Body, string<L...>>::type{}(to_tensor<mapped + 1>(x)));
            }};
  }
};
template <class Form, class List, class... S> std::vector<compiled> compile(string_list<S...>) { return {Form::template of<table_body<List>>(S{})...}; }

/// What disagrees with the stored values for one operator, as text; empty: nothing. Every point of the operator is tried.
template <class List> std::string disagreements(int op, const char* name, const std::vector<compiled>& programs) {
  const auto& t = table_values();
  if (!t.has(std::string(name) + ":0")) return std::string(name) + " has no values: add it to tools/gate_table.py";
  std::string text;
  const auto& o = t.sequence(name);
  chosen = {op, {o.at(0), o.at(1), o.at(2), o.at(3)}};
  for (int k = 0; t.has(name + (":" + std::to_string(k))); ++k) {
    const std::string point = name + (":" + std::to_string(k));
    for (const compiled& p : programs) {
      const array got = p.run(t.input(point, p.want)), &want = t.value(point, p.want);
      if (got.shape != want.shape || !(distance(got.values, want.values) <= tolerance)) text += point + " " + p.text + "; ";
    }
  }
  return text;
}
template <class... Op> std::vector<const char*> names(tt::type_list<Op...>) { return {unseeded<Op>::type::name...}; }

/// Every operator of a list under every string of a list.
template <class Form, class List, class Strings> void check_table() {
  const auto programs = compile<Form, List>(Strings{});
  int k = 0;
  for (const char* name : names(List{})) CHECK(disagreements<List>(k++, name, programs) == "");
}
}  // namespace gate
