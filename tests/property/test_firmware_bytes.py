"""Any bytes, and any change to a linked program, give a Firmware or a FirmwareError."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.reading.firmware import examine
from tflm_sim.extensions.firmware.reading.image import parse_image
from tflm_sim.samples import sample_path

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "extensions" / "firmware" / "reading"))
from elf_writer import Part, debug_parts, shape, symbol_parts, write_elf

SHAPES = (
    shape(1, 0x11, (3, 0x0E), children=True)
    + shape(2, 0x13, (3, 0x0E), (0x0B, 0x0B), children=True)
    + shape(3, 0x0D, (0x49, 0x13), (0x38, 0x0B))
    + shape(4, 0x24, (0x0B, 0x0B))
    + b"\0"
)
ENTRIES = b"\1\1\0\0\0" + b"\2\1\0\0\0\x08" + b"\3\x18\0\0\0\0" + b"\0" + b"\4\4" + b"\0\0"
PROGRAM = write_elf(
    Part(".rodata", sample_path("sine").read_bytes(), flags=2, address=0x8000),
    Part(".bss", (0, 4096), type=8, flags=3, address=0x20000000),
    *symbol_parts(3, ("tensor_arena", 0x20000000, 4096, 1, 2), ("g_model", 0x8000, 2136, 1, 1)),
    *debug_parts(ENTRIES, SHAPES, b"\0TfLiteNode\0"),
)


def test_the_program_itself_is_read() -> None:
    firmware = examine(parse_image(PROGRAM))
    assert [(arena.name, arena.size) for arena in firmware.arenas] == [("tensor_arena", 4096)]
    assert [model.symbol for model in firmware.models] == ["g_model"]
    assert firmware.debug is not None
    assert firmware.debug.structs["TfLiteNode"].size == 8


@given(st.binary(max_size=300), st.sampled_from([b"", b"\x7fELF\x01\x01\x01", b":10", b"UF2\nWQ]\x9e"]))
def test_any_bytes(data: bytes, start: bytes) -> None:
    with contextlib.suppress(FirmwareError):
        examine(parse_image(start + data))


@given(st.lists(st.tuples(st.integers(0, len(PROGRAM) - 1), st.binary(min_size=1, max_size=4)), max_size=6), st.data())
def test_any_change(changes: list[tuple[int, bytes]], data: st.DataObject) -> None:
    changed = bytearray(PROGRAM)
    for at, new in changes:
        changed[at : at + len(new)] = new
    del changed[data.draw(st.integers(1, len(changed))) :]
    with contextlib.suppress(FirmwareError):
        examine(parse_image(bytes(changed)))
