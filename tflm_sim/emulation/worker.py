"""The emulator's process: executes one program and writes what happened as one line of JSON.

    python -m tflm_sim.emulation.worker APP.elf '{"timeout": 120, "invokes": 1, "emulator": ""}'

Nothing that the program does reaches further than this process, whose memory and time are bounded.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

from tflm_sim.documents import as_json
from tflm_sim.emulation.backends import backend
from tflm_sim.emulation.follow import follow
from tflm_sim.emulation.program import Program
from tflm_sim.errors import FirmwareError, UsageError
from tflm_sim.firmware.image import load_image

_MEMORY = 6 << 30
"""Bytes of address space; Unicorn sets 1 GiB of it aside for translated code and uses little of it."""


def main() -> int:
    """Execute, and write."""
    path, settings = sys.argv[1], json.loads(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    seconds = settings.pop("timeout")
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        answer = as_json(_execute(path, settings))
    except FirmwareError as problem:
        answer = {"problem": problem.message, "offset": problem.offset}
    except UsageError as problem:
        answer = {"usage": str(problem)}
    print(json.dumps(answer), flush=True)
    return 0


def _execute(path: str, settings: dict[str, Any]) -> object:
    image = load_image(path)
    if image.elf is None:
        raise FirmwareError(f"a file of format {image.format} cannot be executed here: name the ELF file")
    program = Program(image.elf)
    emulator = backend(program, path, settings["emulator"])
    return follow(program, emulator.make, emulator=emulator.name, file=path, invokes=settings["invokes"])


if __name__ == "__main__":
    sys.exit(main())
