// Evaluating reductions: fused with the expression they reduce, in every scalar kind.
#pragma once
#include "../ops/reduction.hpp"
#include "../run/reduce.hpp"
#include "../run/sums.hpp"
#include "fixed_elements.hpp"
#include "tensor.hpp"

TTENSOR_BEGIN

/// Scalar of a reduced array: integers widen to 64 bits.
template <class S> using reduced_scalar_t = reelem_t<S, reduced_t<elem_t<S>>>;
/// The same for a reduction that says what it gives.
template <class Red, class S> using reduction_scalar_t = reelem_t<S, typename Red::template result<elem_t<S>>>;
/// What its loop adds up in.
template <class Red, class Q> struct collected { using type = Q; };
template <class Red, class Q> requires(requires { typename Red::collects; })
struct collected<Red, Q> { using type = reelem_t<Q, collect_t<elem_t<Q>>>; };
template <class Red, class Q> using collected_t = typename collected<Red, Q>::type;

namespace reduce_detail {
template <class E> inline constexpr int chains_v = run::chains_of<program_of<E>>;  // as written: bits depend neither on what is merged nor on the kind of scalar
template <class Red, bool Columns, class S, class E> struct types {
  template <class List> struct with;
  template <class... L> struct with<type_list<L...>> {
    template <class Prog> using loop = run::reduce_kernel<Prog, chains_v<E>, Red, Columns, core_t<collected_t<Red, reduction_scalar_t<Red, S>>>, eval_detail::leaf_core<L>...>;
  };
  template <class Prog> using loop = typename with<leaves_of_t<E>>::template loop<Prog>;
  using kernel = loop<program_of<E>>;
  using statement = ttensor::statement<collected_t<Red, reduction_scalar_t<Red, S>>, E, E::rank, kernel, loop<typename merged<E>::program>>;
};

/// Strides of the output over the statement's axes: 0 on reduced axes, row-major over the others.
template <int Full, int R> dims<Full> output_strides(const dims<Full>& extent, const axis_set<R>& set) {
  dims<Full> s{};
  index_t n = 1;
  for (int d = Full - 1; d >= 0; --d) {
    const bool reduced = d >= Full - R && set.reduced[d - (Full - R)];
    s[d] = reduced || extent[d] == 1 ? 0 : n;
    if (!reduced) n *= extent[d];
  }
  return s;
}

template <class Red, bool Columns, class S, class E>
auto collect(const E& e, const dims<E::rank>& shape, const axis_set<E::rank>& set) -> store<collected_t<Red, reduction_scalar_t<Red, S>>> {
  using Q = collected_t<Red, reduction_scalar_t<Red, S>>;
  // the innermost axis may be a batch axis, which is never reduced
  using types = reduce_detail::types<Red, Columns || (batch_levels_v<S> > 0), S, E>;
  using kernel = typename types::kernel;
  const auto batch = batch_of<S>(e);
  typename types::statement st(e, batch, shape);
  dims<E::rank> kept = shape;
  for (int d = 0; d < E::rank; ++d)
    if (set.reduced[d]) kept[d] = 1;
  const index_t n = shape::elements(kept);
  store<Q> out = store<Q>::make(n, batch);
  const auto stride = reduce_detail::output_strides(st.extent, set);
  int k = 0;
  out.planes([&]<class T, int B>(std::type_identity<T>, T* p, const dims<B>&, const dims<B>&, mem::block*) {
    index_t total = n;
    for (int d = 0; d < B; ++d) total *= batch[d];
    const T start = k == 0 ? T(Red::template identity<T>()) : T(0);
    for (index_t i = 0; i < total; ++i) p[i] = start;
    st.set_output(k++, p, stride);
  });
  ++counts.loops;
  if constexpr (level_calls::tracked<Q, typename E::scalar>) st.calls.give(out);
  if (shape::size(st.extent) == 0) return out;
  run::is_one_call<st.full_rank>(st, kernel::sums) ? run::sum_flat<st.full_rank>(st) : run::sum_planned<st.full_rank>(st, kernel::sums, st.full_rank - E::rank);
  return out;
}
/// The same elements in another element type.
template <class Q, class W> store<Q> rounded(store<W>& wide) {
  store<Q> out = store<Q>::make(wide.size(), wide.batch());
  const void* from[run::max_planes];
  int k = 0;
  wide.planes([&](auto, const auto* p, const auto&, const auto&, mem::block*) { from[k++] = p; });
  k = 0;
  out.planes([&]<class T, int B>(std::type_identity<T>, T* to, const dims<B>& batch, const dims<B>&, mem::block*) {
    const auto* p = static_cast<const elem_t<W>*>(from[k++]);
    for (index_t i = 0, n = wide.size() * shape::size(batch); i < n; ++i) to[i] = static_cast<T>(static_cast<compute_t<T>>(p[i]));
  });
  return out;
}
}  // namespace reduce_detail

/// Reduces `e` (scalar S) over the axes in `set` into a fresh store.
template <class Red, bool Columns, class S, class E>
store<reduction_scalar_t<Red, S>> evaluate_reduction(const E& e, const dims<E::rank>& shape, const axis_set<E::rank>& set) {
  using Q = reduction_scalar_t<Red, S>;
  auto y = reduce_detail::collect<Red, Columns, S>(e, shape, set);
  if constexpr (std::is_same_v<decltype(y), store<Q>>) return y;
  else return reduce_detail::rounded<Q>(y);
}

namespace reduce_detail {
/// A reduction of numbers over all axes to one value in W.
template <class Red, class S, class W, class E> struct total_of {
  template <class List> struct with;
  template <class... L> struct with<type_list<L...>> {
    template <class Prog> using loop = run::reduce_kernel<Prog, chains_v<E>, Red, false, W, eval_detail::leaf_core<L>...>;
  };
  template <class Prog> using loop = typename with<leaves_of_t<E>>::template loop<Prog>;
  using kernel = loop<program_of<E>>;
  using names = merged<E>;
  using types = statement<W, E, E::rank, kernel, loop<typename names::program>>;
  static constexpr int R = E::rank;
  using operands = flat_operands<R, leaves_of_t<E>>;

  static constexpr bool few = operands::planes <= 8 && operands::same_rank;
  TTENSOR_INLINE static bool fits(const operands& o, index_t n) {
    return o.differs == 0 && n != 0 && n <= kernel::block && (kernel::pads || n >= kernel::N);
  }
  /// Few whole tensors of one shape and not too many elements: one call of the loop, decided in registers. False: nothing was done.
  TTENSOR_INLINE static bool run(W& value, const E& e) {
    typename operands::numbers numbers;
    const operands o(e, numbers);
    const index_t n = shape::size(o.extent);
    if (!fits(o, n)) return false;
    if constexpr (names::exists) {
      using second = loop<typename names::program>;
      if (o.template names_agree<names>(numbers)) return value = second::reduced(o.template call<typename second::row>(numbers, n)), true;
    }
    value = kernel::reduced(o.template call<typename kernel::row>(numbers, n));
    return true;
  }
  /// The same of adjacent elements, of which nothing is read behind the last.
  TTENSOR_INLINE static bool run_adjacent(W& value, const E& e) {
    adjacent_operands<R, leaves_of_t<E>> o(e, nullptr);
    const index_t n = o.size();
    if (TTENSOR_UNLIKELY(o.misfits != 0) || n == 0 || n > kernel::block) return false;
    if constexpr (names::exists)
      if (names::holds(e)) return run_as<loop<typename names::program>>(value, o.at, n, types::merged_constants), true;
    run_as<kernel>(value, o.at, n, types::constants);
    return true;
  }
  template <class K> TTENSOR_INLINE static void run_as(W& value, char** at, index_t n, const run::statement_type& type) {
    if (TTENSOR_LIKELY(n >= K::N)) {
      value = K::reduced(K::row::run(at, n));
    } else if constexpr (K::single::cheap && K::one_pack) {
      value = K::reduced(K::row::run_few(at, n));
    } else {
      at[0] = reinterpret_cast<char*>(&value);
      run::run_few(type, at, n, true);
    }
  }
  TTENSOR_NOINLINE static W planned(const E e) {  // a copy: the expression may live in registers
    W value = W(Red::template identity<W>());
    const auto shape = e.shape();
    const index_t n = shape::size(shape);
    if (n == 0) return value;
    const run::statement_type* type = &types::constants;
    if constexpr (names::exists)
      if (names::holds(e)) type = &types::merged_constants;
    types st(e, *type);
    eval_detail::set_extent<R>(st, dims<0>{}, shape);
    st.align();
    st.set_output(0, &value, dims<R>{});
    run::sum_planned<R>(st, kernel::sums, 0);
    return value;
  }
};
}  // namespace reduce_detail

/// The same over all axes, for numbers: the value itself.
template <class Red, class S, class E> TTENSOR_INLINE reduction_scalar_t<Red, S> reduce_all(const E& e) {
  using Q = reduction_scalar_t<Red, S>;
  using W = collected_t<Red, Q>;
  using total = reduce_detail::total_of<Red, S, W, E>;
  W value = W(Red::template identity<W>());
  ++counts.loops;
  bool done = false;
  using elements = fixed_elements<W, E>;
  if constexpr (elements::few) {
    using V = typename run::core_io<W, 1>::value;
    V sum = Red::template identity<V>();
    elements::each(e, [&](index_t, const auto& x) { sum = Red::combine(sum, convert_value<V>(x)); });
    char* const to = reinterpret_cast<char*>(&value);
    run::core_io<W, 1>::store(sum, &to);
    done = true;
  } else if constexpr (whole_tree<E>) {
    if constexpr (total::few) done = total::run(value, e);
  } else if constexpr (E::rank > 0 && all_fit_adjacent<E::rank>(leaves_of_t<E>{})) {
    done = total::run_adjacent(value, e);
  }
  if (!done) value = total::planned(e);
  if constexpr (std::is_same_v<Q, W>) return value;
  else return static_cast<Q>(static_cast<compute_t<Q>>(value));
}

/// How a linear reduction runs for scalar S; floors above specialise it to record.
template <class S> struct sum_rule {
  template <bool Columns, class E>
  static store<reduced_scalar_t<S>> evaluate(const E& e, const dims<E::rank>& shape, const axis_set<E::rank>& set) {
    return evaluate_reduction<sum_op, Columns, S>(e, shape, set);
  }
};

namespace reduce_detail {
template <int R> dims<R> reduced_shape_kept(const dims<R>& s, const axis_set<R>& set) {
  dims<R> e = s;
  for (int d = 0; d < R; ++d)
    if (set.reduced[d]) e[d] = 1;
  return e;
}
template <int Q, int R> dims<Q> reduced_shape(const dims<R>& s, const axis_set<R>& set) {
  dims<Q> e{};
  int k = 0;
  for (int d = 0; d < R; ++d)
    if (!set.reduced[d]) e[k++] = s[d];
  return e;
}
template <int R> index_t reduced_count(const dims<R>& shape, const axis_set<R>& set) {
  index_t n = 1;
  for (int d = 0; d < R; ++d) n *= set.reduced[d] ? shape[d] : 1;
  return n;
}
template <int R> axis_set<R + 1> below_batch(const axis_set<R>& s) {  // the same axes of arrays with one more leading axis
  axis_set<R + 1> b;
  for (int d = 0; d < R; ++d) b.reduced[d + 1] = s.reduced[d];
  return b;
}
}  // namespace reduce_detail

// ---- the call forms of every reduction: op(x), op(x, axis), op(x, axes{0, 2}), each also with keepdims ------------------
namespace reduce_detail {
template <class O> inline constexpr int named = -1;  // axes that an argument names; -1: it is something else
template <class O> requires shape::is_index_v<O> inline constexpr int named<O> = 1;
template <int N> inline constexpr int named<axes<N>> = N;
template <class O> inline constexpr bool is_keep = std::is_same_v<O, keepdims_t>;
template <class... O> constexpr int named_by() {
  int n = -1;
  ((n = named<O> >= 0 ? named<O> : n), ...);
  return n;
}
template <class I> requires shape::is_index_v<I> axes<1> as_axes(I axis) { return {{static_cast<index_t>(axis)}}; }
template <int N> const axes<N>& as_axes(const axes<N>& a) { return a; }
template <std::size_t N> axes<static_cast<int>(N)> as_axes(const index_t (&several)[N]) {
  axes<static_cast<int>(N)> a;
  for (std::size_t i = 0; i < N; ++i) a.v[i] = several[i];
  return a;
}
template <class S> struct scalar_of_store;
template <class S> struct scalar_of_store<store<S>> { using type = S; };

/// Integers as double, anything else as it is.
template <class E> auto as_real(const E& e) { return expr::operand<real_or_double_t<elem_t<typename E::scalar>>>(e); }
template <class How> inline constexpr bool has_total = requires { typename How::has_total; };  // total(e): all axes, numbers; counted(e): what finish then gets
/// How: name; run<Columns>(e, shape, set) -> store of the reduced values; finish(scalar or tensor, elements reduced to one).
template <class How, class A, class... O> auto reduce_numbers(const How& how, const A& a, const O&... o) {
  const auto& e = expr::read(a);
  constexpr int R = rank_v<decltype(e)>, N = named_by<O...>();
  constexpr bool keep = (is_keep<O> || ...);
  static_assert(N <= R, "ttensor: a reduction names more axes than the array has");
  static_assert(((named<O> >= 0) + ... + 0) <= 1, "ttensor: several axes of a reduction are one argument: sum(x, {0, 1})");
  if constexpr (N < 0 && !keep && depth_v<scalar_t<A>> == 0 && has_total<How>) {
    return how.finish(how.total(e), how.counted(e));
  } else {
    const auto shape = e.shape();
    axis_set<R> set = shape::every_axis<R>();
    ([&] {
      if constexpr (named<O> >= 0) set = shape::select_axes<R>(as_axes(o), How::name);
    }(), ...);
    const index_t count = reduced_count(shape, set);
    auto s = how.template run<(N >= 0 && N < R)>(e, shape, set);
    using Q = typename scalar_of_store<decltype(s)>::type;
    if constexpr (keep) return how.finish(tensor<Q, R>(static_cast<store<Q>&&>(s), reduced_shape_kept(shape, set)), count);
    else if constexpr (N >= 0 && R > N)
      return how.finish(tensor<Q, R - N>(static_cast<store<Q>&&>(s), reduced_shape<R - N>(shape, set)), count);
    else return how.finish(static_cast<store<Q>&&>(s).scalar(), count);
  }
}
/// A reduction that says in_float takes half and bfloat16 to float and only the result back: a mean may exist where the sum overflows.
template <class How> inline constexpr bool runs_in_float = requires { typename How::in_float; };
template <class T, class X> auto shortened(const X& x) {
  if constexpr (array_like<X>) return tensor<reelem_t<scalar_t<X>, T>, rank_v<X>>(apply<cast_op<T>>(x));
  else return apply<cast_op<T>>(x);
}
template <class How, class A, class... O> auto reduce(const How& how, const A& a, const O&... o) {
  using T = elem_t<scalar_t<A>>;
  if constexpr (expr::is_unfused_v<A>) return reduce(how, expr::apart(a), o...);
  else if constexpr (runs_in_float<How> && detail::is_short_float<T>)
    return shortened<T>(reduce_numbers(how, apply<cast_op<float>>(a), o...));
  else return reduce_numbers(how, a, o...);
}
template <class O> inline constexpr bool is_option = named<O> >= 0 || is_keep<O>;

struct sum_how {
  static constexpr const char* name = "sum";
  template <bool Columns, class E> static auto run(const E& e, const dims<E::rank>& shape, const axis_set<E::rank>& set) {
    return sum_rule<storage_scalar_t<typename E::scalar>>::template evaluate<Columns>(e, shape, set);
  }
  /// All of an array of numbers: no store for the one value.
  using has_total = void;
  template <class E> TTENSOR_INLINE static auto total(const E& e) { return reduce_all<sum_op, typename E::scalar>(e); }
  template <class E> TTENSOR_INLINE static index_t counted(const E&) { return 0; }
  template <class X> static X finish(X&& x, index_t) { return static_cast<X&&>(x); }
};
struct mean_how {
  static constexpr const char* name = "mean";
  using in_float = void;
  using has_total = void;
  template <bool Columns, class E>
  static auto run(const E& e, const dims<E::rank>& shape, const axis_set<E::rank>& set) {
    return sum_how::run<Columns>(reduce_detail::as_real(e), shape, set);
  }
  template <class E> TTENSOR_INLINE static auto total(const E& e) { return sum_how::total(reduce_detail::as_real(e)); }
  template <class E> static index_t counted(const E& e) { return shape::size(e.shape()); }
  template <class X> static X finish(X&& x, index_t n) {
    x /= static_cast<compute_t<real_t<elem_t<scalar_t<X>>>>>(n);
    return static_cast<X&&>(x);
  }
};
}  // namespace reduce_detail

/// fn(x), fn(x, axis), fn(x, axes{0, 1}), fn(x, {0, 1}), each also with keepdims. The last of the headers of reductions undefines it.
/// Shapes    over all axes a number, or the rank of x with extents 1 with keepdims; else x without the axes (with keepdims: 1 each)
/// Cost      one pass; sums are blocked, so that neither threads nor slices change the bits
/// Throws    axis_error [TT-A01, TT-A02]: an axis out of range, or twice
#define TTENSOR_REDUCTION(fn)                                                                                                                                       \
  template <array_like A, class... O> requires(reduce_detail::is_option<O> && ...) auto fn(const A& a, const O&... o) {                                             \
    return reduce_detail::reduce(reduce_detail::fn##_how{}, a, o...);                                                                                               \
  }                                                                                                                                                                 \
  template <array_like A, std::size_t N, class... O> requires(reduce_detail::is_option<O> && ...) auto fn(const A& a, const index_t (&several)[N], const O&... o) { \
    return fn(a, reduce_detail::as_axes(several), o...);                                                                                                            \
  }
// sum    integers in 64 bits (wrapping, uint64 of unsigned ones), half and bfloat16 in float; 0 of no element. Derivs: y_bar to every element
// mean   integers in double; NaN of no element. Derivs: y_bar / n
TTENSOR_REDUCTION(sum)
TTENSOR_REDUCTION(mean)
/// Of a scalar of a transform, as of an array of rank 0: what vmap leaves of a row of numbers.
template <scalar_kind S> S sum(const S& s) { return s; }
template <scalar_kind S> S mean(const S& s) { return s; }

TTENSOR_END
