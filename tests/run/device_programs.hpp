// The programs that every test of the device seam runs: on the CPU, through PTX, on a GPU, through Thrust.
#pragma once
#include <ttensor/ops/cast.hpp>
#include <ttensor/ops/exponential.hpp>
#include <ttensor/run/device_back.hpp>

#include "../../examples/leaky_relu/leaky_relu.hpp"

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

/// The operator of an example, not of the library.
template <class X> auto leaky(const X& x) { return mine::leaky_relu(x, 0.125); }
}  // namespace test_programs
