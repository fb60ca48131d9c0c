// Kinds of scalars: what a transform wraps numbers in, and the traits every floor above asks.
//
// A scalar type is a *chain* of kinds around an element type: dual<var<double>> is the chain dual, var on double. The
// outermost kind is the newest level. The *core* of a scalar is what a loop computes with: var and batched removed (they
// become tape records and leading axes), duals kept.
#pragma once
#include "../num/traits.hpp"
#include "../shape/extents.hpp"

TTENSOR_BEGIN

struct host;       // space: main memory
struct row_major;  // layout

template <class T, int N = 1> struct dual;  // forward mode: value and N tangents
template <class T> struct var;              // reverse mode
template <class T, class Whole = void> struct basic_batched;  // vmap
template <class T> using batched = basic_batched<T>;
template <class T> struct probe;            // looks at types only, see transform/level.hpp
template <class T> struct plain_probe;      // the same of what has no derivatives, such as floor(x)
template <class T, auto Shape, class Space = host, class Layout = row_major> class tensor;
template <class S, int R, bool Owns> struct leaf;
template <class T, int N> struct pack;
template <class T, int N> struct device_pack;

/// What a scalar is made of. The primary template is an element type: a chain of length 0.
template <class S> struct scalar_traits {
  using elem = S;
  using inner = S;
  using core = S;
  template <class U> using reelem = U;            // the same chain on another element type
  template <class Q> using wrap = Q;              // the same chain around Q
  static constexpr int depth = 0;                 // kinds in the chain
  static constexpr int batch_levels = 0;          // batched kinds in the chain
  static constexpr int planes = 1;                // buffers of one value
  static constexpr bool has_var = false, has_probe = false, has_dual = false;
  static constexpr bool noted = false;            // an integer or mask that says the levels which it does not store, see basic_batched
};
template <class S> struct scalar_traits<const S> : scalar_traits<S> {};
namespace kinds {
template <class S, class T, template <class> class K> struct one {  // shared by the kinds that hold one inner value
  using inner = T;
  using elem = typename scalar_traits<T>::elem;
  using core = typename scalar_traits<T>::core;
  template <class U> using reelem = K<typename scalar_traits<T>::template reelem<U>>;
  template <class Q> using wrap = K<typename scalar_traits<T>::template wrap<Q>>;
  static constexpr int depth = 1 + scalar_traits<T>::depth;
  static constexpr int batch_levels = scalar_traits<T>::batch_levels;
  static constexpr int planes = scalar_traits<T>::planes;
  static constexpr bool has_var = scalar_traits<T>::has_var, has_probe = scalar_traits<T>::has_probe, has_dual = scalar_traits<T>::has_dual;
  static constexpr bool noted = scalar_traits<T>::noted;
};
}  // namespace kinds
template <class T, int N> struct scalar_traits<dual<T, N>> {
  using inner = T;
  using elem = typename scalar_traits<T>::elem;
  using core = dual<typename scalar_traits<T>::core, N>;
  template <class U> using reelem = dual<typename scalar_traits<T>::template reelem<U>, N>;
  template <class Q> using wrap = dual<typename scalar_traits<T>::template wrap<Q>, N>;
  static constexpr int depth = 1 + scalar_traits<T>::depth;
  static constexpr int batch_levels = scalar_traits<T>::batch_levels;
  static constexpr int planes = (1 + N) * scalar_traits<T>::planes;
  static constexpr bool has_var = scalar_traits<T>::has_var, has_probe = scalar_traits<T>::has_probe, has_dual = true,
                        noted = scalar_traits<T>::noted;
};
template <class T> struct scalar_traits<var<T>> : kinds::one<var<T>, T, var> {
  static constexpr bool has_var = true;
};
template <class T> struct scalar_traits<batched<T>> : kinds::one<batched<T>, T, batched> {
  static constexpr int batch_levels = 1 + scalar_traits<T>::batch_levels;
};
/// Integers and masks are stored without duals and tapes, so the type of what they hold does not show where those stood. Whole is their chain as
/// a number of double, where it has more: a number that is made of them is of these levels.
template <class T, class Whole> struct scalar_traits<basic_batched<T, Whole>> : scalar_traits<batched<T>> {
  template <class U> static constexpr auto on() {
    if constexpr (is_floating_v<U> || is_complex_v<U>) return std::type_identity<typename scalar_traits<Whole>::template reelem<U>>{};
    else return std::type_identity<basic_batched<typename scalar_traits<T>::template reelem<U>, Whole>>{};
  }
  template <class U> using reelem = typename decltype(on<U>())::type;
  static constexpr bool noted = true;
};
template <class T> struct scalar_traits<probe<T>> : kinds::one<probe<T>, T, probe> {
  static constexpr bool has_probe = true, has_var = false, has_dual = false;
  static constexpr int batch_levels = 0;
};
template <class T> struct scalar_traits<plain_probe<T>> : scalar_traits<probe<T>> {};

template <class S> using elem_t = typename scalar_traits<S>::elem;
template <class S> using core_t = typename scalar_traits<S>::core;
template <class S> using inner_t = typename scalar_traits<S>::inner;
template <class S, class U> using reelem_t = typename scalar_traits<S>::template reelem<U>;
template <class S> inline constexpr int depth_v = scalar_traits<S>::depth;
template <class S> inline constexpr int batch_levels_v = scalar_traits<S>::batch_levels;
template <class S> inline constexpr int planes_v = scalar_traits<S>::planes;
template <class S> inline constexpr bool has_var_v = scalar_traits<S>::has_var;
template <class S> inline constexpr bool has_probe_v = scalar_traits<S>::has_probe;
template <class S> inline constexpr bool noted_v = scalar_traits<S>::noted;

template <class S> inline constexpr bool is_dual_v = false;
template <class T, int N> inline constexpr bool is_dual_v<dual<T, N>> = true;
template <class S> inline constexpr bool is_var_v = false;
template <class T> inline constexpr bool is_var_v<var<T>> = true;
template <class S> inline constexpr bool is_batched_v = false;
template <class T, class W> inline constexpr bool is_batched_v<basic_batched<T, W>> = true;
template <class S> inline constexpr bool is_probe_v = false;
template <class T> inline constexpr bool is_probe_v<probe<T>> = true;
template <class T> inline constexpr bool is_probe_v<plain_probe<T>> = true;
template <class S> inline constexpr bool is_kind_v = depth_v<S> > 0;

template <class T> inline constexpr bool is_pack_v = false;
template <class T, int N> inline constexpr bool is_pack_v<pack<T, N>> = true;
template <class T, int N> inline constexpr bool is_pack_v<device_pack<T, N>> = true;

/// Element types that carry derivatives.
template <class T> inline constexpr bool is_differentiable_v = is_floating_v<T> || is_complex_v<T>;

/// Takes D kinds off the outside.
template <class S, int D> struct peel { using type = typename peel<inner_t<S>, D - 1>::type; };
template <class S> struct peel<S, 0> { using type = S; };

namespace kinds {
template <class A, class B> constexpr bool is_suffix() {  // the chain of B is the inner end of the chain of A
  if constexpr (depth_v<B> > depth_v<A>) return false;
  else return std::is_same_v<reelem_t<typename peel<A, depth_v<A> - depth_v<B>>::type, int>, reelem_t<B, int>>;
}
template <class S, int N> struct batched_times { using type = batched<typename batched_times<S, N - 1>::type>; };
template <class S> struct batched_times<S, 0> { using type = S; };
/// The chain that holds both scalars.
template <class A, class B> struct join {
  static constexpr bool a_deeper = depth_v<A> > depth_v<B> || (depth_v<A> == depth_v<B> && is_differentiable_v<elem_t<A>>);
  using deep = std::conditional_t<a_deeper, A, B>;
  using flat = std::conditional_t<a_deeper, B, A>;
  static constexpr bool numbers = is_differentiable_v<elem_t<A>> && is_differentiable_v<elem_t<B>>,
                        either = is_differentiable_v<elem_t<A>> || is_differentiable_v<elem_t<B>>;
  static_assert(!numbers || is_suffix<deep, flat>(),
                "ttensor: values of two different transform levels meet here, and the types do not show which is inside. A function "
                "captures an outer variable that its transform could not see: pass closing_over(x...) to the inner transform; or two duals made by hand have different numbers of tangents [TT-L01]");
  // What is stored without derivatives (masks, indices) and notes nothing has batched kinds only. The batch levels that it has more than the
  // number beside it count as newer than all kinds of that number: where its vmap did not see that variable.
  using number = std::conditional_t<is_differentiable_v<elem_t<A>>, A, B>;
  using mask = std::conditional_t<is_differentiable_v<elem_t<A>>, B, A>;
  static constexpr int newer = batch_levels_v<mask> > batch_levels_v<number> ? batch_levels_v<mask> - batch_levels_v<number> : 0;
  static constexpr bool lacks_kinds = either && !numbers && !is_suffix<deep, flat>();
  using chain = typename std::conditional_t<lacks_kinds, batched_times<number, newer>, std::type_identity<deep>>::type;
  // a number that is of no level does not make a mask's chain whole
  using type =
      reelem_t<chain,
               std::conditional_t<either && (lacks_kinds || is_differentiable_v<elem_t<deep>> || depth_v<flat> > 0),
                                  double, int>>;
};

/// An integer or mask on the chain Whole, which is one of numbers: without duals and tapes, with a note where that shows less.
template <class Whole, class T> struct noted { using type = T; };
template <class X, int N, class T> struct noted<dual<X, N>, T> : noted<X, T> {};
template <class X, class T> struct noted<var<X>, T> : noted<X, T> {};
template <class X, class T> struct noted<probe<X>, T> : noted<X, T> {};  // a mask of what is only looked at is of the levels that this has met
template <class X, class T> struct noted<batched<X>, T> {
  using inner = typename noted<X, T>::type;
  using type = std::conditional_t<std::is_same_v<reelem_t<batched<inner>, double>, batched<X>>, batched<inner>,
                                  basic_batched<inner, batched<X>>>;
};
/// The same without notes: where a level is taken off that they may name.
template <class S> struct unnoted { using type = S; };
template <class T, class W> struct unnoted<basic_batched<T, W>> { using type = batched<typename unnoted<T>::type>; };
template <class S> using unnoted_t = std::conditional_t<noted_v<S>, typename unnoted<S>::type, S>;
}  // namespace kinds

/// What a tensor of this scalar stores: masks and integers carry no duals and no tape, only batch axes, and note the levels between.
template <class S> struct storage_scalar { using type = S; };
template <class S> requires(is_kind_v<S> && !is_differentiable_v<elem_t<S>>)
struct storage_scalar<S> : kinds::noted<reelem_t<S, double>, elem_t<S>> {};
template <class T> struct storage_scalar<plain_probe<T>> { using type = probe<T>; };
template <class S> using storage_scalar_t = typename storage_scalar<S>::type;

namespace kinds {
// What an integer or mask notes counts as the levels of a number do; unless those have no place beside the other's, where one was taken off.
template <class S> using whole_t = std::conditional_t<noted_v<S>, reelem_t<S, double>, S>;
template <class A, class B> requires((noted_v<A> || noted_v<B>) && !is_probe_v<A> && !is_probe_v<B>) struct join<A, B> {
  using W = whole_t<A>;
  using V = whole_t<B>;
  static constexpr bool fit = !is_differentiable_v<elem_t<W>> || !is_differentiable_v<elem_t<V>> || is_suffix<W, V>() || is_suffix<V, W>();
  using chain = typename std::conditional_t<fit, join<W, V>, join<unnoted_t<A>, unnoted_t<B>>>::type;
  using type = std::conditional_t<is_differentiable_v<elem_t<A>> || is_differentiable_v<elem_t<B>>,
                                  reelem_t<chain, double>, storage_scalar_t<reelem_t<chain, int>>>;
};
// A probe stands for "some newer level" while a transform looks at types only: it keeps the deepest chain it has met.
template <class A> struct unprobe { using type = A; };
template <class A> struct unprobe<probe<A>> { using type = A; };
template <class A> struct unprobe<plain_probe<A>> { using type = A; };
template <class A, class B> requires(is_probe_v<A> || is_probe_v<B>) struct join<A, B> {
  using type = probe<typename join<typename unprobe<A>::type, typename unprobe<B>::type>::type>;
};
}  // namespace kinds

/// The chain that holds both scalars, on element type T. An operation runs at the newest level among its operands.
template <class T, class... S> struct join_chain;
template <class T, class S> struct join_chain<T, S> { using type = reelem_t<S, T>; };
template <class T, class A, class B, class... C> struct join_chain<T, A, B, C...>
    : join_chain<T, typename kinds::join<A, B>::type, C...> {};
template <class T, class... S> using join_chain_t = typename join_chain<T, S...>::type;

TTENSOR_END
