#!/usr/bin/env bash
# Install what the tests need on a fresh Debian or Ubuntu machine with Python, and run them.
set -euo pipefail
cd "$(dirname "$0")/.."
export APT_PACKAGES="make gcc g++ libc6-dev chromium chromium-driver
  gcc-arm-none-eabi libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib qemu-system-arm
  gcc-riscv64-unknown-elf qemu-system-misc"
bash tools/install.sh dev
.venv/bin/pip install --quiet --disable-pip-version-check --pre tflite-micro
# CMSIS-NN's own size functions; the wheel needs torch for everything else. There is none for every Python.
.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: executorch ||
  echo "no executorch for this Python: CMSIS-NN's sizes are tested by hand-made cases alone" >&2
.venv/bin/ruff check .
.venv/bin/ruff format --check --quiet .
.venv/bin/mypy
.venv/bin/python -m pytest -n auto -q
