"""Where a program may write, and what it writes elsewhere; the form in which ``noted_stores.h`` notes it.

free        the arenas, the stack, devices: not noted
objects     what the program has besides: noted, by object
nowhere     neither: a store out of bounds
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from ctypes import Structure, c_int64, c_uint32, c_uint64
from typing import NamedTuple

from tflm_sim.extensions.firmware.emulation.memory_map import Span

MAX_SPANS = 16384
_MAX_STORES = 1024
_MAX_BLOCKS = 8192
NO_OPERATOR = 0
"""The asker outside of operators."""


class _SpanNoted(Structure):
    _fields_ = (("start", c_uint64), ("end", c_uint64), ("is_free", c_uint64))


class _StoreNoted(Structure):
    _fields_ = (
        ("code_address", c_uint64),
        ("low", c_uint64),
        ("end", c_uint64),
        ("times", c_uint64),
        ("span", c_int64),
        ("asker", c_int64),
    )


class _BlockNoted(Structure):
    _fields_ = (
        ("address", c_uint64),
        ("size", c_uint32),
        ("instructions", c_uint32),
        ("generation", c_uint64),
        ("is_loud", c_int64),
    )


class Noted(Structure):
    """What is noted in C. ``tflm_noted_t`` there."""

    _fields_ = (
        ("get_register", c_uint64),
        ("set_register", c_uint64),
        ("read_memory", c_uint64),
        ("hook_del", c_uint64),
        ("emu_stop", c_uint64),
        ("store_hook", c_uint64 * 2),
        ("loud", c_uint64),
        ("most_loud", c_uint64),
        ("program_counter", c_int64),
        ("execution_state", c_int64),
        ("is_thumb", c_int64),
        ("is_strict", c_int64),
        ("unaligned", c_uint64),
        ("unaligned_at", c_uint64),
        ("instructions", c_uint64),
        ("block_address", c_uint64),
        ("block_size", c_uint64),
        ("generation", c_uint64),
        ("is_watching", c_int64),
        ("asker", c_int64),
        ("spans", c_int64),
        ("stores", c_int64),
        ("span", _SpanNoted * MAX_SPANS),
        ("store", _StoreNoted * _MAX_STORES),
        ("block", _BlockNoted * _MAX_BLOCKS),
    )


class Stored(NamedTuple):
    """All stores of one instruction, for one asker, to one object or to none.

    Attributes:
        code_address: The instruction; 0 for all those together that come when there are ``_MAX_STORES`` rows.
        asker: A number, as it was given; ``NO_OPERATOR`` for those.
        low: The lowest byte.
        end: The one after the highest.
        times: How many stores.
        is_inside: Whether all are to the program's own objects, or to guarded bytes.
        is_guarded: Whether all are to guarded bytes.
    """

    code_address: int
    asker: int
    low: int
    end: int
    times: int
    is_inside: bool
    is_guarded: bool = False


class _MarkedRange(NamedTuple):
    span: Span
    is_free: bool
    is_guarded: bool = False


def begin(
    noted: Noted, free: Iterable[Span], objects: Iterable[Span], devices: Iterable[Span], guarded: Iterable[Span] = ()
) -> dict[int, Span]:
    """Have stores noted from now on, but those to ``free`` and ``devices``; where they overlap, the first one holds.

    ``guarded`` come before all, and are free until :func:`permit` is called.

    Returns:
        The guarded stretches, by their number.
    """
    rows = ((guarded, True, True), (free, True, False), (objects, False, False), (devices, True, False))
    stretches = _apart([_MarkedRange(span, *row) for spans, *row in rows for span in spans if span.start < span.end])
    if len(stretches) > MAX_SPANS:  # What cannot be told apart is taken for free.
        rest = Span(stretches[MAX_SPANS - 1].span.start, stretches[-1].span.end)
        stretches[MAX_SPANS - 1 :] = [_MarkedRange(rest, is_free=True)]
    for index, (span, is_free, _) in enumerate(stretches):
        noted.span[index] = _SpanNoted(span.start, span.end, is_free)
    noted.spans = len(stretches)
    noted.stores = 0
    noted.asker = NO_OPERATOR
    noted.is_watching = 1
    return {index: one.span for index, one in enumerate(stretches) if one.is_guarded}


def permit(noted: Noted, guarded: dict[int, Span], own: Sequence[Span] | None) -> None:
    """Note stores to ``guarded`` stretches from now on, but those within ``own``; None for no such stores."""
    for index, span in guarded.items():
        noted.span[index].is_free = own is None or any(one.start <= span.start and span.end <= one.end for one in own)


def end(noted: Noted, guarded: Container[int] = ()) -> list[Stored]:
    """Return what was noted, and note no more; ``guarded``: the numbers of these stretches."""
    noted.is_watching = 0
    rows = (noted.store[index] for index in range(noted.stores))
    return [
        Stored(row.code_address, row.asker, row.low, row.end, row.times, row.span >= 0, row.span in guarded)
        for row in rows
    ]


def _apart(wanted: Sequence[_MarkedRange]) -> list[_MarkedRange]:
    """Return the stretches in order and without overlap; of those that overlap, the first in ``wanted`` holds."""
    edges = sorted({edge for span, *_ in wanted for edge in (span.start, span.end)})
    number = {edge: at for at, edge in enumerate(edges)}
    owner: list[int | None] = [None] * len(edges)
    for index in reversed(range(len(wanted))):
        span = wanted[index].span
        owner[number[span.start] : number[span.end]] = [index] * (number[span.end] - number[span.start])
    return list(_joined(wanted, edges, owner))


def _joined(
    wanted: Sequence[_MarkedRange], edges: Sequence[int], owner: Sequence[int | None]
) -> Iterator[_MarkedRange]:
    start = 0
    for at, index in enumerate(owner):
        if at and index != owner[at - 1] and owner[at - 1] is not None:
            yield wanted[owner[at - 1] or 0]._replace(span=Span(edges[start], edges[at]))
        if at == 0 or index != owner[at - 1]:
            start = at
