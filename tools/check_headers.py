#!/usr/bin/env python3
"""Compiles every header under include/ alone.

    check_headers.py [--jobs N] [--thrust-include DIR] [--only TEXT] -- g++ -std=c++20 -Wall ... -Iinclude

Everything after -- is the compiler and its options. Each header is included twice in an empty source with
-fsyntax-only, so a missing include or a missing #pragma once is an error. Headers in a directory named cuda/ need nvcc
and are skipped; headers in a directory named thrust/ are compiled for Thrust's CPP system when --thrust-include is given.
"""
import argparse
import concurrent.futures
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent / "include"


def compile_alone(header, command, thrust_include):
    options = ["-fsyntax-only", "-Werror", "-x", "c++", "-"]
    if "thrust" in header.parts:
        system = "THRUST_DEVICE_SYSTEM_CPP"
        options = ["-DTHRUST_HOST_SYSTEM=THRUST_HOST_SYSTEM_CPP", f"-DTHRUST_DEVICE_SYSTEM={system}",
                   # -idirafter: works for /usr/include too, and is a system directory as well.
                   "-idirafter", thrust_include] + options
    line = f"#include <{header.as_posix()}>\n"
    start = time.monotonic()
    run = subprocess.run(command + options, input=line + line, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return header, run.returncode, run.stdout, time.monotonic() - start


def main():
    argv = sys.argv[1:]
    if "--" not in argv:
        sys.exit(__doc__)
    split = argv.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--thrust-include")
    parser.add_argument("--only", default="", help="only headers whose path contains this")
    arguments, command = parser.parse_args(argv[:split]), argv[split + 1:]

    headers, skipped = [], []
    for path in sorted(ROOT.rglob("*.hpp")):
        header = path.relative_to(ROOT)
        if arguments.only not in header.as_posix():
            continue
        gpu_only = "cuda" in header.parts or ("thrust" in header.parts and not arguments.thrust_include)
        (skipped if gpu_only else headers).append(header)
    if not headers:
        sys.exit("check_headers: no header found")

    failed, slowest = [], (0.0, "")
    with concurrent.futures.ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
        work = [pool.submit(compile_alone, h, command, arguments.thrust_include) for h in headers]
        for done in concurrent.futures.as_completed(work):
            header, status, text, seconds = done.result()
            slowest = max(slowest, (seconds, header.as_posix()))
            if status != 0:
                failed.append(header)
                print(f"--- {header} does not compile alone\n{text[:4000]}", flush=True)
    print(f"{len(headers) - len(failed)} of {len(headers)} headers compile alone, {len(skipped)} skipped (CUDA or no Thrust); "
          f"slowest {slowest[1]} {slowest[0]:.1f} s")
    for header in sorted(failed):
        print(f"failed: {header}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
