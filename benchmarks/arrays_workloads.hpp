// The array rows A1 to A9 of the benchmark list: inputs, double references, and one way to register a contender. A
// contender is a callable that makes its state and returns the body; the body returns a pointer to its results.
#pragma once
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rows {

template <class T> struct aligned {  // 64-byte aligned, as every contender's arrays are
  using value_type = T;
  aligned() = default;
  template <class U> aligned(const aligned<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(std::aligned_alloc(64, (n * sizeof(T) + 64) / 64 * 64)); }
  void deallocate(T* p, std::size_t) { std::free(p); }
  friend bool operator==(const aligned&, const aligned&) { return true; }
};
template <class T> using buffer = std::vector<T, aligned<T>>;

/// 64-bit linear congruential generator; the upper 24 bits are exact in float and double.
template <class T> buffer<T> random(std::size_t n, std::uint64_t seed, double low, double high) {
  buffer<T> v(n);
  std::uint64_t s = seed * 2862933555777941757u + 3037000493u;
  for (T& x : v) {
    s = s * 6364136223846793005u + 1442695040888963407u;
    x = static_cast<T>(low + (high - low) * (static_cast<double>(s >> 40) * 0x1p-24));
  }
  return v;
}
template <class T> buffer<T> in_a(std::size_t n) { return random<T>(n, 1, -1, 1); }
template <class T> buffer<T> in_b(std::size_t n) { return random<T>(n, 2, -1, 1); }
template <class T> buffer<T> in_c(std::size_t n) { return random<T>(n, 3, -1, 1); }
template <class T> buffer<T> in_x(std::size_t n) { return random<T>(n, 4, -3, 3); }
template <class T> buffer<T> in_z(std::size_t n) { return random<T>(n, 5, -2, 2); }
template <class T> buffer<T> in_var(std::size_t n) { return random<T>(n, 6, 0.5, 2); }

inline constexpr std::size_t norm_rows = 4096, norm_columns = 256, square = 1024, sum_square = 2048, few = 2500;

/// What the results must be: element i of a row's output in double. `floor` bounds the denominators of relative errors.
template <class T> struct expected {
  std::vector<double> value;
  double floor;
};
template <class T> expected<T> reference(const std::string& row, std::size_t n) {
  std::vector<double> r;
  auto each = [&](std::size_t m, auto f) {
    r.resize(m);
    for (std::size_t i = 0; i < m; ++i) r[i] = f(i);
  };
  auto d = [](T v) { return static_cast<double>(v); };
  if (row == "A1") {
    each(n, [&, a = in_a<T>(n), b = in_b<T>(n), c = in_c<T>(n)](std::size_t i) { return d(a[i]) * d(b[i]) + d(c[i]); });
  } else if (row == "chain") {  // two statements: d = a b + c, y = d a - b
    each(n, [&, a = in_a<T>(n), b = in_b<T>(n), c = in_c<T>(n)](std::size_t i) { return (d(a[i]) * d(b[i]) + d(c[i])) * d(a[i]) - d(b[i]); });
  } else if (row == "A2") {
    each(n, [&, x = in_x<T>(n), z = in_z<T>(n)](std::size_t i) { return std::exp(-d(x[i]) * d(x[i])) * std::sin(d(x[i])) + std::tanh(d(z[i])); });
  } else if (row == "A3") {
    each(n, [&, x = in_x<T>(n), a = in_a<T>(n)](std::size_t i) {
      const double q = d(x[i]);
      return (((0.5 * q + 1.25) * q - 0.75) * q + 2.0) / (q * q + 1.5) + d(a[i]);
    });
  } else if (row == "A4") {
    each(norm_rows * norm_columns, [&, x = in_x<T>(norm_rows * norm_columns), m = in_a<T>(norm_rows), v = in_var<T>(norm_rows),
                                    g = in_b<T>(norm_columns), b = in_c<T>(norm_columns)](std::size_t i) {
      const std::size_t y = i / norm_columns, c = i % norm_columns;
      return (d(x[i]) - d(m[y])) / std::sqrt(d(v[y]) + 1e-5) * d(g[c]) + d(b[c]);
    });
  } else if (row == "A5") {
    each(square * square, [&, a = in_a<T>(square * square), b = in_b<T>(square * square)](std::size_t i) {
      return d(a[i]) + d(b[i % square * square + i / square]);
    });
  } else if (row == "rows3") {  // short rows: (n, 3) scaled by (n, 1)
    each(n, [&, x = in_a<T>(n), c = in_b<T>(n / 3)](std::size_t i) { return d(x[i]) * d(c[i / 3]); });
  } else if (row == "squares3") {  // squared lengths of n / 3 points
    each(n / 3, [&, x = in_a<T>(n)](std::size_t i) { return d(x[3 * i]) * d(x[3 * i]) + d(x[3 * i + 1]) * d(x[3 * i + 1]) + d(x[3 * i + 2]) * d(x[3 * i + 2]); });
  } else if (row == "steps8") {  // a row from the one before, one statement each
    r.assign(n, 0);
    const auto a = in_a<T>(n);
    for (std::size_t i = 8; i < n; ++i) r[i] = 0.5 * r[i - 8] + d(a[i]);
  } else if (row == "A6") {
    const auto x = in_x<T>(n), z = in_z<T>(n);
    long double s = 0;
    for (std::size_t i = 0; i < n; ++i) s += (d(x[i]) - d(z[i])) * (d(x[i]) - d(z[i]));
    r.assign(1, static_cast<double>(s));
    return {r, 1e-30};
  } else if (row == "A7") {
    each(norm_rows * norm_columns, [x = in_x<T>(norm_rows * norm_columns), d](std::size_t i) { return d(x[i]); });
    for (auto from = r.begin(); from != r.end(); from += norm_columns) {
      const auto to = from + norm_columns;
      const double largest = *std::max_element(from, to);
      double total = 0;
      std::for_each(from, to, [&](double& e) { total += e = std::exp(e - largest); });
      std::for_each(from, to, [&](double& e) { e /= total; });
    }
    return {r, 1e-30};
  } else if (row == "A8rows" || row == "A8columns") {
    const auto x = in_x<T>(sum_square * sum_square);
    r.assign(sum_square, 0);
    for (std::size_t i = 0; i < sum_square * sum_square; ++i) r[row == "A8rows" ? i / sum_square : i % sum_square] += d(x[i]);
    return {r, 100};
  } else if (row == "cube") {
    each(n, [&, x = in_x<T>(n)](std::size_t i) { return d(x[i]) * d(x[i]) * d(x[i]); });
  } else if (row == "complex") {  // n / 2 numbers: a b + c
    each(n, [&, a = in_a<T>(n), b = in_b<T>(n), c = in_c<T>(n)](std::size_t i) {
      const std::size_t k = i / 2 * 2;
      return i % 2 == 0 ? d(a[k]) * d(b[k]) - d(a[k + 1]) * d(b[k + 1]) + d(c[i]) : d(a[k]) * d(b[k + 1]) + d(a[k + 1]) * d(b[k]) + d(c[i]);
    });
  } else if (row == "A9") {
    each(n, [&, x = in_x<T>(n)](std::size_t i) { return x[i] > 0 ? d(x[i]) : 0.1 * d(x[i]); });
  }
  return {r, 0.1};
}
/// Largest relative error of `got`.
template <class T> double error_of(const T* got, const expected<T>& want) {
  double e = 0;
  for (std::size_t i = 0; i < want.value.size(); ++i) {
    const double w = want.value[i], x = std::abs(static_cast<double>(got[i]) - w) / std::max(std::abs(w), want.floor);
    if (!(x <= e)) e = x;
  }
  return e;
}

template <class T> constexpr const char* type_name = std::is_same_v<T, float> ? "f32" : "f64";

/// Registers contender `who` of a row; results are checked against the reference before the first timing.
template <class T, class Make> void add(const std::string& row, std::size_t n, const std::string& who, double tolerance, Make make) {
  const std::string name = row + "/" + type_name<T> + "/" + std::to_string(n) + "/" + who;
  benchmark::RegisterBenchmark(name.c_str(), [=, checked = false](benchmark::State& state) mutable {
    auto body = make();
    const T* out = body();
    if (!checked) {
      const double e = error_of(out, reference<T>(row, n));
      if (!(e <= tolerance)) return state.SkipWithError(("wrong result, relative error " + std::to_string(e)).c_str());
      checked = true;
    }
    for (auto _ : state) {
      out = body();
      benchmark::DoNotOptimize(out);
      benchmark::ClobberMemory();
    }
  });
}

}  // namespace rows
