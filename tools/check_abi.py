#!/usr/bin/env python3
"""Shows that objects built for different instruction sets can be linked together.

    check_abi.py --nm NM --objdump OBJDUMP --allow FILE --baseline A.o --wide B.o [C.o ...]

1. No weak or common symbol that mentions ttensor is defined in two of the objects, except those that a line of FILE
   matches: the linker keeps one copy of such a symbol, and it could be the one with the wider instructions.
2. The code of an allowed symbol uses no vector register in the wide objects: even xmm moves are encoded in a way there
   that an older processor refuses.
3. The baseline object uses no ymm, zmm or mask register.
4. The wide objects do use ymm or zmm, so that the check would have seen something.
"""
import argparse
import itertools
import pathlib
import re
import subprocess
import sys

VECTOR_REGISTER = re.compile(r"%[xyz]mm\d+|%k[0-7]\b")
WIDE_REGISTER = re.compile(r"%[yz]mm\d+|%k[0-7]\b")


def output(*command):
    return subprocess.run(command, text=True, check=True, stdout=subprocess.PIPE).stdout


def shared_symbols(nm, path):
    """Demangled weak (W, V) and unique (u) definitions that mention ttensor."""
    symbols = set()
    for line in output(nm, "-C", "--defined-only", path).splitlines():
        fields = line.split(" ", 2)
        if len(fields) == 3 and fields[1] in "WVu" and "ttensor" in fields[2]:
            symbols.add(fields[2])
    return symbols


def instructions(objdump, path, register):
    """(function, instruction) for each instruction that names such a register."""
    function, found = "", []
    for line in output(objdump, "-dC", "--no-show-raw-insn", path).splitlines():
        if line.endswith(">:"):
            function = line.split("<", 1)[1][:-2]
        elif register.search(line):
            found.append((function, line.split(":", 1)[1].strip()))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--objdump", default="objdump")
    parser.add_argument("--allow", type=pathlib.Path, required=True)
    parser.add_argument("--baseline", required=True)
    parser.add_argument("--wide", nargs="+", required=True)
    arguments = parser.parse_args()

    lines = [line.strip() for line in arguments.allow.read_text().splitlines()]
    allowed = [re.compile(line) for line in lines if line and not line.startswith("#")]
    objects = {path: shared_symbols(arguments.nm, path) for path in [arguments.baseline, *arguments.wide]}
    problems = []
    for path, symbols in objects.items():
        print(f"{path}: {len(symbols)} weak symbols of ttensor")
        if not symbols:
            problems.append(f"{path}: no weak symbol mentions ttensor; the test sees nothing")
    def is_allowed(symbol):
        return any(pattern.fullmatch(symbol) for pattern in allowed)

    shared = set()
    for (a, first), (b, second) in itertools.combinations(objects.items(), 2):
        shared |= first & second
        problems += [f"in {pathlib.Path(a).parent.name} and {pathlib.Path(b).parent.name}: {symbol}"
                     for symbol in sorted(first & second) if not is_allowed(symbol)]
    problems += [f"baseline object, {function}: {text}"
                 for function, text in instructions(arguments.objdump, arguments.baseline, WIDE_REGISTER)[:10]]
    for path in arguments.wide:
        found = instructions(arguments.objdump, path, VECTOR_REGISTER)
        problems += [f"{pathlib.Path(path).parent.name}, allowed symbol {function}: {text}"
                     for function, text in found if function in shared and is_allowed(function)]
        if not any(WIDE_REGISTER.search(text) for _, text in found):
            problems.append(f"{path}: no wide register at all; is it built with the right -march?")
    print(f"{len(shared)} shared symbols, {sum(map(is_allowed, shared))} allowed")
    for problem in problems:
        print(f"error: {problem}")
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
