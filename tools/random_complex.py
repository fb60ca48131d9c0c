#!/usr/bin/env python3
"""Random programs (random_programs.py) with complex numbers: real functions of a complex vector, a complex matrix and a real number.

    tools/random_complex.py <first seed> <count> [--size 6] [--flags "-O0"]

A gradient is df/dx + i df/dy, the conjugate of JAX's; so is what a cotangent gives.
"""
import random_programs as base
import re
import sys

base.UNARY = [("exp(0.3 * {0})", "jnp.exp(0.3 * {0})"), ("sin({0})", "jnp.sin({0})"), ("cos({0})", "jnp.cos({0})"), ("sinh(0.4 * {0})", "jnp.sinh(0.4 * {0})"), ("-{0}", "-{0}"),
              ("tt::square({0})", "jnp.square({0})"), ("cj({0})", "jnp.conj({0})"), ("re({0}) * {0}", "jnp.real({0}) * {0}"), ("im({0}) + {0}", "jnp.imag({0}) + {0}"),
              ("abs({0}) * {0}", "jnp.abs({0}) * {0}"), ("sqrt({0} * cj({0}) + 4.0)", "jnp.sqrt({0} * jnp.conj({0}) + 4.0)"), ("sqrt(tt::square(0.3 * {0}) + 4.0)", "jnp.sqrt(jnp.square(0.3 * {0}) + 4.0)"),
              ("log({0} * cj({0}) + ii)", "jnp.log({0} * jnp.conj({0}) + ii)"), ("tt::reciprocal({0} * cj({0}) + 1.0)", "1 / ({0} * jnp.conj({0}) + 1.0)"),
              ("({0} * {0} * {0})", "{0} ** 3"), ("ii * {0}", "ii * {0}"), ("({0} - ii)", "({0} - ii)"), ("tanh(0.3 * {0})", "jnp.tanh(0.3 * {0})"), ("atan(0.2 * {0})", "jnp.arctan(0.2 * {0})")]
base.BINARY = [("{0} + {1}", "{0} + {1}"), ("{0} - {1}", "{0} - {1}"), ("{0} * {1}", "{0} * {1}"), ("{0} * cj({1})", "{0} * jnp.conj({1})"), ("{0} / ({1} * cj({1}) + 1.0)", "{0} / ({1} * jnp.conj({1}) + 1.0)")]
base.BINARY_OF_ARRAYS = [("where(re({0}) > im({1}), {0}, {1} * 0.5)", "jnp.where(jnp.real({0}) > jnp.imag({1}), {0}, {1} * 0.5)"), ("where(abs({0}) > 0.6, {1}, 1.0)", "jnp.where(jnp.abs({0}) > 0.6, {1}, 1.0)")]
base.UNARY_OF_ARRAYS = [("tt::let({0}, [](auto t) {{ return t * conj(t) + t; }})", "{0} * jnp.conj({0}) + {0}"), ("flip({0}, {1})", "jnp.flip({0}, {1})")]
base.REDUCTIONS = [("sum({0}{1})", "jnp.sum({0}{1})"), ("mean({0}{1})", "jnp.mean({0}{1})"), ("prod({0}{1})", "jnp.prod({0}{1})"), ("ii * norm({0}{1})", "ii * jnp.sqrt(jnp.sum(jnp.abs({0}) ** 2{1}))"),
                   ("ii * variance({0}{1})", "ii * jnp.var({0}{1})")]
KINDS = ["grad", "value_and_grad", "hvp", "jvp", "checkpoint", "vmap", "loop", "parts", "scan", "cond", "for_loop", "axes", "unmapped", "indices", "scattered", "linearised", "pulled", "samples", "stopped", "rule"]


class Writer(base.Writer):
    def __init__(self, seed):
        super().__init__(seed)
        self.kinds = KINDS

    @staticmethod
    def number(values, last):
        c = " + ".join(f"re({n} * cj({n}))" if shape == () else f"sum(re({n} * cj({n})))" for n, shape in values[-last:])
        return c, c.replace("cj(", "jnp.conj(").replace("re(", "jnp.real(").replace("sum", "jnp.sum")

    def statement(self, values, indent):
        made = super().statement(values, indent)
        return made and ((made[0][0], [conjugated(x) for x in made[0][1]]), (made[1][0], conjugated(made[1][1])), made[2])

    def function_of_array(self, values, indent):
        a = self.pick(values, lambda s: s != ())
        axis = a and self.random.randrange(len(a[1]))
        return a and (([], []), tuple(t.format(a[0], axis) for t in self.random.choice(base.UNARY_OF_ARRAYS)), a[1])

    def cube(self, values, indent):
        made = super().cube(values, indent)
        return None if made is None or "maximum" in made[1][0] else made

    def solved(self, values, indent):
        return None


def conjugated(line):
    """JAX's gradients as ours."""
    line = re.sub(r"jax\.jvp\(jax\.grad\((\w+)\), \((\w+),\), \((\w+),\)\)\[1\]", r"jnp.conj(jax.jvp(jax.grad(\1), (\2,), (\3,))[1])", line)
    line = re.sub(r"(?<!jvp\()jax\.grad\((\w+)\)\((\w+)\)", r"jnp.conj(jax.grad(\1)(\2))", line)
    line = re.sub(r"jax\.value_and_grad\((\w+)\)\((\w+)\)", r"(lambda both: (both[0], jnp.conj(both[1])))(jax.value_and_grad(\1)(\2))", line)
    line = re.sub(r"jax\.vmap\(jax\.grad\((\w+)\), \(None, 0\)\)\((\w+), (\w+)\)", r"jnp.conj(jax.vmap(jax.grad(\1), (None, 0))(\2, \3))", line)
    return re.sub(r"(\w+)\[1\]\(\1\[0\] \* 0\.5\)\[0\]", r"jnp.conj(\1[1](jnp.conj(\1[0] * 0.5))[0])", line)


base.LAST = "sum(re(sin(x))) + s * s + sum(re(m * cj(m))) * 0.1"
base.CPP = base.CPP.replace('std::printf(" %.17g", e.data()[i]);', 'one(e.data()[i]);').replace('std::printf(" %.17g", double(v));', 'one(v);')
base.CPP = base.CPP.replace("template <class T> void put", "const std::complex<double> ii(0.3, -0.8);\nusing std::conj; using std::real; using std::imag;\ntemplate <class T> auto cj(const T& z) { if constexpr (std::is_arithmetic_v<T>) return z; else return conj(z); }\ntemplate <class T> auto re(const T& z) { if constexpr (std::is_arithmetic_v<T>) return z; else return real(z); }\ntemplate <class T> auto im(const T& z) { if constexpr (std::is_arithmetic_v<T>) return 0.0 * z; else return imag(z); }\ntemplate <class T> void one(const T& v) { const std::complex<double> z(v); std::printf(\" %.17g %.17g\", z.real(), z.imag()); }\ntemplate <class T> void put", 1)
base.CPP = base.CPP.replace("using std::sin;", "using std::sinh; using std::abs; using std::sin;")
base.CPP = base.CPP.split("int main() {")[0] + """int main() {
  using C = std::complex<double>;
  const tt::tensor<C, 1> x{C(0.3, 0.2), C(-0.7, 0.5), C(1.1, -0.4)}, xd{C(0.5, -0.3), C(1.2, 0.1), C(-0.4, 0.9)};
  const tt::tensor<C, 2> m{{C(0.2, 0.6), C(-0.4, 0.3), C(0.9, -0.5), C(0.1, 0.7)}, {C(1.3, -0.2), C(0.6, 0.4), C(-0.8, 0.15), C(0.35, -0.9)}, {C(-0.25, 0.8), C(0.75, -0.35), C(0.45, 0.55), C(-1.15, 0.05)}};
  const tt::tensor<C, 2> md = tt::eval(conj(m) * C(0.7, 0.4) + 0.1);
  const tt::tensor<C, 2> xs{{C(0.3, 0.2), C(-0.7, 0.5), C(1.1, -0.4)}, {C(0.9, -0.1), C(0.15, 0.35), C(-0.45, 0.6)}};
  const double s = 0.65, sd = -0.8;
  put("value", f(x, m, s));
CALLS
}
"""
base.JAX = """import jax, jax.numpy as jnp, numpy as np, sys
jax.config.update("jax_enable_x64", True)
ii = 0.3 - 0.8j
def f(x, m, s):
BODY
x, xd, s, sd = jnp.array([0.3 + 0.2j, -0.7 + 0.5j, 1.1 - 0.4j]), jnp.array([0.5 - 0.3j, 1.2 + 0.1j, -0.4 + 0.9j]), jnp.array(0.65), jnp.array(-0.8)
m = jnp.array([[0.2 + 0.6j, -0.4 + 0.3j, 0.9 - 0.5j, 0.1 + 0.7j], [1.3 - 0.2j, 0.6 + 0.4j, -0.8 + 0.15j, 0.35 - 0.9j], [-0.25 + 0.8j, 0.75 - 0.35j, 0.45 + 0.55j, -1.15 + 0.05j]])
md = jnp.conj(m) * (0.7 + 0.4j) + 0.1
xs = jnp.array([[0.3 + 0.2j, -0.7 + 0.5j, 1.1 - 0.4j], [0.9 - 0.1j, 0.15 + 0.35j, -0.45 + 0.6j]])
truth = {"value": lambda: f(x, m, s), "grad_x": lambda: jnp.conj(jax.grad(f, 0)(x, m, s)), "grad_m": lambda: jnp.conj(jax.grad(f, 1)(x, m, s)), "grad_s": lambda: jax.grad(f, 2)(x, m, s),
         "jvp": lambda: jax.jvp(f, (x, m, s), (xd, md, sd))[1], "hvp": lambda: jnp.conj(jax.jvp(jax.grad(lambda t: f(t, m, s)), (x,), (xd,))[1]), "vmap_grad": lambda: jnp.conj(jax.vmap(jax.grad(lambda t: f(t, m, s)))(xs)),
         "grad_grad": lambda: jnp.conj(jax.grad(lambda t: jnp.sum(jnp.real(jax.grad(lambda q: f(t, q, s))(m) * md)))(x)), "grad_vmap": lambda: jnp.conj(jax.grad(lambda q: jnp.sum(jax.vmap(lambda t: f(t, q, s))(xs)))(m))}
for line in open(sys.argv[1]):
    name, *words = line.split()
    ours, theirs = np.array([float(w) for w in words]), np.asarray(truth[name]()).ravel()
    ours = ours[0::2] + 1j * ours[1::2]
    if ours.shape != theirs.shape or not np.allclose(ours, theirs, rtol=1e-8, atol=1e-9 * max(1, np.abs(theirs).max()), equal_nan=True): print(name, "ours", ours, "JAX", theirs)
"""
base.CALLS["hessian"] = '  put("hvp", tt::hvp([&](const auto& t) { return f(t, m, s); }, x, xd));'
base.CALLS["grad_grad"] = '  put("grad_grad", tt::grad([&](const auto& t) { return sum(real(conj(tt::grad([&](const auto& q) { return f(t, q, s); })(m)) * md)); })(x));'
base.Writer = lambda seed, inner=None: Writer(seed)


if __name__ == "__main__":
    base.main()
