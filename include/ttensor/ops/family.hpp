// The elementwise family: an operator is a struct that gives its name, its value and its partials; everything else has a
// default here. See CONTRIBUTING.md for adding one.
#pragma once
#include "../expr/sweep.hpp"

#define TTENSOR_OPERATORS_DEFINED  // num/complex.hpp must come first

TTENSOR_BEGIN

/// Defaults of elementwise operators. An operator overrides what differs and says why.
template <int Arity> struct elementwise {
  using ttensor_operator = void;
  static constexpr int arity = Arity;
  static constexpr bool differentiable = true;
  static constexpr bool absorbs = true;  // an exact-zero cotangent gives 0 even when the partial is inf or NaN; false where it never is
  /// Whether lanes that nobody wants may be computed too: any value takes the same time and raises no exception. Short arrays are faster then.
  static constexpr bool even = false;
  /// Bits of the operands (bit `arity`: the output) that the partial with respect to `operand` reads.
  static constexpr unsigned reads(int operand) { return static_cast<void>(operand), (2u << Arity) - 1; }
  /// Scalar of the result; operands have been brought to one element type.
  template <class... S> using result = join_chain_t<elem_t<at_t<0, type_list<S...>>>, S...>;
  /// Element type each operand is brought to.
  template <class... A> using operands = expr::for_each_operand<expr::operand_elem_t<A...>, A...>;
};
/// Operators whose derivative is 0 wherever there is one: rounding, comparisons, bits.
template <int Arity> struct piecewise_constant : elementwise<Arity> {
  static constexpr bool differentiable = false;
  static constexpr unsigned reads(int) { return 0; }
  template <class... X> static constexpr auto partials(const X&...) {
    static_assert(Arity == 1 || Arity == 2);
    if constexpr (Arity == 1) return grads<no_partial>{{}};
    else return grads<no_partial, no_partial>{{}, {}};
  }
};
/// Integers as double, anything else as it is.
template <class T> using real_or_double_t = std::conditional_t<is_differentiable_v<T>, T, double>;
/// Functions of a real or complex argument.
template <int Arity> struct real_elementwise : elementwise<Arity> {
  template <class... A> using operands = expr::for_each_operand<real_or_double_t<expr::operand_elem_t<A...>>, A...>;
};
/// Functions, as opposed to arithmetic: worth keeping rather than computing again.
template <class Op> inline constexpr bool is_function_v =
    std::is_base_of_v<real_elementwise<Op::arity>, Op> || requires { requires Op::is_function; };
template <> inline constexpr bool is_function_v<void> = false;
template <int Root, class... Ins> constexpr bool any_function(program<Root, Ins...>) { return (is_function_v<operator_of_t<Ins>> || ...); }
namespace ops {
// What is refused is refused with one sentence: behind it stands a type that compiles.
template <class T> struct calculable {
  static_assert(!std::is_same_v<T, bool>, "ttensor: masks are combined with && || !; to calculate with them write to<int>(mask)");
  using type = std::conditional_t<std::is_same_v<T, bool>, int, T>;
};
template <class T> struct real_number {
  static_assert(
      !is_complex_v<T>,
      "ttensor: this function has no form for complex numbers (they have no order); give it real(z), imag(z) or abs(z)");
  using type = real_t<T>;
};
template <class Operands> struct real_numbers;
template <class... T> struct real_numbers<type_list<T...>> { using type = type_list<typename real_number<T>::type...>; };
}  // namespace ops
/// Arithmetic: of numbers, not of masks.
template <int Arity> struct arithmetic : elementwise<Arity> {
  template <class... A> using operands = expr::for_each_operand<typename ops::calculable<expr::operand_elem_t<A...>>::type, A...>;
};
/// The same family without complex numbers.
template <class Family> struct of_reals : Family {
  template <class... A> using operands = typename ops::real_numbers<typename Family::template operands<A...>>::type;
};
namespace ops {
/// What two operands are compared as. Integers in a type that holds both, C++ numbers too: u8 == -1 is false. Where there is none, each as it is.
template <class A, class B, class X = elem_t<scalar_t<A>>, class Y = elem_t<scalar_t<B>>> consteval auto compared() {
  if constexpr (std::is_same_v<X, Y> || !is_integer_v<X> || !is_integer_v<Y>)
    return expr::for_each_operand<expr::operand_elem_t<A, B>, A, B>{};
  else if constexpr (is_integer_v<promote_t<X, Y>>) return type_list<promote_t<X, Y>, promote_t<X, Y>>{};
  else return type_list<reduced_t<X>, reduced_t<Y>>{};
}
}  // namespace ops
/// Comparisons and logic: a mask, no derivative.
struct comparison : piecewise_constant<2> {
  template <class... A> using operands = decltype(ops::compared<A...>());
  static constexpr bool even = true;
  template <class... S> using result = join_chain_t<bool, S...>;
};

/// The same of truth values: of numbers whether they are not 0.
struct logic : comparison {
  template <class... A> using operands = expr::for_each_operand<bool, A...>;
};

/// What an elementwise operator must supply: see elementwise.
template <class Op> concept elementwise_operator = requires {
  typename Op::ttensor_operator;
  { Op::arity } -> std::convertible_to<int>;
  { Op::name } -> std::convertible_to<const char*>;
};

TTENSOR_END
