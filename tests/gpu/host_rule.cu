// Two operators of a user, one without TTENSOR_HD. nvcc makes an empty kernel of that one, and must say so: cuda_host_rule looks for it.
#include <ttensor/ops/terms.hpp>
#include <ttensor/run/cuda/launch.hpp>

namespace mine {
namespace tt = ttensor;
struct half_op : tt::real_elementwise<1> {
  static constexpr const char* name = "half";
  static constexpr unsigned reads(int) { return 0u; }
  template <class X> TTENSOR_HD static constexpr auto primal(const X& x) { return tt::ops::times(0.5, x); }
  template <class X, class Y> TTENSOR_HD static constexpr auto partials(const X&, const Y&) { return tt::grads{0.5}; }
};
struct host_only_op : tt::real_elementwise<1> {
  static constexpr const char* name = "host_only";
  static constexpr unsigned reads(int) { return 0u; }
  template <class X> static constexpr auto primal(const X& x) { return tt::ops::times(0.5, x); }
  template <class X, class Y> static constexpr auto partials(const X&, const Y&) { return tt::grads{0.5}; }
};
}  // namespace mine

void statement(float* y, const float* x, std::ptrdiff_t n) {
  const ttensor::device_leaf<float, 1> leaf{x, ttensor::layout_map<1>::row_major({{n}})};
  ttensor::run::device_map(ttensor::gpu::on_stream{}, y, ttensor::apply<mine::half_op>(leaf));
  ttensor::run::device_map(ttensor::gpu::on_stream{}, y, ttensor::apply<mine::host_only_op>(leaf));
}
