"""The C planner core behind one typed wall: nothing else imports the binding.

``available()`` says whether the extension was built and works. The functions may be called only then.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from itertools import chain
from typing import Any

from tflm_sim.errors import PlanningError, TflmSimError

_INT32_MAX = 2**31 - 1


@cache
def _binding() -> Any:
    """Import the extension; None where it was not built, or where it does not place one buffer at 0."""
    try:
        native: Any = import_module("tflm_sim.planners.native._native")
    except ImportError:
        return None
    offsets, peak = _greedy(native, array("i", (16, -1, 0, 0, 1)))
    return native if (list(offsets), peak) == ([0], 16) else None


def available() -> bool:
    """Return whether the C core can be used."""
    return _binding() is not None


def greedy(buffers: Iterable[tuple[int, int, int, int, int]]) -> tuple[list[int], int]:
    """Return the offsets (bytes) that TFLM's greedy planner gives, and the highest end as TFLM computes it.

    Args:
        buffers: (size, offline_offset or -1, first_time_used, last_time_used, alignment); lifetimes are inclusive.

    Raises:
        PlanningError: A value is outside 32-bit integers or negative where it must not be, or a buffer would end above.
    """
    native = _binding()
    assert native is not None, "the C core is used only where available() is true"
    try:
        flat = array("i", chain.from_iterable(buffers))
    except OverflowError:
        raise PlanningError("a buffer has a size, time or offset outside TFLM's 32-bit integers") from None
    offsets, peak = _greedy(native, flat)
    return offsets.tolist(), peak


def _greedy(native: Any, flat: array[int]) -> tuple[array[int], int]:
    """Bring workspace and results for the C function, and turn its status into an exception."""
    ffi, lib = native.ffi, native.lib
    count = len(flat) // 5
    workspace_size = lib.tflm_plan_greedy_workspace_size(count)
    workspace = ffi.new("uint64_t[]", workspace_size // 8)
    offsets = array("i", bytes(4 * count))
    peak = ffi.new("uint32_t *")
    status = lib.tflm_plan_greedy(
        ffi.from_buffer("tflm_plan_buffer_t[]", flat),
        count,
        workspace,
        workspace_size,
        ffi.from_buffer("int32_t[]", offsets),
        peak,
    )
    if status == lib.TFLM_PLAN_E_OVERFLOW:
        raise PlanningError(f"a buffer would end above {_INT32_MAX:,} bytes, the most that TFLM's planner can count")
    if status == lib.TFLM_PLAN_E_ARGUMENT:
        raise PlanningError("a buffer has a negative size, an alignment below 1 or a time of -2^31")
    if status != lib.TFLM_PLAN_OK:
        raise TflmSimError(f"the C planner refused its call with status {status}")
    return offsets, int(peak[0])
