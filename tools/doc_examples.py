#!/usr/bin/env python3
"""Turns the ```cpp blocks of a Markdown page into a doctest program, so that what the page says compiles and runs.

    doc_examples.py PAGE.md OUT.cpp
    doc_examples.py --self-test

The first block is what all others start with; every other block is a test case, named after its heading. Statements are
compiled as they stand, and an expression whose value is a bool must be true: `sum(x) == 6;`. Templates and structs go to
namespace scope. Line numbers are those of the page.
"""
import pathlib
import re
import sys

DECLARATION = re.compile(r"^(const|constexpr|auto|using|for|if|\{|(tt|std)::\w+(<[^()]*>)?\s+\w)")
HEAD = """// Made by tools/doc_examples.py from {page}; change that instead.
#include <doctest/doctest.h>
#include <ttensor/all.hpp>
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <map>
#include <string>
namespace tt = ttensor;
namespace {{
struct page_line {{
  int number;
  page_line(int n) : number(n) {{}}
}};
template <class T> void operator,(T&& value, page_line line) {{
  if constexpr (std::is_same_v<std::remove_cvref_t<T>, bool>) {{
    CHECK_MESSAGE(value, "{page}:", line.number, " does not hold");
  }} else {{
    static_cast<void>(value), static_cast<void>(line);
  }}
}}
}}  // namespace
"""


def statements(text):
    """Splits at the semicolons outside of brackets, strings and comments; yields (offset of the first character, statement)."""
    depth, start, i, current = 0, 0, 0, ""
    while i < len(text):
        c = text[i]
        if text.startswith("//", i):
            i = text.find("\n", i) if "\n" in text[i:] else len(text)
            continue
        if c == '"':
            stop = i + 1
            while text[stop] != '"':
                stop += 2 if text[stop] == "\\" else 1
            current += text[i:stop + 1]
            i = stop + 1
            continue
        if not current.strip():
            start = i
        depth += (c in "([{") - (c in ")]}")
        if c == ";" and depth == 0:
            yield start, current.strip()
            current = ""
        else:
            current += c
        i += 1
    if current.strip():
        raise ValueError(f"a statement without its semicolon: {current.strip()}")


def blocks(text):
    """Yields (heading, number of the first line, code)."""
    heading, code, first, inside = "", [], 0, False
    for number, line in enumerate(text.splitlines(), 1):
        if inside and line.startswith("```"):
            yield heading, first, "\n".join(code) + "\n"
            inside = False
        elif inside:
            code.append(line)
        elif line.strip() == "```cpp":
            inside, code, first = True, [], number + 1
        elif line.startswith("#"):
            heading = line.lstrip("# ").replace('"', "'").replace("`", "")


def program(text, page):
    scope, cases, common = [], [], ""
    for index, (heading, first, code) in enumerate(blocks(text)):
        body = []
        for offset, statement in statements(code):
            number = first + code.count("\n", 0, offset)
            marked = f'#line {number} "{page}"\n'
            if re.match(r"(template|struct)\b", statement):
                scope.append(f"{marked}{statement};\n")
            elif DECLARATION.match(statement):
                body.append(f"{marked}[[maybe_unused]] {statement};\n" if not re.match(r"using|for|if|\{", statement) else f"{marked}{statement};\n")
            else:
                body.append(f"{marked}({statement}), page_line({number});\n")
        if index == 0:
            common = "".join(body)
        else:
            cases.append(f'TEST_CASE("{heading} {first}") {{\n{common}' + "".join(body) + "}\n")
    return HEAD.format(page=page) + "namespace {\n" + "".join(scope) + "}\n" + "\n".join(cases)


def self_test():
    page = "# A\n```cpp\nint n = 1;\n```\n## B\n```cpp\nn == 1;  // why; really\nconst auto s = std::string(\"a;b\"); f(s, [] { g(); });\ntemplate <class T> struct p { T w; };\n```\n"
    made = program(page, "page.md")
    wanted = ['TEST_CASE("B 7")', "(n == 1), page_line(7);", '[[maybe_unused]] const auto s = std::string("a;b");', "(f(s, [] { g(); })), page_line(8);",
              'namespace {\n#line 9 "page.md"\ntemplate <class T> struct p { T w; };']
    missing = [w for w in wanted if w not in made]
    for w in missing:
        print(f"self-test: no {w!r} in\n{made}")
    try:
        program("# A\n```cpp\nf()\n```\n", "page.md")
        missing.append("an error")
    except ValueError:
        pass
    print(f"doc_examples self-test: {len(wanted) + 1 - len(missing)} of {len(wanted) + 1} right")
    return 1 if missing else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    page = pathlib.Path(sys.argv[1])
    pathlib.Path(sys.argv[2]).write_text(program(page.read_text(), "/".join(page.parts[-2:])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
