"""The operator table of the gate: every elementwise operator as a function of one number, with the points it is tested at. Used by
make_gate_values.py, which writes tests/gate/table_values.txt. An operator that is a row here and nothing else is tested under every
composition of two transforms, on arrays, for its reads mask and for a seeded wrong partial (tests/gate/README.md).

The body of an operator f is   x -> f(x, b, c) x   with b = p + q x, c = r + s x: every operand depends on x, so every partial counts.
A mask m stands for where(m, x, 2), an integer i for the mask i > 3.
"""
import mpmath as mp

import gate_special

REAL = ((0.75, -1.25, 0.375, -0.625), (-1.25, 0.75, -0.625, 1.375))
POSITIVE = ((0.375, 1.625, 0.75, 2.25), (2.25, 0.3125, 1.125, 0.875))
UNIT = ((0.5, -0.75, 0.25, -0.3125), (-0.75, 0.5, -0.25, 0.625))
ABOVE_1 = ((1.25, 3.5, 1.75, 2.25), (2.5, 1.375, 3.25, 1.5))
THREE_SIDES = REAL + ((2.5, -0.25, 3.25, 0.875),)

BETWEEN = ((0.8125, -1.3125, 0.4375, -0.6875), (-1.3125, 0.8125, -0.6875, 1.4375))   # 8 x is no integer, where the integer operand jumps

DOMAIN = {**dict.fromkeys(("log", "log2", "log10", "sqrt", "rsqrt", "cbrt", "pow"), POSITIVE),
          **dict.fromkeys(("log1p", "asin", "acos", "atanh"), UNIT), "acosh": ABOVE_1, "clamp": THREE_SIDES,
          **dict.fromkeys(("bit_and", "bit_or", "bit_xor", "bit_not", "shift_left", "shift_right"), BETWEEN)}
OPERANDS = {"xlogy": (2, 0.5, 1, 0.25), "copysign": (-0.5, -1, 1, 0.25), "lerp": (-0.5, 0.125, 0.5, 0.25)}   # p, q, r, s
DEFAULT_OPERANDS = (-0.5, 0.125, 1, 0.25)


def trunc(x):
    return mp.floor(x) if x >= 0 else mp.ceil(x)


def bits(x):
    """The integer operand of & | ^ ~ << >>."""
    assert abs(8 * x - mp.nint(8 * x)) > 1e-3, f"a jump at {mp.nstr(x, 10)}"
    return int(trunc(8 * x))


ONE = {name: f for name, f, _ in gate_special.UNARY}
TWO = {name: f for name, f, _ in gate_special.BINARY}
UNARY = {**{n: ONE[n] for n in ONE if n not in ("lgamma", "digamma", "leaky_relu", "elu")},
         "real": lambda x: x, "imag": lambda x: mp.mpf(0), "conj": lambda x: x, "arg": lambda x: mp.pi if x < 0 else mp.mpf(0),
         "neg": lambda x: -x, "sign": mp.sign, "floor": mp.floor, "ceil": mp.ceil, "round": mp.nint, "trunc": trunc,
         "isnan": lambda x: False, "isinf": lambda x: False, "isfinite": lambda x: True,
         "logical_not": lambda x: not x > 0, "bit_not": lambda x: ~bits(x) > 3, "cast": lambda x: x}
BINARY = {**TWO, "fmod": lambda x, y: x - y * trunc(x / y), "remainder": lambda x, y: x - y * mp.floor(x / y), "fmax": max, "fmin": min,
          "leaky_relu": lambda x, slope: x if x > 0 else slope * x, "elu": lambda x, alpha: x if x > 0 else alpha * mp.expm1(x),
          "equal": lambda x, y: x == y, "not_equal": lambda x, y: x != y, "less": lambda x, y: x < y, "less_equal": lambda x, y: x <= y,
          "greater": lambda x, y: x > y, "greater_equal": lambda x, y: x >= y,
          "logical_and": lambda x, y: x > 0 and y > 0, "logical_or": lambda x, y: x > 0 or y > 0,
          "bit_and": lambda x, y: (bits(x) & bits(y)) > 3, "bit_or": lambda x, y: (bits(x) | bits(y)) > 3,
          "bit_xor": lambda x, y: (bits(x) ^ bits(y)) > 3,
          "shift_left": lambda x, y: (bits(x) << 2) > 3, "shift_right": lambda x, y: (bits(x) >> 2) > 3}
TERNARY = {"where": lambda x, b, c: b if x > 0.25 else c, "clamp": lambda x, low, high: min(max(x, low), high),
           "lerp": lambda a, b, t: a + t * (b - a), "fma": lambda a, b, c: a * b + c}


def body(name):
    f, arity = next((table[name], n + 1) for n, table in enumerate((UNARY, BINARY, TERNARY)) if name in table)
    p, q, r, s = map(mp.mpf, OPERANDS.get(name, DEFAULT_OPERANDS))

    def run(x):
        y = f(*(x, p + q * x, r + s * x)[:arity])
        return (y if not isinstance(y, bool) else x if y else mp.mpf(2)) * x
    return run


def rows():
    """(name of the operator, coefficients of its operands, points, body)"""
    return [(n, OPERANDS.get(n, DEFAULT_OPERANDS), DOMAIN.get(n, REAL), body(n)) for table in (UNARY, BINARY, TERNARY) for n in table]
