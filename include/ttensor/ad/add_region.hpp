// Adding a part of one adjoint to a part of another, recorded on the tapes inside its scalars: the one linear operation that the
// backward passes of nested reverse mode need beside those of statements. Its own backward pass is the same with the parts exchanged.
#pragma once
#include <cstring>
#include "backward.hpp"

TTENSOR_BEGIN
namespace ad {

/// Elements of an adjoint: a layout_map whose rank is known at run time, so that nothing is compiled for each. Batch axes of its scalars are not among the axes, or lead them where they are outside the tape in question.
struct region {
  index_t offset = 0;
  int rank = 0;
  index_t extent[run::max_rank], stride[run::max_rank];
  region() = default;
  template <int R> region(const layout_map<R>& m) : offset(m.offset), rank(R) {
    for (int d = 0; d < R; ++d) extent[d] = m.extent[d], stride[d] = m.stride[d];
  }
  region led_by(index_t n, index_t step) const {
    region r;
    r.offset = offset;
    r.rank = rank + 1;
    r.extent[0] = n;
    r.stride[0] = n == 1 ? 0 : step;
    for (int d = 0; d < rank; ++d) r.extent[d + 1] = extent[d], r.stride[d + 1] = stride[d];
    return r;
  }
  static region line(index_t n) { return region().led_by(n, 1); }
};
/// add_strided for planes with batch axes, which `from` may have fewer of.
void add_planes(const adjoint_plane* to, const region& at, const adjoint_plane* from, const region& part, int planes, int levels, int bytes,
                             void (*add)(char*, const index_t*, const char*, const index_t*, const index_t*, int));
#if defined(TTENSOR_BODY)
TTENSOR_BODY void add_planes(const adjoint_plane* to, const region& at, const adjoint_plane* from, const region& part,
                             int planes, int levels, int bytes,
                             void (*add)(char*, const index_t*, const char*, const index_t*, const index_t*, int)) {
  for (int k = 0; k < planes; ++k) {
    index_t extent[run::max_rank], stride[run::max_rank], step[run::max_rank];
    int rank = 0;
    for (int d = 0; d < levels; ++d, ++rank) {
      extent[rank] = to[k].extent[d];
      stride[rank] = to[k].stride[d];
      step[rank] = from[k].extent[d] == 1 ? 0 : from[k].stride[d];
    }
    for (int d = 0; d < at.rank; ++d, ++rank) extent[rank] = at.extent[d], stride[rank] = at.stride[d], step[rank] = part.stride[d];
    add(to[k].ptr + at.offset * bytes, stride, from[k].ptr + part.offset * bytes, step, extent, rank);
  }
}
#endif
template <class X> TTENSOR_NOINLINE void add_region(tape& t, std::uint32_t id, const region& at, const store<X>& from, const region& part);
template <class X> void add_whole(tape& t, std::uint32_t id, const store<X>& from);
/// One taped plane of a sum: sum[in] = before[in] + term[from], and before[i] elsewhere. A sum in place is its own `before`: it
/// keeps the slot when nobody else holds its token. Older nodes may name that slot, and what flows back to the sum is theirs as
/// it is, since d sum / d before = 1; newer ones cannot name the value before.
template <class Y> struct addition_node final : tape_node {
  std::uint32_t sum, before, term;  // slots
  region in, from;
  addition_node(std::uint32_t s, std::uint32_t b, std::uint32_t t, const region& i, const region& f)
      : sum(s), before(b), term(t), in(i), from(f) {}
  void backward(tape& t) override {
    adjoint_slot<Y>& s = t.at<Y>(sum);
    if (!s.live) return;
    add_region<Y>(t, term, from, s.adjoint, in);
    if (before == sum) return;
    if (before) add_whole<Y>(t, before, s.adjoint);
    s.drop();
  }
};
/// to[at] += from[part].
template <class X> TTENSOR_NOINLINE void add_to(store<X>& to, const region& at, const store<X>& from, const region& part) {
  to.require_batch(from.batch());
  if constexpr (!has_var_v<X>) {
    adjoint_slot<X> a, b;
    a.adjoint = static_cast<store<X>&&>(to);
    b.adjoint = from;
    own_memory(a.adjoint);
    adjoint_plane p[planes_v<X>], q[planes_v<X>];
    a.planes(p);
    b.planes(q);
    add_planes(p, at, q, part, planes_v<X>, batch_levels_v<X>, static_cast<int>(sizeof(elem_t<X>)), add_strided<elem_t<X>>);
    to = static_cast<store<X>&&>(a.adjoint);
  } else {
    each_pair(to, at, from, part, []<class Y>(store<var<Y>>& sum, const region& in, const store<var<Y>>& term, const region& of) {
      add_to<Y>(sum.values(), in, term.values(), of);  // recorded on the tapes inside Y
      if (!term.slot() || term.slot()->tape_serial <= tapes::silent) return;
      const std::uint64_t serial = term.slot()->tape_serial;
      if (sum.slot() && sum.slot()->tape_serial != serial) tapes::mixed_levels();
      tape& t = tape::find(serial);
      const std::uint32_t before = sum.slot() ? sum.slot()->id : 0,
                          id = before && !sum.slot().shared() ? before : t.new_slot<Y>(sum.size());
      t.push<addition_node<Y>>(id, before, term.slot()->id, in, of);
      if (id != before) sum.set_slot(token_ref(serial, id));
    });
  }
}
/// Slot `id` at `at` += from[part].
template <class X> void add_region(tape& t, std::uint32_t id, const region& at, const store<X>& from, const region& part) {
  adjoint_slot<X>& s = t.at<X>(id);
  index_t whole[run::max_rank];
  const auto is_whole = [&](const region& r) {
    return r.offset == 0 && std::memcmp(whole, r.stride, sizeof(index_t) * static_cast<std::size_t>(at.rank)) == 0;
  };
  if (!s.live && row_major(whole, at.extent, at.rank, 0) == s.size && from.size() == s.size && is_whole(at) && is_whole(part)) {
    s.set(from.value());
  } else {
    s.open(from.batch());
    add_to<X>(s.adjoint, at, from, part);
  }
}
/// The same of all elements.
template <class X> void add_whole(tape& t, std::uint32_t id, const store<X>& from) {
  const region line = region::line(from.size());
  add_region<X>(t, id, line, from, line);
}

}  // namespace ad
template <class T> void store<var<T>>::copy_node::backward(tape& t) {
  adjoint_slot<T>& g = t.at<T>(to);
  if (!g.live) return;
  ad::add_whole<T>(t, from, g.adjoint);
  g.drop();
}
TTENSOR_END
