// The elementwise operators on a device, value and derivatives (of one and two numbers), against the same bodies on the host (which tests/gate compares with mpmath): an operator
// whose device form is missing or another function's shows here. One kernel a list of operators, so that compiling it costs little.
#include <doctest/doctest.h>
#include <ttensor/ops/list.hpp>
#include <ttensor/run/cuda/launch.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace ttensor;

namespace operators_test {  // what stands in a kernel's name has a name
template <class... Body> struct several {
  bundle<Body...> body;
  template <class Threads> TTENSOR_HD void operator()(index_t tid, Threads threads) const {
    [&]<int... I>(std::integer_sequence<int, I...>) { (at<I>(body)(tid, threads), ...); }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Body))>{});
  }
};
template <class Op, class T> inline constexpr bool is_mask = std::is_same_v<elem_t<scalar_t<decltype([] {
  if constexpr (Op::arity == 1) return apply<Op>(device_leaf<T, 1>{});
  else return apply<Op>(device_leaf<T, 1>{}, device_leaf<T, 1>{});
}())>>, bool>;
}  // namespace operators_test

namespace {
using operators_test::is_mask, operators_test::several;

template <class T> std::vector<T> points(unsigned long long seed) {
  using L = std::numeric_limits<T>;
  std::vector<T> v{0, -T(0), 1, -1, T(0.5), T(-0.5), 2, -2, 3, -3, 7, T(2.5), T(-2.5), T(3.5), T(1e-4), T(-1e-4), T(100), T(-100), T(88), T(-104), T(700), T(-745), T(1e5), T(1e10), T(1e30),
                   T(0.9), T(-0.9), L::infinity(), -L::infinity(), L::quiet_NaN(), L::min(), -L::min(), L::denorm_min(), L::epsilon(), 1 + L::epsilon(), 1 - L::epsilon() / 2};
  auto uniform = [&] { return static_cast<double>((seed = seed * 6364136223846793005ull + 1442695040888963407ull) >> 11) * 0x1p-53; };
  for (int i = 0; i < 1000; ++i) {
    v.push_back(static_cast<T>(std::exp2(uniform() * 16 - 8) * (uniform() < 0.5 ? -1 : 1)));
    v.push_back(static_cast<T>(uniform() * 2 - 1));
    v.push_back(static_cast<T>(uniform() * 80 - 40));
    v.push_back(static_cast<T>(std::exp2((uniform() * 2 - 1) * (sizeof(T) == 4 ? 120 : 1000)) * (uniform() < 0.5 ? -1 : 1)));
  }
  for (std::size_t i = v.size() - 1; i > 0; --i) std::swap(v[i], v[static_cast<std::size_t>(uniform() * static_cast<double>(i + 1))]);
  return v;
}
// The bodies of an operator: its value, and its derivative with respect to each operand.
template <class Op, class T> auto expression(const device_leaf<T, 1>& x, const device_leaf<T, 1>& z) {
  if constexpr (Op::arity == 1) return static_cast<void>(z), apply<Op>(x);
  else return apply<Op>(x, z);
}
template <class E, class U> auto body_of(const E& e, U* out) {
  run::device_statement<E, 1> st(e);
  st.set_output(0, out);
  return [&]<class... K>(type_list<K...> k) {
    using body = run::map_body<program_of<E>, run::linear_walk<1>, run::flat_plane<U>, typename K::linear...>;
    return body{st.template linear<1>(), {out}, st.leaves(k, type_list<typename K::linear...>{})};
  }(st.kernel_leaves());
}
template <class Op, class T, class U> auto value_body(const device_leaf<T, 1>& x, const device_leaf<T, 1>& z, U* out) { return body_of(expression<Op>(x, z), out); }
template <class Op, class T> auto derivative_body(const device_leaf<T, 1>& x, const device_leaf<T, 1>& z, T* const* out) {
  const auto e = expression<Op>(x, z);
  using E = std::remove_const_t<decltype(e)>;
  run::device_statement<E, 0> st(e);
  return [&]<class... K>(type_list<K...> k) {
    using target = run::plane_target<run::flat_plane<T>>;
    using targets = type_list<std::conditional_t<true, target, K>...>;
    using body = run::back_body<program_of<E>, (std::uint64_t(1) << Op::arity) - 1, run::linear_walk<1>, run::ones<T>, targets, typename K::linear...>;
    int operand = 0;
    return body{st.template linear<1>(), {}, {{{std::conditional_t<true, target, K>{{out[operand++]}, 0, -1}}...}}, st.leaves(k, type_list<typename K::linear...>{})};
  }(st.kernel_leaves());
}

double ulps(double got, double want, int digits, double least) {
  if (got == want || (got != got && want != want)) return 0;
  if (!(std::fabs(got - want) < std::numeric_limits<double>::infinity())) return std::numeric_limits<double>::infinity();
  int exponent;
  std::frexp(want, &exponent);
  return std::fabs(got - want) / std::fmax(std::ldexp(1.0, exponent - digits), least);
}
/// Results that cancel (logaddexp near its zero) may be some ulp of 1 away; all others are within 16 ulp of what they are.
template <class T> std::string disagreement(const char* op, const T* got, const T* want, const std::vector<T>& x, const std::vector<T>& z) {
  using L = std::numeric_limits<T>;
  int far = 0;
  std::string text;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double a = static_cast<double>(got[i]), b = static_cast<double>(want[i]), u = ulps(a, b, L::digits, static_cast<double>(L::denorm_min()));
    far += u > 16;
    const bool largest = std::fabs(a) == L::infinity() && std::fabs(b) > static_cast<double>(L::max()) * 0.999;
    if (u > 16 && !(std::fabs(a - b) < 16 * static_cast<double>(L::epsilon())) && !largest)
      text = std::string(op) + " of " + std::to_string(x[i]) + ", " + std::to_string(z[i]) + ": " + std::to_string(a) + " for " + std::to_string(b);
  }
  if (text.empty() && far > static_cast<int>(x.size()) / 50) text = std::string(op) + ": " + std::to_string(far) + " results more than 16 ulp away";
  return text;
}
template <class T, class... Op> void check(type_list<Op...>) {
  constexpr std::size_t ops = sizeof...(Op), rows = 3 * ops;
  const std::vector<T> x = points<T>(1), z = points<T>(2);
  const index_t n = static_cast<index_t>(x.size());
  const std::size_t size = x.size();
  device_array<T, 1> dx(n), dz(n), device_out(n * static_cast<index_t>(rows));
  dx.copy_from(x.data()), dz.copy_from(z.data());
  std::vector<T> host_out(rows * size, T(77)), got(rows * size, T(55));  // an empty kernel leaves 55
  device_out.copy_from(got.data());
  const layout_map<1> all = layout_map<1>::row_major({{n}});
  auto bodies = [&](const T* px, const T* pz, T* out) {
    const device_leaf<T, 1> lx{px, all}, lz{pz, all};
    index_t k = 0;
    auto values = [&]<class O>(std::type_identity<O>) {
      T* to = out + 3 * n * k++;
      if constexpr (is_mask<O, T>) return value_body<cast_op<T>>(lx, lz, to);  // masks below
      else return value_body<O>(lx, lz, to);
    };
    auto derivatives = [&]<class O>(std::type_identity<O>) {
      T* const to[] = {out + 3 * n * k + n, out + 3 * n * k + 2 * n};
      ++k;
      if constexpr (is_mask<O, T>) return value_body<cast_op<T>>(lx, lz, to[0]);
      else return derivative_body<O>(lx, lz, to);
    };
    const bundle<decltype(values(std::type_identity<Op>{}))...> first{{{values(std::type_identity<Op>{})}...}};
    k = 0;
    const bundle<decltype(derivatives(std::type_identity<Op>{}))...> second{{{derivatives(std::type_identity<Op>{})}...}};
    return std::pair(several<decltype(values(std::type_identity<Op>{}))...>{first}, several<decltype(derivatives(std::type_identity<Op>{}))...>{second});
  };
  const auto on_host = bodies(x.data(), z.data(), host_out.data()), on_device = bodies(dx.data(), dz.data(), device_out.data());
  for (index_t t = 0; t < n; ++t) on_host.first(t, run::one_each{}), on_host.second(t, run::one_each{});
  gpu::on_stream{}.launch(on_device.first, n);
  gpu::on_stream{}.launch(on_device.second, n);
  device_out.copy_to(got.data());
  const char* const names[] = {Op::name...};
  for (std::size_t row = 0; row < rows; ++row) {
    const bool second = row % 3 == 2;
    constexpr bool binary[] = {Op::arity == 2 && !is_mask<Op, T>...};
    if (second && !binary[row / 3]) continue;
    const std::string name = std::string(row % 3 == 0 ? "" : second ? "d/dz " : "d/dx ") + names[row / 3];
    const std::string said = disagreement(name.c_str(), got.data() + row * size, host_out.data() + row * size, x, z);
    CHECK_MESSAGE(said.empty(), said);
  }
}
template <class T, class... Op> void check_masks(type_list<Op...>) {
  const std::vector<T> x = points<T>(1), z = points<T>(2);
  const index_t n = static_cast<index_t>(x.size());
  device_array<T, 1> dx(n), dz(n);
  dx.copy_from(x.data()), dz.copy_from(z.data());
  device_array<bool, 1> out(n);
  const layout_map<1> all = layout_map<1>::row_major({{n}});
  auto one = [&]<class O>(std::type_identity<O>) {
    if constexpr (is_mask<O, T>) {
      const std::unique_ptr<bool[]> want(new bool[x.size()]), got(new bool[x.size()]);
      const auto body = value_body<O>(device_leaf<T, 1>{x.data(), all}, device_leaf<T, 1>{z.data(), all}, want.get());
      for (index_t t = 0; t < n; ++t) body(t, run::one_each{});
      gpu::on_stream{}.launch(value_body<O>(dx.as_leaf(), dz.as_leaf(), out.data()), n);
      out.copy_to(got.get());
      int wrong = 0;
      for (std::size_t i = 0; i < x.size(); ++i) wrong += want[i] != got[i];
      CHECK_MESSAGE(wrong == 0, std::string(O::name));
    }
  };
  (one(std::type_identity<Op>{}), ...);
}
/// Statements over x and z, made by make(x, z), on both sides: the same elements.
template <class U, class T, class Make> void check_statement(const char* name, const std::vector<T>& x, const std::vector<T>& z, Make make) {
  const index_t n = static_cast<index_t>(x.size());
  device_array<T, 1> dx(n), dz(n);
  dx.copy_from(x.data()), dz.copy_from(z.data());
  device_array<U, 1> out(n);
  const layout_map<1> all = layout_map<1>::row_major({{n}});
  const std::unique_ptr<U[]> want(new U[x.size()]), got(new U[x.size()]);
  const auto on_host = body_of(make(device_leaf<T, 1>{x.data(), all}, device_leaf<T, 1>{z.data(), all}), want.get());
  for (index_t t = 0; t < n; ++t) on_host(t, run::one_each{});
  gpu::on_stream{}.launch(body_of(make(dx.as_leaf(), dz.as_leaf()), out.data()), n);
  out.copy_to(got.get());
  int wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) wrong += want[i] != got[i] && (want[i] == want[i] || got[i] == got[i]);
  CHECK_MESSAGE(wrong == 0, std::string(name));
}
template <class... A, class... B> type_list<A..., B...> joined(type_list<A...>, type_list<B...>);
using compared = type_list<equal_op, not_equal_op, less_op, less_equal_op, greater_op, greater_equal_op>;
}  // namespace

TEST_CASE_TEMPLATE("operators of one operand", T, float, double) { check<T>(all_unary{}); }
TEST_CASE_TEMPLATE("operators of two operands", T, float, double) { check<T>(all_binary{}); }
TEST_CASE("masks") { check_masks<float>(decltype(joined(all_unary{}, compared{})){}); }
TEST_CASE("three operands, truth values and bits: the same elements") {
  const auto x = points<float>(1), z = points<float>(2);
  check_statement<float>("where", x, z, [](auto a, auto b) { return apply<where_op>(apply<greater_op>(a, b), a, b); });
  check_statement<float>("clamp", x, z, [](auto a, auto b) { return apply<clamp_op>(a, b, 2.0f); });
  std::vector<float> whole;  // fma is rounded once on a device, twice on a host without the instruction
  for (int i = 0; i < 4000; ++i) whole.push_back(static_cast<float>(i % 1000 - 500));
  check_statement<float>("fma", whole, whole, [](auto a, auto b) { return apply<fma_op>(a, b, a); });
  check_statement<float>("lerp", whole, whole, [](auto a, auto b) { return apply<lerp_op>(a, b, 0.5f); });
  check_statement<bool>("and", x, z, [](auto a, auto b) { return apply<logical_and_op>(apply<greater_op>(a, 0), apply<greater_op>(b, 0)); });
  check_statement<bool>("or, not", x, z, [](auto a, auto b) { return apply<logical_or_op>(apply<greater_op>(a, 0), apply<logical_not_op>(apply<greater_op>(b, 0))); });
  std::vector<std::int32_t> k, m;
  for (int i = 0; i < 4000; ++i) k.push_back(static_cast<std::int32_t>(static_cast<unsigned>(i) * 1234577u)), m.push_back(i % 41 - 4);
  check_statement<std::int32_t>("bits", k, m, [](auto a, auto b) { return apply<bit_xor_op>(apply<bit_and_op>(a, b), apply<bit_or_op>(apply<bit_not_op>(a), b)); });
  check_statement<std::int32_t>("shifts", k, m, [](auto a, auto b) { return apply<add_op>(apply<shift_left_op>(a, b), apply<shift_right_op>(a, b)); });
  check_statement<std::int32_t>("quotients", k, m, [](auto a, auto b) { return apply<add_op>(apply<div_op>(a, b), apply<mul_op>(apply<remainder_op>(a, b), 1000)); });
}
