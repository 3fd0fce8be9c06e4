#!/usr/bin/env bash
# Make .venv beside this repository's README and install the package into it, with the extras given as arguments.
#     bash tools/install.sh [EXTRA...]
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}

apt_install() {
  local missing=() sudo=""
  for package in "$@"; do
    dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
  done
  [ "${#missing[@]}" -eq 0 ] && return
  [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed" >&2; exit 1; }
"$python" -c 'import ensurepip' 2>/dev/null || apt_install python3-venv
[ -z "${APT_PACKAGES:-}" ] || apt_install $APT_PACKAGES
"$python" -m venv .venv
extras=$(IFS=,; echo "$*")
.venv/bin/pip install --quiet --disable-pip-version-check --editable ".${extras:+[$extras]}"
