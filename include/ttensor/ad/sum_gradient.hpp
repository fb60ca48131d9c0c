// Sums of costly statements: value and gradient in one loop.
//
// The cotangent of a sum is one number, so the gradient of the statement is computed together with its value, and the
// backward pass hands it over, scaled. Computing it later would mean to compute the values twice. Statements that are cheap
// to recompute keep nothing instead.
#pragma once
#include "../ops/family.hpp"
#include "backward.hpp"

TTENSOR_BEGIN
namespace ad {

/// to[i] = by * from[i], or to[i] += that; a zero absorbs what it meets.
template <class X> TTENSOR_NOINLINE void scale(X* to, const X* from, index_t n, X by, bool add) {
  constexpr int N = native_width_v<X>;
  index_t i = 0;
  auto one = [&]<class V>(const V& v, const V& old) {
    return add ? apply<add_op>(old, apply<absorb_op>(V(by), v)) : apply<absorb_op>(V(by), v);
  };
  for (; i + N <= n; i += N) store_as(one(load_as<pack<X, N>>(from + i), load_as<pack<X, N>>(to + i)), to + i);
  for (; i < n; ++i) to[i] = one(from[i], to[i]);
}
/// Gradient of a sum: its pieces, for a cotangent of 1.
template <class X> struct sum_node final : tape_node {
  struct piece {
    back_target target;
    adjoint_slot<X> gradient;
    const index_t* part;  // strides in the slot when the gradient has the statement's shape; null: it has the slot's
  };
  piece* pieces;
  void (*add_part)(char*, const index_t*, const char*, const index_t*, const index_t*, int);  // that of every target: they are of one type
  int count = 0, rank;
  const index_t* extent;
  std::uint32_t out;

  /// `to`: the slots that the value kernel adds to.
  sum_node(tape& t, const back_layout& l, const back_record& r, slot_base** to) : add_part(l.add[0]), rank(l.rank), out(t.new_slot<X>(1)) {
    const std::size_t row = static_cast<std::size_t>(rank) * sizeof(index_t), targets = static_cast<std::size_t>(l.targets);
    char* rows = t.memory().bytes((targets + 1) * row);
    auto kept = [&](const index_t* from) {
      void* const copy = std::exchange(rows, rows + row);
      if (row) std::memcpy(copy, from, row);
      return static_cast<const index_t*>(copy);
    };
    pieces = reinterpret_cast<piece*>(t.memory().bytes(targets * sizeof(piece)));
    extent = kept(r.extent);
    index_t whole[run::max_rank];
    const index_t n = row_major(whole, r.extent, rank, 0);
    for (int g = 0; g < l.targets; ++g) {
      back_target& target = r.target[g];
      to[g] = nullptr;
      if (target.id == 0 && !target.scalar.valid()) continue;
      index_t size = target.id ? t.slot(target.id).size : 1;
      const index_t* part = nullptr;
      if (size > 2 * n + 16) {  // a small part of a large array: keep the part
        part = kept(r.target_stride + g * rank);
        for (int d = 0; d < rank; ++d) r.target_stride[g * rank + d] = whole[d];
        size = n;
      } else {
        for (int o = 0; o < g && target.id; ++o)
          if (to[o] && r.target[o].id == target.id) to[g] = to[o];
      }
      if (to[g]) continue;
      to[g] = &(new (pieces + count++) piece{target, {}, part})->gradient;
      to[g]->size = size;
      if (part) target.offset = 0;
    }
  }
  ~sum_node() {
    for (int i = 0; i < count; ++i) pieces[i].gradient.drop();
  }
  void backward(tape& t) override {
    adjoint_slot<X>& s = t.at<X>(out);
    if (!s.live) return;
    const X ct = s.adjoint.get(0);
    s.drop();
    for (piece* p = pieces; p < pieces + count; ++p) {
      const store<X>& g = p->gradient.adjoint;
      const X* const from = g.data();
      if (p->target.id == 0) {
        add_adjoint<X>(t, p->target.scalar, X(apply<absorb_op>(ct, *from)));
        continue;
      }
      adjoint_slot<X>& to = t.at<X>(p->target.id);
      if (p->part) {
        arena memory;
        char* scaled = memory.bytes(static_cast<std::size_t>(g.size()) * sizeof(X));
        scale(reinterpret_cast<X*>(scaled), from, g.size(), ct, false);
        index_t whole[run::max_rank];
        row_major(whole, extent, rank, 0);
        add_part(reinterpret_cast<char*>(to.open().writable() + p->target.offset), p->part, scaled, whole, extent, rank);
      } else if (!to.live && ct == X(1)) {  // shared until somebody adds to it
        to.set(g.value());
      } else {
        const bool add = to.live;
        if (!add) to.make_fresh(nullptr);
        scale(to.adjoint.writable(), from, g.size(), ct, add);
      }
    }
  }
};
/// Runs the value kernel and pushes the node, if the statement is on a tape.
template <class X> TTENSOR_NOINLINE store<var<X>> run_sum(std::uint64_t serial, const back_layout& l, const back_record& r) {
  slot_base* to[run::max_planes];
  for (int g = 0; g < l.targets; ++g) to[g] = nullptr;
  sum_node<X>* node = nullptr;
  if (serial != 0) {
    tape& t = tape::find(serial);
    node = &t.push<sum_node<X>>(t, l, r, to);
  }
  store<var<X>> y = store<var<X>>::make(1);
  X* const value = y.values().writable();
  *value = X(0);
  const index_t none = 0;
  run_back<has_plain_adjoints_v<X>>(l, r, nullptr, &none, to, value);
  if (!node) return y;
  for (int i = 0; i < node->count; ++i)
    if (!node->pieces[i].gradient.live) node->pieces[i].gradient.make_open(&none);
  y.set_slot(token_ref(serial, node->out));
  return y;
}

}  // namespace ad
TTENSOR_END
