// Many bodies of one result type under compositions: the body is chosen at run time, so that a composition is compiled once for all.
//
//   using bodies = gate::bodies<a_body, b_body>;                       // each with a member `name`, a body of op_values.txt
//   gate::check_bodies<bodies, 2, gate::all_two>();                    // 2: rank of the argument
#pragma once
#include "op_gate.hpp"

namespace gate {
template <class... A, class... B> string_list<A..., B...> joined(string_list<A...>, string_list<B...>);
using all_two = decltype(joined(one_and_two{}, jacobians{}));  // 31 strings of none to two letters
using one_letter = string_list<string<>, string<'G'>, string<'J'>, string<'V'>, string<'F'>, string<'R'>>;

inline int chosen_body = 0;
template <class First, class... Rest> struct bodies {
  template <class X> auto operator()(const X& x) const {
    using Y = decltype(evaluated(First{}(x)));
    Y y = chosen_body == 0 ? evaluated(First{}(x)) : Y{};
    int k = 0;
    static_cast<void>((... || (++k == chosen_body && (y = evaluated(Rest{}(x)), true))));
    return y;
  }
  static std::vector<const char*> names() { return {First::name, Rest::name...}; }

 private:
  template <class E> static auto evaluated(const E& e) {
    if constexpr (tt::array_like<E>) return tt::eval(e);
    else return e;
  }
};

/// A composition compiled for bodies chosen at run time: the string of the values it is compared with, and the function.
struct compiled {
  std::string want;
  array (*run)(const array&);
};
template <class Body, int Q, char... L> compiled compile_one(string<L...> s) {
  return {s.text(), [](const array& x) {
            constexpr int mapped = ((L == 'V' ? 1 : 0) + ... + 0);
            typename composed<Body, string<L...>>::type f;
            if constexpr (Q + mapped == 0) return from_result(f(x.values[0]));
            else return from_result(f(to_tensor<Q + mapped>(x)));
          }};
}
/// All strings of a list for a body whose argument has rank Q.
template <class Body, int Q, class... S> std::vector<compiled> compile(string_list<S...>) { return {compile_one<Body, Q>(S{})...}; }

/// The compositions whose results for the body `name` of a file disagree with it, as text; empty: none.
inline std::string disagreements(const table& t, const std::string& name, const std::vector<compiled>& programs) {
  std::string text;
  for (const compiled& p : programs) {
    const array got = p.run(t.input(name, p.want)), &want = t.value(name, p.want);
    if (got.shape != want.shape || !(distance(got.values, want.values) <= tolerance)) text += name + " " + p.want + "; ";
  }
  return text;
}
template <class Bodies, int Q, class Strings> void check_bodies() {
  const auto programs = compile<Bodies, Q>(Strings{});
  chosen_body = 0;
  for (const char* name : Bodies::names()) {
    CHECK(disagreements(op_values(), name, programs) == "");
    ++chosen_body;
  }
}
}  // namespace gate
