#!/usr/bin/env python3
"""Compares tests/gate/{gate,op,table}_values.txt with JAX (float64), an implementation that shares nothing with the generator:
real jax.grad, jvp, vmap, jacfwd, jacrev, all 155 (30) strings with R as jacrev, arrays of the table under 25 more, and the two gate bodies written again.
Every operator of the table is JAX's own function of that name.

    pip install numpy mpmath jax && python3 tools/check_gate_values.py [gate] [op] [table]
    pip install numpy mpmath sympy jax && python3 tools/check_gate_values.py --sympy

With --sympy instead: the two gate bodies as formulas, composed and differentiated symbolically, evaluated with 40 digits and rounded; the
stored doubles must be the very same. Not part of the test suite (JAX is large); run both after changing make_gate_values.py. Each
takes up to an hour (the table alone 20 minutes).
"""
import itertools
import pathlib
import sys

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import numpy as np

import make_gate_values as made

jax.config.update("jax_enable_x64", True)
ROOT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "gate"
TOLERANCE = 2e-13     # relative to the largest element of the output; JAX itself rounds


def read(path):
    sequences, bodies, values = {}, {}, {}
    for line in path.read_text().splitlines():
        kind, *rest = line.split()
        if kind == "seq":
            sequences[rest[0]] = np.array([float(t) for t in rest[2:]])
        elif kind == "body":
            bodies[rest[0]] = (rest[1], shape_of(rest[2]))
        elif kind == "value":
            values[rest[0], rest[1]] = np.array([float(t) for t in rest[3:]]).reshape(shape_of(rest[2]))
    return sequences, bodies, values


def shape_of(text):
    return () if text == "-" else tuple(int(n) for n in text.split("x"))


SEQ = {}


def seq(name, shape):
    return jnp.asarray(SEQ[name][:int(np.prod(shape, dtype=int))].reshape(shape))


def G(g):
    def loss(x):
        y = g(x)
        return jnp.sum(seq("w", y.shape) * y)
    return jax.grad(loss)


TRANSFORMS = {"G": G, "J": lambda g: lambda x: jax.jvp(g, (x,), (seq("v", x.shape),))[1],
              "V": jax.vmap, "F": jax.jacfwd, "R": jax.jacrev}


def scatter_add(x, axis, index, src):
    index = jnp.asarray(index)
    grid = list(jnp.indices(index.shape))
    grid[axis] = index
    return x.at[tuple(grid)].add(src[tuple(slice(0, n) for n in index.shape)])


NAMES = {n: getattr(jnp, n) for n in ("exp log sin cos tanh sqrt where maximum sum mean max min prod any all argmax argmin "
                                      "count_nonzero matmul dot reshape transpose broadcast_to squeeze take less less_equal greater greater_equal equal not_equal eye").split()}
NAMES.update(
    unsqueeze=jnp.expand_dims, take=lambda x, i, axis: jnp.take(x, jnp.asarray(i), axis=axis), sigmoid=jax.nn.sigmoid,
    leaky_relu=lambda x: jax.nn.leaky_relu(x, 0.01), variance=jnp.var, stddev=jnp.std, softmax=jax.nn.softmax, log_softmax=jax.nn.log_softmax,
    norm=lambda x, axis=None: jnp.linalg.norm(jnp.ravel(x) if axis is None else x, axis=axis),
    logsumexp=jax.scipy.special.logsumexp, scatter_add=scatter_add, cast=lambda x: x.astype(jnp.float64),
    cholesky=jnp.linalg.cholesky,
    triangular_solve=lambda a, b, lower=True, transposed=False:
        jax.scipy.linalg.solve_triangular(a, b, lower=lower, trans=int(transposed)),
    A=lambda *s: seq("A", s), B=lambda *s: seq("B", s), C=lambda *s: seq("C", s))


# the operator table, with JAX's own functions
def table_functions():
    same = ("abs floor ceil round trunc sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh sign square reciprocal hypot fmod "
            "remainder fmax fmin copysign maximum minimum logaddexp equal not_equal less less_equal greater greater_equal isnan isinf isfinite")
    f = {n: getattr(jnp, n) for n in same.split()}
    f.update({"a" + n: getattr(jnp, "arc" + n) for n in "sin cos tan sinh cosh tanh".split()})
    f.update({n: getattr(jax.nn, n) for n in "sigmoid softplus relu silu leaky_relu elu".split()})
    f.update({n: getattr(jax.scipy.special, n) for n in "erf erfc xlogy".split()})
    bits = lambda x: jnp.trunc(8 * x).astype(jnp.int64)
    above = lambda x: x > 0
    f.update(
        real=lambda x: x, imag=lambda x: 0.0 * x, conj=lambda x: x, arg=lambda x: jnp.where(x < 0, jnp.pi, 0.0),
        rsqrt=jax.lax.rsqrt, logsigmoid=jax.nn.log_sigmoid, gelu=lambda x: jax.nn.gelu(x, approximate=False), neg=jnp.negative, cast=lambda x: x,
        add=jnp.add, sub=jnp.subtract, mul=jnp.multiply, div=jnp.divide, pow=jnp.power, atan2=jnp.arctan2,
        where=lambda x, b, c: jnp.where(x > 0.25, b, c), clamp=jnp.clip, lerp=lambda a, b, t: a + t * (b - a), fma=lambda a, b, c: a * b + c,
        logical_not=lambda x: ~above(x), logical_and=lambda x, y: above(x) & above(y), logical_or=lambda x, y: above(x) | above(y),
        bit_not=lambda x: ~bits(x) > 3, bit_and=lambda x, y: (bits(x) & bits(y)) > 3, bit_or=lambda x, y: (bits(x) | bits(y)) > 3,
        bit_xor=lambda x, y: (bits(x) ^ bits(y)) > 3, shift_left=lambda x, y: (bits(x) << 2) > 3, shift_right=lambda x, y: (bits(x) >> 2) > 3)
    return f


def table_bodies():
    import gate_table
    functions, bodies = table_functions(), {}
    for name, operands, points, _ in gate_table.rows():
        arity = next(n for n, t in enumerate((gate_table.UNARY, gate_table.BINARY, gate_table.TERNARY), 1) if name in t)

        def body(x, f=functions[name], n=arity, k=operands):
            y = f(*(x, k[0] + k[1] * x, k[2] + k[3] * x)[:n])
            return (jnp.where(y, x, 2.0) if y.dtype == bool else y) * x
        bodies.update({f"{name}:{k}": body for k in range(len(points))})
    return bodies


def op_body(expression):
    def body(x):
        return eval(expression, NAMES, {"x": x, "h": x * x + seq("C", x.shape) * x if "C" in SEQ else None})
    return body


def body_1(x):
    gauss = jnp.exp(-jnp.square(x)) * jnp.sin(x)
    return gauss + x * (x + 2.0) ** 0.5 / (jnp.square(x) + 1.0)


def body_2(x):
    y = jnp.einsum("ij,jk->ik", jnp.tanh(x), jnp.array([[0.5, -0.75], [1.25, 0.25], [-0.5, 1.0]]))
    return jnp.einsum("ik,ik->k", y, y) * jnp.exp(0.3 * x).mean()


def symbolic():
    """Every string of both bodies, symbolically; the Jacobians of depth three of body 2 at every seventh element only."""
    import mpmath as mp
    import sympy as sp
    mp.mp.dps = 40
    sequences, bodies, values = read(ROOT / "gate_values.txt")
    exact = lambda name, n: [sp.Rational(float(t)) for t in sequences[name][:n]]
    arr = lambda a: np.array(a, dtype=object)
    each = lambda f: lambda x: arr(np.frompyfunc(f, 1, 1)(x))

    def one(x):
        x = sp.sympify(x.item())
        return arr(sp.exp(-x**2) * sp.sin(x) + x * sp.sqrt(x + 2) / (1 + x**2))

    def two(x):
        y = each(sp.tanh)(x).dot(arr(exact("A", 6)).reshape(3, 2))
        return arr((y * y).sum(axis=0) * each(lambda t: sp.exp(sp.Rational(0.3) * t))(x).sum() / x.size)

    def jacobian(g):
        return lambda x: arr([sp.diff(e, t) for e in np.ravel(g(x)) for t in np.ravel(x)]).reshape(g(x).shape + x.shape)

    def gradient(g):
        def run(x):
            y = g(x)
            loss = sum(w * e for w, e in zip(exact("w", y.size), np.ravel(y)))
            return arr([sp.diff(loss, t) for t in np.ravel(x)]).reshape(x.shape)
        return run

    def directional(g):
        return lambda x: arr([sum(v * sp.diff(e, t) for v, t in zip(exact("v", x.size), np.ravel(x))) for e in np.ravel(g(x))]).reshape(g(x).shape)

    def mapped(g):
        return lambda x: np.stack([arr(g(arr(row))) for row in x])
    letters = {"G": gradient, "J": directional, "V": mapped, "F": jacobian}
    count = bad = 0
    for name, body in (("1", one), ("2", two)):
        for string in ("".join(s) for n in range(4) for s in itertools.product("GJVF", repeat=n)):
            g = body
            for letter in reversed(string):
                g = letters[letter](g)
            shape = (2,) * string.count("V") + bodies[name][1]
            n = int(np.prod(shape, dtype=int))
            symbols = sp.symbols(f"x0:{n}")
            y = g(arr(symbols).reshape(shape) if shape else arr(symbols[0]))
            want = values[name, string or "."]
            assert y.shape == want.shape, (name, string, y.shape, want.shape)
            step = 7 if want.size > 150 else 1
            flat = list(np.ravel(y))[::step]
            got = sp.lambdify(symbols, flat, "mpmath", cse=True)(*[mp.mpf(float(t)) for t in sequences[bodies[name][0]][:n]])
            for a, b in zip(got, np.ravel(want)[::step]):
                count += 1
                a = mp.mpf(a)
                if (0.0 if abs(a) < 1e-30 else float(a)) != b:
                    bad += 1
                    print(f"{name} {string}: {mp.nstr(a, 20)} {b!r}", flush=True)
        print(f"body {name}: {count} numbers compared so far, {bad} differ", flush=True)
    return bad != 0


def main():
    if "--sympy" in sys.argv[1:]:
        return symbolic()
    worst, count, bad = 0.0, 0, 0
    for file, depth in (("gate_values.txt", 3), ("op_values.txt", 2), ("table_values.txt", 2)):
        sequences, bodies, values = read(ROOT / file)
        if file != "table_values.txt":   # which takes w and v from op_values.txt
            SEQ.clear()
        SEQ.update(sequences)
        if file.split("_")[0] not in (sys.argv[1:] or file):
            continue
        known = {"1": body_1, "2": body_2} if depth == 3 else table_bodies() if file == "table_values.txt" else {n: op_body(e) for n, _, _, e in made.OPS}
        assert set(known) == set(bodies)
        for name, (which, shape) in bodies.items():
            for string in ("".join(s) for n in range(4) for s in itertools.product("GJVFR", repeat=n)):
                if len(string) > depth and (name, string.replace("R", "F")) not in values:
                    continue
                g = known[name]
                for letter in reversed(string):
                    g = TRANSFORMS[letter](g)
                x = seq(which, (2,) * string.count("V") + shape)
                got, want = np.asarray(g(x)), values[name, string.replace("R", "F") or "."]
                error = np.inf
                if got.shape == want.shape:
                    size = max(1.0 if file == "table_values.txt" else 1e-300, np.max(np.abs(want)))    # x (1 / x) has derivative 0
                    error = np.max(np.abs(got - want)) / size if np.any(got != want) else 0.0
                count, worst = count + 1, max(worst, error)
                if not error <= TOLERANCE:
                    bad += 1
                    print(f"{name} {string}: shapes {got.shape} {want.shape}, error {error:.3g}", flush=True)
            print(f"{name}: done, worst so far {worst:.3g}", flush=True)
    print(f"{count} values, {bad} disagree, worst relative error {worst:.3g}")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
