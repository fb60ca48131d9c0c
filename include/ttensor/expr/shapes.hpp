// The shape of an expression: operands broadcast as NumPy's do. What does not is found again in a table, for the error's text.
#pragma once
#include "leaf.hpp"

TTENSOR_BEGIN

namespace expr {
/// An expression in prefix order: {name, n} is an operator of n operands, {nullptr, n} an operand of n axes. So code that does not know the
/// expression's type finds its operands, and the operator that an error is about.
struct shape_step {
  const char* name;
  short count;
  bool holds;  // the operand begins with what it holds
  int offset;  // of the operand in the tree, bytes
};
template <class E> inline constexpr int steps_v = 1;
template <class E> struct steps_of {
  static constexpr void write(shape_step*& to, int at) { *to++ = {nullptr, E::rank, E::holds == 1, at}; }
};
template <class E> inline constexpr auto step_table = [] {
  array<shape_step, steps_v<E>> table{};
  shape_step* to = table.v;
  steps_of<E>::write(to, 0);
  return table;
}();
[[noreturn]] void shapes_differ(const shape_step* step, const index_t* own, int axes);
/// shape: ones, which become the shape that `count` lists of `axes` extents broadcast to. Throws where they do not.
TTENSOR_INLINE void broadcast(index_t* shape, int axes, const shape_step* steps, const index_t* own, int count) {
  bool ok = true;
  for (int k = 0; k < count; ++k)
    for (int d = 0; d < axes; ++d) {
      const index_t n = own[k * axes + d];
      if (n == 1) continue;
      ok = ok && (shape[d] == 1 || shape[d] == n);
      shape[d] = n;
    }
  if (TTENSOR_UNLIKELY(!ok)) shapes_differ(steps, own, axes);
}
/// The extents of all operands of E, over its axes.
template <class E> struct operand_extents {
  static constexpr int axes = E::rank, count = [] {
    int n = 0;
    for (const shape_step& s : step_table<E>.v) n += !s.name;
    return n;
  }();
  index_t own[count * axes + 1];
  TTENSOR_INLINE explicit operand_extents(const E& e) {
    index_t* at = own;
    e.shapes([&]<int Q>(const dims<Q>& x) __attribute__((always_inline)) {
      for (int d = 0; d < axes - Q; ++d) *at++ = 1;
      for (int d = 0; d < Q; ++d) *at++ = x[d];
    });
  }
};

/// Leaves whose type shows their extents: fixed tensors.
template <class L> inline constexpr bool shows_extents_v = requires { L::extent_parameter; };
/// Broadcasts the extents that the type of a leaf shows into `all`, from the last axis on, 1 where no other was met; false when they do not fit.
template <class L> constexpr bool meet_extents(index_t* all) {
  bool ok = true;
  if constexpr (shows_extents_v<L>) {
    for (int d = 0; d < L::rank; ++d) {
      const index_t n = L::extent_parameter.at(L::rank - 1 - d);
      if (n == 1) continue;
      ok = ok && (all[d] == 1 || all[d] == n);
      all[d] = n;
    }
  }
  return ok;
}
/// Whether the extents that the types of leaves show broadcast.
template <class... L> constexpr bool extents_agree(type_list<L...>) {
  array<index_t, 12> all = ones<12>();
  return (meet_extents<L>(all.v) && ... && true);
}
/// Whether an expression of these leaves may have the shape `to`; numbers have any.
template <class... L, int R> constexpr bool extents_fit(type_list<L...>, const dims<R>& to) {
  array<index_t, 12> all = ones<12>();
  bool ok = (meet_extents<L>(all.v) && ...);
  const bool all_shown = ((shows_extents_v<L> || L::rank == 0) && ...);
  for (int d = 0; d < R; ++d) ok = ok && (all[d] == to[R - 1 - d] || (all[d] == 1 && !all_shown));
  return ok;
}

#if defined(TTENSOR_BODY)
struct operand_shape {
  index_t extent[16];
  int rank;
};
/// Text without memory of its own: too long a one is cut off.
struct brief_text {
  char at[600];
  int size = 0;
  TTENSOR_NOINLINE void add(const char* s) {
    while (*s && size < 599) at[size++] = *s++;
    at[size] = 0;
  }
};
/// `to` becomes the shape of the expression that starts at `step`; throws at the first operator whose operands do not broadcast.
/// `own`: extents of the operands, `axes` of each, aligned from the right; so are those of `to`, and ones in front of its own.
TTENSOR_NOINLINE inline void fold_shape(operand_shape& to, const shape_step*& step, const index_t*& own, int axes) {
  const shape_step op = *step++;
  to.rank = op.name ? 0 : op.count;
  for (int d = 0; d < axes; ++d) to.extent[d] = op.name ? 1 : own[d];
  if (!op.name) {
    own += axes;
    return;
  }
  brief_text text;
  text.add("[");
  text.add(op.name);
  text.add("] shapes do not broadcast: ");
  bool ok = true;
  for (int i = 0; i < op.count; ++i) {
    operand_shape x;
    fold_shape(x, step, own, axes);
    if (i) text.add(" and ");
    text.add(shape_text(x.extent + axes - x.rank, x.rank).c_str());
    if (x.rank > to.rank) to.rank = x.rank;
    for (int d = 0; d < axes; ++d) {
      index_t& e = to.extent[d];
      if (e == 1) e = x.extent[d];
      else if (x.extent[d] != 1 && x.extent[d] != e) ok = false;
    }
  }
  if (ok) return;
  text.add("; extents must be equal or 1, aligned from the right [TT-S01]");
  raise<shape_error>(text.at);
}
TTENSOR_BODY void shapes_differ(const shape_step* step, const index_t* own, int axes) {
  operand_shape s;
  fold_shape(s, step, own, axes);
  __builtin_unreachable();
}
#endif
}  // namespace expr

TTENSOR_END
