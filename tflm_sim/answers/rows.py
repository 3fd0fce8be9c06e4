"""One model on one target or board, as a row of a table.

A row says everything in plain values, whatever went wrong, so that rows of many models can be compared and stored.
Nothing here knows in which process it is computed, or how long that may take. Whoever ends a process that takes too
long, or sees it die, makes the row for that with :func:`failed_row`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tflm_sim.answers.sizing import Sizer, Sizing
from tflm_sim.device.configuration import Configuration, configure
from tflm_sim.errors import FileError, ModelError, TflmSimError, UsageError, each_of
from tflm_sim.graph.multiplications import total_multiplications
from tflm_sim.model.encode import encode
from tflm_sim.model.inputs import read_input
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model
from tflm_sim.provenance import made_by
from tflm_sim.targets.boards import BOARDS, Board, board
from tflm_sim.targets.presets import PRESETS, preset

Source = str | bytes | Model
"""A model: a path (or fsspec URL, or ``sample:NAME``), the bytes of a .tflite file, or one in memory."""

TOO_MUCH_MEMORY = "sizing it took more memory than there is, or than it may take"
MAX_ERROR_CHARACTERS = 500
"""Characters of an error that a row keeps."""


@dataclass(frozen=True, slots=True)
class Case:
    """A target or board for which models are sized, and its settings.

    Attributes:
        target: A preset's name.
        board: The board whose RAM and flash it must fit; "" for none.
        settings: Further keyword settings, as ``Settings`` of ``device.configuration`` has them; values of JSON.
        limit: Bytes that the arena may have; None for the board's largest bank, and without one for no verdict.
    """

    target: str
    board: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = None

    @property
    def settings_text(self) -> str:
        """The settings as JSON, the same text for the same settings."""
        return json.dumps(dict(self.settings), sort_keys=True)

    @property
    def arena_limit(self) -> int | None:
        """Bytes that the arena may have: what was asked for, else the board's largest bank."""
        if self.limit is not None or not self.board:
            return self.limit
        bank = board(self.board).largest_bank
        return None if bank is None else bank.size

    def configuration(self) -> Configuration:
        """Return what the model runs on."""
        return configure(self.target, **json.loads(self.settings_text))


def cases(
    targets: Iterable[str] = (), boards: Iterable[str] = (), *, limit: int | None = None, **settings: Any
) -> list[Case]:
    """Return what to size for: every target, then every board; "all" stands for all of them.

    Raises:
        UsageError: There is no such target or board, or there are none.
    """
    found = [Case(preset(name).name, "", settings, limit) for name in _all(targets, PRESETS)]
    found += [Case(board(name).preset, board(name).name, settings, limit) for name in _all(boards, BOARDS)]
    if not found:
        raise UsageError("at least one target or board is needed")
    try:
        json.dumps(settings)
    except (TypeError, ValueError) as error:
        raise UsageError(f"the settings of a sweep must be JSON values: {error}") from None
    return found


def _all(names: Iterable[str], known: Iterable[str]) -> list[str]:
    names = each_of(names, str, "the names of targets or boards")
    return list(known) if names == ("all",) else list(names)


@dataclass(frozen=True, slots=True)
class Row:
    """One model on one target; bytes where nothing else is said. None where there is no such figure.

    Attributes:
        model: Its path, or "model N" for the N-th of a sweep that has none.
        sha256: Of its bytes; "" where they could not be read.
        model_bytes: Of the file.
        target, kernels, runtime, board: What it was sized for.
        settings: Further settings, as JSON.
        status: "ok"; "error" or "abort", when AllocateTensors() fails in any arena; "never-invokes", when it succeeds
            and Invoke() fails every time (the sizes are there); "unsupported", an operator that is not modelled;
            "unreadable", no model; "timeout", "memory" or "crash", when sizing it took too much or found
            an error in this package.
        smallest_arena, multiple_of_16: The smallest arena, and the smallest one that is a multiple of 16.
        arena_used_bytes, head_bytes, tail_bytes: In a roomy arena.
        binding: What would not fit in a byte less.
        peak_operator: The operator at which the head is fullest, "#INDEX NAME".
        peak_bytes: Alive then.
        operators: Of all subgraphs.
        macs: Multiply-accumulates of one invocation.
        limit: Bytes that the arena may have: what was asked for, else the board's largest bank.
        fits: Whether the arena, and on a board the model in flash, fit; False for a model that never invokes. None
            where only the firmware knows how much of a bank that is large enough is free.
        error: Why there is no figure, or why the model never invokes, in words.
        version: Of this package, and its commit: "0.3.0 (34d7cf465)".
    """

    model: str
    sha256: str = ""
    model_bytes: int | None = None
    target: str = ""
    kernels: str = ""
    runtime: str = ""
    board: str = ""
    settings: str = "{}"
    status: str = "ok"
    smallest_arena: int | None = None
    multiple_of_16: int | None = None
    arena_used_bytes: int | None = None
    head_bytes: int | None = None
    tail_bytes: int | None = None
    binding: str = ""
    peak_operator: str = ""
    peak_bytes: int | None = None
    operators: int | None = None
    macs: int | None = None
    limit: int | None = None
    fits: bool | None = None
    error: str = ""
    version: str = field(default_factory=made_by)

    @property
    def may_fit(self) -> bool | None:
        """Whether it fits, or would if the whole bank were free; None where that is not known."""
        is_sized = self.multiple_of_16 is not None and self.limit is not None
        return True if self.fits is None and is_sized else self.fits


NEVER_INVOKES = "never-invokes"
STATUSES = frozenset({"ok", "error", "abort", NEVER_INVOKES, "unsupported", "unreadable", "timeout", "memory", "crash"})

COLUMNS: dict[str, str] = Row.__annotations__
"""Name -> "str", "int | None" or "bool | None"."""


def as_dict(row: Row) -> dict[str, Any]:
    """Return a row as JSON has it."""
    return {name: getattr(row, name) for name in COLUMNS}


def read_source(source: Source) -> tuple[bytes | memoryview, Model]:
    """Return a model's bytes, and the model.

    Raises:
        ModelError: It cannot be read, or is no model.
    """
    if isinstance(source, Model):
        data: bytes | memoryview = source.source if len(source.source) else encode(source)
        return data, source
    if isinstance(source, bytes):
        return source, parse(source)
    if os.path.exists(source) and not os.path.isfile(source):
        raise ModelError("it is not a regular file", path=source)
    data = read_input(source).data
    return data, parse(data, path=source)


class Rows:
    """Computes the rows of one model after another, in one thread (mutable: a cache of Prepares).

    Args:
        cases: What each model is sized for.
        read: Returns the bytes of a source and its model.
    """

    def __init__(
        self, cases: Sequence[Case], *, read: Callable[[Source], tuple[bytes | memoryview, Model]] = read_source
    ) -> None:
        self._cases, self._read, self._sizer = cases, read, Sizer()
        self._configuration = cache(lambda number: cases[number].configuration())

    def of(self, name: str, source: Source) -> Iterator[Row]:
        """Yield a row for each case, whatever the model is.

        Args:
            name: What the rows call it.
            source: The model.
        """
        try:
            data, model = self._read(source)
            digest = hashlib.sha256(data).hexdigest()
            known = Row(
                name,
                digest,
                len(data),
                operators=sum(len(subgraph.operators) for subgraph in model.subgraphs),
                macs=total_multiplications(model),
            )
        except Exception as error:  # one bad file costs its rows, whatever it does to us
            if isinstance(error, FileError) and error.path == source:
                error.path = name  # a worker elsewhere has the whole path
            yield from (_failed(Row(name), case, error, "unreadable") for case in self._cases)
            return
        for number, case in enumerate(self._cases):
            try:
                row = _row(known, case, self._sizer.sizing(model, self._configuration(number)))
            except Exception as error:
                row = _failed(known, case, error, "unsupported")
            yield row


def rows_of(name: str, source: Source, cases: Sequence[Case]) -> Iterator[Row]:
    """Return the rows of one model; see :class:`Rows`."""
    return Rows(cases).of(name, source)


def _failed(known: Row, case: Case, error: Exception, status: str) -> Row:
    words = str(error) or type(error).__name__
    if isinstance(error, MemoryError):
        status, words = "memory", TOO_MUCH_MEMORY
    elif not isinstance(error, TflmSimError | OSError | RecursionError):
        status, words = "crash", f"an error in tflm-sim itself ({type(error).__name__}: {words})"
    return failed_row(known, case, status, words)


def failed_row(known: Row, case: Case, status: str, error: str) -> Row:
    """Return the row of a model that has no size for a case.

    Args:
        known: What is known of the model.
        case: What it was to be sized for.
        status: One of ``STATUSES``.
        error: Why, in words.
    """
    facts = as_dict(known) | {
        "target": case.target,
        "board": case.board,
        "settings": case.settings_text,
        "limit": case.arena_limit,
    }
    return Row(**facts | {"status": status, "error": error[:MAX_ERROR_CHARACTERS]})


def _row(known: Row, case: Case, sized: Sizing) -> Row:
    target, smallest = sized.configuration.target, sized.smallest
    peak = sized.peak
    limit = case.arena_limit
    needed, problem = None if smallest is None else smallest.multiple_of_16, sized.invoke_problem
    works = problem is None and _is_room(needed, limit, known.model_bytes, board(case.board) if case.board else None)
    is_open = limit is None or (works and case.limit is None)
    return Row(
        model=known.model,
        sha256=known.sha256,
        model_bytes=known.model_bytes,
        operators=known.operators,
        macs=known.macs,
        target=target.name,
        kernels=str(target.kernel_library),
        runtime=target.runtime.snapshot,
        board=case.board,
        settings=case.settings_text,
        status=sized.status if problem is None else NEVER_INVOKES,
        smallest_arena=None if smallest is None else smallest.size,
        multiple_of_16=needed,
        arena_used_bytes=sized.arena_used_bytes,
        head_bytes=sized.head_bytes,
        tail_bytes=sized.tail_bytes,
        binding="" if smallest is None else smallest.binding.kind,
        peak_operator="" if peak is None else f"#{peak.operator} {peak.op}" if peak.op else "start",
        peak_bytes=None if peak is None else peak.live_bytes,
        limit=limit,
        fits=None if is_open else works,
        error=str(sized.failure or problem or "")[:MAX_ERROR_CHARACTERS],
    )


def _is_room(needed: int | None, limit: int | None, model_bytes: int | None, on: Board | None) -> bool:
    in_flash = on is None or on.flash is None or (model_bytes or 0) <= on.flash
    return needed is not None and limit is not None and needed <= limit and in_flash
