"""What operators make of numbers that are known: the counters and tables of loops, in ``verify``'s machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tflm_sim.extensions.shrink.symbolic import Call, kind
from tflm_sim.model.types import Tensor, TensorType

Numbers = NDArray[Any]

_INT32 = (int(TensorType.INT32), ())


def computed(call: Call) -> Numbers | None:
    """Return the one output of an operator of plain int32 whose inputs are all known, None for any other."""
    make = _COMPUTED.get(call.name)
    if make is None or len(call.outputs) != 1 or not all(map(_is_int32, call.inputs)):
        return None
    known = [each for each in call.numbers if each is not None]
    found = make(call, *known) if len(known) == len(call.inputs) else None
    return found if found is not None and found.shape == call.outputs[0].dims else None


def _is_int32(tensor: Tensor | None) -> bool:
    return tensor is not None and kind(tensor) == _INT32


def _less(call: Call, one: Numbers, other: Numbers) -> Numbers | None:
    return np.less(one, other) if call.outputs[0].type == TensorType.BOOL else None


def _sliced(call: Call, value: Numbers, begins: Numbers, sizes: Numbers) -> Numbers | None:
    if kind(call.outputs[0]) != _INT32 or not value.ndim == begins.size == sizes.size:
        return None
    ends = np.where(sizes == -1, value.shape, begins + sizes)
    if (begins < 0).any() or (ends < begins).any() or (ends > value.shape).any():
        return None
    return value[tuple(map(slice, begins.ravel(), ends.ravel()))]


_COMPUTED: Mapping[str, Callable[..., Numbers | None]] = {"LESS": _less, "SLICE": _sliced}
