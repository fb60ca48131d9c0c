#!/usr/bin/env python3
"""Checks what must not compile, and that it fails for the reason given.

    check_compile_fail.py [--jobs N] [--only NAME] FILE... -- g++ -std=c++20 ... -Iinclude
    check_compile_fail.py --self-test -- g++ -std=c++20

A FILE is a preamble (includes, shared declarations) followed by cases:

    #include <ttensor/all.hpp>              the preamble: all lines before the first case; must compile
    // case: ragged_axes                    a name, unique in the file
    // expect: axes must be integers        a regular expression; it must match a line of the compiler's output that
    //                                      holds "error:"; several expect lines: each must match
    // expect_first: captured               the same of the first line that holds "error:", which is what a user reads
    // expect_note: required by .*einsum    the same, but any line of the output counts, except quoted source
    // errors: 1                            optional: so many lines hold "error:", so nothing follows the sentence
    // only: gcc                            optional: skip the case with the other compiler (gcc or clang)
    ...code that must not compile...
    // twin:                                what the case becomes when the mistake is repaired
    ...code that must compile...

A case passes when its code is refused with the expected text AND its twin compiles, so a typo, a missing include or a
renamed function cannot pass as success. Code of a case or a twin is namespace-scope C++; a template's body must be
instantiated to fail. Directives start in the first column.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

DIRECTIVE = re.compile(r"^// (case|expect|expect_first|expect_note|errors|only|twin):\s*(.*?)\s*$")


class Case:
    def __init__(self, name, path, line):
        self.name, self.path, self.line = name, path, line
        self.expect, self.expect_first, self.expect_note, self.only, self.errors = [], [], [], "", None
        self.code, self.twin, self.twin_line, self.code_line = [], None, 0, 0


def parse(path):
    """Returns (preamble text, cases); raises ValueError with a sentence about what is wrong in the file."""
    preamble, cases = [], []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = DIRECTIVE.match(line)
        if found and (found[1] == "case" or cases):
            key, value = found.groups()
            if key == "case":
                if not re.fullmatch(r"\w+", value) or value in [c.name for c in cases]:
                    raise ValueError(f"{path}:{number}: a case needs a unique name of letters, digits and _")
                cases.append(Case(value, path, number))
            elif key == "twin":
                if cases[-1].twin is not None:
                    raise ValueError(f"{path}:{number}: second twin in case {cases[-1].name}")
                cases[-1].twin, cases[-1].twin_line = [], number + 1
            elif cases[-1].code or cases[-1].twin is not None:
                raise ValueError(f"{path}:{number}: {key} must stand before the code of case {cases[-1].name}")
            elif key == "only":
                cases[-1].only = value
            elif key == "errors":
                cases[-1].errors = int(value)
            else:
                getattr(cases[-1], key).append(value)
                re.compile(value)
        elif not cases:
            preamble.append(line)
        elif cases[-1].twin is not None:
            cases[-1].twin.append(line)
        else:
            if not cases[-1].code:
                cases[-1].code_line = number
            cases[-1].code.append(line)
    if not cases:
        raise ValueError(f"{path}: no '// case:' line")
    for case in cases:
        if not (case.expect or case.expect_first or case.expect_note) or not "".join(case.code).strip():
            raise ValueError(f"{path}:{case.line}: case {case.name} needs an expect line and code")
        if case.twin is None or not "".join(case.twin).strip():
            raise ValueError(f"{path}:{case.line}: case {case.name} needs a '// twin:' with code that compiles")
    return "\n".join(preamble) + "\n", cases


class Compiler:
    """Compiles code after a preamble that is compiled once (both g++ and clang pick up the .gch by themselves)."""

    def __init__(self, command, preamble, path, directory):
        self.command, self.path = command, path
        # No colours, English, all on one line: the text is what is tested. A refused case may stop early.
        self.environment = dict(os.environ, LC_ALL="C", GCC_COLORS="")
        self.header = pathlib.Path(directory) / "preamble.hpp"
        # pragma once would warn in a main file; a name that both compilers accept as a header avoids it.
        self.header.write_text(f'#line 1 "{path}"\n{preamble}')
        built = self.run(["-x", "c++-header", str(self.header), "-o", str(self.header) + ".gch"], None)
        self.preamble_error = built.stdout if built.returncode else ""

    def run(self, options, text):
        return subprocess.run(self.command + options, input=text, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=self.environment)

    def __call__(self, line, code):
        text = f'#line {line} "{self.path}"\n' + "\n".join(code) + "\n"
        return self.run(["-include", str(self.header), "-fsyntax-only", "-x", "c++", "-"], text)


def check_case(case, compile_):
    """Returns a list of complaints."""
    refused = compile_(case.code_line, case.code)
    where = f"{case.path}:{case.line}: {case.name}"
    if refused.returncode == 0:
        return [f"{where}: compiles, and must not"]
    lines = [l for l in refused.stdout.splitlines() if not re.match(r"\s*\d*\s+\|", l)]
    errors = [l for l in lines if "error:" in l]
    complaints = []
    for pattern, among in [(p, errors) for p in case.expect] + [(p, errors[:1]) for p in case.expect_first] + [(p, lines) for p in case.expect_note]:
        if not any(re.search(pattern, l) for l in among):
            shown = "\n    ".join(errors[:6])
            complaints.append(f"{where}: refused, but no line says /{pattern}/; the errors are:\n    {shown}")
    if case.errors is not None and len(errors) != case.errors:
        shown = "\n    ".join(errors[:6])
        complaints.append(f"{where}: refused with {len(errors)} errors instead of {case.errors}:\n    {shown}")
    return complaints


def check_file(path, command, jobs, only=""):
    """Returns (number of cases, number skipped, complaints)."""
    try:
        preamble, cases = parse(path)
    except (ValueError, re.error) as problem:
        return 0, 0, [str(problem)]
    version = subprocess.run(command[:1] + ["--version"], text=True, stdout=subprocess.PIPE).stdout
    family = "clang" if "clang" in version else "gcc"
    wanted = [c for c in cases if c.only in ("", family) and only in c.name]
    with tempfile.TemporaryDirectory() as directory, concurrent.futures.ThreadPoolExecutor(max(1, jobs)) as pool:
        compile_ = Compiler(command, preamble, path, directory)
        if compile_.preamble_error:
            return 0, 0, [f"{path}: the preamble does not compile:\n{compile_.preamble_error[:4000]}"]
        complaints = sum(pool.map(lambda c: check_case(c, compile_), wanted), [])
        # All twins at once, each in a namespace of its own; one by one only to say which one is wrong.
        together = []
        for case in wanted:
            together += [f"namespace twin_{case.name} {{", f'#line {case.twin_line} "{path}"'] + case.twin + ["}"]
        if wanted and compile_(1, together).returncode != 0:
            for case, result in zip(wanted, pool.map(lambda c: compile_(c.twin_line, c.twin), wanted)):
                if result.returncode != 0:
                    complaints.append(f"{path}:{case.twin_line}: the twin of {case.name} must compile:\n{result.stdout[:2000]}")
    return len(wanted), len(cases) - len(wanted), complaints


SELF_TESTS = [  # (file text, complaint expected or None)
    ("int g();\n// case: a\n// expect: cannot convert|cannot initialize\nint* p = 1.5;\n// twin:\nint* p = nullptr;\n", None),
    # A body that fails only when the template is instantiated.
    ("template <class T> void f(T) { static_assert(sizeof(T) == 1, \"f wants a byte\"); }\n"
     "// case: a\n// expect: f wants a byte\nvoid h() { f(1.0); }\n// twin:\nvoid h() { f('a'); }\n", None),
    ("// case: a\n// expect: x\nint i = 1;\n// twin:\nint i = 1;\n", "compiles, and must not"),
    ("// case: a\n// expect: another reason\nint* p = 1.5;\n// twin:\nint i = 1;\n", "no line says"),
    ("// case: a\n// expect: .\n// errors: 1\nint* p = 1.5;\n// twin:\nint i = 1;\n", None),
    ("// case: a\n// expect: .\n// errors: 1\nint* p = 1.5;\nint* q = 1.5;\n// twin:\nint i = 1;\n", "with 2 errors instead of 1"),
    ("// case: a\n// expect_first: cannot (convert|initialize)\nint* p = unknown;\nint* q = 1.5;\n// twin:\nint i;\n", "no line says /cannot"),
    ("// case: a\n// expect_first: unknown\nint* p = unknown;\nint* q = 1.5;\n// twin:\nint i;\n", None),
    # The text stands in the quoted source only.
    ("// case: a\n// expect_note: quoted text\nint* p = 1.5; // quoted text\n// twin:\nint i;\n", "no line says"),
    ("// case: a\n// expect: .\nint* p = 1.5;\n// twin:\nint* p = 1.5;\n", "twin of a must compile"),
    ("// case: a\n// expect: .\nint* p = 1.5;\n", "needs a '// twin:'"),
    ("// case: a\nint* p = 1.5;\n// twin:\nint i;\n", "needs an expect line"),
    ("#error broken\n// case: a\n// expect: .\nint* p = 1.5;\n// twin:\nint i;\n", "preamble does not compile"),
]


def self_test(command):
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        for number, (text, expected) in enumerate(SELF_TESTS):
            path = pathlib.Path(directory) / f"self_{number}.cpp"
            path.write_text(text)
            _, _, complaints = check_file(path, command, 1)
            ok = (not complaints) if expected is None else any(expected in c for c in complaints)
            if not ok:
                wrong += 1
                print(f"self-test {number}: expected {expected!r}, got {complaints}")
    print(f"check_compile_fail self-test: {len(SELF_TESTS) - wrong} of {len(SELF_TESTS)} right")
    return 1 if wrong else 0


def main():
    argv = sys.argv[1:]
    if "--" not in argv:
        sys.exit(__doc__)
    split = argv.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments, command = parser.parse_args(argv[:split]), argv[split + 1:]
    if arguments.self_test:
        return self_test(command)
    total = skipped = 0
    complaints = []
    for path in arguments.files:
        count, left_out, found = check_file(path, command, arguments.jobs, arguments.only)
        total, skipped, complaints = total + count, skipped + left_out, complaints + found
    print("\n".join(complaints))
    print(f"{total} cases checked, {skipped} skipped, {len(complaints)} complaints")
    return 1 if complaints or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
