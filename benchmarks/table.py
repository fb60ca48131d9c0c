#!/usr/bin/env python3
"""Runs a benchmark program, contenders interleaved in one process, and prints medians and ratios as a Markdown table.

    table.py <program> [filter] [--repetitions 7] [--seconds 0.02] [--core 1] [--all] [--apart]

The floor of a row is the fastest contender whose name starts with `hand`, Eigen the fastest whose name starts with `eigen`. Every
contender whose name starts with `ttensor` has a line. With --all every contender has one. With --apart every
row has a process of its own.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile


def rows_of(program, pattern):
    listed = subprocess.run([program, f"--benchmark_filter={pattern}", "--benchmark_list_tests=true"], check=True, capture_output=True, text=True).stdout
    return dict.fromkeys("/".join(line.split("/")[:3]) for line in listed.splitlines())


def measure(program, pattern, repetitions, seconds, core):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [program, f"--benchmark_filter={pattern}", f"--benchmark_repetitions={repetitions}", f"--benchmark_min_time={seconds}",
                   "--benchmark_enable_random_interleaving=true", f"--benchmark_out={out.name}", "--benchmark_out_format=json"]
        if core >= 0:
            command = ["taskset", "-c", str(core)] + command
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return json.load(open(out.name))


def scaled(ns):
    for unit, size in (("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("filter", nargs="?", default=".")
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--seconds", default="0.02")
    parser.add_argument("--core", type=int, default=1)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--apart", action="store_true")
    args = parser.parse_args()
    rows = {}
    program = os.path.abspath(args.program)
    patterns = [f"^{row}/" for row in rows_of(program, args.filter)] if args.apart else [args.filter]
    runs = [run for pattern in patterns for run in measure(program, pattern, args.repetitions, args.seconds, args.core)["benchmarks"]]
    for run in runs:
        if run.get("run_type") != "iteration":
            continue
        row, kind, n, who = run["run_name"].split("/")[:4]
        if run.get("error_occurred"):
            print(f"{run['run_name']}: {run['error_message']}")
            continue
        scale = {"ns": 1, "us": 1e3, "ms": 1e6}[run["time_unit"]]
        rows.setdefault((row, kind, int(n)), {}).setdefault(who, []).append(run["real_time" if "real_time" in run["run_name"] else "cpu_time"] * scale)
    ratio = lambda a, b: f"{a / b:.2f}" if a and b else ""
    if args.all:
        print("| row | type | n | contender | median | / floor | / ttensor |\n|---|---|---|---|---|---|---|")
    else:
        print("| row | type | n | floor | ttensor | ttensor / floor | Eigen / floor | ttensor / Eigen |\n|---|---|---|---|---|---|---|---|")
    for (row, kind, n), who in sorted(rows.items()):
        median = {name: statistics.median(times) for name, times in who.items()}
        fastest = lambda start: min((name for name in median if name.startswith(start)), key=median.get, default=None)
        best = fastest("hand")
        floor, eigen = median.get(best), median.get(fastest("eigen"))
        if args.all:
            for name in sorted(median, key=median.get):
                print(f"| {row} | {kind} | {n} | {name} | {scaled(median[name])} | {ratio(median[name], floor)} | {ratio(median[name], median.get('ttensor'))} |")
            continue
        for name in sorted(name for name in median if name.startswith("ttensor")):
            ours = median[name]
            print(f"| {row}{name.removeprefix('ttensor').replace('_', ' ')} | {kind} | {n} | {scaled(floor) + ' ' + best if floor else ''} | {scaled(ours)} | "
                  f"{'**' + ratio(ours, floor) + '**' if floor else ''} | {ratio(eigen, floor)} | {ratio(ours, eigen)} |")

if __name__ == "__main__":
    main()
