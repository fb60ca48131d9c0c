#!/usr/bin/env bash
# tools/setup.sh on machines that have nothing: a PATH of stubs, where a package is there when the stub of apt-get has installed it.
#   setup_test.sh <root of the repository>
set -eu
root=$1
bash=$(command -v bash)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# machine <what apt-cache knows> [user]: an empty machine with apt and, for a user, an id that is not 0.
machine() {
  rm -rf "$work/bin" "$work/state"
  mkdir -p "$work/bin" "$work/state"
  local tool
  for tool in cut grep awk getconf mktemp rm cat env touch; do ln -s "$(command -v "$tool")" "$work/bin/$tool"; done
  stub id "echo ${2:-0}"
  stub apt-cache 'case " '"$1"' " in *" $2 "*) echo "$2 | 1 | stub" ;; esac'
  stub apt-get '
    [ "$1" = install ] || { echo "apt-get $*" >>'"$work"'/state/log; exit 0; }
    shift
    for p; do
      case $p in -*) continue ;; esac
      echo "$p" >>'"$work"'/state/log
      touch '"$work"'/state/"$p"
      case $p in
        g++) cp_stub=g++ ;; cmake) cp_stub=cmake ;; ninja-build) cp_stub=ninja ;; clang-1*) cp_stub=clang++-${p#clang-} ;; python3) cp_stub=python3 ;; binutils) cp_stub=objdump ;; *) continue ;;
      esac
      { echo "#!'"$bash"'"; echo ". '"$work"'/compiler"; } >'"$work"'/bin/$cp_stub && chmod +x '"$work"'/bin/$cp_stub
    done'
  ln -s "$(command -v chmod)" "$work/bin/chmod"
  # Any compiler: its version, and whether the header that is asked for has come with a package.
  cat >"$work/compiler" <<EOF
case " \$* " in
  *" -dumpversion "*) case \$0 in */clang*) echo 19.1.7 ;; *) echo \${STUB_GCC:-13} ;; esac; exit 0 ;;
  *" -fsanitize="*) [ -e $work/state/libclang-rt-19-dev ]; exit ;;
esac
case \$(cat) in
  *xsimd*) [ -e $work/state/libxsimd-dev ] ;; *doctest*) [ -e $work/state/libdoctest ] || [ -e $work/state/doctest-dev ] ;; *tbb*) [ -e $work/state/libtbb-dev ] ;;
  *) false ;;
esac
EOF
}
stub() { printf '#!%s\n%s\n' "$bash" "$2" >"$work/bin/$1"; chmod +x "$work/bin/$1"; }
# setup <groups>: what the scripts do first; its output in $work/out, its status in $status.
setup() {
  status=0
  (cd "$work" && env -i PATH="$work/bin" STUB_GCC="${gcc:-}" root="$root" "$bash" -c 'set -euo pipefail; . "$root/tools/setup.sh"; setup_packages "$@"; setup_jobs' setup "$@") >"$work/out" 2>&1 || status=$?
}
expect() { # expect <status> <text>
  if [ "$status" != "$1" ] || ! grep -qF -e "$2" "$work/out"; then
    failures=$((failures + 1))
    printf '%s: status %s (wanted %s), without: %s\n' "$scenario" "$status" "$1" "$2"
    sed 's/^/    /' "$work/out"
  fi
}
expect_log() { # the packages that were asked for
  local got
  got=$(tr '\n' ' ' <"$work/state/log" 2>/dev/null || true)
  if [ "$got" != "$1" ]; then
    failures=$((failures + 1))
    printf '%s: apt did "%s", wanted "%s"\n' "$scenario" "$got" "$1"
  fi
}
known='g++ cmake ninja-build libxsimd-dev doctest-dev libtbb-dev clang-19 clang-18 libclang-rt-19-dev python3 binutils libopenblas-dev'

scenario='an empty machine, root'
machine "$known"
setup build
expect 0 'missing: g++ cmake ninja-build libxsimd-dev'
expect_log 'apt-get update -q g++ cmake ninja-build libxsimd-dev '
setup build
expect 0 'everything needed is already installed'

scenario='the same for the tests: the newest clang that apt knows, optional packages after'
machine "$known"
setup build test
expect 0 'going on without libthrust-dev (optional, unknown to this system)'
expect_log 'apt-get update -q g++ cmake ninja-build libxsimd-dev doctest-dev libtbb-dev clang-19 python3 binutils libclang-rt-19-dev libopenblas-dev '

scenario='a user without sudo'
machine "$known" 1000
setup build
expect 1 'stopped: installing needs root and there is no sudo. As root: apt-get install g++ cmake ninja-build libxsimd-dev'
scenario='a user with sudo'
stub sudo "echo sudo >>$work/state/log; exec \"\$@\""
setup build
expect 0 '+ sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends g++ cmake ninja-build libxsimd-dev'

scenario='a system without apt'
machine "$known"
rm "$work/bin/apt-get"
setup build
expect 1 "stopped: not found (Debian's names): g++ cmake ninja-build libxsimd-dev. Install your system's packages for these and run this again."
scenario='a system that is too old: no clang 16, then g++ 11'
machine 'g++ cmake ninja-build libxsimd-dev doctest-dev libtbb-dev clang-14 python3 binutils'
setup build test
expect 1 "stopped: this system's package lists have none of: clang-19 clang-18 clang-17 clang-16 clang. Debian 12 or Ubuntu 24.04 or newer is needed."
machine "$known"
gcc=11 setup build
expect 1 'stopped: g++ 11 is too old; ttensor needs g++ 12 or newer (Debian 12, Ubuntu 24.04 have it).'
scenario='a package that apt says it installed and that is not there'
machine "$known"
stub apt-get 'exit 0'
setup build
expect 1 'stopped: still not found after installing: g++ cmake ninja-build libxsimd-dev'
scenario='apt fails'
stub apt-get '[ "$1" != install ]'
setup build
expect 1 'stopped: apt-get could not install: g++ cmake ninja-build libxsimd-dev'

[ "$failures" = 0 ] || { echo "$failures wrong"; exit 1; }
echo "all as it should be"
