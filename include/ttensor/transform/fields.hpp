// Field I of an aggregate by structured binding. Generated shape: one branch a field count; nothing else can count fields in C++20.
#pragma once
#include <tuple>
#include "../base/meta.hpp"

TTENSOR_BEGIN
namespace tree {

struct any_field {
  template <class T> operator T() const;
};
template <class T, class... A> constexpr int field_count() {  // the largest number of initialisers the aggregate takes
  if constexpr (requires { T{std::declval<A>()..., any_field{}}; }) return field_count<T, A..., any_field>();
  else return static_cast<int>(sizeof...(A));
}

/// What converts to a base of T, and what to nothing.
template <class T> struct any_base {
  template <class B> requires(std::is_base_of_v<B, T> && !std::is_same_v<B, T>) operator B() const;
};
struct nothing {};
template <class T> inline constexpr bool has_base_v =
    requires { T{std::declval<any_base<T>>()}; } && !requires { T{std::declval<nothing>()}; };
/// A base beside fields or with several of them. The only field may be the base's.
template <class T, int n> inline constexpr bool has_base_and_more_v =
    has_base_v<T> && (n > 1 || requires { T{{any_field{}, any_field{}}}; });
/// An array of C takes several initialisers in braces and none in parentheses.
template <class T, class... A> constexpr bool has_c_array() {
  if constexpr (requires { T{std::declval<A>()..., any_field{}}; }) return has_c_array<T, A..., any_field>();
#if defined(__cpp_aggregate_paren_init)
  else if constexpr (sizeof...(A) > 1) return !requires { T(std::declval<A>()...); };
#endif
  else return false;
}

/// Reference to field I.
template <int I, class T, int n = field_count<std::remove_const_t<T>>()> constexpr auto& field(T& x) {
  static_assert(n > 0 && n <= 40, "ttensor: an aggregate in a tree must have 1 to 40 fields");
  static_assert(
      !has_base_and_more_v<std::remove_const_t<T>, n>,
      "ttensor: an aggregate in a tree can't have a base class, its fields would be miscounted; make the base a field");
  static_assert(
      !has_c_array<std::remove_const_t<T>>(),
      "ttensor: an aggregate in a tree can't have an array of C, its fields would be miscounted; use std::array");
  if constexpr (n == 1) { auto& [a0] = x; return std::get<I>(std::tie(a0)); }
  else if constexpr (n == 2) { auto& [a0, a1] = x; return std::get<I>(std::tie(a0, a1)); }
  else if constexpr (n == 3) { auto& [a0, a1, a2] = x; return std::get<I>(std::tie(a0, a1, a2)); }
  else if constexpr (n == 4) { auto& [a0, a1, a2, a3] = x; return std::get<I>(std::tie(a0, a1, a2, a3)); }
  else if constexpr (n == 5) { auto& [a0, a1, a2, a3, a4] = x; return std::get<I>(std::tie(a0, a1, a2, a3, a4)); }
  else if constexpr (n == 6) { auto& [a0, a1, a2, a3, a4, a5] = x; return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5)); }
  else if constexpr (n == 7) { auto& [a0, a1, a2, a3, a4, a5, a6] = x; return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6)); }
  else if constexpr (n == 8) { auto& [a0, a1, a2, a3, a4, a5, a6, a7] = x; return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7));
  } else if constexpr (n == 9) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8));
  } else if constexpr (n == 10) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9));
  } else if constexpr (n == 11) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10));
  } else if constexpr (n == 12) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11));
  } else if constexpr (n == 13) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12));
  } else if constexpr (n == 14) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13));
  } else if constexpr (n == 15) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14));
  } else if constexpr (n == 16) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15));
  } else if constexpr (n == 17) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16));
  } else if constexpr (n == 18) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17));
  } else if constexpr (n == 19) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18));
  } else if constexpr (n == 20) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19] = x;
    return std::get<I>(
        std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19));
  } else if constexpr (n == 21) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20] = x;
    return std::get<I>(
        std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20));
  } else if constexpr (n == 22) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21] = x;
    return std::get<I>(
        std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21));
  } else if constexpr (n == 23) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                                a19, a20, a21, a22));
  } else if constexpr (n == 24) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22,
           a23] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                                a19, a20, a21, a22, a23));
  } else if constexpr (n == 25) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23,
           a24] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                                a19, a20, a21, a22, a23, a24));
  } else if constexpr (n == 26) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23,
           a24, a25] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                                a19, a20, a21, a22, a23, a24, a25));
  } else if constexpr (n == 27) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23,
           a24, a25, a26] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                                a19, a20, a21, a22, a23, a24, a25, a26));
  } else if constexpr (n == 28) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23,
           a24, a25, a26, a27] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                                a19, a20, a21, a22, a23, a24, a25, a26, a27));
  } else if constexpr (n == 29) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23,
           a24, a25, a26, a27, a28] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                                a19, a20, a21, a22, a23, a24, a25, a26, a27, a28));
  } else if constexpr (n == 30) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23,
           a24, a25, a26, a27, a28, a29] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                                a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29));
  } else if constexpr (n == 31) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23,
           a24, a25, a26, a27, a28, a29, a30] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                                a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30));
  } else if constexpr (n == 32) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23,
           a24, a25, a26, a27, a28, a29, a30, a31] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                                a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31));
  } else if constexpr (n == 33) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23,
           a24, a25, a26, a27, a28, a29, a30, a31, a32] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                                a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32));
  } else if constexpr (n == 34) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23,
           a24, a25, a26, a27, a28, a29, a30, a31, a32, a33] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                                a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33));
  } else if constexpr (n == 35) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23,
           a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                                a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34));
  } else if constexpr (n == 36) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23,
           a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                                a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35));
  } else if constexpr (n == 37) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23,
           a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                                a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35,
                                a36));
  } else if constexpr (n == 38) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23,
           a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                                a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35,
                                a36, a37));
  } else if constexpr (n == 39) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23,
           a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                                a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35,
                                a36, a37, a38));
  } else if constexpr (n == 40) {
    auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23,
           a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39] = x;
    return std::get<I>(std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
                                a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35,
                                a36, a37, a38, a39));
  }
}

}  // namespace tree
TTENSOR_END
