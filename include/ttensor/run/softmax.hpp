// softmax, log_softmax and logsumexp of rows whose elements lie side by side. A row is walked two or three times while it stays in the
// nearest cache: its largest element, the exponentials with their sum, the results. Of short rows as many as a pack has lanes are taken
// at once, a row a lane: along the row every one would wait for its largest element, its sum and its quotient.
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
    if (n < few)
      return each_few<true>(x, rows, n, [=](index_t i, lanes& l) {
        const P f = convert<T>(D(1) / select(l.sum == D(0), D(1), l.sum));
        l.give(y + i * n, [&](const P& e) { return e * f; });
      });
    each(rows, n, [=](index_t i) {
      const peak p = exponentials<true>(x + i * n, y + i * n, n);
      map(y + i * n, y + i * n, n, [f = p.sum == 0 ? T(1) : static_cast<T>(1 / p.sum)](auto v) { return v * decltype(v)(f); });
    });
  }
  /// log(sum(exp(x))), one for each row; -inf where a row is all -inf.
  static void logsumexp(const T* x, T* y, index_t rows, index_t n) {
    if (n < few)
      return each_few<false>(x, rows, n, [=](index_t i, const lanes& l) {
        T out[W];
        convert<T>(math::log(l.sum) + convert<double>(l.largest)).store(out);
        for (index_t r = 0; r < l.rows; ++r) y[i + r] = out[r];
      });
    each(rows, n, [=](index_t i) {
      const peak p = exponentials<false>(x + i * n, nullptr, n);
      y[i] = static_cast<T>(math::log(p.sum) + static_cast<double>(p.largest));
    });
  }
  /// log(softmax(x)); y may be x. -inf where a row is all -inf.
  static void log_softmax(const T* x, T* y, index_t rows, index_t n) {
    if (n < few)
      return each_few<false>(x, rows, n, [=](index_t i, lanes& l) {
        const P t = convert<T>(select(l.sum == D(0), D(0), math::log(l.sum)));
        l.give(y + i * n, [&](const P& e) { return e - l.largest - t; });
      });
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
  static constexpr index_t few = 16;  // elements. Rows that are shorter are taken W at once: with AVX-512 many take a twelfth to a third of the time, a single one 0.7 to 1.6
  using D = pack<double, W>;
  struct lanes {  // a peak a lane
    P largest;
    D sum;
    index_t n, rows;  // elements of a row; rows that there are, further lanes repeat the first
    T v[few * W];     // element j of row r at j W + r: of x or, Kept, its exponential
    template <class F> void give(T* y, F&& f) {
      for (index_t j = 0; j < n; ++j) f(P::load(v + j * W)).store(v + j * W);
      for (index_t r = 0; r < rows; ++r)
        for (index_t j = 0; j < n; ++j) y[r * n + j] = v[j * W + r];
    }
  };
  template <bool Kept, class F> static void each_few(const T* x, index_t rows, index_t n, const F& f) {
    each((rows + W - 1) / W, n * W, [=](index_t i) {
      lanes l{P(lowest), D(0), n, rows - i * W < W ? rows - i * W : W, {}};
      const T* const from = x + i * W * n;
      for (index_t r = 0; r < W; ++r)
        for (index_t j = 0; j < n; ++j) l.v[j * W + r] = from[(r < l.rows ? r : 0) * n + j];
      for (index_t j = 0; j < n; ++j) l.largest = math::detail::max_raw(P::load(l.v + j * W), l.largest);
      l.largest = select((l.largest > P(lowest)) & (l.largest < P(-lowest)), l.largest, P(0));
      for (index_t j = 0; j < n; ++j) {
        const P e = math::exp(P::load(l.v + j * W) - l.largest);
        if constexpr (Kept) e.store(l.v + j * W);
        l.sum = l.sum + convert<double>(e);
      }
      f(i * W, l);
    });
  }
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
    const auto part = [&](index_t first, index_t last) {
      for (; first < last; ++first) f(first);
    };
    const int team = threads_for(rows * n * cost);
    if (team == 1) return part(0, rows);
    with_team(team, [&] { in_parts(0, rows, 1, team * 4, part); });
  }
};

}  // namespace run
TTENSOR_END
