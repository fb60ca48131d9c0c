#!/usr/bin/env python3
"""Derives every polynomial of ttensor/num/math_*.hpp, and what those of device_math.hpp come from: minimax (Remez exchange) in 60 digits, printed as hex floats.

A fit is f(x) ~ sum_i c_i x^i on [a, b], minimising max |w(x) (f(x) - p(x))|; w turns the error of the inner polynomial
into the relative error of the function it serves. Usage: tests/num/fit_math.py [name ...]
"""
import struct
import sys
from mpmath import mp, mpf

mp.dps = 60


def remez(f, degree, a, b, weight):
    w = lambda x: max(abs(weight(x)), mpf("1e-4"))  # a zero weight inside the interval would make the system singular
    count = degree + 2
    a, b = mpf(a), mpf(b)
    nodes = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * (i + mpf(1) / 2) / count) for i in range(count)]
    grid = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * (i + mpf(1) / 2) / 1200) for i in range(1200)]
    fg, wg = [f(x) for x in grid], [w(x) for x in grid]
    for _ in range(30):
        m = mp.matrix(count, count)
        rhs = mp.matrix(count, 1)
        for i, x in enumerate(nodes):
            for j in range(degree + 1):
                m[i, j] = x**j
            m[i, degree + 1] = (-1) ** i / w(x)
            rhs[i] = f(x)
        s = mp.lu_solve(m, rhs)
        c = [s[j] for j in range(degree + 1)]
        err = [wg[k] * (fg[k] - mp.polyval(c[::-1], grid[k])) for k in range(len(grid))]
        extrema = []  # alternating local extrema of the weighted error
        for k, e in enumerate(err):
            if extrema and (err[extrema[-1]] > 0) == (e > 0):
                if abs(e) > abs(err[extrema[-1]]):
                    extrema[-1] = k
            else:
                extrema.append(k)
        while len(extrema) > count:
            extrema.pop(0 if abs(err[extrema[0]]) < abs(err[extrema[-1]]) else -1)
        if len(extrema) < count:
            break
        nodes = [grid[k] for k in extrema]
        if abs(max(map(abs, err)) / abs(s[degree + 1]) - 1) < 1e-3:
            break
    return c, max(map(abs, err))


def fround(x):
    return struct.unpack("f", struct.pack("f", float(x)))[0]


def show(name, c, err, single):
    eps = mpf(2) ** (-24 if single else -53)
    print(f"{name}: error {mp.nstr(err, 3)} = {mp.nstr(err / eps, 3)} half-ulp of 1")
    for x in c:
        v = fround(x) if single else float(x)
        print(f"    {v.hex()}{'f' if single else ''},  // {mp.nstr(x, 9)}")


half_ln2 = mp.log(2) / 2 * mpf("1.001")


def exp_rest(r):  # (exp(r) - 1 - r) / r^2
    return mp.fsum(r**k / mp.factorial(k + 2) for k in range(40))


def sin_rest(z):  # (sin(sqrt z) / sqrt z - 1) / z
    return mp.fsum((-1) ** (k + 1) * z**k / mp.factorial(2 * k + 3) for k in range(40))


def cos_rest(z):  # (cos(sqrt z) - 1 + z / 2) / z^2
    return mp.fsum((-1) ** k * z**k / mp.factorial(2 * k + 4) for k in range(40))


def log_odd(z):  # with s = sqrt z: (log((1+s)/(1-s)) / s - 2) / z
    return mp.fsum(2 * z**k / (2 * k + 3) for k in range(80))


def log1p_rest(f):  # (log1p(f) - f + f^2/2) / f^3
    if abs(f) < mpf("1e-6"):
        return mp.fsum((-f) ** k / (k + 3) for k in range(20))
    return (mp.log1p(f) - f + f * f / 2) / f**3


half_pi2 = (mp.pi / 2 * mpf("1.001")) ** 2
quarter_pi2 = (mp.pi / 4 * mpf("1.001")) ** 2
s_max = (mpf(1) / 5 * mpf("1.0001")) ** 2  # f in [-1/4, 1/2), s = f / (2 + f)


def erf_rest(z):  # erf(sqrt z) / sqrt z - 1
    return 2 / mp.sqrt(mp.pi) * mp.fsum((-1) ** k * z**k / (mp.factorial(k) * (2 * k + 1)) for k in range(40)) - 1


def erfcx_of(u):  # (a + 2) exp(a^2) erfc(a), a = 2 (1 + u) / (1 - u)
    a = 2 * (1 + u) / (1 - u)
    return (a + 2) * mp.exp(a * a) * mp.erfc(a)


def atan_rest(z):  # (atan(sqrt z) / sqrt z - 1) / z
    return mp.fsum((-1) ** (k + 1) * z**k / (2 * k + 3) for k in range(120))


def asin_rest(z):  # (asin(sqrt z) / sqrt z - 1) / z
    return mp.fsum(mp.binomial(2 * k, k) / mpf(4) ** k * z ** (k - 1) / (2 * k + 1) for k in range(1, 140))


def log_odd_tail(z):  # with s = sqrt z: (log((1+s)/(1-s)) / s - 2 - 2 z / 3) / z^2
    return mp.fsum(2 * z**k / (2 * k + 5) for k in range(80))


tan_pi_8 = (mp.sqrt(2) - 1) * mpf("1.0001")
erf_u = lambda a: (mpf(a) - 2) / (mpf(a) + 2)
jobs = {
    "erf64": lambda: (*remez(erf_rest, 8, 0, mpf("0.2501"), lambda z: 1 / (1 + erf_rest(z))), False),
    "erf32": lambda: (*remez(erf_rest, 4, 0, mpf("0.2501"), lambda z: 1 / (1 + erf_rest(z))), True),
    "erfcx64": lambda: (*remez(erfcx_of, 21, erf_u("0.4999"), erf_u("27.4"), lambda u: 1 / erfcx_of(u)), False),
    "erfcx32": lambda: (*remez(erfcx_of, 8, erf_u("0.4999"), erf_u("10.2"), lambda u: 1 / erfcx_of(u)), True),
    "atan64": lambda: (*remez(atan_rest, 10, 0, tan_pi_8**2, lambda z: z), False),
    "atan32": lambda: (*remez(atan_rest, 4, 0, tan_pi_8**2, lambda z: z), True),
    "asin64": lambda: (*remez(asin_rest, 11, 0, mpf("0.2501"), lambda z: z), False),
    "asin32": lambda: (*remez(asin_rest, 4, 0, mpf("0.2501"), lambda z: z), True),
    # num/device_math.hpp has coefficients of the same errors with other last digits; |r| <= pi / 4
    "device_sin64": lambda: (*remez(sin_rest, 5, 0, quarter_pi2, lambda z: z / (1 + z * sin_rest(z))), False),
    "device_sin32": lambda: (*remez(sin_rest, 2, 0, quarter_pi2, lambda z: z / (1 + z * sin_rest(z))), True),
    "device_cos64": lambda: (*remez(cos_rest, 5, 0, quarter_pi2, lambda z: z * z / mp.cos(mp.sqrt(z))), False),
    "device_cos32": lambda: (*remez(cos_rest, 2, 0, quarter_pi2, lambda z: z * z / mp.cos(mp.sqrt(z))), True),

    "exp64": lambda: (*remez(exp_rest, 9, -half_ln2, half_ln2, lambda r: r * r / mp.exp(r)), False),
    "exp32": lambda: (*remez(exp_rest, 4, -half_ln2, half_ln2, lambda r: r * r / mp.exp(r)), True),
    "exp32_5": lambda: (*remez(exp_rest, 3, -half_ln2, half_ln2, lambda r: r * r / mp.exp(r)), True),
    "sin64": lambda: (*remez(sin_rest, 7, 0, half_pi2, lambda z: z / (mp.sin(mp.sqrt(z)) / mp.sqrt(z) if z else 1)), False),
    "sin32": lambda: (*remez(sin_rest, 3, 0, half_pi2, lambda z: z / (mp.sin(mp.sqrt(z)) / mp.sqrt(z) if z else 1)), True),
    "log64_6": lambda: (*remez(log_odd, 6, 0, s_max, lambda z: z / 2), False),
    "pow64": lambda: (*remez(log_odd_tail, 7, 0, s_max, lambda z: z * z / 2), False),
    "log64": lambda: (*remez(log_odd, 7, 0, s_max, lambda z: z / 2), False),
    "log32": lambda: (*remez(log1p_rest, 7, mpf(-1) / 4, mpf(1) / 2, lambda f: f * f), True),
    "log32_6": lambda: (*remez(log1p_rest, 6, mpf(-1) / 4, mpf(1) / 2, lambda f: f * f), True),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or jobs:
        c, err, single = jobs[name]()
        show(name, c, err, single)
