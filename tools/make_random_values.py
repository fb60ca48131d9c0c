#!/usr/bin/env python3
"""Makes tests/gate/random_values.txt: keys, random numbers and derivatives of functions that draw, without ttensor.

    python3 tools/make_random_values.py            # writes the file (a second; needs mpmath)
    python3 tools/make_random_values.py --check    # compares with the file

Philox4x32-10 is written from the paper (Salmon, Moraes, Dror, Shaw, SC 2011) in Python's integers and compared with the known
answers published with it (Random123, kat_vectors). What ttensor makes of the bits is written from the documentation of
num/philox.hpp and tensor/random.hpp: streams, 53 or 24 bits of a uniform, Box and Muller. Uniforms are exact; normals and the
derivatives, which are formulas, are computed with 50 digits and rounded once.
"""
import argparse
import pathlib
import sys

import mpmath as mp

mp.mp.dps = 50
PATH = pathlib.Path(__file__).resolve().parent.parent / "tests" / "gate" / "random_values.txt"
WORD = 0xffffffff
NUMBERS, SPLITS, FOLDS = 0, 1, 2    # streams of a key
SEEDS = [0, 42, 0xfedcba9876543210]
W, V, C = [0.5, -1.25, 2.0], [1.0, 0.75, -0.5], [1.0, -2.0, 0.5, 3.0]    # point, direction, weights of the examples


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k[0], q & WORD, (p >> 32) ^ c[3] ^ k[1], p & WORD]
        k = [(k[0] + 0x9E3779B9) & WORD, (k[1] + 0xBB67AE85) & WORD]
    return c


for counter, key, answer in [
        ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1")]:
    assert philox(*([int(t, 16) for t in s.split()] for s in (counter, key))) == [int(t, 16) for t in answer.split()]


def block(seed, stream, i):
    return philox([i & WORD, i >> 32, stream, 0], [seed & WORD, seed >> 32])


def child(seed, stream, i):
    b = block(seed, stream, i)
    return b[0] << 32 | b[1]


def split(seed, n):
    return [child(seed, SPLITS, i) for i in range(n)]


def fold_in(seed, i):
    return child(seed, FOLDS, i)


def words(seed, n):
    return [w for i in range((n + 3) // 4) for w in block(seed, NUMBERS, i)]


def uniform(seed, n, double=True):
    """The upper 53 bits of two words, or the upper 24 of one."""
    if not double:
        return [mp.mpf(w >> 8) / 2 ** 24 for w in words(seed, n)][:n]
    w = words(seed, 2 * n)
    return [mp.mpf((w[i] << 32 | w[i + 1]) >> 11) / 2 ** 53 for i in range(0, 2 * n, 2)]


def normal(seed, n, double=True):
    """Two from two uniforms, u and v: sqrt(-2 log(1 - u)) times cos and sin of 2 pi v."""
    u, z = uniform(seed, n + n % 2, double), []
    for a, b in zip(u[::2], u[1::2]):
        radius, angle = mp.sqrt(-2 * mp.log(1 - a)), 2 * mp.pi * b
        z += [radius * mp.cos(angle), radius * mp.sin(angle)]
    return z[:n]


# f(w, key) = sum(sin(w n) u) with [a, b] = split<2>(key), n = normal(a, 3), u = uniform(fold_in(b, 5), 3)

def drawn(seed, double=True):
    a, b = split(seed, 2)
    return list(zip(normal(a, 3, double), uniform(fold_in(b, 5), 3, double)))


def f(w, seed):
    return mp.fsum(mp.sin(x * n) * u for x, (n, u) in zip(w, drawn(seed)))


def gradient(w, seed, double=True):
    return [n * u * mp.cos(x * n) for x, (n, u) in zip(w, drawn(seed, double))]


def slope(w, v, seed):
    return mp.fsum(d * g for d, g in zip(v, gradient(w, seed)))


def curved(w, v, seed):
    """Gradient of the directional derivative: the Hessian is diagonal."""
    return [-d * n * n * u * mp.sin(x * n) for x, d, (n, u) in zip(w, v, drawn(seed))]


def weighted(rows):
    return [mp.fsum(c * r[i] for c, r in zip(C, rows)) for i in range(3)]


def text():
    lines = ["# Made by tools/make_random_values.py; do not edit. A key is two words, the upper and the lower one; its numbers are",
             "# those of the documentation: <name> key, split (3 children), fold (of 0, 5 and 2^40 + 1), then 5 doubles and 7 floats",
             "# of each of the seven keys. Derivatives: of f in tools/make_random_values.py, at w, in direction v, for the key 42."]

    def add(name, shape, values):
        values = [mp.mpf(v) for v in values]
        numbers = (repr(float(v)).removesuffix(".0") for v in values)
        lines.append(f"value {name} . {shape} {' '.join(numbers)}")

    for s, seed in enumerate(SEEDS):
        keys = [seed] + split(seed, 3) + [fold_in(seed, i) for i in (0, 5, 2 ** 40 + 1)]
        add(f"keys_{s}", "7x2", [w for k in keys for w in (k >> 32, k & WORD)])
        for name, draw in (("uniform", uniform), ("normal", normal)):
            add(f"{name}_double_{s}", "7x5", [x for k in keys for x in draw(k, 5)])
            add(f"{name}_float_{s}", "7x7", [x for k in keys for x in draw(k, 7, False)])
    for name, values in (("w", W), ("v", V), ("c", C)):
        add(name, len(values), values)
    key, keys = 42, split(42, 4)
    add("f", "-", [f(W, key)])
    add("grad", 3, gradient(W, key))
    add("grad_float", 3, gradient(W, key, False))
    add("jvp", "-", [slope(W, V, key)])
    add("grad_jvp", 3, curved(W, V, key))
    add("vmap", 4, [f(W, k) for k in keys])
    rows = [gradient(W, k) for k in keys]
    add("vmap_grad", "4x3", [x for r in rows for x in r])
    add("grad_vmap", 3, weighted(rows))
    add("jvp_vmap", 4, [slope(W, V, k) for k in keys])
    # keys made inside: for each of the four keys the gradient of sum(vmap(f)(split(key, 2)))
    add("vmap_grad_vmap", "4x3", [sum(g) for k in keys for g in zip(*(gradient(W, j) for j in split(k, 2)))])
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the stored file instead of writing it")
    if not parser.parse_args().check:
        PATH.write_text(text())
        return 0
    same = PATH.exists() and PATH.read_text() == text()
    print(f"{PATH.name}: {'same' if same else 'DIFFERS'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
