// Type lists and the two containers that host and device code can share (std::tuple and std::array cannot be used there).
#pragma once
#include <concepts>
#include <type_traits>
#include <utility>
#include "config.hpp"

TTENSOR_HD_BEGIN

template <class... T> struct type_list {
  static constexpr int size = static_cast<int>(sizeof...(T));
};
template <int... I> struct int_list {
  static constexpr int size = static_cast<int>(sizeof...(I));
};

/// Some numbers below N, found by a constant expression, and the list of them.
template <int N> struct selection {
  int count = 0, at[N > 0 ? N : 1]{};
  constexpr void add(int i) { at[count++] = i; }
};
namespace meta {
template <auto Selection, class S = std::make_integer_sequence<int, Selection.count>> struct listed;
template <auto Selection, int... K> struct listed<Selection, std::integer_sequence<int, K...>> {
  using type = int_list<Selection.at[K]...>;
};
}  // namespace meta
template <auto Selection> using list_of = typename meta::listed<Selection>::type;

/// Fixed-size array usable in device code; empty arrays hold one unused element.
template <class T, int N> struct array {
  T v[N > 0 ? N : 1];
  TTENSOR_HD constexpr T& operator[](index_t i) { return v[i]; }
  TTENSOR_HD constexpr const T& operator[](index_t i) const { return v[i]; }
  TTENSOR_HD constexpr T* begin() { return v; }
  TTENSOR_HD constexpr T* end() { return v + N; }
  TTENSOR_HD constexpr const T* begin() const { return v; }
  TTENSOR_HD constexpr const T* end() const { return v + N; }
  TTENSOR_HD static constexpr int size() { return N; }
  template <std::size_t I> TTENSOR_HD constexpr T& get() { return v[I]; }  // auto [rows, columns] = x.shape()
  template <std::size_t I> TTENSOR_HD constexpr const T& get() const { return v[I]; }
  friend constexpr bool operator==(const array& a, const array& b) {
    for (int i = 0; i < N; ++i)
      if (!(a.v[i] == b.v[i])) return false;
    return true;
  }
};

template <class T> inline constexpr bool is_array_v = false;
template <class T, int N> inline constexpr bool is_array_v<array<T, N>> = true;
/// What has parts of several types: std::tuple, pair and array, but not the array above, which has a tuple_size for structured bindings only.
template <class T> concept tuple_like = requires { std::tuple_size<T>::value; } && !is_array_v<std::remove_cv_t<T>>;

namespace meta {
template <int I, class T> struct slot { T value; };
template <class S, class... T> struct slot_row;
template <int... I, class... T> struct slot_row<std::integer_sequence<int, I...>, T...> : slot<I, T>... {};

template <int I, class T> TTENSOR_HD constexpr T type_at(const slot<I, T>*);
template <int I, class List> struct at;
template <int I, class... T> struct at<I, type_list<T...>> {
  using type = typename decltype(type_at<I>(
      static_cast<slot_row<std::make_integer_sequence<int, sizeof...(T)>, std::type_identity<T>...>*>(nullptr)))::type;
};
}  // namespace meta
template <int I, class List> using at_t = typename meta::at<I, List>::type;

/// Aggregate of values reached by index; unlike std::tuple, host and device code share it and it costs little to compile.
template <class... T> struct bundle : meta::slot_row<std::make_integer_sequence<int, sizeof...(T)>, T...> {
  static constexpr int size = static_cast<int>(sizeof...(T));
};
TTENSOR_NO_EXEC_CHECK
template <class... T> TTENSOR_HD TTENSOR_INLINE constexpr bundle<std::remove_cvref_t<T>...> make_bundle(T&&... t) {
  return {{{static_cast<T&&>(t)}...}};
}
template <int I, class T> TTENSOR_HD TTENSOR_INLINE constexpr T& at(meta::slot<I, T>& s) { return s.value; }
template <int I, class T> TTENSOR_HD TTENSOR_INLINE constexpr const T& at(const meta::slot<I, T>& s) { return s.value; }
template <int I, class T> TTENSOR_HD TTENSOR_INLINE constexpr T&& at(meta::slot<I, T>&& s) { return static_cast<T&&>(s.value); }

template <int I, class T, int N> TTENSOR_HD TTENSOR_INLINE constexpr T& at(array<T, N>& a) { return a.v[I]; }
template <int I, class T, int N> TTENSOR_HD TTENSOR_INLINE constexpr const T& at(const array<T, N>& a) { return a.v[I]; }
namespace meta {
template <class... T> struct row { using type = bundle<T...>; };
template <class T, class... R> requires(std::is_same_v<T, R> && ...) struct row<T, R...> {
  using type = array<T, 1 + static_cast<int>(sizeof...(R))>;
};
}  // namespace meta
/// Values reached by at<I>: an array where all are of one type, which is one class and not one a value.
template <class... T> using row_of = typename meta::row<T...>::type;

namespace meta {
template <class F, int... I> TTENSOR_HD TTENSOR_INLINE constexpr void each_index(F& f, std::integer_sequence<int, I...>) {
  (f(std::integral_constant<int, I>{}), ...);
}
template <class F, class B, int... I> constexpr decltype(auto) spread(F& f, B& b, std::integer_sequence<int, I...>) {
  return f(ttensor::at<I>(b)...);
}
}  // namespace meta
/// f(values of the bundle...).
template <class F, class... T> constexpr decltype(auto) spread(const F& f, const bundle<T...>& b) {
  return meta::spread(f, b, std::make_integer_sequence<int, static_cast<int>(sizeof...(T))>{});
}
namespace meta {
template <class F, class T, std::size_t... I> constexpr decltype(auto) unpack_all(F&& f, T&& t, std::index_sequence<I...>) {
  using std::get;
  return static_cast<F&&>(f)(get<I>(static_cast<T&&>(t))...);
}
/// f(elements of the tuple...), as std::apply, which is seven functions for the compiler.
template <class F, class T> constexpr decltype(auto) unpack(F&& f, T&& t) {
  return meta::unpack_all(static_cast<F&&>(f), static_cast<T&&>(t), std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<T>>>{});
}
}  // namespace meta
/// Calls f(integral_constant<int, 0>), ..., f(integral_constant<int, N - 1>) in order.
template <int N, class F> TTENSOR_HD TTENSOR_INLINE constexpr void static_for(F&& f) {
  meta::each_index(f, std::make_integer_sequence<int, N>{});
}

TTENSOR_HD_END

template <class T, int N> struct std::tuple_size<ttensor::array<T, N>> : std::integral_constant<std::size_t, static_cast<std::size_t>(N)> {};
template <std::size_t I, class T, int N> struct std::tuple_element<I, ttensor::array<T, N>> {
  static_assert(I < static_cast<std::size_t>(N), "ttensor: more names than there are extents");
  using type = T;
};
