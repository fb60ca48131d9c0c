#!/usr/bin/env python3
"""What a compile costs: CPU seconds and peak memory of the compiler, medians, beside xsimd and Eigen on the same machine.

    compile_time.py [--compiler g++] [--runs 3] [--only substring] [--instructions]
    compile_time.py --check-memory [--compiler g++]

Ratios are to `xsimd alone`, compiled in the same run: targets in seconds belong to one machine, ratios to all.
With --instructions, the instructions that the compiler (g++) executes, counted by valgrind, instead of seconds: the same on a
busy machine and on another day, twenty times as slow to find out.
With --check-memory, up to four compiles of each case that has a budget in megabytes (MEMORY_BUDGET), and failure if one is over it in
all of them: a test of the suite, which a time could not be.
"""
import argparse
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# 20 operators on 4 arrays.
BODY = "(a * b + exp(c) - d / (a + 2.0)) * sin(b - c) + tanh(a * c - b) * (d * d + 1.5) - sqrt(b * b + 0.5) / (c * 0.25 - 3.0)"
T = "const ttensor::tensor<double, 1>& "
ARGS = f"{T}a, {T}b, {T}c, {T}d"


def statement(name, body):
    return f"void {name}(ttensor::tensor<double, 1>& y, {ARGS}) {{ y = {body}; }}\n"


def ten():
    """Ten statements of twenty operators whose types all differ."""
    heads = ["a", "a + b", "a * b", "a - b", "a / b", "b + a * c", "b - a * c", "b * a - c", "exp(a)", "sin(a)"]
    return "".join(statement(f"f{i}", BODY.replace("(a * b + exp(c)", f"({h} * b + exp(c)")) for i, h in enumerate(heads))


# 10 operators, for derivatives of higher order.
SHORT = "exp(-v * v) * sin(v) + tanh(v) / (v * v + 2.0)"
SCALAR = f"auto third(double x) {{\n  return ttensor::grad(ttensor::grad(ttensor::grad([](const auto& v) {{ return {SHORT}; }})))(x);\n}}\n"
ARRAY = (f"auto second(const ttensor::tensor<double, 1>& x) {{\n  auto f = [](const auto& v) {{ return sum({SHORT}); }};\n"
         "  return ttensor::grad([=](const auto& v) { return sum(ttensor::grad(f)(v)); })(x);\n}\n")
THIRD = ARRAY.replace("second", "third").replace("return ttensor::grad([=](const auto& v) { return sum(ttensor::grad(f)(v)); })(x)",
                                                   "auto g = [=](const auto& v) { return sum(ttensor::grad(f)(v)); };\n"
                                                   "  return ttensor::grad([=](const auto& v) { return sum(ttensor::grad(g)(v)); })(x)")
HESSIAN = ARRAY.replace("second", "curvature").replace("return ttensor::grad([=](const auto& v) { return sum(ttensor::grad(f)(v)); })(x)", "return ttensor::hessian(f)(x)")
MAPPED = HESSIAN.replace("tensor<double, 1>", "tensor<double, 2>").replace("ttensor::hessian(f)(x)", "ttensor::vmap(ttensor::hessian(f))(x)")

RUNTIME = " (ttensor::runtime)"  # the common code declared only
CASES = {
    "empty file": "",
    "xsimd alone": "#include <xsimd/xsimd.hpp>\n",
    "Eigen/Dense": "#include <Eigen/Dense>\n",
    "Eigen/Dense + statement": "#include <Eigen/Dense>\nusing A = Eigen::ArrayXd;\nvoid f(A& y, const A& a, const A& b, const A& c, const A& d) {\n  y = "
                               "(a * b + c.exp() - d / (a + 2.0)) * (b - c).sin() + (a * c - b).tanh() * (d * d + 1.5) - (b * b + 0.5).sqrt() / (c * 0.25 - 3.0);\n}\n",
    "ttensor/tensor.hpp": "#include <ttensor/tensor.hpp>\n",
    "ttensor/tensor.hpp + statement": "#include <ttensor/tensor.hpp>\n" + statement("f", BODY),
    "ttensor/tensor.hpp + 10 statements": "#include <ttensor/tensor.hpp>\n" + ten(),
    "ttensor/all.hpp": "#include <ttensor/all.hpp>\n",
    "ttensor/all.hpp + statement": "#include <ttensor/all.hpp>\n" + statement("f", BODY),
    "ttensor/all.hpp + statement + gradient": "#include <ttensor/all.hpp>\n" + statement("f", BODY) +
        f"auto g({ARGS}) {{\n  return ttensor::grad([](auto a, auto b, auto c, auto d) {{ return sum({BODY}); }})(a, b, c, d);\n}}\n",
    "ttensor/all.hpp + third derivative of a number": "#include <ttensor/all.hpp>\n" + SCALAR,
    "ttensor/all.hpp + gradient of a gradient of an array": "#include <ttensor/all.hpp>\n" + ARRAY,
    "ttensor/all.hpp + third order of an array": "#include <ttensor/all.hpp>\n" + THIRD,
    "ttensor/all.hpp + Hessian": "#include <ttensor/all.hpp>\n" + HESSIAN,
    "ttensor/all.hpp + mapped Hessian": "#include <ttensor/all.hpp>\n" + MAPPED,
}
CASES.update({name + RUNTIME: "#define TTENSOR_RUNTIME\n" + text for name, text in list(CASES.items()) if name.startswith("ttensor") and "third" not in name and "of an array" not in name})
# Peak MB of g++ 12: of the file, or (case, MB) above another.
MEMORY_BUDGET = {
    "ttensor/tensor.hpp": 210,
    "ttensor/all.hpp": 280,
    "ttensor/tensor.hpp + statement": ("ttensor/tensor.hpp", 50),
    "ttensor/all.hpp + statement": ("ttensor/all.hpp", 50),
    "ttensor/all.hpp + statement + gradient": ("ttensor/all.hpp + statement", 80),
    "ttensor/all.hpp + third order of an array": 800,
}
CASES["cmake/ttensor_runtime.cpp"] = "#include <ttensor/runtime.hpp>\n"


def command(compiler, source, target):
    return [compiler, "-O2", "-std=c++20", f"-I{root}/include", "-isystem", "/usr/include/eigen3", "-c", source, "-o", target]


def count_instructions(compiler, source, target):
    """Billions, or None and why not."""
    says = subprocess.run([*command(compiler, source, target), "-###"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True).stderr
    line = next((line for line in says.splitlines() if "/cc1plus " in line), None)
    if line is None:
        return None, f"{compiler} runs no cc1plus"
    arguments = shlex.split(line)
    arguments[arguments.index("-o") + 1] = os.devnull
    done = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={os.devnull}", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    found = re.search(r"I\s+refs:\s+([0-9,]+)", done.stderr)
    return ((int(found[1].replace(",", "")) / 1e9,), "") if done.returncode == 0 and found else (None, done.stderr)


def compile_once(compiler, source, target):
    process = subprocess.Popen(command(compiler, source, target), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    text = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if status != 0:
        return None, text.decode(errors="replace")
    return (usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024), ""


def check_memory(compiler):
    """Returns the number of cases over their budget."""
    over = 0
    with tempfile.TemporaryDirectory() as folder:
        def peak(name):
            source = os.path.join(folder, "case.cpp")
            with open(source, "w") as f:
                f.write(CASES[name])
            cost, text = compile_once(compiler, source, os.path.join(folder, "out.o"))
            if cost is None:
                raise SystemExit(f"{name} does not compile:\n{text}")
            return cost[1]

        for name, budget in MEMORY_BUDGET.items():
            base, limit = budget if isinstance(budget, tuple) else (None, budget)
            for _ in range(4):  # a peak differs by some tenths of a MB from run to run
                used = peak(name) - (peak(base) if base else 0)
                if used <= limit:
                    break
            over += used > limit
            print(f"{name}: {used:.1f} MB{' above ' + base if base else ''}, of {limit}{'' if used <= limit else ': TOO MUCH'}")
    return over


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--check-memory", action="store_true")
    args = parser.parse_args()
    if args.check_memory:
        return 1 if check_memory(args.compiler) else 0
    if args.instructions and not shutil.which("valgrind"):
        parser.error("--instructions wants valgrind, which is not installed")
    if args.instructions:
        measure, runs, columns = count_instructions, 1, [("billion instructions", "", 2)]
    else:
        measure, runs, columns = compile_once, args.runs, [("CPU seconds", " s", 2), ("peak MB", " MB", 0)]
    results, errors = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        cases = {k: v for k, v in CASES.items() if args.only in k or k == "xsimd alone"}
        for name, text in cases.items():
            with open(os.path.join(folder, name.replace("/", "_").replace(" ", "_") + ".cpp"), "w") as f:
                f.write(text)
        for _ in range(runs):  # interleaved: a slow minute falls on every case
            for name in cases:
                if name in errors:
                    continue
                source = os.path.join(folder, name.replace("/", "_").replace(" ", "_") + ".cpp")
                cost, text = measure(args.compiler, source, os.path.join(folder, "out.o"))
                if cost is None:
                    errors[name] = next((line for line in text.splitlines() if "error" in line), text[:200]).replace(root + "/", "")
                else:
                    results.setdefault(name, []).append(cost)
    medians = {name: [statistics.median(x) for x in zip(*costs)] for name, costs in results.items()}
    base = medians.get("xsimd alone", [None])[0]
    print("| translation unit | " + " | ".join(title for title, _, _ in columns) + " | / xsimd alone | above its header |")
    print("|---" * (len(columns) + 3) + "|")
    for name in cases:
        if name in errors:
            print(f"| {name} | does not compile: {errors[name]} |" + " |" * (len(columns) + 1))
            continue
        cost = medians[name]
        header = medians.get(name.split(" + ")[0] + (RUNTIME if name.endswith(RUNTIME) else "")) if " + " in name else None
        numbers = [f"{value:.{digits}f}" for value, (_, _, digits) in zip(cost, columns)]
        above = [f"+{value - own:.{digits}f}{unit}" for value, own, (_, unit, digits) in zip(cost, header, columns)] if header else []
        print(f"| {name} | " + " | ".join(numbers) + " | " + (f"{cost[0] / base:.2f}" if base else "") + " | " + ", ".join(above) + " |")


if __name__ == "__main__":
    sys.exit(main())
