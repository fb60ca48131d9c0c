// Statements that name one array several times run a program in which it is one leaf. The result may not show it.
#include "tensor/merging.hpp"
#include <algorithm>
#include <complex>

namespace merge_test {
namespace {
template <class E> using tree_of = std::remove_cvref_t<decltype(tt::expr::tree(std::declval<const E&>()))>;
template <class F, class... A> using merged_of = tt::merged<tree_of<std::invoke_result_t<F, const A&...>>>;

// A copy with elements of its own: a statement that names it cannot merge.
template <class T> tt::tensor<T, 1> apart(const tt::tensor<T, 1>& x) {
  tt::tensor<T, 1> y(x.size());
  for (index_t i = 0; i < x.size(); ++i) y.data()[i] = x.data()[i];
  return y;
}

const auto rational = [](const auto& a, const auto& b, const auto& c, const auto& d) { return (a * b * c + 2.0 * d) / (1.5 + a * a) - b; };
const auto squares = [](const auto& a, const auto& b, const auto& c, const auto& d) { return (a - b) * (c - d); };
const auto seven = [](const auto& a, const auto& b, const auto& c, const auto& d) { return (a - b + a) * (c - d + c) - d; };
const auto valley = [](const auto& a, const auto& b, const auto& c, const auto& d) { return 100.0 * ((a - b * b) * (c - d * d)) + (1.0 - b) * (1.0 - d); };
const auto leaky = [](const auto& a, const auto& b, const auto& c) { return where(a > 0.0, b, 0.1 * c); };
[[maybe_unused]] const auto product_sum = [](const auto& a, const auto& b, const auto& c) { return a * b + c; };
const auto polynomial = [](const auto& a, const auto& b, const auto& c, const auto& d) { return (0.5 * a + 1.25) * b / (c * c + 1.5) + d; };
const auto from_summand = [](const auto& a, const auto& b, const auto& c, const auto& d) { return d - (0.5 * a + 1.25) * b / (c * c + 1.5); };
template <class F> constexpr bool same_of(const F&, const int (&want)[8]) {  // by leaf, numbers too
  const auto same = merged_of<F, vec, vec, vec, vec>::same;
  for (int k = 0; k < same.size(); ++k)
    if (same.v[k] != want[k]) return false;
  return same.size() == 8;
}
}  // namespace

static_assert(same_of(polynomial, {0, 1, 2, 1, 1, 1, 6, 7}), "a last summand is taken to be another array");
static_assert(same_of(from_summand, {0, 1, 2, 3, 2, 2, 2, 7}), "a first summand too");

static_assert(merged_of<decltype(two_waves), vec, vec, vec, vec>::same.v[2] == 0 && merged_of<decltype(two_waves), vec, vec, vec, vec>::same.v[3] == 3, "so is an array that is alone in the last summand");
static_assert(merged_of<decltype(rational), vec, vec, vec, vec>::exists);
static_assert(merged_of<decltype(squares), vec, vec, vec, vec>::program::length == 4, "two loads, one difference, one product");
static_assert(merged_of<decltype(leaky), vec, vec, vec>::exists);
static_assert(merged_of<decltype(valley), vec, vec, vec, vec>::program::length == 16, "equal parts of several arrays come before one array throughout: a - b * b once");
static_assert(!merged_of<decltype(product_sum), vec, vec, vec>::exists, "names that are hardly ever one array cost no second program");

// ---- names of expressions ----------------------------------------------------------------------------------------------
namespace {
template <class A> auto quotient(const A& a) {
  const auto e = exp(2.0 * a);
  return (e - 1.0) / (e + 1.0);
}
template <class E> using names_of = tt::merged<tree_of<E>>;
}  // namespace
static_assert(tt::has_names_v<tree_of<decltype(lennard_jones(vec()))>>);
static_assert(names_of<decltype(lennard_jones(vec()))>::program::length == tt::program_of<tree_of<decltype(with_let(vec()))>>::length, "as with let");
static_assert(names_of<decltype(sigmoid_slope(vec()))>::program::length == 10, "s = 1 / (1 + exp(-x)), 1 - s: one division, one exp; the other 1 may be another number");
static_assert(names_of<decltype(quotient(vec()))>::program::length == 9);
static_assert(tt::program_of<tree_of<decltype(distances(vec(), vec(), vec()))>>::length == 235 && names_of<decltype(distances(vec(), vec(), vec()))>::program::length == 31);
static_assert(names_of<decltype(vec() * sigmoid_slope(vec()))>::program::length == 12, "the other array is another");
static_assert(tt::has_names_v<tree_of<decltype(tanh(vec()) * tanh(vec()) * vec())>>, "without a number");
// What is most likely no name: numbers of other values.
static_assert(!tt::has_names_v<tree_of<decltype((vec() - 1.0) * (vec() - 2.0))>>, "arithmetic");
static_assert(!tt::has_names_v<tree_of<decltype(332.0 / vec() + 1.0 / vec())>>);
static_assert(!tt::has_names_v<tree_of<decltype(3.0 * exp(-2.0 * vec()) + 4.0 * exp(-5.0 * vec()) - exp(-6.0 * vec()) / 7.0)>>, "a sum of exponentials");
static_assert(tt::has_names_v<tree_of<decltype(exp(-2.0 * vec()) * exp(-2.0 * vec()))>>, "its product is likely a square");

TEST_CASE_TEMPLATE("names of one array and names of equal arrays give the same bits", T, double, float) {
  for (const index_t n : sizes) {
    const auto x = wave<T>(n, 0.1), z = wave<T>(n, 1.3);
    const auto x1 = apart(x), x2 = apart(x), x3 = apart(x), z1 = apart(z);
    CHECK(same_bits<T>(rational(x, x, x, x), rational(x, x1, x2, x3)));
    CHECK(same_bits<T>(rational(x, x, x, z), rational(x1, x2, x3, z1)));  // not all of one name
    CHECK(same_bits<T>(polynomial(x, x, x, z), polynomial(x, x1, x2, z1)));
    CHECK(same_bits<T>(polynomial(x, x, x, x), polynomial(x, x1, x2, x3)));
    CHECK(same_bits<T>(from_summand(x, x, x, z), from_summand(x, x1, x2, z1)));
    CHECK(same_bits<T>(from_summand(x, z, x, z), from_summand(x1, z1, x2, z)));
    CHECK(same_bits<T>(two_waves(x, x, x, z), two_waves(x, x1, x2, z1)));
    CHECK(same_bits<T>(two_waves(x, x, x, x), two_waves(x, x1, x2, x3)));
    CHECK(sum(polynomial(x, x, x, z)) == sum(polynomial(x, x1, x2, z1)));
    CHECK(same_bits<T>(squares(x, z, x, z), squares(x, z, x1, z1)));
    CHECK(same_bits<T>(squares(x, z, z, x), squares(x, z, z1, x1)));      // equal parts, but not of equal arrays
    CHECK(same_bits<T>(squares(x, x, x, x), squares(x, x1, x2, x3)));
    CHECK(same_bits<T>(valley(x, z, x, z), valley(x, z, x1, z1)));
    CHECK(same_bits<T>(valley(x, x, x, x), valley(x, x1, x2, x3)));
    CHECK(same_bits<T>(leaky(x, x, x), leaky(x, x1, x2)));
    CHECK(same_bits<T>(leaky(x, z, x), leaky(x, z1, x2)));
    CHECK(sum(squares(x, z, x, z)) == sum(squares(x, z, x1, z1)));
    CHECK(sum(squares(x, z, z, x)) == sum(squares(x, z, z1, x1)));
    CHECK(sum(squares(x, z, z, x)) == -sum(squares(x, z, x, z)));
    CHECK(sum(seven(x, z, z, x)) == sum(seven(x, z, z1, x1)));
    CHECK(sum(seven(x, z, x, z)) == sum(seven(x, z, x1, z1)));
    CHECK(sum(rational(x, x, x, x)) == sum(rational(x, x1, x2, x3)));
    auto in_place = apart(x);
    in_place = rational(in_place, in_place, in_place, in_place);
    CHECK(same_bits<T>(in_place, rational(x, x1, x2, x3)));
    auto written = apart(z);
    written = squares(x, written, x, written);
    CHECK(same_bits<T>(written, squares(x, z, x1, z1)));
  }
}
TEST_CASE_TEMPLATE("names of expressions give the bits that let, and names that differ, give", T, double, float) {
  for (const index_t n : sizes) {
    const auto x = wave<T>(n, 0.1), z = wave<T>(n, 1.3);
    const auto x1 = apart(x);
    const T one = 1;
    CHECK(same_bits<T>(lennard_jones(x), with_let(x)));
    CHECK(same_bits<T>(lennard_jones(x), lennard_jones(one, one, x, x1)));   // other arrays
    CHECK(same_bits<T>(lennard_jones(one, one, x, x), with_let(x)));
    CHECK(same_bits<T>(lennard_jones(one, one, x, z), let(let(one / x, [&](auto i2) { return i2 * (one / z) * i2; }), [](auto i6) { return 4.0 * (i6 * i6 - i6); })));  // two arrays
    CHECK(same_bits<T>(lennard_jones(2, 3, x, x), lennard_jones(2, 3, x, x1)));  // other numbers
    CHECK(same_bits<T>(lennard_jones(0.0, -0.0, x, x), lennard_jones(0.0, -0.0, x, x1)));
    CHECK(same_bits<T>(sigmoid_slope(x), let(1.0 / (1.0 + exp(-x)), [](auto s) { return s * (1.0 - s); })));
    CHECK(same_bits<T>(quotient(x), let(exp(2.0 * x), [](auto e) { return (e - 1.0) / (e + 1.0); })));
    CHECK(sum(lennard_jones(one, one, x, x)) == sum(lennard_jones(one, one, x, x1)));
    CHECK(sum(lennard_jones(2, 3, x, x)) == sum(lennard_jones(2, 3, x, x1)));
    const auto back = [&](const auto& v) { return v(tt::range(tt::range::open, tt::range::open, -1)); };
    CHECK(same_bits<T>(lennard_jones(back(x)), with_let(back(x))));
    CHECK(sum(lennard_jones(one, one, back(x), back(x))) == sum(lennard_jones(one, one, back(x), back(x1))));
    CHECK(tt::vjp([&](const auto& v) { return sum(lennard_jones(one, one, v, z)); }, x).y == sum(lennard_jones(one, one, x, z)));  // a variable and a constant, or two constants
    auto in_place = apart(x);
    in_place = lennard_jones(in_place);
    CHECK(same_bits<T>(in_place, with_let(x)));
  }
  const tt::tensor<T, 2> m = reshape(wave<T>(35, 0.2), {5, 7});
  const tt::tensor<T, 1> row = wave<T>(7, 0.4);
  CHECK(tt::all(lennard_jones(m) == with_let(m)));
  const tt::tensor<T, 2> m1 = m + T(0);
  for (const int axis : {0, 1}) CHECK(tt::all(sum(lennard_jones(1.0, 1.0, m, m), axis) == sum(lennard_jones(1.0, 1.0, m, m1), axis)));
  CHECK(tt::all(lennard_jones(m + row) == with_let(m + row)));  // over axes
  const tt::tensor<T, 1> single{T(0.7)};
  CHECK(tt::all(tt::tensor<T, 1>(row * lennard_jones(single)) == tt::tensor<T, 1>(row * with_let(single))));
}
TEST_CASE("names of expressions: a signed zero is not the other, NaN is itself") {
  const auto product = [](double c, double d, const vec& v) {
    vec y = 0.0 * v;
    y = (c / v) * (d / v);  // into memory that is there
    return y;
  };
  for (const index_t n : {2, 24}) {  // fewer than a register takes, and all in registers
    vec x = tt::full<double>({n}, 0.5);
    x(1) = -2.0;
    CHECK(std::signbit(product(0.0, -0.0, x)(0)));
    CHECK_FALSE(std::signbit(product(0.0, 0.0, x)(0)));
    CHECK_FALSE(std::signbit(product(-0.0, -0.0, x)(0)));
    CHECK(std::isnan(product(std::nan(""), std::nan(""), x)(1)));
    CHECK(product(2.0, 3.0, x)(1) == 1.5);
    CHECK(sum(product(2.0, 3.0, x)) == 24.0 * static_cast<double>(n - 1) + 1.5);
    CHECK(sum((2.0 / x) * (3.0 / x)) == 24.0 * static_cast<double>(n - 1) + 1.5);
  }
}
TEST_CASE("names of one array, one element of it, beside a row of complex numbers") {
  using C = std::complex<double>;
  tt::tensor<C, 1> row(5), s(1);  // fewer than a pack: staged, and s has one element to read
  for (index_t i = 0; i < 5; ++i) row.data()[i] = C(static_cast<double>(i), 1);
  s.data()[0] = C(2, 1);
  const tt::tensor<C, 1> y = row * ((1.0 / s) * (1.0 / s)), z = row * (s * s + C(1)) * (s * s + C(2));
  const C q = s.data()[0];
  for (index_t i = 0; i < 5; ++i) {
    CHECK(std::abs(y.data()[i] - row.data()[i] / (q * q)) < 1e-15);
    CHECK(std::abs(z.data()[i] - row.data()[i] * (q * q + 1.0) * (q * q + 2.0)) < 1e-13);
  }
}
TEST_CASE("a statement with names of expressions is one loop, recorded one node") {
  const vec x = 1.5 + wave<double>(16, 0.3);
  vec y(16);
  const auto before = tt::counts.loops;
  y = lennard_jones(x);
  CHECK(tt::counts.loops == before + 1);
  const auto loops = tt::counts.loops, nodes = tt::tapes::stats.nodes;
  tt::grad([&](const auto& v) {
    const auto e = eval(lennard_jones(v));
    CHECK(tt::counts.loops == loops + 1);
    CHECK(tt::tapes::stats.nodes == nodes + 1);
    return sum(e);
  })(x);
}
TEST_CASE("names of expressions: holds are dropped, memory is used again, loops are counted once") {
  for (const index_t n : {16, 1000}) {
    vec x = tt::full<double>({n}, 2.0), z = tt::full<double>({n}, 1.0), y = tt::full<double>({n}, 3.0), o(n);
    const double* const place = x.data();
    o = ((x - z) * ((x - z) * y)) * ((x - z) * y);  // names of arrays alone: the second y is the first name of no third
    o = quotient(x);
    x(0) = 5;
    CHECK(x.data() == place);  // nobody holds it any more
    x = quotient(x(tt::range(0, n)));
    CHECK(x.data() == place);
    tt::jvp([&](const auto& v) {
      auto w = eval(v + 0.0);
      const auto blocks = tt::mem::stats.blocks;
      w = quotient(w);
      CHECK(tt::mem::stats.blocks == blocks);
      return w;
    }, x, z);
    const auto loops = tt::counts.loops;
    static_cast<void>(sum(quotient(x)));
    static_cast<void>(sum(quotient(x(tt::range(2, 14)))));
    static_cast<void>(tt::max(quotient(x(tt::range(2, 14)))));
    CHECK(tt::counts.loops == loops + 3);
    o(tt::range(1, n)) = lennard_jones(y(tt::range(1, n)));
    CHECK(tt::counts.loops == loops + 4);
    CHECK(same_bits<double>(vec(o(tt::range(1, n))), with_let(y(tt::range(1, n)))));
  }
}
// ---- alike summands, and the bodies of let -----------------------------------------------------------------------------
namespace {
// Squares of coordinates, each the minimum image in a box.
const auto image = [](const auto& d) { return d - 3.0 * round(d / 3.0); };
const auto square_sum = [](const auto& a, const auto& b, const auto& c, const auto& d) {
  const auto dx = a - b, dy = c - d;
  return dx * dx + dy * dy;
};
const auto box_square_sum = [](const auto& a, const auto& b, const auto& c, const auto& d) {
  const auto dx = image(a - b);
  const auto dy = image(c - d);
  return dx * dx + dy * dy;
};
const auto box_energy = [](const auto& a, const auto& b, const auto& c, const auto& d) {
  const auto i2 = 1.0 / (box_square_sum(a, b, c, d) + 0.5);
  return i2 * i2 * i2;
};
const auto two_differences = [](const auto& a, const auto& b, const auto& c, const auto& d) {
  const auto e = exp((a - b) * (c - d));
  return (e - 1.0) / (e + 1.0);
};
// The same name of alike numbers c and d, in the body of a let.
const auto pair_energy = [](double c, double d) {
  return [c, d](const auto& u) {
    const auto i2 = c / u;
    const auto j2 = d / u;
    const auto i6 = i2 * j2 * i2;
    return 4.0 * (i6 * i6 - i6);
  };
};
}  // namespace
static_assert(merged_of<decltype(square_sum), vec, vec, vec, vec>::program::length == 9, "two differences of two arrays each, not one four times");
static_assert(merged_of<decltype(box_square_sum), vec, vec, vec, vec>::program::length == 21, "a difference of two arrays is computed once in its image");
static_assert(names_of<decltype(image(vec() - vec()) * image(vec() - vec()) + (image(vec() - vec()) * image(vec() - vec()) + image(vec() - vec()) * image(vec() - vec())))>::program::length == 32, "summands on both sides");
static_assert(merged_of<decltype(box_energy), vec, vec, vec, vec>::program::length == 27);
static_assert(!tt::merged<tree_of<decltype(vec() * vec() + vec() * vec())>>::exists, "products of other arrays, most likely");
static_assert(tt::has_names_v<tree_of<decltype(sigmoid_slope(vec()) + sigmoid_slope(vec()))>>, "two names of one form");
static_assert(names_of<decltype(let(vec(), pair_energy(1, 1)))>::program::length == 9, "a let knows what is one array, not what is one number");
static_assert(names_of<decltype(tt::fuse([](auto a, auto b) { return pair_energy(1, 1)(a) * pair_energy(1, 1)(b); }, vec(), vec()))>::program::length == 19,
              "what fuse binds apart is apart");
static_assert(merged_of<decltype(two_differences), vec, vec, vec, vec>::program::length == 13, "a product of two differences may be no square: the name holds for it, too");

TEST_CASE("alike summands: names in each give the bits that other arrays give") {
  for (const index_t n : sizes) {
    const vec a = wave<double>(n, 0.1), b = wave<double>(n, 1.3), c = 4.0 * wave<double>(n, 0.7), d = -2.0 * wave<double>(n, 2.7);
    const auto at_once = [&](const vec& p, const vec& q, const vec& r, const vec& s) {
      const vec x = p - q, y = r - s, dx = x - 3.0 * round(x / 3.0), dy = y - 3.0 * round(y / 3.0);
      return vec(dx * dx + dy * dy);
    };
    CHECK(same_bits<double>(box_square_sum(a, b, c, d), at_once(a, b, c, d)));
    CHECK(same_bits<double>(square_sum(a, b, c, d), vec((a - b) * (a - b) + (c - d) * (c - d))));
    CHECK(same_bits<double>(square_sum(a, b, c, d), square_sum(apart(a), b, c, apart(d))));
    CHECK(same_bits<double>(box_square_sum(a, b, a, b), at_once(a, b, a, b)));
    CHECK(same_bits<double>(box_square_sum(a, a, c, c), at_once(a, a, c, c)));
    const vec e = 1.0 / (at_once(a, b, c, d) + 0.5);
    CHECK(same_bits<double>(box_energy(a, b, c, d), e * e * e));
    const vec product = exp(vec(a - b) * vec(c - d));
    CHECK(same_bits<double>(two_differences(a, b, c, d), (product - 1.0) / (product + 1.0)));
    const auto x = a - b, y = c - d, z = d - a;  // not squares: one name stands with another
    CHECK(same_bits<double>(x * y + y * z, vec(vec(x) * vec(y) + vec(y) * vec(z))));
    const auto u = image(x), v = image(y);
    CHECK(same_bits<double>(u * v + v * u, vec(2.0 * (vec(u) * vec(v)))));
    const auto s = 1.0 / (1.0 + exp(-a)), t = 1.0 / (1.0 + exp(-b));
    const vec s1 = s, t1 = t;
    CHECK(same_bits<double>(s * (1.0 - s) + t * (1.0 - t), s1 * (1.0 - s1) + t1 * (1.0 - t1)));
    CHECK(same_bits<double>(s * (1.0 - s) - t * (1.0 - t), s1 * (1.0 - s1) - t1 * (1.0 - t1)));
    const auto s2 = 1.0 / (1.0 + exp(-apart(a))), t2 = 1.0 / (1.0 + exp(-apart(b)));  // as long a statement: a sum of the elements s1 has more chains
    CHECK(sum(s * (1.0 - s) - t * (1.0 - t)) == sum(s * (1.0 - s2) - t * (1.0 - t2)));
  }
}
TEST_CASE("alike summands in a gradient against the closed form") {
  const index_t n = 40;
  const vec a = wave<double>(n, 0.1), b = wave<double>(n, 1.3), c = 4.0 * wave<double>(n, 0.7), d = -2.0 * wave<double>(n, 2.7);
  const auto [ga, gb, gc, gd] = tt::grad<0, 1, 2, 3>([](const auto& p, const auto& q, const auto& r, const auto& s) { return sum(box_energy(p, q, r, s)); })(a, b, c, d);
  double worst = 0;
  for (index_t i = 0; i < n; ++i) {
    const double x = a(i) - b(i), y = c(i) - d(i), dx = x - 3 * std::nearbyint(x / 3), dy = y - 3 * std::nearbyint(y / 3);
    const double slope = -6 * std::pow(dx * dx + dy * dy + 0.5, -4), scale = 1 / (1 + std::abs(slope));
    worst = std::max({worst, scale * std::abs(ga(i) - slope * dx), scale * std::abs(gb(i) + slope * dx), scale * std::abs(gc(i) - slope * dy), scale * std::abs(gd(i) + slope * dy)});
  }
  CHECK(worst < 1e-13);
}
namespace {
// Two states that change places, then one beside them: many paths to few instructions.
template <int N> auto one_state(auto i, auto a, auto b) {
  if constexpr (N == 0) return a * b * i;
  else return let(i * i + i, [=](auto p) { return one_state<N - 1>(p, a, b); });
}
template <int N> auto two_states(auto a, auto b, const vec& c) {
  if constexpr (N == 0) return let(exp(c), [=](auto i) { return one_state<10>(i, a, b); });
  else return tt::fuse([=](auto p, auto q) { return two_states<N - 1>(p, q, c); }, a * b + a, b * a + b);
}
}  // namespace
TEST_CASE("names behind many paths through let and fuse") {
  const vec a{-5, -6, -7}, b{-4, -3, -8}, c{-6, -7, -9};
  const vec y = let(exp(a), [=](auto p) { return let(exp(b), [=](auto q) { return two_states<10>(p, q, c); }); });
  for (index_t i = 0; i < 3; ++i) {
    double p = std::exp(a(i)), q = std::exp(b(i)), r = std::exp(c(i));
    for (int k = 0; k < 10; ++k) {
      const double old = p;
      p = p * q + p, q = q * old + q, r = r * r + r;
    }
    CHECK(y(i) == doctest::Approx(p * q * r).epsilon(1e-13));
  }
}
TEST_CASE("names in the body of let and fuse: values, sums and derivatives") {
  const auto nested = [](double c, double d) {
    return [=](const auto& v) {
      return let(v * v, [=](auto a) {
        return let(pair_energy(c, d)(a + 1.0), [=](auto e) {
          const auto t = exp(c * e);
          return t / (1.0 + t) + a * e;
        });
      });
    };
  };
  for (const index_t n : {1, 5, 16, 1000}) {
    const vec x = 1.5 + wave<double>(n, 0.3), z = 1.1 + wave<double>(n, 1.7), w = wave<double>(n, 2.1);
    for (const double d : {2.0, 3.0}) {  // one number, two numbers
      const vec u = x * x, e = pair_energy(2, d)(u), other = pair_energy(2, d)(z);
      CHECK(same_bits<double>(let(x * x, pair_energy(2, d)), e));
      CHECK(same_bits<double>(tt::fuse([&](auto a, auto b) { return pair_energy(2, d)(a) * pair_energy(2, d)(b); }, u, z), e * other));
      CHECK(same_bits<double>(let(u, [&](auto a) { return pair_energy(2, d)(a) * pair_energy(2, d)(z); }), e * other));  // z is captured
      CHECK(std::abs(sum(let(x * x, pair_energy(2, d))) - sum(e)) <= 1e-12 * (1 + sum(abs(e))));
      // f(v) = sum g(v * v), g(u) = 4 (q^2 - q), q = k u^-3, k = c^2 d
      const auto f = [&](const auto& v) { return sum(let(v * v, pair_energy(2, d))); };
      const vec g = tt::grad(f)(x), h = tt::hvp(f, x, w), mapped = tt::vmap(tt::grad(f))(reshape(x, {n, 1}))(tt::all, 0);
      const auto along = tt::jvp([&](const auto& v) { return eval(let(v * v, pair_energy(2, d))); }, x, w);
      const double k = 4 * d;
      double worst = 0;
      for (index_t i = 0; i < n; ++i) {
        const double p = x(i), slope = 4 * (-12 * k * k * std::pow(p, -13) + 6 * k * std::pow(p, -7)), curve = 4 * (156 * k * k * std::pow(p, -14) - 42 * k * std::pow(p, -8));
        for (const auto& [got, want] : {std::pair{g(i), slope}, {mapped(i), slope}, {h(i), curve * w(i)}, {along.y_dot(i), slope * w(i)}})
          worst = std::max(worst, std::abs(got - want) / (std::abs(want) + 1));
      }
      CHECK(worst < 1e-11);
      const vec q = eval(x * x), inner = pair_energy(0.2, 0.1 * d)(q + 1.0), t = exp(0.2 * inner);
      CHECK(same_bits<double>(nested(0.2, 0.1 * d)(x), t / (1.0 + t) + q * inner));
    }
  }
  CHECK(tt::explain(let(1.5 + wave<double>(16, 0.3), pair_energy(2, 2))).find("names of one expression merged") != std::string::npos);
  CHECK(tt::explain(let(1.5 + wave<double>(16, 0.3), pair_energy(2, 3))).find("merged") == std::string::npos);
}
TEST_CASE("explain says what runs where names of expressions are merged") {
  const tt::tensor<double, 2> m = reshape(wave<double>(18, 0.2), {3, 6});
  tt::jvp([&](const auto& v) {
    const auto i2 = 1.0 / v;
    const auto text = tt::explain((i2 * i2) * m);  // a dual is two planes
    CHECK(text.find("double (3,6), strides (6,1), 144 bytes") != std::string::npos);
    CHECK(text.find("bytes: 240 read") != std::string::npos);
    return eval(v + 0.0);
  }, vec(1.5 + wave<double>(6, 0.1)), vec(wave<double>(6, 0.7)));
  const vec x = 1.5 + wave<double>(16, 0.3);
  CHECK(tt::explain(lennard_jones(x)).find("program: 9 instructions, names of one expression merged") != std::string::npos);
  CHECK(tt::explain(lennard_jones(x(tt::range(2, 9)))).find("program: 9 instructions, names of one expression merged") != std::string::npos);
  CHECK(tt::explain(lennard_jones(1.0, 2.0, x, x)).find("program: 37 instructions") != std::string::npos);
}
TEST_CASE("views of one array under different maps are not one array") {
  const auto x = wave<double>(64, 0.4);
  const auto even = x(tt::range(0, 64, 2)), head = x(tt::range(0, 32)), back = x(tt::range(31, tt::range::open, -1));
  const vec e = even, h = head, b = back;
  CHECK(same_bits<double>(rational(even, head, even, back), rational(e, h, e, b)));
  CHECK(same_bits<double>(squares(head, back, head, back), squares(h, b, h, b)));
}
TEST_CASE("let and fuse inside a costly sum") {
  const vec x{1.0, -0.5};
  const auto r = tt::value_and_grad([](const auto& v) { return sum(let(v * exp(v) + v, [](auto t) { return t * t; })); })(x);
  const auto q = tt::value_and_grad([](const auto& v) { return sum(v * exp(v) * v + fuse([](auto t) { return t * t * exp(t); }, v)); })(x);
  double value = 0, other = 0;
  for (int i = 0; i < 2; ++i) {
    const double a = x(i), e = std::exp(a), t = a * e + a;
    value += t * t, other += 2 * a * a * e;
    CHECK(r.grad(i) == doctest::Approx(2 * t * (e + a * e + 1)).epsilon(1e-13));
    CHECK(q.grad(i) == doctest::Approx(2 * (2 * a + a * a) * e).epsilon(1e-13));
  }
  CHECK(r.value == doctest::Approx(value).epsilon(1e-13));
  CHECK(q.value == doctest::Approx(other).epsilon(1e-13));
}

// ---- fewer elements than a register ------------------------------------------------------------------------------------
namespace {
// Blocks with a pattern behind them, which must stay.
struct guarded : tt::mem::memory_resource {
  static constexpr std::size_t fence = 256;
  bool intact = true;
  void* allocate(std::size_t bytes) override {
    char* p = static_cast<char*>(std::aligned_alloc(64, (bytes + fence + 63) / 64 * 64));
    std::memset(p, 0xA5, bytes + fence);
    return p;
  }
  void deallocate(void* p, std::size_t bytes) noexcept override {
    for (std::size_t i = 0; i < fence; ++i) intact = intact && static_cast<unsigned char*>(p)[bytes + i] == 0xA5;
    std::free(p);
  }
};
template <class T, class U> void short_statements(guarded& memory) {
  tt::mem::default_resource = &memory;
  index_t wrong = 0;
  for (index_t n = 0; n <= 20; ++n) {
    tt::tensor<T, 1> a(n), b(n), y(n);
    tt::tensor<U, 1> u(n), w(n);
    tt::tensor<bool, 1> m(n);
    for (index_t i = 0; i < n; ++i) a.data()[i] = static_cast<T>(i + 1), b.data()[i] = static_cast<T>(3 - i), u.data()[i] = static_cast<U>(2 * i);
    y = a * b + a;
    m = a > b;
    w = where(m, u, -u) / static_cast<U>(2);
    for (index_t i = 0; i < n; ++i) {
      wrong += y(i) != static_cast<T>(static_cast<T>(i + 1) * static_cast<T>(3 - i) + static_cast<T>(i + 1));
      wrong += m(i) != (i + 1 > 3 - i);
      wrong += w(i) != static_cast<U>(i + 1 > 3 - i ? i : -i);
    }
    y = y - a * b;
    for (index_t i = 0; i < n; ++i) wrong += y(i) != static_cast<T>(i + 1);
  }
  tt::mem::default_resource = nullptr;
  CHECK(wrong == 0);
  CHECK(memory.intact);
}
}  // namespace
TEST_CASE("statements on fewer elements than a register stay in their blocks") {
  guarded memory;
  short_statements<double, double>(memory), short_statements<float, float>(memory), short_statements<double, float>(memory);
  short_statements<std::int32_t, std::int32_t>(memory), short_statements<std::int64_t, std::int32_t>(memory), short_statements<float, std::int64_t>(memory);
}
}  // namespace merge_test
