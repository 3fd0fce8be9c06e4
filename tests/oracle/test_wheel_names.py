"""TFLM's names, and the order of its tables of virtual functions, in the pip wheel: a real program of October 2026."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from pathlib import Path

import pytest

from tflm_sim.extensions.firmware.emulation.functions import Watched
from tflm_sim.extensions.firmware.emulation.unnamed import (
    _PERSISTENT,
    _PERSISTENT_SLOT,
    _PRINTED,
    _RESIZE,
    _SLOTS,
    _VARIABLES,
)
from tflm_sim.extensions.firmware.reading.firmware import Firmware, read_firmware
from tflm_sim.extensions.firmware.reading.symbol_names import function_name

FUNCTIONS = {
    Watched.ALLOCATE_TENSORS: 1,
    Watched.INVOKE: 1,
    Watched.INVOKE_SUBGRAPH: 1,
    Watched.CREATE_ALLOCATOR: 3,  # with a kind of planner, with a planner, and the recording one
    Watched.CREATE_TWO: 1,
    Watched.CREATE_ARENA: 1,
    # Of one arena, and of two that belong together.
    Watched.PERSISTENT: 2,
    Watched.TEMP: 2,
    Watched.TEMP_FREE: 2,
    Watched.TEMP_RESET: 2,
    Watched.RESIZE: 2,
    Watched.RESIZE_FREE: 2,
    Watched.RESERVE: 2,
    Watched.START_MODEL: 1,
    Watched.COMMIT_PLAN: 1,
    Watched.PRINT: 1,
    Watched.LOG: 1,
}
"""How many functions of the wheel have a role; sizes are counted as on 32 bits."""


@cache
def wheel() -> Path:
    """Return the wheel's library."""
    found = importlib.util.find_spec("tflite_micro")
    if found is None or found.origin is None:
        pytest.skip("the pip wheel of TFLM is not installed")
    return Path(found.origin).parent / "python" / "tflite_micro" / "_runtime.so"


@cache
def read() -> Firmware:
    return read_firmware(wheel())


def names() -> list[str]:
    """Return the names of its whole functions, with ``size_t`` as 32-bit code has it."""
    elf = read().image.elf
    assert elf is not None
    return [re.sub(r"(?<=[Eh_])m|(?<=[Eh]m)m", "j", one.name) for one in elf.symbols if "." not in one.name]


@pytest.mark.parametrize("role", FUNCTIONS)
def test_each_function_that_is_watched_has_its_name_there(role: Watched) -> None:
    found = {name for name in names() if re.fullmatch(role.value, name)}
    assert len(found) == FUNCTIONS[role], found


def test_the_library_is_read_as_one_of_an_older_tflm() -> None:
    found = read()
    assert found.interpreters == ("plain", "recording")
    assert found.has_resource_variables
    assert found.resolver_sizes == (200,)
    assert (found.reference_kernel, found.own_kernels, found.is_link_time_optimised) == ("ConvPrepare", (), False)
    assert not found.only_takes_allocators
    assert {"CONV_2D", "FULLY_CONNECTED", "RFFT", "TFLite_Detection_PostProcess", "ethos-u"} <= (
        found.operators or set()
    )
    (interpreter,) = found.set_up.interpreters
    assert (interpreter.arena, interpreter.preserves_all_tensors) == (None, False)


def tables() -> dict[str, list[str]]:
    """Return the functions in each class's table of virtual functions, in order, by the class's name."""
    elffile = pytest.importorskip("elftools.elf.elffile")
    with wheel().open("rb") as file:
        elf = elffile.ELFFile(file)
        symbols = list(elf.get_section_by_name(".dynsym").iter_symbols())
        named = {symbol["st_value"]: symbol.name for symbol in symbols if symbol["st_info"]["type"] == "STT_FUNC"}
        held = {}
        for row in elf.get_section_by_name(".rela.dyn").iter_relocations():
            index = row["r_info_sym"]
            name = symbols[index].name if index else named.get(row["r_addend"], "")
            held[row["r_offset"]] = function_name(name.replace("_ZThn8_", "_Z"))
        spans = {one.name: (one["st_value"], one["st_size"]) for one in symbols if one.name.startswith("_ZTV")}
    return {
        function_name("_Z" + name[len("_ZTV") :]): [held[at] for at in range(start, start + size, 8) if at in held]
        for name, (start, size) in spans.items()
    }


ROLES = {
    Watched.TEMP: "AllocateTemp", Watched.TEMP_FREE: "DeallocateTemp", Watched.TEMP_RESET: "ResetTempAllocations",
    Watched.RESIZE: "ResizeBuffer", Watched.RESIZE_FREE: "DeallocateResizableBuffer",
    Watched.RESERVE: "ReserveNonPersistentOverlayMemory", Watched.COMMIT_PLAN: "CommitStaticMemoryPlan",
}  # fmt: skip


@pytest.mark.parametrize(
    ("owner", "message", "printing"),
    [
        ("SingleArenaBufferAllocator", _RESIZE, "ResizeBuffer"),
        ("NonPersistentArenaBufferAllocator", _RESIZE, "ResizeBuffer"),
        ("MicroAllocator", _VARIABLES, "AllocateVariables"),
    ],
)
def test_functions_without_names_are_found_by_their_places_in_a_table(
    owner: str, message: bytes, printing: str
) -> None:
    table = tables()[owner]
    at = table.index(printing)
    for role, slot in _SLOTS[message].items():
        assert table[at + slot] == ROLES[role]
    if owner == "SingleArenaBufferAllocator":
        assert table[at + _PERSISTENT_SLOT] == "AllocatePersistentBuffer"


@pytest.mark.parametrize("message", [*_SLOTS, *_PRINTED.values(), _PERSISTENT])
def test_the_messages_by_which_they_are_found_are_there(message: bytes) -> None:
    assert wheel().read_bytes().count(message) == 1
