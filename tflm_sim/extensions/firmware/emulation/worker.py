r"""The emulator's process: executes one program and writes what happened as one line of JSON.

    python -m tflm_sim.extensions.firmware.emulation.worker APP.elf \
        '{"timeout": 120, "invokes": 1, "emulator": "", "sizes": [], "interpreter": 0, "file": "APP.elf"}' [LIFELINE]

Standard input has the model that is put in the place of the program's, if any, and the inputs for which its outputs
are wanted, if any: {"model": "...", "runs": [["...", ...], ...]}, all bytes in base 64; {"model": null} for neither.

LIFELINE is the number of a pipe that whoever started this process holds open: once that is gone, it ends, and QEMU.

Nothing that the program does reaches further than this process, whose time is bounded, and its memory on Linux.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
from base64 import b64decode, b64encode
from typing import Any

from tflm_sim.documents import as_json
from tflm_sim.errors import FirmwareError, UsageError
from tflm_sim.extensions.firmware.emulation.backends import backend
from tflm_sim.extensions.firmware.emulation.follow import follow
from tflm_sim.extensions.firmware.emulation.outputs import compute
from tflm_sim.extensions.firmware.emulation.program import Program
from tflm_sim.extensions.firmware.reading.image import load_image
from tflm_sim.model.load import parse

_MEMORY = 6 << 30
"""Bytes of address space; Unicorn sets 1 GiB of it aside for translated code and uses little of it."""


def _limit(kind: int, soft: int, hard: int) -> None:
    """Set a limit of this process; one that somebody set lower stays, since nobody may raise it."""
    most = resource.getrlimit(kind)[1]
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(kind, (soft, hard))


def main() -> int:
    path, settings, *lifeline = sys.argv[1], json.loads(sys.argv[2]), *map(int, sys.argv[3:])
    for number in lifeline:
        threading.Thread(target=_end_with_starter, args=(number,), daemon=True).start()
    if sys.platform == "linux":  # macOS refuses a limit below what is mapped, of which it does not say how much.
        _limit(resource.RLIMIT_AS, _MEMORY, _MEMORY)
    seconds = settings["timeout"]
    # At the first of the two limits the system says why it ends the process, at the second it only kills.
    _limit(resource.RLIMIT_CPU, seconds, seconds + 5)
    _limit(resource.RLIMIT_CORE, 0, 0)
    try:
        answer = _execute(path, settings, json.load(sys.stdin))
    except FirmwareError as problem:
        answer = {"problem": problem.message, "offset": problem.offset}
    except UsageError as problem:
        answer = {"usage": str(problem)}
    print(json.dumps(answer), flush=True)
    return 0


def _end_with_starter(lifeline: int) -> None:
    """Wait until the pipe has no writer any more, and end this process and those that it started."""
    os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)


def _execute(path: str, settings: dict[str, Any], given: dict[str, Any]) -> object:
    image = load_image(path)
    assert image.elf is not None, "who starts this process has looked"
    program = Program(image.elf)
    emulator = backend(program, path, settings["emulator"])
    model = None if given["model"] is None else parse(b64decode(given["model"]))
    if model is not None and given["runs"] is not None:
        runs = [[b64decode(each) for each in inputs] for inputs in given["runs"]]
        computed = compute(program, emulator.make, model, runs, settings["timeout"] / 2, settings["interpreter"])
        return {"outputs": [[b64encode(each).decode() for each in outputs] for outputs in computed]}
    return as_json(
        follow(
            program,
            emulator.make,
            emulator=emulator.name,
            file=settings["file"],
            invokes=settings["invokes"],
            invoke_seconds=settings["timeout"] / 2,
            model=model,
            interpreter=settings["interpreter"],
            sizes=settings["sizes"],
        )
    )


if __name__ == "__main__":
    sys.exit(main())
