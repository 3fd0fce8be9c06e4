"""``execute``: run a user's program in an emulator's process and return what was seen."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess

from tflm_sim.child_python import child_python
from tflm_sim.documents import from_json
from tflm_sim.emulation.execution import Execution
from tflm_sim.errors import FirmwareError, UsageError, not_a
from tflm_sim.firmware.image import load_image

TIMEOUT_S = 120
"""Of the host's processor."""
_WALL = 10
"""How many times as long it may take where other programs want the processor, too."""


def execute(
    elf: str | os.PathLike[str], *, invokes: int = 0, emulator: str = "", timeout: int = TIMEOUT_S
) -> Execution:
    """Execute a linked program up to the end of its AllocateTensors(), with arenas of many sizes.

    The program runs in an emulator, in a process of its own: Cortex-M0 to M33 and RISC-V of 32 bits in Unicorn
    (``pip install 'tflm_sim[run]'``), Cortex-M7 with doubles and M55 in the user's QEMU.
    It reaches nothing outside: its semihosting may print and end.

    Args:
        elf: The ELF file, with symbols.
        invokes: How many calls of Invoke() after each AllocateTensors() are run and measured; the others are not run,
            and the program is told that they succeeded.
        emulator: "unicorn" or "qemu"; "" for the first that is installed and has the program's core.
        timeout: Seconds of the host's processor after which it is given up.

    Raises:
        FirmwareError: The file cannot be read or executed, or nothing of TFLM was reached in it.
        UsageError: No emulator is installed.
    """
    if not isinstance(elf, str | os.PathLike):
        raise not_a("the path of an ELF file", elf)
    path = os.fspath(elf)
    load_image(path)
    settings = json.dumps({"timeout": timeout, "invokes": invokes, "emulator": emulator})
    command = [*child_python("tflm_sim.emulation.worker"), path, settings]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        output, errors = worker.communicate(timeout=_WALL * timeout)
    except subprocess.TimeoutExpired:
        raise FirmwareError(f"the emulator was given up after {_WALL * timeout} s", path=path) from None
    finally:
        _end(worker)
    if worker.returncode == -signal.SIGXCPU:
        raise FirmwareError(f"the emulator was given up after {timeout} s of the processor", path=path)
    line = output.decode("utf-8", "replace").strip().rpartition("\n")[2]
    if not line.startswith("{"):
        last = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise FirmwareError(f"the emulator failed on it: {last or f'signal {-worker.returncode}'}", path=path)
    answer = json.loads(line)
    if "usage" in answer:
        raise UsageError(answer["usage"])
    if "problem" in answer:
        raise FirmwareError(answer["problem"], path=path, offset=answer["offset"])
    return from_json(Execution, answer)


def _end(worker: subprocess.Popen[bytes]) -> None:
    """End the process and what it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
