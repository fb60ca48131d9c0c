// The loops against plain element loops: any extents, strides, broadcasts, transposes and element types; and the promise
// that an element's bits depend neither on its place in a pack nor on the length of its row.
#include <doctest/doctest.h>
#include <cfenv>

#include <algorithm>
#include <complex>  // before tensor.hpp, which then knows complex numbers
#include <cstring>
#include <random>
#include <ttensor/tensor.hpp>
#include <vector>

namespace tt = ttensor;
using tt::index_t;

namespace {

std::mt19937 engine(20240607);
index_t below(index_t n) { return static_cast<index_t>(engine() % static_cast<unsigned>(n)); }

/// Small whole numbers, so that sums and products are exact in every element type.
template <class T> T whole() { return static_cast<T>(static_cast<float>(below(7)) - 3.0f); }
template <class T> T real() { return static_cast<T>(std::uniform_real_distribution<double>(-2, 2)(engine)); }

/// A random view of rank R over fresh elements: permuted axes, steps of either sign, axes of extent 1 with a broadcast.
template <class T, int R> struct random_view {
  tt::tensor<T, 1> room;
  tt::layout_map<R> map;
  random_view(const tt::dims<R>& e, bool may_broadcast) : room(1), map{} {
    int order[R];
    for (int d = 0; d < R; ++d) order[d] = d;
    std::shuffle(order, order + R, engine);
    index_t span = 1;
    for (int k = R - 1; k >= 0; --k) {
      const int d = order[k];
      map.extent[d] = may_broadcast && below(4) == 0 ? 1 : e[d];
      const index_t step = below(3) == 0 ? 2 : 1;
      map.stride[d] = span * step;
      span *= step * (map.extent[d] > 0 ? map.extent[d] : 1);
    }
    room = tt::tensor<T, 1>(span);
    for (index_t i = 0; i < span; ++i) room.data()[i] = whole<T>();
    for (int d = 0; d < R; ++d)
      if (below(4) == 0 && map.extent[d] > 0) {
        map.offset += (map.extent[d] - 1) * map.stride[d];
        map.stride[d] = -map.stride[d];
      }
  }
  tt::view_of<T, R> view() { return {room.elements().alias(), map}; }
  T at(const index_t* i) const {
    index_t p = map.offset;
    for (int d = 0; d < R; ++d) p += (map.extent[d] == 1 ? 0 : i[d]) * map.stride[d];
    return room.data()[p];
  }
};
template <int R, class F> void each(const tt::dims<R>& e, F f) {
  index_t i[R]{};
  for (int d = 0; d < R; ++d)
    if (e[d] == 0) return;
  for (;;) {
    f(static_cast<const index_t*>(i));
    int d = R - 1;
    for (; d >= 0; --d) {
      if (++i[d] < e[d]) break;
      i[d] = 0;
    }
    if (d < 0) return;
  }
}
template <int R> tt::dims<R> random_extents() {
  static const index_t sizes[] = {0, 1, 2, 3, 5, 8, 13, 16, 17, 31, 40, 65, 70};
  tt::dims<R> e;
  const int n = R == 1 ? 13 : R == 2 ? 13 : 9;
  for (int d = 0; d < R; ++d) e[d] = sizes[below(8) == 0 ? below(n) : 1 + below(n - 1)];
  return e;
}

template <class T, int R> void compare_layouts(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const auto e = random_extents<R>();
    random_view<T, R> a(e, true), b(e, true), c(e, true), y(e, false);
    tt::dims<R> s = a.map.extent;
    REQUIRE((tt::shape::broadcast_into(s, b.map.extent) && tt::shape::broadcast_into(s, c.map.extent)));
    const tt::tensor<T, R> fresh = a.view() * b.view() + c.view();
    REQUIRE(fresh.shape() == s);
    index_t at = 0, wrong = 0;
    each<R>(s, [&](const index_t* i) { wrong += !(fresh.data()[at++] == static_cast<T>(a.at(i) * b.at(i) + c.at(i))); });
    CHECK(wrong == 0);
    // into a view of any layout, the right side broadcast over it
    const std::vector<T> before(y.room.data(), y.room.data() + y.room.size());
    y.view() = a.view() * b.view() + c.view();
    wrong = 0;
    std::vector<bool> written(before.size());
    each<R>(e, [&](const index_t* i) {
      wrong += !(y.at(i) == static_cast<T>(a.at(i) * b.at(i) + c.at(i)));
      index_t p = y.map.offset;
      for (int d = 0; d < R; ++d) p += i[d] * y.map.stride[d];
      written[static_cast<std::size_t>(p)] = true;
    });
    for (std::size_t p = 0; p < before.size(); ++p) wrong += !written[p] && !(std::as_const(y.room).data()[p] == before[p]);  // and nothing beside it
    CHECK(wrong == 0);
    // in place, and through a temporary where the other side is the view mirrored
    y.view() = y.view() + c.view();
    wrong = 0;
    each<R>(e, [&](const index_t* i) { wrong += !(y.at(i) == static_cast<T>(static_cast<T>(a.at(i) * b.at(i) + c.at(i)) + c.at(i))); });
    CHECK(wrong == 0);
  }
}
/// A transposed operand, read and written, whose rows and columns fill several tiles and a part of one.
template <class T> void compare_transposes(index_t rows, index_t columns) {
  tt::tensor<T, 2> a(rows, columns), b(columns, rows), y(rows, columns), z(columns, rows);
  for (index_t i = 0; i < a.size(); ++i) a.data()[i] = whole<T>(), b.data()[i] = whole<T>();
  const tt::layout_map<2> turned{0, {{rows, columns}}, {{1, rows}}};
  y = a + tt::view_of<const T, 2>(b.elements().alias(), turned);
  tt::view_of<T, 2>(z.elements().alias(), turned) = a + tt::view_of<const T, 2>(b.elements().alias(), turned);
  index_t wrong = 0;
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < columns; ++j) {
      const T want = static_cast<T>(std::as_const(a)(i, j) + std::as_const(b)(j, i));
      wrong += !(std::as_const(y)(i, j) == want) || !(std::as_const(z)(j, i) == want);
    }
  CHECK(wrong == 0);
}
template <class T, int R> void compare_sums(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const auto e = random_extents<R>();
    random_view<T, R> a(e, false), b(e, true);
    const int axis = static_cast<int>(below(R));
    const auto s = sum(a.view() * b.view(), tt::axes{axis}, tt::keepdims);
    const auto total = sum(a.view() * b.view());
    std::vector<double> want(static_cast<std::size_t>(s.size()));
    double all = 0;
    each<R>(e, [&](const index_t* i) {
      index_t p = 0;
      for (int d = 0; d < R; ++d) p = p * s.shape()[d] + (d == axis ? 0 : i[d]);
      const double x = static_cast<double>(a.at(i)) * static_cast<double>(b.at(i));
      want[static_cast<std::size_t>(p)] += x;
      all += x;
    });
    index_t wrong = 0;
    for (std::size_t p = 0; p < want.size(); ++p) wrong += !(static_cast<double>(s.data()[p]) == want[p]);
    CHECK(wrong == 0);
    CHECK(static_cast<double>(total) == all);
  }
}
template <class T> bool same_bits(const T* a, const T* b, index_t n) { return n == 0 || std::memcmp(a, b, static_cast<std::size_t>(n) * sizeof(T)) == 0; }

/// f on every window of the data gives the bits that f on all of it gives there.
template <class T, class F> void windows(F f) {
  constexpr index_t most = 160;
  tt::tensor<T, 1> x(most), z(most);
  for (index_t i = 0; i < most; ++i) x.data()[i] = real<T>(), z.data()[i] = real<T>();
  const auto whole_result = eval(f(x, z));
  const auto* want = whole_result.data();
  index_t wrong = 0;
  for (index_t n = 0; n <= 100; ++n)  // longer than five packs of 16
    for (const index_t o : {index_t(0), index_t(1), index_t(7), index_t(33)}) {
      const tt::range window(o, o + n);
      const auto part = eval(f(x(window), z(window)));
      wrong += !same_bits(part.data(), want + o, n);
      // every second element, and backwards: through tiles
      const auto skipped = eval(f(x(tt::range(o, o + 2 * n < most ? o + 2 * n : most, 2)), z(tt::range(o, o + 2 * n < most ? o + 2 * n : most, 2))));
      for (index_t i = 0; i < skipped.size(); ++i) wrong += !same_bits(skipped.data() + i, want + o + 2 * i, 1);
      // rows of a matrix, with the window broadcast over them
      tt::tensor<T, 2> repeated(index_t(3), n);
      repeated(tt::ellipsis) = x(window);
      const auto rows = eval(f(repeated, z(window)));
      for (index_t r = 0; r < 3; ++r) wrong += !same_bits(rows.data() + r * n, want + o, n);
      // in place
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(*want)>, T>) {
        tt::tensor<T, 1> y = x(window) * T(1);
        y = f(y, z(window));
        wrong += !same_bits(std::as_const(y).data(), want + o, n);
      }
    }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("fresh, written through and in-place statements agree with element loops") {
  compare_layouts<double, 1>(60), compare_layouts<float, 1>(60);
  compare_layouts<double, 2>(80), compare_layouts<float, 2>(120), compare_layouts<std::int32_t, 2>(60);
  compare_layouts<float, 3>(60);
}
TEST_CASE("16-bit elements") {
  compare_layouts<tt::half, 2>(40), compare_layouts<tt::bfloat16, 1>(40);
}
TEST_CASE("transposes larger than a tile") {
  for (const index_t rows : {1, 16, 17, 40, 300})
    for (const index_t columns : {1, 256, 263, 530}) {
      compare_transposes<float>(rows, columns), compare_transposes<double>(rows, columns);
      compare_transposes<std::int16_t>(rows, columns), compare_transposes<tt::half>(rows, columns);
    }
}
TEST_CASE("rows of a few elements") {
  for (index_t n = 1; n < 20; ++n)
    for (const index_t m : {3, 16, 41, 300}) {
      const tt::tensor<double, 2> x = reshape(tt::to<double>(tt::arange(m * n)), m, n), c = reshape(tt::to<double>(tt::arange(m)), m, 1), t = reshape(x * 1.0, n, m);
      tt::tensor<double, 3> y(2, m, n);
      tt::tensor<float, 2> narrow(m, n);
      y(0) = x * c + transpose(t);
      y(1, tt::range(tt::end, tt::end, -1)) = x - c;
      y(0) = y(0) + c;
      narrow = tt::to<float>(x) * tt::to<float>(c);
      index_t wrong = 0;
      for (index_t i = 0; i < m; ++i)
        for (index_t j = 0; j < n; ++j)
          wrong += y(0, i, j) != x(i, j) * c(i, 0) + t(j, i) + c(i, 0) || y(1, m - 1 - i, j) != x(i, j) - c(i, 0) || narrow(i, j) != float(x(i, j)) * float(c(i, 0));
      CHECK(wrong == 0);
    }
}
TEST_CASE("sums over any axis of any layout are exact on whole numbers") {
  compare_sums<double, 1>(40), compare_sums<float, 2>(80), compare_sums<std::int32_t, 2>(40), compare_sums<float, 3>(60);
}
TEST_CASE("masks as outputs and operands") {
  for (index_t n = 0; n <= 70; ++n) {
    tt::tensor<float, 1> x(n);
    tt::tensor<double, 1> z(n);
    for (index_t i = 0; i < n; ++i) x.data()[i] = whole<float>(), z.data()[i] = whole<double>();
    const tt::tensor<bool, 1> m = x > 0, both = m && z > 0.0;
    const tt::tensor<float, 1> y = where(m, x, -x);
    index_t wrong = 0;
    for (index_t i = 0; i < n; ++i) {
      const float v = std::as_const(x).data()[i];
      wrong += m.data()[i] != (v > 0) || both.data()[i] != (v > 0 && std::as_const(z).data()[i] > 0) || y.data()[i] != (v > 0 ? v : -v);
    }
    CHECK(wrong == 0);
  }
}
TEST_CASE("an element's bits do not depend on its place") {
  auto products = [](const auto& x, const auto& z) { return x * z + z * x * x - x; };  // more than one way to contract
  auto functions = [](const auto& x, const auto& z) { return exp(-x * x) * sin(x) + tanh(z) / sqrt(x * x + 1); };
  auto compared = [](const auto& x, const auto& z) { return x * z > z; };
  windows<float>(products), windows<double>(products);
  windows<float>(functions), windows<double>(functions);
  windows<float>(compared), windows<double>(compared);
}
TEST_CASE_TEMPLATE("nor on whether its tensor is fixed: products are rounded by themselves", T, float, double) {
  tt::tensor<T, 2> x(6, 6), y(6, 6), z(6, 6);
  for (index_t i = 0; i < 36; ++i) x.data()[i] = real<T>(), y.data()[i] = real<T>();
  z = x * y;
  const tt::fixed<T, 6, 6> a = x, b = y, c = z;
  tt::fixed<T, 6, 6> d, e;
  d = a * b - c;
  e = T(0.1) * a - c;
  CHECK(tt::all(d == T(0)));
  CHECK(tt::all(e == tt::eval(T(0.1) * x - z)));
  tt::fixed<T, 4> f, g = eval(y(0, tt::range(0, 4))), h = eval(z(0, tt::range(0, 4))), k = eval(x(0, tt::range(0, 4)));
  f = k * g - h;
  CHECK(tt::all(f == T(0)));
  tt::fixed<T, 6, 6> u = a;  // read and written in one statement; a product; filled from a view of itself
  u = u * b + u;
  u -= b * u;
  tt::tensor<T, 2> want = x * y + x;
  want -= y * want;
  CHECK(tt::all(u == want));
  CHECK(tt::all(matmul(u, b) == matmul(want, y)));
  u = transpose(u);
  CHECK(tt::all(u == transpose(want)));
}
TEST_CASE("a statement longer than the unrolled loops") {
  windows<double>([](const auto& x, const auto& z) {
    return ((((x * z + z) * x - z) * x + z) * x - z) / (x * x + 2) + (((z * x + x) * z - x) * z + x) / (z * z + 3) + sqrt(x * x + z * z) * tanh(x - z);
  });
}
TEST_CASE("a sum does not depend on where its elements stand") {
  constexpr index_t most = 3 * 16384 + 100;
  tt::tensor<float, 1> x(most + 40);
  for (index_t i = 0; i < x.size(); ++i) x.data()[i] = real<float>();
  const std::vector<index_t> lengths{0, 1, 3, 15, 16, 17, 31, 33, 63, 64, 65, 100, 1000, 16383, 16384, 16385, 16384 + 16, 2 * 16384 + 7, most};
  for (const index_t n : lengths) {
    const float want = sum(x(tt::range(n)));
    double exact = 0;
    for (index_t i = 0; i < n; ++i) exact += static_cast<double>(std::as_const(x).data()[i]);
    CHECK(static_cast<double>(want) == doctest::Approx(exact).epsilon(1e-5));
    for (const index_t o : {index_t(1), index_t(5), index_t(16), index_t(39)}) {
      tt::tensor<float, 1> moved(x.size());
      for (index_t i = 0; i < n; ++i) moved.data()[o + i] = std::as_const(x).data()[i];
      CHECK(sum(moved(tt::range(o, o + n))) == want);
    }
    tt::tensor<float, 2> rows(3, n);  // as a row of a matrix
    rows(1, tt::all) = x(tt::range(n));
    const tt::tensor<float, 1> by_row = sum(rows, tt::axes{1});
    if (n == 0 || n >= tt::native_width_v<float>) CHECK(by_row.data()[1] == want);
    else CHECK(by_row.data()[1] == doctest::Approx(want).epsilon(1e-6));  // rows that fill no pack are summed across rows
  }
}
TEST_CASE("column sums do not depend on the width of the matrix, where its rows stay; nor where short rows change places with the sum") {
  constexpr index_t lanes = tt::native_width_v<float>;
  for (const index_t rows : {index_t(1), index_t(2), index_t(3), index_t(4), index_t(5), index_t(9), index_t(64), index_t(200)}) {
    tt::tensor<float, 2> x(rows, index_t(70));
    for (index_t i = 0; i < x.size(); ++i) x.data()[i] = real<float>();
    const tt::tensor<float, 1> want = sum(x, tt::axes{0});
    const index_t turned = rows < lanes ? 0 : std::min(lanes - 1, rows / 2);  // columns: rows of so many fill no pack, and the sum is twice as long
    for (index_t n = 2; n <= 70; ++n)  // one column alone is a vector, summed as a row
      for (const index_t o : {index_t(0), index_t(3)}) {
        if (o + n > 70) continue;
        const tt::tensor<float, 1> part = sum(x(tt::all, tt::range(o, o + n)), tt::axes{0});
        if (n > turned) {
          CHECK(same_bits(part.data(), want.data() + o, n));
        } else {
          const tt::tensor<float, 1> narrow = sum(x(tt::all, tt::range(o, o + turned)), tt::axes{0});
          CHECK(same_bits(part.data(), narrow.data(), n));
          CHECK(tt::all(abs(part - want(tt::range(o, o + n))) <= 1e-5f * (1.0f + abs(part))));
        }
      }
  }
}
TEST_CASE("results larger than the caches are written past them") {
  for (const index_t n : {(index_t(24) << 20) / 8 + 5, (index_t(24) << 20) / 8 + 16}) {
    tt::tensor<double, 1> x(n), y(n);
    for (index_t i = 0; i < n; ++i) x.data()[i] = static_cast<double>(i % 1013);
    y = x * 2.0 + 1.0;
    index_t wrong = 0;
    for (index_t i = 0; i < n; ++i) wrong += std::as_const(y).data()[i] != static_cast<double>(i % 1013) * 2 + 1;
    y = y * 2.0 + 1.0;  // in place
    for (index_t i = 0; i < n; ++i) wrong += std::as_const(y).data()[i] != static_cast<double>(i % 1013) * 4 + 3;
    CHECK(wrong == 0);
  }
}
TEST_CASE("statements of valid elements raise no floating-point exceptions, whatever stands behind the last one") {
  for (tt::index_t n = 1; n < 150; ++n) {
    tt::tensor<float, 1> a(n), b(n), y(n);
    tt::tensor<double, 1> c(n), d(n), z(n);
    a = 2.0f, b = 3.0f, c = 2.0, d = 3.0;
    std::feclearexcept(FE_ALL_EXCEPT);
    y = a / b;
    y = 1.0f / a + b;
    z = c / d;
    z = 1.0 / c + d;
    for (int k = 0; k < 300; ++k) z = z * 0.5 + d;
    CHECK(std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW) == 0);
    CHECK(z(0) == doctest::Approx(6));
  }
}
TEST_CASE("masks that are read twice") {
  const tt::tensor<bool, 1> a{true, false, true, false, true}, b{true, true, false, false, true};
  tt::tensor<bool, 1> y{false, true, true, false, false};
  y = (a && b) || !y || !a;
  for (int i = 0; i < 5; ++i) CHECK(bool(y(i)) == (i != 2));
}

TEST_CASE_TEMPLATE("complex numbers with tensor.hpp alone, where <complex> came before it", T, std::complex<float>, std::complex<double>) {
  static_assert(tt::is_complex_v<T>);
  using R = typename T::value_type;
  for (index_t n : {1, 7, 130}) {
    tt::tensor<T, 1> a(n), b(n);
    tt::tensor<R, 1> x(n);
    for (index_t i = 0; i < n; ++i) a(i) = T(R(below(7)) - 3, R(below(7)) - 3), b(i) = T(R(below(5)), R(below(5)) - 2), x(i) = R(below(9)) - 4;
    const tt::tensor<T, 1> y = a * b + x, z = conj(a) * x - b;
    const tt::tensor<R, 1> squares = tt::square(real(a)) + tt::square(imag(a));
    T total(0), want(0);
    for (index_t i = 0; i < n; ++i) {
      const T p = a(i), q = b(i);
      CHECK(T(y(i)) == p * q + R(x(i)));
      CHECK(T(z(i)) == std::conj(p) * R(x(i)) - q);
      CHECK(squares(i) == std::norm(p));
      want += p * R(x(i));
    }
    total = sum(a * x);
    CHECK(total == want);
  }
}
TEST_CASE("lerp rounds its product by itself, as the statement does") {  // contracted, these would differ by 200 units in the last place
  tt::tensor<double, 1> x(9);
  for (index_t i = 0; i < 9; ++i) x(i) = -0.857 - 1e-4 * static_cast<double>(i);
  CHECK(tt::all(lerp(x, 2.0, 0.3) == x + 0.3 * (2.0 - x)));
  const auto f = tt::to<float>(x);
  CHECK(tt::all(lerp(f, 2.0f, 0.3f) == f + 0.3f * (2.0f - f)));
}
