// What a scalar, leaf or store has on the tape, plane by plane: visitors for the kinds outside the outermost var.
#pragma once
#include "raise.hpp"

TTENSOR_BEGIN
namespace ad {

/// What is inside the outermost var, and how many taped planes lie outside it.
template <class S> struct taped;
template <class X> struct taped<var<X>> {
  using inner = X;
  static constexpr int vars = 1;
};
template <class T, int N> struct taped<dual<T, N>> : taped<T> {
  static constexpr int vars = (1 + N) * taped<T>::vars;
  static_assert(N == 1, "ttensor: several tangents over a tape are not supported; use one tangent (chunk_size{1}) outside reverse mode");
};
template <class T> struct taped<batched<T>> : taped<T> {};
template <class S> using taped_t = typename taped<S>::inner;
/// Whether a leaf can be on a tape.
template <class L> constexpr bool can_carry() { return has_var_v<typename L::scalar> && is_differentiable_v<elem_t<typename L::scalar>>; }

// Kinds nest in any order, so an overload for duals must see the one for batches that stands below it: declared ahead.
template <class T, bool O, int R, class F> void each_taped(const snapshot<batched<T>, O>& s, const layout_map<R>& m, F&& f);
template <class T, class F> void each_taped(const batched<T>& s, F&& f);
template <class T, class F> void each_var(store<batched<T>>& s, F&& f);
template <class T, class Where, class F>
void each_pair(store<batched<T>>& to, const Where& at, const store<batched<T>>& from, const Where& part, F&& f);

/// Visits what a leaf has on the tape, in plane order of the kinds outside the tape: f.array(slot, map) for taped stores,
/// where batch axes outside the tape lead the map, and f.scalar(var) for taped scalars.
template <class X, bool O, int R, class F>
void each_taped(const snapshot<var<X>, O>& s, const layout_map<R>& m, F&& f) {
  f.array(s.slot, m);
}
template <class T, int N, bool O, int R, class F> void each_taped(const snapshot<dual<T, N>, O>& s, const layout_map<R>& m, F&& f) {
  each_taped(s.value, m, f);
  for (int k = 0; k < N; ++k) each_taped(s.tangent[k], m, f);
}
template <class T, bool O, int R, class F> void each_taped(const snapshot<batched<T>, O>& s, const layout_map<R>& m, F&& f) {
  each_taped(s.inner, m.led_by(s.batch, s.size), f);
}
template <class X, class F> void each_taped(const var<X>& s, F&& f) { f.scalar(s); }
template <class T, class F> void each_taped(const batched<T>& s, F&& f) { each_taped(s.elements().snap(), layout_map<0>{0, {}, {}}, f); }
template <class T, int N, class F> void each_taped(const dual<T, N>& s, F&& f) {
  each_taped(s.value, f);
  for (int k = 0; k < N; ++k) each_taped(s.tangent_at(k), f);
}
template <class S, int R, bool O, class F> void each_taped(const leaf<S, R, O>& l, F&& f) { each_taped(l.data, l.map, f); }
template <class S, class F> void each_taped(const scalar_leaf<S>& l, F&& f) { each_taped(l.value, f); }

template <class X, class F> void each_var(store<var<X>>& s, F&& f) { f(s); }
template <class T, int N, class F> void each_var(store<dual<T, N>>& s, F&& f) {
  each_var(s.value_, f);
  for (int k = 0; k < N; ++k) each_var(s.tangent_[k], f);
}
template <class T, class F> void each_var(store<batched<T>>& s, F&& f) { each_var(s.inner(), f); }
/// Gives the taped planes of a fresh result slots of tape `t`, whose numbers go to `id`.
template <class S> void give_slots(tape& t, store<S>& s, std::uint32_t* id) {
  each_var(s, [&]<class X>(store<var<X>>& v) {
    *id = t.new_slot<X>(v.size());
    v.set_slot(token_ref(t.serial, *id++));
  });
}

/// f(plane of `to`, where, plane of `from`, which part) for all taped planes; batch axes outside the tape lead both. Where: a layout_map or region.
template <class X, class Where, class F>
void each_pair(store<var<X>>& to, const Where& at, const store<var<X>>& from, const Where& part, F&& f) {
  f(to, at, from, part);
}
template <class T, int N, class Where, class F>
void each_pair(store<dual<T, N>>& to, const Where& at, const store<dual<T, N>>& from, const Where& part, F&& f) {
  each_pair(to.value_, at, from.value_, part, f);
  for (int k = 0; k < N; ++k) each_pair(to.tangent_[k], at, from.tangent_[k], part, f);
}
template <class T, class Where, class F>
void each_pair(store<batched<T>>& to, const Where& at, const store<batched<T>>& from, const Where& part, F&& f) {
  each_pair(to.inner(), at.led_by(to.examples(), to.size()), from.inner(), part.led_by(to.examples(), from.mapped() ? from.size() : 0), f);
}

/// The tape of what it has seen.
struct serial_finder {
  std::uint64_t serial = 0;
  bool mixed = false;
  void see(std::uint64_t s) {
    mixed = mixed || (serial != 0 && serial != s);
    serial = s;
  }
  void scalar(const auto& v) {
    if (v.active()) see(v.serial());
  }
  void array(token_ptr slot, const auto&) {
    if (slot) see(slot->tape_serial);
  }
  template <class L> void leaf(const L& l) {
    if constexpr (can_carry<L>()) each_taped(l, *this);
  }
  /// 0 where nothing is active, or the tape records nothing; throws when there are several tapes.
  std::uint64_t checked() const;
};
#if defined(TTENSOR_BODY)
TTENSOR_BODY std::uint64_t serial_finder::checked() const {
  if (mixed) tapes::mixed_levels();
  return serial <= tapes::silent ? 0 : serial;
}
#endif
}  // namespace ad
TTENSOR_END
