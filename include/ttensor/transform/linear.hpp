// A linear map over numbers of one chain, applied to values of newer levels without looking inside the map: to a dual it
// applies to value and tangent, on a newer tape it is a node whose pullback is the transposed map, under vmap it goes
// through the examples.
#pragma once
#include "custom.hpp"

TTENSOR_BEGIN
namespace linear_detail {

template <class U> store<U> example(const store<batched<U>>& s, index_t i) {
  const dims<1> n{{s.size()}};
  return statement_rule<U>::evaluate(leaf<U, 1>{s.inner().snap(), {s.examples() == 1 ? 0 : i * s.size(), n, {{1}}}}, n);
}
/// Example i of a tree of mapped values; leaves that are not mapped stay.
template <class T> struct take_example {
  index_t i;
  template <class X, class Out> Out operator()(const X& x, std::type_identity<Out>) const {
    if constexpr (depth_v<scalar_t<X>> != depth_v<T>) return x;
    else if constexpr (tree::tensor_leaf<X>) return Out(example(x.elements(), i), x.shape());
    else return example(x.elements(), i).get(0);
  }
};
template <class T> struct one_example {
  static constexpr int rank_change = 0;
  template <class S> static constexpr auto of() {
    if constexpr (depth_v<S> == depth_v<T>) return std::type_identity<inner_t<S>>{};
    else return std::type_identity<S>{};
  }
  template <class S> using map = typename decltype(of<S>())::type;
  template <class S> using scalar_of_struct = map<S>;
};
template <class T> struct count_examples {
  index_t& n;
  template <class X> void operator()(const X& x) const {
    if constexpr (depth_v<scalar_t<X>> == depth_v<T>)
      if (x.elements().examples() != 1) n = x.elements().examples();
  }
};
/// Zeros for n examples in the shape of a result, and one example written there.
struct room_for {
  index_t n;
  template <class X, class Out> Out operator()(const X& x, std::type_identity<Out>) const {
    using U = inner_t<scalar_t<Out>>;
    const index_t size = [&] {
      if constexpr (tree::tensor_leaf<X>) return x.size();
      else return index_t(1);
    }();
    store<U> zero = store<U>::make(n * size);
    zero.zero();
    store<batched<U>> s(static_cast<store<U>&&>(zero), n, size);
    if constexpr (tree::tensor_leaf<X>) return Out(static_cast<store<batched<U>>&&>(s), x.shape());
    else return Out(static_cast<store<batched<U>>&&>(s));
  }
};
struct put_example {
  index_t i;
  template <class Out, class Y> void operator()(Out& out, const Y& y) const {
    using U = inner_t<scalar_t<Out>>;
    store<batched<U>> to = out.elements();  // the same cell
    const index_t size = to.size();
    const layout_map<1> region{i * size, {{size}}, {{1}}};
    if constexpr (tree::tensor_leaf<Y>) {
      const store<U> from = lifted<U>(y.elements());
      statement_rule<U>::assign_region(to.inner(), region, leaf<U, 1>{from.snap(), layout_map<1>::row_major({{size}})});
    } else {
      to.inner().set(i, U(y));
    }
  }
};

template <class C, class Map, class... V> auto apply_to(const Map& f, const V&... v);
/// The pullback of a linear map: the transposed map.
template <class C, class Map> struct transposed {
  Map f;
  template <class... Ct> auto operator()(const Ct&... ct) const { return apply_to<C>(f.transpose(), ct...); }
};
/// f(v...) for a linear map f over the chain C. Map: apply(v...), like() (a result), transpose(), each over C.
template <class C, class Map, class... V> auto apply_to(const Map& f, const V&... v) {
  using T = join_chain_t<double, double, tree::chain_t<V>...>;
  using L = parts::newest_t<T>;
  using Like = std::remove_cvref_t<decltype(f.like())>;
  constexpr bool has_derivative = [] {
    if constexpr (std::is_void_v<L>) return false;
    else return depth_v<L> > depth_v<C>;
  }();
  if constexpr (probing_v<V...>) {
    return level_detail::fake<on_probe_t<probe_of_t<C, T>, Like>>();
  } else if constexpr (depth_v<T> <= depth_v<C>) {
    return f.apply(v...);
  } else if constexpr (has_derivative) {
    using B = parts::below_t<T>;
    using Y = tree::rebind_t<tree::lift_to<B>, Like>;
    const auto value = [&] {
      return tree::lift<Y>(
          meta::unpack([&](const auto&... x) { return apply_to<C>(f, x...); }, custom_detail::values<L>(v...)));
    };
    if constexpr (is_dual_v<L>) {
      return custom_detail::joined<T, custom_detail::tangents_of<L>, Y>([&](int k) {
        return std::pair<Y, Y>{
            value(),
            tree::lift<Y>(apply_to<C>(f, tree::map<parts::below_tree_t<L, V>>(parts::tangent_of_level<L>{k}, v)...))};
      });
    } else {
      using Pull = transposed<C, Map>;
      return custom_detail::recorded<T, Y, Pull>(value(), Pull{f}, v...);
    }
  } else {  // T is batched: newer mapped axes only
    index_t n = 1;
    (tree::for_each(count_examples<T>{n}, v), ...);
    auto out = tree::map<tree::rebind_t<tree::lift_to<T>, Like>>(room_for{n}, f.like());
    for (index_t i = 0; i < n; ++i) {
      const auto y = apply_to<C>(f, tree::map<tree::rebind_t<one_example<T>, V>>(take_example<T>{i}, v)...);
      tree::for_each(put_example{i}, out, y);
    }
    return out;
  }
}

}  // namespace linear_detail
TTENSOR_END
