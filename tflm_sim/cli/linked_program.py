"""``--firmware APP.elf``: the targets that are possible for a linked program. Only this imports the ELF reader."""

from __future__ import annotations

import sys

from tflm_sim.cli.terminal import say
from tflm_sim.firmware.firmware import read_firmware
from tflm_sim.firmware.target import firmware_target
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.targets.target import Target
from tflm_sim.values import replace


def targets_of_program(path: str, **named: str | None) -> tuple[Target, ...]:
    """Return the targets that a linked program can have been built for, the likeliest first, with its arena's address.

    What had to be assumed goes to stderr.

    Args:
        path: Its ELF file.
        named: What the file may not say, as for :func:`firmware_target`.

    Raises:
        UsageError: Something that the file does not say has to be named.
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
