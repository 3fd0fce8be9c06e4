"""The C planner core behind one typed wall: nothing else imports the binding.

``available()`` says whether the extension was built and works. The rest may be used only then.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import chain
from typing import Any

from tflm_sim.errors import PlanningError, TflmSimError, UsageError
from tflm_sim.planners.buffers import Buffer, Plan
from tflm_sim.planners.deadline import NEVER, Deadline, out_of_time

BROWSER_LIBRARY = "planners.wasm"
"""The file beside this one that the page's archive has: the C core, compiled for the page."""

_INT32_MAX = 2**31 - 1
_INT64_MAX = 2**63 - 1
_ROW_LENGTH = 5
_PATHS_PER_CALL = 64

Row = tuple[int, int, int, int, int]
"""(size, offline_offset or -1, first_time_used, last_time_used, alignment); lifetimes are inclusive."""


@cache
def _binding() -> Any:
    """Return the extension, or the browser's library; None without either, or where one buffer is not placed at 0."""
    native = _browser_library() if sys.platform == "emscripten" else _extension()
    if native is None:
        return None
    offsets, peak = _place(native, native.lib.tflm_plan_greedy_until, array("i", (16, -1, 0, 0, 1)), NEVER)
    return native if (list(offsets), peak) == ([0], 16) else None


def _extension() -> Any:
    try:
        # Where it is not there or refuses a sub-interpreter, the extension that needs it would end the process.
        import_module("_cffi_backend")
        return import_module("tflm_sim.planners.native._native")
    except ImportError:
        return None


def _browser_library() -> Any:
    from pathlib import Path

    from tflm_sim.planners.native.shared_library import LoadedCore  # ctypes: slow to import, and nobody else wants it.

    path = Path(__file__).with_name(BROWSER_LIBRARY)
    return LoadedCore(path) if path.exists() else None


def available() -> bool:
    """Return whether the C core can be used."""
    return _binding() is not None


def rows(buffers: Iterable[Buffer]) -> list[Row]:
    """Return ``buffers`` as the C core reads them."""
    return [(b.size, -1 if b.offset is None else b.offset, b.lower, b.upper - 1, b.alignment) for b in buffers]


def greedy(buffers: Iterable[Row], deadline: Deadline = NEVER) -> tuple[list[int], int]:
    """Return the offsets (bytes) that TFLM's greedy planner gives, and the highest end as TFLM computes it.

    Raises:
        PlanningError: A value is outside 32-bit integers or negative where it must not be, or a buffer would end above.
        NoPlanInTime: The deadline came first.
    """
    native = _checked_binding()
    offsets, peak = _place(native, native.lib.tflm_plan_greedy_until, _flat(buffers), deadline)
    return offsets.tolist(), peak


def best_fit(buffers: Iterable[Row], deadline: Deadline = NEVER) -> list[int]:
    """Return the offsets (bytes) that the GPU delegate's GREEDY_BY_SIZE gives; errors as :func:`greedy`."""
    native = _checked_binding()
    return _place(native, native.lib.tflm_plan_best_fit, _flat(buffers), deadline)[0].tolist()


TensorUsage = tuple[int, int, int]
"""(size, first_task, last_task); tasks are inclusive."""


def min_cost_flow(tensors: Iterable[TensorUsage], deadline: Deadline = NEVER) -> list[int]:
    """Return the shared object of each tensor by the GPU delegate's MINCOSTFLOW; Ctrl-C ends it between two paths.

    Raises:
        PlanningError: The sizes do not sum up to less than 2^31 - 1.
        NoPlanInTime: The deadline came first.
    """
    native, flat = _checked_binding(), _flat(tensors, "q")
    count = len(flat) // 3
    size = native.lib.tflm_min_cost_flow_workspace_size(count)
    object_ids, workspace = array("I", bytes(4 * count)), native.ffi.new("uint64_t[]", -(-size // 8))
    usages = native.ffi.from_buffer("tflm_tensor_usage_t[]", flat)
    started = native.ffi.new("tflm_min_cost_flow_t **")
    _check(native.lib, native.lib.tflm_min_cost_flow_start(usages, count, workspace, size, started))
    while not native.lib.tflm_min_cost_flow_run(started[0], _PATHS_PER_CALL):
        if deadline.is_over:
            raise out_of_time()
    native.lib.tflm_min_cost_flow_objects(started[0], native.ffi.from_buffer("uint32_t[]", object_ids))
    return object_ids.tolist()


class NativeHillClimb:
    """The search of ``planners.hill_climb`` in C (mutable).

    Args:
        buffers: What to place.
        neighbours: How many are alive together with each, in sum; at most ``MAX_NEIGHBOURS``.
        deadline: When the search has to end, with a plan in any case.

    Raises:
        PlanningError: A value is outside 32-bit integers or negative where it must not be.
    """

    MAX_NEIGHBOURS = 1 << 26

    def __init__(self, buffers: Iterable[Row], neighbours: int, deadline: Deadline = NEVER) -> None:
        native = _checked_binding()
        self._clock = _Clock(native, deadline)
        self._ffi, self._lib = native.ffi, native.lib
        flat = _flat(buffers)
        self._count = len(flat) // _ROW_LENGTH
        self._buffers = self._ffi.from_buffer("tflm_plan_buffer_t[]", flat)
        size = self._lib.tflm_hill_climb_workspace_size(self._count, neighbours)
        self._workspace = self._ffi.new("uint64_t[]", size // 8)
        search = self._ffi.new("tflm_hill_climb_t **")
        given = (self._buffers, self._count, self._workspace, size, *self._clock.arguments)
        with self._clock.ticking():
            status = self._lib.tflm_hill_climb_start(*given, search)
        _check(self._lib, status)
        self._search = search[0]
        self._is_done = False

    @property
    def is_done(self) -> bool:
        """Whether the lower bound is reached, or nothing helped for a long time."""
        return self._is_done

    @property
    def best_offsets(self) -> Sequence[int]:
        """The best offsets so far, in bytes."""
        return self._ffi.unpack(self._lib.tflm_hill_climb_offsets(self._search), self._count) if self._count else []

    def run(self, iterations: int) -> None:
        """Try up to ``iterations`` swaps."""
        with self._clock.ticking():
            self._is_done = bool(self._lib.tflm_hill_climb_run(self._search, iterations))


Gap = tuple[int, int, int, int]
"""(group, other, after, before): where a group must not begin, counted in bytes from where another one does."""


class NativeFirstFit:
    """First fit of groups that may overlap, and the climb over its orders (``shrink/overlap_placement.py``).

    Args:
        sizes: Bytes of each group.
        gaps: Where groups must not begin, each counted from another one.
    """

    def __init__(self, sizes: Sequence[int], gaps: Iterable[Gap]) -> None:
        native = _checked_binding()
        self._ffi, self._lib = native.ffi, native.lib
        if not hasattr(self._lib, "tflm_first_fit_start"):
            raise TflmSimError("the C planners were built from older sources: pip install -e . rebuilds them")
        self._sizes, self._gaps = array("q", sizes), _flat(sorted(gaps), "q")  # read by the C code until the end
        count, gap_count = len(self._sizes), len(self._gaps) // 4
        size = self._lib.tflm_first_fit_workspace_size(count, gap_count)
        self._workspace, first_fit = self._ffi.new("uint64_t[]", size // 8), self._ffi.new("tflm_first_fit_t **")
        rows_of_four = self._ffi.from_buffer("tflm_first_fit_gap_t[]", self._gaps)
        given = (self._in_c(self._sizes), count, rows_of_four, gap_count, self._workspace, size)
        _check(self._lib, self._lib.tflm_first_fit_start(*given, first_fit))
        self._problem = first_fit[0]

    def _in_c(self, numbers: array[int]) -> Any:
        return self._ffi.from_buffer("int64_t[]", numbers)

    def fit(self, order: Sequence[int], known: Sequence[int] = (), most: int = _INT64_MAX) -> tuple[int, list[int]]:
        """Return the highest end and the offset of each group that is placed in this order, as low as it may be.

        Args:
            order: All groups.
            known: Offsets of the first of them.
            most: Bytes; the first end above this is returned, and groups behind it have -1.
        """
        given, offsets = array("q", order), array("q", bytes(8 * len(order)))
        for group, offset in zip(order, known, strict=False):
            offsets[group] = offset
        head = self._lib.tflm_first_fit_place(self._problem, self._in_c(given), len(known), most, self._in_c(offsets))
        return head, offsets.tolist()

    def climb(self, order: Sequence[int], steps: int) -> tuple[int, list[int]]:
        """Return the lowest end and its offsets, of this order and of those that follow from it.

        The groups at the top move to the front until that helps no more, or until so many gaps were looked at.
        """
        given, offsets = array("q", order), array("q", bytes(8 * len(order)))
        head = self._lib.tflm_first_fit_climb(self._problem, self._in_c(given), steps, self._in_c(offsets))
        return head, offsets.tolist()


class _Clock:
    """What C code asks whether the time is over (mutable: it carries Ctrl-C across the C code).

    Attributes:
        arguments: The function for C and its context; two null pointers where there is no deadline, so that nothing
            costs the callers who have none.
    """

    def __init__(self, native: Any, deadline: Deadline) -> None:
        self._deadline = deadline
        self._interrupted = False
        null = native.ffi.NULL
        self.arguments = (null, null)
        if deadline is not NEVER:
            self.arguments = (_binding_with_callbacks().lib.on_plan_is_over, native.ffi.new_handle(self))

    @contextmanager
    def ticking(self) -> Iterator[None]:
        """Around a call of C code: Ctrl-C ends it, and is raised behind it."""
        if self._deadline is NEVER:
            yield
            return
        from tflm_sim.planners.native.interrupts import interrupts_wait

        with interrupts_wait(self._interrupt):
            yield
        if self._interrupted:
            raise KeyboardInterrupt

    def is_over(self) -> bool:
        """Answer the C code."""
        return self._interrupted or self._deadline.is_over

    def _interrupt(self) -> None:
        self._interrupted = True


@dataclass(frozen=True, slots=True)
class ExactStatus:
    """What the exact search knows at a moment: ``peak`` and ``lower_bound`` in bytes, nodes visited, seconds.

    ``peak`` is -1 until there is a plan.
    """

    peak: int
    lower_bound: int
    nodes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ExactAnswer:
    """What the exact search knows at its end; ``status.peak`` is -1 when not even the fixed buffers fit."""

    status: ExactStatus
    proved: bool
    infeasible: bool
    offsets: tuple[int, ...]


class ExactSearch:
    """One call of the exact planner in C (mutable: it carries what ``on_status`` raised across the C code).

    Args:
        on_status: Called about ten times a second with an ``ExactStatus``; True ends the search, as any exception does.
    """

    def __init__(self, on_status: Callable[[ExactStatus], bool]) -> None:
        self._native = _binding_with_callbacks()
        self._on_status = on_status
        self._raised: BaseException | None = None

    def solve(
        self,
        buffers: Sequence[Buffer],
        *,
        capacity: int | None,
        node_limit: int | None,
        time_limit: float | None,
        workers: int,
        start: Plan | None,
    ) -> tuple[ExactAnswer, BaseException | None]:
        """Return the answer, and what ``on_status`` raised if that ended the search.

        Raises:
            UsageError: A value is outside 64-bit integers, or all sizes together are.
        """
        from tflm_sim.planners.native.interrupts import interrupts_wait

        ffi, lib = self._native.ffi, self._native.lib
        flat, offsets = _flat_exact(buffers), array("q", bytes(8 * len(buffers)))
        handle, result = ffi.new_handle(self), ffi.new("tflm_exact_result_t *")
        limits = [-1 if limit is None else limit for limit in (capacity, node_limit, time_limit)]
        known = ffi.NULL if start is None else ffi.new("int64_t[]", start.offsets)
        options = ffi.new("tflm_exact_options_t *", [*limits, workers, lib.on_exact_progress, handle, known])
        with interrupts_wait(self._interrupt):
            code = lib.tflm_exact_solve(
                ffi.from_buffer("tflm_exact_buffer_t[]", flat),
                len(buffers),
                options,
                result,
                ffi.from_buffer("int64_t[]", offsets),
            )
        if code == lib.TFLM_PLAN_E_OVERFLOW:
            raise UsageError("the buffers' sizes, alignments and fixed offsets add up to more than 2^60 bytes")
        if code != lib.TFLM_PLAN_OK:
            raise TflmSimError(f"the exact planner refused its call with status {code}")
        found = result[0]
        answer = ExactAnswer(_exact_status(found.status), bool(found.proved), bool(found.infeasible), tuple(offsets))
        return answer, self._raised

    def on_progress(self, status: ExactStatus) -> int:
        """Answer the C code: 1 ends the search. Nothing may be raised through it."""
        try:
            return int(self._on_status(status) or self._raised is not None)
        except BaseException as error:
            self._raised = error
            return 1

    def _interrupt(self) -> None:
        self._raised = KeyboardInterrupt()


@cache
def _binding_with_callbacks() -> Any:
    """Return the extension with what C code calls attached to it."""
    native = _checked_binding()

    @native.ffi.def_extern(error=1)  # type: ignore[untyped-decorator]
    def on_plan_is_over(context: Any) -> int:
        clock: _Clock = native.ffi.from_handle(context)
        return int(clock.is_over())

    @native.ffi.def_extern(error=1)  # type: ignore[untyped-decorator]
    def on_exact_progress(context: Any, status: Any) -> int:
        search: ExactSearch = native.ffi.from_handle(context)
        return search.on_progress(_exact_status(status))

    return native


def _exact_status(status: Any) -> ExactStatus:
    return ExactStatus(int(status.peak), int(status.lower_bound), int(status.nodes), float(status.seconds))


def _flat_exact(buffers: Sequence[Buffer]) -> array[int]:
    rows_of_five = ((b.size, b.lower, b.upper - 1, b.alignment, -1 if b.offset is None else b.offset) for b in buffers)
    try:
        return array("q", chain.from_iterable(rows_of_five))
    except OverflowError:
        raise UsageError("a buffer has a size, time, alignment or offset outside 64-bit integers") from None


def _checked_binding() -> Any:
    native = _binding()
    assert native is not None, "the C core is used only where available() is true"
    return native


def _flat(rows: Iterable[tuple[int, ...]], type_code: str = "i") -> array[int]:
    try:
        return array(type_code, chain.from_iterable(rows))
    except OverflowError:
        bits = 8 * array(type_code).itemsize
        raise PlanningError(f"a buffer has a size, time or offset outside {bits}-bit integers") from None


def _place(native: Any, function: Any, flat: array[int], deadline: Deadline) -> tuple[array[int], int]:
    """Call one of the C planners with workspace and room for the results."""
    clock = _Clock(native, deadline)
    ffi, lib = native.ffi, native.lib
    count = len(flat) // _ROW_LENGTH
    workspace_size = lib.tflm_plan_greedy_workspace_size(count)
    workspace = ffi.new("uint64_t[]", workspace_size // 8)
    offsets = array("i", bytes(4 * count))
    peak = ffi.new("uint32_t *")
    with clock.ticking():
        status = function(
            ffi.from_buffer("tflm_plan_buffer_t[]", flat),
            count,
            workspace,
            workspace_size,
            ffi.from_buffer("int32_t[]", offsets),
            peak,
            *clock.arguments,
        )
    _check(lib, status)
    return offsets, int(peak[0])


def _check(lib: Any, status: int) -> None:
    if status == lib.TFLM_PLAN_E_OVERFLOW:
        raise PlanningError(f"the buffers reach beyond {_INT32_MAX:,} bytes, the most that a 32-bit planner can count")
    if status == lib.TFLM_PLAN_E_STOPPED:
        raise out_of_time()
    if status == lib.TFLM_PLAN_E_ARGUMENT:
        raise PlanningError("a buffer has a negative size, an alignment below 1 or a time of -2^31")
    if status != lib.TFLM_PLAN_OK:
        raise TflmSimError(f"the C planner refused its call with status {status}")
