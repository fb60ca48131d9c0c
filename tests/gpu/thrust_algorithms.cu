// The Thrust backend for the CUDA system: everything instantiated, with device memory's policy. Compiled only.
#include <ttensor/run/cuda/launch.hpp>
#include <ttensor/run/thrust/algorithms.hpp>
#include "../run/device_programs.hpp"

using namespace ttensor;
namespace tb = ttensor::thrust_backend;

double all(device_array<double, 2>& a, device_array<double, 2>& y, device_array<double, 1>& rows, device_array<index_t, 1>& at) {
  const auto policy = thrust::cuda::par_nosync.on(cudaStream_t(nullptr));
  const auto e = apply<mul_op>(a.as_leaf(), 2.0);
  tb::map(policy, y.data(), e);
  tb::reduce_rows<sum_op>(policy, rows.data(), e);
  tb::inclusive_scan<sum_op>(policy, y.data(), e);
  tb::argsort(policy, y.data(), at.data(), y.size());
  tb::sort(policy, y.data(), y.size());
  return tb::reduce<sum_op>(policy, e) + double(tb::argmax(policy, e));
}
