// gradcheck: whether the derivatives of a function agree with each other and with finite differences. For tests; all.hpp leaves it out.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <tuple>
#include <vector>
#include "all.hpp"

TTENSOR_BEGIN

/// What gradcheck found: true when all derivatives agree; printed, a table of those that differ most.
struct gradcheck_result {
  struct entry {
    index_t output, input;  // numbers of the elements, leaf after leaf, row-major
    double forward, reverse, difference;  // of one partial derivative, three ways; forward is NaN for reverse_only
    double error;  // the largest distance between two of them, beyond what the difference cannot resolve, relative to the largest derivative of this output
    bool resolved;  // the difference says something: what it cannot resolve is less than a hundredth of that derivative
  };
  std::vector<entry> entries;  // the largest errors first, ten at most
  index_t outputs = 0, inputs = 0, unresolved = 0;  // unresolved: derivatives on which differences say nothing
  double worst = 0;      // the largest error of all; NaN when a value or a derivative is NaN
  double tolerance = 0;  // what it may be
  operator bool() const { return worst <= tolerance; }

  friend std::ostream& operator<<(std::ostream& os, const gradcheck_result& r) {
    os << "gradcheck: " << r.outputs << " x " << r.inputs << " derivatives " << (r ? "agree" : "DIFFER")
       << ", largest error " << r.worst << " (tolerance " << r.tolerance << ")";
    if (r.unresolved > 0) os << "; no difference resolves " << r.unresolved << " of them";
    os << "\n";
    os << "  output   input        forward        reverse   differences     error\n";
    for (const entry& e : r.entries) {
      char line[120];
      std::snprintf(line, sizeof line, "%8lld%8lld%15.7g%15.7g%14.6g%10.2g%s\n", static_cast<long long>(e.output),
                    static_cast<long long>(e.input), e.forward, e.reverse, e.difference, e.error, e.resolved ? "" : "  not resolved");
      os << line;
    }
    return os;
  }
};

namespace testing_detail {
using jacobian_detail::basis;

/// f(which, k, value) for every number of a tree: element k of leaf number `which`.
template <class T, class F> void each_number(const T& t, F&& f) {
  int which = 0;
  tree::for_each([&]<class L>(const L& l) {
    using S = scalar_t<L>;
    static_assert(depth_v<S> == 0, "ttensor: gradcheck is for plain numbers; call it outside of transforms");
    static_assert(!is_complex_v<elem_t<S>>, "ttensor: gradcheck is for real functions; give the real and the imaginary part");
    static_assert(sizeof(elem_t<S>) >= 4, "ttensor: gradcheck wants float or double; differences of shorter numbers say nothing");
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
inline bool is_worse(double a, double b) { return a > b || (a != a && b == b); }  // NaN is the worst
/// A power of two: `most`, but less beside small numbers, which a function may not leave (log, sqrt).
inline double step(double x, double most) {
  int e = 0;
  if (x != 0 && std::abs(x) < 16 * most) static_cast<void>(std::frexp(x, &e)), most = std::ldexp(1.0, e - 5);
  return most;
}
/// The difference of one output along one input, and what it cannot resolve: bends within the step, seen by the last change of step, and rounding.
struct difference {
  double value, bend, rounding;
  double blur() const { return bend + rounding; }
};
template <class F> std::vector<difference> differences(const F& value, double h, double epsilon) {
  const auto right = value(h), left = value(-h), far_right = value(2 * h), far_left = value(-2 * h),
             near_right = value(h / 2), near_left = value(-h / 2);
  std::vector<difference> d;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double wide = (8 * (right[i] - left[i]) - (far_right[i] - far_left[i])) / (12 * h),
                 narrow = (8 * (near_right[i] - near_left[i]) - (right[i] - left[i])) / (6 * h);
    d.push_back({narrow, 4 * std::abs(narrow - wide), 16 * epsilon * std::max(std::abs(right[i]), std::abs(left[i])) / h});
  }
  return d;
}
/// The differences of the step that resolves each output best. Steps are h, h / 8, h / 64 ... while one is blurred by bends to more than 1e-3 of its scale, down
/// to some units in the last place of x; and 8 h, 64 h ... up to 1/128 of x while one is blurred by rounding to more than `enough` of it. A wider step counts
/// only where it agrees with what is known: it may be a multiple of a period.
template <class F> std::vector<difference> resolved_differences(const F& value, double x, double h, double epsilon, double enough,
                                                                const std::vector<double>& scale) {
  const double last_place = std::isfinite(x) && x != 0 ? std::ldexp(epsilon, std::ilogb(x)) : 0;
  h = std::max(h, 1024 * last_place);
  std::vector<difference> best = differences(value, h, epsilon);
  const auto keep_better = [&](double other) {
    const std::vector<difference> next = differences(value, other, epsilon);
    for (std::size_t i = 0; i < best.size(); ++i)
      if (next[i].blur() < best[i].blur() && (other < h || std::abs(next[i].value - best[i].value) <= best[i].blur())) best[i] = next[i];
  };
  const auto every = [&](const auto& is_fine) {
    bool yes = true;
    for (std::size_t i = 0; i < best.size(); ++i) yes = yes && is_fine(best[i], scale[i]);
    return yes;
  };
  const auto hidden_by_rounding = [&] { return !every([&](const auto& d, double s) { return d.rounding <= enough * s; }); };
  const auto bends = [&] { return !every([](const auto& d, double s) { return d.bend <= std::max(1e-3 * s, d.rounding); }); };
  for (double wider = 8 * h; wider > 0 && wider <= std::abs(x) / 128 && std::isfinite(x) && hidden_by_rounding(); wider *= 8) keep_better(wider);
  double finer = h / 8;
  for (int i = 0; i < 5 && finer >= 16 * last_place && bends(); ++i, finer /= 8) keep_better(finer);
  return best;
}
template <bool Forward, class F, class... X> gradcheck_result check(const F& f, const X&... arguments) {
  static_assert(sizeof...(X) > 0, "ttensor: gradcheck(f, x...): the arguments stand behind the function");
  const std::tuple<tree::evaluated_t<X>...> x(tree::evaluate_all(arguments)...);
  const auto backward = meta::unpack([&](const auto&... a) { return vjp(f, a...); }, x);
  std::vector<std::vector<double>> reverse;  // a row an output
  each_number(backward.y, [&](int which, index_t k, double) { reverse.push_back(numbers(backward.pull(basis(backward.y, which, k)))); });

  gradcheck_result r;
  const bool floats = has_floats(x) || has_floats(backward.y);
  r.tolerance = floats ? 1e-2 : 1e-6;
  r.outputs = static_cast<index_t>(reverse.size());
  std::vector<std::vector<double>> forward;  // a row an input
  each_number(x, [&](int which, index_t k, double) {
    if constexpr (Forward) {
      forward.push_back(numbers(jvp(f, x, basis(x, which, k)).y_dot));
    } else {
      forward.emplace_back();
      for (const auto& row : reverse) forward.back().push_back(row[forward.size() - 1]);
    }
  });
  std::vector<double> scale(reverse.size());  // of each output
  for (std::size_t i = 0; i < reverse.size(); ++i)
    for (std::size_t k = 0; k < forward.size(); ++k) scale[i] = std::max({scale[i], std::abs(forward[k][i]), std::abs(reverse[i][k])});
  std::vector<std::vector<difference>> differ;
  each_number(x, [&](int which, index_t k, double at) {
    const auto value = [&](double by) {
      return numbers(
          meta::unpack([&](const auto&... a) { return tree::evaluate_all(f(a...)); }, with_number(x, which, k, at + by)));
    };
    differ.push_back(resolved_differences(value, at, step(at, floats ? 0x1p-4 : 0x1p-9), floats ? 0x1p-23 : 0x1p-52, r.tolerance / 10, scale));
    ++r.inputs;
  });
  for (std::size_t i = 0; i < reverse.size(); ++i) {
    double largest = scale[i];
    for (const auto& along : differ) largest = std::max(largest, std::abs(along[i].value));
    for (std::size_t k = 0; k < forward.size(); ++k) {
      const double a = forward[k][i], b = reverse[i][k], c = differ[k][i].value,
                   blur = differ[k][i].rounding + std::min(differ[k][i].bend, 0.1 * largest);
      gradcheck_result::entry e{static_cast<index_t>(i), static_cast<index_t>(k), Forward ? a : std::nan(""), b, c, 0, blur <= 1e-2 * largest};
      r.unresolved += !e.resolved;
      for (const double d : {std::abs(a - b), std::abs(a - c) - blur, std::abs(b - c) - blur})
        if (is_worse(d, 0) && is_worse(d / largest, e.error)) e.error = d / largest;
      if (is_worse(e.error, r.worst)) r.worst = e.error;
      auto place = r.entries.begin();
      while (place != r.entries.end() && !is_worse(e.error, place->error)) ++place;
      r.entries.insert(place, e);
      if (r.entries.size() > 10) r.entries.pop_back();
    }
  }
  if (!r) std::clog << r;
  return r;
}
}  // namespace testing_detail

/// What gradcheck(f, reverse_only, x...) is told: no forward mode, which functions with custom_vjp do not have.
struct reverse_only_t {};
inline constexpr reverse_only_t reverse_only{};

/// Compares forward mode, reverse mode and central differences of f at x: every element of every argument and of the result.
/// Shapes    arguments and result: real scalars, tensors, or trees of them
/// Returns   true when no two of the three are further apart than 1e-6 (float: 1e-2) of the largest derivative of the same output, beyond what a difference
///           cannot resolve (rounding of large values, and bends within its step up to a tenth); false when a NaN is met. `.worst`, `.unresolved` (how many
///           derivatives differences say nothing about); printed, a table
/// Cost      six evaluations (more where the function bends within the step, which is made smaller then, and where rounding of large values hides the difference: up to 1/64 of x away then) and one forward pass for each input element, one reverse pass for each output element
/// Throws    what f throws; level_error [TT-L04] when f makes a no_grad, which forward mode refuses
/// Notes     choose points away from kinks: a difference across one is the derivative of neither side. What should stay constant is captured. A right
///           derivative of what turns within 1e-4 (sin(1e4 x)) may be said to differ: two steps of the difference can agree by chance; scale the argument
/// Source    differences of fourth order: Abramowitz and Stegun (1964), table 25.2
template <class F, class... X> gradcheck_result gradcheck(const F& f, const X&... arguments) { return testing_detail::check<true>(f, arguments...); }
template <class F, class... X> gradcheck_result gradcheck(const F& f, reverse_only_t, const X&... arguments) {
  return testing_detail::check<false>(f, arguments...);
}

TTENSOR_END
