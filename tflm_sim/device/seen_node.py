"""What a kernel is shown while its Prepare is learnt: its operator, through objects that note what it looks at.

Options, types, shapes, constancy and the number of scales are the key of ``known_prepares.py`` and are simply there. A
first scale, a first zero point and the bytes of a small constant are noted; of a check, that it passed. A look at
anything else ends the learning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tflm_sim.device.recorded_prepare import TooFar
from tflm_sim.errors import SimulatedFailure
from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.model.types import Operator, Quantization
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.requests import KernelTensor

LONGEST_LOOK = 256
"""Bytes of a constant that are kept for comparison."""

Looks = dict[tuple[int, str], object]
"""What a kernel looked at besides the key: which of its tensors, what of it -> what it saw."""

Check = tuple[Callable[..., None], tuple[int, ...], tuple[tuple[str, int], ...]]
"""A check that tensors were held against (``Node.hold``): it, which of its tensors (-1: none), the facts."""


def passes(check: Check, node: Node, tensors: Sequence[EvalTensor]) -> bool:
    """Return whether a node passes a check, given the tensors of its own."""
    holds, indices, facts = check
    try:
        holds(node, *[KernelTensor(tensors[index], ()) if index >= 0 else None for index in indices], **dict(facts))
    except SimulatedFailure:
        return False
    return True


def _bytes_of(tensor: EvalTensor) -> bytes | None:
    data = tensor.data
    if data is not None and len(data) > LONGEST_LOOK:
        return None
    return b"" if data is None else bytes(data)


LOOKS: dict[str, Callable[[EvalTensor], object]] = {
    "first_scale": lambda tensor: tensor.affine and float(tensor.affine.first_scale).hex(),
    "first_zero_point": lambda tensor: tensor.affine and tensor.affine.first_zero_point,
    "data": _bytes_of,
}
"""What can be looked at of a tensor besides the key."""


def _look(real: EvalTensor, index: int, what: str, looks: Looks) -> Any:
    """Return what there is to see of an operator's own tensor, and note it."""
    saw = looks[index, what] = LOOKS[what](real)
    return saw


class _SeenTensor(EvalTensor):
    """Shows type, shape and constancy of a tensor, under the operator's own number; its data are noted."""

    __slots__ = ("_looks", "_real")

    def __init__(self, real: EvalTensor, index: int, looks: Looks) -> None:
        self._real, self._looks = real, looks
        self.index, self.type, self.shape, self.resource_id = index, real.type, real.shape, None
        self.affine = None if real.affine is None else _SeenQuantization(real, index, looks)

    @property
    def is_constant(self) -> bool:
        return self._real.data is not None

    @property
    def has_data(self) -> bool:
        return self._real.data is not None

    @property
    def file_byte_length(self) -> int:
        return self.byte_length  # A key is made only while the shape is the file's.

    def __getattr__(self, name: str) -> Any:
        if name != "data":
            raise TooFar(name)
        found = _look(self._real, self.index, name, self._looks) if self.is_constant else None
        if found is None and self.is_constant:
            raise TooFar(name)
        return None if found is None else memoryview(found)


class _SeenQuantization(Quantization):
    """Shows how many scales and zero points there are; the first of each is noted."""

    __slots__ = ("_index", "_looks", "_real")

    def __init__(self, real: EvalTensor, index: int, looks: Looks) -> None:
        assert real.affine is not None, "a tensor that has one"
        self._real, self._index, self._looks = real, index, looks
        self.scale_count, self.zero_point_count = real.affine.scale_count, real.affine.zero_point_count
        self.quantized_dimension = real.affine.quantized_dimension

    @property
    def first_scale(self) -> float:
        return float.fromhex(_look(self._real, self._index, "first_scale", self._looks))

    @property
    def first_zero_point(self) -> int:
        value: int = _look(self._real, self._index, "first_zero_point", self._looks)
        return value

    def __getattr__(self, name: str) -> Any:
        raise TooFar(name)


class SeenNode(Node):
    """Shows what the key holds: the operator with its own numbers for its tensors; of a check, that it passed.

    Args:
        node: The operator.
        order: Its own numbers of its tensors, by index.

    Attributes:
        looks: What it looked at.
        checks: What its tensors were held against, and passed.
    """

    __slots__ = ("_own_tensors", "_real", "checks", "looks")

    def __init__(self, node: Node, order: dict[int, int]) -> None:
        real, self._real = node.operator, node
        self._own_tensors = [node.tensors[index] for index in order]
        self.looks: Looks = {}
        self.checks: list[Check] = []
        self.target, self.op, self.user_data = node.target, node.op, node.user_data
        self.operator = Operator(
            0,
            _own(real.inputs, order),
            _own(real.outputs, order),
            _own(real.intermediates, order),
            real.options_type,
            real.options,
        )
        self.inputs, self.outputs = self.operator.inputs or (), self.operator.outputs or ()
        self.intermediates = self.operator.intermediates or ()
        self.tensors = [_SeenTensor(tensor, own, self.looks) for own, tensor in enumerate(self._own_tensors)]
        self.damage, self.compressed_tensors = None, frozenset()

    def hold(self, check: Callable[..., None], *tensors: KernelTensor | None, **facts: int) -> None:
        """Hold the real tensors against a check."""
        indices = tuple([-1 if tensor is None else tensor.eval.index for tensor in tensors])
        held = check, indices, tuple(facts.items())
        if not passes(held, self._real, self._own_tensors):
            raise TooFar("refused")
        self.checks.append(held)

    def __getattr__(self, name: str) -> Any:
        raise TooFar(name)


def _own(vector: tuple[int, ...] | None, order: dict[int, int]) -> tuple[int, ...] | None:
    return None if vector is None else tuple([order.get(index, -1) for index in vector])
