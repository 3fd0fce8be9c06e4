"""The stack that a linker script reserves, by its symbols, sizes and sections."""

from __future__ import annotations

import pytest

from tflm_sim.extensions.firmware.emulation.stack_room import _MAX_STACK_BYTES, StackRoom, reserved_stack


@pytest.mark.parametrize(
    ("symbols", "sections", "found"),
    [
        ({"__StackTop": 0x20010000, "__StackLimit": 0x2000F000}, [], ("__StackTop - __StackLimit", 4096)),
        # The Pico SDK: the limit is the heap's.
        (
            {"__StackTop": 0x20042000, "__StackLimit": 0x20040000, "__StackBottom": 0x20041800},
            [],
            ("__StackTop - __StackBottom", 2048),
        ),
        ({"_estack": 0x20018000, "_Min_Stack_Size": 0x400}, [], ("_Min_Stack_Size", 1024)),
        ({"_estack": 0x20018000}, [(".text", 5), (".stack", 512)], (".stack", 512)),
        ({"__StackTop": 0x20000000, "__StackLimit": 0x20001000}, [], None),
        ({"_Min_Stack_Size": 0}, [(".stack", 0)], None),
        ({"_Min_Stack_Size": 1}, [], ("_Min_Stack_Size", 1)),
        ({"_Min_Stack_Size": _MAX_STACK_BYTES}, [], ("_Min_Stack_Size", _MAX_STACK_BYTES)),
        ({"_Min_Stack_Size": _MAX_STACK_BYTES + 1}, [], None),
        ({}, [], None),
    ],
)
def test_what_is_reserved_is_found(
    symbols: dict[str, int], sections: list[tuple[str, int]], found: tuple[str, int] | None
) -> None:
    assert reserved_stack(symbols, sections, None) == found


def test_a_pair_that_ends_elsewhere_is_another_stack() -> None:
    symbols = {"__StackTop": 0x20010000, "__StackLimit": 0x2000F000, "__stack_size": 256}
    assert reserved_stack(symbols, [], 0x20008000) == ("__stack_size", 256)
    assert reserved_stack(symbols, [], 0x20010000) == ("__StackTop - __StackLimit", 4096)


def test_what_callers_use_counts() -> None:
    assert StackRoom("x", 100, 60).exceeded_by(50) == 10
    assert StackRoom("x", 100, None).exceeded_by(100) == 0
