// The same function object at two depths, and recursion.
#include "closures.hpp"

namespace closures {
template <int N, class D> struct euler {
  auto operator()(auto x) const {
    if constexpr (N == 0) return x * x * x;
    else return x * D{}(euler<N - 1, D>{})(x);
  }
};
template <int N, class D, class A> struct rec {
  A a;
  auto operator()(auto x) const {
    if constexpr (N == 0) return a * x;
    else return a * x * D{}(rec<N - 1, D, decltype(x)>{x})(1.0);
  }
};
template <class D> struct tower {
  int n;
  template <class T> T operator()(T x) const {
    if (n == 0) return x * x * x;
    return x * x * D{}(tower{n - 1})(2.0);
  }
};
}  // namespace closures

CLOSURE_WITH(same_object, 2, auto f = [](auto x) { return x * x * x; }, D1([&](auto x) { return f(x) * D2(f)(x); })(2.0))
CLOSURE_WITH(same_object_twice, 2, auto f = [](auto x) { return x * x * x * x; }, D1(D2(f))(3.0))
CLOSURE_WITH(same_derivative_object, 1, auto f = [](auto x) { return x * x * x; }; auto df = D1(f), D1([&](auto x) { return x * df(x * x) + df(2.0); })(1.5))
CLOSURE(same_capturing_object, 2, D1([](auto x) {
  auto f = [&](auto y) { return x * y * y; };
  return f(x) + D2(f)(x) + D2(D2(f))(x);
})(2.0))
CLOSURE(recursive_euler, 1, D1(euler<3, A>{})(2.0))
CLOSURE(recursive_capturing, 1, D1(rec<3, A, double>{3.0})(0.5))
CLOSURE(runtime_recursion, 1, D1(tower<A>{3})(5.0))
