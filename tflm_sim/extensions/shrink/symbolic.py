"""What every element of a tensor is made of, as a number: the values that ``verify`` compares.

Each element of a tensor is a 64-bit hash of the expression that computes it: the operator's kind, its parameters and
quantization, the weights, and the hashes of the input elements that it reads, in their places. Operators that move
bytes pass hashes on. So two models with equal hashes at their outputs compute the same expressions there, however
their work is cut and ordered; and a row too few, a wrong share of the weights or another scale gives other hashes.

What a kernel does not count is not hashed: padding of a convolution, and inputs at its zero point, whose product with
any weight is 0. Integer sums are hashed without their order where filters may have zero weights in other places
(depthwise).

A sum over a window is linear in its inputs' hashes, with random odd coefficients modulo 2^64; the result is mixed.
Wrong expressions collide with a probability of about 2^-60.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tflm_sim.model.schema import BUILTIN_OPERATORS
from tflm_sim.model.types import Model, Operator, Quantization, Tensor, TensorType

Hashes = NDArray[np.uint64]

BITS: dict[int, str] = {
    TensorType.FLOAT32: "<u4",
    TensorType.INT32: "<u4",
    TensorType.UINT32: "<u4",
    TensorType.FLOAT16: "<u2",
    TensorType.INT16: "<u2",
    TensorType.UINT16: "<u2",
    TensorType.UINT8: "u1",
    TensorType.INT8: "u1",
    TensorType.BOOL: "u1",
    TensorType.INT64: "<u8",
    TensorType.UINT64: "<u8",
    TensorType.FLOAT64: "<u8",
}
"""The bits of an element as a number."""
NAMES_SUBGRAPH = "_subgraph_index"
"""How options end that name a subgraph by its number."""
FLOAT_TYPES = frozenset({TensorType.FLOAT32, TensorType.FLOAT16, TensorType.FLOAT64})


def mix(values: Hashes) -> Hashes:
    """Return each number mixed well (the finalizer of SplitMix64)."""
    z = values + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: Hashes = z ^ (z >> np.uint64(31))
    return result


def salt(*facts: object) -> np.uint64:
    """Return a number for facts that have a stable ``repr``."""
    digest = hashlib.blake2b(repr(facts).encode(), digest_size=8).digest()
    return np.frombuffer(digest, "<u8")[0]  # type: ignore[no-any-return]


def coefficients(name: str, count: int) -> Hashes:
    """Return ``count`` odd numbers that look random."""
    return mix(np.arange(count, dtype=np.uint64) + salt("coefficients", name)) | np.uint64(1)


def symbols(name: str, shape: Sequence[int]) -> Hashes:
    """Return a hash for each element of a tensor of which nothing is known but its name."""
    return mix(np.arange(prod(shape), dtype=np.uint64) + salt("symbol", name)).reshape(tuple(shape))


def bits_hash(bits: NDArray[Any]) -> Hashes:
    """Return the hash of each constant element, given its bits as a number."""
    return mix(bits.astype(np.uint64) ^ salt("constant"))


def quantization_facts(quantization: Quantization | None) -> tuple[object, ...]:
    """Return what a kernel reads of a tensor's quantization."""
    if quantization is None or not len(quantization.scale):
        return ()
    return tuple(quantization.scale), tuple(quantization.zero_point)


def kind(tensor: Tensor) -> tuple[object, ...]:
    return int(tensor.type), quantization_facts(tensor.quantization)


def operator_name(model: Model, operator: Operator) -> str:
    """Return an operator's name; custom operators have their own."""
    code = model.operator_codes[operator.opcode_index]
    return f"custom {code.custom_code}" if code.custom_code is not None else BUILTIN_OPERATORS[code.builtin_code]


def subgraphs_named(model: Model, operator: Operator) -> list[tuple[str, int]]:
    """Return (option, subgraph) of each option that names a subgraph beside the main one."""
    return [
        (option, value)
        for option, value in sorted(operator.options.items())
        if option.endswith(NAMES_SUBGRAPH) and isinstance(value, int) and 0 < value < len(model.subgraphs)
    ]


def subgraphs_run(model: Model, operator: Operator) -> list[int]:
    """Return the subgraphs that an operator runs, and those that their operators run, each once."""
    found: dict[int, None] = {}
    waiting = [operator]
    while waiting:
        for _, index in subgraphs_named(model, waiting.pop()):
            if index not in found:
                found[index] = None
                waiting += model.subgraphs[index].operators
    return list(found)


def constant(model: Model, tensor: Tensor) -> Hashes | None:
    """Return the hashes of a constant tensor, None where it is none.

    Where the buffer has more bytes than the shape asks for, the device reads the first; where it has fewer, or the type
    is an odd one, bytes stand for elements.
    """
    data = model.tensor_data(tensor)
    if data is None:
        return None
    shape, dtype = tensor.dims, np.dtype(BITS.get(tensor.type, "u1"))
    needed = prod(shape) * dtype.itemsize
    if tensor.type not in BITS or len(data) < needed:
        return bits_hash(np.frombuffer(data, "u1"))
    return bits_hash(np.frombuffer(data[:needed], dtype)).reshape(shape)


def filled(tensor: Tensor, byte: int) -> Hashes:
    """Return the hashes of a tensor whose bytes all have one value."""
    dtype = np.dtype(BITS.get(tensor.type, "u1"))
    bits = np.frombuffer(bytes([byte & 0xFF]) * dtype.itemsize, dtype)
    return np.full(tensor.dims, bits_hash(bits)[0])


def zero_hash(tensor: Tensor) -> np.uint64:
    """Return the hash of the constant whose product with any finite weight is 0: the zero point, or 0.0."""
    quantization = tensor.quantization
    point = int(quantization.zero_point[0]) if quantization and len(quantization.zero_point) else 0
    dtype = np.dtype(BITS.get(tensor.type, "u1"))
    value = 0 if tensor.type in FLOAT_TYPES else point
    return bits_hash(np.array([value & (1 << 8 * dtype.itemsize) - 1], np.uint64))[0]  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Call:
    """An operator with all that it reads, ready to be evaluated.

    Attributes:
        name: "CONV_2D", ...
        operator: As in the file.
        inputs: Tensors, None for an absent one.
        outputs: Tensors.
        values: Hashes of the inputs, None for an absent one.
        numbers: Constant inputs as integers, None for others.
    """

    name: str
    operator: Operator
    inputs: Sequence[Tensor | None]
    outputs: Sequence[Tensor]
    values: Sequence[Hashes | None]
    numbers: Sequence[NDArray[Any] | None]

    def value(self, index: int) -> Hashes:
        """Return the hashes of an input; a ValueError or IndexError says that it is not there."""
        value = self.values[index]
        if value is None:
            raise ValueError(f"it has no input {index}")
        return value

    def option(self, name: str, default: int = 0) -> int:
        value = self.operator.options.get(name, default)
        return int(value) if isinstance(value, int | float) else default

    def salt(self, *facts: object, without: Sequence[str] = ()) -> np.uint64:
        """Return a number for the operator, its options, and the kinds of its first input and its output."""
        options = sorted((k, str(v)) for k, v in self.operator.options.items() if k not in without)
        source = self.inputs[0] if self.inputs else None
        first = None if source is None else kind(source)
        return salt(self.name, options, first, kind(self.outputs[0]), *facts)


def opaque(call: Call, *facts: object) -> np.uint64:
    """Return a hash of an operator and of all that it reads, but for the numbers of subgraphs, which may change."""
    shapes, options = [tensor.shape for tensor in call.outputs], call.operator.options
    numbers = [option for option in options if option.endswith(NAMES_SUBGRAPH)]
    total = (
        call.salt(*facts, shapes, bytes(call.operator.custom_options or b""), without=numbers)
        if call.outputs
        else salt(call.name, facts)
    )
    for index, (tensor, value) in enumerate(zip(call.inputs, call.values, strict=True)):
        if tensor is not None and value is not None:
            places = coefficients("opaque", value.size)
            read = (value.ravel() * places).sum(dtype=np.uint64) + salt(index, value.shape, kind(tensor))
            total = mix(np.array([total + read], np.uint64))[0]
    return total
