#!/usr/bin/env python3
"""Random programs with equal meaning in C++ and in JAX: values and derivatives of the one are compared with the other's.

    pip install jax                                      # not a dependency of the library; the test suite does not run this
    tools/random_programs.py <first seed> <count> [--size 7] [--derivatives grad,jvp] [--inner axes,indices] [--arrays fixed] [--flags "-O0"]

A program is a function of a vector, a matrix and a number: elementwise operators, reductions, shapes, indexing, products, writes
to parts, element loops and control flow, and transforms of inner functions that capture outer values, two deep: of several arguments, of
pairs and aggregates, over other axes and over integers, with auxiliary results and rules too. Each is compiled
(about a minute, much of it for nested derivatives) and run in a folder of its own; one that fails is kept and named.
"""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(HERE, "..", "include")

# (C++, JAX); {0}, {1}: operands
UNARY = [("exp(0.3 * tanh({0}))", "jnp.exp(0.3 * jnp.tanh({0}))"), ("sin({0})", "jnp.sin({0})"), ("cos({0})", "jnp.cos({0})"), ("tanh({0})", "jnp.tanh({0})"),
         ("tt::sigmoid({0})", "jax.nn.sigmoid({0})"), ("sqrt({0} * {0} + 1.0)", "jnp.sqrt({0} * {0} + 1.0)"), ("log({0} * {0} + 1.5)", "jnp.log({0} * {0} + 1.5)"),
         ("-{0}", "-{0}"), ("tt::square({0})", "jnp.square({0})"), ("tt::reciprocal({0} * {0} + 1.0)", "1 / ({0} * {0} + 1.0)"), ("tt::relu({0} + 0.1)", "jax.nn.relu({0} + 0.1)"),
         ("tt::softplus({0})", "jax.nn.softplus({0})"), ("erf({0})", "jax.scipy.special.erf({0})"), ("atan({0})", "jnp.arctan({0})"), ("log1p({0} * {0})", "jnp.log1p({0} * {0})"),
         ("expm1(0.2 * tanh({0}))", "jnp.expm1(0.2 * jnp.tanh({0}))"), ("tt::silu({0})", "jax.nn.silu({0})"), ("(1.5 - 0.5 * {0})", "(1.5 - 0.5 * {0})"), ("asinh({0})", "jnp.arcsinh({0})"),
         ("pow({0}, 3)", "{0} ** 3"), ("tt::clamp({0}, -0.65, 0.85)", "jnp.clip({0}, -0.65, 0.85)")]
UNARY_OF_ARRAYS = [("tt::let({0}, [](auto t) {{ return t * tanh(t) + t; }})", "{0} * jnp.tanh({0}) + {0}"), ("tt::fuse([](auto t) {{ auto u = t * t + 1.0; return u / (u + t); }}, {0})", "({0} * {0} + 1.0) / ({0} * {0} + 1.0 + {0})"),
                   ("softmax({0}, {1})", "jax.nn.softmax({0}, axis={1})"), ("log_softmax({0}, {1})", "jax.nn.log_softmax({0}, axis={1})"), ("flip({0}, {1})", "jnp.flip({0}, {1})")]
BINARY = [("{0} + {1}", "{0} + {1}"), ("{0} - {1}", "{0} - {1}"), ("{0} * {1}", "{0} * {1}"), ("{0} * {1}", "{0} * {1}"), ("{0} / ({1} * {1} + 1.0)", "{0} / ({1} * {1} + 1.0)")]
BINARY_OF_ARRAYS = [("maximum({0}, {1})", "jnp.maximum({0}, {1})"), ("minimum({0}, {1})", "jnp.minimum({0}, {1})"), ("where({0} > {1}, {0}, {1} * 0.5)", "jnp.where({0} > {1}, {0}, {1} * 0.5)"),
                    ("where({0} > 0.1, {1}, 1.0)", "jnp.where({0} > 0.1, {1}, 1.0)"), ("atan2({0} + 2.0, {1})", "jnp.arctan2({0} + 2.0, {1})"), ("hypot({0}, {1} + 1.0)", "jnp.hypot({0}, {1} + 1.0)"),
                    ("logaddexp({0}, {1})", "jnp.logaddexp({0}, {1})"), ("pow({0} * {0} + 0.5, {1})", "({0} * {0} + 0.5) ** {1}"), ("lerp({0}, {1}, 0.3)", "({0} + ({1} - {0}) * 0.3)")]
REDUCTIONS = [("sum({0}{1})", "jnp.sum({0}{1})"), ("mean({0}{1})", "jnp.mean({0}{1})"), ("tt::max({0}{1})", "jnp.max({0}{1})"), ("tt::min({0}{1})", "jnp.min({0}{1})"),
              ("logsumexp({0}{1})", "jax.scipy.special.logsumexp({0}{1})"), ("prod({0}{1})", "jnp.prod({0}{1})"), ("variance({0}{1})", "jnp.var({0}{1})"),
              ("norm({0}{1})", "jnp.sqrt(jnp.sum(jnp.square({0}){1}))"), ("stddev({0}{1})", "jnp.std({0}{1})")]
RANGES = [("tt::range(1, tt::end)", "1:"), ("tt::range(tt::end, tt::end, -1)", "::-1"), ("tt::range(0, tt::end, 2)", "::2")]
INNER = ["grad", "value_and_grad", "hvp", "jvp", "jacfwd", "jacrev", "checkpoint", "vmap", "loop", "parts", "scan", "cond", "for_loop"]
ALSO = ["axes", "unmapped", "indices", "scattered", "linearised", "pulled", "transposed_map", "second", "samples", "stopped", "aux", "pair", "aggregate", "until", "rule"]

LAST = "sum(sin(x)) + s * s + sum(m * m) * 0.1"


class Writer:
    """Writes one program; a value is (name, shape)."""

    def __init__(self, seed, inner=None):
        self.random, self.names, self.depth = random.Random(seed), 0, 0
        self.kinds, self.plain = (inner, 0.65) if inner else (INNER + ALSO, 0.86)  # of transforms inside, and how many statements in one have none

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def pick(self, values, fits=lambda shape: True):
        """One of the values that fit, rather a late one; None if there is none."""
        fitting = [v for v in values if fits(v[1])]
        return fitting[min(len(fitting) - 1, int(len(fitting) * self.random.random() ** 0.6))] if fitting else None

    def body(self, parameters, size, captured, indent):
        values, cpp, jax = list(captured) + list(parameters), [], []
        while size > 0:
            made = self.statement(values, indent)
            if made is None:
                continue
            before, (c, j), shape = made
            name = self.name()
            evaluated = shape != () and self.random.random() < 0.25
            cpp += before[0] + [indent + (f"auto {name} = tt::eval({c});" if evaluated else f"auto {name} = {c};")]
            jax += before[1] + [indent + f"{name} = {j}"]
            values.append((name, shape))
            size -= 1
        return cpp, jax, values

    @staticmethod
    def number(values, last):
        """A number out of the last values, in both languages."""
        def text(f):
            return " + ".join(n if shape == () else f"{f}({n} * {n})" for n, shape in values[-last:])
        return text("sum"), text("jnp.sum")

    def statement(self, values, indent):
        r, x = self.random, self.random.random()
        plain = ([], [])
        if x < 0.27:
            name, shape = self.pick(values)
            return plain, tuple(t.format(name) for t in r.choice(UNARY)), shape
        if x < 0.57:
            return self.binary(values)
        if x < 0.70:
            return self.reduction(values)
        if x < self.plain or (x < 0.86 and self.depth == 2):
            return r.choice([self.product, self.product, self.outer, self.transposed, self.sliced, self.row, self.taken, self.added, self.solved, self.function_of_array, self.dotted, self.cube, self.cube])(values, indent)
        if self.depth == 2:
            return None
        self.depth += 1
        kind = r.choice(self.kinds)
        made = getattr(self, kind)(values, indent) if kind in ALSO else self.inner(kind, values, indent)
        self.depth -= 1
        return made

    def binary(self, values):
        a, b = self.pick(values), self.pick(values)
        shape, other = (a[1], b[1]) if len(a[1]) >= len(b[1]) else (b[1], a[1])
        if other and shape[len(shape) - len(other):] != other:
            return None
        form = self.random.choice(BINARY if shape == () else BINARY + BINARY_OF_ARRAYS)
        return ([], []), tuple(t.format(a[0], b[0]) for t in form), shape

    def reduction(self, values):
        v = self.pick(values, lambda s: s != ())
        if not v:
            return None
        (name, shape), r = v, self.random
        if r.random() < 0.3:
            name = f"({name} * {name} + {name})"
        form = r.choice(REDUCTIONS)
        if len(shape) == 1 or r.random() < 0.25:
            return ([], []), (form[0].format(name, ""), form[1].format(name, "")), ()
        axes = sorted(r.sample(range(len(shape)), r.choice([1, 1, len(shape) - 1])))
        axis = axes[0] - r.choice([0, len(shape)])
        c, j = (f", {axis}", f", axis={axis}") if len(axes) == 1 else (f", tt::axes{{{axes[0]}, {axes[1]}}}", f", axis={tuple(axes)}")
        if r.random() < 0.3:
            return ([], []), (form[0].format(name, c + ", tt::keepdims") + f" * {name}", form[1].format(name, j + ", keepdims=True") + f" * {name}"), shape
        return ([], []), (form[0].format(name, c), form[1].format(name, j)), tuple(n for i, n in enumerate(shape) if i not in axes)

    # ---- products, shapes, indices ----------------------------------------------------------------------------------------
    def product(self, values, indent):
        a = self.pick(values, lambda s: len(s) == 2)
        b = a and self.pick(values, lambda s: len(s) in (1, 2) and s[0] == a[1][1])
        return b and (([], []), (f"matmul({a[0]}, {b[0]})", f"jnp.matmul({a[0]}, {b[0]})"), (a[1][0],) + b[1][1:])

    def outer(self, values, indent):
        a, b = self.pick(values, lambda s: len(s) == 1), self.pick(values, lambda s: len(s) == 1)
        return a and (([], []), (f"outer({a[0]}, {b[0]})", f"jnp.outer({a[0]}, {b[0]})"), a[1] + b[1])

    def transposed(self, values, indent):
        a, r = self.pick(values, lambda s: len(s) >= 2), self.random
        if not a:
            return None
        order = r.sample(range(len(a[1])), len(a[1]))
        return ([], []), (f"permute({a[0]}, {{{', '.join(map(str, order))}}})", f"jnp.transpose({a[0]}, {tuple(order)})"), tuple(a[1][i] for i in order)

    def function_of_array(self, values, indent):
        a = self.pick(values, lambda s: s != ())
        axis = a and self.random.randrange(len(a[1]))
        return a and (([], []), tuple(t.format(a[0], axis) for t in self.random.choice(UNARY_OF_ARRAYS)), a[1])

    def dotted(self, values, indent):
        a = self.pick(values, lambda s: len(s) == 1)
        b = a and self.pick(values, lambda s: s == a[1])
        return b and (([], []), (f"dot({a[0]}, {b[0]})", f"jnp.dot({a[0]}, {b[0]})"), ())

    def cube(self, values, indent):
        """A vector along a new axis of a matrix."""
        m, v, r = self.pick(values, lambda s: len(s) == 2), self.pick(values, lambda s: len(s) == 1), self.random
        if not m or not v:
            return None
        axis, (op, like) = r.randrange(3), r.choice([("{0} * {1}", "{0} * {1}"), ("{0} - {1}", "{0} - {1}"), ("maximum({0}, {1})", "jnp.maximum({0}, {1})")])
        column = v[0]
        for _ in range(2 - axis):
            column = f"unsqueeze({column}, -1)"
        texts = op.format(f"unsqueeze({m[0]}, {axis})", column), like.format(f"unsqueeze({m[0]}, {axis})", column).replace("unsqueeze", "jnp.expand_dims")
        return ([], []), texts, m[1][:axis] + v[1] + m[1][axis:]

    def named(self, value, indent):
        name = self.name()
        return name, ([indent + f"auto {name} = tt::eval({value});"], [indent + f"{name} = {value}"])

    def sliced(self, values, indent):
        a = self.pick(values, lambda s: s != ())
        if not a:
            return None
        name, before = self.named(a[0], indent)
        c, j = self.random.choice(RANGES)
        return before, (f"sum({name}({c}), 0)", f"jnp.sum({name}[{j}], 0)"), a[1][1:]

    def row(self, values, indent):
        a = self.pick(values, lambda s: len(s) >= 2)
        if not a:
            return None
        name, before = self.named(a[0], indent)
        axis = self.random.randrange(len(a[1]))
        i = self.random.randrange(a[1][axis])
        return before, (f"{name}({'tt::all, ' * axis}{i})", f"{name}[{':, ' * axis}{i}]"), a[1][:axis] + a[1][axis + 1:]

    def positions(self, n, count):
        return ", ".join(str(self.random.randrange(n)) for _ in range(count))

    def taken(self, values, indent):
        a = self.pick(values, lambda s: s != ())
        if not a:
            return None
        axis, count = self.random.randrange(len(a[1])), self.random.choice([3, 4])
        i = self.positions(a[1][axis], count)
        return ([], []), (f"take({a[0]}, tt::tensor<int, 1>{{{i}}}, {axis})", f"jnp.take({a[0]}, jnp.array([{i}]), axis={axis})"), a[1][:axis] + (count,) + a[1][axis + 1:]

    def added(self, values, indent):
        a, b = self.pick(values, lambda s: len(s) == 1), self.pick(values, lambda s: s == (3,))
        if not a or not b:
            return None
        i = self.positions(a[1][0], 3)
        return ([], []), (f"scatter_add({a[0]}, 0, tt::tensor<int, 1>{{{i}}}, {b[0]})", f"({a[0]}).at[jnp.array([{i}])].add({b[0]})"), a[1]

    def solved(self, values, indent):
        a = self.pick(values, lambda s: len(s) == 2)
        if not a:
            return None
        n, name = a[1][0], self.name()
        before = ([indent + f"auto {name} = tt::eval(0.1 * matmul({a[0]}, transpose({a[0]})) + 3.0 * tt::eye<double>({n}));"],
                  [indent + f"{name} = 0.1 * jnp.matmul({a[0]}, jnp.transpose({a[0]})) + 3.0 * jnp.eye({n})"])
        b = self.pick(values, lambda s: len(s) in (1, 2) and s[0] == n)
        if not b or self.random.random() < 0.5:
            return before, (f"cholesky({name})", f"jnp.linalg.cholesky({name})"), (n, n)
        return before, (f"triangular_solve({name}, {b[0]})", f"jax.scipy.linalg.solve_triangular({name}, {b[0]}, lower=True)"), b[1]

    # ---- transforms and control flow inside ---------------------------------------------------------------------------------
    def function(self, parameter, captured, indent, gives_number, more=(), lead=None, aux=False):
        """An inner function: its name, its text and the shape of its result. `more`: the shapes of further parameters; `lead`: (parameters, lines, values) instead of parameters of
        these shapes; `aux`: the result is a pair of it and the last array."""
        name = self.name()
        names, (before_c, before_j), own = lead or (None, ([], []), [(self.name(), shape) for shape in (parameter, *more)])
        names = names or [n for n, _ in own]
        cpp, jax, inside = self.body(own, self.random.randrange(2, 5), captured, indent + "  ")
        last = inside[-1]
        seen = "".join(f" + 0.0 * {n}" if shape == () else f" + 0.0 * sum({n})" for n, shape in own) if lead else ""  # what is not returned is not seen by a transform
        c, j = self.number(inside, 2) if gives_number else (f"tt::eval({last[0]}{seen})", last[0])
        if aux:
            c, j = f"std::pair{{{c}, tt::eval({last[0]})}}", f"({j}, {last[0]})"
        text = ([indent + f"auto {name} = [&](" + ", ".join("const auto& " + n for n in names) + ") {"] + [indent + "  " + x for x in before_c] + cpp + [indent + f"  return {c};", indent + "};"],
                [indent + f"def {name}({', '.join(names)}):"] + [indent + "  " + x for x in before_j] + jax + [indent + f"  return {j}"])
        return name, text, () if gives_number and not aux else last[1]

    def inner(self, kind, values, indent):
        captured = self.random.sample(values, min(4, len(values)))
        a, s = self.pick(values), self.pick(values, lambda shape: shape == ())
        if kind in ("grad", "value_and_grad", "hvp"):
            f, text, _ = self.function(a[1], captured, indent, True)
            v = self.pick(values, lambda shape: shape == a[1])
            if kind == "grad":
                return text, (f"tt::grad({f})({a[0]})", f"jax.grad({f})({a[0]})"), a[1]
            if kind == "hvp":
                return text, (f"tt::hvp({f}, {a[0]}, {v[0]})", f"jax.jvp(jax.grad({f}), ({a[0]},), ({v[0]},))[1]"), a[1]
            both = self.name()
            return (text[0] + [indent + f"auto {both} = tt::value_and_grad({f})({a[0]});"], text[1] + [indent + f"{both} = jax.value_and_grad({f})({a[0]})"]), (f"{both}.value * {both}.grad", f"{both}[0] * {both}[1]"), a[1]
        if kind in ("jvp", "checkpoint"):
            f, text, shape = self.function(a[1], captured, indent, False)
            v = self.pick(values, lambda other: other == a[1])
            if kind == "jvp":
                return text, (f"tt::jvp({f}, {a[0]}, {v[0]}).y_dot", f"jax.jvp({f}, ({a[0]},), ({v[0]},))[1]"), shape
            return text, (f"tt::checkpoint({f})({a[0]})", f"jax.checkpoint({f})({a[0]})"), shape
        if kind in ("jacfwd", "jacrev", "vmap"):
            a = self.pick(values, lambda shape: len(shape) == (2 if kind == "vmap" else 1))
            if not a:
                return None
            f, text, shape = self.function(a[1][1:] if kind == "vmap" else a[1], captured, indent, False)
            return None if len(shape) > 1 else (text, (f"tt::{kind}({f})({a[0]})", f"jax.{kind}({f})({a[0]})"), a[1][:1] + shape if kind == "vmap" else shape + a[1])
        return self.control(kind, values, captured, a, s, indent)

    # ---- transforms with options, of several arguments, of trees ---------------------------------------------------------------
    def captured(self, values):
        return self.random.sample(values, min(4, len(values)))

    def axes(self, values, indent):
        """vmap over any axis to any axis, in chunks."""
        a, r = self.pick(values, lambda shape: len(shape) == 2), self.random
        if not a:
            return None
        axis = r.choice([0, 1, -1, -2])
        f, text, shape = self.function((a[1][1 - axis % 2],), self.captured(values), indent, False)
        if len(shape) > 1:
            return None
        out, chunk = r.choice([0, -1, len(shape)]), r.choice(["", ", tt::chunk_size{1}", ", tt::chunk_size{2}", ", tt::chunk_size{7}"])
        made = list(shape)
        made.insert(out % (len(shape) + 1), a[1][axis % 2])
        return text, (f"tt::vmap({f}, tt::in_axes<{axis}>, tt::out_axes<{out}>{chunk})({a[0]})", f"jax.vmap({f}, in_axes={axis}, out_axes={out})({a[0]})"), tuple(made)

    def unmapped(self, values, indent):
        """vmap of two arguments, one of which is the same for all."""
        a, b = self.pick(values), self.pick(values, lambda shape: len(shape) == 2)
        if not b:
            return None
        axis, chunk = self.random.choice([0, 1]), self.random.choice(["", ", tt::chunk_size{1}", ", tt::chunk_size{2}"])
        f, text, shape = self.function(a[1], self.captured(values), indent, False, more=[(b[1][1 - axis],)])
        return None if len(shape) > 1 else (text, (f"tt::vmap({f}, tt::in_axes<tt::none, {axis}>{chunk})({a[0]}, {b[0]})", f"jax.vmap({f}, in_axes=(None, {axis}))({a[0]}, {b[0]})"), (b[1][axis],) + shape)

    def indices(self, values, indent):
        """vmap over integers, which index a captured array."""
        made = self.pick(values, lambda shape: shape != ())
        if not made:
            return None
        name, before = self.named(made[0], indent)
        j, v, shape = self.name(), self.name(), made[1]
        axis, call = self.random.randrange(len(shape)), self.random.random() < 0.5
        c, x = (f"{name}({j})", f"{name}[{j}]") if axis == 0 and call else (f"take({name}, {j}, {axis})", f"jnp.take({name}, {j}, axis={axis})")
        lead = [j], ([f"auto {v} = tt::eval({c} * (0.5 * {j} + 1.0));"], [f"{v} = {x} * (0.5 * {j} + 1.0)"]), [(v, shape[:axis] + shape[axis + 1:])]
        f, text, inner = self.function(None, self.captured(values), indent, False, lead=lead)
        count = self.random.choice([1, 2, 4])
        i = self.positions(shape[axis], count)
        return None if len(inner) > 1 else ((before[0] + text[0], before[1] + text[1]), (f"tt::vmap({f})(tt::tensor<int, 1>{{{i}}})", f"jax.vmap({f})(jnp.array([{i}]))"), (count,) + inner)

    def scattered(self, values, indent):
        """scatter_add of positions and values of each example into a captured array."""
        a, b = self.pick(values, lambda shape: len(shape) == 1), self.pick(values, lambda shape: len(shape) == 2)
        if not a or not b:
            return None
        rows, n = b[1]
        i = [self.positions(a[1][0], n) for _ in range(rows)]
        p, v = self.name(), self.name()
        return (([], []), (f"tt::vmap([&](const auto& {p}, const auto& {v}) {{ return scatter_add({a[0]}, 0, {p}, {v} * {v}) * 1.0; }})(tt::tensor<int, 2>{{{', '.join('{' + x + '}' for x in i)}}}, {b[0]})",
                           f"jax.vmap(lambda {p}, {v}: ({a[0]}).at[{p}].add({v} * {v}))(jnp.array([{', '.join('[' + x + ']' for x in i)}]), {b[0]})"), (rows,) + a[1])

    def linearised(self, values, indent):
        a = self.pick(values)
        v = self.pick(values, lambda shape: shape == a[1])
        f, text, shape = self.function(a[1], self.captured(values), indent, False)
        return text, (f"tt::linearize({f}, {a[0]}).lin({v[0]})", f"jax.linearize({f}, {a[0]})[1]({v[0]} * 1.0)"), shape

    def pulled(self, values, indent):
        a, made = self.pick(values), self.name()
        f, text, _ = self.function(a[1], self.captured(values), indent, False)
        return (text[0] + [indent + f"auto {made} = tt::vjp({f}, {a[0]});"], text[1] + [indent + f"{made} = jax.vjp({f}, {a[0]})"]), (f"{made}.pull(tt::eval({made}.y * 0.5))", f"{made}[1]({made}[0] * 0.5)[0]"), a[1]

    def transposed_map(self, values, indent):
        """linear_transpose of t -> (b t) s."""
        b, s = self.pick(values, lambda shape: len(shape) == 2), self.pick(values, lambda shape: shape == ())
        a = b and self.pick(values, lambda shape: len(shape) in (1, 2) and shape[0] == b[1][1])
        y = a and self.pick(values, lambda shape: shape == (b[1][0],) + a[1][1:])
        t = self.name()
        return y and s and (([], []), (f"tt::linear_transpose([&](const auto& {t}) {{ return matmul({b[0]}, {t}) * {s[0]}; }}, {a[0]})({y[0]})",
                                       f"jax.linear_transpose(lambda {t}: jnp.matmul({b[0]}, {t}) * {s[0]}, {a[0]})({y[0]})[0]"), a[1])

    def second(self, values, indent):
        """Second derivatives other than hvp."""
        kind = self.random.choice(["hessian", "laplacian", "vhp"])
        a = self.pick(values, lambda shape: len(shape) == 1)
        if not a:
            return None
        v = self.pick(values, lambda shape: shape == a[1])
        f, text, _ = self.function(a[1], self.captured(values), indent, True)
        if kind == "vhp":
            return text, (f"tt::vhp({f}, {a[0]}, {v[0]})", f"jax.jvp(jax.grad({f}), ({a[0]},), ({v[0]},))[1]"), a[1]
        full = f"jax.hessian({f})({a[0]})"
        return (text, (f"tt::hessian({f})({a[0]})", full), a[1] + a[1]) if kind == "hessian" else (text, (f"tt::laplacian({f})({a[0]})", f"jnp.trace({full})"), ())

    def samples(self, values, indent):
        a, b = self.pick(values, lambda shape: len(shape) < 2), self.pick(values, lambda shape: len(shape) == 2)
        if not a or not b:
            return None
        f, text, _ = self.function(a[1], self.captured(values), indent, True, more=[b[1][1:]])
        return text, (f"tt::per_sample_grad({f})({a[0]}, {b[0]})", f"jax.vmap(jax.grad({f}), (None, 0))({a[0]}, {b[0]})"), b[1][:1] + a[1]

    def stopped(self, values, indent):
        a = self.pick(values)
        return ([], []), (f"tt::stop_gradient({a[0]}) * {a[0]}", f"jax.lax.stop_gradient({a[0]}) * {a[0]}"), a[1]

    def aux(self, values, indent):
        """A gradient or a value with an auxiliary result that depends on outer values."""
        a, made = self.pick(values), self.name()
        f, text, shape = self.function(a[1], self.captured(values), indent, True, aux=True)
        kind, which = self.random.choice(["grad", "value_and_grad", "jacfwd", "jacrev"]), self.random.choice(["grad", "aux"])
        j = f"{made}[{'01'[which == 'aux']}]" if kind != "value_and_grad" else f"{made}[1]" if which == "grad" else f"{made}[0][1]"
        return ((text[0] + [indent + f"auto {made} = tt::{kind}({f}, tt::has_aux)({a[0]});"], text[1] + [indent + f"{made} = jax.{kind}({f}, has_aux=True)({a[0]})"]),
                (f"{made}.{which} * 1.0", f"{j} * 1.0"), a[1] if which == "grad" else shape)

    def tree_lead(self, parts):
        """A parameter of two fields and the lines that name them."""
        p, u, v = self.name(), self.name(), self.name()
        return [p], ([f"auto {u} = tt::eval({p}.{parts[0][0]} * 1.0);", f"auto {v} = tt::eval({p}.{parts[1][0]} * 1.0);"], [f"{u}, {v} = {p}"]), [(u, parts[0][1]), (v, parts[1][1])]

    def pair(self, values, indent):
        """A gradient, a Jacobian product or a vmap of a pair."""
        a, b = self.pick(values), self.pick(values)
        which = self.random.randrange(2)
        kind = self.random.choice(["grad", "jvp", "vmap"])
        if kind == "vmap":
            a, b = self.pick(values, lambda shape: len(shape) == 2), self.pick(values, lambda shape: shape != ())
            if not a or not b or a[1][0] != b[1][0]:
                return None
        cut = 1 if kind == "vmap" else 0
        lead = self.tree_lead([("first", a[1][cut:]), ("second", b[1][cut:])])
        f, text, shape = self.function(None, self.captured(values), indent, kind == "grad", lead=lead)
        c, j = f"std::pair{{tt::eval({a[0]}), tt::eval({b[0]})}}", f"({a[0]}, {b[0]})"
        if kind == "grad":
            return text, (f"tt::grad({f})({c}).{('first', 'second')[which]} * 1.0", f"jax.grad({f})({j})[{which}] * 1.0"), (a, b)[which][1]
        if kind == "jvp":
            return text, (f"tt::jvp({f}, {c}, {c}).y_dot * 1.0", f"jax.jvp({f}, ({j},), ({j},))[1] * 1.0"), shape
        return None if len(shape) > 1 else (text, (f"tt::vmap({f})({c})", f"jax.vmap({f})({j})"), a[1][:1] + shape)

    def aggregate(self, values, indent):
        """A gradient or a pulled-back cotangent of an aggregate of a vector and a number."""
        a, b = self.pick(values, lambda shape: len(shape) == 1), self.pick(values, lambda shape: shape == ())
        if not a or not b:
            return None
        which = self.random.randrange(2)
        f, text, _ = self.function(None, self.captured(values), indent, True, lead=self.tree_lead([("w", a[1]), ("b", ())]))
        c, j = f"model<tt::scalar_t<decltype({a[0]}), decltype({b[0]})>>{{{a[0]}, {b[0]}}}", f"({a[0]}, {b[0]})"
        return text, (f"tt::grad({f})({c}).{'wb'[which]} * 1.0", f"jax.grad({f})({j})[{which}] * 1.0"), (a, b)[which][1]

    def until(self, values, indent):
        """A while loop with a bound of trips, whose condition and body read outer values."""
        a, s = self.pick(values), self.pick(values, lambda shape: shape == ())
        if not s:
            return None
        go, step, u, name, top = self.name(), self.name(), self.name(), self.name(), self.random.choice([0.5, 2.0, 8.0])
        size = (f"{u} * {u}", f"{u} * {u}") if a[1] == () else (f"sum({u} * {u})", f"jnp.sum({u} * {u})")
        return (([indent + f"auto {go} = [&](const auto& {u}) {{ return {size[0]} < {top} + {s[0]} * {s[0]}; }};", indent + f"auto {step} = [&](const auto& {u}) {{ return tt::eval({u} * 1.5 + 0.3 * {s[0]} + 0.7); }};"],
                 [indent + f"{name} = {a[0]}", indent + "for _ in range(12):", indent + f"  {u} = {name}", indent + f"  {name} = jnp.where({size[1]} < {top} + {s[0]} * {s[0]}, {u} * 1.5 + 0.3 * {s[0]} + 0.7, {u})"]),
                (f"tt::while_loop({go}, {step}, tt::eval({a[0]} + 0.0 * {s[0]}), tt::max_trips{{12}})", name), a[1])

    def rule(self, values, indent):
        """A function with a rule that is not its derivative, so that one sees whether it was used."""
        a, f, t, d = self.pick(values), self.name(), self.name(), self.name()
        return (([indent + f"auto {f} = tt::custom_jvp([](auto {t}) {{ return tt::eval(sin({t})); }}, [](auto {t}, auto {d}) {{ return std::pair{{tt::eval(sin({t})), tt::eval(2.0 * cos({t}) * {d})}}; }});"],
                 [indent + f"{f} = jax.custom_jvp(lambda {t}: jnp.sin({t}))", indent + f"{f}.defjvp(lambda {t}, {d}: (jnp.sin({t}[0]), 2.0 * jnp.cos({t}[0]) * {d}[0]))"]), (f"{f}({a[0]})", f"{f}({a[0]})"), a[1])

    def control(self, kind, values, captured, a, s, indent):
        name, f, u = self.name(), self.name(), self.name()
        if kind == "loop":
            a = self.pick(values, lambda shape: len(shape) == 1)
            if not a or not s:
                return None
            t = self.name()
            return (([indent + f"auto {t} = tt::eval({a[0]});", indent + f"auto {name} = {t}(0) * {s[0]};",
                      indent + f"for (int i = 1; i < {a[1][0]}; ++i) {name} = sin({name}) * {t}(i) + {t}(i - 1) / (1.0 + {name} * {name}) + {s[0]};"],
                     [indent + f"{t} = {a[0]}", indent + f"{name} = {t}[0] * {s[0]}",
                      indent + f"for i in range(1, {a[1][0]}): {name} = jnp.sin({name}) * {t}[i] + {t}[i - 1] / (1.0 + {name} * {name}) + {s[0]}"]), (f"{name} * 0.5", f"{name} * 0.5"), ())
        if kind == "parts":
            a = self.pick(values, lambda shape: len(shape) == 2)
            b = a and self.pick(values, lambda shape: shape == a[1][1:])
            return self.parts(name, a, b, s, indent) if b and s else None
        if kind == "scan":
            a = self.pick(values, lambda shape: shape != ())
            carry = a and self.pick(values, lambda shape: shape == a[1][1:])
            if not carry:
                return None
            b, x = self.pick(values, lambda shape: shape in (a[1][1:], ())), self.name()
            which = self.random.randrange(2)
            return (([indent + f"auto {f} = [&](auto {u}, auto {x}) {{ auto next = tt::eval(sin({u}) * {x} + {b[0]}); return std::pair{{next, tt::eval(next * {u})}}; }};",
                      indent + f"auto {name} = tt::scan({f}, tt::eval({carry[0]} + 0.0 * {b[0]} + 0.0 * sum({a[0]})), tt::eval({a[0]}));"],
                     [indent + f"def {f}({u}, {x}):", indent + f"  following = jnp.sin({u}) * {x} + {b[0]}", indent + f"  return following, following * {u}", indent + f"{name} = jax.lax.scan({f}, {carry[0]}, {a[0]})"]),
                    (f"{name}.{('first', 'second')[which]} * 1.0", f"{name}[{which}] * 1.0"), a[1][1 - which:])
        b = self.random.choice(captured)
        if b[1] not in (a[1], ()):
            return None
        if kind == "cond":
            holds, g = self.random.choice(["true", "false"]), self.name()
            return (([indent + f"auto {f} = [&](const auto& {u}) {{ return tt::eval({u} * {b[0]}); }};", indent + f"auto {g} = [&](const auto& {u}) {{ return tt::eval(sin({u}) + 0.0 * {b[0]}); }};"],
                     [indent + f"{f}, {g} = lambda {u}: {u} * {b[0]}, lambda {u}: jnp.sin({u})"]), (f"tt::cond({holds}, {f}, {g}, {a[0]})", f"({f} if {holds.title()} else {g})({a[0]})"), a[1])
        return (([indent + f"auto {f} = [&](int, auto {u}) {{ return tt::eval(sin({u}) * {b[0]} + {u}); }};"], [indent + f"{f} = lambda {u}: jnp.sin({u}) * {b[0]} + {u}"]),
                (f"tt::for_loop(3, {f}, tt::eval({a[0]} + 0.0 * {b[0]}))", f"{f}({f}({f}({a[0]})))"), a[1])

    def parts(self, t, a, b, s, indent):
        """A tensor whose rows, columns and elements are written."""
        r = self.random
        i, j = r.randrange(a[1][0]), r.randrange(a[1][1])
        writes = [(f"{t}({i}) = {b[0]} * {t}({i});", f"{t} = {t}.at[{i}].set({b[0]} * {t}[{i}])"), (f"{t}(tt::all, {j}) += {t}(tt::all, 0) * {s[0]};", f"{t} = {t}.at[:, {j}].add({t}[:, 0] * {s[0]})"),
                  (f"{t}({i}, {j}) = {s[0]};", f"{t} = {t}.at[{i}, {j}].set({s[0]})"), (f"{t} *= {b[0]};", f"{t} = {t} * {b[0]}"), (f"{t}({i}, {j}) += {s[0]} * {t}(0, 0);", f"{t} = {t}.at[{i}, {j}].add({s[0]} * {t}[0, 0])"),
                  (f"{t}({i}) = {b[0]};", f"{t} = {t}.at[{i}].set({b[0]})"), (f"{t} = {a[0]};", f"{t} = {a[0]}"), (f"{t}(tt::all, tt::range(0, 2)) = {s[0]};", f"{t} = {t}.at[:, 0:2].set({s[0]})")]
        chosen = [r.choice(writes) for _ in range(r.randrange(1, 4))]
        start = f"{a[0]} + 0.0 * {b[0]} + 0.0 * {s[0]}"
        return ([indent + f"auto {t} = tt::eval({start});"] + [indent + c for c, _ in chosen], [indent + f"{t} = {start}"] + [indent + j for _, j in chosen]), (f"{t} * 1.5", f"{t} * 1.5"), a[1]


CPP = r"""#include <ttensor/all.hpp>
#include <cstdio>
namespace tt = ttensor;
using std::sin; using std::cos; using std::tanh; using std::exp; using std::sqrt; using std::log; using std::erf; using std::atan; using std::log1p; using std::expm1; using std::asinh; using std::pow;
template <class T> struct model { tt::tensor<T, 1> w; T b; };
template <class T> void put(const char* name, const T& v) {
  std::printf("%s", name);
  if constexpr (requires { v.shape(); }) {
    const auto e = tt::eval(v);
    for (tt::index_t i = 0; i < tt::index_t(e.size()); ++i) std::printf(" %.17g", e.data()[i]);
  } else std::printf(" %.17g", double(v));
  std::printf("\n");
}
const auto f = [](const auto& x, const auto& m, const auto& s) {
BODY
};
int main() {
  const tt::tensor<double, 1> x{0.3, -0.7, 1.1}, xd{0.5, 1.2, -0.4};
  const tt::tensor<double, 2> m{{0.2, -0.4, 0.9, 0.1}, {1.3, 0.6, -0.8, 0.35}, {-0.25, 0.75, 0.45, -1.15}}, md{{0.7, 0.1, -0.6, 0.3}, {-0.2, 0.8, 0.15, 0.9}, {0.4, -0.35, 0.65, -0.1}};
  const tt::tensor<double, 2> xs{{0.3, -0.7, 1.1}, {0.9, 0.15, -0.45}};
  const double s = 0.65, sd = -0.8;
  put("value", f(x, m, s));
CALLS
}
"""
JAX = r"""import jax, jax.numpy as jnp, numpy as np, sys
jax.config.update("jax_enable_x64", True)
def f(x, m, s):
BODY
x, xd, s, sd = jnp.array([0.3, -0.7, 1.1]), jnp.array([0.5, 1.2, -0.4]), jnp.array(0.65), jnp.array(-0.8)
m, md = jnp.array([[0.2, -0.4, 0.9, 0.1], [1.3, 0.6, -0.8, 0.35], [-0.25, 0.75, 0.45, -1.15]]), jnp.array([[0.7, 0.1, -0.6, 0.3], [-0.2, 0.8, 0.15, 0.9], [0.4, -0.35, 0.65, -0.1]])
xs = jnp.array([[0.3, -0.7, 1.1], [0.9, 0.15, -0.45]])
truth = {"value": lambda: f(x, m, s), "grad_x": lambda: jax.grad(f, 0)(x, m, s), "grad_m": lambda: jax.grad(f, 1)(x, m, s), "grad_s": lambda: jax.grad(f, 2)(x, m, s),
         "jvp": lambda: jax.jvp(f, (x, m, s), (xd, md, sd))[1], "hessian": lambda: jax.hessian(lambda t: f(t, m, s))(x), "vmap_grad": lambda: jax.vmap(jax.grad(lambda t: f(t, m, s)))(xs),
         "grad_grad": lambda: jax.grad(lambda t: jnp.sum(jax.grad(lambda q: f(t, q, s))(m) * md))(x), "grad_vmap": lambda: jax.grad(lambda q: jnp.sum(jax.vmap(lambda t: f(t, q, s))(xs)))(m)}
for line in open(sys.argv[1]):
    name, *words = line.split()
    ours, theirs = np.array([float(w) for w in words]), np.asarray(truth[name]()).ravel()
    if ours.shape != theirs.shape or not np.allclose(ours, theirs, rtol=1e-8, atol=1e-9 * max(1, np.abs(theirs).max()), equal_nan=True): print(name, "ours", ours, "JAX", theirs)
"""
CALLS = {"grad": '  { auto [a, b, c] = tt::grad<0, 1, 2>(f)(x, m, s); put("grad_x", a); put("grad_m", b); put("grad_s", c); }',
         "jvp": '  put("jvp", tt::jvp(f, std::tuple{x, m, s}, std::tuple{xd, md, sd}).y_dot);',
         "hessian": '  put("hessian", tt::hessian([&](const auto& t) { return f(t, m, s); })(x));',
         "vmap_grad": '  put("vmap_grad", tt::vmap(tt::grad([&](const auto& t) { return f(t, m, s); }))(xs));',
         "grad_grad": '  put("grad_grad", tt::grad([&](const auto& t) { return sum(tt::grad([&](const auto& q) { return f(t, q, s); })(m) * md); })(x));',
         "grad_vmap": '  put("grad_vmap", tt::grad([&](const auto& q) { return sum(tt::vmap([&](const auto& t) { return f(t, q, s); })(xs)); })(m));'}


ARRAYS = {"dynamic": ("tt::tensor<double, 1>", "tt::tensor<double, 2>"), "fixed": ("tt::fixed<double, 3>", "tt::fixed<double, 3, 4>"),
          "mixed": ("tt::tensor<double, tt::extents<3>>", "tt::tensor<double, tt::extents<tt::dyn, 4>>")}


def write(seed, size, derivatives, folder, inner=None, arrays="dynamic"):
    w = Writer(seed, inner)
    cpp, jax, values = w.body([("x", (3,)), ("m", (3, 4)), ("s", ())], size, [], "  ")
    c, j = w.number(values, 4)
    cpp.append(f"  return {c} + {LAST};")
    jax.append(f"  return {j} + {LAST.replace('sum', 'jnp.sum').replace('sin', 'jnp.sin').replace('re(', 'jnp.real(').replace('cj(', 'jnp.conj(')}")
    for name, text in (("program.cpp", CPP.replace("tt::tensor<double, 1> x{", ARRAYS[arrays][0] + " x{").replace("tt::tensor<double, 2> m{", ARRAYS[arrays][1] + " m{").replace("BODY", "\n".join(cpp)).replace("CALLS", "\n".join(CALLS[d] for d in derivatives))), ("program.py", JAX.replace("BODY", "\n".join(jax)))):
        with open(os.path.join(folder, name), "w") as out:
            out.write(text)


def failure(folder, flags):
    """What is wrong with the program in `folder`; empty if nothing."""
    compiled = subprocess.run(["g++", "-std=c++20", *flags.split(), "-I", INCLUDE, "program.cpp", "-o", "program"], cwd=folder, capture_output=True, text=True)
    if compiled.returncode:
        return next((line for line in compiled.stderr.splitlines() if "error" in line), "does not compile")
    ran = subprocess.run(["./program"], cwd=folder, capture_output=True, text=True)
    if ran.returncode:
        return f"exit status {ran.returncode}: {ran.stderr}"
    with open(os.path.join(folder, "values.txt"), "w") as out:
        out.write(ran.stdout)
    compared = subprocess.run([sys.executable, "program.py", "values.txt"], cwd=folder, capture_output=True, text=True)
    return compared.stdout + (compared.stderr if compared.returncode else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--size", type=int, default=7, help="statements of the outer function")
    parser.add_argument("--derivatives", default="", help="of " + ",".join(CALLS) + "; without: two of them in turn")
    parser.add_argument("--inner", default="", help="more transforms inside, and only of " + ",".join(INNER + ALSO))
    parser.add_argument("--arrays", default="dynamic", choices=ARRAYS, help="types of the vector and the matrix")
    parser.add_argument("--flags", default="-O0")
    args = parser.parse_args()
    bad, known, refused = 0, list(CALLS), []
    for seed in range(args.first, args.first + args.count):
        derivatives = args.derivatives.split(",") if args.derivatives else [known[seed % 6], known[(seed // 6 + seed + 1) % 6]]
        folder = tempfile.mkdtemp(prefix=f"program_{seed}_")
        write(seed, args.size, derivatives, folder, args.inner.split(",") if args.inner else None, args.arrays)
        wrong = failure(folder, args.flags)
        if "[TT-L01]" in wrong:  # as documented where a line that no result of the inner function depends on meets an outer variable; look at it if there are many
            refused.append(seed)
            print(seed, "is refused [TT-L01]", folder, flush=True)
            continue
        bad += bool(wrong)
        print(seed, ",".join(derivatives), f"{folder}\n{wrong}" if wrong else "agrees", flush=True)
        if not wrong:
            shutil.rmtree(folder)
    if refused:
        print("refused:", *refused)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
