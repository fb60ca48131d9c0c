// A law: an element has the same bits in a statement and under a transform. The compiler may contract a * b + c, and does so in one
// loop and not in another; so an operator that ends in a product rounds it by itself. Every operator is followed by a sum here.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <ttensor/all.hpp>

namespace tt = ttensor;

namespace {
constexpr tt::index_t n = 203;
using vec = tt::tensor<double, 1>;
vec numbers(int seed, double low, double high) { return tt::uniform<double>(tt::rng(static_cast<std::uint64_t>(seed)), {n}) * (high - low) + low; }

int unlike(const vec& a, const vec& b) {
  int count = 0;
  for (tt::index_t i = 0; i < n; ++i) {
    const double x = a(i), y = b(i);
    count += std::memcmp(&x, &y, sizeof x) != 0 && (x == x || y == y);
  }
  return count;
}
template <class F, class... X> void check(const char* op, F f, const X&... x) {
  INFO(std::string(op));
  const vec plain = f(x...);
  CHECK(unlike(plain, tt::jvp(f, std::tuple(x...), std::tuple(tt::ones_like(x)...)).y) == 0);
}
template <class Op> void unary() {
  if constexpr (requires(vec x) { tt::jvp([](const auto& a) { return tt::apply<Op>(a); }, x, x); })
    check(Op::name, [](const auto& a, const auto& c) { return tt::apply<Op>(a) + c; }, numbers(1, 0.1, 0.9), numbers(2, -1, 1));
}
template <class Op> void binary() {
  check(Op::name, [](const auto& a, const auto& b, const auto& c) { return tt::apply<Op>(a, b) + c; }, numbers(1, 0.1, 0.9), numbers(3, 0.1, 3), numbers(2, -1, 1));
}
template <class... Op> void all_of(tt::type_list<Op...>) { (unary<Op>(), ...); }
template <class... Op> void all_of_binary(tt::type_list<Op...>) { (binary<Op>(), ...); }
}  // namespace

TEST_CASE("a unary operator and a sum: the same bits in a statement and under jvp") { all_of(tt::all_unary{}); }
TEST_CASE("a binary operator and a sum") { all_of_binary(tt::all_binary{}); }
TEST_CASE("lerp and fma and a sum") {
  const auto three = [](const char* op, auto f) { check(op, f, numbers(1, 0.1, 0.9), numbers(3, 0.1, 3), numbers(2, -1, 1)); };
  three("lerp", [](const auto& a, const auto& b, const auto& c) { return lerp(a, b, 0.3) + c; });
  three("fma", [](const auto& a, const auto& b, const auto& c) { return fma(a, b, c) * 0.1 + c; });
  three("a product of products", [](const auto& a, const auto& b, const auto& c) { return a * b * c + a * c; });
}
