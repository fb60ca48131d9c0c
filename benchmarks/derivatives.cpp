// Rows D1, D2, D3, D3s, D6, D9: gradients of programs written the obvious way, beside gradients written by hand (hand*: the
// floor is the fastest of them). Every contender is compared with the first hand-written gradient before it is timed, and
// the largest error (relative to the largest component) is printed. Run with table.py.
// The hand-written D6 and D9 call BLAS where there is one; OPENBLAS_NUM_THREADS=1, and OPENBLAS_CORETYPE=SkylakeX where
// OpenBLAS does not know the processor, make it a fair one.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <ttensor/all.hpp>
#include <xsimd/xsimd.hpp>
#if defined(TTENSOR_BENCH_BLAS)
#include <cblas.h>
#endif

namespace tt = ttensor;

namespace {

template <class T> using vec = std::vector<T, xsimd::aligned_allocator<T>>;
using B = xsimd::batch<double>;
constexpr int W = static_cast<int>(B::size);

/// 64-bit linear congruential generator, values in [low, high).
struct generator {
  std::uint64_t s;
  explicit generator(std::uint64_t seed) : s(seed * 2862933555777941757u + 3037000493u) {}
  double next() {
    s = s * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(s >> 40) * 0x1p-24;
  }
};
vec<double> random(int n, std::uint64_t seed, double low, double high) {
  vec<double> v(static_cast<std::size_t>(n));
  generator g(seed);
  for (double& x : v) x = low + (high - low) * g.next();
  return v;
}
template <class T = double> tt::tensor<T, 1> vector(const vec<double>& v) {
  tt::tensor<T, 1> t(static_cast<std::ptrdiff_t>(v.size()));
  std::copy(v.begin(), v.end(), t.data());
  return t;
}
template <class T = double> tt::tensor<T, 2> matrix(const double* v, int rows, int columns) {
  tt::tensor<T, 2> t(rows, columns);
  std::copy(v, v + std::ptrdiff_t(rows) * columns, t.data());
  return t;
}
double total(B v) {
  alignas(64) double t[W];
  v.store_aligned(t);
  double s = 0;
  for (double x : t) s += x;
  return s;
}

// ---- contenders --------------------------------------------------------------------------------------------------------
/// A contender writes its gradient somewhere and hands every piece of it to `see`.
using seen = std::vector<double>;
std::map<std::string, seen>& first_gradients() {
  static std::map<std::string, seen> all;
  return all;
}
/// body() computes the gradient; read() gives it as numbers, for comparison.
template <class Body, class Read> void add(const std::string& row, const char* type, int n, const std::string& who, double tolerance, Body body, Read read) {
  const std::string key = row + "/" + type + "/" + std::to_string(n);
  benchmark::RegisterBenchmark((key + "/" + who).c_str(), [=, checked = false](benchmark::State& state) mutable {
    if (!checked) {
      checked = true;
      body();
      const seen got = read();
      const auto [it, first] = first_gradients().try_emplace(key, got);
      double scale = 0, error = 0;
      for (double x : it->second) scale = std::max(scale, std::abs(x));
      for (std::size_t i = 0; i < it->second.size(); ++i) {
        const double e = i < got.size() ? std::abs(got[i] - it->second[i]) / scale : 1;
        if (!(e <= error)) error = e;
      }
      if (!first) std::fprintf(stderr, "%s/%s: largest error %.1e\n", key.c_str(), who.c_str(), error);
      if (!(error <= tolerance)) return state.SkipWithError(("wrong gradient, error " + std::to_string(error)).c_str());
    }
    for (auto _ : state) {
      body();
      benchmark::ClobberMemory();
    }
  });
}
template <class T> seen numbers(const T* p, std::ptrdiff_t n) { return seen(p, p + n); }

// ---- D1: sum log(1 + exp(-y (X w))) ------------------------------------------------------------------------------------
struct logistic_data {
  int n, d;
  vec<double> X, y, w;
  logistic_data(int rows, int columns) : n(rows), d(columns), X(random(rows * columns, 11, -1, 1)), y(random(rows, 12, -1, 1)), w(random(columns, 13, -0.5, 0.5)) {
    for (double& e : y) e = e < 0 ? -1 : 1;
  }
};
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
    if (array)
      add(row, "f64", n, "ttensor", 1e-12, [=] {
        *out = tt::grad([](const auto& v) {
          const auto a = v(tt::range(1, tt::end)), b = v(tt::range(0, -1));
          const auto c = a - b * b, d = 1.0 - b;
          return sum(100.0 * (c * c) + d * d);
        })(in);
      }, [=] { return numbers(out->data(), n); });
    else
      add(row, "f64", n, "ttensor", 1e-12, [=] { *out = tt::grad(rosenbrock_elements)(in); }, [=] { return numbers(out->data(), n); });
  }
}

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

}  // namespace

int main(int argc, char** argv) {
  rows_logistic(2000, 50), rows_logistic(20000, 200);
  rows_expsin(1000), rows_expsin(100000);
  for (const int n : {10, 100, 1000, 100000}) rows_rosenbrock(n);
  rows_mlp<float>("f32", 1e-5), rows_mlp<double>("f64", 1e-12);
  rows_per_sample();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
