// Every operator of complex numbers, as scalar and in a statement over an array, forward and reverse, against differences of its values
// of order eight along 1 and i; and for each of its operands: these checks fail when that partial is 0.1 % wrong.
#include <doctest/doctest.h>

#include <set>

#include "gate/seeded.hpp"

namespace {
namespace tt = ttensor;
using C = std::complex<double>;
using tt::apply;

struct choice {
  int op;
  C p, q;  // the other operands: p + q x, q - p x
};
choice chosen;

template <class Op, class X> auto applied(const X& x, const X& b, const X& c) {
  if constexpr (std::is_same_v<typename gate::unseeded<Op>::type, tt::where_op>) return apply<Op>(apply<tt::greater_op>(apply<tt::real_op>(x), 0.1), b, c);
  else if constexpr (Op::arity == 1) return apply<Op>(x);
  else if constexpr (Op::arity == 2) return apply<Op>(x, b);
  else return apply<Op>(x, b, c);
}
/// x -> f(x, b, c) of the chosen operator; of real results the complex number.
template <class List> struct body;
template <class... Op> struct body<tt::type_list<Op...>> {
  template <class X> auto operator()(const X& x) const {
    const auto value = [](const auto& e) {
      if constexpr (tt::array_like<X>) return tt::eval(e);
      else return X(e);
    };
    using Y = decltype(value(x));
    const Y at = value(x), b = value(apply<tt::add_op>(apply<tt::mul_op>(x, chosen.q), chosen.p)), c = value(apply<tt::sub_op>(chosen.q, apply<tt::mul_op>(x, chosen.p)));
    Y y = at;
    int k = 0;
    static_cast<void>((... || (k++ == chosen.op && (y = value(apply<tt::cast_op<C>>(applied<Op>(at, b, c))), true))));
    return y;
  }
};

template <class Op, class... Family> inline constexpr bool is_of_reals = (std::is_base_of_v<tt::of_reals<Family>, Op> || ...);
template <class Op> inline constexpr bool is_complex_operator = Op::differentiable && !gate::is_in<Op, tt::all_bitwise> &&
    !is_of_reals<Op, tt::elementwise<Op::arity>, tt::real_elementwise<Op::arity>, tt::arithmetic<Op::arity>, tt::comparison>;
template <class... A, class... B> tt::type_list<A..., B...> operator+(tt::type_list<A...>, tt::type_list<B...>) { return {}; }
template <class... Op> auto complex_ones(tt::type_list<Op...>) { return (tt::type_list<>{} + ... + std::conditional_t<is_complex_operator<Op>, tt::type_list<Op>, tt::type_list<>>{}); }
/// Without conj, whose rule is no number that could be scaled: below it is that of the identity.
template <class... Op> auto without_conj(tt::type_list<Op...>) { return (tt::type_list<>{} + ... + std::conditional_t<std::is_same_v<Op, tt::conj_op>, tt::type_list<>, tt::type_list<Op>>{}); }
struct wrong_conj : tt::conj_op {
  template <class... X> static auto partials(const X&...) { return tt::grads{tt::unit{}}; }
};

/// d/dt of f(z + t d) at 0, to 1e-12 or so.
template <class F> C difference(const F& f, C z, C d) {
  const double h = 1.0 / 64, weight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
  C sum = 0;
  for (int k = 1; k <= 4; ++k) sum += weight[k - 1] * (f(z + k * h * d) - f(z - k * h * d));
  return sum / h;
}
/// Which checks of the chosen operator fail, as text.
template <class List> std::string disagreements() {
  const body<List> f;
  std::string text;
  const auto same = [&](C got, C want) { return std::abs(got - want) <= 1e-9 * (1 + std::abs(want)); };
  for (const C z : {C(0.3, 0.4), C(-0.7, 0.55), C(1.2, -0.8)}) {
    const tt::tensor<C, 1> two{z, z};
    const C by_1 = difference(f, z, C(1)), by_i = difference(f, z, C(0, 1));
    if (!same(tt::jvp(f, z, C(2, 1)).y_dot, 2.0 * by_1 + by_i)) text += "jvp ";
    if (!same(tt::jvp(f, two, tt::tensor<C, 1>{C(2, 1), C(2, 1)}).y_dot(1), 2.0 * by_1 + by_i)) text += "jvp of an array ";
    const C w(0.6, -0.8);  // L = real(w f)
    const C gradient(std::real(w * by_1), std::real(w * by_i));
    if (!same(tt::grad([&](const auto& x) { return apply<tt::real_op>(apply<tt::mul_op>(f(x), w)); })(z), gradient)) text += "grad ";
    if (!same(tt::grad([&](const auto& x) { return sum(tt::real(f(x) * w)); })(two)(1), gradient)) text += "grad of an array ";
  }
  return text;
}
int seeds = 0;
std::set<std::string> tried;
template <class... Op> void check(tt::type_list<Op...> list) {
  using Seeded = decltype(gate::all_seeded(list));
  int k = 0;
  for (const std::string name : gate::names(list)) {
    CAPTURE(name);
    chosen = {k, C(0.4, 0.3), C(0.7, -0.2)};
    const int arity[] = {Op::arity...};
    gate::wrong_operand = -1;
    CHECK(disagreements<Seeded>() == "");
    for (int i = name == "where" ? 1 : 0; i < arity[k]; ++i) {
      CAPTURE(i);
      gate::wrong_operand = i;
      const auto found = disagreements<Seeded>();
      for (const char* mode : {"jvp ", "jvp of an array ", "grad ", "grad of an array "}) CHECK(found.find(mode) != std::string::npos);
      ++seeds;
    }
    tried.insert(name);
    ++k;
  }
}
}  // namespace

TEST_CASE("operators of complex numbers") {
  check(without_conj(complex_ones(tt::all_unary{})));
  check(complex_ones(tt::all_binary{}) + complex_ones(tt::all_ternary{}) + tt::type_list<tt::abs_square_op>{});
  MESSAGE(seeds, " seeds in ", tried.size(), " operators");
  CHECK(tried.size() > 30);
}
TEST_CASE("conj") {
  chosen = {0, 0, 0};
  CHECK(disagreements<tt::type_list<tt::conj_op>>() == "");
  CHECK(disagreements<tt::type_list<wrong_conj>>() != "");
}
