# Sourced by quickstart.sh and test.sh: installs what is missing from tools/packages.list, and small shared helpers.
# shellcheck shell=bash

say() { printf '\n==> %s\n' "$*"; }
show() { printf '+ %s\n' "$*"; "$@"; }
stop() { printf '\nstopped: %s\n' "$*" >&2; exit 1; }

# The newest clang++ of at least version 16, or nothing.
find_clang() {
  local name major
  for name in clang++-2{2,1,0} clang++-1{9,8,7,6} clang++; do
    command -v "$name" >/dev/null 2>&1 || continue
    major=$("$name" -dumpversion 2>/dev/null | cut -d. -f1)
    if [ "${major:-0}" -ge 16 ]; then echo "$name"; return 0; fi
  done
  return 1
}

# The same if it can link its sanitizers: it compiles the tests with them twice as fast as g++.
find_clang_sanitizers() {
  local name program found=1
  name=$(find_clang) && program=$(mktemp) || return 1
  echo 'int main() {}' | "$name" -fsanitize=address,undefined -x c++ - -o "$program" 2>/dev/null && found=0 && echo "$name"
  rm -f "$program"
  return $found
}

package_present() { # package_present <check>
  local name
  case $1 in
    cmd:*)
      local IFS='|'
      for name in ${1#cmd:}; do
        command -v "$name" >/dev/null 2>&1 && return 0
      done
      return 1 ;;
    header:*)
      command -v g++ >/dev/null 2>&1 || return 1
      printf '#if !__has_include(<%s>)\n#error missing\n#endif\n' "${1#header:}" |
        g++ -std=c++20 -E -x c++ -idirafter /usr/local/cuda/include/cccl -idirafter /usr/local/cuda/include - >/dev/null 2>&1 ;;
    clang) find_clang >/dev/null ;;
    clang-sanitizers) find_clang_sanitizers >/dev/null ;;
    *) stop "tools/packages.list: unknown check '$1'" ;;
  esac
}

# Fills missing_required and missing_optional with the package alternatives of the given groups that are not there.
find_missing() { # find_missing <group>...
  missing_required=() missing_optional=()
  local groups need check packages group wanted
  while read -r groups need check packages; do
    case $groups in ''|'#'*) continue ;; esac
    wanted=0
    for group in "$@"; do
      case ",$groups," in *",$group,"*) wanted=1 ;; esac
    done
    if [ "$wanted" = 0 ] || package_present "$check"; then continue; fi
    if [ "$need" = required ]; then missing_required+=("$packages"); else missing_optional+=("$packages"); fi
  done < "${root:?set by the script that sources this}/tools/packages.list"
}

apt_choose() { # apt_choose a|b|c: prints the first that apt knows
  local name IFS='|'
  for name in $1; do
    if [ -n "$(apt-cache madison "$name" 2>/dev/null)" ]; then echo "$name"; return 0; fi
  done
  return 1
}

setup_packages() { # setup_packages <group>...
  local as_root=() names=() entry name
  say "packages ($*)"
  find_missing "$@"
  if [ ${#missing_required[@]} = 0 ] && [ ${#missing_optional[@]} = 0 ]; then
    echo "everything needed is already installed"
  elif ! command -v apt-get >/dev/null 2>&1; then
    echo "this system has no apt-get; ttensor's scripts can install packages on Debian and Ubuntu only."
    [ ${#missing_optional[@]} = 0 ] || echo "not found, optional (Debian's names): ${missing_optional[*]}"
    if [ ${#missing_required[@]} != 0 ]; then
      stop "not found (Debian's names): ${missing_required[*]}. Install your system's packages for these and run this again."
    fi
  else
    echo "missing: ${missing_required[*]} ${missing_optional[*]:+(optional: ${missing_optional[*]})}"
    if [ "$(id -u)" != 0 ]; then
      if command -v sudo >/dev/null 2>&1; then
        as_root=(sudo)
      elif [ ${#missing_required[@]} != 0 ]; then
        stop "installing needs root and there is no sudo. As root: apt-get install ${missing_required[*]%%|*}"
      else
        echo "no root and no sudo: going on without the optional packages"
        return 0
      fi
    fi
    # Optional packages alone are not worth the network: they are tried with the package lists that are there.
    if [ ${#missing_required[@]} != 0 ] && ! show "${as_root[@]}" apt-get update -q; then
      echo "apt-get update failed; trying with the package lists that are there"
    fi
    for entry in "${missing_required[@]}"; do
      name=$(apt_choose "$entry") || stop "this system's package lists have none of: ${entry//|/ }. Debian 12 or Ubuntu 24.04 or newer is needed."
      names+=("$name")
    done
    if [ ${#names[@]} != 0 ]; then
      show "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${names[@]}" ||
        stop "apt-get could not install: ${names[*]}"
    fi
    for entry in "${missing_optional[@]}"; do
      if name=$(apt_choose "$entry"); then
        show "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$name" ||
          echo "going on without $name (optional)"
      else
        echo "going on without ${entry//|/ or } (optional, unknown to this system)"
      fi
    done
    find_missing "$@"
    [ ${#missing_required[@]} = 0 ] || stop "still not found after installing: ${missing_required[*]}"
  fi

  local version
  version=$(g++ -dumpversion | cut -d. -f1)
  [ "$version" -ge 12 ] || stop "g++ $version is too old; ttensor needs g++ 12 or newer (Debian 12, Ubuntu 24.04 have it)."

  # Build directories that were moved or copied are configured anew: CMake stops at them.
  local cache
  for cache in build/*/CMakeCache.txt; do
    [ -f "$cache" ] || continue
    grep -qxF -e "CMAKE_HOME_DIRECTORY:INTERNAL=$root" -e "CMAKE_HOME_DIRECTORY:INTERNAL=$(pwd -P)" "$cache" || show rm -rf "$cache" "${cache%/*}/CMakeFiles"
  done

  # Ninja when it is there; an existing build directory keeps its own generator.
  if [ -z "${CMAKE_GENERATOR:-}" ] && command -v ninja >/dev/null 2>&1; then export CMAKE_GENERATOR=Ninja; fi
}

# Compile jobs: one per core, but at least 3 GB of free memory for each.
setup_jobs() {
  local cores memory_gb=64
  cores=$(getconf _NPROCESSORS_ONLN)
  if [ -r /proc/meminfo ]; then memory_gb=$(awk '/^MemAvailable:/ {print int($2 / 1048576)}' /proc/meminfo); fi
  jobs=$((memory_gb / 3 < cores ? memory_gb / 3 : cores))
  jobs=${TTENSOR_JOBS:-$((jobs < 1 ? 1 : jobs))}
  export CMAKE_BUILD_PARALLEL_LEVEL=$jobs CTEST_PARALLEL_LEVEL=$jobs
}
