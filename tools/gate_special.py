"""Text of tests/gate/special_values.txt: derivatives at kinks and in tails (tests/gate/README.md), and value, first and
second derivative of every elementwise function of the API at ordinary points. Used by make_gate_values.py.

A value that mathematics fixes is computed here with mpmath, from a function that is only ever evaluated, never differentiated by a
formula; a value that is a convention of the API is written down, and where one-sided derivatives exist the convention
is checked to lie between them.
"""
import mpmath as mp

INF = mp.inf


def rounded(x):
    return mp.mpf(float(x))


def slope(f, x, side=0):
    """Derivative by a difference in 180 digits; side -1 or +1: the one-sided one (first order in h, h = 2^-200)."""
    x = mp.mpf(x)
    if side:
        h = side * mp.mpf(2) ** -200
        return (f(x + h) - f(x)) / h
    h = mp.mpf(2) ** -100
    return (f(x + h) - f(x - h)) / (2 * h)


def curvature(f, x):
    x, h = mp.mpf(x), mp.mpf(2) ** -100
    return (f(x + h) - 2 * f(x) + f(x - h)) / (h * h)


def partials(f, xs):
    return [slope(lambda t, i=i: f(*xs[:i], t, *xs[i + 1:]), x) for i, x in enumerate(map(mp.mpf, xs))]


def log_sum_exp(*xs):
    return mp.log(sum((mp.exp(x) for x in xs), mp.mpf(0)))


def between(f, at, convention):
    low, high = sorted([slope(f, at, -1), slope(f, at, +1)])
    slack = mp.mpf(10) ** -30
    assert low - slack <= convention <= high + slack, (low, convention, high)
    return convention


def softplus(x):
    return mp.log(1 + mp.exp(x))


def sigmoid(x):
    return 1 / (1 + mp.exp(-x))


def clamp(x):
    return min(max(x, mp.mpf(-1)), mp.mpf(1))


def power(x, n):
    return x ** n   # n a Python int: exact for negative x


def arctangent_slopes(y, x):
    return [x / (x * x + y * y), -y / (x * x + y * y)]


def entries():
    """(name, program, shape, values, relative tolerance per element; 0 is exact)"""
    E = []

    def add(name, program, values, tolerance=0.0, shape=None):
        values = list(values) if isinstance(values, (list, tuple)) else [values]
        E.append((name, program, shape if shape is not None else (() if len(values) == 1 else (len(values),)), values, tolerance))

    # -- kinks: conventions
    add("abs_at_0", "grad(abs)(0.0)", between(abs, 0, 0))
    add("sign_at_0", "grad(sign)(0.0)", 0)
    add("relu_at_0", "grad(relu)(0.0)", between(lambda x: max(x, mp.mpf(0)), 0, 0))
    add("norm_at_0", "grad(norm)({0.0, 0.0, 0.0})", [0, 0, 0])
    add("hypot_at_0", "grad<0, 1>(hypot)(0.0, 0.0)", [0, 0])
    half = mp.mpf(1) / 2
    for name in ("maximum", "minimum"):
        pick = max if name == "maximum" else min
        add(name + "_tie", f"grad<0, 1>({name})(3.0, 3.0)", [between(lambda x: pick(x, mp.mpf(3)), 3, half)] * 2)
    add("fmax_tie", "grad<0, 1>(fmax)(3.0, 3.0)", [1, 0])
    add("fmin_tie", "grad<0, 1>(fmin)(3.0, 3.0)", [1, 0])
    add("max_all_tie_2", "grad([](auto x) { return max(x); })({2, 1, 2})", [half, 0, half])
    add("max_all_tie_3", "grad([](auto x) { return max(x); })({2, 2, 2})", [mp.mpf(1) / 3] * 3, 1e-15)
    add("min_all_tie_2", "grad([](auto x) { return min(x); })({2, 3, 2})", [half, 0, half])
    add("max_axis_tie", "grad([](auto x) { return sum(max(x, 1)); })({{2, 1, 2}, {5, 5, 4}})", [half, 0, half, half, half, 0], 0.0, (2, 3))
    add("clamp_on_boundary", "grad of clamp(x, -1, 1) at -1, 1", [between(clamp, -1, 1), between(clamp, 1, 1)])
    add("clamp_outside_and_inside", "grad of clamp(x, -1, 1) at -2, 0.5, 2", [slope(clamp, x) for x in (-2, .5, 2)])
    add("sqrt_at_0", "grad(sqrt)(0.0)", INF)
    assert slope(mp.sqrt, 0, +1) > mp.mpf(10) ** 29
    add("sqrt_at_0_zero_cotangent", "grad of 0 * sqrt(x) at 0, and of where(x > 0, sqrt(x), 0.0) at 0", [0, 0])
    add("pow_zero_exponent", "grad of pow(x, 0.0) wrt x at x = 0, 2, -3", [0, slope(lambda x: power(x, 0), 2), slope(lambda x: power(x, 0), -3)])
    add("pow_zero_base_wrt_exponent", "grad<1>(pow)(0.0, y) at y = 0, 1, 2.5", [0, slope(lambda y: mp.mpf(0) ** y, 1), slope(lambda y: mp.mpf(0) ** y, 2.5)])
    add("pow_negative_base", "grad<0>(pow)(-2.0, 3.0)", slope(lambda x: power(x, 3), -2))
    add("pow_negative_base_second", "grad(grad<0>(pow))(-2.0, 3.0)", curvature(lambda x: power(x, 3), -2))
    add("where_nan_branch", "grad of where(x > 0, x * x, sqrt(-x)) and of where(x > 0, x * x, log(-x)) at x = 3", [slope(lambda x: x * x, 3)] * 2)
    add("where_double", "grad of where(x > 0, sqrt(where(x > 0, x, 1.0)), 0.0) at x = 0, 4", [0, slope(mp.sqrt, 4)])
    add("log1p_at_minus_1", "grad(log1p)(-1.0)", INF)

    # -- tails: mathematics
    add("prod_one_zero", "grad(prod)({2, 0, 3})", partials(lambda a, b, c: a * b * c, (2, 0, 3)))
    add("prod_two_zeros", "grad(prod)({0, 0, 3})", partials(lambda a, b, c: a * b * c, (0, 0, 3)))
    add("prod_two_zeros_hessian", "hessian(prod)({0, 0, 3})", [0, 3, 0, 3, 0, 0, 0, 0, 0], 0.0, (3, 3))
    add("logsumexp_all_minus_inf", "grad(logsumexp)({-inf, -inf})", [0, 0])
    add("logsumexp_one_minus_inf", "grad(logsumexp)({-inf, 1})", [0, slope(lambda x: log_sum_exp(-INF, x), 1)])
    add("logsumexp_large", "grad(logsumexp)({1000, 1001})", partials(log_sum_exp, (1000, 1001)), 1e-14)
    add("logsumexp_large_value", "logsumexp({1000, 1001})", log_sum_exp(mp.mpf(1000), mp.mpf(1001)), 1e-15)
    add("expm1_at_minus_50", "grad(expm1)(-50.0)", slope(mp.expm1, -50), 1e-12)
    add("expm1_tiny", "expm1(1e-18) and its derivative", [mp.expm1(rounded(1e-18)), 1], 1e-15)
    add("log1p_tiny", "log1p(1e-18) and its derivative", [mp.log1p(rounded(1e-18)), slope(mp.log1p, rounded(1e-18))], 1e-15)
    add("tanh_at_20", "grad(tanh)(20.0), grad(tanh)(-20.0)", [slope(mp.tanh, 20), slope(mp.tanh, -20)], 1e-12)
    add("tanh_at_400", "grad(tanh)(400.0)", 0 * slope(mp.tanh, 400))
    add("softplus_tails", "grad(softplus) at 0, 1000, -1000", [half, 1, 0])
    assert abs(slope(softplus, 0) - half) < 1e-40
    add("softplus_at_minus_40", "grad(softplus)(-40.0)", slope(softplus, -40), 1e-14)
    add("sigmoid_tails", "sigmoid at -800, 800", [0, 1])
    add("sigmoid_slope_tails", "grad(sigmoid) at -40, 40, -800, 800", [slope(sigmoid, -40), slope(sigmoid, 40), 0, 0], 1e-12)
    add("logsigmoid_tails", "grad(logsigmoid) at -1000, 0, 1000", [1, half, 0])
    for name, scale, point in (("atan2_far", 1e200, (3e200, 4e200)), ("atan2_near", 1, (-3e-200, 4e-200)), ("atan2_uneven", 1e200, (3, -4e200))):
        add(name, f"grad<0, 1> of {scale:g} * atan2(y, x) at {point}", [rounded(scale) * d for d in arctangent_slopes(*map(rounded, point))], 1e-15)
    add("asinh_far", "grad of 1e160 * asinh(x) at 1e160, -1e160, 1e9", [rounded(1e160) / mp.sqrt(1 + rounded(x) ** 2) for x in (1e160, -1e160, 1e9)], 1e-15)
    add("acosh_far", "grad of 1e160 * acosh(x) at 1e160, 1e9", [rounded(1e160) / mp.sqrt(rounded(x) ** 2 - 1) for x in (1e160, 1e9)], 1e-15)
    add("softmax_all_minus_inf", "softmax({-inf, -inf})", [0, 0])
    add("softmax_all_minus_inf_jacobian", "jacobian(softmax)({-inf, -inf})", [0, 0, 0, 0], 0.0, (2, 2))
    add("gather_repeated", "grad of sum(gather(x, 0, {2, 0, 2})) and of sum(take(x, {2, 0, 2}, 0)), x of 3", [1, 0, 2])
    add("scatter_add_repeated", "grad wrt src of dot({1, 2, 3}, scatter_add(zeros(3), 0, {2, 0, 2}, src))", [3, 1, 3])
    add("scatter_last_wins", "grad wrt src of dot({1, 2, 3}, scatter(zeros(3), 0, {2, 0, 2}, src))", [0, 1, 3])
    add("abs2_complex", "grad([](auto z) { return real(z * conj(z)); })(3 + 4i): real and imaginary part",
        partials(lambda x, y: x * x + y * y, (3, 4)))
    return E


def erf_gelu(x):
    return x * (1 + mp.erf(x / mp.sqrt(2))) / 2


def elu(x):
    return x if x > 0 else mp.expm1(x)


UNARY = [  # name, function, points
    ("exp", mp.exp, (-1.5, 0.75)), ("exp2", lambda x: mp.mpf(2) ** x, (-1.5, 0.75)), ("expm1", mp.expm1, (-1.5, 0.75)),
    ("log", mp.log, (0.25, 3.5)), ("log2", lambda x: mp.log(x) / mp.log(2), (0.25, 3.5)), ("log10", mp.log10, (0.25, 3.5)),
    ("log1p", mp.log1p, (-0.5, 2.25)), ("sqrt", mp.sqrt, (0.25, 3.5)), ("cbrt", mp.cbrt, (0.25, 3.5)),
    ("rsqrt", lambda x: 1 / mp.sqrt(x), (0.25, 3.5)), ("square", lambda x: x * x, (-1.5, 0.75)),
    ("reciprocal", lambda x: 1 / x, (-1.5, 0.75)), ("abs", abs, (-1.5, 0.75)),
    ("sin", mp.sin, (-1.5, 0.75)), ("cos", mp.cos, (-1.5, 0.75)), ("tan", mp.tan, (-1.25, 0.75)),
    ("asin", mp.asin, (-0.75, 0.5)), ("acos", mp.acos, (-0.75, 0.5)), ("atan", mp.atan, (-1.5, 0.75)),
    ("sinh", mp.sinh, (-1.5, 0.75)), ("cosh", mp.cosh, (-1.5, 0.75)), ("tanh", mp.tanh, (-1.5, 0.75)),
    ("asinh", mp.asinh, (-1.5, 0.75)), ("acosh", mp.acosh, (1.25, 3.5)), ("atanh", mp.atanh, (-0.75, 0.5)),
    ("erf", mp.erf, (-1.5, 0.75)), ("erfc", mp.erfc, (-1.5, 0.75)), ("lgamma", mp.loggamma, (0.75, 3.5)),
    ("digamma", mp.digamma, (0.75, 3.5)), ("sigmoid", sigmoid, (-1.5, 0.75)),
    ("logsigmoid", lambda x: -softplus(-x), (-1.5, 0.75)), ("softplus", softplus, (-1.5, 0.75)),
    ("relu", lambda x: max(x, mp.mpf(0)), (-1.5, 0.75)), ("leaky_relu", lambda x: x if x > 0 else x * mp.mpf(0.01), (-1.5, 0.75)),
    ("elu", elu, (-1.5, 0.75)), ("gelu", erf_gelu, (-1.5, 0.75)), ("silu", lambda x: x * sigmoid(x), (-1.5, 0.75)),
]

BINARY = [  # name, function, points: value, both partials
    ("add", lambda x, y: x + y, (0.75, -1.5)), ("sub", lambda x, y: x - y, (0.75, -1.5)), ("mul", lambda x, y: x * y, (0.75, -1.5)),
    ("div", lambda x, y: x / y, (0.75, -1.5)), ("pow", lambda x, y: x ** y, (0.75, -1.5)),
    ("atan2", mp.atan2, (0.75, -1.5)), ("hypot", lambda x, y: mp.sqrt(x * x + y * y), (0.75, -1.5)),
    ("maximum", max, (0.75, -1.5)), ("minimum", min, (0.75, -1.5)),
    ("xlogy", lambda x, y: x * mp.log(y), (0.75, 1.5)), ("logaddexp", lambda x, y: log_sum_exp(x, y), (0.75, -1.5)),
    ("copysign", lambda x, y: abs(x) if y >= 0 else -abs(x), (0.75, -1.5)),
    ("fmod", lambda x, y: x - y * int(x / y), (7.25, 2.5)),
]


def number(x):
    x = mp.mpf(x)
    if abs(x) < mp.mpf(10) ** -35:
        return "0"
    text = repr(float(x))
    return text[:-2] if text.endswith(".0") else text


def text():
    out = ["# Made by tools/make_gate_values.py; do not edit. Meaning: tests/gate/README.md.",
           "# value <name> . <shape> <values>       value <name> tolerance - <largest relative error of each element; 0 is exact>"]
    shapes = lambda s: "x".join(map(str, s)) if s else "-"
    for name, program, shape, values, tolerance in entries():
        out += [f"# {program}", f"value {name} . {shapes(shape)} " + " ".join(map(number, values)), f"value {name} tolerance - {number(tolerance)}"]
    out += ["# Elementwise functions at ordinary points: each row is x, f(x), f'(x), f''(x)"]
    for name, f, points in UNARY:
        rows = [t for x in points for t in (x, f(mp.mpf(x)), slope(f, x), curvature(f, x))]
        out.append(f"value unary_{name} . {len(points)}x4 " + " ".join(map(number, rows)))
    out += ["# x, y, f(x, y), df/dx, df/dy"]
    for name, f, xy in BINARY:
        xy = tuple(map(mp.mpf, xy))
        out.append(f"value binary_{name} . 5 " + " ".join(map(number, [*xy, f(*xy), *partials(f, xy)])))
    return "\n".join(out) + "\n"
