// The public elementwise functions and operators, stamped once for tensors, expressions and every kind of scalar.
#pragma once
#include <limits>
#include <utility>
#include "../expr/let.hpp"
#include "../ops/list.hpp"
#include "tensor.hpp"

TTENSOR_BEGIN

/// What our operators take: an array, an expression, a scalar of a transform, an element proxy.
template <class A> concept operand = array_like<A> || scalar_kind<A> || element_proxy<A>;
template <class A> concept lanes = is_pack_v<std::remove_cvref_t<A>>;  // in the rule of an operator
template <class A> concept operand_or_number = operand<A> || number<std::remove_cvref_t<A>> || lanes<A>;

/// What functions take: half and bfloat16 also where the C++ library has the function, which it has not for them.
template <class A> concept short_float = detail::is_short_float<std::remove_cvref_t<A>>;
template <class A> concept function_operand = operand<A> || short_float<A> || lanes<A>;
template <class A> concept plain_float = math::detail::has_kernels<std::remove_cvref_t<A>>;
template <class A> concept function_operand_or_floating = function_operand<A> || plain_float<A>;

namespace expr {
template <class A> inline constexpr bool is_partly_static_v = false;
template <class S, auto Shape> inline constexpr bool is_partly_static_v<tensor<S, Shape>> = !shape::all_dynamic<Shape>();
/// Whether two tensors may broadcast, as far as their types show their extents.
template <class A, class B> constexpr bool may_broadcast() {
  if constexpr (is_partly_static_v<std::remove_cvref_t<A>> && is_partly_static_v<std::remove_cvref_t<B>>) {
    for (int d = 0; d < rank_v<A> && d < rank_v<B>; ++d) {
      const index_t a = shape::shown_extent<std::remove_cvref_t<A>>(d), b = shape::shown_extent<std::remove_cvref_t<B>>(d);
      if (a != b && a != dyn && b != dyn && a != 1 && b != 1) return false;
    }
  }
  return true;
}
}  // namespace expr
/// apply<Op>; where that builds a node, without a call of it, which would be compiled for every operator of a statement.
#define TTENSOR_APPLY_1(op, a)                                                                                                              \
  {                                                                                                                                         \
    if constexpr (expr::builds_owned<op, A>) return expr::built<op, A>(expr::elements_t<op, A>{}, static_cast<A&&>(a));                      \
    else return apply<op>(static_cast<A&&>(a));                                                                                             \
  }
#define TTENSOR_APPLY_2(op, a, b)                                                                                                           \
  {                                                                                                                                         \
    static_assert(expr::may_broadcast<A, B>(), "ttensor: the extents in the types of two tensors do not broadcast; they must be equal or 1, aligned from the right"); \
    if constexpr (expr::builds_owned<op, A, B>) return expr::built<op, A, B>(expr::elements_t<op, A, B>{}, static_cast<A&&>(a), static_cast<B&&>(b)); \
    else return apply<op>(static_cast<A&&>(a), static_cast<B&&>(b));                                                                        \
  }
#define TTENSOR_UNARY(fn, op) \
  template <operand A> TTENSOR_INLINE auto fn(A&& a) TTENSOR_APPLY_1(op, a)
#define TTENSOR_BINARY(fn, op)                                                                          \
  template <operand_or_number A, operand_or_number B> requires(operand<A> || operand<B>)                \
  TTENSOR_INLINE auto fn(A&& a, B&& b) TTENSOR_APPLY_2(op, a, b)

TTENSOR_BINARY(operator+, add_op)
TTENSOR_BINARY(operator-, sub_op)
TTENSOR_BINARY(operator*, mul_op)
TTENSOR_BINARY(operator/, div_op)
TTENSOR_BINARY(operator==, equal_op)
TTENSOR_BINARY(operator!=, not_equal_op)
TTENSOR_BINARY(operator<, less_op)
TTENSOR_BINARY(operator<=, less_equal_op)
TTENSOR_BINARY(operator>, greater_op)
TTENSOR_BINARY(operator>=, greater_equal_op)
TTENSOR_BINARY(operator&&, logical_and_op)
TTENSOR_BINARY(operator||, logical_or_op)
TTENSOR_BINARY(operator%, remainder_op)
TTENSOR_UNARY(operator-, neg_op)
TTENSOR_UNARY(operator!, logical_not_op)
namespace expr {
/// pow(2.0, 3), minimum(x, 0.5) of a float x: numbers of two types, as doubles. Conversions to these rank below any function of std that competes for the same call,
/// so that `using namespace` of both is not ambiguous; templates, so that nothing is compiled before it is called.
struct float_as_double {
  double value;
  template <plain_float F> constexpr float_as_double(F x) : value(static_cast<double>(x)) {}
};
struct integer_as_double {
  double value;
  template <std::integral I> requires(!std::is_same_v<I, bool>) constexpr integer_as_double(I x) : value(static_cast<double>(x)) {}
};
}  // namespace expr
#define TTENSOR_STAMP_PART(name) \
  template <function_operand A> TTENSOR_INLINE auto name(A&& a) TTENSOR_APPLY_1(name##_op, a)
#define TTENSOR_STAMP_1(name) \
  template <function_operand_or_floating A> TTENSOR_INLINE auto name(A&& a) TTENSOR_APPLY_1(name##_op, a)
#define TTENSOR_STAMP_NUMBERS(name)                                                                                               \
  template <int = 0> auto name(expr::float_as_double a, expr::integer_as_double b) { return apply<name##_op>(a.value, b.value); } \
  template <int = 0> auto name(expr::integer_as_double a, expr::float_as_double b) { return apply<name##_op>(a.value, b.value); } \
  template <int = 0> auto name(expr::float_as_double a, expr::float_as_double b) { return apply<name##_op>(a.value, b.value); }
#define TTENSOR_STAMP_2(name)                                                                                        \
  template <operand_or_number A, operand_or_number B>                                                                \
  requires(function_operand<A> || function_operand<B> ||                                                             \
           (plain_float<A> && std::is_same_v<std::remove_cvref_t<A>, std::remove_cvref_t<B>>))                       \
  TTENSOR_INLINE auto name(A&& a, B&& b) TTENSOR_APPLY_2(name##_op, a, b)                                            \
  TTENSOR_STAMP_NUMBERS(name)
#define TTENSOR_STAMP_OWN_2(name)                                                                                    \
  template <operand_or_number A, operand_or_number B>                                                                \
  requires(function_operand<A> || function_operand<B> || std::is_same_v<std::remove_cvref_t<A>, std::remove_cvref_t<B>>) \
  TTENSOR_INLINE auto name(A&& a, B&& b) TTENSOR_APPLY_2(name##_op, a, b)                                            \
  TTENSOR_STAMP_NUMBERS(name)
TTENSOR_COMPLEX_PARTS(TTENSOR_STAMP_PART)
TTENSOR_UNARY_OPERATORS(TTENSOR_STAMP_1)
TTENSOR_BINARY_OPERATORS(TTENSOR_STAMP_2)
TTENSOR_UNARY_OPERATORS_OWN(TTENSOR_STAMP_1)
TTENSOR_BINARY_OPERATORS_OWN(TTENSOR_STAMP_OWN_2)
#undef TTENSOR_STAMP_PART
#undef TTENSOR_STAMP_1
#undef TTENSOR_STAMP_2
#undef TTENSOR_STAMP_NUMBERS
#undef TTENSOR_STAMP_OWN_2
#undef TTENSOR_COMPLEX_PARTS
#undef TTENSOR_UNARY_OPERATORS
#undef TTENSOR_BINARY_OPERATORS
#undef TTENSOR_UNARY_OPERATORS_OWN
#undef TTENSOR_BINARY_OPERATORS_OWN
#undef TTENSOR_UNARY
#undef TTENSOR_BINARY
#undef TTENSOR_APPLY_1
#undef TTENSOR_APPLY_2
/// Of one complex number, as of arrays of them.
template <complex_number Z> auto square(const Z& z) { return apply<square_op>(z); }
template <complex_number Z> auto rsqrt(const Z& z) { return apply<rsqrt_op>(z); }
template <complex_number Z> auto reciprocal(const Z& z) { return apply<reciprocal_op>(z); }
/// Bitwise operators; of real numbers one sentence, and the answer of another operator, so that nothing follows it.
template <class Op, class... A> TTENSOR_INLINE auto bitwise(A&&... a) {
  if constexpr (!is_differentiable_v<expr::operand_elem_t<std::remove_cvref_t<A>...>>) {
    return apply<Op>(static_cast<A&&>(a)...);
  } else {
    static_assert(
        sizeof(Op) == 0,
        "ttensor: & | ^ ~ are for integers and masks; for a power of real numbers write square(x) or pow(x, n), for conditions && || !");
    if constexpr (sizeof...(A) == 1) return apply<neg_op>(static_cast<A&&>(a)...);
    else return apply<mul_op>(static_cast<A&&>(a)...);
  }
}
#define TTENSOR_BITWISE(sign, op)                                                                             \
  template <operand_or_number A, operand_or_number B> requires(operand<A> || operand<B>)                      \
  TTENSOR_INLINE auto operator sign(A&& a, B&& b) { return bitwise<op>(static_cast<A&&>(a), static_cast<B&&>(b)); }
TTENSOR_BITWISE(&, bit_and_op)
TTENSOR_BITWISE(|, bit_or_op)
TTENSOR_BITWISE(^, bit_xor_op)
#undef TTENSOR_BITWISE
template <operand A> TTENSOR_INLINE auto operator~(A&& a) { return bitwise<bit_not_op>(static_cast<A&&>(a)); }
template <operand A> TTENSOR_INLINE A operator+(A&& a) { return static_cast<A&&>(a); }

/// a where c holds (a mask, or numbers: where they are not 0), else b; the three broadcast. The derivative is that of the element that was taken: NaN and infinities of
/// the other do not reach it. Types: a and b promote.
template <operand_or_number C, operand_or_number A, operand_or_number B> TTENSOR_INLINE auto where(C&& c, A&& a, B&& b) {
  return apply<where_op>(static_cast<C&&>(c), static_cast<A&&>(a), static_cast<B&&>(b));
}
/// Scalars of a transform: s += x is s = s + x, with the tape entry of the old s given to the sum (unless x is s).
#define TTENSOR_COMPOUND(sign, op)                                                                          \
  template <scalar_kind S, class V> requires(scalar_kind<V> || element_proxy<V> || number<std::remove_cvref_t<V>>) \
  TTENSOR_INLINE S& operator sign(S& s, V&& v) {                                                            \
    if constexpr (std::is_same_v<V, S&> || std::is_same_v<V, const S&>)                                     \
      if (&s == &v) return s = apply<op>(S(s), v);                                                       \
    return s = apply<op>(static_cast<S&&>(s), static_cast<V&&>(v));                                      \
  }
TTENSOR_COMPOUND(+=, add_op)
TTENSOR_COMPOUND(-=, sub_op)
TTENSOR_COMPOUND(*=, mul_op)
TTENSOR_COMPOUND(/=, div_op)
#undef TTENSOR_COMPOUND
template <scalar_kind S> TTENSOR_INLINE S& operator++(S& s) { return s += 1; }
template <scalar_kind S> TTENSOR_INLINE S& operator--(S& s) { return s -= 1; }
template <scalar_kind S> TTENSOR_INLINE S operator++(S& s, int) {
  S was(s);
  s += 1;
  return was;
}
template <scalar_kind S> TTENSOR_INLINE S operator--(S& s, int) {
  S was(s);
  s -= 1;
  return was;
}

namespace expr {
/// A count that every bit of a T leaves with is one that a T holds.
template <class T, class B> constexpr T shift_count(const B& b) {
  constexpr int bits = 8 * static_cast<int>(sizeof(T));
  return static_cast<T>(std::cmp_less(+b, 0) || std::cmp_greater(+b, bits) ? bits : static_cast<int>(b));  // + for characters
}
template <class Op, class A, class B> TTENSOR_INLINE auto shifted(A&& a, B&& b) {
  using D = std::remove_cvref_t<B>;
  constexpr bool by_integer = !is_differentiable_v<operand_elem_t<D>>;
  static_assert(by_integer, "ttensor: << and >> shift integers by integers; for powers of two write x * exp2(y)");
  if constexpr (!by_integer) return apply<neg_op>(static_cast<A&&>(a));
  else if constexpr (std::is_integral_v<D> && !std::is_same_v<D, bool>)
    return apply<Op>(static_cast<A&&>(a), shift_count<elem_t<scalar_t<A>>>(b));
  else return apply<Op>(static_cast<A&&>(a), static_cast<B&&>(b));
}
}  // namespace expr
/// Left and right shifts of integers by any count; `<<` of a stream prints.
template <operand A, operand_or_number B> requires is_integer_v<elem_t<scalar_t<A>>> TTENSOR_INLINE auto operator<<(A&& a, B&& b) {
  return expr::shifted<shift_left_op>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <operand A, operand_or_number B> requires is_integer_v<elem_t<scalar_t<A>>> TTENSOR_INLINE auto operator>>(A&& a, B&& b) {
  return expr::shifted<shift_right_op>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <cpp_number A, operand B>
requires(std::is_integral_v<std::remove_cvref_t<A>> && is_integer_v<elem_t<scalar_t<B>>>)
TTENSOR_INLINE auto operator<<(A&& a, B&& b) {
  return apply<shift_left_op>(a, static_cast<B&&>(b));
}
template <cpp_number A, operand B>
requires(std::is_integral_v<std::remove_cvref_t<A>> && is_integer_v<elem_t<scalar_t<B>>>)
TTENSOR_INLINE auto operator>>(A&& a, B&& b) {
  return apply<shift_right_op>(a, static_cast<B&&>(b));
}
namespace expr {
/// A C++ integer that no T reaches is the last one that it does; as a bound it means the same.
template <class T, class B> constexpr auto nearest(const B& b) {
  if constexpr (!std::is_integral_v<B> || std::is_same_v<B, bool>) return b;
  else if (std::cmp_less(+b, +std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();  // + for characters
  else if (std::cmp_greater(+b, +std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  else return static_cast<T>(b);
}
template <class T, class B> TTENSOR_INLINE decltype(auto) bound(B&& b) {
  if constexpr (is_integer_v<T> && cpp_number<B>) return nearest<T>(b);
  else return static_cast<B&&>(b);
}
}  // namespace expr
/// x, but low where it is below and high where it is above; NaN stays. Derivative 1 on the bounds. Integers: plain numbers are themselves, beyond the type too.
template <operand_or_number X, operand_or_number L, operand_or_number H> TTENSOR_INLINE auto clamp(X&& x, L&& low, H&& high) {
  using T = expr::operand_elem_t<std::remove_cvref_t<X>, std::remove_cvref_t<L>, std::remove_cvref_t<H>>;
  return apply<clamp_op>(expr::bound<T>(static_cast<X&&>(x)), expr::bound<T>(static_cast<L&&>(low)), expr::bound<T>(static_cast<H&&>(high)));
}
/// Of three: something of ours beside numbers, or three floats or three doubles.
template <class A, class B, class C> concept three_operands =
    operand_or_number<A> && operand_or_number<B> && operand_or_number<C> &&
    (operand<A> || operand<B> || operand<C> || short_float<A> || short_float<B> || short_float<C> ||
     (plain_float<A> && std::is_same_v<std::remove_cvref_t<A>, std::remove_cvref_t<B>> && std::is_same_v<std::remove_cvref_t<A>, std::remove_cvref_t<C>>));
/// a + t (b - a), exactly a at t = 0 and b at t = 1 where b - a is finite.
template <class A, class B, class T> requires three_operands<A, B, T> TTENSOR_INLINE auto lerp(A&& a, B&& b, T&& t) {
  return apply<lerp_op>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<T&&>(t));
}
/// a b + c, rounded once where the processor has the instruction (docs/accuracy.md).
template <class A, class B, class C> requires three_operands<A, B, C> TTENSOR_INLINE auto fma(A&& a, B&& b, C&& c) {
  return apply<fma_op>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c));
}
/// x where it is positive, else slope x; at 0 the derivative is slope.
template <function_operand_or_floating X> TTENSOR_INLINE auto leaky_relu(X&& x, double slope = 0.01) {
  return apply<leaky_relu_op>(static_cast<X&&>(x), slope);
}
/// x where it is positive, else alpha (exp(x) - 1).
template <function_operand_or_floating X> TTENSOR_INLINE auto elu(X&& x, double alpha = 1) {
  return apply<elu_op>(static_cast<X&&>(x), alpha);
}
template <class A> requires(scalar_kind<A> || short_float<A> || element_proxy<A>) TTENSOR_INLINE auto fabs(const A& a) { return apply<abs_op>(a); }
/// Exchanges two tensors or scalars of a kind, found without `using std::swap` too. (Elements and views have one each.)
template <class A> requires(scalar_kind<A> || short_float<A> || (array_object<A> && std::is_move_assignable_v<A>)) void swap(A& a, A& b) {
  A t(static_cast<A&&>(a));
  a = static_cast<A&&>(b);
  b = static_cast<A&&>(t);
}
// max, min and clamp of scalars of a kind, also where `using std::max` competes; of an array max and min are reductions
template <class A> concept one_value = scalar_kind<A> || element_proxy<A> || short_float<A>;
template <class A, class B>
requires((one_value<A> && (one_value<B> || cpp_number<B>)) || (cpp_number<A> && one_value<B>))
TTENSOR_INLINE auto max(const A& a, const B& b) {
  return apply<maximum_op>(a, b);
}
template <class A, class B>
requires((one_value<A> && (one_value<B> || cpp_number<B>)) || (cpp_number<A> && one_value<B>))
TTENSOR_INLINE auto min(const A& a, const B& b) {
  return apply<minimum_op>(a, b);
}
template <one_value A> TTENSOR_INLINE auto clamp(const A& x, const A& low, const A& high) { return apply<clamp_op>(x, low, high); }
template <one_value A> TTENSOR_INLINE auto max(const A& a, const A& b) { return apply<maximum_op>(a, b); }
template <one_value A> TTENSOR_INLINE auto min(const A& a, const A& b) { return apply<minimum_op>(a, b); }
// Refused with a sentence instead of a list of candidates:
template <array_like A, class B> requires(std::floating_point<B> || array_like<B>) auto max(const A&, const B&) {
  static_assert(sizeof(B) == 0, "ttensor: max(x, axis) is a reduction; element by element it is maximum(x, y), y an array or a number");
  return 0;
}
template <array_like A, class B> requires(std::floating_point<B> || array_like<B>) auto min(const A&, const B&) {
  static_assert(sizeof(B) == 0, "ttensor: min(x, axis) is a reduction; element by element it is minimum(x, y), y an array or a number");
  return 0;
}
template <class P> inline constexpr bool is_element_of_kind_v = false;
template <element_proxy P> inline constexpr bool is_element_of_kind_v<P> = scalar_kind<typename P::scalar>;
template <class P> concept element_of_kind = is_element_of_kind_v<P>;
#define TTENSOR_REFUSED_ASSIGNMENT(OP)                                                                                                                       \
  template <class N, class S> requires(std::is_arithmetic_v<N> && (scalar_kind<S> || element_of_kind<S>)) N& operator OP(N& n, const S&) {                    \
    static_assert(sizeof(S) == 0, "ttensor: a number has no place for a scalar of a transform [TT-L01]; declare it as scalar_t<decltype(x)> s = 0, or begin with auto s = x(0) * 0.0"); \
    return n;                                                                                                                                                \
  }                                                                                                                                                          \
  template <expression E, class V> requires(!array_object<E>) void operator OP(E&, V&&) {                                                                    \
    static_assert(sizeof(E) == 0, "ttensor: an auto variable that was given an expression has no elements to change; begin with auto d = eval(...), or tensor<T, R> d = ..."); \
  }
TTENSOR_REFUSED_ASSIGNMENT(+=)
TTENSOR_REFUSED_ASSIGNMENT(-=)
TTENSOR_REFUSED_ASSIGNMENT(*=)
TTENSOR_REFUSED_ASSIGNMENT(/=)
#undef TTENSOR_REFUSED_ASSIGNMENT

/// to<float>(x): the same array with another element type; never implicit when it narrows.
template <class T, class A> requires operand_or_number<std::remove_cvref_t<A>> TTENSOR_INLINE auto to(A&& a) {
  constexpr bool loses = is_complex_v<elem_t<scalar_t<A>>> && !is_complex_v<elem_t<T>> && !std::is_same_v<T, bool>;
  static_assert(!loses, "ttensor: complex numbers do not become real ones; write real(z), imag(z) or abs(z)");
  if constexpr (loses) return apply<real_op>(static_cast<A&&>(a));
  else if constexpr (!is_kind_v<T>) return apply<cast_op<T>>(static_cast<A&&>(a));
  else if constexpr (array_like<A>) return tensor<T, rank_v<A>>(to<elem_t<T>>(static_cast<A&&>(a)));  // a scalar of a transform
  else return T(expr::plain(a));
}

/// Evaluates an expression into a tensor; a tensor gives a copy of itself (O(1) until written). Of fixed tensors too, so that views of the result may outlive it.
template <array_like E> auto eval(const E& e) {
  using S = storage_scalar_t<scalar_t<E>>;
  return tensor<S, rank_v<E>>(e);
}
template <class E> struct expr::evaluation {
  static auto of(const E& e) { return ttensor::eval(e); }
};
/// A scalar of any kind is evaluated: itself, of an element proxy its value. So eval(sum(x)) compiles in every transform.
template <any_scalar A> auto eval(const A& a) { return expr::plain(a); }

/// The number in an array of one element, and a number as it is. Throws shape_error [TT-S32] for other sizes.
template <class A> requires(array_like<A> || any_scalar<A>) auto item(const A& a) {
  static_assert(
      depth_v<scalar_t<A>> == 0,
      "ttensor: item of a value of a live transform would drop its derivative or its examples; compute with x(0) or sum(x), or take value_of(x), a constant");
  if constexpr (!array_like<A>) {
    return expr::plain(a);
  } else {
    const auto y = eval(a);
    if (y.size() != 1) raise<shape_error>("[item] an array of shape " + shape::text(y.shape()) + " has not one element; index it [TT-S32]");
    return y.elements().get(0);
  }
}
/// The array in main memory, where all arrays live so far: a tensor of its own.
template <array_like A> auto to_host(const A& a) {
  static_assert(depth_v<scalar_t<A>> == 0, "ttensor: to_host of a value of a live transform; take value_of(x)");
  return eval(a);
}

TTENSOR_END

/// Limits of the scalars of transforms: those of the element type, as constants. Not noexcept: a mapped scalar owns memory.
template <class S> requires ttensor::is_kind_v<S> struct std::numeric_limits<S> : std::numeric_limits<ttensor::elem_t<S>> {
#define TTENSOR_LIMIT(name) \
  static constexpr S name() { return S(std::numeric_limits<ttensor::elem_t<S>>::name()); }
  TTENSOR_LIMIT(min)
  TTENSOR_LIMIT(max)
  TTENSOR_LIMIT(lowest)
  TTENSOR_LIMIT(epsilon)
  TTENSOR_LIMIT(round_error)
  TTENSOR_LIMIT(infinity)
  TTENSOR_LIMIT(quiet_NaN)
  TTENSOR_LIMIT(signaling_NaN)
  TTENSOR_LIMIT(denorm_min)
#undef TTENSOR_LIMIT
};
