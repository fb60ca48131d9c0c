#!/usr/bin/env python3
"""Makes the reference values of the gate: tests/gate/{gate,op,table,special}_values.txt and tests/gate/bodies.md.

No automatic differentiation is used. Every derivative is a nested central difference in mpmath arithmetic
of 180 decimal digits with step h = 2^-100 per level: truncation error about h^2 = 6e-61 (times the next odd derivative),
rounding error at depth three about 10^-180 / h^3 = 1e-90. Both are far below one ulp of a double, so each
stored number is the exact derivative at the stored (double) inputs and constants, rounded once.

    python3 tools/make_gate_values.py            # writes the files (half a minute)
    python3 tools/make_gate_values.py --check    # recomputes and compares with the files, byte for byte
Needs numpy and mpmath; gmpy2 only makes it faster. tools/check_gate_values.py compares the files with JAX and sympy.

A composition string is read as function application: "GVF" is G(V(F(body))). For g: array -> array
  G(g)(x) = gradient of sum_k w_k g(x)_k     J(g)(x) = derivative of g at x in direction v
  V(g)(x) = stack of g over axis 0 of x      F(g)(x) = Jacobian, shape out.shape + in.shape   (R is the same)
with w_k, v_k and k the flat row-major index of the output, of the input, at THAT level.
"""
import argparse
import builtins
import itertools
import pathlib
import sys

import mpmath as mp
import numpy as np

mp.mp.dps = 180
STEP = mp.mpf(2) ** -100
EXTENT = 2                      # extent of every mapped axis
SMALLEST = mp.mpf(10) ** -35    # below: exactly zero in truth, difference noise here
ROOT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "gate"
D = mp.mpf            # D("0.7") is the decimal, D(0.7) the double

# ---------------------------------------------------------------- fixed sequences, rounded to double once

def rounded(x):
    return mp.mpf(float(x))


SEQUENCES = {
    "w": ("cos(0.7 k + 0.3)", [rounded(mp.cos(D("0.7") * k + D("0.3"))) for k in range(128)]),
    "v": ("sin(0.9 k + 0.4)", [rounded(mp.sin(D("0.9") * k + D("0.4"))) for k in range(64)]),
    "p": ("0.2 + 0.5 cos(1.3 k + 0.1)", [rounded(D("0.2") + D("0.5") * mp.cos(D("1.3") * k + D("0.1"))) for k in range(64)]),
    "q": ("0.6 sin(0.8 k + 0.2)", [rounded(D("0.6") * mp.sin(D("0.8") * k + D("0.2"))) for k in range(64)]),
    "A": ("weights of the array body, (3,2)", [D(a) for a in (0.5, -0.75, 1.25, 0.25, -0.5, 1.0)]),
    "B": ("(2 ((7 k + 2) mod 13) - 9) / 16", [D(2 * ((7 * k + 2) % 13) - 9) / 16 for k in range(32)]),
    "C": ("(2 ((5 k + 3) mod 11) - 7) / 16", [D(2 * ((5 * k + 3) % 11) - 7) / 16 for k in range(32)]),
}


def sequence(name, shape):
    n = int(np.prod(shape, dtype=int))
    out = np.empty(n, dtype=object)
    out[:] = SEQUENCES[name][1][:n]
    assert len(SEQUENCES[name][1]) >= n, (name, shape)
    return out.reshape(shape)


def array(x):
    return np.array(x, dtype=object)

# ---------------------------------------------------------------- the operators, on object arrays of mpf

MARGIN = [mp.inf]   # the smallest distance of any comparison from its tie: kinks must be far away


def note_margin(a, b):
    for d in np.ravel(array(array(a) - array(b))):
        MARGIN[0] = min(MARGIN[0], abs(d))


def elementwise(f, inputs=1):
    g = np.frompyfunc(f, inputs, 1)
    return lambda *args: array(g(*args))


def op_where(c, a, b):
    return elementwise(lambda p, s, t: s if p else t, 3)(c, a, b)


def op_maximum(a, b):
    note_margin(a, b)
    return elementwise(lambda s, t: s if s > t else t, 2)(a, b)


def compare(f):
    def run(a, b):
        note_margin(a, b)
        return elementwise(f, 2)(a, b)
    return run


def op_max(x, axis=None, keepdims=False):
    x = array(x)
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else axis
    moved = np.moveaxis(x, axes, range(len(axes))).reshape((-1,) + tuple(n for i, n in enumerate(x.shape) if i not in axes))
    ordered = np.sort(moved, axis=0)
    if ordered.shape[0] > 1:
        note_margin(ordered[-1], ordered[-2])
    return array(np.max(x, axis=axis, keepdims=keepdims))


def op_logsumexp(x, axis=None, keepdims=False):
    return unary["log"](np.sum(unary["exp"](x), axis=axis, keepdims=keepdims))


def op_mean(x, axis=None, keepdims=False):
    total = array(np.sum(x, axis=axis, keepdims=keepdims))
    return array(total * (mp.mpf(total.size) / np.size(x)))


def op_min(x, axis=None, keepdims=False):
    return array(-op_max(-array(x), axis, keepdims))


def op_variance(x, axis=None, keepdims=False):
    centred = x - op_mean(x, axis, True)
    return op_mean(centred * centred, axis, keepdims)


def op_softmax(x, axis):
    e = unary["exp"](x)
    return array(e / np.sum(e, axis=axis, keepdims=True))


def op_argmax(x, axis):
    op_max(x, axis)     # notes the margin
    return array(np.argmax(x, axis=axis))


def op_scatter_add(x, axis, index, src):
    """As torch.scatter_add: index has the rank of x; out[.., index[i], ..] += src[i] along axis."""
    out, index = array(x), np.asarray(index)
    for at in np.ndindex(*index.shape):
        to = list(at)
        to[axis] = index[at]
        out[tuple(to)] = out[tuple(to)] + src[at]
    return out


def op_cholesky(a):
    """Lower triangle only, so the derivative is that of the symmetric matrix both halves of which agree."""
    n = a.shape[0]
    low = np.zeros((n, n), dtype=object) + mp.mpf(0)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j] - builtins.sum((low[i, k] * low[j, k] for k in range(j)), mp.mpf(0))
            low[i, j] = mp.sqrt(s) if i == j else s / low[j, j]
    return low


def op_triangular_solve(a, b, lower=True, transposed=False):
    """Solves op(a) z = b reading one triangle of a; op is the identity or the transpose."""
    n = a.shape[0]
    a = array([[a[i, j] if (j <= i if lower else j >= i) else mp.mpf(0) for j in range(n)] for i in range(n)])
    if transposed:
        a, lower = a.T, not lower
    z = array(b)
    for i in (range(n) if lower else reversed(range(n))):
        s = z[i]
        for k in (range(i) if lower else range(i + 1, n)):
            s = s - a[i, k] * z[k]
        z[i] = s / a[i, i]
    return z


unary = {
    "exp": elementwise(mp.exp), "log": elementwise(mp.log), "sin": elementwise(mp.sin), "cos": elementwise(mp.cos),
    "tanh": elementwise(mp.tanh), "sqrt": elementwise(mp.sqrt),
    "sigmoid": elementwise(lambda t: 1 / (1 + mp.exp(-t))),
}
NAMES = dict(
    unary, where=op_where, maximum=op_maximum, max=op_max, logsumexp=op_logsumexp, mean=op_mean,
    less=compare(lambda a, b: a < b), less_equal=compare(lambda a, b: a <= b),
    greater=compare(lambda a, b: a > b), greater_equal=compare(lambda a, b: a >= b),
    equal=compare(lambda a, b: a == b), not_equal=compare(lambda a, b: a != b),
    leaky_relu=lambda x: op_where(NAMES["greater"](x, mp.mpf(0)), x, x * D(0.01)),
    sum=lambda x, axis=None, keepdims=False: array(np.sum(x, axis=axis, keepdims=keepdims)),
    prod=lambda x, axis=None: array(np.prod(x, axis=axis)), min=op_min, variance=op_variance,
    stddev=lambda x, axis=None: unary["sqrt"](op_variance(x, axis)), norm=lambda x, axis=None: unary["sqrt"](array(np.sum(x * x, axis=axis))),
    softmax=op_softmax, log_softmax=lambda x, axis: unary["log"](op_softmax(x, axis)),
    argmax=op_argmax, argmin=lambda x, axis: op_argmax(-x, axis), any=lambda x, axis: array(np.any(x, axis=axis)),
    all=lambda x, axis: array(np.all(x, axis=axis)), count_nonzero=lambda x, axis: array(np.sum(x != 0, axis=axis)),
    matmul=lambda a, b: array(np.matmul(a, b)), dot=lambda a, b: array(np.dot(a, b)),
    reshape=lambda x, shape: np.reshape(x, shape), transpose=lambda x, axes=None: np.transpose(x, axes),
    broadcast_to=lambda x, shape: np.broadcast_to(x, shape), squeeze=lambda x, axis: np.squeeze(x, axis),
    unsqueeze=lambda x, axis: np.expand_dims(x, axis), take=lambda x, index, axis: np.take(x, index, axis),
    scatter_add=op_scatter_add, cast=lambda x: elementwise(lambda t: mp.mpf(1 if t is True else 0 if t is False else t))(x),
    cholesky=op_cholesky, triangular_solve=op_triangular_solve,
    eye=lambda n: array([[mp.mpf(int(i == j)) for j in range(n)] for i in range(n)]),
    A=lambda *s: sequence("A", s), B=lambda *s: sequence("B", s), C=lambda *s: sequence("C", s),
)

# ---------------------------------------------------------------- bodies: name, operator, input shape, expression

BODIES = [
    ("1", "scalar body", (), "exp(-x * x) * sin(x) + x * sqrt(x + 2) / (1 + x * x)"),
    ("2", "array body", (2, 3), "sum(matmul(tanh(x), A(3, 2)) * matmul(tanh(x), A(3, 2)), axis=0) * mean(exp(0.3 * x))"),
]

# h abbreviates x * x + C(*x.shape) * x: a nonlinear function that differs from element to element, so that an operator that
# is linear still has second derivatives and a wrong layout cannot hide.
OPS = [
    ("add", "add", (2, 2), "h + x * h"),
    ("add_leaf", "add", (2, 2), "(x + x) * x"),
    ("add_scalar", "add", (2, 2), "(x + 2.5) * (1.5 + h)"),
    ("add_row", "add", (2, 3), "x * h + sum(h, axis=0)"),
    ("add_outer", "add", (3,), "unsqueeze(h, 1) + x * x * x"),
    ("sub", "sub", (2, 2), "x * h - h"),
    ("sub_scalar", "sub", (2, 2), "(x - 2.5) * (1.5 - h)"),
    ("sub_row", "sub", (2, 3), "x * h - sum(h, axis=0)"),
    ("sub_outer", "sub", (3,), "x * x * x - unsqueeze(h, 1)"),
    ("mul", "mul", (2, 2), "h * (x + C(2, 2))"),
    ("mul_leaf", "mul", (2, 2), "x * x"),
    ("mul_scalar", "mul", (2, 2), "(2.5 * x) * (h * 1.5)"),
    ("mul_const", "mul", (2, 2), "x * (x + C(2, 2))"),
    ("mul_row", "mul", (2, 3), "x * sum(h, axis=0)"),
    ("mul_column", "mul", (2, 3), "x * sum(h, axis=1, keepdims=True)"),
    ("mul_outer", "mul", (3,), "unsqueeze(h, 1) * x"),
    ("mul_reduced", "mul", (2, 2), "x * sum(h)"),
    ("div", "div", (2, 2), "(x + C(2, 2)) / (x * x + 2.0)"),
    ("div_leaf", "div", (2, 2), "h / (x + 2.0)"),
    ("div_scalar", "div", (2, 2), "(h / 2.5) * (1.5 / (x + 2.0))"),
    ("div_row", "div", (2, 3), "x / (2.0 + sum(x * x, axis=0))"),
    ("div_outer", "div", (3,), "unsqueeze(h, 1) / (x * x + 2.0)"),
    ("neg", "neg", (2, 2), "-(x * h)"),
    ("neg_leaf", "neg", (2, 2), "(-x) * h"),
    ("exp", "exp", (2, 2), "exp(x)"),
    ("exp_of", "exp", (2, 2), "exp(h)"),
    ("log", "log", (2, 2), "log(x + 1.0)"),
    ("log_of", "log", (2, 2), "log(h + 1.0)"),
    ("sin", "sin", (2, 2), "sin(x)"),
    ("sin_of", "sin", (2, 2), "sin(h)"),
    ("cos", "cos", (2, 2), "cos(x)"),
    ("cos_of", "cos", (2, 2), "cos(h)"),
    ("tanh", "tanh", (2, 2), "tanh(x)"),
    ("tanh_of", "tanh", (2, 2), "tanh(h)"),
    ("sqrt", "sqrt", (2, 2), "sqrt(x + 1.0)"),
    ("sqrt_of", "sqrt", (2, 2), "sqrt(h + 1.0)"),
    ("sigmoid", "sigmoid", (2, 2), "sigmoid(x)"),
    ("sigmoid_of", "sigmoid", (2, 2), "sigmoid(h)"),
    ("maximum", "maximum", (2, 2), "maximum(h, x * x * x)"),
    ("maximum_scalar", "maximum", (2, 2), "maximum(x, 0.25) * h"),
    ("maximum_row", "maximum", (2, 3), "maximum(h, mean(x, axis=0) + 0.125) * x"),
    ("where", "where", (2, 2), "where(greater(x, 0.25), x * x, sin(x))"),
    ("where_scalar", "where", (2, 2), "where(greater(x, 0.25), h, 0.5) * x"),
    ("where_row", "where", (2, 3), "where(greater(x, 0.25), sum(h, axis=0), x * x)"),
    ("where_const", "where", (2, 2), "where(greater(C(2, 2), 0.0), x * x, sin(x))"),
    ("less", "<", (2, 2), "where(less(x, 0.25), x * x, sin(x))"),
    ("less_equal", "<=", (2, 2), "where(less_equal(x, 0.25), x * x, sin(x))"),
    ("greater_equal", ">=", (2, 2), "where(greater_equal(x, 0.25), x * x, sin(x))"),
    ("equal", "==", (2, 2), "where(equal(x, 0.25), x * x, sin(x))"),
    ("not_equal", "!=", (2, 2), "where(not_equal(x, 0.25), x * x, sin(x))"),
    ("greater_both", ">", (2, 2), "where(greater(h, x * x * x), h * x, cos(x))"),
    ("leaky_relu", "leaky_relu", (2, 2), "leaky_relu(x) * x"),
    ("leaky_relu_of", "leaky_relu", (2, 2), "sin(leaky_relu(h))"),
    ("cast", "cast", (2, 2), "cast(h) * x"),
    ("cast_bool", "cast", (2, 2), "cast(greater(x, 0.25)) * h"),
    ("sum_all", "sum", (2, 3), "sin(sum(h))"),
    ("sum_leaf", "sum", (2, 3), "sum(x) * sum(x)"),
    ("sum_axis0", "sum", (2, 3), "sin(sum(h, axis=0))"),
    ("sum_axis1", "sum", (2, 3), "sin(sum(h, axis=1))"),
    ("sum_keepdims", "sum", (2, 3), "h * sin(sum(h, axis=1, keepdims=True))"),
    ("sum_axes02", "sum", (2, 2, 2), "sin(sum(h, axis=(0, 2)))"),
    ("mean_all", "mean", (2, 3), "sin(mean(h))"),
    ("mean_axis0", "mean", (2, 3), "sin(mean(h, axis=0))"),
    ("mean_axis1", "mean", (2, 3), "sin(mean(h, axis=1))"),
    ("mean_keepdims", "mean", (2, 3), "h * sin(mean(h, axis=0, keepdims=True))"),
    ("mean_axes02", "mean", (2, 2, 2), "sin(mean(h, axis=(0, 2)))"),
    ("max_all", "max", (2, 3), "sin(max(h))"),
    ("max_axis0", "max", (2, 3), "sin(max(h, axis=0))"),
    ("max_axis1", "max", (2, 3), "sin(max(h, axis=1))"),
    ("max_keepdims", "max", (2, 3), "h * sin(max(h, axis=1, keepdims=True))"),
    ("max_leaf", "max", (2, 3), "max(x, axis=1) * max(x, axis=1)"),
    ("logsumexp_all", "logsumexp", (2, 3), "logsumexp(x)"),
    ("logsumexp_axis0", "logsumexp", (2, 3), "logsumexp(h, axis=0)"),
    ("logsumexp_axis1", "logsumexp", (2, 3), "sin(logsumexp(h, axis=1))"),
    ("logsumexp_keepdims", "logsumexp", (2, 3), "h - logsumexp(h, axis=1, keepdims=True)"),
    ("prod_all", "prod", (2, 3), "prod(h + 1.5)"),
    ("prod_axis0", "prod", (2, 3), "prod(h + 1.5, axis=0)"),
    ("prod_axis1", "prod", (2, 3), "prod(h + 1.5, axis=1)"),
    ("min_all", "min", (2, 3), "min(h)"),
    ("min_axis0", "min", (2, 3), "min(h, axis=0)"),
    ("min_axis1", "min", (2, 3), "min(h, axis=1)"),
    ("variance_all", "variance", (2, 3), "variance(h)"),
    ("variance_axis0", "variance", (2, 3), "variance(h, axis=0)"),
    ("variance_axis1", "variance", (2, 3), "variance(h, axis=1)"),
    ("stddev_all", "stddev", (2, 3), "stddev(h)"),
    ("stddev_axis0", "stddev", (2, 3), "stddev(h, axis=0)"),
    ("stddev_axis1", "stddev", (2, 3), "stddev(h, axis=1)"),
    ("norm_all", "norm", (2, 3), "norm(h)"),
    ("norm_axis0", "norm", (2, 3), "norm(h, axis=0)"),
    ("norm_axis1", "norm", (2, 3), "norm(h, axis=1)"),
    ("softmax_axis0", "softmax", (2, 3), "softmax(h, axis=0)"),
    ("softmax_axis1", "softmax", (2, 3), "softmax(h, axis=1)"),
    ("log_softmax_axis0", "log_softmax", (2, 3), "log_softmax(h, axis=0)"),
    ("log_softmax_axis1", "log_softmax", (2, 3), "log_softmax(h, axis=1)"),
    ("argmax", "argmax", (2, 3), "where(argmax(h, axis=0) == 0, sum(h, axis=0), 2.0)"),
    ("argmin", "argmin", (2, 3), "where(argmin(h, axis=0) == 0, sum(h, axis=0), 2.0)"),
    ("any", "any", (2, 3), "where(any(greater(x, 0.25), axis=0), sum(h, axis=0), 2.0)"),
    ("all", "all", (2, 3), "where(all(less(x, 0.5), axis=0), sum(h, axis=0), 2.0)"),
    ("count_nonzero", "count_nonzero", (2, 3), "where(count_nonzero(greater(x, 0.1), axis=0) == 1, sum(h, axis=0), 2.0)"),
    ("matmul", "matmul", (2, 2), "matmul(x, h)"),
    ("matmul_self", "matmul", (2, 2), "matmul(x, x)"),
    ("matmul_right_const", "matmul", (2, 3), "matmul(h, B(3, 2))"),
    ("matmul_left_const", "matmul", (2, 3), "matmul(B(2, 2), h)"),
    ("matmul_transposed", "matmul", (2, 3), "matmul(x, transpose(h))"),
    ("matmul_vector", "matmul", (2, 3), "matmul(h, mean(x, axis=0))"),
    ("vector_matmul", "matmul", (2, 3), "matmul(mean(x, axis=1), h)"),
    ("matmul_batched", "matmul", (2, 2, 2), "matmul(x, h)"),
    ("matmul_broadcast", "matmul", (2, 2, 2), "matmul(h, sum(x, axis=0))"),
    ("dot", "dot", (3,), "dot(x, h)"),
    ("dot_const", "dot", (3,), "sin(dot(h, B(3)))"),
    ("dot_self", "dot", (3,), "dot(x, x)"),
    ("reshape", "reshape", (2, 3), "sin(reshape(h, (3, 2)))"),
    ("reshape_flat", "reshape", (2, 3), "reshape(h, (6,)) * reshape(x, (6,))"),
    ("transpose", "transpose", (2, 3), "sin(transpose(h))"),
    ("transpose_both", "transpose", (2, 2), "transpose(h) * x"),
    ("transpose_rank3", "transpose", (1, 2, 3), "sin(transpose(h))"),
    ("broadcast_to", "broadcast_to", (3,), "sin(broadcast_to(h, (2, 3)) * C(2, 3))"),
    ("broadcast_to_column", "broadcast_to", (2, 1), "sin(broadcast_to(h, (2, 3)) * C(2, 3))"),
    ("slice_row", "slice", (2, 3), "sin(h[1])"),
    ("slice_step", "slice", (2, 3), "sin(h[:, 0:3:2])"),
    ("slice_negative", "slice", (2, 3), "h[:, ::-1] * x"),
    ("slice_overlap", "slice", (2, 3), "h[:, 1:3] * x[:, 0:2]"),
    ("slice_element", "slice", (2, 3), "h[0, 1] * x[1, 2]"),
    ("squeeze", "squeeze", (2, 1), "sin(squeeze(h, 1))"),
    ("unsqueeze", "unsqueeze", (3,), "sin(unsqueeze(h, 0))"),
    ("unsqueeze_last", "unsqueeze", (2, 2), "unsqueeze(h, 2) * unsqueeze(x, 2)"),
    ("take", "take", (2, 3), "sin(take(h, [2, 0, 2], 1))"),
    ("take_rows", "take", (2, 3), "take(h, [1, 1, 0], 0) * take(x, [0, 1, 0], 0)"),
    ("take_vector", "take", (3,), "sin(take(h, [0, 2, 2, 1], 0))"),
    ("scatter_add", "scatter_add", (3,), "sin(scatter_add(h, 0, [2, 0, 2], x * x * x))"),
    ("scatter_add_const", "scatter_add", (3,), "sin(scatter_add(B(4), 0, [3, 1, 3], h))"),
    ("scatter_add_rank2", "scatter_add", (2, 3), "sin(scatter_add(h, 1, [[0, 2, 2], [1, 1, 0]], x * x * x))"),
    ("cholesky", "cholesky", (2, 2), "cholesky(matmul(x, transpose(x)) + 2.0 * eye(2))"),
    ("cholesky_wide", "cholesky", (2, 3), "cholesky(matmul(h, transpose(h)) + 2.0 * eye(2))"),
    ("cholesky_3", "cholesky", (3, 2), "cholesky(matmul(x, transpose(x)) + 2.0 * eye(3))"),
    ("triangular_solve", "triangular_solve", (2, 2), "triangular_solve(x + 2.0 * eye(2), h)"),
    ("triangular_solve_upper", "triangular_solve", (2, 2), "triangular_solve(x + 2.0 * eye(2), h, lower=False)"),
    ("triangular_solve_transposed", "triangular_solve", (2, 2), "triangular_solve(x + 2.0 * eye(2), h, transposed=True)"),
    ("triangular_solve_vector", "triangular_solve", (3, 3), "triangular_solve(x + 2.0 * eye(3), sum(h, axis=0))"),
    ("triangular_solve_const", "triangular_solve", (2, 3), "triangular_solve(B(2, 2) + 2.0 * eye(2), h)"),
    ("cholesky_solve", "both", (2, 2), "triangular_solve(cholesky(matmul(x, transpose(x)) + 2.0 * eye(2)), h)"),
]


def make_body(expression):
    code = compile(expression, "<body>", "eval")
    uses_h = "h" in code.co_names

    def body(x):
        scope = {"x": x}
        if uses_h:
            scope["h"] = array(x * x + sequence("C", x.shape) * x)
        return array(eval(code, NAMES, scope))     # Python literals mean doubles: 0.3 * mpf is the double times x
    return body

# ---------------------------------------------------------------- the transforms, by central differences

def difference(g, x, direction):
    return (array(g(array(x + STEP * direction))) - array(g(array(x - STEP * direction)))) / (2 * STEP)


def unit(x, at):
    e = np.zeros(x.shape, dtype=object)
    e[at] = 1
    return e


def G(g):
    def run(x):
        def loss(t):
            y = g(t)
            return array(np.sum(sequence("w", y.shape) * y))
        out = np.empty(x.shape, dtype=object)
        for at in np.ndindex(*x.shape):
            out[at] = difference(loss, x, unit(x, at))
        return array(out)
    return run


def J(g):
    return lambda x: array(difference(g, x, sequence("v", x.shape)))


def V(g):
    return lambda x: np.stack([array(g(array(row))) for row in x])


def F(g):
    def run(x):
        columns = [array(difference(g, x, unit(x, at))) for at in np.ndindex(*x.shape)]
        return np.stack(columns, axis=-1).reshape(columns[0].shape + x.shape)
    return run


TRANSFORMS = {"G": G, "J": J, "V": V, "F": F}


def composed(string, body):
    for letter in reversed(string):
        body = TRANSFORMS[letter](body)
    return body


def strings(depth):
    """The canonical strings (R written as F), the empty one first."""
    return ["".join(s) for n in range(depth + 1) for s in itertools.product("GJVF", repeat=n)]

# ---------------------------------------------------------------- text

def number(x):
    x = mp.mpf(x)
    if abs(x) < SMALLEST:
        return "0"
    text = repr(float(x))
    return text[:-2] if text.endswith(".0") else text


def shape_text(shape):
    return "x".join(str(n) for n in shape) if shape else "-"


HEADER = """\
# Made by tools/make_gate_values.py; do not edit. Meaning: tests/gate/README.md.
# seq   <name> <count> <values>                        fixed sequences
# body  <name> <sequence of the input> <input shape>
# value <name> <string> <output shape> <values>        row-major; shape - is rank 0; string . is the body itself; R is written F
"""


def sequence_lines(names):
    return [f"# {n}_k = {SEQUENCES[n][0]}\nseq {n} {len(SEQUENCES[n][1])} " + " ".join(map(number, SEQUENCES[n][1])) for n in names]


def value_lines(bodies, depth, inputs, more=()):
    """`more`: strings beside those of a depth."""
    lines = []
    for name, _, shape, expression in bodies:
        which = inputs(name)
        lines.append(f"body {name} {which} {shape_text(shape)}")
        body = expression if callable(expression) else make_body(expression)
        MARGIN[0] = mp.inf
        for string in [*strings(depth), *more]:
            x = sequence(which, (EXTENT,) * string.count("V") + shape)
            y = array(composed(string, body)(x))
            lines.append(f"value {name} {string or '.'} {shape_text(y.shape)} " + " ".join(number(t) for t in np.ravel(y)))
        assert MARGIN[0] > 1e-3, f"{name}: a kink at distance {float(MARGIN[0])}"
        print(f"{name}: {depth=} margin {float(MARGIN[0]):.3g}", file=sys.stderr)
    return lines


def gate_text():
    return HEADER + "\n".join(sequence_lines("wvpqA") + value_lines(BODIES, 3, lambda n: "p" if n == "1" else "q")) + "\n"


def op_text():
    return HEADER + "\n".join(sequence_lines("wvqBC") + value_lines(OPS, 2, lambda n: "q")) + "\n"


def table_text():
    import gate_table   # beside this file
    lines = []
    for name, operands, points, body in gate_table.rows():
        lines.append(f"seq {name} {len(operands)} " + " ".join(map(number, operands)))
        for k, point in enumerate(points):
            which = f"{name}:{k}"
            SEQUENCES[which] = (f"x of {name}", [rounded(t) for t in point + points[k - 1]])
            arrays = [s + "V" for s in strings(2) if len(s) == 2] if k == 0 else []
            lines += [sequence_lines([which])[0].split("\n")[1]] + value_lines([(which, name, (), elementwise(body))], 2, lambda n: n, arrays)
    return HEADER.replace("fixed sequences", "x of a point; w and v are those of op_values.txt") + "# seq <operator> 4 p q r s: its operands are x, p + q x, r + s x; seq, body and value <operator>:<point> follow\n" + \
        "\n".join(lines) + "\n"


def bodies_text():
    out = ["# Bodies of the gate", "",
           "Generated by `tools/make_gate_values.py`. NumPy notation with the API's names; the meaning of `h`, `A`, `B`, `C` and of the",
           "functions is in `README.md`.", "",
           "| body | operator | x.shape | f(x).shape | f(x) |", "|---|---|---|---|---|"]
    for name, op, shape, expression in BODIES + OPS:
        y = make_body(expression)(sequence("q", shape))
        out.append(f"| {name} | `{op}` | ({', '.join(map(str, shape))}) | ({', '.join(map(str, y.shape))}) | `{expression}` |")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the stored files instead of writing them")
    parser.add_argument("--only", choices=["gate", "op", "table", "bodies", "special"], help="one file only")
    args = parser.parse_args()
    import gate_special   # beside this file
    files = {"bodies": ("bodies.md", bodies_text), "special": ("special_values.txt", gate_special.text),
             "op": ("op_values.txt", op_text), "table": ("table_values.txt", table_text), "gate": ("gate_values.txt", gate_text)}
    good = True
    for key, (name, make) in files.items():
        if args.only not in (None, key):
            continue
        text, path = make(), ROOT / name
        if args.check:
            same = path.exists() and path.read_text() == text
            good &= same
            print(f"{name}: {'same' if same else 'DIFFERS'}")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(f"{name}: {len(text)} bytes")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
