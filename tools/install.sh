#!/usr/bin/env bash
# Make .venv beside this repository's README and install the package into it, with all that the README shows, or with the
# extras given as arguments alone.
#     bash tools/install.sh [EXTRA...]
# APT_PACKAGES names Debian packages that must be there as well.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}

say() { echo "== $*" >&2; }

apt_install() {
  local missing=() sudo=""
  for package in "$@"; do
    dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
  done
  [ "${#missing[@]}" -eq 0 ] && return
  [ "$(id -u)" = 0 ] || sudo=sudo
  say "Debian packages (minutes, where compilers and a browser are among them): ${missing[*]}"
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed" >&2; exit 1; }
# shellcheck disable=SC2086 # a list of names
[ -z "${APT_PACKAGES:-}" ] || apt_install $APT_PACKAGES
wanted=()
"$python" -c 'import ensurepip' 2>/dev/null || wanted+=(python3-venv)
command -v cc >/dev/null || wanted+=(gcc libc6-dev python3-dev) # for the exact planner, which is C alone
[ "${#wanted[@]}" -eq 0 ] || apt_install "${wanted[@]}"
extras=$(IFS=,; echo "${*:-all}")
say "the package and what it needs ($extras), into .venv: about half a minute"
"$python" -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check --no-compile --editable ".[$extras]"
say "done. In each new terminal, once: source $PWD/.venv/bin/activate"
say "then: tflm-sim size MODEL.tflite --target cortex-m4"
