#!/usr/bin/env python3
"""Compiles every header under include/ as if it were alone.

    check_headers.py [--jobs N] [--thrust-include DIR] [--only TEXT] -- g++ -std=c++20 -Wall ... -Iinclude
    check_headers.py --self-test -- g++ -std=c++20

Everything after -- is the compiler and its options, with -fsyntax-only. A header is included first in an empty source, or after
headers that it includes itself before any code of its own, through others or not, whatever the macros: those add nothing to what it
has alone. So one source holds a chain of headers, each in the reach of the next, and few chains hold them all. The headers of a chain
that fails are compiled alone, to say which. The last one is included twice, the others are when those after them come, so a missing
#pragma once is an error. Umbrellas (headers directly in ttensor/) look at what came before them, and those of Thrust have options of
their own: they are compiled one by one.

Headers in a directory named cuda/ need nvcc and are skipped; headers in a directory named thrust/ are compiled for Thrust's CPP
system when --thrust-include is given.
"""
import argparse
import concurrent.futures
import contextlib
import io
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent / "include"
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
DIRECTIVE = re.compile(r'#[ \t]*(if|endif|include|el|pragma)\w*[ \t]*(?:<([^>]*)>|"([^"]*)")?')


def always_included(root, header):
    """The headers under root that a header includes outside #if and before anything but includes."""
    found, depth = set(), 0
    for line in filter(None, map(str.strip, COMMENT.sub("", (root / header).read_text()).splitlines())):
        directive = DIRECTIVE.match(line)
        if not directive and depth == 0:
            break
        word, angled, quoted = directive.groups() if directive else ("", None, None)
        depth += {"if": 1, "endif": -1}.get(word, 0)
        if word == "include" and depth == 0:
            path = root / angled if angled else (root / header).parent / quoted
            if path.is_file() and root in path.resolve().parents:
                found.add(path.resolve().relative_to(root))
    return found


def reach_of(root, headers):
    """For each header those that it includes, through others or not."""
    reach = {}

    def visit(header):
        if header not in reach:
            reach[header] = set()  # a circle ends here; check_layers.py refuses it
            for other in always_included(root, header):
                reach[header] |= {other} | visit(other)
        return reach[header]

    for header in headers:
        visit(header)
    return reach


def chains(root, headers):
    """The fewest lists in which each header is in the reach of the next: a maximum matching of headers with a next one."""
    single = [h for h in headers if len(h.parts) < 3 or "thrust" in h.parts]
    rest = [h for h in headers if h not in single]
    reach = reach_of(root, rest)
    later = {h: [other for other in rest if h in reach[other] and h != other] for h in rest}
    before = {}  # a header and the one that stands before it

    def find_next(header, tried):
        for other in later[header]:
            if other not in tried:
                tried.add(other)
                if other not in before or find_next(before[other], tried):
                    before[other] = header
                    return True
        return False

    for header in rest:
        find_next(header, set())
    following = {first: second for second, first in before.items()}
    found = [[h] for h in single]
    for header in rest:
        if header not in before:
            chain = [header]
            while chain[-1] in following:
                chain.append(following[chain[-1]])
            found.append(chain)
    if sum(map(len, found)) != len(headers):
        sys.exit("check_headers: headers include each other in a circle")
    return found


def compile_chain(chain, command, thrust_include):
    options = ["-fsyntax-only", "-Werror", "-x", "c++", "-"]
    if any("thrust" in header.parts for header in chain):
        system = "THRUST_DEVICE_SYSTEM_CPP"
        options = ["-DTHRUST_HOST_SYSTEM=THRUST_HOST_SYSTEM_CPP", f"-DTHRUST_DEVICE_SYSTEM={system}",
                   # -idirafter: works for /usr/include too, and is a system directory as well.
                   "-idirafter", thrust_include] + options
    text = "".join(f"#include <{header.as_posix()}>\n" for header in chain + chain[-1:])
    start = time.monotonic()
    run = subprocess.run(command + options, input=text, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return run.returncode, run.stdout, time.monotonic() - start


def check_chain(chain, command, thrust_include):
    """Returns (the header that failed or None, its text, seconds)."""
    status, text, seconds = compile_chain(chain, command, thrust_include)
    if status == 0:
        return None, "", seconds
    for header in chain[:-1]:
        alone, output, _ = compile_chain([header], command, thrust_include)
        if alone != 0:  # those after it include it
            return header, f"--- {header} does not compile alone\n{output[:4000]}", seconds
    return chain[-1], f"--- {chain[-1]} does not compile alone or after headers that it includes\n{text[:4000]}", seconds


def check(root, headers, command, jobs, thrust_include=None):
    """Returns ({header that failed: text}, number of chains, (seconds, header) of the slowest)."""
    failed, slowest = {}, (0.0, "")
    found = chains(root, headers)
    with concurrent.futures.ThreadPoolExecutor(max(1, jobs)) as pool:
        work = {pool.submit(check_chain, chain, command, thrust_include): chain for chain in found}
        for done in concurrent.futures.as_completed(work):
            wrong, text, seconds = done.result()
            slowest = max(slowest, (seconds, work[done][-1].as_posix()))
            if wrong and wrong not in failed:
                failed[wrong] = text
                print(text, flush=True)
    return failed, len(found), slowest


SELF_TESTS = [  # (the headers and what is in them, those that must fail)
    ({"a/one.hpp": "#pragma once\n#include <vector>\nstruct one { std::vector<int> v; };\n",
      "a/two.hpp": '#pragma once\n#include "one.hpp"\nstruct two { one first; std::vector<int> v; };\n'}, []),
    # What another header brings counts for those only that include it.
    ({"a/one.hpp": "#pragma once\n#include <vector>\n", "b/two.hpp": "#pragma once\nstruct two { std::vector<int> v; };\n",
      "c/three.hpp": '#pragma once\n#include <ttensor/a/one.hpp>\n#include "../b/two.hpp"\nstruct three { two t; };\n'}, ["b/two.hpp"]),
    ({"a/one.hpp": "struct one {};\n", "a/two.hpp": '#pragma once\n#include "one.hpp"\n'}, ["a/one.hpp"]),
    ({"a/one.hpp": "#pragma once\n#include <vector>\n",
      "a/two.hpp": '#pragma once\n#ifdef UNKNOWN\n#include "one.hpp"\n#endif\nstruct two { std::vector<int> v; };\n'}, ["a/two.hpp"]),
    # What stands before an include sees nothing of it.
    ({"a/one.hpp": "#pragma once\nstruct one {};\n", "a/two.hpp": '#pragma once\none f();\n#include "one.hpp"\n'}, ["a/two.hpp"]),
    # Through another header; in a comment.
    ({"a/one.hpp": "#pragma once\n#include <vector>\n", "a/two.hpp": '#pragma once\n#include "one.hpp"\n',
      "a/three.hpp": '#pragma once\n#include "two.hpp"\nint g(std::vector<int>);\n'}, []),
    ({"a/one.hpp": "#pragma once\n#include <vector>\n", "a/two.hpp": '#pragma once\n/*\n#include "one.hpp"\n*/\nint g(std::vector<int>);\n'}, ["a/two.hpp"]),
    # Umbrellas are alone.
    ({"a/one.hpp": "#pragma once\n#ifndef SEEN\n#define SEEN\n#endif\n", "all.hpp": '#pragma once\n#ifdef SEEN\n#error seen\n#endif\n#include "a/one.hpp"\n'}, []),
    ({"a/one.hpp": '#pragma once\n#include "two.hpp"\n', "a/two.hpp": '#pragma once\n#include "one.hpp"\n'}, None),  # a circle
]


def self_test(command):
    wrong = 0
    for number, (files, expected) in enumerate(SELF_TESTS):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory).resolve()
            for name, text in files.items():
                path = root / "ttensor" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            headers = [pathlib.Path("ttensor") / name for name in sorted(files)]
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    failed = sorted(check(root, headers, command + [f"-I{root}"], 2)[0])
            except SystemExit:
                failed = None
            if failed != (expected if expected is None else [pathlib.Path("ttensor") / name for name in expected]):
                wrong += 1
                print(f"self-test {number}: expected {expected}, got {failed}")
    print(f"check_headers self-test: {len(SELF_TESTS) - wrong} of {len(SELF_TESTS)} right")
    return 1 if wrong else 0


def main():
    argv = sys.argv[1:]
    if "--" not in argv:
        sys.exit(__doc__)
    split = argv.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--thrust-include")
    parser.add_argument("--only", default="", help="only headers whose path contains this")
    parser.add_argument("--self-test", action="store_true")
    arguments, command = parser.parse_args(argv[:split]), argv[split + 1:]
    if arguments.self_test:
        return self_test(command)

    headers, skipped = [], []
    for path in sorted(ROOT.rglob("*.hpp")):
        header = path.relative_to(ROOT)
        if arguments.only not in header.as_posix():
            continue
        gpu_only = "cuda" in header.parts or ("thrust" in header.parts and not arguments.thrust_include)
        (skipped if gpu_only else headers).append(header)
    if not headers:
        sys.exit("check_headers: no header found")

    failed, count, slowest = check(ROOT, headers, command, arguments.jobs, arguments.thrust_include)
    print(f"{len(headers) - len(failed)} of {len(headers)} headers compile alone, in {count} chains; {len(skipped)} skipped (CUDA or no Thrust); "
          f"slowest {slowest[1]} {slowest[0]:.1f} s")
    for header in sorted(failed):
        print(f"failed: {header}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
