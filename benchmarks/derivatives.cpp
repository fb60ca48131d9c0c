// Rows D1, D2, D3, D3s (derivatives_sums.cpp), D5, D6, D9: gradients of programs written the obvious way, beside gradients written by
// hand (hand*: the floor is the fastest of them) and gradients derived by hand and written as whole-array statements of Eigen. Every
// contender is compared with the first hand-written gradient before it is timed, and the largest error (relative to the largest
// component) is printed. Run with table.py.
// The hand-written D6 and D9 call BLAS where there is one; OPENBLAS_NUM_THREADS=1, and OPENBLAS_CORETYPE=SkylakeX where
// OpenBLAS does not know the processor, make it a fair one.
#include "derivatives_workloads.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#if defined(TTENSOR_BENCH_BLAS)
#include <cblas.h>
#endif

using namespace gradients;

namespace {

// ---- D6: MLP 64-128-10 with tanh, softmax cross-entropy; D9: one gradient an example ------------------------------------
constexpr int I = 64, H = 128, O = 10, NP = I * H + H + H * O + O;
struct mlp_data {
  int n;
  vec<double> X, par, onehot;
  std::vector<int> label;
  explicit mlp_data(int examples) : n(examples), X(random(examples * I, 81, -1, 1)), par(random(NP, 82, -0.1, 0.1)), onehot(static_cast<std::size_t>(examples * O), 0.0), label(static_cast<std::size_t>(examples)) {
    generator g(83);
    for (int i = 0; i < n; ++i) {
      label[std::size_t(i)] = static_cast<int>(g.next() * O);
      onehot[std::size_t(i * O + label[std::size_t(i)])] = 1;
    }
  }
};
#if defined(TTENSOR_BENCH_BLAS)
void gemm(int m, int n, int k, bool ta, bool tb, const double* a, int la, const double* b, int lb, double beta, double* c, int lc) {
  cblas_dgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n, k, 1, a, la, b, lb, beta, c, lc);
}
void gemm(int m, int n, int k, bool ta, bool tb, const float* a, int la, const float* b, int lb, float beta, float* c, int lc) {
  cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n, k, 1, a, la, b, lb, beta, c, lc);
}
constexpr const char* hand = "hand_blas";
#else
template <class T> void gemm(int m, int n, int k, bool ta, bool tb, const T* a, int la, const T* b, int lb, T beta, T* c, int lc) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) c[i * lc + j] *= beta;
    for (int p = 0; p < k; ++p)
      for (int j = 0; j < n; ++j) c[i * lc + j] += (ta ? a[p * la + i] : a[i * la + p]) * (tb ? b[j * lb + p] : b[p * lb + j]);
  }
}
constexpr const char* hand = "hand_loop";
#endif
/// Gradient of the mean (batch) or of every example (each).
template <class T> class mlp_hand {
  int n;
  vec<T> X, P, h, o, dh, G;
  std::vector<int> label;

 public:
  mlp_hand(const mlp_data& q, bool each)
      : n(q.n), X(q.X.begin(), q.X.end()), P(q.par.begin(), q.par.end()), h(std::size_t(n * H)), o(std::size_t(n * O)), dh(std::size_t(n * H)),
        G(std::size_t(each ? n * NP : NP)), label(q.label) {}
  seen read() const { return seen(G.begin(), G.end()); }
  void forward(T scale) {
    using V = xsimd::batch<T>;
    const T *W1 = P.data(), *b1 = W1 + I * H, *W2 = b1 + H, *b2 = W2 + H * O;
    for (int i = 0; i < n; ++i) std::copy(b1, b1 + H, &h[std::size_t(i * H)]);
    gemm(n, H, I, false, false, X.data(), I, W1, H, T(1), h.data(), H);
    for (int i = 0; i < n * H; i += static_cast<int>(V::size)) xsimd::tanh(V::load_unaligned(&h[std::size_t(i)])).store_unaligned(&h[std::size_t(i)]);
    for (int i = 0; i < n; ++i) std::copy(b2, b2 + O, &o[std::size_t(i * O)]);
    gemm(n, O, H, false, false, h.data(), H, W2, O, T(1), o.data(), O);
    for (int i = 0; i < n; ++i) {
      T* r = &o[std::size_t(i * O)];
      T m = r[0];
      for (int k = 1; k < O; ++k) m = std::max(m, r[k]);
      T s = 0;
      for (int k = 0; k < O; ++k) s += (r[k] = std::exp(r[k] - m));
      for (int k = 0; k < O; ++k) r[k] *= scale / s;
      r[label[std::size_t(i)]] -= scale;
    }
    gemm(n, H, O, false, true, o.data(), O, W2, O, T(0), dh.data(), H);
    for (int i = 0; i < n * H; ++i) dh[std::size_t(i)] *= 1 - h[std::size_t(i)] * h[std::size_t(i)];
  }
  void batch() {
    forward(T(1) / T(n));
    T *g1 = G.data(), *gb1 = g1 + I * H, *g2 = gb1 + H, *gb2 = g2 + H * O;
    gemm(H, O, n, true, false, h.data(), H, o.data(), O, T(0), g2, O);
    std::fill(gb2, gb2 + O, T(0));
    std::fill(gb1, gb1 + H, T(0));
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < O; ++k) gb2[k] += o[std::size_t(i * O + k)];
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < H; ++j) gb1[j] += dh[std::size_t(i * H + j)];
    gemm(I, H, n, true, false, X.data(), I, dh.data(), H, T(0), g1, H);
  }
  void each() {
    forward(T(1));
    for (int e = 0; e < n; ++e) {
      T *g1 = &G[std::size_t(e) * NP], *gb1 = g1 + I * H, *g2 = gb1 + H, *gb2 = g2 + H * O;
      const T *x = &X[std::size_t(e * I)], *u = &h[std::size_t(e * H)], *du = &dh[std::size_t(e * H)], *v = &o[std::size_t(e * O)];
      for (int i = 0; i < I; ++i)
        for (int j = 0; j < H; ++j) g1[i * H + j] = x[i] * du[j];
      std::copy(du, du + H, gb1);
      for (int j = 0; j < H; ++j)
        for (int k = 0; k < O; ++k) g2[j * O + k] = u[j] * v[k];
      std::copy(v, v + O, gb2);
    }
  }
};
#if defined(TTENSOR_BENCH_EIGEN)
/// The same in whole-array statements of Eigen, with Eigen's products.
template <class T> class mlp_eigen {
  using matrix = eigen_matrix<T>;
  using row = Eigen::Matrix<T, 1, Eigen::Dynamic>;
  matrix X, onehot, w1, w2, h, o, dh;
  row b1, b2;
  vec<T> G;

 public:
  mlp_eigen(const mlp_data& q, bool each)
      : X(eigen<T>(q.X.data(), q.n, I)), onehot(eigen<T>(q.onehot.data(), q.n, O)), w1(eigen<T>(q.par.data(), I, H)), w2(eigen<T>(q.par.data() + I * H + H, H, O)), h(q.n, H), o(q.n, O), dh(q.n, H),
        b1(eigen<T>(q.par.data() + I * H, 1, H)), b2(eigen<T>(q.par.data() + NP - O, 1, O)), G(std::size_t(each ? q.n * NP : NP)) {}
  seen read() const { return seen(G.begin(), G.end()); }
  void forward(T scale) {
    h.noalias() = X * w1;
    h.rowwise() += b1;
    h = h.array().tanh();
    o.noalias() = h * w2;
    o.rowwise() += b2;
    o.colwise() -= o.rowwise().maxCoeff().eval();
    o = o.array().exp();
    o.array().colwise() *= (scale / o.rowwise().sum().array()).eval();
    o -= scale * onehot;
    dh.noalias() = o * w2.transpose();
    dh.array() *= 1 - h.array().square();
  }
  void batch() {
    forward(T(1) / T(X.rows()));
    T* g = G.data();
    Eigen::Map<matrix>(g, I, H).noalias() = X.transpose() * dh;
    Eigen::Map<row>(g + I * H, H) = dh.colwise().sum();
    Eigen::Map<matrix>(g + I * H + H, H, O).noalias() = h.transpose() * o;
    Eigen::Map<row>(g + NP - O, O) = o.colwise().sum();
  }
  void each() {
    forward(T(1));
    for (Eigen::Index e = 0; e < X.rows(); ++e) {
      T* g = G.data() + e * NP;
      Eigen::Map<matrix>(g, I, H).noalias() = X.row(e).transpose() * dh.row(e);
      Eigen::Map<row>(g + I * H, H) = dh.row(e);
      Eigen::Map<matrix>(g + I * H + H, H, O).noalias() = h.row(e).transpose() * o.row(e);
      Eigen::Map<row>(g + NP - O, O) = o.row(e);
    }
  }
};
#endif
template <class T> struct mlp {
  tt::tensor<T, 2> w1;
  tt::tensor<T, 1> b1;
  tt::tensor<T, 2> w2;
  tt::tensor<T, 1> b2;
};
template <class T> mlp<T> parameters(const mlp_data& q) {
  const double* p = q.par.data();
  auto row = [](const double* from, int n) {
    tt::tensor<T, 1> t(n);
    std::copy(from, from + n, t.data());
    return t;
  };
  return {matrix<T>(p, I, H), row(p + I * H, H), matrix<T>(p + I * H + H, H, O), row(p + I * H + H + H * O, O)};
}
template <class T> void rows_mlp(const char* type, double tolerance) {
  const auto* q = new mlp_data(64);
  auto* by_hand = new mlp_hand<T>(*q, false);
  add("D6", type, 64, hand, tolerance, [=] { by_hand->batch(); }, [=] { return by_hand->read(); });
#if defined(TTENSOR_BENCH_EIGEN)
  auto* by_eigen = new mlp_eigen<T>(*q, false);
  add("D6", type, 64, "eigen", tolerance, [=] { by_eigen->batch(); }, [=] { return by_eigen->read(); });
#endif
  const auto X = matrix<T>(q->X.data(), 64, I), onehot = matrix<T>(q->onehot.data(), 64, O);
  const auto p = parameters<T>(*q);
  auto* g = new mlp<T>;
  add("D6", type, 64, "ttensor", tolerance, [=] {
    *g = tt::grad([&](const auto& m) {
      const auto h = tanh(matmul(X, m.w1) + m.b1);
      const auto o = matmul(h, m.w2) + m.b2;
      return tt::sum(log(tt::sum(exp(o), tt::axes{1})) - tt::sum(onehot * o, tt::axes{1})) * (1.0 / 64);
    })(p);
  }, [=] {
    seen s;
    auto append = [&](const auto& t) { s.insert(s.end(), t.data(), t.data() + t.size()); };
    append(g->w1), append(g->b1), append(g->w2), append(g->b2);
    return s;
  });
}
void rows_per_sample() {
  constexpr int n = 256;
  const auto* q = new mlp_data(n);
  auto* by_hand = new mlp_hand<double>(*q, true);
  add("D9", "f64", n, hand, 1e-12, [=] { by_hand->each(); }, [=] { return by_hand->read(); });
#if defined(TTENSOR_BENCH_EIGEN)
  auto* by_eigen = new mlp_eigen<double>(*q, true);
  add("D9", "f64", n, "eigen", 1e-12, [=] { by_eigen->each(); }, [=] { return by_eigen->read(); });
#endif
  const auto X = matrix(q->X.data(), n, I), onehot = matrix(q->onehot.data(), n, O);
  const auto p = parameters<double>(*q);
  auto* g = new mlp<double>;
  const std::tuple packed{p.w1, p.b1, p.w2, p.b2};
  const auto loss = [](const auto& m, const auto& x, const auto& t) {
    const auto& [w1, b1, w2, b2] = m;
    const auto h = tanh(matmul(x, w1) + b1);
    const auto o = matmul(h, w2) + b2;
    return log(sum(exp(o))) - sum(t * o);
  };
  using each = decltype(tt::per_sample_grad(loss)(packed, X, onehot));
  auto* gs = new each;
  add("D9", "f64", n, "ttensor", 1e-12, [=] { *gs = tt::per_sample_grad(loss)(packed, X, onehot); }, [=] {
    seen s;
    for (std::ptrdiff_t e = 0; e < n; ++e) {
      auto append = [&](const auto& t) { s.insert(s.end(), t.data() + e * (t.size() / n), t.data() + (e + 1) * (t.size() / n)); };
      std::apply([&](const auto&... t) { (append(t), ...); }, *gs);
    }
    return s;
  });
  auto* batch_hand = new mlp_hand<double>(*q, false);
  add("D9batch", "f64", n, hand, 1e-12, [=] { batch_hand->batch(); }, [=] { return batch_hand->read(); });
#if defined(TTENSOR_BENCH_EIGEN)
  auto* batch_eigen = new mlp_eigen<double>(*q, false);
  add("D9batch", "f64", n, "eigen", 1e-12, [=] { batch_eigen->batch(); }, [=] { return batch_eigen->read(); });
#endif
  add("D9batch", "f64", n, "ttensor", 1e-12, [=] {
    *g = tt::grad([&](const auto& m) {
      const auto h = tanh(matmul(X, m.w1) + m.b1);
      const auto o = matmul(h, m.w2) + m.b2;
      return tt::sum(log(tt::sum(exp(o), tt::axes{1})) - tt::sum(onehot * o, tt::axes{1})) * (1.0 / n);
    })(p);
  }, [=] {
    seen s;
    auto append = [&](const auto& t) { s.insert(s.end(), t.data(), t.data() + t.size()); };
    append(g->w1), append(g->b1), append(g->w2), append(g->b2);
    return s;
  });
}

// ---- D5: Black-Scholes calls, code in scalars for one option: price, delta, gamma, vega, theta (d/dT), rho of each -----------
template <class V> void greeks(const V& S, const V& r, const V& v, const V& T, const V& K, V* z) {
  using std::erfc, std::exp, std::log, std::sqrt, xsimd::erfc, xsimd::exp, xsimd::log, xsimd::sqrt;
  const V root = sqrt(T), sd = v * root, d1 = (log(S / K) + (r + V(0.5) * v * v) * T) / sd, d2 = d1 - sd;
  const V n1 = V(0.5) * erfc(d1 * V(-0.70710678118654752)), n2 = V(0.5) * erfc(d2 * V(-0.70710678118654752));
  const V discounted = K * exp(-r * T), density = V(0.39894228040143268) * exp(V(-0.5) * d1 * d1);
  z[0] = S * n1 - discounted * n2;
  z[1] = n1;
  z[2] = density / (S * sd);
  z[3] = S * density * root;
  z[4] = S * density * v / (V(2) * root) + r * discounted * n2;
  z[5] = T * discounted * n2;
}
void rows_options(int n) {
  struct options {
    vec<double> S, r, v, T, K;
  };
  const auto* q = new options{random(n, 71, 80, 120), random(n, 72, 0.01, 0.05), random(n, 73, 0.1, 0.5), random(n, 74, 0.25, 2), random(n, 75, 80, 120)};
  auto* z = new vec<double>(static_cast<std::size_t>(6 * n));
  const auto by_hand = [=]<class V>(V) {
    constexpr int w = static_cast<int>(sizeof(V) / sizeof(double));
    for (int i = 0; i < n; i += w) {
      const auto load = [i](const vec<double>& x) {
        V y;
        std::copy_n(x.data() + i, w, reinterpret_cast<double*>(&y));
        return y;
      };
      V out[6];
      greeks(load(q->S), load(q->r), load(q->v), load(q->T), load(q->K), out);
      for (int k = 0; k < 6; ++k) std::copy_n(reinterpret_cast<const double*>(out + k), w, z->data() + k * n + i);
    }
  };
  add("D5", "f64", n, "hand_loop", 1e-12, [=] { by_hand(double{}); }, [=] { return numbers(z->data(), 6 * n); });
  add("D5", "f64", n, "hand_xsimd", 1e-12, [=] { by_hand(B{}); }, [=] { return numbers(z->data(), 6 * n); });
  const auto price = [](const auto& S, const auto& r, const auto& v, const auto& T, const auto& K) {
    const auto sd = v * sqrt(T);
    const auto d1 = (log(S / K) + (r + 0.5 * v * v) * T) / sd;
    const auto d2 = d1 - sd;
    return 0.5 * (S * erfc(d1 * -0.70710678118654752) - K * exp(-r * T) * erfc(d2 * -0.70710678118654752));
  };
  // The derivative by S of the price and of its gradient, in one forward pass over a reverse one.
  const auto all = tt::vmap([price](const auto& S, const auto& r, const auto& v, const auto& T, const auto& K) {
    const auto [y, y_dot] = tt::jvp([&](const auto& s) {
      const auto p = tt::value_and_grad<0, 1, 2, 3>(price)(s, r, v, T, K);
      return std::tuple{p.value, std::get<0>(p.grad), std::get<2>(p.grad), std::get<3>(p.grad), std::get<1>(p.grad)};
    }, S, 1.0);
    return std::tuple_cat(y, std::tuple{std::get<1>(y_dot)});
  });
  const auto S = vector(q->S), r = vector(q->r), v = vector(q->v), T = vector(q->T), K = vector(q->K);
  auto* got = new decltype(all(S, r, v, T, K));
  add("D5", "f64", n, "ttensor", 1e-12, [=] { *got = all(S, r, v, T, K); }, [=] {
    seen s;
    const auto append = [&](const auto& t) { s.insert(s.end(), t.data(), t.data() + t.size()); };
    append(std::get<0>(*got)), append(std::get<1>(*got)), append(std::get<5>(*got)), append(std::get<2>(*got)), append(std::get<3>(*got)), append(std::get<4>(*got));
    return s;
  });
}

}  // namespace

int main(int argc, char** argv) {
  rows_of_sums();
  rows_mlp<float>("f32", 1e-5), rows_mlp<double>("f64", 1e-12);
  rows_per_sample();
  rows_options(256), rows_options(100000);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
