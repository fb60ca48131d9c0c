#!/usr/bin/env bash
# Installs what is missing, builds the digits example and runs it. Run it again: only what changed is rebuilt.
#   ./quickstart.sh [arguments of the example]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$root"
# shellcheck source=tools/setup.sh
. tools/setup.sh

case ${1:-} in
  -h|--help) sed -n '2,3s/^# //p' "$0"; exit 0 ;;
esac

setup_packages build
setup_jobs

say "configure (preset release)"
show cmake --preset release -DTTENSOR_BUILD_TESTS=OFF -DTTENSOR_BUILD_EXAMPLES=ON -DTTENSOR_BUILD_BENCHMARKS=OFF

say "build example_digits ($jobs jobs)"
show cmake --build --preset release --target example_digits

[ $# -gt 1 ] || set -- "${1:-examples/data/digits.csv}" build/strangest_digits.ppm  # its picture: not into the sources
say "run"
show build/release/examples/example_digits "$@"
