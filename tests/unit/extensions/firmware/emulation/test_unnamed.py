"""A Cortex-M program without symbols, written by hand: its functions are found by what they print and by tables."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.extensions.firmware.emulation.functions import Watched
from tflm_sim.extensions.firmware.emulation.unnamed import functions_by_message
from tflm_sim.extensions.firmware.reading.elf import EXECUTABLE

CODE, TEXTS, TABLES = 0x8000, 0x2001_9000, 0x2001_A000
PRINTED = (
    b"Failed starting model allocation.\n",
    b"",
    b"Invoke() called after initialization failed with code %d\n",
    b"MicroAllocator: Model allocation started before finishing",
    b"Failed to allocate temp memory. Requested: %u",
    b"Failed to resize buffer. Requested: %u",
    b"Failed to allocate variable tensor of size %d",
    b"",
    b"Failed to allocate tail memory. Requested: %u",
    b"Failed to allocate tail memory. Requested: %u",
)
"""What each function prints, in order: one that prints what it is given is the second, CommitStaticMemoryPlan() the
eighth, and AllocatePersistentBuffer() twice at the end."""
ALLOCATE, PRINT, INVOKE, START, TEMP, RESIZE, VARIABLES, COMMIT, PERSISTENT, SHIFTED = range(10)
TEMP_FREE, TEMP_RESET, RESIZE_FREE, RESERVE = range(10, 14)
SINGLE_ARENA = {-5: TEMP, -4: TEMP_FREE, -2: TEMP_RESET, 0: RESIZE, 1: RESIZE_FREE, 3: RESERVE, 6: PERSISTENT}
ALLOCATOR = {0: VARIABLES, 3: COMMIT}
CALLED = (ALLOCATE, START, PERSISTENT, SHIFTED)
"""What main() calls, the function behind the others; then it jumps to Invoke()."""
MAIN = 14
SIZE = 32


def place(function: int) -> int:
    return CODE + SIZE * function


def call(site: int, target: int) -> tuple[int, int]:
    """Return the two halves of ``bl target``, which goes back here."""
    offset = target - site - 4 & 0x1FFFFFF
    return 0xF000 | 0x400 | offset >> 12 & 0x3FF, 0xF800 | offset >> 1 & 0x7FF


def function(number: int, text: int, *, argument: int, away: int) -> bytes:
    """Return push {lr}; ldr rX, text; ...; bl PRINT as many bytes behind the load as ``away``; pop {pc}; text."""
    if not text:
        return struct.pack("<16H", 0x4770, *[0xBF00] * 15)  # bx lr
    body = [0xB500, 0x4800 | argument << 8 | 6, *[0x46C0] * 12]  # Its constant lies 24 bytes behind pc + 4.
    body[1 + away // 2 : 3 + away // 2] = call(place(number) + 2 + away, place(PRINT))
    body[12] = 0xBD00
    return struct.pack("<14HI", *body, text)


def program(
    *tables: dict[int, int],
    argument: int = 0,
    away: int = 2,
    printed: tuple[bytes, ...] = PRINTED,
    maker: int | None = None,
    before: int = 0,
) -> Any:
    """Return a program; ``maker``: what loads an address so many bytes ``before`` the second table's first function."""
    texts, places = bytearray(b"\0"), []
    for text in printed:
        places.append(TEXTS + len(texts) if text else 0)
        texts += text + b"\0"
    places += [0] * (14 - len(places))
    if maker is not None:
        places[maker] = TABLES + 4 * (18 + 5) - before
    code = b"".join(function(n, text, argument=argument, away=away) for n, text in enumerate(places))
    main = [half for n, one in enumerate(CALLED) for half in call(place(MAIN) + 4 * n, place(one))]
    for where, target in ((16, place(INVOKE)), (20, place(MAIN) + 24)):  # The second stays in main().
        first, second = call(place(MAIN) + where, target)
        main += [first, second & ~0x4000]
    code += struct.pack(f"<{len(main) + 2}H", *main, 0xBF00, 0x4770)
    words: list[int] = []
    for table in tables:
        words += [place(table[slot]) | 1 if slot in table else 0 for slot in range(-5, 13)]
    parts = [(CODE, code, EXECUTABLE), (TEXTS, bytes(texts), 0), (TABLES, struct.pack(f"<{len(words)}I", *words), 0)]
    sections = [
        SimpleNamespace(address=address, data=data, flags=flags, is_allocated=True, has_bits=True)
        for address, data, flags in parts
    ]
    for is_allocated, has_bits in ((False, True), (True, False)):  # Sections that are no bytes of the program.
        copy = {"address": CODE + 0x1000, "data": code, "flags": EXECUTABLE}
        sections.append(SimpleNamespace(**copy, is_allocated=is_allocated, has_bits=has_bits))
    sections.append(SimpleNamespace(**{**vars(sections[0]), "address": CODE + 0x2000, "flags": 0}))
    return SimpleNamespace(sections=sections, bytes_of=lambda section: section.data)


def found(*tables: dict[int, int], **how: Any) -> dict[Watched, tuple[tuple[int, int], ...]]:
    """Return the functions by their number, with how far inside of the object they are for."""
    by_role = functions_by_message(program(*tables, **how), is_arm=True)
    return {role: tuple(((one.address - CODE) // SIZE, one.shift) for one in rows) for role, rows in by_role.items()}


ALL = {
    Watched.ALLOCATE_TENSORS: ((ALLOCATE, 0),),
    Watched.INVOKE: ((INVOKE, 0),),
    Watched.START_MODEL: ((START, 0),),
    Watched.TEMP: ((TEMP, 0),),
    Watched.TEMP_FREE: ((TEMP_FREE, 0),),
    Watched.TEMP_RESET: ((TEMP_RESET, 0),),
    Watched.RESIZE: ((RESIZE, 0),),
    Watched.RESIZE_FREE: ((RESIZE_FREE, 0),),
    Watched.RESERVE: ((RESERVE, 0),),
    Watched.COMMIT_PLAN: ((COMMIT, 0),),
    Watched.PERSISTENT: ((PERSISTENT, 0), (SHIFTED, 4)),
    Watched.PRINT: ((PRINT, 0),),
}


def test_functions_are_known_by_their_messages_and_by_their_places_beside_those() -> None:
    assert found(SINGLE_ARENA | {12: SHIFTED}, ALLOCATOR) == ALL


@pytest.mark.parametrize("before", [0, 8])
def test_what_loads_the_table_of_a_micro_allocator_makes_one_and_its_caller_may_be_given_the_arena(before: int) -> None:
    by_role = found(SINGLE_ARENA | {12: MAIN}, ALLOCATOR, maker=SHIFTED, before=before)
    assert by_role[Watched.CREATE_ALLOCATOR] == ((SHIFTED, 0), (MAIN, 0))
    assert by_role[Watched.PERSISTENT] == ((PERSISTENT, 0),)


def test_of_two_that_print_one_message_the_table_says_which_is_meant() -> None:
    assert found({**SINGLE_ARENA, 12: PERSISTENT}, ALLOCATOR)[Watched.PERSISTENT] == ((PERSISTENT, 0),)
    without = {slot: one for slot, one in SINGLE_ARENA.items() if slot != 6}
    assert found(without | {12: SHIFTED}, ALLOCATOR)[Watched.PERSISTENT] == ((PERSISTENT, 0), (SHIFTED, 4))
    assert found(without, ALLOCATOR)[Watched.PERSISTENT] == ((PERSISTENT, 0), (SHIFTED, 0))


@pytest.mark.parametrize("text", [b"Scratch buffer request exeeds limit", b"Scratch buffer request exceeds limit"])
def test_what_lends_scratch_buffers_prints_a_message_whose_spelling_changed(text: bytes) -> None:
    by_role = found(SINGLE_ARENA, ALLOCATOR, printed=(*PRINTED, text))
    assert by_role[Watched.REQUEST_SCRATCH] == ((TEMP_FREE, 0),)  # The function behind the others prints it here.


def test_before_june_2022_resetting_stands_behind_taking() -> None:
    roles = found({0: TEMP, 1: TEMP_RESET}, ALLOCATOR)
    assert (roles[Watched.TEMP], roles[Watched.TEMP_RESET]) == (((TEMP, 0),), ((TEMP_RESET, 0),))
    assert Watched.RESIZE not in roles


def test_an_error_reporter_is_given_a_message_as_its_second_argument() -> None:
    roles = found(SINGLE_ARENA, argument=1)
    assert (roles[Watched.REPORT], Watched.PRINT in roles) == (((PRINT, 0),), False)
    assert not {Watched.REPORT, Watched.PRINT} & set(found(SINGLE_ARENA, argument=2))


@pytest.mark.parametrize(("away", "is_found"), [(12, True), (14, False)])
def test_what_prints_is_called_within_twelve_bytes(away: int, is_found: bool) -> None:
    assert (Watched.PRINT in found(SINGLE_ARENA, away=away)) is is_found


@pytest.mark.parametrize("missing", [ALLOCATE, PERSISTENT])
def test_without_a_function_that_is_needed_none_is_found(missing: int) -> None:
    printed = tuple(b"" if text == PRINTED[missing] else text for text in PRINTED)
    assert found(SINGLE_ARENA, ALLOCATOR, printed=printed) == {}
    assert found(ALLOCATOR) == {}, "no table holds AllocateTemp()"
