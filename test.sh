#!/usr/bin/env bash
# Installs what is missing, then builds and runs the test suite.
#   ./test.sh            everything: layers release asan tsan nosimd clang
#   ./test.sh quick      layers and release only, without the tests labelled plain
#   ./test.sh <stage>... these stages only
# Stages: layers  floors and circles of the headers
#         release all tests, each header alone, consumers of the installed library, the examples; in a full run without the tests
#                 labelled plain, which the stage clang has, and emulated, which asan has as they are
#         asan    tests labelled asan, AddressSanitizer and UndefinedBehaviorSanitizer (clang's if it links them, else g++'s); in
#                 those labelled plain, too, without the checks of each pointer for null, alignment and overflow: a third and then a tenth of their compilation
#         tsan    tests labelled tsan, ThreadSanitizer, by the same compiler
#         nosimd  tests labelled nosimd, without SIMD, compiled by clang (g++ has those named ..._nosimd of the release build)
#         clang   tests labelled clang or plain (values and laws, not optimised), compiled by the newest clang (16 or later); in a
#                 full run without those labelled plain that it has compiled for the stage asan
# TTENSOR_JOBS=n sets the number of jobs. A failing stage does not stop the others; the exit status is 0 only if all pass.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$root"
# shellcheck source=tools/setup.sh
. tools/setup.sh

release_without='' clang_without=''
case ${1:-full} in
  full) stages=(layers release asan tsan nosimd clang) release_without='plain;emulated' ;;
  quick) stages=(layers release) release_without=plain ;;
  -h|--help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) stages=("$@") ;;
esac
for stage in "${stages[@]}"; do
  case $stage in
    layers|release|asan|tsan|nosimd|clang) ;;
    *) stop "unknown stage '$stage'; ./test.sh --help lists them" ;;
  esac
done

setup_packages build test
setup_jobs
if [ "${1:-full}" = full ] && find_clang_sanitizers >/dev/null; then clang_without=plain_asan; fi

tests_run=0 tests_failed=0 failed_stages=() stage_lines=()

# CMake would drop the preset's options in a build directory of another compiler, so that one is begun anew.
run_preset_with() { # run_preset_with <compiler> <preset> [configure options]
  local compiler=$1 preset=$2 before
  shift 2
  before=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "build/$preset/CMakeCache.txt" 2>/dev/null || true)
  if [ -n "$before" ] && [ "$(readlink -f "$(command -v "$before")")" != "$(readlink -f "$(command -v "$compiler")")" ]; then show rm -rf "build/$preset"; fi
  run_preset "$preset" -DCMAKE_CXX_COMPILER="$compiler" "$@"
}

# One preset: configure, build, ctest. The counts come from ctest's own summary.
run_preset() { # run_preset <preset> [configure options]
  local preset=$1 log total failed status=0
  shift
  show cmake --preset "$preset" "$@" || return 1
  show cmake --build --preset "$preset" || return 1
  mkdir -p build
  log=build/ctest-$preset.log
  show ctest --preset "$preset" 2>&1 | tee "$log" || status=1
  read -r failed total < <(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+).*/\1 \2/p' "$log" | tail -n 1) || true
  tests_run=$((tests_run + ${total:-0}))
  tests_failed=$((tests_failed + ${failed:-0}))
  return $status
}

run_stage() {
  case $1 in
    layers) show python3 tools/check_layers.py ;;
    release) run_preset release -DTTENSOR_BUILD_TESTS=ON -DTTENSOR_BUILD_EXAMPLES=ON -DTTENSOR_TEST_WITHOUT="$release_without" ;;
    clang) run_preset_with "$(find_clang)" clang -DTTENSOR_TEST_WITHOUT="$clang_without" ;;
    nosimd) run_preset_with "$(find_clang)" nosimd ;;
    asan|tsan) run_preset_with "$(find_clang_sanitizers || echo g++)" "$1" ;;
  esac
}

for stage in "${stages[@]}"; do
  say "stage $stage"
  started=$SECONDS
  if run_stage "$stage"; then result=passed; else result=FAILED; failed_stages+=("$stage"); fi
  stage_lines+=("$(printf '%-8s %-7s %4d s' "$stage" "$result" $((SECONDS - started)))")
done

say "summary (${SECONDS} s)"
printf '%s\n' "${stage_lines[@]}"
if [ "$tests_run" != 0 ]; then
  echo "$((100 * (tests_run - tests_failed) / tests_run))% tests passed, $tests_failed tests failed out of $tests_run"
fi
if [ ${#failed_stages[@]} != 0 ]; then
  echo "FAILED stages: ${failed_stages[*]}"
  exit 1
fi
echo "all stages passed"
