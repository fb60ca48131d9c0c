// Gradients of a statement as arrays of their own, on their way from the backward loop to where the tapes want them. What is done
// with them depends on their scalars and not on the statement.
#pragma once
#include "add_region.hpp"
#include "array_rule.hpp"
#include "nested_leaves.hpp"

TTENSOR_BEGIN
namespace ad {

struct gradient_parts;
/// Slots that are on no tape, for the time of a backward pass.
class loose_slots {
 public:
  loose_slots() = default;
  loose_slots(const loose_slots&) = delete;
  ~loose_slots() {
    for (std::size_t i = 0; i < all_.size(); ++i) all_[i]->drop();
  }
  template <class X> adjoint_slot<X>& make(index_t size, store<X> adjoint = {}) {
    adjoint_slot<X>* s = memory_.make<adjoint_slot<X>>();
    all_.push(s);  // may throw, so before s owns memory
    s->size = size;
    s->live = adjoint.valid();
    s->adjoint = static_cast<store<X>&&>(adjoint);
    return *s;
  }

 private:
  arena memory_;
  growing<slot_base*> all_;
};
/// What is done with a gradient of scalars X: one code for all statements.
struct gradient_ops {
  slot_base* (*make)(loose_slots& loose, index_t size);
  slot_base* (*wrap)(loose_slots& loose, slot_base& values);  // gradients below the newest tape of X, as scalars X that are not on it
  void (*number)(tape& t, slot_base& g, std::uint32_t* id);            // gives the taped planes slots of that tape
  void (*add)(tape& t, slot_base& g, const gradient_parts& p, int k);  // to where tape `t` wants it
};
/// The gradients of a statement's leaves, one for each of their taped planes; shaped like the leaf, 1 along the axes on which
/// it is broadcast.
struct gradient_part {
  bool taped = false;
  int same = -1;       // an earlier one for the same place in memory, which holds the sum of both
  back_target target;  // where the newest tape wants it
};
struct gradient_parts {
  int count, full, inner;  // gradients; axes; batch axes of X, which come first
  gradient_part* part;
  index_t *extent, *stride;  // of each over all axes; stride: of the target
  slot_base** slot;          // null: there is none
  const gradient_ops* const* ops;
};
template <int Count, int Full> struct part_arrays {
  gradient_part part[Count + 1];
  index_t extent[Count * Full + 1], stride[Count * Full + 1];
};
namespace nested_detail {
template <class X> slot_base* make(loose_slots& loose, index_t size) { return &loose.make<X>(size); }
template <class X> TTENSOR_NOINLINE slot_base* wrap(loose_slots& loose, slot_base& values) {
  slot_base* s = &loose.make<X>(values.size, retape<X>(static_cast<adjoint_slot<untaped_t<X>>&>(values).adjoint));
  values.drop();
  return s;
}
/// The other way: a cotangent of scalars X below the newest tape of X.
template <class X> TTENSOR_NOINLINE slot_base* unwrap(loose_slots& loose, slot_base& g) {
  using W = untaped_t<X>;
  return &loose.make<W>(g.size, store<W>::over(untape(static_cast<adjoint_slot<X>&>(g).adjoint.snap()), g.size));
}
template <class X> TTENSOR_NOINLINE void number(tape& t, slot_base& g, std::uint32_t* id) {
  give_slots(t, static_cast<adjoint_slot<X>&>(g).adjoint, id);
}
template <class X, bool Scalar> TTENSOR_NOINLINE void add(tape& t, slot_base& g, const gradient_parts& p, int k) {
  const store<X>& from = static_cast<adjoint_slot<X>&>(g).adjoint;
  const back_target& to = p.part[k].target;
  if constexpr (Scalar)
    if (to.id == 0) return add_adjoint<X>(t, to.scalar, from.scalar());
  region at, all;
  at.offset = to.offset;
  at.rank = all.rank = p.full - p.inner;
  for (int d = 0; d < at.rank; ++d) {
    at.extent[d] = all.extent[d] = p.extent[k * p.full + p.inner + d];
    at.stride[d] = p.stride[k * p.full + p.inner + d];
  }
  row_major(all.stride, all.extent, all.rank, 0);
  add_region<X>(t, to.id, at, from, all);
}
template <class X, bool Scalar> constexpr gradient_ops ops_of() {
  if constexpr (has_var_v<X>) return {nullptr, wrap<X>, number<X>, add<X, Scalar>};
  else return {make<X>, nullptr, nullptr, nullptr};
}
template <class X, bool Scalar> inline constexpr gradient_ops ops = ops_of<X, Scalar>();
}  // namespace nested_detail
template <class F, class X> struct gradient_table;
template <class S, int R, class Prog, class... L, class X> struct gradient_table<flat_statement<S, R, Prog, L...>, X> {
  static constexpr int count = (taped_vars<L>() + ... + 0), full = R + batch_levels_v<S>, inner = batch_levels_v<X>;
  static constexpr auto ops = [] {
    array<const gradient_ops*, count + 1> a{};
    int k = 0;
    auto one = [&]<class M>(std::type_identity<M>) {
      if constexpr (taped_vars<M>() > 0)
        for (int d = 0; d < taped_vars<M>(); ++d) a[k++] = &nested_detail::ops<reelem_t<X, elem_t<typename M::scalar>>, M::rank == 0>;
    };
    (one(std::type_identity<L>{}), ...);
    return a;
  }();
};

/// Runs a backward loop into arrays of their own, to which the targets of the record are changed.
template <bool Plain> TTENSOR_NOINLINE void run_apart(const back_layout& l, const back_record& r,
                                                      slot_base* const* cotangent, const index_t* out_stride,
                                                      const gradient_parts& p, loose_slots& loose);
#if defined(TTENSOR_BODY)
template <bool Plain> void run_apart(const back_layout& l, const back_record& r, slot_base* const* cotangent,
                                     const index_t* out_stride, const gradient_parts& p, loose_slots& loose) {
  slot_base* to[run::max_planes];
  for (int k = 0; k < p.count; ++k) {
    gradient_part& g = p.part[k];
    index_t *const stride = p.stride + k * p.full, *const extent = p.extent + k * p.full, *const walk = r.target_stride + k * p.full;
    g.target = r.target[k];
    g.taped = g.target.id != 0 || g.target.scalar.valid();
    for (int d = 0; d < p.full; ++d) stride[d] = walk[d], extent[d] = d >= p.inner && walk[d] != 0 ? r.extent[d] : 1;
    for (int o = 0; o < k && g.same < 0 && g.taped; ++o) {
      const gradient_part& e = p.part[o];
      if (e.taped && e.same < 0 && e.target.id == g.target.id && e.target.scalar.bits == g.target.scalar.bits &&
          e.target.offset == g.target.offset && back_detail::equal(p.stride + o * p.full, stride, 0, p.full) &&
          back_detail::equal(p.extent + o * p.full, extent, 0, p.full))
        g.same = o;
    }
    p.slot[k] = to[k] = nullptr;
    if (g.taped && g.same < 0) {
      p.slot[k] = to[k] = p.ops[k]->make(loose, row_major(walk, extent, p.full, p.inner));
    } else if (g.taped) {
      to[k] = to[g.same];
      std::memcpy(walk, r.target_stride + g.same * p.full, static_cast<std::size_t>(p.full) * sizeof(index_t));
    }
    r.target[k].offset = 0;
  }
  run_back<Plain>(l, r, cotangent, out_stride, to, nullptr);
  ++tapes::stats.backward_loops;
  adjoint_plane plane[run::max_planes];
  for (int k = 0; k < p.count; ++k) {
    if (!p.slot[k]) continue;
    p.slot[k]->planes(plane);
    for (int d = 0; d < p.inner; ++d) p.extent[k * p.full + d] = plane[0].extent[d];
  }
}
#endif

}  // namespace ad
TTENSOR_END
