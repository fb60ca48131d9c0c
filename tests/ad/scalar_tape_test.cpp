// Scalars are recorded where they were recorded last while nothing happened in between. Here something happens: other tapes,
// array nodes, no_grad, marks, exceptions, threads. Derivatives are closed forms.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <thread>
#include <ttensor/all.hpp>

namespace tt = ttensor;
using tt::tensor;

namespace {
const tensor<double, 1> x{1.1, 0.7, 1.3};
const auto rosenbrock = [](const auto& v) {
  using S = tt::scalar_t<decltype(v)>;
  S s(0.0);
  for (tt::index_t i = 0; i + 1 < v.extent(0); ++i) {
    const S a = v(i + 1) - v(i) * v(i), b = 1.0 - v(i);
    s += 100.0 * (a * a) + b * b;
  }
  return s;
};
double rosenbrock_derivative(const tensor<double, 1>& v, tt::index_t i) {
  double g = 0;
  if (i + 1 < v.extent(0)) g += -400 * (v(i + 1) - v(i) * v(i)) * v(i) - 2 * (1 - v(i));
  if (i > 0) g += 200 * (v(i) - v(i - 1) * v(i - 1));
  return g;
}
template <class F> void check_gradient(const tensor<double, 1>& g, const F& want) {
  for (tt::index_t i = 0; i < x.extent(0); ++i) CHECK(g(i) == doctest::Approx(want(x(i))).epsilon(1e-14));
}
const auto cube = [](auto t) { return t * t * t; };
}  // namespace

TEST_CASE("transforms inside an element loop: of numbers, of the loop's variables, forward") {
  check_gradient(tt::grad([](const auto& v) {
    tt::scalar_t<decltype(v)> s(0.0);
    for (tt::index_t i = 0; i < 3; ++i) {
      s += v(i) * v(i);
      const double k = tt::grad(cube)(2.0);  // 12, on a tape of the same type
      s += k * v(i);
      s += v(i) * tt::grad(cube)(v(i));      // 3 v^3, on a tape over this one
      s += tt::jvp(cube, v(i), 1.0).y_dot * v(i);
    }
    return s;
  })(x), [](double t) { return 2 * t + 12 + 18 * t * t; });
}
TEST_CASE("a variable of the outer level, of the inner level's type, inside the inner function") {
  check_gradient(tt::grad([](const auto& v) {
    tt::scalar_t<decltype(v)> s(0.0);
    for (tt::index_t i = 0; i < 3; ++i) {
      auto outer = v(i) * v(i);
      tt::grad([&s, outer](auto t) {  // t is of the type of v's elements, and lives on another tape
        if constexpr (std::is_same_v<decltype(t), std::remove_cvref_t<decltype(s)>>)
          if (t.active() && t.serial() != outer.serial()) {
            const auto before = t * t;
            s += outer * 3.0;
            return before * t;
          }
        return t * t * t;
      })(2.0);
      s += outer;
    }
    return s;
  })(x), [](double t) { return 8 * t; });
}
TEST_CASE("no_grad in the middle of a loop, and transforms inside it") {
  check_gradient(tt::grad([](const auto& v) {
    tt::scalar_t<decltype(v)> s(0.0);
    for (tt::index_t i = 0; i < 3; ++i) {
      auto square = v(i) * v(i);
      auto constant = square;
      {
        tt::no_grad off;
        constant = square * v(i);
        CHECK_FALSE(constant.active());
        CHECK(tt::grad(cube)(2.0) == 12);
        CHECK_FALSE((square + 1.0).active());
      }
      s += square * constant;
    }
    return s;
  })(x), [](double t) { return 2 * t * t * t * t; });
}
TEST_CASE("no_grad: an element write is recorded, what follows it is not") {
  const auto g = tt::grad([](const auto& v) {
    auto h = tt::eval(v * v);
    const auto last = v(2);
    auto constant = last;
    {
      tt::no_grad off;
      h(0) = 5.0;
      constant = last * 2.0;
      CHECK_FALSE(constant.active());
    }
    return sum(h) * constant;
  })(x);
  CHECK(g(0) == 0);
  CHECK(g(1) == doctest::Approx(4 * x(1) * x(2)).epsilon(1e-14));
  CHECK(g(2) == doctest::Approx(4 * x(2) * x(2)).epsilon(1e-14));
}
TEST_CASE("array statements between scalar ones") {
  const auto g = tt::grad([](const auto& v) {
    auto s = v(0) * v(1);
    const auto y = tt::eval(v * s);     // reads the run before it
    s = y(0) * s;                       // and is read by the run after it
    return s + sum(y) * s;
  })(x);
  const double a = x(0), b = x(1), c = x(2), t = a + b + c;  // a^3 b^2 (1 + a b t)
  CHECK(g(0) == doctest::Approx(3 * a * a * b * b + 4 * a * a * a * b * b * b * t + a * a * a * a * b * b * b).epsilon(1e-14));
  CHECK(g(1) == doctest::Approx(2 * a * a * a * b + 3 * a * a * a * a * b * b * t + a * a * a * a * b * b * b).epsilon(1e-14));
  CHECK(g(2) == doctest::Approx(a * a * a * a * b * b * b).epsilon(1e-14));
}
TEST_CASE("constants of a level in array statements") {
  const double g = tt::grad([](auto s) {  // s is the first scalar of its tape
    const decltype(s) two(2.0);
    const auto y = tt::eval(two * tt::ones<double>(3) * s + two);
    return sum(y * two) + sum(exp(y * 0.0) * two);
  })(5.0);
  CHECK(g == 12);
}
TEST_CASE("a temporary read from elements that are overwritten before it is consumed") {
  const auto g = tt::grad([](const auto& v) {
    auto h = tt::eval(v * 1.0);
    h(0) = v(0) * v(1);
    auto t = h(0) * 2.0;
    h(tt::range(0, 2)) = 3.0 * v(tt::range(1, 3));
    return std::move(t) * 5.0 + sum(h);
  })(x);
  CHECK(g(0) == doctest::Approx(10 * x(1)).epsilon(1e-14));
  CHECK(g(1) == doctest::Approx(10 * x(0) + 3).epsilon(1e-14));
  CHECK(g(2) == doctest::Approx(4).epsilon(1e-14));
}
TEST_CASE("a mark or a return to it starts a new run") {
  const double g = tt::grad([](auto s) {
    auto y = s * s;
    if constexpr (tt::is_var_v<decltype(s)>) {
      tt::tape& t = tt::tapes::of<double>(s.serial());
      const auto before = t.mark();
      static_cast<void>(s * s * s);
      CHECK(t.last() != before.last);
      t.rewind(before);
      CHECK(t.last() == before.last);
      y = y * s;
      CHECK(t.last() != before.last);
    }
    return y;
  })(2.0);
  CHECK(g == 12);
}
TEST_CASE("checkpoints in a loop") {
  check_gradient(tt::grad([](const auto& v) {
    tt::scalar_t<decltype(v)> s(0.0);
    for (tt::index_t i = 0; i < 3; ++i) {
      const auto y = tt::checkpoint([](auto a) { return a * a * tt::checkpoint(cube)(a); })(v(i));
      s += y * v(i);
    }
    return s;
  })(x), [](double t) { return 6 * std::pow(t, 5); });
}
TEST_CASE("nodes of any alignment and size") {
  struct alignas(128) wide {
    double v[16] = {2};
  };
  struct large {  // more than a block of the tape's memory
    double v[20000] = {3};
  };
  static int runs = 0;
  static bool aligned = true;
  const double g = tt::grad([w = wide{}, l = large{}](auto s) {
    auto y = s;
    for (int i = 0; i < 4; ++i) {
      y = tt::checkpoint([w](auto a) {
        ++runs;
        aligned = aligned && reinterpret_cast<std::uintptr_t>(&w) % alignof(wide) == 0;
        return a * w.v[0];
      })(y);
      y = tt::checkpoint([l](auto a) { return a * l.v[0]; })(y);
    }
    return y;
  })(1.0);
  CHECK(g == 6 * 6 * 6 * 6);
  CHECK(runs == 8);
  CHECK(aligned);
}
TEST_CASE("rules in a loop") {
  const auto fifth = tt::custom_vjp([](const auto& t) { return t * t * t * t * t; }, [](const auto& t) { return std::pair{t * t * t * t * t, t}; },
                                    [](const auto& t, const auto& ct) { return 5.0 * t * t * t * t * ct; });
  check_gradient(tt::grad([&](const auto& v) {
    tt::scalar_t<decltype(v)> s(0.0);
    for (tt::index_t i = 0; i < 3; ++i) s += fifth(v(i)) * v(i);
    return s;
  })(x), [](double t) { return 6 * std::pow(t, 5); });
}
TEST_CASE("exceptions inside a loop, and out of one") {
  static std::optional<tt::var<double>> kept;
  const auto stops = [](const auto& v) {
    auto s = v(0) * v(1);
    if constexpr (std::is_same_v<decltype(s), tt::var<double>>) kept = s;
    if (v(2) > 1.0) throw std::runtime_error("stop");
    return s;
  };
  CHECK_THROWS_AS(tt::grad(stops)(x), std::runtime_error);
  CHECK_THROWS_AS(*kept * 2.0, tt::level_error);
  check_gradient(tt::grad([&](const auto& v) {
    tt::scalar_t<decltype(v)> s(0.0);
    for (tt::index_t i = 0; i < 3; ++i) {
      s += v(i) * v(i);
      try {
        tt::grad(stops)(x);
      } catch (const std::runtime_error&) {
        s += 3.0 * v(i);
      }
      try {
        tt::no_grad off;
        throw std::runtime_error("stop");
      } catch (const std::runtime_error&) {
        s += v(i);
      }
      CHECK_THROWS_AS(*kept * v(i), tt::level_error);
      s += v(i);
    }
    return s;
  })(x), [](double t) { return 2 * t + 5; });
}
TEST_CASE("a temporary that is consumed twice counts twice") {
  CHECK(tt::grad([](auto s) {
    auto y = s * s;
    return std::move(y) * y;
  })(0.5) == 4 * 0.125);
  CHECK(tt::grad([](auto s) {
    auto y = s * s;
    return y * std::move(y);
  })(0.5) == 4 * 0.125);
  CHECK(tt::grad([](auto s) {
    auto y = s * s;
    return std::move(y) + std::move(y);
  })(0.5) == 2.0);
  CHECK(tt::grad([](auto s) {
    auto y = s * s;
    return tt::where(true, std::move(y), std::move(y)) * 3.0;
  })(0.5) == 3.0);
  tt::grad([](auto s) {
    if constexpr (tt::is_var_v<decltype(s)>) {
      auto z = s * s;
      static_cast<void>(std::move(z) + std::move(z));
      CHECK_THROWS_AS(z * 2.0, tt::level_error);
      auto w = sin(s);
      w = std::move(w) * 2.0;
      CHECK(w.value() == 2 * std::sin(0.5));
    }
    return s * s;
  })(0.5);
}
TEST_CASE("operators of three operands take over temporaries") {
  // low and high as temporaries; the value between them, below and above
  const auto f = [](const auto& s) { return (tt::clamp(sin(s) * s, s * 0.1, exp(s) * 2.0) * 3.0 + tt::clamp(s * s, sin(s) * 2.0, s * 4.0)) * tt::clamp(s * 5.0, s + 0.25, s * s + 1.0); };
  const double s = 0.5, a = std::sin(s) * s, da = std::cos(s) * s + std::sin(s), b = 2 * std::sin(s), db = 2 * std::cos(s), c = s * s + 1, dc = 2 * s;
  CHECK(f(s) == doctest::Approx((3 * a + b) * c).epsilon(1e-15));
  CHECK(tt::grad(f)(s) == doctest::Approx((3 * da + db) * c + (3 * a + b) * dc).epsilon(1e-15));
  CHECK(tt::grad([](auto v) {
    auto y = v * v;
    return tt::clamp(std::move(y), std::move(y), std::move(y)) * 2.0;
  })(0.5) == 2.0);
  const double dda = 2 * std::cos(s) - s * std::sin(s), ddb = -2 * std::sin(s), ddc = 2;
  CHECK(tt::grad(tt::grad(f))(s) == doctest::Approx((3 * dda + ddb) * c + 2 * (3 * da + db) * dc + (3 * a + b) * ddc).epsilon(1e-14));
}
TEST_CASE("the same where the tape was not recorded on last, or an operand is a constant") {
  const tensor<double, 1> w{1.0, 2.0, 2.0};
  CHECK(tt::grad([&](auto s) {
    auto y = s * s;
    const auto t = sum(w * s);  // a node: scalars go on in a run of their own
    auto z = std::move(y) * y;
    return z * t;
  })(0.5) == 25 * 0.0625);  // 5 s^5
  CHECK(tt::grad([](auto s) {
    decltype(s) two(2.0);
    auto y = s * s;
    return std::move(y) * two * std::move(two);
  })(0.5) == 4.0);
}
TEST_CASE("values of an outer level where it records nothing meet an inner level: an error, not a constant") {
  const auto f = [](auto x) {
    using outer = decltype(x);
    double inner = 0;
    {
      const tt::no_grad quiet;
      inner = tt::grad([&](auto t) {
        if constexpr (std::is_same_v<decltype(t), outer>) return t * x;
        else return t * tt::value_of(x);
      })(2.0);
    }
    return x * inner;
  };
  CHECK_THROWS_AS(tt::grad(f)(3.0), tt::level_error);
}
struct real_of_product : tt::elementwise<2> {  // of two complex operands a real result: two crossings from one entry
  static constexpr const char* name = "real_of_product";
  static constexpr unsigned reads(int) { return 3u; }
  template <class A, class B> using result = tt::reelem_t<A, double>;
  template <class A, class B> static constexpr auto primal(const A& a, const B& b) { return (a * b).real(); }
  template <class A, class B, class Y> static constexpr auto partials(const A& a, const B& b, const Y&) { return tt::grads{b, a}; }
};
TEST_CASE("an entry of which two nodes take the adjoint") {
  const std::complex<double> i(0, 1), j(1, 2);
  const double x = 0.7;
  // Re(x exp(ix) exp(jx)) x = x^2 Re exp((i + j) x)
  const auto e = std::exp((i + j) * x);
  CHECK(tt::grad([=](auto v) { return tt::apply<real_of_product>(exp(i * v) * v, exp(j * v)) * v; })(x) == doctest::Approx(2 * x * e.real() + x * x * ((i + j) * e).real()).epsilon(1e-14));
}
namespace mine {  // a number whose every operation and copy may throw
struct thrown {};
struct fragile {
  static inline long left = -1;  // steps until one throws
  static void step() {
    if (left >= 0 && left-- == 0) throw thrown();
  }
  double v = 0;
  fragile() = default;
  fragile(double d) : v(d) { step(); }
  fragile(const fragile& o) : v(o.v) { step(); }
  fragile(fragile&& o) noexcept : v(o.v) {}
  fragile& operator=(const fragile& o) {
    step();
    v = o.v;
    return *this;
  }
  fragile& operator=(fragile&& o) noexcept {
    v = o.v;
    return *this;
  }
  explicit operator double() const { return v; }
  friend fragile operator+(const fragile& a, const fragile& b) { return fragile(a.v + b.v); }
  friend fragile operator-(const fragile& a, const fragile& b) { return fragile(a.v - b.v); }
  friend fragile operator*(const fragile& a, const fragile& b) { return fragile(a.v * b.v); }
  friend fragile operator/(const fragile& a, const fragile& b) { return fragile(a.v / b.v); }
  friend fragile operator-(const fragile& a) { return fragile(-a.v); }
  friend bool operator==(const fragile& a, const fragile& b) { return a.v == b.v; }
  friend bool operator<(const fragile& a, const fragile& b) { return a.v < b.v; }
  friend bool operator>(const fragile& a, const fragile& b) { return a.v > b.v; }
};
}  // namespace mine
template <> struct ttensor::number_traits<mine::fragile> : ttensor::basic_number_traits<ttensor::number_kind::floating, 53> {};
TEST_CASE("numbers that throw in the middle of an operation leave a tape that can be swept") {
  using mine::fragile;
  bool failed = true;
  long trials = 0;
  for (; failed && trials < 3000; ++trials) {
    failed = false;
    const auto pull = tt::vjp([&](auto x) {
      auto a = x * x, b = x * a;
      fragile::left = trials;
      try {
        auto r = (x * x) * (x + a), q = r * r;
        r = (q * x) / (a + x) - (-q);
        q = std::move(q) + std::move(r);
      } catch (const mine::thrown&) {
        failed = true;
      }
      fragile::left = -1;
      return a * b + (x * x) * (a + b);  // 2 x^5 + x^4
    }, fragile(1.25)).pull;
    for (int k = 0; k < 2; ++k) CHECK(static_cast<double>(pull(fragile(1.0))) == doctest::Approx(10 * std::pow(1.25, 4) + 4 * std::pow(1.25, 3)));
  }
  CHECK(trials > 40);
  CHECK(!failed);
}
TEST_CASE("a copy keeps the entry from being consumed") {
  const double g = tt::grad([](auto s) {
    auto y = s * s;
    const auto copy = y;
    const auto a = std::move(y) * 3.0;
    auto z = s * copy;
    auto assigned = s;
    assigned = z;
    const auto b = std::move(z) * 3.0;
    return a + copy + b + assigned;  // 4 s^2 + 4 s^3
  })(2.0);
  CHECK(g == 16 + 48);
}
TEST_CASE("functions of a temporary leave its entry, whatever is in between") {
  const double t = 0.3;
  CHECK(tt::grad([](auto s) { return exp(sin(-(s * s) * 2.0) + 1.0); })(t) ==
        doctest::Approx(-4 * t * std::cos(2 * t * t) * std::exp(1 - std::sin(2 * t * t))).epsilon(1e-14));
  CHECK(tt::grad([](auto s) { return tt::stop_gradient(s * 2.0) * (s * 3.0); })(t) == doctest::Approx(6 * t).epsilon(1e-14));
  CHECK(tt::grad([](auto s) { return (s * 2.0) * (s * 3.0) - (s + 1.0) / (s * s); })(t) ==
        doctest::Approx(12 * t + 1 / (t * t) + 2 / (t * t * t)).epsilon(1e-14));
}
TEST_CASE("the tangent map of an element loop, whose sweep is recorded on a second tape") {
  const auto r = tt::linearize(rosenbrock, x);
  for (int k = 0; k < 2; ++k)
    for (tt::index_t i = 0; i < 3; ++i) {
      tensor<double, 1> v(3);
      v(i) = 2;
      CHECK(r.lin(v) == doctest::Approx(2 * rosenbrock_derivative(x, i)).epsilon(1e-13));
    }
}
TEST_CASE("two threads record at once") {
  const auto work = [](double& worst, double scale) {
    worst = 0;
    for (int k = 0; k < 200; ++k) {
      tensor<double, 1> v(50);
      for (tt::index_t i = 0; i < 50; ++i) v(i) = scale + 0.01 * static_cast<double>(i) + 0.001 * k;
      const tensor<double, 1> g = tt::grad(rosenbrock)(v);
      for (tt::index_t i = 0; i < 50; ++i) worst = std::max(worst, std::abs(g(i) - rosenbrock_derivative(v, i)));
    }
  };
  double a = 1, b = 1;
  std::thread other(work, std::ref(a), 0.5);
  work(b, -0.7);
  other.join();
  CHECK(a < 1e-10);
  CHECK(b < 1e-10);
}
TEST_CASE("a pullback that another thread applies and drops") {
  static tt::var<double> kept;
  const auto loop = [](const auto& v) {
    const auto s = rosenbrock(v);
    if constexpr (std::is_same_v<decltype(s), const tt::var<double>>) kept = s;
    return s;
  };
  std::optional r(tt::vjp(loop, x));
  tensor<double, 1> g;
  std::thread([&] {
    g = r->pull(1.0);
    r.reset();
  }).join();
  for (tt::index_t i = 0; i < 3; ++i) CHECK(g(i) == doctest::Approx(rosenbrock_derivative(x, i)).epsilon(1e-14));
  CHECK_THROWS_AS(kept * 2.0, tt::level_error);  // this thread forgot the tape when it was recorded
}
TEST_CASE("memory that runs out in the middle of an operation: nothing is lost, and the next try is right") {
  struct scarce : tt::mem::memory_resource {
    std::int64_t left = 0, out = 0;
    void* allocate(std::size_t bytes) override {
      if (left-- == 0) throw std::bad_alloc();
      ++out;
      return std::aligned_alloc(64, bytes);
    }
    void deallocate(void* p, std::size_t) noexcept override {
      --out;
      std::free(p);
    }
  } scarce;
  const tt::tensor<double, 1> x{1, 2, 3};
  const auto cube = tt::grad([](const auto& v) { return v * v * v + v; });
  std::int64_t allowed = 0;
  for (bool done = false; !done && allowed < 1000; ++allowed) {
    scarce.left = allowed;
    tt::mem::default_resource = &scarce;
    try {
      const auto g = tt::vmap(cube)(x);
      tt::mem::default_resource = nullptr;
      done = true;
      for (int i = 0; i < 3; ++i) CHECK(g(i) == 3 * x(i) * x(i) + 1);
    } catch (const std::bad_alloc&) {
      tt::mem::default_resource = nullptr;
    }
    CHECK(scarce.out == 0);
  }
  CHECK(allowed > 5);
}
