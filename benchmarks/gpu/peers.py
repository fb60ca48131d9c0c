#!/usr/bin/env python3
"""The work of bench_gpu by PyTorch (eager and torch.compile), JAX and CuPy, whichever are installed: medians of 15, the same bytes per row.

    peers.py [log2 of the size, default 28]
"""
import os
import statistics
import sys

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
n = 2 ** (int(sys.argv[1]) if len(sys.argv) > 1 else 28) + 3


def chain(m):
    return lambda x, z: m.exp(-x * x) * m.sqrt(x) + m.log(z)


def report(library, name, count, median_ms):
    print(f"| {library} | {name} | {median_ms:.4f} | {count / median_ms * 1e-6:.0f} |", flush=True)


def rows(x, z, turn):
    """(name, bytes, function, arguments): `turn` makes (rows, columns) views."""
    for columns in (32, 1024, 65536):
        matrix = turn(x[: n // columns * columns], columns)
        yield f"row sums of {columns} columns", 4 * n, lambda m: (m * m).sum(1), (matrix,)
        yield f"column sums of {columns} columns", 4 * n, lambda m: (m * m).sum(0), (matrix,)
    for side in (4096, 16384):
        if side * side <= n:
            a, b = turn(x[: side * side], side), turn(z[: side * side], side)
            yield f"{side}^2: matrix + row", 8 * side * side, lambda a, r: a + r, (b, z[:side])
            yield f"{side}^2: transposed + 1", 8 * side * side, lambda a: a.T + 1, (a,)
            yield f"{side}^2: matrix + transposed", 12 * side * side, lambda a, b: a + b.T, (b, a)


def with_torch():
    import torch
    torch.manual_seed(1)
    torch._dynamo.config.recompile_limit = 100  # a function for each row, from the same line
    x, z = (torch.rand(n, device="cuda") + 0.25 for _ in range(2))

    def time(library, name, count, f, arguments):
        for _ in range(3):
            f(*arguments)
        times = []
        for _ in range(15):
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            f(*arguments)
            stop.record()
            stop.synchronize()
            times.append(start.elapsed_time(stop))
        report(library, name, count, statistics.median(times))

    y = torch.empty_like(x)
    time("PyTorch", "copy", 8 * n, lambda: y.copy_(x), ())
    del y

    def gradient(f):
        def of(x):
            g, = torch.autograd.grad(f(x).sum(), x)
            return g
        return of

    d2 = lambda v: torch.exp(-v * v) * torch.sin(v)
    v = (torch.rand(10 ** 8, device="cuda", dtype=torch.float64) * 2 - 1).requires_grad_()
    work = [("chain", 12 * n, chain(torch), (x, z)), ("sum((x-z)*(x-z))", 8 * n, lambda x, z: ((x - z) * (x - z)).sum(), (x, z))]
    work += [(name, count, (lambda f: lambda *a: f(*a).contiguous())(f), arguments) for name, count, f, arguments in rows(x, z, lambda a, c: a.view(-1, c))]
    for name, count, f, arguments in work:
        time("PyTorch eager", name, count, f, arguments)
        time("torch.compile", name, count, torch.compile(f, dynamic=False), arguments)
    time("PyTorch eager", "D2: gradient", 16 * 10 ** 8, gradient(d2), (v,))
    time("torch.compile", "D2: gradient", 16 * 10 ** 8, gradient(torch.compile(d2, dynamic=False)), (v,))


def with_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    from time import perf_counter
    x, z = (jax.random.uniform(jax.random.key(k), (n,), jnp.float32) + 0.25 for k in (1, 2))

    def time(name, count, f, arguments):
        f = jax.jit(f)
        for _ in range(3):
            f(*arguments).block_until_ready()
        times = []
        for _ in range(15):  # the clock of the host: ten runs at a time, so that launches and waiting count little
            start = perf_counter()
            for _ in range(10):
                y = f(*arguments)
            y.block_until_ready()
            times.append((perf_counter() - start) * 100)
        report("JAX jit", name, count, statistics.median(times))

    time("chain", 12 * n, chain(jnp), (x, z))
    time("sum((x-z)*(x-z))", 8 * n, lambda x, z: ((x - z) * (x - z)).sum(), (x, z))
    for name, count, f, arguments in rows(x, z, lambda a, c: a.reshape(-1, c)):
        time(name, count, f, arguments)
    v = jax.random.uniform(jax.random.key(3), (10 ** 8,), jnp.float64) * 2 - 1
    time("D2: gradient", 16 * 10 ** 8, jax.grad(lambda v: (jnp.exp(-v * v) * jnp.sin(v)).sum()), (v,))


def with_cupy():
    import cupy
    x, z = (cupy.random.rand(n, dtype=cupy.float32) + cupy.float32(0.25) for _ in range(2))

    def time(name, count, f, arguments):
        for _ in range(3):
            f(*arguments)
        times = []
        for _ in range(15):
            start, stop = cupy.cuda.Event(), cupy.cuda.Event()
            start.record()
            f(*arguments)
            stop.record()
            stop.synchronize()
            times.append(cupy.cuda.get_elapsed_time(start, stop))
        report("CuPy fuse", name, count, statistics.median(times))

    @cupy.fuse()
    def fused_chain(x, z):
        return cupy.exp(-x * x) * cupy.sqrt(x) + cupy.log(z)

    @cupy.fuse()
    def fused_sum(x, z):
        return cupy.sum((x - z) * (x - z))

    time("chain", 12 * n, fused_chain, (x, z))
    time("sum((x-z)*(x-z))", 8 * n, fused_sum, (x, z))


if __name__ == "__main__":
    print(f"n = {n} floats\n\n| library | work | ms | GB/s |\n|---|---|---|---|", flush=True)
    for run in (with_torch, with_jax, with_cupy):
        try:
            run()
        except ImportError as error:
            print(f"| {run.__name__[5:]} | not installed: {error} | | |")
