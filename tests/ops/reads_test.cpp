// Which operands and results the partials of an operator depend on, measured, against what its `reads` says: a value that is not
// said to be read is not kept for the backward pass, one that is said to be read and is not costs memory and time.
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <ttensor/all.hpp>
#include <vector>

#include "../../examples/leaky_relu/leaky_relu.hpp"

namespace reads_test {
namespace tt = ttensor;
using D = tt::dual<double>;

namespace {
constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
const std::vector<double> ordinary{-1.25, -1, 0, 0.375, 1, 2.5}, odd{nan, inf, -inf, 0, 1, -1.5, 1e300};

/// x as a poison: the tangent of a dual is poisoned too.
template <class T> T poison(double x) {
  if constexpr (tt::is_dual_v<T>) return {x, nan};
  else return x;
}
bool same(double a, double b) { return a == b || (a != a && b != b); }
bool same(const D& a, const D& b) { return same(a.value, b.value) && same(a.tangent, b.tangent); }

/// What cotangent 1.5 gives to operand K where the operands and the result are v.
template <class Op, int K, class T, int... I> auto contribution(const std::vector<T>& v, std::integer_sequence<int, I...>) {
  const auto operand = [&](auto i) {
    if constexpr (std::is_same_v<Op, tt::where_op> && i == 0) return v[0] > 0;
    else return v[static_cast<std::size_t>(i)];
  };
  const auto g = Op::partials(operand(std::integral_constant<int, I>{})..., v.back());
  return T(tt::sweeping::scale<Op>(1.5, tt::at<K>(g)));
}
/// Bit j: another value of operand j (j = arity: of the result) changes the contribution somewhere.
template <class Op, int K, class T> unsigned depends() {
  constexpr int n = Op::arity;
  constexpr auto operands = std::make_integer_sequence<int, n>{};
  unsigned mask = 0;
  std::vector<T> v(n + 1);
  std::size_t points = 1;
  for (int i = 0; i < n; ++i) points *= ordinary.size();
  for (std::size_t p = 0; p < points; ++p) {
    for (std::size_t i = 0, q = p; i < n; ++i, q /= ordinary.size()) v[i] = T(ordinary[q % ordinary.size()]);
    v.back() = [&]<int... I>(std::integer_sequence<int, I...>) {
      if constexpr (std::is_same_v<Op, tt::where_op>) return v[0] > 0 ? v[1] : v[2];
      else return T(tt::apply<Op>(v[I]...));
    }(operands);
    const T was = contribution<Op, K, T>(v, operands);
    for (std::size_t j = 0; j <= n; ++j) {
      const T kept = v[j];
      for (double x : odd) {
        v[j] = poison<T>(x);
        if (!same(contribution<Op, K, T>(v, operands), was)) mask |= 1u << j;
      }
      v[j] = kept;
    }
  }
  return mask;
}
template <class Op, int... I> auto partials_at_half(std::integer_sequence<int, I...>) { return Op::partials((static_cast<void>(I), 0.5)..., 0.5); }
int checked = 0;
template <class Op> void check() {
  if constexpr (Op::differentiable) {
    const std::string name = Op::name;
    CAPTURE(name);
    tt::static_for<Op::arity>([&](auto k) {
      using G = decltype(partials_at_half<Op>(std::make_integer_sequence<int, Op::arity>{}));
      if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(tt::at<k>(std::declval<const G&>()))>, tt::no_partial>) {
        CAPTURE(int(k));
        CHECK(depends<Op, k, double>() == Op::reads(k));
        CHECK(depends<Op, k, D>() == Op::reads(k));
        ++checked;
      }
    });
  }
}
template <class... Op> void check_all(tt::type_list<Op...>) { (check<Op>(), ...); }
}  // namespace

TEST_CASE("reads names exactly what the partials depend on") {
  check_all(tt::all_unary{});
  check_all(tt::all_binary{});
  check_all(tt::all_ternary{});
  check_all(tt::all_logical{});
  check_all(tt::all_bitwise{});
  check_all(tt::type_list<tt::absorb_op, tt::absorb2_op, tt::cast_op<double>, tt::reduce_detail::root_op, mine::leaky_relu_op>{});
  CHECK(checked >= 65);
}
}  // namespace reads_test
