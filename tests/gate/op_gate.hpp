// Composition strings over an operator body, compared with op_values.txt. README.md says what the letters mean.
//
//   struct matmul_body { template <class X> auto operator()(const X& x) const { return matmul(x, x); } };
//   TEST_CASE("matmul") { gate::check_op<matmul_body, gate::one_and_two>("matmul_self"); }
//
// A body is an empty function object, so that no level hides in it. Each string is a type of its own: a test file should
// hold about as many strings as compile in a minute.
#pragma once
#include <doctest/doctest.h>

#include <ttensor/all.hpp>

#include "gate_reader.hpp"

namespace gate {
namespace tt = ttensor;

/// The first elements of a sequence of op_values.txt in row-major order: plain numbers.
template <int R> tt::tensor<double, R> constant(const char* sequence, const tt::dims<R>& shape) {
  tt::tensor<double, R> t(tt::store<double>::make(tt::shape::size(shape)), shape);
  const auto& all = op_values().sequence(sequence);
  for (tt::index_t i = 0; i < t.size(); ++i) t.data()[i] = all.at(static_cast<std::size_t>(i));
  return t;
}
/// A(3, 2), B(...), C(...) of bodies.md.
template <class... I> auto constant(const char* sequence, I... n) {
  return constant(sequence, tt::dims<static_cast<int>(sizeof...(I))>{{static_cast<tt::index_t>(n)...}});
}
/// h = x * x + C(x.shape) * x
template <class X> auto h(const X& x) { return tt::eval(x * x + constant("C", x.shape()) * x); }

// ---- the letters -----------------------------------------------------------------------------------------------------
/// sum_k w_k g(x)_k
template <class Body> struct weighted {
  template <class X> auto operator()(const X& x) const {
    const auto y = Body{}(x);
    if constexpr (tt::array_like<decltype(y)>) {
      if constexpr (tt::rank_v<decltype(y)> == 0) return op_values().sequence("w")[0] * y;
      else return sum(constant("w", y.shape()) * y);
    } else {
      return op_values().sequence("w")[0] * y;
    }
  }
};
template <class Body> struct G {
  template <class X> auto operator()(const X& x) const { return tt::grad(weighted<Body>{})(x); }
};
template <class Body> struct J {
  template <class X> auto operator()(const X& x) const {
    if constexpr (tt::array_like<X>) return tt::jvp(Body{}, x, constant("v", x.shape())).y_dot;
    else return tt::jvp(Body{}, x, op_values().sequence("v")[0]).y_dot;
  }
};
template <class Body> struct V {
  template <class X> auto operator()(const X& x) const { return tt::vmap(Body{})(x); }
};
#if __has_include(<ttensor/transform/jacobian.hpp>)
template <class Body> struct F {
  template <class X> auto operator()(const X& x) const { return tt::jacfwd(Body{})(x); }
};
template <class Body> struct R {
  template <class X> auto operator()(const X& x) const { return tt::jacrev(Body{})(x); }
};
#else
template <class Body> struct F;
template <class Body> struct R;
#endif

template <char Letter, class Body> struct letter;
template <class Body> struct letter<'G', Body> { using type = G<Body>; };
template <class Body> struct letter<'J', Body> { using type = J<Body>; };
template <class Body> struct letter<'V', Body> { using type = V<Body>; };
template <class Body> struct letter<'F', Body> { using type = F<Body>; };
template <class Body> struct letter<'R', Body> { using type = R<Body>; };

/// A composition string as a type: the outermost letter first.
template <char... L> struct string {
  static std::string text() { return std::string{L...}; }
};
template <class Body, class S> struct composed;
template <class Body> struct composed<Body, string<>> { using type = Body; };
template <class Body, char First, char... Rest> struct composed<Body, string<First, Rest...>> {
  using type = typename letter<First, typename composed<Body, string<Rest...>>::type>::type;
};
template <class... S> struct string_list {};
/// All strings of one and two letters without Jacobians; those with a Jacobian; a few of three letters.
using one_and_two = string_list<string<>, string<'G'>, string<'J'>, string<'V'>, string<'G', 'G'>, string<'G', 'J'>, string<'G', 'V'>, string<'J', 'G'>,
                                string<'J', 'J'>, string<'J', 'V'>, string<'V', 'G'>, string<'V', 'J'>, string<'V', 'V'>>;
using jacobians = string_list<string<'F'>, string<'R'>, string<'F', 'F'>, string<'F', 'R'>, string<'R', 'F'>, string<'R', 'R'>, string<'F', 'G'>, string<'F', 'J'>,
                              string<'F', 'V'>, string<'R', 'G'>, string<'R', 'J'>, string<'R', 'V'>, string<'G', 'F'>, string<'J', 'F'>, string<'V', 'F'>,
                              string<'G', 'R'>, string<'J', 'R'>, string<'V', 'R'>>;

// ---- running ---------------------------------------------------------------------------------------------------------
template <int Q> tt::tensor<double, Q> to_tensor(const array& a) {
  tt::dims<Q> e;
  REQUIRE(a.shape.size() == static_cast<std::size_t>(Q));
  for (int d = 0; d < Q; ++d) e[d] = static_cast<tt::index_t>(a.shape[static_cast<std::size_t>(d)]);
  tt::tensor<double, Q> t(tt::store<double>::make(tt::shape::size(e)), e);
  for (tt::index_t i = 0; i < t.size(); ++i) t.data()[i] = a.values[static_cast<std::size_t>(i)];
  return t;
}
template <class Y> array from_result(const Y& y) {
  array a;
  if constexpr (tt::array_like<Y>) {
    const auto t = tt::eval(y);
    for (int d = 0; d < tt::rank_v<Y>; ++d) a.shape.push_back(static_cast<std::size_t>(t.shape()[d]));
    for (tt::index_t i = 0; i < t.size(); ++i) a.values.push_back(t.elements().get(i));
  } else {
    a.values.push_back(y);
  }
  return a;
}
inline constexpr double tolerance = 1e-12;

/// Runs one string on a body whose argument has rank Q, and compares shape and values.
template <class Body, int Q, char... L> void check_string(const char* name, string<L...> s) {
  constexpr int mapped = ((L == 'V' ? 1 : 0) + ... + 0);
  INFO(name, " ", s.text());
  const array want = op_values().value(name, s.text());
  const array x = op_values().input(name, s.text());
  array got;
  typename composed<Body, string<L...>>::type f;
  if constexpr (Q + mapped == 0) got = from_result(f(x.values[0]));
  else got = from_result(f(to_tensor<Q + mapped>(x)));
  CHECK(got.shape == want.shape);
  CHECK(distance(got.values, want.values) <= tolerance);
}
template <class Body, int Q, class... S> void check_all(const char* name, string_list<S...>) { (check_string<Body, Q>(name, S{}), ...); }
/// All strings of a list on the body `name` of op_values.txt, whose argument has rank Q.
template <class Body, int Q, class List> void check_op(const char* name) { check_all<Body, Q>(name, List{}); }

}  // namespace gate
