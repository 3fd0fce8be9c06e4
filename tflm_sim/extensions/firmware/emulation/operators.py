"""A model's operators as they stand in the arena: NodeAndRegistration[], found by what they hold.

    | TfLiteNode ... | registration | TfLiteNode ... | registration | ...          a block of the tail
                           '--> init, free, prepare, invoke, a word, builtin_code, custom_name

The words of a TfLiteNode moved from version to version; that the registration is the last word of a row, and what it
begins with, has not. Source: micro_allocator.h, micro_common.h @ 90b983c; TfLiteRegistration in c/common.h before 2023.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from tflm_sim.arena.events import Persist
from tflm_sim.extensions.firmware.emulation.emulator import Emulator, text_at, word, words
from tflm_sim.extensions.firmware.emulation.seen import ObservedOperator
from tflm_sim.model.schema import builtin_operator_code, builtin_operator_name

_STRIDES = range(24, 68, 4)
"""Bytes that a row may have."""
_Row = tuple[int, tuple[int, ...]]
"""(where its node lies, its words, of which the last is its registration)."""
_CODE = 5
_CUSTOM = builtin_operator_code("CUSTOM")
_MAX_CODES = 1000
_MAX_TENSORS = 1000


def find_operators(
    machine: Emulator, head: int, blocks: Iterable[Persist], is_code: Callable[[int], bool]
) -> tuple[ObservedOperator, ...]:
    """Return the operators that stand in an arena, by subgraph.

    Args:
        machine: The machine, after AllocateTensors().
        head: Where the arena begins.
        blocks: The tail's blocks, in the order in which they were taken.
        is_code: Whether a word is the address of a function.
    """
    found: list[ObservedOperator] = []
    subgraph, strides = 0, tuple(_STRIDES)
    for block in blocks:
        rows = _rows(machine, head + block.offset, block.size, is_code, strides)
        if rows:
            found += _operators(machine, subgraph, rows)
            subgraph, strides = subgraph + 1, (block.size // len(rows),)
        elif (
            found and block.size
        ):  # The nodes of all subgraphs are taken one after another; what follows may look alike.
            break
    return tuple(found)


def _rows(
    machine: Emulator, start: int, size: int, is_code: Callable[[int], bool], strides: Sequence[int]
) -> list[_Row]:
    """Return the rows of a block, each of one of ``strides`` bytes; [] for a block of something else."""
    for stride in strides:
        if size % stride == 0 and size:
            rows = [(node, words(machine, node, stride // 4)) for node in range(start, start + size, stride)]
            if all(_is_node(machine, row) and _is_registration(machine, row[-1], is_code) for _, row in rows):
                return rows
    return []


def _is_node(machine: Emulator, row: tuple[int, ...]) -> bool:
    """Whether a row begins with its inputs and outputs: addresses of how many they are, or 0."""
    return all(address == 0 or word(machine, address) < _MAX_TENSORS for address in row[:2])


def _is_registration(machine: Emulator, address: int, is_code: Callable[[int], bool]) -> bool:
    if address % 4 or address == 0:
        return False
    fields = words(machine, address, _CODE + 1)
    functions = fields[:4]
    return (
        all(function == 0 or is_code(function) for function in functions)
        and bool(functions[2] or functions[3])
        and fields[_CODE] < _MAX_CODES
    )


def _operators(machine: Emulator, subgraph: int, rows: Iterable[_Row]) -> Iterator[ObservedOperator]:
    bit = machine.core.code_bit
    for index, (node, row) in enumerate(rows):
        init, _, prepare, invoke, _, code, custom = words(machine, row[-1], _CODE + 2)
        starts, prepares, runs = (function & ~bit or None for function in (init, prepare, invoke))
        name = text_at(machine, custom, 100) if code == _CUSTOM else builtin_operator_name(code)
        yield ObservedOperator(subgraph, index, name or f"operator {code}", node, starts, prepares, runs, row[:-1])
