"""Compare TFLM's structs in a program's debug information with our tables.

    python tools upstream program_structs PROGRAM.elf --target cortex-m4
    python tools upstream program_structs PROGRAM.elf --target cortex-m4 --runtime 8f6596d

PROGRAM.elf is linked with a TFLM that is newer than our tables, compiled with -g. Where no pip wheel shows a struct
that changed, because it is a 32-bit one or a kernel library's, this does. Exit code 1 where one has another size.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import frame

from tflm_sim.errors import TflmSimError
from tflm_sim.extensions.firmware.reading.elf import Elf
from tflm_sim.extensions.firmware.reading.measured_structs import debug_facts, units_of
from tflm_sim.targets.presets import preset
from tflm_sim.targets.target import Target


def compared(path: Path, target: Target) -> Iterator[tuple[str, str]]:
    """Yield (line, what a person has to decide or "") of the structs of a program beside those of our tables.

    Raises:
        FirmwareError: It is no ELF file, or its debug information contradicts itself.
    """
    facts = debug_facts(
        units_of(Elf(memoryview(path.read_bytes()))), target.structs.keys(), int64_alignment=target.abi.int64_alignment
    )
    found = facts.structs if facts else {}
    lines = [
        f"{name} has {measured.size} bytes in {path.name}, {target.structs[name].size} in targets/struct_tables"
        for name, measured in sorted(found.items())
        if measured.size != target.structs[name].size
    ]
    known = f"{target.runtime} on {target.name}"
    if not found:
        yield f"structs: no debug information of TFLM in {path.name}; compile TFLM with -g", ""
        return
    yield f"structs: {len(found)} of {path.name} compared with {known}, {len(lines)} of another size", ""
    for line in lines:
        yield f"  {line}", f"a struct: {line}; its members there, under a change of targets/changes.py"


def main(arguments: Sequence[str]) -> int:
    """Compare, and return the exit code."""
    parser = frame.parser(__doc__)
    parser.add_argument("program", type=Path, metavar="PROGRAM.elf")
    parser.add_argument("--target", required=True, help="the processor that it is compiled for")
    parser.add_argument("--runtime", help="the TFLM of ours that it is compared with")
    args = parser.parse_args(arguments)
    try:
        found = [*compared(args.program, preset(args.target, runtime=args.runtime))]
    except (TflmSimError, OSError) as error:
        print(f"program_structs: {error}", file=sys.stderr)
        return 3
    print(*[line for line, _ in found], sep="\n")
    return int(any(decision for _, decision in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
