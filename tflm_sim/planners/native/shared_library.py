"""The C core as a shared library, for where there is no cffi: what ``_native`` offers of it, through ctypes.

The browser's Python has ctypes and no cffi. :class:`LoadedCore` answers to what the wall (``native``) asks of the
extension, ``ffi`` and ``lib``, and to nothing more.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import POINTER, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

_STATUSES = {
    "TFLM_PLAN_OK": 0,
    "TFLM_PLAN_E_ARGUMENT": -1,
    "TFLM_PLAN_E_WORKSPACE": -2,
    "TFLM_PLAN_E_OVERFLOW": -3,
    "TFLM_PLAN_E_MEMORY": -4,
    "TFLM_PLAN_E_STOPPED": -5,
}


class _Status(ctypes.Structure):
    _fields_ = (("peak", c_int64), ("lower_bound", c_int64), ("nodes", c_int64), ("seconds", c_double))


class _Options(ctypes.Structure):
    _fields_ = (
        ("capacity", c_int64),
        ("node_limit", c_int64),
        ("time_limit", c_double),
        ("workers", c_int),
        ("progress", c_void_p),
        ("context", c_void_p),
        ("start", c_void_p),
    )


class _Result(ctypes.Structure):
    _fields_ = (("status", _Status), ("proved", c_int), ("infeasible", c_int))


_PLACE = (c_int, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p, c_void_p, c_void_p, c_void_p)
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "tflm_plan_greedy_workspace_size": (c_size_t, c_size_t),
    "tflm_plan_greedy_until": _PLACE,
    "tflm_plan_best_fit": _PLACE,
    "tflm_min_cost_flow_workspace_size": (c_size_t, c_size_t),
    "tflm_min_cost_flow_start": (c_int, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p),
    "tflm_min_cost_flow_run": (c_int, c_void_p, c_uint32),
    "tflm_min_cost_flow_objects": (None, c_void_p, c_void_p),
    "tflm_hill_climb_workspace_size": (c_size_t, c_size_t, c_size_t),
    "tflm_hill_climb_start": (c_int, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p, c_void_p, c_void_p),
    "tflm_hill_climb_run": (c_int, c_void_p, c_uint32),
    "tflm_hill_climb_offsets": (c_void_p, c_void_p),
    "tflm_first_fit_workspace_size": (c_size_t, c_size_t, c_size_t),
    "tflm_first_fit_start": (c_int, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p),
    "tflm_first_fit_place": (c_int64, c_void_p, c_void_p, c_size_t, c_int64, c_void_p),
    "tflm_first_fit_climb": (c_int64, c_void_p, c_void_p, c_int64, c_void_p),
    "tflm_exact_solve": (c_int, c_void_p, c_size_t, c_void_p, c_void_p, c_void_p),
}
"""What a library has to export: the type of the result, then those of the arguments."""

_CALLBACKS = {
    "on_plan_is_over": ctypes.CFUNCTYPE(c_int, c_void_p),
    "on_exact_progress": ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(_Status)),
}
_ARRAYS = {"uint64_t[]": c_uint64, "int64_t[]": c_int64}
_ONE = {
    "uint32_t *": c_uint32,
    "tflm_hill_climb_t **": c_void_p,
    "tflm_min_cost_flow_t **": c_void_p,
    "tflm_first_fit_t **": c_void_p,
    "tflm_exact_result_t *": _Result,
}


class LoadedCore:
    """A shared library of the C core (mutable: its callbacks are set once they are defined).

    Raises:
        OSError: It cannot be loaded.
        AttributeError: It lacks a function.
    """

    def __init__(self, path: Path) -> None:
        loaded = ctypes.CDLL(str(path))
        for name, (result, *arguments) in FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
        for name, value in _STATUSES.items():
            setattr(loaded, name, value)
        self.lib: Any = loaded
        self.ffi = _CtypesMemory(loaded)


class _CtypesMemory:
    """cffi's names for memory that C code reads and writes."""

    NULL = None

    def __init__(self, lib: Any) -> None:
        self._lib = lib

    def new(self, what: str, value: Any = None) -> Any:
        """Return zeroed memory, or memory that holds what is given."""
        if what in _ARRAYS:
            return (_ARRAYS[what] * value)() if isinstance(value, int) else (_ARRAYS[what] * len(value))(*value)
        if what == "tflm_exact_options_t *":
            *limits, progress, context, start = value
            return ctypes.byref(
                _Options(*limits, *(ctypes.cast(each, c_void_p) for each in (progress, context, start)))
            )
        return (_ONE[what] * 1)()

    @staticmethod
    def from_buffer(_: str, data: Any) -> Any:
        """Return the memory of an array."""
        return (ctypes.c_char * (len(data) * data.itemsize)).from_buffer(data)

    @staticmethod
    def new_handle(value: object) -> Any:
        """Return an address by which a callback finds an object, as long as somebody holds it."""
        return c_void_p(id(value))

    @staticmethod
    def from_handle(handle: int) -> Any:
        return ctypes.cast(handle, ctypes.py_object).value

    @staticmethod
    def unpack(address: int, count: int) -> Sequence[int]:
        """Return 64-bit integers from an address on."""
        return list((c_int64 * count).from_address(address))

    def def_extern(self, *, error: int) -> Callable[[Callable[..., int]], Callable[..., int]]:
        """Return a decorator that makes a function one that C calls; what it raises is ``error`` there."""

        def defined(function: Callable[..., int]) -> Callable[..., int]:
            def called(*arguments: Any) -> int:
                try:
                    return function(*(getattr(each, "contents", each) for each in arguments))
                except BaseException:
                    return error

            setattr(self._lib, function.__name__, _CALLBACKS[function.__name__](called))
            return function

        return defined
