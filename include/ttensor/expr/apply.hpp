// Applying an operator to anything.
#pragma once
#include "node.hpp"

// A rule without TTENSOR_HD would make an empty kernel, of which nvcc's warning is all that tells: rules of a device's values are called outside of the
// regions that silence it.
#if TTENSOR_DEVICE_CODE
TTENSOR_BEGIN
namespace expr {
template <class Op, class... A> TTENSOR_HD TTENSOR_INLINE constexpr auto device_primal(const A&... a) { return Op::primal(a...); }
template <class Op, class... A> TTENSOR_HD TTENSOR_INLINE constexpr auto device_partials(const A&... a) { return Op::partials(a...); }
}  // namespace expr
TTENSOR_END
#define TTENSOR_CALL_RULE(rule, ...) expr::call_##rule<Op>(__VA_ARGS__)
#else
#define TTENSOR_CALL_RULE(rule, ...) Op::rule(__VA_ARGS__)
#endif

TTENSOR_HD_BEGIN

// ---- the door: the one place that decides what applying an operator means -------------------------------------------
template <class T> struct cast_op;
struct real_op;
template <class S> struct kind_rule;  // kind_rule<dual<T>>::apply<Op>(args...): specialised by each kind

namespace expr {
#if TTENSOR_DEVICE_CODE
template <class Op, class... A> TTENSOR_HD TTENSOR_INLINE constexpr auto call_primal(const A&... a) {
  if constexpr ((simd::is_device_pack<A> || ...)) return device_primal<Op>(a...);
  else return Op::primal(a...);
}
template <class Op, class... A> TTENSOR_HD TTENSOR_INLINE constexpr auto call_partials(const A&... a) {
  if constexpr ((simd::is_device_pack<A> || ...)) return device_partials<Op>(a...);
  else return Op::partials(a...);
}
#endif
template <class A> TTENSOR_INLINE decltype(auto) plain(A&& a) {  // a proxy's value; anything else as it is
  if constexpr (element_proxy<A>) return a.get();
  else return static_cast<A&&>(a);
}
/// Element type for a mix of operands: strong ones (tensors, compound scalars) promote; C++ numbers are weak.
template <class T, class A> constexpr auto strong_step() {
  using S = elem_t<scalar_t<A>>;
  if constexpr (cpp_number<A>) return std::type_identity<T>{};
  else if constexpr (std::is_void_v<T>) return std::type_identity<S>{};
  else return std::type_identity<promote_t<T, S>>{};
}
template <class T, class A> constexpr auto weak_step() {
  if constexpr (cpp_number<A>) return std::type_identity<weak_t<T, std::remove_cvref_t<A>>>{};
  else return std::type_identity<T>{};
}
template <class T, class... A> struct common_elem { using type = T; };
template <class T, class A, class... R> struct common_elem<T, A, R...> : common_elem<typename decltype(strong_step<T, A>())::type, R...> {};
template <class T, class... A> struct weaken { using type = T; };
template <class T, class A, class... R> struct weaken<T, A, R...> : weaken<typename decltype(weak_step<T, A>())::type, R...> {};
template <class... A> using operand_elem_t = typename weaken<typename common_elem<void, A...>::type, A...>::type;

/// What an argument becomes inside a tree of element type T: arrays and expressions that are given up as they are, numbers and
/// scalars as leaves, other expressions as copies. A: the argument's type as a forwarding reference deduces it.
template <class T, class A, class D = std::remove_cvref_t<A>> inline constexpr bool fits_as_is_v =
    std::is_same_v<elem_t<scalar_t<D>>, T> && (array_object<D> || (expression<D> && !std::is_lvalue_reference_v<A>));
/// Complex numbers become real only behind a refusal (ops/family.hpp).
template <class T, class D> using conversion =
    std::conditional_t<is_complex_v<elem_t<scalar_t<D>>> && !is_complex_v<T> && !std::is_same_v<T, bool>, real_op,
                       cast_op<T>>;
/// A C++ number as a T.
template <class T, class A> TTENSOR_INLINE constexpr T weak_number(const A& a) {
  if constexpr (is_complex_v<T>) return T(static_cast<typename T::value_type>(a));
  else return static_cast<T>(a);
}
template <class T, class A> struct argument {
  using D = std::remove_cvref_t<A>;
  TTENSOR_INLINE static auto made(A&& a) {
    if constexpr (std::is_same_v<elem_t<scalar_t<D>>, T>) return as_expression(static_cast<A&&>(a));
    else return make_node<conversion<T, D>>(as_expression(static_cast<A&&>(a)));
  }
  using type = typename in_tree<decltype(made(std::declval<A>()))>::type;
  TTENSOR_INLINE static type take(std::remove_reference_t<A>& a) {
    auto x = made(static_cast<A&&>(a));
    return static_cast<type>(in_tree<decltype(x)>::take(x));
  }
};
template <class T, class A> requires fits_as_is_v<T, A> struct argument<T, A> : in_tree<std::remove_cvref_t<A>> {};
template <class T, cpp_number A> struct argument<T, A> {
  using type = scalar_leaf<T>;
  TTENSOR_INLINE static type take(const std::remove_cvref_t<A>& a) {
    return {weak_number<T>(a)};
  }
};
/// What element type T becomes when `A` is written into it: T, or what must be refused. C++ numbers are weak.
template <class T, class A> constexpr auto assigned() {
  using V = scalar_t<A>;
  if constexpr (!array_like<A> && cpp_number<V>) return std::type_identity<weak_t<T, V>>{};
  else return std::type_identity<promote_t<T, elem_t<V>>>{};
}
template <class Op, class T, class... A> struct builder;
template <class Op, class... T, class... A> struct builder<Op, type_list<T...>, A...> {
  using tree = node<Op, typename argument<T, A>::type...>;
  static tree build(A&&... a) { return {{argument<T, A>::take(a)...}}; }
};
/// The element types of the operands of Op over A.
template <class Op, class... A> using elements_t = typename Op::template operands<std::remove_cvref_t<A>...>;
template <class Op, class... A> using builder_t = builder<Op, elements_t<Op, A...>, A...>;
/// What Op of these arguments is where it builds a node that holds something: made from elements_t{} and the arguments.
template <class Op, class... A> using built = owned<typename builder_t<Op, A...>::tree>;
template <class Op, class... A> concept builds_owned =
    TTENSOR_FUSES && (array_like<A> || ...) && !(element_proxy<A> || ...) && (builder_t<Op, A...>::tree::holds > 0);
template <class E> struct evaluation;  // its `of(e)` is eval(e): tensor/operators.hpp
/// With TTENSOR_NO_FUSION an operand that is the result of an operator becomes an array first. Not over fixed tensors, whose extents would be lost, nor numbers made of
/// mapped integers, which would lose the levels that they may join.
template <class E> inline constexpr bool is_fixed_v = requires { E::extent_parameter; };
template <class Op, class... A> inline constexpr bool is_fixed_v<node<Op, A...>> = (is_fixed_v<A> || ...);
template <class E> inline constexpr bool is_unfused_v = !TTENSOR_FUSES && is_node_v<E> && !is_fixed_v<E> && !of_indices_v<E>;
template <class E> inline constexpr bool is_unfused_v<owned<E>> = is_unfused_v<E>;
template <class A> TTENSOR_INLINE decltype(auto) apart(A&& a) {
  if constexpr (is_unfused_v<std::remove_cvref_t<A>>) {
    auto y = evaluation<std::remove_cvref_t<A>>::of(a);
    if constexpr (!std::is_lvalue_reference_v<A> && requires { a.give_up(); }) a.give_up();  // its elements may be those that the statement writes
    return y;
  } else {
    return static_cast<A&&>(a);
  }
}
template <class Op, class... A> TTENSOR_INLINE auto build(A&&... a) {
  if constexpr ((is_unfused_v<std::remove_cvref_t<A>> || ...)) return build<Op>(apart(static_cast<A&&>(a))...);
  else if constexpr (builder_t<Op, A...>::tree::holds > 0) return built<Op, A...>(elements_t<Op, A...>{}, static_cast<A&&>(a)...);
  else return builder_t<Op, A...>::build(static_cast<A&&>(a)...);
}
/// `a` as an expression of element type T; one that is given up is passed on.
template <class T, class A> TTENSOR_INLINE decltype(auto) operand(A&& a) {
  using D = std::remove_cvref_t<A>;
  if constexpr (cpp_number<D>) return scalar_leaf<T>{weak_number<T>(a)};
  else if constexpr (!std::is_same_v<elem_t<scalar_t<D>>, T>) return make_node<cast_op<T>>(as_expression(static_cast<A&&>(a)));
  else if constexpr (expression<D> && !std::is_lvalue_reference_v<A>) return static_cast<D&&>(a);
  else return as_expression(static_cast<A&&>(a));
}
/// T for each of A.
template <class T, class... A> using for_each_operand = type_list<std::conditional_t<true, T, A>...>;
template <class A, class... R> constexpr auto deepest_of() {
  if constexpr (sizeof...(R) == 0) return std::type_identity<A>{};
  else {
    using rest = typename decltype(deepest_of<R...>())::type;
    if constexpr ((depth_v<rest> > depth_v<A> && !has_probe_v<A>) || has_probe_v<rest>) return std::type_identity<rest>{};
    else return std::type_identity<A>{};
  }
}
/// The scalar whose rule runs an operation: of the newest level. Mapped integers are newer than the kinds of a number that lacks their levels.
template <class A> inline constexpr bool is_mapped_integer_v = is_kind_v<A> && !has_probe_v<A> && !is_differentiable_v<elem_t<A>>;
template <class... A> constexpr auto newest_among() {
  if constexpr ((is_mapped_integer_v<A> || ...) && !(has_probe_v<A> || ...)) return std::type_identity<join_chain_t<double, A...>>{};
  else return deepest_of<A...>();
}
/// What C++ numbers adopt among numbers and packs, so that the literals of a rule are weak there too: the element type of a
/// pack, else (integers only) the floating type beside them; void: nothing.
template <class A> struct pack_element { using type = void; };
template <class T, int N> struct pack_element<pack<T, N>> { using type = T; };
template <class T, int N> struct pack_element<device_pack<T, N>> { using type = T; };
template <class... A> struct weak_target { using type = void; };
template <class A, class... R> struct weak_target<A, R...> { using type = typename decltype([] {
  using rest = typename weak_target<R...>::type;
  if constexpr (is_pack_v<A> && !std::is_same_v<typename pack_element<A>::type, bool>) return std::type_identity<A>{};
  else if constexpr (is_complex_v<A> || detail::is_short_float<A>) return std::type_identity<A>{};
  else if constexpr (!std::is_void_v<rest> || !std::is_floating_point_v<A>) return std::type_identity<rest>{};
  else return std::type_identity<A>{};
}())::type; };
TTENSOR_NO_EXEC_CHECK
template <class Target, class A> TTENSOR_HD TTENSOR_INLINE constexpr decltype(auto) adopt(const A& a) {
  if constexpr (!cpp_number<A> || is_complex_v<A> || std::is_void_v<Target> || std::is_same_v<A, bool>) return (a);
  else if constexpr (is_pack_v<Target>)
    return static_cast<typename pack_element<Target>::type>(
        static_cast<real_t<typename pack_element<Target>::type>>(a));
  else if constexpr (std::is_integral_v<A> || is_complex_v<Target> || detail::is_short_float<Target>)
    return static_cast<Target>(static_cast<real_t<Target>>(a));
  else return (a);
}
/// Whether an operand is as deep as S, the newest among them, and of other levels: neither sees the other.
template <class S, class A> inline constexpr bool crosses_v = depth_v<A> == depth_v<S> && !kinds::is_suffix<S, A>();
template <class S> inline constexpr bool crosses_v<S, S> = false;
}  // namespace expr

/// Applies an elementwise operator to anything: numbers and packs compute, scalar kinds follow their rule, arrays build a node.
template <class Op, class... A> TTENSOR_HD TTENSOR_INLINE constexpr auto apply(A&&... a) {
  if constexpr ((element_proxy<A> || ...)) {
    return apply<Op>(expr::plain(static_cast<A&&>(a))...);
  } else if constexpr ((array_like<A> || ...)) {
    return expr::build<Op>(static_cast<A&&>(a)...);
  } else {
    using S = typename decltype(expr::newest_among<std::remove_cvref_t<A>...>())::type;
    if constexpr (depth_v<S> == 0) return TTENSOR_CALL_RULE(primal, expr::adopt<typename expr::weak_target<std::remove_cvref_t<A>...>::type>(a)...);
    else if constexpr (Op::differentiable && (expr::crosses_v<S, std::remove_cvref_t<A>> || ...))
      return join_chain_t<elem_t<S>, S, std::remove_cvref_t<A>...>();  // says so
    else return kind_rule<S>::template apply<Op>(static_cast<A&&>(a)...);
  }
}

TTENSOR_HD_END
