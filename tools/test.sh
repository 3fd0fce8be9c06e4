#!/usr/bin/env bash
# Install what the tests need on a fresh Debian or Ubuntu machine with Python, and run all of them: nothing is skipped.
# For the one who edits: .venv/bin/pytest -n auto -m "not slow"
set -euo pipefail
cd "$(dirname "$0")/.."
export APT_PACKAGES="make cmake gcc g++ clang libc6-dev python3-dev chromium chromium-driver
  gcc-arm-none-eabi libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib qemu-system-arm
  gcc-riscv64-unknown-elf qemu-system-misc gcc-xtensa-lx106 gcc-avr avr-libc"
bash tools/install.sh dev
echo "== real TFLM, the mobile runtime and CMSIS-NN's own size functions, from their wheels" >&2
.venv/bin/pip install --quiet --disable-pip-version-check --pre tflite-micro
.venv/bin/pip install --quiet --disable-pip-version-check "ai-edge-litert==2.3.*"
# The wheel needs torch for everything but these functions.
.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: executorch
echo "== Python for the browser, from its npm package" >&2
pyodide=$(.venv/bin/python -c "from tflm_sim.web.site import PYODIDE_VERSION as version; print(version)")
[ -f ".venv/pyodide-$pyodide.tgz" ] || (cd .venv && PATH="$PWD/bin:$PATH" npm pack --loglevel error "pyodide@$pyodide" >/dev/null)
echo "== clang-format, ruff, mypy, pytest" >&2
.venv/bin/clang-format --dry-run -Werror tflm_sim/planners/native/*.[ch] tflm_sim/model/reader.c tests/native/*.c
.venv/bin/ruff check .
.venv/bin/ruff format --check --quiet .
.venv/bin/mypy
TFLM_SIM_ALL_TESTS=1 .venv/bin/python -m pytest -n auto -q
