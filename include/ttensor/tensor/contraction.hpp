// matmul, dot, outer: one operator, whose derivatives are products again.
//
//   y = sum_s a_s b_s   over the summed leading axes s   ->   a_bar = y_bar b',  b_bar = a' y_bar   (b' = b with its last
// two axes exchanged), summed over the leading axes that the operand repeats.
#pragma once
#include <string>
#include "../run/contraction.hpp"
#include "fixed.hpp"
#include "reduce.hpp"
#include "shape_ops.hpp"

TTENSOR_BEGIN

namespace contraction_detail {
template <class S, int R> leaf<S, R> exchanged(leaf<S, R> l) {
  std::swap(l.map.extent[R - 2], l.map.extent[R - 1]);
  std::swap(l.map.stride[R - 2], l.map.stride[R - 1]);
  return l;
}
/// What the product of T is computed in: 32 or 64 bit integers (which wrap as T does), float for the short floats.
template <class T> constexpr auto computed() {
  if constexpr (is_integer_v<T> || std::is_same_v<T, bool>)
    return std::type_identity<std::conditional_t<(sizeof(T) <= 4), std::int32_t, std::int64_t>>{};
  else return std::type_identity<compute_t<T>>{};
}
template <class T> using computed_t = typename decltype(computed<T>())::type;
template <class T> inline constexpr bool has_kernel_v =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;
/// The product of one matrix and another, or a vector, of numbers.
template <class T, int P, int Q> struct product_of_two : run::product {
  const T *left, *right;
  bool turned;
  dims<P + Q - 2> extent{};
  product_of_two(const leaf<T, P>& a, const leaf<T, Q>& b) : left(a.data.base + a.map.offset), right(b.data.base + b.map.offset) {
    constexpr bool row = P == 1, column = Q == 1;
    const layout_map<P>& p = a.map;
    const layout_map<Q>& q = b.map;
    m = row ? 1 : p.extent[0], n = column ? 1 : q.extent[Q - 1], k = p.extent[P - 1];
    if constexpr (!row) extent[0] = m;
    if constexpr (!column) extent[P - 1] = n;
    a_row = row ? 0 : p.stride[0], a_col = p.stride[P - 1], b_row = q.stride[0], b_col = column ? 0 : q.stride[Q - 1], c_row = n;
    add = false;
    turned = turn_column();
    if (turned) std::swap(left, right);
  }
  void write(T* to) const { run::multiply<T>(*this, left, right, to); }
  tensor<T, P + Q - 2> result() const {
    tensor<T, P + Q - 2> y(store<T>::make(shape::elements(extent)), extent);
    ++counts.loops;
    if (y.size() != 0) write(y.data());
    return y;
  }
};
/// Whether the elements of several matrices lie between each other, so that each would be read from other cache lines than it needs.
template <int R> bool is_interleaved(const layout_map<R>& m) {
  const auto far = [](index_t stride) { return stride > 1 || stride < -1; };
  if (!far(m.stride[R - 2]) || !far(m.stride[R - 1]) || m.extent[R - 2] < 16 || m.extent[R - 1] < 16) return false;
  bool yes = false, repeated = false;
  for (int d = 0; d < R - 2; ++d) {
    repeated = repeated || (m.extent[d] != 1 && m.stride[d] == 0);
    yes = yes || (m.extent[d] >= 4 && !far(m.stride[d]));
  }
  return yes && !repeated;
}
}  // namespace contraction_detail

/// (..., m, k) x (..., k, n): operands of one rank and element type; leading extents are equal or 1.
struct matmul_op {
  static constexpr const char* name = "matmul";
  unsigned summed = 0;  // bit d: leading axis d is summed (and stays as extent 1)
  unsigned zeros = 0;   // bit i: operand i is a tangent or cotangent, whose exact zeros absorb inf and NaN

  matmul_op batched() const { return {summed << 1, zeros}; }
  /// With operand i in the place of a tangent or cotangent.
  matmul_op linear_in(int i) const { return {summed, zeros | 1u << i}; }

  template <class T, int R> tensor<T, R> primal(const leaf<T, R>& a, const leaf<T, R>& b) const {
    using C = contraction_detail::computed_t<T>;
    static_assert(R - 2 <= run::product_nest::max_axes, "ttensor: too many axes in one matmul");
    if constexpr (!std::is_same_v<C, T>) {
      const tensor<C, R> wide_a = expr::operand<C>(a), wide_b = expr::operand<C>(b);
      const tensor<C, R> y = primal(wide_a.as_leaf(), wide_b.as_leaf());
      if constexpr (std::is_same_v<T, bool>) return y != C(0);
      else return to<T>(y);
    } else if constexpr (R == 2 && contraction_detail::has_kernel_v<T>) {
      const contraction_detail::product_of_two<T, 2, 2> s(a, b);
      tensor<T, 2> y = s.result();
      if constexpr (!is_integer_v<T>)
        if (zeros != 0) run::absorb_zeros(s, s.turned ? (zeros >> 1 | zeros << 1) & 3u : zeros, s.left, s.right, y.data());
      return y;
    } else {
      if constexpr (R > 2) {
        if (contraction_detail::is_interleaved(a.map)) return primal(tensor<T, R>(a).as_leaf(), b);
        if (contraction_detail::is_interleaved(b.map)) return primal(a, tensor<T, R>(b).as_leaf());
      }
      run::product_nest s{};
      dims<R> e{};
      const auto& p = a.map;
      const auto& q = b.map;
      e[R - 2] = p.extent[R - 2];
      e[R - 1] = q.extent[R - 1];
      index_t c = e[R - 2] * e[R - 1];
      for (int d = R - 3; d >= 0; --d) {
        const index_t n = p.extent[d] == 1 ? q.extent[d] : p.extent[d];
        const bool sum = summed >> d & 1;
        e[d] = sum ? 1 : n;
        s.add_axis({n, p.extent[d] == 1 ? 0 : p.stride[d], q.extent[d] == 1 ? 0 : q.stride[d], sum ? 0 : c});
        if (!sum) c *= n;
      }
      for (int d = 0; d < s.rank / 2; ++d) std::swap(s.over[d], s.over[s.rank - 1 - d]);
      s.inner = {e[R - 2], e[R - 1], p.extent[R - 1], p.stride[R - 2], p.stride[R - 1], q.stride[R - 2], q.stride[R - 1], e[R - 1], false};
      tensor<T, R> y(store<T>::make(shape::elements(e)), e);
      ++counts.loops;
      if (shape::size(e) == 0) return y;
      s.simplify();
      T* to = y.data();
      const T *x = a.data.base + p.offset, *z = b.data.base + q.offset;
      if (s.turned) std::swap(x, z);
      run::each_product(s, [&](const run::product& one, index_t i, index_t j, index_t k) {
        if constexpr (contraction_detail::has_kernel_v<T>) run::multiply(one, x + i, z + j, to + k);
        else if constexpr (is_complex_v<T>) run::multiply_complex(one, x + i, z + j, to + k);
        else run::multiply_plain(one, x + i, z + j, to + k);
      });
      if constexpr (!is_integer_v<T>)
        if (zeros != 0) run::absorb_zeros(s, s.turned ? (zeros >> 1 | zeros << 1) & 3u : zeros, x, z, to, y.size());
      return y;
    }
  }
  template <int I, class D, class Y, class A, class B> auto jvp(const D& dx, const Y&, const A& a, const B& b) const {
    if constexpr (I == 0) return static_cast<void>(a), apply_array(linear_in(0), dx, b);
    else return static_cast<void>(b), apply_array(linear_in(1), a, dx);
  }
  /// da b + a db in one array; the rules' way where an exact zero may have to absorb something.
  template <class T> requires(contraction_detail::has_kernel_v<T>)
  tensor<T, 2> jvp_of_all(const leaf<T, 2>& da, const leaf<T, 2>& db, const leaf<T, 2>& a, const leaf<T, 2>& b) const {
    contraction_detail::product_of_two<T, 2, 2> second(a, db);
    tensor<T, 2> y = contraction_detail::product_of_two<T, 2, 2>(da, b).result();
    second.add = true;
    ++counts.loops;
    second.write(y.data());
    if (run::any_infinite(y.data(), 1, y.size(), y.size(), 1)) y = linear_in(0).primal(da, b) + linear_in(1).primal(a, db);
    return y;
  }
  template <int I, class Ct, class Y, class A, class B> auto vjp(const Ct& ct, const Y&, const A& a, const B& b) const {
    if constexpr (I == 0) return linear_in(0).reduced_to(a.map.extent, ct, contraction_detail::exchanged(b));
    else return linear_in(1).reduced_to(b.map.extent, contraction_detail::exchanged(a), ct);
  }
  /// x z, summed over the leading axes on which `e` has extent 1, repeated on those that both lack.
  template <int R, class X, class Z> auto reduced_to(const dims<R>& e, const X& x, const Z& z) const {
    matmul_op op{0, zeros};
    for (int d = 0; d < R - 2; ++d)
      if (e[d] == 1 && (x.map.extent[d] != 1 || z.map.extent[d] != 1)) op.summed |= 1u << d;
    auto y = apply_array(op, x, z);
    if constexpr (R == 2) return y;
    else return broadcast_to(y.as_leaf(), e);
  }
};

namespace contraction_detail {
template <class A, class B> [[noreturn]] TTENSOR_NOINLINE void inner_extents(const char* op, const A& a, const B& b, index_t k, index_t l) {
  raise<shape_error>(std::string("[") + op + "] inner extents differ: " + shape::text(a) + " x " + shape::text(b) +
                     ", " + std::to_string(k) + " != " + std::to_string(l) + " [TT-S02]");
}
/// The operand with leading axes of extent 1, so that both have one rank.
template <int R, class S, int Q> leaf<S, R> with_rank(const leaf<S, Q>& l) {
  leaf<S, R> r{l.data, {l.map.offset, {}, {}}};
  for (int d = 0; d < R - Q; ++d) r.map.extent[d] = 1;
  for (int d = 0; d < Q; ++d) r.map.extent[R - Q + d] = l.map.extent[d], r.map.stride[R - Q + d] = l.map.stride[d];
  return r;
}
/// A vector as a matrix of one column.
template <class S, int Q> const leaf<S, Q>& as_column(const leaf<S, Q>& l) { return l; }
template <class S> leaf<S, 2> as_column(const leaf<S, 1>& l) { return {l.data, {l.map.offset, {{l.map.extent[0], 1}}, {{l.map.stride[0], 0}}}}; }
template <int R, class A, class B>
void check_leading(const char* op, const layout_map<R>& a, const layout_map<R>& b, int core, const A& as, const B& bs) {
  for (int d = 0; d < R - core; ++d)
    if (a.extent[d] != b.extent[d] && a.extent[d] != 1 && b.extent[d] != 1)
      raise<shape_error>(std::string("[") + op + "] leading extents do not broadcast: " + shape::text(as) + " x " + shape::text(bs) + ", " +
                         std::to_string(a.extent[d]) + " and " + std::to_string(b.extent[d]) + "; they must be equal or 1 [TT-S20]");
}
template <class S, int R, int Q> tensor<S, Q> reshaped(tensor<S, R>&& t, const dims<Q>& e) {
  return tensor<S, Q>(static_cast<store<S>&&>(t.elements()), e);
}
/// Whether the summed axes of a product may be of one extent.
template <class A, class B> constexpr bool inner_extents_agree() {
  const index_t k = shape::shown_extent<A>(0), l = shape::shown_extent<B>(rank_v<B> > 1 ? 1 : 0);
  return k == dyn || l == dyn || k == l;
}
/// Fixed matrices and vectors of at most 64 floats or doubles each.
template <class A> inline constexpr bool is_small_fixed = false;
template <class T, auto Shape> requires((std::is_same_v<T, float> || std::is_same_v<T, double>) && shape::all_static<Shape>())
inline constexpr bool is_small_fixed<tensor<T, Shape>> = shape::rank_of<Shape>() <= 2 && shape::type_of<Shape>::static_size <= 64;
template <class A, class B> inline constexpr bool are_small_fixed =
    is_small_fixed<A> && is_small_fixed<B> && std::is_same_v<scalar_t<A>, scalar_t<B>>;
template <class A, class B> inline constexpr bool are_two = A::rank <= 2 && B::rank <= 2 && has_kernel_v<typename A::scalar> && has_kernel_v<typename B::scalar>;
/// Any other product, through the operator.
template <class S, class U, int P, int Q> auto of_stacks(const leaf<S, P>& x, const leaf<U, Q>& z) {
  constexpr int R = P > Q ? (P > 2 ? P : 2) : (Q > 2 ? Q : 2);
  const auto p = with_rank<R>(x);
  const auto q = with_rank<R>(as_column(z));
  check_leading("matmul", p.map, q.map, 2, x.map.extent, z.map.extent);
  auto y = apply_array(matmul_op{}, p, q);
  if constexpr (P > 1 && Q > 1) {
    return y;
  } else {
    const auto full = y.shape();
    dims<R - 1> e{};
    for (int d = 0; d < R - 2; ++d) e[d] = full[d];
    e[R - 2] = full[P == 1 ? R - 1 : R - 2];
    return reshaped(std::move(y), e);
  }
}
/// W neighbours of one row of a product, from a row of a and W columns of b.
template <int W, index_t k, index_t n, bool Unrolled, class T> TTENSOR_INLINE void product_at(const T* a, const T* b, T* y) {
  pack<T, W> sum(T(0));
  const auto step = [&](index_t p) __attribute__((always_inline)) { sum = fma(pack<T, W>(a[p]), pack<T, W>::load(b + p * n), sum); };
  if constexpr (Unrolled) static_for<static_cast<int>(k)>([&](auto p) __attribute__((always_inline)) { step(p()); });
  else
    for (index_t p = 0; p < k; ++p) step(p);
  sum.store(y);
}
/// The elements of a row from J on, by packs of W and then of half as many.
template <int W, index_t k, index_t n, index_t J, bool Unrolled, class T> TTENSOR_INLINE void product_row(const T* a, const T* b, T* y) {
  constexpr index_t count = (n - J) / W;
  static_for<static_cast<int>(count)>([&](auto j) __attribute__((always_inline)) {
    product_at<W, k, n, Unrolled>(a, b + J + j() * W, y + J + j() * W);
  });
  if constexpr (J + count * W < n) product_row<W / 2, k, n, J + count * W, Unrolled>(a, b, y);
}
/// Their product: loops of known length, and in each element one chain of multiply-adds, as in most products (run/matmul.hpp).
template <class A, class B> TTENSOR_INLINE auto fixed_product(const A& a, const B& b) {
  using T = scalar_t<A>;
  constexpr index_t k = shape::shown_extent<A>(0), m = rank_v<A> == 1 ? 1 : shape::shown_extent<A>(1), n = rank_v<B> == 1 ? 1 : shape::shown_extent<B>(0);
  std::conditional_t<rank_v<A> == 1, fixed<T, n>, std::conditional_t<rank_v<B> == 1, fixed<T, m>, fixed<T, m, n>>> y;
  ++counts.loops;
  constexpr index_t steps = k * (n / native_width_v<T> + n % native_width_v<T>);  // of a row
  auto row = [&](auto i) __attribute__((always_inline)) {
    product_row<native_width_v<T>, k, n, 0, (steps <= 128)>(a.data() + i * k, b.data(), y.data() + i * n);
  };
  if constexpr (m * steps <= 128) static_for<static_cast<int>(m)>([&](auto i) __attribute__((always_inline)) { row(i()); });
  else
    for (index_t i = 0; i < m; ++i) row(i);
  return y;
}
}  // namespace contraction_detail

/// Inner product of two vectors: the sum of their products, one fused pass also over expressions.
/// Shapes    a: (n,)   b: (n,)   ->   a scalar
/// Types     the promoted type; short floats are summed in float, integers wrap, bool: any(a and b)
/// Throws    shape_error [TT-S02]: [dot] inner extents differ: (3,) x (4,), 3 != 4
template <array_like A, array_like B> auto dot(const A& a, const B& b) {
  static_assert(rank_v<A> == 1 && rank_v<B> == 1, "ttensor: dot takes two vectors; use matmul for matrices");
  static_assert(contraction_detail::inner_extents_agree<A, B>(), "ttensor: dot of vectors whose types have different extents");
  const auto x = as_expression(a);
  const auto y = as_expression(b);
  const auto p = x.shape(), q = y.shape();
  if (p[0] != q[0]) contraction_detail::inner_extents("dot", p, q, p[0], q[0]);
  using T = expr::operand_elem_t<A, B>;
  if constexpr (std::is_same_v<T, bool>) {
    return any(apply<logical_and_op>(x, y));
  } else {
    auto total = sum(apply<mul_op>(x, y));
    if constexpr (std::is_same_v<elem_t<decltype(total)>, T>) return total;
    else if constexpr (depth_v<decltype(total)> == 0) return static_cast<T>(total);
    else return to<T>(total);
  }
}
/// The same of small fixed operands. In place: a result that a call leaves in memory waits for its stores when it is copied.
template <array_like A, array_like B> requires(contraction_detail::are_small_fixed<A, B> && rank_v<A> + rank_v<B> > 2)
TTENSOR_INLINE auto matmul(const A& a, const B& b) {
  static_assert(contraction_detail::inner_extents_agree<A, B>(), "ttensor: matmul of arrays whose types have different inner extents");
  return contraction_detail::fixed_product(a, b);
}
/// All products of the elements of two vectors.
/// Shapes    a: (m,)   b: (n,)   ->   (m, n)
template <array_like A, array_like B> auto outer(const A& a, const B& b) {
  static_assert(rank_v<A> == 1 && rank_v<B> == 1, "ttensor: outer takes two vectors");
  return apply<mul_op>(unsqueeze(as_expression(a), 1), unsqueeze(as_expression(b), 0));
}
/// Matrix product, as numpy.matmul.
/// Math      y_ij = sum_p a_ip b_pj
/// Shapes    a: (..., m, k)   b: (..., k, n)   ->   (..., m, n);  broadcast: leading axes. A vector a is a row, a vector b a
///           column, whose axis is removed from the result; of two vectors the result is dot(a, b), of small fixed operands a fixed tensor
/// Types     the promoted type: half and bfloat16 computed in float, integers wrap, bool: any(a and b)
/// Derivs    jvp: a_dot b + a b_dot    vjp: a_bar += y_bar b',  b_bar += a' y_bar    saves: inputs
/// Cost      2mnk flops; operands are read where they lie, large ones packed in blocks
/// Throws    shape_error [TT-S02]: [matmul] inner extents differ: (4,3) x (5,2), 3 != 5; [TT-S20]: leading extents
/// Source    Goto and van de Geijn (2008), Anatomy of high-performance matrix multiplication
template <array_like A, array_like B> auto matmul(const A& a, const B& b) {
  constexpr int ra = rank_v<A>, rb = rank_v<B>;
  static_assert(ra > 0 && rb > 0, "ttensor: matmul takes vectors, matrices and stacks of them; multiply by a scalar with *");
  static_assert(contraction_detail::inner_extents_agree<A, B>(), "ttensor: matmul of arrays whose types have different inner extents");
  if constexpr (ra == 1 && rb == 1) {
    const auto x = as_expression(a).shape(), y = as_expression(b).shape();
    if (x[0] != y[0]) contraction_detail::inner_extents("matmul", x, y, x[0], y[0]);
    return dot(a, b);
  } else {
    using T = expr::operand_elem_t<A, B>;
    const auto x = array_detail::as_array(expr::operand<T>(a));
    const auto z = array_detail::as_array(expr::operand<T>(b));
    const auto& as = x.map.extent;
    const auto& bs = z.map.extent;
    const index_t k = as[ra - 1], l = bs[rb > 1 ? rb - 2 : 0];
    if (k != l) contraction_detail::inner_extents("matmul", as, bs, k, l);
    if constexpr (contraction_detail::are_two<decltype(x), decltype(z)>) return contraction_detail::product_of_two<T, decltype(x)::rank, decltype(z)::rank>(x, z).result();
    else if constexpr (ra == 2 && rb == 2) return apply_array(matmul_op{}, x, z);
    else return contraction_detail::of_stacks(x, z);
  }
}

TTENSOR_END
