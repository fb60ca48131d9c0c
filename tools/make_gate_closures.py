#!/usr/bin/env python3
"""Makes tests/gate/closures.md and closures.txt: programs whose inner function captures outer variables, with exact answers.

    python3 tools/make_gate_closures.py            # writes both files (needs sympy)
    python3 tools/make_gate_closures.py --check    # compares with the files
    python3 tools/make_gate_closures.py --jax      # also runs every program in JAX, every D once forward and once reverse

Each answer was derived by hand (column `by hand`), and the program, written once against an "engine", is run by
  - an exact engine: every call of a derivative opens a fresh sympy symbol, differentiates, and substitutes the point;
  - JAX (with --jax), with all 2^n assignments of jvp and grad to its n derivative operators.
All must agree with the number typed here.
"""
import argparse
import itertools
import pathlib
import sys
from fractions import Fraction

import numpy as np
import sympy as sp

ROOT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "gate"


class exact:
    """Derivatives by fresh symbols. Arrays are object arrays of sympy expressions."""
    sin, exp = staticmethod(sp.sin), staticmethod(sp.exp)

    def __init__(self):
        self.fresh, self.point = itertools.count(), {}

    def array(self, values):
        return np.array([sp.Rational(Fraction(v)) for v in values], dtype=object)

    def number(self, v):
        return sp.Rational(Fraction(v))

    def lift(self, x):
        s = np.array(x, dtype=object)
        for at in np.ndindex(*s.shape):
            symbol = sp.Symbol(f"s{next(self.fresh)}")
            self.point[symbol] = x[at] if s.shape else x
            s[at] = symbol
        return s if s.shape else s.item()

    def partials(self, f, x):
        """y and the Jacobian at x, x an expression of outer symbols."""
        s = self.lift(x)
        y = f(s)
        flat = list(np.ravel(np.array(s, dtype=object)))
        to = dict(zip(flat, np.ravel(np.array(x, dtype=object))))
        here = lambda e: sp.sympify(e).subs(to, simultaneous=True)
        many = np.array(y, dtype=object)
        jac = np.array([here(sp.diff(e, t)) for e in np.ravel(many) for t in flat], dtype=object)
        value = np.array([here(e) for e in np.ravel(many)], dtype=object).reshape(many.shape)
        return (value if many.shape else value.item()), jac.reshape(many.shape + np.shape(s))

    def D(self, k, f):
        return lambda x: self.grad(f)(x)

    def grad(self, f, argnum=0):
        def run(*args):
            _, j = self.partials(lambda t: f(*args[:argnum], t, *args[argnum + 1:]), args[argnum])
            return j if j.shape else j.item()
        return run

    def jvp(self, f, x, v):
        y, j = self.partials(f, x)
        return y, np.sum(j.reshape(np.shape(y) + (-1,)) * np.ravel(np.array(v, dtype=object)), axis=-1) if np.shape(y) else sum(
            np.ravel(j) * np.ravel(np.array(v, dtype=object)))

    def vjp(self, f, x):
        y, j = self.partials(f, x)
        return y, lambda ct: np.tensordot(np.array(ct, dtype=object), j, np.ndim(y)) if np.ndim(y) else (j * ct if j.shape else j.item() * ct)

    def jac(self, f):
        return lambda x: self.partials(f, x)[1]

    def vmap(self, f):
        return lambda x: np.array([f(t) for t in x], dtype=object)

    def sum(self, x):
        return sum(np.ravel(x))

    def stop(self, x):
        return self.number_of(x)

    def number_of(self, e):
        e = sp.sympify(e)
        while e.free_symbols:
            e = e.subs(self.point)
        return e

    def grad_aux(self, f):
        def run(x):
            aux = []

            def first(t):
                y, a = f(t)
                aux.append(a)
                return y
            s = self.lift(x)
            y, a = f(s)
            return sp.diff(y, s).subs(s, x), sp.sympify(a).subs(s, x)
        return run

    def bool(self, e):
        return bool(self.number_of(e) > 0)


class with_jax:
    """The same programs in JAX; modes[k] says whether the k-th derivative operator is 'fwd' or 'rev'."""

    def __init__(self, modes):
        import jax
        import jax.numpy as jnp
        jax.config.update("jax_enable_x64", True)
        self.jax, self.jnp, self.modes = jax, jnp, modes
        self.sin, self.exp, self.sum, self.vmap, self.stop = jnp.sin, jnp.exp, jnp.sum, jax.vmap, jax.lax.stop_gradient

    def array(self, values):
        return self.jnp.array([float(Fraction(v)) for v in values])

    def number(self, v):
        return self.jnp.float64(float(Fraction(v)))

    def D(self, k, f):
        if self.modes[k] == "rev":
            return self.jax.grad(lambda t: self.jnp.float64(1) * f(t))
        return lambda x: self.jax.jvp(f, (self.jnp.float64(1) * x,), (self.jnp.ones_like(x, dtype=self.jnp.float64),))[1]

    def grad(self, f, argnum=0):
        return self.jax.grad(f, argnums=argnum)

    def grad_aux(self, f):
        return self.jax.grad(f, has_aux=True)

    def jvp(self, f, x, v):
        one = self.jnp.float64(1)
        return self.jax.jvp(f, (one * x,), (one * v,))

    def vjp(self, f, x):
        y, pull = self.jax.vjp(f, self.jnp.float64(1) * x)
        return y, lambda ct: pull(ct)[0]

    def jac(self, f):
        return self.jax.jacfwd(f) if self.modes[0] == "fwd" else self.jax.jacrev(f)

    def bool(self, e):
        return bool(e > 0)


PROGRAMS = []


def program(name, group, derivatives, cpp, by_hand, answer, wrong=""):
    """derivatives: how many D1, D2 .. the program has; answer: exact number(s) as strings of fractions, or sympy text."""
    def keep(run):
        PROGRAMS.append((name, group, derivatives, cpp.strip("\n"), by_hand, answer if isinstance(answer, list) else [answer], not isinstance(answer, list), wrong, run))
        return run
    return keep


V, U, W = ["1", "2", "3"], ["1/2", "-1"], ["1/2", "-1", "2"]

# ---------------------------------------------------------------- scalars
G1 = "One captured scalar"


@program("add", G1, 2, """
D1([](auto x) { return x * D2([&](auto y) { return x + y; })(1.0); })(1.0)
""", "D2 = 1, so d/dx x", "1", "2")
def _(e):
    return e.D(0, lambda x: x * e.D(1, lambda y: x + y)(e.number(1)))(e.number(1))


@program("mul_2", G1, 2, """
D1([](auto x) { return x * D2([&](auto y) { return x * y; })(2.0); })(3.0)
""", "D2 = x, so d/dx x² = 2x", "6", "3")
def _(e):
    return e.D(0, lambda x: x * e.D(1, lambda y: x * y)(e.number(2)))(e.number(3))


@program("mul_1", G1, 2, """
D1([](auto x) { return x * D2([&](auto y) { return x * y; })(1.0); })(4.0)
""", "d/dx x² = 2x", "8", "4")
def _(e):
    return e.D(0, lambda x: x * e.D(1, lambda y: x * y)(e.number(1)))(e.number(4))


@program("argument_is_outer", G1, 2, """
D1([](auto x) { return D2([&](auto y) { return x * y * y; })(x); })(3.0)
""", "D2 = 2xy at y = x: 2x²; d/dx = 4x", "12", "6")
def _(e):
    return e.D(0, lambda x: e.D(1, lambda y: x * y * y)(x))(e.number(3))


@program("argument_is_outer_expression", G1, 2, """
D1([](auto x) { return D2([&](auto y) { return x * y * y; })(x * x + 1.0); })(2.0)
""", "2x(x²+1); d/dx = 6x²+2", "26")
def _(e):
    return e.D(0, lambda x: e.D(1, lambda y: x * y * y)(x * x + 1))(e.number(2))


@program("three_levels", G1, 3, """
D1([](auto x) { return x * D2([&](auto y) { return y * D3([&](auto z) { return x * y * z; })(1.0); })(2.0); })(3.0)
""", "D3 = xy; D2 of xy² = 2xy = 4x; d/dx 4x² = 8x", "24")
def _(e):
    return e.D(0, lambda x: x * e.D(1, lambda y: y * e.D(2, lambda z: x * y * z)(e.number(1)))(e.number(2)))(e.number(3))


@program("three_levels_skip", G1, 3, """
D1([](auto x) { return x * D2([&](auto y) { return y * D3([&](auto z) { return x * z * z; })(1.0); })(2.0); })(3.0)
""", "the innermost sees x but not y: D3 = 2x; D2 of 2xy = 2x; d/dx 2x² = 4x", "12")
def _(e):
    return e.D(0, lambda x: x * e.D(1, lambda y: y * e.D(2, lambda z: x * z * z)(e.number(1)))(e.number(2)))(e.number(3))


@program("three_levels_cubic", G1, 3, """
D1([](auto x) { return D2([&](auto y) { return D3([&](auto z) { return x * x * y * y * y * z * z; })(y); })(x); })(2.0)
""", "D3 = 2x²y³z at z=y: 2x²y⁴; D2 = 8x²y³ at y=x: 8x⁵; d/dx = 40x⁴", "640")
def _(e):
    return e.D(0, lambda x: e.D(1, lambda y: e.D(2, lambda z: x * x * y * y * y * z * z)(y))(x))(e.number(2))


@program("level_absent", G1, 2, """
D1([](auto x) { return x + D2([&](auto y) { return x * x; })(1.0); })(3.0)
""", "the inner result does not depend on y: 0, never 2x; d/dx x", "1", "7")
def _(e):
    return e.D(0, lambda x: x + e.D(1, lambda y: x * x)(e.number(1)))(e.number(3))


@program("level_absent_identity", G1, 2, """
D1([](auto x) { return D2([&](auto) { return x; })(2.0); })(3.0)
""", "0", "0", "1")
def _(e):
    return e.D(0, lambda x: e.D(1, lambda y: x)(e.number(2)))(e.number(3))


@program("siblings", G1, 3, """
D1([](auto x) { return D2([&](auto y) { return x * y * y; })(1.0) * D3([&](auto z) { return x * x * z; })(1.0); })(2.0)
""", "2x · x² ; d/dx = 6x²", "24")
def _(e):
    return e.D(0, lambda x: e.D(1, lambda y: x * y * y)(e.number(1)) * e.D(2, lambda z: x * x * z)(e.number(1)))(e.number(2))


@program("sibling_result_captured", G1, 3, """
D1([](auto x) { auto g = D2([&](auto y) { return x * y * y; })(1.0); return D3([&](auto z) { return g * z * z; })(3.0); })(2.0)
""", "g = 2x; D3 = 6g = 12x", "12")
def _(e):
    def outer(x):
        g = e.D(1, lambda y: x * y * y)(e.number(1))
        return e.D(2, lambda z: g * z * z)(e.number(3))
    return e.D(0, outer)(e.number(2))


@program("captured_by_value", G1, 2, """
D1([](auto x) { auto r = x * x + 1.0; return D2([r](auto y) { return r * y * y; })(3.0); })(2.0)
""", "6(x²+1); d/dx = 12x", "24")
def _(e):
    def outer(x):
        r = x * x + 1
        return e.D(1, lambda y: r * y * y)(e.number(3))
    return e.D(0, outer)(e.number(2))


@program("captured_through_another_lambda", G1, 2, """
D1([](auto x) { auto g = [&](auto t) { return x * t; }; return D2([&](auto y) { return g(y) * y; })(2.0); })(3.0)
""", "D2 = 2xy = 4x; also with a pointer to x, a std::reference_wrapper and a struct member", "4")
def _(e):
    def outer(x):
        g = lambda t: x * t
        return e.D(1, lambda y: g(y) * y)(e.number(2))
    return e.D(0, outer)(e.number(3))


@program("transcendental", G1, 2, """
D1([](auto x) { return exp(x) * D2([&](auto y) { return sin(x * y); })(2.0); })(0.5)
""", "D2 = x cos 2x; d/dx eˣ x cos 2x = eˣ((1+x) cos 2x - 2x sin 2x)", "exp(1/2)*(3/2*cos(1) - sin(1))")
def _(e):
    if isinstance(e, exact):
        return e.D(0, lambda x: e.exp(x) * e.D(1, lambda y: e.sin(x * y))(e.number(2)))(e.number("1/2"))
    return e.D(0, lambda x: e.exp(x) * e.D(1, lambda y: e.sin(x * y))(2.0))(0.5)


# ---------------------------------------------------------------- one function object, recursion
G2 = "The same function object at two depths, recursion"


@program("same_object", G2, 2, """
auto f = [](auto x) { return x * x * x; };
D1([&](auto x) { return f(x) * D2(f)(x); })(2.0)
""", "x³ · 3x²; d/dx = 15x⁴", "240")
def _(e):
    f = lambda x: x * x * x
    return e.D(0, lambda x: f(x) * e.D(1, f)(x))(e.number(2))


@program("same_object_twice", G2, 2, """
auto f = [](auto x) { return x * x * x * x; };
D1(D2(f))(3.0)
""", "12x²", "108")
def _(e):
    return e.D(0, e.D(1, lambda x: x * x * x * x))(e.number(3))


@program("same_derivative_object", G2, 1, """
auto f = [](auto x) { return x * x * x; };
auto df = D1(f);                                  // one object, used inside a second D1 and at two points
D1([&](auto x) { return x * df(x * x) + df(2.0); })(1.5)
""", "x · 3x⁴ + 12; d/dx = 15x⁴", "1215/16")
def _(e):
    df = e.D(0, lambda x: x * x * x)
    return e.D(0, lambda x: x * df(x * x) + df(e.number(2)))(e.number("3/2"))


@program("same_capturing_object", G2, 2, """
D1([](auto x) {
  auto f = [&](auto y) { return x * y * y; };     // captures x, used plain, differentiated, and differentiated twice
  return f(x) + D2(f)(x) + D2(D2(f))(x);
})(2.0)
""", "x³ + 2x² + 2x; d/dx = 3x² + 4x + 2", "22")
def _(e):
    def outer(x):
        f = lambda y: x * y * y
        return f(x) + e.D(1, f)(x) + e.D(1, e.D(1, f))(x)
    return e.D(0, outer)(e.number(2))


@program("recursive_euler", G2, 1, """
template <int N> struct euler { auto operator()(auto x) const { if constexpr (N == 0) return x * x * x;
                                                                else return x * D1(euler<N - 1>{})(x); } };
D1(euler<3>{})(2.0)                               // (x d/dx)³ x³ = 27x³
""", "81x²; to depth four", "324")
def _(e):
    def euler(n):
        return (lambda x: x * x * x) if n == 0 else lambda x: x * e.D(0, euler(n - 1))(x)
    return e.D(0, euler(3))(e.number(2))


@program("recursive_capturing", G2, 1, """
template <int N, class A> struct rec { A a; auto operator()(auto x) const {
  if constexpr (N == 0) return a * x; else return a * x * D1(rec<N - 1, decltype(x)>{x})(1.0); } };
D1(rec<3, double>{3.0})(0.5)
""", "f1 = a x², f2 = 2a x², f3 = 4a x²; d/dx = 8ax", "12")
def _(e):
    def rec(n, a):
        return (lambda x: a * x) if n == 0 else lambda x: a * x * e.D(0, rec(n - 1, x))(e.number(1))
    return e.D(0, rec(3, e.number(3)))(e.number("1/2"))


@program("runtime_recursion", G2, 1, """
struct tower { int n; template <class T> T operator()(T x) const { if (n == 0) return x * x * x;
                                                                   return x * x * D1(tower{n - 1})(2.0); } };
D1(tower{3})(5.0)                                 // one callable type, four live levels
""", "D1(f0)(2) = 12; f1 = 12x², D1(f1)(2) = 48; f2 = 48x², D1(f2)(2) = 192; f3 = 192x²; d/dx = 384x", "1920")
def _(e):
    def tower(n):
        return (lambda x: x * x * x) if n == 0 else lambda x: x * x * e.D(0, tower(n - 1))(e.number(2))
    return e.D(0, tower(3))(e.number(5))


# ---------------------------------------------------------------- vmap
G3 = "vmap between, inside and around;  v = {1, 2, 3}, u = {0.5, -1}"


@program("vmap_inside", G3, 1, """
D1([&](auto x) { return sum(vmap([&](auto y) { return x * y * y; })(v)); })(3.0)
""", "x Σv²", "14")
def _(e):
    return e.D(0, lambda x: e.sum(e.vmap(lambda y: x * y * y)(e.array(V))))(e.number(3))


@program("vmap_between", G3, 2, """
D1([&](auto x) { return sum(vmap([&](auto y) { return D2([&](auto z) { return x * y * z * z; })(y); })(v)); })(3.0)
""", "D2 = 2xy²; sum = 28x", "28")
def _(e):
    return e.D(0, lambda x: e.sum(e.vmap(lambda y: e.D(1, lambda z: x * y * z * z)(y))(e.array(V))))(e.number(3))


@program("vmap_between_plain_argument", G3, 2, """
D1([&](auto x) { return sum(vmap([&](auto y) { return D2([&](auto z) { return x * x * y * z * z; })(2.0); })(v)); })(3.0)
""", "D2 = 4x²y; sum = 24x²; d/dx = 48x", "144")
def _(e):
    return e.D(0, lambda x: e.sum(e.vmap(lambda y: e.D(1, lambda z: x * x * y * z * z)(e.number(2)))(e.array(V))))(e.number(3))


@program("vmap_outside", G3, 1, """
vmap([](auto x) { return D1([&](auto y) { return x * y * y; })(2.0); })(v)
""", "4x for each x", ["4", "8", "12"])
def _(e):
    return e.vmap(lambda x: e.D(0, lambda y: x * y * y)(e.number(2)))(e.array(V))


@program("vmap_outside_two", G3, 2, """
vmap([](auto x) { return D1([&](auto y) { return y * D2([&](auto z) { return x * y * z * z; })(1.5); })(2.0); })(v)
""", "D2 = 3xy; D1 of 3xy² = 6xy = 12x", ["12", "24", "36"])
def _(e):
    return e.vmap(lambda x: e.D(0, lambda y: y * e.D(1, lambda z: x * y * z * z)(e.number("3/2")))(e.number(2)))(e.array(V))


@program("vmap_of_vmap", G3, 1, """
D1([&](auto t) { return sum(vmap([&](auto x) { return vmap([&](auto y) { return t * t * x * y; })(u); })(v)); })(2.0)
""", "t² Σv Σu = -3t²; d/dt = -6t", "-12")
def _(e):
    return e.D(0, lambda t: e.sum(e.vmap(lambda x: e.vmap(lambda y: t * t * x * y)(e.array(U)))(e.array(V))))(e.number(2))


@program("vmap_ignores_argument", G3, 1, """
D1([&](auto x) { return sum(vmap([&](auto) { return x * x; })(v)); })(3.0)
""", "an unmapped result is broadcast: 3x²; d/dx = 6x", "18")
def _(e):
    return e.D(0, lambda x: e.sum(e.vmap(lambda y: x * x)(e.array(V))))(e.number(3))


@program("vmap_captured_unmapped_gradient", G3, 1, """
vmap([](auto x) { return D1([&](auto w) { return w * w * x; })(3.0); })(v)     // per example; summed: vmap_inside
""", "2wx", ["6", "12", "18"])
def _(e):
    return e.vmap(lambda x: e.D(0, lambda w: w * w * x)(e.number(3)))(e.array(V))


# ---------------------------------------------------------------- jvp, vjp, linearize, Jacobians
G4 = "Outer variables in tangents, cotangents and other transforms"


@program("tangent_is_outer", G4, 1, """
D1([](auto x) { return jvp([](auto y) { return y * y * y; }, 2.0, x).y_dot; })(5.0)
""", "12x", "12")
def _(e):
    return e.D(0, lambda x: e.jvp(lambda y: y * y * y, e.number(2), x)[1])(e.number(5))


@program("primal_and_tangent_are_outer", G4, 1, """
D1([](auto x) { return jvp([&](auto y) { return x * y * y; }, x, x * x).y_dot; })(2.0)
""", "2xy·x² at y = x: 2x⁴; d/dx = 8x³", "64")
def _(e):
    return e.D(0, lambda x: e.jvp(lambda y: x * y * y, x, x * x)[1])(e.number(2))


@program("jvp_value_is_outer", G4, 1, """
D1([](auto x) { auto r = jvp([&](auto y) { return x * y * y; }, 3.0, 1.0); return r.y * r.y_dot; })(2.0)
""", "9x · 6x = 54x²; d/dx = 108x", "216")
def _(e):
    def outer(x):
        y, y_dot = e.jvp(lambda t: x * t * t, e.number(3), e.number(1))
        return y * y_dot
    return e.D(0, outer)(e.number(2))


@program("cotangent_is_outer", G4, 1, """
D1([](auto x) { auto [y, pull] = vjp([&](auto t) { return x * t * t; }, 3.0); return pull(x); })(2.0)
""", "6x · x; d/dx = 12x", "24")
def _(e):
    return e.D(0, lambda x: e.vjp(lambda t: x * t * t, e.number(3))[1](x))(e.number(2))


@program("pull_twice", G4, 1, """
D1([](auto x) { auto [y, pull] = vjp([&](auto t) { return x * t * t; }, 3.0); return pull(y) + pull(x * x); })(2.0)
""", "6x·9x + 6x·x² ; d/dx = 108x + 18x²", "288")
def _(e):
    def outer(x):
        y, pull = e.vjp(lambda t: x * t * t, e.number(3))
        return pull(y) + pull(x * x)
    return e.D(0, outer)(e.number(2))


@program("linearize", G4, 1, """
D1([](auto x) { auto [y, lin] = linearize([&](auto t) { return x * t * t; }, 2.0); return lin(x) + y; })(3.0)
""", "4x·x + 4x; d/dx = 8x + 4", "28")
def _(e):
    def outer(x):
        f = lambda t: x * t * t
        return e.jvp(f, e.number(2), x)[1] + f(e.number(2))
    return e.D(0, outer)(e.number(3))


@program("jacobian_inside", G4, 1, """
D1([&](auto x) { return sum(jacobian([&](auto y) { return y * y * x; })(v)); })(2.0)      // jacfwd and jacrev too
""", "diag(2xv); sum = 12x", "12")
def _(e):
    return e.D(0, lambda x: e.sum(e.jac(lambda y: y * y * x)(e.array(V))))(e.number(2))


@program("hessian_inside", G4, 1, """
D1([&](auto x) { return sum(hessian([&](auto y) { return sum(x * y * y * y); })(v)); })(2.0)
""", "diag(6xv); sum = 36x", "36")
def _(e):
    return e.D(0, lambda x: e.sum(e.jac(e.grad(lambda y: e.sum(x * y * y * y)))(e.array(V))))(e.number(2))


@program("second_argument", G4, 1, """
D1([](auto x) { return grad<1>([&](auto a, auto b) { return x * a * b * b; })(x, 3.0); })(2.0)
""", "2xab = 6x²; d/dx = 12x", "24")
def _(e):
    return e.D(0, lambda x: e.grad(lambda a, b: x * a * b * b, 1)(x, e.number(3)))(e.number(2))


@program("aux_carries_outer", G4, 1, """
D1([](auto x) {
  auto [g, aux] = grad([&](auto y) { return std::pair{x * y * y, x * x * y}; }, has_aux)(2.0);
  return g + aux;
})(3.0)
""", "g = 4x, aux = 2x²; d/dx = 4 + 4x", "16", "4")
def _(e):
    def outer(x):
        g, aux = e.grad_aux(lambda y: (x * y * y, x * x * y))(e.number(2))
        return g + aux
    return e.D(0, outer)(e.number(3))


@program("stop_gradient_captured", G4, 2, """
D1([](auto x) { return D2([&](auto y) { return stop_gradient(x) * y * y + x * y; })(2.0); })(3.0)
""", "4 sg(x) + x", "1")
def _(e):
    return e.D(0, lambda x: e.D(1, lambda y: e.stop(x) * y * y + x * y)(e.number(2)))(e.number(3))


@program("stop_gradient_both", G4, 2, """
D1([](auto x) { return x * D2([&](auto y) { return stop_gradient(x * y) * y; })(2.0); })(3.0)
""", "D2 = sg(2x) = 6, a constant of both levels; d/dx 6x", "6", "12")
def _(e):
    return e.D(0, lambda x: x * e.D(1, lambda y: e.stop(x * y) * y)(e.number(2)))(e.number(3))


@program("checkpoint_captured", G4, 2, """
D1([](auto x) { return x * D2(checkpoint([&](auto y) { return x * y * y; }))(2.0); })(3.0)
""", "4x²; d/dx = 8x", "24")
def _(e):
    return e.D(0, lambda x: x * e.D(1, lambda y: x * y * y)(e.number(2)))(e.number(3))


# ---------------------------------------------------------------- control flow
G5 = "Control flow and locals"


@program("cond_taken", G5, 2, """
D1([](auto x) { return x * D2([&](auto y) {
  return cond(y > 0.0, [&](auto t) { return x * t; }, [](auto t) { return t * t; }, y); })(2.0); })(3.0)
""", "x · x; d/dx = 2x", "6")
def _(e):
    return e.D(0, lambda x: x * e.D(1, lambda y: x * y if e.bool(y) else y * y)(e.number(2)))(e.number(3))


@program("cond_not_taken", G5, 2, """
D1([](auto x) { return x * D2([&](auto y) {
  return cond(y > 0.0, [&](auto t) { return x * t; }, [](auto t) { return t * t; }, y); })(-2.0); })(3.0)
""", "2y = -4, constant; d/dx -4x", "-4")
def _(e):
    return e.D(0, lambda x: x * e.D(1, lambda y: x * y if e.bool(y) else y * y)(e.number(-2)))(e.number(3))


@program("cond_predicate_captured", G5, 2, """
D1([](auto x) { return D2([&](auto y) {
  return cond(x > 0.0, [&](auto t) { return x * x * t; }, [](auto t) { return t; }, y * y); })(2.0); })(3.0)
""", "2x²y = 4x²; d/dx = 8x", "24")
def _(e):
    return e.D(0, lambda x: e.D(1, lambda y: x * x * y * y if e.bool(x) else y * y)(e.number(2)))(e.number(3))


@program("where_captured", G5, 2, """
D1([](auto x) { return x * D2([&](auto y) { return where(y > 0.0, x * y, y * y); })(2.0); })(3.0)
""", "2x", "6")
def _(e):
    return e.D(0, lambda x: x * e.D(1, lambda y: x * y if e.bool(y) else y * y)(e.number(2)))(e.number(3))


@program("loop_sum", G5, 2, """
D1([](auto x) { return x * D2([&](auto y) { decltype(y) s = 0.0; for (int i = 0; i < 3; ++i) s = s + x * y; return s; })(2.0); })(3.0)
""", "3x · x; d/dx = 6x", "18")
def _(e):
    def inner(x):
        def f(y):
            s = 0
            for i in range(3):
                s = s + x * y
            return s
        return f
    return e.D(0, lambda x: x * e.D(1, inner(x))(e.number(2)))(e.number(3))


@program("loop_compound_assignment", G5, 2, """
D1([](auto x) { return D2([&](auto y) { auto p = y; for (int i = 0; i < 2; ++i) { p *= x; p += y; } return p * y; })(2.0); })(0.5)
""", "p = y(x²+x+1); D2 = 2y(x²+x+1) = 4(x²+x+1); d/dx = 8x + 4", "8")
def _(e):
    def inner(x):
        def f(y):
            p = y
            for i in range(2):
                p = p * x + y
            return p * y
        return f
    return e.D(0, lambda x: e.D(1, inner(x))(e.number(2)))(e.number("1/2"))


@program("loop_product", G5, 2, """
D1([](auto x) { return D2([&](auto y) { decltype(y) p = 1.0; for (int i = 0; i < 3; ++i) p = p * x * y; return p; })(2.0); })(0.5)
""", "3x³y² = 12x³; d/dx = 36x²", "9")
def _(e):
    return e.D(0, lambda x: e.D(1, lambda y: x * y * x * y * x * y)(e.number(2)))(e.number("1/2"))


@program("c_array", G5, 2, """
D1([](auto x) { return D2([&](auto y) {
  decltype(y) a[3]; a[0] = x * y; a[1] = a[0] * y; a[2] = a[1] + x; return a[0] * a[2]; })(2.0); })(3.0)
""", "x²(y³+y); D2 = x²(3y²+1) = 13x²; d/dx = 26x", "78")
def _(e):
    return e.D(0, lambda x: e.D(1, lambda y: (x * y) * (x * y * y + x))(e.number(2)))(e.number(3))


@program("std_array", G5, 2, """
D1([](auto x) { return D2([&](auto y) { std::array<decltype(y), 2> a{y, y}; a[1] = x * a[0]; return a[0] * a[1]; })(2.0); })(3.0)
""", "xy²; D2 = 2xy = 4x", "4")
def _(e):
    return e.D(0, lambda x: e.D(1, lambda y: y * (x * y))(e.number(2)))(e.number(3))


@program("tensor_inside", G5, 2, """
D1([](auto x) { return D2([&](auto y) {
  tensor<decltype(y), 1> a(3); for (int i = 0; i < 3; ++i) a(i) = x * y * (i + 1.0); return sum(a * a); })(2.0); })(3.0)
""", "14x²y²; D2 = 28x²y = 56x²; d/dx = 112x", "336")
def _(e):
    return e.D(0, lambda x: e.D(1, lambda y: sum((x * y * k) * (x * y * k) for k in (1, 2, 3)))(e.number(2)))(e.number(3))


@program("for_loop_captured", G5, 2, """
D1([](auto x) { return D2([&](auto y) { return for_loop(3, [&](int, auto s) { return s * x; }, y); })(2.0); })(3.0)
""", "x³; d/dx = 3x²", "27")
def _(e):
    return e.D(0, lambda x: e.D(1, lambda y: y * x * x * x)(e.number(2)))(e.number(3))


@program("scan_captured", G5, 2, """
D1([&](auto x) { return D2([&](auto y) {
  return scan([&](auto c, auto t) { return std::pair{c * x + t * y, c}; }, y, v).first; })(2.0); })(3.0)
""", "carry: y(x³ + x² + 2x + 3); D2 = x³+x²+2x+3; d/dx = 3x²+2x+2", "35")
def _(e):
    def inner(x):
        def f(y):
            c = y
            for t in (1, 2, 3):
                c = c * x + t * y
            return c
        return f
    return e.D(0, lambda x: e.D(1, inner(x))(e.number(2)))(e.number(3))


@program("while_loop_captured", G5, 2, """
D1([](auto x) { return D2([&](auto y) {                       // forward only: reverse over an unbounded loop is an error
  return while_loop([](auto s) { return s < 100.0; }, [&](auto s) { return s * x; }, y); })(2.0); })(3.0)
""", "2, 6, 18, 54, 162: four steps, x⁴; d/dx = 4x³", "108")
def _(e):
    return e.D(0, lambda x: e.D(1, lambda y: y * x * x * x * x)(e.number(2)))(e.number(3))


# ---------------------------------------------------------------- tensors and trees
G6 = "Captured tensors and trees;  v = {1, 2, 3}, w = {0.5, -1, 2}"


@program("tensor_captured", G6, 0, """
grad([&](auto x) { return sum(x * grad([&](auto y) { return dot(x, y * y); })(w)); })(v)
""", "inner 2xw; sum 2x²w; grad = 4xw", ["2", "-8", "24"])
def _(e):
    return e.grad(lambda x: e.sum(x * e.grad(lambda y: e.sum(x * y * y))(e.array(W))))(e.array(V))


@program("tensor_captured_same_point", G6, 0, """
grad([&](auto x) { return dot(w, grad([&](auto y) { return sum(x * y * y * y); })(x)); })(v)
""", "inner 3xy² at y=x: 3x³; grad = 9x²w", ["9/2", "-36", "162"])
def _(e):
    return e.grad(lambda x: e.sum(e.array(W) * e.grad(lambda y: e.sum(x * y * y * y))(x)))(e.array(V))


@program("element_captured", G6, 1, """
grad([](auto x) { return x(0) * D1([&](auto y) { return x(1) * y * y + x(2) * y; })(2.0); })(v)
""", "x0(4x1 + x2); grad = {4x1 + x2, 4x0, x0}", ["11", "4", "1"])
def _(e):
    return e.grad(lambda x: x[0] * e.D(0, lambda y: x[1] * y * y + x[2] * y)(e.number(2)))(e.array(V))


@program("tensor_argument_scalar_captured", G6, 1, """
D1([&](auto x) { return sum(grad([&](auto y) { return sum(x * x * y * y); })(v)); })(2.0)
""", "2x²v; sum 12x²; d/dx = 24x", "48")
def _(e):
    return e.D(0, lambda x: e.sum(e.grad(lambda y: e.sum(x * x * y * y))(e.array(V))))(e.number(2))


@program("hvp_captured", G6, 1, """
D1([&](auto a) { return sum(hvp([&](auto y) { return sum(a * a * y * y * y); }, v, w)); })(2.0)
""", "6a²vw; Σvw = 4.5; 27a²; d/da = 54a", "108")
def _(e):
    return e.D(0, lambda a: e.sum(e.jvp(e.grad(lambda y: e.sum(a * a * y * y * y)), e.array(V), e.array(W))[1]))(e.number(2))


@program("tree_captured", G6, 1, """
template <class T> struct pair_of { T a, b; };
grad([](auto p) { return p.a * D1([&](auto y) { return p.b * y * y; })(2.0); })(pair_of<double>{3, 5})    // {.a, .b}
""", "4ab; grad = {4b, 4a}", ["20", "12"])
def _(e):
    return e.grad(lambda p: p[0] * e.D(0, lambda y: p[1] * y * y)(e.number(2)))(e.array(["3", "5"]))


REFUSALS = """
## Programs that must be refused

Never a number: a compile error or a thrown `level_error` (release builds too).

| name | program | why |
|---|---|---|
| `leak_through_global` | `static std::any g;` an outer `var` is stored in `g`, the inner function (captureless) reads it | the probe cannot see it |
| `value_outlives_level` | `var<double> kept; grad([&](auto x) { kept = x; return x * x; })(2.0); kept * kept` | its level is closed |
| `pull_outlives_outer_level` | a `pull` made inside `grad` is stored outside and called after `grad` returned | its tape belongs to a closed level |
| `other_thread` | `grad([&](auto x) { auto y = x; std::thread([&] { y = x * x; }).join(); return y; })(2.0)` | levels are thread-local; the error must reach the caller |
| `narrowing` | `double d = x;` inside a differentiated function | would strip a level silently: must not compile |
| `rule_captures_variable` | a `custom_jvp` rule whose lambda captures a variable of a live level | rules may capture constants only |
"""

INTRODUCTION = """\
# Closures that capture outer variables

Made by `tools/make_gate_closures.py`; do not edit. The numbers are also in `closures.txt` (read with `gate::closure_values()`).

`D1`, `D2`, `D3` stand for a derivative operator each, chosen independently: every program with n of them is 2^n tests, all with
the same answer.

```cpp
constexpr auto rev = [](auto f) { return [f](auto x) { return tt::grad(f)(x); }; };
constexpr auto fwd = [](auto f) { return [f](auto x) { return tt::jvp(f, x, decltype(x)(1)).y_dot; }; };
```

`x`, `y`, `z` are scalars unless a tensor is shown. Where a program needs `closing_over(x)` for its inner transform, adding it must be
the only change, and the compiler must have asked for it; a wrong number is never acceptable. "A wrong level gives" is what a
mixed-up tag would return.

Verified three ways, all equal: by hand (the formula shown), with a fresh sympy symbol per derivative call, and by running the program in
JAX with every assignment of jvp and grad to the D's (`--jax`).
"""


def evaluate(answer):
    return [sp.sympify(a) for a in answer]


def number(x):
    text = repr(float(x.evalf(40)))
    return text[:-2] if text.endswith(".0") else text


def texts():
    md, txt, group_now = [INTRODUCTION], ["# Made by tools/make_gate_closures.py; do not edit. Programs: closures.md."], None
    for name, group, n, cpp, by_hand, answer, scalar, wrong, _ in PROGRAMS:
        if group != group_now:
            md.append(f"## {group}\n")
            group_now = group
        values = evaluate(answer)
        shown = ", ".join(str(v) if v.is_Integer else f"{v} = {number(v)}" if not v.is_Rational else number(v) for v in values)
        md.append(f"**`{name}`** = **{shown if scalar else '{' + shown + '}'}**  ({by_hand}"
                  f"{'; a wrong level gives ' + wrong if wrong else ''})\n```cpp\n{cpp}\n```\n")
        txt.append(f"value {name} . {'-' if scalar else len(values)} " + " ".join(map(number, values)))
    md.append(REFUSALS.lstrip("\n"))
    return "\n".join(md), "\n".join(txt) + "\n"


def verify(use_jax):
    bad = runs = 0
    for name, _, n, _, _, answer, scalar, _, run in PROGRAMS:
        want = evaluate(answer)
        got = run(exact())
        got = [sp.sympify(got)] if scalar else [sp.sympify(t) for t in np.ravel(got)]
        same = len(got) == len(want) and all(sp.simplify(a - b) == 0 for a, b in zip(got, want))
        bad += not same
        if not same:
            print(f"{name}: sympy gives {got}, by hand {want}")
        if use_jax:
            for modes in itertools.product(("fwd", "rev"), repeat=max(n, 1)):
                values = np.ravel(np.asarray(run(with_jax(modes))))
                target = np.array([float(w.evalf(30)) for w in want])
                runs += 1
                if values.shape != target.shape or np.max(np.abs(values - target)) > 1e-13 * max(1, np.max(np.abs(target))):
                    bad += 1
                    print(f"{name} {modes}: JAX gives {values}, by hand {target}")
    print(f"{len(PROGRAMS)} programs, {runs} JAX runs, {bad} wrong")
    return bad == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--jax", action="store_true")
    args = parser.parse_args()
    if not verify(args.jax):
        return 1
    good = True
    for name, text in zip(("closures.md", "closures.txt"), texts()):
        path = ROOT / name
        if args.check:
            same = path.exists() and path.read_text() == text
            good &= same
            print(f"{name}: {'same' if same else 'DIFFERS'}")
        else:
            path.write_text(text)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
