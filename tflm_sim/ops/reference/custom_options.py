"""Custom operators' options (FlexBuffers), as kernels read them in Init.

Upstream reads without looking: a kernel that finds no options, or options of another shape, reads wild memory or a null
pointer. The model stops there with an abort.

Source: tensorflow/lite/micro/flatbuffer_utils.cc @ 90b983c; include/flatbuffers/flexbuffers.h v25.9.23.
"""

from __future__ import annotations

from tflm_sim.errors import ModelError
from tflm_sim.model.flexbuf import FlexValue, read_root, read_slots
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.roles import abort
from tflm_sim.units import int32


def _bytes(node: Node, place: str) -> memoryview:
    """Return the options; none at all is a null pointer."""
    data = node.operator.custom_options
    if data is None:
        raise abort(place, "custom options are there")
    return data


def int_slots(node: Node, place: str, *indices: int) -> tuple[int, ...]:
    """Return values of the options by index, in the order of their names (``FlexbufferWrapper::ElementAsInt32``)."""
    data = _bytes(node, place)
    try:
        slots = read_slots(data)
        return tuple(int32(slots.as_int(index)) for index in indices)
    except ModelError as error:
        raise abort(place, f"custom options are readable ({error})") from None


def bool_slot(node: Node, place: str, index: int) -> bool:
    """Return a value of the options by index (``FlexbufferWrapper::ElementAsBool``)."""
    data = _bytes(node, place)
    try:
        return read_slots(data).as_bool(index)
    except ModelError as error:
        raise abort(place, f"custom options are readable ({error})") from None


def int_entries(node: Node, place: str, *names: str) -> tuple[int, ...]:
    """Return values of the options by name (``flexbuffers::Map``); 0 for one that is not there."""
    data = _bytes(node, place)
    try:
        entries = read_root(data).as_map()
        return tuple(_as_int32(entries.get(name)) for name in names)
    except ModelError as error:
        raise abort(place, f"custom options are readable ({error})") from None


def _as_int32(value: FlexValue | None) -> int:
    """``Reference::AsInt32``."""
    return 0 if value is None else int32(value.as_int())
