// Kernel bodies and their planner, run on the CPU: the objects that a device launches, thread by thread, against plain loops.
#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <vector>
#include <ttensor/ops/bitwise.hpp>
#include <ttensor/ops/comparison.hpp>
#include <ttensor/ops/power.hpp>
#include <ttensor/ops/trigonometric.hpp>
#include "device_programs.hpp"

using namespace ttensor;

namespace {
template <class T> struct memory {  // one element past the end is another allocation's: sanitizers see every overrun
  std::unique_ptr<T[]> p;
  T* get() const { return p.get(); }
};
struct loop {  // an executor: every thread of the launch, one after the other
  index_t thread_count;
  mutable int launches = 0, by_rows = 0;
  index_t threads(index_t) const { return thread_count; }
  template <class F> void launch(const F& body, index_t items) const {
    if (items == 0) return;
    ++launches;
    if (thread_count < 256)
      for (index_t t = 0; t < thread_count; ++t) body(t, thread_count);  // some have more than one item
    else
      for (index_t t = 0; t < items + 5; ++t) body(t, run::one_each{});  // as a last block that is not full
  }
  template <class F> void spread(const F& body, index_t n) const {
    ++launches;
    for (index_t t = 0; t < n; ++t) body(t, n);
  }
  int log_block() const { return thread_count < 8 ? 0 : 5; }
  index_t filling() const { return thread_count; }
  template <class Red, class F> void fold(const F& f) const {  // as gpu::fold does, without threads
    using V = typename F::result;
    using I = typename F::index;
    ++launches;
    const auto combine = [](std::vector<V> v) {
      for (std::size_t d = v.size() / 2; d > 0; d /= 2)
        for (std::size_t p = 0; p < d; ++p) v[p] = Red::combine(v[p], v[p + d]);
      return v[0];
    };
    const std::size_t pieces = std::size_t(f.shape.pieces()), splits = std::size_t(f.shape.splits);
    CHECK(f.shape.log_pieces + f.shape.log_places == log_block());
    if constexpr (F::has_rows)
      if (f.shape.by_rows) {  // as gpu::fold_rows
        constexpr int rows = run::rows_at_once, groups = 32 / rows;
        ++by_rows;
        for (I first = 0; first < f.kept.items; first += rows * groups)
          for (int group = 0; group < groups; ++group) {
            std::vector<V> of_row[rows];
            for (int piece = 0; piece < rows; ++piece) {
              V acc[rows];
              f.fold_rows(acc, static_cast<I>(first + static_cast<I>(group)), static_cast<I>(groups), static_cast<I>(piece));
              for (int j = 0; j < rows; ++j) of_row[j].push_back(acc[j]);
            }
            for (int j = 0; j < rows; ++j)
              if (const I q = static_cast<I>(first + static_cast<I>(j * groups + group)); q < f.kept.items) f.put(q, combine(of_row[j]));
          }
        return;
      }
    for (I q = 0; q < f.kept.items; ++q) {
      std::vector<V> of_split;
      for (std::size_t s = 0; s < splits; ++s) {
        std::vector<V> of_piece;
        for (std::size_t p = 0; p < pieces; ++p) of_piece.push_back(f.fold(q, static_cast<I>(s * pieces + p)));
        of_split.push_back(combine(of_piece));
      }
      std::vector<V> all(pieces, Red::template identity<V>());
      for (std::size_t s = 0; s < splits; ++s) all[s % pieces] = Red::combine(all[s % pieces], of_split[s]);
      f.put(q, splits == 1 ? of_split[0] : combine(all));
    }
  }
  template <class T> memory<T> scratch(index_t n) const { return {std::unique_ptr<T[]>(new T[static_cast<std::size_t>(n)])}; }
  void zero(void* p, std::size_t bytes) const { std::memset(p, 0, bytes); }
};
template <class T> struct data {
  std::unique_ptr<T[]> p;
  index_t n;
  explicit data(index_t n_, unsigned seed = 1) : p(new T[static_cast<std::size_t>(n_)]), n(n_) {
    for (index_t i = 0; i < n; ++i) {
      seed = seed * 1664525u + 1013904223u;
      p[static_cast<std::size_t>(i)] = static_cast<T>(static_cast<double>(seed >> 8) * 0x1p-24 + 0.25);
    }
  }
  T operator[](index_t i) const { return p[static_cast<std::size_t>(i)]; }
  T* get() const { return p.get(); }
  auto vec() const { return device_leaf<T, 1>{p.get(), layout_map<1>::row_major({{n}})}; }
  template <int R> auto as(const dims<R>& e) const { return device_leaf<T, R>{p.get(), layout_map<R>::row_major(e)}; }
  auto into(T* g) const { return run::into_gradient<T>{p.get(), g, n}; }
};
template <class T> double tolerance() { return sizeof(T) == 4 ? 2e-6 : 4e-15; }
bool near(double got, double want, double tol) { return std::fabs(got - want) <= tol * (1 + std::fabs(want)); }

int squares_made = 0;
template <class T, int N> struct known_square {
  device_pack<T, N> value, slope;
  known_square() = default;
  explicit known_square(const device_pack<T, N>& x) : value(x * x), slope(x + x) { squares_made += N; }
};
/// a * a in two operators, each the other's beside a constant: what is known of an operand serves both, and their derivatives.
template <int Scale> struct counted_square_op : real_elementwise<1> {
  static constexpr const char* name = "counted_square";
  static constexpr unsigned reads(int) { return 1u; }
  template <class T, int N> using device_operand = known_square<T, N>;
  template <class A> static constexpr auto primal(const A& a) {
    if constexpr (requires { a.slope; }) return a.value + a.value * decltype(a.value)(Scale - 1);
    else return a * a * A(Scale);
  }
  template <class A, class Y> static constexpr auto partials(const A& a, const Y&) {
    if constexpr (requires { a.slope; }) return grads{a.slope + a.slope * decltype(a.slope)(Scale - 1)};
    else return grads{(a + a) * A(Scale)};
  }
};

constexpr index_t sizes[] = {0, 1, 3, 4, 5, 31, 1024, 1027};
constexpr index_t thread_counts[] = {1, 7, 256, 5000};
}  // namespace

TEST_CASE_TEMPLATE("map: exp(-x*x)*sqrt(x)+log(z), all sizes and thread counts", T, float, double) {
  for (index_t n : sizes)
    for (index_t threads : thread_counts) {
      data<T> x(n), z(n, 7), y(n, 9);
      run::device_map(loop{threads}, y.get(), test_programs::chain(x.vec(), z.vec()));
      int wrong = 0;
      for (index_t i = 0; i < n; ++i) {
        const double a = x[i], b = z[i];
        wrong += !near(y[i], std::exp(-a * a) * std::sqrt(a) + std::log(b), tolerance<T>());
      }
      CHECK_MESSAGE(wrong == 0, "n ", n, " threads ", threads);
    }
}

TEST_CASE_TEMPLATE("backward of the chain against its closed-form derivative", T, float, double) {
  for (index_t n : sizes)
    for (index_t threads : thread_counts)
      for (bool ones : {false, true}) {
        data<T> x(n), z(n, 7), ct(n, 3), gx(n, 11), gz(n, 13);
        const auto back = [&](auto cotangent) { run::device_backward(loop{threads}, test_programs::chain(x.vec(), z.vec()), cotangent, x.into(gx.get()), z.into(gz.get())); };
        ones ? back(run::ones<T>{}) : back(ct.get());
        int wrong = 0;
        for (index_t i = 0; i < n; ++i) {
          const double a = x[i], b = z[i], c = ones ? 1 : double(ct[i]), e = std::exp(-a * a), r = std::sqrt(a);
          wrong += !near(gx[i], c * (e * (0.5 / r) - 2 * a * e * r), tolerance<T>());
          wrong += !near(gz[i], c / b, tolerance<T>());
        }
        CHECK_MESSAGE(wrong == 0, "n ", n, " threads ", threads, " ones ", ones);
      }
}

TEST_CASE("an operator from outside the library, forward and backward") {
  for (index_t threads : thread_counts) {
    const index_t n = 1027;
    data<double> x(n), y(n), g(n);
    for (index_t i = 0; i < n; ++i) x.p[std::size_t(i)] -= 0.75;
    const auto e = test_programs::leaky(x.vec());
    static_assert(program_of<std::remove_const_t<decltype(e)>>::length == 3);  // x, the slope and the operator: it fuses as the library's do
    run::device_map(loop{threads}, y.get(), e);
    run::device_backward(loop{threads}, e, run::ones<double>{}, x.into(g.get()));
    int wrong = 0;
    for (index_t i = 0; i < n; ++i) {
      wrong += y[i] != (x[i] > 0 ? x[i] : 0.125 * x[i]);
      wrong += g[i] != (x[i] > 0 ? 1.0 : 0.125);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("what is known of an operand is computed once, and only where it is wanted twice") {
  const index_t n = 1027;
  data<float> x(n), y(n), g(n);
  const let_arg<0, 0, float, 1> a{{{n}}};
  const auto of_x = [&](const auto& body) { return let_node<0, std::remove_cvref_t<decltype(body)>, device_leaf<float, 1>>{make_bundle(x.vec()), body}; };
  const auto one = of_x(apply<counted_square_op<1>>(a));
  const auto read = of_x(apply<mul_op>(apply<counted_square_op<1>>(a), a));  // its derivative reads the square
  const auto two = of_x(apply<add_op>(apply<counted_square_op<1>>(a), apply<counted_square_op<3>>(a)));
  const auto made = [](auto f) {
    squares_made = 0;
    f();
    return squares_made;
  };
  int wrong = 0;
  const auto right = [&](const data<float>& got, float scale, auto of) {
    for (index_t i = 0; i < n; ++i) wrong += !near(got[i], scale * of(x[i]), 1e-6);
  };
  const auto square = [](float v) { return v * v; };
  const auto slope = [](float v) { return 2 * v; };
  CHECK(made([&] { run::device_map(loop{7}, y.get(), one); }) == 0);
  right(y, 1, square);
  CHECK(made([&] { run::device_map(loop{7}, y.get(), two); }) == n);
  right(y, 4, square);
  CHECK(made([&] { run::device_backward(loop{7}, one, run::ones<float>{}, x.into(g.get())); }) == 0);
  right(g, 1, slope);
  CHECK(made([&] { run::device_backward(loop{7}, read, run::ones<float>{}, x.into(g.get())); }) == n);
  right(g, 3, square);
  CHECK(made([&] { run::device_backward(loop{7}, two, run::ones<float>{}, x.into(g.get())); }) == n);
  right(g, 4, slope);
  CHECK(made([&] { run::device_sum(loop{7}, y.get(), two); }) == n);
  CHECK(wrong == 0);
}
TEST_CASE_TEMPLATE("gradients through sin and cos: on the host those of the two functions", T, float, double, half) {
  const index_t n = 1027;
  data<T> x(n), g(n);
  const let_arg<0, 0, T, 1> a{{{n}}};
  const auto check = [&](const auto& body) {
    const let_node<0, std::remove_cvref_t<decltype(body)>, device_leaf<T, 1>> e{make_bundle(x.vec()), body};
    using C = elem_t<scalar_t<decltype(e)>>;
    using one = device_pack<compute_t<T>, 1>;
    using ones = device_pack<compute_t<C>, 1>;
    using plain = sweep<program_of<std::remove_const_t<decltype(e)>>, type_list<one>>;
    run::device_backward(loop{7}, e, run::ones<C>{}, x.into(g.get()));
    int wrong = 0;
    for (index_t i = 0; i < n; ++i) {
      const auto want = plain::template reverse<1, ones>({{one(compute_t<T>(x[i]))}}, ones(1));
      wrong += !near(static_cast<double>(static_cast<compute_t<T>>(g[i])), static_cast<double>(at<plain::load_of(0)>(want).v[0]), std::is_same_v<T, half> ? 2e-3 : std::is_same_v<T, float> ? 2e-6 : 1e-14);  // the compiler may contract either
    }
    CHECK(wrong == 0);
  };
  const auto wave = apply<add_op>(apply<mul_op>(apply<sin_op>(a), apply<cos_op>(a)), apply<sin_op>(apply<add_op>(a, a)));
  check(wave);
  check(apply<mul_op>(wave, apply<cos_op>(apply<cast_op<double>>(a))));  // values of several types
}
TEST_CASE_TEMPLATE("sine and cosine as a device computes them together", T, float, double) {
  double worst = 0;
  const auto ulps = [](T got, long double want) {
    int exponent;
    std::frexp(static_cast<double>(want), &exponent);
    return std::fabs(static_cast<double>(static_cast<long double>(got) - want)) / std::ldexp(1.0, exponent - std::numeric_limits<T>::digits);
  };
  const auto check = [&](T x) {
    T s, c;
    math::detail::sin_and_cos_ordinary(x, s, c);
    worst = std::max({worst, ulps(s, std::sin(static_cast<long double>(x))), ulps(c, std::cos(static_cast<long double>(x)))});
  };
  unsigned seed = 5;
  for (int i = 0; i < 60000; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const double u = static_cast<double>(seed >> 8) * 0x1p-24 - 0.5;
    for (double range : {2.0, 30.0, 2e5}) check(static_cast<T>(u * range));
    check(static_cast<T>((i - 30000) * 1.57079632679489661923 * (1 + u * 1e-6)));  // where one of them is nearly 0
  }
  CHECK(worst < (sizeof(T) == 4 ? 1.6 : 1.5));
  CHECK(math::detail::is_ordinary_angle(T(-99999)));
  for (T x : {T(1e5), T(-1e5), std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()}) CHECK_FALSE(math::detail::is_ordinary_angle(x));
  T s, c;
  math::detail::sin_and_cos_ordinary(T(-0.0), s, c);
  CHECK((s == 0 && std::signbit(s) && c == 1));
}

TEST_CASE("exp of doubles as a device computes it") {
  double worst = 0;
  unsigned seed = 5;
  for (int i = 0; i < 100000; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const double x = (static_cast<double>(seed >> 8) * 0x1p-24 - 0.5) * (i % 2 ? 1415 : 3);
    const double got = math::detail::exp_ordinary(x);
    const long double want = std::exp(static_cast<long double>(x));
    int exponent;
    std::frexp(static_cast<double>(want), &exponent);
    worst = std::max(worst, static_cast<double>(std::fabs(static_cast<long double>(got) - want) / std::ldexp(1.0L, exponent - 53)));
  }
  CHECK(worst < 1);
  CHECK(math::detail::exp_ordinary(0.0) == 1);
  CHECK((math::detail::is_ordinary_exponent(-707.99) && math::detail::is_ordinary_exponent(0)));
  for (double x : {708.0, -708.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) CHECK_FALSE(math::detail::is_ordinary_exponent(x));
}

TEST_CASE("unaligned pointers take the one-element path") {
  const index_t n = 1023;
  data<float> x(n + 1), y(n + 1), z(n + 1, 5);
  const device_leaf<float, 1> a{x.get() + 1, layout_map<1>::row_major({{n}})}, b{z.get(), layout_map<1>::row_major({{n}})};
  run::device_map(loop{7}, y.get(), apply<add_op>(a, b));
  int wrong = 0;
  for (index_t i = 0; i < n; ++i) wrong += y[i] != x[i + 1] + z[i];
  CHECK(wrong == 0);
}

TEST_CASE("half, bfloat16, masks and integers") {
  for (index_t n : sizes)
    for (index_t threads : thread_counts) {
      data<half> h(n);
      data<float> f(n, 5), y(n);
      data<std::int32_t> k(n), m(n);
      for (index_t i = 0; i < n; ++i) k.p[std::size_t(i)] = std::int32_t(i * 7 - 50);
      run::device_map(loop{threads}, y.get(), apply<mul_op>(apply<cast_op<float>>(h.vec()), f.vec()));
      int wrong = 0;
      for (index_t i = 0; i < n; ++i) wrong += y[i] != float(h[i]) * f[i];
      data<half> g(n);
      run::device_map(loop{threads}, g.get(), apply<mul_op>(h.vec(), h.vec()));
      for (index_t i = 0; i < n; ++i) wrong += g[i] != half(float(h[i]) * float(h[i]));
      run::device_map(loop{threads}, m.get(), apply<where_op>(apply<greater_op>(k.vec(), 0), apply<div_op>(k.vec(), 3), apply<neg_op>(k.vec())));
      for (index_t i = 0; i < n; ++i) wrong += m[i] != (k[i] > 0 ? k[i] / 3 : -k[i]);
      std::unique_ptr<bool[]> b(new bool[std::size_t(n)]);
      run::device_map(loop{threads}, b.get(), apply<less_op>(f.vec(), 0.5));
      for (index_t i = 0; i < n; ++i) wrong += b[std::size_t(i)] != (f[i] < 0.5f);
      CHECK(wrong == 0);
    }
}

TEST_CASE("broadcast, transposed and reversed leaves") {
  for (index_t rows : {1, 3, 8})
    for (index_t cols : {1, 4, 5, 64})
      for (index_t threads : thread_counts) {
        data<float> a(rows * cols), row(cols, 3), col(rows, 5), y(rows * cols), t(rows * cols, 8);
        const auto A = a.as<2>({{rows, cols}});
        const auto C = col.as<2>({{rows, 1}});
        const device_leaf<float, 2> T{t.get(), {0, {{rows, cols}}, {{1, rows}}}};                                  // transposed
        const device_leaf<float, 2> B{a.get(), {rows * cols - 1, {{rows, cols}}, {{-cols, -1}}}};                  // both axes reversed
        const device_leaf<float, 0> s{row.get(), {0, {}, {}}};
        run::device_map(loop{threads}, y.get(), apply<add_op>(apply<mul_op>(apply<add_op>(A, row.vec()), C), apply<mul_op>(apply<add_op>(T, B), s)));
        int wrong = 0;
        for (index_t i = 0; i < rows; ++i)
          for (index_t j = 0; j < cols; ++j) {
            const double want = (a[i * cols + j] + row[j]) * col[i] + (t[j * rows + i] + a[rows * cols - 1 - i * cols - j]) * row[0];
            wrong += !near(y[i * cols + j], want, 1e-6);
          }
        CHECK_MESSAGE(wrong == 0, rows, " x ", cols, " threads ", threads);
      }
}

TEST_CASE_TEMPLATE("leaves that are contiguous along another axis than the result", T, float, double, half, std::int8_t) {
  int wrong = 0;
  const auto as_number = [](T v) { return static_cast<double>(v); };
  for (index_t rows : {1, 15, 16, 17, 64, 70, 130})
    for (index_t cols : {1, 16, 31, 64, 68})
      for (index_t offset : {0, 1})  // 1: no words fit
        for (index_t threads : {1, 300}) {
          const index_t depth = 2;
          data<T> a(depth * rows * cols + offset, 2), b(depth * rows * cols + offset, 5), row(cols, 3), col(rows, 4), y(depth * rows * cols + offset);
          for (auto* d : {&a, &b, &row, &col})
            for (index_t i = 0; i < d->n; ++i) d->p[std::size_t(i)] = static_cast<T>(static_cast<float>(i * 7919 % 29));
          const dims<3> e{{depth, rows, cols}};
          const device_leaf<T, 3> straight{a.get() + offset, layout_map<3>::row_major(e)}, turned{b.get() + offset, {0, e, {{rows * cols, 1, rows}}}},
              over{b.get() + offset, {0, e, {{1, depth, depth * rows}}}}, column{col.get(), {0, {{depth, rows, 1}}, {{0, 1, 1}}}};
          run::device_map(loop{threads}, y.get() + offset, apply<add_op>(apply<add_op>(straight, turned), apply<add_op>(row.vec(), column)));
          for (index_t k = 0; k < depth; ++k)
            for (index_t i = 0; i < rows; ++i)
              for (index_t j = 0; j < cols; ++j) {
                const index_t at = (k * rows + i) * cols + j + offset;
                wrong += as_number(y[at]) != as_number(a[at]) + as_number(b[k * rows * cols + j * rows + i + offset]) + as_number(row[j]) + as_number(col[i]);
              }
          run::device_map(loop{threads}, y.get() + offset, apply<add_op>(over, turned));
          for (index_t k = 0; k < depth; ++k)
            for (index_t i = 0; i < rows; ++i)
              for (index_t j = 0; j < cols; ++j)
                wrong += as_number(y[(k * rows + i) * cols + j + offset]) != as_number(b[k * rows * cols + j * rows + i + offset]) + as_number(b[k + i * depth + j * depth * rows + offset]);
        }
  CHECK(wrong == 0);
}

TEST_CASE("writing over a leaf is seen, unless it is the very place and order") {
  data<float> a(16), b(16, 3);
  const std::size_t bytes = 16 * sizeof(float);
  const auto A = a.as<2>({{4, 4}});
  const device_leaf<float, 2> At{a.get(), {0, {{4, 4}}, {{1, 4}}}}, row{a.get() + 8, {0, {{4, 4}}, {{0, 1}}}}, turned{a.get(), {15, {{4, 4}}, {{-4, -1}}}};
  CHECK_FALSE(run::device_overlaps(a.get(), bytes, apply<add_op>(A, b.as<2>({{4, 4}}))));
  CHECK(run::device_overlaps(a.get(), bytes, apply<add_op>(A, At)));
  CHECK(run::device_overlaps(a.get(), bytes, apply<add_op>(b.as<2>({{4, 4}}), row)));
  CHECK(run::device_overlaps(a.get(), bytes, apply<mul_op>(turned, 2.0f)));
  CHECK(run::device_overlaps(a.get() + 4, 12 * sizeof(float), device_leaf<float, 1>{a.get(), layout_map<1>::row_major({{12}})}));
  CHECK_FALSE(run::device_overlaps(b.get(), bytes, apply<add_op>(A, At)));
}

TEST_CASE("backward of broadcast leaves sums over the axes they lack") {
  for (index_t rows : {1, 3, 8, 130})
    for (index_t cols : {1, 4, 5, 64})
      for (index_t threads : thread_counts) {
        data<double> a(rows * cols), row(cols, 3), col(rows, 5), s(1, 6), ct(rows * cols, 9);
        data<double> ga(rows * cols), grow(cols), gcol(rows), gs(1);
        const auto A = a.as<2>({{rows, cols}});
        const device_leaf<double, 2> At{a.get(), {0, {{cols, rows}}, {{1, cols}}}};
        const device_leaf<double, 0> S{s.get(), {0, {}, {}}};
        // y = (a + row) * col * s
        const auto y = apply<mul_op>(apply<mul_op>(apply<add_op>(A, row.vec()), col.as<2>({{rows, 1}})), S);
        run::device_backward(loop{threads}, y, static_cast<const double*>(ct.get()), a.into(ga.get()), row.into(grow.get()), col.into(gcol.get()), s.into(gs.get()));
        double want_s = 0;
        int wrong = 0;
        std::vector<double> want_row(std::size_t(cols), 0.0);
        for (index_t i = 0; i < rows; ++i) {
          double want_col = 0;
          for (index_t j = 0; j < cols; ++j) {
            const double c = ct[i * cols + j], u = a[i * cols + j] + row[j];
            wrong += !near(ga[i * cols + j], c * col[i] * s[0], 1e-13);
            want_row[std::size_t(j)] += c * col[i] * s[0];
            want_col += c * u * s[0];
            want_s += c * u * col[i];
          }
          wrong += !near(gcol[i], want_col, 1e-12);
        }
        for (index_t j = 0; j < cols; ++j) wrong += !near(grow[j], want_row[std::size_t(j)], 1e-12);
        wrong += !near(gs[0], want_s, 1e-12);
        CHECK_MESSAGE(wrong == 0, rows, " x ", cols, " threads ", threads);
        if (rows == cols) {  // two layouts of one array: a * transpose(a)
          run::device_backward(loop{threads}, apply<mul_op>(A, At), static_cast<const double*>(ct.get()), a.into(ga.get()));
          for (index_t i = 0; i < rows; ++i)
            for (index_t j = 0; j < cols; ++j) wrong += !near(ga[i * cols + j], a[j * cols + i] * (ct[i * cols + j] + ct[j * cols + i]), 1e-13);
          CHECK(wrong == 0);
        }
      }
}

TEST_CASE_TEMPLATE("gradients of leaves that are contiguous along another axis than the cotangent", T, float, double) {
  int wrong = 0;
  for (index_t rows : {3, 16, 70, 130})
    for (index_t cols : {16, 31, 68})
      for (index_t offset : {0, 1})
        for (bool ones : {false, true})
          for (index_t threads : {3, 300}) {
            const index_t n = rows * cols;
            data<T> a(n + offset, 2), b(n + offset, 5), s(1, 6), ct(n + offset, 9), ga(n + offset), gb(n + offset), gs(1);
            for (auto* d : {&a, &b, &s, &ct})
              for (index_t i = 0; i < d->n; ++i) d->p[std::size_t(i)] = static_cast<T>(i * 7919 % 29 + 1);
            const dims<2> e{{rows, cols}};
            const device_leaf<T, 2> straight{a.get() + offset, layout_map<2>::row_major(e)}, turned{b.get() + offset, {0, e, {{1, rows}}}};
            const device_leaf<T, 0> S{s.get(), {0, {}, {}}};
            const auto back = [&](auto cotangent) {
              run::device_backward(loop{threads}, apply<mul_op>(apply<mul_op>(apply<mul_op>(straight, turned), turned), S), cotangent,
                                   run::into_gradient<T>{a.get() + offset, ga.get() + offset, n}, run::into_gradient<T>{b.get() + offset, gb.get() + offset, n}, s.into(gs.get()));
            };
            ones ? back(run::ones<T>{}) : back(ct.get() + offset);
            double want_s = 0;
            for (index_t i = 0; i < rows; ++i)
              for (index_t j = 0; j < cols; ++j) {
                const index_t at = i * cols + j + offset, to = j * rows + i + offset;
                const double c = ones ? 1 : double(ct[at]), u = double(b[to]);
                wrong += double(ga[at]) != c * u * u * double(s[0]);
                wrong += double(gb[to]) != 2 * c * u * double(a[at]) * double(s[0]);
                want_s += c * u * u * double(a[at]);
              }
            wrong += gs[0] != static_cast<T>(want_s);
          }
  CHECK(wrong == 0);
}

TEST_CASE("an array in one statement whole and by its first row, in either order") {
  for (index_t threads : thread_counts)
    for (index_t rows : {1, 4})
      for (bool row_first : {false, true}) {
        const index_t cols = 8;
        data<float> a(rows * cols), g(rows * cols, 3), w(cols, 5), gw(cols, 9);
        for (index_t i = 0; i < a.n; ++i) a.p[std::size_t(i)] = float(i % 7 + 1);
        for (index_t i = 0; i < cols; ++i) w.p[std::size_t(i)] = float(i % 5 + 1);
        const auto A = a.as<2>({{rows, cols}});
        const device_leaf<float, 1> row{a.get(), layout_map<1>::row_major({{cols}})};
        const auto into = [&](const auto& e) { run::device_backward(loop{threads}, e, run::ones<float>{}, a.into(g.get())); };
        if (row_first) into(apply<mul_op>(row, A));
        else into(apply<mul_op>(A, row));
        int wrong = 0;
        for (index_t i = 0; i < rows; ++i)
          for (index_t j = 0; j < cols; ++j) {
            double want = a[j];
            for (index_t k = 0; k < rows && i == 0; ++k) want += double(a[k * cols + j]);
            wrong += double(g[i * cols + j]) != want;
          }
        run::device_backward(loop{threads}, apply<mul_op>(A, apply<mul_op>(w.vec(), w.vec())), run::ones<float>{}, w.into(gw.get()));  // two sums into one place
        for (index_t j = 0; j < cols; ++j) {
          double want = 0;
          for (index_t k = 0; k < rows; ++k) want += 2 * double(w[j]) * double(a[k * cols + j]);
          wrong += double(gw[j]) != want;
        }
        CHECK_MESSAGE(wrong == 0, rows, " rows, threads ", threads);
      }
}
TEST_CASE("a gradient of a wider type than its leaves, of a leaf with fewer axes") {
  const index_t rows = 6, cols = 16;
  data<half> x(rows * cols), w(cols, 3), gw(cols, 5);
  run::device_backward(loop{300}, apply<mul_op>(apply<cast_op<float>>(x.as<2>({{rows, cols}})), apply<cast_op<float>>(w.vec())), run::ones<float>{}, w.into(gw.get()));
  int wrong = 0;
  for (index_t j = 0; j < cols; ++j) {
    double want = 0;
    for (index_t i = 0; i < rows; ++i) want += double(float(x[i * cols + j]));
    wrong += !near(double(float(gw[j])), want, 1e-3);
  }
  CHECK(wrong == 0);
}
TEST_CASE("what of an array a statement does not read has a gradient of 0") {
  data<float> x(100), g(100, 7);
  const device_leaf<float, 1> part{x.get() + 20, layout_map<1>::row_major({{32}})};
  run::device_backward(loop{300}, apply<mul_op>(part, 3.0f), run::ones<float>{}, x.into(g.get()));
  int wrong = 0;
  for (index_t i = 0; i < 100; ++i) wrong += g[i] != (i >= 20 && i < 52 ? 3.0f : 0.0f);
  CHECK(wrong == 0);
}
TEST_CASE("sums of padded rows") {
  for (index_t cols : {5, 8, 13, 30})
    for (index_t threads : {1, 300}) {
      const index_t rows = 9, step = 32;
      data<double> a(rows * step), by_row(rows), by_column(cols), total(1);
      for (index_t i = 0; i < a.n; ++i) a.p[std::size_t(i)] = double(i % 13);
      const device_leaf<double, 2> m{a.get(), {0, {{rows, cols}}, {{step, 1}}}};
      const index_t row_stride[] = {1, 0}, column_stride[] = {0, 1};
      run::device_sum_into(loop{threads}, by_row.get(), row_stride, false, m);
      run::device_sum_into(loop{threads}, by_column.get(), column_stride, false, m);
      run::device_sum_into(loop{threads}, by_column.get(), column_stride, true, m);  // once more, on top
      run::device_sum(loop{threads}, total.get(), m);
      int wrong = 0;
      double all = 0;
      for (index_t i = 0; i < rows; ++i) {
        double want = 0;
        for (index_t j = 0; j < cols; ++j) want += a[i * step + j];
        wrong += by_row[i] != want, all += want;
      }
      for (index_t j = 0; j < cols; ++j) {
        double want = 0;
        for (index_t i = 0; i < rows; ++i) want += 2 * a[i * step + j];
        wrong += by_column[j] != want;
      }
      CHECK_MESSAGE((wrong == 0 && total[0] == all), cols);
    }
}

TEST_CASE_TEMPLATE("sums of short rows: a thread has words of several", T, float, double, half, std::int32_t) {
  constexpr index_t word = 16 / static_cast<index_t>(sizeof(T));
  for (index_t rows : {11, 16, 31, 33, 67})
    for (index_t words : {7, 8, 9, 32, 33})
      for (bool beside : {false, true}) {  // a column, which stays in place along the rows
        const index_t cols = words * word;
        data<T> a(rows * cols), b(rows * cols, 5), column(rows, 3);
        for (index_t i = 0; i < rows * cols; ++i) a.p[std::size_t(i)] = static_cast<T>(static_cast<float>(i * 7 % 11)), b.p[std::size_t(i)] = static_cast<T>(static_cast<float>(i % 5));
        for (index_t i = 0; i < rows; ++i) column.p[std::size_t(i)] = static_cast<T>(static_cast<float>(i % 3));
        const device_leaf<T, 2> A{a.get(), layout_map<2>::row_major({{rows, cols}})}, B{b.get(), layout_map<2>::row_major({{rows, cols}})};
        const device_leaf<T, 2> C{column.get(), {0, {{rows, 1}}, {{1, 1}}}};
        using S = reduced_t<T>;
        data<S> out(rows);
        const bool add = rows % 2 == 0;
        for (index_t i = 0; i < rows; ++i) out.p[std::size_t(i)] = S(5);
        const index_t by_row[] = {1, 0};
        const loop x{12};
        const auto into = [&](const auto& e) { run::device_sum_into(x, out.get(), by_row, add, e); };
        if (beside) into(apply<mul_op>(A, C));
        else into(apply<add_op>(apply<mul_op>(apply<cast_op<S>>(A), apply<cast_op<S>>(B)), S(1)));
        const index_t of_widest = words * index_t(sizeof(S)) / index_t(sizeof(T));  // words of the widest type
        CHECK(x.by_rows == (!beside && rows >= 12 && of_widest >= 8 && of_widest <= 32 && sizeof(T) >= 4));
        int wrong = 0;
        for (index_t i = 0; i < rows; ++i) {
          double want = add ? 5 : 0;
          for (index_t j = 0; j < cols; ++j)
            want += beside ? double(static_cast<T>(static_cast<float>(a[i * cols + j]) * static_cast<float>(column[i]))) : double(static_cast<float>(a[i * cols + j])) * double(static_cast<float>(b[i * cols + j])) + 1;
          wrong += double(static_cast<float>(out[i])) != double(static_cast<float>(static_cast<S>(want)));
        }
        CHECK_MESSAGE(wrong == 0, "rows ", rows, " words ", words, " beside ", beside);
      }
}

TEST_CASE("gradients of a column that short rows share: sums by rows of what is computed there") {
  const index_t rows = 45, cols = 32;
  data<float> m(rows * cols), ct(rows * cols, 4), c(rows, 2), g(rows);
  const device_leaf<float, 2> turned{m.get(), {0, {{cols, rows}}, {{1, cols}}}};  // a row of memory is a column of it, and meets one element of c
  for (bool ones : {false, true}) {
    const loop x{12};
    std::vector<float> seed(std::size_t(rows * cols));
    for (index_t i = 0; i < rows * cols; ++i) seed[std::size_t(i % cols * rows + i / cols)] = ct[i];
    const auto back = [&](auto cotangent) { run::device_backward(x, apply<mul_op>(turned, c.vec()), cotangent, c.into(g.get())); };
    ones ? back(run::ones<float>{}) : back(static_cast<const float*>(seed.data()));
    CHECK(x.by_rows == ones);  // the rows of the cotangent are not the matrix's
    int wrong = 0;
    for (index_t i = 0; i < rows; ++i) {
      double want = 0;
      for (index_t j = 0; j < cols; ++j) want += double(m[i * cols + j]) * (ones ? 1 : double(ct[i * cols + j]));
      wrong += !near(g[i], want, 1e-6);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("sums: any axes, and the same bits for the same number of threads") {
  for (index_t rows : {1, 3, 130})
    for (index_t cols : {1, 5, 2048})
      for (index_t threads : thread_counts) {
        data<float> a(rows * cols), total(1), by_row(rows), by_col(cols), again(1);
        const auto e = apply<mul_op>(a.as<2>({{rows, cols}}), a.as<2>({{rows, cols}}));
        const index_t row_stride[] = {1, 0}, col_stride[] = {0, 1};
        const loop x{threads};
        run::device_sum(x, total.get(), e);
        run::device_sum(x, again.get(), e);
        run::device_sum_into(x, by_row.get(), row_stride, false, e);
        run::device_sum_into(x, by_col.get(), col_stride, false, e);
        double want = 0;
        int wrong = 0;
        for (index_t i = 0; i < rows; ++i) {
          double w = 0;
          for (index_t j = 0; j < cols; ++j) w += double(a[i * cols + j]) * a[i * cols + j];
          want += w;
          wrong += !near(by_row[i], w, 1e-4);
        }
        for (index_t j = 0; j < cols; ++j) {
          double w = 0;
          for (index_t i = 0; i < rows; ++i) w += double(a[i * cols + j]) * a[i * cols + j];
          wrong += !near(by_col[j], w, 1e-4);
        }
        CHECK(wrong == 0);
        CHECK(near(total[0], want, 1e-3));
        CHECK(total[0] == again[0]);
      }
}

TEST_CASE("every binary operator of numbers has a device form, with the host's bits") {
  const index_t n = 1027;
  data<float> x(n), z(n, 7), y(n);
  data<std::int32_t> k(n), m(n), w(n);
  for (index_t i = 0; i < n; ++i) k.p[std::size_t(i)] = std::int32_t(i * 7919 - 50000), m.p[std::size_t(i)] = std::int32_t(i % 40 - 4);
  std::unique_ptr<bool[]> b(new bool[std::size_t(n)]);
  int wrong = 0;
  const auto floats = [&](const auto& e, auto want) {
    run::device_map(loop{7}, y.get(), e);
    for (index_t i = 0; i < n; ++i) wrong += y[i] != want(x[i], z[i]);
  };
  floats(apply<pow_op>(x.vec(), z.vec()), [](float a, float c) { return apply<pow_op>(a, c); });
  floats(apply<fma_op>(x.vec(), z.vec(), x.vec()), [](float a, float c) { return apply<fma_op>(a, c, a); });
  const auto integers = [&](const auto& e, auto want) {
    run::device_map(loop{7}, w.get(), e);
    for (index_t i = 0; i < n; ++i) wrong += w[i] != want(k[i], m[i]);
  };
  integers(apply<bit_and_op>(k.vec(), m.vec()), [](int a, int c) { return a & c; });
  integers(apply<bit_or_op>(k.vec(), m.vec()), [](int a, int c) { return a | c; });
  integers(apply<bit_xor_op>(k.vec(), m.vec()), [](int a, int c) { return a ^ c; });
  integers(apply<bit_not_op>(k.vec()), [](int a, int) { return ~a; });
  integers(apply<shift_left_op>(k.vec(), m.vec()), [](int a, int c) { return c < 0 || c > 31 ? 0 : static_cast<int>(static_cast<unsigned>(a) << c); });
  integers(apply<shift_right_op>(k.vec(), m.vec()), [](int a, int c) { return a >> (c < 0 || c > 31 ? 31 : c); });
  run::device_map(loop{7}, b.get(), apply<less_op>(apply<less_op>(k.vec(), 0), apply<less_op>(m.vec(), 0)));
  for (index_t i = 0; i < n; ++i) wrong += b[std::size_t(i)] != ((k[i] < 0) < (m[i] < 0));
  CHECK(wrong == 0);
}
TEST_CASE("floats are added up in double") {  // a million to one thread: 3.5e-3 when in float
  const index_t n = 1'000'000;
  data<float> x(n), s(1), total(1), g(1), ct(n);
  for (index_t i = 0; i < n; ++i) x.p[std::size_t(i)] = 0.1f, ct.p[std::size_t(i)] = 0.1f;
  run::device_sum(loop{1}, total.get(), x.vec());
  CHECK(total[0] == static_cast<float>(n * double(0.1f)));
  const device_leaf<float, 0> scale{s.get(), {0, {}, {}}};
  run::device_backward(loop{1}, apply<mul_op>(x.vec(), scale), run::ones<float>{}, s.into(g.get()));
  CHECK(g[0] == static_cast<float>(n * double(0.1f)));
}
TEST_CASE("what a backward pass cannot write is refused") {
  data<double> x(8), g(8), h(8), ct(12);
  const auto e = apply<mul_op>(x.vec(), x.vec());
  const auto code = [](auto f) {
    try {
      f();
    } catch (const device_error& error) {
      const std::string text = error.what();
      return text.substr(text.size() - 8);
    }
    return std::string();
  };
  CHECK(code([&] { run::device_backward(loop{1}, e, ct.get(), x.into(g.get()), x.into(h.get())); }) == "[TT-G03]");
  const device_leaf<double, 2> window{x.get(), {0, {{4, 3}}, {{1, 1}}}}, interleaved{x.get(), {0, {{2, 4}}, {{1, 2}}}};
  CHECK(code([&] { run::device_backward(loop{1}, apply<mul_op>(window, 2.0), ct.get(), x.into(g.get())); }) == "[TT-G04]");
  CHECK(code([&] { run::device_backward(loop{1}, apply<mul_op>(interleaved, 2.0), ct.get(), x.into(g.get())); }).empty());
  CHECK(code([&] { run::device_backward(loop{1}, e, ct.get(), x.into(ct.get())); }) == "[TT-G05]");
  CHECK(code([&] { run::device_backward(loop{1}, e, ct.get(), x.into(x.get())); }) == "[TT-G05]");
  CHECK(code([&] { run::device_backward(loop{1}, e, ct.get(), x.into(g.get())); }).empty());
  const device_leaf<double, 2> rows{x.get(), {0, {{3, 3}}, {{1, 0}}}}, columns{g.get(), {0, {{3, 3}}, {{0, 1}}}};  // an array that no gradient is asked of is read too
  CHECK(code([&] { run::device_backward(loop{1}, apply<mul_op>(rows, columns), ct.get(), run::into_gradient<double>{x.get(), g.get(), 3}); }) == "[TT-G05]");
}
