#!/usr/bin/env python3
"""Random statements on arrays with equal meaning in C++ and in NumPy: what the one computes is compared with the other's.

    pip install numpy                                    # 2 or newer; not a dependency of the library; the test suite does not run this
    tools/random_arrays.py <first seed> <count> [--size 30] [--flags=-O1] [--compiler g++]

A program has a few arrays of several element types and ranks and does random things to them: statements over slices (negative
steps, broadcasts, permutations), writes through slices of the array that is read, copies and lazy expressions that must keep the old
values, named views that must see the new ones, reductions, casts, take, gather and scatter_add, products. Each is compiled (seconds)
and run in a folder of its own; one that fails is kept and named.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(HERE, "..", "include")

TYPES = {"bool": np.bool_, "std::int8_t": np.int8, "std::uint8_t": np.uint8, "std::int16_t": np.int16, "std::int32_t": np.int32, "std::uint32_t": np.uint32, "std::int64_t": np.int64,
         "float": np.float32, "double": np.float64, "std::complex<float>": np.complex64, "std::complex<double>": np.complex128}
NAMES = {np.dtype(v): k for k, v in TYPES.items()}
EXTENTS = [0, 1, 1, 2, 3, 3, 4, 5, 7, 8, 9, 16, 17, 33, 40]


def kind(dtype):
    return np.dtype(dtype).kind


def trunc_divide(a, b):
    a, b = np.broadcast_arrays(a, b)
    out = np.zeros(a.shape, np.result_type(a, b))
    for i in np.ndindex(a.shape):
        x, y = int(a[i]), int(b[i])
        if y != 0:
            q = abs(x) // abs(y)
            out[i] = np.array(q if (x < 0) == (y < 0) else -q).astype(out.dtype)
    return out


class Writer:
    def __init__(self, seed):
        self.random, self.names, self.lines, self.doubles = random.Random(seed), 0, [], seed % 2 == 0
        self.arrays = []      # [name, value]: tensors
        self.views = []       # [name, value, base]: named views
        self.kept = []        # [name, value]: lazy expressions and copies that keep what was

    def name(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def say(self, line):
        self.lines.append(line)

    # ---- values

    def fill(self, shape, dtype):
        r = np.random.default_rng(self.random.getrandbits(60))
        k = kind(dtype)
        if k == "b":
            return r.integers(0, 2, shape).astype(dtype)
        if k == "u":
            return r.integers(0, 7, shape).astype(dtype)
        if k == "i":
            return r.integers(-6, 7, shape).astype(dtype)
        if k == "c":
            return ((r.integers(-8, 9, shape) + 1j * r.integers(-8, 9, shape)) / 4).astype(dtype)
        return (r.integers(-32, 33, shape) / 8).astype(dtype)

    def new_array(self, shape=None, dtype=None):
        if shape is None:
            rank = self.random.choice([1, 1, 2, 2, 2, 3, 3, 4])
            shape = tuple(self.random.choice(EXTENTS if rank < 3 else EXTENTS[:11]) for _ in range(rank))
        if dtype is None:
            dtype = self.random.choice(list(TYPES.values()) + [np.float64, np.float32, np.float64, np.int32])
        if self.doubles and dtype in (np.float32, np.complex64):
            dtype = np.float64
        value, name = self.fill(shape, dtype), self.name("a")
        file = f"{name}.npy"
        np.save(os.path.join(self.folder, file), value)
        self.say(f'auto {name} = tt::load_npy<{NAMES[value.dtype]}, {value.ndim}>("{file}");')
        self.arrays.append([name, value])

    # ---- slices

    def range_of(self, extent, length):
        """A slice of that length of an axis, as C++ and Python."""
        r = self.random
        if length == 0:
            k = r.randint(0, extent)
            return (f"tt::range({k}, {k})", slice(k, k))
        steps = [s for s in (1, 1, 1, 2, 3, -1, -1, -2) if (length - 1) * abs(s) < extent]
        s = r.choice(steps) if extent else 1
        reach = (length - 1) * abs(s)
        low = r.randint(0, extent - 1 - reach)
        if s == 1 and low == 0 and length == extent and r.random() < 0.6:
            return ("tt::all", slice(None))
        if s > 0:
            stop = low + reach + 1
            to_end = stop + s - 1 >= extent
            if to_end and r.random() < 0.5:
                return (f"tt::range({low}, tt::end, {s})" if s != 1 or r.random() < 0.5 else f"tt::range({low}, tt::end)", slice(low, None, s))
            if to_end and r.random() < 0.3:
                return (f"tt::range({low}, {extent + 5}, {s})", slice(low, extent + 5, s))
            if r.random() < 0.3 and stop - extent < 0:
                return (f"tt::range({low - extent}, {stop - extent}, {s})", slice(low - extent, stop - extent, s))
            return (f"tt::range({low}, {stop}, {s})" if s != 1 else f"tt::range({low}, {stop})", slice(low, stop, s))
        first = low + reach
        stop = low - 1
        if stop < 0 or (stop + s < 0 and r.random() < 0.3):
            if first == extent - 1 and r.random() < 0.6:
                return (f"tt::range(tt::end, tt::end, {s})", slice(None, None, s)) if stop + 1 + s < 0 or low + s < 0 else (f"tt::range({first}, {stop}, {s})", slice(first, stop if stop >= 0 else None, s))
            return (f"tt::range({first}, tt::end, {s})", slice(first, None, s)) if low + s < 0 else (f"tt::range({first}, {stop}, {s})", slice(first, stop, s))
        return (f"tt::range({first}, {stop}, {s})", slice(first, stop, s))

    def view_to(self, name, value, shape, exact=False):
        """A view of the array that broadcasts to the shape (or has it), or None."""
        r = self.random
        text = name
        if value.ndim > 1 and r.random() < 0.35:
            order = list(range(value.ndim))
            r.shuffle(order)
            if r.random() < 0.3:
                text, value = f"transpose({text})", value.T
            else:
                text, value = f"permute({text}, {', '.join(map(str, order))})", value.transpose(order)
        elif value.ndim and r.random() < 0.1:
            axis = r.randrange(value.ndim)
            text, value = f"flip({text}, {axis})", np.flip(value, axis)
        keep = min(value.ndim, len(shape)) if exact else r.randint(0 if r.random() < 0.1 else 1, max(1, min(value.ndim, len(shape))))
        keep = min(keep, value.ndim, len(shape))
        missing = len(shape) - keep if exact else 0
        kept = sorted(r.sample(range(value.ndim), keep))
        target = shape[len(shape) - keep:] if keep else ()
        parts, index = [], []
        j = 0
        for axis, extent in enumerate(value.shape):
            if axis in kept:
                want = target[j]
                j += 1
                if extent >= want and (exact or r.random() < 0.85) and (extent > 0 or want == 0):
                    p = self.range_of(extent, want)
                elif extent >= 1 and not exact:
                    p = self.range_of(extent, 1)
                else:
                    return None
            else:
                if extent == 0:
                    return None
                k = r.randrange(extent)
                if r.random() < 0.3:
                    p = (str(k - extent), k - extent)
                else:
                    p = (str(k), k)
            parts.append(p[0])
            index.append(p[1])
        for _ in range(missing):
            if shape[0] != 1:
                return None
            parts.insert(0, "tt::newaxis")
            index.insert(0, None)
        if all(p == "tt::all" for p in parts) and not missing:
            pass
        elif value.ndim > 1 and all(p == "tt::all" for p in parts[1:]) and parts[0] != "tt::all" and r.random() < 0.4:
            text = f"{text}({parts[0]})"
        else:
            text = f"{text}({', '.join(parts)})"
        out = value[tuple(index)]
        if not isinstance(out, np.ndarray):  # an element
            text = f"tt::eval({text})"
            return (text, out) if keep == 0 else None
        assert np.broadcast_shapes(out.shape, shape) == tuple(shape), (out.shape, shape, text)
        return text, out

    def sources(self):
        return [(n, v) for n, v in self.arrays] + [(n, v) for n, v, _ in self.views]

    def leaf(self, shape, of_kind):
        for _ in range(30):
            name, value = self.random.choice(self.sources())
            if kind(value.dtype) not in of_kind:
                continue
            found = self.view_to(name, value, shape)
            if found is not None and isinstance(found[1], np.ndarray):
                return found
        return None

    # ---- expressions: (text, value)

    def expression(self, shape, of_kind, depth):
        r = self.random
        if depth == 0 or r.random() < 0.12:
            return self.leaf(shape, of_kind)
        if of_kind == "b":
            choice = r.random()
            if choice < 0.6:
                k = r.choice(["iu", "f", "iuf", "i"])
                a, b = self.expression(shape, k, depth - 1), self.expression(shape, k, depth - 1)
                if a is None or b is None:
                    return None
                op = r.choice(["<", "<=", ">", ">=", "==", "!="])
                return f"({a[0]} {op} {b[0]})", eval(f"np.asarray(a {op} b)", {"np": np, "a": a[1], "b": b[1]})
            a, b = self.expression(shape, "b", depth - 1), self.expression(shape, "b", depth - 1)
            if a is None or b is None:
                return None
            op = r.choice([("&&", np.logical_and), ("||", np.logical_or), ("^", np.logical_xor), ("&", np.logical_and), ("!=", np.not_equal)])
            return (f"({a[0]} {op[0]} {b[0]})", op[1](a[1], b[1])) if r.random() < 0.8 else (f"(!{a[0]})", np.logical_not(a[1]))
        choice = r.random()
        if choice < 0.5:
            a, b = self.expression(shape, of_kind, depth - 1), self.expression(shape, of_kind, depth - 1)
            if a is None or b is None:
                return None
            if kind(a[1].dtype) == "b" or kind(b[1].dtype) == "b":
                return None
            op = r.choice(["+", "-", "*", "+", "-", "*"])
            return f"({a[0]} {op} {b[0]})", eval(f"a {op} b", {"a": a[1], "b": b[1]})
        if choice < 0.62:
            a = self.expression(shape, of_kind, depth - 1)
            if a is None:
                return None
            k = kind(a[1].dtype)
            if k in "iu":
                number = r.randint(1, 5)
                text = str(number)
            else:
                number = r.randint(-12, 12) / 4
                text = repr(number)
            op = r.choice("+-*")
            if r.random() < 0.5:
                return f"({a[0]} {op} {text})", eval(f"a {op} n", {"a": a[1], "n": number})
            return f"({text} {op} {a[0]})", eval(f"n {op} a", {"a": a[1], "n": number})
        if choice < 0.7:
            c, a, b = self.expression(shape, "b", depth - 1), self.expression(shape, of_kind, depth - 1), self.expression(shape, of_kind, depth - 1)
            if a is None or b is None or c is None:
                return None
            return f"where({c[0]}, {a[0]}, {b[0]})", np.where(c[1], a[1], b[1])
        a = self.expression(shape, of_kind, depth - 1)
        if a is None:
            return None
        k = kind(a[1].dtype)
        if k in "iu":
            which = r.randrange(5)
            b = self.expression(shape, of_kind, depth - 1)
            if b is None or kind(b[1].dtype) not in "iu":
                return None
            if which == 0:
                return f"({a[0]} / {b[0]})", trunc_divide(a[1], b[1])
            if which == 1:
                with np.errstate(all="ignore"):
                    return f"({a[0]} % {b[0]})", np.mod(a[1], b[1])
            if which == 2:
                return f"maximum({a[0]}, {b[0]})", np.maximum(a[1], b[1])
            if which == 3:
                return f"(-{a[0]})", -a[1]
            op = r.choice("&|^")
            return f"({a[0]} {op} {b[0]})", eval(f"a {op} b", {"a": a[1], "b": b[1]})
        if k == "f":
            text, f = r.choice([("tanh({0})", np.tanh), ("sin({0})", np.sin), ("abs({0})", np.abs), ("exp(-abs({0}))", lambda v: np.exp(-np.abs(v))), ("square({0})", np.square),
                                ("sqrt(abs({0}))", lambda v: np.sqrt(np.abs(v))), ("(-{0})", np.negative), ("floor({0})", np.floor), ("round({0})", np.rint), ("clamp({0}, -1.5, 2)", lambda v: np.clip(v, -1.5, 2)),
                                ("relu({0})", lambda v: np.maximum(v, 0)), ("sign({0})", np.sign)])
            return text.format(a[0]), f(a[1])
        if k == "c":
            text, f = r.choice([("conj({0})", np.conj), ("(-{0})", np.negative), ("square({0})", np.square), ("real({0})", np.real), ("abs({0})", np.abs), ("imag({0})", np.imag)])
            return text.format(a[0]), f(a[1])
        return None

    def any_kind(self):
        return self.random.choice(["f", "f", "f", "iu", "i", "iuf", "fc", "b", "c"])

    # ---- statements; each returns whether it was written

    def small(self, value):
        """Values grow without bound otherwise."""
        v = np.asarray(value)
        if v.dtype.kind in "fc":
            return bool(np.all(np.isfinite(v))) and bool(np.all(np.abs(v) < 1e4)) if v.size else True
        return True

    def random_shape(self):
        name, value = self.random.choice(self.sources())
        return value.shape

    def st_new(self):
        shape = self.random_shape()
        made = self.expression(shape, self.any_kind(), self.random.randint(1, 3))
        if made is None or made[1].ndim == 0 or not self.small(made[1]) or made[1].ndim > 4:
            return False
        text, value = made
        name = self.name("a")
        form = self.random.random()
        if form < 0.5:
            self.say(f"auto {name} = tt::eval({text});")
        elif form < 0.8:
            self.say(f"tt::tensor<{NAMES[value.dtype]}, {value.ndim}> {name} = {text};")
        else:
            lazy = self.name("e")
            self.say(f"auto {lazy} = {text}; tt::tensor {name} = {lazy};")
        self.say(f'static_assert(std::is_same_v<tt::scalar_t<decltype({name})>, {NAMES[value.dtype]}>);')
        self.arrays.append([name, np.array(value, order="C")])
        return True

    def st_write(self):
        r = self.random
        pool = self.sources()
        name, value = r.choice(pool)
        rank = r.randint(1, value.ndim)
        shape = tuple(r.randint(0 if r.random() < 0.05 else min(1, e), e) if r.random() < 0.5 else e for e in r.sample(list(value.shape), rank))
        found = None
        for _ in range(5):
            found = found or self.view_to(name, value, shape, exact=True)
        if found is None or not isinstance(found[1], np.ndarray):
            return False
        text, place = found
        if place.shape != tuple(shape) or text == name:
            return False
        k = kind(value.dtype)
        of_kind = {"b": "b", "i": "i", "u": "u", "f": "f", "c": "c" if r.random() < 0.6 else "fc"}[k]
        if r.random() < 0.12 and k != "b":
            number = r.randint(0, 5)
            made = (str(number), np.asarray(number, value.dtype))
        else:
            # rather what overlaps the place: leaves of the array itself
            made = self.expression(place.shape, of_kind, r.randint(0, 2))
        if made is None:
            return False
        source, new = made
        new = np.asarray(new)
        if new.dtype != value.dtype and not np.can_cast(new.dtype, value.dtype, "safe"):
            return False
        try:
            if np.broadcast_shapes(new.shape, place.shape) != place.shape:
                return False
        except ValueError:
            return False
        op = r.choice(["=", "=", "=", "+=", "-=", "*="]) if k != "b" else "="
        result = {"=": lambda: np.broadcast_to(new, place.shape).astype(value.dtype), "+=": lambda: place + new, "-=": lambda: place - new, "*=": lambda: place * new}[op]()
        if not self.small(result):
            return False
        if op != "=" and result.dtype != value.dtype:
            return False
        self.say(f"{text} {op} {source};")
        place[...] = result.copy()
        return True

    def st_whole(self):
        """a = f(a, ...) of the same shape, or a compound assignment of the whole."""
        r = self.random
        name, value = r.choice(self.arrays)
        k = kind(value.dtype)
        made = self.expression(value.shape, {"b": "b", "i": "i", "u": "u", "f": "f", "c": "c"}[k], r.randint(1, 2))
        if made is None or made[1].dtype != value.dtype:
            return False
        op = r.choice(["+=", "-=", "*="]) if k != "b" else "="
        if r.random() < 0.5 and made[1].shape == value.shape:
            op = "="
        if op == "=" and (made[1].shape != value.shape or any(base == name for _, _, base in self.views)):
            return False
        result = {"=": lambda: made[1], "+=": lambda: value + made[1], "-=": lambda: value - made[1], "*=": lambda: value * made[1]}[op]()
        if not self.small(result):
            return False
        self.say(f"{name} {op} {made[0]};")
        value[...] = result.copy()
        return True

    def st_copy(self):
        name, value = self.random.choice(self.arrays)
        copy = self.name("c")
        self.say(f"{self.random.choice(['auto', 'const auto'])} {copy} = {name};")
        self.kept.append([copy, value.copy()])
        return True

    def st_lazy(self):
        made = self.expression(self.random_shape(), self.any_kind(), 2)
        if made is None or made[1].ndim == 0 or not self.small(made[1]) or made[0].count("(") == 0 or any(n in made[0] for n, _, _ in self.views):
            return False
        if not any(o in made[0] for o in (" + ", " - ", " * ")):
            return False
        lazy = self.name("e")
        self.say(f"const auto {lazy} = {made[0]};")
        self.kept.append([lazy, np.array(made[1])])
        return True

    def st_view(self):
        r = self.random
        name, value = r.choice(self.arrays)
        rank = r.randint(1, value.ndim)
        shape = tuple(r.randint(min(1, e), e) for e in r.sample(list(value.shape), rank))
        found = self.view_to(name, value, shape, exact=True)
        if found is None or not isinstance(found[1], np.ndarray) or found[0] == name:
            return False
        view = self.name("v")
        self.say(f"auto {view} = {found[0]};")
        self.views.append([view, found[1], name])
        return True

    def st_reduce(self):
        r = self.random
        made = self.expression(self.random_shape(), r.choice(["f", "f", "iu", "b", "fc"]), r.randint(0, 2))
        if made is None or made[1].ndim == 0 or not self.small(made[1]):
            return False
        text, value = made
        axes = sorted(r.sample(range(value.ndim), r.randint(1, value.ndim)))
        k = kind(value.dtype)
        ops = [("sum", np.sum)]
        if k == "f":
            ops += [("mean", np.mean), ("tt::max", np.max), ("tt::min", np.min), ("variance", np.var)]
        if k in "iu":
            ops += [("tt::max", np.max), ("tt::min", np.min), ("prod", np.prod)]
        if k == "b":
            ops = [("any", np.any), ("tt::all", np.all), ("count_nonzero", np.count_nonzero)]
        op, f = r.choice(ops)
        if op != "sum" and op not in ("any", "tt::all", "count_nonzero", "prod") and value.size == 0:
            return False
        if op in ("mean", "variance") and 0 in value.shape:
            return False
        keep = r.random() < 0.3
        arguments = str(axes[0] - (value.ndim if r.random() < 0.3 else 0)) if len(axes) == 1 else f"tt::axes{{{', '.join(map(str, axes))}}}"
        result = np.asarray(f(value, axis=tuple(axes), keepdims=keep))
        name = self.name("a")
        if result.ndim == 0:
            self.say(f"const auto {name} = tt::full({{1}}, {op}({text}));" if r.random() < 0.5 else f"tt::tensor {name} = tt::full({{1}}, {op}({text}, {arguments}));")
            result = result.reshape(1)
            self.kept.append([name, result])
            return True
        self.say(f"auto {name} = tt::eval({op}({text}, {arguments}{', tt::keepdims' if keep else ''}));")
        if self.small(result) and result.dtype in NAMES:
            self.arrays.append([name, np.array(result, order="C")])
        else:
            self.kept.append([name, np.array(result)])
        return True

    def st_take(self):
        r = self.random
        name, value = r.choice(self.sources())
        axis = r.randrange(value.ndim)
        if value.shape[axis] == 0 or kind(value.dtype) == "b":
            return False
        n = r.choice([0, 1, 3, 10])
        e = value.shape[axis]
        index = [r.randint(-e, e - 1) for _ in range(n)]
        out = self.name("a")
        i = self.name("i")
        self.say(f"const tt::tensor<int, 1> {i}" + (f"{{{', '.join(map(str, index))}}};" if n else "(0);"))
        if r.random() < 0.5 or value.ndim > 3:
            self.say(f"auto {out} = tt::eval(take({name}, {i}, {axis}));")
            self.arrays.append([out, np.array(np.take(value, np.array(index, int), axis), order="C")])
            return True
        shape = list(value.shape)
        shape[axis] = n
        src = self.leaf(tuple(shape), kind(value.dtype))
        if src is None or src[1].dtype != value.dtype:
            return False
        full = np.random.default_rng(r.getrandbits(60)).integers(-e, e, shape).astype(np.int64)
        np.save(os.path.join(self.folder, f"{i}.npy"), full)
        self.lines[-1] = f'const auto {i} = tt::load_npy<std::int64_t, {value.ndim}>("{i}.npy");'
        expected = np.array(value, order="C")
        where = list(np.indices(shape))
        where[axis] = full
        np.add.at(expected, tuple(where), np.broadcast_to(src[1], shape))
        if not self.small(expected):
            return False
        source = src[0] if src[1].shape == tuple(shape) else f"broadcast_to({src[0]}, {{{', '.join(map(str, shape))}}})"
        self.say(f"auto {out} = tt::eval(scatter_add({name}, {axis}, {i}, {source}));")
        self.arrays.append([out, expected])
        return True

    def st_gather(self):
        r = self.random
        name, value = r.choice(self.sources())
        axis = r.randrange(value.ndim)
        if value.size == 0 or kind(value.dtype) == "b" or value.ndim > 3:
            return False
        shape = list(value.shape)
        shape[axis] = r.choice([1, 2, 5])
        e = value.shape[axis]
        index = np.random.default_rng(r.getrandbits(60)).integers(-e, e, shape).astype(np.int64)
        i, out = self.name("i"), self.name("a")
        np.save(os.path.join(self.folder, f"{i}.npy"), index)
        self.say(f'const auto {i} = tt::load_npy<std::int64_t, {value.ndim}>("{i}.npy"); auto {out} = tt::eval(gather({name}, {axis}, {i}));')
        self.arrays.append([out, np.array(np.take_along_axis(value, index, axis), order="C")])
        return True

    def st_rows(self):
        """softmax, log_softmax and logsumexp along an axis."""
        r = self.random
        made = self.expression(self.random_shape(), "f", r.randint(0, 1))
        if made is None or made[1].ndim == 0 or made[1].size == 0 or not self.small(made[1]):
            return False
        text, value = made
        axis = r.randrange(value.ndim)
        top = np.max(value, axis, keepdims=True)
        total = np.sum(np.exp(value - top), axis, keepdims=True)
        op, result = r.choice([("softmax", np.exp(value - top) / total), ("log_softmax", value - top - np.log(total)), ("logsumexp", np.squeeze(top + np.log(total), axis))])
        out = self.name("a")
        if result.ndim == 0:
            return False
        self.say(f"auto {out} = tt::eval({op}({text}, {axis}));")
        self.arrays.append([out, np.array(result, order="C")])
        return True

    def st_loop(self):
        """A loop over the first axis that writes into its rows."""
        r = self.random
        name, value = r.choice(self.arrays)
        if value.ndim < 2 or value.shape[0] > 9 or kind(value.dtype) not in "fic":
            return False
        made = self.expression(value.shape[1:], {"f": "f", "i": "i", "c": "c"}[kind(value.dtype)], r.randint(0, 1))
        read = set(re.findall(r"\w+", made[0])) if made else set()
        if made is None or made[1].dtype != value.dtype or name in read or any(n in read for n, _, base in self.views if base == name):
            return False
        result = value.copy()
        if r.random() < 0.5:
            line = f"for (auto row : {name}) row += {made[0]};"
            result += made[1]
        else:
            line = f"for (tt::index_t i = 1; i < {name}.extent(0); ++i) {name}(i) = {name}(i - 1) - {made[0]};"
            for i in range(1, value.shape[0]):
                result[i] = result[i - 1] - made[1]
        if not self.small(result):
            return False
        self.say(line)
        value[...] = result
        return True

    def st_cast(self):
        made = self.expression(self.random_shape(), self.random.choice(["f", "iu", "b"]), self.random.randint(0, 2))
        if made is None or made[1].ndim == 0:
            return False
        text, value = made
        target = self.random.choice([t for t in TYPES.values() if not self.doubles or t not in (np.float32, np.complex64)])
        if kind(value.dtype) == "f" and kind(target) in "iu" and (np.any(np.abs(value) > 100) or (kind(target) == "u" and np.any(value < 0))):
            return False
        name = self.name("a")
        self.say(f"auto {name} = tt::eval(tt::to<{NAMES[np.dtype(target)]}>({text}));")
        self.arrays.append([name, value.astype(target, order="C")])
        return True

    def st_matmul(self):
        r = self.random
        for _ in range(20):
            (n1, a), (n2, b) = r.choice(self.sources()), r.choice(self.sources())
            if kind(a.dtype) not in "fc" or a.dtype != b.dtype or not self.small(np.sum(np.abs(a)) * np.max(np.abs(b), initial=0) / 10):
                continue
            t1 = t2 = None
            if a.ndim >= 2 and r.random() < 0.3:
                a, t1 = np.swapaxes(a, -1, -2), f"swapaxes({n1}, {a.ndim - 2}, {a.ndim - 1})"
            inner = a.shape[-1]
            axis = max(0, b.ndim - 2)
            if b.shape[axis] < inner:
                continue
            if b.shape[axis] != inner:
                rng = self.range_of(b.shape[axis], inner)
                index = [slice(None)] * b.ndim
                index[axis] = rng[1]
                t2 = f"{n2}({', '.join(rng[0] if x == axis else 'tt::all' for x in range(b.ndim))})"
                b = b[tuple(index)]
            try:
                result = np.matmul(a, b)
            except ValueError:
                continue
            name = self.name("a")
            result = np.asarray(result)
            text = f"matmul({t1 or n1}, {t2 or n2})"
            if result.ndim == 0:
                self.say(f"tt::tensor {name} = tt::full({{1}}, {text});")
                self.kept.append([name, result.reshape(1)])
            else:
                self.say(f"auto {name} = tt::eval({text});")
                self.arrays.append([name, np.array(result, order="C")])
            return True
        return False

    def st_reshape(self):
        r = self.random
        name, value = r.choice(self.arrays)
        if value.size == 0:
            return False
        factors, left = [], value.size
        while left > 1 and len(factors) < 3:
            d = r.choice([d for d in range(1, left + 1) if left % d == 0])
            factors.append(d)
            left //= d
        factors.append(left)
        r.shuffle(factors)
        factors = factors[:4] if np.prod(factors[:4]) == value.size else [value.size]
        view = self.name("v")
        self.say(f"auto {view} = reshape({name}, {', '.join(map(str, factors))});")
        self.views.append([view, value.reshape(factors), name])
        assert np.shares_memory(self.views[-1][1], value)
        return True

    def write(self, size, folder):
        self.folder = folder
        for _ in range(5):
            self.new_array()
        self.new_array((self.random.randint(2, 9), self.random.randint(2, 40)), np.float64)
        self.new_array((self.random.randint(2, 9), self.random.randint(2, 40)), np.float32)
        left = size
        with np.errstate(all="ignore"):
            while left > 0:
                f = self.random.choice([self.st_new] * 4 + [self.st_write] * 8 + [self.st_whole] * 3 + [self.st_copy, self.st_lazy, self.st_view, self.st_view, self.st_reduce, self.st_reduce, self.st_reduce, self.st_take,
                                                                                              self.st_cast, self.st_matmul, self.st_reshape, self.st_gather, self.st_rows, self.st_loop])
                before = len(self.lines)
                if f():
                    left -= 1
                    if len(self.arrays) > 14:  # rather the late ones
                        del self.arrays[self.random.randrange(5)]
                else:
                    del self.lines[before:]
        for n, v in self.sources() + [(n, v) for n, v in self.kept]:
            self.say(f'report("{n}", {n});')
        body = "\n  ".join(self.lines)
        return f"""#include <complex>
#include <cstdint>
#include <cstdio>
#include <type_traits>
#include <ttensor/all.hpp>

namespace tt = ttensor;
template <class A> void report(const char* name, const A& a) {{ tt::save_npy(std::string("out_") + name + ".npy", tt::eval(a)); }}
int main() {{
  {body}
}}
"""


def differs(ours, theirs, single):
    if ours.dtype != theirs.dtype:
        return f"element type {ours.dtype}, NumPy {theirs.dtype}"
    if ours.shape != theirs.shape:
        return f"shape {ours.shape}, NumPy {theirs.shape}"
    if theirs.dtype.kind in "fc":
        eps = np.finfo(np.float32 if single else theirs.dtype).eps
        scale = max(1.0, float(np.max(np.abs(theirs), initial=0)))
        with np.errstate(all="ignore"):
            bad = ~((np.abs(ours - theirs) <= 2000 * eps * scale) | (np.isnan(ours) & np.isnan(theirs)) | (ours == theirs))
    else:
        bad = ours != theirs
    if not np.any(bad):
        return None
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"{np.count_nonzero(bad)} of {bad.size} elements, first at {at}: {ours[at]}, NumPy {theirs[at]}"


def run(seed, options):
    folder = tempfile.mkdtemp(prefix=f"random_arrays_{seed}_")
    writer = Writer(seed)
    source = writer.write(options.size, folder)
    path = os.path.join(folder, "program.cpp")
    with open(path, "w", encoding="utf-8") as out:
        out.write(source)
    command = [options.compiler, "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", *options.flags.split(), "-I", INCLUDE, path, "-o", os.path.join(folder, "program")]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode:
        print(f"seed {seed}: does not compile: {folder}\n{built.stderr[:1500]}", flush=True)
        return False
    ran = subprocess.run([os.path.join(folder, "program")], cwd=folder, capture_output=True, text=True)
    if ran.returncode:
        print(f"seed {seed}: exit status {ran.returncode}: {folder}\n{ran.stderr[:1500]}", flush=True)
        return False
    failed = 0
    for name, value in [(n, v) for n, v in writer.sources()] + [(n, v) for n, v in writer.kept]:
        problem = differs(np.load(os.path.join(folder, f"out_{name}.npy")), np.asarray(value), not writer.doubles)
        if problem:
            failed += 1
            print(f"seed {seed}: {name}: {problem}: {folder}", flush=True)
    if not failed:
        shutil.rmtree(folder)
    return failed == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--size", type=int, default=30, help="statements of a program")
    parser.add_argument("--flags", default="-O1")
    parser.add_argument("--compiler", default="g++")
    options = parser.parse_args()
    good = sum(run(seed, options) for seed in range(options.first, options.first + options.count))
    print(f"{good} of {options.count} agree")
    return 0 if good == options.count else 1


if __name__ == "__main__":
    sys.exit(main())
