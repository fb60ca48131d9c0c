// Programs with captured variables, custom rules and loops that the compiler must refuse. Format: tools/check_compile_fail.py.
#include <ttensor/all.hpp>
namespace tt = ttensor;
using namespace ttensor;

// case: accumulating_a_captured_variable_into_a_local
// expect_first: pass closing_over\(x\.\.\.\), naming the captured variables
double loop_sum() {
  return tt::grad([](auto x) { return x * tt::grad([&](auto y) { decltype(y) s = 0.0; for (int i = 0; i < 3; ++i) s = s + x * y; return s; })(2.0); })(3.0);
}
// twin:
double loop_sum() {
  return tt::grad([](auto x) { return x * tt::grad([&](auto y) { decltype(y) s = 0.0; for (int i = 0; i < 3; ++i) s = s + x * y; return s; }, closing_over(x))(2.0); })(3.0);
}

// Transforms of different kinds: the sentence comes before all else that the compiler says.
// case: accumulating_a_captured_variable_under_vmap
// expect_first: closing_over\(x\.\.\.\)
double mapped_sum(const tensor<double, 1>& v) {
  return tt::grad([&](auto x) { return sum(vmap([&](auto t) { auto s = t * 0.0; s = s + x * t; return s; })(v)); })(3.0);
}
// twin:
double mapped_sum(const tensor<double, 1>& v) {
  return tt::grad([&](auto x) { return sum(vmap([&](auto t) { auto s = t * 0.0; s = s + x * t; return s; }, closing_over(x))(v)); })(3.0);
}

// case: an_array_made_under_vmap_takes_a_captured_variable
// expect_first: closing_over\(x\.\.\.\)
double mapped_array(const tensor<double, 1>& v) {
  return tt::grad([&](auto x) { return sum(vmap([&](auto t) { decltype(t) a[2]; a[0] = x * t; a[1] = t; return a[0] * a[1]; })(v)); })(3.0);
}
// twin:
double mapped_array(const tensor<double, 1>& v) {
  return tt::grad([&](auto x) { return sum(vmap([&](auto t) { decltype(t) a[2]; a[0] = x * t; a[1] = t; return a[0] * a[1]; }, closing_over(x))(v)); })(3.0);
}

// case: a_tensor_made_under_vmap_takes_a_captured_variable
// expect_first: closing_over\(x\.\.\.\)
double mapped_tensor(const tensor<double, 1>& v) {
  return tt::grad([&](auto x) { return sum(vmap([&](auto t) { tensor<decltype(t), 1> a(2); a(0) = x * t; return sum(a); })(v)); })(3.0);
}
// twin:
double mapped_tensor(const tensor<double, 1>& v) {
  return tt::grad([&](auto x) { return sum(vmap([&](auto t) { tensor<decltype(t), 1> a(2); a(0) = x * t; return sum(a); }, closing_over(x))(v)); })(3.0);
}

// case: a_captured_variable_in_what_is_not_returned
// expect_first: closing_over\(x\.\.\.\)
double not_returned(const tensor<double, 1>& v) {
  return tt::grad([&](auto x) { return x * sum(vmap([&](auto t) { static_cast<void>(x * t); return t * t; })(v)); })(3.0);
}
// twin:
double not_returned(const tensor<double, 1>& v) {
  return tt::grad([&](auto x) { return x * sum(vmap([&](auto t) { static_cast<void>(x * t); return t * t; }, closing_over(x))(v)); })(3.0);
}

// case: accumulating_under_vmap_in_forward_mode
// expect_first: closing_over\(x\.\.\.\)
double mapped_forward(const tensor<double, 1>& v) {
  return tt::jvp([&](auto x) { return sum(vmap([&](auto t) { auto s = t * 0.0; s = s + x * t; return s; })(v)); }, 3.0, 1.0).y_dot;
}
// twin:
double mapped_forward(const tensor<double, 1>& v) {
  return tt::jvp([&](auto x) { return sum(vmap([&](auto t) { auto s = t * 0.0; s = s + x * t; return s; }, closing_over(x))(v)); }, 3.0, 1.0).y_dot;
}

// case: forward_mode_inside_reverse
// expect_first: closing_over\(x\.\.\.\)
double forward_inside() {
  return tt::grad([](auto x) { return x * tt::jvp([&](auto y) { auto s = y * 0.0; s = s + x * y; return s; }, 2.0, 1.0).y_dot; })(3.0);
}
// twin:
double forward_inside() {
  return tt::grad([](auto x) { return x * tt::jvp([&](auto y) { auto s = y * 0.0; s = s + x * y; return s; }, 2.0, 1.0, closing_over(x)).y_dot; })(3.0);
}

// case: reverse_mode_inside_vmap
// expect_first: closing_over\(x\.\.\.\)
tensor<double, 1> reverse_inside(const tensor<double, 1>& v) {
  return vmap([](auto t) { return tt::grad([&](auto y) { auto s = y * 0.0; s = s + t * y; return s * s; })(2.0); })(v);
}
// twin:
tensor<double, 1> reverse_inside(const tensor<double, 1>& v) {
  return vmap([](auto t) { return tt::grad([&](auto y) { auto s = y * 0.0; s = s + t * y; return s * s; }, closing_over(t))(2.0); })(v);
}

// case: compound_assignment_of_a_captured_variable
// expect_first: pass closing_over\(x\.\.\.\), naming the captured variables
double compound() {
  return tt::jvp([](auto x) { return tt::jvp([&](auto y) { auto p = y; p *= x; return p; }, 2.0, 1.0).y_dot; }, 3.0, 1.0).y_dot;
}
// twin:
double compound() {
  return tt::jvp([](auto x) { return tt::jvp([&](auto y) { auto p = y; p *= x; return p; }, 2.0, 1.0, closing_over(x)).y_dot; }, 3.0, 1.0).y_dot;
}

// case: a_tensor_made_inside_takes_a_captured_variable
// expect_first: closing_over\(x\.\.\.\)
double tensor_inside() {
  return tt::grad([](auto x) { return tt::grad([&](auto y) { tensor<decltype(y), 1> a(3); a(0) = x * y; return sum(a * a); })(2.0); })(3.0);
}
// twin:
double tensor_inside() {
  return tt::grad([](auto x) { return tt::grad([&](auto y) { tensor<decltype(y), 1> a(3); a(0) = x * y; return sum(a * a); }, closing_over(x))(2.0); })(3.0);
}

// The type of these results is declared, so it says nothing of what the body meets.
// case: a_function_object_that_returns_its_argument_s_type
// expect_first: pass closing_over\(x\.\.\.\), naming the captured variables
template <class S> struct scaled { S s; template <class T> T operator()(const T& t) const { return t * s; } };
tensor<double, 2> table(const tensor<double, 1>& x) { return vmap([](auto i) { return vmap(scaled<decltype(i)>{i})(tensor<double, 1>{1, 2}); })(x); }
// twin:
template <class S> struct scaled { S s; template <class T> T operator()(const T& t) const { return t * s; } };
tensor<double, 2> table(const tensor<double, 1>& x) { return vmap([](auto i) { return vmap(scaled<decltype(i)>{i}, closing_over(i))(tensor<double, 1>{1, 2}); })(x); }

// case: a_declared_type_in_forward_mode
// expect_first: pass closing_over\(x\.\.\.\), naming the captured variables
double twice() {
  return tt::jvp([](auto x) { return tt::jvp([&](auto y) -> decltype(y) { return x * y; }, 2.0, 1.0).y_dot; }, 3.0, 1.0).y_dot;
}
// twin:
double twice() {
  return tt::jvp([](auto x) { return tt::jvp([&](auto y) -> decltype(y) { return x * y; }, closing_over(x), 2.0, 1.0).y_dot; }, 3.0, 1.0).y_dot;
}

// case: a_declared_type_in_an_inner_look
// expect_first: pass closing_over\(x\.\.\.\)
auto inner(const tensor<double, 1>& v) {
  return vmap([](auto i) { return tt::jvp([&](auto x) { return tt::grad([&](auto y) -> decltype(y) { return y * i; })(x); }, 2.0, 1.0).y; })(v);
}
// twin:
auto inner(const tensor<double, 1>& v) {
  return vmap([](auto i) { return tt::jvp([&](auto x) { return tt::grad([&](auto y) -> decltype(y) { return y * i; }, closing_over(i))(x); }, 2.0, 1.0).y; })(v);
}

// case: a_declared_type_and_a_mapped_integer
// expect_first: pass closing_over\(x\.\.\.\), naming the captured variables
tensor<double, 2> counted(const tensor<int, 1>& n) { return vmap([](auto i) { return vmap([&](auto x) -> decltype(x) { return x * i; })(tensor<double, 1>{1, 2}); })(n); }
// twin:
tensor<double, 2> counted(const tensor<int, 1>& n) { return vmap([](auto i) { return vmap([&](auto x) -> decltype(x) { return x * i; }, closing_over(i))(tensor<double, 1>{1, 2}); })(n); }

// case: narrowing
// expect: error
double narrowing() {
  return tt::grad([](auto x) { double d = x; return x * d; })(2.0);
}
// twin:
double narrowing() {
  return tt::grad([](auto x) { double d = value_of(x); return x * d; })(2.0);
}

// case: custom_jvp_rule_captures_a_variable
// expect: captures a variable of a live transform
double rule_captures_variable() {
  return tt::grad([](auto x) {
    return tt::grad(custom_jvp([](auto y) { return y * y; }, [x](auto y, auto d) { return std::pair{y * y, x * d}; }))(2.0);
  })(3.0);
}
// twin:
double rule_captures_variable() {
  const double x = 3.0;
  return tt::grad(custom_jvp([](auto y) { return y * y; }, [x](auto y, auto d) { return std::pair{y * y, x * d}; }))(2.0);
}

// case: custom_vjp_function_captures_a_variable
// expect: captures a variable of a live transform
double fwd_captures_variable() {
  return tt::grad([](auto x) {
    return custom_vjp([x](auto y) { return x * y; }, [](auto y) { return std::pair{y, y}; }, [](auto s, auto ct) { return s * ct; })(x);
  })(3.0);
}
// twin:
double fwd_captures_variable() {
  return tt::grad([](auto x) {
    return custom_vjp([](auto y) { return y * y; }, [](auto y) { return std::pair{y * y, y}; }, [](auto s, auto ct) { return 2.0 * s * ct; })(x);
  })(3.0);
}

// case: custom_vjp_in_forward_mode
// expect: forward mode of a function with custom_vjp
double forward_of_custom_vjp() {
  return tt::jvp(custom_vjp([](auto y) { return y * y; }, [](auto y) { return std::pair{y * y, y}; }, [](auto s, auto ct) { return 2.0 * s * ct; }), 2.0, 1.0).y_dot;
}
// twin:
double forward_of_custom_vjp() {
  return tt::jvp(tt::grad(custom_vjp([](auto y) { return y * y; }, [](auto y) { return std::pair{y * y, y}; }, [](auto s, auto ct) { return 2.0 * s * ct; })), 2.0, 1.0).y_dot;
}

// case: reverse_through_an_unbounded_while_loop
// expect: pass max_trips
double unbounded() {
  return tt::grad([](auto x) { return while_loop([](auto s) { return s < 100.0; }, [](auto s) { return s * 3.0; }, x); })(2.0);
}
// twin:
double unbounded() {
  return tt::grad([](auto x) { return while_loop([](auto s) { return s < 100.0; }, [](auto s) { return s * 3.0; }, x, max_trips{9}); })(2.0);
}

// case: branches_of_different_structure
// expect: must have one structure
double structures() { return cond(true, [](double x) { return x; }, [](double x) { return std::pair{x, x}; }, 1.0); }
// twin:
double structures() { return cond(true, [](double x) { return x; }, [](double x) { return x * x; }, 1.0); }

// case: if_on_a_mapped_value
// expect: use where\(condition, a, b\) or cond
tensor<double, 1> branch(const tensor<double, 1>& v) {
  return vmap([](auto x) { if (x > 0.0) return x * 2.0; return x * 3.0; })(v);
}
// twin:
tensor<double, 1> branch(const tensor<double, 1>& v) {
  return vmap([](auto x) { return cond(x > 0.0, [](auto t) { return t * 2.0; }, [](auto t) { return t * 3.0; }, x); })(v);
}
