// Reverse over reverse. The backward pass of a statement y = f(x), that is g = c f'(x) for a cotangent c, is recorded on the
// older tapes as one node, and that node needs no rules of its own: for an adjoint u of g
//
//   u g  =  u c f'(x)  =  D_u (c f(x)),   the tangent of c f(x + eps u),
//
// so its backward pass is the fused backward loop of the statement c * f in dual arithmetic, which gives c f''(x) u for x and
// f'(x) u for c (run/back.hpp: in reverse plane order). The same again for the next order. Nobody who never nests reverse
// mode instantiates any of it.
#pragma once
#include "add_region.hpp"
#include "array_rule.hpp"

TTENSOR_BEGIN
namespace ad {

/// A statement of scalar S as its flat program and the leaves it loads, in slot order.
template <class S, int R, class Prog, class... L> struct flat_statement {
  using scalar = S;
  static constexpr int rank = R;
  bundle<L...> loads;
  template <class F> void leaves(F&& f) const {
    static_for<static_cast<int>(sizeof...(L))>([&](auto i) { f(at<i()>(loads)); });
  }
};
// ---- leaves whose elements somebody else keeps: they are copied and dropped for nothing ------------------------------------
template <class X> snapshot<var<X>, false> borrowed(const snapshot<var<X>>& s);
template <class T, int N> snapshot<dual<T, N>, false> borrowed(const snapshot<dual<T, N>>& s);
template <class T> snapshot<batched<T>, false> borrowed(const snapshot<batched<T>>& s);
template <class T> requires(depth_v<T> == 0) snapshot<T, false> borrowed(const snapshot<T>& s) { return {reinterpret_cast<mem::hold>(s.block.get()), s.base}; }
template <class X> snapshot<var<X>, false> borrowed(const snapshot<var<X>>& s) { return {borrowed(s.value), s.slot}; }
template <class T, int N> snapshot<dual<T, N>, false> borrowed(const snapshot<dual<T, N>>& s) {
  snapshot<dual<T, N>, false> r{borrowed(s.value), {}};
  for (int k = 0; k < N; ++k) r.tangent[k] = borrowed(s.tangent[k]);
  return r;
}
template <class T> snapshot<batched<T>, false> borrowed(const snapshot<batched<T>>& s) { return {borrowed(s.inner), s.batch, s.size}; }
template <class S, int R> leaf<S, R, false> borrowed_leaf(const leaf<S, R>& l) { return {borrowed(l.data), l.map}; }
template <class S> const scalar_leaf<S>& borrowed_leaf(const scalar_leaf<S>& l) { return l; }

/// A leaf and its tangent, which lies elsewhere: a leaf of duals. Constant: the tangent is not on the newest tape of V.
template <class V, class U, bool Constant> struct lifted_leaf {
  using ttensor_expression = void;
  using scalar = dual<typename V::scalar, 1>;
  static constexpr int rank = V::rank, holds = 0;
  V value;
  U tangent;
  auto shape() const { return value.shape(); }
  template <class F> void planes(F&& f) const {
    value.planes(f);
    tangent.planes(f);
  }
};
template <class V, class U, bool Constant> auto borrowed_leaf(const lifted_leaf<V, U, Constant>& l) {
  auto v = borrowed_leaf(l.value);
  auto u = borrowed_leaf(l.tangent);
  return lifted_leaf<decltype(v), decltype(u), Constant>{v, u};
}
template <class V, class U, bool Constant> auto kept_leaf(const lifted_leaf<V, U, Constant>& l) {
  auto v = expr::keeping(l.value);
  auto u = expr::keeping(l.tangent);
  return lifted_leaf<decltype(v), decltype(u), Constant>{v, u};
}
template <class L> auto kept_leaf(const L& l) { return expr::keeping(l); }
template <class V, class U, bool Constant> struct taped_planes<lifted_leaf<V, U, Constant>> {
  static constexpr int count = (Constant ? 1 : 2) * taped_planes<V>::count;
};
template <class V, class U, bool Constant, class F> void each_taped(const lifted_leaf<V, U, Constant>& l, F&& f) {
  each_taped(l.value, f);
  if constexpr (!Constant) each_taped(l.tangent, f);
}
template <class V, class U, bool Constant> auto untape_leaf(const lifted_leaf<V, U, Constant>& l) {
  auto v = untape_leaf(l.value);
  auto u = untape_leaf(l.tangent);
  return lifted_leaf<decltype(v), decltype(u), false>{v, u};
}

// ---- the second newest tape off a leaf: the statement as the newest tape alone records it -------------------------------
template <class S> struct without_older { using type = S; };
template <class S> using without_older_t = typename without_older<S>::type;
template <class X> struct without_older<var<X>> { using type = var<untaped_t<X>>; };
template <class T, int N> struct without_older<dual<T, N>> { using type = dual<without_older_t<T>, N>; };
template <class T> struct without_older<batched<T>> { using type = batched<without_older_t<T>>; };
template <class T> snapshot<batched<without_older_t<T>>, false> drop_older(const snapshot<batched<T>, false>& s);
template <class T> batched<without_older_t<T>> drop_older(const batched<T>& s);
template <class X> snapshot<var<untaped_t<X>>, false> drop_older(const snapshot<var<X>, false>& s) { return {untape(s.value), s.slot}; }
template <class T, int N> auto drop_older(const snapshot<dual<T, N>, false>& s) {
  snapshot<dual<without_older_t<T>, N>, false> r;
  r.value = drop_older(s.value);
  for (int k = 0; k < N; ++k) r.tangent[k] = drop_older(s.tangent[k]);
  return r;
}
template <class T> snapshot<batched<without_older_t<T>>, false> drop_older(const snapshot<batched<T>, false>& s) { return {drop_older(s.inner), s.batch, s.size}; }
template <class X> var<untaped_t<X>> drop_older(const var<X>& v) { return {untape_scalar(v.value()), v.serial(), v.ref(), false}; }
template <class T, int N> auto drop_older(const dual<T, N>& s) {
  dual<without_older_t<T>, N> r;
  r.value = drop_older(s.value);
  for (int k = 0; k < N; ++k) r.tangent_at(k) = drop_older(s.tangent_at(k));
  return r;
}
template <class T> batched<without_older_t<T>> drop_older(const batched<T>& s) {
  using S = batched<without_older_t<T>>;
  return S(store<S>::over(drop_older(borrowed(s.elements().snap())).owning(), s.elements().size()));
}
template <class S, int R> auto drop_older_leaf(const leaf<S, R, false>& l) {
  if constexpr (can_carry<leaf<S, R>>()) return leaf<without_older_t<S>, R, false>{drop_older(l.data), l.map};
  else return l;
}
template <class S> auto drop_older_leaf(const scalar_leaf<S>& l) {
  if constexpr (can_carry<scalar_leaf<S>>()) return scalar_leaf<without_older_t<S>>{drop_older(l.value)};
  else return l;
}
template <class V, class U, bool Constant> auto drop_older_leaf(const lifted_leaf<V, U, Constant>& l) {
  auto v = drop_older_leaf(l.value);
  auto u = drop_older_leaf(l.tangent);
  return lifted_leaf<decltype(v), decltype(u), Constant>{v, u};
}
/// The statement of scalar Z with other leaves: f of each.
template <class Z, class S, int R, class Prog, class... L, class Fn> auto same_program(const flat_statement<S, R, Prog, L...>& e, const Fn& f) {
  return flat_statement<Z, R, Prog, std::remove_cvref_t<decltype(f(std::declval<const L&>()))>...>{spread([&](const L&... l) { return make_bundle(f(l)...); }, e.loads)};
}

// ---- gradients as arrays of their own ------------------------------------------------------------------------------------
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
    s->size = size;
    s->live = adjoint.valid();
    s->adjoint = static_cast<store<X>&&>(adjoint);
    all_.push(s);
    return *s;
  }

 private:
  arena memory_;
  growing<slot_base*> all_;
};
/// What is done with a gradient of scalars X: one code for all statements.
struct gradient_ops {
  slot_base* (*make)(loose_slots& slots, index_t size);
  slot_base* (*wrap)(loose_slots& slots, slot_base& values);  // gradients below the newest tape of X, as scalars X that are not on it
  void (*number)(slot_base& g, tape& t, std::uint64_t serial, std::uint32_t* id);  // gives the taped planes slots of that tape
  void (*add)(tape& t, slot_base& g, const gradient_parts& p, int k);              // to where tape `t` wants it
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
template <class X> slot_base* make(loose_slots& slots, index_t size) { return &slots.make<X>(size); }
template <class X> TTENSOR_NOINLINE slot_base* wrap(loose_slots& slots, slot_base& values) {
  slot_base* s = &slots.make<X>(values.size, retape<X>(static_cast<adjoint_slot<untaped_t<X>>&>(values).adjoint));
  values.drop();
  return s;
}
/// The other way: a cotangent of scalars X below the newest tape of X.
template <class X> TTENSOR_NOINLINE slot_base* unwrap(loose_slots& slots, slot_base& g) {
  using W = untaped_t<X>;
  return &slots.make<W>(g.size, store<W>::over(untape(static_cast<adjoint_slot<X>&>(g).adjoint.snap()), g.size));
}
template <class X> TTENSOR_NOINLINE void number(slot_base& g, tape& t, std::uint64_t serial, std::uint32_t* id) {
  each_var(static_cast<adjoint_slot<X>&>(g).adjoint, [&]<class Y>(store<var<Y>>& v) {
    *id = t.new_slot<Y>(v.size());
    v.set_slot(token_ref(serial, *id++));
  });
}
template <class X, bool Scalar> TTENSOR_NOINLINE void add(tape& t, slot_base& g, const gradient_parts& p, int k) {
  const store<X>& from = static_cast<adjoint_slot<X>&>(g).adjoint;
  const back_target& to = p.part[k].target;
  if constexpr (Scalar)
    if (to.id == 0) return add_adjoint<X>(t, to.scalar, from.scalar());
  region at{to.offset, p.full - p.inner, {}, {}}, all{0, p.full - p.inner, {}, {}};
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
    auto one = [&](int n, const gradient_ops* o) {
      for (int d = 0; d < n; ++d) a[k++] = o;
    };
    (one(taped_vars<L>(), &nested_detail::ops<reelem_t<X, elem_t<typename L::scalar>>, L::rank == 0>), ...);
    return a;
  }();
};

/// Runs a backward loop into arrays of their own.
TTENSOR_NOINLINE inline void run_apart(const back_layout& l, const back_record& r, slot_base* const* cotangent, const index_t* out_stride, const gradient_parts& p, loose_slots& slots) {
  slot_base* to[run::max_planes];
  for (int k = 0; k < p.count; ++k) {
    gradient_part& g = p.part[k];
    index_t *const stride = p.stride + k * p.full, *const extent = p.extent + k * p.full, *const walk = r.target_stride + k * p.full;
    g.target = r.target[k];
    g.taped = g.target.id != 0 || g.target.scalar.valid();
    for (int d = 0; d < p.full; ++d) stride[d] = walk[d], extent[d] = d >= p.inner && walk[d] != 0 ? r.extent[d] : 1;
    for (int o = 0; o < k && g.same < 0 && g.taped; ++o) {
      const gradient_part& e = p.part[o];
      if (e.taped && e.same < 0 && e.target.id == g.target.id && e.target.scalar.bits == g.target.scalar.bits && e.target.offset == g.target.offset &&
          back_detail::equal(p.stride + o * p.full, stride, 0, p.full) && back_detail::equal(p.extent + o * p.full, extent, 0, p.full))
        g.same = o;
    }
    p.slot[k] = to[k] = nullptr;
    if (g.taped && g.same < 0) {
      p.slot[k] = to[k] = p.ops[k]->make(slots, row_major(walk, extent, p.full, p.inner));
    } else if (g.taped) {
      to[k] = to[g.same];
      std::memcpy(walk, r.target_stride + g.same * p.full, static_cast<std::size_t>(p.full) * sizeof(index_t));
    }
    r.target[k].offset = 0;
  }
  run_back(l, r, cotangent, out_stride, to, nullptr);
  ++tapes::stats.backward_loops;
  adjoint_plane plane[run::max_planes];
  for (int k = 0; k < p.count; ++k) {
    if (!p.slot[k]) continue;
    p.slot[k]->planes(plane);
    for (int d = 0; d < p.inner; ++d) p.extent[k * p.full + d] = plane[0].extent[d];
  }
}
template <class S, bool Seeded, class F> struct gradient_node;
/// The gradients of `e` for cotangents (null: zero) of its result. On every tape older than the newest of S they are recorded
/// as one node. Seeded: the cotangents are constants.
template <class S, bool Seeded, class F, int Full>
void differentiate(const F& e, const dims<Full>& extent, slot_base* const* cotangent, const index_t* out_stride, gradient_parts p, loose_slots& slots) {
  using X = taped_t<S>;
  p.ops = gradient_table<F, X>::ops.v;
  if constexpr (!has_var_v<X>) {
    statement_record<S, F> r(e, extent);
    run_apart(statement_record<S, F>::layout, r.view(), cotangent, out_stride, p, slots);
  } else {
    constexpr int vars = taped<S>::vars;
    slot_base* below[vars];
    for (int k = 0; k < vars; ++k) below[k] = cotangent[k] ? nested_detail::unwrap<X>(slots, *cotangent[k]) : nullptr;
    differentiate<without_older_t<S>, Seeded>(same_program<without_older_t<S>>(e, [](const auto& l) { return drop_older_leaf(l); }), extent, below, out_stride, p, slots);
    for (int k = 0; k < p.count; ++k)
      if (p.slot[k]) p.slot[k] = p.ops[k]->wrap(slots, *p.slot[k]);
    gradient_node<S, Seeded, F>::record(e, extent, cotangent, out_stride, p);
  }
}
/// The backward pass of a statement: adds the gradients to the slots of tape `t`.
template <class S, bool Seeded, class F, int Full>
void pull(tape& t, const F& e, const dims<Full>& extent, slot_base* const* cotangent, const index_t* out_stride) {
  using X = taped_t<S>;
  if constexpr (!has_var_v<X>) {
    statement_record<S, F> r(e, extent);
    add_gradients<X>(t, statement_record<S, F>::layout, r.view(), cotangent, out_stride);
  } else {
    using table = gradient_table<F, X>;
    part_arrays<table::count, table::full> a;
    slot_base* slot[table::count + 1];
    loose_slots slots;
    const gradient_parts p{table::count, table::full, table::inner, a.part, a.extent, a.stride, slot, table::ops.v};
    differentiate<S, Seeded>(e, extent, cotangent, out_stride, p, slots);
    for (int k = 0; k < p.count; ++k)
      if (slot[k]) p.ops[k]->add(t, *slot[k], p, k), slot[k]->drop();
  }
}

// ---- nodes ------------------------------------------------------------------------------------------------------------------
/// The product with the cotangent, a leaf K of its own.
template <class Prog, int K, bool Conjugate> struct times_cotangent;
template <int Root, class... Ins, int K> struct times_cotangent<program<Root, Ins...>, K, false> {
  static constexpr int M = static_cast<int>(sizeof...(Ins));
  using type = program<M + 1, Ins..., ld<K>, ins<mul_op, Root, M>>;
};
template <int Root, class... Ins, int K> struct times_cotangent<program<Root, Ins...>, K, true> {
  static constexpr int M = static_cast<int>(sizeof...(Ins));
  using type = program<M + 2, Ins..., ld<K>, ins<conj_op, M>, ins<mul_op, Root, M + 1>>;
};
/// An array of scalars S out of what next() gives for its taped planes, in plane order: arrays of var<X> if Keep, else of X.
/// extent: of all axes, batch axes first.
template <class S, bool Keep, class Next> auto of_planes(const index_t* extent, int rank, Next& next) {
  using Q = std::conditional_t<Keep, S, untaped_t<S>>;
  if constexpr (is_var_v<S>) {
    return snapshot<Q, false>(next());
  } else if constexpr (is_dual_v<S>) {
    snapshot<Q, false> r;
    r.value = of_planes<inner_t<S>, Keep>(extent, rank, next);
    r.tangent[0] = of_planes<inner_t<S>, Keep>(extent, rank, next);
    return r;
  } else {
    index_t n = 1;  // newer batch axes lie inside an example
    for (int d = batch_levels_v<S>; d < rank; ++d) n *= extent[d];
    return snapshot<Q, false>{of_planes<inner_t<S>, Keep>(extent, rank, next), extent[batch_levels_v<S> - 1], n};
  }
}
/// The same array as scalars S of more kinds: tangents are null, that is zero, and no example differs.
template <class S, class A> snapshot<S, false> with_kinds(const snapshot<A, false>& s) {
  if constexpr (std::is_same_v<S, A>) {
    return s;
  } else if constexpr (is_dual_v<S>) {
    snapshot<S, false> r{};
    r.value = with_kinds<inner_t<S>>(s);
    return r;
  } else {
    return {with_kinds<inner_t<S>>(s), 1, 0};
  }
}
template <class P, class S, int R> auto with_kinds_of(const leaf<S, R, false>& l) {
  using Q = reelem_t<P, elem_t<S>>;
  return leaf<Q, R, false>{with_kinds<Q>(l.data), l.map};
}
template <class P, class S> auto with_kinds_of(const scalar_leaf<S>& l) {
  using Q = reelem_t<P, elem_t<S>>;
  return scalar_leaf<Q>{Q(l.value)};
}
template <class P, class V, class U, bool Constant> auto with_kinds_of(const lifted_leaf<V, U, Constant>& l) { return l; }

/// The gradients of a statement as a function of its operands and cotangents, on the newest tape inside X.
template <class S, bool Seeded, int R, class Prog, class... L> struct gradient_node<S, Seeded, flat_statement<S, R, Prog, L...>> final : tape_node {
  using F = flat_statement<S, R, Prog, L...>;
  using X = taped_t<S>;
  using P = untaped_t<S>;
  using table = gradient_table<F, X>;
  static constexpr int count = table::count;
  static constexpr int levels = batch_levels_v<S>, full = levels + R, inner = batch_levels_v<X>, vars = taped<X>::vars;
  static_assert(of_one_elem<X, true>(type_list<L...>{}), "ttensor: a statement mixes a taped scalar with arrays of another element type; convert the scalar first, to<T>(s)");
  static_assert(of_one_field<X>(type_list<L...>{}), "ttensor: reverse mode over reverse mode does not go between real and complex; take forward over reverse, jvp(grad(f), z, v)");
  template <class A> static auto base(const A& l) {
    if constexpr (can_carry<A>()) return with_kinds_of<P>(untape_leaf(l));
    else return l;
  }
  bundle<decltype(kept_leaf(std::declval<const L&>()))...> leaves;
  leaf<P, R> cotangent;  // not if Seeded
  dims<full> extent;
  part_arrays<count, full> parts;
  std::uint32_t out[count * vars + 1] = {};  // slots of the gradients

  gradient_node(const F& e, const leaf<P, R, false>& ct, const dims<full>& x, const gradient_parts& p)
      : leaves(spread([](const L&... l) { return make_bundle(kept_leaf(l)...); }, e.loads)), cotangent(expr::keeping(ct)), extent(x) {
    for (int k = 0; k < count; ++k) parts.part[k] = p.part[k];
    for (int k = 0; k < count * full; ++k) parts.extent[k] = p.extent[k];
  }
  static void record(const F& e, const dims<full>& extent, slot_base* const* ct, const index_t* out_stride, const gradient_parts& p) {
    leaf<P, R, false> c{};
    if constexpr (!Seeded) {
      index_t one[full + 1];
      for (int d = 0; d < full; ++d) one[d] = d >= levels && out_stride[d] == 0 ? 1 : extent[d];
      int q = taped<S>::vars;  // planes of duals outside the tape in reverse order (run/back.hpp)
      auto next = [&] { return ct[--q] ? borrowed(static_cast<adjoint_slot<X>*>(ct[q])->adjoint.snap()) : snapshot<X, false>{}; };
      c.data = of_planes<S, false>(one, full, next);
      for (int d = 0; d < R; ++d) c.map.extent[d] = extent[levels + d], c.map.stride[d] = out_stride[levels + d];
    }
    std::uint64_t serial = 0;
    bool mixed = false;
    e.leaves([&](const auto& l) { look(l, serial, mixed); });
    if constexpr (!Seeded) each_taped(c, serial_finder{serial, mixed});
    serial = checked_serial(serial, mixed);
    if (serial == 0) return;
    tape& t = tape::find(serial);
    auto& n = t.push<gradient_node>(e, c, extent, p);
    for (int k = 0; k < count; ++k)
      if (p.slot[k]) p.ops[k]->number(*p.slot[k], t, serial, n.out + k * vars);
  }
  void backward(tape& t) override {
    using P2 = dual<P, 1>;
    bool any = false;
    for (std::uint32_t id : out) any = any || (id && t.slot(id).live);
    if (!any) return;
    adjoint_slot<taped_t<P2>> one;
    one.size = 1;
    one.adjoint = store<taped_t<P2>>::make(1);
    one.adjoint.set(0, taped_t<P2>(1));
    one.live = true;
    slot_base* ct[taped<P2>::vars] = {};
    ct[taped<P2>::vars - 1] = &one;  // the tangent of the product: the last plane
    const dims<full> none{};
    [&]<int... I>(std::integer_sequence<int, I...>) {
      if constexpr (Seeded) {
        pull<P2, true>(t, statement<P2, Prog>(lifted<L>(t, at<I>(leaves), first(I))...), extent, ct, none.v);
      } else {
        using times = typename times_cotangent<Prog, static_cast<int>(sizeof...(L)), is_complex_v<elem_t<S>>>::type;
        pull<P2, true>(t, statement<P2, times>(lifted<L>(t, at<I>(leaves), first(I))..., borrowed_leaf(cotangent)), extent, ct, none.v);
      }
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{});
    for (std::uint32_t id : out)
      if (id) t.slot(id).drop();
  }

 private:
  template <class Z, class Program, class... A> static flat_statement<Z, R, Program, A...> statement(const A&... a) { return {make_bundle(a...)}; }
  template <class A> TTENSOR_NOINLINE static void look(const A& l, std::uint64_t& serial, bool& mixed) {
    const auto b = base(l);
    if constexpr (can_carry<std::remove_const_t<decltype(b)>>()) each_taped(b, serial_finder{serial, mixed});
  }
  static constexpr int first(int leaf) {  // of its gradients
    const int n[] = {taped_vars<L>()...};
    int k = 0;
    for (int i = 0; i < leaf; ++i) k += n[i];
    return k;
  }
  template <class A, class Kept> TTENSOR_NOINLINE auto lifted(tape& t, const Kept& l, int from) const {
    const auto v = base(borrowed_leaf(l));
    if constexpr (!can_carry<A>()) {
      return v;
    } else {
      using Q = untaped_t<typename A::scalar>;
      using Y = taped_t<Q>;
      constexpr int planes = taped_vars<A>(), rank = A::rank;
      const index_t* x = parts.extent + from * full;
      for (int d = 0; d < planes; ++d)
        if (parts.part[from + d].taped) x = parts.extent + kept(from + d) * full;
      int k = 0;
      auto next = [&] {  // adjoints in reverse plane order of the duals inside X
        const int d = k / vars, q = vars - 1 - k % vars;
        ++k;
        snapshot<var<Y>, false> s{};
        if (d >= planes) return s;  // the tangent of a lifted leaf
        const std::uint32_t id = out[kept(from + d) * vars + q];
        if (id && t.slot(id).live) s.value = borrowed(t.at<Y>(id).adjoint.snap());
        return s;
      };
      leaf<Q, rank, false> u{of_planes<Q, true>(x, full, next), {}};
      for (int d = 0; d < rank; ++d) u.map.extent[d] = x[full - rank + d];
      u.map = layout_map<rank>::row_major(u.map.extent);
      const auto w = with_kinds_of<P>(u);
      return lifted_leaf<std::remove_const_t<decltype(v)>, std::remove_const_t<decltype(w)>, true>{v, w};
    }
  }
  int kept(int k) const { return parts.part[k].same < 0 ? k : parts.part[k].same; }
};

/// A statement over several tapes, on the newest.
template <class S, class F> struct nested_node;
template <class S, int R, class Prog, class... L> struct nested_node<S, flat_statement<S, R, Prog, L...>> final : tape_node {
  static constexpr int vars = taped<S>::vars, full = R + batch_levels_v<S>;
  flat_statement<S, R, Prog, L...> e;
  dims<full> extent, out_stride;
  std::uint32_t out[vars];
  template <class E> nested_node(const E& statement, const dims<full>& x, const dims<full>& os)
      : e(taken(statement, leaves_of_t<E>{}, std::make_integer_sequence<int, static_cast<int>(sizeof...(L))>{})), extent(x), out_stride(os) {}
  void backward(tape& t) override {
    slot_base* ct[vars];
    if (!live_slots(t, out, vars, ct)) return;
    pull<S, false>(t, same_program<S>(e, [](const auto& l) { return borrowed_leaf(l); }), extent, ct, out_stride.v);
    for (std::uint32_t id : out) t.slot(id).drop();
  }

 private:
  template <class E, class... A, int... I> static flat_statement<S, R, Prog, L...> taken(const E& statement, type_list<A...>, std::integer_sequence<int, I...>) {
    const void* leaf[sizeof...(A) + 1];
    int k = 0;
    statement.leaves([&](const auto& l) { leaf[k++] = &l; });
    return {make_bundle(expr::keeping(*static_cast<const A*>(leaf[I]))...)};
  }
};
template <class S, class E, class List> struct nested_node_type;
template <class S, class E, class... L> struct nested_node_type<S, E, type_list<L...>> {
  using type = nested_node<S, flat_statement<S, E::rank, program_of<E>, std::remove_cvref_t<decltype(expr::keeping(std::declval<const L&>()))>...>>;
};
template <class S, class E> struct nested_node_of : nested_node_type<S, E, leaves_of_t<E>> {};

}  // namespace ad

namespace lowering {
template <class S, int R, class Prog, class... L> struct leaves_of<ad::flat_statement<S, R, Prog, L...>> { using type = type_list<L...>; };
template <class S, int R, int Root, class... Ins, class... L> struct lower<ad::flat_statement<S, R, program<Root, Ins...>, L...>> {
  template <class List, int Slots> static constexpr auto run() { return state<type_list<Ins...>, static_cast<int>(sizeof...(L)), Root>{}; }
};
}  // namespace lowering
TTENSOR_END
