// softmax, log_softmax and logsumexp of rows whose elements lie side by side. A row is walked two or three times while it stays in the
// nearest cache: its largest element, the exponentials with their sum, the results.
#pragma once
#include "../num/math.hpp"
#include "threads.hpp"

TTENSOR_BEGIN
namespace run {

template <class T> class softmax_rows {
  static constexpr int W = native_width_v<T>, block = 64 * W;  // elements whose exponentials are added in T
  static constexpr int cost = 24;                              // of an element, in units of one addition
  using P = pack<T, W>;
  static constexpr T lowest = -std::numeric_limits<T>::infinity();

 public:
  /// exp(x) / sum(exp(x)); y may be x. Of a row that is all -inf: zeros; NaN and +inf spread as in the quotient.
  static void softmax(const T* x, T* y, index_t rows, index_t n) {
    each(rows, n, [=](index_t i) {
      const peak p = exponentials<true>(x + i * n, y + i * n, n);
      map(y + i * n, y + i * n, n, [f = p.sum == 0 ? T(1) : static_cast<T>(1 / p.sum)](auto v) { return v * decltype(v)(f); });
    });
  }
  /// log(sum(exp(x))), one for each row; -inf where a row is all -inf.
  static void logsumexp(const T* x, T* y, index_t rows, index_t n) {
    each(rows, n, [=](index_t i) {
      const peak p = exponentials<false>(x + i * n, nullptr, n);
      y[i] = static_cast<T>(math::log(p.sum) + static_cast<double>(p.largest));
    });
  }
  /// log(softmax(x)); y may be x. -inf where a row is all -inf.
  static void log_softmax(const T* x, T* y, index_t rows, index_t n) {
    each(rows, n, [=](index_t i) {
      const peak p = exponentials<false>(x + i * n, nullptr, n);
      const T l = p.sum == 0 ? T(0) : static_cast<T>(math::log(p.sum));  // largest + log(sum), rounded, would lose digits where |x| is large
      map(x + i * n, y + i * n, n, [t = p.largest, l](auto v) { return v - decltype(v)(t) - decltype(v)(l); });
    });
  }

 private:
  struct peak {
    T largest;   // 0 where it is not finite
    double sum;  // of exp(x - largest)
  };
  template <bool Kept> static peak exponentials(const T* x, T* y, index_t n) {  // kept at y
    const index_t whole = n - n % W;
    T rest[W];  // what fills no pack, filled up with -inf, whose exponential is 0
    for (int i = 0; i < W; ++i) rest[i] = i < n - whole ? x[whole + i] : lowest;
    const T top = maximum(x, whole, rest);
    peak p{top > lowest && top < -lowest ? top : T(0), 0};
    const auto one = [&](index_t i) {
      const P e = math::exp(P::load(x + i) - P(p.largest));
      if constexpr (Kept) e.store(y + i);
      return e;
    };
    const auto add = [](T a, T b) { return a + b; };
    index_t i = 0;
    while (i < whole) {
      const index_t end = i + block < whole ? i + block : whole;
      P s0(T(0)), s1(T(0));
      for (; i + 2 * W <= end; i += 2 * W) s0 += one(i), s1 += one(i + W);
      if (i < end) s0 += one(i), i += W;
      p.sum += static_cast<double>(fold(s0 + s1, add));
    }
    if (whole < n) {
      const P e = math::exp(P::load(rest) - P(p.largest));
      p.sum += static_cast<double>(fold(e, add));
      e.store(rest);
      if constexpr (Kept)
        for (; i < n; ++i) y[i] = rest[i - whole];
    }
    return p;
  }
  static T maximum(const T* x, index_t whole, const T* rest) {  // without an order for NaN, which the sum finds
    namespace m = math::detail;
    P m0(lowest), m1(lowest), m2(lowest), m3(lowest);
    index_t i = 0;
    for (; i + 4 * W <= whole; i += 4 * W) {
      m0 = m::max_raw(P::load(x + i), m0), m1 = m::max_raw(P::load(x + i + W), m1);
      m2 = m::max_raw(P::load(x + i + 2 * W), m2), m3 = m::max_raw(P::load(x + i + 3 * W), m3);
    }
    for (; i < whole; i += W) m0 = m::max_raw(P::load(x + i), m0);
    m0 = m::max_raw(m::max_raw(P::load(rest), m0), m::max_raw(m1, m::max_raw(m2, m3)));
    return fold(m0, [](T a, T b) { return a > b ? a : b; });
  }
  template <class F> static void map(const T* x, T* y, index_t n, F f) {
    index_t i = 0;
    for (; i + W <= n; i += W) f(P::load(x + i)).store(y + i);
    for (; i < n; ++i) y[i] = f(x[i]);
  }
  template <class F> TTENSOR_NOINLINE static void each(index_t rows, index_t n, const F& f) {
    const int team = threads_for(rows * n * cost);
    if (team == 1) return cut(0, rows, f, 1);
    with_team(team, [&] { cut(0, rows, f, team * 4); });
  }
  template <class F> static void cut(index_t first, index_t last, const F& f, int tasks) {
    if (tasks > 1 && last - first > 1) {
      const index_t half = first + (last - first) / 2;
      return fork([&] { cut(first, half, f, tasks / 2); }, [&] { cut(half, last, f, tasks / 2); });
    }
    for (; first < last; ++first) f(first);
  }
};

}  // namespace run
TTENSOR_END
