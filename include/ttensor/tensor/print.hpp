// Printing as NumPy prints: rows in brackets, columns aligned, the middle of long axes left out. Works on any stream that has
// operator<< for strings, so it needs no stream header of its own.
#pragma once
#include "array_op.hpp"

TTENSOR_BEGIN

namespace print_detail {
inline constexpr index_t summarize_above = 1000, edge = 3;  // elements; elements kept at each end of an axis

TTENSOR_NOINLINE inline std::string number_text(double v, int digits) {
  if (v != v) return "nan";  // whatever its sign
  char b[40];
  std::snprintf(b, sizeof b, "%.*g", digits, v);
  std::string s = b;
  if (s.find_first_not_of("-0123456789") == std::string::npos) s += '.';  // 2. is not an integer
  return s;
}
template <class T> std::string text(const T& v) {
  if constexpr (std::is_same_v<T, bool>) return v ? "true" : "false";
  else if constexpr (is_complex_v<T>) return text(v.real()) + (v.imag() < 0 ? "-" : "+") + text(v.imag() < 0 ? -v.imag() : v.imag()) + "i";
  else if constexpr (is_integer_v<T>) return std::to_string(v);
  else if constexpr (is_floating_v<T>) return number_text(static_cast<double>(v), sizeof(T) <= 2 ? 4 : sizeof(T) == 4 ? 6 : 8);
  else return "?";
}
/// Plain elements of an array of any kind.
template <class T, int R> std::string array_text(const leaf<T, R>& l) {
  const auto& e = l.map.extent;
  if constexpr (R == 0) {
    return text(l.data.base[l.map.offset]);
  } else {
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
        if (d < R - 1) {
          self(self, d + 1, here, write);
        } else {
          const std::string s = text(l.data.base[here]);
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
template <class S> std::string scalar_text(const S& s) {
  if constexpr (depth_v<S> == 0) return text(s);
  else if constexpr (is_dual_v<S>) {
    std::string r = "dual(" + scalar_text(s.value);
    for (int k = 0; k < planes_v<S> / planes_v<inner_t<S>> - 1; ++k) r += ", " + scalar_text(s.tangent_at(k));
    return r + ")";
  } else if constexpr (is_var_v<S>) return "var(" + scalar_text(s.value()) + ")";
  else return "batched(...)";
}
inline std::string opened(const char* kind, int rank) { return std::string(kind) + (rank > 1 ? "(\n" : "("); }  // rows begin on a line of their own
template <class S, int R> std::string leaf_text(const leaf<S, R>& l) {
  if constexpr (depth_v<S> == 0) return array_text(l);
  else if constexpr (is_dual_v<S>) {
    std::string r = opened("dual", R) + leaf_text(leaf<inner_t<S>, R>{l.data.value, l.map});
    for (int k = 0; k < planes_v<S> / planes_v<inner_t<S>> - 1; ++k) r += ",\n" + leaf_text(leaf<inner_t<S>, R>{l.data.tangent[k], l.map});
    return r + ")";
  } else if constexpr (is_var_v<S>) return opened("var", R) + leaf_text(leaf<inner_t<S>, R>{l.data.value, l.map}) + ")";
  else if constexpr (is_batched_v<S>)
    return opened("batched", R + 1) + leaf_text(leaf<inner_t<S>, R + 1>{l.data.inner, l.map.led_by(l.data.batch, l.data.size)}) + ")";
  else return "probe";
}
}  // namespace print_detail

/// The text that operator<< prints.
template <class A> requires(array_like<A> || scalar_kind<A> || element_proxy<A>) std::string to_string(const A& a) {
  if constexpr (element_proxy<A>) return print_detail::scalar_text(a.get());
  else if constexpr (scalar_kind<A>) {
    if constexpr (is_batched_v<A>) return print_detail::leaf_text(a.as_leaf());
    else return print_detail::scalar_text(a);
  } else if constexpr (array_object<A>) return print_detail::leaf_text(leaf<scalar_t<A>, rank_v<A>>{a.elements().snap(), a.map()});
  else return print_detail::leaf_text(array_detail::as_array(a));
}
namespace print_detail {
template <class O> concept character_stream = requires(O& o) { typename O::char_type; typename O::traits_type; };
}
/// Elements of plain arrays print as their numbers do.
template <print_detail::character_stream O, class A> requires(array_like<A> || scalar_kind<A> || (element_proxy<A> && !std::is_arithmetic_v<scalar_t<A>>)) O& operator<<(O& o, const A& a) {
  if constexpr (number<scalar_t<A>> && element_proxy<A>) o << a.get();
  else o << to_string(a);
  return o;
}

TTENSOR_END
