// What ptx_kernels looks at: one kernel a statement. Nothing here runs.
#include <ttensor/ops/trigonometric.hpp>
#include <ttensor/run/cuda/launch.hpp>
#include "../run/device_programs.hpp"

namespace {
using namespace ttensor;
template <class T> void forward(T* y, const T* x, const T* z, index_t n) {
  const auto m = layout_map<1>::row_major({{n}});
  const auto e = test_programs::chain(device_leaf<T, 1>{x, m}, device_leaf<T, 1>{z, m});
  run::device_statement<std::remove_const_t<decltype(e)>, 1> st(e);
  st.set_output(0, y);
  run::device_map_flat(gpu::on_stream{}, y, st);
}
template <class T> void backward(const T* ct, T* gx, T* gz, const T* x, const T* z, index_t n) {
  const auto m = layout_map<1>::row_major({{n}});
  const auto e = test_programs::chain(device_leaf<T, 1>{x, m}, device_leaf<T, 1>{z, m});
  run::device_statement<std::remove_const_t<decltype(e)>, 3> st(e);
  st.set_output(0, gx);
  st.set_output(1, gz);
  st.set_output(2, const_cast<T*>(ct));
  const run::device_detail::slot_plan plan[2] = {{reinterpret_cast<char*>(gx), true, false}, {reinterpret_cast<char*>(gz), true, false}};
  run::device_back_flat<const T*>(gpu::on_stream{}, st, plan);
}
// An operator from outside the library, forward and backward.
void outside(double* y, const double* x, double* gx, double* ct, index_t n) {
  const auto e = test_programs::leaky(device_leaf<double, 1>{x, layout_map<1>::row_major({{n}})});
  run::device_statement<std::remove_const_t<decltype(e)>, 1> value(e);
  value.set_output(0, y);
  run::device_map_flat(gpu::on_stream{}, y, value);
  run::device_statement<std::remove_const_t<decltype(e)>, 2> st(e);
  st.set_output(0, gx);
  st.set_output(1, ct);
  const run::device_detail::slot_plan plan[1] = {{reinterpret_cast<char*>(gx), true, false}};
  run::device_back_flat<const double*>(gpu::on_stream{}, st, plan);
}
// sin(x) * cos(x) backwards: each needs the other's value.
template <class T> void wave(T* ct, T* gx, const T* x, index_t n) {
  const let_arg<0, 0, T, 1> a{{{n}}};
  const auto body = apply<mul_op>(apply<sin_op>(a), apply<cos_op>(a));
  const let_node<0, std::remove_const_t<decltype(body)>, device_leaf<T, 1>> e{make_bundle(device_leaf<T, 1>{x, layout_map<1>::row_major({{n}})}), body};
  run::device_statement<std::remove_const_t<decltype(e)>, 2> st(e);
  st.set_output(0, gx);
  st.set_output(1, ct);
  const run::device_detail::slot_plan plan[1] = {{reinterpret_cast<char*>(gx), true, false}};
  run::device_back_flat<const T*>(gpu::on_stream{}, st, plan);
}
// a + transpose(b), by tiles.
void turned(float* y, const float* a, const float* b, index_t n) {
  const auto e = apply<add_op>(device_leaf<float, 2>{a, layout_map<2>::row_major({{n, n}})}, device_leaf<float, 2>{b, {0, {{n, n}}, {{1, n}}}});
  using E = std::remove_const_t<decltype(e)>;
  run::device_statement<E, 1> st(e);
  st.set_output(0, y);
  st.each_leaf_type([&]<class... K>(type_list<K...> k) {
    st.on_tiles<4>([&]<class Walk>(const Walk& walk) {
      using I = std::uint32_t;
      using leaves = type_list<typename K::template grid<2, I>...>;
      using body = run::map_body<program_of<E>, Walk, run::strided_plane<float, 2, I>, typename K::template grid<2, I>...>;
      gpu::on_stream{}.launch(body{walk, run::device_detail::strided<float, 2, I>(st.plane[0], st.loops.rank), st.leaves(k, leaves{})}, walk.items());
    });
  });
}
// The negative control: the same mathematics one element at a time. It must fail the checks.
template <int = 0> __global__ void scalar_control(float* y, const float* x, const float* z, index_t n) {
  const index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = expf(-x[i] * x[i]) * sqrtf(x[i]) + logf(z[i]);
}
}  // namespace

void all(float* y, double* w, index_t n) {
  forward(y, y, y, n);
  forward(w, w, w, n);
  backward(y, y, y, y, y, n);
  backward(w, w, w, w, w, n);
  outside(w, w, w, w, n);
  wave(y, y, y, n);
  wave(w, w, w, n);
  turned(y, y, y, n);
  scalar_control<><<<1, 1>>>(y, y, y, n);
}
