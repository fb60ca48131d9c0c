// Rows Q1 to Q34: what programs without -march=native do with short rows, sums over short axes, masks, small integers, strided copies, many small statements and long ones, names of expressions, pairs in a box, elements by index, small reductions, beside loops by hand compiled with the
// same flags. Run with table.py, which interleaves the contenders, takes medians and prints ratios.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <ttensor/all.hpp>
#include <vector>
#include "rows.hpp"

namespace tt = ttensor;
using rows::add, rows::fresh;
using tt::index_t;

namespace {
using vec = tt::tensor<double, 1>;
using mat = tt::tensor<double, 2>;
using bytes = tt::tensor<std::uint8_t, 2>;

/// Two contenders that write into `got` and `want`, which are compared first.
template <class Y, class F, class H> void row(const std::string& name, Y got, F ours, H hand) {
  std::vector<tt::scalar_t<Y>> want(static_cast<std::size_t>(got.size()));
  ours(got);
  hand(want.data());
  const auto number = [](const auto& v) {
    if constexpr (tt::is_complex_v<tt::scalar_t<Y>>) return v;
    else return static_cast<double>(v);
  };
  for (index_t i = 0; i < got.size(); ++i)
    if (const auto v = number(want[static_cast<std::size_t>(i)]); !(std::abs(number(got.data()[i]) - v) <= 1e-9 * (1 + std::abs(v)))) {
      std::fprintf(stderr, "%s: element %ld is wrong\n", name.c_str(), static_cast<long>(i));
      std::exit(1);
    }
  add(name, "ttensor", [=]() mutable { ours(got); fresh(got); });
  add(name, "hand", [=]() mutable { hand(want.data()); fresh(want); });
}

void short_rows(index_t n) {
  const mat p = tt::uniform<double>(tt::rng(1), {n, 3}), c = tt::uniform<double>(tt::rng(2), {n, 1});
  const double *x = p.data(), *y = c.data();  // kept by the copies of p and c in the closures
  row("Q1 p + column/double (n,3)/100000", mat(n, 3), [=](mat& o) { o = p + c; }, [=, keep = std::pair(p, c)](double* o) {
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < 3; ++j) o[3 * i + j] = x[3 * i + j] + y[i];
  });
  row("Q2 max(p, 1)/double (n,3)/100000", vec(n), [=](vec& o) { o = max(p, 1); }, [=, keep = std::pair(p, c)](double* o) {
    for (index_t i = 0; i < n; ++i) o[i] = std::max(std::max(x[3 * i], x[3 * i + 1]), x[3 * i + 2]);
  });
  row("Q3 variance(p, 1)/double (n,3)/100000", vec(n), [=](vec& o) { o = variance(p, 1); }, [=, keep = std::pair(p, c)](double* o) {
    for (index_t i = 0; i < n; ++i) {
      const double m = (x[3 * i] + x[3 * i + 1] + x[3 * i + 2]) / 3, a = x[3 * i] - m, b = x[3 * i + 1] - m, d = x[3 * i + 2] - m;
      o[i] = (a * a + b * b + d * d) / 3;
    }
  });
  row("Q4 grad of sum(square(p * column))/double (n,3)/100000", mat(n, 3),
      [=](mat& o) { o = tt::grad([&](const auto& q) { return sum(square(q * c)); })(p); }, [=, keep = std::pair(p, c)](double* o) {
        for (index_t i = 0; i < n; ++i)
          for (index_t j = 0; j < 3; ++j) o[3 * i + j] = 2 * x[3 * i + j] * y[i] * y[i];
      });
}
void long_rows(index_t n) {
  const vec x = tt::uniform<double>(tt::rng(1), {n});
  const tt::tensor<int, 1> k = tt::integers<int>(tt::rng(2), {n}, 0, 1000);
  const tt::tensor<bool, 1> none(n);
  const tt::tensor<std::uint8_t, 1> u = tt::integers<std::uint8_t>(tt::rng(3), {n}, 0, 255);
  const tt::tensor<std::int64_t, 1> at = tt::integers<std::int64_t>(tt::rng(4), {n}, 0, n);
  row("Q5 max(x)/double/100000", vec(1), [=](vec& o) { o(0) = max(x); }, [=](double* o) { o[0] = *std::max_element(x.data(), x.data() + n); });
  row("Q6 count_nonzero(k == 5)/int/100000", tt::tensor<std::int64_t, 1>(1), [=](auto& o) { o(0) = tt::count_nonzero(k == 5); },
      [=](std::int64_t* o) { o[0] = std::count(k.data(), k.data() + n, 5); });
  row("Q7 count_nonzero(mask)/bool/100000", tt::tensor<std::int64_t, 1>(1), [=](auto& o) { o(0) = tt::count_nonzero(none); },
      [=](std::int64_t* o) { o[0] = std::count(none.data(), none.data() + n, true); });
  row("Q8 max(u)/uint8/100000", tt::tensor<std::uint8_t, 1>(1), [=](auto& o) { o(0) = max(u); },
      [=](std::uint8_t* o) { o[0] = *std::max_element(u.data(), u.data() + n); });
  row("Q9 take(x, at, 0)/double/100000", vec(n), [=](vec& o) { o = take(x, at, 0); }, [=](double* o) {
    for (index_t i = 0; i < n; ++i) o[i] = x.data()[at.data()[i]];
  });
  row("Q10 grad of sum(x * s) in a number s/double/100000", vec(1), [=](vec& o) { o(0) = tt::grad([&](const auto& s) { return sum(x * s); })(2.0); },
      [=](double* o) {
        double s = 0;
        for (index_t i = 0; i < n; ++i) s += x.data()[i];
        o[0] = s;
      });
}
void small_integers(index_t n) {
  const bytes u = tt::integers<std::uint8_t>(tt::rng(3), {1, n}, 0, 255), v = tt::integers<std::uint8_t>(tt::rng(4), {1, n}, 0, 255);
  const tt::tensor<bool, 2> m = u < v;
  row("Q15 u + v/uint8/100000", bytes(1, n), [=](bytes& o) { o = u + v; }, [=](std::uint8_t* o) {
    for (index_t i = 0; i < n; ++i) o[i] = static_cast<std::uint8_t>(u.data()[i] + v.data()[i]);
  });
  row("Q16 where(mask, u, v)/uint8/100000", bytes(1, n), [=](bytes& o) { o = where(m, u, v); }, [=](std::uint8_t* o) {
    for (index_t i = 0; i < n; ++i) o[i] = m.data()[i] ? u.data()[i] : v.data()[i];
  });
  row("Q17 to<uint8>(mask)/bool/100000", bytes(1, n), [=](bytes& o) { o = tt::to<std::uint8_t>(m); }, [=](std::uint8_t* o) {
    for (index_t i = 0; i < n; ++i) o[i] = m.data()[i];
  });
}
void quotients(index_t n) {
  const tt::tensor<int, 1> k = tt::integers<int>(tt::rng(7), {n}, -1'000'000, 1'000'000);
  const tt::tensor<std::int16_t, 1> s = tt::integers<std::int16_t>(tt::rng(8), {n}, -30000, 30000);
  static volatile int nine = 9;  // not known when this is compiled
  row("Q20 k divided by 9/int/100000", tt::tensor<int, 1>(n), [=](auto& o) { o = k / int(nine); }, [=](int* o) {
    for (index_t i = 0, d = nine; i < n; ++i) o[i] = k.data()[i] / static_cast<int>(d);
  });
  row("Q21 s % 9/int16/100000", tt::tensor<std::int16_t, 1>(n), [=](auto& o) { o = s % static_cast<std::int16_t>(nine); }, [=](std::int16_t* o) {
    const int d = nine;
    for (index_t i = 0; i < n; ++i) {
      const int r = s.data()[i] % d;
      o[i] = static_cast<std::int16_t>(r < 0 ? r + d : r);
    }
  });
}
void turned(index_t n) {
  const tt::tensor<double, 3> c = tt::uniform<double>(tt::rng(5), {n, n, n});
  const auto back = tt::permute(c, {2, 1, 0});
  row("Q18 sum(permute(c, {2, 1, 0}), 1)/double/" + std::to_string(n), mat(n, n), [=](mat& o) { o = sum(back, 1); }, [=](double* o) {
    for (index_t i = 0; i < n * n; ++i) o[i] = 0;
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j)
        for (index_t k = 0; k < n; ++k) o[k * n + i] += c.data()[(i * n + j) * n + k];
  });
  const index_t w = 8 * n;
  const mat x = tt::uniform<double>(tt::rng(6), {w, w});
  row("Q19 grad of sum(square(x + transpose(x)))/double/" + std::to_string(w), mat(w, w),
      [=](mat& o) { o = tt::grad([](const auto& q) { return sum(square(q + transpose(q))); })(x); }, [=](double* o) {
        for (index_t i = 0; i < w; ++i)
          for (index_t j = 0; j < w; ++j) o[i * w + j] = 4 * (x.data()[i * w + j] + x.data()[j * w + i]);
      });
}
void copies(index_t n) {
  using Z = std::complex<double>;
  bytes u(n, n);
  u = 3;
  tt::tensor<Z, 2> z(n, n);
  z = Z(1, 2);
  row("Q11 every second column/uint8/" + std::to_string(n), bytes(n, n / 2), [=](bytes& o) { o = u(tt::all, tt::range(0, tt::end, 2)); }, [=](std::uint8_t* o) {
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n / 2; ++j) o[i * (n / 2) + j] = u.data()[i * n + 2 * j];
  });
  row("Q12 transpose/complex<double>/" + std::to_string(n), tt::tensor<Z, 2>(n, n), [=](auto& o) { o = transpose(z); }, [=](Z* o) {
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j) o[i * n + j] = z.data()[j * n + i];
  });
}
void factors() {
  const index_t n = 200, many = 5000;
  const mat a = tt::uniform<double>(tt::rng(1), {n, n}) / double(n) + tt::eye<double>(n);
  const vec b = tt::uniform<double>(tt::rng(2), {n});
  row("Q13 triangular_solve(a, b, true, true)/double/200", vec(n), [=](vec& o) { o = tt::triangular_solve(a, b, true, true); }, [=](double* o) {
    for (index_t i = 0; i < n; ++i) o[i] = b.data()[i];
    for (index_t j = n - 1; j >= 0; --j) {
      const double v = o[j] /= a.data()[j * n + j];
      for (index_t i = 0; i < j; ++i) o[i] -= a.data()[j * n + i] * v;
    }
  });
  const tt::tensor<double, 3> q = tt::uniform<double>(tt::rng(3), {many, 3, 3}), s = matmul(q, swapaxes(q, 1, 2)) + tt::eye<double>(3);
  row("Q14 cholesky of 5000/double/3", tt::tensor<double, 3>(many, 3, 3), [=](auto& o) { o = tt::cholesky(s); }, [=](double* o) {
    for (index_t k = 0; k < many; ++k)
      for (index_t i = 0; i < 3; ++i)
        for (index_t j = 0; j < 3; ++j) {
          double v = s.data()[9 * k + 3 * i + j];
          for (index_t p = 0; p < j; ++p) v -= o[9 * k + 3 * i + p] * o[9 * k + 3 * j + p];
          o[9 * k + 3 * i + j] = j > i ? 0 : i == j ? std::sqrt(v) : v / o[9 * k + 4 * j];
        }
  });
}
/// 1000 statements on 8 elements each, as in a loop over time.
void small_statements() {
  const index_t n = 1000, w = 8;
  const mat a = tt::uniform<double>(tt::rng(9), {n, w}), b = tt::uniform<double>(tt::rng(10), {n, w}), m = tt::uniform<double>(tt::rng(11), {w, w}) / 8.0;
  const double *x = a.data(), *y = b.data(), *q = m.data();
  const auto keep = std::tuple(a, b, m);
  row("Q22 z(i + 1) = 0.5 * z(i) + a(i)/double (1000, 8)/1000", mat(n + 1, w), [=](mat& z) { for (index_t i = 0; i < n; ++i) z(i + 1) = 0.5 * z(i) + a(i); },
      [=, k = keep](double* z) {
        for (index_t i = 0; i < n * w; ++i) z[i + w] = 0.5 * z[i] + x[i];
      });
  row("Q23 o(i) = sum(a(i) * b(i))/double (1000, 8)/1000", vec(n), [=](vec& o) { for (index_t i = 0; i < n; ++i) o(i) = sum(a(i) * b(i)); }, [=, k = keep](double* o) {
    for (index_t i = 0; i < n; ++i) {
      double s = 0;
      for (index_t j = 0; j < w; ++j) s += x[i * w + j] * y[i * w + j];
      o[i] = s;
    }
  });
  row("Q24 a new tensor t = a(i) - b(i), norm(t)/double (1000, 8)/1000", vec(n), [=](vec& o) {
    for (index_t i = 0; i < n; ++i) {
      const vec t = a(i) - b(i);
      o(i) = norm(t);
    }
  }, [=, k = keep](double* o) {
    std::vector<double> t(w);
    for (index_t i = 0; i < n; ++i) {
      double s = 0;
      for (index_t j = 0; j < w; ++j) t[static_cast<std::size_t>(j)] = x[i * w + j] - y[i * w + j];
      for (const double v : t) s += v * v;
      o[i] = std::sqrt(s);
    }
  });
  row("Q25 o(i) = matmul(m, a(i))/double (1000, 8)/1000", mat(n, w), [=](mat& o) { for (index_t i = 0; i < n; ++i) o(i) = matmul(m, a(i)); }, [=, k = keep](double* o) {
    for (index_t i = 0; i < n; ++i)
      for (index_t r = 0; r < w; ++r) {
        double s = 0;
        for (index_t j = 0; j < w; ++j) s += q[r * w + j] * x[i * w + j];
        o[i * w + r] = s;
      }
  });
  row("Q26 o(i) = max(abs(a(i) - b(i)))/double (1000, 8)/1000", vec(n), [=](vec& o) { for (index_t i = 0; i < n; ++i) o(i) = max(abs(a(i) - b(i))); }, [=, k = keep](double* o) {
    for (index_t i = 0; i < n; ++i) {
      double s = 0;
      for (index_t j = 0; j < w; ++j) s = std::max(s, std::abs(x[i * w + j] - y[i * w + j]));
      o[i] = s;
    }
  });
}
/// 28 operators on 3 arrays.
constexpr auto formula = [](const auto& a, const auto& b, const auto& c) {
  return (a * b + c) * (a - b) + (c * c - a) * (b + c) - (a + b) * (c - a) + (b * b - c * a) * (a + c) - (a - b) * (a * c + b);
};
void long_statements() {
  const index_t n = 10000;
  const vec a = tt::uniform<double>(tt::rng(12), {n}), b = tt::uniform<double>(tt::rng(13), {n}), c = tt::uniform<double>(tt::rng(14), {n}), s = {0.5};
  const double *x = a.data(), *y = b.data(), *z = c.data();
  const auto keep = std::tuple(a, b, c, s);
  const auto by_hand = [=, k = keep](double* o) {
    for (index_t i = 0; i < n; ++i) o[i] = formula(x[i], y[i], z[i]);
  };
  row("Q27 28 operators/double/10000", vec(n), [=](vec& o) { o = formula(a, b, c); }, by_hand);
  row("Q27 28 operators/double (100, 100)/10000", mat(100, 100), [f = reshape(a, 100, 100), g = reshape(b, 100, 100), h = reshape(c, 100, 100)](mat& o) { o = formula(f, g, h); }, by_hand);
  for (const index_t m : {index_t(100), index_t(1000), n}) {
    const vec head = a(tt::range(0, m));
    row("Q28 a * s of one element/double/" + std::to_string(m), vec(m), [=](vec& o) { o = head * s; }, [=, k = keep](double* o) {
      for (index_t i = 0; i < m; ++i) o[i] = x[i] * 0.5;
    });
  }
}
/// A sum over the axis between.
void between(index_t n, index_t m, index_t k) {
  const tt::tensor<double, 3> a = tt::normal<double>(tt::rng(1), {n, m, k});
  const std::string shape = "(" + std::to_string(n) + "," + std::to_string(m) + "," + std::to_string(k) + ")";
  row("Q29 sum(x, 1)/double " + shape + "/" + std::to_string(n * m * k), mat(n, k), [=](mat& o) { o = sum(a, 1); }, [=, x = a.data(), keep = a](double* o) {
    for (index_t i = 0; i < n; ++i)
      for (index_t c = 0; c < k; ++c) {
        double total = 0;
        for (index_t b = 0; b < m; ++b) total += x[(i * m + b) * k + c];
        o[i * k + c] = total;
      }
  });
}
/// To whole numbers.
template <class T> void rounding(const std::string& type, index_t n) {
  const tt::tensor<T, 1> a = tt::normal<T>(tt::rng(1), {n}) * T(100);
  const std::string rest = "/" + type + "/" + std::to_string(n);
  row("Q30 round(x)" + rest, tt::tensor<T, 1>(n), [=](auto& o) { o = round(a); }, [=, x = a.data(), keep = a](T* o) {
    for (index_t i = 0; i < n; ++i) o[i] = std::nearbyint(x[i]);
  });
  row("Q30 floor(x)" + rest, tt::tensor<T, 1>(n), [=](auto& o) { o = floor(a); }, [=, x = a.data(), keep = a](T* o) {
    for (index_t i = 0; i < n; ++i) o[i] = std::floor(x[i]);
  });
}
/// Names of expressions, which stand for all that they are made of: the energies of pairs at distances d, and what each adds to the gradient of their sum.
template <class V> auto lennard_jones(const V& d) {
  const auto i2 = 1.0 / (d * d);
  const auto i6 = i2 * i2 * i2;
  return 4.0 * (i6 * i6 - i6);
}
void names(index_t n) {
  const vec d = tt::uniform<double>(tt::rng(1), {n}) + 0.9;
  const double* x = d.data();
  const std::string rest = "/double/" + std::to_string(n);
  row("Q31 energies of pairs" + rest, vec(n), [=](vec& o) { o = lennard_jones(d); }, [=, keep = d](double* o) {
    for (index_t i = 0; i < n; ++i) {
      const double i2 = 1.0 / (x[i] * x[i]), i6 = i2 * i2 * i2;
      o[i] = 4.0 * (i6 * i6 - i6);
    }
  });
  row("Q31 gradient of their sum" + rest, vec(n), [=](vec& o) { o = tt::grad([](const auto& v) { return sum(lennard_jones(v)); })(d); }, [=, keep = d](double* o) {
    for (index_t i = 0; i < n; ++i) {
      const double i1 = 1.0 / x[i], i2 = i1 * i1, i6 = i2 * i2 * i2;
      o[i] = 24.0 * (i6 - 2.0 * i6 * i6) * i1;
    }
  });
}
/// The forces on n particles in a periodic box, the gradient of their energy: named differences of the coordinates, and names of those.
struct box {
  double length;
  mat far;  // what keeps a particle from itself
  /// The energy, `finish` of the squared distances of all pairs.
  template <class X, class F> auto energy(const X& p, F finish) const {
    const auto image = [&](const auto& c) {
      const auto d = unsqueeze(c, 1) - unsqueeze(c, 0);
      return d - length * round(d / length);
    };
    const auto dx = image(p(0)), dy = image(p(1)), dz = image(p(2));
    return 0.5 * sum(finish(dx * dx + dy * dy + dz * dz + far));
  }
  static auto well(double sigma2) {
    return [sigma2](const auto& r2) {
      const auto i2 = sigma2 / r2;
      const auto i6 = i2 * i2 * i2;
      return 4.0 * (i6 * i6 - i6);
    };
  }
};
void forces(index_t n) {
  const double length = 1.2 * std::cbrt(static_cast<double>(n));
  const auto b = std::make_shared<const box>(box{length, tt::eye<double>(n) * 1e9});
  const mat p = length * tt::uniform<double>(tt::rng(1), {3, n});
  const auto hand = [=, keep = p, x = p.data()](double* o) {
    for (index_t i = 0; i < n; ++i) {
      double force[3] = {};
      for (index_t j = 0; j < n; ++j) {
        double d[3], r2 = i == j ? 1e9 : 0.0;
        for (int k = 0; k < 3; ++k) d[k] = x[k * n + i] - x[k * n + j], d[k] -= length * std::nearbyint(d[k] / length), r2 += d[k] * d[k];
        const double i2 = 0.9 / r2, i6 = i2 * i2 * i2, slope = 24.0 * (i6 - 2.0 * i6 * i6) / r2;
        for (int k = 0; k < 3; ++k) force[k] += slope * d[k];
      }
      for (int k = 0; k < 3; ++k) o[k * n + i] = force[k];
    }
  };
  const std::string rest = "/double/" + std::to_string(n);
  const auto with = [=](auto finish) {
    return [=](mat& o) { o = tt::grad([&](const auto& q) { return b->energy(q, finish); })(p); };
  };
  row("Q32 forces, distances evaluated" + rest, mat(3, n), with([](const auto& r2) { return box::well(0.9)(eval(r2)); }), hand);
  row("Q32 forces, let" + rest, mat(3, n), with([](const auto& r2) { return let(r2, box::well(0.9)); }), hand);
}
template <class T> void by_index(const std::string& type, index_t rows, index_t columns) {
  const tt::tensor<T, 2> x = tt::uniform<T>(tt::rng(1), {rows, columns});
  const tt::tensor<std::int64_t, 1> next = clamp(tt::arange(columns) + 1, 0, columns - 1);
  const tt::tensor<std::int64_t, 2> any = reshape(tt::arange(rows * columns) * 7 % (rows * columns), {rows, columns});
  const std::string rest = "/" + type + " (" + std::to_string(rows) + "," + std::to_string(columns) + ")/" + std::to_string(rows * columns);
  row("Q33 take(x, next, 1)" + rest, tt::tensor<T, 2>(rows, columns), [=](auto& o) { o = take(x, next, 1); }, [=, p = x.data(), k = next.data(), keep = std::pair(x, next)](T* o) {
    for (index_t i = 0; i < rows; ++i)
      for (index_t j = 0; j < columns; ++j) o[i * columns + j] = p[i * columns + k[j]];
  });
  row("Q33 take(x, any)" + rest, tt::tensor<T, 2>(rows, columns), [=](auto& o) { o = take(x, any); }, [=, p = x.data(), k = any.data(), keep = std::pair(x, any)](T* o) {
    for (index_t i = 0; i < rows * columns; ++i) o[i] = p[k[i]];
  });
  row("Q33 scatter_add(x, 1, next, x)" + rest, tt::tensor<T, 2>(rows, columns), [=](auto& o) { o = scatter_add(x, 1, next, x); },
      [=, p = x.data(), k = next.data(), keep = std::pair(x, next)](T* o) {
        for (index_t i = 0; i < rows * columns; ++i) o[i] = p[i];
        for (index_t i = 0; i < rows; ++i)
          for (index_t j = 0; j < columns; ++j) o[i * columns + k[j]] += p[i * columns + j];
      });
}
/// Sums over one axis of few elements, and reductions of all of a few.
void small_reductions(index_t rows, index_t columns) {
  const mat x = tt::uniform<double>(tt::rng(1), {rows, columns});
  const tt::tensor<double, 1> all = flatten(tt::eval(x));
  const std::string rest = "/double (" + std::to_string(rows) + "," + std::to_string(columns) + ")/" + std::to_string(rows * columns);
  const double* const p = x.data();
  row("Q34 sum(x, 1)" + rest, tt::tensor<double, 1>(rows), [=](auto& o) { o = sum(x, 1); }, [=](double* o) {
    for (index_t i = 0; i < rows; ++i) {
      double s = 0;
      for (index_t j = 0; j < columns; ++j) s += p[i * columns + j];
      o[i] = s;
    }
  });
  row("Q34 sum(x, 0)" + rest, tt::tensor<double, 1>(columns), [=](auto& o) { o = sum(x, 0); }, [=](double* o) {
    for (index_t j = 0; j < columns; ++j) o[j] = 0;
    for (index_t i = 0; i < rows; ++i)
      for (index_t j = 0; j < columns; ++j) o[j] += p[i * columns + j];
  });
  row("Q34 prod(x)" + rest, tt::tensor<double, 1>(1), [=](auto& o) { o(0) = prod(all); }, [=, keep = x](double* o) {
    double s = 1;
    for (index_t i = 0; i < rows * columns; ++i) s *= p[i];
    *o = s;
  });
  row("Q34 variance(x)" + rest, tt::tensor<double, 1>(1), [=](auto& o) { o(0) = variance(all); }, [=, keep = x](double* o) {
    const double n = static_cast<double>(rows * columns);
    double m = 0, s = 0;
    for (index_t i = 0; i < rows * columns; ++i) m += p[i];
    for (index_t i = 0; i < rows * columns; ++i) s += (p[i] - m / n) * (p[i] - m / n);
    *o = s / n;
  });
}
}  // namespace

int main(int argc, char** argv) {
  short_rows(100000);
  between(20000, 3, 2);
  between(20000, 3, 3);
  between(20000, 8, 3);
  between(20000, 3, 8);
  between(20, 3, 2);
  long_rows(100000);
  copies(1000);
  small_integers(100000);
  quotients(100000);
  turned(128);
  factors();
  small_statements();
  long_statements();
  rounding<double>("double", 10000);
  rounding<float>("float", 10000);
  names(1000);
  names(100000);
  forces(300);
  by_index<double>("double", 120, 160);
  by_index<float>("float", 120, 160);
  small_reductions(4, 3);
  small_reductions(8, 8);
  small_reductions(8, 64);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
