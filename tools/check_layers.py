#!/usr/bin/env python3
"""Checks the floors of include/ttensor; see FLOORS. Prints every offence and exits 1 if there is one.

    check_layers.py [--list] [directory]     default: include/ttensor beside this file's parent
    check_layers.py --self-test

Rules
  floors      a header in ttensor/<floor>/ includes its own floor and lower ones only
  circles     no header includes itself through others, not even inside a floor
  umbrellas   headers directly in ttensor/ may include anything; no floor may include them; each floor has one of its name, which
              brings all its headers but those for GPUs and LEFT_OUT
  length      over 400 lines: a warning; over 600: an error
  once        every header says #pragma once
  xsimd       named in includes of num/ only
  gpu         CUDA, CUB, Thrust and other GPU headers: included only in directories named cuda/ or thrust/, and those
              directories' headers are included only from each other and from umbrellas
  macros      compiler and CUDA macros are looked at in base/config.hpp, base/instruction_set.hpp and num/simd*.hpp (and cuda/ or thrust/)
              only: a warning elsewhere
"""
import pathlib
import re
import sys
import tempfile

# Lower floors first; floors in one group are neighbours and do not see each other.
FLOORS = [["base"], ["shape"], ["num"], ["mem"], ["expr"], ["ops"], ["run"], ["tensor"], ["ad"], ["transform"], ["graph"],
          ["nn", "optim", "data"]]
HEIGHT = {name: height for height, group in enumerate(FLOORS) for name in group}
LEFT_OUT = {"tensor/npy.hpp", "tensor/random.hpp", "tensor/stacked.hpp"}  # all.hpp has them; a user of tensor.hpp would pay for them
WARN_LINES, MAX_LINES = 400, 600
GPU_DIRECTORIES = {"cuda", "thrust"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.S)
GPU_HEADER = re.compile(r"^(cuda[/_.]|cuda\w*\.h|cub/|thrust/|nv/|nccl|nvrtc|nvtx|cublas|cudnn|cufft|curand|cusolver|cusparse|"
                        r"cutlass|cooperative_groups|mma\.h|device_launch_parameters|device_functions)")
COMPILER_MACRO = re.compile(r"^[ \t]*#[ \t]*(?:el)?if.*\b(__CUDACC__|__CUDA_ARCH__|__GNUC__|__clang__|__AVX\w*|__SSE\w*|__ARM_NEON|_MSC_VER)\b", re.M)


def check(root):
    """Returns (errors, warnings, number of headers)."""
    errors, warnings, graph = [], [], {}
    files = sorted(root.rglob("*.hpp"))
    for path in sorted(p for p in root.rglob("*") if p.is_file() and p.suffix not in (".hpp", ".md")):
        errors.append(f"{path.relative_to(root)}: headers end in .hpp; nothing else lives here")
    for path in files:
        name = path.relative_to(root)
        floor = name.parts[0] if len(name.parts) > 1 else None  # None: an umbrella
        for_gpu = bool(GPU_DIRECTORIES & set(name.parts[:-1]))
        text = path.read_text()
        lines = text.count("\n") + (0 if text.endswith("\n") or not text else 1)
        graph[path] = []

        if floor is not None and floor not in HEIGHT:
            errors.append(f"{name}: directory {floor}/ is not a floor; add it to FLOORS in tools/check_layers.py or move the header")
            continue
        if lines > MAX_LINES:
            errors.append(f"{name}: {lines} lines, the ceiling is {MAX_LINES}; split it")
        elif lines > WARN_LINES:
            warnings.append(f"{name}: {lines} lines, over {WARN_LINES}; is there a reason?")
        code = BLOCK_COMMENT.sub(lambda m: "\n" * m[0].count("\n"), text)
        if not re.search(r"^#pragma once[ \t]*$", code, re.M):
            errors.append(f"{name}: no #pragma once")
        if not for_gpu and name.as_posix() not in ("base/config.hpp", "base/instruction_set.hpp") and not name.as_posix().startswith("num/simd"):
            macros = sorted(set(found[1] for found in COMPILER_MACRO.finditer(code)))
            if macros:
                warnings.append(f"{name}: looks at {', '.join(macros)}; only base/config.hpp, base/instruction_set.hpp and num/simd*.hpp should")

        for found in INCLUDE.finditer(code):
            bracket, target = found.groups()
            where = f"{name}:{code.count(chr(10), 0, found.start()) + 1}"
            if target.startswith("ttensor/"):
                file = root / target[len("ttensor/"):]
            elif bracket == '"':
                file = path.parent / target
            else:  # somebody else's header
                if target.startswith("xsimd/") and floor != "num":
                    errors.append(f"{where}: includes <{target}>; xsimd is named in num/ only, use ttensor's pack")
                if GPU_HEADER.match(target) and not for_gpu:
                    errors.append(f"{where}: includes <{target}> outside a directory named cuda/ or thrust/")
                continue
            file = file.resolve()
            if not file.is_file() or root not in file.parents:
                errors.append(f"{where}: includes {target}, which is not a header of ttensor")
                continue
            graph[path].append(file)
            target_name = file.relative_to(root)
            target_floor = target_name.parts[0] if len(target_name.parts) > 1 else None
            if floor is None:
                continue
            if target_floor is None:
                errors.append(f"{where}: includes the umbrella {target_name}; name the header that is needed")
            elif target_floor in HEIGHT and target_floor != floor and HEIGHT[target_floor] >= HEIGHT[floor]:
                errors.append(f"{where}: floor {floor} includes {target_name} of floor {target_floor}, which is not below it")
            if not for_gpu and GPU_DIRECTORIES & set(target_name.parts[:-1]):
                errors.append(f"{where}: includes {target_name}; GPU headers must not enter a CPU-only build")
    errors += incomplete_umbrellas(root, graph)
    errors += [f"circle: {' -> '.join(str(p.relative_to(root)) for p in c)}" for c in circles(graph)]
    return errors, warnings, len(files)


def incomplete_umbrellas(root, graph):
    """Floors whose umbrella is missing or does not bring all their headers."""
    floors = {}
    for path in graph:
        name = path.relative_to(root)
        if len(name.parts) > 1 and name.parts[0] in HEIGHT and not GPU_DIRECTORIES & set(name.parts[:-1]) and name.as_posix() not in LEFT_OUT:
            floors.setdefault(name.parts[0], set()).add(path)
    errors = []
    for floor, headers in sorted(floors.items()):
        umbrella = root / f"{floor}.hpp"
        if umbrella not in graph:
            errors.append(f"{floor}/ has no umbrella {floor}.hpp")
            continue
        reached, work = {umbrella}, [umbrella]
        while work:
            for target in graph.get(work.pop(), []):
                if target not in reached:
                    reached.add(target)
                    work.append(target)
        errors += [f"{floor}.hpp does not bring {p.relative_to(root)}" for p in sorted(headers - reached)]
    return errors


def circles(graph):
    """Every circle that a depth-first walk closes, each as a path that ends where it began."""
    found, state = [], {}
    for start in graph:
        if start in state:
            continue
        state[start], path, work = "open", [start], [iter(graph[start])]
        while work:
            target = next(work[-1], None)
            if target is None:
                state[path.pop()] = "done"
                work.pop()
            elif state.get(target) == "open":
                found.append(path[path.index(target):] + [target])
            elif target not in state:
                state[target] = "open"
                path.append(target)
                work.append(iter(graph[target]))
    return found


SELF_TESTS = {  # name: (files, text that an error must contain, or None); a file is its text, None without #pragma once, False not there; floors get umbrellas
    "clean": ({"base/a.hpp": "", "shape/b.hpp": '#include "../base/a.hpp"\n#include <vector>', "all.hpp": "#include <ttensor/shape/b.hpp>",
               "num/simd.hpp": "#include <xsimd/xsimd.hpp>", "run/cuda/k.hpp": '#include <cuda_runtime.h>\n#include "../r.hpp"', "run/r.hpp": "",
               "device.hpp": "#include <ttensor/run/cuda/k.hpp>\n#include <ttensor/all.hpp>"}, None),
    "upward": ({"base/a.hpp": '#include "../shape/b.hpp"', "shape/b.hpp": ""}, "floor base includes shape/b.hpp"),
    "upward, angle brackets": ({"num/a.hpp": "# include <ttensor/ad/b.hpp>", "ad/b.hpp": ""}, "floor num includes ad/b.hpp"),
    "neighbours": ({"nn/a.hpp": '#include "../optim/b.hpp"', "optim/b.hpp": ""}, "which is not below it"),
    "circle in a floor": ({"base/a.hpp": '#include "b.hpp"', "base/b.hpp": '#include "c.hpp"', "base/c.hpp": '#include "a.hpp"'}, "circle: base/a.hpp"),
    "includes itself": ({"base/a.hpp": '#include "a.hpp"'}, "circle: base/a.hpp -> base/a.hpp"),
    "umbrella from below": ({"ops/a.hpp": "#include <ttensor/all.hpp>", "all.hpp": ""}, "umbrella all.hpp"),
    "unknown floor": ({"utils/a.hpp": ""}, "utils/ is not a floor"),
    "missing": ({"base/a.hpp": '#include "gone.hpp"'}, "not a header of ttensor"),
    "xsimd": ({"ops/a.hpp": "#include <xsimd/xsimd.hpp>"}, "xsimd is named in num/ only"),
    "cuda": ({"mem/a.hpp": "#include <cuda_runtime_api.h>"}, "outside a directory named cuda/"),
    "thrust": ({"run/a.hpp": "#include <thrust/sort.h>"}, "outside a directory named cuda/"),
    "cuda by a detour": ({"run/a.hpp": '#include "cuda/b.hpp"', "run/cuda/b.hpp": ""}, "must not enter a CPU-only build"),
    "long": ({"base/a.hpp": "\n" * 600}, "the ceiling is 600"),
    "no pragma once": ({"base/a.hpp": None}, "no #pragma once"),
    "commented out": ({"base/a.hpp": '/*\n#include "../shape/b.hpp"\n*/\n// #include "../shape/b.hpp"', "shape/b.hpp": ""}, None),
    "no umbrella": ({"base/a.hpp": "", "base.hpp": False}, "base/ has no umbrella"),
    "half an umbrella": ({"base/a.hpp": "", "base/b.hpp": "", "base.hpp": '#include "base/b.hpp"'}, "base.hpp does not bring base/a.hpp"),
    "left out": ({"tensor/npy.hpp": "", "tensor.hpp": ""}, None),
    "wrong suffix": ({"base/a.hpp": "", "base/b.h": ""}, "headers end in .hpp"),
}


def self_test():
    wrong = 0
    for name, (files, expected) in SELF_TESTS.items():
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory).resolve() / "ttensor"
            floors = {pathlib.Path(file).parts[0] for file in files if file.endswith(".hpp") and len(pathlib.Path(file).parts) > 1}
            umbrellas = {f"{floor}.hpp": "\n".join(f'#include "{file}"' for file in files if file.startswith(floor + "/") and file.endswith(".hpp") and "/cuda/" not in file) for floor in floors}
            for file, text in {**umbrellas, **files}.items():
                path = root / file
                path.parent.mkdir(parents=True, exist_ok=True)
                if text is not False:
                    path.write_text("// empty\n" if text is None else f"#pragma once\n{text}\n")
            errors, _, _ = check(root)
        ok = (not errors) if expected is None else any(expected in e for e in errors)
        if not ok:
            wrong += 1
            print(f"self-test '{name}': expected {expected!r}, got {errors}")
    print(f"check_layers self-test: {len(SELF_TESTS) - wrong} of {len(SELF_TESTS)} right")
    return 1 if wrong else 0


def main():
    if "--self-test" in sys.argv[1:]:
        return self_test()
    names = [a for a in sys.argv[1:] if not a.startswith("-")]
    root = pathlib.Path(names[0]) if names else pathlib.Path(__file__).parent.parent / "include" / "ttensor"
    root = root.resolve()
    if "--list" in sys.argv[1:]:
        for path in sorted(root.rglob("*.hpp")):
            print(f"{path.read_text().count(chr(10)):5d}  {path.relative_to(root)}")
    errors, warnings, count = check(root)
    if count == 0:
        errors.append(f"no headers in {root}")
    for warning in warnings:
        print(f"warning: {warning}")
    for error in errors:
        print(f"error: {error}")
    print(f"{count} headers, {len(errors)} errors, {len(warnings)} warnings")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
