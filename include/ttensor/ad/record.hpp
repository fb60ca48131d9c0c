// Recording array statements: one fused loop forward, ONE node on the tape, one fused loop backward.
//
// A statement of scalar S = D<var<X>> (D: duals and batch levels outside the tape) has one slot for every plane of D. The
// node keeps nothing per element but the leaves that some derivative rule reads; values are recomputed in the loop.
#pragma once
#include "../run/back.hpp"
#include "untape.hpp"

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

template <class X, class F> void each_slot(const snapshot<var<X>>& s, F&& f) { f(s); }
template <class T, int N, class F> void each_slot(const snapshot<dual<T, N>>& s, F&& f) {
  each_slot(s.value, f);
  for (int k = 0; k < N; ++k) each_slot(s.tangent[k], f);
}
template <class X, class F> void each_var(store<var<X>>& s, F&& f) { f(s); }
template <class T, int N, class F> void each_var(store<dual<T, N>>& s, F&& f) {
  each_var(s.value_, f);
  for (int k = 0; k < N; ++k) each_var(s.tangent_[k], f);
}
template <class X, class F> void each_scalar(const var<X>& s, F&& f) { f(s); }
template <class T, int N, class F> void each_scalar(const dual<T, N>& s, F&& f) {
  each_scalar(s.value, f);
  for (int k = 0; k < N; ++k) each_scalar(s.tangent_at(k), f);
}

template <class T, class F> void each_slot(const snapshot<batched<T>>& s, F&& f) { each_slot(s.inner, f); }
template <class T, class F> void each_var(store<batched<T>>& s, F&& f) { each_var(s.inner(), f); }
template <class T, class F> void each_scalar(const batched<T>&, F&&) { static_assert(sizeof(T) == 0, "ttensor: a batched scalar is a leaf of rank 0"); }

/// f(taped store, map) for every plane outside the tape; batch axes outside the tape lead the map.
template <class X, int R, class F> void each_region(store<var<X>>& s, const layout_map<R>& m, F&& f) { f(s, m); }
template <class T, class F, int R> void each_region(store<batched<T>>& s, const layout_map<R>& m, F&& f) {
  layout_map<R + 1> w{m.offset, {}, {}};
  w.extent[0] = s.examples();
  w.stride[0] = s.size();
  for (int d = 0; d < R; ++d) w.extent[d + 1] = m.extent[d], w.stride[d + 1] = m.stride[d];
  each_region(s.inner(), w, f);
}
template <class T, int N, int R, class F> void each_region(store<dual<T, N>>& s, const layout_map<R>& m, F&& f) {
  each_region(s.value_, m, f);
  for (int k = 0; k < N; ++k) each_region(s.tangent_[k], m, f);
}

template <class L> constexpr bool can_carry() { return has_var_v<typename L::scalar> && is_differentiable_v<elem_t<typename L::scalar>>; }
template <class... L> constexpr std::uint64_t active_slots(type_list<L...>) {
  std::uint64_t bits = 0, bit = 1;
  ((bits |= can_carry<L>() ? bit : 0, bit <<= 1), ...);
  return bits;
}
template <class L, class X> struct target_of { using type = run::adjoint_target<elem_t<typename L::scalar>, 0>; };
template <class L, class X> requires(can_carry<L>()) struct target_of<L, X> {
  using type = run::adjoint_target<elem_t<typename L::scalar>, taped<typename L::scalar>::vars * planes_v<X>>;
};

template <class L> constexpr int taped_vars() {
  if constexpr (can_carry<L>()) return taped<typename L::scalar>::vars;
  else return 0;
}

/// One adjoint that a statement's backward pass adds to.
template <int R> struct target {
  std::uint32_t id = 0;       // slot, or 0
  adjoint_ref scalar;         // a scalar of the tape, when id is 0
  index_t offset = 0;
  dims<R> stride{};           // over the statement's axes; 0 where the leaf was broadcast. Batch axes inside the tape: unused
  bool active() const { return id != 0 || scalar.valid(); }
};

/// to[offset + stride . i] += from[i] over all i, one element at a time (strided leaves only).
template <class T, int R> void add_strided(T* to, const dims<R>& stride, const T* from, const dims<R>& extent) {
  dims<R> i{};
  const index_t n = shape::size(extent);
  for (index_t k = 0; k < n; ++k) {
    index_t at = 0;
    for (int d = 0; d < R; ++d) at += i[d] * stride[d];
    to[at] = static_cast<T>(to[at] + from[k]);
    for (int d = R - 1; d >= 0; --d) {
      if (++i[d] < extent[d]) break;
      i[d] = 0;
    }
  }
}

template <class S, class E> struct statement_node final : tape_node {
  using X = taped_t<S>;
  using leaf_list = leaves_of_t<E>;
  static constexpr int inner_levels = batch_levels_v<X>, levels = batch_levels_v<S>, full = levels + E::rank, vars = taped<S>::vars;
  static constexpr std::uint64_t active = active_slots(leaf_list{});
  using prog = program_of<E>;
  template <class List> struct with;
  template <class... L> struct with<type_list<L...>> {
    using targets = type_list<typename target_of<L, X>::type...>;
    using kernel = run::back_kernel<prog, active, core_t<S>, vars, targets, eval_detail::leaf_core<L>...>;
    using table = run::plane_table<eval_detail::leaf_core<L>...>;
    static constexpr int targets_count = (taped_vars<L>() + ... + 0);
  };
  using kernel = typename with<leaf_list>::kernel;
  static_assert(kernel::planes <= run::max_planes, "ttensor: too many taped arrays in one statement; evaluate a part with eval() first");
  static constexpr int value_planes = with<leaf_list>::table::count, target_count = with<leaf_list>::targets_count;

  struct saved {
    mem::block_ref keep;
    const void* ptr = nullptr;
    dims<full> extent_is_one_mask{};
    dims<full> stride{};
    bool uniform = false;
    alignas(16) char bytes[16]{};
  };
  dims<full> extent;
  dims<full> out_stride;  // of the result over the statement's axes: 0 where a sum reduced
  saved value[value_planes > 0 ? value_planes : 1];
  target<full> target_[target_count > 0 ? target_count : 1];
  std::uint32_t out[vars];

  statement_node(const E& e, const dims<full>& x, const dims<full>& os) : extent(x), out_stride(os) {
    int v = 0, g = 0, slot_number = 0;
    constexpr auto facts_now = facts<active>(prog{});
    e.leaves([&]<class L>(const L& l) {
      constexpr bool uniform = run::is_uniform_v<eval_detail::leaf_core<L>>;
      const bool keep = facts_now.keeps(slot_number++);
      dims<full> own{};  // strides of the leaf's value over the statement's axes
      l.planes([&]<class T, int Q>(std::type_identity<T>, const plane<Q>& p) {
        run::nest_plane n;
        eval_detail::align<full>(n, p, batch_levels_v<typename L::scalar>, levels);
        for (int d = 0; d < full; ++d) own[d] = n.stride[d];
        saved& s = value[v++];
        s.uniform = uniform;
        if (uniform) {
          std::memcpy(s.bytes, p.ptr, sizeof(T));
        } else if (keep) {
          s.keep = mem::block_ref(p.holder);
          s.ptr = p.ptr;
          s.stride = own;
        }
      });
      if constexpr (can_carry<L>()) {
        if constexpr (is_scalar_leaf_v<L>) {
          each_scalar(l.value, [&](const auto& x1) {
            if (x1.active()) target_[g].scalar = x1.ref();
            ++g;
          });
        } else {
          each_slot(l.data, [&](const auto& s) {
            if (s.slot) {
              target_[g].id = s.slot->id;
              target_[g].offset = l.map.offset;
              target_[g].stride = own;
              for (int d = 0; d < inner_levels; ++d) target_[g].stride[d] = 0;
            }
            ++g;
          });
        }
      }
    });
  }

  void backward(tape& t) override {
    bool any = false;
    for (std::uint32_t id : out) any = any || t.at<X>(id).live;
    if (!any) return;
    fused(t);
    for (std::uint32_t id : out) {
      t.at<X>(id).live = false;
      t.at<X>(id).adjoint = {};
    }
  }

 private:
  static constexpr int px = planes_v<X>;
  void fused(tape& t) {
    alignas(64) static constexpr char zeros[64]{};
    run::nest_plane plane[kernel::planes];
    constexpr auto bytes = kernel::bytes;
    dims<full> x = extent;
    auto widen = [&](const dims<inner_levels>& b) {
      for (int d = 0; d < inner_levels; ++d) x[d] = b[d] > x[d] ? b[d] : x[d];
    };
    for (std::uint32_t id : out)
      if (t.at<X>(id).live) widen(t.at<X>(id).adjoint.batch());
    dims<inner_levels> batch{};
    for (int d = 0; d < inner_levels; ++d) batch[d] = x[d];

    for (int k = 0; k < kernel::planes; ++k) plane[k] = {const_cast<char*>(zeros), bytes[k], run::access::input, {}};
    // cotangents, in reverse plane order of the duals outside the tape
    index_t inner_size = 1;
    for (int d = inner_levels; d < full; ++d) inner_size *= x[d];
    for (int q = 0; q < vars; ++q) {
      adjoint_slot<X>& s = t.at<X>(out[vars - 1 - q]);
      if (!s.live) continue;
      int k = q * px;
      s.adjoint.planes([&]<class T, int B>(std::type_identity<T>, T* p, const dims<B>& be, const dims<B>& bs, mem::block*) {
        run::nest_plane& n = plane[k++];
        n.ptr = reinterpret_cast<char*>(p);
        for (int d = inner_levels; d < full; ++d) n.stride[d] = x[d] == 1 ? 0 : out_stride[d];
        for (int d = 0; d < B; ++d) n.stride[d] = be[d] == 1 ? 0 : bs[d];
      });
    }
    for (int v = 0; v < value_planes; ++v) {
      run::nest_plane& n = plane[kernel::out_planes + v];
      if (value[v].uniform) {
        n.ptr = value[v].bytes;
        n.how = run::access::uniform;
      } else if (value[v].ptr) {
        n.ptr = const_cast<char*>(static_cast<const char*>(value[v].ptr));
        for (int d = 0; d < full; ++d) n.stride[d] = value[v].stride[d];
      }
    }
    // adjoints
    struct pending { int target, plane; store<X> temporary; };
    std::vector<pending> strided;
    std::vector<X> scalars;
    scalars.reserve(static_cast<std::size_t>(target_count));
    struct scalar_sum { int target; std::size_t at; };
    std::vector<scalar_sum> sums;
    auto connect = [&]<int Leaf, class Tg>(std::integral_constant<int, Leaf>, Tg) {  // one active leaf
      if constexpr (Tg::planes > 0) {
      constexpr int n_vars = Tg::planes / px, k = kernel::target_first(Leaf), g0 = (k - kernel::table::count) / (2 * px);
      for (int j = 0; j < n_vars; ++j) {
        const int g = g0 + j, dst = k + j * px, src = dst + Tg::planes;
        const target<full>& to = target_[g];
        for (int r = 0; r < px; ++r) plane[dst + r].how = run::access::output;
        if (to.id == 0) {  // a scalar, or nothing: summed into a local
          scalars.push_back(X(0));
          if (to.scalar.valid()) sums.push_back({g, scalars.size() - 1});
          int r = 0;
          point_at(scalars.back(), [&](void* p) { plane[dst + r].ptr = plane[src + r].ptr = static_cast<char*>(p), ++r; });
          continue;
        }
        adjoint_slot<X>& s = t.at<X>(to.id);
        int inner = full - 1;
        while (inner > inner_levels && x[inner] == 1) --inner;
        const bool direct = full == inner_levels || to.stride[inner] == 0 || to.stride[inner] == 1 || x[inner] == 1;
        bool fresh = !s.live && direct && s.size == inner_size && to.offset == 0;
        index_t stride = 1;
        for (int d = full - 1; d >= inner_levels; --d) {
          fresh = fresh && (x[d] == 1 || to.stride[d] == stride);
          stride *= x[d];
        }
        for (int o = 0; o < target_count && fresh; ++o)
          if (o != g && target_[o].id == to.id) fresh = target_[o].offset == to.offset && same_stride(target_[o].stride, to.stride);
        store<X>* into = &s.adjoint;
        dims<full> walk = to.stride;
        index_t offset = to.offset;
        if (!direct) {
          strided.push_back({g, dst, store<X>::make(inner_size, batch)});
          into = &strided.back().temporary;
          fresh = true;
          offset = 0;
          stride = 1;
          for (int d = full - 1; d >= inner_levels; --d) {
            walk[d] = x[d] == 1 ? 0 : stride;
            stride *= x[d];
          }
        } else if (fresh) {
          s.adjoint = store<X>::make(s.size, batch);
          s.live = true;
        } else {
          s.open(batch);
        }
        int r = 0;
        into->planes([&]<class T, int B>(std::type_identity<T>, T* p, const dims<B>& be, const dims<B>& bs, mem::block*) {
          run::nest_plane& d1 = plane[dst + r];
          d1.ptr = reinterpret_cast<char*>(p + offset);
          for (int d = 0; d < full; ++d) d1.stride[d] = d < inner_levels || x[d] == 1 ? 0 : walk[d];
          for (int d = 0; d < B; ++d) d1.stride[d] = be[d] == 1 ? 0 : bs[d];
          run::nest_plane& s1 = plane[src + r];
          if (!fresh) s1 = d1, s1.how = run::access::input;
          ++r;
        });
      }
      }
    };
    [&]<class... Tg, int... I>(type_list<Tg...>, std::integer_sequence<int, I...>) { (connect(std::integral_constant<int, I>{}, Tg{}), ...); }(
        typename with<leaf_list>::targets{}, std::make_integer_sequence<int, leaf_list::size>{});

    run::nest s;
    s.rank = full;
    s.planes = kernel::planes;
    for (int d = 0; d < full; ++d) s.extent[d] = x[d];
    s.plane = plane;
    s.lanes = kernel::N;
    run::driver(s, kernel::launch, true, false).run();
    ++tapes::stats.backward_loops;

    for (auto& p : strided) {
      store<X>& a = t.at<X>(target_[p.target].id).open(batch);
      add_region(a, target_[p.target], p.temporary, x, batch);
    }
    for (auto& p : sums) scalar_pool<X>::add(t, t.pool<scalar_pool<X>>(), target_[p.target].scalar.bits, scalars[p.at]);
  }
  static bool same_stride(const dims<full>& a, const dims<full>& b) { return a == b; }
  template <class V, class F> static void point_at(V& v, F&& f) {
    if constexpr (is_dual_v<V>) {
      point_at(v.value, f);
      for (int i = 0; i < scalar_traits<V>::planes / scalar_traits<std::remove_cvref_t<decltype(v.value)>>::planes - 1; ++i) point_at(v.tangent_at(i), f);
    } else {
      f(&v);
    }
  }
  static void add_region(store<X>& a, const target<full>& to, store<X>& from, const dims<full>& x, const dims<inner_levels>&) {
    const void* source[px];
    int r = 0;
    from.planes([&]<class T, int B>(std::type_identity<T>, T* p, const dims<B>&, const dims<B>&, mem::block*) { source[r++] = p; });
    r = 0;
    a.cells([](auto& c) { static_cast<void>(c.writable()); });
    a.planes([&]<class T, int B>(std::type_identity<T>, T* p, const dims<B>& be, const dims<B>& bs, mem::block*) {
      dims<full> stride = to.stride;
      for (int d = 0; d < B; ++d) stride[d] = be[d] == 1 ? 0 : bs[d];
      add_strided(p + to.offset, stride, static_cast<const T*>(source[r++]), x);
    });
  }
};

template <class S, class E> struct nested_statement_node;  // reverse over reverse: nested_reverse.hpp

/// The tape of the active leaves of an expression: 0 when none is active.
template <class E> std::uint64_t serial_of(const E& e) {
  std::uint64_t serial = 0;
  bool mixed = false;
  auto see = [&](std::uint64_t s) {
    mixed = mixed || (serial != 0 && serial != s);
    serial = s;
  };
  e.leaves([&]<class L>(const L& l) {
    if constexpr (can_carry<L>()) {
      if constexpr (is_scalar_leaf_v<L>) each_scalar(l.value, [&](const auto& v) { if (v.active()) see(v.serial()); });
      else each_slot(l.data, [&](const auto& s) { if (s.slot) see(s.slot->tape_serial); });
    }
  });
  if (TTENSOR_UNLIKELY(mixed)) tapes::mixed_levels();
  return serial;
}

/// Moves the adjoint of a region of one slot to the slot of the value that was written there.
template <class X, int R> struct region_node final : tape_node {
  std::uint32_t into, from;  // from: 0 when a constant was written
  layout_map<R> map;
  region_node(std::uint32_t i, std::uint32_t f, const layout_map<R>& m) : into(i), from(f), map(m) {}
  void backward(tape& t) override {
    adjoint_slot<X>& s = t.at<X>(into);
    if (!s.live) return;
    using L = leaf<X, R>;
    if (from) {
      adjoint_slot<X>& f = t.at<X>(from);
      const auto whole = layout_map<R>::row_major(map.extent);
      auto e = expr::make_node<add_op>(L{f.open(s.adjoint.batch()).snap(), whole}, L{s.adjoint.snap(), map});
      statement_rule<X>::evaluate_into(f.adjoint, e, map.extent);
    }
    statement_rule<X>::assign_region(s.adjoint, map, scalar_leaf<X>{X(0)});
  }
};

template <class S, class E> auto iteration_extent(const E& e, const dims<E::rank>& shape) {
  constexpr int levels = batch_levels_v<S>;
  dims<levels + E::rank> extent{};
  const auto batch = batch_of<S>(e);
  for (int d = 0; d < levels; ++d) extent[d] = batch[d];
  for (int d = 0; d < E::rank; ++d) extent[levels + d] = shape[d];
  return extent;
}
/// Gives the planes of `y` slots and pushes the node of the statement `e`, if any of its leaves is on a tape.
template <class S, class E, int F> void record(store<S>& y, const E& e, const dims<F>& extent, const dims<F>& out_stride) {
  using X = taped_t<S>;
  const std::uint64_t serial = serial_of(e);
  if (serial <= tapes::silent) return;
  tape& t = tapes::of<X>(serial);
  using node_type = std::conditional_t<has_var_v<X>, nested_statement_node<S, E>, statement_node<S, E>>;
  auto& n = t.push<node_type>(e, extent, out_stride);
  int k = 0;
  each_var(y, [&](store<var<X>>& v) {
    n.out[k] = t.new_slot<X>(v.size());
    v.set_slot(token_ref(serial, n.out[k++]));
  });
}
}  // namespace ad

template <class S> requires has_var_v<S> struct statement_rule<S> {
  using X = ad::taped_t<S>;
  template <class E> static store<S> evaluate(const E& e, const dims<E::rank>& shape) {
    store<S> y = values(e, shape);
    record(y, e, shape);
    return y;
  }
  template <class E> static void evaluate_into(store<S>& out, const E& e, const dims<E::rank>& shape) { out.adopt(evaluate(e, shape)); }
  template <int R, class E> static void assign_region(store<S>& out, const layout_map<R>& m, const E& e) {
    // the right side becomes a value of its own; writing it moves adjoints only
    auto shape = e.shape();
    store<S> y = evaluate(e, shape);
    leaf<S, E::rank> l{y.snap(), layout_map<E::rank>::row_major(shape)};
    if constexpr (E::rank == R) {
      if (shape == m.extent) return write(out, m, y);
    }
    // broadcast to the region first
    using Z = leaf<S, R>;
    layout_map<R> bm{0, m.extent, {}};
    for (int d = 0; d < E::rank; ++d) bm.stride[R - E::rank + d] = l.map.extent[d] == 1 ? 0 : l.map.stride[d];
    auto copy = expr::make_node<cast_op<elem_t<S>>>(Z{y.snap(), bm});
    write(out, m, evaluate(copy, m.extent));
  }

 private:
  template <int R> static void write(store<S>& out, const layout_map<R>& m, store<S> y) {
    out.require_batch(y.batch());
    y.require_batch(out.batch());
    leaf<S, R> l{y.snap(), layout_map<R>::row_major(m.extent)};
    move_adjoints(out, m, y);
    eval_detail::run_region_values<S>(out, m, l);
  }
  template <int R> static void move_adjoints(store<S>& out, const layout_map<R>& m, store<S>& y) {
    store<var<X>>* from[ad::taped<S>::vars];
    int k = 0;
    ad::each_var(y, [&](store<var<X>>& v) { from[k++] = &v; });
    k = 0;
    ad::each_region(out, m, [&]<int Q>(store<var<X>>& v, const layout_map<Q>& region) {
      const token_ref& f = from[k++]->slot();
      if (!f && !v.slot()) return;
      const std::uint64_t serial = f ? f->tape_serial : v.slot()->tape_serial;
      v.own_slot(serial);
      tapes::of<X>(serial).template push<ad::region_node<X, Q>>(v.slot()->id, f ? f->id : 0u, region);
    });
  }
  template <class E> static store<S> values(const E& e, const dims<E::rank>& shape) {
    if constexpr (has_var_v<X>) return ad::retape<S>(statement_rule<ad::untaped_t<S>>::evaluate(ad::untape_expression(e), shape));  // recorded on older tapes
    else return ttensor::evaluate<S>(e, shape);
  }
  template <class E> static void record(store<S>& y, const E& e, const dims<E::rank>& shape) {
    dims<batch_levels_v<S> + E::rank> extent = ad::iteration_extent<S>(e, shape);
    dims<batch_levels_v<S> + E::rank> inner = extent;  // strides of the tape's own axes: batch axes inside the tape do not count
    for (int d = 0; d < batch_levels_v<X>; ++d) inner[d] = 1;
    ad::record(y, e, extent, shape::row_major(inner));
  }
};

/// Sums over a tape: the same node as an elementwise statement, with a result that is broadcast over the summed axes.
template <class S> requires has_var_v<S> struct sum_rule<S> {
  using Q = reduced_scalar_t<S>;
  template <bool Columns, class E> static store<Q> evaluate(const E& e, const dims<E::rank>& shape, const axis_set<E::rank>& set) {
    store<Q> y;
    if constexpr (has_var_v<ad::taped_t<S>>) y = ad::retape<Q>(sum_rule<ad::untaped_t<S>>::template evaluate<Columns>(ad::untape_expression(e), shape, set));
    else y = evaluate_reduction<sum_op, Columns, S>(e, shape, set);
    if constexpr (is_differentiable_v<elem_t<S>>) {
      const auto extent = ad::iteration_extent<S>(e, shape);
      auto inner = extent;
      for (int d = 0; d < batch_levels_v<ad::taped_t<S>>; ++d) inner[d] = 1;
      ad::record(y, e, extent, reduce_detail::output_strides(inner, set));
    }
    return y;
  }
};

TTENSOR_END
