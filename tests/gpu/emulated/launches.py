#!/usr/bin/env python3
"""Copies CUDA sources so that a plain C++ compiler takes them: launches become calls of the emulator (emulator.hpp).

    launches.py <directory> <copies> <file>...     files relative to <directory>; each is written below <copies> under the same name
    launches.py --self-test

    kernel<A, B><<<grid, block, shared, stream>>>(x, y)     becomes
    ::cuda_emulator::launch({grid, block, shared, stream}, [](const auto&... of_kernel) { kernel<A, B>(of_kernel...); }, x, y)

Lines stay where they are, and compilers name the original file. Includes of files that are not copied with them are written out
from <directory>, so that only files with launches, and those that stand between them and a program, need a copy.
"""
import pathlib
import posixpath
import re
import sys

QUOTED_INCLUDE = re.compile(r'^([ \t]*#[ \t]*include[ \t]*)"([^"]+)"', re.M)
KERNEL = re.compile(r"[\w:]+$")
PAIRS = {")": "(", ">": "<"}


def opening(text, close):
    """The place of the bracket that text[close] closes."""
    depth = 0
    for at in range(close, -1, -1):
        depth += (text[at] == text[close]) - (text[at] == PAIRS[text[close]])
        if depth == 0:
            return at
    raise ValueError("a bracket that nothing opens")


def closing(text, start):
    """The place of the parenthesis that closes the one at text[start]."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at
    raise ValueError("a parenthesis that nothing closes")


def rewrite(text):
    """The text with each launch as a call."""
    done = ""
    while (chevrons := text.find("<<<")) >= 0:
        name_end = opening(text, chevrons - 1) if text[chevrons - 1] == ">" else chevrons
        name = KERNEL.search(text, 0, name_end)
        after = text.find(">>>", chevrons)
        if not name or after < 0 or text[after + 3] != "(":
            raise ValueError("<<< that is no launch: " + text[chevrons:chevrons + 60])
        end = closing(text, after + 3)
        kernel, arguments = text[name.start():chevrons], text[after + 4:end]
        done += (text[:name.start()] + "::cuda_emulator::launch({" + text[chevrons + 3:after] + "}, [](const auto&... of_kernel) { " + kernel +
                 "(of_kernel...); }" + (", " if arguments.strip() else "") + arguments + ")")
        text = text[end + 1:]
    return done + text


def copy(directory, copies, names):
    for name in names:
        def written_out(include):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), include[2]))
            return include[0] if target in names else f"{include[1]}<{target}>"
        source, target = directory / name, copies / name
        try:
            text = rewrite(QUOTED_INCLUDE.sub(written_out, source.read_text()))
        except ValueError as error:
            sys.exit(f"launches.py: {source}: {error}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f'#line 1 "{source.as_posix()}"\n{text}')


SELF_TESTS = [
    ("a(); f<<<1, n>>>(x, g(y)); b();",
     "a(); ::cuda_emulator::launch({1, n}, [](const auto&... of_kernel) { f(of_kernel...); }, x, g(y)); b();"),
    ("gpu::f<A, B<c>><<<h(1, 2), 3,\n  0, s>>>();",
     "::cuda_emulator::launch({h(1, 2), 3,\n  0, s}, [](const auto&... of_kernel) { gpu::f<A, B<c>>(of_kernel...); });"),
    ("if (a << 1 < b && c >> 1) f();", None),
]


def self_test():
    wrong = [text for text, expected in SELF_TESTS if rewrite(text) != (text if expected is None else expected)]
    for text in ("x <<< 3;", "f<<<1, 1>>>(a"):
        try:
            rewrite(text)
            wrong.append(text)
        except ValueError:
            pass
    sys.exit("launches.py: wrong for " + repr(wrong) if wrong else 0)


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    copy(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:])
