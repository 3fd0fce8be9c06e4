"""``--firmware APP.elf``: the targets that are possible for a linked program. Only this imports the ELF reader."""

from __future__ import annotations

import sys
from dataclasses import replace

from tflm_sim.cli.terminal import say
from tflm_sim.extensions.firmware.reading.firmware import read_firmware
from tflm_sim.extensions.firmware.reading.target import firmware_target
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.targets.target import Target


def targets_of_program(path: str, **named: str | None) -> tuple[Target, ...]:
    """Return the targets for which a linked program may have been built, the likeliest first, with its arena's address.

    Assumptions are printed to stderr.

    Args:
        path: The ELF file.
        named: Facts that the file may not contain, as for :func:`firmware_target`.

    Raises:
        UsageError: A fact that the file does not contain has to be given.
        FirmwareError: The file cannot be used.
    """
    firmware = read_firmware(path)
    found = firmware_target(firmware, **named)
    for ground in found.assumptions:
        say(f"{found.target.name}: {ground.part} assumed: {ground.value} ({ground.grounds})", file=sys.stderr)
    addresses = {call.arena for call in firmware.set_up.arenas or ()} or {arena.address for arena in firmware.arenas}
    address = addresses.pop() if len(addresses) == 1 else None
    if address is None:
        return found.alternatives
    return tuple(replace(target, arena_address=address % BUFFER_ALIGNMENT) for target in found.alternatives)
