// Rows A1 to A9: one whole-array statement each, beside hand-written loops (hand*: the floor is the fastest of them) and
// Eigen. Run with table.py, which interleaves the contenders, takes medians and prints ratios.
#include "arrays_workloads.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <ttensor/tensor.hpp>
#if !defined(TTENSOR_NO_SIMD)
#include <xsimd/xsimd.hpp>
#endif
#if defined(TTENSOR_BENCH_EIGEN)
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Dense>
#endif

namespace tt = ttensor;
using namespace rows;

namespace {

// ---- floors ------------------------------------------------------------------------------------------------------------
template <class T> struct registers {  // a full register, as the widest hand-written loop would use
  typedef T type __attribute__((vector_size(TTENSOR_SIMD_BYTES), may_alias));
};
template <class T> using reg = typename registers<T>::type;
template <class T> constexpr std::size_t W = sizeof(reg<T>) / sizeof(T);
template <class T> const reg<T>& in(const T* p) { return *reinterpret_cast<const reg<T>*>(p); }
template <class T> void out(T* p, reg<T> v) { *reinterpret_cast<reg<T>*>(p) = v; }
template <class T> reg<T> all(T x) { return x - reg<T>{}; }
template <class T> T total(reg<T> v) {
  T s = 0;
  for (std::size_t i = 0; i < W<T>; ++i) s += v[i];
  return s;
}
#if defined(__AVX512F__)
template <> float total<float>(reg<float> v) { return _mm512_reduce_add_ps((__m512)v); }
template <> double total<double>(reg<double> v) { return _mm512_reduce_add_pd((__m512d)v); }
#endif
template <class T> T largest(reg<T> v) {
  T m = v[0];
  for (std::size_t i = 1; i < W<T>; ++i) m = std::max(m, static_cast<T>(v[i]));
  return m;
}
#if defined(__AVX512F__)
template <> float largest<float>(reg<float> v) { return _mm512_reduce_max_ps((__m512)v); }
template <> double largest<double>(reg<double> v) { return _mm512_reduce_max_pd((__m512d)v); }
#endif
template <class T> void stream_out(T* p, reg<T> v) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(p), (__m512i)v);
#else
  out(p, v);
#endif
}
void fence() {
#if defined(__AVX512F__)
  _mm_sfence();
#endif
}

// W x W transpose in registers: log2(W) butterfly stages.
template <class T, std::size_t H> void butterfly(reg<T>* q) {
  using I = std::conditional_t<sizeof(T) == 8, long long, int>;
  typedef I index __attribute__((vector_size(TTENSOR_SIMD_BYTES)));
  index low{}, high{};
  for (std::size_t i = 0; i < W<T>; ++i) {
    low[i] = static_cast<I>((i & H) ? W<T> + i - H : i);
    high[i] = static_cast<I>((i & H) ? W<T> + i : i + H);
  }
#pragma GCC unroll 16
  for (std::size_t r = 0; r < W<T>; ++r)
    if (!(r & H)) {
      const reg<T> a = q[r], b = q[r + H];
#if defined(__clang__)
      for (std::size_t i = 0; i < W<T>; ++i) q[r][i] = (i & H) ? b[i - H] : a[i], q[r + H][i] = (i & H) ? b[i] : a[i + H];
#else
      q[r] = __builtin_shuffle(a, b, low);
      q[r + H] = __builtin_shuffle(a, b, high);
#endif
    }
  if constexpr (2 * H < W<T>) butterfly<T, 2 * H>(q);
}

#if !defined(TTENSOR_NO_SIMD)
template <class T, class F, class... R> reg<T> with_xsimd(F f, const R&... x) {
  auto batch = [](const reg<T>& v) {
    xsimd::batch<T> b;
    std::memcpy(&b, &v, sizeof v);
    return b;
  };
  const auto y = f(batch(x)...);
  reg<T> r;
  std::memcpy(&r, &y, sizeof r);
  return r;
}
template <class T> reg<T> f2(reg<T> x, reg<T> z) {
  return with_xsimd<T>([](auto x, auto z) { return xsimd::exp(-x * x) * xsimd::sin(x) + xsimd::tanh(z); }, x, z);
}
#endif

// exp(x) = 2^n p(x - n ln 2) where neither overflows: p interpolates exp in the Chebyshev points of |r| <= ln(2) / 2, to 1e-8 (float) and
// 2e-17. Adding 1.5 * 2^23 (2^52) rounds to an integer and leaves it in the low bits.
template <class T> reg<T> exponential(reg<T> x) {
  constexpr bool single = std::is_same_v<T, float>;
  using I = std::conditional_t<single, int, long long>;
  typedef I bits __attribute__((vector_size(TTENSOR_SIMD_BYTES)));
  constexpr T rounding = single ? T(0x1.8p23) : T(0x1.8p52), high = single ? T(0x1.62e4p-1) : T(0x1.62e42feep-1);
  constexpr T low = single ? T(0x1.7f7d1cf7ap-20) : T(0x1.a39ef35793c76p-33);
  const reg<T> shifted = x * T(1.4426950408889634) + rounding, n = shifted - rounding, r = (x - n * high) - n * low;
  reg<T> q;
  if constexpr (single)
    q = (((r * 1.3926186e-3f + 8.3631791e-3f) * r + 4.1666555e-2f) * r + 1.6666577e-1f) * r + 0.5f;
  else
    q = ((((((((r * 2.510038549551032e-08 + 2.7620088445409746e-07) * r + 2.7557268459997064e-06) * r + 2.4801521295954376e-05) * r +
             1.9841269863053618e-04) * r + 1.3888888917213717e-03) * r + 8.333333333330062e-03) * r + 4.166666666662413e-02) * r +
         1.6666666666666669e-01) * r + 0.5;
  const reg<T> p = (q * r + T(1)) * r + T(1);
  return (reg<T>)((bits)p + ((bits)shifted << (single ? 23 : 52)));
}

// Whole registers with `v`, the rest with `s`: what every floor of an elementwise row does.
template <class T, class V, class S> [[gnu::always_inline]] inline void sweep(std::size_t n, V v, S s) {
  std::size_t i = 0;
  for (; i + W<T> <= n; i += W<T>) v(i);
  for (; i < n; ++i) s(i);
}

// All elements, in pieces from the last to the first if `back`.
template <class S> [[gnu::always_inline]] inline void to_and_fro(std::size_t n, bool back, S s) {
  const std::size_t piece = back ? 4096 : n;
  for (std::size_t end = n; end > 0;) {
    const std::size_t first = (end - 1) / piece * piece;
#pragma GCC ivdep
    for (std::size_t i = first; i < end; ++i) s(i);
    end = first;
  }
}

template <class T> void floors(std::size_t n, double tol) {
  add<T>("A1", n, "hand_loop", tol, [=] {
    return [=, a = in_a<T>(n), b = in_b<T>(n), c = in_c<T>(n), d = buffer<T>(n)]() mutable -> const T* {
      const T *pa = a.data(), *pb = b.data(), *pc = c.data();
      T* __restrict pd = d.data();
#pragma GCC ivdep
      for (std::size_t i = 0; i < n; ++i) pd[i] = pa[i] * pb[i] + pc[i];
      return pd;
    };
  });
  add<T>("A1", n, "hand_registers", tol, [=] {
    return [=, a = in_a<T>(n), b = in_b<T>(n), c = in_c<T>(n), d = buffer<T>(n)]() mutable -> const T* {
      const T *pa = a.data(), *pb = b.data(), *pc = c.data();
      T* __restrict pd = d.data();
      sweep<T>(n, [=](std::size_t i) { out(pd + i, in(pa + i) * in(pb + i) + in(pc + i)); }, [=](std::size_t i) { pd[i] = pa[i] * pb[i] + pc[i]; });
      return pd;
    };
  });
  add<T>("A1", n, "hand_to_and_fro", tol, [=] {
    return [=, a = in_a<T>(n), b = in_b<T>(n), c = in_c<T>(n), d = buffer<T>(n), back = false]() mutable -> const T* {
      const T *pa = a.data(), *pb = b.data(), *pc = c.data();
      T* __restrict pd = d.data();
      to_and_fro(n, back = !back, [=](std::size_t i) { pd[i] = pa[i] * pb[i] + pc[i]; });
      return pd;
    };
  });
  add<T>("A1", n, "hand_streaming", tol, [=] {
    return [=, a = in_a<T>(n), b = in_b<T>(n), c = in_c<T>(n), d = buffer<T>(n)]() mutable -> const T* {
      const T *pa = a.data(), *pb = b.data(), *pc = c.data();
      T* __restrict pd = d.data();
      sweep<T>(n, [=](std::size_t i) { stream_out(pd + i, in(pa + i) * in(pb + i) + in(pc + i)); }, [=](std::size_t i) { pd[i] = pa[i] * pb[i] + pc[i]; });
      fence();
      return pd;
    };
  });
  for (const bool back : {false, true})
    add<T>("chain", n, back ? "hand_to_and_fro" : "hand_loop", tol, [=] {
      return [=, a = in_a<T>(n), b = in_b<T>(n), c = in_c<T>(n), d = buffer<T>(n), y = buffer<T>(n)]() mutable -> const T* {
        const T *pa = a.data(), *pb = b.data(), *pc = c.data();
        T *__restrict pd = d.data(), *__restrict py = y.data();
        to_and_fro(n, false, [=](std::size_t i) { pd[i] = pa[i] * pb[i] + pc[i]; });
        to_and_fro(n, back, [=](std::size_t i) { py[i] = pd[i] * pa[i] - pb[i]; });
        return py;
      };
    });
#if !defined(TTENSOR_NO_SIMD)
  add<T>("A2", n, "hand_xsimd", tol, [=] {
    return [=, x = in_x<T>(n), z = in_z<T>(n), d = buffer<T>(n)]() mutable -> const T* {
      const T *px = x.data(), *pz = z.data();
      T* __restrict pd = d.data();
      sweep<T>(n, [=](std::size_t i) { out(pd + i, f2<T>(in(px + i), in(pz + i))); },
               [=](std::size_t i) { pd[i] = std::exp(-px[i] * px[i]) * std::sin(px[i]) + std::tanh(pz[i]); });
      return pd;
    };
  });
#endif
  auto f3 = [](auto q, auto a) { return (((T(0.5) * q + T(1.25)) * q - T(0.75)) * q + T(2)) / (q * q + T(1.5)) + a; };
  add<T>("A3", n, "hand_loop", tol, [=] {
    return [=, x = in_x<T>(n), a = in_a<T>(n), d = buffer<T>(n)]() mutable -> const T* {
      const T *px = x.data(), *pa = a.data();
      T* __restrict pd = d.data();
#pragma GCC ivdep
      for (std::size_t i = 0; i < n; ++i) pd[i] = f3(px[i], pa[i]);
      return pd;
    };
  });
  add<T>("A3", n, "hand_registers", tol, [=] {
    return [=, x = in_x<T>(n), a = in_a<T>(n), d = buffer<T>(n)]() mutable -> const T* {
      const T *px = x.data(), *pa = a.data();
      T* __restrict pd = d.data();
      sweep<T>(n, [=](std::size_t i) { out<T>(pd + i, f3(in(px + i), in(pa + i))); }, [=](std::size_t i) { pd[i] = f3(px[i], pa[i]); });
      return pd;
    };
  });
  // float sums over many elements: four accumulators lose 3e-5, so the floor is timed, not held to 1e-7
  add<T>("A6", n, "hand_registers4", std::is_same_v<T, float> ? 1e-4 : 1e-12, [=] {
    return [=, x = in_x<T>(n), z = in_z<T>(n), r = T(0)]() mutable -> const T* {
      const T *px = x.data(), *pz = z.data();
      reg<T> q0{}, q1{}, q2{}, q3{};
      constexpr std::size_t w = W<T>;
      std::size_t i = 0;
      for (; i + 4 * w <= n; i += 4 * w) {
        const reg<T> e0 = in(px + i) - in(pz + i), e1 = in(px + i + w) - in(pz + i + w);
        const reg<T> e2 = in(px + i + 2 * w) - in(pz + i + 2 * w), e3 = in(px + i + 3 * w) - in(pz + i + 3 * w);
        q0 += e0 * e0, q1 += e1 * e1, q2 += e2 * e2, q3 += e3 * e3;
      }
      r = total<T>((q0 + q1) + (q2 + q3));
      for (; i < n; ++i) r += (px[i] - pz[i]) * (px[i] - pz[i]);
      return &r;
    };
  });
  add<T>("cube", n, "hand_loop", tol, [=] {
    return [=, x = in_x<T>(n), d = buffer<T>(n)]() mutable -> const T* {
      const T* px = x.data();
      T* __restrict pd = d.data();
#pragma GCC ivdep
      for (std::size_t i = 0; i < n; ++i) pd[i] = px[i] * px[i] * px[i];
      return pd;
    };
  });
  add<T>("complex", n, "hand_loop", tol, [=] {  // as the standard library multiplies: parts that are both NaN are looked at again
    return [=, a = in_a<T>(n), b = in_b<T>(n), c = in_c<T>(n), d = buffer<T>(n)]() mutable -> const T* {
      const auto* pa = reinterpret_cast<const std::complex<T>*>(a.data());
      const auto* pb = reinterpret_cast<const std::complex<T>*>(b.data());
      const auto* pc = reinterpret_cast<const std::complex<T>*>(c.data());
      auto* pd = reinterpret_cast<std::complex<T>*>(d.data());
      for (std::size_t i = 0; i < n / 2; ++i) pd[i] = pa[i] * pb[i] + pc[i];
      return d.data();
    };
  });
  add<T>("A9", n, "hand_loop", tol, [=] {
    return [=, x = in_x<T>(n), d = buffer<T>(n)]() mutable -> const T* {
      const T* px = x.data();
      T* __restrict pd = d.data();
#pragma GCC ivdep
      for (std::size_t i = 0; i < n; ++i) pd[i] = px[i] > T(0) ? px[i] : T(0.1) * px[i];
      return pd;
    };
  });
  add<T>("A9", n, "hand_registers", tol, [=] {
    return [=, x = in_x<T>(n), d = buffer<T>(n)]() mutable -> const T* {
      const T* px = x.data();
      T* __restrict pd = d.data();
      sweep<T>(n, [=](std::size_t i) { const reg<T> q = in(px + i); out<T>(pd + i, q > T(0) ? q : q * T(0.1)); },
               [=](std::size_t i) { pd[i] = px[i] > T(0) ? px[i] : T(0.1) * px[i]; });
      return pd;
    };
  });
}

template <class T> void floors_2d(double tol) {
  constexpr std::size_t R = norm_rows, C = norm_columns, S = square, M = sum_square;
  add<T>("A4", R * C, "hand_registers", tol, [=] {
    return [=, x = in_x<T>(R * C), m = in_a<T>(R), v = in_var<T>(R), g = in_b<T>(C), b = in_c<T>(C), d = buffer<T>(R * C)]() mutable -> const T* {
      const T *px = x.data(), *pg = g.data(), *pb = b.data();
      T* __restrict pd = d.data();
      for (std::size_t i = 0; i < R; ++i) {
        const reg<T> mu = all(m[i]), is = all(T(1) / std::sqrt(v[i] + T(1e-5)));
        for (std::size_t j = 0; j < C; j += W<T>) out(pd + i * C + j, (in(px + i * C + j) - mu) * is * in(pg + j) + in(pb + j));
      }
      return pd;
    };
  });
  add<T>("rows3", 3 * few, "hand_loop", tol, [=] {
    return [=, a = in_a<T>(3 * few), c = in_b<T>(few), d = buffer<T>(3 * few)]() mutable -> const T* {
      for (std::size_t i = 0; i < few; ++i)
        for (std::size_t k = 0; k < 3; ++k) d[3 * i + k] = a[3 * i + k] * c[i];
      return d.data();
    };
  });
  add<T>("squares3", 3 * few, "hand_loop", tol, [=] {
    return [=, a = in_a<T>(3 * few), d = buffer<T>(few)]() mutable -> const T* {
      for (std::size_t i = 0; i < few; ++i) d[i] = a[3 * i] * a[3 * i] + a[3 * i + 1] * a[3 * i + 1] + a[3 * i + 2] * a[3 * i + 2];
      return d.data();
    };
  });
  add<T>("steps8", 8 * few, "hand_loop", tol, [=] {
    return [=, a = in_a<T>(8 * few), d = buffer<T>(8 * few)]() mutable -> const T* {
      for (std::size_t i = 0; i + 1 < few; ++i)
        for (std::size_t k = 0; k < 8; ++k) d[8 * i + 8 + k] = T(0.5) * d[8 * i + k] + a[8 * i + 8 + k];
      return d.data();
    };
  });
  add<T>("A5", S * S, "hand_transpose", tol, [=] {
    return [=, a = in_a<T>(S * S), b = in_b<T>(S * S), d = buffer<T>(S * S)]() mutable -> const T* {
      const T *pa = a.data(), *pb = b.data();
      T* __restrict pd = d.data();
      constexpr std::size_t K = 64, w = W<T>;
      for (std::size_t I = 0; I < S; I += K)
        for (std::size_t J = 0; J < S; J += K)
          for (std::size_t i = I; i < I + K; i += w)
            for (std::size_t j = J; j < J + K; j += w) {
              reg<T> q[w];
              for (std::size_t k = 0; k < w; ++k) q[k] = in(pb + (j + k) * S + i);
              butterfly<T, 1>(q);
              for (std::size_t k = 0; k < w; ++k) out(pd + (i + k) * S + j, in(pa + (i + k) * S + j) + q[k]);
            }
      return pd;
    };
  });
  auto softmax = [=](auto exp) {  // three passes over a row, which stays in the L1 cache
    return [=, x = in_x<T>(R * C), d = buffer<T>(R * C)]() mutable -> const T* {
      constexpr std::size_t w = W<T>;
      for (std::size_t i = 0; i < R; ++i) {
        const T* p = x.data() + i * C;
        T* __restrict q = d.data() + i * C;
        reg<T> m0 = in(p), m1 = in(p + w), s0{}, s1{};
        for (std::size_t j = 2 * w; j < C; j += 2 * w) {
          const reg<T> x0 = in(p + j), x1 = in(p + j + w);
          m0 = m0 > x0 ? m0 : x0, m1 = m1 > x1 ? m1 : x1;
        }
        const reg<T> m = all(largest<T>(m0 > m1 ? m0 : m1));
        for (std::size_t j = 0; j < C; j += 2 * w) {
          const reg<T> e0 = exp(reg<T>(in(p + j) - m)), e1 = exp(reg<T>(in(p + j + w) - m));
          out(q + j, e0), out(q + j + w, e1);
          s0 += e0, s1 += e1;
        }
        const reg<T> scale = all(T(1) / total<T>(s0 + s1));
        for (std::size_t j = 0; j < C; j += w) out<T>(q + j, in(q + j) * scale);
      }
      return d.data();
    };
  };
  add<T>("A7", R * C, "hand_polynomial", tol, [=] { return softmax([](reg<T> v) { return exponential<T>(v); }); });
#if !defined(TTENSOR_NO_SIMD)
  add<T>("A7", R * C, "hand_xsimd", tol, [=] { return softmax([](reg<T> v) { return with_xsimd<T>([](auto b) { return xsimd::exp(b); }, v); }); });
#endif
  add<T>("A8rows", M * M, "hand_registers4", tol, [=] {
    return [=, x = in_x<T>(M * M), d = buffer<T>(M)]() mutable -> const T* {
      for (std::size_t i = 0; i < M; ++i) {
        reg<T> q0{}, q1{}, q2{}, q3{};
        const T* p = x.data() + i * M;
        for (std::size_t j = 0; j < M; j += 4 * W<T>) q0 += in(p + j), q1 += in(p + j + W<T>), q2 += in(p + j + 2 * W<T>), q3 += in(p + j + 3 * W<T>);
        d[i] = total<T>((q0 + q1) + (q2 + q3));
      }
      return d.data();
    };
  });
  add<T>("A8columns", M * M, "hand_rows4", tol, [=] {
    return [=, x = in_x<T>(M * M), d = buffer<T>(M)]() mutable -> const T* {
      const T* px = x.data();
      T* __restrict pd = d.data();
      for (std::size_t j = 0; j < M; ++j) pd[j] = 0;
      for (std::size_t i = 0; i < M; i += 4)
        for (std::size_t j = 0; j < M; j += W<T>)
          out(pd + j, ((in(pd + j) + in(px + i * M + j)) + in(px + (i + 1) * M + j)) + (in(px + (i + 2) * M + j) + in(px + (i + 3) * M + j)));
      return pd;
    };
  });
}

// ---- ttensor -----------------------------------------------------------------------------------------------------------
template <class T, class... I> tt::tensor<T, static_cast<int>(sizeof...(I))> array(const buffer<T>& v, I... extent) {
  tt::tensor<T, static_cast<int>(sizeof...(I))> t(static_cast<tt::index_t>(extent)...);
  std::copy(v.begin(), v.end(), t.data());
  return t;
}
template <class A> const auto* elements(const A& a) { return a.data(); }

template <class T> void ours(std::size_t n, double tol) {
  add<T>("A1", n, "ttensor", tol, [=] {
    return [a = array(in_a<T>(n), n), b = array(in_b<T>(n), n), c = array(in_c<T>(n), n), d = array(buffer<T>(n), n)]() mutable {
      d = a * b + c;
      return elements(d);
    };
  });
  add<T>("chain", n, "ttensor", tol, [=] {
    return [a = array(in_a<T>(n), n), b = array(in_b<T>(n), n), c = array(in_c<T>(n), n), d = array(buffer<T>(n), n), y = array(buffer<T>(n), n)]() mutable {
      d = a * b + c;
      y = d * a - b;
      return elements(y);
    };
  });
  add<T>("A2", n, "ttensor", tol, [=] {
    return [x = array(in_x<T>(n), n), z = array(in_z<T>(n), n), y = array(buffer<T>(n), n)]() mutable {
      y = exp(-x * x) * sin(x) + tanh(z);
      return elements(y);
    };
  });
  add<T>("A3", n, "ttensor", tol, [=] {
    return [x = array(in_x<T>(n), n), a = array(in_a<T>(n), n), y = array(buffer<T>(n), n)]() mutable {
      y = (((0.5 * x + 1.25) * x - 0.75) * x + 2) / (x * x + 1.5) + a;
      return elements(y);
    };
  });
  add<T>("A6", n, "ttensor", std::is_same_v<T, float> ? 2e-7 : 1e-14, [=] {
    return [x = array(in_x<T>(n), n), z = array(in_z<T>(n), n), s = T(0)]() mutable -> const T* {
      s = sum((x - z) * (x - z));
      return &s;
    };
  });
  add<T>("cube", n, "ttensor", tol, [=] {
    return [x = array(in_x<T>(n), n), y = array(buffer<T>(n), n)]() mutable {
      y = pow(x, 3);
      return elements(y);
    };
  });
  add<T>("complex", n, "ttensor", tol, [=] {
    const auto numbers = [n](const buffer<T>& v) { return tt::tensor<std::complex<T>, 1>(tt::view(reinterpret_cast<const std::complex<T>*>(v.data()), {static_cast<tt::index_t>(n / 2)})); };
    return [a = numbers(in_a<T>(n)), b = numbers(in_b<T>(n)), c = numbers(in_c<T>(n)), y = numbers(buffer<T>(n))]() mutable {
      y = a * b + c;
      return reinterpret_cast<const T*>(std::as_const(y).data());
    };
  });
  add<T>("A9", n, "ttensor", tol, [=] {
    return [x = array(in_x<T>(n), n), y = array(buffer<T>(n), n)]() mutable {
      y = where(x > 0, x, 0.1 * x);
      return elements(y);
    };
  });
}
template <class T> void ours_2d(double tol) {
  constexpr std::size_t R = norm_rows, C = norm_columns, S = square, M = sum_square;
  add<T>("A4", R * C, "ttensor", tol, [=] {
    return [x = array(in_x<T>(R * C), R, C), m = array(in_a<T>(R), R, 1), v = array(in_var<T>(R), R, 1), g = array(in_b<T>(C), C),
            b = array(in_c<T>(C), C), y = array(buffer<T>(R * C), R, C)]() mutable {
      y = (x - m) / sqrt(v + 1e-5) * g + b;
      return elements(y);
    };
  });
  add<T>("rows3", 3 * few, "ttensor", tol, [=] {
    return [a = array(in_a<T>(3 * few), few, 3), c = array(in_b<T>(few), few, 1), d = array(buffer<T>(3 * few), few, 3)]() mutable {
      d = a * c;
      return elements(d);
    };
  });
  add<T>("squares3", 3 * few, "ttensor", tol, [=] {
    return [a = array(in_a<T>(3 * few), few, 3), d = array(buffer<T>(few), few)]() mutable {
      d = sum(a * a, 1);
      return elements(d);
    };
  });
  add<T>("steps8", 8 * few, "ttensor", tol, [=] {
    return [a = array(in_a<T>(8 * few), few, 8), d = array(buffer<T>(8 * few), few, 8)]() mutable {
      for (tt::index_t i = 0; i + 1 < tt::index_t(few); ++i) d(i + 1) = 0.5 * d(i) + a(i + 1);
      return elements(d);
    };
  });
  add<T>("A5", S * S, "ttensor", tol, [=] {
    return [a = array(in_a<T>(S * S), S, S), b = array(in_b<T>(S * S), S, S), c = array(buffer<T>(S * S), S, S)]() mutable {
      c = a + tt::view_of<const T, 2>(b.elements().alias(), tt::layout_map<2>{0, {{square, square}}, {{1, square}}});
      return elements(c);
    };
  });
  add<T>("A7", R * C, "ttensor", tol, [=] {
    return [x = array(in_x<T>(R * C), R, C), y = array(buffer<T>(R * C), R, C)]() mutable {
      const auto e = exp(x - max(x, tt::axes{1}, tt::keepdims));
      y = e / sum(e, tt::axes{1}, tt::keepdims);
      return elements(y);
    };
  });
  add<T>("A7", R * C, "ttensor_softmax", tol, [=] {
    return [x = array(in_x<T>(R * C), R, C), y = array(buffer<T>(R * C), R, C)]() mutable {
      y = softmax(x, 1);
      return elements(y);
    };
  });
  add<T>("A8rows", M * M, "ttensor", tol, [=] {
    return [x = array(in_x<T>(M * M), M, M), s = array(buffer<T>(M), M)]() mutable {
      s = sum(x, tt::axes{1});
      return elements(s);
    };
  });
  add<T>("A8columns", M * M, "ttensor", tol, [=] {
    return [x = array(in_x<T>(M * M), M, M), s = array(buffer<T>(M), M)]() mutable {
      s = sum(x, tt::axes{0});
      return elements(s);
    };
  });
}

// ---- Eigen -------------------------------------------------------------------------------------------------------------
#if defined(TTENSOR_BENCH_EIGEN)
template <class T> using vector = Eigen::Array<T, Eigen::Dynamic, 1>;
template <class T> using matrix = Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T> vector<T> vec(const buffer<T>& v) { return Eigen::Map<const vector<T>>(v.data(), static_cast<Eigen::Index>(v.size())); }
template <class T> matrix<T> mat(const buffer<T>& v, Eigen::Index r, Eigen::Index c) { return Eigen::Map<const matrix<T>>(v.data(), r, c); }

template <class T> void eigens(std::size_t n, double tol) {
  add<T>("A1", n, "eigen", tol, [=] {
    return [a = vec(in_a<T>(n)), b = vec(in_b<T>(n)), c = vec(in_c<T>(n)), d = vec(buffer<T>(n))]() mutable -> const T* {
      d = a * b + c;
      return d.data();
    };
  });
  add<T>("chain", n, "eigen", tol, [=] {
    return [a = vec(in_a<T>(n)), b = vec(in_b<T>(n)), c = vec(in_c<T>(n)), d = vec(buffer<T>(n)), y = vec(buffer<T>(n))]() mutable -> const T* {
      d = a * b + c;
      y = d * a - b;
      return y.data();
    };
  });
  add<T>("A2", n, "eigen", tol, [=] {
    return [x = vec(in_x<T>(n)), z = vec(in_z<T>(n)), d = vec(buffer<T>(n))]() mutable -> const T* {
      d = (-x * x).exp() * x.sin() + z.tanh();
      return d.data();
    };
  });
  add<T>("A3", n, "eigen", tol, [=] {
    return [x = vec(in_x<T>(n)), a = vec(in_a<T>(n)), d = vec(buffer<T>(n))]() mutable -> const T* {
      d = (((T(0.5) * x + T(1.25)) * x - T(0.75)) * x + T(2)) / (x * x + T(1.5)) + a;
      return d.data();
    };
  });
  add<T>("A6", n, "eigen", 1e-3, [=] {
    return [x = vec(in_x<T>(n)), z = vec(in_z<T>(n)), s = T(0)]() mutable -> const T* {
      s = (x - z).square().sum();
      return &s;
    };
  });
  add<T>("A9", n, "eigen", tol, [=] {
    return [x = vec(in_x<T>(n)), d = vec(buffer<T>(n))]() mutable -> const T* {
      d = (x > T(0)).select(x, T(0.1) * x);
      return d.data();
    };
  });
}
template <class T> void eigens_2d(double tol) {
  constexpr Eigen::Index R = norm_rows, C = norm_columns, S = square, M = sum_square;
  add<T>("A4", R * C, "eigen", tol, [=] {
    return [x = mat(in_x<T>(R * C), R, C), m = vec(in_a<T>(R)), v = vec(in_var<T>(R)), g = vec(in_b<T>(C)), b = vec(in_c<T>(C)),
            d = matrix<T>(R, C)]() mutable -> const T* {
      d = ((x.colwise() - m).colwise() / (v + T(1e-5)).sqrt()).rowwise() * g.transpose();
      d.rowwise() += b.transpose();
      return d.data();
    };
  });
  add<T>("rows3", 3 * few, "eigen", tol, [=] {
    return [a = mat(in_a<T>(3 * few), few, 3), c = vec(in_b<T>(few)), d = matrix<T>(few, 3)]() mutable -> const T* {
      d = a.array().colwise() * c.array();
      return d.data();
    };
  });
  add<T>("squares3", 3 * few, "eigen", tol, [=] {
    return [a = mat(in_a<T>(3 * few), few, 3), d = vec(buffer<T>(few))]() mutable -> const T* {
      d = a.rowwise().squaredNorm();
      return d.data();
    };
  });
  add<T>("steps8", 8 * few, "eigen", tol, [=] {
    return [a = mat(in_a<T>(8 * few), few, 8), d = mat(buffer<T>(8 * few), few, 8)]() mutable -> const T* {
      for (Eigen::Index i = 0; i + 1 < Eigen::Index(few); ++i) d.row(i + 1) = T(0.5) * d.row(i) + a.row(i + 1);
      return d.data();
    };
  });
  add<T>("A5", S * S, "eigen", tol, [=] {
    return [a = mat(in_a<T>(S * S), S, S), b = mat(in_b<T>(S * S), S, S), d = matrix<T>(S, S)]() mutable -> const T* {
      d = a + b.transpose();
      return d.data();
    };
  });
  add<T>("A7", R * C, "eigen", tol, [=] {
    return [x = mat(in_x<T>(R * C), R, C), d = matrix<T>(R, C)]() mutable -> const T* {
      d = (x.colwise() - x.rowwise().maxCoeff()).exp();
      d.colwise() /= d.rowwise().sum().eval();
      return d.data();
    };
  });
  add<T>("A7", R * C, "eigen_rows", tol, [=] {
    return [=, x = mat(in_x<T>(R * C), R, C), d = matrix<T>(R, C)]() mutable -> const T* {
      for (Eigen::Index i = 0; i < R; ++i) {
        d.row(i) = (x.row(i) - x.row(i).maxCoeff()).exp();
        d.row(i) *= T(1) / d.row(i).sum();
      }
      return d.data();
    };
  });
  add<T>("A8rows", M * M, "eigen", tol, [=] {
    return [x = mat(in_x<T>(M * M), M, M), d = vector<T>(M)]() mutable -> const T* {
      d = x.rowwise().sum();
      return d.data();
    };
  });
  add<T>("A8columns", M * M, "eigen", tol, [=] {
    return [x = mat(in_x<T>(M * M), M, M), d = vector<T>(M)]() mutable -> const T* {
      d = x.colwise().sum().transpose();
      return d.data();
    };
  });
}
#endif

// ---- small statements --------------------------------------------------------------------------------------------------
template <class T> void small(std::size_t n) {
  const std::string name = std::string("small/") + type_name<T> + "/" + std::to_string(n) + "/";
  benchmark::RegisterBenchmark((name + "hand_loop").c_str(), [n](benchmark::State& state) {
    const auto a = in_a<T>(n), b = in_b<T>(n), c = in_c<T>(n);
    buffer<T> d(n);
    for (auto _ : state) {
      T* __restrict p = d.data();
      for (std::size_t i = 0; i < n; ++i) p[i] = a[i] * b[i] + c[i];
      benchmark::ClobberMemory();
    }
  });
  benchmark::RegisterBenchmark((name + "ttensor").c_str(), [n](benchmark::State& state) {
    const auto a = array(in_a<T>(n), n), b = array(in_b<T>(n), n), c = array(in_c<T>(n), n);
    auto d = array(buffer<T>(n), n);
    for (auto _ : state) {
      d = a * b + c;
      benchmark::ClobberMemory();
    }
  });
#if defined(TTENSOR_BENCH_EIGEN)
  benchmark::RegisterBenchmark((name + "eigen").c_str(), [n](benchmark::State& state) {
    const auto a = vec(in_a<T>(n)), b = vec(in_b<T>(n)), c = vec(in_c<T>(n));
    auto d = vec(buffer<T>(n));
    for (auto _ : state) {
      d = a * b + c;
      benchmark::ClobberMemory();
    }
  });
#endif
}
// Building and dropping a three-leaf expression: its price is that of three handles on storage. On two threads: bench_threads.
struct three_operands {
  tt::tensor<double, 1> a = array(in_a<double>(8), 8), b = array(in_b<double>(8), 8), c = array(in_c<double>(8), 8);
};
[[gnu::noinline]] void build(const three_operands& s) {  // through a reference, as programs do: the compiler knows nothing of s
  auto e = s.a * s.b + s.c;
  benchmark::DoNotOptimize(e);
}
void build_and_drop(benchmark::State& state) {
  const three_operands s;
  for (auto _ : state) build(s);
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::size_t n : {std::size_t(1000), std::size_t(100000), std::size_t(10000000)}) {
    floors<float>(n, 3e-6), floors<double>(n, 6e-15);
    ours<float>(n, 3e-6), ours<double>(n, 6e-15);
#if defined(TTENSOR_BENCH_EIGEN)
    eigens<float>(n, 3e-6), eigens<double>(n, 6e-15);
#endif
  }
  floors_2d<float>(3e-6), floors_2d<double>(6e-15);
  ours_2d<float>(3e-6), ours_2d<double>(6e-15);
#if defined(TTENSOR_BENCH_EIGEN)
  eigens_2d<float>(3e-6), eigens_2d<double>(6e-15);
#endif
  for (const std::size_t n : {std::size_t(4), std::size_t(8), std::size_t(64)}) small<float>(n), small<double>(n);
  benchmark::RegisterBenchmark("build_and_drop/f64/8/ttensor", build_and_drop);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
