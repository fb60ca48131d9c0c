// A2 and D2 on one thread and on two: both in turn, so that the noise of the machine meets both. Prints medians and the median
// of the ratios. Then what building and dropping an expression costs each of two threads that share its operands.
// bench_threads [rounds]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <ttensor/transform.hpp>
#include <utility>
#include <vector>

namespace tt = ttensor;
using tt::index_t;

namespace {
double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}
template <class F> double seconds(int turns, F&& f) {
  const auto from = std::chrono::steady_clock::now();
  for (int i = 0; i < turns; ++i) f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count() / turns;
}
template <class F> void row(const char* name, index_t n, int rounds, F&& f) {
  const int turns = static_cast<int>(1 + 4'000'000 / n);
  std::vector<double> one, two, ratio;
  for (int r = 0; r < rounds; ++r) {
    one.push_back(seconds(turns, f));
    two.push_back(tt::with(tt::threads{2}, [&] { return seconds(turns, f); }));
    ratio.push_back(one.back() / two.back());
  }
  std::printf("| %s | %lld | %.1f us | %.1f us | %.2f |\n", name, static_cast<long long>(n), 1e6 * median(one), 1e6 * median(two), median(ratio));
}

struct operands {
  tt::tensor<double, 1> a, b, c;
};
double nanoseconds_per_build(const operands& s) {
  return 1e9 * seconds(1'000'000, [&] {
    auto e = s.a * s.b + s.c;
    asm volatile("" : : "g"(&e) : "memory");
  });
}
/// The same on two threads that start together: {first, second}. The first is this one or, with others = 2, a new one too.
std::pair<double, double> two_builders(const operands& s, int others) {
  std::atomic<int> missing{2};
  auto build = [&] {
    missing.fetch_sub(1);
    while (missing.load(std::memory_order_acquire) > 0) {}
    return nanoseconds_per_build(s);
  };
  double first = 0, second = 0;
  std::thread other([&] { second = build(); });
  if (others == 2) std::thread([&] { first = build(); }).join();
  else first = build();
  other.join();
  return {first, second};
}
// Holders made by the thread that allocated an array are counted without atomic operations, those of other threads with them.
void rows_of_builds(int rounds) {
  const operands s{tt::ones<double>(8), tt::ones<double>(8), tt::ones<double>(8)};  // this thread owns them
  std::vector<double> alone, owner, beside, others;
  for (int r = 0; r < rounds; ++r) {
    alone.push_back(nanoseconds_per_build(s));
    const auto [mine, its] = two_builders(s, 1);
    owner.push_back(mine), beside.push_back(its);
    const auto [one, two] = two_builders(s, 2);
    others.push_back((one + two) / 2);
  }
  std::printf("\nns to build and drop `a * b + c`, n = 8, on each thread; one thread owns the operands\n"
              "| the owner alone | the owner beside another | the other | each of two others |\n|---|---|---|---|\n| %.1f | %.1f | %.1f | %.1f |\n",
              median(alone), median(owner), median(beside), median(others));
}
}  // namespace

int main(int count, char** argument) {
  const int rounds = count > 1 ? std::atoi(argument[1]) : 15;
  std::printf("%s\n| row | n | one thread | two threads | one / two |\n|---|---|---|---|---|\n", tt::build_info().c_str());
  for (index_t n : {index_t(100'000), index_t(1'000'000), index_t(10'000'000)}) {
    tt::tensor<double, 1> x(n), z(n), y(n);
    for (index_t i = 0; i < n; ++i) {
      x.data()[i] = -3 + 6e-4 * static_cast<double>(i % 10'000);
      z.data()[i] = 1e-3 * static_cast<double>(i % 777);
    }
    row("A2", n, rounds, [&] { y = tt::exp(-x * x) * tt::sin(x) + tt::tanh(z); });
    row("D2", n, rounds, [&] { y = tt::grad([](const auto& v) { return sum(exp(-v * v) * sin(v)); })(x); });
  }
  rows_of_builds(rounds);
}
