#!/usr/bin/env bash
# Install what the tests need on a fresh Debian or Ubuntu machine with Python, and run them: nothing is skipped.
#     bash tools/test.sh            what CI runs at every change
#     bash tools/test.sh nightly    all tests: those too that take long and rarely find anything, in the browser, of whole
#                                   sets of models, of every command of the pages; with new random examples each time
# For the one who edits: python tools near FILE
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$*" = "" ] || [ "$*" = nightly ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
export APT_PACKAGES="make cmake gcc g++ libc6-dev python3-dev gcc-arm-none-eabi libnewlib-arm-none-eabi
  libstdc++-arm-none-eabi-newlib qemu-system-arm gcc-riscv64-unknown-elf qemu-system-misc gcc-xtensa-lx106 gcc-avr avr-libc"
[ "$*" = "" ] || APT_PACKAGES+=" clang lld chromium chromium-driver"
# Thousands of processes would compile anew what they import.
unset PYTHONDONTWRITEBYTECODE
bash tools/install.sh "${1:-dev}"
chosen=(-m "not nightly")
if [ "$*" = nightly ]; then
  chosen=()
  unset CI
  echo "== CMSIS-NN's own size functions, from a wheel that needs torch for everything else" >&2
  .venv/bin/pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: executorch
  echo "== Python for the browser, from its npm package" >&2
  pyodide=$(.venv/bin/python -c "from tflm_sim.extensions.page.site import PYODIDE_VERSION as version; print(version)")
  [ -f ".venv/pyodide-$pyodide.tgz" ] || (cd .venv && PATH="$PWD/bin:$PATH" npm pack --loglevel error "pyodide@$pyodide" >/dev/null)
  # numpy for the same ABI (numpy's own wheels for the browser are on Pyodide's server alone), out of a package that has it.
  numpy=numpy-2.2.5-cp313-cp313-pyodide_2025_0_wasm32.whl
  [ -f ".venv/$numpy" ] || (cd .venv && PATH="$PWD/bin:$PATH" npm pack --loglevel error @bentopdf/pymupdf-wasm@0.11.16 >/dev/null &&
    tar -xzOf bentopdf-pymupdf-wasm-0.11.16.tgz "package/assets/$numpy" > "$numpy" && rm bentopdf-pymupdf-wasm-0.11.16.tgz)
  echo "125230b4c3ecd08803e5c43f1162e017c0718d9f253146225a705a952b9c16c2  .venv/$numpy" | sha256sum --check --quiet
fi
echo "== clang-format, ruff, mypy, zizmor, pytest" >&2
.venv/bin/clang-format --dry-run -Werror tflm_sim/planners/native/*.[ch] tflm_sim/model/*.c tflm_sim/extensions/firmware/emulation/*.[ch] tests/native/*.c \
  firmware_stub/include/{arena_report,tsim_*}.h firmware_stub/src/*.c firmware_stub/tests/*.c firmware_stub/ports/*/*.[ch]
.venv/bin/ruff check .
.venv/bin/ruff format --check --quiet .
.venv/bin/mypy
.venv/bin/zizmor --offline --quiet .
export TFLM_SIM_ALL_TESTS=1
code=0
.venv/bin/python -m pytest -n auto --dist worksteal -q "${chosen[@]}" || code=$?
if [ $code = 1 ] && [ "$*" = "" ]; then
  echo "== what failed once more, one at a time: what passes now depends on time or load, which nightly does not forgive" >&2
  code=0
  .venv/bin/python -m pytest -q --last-failed --last-failed-no-failures none "${chosen[@]}" || code=$?
fi
exit $code
