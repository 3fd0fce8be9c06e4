"""Custom operators' options (FlexBuffers), as kernels read them in Init.

Upstream does not check them: a kernel that finds no options, or options of another shape, reads other memory or a null
pointer. The model stops there with an abort.

Source: tensorflow/lite/micro/flatbuffer_utils.cc @ 90b983c; include/flatbuffers/flexbuffers.h v25.9.23.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tflm_sim.errors import ModelError
from tflm_sim.model.flexbuf import FlexValue, read_root, read_slots
from tflm_sim.ops.kernel import Kernel
from tflm_sim.units import int32

if TYPE_CHECKING:
    from tflm_sim.ops.requests import T


def _read(k: Kernel, read: Callable[[memoryview], T]) -> T:
    """Read the options; none at all is a null pointer."""
    data = k.node.operator.custom_options
    if data is None:
        raise k.abort("custom options are there")
    try:
        return read(data)
    except ModelError as error:
        raise k.abort(f"custom options are readable ({error})") from None


def int_slots(k: Kernel, *indices: int) -> tuple[int, ...]:
    """Return values of the options by index, in the order of their names (``FlexbufferWrapper::ElementAsInt32``)."""

    def read(data: memoryview) -> tuple[int, ...]:
        slots = read_slots(data)
        return tuple(int32(slots.as_int(index)) for index in indices)

    return _read(k, read)


def bool_slot(k: Kernel, index: int) -> bool:
    """Return a value of the options by index (``FlexbufferWrapper::ElementAsBool``)."""
    return _read(k, lambda data: read_slots(data).as_bool(index))


def int_entries(k: Kernel, *names: str) -> tuple[int, ...]:
    """Return values of the options by name (``flexbuffers::Map``); 0 for one that is not there."""

    def read(data: memoryview) -> tuple[int, ...]:
        entries = read_root(data).as_map()
        return tuple(_as_int32(entries.get(name)) for name in names)

    return _read(k, read)


def _as_int32(value: FlexValue | None) -> int:
    """``Reference::AsInt32``."""
    return 0 if value is None else int32(value.as_int())
