"""The operator that a kernel sees while its Prepare is recorded for the cache: objects that record what it reads.

Options, types, shapes, constancy and the number of scales belong to the key of ``prepare_cache.py``, and are not
recorded. These reads are: a first scale, a first zero point, whether a tensor is a variable, the bytes of a small
constant, and that a check passed. These objects lack all other attributes, so that any other read ends the recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from tflm_sim.errors import SimulatedFailure
from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.model.types import Quantization
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.requests import KernelTensor
from tflm_sim.units import int32

MAX_CONSTANT_BYTES = 256
"""Bytes of a constant that are kept for comparison."""

RecordedReads = dict[tuple[int, str], object]
"""What a kernel looked at besides the key: which of its tensors, what of it -> what it saw."""

PassedCheck = tuple[Callable[..., None], tuple[int, ...], Mapping[str, int]]
"""A check that tensors had to pass (``Node.check_tensors``): it, which of its tensors (-1: none), the facts."""


class NotRepeatable(Exception):
    """A kernel read what the cache key does not cover, or did more than allocate and free."""


def pass_all(checks: Iterable[PassedCheck], node: Node, tensors: Sequence[int]) -> bool:
    """Return whether a node's tensors, given by their indices, pass recorded checks."""
    try:
        for holds, numbers, facts in checks:
            holds(node, *[KernelTensor(node.tensors[tensors[own]]) if own >= 0 else None for own in numbers], **facts)
    except SimulatedFailure:
        return False
    return True


def _bytes_of(tensor: EvalTensor) -> bytes | None:
    data = tensor.data
    if data is not None and len(data) > MAX_CONSTANT_BYTES:
        return None
    return b"" if data is None else bytes(data)


READS: dict[str, Callable[[EvalTensor], object]] = {
    "first_scale": lambda tensor: tensor.affine and float(tensor.affine.first_scale).hex(),
    "first_zero_point": lambda tensor: tensor.affine and tensor.affine.first_zero_point,
    "is_variable": lambda tensor: tensor.tensor.is_variable,
    "data": _bytes_of,
}
"""What can be looked at of a tensor besides the key."""


class SeenTensors:
    """The tensors of an operator's subgraph, of which a kernel may only take the operator's own.

    Args:
        real: All tensors of the subgraph.
        order: The number of each of the operator's tensors within the operator, by the tensor's index.

    Attributes:
        real: As given.
        reads: The reads that were recorded.
    """

    __slots__ = ("_order", "reads", "real")

    def __init__(self, real: Sequence[EvalTensor], order: dict[int, int]) -> None:
        self.real, self._order = real, order
        self.reads: RecordedReads = {}

    def look(self, tensor: EvalTensor, what: str) -> Any:
        """Return an attribute of a tensor, and record it."""
        saw = self.reads[self._order[tensor.index], what] = READS[what](tensor)
        return saw

    def __getitem__(self, index: int) -> NoReturn:
        raise NotRepeatable("tensors")


class SeenTensor(KernelTensor):
    """A temp tensor whose type, shape and constancy are not recorded, because they belong to the key; the rest is.

    Attributes:
        real: The tensor itself, which kernels do not use.
    """

    __slots__ = ("_tensors", "real", "shape")

    shape: tuple[int, ...]

    def __init__(self, tensors: SeenTensors, index: int, offset: int) -> None:
        self._tensors = tensors
        self.real = real = tensors.real[index]
        self.type = real.type
        self.shape = real.shape
        self.offsets = (offset,)

    @property
    def flat_size(self) -> int:
        return self.real.flat_size

    @property
    def bytes(self) -> int:
        return self.real.file_byte_length

    @property
    def affine(self) -> Quantization | None:
        affine = self.real.affine
        return None if affine is None else _SeenQuantization(affine)

    @property
    def is_quantized(self) -> bool:
        return self.real.affine is not None

    @property
    def scale(self) -> float:
        saw = self._tensors.look(self.real, "first_scale")
        return 0.0 if saw is None else float.fromhex(saw)

    @property
    def zero_point(self) -> int:
        return int32(self._tensors.look(self.real, "first_zero_point") or 0)

    @property
    def is_constant(self) -> bool:
        return self.real.data is not None

    @property
    def is_variable(self) -> bool:
        return bool(self._tensors.look(self.real, "is_variable"))

    @property
    def data(self) -> memoryview | None:
        if self.real.data is None:
            return None
        found = self._tensors.look(self.real, "data")
        if found is None:
            raise NotRepeatable("data")
        return memoryview(found)


class _SeenQuantization(Quantization):
    """A quantization that only has the numbers of scales and zero points, and the quantized dimension."""

    __slots__ = ()

    def __init__(self, real: Quantization) -> None:
        self.scale_count, self.zero_point_count = real.scale_count, real.zero_point_count
        self.quantized_dimension = real.quantized_dimension


class SeenNode(Node):
    """An operator that records what its kernel reads beyond the key, and which checks passed.

    Args:
        node: The operator.
        order: The number of each of its tensors within the operator, by the tensor's index.

    Attributes:
        tensors: The tensors of its subgraph.
        reads: The reads that were recorded.
        checks: The checks that its tensors passed.
    """

    __slots__ = ("_order", "_real", "checks", "reads")

    tensors: SeenTensors  # type: ignore[assignment]

    def __init__(self, node: Node, order: dict[int, int]) -> None:
        self._real, self._order = node, order
        self.target, self.op, self.user_data = node.target, node.op, node.user_data
        self.operator, self.inputs, self.outputs = node.operator, node.inputs, node.outputs
        self.intermediates = node.intermediates
        self.tensors = SeenTensors(node.tensors, order)
        self.reads = self.tensors.reads
        self.checks: list[PassedCheck] = []
        self.damage, self.compressed_tensors = None, frozenset()

    @property
    def model(self) -> NoReturn:  # type: ignore[override]
        raise NotRepeatable("model")

    def check_tensors(self, check: Callable[..., None], *tensors: KernelTensor | None, **facts: int) -> None:
        seen: tuple[Any, ...] = tensors
        own = [-1 if tensor is None else self._order[tensor.real.index] for tensor in seen]
        held = check, tuple(own), facts
        if not pass_all((held,), self._real, tuple(self._order)):
            raise NotRepeatable("refused")
        self.checks.append(held)
