// max min prod logsumexp variance stddev norm any all count_nonzero argmax argmin softmax log_softmax.
//
// Linear reductions fuse in every mode (reduce.hpp). The others are array operators whose axes are members and whose result
// keeps the reduced axes with extent 1, so that derivative rules broadcast; the caller drops them.
#pragma once
#include "../run/softmax.hpp"
#include "arg_extremum.hpp"
#include "shape_ops.hpp"

TTENSOR_HD_BEGIN

namespace reduce_detail {
/// Sum over the axes of `set`, which stay with extent 1.
template <class E, int R> auto sum_kept(const E& x, const axis_set<R>& set) {
  const auto e = as_expression(x);
  const auto shape = e.shape();
  auto s = sum_how::run<true>(e, shape, set);
  using Q = typename scalar_of_store<decltype(s)>::type;
  return tensor<Q, R>(static_cast<store<Q>&&>(s), reduced_shape_kept(shape, set));
}

// ---- array operators --------------------------------------------------------------------------------------------------
template <class Red, int R> struct extremum {
  axis_set<R> set;
  static constexpr const char* name = Red::name;
  extremum<Red, R + 1> batched() const { return {below_batch(set)}; }
  template <bool Columns = true, class E> auto run(const E& a) const {
    const auto shape = a.shape();
    refuse_empty(name, shape, set);
    using T = typename E::scalar;
    if constexpr (std::is_same_v<T, bool>) {
      const auto wide = expr::operand<int>(a);
      tensor<int, R> y(evaluate_reduction<Red, Columns, int>(wide, shape, set), reduced_shape_kept(shape, set));
      return tensor<bool, R>(apply<not_equal_op>(y, 0));
    } else {
      return tensor<T, R>(evaluate_reduction<Red, Columns, T>(a, shape, set), reduced_shape_kept(shape, set));
    }
  }
  template <class E> auto primal(const E& a) const { return run(a); }
  /// Where a is the extremum; a NaN result is shared by the NaN elements.
  template <class Y, class A> static auto chosen(const Y& y, const A& a) {
    return apply<logical_or_op>(apply<equal_op>(a, y), apply<not_equal_op>(a, a));
  }
  template <class Y, class A> auto ties(const Y& y, const A& a) const {
    return sum_kept(to<elem_t<typename A::scalar>>(chosen(y, a)), set);
  }
  template <int, class X, class Y, class A> auto jvp(const X& dx, const Y& y, const A& a) const {
    return eval(apply<div_op>(sum_kept(apply<where_op>(chosen(y, a), dx, 0), set), ties(y, a)));
  }
  template <int, class X, class Y, class A> auto vjp(const X& ct, const Y& y, const A& a) const {
    return apply<where_op>(chosen(y, a), apply<div_op>(ct, ties(y, a)), 0);
  }
};

// Products of all elements but one, by a tree of pairs: exact with zeros, O(n), and made of multiplications only, so every
// further derivative is right. x: (rows, n).
template <class A> auto exclusive_products(const A& x) {
  using S = storage_scalar_t<typename A::scalar>;
  const index_t m = x.shape()[0], n = x.shape()[1], h = n / 2;
  tensor<S, 2> out(m, n);
  if (n <= 1) {
    out(ellipsis) = 1;
    return out;
  }
  const leaf<S, 2> all_of = array_detail::as_array(x);
  auto part = [&](index_t a, index_t b) { return leaf<S, 2>{all_of.data, shape::slice(all_of.map, all, range(a, b))}; };
  tensor<S, 2> pairs(m, n - h);
  pairs(all, range(0, h)) = part(0, h) * part(h, 2 * h);
  if (n % 2) pairs(all, range(h, h + 1)) = part(n - 1, n);
  const tensor<S, 2> outer = exclusive_products(pairs.as_leaf());
  out(all, range(0, h)) = outer(all, range(0, h)) * part(h, 2 * h);
  out(all, range(h, 2 * h)) = outer(all, range(0, h)) * part(0, h);
  if (n % 2) out(all, range(n - 1, n)) = outer(all, range(h, h + 1));
  return out;
}
template <int R> struct product {
  axis_set<R> set;
  static constexpr const char* name = "prod";
  product<R + 1> batched() const { return {below_batch(set)}; }
  template <bool Columns = true, class E> auto run(const E& a) const {
    const auto shape = a.shape();
    using T = typename E::scalar;
    return tensor<reduced_t<T>, R>(evaluate_reduction<prod_op, Columns, T>(a, shape, set), reduced_shape_kept(shape, set));
  }
  template <class E> auto primal(const E& a) const { return run(a); }
  template <class A> auto others(const A& a) const {  // of the shape of a
    index_t order[R > 0 ? R : 1], back[R > 0 ? R : 1];
    int k = 0;
    for (int pass = 0; pass < 2; ++pass)
      for (int d = 0; d < R; ++d)
        if (set.reduced[d] == (pass == 1)) order[k++] = d;
    for (int d = 0; d < R; ++d) back[order[d]] = d;
    const auto moved = view_detail::remap(a, [&](const layout_map<R>& m) { return view_detail::permuted(m, order, name); });
    const auto shape = moved.shape();
    const index_t n = reduced_count(a.shape(), set), m = n ? shape::size(shape) / n : 0;
    auto flat = exclusive_products(ttensor::reshape<2>(moved, dims<2>{{m, n}}));
    auto full = ttensor::reshape<R>(flat.as_leaf(), shape);
    return view_detail::remap(full, [&](const layout_map<R>& q) { return view_detail::permuted(q, back, name); });
  }
  template <int, class X, class Y, class A> auto jvp(const X& dx, const Y&, const A& a) const {
    return sum_kept(apply<absorb_op>(dx, others(a)), set);
  }
  template <int, class X, class Y, class A> auto vjp(const X& ct, const Y&, const A& a) const { return apply<absorb_op>(ct, others(a)); }
};

// Functions of rows, which are the last axes, from elements in row-major order; `to`: shape of the results.
template <class T> inline constexpr bool has_row_functions = std::is_same_v<T, float> || std::is_same_v<T, double>;
template <int R> bool are_rows(const axis_set<R>& s) {
  for (int d = 1; d < R; ++d)
    if (s.reduced[d - 1] && !s.reduced[d]) return false;
  return R > 0 && s.reduced[R - 1];
}
template <class T, int R> tensor<T, R> of_rows(const leaf<T, R>& a, const axis_set<R>& set, const dims<R>& to,
                                               void (*f)(const T*, T*, index_t, index_t)) {
  const auto shape = a.shape();
  const index_t all = shape::size(shape), n = reduced_count(shape, set);
  tensor<T, R> y(store<T>::make(shape::size(to)), to);
  ++counts.loops;
  if (!all) return y(ellipsis) = -std::numeric_limits<T>::infinity(), y;  // the logarithm of an empty sum
  const bool packed = a.map.stride == shape::row_major(shape);
  const tensor<T, R> copy = packed ? tensor<T, R>() : tensor<T, R>(a);
  f(packed ? a.data.base + a.map.offset : copy.data(), y.data(), all / n, n);
  return y;
}
/// The largest elements, which exponentials are taken from; 0 where they are not finite.
template <class E, int R> auto peaks(const E& a, const axis_set<R>& set) {  // plain numbers
  using T = typename E::scalar;
  const auto shape = a.shape();
  tensor<T, R> m(evaluate_reduction<max_op, true, T>(a, shape, set), reduced_shape_kept(shape, set));
  m = apply<where_op>(apply<isfinite_op>(m), m, 0);
  return m;
}
template <class E, int R> auto log_sum_exp(const E& a, const axis_set<R>& set) {  // plain numbers
  using T = typename E::scalar;
  if constexpr (has_row_functions<T>)
    if (are_rows(set)) return of_rows(a, set, reduced_shape_kept(a.shape(), set), run::softmax_rows<T>::logsumexp);
  const auto m = peaks(a, set);
  return tensor<T, R>(log(sum_kept(exp(a - m), set)) + m);
}
template <class S> S divisor(const S& sums) { return apply<where_op>(apply<equal_op>(sums, 0), 1, sums); }  // 1 where a row is all -inf
template <int R> struct softmax_operator {
  axis_set<R> set;
  static constexpr const char* name = "softmax";
  softmax_operator<R + 1> batched() const { return {below_batch(set)}; }
  template <class E> auto primal(const E& a) const {
    using T = typename E::scalar;
    if constexpr (has_row_functions<T>)
      if (are_rows(set)) return of_rows(a, set, a.shape(), run::softmax_rows<T>::softmax);
    tensor<T, R> e = exp(a - peaks(a, set));
    e /= divisor(sum_kept(e, set));
    return e;
  }
  // dy = y (dx - sum(y dx)); the map is symmetric
  template <class X, class Y> auto linear(const X& x, const Y& y) const {
    return apply<absorb_op>(apply<sub_op>(x, sum_kept(apply<absorb_op>(x, y), set)), y);
  }
  template <int, class X, class Y, class A> auto jvp(const X& dx, const Y& y, const A&) const { return eval(linear(dx, y)); }
  template <int, class X, class Y, class A> auto vjp(const X& ct, const Y& y, const A&) const { return linear(ct, y); }
};
template <int R> struct log_sum_exp_operator {
  axis_set<R> set;
  static constexpr const char* name = "logsumexp";
  log_sum_exp_operator<R + 1> batched() const { return {below_batch(set)}; }
  template <class E> auto primal(const E& a) const { return log_sum_exp(a, set); }
  // the weights of the sum; exp(a - y) would lose digits where |y| is large
  template <class A> auto weights(const A& a) const { return apply_array(softmax_operator<R>{set}, a); }
  template <int, class X, class Y, class A> auto jvp(const X& dx, const Y&, const A& a) const {
    return sum_kept(apply<absorb2_op>(dx, weights(a)), set);
  }
  template <int, class X, class Y, class A> auto vjp(const X& ct, const Y&, const A& a) const { return apply<absorb_op>(ct, weights(a)); }
};
template <int R> struct log_softmax_operator {
  axis_set<R> set;
  static constexpr const char* name = "log_softmax";
  log_softmax_operator<R + 1> batched() const { return {below_batch(set)}; }
  template <class E> auto primal(const E& a) const {
    using T = typename E::scalar;
    if constexpr (has_row_functions<T>)
      if (are_rows(set)) return of_rows(a, set, a.shape(), run::softmax_rows<T>::log_softmax);
    const auto m = peaks(a, set);
    const tensor<T, R> l = log(divisor(sum_kept(exp(a - m), set)));
    return tensor<T, R>(a - m - l);  // log_sum_exp(a), rounded, would lose digits where |a| is large
  }
  template <int, class X, class Y, class A> auto jvp(const X& dx, const Y& y, const A&) const {
    return eval(apply<sub_op>(dx, sum_kept(apply<absorb_op>(dx, apply<exp_op>(y)), set)));
  }
  template <int, class X, class Y, class A> auto vjp(const X& ct, const Y& y, const A&) const {
    return apply<sub_op>(ct, apply<absorb_op>(sum_kept(ct, set), apply<exp_op>(y)));
  }
};

// ---- how the public functions run ---------------------------------------------------------------------------------------
struct plain_finish {
  template <class X> static X finish(X&& x, index_t) { return static_cast<X&&>(x); }
};
/// The elements of a tensor that is no longer needed.
template <class Y> auto taken(Y y) { return std::remove_cvref_t<decltype(y.elements())>(std::move(y.elements())); }
/// Complex numbers where an order is needed: one sentence, and a type that compiles.
template <class X> auto refused_complex(const X& x) {
  return apply<cast_op<typename ops::real_number<elem_t<scalar_t<X>>>::type>>(apply<real_op>(x));
}
/// An array operator: numbers fused with their producer where it can, other kinds through its rules. Ordered: not of complex numbers.
template <template <int> class Op, bool Real, bool Ordered = false> struct operator_how : plain_finish {
  static constexpr const char* name = Op<1>::name;
  template <bool Columns, class E> static auto run(const E& x, const dims<E::rank>&, const axis_set<E::rank>& set) {
    using T = elem_t<scalar_t<E>>;
    const Op<E::rank> op{set};
    auto e = [&] {
      if constexpr (Ordered && is_complex_v<T>) return refused_complex(x);
      else if constexpr (Real) return as_real(x);
      else return x;
    }();
    if constexpr (depth_v<storage_scalar_t<typename decltype(e)::scalar>> > 0) return taken(apply_array(op, e));
    else if constexpr (requires { op.template run<Columns>(e); }) return taken(op.template run<Columns>(e));
    else return taken(op.primal(array_detail::as_array(e)));
  }
};
template <int R> using max_operator = extremum<max_op, R>;
template <int R> using min_operator = extremum<min_op, R>;
template <int R> using argmax_operator = arg_extremum<greater_op, less_equal_op, R>;
template <int R> using argmin_operator = arg_extremum<less_op, greater_equal_op, R>;

/// Squares of real numbers, |z|^2 of complex ones.
template <class E> auto squares(const E& e) {
  return apply<std::conditional_t<is_complex_v<elem_t<scalar_t<E>>>, abs_square_op, square_op>>(e);
}
struct variance_how {
  static constexpr const char* name = "variance";
  using in_float = void;
  template <bool Columns, class E> static auto run(const E& x, const dims<E::rank>& shape, const axis_set<E::rank>& set) {
    const auto a = array_detail::as_array(as_real(x));
    const auto centre = mean_how::finish(sum_kept(a, set), reduced_count(shape, set));
    const auto d = a - centre;
    return sum_how::run<Columns>(squares(d), shape, set);
  }
  using has_total = void;
  template <class E> static auto total(const E& x) {
    const auto a = array_detail::as_array(as_real(x));
    return sum_how::total(squares(a - mean_how::finish(sum_how::total(a), counted(a))));
  }
  template <class E> static index_t counted(const E& e) { return mean_how::counted(e); }
  template <class X> static X finish(X&& x, index_t n) { return mean_how::finish(static_cast<X&&>(x), n); }
};
/// sqrt whose derivative at 0 is 0: the root of a sum of squares.
struct root_op : real_elementwise<1> {
  static constexpr const char* name = "root";
  static constexpr unsigned reads(int) { return 2u; }
  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr auto primal(const A& a) { return math::sqrt(a); }
  template <class A, class Y> TTENSOR_HD TTENSOR_INLINE static constexpr auto partials(const A&, const Y& y) {
    const auto zero = ops::is_equal(y, 0);
    return grads{ops::choose(zero, 0, ops::over(0.5, ops::choose(zero, 1, y)))};
  }
};
template <class X> auto root(const X& x) {
  if constexpr (array_like<X>) return eval(apply<root_op>(x));
  else return apply<root_op>(x);
}
struct stddev_how : variance_how {
  static constexpr const char* name = "stddev";
  template <class X> static auto finish(X&& x, index_t n) { return root(variance_how::finish(static_cast<X&&>(x), n)); }
};
struct norm_how {
  static constexpr const char* name = "norm";
  using in_float = void;
  template <bool Columns, class E> static auto run(const E& x, const dims<E::rank>& shape, const axis_set<E::rank>& set) {
    return sum_how::run<Columns>(squares(as_real(x)), shape, set);
  }
  using has_total = void;
  template <class E> TTENSOR_INLINE static auto total(const E& x) { return sum_how::total(squares(as_real(x))); }
  template <class E> static index_t counted(const E&) { return 0; }
  template <class X> static auto finish(X&& x, index_t) { return root(x); }
};
/// Counts elements that are (Zero: are not) different from 0; Flag: whether there are any, as a mask.
template <bool Zero, int Flag> struct count_how {
  static constexpr const char* name = Flag == 0 ? "count_nonzero" : Zero ? "all" : "any";
  template <class E> static auto counted_ones(const E& x) {  // masks as they are: no comparison in another type
    if constexpr (!std::is_same_v<elem_t<typename E::scalar>, bool>) return apply<std::conditional_t<Zero, equal_op, not_equal_op>>(x, 0);
    else if constexpr (Zero) return apply<logical_not_op>(x);
    else return x;
  }
  template <bool Columns, class E> static auto run(const E& x, const dims<E::rank>& shape, const axis_set<E::rank>& set) {
    return sum_how::run<Columns>(counted_ones(x), shape, set);
  }
  using has_total = void;
  template <class E> static auto total(const E& x) { return sum_how::total(counted_ones(x)); }
  template <class E> static index_t counted(const E&) { return 0; }
  template <class X> static auto finish(X&& x, index_t) {
    if constexpr (Flag == 0) return static_cast<std::remove_cvref_t<X>>(static_cast<X&&>(x));
    else if constexpr (array_like<X>) return eval(apply<std::conditional_t<Zero, equal_op, not_equal_op>>(x, 0));
    else return apply<std::conditional_t<Zero, equal_op, not_equal_op>>(x, 0);
  }
};
/// Of all numbers of an array the value itself.
template <template <int> class Op, class Red> struct extremum_how : operator_how<Op, false, true> {
  using has_total = void;
  template <class E> static auto total(const E& e) {
    using T = elem_t<scalar_t<E>>;
    if constexpr (is_complex_v<T>) {
      return total(refused_complex(e));
    } else if constexpr (std::is_same_v<T, bool>) {
      return total(expr::operand<int>(e)) != 0;
    } else {
      const auto y = reduce_all<Red, typename E::scalar>(e);
      using V = compute_t<decltype(y)>;
      if (static_cast<V>(y) == Red::template identity<V>()) refuse_empty(Red::name, e.shape(), shape::every_axis<E::rank>());  // that of no element
      return y;
    }
  }
  template <class E> static index_t counted(const E&) { return 0; }
};
using max_how = extremum_how<max_operator, max_op>;
using min_how = extremum_how<min_operator, min_op>;
struct prod_how : operator_how<product, false> {
  using has_total = void;
  template <class E> TTENSOR_INLINE static auto total(const E& e) { return reduce_all<prod_op, typename E::scalar>(e); }
  template <class E> static index_t counted(const E&) { return 0; }
};
struct logsumexp_how : operator_how<log_sum_exp_operator, true, true> {
  using in_float = void;
};
using argmax_how = operator_how<argmax_operator, false, true>;
using argmin_how = operator_how<argmin_operator, false, true>;
using count_nonzero_how = count_how<false, 0>;
using any_how = count_how<false, 1>;
template <template <int> class Op, class A> auto along(const A& a, index_t axis) {
  using T = elem_t<scalar_t<A>>;
  if constexpr (detail::is_short_float<T>) {
    return shortened<T>(along<Op>(apply<cast_op<float>>(a), axis));
  } else if constexpr (is_complex_v<T>) {
    return along<Op>(refused_complex(as_expression(a)), axis);
  } else {
    auto e = as_real(as_expression(a));
    constexpr int R = decltype(e)::rank;
    axis_set<R> set;
    set.reduced[shape::normalize_axis(axis, R, Op<R>::name)] = true;
    return apply_array(Op<R>{set}, e);
  }
}
}  // namespace reduce_detail

// max min           of real numbers; NaN if there is one; integers of their type. Derivs: shared evenly among the equal ones (with_index: to that one). Of no element: domain_error
// prod              Derivs: products of the others, so right beside zeros. Integers as sum
// logsumexp         log(sum(exp(x))) without overflow; -inf of no element. Derivs: softmax(x) y_bar
// argmax argmin     positions, int64, over all axes in row-major order: the first of equal ones, a NaN before all. Of no element: domain_error
// variance stddev   ddof 0: divided by n; real, of complex numbers too; NaN of no element. Integers in double. Derivs of stddev at 0: 0
// norm              the root of the sum of squares (no scaling: over- and underflows with them); real. Derivs at 0: 0
// count_nonzero any all   int64 and bool
TTENSOR_REDUCTION(max)
TTENSOR_REDUCTION(min)
TTENSOR_REDUCTION(prod)
TTENSOR_REDUCTION(logsumexp)
TTENSOR_REDUCTION(argmax)
TTENSOR_REDUCTION(argmin)
TTENSOR_REDUCTION(variance)
TTENSOR_REDUCTION(stddev)
TTENSOR_REDUCTION(norm)
TTENSOR_REDUCTION(count_nonzero)
TTENSOR_REDUCTION(any)
#undef TTENSOR_REDUCTION
/// all(x), all(x, axis), ...: whether every element is different from 0. (Uncalled, `all` is a slice.)
template <class A, class... O> auto all_t::operator()(const A& a, const O&... o) const {
  return reduce_detail::reduce(reduce_detail::count_how<true, 1>{}, a, o...);
}
template <class A, std::size_t N, class... O>
auto all_t::operator()(const A& a, const index_t (&several)[N], const O&... o) const {
  return (*this)(a, reduce_detail::as_axes(several), o...);
}

/// exp(x) / sum(exp(x)) along an axis, the last one if none is given, without overflow; zeros where the whole row is -inf.
/// Shapes    that of x    Types: floating; integers in double, half and bfloat16 in float, rounded at the end
/// Derivs    jvp: y (x_dot - sum(y x_dot))    vjp: x_bar += y (y_bar - sum(y y_bar))    saves: y
/// Throws    axis_error [TT-A01]
template <array_like A> auto softmax(const A& a, index_t axis = -1) {
  return reduce_detail::along<reduce_detail::softmax_operator>(a, axis);
}
/// log(softmax(x)), without overflow; -inf where the whole row is -inf. Shapes, types and errors as softmax.
/// Derivs    jvp: x_dot - sum(softmax(x) x_dot)    vjp: x_bar += y_bar - softmax(x) sum(y_bar)
template <array_like A> auto log_softmax(const A& a, index_t axis = -1) {
  return reduce_detail::along<reduce_detail::log_softmax_operator>(a, axis);
}

TTENSOR_HD_END
