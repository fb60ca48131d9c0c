// zeros ones full uninitialized arange linspace eye, borrowed views, and copies into another element type.
#pragma once
#include <cmath>  // ceil, floor
#include "number_bounds.hpp"
#include "operators.hpp"

TTENSOR_BEGIN

namespace factory_detail {
template <class T, int R> tensor<T, R> filled(const dims<R>& e, const T& v) {
  tensor<T, R> t(store<T>::make(shape::elements(e)), e);
  if (t.size()) t(ellipsis) = v;
  return t;
}
enum class wants { more };  // of no number: ones<2> may be another's
[[noreturn]] void unlike_range(index_t n, const message& shape);
#if defined(TTENSOR_BODY)
TTENSOR_BODY void unlike_range(index_t n, const message& shape) {
  raise<shape_error>("[view] a range of " + to_message(n) + " elements under the shape " + shape +
                     "; give a shape of as many elements [TT-S34]");
}
#endif
}  // namespace factory_detail

/// Extents (units: elements) to a tensor of zeros; zeros<double>(2, 3) has rank 2, zeros<double>() rank 0.
template <class T, class... I> requires(shape::is_index_v<I> && ...) tensor<T, static_cast<int>(sizeof...(I))> zeros(I... n) {
  constexpr int R = static_cast<int>(sizeof...(I));
  if constexpr (R == 0) return tensor<T, 0>(T(0));
  else return tensor<T, R>(dims<R>{{static_cast<index_t>(n)...}});
}
template <class T, int R> tensor<T, R> zeros(const dims<R>& e) {
  if constexpr (R == 0) return zeros<T>();
  else return tensor<T, R>(e);
}
template <class T, std::size_t R> tensor<T, static_cast<int>(R)> zeros(const index_t (&n)[R]) { return zeros<T>(shape::listed(n)); }
template <class T, int R> tensor<T, R> ones(const dims<R>& e) { return factory_detail::filled<T>(e, T(1)); }
template <class T, class... I> requires(shape::is_index_v<I> && ...) tensor<T, static_cast<int>(sizeof...(I))> ones(I... n) {
  return ones<T>(dims<static_cast<int>(sizeof...(I))>{{static_cast<index_t>(n)...}});
}
template <class T, std::size_t R> tensor<T, static_cast<int>(R)> ones(const index_t (&n)[R]) { return ones<T>(shape::listed(n)); }
/// full<double>({2, 3}, 7.0)
template <class T, std::size_t R, any_scalar V = T> tensor<T, static_cast<int>(R)> full(const index_t (&n)[R], const V& v) {
  return factory_detail::filled<T>(shape::listed(n), tensor_detail::weak_scalar<T>(v));
}
template <std::size_t R, number V> tensor<V, static_cast<int>(R)> full(const index_t (&n)[R], const V& v) {
  return factory_detail::filled<V>(shape::listed(n), v);
}
template <int R, number V> tensor<V, R> full(const dims<R>& e, const V& v) { return factory_detail::filled<V>(e, v); }
template <class T, int R, any_scalar V = T> tensor<T, R> full(const dims<R>& e, const V& v) {
  return factory_detail::filled<T>(e, tensor_detail::weak_scalar<T>(v));
}
namespace factory_detail {
template <class T, class X> using like_t = std::conditional_t<std::is_void_v<T>, storage_scalar_t<scalar_t<X>>, T>;
template <class S, class X> auto like(const X& x, const S& v) {
  if constexpr (rank_v<X> == 0) {
    return tensor<S, 0>(v);
  } else if constexpr (requires { X::shape_parameter; }) {
    tensor<S, X::shape_parameter> t(x.shape());
    t = v;
    return t;
  } else {
    return filled<S>(x.shape(), v);
  }
}
}  // namespace factory_detail
/// With the shape of x and its element type, or T: zeros_like(x), ones_like<float>(x), full_like(x, 7). Of a fixed tensor with axes a fixed one.
template <class T = void, array_like X> auto zeros_like(const X& x) { return factory_detail::like(x, factory_detail::like_t<T, X>(0)); }
template <class T = void, array_like X> auto ones_like(const X& x) { return factory_detail::like(x, factory_detail::like_t<T, X>(1)); }
template <class T = void, array_like X, any_scalar V> auto full_like(const X& x, const V& v) {
  using S = factory_detail::like_t<T, X>;
  return factory_detail::like<S>(x, tensor_detail::weak_scalar<S>(v));
}
/// A scalar of any kind is an array without axes here: broadcast_to(sum(x), {3}).
template <class V, int R> requires(!array_like<V> && any_scalar<V>) auto broadcast_to(const V& v, const dims<R>& to) {
  return full<scalar_t<V>>(to, v);
}
template <class V, std::size_t R> requires(!array_like<V> && any_scalar<V>)
auto broadcast_to(const V& v, const index_t (&to)[R]) {
  return broadcast_to(v, shape::listed(to));
}
template <class V, std::integral... I> requires(!array_like<V> && any_scalar<V> && sizeof...(I) > 0) auto broadcast_to(const V& v, I... n) {
  return broadcast_to(v, dims<static_cast<int>(sizeof...(I))>{{static_cast<index_t>(n)...}});
}
/// Elements are whatever the memory held: for outputs that are written at once.
template <class T, int R> tensor<T, R> uninitialized(const dims<R>& e) { return {store<T>::make(shape::elements(e)), e}; }
template <class T, class... I> requires(shape::is_index_v<I> && ...) tensor<T, static_cast<int>(sizeof...(I))> uninitialized(I... n) {
  return uninitialized<T>(dims<static_cast<int>(sizeof...(I))>{{static_cast<index_t>(n)...}});
}
template <class T, std::size_t R> tensor<T, static_cast<int>(R)> uninitialized(const index_t (&n)[R]) {
  return uninitialized<T>(shape::listed(n));
}
namespace factory_detail {
[[noreturn]] void no_step();
#if defined(TTENSOR_BODY)
TTENSOR_BODY void no_step() { raise<domain_error>("[arange] step 0; give a positive or negative step [TT-D01]"); }
#endif
/// More than there can be: refused where memory is taken.
inline constexpr index_t most_elements = std::numeric_limits<index_t>::max() / 2 + 1;
/// In 64 bits, which wrap: a double does not hold them. The stop and the step are integers of any types.
template <class T, class Stop, class Step> tensor<T, 1> count_to(T start, Stop stop, Step step) {
  const auto bits = [](auto x) { return static_cast<std::uint64_t>(x); };
  if (step == 0) no_step();
  const bool up = step > 0;
  std::uint64_t count = 0;
  if (up ? std::cmp_less(+start, stop) : std::cmp_greater(+start, stop)) {
    constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    const std::uint64_t each = up ? bits(step) : 0 - bits(step);
    const bool far = up ? std::cmp_greater(stop, +most) : std::cmp_less(stop, +least);
    const std::uint64_t edge = far ? bits(up ? most : least) : up ? bits(stop) - 1 : bits(stop) + 1;  // the last T before the stop
    const std::uint64_t room = up ? edge - bits(start) : bits(start) - edge, rest = room % each;
    const std::uint64_t behind = !far ? 0 : up ? bits(stop) - edge : edge - bits(stop);  // from there to the stop
    count = room / each + 1;
    if (behind > each - rest) bounds::unreached("arange", "stop " + std::to_string(stop));
  }
  tensor<T, 1> t = uninitialized<T>(count > bits(most_elements) ? most_elements : static_cast<index_t>(count));
  T* p = t.data();
  for (std::uint64_t i = 0; i < count; ++i) p[i] = static_cast<T>(bits(start) + i * bits(step));
  return t;
}
}  // namespace factory_detail
/// start, start + step, ... below stop; an empty tensor when there is none.
/// Throws    domain_error [TT-D01, TT-D15, TT-D16]: a step of 0, floating bounds that are no numbers, integers that T does not reach
template <class T> tensor<T, 1> arange(T start, T stop, T step = T(1)) {
  static_assert(!std::is_same_v<T, bool> && !is_complex_v<T>, "ttensor: arange<T> counts in integers or real numbers; convert what it gives, to<T>(arange<double>(n))");
  if constexpr (is_integer_v<T>) {
    return factory_detail::count_to(start, +stop, +step);
  } else {
    if (step == T(0)) factory_detail::no_step();
    constexpr index_t most = factory_detail::most_elements;
    const double span = (static_cast<double>(stop) - static_cast<double>(start)) / static_cast<double>(step);
    if (span != span)
      raise<domain_error>(
          "[arange] the bounds or the step are not a number; how many elements there are depends on them [TT-D15]");
    index_t n = span > static_cast<double>(most) ? most : span > 0 ? static_cast<index_t>(span) : 0;
    if (static_cast<double>(n) < span) ++n;
    tensor<T, 1> t = uninitialized<T>(n);
    T* p = t.data();
    using C = compute_t<T>;
    for (index_t i = 0; i < n; ++i) p[i] = static_cast<T>(C(start) + static_cast<C>(i) * C(step));
    return t;
  }
}
template <class T> tensor<T, 1> arange(T stop) { return arange<T>(T(0), stop); }
/// Integers between bounds of other types, which are not cut to T: arange<std::uint8_t>(256) has 256 elements.
template <class T, bounds::bound A, bounds::bound B, bounds::bound C = int>
requires(is_integer_v<T> && !(std::is_same_v<A, T> && std::is_same_v<B, T> && std::is_same_v<C, T>))
tensor<T, 1> arange(const A& start, const B& stop, const C& step = C(1)) {
  const auto by = bounds::whole("arange", step);
  const auto to = [&](const auto v) {
    if constexpr (std::is_integral_v<decltype(+v)>) return +v;
    else return bounds::whole("arange", by > 0 ? std::ceil(v) : std::floor(v));
  }(bounds::number_of(stop));
  return factory_detail::count_to(bounds::exactly<T>("arange", start), to, by);
}
template <class T, bounds::bound B> requires(is_integer_v<T> && !std::is_same_v<B, T>) tensor<T, 1> arange(const B& stop) {
  return arange<T>(T(0), stop, T(1));
}
/// Floating numbers between integers, such as extents: arange<double>(n). How many there are does not depend on what T holds.
template <std::floating_point T, class A, class B, class C = int>
requires((std::integral<A> || std::integral<B> || std::integral<C>) && (std::integral<A> || std::is_same_v<A, T>) &&
         (std::integral<B> || std::is_same_v<B, T>) && (std::integral<C> || std::is_same_v<C, T>))
tensor<T, 1> arange(A start, B stop, C step = C(1)) {
  using W = std::conditional_t<(sizeof(T) > sizeof(double)), T, double>;
  const tensor<W, 1> wide = arange<W>(static_cast<W>(start), static_cast<W>(stop), static_cast<W>(step));
  if constexpr (std::is_same_v<W, T>) return wide;
  else return to<T>(wide);
}
template <std::floating_point T, std::integral N> tensor<T, 1> arange(N stop) { return arange<T>(N(0), stop, N(1)); }
namespace factory_detail {
template <class V> void check_int64(V v) {
  if (std::is_unsigned_v<V> && static_cast<std::uint64_t>(v) > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    raise<domain_error>(
        "[arange] a number above 2^63 - 1 among integers of several types, which are int64 together; write arange<std::uint64_t>(...) [TT-D14]");
}
}  // namespace factory_detail
/// Of several C++ numbers: int64 if all are integers (domain_error for one beyond), else the floating type. (The number keeps arange<T>(...) out.)
template <int = 0, cpp_number A, cpp_number B, cpp_number C = A>
requires(!(std::is_same_v<A, B> && std::is_same_v<A, C>)) auto arange(A start, B stop, C step = C(1)) {
  using T = std::conditional_t<std::is_integral_v<A> && std::is_integral_v<B> && std::is_integral_v<C>, std::int64_t,
                               std::common_type_t<A, B, C>>;
  if constexpr (std::is_integral_v<T>)
    factory_detail::check_int64(start), factory_detail::check_int64(stop), factory_detail::check_int64(step);
  return arange<T>(static_cast<T>(start), static_cast<T>(stop), static_cast<T>(step));
}
namespace factory_detail {
/// Integers in 64 bits, which a double does not hold: a + (b - a) i / (n - 1) rounded down, by quotient and remainder.
template <class T> void between_integers(T a, T b, index_t n, T* p) {
  const bool down = b < a;
  const auto from = static_cast<std::uint64_t>(a), steps = static_cast<std::uint64_t>(n > 1 ? n - 1 : 1);
  const std::uint64_t span = down ? from - static_cast<std::uint64_t>(b) : static_cast<std::uint64_t>(b) - from,
                      each = span / steps, rest = span % steps;
  std::uint64_t way = 0, part = 0;
  for (index_t i = 0; i < n; ++i) {
    p[i] = static_cast<T>(down ? from - way - (part != 0) : from + way);
    way += each;
    part += rest;
    if (part >= steps) part -= steps, ++way;
  }
}
template <class T> tensor<T, 1> between(T a, T b, index_t n) {
  tensor<T, 1> t = uninitialized<T>(n);
  T* p = t.data();
  if constexpr (is_integer_v<T>) {
    between_integers(a, b, n, p);
  } else {
    using C = compute_t<T>;
    const C way = C(b) - C(a), steps = static_cast<C>(n > 1 ? n - 1 : 1), step = way / steps;
    for (index_t i = 0; i < n; ++i)  // as NumPy: whole steps are exact; by the share of the way where a step underflows
      p[i] = i + 1 == n ? b
                        : static_cast<T>(C(a) + (step == C(0) ? static_cast<C>(i) / steps * way
                                                              : ops::product(static_cast<C>(i), step)));
    if (n == 1) p[0] = a;
  }
  return t;
}
}  // namespace factory_detail
/// n numbers from a to b, both included: of type T, else of the type of a and b, double if these are integers. Integers (linspace<int>) are rounded down; bounds
/// that they do not reach are a domain_error [TT-D16].
template <class T = void, class A, class B> auto linspace(const A& a, const B& b, index_t n) {
  using C = promote_t<scalar_t<A>, scalar_t<B>>;
  using Y = std::conditional_t<std::is_void_v<T>, std::conditional_t<is_integer_v<C>, double, C>, T>;
  if constexpr (is_integer_v<Y> && !is_integer_v<C>) {
    for (const C bound : {static_cast<C>(a), static_cast<C>(b)})
      static_cast<void>(bounds::exactly<Y>("linspace", std::floor(static_cast<double>(bound))));
    return tensor<Y, 1>(to<Y>(floor(linspace<C>(a, b, n))));
  } else if constexpr (is_integer_v<Y>) {
    return factory_detail::between<Y>(bounds::exactly<Y>("linspace", a), bounds::exactly<Y>("linspace", b), n);
  } else {
    return factory_detail::between<Y>(static_cast<Y>(a), static_cast<Y>(b), n);
  }
}
/// Ones on the diagonal of n rows and m columns, else zeros.
template <class T> tensor<T, 2> eye(index_t n, index_t m) {
  if constexpr (is_kind_v<T>) {
    return tensor<T, 2>(eye<elem_t<T>>(n, m));
  } else {
    tensor<T, 2> t(n, m);
    T* p = t.data();
    for (index_t i = 0; i < n && i < m; ++i) p[i * m + i] = T(1);
    return t;
  }
}
/// Identity matrix.
template <class T> tensor<T, 2> eye(index_t n) { return eye<T>(n, n); }
/// Borrowed memory: the caller keeps it alive; expressions over it are not snapshots. shape (and strides) in elements.
template <class T, int R> view_of<T, R> view(T* p, const dims<R>& n, const dims<R>& strides) {
  using U = std::remove_const_t<T>;
  return {store<U>::borrowed(const_cast<U*>(p), shape::elements(n)), layout_map<R>{0, n, strides}};
}
template <class T, int R> view_of<T, R> view(T* p, const dims<R>& n) { return view(p, n, shape::row_major(n)); }
template <class T, std::size_t R> view_of<T, static_cast<int>(R)> view(T* p, const index_t (&n)[R]) { return view(p, shape::listed(n)); }
template <class T, std::size_t R> view_of<T, static_cast<int>(R)> view(T* p, const index_t (&n)[R], const index_t (&strides)[R]) {
  return view(p, shape::listed(n), shape::listed(strides));
}
/// Of a std::vector, std::array or std::span that has a name, which keeps its memory: one axis, or of a shape with as many elements (shape_error). A C array: one axis.
template <class V, int R> requires tensor_detail::contiguous<V> auto view(V&& v, const dims<R>& n) {
  static_assert(
      std::is_lvalue_reference_v<V> || requires { typename V::element_type; },
      "ttensor: a view of a temporary, whose memory is gone when the view is read: give the container a name, or copy it, tensor<T, 1>(container)");
  if (shape::elements(n) != static_cast<index_t>(v.size())) factory_detail::unlike_range(static_cast<index_t>(v.size()), shape::text(n));
  return view(v.data(), n);
}
template <class V, std::size_t R> requires tensor_detail::contiguous<V> auto view(V&& v, const index_t (&n)[R]) {
  return view(static_cast<V&&>(v), shape::listed(n));
}
template <class V> requires tensor_detail::contiguous<V> auto view(V&& v) {
  return view(static_cast<V&&>(v), dims<1>{{static_cast<index_t>(v.size())}});
}
template <any_scalar T, std::size_t N> auto view(T (&a)[N]) { return view(a, dims<1>{{static_cast<index_t>(N)}}); }

// Calls that name too little: a sentence instead of a list of overloads. By an ellipsis, so that whatever else has the name comes first.
#define TTENSOR_WANTS_TYPE(op, call)                                                                                \
  template <factory_detail::wants N = factory_detail::wants::more> auto op(...) {                                   \
    static_assert(N != factory_detail::wants::more, "ttensor: " #op " wants the element type: " call);              \
    return 0;                                                                                                       \
  }                                                                                                                 \
  template <factory_detail::wants N = factory_detail::wants::more, class I, std::size_t R> auto op(const I(&)[R]) { \
    static_assert(N != factory_detail::wants::more, "ttensor: " #op " wants the element type: " call);              \
    return 0;                                                                                                       \
  }
TTENSOR_WANTS_TYPE(zeros, "zeros<double>(2, 3)")
TTENSOR_WANTS_TYPE(ones, "ones<double>(2, 3)")
TTENSOR_WANTS_TYPE(uninitialized, "uninitialized<double>(2, 3)")
TTENSOR_WANTS_TYPE(eye, "eye<double>(3)")
#undef TTENSOR_WANTS_TYPE
template <class T = void, factory_detail::wants N = factory_detail::wants::more> auto full(...) {
  static_assert(N != factory_detail::wants::more,
                "ttensor: full takes the extents in braces, or a shape, and then the value: full<double>({2, 3}, 7.0)");
  return 0;
}

TTENSOR_END
