// Rows F1 to F5: one statement of small fixed matrices each, beside loops of known length over plain arrays (hand: the floor) and Eigen's fixed
// matrices. Run with table.py, which interleaves the contenders, takes medians and prints ratios.
#include <string>
#include <ttensor/tensor.hpp>
#include "rows.hpp"

namespace tt = ttensor;
using rows::add, rows::fresh;

namespace {
template <class T, int N> struct plain { T v[N * N]; };

template <class T, int N> void each_row(const char* kind) {
  const std::string tail = std::string("/") + kind + "/" + std::to_string(N);
  tt::fixed<T, N, N> a, b, y;
  tt::fixed<T, N> x, z;
  plain<T, N> pa, pb, py;
  T px[N], pz[N];
  for (int i = 0; i < N * N; ++i) a.data()[i] = pa.v[i] = T(i % 5) + T(0.5), b.data()[i] = pb.v[i] = T(3 - i % 4);
  for (int i = 0; i < N; ++i) x(i) = px[i] = T(i);

  add("F1 0.5 * a + b" + tail, "ttensor", [=]() mutable { fresh(a, b); y = T(0.5) * a + b; fresh(y); });
  add("F1 0.5 * a + b" + tail, "hand", [=]() mutable { fresh(pa, pb); for (int i = 0; i < N * N; ++i) py.v[i] = T(0.5) * pa.v[i] + pb.v[i]; fresh(py); });
  add("F2 a * b + a" + tail, "ttensor", [=]() mutable { fresh(a, b); y = a * b + a; fresh(y); });
  add("F2 a * b + a" + tail, "hand", [=]() mutable { fresh(pa, pb); for (int i = 0; i < N * N; ++i) py.v[i] = pa.v[i] * pb.v[i] + pa.v[i]; fresh(py); });
  add("F3 transpose" + tail, "ttensor", [=]() mutable { fresh(a); y = transpose(a); fresh(y); });
  add("F3 transpose" + tail, "hand", [=]() mutable { fresh(pa); for (int i = 0; i < N; ++i) for (int j = 0; j < N; ++j) py.v[i * N + j] = pa.v[j * N + i]; fresh(py); });
  add("F4 matmul(a, b)" + tail, "ttensor", [=]() mutable { fresh(a, b); y = matmul(a, b); fresh(y); });
  add("F4 matmul(a, b)" + tail, "hand", [=]() mutable {
    fresh(pa, pb);
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j < N; ++j) py.v[i * N + j] = 0;
      for (int p = 0; p < N; ++p) for (int j = 0; j < N; ++j) py.v[i * N + j] += pa.v[i * N + p] * pb.v[p * N + j];
    }
    fresh(py);
  });
  add("F5 matmul(a, x)" + tail, "ttensor", [=]() mutable { fresh(a, x); z = matmul(a, x); fresh(z); });
  add("F5 matmul(a, x)" + tail, "hand", [=]() mutable {
    fresh(pa, px);
    for (int i = 0; i < N; ++i) {
      pz[i] = 0;
      for (int p = 0; p < N; ++p) pz[i] += pa.v[i * N + p] * px[p];
    }
    fresh(pz);
  });
#if defined(TTENSOR_BENCH_EIGEN)
  Eigen::Matrix<T, N, N, Eigen::RowMajor> ea, eb, ey;
  Eigen::Matrix<T, N, 1> ex, ez;
  for (int i = 0; i < N * N; ++i) ea.data()[i] = pa.v[i], eb.data()[i] = pb.v[i];
  for (int i = 0; i < N; ++i) ex(i) = px[i];
  ey.setZero();
  ez.setZero();
  add("F1 0.5 * a + b" + tail, "eigen", [=]() mutable { fresh(ea, eb); ey = T(0.5) * ea + eb; fresh(ey); });
  add("F2 a * b + a" + tail, "eigen", [=]() mutable { fresh(ea, eb); ey = ea.cwiseProduct(eb) + ea; fresh(ey); });
  add("F3 transpose" + tail, "eigen", [=]() mutable { fresh(ea); ey = ea.transpose(); fresh(ey); });
  add("F4 matmul(a, b)" + tail, "eigen", [=]() mutable { fresh(ea, eb); ey.noalias() = ea * eb; fresh(ey); });
  add("F5 matmul(a, x)" + tail, "eigen", [=]() mutable { fresh(ea, ex); ez.noalias() = ea * ex; fresh(ez); });
#endif
}
}  // namespace

int main(int argc, char** argv) {
  each_row<double, 3>("double");
  each_row<double, 4>("double");
  each_row<double, 6>("double");
  each_row<double, 8>("double");
  each_row<float, 4>("float");
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
