// Compositions of the five transforms as function objects: nest<'G', 'V'>::of<body> is G(V(body)); see README.md.
#pragma once
#include <doctest/doctest.h>

#include <string>
#include <ttensor/all.hpp>

#include "gate_reader.hpp"

namespace gate {
namespace tt = ttensor;

template <class Y> auto shape_of(const Y& y) {
  if constexpr (tt::array_like<Y>) return y.shape();
  else return tt::dims<0>{};
}
/// The file's sequence `name` as an array of the given shape (a number for rank 0).
template <int R> auto sequence_like(const char* name, const tt::dims<R>& shape) {
  const auto& v = gate::gate_values().sequence(name);
  if constexpr (R == 0) {
    return v.at(0);
  } else {
    tt::tensor<double, R> t(shape);
    for (tt::index_t i = 0; i < t.size(); ++i) t.data()[i] = v.at(static_cast<std::size_t>(i));
    return t;
  }
}
template <class Y> auto weighted(const Y& y) {
  if constexpr (tt::rank_v<Y> == 0) return y * sequence_like("w", tt::dims<0>{});
  else return sum(y * sequence_like("w", shape_of(y)));
}

template <char Transform, class F> struct apply_one;
template <class F> struct apply_one<'G', F> {
  template <class X> auto operator()(const X& x) const { return tt::grad([](const auto& z) { return weighted(F{}(z)); })(x); }
};
template <class F> struct apply_one<'J', F> {
  template <class X> auto operator()(const X& x) const { return tt::jvp(F{}, x, sequence_like("v", shape_of(x))).y_dot; }
};
template <class F> struct apply_one<'V', F> {
  template <class X> auto operator()(const X& x) const { return tt::vmap(F{})(x); }
};
template <class F> struct apply_one<'F', F> {
  template <class X> auto operator()(const X& x) const { return tt::jacfwd(F{})(x); }
};
template <class F> struct apply_one<'R', F> {
  template <class X> auto operator()(const X& x) const { return tt::jacrev(F{})(x); }
};

template <class Body, char... T> struct composed;
template <class Body> struct composed<Body> { using type = Body; };
template <class Body, char T, char... R> struct composed<Body, T, R...> { using type = apply_one<T, typename composed<Body, R...>::type>; };

/// Input of a composition: the body's, with one axis for every V.
template <int R> auto input(const gate::table& t, const std::string& body, const std::string& string) {
  const gate::array a = t.input(body, string);
  if constexpr (R == 0) {
    return a.values.at(0);
  } else {
    tt::dims<R> e{};
    for (int d = 0; d < R; ++d) e[d] = static_cast<tt::index_t>(a.shape.at(static_cast<std::size_t>(d)));
    tt::tensor<double, R> x(e);
    for (tt::index_t i = 0; i < x.size(); ++i) x.data()[i] = a.values.at(static_cast<std::size_t>(i));
    return x;
  }
}
template <class Y> gate::array result(const Y& y) {
  gate::array a;
  if constexpr (tt::rank_v<Y> == 0) {
    a.values.push_back(static_cast<double>(y));
  } else {
    const auto e = tt::eval(y);
    for (int d = 0; d < e.rank(); ++d) a.shape.push_back(static_cast<std::size_t>(e.extent(d)));
    for (tt::index_t i = 0; i < e.size(); ++i) a.values.push_back(e.data()[i]);
  }
  return a;
}
/// Runs one composition against the stored values.
template <class Body, char... T> void check(const gate::table& t, const char* body) {
  const std::string string{T...};
  constexpr int R = Body::rank + ((T == 'V' ? 1 : 0) + ... + 0);
  INFO(body << " under " << string);
  const gate::array got = result(typename composed<Body, T...>::type{}(input<R>(t, body, string)));
  const gate::array want = t.value(body, string);
  CHECK(got.shape == want.shape);
  CHECK(gate::distance(got.values, want.values) <= 1e-12);
}

#ifdef GATE_OPTIMISED  // without F and R, which are V of J and of the pullback
inline constexpr int longest = 2;
inline constexpr bool jacobians = false;
#else
inline constexpr int longest = 3;
inline constexpr bool jacobians = true;
#endif
/// All strings of up to `longest` letters that begin with T....
template <class Body, char... T> void check_from(const char* body) {
  if constexpr (sizeof...(T) > 0) { check<Body, T...>(gate_values(), body); }
  if constexpr (sizeof...(T) < longest) {
    check_from<Body, T..., 'G'>(body), check_from<Body, T..., 'J'>(body), check_from<Body, T..., 'V'>(body);
    if constexpr (jacobians) { check_from<Body, T..., 'F'>(body), check_from<Body, T..., 'R'>(body); }
  }
}

/// All strings of one to `longest` letters, in one program, which compiles what they share once: 0.55 of what a program a letter takes.
template <class Body> void check_strings(const char* body) { check_from<Body>(body); }
}  // namespace gate
