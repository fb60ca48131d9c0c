// Threads: the same bits whatever their number, none below the threshold, errors come through, and two threads may
// differentiate at once while each has helpers. Built with OpenMP, with oneTBB, and with std::thread for the thread sanitizer.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <complex>
#include <cstring>
#include <string>
#include <thread>
#include <ttensor/transform.hpp>
#include <vector>
#if defined(_OPENMP)
#include <omp.h>
#endif

namespace tt = ttensor;
using tt::index_t;

namespace {

constexpr index_t rows = 1543, cols = 517;
#if defined(TTENSOR_USE_STD_THREADS)  // under a thread sanitizer
constexpr int counts[] = {3};
#elif defined(TTENSOR_USE_TBB)  // not optimised
constexpr int counts[] = {2, 7};
#else
constexpr int counts[] = {2, 3, 4, 7};
#endif
template <class T> tt::tensor<T, 1> wave(index_t n, double step) {
  tt::tensor<T, 1> x(n);
  T* p = x.data();
  for (index_t i = 0; i < n; ++i) p[i] = static_cast<T>(std::sin(step * static_cast<double>(i)) + 0.3);
  return x;
}
template <class T, auto R> std::vector<unsigned char> bits(const tt::tensor<T, R>& x) {
  std::vector<unsigned char> b(static_cast<std::size_t>(x.size()) * sizeof(T));
  std::memcpy(b.data(), x.data(), b.size());
  return b;
}
template <class T> requires(std::is_floating_point_v<T> || tt::complex_number<T>) std::vector<unsigned char> bits(T x) {
  std::vector<unsigned char> b(sizeof(T));
  std::memcpy(b.data(), &x, sizeof(T));
  return b;
}
/// f() gives the same bits for every number of threads, and uses helpers when it may.
template <class F> void same_bits(const char* what, F f) {
  const std::string name = what;
  CAPTURE(name);
  tt::run::thread_stats = {};
  const auto one = bits(f());
  CHECK(tt::run::thread_stats.regions == 0);
  for (int n : counts) {
    CAPTURE(n);
    tt::run::thread_stats = {};
    const auto many = tt::with(tt::threads{n}, [&] { return bits(f()); });
    CHECK(many == one);
    CHECK((tt::run::thread_stats.regions > 0) == tt::run::has_threads);
  }
}


template <class T> void numbers() {
  const auto flat = wave<T>(rows * cols, 0.7);
  const auto x = tt::eval(tt::reshape(flat, rows, cols)), z = tt::eval(tt::reshape(wave<T>(rows * cols, 0.11), rows, cols));
  const auto bias = wave<T>(cols, 0.3);
  const auto tall = tt::eval(tt::reshape(wave<T>(800004, 0.9), 200001, 4));
  same_bits("map", [&] { return tt::eval(tt::exp(-x * x) * tt::sin(x) + z); });
  same_bits("broadcast", [&] { return tt::eval(tt::exp(x) * bias); });
  same_bits("transposed", [&] { return tt::eval(tt::transpose(x) + tt::transpose(x * z)); });
  same_bits("one transposed", [&] { return tt::eval(tt::transpose(x) * tt::reshape(z, cols, rows)); });
  same_bits("in place", [&] {
    auto y = x;
    y += z * y;
    return y;
  });
  same_bits("region", [&] {
    auto y = tt::eval(x * 1);
    y(tt::all, tt::range(0, cols, 2)) = tt::exp(z(tt::all, tt::range(0, cols, 2)));
    return y;
  });
  same_bits("sum", [&] { return tt::sum(tt::exp(x) * z); });
  same_bits("sum of a broadcast", [&] { return tt::sum(tt::exp(x) * bias); });
  same_bits("sum of every second", [&] { return tt::sum(flat(tt::range(0, rows * cols, 2)) * 3); });
  same_bits("mean", [&] { return tt::mean(x * z); });
  same_bits("max", [&] { return tt::max(tt::exp(x) * z); });
  same_bits("logsumexp", [&] { return tt::logsumexp(x); });
  same_bits("rows", [&] { return tt::eval(tt::sum(x * z, 1)); });
  same_bits("columns", [&] { return tt::eval(tt::sum(x * z, 0)); });
  same_bits("columns of a transposed", [&] { return tt::eval(tt::sum(tt::transpose(x), 0)); });
  same_bits("tall", [&] { return tt::eval(tt::sum(tall, 0)); });
  same_bits("wide", [&] { return tt::eval(tt::sum(tt::transpose(tall), 1)); });
  same_bits("max of columns", [&] { return tt::eval(tt::max(x, 0)); });
  same_bits("logsumexp of rows", [&] { return tt::eval(tt::logsumexp(x, 1)); });
  same_bits("product", [&] { return tt::eval(tt::matmul(x(tt::range(0, 200)), tt::transpose(z))); });
  same_bits("product of columns", [&] { return tt::eval(tt::matmul(tt::transpose(tall), tall)); });
  const auto square = tt::eval(tt::reshape(wave<T>(1500 * 1501, 0.4), 1500, 1501));
  same_bits("matrix and vector", [&] { return tt::eval(tt::matmul(square, tt::reshape(square, 1500 * 1501)(tt::range(0, 1501)))); });
  same_bits("vector and matrix", [&] { return tt::eval(tt::matmul(square(tt::all, 0), square)); });
}
}  // namespace

TEST_CASE("values have the same bits for any number of threads: double") { numbers<double>(); }
#if !defined(TTENSOR_USE_TBB)  // two of three: the pieces of a loop are the same
TEST_CASE("values have the same bits for any number of threads: float") { numbers<float>(); }
#endif

TEST_CASE("gradients have the same bits for any number of threads") {
  const auto x = tt::eval(tt::reshape(wave<double>(rows * cols, 0.7), rows, cols));
  const auto bias = wave<double>(cols, 0.3);
  const auto column = tt::eval(tt::reshape(wave<double>(rows, 0.2), rows, 1));
  auto loss = [](const auto& a, const auto& b, const auto& c, const auto& s) { return tt::sum(tt::tanh(a * b + c) * s); };
  const double s = 0.7;
  same_bits("array", [&] { return tt::grad<0>(loss)(x, bias, column, s); });
  same_bits("row", [&] { return tt::grad<1>(loss)(x, bias, column, s); });
  same_bits("column", [&] { return tt::grad<2>(loss)(x, bias, column, s); });
  same_bits("scalar", [&] { return tt::grad<3>(loss)(x, bias, column, s); });
  auto cheap = [](const auto& a, const auto& b) { return tt::sum(tt::sum((a - b) * (a - b), 0) * b); };
  same_bits("not fused into the value", [&] { return tt::grad<1>(cheap)(x, bias); });
  auto shifted = [](const auto& a) { return tt::sum(a(tt::range(1, rows)) * a(tt::range(0, rows - 1))); };
  same_bits("overlapping targets", [&] { return tt::grad(shifted)(x); });
  same_bits("forward", [&] { return tt::jvp([](const auto& a) { return tt::sum(tt::exp(a) * a, 0); }, x, x).y_dot; });
}

TEST_CASE("sums of complex numbers and their gradients have the same bits for any number of threads") {
  using C = std::complex<float>;
  const auto flat = wave<float>(rows * cols, 0.7);
  const tt::tensor<C, 2> z = tt::reshape(flat * C(0.3f, -1), rows, cols);
  const tt::tensor<C, 1> bias = z(0);
  same_bits("product", [&] { return tt::eval(z * bias + z); });
  same_bits("sum", [&] { return tt::sum(z * bias); });
  same_bits("columns", [&] { return tt::eval(tt::sum(z * bias, 0)); });
  same_bits("rows", [&] { return tt::eval(tt::sum(z * bias, 1)); });
  same_bits("scalar", [&] { return tt::grad([&](auto w) { return tt::sum(real(w * z * z)); })(C(1)); });
  same_bits("row", [&] { return tt::grad([&](const auto& b) { return tt::sum(abs(b * z)); })(bias); });
}

TEST_CASE("values are right, whatever the threads") {
  const auto x = wave<double>(400000, 0.7);
  double sum = 0;
  for (index_t i = 0; i < x.size(); ++i) sum += x.data()[i];
  tt::with(tt::threads{3}, [&] {
    CHECK(tt::sum(x) == doctest::Approx(sum).epsilon(1e-12));
    const auto y = tt::eval(x * 2 + 1);
    bool right = true;
    for (index_t i = 0; i < x.size(); ++i) right = right && y.data()[i] == 2 * x.data()[i] + 1;
    CHECK(right);
    CHECK(tt::grad([](const auto& a) { return tt::sum(a * a); })(x)(7) == 2 * x(7));
  });
}

TEST_CASE("small statements use no thread") {
  const auto x = wave<double>(1000, 0.7);
  tt::run::thread_stats = {};
  tt::with(tt::threads{4}, [&] {
    const auto y = tt::eval(tt::exp(x) * x);
    CHECK(tt::sum(y) != 0);
    CHECK(tt::grad([](const auto& a) { return tt::sum(tt::exp(a)); })(x)(0) > 0);
  });
  CHECK(tt::run::thread_stats.regions == 0);
}

TEST_CASE("the number belongs to the thread and to the block") {
  CHECK(tt::num_threads() == 1);
  tt::with(tt::threads{3}, [&] {
    CHECK(tt::num_threads() == 3);
    std::thread([] { CHECK(tt::num_threads() == 1); }).join();
  });
  CHECK(tt::num_threads() == 1);
  CHECK_THROWS_AS(tt::with(tt::threads{2}, [] { throw 1; }), int);
  CHECK(tt::num_threads() == 1);
  CHECK_THROWS_WITH_AS(tt::set_num_threads(0), "[threads] 0 threads; a statement needs at least 1 [TT-D11]", tt::domain_error);
  tt::set_num_threads(2);
  CHECK(tt::num_threads() == 2);
  tt::set_num_threads(1);
}

TEST_CASE("what a piece throws is thrown by the statement, and a piece has no pieces") {
  auto statement = [](int depth, int fails) {
    tt::run::with_team(3, [&] {
      auto f = [&](auto&& self, int d, int number) -> void {
        CHECK(tt::run::threads_for(index_t(1) << 40) == 1);
        if (d == 0) {
          if (number == fails) tt::raise<tt::domain_error>("[test] piece [TT-D99]");
          return;
        }
        tt::run::fork([&] { self(self, d - 1, 2 * number); }, [&] { self(self, d - 1, 2 * number + 1); });
      };
      f(f, depth, 0);
    });
  };
  CHECK_NOTHROW(statement(4, -1));
  for (int fails : {0, 7, 15}) CHECK_THROWS_AS(statement(4, fails), tt::domain_error);
}

#if defined(_OPENMP)
TEST_CASE("a worker of OpenMP records nothing, the thread of the transform goes on") {
  const auto x = wave<double>(1000, 0.7);
  int refused = 0, recorded = 0, others = 0;
  const auto g = tt::grad([&](const auto& v) {
    const auto y = tt::eval(v * v);
    const auto s = y(3) * 2.0;
    auto more = s;  // recorded in the region, by the thread whose level it is
#pragma omp parallel num_threads(3) reduction(+ : refused, recorded, others)
    {
      const bool own = omp_get_thread_num() == 0;
      const auto records = [&](const auto& f) {
        try {
          f();
          ++recorded;
        } catch (const tt::level_error& e) {
          refused += std::string(e.what()).find("of another thread") != std::string::npos;
        }
      };
      if (own) {
        records([&] { more = s * s; });
      } else {
        ++others;
        records([&] { static_cast<void>(tt::eval(y * v)); });
        records([&] { static_cast<void>(tt::sum(y)); });
        records([&] { static_cast<void>(s * s); });
        records([&] { static_cast<void>(y(1) + v(1)); });
        records([&] { static_cast<void>(tt::grad([&](auto t) { return t * s; })(2.0)); });  // its own level may be new, s is of another thread's
      }
    }
    return tt::sum(y) + more;
  })(x);
  CHECK(others > 0);
  CHECK(refused == 5 * others);
  CHECK(recorded == 1);
  CHECK(g(3) == doctest::Approx(2 * x(3) + 16 * x(3) * x(3) * x(3)));
  CHECK(g(4) == 2 * x(4));
}
TEST_CASE("a gradient inside a worker of OpenMP is its own") {
  double slope[4] = {};
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 4; ++i) slope[i] = tt::grad([&](auto t) { return t * tt::grad([&](auto u) { return u * u * t; })(2.0); })(1.0 + i);  // 4 t^2
  for (int i = 0; i < 4; ++i) CHECK(slope[i] == 8.0 * (1 + i));
}
#endif

TEST_CASE("two threads differentiate at once, each with helpers") {
  const auto x = wave<double>(300000, 0.7);
  auto loss = [](const auto& a) { return tt::sum(tt::exp(a) * a); };
  const auto expected = bits(tt::grad(loss)(x));
  std::atomic<int> wrong = 0;
  auto work = [&] {
    tt::set_num_threads(2);
    for (int k = 0; k < 5; ++k) wrong += bits(tt::grad(loss)(x)) != expected;
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
  CHECK(wrong == 0);
}
