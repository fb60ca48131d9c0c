// Kernel bodies: what a GPU thread does, as host/device function objects of (tid, threads) over a flat program. One generic
// __global__ (cuda/launch.hpp) runs them on a device; tests run the very same objects on the CPU. device_walks.hpp has the rules for their types.
//
// A body = a walk (which positions a thread visits, and how many elements at once) x a program x leaves x targets.
#pragma once
#include "device_tiles.hpp"

TTENSOR_BEGIN
namespace run {

// ---- map: out = Prog(leaves) ----------------------------------------------------------------------------------------------
template <class Prog, class Walk, class Out, class... L> struct map_body {
  Walk walk;
  Out out;
  bundle<L...> leaves;
  template <class Threads> TTENSOR_HD void operator()(index_t tid, Threads threads) const {
    walk.each(tid, threads, [&]<int M>(width<M>, const typename Walk::position& p) {
      using V = lanes_t<typename Out::elem, M>;
      using S = device_sweep<Prog, M, L...>;
      if constexpr (Walk::tiles && M > 1) {
        const auto tiles = load_tiles<M, 1>(walk, leaves, p);
        tile<V> y;
        TTENSOR_DEVICE_UNROLL for (int i = 0; i < M; ++i) y.row[i] = convert_value<V>(S::run(row_of_tiles<1>(walk, tiles, i)));
        store_tile(y, out, p, tile_access(walk, 0), false);
      } else {
        store_word(convert_value<V>(S::run(load_leaves<M>(leaves, p))), out.where(p));
      }
    });
  }
};

// ---- backward: adjoints of leaves from the cotangent of the output, in one pass ----------------------------------------------
struct no_target {};  // of a leaf that is not active
/// Where the adjoint of a leaf goes; one thread writes each place, in the order of the slots. Null: not wanted.
template <class P> struct plane_target {
  P plane;
  int add;   // 0: the first to write here
  int into;  // the earlier slot of the same place whose adjoint this one is added to in registers; -1: none
};
/// A leaf that is one element for the whole statement: every thread leaves the sum of what it saw in partial[tid].
template <class A> struct sum_target {
  A* partial;
};
namespace device_detail {
template <class S, int Slot> inline constexpr int load_number = S::load_of(Slot);  // device code may not call a constexpr host function, even here
template <class T> inline constexpr bool is_sum = false;
template <class A> inline constexpr bool is_sum<sum_target<A>> = true;
template <class T> struct running {};  // what a target keeps from position to position
template <class A> struct running<sum_target<A>> { A sum; };

template <class P, class V, class At>
TTENSOR_HD TTENSOR_INLINE void deliver(const plane_target<P>& t, running<plane_target<P>>&, const V& d, const At& at) {
  if (!t.plane.ptr) return;
  using E = typename P::elem;
  using A = device_pack<compute_t<E>, V::size>;
  const A g = convert_value<A>(d);
  E* to = t.plane.where(at);
  store_word(t.add ? load_word<A>(static_cast<const E*>(to)) + g : g, to);
}
template <class A, class V, class At>
TTENSOR_HD TTENSOR_INLINE void deliver(const sum_target<A>&, running<sum_target<A>>& r, const V& d, const At&) {
  constexpr int N = V::size;
  TTENSOR_LANES(j) r.sum += static_cast<A>(d.v[j]);
}
template <class T> TTENSOR_HD TTENSOR_INLINE void open(running<T>&) {}
template <class A> TTENSOR_HD TTENSOR_INLINE void open(running<sum_target<A>>& r) { r.sum = A(0); }
template <class T> TTENSOR_HD TTENSOR_INLINE void close(const T&, const running<T>&, index_t) {}
template <class A> TTENSOR_HD TTENSOR_INLINE void close(const sum_target<A>& t, const running<sum_target<A>>& r, index_t tid) {
  if (t.partial) t.partial[tid] = r.sum;
}
}  // namespace device_detail

/// Active: bit per slot, as in sweep::reverse. Targets: one a leaf.
template <class Prog, std::uint64_t Active, class Walk, class Ct, class Targets, class... L> struct back_body;
template <class Prog, std::uint64_t Active, class Walk, class Ct, class... T, class... L>
struct back_body<Prog, Active, Walk, Ct, type_list<T...>, L...> {
  static constexpr bool sums = (device_detail::is_sum<T> || ...);
  Walk walk;
  Ct ct;
  bundle<T...> targets;
  bundle<L...> leaves;

  template <class Threads> TTENSOR_HD void operator()(index_t tid, Threads threads) const {
    bundle<device_detail::running<T>...> kept;
    each_target([&]<int I>(width<I>) { device_detail::open(at<I>(kept)); });
    walk.each(tid, threads, [&]<int M>(width<M>, const typename Walk::position& p) {
      using S = device_sweep<Prog, M, L...>;
      using C = lanes_t<typename Ct::elem, M>;
      if constexpr (Walk::tiles && M > 1) {
        constexpr int slots = static_cast<int>(sizeof...(L));
        const auto tiles = load_tiles<M, slots + 1>(walk, leaves, p);
        const tile_access of_seed(walk, slots);
        const auto seed = leaf_tile<M>(ct, p, of_seed);
        bundle<tile<lanes_t<typename L::elem, M>>...> adjoints;
        TTENSOR_DEVICE_UNROLL for (int i = 0; i < M; ++i) {
          const auto a = S::template reverse<Active, C>(row_of_tiles<slots + 1>(walk, tiles, i), row_of_words(seed, i, of_seed));
          each_active([&]<int I>(width<I>) {
            if constexpr (device_detail::is_sum<at_t<I, type_list<T...>>>) device_detail::deliver(at<I>(targets), at<I>(kept), at<device_detail::load_number<S, I>>(a), p);
            else at<I>(adjoints).row[i] = joined<I, M, S>(a);
          });
        }
        each_active([&]<int I>(width<I>) {
          if constexpr (!device_detail::is_sum<at_t<I, type_list<T...>>>)
            if (at<I>(targets).plane.ptr) store_tile(at<I>(adjoints), at<I>(targets).plane, p, tile_access(walk, I), at<I>(targets).add != 0);
        });
      } else {
        const auto a = S::template reverse<Active, C>(load_leaves<M>(leaves, p), ct.template load<M>(p));
        each_active([&]<int I>(width<I>) {
          if constexpr (device_detail::is_sum<at_t<I, type_list<T...>>>) device_detail::deliver(at<I>(targets), at<I>(kept), at<device_detail::load_number<S, I>>(a), p);
          else device_detail::deliver(at<I>(targets), at<I>(kept), joined<I, M, S>(a), p);
        });
      }
    });
    each_target([&]<int I>(width<I>) { device_detail::close(at<I>(targets), at<I>(kept), tid); });
  }

 private:
  /// The adjoint of a slot, with those of the later slots of its place.
  template <int I, int M, class S, class A> TTENSOR_HD TTENSOR_INLINE auto joined(const A& a) const {
    using E = typename at_t<I, type_list<L...>>::elem;
    using V = lanes_t<E, M>;
    V d = convert_value<V>(at<device_detail::load_number<S, I>>(a));
    each_active([&]<int J>(width<J>) {
      if constexpr (J > I && std::is_same_v<at_t<I, type_list<T...>>, at_t<J, type_list<T...>>>)
        if (at<J>(targets).into == I) d = d + convert_value<V>(at<device_detail::load_number<S, J>>(a));
    });
    return d;
  }
  template <class F> TTENSOR_HD TTENSOR_INLINE static void each_active(F&& f) {
    each_target([&]<int I>(width<I> k) {
      if constexpr ((Active >> I & 1u) && !std::is_same_v<at_t<I, type_list<T...>>, no_target>) f(k);
    });
  }
  template <class F> TTENSOR_HD TTENSOR_INLINE static void each_target(F&& f) {
    [&]<int... I>(std::integer_sequence<int, I...>) {
      (f(width<I>{}), ...);
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(T))>{});
  }
};

}  // namespace run
TTENSOR_END
