// cholesky and triangular_solve: opaque operators, whose derivatives are written by hand with the same operators.
//   L L' = A          L_dot = L Phi(L^-1 A_dot L^-T)      A_bar = sym(L^-T Phi(L' L_bar) L^-1)      (Murray 2016, eq. 8 and 10)
//   A Z = B           Z_dot = A^-1 (B_dot - A_dot Z)       B_bar = A^-T Z_bar,  A_bar = -B_bar Z'      (Giles 2008, 2.3.1)
// Phi takes the lower triangle and halves the diagonal; sym(X) = (X + X') / 2.
#pragma once
#include "../run/linalg.hpp"
#include "contraction.hpp"

TTENSOR_BEGIN

namespace linalg_detail {
/// Ones in one triangle of an (n, n) matrix, `diagonal` on its diagonal.
template <class T> tensor<T, 2> triangle(index_t n, bool lower, T diagonal) {
  tensor<T, 2> t(n, n);
  T* p = t.data();
  for (index_t i = 0; i < n; ++i, p += n) {
    p[i] = diagonal;
    for (index_t j = lower ? 0 : i + 1, end = lower ? i : n; j < end; ++j) p[j] = T(1);
  }
  return t;
}
template <class A> auto mirrored(const A& a) {
  constexpr int R = rank_v<A>;
  return swapaxes(a, R - 2, R - 1);
}
template <int R> void check_square(const char* op, const dims<R>& e) {
  if (e[R - 2] != e[R - 1])
    raise<shape_error>(std::string("[") + op + "] the matrix is not square: " + shape::text(e) +
                       "; its last two extents must be equal [TT-S22]");
}
/// Where matrix i of a batch of extents e begins; leading axes of extent 1 are repeated.
template <int R> index_t matrix_offset(const layout_map<R>& m, const dims<R>& e, index_t i) {
  index_t at = m.offset;
  for (int d = R - 3; d >= 0; --d) {
    at += m.extent[d] == 1 ? 0 : i % e[d] * m.stride[d];
    i /= e[d];
  }
  return at;
}
/// Numbers the matrices of a batch: for messages.
inline std::string which(index_t i, index_t count) { return count > 1 ? " of matrix " + std::to_string(i) : std::string(); }
}  // namespace linalg_detail

/// op(a) z = b with a triangular a; operands of one rank, leading extents equal or 1.
struct triangular_solve_op {
  static constexpr const char* name = "triangular_solve";
  bool lower;
  bool zeros = false;  // b is a tangent or cotangent, whose exact zeros absorb inf and NaN

  triangular_solve_op batched() const { return *this; }

  template <class T, int R> tensor<T, R> primal(const leaf<T, R>& a, const leaf<T, R>& b) const {
    using C = compute_t<T>;
    if constexpr (!std::is_same_v<C, T>) {
      const tensor<C, R> wide_a = expr::operand<C>(a), wide_b = expr::operand<C>(b);
      return to<T>(primal(wide_a.as_leaf(), wide_b.as_leaf()));
    } else {
      dims<R> e = b.map.extent;
      for (int d = 0; d < R - 2; ++d)
        if (e[d] == 1) e[d] = a.map.extent[d];
      tensor<T, R> z = broadcast_to(b, e);
      const index_t n = e[R - 2], m = e[R - 1], count = n && m ? z.size() / (n * m) : 0;
      ++counts.loops;
      const auto& p = a.map;
      auto solve = [&](auto* substitute, T* to) {
        for (index_t i = 0; i < count; ++i)
          substitute(lower, n, m, a.data.base + linalg_detail::matrix_offset(p, e, i), p.stride[R - 2], p.stride[R - 1], to + i * n * m, m);
      };
      if (count == 0) return z;
      T* to = z.data();
      solve(run::substitute<T>, to);
      if (zeros && run::any_infinite(to, 1, z.size(), z.size(), 1)) {
        tensor<T, R> again = broadcast_to(b, e);
        solve(run::substitute_absorbing<T>, again.data());
        for (index_t i = 0; i < z.size(); ++i)
          if (to[i] != to[i]) to[i] = again.data()[i];
      }
      return z;
    }
  }
  template <int I, class D, class Y, class A, class B> auto jvp(const D& dx, const Y& z, const A& a, const B&) const {
    const triangular_solve_op of_tangent{lower, true};
    if constexpr (I == 0) return apply_array(of_tangent, a, apply<neg_op>(apply_array(matmul_op{0, zeros ? 3u : 1u}, in_triangle(dx), z)));
    else return static_cast<void>(z), apply_array(of_tangent, a, dx);
  }
  template <int I, class Ct, class Y, class A, class B> auto vjp(const Ct& ct, const Y& z, const A& a, const B& b) const {
    const auto w = apply_array(triangular_solve_op{!lower, true}, contraction_detail::exchanged(a), ct);
    if constexpr (I == 0)
      return static_cast<void>(b), in_triangle(apply<neg_op>(matmul_op{0, zeros ? 3u : 1u}.reduced_to(
                                       a.map.extent, w.as_leaf(), contraction_detail::exchanged(z))));
    else return array_detail::fitted(w, b.map.extent);
  }

 private:
  template <class X> auto in_triangle(const X& x) const {
    using T = elem_t<scalar_t<X>>;
    return apply<absorb_op>(linalg_detail::triangle<T>(x.shape()[rank_v<X> - 1], lower, T(1)), x);
  }
};

/// The lower Cholesky factor of the symmetric part of (..., n, n).
struct cholesky_op {
  static constexpr const char* name = "cholesky";

  cholesky_op batched() const { return *this; }

  template <class T, int R> tensor<T, R> primal(const leaf<T, R>& a) const {
    using C = compute_t<T>;
    if constexpr (!std::is_same_v<C, T>) {
      const tensor<C, R> wide = expr::operand<C>(a);
      return to<T>(primal(wide.as_leaf()));
    } else {
      const index_t n = a.map.extent[R - 1];
      tensor<T, R> y = uninitialized<T>(a.map.extent);
      const index_t count = n ? y.size() / (n * n) : 0;
      T* to = count ? y.data() : nullptr;
      ++counts.loops;
      for (index_t i = 0; i < count; ++i) {
        run::symmetric_part(n, a.data.base + linalg_detail::matrix_offset(a.map, a.map.extent, i), a.map.stride[R - 2],
                            a.map.stride[R - 1], to + i * n * n);
        const index_t bad = run::factor_cholesky(n, to + i * n * n, n);
        if (TTENSOR_UNLIKELY(bad >= 0))
          raise<domain_error>("[cholesky] not positive definite: pivot " + std::to_string(bad) +
                              linalg_detail::which(i, count) + " is " + std::to_string(to[i * n * n + bad * n + bad]) +
                              "; check the matrix or add a multiple of the identity [TT-D10]");
      }
      return y;
    }
  }
  template <int I, class D, class Y, class A> auto jvp(const D& dx, const Y& l, const A&) const {
    const triangular_solve_op solve{true, true};
    const auto half = apply_array(solve, l, symmetric(dx));
    const auto both = apply_array(solve, l, linalg_detail::mirrored(half));
    return apply_array(matmul_op{}.linear_in(1), l, phi(both));
  }
  template <int I, class Ct, class Y, class A> auto vjp(const Ct& ct, const Y& l, const A&) const {
    const auto up = contraction_detail::exchanged(l);
    const triangular_solve_op solve{false, true};
    const auto half = apply_array(solve, up, phi(apply_array(matmul_op{}.linear_in(1), up, ct)));
    return symmetric(apply_array(solve, up, linalg_detail::mirrored(half)));
  }

 private:
  template <class X> static auto phi(const X& x) {
    using T = elem_t<scalar_t<X>>;
    return apply<absorb_op>(linalg_detail::triangle<T>(x.shape()[rank_v<X> - 1], true, T(0.5f)), x);
  }
  template <class X> static auto symmetric(const X& x) {
    return apply<mul_op>(apply<add_op>(as_expression(x), as_expression(linalg_detail::mirrored(x))), 0.5);
  }
};

/// z with a z = b, a triangular; a' z = b when `transposed`. Only the lower triangle of a is read, or the upper one with lower =
/// false: for a Cholesky factor L, L' z = b is triangular_solve(L, b, true, true) or triangular_solve(transpose(L), b, false).
/// Shapes    a: (..., n, n)   b: (..., n, m) or a vector (n,)   ->   (..., n, m), (..., n);  broadcast: leading axes
/// Types     floating; integers are taken to double, half and bfloat16 computed in float
/// Domain    a zero on the diagonal gives inf and NaN
/// Derivs    jvp: a^-1 (b_dot - a_dot z)    vjp: b_bar += a^-T z_bar,  a_bar += triangle of -b_bar z'    saves: a, output
/// Cost      n^2 m flops and a copy of b
/// Throws    shape_error [TT-S22] not square; [TT-S02] [triangular_solve] inner extents differ: (3,3) x (2,), 3 != 2; [TT-S20]
/// Source    Giles (2008), Collected matrix derivative results, 2.3.1
template <array_like A, array_like B> auto triangular_solve(const A& a, const B& b, bool lower = true, bool transposed = false) {
  constexpr int ra = rank_v<A>, rb = rank_v<B>;
  static_assert(ra >= 2 && rb >= 1, "ttensor: triangular_solve takes a matrix (or a stack of them) and a matrix or vector");
  using T = real_or_double_t<expr::operand_elem_t<A, B>>;
  static_assert(is_floating_v<T>, "ttensor: triangular_solve of complex matrices is not there yet");
  const auto x = array_detail::as_array(expr::operand<T>(a));
  const auto z = array_detail::as_array(expr::operand<T>(b));
  const auto& as = x.map.extent;
  const auto& bs = z.map.extent;
  linalg_detail::check_square("triangular_solve", as);
  const index_t n = as[ra - 1], l = bs[rb > 1 ? rb - 2 : 0];
  if (n != l) contraction_detail::inner_extents("triangular_solve", as, bs, n, l);
  constexpr int R = ra > rb ? ra : rb;
  auto p = contraction_detail::with_rank<R>(x);
  if (transposed) p = contraction_detail::exchanged(p), lower = !lower;
  const auto q = contraction_detail::with_rank<R>([&] {
    if constexpr (rb == 1) return unsqueeze(z, 1);
    else return z;
  }());
  contraction_detail::check_leading("triangular_solve", p.map, q.map, 2, as, bs);
  auto y = apply_array(triangular_solve_op{lower}, p, q);
  if constexpr (rb > 1) {
    return y;
  } else {
    const auto full = y.shape();
    dims<R - 1> e{};
    for (int d = 0; d < R - 1; ++d) e[d] = full[d];
    return contraction_detail::reshaped(std::move(y), e);
  }
}
/// The lower triangular L with L L' = a, where a stands for its symmetric part; zeros above the diagonal.
/// Shapes    a: (..., n, n)   ->   (..., n, n)
/// Types     floating; integers are taken to double, half and bfloat16 computed in float
/// Domain    positive definite matrices
/// Derivs    jvp: L Phi(L^-1 a_dot L^-T)    vjp: a_bar += sym(L^-T Phi(L' L_bar) L^-1)    saves: output
/// Cost      n^3 / 3 flops
/// Throws    domain_error [TT-D10]: [cholesky] not positive definite: pivot 1 is -3.000000; shape_error [TT-S22] not square
/// Source    Murray (2016), Differentiation of the Cholesky decomposition
template <array_like A> auto cholesky(const A& a) {
  static_assert(rank_v<A> >= 2, "ttensor: cholesky takes a matrix or a stack of them");
  using T = real_or_double_t<elem_t<scalar_t<A>>>;
  static_assert(is_floating_v<T>, "ttensor: cholesky of complex matrices is not there yet");
  const auto x = array_detail::as_array(expr::operand<T>(a));
  linalg_detail::check_square("cholesky", x.map.extent);
  return apply_array(cholesky_op{}, x);
}

TTENSOR_END
