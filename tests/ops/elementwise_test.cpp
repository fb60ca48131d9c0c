// Every elementwise operator of the lists against stored values: packs and scalars, first and second derivatives in forward
// and reverse mode.
#include <doctest/doctest.h>

#include <gate/gate_reader.hpp>
#include <string>
#include <ttensor/all.hpp>

namespace tt = ttensor;
using D2 = tt::dual<tt::dual<double>>;

namespace {
constexpr double tolerance = 3e-15;
int rows_checked = 0;

template <class Op> void check_unary() {}
template <class Op> requires Op::differentiable void check_unary() {
  const std::string name = std::string("unary_") + Op::name;
  if (!gate::special_values().has(name)) return;
  const gate::array& rows = gate::special_values().value(name);
  CAPTURE(name);
  const tt::index_t n = static_cast<tt::index_t>(rows.shape[0]);
  tt::tensor<double, 1> x(n), second(n);
  for (tt::index_t i = 0; i < n; ++i) {
    const double* r = &rows.values[static_cast<std::size_t>(4 * i)];
    x(i) = r[0];
    const auto y = tt::apply<Op>(D2{{r[0], 1}, {1, 0}});
    CHECK(gate::distance({y.value.value, y.value.tangent, y.tangent.tangent}, {r[1], r[2], r[3]}) <= tolerance);
  }
  const tt::tensor<double, 1> y = tt::apply<Op>(x);
  const auto f = [](const auto& v) { return sum(tt::apply<Op>(v)); };
  const auto g = tt::grad(f)(x);
  const auto h = tt::hvp(f, x, tt::ones<double>(n));
  for (tt::index_t i = 0; i < n; ++i) {
    const double* r = &rows.values[static_cast<std::size_t>(4 * i)];
    CHECK(gate::distance({y(i), g(i), h(i)}, {r[1], r[2], r[3]}) <= tolerance);
    const double s = tt::apply<Op>(r[0]);
    CHECK(s == y(i));  // packs, tails and our scalars agree to the bit
    CHECK(gate::distance({tt::grad([](auto v) { return tt::apply<Op>(v); })(r[0])}, {r[2]}) <= tolerance);
  }
  ++rows_checked;
}
template <class Op> void check_binary() {
  const std::string name = std::string("binary_") + Op::name;
  if (!gate::special_values().has(name)) return;
  const gate::array& rows = gate::special_values().value(name);
  CAPTURE(name);
  const tt::index_t n = static_cast<tt::index_t>(rows.values.size()) / 5;
  for (tt::index_t i = 0; i < n; ++i) {
    const double* r = &rows.values[static_cast<std::size_t>(5 * i)];
    const double a = r[0], b = r[1];
    const auto da = tt::apply<Op>(tt::dual<double>(a, 1), b), db = tt::apply<Op>(a, tt::dual<double>(b, 1));
    CHECK(gate::distance({da.value, da.tangent, db.tangent}, {r[2], r[3], r[4]}) <= tolerance);
    const tt::tensor<double, 1> x{a, a, a, a, a}, y{b, b, b, b, b};
    const auto [gx, gy] = tt::grad<0, 1>([](const auto& u, const auto& v) { return sum(tt::apply<Op>(u, v)); })(x, y);
    const tt::tensor<double, 1> z = tt::apply<Op>(x, y);
    CHECK(gate::distance({z(4), gx(0), gy(4)}, {r[2], r[3], r[4]}) <= tolerance);
  }
  ++rows_checked;
}
}  // namespace

TEST_CASE("unary operators agree with the stored table") {
  rows_checked = 0;
  []<class... Op>(tt::type_list<Op...>) { (check_unary<Op>(), ...); }(tt::all_unary{});
  CHECK(rows_checked >= 33);
}
TEST_CASE("binary operators agree with the stored table") {
  rows_checked = 0;
  []<class... Op>(tt::type_list<Op...>) { (check_binary<Op>(), ...); }(tt::all_binary{});
  CHECK(rows_checked >= 13);
}
