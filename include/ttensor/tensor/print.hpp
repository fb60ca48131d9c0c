// Printing much as NumPy does: rows in brackets, columns aligned, the middle of long axes left out; every number with the digits that it needs. Works on any stream that has
// operator<< for strings, so it needs no stream header of its own.
#pragma once
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <string>
#include "array_op.hpp"

TTENSOR_BEGIN

namespace print_detail {
inline constexpr index_t summarize_above = 1000, edge = 3;  // elements; elements kept at each end of an axis

/// How numbers with a point are written: as printf does with `style` and `digits` (below 0 for 'a': all), else (0) with the fewest digits that tell them apart.
struct number_format {
  char style = 0;
  int digits = 0;
};
/// What a stream's precision and floatfield ask for, if they are not the ones of a new stream.
template <class O> number_format format_of(const O& o) {
  if constexpr (requires { o.flags() & O::floatfield; o.precision(); }) {
    const auto field = o.flags() & O::floatfield;
    const int digits = static_cast<int>(o.precision());
    if (field == O::fixed) return {'f', digits};
    if (field == O::scientific) return {'e', digits};
    if (field == O::floatfield) return {'a', -1};
    if (digits != 6) return {'g', digits};
  }
  return {};
}
/// A text of printf's with a point where the C locale of the program has another sign.
inline std::string with_point(std::string s, const char* sign = std::localeconv()->decimal_point) {
  const std::size_t at = sign[0] == '.' ? std::string::npos : s.find(sign);
  return at == std::string::npos ? s : s.substr(0, at) + '.' + s.substr(at + std::strlen(sign));  // GCC 12 warns of replace (-O3, -Wrestrict)
}
template <class T> std::string number_text(T v, const number_format& f) {
  constexpr bool is_long = std::is_same_v<T, long double>;
  const char format[] = {'%', '.', '*', is_long ? 'L' : f.style, is_long ? f.style : char(0), 0};
  std::string s(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, f.digits, v)) + 1, ' ');
  std::snprintf(s.data(), s.size(), format, f.digits, v);
  s.pop_back();
  return with_point(s);
}
/// The fewest digits that give v back as the number of `bits` significant bits that it is, at most 8 of them after the point. T: double, long double
template <class T> TTENSOR_NOINLINE std::string number_text(T v, int bits) {
  if (v != v) return "nan";  // whatever its sign
  if (v - v != 0) return v < 0 ? "-inf" : "inf";
  constexpr bool is_long = std::is_same_v<T, long double>;
  char b[64];
  T w = v;
  int digits = 1;
  for (; digits <= std::numeric_limits<T>::max_digits10; ++digits) {
    std::snprintf(b, sizeof b, is_long ? "%.*Le" : "%.*e", digits - 1, v);
    if constexpr (is_long) {
      if ((w = std::strtold(b, nullptr)) == v) break;
    } else {
      w = std::strtod(b, nullptr);
      if ((bits == 53   ? w
           : bits == 24 ? static_cast<double>(std::strtof(b, nullptr))
                        : static_cast<double>(bits == 11 ? float(half(w)) : float(bfloat16(w)))) == v)
        break;
    }
  }
  const int power = std::atoi(std::strchr(b, 'e') + 1);  // of the first digit
  const bool scientific = v != 0 && (power >= 8 || power < -4);
  const int wanted = scientific ? digits - 1 : digits - 1 - power, after = wanted < 0 ? 0 : wanted > 8 ? 8 : wanted;
  std::snprintf(b, sizeof b, is_long ? (scientific ? "%#.*Le" : "%#.*Lf") : scientific ? "%#.*e" : "%#.*f", after, wanted > after ? v : w);
  std::string s = with_point(b);
  const std::size_t e = s.find('e'), end = e == std::string::npos ? s.size() : e, last = s.find_last_not_of('0', end - 1);
  return after > 0 ? s.erase(last + 1, end - last - 1) : s;
}
template <class T> std::string text(const T& v, const number_format& f) {
  if constexpr (std::is_same_v<T, bool>) return v ? "true" : "false";
  else if constexpr (is_complex_v<T>) {
    const bool minus = __builtin_signbit(v.imag()) && v.imag() == v.imag();
    std::string s = text(v.real(), f);
    s += minus ? '-' : '+';
    s += text(minus ? -v.imag() : v.imag(), f);
    return s += 'i';
  }
  else if constexpr (is_integer_v<T>) return std::to_string(v);
  else if constexpr (is_floating_v<T>) {
    using wide = std::conditional_t<std::is_same_v<T, long double>, T, double>;
    const wide x = static_cast<wide>(v);
    return f.style && v - v == 0 ? number_text(x, f) : number_text(x, number_traits<T>::precision_bits);
  }
  else return "?";
}
/// Plain elements of an array of any kind.
template <class T, int R> std::string array_text(const leaf<T, R>& l, const number_format& f) {
  const auto& e = l.map.extent;
  if constexpr (R == 0) {
    return text(l.data.base[l.map.offset], f);
  } else {
    if (shape::size(e) == 0) return "[]";  // however long its other axes
    const bool all_of = shape::size(e) <= summarize_above;
    auto shown = [&](int d, index_t i) { return all_of || e[d] <= 2 * edge + 1 || i < edge || i >= e[d] - edge; };
    std::size_t width = 0;
    std::string out;
    auto walk = [&](auto&& self, int d, index_t at, bool write) -> void {
      if (write) out += '[';
      bool gap = false;
      for (index_t i = 0; i < e[d]; ++i) {
        if (!shown(d, i)) {
          if (write && !gap) out += d == R - 1 ? std::string(", ...") : ",\n" + std::string(static_cast<std::size_t>(d + 1), ' ') + "...";
          gap = true;
          continue;
        }
        if (write && i > 0) {
          out += ',';
          if (d == R - 1) out += ' ';
          else out += std::string(static_cast<std::size_t>(R - 1 - d), '\n') + std::string(static_cast<std::size_t>(d + 1), ' ');
        }
        const index_t here = at + i * l.map.stride[d];
        if (R > 1 && d < R - 1) {  // said twice: g++ 13 unrolls the recursion of one axis and warns
          self(self, d + 1, here, write);
        } else {
          const std::string s = text(l.data.base[here], f);
          if (write) out += std::string(width - s.size(), ' ') + s;
          else if (s.size() > width) width = s.size();
        }
      }
      if (write) out += ']';
    };
    walk(walk, 0, l.map.offset, false);
    walk(walk, 0, l.map.offset, true);
    return out;
  }
}
template <class S> std::string scalar_text(const S& s, const number_format& f) {
  if constexpr (depth_v<S> == 0) return text(s, f);
  else if constexpr (is_dual_v<S>) {
    std::string r = "dual(" + scalar_text(s.value, f);
    for (int k = 0; k < planes_v<S> / planes_v<inner_t<S>> - 1; ++k) r += ", " + scalar_text(s.tangent_at(k), f);
    return r + ")";
  } else if constexpr (is_var_v<S>) return "var(" + scalar_text(s.value(), f) + ")";
  else return "batched(...)";
}
inline std::string opened(const char* kind, int rank) { return std::string(kind) + (rank > 1 ? "(\n" : "("); }  // rows begin on a line of their own
template <class S, int R> std::string leaf_text(const leaf<S, R>& l, const number_format& f) {
  if constexpr (depth_v<S> == 0) return array_text(l, f);
  else if constexpr (is_dual_v<S>) {
    std::string r = opened("dual", R) + leaf_text(leaf<inner_t<S>, R>{l.data.value, l.map}, f);
    for (int k = 0; k < planes_v<S> / planes_v<inner_t<S>> - 1; ++k)
      r += ",\n" + leaf_text(leaf<inner_t<S>, R>{l.data.tangent[k], l.map}, f);
    return r + ")";
  } else if constexpr (is_var_v<S>) return opened("var", R) + leaf_text(leaf<inner_t<S>, R>{l.data.value, l.map}, f) + ")";
  else if constexpr (is_batched_v<S>)
    return opened("batched", R + 1) + leaf_text(leaf<inner_t<S>, R + 1>{l.data.inner, l.map.led_by(l.data.batch, l.data.size)}, f) + ")";
  else return "probe";
}
template <class A> std::string any_text(const A& a, const number_format& f) {
  if constexpr (element_proxy<A>) return scalar_text(a.get(), f);
  else if constexpr (scalar_kind<A>) {
    if constexpr (is_batched_v<A>) return leaf_text(a.as_leaf(), f);
    else return scalar_text(a, f);
  } else if constexpr (array_object<A>) return leaf_text(leaf<scalar_t<A>, rank_v<A>>{a.elements().snap(), a.map()}, f);
  else return leaf_text(array_detail::as_array(a), f);
}
}  // namespace print_detail

/// The text that operator<< prints to a new stream.
template <class A> requires(array_like<A> || scalar_kind<A> || element_proxy<A>) std::string to_string(const A& a) {
  return print_detail::any_text(a, {});
}
/// A shape: (2,3)
template <int R> std::string to_string(const dims<R>& shape) { return shape::text(shape).c_str(); }
namespace print_detail {
template <class O> concept character_stream = requires(O& o) { typename O::traits_type; } && std::is_same_v<typename O::char_type, char>;
}
/// Elements of plain arrays print as their numbers do. A stream whose precision is not 6, or that was told std::fixed, std::scientific or
/// std::hexfloat, prints the numbers of arrays so too.
template <print_detail::character_stream O, class A>
requires(array_like<A> || scalar_kind<A> || (element_proxy<A> && !std::is_arithmetic_v<scalar_t<A>>))
O& operator<<(O& o, const A& a) {
  if constexpr (number<scalar_t<A>> && element_proxy<A>) o << a.get();
  else o << print_detail::any_text(a, print_detail::format_of(o));
  return o;
}
template <print_detail::character_stream O, int R> O& operator<<(O& o, const dims<R>& shape) {
  o << to_string(shape);
  return o;
}

TTENSOR_END
