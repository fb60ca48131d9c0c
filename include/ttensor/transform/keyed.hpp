// Containers among trees: vectors, and maps from names to parts. Names are static, and their order is that of the parts.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>  // allocator_traits, for less than <memory>
#include "../expr/leaf.hpp"

TTENSOR_BEGIN
namespace tree {

/// std::map and what is made like it. Not std::unordered_map: two of the same names may walk them in different orders.
template <class T> inline constexpr bool is_keyed_v = false;
template <template <class...> class M, class K, class V, class... P>
requires requires(const M<K, V, P...>& m, const K& name) {
  typename M<K, V, P...>::key_compare;
  typename M<K, V, P...>::node_type;
  requires std::is_same_v<typename M<K, V, P...>::mapped_type, V>;
  m.at(name);
}
inline constexpr bool is_keyed_v<M<K, V, P...>> = true;

/// The map T with parts of type U. Its allocator changes with them, its order does not.
template <class K, class V, class U, class P> struct of_parts { using type = P; };
template <class K, class V, class U, class P> requires std::is_same_v<typename P::value_type, std::pair<const K, V>> struct of_parts<K, V, U, P> {
  using type = typename std::allocator_traits<P>::template rebind_alloc<std::pair<const K, U>>;
};
template <class T, class U> struct with_parts;
template <template <class...> class M, class K, class V, class... P, class U> struct with_parts<M<K, V, P...>, U> {
  using type = M<K, U, typename of_parts<K, V, U, P>::type...>;
};
template <class T, class U> using with_parts_t = typename with_parts<T, U>::type;

/// What a vector, an optional or a map has: elements, or what stands under a name.
template <class T> constexpr auto part_of() {
  if constexpr (is_keyed_v<T>) return std::type_identity<typename T::mapped_type>{};
  else return std::type_identity<typename T::value_type>{};
}
template <class T> using part_t = typename decltype(part_of<T>())::type;

[[noreturn]] inline void parts_differ() {
  raise<shape_error>("[tree] two trees that must have one structure have vectors of different lengths, maps of different names, or an optional that only one of them has; give both the same parts [TT-S10]");
}
template <class T, class K> auto& part_under(const K& name, T& t) {
  const auto at = t.find(name);
  if (at == t.end()) parts_differ();
  return at->second;
}
/// Whether two vectors have one length, two maps the same names.
template <class T, class U> bool same_parts(const T& t, const U& u) {
  if constexpr (is_keyed_v<T>)
    for (const auto& [name, x] : t)
      if (u.find(name) == u.end()) return false;
  return t.size() == u.size();
}
/// f(part...) for corresponding parts of vectors or maps of one structure.
template <class F, class T, class... U> void each_part(F&& f, T&& t, U&&... u) {
  if (!((u.size() == t.size()) && ...)) parts_differ();
  if constexpr (is_keyed_v<std::remove_cvref_t<T>>) {
    for (auto& [name, x] : t) f(x, part_under(name, u)...);
  } else {
    for (std::size_t i = 0; i < t.size(); ++i) f(t[i], u[i]...);
  }
}
/// A vector or map of type Out whose parts are f(part...).
template <class Out, class F, class T, class... U> Out map_parts(F&& f, const T& t, const U&... u) {
  if (!((u.size() == t.size()) && ...)) parts_differ();
  if constexpr (is_keyed_v<T>) {
    Out out(t.key_comp());
    for (const auto& [name, x] : t) out.emplace_hint(out.end(), name, f(x, part_under(name, u)...));
    return out;
  } else {
    Out out;
    out.reserve(t.size());
    for (std::size_t i = 0; i < t.size(); ++i) out.push_back(f(t[i], u[i]...));
    return out;
  }
}

}  // namespace tree

/// The scalar of a container of one kind of part is the parts'.
template <class T, class A> struct scalar_of<std::vector<T, A>> : scalar_of<T> {};
template <class T, std::size_t N> struct scalar_of<std::array<T, N>> : scalar_of<T> {};
template <class T> struct scalar_of<std::optional<T>> : scalar_of<T> {};
template <class T> requires tree::is_keyed_v<T> struct scalar_of<T> : scalar_of<typename T::mapped_type> {};
TTENSOR_END
