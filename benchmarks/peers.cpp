// Rows D1, D2, D3, D3s beside other libraries in one process: ADOL-C, Ceres' Jet, Eigen's AutoDiffScalar, whichever is installed. They
// get loops over scalars, what they are made for; D3 and D3s are the same for them. Every gradient is compared with the
// hand-written one before it is timed. Run with table.py --all, a row a process: ADOL-C's buffers keep the size of the largest tape.
#include "derivatives_workloads.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#if defined(TTENSOR_BENCH_ADOLC)
#include <adolc/adolc.h>
#endif
#if defined(TTENSOR_BENCH_CERES)
#include <ceres/jet.h>
#endif
#if defined(TTENSOR_BENCH_EIGEN)
#include <Eigen/Core>
#include <unsupported/Eigen/AutoDiff>
#endif

using namespace gradients;

namespace {

// ---- the functions -----------------------------------------------------------------------------------------------------
struct logistic_loss {
  const logistic_data* p;
  unsigned operations() const { return static_cast<unsigned>(2 * p->n * (p->d + 4)); }
  template <class S> S operator()(const S* w) const {
    using std::exp, std::log;
    S s(0.0);
    for (int i = 0; i < p->n; ++i) {
      const double* x = &p->X[std::size_t(i) * std::size_t(p->d)];
      S t(0.0);
      for (int j = 0; j < p->d; ++j) t += x[j] * w[j];
      s += log(1.0 + exp(-p->y[std::size_t(i)] * t));
    }
    return s;
  }
};
struct expsin {
  int n;
  unsigned operations() const { return static_cast<unsigned>(10 * n); }
  template <class S> S operator()(const S* x) const {
    using std::exp, std::sin;
    S s(0.0);
    for (int i = 0; i < n; ++i) s += exp(-x[i] * x[i]) * sin(x[i]);
    return s;
  }
};
struct rosenbrock {
  int n;
  unsigned operations() const { return static_cast<unsigned>(12 * n); }
  template <class S> S operator()(const S* x) const {
    S s(0.0);
    for (int i = 0; i + 1 < n; ++i) {
      const S a = x[i + 1] - x[i] * x[i];
      const S b = 1.0 - x[i];
      s += 100.0 * (a * a) + b * b;
    }
    return s;
  }
};

/// The same of a number of arguments that the type says, without data of its own: jacfwd takes several tangents in a pass.
struct rosenbrock_of_10 {
  template <class S> S operator()(const std::array<S, 10>& x) const { return rosenbrock{10}(x.data()); }
};

template <class F> struct problem {
  const char* row;
  int n;
  vec<double> x;
  F f;
  double tolerance;
};
/// write(g) computes the gradient into a buffer that starts as NaN.
template <class F, class Write> void add_peer(const problem<F>& p, const char* who, Write write) {
  auto* g = new vec<double>(p.x.size(), NAN);
  add(p.row, "f64", p.n, who, p.tolerance, [=]() mutable { write(g->data()); }, [=] { return numbers(g->data(), static_cast<std::ptrdiff_t>(g->size())); });
}

// ---- ADOL-C: a tape recorded every time, and one that is only replayed ---------------------------------------------------
#if defined(TTENSOR_BENCH_ADOLC)
template <class F> void trace(short tag, int keep, const problem<F>& p) {
  const unsigned room = std::max(2 * p.f.operations(), 1u << 12);  // the tape stays in memory
  trace_on(tag, keep, room, 4 * room, room, room);
  {
    std::vector<adouble> v(p.x.size());
    for (std::size_t i = 0; i < v.size(); ++i) v[i] <<= p.x[i];
    adouble y = p.f(v.data());
    double value;
    y >>= value;
  }
  trace_off();
}
template <class F> void add_adolc(const problem<F>& p) {
  static short next = 1;  // a tag keeps the size of its first tape's buffers
  const int n = static_cast<int>(p.x.size());
  add_peer(p, "adolc_retrace", [p, n, tag = next++](double* g) {
    trace(tag, 1, p);
    double one = 1;
    fos_reverse(tag, 1, n, &one, g);
  });
  add_peer(p, "adolc_replay", [p, n, tag = next++, traced = false](double* g) mutable {
    if (!traced) trace(tag, 0, p), traced = true;
    gradient(tag, n, p.x.data(), g);
  });
}
#endif

// ---- forward mode, N directions a pass ---------------------------------------------------------------------------------
#if defined(TTENSOR_BENCH_CERES)
template <int N> struct jet {
  using scalar = ceres::Jet<double, N>;
  static constexpr const char* name = "ceres_jet";
  static auto& tangent(scalar& s) { return s.v; }
};
#endif
#if defined(TTENSOR_BENCH_EIGEN)
template <int N> struct eigen {
  using scalar = Eigen::AutoDiffScalar<Eigen::Matrix<double, N, 1>>;
  static constexpr const char* name = "eigen_autodiff";
  static auto& tangent(scalar& s) { return s.derivatives(); }
};
#endif
template <int N> struct duals {
  using scalar = ttensor::dual<double, N>;
  static constexpr const char* name = "dual";
  static auto& tangent(scalar& s) { return s.tangent; }
};
template <class Mode, int N, class F> void add_forward(const problem<F>& p) {
  using S = typename Mode::scalar;
  add_peer(p, Mode::name, [p](double* g) {
    const int n = static_cast<int>(p.x.size());
    std::vector<S> v(p.x.begin(), p.x.end());
    for (int from = 0; from < n; from += N) {
      const int count = std::min(N, n - from);
      for (int k = 0; k < count; ++k) Mode::tangent(v[std::size_t(from + k)])[k] = 1;
      S y = p.f(v.data());
      for (int k = 0; k < count; ++k) {
        g[from + k] = Mode::tangent(y)[k];
        Mode::tangent(v[std::size_t(from + k)])[k] = 0;
      }
    }
  });
}

/// `N` directions a pass; n / N passes over long arguments would take seconds.
template <int N, class F> void rows(const problem<F>& p) {
#if defined(TTENSOR_BENCH_ADOLC)
  add_adolc(p);
#endif
  if (p.x.size() > 1000) return;
  add_forward<duals<N>, N>(p);
#if defined(TTENSOR_BENCH_CERES)
  add_forward<jet<N>, N>(p);
#endif
#if defined(TTENSOR_BENCH_EIGEN)
  add_forward<eigen<N>, N>(p);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  rows_of_sums();
  const auto *small = new logistic_data(2000, 50), *large = new logistic_data(20000, 200);
  rows<50>(problem<logistic_loss>{"D1", 2000, small->w, {small}, 1e-12});
  rows<40>(problem<logistic_loss>{"D1", 20000, large->w, {large}, 1e-12});
  for (const int n : {1000, 100000}) rows<40>(problem<expsin>{"D2", n, random(n, 21, -3, 3), {n}, 1e-13});
  for (const char* row : {"D3", "D3s"}) {
    const problem<rosenbrock> ten{row, 10, random(10, 31, -1.5, 1.5), {10}, 1e-12};
    rows<10>(ten);
    add_peer(ten, "jacfwd", [ten](double* g) {
      std::array<double, 10> x;
      std::copy(ten.x.begin(), ten.x.end(), x.begin());
      const auto y = ttensor::jacfwd(rosenbrock_of_10{})(x);
      std::copy(y.begin(), y.end(), g);
    });
    for (const int n : {100, 1000, 100000}) rows<20>(problem<rosenbrock>{row, n, random(n, 31, -1.5, 1.5), {n}, 1e-12});
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
