// dual<T, N>: tangent k is, bit for bit, the tangent of a dual<T, 1> that carries it alone, for every elementwise operator, whatever the
// partials are and which zeros absorb. N with and without lanes left over.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <ttensor/all.hpp>

namespace dual_lanes_test {
namespace tt = ttensor;

namespace {
constexpr double inf = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
// volatile: what a compiler computes itself it does not contract, what it leaves to the processor it may
const volatile double values[] = {0, -0.0, 1, -1, 0.5, -2.25, 3, 1e300, inf, none}, tangents[] = {1, 0, -2.5, -0.0, inf, 0.75, none, 0, 1e-300, -3, 5};

template <class T> bool same(T a, T b) {
  if (a != a || b != b) return a != a && b != b;
  if constexpr (sizeof(T) == 8) return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  else return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}
template <class T, int N> tt::dual<T, N> carrying(double value, int first) {
  tt::dual<T, N> x(static_cast<T>(value));
  for (int k = 0; k < N; ++k) x.tangent_at(k) = static_cast<T>(tangents[(first + k) % 11]);
  return x;
}
template <class T, int N> tt::dual<T> alone(const tt::dual<T, N>& x, int k) { return {x.value, x.tangent_at(k)}; }
template <class T, int N> T alone(const T& x, int) { return x; }

template <class Op, class... A> bool agrees(const A&... a) {
  const auto y = tt::apply<Op>(a...);
  if constexpr (!tt::is_dual_v<std::remove_cvref_t<decltype(y)>>) {
    return true;  // comparisons
  } else {
    bool all = true;
    for (int k = 0; k < y.tangent.size(); ++k) {
      const auto want = tt::apply<Op>([&] {
        if constexpr (tt::is_dual_v<A>) return alone(a, k);
        else return a;
      }()...);
      all = all && same(y.value, want.value) && same(y.tangent_at(k), want.tangent);
    }
    return all;
  }
}
template <class Op, class T, int N> void check() {
  std::string wrong;
  auto see = [&](bool ok, double a, double b) { if (!ok) wrong += std::to_string(a) + "," + std::to_string(b) + " "; };
  for (const double a : values) {
    const auto x = carrying<T, N>(a, 0);
    if constexpr (Op::arity == 1) {
      see(agrees<Op>(x), a, a);
    } else {
      for (const double b : values) {
        const auto z = carrying<T, N>(b, 4);
        if constexpr (Op::arity == 2) see(agrees<Op>(x, z) && agrees<Op>(x, static_cast<T>(b)) && agrees<Op>(static_cast<T>(a), z), a, b);
        else see(agrees<Op>(x, z, carrying<T, N>(0.25, 7)) && agrees<Op>(static_cast<T>(a), z, x) && agrees<Op>(x, static_cast<T>(b), z), a, b);
      }
    }
  }
  INFO(std::string(Op::name), " of ", sizeof(T), " bytes, ", N, " tangents");
  CHECK(wrong == "");
}
template <class T, int N, class... Op> void check_all(tt::type_list<Op...>) { (check<Op, T, N>(), ...); }
template <class T, int N> void check_where() {
  for (const bool c : {true, false}) {
    CHECK(agrees<tt::where_op>(c, carrying<T, N>(1, 0), carrying<T, N>(2, 5)));
    CHECK(agrees<tt::where_op>(c, carrying<T, N>(1, 0), T(2)));
  }
}
}  // namespace

TEST_CASE("unary operators") {
  check_all<double, 5>(tt::all_unary{});
  check_all<float, 3>(tt::all_unary{});
}
TEST_CASE("binary operators") {
  check_all<double, 7>(tt::all_binary{});
  check_all<float, 10>(tt::type_list<tt::mul_op, tt::div_op, tt::pow_op, tt::maximum_op>{});
  check_all<double, 47>(tt::type_list<tt::mul_op, tt::sub_op>{});  // the widest registers, and one of each width
}
TEST_CASE("other operators") {
  check_all<double, 10>(tt::type_list<tt::fma_op, tt::lerp_op, tt::clamp_op>{});
  check_where<double, 6>();
  check_where<float, 11>();
}
TEST_CASE("operands that are no numbers of the result's type") {
  using tt::dual;
  const auto x = carrying<float, 5>(1.5, 0);
  CHECK(agrees<tt::cast_op<double>>(x));
  const auto z = x * 0.5;  // a weak double
  CHECK(same(z.tangent[0], 0.5f));
  dual<tt::half, 4> h(tt::half(2));
  h.tangent[2] = tt::half(3);
  CHECK(static_cast<float>((h * h).tangent[2]) == 12);
  const dual<dual<double, 3>, 2> twice = [] {
    dual<dual<double, 3>, 2> r(dual<double, 3>(2.0, {{1, 0, 0}}));
    r.tangent[1] = dual<double, 3>(1.0);
    return r;
  }();
  const auto y = twice * twice * twice;  // x^3 at 2: 12 along the outer, 6 x = 12 along both
  CHECK(y.tangent[1].value == 12);
  CHECK(y.tangent[1].tangent[0] == 12);
  CHECK(y.tangent[0].value == 0);
}
TEST_CASE("in a constant expression") {
  constexpr tt::dual<double, 3> x(2.0, {{1, 0, -1}});
  constexpr auto y = tt::apply<tt::mul_op>(x, x);
  static_assert(y.value == 4 && y.tangent[0] == 4 && y.tangent[1] == 0 && y.tangent[2] == -4);
  CHECK((x * x).tangent == y.tangent);
}
}  // namespace dual_lanes_test
