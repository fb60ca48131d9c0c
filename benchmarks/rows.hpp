// What programs of small benchmarks share, Eigen on one thread where it is found too: a row has a contender for each `who`, and table.py reads <row>/<who>.
#pragma once
#include <benchmark/benchmark.h>

#include <string>
#if defined(TTENSOR_BENCH_EIGEN)
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Dense>
#endif

namespace rows {
template <class... T> void fresh(T&... x) { (benchmark::DoNotOptimize(x), ...); }  // read again, and written

template <class F> void add(const std::string& row, const char* who, F one) {
  benchmark::RegisterBenchmark((row + "/" + who).c_str(), [one](benchmark::State& state) mutable {
    for (auto _ : state) one();
  });
}
}  // namespace rows
