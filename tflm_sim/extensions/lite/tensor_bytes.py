"""How many bytes a tensor of the mobile runtime has: unlike TFLM's, it packs 4-bit and 2-bit values.

Source: tflite/util.cc GetSizeOfType, BytesRequired @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from math import prod

from tflm_sim.errors import ModelError, PrepareError
from tflm_sim.model.element_types import ELEMENT_BITS, type_number
from tflm_sim.model.types import TensorType

SIZE_UNKNOWN = {TensorType.STRING, TensorType.RESOURCE, TensorType.VARIANT}
"""Types whose bytes only the running model knows; their tensors are dynamic."""


def bytes_required(tensor_type: int, shape: tuple[int, ...]) -> int:
    """Return the bytes of a tensor; () is the shape of a scalar.

    Raises:
        PrepareError: A type that has no size, or more elements than a size_t can count.
    """
    elements = prod(shape)
    if any(dimension < 0 for dimension in shape) or elements >= 2**64:
        message = "tflite/util.cc BytesRequired number of elements overflowed.\n"
        raise PrepareError(f"a tensor of shape {shape}: {message.strip()}", device_message=message)
    return (elements * _bits(tensor_type) + 7) // 8


def element_size(tensor_type: int) -> int:
    """Return the bytes of one element, unpacked: at least 1.

    Raises:
        PrepareError: A type that has no size.
    """
    return max(_bits(tensor_type) // 8, 1)


def _bits(tensor_type: int) -> int:
    bits = ELEMENT_BITS.get(tensor_type)
    if bits is None:
        message = (
            f"Type {type_number(tensor_type)} is unsupported. Only float16, float32, float64, int2, int4, int8, int16, "
            "int32, int64, uint8, uint64, bool, complex64 and complex128 supported currently."
        )
        raise PrepareError(message, device_message=message)
    return bits


MOST_BYTES = 2**28
"""The largest tensor outside of the arenas whose values are kept here."""


def ensure_room(size: int) -> None:
    """Refuse to go on with a tensor whose values, of ``size`` bytes, the runtime would have while it allocates.

    Raises:
        ModelError: It is larger than ``MOST_BYTES``.
    """
    if size > MOST_BYTES:
        raise ModelError(
            f"a tensor of {size:,} bytes has values before the model runs; at most {MOST_BYTES:,} are simulated"
        )
