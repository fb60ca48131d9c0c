// gradcheck: whether the derivatives of a function agree with each other and with finite differences. For tests; all.hpp leaves it out.
#pragma once
#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>
#include "all.hpp"

TTENSOR_BEGIN

/// What gradcheck found: true when all derivatives agree; printed, a table of those that differ most.
struct gradcheck_result {
  struct entry {
    index_t output, input;  // numbers of the elements, leaf after leaf, row-major
    double forward, reverse, difference;  // of one partial derivative, three ways
    double error;                         // the largest distance between two of them, relative to max(1, |largest|)
  };
  std::vector<entry> entries;  // the largest errors first, ten at most
  index_t outputs = 0, inputs = 0;
  double worst = 0;      // the largest error of all; NaN when a derivative is NaN in one way and not in the others
  double tolerance = 0;  // what it may be
  explicit operator bool() const { return worst <= tolerance; }

  friend std::ostream& operator<<(std::ostream& os, const gradcheck_result& r) {
    os << "gradcheck: " << r.outputs << " x " << r.inputs << " derivatives " << (r ? "agree" : "DIFFER") << ", largest error " << r.worst << " (tolerance " << r.tolerance << ")\n";
    os << "  output   input        forward        reverse   differences     error\n";
    for (const entry& e : r.entries) {
      char line[120];
      std::snprintf(line, sizeof line, "%8lld%8lld%15.7g%15.7g%14.6g%10.2g\n", static_cast<long long>(e.output), static_cast<long long>(e.input), e.forward, e.reverse, e.difference, e.error);
      os << line;
    }
    return os;
  }
};

namespace testing_detail {
using jacobian_detail::basis;
using jacobian_detail::leaf_size;

/// f(which, k, value) for every number of a tree: element k of leaf number `which`.
template <class T, class F> void each_number(const T& t, F&& f) {
  int which = 0;
  tree::for_each([&]<class L>(const L& l) {
    using S = scalar_t<L>;
    static_assert(depth_v<S> == 0, "ttensor: gradcheck is for plain numbers; call it outside of transforms");
    static_assert(!is_complex_v<elem_t<S>>, "ttensor: gradcheck is for real functions; give the real and the imaginary part");
    static_assert(is_complex_v<elem_t<S>> || sizeof(elem_t<S>) >= 4, "ttensor: gradcheck wants float or double; differences of shorter numbers say nothing");
    if constexpr (tree::tensor_leaf<L>) {
      const auto elements = l.elements();
      for (index_t k = 0; k < l.size(); ++k) f(which, k, static_cast<double>(elements.get(k)));
    } else {
      f(which, 0, static_cast<double>(l));
    }
    ++which;
  }, t);
}
template <class T> std::vector<double> numbers(const T& t) {
  std::vector<double> v;
  each_number(t, [&](int, index_t, double x) { v.push_back(x); });
  return v;
}
/// The tree with another number in element k of leaf number `which`.
template <class T> T with_number(T t, int which, index_t k, double x) {
  int i = 0;
  tree::for_each([&]<class L>(L& l) {
    if (i++ == which) jacobian_detail::set_element(l, k, static_cast<scalar_t<L>>(x));
  }, t);
  return t;
}
template <class T> bool has_floats(const T& t) {
  bool any = false;
  tree::for_each([&]<class L>(const L&) { any = any || sizeof(elem_t<scalar_t<L>>) < 8; }, t);
  return any;
}
/// NaN where one of the two is not a number.
inline double distance(double a, double b) {
  if (a == b || (a != a && b != b)) return 0;
  return std::abs(a - b) / std::max(1.0, std::max(std::abs(a), std::abs(b)));
}
inline bool is_worse(double a, double b) { return a > b || (a != a && b == b); }
}  // namespace testing_detail

/// Compares forward mode, reverse mode and central differences of f at x: every element of every argument and of the result.
/// Shapes    arguments and result: real scalars, tensors, or trees of them
/// Returns   true when no two of the three are further apart than 1e-6 (float: 1e-2) relative to max(1, |derivative|); `.worst`; printed, a table
/// Cost      four evaluations and one forward pass for each input element, one reverse pass for each output element
/// Notes     choose points away from kinks: a difference across one is the derivative of neither side. What should stay constant is captured
/// Source    differences of fourth order: Abramowitz and Stegun (1964), table 25.2
template <class F, class... X> gradcheck_result gradcheck(const F& f, const X&... arguments) {
  using namespace testing_detail;
  static_assert(sizeof...(X) > 0, "ttensor: gradcheck(f, x...): the arguments stand behind the function");
  const std::tuple<tree::evaluated_t<X>...> x(tree::evaluate_all(arguments)...);
  const auto value = [&](const auto& at) { return numbers(std::apply([&](const auto&... a) { return tree::evaluate_all(f(a...)); }, at)); };
  const auto backward = std::apply([&](const auto&... a) { return vjp(f, a...); }, x);
  std::vector<std::vector<double>> reverse;  // a row an output
  each_number(backward.y, [&](int which, index_t k, double) { reverse.push_back(numbers(backward.pull(basis(backward.y, which, k)))); });

  gradcheck_result r;
  const bool floats = has_floats(x) || has_floats(backward.y);
  r.tolerance = floats ? 1e-2 : 1e-6;
  r.outputs = static_cast<index_t>(reverse.size());
  each_number(x, [&](int which, index_t k, double at) {
    const auto forward = numbers(jvp(f, x, basis(x, which, k)).y_dot);
    const double h = floats ? std::ldexp(1.0, std::ilogb(std::max(std::abs(at), 0.1)) - 5) : std::ldexp(1.0, std::ilogb(std::max(std::abs(at), 0.01)) - 10);
    auto moved = [&](double steps) { return value(with_number(x, which, k, at + steps * h)); };
    const auto right = moved(1), left = moved(-1), far_right = moved(2), far_left = moved(-2);
    for (std::size_t i = 0; i < reverse.size(); ++i) {
      gradcheck_result::entry e{static_cast<index_t>(i), r.inputs, forward[i], reverse[i][static_cast<std::size_t>(r.inputs)], (8 * (right[i] - left[i]) - (far_right[i] - far_left[i])) / (12 * h), 0};
      for (const double d : {distance(e.forward, e.reverse), distance(e.forward, e.difference), distance(e.reverse, e.difference)})
        if (is_worse(d, e.error)) e.error = d;
      if (is_worse(e.error, r.worst)) r.worst = e.error;
      auto place = r.entries.begin();
      while (place != r.entries.end() && !is_worse(e.error, place->error)) ++place;
      r.entries.insert(place, e);
      if (r.entries.size() > 10) r.entries.pop_back();
    }
    ++r.inputs;
  });
  if (!r) std::clog << r;
  return r;
}

TTENSOR_END
