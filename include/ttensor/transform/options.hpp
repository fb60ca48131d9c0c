// Options of transforms. They follow the callable in any order: grad(f, has_aux, closing_over(x)).
#pragma once
#include "like.hpp"

TTENSOR_BEGIN

struct has_aux_t {};
struct allow_int_t {};
struct strict_t {};
struct holomorphic_t {};
inline constexpr has_aux_t has_aux{};
inline constexpr allow_int_t allow_int{};
inline constexpr strict_t strict{};
inline constexpr holomorphic_t holomorphic{};
/// At most so many examples (vmap, per_sample_grad), tangents (jacfwd) or cotangents (jacrev) at once; never changes values.
/// Without it vmap runs all examples at once and Jacobians one tangent or cotangent at a time; a pass with several costs more loops than
/// a pass with one, so small chunks of a Jacobian gain nothing. Throws domain_error [TT-D07] for n < 1.
struct chunk_size {
  index_t n;
  explicit chunk_size(index_t n_) : n(n_) {
    if (n < 1) raise<domain_error>("[chunk_size] a chunk of " + to_message(n) + "; give 1 or more [TT-D07]");
  }
};

/// What grad gives for an argument without floating-point parts (with allow_int): the tangent space of an integer is a point.
struct no_tangent {
  friend bool operator==(no_tangent, no_tangent) { return true; }
};

namespace options {
struct of_jacobian {};  // a vjp that belongs to a Jacobian, for its messages
struct of_hvp {};       // a jvp that belongs to hvp, for its messages
struct of_vhp {};       // a vjp of vhp
struct of_transpose {};  // a vjp of linear_transpose
struct of_hessian {     // a grad that belongs to hessian: of a result that is no scalar the Jacobian
  template <int... N, class F, class... O, class... A> static auto jacobian(const F& f, type_list<O...>, const A&... a);
};
template <class T> inline constexpr bool is_option_v = false;
template <> inline constexpr bool is_option_v<of_hessian> = true;
template <> inline constexpr bool is_option_v<of_jacobian> = true;
template <> inline constexpr bool is_option_v<of_hvp> = true;
template <> inline constexpr bool is_option_v<of_vhp> = true;
template <> inline constexpr bool is_option_v<of_transpose> = true;
template <> inline constexpr bool is_option_v<has_aux_t> = true;
template <> inline constexpr bool is_option_v<allow_int_t> = true;
template <> inline constexpr bool is_option_v<strict_t> = true;
template <> inline constexpr bool is_option_v<holomorphic_t> = true;
template <> inline constexpr bool is_option_v<chunk_size> = true;
template <class C> inline constexpr bool is_option_v<closing_over_t<C>> = true;
/// After the callable stand options and nothing else.
template <class... O> constexpr void check() {
  static_assert(
      (is_option_v<O> && ...),
      "ttensor: what follows the function here must be an option (has_aux, strict, allow_int, holomorphic, "
      "chunk_size{n}, closing_over(x...), in vmap also in_axes, out_axes); arguments go into the second call");
}
/// Of a transform that has no auxiliary part.
template <class... O> constexpr void refuse_aux() {
  static_assert(
      (!std::is_same_v<O, has_aux_t> && ...),
      "ttensor: has_aux is for grad, value_and_grad, jvp, vjp, per_sample_grad, Jacobians and hessian; here return the auxiliary part beside the value, "
      "or compute it outside");
}
template <class Want, class... O> inline constexpr bool has = (std::is_same_v<Want, O> || ...);
/// Of a transform whose complex derivatives need no promise.
template <class... O> constexpr void refuse_holomorphic() {
  static_assert(
      !has<holomorphic_t, O...>,
      "ttensor: holomorphic is for grad and Jacobians; jvp, vjp, linearize and laplacian need no promise, and vmap has no derivative: drop it");
}
/// What chunk_size says, without it everything.
template <class... O> index_t at_once(const O&... o) {
  index_t n = std::numeric_limits<index_t>::max();
  ([&] { if constexpr (std::is_same_v<O, chunk_size>) n = o.n; }(), ...);
  return n;
}
template <class... A> auto list_of(const A&...) {
  auto one = []<class T>(std::type_identity<T>) {
    if constexpr (is_option_v<T>) return std::tuple<std::type_identity<T>>{};
    else return std::tuple<>{};
  };
  return []<class... O>(const std::tuple<std::type_identity<O>...>&) {
    return type_list<O...>{};
  }(std::tuple_cat(one(std::type_identity<A>{})...));
}
/// g(type_list of the options among `a`, everything else in order).
template <class G, class... A> auto apart(G&& g, const A&... a) {
  auto value = []<class T>(const T& t) {
    if constexpr (is_option_v<T>) return std::tuple<>{};
    else return std::tuple<const T&>(t);
  };
  return meta::unpack([&](const auto&... x) { return g(decltype(list_of(a...)){}, x...); }, std::tuple_cat(value(a)...));
}
/// The same of a transform that takes a point and a direction there.
template <class G, class... A> auto point_and_direction(G&& g, const A&... a) {
  constexpr int n = (0 + ... + !is_option_v<A>);
  static_assert(
      n == 2,
      "ttensor: jvp(f, x, v), hvp(f, x, v) and vhp(f, x, v) take the point x and the vector v, shaped as x, in the call that takes f (tuples of them where f has several arguments)");
  if constexpr (n == 2) return apart(static_cast<G&&>(g), a...);
}
template <class... O> using forced_chain = join_chain_t<double, double, typename level_detail::options_chain<O>::type...>;
}  // namespace options

template <class A, class B> struct value_and_aux {  // what grad(f, has_aux) gives; of a Jacobian, grad is that
  A grad;
  B aux;
};
template <class A, class B> value_and_aux(A, B) -> value_and_aux<A, B>;  // clang 16 deduces no aggregates
template <class V, class G> struct value_grad {
  V value;
  G grad;
};
template <class V, class G, class A> struct value_grad_aux {
  V value;
  G grad;
  A aux;
};

namespace tree {
template <class P> constexpr int parts_of() {
  if constexpr (tuple_like<P>) return static_cast<int>(std::tuple_size_v<P>);
  else if constexpr (std::is_aggregate_v<P>) return field_count<P>();
  else return 2;  // refused by itself
}
/// First and second part of what a function with auxiliary output returns: a pair, a tuple or an aggregate of two.
template <int I, class T> decltype(auto) part(T& t) {
  using P = std::remove_const_t<T>;
  static_assert(
      tuple_like<P> || std::is_aggregate_v<P>,
      "ttensor: with has_aux the function returns two things, std::pair{value, auxiliary}; this one returns one: leave has_aux out");
  static_assert(parts_of<P>() == 2, "ttensor: with has_aux the function returns two things, std::pair{value, auxiliary}; this one returns more: put the others into one tuple");
  if constexpr (tuple_like<P>) return (std::get<static_cast<std::size_t>(I)>(t));
  else if constexpr (std::is_aggregate_v<P>) return (field<I>(t));
  else return (t);
}
template <class S, class Level> inline constexpr bool is_at_level_v = std::is_same_v<reelem_t<S, double>, Level>;

template <class A, class B> inline constexpr bool is_record_v<value_and_aux<A, B>> = true;
template <class V, class G> inline constexpr bool is_record_v<value_grad<V, G>> = true;
template <class V, class G, class A> inline constexpr bool is_record_v<value_grad_aux<V, G, A>> = true;

template <class T> struct leaf_count { static constexpr int value = is_differentiable_leaf_v<T> ? 1 : 0; };
template <class... T> struct leaf_count<std::tuple<T...>> { static constexpr int value = (leaf_count<T>::value + ... + 0); };
template <class A, class B> struct leaf_count<std::pair<A, B>> {
  static constexpr int value = leaf_count<A>::value + leaf_count<B>::value;
};
template <class T, std::size_t N> struct leaf_count<std::array<T, N>> {
  static constexpr int value = static_cast<int>(N) * leaf_count<T>::value;
};
template <class T> struct leaf_count<std::vector<T>> : leaf_count<T> {};
template <class T> struct leaf_count<std::optional<T>> : leaf_count<T> {};
template <class T> requires is_keyed_v<T> struct leaf_count<T> : leaf_count<part_t<T>> {};
template <class T> requires is_aggregate_tree_v<T> struct leaf_count<T> { static constexpr int value = is_differentiable_v<elem_t<typename aggregate_of<T>::scalar>> ? 1 : 0; };
template <template <class...> class R, class... P> requires is_record_v<R<P...>> struct leaf_count<R<P...>> {
  static constexpr int value = (leaf_count<P>::value + ... + 0);
};
/// Of arguments that a derivative is taken with respect to.
template <bool Allowed, class... A> constexpr void require_parts() {
  static_assert(Allowed || ((leaf_count<A>::value > 0) && ...),
                "ttensor: a derivative with respect to an argument without floating-point parts; pass 2.0 instead of 2 (grad, jvp and vjp also "
                "take allow_int), make a struct an aggregate whose only template parameter is its scalar, "
                "and of unordered maps, lists and pointers a std::map or vector of the arrays themselves");
}
}  // namespace tree

TTENSOR_END
