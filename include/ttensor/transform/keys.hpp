// Random keys inside vmap: one for each example. Every draw gives each example the numbers of its own key.
#pragma once
#include "reverse.hpp"

TTENSOR_BEGIN
namespace random_detail {

template <class S> const auto& numbers_of(const store<S>& s) {  // of a mapped scalar: older batches first
  if constexpr (is_batched_v<S>) return numbers_of(s.inner());
  else return s;
}
/// n elements an example as scalars X; `batch`: the examples of X's mapped levels, the oldest first.
template <class X, class T> store<X> at_levels(store<T>&& s, const index_t* batch, index_t n) {
  if constexpr (depth_v<X> == 0) {
    return static_cast<store<T>&&>(s);
  } else if constexpr (is_batched_v<X>) {
    const index_t b = batch[batch_levels_v<X> - 1];
    return store<X>(at_levels<inner_t<X>>(static_cast<store<T>&&>(s), batch, n * b), b, n);
  } else {
    return lifted<X>(at_levels<inner_t<X>>(static_cast<store<T>&&>(s), batch, n));
  }
}
template <class L> requires(is_kind_v<L>) struct draw<L> {
  using word = typename basic_rng<L>::word;
  template <class T, int R, class F> static auto array(const basic_rng<L>& key, const dims<R>& e, F&& fill) {
    using X = storage_scalar_t<reelem_t<L, T>>;
    if constexpr (has_probe_v<L>) {
      return tensor<X, R>(e);
    } else {
      const index_t n = shape::size(e);
      const auto& seeds = numbers_of(key.seed.elements());
      auto s = store<T>::make(n * seeds.size());
      T* p = s.writable();
      for (index_t k = 0; n > 0 && k < seeds.size(); ++k) fill(seeds.get(k), p + k * n, n);
      const auto batch = key.seed.elements().batch();
      return tensor<X, R>(at_levels<X>(static_cast<store<T>&&>(s), &batch[0], n), e);
    }
  }
  template <class F> static basic_rng<L> key(const basic_rng<L>& k, F&& f) {
    if constexpr (has_probe_v<L>) {
      return k;
    } else {
      const auto& seeds = numbers_of(k.seed.elements());
      auto s = store<std::uint64_t>::make(seeds.size());
      for (index_t i = 0; i < seeds.size(); ++i) s.set(i, f(seeds.get(i)));
      const auto batch = k.seed.elements().batch();
      return basic_rng<L>(word(at_levels<word>(std::move(s), &batch[0], 1)));
    }
  }
};

// ---- vmap over keys -----------------------------------------------------------------------------------------------------
/// Keys of all examples as mapped keys; arrays of keys element by element.
template <class Out, class K> Out map_examples(const std::vector<const K*>& each) {
  if constexpr (requires { typename K::value_type; }) {
    Out out{};
    const std::size_t n = each.empty() ? out.size() : each[0]->size();
    for (const K* k : each)
      if (k->size() != n)
        raise<shape_error>("[vmap] rows of " + std::to_string(n) + " and " + std::to_string(k->size()) +
                           " keys; give every row one length [TT-S30]");
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<const typename K::value_type*> column;
      for (const K* k : each) column.push_back(&(*k)[i]);
      auto key = map_examples<typename Out::value_type>(column);
      if constexpr (requires { out.push_back(key); }) out.push_back(key);
      else out[i] = key;
    }
    return out;
  } else {
    using W = typename Out::word;
    using X = inner_t<W>;
    const auto n = static_cast<index_t>(each.size());
    auto s = store<X>::make(n);
    for (index_t i = 0; i < n; ++i) s.set(i, level_detail::lift<X>(each[static_cast<std::size_t>(i)]->seed));
    return Out(W(store<W>(std::move(s), n, 1)));
  }
}
/// Example i of keys that are mapped at the newest level.
template <class Out, class K> Out one_example(const K& keys, index_t i) {
  if constexpr (std::is_same_v<Out, K>) {
    return keys;
  } else if constexpr (requires { typename K::value_type; }) {
    Out out{};
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if constexpr (requires { out.push_back(out[k]); }) out.push_back(one_example<typename Out::value_type>(keys[k], i));
      else out[k] = one_example<typename Out::value_type>(keys[k], i);
    }
    return out;
  } else {
    const auto& s = keys.seed.elements();
    return Out(s.inner().get(s.mapped() ? i : 0));
  }
}
}  // namespace random_detail

/// The key of step i, where every example has its own i (and its own key, or one for all).
template <class L, class I> requires(scalar_kind<I> || element_proxy<I>) auto fold_in(const basic_rng<L>& key, const I& index) {
  if constexpr (element_proxy<I>) {
    return fold_in(key, index.get());
  } else {
    static_assert(is_integer_v<elem_t<I>>, "ttensor: fold_in wants an integer");
    using K = basic_rng<join_chain_t<double, L, I>>;
    if constexpr (has_probe_v<I> || has_probe_v<L>) {
      return level_detail::fake<K>();
    } else {
      using W = typename K::word;
      W seed = level_detail::lift<W>(key.seed);
      auto i = level_detail::lift<reelem_t<W, elem_t<I>>>(index);
      seed.elements().require_batch(i.elements().batch());
      i.elements().require_batch(seed.elements().batch());
      const auto& steps = random_detail::numbers_of(i.elements());
      index_t k = 0;
      return random_detail::draw<join_chain_t<double, L, I>>::key(K(seed), [&](std::uint64_t s) {
        return random_detail::child(s, random_detail::folds, static_cast<std::uint64_t>(steps.get(k++)));
      });
    }
  }
}

TTENSOR_END
