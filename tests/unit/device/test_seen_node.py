"""What a kernel sees of a tensor while its Prepare is recorded is what it would see; what it looked at is noted."""

from __future__ import annotations

import pytest

from tflm_sim.device.seen_node import NotRepeatable, SeenNode, SeenTensor, SeenTensors
from tflm_sim.errors import PrepareError
from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Quantization, Tensor, TensorType
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.requests import KernelTensor
from tflm_sim.targets.presets import preset

PLAIN = EvalTensor(Tensor("", (2, 3), TensorType.INT16, 0), 7, None, None)
STATE = EvalTensor(Tensor("", (1, 5), TensorType.INT8, 0, is_variable=True), 7, None, Quantization((0.5,), (-3,)))
CHANNELS = EvalTensor(Tensor("", (4,), TensorType.INT8, 1), 7, memoryview(b"abcd"), Quantization((2.0, 4.0), (0, 9), 0))
SCALAR = EvalTensor(Tensor("", None, TensorType.INT32, 1), 7, memoryview(b""), Quantization((0.25,), (2**32 + 5,), 3))
EXPECTED = {
    # type, shape, elements, bytes, is quantized, scale, zero point, is constant, is a variable, data
    PLAIN: (TensorType.INT16, (2, 3), 6, 12, False, 0.0, 0, False, False, None),
    STATE: (TensorType.INT8, (1, 5), 5, 5, True, 0.5, -3, False, True, None),
    CHANNELS: (TensorType.INT8, (4,), 4, 4, True, 2.0, 0, True, False, b"abcd"),
    SCALAR: (TensorType.INT32, (), 1, 4, True, 0.25, 5, True, False, b""),
}


def looks(tensor: KernelTensor) -> tuple[object, ...]:
    return (
        tensor.type,
        tensor.shape,
        tensor.flat_size,
        tensor.bytes,
        tensor.is_quantized,
        tensor.scale,
        tensor.zero_point,
        tensor.is_constant,
        tensor.is_variable,
        tensor.data,
    )


def tensors(*real: EvalTensor) -> SeenTensors:
    """Return tensors of which the one with index 7 is the operator's second."""
    return SeenTensors(real, {7: 1})


@pytest.mark.parametrize(("real", "expected"), EXPECTED.items())
def test_a_kernel_sees_the_same_whether_it_is_recorded_or_not(real: EvalTensor, expected: tuple[object, ...]) -> None:
    assert looks(KernelTensor(real)) == expected
    assert looks(SeenTensor(tensors(real), 0, 20)) == expected
    assert SeenTensor(tensors(real), 0, 20).offsets == (20,)


def test_channels_are_shown_and_neither_scales_nor_zero_points() -> None:
    affine = SeenTensor(tensors(CHANNELS), 0, 0).affine
    assert affine is not None
    assert (affine.scale_count, affine.zero_point_count, affine.quantized_dimension) == (2, 2, 0)
    assert SeenTensor(tensors(PLAIN), 0, 0).affine is None


def test_what_was_looked_at_is_noted_by_the_operators_own_number() -> None:
    seen = tensors(CHANNELS)
    looks(SeenTensor(seen, 0, 0))
    assert seen.reads == {
        (1, "first_scale"): (2.0).hex(),
        (1, "first_zero_point"): 0,
        (1, "is_variable"): False,
        (1, "data"): b"abcd",
    }
    seen = tensors(PLAIN)
    looks(SeenTensor(seen, 0, 0))
    assert seen.reads == {(1, "first_scale"): None, (1, "first_zero_point"): None, (1, "is_variable"): False}


@pytest.mark.parametrize("size", [256, 257])
def test_constants_of_256_bytes_are_remembered_and_longer_ones_are_not(size: int) -> None:
    real = EvalTensor(Tensor("", (size,), TensorType.INT8, 1), 7, memoryview(bytes(size)), None)
    tensor = SeenTensor(tensors(real), 0, 0)
    if size <= 256:
        assert bytes(tensor.data or b"") == bytes(256)
    else:
        with pytest.raises(NotRepeatable, match="data"):
            assert tensor.data


def test_a_check_is_noted_with_its_tensors_once_it_passed() -> None:
    def is_long(node: Node, tensor: KernelTensor, absent: KernelTensor | None, *, least: int) -> None:
        assert absent is None
        if tensor.flat_size < least:
            raise PrepareError("short")

    builder = ModelBuilder()
    x, y = (builder.tensor((size,), TensorType.INT8) for size in (4, 9))
    builder.operator("RELU", [x], [y])
    model = parse(builder.build(inputs=[x], outputs=[y]))
    real = [EvalTensor(tensor, index, None, None) for index, tensor in enumerate(model.subgraphs[0].tensors)]
    target = preset("cortex-m4")
    node = Node(model=model, target=target, subgraph_index=0, index=0, op="RELU", subgraph_tensors=[real])
    seen = SeenNode(node, {1: 0, 0: 1})  # its first tensor is the one of 9 elements
    seen.check_tensors(is_long, SeenTensor(seen.tensors, 1, 0), None, least=9)
    assert seen.checks == [(is_long, (0, -1), {"least": 9})]
    with pytest.raises(NotRepeatable, match="refused"):
        seen.check_tensors(is_long, SeenTensor(seen.tensors, 0, 0), None, least=9)
