// The programs that every test of the device seam runs: on the CPU, through PTX, on a GPU, through Thrust.
#pragma once
#include <ttensor/ops/cast.hpp>
#include <ttensor/ops/exponential.hpp>
#include <ttensor/run/device_back.hpp>

namespace test_programs {
using namespace ttensor;

/// exp(-x*x) * sqrt(x) + log(z), x read once: what `let` builds.
template <class X, class Z> auto chain(const X& x, const Z& z) {
  using S = typename X::scalar;
  const let_arg<0, 0, S, rank_v<X>> a{x.shape()};
  const let_arg<0, 1, S, rank_v<Z>> b{z.shape()};
  const auto body = apply<add_op>(apply<mul_op>(apply<exp_op>(apply<neg_op>(apply<mul_op>(a, a))), apply<sqrt_op>(a)), apply<log_op>(b));
  return let_node<0, std::remove_const_t<decltype(body)>, X, Z>{make_bundle(x, z), body};
}

/// Registered as a user would, outside the library.
struct leaky_relu_op : elementwise<1> {
  static constexpr const char* name = "leaky_relu";
  static constexpr unsigned reads(int) { return 1u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) {
    return apply<where_op>(apply<greater_op>(a, 0), a, apply<mul_op>(0.125, a));
  }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A& a, const Y&) {
    return grads{apply<where_op>(apply<greater_op>(a, 0), A(1), A(0.125f))};
  }
};
template <class X> auto leaky(const X& x) { return apply<leaky_relu_op>(x); }
}  // namespace test_programs
