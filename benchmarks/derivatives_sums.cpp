// Rows D1, D2, D3, D3s, lengths3, pairs3 of bench_derivatives and bench_peers: hand-written gradients (Eigen: whole-array statements) and ours.
#include "derivatives_workloads.hpp"

#if defined(TTENSOR_BENCH_BLAS)
#include <algorithm>
#include <cblas.h>
#endif

using namespace gradients;

namespace {

// ---- D1: sum log(1 + exp(-y (X w))) ------------------------------------------------------------------------------------
void logistic_loop(const logistic_data& p, double* g) {
  for (int j = 0; j < p.d; ++j) g[j] = 0;
  for (int i = 0; i < p.n; ++i) {
    const double* x = &p.X[std::size_t(i) * std::size_t(p.d)];
    double t = 0;
    for (int j = 0; j < p.d; ++j) t += x[j] * p.w[std::size_t(j)];
    const double y = p.y[std::size_t(i)], s = -y / (1 + std::exp(y * t));
    for (int j = 0; j < p.d; ++j) g[j] += s * x[j];
  }
}
// One pass over X in blocks of eight rows: eight inner products, one sigmoid on a register, an update of rank eight.
void logistic_fused(const logistic_data& p, double* g) {
  static_assert(W <= 8);
  const int d = p.d, dv = d / W * W;
  vec<double> gg(static_cast<std::size_t>((d + W - 1) / W * W), 0.0);
  const double* w = p.w.data();
  int i = 0;
  for (; i + 8 <= p.n; i += 8) {
    const double* x = &p.X[std::size_t(i) * std::size_t(d)];
    B a[8];
    for (B& e : a) e = B(0.0);
    for (int j = 0; j < dv; j += W) {
      const B wj = B::load_unaligned(w + j);
      for (int r = 0; r < 8; ++r) a[r] = xsimd::fma(B::load_unaligned(x + r * d + j), wj, a[r]);
    }
    alignas(64) double t[8];
    for (int r = 0; r < 8; ++r) {
      t[r] = total(a[r]);
      for (int j = dv; j < d; ++j) t[r] += x[r * d + j] * w[j];
    }
    for (int r = 0; r < 8; r += W) {
      const B y = B::load_unaligned(&p.y[std::size_t(i + r)]);
      const B s = -y / (B(1.0) + xsimd::exp(y * B::load_unaligned(t + r)));
      s.store_unaligned(t + r);
    }
    for (int j = 0; j < dv; j += W) {
      B acc = B::load_unaligned(&gg[std::size_t(j)]);
      for (int r = 0; r < 8; ++r) acc = xsimd::fma(B(t[r]), B::load_unaligned(x + r * d + j), acc);
      acc.store_unaligned(&gg[std::size_t(j)]);
    }
    for (int j = dv; j < d; ++j)
      for (int r = 0; r < 8; ++r) gg[std::size_t(j)] += t[r] * x[r * d + j];
  }
  for (; i < p.n; ++i) {
    const double* x = &p.X[std::size_t(i) * std::size_t(d)];
    double t = 0;
    for (int j = 0; j < d; ++j) t += x[j] * w[j];
    const double y = p.y[std::size_t(i)], s = -y / (1 + std::exp(y * t));
    for (int j = 0; j < d; ++j) gg[std::size_t(j)] += s * x[j];
  }
  std::copy(gg.begin(), gg.begin() + d, g);
}
void rows_logistic(int n, int d) {
  const auto* p = new logistic_data(n, d);
  auto* g = new vec<double>(static_cast<std::size_t>(d));
  auto read = [=] { return numbers(g->data(), d); };
  add("D1", "f64", n, "hand_loop", 1e-12, [=] { logistic_loop(*p, g->data()); }, read);
  add("D1", "f64", n, "hand_fused", 1e-12, [=] { logistic_fused(*p, g->data()); }, read);
#if defined(TTENSOR_BENCH_BLAS)
  auto* s = new vec<double>(static_cast<std::size_t>(n));
  add("D1", "f64", n, "hand_blas", 1e-12, [=] {
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, d, 1, p->X.data(), d, p->w.data(), 1, 0, s->data(), 1);
    int i = 0;
    for (; i + W <= n; i += W) {
      const B y = B::load_unaligned(&p->y[std::size_t(i)]);
      (-y / (B(1.0) + xsimd::exp(y * B::load_unaligned(&(*s)[std::size_t(i)])))).store_unaligned(&(*s)[std::size_t(i)]);
    }
    for (; i < n; ++i) (*s)[std::size_t(i)] = -p->y[std::size_t(i)] / (1 + std::exp(p->y[std::size_t(i)] * (*s)[std::size_t(i)]));
    cblas_dgemv(CblasRowMajor, CblasTrans, n, d, 1, p->X.data(), d, s->data(), 1, 0, g->data(), 1);
  }, read);
#endif
#if defined(TTENSOR_BENCH_EIGEN)
  add("D1", "f64", n, "eigen", 1e-12, [X = eigen<double>(p->X.data(), n, d), y = eigen(p->y), w = eigen(p->w), s = Eigen::ArrayXd(n), g]() mutable {
    s.matrix().noalias() = X * w.matrix();
    s = -y / (1 + (y * s).exp());
    Eigen::Map<Eigen::VectorXd>(g->data(), X.cols()).noalias() = X.transpose() * s.matrix();
  }, read);
#endif
  const auto X = matrix(p->X.data(), n, d);
  const auto y = vector(p->y), w = vector(p->w);
  auto* out = new tt::tensor<double, 1>;
  add("D1", "f64", n, "ttensor", 1e-12, [=] { *out = tt::grad([&](const auto& v) { return sum(log(1.0 + exp(-y * matmul(X, v)))); })(w); },
      [=] { return numbers(out->data(), d); });
}

// ---- D2: sum exp(-x^2) sin x -------------------------------------------------------------------------------------------
void rows_expsin(int n) {
  const auto* x = new vec<double>(random(n, 21, -3, 3));
  auto* g = new vec<double>(static_cast<std::size_t>(n));
  auto read = [=] { return numbers(g->data(), n); };
  add("D2", "f64", n, "hand_loop", 1e-13, [=] {
    const double* p = x->data();
    for (int i = 0; i < n; ++i) {
      const double e = std::exp(-p[i] * p[i]);
      (*g)[std::size_t(i)] = e * (std::cos(p[i]) - 2 * p[i] * std::sin(p[i]));
    }
  }, read);
  add("D2", "f64", n, "hand_simd", 1e-13, [=] {
    const double* p = x->data();
    double* to = g->data();
    B acc(0.0);
    int i = 0;
    for (; i + W <= n; i += W) {
      const B q = B::load_unaligned(p + i);
      const auto sc = xsimd::sincos(q);
      const B e = xsimd::exp(-q * q);
      acc = xsimd::fma(e, sc.first, acc);
      (e * xsimd::fnma(q + q, sc.first, sc.second)).store_unaligned(to + i);
    }
    double value = total(acc);
    benchmark::DoNotOptimize(value);
    for (; i < n; ++i) {
      const double e = std::exp(-p[i] * p[i]);
      to[i] = e * (std::cos(p[i]) - 2 * p[i] * std::sin(p[i]));
    }
  }, read);
#if defined(TTENSOR_BENCH_EIGEN)
  add("D2", "f64", n, "eigen", 1e-13, [x = eigen(*x), g] { Eigen::Map<Eigen::ArrayXd>(g->data(), x.size()) = (-x.square()).exp() * (x.cos() - 2 * x * x.sin()); }, read);
#endif
  auto* out = new tt::tensor<double, 1>;
  const auto in = vector(*x);
  add("D2", "f64", n, "ttensor", 1e-13, [=] { *out = tt::grad([](const auto& v) { return sum(exp(-v * v) * sin(v)); })(in); },
      [=] { return numbers(out->data(), n); });
}

// ---- D3: Rosenbrock ----------------------------------------------------------------------------------------------------
const auto rosenbrock_elements = [](const auto& x) {
  using S = typename std::remove_cvref_t<decltype(x)>::scalar;
  S s(0.0);
  for (std::ptrdiff_t i = 0; i + 1 < x.extent(0); ++i) {
    const S a = x(i + 1) - x(i) * x(i);
    const S b = 1.0 - x(i);
    s += 100.0 * (a * a) + b * b;
  }
  return s;
};
void rows_rosenbrock(int n) {
  const auto* x = new vec<double>(random(n, 31, -1.5, 1.5));
  auto* g = new vec<double>(static_cast<std::size_t>(n));
  const auto in = vector(*x);
  auto* out = new tt::tensor<double, 1>;
  for (const char* row : {"D3", "D3s"}) {
    add(row, "f64", n, "hand_loop", 1e-12, [=] {
      const double* p = x->data();
      double* to = g->data();
      double before = 0;
      for (int i = 0; i + 1 < n; ++i) {
        const double a = p[i + 1] - p[i] * p[i];
        to[i] = before - 400 * a * p[i] - 2 * (1 - p[i]);
        before = 200 * a;
      }
      to[n - 1] = before;
    }, [=] { return numbers(g->data(), n); });
    const bool array = row[2] == 0;
#if defined(TTENSOR_BENCH_EIGEN)
    if (array)
      add(row, "f64", n, "eigen", 1e-12, [x = eigen(*x), a = Eigen::ArrayXd(n - 1), g]() mutable {
        const auto b = x.head(a.size());
        Eigen::Map<Eigen::ArrayXd> to(g->data(), x.size());
        a = x.tail(a.size()) - b.square();
        to.head(a.size()) = -400 * a * b - 2 * (1 - b);
        to(a.size()) = 0;
        to.tail(a.size()) += 200 * a;
      }, [=] { return numbers(g->data(), n); });
#endif
    if (array)
      add(row, "f64", n, "ttensor", 1e-12, [=] {
        *out = tt::grad([](const auto& v) {
          const auto a = v(tt::range(1, tt::end)), b = v(tt::range(0, -1));
          const auto c = a - b * b;
          const auto d = 1.0 - b;
          return sum(100.0 * (c * c) + d * d);
        })(in);
      }, [=] { return numbers(out->data(), n); });
    else
      add(row, "f64", n, "ttensor", 1e-12, [=] { *out = tt::grad(rosenbrock_elements)(in); }, [=] { return numbers(out->data(), n); });
  }
}

// ---- lengths3: the sum of sqrt(1 + |x|^2) over n points of three coordinates -----------------------------------------------
void rows_lengths(int n) {
  const auto* x = new vec<double>(random(3 * n, 41, -2, 2));
  auto* g = new vec<double>(static_cast<std::size_t>(3 * n));
  add("lengths3", "f64", n, "hand_loop", 1e-13, [=] {
    const double* p = x->data();
    double* to = g->data();
    for (int i = 0; i < 3 * n; i += 3) {
      const double r = 1 / std::sqrt(1 + p[i] * p[i] + p[i + 1] * p[i + 1] + p[i + 2] * p[i + 2]);
      for (int k = 0; k < 3; ++k) to[i + k] = r * p[i + k];
    }
  }, [=] { return numbers(g->data(), 3 * n); });
  const auto in = matrix(x->data(), n, 3);
  auto* out = new tt::tensor<double, 2>;
  add("lengths3", "f64", n, "ttensor", 1e-13, [=] { *out = tt::grad([](const auto& v) { return sum(sqrt(1.0 + sum(v * v, 1))); })(in); },
      [=] { return numbers(out->data(), 3 * n); });
}

// ---- pairs3: the sum of 1 / (0.01 + |x_i - x_j|^2) over all pairs of n points -----------------------------------------------
void rows_pairs(int n) {
  const auto* x = new vec<double>(random(3 * n, 43, -2, 2));
  auto* g = new vec<double>(static_cast<std::size_t>(3 * n));
  add("pairs3", "f64", n, "hand_loop", 1e-11, [=] {
    const double* p = x->data();
    double* to = g->data();
    std::fill(to, to + 3 * n, 0.0);
    for (int i = 0; i < 3 * n; i += 3)
      for (int j = 0; j < 3 * n; j += 3) {
        const double a = p[i] - p[j], b = p[i + 1] - p[j + 1], c = p[i + 2] - p[j + 2], r = a * a + b * b + c * c + 0.01, w = -2 / (r * r);
        to[i] += w * a, to[i + 1] += w * b, to[i + 2] += w * c;
        to[j] -= w * a, to[j + 1] -= w * b, to[j + 2] -= w * c;
      }
  }, [=] { return numbers(g->data(), 3 * n); });
  const auto in = matrix(x->data(), n, 3);
  auto* out = new tt::tensor<double, 2>;
  add("pairs3", "f64", n, "ttensor", 1e-11, [=] {
    *out = tt::grad([](const auto& v) {
      const auto d = unsqueeze(v, 1) - unsqueeze(v, 0);
      return sum(1.0 / (sum(d * d, 2) + 0.01));
    })(in);
  }, [=] { return numbers(out->data(), 3 * n); });
}

}  // namespace

void gradients::rows_of_sums() {
  rows_logistic(2000, 50), rows_logistic(20000, 200);
  rows_expsin(1000), rows_expsin(100000);
  for (const int n : {10, 100, 1000, 100000}) rows_rosenbrock(n);
  rows_lengths(2500);
  rows_pairs(300);
}
