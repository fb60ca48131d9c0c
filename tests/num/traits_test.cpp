// traits.hpp: promotion tables, at compile time. NumPy 2.x result_type is the reference for tensor with tensor.
#include <doctest/doctest.h>

#include <type_traits>

#include "ttensor/num/complex.hpp"
#include "ttensor/num/traits.hpp"

namespace tt = ttensor;
using tt::bfloat16, tt::half;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using c64 = std::complex<float>;
using c128 = std::complex<double>;

template <class A, class B, class R>
constexpr bool promotes = std::is_same_v<tt::promote_t<A, B>, R> && std::is_same_v<tt::promote_t<B, A>, R>;
template <class A, class S, class R>
constexpr bool keeps = std::is_same_v<tt::weak_t<A, S>, R>;

static_assert(promotes<bool, bool, bool> && promotes<bool, i8, i8> && promotes<bool, half, half> && promotes<bool, c64, c64>);
static_assert(promotes<i8, i16, i16> && promotes<u8, u32, u32> && promotes<i32, i64, i64>);
static_assert(promotes<u8, i8, i16> && promotes<u16, i8, i32> && promotes<u32, i32, i64> && promotes<u8, i32, i32> && promotes<u64, i8, double> && promotes<u64, i64, double>);
static_assert(promotes<half, i8, half> && promotes<half, u8, half> && promotes<half, i16, float> && promotes<half, i32, double> && promotes<half, i64, double>);
static_assert(promotes<float, i8, float> && promotes<float, u16, float> && promotes<float, i32, double> && promotes<float, u32, double> && promotes<float, i64, double>);
static_assert(promotes<double, i8, double> && promotes<double, u64, double>);
static_assert(promotes<half, float, float> && promotes<half, double, double> && promotes<float, double, double> && promotes<half, bfloat16, float>);
static_assert(promotes<c64, half, c64> && promotes<c64, float, c64> && promotes<c64, double, c128> && promotes<c64, i8, c64> && promotes<c64, i16, c64> &&
              promotes<c64, i32, c128> && promotes<c64, i64, c128> && promotes<c64, c128, c128>);

static_assert(keeps<float, double, float> && keeps<half, int, half> && keeps<half, double, half> && keeps<i8, int, i8> && keeps<u8, i64, u8>);
static_assert(keeps<bool, bool, bool> && keeps<bool, int, i64> && keeps<bool, double, double> && keeps<bool, c64, c128>);
static_assert(keeps<i8, float, double> && keeps<i64, bool, i64> && keeps<i32, c64, c128>);
static_assert(keeps<float, c128, c64> && keeps<double, c64, c128> && keeps<half, c64, c64> && keeps<c64, double, c64> && keeps<c64, c128, c64>);

static_assert(std::is_same_v<tt::reduced_t<bool>, i64> && std::is_same_v<tt::reduced_t<i8>, i64> && std::is_same_v<tt::reduced_t<u16>, u64> && std::is_same_v<tt::reduced_t<half>, half>);
static_assert(std::is_same_v<tt::accumulate_t<half>, float> && std::is_same_v<tt::accumulate_t<float>, float> && std::is_same_v<tt::accumulate_t<u8>, u64>);
static_assert(std::is_same_v<tt::compute_t<bfloat16>, float> && std::is_same_v<tt::compute_t<i8>, i8> && std::is_same_v<tt::real_t<c64>, float>);
static_assert(tt::number<long double> && tt::number<long long> && tt::number<c128> && !tt::number<void*> && !tt::number<std::nullptr_t>);

TEST_CASE("the promotion tables hold (checked when this file was compiled)") { CHECK(true); }

TEST_CASE("complex goes to the standard library") {
  const c128 z(0.3, -0.7);
  CHECK(tt::math::exp(z) == std::exp(z));
}
