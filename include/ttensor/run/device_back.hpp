// Backward of a statement over device memory: which kernel bodies, and where every adjoint goes.
#pragma once
#include "device_sums.hpp"

TTENSOR_BEGIN
namespace run {

/// Where the derivative with respect to an array goes: `grad` has the layout of `x`, and is overwritten.
template <class T> struct into_gradient {
  const T* x;
  T* grad;
  index_t size;
};

namespace device_detail {
struct slot_plan {
  char* grad = nullptr;  // place of the leaf's first element in the gradient; null: a constant
  bool direct = false;   // the sweep writes it; else it is a sum
  bool add = false;
  int into = -1;         // the earlier slot of the same places that it joins
};
/// Has every place of its own axes an element of its own? (Axes of stride 0 aside; some interleaved layouts are taken for shared ones.)
inline bool distinct(const index_t* stride, const index_t* extent, int rank) {
  index_t reach = 0, last = 0;  // strides in rising order
  for (int n = 0; n < rank; ++n) {
    index_t least = 0;
    int at = -1, same = 0;
    for (int d = 0; d < rank; ++d) {
      const index_t t = stride[d] < 0 ? -stride[d] : stride[d];
      if (extent[d] < 2 || t <= last) continue;
      if (at < 0 || t < least) least = t, at = d, same = 1;
      else if (t == least) ++same;
    }
    if (at < 0) return true;
    if (least <= reach || same > 1) return false;
    reach += least * (extent[at] - 1), last = least;
  }
  return true;
}
// The target of a slot under each walk. An array of rank 0 is summed by the sweep itself.
template <class K> inline constexpr bool has_target = K::rank >= 0 && is_differentiable_v<typename K::elem>;
template <class K, class P> using target_t =
    std::conditional_t<!has_target<K>, no_target,
                       std::conditional_t<K::rank == 0, sum_target<device_sum_t<typename K::elem>>, plane_target<P>>>;
template <class T> T make_target(const nest_plane& p, int rank, bool add, int into) {
  if constexpr (std::is_same_v<T, no_target>) return {};
  else return [&]<class U>(std::type_identity<U>) {
    if constexpr (requires(U t) { t.partial; }) return U{reinterpret_cast<decltype(U::partial)>(p.ptr)};
    else return [&]<class P>(std::type_identity<plane_target<P>>) {
      using S = typename P::elem;
      if constexpr (std::is_same_v<P, flat_plane<S>>) return U{{reinterpret_cast<S*>(p.ptr)}, add ? 1 : 0, into};
      else return [&]<int R, class I>(std::type_identity<strided_plane<S, R, I>>) {
        return U{strided<S, R, I>(p, rank), add ? 1 : 0, into};
      }(std::type_identity<P>{});
    }(std::type_identity<U>{});
  }(std::type_identity<T>{});
}
template <class E, int Outs, class... T>
bundle<T...> make_targets(const device_statement<E, Outs>& st, const slot_plan* plan, type_list<T...>) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return bundle<T...>{{{make_target<T>(st.plane[I], st.loops.rank, plan[I].add, plan[I].into)}...}};
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(T))>{});
}
// The number of threads that left sums.
template <class X, class Body> index_t launch_sweep(const X& x, const Body& body, index_t items) {
  if constexpr (Body::sums) {
    const index_t n = x.threads(items);
    x.spread(body, n);
    return n;
  } else {
    x.launch(body, items);
    return 0;
  }
}
}  // namespace device_detail

/// The sweep alone, where everything is contiguous (st.flat): outputs of st are the adjoint planes of the slots and the
/// cotangent, prepared by device_backward. The number of threads that left sums.
template <class Ct, class X, class E, int Outs>
index_t device_back_flat(const X& x, const device_statement<E, Outs>& st, const device_detail::slot_plan* plan) {
  using C = typename cotangent<Ct>::elem;
  index_t used = 0;
  st.each_leaf_type([&]<class... K>(type_list<K...> k) {
    constexpr int N = device_lanes<C, typename K::elem...>();
    using targets = type_list<device_detail::target_t<K, flat_plane<typename K::elem>>...>;
    using ct = typename cotangent<Ct>::template leaf<flat_plane<const C>>;
    using body = back_body<program_of<E>, device_detail::active_slots(leaves_of_t<E>{}), linear_walk<N>, ct, targets,
                           typename K::linear...>;
    const auto walk = st.template linear<N>();
    ct seed{};
    if constexpr (cotangent<Ct>::read) seed.plane.ptr = reinterpret_cast<const C*>(st.plane[Outs - 1].ptr);
    used = device_detail::launch_sweep(x, body{walk, seed, device_detail::make_targets(st, plan, targets{}),
                                               st.leaves(k, type_list<typename K::linear...>{})}, walk.items());
  });
  return used;
}

/// Adjoints of e's arrays from the cotangent of e (a pointer, or ones), row-major in e.shape(). One pass; leaves of fewer axes get theirs from a pass of their own, which
/// adds up as it computes, and those with axes of extent 1 or of a second layout from a sum over a temporary. Arrays that no `into` names are constants.
template <class X, class Ct, class E, class... T>
void device_backward(const X& x, const E& e, Ct ct, const into_gradient<T>&... into) {
  using list = leaves_of_t<E>;
  using C = typename cotangent<Ct>::elem;
  constexpr bool read = cotangent<Ct>::read;
  constexpr int slot_count = list::size, outs = slot_count + 1, R = device_statement<E, 1>::R;
  constexpr std::uint64_t active = device_detail::active_slots(list{});
  static_assert(slot_count <= 63 && active != 0, "ttensor: no differentiable device array in this expression");
  static_assert(std::is_same_v<C, elem_t<scalar_t<E>>>, "ttensor: the cotangent has the element type of the expression");
  device_statement<E, outs> st(e);
  device_detail::slot_plan plan[slot_count];
  index_t stride[slot_count][R];
  for (int k = 0; k < slot_count; ++k)
    for (int d = 0; d < E::rank; ++d) stride[k][d] = st.plane[outs + k].stride[d];

  auto ask = [&]<class U>(const into_gradient<U>& g) {
    int k = 0, walked = -1;
    bool fresh = true;  // nothing has been written to g yet
    e.leaves([&]<class L>(const L& l) {
      if constexpr (is_device_leaf_v<L>)
        if constexpr (std::is_same_v<typename L::scalar, U>)
          if (l.data() == g.x || (l.data() > g.x && l.data() < g.x + g.size)) {
            if (plan[k].grad) raise<device_error>("[backward] an array is named twice, or its gradient would go to two places; name it once [TT-G03]");
            if (!device_detail::distinct(stride[k], st.loops.extent, E::rank))
              raise<device_error>("[backward] the places of an array share elements (a sliding window); copy it to an array of its own first [TT-G04]");
            bool direct = L::rank > 0;  // every place of the statement is an element of its own, walked as by the first slot
            for (int d = 0; d < E::rank; ++d)
              direct = direct && (st.loops.extent[d] == 1 || stride[k][d] != 0) && (walked < 0 || stride[walked][d] == stride[k][d]);
            direct = direct && (walked < 0 || plan[walked].grad == reinterpret_cast<char*>(g.grad + (l.data() - g.x)));
            if (fresh && !(direct && st.size == g.size)) x.zero(g.grad, static_cast<std::size_t>(g.size) * sizeof(U)), fresh = false;
            plan[k] = {reinterpret_cast<char*>(g.grad + (l.data() - g.x)), direct, !fresh, direct ? walked : -1};
            fresh = false;
            if (direct && walked < 0) walked = k;
          }
      ++k;
    });
    if (fresh) x.zero(g.grad, static_cast<std::size_t>(g.size) * sizeof(U));
  };
  auto apart = [&]<class U>(const into_gradient<U>& g) {  // a gradient is written while the sweep, or a sum after it, still reads
    const auto first = reinterpret_cast<std::uintptr_t>(g.grad), last = first + static_cast<std::uintptr_t>(g.size) * sizeof(U);
    auto meets = [&](const void* p, index_t n, std::size_t bytes) {
      const auto low = reinterpret_cast<std::uintptr_t>(p);
      return p && low < last && first < low + static_cast<std::uintptr_t>(n) * bytes;
    };
    bool one = meets(g.x, g.size, sizeof(U)) || device_overlaps(g.grad, static_cast<std::size_t>(g.size) * sizeof(U), e, false);
    if constexpr (read) one = one || meets(ct, st.size, sizeof(C));
    (..., (one = one || (static_cast<const void*>(&into) != &g && (meets(into.grad, into.size, sizeof(T)) || meets(into.x, into.size, sizeof(T))))));
    if (one) raise<device_error>("[backward] a gradient shares memory with the cotangent, an array or another gradient; give it memory of its own [TT-G05]");
  };
  (apart(into), ...);
  (ask(into), ...);
  if (st.size == 0) return;

  auto seed = [&](auto& statement, int plane) {
    if constexpr (read) statement.set_output(plane, const_cast<C*>(ct)), statement.plane[plane].how = access::input;
    else statement.plane[plane] = nest_plane{nullptr, 1, access::uniform, {}};
  };
  st.each_leaf_type([&]<class... K>(type_list<K...> k) {
    constexpr int N = device_lanes<C, typename K::elem...>();
    // Leaves of fewer axes: a sum of the adjoint, computed where it is added up; after the sweep, which may store what the sum is added to.
    bool swept = false, alone[slot_count]{};
    auto sum_alone = [&]<int I, class Ki>(const X* run_on, width<I>, std::type_identity<Ki>) {
      if constexpr (device_detail::has_target<Ki> && Ki::rank > 0 && Ki::rank < E::rank) {
        using S = typename Ki::elem;
        device_statement<E, 2> sum(e);
        sum.set_output(0, reinterpret_cast<S*>(plan[I].grad), stride[I]);
        seed(sum, 1);
        return device_fold<adjoint_of<I>, true, S, Ct, device_sum_t<S>>(run_on, true, sum);
      } else {
        return false;
      }
    };
    auto each_slot = [&](auto&& f) {
      [&]<int... I>(std::integer_sequence<int, I...>) { (f(width<I>{}, std::type_identity<K>{}), ...); }(std::make_integer_sequence<int, slot_count>{});
    };
    each_slot([&]<int I>(width<I> k, auto type) {
      alone[I] = plan[I].grad && !plan[I].direct && sum_alone(nullptr, k, type);
      swept = swept || (plan[I].grad && !alone[I]);
    });
    auto sums_alone = [&] {
      each_slot([&]<int I>(width<I> k, auto type) {
        if (alone[I]) static_cast<void>(sum_alone(&x, k, type));
      });
    };
    if (!swept) return sums_alone();
    auto temporary = make_bundle(x.template scratch<device_sum_t<typename K::elem>>(0)...);
    auto prepare = [&]<int I, class Ki>(width<I>, std::type_identity<Ki>) {
      using S = typename Ki::elem;
      st.plane[I] = nest_plane{nullptr, 1, access::uniform, {}};
      if constexpr (device_detail::has_target<Ki>) {
        if (!plan[I].grad || alone[I] || plan[I].into >= 0) return;
        if (plan[I].direct) return st.set_output(I, reinterpret_cast<S*>(plan[I].grad), stride[I]);
        constexpr index_t bytes = sizeof(device_sum_t<S>);
        at<I>(temporary) = x.template scratch<device_sum_t<S>>(Ki::rank == 0 ? x.threads(st.size) : (st.size * index_t(sizeof(S)) + bytes - 1) / bytes);  // of S where it is no sum
        plan[I].add = false;
        if constexpr (Ki::rank == 0) st.plane[I].ptr = reinterpret_cast<char*>(at<I>(temporary).get());
        else st.set_output(I, reinterpret_cast<S*>(at<I>(temporary).get()));
      }
    };
    each_slot(prepare);
    seed(st, slot_count);
    index_t used = 0;
    if (st.flat) {
      used = device_back_flat<Ct>(x, st, plan);
    } else {
      auto sweep_on = [&]<class Walk, class I>(const Walk& walk, index_t items, std::type_identity<I>) {
        using targets = type_list<device_detail::target_t<K, strided_plane<typename K::elem, R, I>>...>;
        using ct_leaf = typename cotangent<Ct>::template leaf<strided_plane<const C, R, I>>;
        ct_leaf of_ct{};
        if constexpr (read) of_ct.plane = device_detail::strided<const C, R, I>(st.plane[slot_count], st.loops.rank);
        using body = back_body<program_of<E>, active, Walk, ct_leaf, targets, typename K::template grid<R, I>...>;
        used = device_detail::launch_sweep(x, body{walk, of_ct, device_detail::make_targets(st, plan, targets{}), st.leaves(k, type_list<typename K::template grid<R, I>...>{})}, items);
      };
      const bool tiled = st.template on_tiles<N>([&](const auto& walk) { sweep_on(walk, walk.items(), std::type_identity<std::uint32_t>{}); });
      if (!tiled) st.template on_grid<N>([&](const auto& walk, auto index) { sweep_on(walk, static_cast<index_t>(walk.items), index); });
    }
    auto finish = [&]<int I, class Ki>(width<I>, std::type_identity<Ki>) {
      using S = typename Ki::elem;
      if constexpr (device_detail::has_target<Ki>) {
        if (!plan[I].grad || plan[I].direct || alone[I]) return;
        S* to = reinterpret_cast<S*>(plan[I].grad);
        if constexpr (Ki::rank == 0) {
          const index_t zero[1]{};
          device_sum_into(x, to, zero, true, device_leaf<device_sum_t<S>, 1>{at<I>(temporary).get(), layout_map<1>::row_major({{used}})});
        } else {
          device_sum_into(x, to, stride[I], true,
                          device_leaf<S, E::rank>{reinterpret_cast<const S*>(at<I>(temporary).get()),
                                                  layout_map<E::rank>::row_major(e.shape())});
        }
      }
    };
    each_slot(finish);
    sums_alone();
  });
}

}  // namespace run
TTENSOR_END
