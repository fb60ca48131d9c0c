// Algorithms over expressions, through Thrust: map, reduce, row reductions, scan, argmax, sort, argsort. Written once against
// an execution policy; the system is a choice of the build:
//   nvcc                                                     CUDA
//   g++ -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP      plain C++; _OMP with -fopenmp, _TBB with -ltbb: no CUDA toolkit needed
// `policy` is thrust::device, thrust::host, or thrust::cuda::par_nosync(allocator).on(stream).
//
// The element functions are the map bodies' programs one element at a time: Thrust moves single elements whatever the
// functor does, so packs are of no use here. For plain elementwise statements run/cuda/launch.hpp is the faster road.
#pragma once
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/tabulate.h>
#include <thrust/transform_reduce.h>
#include "../device_plan.hpp"

TTENSOR_BEGIN
namespace thrust_backend {

/// The value of an expression at row-major position k. Types as short and as plain as those of kernel arguments.
template <class Prog, class T, class Walk, class... L> struct element {
  Walk walk;  // linear_walk or grid_walk of single elements
  bundle<L...> leaves;
  TTENSOR_HD T operator()(index_t k) const {
    const auto v = run::device_sweep<Prog, 1, L...>::run(run::load_leaves<1>(leaves, place(walk, k)));
    return simd::lane_cast<T>(convert_value<device_pack<compute_t<T>, 1>>(v).v[0]);
  }

 private:
  template <int N> TTENSOR_HD static index_t place(const run::linear_walk<N>&, index_t k) { return k; }
  template <int R, class I> TTENSOR_HD static auto place(const run::grid_walk<1, R, I>& w, index_t k) {
    return w.locate(static_cast<I>(k));
  }
};
/// f(element function, number of elements), without spelling the function's type.
template <class T, class E, class F> auto with_elements(const E& e, F&& f) {
  run::device_statement<E, 0> st(e);
  using I = index_t;
  constexpr int R = run::device_statement<E, 0>::R;
  return [&]<class... K>(type_list<K...> k) {
    if (st.flat)
      return f(
          element<program_of<E>, T, run::linear_walk<1>, typename K::linear...>{
              {0, st.size}, st.leaves(k, type_list<typename K::linear...>{})},
          st.size);
    // not collapsed: positions are row-major in the statement's own axes
    return f(
        element<program_of<E>, T, run::grid_walk<1, R, I>, typename K::template grid<R, I>...>{
            run::device_detail::make_walk<1, R, I>(st.loops.extent, E::rank),
            st.leaves(k, type_list<typename K::template grid<R, I>...>{})},
        st.size);
  }(st.kernel_leaves());
}
template <class Red, class A> struct combine {
  TTENSOR_HD A operator()(const A& a, const A& b) const { return Red::combine(device_pack<A, 1>(a), device_pack<A, 1>(b)).v[0]; }
};
struct row_of {
  index_t cols;
  TTENSOR_HD index_t operator()(index_t i) const { return i / cols; }
};
struct same_index {
  TTENSOR_HD bool operator()(index_t a, index_t b) const { return a == b; }
};
template <class F> auto values(const F& f) { return thrust::make_transform_iterator(thrust::counting_iterator<index_t>(0), f); }
template <class E> using value_t = scalar_t<E>;

/// out = e, row-major.
template <class P, class T, class E> void map(const P& policy, T* out, const E& e) {
  with_elements<T>(e, [&](const auto& f, index_t n) { thrust::tabulate(policy, out, out + n, f); });
}
/// The reduction of all elements, in the accumulation type. The order of additions is Thrust's.
template <class Red, class P, class E> auto reduce(const P& policy, const E& e) {
  using A = accumulate_t<value_t<E>>;
  return with_elements<A>(e, [&](const auto& f, index_t n) {
    const A identity = Red::template identity<device_pack<A, 1>>().v[0];
    return thrust::transform_reduce(policy, thrust::counting_iterator<index_t>(0),
                                    thrust::counting_iterator<index_t>(n), f, identity, combine<Red, A>{});
  });
}
/// out[r] = reduction of row r of a matrix expression.
template <class Red, class P, class T, class E> void reduce_rows(const P& policy, T* out, const E& e) {
  static_assert(E::rank == 2, "ttensor: reduce_rows takes a matrix");
  using A = accumulate_t<value_t<E>>;
  const auto shape = e.shape();
  if (shape[1] == 0) {  // no key at all would be written
    thrust::fill(policy, out, out + shape[0], simd::lane_cast<T>(Red::template identity<device_pack<A, 1>>().v[0]));
    return;
  }
  with_elements<A>(e, [&](const auto& f, index_t n) {
    auto row = thrust::make_transform_iterator(thrust::counting_iterator<index_t>(0), row_of{shape[1]});
    thrust::reduce_by_key(policy, row, row + n, values(f), thrust::make_discard_iterator(), out, same_index{}, combine<Red, A>{});
  });
}
/// out[i] = reduction of the elements up to and including i.
template <class Red, class P, class T, class E> void inclusive_scan(const P& policy, T* out, const E& e) {
  using A = accumulate_t<value_t<E>>;
  with_elements<A>(e, [&](const auto& f, index_t n) {
    auto in = values(f);
    thrust::inclusive_scan(policy, in, in + n, out, combine<Red, A>{});
  });
}
struct nan_is_largest {
  template <class T> TTENSOR_HD bool operator()(const T& a, const T& b) const { return a < b || (b != b && a == a); }
};
/// Row-major position of the first largest element, of the first NaN if there is one; -1 where there is no element.
template <class P, class E> index_t argmax(const P& policy, const E& e) {
  using T = compute_t<value_t<E>>;
  return with_elements<T>(e, [&](const auto& f, index_t n) -> index_t {
    if (n == 0) return -1;
    auto in = values(f);
    return static_cast<index_t>(thrust::max_element(policy, in, in + n, nan_is_largest{}) - in);
  });
}
/// Sorts in place, ascending; x has no NaN.
template <class P, class T> void sort(const P& policy, T* x, index_t n) { thrust::sort(policy, x, x + n); }
/// at[i] = position of the i-th smallest of keys, equal ones in order; keys, which have no NaN, are sorted too.
template <class P, class T> void argsort(const P& policy, T* keys, index_t* at, index_t n) {
  thrust::sequence(policy, at, at + n);
  thrust::stable_sort_by_key(policy, keys, keys + n, at);
}
/// Executor of device_plan.hpp on a Thrust policy, as far as device_map needs one: kernel bodies as a second elementwise road.
template <class P> struct on_policy {
  P policy;
  template <class F> struct call {
    F body;
    TTENSOR_HD void operator()(index_t tid) const { body(tid, run::one_each{}); }
  };
  template <class F> void launch(const F& body, index_t items) const {
    if (items > 0) thrust::for_each_n(policy, thrust::counting_iterator<index_t>(0), items, call<F>{body});
  }
};

}  // namespace thrust_backend
TTENSOR_END
